/*
  launch.c - kernels launched, each under an event of its own name
*/
#include "device.h"

#define KERNELS_MAX 128 /* kernels that have an event of their own, at most; those above share the last one's */
static struct {
  const char   *kernel;
  PetscLogEvent event;
} Kernels[KERNELS_MAX];

/* The event of a kernel, named after it */
static PetscErrorCode KernelEvent(const char kernel[], PetscLogEvent *event)
{
  size_t k = 0;

  PetscFunctionBegin;
  while (k < KERNELS_MAX - 1 && Kernels[k].kernel && strcmp(Kernels[k].kernel, kernel)) k++;
  if (!Kernels[k].kernel) {
    Kernels[k].kernel = kernel;
    PetscCall(PetscLogEventRegister(kernel, MAT_CLASSID, &Kernels[k].event));
  }
  *event = Kernels[k].event;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceRun - launches a kernel

  Input Parameters:
+ d       - the device
. program - the kernel's
. call    - the kernel, whose name must stay where it is, and what it is given
- wait    - whether its end is waited for, so that its event has its time

  Output Parameter:
. nomem - set if memory ran out: nothing was launched
*/
PetscErrorCode SpmvDeviceRun(SpmvDevice *d, void *program, const SpmvDeviceCall *call, PetscBool wait, PetscBool *nomem)
{
  PetscLogEvent event = -1;

  PetscFunctionBegin;
  PetscCall(KernelEvent(call->kernel, &event));
  PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(d->api->launch(d->handle, program, call, nomem));
  if (wait && !*nomem) PetscCall(d->api->finish(d->handle));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Events are PETSc's until PetscFinalize() */
PetscErrorCode SpmvDeviceRunReset(void)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(Kernels, sizeof(Kernels)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
