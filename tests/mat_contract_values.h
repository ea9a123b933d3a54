/*
  mat_contract_values.h - operations that change the values or the pattern of a matrix that has multiplied
*/
#pragma once
#include "mat_contract_create.h"

static PetscErrorCode ValuesInsert(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Refill(A, KIND(c), 1));
  PetscCall(Refill(A, KIND(c), 2));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesAdd(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Fill(A, KIND(c), 0, 1, ADD_VALUES));
  PetscFunctionReturn(0);
}

/* An assembly that changes nothing, and one entry alone */
static PetscErrorCode ValuesOne(Case *c, Mat A)
{
  PetscInt first, last, j[MAXROW];

  PetscFunctionBegin;
  PetscCall(Assemble(A));
  PetscCall(RecordProducts(c, "assembled", A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  if (last > first && RowPattern(KIND(c), 0, last - 1, j)) PetscCall(MatSetValue(A, last - 1, j[0], 100, INSERT_VALUES));
  PetscCall(Assemble(A));
  PetscFunctionReturn(0);
}

/* New positions after assembly: a pattern that contains the old one */
static PetscErrorCode ValuesNewPattern(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(A, KIND(c), 1, 1, INSERT_VALUES));
  PetscCall(RecordMat(c, "larger", A));
  PetscCall(Fill(A, KIND(c), 2, 2, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesBlocked(Case *c, Mat A)
{
  PetscInt    first, last, j[MAXROW], J[MAXROW];
  PetscScalar v[9 * MAXROW];

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (int round = 0; round < 3; round++) {
    for (PetscInt i = first / 3; i < last / 3; i++) {
      const PetscInt count = RowPattern(KIND(c), 0, 3 * i, j) / 3;

      for (PetscInt k = 0; k < count; k++) J[k] = j[3 * k] / 3;
      for (PetscInt k = 0; k < 9 * count; k++) v[k] = EntryValue(TALL, round, i, k);
      if (round < 2) PetscCall(MatSetValuesBlocked(A, 1, &i, count, J, v, round ? ADD_VALUES : INSERT_VALUES));
      else PetscCall(MatSetValuesBlockedLocal(A, 1, &i, count, J, v, ADD_VALUES));
    }
    PetscCall(Assemble(A));
    PetscCall(RecordMat(c, "blocked", A));
    if (round == 1) PetscCall(MappingsSet(c, A));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesLocal(Case *c, Mat A)
{
  PetscInt    first, last, j[MAXROW];
  PetscScalar v[MAXROW];

  PetscFunctionBegin;
  PetscCall(MappingsSet(c, A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (int round = 0; round < 2; round++) {
    for (PetscInt i = first; i < last; i++) {
      const PetscInt count = RowPattern(KIND(c), 0, i, j);

      for (PetscInt k = 0; k < count; k++) v[k] = EntryValue(KIND(c), 5, i, j[k]);
      PetscCall(MatSetValuesLocal(A, 1, &i, count, j, v, round ? ADD_VALUES : INSERT_VALUES));
    }
    PetscCall(Assemble(A));
    PetscCall(RecordMat(c, "local", A));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesRow(Case *c, Mat A)
{
  PetscInt    first, last, j[MAXROW];
  PetscScalar v[MAXROW];

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt count = RowPattern(KIND(c), 0, i, j);

    for (PetscInt k = 0; k < count; k++) v[k] = EntryValue(KIND(c), 5, i, j[k]);
    PetscCall(MatSetValuesRow(A, i, v));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(0);
}

/* The transposed block is given: column oriented */
static PetscErrorCode ValuesColumnOriented(Case *c, Mat A)
{
  PetscInt    first, last, j[MAXROW];
  PetscScalar v[2 * MAXROW];

  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt rows[] = {i, -1}, count = RowPattern(KIND(c), 0, i, j);

    for (PetscInt k = 0; k < 2 * count; k++) v[k] = EntryValue(KIND(c), 5, i, k);
    PetscCall(MatSetValues(A, 2, rows, count, j, v, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscCall(RecordMat(c, "column oriented", A));
  PetscCall(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* Entries outside the pattern are dropped */
static PetscErrorCode OptionNoNewLocations(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(Fill(A, KIND(c), 1, 1, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode OptionIgnoreZeros(Case *c, Mat A)
{
  Mat         B;
  PetscInt    first, last, N;
  PetscScalar v;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(Preallocate(B, KIND(c), 1));
  PetscCall(MatSetOption(B, MAT_IGNORE_ZERO_ENTRIES, PETSC_TRUE));
  PetscCall(MatGetOwnershipRange(B, &first, &last));
  for (int round = 0; round < 2; round++) {
    for (PetscInt i = first; i < last; i++) {
      PetscInt       j[MAXROW];
      const PetscInt count = RowPattern(KIND(c), 1, i, j);

      for (PetscInt k = 0; k < count; k++) {
        v = (i + k + round) % 3 ? EntryValue(KIND(c), round, i, j[k]) : 0;
        PetscCall(MatSetValues(B, 1, &i, 1, &j[k], &v, round ? ADD_VALUES : INSERT_VALUES));
      }
    }
    PetscCall(Assemble(B));
    PetscCall(RecordMat(c, "without zeros", B));
    PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Options that must change nothing, or only how AIJ works inside */
static PetscErrorCode OptionOthers(Case *c, Mat A)
{
  const MatOption options[] = {MAT_SYMMETRIC, MAT_STRUCTURALLY_SYMMETRIC, MAT_HERMITIAN, MAT_NO_OFF_PROC_ENTRIES, MAT_NO_OFF_PROC_ZERO_ROWS, MAT_UNUSED_NONZERO_LOCATION_ERR, MAT_SUBSET_OFF_PROC_ENTRIES, MAT_FORM_EXPLICIT_TRANSPOSE, MAT_SORTED_FULL, MAT_IGNORE_LOWER_TRIANGULAR, MAT_NEW_NONZERO_LOCATION_ERR};
  PetscBool       ok;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    Mat B;

    PetscCall(Make(c, c->root, KIND(c), 1, &B));
    for (int flag = 1; flag >= 0; flag--) {
      Try(c, MatOptions[options[k]], ok, MatSetOption(B, options[k], (PetscBool)flag));
      PetscCall(RecordProducts(c, MatOptions[options[k]], B));
      if (ok && options[k] != MAT_SYMMETRIC && options[k] != MAT_HERMITIAN) {
        PetscCall(Fill(B, KIND(c), 0, 3 + flag, INSERT_VALUES));
        PetscCall(RecordMat(c, MatOptions[options[k]], B));
      }
    }
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatSetOption(A, MAT_USE_INODES, PETSC_FALSE)); /* not back: MPIAIJ of 3.18 cannot multiply then */
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesZero(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(A));
  PetscCall(RecordMat(c, "zeros", A));
  PetscCall(Fill(A, KIND(c), 0, 4, ADD_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesScale(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatScale(A, -2.5));
  PetscCall(RecordMat(c, "scaled", A));
  PetscCall(MatScale(A, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesShift(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatShift(A, 3));
  PetscCall(RecordMat(c, "shifted", A));
  PetscCall(MatShift(A, -1));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesDiagonalSet(Case *c, Mat A)
{
  Vec d;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, &d));
  PetscCall(VecFill(d, 3));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatDiagonalSet(A, d, INSERT_VALUES));
  PetscCall(RecordMat(c, "inserted", A));
  PetscCall(MatDiagonalSet(A, d, ADD_VALUES));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesDiagonalScale(Case *c, Mat A)
{
  Vec left, right;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &right, &left));
  PetscCall(VecFill(right, 3));
  PetscCall(VecFill(left, 4));
  PetscCall(MatDiagonalScale(A, left, NULL));
  PetscCall(RecordMat(c, "left", A));
  PetscCall(MatDiagonalScale(A, NULL, right));
  PetscCall(RecordMat(c, "right", A));
  PetscCall(MatDiagonalScale(A, left, right));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscFunctionReturn(0);
}

/* arg: y and x of which type, m mine and a AIJ */
static PetscErrorCode ValuesAXPY(Case *c, Mat A)
{
  const struct {
    int          y, x;
    MatStructure structure;
  } cases[] = {
    {0, 0, SAME_NONZERO_PATTERN},
    {1, 0, SUBSET_NONZERO_PATTERN},
    {0, 2, DIFFERENT_NONZERO_PATTERN},
    {0, 1, UNKNOWN_NONZERO_PATTERN},
    {0, 0, UNKNOWN_NONZERO_PATTERN},
  };

  PetscFunctionBegin;
  (void)A;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Mat       Y, X;
    PetscBool ok;

    PetscCall(MakeVariant(c, c->arg[0] == 'm' ? c->root : MATAIJ, KIND(c), cases[k].y, 1, &Y));
    PetscCall(MakeVariant(c, c->arg[1] == 'm' ? c->root : MATAIJ, KIND(c), cases[k].x, 2, &X));
    Try(c, "MatAXPY", ok, MatAXPY(Y, 2, X, cases[k].structure));
    if (ok) PetscCall(RecordMat(c, "MatAXPY", Y));
    Try(c, "MatAYPX", ok, MatAYPX(Y, -3, X, cases[k].structure));
    if (ok) PetscCall(RecordMat(c, "MatAYPX", Y));
    PetscCall(RecordMat(c, "X", X));
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&Y));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesComplex(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatConjugate(A));
  PetscCall(RecordMat(c, "conjugate", A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Warm(B));
  PetscCall(MatRealPart(A));
  PetscCall(RecordMat(c, "real part", A));
  PetscCall(MatImaginaryPart(B));
  PetscCall(RecordMat(c, "imaginary part", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* arg: from and to of which type */
static PetscErrorCode ValuesCopy(Case *c, Mat A)
{
  Mat X, Y, Z;

  PetscFunctionBegin;
  (void)A;
  PetscCall(Make(c, c->arg[0] == 'm' ? c->root : MATAIJ, KIND(c), 1, &X));
  PetscCall(Make(c, c->arg[1] == 'm' ? c->root : MATAIJ, KIND(c), 2, &Y));
  PetscCall(MakeVariant(c, c->arg[1] == 'm' ? c->root : MATAIJ, KIND(c), 1, 2, &Z));
  PetscCall(MatCopy(X, Y, SAME_NONZERO_PATTERN));
  PetscCall(RecordMat(c, "same pattern", Y));
  PetscCall(MatCopy(X, Z, DIFFERENT_NONZERO_PATTERN));
  PetscCall(RecordMat(c, "larger pattern", Z));
  PetscCall(MatScale(X, 2));
  PetscCall(MatCopy(X, Z, SUBSET_NONZERO_PATTERN));
  PetscCall(RecordMat(c, "subset", Z));
  PetscCall(MatCopy(X, Y, DIFFERENT_NONZERO_PATTERN));
  PetscCall(RecordAndDestroy(c, "different", 0, &Y));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(0);
}

/* A duplicate is of the type, and independent */
static PetscErrorCode ValuesDuplicate(Case *c, Mat A)
{
  const MatDuplicateOption options[] = {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN};
  MatType                  type;
  PetscBool                same;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    Mat D, E;

    PetscCall(MatDuplicate(A, options[k], &D));
    PetscCall(PetscObjectTypeCompare((PetscObject)D, type, &same));
    PetscCall(RecordInt(c, "same type", same));
    PetscCall(RecordMat(c, "duplicate", D));
    PetscCall(MatDuplicate(D, options[k], &E));
    PetscCall(Refill(D, KIND(c), 2));
    PetscCall(MatScale(A, 2));
    PetscCall(RecordMat(c, "duplicate filled", D));
    PetscCall(RecordMat(c, "original", A));
    PetscCall(MatDestroy(&D));
    PetscCall(RecordAndDestroy(c, "duplicate of the duplicate", 0, &E));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ValuesStore(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(A));
  for (int round = 0; round < 2; round++) {
    PetscCall(MatScale(A, 2));
    PetscCall(RecordMat(c, "changed", A));
    PetscCall(MatRetrieveValues(A));
    PetscCall(RecordMat(c, "retrieved", A));
  }
  PetscFunctionReturn(0);
}

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

/* arg: r rows, c rows and columns, l rows by local numbers, m rows and columns by local numbers; capital letter: the pattern is kept */
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
    case 'r':
      PetscCall(MatZeroRows(A, n, rows, diagonal, xs, bs));
      break;
    case 'c':
      PetscCall(MatZeroRowsColumns(A, n, rows, diagonal, xs, bs));
      break;
    case 'l':
      PetscCall(MatZeroRowsLocal(A, n, rows, diagonal, xs, bs));
      break;
    default:
      PetscCall(MatZeroRowsColumnsLocal(A, n, rows, diagonal, xs, bs));
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

static const Operation values_operations[] = {
  {"insert_values", ValuesInsert, ALL, NULL},
  {"add_values", ValuesAdd, ALL, NULL},
  {"insert_one_value", ValuesOne, ALL, NULL},
  {"insert_new_pattern", ValuesNewPattern, ALL, NULL},
  {"insert_blocked", ValuesBlocked, BIT(BLOCK), NULL},
  {"insert_local", ValuesLocal, ALL, NULL},
  {"insert_row", ValuesRow, BIT(SQUARE) | BIT(SYM), NULL},
  {"option_row_oriented", ValuesColumnOriented, ALL, NULL},
  {"option_no_new_locations", OptionNoNewLocations, ALL, NULL},
  {"option_ignore_zero_entries", OptionIgnoreZeros, ALL, NULL},
  {"option_others", OptionOthers, FEW, NULL},
  {"zero_entries", ValuesZero, ALL, NULL},
  {"scale", ValuesScale, ALL, NULL},
  {"shift", ValuesShift, SQUARES, NULL},
  {"diagonal_set", ValuesDiagonalSet, SQUARES, NULL},
  {"diagonal_scale", ValuesDiagonalScale, ALL, NULL},
  {"axpy", ValuesAXPY, ALL, "mm"},
  {"axpy_aij", ValuesAXPY, FEW, "ma"},
  {"axpy_to_aij", ValuesAXPY, FEW, "am"},
  {"complex_parts", ValuesComplex, FEW, NULL},
  {"copy", ValuesCopy, ALL, "mm"},
  {"copy_to_aij", ValuesCopy, FEW, "ma"},
  {"copy_from_aij", ValuesCopy, FEW, "am"},
  {"duplicate", ValuesDuplicate, ALL, NULL},
  {"store_values", ValuesStore, ALL, NULL},
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
