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

/* SpmvServer: what serves a product: A, or A^T as the storage of its own */
typedef struct {
  const SpmvBuilt   *built;   /* NULL: AIJ's kernel */
  const SpmvKernels *kernels; /* of the host, and which of them */
  PetscBool          transpose;
} SpmvServer;

static PetscErrorCode SpmvServerGet(Mat A, SpmvShadow *s, PetscBool transpose, SpmvServer *server)
{
  const SpmvBuilt *built = &s->seq.built;
  const PetscBool  copy  = (PetscBool)(transpose && (s->settings.transpose == SPMV_TRANSPOSE_COPY || built->device));
  SpmvIsa          isa;

  PetscFunctionBegin;
  if (!SpmvBuiltIsThere(built)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvKernelsGet(built->format, s->settings.request.isa, &server->kernels, &isa));
  server->built     = built;
  server->transpose = (PetscBool)(transpose && !copy);
  if (copy) PetscCall(MatSpmvGetTransposed(A, s, &server->built));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- beta z + op(A) x by the host */
static PetscErrorCode SpmvProductHost(SpmvShadow *s, const SpmvServer *server, Vec x, Vec z, PetscBool beta)
{
  const void        *storage = server->built->storage;
  const SpmvKernels *kernels = server->kernels;
  const PetscScalar *xa;
  PetscScalar       *za, *work = NULL;

  PetscFunctionBegin;
  if (server->transpose) PetscCall(SpmvShadowRoom(s, kernels->transpose_work(storage), &work));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall((beta ? VecGetArray : VecGetArrayWrite)(z, &za));
  if (server->transpose) SpmvApplyTranspose(kernels->apply_transpose, storage, s->seq.key.nz, xa, za, beta, work);
  else SpmvApply(kernels->apply, storage, s->seq.key.nz, xa, za, beta);
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall((beta ? VecRestoreArray : VecRestoreArrayWrite)(z, &za));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the device if the storage is there. If its memory runs out, nomem is set and z is what it was, or y */
static PetscErrorCode SpmvProductOurs(SpmvShadow *s, const SpmvServer *server, Vec x, Vec y, Vec z, PetscBool *nomem)
{
  const PetscBool  beta = y ? PETSC_TRUE : PETSC_FALSE;
  const SpmvBuilt *b    = server->built;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  if (y && y != z) PetscCall(SpmvVecCopyLocal(y, z));
  if (b->device) PetscCall(SpmvOnDeviceProduct(b->device, x, z, beta, nomem));
  else PetscCall(SpmvProductHost(s, server, x, z, beta));
  if (*nomem) PetscCall(MatSpmvOutOfMemory(s, &s->seq.key, b->format->name));
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
  SpmvShadow    *shadow;
  SpmvSeq       *s;
  SpmvServer     server = {NULL};
  PetscBool      current, nomem = PETSC_FALSE, ours, there = PETSC_FALSE;
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  s = &shadow->seq;
  if (PetscUnlikely(!shadow->settings.known)) PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(MatSpmvUpdate(A, shadow, &current));
  if (current) PetscCall(SpmvServerGet(A, shadow, transpose, &server));
  PetscCall(PetscTime(&start));
  if (server.built) PetscCall(SpmvProductOurs(shadow, &server, x, y, z, &nomem));
  ours = (PetscBool)(server.built && !nomem);
  if (ours) {
    if (server.built->device) PetscCall(SpmvVecIsDevice(z, &there));
    PetscCall(SpmvProductFlops(2.0 * s->key.nz - (y || transpose ? 0 : s->nonzerorows),
                               (PetscBool)(server.built->device != NULL))); /* AIJ's counts, whatever the fill */
  } else PetscCall(SpmvProductAIJ(A, x, y, z, transpose));
  PetscCall(PetscTime(&end));
  if (!transpose && !there) SpmvKeepLeast(ours ? &s->own_seconds : &s->aij_seconds, end - start);
  if (ours) s->counts.products++;
  else if (current && s->built.format == &SpmvFormat_aij) s->counts.aij++;
  else if (current) s->counts.fallbacks++;
  else s->counts.deferred++;
  if (nomem) PetscCall(SpmvShadowForget(shadow)); /* the next product finds a storage for the host */
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
