/*
  threads.c - the threads of a product, and how rows are shared among them

  The number of tasks is part of a plan, and a task's work depends on its number only: the same plan gives the same bits
  however many threads OpenMP grants. Tasks do not wait for each other; what needs all of a first part is a second SpmvRun().
*/
#include "spmvimpl.h"

/* Runs task(context, 0), ..., task(context, ntasks - 1), each by a thread of its own where there are as many */
void SpmvRun(PetscInt ntasks, SpmvTask *task, void *context)
{
  if (ntasks <= 1) {
    task(context, 0);
    return;
  }
#if defined(_OPENMP)
  #pragma omp parallel for schedule(static, 1) num_threads((int)ntasks)
#endif
  for (PetscInt t = 0; t < ntasks; t++) task(context, t);
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
    const PetscInt wanted = (PetscInt)((PetscInt64)nz * p / parts);
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
