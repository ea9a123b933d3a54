/*
  devicetest.h - for test programs that ask for a device by name: -skip_without_device asks first whether there is one, and
  whether the format has kernels for it
*/
#pragma once
#include <petscspmv.h>

static PetscMPIInt NoDevice; /* 1: there is none; 2: the format has no kernels for it */

static PetscErrorCode NoDeviceHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode ierr,
                                      PetscErrorType type, const char *message, void *context)
{
  if (type == PETSC_ERROR_INITIAL && strstr(message, "this machine has none")) NoDevice = 1;
  else if (type == PETSC_ERROR_INITIAL && strstr(message, "has no kernels for devices")) NoDevice = 2;
  else if (!NoDevice) return PetscTraceBackErrorHandler(comm, line, function, file, ierr, type, message, context);
  return ierr;
}

/*
  Whether a product of a matrix of the type asked for with -type is refused, by some process, because the device asked for with
  -spmv_device or its kernels are missing; then the test is skipped, and says so. Collective
*/
static PetscErrorCode DeviceIsMissing(PetscBool *missing)
{
  PetscBool      asked;
  char           type[64] = MATBCCOO;
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
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(MatSetType(A, type));
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
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &NoDevice, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  *missing = (PetscBool)(NoDevice > 0);
  if (NoDevice)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "SKIP: %s\n",
                  NoDevice == 1 ? "there is no device; install pocl-opencl-icd" : "the format has no kernels for devices"));
  PetscFunctionReturn(0);
}
