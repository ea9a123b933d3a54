/*
  tpspmv_load.c - what a product by a device takes: pairs of a tile and a row side by side, by falling length
*/
#include "tpspmv_device.h"
#include "../../../../spmvload.h"

#define TPSPMV_LOAD_STEP      9.0   /* instructions of an entry, and ... */
#define TPSPMV_LOAD_PAIR      25.0  /* ... of a pair. Guesses for GPUs; their ratios are those of PoCL */
#define TPSPMV_LOAD_START     3     /* loads that wait for each other before the first entry (H200) */
#define TPSPMV_LOAD_FLIGHT    4     /* entries that a work item asks for before it waits */
#define TPSPMV_LOAD_REGISTERS 32    /* of a work item, as NVRTC makes them for sm_90 */
#define TPSPMV_LOAD_BUILD     60.0  /* cycles of the host for an entry, ... */
#define TPSPMV_LOAD_ORDER     120.0 /* ... or, where the device converts, for a pair */

/*
  The pairs of a slice, whose tiles follow each other in a row; a row with too many entries makes several. Returns how many; those
  that are not all that their row has are added to *parts, and *most is the most of a row
*/
static PetscInt TpspmvLoadPairs(const SpmvCSR *rows, PetscInt r, PetscInt end, PetscInt tile, PetscInt longest, PetscInt key[],
                                PetscInt first[], PetscLogDouble *parts, PetscInt *most)
{
  PetscInt n = 0;

  for (; r < end; r++) {
    const PetscInt before = n;

    for (PetscInt k = rows->i[r], l; k < rows->i[r + 1]; k = l) {
      for (l = k + 1; l < rows->i[r + 1] && l < k + longest && rows->j[l] / tile == rows->j[k] / tile;) l++;
      key[n]     = (rows->j[k] / tile) * (TPSPMV_LONG_MAX + 1) + TPSPMV_LONG_MAX - (l - k); /* by tile, then by falling length */
      first[n++] = k;
    }
    if (n > before + 1) *parts += n - before;
    *most = PetscMax(*most, n - before);
  }
  return n;
}

PetscErrorCode TpspmvDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt          *p = plan->value, m = rows->m, slice = p[TPSPMV_SLICE];
  const PetscInt           tile = PetscMin(p[TPSPMV_TILE], PETSC_MAX_INT / (TPSPMV_LONG_MAX + 1));
  const PetscBool          one  = (PetscBool)(rows->n <= p[TPSPMV_TILE]);
  SPMV_TEMPORARY PetscInt *key = NULL, *first = NULL;
  PetscLogDouble           pairs = 0, parts = 0;
  PetscInt                 most = 0, filled = 0;
  SpmvNear                 near = {0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->i[m], &key));
  PetscCall(PetscMalloc1(rows->i[m], &first));
  for (PetscInt r = 0; r < m; r += slice) {
    const PetscInt n = TpspmvLoadPairs(rows, r, PetscMin(m, r + slice), tile, p[TPSPMV_LONG], key, first, &parts, &most);

    PetscCall(PetscSortIntWithArray(n, key, first));
    for (PetscInt k = 0; k < n; k += SPMV_LOCKSTEP) {
      SpmvRuns runs = {0};
      PetscInt low = PETSC_MAX_INT, high = 0, entries = 0, loops;

      for (PetscInt l = k; l < PetscMin(n, k + SPMV_LOCKSTEP); l++) {
        const PetscInt length = TPSPMV_LONG_MAX - key[l] % (TPSPMV_LONG_MAX + 1);

        SpmvRunsAdd(&runs, first[l], length);
        low  = PetscMin(low, rows->j[first[l]]);
        high = PetscMax(high, rows->j[first[l] + length - 1]);
        entries += length;
      }
      near.group += k % PetscMax(SPMV_LOCKSTEP, p[TPSPMV_WORKGROUP]) == 0;
      loops       = (PetscInt)SpmvGroups((size_t)runs.length[0], TPSPMV_LOAD_FLIGHT); /* the first one of a tile is the longest */
      load->chain = PetscMax(load->chain, TPSPMV_LOAD_START + loops);
      load->waits += SPMV_LOCKSTEP * (TPSPMV_LOAD_START + loops);
      load->bytes += entries * (double)(sizeof(PetscScalar) + TpspmvIndexSize((PetscBool)(high - low <= UINT16_MAX)));
      SpmvRunsCount(&runs, rows->j, TPSPMV_LOAD_STEP, &near, load);
      load->cycles += TPSPMV_LOAD_PAIR * SPMV_LOCKSTEP;
    }
    pairs += n;
  }
  load->bytes += 5 * pairs;
  load->moved += one ? parts * (double)sizeof(PetscScalar) : pairs * (double)(sizeof(PetscScalar) + 4);
  load->cycles += TPSPMV_LOAD_STEP * (one ? parts : pairs);
  load->items += pairs;
  load->group     = p[TPSPMV_WORKGROUP];
  load->local     = p[TPSPMV_STAGE] == TPSPMV_YES ? PetscMin(rows->n, tile) * (PetscLogDouble)sizeof(PetscScalar) : 0;
  load->registers = TPSPMV_LOAD_REGISTERS;
  if (most > TPSPMV_MANY) load->after = (double)SpmvGroups((size_t)most, (size_t)(p[TPSPMV_WORKGROUP] * TPSPMV_LOAD_FLIGHT));
  for (PetscInt r = 0; r < m; r++) filled += rows->i[r + 1] > rows->i[r];
  if (one && filled < m) load->cleared += (double)m / p[TPSPMV_WORKGROUP];
  load->launches = 1 + (!one || parts > 0) + (most > TPSPMV_MANY) + (p[TPSPMV_REMOVE] == TPSPMV_YES) + (one && filled < m);
  load->reach    = one ? 0 : (PetscLogDouble)p[TPSPMV_TILE] * sizeof(PetscScalar);
  load->build += p[TPSPMV_CONVERT] == SPMV_CONVERT_DEVICE ? TPSPMV_LOAD_ORDER * pairs : TPSPMV_LOAD_BUILD * rows->i[m];
  PetscFunctionReturn(PETSC_SUCCESS);
}
