/*
  gather.c - some entries of a vector that lives on the device, brought to the host: what other processes want of it. Nothing else
  of the vector moves

  What is read is waited for, so kernels that are to run meanwhile are asked for after that.
*/
#include "device.h"

#define GATHER_GROUP 64 /* work items of a work group, if the device has as many */

struct _n_SpmvGather {
  SpmvDevice *device;
  void       *program;
  PetscInt    n;
  size_t      group;
  void       *which, *out; /* on the device: 32-bit numbers of entries, the entries */
};

const char SpmvGatherSource[] =
#include "gather.cl.h"
  ;

static PetscErrorCode GatherMake(SpmvGather *g, const PetscInt which[], PetscBool *nomem)
{
  int32_t       *narrow;
  PetscErrorCode ierr;
  char           options[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-DGATHER=%zu", g->group));
  PetscCall(SpmvProgramGet(g->device, SpmvGatherSource, options, &g->program));
  PetscCall(SpmvDeviceAlloc(g->device, (size_t)g->n * sizeof(int32_t), &g->which));
  if (g->which) PetscCall(SpmvDeviceAlloc(g->device, (size_t)g->n * sizeof(PetscScalar), &g->out));
  if (!g->out) {
    *nomem = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(g->n, &narrow));
  for (PetscInt k = 0; k < g->n; k++) narrow[k] = (int32_t)which[k];
  ierr = SpmvDeviceWrite(g->device, g->which, narrow, (size_t)g->n * sizeof(int32_t), nomem);
  PetscCall(PetscFree(narrow));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvGatherCreate - prepares to bring the same entries of vectors to the host, over and over

  Input Parameters:
+ device - that has the vectors
. n      - how many entries, more than 0
- which  - [n] their numbers

  Output Parameters:
+ gather - to be destroyed with SpmvGatherDestroy(); NULL if memory ran out, and after an error
- nomem  - PETSC_TRUE if the device is out of memory
*/
PetscErrorCode SpmvGatherCreate(SpmvDevice *device, PetscInt n, const PetscInt which[], SpmvGather **gather, PetscBool *nomem)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  for (PetscInt k = 0; k < n; k++)
    PetscCheck(which[k] <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Entry %" PetscInt_FMT
               " of a vector does not fit the 32-bit integers of device kernels; use more processes or -mat_spmv_backend host",
               which[k]);
  PetscCall(PetscNew(gather));
  **gather = (SpmvGather){.device = device, .n = n, .group = PetscMin(GATHER_GROUP, device->info.group)};
  ierr     = GatherMake(*gather, which, nomem);
  if (ierr || *nomem) PetscCall(SpmvGatherDestroy(gather));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the entries of x, which lives on the device, to out[n]; nomem: not done, memory ran out */
PetscErrorCode SpmvGatherRun(SpmvGather *g, void *x, PetscScalar out[], PetscBool *nomem)
{
  const int32_t        n      = (int32_t)g->n;
  const void *const    arg[]  = {&g->which, &x, &g->out, &n};
  const size_t         size[] = {sizeof(void *), sizeof(void *), sizeof(void *), sizeof(n)};
  const SpmvDeviceCall call   = {.kernel = "spmv_gather",
                                 .groups = SpmvGroups((size_t)g->n, g->group),
                                 .group  = g->group,
                                 .nargs  = 4,
                                 .arg    = arg,
                                 .size   = size};

  PetscBool logging;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  PetscCall(PetscLogIsActive(&logging));
  PetscCall(SpmvDeviceRun(g->device, g->program, &call, logging, nomem));
  if (!*nomem) PetscCall(SpmvDeviceRead(g->device, g->out, out, (size_t)g->n * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvGatherDestroy(SpmvGather **gather)
{
  SpmvGather *g = *gather;

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvDeviceFree(g->device, (size_t)g->n * sizeof(int32_t), &g->which));
  PetscCall(SpmvDeviceFree(g->device, (size_t)g->n * sizeof(PetscScalar), &g->out));
  PetscCall(PetscFree(*gather));
  PetscFunctionReturn(PETSC_SUCCESS);
}
