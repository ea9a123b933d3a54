/*
  dispatch.c - products: which kernel serves, with which vectors

  All four are z = y + op(A) x, where op is A or its transpose, and y is absent, z itself, or another vector. Each vector may
  live on the device or on the host, wherever the product is made; x, y and z may be those of a parallel Mat, whose local
  entries they stand for.
*/
#include "spmvmat.h"
#include "../../device/device.h"
#include "../../vec/vecaccel.h"
#include <petsctime.h>

/* By AIJ's kernel */
PetscErrorCode SpmvProductAIJ(Mat A, const SpmvParent *parent, Vec x, Vec y, Vec z, PetscBool transpose)
{
  const struct _MatOps *ops = &parent->ops;

  PetscFunctionBegin;
  if (y) PetscCall((transpose ? ops->multtransposeadd : ops->multadd)(A, x, y, z));
  else PetscCall((transpose ? ops->multtranspose : ops->mult)(A, x, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The same of a sequential matrix. Its transposed product begins with VecSet() or VecCopy(), events for which -log_sync makes all
  processes wait where z is a parallel vector, though the blocks of others may be multiplied by kernels of ours: z is set without
*/
static PetscErrorCode SpmvProductSeqAIJ(Mat A, Vec x, Vec y, Vec z, PetscBool transpose)
{
  PetscScalar *za;

  PetscFunctionBegin;
  if (transpose && !y) {
    PetscCall(VecGetArrayWrite(z, &za));
    PetscCall(PetscArrayzero(za, A->cmap->n));
    PetscCall(VecRestoreArrayWrite(z, &za));
  } else if (transpose && y != z) PetscCall(SpmvVecCopyLocal(y, z));
  PetscCall(SpmvProductAIJ(A, &SpmvParentSeq, x, transpose ? z : y, z, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- beta z + op(A) x by the host */
static PetscErrorCode SpmvProductHost(SpmvShadow *s, const SpmvBuilt *b, Vec x, Vec z, PetscBool beta, PetscBool transpose)
{
  const PetscInt     nz = s->seq.key.nz;
  const SpmvKernels *kernels;
  const PetscScalar *xa;
  PetscScalar       *za, *work = NULL;

  PetscFunctionBegin;
  PetscCall(SpmvKernelsGet(b->format, s->settings.request.isa, &kernels));
  if (transpose) PetscCall(SpmvShadowGetWork(s, kernels->transpose_work(b->storage), &work));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall((beta ? VecGetArray : VecGetArrayWrite)(z, &za));
  if (b->order && transpose) SpmvOrderApplyTranspose(b->order, kernels->apply_transpose, b->storage, nz, xa, za, beta, work);
  else if (b->order) SpmvOrderApply(b->order, kernels->apply, b->storage, nz, xa, za, beta);
  else if (transpose) SpmvApplyTranspose(kernels->apply_transpose, b->storage, nz, xa, za, beta, work);
  else SpmvApply(kernels->apply, b->storage, nz, xa, za, beta);
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall((beta ? VecRestoreArray : VecRestoreArrayWrite)(z, &za));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a device would move the vectors of a product: what the tuner counts where it is to choose between host and device */
static PetscErrorCode SpmvVecsMove(SpmvShadow *s, Vec x, Vec z)
{
  PetscBool xthere, zthere;

  PetscFunctionBegin;
  if (s->settings.request.backend != SPMV_BACKEND_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvVecIsDevice(x, &xthere));
  PetscCall(SpmvVecIsDevice(z, &zthere));
  s->seq.moves = (PetscBool)(!xthere || !zthere);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What serves: AIJ's kernel, the storage of A, or that of A^T */
static PetscErrorCode MatSpmvProduct_Seq(Mat A, SpmvShadow *shadow, Vec x, Vec y, Vec z, PetscBool transpose)
{
  SpmvSeq         *s    = &shadow->seq;
  const SpmvBuilt *b    = &s->built;
  const PetscBool  beta = y ? PETSC_TRUE : PETSC_FALSE;
  PetscBool        current, ours, copy, nomem = PETSC_FALSE, there = PETSC_FALSE;
  PetscLogDouble   start, end;

  PetscFunctionBegin;
  PetscCall(MatSpmvEnsureSettings(A));
  PetscCall(SpmvVecsMove(shadow, x, z));
  PetscCall(MatSpmvUpdate(A, shadow, &current));
  ours = (PetscBool)(current && SpmvBuiltExists(b));
  copy = (PetscBool)(ours && transpose && (shadow->settings.transpose == SPMV_TRANSPOSE_COPY || b->device));
  if (copy) PetscCall(MatSpmvGetTransposed(A, shadow, &b));
  PetscCall(PetscTime(&start));
  if (ours && !b->device && y && y != z) PetscCall(SpmvVecCopyLocal(y, z));
  if (ours && b->device) PetscCall(SpmvProductDevice(b->device, x, y, z, &nomem));
  else if (ours) PetscCall(SpmvProductHost(shadow, b, x, z, beta, (PetscBool)(transpose && !copy)));
  if (nomem) PetscCall(MatSpmvLeaveDevice(shadow, SpmvOnDeviceDevice(b->device), b->format->name)); /* z is what it was, or y */
  ours = (PetscBool)(ours && !nomem);
  if (ours) {
    const PetscLogDouble flops = 2.0 * s->key.nz - (y || transpose ? 0 : s->nonzerorows); /* AIJ's, whatever the fill */

    if (b->device) PetscCall(SpmvVecIsDevice(z, &there));
    if (b->device) PetscCall(SpmvLogFlops(flops));
    else PetscCall(PetscLogFlops(flops));
  } else PetscCall(SpmvProductSeqAIJ(A, x, y, z, transpose));
  PetscCall(PetscTime(&end));
  SpmvSpentCall(&s->spent, ours, (PetscBool)(!transpose && !there), end - start); /* nobody waits for a device */
  if (shadow->settings.check && !transpose && !b->device && (ours || !current))
    PetscCall(MatSpmvCheck(A, shadow, ours, end - start));
  if (ours) s->counts.floats += s->rounded;
  if (ours) s->counts.products++;
  else if (current && s->built.format == &SpmvFormat_aij) s->counts.aij++;
  else if (current) s->counts.fallbacks++;
  else s->counts.deferred++;
  if (nomem) PetscCall(SpmvShadowDrop(shadow)); /* the next product finds a storage for the host */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  z <- y + op(A) x, y NULL for 0. A product may build, counts itself, and some storages have room for sums in them: a second
  thread of the program that comes while one is at work is refused
*/
PetscErrorCode MatSpmvProduct(Mat A, Vec x, Vec y, Vec z, PetscBool transpose)
{
  SpmvShadow    *s;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCheck(!__atomic_exchange_n(&s->busy, 1, __ATOMIC_ACQUIRE), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Two threads multiply by one matrix of type %s at once; give each a matrix of its own, by MatDuplicate()",
             ((PetscObject)A)->type_name);
  ierr = (s->parent == &SpmvParentMPI ? MatSpmvProduct_MPI : MatSpmvProduct_Seq)(A, s, x, y, z, transpose);
  __atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
