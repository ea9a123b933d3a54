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

/* The least time of a product, which is run once before, in seconds; full: the device has not the memory */
static PetscErrorCode PowersTime(PowersTimed *t, PetscLogDouble *least, PetscBool *full)
{
  PetscLogDouble start, end, total = 0;

  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  for (PetscInt k = 0; k <= POWERS_PRODUCTS || total < POWERS_SECONDS; k++) {
    PetscCall(PetscTime(&start));
    if (t->on) PetscCall(SpmvOnDeviceApply(t->on, t->n, t->x, t->m, t->y, PETSC_FALSE, full));
    else t->apply(t->storage, t->x, t->y, PETSC_FALSE);
    if (*full) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscTime(&end));
    total += end - start;
    if (k) *least = PetscMin(*least, end - start);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage of some rows under a plan, and the least time of a product */
static PetscErrorCode PowersBuild(const SpmvFormat *format, PetscInt isa, const SpmvCSR *csr, SpmvPlan *plan, PowersTimed *t, PetscLogDouble *least, PetscBool *full)
{
  SpmvDevice *device;

  PetscFunctionBegin;
  PetscCall(format->build(csr, plan, &t->storage));
  PetscCall(PetscMalloc2(t->n, &t->x, t->m, &t->y));
  for (PetscInt k = 0; k < t->n; k++) t->x[k] = 1;
  if (plan->backend == SPMV_BACKEND_DEVICE) {
    PetscCall(SpmvDeviceGet(&device));
    PetscCall(SpmvOnDeviceCreate(device, format, isa, t->storage, plan, &t->on, full));
  }
  if (!*full) PetscCall(PowersTime(t, least, full));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least time of a product of some rows under a plan, by its backend */
static PetscErrorCode PowersMeasure(const SpmvFormat *format, PetscInt isa, const SpmvCSR *csr, SpmvPlan plan, PetscLogDouble *least, PetscBool *full)
{
  const SpmvKernels *kernels;
  SpmvIsa            runs;
  PowersTimed        t = {.m = csr->m, .n = csr->n};
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  *full = PETSC_FALSE;
  PetscCall(SpmvKernelsGet(format, isa, &kernels, &runs));
  t.apply = kernels->apply;
  ierr    = PowersBuild(format, isa, csr, &plan, &t, least, full);
  PetscCall(SpmvOnDeviceDestroy(&t.on));
  PetscCall(PetscFree2(t.x, t.y));
  PetscCall(format->destroy(&t.storage));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDevicePowers - measures the powers of the parts of a shared product, if a plan leaves them open

  Input Parameters:
+ format - the format
. isa    - instruction set of the host's share, as for SpmvKernelsGet()
- csr    - the matrix

  Input/Output Parameter:
. plan - its list of powers is replaced: those of the device's parts, which are equal, then those of threads of the host. It is left as
         it is, and all parts count as equal, if the matrix has no entries or the device has not the memory

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if there are more parts than a list has values.
*/
PetscErrorCode SpmvDevicePowers(const SpmvFormat *format, PetscInt isa, const SpmvCSR *csr, SpmvPlan *plan)
{
  const SpmvDeviceFormat *f     = format->device;
  SpmvCSR                 rows  = *csr;
  SpmvPlan                whole = *plan, host = *plan;
  PetscLogDouble          device_seconds = 0, host_seconds = 0;
  PetscInt                parts, hosts                     = PetscMax(1, plan->threads - 1);
  PetscBool               full;

  PetscFunctionBegin;
  if (plan->backend != SPMV_BACKEND_DEVICE || !f->shares || !plan->device[f->parts] || plan->value[f->powers] || !csr->i[csr->m]) PetscFunctionReturn(PETSC_SUCCESS);
  parts = plan->device[f->parts];
  PetscCheck(parts + hosts <= SPMV_LIST_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " parts and %" PetscInt_FMT " threads of the host are more than %d; set -mat_spmv_threads to fewer", parts, hosts, SPMV_LIST_MAX);
  while (rows.m > 1 && csr->i[rows.m / 2] >= POWERS_ENTRIES) rows.m /= 2;
  whole.device[f->parts] = 0;
  PetscCall(PowersMeasure(format, isa, &rows, whole, &device_seconds, &full));
  if (full) PetscFunctionReturn(PETSC_SUCCESS); /* whoever sends the storage will say so */
  host.backend = SPMV_BACKEND_HOST;
  host.threads = hosts;
  PetscCall(PowersMeasure(format, isa, &rows, host, &host_seconds, &full));
  plan->value[f->powers] = parts + hosts;
  for (PetscInt k = 0; k < parts + hosts; k++) {
    const double power = POWERS_POWER * (double)hosts * (double)host_seconds / (double)(device_seconds * parts);

    plan->list[k] = k < parts ? (PetscInt)PetscMax(1, PetscMin(power, format->params[f->powers].high)) : POWERS_POWER;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
