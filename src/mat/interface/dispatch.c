/*
  dispatch.c - the products of the sequential type: which kernel serves, with which vectors

  All four are z = y + op(A) x, where op is A or its transpose, and y is absent, z itself, or another vector. Each vector may
  live on the device or on the host, wherever the product is made; x, y and z may be those of a parallel Mat, whose local
  entries they stand for.
*/
#include "spmvmat.h"
#include "../../vec/vecaccel.h"
#include <petsctime.h>

static PetscErrorCode SpmvProductAIJ(Mat A, Vec x, Vec y, Vec z, PetscBool transpose)
{
  const struct _MatOps *ops = &SpmvParentSeq.ops;

  PetscFunctionBegin;
  if (y) PetscCall((transpose ? ops->multtransposeadd : ops->multadd)(A, x, y, z));
  else PetscCall((transpose ? ops->multtranspose : ops->mult)(A, x, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- beta z + op(A) x by the host */
static PetscErrorCode SpmvProductHost(const SpmvShadow *s, const void *storage, SpmvApplyFn *apply, Vec x, Vec z, PetscBool beta)
{
  const PetscScalar *xa;
  PetscScalar       *za;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall((beta ? VecGetArray : VecGetArrayWrite)(z, &za));
  SpmvApply(apply, storage, s->key.nz, xa, za, beta);
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall((beta ? VecRestoreArray : VecRestoreArrayWrite)(z, &za));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the device if the storage is there. If its memory runs out, full is set and z is what it was, or y */
static PetscErrorCode SpmvProductOurs(SpmvShadow *s, const void *storage, struct _n_SpmvOnDevice *device, SpmvApplyFn *apply, Vec x, Vec y, Vec z, PetscBool *full)
{
  const PetscBool beta = y ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  *full = PETSC_FALSE;
  if (y && y != z) PetscCall(SpmvVecCopyLocal(y, z));
  if (device) PetscCall(SpmvOnDeviceProduct(s, device, x, z, beta, full));
  else PetscCall(SpmvProductHost(s, storage, apply, x, z, beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least of the times seen, where 0 stands for none; those of a device that nobody waits for are not seen */
static inline void SpmvKeepLeast(PetscLogDouble *least, PetscLogDouble seconds)
{
  if (*least == 0 || seconds < *least) *least = seconds;
}

/* On a device they are counted as such where PETSc was built for devices */
static PetscErrorCode SpmvProductFlops(PetscLogDouble flops, PetscBool device)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_DEVICE) && device) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvProduct(Mat A, Vec x, Vec y, Vec z, PetscBool transpose)
{
  SpmvShadow        *s;
  const SpmvKernels *kernels;
  SpmvApplyFn       *apply   = NULL;
  const void        *storage = NULL;
  SpmvIsa            isa;
  PetscBool          current, full, there = PETSC_FALSE;
  PetscLogDouble     start, end;

  struct _n_SpmvOnDevice *device = NULL;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (PetscUnlikely(!s->settings.known)) PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(MatSpmvUpdate(A, s, &current));
  if (current && s->storage) {
    PetscCall(SpmvKernelsGet(s->format, s->settings.request.isa, &kernels, &isa));
    apply   = transpose ? kernels->apply_transpose : kernels->apply;
    storage = s->storage;
    device  = s->device;
    if (transpose && (s->settings.transpose == SPMV_TRANSPOSE_COPY || device)) {
      apply = kernels->apply;
      PetscCall(MatSpmvGetTransposed(A, s, &storage));
      device = s->transposed->device;
    }
  }
  PetscCall(PetscTime(&start));
  if (apply) {
    PetscCall(SpmvProductOurs(s, storage, device, apply, x, y, z, &full));
    if (full) { /* the next product finds a storage for the host */
      PetscCall(SpmvShadowForget(s));
      apply = NULL;
    }
  }
  if (apply) PetscCall(SpmvProductFlops(2.0 * s->key.nz - (y || transpose ? 0 : s->nonzerorows), (PetscBool)(device != NULL))); /* AIJ's counts, whatever the fill */
  else PetscCall(SpmvProductAIJ(A, x, y, z, transpose));
  PetscCall(PetscTime(&end));
  if (apply && device) PetscCall(SpmvVecIsDevice(z, &there));
  if (!transpose && !there) SpmvKeepLeast(apply ? &s->own_seconds : &s->aij_seconds, end - start);
  if (apply) s->counts.products++;
  else if (current && s->format == &SpmvFormat_aij) s->counts.aij++;
  else if (current) s->counts.fallbacks++;
  else s->counts.deferred++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_SeqSpmv(Mat A, Vec x, Vec z)
{
  PetscFunctionBegin;
  PetscCall(SpmvProduct(A, x, NULL, z, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultAdd_SeqSpmv(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(SpmvProduct(A, x, y, z, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_SeqSpmv(Mat A, Vec x, Vec z)
{
  PetscFunctionBegin;
  PetscCall(SpmvProduct(A, x, NULL, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTransposeAdd_SeqSpmv(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(SpmvProduct(A, x, y, z, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
