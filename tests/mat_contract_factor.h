/*
  mat_contract_factor.h - factorisations and relaxation
*/
#pragma once
#include "mat_contract_sub.h"

static PetscErrorCode FactorSOR(Case *c, Mat A)
{
  const MatSORType sweeps[] = {SOR_FORWARD_SWEEP,        SOR_BACKWARD_SWEEP,        SOR_SYMMETRIC_SWEEP, SOR_LOCAL_FORWARD_SWEEP,
                               SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP, SOR_EISENSTAT};
  Vec              x, b;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecFill(b, 2));
  for (int round = 0; round < 2; round++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sweeps); k++) {
      if (c->size > 1 && (k < 3 || sweeps[k] == SOR_EISENSTAT))
        continue; /* MPIAIJ sweeps over own rows only, and leaks when asked for more */
      for (PetscInt its = 1; its < 4; its++) {
        for (int zero = 0; zero < 2; zero++) {
          const MatSORType type = (MatSORType)(zero ? (sweeps[k] | SOR_ZERO_INITIAL_GUESS) : sweeps[k]);
          PetscBool        ok;

          if (sweeps[k] == SOR_EISENSTAT && !(its == 1 && zero)) continue;
          PetscCall(VecFill(x, 3));
          Try(c, "MatSOR", ok, MatSOR(A, b, its == 2 ? 1.25 : 1, type, 0, its, 1 + its % 2, x));
          if (ok) PetscCall(RecordVec(c, "MatSOR", x));
        }
      }
    }
    PetscCall(RecordProducts(c, "between", A));
    PetscCall(Refill(A, KIND(c), 3));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordSolves(Case *c, Mat A, Mat F)
{
  Vec       x, b;
  Mat       X, B;
  PetscInt  m, n;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(VecCreateMPI(c->comm, m, PETSC_DETERMINE, &b));
  if (c->size == 1) PetscCall(VecSetType(b, VECSEQ));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecFill(b, 2));
#define SOLVE(call) \
  PetscCall(VecFill(x, 3)); \
  Try(c, #call, ok, call); \
  if (ok) PetscCall(RecordVec(c, #call, x))
  SOLVE(MatSolve(F, b, x));
  SOLVE(MatSolveAdd(F, b, b, x));
  SOLVE(MatSolveTranspose(F, b, x));
  SOLVE(MatSolveTransposeAdd(F, b, b, x));
#undef SOLVE
  PetscCall(MakeDense(c, m, PETSC_DECIDE, PETSC_DETERMINE, 3, 5, &B));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatGetLocalSize(B, NULL, &n));
  Try(c, "MatMatSolve", ok, MatMatSolve(F, B, X));
  if (ok) PetscCall(RecordRows(c, "MatMatSolve", X));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

/* arg: package or "any" for the one that is found, what, ordering, fill levels, a word each */
static PetscErrorCode FactorSolve(Case *c, Mat A)
{
  int           words;
  char        **word;
  MatFactorType type = MAT_FACTOR_LU;
  MatFactorInfo info;
  IS            rows = NULL, columns = NULL;
  Mat           F       = NULL;
  MatSolverType package = NULL;
  PetscBool     available, same, ok, external;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(c->arg, ' ', &words, &word));
  for (int k = 0; k < 4; k++) {
    const char         *names[] = {"lu", "cholesky", "ilu", "icc"};
    const MatFactorType types[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

    PetscCall(PetscStrcmp(word[1], names[k], &same));
    if (same) type = types[k];
  }
  PetscCall(PetscStrcmp(word[0], "any", &same));
  if (!same) package = word[0];
  PetscCall(MatGetFactorAvailable(A, package, type, &available));
  PetscCall(RecordInt(c, "available", available));
  if (available) {
    PetscCall(MatGetFactor(A, package, type, &F));
    PetscCall(MatFactorInfoInitialize(&info));
    info.levels = word[3][0] - '0';
    info.fill   = 5;
    info.dtcol  = 0;
    PetscCall(PetscStrcmp(word[2], MATORDERINGEXTERNAL, &external));
    if (external) { /* what a package makes of no ordering at all */
      PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
    } else PetscCall(MatGetOrdering(A, word[2], &rows, &columns));
    if (c->size == 1) PetscCall(RecordIS(c, "rows", rows));
    if (type == MAT_FACTOR_LU) Try(c, "symbolic", ok, MatLUFactorSymbolic(F, A, rows, columns, &info));
    else if (type == MAT_FACTOR_CHOLESKY) Try(c, "symbolic", ok, MatCholeskyFactorSymbolic(F, A, rows, &info));
    else if (type == MAT_FACTOR_ILU) Try(c, "symbolic", ok, MatILUFactorSymbolic(F, A, rows, columns, &info));
    else Try(c, "symbolic", ok, MatICCFactorSymbolic(F, A, rows, &info));
    for (int round = 0; round < 2 && ok; round++) {
      if (type == MAT_FACTOR_LU || type == MAT_FACTOR_ILU) Try(c, "numeric", ok, MatLUFactorNumeric(F, A, &info));
      else Try(c, "numeric", ok, MatCholeskyFactorNumeric(F, A, &info));
      if (ok) PetscCall(RecordSolves(c, A, F));
      PetscCall(RecordProducts(c, "A", A));
      PetscCall(Refill(A, KIND(c), 3));
    }
    PetscCall(MatDestroy(&F));
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&columns));
  }
  PetscCall(PetscStrToArrayDestroy(words, word));
  PetscFunctionReturn(0);
}

