/*
  pmf_simd.c - the products of PMF, compiled once for each instruction set of isas.h

  Slices (pmf_slices.h) of a run have the same steps, so the processor knows where each one ends; the runs that are most
  frequent, of a few gathered steps, have a loop of their own for each number of them.
*/
#include "pmf_slices.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(PmfKernels) = {.apply = NULL};
#else

/* y <- A x, or y += A x, for the rows of a run; known: 0, or PmfRun.known; alone, and listed of a known run: as of its flags */
SPMV_INLINE void PmfApply(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int add, size_t size,
                          PmfPrefetch prefetch, size_t known, int alone, int listed)
{
  PmfCursor c = PmfCursorOf(b, run);

  for (size_t k = 0; k < (size_t)run->rows; k += alone ? 1 : PMF_LANES) {
    const Spmv8 sum =
      known ? PmfGathered(&c, known, size, prefetch != PMF_PREFETCH_NONE, x) : PmfSliceSum(run, &c, size, prefetch, x);

    if (alone) {
      const PetscScalar total = Spmv8Sum(sum);
      const size_t      r     = PmfRow(b, run, k);

      y[r] = add ? y[r] + total : total;
    } else if (!known || add) PmfPut(b, run, k, sum, y, add);
    else if (listed) SpmvScatter8(y + run->row, b->list + (run->list + k) * b->listsize, b->listsize, sum);
    else Spmv8Store(y + run->row + k, sum);
  }
}

/* y += A^T x for the rows of a run */
SPMV_INLINE void PmfTransposeRun(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, size_t size)
{
  const int alone = run->flags & PMF_ALONE, fragment = run->flags & PMF_FRAGMENT;
  PmfCursor c = PmfCursorOf(b, run);

  for (size_t k = 0; k < (size_t)run->rows; k += alone ? 1 : PMF_LANES) {
    const size_t row = fragment ? (size_t)b->split[run->row % b->nsplit] : PmfRow(b, run, k);

    PmfTransposeSlice(run, &c, size, alone ? Spmv8Splat(x[row]) : PmfTake(b, run, k, x), y);
  }
}

/* The loops over a run, by PmfRun.known, by the bytes of its columns, and by what is prefetched */
typedef void PmfRunFn(const PmfStorage *, const PmfRun *, const PetscScalar *, PetscScalar *, int);
  #define RUN(N, SIZE, FETCH) \
    static void PmfRun_##N##_##SIZE##_##FETCH(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, \
                                              int add) \
    { \
      if (!N && run->flags & PMF_ALONE) PmfApply(b, run, x, y, add, SIZE, FETCH, 0, 1, 0); \
      else if (!N || add) PmfApply(b, run, x, y, add, SIZE, FETCH, N, 0, 0); \
      else if (run->flags & PMF_LISTED) PmfApply(b, run, x, y, 0, SIZE, FETCH, N, 0, 1); \
      else PmfApply(b, run, x, y, 0, SIZE, FETCH, N, 0, 0); \
    }
  #define RUNS(N) RUN(N, 2, 0) RUN(N, 2, 1) RUN(N, 2, 2) RUN(N, 4, 0) RUN(N, 4, 1) RUN(N, 4, 2)
  #define ROW(N, SIZE) \
    { \
      PmfRun_##N##_##SIZE##_0, PmfRun_##N##_##SIZE##_1, PmfRun_##N##_##SIZE##_2 \
    }
  #define ENTRY(N)   {ROW(N, 2), ROW(N, 4)},
  #define EACH(WHAT) WHAT(0) WHAT(1) WHAT(2) WHAT(3) WHAT(4) WHAT(5) WHAT(6) WHAT(7) WHAT(8)
EACH(RUNS)
static PmfRunFn *const PmfRuns[PMF_KNOWN + 1][2][PMF_PREFETCH_COUNT] = {EACH(ENTRY)};

/* PmfProduct: what the tasks of a product share */
typedef struct {
  const PmfStorage  *b;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          add;  /* y is added to; transposed: as beta */
  PetscScalar       *work; /* of a transposed product: vectors of the tasks */
} PmfProduct;

static void PmfClearTask(void *context, PetscInt t)
{
  const PmfProduct *p     = (const PmfProduct *)context;
  const size_t      first = SpmvShare((size_t)p->b->m, t, p->b->threads), end = SpmvShare((size_t)p->b->m, t + 1, p->b->threads);

  memset(p->y + first, 0, sizeof(PetscScalar) * (end - first));
}

static void PmfMultTask(void *context, PetscInt t)
{
  const PmfProduct *p = (const PmfProduct *)context;
  const PmfStorage *b = p->b;

  for (PetscInt part = t; part < b->nparts; part += b->threads) {
    for (int32_t k = b->first[part]; k < b->first[part + 1]; k++) {
      const PmfRun *run      = &b->run[k];
      const int     fragment = run->flags & PMF_FRAGMENT, add = p->add && !fragment;
      PmfRunFn     *apply = PmfRuns[run->known][(run->flags & PMF_WIDE) != 0][b->prefetch];

      apply(b, run, p->x + run->base, fragment ? b->sum : p->y, add);
    }
  }
}

static void PmfMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const PmfStorage *b = (const PmfStorage *)storage;
  PmfProduct p = {b, x, y, (PetscBool)(beta || b->partition == PMF_BY_DIAGONAL), NULL}; /* rows are added to their blocks */

  if (!beta && b->empty) SpmvRun(b->threads, PmfClearTask, &p);
  SpmvRun(b->threads, PmfMultTask, &p);
  for (PetscInt s = 0; s < b->nsplit; s++) {
    PetscScalar sum = beta || b->empty ? y[b->split[s]] : 0; /* if cleared, the blocks of its diagonal may be in it */

    for (PetscInt part = 0; part < b->nparts; part++) sum += b->sum[part * b->nsplit + s];
    y[b->split[s]] = sum;
  }
}

static void PmfMultTransposeTask(void *context, PetscInt t)
{
  const PmfProduct *p = (const PmfProduct *)context;
  const PmfStorage *b = p->b;
  PetscScalar      *y = SpmvTaskVector(b->n, t, p->work, p->y);

  if (t || !p->add) memset(y, 0, sizeof(PetscScalar) * (size_t)b->n);
  for (PetscInt part = t; part < b->nparts; part += b->threads) {
    for (int32_t k = b->first[part]; k < b->first[part + 1]; k++) {
      const PmfRun *run = &b->run[k];

      if (run->flags & PMF_WIDE) PmfTransposeRun(b, run, p->x, y + run->base, sizeof(int32_t));
      else PmfTransposeRun(b, run, p->x, y + run->base, sizeof(uint16_t));
    }
  }
}

static size_t PmfTransposeWork(const void *storage)
{
  const PmfStorage *b = (const PmfStorage *)storage;

  return SpmvTaskVectors(b->n, b->threads);
}

static void PmfMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const PmfStorage *b = (const PmfStorage *)storage;
  PmfProduct        p = {b, x, y, beta, work};

  SpmvRun(b->threads, PmfMultTransposeTask, &p);
  SpmvAddVectors(b->threads, (size_t)b->n, NULL, work, y);
}

const SpmvKernels SPMV_ISA_NAME(PmfKernels) = {PmfMult, PmfMultTranspose, PmfTransposeWork};
#endif
