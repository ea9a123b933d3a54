/*
  entries.c - operations entry by entry: w <- a x + b y + ..., products, maps

  A term with coefficient 0 is not read, as in PETSc's own, so that the result may have any values before.
*/
#include "accel.h"

/* w <- a[0] x[0] + ..., at most three terms, one of which may be w; done: kernels did it */
static PetscErrorCode VecCombine(Vec w, PetscInt nterms, const PetscScalar a[], const Vec x[], PetscBool *done)
{
  const uint64_t n      = (uint64_t)w->map->n;
  Vec            vec[4] = {w};
  int            access[4];
  PetscScalar    c[3];
  PetscInt       k = 0;
  VecUse         use;

  PetscFunctionBegin;
  access[0] = VEC_WRITE;
  for (PetscInt t = 0; t < nterms; t++) {
    if (a[t] == (PetscScalar)0) continue;
    c[k]        = a[t];
    access[++k] = VEC_READ;
    vec[k]      = x[t];
  }
  if (k == 1 && c[0] == (PetscScalar)1) {
    PetscCall(VecUseCopy(vec[1], w, done));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecUseBegin(&use, k + 1, vec, access));
  if (k == 0) {
    const PetscScalar zero = 0;

    PetscCall(VecUseLaunch(&use, "vec_set", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(zero), VEC_GIVE(n)));
  } else if (k == 1) {
    PetscCall(VecUseLaunch(&use, "vec_scale", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(c[0]), VEC_GIVE(use.buffer[1]), VEC_GIVE(n)));
  } else if (k == 2) {
    PetscCall(VecUseLaunch(&use, "vec_add2", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(c[0]), VEC_GIVE(use.buffer[1]), VEC_GIVE(c[1]),
                           VEC_GIVE(use.buffer[2]), VEC_GIVE(n)));
  } else {
    PetscCall(VecUseLaunch(&use, "vec_add3", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(c[0]), VEC_GIVE(use.buffer[1]), VEC_GIVE(c[1]),
                           VEC_GIVE(use.buffer[2]), VEC_GIVE(c[2]), VEC_GIVE(use.buffer[3]), VEC_GIVE(n)));
  }
  PetscCall(VecUseEnd(&use));
  *done = use.run;
  if (*done) PetscCall(SpmvLogFlops((k < 2 ? k : 2 * k - 1) * (PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own operation on the host, unless kernels did it */
#define VecElseHost(v, done, operation, ...) \
  do { \
    VecAccel *a_; \
\
    if (!(done)) { \
      PetscCall(VecAccelGet(v, &a_)); \
      PetscCall((*a_->host->operation)(__VA_ARGS__)); \
    } \
  } while (0)

static PetscErrorCode VecSet_Accel(Vec x, PetscScalar alpha)
{
  const uint64_t n = (uint64_t)x->map->n;
  VecAccel      *a;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(VecUseBegin(&use, 1, &x, (int[]){VEC_WRITE}));
  PetscCall(VecUseLaunch(&use, "vec_set", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(alpha), VEC_GIVE(n)));
  PetscCall(VecUseEnd(&use));
  VecElseHost(x, use.run, set, x, alpha);
  if (use.run) {
    PetscCall(VecAccelGet(x, &a));
    a->uniform = PETSC_TRUE;
    a->value   = alpha;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecScale_Accel(Vec x, PetscScalar alpha)
{
  PetscBool done = PETSC_TRUE;

  PetscFunctionBegin;
  if (alpha == (PetscScalar)0) PetscCall(VecSet_Accel(x, alpha));
  else if (alpha != (PetscScalar)1) PetscCall(VecCombine(x, 1, &alpha, &x, &done));
  VecElseHost(x, done, scale, x, alpha);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y may be of any type; if it has no memory of the device, the host writes it */
static PetscErrorCode VecCopy_Accel(Vec x, Vec y)
{
  PetscBool done;

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecUseCopy(x, y, &done));
  VecElseHost(x, done, copy, x, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecSwap_Accel(Vec x, Vec y)
{
  const uint64_t n   = (uint64_t)x->map->n;
  VecUse         use = {0};

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecUseBegin(&use, 2, (Vec[]){x, y}, (int[]){VEC_READ | VEC_WRITE, VEC_READ | VEC_WRITE}));
  PetscCall(VecUseLaunch(&use, "vec_swap", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(use.buffer[1]), VEC_GIVE(n)));
  PetscCall(VecUseEnd(&use));
  VecElseHost(x, use.run, swap, x, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAXPY_Accel(Vec y, PetscScalar alpha, Vec x)
{
  PetscBool done = PETSC_TRUE;

  PetscFunctionBegin;
  if (alpha != (PetscScalar)0) PetscCall(VecCombine(y, 2, (PetscScalar[]){1, alpha}, (Vec[]){y, x}, &done));
  VecElseHost(y, done, axpy, y, alpha, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAYPX_Accel(Vec y, PetscScalar beta, Vec x)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecCombine(y, 2, (PetscScalar[]){1, beta}, (Vec[]){x, y}, &done));
  VecElseHost(y, done, aypx, y, beta, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecAXPBY_Accel(Vec y, PetscScalar alpha, PetscScalar beta, Vec x)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecCombine(y, 2, (PetscScalar[]){alpha, beta}, (Vec[]){x, y}, &done));
  VecElseHost(y, done, axpby, y, alpha, beta, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecWAXPY_Accel(Vec w, PetscScalar alpha, Vec x, Vec y)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecCombine(w, 2, (PetscScalar[]){1, alpha}, (Vec[]){y, x}, &done));
  VecElseHost(w, done, waxpy, w, alpha, x, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own reads z where gamma is 0, if alpha is 1; this does not */
static PetscErrorCode VecAXPBYPCZ_Accel(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecCombine(z, 3, (PetscScalar[]){alpha, beta, gamma}, (Vec[]){x, y, z}, &done));
  if (!done && gamma == (PetscScalar)0) PetscCall(VecSet(z, 0));
  VecElseHost(z, done, axpbypcz, z, alpha, beta, gamma, x, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Up to VEC_MANY terms a kernel; what kernels cannot do of it is left to the host, eight by eight as well */
static PetscErrorCode VecMAXPY_Accel(Vec w, PetscInt nv, const PetscScalar alpha[], Vec x[])
{
  const uint64_t n = (uint64_t)w->map->n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nv; k += VEC_MANY) {
    const int32_t count               = (int32_t)PetscMin(VEC_MANY, nv - k);
    Vec           vec[VEC_USE_MAX]    = {w};
    int           access[VEC_USE_MAX] = {VEC_READ | VEC_WRITE};
    PetscScalar   a[VEC_MANY]         = {0};
    VecUse        use;

    for (PetscInt t = 0; t < count; t++) {
      vec[t + 1]    = x[k + t];
      access[t + 1] = VEC_READ;
      a[t]          = alpha[k + t];
    }
    PetscCall(VecUseBegin(&use, count + 1, vec, access));
    for (PetscInt t = count + 1; t < VEC_USE_MAX; t++) use.buffer[t] = use.buffer[1]; /* not read */
    PetscCall(VecUseLaunch(&use, "vec_maxpy", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(count), VEC_GIVE(a[0]), VEC_GIVE(a[1]),
                           VEC_GIVE(a[2]), VEC_GIVE(a[3]), VEC_GIVE(a[4]), VEC_GIVE(a[5]), VEC_GIVE(a[6]), VEC_GIVE(a[7]),
                           VEC_GIVE(use.buffer[1]), VEC_GIVE(use.buffer[2]), VEC_GIVE(use.buffer[3]), VEC_GIVE(use.buffer[4]),
                           VEC_GIVE(use.buffer[5]), VEC_GIVE(use.buffer[6]), VEC_GIVE(use.buffer[7]), VEC_GIVE(use.buffer[8]),
                           VEC_GIVE(n)));
    PetscCall(VecUseEnd(&use));
    VecElseHost(w, use.run, maxpy, w, count, alpha + k, x + k);
    if (use.run) PetscCall(SpmvLogFlops(2.0 * count * (PetscLogDouble)n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- f(x, y) */
static PetscErrorCode VecPointwise(const char kernel[], Vec w, Vec x, Vec y, PetscBool *done)
{
  const uint64_t n = (uint64_t)w->map->n;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(VecUseBegin(&use, 3, (Vec[]){w, x, y}, (int[]){VEC_WRITE, VEC_READ, VEC_READ}));
  PetscCall(
    VecUseLaunch(&use, kernel, n, VEC_GIVE(use.buffer[0]), VEC_GIVE(use.buffer[1]), VEC_GIVE(use.buffer[2]), VEC_GIVE(n)));
  PetscCall(VecUseEnd(&use));
  *done = use.run;
  if (*done) PetscCall(SpmvLogFlops((PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define POINTWISE(Name, operation, kernel) \
  static PetscErrorCode VecPointwise##Name##_Accel(Vec w, Vec x, Vec y) \
  { \
    PetscBool done; \
\
    PetscFunctionBegin; \
    PetscCall(VecPointwise(kernel, w, x, y, &done)); \
    VecElseHost(w, done, operation, w, x, y); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
POINTWISE(Mult, pointwisemult, "vec_multiply")
POINTWISE(Divide, pointwisedivide, "vec_divide")
POINTWISE(Max, pointwisemax, "vec_larger")
POINTWISE(MaxAbs, pointwisemaxabs, "vec_larger_abs")
POINTWISE(Min, pointwisemin, "vec_smaller")

/* x <- f(x), with a value given */
static PetscErrorCode VecMap(const char kernel[], Vec x, PetscScalar given, PetscBool *done)
{
  const uint64_t n = (uint64_t)x->map->n;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(VecUseBegin(&use, 1, &x, (int[]){VEC_READ | VEC_WRITE}));
  PetscCall(VecUseLaunch(&use, kernel, n, VEC_GIVE(use.buffer[0]), VEC_GIVE(given), VEC_GIVE(n)));
  PetscCall(VecUseEnd(&use));
  *done = use.run;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecReciprocal_Accel(Vec x)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecMap("vec_reciprocal", x, 1, &done));
  VecElseHost(x, done, reciprocal, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecConjugate_Accel(Vec x)
{
  PetscBool done = PETSC_TRUE;

  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX)) PetscCall(VecMap("vec_conjugate", x, 0, &done));
  VecElseHost(x, done, conjugate, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of these PETSc has no operation for the host, but a loop for vectors that have none */
#define MAP(name, Name, declaration, given, kernel, f) \
  static PetscErrorCode Vec##Name##_Accel declaration \
  { \
    PetscScalar *array; \
    PetscBool    done; \
\
    PetscFunctionBegin; \
    PetscCall(VecMap(kernel, x, given, &done)); \
    if (!done) { \
      PetscCall(VecGetArray(x, &array)); \
      for (PetscInt i = 0; i < x->map->n; i++) array[i] = f; \
      PetscCall(VecRestoreArray(x, &array)); \
    } \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
MAP(abs, Abs, (Vec x), 0, "vec_abs", PetscAbsScalar(array[i]))
MAP(sqrt, SqrtAbs, (Vec x), 0, "vec_sqrtabs", PetscSqrtReal(PetscAbsScalar(array[i])))
MAP(shift, Shift, (Vec x, PetscScalar by), by, "vec_shift", array[i] + by)

PetscErrorCode VecSetOps_Entries(Vec v)
{
  PetscFunctionBegin;
  v->ops->set             = VecSet_Accel;
  v->ops->scale           = VecScale_Accel;
  v->ops->copy            = VecCopy_Accel;
  v->ops->swap            = VecSwap_Accel;
  v->ops->axpy            = VecAXPY_Accel;
  v->ops->aypx            = VecAYPX_Accel;
  v->ops->axpby           = VecAXPBY_Accel;
  v->ops->waxpy           = VecWAXPY_Accel;
  v->ops->axpbypcz        = VecAXPBYPCZ_Accel;
  v->ops->maxpy           = VecMAXPY_Accel;
  v->ops->pointwisemult   = VecPointwiseMult_Accel;
  v->ops->pointwisedivide = VecPointwiseDivide_Accel;
  v->ops->pointwisemax    = VecPointwiseMax_Accel;
  v->ops->pointwisemaxabs = VecPointwiseMaxAbs_Accel;
  v->ops->pointwisemin    = VecPointwiseMin_Accel;
  v->ops->reciprocal      = VecReciprocal_Accel;
  v->ops->conjugate       = VecConjugate_Accel;
  v->ops->abs             = VecAbs_Accel;
  v->ops->sqrt            = VecSqrtAbs_Accel;
  v->ops->shift           = VecShift_Accel;
  PetscFunctionReturn(PETSC_SUCCESS);
}
