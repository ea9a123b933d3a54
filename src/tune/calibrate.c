/*
  calibrate.c - measures this machine: products of matrices that are made for it

  A probe that reads memory and does nothing else takes another time than a product, so products are what is measured: each format
  that suits a matrix, under its own plan; calibrate_fit.c finds the rates that explain what they took. Then come what products of
  small matrices do not show: instruction sets, branches, how many cores the memory serves, and how long other threads take to
  begin.

  Sizes of caches are what the system tells, but what the last one holds is measured first (calibrate_memory.c), as times of
  products from it and from memory are to be told apart.
*/
#include "tune.h"
#include "../sys/paths.h"
#include "../sys/warn.h"
#include <petsctime.h>
#include <math.h>

#define CALIBRATE_LEAST 5e-5                /* seconds that the clock tells well */
#define CALIBRATE_ROWS  ((PetscInt)1 << 18) /* rows that no branch predictor knows */
#define CALIBRATE_MOST  100.                /* times as long is the most that counts: more is other programs' doing */
#define CALIBRATE_FAR   2. /* how much slower than the second cache one is that is far (Intel 2.4 to 3.6, Zen 1.2 to 1.5) */

#define CALIBRATE_BEGIN 531. /* nanoseconds until another thread began where the built-in numbers were measured */

