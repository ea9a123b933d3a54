static const char help[] =
  "Two processes under -log_sync, one multiplied by AIJ's kernels, the other by ours: what one waits for, the other does, too.\n\
  -type <bccoo>  the type under test\n\n";

#include <petscspmv.h>

#define ROWS 30

/* A row of up to 5 entries, with columns of both processes */
static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 20, INSERT_VALUES));
    for (PetscInt k = 1; k < 5; k++) PetscCall(MatSetValue(*A, i, (i + 7 * k) % ROWS, k - i % 4, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* All that a block of one process has a part in. Numbers are small integers but for the sweep's */
static PetscErrorCode Use(Mat A, Vec results[6])
{
  Vec      x, y;
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(VecSetValue(x, i, i % 5 - 2, INSERT_VALUES));
    PetscCall(VecSetValue(y, i, i % 3, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  for (int k = 0; k < 6; k++) PetscCall(VecDuplicate(y, &results[k]));
  PetscCall(MatMult(A, x, results[0]));
  PetscCall(MatMultTranspose(A, x, results[1]));
  PetscCall(MatMultAdd(A, x, y, results[2]));
  PetscCall(MatMultTransposeAdd(A, x, y, results[3]));
  PetscCall(VecCopy(y, results[4]));
  PetscCall(MatMultTransposeAdd(A, x, results[4], results[4]));
  PetscCall(MatSOR(A, x, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, results[5]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char        type[64] = MATBCCOO;
  PetscMPIInt rank;
  PetscReal   error, worst = 0;
  Mat         A, B;
  Vec         ours[6], theirs[6];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_build_after", rank ? "1000" : "0"));
  PetscCall(Create(type, &A));
  PetscCall(Create(MATAIJ, &B));
  for (int round = 0; round < 3; round++) {
    PetscCall(Use(A, ours));
    PetscCall(Use(B, theirs));
    for (int k = 0; k < 6; k++) {
      PetscCall(VecAXPY(ours[k], -1, theirs[k]));
      PetscCall(VecNorm(ours[k], NORM_INFINITY, &error));
      worst = PetscMax(worst, error);
      PetscCall(VecDestroy(&ours[k]));
      PetscCall(VecDestroy(&theirs[k]));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, worst < 100 * PETSC_MACHINE_EPSILON ? "as aij\n" : "off by %g\n", (double)worst));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: 2
    args: -type {{FORMATS spmv}} -log_sync -log_view ascii:/dev/null
    output_file: output/mat_sync.out

TEST*/
