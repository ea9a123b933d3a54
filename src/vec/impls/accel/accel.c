/*
  accel.c - the type VECACCEL: created, duplicated, destroyed; which operations it has

  A vector becomes one of PETSc's own for the host, VECSEQ or VECMPI, and then takes another name and other operations. Its data stays
  what PETSc's operations know; ours is composed with the object. Where there is no device, PETSc's operations stay.
*/
#include "accel.h"
#include <petscviewer.h>

static PetscBool CountsView; /* -spmv_device_view */

/* The last vector that was destroyed to get another type, and its values, for when that type is ours */
static struct {
  Vec          v;
  PetscInt     n;
  PetscScalar *array;
} Kept;

static PetscErrorCode VecKeep(Vec v)
{
  const PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(PetscFree(Kept.array));
  Kept.v = NULL;
  if (!SPMV_SETTYPE_FORGETS || !((PetscObject)v)->refct) PetscFunctionReturn(PETSC_SUCCESS); /* it is gone for good */
  Kept.v = v;
  Kept.n = v->map->n;
  PetscCall(PetscMalloc1(Kept.n, &Kept.array));
  PetscCall(VecGetArrayRead(v, &array));
  if (array) PetscCall(PetscArraycpy(Kept.array, array, Kept.n));
  else PetscCall(PetscFree(Kept.array));
  PetscCall(VecRestoreArrayRead(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGiveKept(Vec v)
{
  PetscFunctionBegin;
  if (Kept.v == v && Kept.array && Kept.n == v->map->n) PetscCall(PetscArraycpy(VecAccelArray(v), Kept.array, Kept.n));
  PetscCall(PetscFree(Kept.array));
  Kept.v = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc does it, but the composed data of w stays w's: everything else goes along, operations that a DM has set as well */
static PetscErrorCode VecDuplicate_Accel(Vec w, Vec *result)
{
  VecAccel *a;
  Vec       v;

  PetscFunctionBegin;
  PetscCall(VecCreate(PetscObjectComm((PetscObject)w), &v));
  PetscCall(PetscLayoutReference(w->map, &v->map));
  PetscCall(VecSetType(v, ((PetscObject)w)->type_name));
  PetscCall(VecAccelGet(v, &a));
  PetscCall(PetscObjectReference((PetscObject)a->container));
  PetscCall(PetscObjectListDuplicate(((PetscObject)w)->olist, &((PetscObject)v)->olist));
  PetscCall(PetscFunctionListDuplicate(((PetscObject)w)->qlist, &((PetscObject)v)->qlist));
  PetscCall(PetscObjectCompose((PetscObject)v, VEC_ACCEL_DATA, (PetscObject)a->container));
  PetscCall(PetscObjectDereference((PetscObject)a->container));
  PetscCall(PetscMemcpy(v->ops, w->ops, sizeof(struct _VecOps)));
  v->stash.donotstash   = w->stash.donotstash;
  v->stash.ignorenegidx = w->stash.ignorenegidx;
  v->bstash.bs          = w->bstash.bs;
  *result               = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDuplicateVecs_Accel(Vec w, PetscInt m, Vec *v[])
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, v));
  for (PetscInt k = 0; k < m; k++) PetscCall(VecDuplicate(w, &(*v)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDestroyVecs_Accel(PetscInt m, Vec v[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < m; k++) PetscCall(VecDestroy(&v[k]));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDestroy_Accel(Vec v)
{
  PetscErrorCode (*destroy)(Vec);
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecKeep(v));
  PetscCall(VecAccelGet(v, &a));
  destroy = a->host->destroy;
  if (a->lent) a->buffer = a->own; /* the other one is another vector's */
  if (a->buffer) PetscCall(SpmvDeviceFree(a->device, (size_t)PetscMax(v->map->n, 1) * sizeof(PetscScalar), &a->buffer));
  PetscCall(PetscObjectCompose((PetscObject)v, VEC_ACCEL_DATA, NULL));
  PetscCall(PetscFree(a));
  PetscCall((*destroy)(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations that are ours; PETSc's are kept in a table */
static PetscErrorCode VecSetOps_Accel(Vec v, PetscBool device)
{
  PetscFunctionBegin;
  v->ops->duplicate         = VecDuplicate_Accel;
  v->ops->duplicatevecs     = VecDuplicateVecs_Accel;
  v->ops->destroyvecs       = VecDestroyVecs_Accel;
  v->ops->destroy           = VecDestroy_Accel;
  v->ops->createlocalvector = VecCreateLocalVector_Accel;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  v->petscnative =
    PETSC_FALSE; /* or arrays that were read are given back without a word; KSPIBCGS, which goes on using them, then refuses these vectors */
  v->ops->getarray               = VecGetArray_Accel;
  v->ops->restorearray           = VecRestoreArray_Accel;
  v->ops->getarraywrite          = VecGetArrayWrite_Accel;
  v->ops->restorearraywrite      = VecRestoreArray_Accel;
  v->ops->getarrayread           = VecGetArrayRead_Accel;
  v->ops->restorearrayread       = VecRestoreArrayRead_Accel;
  v->ops->bindtocpu              = VecBindToCPU_Accel;
  v->ops->placearray             = VecPlaceArray_Accel;
  v->ops->resetarray             = VecResetArray_Accel;
  v->ops->replacearray           = VecReplaceArray_Accel;
  v->ops->getlocalvector         = VecGetLocalVector_Accel;
  v->ops->restorelocalvector     = VecRestoreLocalVector_Accel;
  v->ops->getlocalvectorread     = VecGetLocalVectorRead_Accel;
  v->ops->restorelocalvectorread = VecRestoreLocalVectorRead_Accel;
  v->ops->getsubvector           = VecGetSubVector_Accel;
  v->ops->restoresubvector       = VecRestoreSubVector_Accel;
  PetscCall(VecSetOps_Entries(v));
  PetscCall(VecSetOps_Sums(v));
  PetscCall(VecSetOps_All(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* host: where PETSc's operations of this parent are kept */
static PetscErrorCode VecCreate_Accel_Private(Vec v, VecType parent, const char type[], struct _VecOps *host)
{
  SpmvDevice *device;
  VecAccel   *a;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  PetscCall(
    PetscObjectChangeTypeName((PetscObject)v, NULL)); /* or VecSetType() sees nothing to do for what was of that type before */
  PetscCall(VecSetType(v, parent));
  PetscCall(PetscMemcpy(host, v->ops, sizeof(*host)));
  PetscCall(PetscNew(&a));
  *a = (VecAccel){.device = device, .host = host, .onhost = PETSC_TRUE};
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &a->container));
  PetscCall(PetscContainerSetPointer(a->container, a));
  PetscCall(PetscObjectCompose((PetscObject)v, VEC_ACCEL_DATA, (PetscObject)a->container));
  PetscCall(PetscObjectDereference((PetscObject)a->container));
  PetscCall(VecSetOps_Accel(v, (PetscBool)(device != NULL)));
  if (device) SpmvSetBoundToCPU(v, PETSC_FALSE);
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, type));
  PetscCall(VecGiveKept(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_SeqAccel(Vec v)
{
  static struct _VecOps host;

  PetscFunctionBegin;
  PetscCall(VecCreate_Accel_Private(v, VECSEQ, VECSEQACCEL, &host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_MPIAccel(Vec v)
{
  static struct _VecOps host;

  PetscFunctionBegin;
  PetscCall(VecCreate_Accel_Private(v, VECMPI, VECMPIACCEL, &host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_Accel(Vec v)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, NULL));
  PetscCall(VecSetType(v, size == 1 ? VECSEQACCEL : VECMPIACCEL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What SpmvInitializePackage() calls */
PetscErrorCode SpmvVecInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(VecInitializePackage());
  PetscCall(VecRegister(VECACCEL, VecCreate_Accel));
  PetscCall(VecRegister(VECSEQACCEL, VecCreate_SeqAccel));
  PetscCall(VecRegister(VECMPIACCEL, VecCreate_MPIAccel));
  PetscCall(VecViewsInitialize());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-spmv_device_view", &CountsView));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PetscFinalize() calls, while the device is open still */
PetscErrorCode SpmvVecFinalize(void)
{
  PetscInt64 local[] = {SpmvVecTotals.kernels, SpmvVecTotals.host, SpmvVecTotals.up, SpmvVecTotals.down, SpmvVecTotals.sent},
             sum[5];

  PetscFunctionBegin;
  if (CountsView) {
    PetscCallMPI(MPI_Reduce(local, sum, 5, MPIU_INT64, MPI_SUM, 0, PETSC_COMM_WORLD));
    if (sum[0] + sum[1] + sum[2] + sum[3] + sum[4])
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "vectors: %" PetscInt64_FMT " operations by kernels, %" PetscInt64_FMT
                            " by the host; %" PetscInt64_FMT " brought to the device, %" PetscInt64_FMT
                            " to the host, %" PetscInt64_FMT " of other types sent along\n",
                            sum[0], sum[1], sum[2], sum[3], sum[4]));
  }
  PetscCall(PetscFree(Kept.array));
  Kept.v = NULL;
  PetscCall(VecSumsReset());
  PetscCall(VecUseReset());
  PetscCall(VecViewsReset());
  CountsView = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
