/*
  mat_contract_product.h - products of matrices, made, and made again after the factors got new values
*/
#pragma once
#include "mat_contract_view.h"

/* A factor: m mine, a AIJ, d dense */
static PetscErrorCode FactorMake(Case *c, char letter, Kind kind, PetscInt seed, Mat *F)
{
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(Make(c, letter == 'm' ? c->root : MATAIJ, kind, seed, F));
  if (letter == 'd') {
    PetscCall(MatGetLocalSize(*F, &m, &n));
    PetscCall(MatDestroy(F));
    PetscCall(MakeDense(c, m, n, PETSC_DETERMINE, PETSC_DETERMINE, seed, F));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FactorChange(Mat F, char letter, Kind kind, PetscInt seed)
{
  PetscFunctionBegin;
  if (letter == 'd') PetscCall(MatScale(F, 2));
  else PetscCall(Refill(F, kind, seed));
  PetscFunctionReturn(0);
}

/* With "-" for the algorithm the functions that users call, else MatProduct */
static PetscErrorCode Multiply(MatProductType type, Mat F[], const char algorithm[], MatReuse reuse, Mat *C)
{
  PetscFunctionBegin;
  if (algorithm[0] != '-') {
    if (reuse == MAT_INITIAL_MATRIX) {
      PetscCall(MatProductCreate(F[0], F[1], F[2], C));
      PetscCall(MatProductSetType(*C, type));
      PetscCall(MatProductSetAlgorithm(*C, algorithm));
      PetscCall(MatProductSetFill(*C, 2));
      PetscCall(MatProductSetFromOptions(*C));
      PetscCall(MatProductSymbolic(*C));
    } else PetscCall(MatProductReplaceMats(F[0], F[1], F[2], *C));
    PetscCall(MatProductNumeric(*C));
    PetscFunctionReturn(0);
  }
  switch (type) {
  case MATPRODUCT_AtB: PetscCall(MatTransposeMatMult(F[0], F[1], reuse, PETSC_DEFAULT, C)); break;
  case MATPRODUCT_ABt: PetscCall(MatMatTransposeMult(F[0], F[1], reuse, PETSC_DEFAULT, C)); break;
  case MATPRODUCT_PtAP: PetscCall(MatPtAP(F[0], F[1], reuse, PETSC_DEFAULT, C)); break;
  case MATPRODUCT_RARt: PetscCall(MatRARt(F[0], F[1], reuse, PETSC_DEFAULT, C)); break;
  case MATPRODUCT_ABC: PetscCall(MatMatMatMult(F[0], F[1], F[2], reuse, PETSC_DEFAULT, C)); break;
  default: PetscCall(MatMatMult(F[0], F[1], reuse, PETSC_DEFAULT, C));
  }
  PetscFunctionReturn(0);
}

/* arg: the product, the letters of its factors, an algorithm, a word each */
static PetscErrorCode Product(Case *c, Mat A)
{
  int            words;
  char         **word;
  MatProductType type = MATPRODUCT_AB;
  PetscBool      same, ok;
  PetscInt       count;
  Mat            F[3] = {NULL, NULL, NULL}, C = NULL;
  Kind           kinds[3] = {KIND(c), KIND(c), KIND(c)};

  PetscFunctionBegin;
  (void)A;
  PetscCall(PetscStrToArray(c->arg, ' ', &words, &word));
  for (int k = MATPRODUCT_AB; k <= MATPRODUCT_ABC; k++) {
    PetscCall(PetscStrcmp(word[0], MatProductTypes[k], &same));
    if (same) type = (MatProductType)k;
  }
  count = type == MATPRODUCT_ABC ? 3 : 2;
  if (type == MATPRODUCT_AB || type == MATPRODUCT_ABC) kinds[1] = KindTransposed(KIND(c));
  if (c->kind == SQUARE && type == MATPRODUCT_PtAP) kinds[1] = PROLONGATION;
  if (c->kind == SQUARE && type == MATPRODUCT_RARt) kinds[1] = RESTRICTION;
  for (PetscInt k = 0; k < count; k++) PetscCall(FactorMake(c, word[1][k], kinds[k], k + 1, &F[k]));
  Try(c, "product", ok, Multiply(type, F, word[2], MAT_INITIAL_MATRIX, &C));
  if (ok) {
    PetscCall(RecordMat(c, "product", C));
    for (PetscInt k = 0; k < count; k++) PetscCall(FactorChange(F[k], word[1][k], kinds[k], k + 3));
    if (type != MATPRODUCT_ABt || c->size == 1) { /* MPIAIJ of 3.18 writes past the end of an array */
      Try(c, "product again", ok, Multiply(type, F, word[2], MAT_REUSE_MATRIX, &C));
      if (ok) PetscCall(RecordMat(c, "product again", C));
    }
    for (PetscInt k = 0; k < count; k++) PetscCall(RecordMat(c, "factor", F[k]));
    PetscCall(MatScale(C, 2));
    PetscCall(RecordMat(c, "product scaled", C));
    PetscCall(MatProductClear(C));
    PetscCall(RecordProducts(c, "product cleared", C));
  }
  PetscCall(MatDestroy(&C));
  for (PetscInt k = 0; k < count; k++) PetscCall(MatDestroy(&F[k]));
  PetscCall(PetscStrToArrayDestroy(words, word));
  PetscFunctionReturn(0);
}

/* The result goes into a matrix that the user made, twice with other factors */
static PetscErrorCode ProductWithMat(Case *c, Mat A)
{
  Mat B, C, D;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KindTransposed(KIND(c)), 1, &B));
  PetscCall(MatProductCreate(A, B, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(RecordMat(c, "C", C));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &D));
  PetscCall(MatScale(D, 3));
  PetscCall(MatProductReplaceMats(D, B, NULL, C));
  PetscCall(MatProductNumeric(C));
  PetscCall(RecordMat(c, "C with D", C));
  PetscCall(MatProductClear(C));
  PetscCall(MatProductCreateWithMat(D, B, NULL, C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(C));
  PetscCall(MatProductSymbolic(C));
  PetscCall(MatProductNumeric(C));
  PetscCall(RecordMat(c, "with matrix", C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(0);
}

/* A product of mine with a product of mine as a factor */
static PetscErrorCode ProductChain(Case *c, Mat A)
{
  Mat B, C, D;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KindTransposed(KIND(c)), 1, &B));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Warm(C));
  PetscCall(MatMatMult(C, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(RecordMat(c, "ABA", D));
  PetscCall(Refill(A, KIND(c), 5));
  PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(C, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(RecordMat(c, "ABA again", D));
  PetscCall(MatAXPY(C, 2, C, SAME_NONZERO_PATTERN));
  PetscCall(RecordMat(c, "AB", C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatConvert(C, c->root, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatShift(C, 2));
  PetscCall(RecordMat(c, "AB of my type", C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ProductEqual(Case *c, Mat A)
{
  Mat       B, C;
  PetscBool equal;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KindTransposed(KIND(c)), 1, &B));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMultEqual(A, B, C, 5, &equal));
  PetscCall(RecordInt(c, "MatMatMultEqual", equal));
  PetscCall(MatDestroy(&C));
  PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatTransposeMatMultEqual(A, A, C, 5, &equal));
  PetscCall(RecordInt(c, "MatTransposeMatMultEqual", equal));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ProductInterpolate(Case *c, Mat A)
{
  Mat      X, Y = NULL, Z = NULL, W;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MakeDense(c, n, PETSC_DECIDE, PETSC_DETERMINE, 4, 3, &X));
  PetscCall(MatMatInterpolate(A, X, &Y));
  PetscCall(RecordMat(c, "interpolated", Y));
  PetscCall(MakeDense(c, m, PETSC_DECIDE, PETSC_DETERMINE, 4, 5, &W));
  PetscCall(MatMatInterpolateAdd(A, X, W, &Y));
  PetscCall(RecordMat(c, "interpolated and added", Y));
  PetscCall(MatMatRestrict(A, W, &Z));
  PetscCall(RecordMat(c, "restricted", Z));
  PetscCall(Refill(A, KIND(c), 5));
  PetscCall(MatMatInterpolate(A, X, &Y));
  PetscCall(RecordMat(c, "interpolated again", Y));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&Z));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(0);
}

static PetscErrorCode ProductGalerkin(Case *c, Mat A)
{
  Mat P, R, C = NULL;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, PROLONGATION, 1, &P));
  PetscCall(Make(c, c->root, RESTRICTION, 2, &R));
  PetscCall(MatGalerkin(R, A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(RecordMat(c, "RAP", C));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(Refill(P, PROLONGATION, 4));
  PetscCall(MatGalerkin(R, A, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(RecordMat(c, "RAP again", C));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(0);
}

/* On the sequential rows of this process */
static PetscErrorCode ProductKron(Case *c, Mat A)
{
  Mat B, C, D = NULL;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 3, 2, NULL, &B));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 5, 2, NULL, &C));
  for (PetscInt i = 0; i < 6; i++) {
    PetscCall(MatSetValue(B, i % 4, (2 * i) % 3, 1 + i, INSERT_VALUES));
    PetscCall(MatSetValue(C, i % 3, (3 * i) % 5, 2 - i, INSERT_VALUES));
  }
  PetscCall(Assemble(B));
  PetscCall(Assemble(C));
  PetscCall(MatConvert(B, c->seq, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatConvert(C, c->seq, MAT_INPLACE_MATRIX, &C));
  PetscCall(Warm(B));
  PetscCall(Warm(C));
  PetscCall(MatSeqAIJKron(B, C, MAT_INITIAL_MATRIX, &D));
  PetscCall(RecordMat(c, "Kronecker product", D));
  PetscCall(MatScale(B, 2));
  PetscCall(MatSeqAIJKron(B, C, MAT_REUSE_MATRIX, &D));
  PetscCall(RecordMat(c, "Kronecker product again", D));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(0);
}

/* Where the matrix has one column, PETSc multiplies by a dense one of one row, which one process has */
#define BY_DENSE (SPMV_DENSE_NEEDS_ROWS ? ALL & ~BIT(ONECOL) : ALL)

static const Operation product_operations[] = {
  {"matmult", Product, ALL, "AB mm -"},
  {"matmult_by_aij", Product, ALL, "AB ma -"},
  {"matmult_of_aij", Product, ALL, "AB am -"},
  {"matmult_by_dense", Product, BY_DENSE, "AB md -"},
  {"matmult_of_dense", Product, BY_DENSE, "AB dm -"},
  {"matmult_sorted", Product, FEW, "AB mm sorted"},
  {"matmult_scalable", Product, FEW, "AB mm scalable"},
  {"matmult_scalable_fast", Product, FEW, "AB mm scalable_fast"},
  {"matmult_heap", Product, FEW, "AB mm heap"},
  {"matmult_btheap", Product, FEW, "AB mm btheap"},
  {"matmult_llcondensed", Product, FEW, "AB mm llcondensed"},
  {"matmult_rowmerge", Product, FEW, "AB mm rowmerge"},
  {"matmult_seqmpi", Product, FEW, "AB mm seqmpi"},
  {"matmult_hypre", Product, FEW, "AB mm hypre"},
  {"transpose_matmult", Product, ALL, "AtB mm -"},
  {"transpose_matmult_by_aij", Product, ALL, "AtB ma -"},
  {"transpose_matmult_of_aij", Product, ALL, "AtB am -"},
  {"transpose_matmult_by_dense", Product, ALL, "AtB md -"},
  {"transpose_matmult_of_dense", Product, ALL, "AtB dm -"},
  {"transpose_matmult_outer", Product, FEW, "AtB mm outerproduct"},
  {"transpose_matmult_at_b", Product, FEW, "AtB mm at*b"},
  {"transpose_matmult_scalable", Product, FEW, "AtB mm scalable"},
  {"mattranspose_mult", Product, ALL, "ABt mm -"},
  {"mattranspose_mult_by_aij", Product, FEW, "ABt ma -"},
  {"mattranspose_mult_by_dense", Product, FEW, "ABt md -"},
  {"mattranspose_mult_color", Product, FEW, "ABt mm color"},
  {"ptap", Product, SQUARES, "PtAP mm -"},
  {"ptap_by_aij", Product, SQUARES, "PtAP ma -"},
  {"ptap_of_aij", Product, SQUARES, "PtAP am -"},
  {"ptap_by_dense", Product, SQUARES, "PtAP md -"},
  {"ptap_scalable", Product, SQUARES, "PtAP mm scalable"},
  {"ptap_nonscalable", Product, SQUARES, "PtAP mm nonscalable"},
  {"ptap_rap", Product, SQUARES, "PtAP mm rap"},
  {"ptap_allatonce", Product, SQUARES, "PtAP mm allatonce"},
  {"ptap_allatonce_merged", Product, SQUARES, "PtAP mm allatonce_merged"},
  {"ptap_hypre", Product, SQUARES, "PtAP mm hypre"},
  {"rart", Product, SQUARES, "RARt mm -"},
  {"rart_by_aij", Product, SQUARES, "RARt ma -"},
  {"rart_r_a_rt", Product, SQUARES, "RARt mm r*a*rt"},
  {"rart_r_art", Product, SQUARES, "RARt mm r*art"},
  {"rart_coloring", Product, SQUARES, "RARt mm coloring_rart"},
  {"matmatmatmult", Product, ALL, "ABC mmm -"},
  {"matmatmatmult_aij", Product, FEW, "ABC mam -"},
  {"matmatmatmult_dense", Product, FEW, "ABC mmd -"},
  {"product_default", Product, ALL, "AB mm default"},
  {"product_dense", Product, FEW, "AB md default"},
  {"product_replace", ProductWithMat, FEW, NULL},
  {"product_chain", ProductChain, FEW, NULL},
  {"product_equal", ProductEqual, FEW, NULL},
  {"mat_interpolate", ProductInterpolate, FEW, NULL},
  {"galerkin", ProductGalerkin, BIT(SQUARE), NULL},
  {"kron", ProductKron, BIT(SQUARE), NULL},
};
