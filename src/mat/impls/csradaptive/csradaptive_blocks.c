/*
  csradaptive_blocks.c - rows cut into row blocks: a pass over row pointers, and over columns as long as those of
  neighbouring rows agree; values are not read. And what the storages of both sides have in common
*/
#include "csradaptive_blocks.h"

#define CSRADAPTIVE_ROWS  4   /* rows of a row block for each entry it may have, at most: tasks divide empty rows, too */
#define CSRADAPTIVE_LONG  128 /* a row block may end where a row of more entries than this */
#define CSRADAPTIVE_SHORT 32  /* meets one of fewer than this */

/* The first row in [r, high) that ends more than `entries` entries after row s begins, else high. By lines of row pointers */
static PetscInt CsradaptiveReach(const PetscInt i[], PetscInt s, PetscInt r, PetscInt high, PetscInt entries)
{
  const PetscInt line = (PetscInt)(SPMV_CACHE_LINE / sizeof(PetscInt));

  while (high - r >= line && i[r + line] - i[s] <= entries) r += line;
  while (r < high && i[r + 1] - i[s] <= entries) r++;
  return r;
}

/* True if a long row and a short one are on both sides of row r's beginning */
static inline int CsradaptiveMeet(const PetscInt i[], PetscInt r)
{
  const PetscInt before = i[r] - i[r - 1], here = i[r + 1] - i[r];

  return ((before > CSRADAPTIVE_LONG) & (here < CSRADAPTIVE_SHORT)) | ((before < CSRADAPTIVE_SHORT) & (here > CSRADAPTIVE_LONG));
}

/* The first row in [low, high) where a long row meets a short one, else high. A loop without branches tells if there is one */
static PetscInt CsradaptiveBreak(const PetscInt i[], PetscInt low, PetscInt high)
{
  int any = 0;

  for (PetscInt r = low; r < high; r++) any |= CsradaptiveMeet(i, r);
  if (!any) return high;
  while (!CsradaptiveMeet(i, low)) low++;
  return low;
}

/* True if row r + 1 has the columns of row r, in the same order */
static int CsradaptiveSame(const SpmvCSR *csr, PetscInt r)
{
  const PetscInt  n = csr->i[r + 1] - csr->i[r];
  const PetscInt *p = csr->j + csr->i[r], *q = p + n;

  return csr->i[r + 2] - csr->i[r + 1] == n && n > 0 && p[0] == q[0] && !memcmp(p, q, sizeof(PetscInt) * (size_t)n);
}

/*
  How many rows the node at row s has, 0 if it is none; and where the nodes of as many rows that follow each other end, at
  most at `high`. Columns are compared up to there only
*/
static PetscInt CsradaptiveNodes(const SpmvCSR *csr, PetscInt s, PetscInt high, PetscInt *end)
{
  PetscInt h = 1, same;

  while (h < CSRADAPTIVE_NODE && s + h < high && CsradaptiveSame(csr, s + h - 1)) h++;
  if (h == 1) return 0;
  *end = s;
  do {
    *end += h;
    for (same = 1; same < h && high - *end >= h && CsradaptiveSame(csr, *end + same - 1);) same++;
  } while (same == h);
  return h;
}

/* Adds a word to those of b */
static void CsradaptiveEmit(CsradaptiveBlocks *b, PetscInt row, int flag, PetscInt number)
{
  b->block[b->nblocks++] = (uint64_t)row << 32 | (uint64_t)flag << 31 | (uint64_t)number;
}

/* The words of all row blocks; rows: of one, at most */
static void CsradaptiveCutRows(const SpmvCSR *csr, PetscInt entries, PetscInt rows, PetscBool nodes, CsradaptiveBlocks *b)
{
  const PetscInt *i = csr->i;

  for (PetscInt s = 0, e; s < csr->m; s = e) {
    const PetscInt high = csr->m - s > rows ? s + rows : csr->m, length = i[s + 1] - i[s];
    PetscInt       half, end, h;

    if (length > b->chunk) {
      e = s + 1;
      for (PetscInt wg = 0; wg <= (length - 1) / b->chunk; wg++) CsradaptiveEmit(b, s, 1, wg);
      continue;
    }
    half = CsradaptiveReach(i, s, s, high, entries / 2);
    e    = PetscMax(s + 1, CsradaptiveReach(i, s, half, high, entries));
    e    = CsradaptiveBreak(i, half + 1, e);
    h    = nodes ? CsradaptiveNodes(csr, s, e, &end) : 0;
    if (h && (end > half || end == e)) e = end;
    else h = 0;
    CsradaptiveEmit(b, s, 0, h);
  }
  CsradaptiveEmit(b, csr->m, 0, 0);
  b->nblocks--;
}

