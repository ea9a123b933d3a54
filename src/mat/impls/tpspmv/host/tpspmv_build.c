/*
  tpspmv_build.c - the pattern of a tpSpMV storage, from CSR's: chunks, the order of their pairs, segments of long rows
*/
#include "tpspmv_host.h"
#include "../../../../host/near.h"
#include "../../../../host/machine.h"

/* A pass over all chunks */
typedef struct {
  const SpmvCSR *csr;
  TpspmvStorage *b;
  int32_t        reach, longreach; /* the largest columns, relative to a chunk's base, and to that of a segment */
  uint8_t       *consecutive;      /* of the next pair: what the pass for sizes finds, the next one is told; NULL: nobody asks */
} TpspmvPass;

/* How many pairs of a chunk have each number of entries: a counting sort */
typedef struct {
  int32_t longest;                       /* of those that are not long */
  int32_t count[2][TPSPMV_LONG_MAX + 1]; /* pairs of this length: [1] in consecutive groups, [0] others */
} TpspmvLengths;

/* True if a pair's row and columns are one after those of another, which is no part of a long row */
static inline int TpspmvFollows(const SpmvCSR *csr, const TpspmvPair *before, const TpspmvPair *pair)
{
  const PetscInt *j = csr->j + pair->start, *i = csr->j + before->start;
  int             same = 1;

  if (pair->row != before->row + 1 || before->part || pair->length != before->length || j[0] != i[0] + 1) return 0;
  for (int32_t k = 1; k < pair->length; k++) same &= j[k] == i[k] + 1;
  return same;
}

/* Marks the pairs of groups of consecutive ones, taken from the first on */
static void TpspmvMarkGroups(const SpmvCSR *csr, TpspmvPair pair[], PetscInt n)
{
  for (PetscInt p = 1, streak = 1; p < n; p++) {
    streak = TpspmvFollows(csr, &pair[p - 1], &pair[p]) ? streak + 1 : 1;
    if (streak < TPSPMV_LANES) continue;
    for (PetscInt k = 0; k < TPSPMV_LANES; k++) pair[p - k].consecutive = 1;
    streak = 0;
  }
}

/* Counts a pair that is no part of a long row */
static inline void TpspmvCount(const TpspmvPair *pair, TpspmvLengths *l)
{
  l->longest = PetscMax(l->longest, pair->length);
  l->count[pair->consecutive][pair->length]++;
}

/* Sizes of a chunk, in the members that will tell where it begins; how far its columns and those of its segments reach */
static void TpspmvMeasureChunk(void *context, PetscInt c, PetscInt firstrow, TpspmvPair pair[], PetscInt n)
{
  TpspmvPass    *pass  = (TpspmvPass *)context;
  TpspmvStorage *b     = pass->b;
  TpspmvChunk   *chunk = &b->chunk[c];
  TpspmvLengths  l     = {.longest = 0};
  int32_t        low = INT32_MAX, high = 0;

  (void)firstrow;
  memset(chunk, 0, sizeof(*chunk));
  TpspmvMarkGroups(pass->csr, pair, n);
  for (PetscInt p = 0; pass->consecutive && p < n; p++) pass->consecutive[p] = (uint8_t)pair[p].consecutive;
  if (pass->consecutive) pass->consecutive += n;
  for (PetscInt p = 0; p < n; p++) {
    const int32_t from = TpspmvNumber(&b->cut, pass->csr, pair[p].start);
    const int32_t to   = TpspmvNumber(&b->cut, pass->csr, pair[p].start + pair[p].length - 1);

    if (pair[p].part) {
      chunk->segment++;
      pass->longreach = PetscMax(pass->longreach, to - from);
    } else {
      TpspmvCount(&pair[p], &l);
      low  = PetscMin(low, from);
      high = PetscMax(high, to);
    }
  }
  for (int32_t len = 1; len <= l.longest; len++) {
    const int32_t others = l.count[0][len], consecutive = l.count[1][len];

    chunk->entry += (int64_t)len * (others + consecutive);
    chunk->column += (int64_t)len * (others + consecutive / TPSPMV_LANES);
    chunk->pairs += others + consecutive;
    chunk->run += (others >= TPSPMV_LANES) + (consecutive > 0);
    chunk->ragged += others % TPSPMV_LANES;
    b->nconsecutive += (size_t)len * (size_t)consecutive;
  }
  chunk->base = low <= high ? low : 0;
  pass->reach = PetscMax(pass->reach, high - chunk->base);
  b->npairs += (size_t)chunk->pairs;
  b->nsegments += (size_t)chunk->segment;
}

