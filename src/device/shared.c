/*
  shared.c - a product of which the host makes some rows while the kernels of the device run

  Each side has a storage of its rows: the device of these rows alone, the host of a matrix whose other rows are empty, so that it
  writes y itself. The host begins when the device has all it needs: had memory run out, y would have to be as it was. Then what
  the device has made is added in its places.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 6.1.
*/
#include "ondevice.h"

/* m rows of a matrix: row from[r] for row r, no entries where from[r] < 0 */
static PetscErrorCode RowsPartCreate(const SpmvCSR *csr, PetscInt m, const PetscInt from[], SpmvRowsPart *part)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m + 1, &part->i));
  part->i[0] = 0;
  for (PetscInt r = 0; r < m; r++) part->i[r + 1] = part->i[r] + (from[r] < 0 ? 0 : csr->i[from[r] + 1] - csr->i[from[r]]);
  PetscCall(PetscMalloc2(part->i[m], &part->j, part->i[m], &part->a));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt n = part->i[r + 1] - part->i[r];

    if (!n) continue;
    PetscCall(PetscArraycpy(part->j + part->i[r], csr->j + csr->i[from[r]], n));
    PetscCall(PetscArraycpy(part->a + part->i[r], csr->a + csr->i[from[r]], n));
  }
  part->csr = (SpmvCSR){.m = m, .n = csr->n, .rbs = csr->rbs, .cbs = csr->cbs, .i = part->i, .j = part->j, .a = part->a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows that the device has: all, if shared is NULL */
PetscErrorCode SpmvSharedGetPart(const SpmvShared *shared, const SpmvCSR *csr, SpmvRowsPart *part)
{
  PetscFunctionBegin;
  *part = (SpmvRowsPart){.csr = *csr};
  if (shared) PetscCall(RowsPartCreate(csr, shared->n, shared->rows, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSharedRestorePart(SpmvRowsPart *part)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(part->i));
  PetscCall(PetscFree2(part->j, part->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's storage of its rows, or its new values */
static PetscErrorCode SharedFill(SpmvShared *s, const SpmvCSR *csr)
{
  const SpmvSide *side = &s->format->host->side;
  SpmvRowsPart    part = {.i = NULL};
  PetscInt       *from;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &from));
  for (PetscInt r = 0; r < csr->m; r++) from[r] = r;
  for (PetscInt k = 0; k < s->n; k++) from[s->rows[k]] = -1;
  ierr = RowsPartCreate(csr, csr->m, from, &part);
  if (!ierr) ierr = s->storage ? side->setvalues(&part.csr, s->storage) : SpmvBuild(side, &part.csr, NULL, &s->plan, &s->storage);
  s->nz  = part.i ? part.i[csr->m] : 0;
  s->all = csr->i[csr->m];
  PetscCall(SpmvSharedRestorePart(&part));
  PetscCall(PetscFree(from));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvSharedCreate - the host's part of a product

  Input Parameters:
+ format - the format
. csr    - the matrix
. plan   - of the device side, resolved
- host   - as asked for; its threads share the host's rows, but for the one that drives the device

  Output Parameter:
. shared - NULL if the device has all rows
*/
PetscErrorCode SpmvSharedCreate(const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan, const SpmvPlan *host,
                                SpmvShared **shared)
{
  const SpmvSharing *sharing = format->device->sharing;
  const SpmvKernels *kernels;
  SpmvIsa            isa;
  SpmvShared        *s;

  PetscFunctionBegin;
  *shared = NULL;
  if (!sharing || !plan->value[sharing->parts]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&s));
  *shared         = s;
  *s              = (SpmvShared){.format = format, .plan = *host, .m = csr->m, .threads = host->threads};
  s->plan.threads = PetscMax(1, host->threads - 1);
  PetscCall(SpmvKernelsGet(format, host->isa, &kernels, &isa));
  s->apply = kernels->apply;
  PetscCall(sharing->split(csr, plan, &s->plan, &s->n, &s->rows));
  PetscCall(PetscMalloc1(s->n, &s->results));
  PetscCall(SharedFill(s, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values; does nothing if the device has all rows */
PetscErrorCode SpmvSharedSetValues(SpmvShared *shared, const SpmvCSR *csr)
{
  PetscFunctionBegin;
  if (shared) PetscCall(SharedFill(shared, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the threads that put results in their places have in common */
typedef struct {
  const SpmvShared *shared;
  PetscScalar      *y;
  PetscBool         beta;
} SharedMerge;

static void SharedMergeTask(void *context, PetscInt task)
{
  const SharedMerge *merge = (const SharedMerge *)context;
  const SpmvShared  *s     = merge->shared;

  for (size_t k = SpmvShare((size_t)s->n, task, s->threads), end = SpmvShare((size_t)s->n, task + 1, s->threads); k < end; k++) {
    PetscScalar *y = &merge->y[s->rows[k]];

    *y = merge->beta ? *y + s->results[k] : s->results[k];
  }
}

/* The rest of a product whose kernels run; results: their vector, on the device */
PetscErrorCode SpmvSharedFinish(SpmvShared *s, SpmvDevice *device, void *results, const PetscScalar x[], PetscScalar y[],
                                PetscBool beta)
{
  SharedMerge merge = {.shared = s, .y = y, .beta = beta};

  PetscFunctionBegin;
  SpmvApply(s->apply, s->storage, s->nz, x, y, beta);
  PetscCall(SpmvDeviceRead(device, results, s->results, (size_t)s->n * sizeof(PetscScalar)));
  SpmvRun(s->threads, SharedMergeTask, &merge);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who has what; plan: of the device side, resolved. The relative difference is how far the device's nonzeros are from its share of the powers */
PetscErrorCode SpmvSharedDescribe(const SpmvShared *s, const SpmvPlan *plan, char line[], size_t size)
{
  const SpmvSharing *sharing = s->format->device->sharing;
  const PetscInt     parts = plan->value[sharing->parts], nparts = plan->value[sharing->powers];
  double             sum[2] = {0, 0}, share, has = s->all ? 100 * (1 - (double)s->nz / (double)s->all) : 0;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < nparts; p++) sum[p < parts] += (double)plan->list[p];
  share = 100 * sum[1] / (sum[0] + sum[1]);
  PetscCall(SpmvAppend(line, size,
                       "on the device: %" PetscInt_FMT " of %" PetscInt_FMT " parts, share %.2f %%, has %.2f %% of the nonzeros",
                       parts, nparts, share, has));
  PetscCall(SpmvAppend(line, size, ", relative difference %.2f %%, and %" PetscInt_FMT " of %" PetscInt_FMT " rows; on the host:",
                       100 * fabs(has / share - 1), s->n, s->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSharedDestroy(SpmvShared **shared)
{
  SpmvShared *s = *shared;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->storage) PetscCall(s->format->host->side.destroy(&s->storage));
  PetscCall(PetscFree(s->rows));
  PetscCall(PetscFree(s->results));
  PetscCall(PetscFree(*shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}
