/*
  built.c - a matrix in a format, wherever it is: on the host its storage, on a device what that has of it
*/
#include "spmvmat.h"
#include "../../device/device.h"

/* Counts the bytes: now, while what is borrowed is there */
static PetscErrorCode BuiltCount(SpmvBuilt *b)
{
  SpmvArray arrays[2 * SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(SpmvBuiltArrays(b, &n, arrays));
  b->read = SpmvArraysRead(n, arrays);
  b->own  = SpmvArraysOwn(n, arrays);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvBuiltCreate - builds A or A^T as candidate `number`, under a plan that says for which backend

  Input/Output Parameters:
+ kept  - a storage of csr that the tuner has left, which is taken over if it is what is asked for; NULL: there is none
- order - the order that the rows of csr are in, which is taken over; NULL, or a pointer to NULL, if they are as they come

  Output Parameters:
+ built - nothing in it after an error
- nomem - PETSC_TRUE if the device is out of memory or has failed, which has been said; there is nothing in it then, either
*/
PetscErrorCode SpmvBuiltCreate(Mat A, SpmvShadow *s, const SpmvCSR *csr, PetscInt number, const SpmvPlan *plan, SpmvKept *kept,
                               SpmvOrder **order, SpmvBuilt *built, PetscBool *nomem)
{
  const SpmvFormat *format = SpmvCandidate[number];
  SpmvBuilt         b      = {.format = format, .plan = *plan};
  SpmvDevice       *device = NULL;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  PetscCall(PetscMemzero(built, sizeof(*built)));
  PetscCall(PetscLogEventBegin(SPMV_Build, A, 0, 0, 0));
  if (plan->backend == SPMV_BACKEND_DEVICE) {
    PetscCall(SpmvDeviceGet(&device));
    *nomem = device->failed;
    if (!*nomem)
      SpmvTolerantly(device,
                     SpmvOnDeviceCreate(device, format, csr, &b.plan, &s->settings.request.host[number], &b.device, nomem));
  } else if (kept && SpmvKeptIs(kept, number, plan)) {
    b.plan            = kept->plan;
    b.storage         = kept->own.storage;
    kept->own.storage = NULL;
  } else if (format->host->kernels) PetscCall(SpmvBuild(&format->host->side, csr, NULL, &b.plan, &b.storage));
  PetscCall(PetscLogEventEnd(SPMV_Build, A, 0, 0, 0));
  if (*nomem) {
    PetscCall(MatSpmvLeaveDevice(s, device, format->name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (order && b.storage) {
    b.order = *order;
    *order  = NULL;
  }
  PetscCall(BuiltCount(&b));
  *built = b;
  s->seq.counts.builds += SpmvBuiltExists(built);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storage of the host takes new values, in its order if it has one */
static PetscErrorCode BuiltSetValuesHost(const SpmvCSR *csr, SpmvBuilt *b)
{
  SPMV_DESTROY_BY(SpmvOrderRowsDestroy) SpmvCSR ordered = {0};

  PetscFunctionBegin;
  if (b->order) PetscCall(SpmvOrderRows(b->order, csr, &ordered));
  PetscCall(b->format->host->side.setvalues(b->order ? &ordered : csr, b->storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuiltSetValuesDevice(const SpmvCSR *csr, SpmvOnDevice *on, PetscBool *nomem)
{
  SpmvDevice *device = SpmvOnDeviceDevice(on);

  PetscFunctionBegin;
  *nomem = device->failed;
  if (!*nomem) SpmvTolerantly(device, SpmvOnDeviceSetValues(on, csr, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the values of a matrix with the same pattern */
PetscErrorCode SpmvBuiltSetValues(Mat A, SpmvShadow *s, const SpmvCSR *csr, SpmvBuilt *b, PetscBool *nomem)
{
  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  PetscCall(PetscLogEventBegin(SPMV_Update, A, 0, 0, 0));
  if (b->device) PetscCall(BuiltSetValuesDevice(csr, b->device, nomem));
  else if (b->storage) PetscCall(BuiltSetValuesHost(csr, b));
  PetscCall(PetscLogEventEnd(SPMV_Update, A, 0, 0, 0));
  if (*nomem) PetscCall(MatSpmvLeaveDevice(s, SpmvOnDeviceDevice(b->device), b->format->name));
  else s->seq.counts.refreshes += SpmvBuiltExists(b);
  PetscCall(BuiltCount(b)); /* values may be coded otherwise */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if there is a storage of ours, not AIJ's kernel */
PetscBool SpmvBuiltExists(const SpmvBuilt *b)
{
  return (PetscBool)(b->storage || b->device);
}

/* The arrays of a storage, none if there is none; at most 2 SPMV_ARRAY_MAX */
PetscErrorCode SpmvBuiltArrays(const SpmvBuilt *b, PetscInt *n, SpmvArray arrays[])
{
  PetscFunctionBegin;
  *n = 0;
  if (b->device) PetscCall(SpmvOnDeviceArrays(b->device, n, arrays));
  else if (b->storage) PetscCall(b->format->host->side.arrays(b->storage, n, arrays));
  if (b->order) PetscCall(SpmvOrderArrays(b->order, n, arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line k of what is printed of a storage besides plan and bytes; empty: nothing */
PetscErrorCode SpmvBuiltDescribe(const SpmvBuilt *b, PetscInt k, char line[], size_t size)
{
  PetscFunctionBegin;
  line[0] = 0;
  if (b->device) PetscCall(SpmvOnDeviceDescribe(b->device, k, line, size));
  else if (b->storage && b->format->host->side.describe && k < SPMV_LINE_MAX)
    PetscCall(b->format->host->side.describe(b->storage, k, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvBuiltDestroy(SpmvBuilt *b)
{
  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceDestroy(&b->device));
  if (b->storage) PetscCall(SpmvStorageDestroy(&b->format->host->side, &b->storage));
  PetscCall(SpmvOrderDestroy(&b->order));
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
