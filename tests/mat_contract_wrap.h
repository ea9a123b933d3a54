/*
  mat_contract_wrap.h - matrices that hold one of the type inside: what is stored there must follow it
*/
#pragma once
#include "mat_contract_graph.h"
#include <petscksp.h>

/* The wrapper before and after the inside changed its values and its pattern */
static PetscErrorCode RecordWrapper(Case *c, Mat W, Mat A)
{
  PetscBool composite;

  PetscFunctionBegin;
  PetscCall(RecordMat(c, "wrapper", W));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(Assemble(W));
  PetscCall(RecordMat(c, "wrapper of new values", W));
  PetscCall(PetscObjectTypeCompare((PetscObject)W, MATCOMPOSITE, &composite));
  if (composite) PetscFunctionReturn(0); /* keeps the ghosts of the old pattern */
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(A, KIND(c), 1, 4, INSERT_VALUES));
  PetscCall(Assemble(W));
  PetscCall(RecordMat(c, "wrapper of a new pattern", W));
  PetscFunctionReturn(0);
}

/* arg: t transpose, h Hermitian transpose, n A'A, m A^H A, k Kronecker product with the identity */
static PetscErrorCode WrapVirtual(Case *c, Mat A)
{
  Mat       W, C = NULL;
  Vec       left, right;
  PetscBool ok;

  PetscFunctionBegin;
  switch (c->arg[0]) {
  case 't': PetscCall(MatCreateTranspose(A, &W)); break;
  case 'h': PetscCall(MatCreateHermitianTranspose(A, &W)); break;
  case 'n': PetscCall(MatCreateNormal(A, &W)); break;
  case 'm': PetscCall(MatCreateNormalHermitian(A, &W)); break;
  default: PetscCall(MatCreateMAIJ(A, 2, &W));
  }
  PetscCall(RecordProducts(c, "wrapper", W));
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(RecordProducts(c, "wrapper of new values", W));
  if (c->arg[0] == 't' || c->arg[0] == 'n') {
    PetscCall(MatCreateVecs(W, &right, &left));
    PetscCall(VecFill(right, 3));
    PetscCall(VecFill(left, 4));
    Try(c, "MatGetDiagonal", ok, MatGetDiagonal(W, left));
    if (ok) PetscCall(RecordVec(c, "diagonal", left));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&left));
    Try(c, "MatMatMult", ok, MatMatMult(W, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    if (ok) PetscCall(RecordMat(c, "wrapper times A", C));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(0);
}

static PetscErrorCode WrapNest(Case *c, Mat A)
{
  Mat       blocks[4] = {A, NULL, NULL, A}, N, S, C;
  IS        rows[2], columns[2];
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KIND(c), 4, &blocks[1]));
  PetscCall(MatCreateNest(c->comm, 2, NULL, 2, NULL, blocks, &N));
  PetscCall(RecordWrapper(c, N, A));
  PetscCall(MatNestGetISs(N, rows, columns));
  PetscCall(MatCreateSubMatrix(N, rows[0], columns[1], MAT_INITIAL_MATRIX, &S));
  PetscCall(RecordMat(c, "block", S));
  PetscCall(MatDestroy(&S));
  PetscCall(MatConvert(N, c->root, MAT_INITIAL_MATRIX, &C));
  PetscCall(RecordMat(c, "converted", C));
  PetscCall(MatScale(N, 2));
  PetscCall(MatConvert(N, c->root, MAT_REUSE_MATRIX, &C));
  PetscCall(RecordMat(c, "converted again", C));
  PetscCall(MatDestroy(&C));
  Try(c, "transpose", ok, MatTranspose(N, MAT_INITIAL_MATRIX, &C));
  if (ok) {
    PetscCall(RecordMat(c, "transpose", C));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&N));
  PetscCall(MatDestroy(&blocks[1]));
  PetscCall(Preallocate(A, KIND(c), 0));
  PetscCall(Fill(A, KIND(c), 0, 1, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode WrapLRC(Case *c, Mat A)
{
  Mat      U, V, W;
  Vec      d;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MakeDense(c, m, PETSC_DECIDE, PETSC_DETERMINE, 2, 5, &U));
  PetscCall(MakeDense(c, n, PETSC_DECIDE, PETSC_DETERMINE, 2, 6, &V));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 2, &d));
  PetscCall(VecFill(d, 2));
  PetscCall(MatCreateLRC(A, U, d, V, &W));
  PetscCall(RecordWrapper(c, W, A));
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&U));
  PetscCall(MatDestroy(&V));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

