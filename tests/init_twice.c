static const char help[] = "PETSc is initialised and finalised twice: the library is loaded again and remembers nothing.\n\n";

#include "devicetest.h"

static PetscErrorCode Run(PetscInt64 *products)
{
  PetscErrorCode (*getcounts)(Mat, SpmvCounts *);
  SpmvCounts counts;
  Mat        A;
  Vec        x, y;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 10, 10));
  PetscCall(MatSetType(A, MATBCCOO));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(A, 2));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int k = 0; k < 20; k++) PetscCall(MatMult(A, x, y));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetCounts_C", &getcounts));
  PetscCall((*getcounts)(A, &counts));
  *products = counts.products;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt64 products[2] = {0, 0};
  PetscBool  missing     = PETSC_FALSE;

  MPI_Init(&argc, &argv); /* MPI itself can be initialised once only */
  for (int k = 0; k < 2 && !missing; k++) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(DeviceIsMissing(&missing));
    if (!missing) {
      PetscCall(Run(&products[k]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time %d: products %" PetscInt64_FMT "\n", k, products[k]));
    }
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return missing || (products[0] && products[0] == products[1]) ? 0 : 1;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0 -citations
    filter: grep -E "^time|SpMV|^SKIP"
    test:
      suffix: 1
    test:
      suffix: 2
      nsize: 2
    test: # the device is closed and opened again
      suffix: device
      args: -mat_spmv_backend device -spmv_device opencl -skip_without_device
      output_file: output/init_twice_1.out

TEST*/
