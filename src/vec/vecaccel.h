/*
  vecaccel.h - vectors that live on the device of this process: what the matrices may ask of them

  A vector of type VECACCEL has PETSc's own array on the host and a buffer of the device, made when it is first needed. Each says whether
  it has the values; what is written on one side makes the other stale. A buffer is the API's, has all local entries and begins
  with entry 0.

    SpmvVecGetDeviceRead(x, &xb);
    SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb);
    if (xb && yb) ... kernels that read xb and write yb
    SpmvVecRestoreDevice(y, written);
    SpmvVecRestoreDevice(x, PETSC_FALSE);

  What a kernel is given stays good until the vector is changed by something else than a kernel, or destroyed: fetch it for each use.
*/
#pragma once
#include "../compat.h"

extern PetscBool      SpmvVecIsAccel(Vec v);
extern PetscErrorCode SpmvVecGetDeviceRead(Vec v, void **buffer);
extern PetscErrorCode SpmvVecGetDeviceWrite(Vec v, PetscBool keep, void **buffer);
extern PetscErrorCode SpmvVecRestoreDevice(Vec v, PetscBool written);
extern PetscErrorCode SpmvVecRegister(void);
extern PetscErrorCode SpmvVecFinalize(void);
