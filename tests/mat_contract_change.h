/*
  mat_contract_change.h - values changed behind the back of the Mat interface, zero rows, errors in the middle
*/
#pragma once
#include "mat_contract_values.h"

/* The values of the blocks written through their arrays */
static PetscErrorCode ValuesArray(Case *c, Mat A)
{
  Mat       Ad = A, Ao = NULL;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, c->mpi, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, NULL));
  PetscCall(ArrayChange(Ad));
  PetscCall(RecordMat(c, "diagonal block", A));
  if (Ao) PetscCall(ArrayChange(Ao));
  PetscCall(RecordMat(c, "other block", A));
  for (int round = 0; round < 2; round++) {
    Mat          block = round ? Ao : Ad;
    PetscScalar *a;
    MatInfo      info;

    if (!block) continue;
    PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArrayWrite(block, &a));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) a[k] = k % 7;
    PetscCall(MatSeqAIJRestoreArrayWrite(block, &a));
    PetscCall(RecordMat(c, "written", A));
  }
  PetscFunctionReturn(0);
}

/* Mat operations on the blocks, not on the whole */
static PetscErrorCode ValuesBlocks(Case *c, Mat A)
{
  Mat             Ad = A, Ao = NULL;
  PetscBool       parallel;
  const PetscInt *garray;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, c->mpi, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, &garray));
  PetscCall(RecordMat(c, "Ad", Ad));
  if (Ao) PetscCall(RecordMat(c, "Ao", Ao));
  PetscCall(MatScale(Ad, 2));
  if (Ao) PetscCall(MatScale(Ao, 3));
  PetscCall(RecordMat(c, "scaled", A));
  PetscCall(MatZeroEntries(Ad));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesRandom(Case *c, Mat A)
{
  PetscRandom random;
  Mat         B;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(c->comm, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, 17));
  PetscCall(PetscRandomSeed(random));
  PetscCall(MatSetRandom(A, random));
  PetscCall(RecordMat(c, "assembled", A));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(MatSetRandom(B, random));
  PetscCall(RecordMat(c, "preallocated", B));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(0);
}

/* arg: r rows, c rows and columns, l rows by local numbers, m rows and columns by local numbers; capital letter: the pattern is
   kept */
static PetscErrorCode ValuesZeroRows(Case *c, Mat A)
{
  PetscInt first, last, rows[3], n = 0;
  Vec      x, b;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  if (c->rank == c->size - 1)
    for (PetscInt k = 1; k <= PetscMin(2, last - first); k++) rows[n++] = last - k; /* from one process only */
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecFill(x, 3));
  PetscCall(VecFill(b, 4));
  if (c->arg[0] >= 'A' && c->arg[0] <= 'Z') PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MappingsSet(c, A));
  for (int round = 0; round < 3; round++) {
    const PetscScalar diagonal = round == 1 && c->kind != EMPTY ? 5 : 0; /* what is not in the pattern cannot be set */
    Vec               xs = round == 2 ? x : NULL, bs = round == 2 ? b : NULL;

    switch (c->arg[0] | 32) {
    case 'r': PetscCall(MatZeroRows(A, n, rows, diagonal, xs, bs)); break;
    case 'c': PetscCall(MatZeroRowsColumns(A, n, rows, diagonal, xs, bs)); break;
    case 'l': PetscCall(MatZeroRowsLocal(A, n, rows, diagonal, xs, bs)); break;
    default: PetscCall(MatZeroRowsColumnsLocal(A, n, rows, diagonal, xs, bs));
    }
    PetscCall(RecordMat(c, "zeroed", A));
    PetscCall(RecordVec(c, "right side", b));
    for (PetscInt k = 0; k < n; k++) rows[k] = PetscMax(0, rows[k] - 3);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesBind(Case *c, Mat A)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(RecordMat(c, "bound", A));
  PetscCall(Refill(A, KIND(c), 5));
  PetscCall(MatBindToCPU(A, PETSC_FALSE));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscFunctionReturn(0);
}

/* arg: an error in the middle; the matrix must go on */
static PetscErrorCode ValuesError(Case *c, Mat A)
{
  Vec       x, y, wrong, z;
  PetscBool ok;
  PetscInt  M, N, far;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 1));
  PetscCall(VecCreateMPI(c->comm, 50, PETSC_DETERMINE, &wrong));
  PetscCall(VecFill(wrong, 1));
  Try(c, "x too long", ok, MatMult(A, wrong, y));
  Try(c, "y too long", ok, MatMult(A, x, wrong));
  Try(c, "z too long", ok, MatMultAdd(A, x, y, wrong));
  Try(c, "transposed, x too long", ok, MatMultTranspose(A, wrong, x));
  if (M == N) Try(c, "x is y", ok, MatMult(A, x, x));
  far = M + 5;
  if (c->size == 1) {
    Try(c, "row outside", ok, MatSetValue(A, far, 0, 1, INSERT_VALUES));
    Try(c, "column outside", ok, MatSetValue(A, 0, N + 5, 1, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscCall(RecordMat(c, "after wrong sizes", A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_TRUE));
  if (c->size == 1 && N > 1) { /* a row with room for one more is found by trying */
    for (PetscInt j = 0; j < N; j++) Try(c, "new place", ok, MatSetValue(A, 0, j, 1, INSERT_VALUES));
    PetscCall(Assemble(A));
    PetscCall(RecordMat(c, "after new places", A));
  }
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecCopy(x, z)); /* a lock left on x would show here */
  PetscCall(VecSet(x, 2));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&wrong));
  PetscFunctionReturn(0);
}

/* A product between two MatSetValues() is an error, afterwards all is well */
static PetscErrorCode ValuesUnassembled(Case *c, Mat A)
{
  Vec       x, y;
  PetscInt  first, last, j[MAXROW];
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 1));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  if (last > first && RowPattern(KIND(c), 0, first, j)) PetscCall(MatSetValue(A, first, j[0], 8, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FLUSH_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FLUSH_ASSEMBLY));
  Try(c, "unassembled", ok, MatMult(A, x, y));
  PetscCall(Assemble(A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static const Operation change_operations[] = {
  {"array_write", ValuesArray, ALL, NULL},
  {"blocks_write", ValuesBlocks, ALL, NULL},
  {"set_random", ValuesRandom, ALL, NULL},
  {"zero_rows", ValuesZeroRows, SQUARES & ~BIT(NOROWS), "r"},
  {"zero_rows_keep", ValuesZeroRows, SQUARES & ~BIT(NOROWS), "R"},
  {"zero_rows_columns", ValuesZeroRows, SQUARES & ~BIT(NOROWS), "c"},
  {"zero_rows_columns_keep", ValuesZeroRows, SQUARES & ~BIT(NOROWS), "C"},
  {"zero_rows_local", ValuesZeroRows, SQUARES & ~BIT(NOROWS), "l"},
  {"zero_rows_columns_local", ValuesZeroRows, SQUARES & ~BIT(NOROWS), "m"},
  {"bind_to_cpu", ValuesBind, FEW, NULL},
  {"errors", ValuesError, ALL, NULL},
  {"unassembled", ValuesUnassembled, ALL, NULL},
};
