/*
  csradaptive_build.c - rows cut into row blocks: one pass over row pointers, and over columns as long as those of neighbouring
  rows agree; values are not read
*/
#include "csradaptive.h"
#include "../../../host/machine.h"

/* CsradaptiveCutter: what decides where a row block ends, and where its words go */
typedef struct {
  const PetscInt *i, *j;
  PetscInt        m;
  PetscInt        entries; /* of a row block of several rows, at most */
  PetscInt        rows;    /* of a row block, at most */
  PetscInt        chunk;   /* entries of a row block that shares its row */
  PetscInt        longer;  /* a row of more entries is long */
  PetscInt        shorter; /* a row of fewer is short */
  PetscBool       nodes;   /* rows that have the same columns are looked for */
  size_t          nblocks; /* words so far */
  uint64_t       *block;   /* NULL: words are counted only */

  CsradaptiveAmounts *amounts; /* NULL: nobody wants them */
  PetscInt            stream;  /* rows from which a row block is CSR-Stream's */
} CsradaptiveCutter;

/* Adds a row block to the amounts */
static void CsradaptiveAdd(const CsradaptiveCutter *c, PetscInt row, PetscInt end, int flag, PetscInt nodes)
{
  const CsradaptiveKernel k       = flag ? CSRADAPTIVE_VECTORL : end - row >= c->stream ? CSRADAPTIVE_STREAM
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
static inline int CsradaptiveMeet(const CsradaptiveCutter *c, PetscInt before, PetscInt here)
{
  return ((before > c->longer) & (here < c->shorter)) | ((before < c->shorter) & (here > c->longer));
}

/* The first row in [low, high) where a long row meets a short one; high if there is none, which a loop without branches finds out */
static PetscInt CsradaptiveBreak(const CsradaptiveCutter *c, PetscInt low, PetscInt high)
{
  const CsradaptiveCutter here = *c; /* so that the loop below reads nothing but row pointers */
  const PetscInt         *i    = c->i;
  int                     any  = 0;

  for (PetscInt r = low; r < high; r++) any |= CsradaptiveMeet(&here, i[r] - i[r - 1], i[r + 1] - i[r]);
  if (!any) return high;
  while (!CsradaptiveMeet(c, i[low] - i[low - 1], i[low + 1] - i[low])) low++;
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

static void CsradaptiveCut(CsradaptiveCutter *c)
{
  for (PetscInt s = 0, e; s < c->m; s = e) {
    const PetscInt high = c->m - s > c->rows ? s + c->rows : c->m, length = c->i[s + 1] - c->i[s];
    PetscInt       half, nodes, end;

    if (length > c->chunk) {
      e = s + 1;
      if (c->amounts) CsradaptiveAdd(c, s, e, 1, 0);
      for (PetscInt wg = 0; wg <= (length - 1) / c->chunk; wg++) CsradaptiveEmit(c, s, 1, wg);
      continue;
    }
    half  = CsradaptiveReach(c, s, s, high, c->entries / 2);
    e     = PetscMax(s + 1, CsradaptiveReach(c, s, half, high, c->entries));
    e     = CsradaptiveBreak(c, half + 1, e);
    nodes = c->nodes ? CsradaptiveNodes(c, s, e, &end) : 0;
    if (nodes && (end > half || end == e)) e = end;
    else nodes = 0;
    if (c->amounts) CsradaptiveAdd(c, s, e, 0, nodes);
    CsradaptiveEmit(c, s, 0, nodes);
  }
  CsradaptiveEmit(c, c->m, 0, 0);
}

/* Replaces what a plan for a device leaves open, too */
static PetscErrorCode CsradaptiveCutterSet(const SpmvCSR *csr, SpmvPlan *plan, CsradaptiveCutter *c)
{
  const PetscBool device = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  PetscInt        entries, chunk;

  PetscFunctionBegin;
  if (device) PetscCall(CsradaptiveDeviceResolve(plan));
  entries = plan->value[CSRADAPTIVE_NNZ_PER_WG];
  chunk   = entries * plan->value[CSRADAPTIVE_NNZ_MULTIPLIER];
  PetscCheck((PetscInt64)csr->m <= (PetscInt64)UINT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "%" PetscInt_FMT " rows on a process: a row block keeps a row in 32 bits; use more processes", csr->m);
  PetscCheck((uint64_t)(csr->i[csr->m] / chunk) < CSRADAPTIVE_WG_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "%" PetscInt_FMT " entries: a workgroup number has 31 bits; set -mat_csradaptive_nnz_multiplier larger than %" PetscInt_FMT, csr->i[csr->m], plan->value[CSRADAPTIVE_NNZ_MULTIPLIER]);
  *c = (CsradaptiveCutter){.i = csr->i, .j = csr->j, .m = csr->m, .entries = entries, .rows = CSRADAPTIVE_ROWS * entries, .chunk = chunk, .longer = plan->value[CSRADAPTIVE_LONG], .shorter = plan->value[CSRADAPTIVE_SHORT], .nodes = (PetscBool)!device, .stream = plan->value[CSRADAPTIVE_NUM_ROWS_STREAM]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  No more words than these come of a cut: two row blocks in a row have more than half of NNZ_PER_WG entries, or the first
  has all the rows it may have, or the second shares a row, which has at most as many row blocks as halves of NNZ_PER_WG
*/
static size_t CsradaptiveMost(const CsradaptiveCutter *c)
{
  return 8 * (size_t)(c->i[c->m] / c->entries) + (size_t)(c->m / c->rows) + 8;
}

/* What a build would make; with a device, CSR-Stream's row blocks may be CSR-Vector's */
PetscErrorCode CsradaptiveCount(const SpmvCSR *csr, const SpmvPlan *plan, CsradaptiveAmounts *amounts)
{
  SpmvPlan          resolved = *plan;
  CsradaptiveCutter c;

  PetscFunctionBegin;
  PetscCall(CsradaptiveCutterSet(csr, &resolved, &c));
  PetscCall(PetscMemzero(amounts, sizeof(*amounts)));
  c.amounts = amounts;
  CsradaptiveCut(&c);
  amounts->nblocks = c.nblocks - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsradaptiveBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  CsradaptiveStorage *b;
  CsradaptiveCutter   c;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(CsradaptiveCutterSet(csr, plan, &c));
  PetscCall(PetscNew(&b));
  *storage           = b;
  b->m               = csr->m;
  b->n               = csr->n;
  b->nnz_per_wg      = c.entries;
  b->num_rows_stream = plan->value[CSRADAPTIVE_NUM_ROWS_STREAM];
  b->chunk           = c.chunk;
  b->device          = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  b->threads         = b->device ? 1 : plan->threads;
  b->large           = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->cached);
  b->learnt          = (PetscBool)(csr->m < SpmvMachineGet()->learnt);
  PetscCall(CsradaptiveSetValues(csr, b));
  PetscCall(PetscMalloc1(CsradaptiveMost(&c), &c.block));
  CsradaptiveCut(&c);
  b->nblocks = c.nblocks - 1;
  PetscCall(SpmvAlloc(sizeof(uint64_t) * c.nblocks, &b->block));
  PetscCall(PetscArraycpy(b->block, c.block, c.nblocks));
  PetscCall(PetscFree(c.block));
  if (b->device) PetscCall(CsradaptiveDeviceLists(b));
  if (b->threads > 1) PetscCall(SpmvAlloc(sizeof(PetscScalar) * (size_t)(b->threads - 1) * (size_t)b->n, &b->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storage has no values of its own: it is told where AIJ's are now */
PetscErrorCode CsradaptiveSetValues(const SpmvCSR *csr, void *storage)
{
  CsradaptiveStorage *b = (CsradaptiveStorage *)storage;

  PetscFunctionBegin;
  b->i = csr->i;
  b->j = csr->j;
  b->a = csr->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CsradaptiveDestroy(void **storage)
{
  CsradaptiveStorage *b = (CsradaptiveStorage *)*storage;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFree(&b->block));
  PetscCall(SpmvFree(&b->partial));
  for (int kernel = 0; kernel < 3; kernel++) PetscCall(SpmvFree(&b->list[kernel]));
  PetscCall(SpmvFree(&b->part));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
