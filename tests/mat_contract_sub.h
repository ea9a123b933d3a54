/*
  mat_contract_sub.h - parts of a matrix, its transpose, its rows in another order or on other processes
*/
#pragma once
#include "mat_contract_product.h"

/* Every third row or column of this process, or all of them, or those in reverse order */
static PetscErrorCode SelectionCreate(Mat A, PetscBool columns, char which, IS *is)
{
  PetscInt first, last;

  PetscFunctionBegin;
  if (columns) PetscCall(MatGetOwnershipRangeColumn(A, &first, &last));
  else PetscCall(MatGetOwnershipRange(A, &first, &last));
  if (which == 't') PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), (last - first + 2) / 3, first, 3, is));
  else if (which == 'r') PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), last - first, last - 1, -1, is));
  else PetscCall(ISCreateStride(PetscObjectComm((PetscObject)A), last - first, first, 1, is));
  PetscFunctionReturn(0);
}

/* arg: which rows and which columns; - for NULL */
static PetscErrorCode SubMatrix(Case *c, Mat A)
{
  IS  rows, columns = NULL;
  Mat S, T;

  PetscFunctionBegin;
  PetscCall(SelectionCreate(A, PETSC_FALSE, c->arg[0], &rows));
  if (c->arg[1] != '-') PetscCall(SelectionCreate(A, PETSC_TRUE, c->arg[1], &columns));
  PetscCall(MatCreateSubMatrix(A, rows, columns, MAT_INITIAL_MATRIX, &S));
  PetscCall(RecordMat(c, "part", S));
  PetscCall(MatCreateSubMatrix(A, rows, columns, MAT_INITIAL_MATRIX, &T));
  for (PetscInt k = 0; k < 2; k++) {
    PetscCall(Refill(A, KIND(c), k + 3));
    PetscCall(MatCreateSubMatrix(A, rows, columns, MAT_REUSE_MATRIX, &S));
    PetscCall(RecordMat(c, "part again", S));
  }
  PetscCall(MatScale(S, 2));
  PetscCall(RecordMat(c, "part scaled", S));
  PetscCall(RecordMat(c, "other part", T));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&T));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

