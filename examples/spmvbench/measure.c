/*
  measure.c - times of products, all types taking turns

  What a product gives is looked at after the first one and after the last, see exact.c.

  Several processes do all of this at once; the first one is not alone at any time, see BenchGoesOn().

  Time: in each round every type multiplies for about BATCH seconds, at least once, and the time of the batch is divided
  by its products. Types take turns so that what slows the machine down for a while slows all of them; the order is
  turned round in each round. How slow a round was is the median over the types of their times over their own medians; all
  times of the round are divided by it, so that neither a slow minute nor a fast second decides between types (one step of
  Tukey's median polish: Exploratory Data Analysis, 1977, chapter 11). A batch begins with products that are not timed,
  until caches have what stays there: times go down to half in 7 of them where 20 to 80 MB are in a last cache. Reading
  memory has a turn beside each type, as many bytes as its product moves, by another loop each round; where kernels of a
  device are timed, it says nothing, and is left out.
*/
#include "spmvbench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>

#define BATCH       0.010 /* seconds of one type's products in a round, about; less where LEAST_ROUND of these are too long */
#define READ_BATCH  0.005
#define LEAST_ROUND 8 /* one for each loop of readloop.c */

double BenchClock(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int CompareDouble(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;

  return (p > q) - (p < q);
}

/* ---- the first product ---- */

typedef struct {
  const BenchMatrix *M;
  const BenchExact  *exact;
  BenchType         *t;
  Vec                x, y;
  const BenchRun    *run;
} BenchFirst;

#define FIRST_TIMES   3        /* a first product happens once to a Mat, so it is seen of so many Mats, one after the other ... */
#define FIRST_ENTRIES 20000000 /* ... of fewer entries than these; where kernels alone are timed, of one */

static PetscErrorCode BenchFirstProduct(void *context)
{
  BenchFirst    *f = context;
  const PetscInt n = f->M->i[f->M->m] < FIRST_ENTRIES && f->run->operation != BENCH_KERNELS ? FIRST_TIMES : 1;
  double         start, first[FIRST_TIMES], choosing[FIRST_TIMES], making[FIRST_TIMES];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    if (k) PetscCall(BenchTypeForget(f->t));
    PetscCall(BenchTypeBuild(f->M, f->run->threads, f->t));
    PetscCall(BenchFillNaN(f->y));
    start = BenchClock();
    PetscCall(MatMult(f->t->A, f->x, f->y));
    first[k] = BenchClock() - start;
    PetscCall(BenchTypeSetup(f->t, &choosing[k], &making[k], &f->t->predicted));
  }
  qsort(first, (size_t)n, sizeof(double), CompareDouble);
  qsort(choosing, (size_t)n, sizeof(double), CompareDouble);
  qsort(making, (size_t)n, sizeof(double), CompareDouble);
  f->t->first    = first[n / 2];
  f->t->choosing = choosing[n / 2];
  f->t->making   = making[n / 2];
  f->t->pass     = PETSC_TRUE;
  PetscCall(BenchErrorAdd(f->M, f->exact, f->y, f->t));
  PetscCall(BenchOperationSetUp(f->M, f->run, f->x, f->t));
  PetscCall(BenchOperate(f->run, f->t, 1, f->x, f->y));
  start = BenchClock();
  PetscCall(BenchOperate(f->run, f->t, 1, f->x, f->y));
  f->t->repeats =
    (PetscInt)PetscMax(1, PetscMin(1e6, PetscMin(BATCH, f->run->seconds / LEAST_ROUND) / (BenchClock() - start + 1e-9)));
  PetscCall(BenchTypeQuery(f->M, f->t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes a Mat's own prefix out of a message, which then names the option as users know it */
static void PrefixRemove(const char prefix[], char message[])
{
  const size_t length = strlen(prefix);

  for (char *p; (p = strstr(message, prefix));) memmove(p, p + length, strlen(p + length) + 1);
}

/* Makes all Mats and looks at their first products. A type that fails is reported and left out */
static PetscErrorCode BenchFirstAll(BenchFirst *f, PetscInt count, BenchType types[], PetscBool *good)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) {
    char      why[BENCH_REASON];
    PetscBool ok   = PETSC_FALSE;
    PetscInt  lock = 0;

    f->t = &types[k];
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); /* what all processes do at once is the same */
    PetscCall(BenchProgress("%s: building %s", f->M->name, types[k].spec));
    PetscCall(BenchTry(BenchFirstProduct, f, why, &ok));
    if (ok) continue;
    PrefixRemove(types[k].prefix, why);
    PetscCall(BenchProgressClear());
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "spmvbench: %s: type %s cannot be measured: %s\n", f->M->name,
                           types[k].spec, why));
    if (types[k].asked) *good = PETSC_FALSE;
    /* MatMult() locked x and did not come back to unlock it */
    PetscCall(VecLockGet(f->x, &lock));
    for (; lock > 0; lock--) PetscCall(VecLockReadPop(f->x));
    PetscCall(BenchTypeForget(&types[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- times ---- */

#define SETTLED      0.97 /* of the least time: a product that takes more is as fast as those that follow */
#define SETTLED_MOST 8    /* products until then, at most */
#define SETTLED_LONG 0.02 /* seconds of a product whose matrix no cache holds */

/* Products that are not timed, until they are no faster than those before them */
static PetscErrorCode BenchSettle(const BenchRun *run, const BenchType *t, Vec x, Vec y)
{
  double least = INFINITY, time = 0;

  PetscFunctionBegin;
  for (int k = 0; k < SETTLED_MOST && time <= SETTLED * least && time < SETTLED_LONG; k++) {
    const double start = BenchClock();

    if (k) least = fmin(least, time);
    PetscCall(BenchOperate(run, t, 1, x, y));
    time = BenchClock() - start;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchBatch(const BenchRun *run, const BenchType *t, Vec x, Vec y, double *seconds)
{
  double start;

  PetscFunctionBegin;
  PetscCall(BenchSettle(run, t, x, y));
  start = BenchClock();
  PetscCall(BenchOperate(run, t, t->repeats, x, y));
  *seconds = BenchClock() - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of a product: the storage, x and y once */
static double BytesMoved(const BenchMatrix *M, const BenchType *t)
{
  return t->bytes + (double)sizeof(PetscScalar) * ((double)M->m + (double)M->n);
}

static volatile uint64_t BenchSink; /* what was read: the compiler must believe that somebody wants it */

/* All threads read, each its part */
static void BenchReadShared(BenchReader *reader, const void *memory, size_t bytes, PetscInt threads)
{
  uint64_t all = 0;

#if defined(_OPENMP)
  #pragma omp parallel for schedule(static, 1) num_threads((int)threads) reduction(^ : all)
#endif
  for (PetscInt t = 0; t < threads; t++)
    all ^= reader((const char *)memory + bytes / (size_t)threads / 64 * 64 * (size_t)t, bytes / (size_t)threads / 64 * 64);
  BenchSink = all;
}

static void BenchReadBatch(BenchReader *reader, const void *memory, size_t bytes, PetscInt threads, double *best)
{
  const PetscInt repeats = (PetscInt)PetscMax(1, READ_BATCH * 20e9 / (double)bytes);
  double         start;

  if (repeats > 1) BenchReadShared(reader, memory, bytes, threads);
  start = BenchClock();
  for (PetscInt k = 0; k < repeats; k++) BenchReadShared(reader, memory, bytes, threads);
  *best = PetscMax(*best, (double)bytes * (double)repeats / (BenchClock() - start));
}

/* The median of n > 0 sorted numbers */
double BenchMiddle(const double sorted[], PetscInt n)
{
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* Divides the times of each round by how slow it was; work: [rounds + 2 count] */
static void BenchPolish(PetscInt rounds, PetscInt count, BenchType types[], double work[])
{
  double *median = work + rounds, *slow = median + count;

  for (PetscInt k = 0; k < count; k++) {
    if (!types[k].A) continue;
    for (PetscInt r = 0; r < rounds; r++) work[r] = types[k].times[r];
    qsort(work, (size_t)rounds, sizeof(double), CompareDouble);
    median[k] = BenchMiddle(work, rounds);
  }
  for (PetscInt r = 0; r < rounds; r++) {
    PetscInt live = 0;
    double   slower;

    for (PetscInt k = 0; k < count; k++) {
      if (types[k].A) slow[live++] = types[k].times[r] / median[k];
    }
    if (live < 2) return; /* nothing to compare it with */
    qsort(slow, (size_t)live, sizeof(double), CompareDouble);
    slower = BenchMiddle(slow, live);
    for (PetscInt k = 0; k < count; k++) {
      if (types[k].A) types[k].times[r] /= slower;
    }
  }
}

/*
  Whether there is another round. The first process says when it has measured enough; the others go on until then, so that it is
  never alone: times are kept of as many rounds as there is room for. ended: their request for its message
*/
static PetscErrorCode BenchGoesOn(const BenchRun *run, PetscInt round, PetscBool enough, MPI_Request *ended, PetscBool *more)
{
  int flag = 0;

  PetscFunctionBegin;
  if (run->rank && !round) PetscCallMPI(MPI_Irecv(NULL, 0, MPI_INT, 0, 0, PETSC_COMM_WORLD, ended));
  if (run->rank) PetscCallMPI(MPI_Test(ended, &flag, MPI_STATUS_IGNORE));
  *more = (PetscBool)(run->rank ? !flag || round < 1 : !enough);
  for (PetscMPIInt k = 1; !run->rank && enough && k < run->ranks; k++)
    PetscCallMPI(MPI_Send(NULL, 0, MPI_INT, k, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchRounds(const BenchMatrix *M, BenchRun *run, PetscInt count, BenchType types[], Vec x, Vec y)
{
  const PetscInt      most = LEAST_ROUND + (PetscInt)(2 * run->seconds / BATCH);
  PetscInt            readers, live = 0;
  BenchReader *const *reader;
  size_t              bytes = 1 << 16;
  void               *memory;
  double              spent = 0, *work;
  MPI_Request         ended = MPI_REQUEST_NULL;

  PetscFunctionBegin;
  PetscCall(BenchReadersGet(&readers, &reader));
  for (PetscInt k = 0; k < count; k++) {
    if (!types[k].A) continue;
    live++;
    if (run->operation != BENCH_KERNELS) bytes = PetscMax(bytes, (size_t)BytesMoved(M, &types[k]));
    PetscCall(PetscMalloc1(most, &types[k].times));
  }
  /* not malloc(): large pages, where the system has them, are read faster */
  memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PetscCheck(memory != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for %zu bytes to read", bytes);
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 1, bytes);
  for (PetscInt round = 0;; round++) {
    const PetscBool enough = (PetscBool)(round >= most || (round >= LEAST_ROUND && spent >= run->seconds * (double)live));
    PetscBool       more;

    run->rounds = PetscMin(round, most);
    PetscCall(BenchGoesOn(run, round, enough, &ended, &more));
    if (!more) break;
    PetscCall(BenchProgress("%s: round %" PetscInt_FMT ", %d %% of the time", M->name, round + 1,
                            (int)PetscMin(100, 100 * spent / (run->seconds * (double)live))));
    for (PetscInt k = 0; k < count; k++) {
      BenchType *t       = &types[round % 2 ? count - 1 - k : k];
      double     seconds = 0;

      if (!t->A) continue;
      PetscCall(BenchBatch(run, t, x, y, &seconds));
      t->times[round % most] = seconds / (double)t->repeats;
      spent += seconds;
      if (run->operation == BENCH_KERNELS) continue; /* its types are not of this memory */
      BenchReadBatch(reader[round % readers], memory, PetscMax((size_t)BytesMoved(M, t), 4096), t->threads, &t->read);
    }
  }
  PetscCheck(!munmap(memory, bytes), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap");
  PetscCall(PetscMalloc1(run->rounds + 2 * count, &work));
  BenchPolish(run->rounds, count, types, work);
  PetscCall(PetscFree(work));
  for (PetscInt k = 0; k < count; k++) {
    if (types[k].A) qsort(types[k].times, (size_t)run->rounds, sizeof(double), CompareDouble);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures all types on one matrix; good <- false if one that was asked for fails, or a product is wrong */
PetscErrorCode BenchMeasure(const BenchMatrix *M, BenchRun *run, PetscInt count, BenchType types[], PetscBool *good)
{
  BenchExact *exact;
  BenchFirst  first = {.M = M, .run = run};

  PetscFunctionBegin;
  run->rounds = 0;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, M->n, &first.x));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, M->m, &first.y));
  PetscCall(BenchFillMixed(first.x));
  PetscCall(PetscMalloc1(M->m, &exact));
  PetscCall(BenchExactCompute(M, first.x, exact));
  first.exact = exact;
  PetscCall(BenchFirstAll(&first, count, types, good));
  if (run->seconds > 0) {
    PetscCall(BenchTurn(run, LOCK_EX));
    PetscCall(BenchRounds(M, run, count, types, first.x, first.y));
    PetscCall(BenchTurn(run, LOCK_SH));
  }
  for (PetscInt k = 0; k < count; k++) {
    if (!types[k].A) continue;
    PetscCall(BenchFillNaN(first.y));
    PetscCall(MatMult(types[k].A, first.x, first.y));
    PetscCall(BenchErrorAdd(M, exact, first.y, &types[k]));
    if (!types[k].pass) *good = PETSC_FALSE;
  }
  PetscCall(PetscFree(exact));
  PetscCall(VecDestroy(&first.x));
  PetscCall(VecDestroy(&first.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
