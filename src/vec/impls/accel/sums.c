/*
  sums.c - sums, norms and maxima: of the entries of one process, and of all processes, added up as PETSc does

  Kernels make them in two steps (vec.cl) whose order depends on the number of entries and the work group only, so that the same
  vector gives the same bits each time: one kernel where a work group can tell that it ends last (`last` of VecUse), else two.
  Only results come to the host.
*/
#include "accel.h"

#define SUMS_GROUPS 1024 /* work groups of a first step, at most */

/* Buffers that all operations of this process share */
static struct {
  SpmvDevice *device;
  void       *sums;   /* [VEC_RESULTS] results, then [VEC_MANY * SUMS_GROUPS] of work groups */
  void       *places; /* [1] of a maximum, then [SUMS_GROUPS] of work groups: 64-bit integers */
  void       *done;   /* [1] work groups that have ended: 32-bit integer, 0 between kernels */
} Sums;

static const size_t SumsBytes   = (VEC_RESULTS + VEC_MANY * SUMS_GROUPS) * sizeof(PetscScalar);
static const size_t PlacesBytes = (1 + SUMS_GROUPS) * sizeof(uint64_t);

PetscErrorCode VecSumsReset(void)
{
  PetscFunctionBegin;
  PetscCall(SpmvDeviceFree(Sums.device, SumsBytes, &Sums.sums));
  PetscCall(SpmvDeviceFree(Sums.device, PlacesBytes, &Sums.places));
  PetscCall(SpmvDeviceFree(Sums.device, sizeof(uint32_t), &Sums.done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins an operation that only reads; groups: of its first step. If there is no memory for the buffers, the host is to serve */
static PetscErrorCode SumsBegin(VecUse *use, PetscInt n, const Vec vec[], int32_t *groups)
{
  const uint32_t none  = 0;
  PetscBool      nomem = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(VecUseBegin(use, n, vec, 0, PETSC_FALSE));
  *groups = (int32_t)PetscMin(use->groups, SUMS_GROUPS);
  if (!*groups) use->run = PETSC_FALSE; /* nothing to add up */
  if (!use->run || Sums.done) PetscFunctionReturn(PETSC_SUCCESS);
  Sums.device = use->device;
  PetscCall(SpmvDeviceAlloc(use->device, SumsBytes, &Sums.sums));
  if (Sums.sums) PetscCall(SpmvDeviceAlloc(use->device, PlacesBytes, &Sums.places));
  if (Sums.places) PetscCall(SpmvDeviceAlloc(use->device, sizeof(none), &Sums.done));
  if (Sums.done) PetscCall(SpmvDeviceWrite(use->device, Sums.done, &none, sizeof(none), &nomem));
  if (Sums.done && !nomem) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelWarn(use->device, VEC_MANY * SUMS_GROUPS));
  PetscCall(VecSumsReset());
  use->run = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VecReduce - the result of a SUMS() or a FIRST() kernel of vec.cl for the entries of this process

  Input Parameters:
+ kernel - its name
. nsums  - results of a SUMS() kernel, 1 or 2; 0: it is a FIRST() kernel
- x, y   - what it is given

  Output Parameters:
+ result - [nsums] scalars, or one real number, the greatest value
. place  - the first entry that has it; NULL: nobody asks
- done   - whether kernels did it; else nothing is set
*/
static PetscErrorCode VecReduce(const char kernel[], PetscInt nsums, Vec x, Vec y, void *result, uint64_t *place, PetscBool *done)
{
  SPMV_DESTROY_BY(SpmvDeviceLeave) SpmvDevice *entered = NULL;
  const int32_t                                first = 0, count = (int32_t)nsums;
  int32_t                                      groups;
  VecUse                                       use;

  PetscFunctionBegin;
  PetscCall(VecAccelEnter(x, &entered));
  PetscCall(SumsBegin(&use, 2, (Vec[]){x, y}, &groups));
  PetscCall(VecUseLaunch(&use, kernel, (size_t)groups, 2, VEC_GIVE(Sums.sums), VEC_GIVE(Sums.places), VEC_GIVE(Sums.done),
                         VEC_GIVE(groups), VEC_GIVE(use.entries)));
  if (!use.last && nsums)
    PetscCall(VecUseLaunch(&use, "vec_sums_end", 1, 0, VEC_GIVE(Sums.sums), VEC_GIVE(count), VEC_GIVE(groups), VEC_GIVE(first)));
  else if (!use.last)
    PetscCall(VecUseLaunch(&use, "vec_first_end", 1, 0, VEC_GIVE(Sums.sums), VEC_GIVE(Sums.places), VEC_GIVE(groups)));
  PetscCall(VecUseEnd(&use, 2 * nsums));
  *done = use.run;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvDeviceRead(use.device, Sums.sums, result, nsums ? (size_t)nsums * sizeof(PetscScalar) : sizeof(PetscReal)));
  if (place) PetscCall(SpmvDeviceRead(use.device, Sums.places, place, sizeof(*place)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VecDots - z[k] = y[k]^H x or y[k]^T x: VEC_MANY products a kernel, fetched together. What kernels cannot do the host does, as
  many at a time

  Input Parameters:
+ conjugate - 1 for y^H, 0 for y^T
- all       - whether the sums of all processes are added up
*/
static PetscErrorCode VecDots(Vec x, PetscInt nv, const Vec y[], int32_t conjugate, PetscBool all, PetscScalar z[])
{
  const struct _VecOps *host = VecAccelOf(x)->host;
  PetscMPIInt           nz;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(nv, &nz));
  for (PetscInt block = 0; block < nv; block += VEC_RESULTS) {
    const PetscInt                               n                           = PetscMin(VEC_RESULTS, nv - block);
    PetscBool                                    ran[VEC_RESULTS / VEC_MANY] = {PETSC_FALSE}; /* which ones kernels did */
    SpmvDevice                                  *device                      = NULL;
    SPMV_DESTROY_BY(SpmvDeviceLeave) SpmvDevice *entered                     = NULL;

    PetscCall(VecAccelEnter(x, &entered));
    for (int32_t k = 0; k < n; k += VEC_MANY) {
      const int32_t count            = (int32_t)PetscMin(VEC_MANY, n - k);
      Vec           vec[VEC_USE_MAX] = {x};
      int32_t       groups;
      VecUse        use;

      for (PetscInt t = 0; t < count; t++) vec[t + 1] = y[block + k + t];
      PetscCall(SumsBegin(&use, count + 1, vec, &groups));
      PetscCall(VecUseLaunch(&use, "vec_dots", (size_t)groups, VEC_USE_MAX, VEC_GIVE(count), VEC_GIVE(conjugate),
                             VEC_GIVE(Sums.sums), VEC_GIVE(Sums.done), VEC_GIVE(groups), VEC_GIVE(k), VEC_GIVE(use.entries)));
      if (!use.last)
        PetscCall(VecUseLaunch(&use, "vec_sums_end", 1, 0, VEC_GIVE(Sums.sums), VEC_GIVE(count), VEC_GIVE(groups), VEC_GIVE(k)));
      PetscCall(VecUseEnd(&use, 2 * count));
      ran[k / VEC_MANY] = use.run;
      if (use.run) device = use.device;
    }
    if (device) PetscCall(SpmvDeviceRead(device, Sums.sums, z + block, (size_t)n * sizeof(PetscScalar)));
    for (PetscInt k = 0; k < n; k += VEC_MANY) {
      if (!ran[k / VEC_MANY])
        PetscCall((conjugate ? host->mdot_local : host->mtdot_local)(x, PetscMin(VEC_MANY, n - k), y + block + k, z + block + k));
    }
  }
  if (all) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, nz, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define DOTS(Dot, conjugate, all) \
  static PetscErrorCode Vec##Dot##_Accel(Vec x, Vec y, PetscScalar *z) \
  { \
    return VecDots(x, 1, &y, conjugate, all, z); \
  } \
  static PetscErrorCode VecM##Dot##_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[]) \
  { \
    return VecDots(x, nv, y, conjugate, all, z); \
  }
DOTS(Dot, 1, PETSC_TRUE)
DOTS(TDot, 0, PETSC_TRUE)
DOTS(DotLocal, 1, PETSC_FALSE)
DOTS(TDotLocal, 0, PETSC_FALSE)

/* t^H s and t^H t, which is real, in a scalar */
static PetscErrorCode VecDotNorm2_Accel(Vec s, Vec t, PetscScalar *dot, PetscScalar *norm2)
{
  const struct _VecOps *host = VecAccelOf(s)->host;
  PetscScalar           z[2];
  PetscBool             done;

  PetscFunctionBegin;
  PetscCall(VecReduce("vec_dotnorm2", 2, s, t, z, NULL, &done));
  if (!done) {
    PetscCall((*host->dot_local)(s, t, &z[0]));
    PetscCall((*host->dot_local)(t, t, &z[1]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, 2, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)s)));
  *dot   = z[0];
  *norm2 = z[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all: of all processes, of which the sums of absolute values and of squares are added up */
static PetscErrorCode VecNormOf(Vec x, NormType type, PetscBool all, PetscReal norm[])
{
  const int         n         = type == NORM_1_AND_2 ? 2 : 1;
  const PetscBool   squares   = (PetscBool)(type == NORM_2 || type == NORM_FROBENIUS || type == NORM_1_AND_2);
  const char *const kernels[] = {"vec_norm1", "vec_norm2", "vec_norm2", "vec_norm_infinity", "vec_norm12"}; /* by NormType */
  PetscScalar       sums[2];
  PetscBool         done;

  PetscFunctionBegin;
  if (type == NORM_INFINITY) PetscCall(VecReduce(kernels[type], 0, x, x, norm, NULL, &done));
  else {
    PetscCall(VecReduce(kernels[type], n, x, x, sums, NULL, &done));
    for (int k = 0; k < n && done; k++) norm[k] = PetscRealPart(sums[k]);
  }
  if (!done) {
    PetscCall((*VecAccelOf(x)->host->norm_local)(x, type, norm));
    if (squares) norm[n - 1] *= norm[n - 1];
  }
  if (all) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norm, n, MPIU_REAL, type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM,
                               PetscObjectComm((PetscObject)x)));
  }
  if (squares) norm[n - 1] = PetscSqrtReal(norm[n - 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNorm_Accel(Vec x, NormType type, PetscReal *norm)
{
  return VecNormOf(x, type, PETSC_TRUE, norm);
}

static PetscErrorCode VecNormLocal_Accel(Vec x, NormType type, PetscReal *norm)
{
  return VecNormOf(x, type, PETSC_FALSE, norm);
}

/* PETSc adds up the processes' */
static PetscErrorCode VecSum_Accel(Vec x, PetscScalar *sum)
{
  const PetscScalar *array;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(VecReduce("vec_sum", 1, x, x, sum, NULL, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  *sum = 0;
  PetscCall(VecGetArrayRead(x, &array));
  for (PetscInt i = 0; i < x->map->n; i++) *sum += array[i];
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The greatest (sign 1) or least (-1) real part of this process's and the first place that has it, -1 if there is no entry */
static PetscErrorCode ExtremeOnHost(Vec x, PetscInt sign, PetscInt *place, PetscReal *value)
{
  const PetscScalar *array;

  PetscFunctionBegin;
  *place = -1;
  *value = sign > 0 ? PETSC_MIN_REAL : PETSC_MAX_REAL;
  PetscCall(VecGetArrayRead(x, &array));
  for (PetscInt i = 0; i < x->map->n; i++) {
    if (i && !(sign * PetscRealPart(array[i]) > sign * *value)) continue;
    *place = i;
    *value = PetscRealPart(array[i]);
  }
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of all processes: the first in the order of all entries. *place is that of this process, if it has such a one */
static PetscErrorCode VecExtreme(Vec x, PetscInt sign, PetscInt *place, PetscReal *value)
{
  uint64_t  found = ~(uint64_t)0; /* as the kernels say that no entry is a number */
  PetscInt  mine;
  PetscReal local = 0;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecReduce(sign > 0 ? "vec_max" : "vec_min", 0, x, x, &local, &found, &done));
  mine = (PetscInt)found;
  local *= sign;
  if (found == ~(uint64_t)0) PetscCall(ExtremeOnHost(x, sign, &mine, &local));
  PetscCallMPI(MPI_Allreduce(&local, value, 1, MPIU_REAL, sign > 0 ? MPIU_MAX : MPIU_MIN, PetscObjectComm((PetscObject)x)));
  if (!place) PetscFunctionReturn(PETSC_SUCCESS);
  mine = mine >= 0 && local == *value ? mine + x->map->rstart : x->map->N;
  PetscCallMPI(MPI_Allreduce(&mine, place, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)x)));
  if (*place == x->map->N) *place = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMax_Accel(Vec x, PetscInt *place, PetscReal *value)
{
  return VecExtreme(x, 1, place, value);
}

static PetscErrorCode VecMin_Accel(Vec x, PetscInt *place, PetscReal *value)
{
  return VecExtreme(x, -1, place, value);
}

/* max |x / y|, |x| where y is 0, over all processes */
static PetscErrorCode VecMaxPointwiseDivide_Accel(Vec x, Vec y, PetscReal *max)
{
  const PetscScalar *a, *b;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(VecReduce("vec_max_divide", 0, x, y, max, NULL, &done));
  if (!done) {
    *max = 0;
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(VecGetArrayRead(y, &b));
    for (PetscInt i = 0; i < x->map->n; i++) *max = PetscMax(*max, PetscAbsScalar(b[i] != (PetscScalar)0 ? a[i] / b[i] : a[i]));
    PetscCall(VecRestoreArrayRead(y, &b));
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, max, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecSetOps_Sums(Vec v)
{
  PetscFunctionBegin;
  v->ops->dot                = VecDot_Accel;
  v->ops->mdot               = VecMDot_Accel;
  v->ops->tdot               = VecTDot_Accel;
  v->ops->mtdot              = VecMTDot_Accel;
  v->ops->dot_local          = VecDotLocal_Accel;
  v->ops->mdot_local         = VecMDotLocal_Accel;
  v->ops->tdot_local         = VecTDotLocal_Accel;
  v->ops->mtdot_local        = VecMTDotLocal_Accel;
  v->ops->dotnorm2           = VecDotNorm2_Accel;
  v->ops->norm               = VecNorm_Accel;
  v->ops->norm_local         = VecNormLocal_Accel;
  v->ops->sum                = VecSum_Accel;
  v->ops->max                = VecMax_Accel;
  v->ops->min                = VecMin_Accel;
  v->ops->maxpointwisedivide = VecMaxPointwiseDivide_Accel;
  PetscFunctionReturn(PETSC_SUCCESS);
}
