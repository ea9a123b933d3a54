/*
  machine.c - what is known of the machine: numbers that were measured, caches as the system tells, the user's file

  The built-in numbers are those of one core of Zen 4, with a part of 32 MiB of last cache; of one of Zen 5, whose vectors of 512
  bits are whole; and of one of Emerald and one of Granite Rapids, whose last caches are behind a mesh; all with AVX-512. They are
  what src/tune/calibrate.c found, from products of generated matrices only. But `byte` and `blocked` of Zen 5 are between that
  and what products of finite element matrices tell, `byte` of Granite Rapids' first caches between that and what reading alone
  takes; `pieces` of Zen is what it was among other rates; `pieces`, and `gathered` by one instruction (isas.h), of Emerald Rapids
  what they are on Granite Rapids, at another clock. What is like none is taken for Zen 4.

  The user's file, which -mat_spmv_tune_calibrate and `make calibrate` write, is a line with its version and a line for each field
  that differs, such as "byte 0.01 0.018 0.02 0.04". A file with anything else is not used at all, and the user is told.
*/
#include "machine.h"
#include "../sys/paths.h"
#include <math.h>
#include <unistd.h>

#define MACHINE_VERSION 6
#define MACHINE_FOLDER  "/sys/devices/system/cpu/cpu0/cache"
#define MACHINE_MOST    1e9 /* all numbers are less */

/*
  Of a last cache next to its cores: beyond so much of it products find nothing there. Zen 4: 0.93, 1.07 and 1.13 among four times
  as many other bytes (calibrate_memory.c); alone, half of 48 MB still come from 32 MiB; of Zen 5 not measured. With 0.75, of 34
  finite element matrices of two million entries what is chosen has 0.86 of the speed of the best; an iteration of CG takes 1.16
  times as long as with 1.1 if it has Jacobi's preconditioner, 1.03 with ICC(0) (8 of them)
*/
#define MACHINE_HELD 1.25

/* Of these only Zen 4's were measured; the others have the same. `last` is for where the system does not tell */
#define MACHINE_ASSUMED .last = MACHINE_HELD * 33554432, .cached = 700000, .uncached = 7000000, .column = 1000000
#define MACHINE_STREAMS 2. /* cores that any memory serves */

/* Machines that were measured. The first one is what every other is taken for */
enum { MACHINE_ZEN4, MACHINE_ZEN5, MACHINE_EMERALD_RAPIDS, MACHINE_GRANITE_RAPIDS };
static const struct {
  const char    *name;
  PetscLogDouble held; /* of the last cache: beyond so much of it products find nothing there */
  SpmvMachine    numbers;
} Machines[] = {
  [MACHINE_ZEN4]           = {"Zen 4",
                              MACHINE_HELD,
                              {.cache = {32768, 1048576, 8388608},
                               MACHINE_ASSUMED,
                               .learnt   = 32768,
                               .parallel = 10000,
                               .byte     = {0.0086, 0.0119, 0.0143, 0.037},
                               .line     = {0, 0.9, 1.4, 6},
                               .cycle    = 0.247,
                               .miss     = 3.63,
                               .vector   = 0.237,
                               .gathered = 0.185,
                               .pieces   = 0.43,
                               .blocked  = 0.147,
                               .isa      = {6.8, 1.05, 1}}},
  [MACHINE_ZEN5]           = {"Zen 5",
                              MACHINE_HELD,
                              {.cache = {49152, 1048576, 8388608},
                               MACHINE_ASSUMED,
                               .learnt   = 32768, /* this one and the next were not measured here either */
                               .parallel = 10000,
                               .byte     = {0.0062, 0.0078, 0.0118, 0.026},
                               .line     = {0, 0.3, 0.53, 4},
                               .cycle    = 0.178,
                               .miss     = 3.3,
                               .vector   = 0.22,
                               .gathered = 0.108,
                               .pieces   = 0.29,
                               .blocked  = 0.08,
                               .isa      = {6.4, 1.06, 1}}},
  [MACHINE_EMERALD_RAPIDS] = {"Emerald Rapids",
                              0.375,
                              {.cache = {49152, 2097152, 16777216},
                               MACHINE_ASSUMED,
                               .learnt   = 8192,
                               .parallel = 14000,
                               .byte     = {0.0103, 0.0146, 0.035, 0.0679},
                               .line     = {0, 0.507, 3.16, 7.8},
                               .cycle    = 0.296,
                               .miss     = 2.19,
                               .vector   = 0.457,
                               .gathered = 0.182,
                               .pieces   = 1.2,
                               .blocked  = 0.122,
                               .isa      = {5.9, 1.15, 1.03, 1}}},
  [MACHINE_GRANITE_RAPIDS] = {"Granite Rapids",
                              0.16,
                              {.cache = {49152, 2097152, 16777216},
                               MACHINE_ASSUMED,
                               .learnt   = 8192,
                               .parallel = 14000,
                               .byte     = {0.0065, 0.0075, 0.0313, 0.069},
                               .line     = {0, 0.36, 1.42, 9.3},
                               .cycle    = 0.245,
                               .miss     = 1.77,
                               .vector   = 0.342,
                               .gathered = 0.145,
                               .pieces   = 1.03,
                               .blocked  = 0.12,
                               .isa      = {6.1, 1.1, 1.03, 1}}},
};

