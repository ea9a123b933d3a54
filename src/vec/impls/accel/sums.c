/*
  sums.c - sums, norms and maxima of the entries of one process

  Kernels make them in two steps (vec.cl) whose order depends on the number of entries and the work group only, so that the same vector
  gives the same bits each time. Only results come to the host.
*/
#include "accel.h"

#define SUMS_GROUPS  1024 /* work groups of a first step, at most */
#define SUMS_RESULTS 256  /* results that are kept on the device until they are fetched together, at most */

/* Buffers that all operations of this process share */
static struct {
  SpmvDevice *device;
  void       *partial, *where; /* results of work groups: [VEC_MANY * SUMS_GROUPS] scalars, [SUMS_GROUPS] places */
  void       *result, *found;  /* [SUMS_RESULTS] scalars, [1] place */
} Sums;

static const size_t SumsPartial = VEC_MANY * SUMS_GROUPS * sizeof(PetscScalar), SumsWhere = SUMS_GROUPS * sizeof(uint64_t),
                    SumsResult = SUMS_RESULTS * sizeof(PetscScalar), SumsFound = sizeof(uint64_t);

PetscErrorCode VecSumsReset(void)
{
  PetscFunctionBegin;
  if (Sums.device) {
    PetscCall(SpmvDeviceFree(Sums.device, SumsPartial, &Sums.partial));
    PetscCall(SpmvDeviceFree(Sums.device, SumsWhere, &Sums.where));
    PetscCall(SpmvDeviceFree(Sums.device, SumsResult, &Sums.result));
    PetscCall(SpmvDeviceFree(Sums.device, SumsFound, &Sums.found));
  }
  Sums.device = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins an operation that only reads, with the work groups of its first step; without room for the buffers the host is to serve */
static PetscErrorCode SumsBegin(VecUse *use, PetscInt n, const Vec vec[], int32_t *groups)
{
  const int access[VEC_USE_MAX] = {VEC_READ, VEC_READ, VEC_READ, VEC_READ, VEC_READ, VEC_READ, VEC_READ, VEC_READ, VEC_READ};

  PetscFunctionBegin;
  PetscCall(VecUseBegin(use, n, vec, access));
  if (!vec[0]->map->n) use->run = PETSC_FALSE; /* nothing to add up */
  if (use->run && !Sums.device) {
    Sums.device = use->device;
    PetscCall(SpmvDeviceAlloc(use->device, SumsPartial, &Sums.partial));
    PetscCall(SpmvDeviceAlloc(use->device, SumsWhere, &Sums.where));
    PetscCall(SpmvDeviceAlloc(use->device, SumsResult, &Sums.result));
    PetscCall(SpmvDeviceAlloc(use->device, SumsFound, &Sums.found));
    if (!Sums.partial || !Sums.where || !Sums.result || !Sums.found) {
      PetscCall(VecAccelWarn(use->device, VEC_MANY * SUMS_GROUPS));
      PetscCall(VecSumsReset());
      use->run = PETSC_FALSE;
    }
  }
  *groups = (int32_t)PetscMin(VecUseGroups(use, (size_t)vec[0]->map->n), SUMS_GROUPS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of x, or of x and y, by a kernel of that name; done: kernels did it */
static PetscErrorCode VecSums(const char kernel[], PetscInt nresults, Vec x, Vec y, PetscScalar sums[], PetscBool *done)
{
  const uint64_t n     = (uint64_t)x->map->n;
  const int32_t  first = 0;
  int32_t        groups;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(SumsBegin(&use, y ? 2 : 1, (Vec[]){x, y}, &groups));
  PetscCall(VecUseLaunchGroups(&use, kernel, (size_t)groups, VEC_GIVE(use.buffer[0]), VEC_GIVE(use.buffer[y ? 1 : 0]),
                               VEC_GIVE(Sums.partial), VEC_GIVE(groups), VEC_GIVE(n)));
  PetscCall(VecUseLaunchGroups(&use, "vec_sums_end", (size_t)nresults, VEC_GIVE(Sums.partial), VEC_GIVE(groups),
                               VEC_GIVE(Sums.result), VEC_GIVE(first)));
  PetscCall(VecUseEnd(&use));
  *done = use.run;
  if (*done) {
    PetscCall(SpmvDeviceRead(use.device, Sums.result, sums, (size_t)nresults * sizeof(PetscScalar)));
    PetscCall(SpmvLogFlops((y ? 4.0 : 2.0 * nresults) * (PetscLogDouble)n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The maximum of something that is not negative */
static PetscErrorCode VecMaximum(const char kernel[], Vec x, Vec y, PetscReal *max, PetscBool *done)
{
  const uint64_t n = (uint64_t)x->map->n;
  int32_t        groups;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(SumsBegin(&use, y ? 2 : 1, (Vec[]){x, y}, &groups));
  PetscCall(VecUseLaunchGroups(&use, kernel, (size_t)groups, VEC_GIVE(use.buffer[0]), VEC_GIVE(use.buffer[y ? 1 : 0]),
                               VEC_GIVE(Sums.partial), VEC_GIVE(groups), VEC_GIVE(n)));
  PetscCall(VecUseLaunchGroups(&use, "vec_maximum_end", 1, VEC_GIVE(Sums.partial), VEC_GIVE(groups), VEC_GIVE(Sums.result)));
  PetscCall(VecUseEnd(&use));
  *done = use.run;
  if (*done) PetscCall(SpmvDeviceRead(use.device, Sums.result, max, sizeof(PetscReal)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z[k] = y[k]^H x, or y[k]^T x: VEC_MANY products a kernel, fetched together; what kernels cannot do is left to the host, eight by eight */
static PetscErrorCode VecDots(Vec x, PetscInt nv, const Vec y[], PetscBool conjugate, PetscScalar z[])
{
  const uint64_t n      = (uint64_t)x->map->n;
  const int32_t  starry = conjugate;
  VecAccel      *a;
  PetscScalar    result[SUMS_RESULTS];

  PetscFunctionBegin;
  PetscCall(VecAccelGet(x, &a));
  for (PetscInt block = 0; block < nv; block += SUMS_RESULTS) {
    const PetscInt nblock                       = PetscMin(SUMS_RESULTS, nv - block);
    SpmvDevice    *ran[SUMS_RESULTS / VEC_MANY] = {NULL}, *any = NULL; /* which ones kernels did */

    for (PetscInt k = 0; k < nblock; k += VEC_MANY) {
      const int32_t count = (int32_t)PetscMin(VEC_MANY, nblock - k), first = (int32_t)k;
      Vec           vec[VEC_USE_MAX] = {x};
      int32_t       groups;
      VecUse        use;

      for (PetscInt t = 0; t < count; t++) vec[t + 1] = y[block + k + t];
      PetscCall(SumsBegin(&use, count + 1, vec, &groups));
      for (PetscInt t = count + 1; t < VEC_USE_MAX; t++) use.buffer[t] = use.buffer[1]; /* not read */
      PetscCall(VecUseLaunchGroups(&use, "vec_dots", (size_t)groups, VEC_GIVE(use.buffer[0]), VEC_GIVE(count), VEC_GIVE(starry),
                                   VEC_GIVE(use.buffer[1]), VEC_GIVE(use.buffer[2]), VEC_GIVE(use.buffer[3]),
                                   VEC_GIVE(use.buffer[4]), VEC_GIVE(use.buffer[5]), VEC_GIVE(use.buffer[6]),
                                   VEC_GIVE(use.buffer[7]), VEC_GIVE(use.buffer[8]), VEC_GIVE(Sums.partial), VEC_GIVE(groups),
                                   VEC_GIVE(n)));
      PetscCall(VecUseLaunchGroups(&use, "vec_sums_end", (size_t)count, VEC_GIVE(Sums.partial), VEC_GIVE(groups),
                                   VEC_GIVE(Sums.result), VEC_GIVE(first)));
      PetscCall(VecUseEnd(&use));
      if (use.run) {
        ran[k / VEC_MANY] = any = use.device;
        PetscCall(SpmvLogFlops(2.0 * count * (PetscLogDouble)n));
      } else PetscCall((*(conjugate ? a->host->mdot_local : a->host->mtdot_local))(x, count, vec + 1, z + block + k));
    }
    if (any) PetscCall(SpmvDeviceRead(any, Sums.result, result, (size_t)nblock * sizeof(PetscScalar)));
    for (PetscInt k = 0; k < nblock; k++) {
      if (ran[k / VEC_MANY]) z[block + k] = result[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMDotLocal_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PetscCall(VecDots(x, nv, y, PETSC_TRUE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMTDotLocal_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PetscCall(VecDots(x, nv, y, PETSC_FALSE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDotLocal_Accel(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecDots(x, 1, &y, PETSC_TRUE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecTDotLocal_Accel(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecDots(x, 1, &y, PETSC_FALSE, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What processes add up for a norm: sums of absolute values, of squares, or both, or of one the maximum */
PetscErrorCode VecNormParts_Accel(Vec x, NormType type, PetscReal part[])
{
  PetscScalar sum[2];
  VecAccel   *a;
  PetscBool   done;

  PetscFunctionBegin;
  if (type == NORM_INFINITY) PetscCall(VecMaximum("vec_norm_infinity", x, NULL, part, &done));
  else {
    PetscCall(VecSums(type == NORM_1         ? "vec_norm1"
                      : type == NORM_1_AND_2 ? "vec_norm12"
                                             : "vec_norm2",
                      type == NORM_1_AND_2 ? 2 : 1, x, NULL, sum, &done));
    if (done) part[0] = PetscRealPart(sum[0]);
    if (done && type == NORM_1_AND_2) part[1] = PetscRealPart(sum[1]);
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelGet(x, &a));
  PetscCall((*a->host->norm_local)(x, type, part));
  if (type == NORM_2 || type == NORM_FROBENIUS) part[0] *= part[0];
  if (type == NORM_1_AND_2) part[1] *= part[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm, from all that processes add up */
void VecNormWhole_Accel(NormType type, PetscReal part[])
{
  if (type == NORM_2 || type == NORM_FROBENIUS) part[0] = PetscSqrtReal(part[0]);
  if (type == NORM_1_AND_2) part[1] = PetscSqrtReal(part[1]);
}

static PetscErrorCode VecNormLocal_Accel(Vec x, NormType type, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(VecNormParts_Accel(x, type, norm));
  VecNormWhole_Accel(type, norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums[0] = t^H s, sums[1] = t^H t */
PetscErrorCode VecDotNorm2Local_Accel(Vec s, Vec t, PetscScalar sums[])
{
  const PetscScalar *x, *y;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(VecSums("vec_dotnorm2", 2, s, t, sums, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  sums[0] = sums[1] = 0;
  PetscCall(VecGetArrayRead(s, &x));
  PetscCall(VecGetArrayRead(t, &y));
  for (PetscInt i = 0; i < s->map->n; i++) {
    sums[0] += x[i] * PetscConj(y[i]);
    sums[1] += y[i] * PetscConj(y[i]);
  }
  PetscCall(VecRestoreArrayRead(t, &y));
  PetscCall(VecRestoreArrayRead(s, &x));
  PetscCall(PetscLogFlops(4.0 * s->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc adds up the processes' */
static PetscErrorCode VecSum_Accel(Vec x, PetscScalar *sum)
{
  const PetscScalar *array;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(VecSums("vec_sum", 1, x, NULL, sum, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  *sum = 0;
  PetscCall(VecGetArrayRead(x, &array));
  for (PetscInt i = 0; i < x->map->n; i++) *sum += array[i];
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host, as PETSc does it */
static PetscErrorCode FirstOnHost(Vec x, PetscInt sign, PetscInt *place, PetscReal *value)
{
  const PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &array));
  *place = 0;
  for (PetscInt i = 1; i < x->map->n; i++) {
    if (sign * PetscRealPart(array[i]) > sign * PetscRealPart(array[*place])) *place = i;
  }
  *value = PetscRealPart(array[*place]);
  PetscCall(VecRestoreArrayRead(x, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The greatest (sign 1) or least (-1) real part and the first place that has it, -1 if there is no entry */
PetscErrorCode VecFirstLocal_Accel(Vec x, PetscInt sign, PetscInt *place, PetscReal *value)
{
  const uint64_t n     = (uint64_t)x->map->n;
  const int32_t  s     = (int32_t)sign;
  uint64_t       found = ~(uint64_t)0; /* as the kernels say that there is none */
  int32_t        groups;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(SumsBegin(&use, 1, &x, &groups));
  PetscCall(VecUseLaunchGroups(&use, "vec_first", (size_t)groups, VEC_GIVE(use.buffer[0]), VEC_GIVE(s), VEC_GIVE(Sums.partial),
                               VEC_GIVE(Sums.where), VEC_GIVE(groups), VEC_GIVE(n)));
  PetscCall(VecUseLaunchGroups(&use, "vec_first_end", 1, VEC_GIVE(Sums.partial), VEC_GIVE(Sums.where), VEC_GIVE(groups),
                               VEC_GIVE(Sums.result), VEC_GIVE(Sums.found)));
  PetscCall(VecUseEnd(&use));
  if (use.run) {
    PetscCall(SpmvDeviceRead(use.device, Sums.found, &found, sizeof(found)));
    PetscCall(SpmvDeviceRead(use.device, Sums.result, value, sizeof(PetscReal)));
    *value *= sign;
  }
  *place = (PetscInt)found;
  if (found != ~(uint64_t)0) PetscFunctionReturn(PETSC_SUCCESS);
  *place = -1;
  *value = sign > 0 ? PETSC_MIN_REAL : PETSC_MAX_REAL;
  if (n) PetscCall(FirstOnHost(x, sign, place, value)); /* no kernels, or no entry is a number */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* max |x / y|, |x| where y is 0, over all processes */
static PetscErrorCode VecMaxPointwiseDivide_Accel(Vec x, Vec y, PetscReal *max)
{
  const PetscScalar *a, *b;
  PetscReal          local;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(VecMaximum("vec_max_divide", x, y, &local, &done));
  if (!done) {
    local = 0;
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(VecGetArrayRead(y, &b));
    for (PetscInt i = 0; i < x->map->n; i++) local = PetscMax(local, PetscAbsScalar(b[i] != (PetscScalar)0 ? a[i] / b[i] : a[i]));
    PetscCall(VecRestoreArrayRead(y, &b));
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  PetscCallMPI(MPI_Allreduce(&local, max, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecSetOps_Sums(Vec v)
{
  PetscFunctionBegin;
  v->ops->dot_local          = VecDotLocal_Accel;
  v->ops->tdot_local         = VecTDotLocal_Accel;
  v->ops->norm_local         = VecNormLocal_Accel;
  v->ops->mdot_local         = VecMDotLocal_Accel;
  v->ops->mtdot_local        = VecMTDotLocal_Accel;
  v->ops->sum                = VecSum_Accel;
  v->ops->maxpointwisedivide = VecMaxPointwiseDivide_Accel;
  PetscFunctionReturn(PETSC_SUCCESS);
}
