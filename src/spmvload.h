/*
  spmvload.h - what the device sides of formats count with for the tuner (SpmvDeviceLoad)

  Work items side by side go from entry to entry in step, the longest run of them to its end. Their loads of x in a step are served
  together: as many sectors as there are different ones, of which most are neighbours'.
*/
#pragma once
#include "spmvdevice.h"

/* The sector of x that a column is in */
static inline PetscInt SpmvSectorOf(PetscInt column)
{
  return (PetscInt)((size_t)column * sizeof(PetscScalar) / SPMV_SECTOR);
}

/* SpmvRuns: what SPMV_LOCKSTEP work items have, a run of consecutive entries each */
typedef struct {
  PetscInt n; /* work items */
  PetscInt first[SPMV_LOCKSTEP], length[SPMV_LOCKSTEP];
} SpmvRuns;

static inline void SpmvRunsAdd(SpmvRuns *runs, PetscInt first, PetscInt length)
{
  runs->first[runs->n]    = first;
  runs->length[runs->n++] = length;
}

/*
  Counts their steps, of so many instructions for each work item, and the sectors that they ask for; then there are none. Lengths
  differ, so that a processor works off one by one (PoCL: three to four times as long as if they were vectors)
*/
static inline void SpmvRunsCount(SpmvRuns *runs, const PetscInt j[], PetscLogDouble instructions, SpmvDeviceLoad *load)
{
  PetscInt steps = 0, sectors = 0;

  for (PetscInt l = 0; l < runs->n; l++) steps = PetscMax(steps, runs->length[l]);
  for (PetscInt k = 0; k < steps; k++) {
    PetscInt last = -1;

    for (PetscInt l = 0; l < runs->n; l++) {
      PetscInt sector;

      if (k >= runs->length[l]) continue;
      sector = SpmvSectorOf(j[runs->first[l] + k]);
      sectors += sector != last;
      last = sector;
    }
  }
  load->sectors += sectors;
  load->apart += instructions * SPMV_LOCKSTEP * steps;
  runs->n = 0;
}

/* The same of entries that lie one after the other, a work item for each */
static inline PetscLogDouble SpmvSectorsAlong(PetscInt n, const PetscInt j[])
{
  PetscInt sectors = 0;

  for (PetscInt k = 0; k < n; k++) sectors += k % SPMV_LOCKSTEP == 0 || SpmvSectorOf(j[k]) != SpmvSectorOf(j[k - 1]);
  return sectors;
}
