/*
  csr.c - the formats csr-vector and merge, for devices and these measurements only: AIJ's arrays and the kernels of csr.cl
*/
#include "traffic.h"

#define GROUP 128
#define ITEMS 7

static const char Source[] =
#include "csr.cl.h"
  ;

/* The storage is the matrix as it was given */
static PetscErrorCode Build(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  PetscFunctionBegin;
  PetscCheck(sizeof(PetscInt) == 4, PETSC_COMM_SELF, PETSC_ERR_SUP, "PetscInt must be of 32 bits");
  PetscCall(PetscMalloc(sizeof(*csr), storage));
  memcpy(*storage, csr, sizeof(*csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const SpmvCSR *csr = storage;

  PetscFunctionBegin;
  *n        = 3;
  arrays[0] = SPMV_ARRAY("values", csr->a, (size_t)csr->i[csr->m], sizeof(PetscScalar), .borrowed = PETSC_TRUE);
  arrays[1] = SPMV_ARRAY("columns", csr->j, (size_t)csr->i[csr->m], sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[2] = SPMV_ARRAY("row pointers", csr->i, (size_t)csr->m + 1, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many lanes as a row has entries in the mean, up to a warp */
static PetscErrorCode VectorProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                    SpmvDeviceProduct *product)
{
  const SpmvCSR *csr   = storage;
  int            width = 2;

  PetscFunctionBegin;
  while (width < 32 && (PetscInt64)width * csr->m < csr->i[csr->m]) width *= 2;
  PetscCall(SpmvAppend(product->options, sizeof(product->options), "-DGROUP=%d -DITEMS=%d -DWIDTH=%d", GROUP, ITEMS, width));
  SPMV_LAUNCH(product, "csr_vector", SpmvGroups((size_t)csr->m * (size_t)width, GROUP), GROUP, PETSC_FALSE,
              SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("row pointers"), SPMV_GIVE_X, SPMV_GIVE_Y,
              SPMV_GIVE_INT(csr->m), SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MergeProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                   SpmvDeviceProduct *product)
{
  const SpmvCSR *csr    = storage;
  const PetscInt nz     = csr->i[csr->m];
  const size_t   ntiles = SpmvGroups((size_t)csr->m + (size_t)nz, GROUP * ITEMS);

  PetscFunctionBegin;
  PetscCall(SpmvAppend(product->options, sizeof(product->options), "-DGROUP=%d -DITEMS=%d -DWIDTH=2", GROUP, ITEMS));
  SpmvDeviceWork(product, "starts", (ntiles + 1) * sizeof(int));
  SpmvDeviceWork(product, "carries", ntiles * sizeof(PetscScalar));
  SPMV_LAUNCH(product, "merge_search", SpmvGroups(ntiles + 1, GROUP), GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("row pointers"),
              SPMV_GIVE_ARRAY("starts"), SPMV_GIVE_INT(csr->m), SPMV_GIVE_INT(nz), SPMV_GIVE_INT((PetscInt)ntiles));
  SPMV_LAUNCH(product, "merge_tile", ntiles, GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"),
              SPMV_GIVE_ARRAY("row pointers"), SPMV_GIVE_ARRAY("starts"), SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_ARRAY("carries"),
              SPMV_GIVE_INT(csr->m), SPMV_GIVE_INT(nz), SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "merge_carry", SpmvGroups(ntiles, GROUP), GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("starts"),
              SPMV_GIVE_ARRAY("carries"), SPMV_GIVE_Y, SPMV_GIVE_INT(csr->m), SPMV_GIVE_INT((PetscInt)ntiles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SpmvDeviceSide Vector = {.side = {.build = Build, .arrays = Arrays}, .source = Source, .product = VectorProduct},
                            Merge  = {.side = {.build = Build, .arrays = Arrays}, .source = Source, .product = MergeProduct};
const SpmvFormat TrafficCsrVector = {.name = "csr-vector", .device = &Vector}, TrafficMerge = {.name = "merge", .device = &Merge};
