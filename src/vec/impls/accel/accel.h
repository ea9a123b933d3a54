/*
  accel.h - the type VECACCEL, shared by the files of this folder

  accel.c     the type: created, duplicated, destroyed; which operations it has
  views.c     host array and device buffer: what is moved, and when
  others.c    what matrices may ask of a vector on the device, ours or PETSc's own for CUDA
  lend.c      arrays placed, local vectors, subvectors: vectors that share their entries
  use.c       the vectors of one operation: where it is run, kernels launched
  entries.c   operations entry by entry
  sums.c      sums, norms, maxima of a process
  all.c       the same over all processes
  vec.cl      the kernels

  To PETSc these are vectors on the host that copy when they are asked for their array: memory of a device that it was not built for is
  none to it. An operation is run by kernels; PETSc's own operation on the host array serves where there is no device, where its memory
  has run out, while somebody holds the array for writing, and for what has no kernel. Results are right each way.
*/
#pragma once
#include "../../vecaccel.h"
#include <petsc/private/vecimpl.h>
#include <petscspmv.h>
#include "../../../device/device.h"

#define VEC_MANY 8 /* vectors that a kernel takes besides the first: MANY of vec.cl */

/* VecAccel: what a vector of this type has besides PETSc's own data. Found under VEC_ACCEL_DATA in the object */
#define VEC_ACCEL_DATA "SpmvVecAccel"
typedef struct {
  SpmvDevice           *device;           /* NULL: there is none, PETSc's operations serve */
  const struct _VecOps *host;             /* PETSc's operations for vectors on the host */
  void                 *buffer;           /* NULL: not made yet, or no room */
  PetscBool             onhost, ondevice; /* where the values are, one side at least */
  PetscBool             uniform;          /* all entries are `value`, by VecSet() on the device, wherever else they are */
  PetscScalar           value;
  PetscBool             bound;            /* VecBindToCPU() */
  PetscInt              readers, writers; /* host arrays handed out */

  PetscInt  placed_readers, placed_writers; /* of the array below a placed one */
  PetscBool lent;                           /* array and buffer are another vector's (VecGetLocalVector()) */
  void     *own;                            /* the buffer that it had before; its own values are in its own array */

  PetscObjectState sub_state; /* of a contiguous subvector, when it was made */
  PetscInt         sub_start; /* the first of its entries in the whole */
  PetscBool        sub;       /* it is one */
  PetscContainer   container; /* this */
} VecAccel;

/* What an operation does with a vector */
typedef enum { VEC_READ = 1, VEC_WRITE = 2 } VecAccess;

/* VecUse: the vectors of an operation, those of our type and others. Written ones come first and have memory of the device */
#define VEC_USE_MAX (VEC_MANY + 1)
typedef struct {
  PetscInt    n;
  Vec         vec[VEC_USE_MAX];
  int         access[VEC_USE_MAX];
  PetscInt    same[VEC_USE_MAX]; /* the first place of this vector */
  void       *buffer[VEC_USE_MAX];
  PetscBool   borrows[VEC_USE_MAX]; /* of another type, which may have memory of the device */
  PetscBool   sent[VEC_USE_MAX];    /* the buffer was made for this operation */
  SpmvDevice *device;
  PetscBool   run; /* the kernels are to be run; in the end: they were */
} VecUse;

/* VecGive: an argument of a kernel, VEC_GIVE(variable) */
typedef struct {
  const void *value;
  size_t      size;
} VecGive;
#define VEC_GIVE(v) \
  { \
    &(v), sizeof(v) \
  }
#define VEC_GIVE_MAX 24
/* A kernel with a work item for each of n entries, and its arguments; VecUseLaunchGroups: so many work groups */
#define VecUseLaunch(use, kernel, n, ...) VecUseLaunchGroups(use, kernel, VecUseGroups(use, (size_t)(n)), __VA_ARGS__)
#define VecUseLaunchGroups(use, kernel, groups, ...) \
  VecUseRun(use, kernel, groups, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(((const VecGive[]){__VA_ARGS__})), \
            (const VecGive[]){__VA_ARGS__})

