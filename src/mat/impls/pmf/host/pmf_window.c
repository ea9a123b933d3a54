/*
  pmf_window.c - how many rows are ordered by length together

  Of 32 matrices of the shared set on one core of Zen 4, windows of 8, 64, 256, 1024, 4096, 16384 rows and all rows give 1.26,
  1.57, 1.73, 1.76, 1.83, 1.81 and 1.86 times AIJ's speed (geometric means): runs of one length must be long. Windows of 4096 keep
  their part of y in the first cache. But rows that are near in length may be far from each other in the matrix, and then each has
  other lines of x. In a cache that costs less than short runs do. From memory, where values and columns are prefetched, it is
  the runs that cost nothing: GAMG's coarse levels, of 30 to 250 entries a row, are 1.4 to 2 times as fast in windows of 64 rows,
  finite elements 0.97 to 1.06 times as fast (20 matrices, Zen 4).
*/
#include "pmf_host.h"
#include "../../../../host/machine.h"
#include "../../../../host/near.h"

#define WINDOW_PLACES 2      /* where rows are looked at, ... */
#define WINDOW_PART   64     /* one of so many entries, ... */
#define WINDOW_MOST   131072 /* ... but so many at most */
#define WINDOW_ENTRY  10.    /* bytes of a place of a slice */
#define WINDOW_GAIN   1.05   /* what a smaller window must gain */
#define WINDOW_HELD   2      /* times what the last cache holds: of less, some is there */

/* Nanoseconds of an entry. What the first cache lacks of x is in the second one, wherever x is as a whole */
static PetscLogDouble WindowTime(const SpmvNear *near)
{
  const SpmvMachine *machine = SpmvMachineGet();

  return ((PetscLogDouble)near->places * WINDOW_ENTRY * machine->byte[SPMV_LEVELS - 1] * SpmvMachineCrowd(1) +
          (PetscLogDouble)near->missed * machine->line[1]) /
         (PetscLogDouble)PetscMax(1, near->entries);
}

/*
  PmfWindowChoose - the rows that are to be ordered together, from rows in two places

  Where a cache has the matrix, or the first one x, there is nothing to choose
*/
PetscErrorCode PmfWindowChoose(const SpmvCSR *csr, PetscInt *window)
{
  static const PetscInt   windows[] = {PMF_WINDOW_ROWS, 256, 64};
  const SpmvMachine      *machine   = SpmvMachineGet();
  const PetscInt          nz = csr->i[csr->m], rows = PetscMin(PMF_WINDOW_ROWS, csr->m);
  SPMV_TEMPORARY int32_t *order = NULL;
  PetscLogDouble          own = 0, least = 0;

  PetscFunctionBegin;
  *window = PMF_WINDOW_ROWS;
  if (nz < machine->uncached && WINDOW_ENTRY * nz <= WINDOW_HELD * SpmvMachineHeld()) PetscFunctionReturn(PETSC_SUCCESS);
  if ((PetscLogDouble)csr->n * sizeof(PetscScalar) <= machine->cache[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(rows, &order));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(windows); k++) {
    SpmvNear       near;
    PetscLogDouble time;

    if (k && windows[k] >= rows) continue; /* the order is the same */
    SpmvNearBegin(&near);
    for (PetscInt p = 1; p <= WINDOW_PLACES; p++) {
      const PetscInt first = PetscMin(csr->m - rows, (PetscInt)SpmvShare((size_t)csr->m, p, WINDOW_PLACES + 1));

      SpmvNearOrder(csr, first, first + rows, windows[k], order);
      SpmvNearFrom(&near, csr, order, rows, rows / 2 / PMF_LANES * PMF_LANES, PetscMin(WINDOW_MOST, nz / WINDOW_PART));
    }
    time = WindowTime(&near);
    if (!k) own = time;
    else if (time >= least) break; /* nor do smaller ones gain */
    else if (WINDOW_GAIN * time < own) *window = windows[k];
    least = time;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
