static const char help[] = "Operations on vectors of type accel, each against PETSc's own, with other vectors mixed in.\n\
  -n <0,1,...> - local sizes on the first process\n\
  -quick       - all vectors of our type, values on the host before each operation\n\n";

#include "devicetest.h"
#include "vec_accel_operations.h"

/* Where the values of a vector of our type are before an operation: on the host, on the device, on both */
typedef enum { ON_HOST, ON_DEVICE, ON_BOTH, WHERE_COUNT } Where;

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
    array[i - first] =
      (i + seed) % 11 == 0 ? 0 : PetscSinReal((PetscReal)((i % 211) * (seed + 2) + 3 * seed)) * (i % 3 == 0 ? 10 : 1);
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
  const PetscReal long_sum =
    PetscMax(1, PetscSqrtReal((PetscReal)N) / 100); /* PETSc adds one entry after the other, and so roundings */
  PetscReal d[3] = {0}, worst = 0, bound = 50 * PETSC_MACHINE_EPSILON;

  PetscFunctionBegin;
  PetscCall(Differ(ours->w, theirs->w, &d[0]));
  PetscCall(Differ(ours->x, theirs->x, &d[1]));
  PetscCall(Differ(ours->y, theirs->y, &d[2]));
  for (int i = 0; i < 3; i++) {
    if (!(d[i] <= worst)) worst = d[i];
  }
  for (PetscInt i = 0; i < ours->nresults; i++) {
    const PetscReal e = PetscAbsScalar(ours->result[i] - theirs->result[i]) / PetscMax(o->places ? 1 : N, 1) / 100 /
                        long_sum; /* entries are 10 at most */

    if (!(e <= worst)) worst = e;
  }
  if (!(worst <= (o->places ? 0 : bound))) {
    ++*failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] %s, %s, %" PetscInt_FMT " entries: wrong by %g\n", PetscGlobalRank, o->name, how,
                          N, (double)worst));
  }
  PetscFunctionReturn(0);
}

/* All operations with vectors of n local entries: values in each place; if mixed, each of w, x, y of our type or not (mask) */
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
          PetscCall(
            PetscPrintf(PETSC_COMM_SELF, "%s, %" PetscInt_FMT " entries: other bits the next time\n", Operations[o].name, N));
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

/* NaN is the largest absolute value if there is one, and other extremes do not see it */
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
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "NaN: norm %g, max %g at %" PetscInt_FMT ", min %g at %" PetscInt_FMT "\n",
                          (double)norm, (double)max, place[0], (double)min, place[1]));
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
    const PetscInt  others = PetscGlobalRank % 2 ? sizes[k] / 2 : sizes[k] == 65 ? 130 : 0; /* some processes have none */
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
      nsize: {{1 2}}
    test:
      suffix: 3_long
      nsize: 3
    test: # other work groups than a processor has
      suffix: workgroup_long
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

  test: # all but very short vectors, and some of them: one warning
    suffix: full
    args: -spmv_device opencl -skip_without_device -spmv_device_memory {{1000 150000}} -n 65,1000
    filter: sed -e "s,Warning: .* has no room for a vector of .* entries beside the .* bytes,Warning: no room beside the bytes,"
    timeoutfactor: 5

TEST*/
