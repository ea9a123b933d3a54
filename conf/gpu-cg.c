static char help[] = "Conjugate gradients with a Jacobi preconditioner for the 7-point Laplacian of a cube, a fixed number of iterations: seconds "
                     "of one. Matrix and vectors are of the types that the options say; a PETSc built with CUDA has -mat_type "
                     "aijcusparse beside ours.\n\n";

#include <petscksp.h>
#include <petsctime.h>

int main(int argc, char **argv)
{
  PetscInt       n = 100, its = 200, row = 0;
  PetscLogDouble start, end, best = 1e30;
  PetscReal      norm;
  Vec            x, b;
  Mat            A;
  KSP            ksp;
  PC             pc;
  MatType        type;
  VecType        vec;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-its", &its, NULL));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n * n * n, n * n * n, n * n * n, n * n * n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 7, NULL));
  for (PetscInt z = 0; z < n; z++) {
    for (PetscInt y = 0; y < n; y++) {
      for (PetscInt w = 0; w < n; w++, row++) {
        const PetscInt at[3] = {w, y, z}, stride[3] = {1, n, n * n};

        PetscCall(MatSetValue(A, row, row, 6, INSERT_VALUES));
        for (int d = 0; d < 3; d++) {
          if (at[d] > 0) PetscCall(MatSetValue(A, row, row - stride[d], -1, INSERT_VALUES));
          if (at[d] < n - 1) PetscCall(MatSetValue(A, row, row + stride[d], -1, INSERT_VALUES));
        }
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-50, 1e-50, PETSC_DEFAULT, its));
  PetscCall(KSPSetFromOptions(ksp));
  for (int k = 0; k < 4; k++) { /* the first one makes storages and buffers */
    PetscCall(PetscTime(&start));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecNorm(x, NORM_2, &norm)); /* waits for a device */
    PetscCall(PetscTime(&end));
    if (k) best = PetscMin(best, end - start);
  }
  PetscCall(MatGetType(A, &type));
  PetscCall(VecGetType(x, &vec));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "cg,%s,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.9g,%.15g\n", type, vec, n * n * n, its,
                        (double)(best / its), (double)norm));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(PetscFinalize());
  return 0;
}
