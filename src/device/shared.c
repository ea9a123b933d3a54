/*
  shared.c - a product of which the host makes some rows while the kernels of the device run

  The thread that calls drives the device: it has sent x and started the kernels (product.c). While the other threads of the
  plan make the host's rows it waits for what the device has made, and then all put that in its places. Alone, it makes the
  host's rows before it waits. The host begins when the device has all it needs: had memory run out, y would have to be as
  it was.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 6.1.
*/
#include "device.h"

struct _n_SpmvShared {
  SpmvShareFn   *share; /* what threads of the host do ... */
  const void    *storage;
  PetscInt       threads; /* ... those of the plan, with the one that drives the device */
  PetscInt       n;       /* rows of the device */
  const int32_t *rows;    /* [n] NULL: the first */
  PetscScalar   *results; /* [n] what the device has made of them */
};

/* SharedRun: what the threads have in common */
typedef struct {
  const SpmvShared  *shared;
  SpmvDevice        *device;
  void              *buffer;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          beta;
  PetscErrorCode     ierr; /* of the one that drives the device, which is the caller's own: PETSc's functions may be called there */
} SharedRun;

static void SharedTask(void *context, PetscInt task)
{
  SharedRun        *run = (SharedRun *)context;
  const SpmvShared *s   = run->shared;

  if (task || s->threads == 1) s->share(s->storage, run->x, run->y, run->beta, PetscMax(0, task - 1), PetscMax(1, s->threads - 1));
  if (!task) run->ierr = SpmvDeviceRead(run->device, run->buffer, s->results, (size_t)s->n * sizeof(PetscScalar));
}

static void SharedMergeTask(void *context, PetscInt task)
{
  const SharedRun  *run = (const SharedRun *)context;
  const SpmvShared *s   = run->shared;

  for (size_t k = SpmvShare((size_t)s->n, task, s->threads), end = SpmvShare((size_t)s->n, task + 1, s->threads); k < end; k++) {
    const size_t r = s->rows ? (size_t)s->rows[k] : k;

    run->y[r] = run->beta ? run->y[r] + s->results[k] : s->results[k];
  }
}

/* For the products of a storage; isa: as for SpmvKernelsGet() */
PetscErrorCode SpmvSharedCreate(const SpmvFormat *format, PetscInt isa, const void *storage, const SpmvPlan *plan, const SpmvDeviceProduct *product, SpmvShared **shared)
{
  const SpmvKernels *kernels;
  SpmvIsa            runs;

  PetscFunctionBegin;
  PetscCall(SpmvKernelsGet(format, isa, &kernels, &runs));
  PetscCall(PetscNew(shared));
  **shared = (SpmvShared){.share = kernels->share, .storage = storage, .threads = plan->threads, .n = product->nresults, .rows = product->rows};
  PetscCall(PetscMalloc1(product->nresults, &(*shared)->results));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rest of a product whose kernels run; results: their vector, on the device */
PetscErrorCode SpmvSharedFinish(SpmvShared *shared, SpmvDevice *device, void *results, const PetscScalar x[], PetscScalar y[], PetscBool beta)
{
  SharedRun run = {.shared = shared, .device = device, .buffer = results, .x = x, .y = y, .beta = beta};

  PetscFunctionBegin;
  SpmvRun(shared->threads, SharedTask, &run);
  PetscCall(run.ierr);
  SpmvRun(shared->threads, SharedMergeTask, &run);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSharedDestroy(SpmvShared **shared)
{
  PetscFunctionBegin;
  if (!*shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*shared)->results));
  PetscCall(PetscFree(*shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}
