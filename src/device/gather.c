/*
  gather.c - some entries of a vector that lives on the device, brought to the host: what other processes want of it. Nothing else
  of the vector moves

  It is the product with a matrix that has a 1 in each row, as far as the device is concerned: a format of its own, without knobs.
  What is read is waited for, so kernels that are to run meanwhile are asked for after that.
*/
#include "device.h"

#define GATHER_GROUP 64 /* work items of a work group, if the device has as many */

/* The storage is the matrix as it was given */
static PetscErrorCode GatherBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(sizeof(*csr), storage));
  memcpy(*storage, csr, sizeof(*csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherArrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const SpmvCSR *csr = storage;

  PetscFunctionBegin;
  *n        = 1;
  arrays[0] = SPMV_ARRAY("which", csr->j, (size_t)csr->m, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                    SpmvDeviceProduct *product)
{
  const PetscInt n     = ((const SpmvCSR *)storage)->m;
  const size_t   group = PetscMin(GATHER_GROUP, info->group);

  PetscFunctionBegin;
  PetscCall(SpmvAppend(product->options, sizeof(product->options), "-DGATHER=%zu", group));
  SPMV_LAUNCH(product, "spmv_gather", SpmvGroups((size_t)n, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("which"), SPMV_GIVE_X,
              SPMV_GIVE_Y, SPMV_GIVE_INT(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char SpmvGatherSource[] =
#include "gather.cl.h"
  ;

/* Prepares to bring n > 0 entries of vectors, number which[0], which[1], ..., to the host, each time by SpmvOnDeviceMultiply() */
PetscErrorCode SpmvGatherCreate(SpmvDevice *device, PetscInt n, const PetscInt which[], SpmvOnDevice **gather, PetscBool *nomem)
{
  static const SpmvDeviceSide side = {
    .side = {.build = GatherBuild, .arrays = GatherArrays}, .source = SpmvGatherSource, .product = GatherProduct};
  static const SpmvFormat format = {.name = "gather", .device = &side};
  const SpmvCSR           csr    = {.m = n, .j = which};
  SpmvPlan                plan   = {.threads = 1, .backend = SPMV_BACKEND_DEVICE};

  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceCreate(device, &format, &csr, &plan, NULL, gather, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}
