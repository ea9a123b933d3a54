/*
  coo_simd.c - the products of COO, compiled once for each instruction set of isas.h
*/
#include "coo_host.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(CooKernels) = {.apply = NULL};
#else

static void CooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const CooStorage *s = (const CooStorage *)storage;

  if (!beta) memset(y, 0, sizeof(PetscScalar) * (size_t)s->m);
  for (size_t k = 0; k < s->nz; k++) y[s->row[k]] += s->value[k] * x[s->column[k]];
}

static void CooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const CooStorage *s = (const CooStorage *)storage;

  (void)work;
  if (!beta) memset(y, 0, sizeof(PetscScalar) * (size_t)s->n);
  for (size_t k = 0; k < s->nz; k++) y[s->column[k]] += s->value[k] * x[s->row[k]];
}

static size_t CooTransposeWork(const void *storage)
{
  (void)storage;
  return 0;
}

const SpmvKernels SPMV_ISA_NAME(CooKernels) = {
  .apply = CooMult, .apply_transpose = CooMultTranspose, .transpose_work = CooTransposeWork};
#endif
