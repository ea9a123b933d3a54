/*
  accel.c - the type VECACCEL: created, duplicated, destroyed; which operations it has

  A vector becomes one of PETSc's own for the host, VECSEQ or VECMPI, and then takes another name and other operations. Its data
  stays what PETSc's operations know; ours is composed with the object. Where there is no device, PETSc's operations stay.
*/
#include "accel.h"
#include <petscviewer.h>

#define VEC_ACCEL_DATA "SpmvVecAccel" /* the name that a VecAccel is composed under */

static PetscBool CountsView; /* -spmv_device_view */
static PetscBool Warned;     /* of memory, once in each process */

/* Values of the last vector that VecSetType() destroyed, for when its new type is ours again */
static PetscScalar *Kept;

PetscLogEvent VecToDevice, VecFromDevice; /* without an object: events of a parallel one wait for all processes */
SpmvVecCounts SpmvVecTotals;

PetscErrorCode VecAccelWarn(SpmvDevice *d, PetscInt n)
{
  PetscFunctionBegin;
  if (!Warned)
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                           "Warning: %s has no room for a vector of %" PetscInt_FMT
                           " entries beside the %.0f bytes that are there: the host works on what does not fit; use more "
                           "processes, or set -vec_type standard\n",
                           d->info.name, n, (double)d->held));
  Warned = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  VECACCEL - "accel": vectors that live on the OpenCL or CUDA device of this process

  `VECSEQACCEL` on one process, `VECMPIACCEL` on several. A vector has PETSc's own array on the host and a buffer of the device
  that is made when it is first needed; each is brought up to date when it is read and the other was written. Products, sums,
  norms and the other operations of Krylov methods are kernels; what has none (`VecSetValues()`, `VecScatter`, `VecView()`, ...)
  is PETSc's own on the host.

  Options Database Keys:
+ -vec_type accel - sets the type in `VecSetFromOptions()`; DM programs take -dm_vec_type accel
- -spmv_vec_workgroup

  Level: beginner

  Notes:
  Other vectors may be arguments of any operation: they are sent along, or the host works, whichever moves fewer vectors. Those of
  PETSc's own types for CUDA (`VECCUDA`, `VECKOKKOS`) do not move: kernels are given their memory, if it is that of the device of
  this process. The other way round it is PETSc's operation, which takes all its arguments for `VECCUDA`: with such vectors use
  -vec_type cuda, which `MatCreateVecs()` of our matrices heeds, or `MatSetVecType(A, VECCUDA)`.

  Code that makes vectors of the type that `MatGetVecType()` gives, as `PCBJACOBI` does for its blocks, gets vectors of the host
  unless `MatSetVecType()` says `VECACCEL`.

  To PETSc it is a vector on the host: `VecGetArrayAndMemType()` gives `PETSC_MEMTYPE_HOST`. While somebody holds an array that
  may be written, operations on the vector are run by the host. `VecGetSubVector()` of entries that follow each other gives a
  copy, which `VecRestoreSubVector()` copies back.

  `KSPIBCGS` and `KSPFBCGSR`, which keep arrays after they have given them back, refuse these vectors: give them a right hand side
  and a solution of the host, of which their work vectors are duplicates. So do functions of newer PETSc that make a dense matrix
  for a type of vectors (`MatCreateDenseFromVecType()`).

  Where there is no device, or with -spmv_device none, it is `VECSEQ` or `VECMPI` under another name. If the memory of the device
  runs out, there is one warning, and the host works on what does not fit.

  Sums are added up in an order that depends on the number of local entries and the work group only: the same bits each time.

.seealso: `SpmvDeviceOptions`, `SpmvInitializePackage()`, `MATBCCOO`
M*/

