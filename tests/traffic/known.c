/*
  known.c - the format known, of the unit matrix: kernels that fill a work array, of which the meter's counts are known, and one
  that copies x to y
*/
#include "traffic.h"

static const char Source[] =
#include "known.cl.h"
  ;

static PetscErrorCode Build(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  PetscFunctionBegin;
  PetscCheck(csr->m == 1024 && csr->n == 1024 && csr->i[1024] == 1024, PETSC_COMM_SELF, PETSC_ERR_SUP, "use -matrix unit:1024");
  PetscCall(PetscMalloc(1, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  PetscFunctionBegin;
  *n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product)
{
  const SpmvDeviceArg out = SPMV_GIVE_ARRAY("out"), n = SPMV_GIVE_INT(1024);

  PetscFunctionBegin;
  SpmvDeviceWork(product, "out", 2048 * sizeof(PetscScalar));
  SPMV_LAUNCH(product, "known_copy", 8, 128, PETSC_FALSE, SPMV_GIVE_X, SPMV_GIVE_Y);
  SPMV_LAUNCH(product, "known_stride", 8, 128, PETSC_FALSE, SPMV_GIVE_X, out, n);
  SPMV_LAUNCH(product, "known_same", 8, 128, PETSC_FALSE, SPMV_GIVE_X, out, n);
  SPMV_LAUNCH(product, "known_twice", 8, 128, PETSC_FALSE, SPMV_GIVE_X, out);
  SPMV_LAUNCH(product, "known_loops", 8, 128, PETSC_FALSE, SPMV_GIVE_X, out);
  SPMV_LAUNCH(product, "known_banks", 8, 128, PETSC_FALSE, out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SpmvDeviceSide Known        = {.side = {.build = Build, .arrays = Arrays}, .source = Source, .product = Product};
const SpmvFormat            TrafficKnown = {.name = "known", .device = &Known};
