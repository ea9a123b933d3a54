/*
  ondevice.c - a storage on a device: built, its arrays sent once, or made there, its values again when they change
*/
#include "ondevice.h"

/* The buffer of a name, or NULL */
OnDeviceBuffer *SpmvOnDeviceFind(SpmvOnDevice *on, const char name[])
{
  for (PetscInt k = 0; k < on->nbuffers; k++) {
    if (!strcmp(on->buffer[k].name, name)) return &on->buffer[k];
  }
  return NULL;
}

/* Sends arrays, or those with values only, to buffers that are made if they are not there; an array without data has one, too */
PetscErrorCode SpmvOnDeviceSend(SpmvOnDevice *on, PetscInt n, const SpmvArray arrays[], PetscBool values_only, PetscBool *nomem)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && !*nomem; k++) {
    const SpmvArray *a     = &arrays[k];
    const size_t     bytes = a->aside && a->data && !a->sent ? 0 : a->count * a->size;
    OnDeviceBuffer  *b     = SpmvOnDeviceFind(on, a->name);

    if (values_only && !a->is_values) continue;
    if (!b) {
      b  = &on->buffer[on->nbuffers++];
      *b = (OnDeviceBuffer){.name = a->name, .bytes = bytes};
    }
    if (!b->buffer && bytes) PetscCall(SpmvDeviceAlloc(on->device, bytes, &b->buffer));
    if (!b->buffer && bytes) *nomem = PETSC_TRUE;
    else if (a->data) PetscCall(SpmvDeviceWrite(on->device, b->buffer, a->data, bytes, nomem));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the work arrays of the products: zeros */
static PetscErrorCode OnDeviceWork(SpmvOnDevice *on, PetscBool *nomem)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < on->product.nwork; k++) {
    SpmvArray            work  = on->product.work[k];
    SPMV_TEMPORARY char *zeros = NULL;

    PetscCall(PetscCalloc1(work.count, &zeros));
    work.data = zeros;
    PetscCall(SpmvOnDeviceSend(on, 1, &work, PETSC_FALSE, nomem));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The arrays that kernels of the device make, or their values, from what is sent for this time only. The host builds the rest, and
  knows all sizes
*/
static PetscErrorCode OnDeviceConvert(SpmvOnDevice *on, PetscBool values_only, PetscBool *nomem)
{
  const SpmvDeviceSide             *side       = on->format->device;
  const PetscInt                    first      = on->nbuffers; /* what is here for this time only comes after the others */
  SPMV_TEMPORARY SpmvDeviceProduct *conversion = NULL;
  SpmvArray                         sources[SPMV_ARRAY_MAX];
  PetscInt                          n;
  void                             *program;

  PetscFunctionBegin;
  PetscCall(PetscNew(&conversion));
  PetscCall(side->convert(on->storage, values_only, conversion));
  if (!conversion->nlaunches) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(side->sources(on->storage, &n, sources));
  PetscCall(SpmvOnDeviceSend(on, n, sources, values_only, nomem));
  PetscCall(SpmvOnDeviceSend(on, conversion->nwork, conversion->work, PETSC_FALSE, nomem));
  PetscCall(SpmvProgramGet(on->device, side->convert_source, conversion->options, &program));
  if (!program) *nomem = PETSC_TRUE; /* the device has failed */
  for (PetscInt k = 0; k < conversion->nlaunches && !*nomem; k++) {
    SpmvDeviceCall call;

    if (!conversion->launch[k].groups) continue;
    PetscCall(SpmvOnDeviceCallSet(on, &conversion->launch[k], PETSC_FALSE, &call));
    PetscCall(SpmvDeviceRun(on->device, program, &call, PETSC_TRUE, nomem));
  }
  if (!*nomem) SpmvCallDevice(on->device, nomem, finish);
  while (on->nbuffers > first) {
    OnDeviceBuffer *b = &on->buffer[--on->nbuffers];

    PetscCall(SpmvDeviceFree(on->device, b->bytes, &b->buffer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storage of the rows that the device has, with the kernels of its products; or its new values */
static PetscErrorCode OnDeviceFill(SpmvOnDevice *on, const SpmvCSR *csr, PetscBool values_only, PetscBool *nomem)
{
  const SpmvDeviceSide *side = on->format->device;
  SpmvArray             arrays[SPMV_ARRAY_MAX];
  const SpmvCSR        *rows = csr;
  PetscInt              n;

  SPMV_DESTROY_BY(SpmvRowsDestroy) SpmvCSR some = {0};

  PetscFunctionBegin;
  if (on->joint) {
    PetscCall(SpmvRowsCreate(csr, on->joint->n, on->joint->rows, &some));
    rows = &some;
  }
  if (values_only) PetscCall(side->side.setvalues(rows, on->storage));
  else {
    on->m = rows->m;
    on->n = rows->n;
    PetscCall(side->side.build(rows, &on->plan, &on->storage));
    PetscCall(side->product(on->storage, &on->plan, &on->device->info, &on->product));
    if (on->product.numbered) PetscCall(SpmvAppend(on->product.options, sizeof(on->product.options), " " SPMV_ACROSS));
    PetscCall(SpmvProgramGet(on->device, side->source, on->product.options, &on->program));
    if (!on->program) *nomem = PETSC_TRUE; /* the device has failed */
  }
  PetscCall(side->side.arrays(on->storage, &n, arrays));
  if (!*nomem) PetscCall(SpmvOnDeviceSend(on, n, arrays, values_only, nomem));
  if (!values_only && !*nomem) PetscCall(OnDeviceWork(on, nomem));
  if (!*nomem && side->convert) PetscCall(OnDeviceConvert(on, values_only, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvOnDeviceCreate - builds a storage, sends it to a device and compiles its kernels

  Input Parameters:
+ device - the device
. format - a format that has a device side
. csr    - the matrix
- host   - the plan that was asked for rows that the host has in joint products; NULL: it has none

  Input/Output Parameter:
. plan - of the device side, as asked for; on return as built

  Output Parameters:
+ on    - to be destroyed with SpmvOnDeviceDestroy(); NULL if memory ran out, and after an error
- nomem - PETSC_TRUE if the device is out of memory, or has failed and is tolerant

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if the plan does not suit the device or the matrix, `PETSC_ERR_LIB` if a kernel does not compile.
*/
PetscErrorCode SpmvOnDeviceCreate(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                  const SpmvPlan *host, SpmvOnDevice **result, PetscBool *nomem)
{
  const SpmvDeviceSide                              *side = format->device;
  SPMV_DESTROY_BY(SpmvOnDeviceDestroy) SpmvOnDevice *on   = NULL;
  char                                               why[512];

  PetscFunctionBegin;
  *nomem  = PETSC_FALSE;
  *result = NULL;
  if (host) plan->threads = host->threads; /* for who has joint products */
  PetscCall(SpmvDevicePowers(device, format, csr, plan, host));
  PetscCall(SpmvResolve(&side->side, csr, &device->info, plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s", why);
  PetscCall(PetscNew(&on));
  on->device = device;
  on->format = format;
  on->plan   = *plan;
  if (side->joint && plan->value[side->joint->parts]) {
    if (host) PetscCall(SpmvJointCreate(format, csr, plan, host, &on->joint));
    else *nomem = PETSC_TRUE; /* the device has no room for all, and nobody is there to have the rest */
  }
  if (!*nomem) PetscCall(OnDeviceFill(on, csr, PETSC_FALSE, nomem));
  *plan = on->plan;
  if (device->failed) *nomem = PETSC_TRUE;
  if (*nomem) PetscFunctionReturn(PETSC_SUCCESS);
  *result = on;
  on      = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a matrix with the same pattern */
PetscErrorCode SpmvOnDeviceSetValues(SpmvOnDevice *on, const SpmvCSR *csr, PetscBool *nomem)
{
  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  if (on->joint) PetscCall(SpmvJointSetValues(on->joint, csr));
  PetscCall(OnDeviceFill(on, csr, PETSC_TRUE, nomem));
  if (on->device->failed) *nomem = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the storage, and those of the host's rows */
PetscErrorCode SpmvOnDeviceArrays(const SpmvOnDevice *on, PetscInt *n, SpmvArray arrays[])
{
  PetscInt more = 0;

  PetscFunctionBegin;
  PetscCall(on->format->device->side.arrays(on->storage, n, arrays));
  if (on->joint) PetscCall(on->format->host->side.arrays(on->joint->storage, &more, arrays + *n));
  *n += more;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line k of what is printed of the storage, then of who has how many rows, then of the host's rows */
PetscErrorCode SpmvOnDeviceDescribe(const SpmvOnDevice *on, PetscInt k, char line[], size_t size)
{
  const SpmvSide *side    = k < SPMV_LINE_MAX ? &on->format->device->side : &on->format->host->side;
  const void     *storage = k < SPMV_LINE_MAX ? on->storage : on->joint ? on->joint->storage : NULL;

  PetscFunctionBegin;
  line[0] = 0;
  if (!storage) PetscFunctionReturn(PETSC_SUCCESS);
  if (k == SPMV_LINE_MAX) PetscCall(SpmvJointDescribe(on->joint, &on->plan, line, size));
  else if (side->describe) PetscCall(side->describe(storage, k < SPMV_LINE_MAX ? k : k - SPMV_LINE_MAX - 1, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvOnDeviceDestroy(SpmvOnDevice **result)
{
  SpmvOnDevice *on = *result;

  PetscFunctionBegin;
  if (!on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvGraphsForget(on));
  for (PetscInt k = 0; k < on->nbuffers; k++) PetscCall(SpmvDeviceFree(on->device, on->buffer[k].bytes, &on->buffer[k].buffer));
  PetscCall(SpmvJointDestroy(&on->joint));
  PetscCall(SpmvStorageDestroy(&on->format->device->side, &on->storage));
  PetscCall(PetscFree(*result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its device, which is there as long as it is */
SpmvDevice *SpmvOnDeviceDevice(const SpmvOnDevice *on)
{
  return on->device;
}