/* As PETSc does it: with all that is composed, our own data excepted, and operations that a DM has set */
static PetscErrorCode VecDuplicate_Accel(Vec w, Vec *result)
{
  Vec v;

  PetscFunctionBegin;
  PetscCall(VecCreate(PetscObjectComm((PetscObject)w), &v));
  PetscCall(PetscLayoutReference(w->map, &v->map));
  PetscCall(PetscObjectListDuplicate(((PetscObject)w)->olist, &((PetscObject)v)->olist));
  PetscCall(PetscFunctionListDuplicate(((PetscObject)w)->qlist, &((PetscObject)v)->qlist));
  PetscCall(VecSetType(v, ((PetscObject)w)->type_name)); /* in place of w's, composes data of its own */
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

static PetscErrorCode VecDestroy_Accel(Vec v)
{
  VecAccel *a                    = VecAccelOf(v);
  PetscErrorCode (*destroy)(Vec) = a->host->destroy;

  PetscFunctionBegin;
  PetscCall(PetscFree(Kept));
  if (SPMV_SETTYPE_FORGETS && ((PetscObject)v)->refct && VecAccelArray(v)) { /* VecSetType(): the vector goes on */
    PetscCall(VecAccelToHost(v, a));
    PetscCall(PetscMalloc1(v->map->n, &Kept));
    PetscCall(PetscArraycpy(Kept, VecAccelArray(v), v->map->n));
  }
  if (a->lent) a->buffer = a->own; /* the other one is another vector's */
  PetscCall(VecAccelFree(v, a));
  PetscCall(PetscObjectCompose((PetscObject)v, VEC_ACCEL_DATA, NULL));
  PetscCall(PetscFree(a));
  PetscCall((*destroy)(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our data of a vector, NULL if it is of another type */
VecAccel *VecAccelOf(Vec v)
{
  PetscContainer container;
  void          *a;

  if (v->ops->destroy != VecDestroy_Accel) return NULL;
  PetscCallAbort(PETSC_COMM_SELF, PetscObjectQuery((PetscObject)v, VEC_ACCEL_DATA, (PetscObject *)&container));
  PetscCallAbort(PETSC_COMM_SELF, PetscContainerGetPointer(container, &a));
  return (VecAccel *)a;
}

static PetscErrorCode VecSetOps_Accel(Vec v, PetscBool device)
{
  PetscFunctionBegin;
  v->ops->duplicate         = VecDuplicate_Accel;
  v->ops->duplicatevecs     = VecDuplicateVecs_Accel;
  v->ops->destroy           = VecDestroy_Accel;
  v->ops->createlocalvector = VecCreateLocalVector_Accel;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  /* Or PETSc gives arrays back without a word. KSPIBCGS, which goes on using them after that, then refuses these vectors */
  v->petscnative                 = PETSC_FALSE;
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* host: where PETSc's operations of this parent are kept */
static PetscErrorCode VecCreate_Accel_Private(Vec v, VecType parent, const char type[], struct _VecOps *host)
{
  PetscContainer container;
  SpmvDevice    *device;
  VecAccel      *a;
  PetscBool      again;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &again, VECSEQACCEL, VECMPIACCEL, ""));
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, NULL)); /* or VecSetType() has nothing to do for one of the parent's type */
  PetscCall(VecSetType(v, parent));
  PetscCall(PetscMemcpy(host, v->ops, sizeof(*host)));
  PetscCall(PetscNew(&a));
  *a = (VecAccel){.device = device, .host = host, .onhost = PETSC_TRUE};
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, a));
  PetscCall(PetscObjectCompose((PetscObject)v, VEC_ACCEL_DATA, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(VecSetOps_Accel(v, (PetscBool)(device != NULL)));
  if (device) SpmvSetBoundToCPU(v, PETSC_FALSE);
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, type));
  if (again && Kept) PetscCall(PetscArraycpy(VecAccelArray(v), Kept, v->map->n));
  PetscCall(PetscFree(Kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreate_SeqAccel(Vec v)
{
  static struct _VecOps host;

  return VecCreate_Accel_Private(v, VECSEQ, VECSEQACCEL, &host);
}

static PetscErrorCode VecCreate_MPIAccel(Vec v)
{
  static struct _VecOps host;

  return VecCreate_Accel_Private(v, VECMPI, VECMPIACCEL, &host);
}

static PetscErrorCode VecCreate_Accel(Vec v)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(size == 1 ? VecCreate_SeqAccel(v) : VecCreate_MPIAccel(v));
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
  PetscCall(PetscLogEventRegister("VecToDevice", VEC_CLASSID, &VecToDevice));
  PetscCall(PetscLogEventRegister("VecFromDevice", VEC_CLASSID, &VecFromDevice));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-spmv_device_view", &CountsView));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PetscFinalize() calls, while the device is open still */
PetscErrorCode SpmvVecFinalize(void)
{
  SpmvVecCounts sum = {0};

  PetscFunctionBegin;
  if (CountsView) {
    PetscCallMPI(MPI_Reduce(&SpmvVecTotals, &sum, sizeof(sum) / sizeof(PetscInt64), MPIU_INT64, MPI_SUM, 0, PETSC_COMM_WORLD));
    if (sum.kernels + sum.host + sum.up + sum.down + sum.sent)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "vectors: %" PetscInt64_FMT " operations by kernels, %" PetscInt64_FMT
                            " by the host; %" PetscInt64_FMT " brought to the device, %" PetscInt64_FMT
                            " to the host, %" PetscInt64_FMT " of other types sent along\n",
                            sum.kernels, sum.host, sum.up, sum.down, sum.sent));
  }
  PetscCall(PetscFree(Kept));
  PetscCall(VecSumsReset());
  PetscCall(VecUseReset());
  PetscCall(PetscMemzero(&SpmvVecTotals, sizeof(SpmvVecTotals)));
  CountsView = Warned = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
