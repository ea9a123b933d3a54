static const char help[] = "Vectors of type accel: which side has the values, what is moved for that, vectors that share entries.\n\n";

#include <petsc/private/vecimpl.h>
#include <petscksp.h>
#include <petscdmda.h>
#include <petscspmv.h>
#include "vec/vecaccel.h"
#include "device/device.h"

#define N 100 /* local entries */

static PetscInt Failures;

/* Whether a fact holds */
static PetscErrorCode Fact(PetscBool holds, const char what[])
{
  PetscFunctionBegin;
  if (!holds) {
    ++Failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] wrong: %s\n", PetscGlobalRank, what));
  }
  PetscFunctionReturn(0);
}

/* Vectors moved since the last call */
static PetscErrorCode Moved(PetscInt64 up, PetscInt64 down, PetscInt64 sent, const char what[])
{
  static SpmvVecCounts before;
  const SpmvVecCounts  now = SpmvVecTotals;

  PetscFunctionBegin;
  if (what && (now.up - before.up != up || now.down - before.down != down || now.sent - before.sent != sent)) {
    ++Failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] %s: %d to the device, %d to the host, %d sent along, and not %d, %d, %d\n", PetscGlobalRank, what, (int)(now.up - before.up), (int)(now.down - before.down), (int)(now.sent - before.sent), (int)up, (int)down, (int)sent));
  }
  before = now;
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(MPI_Comm comm, PetscInt n, const char type[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(0);
}

/* Whether all local entries are a value, without asking for the array in a way that changes anything but where the values are */
static PetscErrorCode IsAll(Vec v, PetscReal value, const char what[])
{
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          holds = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n; i++) holds = (PetscBool)(holds && a[i] == (PetscScalar)value);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(Fact(holds, what));
  PetscFunctionReturn(0);
}

