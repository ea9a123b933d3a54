/*
  pmf_partition.c - the paper's algorithms 1 to 3: rows in order, and cut into parts by the computing powers

  Source: as pmf.c; section 4.2. As printed,
  - line 7 of algorithm 1 takes NNZ where the number of rows is meant;
  - algorithm 2 goes on until a part has its share; the example of section 4.2.2 stops before a part exceeds it, as here;
  - algorithm 3 takes j for the length of the rows of B_j where W(B_j) is meant, and never assigns empty rows, which
    belong to no part here; adding B_j, or ceil((NNZ_C - NNZ_T) / W(B_j)) rows of it, is adding row after row while the
    part has less than its share;
  - algorithms 2 and 3 may run off the end in the last part, which takes all rows that remain here.
*/
#include "pmf.h"

/* rows [first, end) into row[], by increasing length in each window; stable, in time linear in rows, windows and the longest row */
static PetscErrorCode PmfSort(const SpmvCSR *csr, PetscInt limit, PetscInt first, PetscInt end, PetscInt window, int32_t row[])
{
  const PetscInt m = end - first, windows = (m + window - 1) / window;
  PetscInt       longest = 0, *next;
  int32_t       *sorted  = row;

  PetscFunctionBegin;
  for (PetscInt r = first; r < end; r++) longest = PetscMax(longest, PmfLength(csr, limit, r));
  PetscCall(PetscCalloc1(PetscMax(longest, windows) + 2, &next));
  if (windows > 1) PetscCall(PetscMalloc1(m, &sorted));
  for (PetscInt r = first; r < end; r++) next[PmfLength(csr, limit, r) + 1]++; /* B, the PMF times the number of rows */
  for (PetscInt k = 0; k <= longest; k++) next[k + 1] += next[k];
  for (PetscInt r = first; r < end; r++) sorted[next[PmfLength(csr, limit, r)]++] = (int32_t)r;
  if (windows > 1) {
    for (PetscInt w = 0; w < windows; w++) next[w] = w * window;
    for (PetscInt k = 0; k < m; k++) row[next[(sorted[k] - first) / window]++] = sorted[k];
    PetscCall(PetscFree(sorted));
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Algorithm 1: as many rows as the power, in the order of the matrix */
static void PmfCutRows(PetscInt m, PmfOrder *order)
{
  PetscInt64 total = 0, powers = 0;

  for (PetscInt p = 0; p < order->nparts; p++) total += order->power[p];
  for (PetscInt p = 0; p + 1 < order->nparts; p++) {
    powers += order->power[p];
    order->cut[p + 1] = (PetscInt)((double)m * (double)powers / (double)total); /* both exact below 2^53 */
  }
}

/* Algorithms 2 and 3: as many entries as the power; a part stops before it exceeds its share, or once it has it. row NULL: the order of the matrix */
static void PmfCutEntries(const SpmvCSR *csr, PetscInt m, const int32_t row[], PetscBool exceed, PmfOrder *order)
{
  double   total = 0, entries = 0;
  PetscInt k = 0;

  for (PetscInt p = 0; p < order->nparts; p++) total += (double)order->power[p];
  for (PetscInt r = 0; r < m; r++) entries += (double)PmfLength(csr, order->limit, r);
  for (PetscInt p = 0; p + 1 < order->nparts; p++) {
    const double share = (double)order->power[p] * entries;
    double       taken = 0;

    for (; k < m; k++) {
      const double length = (double)PmfLength(csr, order->limit, row ? row[k] : k) * total;

      if (exceed ? taken >= share : taken + length > share) break;
      taken += length;
    }
    order->cut[p + 1] = k;
  }
}

/*
  PmfOrderCreate - puts the rows in order and cuts them into parts

  Input Parameters:
+ csr       - the rows
. rest      - csr, or with PMF_BY_DIAGONAL what is not in the blocks: by its lengths the rows are ordered
. partition - by which algorithm; PMF_BY_DIAGONAL cuts as PMF_BY_NNZ, at multiples of a block
. window    - rows that are ordered by length together, or PMF_WINDOW_GLOBAL; by rows and by nonzeros they are of one part
. block     - rows of a block on the diagonal
. nparts    - how many parts, >= 1
. power     - [nparts]  their computing powers, >= 1
- limit     - entries above which a row counts as empty

  Output Parameter:
. order - to be destroyed with PmfOrderDestroy()
*/
PetscErrorCode PmfOrderCreate(const SpmvCSR *csr, const SpmvCSR *rest, PmfPartition partition, PetscInt window, PetscInt block, PetscInt nparts, const PetscInt power[], PetscInt limit, PmfOrder *order)
{
  PetscFunctionBegin;
  *order = (PmfOrder){.nparts = nparts, .limit = limit};
  PetscCall(PetscMalloc3(nparts, &order->power, nparts + 1, &order->cut, csr->m, &order->row));
  PetscCall(PetscArraycpy(order->power, power, nparts));
  order->cut[0]      = 0;
  order->cut[nparts] = csr->m;
  if (window == PMF_WINDOW_GLOBAL) window = PetscMax(1, csr->m);
  if (partition == PMF_BY_PMF) {
    PetscCall(PmfSort(rest, limit, 0, csr->m, window, order->row));
    PmfCutEntries(csr, csr->m, order->row, PETSC_TRUE, order);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (partition == PMF_BY_ROWS) PmfCutRows(csr->m, order);
  else PmfCutEntries(csr, csr->m, NULL, PETSC_FALSE, order);
  for (PetscInt p = 0; p < nparts; p++) {
    if (partition == PMF_BY_DIAGONAL && p) order->cut[p] = order->cut[p] / block * block;
  }
  for (PetscInt p = 0; p < nparts; p++) PetscCall(PmfSort(rest, limit, order->cut[p], order->cut[p + 1], window, order->row + order->cut[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfOrderDestroy(PmfOrder *order)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(order->power, order->cut, order->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fraction of the computing power that parts [first, end) are meant for */
double PmfShareOf(const PmfOrder *order, PetscInt first, PetscInt end)
{
  double share = 0, total = 0;

  for (PetscInt k = 0; k < order->nparts; k++) total += (double)order->power[k];
  for (PetscInt k = first; k < end; k++) share += (double)order->power[k];
  return share / total;
}

/* What section 3.2 says of part p */
PmfPart PmfPartOf(const SpmvCSR *csr, const PmfOrder *order, PetscInt p)
{
  PmfPart part = {0};

  for (PetscInt k = order->cut[p]; k < order->cut[p + 1]; k++) {
    const PetscInt length = PmfLength(csr, order->limit, order->row[k]);

    part.rows += length > 0;
    part.width = PetscMax(part.width, length);
    part.entries += (size_t)length;
  }
  part.elements = (size_t)part.rows * (size_t)part.width;
  part.share    = PmfShareOf(order, p, p + 1);
  return part;
}