/* Two sequential parts from anywhere on each process; the second has all rows. With an argument the second only */
static PetscErrorCode SubMatrices(Case *c, Mat A)
{
  const int first = c->arg ? 1 : 0, n = 2 - first;
  IS        rows[2], columns[2];
  Mat      *S;
  PetscInt  M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (M + 1) / 2, 0, 2, &rows[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, M, 0, 1, &rows[1]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, (N + 2) / 3, 0, 3, &columns[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, N, 0, 1, &columns[1]));
  PetscCall(MatCreateSubMatrices(A, n, rows + first, columns + first, MAT_INITIAL_MATRIX, &S));
  for (int k = 0; k < n; k++) PetscCall(RecordMat(c, "part", S[k]));
  for (int round = 0; round < 2; round++) {
    PetscCall(Refill(A, KIND(c), round + 3));
    PetscCall(MatCreateSubMatrices(A, n, rows + first, columns + first, MAT_REUSE_MATRIX, &S));
    for (int k = 0; k < n; k++) PetscCall(RecordMat(c, "part again", S[k]));
  }
  if (c->arg) PetscCall(MatDestroySubMatrices(n, &S));
  else PetscCall(MatDestroyMatrices(n, &S));
  for (int k = 0; k < 2; k++) {
    PetscCall(ISDestroy(&rows[k]));
    PetscCall(ISDestroy(&columns[k]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SubMatricesMPI(Case *c, Mat A)
{
  IS   rows, columns;
  Mat *S;

  PetscFunctionBegin;
  if (c->size == 1) PetscFunctionReturn(0);
  PetscCall(SelectionCreate(A, PETSC_FALSE, 't', &rows));
  PetscCall(SelectionCreate(A, PETSC_TRUE, 't', &columns));
  PetscCall(MatCreateSubMatricesMPI(A, 1, &rows, &columns, MAT_INITIAL_MATRIX, &S));
  PetscCall(RecordMat(c, "part", S[0]));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(MatCreateSubMatricesMPI(A, 1, &rows, &columns, MAT_REUSE_MATRIX, &S));
  PetscCall(RecordMat(c, "part again", S[0]));
  PetscCall(MatDestroySubMatrices(1, &S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

/* Blocks that are views of another kind: local references, virtual parts */
static PetscErrorCode SubLocal(Case *c, Mat A)
{
  IS        rows, columns;
  Mat       S;
  PetscInt  M, N, first, last, i = 0;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MappingsSet(c, A));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, N, 0, 1, &columns));
  Try(c, "MatGetLocalSubMatrix", ok, MatGetLocalSubMatrix(A, rows, columns, &S));
  if (ok) {
    for (i = 0; i < last - first; i++) {
      PetscInt       j[MAXROW];
      const PetscInt count = RowPattern(KIND(c), 0, first + i, j);

      if (count) PetscCall(MatSetValuesLocal(S, 1, &i, 1, j, (PetscScalar[]){7}, ADD_VALUES));
    }
    PetscCall(MatRestoreLocalSubMatrix(A, rows, columns, &S));
    PetscCall(Assemble(A));
    PetscCall(RecordMat(c, "through the local part", A));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(SelectionCreate(A, PETSC_FALSE, 't', &rows));
  PetscCall(SelectionCreate(A, PETSC_TRUE, 't', &columns));
  PetscCall(MatCreateSubMatrixVirtual(A, rows, columns, &S));
  PetscCall(RecordMat(c, "virtual part", S));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(RecordMat(c, "virtual part again", S));
  PetscCall(MatSubMatrixVirtualUpdate(S, A, rows, columns));
  PetscCall(RecordMat(c, "virtual part updated", S));
  PetscCall(MatDestroy(&S));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

/* Writes to the diagonal block, which is a reference, not a copy */
static PetscErrorCode SubDiagonalBlock(Case *c, Mat A)
{
  Mat block;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(A, &block));
  PetscCall(RecordMat(c, "block", block));
  PetscCall(MatScale(block, 2));
  PetscCall(RecordMat(c, "scaled through the block", A));
  PetscCall(ArrayChange(block));
  PetscFunctionReturn(0);
}

static PetscErrorCode SubPermute(Case *c, Mat A)
{
  IS        rows, columns;
  Mat       P = NULL;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(SelectionCreate(A, PETSC_FALSE, 'r', &rows));
  PetscCall(SelectionCreate(A, PETSC_TRUE, 'r', &columns));
  PetscCall(ISSetPermutation(rows));
  PetscCall(ISSetPermutation(columns));
  Try(c, "MatPermute", ok, MatPermute(A, rows, columns, &P));
  if (ok) {
    PetscCall(RecordMat(c, "permuted", P));
    PetscCall(MatScale(P, 2));
    PetscCall(RecordMat(c, "permuted and scaled", P));
  }
  PetscCall(MatDestroy(&P));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

static PetscErrorCode SubOverlap(Case *c, Mat A)
{
  IS       is[2];
  PetscInt first, last, M;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (int scalable = 0; scalable < 2; scalable++) {
    if (c->size > 1) PetscCall(MatMPIAIJSetUseScalableIncreaseOverlap(A, (PetscBool)scalable));
    for (PetscInt overlap = 1; overlap < 3; overlap++) {
      PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &is[0]));
      PetscCall(ISCreateStride(PETSC_COMM_SELF, 2, M / 2, 1, &is[1]));
      PetscCall(MatIncreaseOverlap(A, 2, is, overlap));
      for (int k = 0; k < 2; k++) {
        PetscCall(ISSort(is[k]));
        PetscCall(RecordIS(c, "overlap", is[k]));
        PetscCall(ISDestroy(&is[k]));
      }
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SubTranspose(Case *c, Mat A)
{
  Mat T, S, H;

  PetscFunctionBegin;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(RecordMat(c, "transpose", T));
  PetscCall(MatHermitianTranspose(A, MAT_INITIAL_MATRIX, &H));
  PetscCall(RecordMat(c, "Hermitian transpose", H));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &T));
  PetscCall(RecordMat(c, "transpose again", T));
  PetscCall(MatHermitianTranspose(A, MAT_REUSE_MATRIX, &H));
  PetscCall(RecordMat(c, "Hermitian transpose again", H));
  PetscCall(MatDestroy(&H));
  PetscCall(MatDuplicate(T, MAT_DO_NOT_COPY_VALUES, &S));
  PetscCall(MatDestroy(&T));
  PetscCall(MatTransposeSetPrecursor(A, S));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &S));
  PetscCall(RecordMat(c, "transpose with a precursor", S));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(0);
}

static PetscErrorCode SubTransposeInplace(Case *c, Mat A)
{
  Mat       T;
  PetscBool mine;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &T));
  PetscCall(Warm(T));
  PetscCall(MatTranspose(T, MAT_INPLACE_MATRIX, &T));
  PetscCall(PetscObjectTypeCompare((PetscObject)T, c->full, &mine));
  PetscCall(RecordInt(c, "my type", mine));
  PetscCall(RecordMat(c, "in place", T));
  PetscCall(MatHermitianTranspose(T, MAT_INPLACE_MATRIX, &T));
  PetscCall(RecordAndDestroy(c, "and back", 0, &T));
  PetscFunctionReturn(0);
}

/* The inside of another matrix moves in: of the same type, or of AIJ */
static PetscErrorCode SubHeaderReplace(Case *c, Mat A)
{
  Mat       B, C;
  MatType   type;
  PetscBool mine;

  PetscFunctionBegin;
  PetscCall(MakeVariant(c, c->root, KIND(c), 2, 3, &B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(Warm(C));
  PetscCall(MatHeaderReplace(C, &B));
  PetscCall(MatGetType(C, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)C, c->full, &mine));
  PetscCall(RecordInt(c, "my type", mine));
  PetscCall(RecordMat(c, "replaced", C));
  PetscCall(Make(c, MATAIJ, KIND(c), 4, &B));
  PetscCall(MatHeaderReplace(C, &B));
  PetscCall(RecordMat(c, "replaced by aij", C));
  PetscCall(Make(c, c->root, KIND(c), 5, &B));
  PetscCall(MatHeaderReplace(C, &B));
  PetscCall(RecordAndDestroy(c, "replaced again", 0, &C));
  PetscFunctionReturn(0);
}

static PetscErrorCode SubRedundant(Case *c, Mat A)
{
  Mat R, P, S;

  PetscFunctionBegin;
  PetscCall(MatCreateRedundantMatrix(A, c->size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &R));
  PetscCall(RecordMat(c, "redundant", R));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(MatCreateRedundantMatrix(A, c->size, MPI_COMM_NULL, MAT_REUSE_MATRIX, &R));
  PetscCall(RecordMat(c, "redundant again", R));
  PetscCall(MatDestroy(&R));
  PetscCall(MatGetMultiProcBlock(A, PETSC_COMM_SELF, MAT_INITIAL_MATRIX, &P));
  PetscCall(RecordMat(c, "block", P));
  PetscCall(Refill(A, KIND(c), 4));
  if (c->size > 1) PetscCall(MatGetMultiProcBlock(A, PETSC_COMM_SELF, MAT_REUSE_MATRIX, &P));
  PetscCall(RecordMat(c, "block again", P));
  PetscCall(MatDestroy(&P));
  if (c->size > 1) {
    PetscCall(MatGetSeqNonzeroStructure(A, &S));
    PetscCall(MatZeroEntries(S)); /* it has no values */
    PetscCall(RecordMat(c, "structure", S));
    PetscCall(MatDestroySeqNonzeroStructure(&S));
  }
  PetscFunctionReturn(0);
}

/* The rows of each process as a sequential matrix, and together again */
static PetscErrorCode SubConcatenate(Case *c, Mat A)
{
  Mat      L, G = NULL;
  PetscInt n;

  PetscFunctionBegin;
  if (c->size > 1) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &L));
  else PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &L));
  PetscCall(RecordMat(c, "rows", L));
  if (c->size > 1) {
    PetscCall(Refill(A, KIND(c), 3));
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_REUSE_MATRIX, &L));
    PetscCall(RecordMat(c, "rows again", L));
  }
  PetscCall(MatConvert(L, c->seq, MAT_INPLACE_MATRIX, &L));
  PetscCall(Warm(L));
  PetscCall(MatGetLocalSize(A, NULL, &n));
  PetscCall(MatCreateMPIMatConcatenateSeqMat(c->comm, L, n, MAT_INITIAL_MATRIX, &G));
  PetscCall(RecordMat(c, "concatenated", G));
  PetscCall(MatScale(L, 3));
  PetscCall(MatCreateMPIMatConcatenateSeqMat(c->comm, L, n, MAT_REUSE_MATRIX, &G));
  PetscCall(RecordMat(c, "concatenated again", G));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(0);
}

