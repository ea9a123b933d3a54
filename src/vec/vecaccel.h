/*
  vecaccel.h - vectors that live on the device of this process: what the matrices may ask of them

  A vector of type VECACCEL has PETSc's own array on the host and a buffer of the device, made when it is first needed. Each says whether
  it has the values; what is written on one side makes the other stale. A buffer is the API's, has all local entries and begins
  with entry 0 (where there is none, it has room for one).

    SpmvVecGetDeviceRead(x, &xb);
    SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb);
    if (xb && yb) ... launch kernels that read xb and write yb
    SpmvVecRestoreDeviceWrite(y, PETSC_FALSE, written, &yb);
    SpmvVecRestoreDeviceRead(x, &xb);

  A buffer is NULL where the vector has none: it is of a type for the host or bound to it (VecBindToCPU()), the device has no room for it (there was a
  warning), or somebody holds the host array for writing. The host is to serve then, and there is nothing to restore, though one may. A vector is marked as
  written by SpmvVecRestoreDeviceWrite() only; after an error, or with PETSC_FALSE, one of type VECACCEL is as it was. What was handed out stays
  good until the vector is destroyed or shares another's entries: fetch it for each use.

  Vectors of PETSc's own types for CUDA, VECCUDA or VECKOKKOS, say, are taken as well where their memory is that of the device of this
  process: the buffer is then what VecGetArrayAndMemType() gives. Nobody but vec/impls/accel knows the difference. A buffer of theirs may be
  NULL where there are no local entries.
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

extern PetscErrorCode SpmvVecIsDevice(Vec v, PetscBool *device);
extern PetscErrorCode SpmvVecHostIsStale(Vec v, PetscBool *stale);
extern PetscErrorCode SpmvVecGetDeviceRead(Vec v, void **buffer);
extern PetscErrorCode SpmvVecRestoreDeviceRead(Vec v, void **buffer);
extern PetscErrorCode SpmvVecGetDeviceWrite(Vec v, PetscBool keep, void **buffer);
extern PetscErrorCode SpmvVecRestoreDeviceWrite(Vec v, PetscBool keep, PetscBool written, void **buffer);
extern PetscErrorCode SpmvVecCopyLocal(Vec x, Vec y);
extern PetscErrorCode SpmvVecInitialize(void);
extern PetscErrorCode SpmvVecFinalize(void);
extern const char    *SpmvVecSource(void);
extern PetscErrorCode SpmvVecOptions(PetscInt group, char options[], size_t size);
