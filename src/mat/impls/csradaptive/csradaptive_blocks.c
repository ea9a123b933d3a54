/*
  csradaptive_blocks.c - rows cut into row blocks: one pass over row pointers, and over columns as long as those of neighbouring
  rows agree; values are not read
*/
#include "csradaptive_blocks.h"

#define CSRADAPTIVE_ROWS \
  4 /* a row block has at most this many rows for each entry it may have, so that empty rows are shared out too */

/* CsradaptiveCutter: a cut in progress */
typedef struct {
  const PetscInt     *i, *j;
  PetscInt            m;
  CsradaptiveRules    rules;
  size_t              nblocks; /* words so far */
  uint64_t           *block;   /* NULL: words are counted only */
  CsradaptiveAmounts *amounts; /* NULL: nobody wants them */
} CsradaptiveCutter;

static CsradaptiveCutter CsradaptiveCutterOf(const SpmvCSR *csr, const CsradaptiveRules *rules)
{
  return (CsradaptiveCutter){.i = csr->i, .j = csr->j, .m = csr->m, .rules = *rules};
}

/* Rows of a row block, at most */
static PetscInt CsradaptiveMostRows(const CsradaptiveRules *rules)
{
  return CSRADAPTIVE_ROWS * rules->entries;
}

/* Adds a row block to the amounts */
static void CsradaptiveAdd(const CsradaptiveCutter *c, PetscInt row, PetscInt end, int flag, PetscInt nodes)
{
  const CsradaptiveKernel k       = flag                                ? CSRADAPTIVE_VECTORL
                                    : end - row >= c->rules.rows_stream ? CSRADAPTIVE_STREAM
                                                                        : CSRADAPTIVE_VECTOR;
  const size_t            entries = (size_t)(c->i[end] - c->i[row]);

  *(nodes ? &c->amounts->nodeentries : &c->amounts->entries[k]) += entries;
  if (!nodes) c->amounts->rows[k] += (size_t)(end - row);
}

static void CsradaptiveEmit(CsradaptiveCutter *c, PetscInt row, int flag, PetscInt number)
{
  if (c->block) c->block[c->nblocks] = CsradaptiveWord(row, flag, number);
  c->nblocks++;
}

/* The first row from r on, below high, that ends more than `entries` entries after row s begins; high if none does. A line of row pointers at a time */
static PetscInt CsradaptiveReach(const CsradaptiveCutter *c, PetscInt s, PetscInt r, PetscInt high, PetscInt entries)
{
  const PetscInt line = 64 / (PetscInt)sizeof(PetscInt);

  while (high - r >= line && c->i[r + line] - c->i[s] <= entries) r += line;
  while (r < high && c->i[r + 1] - c->i[s] <= entries) r++;
  return r;
}

/* True if a long row and a short one are neighbours on both sides of row r's beginning */
static inline int CsradaptiveMeet(const CsradaptiveRules *r, PetscInt before, PetscInt here)
{
  return ((before > r->longer) & (here < r->shorter)) | ((before < r->shorter) & (here > r->longer));
}

/* The first row in [low, high) where a long row meets a short one; high if there is none, which a loop without branches finds out */
static PetscInt CsradaptiveBreak(const CsradaptiveCutter *c, PetscInt low, PetscInt high)
{
  const CsradaptiveRules rules = c->rules; /* so that the loop below reads nothing but row pointers */
  const PetscInt        *i     = c->i;
  int                    any   = 0;

  for (PetscInt r = low; r < high; r++) any |= CsradaptiveMeet(&rules, i[r] - i[r - 1], i[r + 1] - i[r]);
  if (!any) return high;
  while (!CsradaptiveMeet(&rules, i[low] - i[low - 1], i[low + 1] - i[low])) low++;
  return low;
}

/* True if row r + 1 has the columns of row r, in the same order */
static int CsradaptiveSame(const CsradaptiveCutter *c, PetscInt r)
{
  const PetscInt  n = c->i[r + 1] - c->i[r];
  const PetscInt *p = c->j + c->i[r], *q = p + n;

  return c->i[r + 2] - c->i[r + 1] == n && n > 0 && p[0] == q[0] && !memcmp(p, q, sizeof(PetscInt) * (size_t)n);
}

