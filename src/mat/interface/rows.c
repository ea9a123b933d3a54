/*
  rows.c - the rows of a sequential AIJ matrix, as formats read them
*/
#include "spmvmat.h"
#include "../../sys/hash.h"

/*
  MatCreateSeqAIJWithArrays() lets a user bring rows that are not sorted; formats are promised sorted ones. Sorted are those where
  columns fail to increase nowhere but from one row to the next: both are counted, by loops without branches
*/
PetscBool SpmvRowsSorted(const SpmvRows *rows)
{
  const PetscInt *i = rows->csr.i, *j = rows->csr.j, m = rows->csr.m, nz = i[m];
  PetscInt        down = 0, between = 0, first = 0;

  for (PetscInt k = 1; k < nz; k++) down += j[k - 1] >= j[k];
  while (first < m && !i[first]) first++;
  for (PetscInt r = first; r < m && i[r] < nz; r++) between += (i[r] > i[r - 1]) & (j[i[r] - 1] >= j[i[r]]);
  return (PetscBool)(down == between);
}

/* Rows that have entries */
PetscInt SpmvRowsNonzero(const SpmvCSR *csr)
{
  const PetscInt *i = csr->i, m = csr->m;
  PetscInt        n = 0;

  for (PetscInt r = 0; r < m; r++) n += i[r + 1] != i[r];
  return n;
}

/* Makes sorted copies for SpmvRowsFor(), when they are first asked for */
PetscErrorCode SpmvRowsSort(SpmvRows *rows)
{
  const PetscInt *i = rows->csr.i, nz = i[rows->csr.m];

  PetscFunctionBegin;
  if (!rows->j) {
    PetscCall(PetscMalloc2(nz, &rows->j, nz, &rows->a));
    PetscCall(PetscArraycpy(rows->j, rows->aij_j, nz));
    PetscCall(PetscArraycpy(rows->a, rows->aij_a, nz));
    for (PetscInt r = 0; r < rows->csr.m; r++)
      PetscCall(PetscSortIntWithScalarArray(i[r + 1] - i[r], rows->j + i[r], rows->a + i[r]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows in the order that a side takes, NULL for the tuner: who borrows takes them as AIJ has them, since sorted copies do not last */
void SpmvRowsFor(const SpmvSide *side, SpmvRows *rows)
{
  const PetscBool sorted = (PetscBool)(rows->j && !(side && side->borrows));

  rows->csr.j = sorted ? rows->j : rows->aij_j;
  rows->csr.a = sorted ? rows->a : rows->aij_a;
}

PetscErrorCode SpmvRowsGet(Mat A, SpmvRows *rows)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->aij_i, &rows->aij_j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "AIJ gives no row pointers");
  PetscCall(MatSeqAIJGetArrayRead(A, &rows->aij_a));
  rows->csr.m = A->rmap->n;
  rows->csr.n = A->cmap->n;
  PetscCall(MatGetBlockSizes(A, &rows->csr.rbs, &rows->csr.cbs));
  rows->csr.i = rows->aij_i;
  rows->csr.j = rows->aij_j;
  rows->csr.a = rows->aij_a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvRowsRestore(Mat A, SpmvRows *rows)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PetscFree2(rows->j, rows->a));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &rows->aij_a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->aij_i, &rows->aij_j, &done));
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

/* A second opinion on whether a pattern is the one of before. A hash of all of it would read half as many bytes as new values do */
SpmvKey SpmvRowsKey(const SpmvRows *rows)
{
  const SpmvCSR *csr = &rows->csr;

  return (SpmvKey){
    csr->m, csr->n, csr->i[csr->m],
    SpmvHashIndices(SpmvHashIndices((uint64_t)csr->n, csr->i, (size_t)csr->m + 1), csr->j, (size_t)csr->i[csr->m])};
}
