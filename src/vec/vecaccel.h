/*
  vecaccel.h - vectors that live on the device of this process: what matrices may ask of them

  A vector of type VECACCEL has PETSc's own array on the host and a buffer on the device, made when it is first needed. It knows
  which of the two have its values; writing one makes the other stale. A buffer is the API's and has all local entries.

    SpmvVecGetDevice(x, VEC_READ, &xb);
    SpmvVecGetDevice(y, VEC_WRITE, &yb);
    if (xb && yb) ... launch kernels that read xb and write yb
    SpmvVecRestoreDevice(y, VEC_WRITE, written, &yb);
    SpmvVecRestoreDevice(x, VEC_READ, PETSC_FALSE, &xb);

  The buffer is NULL where the vector has none: its type is one for the host, it is bound to the host (VecBindToCPU()), the device
  is out of memory (there was a warning), or somebody holds the host array for writing. Then the host is to do the work, and there
  is nothing to restore, though one may. Only SpmvVecRestoreDevice() with `written` marks a vector as written; without it, and
  after an error, one of type VECACCEL is as it was. A buffer is good until the vector is destroyed or shares another's entries:
  get it for each use.

  Vectors of PETSc's own types for CUDA, VECCUDA or VECKOKKOS, are taken as well where their memory is on the device of this
  process: the buffer is then what VecGetArrayAndMemType() gives, perhaps NULL if there are no local entries. Nobody but
  vec/impls/accel knows the difference.
*/
#pragma once
#include "../compat.h"

/* What is done to a vector; VEC_WRITE alone: all its entries are overwritten */
enum { VEC_READ = 1, VEC_WRITE = 2 };

/* SpmvVecCounts: what vectors of this process did since PetscInitialize(); -spmv_device_view prints it */
typedef struct {
  PetscInt64 kernels; /* operations run by kernels */
  PetscInt64 host;    /* operations that have kernels and were run by the host, for whatever reason */
  PetscInt64 up;      /* vectors moved to the device */
  PetscInt64 down;    /* vectors moved to the host */
  PetscInt64 sent;    /* vectors of other types sent to the device for one operation */
} SpmvVecCounts;
extern SpmvVecCounts SpmvVecTotals;

extern PetscErrorCode SpmvVecIsDevice(Vec v, PetscBool *device);
extern PetscErrorCode SpmvVecHostIsStale(Vec v, PetscBool *stale);
extern PetscErrorCode SpmvVecGetDevice(Vec v, int access, void **buffer);
extern PetscErrorCode SpmvVecRestoreDevice(Vec v, int access, PetscBool written, void **buffer);
extern PetscErrorCode SpmvVecCopyLocal(Vec x, Vec y);
extern PetscErrorCode SpmvVecInitialize(void);
extern PetscErrorCode SpmvVecFinalize(void);
extern const char    *SpmvVecSource(void);
extern PetscErrorCode SpmvVecOptions(PetscInt group, PetscBool last, char options[], size_t size);
