/*
  spmvload.h - what the device sides of formats count with for the tuner (SpmvDeviceLoad)

  Work items side by side go from entry to entry in step, the longest run of them to its end. Their loads of x in a step are
  served together: as many sectors as there are different ones, of which most are neighbours'. What one work item of a work group
  has asked for is in the first cache when others ask for it.
*/
#pragma once
#include "spmvdevice.h"

/* The sector of x that a column is in */
static inline PetscInt SpmvSectorOf(PetscInt column)
{
  return (PetscInt)((size_t)column * sizeof(PetscScalar) / SPMV_SECTOR);
}

#define SPMV_NEAR 4096 /* sectors that a first cache has room for, about, a power of two */

/* SpmvNear: sectors of x that the work items of a work group have asked for, all zeros at first */
typedef struct {
  PetscInt group;                              /* its number, counted from 1 */
  PetscInt sector[SPMV_NEAR], last[SPMV_NEAR]; /* in each place, and which group asked for it last */
} SpmvNear;

static inline void SpmvNearAsk(SpmvNear *near, PetscInt sector, SpmvDeviceLoad *load)
{
  const PetscInt place = sector & (SPMV_NEAR - 1);

  load->sectors++;
  load->near += near->sector[place] != sector || near->last[place] != near->group;
  near->sector[place] = sector;
  near->last[place]   = near->group;
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
static inline void SpmvRunsCount(SpmvRuns *runs, const PetscInt j[], PetscLogDouble instructions, SpmvNear *near,
                                 SpmvDeviceLoad *load)
{
  PetscInt steps = 0;

  for (PetscInt l = 0; l < runs->n; l++) steps = PetscMax(steps, runs->length[l]);
  for (PetscInt k = 0; k < steps; k++) {
    PetscInt last = -1;

    for (PetscInt l = 0; l < runs->n; l++) {
      PetscInt sector;

      if (k >= runs->length[l]) continue;
      sector = SpmvSectorOf(j[runs->first[l] + k]);
      if (sector != last) SpmvNearAsk(near, sector, load);
      last = sector;
    }
  }
  load->apart += instructions * SPMV_LOCKSTEP * steps;
  runs->n = 0;
}

/* The same of entries that lie one after the other, a work item for each */
static inline void SpmvSectorsAlong(PetscInt n, const PetscInt j[], SpmvNear *near, SpmvDeviceLoad *load)
{
  for (PetscInt k = 0; k < n; k++) {
    if (k % SPMV_LOCKSTEP == 0 || SpmvSectorOf(j[k]) != SpmvSectorOf(j[k - 1])) SpmvNearAsk(near, SpmvSectorOf(j[k]), load);
  }
}
