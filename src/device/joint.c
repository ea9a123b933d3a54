/*
  joint.c - joint products: the host has some of the rows, and works on them while the kernels of the device run

  Each side has a storage of its rows: the device of these rows alone, the host of a matrix whose other rows are empty, so that it
  writes y itself. The host begins when the device has all it needs: had memory run out, y would have to be as it was. Then what
  the device has made is put in its places.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 6.1.
*/
#include "ondevice.h"

void SpmvRowsPartDestroy(SpmvRowsPart *part)
{
  (void)PetscFree(part->i);
  (void)PetscFree(part->j);
  (void)PetscFree(part->a);
}

/* A matrix of m rows: row from[r] for row r, no entries where from[r] < 0. After an error *part is what was made so far */
PetscErrorCode SpmvRowsPartCreate(const SpmvCSR *csr, PetscInt m, const PetscInt from[], SpmvRowsPart *part)
{
  PetscInt *i;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m + 1, &part->i));
  i = part->i;
  for (PetscInt r = 0; r < m; r++) i[r + 1] = i[r] + (from[r] < 0 ? 0 : csr->i[from[r] + 1] - csr->i[from[r]]);
  PetscCall(PetscMalloc1(i[m], &part->j));
  PetscCall(PetscMalloc1(i[m], &part->a));
  for (PetscInt r = 0; r < m; r++) {
    if (from[r] < 0) continue;
    PetscCall(PetscArraycpy(part->j + i[r], csr->j + csr->i[from[r]], i[r + 1] - i[r]));
    PetscCall(PetscArraycpy(part->a + i[r], csr->a + csr->i[from[r]], i[r + 1] - i[r]));
  }
  part->csr = (SpmvCSR){.m = m, .n = csr->n, .rbs = csr->rbs, .cbs = csr->cbs, .i = i, .j = part->j, .a = part->a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the host's storage of its rows, or gives it new values if it is there */
PetscErrorCode SpmvJointSetValues(SpmvJoint *joint, const SpmvCSR *csr)
{
  const SpmvSide          *side = &joint->format->host->side;
  SPMV_TEMPORARY PetscInt *from = NULL;
  SPMV_DESTROY_BY(SpmvRowsPartDestroy)
  SpmvRowsPart part = {.i = NULL};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &from));
  for (PetscInt r = 0; r < csr->m; r++) from[r] = r;
  for (PetscInt k = 0; k < joint->n; k++) from[joint->rows[k]] = -1;
  PetscCall(SpmvRowsPartCreate(csr, csr->m, from, &part));
  if (joint->storage) PetscCall(side->setvalues(&part.csr, joint->storage));
  else PetscCall(SpmvBuild(side, &part.csr, NULL, &joint->plan, &joint->storage));
  joint->nz  = part.i[csr->m];
  joint->all = csr->i[csr->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvJointCreate - the host's part of a joint product

  Input Parameters:
+ format - a format that has joint products
. csr    - the matrix
. plan   - of the device side, resolved; some of its parts are the host's
- host   - as asked for; its threads share the host's rows, but for the one that drives the device

  Output Parameter:
. joint - to be destroyed with SpmvJointDestroy(); after an error what was made so far
*/
PetscErrorCode SpmvJointCreate(const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan, const SpmvPlan *host,
                               SpmvJoint **result)
{
  const SpmvKernels *kernels;
  SpmvIsa            isa;
  SpmvJoint         *joint;

  PetscFunctionBegin;
  PetscCall(PetscNew(result));
  joint               = *result;
  *joint              = (SpmvJoint){.format = format, .plan = *host, .m = csr->m, .threads = host->threads};
  joint->plan.threads = PetscMax(1, host->threads - 1);
  PetscCall(SpmvKernelsGet(format, host->isa, &kernels, &isa));
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

/* The rest of a product whose kernels run; results: their vector, on the device */
PetscErrorCode SpmvJointFinish(SpmvJoint *joint, SpmvDevice *device, void *results, const PetscScalar x[], PetscScalar y[],
                               PetscBool beta)
{
  JointMerge merge = {.joint = joint, .y = y, .beta = beta};

  PetscFunctionBegin;
  SpmvApply(joint->apply, joint->storage, joint->nz, x, y, beta);
  PetscCall(SpmvDeviceRead(device, results, joint->results, (size_t)joint->n * sizeof(PetscScalar)));
  SpmvRun(joint->threads, JointMergeTask, &merge);
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
  if (joint->storage) PetscCall(joint->format->host->side.destroy(&joint->storage));
  PetscCall(PetscFree(joint->rows));
  PetscCall(PetscFree(joint->results));
  PetscCall(PetscFree(*result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
