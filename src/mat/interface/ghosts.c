/*
  ghosts.c - entries of x, or rows of a dense B, that a process's off-diagonal block multiplies and other processes own

  What others want is packed side by side, so that of a vector on the device only that moves; a PetscSF of our own goes from
  packs to ghosts. PETSc's scatter would want all of the vector on the host.
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
  PetscCall(PetscFree2(g->which, g->packed));
  PetscCall(PetscFree(*ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which entries others want: those that have a degree in an SF from all of them. place: [local columns] where each is in the pack */
static PetscErrorCode GhostsPackPlan(SpmvGhosts *g, PetscSF all, PetscInt n, PetscInt place[])
{
  const PetscInt *degree;

  PetscFunctionBegin;
  PetscCall(PetscSFComputeDegreeBegin(all, &degree));
  PetscCall(PetscSFComputeDegreeEnd(all, &degree));
  for (PetscInt k = 0; k < n; k++) g->npack += degree[k] > 0;
  PetscCall(PetscMalloc2(g->npack, &g->which, g->npack, &g->packed));
  g->npack = 0;
  for (PetscInt k = 0; k < n; k++) {
    place[k] = g->npack;
    if (degree[k]) g->which[g->npack++] = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the global columns of the off-diagonal block. Collective */
static PetscErrorCode GhostsCreate(Mat A, PetscInt n, const PetscInt garray[], SpmvGhosts **ghosts)
{
  const PetscSFNode *owner;
  PetscSFNode       *packed;
  PetscSF            all;
  PetscInt          *place, *leaf;
  SpmvGhosts        *g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  g->n = n;
  PetscCall(PetscMalloc1(n, &g->column));
  PetscCall(PetscArraycpy(g->column, garray, n));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &all));
  PetscCall(PetscSFSetGraphLayout(all, A->cmap, n, NULL, PETSC_OWN_POINTER, garray));
  PetscCall(PetscSFSetUp(all));
  PetscCall(PetscMalloc2(A->cmap->n, &place, n, &leaf));
  PetscCall(GhostsPackPlan(g, all, A->cmap->n, place));
  PetscCall(PetscSFBcastBegin(all, MPIU_INT, place, leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(all, MPIU_INT, place, leaf, MPI_REPLACE));
  PetscCall(PetscSFGetGraph(all, NULL, NULL, NULL, &owner));
  PetscCall(PetscMalloc1(n, &packed));
  for (PetscInt k = 0; k < n; k++) {
    packed[k].rank  = owner[k].rank;
    packed[k].index = leaf[k];
  }
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &g->sf));
  PetscCall(PetscSFSetGraph(g->sf, g->npack, n, NULL, PETSC_OWN_POINTER, packed, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(g->sf));
  PetscCall(PetscFree2(place, leaf));
  PetscCall(PetscSFDestroy(&all));
  *ghosts = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvGetGhosts - where the ghosts of a parallel Mat come from; kept with A as long as the columns of the off-diagonal block stay

  Input Parameters:
+ A - the matrix, assembled
- s - its shadow

  Output Parameter:
. ghosts - the shadow's

  Note:
  Collective, but communicates only where A was assembled since the last time: no other call changes the columns, and all processes know.
*/
PetscErrorCode MatSpmvGetGhosts(Mat A, SpmvShadow *s, SpmvGhosts **ghosts)
{
  const PetscInt *garray;
  Mat             off;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &off, &garray));
  if (!s->mpi.ghosts || s->mpi.reassembled) {
    const PetscInt n = off->cmap->n;
    int            stale =
      !s->mpi.ghosts || s->mpi.ghosts->n != n || (n && memcmp(s->mpi.ghosts->column, garray, sizeof(*garray) * (size_t)n));

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

/* Rows of `width` scalars that others want, side by side */
void SpmvGhostsPackRows(const SpmvGhosts *g, PetscInt width, const PetscScalar rows[], PetscScalar packed[])
{
  for (PetscInt k = 0; k < g->npack; k++)
    memcpy(packed + (size_t)k * (size_t)width, rows + (size_t)g->which[k] * (size_t)width, sizeof(PetscScalar) * (size_t)width);
}

/* The other way: adds packed rows to where they come from */
void SpmvGhostsAddRows(const SpmvGhosts *g, PetscInt width, const PetscScalar packed[], PetscScalar rows[])
{
  for (PetscInt k = 0; k < g->npack; k++) {
    PetscScalar       *to   = rows + (size_t)g->which[k] * (size_t)width;
    const PetscScalar *from = packed + (size_t)k * (size_t)width;

    for (PetscInt c = 0; c < width; c++) to[c] += from[c];
  }
}

/* Packs a vector that only the device has; done: PETSC_FALSE if memory ran out */
static PetscErrorCode GhostsPackDevice(SpmvGhosts *g, Vec x, PetscBool *done)
{
  SpmvDevice *device;
  void       *buffer = NULL;
  PetscBool   nomem  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  if (!g->gather) PetscCall(SpmvGatherCreate(device, g->npack, g->which, &g->gather, &nomem));
  if (!nomem) PetscCall(SpmvVecGetDeviceRead(x, &buffer));
  if (buffer) PetscCall(SpmvOnDeviceMultiply(g->gather, NULL, buffer, g->packed, NULL, PETSC_FALSE, &nomem));
  *done = (PetscBool)(buffer && !nomem);
  PetscCall(SpmvVecRestoreDeviceRead(x, &buffer));
  if (*done || !nomem) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "Warning: %s has no room to pack the %" PetscInt_FMT
                         " entries of a vector that other processes want: all of the vector comes to the host in each product; "
                         "use more processes, or set -mat_spmv_backend host\n",
                         device->info.name, g->npack));
  g->hostonly = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g->packed <- what others want of x */
static PetscErrorCode GhostsPack(SpmvGhosts *g, Vec x)
{
  const PetscScalar *xa;
  PetscBool          stale, done = PETSC_FALSE;

  PetscFunctionBegin;
  if (!g->npack) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvVecHostIsStale(x, &stale));
  if (!g->hostonly && stale) PetscCall(GhostsPackDevice(g, x, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(x, &xa));
  SpmvGhostsPackRows(g, 1, xa, g->packed);
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packs what others want of x and begins to send it; the ghosts will be in g->x */
PetscErrorCode SpmvGhostsBegin(SpmvGhosts *g, Vec x)
{
  PetscFunctionBegin;
  if (!g->x) {
    PetscCall(VecCreate(PETSC_COMM_SELF, &g->x));
    PetscCall(VecSetSizes(g->x, g->n, g->n));
    PetscCall(VecSetType(g->x, VECACCEL));
  }
  PetscCall(GhostsPack(g, x));
  PetscCall(VecGetArrayWrite(g->x, &g->arriving));
  PetscCall(PetscSFBcastBegin(g->sf, MPIU_SCALAR, g->packed, g->arriving, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvGhostsEnd(SpmvGhosts *g)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastEnd(g->sf, MPIU_SCALAR, g->packed, g->arriving, MPI_REPLACE));
  PetscCall(VecRestoreArrayWrite(g->x, &g->arriving));
  PetscFunctionReturn(PETSC_SUCCESS);
}
