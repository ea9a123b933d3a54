static const char help[] = "Operations on vectors of type accel, each against PETSc's own, with other vectors mixed in.\n\
  -n <0,1,...> - local sizes on the first process\n\
  -quick       - all vectors of our type, values on the host before each operation\n\n";

#include "devicetest.h"
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

/* Where the values of a vector of our type are before an operation: on the host, on the device, on both */
typedef enum {
  ON_HOST,
  ON_DEVICE,
  ON_BOTH,
  WHERE_COUNT
} Where;

static PetscErrorCode Place(Vec v, Where where)
{
  const PetscScalar *array;

  PetscFunctionBegin;
  if (where == ON_HOST) PetscFunctionReturn(0);
  PetscCall(VecScale(v, 2)); /* exact */
  PetscCall(VecScale(v, 0.5));
  if (where == ON_BOTH) {
    PetscCall(VecGetArrayRead(v, &array));
    PetscCall(VecRestoreArrayRead(v, &array));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(PetscInt n, PetscBool ours, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, ours ? VECACCEL : VECSTANDARD));
  PetscFunctionReturn(0);
}

/* The same values each time, some of them 0 and some equal */
static PetscErrorCode Fill(Vec v, int seed, PetscBool nan)
{
  PetscScalar *array;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &array));
  for (PetscInt i = first; i < last; i++) {
    array[i - first] = (i + seed) % 11 == 0 ? 0 : PetscSinReal((PetscReal)((i % 211) * (seed + 2) + 3 * seed)) * (i % 3 == 0 ? 10 : 1);
    if (PetscDefined(USE_COMPLEX) && i % 4) array[i - first] += PETSC_i * PetscCosReal((PetscReal)(i + seed));
    if (nan) array[i - first] = (PetscScalar)NAN;
  }
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(0);
}

static PetscErrorCode WorkFill(Work *k, PetscBool nan)
{
  PetscFunctionBegin;
  PetscCall(Fill(k->w, 0, nan));
  PetscCall(Fill(k->x, 1, PETSC_FALSE));
  PetscCall(Fill(k->y, 2, PETSC_FALSE));
  for (int i = 0; i < MANY; i++) PetscCall(Fill(k->many[i], i + 3, PETSC_FALSE));
  k->nresults = 0;
  PetscFunctionReturn(0);
}

/* Largest difference of two vectors' local entries, relative to the largest one */
static PetscErrorCode Differ(Vec u, Vec v, PetscReal *difference)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscReal          size = 1, largest = 0;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  PetscCall(VecGetArrayRead(v, &b));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal d = PetscAbsScalar(a[i] - b[i]);

    if (!(d <= largest)) largest = d; /* NaN stays */
    size = PetscMax(size, PetscAbsScalar(b[i]));
  }
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscCall(VecRestoreArrayRead(u, &a));
  *difference = largest / size;
  PetscFunctionReturn(0);
}

static PetscErrorCode Check(const Operation *o, Work *ours, Work *theirs, PetscInt N, const char how[], PetscInt *failures)
{
  PetscReal d[3] = {0}, worst = 0, bound = 50 * PETSC_MACHINE_EPSILON;

  PetscFunctionBegin;
  PetscCall(Differ(ours->w, theirs->w, &d[0]));
  PetscCall(Differ(ours->x, theirs->x, &d[1]));
  PetscCall(Differ(ours->y, theirs->y, &d[2]));
  for (int i = 0; i < 3; i++) {
    if (!(d[i] <= worst)) worst = d[i];
  }
  for (PetscInt i = 0; i < ours->nresults; i++) {
    const PetscReal e = PetscAbsScalar(ours->result[i] - theirs->result[i]) / PetscMax(o->places ? 1 : N, 1) / 100; /* entries are 10 at most */

    if (!(e <= worst)) worst = e;
  }
  if (!(worst <= (o->places ? 0 : bound))) {
    ++*failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] %s, %s, %" PetscInt_FMT " entries: wrong by %g\n", PetscGlobalRank, o->name, how, N, (double)worst));
  }
  PetscFunctionReturn(0);
}

