/*
  cmrs_load.c - what a product by a device takes: a strip for SPMV_LOCKSTEP work items, entry after entry
*/
#include "cmrs_device.h"
#include "../../../../spmvload.h"

/* Instructions of a work item, as NVRTC makes them for sm_90 */
#define CMRS_LOAD_PLACES    35.0 /* of an entry by places in local memory, and ... */
#define CMRS_LOAD_PLACE     4.0  /* ... to clear and to add up a place of a row */
#define CMRS_LOAD_RUNS      75.0 /* of an entry by runs */
#define CMRS_LOAD_START     2.0  /* loads that wait for each other before the first entry, by places, and ... */
#define CMRS_LOAD_TURNS     4.0  /* ... by runs, whose work items then wait for each other (H200) */
#define CMRS_LOAD_FLIGHT    4    /* entries that a work item asks for before it waits */
#define CMRS_LOAD_REGISTERS 47   /* as well */
#define CMRS_LOAD_COMBINE   2.0  /* loads that wait, for as many parts as a work group asks for at once (H200) */
#define CMRS_LOAD_BUILD     60.0 /* cycles of the host for an entry */

PetscErrorCode CmrsDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt           height = plan->value[CMRS_DEVICE_HEIGHT], order = plan->value[CMRS_DEVICE_ORDER], m = rows->m;
  const PetscInt           part    = plan->value[CMRS_DEVICE_PART];
  const PetscBool          places  = (PetscBool)(order == CMRS_COLUMNS);
  PetscInt                 parts   = 0; /* of the strip that has most */
  PetscBool                whole   = PETSC_FALSE;
  SpmvNear                 near    = {0};
  SPMV_TEMPORARY PetscInt *columns = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->i[m], &columns));
  PetscCall(PetscArraycpy(columns, rows->j, rows->i[m]));
  for (PetscInt r = 0; r < m; r += height) {
    const PetscInt first = rows->i[r], n = rows->i[PetscMin(m, r + height)] - first, steps = (n + CMRS_GROUP - 1) / CMRS_GROUP;
    const PetscInt warps = PetscMax(1, (n + part - 1) / part);
    const double   start = places ? CMRS_LOAD_START : CMRS_LOAD_TURNS;

    if (places || order == CMRS_GROUPED) PetscCall(PetscSortInt(n, columns + first));
    near.group += r / height % (plan->value[CMRS_DEVICE_WORKGROUP] / CMRS_GROUP) == 0;
    SpmvSectorsAlong(n, columns + first, &near, load);
    load->apart += ((places ? CMRS_LOAD_PLACES : CMRS_LOAD_RUNS) * steps + (places ? CMRS_LOAD_PLACE * height : 0)) * CMRS_GROUP;
    load->items += CMRS_GROUP * warps;
    load->waits += CMRS_GROUP * (warps * start + SpmvGroups((size_t)steps, CMRS_LOAD_FLIGHT));
    load->chain = PetscMax(load->chain, start + SpmvGroups(PetscMin((size_t)n, (size_t)part), CMRS_GROUP * CMRS_LOAD_FLIGHT));
    if (warps == 1) whole = PETSC_TRUE;
    else parts = PetscMax(parts, warps);
  }
  load->bytes += (double)rows->i[m] * (double)(sizeof(PetscScalar) + CmrsWordSize(rows)) + (double)sizeof(PetscInt) * m / height;
  load->group     = plan->value[CMRS_DEVICE_WORKGROUP];
  load->local     = (PetscLogDouble)CmrsDeviceBuffer(plan->value, PETSC_TRUE);
  load->registers = CMRS_LOAD_REGISTERS;
  load->launches  = whole + 2 * (parts > 0);
  if (parts) load->after = CMRS_LOAD_COMBINE * SpmvGroups((size_t)(parts * height), CMRS_COMBINE * 2 * CMRS_LOAD_FLIGHT);
  load->build += CMRS_LOAD_BUILD * rows->i[m];
  PetscFunctionReturn(PETSC_SUCCESS);
}
