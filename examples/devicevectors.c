/*
  devicevectors.c - vectors that stay on the device: the power method, with nothing but products, norms and scalings

      ./devicevectors -dll_append libpetscspmv.so -mat_type spmv -mat_spmv_backend device -spmv_device_view

  MatCreateVecs() gives vectors that fit the matrix: of type accel where a device runs the products. VecDuplicate() and all that
  a Krylov method makes from them are the same. Reading single entries would bring the vector back to the host.
*/
static const char help[] = "The largest eigenvalue of a Laplacian, by the power method.\n\n";

#include <petscmat.h>

int main(int argc, char **argv)
{
  Mat       A;
  Vec       x, y;
  VecType   type;
  PetscInt  n    = 1000, first, end;
  PetscReal norm = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt r = first; r < end; r++) {
    PetscCall(MatSetValue(A, r, r, 2, INSERT_VALUES));
    if (r) PetscCall(MatSetValue(A, r, r - 1, -1, INSERT_VALUES));
    if (r < n - 1) PetscCall(MatSetValue(A, r, r + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));

  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  for (int k = 0; k < 200; k++) {
    PetscCall(VecNormalize(x, NULL));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecSwap(x, y));
  }
  PetscCall(VecGetType(x, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "vectors of type %s: eigenvalue %.4f\n", type, (double)norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  return PetscFinalize();
}
