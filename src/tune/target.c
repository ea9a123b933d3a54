/*
  target.c - the device of this process as a target of the tuner: plans are built, sent, multiplied by, and timed there

  The vectors are on the device, so that products move none: kernels are launched, and the device is waited for. Of a joint product
  the host has some rows, so that its vectors are there and move.
*/
#include "tune.h"
#include "target.h"
#include "../device/device.h"
#include <petsctime.h>

#define TARGET_SECONDS 0.005 /* of products at least, ... */
#define TARGET_MOST    100   /* ... or so many of them: what takes some microseconds is often disturbed */

/* The times of products by a storage on the device, of as many as were asked for or more; the first is not timed */
static PetscErrorCode TargetProducts(SpmvOnDevice *on, const SpmvCSR *csr, PetscInt products, SpmvTrial *trial)
{
  SPMV_TEMPORARY PetscScalar *x = NULL, *y = NULL;
  const PetscBool             joint = SpmvOnDeviceIsJoint(on);
  PetscLogDouble              start, end, all = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->n, &x));
  PetscCall(PetscMalloc1(csr->m, &y));
  for (PetscInt k = 0; k < csr->n; k++) x[k] = 1;
  PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, PETSC_FALSE, &trial->nomem)); /* makes the places of the vectors */
  trial->product = PETSC_MAX_REAL;
  for (trial->products = 1; !trial->nomem; trial->products++) {
    if (trial->products >= products && (all >= TARGET_SECONDS || trial->products >= TARGET_MOST)) break;
    PetscCall(PetscTime(&start));
    if (joint) PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, PETSC_FALSE, &trial->nomem));
    else PetscCall(SpmvOnDeviceRepeat(on, 1));
    PetscCall(PetscTime(&end));
    trial->product = PetscMin(trial->product, PetscMax(end - start, 1e-9));
    all += end - start;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TargetTry(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *asked,
                                const SpmvPlan *host, PetscInt products, SpmvTrial *trial)
{
  SPMV_DESTROY_BY(SpmvOnDeviceDestroy) SpmvOnDevice *on   = NULL;
  SpmvPlan                                           plan = *asked;
  PetscLogDouble                                     start, end, compiling = SpmvProgramSeconds;

  PetscFunctionBegin;
  *trial = (SpmvTrial){0};
  PetscCall(PetscTime(&start));
  PetscCall(SpmvOnDeviceCreate(device, format, csr, &plan, host, &on, &trial->nomem));
  PetscCall(PetscTime(&end));
  trial->build = PetscMax(end - start - (SpmvProgramSeconds - compiling), 0);
  if (!trial->nomem) PetscCall(TargetProducts(on, csr, products, trial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A device that fails meanwhile has no room for anything from then on: who builds what is chosen says that it has failed */
static PetscErrorCode TargetAttempt(const SpmvTarget *target, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan,
                                    const SpmvPlan *host, PetscInt products, SpmvTrial *trial)
{
  SpmvDevice *device = (SpmvDevice *)target->context;

  PetscFunctionBegin;
  SpmvTolerantly(device, TargetTry(device, format, csr, plan, host, products, trial));
  if (device->failed) trial->nomem = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device of this process; not found: there is none. Errors as of SpmvDeviceGet() */
PetscErrorCode SpmvTargetGet(SpmvTarget *target, PetscBool *found)
{
  SpmvDevice    *device;
  SpmvDeviceTold told;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  *found = (PetscBool)(device != NULL);
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  *target = (SpmvTarget){.api = device->api->name, .info = &device->info, .attempt = TargetAttempt, .context = device};
  PetscCall(device->api->tell(device->index, &told));
  SpmvRatesOf(&device->info, &told, &target->rates);
  PetscFunctionReturn(PETSC_SUCCESS);
}