/* What the products of MPIAIJ use: local rows, rows of others */
static PetscErrorCode SubLocalMats(Case *c, Mat A)
{
  Mat        L, B;
  IS         rows = NULL, columns = NULL, global;
  PetscCount nz;

  PetscFunctionBegin;
  if (c->size > 1) {
    PetscCall(MatMPIAIJGetLocalMatMerge(A, MAT_INITIAL_MATRIX, &global, &L));
    PetscCall(RecordMat(c, "merged", L));
    PetscCall(RecordIS(c, "merged", global));
    PetscCall(ISDestroy(&global));
    PetscCall(MatDestroy(&L));
    if (BIT(c->kind) & SQUARES) {
      PetscCall(MatGetBrowsOfAcols(A, A, MAT_INITIAL_MATRIX, &rows, &columns, &B));
      PetscCall(RecordMat(c, "rows of others", B));
      PetscCall(Refill(A, KIND(c), 4));
      PetscCall(MatGetBrowsOfAcols(A, A, MAT_REUSE_MATRIX, &rows, &columns, &B));
      PetscCall(RecordMat(c, "rows of others again", B));
      PetscCall(MatDestroy(&B));
      PetscCall(ISDestroy(&rows));
      PetscCall(ISDestroy(&columns));
    }
    PetscCall(MatMPIAIJGetNumberNonzeros(A, &nz));
    PetscCall(RecordInt(c, "nonzeros", (PetscInt)nz));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SubLocalMat(Case *c, Mat A)
{
  Mat L;

  PetscFunctionBegin;
  if (c->size > 1) PetscFunctionReturn(0); /* PETSc compares with exactly MATMPIAIJ, in a function that no type can replace */
  PetscCall(MatAIJGetLocalMat(A, &L));
  PetscCall(RecordMat(c, "local", L));
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(0);
}

/* The rows of all processes added: each has a sequential matrix of the whole size */
static PetscErrorCode SubSum(Case *c, Mat A)
{
  Mat      L, S;
  PetscInt m, n, M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, M, N, 2, NULL, &L));
  PetscCall(MatSetBlockSizes(L, 1, 1));
  for (PetscInt i = 0; i < M; i++) PetscCall(MatSetValue(L, i, (i * 3 + c->rank) % N, 1 + i, INSERT_VALUES));
  PetscCall(Assemble(L));
  PetscCall(MatConvert(L, c->seq, MAT_INPLACE_MATRIX, &L));
  PetscCall(Warm(L));
  PetscCall(MatCreateMPIAIJSumSeqAIJ(c->comm, L, m, n, MAT_INITIAL_MATRIX, &S));
  PetscCall(RecordMat(c, "sum", S));
  PetscCall(MatScale(L, 2));
  PetscCall(MatCreateMPIAIJSumSeqAIJ(c->comm, L, m, n, MAT_REUSE_MATRIX, &S));
  PetscCall(RecordMat(c, "sum again", S));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&L));
  PetscFunctionReturn(0);
}

