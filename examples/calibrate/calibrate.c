static const char help[] = "Measures this machine and writes what formats and the tuner go by.\n\
  -out <file>   instead of petscspmv/machine in $XDG_CONFIG_HOME or ~/.config; - for the screen only\n\n";

/*
  calibrate - what this machine's caches hold and how fast it is, in comparison with the one that the built-in numbers were fitted on

  The built-in rates make the estimate agree with products that were measured; a probe that reads memory and does nothing else
  takes another time. So each rate in the file is the built-in one times what its probe takes here, over what the same probe took
  there. Sizes of caches are what the machine tells, and what is said of the last cache goes with its size. Whether that is far, and how
  many rows the branch predictor knows, are what the probes tell.
*/
#include "tune/tune.h"
#include <petsctime.h>
#include <math.h>
#include <unistd.h>

#define PROBE_SECONDS 0.05                /* of one probe, about */
#define PROBE_LEAST   2e-5                /* seconds that the clock tells well */
#define PROBE_CHUNK   ((size_t)1 << 16)   /* bytes that are read at a time */
#define PROBE_FAR     ((size_t)256 << 20) /* bytes that fit no cache */
#define PROBE_INDICES ((size_t)1 << 20)
#define PROBE_ROWS    (1 << 18) /* rows that no branch predictor knows */
#define PROBE_GRID    60        /* points along a side of the grid for products: their matrix stays in the second cache */

/* What the probes took on the machine that the built-in numbers were fitted on, in nanoseconds */
static const SpmvMachine Reference = {
  .cache    = {32768, 1048576, 8388608},
  .parallel = 531,
  .byte     = {0.0085, 0.0097, 0.0102, 0.0385},
  .line     = {0, 0.22, 0.46, 9.6},
  .cycle    = 0.2707,
  .miss     = 7.84,
  .isa      = {1.4, 1.066, 1},
};

/* Everything that a probe may need */
typedef struct {
  uint64_t *memory;
  int32_t  *index; /* [PROBE_INDICES] words of memory, the first of a line each */
  size_t    bytes; /* how much of the memory is looked at */
  size_t    at;    /* where the next look begins */
  int32_t   rows;  /* how many of index[] are lengths of rows */

  SpmvCSR      csr; /* for products */
  SpmvApplyFn *apply;
  const void  *storage;
  PetscScalar *x, *y;
  uint64_t     sum; /* so that nothing is left out */
} Probe;

/* Returns how many things were done, of which the time of one is wanted */
typedef double ProbeFn(Probe *p);

/* The next of n things that are gone through over and over, `step` at a time */
static size_t Next(Probe *p, size_t n, size_t step)
{
  const size_t at = p->at + step <= n ? p->at : 0;

  p->at = at + step;
  return at;
}

static double ProbeRead(Probe *p)
{
  const size_t    n = PetscMin(p->bytes, PROBE_CHUNK) / 8, at = Next(p, p->bytes / 8, n);
  uint64_t        sum[8] = {0};
  const uint64_t *m      = p->memory + at;

  for (size_t k = 0; k < n; k += 8) {
    for (int l = 0; l < 8; l++) sum[l] += m[k + (size_t)l];
  }
  for (int l = 0; l < 8; l++) p->sum += sum[l];
  return (double)n * 8;
}

static double ProbeLines(Probe *p)
{
  const size_t all = PetscMin(PROBE_INDICES, p->bytes / 64 * 8), n = PetscMin(all, PROBE_CHUNK / 64), at = Next(p, all, n);
  uint64_t     sum = 0;

  for (size_t k = at; k < at + n; k++) sum += p->memory[p->index[k]];
  p->sum += sum;
  return (double)n;
}

static double ProbeCycles(Probe *p)
{
  uint64_t x = p->sum;

  for (int k = 0; k < 1 << 20; k++) {
    x += 3;
    __asm__ volatile("" : "+r"(x)); /* each addition waits for the one before */
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
      __asm__ volatile("" : "+r"(sum));
    }
  }
  p->sum += sum;
  return 1 << 17;
}

/* Rows whose ends the processor may know by heart */
static double ProbeRows(Probe *p)
{
  uint64_t sum = 0;

  for (int32_t r = 0; r < p->rows; r++) {
    for (int32_t k = 0; k < p->index[r]; k++) {
      sum += (uint64_t)k;
      __asm__ volatile("" : "+r"(sum));
    }
  }
  p->sum += sum;
  return p->rows;
}

