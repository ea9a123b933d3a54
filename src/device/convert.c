/*
  convert.c - arrays of a storage that kernels of the device make, from what is sent for that time only

  The host builds the rest, and knows all sizes. What the kernels are is the format's (SpmvDeviceSide.convert()).
*/
#include "ondevice.h"

/* What the arrays, or their values, are made from */
static PetscErrorCode ConvertSend(SpmvOnDevice *on, PetscBool values_only, PetscBool *nomem)
{
  SpmvArray sources[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(on->format->device->sources(on->storage, &n, sources));
  for (PetscInt k = 0; k < n && !*nomem; k++) {
    OnDeviceBuffer *b     = &on->buffer[on->nbuffers];
    const size_t    bytes = sources[k].count * sources[k].size;

    if (values_only && !sources[k].is_values) continue;
    PetscCall(SpmvOnDeviceAlloc(on, sources[k].name, bytes, b, nomem));
    on->nbuffers++;
    if (bytes && !*nomem) PetscCall(SpmvDeviceWrite(on->device, b->buffer, sources[k].data, bytes, nomem));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels with their work arrays */
static PetscErrorCode ConvertRun(SpmvOnDevice *on, const SpmvDeviceProduct *conversion, PetscBool *nomem)
{
  void     *program;
  PetscBool logging;

  PetscFunctionBegin;
  PetscCall(SpmvProgramGet(on->device, on->format->device->convert_source, conversion->options, &program));
  PetscCall(PetscLogIsActive(&logging));
  for (PetscInt k = 0; k < conversion->nwork && !*nomem; k++) {
    PetscCall(SpmvOnDeviceAlloc(on, conversion->work[k].name, conversion->work[k].bytes, &on->buffer[on->nbuffers++], nomem));
  }
  for (PetscInt k = 0; k < conversion->nlaunches && !*nomem; k++) {
    OnDeviceCall call;

    if (!conversion->launch[k].groups) continue;
    PetscCall(SpmvOnDeviceCallSet(on, &conversion->launch[k], PETSC_FALSE, &call));
    PetscCall(SpmvDeviceRun(on->device, program, &call.call, logging, nomem));
  }
  PetscCall(on->device->api->finish(on->device->handle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the arrays that are the device's to make, or their values. nomem: memory ran out */
PetscErrorCode SpmvOnDeviceConvert(SpmvOnDevice *on, PetscBool values_only, PetscBool *nomem)
{
  const PetscInt     first = on->nbuffers; /* what is here for this time only comes after the others */
  SpmvDeviceProduct *conversion;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  if (!on->format->device->convert) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&conversion));
  ierr = on->format->device->convert(on->storage, values_only, conversion);
  if (!ierr && conversion->nlaunches) {
    ierr = ConvertSend(on, values_only, nomem);
    if (!ierr && !*nomem) ierr = ConvertRun(on, conversion, nomem);
  }
  for (; on->nbuffers > first; on->nbuffers--) {
    OnDeviceBuffer *b = &on->buffer[on->nbuffers - 1];

    PetscCall(SpmvDeviceFree(on->device, b->bytes, &b->buffer));
  }
  PetscCall(PetscFree(conversion));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For tests: an array as the device has it; of as many bytes */
PetscErrorCode SpmvOnDeviceRead(SpmvOnDevice *on, const char name[], void *data, size_t bytes)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < on->nbuffers; k++) {
    if (strcmp(on->buffer[k].name, name)) continue;
    PetscCheck(on->buffer[k].bytes == bytes, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The device has %zu bytes of %s, not %zu",
               on->buffer[k].bytes, name, bytes);
    PetscCall(SpmvDeviceRead(on->device, on->buffer[k].buffer, data, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The device has no array %s", name);
}
