/*
  mat_contract_create.h - ways to make a matrix: preallocation of each kind
*/
#pragma once
#include "mat_contract_matrices.h"

#define KIND(c) ((Kind)(c)->kind)

/* The rows of this process as CSR with global columns */
typedef struct {
  PetscInt     m, n, *i, *j; /* [m + 1], [i[m]] */
  PetscScalar *a;            /* [i[m]] */
} Rows;

static PetscErrorCode RowsCreate(Mat layout, Kind kind, PetscInt seed, Rows *r)
{
  PetscInt first, last, M, N, bs;

  PetscFunctionBegin;
  KindSize(kind, &M, &N, &bs);
  PetscCall(MatGetOwnershipRange(layout, &first, &last));
  PetscCall(MatGetLocalSize(layout, &r->m, &r->n));
  PetscCall(PetscMalloc3(r->m + 1, &r->i, r->m * N + MAXROW, &r->j, r->m * N + MAXROW, &r->a));
  r->i[0] = 0;
  for (PetscInt i = first; i < last; i++) {
    PetscInt *j = r->j + r->i[i - first];

    r->i[i - first + 1] = r->i[i - first] + RowPattern(kind, 0, i, j);
    for (PetscInt k = r->i[i - first]; k < r->i[i - first + 1]; k++) r->a[k] = EntryValue(kind, seed, i, r->j[k]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsValues(Mat layout, Kind kind, PetscInt seed, Rows *r)
{
  PetscInt first;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(layout, &first, NULL));
  for (PetscInt i = 0; i < r->m; i++)
    for (PetscInt k = r->i[i]; k < r->i[i + 1]; k++) r->a[k] = EntryValue(kind, seed, first + i, r->j[k]);
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsDestroy(Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(r->i, r->j, r->a));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePlain(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(RecordMat(c, "A", A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateNz(Case *c, Mat A)
{
  Mat      B;
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatSeqAIJSetPreallocation(B, N, NULL));
  PetscCall(MatMPIAIJSetPreallocation(B, N, NULL, N, NULL));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSetUp(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatSetUp(B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

/* Twice, so that the second meets a matrix in use */
static PetscErrorCode CreateCSR(Case *c, Mat A)
{
  Mat  B;
  Rows r;

  PetscFunctionBegin;
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatSeqAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(MatMPIAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(RecordMat(c, "CSR", B));
  PetscCall(RowsValues(A, KIND(c), 2, &r));
  PetscCall(MatSeqAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(MatMPIAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(RecordAndDestroy(c, "CSR again", 0, &B));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

/* Every entry twice, some with a negative index, and a few in rows of the next process */
static PetscErrorCode CoordinatesSet(Case *c, Mat B, int variant, PetscInt seed, PetscBool pattern)
{
  PetscInt     first, last, M, N, bs, *i, *j, n = 0, row[MAXROW];
  PetscScalar *v;
  PetscLayout  rows;

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(MatGetLayouts(B, &rows, NULL));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutGetRange(rows, &first, &last));
  PetscCall(PetscMalloc3(3 * (last - first) * N + 9, &i, 3 * (last - first) * N + 9, &j, 3 * (last - first) * N + 9, &v));
  for (PetscInt r = first; r < last; r++) {
    const PetscInt count = RowPattern(KIND(c), variant, r, row);

    for (PetscInt k = 0; k < count; k++) {
      for (int copy = 0; copy < 2; copy++) {
        i[n]   = copy && k == 1 ? -1 : r;
        j[n]   = copy && k == 2 ? -1 : row[k];
        v[n++] = EntryValue(KIND(c), seed + copy, r, row[k]);
      }
    }
  }
  for (PetscInt r = last % M; r < PetscMin(last % M + 3, M); r++) {
    const PetscInt count = RowPattern(KIND(c), variant, r, row);

    if (count) {
      i[n]   = r;
      j[n]   = row[count - 1];
      v[n++] = (PetscReal)0.5;
    }
  }
  if (pattern) PetscCall(MatSetPreallocationCOO(B, (PetscCount)n, i, j));
  PetscCall(MatSetValuesCOO(B, v, INSERT_VALUES));
  PetscCall(RecordMat(c, "COO insert", B));
  PetscCall(MatSetValuesCOO(B, v, ADD_VALUES));
  PetscCall(RecordMat(c, "COO add", B));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCOO(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(CoordinatesSet(c, B, 0, 1, PETSC_TRUE));
  PetscCall(CoordinatesSet(c, B, 0, 2, PETSC_FALSE));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Another pattern, smaller and larger, in the same matrix; then duplicates, which share the coordinates */
static PetscErrorCode CreateCOOAgain(Case *c, Mat A)
{
  Mat B, D;

  PetscFunctionBegin;
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  for (int variant = 0; variant < 3; variant++) PetscCall(CoordinatesSet(c, B, variant, 1, PETSC_TRUE));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &D));
  PetscCall(MatScale(B, 3));
  PetscCall(RecordMat(c, "B", B));
  PetscCall(RecordMat(c, "D", D));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&B));
  PetscCall(CoordinatesSet(c, A, 2, 3, PETSC_TRUE)); /* a matrix that was filled otherwise before */
  c->forget = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* All rows and columns of the matrix in the order of the global numbers; every process has the whole map */
static PetscErrorCode MappingsSet(Case *c, Mat B)
{
  PetscInt               M, N, bs;
  IS                     rows, columns;
  ISLocalToGlobalMapping rmap, cmap;

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(ISCreateStride(c->comm, M, 0, 1, &rows));
  PetscCall(ISCreateStride(c->comm, N, 0, 1, &columns));
  PetscCall(ISSetBlockSize(rows, bs));
  PetscCall(ISSetBlockSize(columns, bs));
  PetscCall(ISLocalToGlobalMappingCreateIS(rows, &rmap));
  PetscCall(ISLocalToGlobalMappingCreateIS(columns, &cmap));
  PetscCall(MatSetLocalToGlobalMapping(B, rmap, cmap));
  PetscCall(ISLocalToGlobalMappingDestroy(&rmap));
  PetscCall(ISLocalToGlobalMappingDestroy(&cmap));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCOOLocal(Case *c, Mat A)
{
  Mat  B;
  Rows r;

  PetscFunctionBegin;
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MappingsSet(c, B));
  for (int again = 0; again < 2; again++) {
    PetscInt *i, *j, n = r.i[r.m], first;

    PetscCall(MatGetOwnershipRange(A, &first, NULL));
    PetscCall(PetscMalloc2(n + 1, &i, n + 1, &j));
    for (PetscInt row = 0; row < r.m; row++)
      for (PetscInt k = r.i[row]; k < r.i[row + 1]; k++) {
        i[k] = first + row;
        j[k] = r.j[k];
      }
    PetscCall(MatSetPreallocationCOOLocal(B, (PetscCount)n, i, j));
    PetscCall(MatSetValuesCOO(B, r.a, INSERT_VALUES));
    PetscCall(RecordMat(c, "B", B));
    PetscCall(PetscFree2(i, j));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateXAIJ(Case *c, Mat A)
{
  Mat      B;
  PetscInt M, N, bs, m, n, *dnnz, *onnz;

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(PetscMalloc2(m + 1, &dnnz, m + 1, &onnz));
  for (PetscInt i = 0; i < m / bs; i++) {
    dnnz[i] = n / bs;
    onnz[i] = (N - n) / bs;
  }
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatXAIJSetPreallocation(B, bs, dnnz, onnz, dnnz, onnz));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscCall(PetscFree2(dnnz, onnz));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePreallocator(Case *c, Mat A)
{
  Mat P, B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeSized(c, MATPREALLOCATOR, KIND(c), &P));
  PetscCall(MatSetUp(P));
  PetscCall(Fill(P, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatPreallocatorPreallocate(P, PETSC_TRUE, B));
  PetscCall(RecordMat(c, "zeros", B));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(MatDestroy(&P));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

/* A matrix in use is preallocated anew for another pattern */
static PetscErrorCode CreateAgain(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Preallocate(A, KIND(c), 2));
  PetscCall(Fill(A, KIND(c), 2, 1, INSERT_VALUES));
  PetscCall(RecordMat(c, "other pattern", A));
  PetscCall(Preallocate(A, KIND(c), 0));
  PetscCall(Fill(A, KIND(c), 0, 1, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateReset(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatResetPreallocation(A));
  PetscCall(Fill(A, KIND(c), 0, 1, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static const Operation create_operations[] = {
  {"create", CreatePlain, ALL, NULL},
  {"preallocate_nz", CreateNz, ALL, NULL},
  {"preallocate_none", CreateSetUp, ALL, NULL},
  {"preallocate_csr", CreateCSR, ALL, NULL},
  {"preallocate_coo", CreateCOO, ALL, NULL},
  {"preallocate_coo_again", CreateCOOAgain, ALL, NULL},
  {"preallocate_coo_local", CreateCOOLocal, ALL, NULL},
  {"preallocate_xaij", CreateXAIJ, ALL, NULL},
  {"preallocate_preallocator", CreatePreallocator, ALL, NULL},
  {"preallocate_again", CreateAgain, ALL, NULL},
  {"preallocate_reset", CreateReset, BIT(SQUARE) | BIT(BLOCK) | (SPMV_RESET_CRASHES ? 0 : BIT(TALL)),
   NULL}, /* AIJ refuses or hangs where a block is empty */
};
