/*
  entries.c - operations entry by entry: w <- a x + b y + ..., products, maps

  A term with coefficient 0 is not read, as in PETSc's own, so that the result may have any values before.
*/
#include "accel.h"

/* vec[0] <- f(vec[1], ..., c[0], c[1], c[2]), of n vectors, by an ENTRYWISE() kernel of vec.cl; done: kernels did it */
static PetscErrorCode VecEntrywise(const char kernel[], PetscInt n, const Vec vec[], const PetscScalar c[3], PetscInt flops,
                                   PetscBool *done)
{
  VecUse use;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(VecUseBegin(&use, n, vec, 1, PETSC_FALSE));
  PetscCall(VecUseLaunch(&use, kernel, use.groups, 4, VEC_GIVE(c[0]), VEC_GIVE(c[1]), VEC_GIVE(c[2]), VEC_GIVE(use.entries)));
  PetscCall(VecUseEnd(&use, flops));
  *done = use.run;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own operation on the host, unless kernels did it */
#define VecElseHost(v, done, operation, ...) \
  do { \
    if (!(done)) PetscCall((*VecAccelOf(v)->host->operation)(__VA_ARGS__)); \
  } while (0)

static PetscErrorCode VecSet_Accel(Vec x, PetscScalar alpha)
{
  VecAccel *a = VecAccelOf(x);
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecEntrywise("vec_set", 1, &x, (PetscScalar[]){alpha, 0, 0}, 0, &done));
  VecElseHost(x, done, set, x, alpha);
  if (done) {
    a->uniform = PETSC_TRUE;
    a->value   = alpha;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- a[0] x[0] + ..., at most three terms, one of which may be w */
static PetscErrorCode VecCombine(Vec w, PetscInt nterms, const PetscScalar a[], const Vec x[], PetscBool *done)
{
  const char *const kernels[] = {"vec_scale", "vec_add2", "vec_add3"};
  Vec               vec[4]    = {w};
  PetscScalar       c[3]      = {0};
  PetscInt          n         = 0;

  PetscFunctionBegin;
  for (PetscInt t = 0; t < nterms; t++) {
    if (a[t] == (PetscScalar)0) continue;
    c[n]     = a[t];
    vec[++n] = x[t];
  }
  *done = PETSC_TRUE;
  if (n == 0) PetscCall(VecSet_Accel(w, 0));
  else if (n == 1 && c[0] == (PetscScalar)1) PetscCall(SpmvVecCopyLocal(vec[1], w));
  else PetscCall(VecEntrywise(kernels[n - 1], n + 1, vec, c, 2 * n - 1, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecScale_Accel(Vec x, PetscScalar alpha)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(VecCombine(x, 1, &alpha, &x, &done));
  VecElseHost(x, done, scale, x, alpha);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecSwap_Accel(Vec x, Vec y)
{
  VecUse use;

  PetscFunctionBegin;
  PetscCall(VecUseBegin(&use, 2, (Vec[]){x, y}, 2, PETSC_TRUE));
  PetscCall(VecUseLaunch(&use, "vec_swap", use.groups, 2, VEC_GIVE(use.entries)));
  PetscCall(VecUseEnd(&use, 0));
  VecElseHost(x, use.run, swap, x, y);
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

static PetscErrorCode VecAXPY_Accel(Vec y, PetscScalar alpha, Vec x)
{
  return VecAXPBY_Accel(y, alpha, 1, x);
}

static PetscErrorCode VecAYPX_Accel(Vec y, PetscScalar beta, Vec x)
{
  return VecAXPBY_Accel(y, 1, beta, x);
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
  SPMV_DESTROY_BY(SpmvDeviceLeave) SpmvDevice *entered = NULL;

  PetscFunctionBegin;
  PetscCall(VecAccelEnter(w, &entered));
  for (PetscInt k = 0; k < nv; k += VEC_MANY) {
    const int32_t count            = (int32_t)PetscMin(VEC_MANY, nv - k);
    Vec           vec[VEC_USE_MAX] = {w};
    PetscScalar   a[VEC_MANY]      = {0};
    VecUse        use;

    for (PetscInt t = 0; t < count; t++) {
      vec[t + 1] = x[k + t];
      a[t]       = alpha[k + t];
    }
    PetscCall(VecUseBegin(&use, count + 1, vec, 1, PETSC_TRUE));
    PetscCall(VecUseLaunch(&use, "vec_maxpy", use.groups, VEC_USE_MAX, VEC_GIVE(count), VEC_GIVE(a[0]), VEC_GIVE(a[1]),
                           VEC_GIVE(a[2]), VEC_GIVE(a[3]), VEC_GIVE(a[4]), VEC_GIVE(a[5]), VEC_GIVE(a[6]), VEC_GIVE(a[7]),
                           VEC_GIVE(use.entries)));
    PetscCall(VecUseEnd(&use, 2 * count));
    VecElseHost(w, use.run, maxpy, w, count, alpha + k, x + k);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- f(x, y) */
#define POINTWISE(Name, operation, kernel) \
  static PetscErrorCode VecPointwise##Name##_Accel(Vec w, Vec x, Vec y) \
  { \
    PetscBool done; \
\
    PetscFunctionBegin; \
    PetscCall(VecEntrywise(kernel, 3, (Vec[]){w, x, y}, (PetscScalar[]){0, 0, 0}, 1, &done)); \
    VecElseHost(w, done, operation, w, x, y); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
POINTWISE(Mult, pointwisemult, "vec_multiply")
POINTWISE(Divide, pointwisedivide, "vec_divide")
POINTWISE(Max, pointwisemax, "vec_larger")
POINTWISE(MaxAbs, pointwisemaxabs, "vec_larger_abs")
POINTWISE(Min, pointwisemin, "vec_smaller")

/* x <- f(x, c), on the host by a loop */
#define MAP(Name, declaration, c, kernel, f) \
  static PetscErrorCode Vec##Name##_Accel declaration \
  { \
    PetscScalar *array; \
    PetscBool    done; \
\
    PetscFunctionBegin; \
    PetscCall(VecEntrywise(kernel, 2, (Vec[]){x, x}, (PetscScalar[]){c, 0, 0}, 0, &done)); \
    if (!done) { \
      PetscCall(VecGetArray(x, &array)); \
      for (PetscInt i = 0; i < x->map->n; i++) array[i] = f; \
      PetscCall(VecRestoreArray(x, &array)); \
    } \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
MAP(Reciprocal, (Vec x), 1, "vec_reciprocal", array[i] == (PetscScalar)0 ? array[i] : (PetscScalar)1 / array[i])
MAP(Conjugate, (Vec x), 0, "vec_conjugate", PetscConj(array[i]))
MAP(Abs, (Vec x), 0, "vec_abs", PetscAbsScalar(array[i]))
MAP(SqrtAbs, (Vec x), 0, "vec_sqrtabs", PetscSqrtReal(PetscAbsScalar(array[i])))
MAP(Shift, (Vec x, PetscScalar by), by, "vec_shift", array[i] + by)

PetscErrorCode VecSetOps_Entries(Vec v)
{
  PetscFunctionBegin;
  v->ops->set             = VecSet_Accel;
  v->ops->scale           = VecScale_Accel;
  v->ops->copy            = SpmvVecCopyLocal;
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