/* Seconds of what is done over and over: the least of several batches, each long enough for the clock, since noise only adds */
PetscErrorCode SpmvCalibrateTime(void (*run)(void *context), void *context, PetscLogDouble *seconds)
{
  PetscLogDouble begin, start, now;
  PetscInt       calls = 1, batches = 0;

  PetscFunctionBegin;
  *seconds = PETSC_MAX_REAL;
  (*run)(context);
  PetscCall(PetscTime(&begin));
  do {
    PetscCall(PetscTime(&start));
    for (PetscInt k = 0; k < calls; k++) (*run)(context);
    PetscCall(PetscTime(&now));
    if (now - start < CALIBRATE_LEAST) {
      calls *= 2;
      continue;
    }
    *seconds = PetscMin(*seconds, (now - start) / (PetscLogDouble)calls);
    batches++;
  } while (batches < SPMV_CALIBRATE_BATCHES || now - begin < SPMV_CALIBRATE_SECONDS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  SpmvApplyFn *apply;
  const void  *storage;
  PetscScalar *x, *y;
} Product;

static void RunProduct(void *context)
{
  const Product *p = (const Product *)context;

  (*p->apply)(p->storage, p->x, p->y, PETSC_FALSE);
}

/* Products that were measured */
typedef struct {
  PetscInt        n;
  SpmvTerms      *terms;   /* [n] */
  PetscLogDouble *seconds; /* [n] */
} Measured;

static PetscErrorCode MeasuredDestroy(Measured *m)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(m->terms));
  PetscCall(PetscFree(m->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product under a plan, by an instruction set */
static PetscErrorCode MeasureProduct(const SpmvCSR *csr, PetscInt number, PetscInt isa, const SpmvPlan *plan, PetscScalar x[],
                                     PetscScalar y[], PetscLogDouble *seconds)
{
  const SpmvHostSide *host = SpmvCandidate[number]->host;
  const SpmvKernels  *kernels;
  SpmvPlan            built = *plan;
  SPMV_DESTROY_BY(SpmvOwnedDestroy)
  SpmvOwned own = {.side = &host->side};

  PetscFunctionBegin;
  PetscCall(SpmvKernelsGet(SpmvCandidate[number], isa, &kernels));
  PetscCall(SpmvBuild(&host->side, csr, NULL, &built, &own.storage));
  PetscCall(SpmvCalibrateTime(RunProduct, &(Product){kernels->apply, own.storage, x, y}, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what products of a matrix take, by each format that suits it, under its own plan */
static PetscErrorCode MeasureMatrix(const SpmvCSR *csr, Measured *m)
{
  SpmvRequest q;
  SPMV_DESTROY_BY(SpmvSearchDestroy)
  SpmvSearch search = {.request = &q};

  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
  PetscCall(SpmvSampleCreate(csr, SPMV_SAMPLE_FORMATS, &search.sample));
  PetscCall(SpmvSampleReach(&search.sample));
  for (PetscInt number = 0; number < SPMV_NUMBER_AIJ; number++) PetscCall(SpmvSearchAdd(&search, number, &q.host[number]));
  PetscCall(PetscMalloc2(csr->n, &search.x, csr->m, &search.y));
  for (PetscInt k = 0; k < csr->n; k++) search.x[k] = 1;
  PetscCall(PetscRealloc((size_t)(m->n + search.n) * sizeof(*m->terms), &m->terms));
  PetscCall(PetscRealloc((size_t)(m->n + search.n) * sizeof(*m->seconds), &m->seconds));
  for (PetscInt k = 0; k < search.n; k++, m->n++) {
    const SpmvOption *o = &search.option[k];

    PetscCall(SpmvEstimateTerms(&search.sample, q.isa, o->number, 1, &o->plan, &m->terms[m->n]));
    PetscCall(MeasureProduct(csr, o->number, q.isa, &o->plan, search.x, search.y, &m->seconds[m->n]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureRates(PetscInt part, SpmvCalibrateMatrixFn *matrix, SpmvMachine *machine, PetscLogDouble *error)
{
  SPMV_DESTROY_BY(MeasuredDestroy)
  Measured measured = {0};
  char     name[64];

  PetscFunctionBegin;
  for (PetscInt number = 0;; number++) {
    SPMV_DESTROY_BY(SpmvCalibrateMatrixDestroy)
    SpmvCSR csr = {0};

    PetscCall((*matrix)(number, part, &csr, name, sizeof(name)));
    if (!csr.m) break;
    PetscCall(MeasureMatrix(&csr, &measured));
    PetscCall(PetscInfo(NULL, "measured %s: %" PetscInt_FMT " rows, %" PetscInt_FMT " nonzeros\n", name, csr.m, csr.i[csr.m]));
  }
  PetscCall(SpmvCalibrateFit(measured.n, measured.terms, measured.seconds, machine, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What products take with each instruction set that this machine runs, over what they take with the best: mean of the formats */
static PetscErrorCode MeasureIsas(PetscInt part, SpmvMachine *machine)
{
  PetscLogDouble                                      logs[SPMV_ISA_COUNT] = {0};
  SPMV_DESTROY_BY(SpmvCalibrateMatrixDestroy) SpmvCSR csr                  = {0};
  SPMV_TEMPORARY PetscScalar                         *x = NULL, *y = NULL;
  SpmvIsa                                             best;
  char                                                name[64];

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  PetscCall(SpmvCalibrateMatrix(0, part, &csr, name, sizeof(name)));
  PetscCall(PetscCalloc1(csr.n, &x));
  PetscCall(PetscMalloc1(csr.m, &y));
  for (PetscInt number = 0; number < SPMV_NUMBER_AIJ; number++) {
    const SpmvHostSide *host = SpmvCandidate[number]->host;

    for (PetscInt isa = 0; isa <= (PetscInt)best; isa++) {
      SpmvPlan       plan = SpmvPlanDefault(SPMV_BACKEND_HOST, host->side.nparams, host->side.params);
      PetscLogDouble seconds;

      if (!SpmvIsaSupported((SpmvIsa)isa) || !host->kernels[isa]->apply) continue;
      plan.isa = isa;
      PetscCall(MeasureProduct(&csr, number, isa, &plan, x, y, &seconds));
      logs[isa] += log(seconds) / SPMV_NUMBER_AIJ;
    }
  }
  for (int isa = 0; isa <= (int)best; isa++) {
    if (logs[isa] < 0) machine->isa[isa] = exp(logs[isa] - logs[best]); /* it was measured: products take less than a second */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt          rows;
  const int32_t    *length; /* [rows] */
  volatile uint64_t sum;    /* so that nothing is left out */
} Rows;

static void RunRows(void *context)
{
  Rows    *rows = (Rows *)context;
  uint64_t sum  = 0;

  for (PetscInt r = 0; r < rows->rows; r++) {
    for (int32_t k = 0; k < rows->length[r]; k++) {
      sum += (uint64_t)k;
      __asm__ volatile("" : "+r"(sum));
    }
  }
  rows->sum = sum;
}

/* How many rows' ends the branch predictor knows: rows of 3 to 8 entries at random take more time as soon as it does not */
static PetscErrorCode MeasureLearnt(SpmvMachine *machine)
{
  SPMV_TEMPORARY int32_t *length = NULL;
  Rows                    rows   = {.rows = 1024};
  uint64_t                x      = 20240607;
  PetscLogDouble          known, unknown, each = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(CALIBRATE_ROWS, &length));
  for (PetscInt r = 0; r < CALIBRATE_ROWS; r++) {
    x         = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    length[r] = 3 + (int32_t)((x >> 33) % 6);
  }
  rows.length = length;
  PetscCall(SpmvCalibrateTime(RunRows, &rows, &known));
  known /= (PetscLogDouble)rows.rows;
  rows.rows = CALIBRATE_ROWS;
  PetscCall(SpmvCalibrateTime(RunRows, &rows, &unknown));
  unknown /= (PetscLogDouble)rows.rows;
  for (rows.rows = 1024; rows.rows < CALIBRATE_ROWS; rows.rows *= 2) {
    PetscCall(SpmvCalibrateTime(RunRows, &rows, &each));
    if (each / (PetscLogDouble)rows.rows >= (known + unknown) / 2) break;
  }
  machine->learnt = (PetscLogDouble)rows.rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void DoNothing(void *context, PetscInt task)
{
  (void)context;
  (void)task;
}

static void RunParallel(void *context)
{
  (void)context;
  SpmvRun(2, DoNothing, NULL);
}

/*
  SpmvCalibrate - measures this machine, which takes about 25 seconds

  part: by which sizes of matrices are divided; 1 but in tests. matrix: those that rates are fitted to, SpmvCalibrateMatrix() but
  for reports on what a fit to some tells of others. machine: on entry what is assumed, which SpmvMachineGet() tells from then on
  but for the size of the last cache. error: on return how far the estimate is from what was measured, the mean of |log(predicted
  / measured)|. Nothing else should run meanwhile
*/
PetscErrorCode SpmvCalibrate(PetscInt part, SpmvCalibrateMatrixFn *matrix, SpmvMachine *machine, PetscLogDouble *error)
{
  PetscLogDouble parallel = 0;

  PetscFunctionBegin;
  PetscCall(SpmvCalibrateLast(part, machine));
  SpmvMachineSet(machine); /* estimates are to know it */
  PetscCall(MeasureRates(part, matrix, machine, error));
  PetscCall(MeasureIsas(part, machine));
  PetscCall(MeasureLearnt(machine));
  PetscCall(SpmvCalibrateStreams(part, machine));
  SpmvCalibrateOrder(machine);
  machine->far = machine->byte[2] >= CALIBRATE_FAR * machine->byte[1];
  if (SpmvMachineProcessors() > 1) PetscCall(SpmvCalibrateTime(RunParallel, NULL, &parallel));
  machine->parallel *= PetscMax(1, PetscMin(CALIBRATE_MOST, 1e9 * parallel / CALIBRATE_BEGIN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the folders, writes a temporary file and renames it: a program that starts meanwhile reads the old one or the new one.
   False: it cannot be written */
PetscBool SpmvCalibrateSave(const char file[], const SpmvMachine *machine)
{
  char  path[PETSC_MAX_PATH_LEN];
  FILE *f;

  SpmvMakeFolders(file);
  f = SpmvReplaceBegin(file, path, sizeof(path));
  if (!f) return PETSC_FALSE;
  SpmvMachineWrite(machine, f);
  return (PetscBool)!SpmvReplaceEnd(f, PETSC_TRUE, path, file);
}

/* What the first process has, when it has it. The others sleep until then: waiting in a loop they would slow down what it
   measures */
static PetscErrorCode CalibrateTell(void *data, size_t bytes)
{
#if defined(PETSC_HAVE_MPI_NONBLOCKING_COLLECTIVES)
  MPI_Request request;
  int         done = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Ibcast(data, (PetscMPIInt)bytes, MPI_BYTE, 0, PETSC_COMM_WORLD, &request));
  for (;;) {
    PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done) break;
    PetscCall(PetscSleep(0.01));
  }
#else
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(data, (PetscMPIInt)bytes, MPI_BYTE, 0, PETSC_COMM_WORLD));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures this machine while the other processes wait, keeps what was measured, and says so */
static PetscErrorCode CalibrateFirst(const char file[], SpmvMachine *machine)
{
  PetscBool      kept;
  PetscLogDouble start, end, error;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  SpmvMachineAlone(PETSC_TRUE);
  ierr = SpmvCalibrate(1, SpmvCalibrateMatrix, machine, &error);
  SpmvMachineAlone(PETSC_FALSE);
  PetscCall(ierr);
  PetscCall(PetscTime(&end));
  kept = (PetscBool)(file[0] && SpmvCalibrateSave(file, machine));
  PetscCall(
    PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                 "petscspmv: -mat_spmv_tune_calibrate measured this machine in %.0f seconds; estimates of products are off "
                 "by %.0f %%; %s has it for later runs\n",
                 (double)(end - start), 100 * (exp(error) - 1), kept ? file : "no file"));
  if (!kept)
    PetscCall(SpmvWarn("what was measured of this machine is not kept, as %s cannot be written; set XDG_CONFIG_HOME to a folder "
                       "that can be",
                       file[0] ? file : "the user's configuration folder"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  -mat_spmv_tune_calibrate: all processes take the first one's file. Where that is missing or of no use, the first process
  measures its machine while the others wait, tells them, and writes the file
*/
PetscErrorCode SpmvCalibrateInitialize(void)
{
  char           file[PETSC_MAX_PATH_LEN], why[256];
  PetscBool      wanted = PETSC_FALSE, known = PETSC_FALSE;
  SpmvMachine    machine;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mat_spmv_tune_calibrate", &wanted, NULL));
  if (!wanted) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvMachineAssumed(&machine);
  SpmvMachineFile(file, sizeof(file));
  if (!PetscGlobalRank) known = SpmvMachineRead(file, &machine, why, sizeof(why));
  if (known) PetscCall(PetscInfo(NULL, "%s is there: nothing is measured\n", file));
  if (!PetscGlobalRank && !known) ierr = CalibrateFirst(file, &machine);
  PetscCall(CalibrateTell(&machine, sizeof(machine))); /* in any case, so that nobody waits for ever */
  PetscCall(ierr);
  SpmvMachineSet(&machine);
  PetscFunctionReturn(PETSC_SUCCESS);
}