/* Every field by its name in the file */
static const struct {
  const char *name;
  size_t      offset;
  int         count;
} Fields[] = {
#define FIELD(name) \
  { \
    #name, offsetof(SpmvMachine, name), sizeof(((SpmvMachine *)0)->name) / sizeof(PetscLogDouble) \
  }
  FIELD(cache),    FIELD(far),     FIELD(last),    FIELD(cached), FIELD(uncached), FIELD(column), FIELD(learnt),
  FIELD(parallel), FIELD(streams), FIELD(byte),    FIELD(line),   FIELD(cycle),    FIELD(miss),   FIELD(vector),
  FIELD(gathered), FIELD(pieces),  FIELD(blocked), FIELD(isa)
#undef FIELD
};

/*
  The machine that one is taken for: its place in Machines[]; mesh: whether its last cache has slices over a mesh

  Of last caches over a mesh Cascade Lake's was measured: 24 GB/s, the second cache 86, memory 11. Beside 1 MiB of second cache it
  has slices of 11 ways; Ice Lake's have 12, Sapphire Rapids' 15, Emerald Rapids' 20. One that is next to its cores has a power of
  two (Zen: 16), but Granite Rapids' slices have 16 ways, too: of such cores with AVX-512, those with 2 MiB of second cache are
  Granite Rapids, and those with 1 MiB and 48 KiB of first cache Zen 5.
*/
static int MachineLike(SpmvIsa isa, const SpmvCaches *caches, int *mesh)
{
  const size_t   *told   = caches->bytes;
  const PetscBool rapids = (PetscBool)(isa >= SPMV_AVX512 && told[1] == (size_t)1 << 21);
  const PetscBool power  = (PetscBool) !(caches->ways & (caches->ways - 1));

  *mesh = rapids || (isa >= SPMV_AVX512 && told[1] >= (size_t)1 << 20 && !power);
  if (rapids) return power ? MACHINE_GRANITE_RAPIDS : MACHINE_EMERALD_RAPIDS;
  if (isa >= SPMV_AVX512 && !*mesh && told[0] == 49152 && told[1] == (size_t)1 << 20) return MACHINE_ZEN5;
  return MACHINE_ZEN4;
}

