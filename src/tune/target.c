/*
  target.c - the device of this process as a target of the tuner: plans are built, sent, multiplied by, and timed there

  The vectors are on the device, so that products move none: kernels are launched, and the device is waited for. Of a joint
  product the host has some rows, so that its vectors are there and move.
*/
#include "tune.h"
#include "target.h"
#include "../device/device.h"
#include <petsctime.h>

#define TARGET_MOST 101 /* ... or so many of them: what takes some microseconds is often disturbed */

/* What is timed: a storage, and vectors of the host, which a joint product needs */
typedef struct {
  SpmvOnDevice  *on;
  PetscScalar   *x, *y;
  PetscLogDouble time[TARGET_MOST];
} TargetTimes;

/* Times a product, as number k */
static PetscErrorCode TargetProduct(TargetTimes *t, PetscInt k, PetscBool *nomem)
{
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  if (SpmvOnDeviceIsJoint(t->on)) PetscCall(SpmvOnDeviceMultiply(t->on, t->x, NULL, t->y, NULL, PETSC_FALSE, nomem));
  else PetscCall(SpmvOnDeviceRepeat(t->on, 1, nomem));
  PetscCall(PetscTime(&end));
  t->time[k] = PetscMax(end - start, 1e-9);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The times of products by a storage on the device, of as many as were asked for or more, in turns with those of the fastest one:
  what slows the machine down meanwhile slows both. The first is not timed
*/
static PetscErrorCode TargetProducts(SpmvOnDevice *on, SpmvOnDevice *fastest, const SpmvCSR *csr, PetscInt products,
                                     SpmvTrial *trial)
{
  SPMV_TEMPORARY PetscScalar *x = NULL, *y = NULL;
  TargetTimes                 own = {.on = on}, beside = {.on = fastest};
  PetscLogDouble              all = 0;
  PetscInt                    n   = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->n, &x));
  PetscCall(PetscMalloc1(csr->m, &y));
  for (PetscInt k = 0; k < csr->n; k++) x[k] = 1;
  own.x = beside.x = x;
  own.y = beside.y = y;
  PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, PETSC_FALSE, &trial->nomem)); /* makes the places of the vectors */
  if (fastest && !trial->nomem) PetscCall(TargetProduct(&beside, 0, &trial->nomem));
  while (!trial->nomem && n < TARGET_MOST && (n + 1 < products || all < SPMV_MEASURED_SECONDS)) {
    PetscCall(TargetProduct(&own, n, &trial->nomem));
    if (fastest) PetscCall(TargetProduct(&beside, n, &trial->nomem));
    all += own.time[n++];
  }
  trial->products = (1 + n) * (fastest ? 2 : 1);
  if (trial->nomem) PetscFunctionReturn(PETSC_SUCCESS);
  trial->product = SpmvMedian(n, own.time);
  if (fastest) trial->beside = SpmvMedian(n, beside.time);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TargetRelease(void **fastest)
{
  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceDestroy((SpmvOnDevice **)fastest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TargetTry(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *asked,
                                const SpmvPlan *host, PetscInt products, void **fastest, SpmvTrial *trial)
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
  if (!trial->nomem) PetscCall(TargetProducts(on, (SpmvOnDevice *)*fastest, csr, products, trial));
  if (trial->nomem || (*fastest && trial->product >= trial->beside)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TargetRelease(fastest));
  *fastest = on;
  on       = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Where there is no room for a storage beside the fastest one, that one goes. A device that fails meanwhile has no room for
  anything from then on: who builds what is chosen says that it has failed
*/
static PetscErrorCode TargetAttempt(const SpmvTarget *target, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan,
                                    const SpmvPlan *host, PetscInt products, void **fastest, SpmvTrial *trial)
{
  SpmvDevice *device = (SpmvDevice *)target->context;

  PetscFunctionBegin;
  *trial = (SpmvTrial){.nomem = device->failed};
  if (device->failed) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvTolerantly(device, TargetTry(device, format, csr, plan, host, products, fastest, trial));
  if (trial->nomem && *fastest && !device->failed) {
    PetscCall(TargetRelease(fastest));
    SpmvTolerantly(device, TargetTry(device, format, csr, plan, host, products, fastest, trial));
  }
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
  *target = (SpmvTarget){
    .api = device->api->name, .info = &device->info, .attempt = TargetAttempt, .release = TargetRelease, .context = device};
  PetscCall(device->api->tell(device->index, &told));
  SpmvRatesOf(&device->info, &told, &target->rates);
  PetscFunctionReturn(PETSC_SUCCESS);
}
