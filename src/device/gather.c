/*
  gather.c - some entries of a vector that lives on the device, brought to the host: what other processes want of it. Nothing else
  of the vector moves

  It is the product with a matrix that has a 1 in each row, as far as the device is concerned: a format of its own, without knobs.
  What is read is waited for, so kernels that are to run meanwhile are asked for after that.
*/
#include "device.h"

#define GATHER_GROUP 64 /* work items of a work group, if the device has as many */

typedef struct {
  PetscInt n;
  int32_t *which;
} Gather;

static PetscErrorCode GatherBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  Gather *g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  *storage = g;
  g->n     = csr->m;
  PetscCall(PetscMalloc1(g->n, &g->which));
  for (PetscInt k = 0; k < g->n; k++) {
    PetscCheck(csr->j[k] <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Entry %" PetscInt_FMT
               " of a vector does not fit the 32-bit integers of device kernels; use more processes or -mat_spmv_backend host",
               csr->j[k]);
    g->which[k] = (int32_t)csr->j[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherArrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const Gather *g = storage;

  PetscFunctionBegin;
  *n        = 1;
  arrays[0] = SPMV_ARRAY("which", g->which, (size_t)g->n, sizeof(int32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                    SpmvDeviceProduct *product)
{
  const Gather *g     = storage;
  const size_t  group = PetscMin(GATHER_GROUP, info->group);

  PetscFunctionBegin;
  PetscCall(SpmvAppend(product->options, sizeof(product->options), "-DGATHER=%zu", group));
  SPMV_LAUNCH(product, "spmv_gather", SpmvGroups((size_t)g->n, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("which"), SPMV_GIVE_X,
              SPMV_GIVE_Y, SPMV_GIVE_INT(g->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherDestroy(void **storage)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(((Gather *)*storage)->which));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char SpmvGatherSource[] =
#include "gather.cl.h"
  ;

/*
  SpmvGatherCreate - prepares to bring the same entries of vectors to the host, over and over, with SpmvOnDeviceMultiply()

  Input Parameters:
+ device - that has the vectors
. n      - how many entries, more than 0
- which  - [n] their numbers

  Output Parameters: as of SpmvOnDeviceCreate()
*/
PetscErrorCode SpmvGatherCreate(SpmvDevice *device, PetscInt n, const PetscInt which[], SpmvOnDevice **gather, PetscBool *nomem)
{
  static const SpmvDeviceSide side   = {.side    = {.build = GatherBuild, .arrays = GatherArrays, .destroy = GatherDestroy},
                                        .source  = SpmvGatherSource,
                                        .product = GatherProduct};
  static const SpmvFormat     format = {.name = "gather", .device = &side};
  const SpmvCSR               csr    = {.m = n, .j = which};
  SpmvPlan                    plan   = {.threads = 1, .backend = SPMV_BACKEND_DEVICE};

  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceCreate(device, &format, &csr, &plan, NULL, gather, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}