/*
  Rows of a node have the same columns. Tells how many rows the nodes from row s on have, 0 if there are none; and, in
  end, where nodes of as many rows end, at most at `high`. Columns are compared up to there only
*/
static PetscInt CsradaptiveNodes(const CsradaptiveCutter *c, PetscInt s, PetscInt high, PetscInt *end)
{
  PetscInt h = 1, r = s;

  while (h < CSRADAPTIVE_NODE && s + h < high && CsradaptiveSame(c, s + h - 1)) h++;
  if (h > 1) r += h;
  for (PetscInt q = h; h > 1 && q == h && high - r >= h; r += q == h ? h : 0)
    for (q = 1; q < h && CsradaptiveSame(c, r + q - 1); q++)
      ;
  *end = r;
  return h > 1 ? h : 0;
}

static void CsradaptiveCutAll(CsradaptiveCutter *c)
{
  const PetscInt entries = c->rules.entries, chunk = c->rules.chunk, rows = CsradaptiveMostRows(&c->rules);

  for (PetscInt s = 0, e; s < c->m; s = e) {
    const PetscInt high = c->m - s > rows ? s + rows : c->m, length = c->i[s + 1] - c->i[s];
    PetscInt       half, nodes, end;

    if (length > chunk) {
      e = s + 1;
      if (c->amounts) CsradaptiveAdd(c, s, e, 1, 0);
      for (PetscInt wg = 0; wg <= (length - 1) / chunk; wg++) CsradaptiveEmit(c, s, 1, wg);
      continue;
    }
    half  = CsradaptiveReach(c, s, s, high, entries / 2);
    e     = PetscMax(s + 1, CsradaptiveReach(c, s, half, high, entries));
    e     = CsradaptiveBreak(c, half + 1, e);
    nodes = c->rules.nodes ? CsradaptiveNodes(c, s, e, &end) : 0;
    if (nodes && (end > half || end == e)) e = end;
    else nodes = 0;
    if (c->amounts) CsradaptiveAdd(c, s, e, 0, nodes);
    CsradaptiveEmit(c, s, 0, nodes);
  }
  CsradaptiveEmit(c, c->m, 0, 0);
}

/* Why row blocks cannot be cut so; option: the one that says how many workgroups share a row */
PetscErrorCode CsradaptiveAllowsRules(const SpmvCSR *csr, const CsradaptiveRules *rules, const char option[], char why[],
                                      size_t size)
{
  PetscFunctionBegin;
  if ((uint64_t)csr->m >> 32) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " rows on a process: a row block keeps a row in 32 bits; use more processes",
                         csr->m));
  } else if ((uint64_t)(csr->i[csr->m] / rules->chunk) >= CSRADAPTIVE_WG_MAX) {
    PetscCall(
      SpmvAppend(why, size, "%" PetscInt_FMT " entries: a workgroup number has 31 bits; set %s to more", csr->i[csr->m], option));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a cut would come to */
void CsradaptiveCount(const SpmvCSR *csr, const CsradaptiveRules *rules, CsradaptiveAmounts *amounts)
{
  CsradaptiveCutter c = CsradaptiveCutterOf(csr, rules);

  *amounts  = (CsradaptiveAmounts){0};
  c.amounts = amounts;
  CsradaptiveCutAll(&c);
  amounts->nblocks = c.nblocks - 1;
}

/*
  No more words than these come of a cut: two row blocks in a row have more than half of NNZ_PER_WG entries, or the first
  has all the rows it may have, or the second shares a row, which has at most as many row blocks as halves of NNZ_PER_WG
*/
static size_t CsradaptiveMost(const CsradaptiveCutter *c)
{
  return 8 * (size_t)(c->i[c->m] / c->rules.entries) + (size_t)(c->m / CsradaptiveMostRows(&c->rules)) + 8;
}

/*
  CsradaptiveCut - cuts rows into row blocks

  Output Parameters:
+ nblocks - how many
- block   - [nblocks + 1] their words, to be freed by SpmvFree()
*/
PetscErrorCode CsradaptiveCut(const SpmvCSR *csr, const CsradaptiveRules *rules, size_t *nblocks, uint64_t *block[])
{
  CsradaptiveCutter        c    = CsradaptiveCutterOf(csr, rules);
  SPMV_TEMPORARY uint64_t *word = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(CsradaptiveMost(&c), &word));
  c.block = word;
  CsradaptiveCutAll(&c);
  *nblocks = c.nblocks - 1;
  PetscCall(SpmvAlloc(sizeof(uint64_t) * c.nblocks, block));
  memcpy(*block, word, sizeof(uint64_t) * c.nblocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}
