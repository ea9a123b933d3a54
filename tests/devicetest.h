/*
  devicetest.h - for test programs that ask for a device by name: -skip_without_device asks first whether there is one
*/
#pragma once
#include <petscspmv.h>

static PetscBool NoDevice;

static PetscErrorCode NoDeviceHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode ierr, PetscErrorType type, const char *message, void *context)
{
  if (type == PETSC_ERROR_INITIAL && strstr(message, "this machine has none")) NoDevice = PETSC_TRUE;
  else if (!NoDevice) return PetscTraceBackErrorHandler(comm, line, function, file, ierr, type, message, context);
  return ierr;
}

/*
  Whether a product is refused, by some process, because the device asked for with -spmv_device is missing; then the test is skipped, and
  says so. Collective
*/
static PetscErrorCode DeviceIsMissing(PetscBool *missing)
{
  PetscBool      asked;
  PetscErrorCode ierr;
  Mat            A;
  Vec            x = NULL, y = NULL;

  PetscFunctionBegin;
  *missing = PETSC_FALSE;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-skip_without_device", &asked));
  if (!asked) PetscFunctionReturn(0);
  PetscCall(PetscOptionsSetValue(NULL, "-skip_mat_spmv_backend", "device")); /* whatever the test's own matrices have */
  PetscCall(PetscOptionsSetValue(NULL, "-skip_mat_spmv_build_after", "0"));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetOptionsPrefix(A, "skip_"));
  PetscCall(MatSetSizes(A, 1, 1, 1, 1));
  PetscCall(MatSetType(A, MATBCCOO));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscPushErrorHandler(NoDeviceHandler, NULL));
  ierr = MatCreateVecs(A, &x, &y); /* on the device already */
  if (!ierr) ierr = VecSet(x, 1);
  if (!ierr) ierr = MatMult(A, x, y);
  PetscCall(PetscPopErrorHandler());
  if (!NoDevice) PetscCall(ierr);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, "-skip_mat_spmv_backend"));
  PetscCall(PetscOptionsClearValue(NULL, "-skip_mat_spmv_build_after"));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &NoDevice, 1, MPIU_BOOL, MPI_LOR, PETSC_COMM_WORLD));
  *missing = NoDevice;
  if (NoDevice) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SKIP: there is no device; install pocl-opencl-icd\n"));
  PetscFunctionReturn(0);
}