/* The largest alignment of chunks that fills little */
static void TpspmvAlign(TpspmvStorage *b, size_t nchunks, size_t entries)
{
  for (b->align = TPSPMV_ALIGN;; b->align /= 2) {
    b->nfill = 0;
    for (size_t c = 0; c < nchunks; c++) b->nfill += (size_t)(-b->chunk[c].entry & (b->align - 1));
    if (b->nfill * TPSPMV_FILL <= entries) return;
  }
}

/* From the sizes of chunks to where they begin */
static void TpspmvPlaceChunks(TpspmvStorage *b, size_t nchunks)
{
  TpspmvChunk sum = {0};

  for (size_t c = 0; c < nchunks; c++) {
    const TpspmvChunk own = b->chunk[c];

    b->chunk[c]       = sum;
    b->chunk[c].base  = own.base;
    b->chunk[c].pairs = own.pairs;
    sum.entry += (own.entry + b->align - 1) / b->align * b->align;
    sum.column += (own.column + b->align - 1) / b->align * b->align;
    sum.pair += (own.pairs + b->align - 1) / b->align * b->align;
    sum.run += own.run;
    sum.ragged += own.ragged;
    sum.segment += own.segment;
  }
  b->chunk[nchunks] = sum;
  b->nentries       = (size_t)sum.entry;
  b->ncolumns       = (size_t)sum.column;
  b->npairs         = (size_t)sum.pair;
  b->nruns          = (size_t)sum.run;
  b->nragged        = (size_t)sum.ragged;
}

