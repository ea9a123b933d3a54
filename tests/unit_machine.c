static const char help[] =
  "What is known of the machine: picked by instruction set and caches, caches as the system tells, the user's file.\n\n\
  -file <used, old>   what the user's file is\n\n";

#include "host/machine.h"
#include "sys/paths.h"
#include "tune/tune.h"
#include <unistd.h>

/* Writes a file, with the folders that it is in */
static PetscErrorCode Put(const char file[], const char text[])
{
  char  path[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(path, file, sizeof(path)));
  for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    (void)mkdir(path, 0777);
    *slash = '/';
  }
  f = fopen(file, "w");
  PetscCheck(f && fputs(text, f) >= 0 && !fclose(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last cache is far where it has slices over a mesh, whoever made the processor; rates are those that were measured */
static PetscErrorCode TestBuiltin(void)
{
  static const struct {
    const char *name;
    SpmvIsa     isa;
    SpmvCaches  told;
    size_t      cache[3];
    int         far;
    int         rates; /* the first machine with the same ones */
    double      last;  /* a part of what is told; 0: as of that machine */
  } machines[] = {
    {"Zen 4", SPMV_AVX512, {{32768, 1048576, 33554432}, 16}, {32768, 1048576, 8388608}, 0, 0, 0},
    {"Zen 4 3D", SPMV_AVX512, {{32768, 1048576, 100663296}, 16}, {32768, 1048576, 8388608}, 0, 0, 1.25 * 100663296},
    {"Zen 5", SPMV_AVX512, {{49152, 1048576, 33554432}, 16}, {49152, 1048576, 8388608}, 0, 2, 0},
    {"Zen 3", SPMV_AVX2, {{32768, 524288, 33554432}, 16}, {32768, 524288, 4194304}, 0, 0, 0},
    {"Cascade Lake", SPMV_AVX512, {{32768, 1048576, 37486592}, 11}, {32768, 1048576, 8388608}, 1, 0, 1.25 * 37486592},
    {"Sapphire Rapids", SPMV_AVX512, {{49152, 2097152, 110100480}, 15}, {49152, 2097152, 16777216}, 1, 5, 0},
    {"Emerald Rapids", SPMV_AVX512, {{49152, 2097152, 272629760}, 20}, {49152, 2097152, 16777216}, 1, 5, 0.375 * 272629760},
    {"Granite Rapids", SPMV_AVX512, {{49152, 2097152, 503316480}, 16}, {49152, 2097152, 16777216}, 1, 7, 0.16 * 503316480},
    {"the same with fast gathers",
     SPMV_AVX512_GATHER,
     {{49152, 2097152, 503316480}, 16},
     {49152, 2097152, 16777216},
     1,
     7,
     0.16 * 503316480},
    {"Sapphire Rapids without AVX-512",
     SPMV_AVX2,
     {{49152, 2097152, 110100480}, 15},
     {49152, 2097152, 16777216},
     0,
     0,
     1.25 * 110100480},
    {"Rocket Lake", SPMV_AVX512, {{49152, 524288, 16777216}, 16}, {49152, 524288, 4194304}, 0, 0, 1.25 * 16777216},
    {"Broadwell", SPMV_AVX2, {{32768, 262144, 47185920}, 20}, {32768, 262144, 2097152}, 0, 0, 1.25 * 47185920},
    {"no last cache", SPMV_SCALAR, {{65536, 1048576, 0}, 0}, {65536, 1048576, 8388608}, 0, 0, 0},
    {"nothing told", SPMV_AVX512, {{0, 0, 0}, 0}, {32768, 1048576, 8388608}, 0, 0, 0},
    {"nonsense", SPMV_AVX512, {{7, (size_t)1 << 40, 512}, 11}, {32768, 1048576, 8388608}, 1, 0, 0},
  };
  SpmvMachine zen4, first, machine;

  PetscFunctionBegin;
  SpmvMachineBuiltin(machines[0].isa, &machines[0].told, &zen4);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(machines); k++) {
    SpmvMachineBuiltin(machines[k].isa, &machines[k].told, &machine);
    for (int c = 0; c < 3; c++) {
      PetscCheck(machine.cache[c] == machines[k].cache[c], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: cache %d of %g bytes",
                 machines[k].name, c, machine.cache[c]);
    }
    PetscCheck(machine.far == machines[k].far, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the last cache is %sfar", machines[k].name,
               machine.far ? "" : "not ");
    SpmvMachineBuiltin(machines[machines[k].rates].isa, &machines[machines[k].rates].told, &first);
    PetscCheck(machines[k].rates == 0 || first.cycle != zen4.cycle, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: rates of Zen 4",
               machines[k].name);
    PetscCheck(machine.last >= machine.cache[2] && machine.last == (machines[k].last ? machines[k].last : first.last),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes of the last cache", machines[k].name, machine.last);
    machine.last = first.last;
    PetscCall(PetscArraycpy(machine.cache, first.cache, 3));
    machine.far = first.far;
    PetscCheck(!memcmp(&machine, &first, sizeof(first)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: other numbers than the measured ones", machines[k].name);
  }
  for (int k = 0; k < SPMV_ISA_COUNT; k++)
    PetscCheck(first.isa[k] >= 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no rate", SpmvIsaName(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Files as Linux has them, or none; the processor tells something that is likely, or nothing */
static PetscErrorCode TestCaches(const char folder[])
{
  static const char *const files[][2] = {
    {"index0/level", "1\n"},      {"index0/type", "Data\n"},
    {"index0/size", "48K\n"},     {"index0/ways_of_associativity", "12\n"},
    {"index1/level", "1\n"},      {"index1/type", "Instruction\n"},
    {"index1/size", "32K\n"},     {"index1/ways_of_associativity", "8\n"},
    {"index2/level", "2\n"},      {"index2/type", "Unified\n"},
    {"index2/size", "2048K\n"},   {"index2/ways_of_associativity", "16\n"},
    {"index3/level", "3\n"},      {"index3/type", "Unified\n"},
    {"index3/size", "107520K\n"}, {"index3/ways_of_associativity", "15\n"},
    {"index4/level", "4\n"},      {"index4/type", "Unified\n"},
    {"index4/size", "65536K\n"},  {"index4/ways_of_associativity", "9\n"},
  };
  char       path[PETSC_MAX_PATH_LEN];
  SpmvCaches c;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(files); k++) {
    PetscCall(PetscSNPrintf(path, sizeof(path), "%s/cache/%s", folder, files[k][0]));
    PetscCall(Put(path, files[k][1]));
  }
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/cache", folder));
  SpmvCachesRead(path, &c);
  PetscCheck(c.bytes[0] == 49152 && c.bytes[1] == 2097152 && c.bytes[2] == 110100480 && c.ways == 15, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "caches of %zu, %zu and %zu bytes, %d ways", c.bytes[0], c.bytes[1], c.bytes[2], (int)c.ways);
  SpmvCachesRead("/nowhere", &c);
  PetscCheck(!c.bytes[0] && !c.bytes[1] && !c.bytes[2], PETSC_COMM_SELF, PETSC_ERR_PLIB, "caches of no folder");
  SpmvCachesAsk(&c);
  PetscCheck(!c.bytes[0] ||
               (c.bytes[0] >= 4096 && c.bytes[1] > c.bytes[0] && (!c.bytes[2] || (c.bytes[2] >= c.bytes[1] && c.ways > 0))),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "caches of %zu, %zu and %zu bytes, %d ways", c.bytes[0], c.bytes[1], c.bytes[2],
             (int)c.ways);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is written is read back; a file with anything wrong changes nothing, and what is wrong is said */
static PetscErrorCode TestFile(const char file[])
{
  static const struct {
    const char *text, *why;
  } refused[] = {
    {"", "another version"},
    {"cycle 2\n", "another version"},
    {"petscspmv machine 1\ncycle 2\n", "another version"},
    {"petscspmv machine 99\ncycle 2\n", "another version"},
    {"petscspmv machine 6\ncycle 2\nnosuch 1\n", "line 3"},
    {"petscspmv machine 6\nbyte 1 2 3\ncycle 2\n", "line 2"},
    {"petscspmv machine 6\ncycle 2 3\n", "line 2"},
    {"petscspmv machine 6\ncycle 2\n\nmiss -4\n", "line 4"},
    {"petscspmv machine 6\nmiss x\n", "line 2"},
    {"petscspmv machine 6\nmiss\n", "line 2"},
    {"petscspmv machine 6\nvector nan\n", "line 2"},
    {"petscspmv machine 6\nvector inf\n", "line 2"},
    {"petscspmv machine 6\ncache 32768 1048576 1e15\n", "line 2"},
  };
  const SpmvCaches caches = {{32768, 1048576, 37486592}, 11};
  SpmvMachine      builtin, machine;
  char             why[256];
  FILE            *f;

  PetscFunctionBegin;
  SpmvMachineBuiltin(SPMV_AVX512, &caches, &builtin);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(refused); k++) {
    machine = builtin;
    PetscCall(Put(file, refused[k].text));
    PetscCheck(!SpmvMachineRead(file, &machine, why, sizeof(why)) && strstr(why, refused[k].why), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "'%s' was refused with '%s'", refused[k].text, why);
    PetscCheck(!memcmp(&machine, &builtin, sizeof(builtin)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' was used", refused[k].text);
  }
  f = fopen(file, "w");
  SpmvMachineWrite(&builtin, f);
  PetscCheck(!fclose(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  memset(&machine, 0, sizeof(machine));
  PetscCheck(SpmvMachineRead(file, &machine, why, sizeof(why)) && !memcmp(&machine, &builtin, sizeof(builtin)), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "not read back: %s", why);
  PetscCheck(!chmod(file, 0666) && !SpmvMachineRead(file, &machine, why, sizeof(why)) && strstr(why, "other users may"),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "a file that all may write to: '%s'", why);
  PetscCheck(!remove(file) && !symlink("/etc/passwd", file) && !SpmvMachineRead(file, &machine, why, sizeof(why)) &&
               strstr(why, "a link"),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "a link: '%s'", why);
  PetscCheck(!remove(file) && !SpmvMachineRead(file, &machine, why, sizeof(why)) && !why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "no file: '%s'", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A format goes by the user's file */
static PetscErrorCode TestUse(void)
{
  const PetscInt  i[2] = {0, 0};
  const SpmvCSR   csr  = {.m = 1, .n = 1, .rbs = 1, .cbs = 1, .i = i};
  const SpmvSide *side = &SpmvFormat_tpspmv.host->side;
  SpmvPlan        plan = SpmvPlanDefault(SPMV_BACKEND_HOST, side->nparams, side->params);

  PetscFunctionBegin;
  PetscCall(side->resolve(&csr, NULL, &plan));
  for (PetscInt k = 0; k < side->nparams; k++)
    PetscCheck(strcmp(side->params[k].name, "cache") || plan.value[k] == 64, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "tpspmv counts on %d kB", (int)plan.value[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user's file is used where it is right; where it is not, the user is told once what to do */
static PetscErrorCode TestGet(const char folder[], PetscBool old)
{
  char               file[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN], text[1024] = "";
  FILE              *screen = PETSC_STDERR, *f;
  SpmvMachine        assumed;
  const SpmvMachine *machine;

  PetscFunctionBegin;
  PetscCheck(!setenv("XDG_CONFIG_HOME", folder, 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv");
  SpmvMachineFile(file, sizeof(file));
  PetscCheck(!strncmp(file, folder, strlen(folder)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the file is %s", file);
  PetscCall(Put(file, old ? "cycle 2\n" : "petscspmv machine 6\ncache 32768 65536 131072\ncycle 2\nline 0 1 2 3\nfar 1\n"));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/screen", folder));
  PETSC_STDERR = f = fopen(path, "w+");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
  SpmvMachineAssumed(&assumed);
  if (!old) {
    for (int k = 0; k < 3; k++) assumed.cache[k] = 32768 << k;
    assumed.cycle = 2;
    assumed.far   = 1;
    for (int k = 0; k < SPMV_LEVELS; k++) assumed.line[k] = k;
  }
  machine = SpmvMachineGet();
  PetscCheck(SpmvMachineGet() == machine && !memcmp(machine, &assumed, sizeof(assumed)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "cycle %g, far %g", machine->cycle, machine->far);
  if (!old) PetscCall(TestUse());
  PETSC_STDERR = screen;
  rewind(f);
  text[fread(text, 1, sizeof(text) - 1, f)] = 0;
  PetscCheck(!fclose(f), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", path);
  if (old)
    PetscCheck(strstr(text, file) && strstr(text, "-mat_spmv_tune_calibrate") && strchr(text, '\n') == text + strlen(text) - 1,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s'", text);
  else PetscCheck(!text[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s'", text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a cache has not quite room for comes from it in part; a last cache is divided among processes, of which there is one
   here */
static PetscErrorCode TestLevels(void)
{
  static const struct {
    double cache[3], last; /* over the bytes of a product */
    double level;
  } cases[] = {
    {{2, 3, 4}, 5, 0},       {{1 / 0.75, 2, 3}, 4, 0},      {{1 / 1.125, 2, 3}, 4, 0.5}, {{1 / 1.5, 2, 3}, 4, 1},
    {{0.5, 2, 3}, 4, 1},     {{0.1, 1 / 1.125, 3}, 4, 1.5}, {{0.1, 0.5, 3}, 4, 2},       {{0.1, 0.2, 0.5}, 1.5, 2.25},
    {{0.1, 0.2, 0.5}, 1, 3}, {{0.1, 0.2, 0.5}, 0, 3},       {{0.1, 0.2, 0.3}, 0.2, 3},
  };
  const PetscInt    i[] = {0, 1, 2, 3}, j[] = {0, 1, 2};
  const PetscScalar a[]   = {1, 2, 3};
  const SpmvCSR     csr   = {.m = 3, .n = 3, .rbs = 1, .cbs = 1, .i = i, .j = j, .a = a};
  const SpmvPlan    plan  = SpmvPlanDefault(SPMV_BACKEND_HOST, 0, NULL);
  const SpmvMachine known = *SpmvMachineGet();
  SpmvMachine       machine;
  SpmvSample        sample = {0};
  SpmvTerms         terms;

  PetscFunctionBegin;
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  PetscCall(SpmvEstimateTerms(&sample, SPMV_ISA_COUNT, SPMV_NUMBER_AIJ, 1, &plan, &terms)); /* its bytes */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    machine      = known;
    machine.last = cases[k].last * terms.bytes;
    for (int c = 0; c < 3; c++) machine.cache[c] = cases[k].cache[c] * terms.bytes;
    SpmvMachineSet(&machine);
    PetscCall(SpmvEstimateTerms(&sample, SPMV_ISA_COUNT, SPMV_NUMBER_AIJ, 1, &plan, &terms));
    PetscCheck(PetscAbsReal(terms.level - cases[k].level) < 1e-9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "case %d: from level %g",
               (int)k, terms.level);
  }
  SpmvMachineSet(&known);
  PetscCall(SpmvSampleDestroy(&sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where more cores read memory than it serves, bytes from there take longer, and nothing else; there is one process here */
static PetscErrorCode TestCrowd(void)
{
  static const struct {
    double threads, streams, crowd;
  } cases[] = {
    {1, 0.125, 8}, {1, 2, 1}, {1, 1e6, 1}, {1e6, 1e9, 1}, {1, 0, 1},
  };
  const PetscInt       i[] = {0, 1, 2, 3}, j[] = {0, 1, 2};
  const PetscScalar    a[]        = {1, 2, 3};
  const SpmvCSR        csr        = {.m = 3, .n = 3, .rbs = 1, .cbs = 1, .i = i, .j = j, .a = a};
  const SpmvPlan       plan       = SpmvPlanDefault(SPMV_BACKEND_HOST, 0, NULL);
  const SpmvMachine    known      = *SpmvMachineGet();
  const PetscLogDouble processors = (PetscLogDouble)sysconf(_SC_NPROCESSORS_ONLN);
  SpmvMachine          machine    = known;
  SpmvSample           sample     = {0};
  SpmvTerms            terms, alone;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    machine.streams = cases[k].streams;
    SpmvMachineSet(&machine);
    PetscCheck(SpmvMachineCrowd(cases[k].threads) == cases[k].crowd, PETSC_COMM_SELF, PETSC_ERR_PLIB, "case %d: %g", (int)k,
               SpmvMachineCrowd(cases[k].threads));
  }
  machine.streams = 0.5;
  SpmvMachineSet(&machine);
  PetscCheck(SpmvMachineCrowd(1e6) == 2 * processors, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a million threads: %g",
             SpmvMachineCrowd(1e6));
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  for (int cached = 0; cached < 2; cached++) {
    for (int c = 0; c < 3; c++) machine.cache[c] = cached ? 1e6 : 1;
    machine.last    = machine.cache[2];
    machine.streams = 0.125;
    SpmvMachineSet(&machine);
    PetscCall(SpmvEstimateTerms(&sample, SPMV_ISA_COUNT, SPMV_NUMBER_AIJ, 1, &plan, &terms));
    PetscCall(PetscArrayzero(terms.far, SPMV_LEVELS));
    alone           = terms;
    alone.crowd     = 1;
    alone.work.slow = cached ? terms.work.slow : 8;
    PetscCheck(terms.crowd == 8 && SpmvSeconds(&machine, &terms) == SpmvSeconds(&machine, &alone), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%s, %g: %g s, %g with slow memory", cached ? "cached" : "from memory", terms.crowd,
               SpmvSeconds(&machine, &terms), SpmvSeconds(&machine, &alone));
  }
  /* Lines from memory take part of the bandwidth; from a cache behind a mesh, too, where the matrix comes from memory; no others
     do */
  for (int kind = 0; kind < 4 * (SPMV_LEVELS - 1); kind++) {
    const int            from = kind / 4 + 1, mesh = kind & 1, streamed = kind >> 1 & 1;
    const PetscLogDouble lines[SPMV_LEVELS] = {0, 1, from > 1, from > 2}, level = SPMV_LEVELS - 2 + streamed;
    const PetscLogDouble far = machine.line[SPMV_LEVELS - 1], crowd = 2 * far / (SPMV_CACHE_LINE * machine.byte[SPMV_LEVELS - 1]);
    const PetscBool      shares = (PetscBool)(from == SPMV_LEVELS - 1 || (from == SPMV_LEVELS - 2 && mesh && streamed));
    PetscLogDouble       alone, shared;

    machine.far = mesh;
    alone       = SpmvFarWait(&machine, 0, level, lines);
    shared      = SpmvFarWait(&machine, crowd, level, lines);
    PetscCheck(PetscAbsReal(alone - machine.line[from]) < 1e-9 &&
                 PetscAbsReal(shared - (shares ? 2 * far : machine.line[from])) < 1e-9,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "a line from level %d, mesh %d, matrix %s: %g ns, %g", from, mesh,
               streamed ? "from memory" : "in cache", alone, shared);
  }
  SpmvMachineSet(&known);
  PetscCall(SpmvSampleDestroy(&sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      folder[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN], kind[16] = "used";
  PetscBool old;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-file", kind, sizeof(kind), NULL));
  PetscCall(PetscStrcmp(kind, "old", &old));
  PetscCall(PetscGetWorkingDirectory(folder, sizeof(folder)));
  PetscCall(PetscStrlcat(folder, "/unit_machine", sizeof(folder)));
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s/machine", folder));
  PetscCall(TestBuiltin());
  PetscCall(TestCaches(folder));
  PetscCall(TestFile(file));
  PetscCall(TestGet(folder, old));
  PetscCall(TestLevels());
  PetscCall(TestCrowd());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -file {{used old}}

TEST*/
