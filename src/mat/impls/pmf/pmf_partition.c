/*
  pmf_partition.c - the paper's algorithms: rows in order, and cut into parts by the computing powers; blocks on the diagonal

  Source: as pmf.c; section 4.2. As printed,
  - line 7 of algorithm 1 takes NNZ where the number of rows is meant;
  - algorithm 2 goes on until a part has its share; the example of section 4.2.2 stops before a part exceeds it, as here;
  - algorithm 3 takes j for the length of the rows of B_j where W(B_j) is meant, and never assigns empty rows, which
    belong to no part here; adding B_j, or ceil((NNZ_C - NNZ_T) / W(B_j)) rows of it, is adding row after row while the
    part has less than its share;
  - algorithms 2 and 3 may run off the end in the last part, which takes all rows that remain here;
  - algorithm 4 has `mod` where a division is meant, and > for >=.
*/
#include "pmf_partition.h"

const PetscInt    PmfPartitions[]     = {PMF_BY_PMF, PMF_BY_NNZ, PMF_BY_ROWS, PMF_BY_DIAGONAL};
const char *const PmfPartitionNames[] = {"pmf", "nnz", "rows", "diagonal"};
const PetscInt    PmfWindows[]        = {PMF_WINDOW_AUTO, 8, 64, 256, 1024, 4096, 16384, PMF_WINDOW_GLOBAL};
const char *const PmfWindowNames[]    = {"auto", "8", "64", "256", "1024", "4096", "16384", "global"};
const PetscInt    PmfBlocks[]         = {32, 16};

