/*
  cmrs_simd.c - the products of CMRS, compiled once for each instruction set of isas.h
*/
#include "cmrs_steps.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(CmrsKernels) = {.apply = NULL};
#else

static void CmrsApply(void *context, PetscInt t)
{
  const CmrsProduct *p = (const CmrsProduct *)context;

  if (p->c->wordsize == sizeof(uint64_t)) CmrsApplyTask(p, t, PETSC_TRUE);
  else CmrsApplyTask(p, t, PETSC_FALSE);
}

static void CmrsMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  CmrsProduct p = {(const CmrsStorage *)storage, x, y, beta, NULL};

  SpmvRun(p.c->threads, CmrsApply, &p);
  for (PetscInt k = 0; k < p.c->nsegments; k++) y[p.c->segment[k].row] += p.c->partial[k];
}

/* The first task adds to y, each other one to a vector of its own */
static void CmrsApplyTranspose(void *context, PetscInt t)
{
  const CmrsProduct *p = (const CmrsProduct *)context;
  PetscScalar       *y = SpmvTaskVector(p->c->n, t, p->work, p->y);

  if (t || !p->beta) memset(y, 0, sizeof(PetscScalar) * (size_t)p->c->n);
  if (p->c->wordsize == sizeof(uint64_t)) CmrsTransposeTask(p, t, y, PETSC_TRUE);
  else CmrsTransposeTask(p, t, y, PETSC_FALSE);
}

static size_t CmrsTransposeWork(const void *storage)
{
  const CmrsStorage *c = (const CmrsStorage *)storage;

  return SpmvTaskVectors(c->n, c->threads);
}

static void CmrsMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  CmrsProduct p = {(const CmrsStorage *)storage, x, y, beta, work};

  SpmvRun(p.c->threads, CmrsApplyTranspose, &p);
  SpmvAddVectors(p.c->threads, (size_t)p.c->n, work, y);
}

const SpmvKernels SPMV_ISA_NAME(CmrsKernels) = {
  .apply           = CmrsMult,
  .apply_transpose = CmrsMultTranspose,
  .transpose_work  = CmrsTransposeWork,
};
#endif
