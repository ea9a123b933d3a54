/*
  powers.c - the computing powers of a device and of threads of the host, for products that both share

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

/* PowersTimed: who runs products */
typedef struct {
  SpmvOnDevice *on; /* NULL: the host */
  SpmvApplyFn  *apply;
  void         *storage;
  PetscInt      m, n;
  PetscScalar  *x, *y;
} PowersTimed;

/* The least time of a product, which is run once before, in seconds; nomem: the device is out of memory */
static PetscErrorCode PowersTime(PowersTimed *t, PetscLogDouble *least, PetscBool *nomem)
{
  PetscLogDouble start, end, total = 0;

  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  for (PetscInt k = 0; k <= POWERS_PRODUCTS || total < POWERS_SECONDS; k++) {
    PetscCall(PetscTime(&start));
    if (t->on) PetscCall(SpmvOnDeviceApply(t->on, t->n, t->x, t->m, t->y, PETSC_FALSE, nomem));
    else t->apply(t->storage, t->x, t->y, PETSC_FALSE);
    if (*nomem) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscTime(&end));
    total += end - start;
    if (k) *least = PetscMin(*least, end - start);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least time of a product of some rows under a plan, by the device or, if that is NULL, the host */
static PetscErrorCode PowersMeasure(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan plan,
                                    PetscLogDouble *least, PetscBool *nomem)
{
  const SpmvKernels *kernels;
  SpmvIsa            isa;
  PowersTimed        t = {.m = csr->m, .n = csr->n};
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  if (device) PetscCall(SpmvOnDeviceCreate(device, format, csr, &plan, NULL, &t.on, nomem));
  else {
    PetscCall(SpmvKernelsGet(format, plan.isa, &kernels, &isa));
    PetscCall(SpmvBuild(&format->host->side, csr, NULL, &plan, &t.storage));
    t.apply = kernels->apply;
  }
  if (*nomem) PetscFunctionReturn(PETSC_SUCCESS);
  ierr = PetscMalloc2(t.n, &t.x, t.m, &t.y);
  for (PetscInt k = 0; k < t.n && !ierr; k++) t.x[k] = 1;
  if (!ierr) ierr = PowersTime(&t, least, nomem);
  PetscCall(PetscFree2(t.x, t.y));
  PetscCall(SpmvOnDeviceDestroy(&t.on));
  if (t.storage) PetscCall(format->host->side.destroy(&t.storage));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDevicePowers - measures the powers of the parts of a shared product, if a plan leaves them open

  Input Parameters:
+ device - the device
. format - the format
. csr    - the matrix
- host   - the plan that was asked for rows that the host has

  Input/Output Parameter:
. plan - of the device side: its list of powers is replaced: those of the device's parts, which are equal, then those of threads of the
         host. It is left as it is, and all parts count as equal, if the matrix has no entries or the device is out of memory

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if there are more parts than a list has values.
*/
PetscErrorCode SpmvDevicePowers(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                const SpmvPlan *host)
{
  const SpmvSharing *sharing        = format->device->sharing;
  SpmvCSR            rows           = *csr;
  SpmvPlan           whole          = *plan, threads;
  PetscLogDouble     device_seconds = 0, host_seconds = 0;
  PetscInt           parts, hosts;
  PetscBool          nomem;

  PetscFunctionBegin;
  if (!sharing || !plan->value[sharing->parts] || plan->value[sharing->powers] || !csr->i[csr->m])
    PetscFunctionReturn(PETSC_SUCCESS);
  parts   = plan->value[sharing->parts];
  hosts   = PetscMax(1, host->threads - 1);
  threads = *host;
  PetscCheck(parts + hosts <= SPMV_LIST_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " parts and %" PetscInt_FMT " threads of the host are more than %d; set -mat_spmv_threads to fewer",
             parts, hosts, SPMV_LIST_MAX);
  while (rows.m > 1 && csr->i[rows.m / 2] >= POWERS_ENTRIES) rows.m /= 2;
  whole.value[sharing->parts] = 0;
  PetscCall(PowersMeasure(device, format, &rows, whole, &device_seconds, &nomem));
  if (nomem) PetscFunctionReturn(PETSC_SUCCESS); /* whoever sends the storage will say so */
  threads.threads = hosts;
  PetscCall(PowersMeasure(NULL, format, &rows, threads, &host_seconds, &nomem));
  plan->value[sharing->powers] = parts + hosts;
  for (PetscInt k = 0; k < parts + hosts; k++) {
    const double power = POWERS_POWER * (double)hosts * (double)host_seconds / (double)(device_seconds * parts);

    plan->list[k] =
      k < parts ? (PetscInt)PetscMax(1, PetscMin(power, format->device->side.params[sharing->powers].high)) : POWERS_POWER;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