static void DoNothing(void *context, PetscInt task)
{
  (void)context;
  (void)task;
}

static double ProbeParallel(Probe *p)
{
  (void)p;
  for (int k = 0; k < 16; k++) SpmvRun(2, DoNothing, NULL);
  return 16;
}

static double ProbeProduct(Probe *p)
{
  (*p->apply)(p->storage, p->x, p->y, PETSC_FALSE);
  return 1;
}

/* Nanoseconds of one: the least of many short times, so that other programs do not count */
static PetscErrorCode Run(ProbeFn *probe, Probe *p, double *ns)
{
  PetscLogDouble begin, start, now = 0;

  PetscFunctionBegin;
  *ns = PETSC_MAX_REAL;
  PetscCall(PetscTime(&begin));
  for (int calls = 1; *ns == PETSC_MAX_REAL || now - begin < PROBE_SECONDS;) {
    double things = 0;

    PetscCall(PetscTime(&start));
    for (int k = 0; k < calls; k++) things += (*probe)(p);
    PetscCall(PetscTime(&now));
    if (now - start < PROBE_LEAST) calls *= 2;
    else *ns = PetscMin(*ns, 1e9 * (now - start) / things);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random lines among the first `bytes` of the memory */
static void Scatter(Probe *p)
{
  uint64_t x = 20240607;

  p->at = 0;
  for (size_t k = 0; k < PROBE_INDICES; k++) {
    x           = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    p->index[k] = (int32_t)((x >> 33) % (p->bytes / 64) * 8);
  }
}

/* How many rows' ends the branch predictor knows: rows of 3 to 8 entries at random take more time as soon as it does not */
static PetscErrorCode MeasureLearnt(Probe *p, double *rows)
{
  uint64_t x = 20240607;
  double   known, unknown, ns = 0;

  PetscFunctionBegin;
  for (int32_t r = 0; r < PROBE_ROWS; r++) {
    x           = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    p->index[r] = 3 + (int32_t)((x >> 33) % 6);
  }
  p->rows = 1024;
  PetscCall(Run(ProbeRows, p, &known));
  p->rows = PROBE_ROWS;
  PetscCall(Run(ProbeRows, p, &unknown));
  for (p->rows = 1024; p->rows < PROBE_ROWS && ns < (known + unknown) / 2; p->rows *= 2) PetscCall(Run(ProbeRows, p, &ns));
  *rows = p->rows / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The 5-point stencil on a square grid, and vectors for it */
static PetscErrorCode ProductsCreate(Probe *p)
{
  const PetscInt n = PROBE_GRID * PROBE_GRID, apart[5] = {-PROBE_GRID, -1, 0, 1, PROBE_GRID};
  PetscInt      *i, *j, nz = 0;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(n + 1, &i, 5 * n, &j, 5 * n, &a, n, &p->x, n, &p->y));
  for (PetscInt r = 0; r < n; r++) {
    i[r]    = nz;
    p->x[r] = 1;
    for (int k = 0; k < 5; k++) {
      const PetscInt c = r + apart[k];

      if (c < 0 || c >= n || PetscAbsInt(c % PROBE_GRID - r % PROBE_GRID) > 1) continue;
      j[nz]   = c;
      a[nz++] = k == 2 ? 4 : -1;
    }
  }
  i[n]   = nz;
  p->csr = (SpmvCSR){.m = n, .n = n, .rbs = 1, .cbs = 1, .i = i, .j = j, .a = a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductsDestroy(Probe *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(p->csr.i, p->csr.j, p->csr.a, p->x, p->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best instruction set of this machine */
static int Best(void)
{
  int isa = SPMV_ISA_COUNT - 1;

  while (!SpmvIsaSupported((SpmvIsa)isa)) isa--;
  return isa;
}

/* What products take with each instruction set that this machine runs, over what they take with the best: mean of the formats */
static PetscErrorCode MeasureIsas(Probe *p, double slower[])
{
  const int best                  = Best();
  double    log2s[SPMV_ISA_COUNT] = {0};

  PetscFunctionBegin;
  PetscCall(ProductsCreate(p));
  for (PetscInt number = 0; number < SPMV_NUMBER_AIJ; number++) {
    const SpmvHostSide *host = SpmvCandidate[number]->host;

    for (int isa = 0; isa <= best; isa++) {
      SpmvPlan plan    = SpmvPlanDefault(SPMV_BACKEND_HOST, host->side.nparams, host->side.params);
      void    *storage = NULL;
      double   ns;

      plan.isa = isa;
      PetscCall(SpmvBuild(&host->side, &p->csr, NULL, &plan, &storage));
      p->apply   = host->kernels[isa]->apply ? host->kernels[isa]->apply : host->kernels[SPMV_SCALAR]->apply;
      p->storage = storage;
      PetscCall(Run(ProbeProduct, p, &ns));
      log2s[isa] += log2(ns) / SPMV_NUMBER_AIJ;
      PetscCall(host->side.destroy(&storage));
    }
  }
  for (int isa = 0; isa <= best; isa++) slower[isa] = exp2(log2s[isa] - log2s[best]);
  PetscCall(ProductsDestroy(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureAll(SpmvMachine *here)
{
  Probe p = {0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(PROBE_FAR / 8, &p.memory, PROBE_INDICES, &p.index));
  for (size_t k = 0; k < PROBE_FAR / 8; k++) p.memory[k] = k;
  for (int level = 0; level < SPMV_LEVELS; level++) {
    p.bytes = level < SPMV_LEVELS - 1 ? (size_t)(here->cache[level] / 2) / 64 * 64 : PROBE_FAR;
    Scatter(&p);
    PetscCall(Run(ProbeRead, &p, &here->byte[level]));
    PetscCall(Run(ProbeLines, &p, &here->line[level]));
    if (level) here->line[level] = PetscMax(0.01, here->line[level] - here->line[0]);
  }
  here->line[0] = 0;
  PetscCall(Run(ProbeCycles, &p, &here->cycle));
  PetscCall(Run(ProbeMisses, &p, &here->miss));
  PetscCall(MeasureLearnt(&p, &here->learnt));
  PetscCall(MeasureIsas(&p, here->isa));
  here->parallel = Reference.parallel;
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1) PetscCall(Run(ProbeParallel, &p, &here->parallel));
  PetscCall(PetscFree2(p.memory, p.index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is assumed, each number times what its probe takes here over what it took there */
static void Scale(const SpmvMachine *here, SpmvMachine *machine)
{
  const double cycle = here->cycle / Reference.cycle, last = here->cache[2] / Reference.cache[2];

  machine->far = here->byte[2] >= 3 * here->byte[1];
  machine->last *= last;
  machine->cached *= last;
  machine->uncached *= last;
  machine->column *= last;
  machine->learnt = here->learnt;
  machine->parallel *= PetscMin(100, here->parallel / Reference.parallel / cycle); /* more is other programs' doing */
  machine->cycle *= cycle;
  machine->vector *= cycle;
  machine->gathered *= cycle;
  machine->miss *= here->miss / Reference.miss;
  for (int k = 0; k < SPMV_LEVELS; k++) machine->byte[k] *= here->byte[k] / Reference.byte[k];
  for (int k = 1; k < SPMV_LEVELS; k++)
    machine->line[k] = PetscMax(machine->line[k - 1], machine->line[k] * here->line[k] / Reference.line[k]);
  for (int k = 0; k <= Best(); k++) machine->isa[k] *= here->isa[k] * Reference.isa[Best()] / Reference.isa[k];
}

/* Makes the folders, writes a temporary file and renames it: a program that starts meanwhile reads the old one or the new one */
static PetscErrorCode Write(const char file[], const SpmvMachine *machine)
{
  char  path[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  SpmvMakeFolders(file);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%ld", file, (long)getpid()));
  f = fopen(path, "w");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s; name another file with -out", path);
  SpmvMachineWrite(machine, f);
  PetscCheck(!fclose(f) && !rename(path, file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
             "Cannot write %s; name another file with -out", file);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "written to %s\n", file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        file[PETSC_MAX_PATH_LEN];
  SpmvMachine here, machine;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SpmvMachineFile(file, sizeof(file));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-out", file, sizeof(file), NULL));
  SpmvMachineAssumed(&machine);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "assumed without a file\n"));
  SpmvMachineWrite(&machine, stdout);
  here = machine;
  PetscCall(MeasureAll(&here));
  Scale(&here, &machine);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "probes\n"));
  SpmvMachineWrite(&here, stdout);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "measured\n"));
  SpmvMachineWrite(&machine, stdout);
  if (file[0] && strcmp(file, "-")) PetscCall(Write(file, &machine));
  PetscCall(PetscFinalize());
  return 0;
}
