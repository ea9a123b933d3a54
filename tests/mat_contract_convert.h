/*
  mat_contract_convert.h - conversion to and from every type that AIJ converts to and from, in all three reuse modes
*/
#pragma once
#include "mat_contract_change.h"

/* aij: the short name of a type, + its full name, mine or the root's */
static MatType TypeNamed(const Case *c, const char name[])
{
  if (name[0] == '+') return name[1] == 'a' ? (c->size == 1 ? MATSEQAIJ : MATMPIAIJ) : c->full;
  if (name[0] == '=') return c->root;
  return name;
}

/* Is there such a type in this PETSc? Packages may be missing; not every release has every type */
static PetscErrorCode TypeKnown(Case *c, MatType type, PetscBool *known)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatCreate(c->comm, &A));
  PetscCall(MatSetSizes(A, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE));
  Try(c, "type", *known, MatSetType(A, type));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* SBAIJ takes only what says that it is symmetric */
static PetscErrorCode SymmetrySet(Case *c, Mat A)
{
  PetscBool sbaij;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(c->arg, MATSBAIJ, &sbaij));
  if (sbaij) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (sbaij) PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConvertToInitial(Case *c, Mat A)
{
  Mat       B = NULL;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(TypeKnown(c, TypeNamed(c, c->arg), &ok));
  if (!ok) PetscFunctionReturn(0);
  PetscCall(SymmetrySet(c, A));
  Try(c, "MatConvert", ok, MatConvert(A, TypeNamed(c, c->arg), MAT_INITIAL_MATRIX, &B));
  if (!ok) PetscFunctionReturn(0);
  PetscCall(RecordInt(c, "new matrix", B != A));
  PetscCall(RecordMat(c, "converted", B));
  PetscCall(MatScale(A, 2));
  PetscCall(RecordMat(c, "independent", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConvertToReuse(Case *c, Mat A)
{
  Mat       B = NULL;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(TypeKnown(c, TypeNamed(c, c->arg), &ok));
  if (!ok) PetscFunctionReturn(0);
  PetscCall(SymmetrySet(c, A));
  Try(c, "MatConvert", ok, MatConvert(A, TypeNamed(c, c->arg), MAT_INITIAL_MATRIX, &B));
  if (!ok) PetscFunctionReturn(0);
  PetscCall(RecordProducts(c, "converted", B));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(SymmetrySet(c, A));
  Try(c, "MatConvert again", ok, MatConvert(A, TypeNamed(c, c->arg), MAT_REUSE_MATRIX, &B));
  if (ok) PetscCall(RecordMat(c, "converted again", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* There and back in the same object */
static PetscErrorCode ConvertToInplace(Case *c, Mat A)
{
  Mat       B;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(TypeKnown(c, TypeNamed(c, c->arg), &ok));
  if (!ok) PetscFunctionReturn(0);
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Warm(B));
  PetscCall(SymmetrySet(c, B));
  Try(c, "MatConvert", ok, MatConvert(B, TypeNamed(c, c->arg), MAT_INPLACE_MATRIX, &B));
  if (ok) {
    PetscCall(RecordMat(c, "converted", B));
    Try(c, "MatConvert back", ok, MatConvert(B, c->root, MAT_INPLACE_MATRIX, &B));
    if (ok) {
      PetscCall(
        MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); /* a dense matrix forgets the zeros of the pattern */
      PetscCall(RecordAndDestroy(c, "and back", 0, &B));
    }
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* A matrix of another type: converted from AIJ, or one of the types that wrap matrices */
static PetscErrorCode MakeOther(Case *c, PetscInt seed, Mat *B, PetscBool *ok)
{
  Mat       A, Z = NULL;
  PetscBool nest, maij, transpose, normal, composite, hermitian;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(c->arg, MATNEST, &nest));
  PetscCall(PetscStrcmp(c->arg, MATMAIJ, &maij));
  PetscCall(PetscStrcmp(c->arg, MATTRANSPOSEVIRTUAL, &transpose));
  PetscCall(PetscStrcmp(c->arg, MATHERMITIANTRANSPOSEVIRTUAL, &hermitian));
  PetscCall(PetscStrcmp(c->arg, MATNORMAL, &normal));
  PetscCall(PetscStrcmp(c->arg, MATCOMPOSITE, &composite));
  PetscCall(Make(c, nest || normal ? c->root : MATAIJ, KIND(c), seed, &A));
  PetscCall(SymmetrySet(c, A));
  if (nest) {
    Mat blocks[4] = {A, A, Z, A};

    Try(c, "other", *ok, MatCreateNest(c->comm, 2, NULL, 2, NULL, blocks, B));
  } else if (maij) Try(c, "other", *ok, MatCreateMAIJ(A, 2, B));
  else if (transpose) Try(c, "other", *ok, MatCreateTranspose(A, B));
  else if (hermitian) Try(c, "other", *ok, MatCreateHermitianTranspose(A, B));
  else if (normal) Try(c, "other", *ok, MatCreateNormal(A, B));
  else if (composite) Try(c, "other", *ok, MatCreateComposite(c->comm, 1, &A, B));
  else {
    PetscCall(TypeKnown(c, TypeNamed(c, c->arg), ok));
    if (*ok) Try(c, "other", *ok, MatConvert(A, TypeNamed(c, c->arg), MAT_INITIAL_MATRIX, B));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConvertFrom(Case *c, Mat A)
{
  Mat       B = NULL, C = NULL;
  PetscBool ok, mine;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeOther(c, 1, &B, &ok));
  if (!ok) PetscFunctionReturn(0);
  Try(c, "MatConvert", ok, MatConvert(B, c->root, MAT_INITIAL_MATRIX, &C));
  if (ok) {
    PetscCall(PetscObjectTypeCompare((PetscObject)C, c->full, &mine));
    PetscCall(RecordInt(c, "my type", mine));
    PetscCall(RecordMat(c, "converted", C));
    PetscCall(MatScale(C, 2));
    PetscCall(RecordMat(c, "scaled", C));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConvertFromReuse(Case *c, Mat A)
{
  Mat       B = NULL, C = NULL, D;
  PetscBool ok;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeOther(c, 1, &B, &ok));
  if (!ok) PetscFunctionReturn(0);
  Try(c, "MatConvert", ok, MatConvert(B, c->root, MAT_INITIAL_MATRIX, &C));
  if (ok) {
    PetscCall(RecordProducts(c, "converted", C));
    PetscCall(MakeOther(c, 2, &D, &ok));
    Try(c, "MatConvert again", ok, MatConvert(D, c->root, MAT_REUSE_MATRIX, &C));
    if (ok) PetscCall(RecordMat(c, "converted again", C));
    PetscCall(MatDestroy(&D));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ConvertFromInplace(Case *c, Mat A)
{
  Mat       B = NULL;
  PetscBool ok, mine;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeOther(c, 1, &B, &ok));
  if (!ok) PetscFunctionReturn(0);
  Try(c, "MatConvert", ok, MatConvert(B, c->root, MAT_INPLACE_MATRIX, &B));
  if (ok) {
    PetscCall(PetscObjectTypeCompare((PetscObject)B, c->full, &mine));
    PetscCall(RecordInt(c, "my type", mine));
    PetscCall(RecordMat(c, "converted", B));
    PetscCall(MatScale(B, 2));
    PetscCall(RecordMat(c, "scaled", B));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* The names of a type: to the same type nothing happens */
static PetscErrorCode ConvertNames(Case *c, Mat A)
{
  const char *names[] = {"same", "=", "+m", "aij", "+a", "="};
  MatType     type;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    PetscBool aij, mine;
    Mat       B;

    PetscCall(MatConvert(A, TypeNamed(c, names[k]), MAT_INITIAL_MATRIX, &B));
    PetscCall(MatGetType(B, &type));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &aij, MATSEQAIJ, MATMPIAIJ, ""));
    PetscCall(PetscObjectTypeCompare((PetscObject)B, c->full, &mine));
    PetscCall(RecordInt(c, "as asked for", names[k][0] == 'a' || names[k][1] == 'a' ? (names[k][0] == 's' ? mine : aij) : mine));
    PetscCall(RecordMat(c, names[k], B));
    PetscCall(MatDestroy(&B));
    PetscCall(MatConvert(A, TypeNamed(c, names[k]), MAT_INPLACE_MATRIX, &A));
    PetscCall(RecordMat(c, names[k], A));
    PetscCall(Refill(A, KIND(c), (PetscInt)k));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ConvertSetFromOptions(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(Make(c, MATAIJ, KIND(c), 1, &B));
  PetscCall(MatSetOptionsPrefix(B, "later_"));
  PetscCall(PetscOptionsSetValue(NULL, "-later_mat_type", c->root));
  PetscCall(MatConvert(B, c->root, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatSetFromOptions(B));
  PetscCall(RecordAndDestroy(c, "converted, then options", 0, &B));
  PetscCall(PetscOptionsClearValue(NULL, "-later_mat_type"));
  PetscFunctionReturn(0);
}

/* Sequential types of AIJ through MatSeqAIJSetType() */
static PetscErrorCode ConvertSeqSetType(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 5, 5, 2, NULL, &B));
  for (PetscInt i = 0; i < 5; i++) PetscCall(MatSetValue(B, i, (2 * i) % 5, 1 + i, INSERT_VALUES));
  PetscCall(Assemble(B));
  PetscCall(Warm(B));
  PetscCall(MatSeqAIJSetType(B, c->seq));
  PetscCall(RecordMat(c, "mine", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Modes that are not here leak or hang in PETSc 3.18 itself: it ignores MAT_REUSE_MATRIX, or tries to insert new entries on one
   process alone */
#define TO(name, type, kinds) \
  { \
    "convert_to_" name, ConvertToInitial, kinds, type \
  }
#define TO_REUSE(name, type, kinds) \
  { \
    "convert_to_" name "_reuse", ConvertToReuse, kinds, type \
  }
#define TO_INPLACE(name, type, kinds) \
  { \
    "convert_to_" name "_inplace", ConvertToInplace, kinds, type \
  }
#define FROM(name, type, kinds) \
  { \
    "convert_from_" name, ConvertFrom, kinds, type \
  }
#define FROM_REUSE(name, type, kinds) \
  { \
    "convert_from_" name "_reuse", ConvertFromReuse, kinds, type \
  }
#define FROM_INPLACE(name, type, kinds) \
  { \
    "convert_from_" name "_inplace", ConvertFromInplace, kinds, type \
  }
#define TO_ALL(name, type, kinds)   TO(name, type, kinds), TO_REUSE(name, type, kinds), TO_INPLACE(name, type, kinds)
#define FROM_ALL(name, type, kinds) FROM(name, type, kinds), FROM_REUSE(name, type, kinds), FROM_INPLACE(name, type, kinds)
#define SELL                        (SPMV_SELL_CRASHES ? 0 : ALL)
#define TO_IS                       (ALL & ~BIT(ONEROW) & ~BIT(ONECOL))

static const Operation convert_operations[] = {
  TO_ALL("aij", "aij", ALL),
  TO_ALL("aij_full_name", "+a", FEW),
  TO_ALL("itself", "=", ALL),
  TO_ALL("itself_full_name", "+m", FEW),
  TO_ALL("baij", MATBAIJ, ALL),
  TO_ALL("sbaij", MATSBAIJ, BIT(SYM) | BIT(DIAG)),
  TO_ALL("dense", MATDENSE, ALL),
  TO_ALL("is", MATIS, TO_IS),
  TO_ALL("sell", MATSELL, SELL),
  TO_ALL("hypre", MATHYPRE, ALL),
  TO("aijperm", MATAIJPERM, ALL),
  TO_INPLACE("aijperm", MATAIJPERM, ALL),
  TO("aijsell", MATAIJSELL, ALL),
  TO_INPLACE("aijsell", MATAIJSELL, ALL),
  TO("aijcrl", MATAIJCRL, FEW & ~BIT(EMPTY)),
  TO_INPLACE("aijcrl", MATAIJCRL, FEW & ~BIT(EMPTY)),
  TO("mpiadj", MATMPIADJ, BIT(SYM)),
  TO_INPLACE("mpiadj", MATMPIADJ, BIT(SYM)),
  TO("scalapack", MATSCALAPACK, FEW),
  TO_REUSE("scalapack", MATSCALAPACK, FEW), /* and not back: it gives a dense matrix whatever is asked for */
  TO_ALL("shell", MATSHELL, FEW),
  FROM_ALL("aij", "aij", ALL),
  FROM_ALL("baij", MATBAIJ, ALL),
  FROM_ALL("sbaij", MATSBAIJ, BIT(SYM) | BIT(DIAG)),
  FROM("dense", MATDENSE, ALL),
  FROM_INPLACE("dense", MATDENSE, ALL),
  FROM_ALL("is", MATIS, TO_IS),
  FROM_ALL("sell", MATSELL, SELL),
  FROM_ALL("hypre", MATHYPRE, ALL),
  FROM_ALL("aijperm", MATAIJPERM, FEW),
  FROM_ALL("aijsell", MATAIJSELL, FEW),
  FROM_ALL("nest", MATNEST, SQUARES),
  FROM("maij", MATMAIJ, FEW),
  FROM_INPLACE("maij", MATMAIJ, FEW),
  FROM_ALL("transpose", MATTRANSPOSEVIRTUAL, FEW),
  FROM("hermitiantranspose", MATHERMITIANTRANSPOSEVIRTUAL, FEW),
  FROM_INPLACE("hermitiantranspose", MATHERMITIANTRANSPOSEVIRTUAL, FEW),
  FROM_ALL("normal", MATNORMAL, FEW),
  FROM("composite", MATCOMPOSITE, FEW),
  FROM_INPLACE("composite", MATCOMPOSITE, FEW),
  FROM("shell", MATSHELL, FEW),
  {"convert_names", ConvertNames, ALL, NULL},
  {"convert_set_from_options", ConvertSetFromOptions, FEW, NULL},
  {"convert_seq_set_type", ConvertSeqSetType, BIT(SQUARE), NULL},
};