/* Reading, writing and overwriting, on the host and on the device */
static PetscErrorCode Sides(void)
{
  Vec                x, y;
  PetscScalar       *a, dot;
  const PetscScalar *r;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecSet(x, 2));
  PetscCall(VecSet(y, 3));
  PetscCall(VecAXPY(y, 2, x)); /* 7 */
  PetscCall(VecDot(x, y, &dot));
  PetscCall(Moved(0, 0, 0, "set, axpy, dot"));
  PetscCall(VecGetArrayRead(y, &r));
  PetscCall(Fact((PetscBool)(r[5] == (PetscScalar)7), "host read after kernels"));
  PetscCall(Moved(0, 1, 0, "host read"));
  PetscCall(VecScale(y, 2)); /* while the array is held for reading */
  PetscCall(Fact((PetscBool)(r[5] == (PetscScalar)14), "an array held for reading shows what kernels write"));
  PetscCall(VecRestoreArrayRead(y, &r));
  PetscCall(Moved(0, 1, 0, "a write while the array is read"));
  PetscCall(VecDot(y, x, &dot));
  PetscCall(VecGetArrayRead(y, &r));
  PetscCall(VecRestoreArrayRead(y, &r));
  PetscCall(Moved(0, 0, 0, "both sides are good"));
  PetscCall(VecGetArray(y, &a));
  a[0] = 1;
  PetscCall(VecShift(y, 1)); /* the host's, as the array is held */
  PetscCall(Fact((PetscBool)(a[0] == (PetscScalar)2 && a[1] == (PetscScalar)15), "an operation while the array is held"));
  a[0] = 15;
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(Moved(0, 0, 0, "array held"));
  PetscCall(VecScale(y, 2));
  PetscCall(Moved(1, 0, 0, "kernel after a host write"));
  PetscCall(IsAll(y, 30, "kernel after a host write"));
  PetscCall(Moved(0, 1, 0, "host read again"));
  PetscCall(VecScale(y, 0.5));
  PetscCall(VecGetArrayWrite(y, &a));
  for (PetscInt i = 0; i < N; i++) a[i] = 4;
  PetscCall(VecRestoreArrayWrite(y, &a));
  PetscCall(Moved(0, 0, 0, "overwritten on the host"));
  PetscCall(VecCopy(x, y));
  PetscCall(Moved(0, 0, 0, "overwritten on the device"));
  PetscCall(IsAll(y, 2, "copy"));
  PetscCall(VecSetValue(y, 0, 5, ADD_VALUES));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  PetscCall(VecSum(y, &dot));
  PetscCall(Fact((PetscBool)(PetscAbsScalar(dot - (PetscScalar)(2 * N + 5) - (PetscScalar)((2 * N + 5) * (PetscGlobalSize - 1))) < 1e-3), "VecSetValues()"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* The states and remembered norms of what kernels of others write */
static PetscErrorCode States(void)
{
  SpmvDevice      *device;
  Vec              x, y;
  void            *xb, *yb;
  PetscReal        norm;
  PetscScalar     *a, ones[N];
  PetscObjectState before, after;
  PetscBool        full = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  PetscCall(Create(PETSC_COMM_SELF, N, VECACCEL, &x));
  PetscCall(Create(PETSC_COMM_SELF, N, VECSEQ, &y));
  PetscCall(Fact(SpmvVecIsAccel(x), "SpmvVecIsAccel()"));
  PetscCall(Fact((PetscBool)!SpmvVecIsAccel(y), "SpmvVecIsAccel() of a vector on the host"));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 3));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(SpmvVecGetDeviceRead(x, &xb));
  PetscCall(SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb));
  PetscCall(Fact((PetscBool)(xb && yb && xb != yb), "buffers"));
  PetscCall(PetscObjectStateGet((PetscObject)y, &before));
  PetscCall(SpmvVecRestoreDevice(y, PETSC_FALSE)); /* nothing was written after all */
  PetscCall(PetscObjectStateGet((PetscObject)y, &after));
  PetscCall(Fact((PetscBool)(before == after), "state of what was not written"));
  PetscCall(IsAll(y, 3, "what was not written"));
  PetscCall(SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb));
  PetscCall(SpmvDeviceRead(device, xb, ones, sizeof(ones)));
  PetscCall(SpmvDeviceWrite(device, yb, ones, sizeof(ones), &full)); /* in place of a kernel */
  PetscCall(SpmvVecRestoreDevice(y, PETSC_TRUE));
  PetscCall(SpmvVecRestoreDevice(x, PETSC_FALSE));
  PetscCall(PetscObjectStateGet((PetscObject)y, &after));
  PetscCall(Fact((PetscBool)(before < after), "state of what was written"));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(Fact((PetscBool)(norm == 1), "norm of what was written"));
  PetscCall(IsAll(y, 1, "what was written"));
  PetscCall(VecGetArray(y, &a));
  PetscCall(SpmvVecGetDeviceRead(y, &yb));
  PetscCall(Fact((PetscBool)!yb, "no buffer while the array is held"));
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(VecSet(y, 2));
  PetscCall((*y->ops->bindtocpu)(y, PETSC_TRUE));
  PetscCall(Fact((PetscBool)!SpmvVecIsAccel(y), "SpmvVecIsAccel() of a vector bound to the host"));
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecScale(y, 2));
  PetscCall(VecAXPY(x, 1, y)); /* x is on the device only: y is sent */
  PetscCall(Moved(0, 0, 1, "bound to the host"));
  PetscCall((*y->ops->bindtocpu)(y, PETSC_FALSE));
  PetscCall(IsAll(y, 4, "bound to the host"));
  PetscCall(IsAll(x, 5, "with a vector bound to the host"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* No operation leaves a norm that is not the vector's any more */
static PetscErrorCode Norms(void)
{
  Vec       x, y;
  PetscReal norm[4];

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_SELF, N, VECACCEL, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(y, -4));
  for (int operation = 0; operation < 10; operation++) {
    const PetscReal after[] = {3, 1, 5, 0.25, 2, 4, 2, 6, 4, 16};

    PetscCall(VecSet(x, operation < 3 ? -1 : 4));
    PetscCall(VecScale(x, operation < 3 ? 1 : -1));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm[0]));
    if (operation == 0) PetscCall(VecShift(x, -2));
    if (operation == 1) PetscCall(VecSqrtAbs(x));
    if (operation == 2) PetscCall(VecAXPY(x, 1, y));
    if (operation == 3) PetscCall(VecReciprocal(x));
    if (operation == 4) PetscCall(VecScale(x, 0.5));
    if (operation == 5) PetscCall(VecAbs(x));
    if (operation == 6) PetscCall(VecSet(x, 2));
    if (operation == 7) PetscCall(VecAXPBY(x, 1, 0.5, y));
    if (operation == 8) PetscCall(VecSwap(x, y));
    if (operation == 9) PetscCall(VecPointwiseMult(x, x, y));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm[1]));
    PetscCall(VecMin(x, NULL, &norm[2]));
    PetscCall(VecMax(x, NULL, &norm[3]));
    PetscCall(Fact((PetscBool)(norm[1] == after[operation] && norm[1] == PetscMax(PetscAbsReal(norm[2]), PetscAbsReal(norm[3]))), "a norm after an operation"));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* VecPlaceArray() and its kin, local vectors */
