static const char help[] = "-spmv_summary: products, sweeps and solves of a few matrices are counted, by whose kernel.\n\n";

#include <petscksp.h>

/* A grid of n x n points, as a matrix of a type that is chosen by its prefix */
static PetscErrorCode Create(const char prefix[], PetscInt n, Mat *A)
{
  PetscInt first, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, "bccoo"));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt r = first; r < end; r++) {
    PetscCall(MatSetValue(*A, r, r, 4, INSERT_VALUES));
    if (r % n) PetscCall(MatSetValue(*A, r, r - 1, -1, INSERT_VALUES));
    if (r % n < n - 1) PetscCall(MatSetValue(*A, r, r + 1, -1, INSERT_VALUES));
    if (r >= n) PetscCall(MatSetValue(*A, r, r - n, -1, INSERT_VALUES));
    if (r < n * (n - 1)) PetscCall(MatSetValue(*A, r, r + n, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const prefixes[] = {"first_", "second_", "second_"};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int k = 0; k < 3; k++) { /* the last two are alike: one line */
    Mat A;
    Vec x, y;
    KSP ksp;
    PC  pc;

    PetscCall(Create(prefixes[k], k ? 20 : 30, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    for (int i = 0; i < 50; i++) PetscCall(MatMult(A, x, y));
    for (int i = 0; i < 10; i++) PetscCall(MatMultTranspose(A, x, y));
    for (int i = 0; i < 7; i++)
      PetscCall(MatSOR(A, y, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOptionsPrefix(ksp, prefixes[k]));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCBJACOBI));
    for (int i = 0; i < 9; i++) PetscCall(KSPSolve(ksp, y, x));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # each line with the matrix that it is of; times order them
  testset:
    args: -spmv_summary
    filter: awk "/^  [a-z].*, type/ { of = \$0 } /^    (products|sweeps|solves)/ { print of, \$1, \$2, \$4, \$11, \$13 }" | sed "s, [a-z_]*=.*,," | sort
    test:
      suffix: 1
      nsize: {{1 2}separate output}

TEST*/
