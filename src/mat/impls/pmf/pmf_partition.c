/*
  pmf_partition.c - the paper's algorithms: rows in order, and cut into parts by the computing powers; blocks on the diagonal

  Source: as pmf.c; section 4.2. As printed,
  - line 7 of algorithm 1 takes NNZ where the number of rows is meant;
  - algorithm 2 goes on until a part has as many entries as it is meant to have; the example of section 4.2.2 stops before it has
    more, as here;
  - algorithm 3 takes j for the length of the rows of B_j where W(B_j) is meant, and never assigns empty rows. Adding B_j, or
    ceil((NNZ_C - NNZ_T) / W(B_j)) rows of it, is adding row after row while the part has fewer entries than meant;
  - algorithms 2 and 3 may run off the end in the last part, which here takes all rows that remain;
  - algorithm 4 has `mod` where a division is meant, and > for >=.
*/
#include "pmf_partition.h"

const PetscInt    PmfPartitions[]     = {PMF_BY_PMF, PMF_BY_NNZ, PMF_BY_ROWS, PMF_BY_DIAGONAL};
const char *const PmfPartitionNames[] = {"pmf", "nnz", "rows", "diagonal"};
const PetscInt    PmfBlocks[]         = {32, 16};

const PetscInt    PmfWindows[]     = {PMF_WINDOW_AUTO, 8, 64, 256, 1024, 4096, 16384, PMF_WINDOW_GLOBAL};
const char *const PmfWindowNames[] = {"auto", "8", "64", "256", "1024", "4096", "16384", "global"};

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

