/*
  matvecs.c - what the processes of a Mat agree on: whether devices run its products, and so where the vectors of MatCreateVecs()
  live; MatBindToCPU()

  Format and plan are each block's own. The backend is common, since products of devices exchange ghosts in another way than AIJ's
  (ghosts.c); a process without a device, or whose device is out of memory, takes part in that with vectors of the host.
*/
#include "spmvmat.h"
#include "../../spmvdevice.h"
#include "../../vec/vecaccel.h"

/* > 0 while AIJ assembles a parallel Mat: it asks the off-diagonal block, which has no settings yet, for a vector */
int SpmvInsideAssembly;

/* Whether products that a device runs leave both vectors there: not joint products */
static PetscBool SpmvVectorsStay(const SpmvShadow *s)
{
  const SpmvRequest *q = &s->settings.request;

  PetscBool any = PETSC_FALSE;

  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) { /* a type among formats may take any of them */
    const SpmvFormat *format = SpmvCandidate[k];

    if (!format->device || (s->type->host ? s->type != format : !(q->allowed >> k & 1))) continue;
    if (format->device->joint && q->device[k].value[format->device->joint->parts]) return PETSC_FALSE;
    any = PETSC_TRUE;
  }
  return any;
}

/*
  MatSpmvAgreeOnBackend - which backend runs the products of a Mat: SPMV_BACKEND_HOST or SPMV_BACKEND_DEVICE

  Collective. The processes of a parallel Mat agree on a device if one of them wants it; they communicate only where A's pattern
  or its settings have changed, and not if the user wants the host. With SPMV_BACKEND_AUTO a process wants it if its diagonal
  block is estimated to be faster there, with vectors that are there.
*/
PetscErrorCode MatSpmvAgreeOnBackend(Mat A, PetscInt *backend)
{
  Mat            blocks[2] = {A, NULL};
  SpmvShadow    *s;
  PetscBool      parallel;
  MatInfo        info;
  PetscLogDouble entries = 0;

  PetscFunctionBegin;
  PetscCall(MatSpmvEnsureSettings(A));
  PetscCall(MatSpmvGetShadow(A, &s));
  parallel = (PetscBool)(s->parent == &SpmvParentMPI);
  if (parallel) {
    *backend = s->agreed;
    if (s->mpi.agreed_version == s->settings.version && s->mpi.agreed_state == A->nonzerostate)
      PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
    s->agreed = SPMV_BACKEND_AUTO;
  }
  for (int k = 0; k < 2 && s->settings.request.backend == SPMV_BACKEND_AUTO; k++) {
    if (!blocks[k] || !blocks[k]->preallocated) continue;
    PetscCall(MatGetInfo(blocks[k], MAT_LOCAL, &info));
    entries += info.nz_used;
  }
  PetscCall(MatSpmvBackend(s, (PetscInt)PetscMin(entries, (PetscLogDouble)(PETSC_MAX_INT / 2)), backend));
  if (*backend == SPMV_BACKEND_AUTO) PetscCall(MatSpmvFaster(blocks[0], s, backend));
  if (!parallel) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->settings.request.backend != SPMV_BACKEND_HOST && !s->bound) /* the host is the least */
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, backend, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  s->agreed             = *backend;
  s->mpi.agreed_version = s->settings.version;
  s->mpi.agreed_state   = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the products of a Mat on the host until it is let go again. Blocks of a parallel Mat are told before its next product */
PetscErrorCode MatSpmvBind(Mat A, PetscBool bound)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (s->bound == bound) PetscFunctionReturn(PETSC_SUCCESS);
  s->bound = bound;
  SpmvSetBoundToCPU(A, bound);
  s->settings.version++;
  if (s->settings.request.backend != SPMV_BACKEND_HOST) PetscCall(SpmvShadowDrop(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of n entries, of this process only, that lives on the device if there is one */
PetscErrorCode SpmvVecCreateLocal(PetscInt n, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetType(*v, VECACCEL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The type of vectors that a program asks for by -vec_type or -dm_vec_type, if it is one of PETSc's own for devices, else empty:
  their operations take every argument for such a vector, and only a PETSc with debugging says so
*/
static PetscErrorCode SpmvVecsAsked(Mat A, char type[], size_t size)
{
  static const char *const options[] = {"-vec_type", "-dm_vec_type"}, *const own[] = {"cuda", "hip", "kokkos", "viennacl"};

  PetscFunctionBegin;
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    PetscBool set, found = PETSC_FALSE;

    PetscCall(PetscOptionsGetString(((PetscObject)A)->options, NULL, options[o], type, size, &set));
    for (size_t k = 0; set && k < PETSC_STATIC_ARRAY_LENGTH(own); k++) {
      PetscCall(PetscStrendswith(type, own[k], &found)); /* seqcuda, mpicuda */
      if (!found) continue;
      PetscCall(PetscStrncpy(type, own[k], size));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  *type = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ops->getvecs of both types: AIJ has none, so PETSc's own makes the vectors, on the device unless the user chose their type.
  MatGetVecType() stays what it is with AIJ: PETSc compares it (MatCreateLRC())
*/
PetscErrorCode MatCreateVecs_Spmv(Mat A, Vec *right, Vec *left)
{
  char           device[64] = "", *type = A->defaultvectype;
  PetscBool      standard = PETSC_TRUE;
  PetscInt       backend  = SPMV_BACKEND_HOST;
  SpmvShadow    *s;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (!SpmvInsideAssembly) PetscCall(MatSpmvAgreeOnBackend(A, &backend));
  PetscCall(MatSpmvGetShadow(A, &s));
  if (type) PetscCall(PetscStrcmp(type, VECSTANDARD, &standard));
  if (standard && backend == SPMV_BACKEND_DEVICE) {
    PetscCall(SpmvVecsAsked(A, device, sizeof(device)));
    if (!*device && SpmvVectorsStay(s)) PetscCall(PetscStrncpy(device, VECACCEL, sizeof(device)));
    if (*device) A->defaultvectype = device;
  }
  A->ops->getvecs   = s->parent->ops.getvecs;
  ierr              = MatCreateVecs(A, right, left);
  A->ops->getvecs   = MatCreateVecs_Spmv;
  A->defaultvectype = type;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
