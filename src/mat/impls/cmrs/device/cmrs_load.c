/*
  cmrs_load.c - what a product by a device takes: a strip for SPMV_LOCKSTEP work items, entry after entry
*/
#include "cmrs_device.h"
#include "../../../../spmvload.h"

/* Instructions of a work item, as NVRTC makes them for sm_90 */
#define CMRS_LOAD_PLACES 35.0 /* of an entry by places in local memory, and ... */
#define CMRS_LOAD_PLACE  4.0  /* ... to clear and to add up a place of a row */
#define CMRS_LOAD_RUNS   75.0 /* of an entry by runs */
#define CMRS_LOAD_FLIGHT 4    /* entries that a work item asks for before it waits */
#define CMRS_LOAD_BUILD  60.0 /* cycles of the host for an entry */

PetscErrorCode CmrsDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt           height = plan->value[CMRS_DEVICE_HEIGHT], order = plan->value[CMRS_DEVICE_ORDER], m = rows->m;
  const PetscBool          places  = (PetscBool)(order == CMRS_COLUMNS);
  PetscBool                several = PETSC_FALSE;
  SPMV_TEMPORARY PetscInt *columns = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->i[m], &columns));
  PetscCall(PetscArraycpy(columns, rows->j, rows->i[m]));
  for (PetscInt r = 0; r < m; r += height) {
    const PetscInt first = rows->i[r], n = rows->i[PetscMin(m, r + height)] - first, steps = (n + CMRS_GROUP - 1) / CMRS_GROUP;

    if (places || order == CMRS_GROUPED) PetscCall(PetscSortInt(n, columns + first));
    load->sectors += SpmvSectorsAlong(n, columns + first);
    load->apart += ((places ? CMRS_LOAD_PLACES : CMRS_LOAD_RUNS) * steps + (places ? CMRS_LOAD_PLACE * height : 0)) * CMRS_GROUP;
    load->items += CMRS_GROUP * PetscMax(1, n / plan->value[CMRS_DEVICE_PART]);
    load->chain = PetscMax(load->chain, PetscMin(n, plan->value[CMRS_DEVICE_PART]) / CMRS_GROUP / CMRS_LOAD_FLIGHT);
    if (n > plan->value[CMRS_DEVICE_PART]) several = PETSC_TRUE;
  }
  load->bytes += (double)rows->i[m] * (double)(sizeof(PetscScalar) + CmrsWordSize(rows)) + (double)sizeof(PetscInt) * m / height;
  load->group    = plan->value[CMRS_DEVICE_WORKGROUP];
  load->local    = (PetscLogDouble)CmrsDeviceBuffer(plan->value, PETSC_TRUE);
  load->flight   = CMRS_LOAD_FLIGHT * (2 * sizeof(PetscScalar) + 4);
  load->launches = several ? 2 : 1;
  load->build += CMRS_LOAD_BUILD * rows->i[m];
  PetscFunctionReturn(PETSC_SUCCESS);
}