/* All operations with vectors of n local entries: each place of the values, and if mixed each of w, x, y of our type or not (bits of mask) */
static PetscErrorCode CheckSize(PetscInt n, PetscBool mixed, PetscBool quick, PetscInt *failures)
{
  Work     theirs, ours, v[2]; /* v: the vectors of PETSc's type and of ours, from which `ours` takes */
  PetscInt N;

  PetscFunctionBegin;
  for (int type = 0; type < 2; type++) {
    PetscCall(Create(n, (PetscBool)type, &v[type].w));
    PetscCall(Create(n, (PetscBool)type, &v[type].x));
    PetscCall(Create(n, (PetscBool)type, &v[type].y));
    for (int i = 0; i < MANY; i++) PetscCall(Create(n, (PetscBool)type, &v[type].many[i]));
  }
  PetscCall(VecDuplicate(v[0].w, &theirs.w));
  PetscCall(VecDuplicate(v[0].w, &theirs.x));
  PetscCall(VecDuplicate(v[0].w, &theirs.y));
  for (int i = 0; i < MANY; i++) PetscCall(VecDuplicate(v[0].w, &theirs.many[i]));
  PetscCall(VecGetSize(theirs.w, &N));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(Operations); o++) {
    PetscScalar first[MANY];

    PetscCall(WorkFill(&theirs, Operations[o].overwrites));
    PetscCall(Operations[o].run(&theirs));
    for (int mask = 7; mask >= 0; mask--) {
      ours.w = v[mask & 1].w;
      ours.x = v[mask >> 1 & 1].x;
      ours.y = v[mask >> 2 & 1].y;
      for (int i = 0; i < MANY; i++) ours.many[i] = v[i % 3 == 1 ? mask >> 1 & 1 : mask >> 2 & 1].many[i];
      for (int where = 0; where < (int)WHERE_COUNT; where++) {
        char how[64];

        if ((quick && (where || mask != 7)) || (mask != 7 && !mixed)) continue;
        PetscCall(WorkFill(&ours, Operations[o].overwrites));
        PetscCall(Place(ours.w, (Where)where));
        PetscCall(Place(ours.x, (Where)where));
        PetscCall(Place(ours.y, mask == 7 ? (Where)where : ON_DEVICE));
        for (int i = 0; i < MANY; i++) PetscCall(Place(ours.many[i], (Where)((where + i) % WHERE_COUNT)));
        PetscCall(Operations[o].run(&ours));
        PetscCall(PetscSNPrintf(how, sizeof(how), "types %d, values at %d", mask, where));
        PetscCall(Check(&Operations[o], &ours, &theirs, N, how, failures));
        if (mask != 7) continue;
        if (!where) PetscCall(PetscArraycpy(first, ours.result, ours.nresults)); /* wherever the values were, the same bits */
        else if (memcmp(first, ours.result, (size_t)ours.nresults * sizeof(PetscScalar))) {
          ++*failures;
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %" PetscInt_FMT " entries: other bits the next time\n", Operations[o].name, N));
        }
      }
    }
  }
  for (int type = 0; type < 3; type++) {
    Work *k = type < 2 ? &v[type] : &theirs;

    PetscCall(VecDestroy(&k->w));
    PetscCall(VecDestroy(&k->x));
    PetscCall(VecDestroy(&k->y));
    for (int i = 0; i < MANY; i++) PetscCall(VecDestroy(&k->many[i]));
  }
  PetscFunctionReturn(0);
}

/* What is not a number: it shows in the largest absolute value, and other extremes do not see it */
static PetscErrorCode CheckNaN(PetscInt *failures)
{
  PetscReal norm, max, min;
  PetscInt  place[2];
  Vec       v;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, &v));
  PetscCall(VecSetSizes(v, 1000, 1000));
  PetscCall(VecSetType(v, VECACCEL));
  PetscCall(VecSet(v, 1));
  PetscCall(VecSetValue(v, 700, 3, INSERT_VALUES));
  PetscCall(VecSetValue(v, 900, 3, INSERT_VALUES));
  PetscCall(VecSetValue(v, 30, -2, INSERT_VALUES));
  PetscCall(VecSetValue(v, 400, (PetscScalar)NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(VecNorm(v, NORM_INFINITY, &norm));
  PetscCall(VecMax(v, &place[0], &max));
  PetscCall(VecMin(v, &place[1], &min));
  if (!PetscIsNanReal(norm) || max != 3 || place[0] != 700 || min != -2 || place[1] != 30) {
    ++*failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "NaN: norm %g, max %g at %" PetscInt_FMT ", min %g at %" PetscInt_FMT "\n", (double)norm, (double)max, place[0], (double)min, place[1]));
  }
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  sizes[32] = {0, 1, 2, 63, 64, 65, 1000, 4097}, nsizes = 32, failures = 0;
  PetscBool set, quick, missing;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) goto end;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", sizes, &nsizes, &set));
  if (!set) nsizes = 8;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-quick", &quick));
  for (PetscInt k = 0; k < nsizes; k++) {
    const PetscInt  others = PetscGlobalRank % 2 ? sizes[k] / 2 : sizes[k] == 65 ? 130
                                                                                 : 0; /* some processes have none */
    const PetscBool mixed  = (PetscBool)(sizes[k] == 65 && !PetscDefined(USE_DEBUG)); /* a debugging PETSc takes no mixture */

    PetscCall(CheckSize(PetscGlobalRank ? others : sizes[k], mixed, quick, &failures));
  }
  PetscCall(CheckNaN(&failures));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " operations wrong\n", failures));
end:
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    args: -spmv_device opencl -skip_without_device
    output_file: output/vec_accel.out
    timeoutfactor: 5
    test:
      suffix: 1
      nsize: {{1 2 3}}
    test: # other work groups than a processor has
      suffix: workgroup
      args: -spmv_vec_workgroup {{1 256}} -n 0,1,65,257,1000
    test: # more entries than the first step of a sum takes at once
      suffix: large
      args: -spmv_vec_workgroup 4 -n 40001 -quick

  testset: # all of it by the host
    output_file: output/vec_accel.out
    test:
      suffix: none
      nsize: {{1 2}}
      args: -spmv_device none
    test: # some of it: room for half of the vectors
      suffix: full
      nsize: 2
      args: -spmv_device opencl -skip_without_device -spmv_device_memory {{1000 400000}} -n 65,1000
      filter: grep -v "^Warning: .* has no room for a vector"
      timeoutfactor: 5

TEST*/
