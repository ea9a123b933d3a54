/*
  convert.c - a matrix of a program's own becomes one of ours, by MatConvert(), and says what was built for it

      mpicc convert.c -o convert $(pkg-config --cflags --libs petscspmv PETSc)
      ./convert -n 300
*/
static const char help[] = "A Laplacian on a square is multiplied as aij and as spmv.\n\n";

#include <petscspmv.h>

/* Five points on a square of n x n; rows are set in the usual way */
static PetscErrorCode Laplacian(PetscInt n, Mat *A)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 2, NULL, A));
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
  Mat        A;
  Vec        x, y, z;
  PetscInt   n = 300;
  PetscReal  norm, difference;
  SpmvCounts counts;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(Laplacian(n, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y)); /* by aij's kernel */

  PetscCall(MatConvert(A, MATSPMV, MAT_INPLACE_MATRIX, &A));
  for (int k = 0; k < 20; k++) PetscCall(MatMult(A, x, z)); /* a storage is chosen after -mat_spmv_build_after */
  PetscCall(MatSpmvGetCounts(A, &counts));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_2, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt64_FMT " products by aij's kernel, then %" PetscInt64_FMT " by what was chosen\n",
                        counts.deferred, counts.products + counts.aij));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the same up to rounding: %s\n", difference < 1e-12 * norm ? "yes" : "no"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  return PetscFinalize();
}
