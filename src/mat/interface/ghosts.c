/*
  ghosts.c - entries of x, or rows of a dense B, that a process's off-diagonal block multiplies and other processes own

  A PetscSF goes from local entries to the ghosts of other processes. Of a vector that only the device has, the entries that
  others want are packed there, so that only those move to the host; PETSc's scatter would want all of the vector.
*/
#include "spmvmat.h"
#include "../../device/device.h"
#include "../../vec/vecaccel.h"

PetscErrorCode SpmvGhostsDestroy(SpmvGhosts **ghosts)
{
  SpmvGhosts *g = *ghosts;

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFDestroy(&g->sf));
  PetscCall(VecDestroy(&g->x));
  PetscCall(SpmvOnDeviceDestroy(&g->gather));
  PetscCall(PetscFree(g->column));
  PetscCall(PetscFree2(g->wanted, g->packed));
  PetscCall(PetscFree(g->fromdevice));
  PetscCall(PetscFree(*ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the global columns of the off-diagonal block. Collective */
static PetscErrorCode GhostsCreate(Mat A, PetscInt n, const PetscInt garray[], SpmvGhosts **ghosts)
{
  SPMV_DESTROY_BY(SpmvGhostsDestroy) SpmvGhosts *g = NULL;
  const PetscInt                                *degree;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  g->n = n;
  PetscCall(PetscMalloc1(n, &g->column));
  PetscCall(PetscArraycpy(g->column, garray, n));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &g->sf));
  PetscCall(PetscSFSetGraphLayout(g->sf, A->cmap, n, NULL, PETSC_OWN_POINTER, garray));
  PetscCall(PetscSFSetUp(g->sf));
  PetscCall(PetscSFComputeDegreeBegin(g->sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(g->sf, &degree));
  for (PetscInt k = 0; k < A->cmap->n; k++) g->npack += degree[k] > 0;
  PetscCall(PetscMalloc2(g->npack, &g->wanted, g->npack, &g->packed));
  g->npack = 0;
  for (PetscInt k = 0; k < A->cmap->n; k++) {
    if (degree[k]) g->wanted[g->npack++] = k;
  }
  *ghosts = g;
  g       = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The ghosts of a parallel Mat, kept as long as the columns of the off-diagonal block stay. Collective, but communicates only
  where A was assembled since the last time: no other call changes the columns, and all processes make it
*/
PetscErrorCode MatSpmvGetGhosts(Mat A, SpmvShadow *s, SpmvGhosts **ghosts)
{
  const PetscInt *garray;
  Mat             off;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &off, &garray));
  if (!s->mpi.ghosts || s->mpi.reassembled) {
    const PetscInt n     = off->cmap->n;
    int            stale = !s->mpi.ghosts || s->mpi.ghosts->n != n;

    if (!stale && n) stale = memcmp(s->mpi.ghosts->column, garray, sizeof(*garray) * (size_t)n) != 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)A)));
    if (stale) {
      PetscCall(SpmvGhostsDestroy(&s->mpi.ghosts));
      PetscCall(GhostsCreate(A, n, garray, &s->mpi.ghosts));
    }
    s->mpi.reassembled = PETSC_FALSE;
  }
  PetscCheck(s->mpi.ghosts->n == off->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The off-diagonal block has %" PetscInt_FMT " columns now and had %" PetscInt_FMT
             " at the last assembly; assemble the matrix",
             off->cmap->n, s->mpi.ghosts->n);
  *ghosts = s->mpi.ghosts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g->packed <- what others want of a vector that only the device has; packed: unless memory runs out, or the device fails */
static PetscErrorCode GhostsPack(SpmvGhosts *g, SpmvDevice *device, Vec x, PetscBool *packed)
{
  void     *buffer = NULL;
  PetscBool nomem  = PETSC_FALSE;

  PetscFunctionBegin;
  if (!g->gather) PetscCall(SpmvGatherCreate(device, g->npack, g->wanted, &g->gather, &nomem));
  if (!nomem) PetscCall(SpmvVecGetDevice(x, VEC_READ, &buffer));
  *packed = (PetscBool)(buffer != NULL);
  if (buffer) PetscCall(SpmvOnDeviceMultiply(g->gather, NULL, buffer, g->packed, NULL, PETSC_FALSE, &nomem));
  PetscCall(SpmvVecRestoreDevice(x, VEC_READ, PETSC_FALSE, &buffer));
  if (nomem) *packed = PETSC_FALSE;
  if (nomem) g->hostonly = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g->sending <- what others want of a vector that only the device has; stays NULL where memory runs out, or the device fails */
static PetscErrorCode GhostsPackDevice(SpmvGhosts *g, Vec x)
{
  SpmvDevice *device;
  PetscBool   packed = PETSC_FALSE;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  if (device->failed) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvTolerantly(device, GhostsPack(g, device, x, &packed));
  if (packed) {
    PetscCall(VecGetLocalSize(x, &n));
    if (!g->fromdevice) PetscCall(PetscMalloc1(n, &g->fromdevice));
    for (PetscInt k = 0; k < g->npack; k++) g->fromdevice[g->wanted[k]] = g->packed[k];
    g->sending = g->fromdevice;
  }
  if (!g->hostonly || device->failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "Warning: %s has no room to pack the %" PetscInt_FMT
                         " entries of a vector that other processes want: all of the vector comes to the host in each product; "
                         "use more processes, or set -mat_spmv_backend host\n",
                         device->info.name, g->npack));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins to send what others want of x; the ghosts will be in g->x */
PetscErrorCode SpmvGhostsBegin(SpmvGhosts *g, Vec x)
{
  PetscBool stale;

  PetscFunctionBegin;
  if (!g->x) PetscCall(SpmvVecCreateLocal(g->n, &g->x));
  g->sending = NULL;
  PetscCall(SpmvVecHostIsStale(x, &stale));
  if (g->npack && stale && !g->hostonly) PetscCall(GhostsPackDevice(g, x));
  if (g->npack && !g->sending) PetscCall(VecGetArrayRead(x, &g->sending));
  PetscCall(VecGetArrayWrite(g->x, &g->arriving));
  PetscCall(PetscSFBcastBegin(g->sf, MPIU_SCALAR, g->sending, g->arriving, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvGhostsEnd(SpmvGhosts *g, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastEnd(g->sf, MPIU_SCALAR, g->sending, g->arriving, MPI_REPLACE));
  if (g->sending && g->sending != g->fromdevice) PetscCall(VecRestoreArrayRead(x, &g->sending));
  PetscCall(VecRestoreArrayWrite(g->x, &g->arriving));
  PetscFunctionReturn(PETSC_SUCCESS);
}
