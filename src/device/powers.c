/*
  powers.c - the computing powers of a device and of threads of the host, for joint products

  Measured, at each build that leaves them open, with the format's own products of some rows of the matrix: all by the device,
  x sent and y received, then all by those threads of the host that do not drive the device. The paper of pmf takes averages
  of 30 matrices instead, and finds a GPU to have 75 times the power of a core; but it counts no transfers.
*/
#include "device.h"
#include <petsctime.h>

#define POWERS_ENTRIES  4000000 /* of the rows that are measured, about */
#define POWERS_SECONDS  0.02    /* for each of the two */
#define POWERS_PRODUCTS 3       /* at least */
#define POWERS_POWER    1000    /* of a thread of the host */

/* The least time of a product, which is run once before, in seconds: by a storage on a device or, if that is NULL, on the host */
static PetscErrorCode PowersTime(const SpmvCSR *csr, SpmvOnDevice *on, SpmvApplyFn *apply, const void *storage,
                                 PetscLogDouble *least, PetscBool *nomem)
{
  SPMV_TEMPORARY PetscScalar *x = NULL, *y = NULL;
  PetscLogDouble              start, end, total = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->n, &x));
  PetscCall(PetscMalloc1(csr->m, &y));
  for (PetscInt k = 0; k < csr->n; k++) x[k] = 1;
  *least = PETSC_MAX_REAL;
  for (PetscInt k = 0; k <= POWERS_PRODUCTS || total < POWERS_SECONDS; k++) {
    PetscCall(PetscTime(&start));
    if (on) PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, PETSC_FALSE, nomem));
    else apply(storage, x, y, PETSC_FALSE);
    if (*nomem) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscTime(&end));
    total += end - start;
    if (k) *least = PetscMin(*least, end - start);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PowersOfDevice(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan plan,
                                     PetscLogDouble *least, PetscBool *nomem)
{
  SPMV_DESTROY_BY(SpmvOnDeviceDestroy) SpmvOnDevice *on = NULL;

  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceCreate(device, format, csr, &plan, NULL, &on, nomem));
  if (!*nomem) PetscCall(PowersTime(csr, on, NULL, NULL, least, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PowersOfHost(const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan plan, PetscLogDouble *least)
{
  const SpmvKernels *kernels;
  PetscBool          nomem = PETSC_FALSE;
  SPMV_DESTROY_BY(SpmvOwnedDestroy)
  SpmvOwned own = {.side = &format->host->side};

  PetscFunctionBegin;
  PetscCall(SpmvKernelsGet(format, plan.isa, &kernels));
  PetscCall(SpmvBuild(own.side, csr, NULL, &plan, &own.storage));
  PetscCall(PowersTime(csr, NULL, kernels->apply, own.storage, least, &nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Measures the powers of the parts of a joint product, if the plan of the device side leaves them open: on return it lists those
  of the device's parts, which are equal, then those of the threads of `host`, the plan that was asked for rows of the host. The
  list stays empty, and all parts count as equal, if the matrix has no entries or the device is out of memory.

  `PETSC_ERR_ARG_OUTOFRANGE` if there are more parts than a list has values.
*/
PetscErrorCode SpmvDevicePowers(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                const SpmvPlan *host)
{
  const SpmvJointRows *joint = format->device->joint;
  SpmvCSR              rows  = *csr;
  SpmvPlan             whole = *plan, threads;
  PetscLogDouble       device_seconds, host_seconds;
  PetscInt             parts, hosts;
  PetscBool            nomem;
  double               power;

  PetscFunctionBegin;
  if (!joint || !plan->value[joint->parts] || plan->value[joint->powers] || !csr->i[csr->m]) PetscFunctionReturn(PETSC_SUCCESS);
  parts   = plan->value[joint->parts];
  hosts   = PetscMax(1, host->threads - 1);
  threads = *host;
  PetscCheck(parts + hosts <= SPMV_LIST_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " parts and %" PetscInt_FMT " threads of the host are more than %d; set -mat_spmv_threads to fewer",
             parts, hosts, SPMV_LIST_MAX);
  while (rows.m > 1 && csr->i[rows.m / 2] >= POWERS_ENTRIES) rows.m /= 2;
  whole.value[joint->parts] = 0;
  PetscCall(PowersOfDevice(device, format, &rows, whole, &device_seconds, &nomem));
  if (nomem) PetscFunctionReturn(PETSC_SUCCESS); /* whoever sends the storage will say so */
  threads.threads = hosts;
  PetscCall(PowersOfHost(format, &rows, threads, &host_seconds));
  power                      = POWERS_POWER * (double)hosts * (double)host_seconds / (double)(device_seconds * parts);
  power                      = PetscMax(1, PetscMin(power, (double)format->device->side.params[joint->powers].high));
  plan->value[joint->powers] = parts + hosts;
  for (PetscInt k = 0; k < parts + hosts; k++) plan->list[k] = k < parts ? (PetscInt)power : POWERS_POWER;
  PetscFunctionReturn(PETSC_SUCCESS);
}
