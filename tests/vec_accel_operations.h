/*
  vec_accel_operations.h - the operations that vec_accel.c runs, on vectors of each type
*/
#pragma once
#include <petsc/private/vecimpl.h>

#define MANY 19 /* vectors of VecMDot() and its kin, at most */

/* What an operation is run on: w is written, the others are read; `first` is w, x or y where a name says so */
typedef struct {
  Vec         w, x, y, many[MANY];
  PetscScalar result[MANY];
  PetscInt    nresults;
} Work;

static PetscErrorCode Copy(Work *k)
{
  return VecCopy(k->x, k->w);
}
static PetscErrorCode Set(Work *k)
{
  return VecSet(k->w, 0.3);
}
static PetscErrorCode Zero(Work *k)
{
  return VecScale(k->w, 0);
}
static PetscErrorCode Scale(Work *k)
{
  return VecScale(k->w, -1.7);
}
static PetscErrorCode AXPY(Work *k)
{
  return VecAXPY(k->w, 0.7, k->x);
}
static PetscErrorCode AYPX0(Work *k)
{
  return VecAYPX(k->w, 0, k->x);
}
static PetscErrorCode AYPX(Work *k)
{
  return VecAYPX(k->w, -0.3, k->x);
}
static PetscErrorCode AXPBY00(Work *k)
{
  return VecAXPBY(k->w, 0, 0, k->x);
}
static PetscErrorCode AXPBY0(Work *k)
{
  return VecAXPBY(k->w, 0.6, 0, k->x);
}
static PetscErrorCode AXPBY(Work *k)
{
  return VecAXPBY(k->w, 0.6, -1.1, k->x);
}
static PetscErrorCode WAXPY(Work *k)
{
  return VecWAXPY(k->w, 0.9, k->x, k->y);
}
static PetscErrorCode WAXPY0(Work *k)
{
  return VecWAXPY(k->w, 0, k->x, k->y);
}
static PetscErrorCode AXPBYPCZ0(Work *k)
{
  return VecAXPBYPCZ(k->w, 0.5, -0.6, 0, k->x, k->y);
}
static PetscErrorCode AXPBYPCZ(Work *k)
{
  return VecAXPBYPCZ(k->w, 0.5, -0.6, 0.7, k->x, k->y);
}
static PetscErrorCode AXPBYPCZ1(Work *k)
{
  return VecAXPBYPCZ(k->w, 1, 0, 1, k->x, k->y);
}
static PetscErrorCode Swap(Work *k)
{
  return VecSwap(k->w, k->x);
}
static PetscErrorCode Mult(Work *k)
{
  return VecPointwiseMult(k->w, k->x, k->y);
}
static PetscErrorCode MultFirst(Work *k)
{
  return VecPointwiseMult(k->w, k->w, k->y);
}
static PetscErrorCode MultSecond(Work *k)
{
  return VecPointwiseMult(k->w, k->x, k->w);
}
static PetscErrorCode Square(Work *k)
{
  return VecPointwiseMult(k->w, k->x, k->x);
}
static PetscErrorCode Divide(Work *k)
{
  return VecPointwiseDivide(k->w, k->x, k->y);
}
static PetscErrorCode Max(Work *k)
{
  return VecPointwiseMax(k->w, k->x, k->y);
}
static PetscErrorCode MaxAbs(Work *k)
{
  return VecPointwiseMaxAbs(k->w, k->x, k->y);
}
static PetscErrorCode Min(Work *k)
{
  return VecPointwiseMin(k->w, k->x, k->y);
}
static PetscErrorCode Reciprocal(Work *k)
{
  return VecReciprocal(k->w);
}
static PetscErrorCode Conjugate(Work *k)
{
  return VecConjugate(k->w);
}
static PetscErrorCode Abs(Work *k)
{
  return VecAbs(k->w);
}
static PetscErrorCode SqrtAbs(Work *k)
{
  return VecSqrtAbs(k->w);
}
static PetscErrorCode Shift(Work *k)
{
  return VecShift(k->w, -0.4);
}
static PetscErrorCode Exp(Work *k) /* the host's */
{
  return VecExp(k->w);
}