/* The factors take the place of the matrix. arg: l LU, i ILU, c Cholesky, d ICC */
static PetscErrorCode FactorInplace(Case *c, Mat A)
{
  MatFactorInfo info;
  IS            rows, columns;
  Mat           B;
  PetscBool     ok = PETSC_FALSE;

  PetscFunctionBegin;
  if (c->size > 1) PetscFunctionReturn(0); /* sequential only */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Warm(B));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 5;
  PetscCall(MatGetOrdering(B, MATORDERINGNATURAL, &rows, &columns));
  switch (c->arg[0]) {
  case 'l': Try(c, "MatLUFactor", ok, MatLUFactor(B, rows, columns, &info)); break;
  case 'i': Try(c, "MatILUFactor", ok, MatILUFactor(B, rows, columns, &info)); break;
  case 'c': Try(c, "MatCholeskyFactor", ok, MatCholeskyFactor(B, rows, &info)); break;
  default: Try(c, "MatICCFactor", ok, MatICCFactor(B, rows, &info));
  }
  if (ok) PetscCall(RecordSolves(c, A, B));
  PetscCall(MatDestroy(&B));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

static PetscErrorCode FactorInvertBlocks(Case *c, Mat A)
{
  const PetscScalar *values;
  PetscScalar       *variable;
  PetscInt           m, bs, n, sizes[64], total = 0, squares = 0;
  const PetscInt    *given;
  Mat                inverse;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetBlockSize(A, &bs));
  for (int round = 0; round < 2; round++) {
    PetscCall(MatInvertBlockDiagonal(A, &values));
    PetscCall(RecordNumbers(c, "inverse blocks", m * bs, values));
    if (bs == 3) {
      PetscCall(MatCreate(c->comm, &inverse));
      PetscCall(MatSetType(inverse, c->root));
      PetscCall(MatInvertBlockDiagonalMat(A, inverse));
      PetscCall(RecordMat(c, "inverse blocks as a matrix", inverse));
      PetscCall(MatDestroy(&inverse));
    }
    PetscCall(Refill(A, KIND(c), 3));
  }
  for (n = 0, total = 0; total < m; n++) {
    sizes[n] = PetscMin(1 + n % 3, m - total);
    if (bs == 3) sizes[n] = 3;
    total += sizes[n];
    squares += sizes[n] * sizes[n];
  }
  PetscCall(MatSetVariableBlockSizes(A, n, sizes));
  PetscCall(MatGetVariableBlockSizes(A, &total, &given));
  PetscCall(RecordInts(c, "variable blocks", total, given));
  PetscCall(PetscMalloc1(squares + 1, &variable));
  for (int round = 0; round < 2; round++) {
    PetscCall(MatInvertVariableBlockDiagonal(A, n, sizes, variable));
    PetscCall(RecordNumbers(c, "inverse variable blocks", squares, variable));
    PetscCall(Refill(A, KIND(c), 4));
  }
  PetscCall(PetscFree(variable));
  PetscFunctionReturn(0);
}

