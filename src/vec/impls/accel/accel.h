/*
  accel.h - the type VECACCEL, shared by the files of this folder

  accel.c     the type: created, duplicated, destroyed; which operations it has
  views.c     host array and device buffer: what is moved, and when
  others.c    buffers for matrices: of our vectors, and of PETSc's own for CUDA
  lend.c      arrays placed, local vectors, subvectors: vectors that share their entries
  use.c       the vectors of one operation: whether kernels run it, the launch
  entries.c   operations entry by entry
  sums.c      sums, norms, maxima
  vec.cl      the kernels

  To a PETSc that was not built for devices these are vectors on the host, which copy when they are asked for their array. Kernels
  run the operations. PETSc's own operation on the host array serves where there is no device, where the device is out of memory,
  while somebody holds the array for writing, and where there is no kernel. Results are right each way.
*/
#pragma once
#include "../../vecaccel.h"
#include <petsc/private/vecimpl.h>
#include <petscspmv.h>
#include "../../../device/device.h"

#define VEC_MANY    8   /* vectors that a kernel takes besides the first: MANY of vec.cl */
#define VEC_RESULTS 256 /* sums that are kept on the device until they are fetched together, at most: RESULTS of vec.cl */

/* VecAccel: what a vector of this type has besides PETSc's own data */
typedef struct {
  SpmvDevice           *device;           /* NULL: there is none, PETSc's operations serve */
  const struct _VecOps *host;             /* PETSc's operations for vectors on the host */
  void                 *buffer;           /* NULL: not made yet, or out of memory */
  PetscBool             onhost, ondevice; /* where the values are, one side at least */
  PetscBool             uniform;          /* all entries are `value`, by VecSet() on the device, wherever else they are */
  PetscScalar           value;
  PetscBool             bound;            /* VecBindToCPU() */
  PetscInt              readers, writers; /* host arrays handed out */

  PetscInt  placed_readers, placed_writers; /* of the array below a placed one */
  PetscBool lent;                           /* array and buffer are another vector's (VecGetLocalVector()) */
  void     *own;                            /* the buffer that it had before; its own values are in its own array */

  PetscBool        sub;       /* it is a subvector */
  PetscObjectState sub_state; /* its state when it was made */
  PetscInt         sub_start; /* if it is contiguous: where it begins in the whole vector, local */
} VecAccel;

/* VecUse: the vectors of an operation, of our type and others */
#define VEC_USE_MAX (VEC_MANY + 1)
typedef struct {
  PetscInt    n;
  Vec         vec[VEC_USE_MAX];
  int         access[VEC_USE_MAX];
  PetscInt    same[VEC_USE_MAX]; /* the first place of this vector */
  void       *buffer[VEC_USE_MAX];
  PetscBool   sent[VEC_USE_MAX]; /* the buffer was made for this operation */
  uint64_t    entries;           /* local ones, of the shortest vector */
  size_t      groups;            /* work groups with a work item for each entry */
  SpmvDevice *device;
  PetscBool   run;  /* the kernels are to be run; in the end: they were */
  PetscBool   last; /* the work group of a sum that ends last adds up what all have (LAST of vec.cl): there is no second kernel */
} VecUse;

/* VecGive: an argument of a kernel */
typedef struct {
  const void *value;
  size_t      size;
} VecGive;
#define VEC_GIVE(variable) ((VecGive){&(variable), sizeof(variable)})

/* Launches a kernel. Its arguments: nbuffers buffers of `use`, the first one in place of those it has not, then VEC_GIVE()s */
#define VecUseLaunch(use, kernel, groups, nbuffers, ...) \
  VecUseRun(use, kernel, groups, nbuffers, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(((const VecGive[]){__VA_ARGS__})), \
            (const VecGive[]){__VA_ARGS__})

/* accel.c */
extern PetscLogEvent  VecToDevice, VecFromDevice;
extern PetscErrorCode VecAccelWarn(SpmvDevice *device, PetscInt n);
extern VecAccel      *VecAccelOf(Vec v);

/* views.c */
extern PetscErrorCode VecAccelToHost(Vec v, VecAccel *a);
extern PetscErrorCode VecAccelToDevice(Vec v, VecAccel *a, PetscBool keep, void **buffer);
extern PetscErrorCode VecAccelWritten(Vec v, VecAccel *a);
extern PetscErrorCode VecAccelFree(Vec v, VecAccel *a);
extern void           VecAccelWrittenOnHost(VecAccel *a);
extern PetscErrorCode VecGetArray_Accel(Vec v, PetscScalar **array);
extern PetscErrorCode VecGetArrayWrite_Accel(Vec v, PetscScalar **array);
extern PetscErrorCode VecRestoreArray_Accel(Vec v, PetscScalar **array);
extern PetscErrorCode VecGetArrayRead_Accel(Vec v, const PetscScalar **array);
extern PetscErrorCode VecRestoreArrayRead_Accel(Vec v, const PetscScalar **array);
extern PetscErrorCode VecBindToCPU_Accel(Vec v, PetscBool bound);

/* Whether kernels may work on a vector: nobody holds its array for writing, and the device has not failed */
static inline PetscBool VecAccelReady(const VecAccel *a)
{
  return (PetscBool)(a->device && !a->device->failed && !a->bound && !a->writers);
}

static inline PetscScalar *VecAccelArray(Vec v)
{
  return *(PetscScalar **)v->data; /* VECHEADER begins with it */
}

/* Before several kernels and copies of an operation that begins with a vector of ours; SPMV_DESTROY_BY(SpmvDeviceLeave) ends
   it */
static inline PetscErrorCode VecAccelEnter(Vec v, SpmvDevice **entered)
{
  const VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  if (VecAccelReady(a)) PetscCall(SpmvDeviceEnter(a->device, entered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* others.c */
extern PetscErrorCode VecMayBorrow(Vec v, PetscBool *may);

/* lend.c */
extern PetscErrorCode VecPlaceArray_Accel(Vec v, const PetscScalar *array);
extern PetscErrorCode VecResetArray_Accel(Vec v);
extern PetscErrorCode VecReplaceArray_Accel(Vec v, const PetscScalar *array);
extern PetscErrorCode VecCreateLocalVector_Accel(Vec v, Vec *w);
extern PetscErrorCode VecGetLocalVector_Accel(Vec v, Vec w);
extern PetscErrorCode VecRestoreLocalVector_Accel(Vec v, Vec w);
extern PetscErrorCode VecGetLocalVectorRead_Accel(Vec v, Vec w);
extern PetscErrorCode VecRestoreLocalVectorRead_Accel(Vec v, Vec w);
extern PetscErrorCode VecGetSubVector_Accel(Vec x, IS is, Vec *y);
extern PetscErrorCode VecRestoreSubVector_Accel(Vec x, IS is, Vec *y);

/* use.c */
extern PetscErrorCode VecUseBegin(VecUse *use, PetscInt n, const Vec vec[], PetscInt written, PetscBool keep);
extern PetscErrorCode VecUseRun(VecUse *use, const char kernel[], size_t groups, PetscInt nbuffers, PetscInt nargs,
                                const VecGive args[]);
extern PetscErrorCode VecUseEnd(VecUse *use, PetscInt flops);
extern PetscErrorCode VecCopyRange(Vec y, PetscInt to, Vec x, PetscInt from, PetscBool keep, PetscBool kernels);
extern PetscErrorCode VecUseReset(void);

/* entries.c */
extern PetscErrorCode VecSetOps_Entries(Vec v);

/* sums.c */
extern PetscErrorCode VecSetOps_Sums(Vec v);
extern PetscErrorCode VecSumsReset(void);
