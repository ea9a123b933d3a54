/*
  rows.c - the rows of a sequential AIJ matrix, as formats read them
*/
#include "spmvmat.h"
#include "../../sys/hash.h"
#include <float.h>
#include <math.h>

/* A's rows as AIJ has them; there is nothing to restore */
PetscErrorCode MatSpmvGetRows(Mat A, SpmvCSR *csr)
{
  PetscScalar *a;

  PetscFunctionBegin;
  *csr = (SpmvCSR){.m = A->rmap->n, .n = A->cmap->n};
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr->i, &csr->j, &a, NULL));
  PetscCall(MatGetBlockSizes(A, &csr->rbs, &csr->cbs));
  csr->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the user declared of A. PETSc forgets it at each assembly, unless MAT_SYMMETRY_ETERNAL is set */
PetscErrorCode MatSpmvGetDeclared(Mat A, SpmvDeclared *declared)
{
  PetscBool known, symmetric = PETSC_FALSE, hermitian = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  symmetric = (PetscBool)(known && symmetric);
  PetscCall(MatIsHermitianKnown(A, &known, &hermitian));
  hermitian = (PetscBool)(known && hermitian);
  *declared = SPMV_DECLARED_NOTHING;
  if (hermitian) *declared = PetscDefined(USE_COMPLEX) ? SPMV_DECLARED_HERMITIAN : SPMV_DECLARED_SYMMETRIC;
  if (symmetric) *declared = SPMV_DECLARED_SYMMETRIC;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatCreateSeqAIJWithArrays() lets a user bring rows that are not sorted; formats are promised sorted ones. Sorted are those where
  columns fail to increase nowhere but from one row to the next: both are counted, by loops without branches
*/
PetscBool SpmvRowsSorted(const SpmvCSR *csr)
{
  const PetscInt *i = csr->i, *j = csr->j, m = csr->m, nz = i[m];
  PetscInt        down = 0, between = 0, first = 0;

  for (PetscInt k = 1; k < nz; k++) down += j[k - 1] >= j[k];
  while (first < m && !i[first]) first++;
  for (PetscInt r = first; r < m && i[r] < nz; r++) between += (i[r] > i[r - 1]) & (j[i[r] - 1] >= j[i[r]]);
  return (PetscBool)(down == between);
}

/*
  MatSpmvGetNodes - PETSc's inodes of A: rows that follow each other and have the same columns

  Output Parameters:
+ n     - how many there are, 0 if PETSc does not use them
- nodes - [n] the rows of each, the caller's to PetscFree(); NULL if there are none
*/
PetscErrorCode MatSpmvGetNodes(Mat A, PetscInt *n, PetscInt **nodes)
{
  PetscInt *sizes = NULL, count = 0;

  PetscFunctionBegin;
  *n     = 0;
  *nodes = NULL;
  PetscCall(MatInodeGetInodeSizes(A, &count, &sizes, NULL));
  if (!count || !sizes) PetscFunctionReturn(PETSC_SUCCESS);
  *n = count;
  PetscCall(PetscMalloc1(count, nodes));
  /* Newer releases give the first row of each, which is 0, where there were sizes */
  for (PetscInt k = 0; k < count; k++) (*nodes)[k] = sizes[0] ? sizes[k] : sizes[k + 1] - sizes[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that have entries */
PetscInt SpmvRowsNonzero(const SpmvCSR *csr)
{
  PetscInt n = 0;

  for (PetscInt r = 0; r < csr->m; r++) n += csr->i[r + 1] != csr->i[r];
  return n;
}

/* Replaces columns and values by sorted copies, which are the caller's to PetscFree() */
PetscErrorCode SpmvRowsSort(SpmvCSR *csr, PetscInt **j, PetscScalar **a)
{
  const PetscInt *i = csr->i, nz = i[csr->m];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nz, j));
  PetscCall(PetscMalloc1(nz, a));
  PetscCall(PetscArraycpy(*j, csr->j, nz));
  PetscCall(PetscArraycpy(*a, csr->a, nz));
  for (PetscInt r = 0; r < csr->m; r++) PetscCall(PetscSortIntWithScalarArray(i[r + 1] - i[r], *j + i[r], *a + i[r]));
  csr->j = *j;
  csr->a = *a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values become the floats next to them, or 0 where these are too small to keep their digits; unless one is finite and too large
   to be a float. good: they did */
void SpmvRound(size_t n, PetscScalar a[], PetscBool *good)
{
  *good = SpmvValuesFitFloats(n, a);
#if SPMV_VALUES_HAS_FLOAT
  for (size_t k = 0; k < n && *good; k++) {
    const float f = (float)a[k];

    a[k] = fabsf(f) < FLT_MIN ? 0 : (double)f;
  }
#endif
}

/* Replaces values by rounded ones, a copy that is the caller's to PetscFree(), unless a is one already */
PetscErrorCode SpmvRowsRound(SpmvCSR *csr, PetscScalar **a, PetscBool *good)
{
  const PetscInt nz = csr->i[csr->m];

  PetscFunctionBegin;
  if (!*a) {
    PetscCall(PetscMalloc1(nz, a));
    PetscCall(PetscArraycpy(*a, csr->a, nz));
  }
  SpmvRound((size_t)nz, *a, good);
  csr->a       = *a;
  csr->rounded = *good;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_PATTERN_SAMPLES 128

/* Hash of an array of indices: of all of it up to SPMV_PATTERN_SAMPLES entries, of evenly spread ones beyond */
static uint64_t SpmvHashIndices(uint64_t h, const PetscInt *index, size_t n)
{
  const size_t stride = n / SPMV_PATTERN_SAMPLES + 1;

  for (size_t k = 0; k < n; k += stride) h = SpmvHashWord(h, (uint64_t)index[k]);
  return h;
}

/* A second opinion on whether a pattern is as before; a hash of all of it would read half as many bytes as new values do */
SpmvKey SpmvRowsKey(const SpmvCSR *csr)
{
  const PetscInt nz = csr->i[csr->m];
  const uint64_t h  = SpmvHashIndices((uint64_t)csr->n, csr->i, (size_t)csr->m + 1);

  return (SpmvKey){csr->m, csr->n, nz, SpmvHashIndices(h, csr->j, (size_t)nz)};
}
