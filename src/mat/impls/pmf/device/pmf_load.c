/*
  pmf_load.c - what a product by a device takes: rows side by side, as they are ordered
*/
#include "pmf_device.h"
#include "../../../../spmvload.h"

#define PMF_LOAD_STEP      9.0   /* instructions of an entry, and ... */
#define PMF_LOAD_ROW       30.0  /* ... of a row. Guesses for GPUs; their ratios are those of PoCL */
#define PMF_LOAD_START     3     /* loads that wait for each other before the first entry (H200) */
#define PMF_LOAD_FLIGHT    4     /* entries that a work item asks for before it waits */
#define PMF_LOAD_REGISTERS 32    /* of a work item, as NVRTC makes them for sm_90 */
#define PMF_LOAD_BUILD     40.0  /* cycles of the host for an entry, ... */
#define PMF_LOAD_ORDER     120.0 /* ... or, where the device converts, for a row */

enum { PMF_LOAD_SLICES = 1, PMF_LOAD_CHUNKS = 2, PMF_LOAD_LONGS = 4 }; /* kernels */

/* A row in chunks, each of a work group, which a later kernel adds up if there are several. Returns these kernels */
static int PmfLoadLong(PetscInt length, const PetscInt j[], PetscInt group, SpmvNear *near, SpmvDeviceLoad *load)
{
  const size_t   chunks = SpmvGroups((size_t)length, PMF_ELL_CHUNK);
  const PetscInt most   = PetscMin(length, PMF_ELL_CHUNK);
  const double   loops  = PMF_LOAD_START + (double)SpmvGroups((size_t)most, (size_t)(group * PMF_LOAD_FLIGHT));

  SpmvSectorsAlong(length, j, near, load);
  load->cycles += PMF_LOAD_STEP * length;
  load->items += (double)chunks * group;
  load->waits += (double)chunks * group * loops;
  load->chain = PetscMax(load->chain, loops);
  if (chunks == 1) return PMF_LOAD_CHUNKS;
  load->after = PetscMax(load->after, (double)SpmvGroups(chunks, PMF_CHAINS * PMF_LOAD_FLIGHT));
  return PMF_LOAD_CHUNKS | PMF_LOAD_LONGS;
}

/* Rows of SPMV_LOCKSTEP work items, from place `at` of the order on. Returns their kernels */
static int PmfLoadRows(const PmfOrder *order, PetscInt at, const PetscInt p[], SpmvNear *near, SpmvDeviceLoad *load)
{
  const SpmvCSR *csr     = &order->rest;
  const PetscInt longest = p[PMF_DEVICE_LONG], lanes = p[PMF_DEVICE_LANES], group = p[PMF_DEVICE_WORKGROUP];
  SpmvRuns       runs = {0};
  PetscInt       low = PETSC_MAX_INT, high = 0, entries = 0, loops = 0;
  int            kernels = 0;

  for (PetscInt k = at; k < PetscMin(at + SPMV_LOCKSTEP, csr->m); k++) {
    const PetscInt first = csr->i[order->row[k]], length = csr->i[order->row[k] + 1] - first;

    if (!length) continue;
    low  = PetscMin(low, csr->j[first]);
    high = PetscMax(high, csr->j[first + length - 1]);
    entries += length;
    if (length <= longest) {
      SpmvRunsAdd(&runs, first, length);
      loops = PetscMax(loops, (PetscInt)SpmvGroups((size_t)length, (size_t)(lanes * PMF_LOAD_FLIGHT)));
    } else kernels |= PmfLoadLong(length, csr->j + first, group, near, load);
  }
  if (runs.n) {
    kernels |= PMF_LOAD_SLICES;
    load->chain = PetscMax(load->chain, PMF_LOAD_START + loops);
    load->items += runs.n * lanes;
    load->waits += SPMV_LOCKSTEP * lanes * (PMF_LOAD_START + loops);
  }
  SpmvRunsCount(&runs, csr->j, PMF_LOAD_STEP, near, load);
  load->cycles += PMF_LOAD_ROW * SPMV_LOCKSTEP;
  load->bytes += entries * ((double)sizeof(PetscScalar) + (high - low <= UINT16_MAX ? 2 : 4));
  return kernels;
}

PetscErrorCode PmfDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  SPMV_DESTROY_BY(PmfOrderDestroy)
  PmfOrder       order   = PmfOrderOf(rows, plan->value, 1, NULL);
  const PetscInt lanes   = plan->value[PMF_DEVICE_LANES];
  SpmvNear       near    = {0};
  int            kernels = 0;

  PetscFunctionBegin;
  PetscCall(PmfOrderCreate(rows, &order));
  for (PetscInt at = 0; at < rows->m; at += SPMV_LOCKSTEP) {
    near.group += at % PetscMax(SPMV_LOCKSTEP, plan->value[PMF_DEVICE_WORKGROUP] / lanes) == 0;
    kernels |= PmfLoadRows(&order, at, plan->value, &near, load);
  }
  load->bytes += 6.5 * rows->m; /* numbers and lengths of rows, and what a slice has of its own */
  if (order.block) {            /* the diagonals of blocks: their entries are not in the rest */
    const double blocks = rows->i[rows->m] - order.rest.i[rows->m];

    load->bytes += blocks * sizeof(PetscScalar);
    load->cycles += PMF_LOAD_STEP * blocks;
    load->launches++;
  }
  load->group     = plan->value[PMF_DEVICE_WORKGROUP];
  load->local     = load->group * sizeof(PetscScalar);
  load->registers = PMF_LOAD_REGISTERS;
  for (; kernels; kernels >>= 1) load->launches += kernels & 1;
  load->build +=
    plan->value[PMF_DEVICE_CONVERT] == SPMV_CONVERT_DEVICE ? PMF_LOAD_ORDER * rows->m : PMF_LOAD_BUILD * rows->i[rows->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}
