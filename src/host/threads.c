/*
  threads.c - the threads of a product, and how rows are shared among them

  The number of tasks is part of a plan, and a task's work depends on its number only: the same plan gives the same bits
  however many threads OpenMP grants. Tasks do not wait for each other; what needs all of a first part is a second SpmvRun().
*/
#include "machine.h"

static PetscBool Alone;

/*
  SpmvRunWork - how many products of two numbers the tasks of the next SpmvRun()s make together

  Notes:
  To begin and to end a parallel region takes some microseconds, and milliseconds where other programs want the processors:
  for less work than SpmvMachine.parallel the calling thread runs all tasks itself. The bits are the same.

  Whoever calls it calls it again with SPMV_WORK_UNKNOWN when the tasks have ended.
*/
void SpmvRunWork(PetscInt64 products)
{
  Alone = (PetscBool)((PetscLogDouble)products < SpmvMachineGet()->parallel);
}

/* y <- beta y + A x by a kernel of a format; nz: entries of A */
void SpmvApply(SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[], PetscBool beta)
{
  SpmvRunWork(nz);
  apply(storage, x, y, beta);
  SpmvRunWork(SPMV_WORK_UNKNOWN);
}

/* y <- beta y + A^T x */
void SpmvApplyTranspose(SpmvTransposeFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[],
                        PetscBool beta, PetscScalar work[])
{
  SpmvRunWork(nz);
  apply(storage, x, y, beta, work);
  SpmvRunWork(SPMV_WORK_UNKNOWN);
}

/* Runs task(context, 0), ..., task(context, ntasks - 1), each by a thread of its own where there are as many */
void SpmvRun(PetscInt ntasks, SpmvTask *task, void *context)
{
  if (ntasks <= 1) {
    task(context, 0);
    return;
  }
#if defined(_OPENMP)
  #pragma omp parallel for schedule(static, 1) num_threads((int)ntasks) if (!Alone)
#endif
  for (PetscInt t = 0; t < ntasks; t++) task(context, t);
}

/* What the tasks of SpmvAddVectors() share */
typedef struct {
  PetscInt           ntasks;
  size_t             n;
  const PetscScalar *vectors;
  PetscScalar       *y;
} SpmvSum;

static void SpmvAddVectorsTask(void *context, PetscInt task)
{
  const SpmvSum *s     = (const SpmvSum *)context;
  const size_t   first = SpmvShare(s->n, task, s->ntasks), end = SpmvShare(s->n, task + 1, s->ntasks);

  for (PetscInt t = 1; t < s->ntasks; t++) {
    const PetscScalar *vector = s->vectors + (size_t)(t - 1) * s->n;

    for (size_t k = first; k < end; k++) s->y[k] += vector[k];
  }
}

/*
  SpmvAddVectors - adds up what the tasks of a transposed product have, in the order of the tasks

  Input Parameters:
+ ntasks  - tasks of the product, which share this, too
. n       - length of a vector
- vectors - [ntasks - 1][n]  what tasks 1, 2, ... have; see SpmvTaskVector()

  Input/Output Parameter:
. y - [n]  what task 0 has; on return the sum
*/
void SpmvAddVectors(PetscInt ntasks, size_t n, const PetscScalar vectors[], PetscScalar y[])
{
  SpmvSum s = {ntasks, n, vectors, y};

  if (ntasks > 1) SpmvRun(ntasks, SpmvAddVectorsTask, &s);
}

/*
  SpmvSplitRows - cuts rows into parts of about as many entries

  Input Parameters:
+ csr   - the rows
. unit  - cuts are at multiples of this many rows, >= 1
- parts - how many parts, >= 1

  Output Parameter:
. first - [parts + 1]  first row of each part, increasing; first[0] = 0, first[parts] = csr->m; parts may be empty
*/
void SpmvSplitRows(const SpmvCSR *csr, PetscInt unit, PetscInt parts, PetscInt first[])
{
  const PetscInt m = csr->m, nz = csr->i[m];

  first[0] = 0;
  for (PetscInt p = 1; p < parts; p++) {
    const PetscInt wanted = (PetscInt)SpmvShare((size_t)nz, p, parts);
    PetscInt       low = first[p - 1], high = m;

    while (low < high) { /* the first row with as many entries before it */
      const PetscInt middle = low + (high - low) / 2;

      if (csr->i[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    if (low > first[p - 1] && wanted - csr->i[low - 1] < csr->i[low] - wanted) low--;
    low      = (PetscInt)(((PetscInt64)low + unit / 2) / unit * unit);
    first[p] = PetscMin(m, PetscMax(first[p - 1], low));
  }
  first[parts] = m;
}
