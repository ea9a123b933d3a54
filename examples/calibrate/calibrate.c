static const char help[] = "Measures this machine and writes the rates that the tuner's estimate uses.\n\
  -out <file>   instead of petscspmv/machine in $XDG_CONFIG_HOME or ~/.config; - for the screen only\n\n";

/*
  calibrate - how much faster or slower this machine is than the one that the built-in rates were fitted on

  The built-in rates make the estimate agree with products that were measured; a probe that reads memory and does nothing else
  takes another time. So each rate in the file is the built-in one times what its probe takes here, over what the same probe took
  there. Sizes of caches are what the machine tells; of the last one, which others use too, a core may count on a quarter, and on eight
  times its second one at most.
*/
#include "tune/tune.h"
#include <petsctime.h>
#include <unistd.h>

#define PROBE_SECONDS 0.05 /* of one probe, about; the least of several counts */
#define PROBE_REPEATS 5
#define PROBE_FAR     ((size_t)256 << 20) /* bytes that fit no cache */
#define PROBE_INDICES ((size_t)1 << 20)

/* What the probes took on the machine that the built-in rates were fitted on, in nanoseconds */
static const SpmvMachine Reference = {
  .byte  = {0.0107, 0.0097, 0.0102, 0.0385},
  .line  = {0, 0.22, 0.46, 9.6},
  .cycle = 0.2725,
  .miss  = 7.85,
};

/* Everything that a probe may need */
typedef struct {
  uint64_t *memory;
  int32_t  *index; /* [PROBE_INDICES] words of memory, the first of a line each */
  size_t    bytes; /* how much of the memory is looked at */
  uint64_t  sum;   /* so that nothing is left out */
} Probe;

/* Returns how many things were done, of which the time of one is wanted */
typedef double ProbeFn(Probe *p);

static double ProbeRead(Probe *p)
{
  uint64_t        sum[8] = {0};
  const uint64_t *m      = p->memory;

  for (size_t k = 0; k < p->bytes / 8; k += 8) {
    for (int l = 0; l < 8; l++) sum[l] += m[k + (size_t)l];
  }
  for (int l = 0; l < 8; l++) p->sum += sum[l];
  return (double)p->bytes;
}

static double ProbeLines(Probe *p)
{
  const size_t lines = p->bytes / 64, n = PetscMin(PROBE_INDICES, 8 * lines);
  uint64_t     sum = 0;

  for (size_t k = 0; k < n; k++) sum += p->memory[p->index[k]];
  p->sum += sum;
  return (double)n;
}

static double ProbeCycles(Probe *p)
{
  uint64_t x = p->sum;

  for (int k = 0; k < 1 << 20; k++) {
    x += 3;
    __asm__ volatile(""
                     : "+r"(x)); /* each addition waits for the one before */
  }
  p->sum = x;
  return 1 << 20;
}

/* Branches that go by random bits; half of them are not foreseen */
static double ProbeMisses(Probe *p)
{
  uint64_t x = 88172645463325252U, sum = 0;

  for (int k = 0; k < 1 << 18; k++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    if (x >> 40 & 1) {
      sum += x;
      __asm__ volatile(""
                       : "+r"(sum));
    }
  }
  p->sum += sum;
  return 1 << 17;
}