/* arg: a additive, m multiplicative, g merged */
static PetscErrorCode WrapComposite(Case *c, Mat A)
{
  Mat B, W, mats[2];

  PetscFunctionBegin;
  PetscCall(MakeVariant(c, c->root, KIND(c), 2, 5, &B));
  mats[0] = A;
  mats[1] = B;
  PetscCall(MatCreateComposite(c->comm, 2, mats, &W));
  if (c->arg[0] == 'm') PetscCall(MatCompositeSetType(W, MAT_COMPOSITE_MULTIPLICATIVE));
  PetscCall(Assemble(W));
  PetscCall(RecordWrapper(c, W, A));
  if (c->arg[0] == 'g') {
    PetscCall(MatCompositeMerge(W));
    PetscCall(RecordMat(c, "merged", W));
    PetscCall(MatConvert(W, c->root, MAT_INPLACE_MATRIX, &W));
    PetscCall(MatScale(W, 2));
    PetscCall(RecordMat(c, "merged and scaled", W));
  }
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode WrapSchur(Case *c, Mat A)
{
  const MatSchurComplementAinvType ainv[] = {MAT_SCHUR_COMPLEMENT_AINV_DIAG, MAT_SCHUR_COMPLEMENT_AINV_LUMP,
                                             MAT_SCHUR_COMPLEMENT_AINV_BLOCK_DIAG};
  Mat                              B, C, D, S, P = NULL;
  KSP                              ksp;
  PC                               pc;
  PetscBool                        ok;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KIND(c), 4, &B));
  PetscCall(Make(c, c->root, KIND(c), 5, &C));
  PetscCall(Make(c, c->root, KIND(c), 6, &D));
  PetscCall(MatCreateSchurComplement(A, A, B, C, D, &S));
  PetscCall(MatSchurComplementGetKSP(S, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-14, 1e-30, 1e5, 200));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  c->slack = 100; /* as far as the inner solver goes */
  PetscCall(RecordProducts(c, "Schur complement", S));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatSchurComplementSetAinvType(S, ainv[k]));
    Try(c, "preconditioner", ok, MatSchurComplementGetPmat(S, MAT_INITIAL_MATRIX, &P));
    if (!ok) continue;
    PetscCall(RecordMat(c, "preconditioner", P));
    PetscCall(Refill(B, KIND(c), 7 + k));
    PetscCall(MatSchurComplementGetPmat(S, MAT_REUSE_MATRIX, &P));
    PetscCall(RecordMat(c, "preconditioner again", P));
    PetscCall(MatDestroy(&P));
  }
  PetscCall(Refill(A, KIND(c), 3));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(RecordProducts(c, "Schur complement again", S));
  c->slack = 1;
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(0);
}

/* A local matrix of MATIS that is of the type */
static PetscErrorCode WrapIS(Case *c, Mat A)
{
  Mat                    L, W, C;
  PetscInt               m, n, first, last;
  IS                     rows, columns;
  ISLocalToGlobalMapping rmap, cmap;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(ISCreateStride(c->comm, m, first, 1, &rows));
  PetscCall(MatGetSize(A, NULL, &last));
  PetscCall(ISCreateStride(c->comm, last, 0, 1, &columns));
  PetscCall(ISLocalToGlobalMappingCreateIS(rows, &rmap));
  PetscCall(ISLocalToGlobalMappingCreateIS(columns, &cmap));
  PetscCall(MatCreateIS(c->comm, 1, m, n, PETSC_DETERMINE, PETSC_DETERMINE, rmap, cmap, &W));
  PetscCall(MatISSetLocalMatType(W, c->seq));
  PetscCall(MatISSetPreallocation(W, 40, NULL, 40, NULL));
  for (int round = 0; round < 2; round++) {
    for (PetscInt i = 0; i < m; i++)
      for (PetscInt k = 0; k < 3; k++) PetscCall(MatSetValueLocal(W, i, (i * 5 + k * 4) % last, 1 + i + k + round, ADD_VALUES));
    PetscCall(Assemble(W));
    PetscCall(RecordProducts(c, "MATIS", W));
    PetscCall(MatISGetLocalMat(W, &L));
    PetscCall(RecordMat(c, "its local matrix", L));
    PetscCall(MatScale(L, 2));
    PetscCall(MatISRestoreLocalMat(W, &L));
    PetscCall(RecordProducts(c, "MATIS with a scaled local matrix", W));
    PetscCall(MatConvert(W, c->root, MAT_INITIAL_MATRIX, &C));
    PetscCall(RecordMat(c, "assembled", C));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(ISLocalToGlobalMappingDestroy(&rmap));
  PetscCall(ISLocalToGlobalMappingDestroy(&cmap));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(0);
}

/* A user's shell that calls the matrix, and a matrix with the user's own product */
static PetscErrorCode WrapShell(Case *c, Mat A)
{
  Mat      S;
  PetscInt m, n;
  Vec      x, y;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateShell(c->comm, m, n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))ShellMult));
  PetscCall(MatCreateVecs(S, &x, &y));
  PetscCall(VecFill(x, 2));
  for (PetscInt round = 0; round < 2; round++) {
    PetscCall(MatMult(S, x, y));
    PetscCall(RecordVec(c, "shell", y));
    PetscCall(MatScale(S, 2));
    PetscCall(MatMult(S, x, y));
    PetscCall(RecordVec(c, "scaled shell", y));
    PetscCall(Refill(A, KIND(c), round));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(0);
}

