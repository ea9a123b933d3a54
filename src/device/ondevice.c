/*
  ondevice.c - a storage on a device: built, its arrays sent once, or made there (convert.c), its values again when they change
*/
#include "ondevice.h"

/* A buffer of so many bytes, perhaps none; nomem: memory ran out */
PetscErrorCode SpmvOnDeviceAlloc(SpmvOnDevice *on, const char name[], size_t bytes, OnDeviceBuffer *b, PetscBool *nomem)
{
  PetscFunctionBegin;
  *b = (OnDeviceBuffer){.name = name, .bytes = bytes};
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvDeviceAlloc(on->device, bytes, &b->buffer));
  if (!b->buffer) *nomem = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvOnDeviceClear(SpmvOnDevice *on, OnDeviceBuffer *b, PetscBool *nomem)
{
  char *zeros;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(b->bytes, &zeros));
  PetscCall(SpmvDeviceWrite(on->device, b->buffer, zeros, b->bytes, nomem));
  PetscCall(PetscFree(zeros));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every array of the storage, or those with values only. What the device makes it has room for */
static PetscErrorCode OnDeviceSend(SpmvOnDevice *on, PetscBool values_only, PetscBool *nomem)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(on->format->device->side.arrays(on->storage, &n, arrays));
  for (PetscInt k = 0; k < n && !*nomem; k++) {
    const SpmvArray *a     = &arrays[k];
    const size_t     bytes = a->aside && a->data ? 0 : a->count * a->size;

    if (values_only && !a->is_values) continue;
    if (!values_only) {
      on->nbuffers = k + 1;
      PetscCall(SpmvOnDeviceAlloc(on, a->name, bytes, &on->buffer[k], nomem));
    }
    if (bytes && a->data && !*nomem) PetscCall(SpmvDeviceWrite(on->device, on->buffer[k].buffer, a->data, bytes, nomem));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels of the products, and their work arrays */
static PetscErrorCode OnDeviceSetProduct(SpmvOnDevice *on, PetscBool *nomem)
{
  const SpmvDeviceSide *side = on->format->device;

  PetscFunctionBegin;
  PetscCall(side->product(on->storage, &on->plan, &on->device->info, &on->product));
  PetscCall(SpmvProgramGet(on->device, side->source, on->product.options, &on->program));
  PetscCall(OnDeviceSend(on, PETSC_FALSE, nomem));
  for (PetscInt k = 0; k < on->product.nwork && !*nomem; k++) {
    OnDeviceBuffer *b = &on->buffer[on->nbuffers++];

    PetscCall(SpmvOnDeviceAlloc(on, on->product.work[k].name, on->product.work[k].bytes, b, nomem));
    if (b->buffer) PetscCall(SpmvOnDeviceClear(on, b, nomem));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storage of the rows that the device has, or its new values */
static PetscErrorCode OnDeviceFill(SpmvOnDevice *on, const SpmvCSR *rows, PetscBool values_only, PetscBool *nomem)
{
  const SpmvSide *side = &on->format->device->side;

  PetscFunctionBegin;
  if (values_only) {
    PetscCall(side->setvalues(rows, on->storage));
    PetscCall(OnDeviceSend(on, PETSC_TRUE, nomem));
  } else {
    PetscCall(side->build(rows, &on->plan, &on->storage));
    PetscCall(OnDeviceSetProduct(on, nomem));
  }
  if (!*nomem) PetscCall(SpmvOnDeviceConvert(on, values_only, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnDeviceMake(SpmvOnDevice *on, const SpmvCSR *csr, const SpmvPlan *host, PetscBool *nomem)
{
  const SpmvSharing *sharing = on->format->device->sharing;
  SpmvRowsPart       part;
  char               why[512];
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  if (host) on->plan.threads = host->threads; /* for who shares products */
  PetscCall(SpmvDevicePowers(on->device, on->format, csr, &on->plan, host));
  PetscCall(SpmvResolve(&on->format->device->side, csr, &on->device->info, &on->plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s", why);
  *nomem = (PetscBool)(!host && sharing &&
                       on->plan.value[sharing->parts]); /* the device has no room for all, and nobody is there to have the rest */
  if (*nomem) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvSharedCreate(on->format, csr, &on->plan, host, &on->shared));
  PetscCall(SpmvSharedGetPart(on->shared, csr, &part));
  ierr = OnDeviceFill(on, &part.csr, PETSC_FALSE, nomem);
  PetscCall(SpmvSharedRestorePart(&part));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvOnDeviceCreate - builds a storage, sends it to a device and compiles its kernels

  Input Parameters:
+ device - the device
. format - a format that has a device side
. csr    - the matrix
- host   - the plan that was asked for rows that the host has, of a format that shares products; NULL: it has none

  Input/Output Parameter:
. plan - of the device side, as asked for; on return as built

  Output Parameters:
+ on    - to be destroyed with SpmvOnDeviceDestroy(); NULL if memory ran out, and after an error
- nomem - PETSC_TRUE if the device is out of memory

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if the plan does not suit the device or the matrix, `PETSC_ERR_LIB` if a kernel does not compile.
*/
PetscErrorCode SpmvOnDeviceCreate(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                  const SpmvPlan *host, SpmvOnDevice **result, PetscBool *nomem)
{
  SpmvOnDevice  *on;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *nomem  = PETSC_FALSE;
  *result = NULL;
  PetscCall(PetscNew(&on));
  on->device = device;
  on->format = format;
  on->plan   = *plan;
  ierr       = OnDeviceMake(on, csr, host, nomem);
  *plan      = on->plan;
  if (ierr || *nomem) PetscCall(SpmvOnDeviceDestroy(&on));
  PetscCall(ierr);
  *result = on;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a matrix with the same pattern */
PetscErrorCode SpmvOnDeviceSetValues(SpmvOnDevice *on, const SpmvCSR *csr, PetscBool *nomem)
{
  SpmvRowsPart   part;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  PetscCall(SpmvSharedSetValues(on->shared, csr));
  PetscCall(SpmvSharedGetPart(on->shared, csr, &part));
  ierr = OnDeviceFill(on, &part.csr, PETSC_TRUE, nomem);
  PetscCall(SpmvSharedRestorePart(&part));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the storage, and those of the host's rows */
PetscErrorCode SpmvOnDeviceArrays(const SpmvOnDevice *on, PetscInt *n, SpmvArray arrays[])
{
  PetscInt more = 0;

  PetscFunctionBegin;
  PetscCall(on->format->device->side.arrays(on->storage, n, arrays));
  if (on->shared) PetscCall(on->format->host->side.arrays(on->shared->storage, &more, arrays + *n));
  *n += more;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line k of what is printed of the storage, then of who has how many rows, then of the host's rows */
PetscErrorCode SpmvOnDeviceDescribe(const SpmvOnDevice *on, PetscInt k, char line[], size_t size)
{
  const SpmvSide *side = k < SPMV_LINE_MAX ? &on->format->device->side : &on->format->host->side;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == SPMV_LINE_MAX && on->shared) PetscCall(SpmvSharedDescribe(on->shared, &on->plan, line, size));
  else if (k < SPMV_LINE_MAX && side->describe) PetscCall(side->describe(on->storage, k, line, size));
  else if (k > SPMV_LINE_MAX && on->shared && side->describe)
    PetscCall(side->describe(on->shared->storage, k - SPMV_LINE_MAX - 1, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvOnDeviceDestroy(SpmvOnDevice **result)
{
  SpmvOnDevice *on = *result;

  PetscFunctionBegin;
  if (!on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvGraphsForget(&on->graphs, on->device));
  for (PetscInt k = 0; k < on->nbuffers; k++) PetscCall(SpmvDeviceFree(on->device, on->buffer[k].bytes, &on->buffer[k].buffer));
  PetscCall(SpmvDeviceFree(on->device, on->x.bytes, &on->x.buffer));
  PetscCall(SpmvDeviceFree(on->device, on->y.bytes, &on->y.buffer));
  PetscCall(SpmvSharedDestroy(&on->shared));
  if (on->storage) PetscCall(on->format->device->side.destroy(&on->storage));
  PetscCall(PetscFree(*result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