/* Nanoseconds of one */
static PetscErrorCode Run(ProbeFn *probe, Probe *p, double *ns)
{
  PetscFunctionBegin;
  *ns = PETSC_MAX_REAL;
  (void)(*probe)(p);
  for (int r = 0; r < PROBE_REPEATS; r++) {
    PetscLogDouble start, now;
    double         things = 0;

    PetscCall(PetscTime(&start));
    do {
      things += (*probe)(p);
      PetscCall(PetscTime(&now));
    } while (now - start < PROBE_SECONDS / PROBE_REPEATS);
    *ns = PetscMin(*ns, 1e9 * (now - start) / things);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random lines among the first `bytes` of the memory */
static void Scatter(Probe *p)
{
  uint64_t x = 20240607;

  for (size_t k = 0; k < PROBE_INDICES; k++) {
    x           = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    p->index[k] = (int32_t)((x >> 33) % (p->bytes / 64) * 8);
  }
}

static PetscErrorCode MeasureAll(SpmvMachine *here)
{
  Probe p = {0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(PROBE_FAR / 8, &p.memory, PROBE_INDICES, &p.index));
  for (size_t k = 0; k < PROBE_FAR / 8; k++) p.memory[k] = k;
  for (int level = 0; level < SPMV_LEVELS; level++) {
    p.bytes = level < SPMV_LEVELS - 1 ? (size_t)(here->size[level] / 2) / 64 * 64 : PROBE_FAR;
    Scatter(&p);
    PetscCall(Run(ProbeRead, &p, &here->byte[level]));
    PetscCall(Run(ProbeLines, &p, &here->line[level]));
    if (level) here->line[level] = PetscMax(0.01, here->line[level] - here->line[0]);
  }
  here->line[0] = 0;
  PetscCall(Run(ProbeCycles, &p, &here->cycle));
  PetscCall(Run(ProbeMisses, &p, &here->miss));
  PetscCall(PetscFree2(p.memory, p.index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes that the machine tells; built-in ones where it does not */
static void Sizes(SpmvMachine *here)
{
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE), told[] = {sysconf(_SC_LEVEL1_DCACHE_SIZE), second, PetscMin(sysconf(_SC_LEVEL3_CACHE_SIZE) / 4, 8 * second)};

  for (int k = 0; k < SPMV_LEVELS - 1; k++) {
    if (told[k] >= 4096 && (!k || told[k] >= told[k - 1])) here->size[k] = (PetscLogDouble)told[k];
  }
#endif
}

/* Built-in rates, each times what its probe takes here over what it took there */
static void Scale(const SpmvMachine *builtin, const SpmvMachine *here, SpmvMachine *rates)
{
  const double cycle = here->cycle / Reference.cycle;

  *rates          = *builtin;
  rates->cycle    = builtin->cycle * cycle;
  rates->vector   = builtin->vector * cycle;
  rates->gathered = builtin->gathered * cycle;
  rates->miss     = builtin->miss * here->miss / Reference.miss;
  for (int k = 0; k < SPMV_LEVELS - 1; k++) rates->size[k] = here->size[k];
  for (int k = 0; k < SPMV_LEVELS; k++) rates->byte[k] = builtin->byte[k] * here->byte[k] / Reference.byte[k];
  for (int k = 1; k < SPMV_LEVELS; k++) rates->line[k] = builtin->line[k] * here->line[k] / Reference.line[k];
}

/* Makes the folders, writes a temporary file and renames it: a program that starts meanwhile reads the old one or the new one */
static PetscErrorCode Write(const char file[], SpmvMachine *rates)
{
  char  path[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  SpmvMakeFolders(file);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%ld", file, (long)getpid()));
  f = fopen(path, "w");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s; name another file with -out", path);
  PetscCall(SpmvMachineWrite(rates, f));
  PetscCheck(!fclose(f) && !rename(path, file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s; name another file with -out", file);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "written to %s\n", file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        file[PETSC_MAX_PATH_LEN];
  SpmvMachine builtin, here, rates;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvUserPath("XDG_CONFIG_HOME", ".config", "machine", file, sizeof(file)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-out", file, sizeof(file), NULL));
  SpmvMachineBuiltin(&builtin);
  here = builtin;
  Sizes(&here);
  PetscCall(MeasureAll(&here));
  Scale(&builtin, &here, &rates);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "probes, ns\n"));
  PetscCall(SpmvMachineWrite(&here, stdout));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rates\n"));
  PetscCall(SpmvMachineWrite(&rates, stdout));
  if (file[0] && strcmp(file, "-")) PetscCall(Write(file, &rates));
  PetscCall(PetscFinalize());
  return 0;
}
