/*
  csradaptive_load.c - what a product by a device takes: row blocks of about as many entries, a work group for each
*/
#include "csradaptive_device.h"
#include "../../../../spmvload.h"

#define CSRADAPTIVE_LOAD_STEP  18.0 /* instructions of an entry: to local memory, and from there into a sum; ... */
#define CSRADAPTIVE_LOAD_GROUP 60.0 /* ... and of each work item for a row block: sums of rows, barriers. Guesses */
#define CSRADAPTIVE_LOAD_CHAIN 1    /* loads before the first entry, of all work items */
#define CSRADAPTIVE_LOAD_BUILD 10.0 /* cycles of the host for a row */

PetscErrorCode CsradaptiveDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt *p = plan->value, most = CsradaptiveMost(p), group = p[CSRADAPTIVE_DEVICE_WORKGROUP], m = rows->m,
                 flight = (PetscInt)CsradaptiveAtOnce(p);
  double    blocks      = 0;
  PetscBool several     = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt r = 0, end; r < m; r = end) {
    const PetscInt first = rows->i[r];

    for (end = r + 1; end < m && rows->i[end + 1] - first <= most; end++) {}
    if (rows->i[end] - first > most * p[CSRADAPTIVE_NNZ_MULTIPLIER]) several = PETSC_TRUE;
    blocks += PetscMax(1, (rows->i[end] - first) / (most * p[CSRADAPTIVE_NNZ_MULTIPLIER]));
  }
  load->sectors += SpmvSectorsAlong(rows->i[m], rows->j);
  load->apart += CSRADAPTIVE_LOAD_STEP * rows->i[m] + CSRADAPTIVE_LOAD_GROUP * blocks * group;
  load->bytes +=
    (double)rows->i[m] * (double)(sizeof(PetscScalar) + sizeof(PetscInt)) + (double)m * sizeof(PetscInt) + 16 * blocks;
  load->items += blocks * group;
  load->build += CSRADAPTIVE_LOAD_BUILD * m;
  load->group    = group;
  load->local    = CsradaptiveSlots(p[CSRADAPTIVE_NNZ_PER_WG]) * (PetscLogDouble)sizeof(PetscScalar);
  load->flight   = flight * (2 * sizeof(PetscScalar) + sizeof(PetscInt));
  load->chain    = CSRADAPTIVE_LOAD_CHAIN + most / group / flight;
  load->launches = several ? 2 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