static PetscErrorCode MAXPY(Work *k, PetscInt n)
{
  PetscScalar a[MANY];

  for (PetscInt i = 0; i < n; i++) a[i] = i % 5 == 3 ? 0 : 0.1 * (PetscReal)(i + 1);
  return VecMAXPY(k->w, n, a, k->many);
}
static PetscErrorCode MAXPY1(Work *k)
{
  return MAXPY(k, 1);
}
static PetscErrorCode MAXPY3(Work *k)
{
  return MAXPY(k, 3);
}
static PetscErrorCode MAXPY8(Work *k)
{
  return MAXPY(k, 8);
}
static PetscErrorCode MAXPY9(Work *k)
{
  return MAXPY(k, 9);
}
static PetscErrorCode MAXPY19(Work *k)
{
  return MAXPY(k, 19);
}

static PetscErrorCode Dot(Work *k)
{
  k->nresults = 1;
  return VecDot(k->w, k->x, k->result);
}
static PetscErrorCode DotSame(Work *k)
{
  k->nresults = 1;
  return VecDot(k->w, k->w, k->result);
}
static PetscErrorCode TDot(Work *k)
{
  k->nresults = 1;
  return VecTDot(k->w, k->x, k->result);
}
static PetscErrorCode MDot1(Work *k)
{
  k->nresults = 1;
  return VecMDot(k->w, 1, k->many, k->result);
}
static PetscErrorCode MDot8(Work *k)
{
  k->nresults = 8;
  return VecMDot(k->w, 8, k->many, k->result);
}
static PetscErrorCode MDot19(Work *k)
{
  k->nresults = 19;
  return VecMDot(k->w, 19, k->many, k->result);
}
static PetscErrorCode MTDot9(Work *k)
{
  k->nresults = 9;
  return VecMTDot(k->w, 9, k->many, k->result);
}
static PetscErrorCode DotNorm2(Work *k)
{
  PetscReal norm2;

  PetscFunctionBegin;
  PetscCall(VecDotNorm2(k->w, k->x, &k->result[0], &norm2));
  k->result[1] = norm2;
  k->nresults  = 2;
  PetscFunctionReturn(0);
}
/* Makes PETSc forget the norms that it knows of a vector */
static PetscErrorCode Touch(Vec v)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)v, &state));
  PetscCall(PetscObjectStateSet((PetscObject)v, state + 1));
  PetscFunctionReturn(0);
}
static PetscErrorCode Norm(Work *k, NormType type)
{
  PetscReal norm[2];

  PetscFunctionBegin;
  PetscCall(Touch(k->w));
  PetscCall(VecNorm(k->w, type, norm));
  k->nresults = type == NORM_1_AND_2 ? 2 : 1;
  for (PetscInt i = 0; i < k->nresults; i++) k->result[i] = norm[i];
  PetscFunctionReturn(0);
}
static PetscErrorCode Norm1(Work *k)
{
  return Norm(k, NORM_1);
}
static PetscErrorCode Norm2(Work *k)
{
  return Norm(k, NORM_2);
}
static PetscErrorCode NormFrobenius(Work *k)
{
  return Norm(k, NORM_FROBENIUS);
}
static PetscErrorCode NormInfinity(Work *k)
{
  return Norm(k, NORM_INFINITY);
}
static PetscErrorCode Norm12(Work *k)
{
  return Norm(k, NORM_1_AND_2);
}
static PetscErrorCode Sum(Work *k)
{
  k->nresults = 1;
  return VecSum(k->w, k->result);
}
static PetscErrorCode Extreme(Work *k, PetscErrorCode (*f)(Vec, PetscInt *, PetscReal *))
{
  PetscInt  place, N;
  PetscReal value, again;

  PetscFunctionBegin;
  PetscCall(f(k->w, &place, &value));
  PetscCall(f(k->w, NULL, &again));
  PetscCall(VecGetSize(k->w, &N));
  k->nresults  = N ? 3 : 2; /* the place in an empty vector is -1 with some releases on some numbers of processes */
  k->result[0] = value;
  k->result[1] = again;
  k->result[2] = (PetscReal)place;
  PetscFunctionReturn(0);
}
static PetscErrorCode Greatest(Work *k)
{
  return Extreme(k, VecMax);
}
static PetscErrorCode Least(Work *k)
{
  return Extreme(k, VecMin);
}
static PetscErrorCode MaxDivide(Work *k)
{
  PetscReal max;

  PetscFunctionBegin;
  PetscCall(VecMaxPointwiseDivide(k->w, k->x, &max));
  k->result[0] = max;
  k->nresults  = 1;
  PetscFunctionReturn(0);
}
/* The local parts, added up later */
static PetscErrorCode Split(Work *k)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(Touch(k->w));
  PetscCall(VecDotBegin(k->w, k->x, &k->result[0]));
  PetscCall(VecTDotBegin(k->w, k->x, &k->result[1]));
  PetscCall(VecNormBegin(k->w, NORM_2, &norm));
  PetscCall(VecMDotBegin(k->w, 9, k->many, k->result + 3));
  PetscCall(VecDotEnd(k->w, k->x, &k->result[0]));
  PetscCall(VecTDotEnd(k->w, k->x, &k->result[1]));
  PetscCall(VecNormEnd(k->w, NORM_2, &norm));
  PetscCall(VecMDotEnd(k->w, 9, k->many, k->result + 3));
  k->result[2] = norm;
  k->nresults  = 12;
  PetscFunctionReturn(0);
}

