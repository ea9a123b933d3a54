/*
  csradaptive_load.c - what a product by a device takes: row blocks of about as many entries, a work group for each
*/
#include "csradaptive_device.h"
#include "../../../../spmvload.h"

#define CSRADAPTIVE_LOAD_STEP      18.0 /* instructions of an entry: to local memory, and from there into a sum; ... */
#define CSRADAPTIVE_LOAD_GROUP     60.0 /* ... and of each work item for a row block: sums of rows, barriers. Guesses */
#define CSRADAPTIVE_LOAD_START     4    /* loads that wait for each other before the first entry (H200) */
#define CSRADAPTIVE_LOAD_LOCAL     25.0 /* sums in local memory, one after the other, that take as long as such a load (H200) */
#define CSRADAPTIVE_LOAD_REGISTERS 48   /* of a work item, as NVRTC makes them for sm_90 */
#define CSRADAPTIVE_LOAD_BUILD     10.0 /* cycles of the host for a row */

/* How long the longest row of a row block is summed, in loads; 0: by a whole work group, not by the work items that it has
   alone */
static double CsradaptiveLoadSums(const SpmvCSR *rows, PetscInt r, PetscInt end, const PetscInt p[])
{
  const PetscInt n     = end - r;
  PetscInt       width = 1, longest = 0;

  if (n < p[CSRADAPTIVE_NUM_ROWS_STREAM] || rows->i[end] - rows->i[r] > CsradaptiveMost(p)) return 0;
  while (p[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_LOGARITHMIC && 2 * width * n <= p[CSRADAPTIVE_DEVICE_WORKGROUP] &&
         width < SPMV_LOCKSTEP)
    width *= 2;
  for (; r < end; r++) longest = PetscMax(longest, rows->i[r + 1] - rows->i[r]);
  return (1 + (double)longest / width) / CSRADAPTIVE_LOAD_LOCAL;
}

PetscErrorCode CsradaptiveDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt *p = plan->value, most = CsradaptiveMost(p), group = p[CSRADAPTIVE_DEVICE_WORKGROUP], m = rows->m;
  const PetscInt  chunk                     = most * p[CSRADAPTIVE_NNZ_MULTIPLIER]; /* of a row that work groups share */
  const size_t    step                      = CsradaptiveAtOnce(p) * (size_t)group;
  double          blocks                    = 0;
  PetscBool       kernel[CSRADAPTIVE_LISTS] = {PETSC_FALSE};
  SpmvNear        near                      = {0};

  PetscFunctionBegin;
  for (PetscInt r = 0, end; r < m; r = end) {
    const PetscInt first = rows->i[r];
    double         shares, loops, sums;
    PetscInt       n;

    for (end = r + 1; end < m && rows->i[end + 1] - first <= most; end++) {}
    n      = rows->i[end] - first;
    shares = (double)PetscMax(1, SpmvGroups((size_t)n, (size_t)chunk));
    loops  = CSRADAPTIVE_LOAD_START + (double)SpmvGroups((size_t)PetscMin(n, chunk), step);
    sums   = CsradaptiveLoadSums(rows, r, end, p);
    load->waits += group * (shares * loops + sums);
    load->chain = PetscMax(load->chain, loops + sums);
    blocks += shares;
    near.group++;
    SpmvSectorsAlong(n, rows->j + first, &near, load);
    kernel[n > chunk ? CSRADAPTIVE_VECTORL : sums > 0 ? CSRADAPTIVE_STREAM : CSRADAPTIVE_VECTOR] = PETSC_TRUE;
    if (n > chunk) load->after = PetscMax(load->after, (double)SpmvGroups((size_t)shares, (size_t)group));
  }
  load->apart += CSRADAPTIVE_LOAD_STEP * rows->i[m] + CSRADAPTIVE_LOAD_GROUP * blocks * group;
  load->bytes +=
    (double)rows->i[m] * (double)(sizeof(PetscScalar) + sizeof(PetscInt)) + (double)m * sizeof(PetscInt) + 16 * blocks;
  load->items += blocks * group;
  load->build += CSRADAPTIVE_LOAD_BUILD * m;
  load->group     = group;
  load->local     = CsradaptiveSlots(p[CSRADAPTIVE_NNZ_PER_WG]) * (PetscLogDouble)sizeof(PetscScalar);
  load->registers = CSRADAPTIVE_LOAD_REGISTERS;
  load->launches =
    kernel[CSRADAPTIVE_STREAM] + kernel[CSRADAPTIVE_VECTOR] +
    (p[CSRADAPTIVE_DEVICE_PARTS] == CSRADAPTIVE_PARTS_ATOMIC ? 1 : 2) * kernel[CSRADAPTIVE_VECTORL]; /* with their sums */
  PetscFunctionReturn(PETSC_SUCCESS);
}
