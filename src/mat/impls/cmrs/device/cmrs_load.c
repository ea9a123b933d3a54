/*
  cmrs_load.c - what a product by a device takes: a strip for SPMV_LOCKSTEP work items, entry after entry
*/
#include "cmrs_device.h"
#include "../../../../spmvload.h"

#define CMRS_LOAD_STEP   16.0 /* instructions of an entry, its place in local memory among them, and ... */
#define CMRS_LOAD_PLACE  14.0 /* ... to clear and to add up a place of a row, for each work item. Guesses */
#define CMRS_LOAD_FLIGHT 2    /* entries that a work item asks for before it waits */
#define CMRS_LOAD_BUILD  60.0 /* cycles of the host for an entry */

PetscErrorCode CmrsDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt           height = plan->value[CMRS_DEVICE_HEIGHT], order = plan->value[CMRS_DEVICE_ORDER], m = rows->m;
  SPMV_TEMPORARY PetscInt *columns = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->i[m], &columns));
  PetscCall(PetscArraycpy(columns, rows->j, rows->i[m]));
  for (PetscInt r = 0; r < m; r += height) {
    const PetscInt first = rows->i[r], n = rows->i[PetscMin(m, r + height)] - first, steps = (n + CMRS_GROUP - 1) / CMRS_GROUP;

    if (order == CMRS_COLUMNS) PetscCall(PetscSortInt(n, columns + first));
    load->sectors += SpmvSectorsAlong(n, columns + first);
    load->apart += (CMRS_LOAD_STEP * steps + CMRS_LOAD_PLACE * height) * CMRS_GROUP;
    load->items += CMRS_GROUP;
    load->chain = PetscMax(load->chain, steps / CMRS_LOAD_FLIGHT);
  }
  load->bytes += (double)rows->i[m] * (double)(sizeof(PetscScalar) + CmrsWordSize(rows)) + (double)sizeof(PetscInt) * m / height;
  load->flight   = CMRS_LOAD_FLIGHT * (2 * sizeof(PetscScalar) + 4);
  load->launches = 1;
  load->build += CMRS_LOAD_BUILD * rows->i[m];
  PetscFunctionReturn(PETSC_SUCCESS);
}