static PetscErrorCode FactorNullSpace(Case *c, Mat A)
{
  MatNullSpace space, got;
  Vec          x, y;
  PetscBool    flag;

  PetscFunctionBegin;
  PetscCall(MatNullSpaceCreate(c->comm, PETSC_TRUE, 0, NULL, &space));
  PetscCall(MatSetNullSpace(A, space));
  PetscCall(MatSetTransposeNullSpace(A, space));
  PetscCall(MatSetNearNullSpace(A, space));
  PetscCall(MatNullSpaceTest(space, A, &flag));
  PetscCall(RecordInt(c, "null space", flag));
  PetscCall(MatGetNullSpace(A, &got));
  PetscCall(RecordInt(c, "kept", got == space));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  PetscCall(MatNullSpaceRemove(space, x));
  PetscCall(MatMult(A, x, y));
  PetscCall(RecordVec(c, "product", y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(MatConvert(A, c->root, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatGetNullSpace(A, &got));
  PetscCall(RecordInt(c, "kept after conversion", got != NULL));
  PetscFunctionReturn(0);
}

static const Operation factor_operations[] = {
  {"sor", FactorSOR, INVERTIBLE & ~BIT(NOROWS), NULL},
  {"lu_natural", FactorSolve, INVERTIBLE, "petsc lu natural 0"},
  {"lu_nd", FactorSolve, INVERTIBLE, "petsc lu nd 0"},
  {"lu_rcm", FactorSolve, INVERTIBLE, "petsc lu rcm 0"},
  {"ilu_0", FactorSolve, INVERTIBLE, "petsc ilu natural 0"},
  {"ilu_1", FactorSolve, INVERTIBLE, "petsc ilu natural 1"},
  {"ilu_2_rcm", FactorSolve, INVERTIBLE, "petsc ilu rcm 2"},
  {"ilu_0_any", FactorSolve, INVERTIBLE, "any ilu natural 0"},
  {"ilu_2_rcm_any", FactorSolve, INVERTIBLE, "any ilu rcm 2"},
  {"cholesky", FactorSolve, BIT(SYM) | BIT(DIAG), "petsc cholesky natural 0"},
  {"cholesky_nd", FactorSolve, BIT(SYM) | BIT(DIAG), "petsc cholesky nd 0"},
  {"icc_0", FactorSolve, BIT(SYM) | BIT(DIAG), "petsc icc natural 0"},
  {"icc_2", FactorSolve, BIT(SYM) | BIT(DIAG), "petsc icc natural 2"},
  {"icc_0_any", FactorSolve, BIT(SYM) | BIT(DIAG), "any icc natural 0"},
  {"icc_2_nd_any", FactorSolve, BIT(SYM) | BIT(DIAG), "any icc nd 2"},
  {"bas", FactorSolve, BIT(SYM), "bas icc natural 0"},
  {"mumps", FactorSolve, INVERTIBLE, "mumps lu external 0"},
  {"mumps_cholesky", FactorSolve, BIT(SYM) | BIT(DIAG), "mumps cholesky external 0"},
  {"superlu", FactorSolve, INVERTIBLE, "superlu lu external 0"},
  {"superlu_dist", FactorSolve, BIT(SQUARE) | BIT(BLOCK), "superlu_dist lu external 0"},
  {"umfpack", FactorSolve, INVERTIBLE, "umfpack lu external 0"},
  {"klu", FactorSolve, INVERTIBLE, "klu lu external 0"},
  {"cholmod", FactorSolve, BIT(SYM) | BIT(DIAG), "cholmod cholesky external 0"},
  {"lu_inplace", FactorInplace, INVERTIBLE, "l"},
  {"ilu_inplace", FactorInplace, INVERTIBLE, "i"},
  {"cholesky_inplace", FactorInplace, BIT(SYM) | BIT(DIAG), "c"},
  {"icc_inplace", FactorInplace, BIT(SYM) | BIT(DIAG), "d"},
  {"invert_block_diagonal", FactorInvertBlocks, BIT(SQUARE) | BIT(BLOCK) | BIT(SYM), NULL},
  {"null_space", FactorNullSpace, BIT(SQUARE) | BIT(BLOCK), NULL},
};
