/*
  operation.c - what is timed: -operation

  product    y = A x
  transpose  x = A^T y
  refresh    y = A x after the values have changed: what it takes longer than a product is what a refresh costs
  kernels    y = A x with x and y on the device, where they are not sent and received; types of the host: a product
  columns:N  Y = A X, N columns at a time, dense, by columns
  sor        a Gauss-Seidel sweep forwards and one backwards, from x = 0, as PCSOR makes them in a multigrid smoother
  ilu, icc   a solve with incomplete factors of level 0, made by the package that a preconditioner takes by default
*/
#include "spmvbench.h"
#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */
#include <stdlib.h>
#include <string.h>

static const char *const BenchOperationNames[] = {"product", "transpose", "refresh", "kernels", "sor", "ilu", "icc", "columns"};

/* Takes a user's word for it */
PetscErrorCode BenchOperationParse(const char word[], BenchRun *run)
{
  const char  *number = strchr(word, ':');
  const size_t length = number ? (size_t)(number - word) : strlen(word);
  int          k      = 0;
  char        *end    = NULL;

  PetscFunctionBegin;
  while (k <= BENCH_COLUMNS && (strlen(BenchOperationNames[k]) != length || strncmp(word, BenchOperationNames[k], length))) k++;
  run->columns = number ? (PetscInt)strtol(number + 1, &end, 10) : 0;
  PetscCheck(k <= BENCH_COLUMNS && (k == BENCH_COLUMNS ? number && !*end && run->columns > 0 : !number), PETSC_COMM_SELF,
             PETSC_ERR_USER_INPUT,
             "-operation %s is not one that can be timed; set it to product, transpose, refresh, kernels, sor, ilu or icc, or to "
             "columns:N with N > 0",
             word);
  run->operation = (BenchOperation)k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The dense matrices of columns:N, each type its own, as programs have them */
static PetscErrorCode BenchColumnsCreate(const BenchMatrix *M, const BenchRun *run, Vec x, BenchType *t)
{
  Mat X;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, M->n, run->columns, NULL, &X));
  for (PetscInt c = 0; c < run->columns; c++) {
    Vec column;

    PetscCall(MatDenseGetColumnVecWrite(X, c, &column));
    PetscCall(VecCopy(x, column));
    PetscCall(MatDenseRestoreColumnVecWrite(X, c, &column));
  }
  PetscCall(MatMatMult(t->A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &t->Y));
  PetscCall(MatDestroy(&X)); /* the product keeps it */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of ilu or icc: what a preconditioner makes with its own options as they are by default */
static PetscErrorCode BenchFactorCreate(const BenchRun *run, BenchType *t)
{
  const MatFactorType kind = run->operation == BENCH_ICC ? MAT_FACTOR_ICC : MAT_FACTOR_ILU;
  MatFactorInfo       info;
  IS                  rows, columns;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetOrdering(t->A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatGetFactor(t->A, NULL, kind, &t->Y));
  if (kind == MAT_FACTOR_ICC) {
    PetscCall(MatICCFactorSymbolic(t->Y, t->A, rows, &info));
    PetscCall(MatCholeskyFactorNumeric(t->Y, t->A, &info));
  } else {
    PetscCall(MatILUFactorSymbolic(t->Y, t->A, rows, columns, &info));
    PetscCall(MatLUFactorNumeric(t->Y, t->A, &info));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What an operation needs besides x and y */
PetscErrorCode BenchOperationSetUp(const BenchMatrix *M, const BenchRun *run, Vec x, BenchType *t)
{
  PetscFunctionBegin;
  if (run->operation == BENCH_TRANSPOSE) PetscCall(VecDuplicate(x, &t->z));
  if (run->operation == BENCH_COLUMNS) PetscCall(BenchColumnsCreate(M, run, x, t));
  if (run->operation == BENCH_ILU || run->operation == BENCH_ICC) PetscCall(BenchFactorCreate(run, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n times; on a device the next is asked for before the one before has ended */
static PetscErrorCode BenchKernels(const BenchType *t, PetscInt n, Vec x, Vec y)
{
  PetscErrorCode (*repeat)(Mat, PetscInt);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)t->A, "MatSpmvDeviceRepeat_C", &repeat));
  if (repeat) PetscCall((*repeat)(t->A, n));
  for (PetscInt k = 0; k < n && !repeat; k++) PetscCall(MatMult(t->A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchOperateOnce(const BenchRun *run, const BenchType *t, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (run->operation == BENCH_TRANSPOSE) PetscCall(MatMultTranspose(t->A, y, t->z));
  else if (run->operation == BENCH_COLUMNS) PetscCall(MatProductNumeric(t->Y));
  else if (run->operation == BENCH_SOR)
    PetscCall(MatSOR(t->A, x, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, y));
  else if (run->operation == BENCH_ILU || run->operation == BENCH_ICC) PetscCall(MatSolve(t->Y, x, y));
  else {
    if (run->operation == BENCH_REFRESH) PetscCall(PetscObjectStateIncrease((PetscObject)t->A));
    PetscCall(MatMult(t->A, x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n times */
PetscErrorCode BenchOperate(const BenchRun *run, const BenchType *t, PetscInt n, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (run->operation == BENCH_KERNELS) PetscCall(BenchKernels(t, n, x, y));
  else {
    for (PetscInt k = 0; k < n; k++) PetscCall(BenchOperateOnce(run, t, x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchOperationReset(BenchType *t)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&t->z));
  PetscCall(MatDestroy(&t->Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