/*
  Rows [first, end) by increasing length in each window; stable, in time linear in rows, windows and the longest row

  A counter that each row changes would be waited for: places of empty rows, which may be most, and of the present window are kept
  aside
*/
static PetscErrorCode PmfSort(PetscInt first, PetscInt end, const PmfOrder *order)
{
  const PmfOrder           o = *order; /* a copy, which stores of integers do not change */
  const PetscInt           m = end - first, windows = m / o.window + 1;
  const int                shift = o.window >= m ? 31 : __builtin_ctzll((unsigned long long)o.window); /* all are powers of two */
  PetscInt                 longest = 0, empty = 0, place, window = 0;
  SPMV_TEMPORARY PetscInt *next = NULL, *sorted = NULL;

  PetscFunctionBegin;
  for (PetscInt r = first; r < end; r++) longest = PetscMax(longest, PmfLength(&o.rest, &o, r));
  PetscCall(PetscCalloc1(PetscMax(longest, windows) + 2, &next));
  PetscCall(PetscMalloc1(m, &sorted));
  for (PetscInt r = first; r < end; r++) { /* B, the PMF times the number of rows */
    const PetscInt length = PmfLength(&o.rest, &o, r);

    if (length) next[length + 1]++;
    else empty++;
  }
  next[1] = empty;
  for (PetscInt k = 0; k <= longest; k++) next[k + 1] += next[k];
  empty = 0;
  for (PetscInt r = first; r < end; r++) {
    const PetscInt length = PmfLength(&o.rest, &o, r);

    if (length) sorted[next[length]++] = r;
    else sorted[empty++] = r;
  }
  for (PetscInt w = 0; w < windows; w++) next[w] = first + w * o.window;
  place = first;
  for (PetscInt k = 0; k < m; k++) {
    const PetscInt w = (sorted[k] - first) >> shift;

    if (w != window) {
      next[window] = place;
      place        = next[w];
      window       = w;
    }
    o.row[place++] = (int32_t)sorted[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The computing powers of parts [first, end) */
static double PmfPowers(const PmfOrder *order, PetscInt first, PetscInt end)
{
  double sum = 0;

  for (PetscInt p = first; p < end; p++) sum += order->power ? (double)order->power[p] : 1;
  return sum;
}

/*
  Cuts the rows into parts: algorithm 1 by their number, 2 and 3 by their entries. 2 takes them in the order of the matrix, and a
  part ends before it has more than it is meant to have; 3 takes them by length, and a part ends once it has as many. 4 cuts as
  2, at multiples of a block. All numbers are exact below 2^53
*/
static void PmfCut(const SpmvCSR *csr, PmfOrder *order)
{
  const PmfPartition by      = order->partition;
  const double       total   = PmfPowers(order, 0, order->nparts);
  double             entries = 0;
  PetscInt           k       = 0;

  for (PetscInt r = 0; r < csr->m; r++) entries += (double)PmfLength(csr, order, r);
  for (PetscInt p = 0; p + 1 < order->nparts; p++) {
    const double meant = PmfPowers(order, p, p + 1) * entries;

    if (PmfIsCut(order)) k -= order->power[p];
    else if (by == PMF_BY_ROWS) k = (PetscInt)((double)csr->m * PmfPowers(order, 0, p + 1) / total);
    else {
      for (double taken = 0; k < csr->m; k++) {
        const double length = (double)PmfLength(csr, order, by == PMF_BY_PMF ? order->row[k] : k) * total;

        if (by == PMF_BY_PMF ? taken >= meant : taken + length > meant) break;
        taken += length;
      }
    }
    order->cut[p + 1] = order->block ? k / order->block * order->block : k;
  }
}

/* Algorithm 4: what is not in the blocks; that of row r has columns r / block * block to (r / block + 1) * block - 1 */
static PetscErrorCode PmfFindRest(const SpmvCSR *csr, PmfOrder *order)
{
  PetscInt *i, *j, n = 0;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((size_t)csr->i[csr->m] * sizeof(uint32_t), &order->from));
  PetscCall(PetscMalloc1((size_t)csr->m + 1 + (size_t)csr->i[csr->m], &i));
  order->rest.i = i;
  order->rest.j = j = i + csr->m + 1;
  i[0]              = 0;
  for (PetscInt r = 0; r < csr->m; r++) {
    for (PetscInt e = csr->i[r]; e < csr->i[r + 1]; e++) {
      if (PmfDiagonalOf(order->block, csr->first + r, csr->j[e]) >= 0) continue;
      j[n]             = csr->j[e];
      order->from[n++] = (uint32_t)e;
    }
    i[r + 1] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Puts the rows in order, by their lengths without blocks, and cuts them into parts. PMF_BY_PMF has windows of all rows, others of
  each part. To be destroyed after an error as well
*/
PetscErrorCode PmfOrderCreate(const SpmvCSR *csr, PmfOrder *order)
{
  const PetscBool whole = (PetscBool)(order->partition == PMF_BY_PMF);

  PetscFunctionBegin;
  order->rest = (SpmvCSR){.m = csr->m, .n = csr->n, .first = csr->first};
  if (order->block) PetscCall(PmfFindRest(csr, order));
  else order->rest = *csr;
  PetscCall(PetscMalloc1(order->nparts + 1, &order->cut));
  PetscCall(PetscMalloc1(csr->m, &order->row));
  order->cut[0]             = 0;
  order->cut[order->nparts] = csr->m;
  if (whole) PetscCall(PmfSort(0, csr->m, order));
  PmfCut(csr, order);
  for (PetscInt p = 0; p < order->nparts && !whole; p++) PetscCall(PmfSort(order->cut[p], order->cut[p + 1], order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfOrderDestroy(PmfOrder *order)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(order->cut));
  PetscCall(PetscFree(order->row));
  if (order->block) PetscCall(PetscFree(order->rest.i));
  PetscCall(SpmvFree(&order->from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What section 3.2 says of part p */
PmfPart PmfPartOf(const SpmvCSR *csr, const PmfOrder *order, PetscInt p)
{
  PmfPart part = {.power = PmfIsCut(order) ? 0 : PmfPowers(order, p, p + 1) / PmfPowers(order, 0, order->nparts)};

  for (PetscInt k = order->cut[p]; k < order->cut[p + 1]; k++) {
    const PetscInt length = PmfLength(csr, order, order->row[k]);

    part.rows += length > 0;
    part.width = PetscMax(part.width, length);
    part.entries += (size_t)length;
  }
  part.elements = (size_t)part.rows * (size_t)part.width;
  return part;
}

/* The diagonals of a block that rows [first, first + rows) have entries on: bit d for PmfDiagonalOf() == d */
uint64_t PmfDiagonals(const SpmvCSR *csr, PetscInt block, PetscInt first, PetscInt rows)
{
  uint64_t diagonals = 0;

  for (PetscInt r = first; r < first + rows; r++) {
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
      const int d = PmfDiagonalOf(block, csr->first + r, csr->j[k]);

      if (d >= 0) diagonals |= UINT64_C(1) << d;
    }
  }
  return diagonals;
}

/*
  What rows [first, first + rows) have on diagonals of their block. Of each diagonal in their order: column - row, a bit for each
  row that has an entry, and these entries, at the rows' places among `height` ones
*/
void PmfDiagonalsFill(const SpmvCSR *csr, PetscInt block, PetscInt first, PetscInt rows, size_t height, int32_t offset[],
                      uint32_t mask[], uint32_t from[])
{
  const uint64_t diagonals = PmfDiagonals(csr, block, first, rows);

  memset(mask, 0, sizeof(uint32_t) * (size_t)__builtin_popcountll(diagonals));
  for (PetscInt l = 0; l < rows; l++) {
    for (PetscInt k = csr->i[first + l]; k < csr->i[first + l + 1]; k++) {
      const int d = PmfDiagonalOf(block, csr->first + first + l, csr->j[k]);
      size_t    place;

      if (d < 0) continue;
      place         = (size_t)__builtin_popcountll(diagonals & ((UINT64_C(1) << d) - 1));
      offset[place] = (int32_t)(d - (block - 1));
      mask[place] |= UINT32_C(1) << l;
      from[height * place + (size_t)l] = (uint32_t)k;
    }
  }
}
