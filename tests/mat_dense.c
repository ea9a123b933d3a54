static const char help[] =
  "Products with dense matrices: C = A B and C = A^T B column by column against MatMult(); kernels counted.\n\
  -type <bccoo>  the type under test\n\n";

#include "counts.h"
#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */

static PetscInt failures;

/* 61 rows, about five entries a row, some rows empty; `shift` moves the pattern */
static PetscErrorCode Fill(Mat A, PetscInt shift)
{
  PetscInt start, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &n));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt r = start; r < end; r++) {
    for (PetscInt k = 0; k < r % 6; k++) {
      const PetscInt    c = (r + k * k * 7 + shift) % n;
      const PetscScalar v = 1 + (PetscReal)((r * 13 + c * 7) % 11) / 8;

      PetscCall(MatSetValues(A, 1, &r, 1, &c, &v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Columns(Mat A, PetscInt64 *columns)
{
  SpmvCounts counts;

  PetscFunctionBegin;
  PetscCall(Counts(A, &counts));
  *columns = counts.columns;
  PetscFunctionReturn(0);
}

/* Column c of C must be op(A) times column c of B */
static PetscErrorCode Compare(const char what[], Mat A, Mat B, Mat C, PetscBool transposed)
{
  PetscInt n;
  Vec      y;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &n));
  PetscCall(MatCreateVecs(A, transposed ? &y : NULL, transposed ? NULL : &y));
  for (PetscInt c = 0; c < n; c++) {
    Vec       b, x;
    PetscReal error, size;

    PetscCall(MatDenseGetColumnVecRead(B, c, &b));
    PetscCall((transposed ? MatMultTranspose : MatMult)(A, b, y));
    PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
    PetscCall(MatDenseGetColumnVecRead(C, c, &x));
    PetscCall(VecNorm(y, NORM_INFINITY, &size));
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_INFINITY, &error));
    PetscCall(MatDenseRestoreColumnVecRead(C, c, &x));
    if (error <= 100 * PETSC_MACHINE_EPSILON * size) continue;
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %" PetscInt_FMT " columns: column %" PetscInt_FMT " differs by %g of %g\n", what,
                          n, c, (double)error, (double)size));
  }
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* A product, again with new entries of B, again with new values of A, and again with a new pattern of A */
static PetscErrorCode Test(Mat A, PetscInt n, PetscBool transposed)
{
  const char *what = transposed ? "A^T B" : "A B";
  Mat         B, C;
  PetscInt    m, k;
  PetscInt64  before, after;
  PetscMPIInt size;
  PetscErrorCode (*const multiply)(Mat, Mat, MatReuse, PetscReal, Mat *) = transposed ? MatTransposeMatMult : MatMatMult;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetLocalSize(A, &m, &k));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, transposed ? m : k, PETSC_DECIDE, PETSC_DETERMINE, n, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(Columns(A, &before));
  PetscCall(multiply(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Compare(what, A, B, C, transposed));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(MatScale(A, 1.5));
  PetscCall(multiply(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Compare(what, A, B, C, transposed));
  PetscCall(Columns(A, &after)); /* now: with new columns PETSc makes the off-diagonal block anew, counters and all */
  PetscCall(Fill(A, n));
  PetscCall(multiply(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Compare(what, A, B, C, transposed));
  if (after - before != 2 * n * (size > 1 ? 2 : 1)) { /* two blocks in parallel */
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %" PetscInt_FMT " columns: our kernels multiplied %" PetscInt64_FMT " columns\n",
                          what, n, after - before));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(0);
}

/* Columns that other processes own, given anew by coordinates; and a state of A that only the first process has raised */
static PetscErrorCode TestState(const char type[])
{
  Mat         A, B, C;
  PetscInt    start, end, i[128], j[128];
  PetscScalar v[128];

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 60, 60));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, end - start, PETSC_DECIDE, 60, 5, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  for (PetscInt round = 0; round < 4; round++) {
    for (PetscInt k = 0; k < 2 * (end - start); k++) {
      i[k] = start + k / 2;
      j[k] = (i[k] + k % 2 * (29 + round / 2 * 7)) % 60; /* as many columns each time */
      v[k] = 1 + k % 7;
    }
    if (round % 2) {
      if (!PetscGlobalRank) PetscCall(PetscObjectStateIncrease((PetscObject)A));
    } else {
      PetscCall(MatSetPreallocationCOO(A, 2 * (end - start), i, j));
      PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
    }
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(Compare("state, A B", A, B, C, PETSC_FALSE));
    PetscCall(MatDestroy(&C));
    PetscCall(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(Compare("state, A^T B", A, B, C, PETSC_TRUE));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt columns[] = {47, 12}; /* of A: few entries for each row of B, and many */
  const PetscInt widths[]  = {1, 3, 4, 5, 8, 11, 16, 17, 40};
  char           type[64]  = MATBCCOO;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(columns); c++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 61, columns[c]));
    PetscCall(MatSetType(A, type));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, 8, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, 8, NULL, 8, NULL));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(Fill(A, 0));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(widths); k++) {
      PetscCall(Test(A, widths[k], PETSC_FALSE));
      PetscCall(Test(A, widths[k], PETSC_TRUE));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestState(type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    output_file: output/mat_dense_1.out
    args: -malloc_dump
    test:
      suffix: 1
    test:
      suffix: threads
      args: -mat_spmv_threads 3 -mat_spmv_isa scalar

TEST*/