static PetscErrorCode Places(void)
{
  PetscScalar  mine[N], *fresh;
  Vec          x, w, host;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(Create(PETSC_COMM_SELF, N, VECACCEL, &w));
  PetscCall(VecSet(w, 7));
  for (int i = 0; i < N; i++) mine[i] = 1;
  PetscCall(VecPlaceArray(w, mine));
  PetscCall(VecScale(w, 3));
  PetscCall(VecResetArray(w));
  PetscCall(Fact((PetscBool)(mine[0] == (PetscScalar)3 && mine[N - 1] == (PetscScalar)3), "what kernels wrote to a placed array"));
  PetscCall(IsAll(w, 7, "a vector whose array was replaced for a while"));
  PetscCall(VecScale(w, 2));
  PetscCall(IsAll(w, 14, "and then written"));

  /* As PCBJACOBI has it: a vector without array that gets type, then places the arrays of others */
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, NULL, &host));
  PetscCall(VecSetType(host, VECACCEL));
  PetscCall(VecSet(x, 5));
  PetscCall(VecGetArray(x, &a));
  PetscCall(VecPlaceArray(host, a));
  PetscCall(VecAXPY(host, 2, w)); /* 33 */
  PetscCall(VecResetArray(host));
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(IsAll(x, 33, "the array of another vector, placed"));
  PetscCall(VecScale(x, 2));
  PetscCall(IsAll(x, 66, "and then written"));

  PetscCall(PetscMalloc1(N, &fresh));
  for (int i = 0; i < N; i++) fresh[i] = 8;
  PetscCall(VecScale(w, 2));
  PetscCall(VecReplaceArray(w, fresh));
  PetscCall(VecShift(w, 1));
  PetscCall(IsAll(w, 9, "VecReplaceArray()"));

  /* Local vectors: nothing moves */
  PetscCall(VecSet(x, 4));
  PetscCall(VecSet(w, 6));
  PetscCall(IsAll(w, 6, "w")); /* its own values come to the host, where they wait */
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecGetLocalVector(x, w));
  PetscCall(VecScale(w, 2));
  PetscCall(VecRestoreLocalVector(x, w));
  PetscCall(VecShift(x, 1));
  PetscCall(VecGetLocalVectorRead(x, w));
  PetscCall(VecDot(w, w, &mine[0]));
  PetscCall(VecRestoreLocalVectorRead(x, w));
  PetscCall(Moved(0, 0, 0, "local vectors"));
  PetscCall(Fact((PetscBool)(PetscAbsScalar(mine[0] - (PetscScalar)(81 * N)) < 1e-3), "a local vector read"));
  PetscCall(IsAll(x, 9, "a local vector written"));
  PetscCall(IsAll(w, 6, "the vector that was a local one"));
  PetscCall(VecShift(w, 1));
  PetscCall(IsAll(w, 7, "and then written"));

  /* A buffer that the local vector had to make, and one that was made on both sides */
  PetscCall(VecDestroy(&x));
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecGetLocalVector(x, w));
  PetscCall(VecShift(w, 3));
  PetscCall(VecRestoreLocalVector(x, w));
  PetscCall(IsAll(x, 3, "a buffer made by a local vector"));
  PetscCall(VecDestroy(&x));
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecGetLocalVectorRead(x, w));
  PetscCall(VecDot(w, w, &mine[0]));
  PetscCall(VecDot(x, x, &mine[1]));
  PetscCall(VecRestoreLocalVectorRead(x, w));
  PetscCall(VecShift(x, 2));
  PetscCall(IsAll(x, 2, "two buffers of one vector"));

  /* With a vector of another type, either way */
  PetscCall(VecDestroy(&host));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &host));
  PetscCall(VecGetLocalVector(x, host));
  PetscCall(VecShift(host, 1));
  PetscCall(VecRestoreLocalVector(x, host));
  PetscCall(VecScale(x, 2));
  PetscCall(IsAll(x, 6, "a local vector on the host"));
  PetscCall(VecGetLocalVectorRead(x, host));
  PetscCall(IsAll(host, 6, "a local vector on the host, read"));
  PetscCall(VecRestoreLocalVectorRead(x, host));
  PetscCall(VecSet(host, 2));
  PetscCall(VecGetLocalVector(host, w));
  PetscCall(VecShift(w, 1));
  PetscCall(VecRestoreLocalVector(host, w));
  PetscCall(IsAll(host, 3, "a local vector on the device"));
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecSet(w, 1));
  PetscCall(VecScale(w, 2));
  PetscCall(Moved(0, 0, 0, "a vector that was a local one is ready for kernels"));
  PetscCall(VecDestroy(&host));
  PetscCall(VecCreateLocalVector(x, &host));
  PetscCall(Fact(SpmvVecIsAccel(host), "VecCreateLocalVector()"));
  PetscCall(VecDestroy(&host));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

