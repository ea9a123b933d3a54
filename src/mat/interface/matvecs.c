/*
  matvecs.c - what the processes of a Mat agree on: whether devices run its products, and so where the vectors of MatCreateVecs()
  live

  Format and plan are each block's own. The backend is common, since products of devices exchange ghosts in another way than AIJ's
  (ghosts.c); a process whose device is missing or full takes part in that with vectors of the host.
*/
#include "spmvmat.h"
#include "../../vec/vecaccel.h"

/* Nonzeros of a sequential matrix, 0 before it has any */
static PetscErrorCode MatSpmvEntries(Mat A, PetscLogDouble *entries)
{
  MatInfo info;

  PetscFunctionBegin;
  if (!A || !A->preallocated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvParentGet(&SpmvParentSeq));
  PetscCall((*SpmvParentSeq.ops.getinfo)(A, MAT_LOCAL, &info));
  *entries += info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether products that a device runs leave both vectors there: not if the host has a share in them */
static PetscBool SpmvVectorsStay(const SpmvShadow *s)
{
  const SpmvRequest *q = &s->settings.request;

  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) { /* a type among formats takes the first that has kernels */
    const SpmvFormat *format = SpmvCandidate[k];

    if (!format->device || (s->type->build ? s->type != format : !(q->allowed >> k & 1))) continue;
    return (PetscBool)(!format->device->shares || !q->plan[k].device[format->device->parts]);
  }
  return PETSC_FALSE;
}

/* MatCreateVecs() follows, unless the user chose a type of vectors */
static PetscErrorCode MatSpmvSetVecs(Mat A, SpmvShadow *s, PetscBool device)
{
  PetscBool standard = PETSC_TRUE, accel = PETSC_FALSE;

  PetscFunctionBegin;
  if (A->defaultvectype) {
    PetscCall(PetscStrcmp(A->defaultvectype, VECSTANDARD, &standard));
    PetscCall(PetscStrcmp(A->defaultvectype, VECACCEL, &accel));
  }
  if (device && standard) {
    PetscCall(MatSetVecType(A, VECACCEL));
    s->accel = PETSC_TRUE;
  } else if (!device && accel && s->accel) {
    PetscCall(MatSetVecType(A, VECSTANDARD));
    s->accel = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvAgree - settles which backend runs the products of a Mat, and where MatCreateVecs() puts vectors

  Note:
  Collective. The processes of a parallel Mat agree on a device if one of them wants it; they communicate only where A's pattern or
  its settings have changed, and not if the user wants the host.
*/
PetscErrorCode MatSpmvAgree(Mat A)
{
  Mat            blocks[2] = {A, NULL};
  SpmvParent    *parent    = NULL;
  SpmvShadow    *s;
  PetscInt       backend;
  PetscLogDouble entries = 0;

  PetscFunctionBegin;
  PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatSpmvGetParent(A, &parent));
  if (parent == &SpmvParentMPI) {
    if (s->agreed_version == s->settings.version && s->agreed_state == A->nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
    s->agreed = SPMV_BACKEND_AUTO;
  }
  for (int k = 0; k < 2 && s->settings.request.backend == SPMV_BACKEND_AUTO; k++) PetscCall(MatSpmvEntries(blocks[k], &entries));
  PetscCall(MatSpmvBackend(s, (PetscInt)PetscMin(entries, (PetscLogDouble)(PETSC_MAX_INT / 2)), &backend));
  if (parent == &SpmvParentMPI && s->settings.request.backend != SPMV_BACKEND_HOST) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &backend, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A))); /* the host is the least */
  }
  if (parent == &SpmvParentMPI) s->agreed = backend;
  s->agreed_version = s->settings.version;
  s->agreed_state   = A->nonzerostate;
  PetscCall(MatSpmvSetVecs(A, s, (PetscBool)(backend == SPMV_BACKEND_DEVICE && SpmvVectorsStay(s))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same after an assembly, unless nobody has said yet what is wanted */
PetscErrorCode MatSpmvAgreeIfKnown(Mat A)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (s->settings.known) PetscCall(MatSpmvAgree(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A, which is to be AIJ, has AIJ's vectors */
PetscErrorCode MatSpmvResetVecs(Mat A)
{
  PetscFunctionBegin;
  if (A->spptr) PetscCall(MatSpmvSetVecs(A, (SpmvShadow *)A->spptr, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ops->getvecs of both types: AIJ has none, so PETSc's own follows with the type of vectors that was settled */
PetscErrorCode MatCreateVecs_Spmv(Mat A, Vec *right, Vec *left)
{
  SpmvParent    *parent = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvAgree(A));
  PetscCall(MatSpmvGetParent(A, &parent));
  A->ops->getvecs = parent->ops.getvecs;
  ierr            = MatCreateVecs(A, right, left);
  A->ops->getvecs = MatCreateVecs_Spmv;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
