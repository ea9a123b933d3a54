/*
  mat_contract_values.h - operations that change the values or the pattern of a matrix that has multiplied
*/
#pragma once
#include "mat_contract_arrays.h"

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
  const MatOption options[] = {MAT_SYMMETRIC,
                               MAT_STRUCTURALLY_SYMMETRIC,
                               MAT_HERMITIAN,
                               MAT_NO_OFF_PROC_ENTRIES,
                               MAT_NO_OFF_PROC_ZERO_ROWS,
                               MAT_UNUSED_NONZERO_LOCATION_ERR,
                               MAT_SUBSET_OFF_PROC_ENTRIES,
                               MAT_FORM_EXPLICIT_TRANSPOSE,
                               MAT_SORTED_FULL,
                               MAT_IGNORE_LOWER_TRIANGULAR,
                               MAT_NEW_NONZERO_LOCATION_ERR};
  PetscBool       ok;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    Mat B;

    if (c->kind == TALL && (options[k] == MAT_SYMMETRIC || options[k] == MAT_HERMITIAN)) continue; /* a lie that PETSc believes */
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
    {0, 0, SAME_NONZERO_PATTERN},    {1, 0, SUBSET_NONZERO_PATTERN},  {0, 2, DIFFERENT_NONZERO_PATTERN},
    {0, 1, UNKNOWN_NONZERO_PATTERN}, {0, 0, UNKNOWN_NONZERO_PATTERN},
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
};