/* Subvectors, contiguous and not, changed and not */
static PetscErrorCode Parts(void)
{
  IS       is[2];
  Vec      x, part;
  PetscInt first;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, N / 2, first + 10, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, N / 2, first, 2, &is[1]));
  for (int k = 0; k < 2; k++) {
    PetscScalar sum;

    PetscCall(VecSet(x, 1));
    PetscCall(Moved(0, 0, 0, NULL));
    PetscCall(VecGetSubVector(x, is[k], &part));
    PetscCall(VecScale(part, 4));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecShift(x, 1));
    if (!k) PetscCall(Moved(0, 0, 0, "a contiguous subvector"));
    PetscCall(VecSum(x, &sum));
    PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 2 + N / 2 * 5))) < 1e-3), k ? "a subvector" : "a contiguous subvector"));
    PetscCall(VecGetSubVector(x, is[k], &part)); /* on the host */
    PetscCall(VecSetValue(part, k, 100, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(part));
    PetscCall(VecAssemblyEnd(part));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecSum(x, &sum));
    PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 2 + N / 2 * 5) + 95)) < 1e-3), k ? "a subvector changed by the host" : "a contiguous subvector changed by the host"));
    PetscCall(VecShift(x, 1));
    PetscCall(VecSetValue(x, first, -1, ADD_VALUES)); /* x on the host only, its part on the device only */
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(VecGetSubVector(x, is[k], &part));
    PetscCall(VecShift(part, -1));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecSum(x, &sum));
    PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 3 + N / 2 * 5 - 1) + 95)) < 1e-3), k ? "a subvector put back into what is on the host" : "a contiguous subvector put back into what is on the host"));
    PetscCall(VecSetValue(x, first, 1, ADD_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(VecLockReadPush(x));
    PetscCall(VecGetSubVector(x, is[k], &part)); /* only read, as x must be */
    PetscCall(VecSum(part, &sum));
    PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 5) + 95)) < 1e-3), "a subvector read"));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecLockReadPop(x));
    PetscCall(ISDestroy(&is[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* Scatters, ghost points, files, nests, dense matrices, duplicates */
static PetscErrorCode Others(void)
{
  DM                 da;
  Vec                x, l, all, nest, parts[2], *many, column;
  VecScatter         scatter;
  PetscViewer        viewer;
  Mat                dense;
  PetscRandom        rand;
  const PetscScalar *a;
  PetscScalar        sum;
  PetscInt           n;
  PetscBool          holds = PETSC_TRUE, ours;

  PetscFunctionBegin;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, N, 1, 1, NULL, &da));
  PetscCall(DMSetVecType(da, VECACCEL));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(DMCreateLocalVector(da, &l));
  PetscCall(Fact((PetscBool)(SpmvVecIsAccel(x) && SpmvVecIsAccel(l)), "vectors of a DM"));
  PetscCall(VecSet(x, 3));
  PetscCall(VecSet(l, -1));
  PetscCall(DMGlobalToLocal(da, x, INSERT_VALUES, l));
  PetscCall(IsAll(l, 3, "DMGlobalToLocal()"));
  PetscCall(VecScale(l, 2));
  PetscCall(DMLocalToGlobal(da, l, INSERT_VALUES, x));
  PetscCall(IsAll(x, 6, "DMLocalToGlobal()"));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDuplicate(x, &l)); /* with its DM, and PETSc's way to print it */
  PetscCall(Fact((PetscBool)(l->ops->view == x->ops->view), "a duplicate's operations"));
  PetscCall(VecScale(l, 1.5));
  PetscCall(VecDestroy(&l));

  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScale(x, 0.5));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(IsAll(all, 3, "VecScatter"));
  PetscCall(VecScale(all, 2));
  PetscCall(VecScatterBegin(scatter, all, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, all, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecShift(x, 1));
  PetscCall(IsAll(x, 7, "VecScatter, reverse"));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));

  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "vec.bin", FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecSet(x, 0));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "vec.bin", FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecShift(x, 1));
  PetscCall(IsAll(x, 8, "VecView() and VecLoad()"));

  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, 2, 3));
  PetscCall(VecSetRandom(x, rand));
  PetscCall(VecShift(x, -2));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < n; i++) holds = (PetscBool)(holds && PetscRealPart(a[i]) >= 0 && PetscRealPart(a[i]) <= 1);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(Fact(holds, "VecSetRandom()"));
  PetscCall(PetscRandomDestroy(&rand));

  PetscCall(VecDuplicateVecs(x, 3, &many));
  PetscCall(VecSet(x, 1));
  for (int k = 0; k < 3; k++) PetscCall(VecSet(many[k], k + 1));
  PetscCall(VecMAXPY(x, 3, (PetscScalar[]){1, 10, 100}, many));
  PetscCall(IsAll(x, 322, "VecDuplicateVecs()"));
  PetscCall(VecDestroyVecs(3, &many));

  PetscCall(VecDuplicate(x, &parts[0]));
  PetscCall(VecDuplicate(x, &parts[1]));
  PetscCall(VecSet(parts[0], 2));
  PetscCall(VecSet(parts[1], 3));
  PetscCall(VecCreateNest(PETSC_COMM_WORLD, 2, NULL, parts, &nest));
  PetscCall(VecScale(nest, 2));
  PetscCall(VecSum(nest, &sum));
  PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(10 * N)) < 1e-3), "VECNEST"));
  PetscCall(IsAll(parts[1], 6, "parts of a nest"));
  PetscCall(VecDestroy(&nest));

  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 2, NULL, &dense));
  PetscCall(MatSetVecType(dense, VECACCEL));
  PetscCall(MatDenseGetColumnVecWrite(dense, 1, &column));
  PetscCall(VecCopy(parts[1], column));
  PetscCall(VecShift(column, 1));
  PetscCall(MatDenseRestoreColumnVecWrite(dense, 1, &column));
  PetscCall(MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetColumnVector(dense, parts[0], 1));
  PetscCall(VecShift(parts[0], 1));
  PetscCall(IsAll(parts[0], 8, "a column of a dense matrix"));
  PetscCall(MatDestroy(&dense));

  PetscCall(VecSet(parts[1], 4));
  PetscCall(VecScale(parts[1], 2));
  PetscCall(VecSetType(parts[1], VECACCEL)); /* as it is: VecSetFromOptions() once more, with -vec_type accel */
  PetscCall(VecShift(parts[1], 1));
  PetscCall(IsAll(parts[1], 9, "a type that was set again"));
  PetscCall(VecSetType(parts[0], VECSTANDARD)); /* to another type and back */
  PetscCall(VecSet(parts[0], 1));
  PetscCall(VecSetType(parts[0], VECACCEL));
  PetscCall(VecSet(parts[0], 1));
  PetscCall(VecShift(parts[0], 1));
  PetscCall(IsAll(parts[0], 2, "a type that was changed"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)parts[0], &ours, VECSEQACCEL, VECMPIACCEL, ""));
  PetscCall(Fact(ours, "the name of a type"));
  PetscCall(VecDestroy(&parts[0]));
  PetscCall(VecDestroy(&parts[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* KSP with a preconditioner whose diagonal is ours, and right-hand side, solution and work vectors that are not */
static PetscErrorCode Jacobi(void)
{
  Mat      A;
  KSP      ksp;
  Vec      b, x, d, z;
  PetscInt first, last, rows, its;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, N, N, PETSC_DETERMINE, PETSC_DETERMINE, 3, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetSize(A, &rows, NULL));
  for (PetscInt i = first; i < last; i++) {
    if (i) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i < rows - 1) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 2.1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &b, &x));
  PetscCall(VecSet(b, 1));
  PetscCall(MatSetVecType(A, VECACCEL)); /* what PCJACOBI asks for its diagonal */
  PetscCall(MatCreateVecs(A, &d, &z));
  PetscCall(Fact((PetscBool)(SpmvVecIsAccel(d) && SpmvVecIsAccel(z)), "MatSetVecType()"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  {
    PC pc;

    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
  }
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(Fact((PetscBool)(its > 5), "some iterations"));
  PetscCall(Moved(1, 1, 0, "a diagonal that is ours: inverted by a kernel, then the host's")); /* work vectors are as b */

  /* The same by hand, with a diagonal that a kernel wrote: it comes to the host once */
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecReciprocal(d));
  PetscCall(Moved(1, 0, 0, "reciprocals"));
  for (int k = 0; k < 5; k++) PetscCall(VecPointwiseMult(x, b, d));
  PetscCall(Moved(0, 1, 0, "host vectors times one of ours"));
  for (int k = 0; k < 5; k++) PetscCall(VecPointwiseMult(z, b, d)); /* b is the host's, d there as well: the host */
  PetscCall(Moved(0, 0, 0, "a host vector times one of ours"));
  PetscCall(VecScale(z, 2));
  PetscCall(VecAXPY(z, 1, b));
  PetscCall(Moved(1, 0, 1, "a host vector added to one of ours"));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&z));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvDevice *device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(SpmvDeviceGet(&device));
  if (!device) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SKIP: there is no device; install pocl-opencl-icd\n"));
  else {
    const PetscLogDouble held = device->held;

    PetscCall(Sides());
    PetscCall(States());
    PetscCall(Norms());
    PetscCall(Places());
    PetscCall(Parts());
    PetscCall(Others());
    PetscCall(Jacobi());
    PetscCall(Fact((PetscBool)(device->held - held < 1e6), "vectors that are destroyed give their memory back")); /* the buffers of sums stay */
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &Failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " facts wrong\n", Failures));
  }
  PetscCall(PetscFinalize());
  return Failures ? 1 : 0;
}

/*TEST

  test:
    nsize: {{1 2 3}}
    timeoutfactor: 5

TEST*/
