/*
  pmf_window.c - how many rows are ordered by length together

  Of 32 matrices of the shared set on one core of Zen 4, windows of 8, 64, 256, 1024, 4096, 16384 rows and all rows give 1.26,
  1.57, 1.73, 1.76, 1.83, 1.81 and 1.86 times AIJ's speed (geometric means): runs of one length must be long. Windows of 4096 keep
  their part of y in the first cache. But rows that are near in length may be far from each other in the matrix, and then each has
  other lines of x: where these do not fit the first cache, as of GAMG's coarse levels, with a hundred entries a row, windows of 64
  or 256 rows are 1.5 times as fast as of 4096 (Zen 5).
*/
#include "pmf_host.h"
#include "../../../../host/machine.h"
#include "../../../../host/near.h"

#define WINDOW_PLACES 2      /* where rows are looked at, ... */
#define WINDOW_PART   64     /* one of so many entries, ... */
#define WINDOW_LEAST  2048   /* but so many at least, ... */
#define WINDOW_MOST   131072 /* ... and at most */
#define WINDOW_ENTRY  10.    /* bytes of a place of a slice */
#define WINDOW_GAIN   1.1    /* what a smaller window must gain */

/*
  Nanoseconds of rows with so many runs, the work of a slice left out, which no window changes. What the first cache lacks of x is
  in the second one, wherever x is as a whole: a window takes it again before it is gone
*/
static PetscLogDouble WindowTime(const SpmvCSR *csr, const SpmvNear *near, PetscInt runs)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble bytes   = WINDOW_ENTRY * csr->i[csr->m];
  const PetscLogDouble gather  = machine->gathered + machine->vector / PMF_LANES;
  const PetscLogDouble place   = PetscMax(WINDOW_ENTRY * machine->byte[SpmvMachineLevel(machine, 0, bytes)], gather);
  const PetscLogDouble all     = (PetscLogDouble)csr->i[csr->m] / (PetscLogDouble)PetscMax(1, near->entries);
  const PetscLogDouble slices  = (PetscLogDouble)csr->m / PMF_LANES;
  const PetscBool      known   = SpmvMachineKnows(machine, PMF_BRANCHES * (slices + all * (PetscLogDouble)runs));
  const PetscLogDouble missed  = known ? 0 : PMF_MISSES_RUN * (PetscLogDouble)runs;

  return (PetscLogDouble)near->places * place + (PetscLogDouble)near->missed * machine->line[1] +
         (PetscLogDouble)runs * PMF_CYCLES_RUN * machine->cycle + missed * machine->miss;
}

/*
  PmfWindowChoose - the rows that are to be ordered together, from a few hundred rows in two places

  Where x fits the first cache there is nothing to choose
*/
PetscErrorCode PmfWindowChoose(const SpmvCSR *csr, PetscInt *window)
{
  static const PetscInt   windows[] = {PMF_WINDOW_ROWS, 256, 64};
  const PetscInt          nz = csr->i[csr->m], wanted = PetscMax(WINDOW_LEAST, PetscMin(WINDOW_MOST, nz / WINDOW_PART));
  SPMV_TEMPORARY int32_t *order = NULL;
  PetscInt                most  = PMF_WINDOW_ROWS; /* rows that were looked at in one place */
  PetscLogDouble          own = 0, least = 0;

  PetscFunctionBegin;
  *window = PMF_WINDOW_ROWS;
  if (!SpmvMachineLevel(SpmvMachineGet(), 0, (PetscLogDouble)csr->n * sizeof(PetscScalar))) PetscFunctionReturn(PETSC_SUCCESS);
  if (nz < 2 * WINDOW_PLACES * WINDOW_LEAST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(PMF_WINDOW_ROWS, &order));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(windows); k++) {
    SpmvNear       near;
    PetscLogDouble time;
    PetscInt       runs = 0;

    if (k && windows[k] >= most) continue; /* the order is the same */
    most = 0;
    SpmvNearBegin(&near);
    for (PetscInt p = 1; p <= WINDOW_PLACES; p++) {
      const PetscInt first = (PetscInt)SpmvShare((size_t)csr->m, p, WINDOW_PLACES + 1);
      PetscInt       rows = 0, length = -1;

      while (rows < PMF_WINDOW_ROWS && first + rows < csr->m && csr->i[first + rows] - csr->i[first] < wanted) rows++;
      most = PetscMax(most, rows);
      SpmvNearOrder(csr, first, first + rows, windows[k], order);
      for (PetscInt r = 0; r < rows; r += PMF_LANES) { /* the first of eight rows is their longest */
        const PetscInt longest = csr->i[order[r] + 1] - csr->i[order[r]];

        runs += longest != length;
        length = longest;
        SpmvNearRows(&near, csr, order + r, PetscMin(PMF_LANES, rows - r));
      }
    }
    time = WindowTime(csr, &near, runs);
    if (!k) own = time;
    else if (time >= least) break; /* nor do smaller ones gain */
    else if (WINDOW_GAIN * time < own) *window = windows[k];
    least = time;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
