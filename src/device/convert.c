/*
  convert.c - arrays of a storage that kernels of the device make, from what is sent for that time only

  The host builds the rest, and knows all sizes. What the kernels are is the format's (SpmvDeviceSide.convert()).
*/
#include "ondevice.h"

/* Sends what the arrays, or their values, are made from, and runs the kernels */
static PetscErrorCode ConvertRun(SpmvOnDevice *on, const SpmvDeviceProduct *conversion, PetscBool values_only, PetscBool *nomem)
{
  const SpmvDeviceSide *side = on->format->device;
  SpmvArray             sources[SPMV_ARRAY_MAX];
  PetscInt              n;
  void                 *program;

  PetscFunctionBegin;
  PetscCall(side->sources(on->storage, &n, sources));
  PetscCall(SpmvOnDeviceSend(on, n, sources, values_only, PETSC_FALSE, nomem));
  PetscCall(SpmvOnDeviceSend(on, conversion->nwork, conversion->work, PETSC_FALSE, PETSC_FALSE, nomem));
  PetscCall(SpmvProgramGet(on->device, side->convert_source, conversion->options, &program));
  for (PetscInt k = 0; k < conversion->nlaunches && !*nomem; k++) {
    OnDeviceCall call;

    if (!conversion->launch[k].groups) continue;
    PetscCall(SpmvOnDeviceCallSet(on, &conversion->launch[k], PETSC_FALSE, &call));
    PetscCall(SpmvDeviceRun(on->device, program, &call.call, PETSC_TRUE, nomem));
  }
  SpmvCallDevice(on->device, NULL, finish);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the arrays that are the device's to make, or their values. nomem: memory ran out */
PetscErrorCode SpmvOnDeviceConvert(SpmvOnDevice *on, PetscBool values_only, PetscBool *nomem)
{
  const PetscInt                    first      = on->nbuffers; /* what is here for this time only comes after the others */
  SPMV_TEMPORARY SpmvDeviceProduct *conversion = NULL;
  PetscErrorCode                    ierr       = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscNew(&conversion));
  PetscCall(on->format->device->convert(on->storage, values_only, conversion));
  if (conversion->nlaunches) ierr = ConvertRun(on, conversion, values_only, nomem);
  while (on->nbuffers > first) {
    OnDeviceBuffer *b = &on->buffer[--on->nbuffers];

    PetscCall(SpmvDeviceFree(on->device, b->bytes, &b->buffer));
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