/* Why a matrix has too many rows, columns or entries for 32-bit numbers; empty if it has not */
PetscErrorCode PmfCounts(const SpmvCSR *csr, char why[], size_t size)
{
  const PetscInt nz = csr->i[csr->m];

  PetscFunctionBegin;
  if (csr->m < INT32_MAX && csr->n < INT32_MAX && (PetscInt64)nz < UINT32_MAX / 4) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    SpmvAppend(why, size, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt_FMT, csr->m, csr->n, nz));
  PetscCall(SpmvAppend(why, size, " nonzeros is more than 32-bit indices count; use more processes or -mat_type aij"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows [first, end) by increasing length in each window; stable, in time linear in rows, windows and the longest row */
static PetscErrorCode PmfSort(const SpmvCSR *csr, PetscInt first, PetscInt end, const PmfOrder *order)
{
  const PetscInt limit = order->limit, m = end - first;
  const PetscInt window  = order->window == PMF_WINDOW_GLOBAL ? PetscMax(1, m) : order->window,
                 windows = (m + window - 1) / window;
  PetscInt longest       = 0, *next;
  int32_t *row = order->row + first, *sorted = row;

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

static inline double PmfPower(const PmfOrder *order, PetscInt p)
{
  return order->power ? (double)order->power[p] : 1;
}

static double PmfPowers(const PmfOrder *order)
{
  double total = 0;

  for (PetscInt p = 0; p < order->nparts; p++) total += PmfPower(order, p);
  return total;
}

/* Algorithm 1: as many rows as the power, in the order of the matrix */
static void PmfCutRows(PetscInt m, PmfOrder *order)
{
  const double total  = PmfPowers(order);
  double       powers = 0;

  for (PetscInt p = 0; p + 1 < order->nparts; p++) {
    powers += PmfPower(order, p);
    order->cut[p + 1] = (PetscInt)((double)m * powers / total); /* both exact below 2^53 */
  }
}

/*
  Algorithms 2 and 3: as many entries as the power, in the order of the matrix, where a part stops before it exceeds its share, or by
  length, where it stops once it has it
*/
static void PmfCutEntries(const SpmvCSR *csr, PmfOrder *order)
{
  const PetscBool exceed  = (PetscBool)(order->partition == PMF_BY_PMF);
  const double    total   = PmfPowers(order);
  double          entries = 0;
  PetscInt        k       = 0;

  for (PetscInt r = 0; r < csr->m; r++) entries += (double)PmfLength(csr, order->limit, r);
  for (PetscInt p = 0; p + 1 < order->nparts; p++) {
    const double share = PmfPower(order, p) * entries;
    double       taken = 0;

    for (; k < csr->m; k++) {
      const double length = (double)PmfLength(csr, order->limit, exceed ? order->row[k] : k) * total;

      if (exceed ? taken >= share : taken + length > share) break;
      taken += length;
    }
    order->cut[p + 1] = k;
  }
}

/*
  Puts the rows in order and cuts them into parts, as `order` asks for. By the lengths in `rest` they are ordered: csr, or with
  PMF_BY_DIAGONAL what is not in the blocks. That cuts as PMF_BY_NNZ, at multiples of a block. PMF_BY_PMF has windows of all rows,
  the others of each part
*/
PetscErrorCode PmfOrderCreate(const SpmvCSR *csr, const SpmvCSR *rest, PmfOrder *order)
{
  const PetscBool whole = (PetscBool)(order->partition == PMF_BY_PMF);

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(order->nparts + 1, &order->cut, csr->m, &order->row));
  order->cut[0]             = 0;
  order->cut[order->nparts] = csr->m;
  if (whole) PetscCall(PmfSort(rest, 0, csr->m, order));
  if (PmfIsCut(order)) {
    for (PetscInt p = 0; p + 1 < order->nparts; p++) order->cut[p + 1] = order->cut[p] - order->power[p];
  } else if (order->partition == PMF_BY_ROWS) PmfCutRows(csr->m, order);
  else PmfCutEntries(csr, order);
  for (PetscInt p = 1; p < order->nparts && order->partition == PMF_BY_DIAGONAL; p++)
    order->cut[p] -= order->cut[p] % order->block;
  for (PetscInt p = 0; p < order->nparts && !whole; p++) PetscCall(PmfSort(rest, order->cut[p], order->cut[p + 1], order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfOrderDestroy(PmfOrder *order)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(order->cut, order->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What section 3.2 says of part p */
PmfPart PmfPartOf(const SpmvCSR *csr, const PmfOrder *order, PetscInt p)
{
  PmfPart part = {.share = PmfIsCut(order) ? 0 : PmfPower(order, p) / PmfPowers(order)};

  for (PetscInt k = order->cut[p]; k < order->cut[p + 1]; k++) {
    const PetscInt length = PmfLength(csr, order->limit, order->row[k]);

    part.rows += length > 0;
    part.width = PetscMax(part.width, length);
    part.entries += (size_t)length;
  }
  part.elements = (size_t)part.rows * (size_t)part.width;
  return part;
}

PetscErrorCode PmfHalvesDestroy(PmfHalves *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(PetscFree3(h->i[k], h->j[k], h->at[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Algorithm 4: the block of row r has columns r / block * block to (r / block + 1) * block - 1 */
PetscErrorCode PmfHalvesCreate(const SpmvCSR *csr, const PmfOrder *order, PmfHalves *h)
{
  PetscFunctionBegin;
  *h = (PmfHalves){.csr = {{.m = 0}, *csr}};
  if (order->partition != PMF_BY_DIAGONAL) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscMalloc3(csr->m + 1, &h->i[k], csr->i[csr->m], &h->j[k], csr->i[csr->m], &h->at[k]));
    h->csr[k]  = (SpmvCSR){.m = csr->m, .n = csr->n, .rbs = 1, .cbs = 1, .i = h->i[k], .j = h->j[k]};
    h->i[k][0] = 0;
  }
  for (PetscInt r = 0; r < csr->m; r++) {
    PetscInt end[2] = {h->i[0][r], h->i[1][r]};

    for (PetscInt e = csr->i[r]; e < csr->i[r + 1]; e++) {
      const int k = csr->j[e] / order->block != r / order->block;

      h->j[k][end[k]]    = csr->j[e];
      h->at[k][end[k]++] = (uint32_t)e;
    }
    for (int k = 0; k < 2; k++) h->i[k][r + 1] = end[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