/* SpmvMachineBuiltin - what is assumed of a machine without a file: isa is the best instruction set that it runs */
void SpmvMachineBuiltin(SpmvIsa isa, const SpmvCaches *caches, SpmvMachine *machine)
{
  const size_t *told                  = caches->bytes;
  const size_t  size[SPMV_LEVELS - 1] = {told[0], told[1], PetscMin(told[2] / 4, 8 * told[1])};
  int           mesh;
  const int     like = MachineLike(isa, caches, &mesh);

  *machine = Machines[like].numbers;
  for (int k = 0; k < SPMV_LEVELS - 1; k++) {
    if (size[k] >= 4096 && size[k] < MACHINE_MOST && (!k || size[k] >= size[k - 1])) machine->cache[k] = (PetscLogDouble)size[k];
  }
  for (int k = 0; k < SPMV_ISA_COUNT; k++) {
    if (!machine->isa[k]) machine->isa[k] = 1; /* an instruction set that is new in isas.h */
  }
  if (told[2] && machine->cache[2] == (PetscLogDouble)size[2])
    machine->last = PetscMax(Machines[like].held * (PetscLogDouble)told[2], machine->cache[2]);
  machine->far = mesh;
}

/* Processors of this machine. The system is asked once: it reads a file each time */
PetscInt SpmvMachineProcessors(void)
{
  static PetscInt processors;

  if (!processors) processors = (PetscInt)PetscMax(1, sysconf(_SC_NPROCESSORS_ONLN));
  return processors;
}

/*
  What is assumed of this machine

  The more processors, the less each has of the memory's bandwidth where all of them read: of what one alone has, 0.75 to 1 where
  there are two (Zen 4), half where there are 16 (Emerald Rapids), both virtual machines; a tenth where there are 96 (Genoa), as
  STREAM is reported. Bytes that are thought too dear cost as much as those that are thought too cheap: between these is 1 over
  the cube root, 0.4 for 16 and 0.22 for 96
*/
void SpmvMachineAssumed(SpmvMachine *machine)
{
  PetscInt   isa = SPMV_ISA_COUNT - 1;
  int        mesh;
  SpmvCaches caches;

  while (!SpmvIsaSupported((SpmvIsa)isa)) isa--;
  SpmvCachesAsk(&caches);
  if (!caches.bytes[0]) SpmvCachesRead(MACHINE_FOLDER, &caches);
  SpmvMachineBuiltin((SpmvIsa)isa, &caches, machine);
  machine->streams = PetscMax(MACHINE_STREAMS, PetscSqr(cbrt((PetscLogDouble)SpmvMachineProcessors())));
  (void)PetscInfo(NULL,
                  "%s, caches of %zu, %zu and %zu kB, the last of %d ways, of which %.0f kB are counted on: assumed to be %s; "
                  "memory serves %.2g of %d "
                  "processors at full speed; rates are %s's\n",
                  SpmvIsaName(isa), caches.bytes[0] >> 10, caches.bytes[1] >> 10, caches.bytes[2] >> 10, (int)caches.ways,
                  (double)machine->last / 1024, machine->far > 0 ? "over a mesh" : "next to its cores", (double)machine->streams,
                  (int)SpmvMachineProcessors(), Machines[MachineLike((SpmvIsa)isa, &caches, &mesh)].name);
}

/* petscspmv/machine in the user's configuration folder, scalars other than double with a file of their own; "" if there is
   none */
void SpmvMachineFile(char file[], size_t size)
{
  const char *name = PetscDefined(USE_COMPLEX) ? "machine-complex" : PetscDefined(USE_REAL_DOUBLE) ? "machine" : "machine-single";

  if (SpmvUserPath("XDG_CONFIG_HOME", ".config", name, file, size)) file[0] = 0;
}

static PetscLogDouble *FieldOf(const SpmvMachine *machine, size_t r)
{
  return (PetscLogDouble *)(void *)((char *)machine + Fields[r].offset);
}

/* Reads a line of the file; false if it is not a field's name and its numbers */
static PetscBool MachineReadLine(const char line[], SpmvMachine *machine)
{
  char   name[32];
  size_t r    = 0;
  int    used = 0;
  double value;

  if (sscanf(line, "%31s%n", name, &used) != 1) return PETSC_TRUE;
  while (r < PETSC_STATIC_ARRAY_LENGTH(Fields) && strcmp(name, Fields[r].name)) r++;
  if (r == PETSC_STATIC_ARRAY_LENGTH(Fields)) return PETSC_FALSE;
  for (int n = 0; n < Fields[r].count; n++) {
    line += used;
    if (sscanf(line, "%lf%n", &value, &used) != 1 || !(value >= 0 && value < MACHINE_MOST)) return PETSC_FALSE;
    FieldOf(machine, r)[n] = value;
  }
  return (PetscBool)(sscanf(line + used, "%31s", name) != 1);
}