/* Counted, composed, named: what PETSc keeps with every object */
static PetscErrorCode WrapObject(Case *c, Mat A)
{
  Mat         B;
  PetscObject found;
  const char *name;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  B = A;
  PetscCall(MatDestroy(&B));
  PetscCall(PetscObjectSetName((PetscObject)A, "named"));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(PetscObjectCompose((PetscObject)A, "friend", (PetscObject)B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(RecordMat(c, "as aij", A));
  PetscCall(MatConvert(A, c->root, MAT_INPLACE_MATRIX, &A));
  PetscCall(PetscObjectQuery((PetscObject)A, "friend", &found));
  PetscCall(RecordMat(c, "friend", (Mat)found));
  PetscCall(PetscObjectGetName((PetscObject)A, &name));
  PetscCall(RecordText(c, "name", name));
  PetscFunctionReturn(0);
}

/* Sizes of blocks set where the matrix allows it */
static PetscErrorCode WrapBlockSizes(Case *c, Mat A)
{
  Mat      B;
  PetscInt bs, rbs, cbs;

  PetscFunctionBegin;
  PetscCall(MatSetBlockSizes(A, c->kind == BLOCK ? 3 : 1, c->kind == BLOCK ? 3 : 1));
  PetscCall(MatCreate(c->comm, &B));
  PetscCall(MatSetSizes(B, 6, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(B, c->root));
  PetscCall(MatSetBlockSizes(B, 3, 2));
  PetscCall(MatSeqAIJSetPreallocation(B, 4, NULL));
  PetscCall(MatMPIAIJSetPreallocation(B, 4, NULL, 4, NULL));
  PetscCall(MatGetBlockSizes(B, &rbs, &cbs));
  PetscCall(MatGetBlockSize(B, &bs));
  PetscCall(RecordInts(c, "block sizes", 3, (PetscInt[]){bs, rbs, cbs}));
  for (PetscInt block = 2 * c->rank; block < 2 * c->rank + 2; block++)
    PetscCall(MatSetValuesBlocked(B, 1, &block, 1, &block, (PetscScalar[]){1, 2, 3, 4, 5, 6}, INSERT_VALUES));
  PetscCall(Assemble(B));
  PetscCall(RecordMat(c, "3 by 2 blocks", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static const Operation wrap_operations[] = {
  {"virtual_transpose", WrapVirtual, ALL, "t"},
  {"virtual_hermitian_transpose", WrapVirtual, ALL, "h"},
  {"virtual_normal", WrapVirtual, FEW, "n"},
  {"virtual_normal_hermitian", WrapVirtual, FEW, "m"},
  {"virtual_maij", WrapVirtual, ALL, "k"},
  {"nest", WrapNest, FEW, NULL},
  {"lrc", WrapLRC, FEW, NULL},
  {"composite_additive", WrapComposite, FEW, "a"},
  {"composite_multiplicative", WrapComposite, BIT(SQUARE) | BIT(SYM), "m"},
  {"composite_merge", WrapComposite, FEW, "g"},
  {"schur_complement", WrapSchur, BIT(SQUARE) | BIT(BLOCK), NULL},
  {"is_local_matrix", WrapIS, BIT(SQUARE), NULL},
  {"shell", WrapShell, FEW, NULL},
  {"object", WrapObject, FEW, NULL},
  {"block_sizes", WrapBlockSizes, FEW, NULL},
};
