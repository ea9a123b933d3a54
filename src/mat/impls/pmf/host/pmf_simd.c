/*
  pmf_simd.c - the products of PMF, compiled once for each instruction set of isas.h

  Slices (pmf_slices.h) of a run have the same steps, so the processor knows where each one ends; the runs that are most
  frequent have loops of their own, for each of a few numbers of gathered steps, and for kinds that come without others.
*/
#include "pmf_runs.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(PmfKernels) = {.apply = NULL};
#else

PMF_EACH(PMF_RUNS, PLAIN)
static PmfRunTable PmfPlainRuns = {PMF_EACH(PMF_ENTRY, PLAIN)};

/* The loop over a run */
static PmfRunFn *PmfRunOf(const PmfStorage *b, const PmfRun *run)
{
  const int wide = (run->flags & PMF_WIDE) != 0;

  if (b->value.coding == SPMV_CODING_PLAIN) return PmfPlainRuns[PmfRunIndex(run->known)][wide][b->prefetch];
  return SPMV_ISA_NAME(PmfCodedRun)(b->value.coding, run->known, wide, b->prefetch);
}

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

      if (b->prefetch) SpmvPrefetch((const char *)run + PMF_DISTANCE_RUNS, 1);
      PmfRunOf(b, run)(b, run, p->x + run->base, fragment ? b->sum : p->y, add);
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

/* Scattering takes so long that one loop serves all codings */
SPMV_INLINE void PmfTransposeOf(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, size_t size)
{
  if (b->value.coding == SPMV_CODING_PLAIN) PmfTransposeRun(b, run, x, y, size, SPMV_CODING_PLAIN);
  else PmfTransposeRun(b, run, x, y, size, b->value.coding);
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

      if (b->prefetch) SpmvPrefetch((const char *)run + PMF_DISTANCE_RUNS, 1);
      if (run->flags & PMF_WIDE) PmfTransposeOf(b, run, p->x, y + run->base, sizeof(int32_t));
      else PmfTransposeOf(b, run, p->x, y + run->base, sizeof(uint16_t));
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
