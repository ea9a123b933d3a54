/*
  vecaccel.h - vectors that live on the device of this process: what the matrices may ask of them

  A vector of type VECACCEL has PETSc's own array on the host and a buffer of the device, made when it is first needed. Each says whether
  it has the values; what is written on one side makes the other stale. A buffer is the API's, has all local entries and begins
  with entry 0 (where there is none, it has room for one).

    if (SpmvVecIsAccel(x) && SpmvVecIsAccel(y)) {
      SpmvVecGetDeviceRead(x, &xb);
      SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb);
      if (xb && yb) ... launch kernels that read xb and write yb
      SpmvVecRestoreDevice(y, written);
      SpmvVecRestoreDevice(x, PETSC_FALSE);
    }

  A buffer is NULL where the device has no room for it (there was a warning), or somebody holds the host array for writing: the host is to
  serve. A vector is marked as written by SpmvVecRestoreDevice() only; after an error, or with PETSC_FALSE, it is as it was. What was handed
  out stays good until the vector is destroyed or shares another's entries: fetch it for each use.
*/
#pragma once
#include "../compat.h"

/* SpmvVecCounts: what became of the vectors of this process since PetscInitialize(); -spmv_device_view prints them */
typedef struct {
  PetscInt64 kernels; /* operations that kernels ran */
  PetscInt64 host;    /* operations that have kernels and that PETSc's own ran, for whatever reason */
  PetscInt64 up;      /* vectors brought to the device */
  PetscInt64 down;    /* vectors brought to the host */
  PetscInt64 sent;    /* vectors of other types sent along for one operation */
} SpmvVecCounts;
extern SpmvVecCounts SpmvVecTotals;

extern PetscBool      SpmvVecIsAccel(Vec v);
extern PetscBool      SpmvVecHostIsStale(Vec v);
extern PetscErrorCode SpmvVecGetDeviceRead(Vec v, void **buffer);
extern PetscErrorCode SpmvVecGetDeviceWrite(Vec v, PetscBool keep, void **buffer);
extern PetscErrorCode SpmvVecRestoreDevice(Vec v, PetscBool written);
extern PetscErrorCode SpmvVecInitialize(void);
extern PetscErrorCode SpmvVecFinalize(void);
extern const char    *SpmvVecSource(void);
extern PetscErrorCode SpmvVecOptions(PetscInt group, char options[], size_t size);