/*
  TpspmvMeasure - tiles, slices, and the sizes of everything under a plan that is resolved; of the arrays only chunks

  *consecutive, if not NULL, is an array for the caller: what the visitor of TpspmvWalk() has found of each pair
*/
PetscErrorCode TpspmvMeasure(const SpmvCSR *csr, const SpmvPlan *plan, TpspmvStorage *b, uint8_t **consecutive)
{
  const SpmvMachine *machine = SpmvMachineGet();
  const PetscInt    *p       = plan->value;
  const size_t       entries = (size_t)csr->i[csr->m];
  TpspmvPass         pass    = {.csr = csr, .b = b};
  size_t             nchunks;

  PetscFunctionBegin;
  b->threads          = plan->threads;
  b->prefetch         = (PetscBool)(entries * sizeof(PetscScalar) > (size_t)p[TPSPMV_CACHE] * 1024);
  b->prefetch_vectors = (PetscBool)(b->prefetch && (PetscLogDouble)entries < machine->uncached);
  PetscCall(TpspmvCutCreate(csr, p, &b->cut));
  if ((PetscLogDouble)entries >= machine->uncached && TpspmvIsDirect(&b->cut) && !b->cut.column) b->ahead = SpmvNearAhead(csr);
  nchunks = (size_t)b->cut.ntiles * (size_t)b->cut.nslices;
  PetscCall(SpmvAlloc((nchunks + 1) * sizeof(TpspmvChunk), &b->chunk));
  if (consecutive) {
    PetscCall(PetscMalloc1(entries, consecutive)); /* there are not more pairs than entries */
    pass.consecutive = *consecutive;
  }
  PetscCall(TpspmvWalk(csr, &b->cut, p[TPSPMV_LONG], TPSPMV_SEGMENT * p[TPSPMV_LONG], TpspmvMeasureChunk, &pass));
  PetscCheck(b->npairs < INT32_MAX && b->nsegments < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, TPSPMV_TOO_MANY_PAIRS,
             b->npairs);
  b->narrow     = (PetscBool)(pass.reach <= UINT16_MAX);
  b->narrowlong = (PetscBool)(pass.longreach <= UINT16_MAX);
  TpspmvAlign(b, nchunks, entries);
  TpspmvPlaceChunks(b, nchunks);
  b->nlong  = entries - (b->nentries - b->nfill);
  b->wanted = p[TPSPMV_VALUES];
  b->value  = (SpmvValues){.coding = SpmvValuesLook(csr, (SpmvValuesWanted)b->wanted), .n = b->nentries + b->nlong};
  b->stream = (PetscBool)(b->npairs > (size_t)machine->cache[2] / sizeof(PetscScalar));
  if (p[TPSPMV_STREAM] != TPSPMV_AUTO) b->stream = (PetscBool)(p[TPSPMV_STREAM] == TPSPMV_YES);
  if (TpspmvIsDirect(&b->cut) || b->align * sizeof(PetscScalar) % 64) b->stream = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pairs of a chunk by falling length: their rows, in whole groups first, then what is left; and its segments */
static void TpspmvSetChunk(void *context, PetscInt c, PetscInt firstrow, TpspmvPair pair[], PetscInt n)
{
  TpspmvPass        *pass    = (TpspmvPass *)context;
  TpspmvStorage     *b       = pass->b;
  const TpspmvChunk *chunk   = &b->chunk[c];
  TpspmvRun         *run     = b->run + chunk->run;
  uint8_t           *ragged  = b->ragged + chunk->ragged;
  TpspmvSegment     *segment = b->segment + chunk->segment;
  uint16_t          *row = b->row + chunk->pair, *left = row + chunk->pairs - (chunk[1].ragged - chunk->ragged);
  uint16_t          *next[3][TPSPMV_LONG_MAX + 1]; /* where the next row goes: in a group, a consecutive one, or what is left */
  TpspmvLengths      l = {.longest = 0};

  for (PetscInt p = 0; p < n; p++) {
    pair[p].consecutive = pass->consecutive[p];
    if (!pair[p].part) TpspmvCount(&pair[p], &l);
  }
  pass->consecutive += n;
  for (int32_t len = l.longest; len > 0; len--) {
    const int32_t rest = l.count[0][len] % TPSPMV_LANES;

    for (int consecutive = 1; consecutive >= 0; consecutive--) {
      const int32_t groups = l.count[consecutive][len] / TPSPMV_LANES;

      next[consecutive][len] = row;
      row += groups * TPSPMV_LANES;
      if (groups) *run++ = (TpspmvRun){len, groups, consecutive};
    }
    next[2][len] = left;
    left += rest;
    memset(ragged, len, (size_t)rest);
    ragged += rest;
    l.count[0][len] -= rest;
  }
  memset(left, 0, sizeof(*left) * (size_t)(b->row + chunk[1].pair - left));
  for (PetscInt p = 0; p < n; p++) {
    const int32_t len = pair[p].length;

    if (!pair[p].part) *next[pair[p].consecutive ? 1 : l.count[0][len]-- > 0 ? 0 : 2][len]++ = (uint16_t)pair[p].row;
    else {
      const int32_t base = TpspmvNumber(&b->cut, pass->csr, pair[p].start);
      const int32_t last = TpspmvNumber(&b->cut, pass->csr, pair[p].start + len - 1);

      /* `entry` is the length until all are known */
      *segment++ = (TpspmvSegment){len, (int32_t)firstrow + pair[p].row, base, last - base == len - 1};
    }
  }
}

/* Cuts n things into parts of about equal weight; weight[k] is that of the things before k */
static void TpspmvSplit(const int64_t weight[], PetscInt n, PetscInt parts, PetscInt first[])
{
  for (PetscInt p = 0, k = 0; p < parts; p++) {
    while (k < n && weight[k] < (int64_t)((double)weight[n] * (double)p / (double)parts)) k++;
    first[p] = k;
  }
  first[parts] = n;
}

/* What each task does in each phase */
static PetscErrorCode TpspmvSplitAll(const SpmvCSR *csr, TpspmvStorage *b)
{
  const PetscInt          nslices = b->cut.nslices, nchunks = b->cut.ntiles * nslices, nsegments = (PetscInt)b->nsegments;
  SPMV_TEMPORARY int64_t *weight = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(nchunks, nsegments) + 1, &weight));
  for (PetscInt c = 0; c <= nchunks; c++) weight[c] = b->chunk[c].entry + b->chunk[c].pair;
  TpspmvSplit(weight, nchunks, b->threads, b->chunks);
  for (PetscInt k = 0; k <= nsegments; k++) weight[k] = b->segment[k].entry;
  TpspmvSplit(weight, nsegments, b->threads, b->segments);
  for (PetscInt t = 0; t <= b->cut.ntiles; t++)
    weight[t] = b->chunk[t * nslices].entry + b->segment[b->chunk[t * nslices].segment].entry;
  TpspmvSplit(weight, b->cut.ntiles, b->threads, b->tiles);
  SpmvSplitRows(csr, b->cut.height, b->threads, b->slices);
  for (PetscInt t = 0; t <= b->threads; t++) b->slices[t] = b->slices[t] / b->cut.height + !!(b->slices[t] % b->cut.height);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  const PetscInt          longest = plan->value[TPSPMV_LONG], ends = plan->threads + 1;
  SPMV_TEMPORARY uint8_t *consecutive = NULL;
  TpspmvPass              pass        = {.csr = csr};
  TpspmvStorage          *b;
  int64_t                 entries = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage = pass.b = b;
  PetscCall(TpspmvMeasure(csr, plan, b, &consecutive));
  pass.consecutive           = consecutive;
  plan->value[TPSPMV_STREAM] = b->stream ? TPSPMV_YES : TPSPMV_NO;
  PetscCall(SpmvAlloc(b->nruns * sizeof(TpspmvRun), &b->run));
  PetscCall(SpmvAlloc(b->nragged, &b->ragged));
  PetscCall(SpmvAlloc((b->nsegments + 1) * sizeof(TpspmvSegment), &b->segment));
  PetscCall(SpmvAlloc(b->npairs * sizeof(uint16_t), &b->row));
  PetscCall(SpmvAllocShared(b->ncolumns * TpspmvIndexSize(b->narrow), b->threads, &b->index));
  PetscCall(SpmvAlloc(b->nlong * TpspmvIndexSize(b->narrowlong), &b->longindex));
  if (!TpspmvIsDirect(&b->cut)) PetscCall(SpmvAlloc(b->npairs * sizeof(PetscScalar), &b->partial));
  if (b->nsegments) PetscCall(SpmvAlloc(b->nsegments * sizeof(PetscScalar), &b->sum));
  if (b->cut.column) PetscCall(SpmvAlloc((size_t)b->cut.nused * sizeof(PetscScalar), &b->packed));
  PetscCall(PetscMalloc4(ends, &b->chunks, ends, &b->segments, ends, &b->slices, ends, &b->tiles));
  PetscCall(TpspmvWalk(csr, &b->cut, longest, TPSPMV_SEGMENT * longest, TpspmvSetChunk, &pass));
  for (size_t k = 0; k < b->nsegments; k++) { /* from lengths to where segments begin */
    const int64_t length = b->segment[k].entry;

    b->segment[k].entry = entries;
    entries += length;
  }
  b->segment[b->nsegments] = (TpspmvSegment){.entry = entries};
  PetscCall(TpspmvSplitAll(csr, b));
  PetscCall(TpspmvSetEntries(csr, b));
  PetscCall(TpspmvCutBuilt(&b->cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvDestroy(void *storage)
{
  TpspmvStorage *b = (TpspmvStorage *)storage;

  PetscFunctionBegin;
  PetscCall(TpspmvCutDestroy(&b->cut));
  PetscCall(PetscFree4(b->chunks, b->segments, b->slices, b->tiles));
  PetscCall(SpmvFree(&b->segment)); /* there, if not listed, without segments */
  PetscCall(SpmvFree(&b->longindex));
  PetscCall(SpmvFree(&b->partial));
  PetscCall(SpmvFree(&b->sum));
  PetscCall(SpmvFree(&b->packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
