/*
  joint.c - joint products: the host has some of the rows, and works on them while the kernels of the device run

  Each side has a storage of its rows: the device of these rows alone, the host of a matrix whose other rows are empty, so that it
  writes y itself. The host begins when the device has all it needs: had memory run out, y would have to be as it was. Then what
  the device has made is put in its places.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 6.1.
*/
#include "ondevice.h"

void SpmvRowsDestroy(SpmvCSR *rows)
{
  (void)PetscFree3(rows->i, rows->j, rows->a);
}

/* A matrix of m rows: row from[r] for row r, no entries where from[r] < 0 */
PetscErrorCode SpmvRowsCreate(const SpmvCSR *csr, PetscInt m, const PetscInt from[], SpmvCSR *rows)
{
  PetscInt    *i, *j, nz = 0;
  PetscScalar *a;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) nz += from[r] < 0 ? 0 : csr->i[from[r] + 1] - csr->i[from[r]];
  PetscCall(PetscMalloc3(m + 1, &i, nz, &j, nz, &a));
  *rows = (SpmvCSR){.m = m, .n = csr->n, .rbs = csr->rbs, .cbs = csr->cbs, .i = i, .j = j, .a = a};
  i[0]  = 0;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt first = from[r] < 0 ? 0 : csr->i[from[r]], n = from[r] < 0 ? 0 : csr->i[from[r] + 1] - first;

    PetscCall(PetscArraycpy(j + i[r], csr->j + first, n));
    PetscCall(PetscArraycpy(a + i[r], csr->a + first, n));
    i[r + 1] = i[r] + n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the host's storage of its rows, or gives it new values if it is there */
PetscErrorCode SpmvJointSetValues(SpmvJoint *joint, const SpmvCSR *csr)
{
  const SpmvSide          *side = &joint->format->host->side;
  SPMV_TEMPORARY PetscInt *from = NULL;

  SPMV_DESTROY_BY(SpmvRowsDestroy) SpmvCSR rows = {0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &from));
  for (PetscInt r = 0; r < csr->m; r++) from[r] = r;
  for (PetscInt k = 0; k < joint->n; k++) from[joint->rows[k]] = -1;
  PetscCall(SpmvRowsCreate(csr, csr->m, from, &rows));
  if (joint->storage) PetscCall(side->setvalues(&rows, joint->storage));
  else PetscCall(SpmvBuild(side, &rows, NULL, &joint->plan, &joint->storage));
  joint->nz  = rows.i[csr->m];
  joint->all = csr->i[csr->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The host's part of a joint product. plan: of the device side, resolved; some of its parts are the host's. host: as asked for;
  its threads share the host's rows, but for the one that drives the device. To be destroyed after an error, too
*/
PetscErrorCode SpmvJointCreate(const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan, const SpmvPlan *host,
                               SpmvJoint **result)
{
  const SpmvKernels *kernels;
  SpmvJoint         *joint;

  PetscFunctionBegin;
  PetscCall(PetscNew(result));
  joint               = *result;
  *joint              = (SpmvJoint){.format = format, .plan = *host, .m = csr->m, .threads = host->threads};
  joint->plan.threads = PetscMax(1, host->threads - 1);
  PetscCall(SpmvKernelsGet(format, host->isa, &kernels));
  joint->apply = kernels->apply;
  PetscCall(format->device->joint->split(csr, plan, &joint->plan, &joint->n, &joint->rows));
  PetscCall(PetscMalloc1(joint->n, &joint->results));
  PetscCall(SpmvJointSetValues(joint, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the threads that put results in their places have in common */
typedef struct {
  const SpmvJoint *joint;
  PetscScalar     *y;
  PetscBool        beta;
} JointMerge;

static void JointMergeTask(void *context, PetscInt task)
{
  const JointMerge *merge = context;
  const SpmvJoint  *joint = merge->joint;
  const size_t      end   = SpmvShare((size_t)joint->n, task + 1, joint->threads);

  for (size_t k = SpmvShare((size_t)joint->n, task, joint->threads); k < end; k++) {
    PetscScalar *y = &merge->y[joint->rows[k]];

    *y = merge->beta ? *y + joint->results[k] : joint->results[k];
  }
}

/* The rest of a product whose kernels run; results: their vector, on the device. nomem: they could not be received */
PetscErrorCode SpmvJointFinish(SpmvJoint *joint, SpmvDevice *device, void *results, const PetscScalar x[], PetscScalar y[],
                               PetscBool beta, PetscBool *nomem)
{
  JointMerge merge = {.joint = joint, .y = y, .beta = beta};

  PetscFunctionBegin;
  SpmvApply(joint->apply, joint->storage, joint->nz, x, y, beta);
  PetscCall(SpmvDeviceCopy(device, SPMV_FROM_DEVICE, joint->results, results, (size_t)joint->n * sizeof(PetscScalar), nomem));
  if (*nomem) device->half = PETSC_TRUE; /* y has the host's rows */
  else SpmvRun(joint->threads, JointMergeTask, &merge);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who has what, in powers of the plan of the device side and in nonzeros; the relative difference is between the two */
PetscErrorCode SpmvJointDescribe(const SpmvJoint *joint, const SpmvPlan *plan, char line[], size_t size)
{
  const PetscInt parts  = plan->value[joint->format->device->joint->parts],
                 nparts = plan->value[joint->format->device->joint->powers];
  const double has      = joint->all ? 100 * (1 - (double)joint->nz / (double)joint->all) : 0;
  double       sum[2]   = {0, 0}, share;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < nparts; p++) sum[p < parts] += (double)plan->list[p];
  share = 100 * sum[1] / (sum[0] + sum[1]);
  PetscCall(SpmvAppend(line, size,
                       "on the device: %" PetscInt_FMT " of %" PetscInt_FMT " parts, share %.2f %%, has %.2f %% of the nonzeros",
                       parts, nparts, share, has));
  PetscCall(SpmvAppend(line, size, ", relative difference %.2f %%, and %" PetscInt_FMT " of %" PetscInt_FMT " rows; on the host:",
                       100 * fabs(has / share - 1), joint->n, joint->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvJointDestroy(SpmvJoint **result)
{
  SpmvJoint *joint = *result;

  PetscFunctionBegin;
  if (!joint) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvStorageDestroy(&joint->format->host->side, &joint->storage));
  PetscCall(PetscFree(joint->rows));
  PetscCall(PetscFree(joint->results));
  PetscCall(PetscFree(*result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