/*
  CsradaptiveCut - cuts rows into row blocks

  Input Parameters:
+ csr            - the matrix, whose arrays are borrowed
. plan           - the first knobs are those of both sides
. nodes          - whether rows that have the same columns are looked for
- entries_stream - entries of a row block of CSR-Stream, at most

  Output Parameter:
. b - the row blocks; SpmvFree(&b->block) is the caller's

  Note:
  Two row blocks in a row have more than half of NNZ_PER_WG entries, or the first has all the rows it may have, or the
  second shares a row, which has at most as many row blocks as halves of NNZ_PER_WG: that bounds the number of words.
*/
PetscErrorCode CsradaptiveCut(const SpmvCSR *csr, const SpmvPlan *plan, PetscBool nodes, PetscInt entries_stream,
                              CsradaptiveBlocks *b)
{
  const PetscInt           entries = plan->value[CSRADAPTIVE_NNZ_PER_WG], rows = CSRADAPTIVE_ROWS * entries;
  SPMV_TEMPORARY uint64_t *word = NULL;

  PetscFunctionBegin;
  b->m              = csr->m;
  b->n              = csr->n;
  b->nentries       = (size_t)csr->i[csr->m];
  b->chunk          = entries * plan->value[CSRADAPTIVE_NNZ_MULTIPLIER];
  b->rows_stream    = plan->value[CSRADAPTIVE_NUM_ROWS_STREAM];
  b->entries_stream = entries_stream;
  PetscCall(CsradaptiveSetValues(csr, b));
  PetscCall(PetscMalloc1(8 * (b->nentries / (size_t)entries) + (size_t)(csr->m / rows) + 8, &word));
  b->block = word;
  CsradaptiveCutRows(csr, entries, rows, nodes, b);
  b->block = NULL;
  PetscCall(SpmvAlloc(sizeof(uint64_t) * (b->nblocks + 1), &b->block));
  memcpy(b->block, word, sizeof(uint64_t) * (b->nblocks + 1));
  for (size_t k = 0; k < b->nblocks; k++) {
    const CsradaptiveKernel kernel = CsradaptiveKernelAt(b, k);
    const PetscInt          row = CsradaptiveRow(b->block[k]), end = CsradaptiveRow(b->block[k + 1]);

    b->amount[kernel].blocks++;
    b->amount[kernel].rows += (size_t)(end - row); /* of a row that is shared the last row block counts */
    b->amount[kernel].entries += (size_t)(csr->i[end] - csr->i[row]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why row blocks cannot be cut so */
PetscErrorCode CsradaptiveAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt chunk = plan->value[CSRADAPTIVE_NNZ_PER_WG] * plan->value[CSRADAPTIVE_NNZ_MULTIPLIER], nz = csr->i[csr->m];

  PetscFunctionBegin;
  if ((uint64_t)csr->m >> 32) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " rows on a process: a row block keeps a row in 32 bits; use more processes",
                         csr->m));
  } else if ((uint64_t)(nz / chunk) >= CSRADAPTIVE_WG_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " entries: a workgroup number has 31 bits; ", nz));
    PetscCall(SpmvAppend(why, size, "set -mat_csradaptive_%snnz_multiplier to more", info ? "device_" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storage has no values of its own: it is told where AIJ's arrays are now */
PetscErrorCode CsradaptiveSetValues(const SpmvCSR *csr, void *storage)
{
  CsradaptiveBlocks *b = (CsradaptiveBlocks *)storage;

  PetscFunctionBegin;
  b->i = csr->i;
  b->j = csr->j;
  b->a = csr->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AIJ's arrays, the first ones of both sides */
PetscErrorCode CsradaptiveBorrowed(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CsradaptiveBlocks *b = (const CsradaptiveBlocks *)storage;

  PetscFunctionBegin;
  arrays[0] = SPMV_ARRAY("values", b->a, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE, .borrowed = PETSC_TRUE);
  arrays[1] = SPMV_ARRAY("columns", b->j, b->nentries, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[2] = SPMV_ARRAY("row pointers", b->i, (size_t)b->m + 1, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  *narrays  = 3;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row blocks of each kernel, and what they add to CSR, by the arrays of their storage */
PetscErrorCode CsradaptiveDescribe(const CsradaptiveBlocks *b, PetscInt narrays, const SpmvArray arrays[], PetscInt k,
                                   char line[], size_t size)
{
  const size_t vector = b->amount[CSRADAPTIVE_VECTOR].blocks + b->amount[CSRADAPTIVE_NODES].blocks;
  const double own    = SpmvArraysOwn(narrays, arrays);

  PetscFunctionBegin;
  line[0] = 0;
  if (k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size, "row blocks %zu: stream %zu, vector %zu, vectorl %zu; ", b->nblocks,
                       b->amount[CSRADAPTIVE_STREAM].blocks, vector, b->amount[CSRADAPTIVE_VECTORL].blocks));
  PetscCall(SpmvAppend(line, size, "%.0f bytes, %.3f %% of CSR", own, 100 * own / (SpmvArraysRead(narrays, arrays) - own)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