static const Operation sub_operations[] = {
  {"submatrix", SubMatrix, ALL, "tt"},
  {"submatrix_all", SubMatrix, ALL, "aa"},
  {"submatrix_all_columns", SubMatrix, FEW, "ta"},
  {"submatrix_null_columns", SubMatrix, FEW, "t-"},
  {"submatrix_all_rows", SubMatrix, FEW, "at"},
  {"submatrices", SubMatrices, ALL, NULL},
  {"submatrices_whole", SubMatrices, ALL, "whole"},
  {"submatrices_mpi", SubMatricesMPI, FEW & ~BIT(TALL), NULL},
  {"submatrix_local", SubLocal, ALL & ~BIT(BLOCK), NULL},
  {"diagonal_block", SubDiagonalBlock, ALL, NULL},
  {"permute", SubPermute, ALL, NULL},
  {"increase_overlap", SubOverlap, SQUARES, NULL},
  {"transpose", SubTranspose, ALL, NULL},
  {"transpose_inplace", SubTransposeInplace, ALL, NULL},
  {"header_replace", SubHeaderReplace, ALL, NULL},
  {"redundant", SubRedundant, SQUARES, NULL},
  {"concatenate", SubConcatenate, ALL, NULL},
  {"local_matrices", SubLocalMats, ALL, NULL},
  {"local_matrix_any_aij", SubLocalMat, FEW, NULL},
  {"sum", SubSum, BIT(SQUARE) | BIT(TALL) | BIT(EMPTY), NULL},
};
