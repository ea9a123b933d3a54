static const char help[] = "The same bits each time: products, transposed products, sweeps and solves of one matrix, over and "
                           "over, with storages built anew in "
                           "between.\n\n-type T, -repeats N\n\n";

#include "devicetest.h"

#define NODES 22 /* of an edge of a cube: so many rows that threads share a product */

/* Two unknowns a node, coupled with those of the 7 nodes around; values that are no multiples of each other */
static PetscErrorCode Create(MatType type, Mat *A)
{
  const PetscInt n = NODES * NODES * NODES, step[] = {0, -1, 1, -NODES, NODES, -NODES * NODES, NODES * NODES};
  PetscInt       first, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 2 * n, 2 * n));
  PetscCall(MatSetBlockSize(*A, 2));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 14, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 14, NULL, 14, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt r = first; r < end; r++) {
    for (int s = 0; s < 7; s++) {
      for (PetscInt c = 2 * (r / 2 + step[s]); c < 2 * (r / 2 + step[s]) + 2; c++) {
        if (c < 0 || c >= 2 * n) continue;
        PetscCall(
          MatSetValue(*A, r, c, r == c ? 30 + PetscSinReal((PetscReal)r) : -1 - PetscCosReal((PetscReal)(r + c)), INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

typedef enum { PRODUCT, TRANSPOSED, SWEEP, SOLVE, WORKS } Work;
static const char *const Names[WORKS] = {"a product", "a transposed product", "a sweep", "a solve"};

static PetscErrorCode Run(Work work, Mat A, Mat F, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecSet(y, work == SWEEP ? 0 : 1e300));
  if (work == PRODUCT) PetscCall(MatMult(A, x, y));
  else if (work == TRANSPOSED) PetscCall(MatMultTranspose(A, x, y));
  else if (work == SWEEP)
    PetscCall(MatSOR(A, x, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, y));
  else PetscCall(MatSolve(F, x, y));
  PetscFunctionReturn(0);
}

/* ILU(0) of A, where one process has it as a whole */
static PetscErrorCode Factor(Mat A, Mat *F)
{
  MatFactorInfo info;
  IS            rows, columns;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(A, "petscspmv", MAT_FACTOR_ILU, F));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatILUFactorSymbolic(*F, A, rows, columns, &info));
  PetscCall(MatLUFactorNumeric(*F, A, &info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char        type[64] = "spmv";
  PetscInt    repeats = 20, n, differ = 0;
  PetscMPIInt size;
  PetscBool   missing;
  Mat         A, F = NULL;
  Vec         x, y, first[WORKS];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) goto end;
  PetscCall(Create(type, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecGetLocalSize(y, &n));
  for (int w = 0; w < WORKS; w++) PetscCall(VecDuplicate(y, &first[w]));
  for (PetscInt k = 0; k < repeats; k++) {
    if (k % 10 == 0) { /* all is built anew */
      Mat B;

      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&F));
      A = B;
      if (size == 1) PetscCall(Factor(A, &F));
    }
    for (int w = 0; w < WORKS; w++) {
      const PetscScalar *a, *b;
      PetscBool          same;

      if (w == SOLVE && !F) continue;
      PetscCall(Run((Work)w, A, F, x, k ? y : first[w]));
      if (!k) continue;
      PetscCall(VecGetArrayRead(y, &a));
      PetscCall(VecGetArrayRead(first[w], &b));
      PetscCall(PetscMemcmp(a, b, (size_t)n * sizeof(*a), &same));
      PetscCall(VecRestoreArrayRead(y, &a));
      PetscCall(VecRestoreArrayRead(first[w], &b));
      if (same) continue;
      if (!differ++) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s number %d has other bits than the first\n", Names[w], (int)k));
    }
  }
  for (int w = 0; w < WORKS; w++) PetscCall(VecDestroy(&first[w]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
end:
  PetscCall(PetscFinalize());
  return differ ? 1 : 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0
    output_file: output/mat_repeat.out
    test:
      suffix: threads
      args: -type {{FORMATS spmv}} -mat_spmv_threads 2
    test:
      suffix: long
      nsize: {{1 2}}
      args: -type {{FORMATS spmv}} -mat_spmv_threads {{1 2 4}} -repeats 100
      timeoutfactor: 3
    test:
      suffix: device
      args: -type {{DEVICE_FORMATS spmv}} -mat_spmv_backend device -spmv_device opencl -skip_without_device -repeats 10
      filter: grep -v Warning

TEST*/
