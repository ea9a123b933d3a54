/*
  pmf_load.c - what a product by a device takes: rows side by side, as they are ordered
*/
#include "pmf_device.h"
#include "../../../../spmvload.h"

#define PMF_LOAD_STEP   9.0   /* instructions of an entry, and ... */
#define PMF_LOAD_ROW    30.0  /* ... of a row. Guesses for GPUs; their ratios are those of PoCL */
#define PMF_LOAD_FLIGHT 4     /* entries that a work item asks for before it waits */
#define PMF_LOAD_BUILD  40.0  /* cycles of the host for an entry, ... */
#define PMF_LOAD_ORDER  120.0 /* ... or, where the device converts, for a row */

/* Rows of SPMV_LOCKSTEP work items, from place `at` of the order on */
static void PmfLoadRows(const PmfOrder *order, PetscInt at, PetscInt longest, PetscInt lanes, SpmvDeviceLoad *load)
{
  const SpmvCSR *csr  = &order->rest;
  SpmvRuns       runs = {0};
  PetscInt       low = PETSC_MAX_INT, high = 0, entries = 0;

  for (PetscInt k = at; k < PetscMin(at + SPMV_LOCKSTEP, csr->m); k++) {
    const PetscInt first = csr->i[order->row[k]], length = csr->i[order->row[k] + 1] - first;

    if (!length) continue;
    low  = PetscMin(low, csr->j[first]);
    high = PetscMax(high, csr->j[first + length - 1]);
    entries += length;
    if (length <= longest) SpmvRunsAdd(&runs, first, length);
    else { /* its chunks */ load->sectors += SpmvSectorsAlong(length, csr->j + first);
      load->cycles += PMF_LOAD_STEP * length;
    }
    load->chain = PetscMax(load->chain, PetscMin(length, longest) / (lanes * PMF_LOAD_FLIGHT));
  }
  SpmvRunsCount(&runs, csr->j, PMF_LOAD_STEP, load);
  load->cycles += PMF_LOAD_ROW * SPMV_LOCKSTEP;
  load->bytes += entries * ((double)sizeof(PetscScalar) + (high - low <= UINT16_MAX ? 2 : 4));
}

PetscErrorCode PmfDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  SPMV_DESTROY_BY(PmfOrderDestroy)
  PmfOrder       order = PmfOrderOf(rows, plan->value, 1, NULL);
  const PetscInt lanes = plan->value[PMF_DEVICE_LANES];

  PetscFunctionBegin;
  PetscCall(PmfOrderCreate(rows, &order));
  for (PetscInt at = 0; at < rows->m; at += SPMV_LOCKSTEP) PmfLoadRows(&order, at, plan->value[PMF_DEVICE_LONG], lanes, load);
  load->bytes += 6.5 * rows->m; /* numbers and lengths of rows, and what a slice has of its own */
  if (order.block) {            /* the diagonals of blocks: their entries are not in the rest */
    const double blocks = rows->i[rows->m] - order.rest.i[rows->m];

    load->bytes += blocks * sizeof(PetscScalar);
    load->cycles += PMF_LOAD_STEP * blocks;
    load->launches++;
  }
  load->items += (double)rows->m * (double)lanes;
  load->group  = plan->value[PMF_DEVICE_WORKGROUP];
  load->local  = load->group * sizeof(PetscScalar);
  load->flight = PMF_LOAD_FLIGHT * (2 * sizeof(PetscScalar) + 2);
  load->launches++;
  load->build +=
    plan->value[PMF_DEVICE_CONVERT] == SPMV_CONVERT_DEVICE ? PMF_LOAD_ORDER * rows->m : PMF_LOAD_BUILD * rows->i[rows->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}
