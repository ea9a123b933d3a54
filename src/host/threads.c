/*
  threads.c - the threads of a product, and how rows are shared among them

  The number of tasks is part of a plan, and a task's work depends on its number only: the same plan gives the same bits
  however many threads OpenMP grants. Tasks do not wait for each other; what needs the results of all is a second SpmvRun().
*/
#include "machine.h"

/* This process is a copy of another one, without its threads: OpenMP would wait for them */
static PetscBool Forked;

/* The calling thread runs all tasks itself. Of each thread: two of a program may multiply by matrices of their own at once */
static _Thread_local PetscBool Alone;

/*
  SpmvRunBegin - tells how many products of two numbers the SpmvRun()s before SpmvRunEnd() make together

  To begin and to end a parallel region takes some microseconds, and milliseconds where other programs want the processors: for
  less work than SpmvMachine.parallel the calling thread runs all tasks itself. The bits are the same.
*/
void SpmvRunBegin(PetscInt64 products)
{
  Alone = (PetscBool)((PetscLogDouble)products < SpmvMachineGet()->parallel);
}

void SpmvRunEnd(void)
{
  Alone = PETSC_FALSE;
}

/* y <- beta y + A x by a kernel of a format; nz: entries of A */
void SpmvApply(SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[], PetscBool beta)
{
  SpmvRunBegin(nz);
  apply(storage, x, y, beta);
  SpmvRunEnd();
}

/* y <- beta y + A^T x */
void SpmvApplyTranspose(SpmvTransposeFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[],
                        PetscBool beta, PetscScalar work[])
{
  SpmvRunBegin(nz);
  apply(storage, x, y, beta, work);
  SpmvRunEnd();
}

/* In the child of a fork() */
void SpmvThreadsForked(void)
{
  Forked = PETSC_TRUE;
}

/* Runs task(context, 0), ..., task(context, ntasks - 1), each by a thread of its own if there are as many */
void SpmvRun(PetscInt ntasks, SpmvTask *task, void *context)
{
  if (ntasks <= 1 || Forked) {
    for (PetscInt t = 0; t < PetscMax(ntasks, 1); t++) task(context, t);
    return;
  }
#if defined(_OPENMP)
  #pragma omp parallel for schedule(static, 1) num_threads((int)ntasks) if (!Alone)
#endif
  for (PetscInt t = 0; t < ntasks; t++) task(context, t);
}

/* The arguments of SpmvAddVectors() */
typedef struct {
  PetscInt           ntasks;
  size_t             n;
  const SpmvSpan    *spans;
  const PetscScalar *vectors;
  PetscScalar       *y;
} SpmvSum;

static void SpmvAddVectorsTask(void *context, PetscInt task)
{
  const SpmvSum *s     = (const SpmvSum *)context;
  const size_t   first = SpmvShare(s->n, task, s->ntasks), end = SpmvShare(s->n, task + 1, s->ntasks);

  for (PetscInt t = 1; t < s->ntasks; t++) {
    const PetscScalar *vector = s->vectors + (size_t)(t - 1) * s->n;
    const SpmvSpan     span   = s->spans ? s->spans[t] : (SpmvSpan){0, s->n};

    for (size_t k = PetscMax(first, span.first); k < PetscMin(end, span.end); k++) s->y[k] += vector[k];
  }
}

/*
  SpmvAddVectors - adds up the vectors that the tasks of a transposed product made, in the order of the tasks

  Input Parameters:
+ ntasks  - tasks of the product; each adds a part of the vectors
. n       - length of a vector
. spans   - [ntasks]  what each task wrote of its vector; NULL if all wrote all
- vectors - [ntasks - 1][n]  those of tasks 1, 2, ...; see SpmvTaskVector()

  Input/Output Parameter:
. y - [n]  that of task 0; on return the sum
*/
void SpmvAddVectors(PetscInt ntasks, size_t n, const SpmvSpan spans[], const PetscScalar vectors[], PetscScalar y[])
{
  SpmvSum s = {ntasks, n, spans, vectors, y};

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

    while (low < high) { /* to the first row with as many entries before it */
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