typedef struct {
  const char *name;
  PetscErrorCode (*run)(Work *);
  PetscBool overwrites; /* what w has before, NaN, must not show */
  PetscBool places;     /* its results are exact */
} Operation;

#define NEW(name, run) \
  { \
    name, run, PETSC_TRUE, PETSC_FALSE \
  }
#define OLD(name, run) \
  { \
    name, run, PETSC_FALSE, PETSC_FALSE \
  }
#define EXACT(name, run) \
  { \
    name, run, PETSC_FALSE, PETSC_TRUE \
  }

static const Operation Operations[] = {
  NEW("copy", Copy),
  NEW("set", Set),
  NEW("zero", Zero),
  OLD("scale", Scale),
  OLD("axpy", AXPY),
  NEW("aypx 0", AYPX0),
  OLD("aypx", AYPX),
  NEW("axpby 0 0", AXPBY00),
  NEW("axpby 0", AXPBY0),
  OLD("axpby", AXPBY),
  NEW("waxpy", WAXPY),
  NEW("waxpy 0", WAXPY0),
  OLD("axpbypcz 0", AXPBYPCZ0),
  OLD("axpbypcz", AXPBYPCZ),
  OLD("axpbypcz 1", AXPBYPCZ1),
  OLD("swap", Swap),
  NEW("mult", Mult),
  OLD("mult first", MultFirst),
  OLD("mult second", MultSecond),
  NEW("square", Square),
  NEW("divide", Divide),
  NEW("pointwise max", Max),
  NEW("max abs", MaxAbs),
  NEW("pointwise min", Min),
  OLD("reciprocal", Reciprocal),
  OLD("conjugate", Conjugate),
  OLD("abs", Abs),
  OLD("sqrt abs", SqrtAbs),
  OLD("shift", Shift),
  OLD("exp", Exp),
  OLD("maxpy 1", MAXPY1),
  OLD("maxpy 3", MAXPY3),
  OLD("maxpy 8", MAXPY8),
  OLD("maxpy 9", MAXPY9),
  OLD("maxpy 19", MAXPY19),
  OLD("dot", Dot),
  OLD("dot same", DotSame),
  OLD("tdot", TDot),
  OLD("mdot 1", MDot1),
  OLD("mdot 8", MDot8),
  OLD("mdot 19", MDot19),
  OLD("mtdot 9", MTDot9),
  OLD("dotnorm2", DotNorm2),
  OLD("norm 1", Norm1),
  OLD("norm 2", Norm2),
  OLD("norm frobenius", NormFrobenius),
  OLD("norm infinity", NormInfinity),
  OLD("norm 1 and 2", Norm12),
  OLD("sum", Sum),
  EXACT("max", Greatest),
  EXACT("min", Least),
  OLD("max divide", MaxDivide),
  OLD("split", Split),
};