/* accel.c */
extern PetscErrorCode VecDestroy_Accel(Vec v);

static inline PetscBool VecIsAccel(Vec v)
{
  return (PetscBool)(v->ops->destroy == VecDestroy_Accel);
}

/* views.c */
extern PetscErrorCode VecViewsInitialize(void);
extern PetscErrorCode VecViewsReset(void);
extern PetscErrorCode VecAccelGet(Vec v, VecAccel **accel);
extern PetscErrorCode VecAccelToHost(Vec v, VecAccel *a);
extern PetscErrorCode VecAccelToDevice(Vec v, VecAccel *a, PetscBool keep, void **buffer);
extern PetscErrorCode VecAccelWritten(Vec v, VecAccel *a);
extern PetscErrorCode VecAccelWarn(SpmvDevice *device, PetscInt n);
extern PetscErrorCode VecGetArray_Accel(Vec v, PetscScalar **array);
extern PetscErrorCode VecGetArrayWrite_Accel(Vec v, PetscScalar **array);
extern PetscErrorCode VecRestoreArray_Accel(Vec v, PetscScalar **array);
extern PetscErrorCode VecGetArrayRead_Accel(Vec v, const PetscScalar **array);
extern PetscErrorCode VecRestoreArrayRead_Accel(Vec v, const PetscScalar **array);
extern PetscErrorCode VecBindToCPU_Accel(Vec v, PetscBool bound);

/* Whether kernels may work on a vector: nobody holds its array for writing */
static inline PetscBool VecAccelReady(const VecAccel *a)
{
  return (PetscBool)(a->device && !a->bound && !a->writers);
}

static inline PetscScalar *VecAccelArray(Vec v)
{
  return *(PetscScalar **)v->data; /* VECHEADER begins with it */
}

/* others.c */
extern PetscErrorCode VecMayBorrow(Vec v, PetscBool *may);
extern PetscErrorCode VecBorrow(Vec v, int access, void **buffer);
extern PetscErrorCode VecGiveBack(Vec v, int access, void **buffer);

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
extern PetscErrorCode VecUseBegin(VecUse *use, PetscInt n, const Vec vec[], const int access[]);
extern PetscErrorCode VecUseRun(VecUse *use, const char kernel[], size_t groups, PetscInt nargs, const VecGive args[]);
extern PetscErrorCode VecUseEnd(VecUse *use);
extern PetscErrorCode VecUseCopy(Vec x, Vec y, PetscBool *done);
extern size_t         VecUseGroups(const VecUse *use, size_t items);
extern PetscErrorCode VecUseReset(void);

/* entries.c */
extern PetscErrorCode VecSetOps_Entries(Vec v);

/* sums.c */
extern PetscErrorCode VecSetOps_Sums(Vec v);
extern PetscErrorCode VecDotLocal_Accel(Vec x, Vec y, PetscScalar *z);
extern PetscErrorCode VecTDotLocal_Accel(Vec x, Vec y, PetscScalar *z);
extern PetscErrorCode VecMDotLocal_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[]);
extern PetscErrorCode VecMTDotLocal_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[]);
extern PetscErrorCode VecDotNorm2Local_Accel(Vec s, Vec t, PetscScalar sums[]);
extern PetscErrorCode VecNormParts_Accel(Vec x, NormType type, PetscReal part[]);
extern void           VecNormWhole_Accel(NormType type, PetscReal part[]);
extern PetscErrorCode VecFirstLocal_Accel(Vec x, PetscInt sign, PetscInt *place, PetscReal *value);
extern PetscErrorCode VecSumsReset(void);

/* all.c */
extern PetscErrorCode VecSetOps_All(Vec v);