/* Puts what a file says in place of what a machine has; true if it was used, else why not, or "" if there is no file */
PetscBool SpmvMachineRead(const char file[], SpmvMachine *machine, char why[], size_t size)
{
  SpmvMachine read = *machine;
  char        line[256];
  int         version = 0, number = 1;
  const char *distrust;
  FILE       *f = SpmvOpenTrusted(file, &distrust);

  (void)snprintf(why, size, "%s", distrust);
  if (!f) return PETSC_FALSE;
  if (!fgets(line, sizeof(line), f) || sscanf(line, "petscspmv machine %d", &version) != 1 || version != MACHINE_VERSION) {
    (void)snprintf(why, size, "another version wrote it: its first line is not \"petscspmv machine %d\"", MACHINE_VERSION);
  }
  while (!why[0] && fgets(line, sizeof(line), f)) {
    number++;
    if (!MachineReadLine(line, &read)) (void)snprintf(why, size, "line %d is not a name and its numbers", number);
  }
  (void)fclose(f);
  if (why[0]) return PETSC_FALSE;
  *machine = read;
  return PETSC_TRUE;
}

void SpmvMachineWrite(const SpmvMachine *machine, FILE *f)
{
  fprintf(f, "petscspmv machine %d\n", MACHINE_VERSION);
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(Fields); r++) {
    fprintf(f, "%s", Fields[r].name);
    for (int k = 0; k < Fields[r].count; k++) fprintf(f, " %.8g", (double)FieldOf(machine, r)[k]);
    fprintf(f, "\n");
  }
}

static SpmvMachine Machine;
static PetscBool   MachineKnown;

/* What is known of this machine. The first call, which must not be by several threads, asks the system and the user's file */
const SpmvMachine *SpmvMachineGet(void)
{
  char file[PETSC_MAX_PATH_LEN], why[256];

  if (MachineKnown) return &Machine;
  SpmvMachineAssumed(&Machine);
  SpmvMachineFile(file, sizeof(file));
  if (SpmvMachineRead(file, &Machine, why, sizeof(why))) (void)PetscInfo(NULL, "the machine is as %s says\n", file);
  else if (why[0]) {
    (void)PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR,
                       "petscspmv: %s is not used: %s. Run with -mat_spmv_tune_calibrate, which writes it anew, or remove it.\n",
                       file, why);
  }
  MachineKnown = PETSC_TRUE;
  return &Machine;
}

static PetscBool MachineAlone;

/* Whether the other processes of the program wait, while this one measures */
void SpmvMachineAlone(PetscBool alone)
{
  MachineAlone = alone;
}

/* Processes of the program that run on this machine, as far as there are processors for them */
static PetscLogDouble MachineProcesses(void)
{
  PetscMPIInt processes = 1;

  if (!MachineAlone) (void)MPI_Comm_size(PETSC_COMM_WORLD, &processes);
  return (PetscLogDouble)PetscMin(processes, SpmvMachineProcessors());
}

/* Bytes that the last cache is likely to hold of what this process reads: the others of this node have their part of it */
PetscLogDouble SpmvMachineHeld(void)
{
  const SpmvMachine *machine = SpmvMachineGet();

  return PetscMax(machine->cache[SPMV_LEVELS - 2], machine->last / MachineProcesses());
}

/* How many times as long one core reads memory as it would alone, while each process has so many threads that read */
PetscLogDouble SpmvMachineCrowd(PetscLogDouble threads)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble readers = PetscMin(threads * MachineProcesses(), (PetscLogDouble)SpmvMachineProcessors());

  return machine->streams > 0 ? PetscMax(1, readers / machine->streams) : 1;
}

/* From now on this is known of it */
void SpmvMachineSet(const SpmvMachine *machine)
{
  Machine      = *machine;
  MachineKnown = PETSC_TRUE;
}
