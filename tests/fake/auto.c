static const char help[] = "-mat_spmv_backend auto, with the driver that stands in for CUDA's: which matrices, and which of "
                           "their vectors, are the device's.\n\n";

#include "../spmvtest.h"
#include "device/device.h"

static int Wrong;

#define FACT(what, holds) \
  do { \
    if (!(holds)) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, #holds)); \
    Wrong += !(holds); \
  } while (0)

/* n rows of five entries */
static PetscErrorCode Create(MatType type, PetscInt n, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = PetscMax(0, i - 2); j < PetscMin(n, i + 3); j++)
      PetscCall(MatSetValue(*A, i, j, 1 + PetscSinReal((PetscReal)(i + 3 * j)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product with vectors of the Mat's choice, or of the host: who made it, where its vectors are, whether it is right */
static PetscErrorCode Product(Mat A, PetscBool host, PetscBool *device, PetscBool *there)
{
  Mat       B;
  Vec       x, y, z;
  PetscReal norm, difference;
  char      plan[1024];

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, there, "seqaccel", "mpiaccel", VECACCEL, ""));
  if (host) {
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
    PetscCall(VecSetSizes(x, A->rmap->n, A->rmap->N));
    PetscCall(VecSetType(x, VECSTANDARD));
    PetscCall(VecDuplicate(x, &y));
  }
  PetscCall(VecSet(x, 1.5));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatSpmvGetPlan(A, plan, sizeof(plan)));
  *device = (PetscBool)(strstr(plan, "device=") != NULL);
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  FACT("product", difference <= 100 * PETSC_MACHINE_EPSILON * norm);
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const types[] = {"spmv", "pmf"};
  SpmvDevice       *device;
  Mat               A;
  PetscBool         used, there;
  PetscMPIInt       size;
  PetscInt          n;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCheck(!setenv("XDG_CONFIG_HOME", "/nowhere", 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv");
  PetscCall(PetscOptionsInsertString(NULL, "-mat_spmv_backend auto -mat_spmv_build_after 0"));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(SpmvInitializePackage());
  PetscCall(SpmvDeviceGet(&device));
  device->info.units = 132; /* as many as an H100 has, so that it is clear who is faster */
  for (int t = 0; t < 2; t++) {
    PetscCall(Create(types[t], 100 * size, &A)); /* a launch takes longer */
    PetscCall(Product(A, PETSC_FALSE, &used, &there));
    FACT("small", !used && !there);
    PetscCall(MatDestroy(&A));

    n = size == 1 ? 12000 : 24000;
    PetscCall(Create(types[t], n, &A)); /* transfers take longer, launches do not */
    PetscCall(Product(A, PETSC_FALSE, &used, &there));
    FACT("middle", used && there);
    PetscCall(MatDestroy(&A));
    if (size == 1) { /* processes agree before they have vectors */
      PetscCall(Create(types[t], n, &A));
      PetscCall(Product(A, PETSC_TRUE, &used, &there));
      FACT("middle, vectors on the host", !used);
      PetscCall(Product(A, PETSC_FALSE, &used, &there)); /* the storage is there, and vectors go to it */
      FACT("middle, vectors of its choice after that", !used && !there);
      PetscCall(MatDestroy(&A));
    }

    PetscCall(PetscOptionsInsertString(NULL, "-mat_spmv_expected_calls 1"));
    PetscCall(Create(types[t], n, &A)); /* set-up takes longer */
    PetscCall(Product(A, PETSC_FALSE, &used, &there));
    FACT("one call", t ? used == there : !used && !there); /* pmf has no other format, and no AIJ, to go to */
    PetscCall(MatDestroy(&A));
    PetscCall(PetscOptionsClearValue(NULL, "-mat_spmv_expected_calls"));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &Wrong, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d facts wrong\n", Wrong));
  PetscCall(PetscFinalize());
  return 0;
}
