/*
  tpspmv_build.c - the pattern of a tpSpMV storage, from CSR's: chunks, the order of their pairs, pieces of long rows
*/
#include "../tpspmv_walk.h"
#include "tpspmv_host.h"
#include "../../../../host/machine.h"

/* How many pairs of a chunk have each number of entries: a counting sort */
typedef struct {
  int32_t longest;                          /* of those that are not long */
  int32_t count[TPSPMV_LONG_MAX + 1];       /* pairs of this length, those in groups of consecutive ones not counted ... */
  int32_t consecutive[TPSPMV_LONG_MAX + 1]; /* ... but here */
} TpspmvLengths;

/* True if a pair's row and columns are one after those of another */
static inline int TpspmvFollows(const SpmvCSR *csr, const TpspmvPair *before, const TpspmvPair *pair)
{
  const PetscInt *j = csr->j + pair->start, *i = csr->j + before->start;
  int             same;

  if (pair->row != before->row + 1 || pair->length != before->length || j[0] != i[0] + 1) return 0;
  same = 1;
  for (int32_t k = 1; k < pair->length; k++) same &= j[k] == i[k] + 1;
  return same;
}

/* Marks the pairs of groups of consecutive ones, taken from the first on */
static void TpspmvFindConsecutive(const SpmvCSR *csr, const TpspmvStorage *b, TpspmvPair pair[], PetscInt n)
{
  for (PetscInt p = 1, streak = 1; p < n; p++) {
    streak = pair[p].length <= b->longest && TpspmvFollows(csr, &pair[p - 1], &pair[p]) ? streak + 1 : 1;
    if (streak < TPSPMV_LANES) continue;
    for (PetscInt l = 0; l < TPSPMV_LANES; l++) pair[p - l].consecutive = 1;
    streak = 0;
  }
}

static void TpspmvCountLengths(const SpmvCSR *csr, const TpspmvStorage *b, TpspmvPair pair[], PetscInt n, TpspmvLengths *l)
{
  int32_t longest = 0;

  TpspmvFindConsecutive(csr, b, pair, n);
  for (PetscInt p = 0; p < n; p++) longest = PetscMax(longest, (int32_t)PetscMin(pair[p].length, b->longest));
  memset(l->count, 0, sizeof(l->count[0]) * (size_t)(longest + 1));
  memset(l->consecutive, 0, sizeof(l->consecutive[0]) * (size_t)(longest + 1));
  for (PetscInt p = 0; p < n; p++) {
    if (pair[p].length <= b->longest) (pair[p].consecutive ? l->consecutive : l->count)[pair[p].length]++;
  }
  l->longest = longest;
}

/* Entries of pieces, at most */
static inline PetscInt TpspmvPieceLength(const TpspmvStorage *b)
{
  return TPSPMV_PIECE * b->longest;
}

/* Sizes of a chunk, in the members that will tell where it begins; how far its columns and those of its pieces reach */
static void TpspmvMeasureChunk(const SpmvCSR *csr, TpspmvStorage *b, TpspmvPair pair[], PetscInt n, TpspmvChunk *chunk,
                               int32_t *reach, int32_t *longreach)
{
  const PetscInt length = TpspmvPieceLength(b);
  TpspmvLengths  l;
  int32_t        low = INT32_MAX, high = 0;

  memset(chunk, 0, sizeof(*chunk));
  TpspmvCountLengths(csr, b, pair, n, &l);
  for (int32_t len = 1; len <= l.longest; len++) {
    chunk->entry += (int64_t)len * (l.count[len] + l.consecutive[len]);
    chunk->pairs += l.count[len] + l.consecutive[len];
    chunk->run += (l.count[len] >= TPSPMV_LANES) + (l.consecutive[len] > 0);
    chunk->ragged += l.count[len] % TPSPMV_LANES;
    b->nconsecutive += (size_t)len * (size_t)l.consecutive[len];
  }
  for (PetscInt p = 0; p < n; p++) {
    const PetscInt end = pair[p].start + pair[p].length;

    if (pair[p].length <= b->longest) {
      low  = PetscMin(low, TpspmvNumber(&b->cut, csr, pair[p].start));
      high = PetscMax(high, TpspmvNumber(&b->cut, csr, end - 1));
      continue;
    }
    for (PetscInt k = pair[p].start; k < end; k += length) {
      *longreach =
        PetscMax(*longreach, TpspmvNumber(&b->cut, csr, PetscMin(k + length, end) - 1) - TpspmvNumber(&b->cut, csr, k));
      chunk->piece++;
    }
  }
  chunk->base = low <= high ? low : 0;
  *reach      = PetscMax(*reach, high - chunk->base);
}

/* The largest alignment that fills little: entries beside the fill are as many as they are */
static void TpspmvAlign(TpspmvStorage *b, size_t nchunks)
{
  for (b->align = TPSPMV_ALIGN; b->align > 1; b->align /= 2) {
    b->nfill = 0;
    for (size_t c = 0; c < nchunks; c++) b->nfill += (size_t)(-b->chunk[c].entry & (b->align - 1));
    if (b->nfill * TPSPMV_FILL <= b->nentries + b->nlong) return;
  }
  b->nfill = 0;
}

/* From the sizes of chunks to where they begin */
static void TpspmvPlaceChunks(TpspmvStorage *b, size_t nchunks)
{
  TpspmvChunk sum = {0};

  for (size_t c = 0; c <= nchunks; c++) {
    const TpspmvChunk own = b->chunk[c];

    b->chunk[c]       = sum;
    b->chunk[c].base  = own.base;
    b->chunk[c].pairs = own.pairs;
    sum.entry += (own.entry + b->align - 1) / b->align * b->align;
    sum.pair += (own.pairs + b->align - 1) / b->align * b->align;
    sum.run += own.run;
    sum.ragged += own.ragged;
    sum.piece += own.piece;
  }
}

/* Tiles, slices, and the sizes of everything under a plan that is resolved; of the arrays only chunks. To be given to TpspmvDestroy(), after an error as well */
PetscErrorCode TpspmvMeasure(const SpmvCSR *csr, const SpmvPlan *plan, TpspmvStorage *b)
{
  const PetscInt *p = plan->value;
  SPMV_DESTROY_BY(TpspmvWalkDestroy)
  TpspmvWalk walk = {.csr = csr};
  size_t     nchunks;
  int32_t    reach = 0, longreach = 0;

  PetscFunctionBegin;
  b->cache    = p[TPSPMV_CACHE];
  b->longest  = p[TPSPMV_LONG];
  b->threads  = plan->threads;
  b->alone    = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->uncached);
  b->prefetch = (PetscBool)((size_t)csr->i[csr->m] * sizeof(PetscScalar) > (size_t)b->cache * 1024);
  PetscCall(TpspmvCutCreate(csr, (TpspmvChoice)p[TPSPMV_REMOVE], b->cache, p[TPSPMV_TILE], p[TPSPMV_SLICE], &b->cut));
  nchunks = (size_t)b->cut.ntiles * (size_t)b->cut.nslices;
  PetscCall(SpmvAlloc((nchunks + 1) * sizeof(TpspmvChunk), &b->chunk));
  PetscCall(TpspmvWalkCreate(csr, &b->cut, &walk));
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    TpspmvWalkSlice(&walk, s);
    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      TpspmvChunk *chunk = &b->chunk[(size_t)t * (size_t)b->cut.nslices + (size_t)s];

      TpspmvMeasureChunk(csr, b, walk.pair + walk.first[t], walk.first[t + 1] - walk.first[t], chunk, &reach, &longreach);
      b->nentries += (size_t)chunk->entry;
      b->npairs += (size_t)chunk->pairs;
      b->npieces += (size_t)chunk->piece;
    }
  }
  PetscCheck(b->npairs < INT32_MAX && b->npieces < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu pairs of a tile and a row are more than 32-bit indices count; use more processes, or set -mat_tpspmv_tile to a "
             "larger value",
             b->npairs);
  b->nlong      = (size_t)csr->i[csr->m] - b->nentries;
  b->narrow     = (PetscBool)(reach <= UINT16_MAX);
  b->narrowlong = (PetscBool)(longreach <= UINT16_MAX);
  memset(&b->chunk[nchunks], 0, sizeof(TpspmvChunk));
  TpspmvAlign(b, nchunks);
  TpspmvPlaceChunks(b, nchunks);
  b->nentries = (size_t)b->chunk[nchunks].entry;
  b->npairs   = (size_t)b->chunk[nchunks].pair;
  b->nruns    = (size_t)b->chunk[nchunks].run;
  b->nragged  = (size_t)b->chunk[nchunks].ragged;
  b->stream   = (PetscBool)(b->npairs > (size_t)SpmvMachineGet()->cache[2] / sizeof(PetscScalar));
  if (p[TPSPMV_STREAM] != TPSPMV_AUTO) b->stream = (PetscBool)(p[TPSPMV_STREAM] == TPSPMV_YES);
  if (TpspmvIsDirect(b) || b->align * sizeof(PetscScalar) % 64) b->stream = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvAllocate(TpspmvStorage *b)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc(b->nruns * sizeof(TpspmvRun), &b->run));
  PetscCall(SpmvAlloc(b->nragged, &b->ragged));
  PetscCall(SpmvAlloc((b->npieces + 1) * sizeof(TpspmvPiece), &b->piece));
  PetscCall(SpmvAlloc(b->npairs * sizeof(uint16_t), &b->row));
  PetscCall(SpmvAllocShared(b->nentries * TpspmvIndexSize(b->narrow), b->threads, &b->index));
  PetscCall(SpmvAlloc(b->nlong * TpspmvIndexSize(b->narrowlong), &b->longindex));
  PetscCall(SpmvAllocShared((b->nentries + b->nlong) * sizeof(PetscScalar), b->threads, &b->value));
  if (!TpspmvIsDirect(b)) PetscCall(SpmvAlloc(b->npairs * sizeof(PetscScalar), &b->partial));
  if (b->npieces) PetscCall(SpmvAlloc(b->npieces * sizeof(PetscScalar), &b->sum));
  if (b->cut.removed) PetscCall(SpmvAlloc((size_t)b->cut.nused * sizeof(PetscScalar), &b->packed));
  PetscCall(
    PetscMalloc4(b->threads + 1, &b->chunks, b->threads + 1, &b->pieces, b->threads + 1, &b->slices, b->threads + 1, &b->tiles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pairs of a chunk by falling length: their rows, in whole groups first, then what is left; and the pieces of long rows, with their length as `entry` */
static void TpspmvSetChunk(const SpmvCSR *csr, TpspmvStorage *b, TpspmvPair pair[], PetscInt n, PetscInt firstrow,
                           const TpspmvChunk *chunk)
{
  const int32_t length = (int32_t)TpspmvPieceLength(b);
  TpspmvRun    *run    = b->run + chunk->run;
  uint8_t      *ragged = b->ragged + chunk->ragged;
  TpspmvPiece  *piece  = b->piece + chunk->piece;
  uint16_t     *next[3][TPSPMV_LONG_MAX + 1],
    *row = b->row + chunk->pair; /* where the next row goes: in a consecutive group, another, or the rest */
  TpspmvLengths l;

  TpspmvCountLengths(csr, b, pair, n, &l);
  for (int32_t len = l.longest; len > 0; len--) {
    const int32_t groups[] = {l.count[len] / TPSPMV_LANES, l.consecutive[len] / TPSPMV_LANES};

    for (int consecutive = 1; consecutive >= 0; consecutive--) {
      next[consecutive][len] = row;
      row += groups[consecutive] * TPSPMV_LANES;
      if (groups[consecutive]) *run++ = (TpspmvRun){len, groups[consecutive], consecutive};
    }
  }
  for (int32_t len = l.longest; len > 0; len--) {
    next[2][len] = row;
    row += l.count[len] % TPSPMV_LANES;
    memset(ragged, len, (size_t)(row - next[2][len]));
    ragged += row - next[2][len];
    l.count[len] -= l.count[len] % TPSPMV_LANES;
  }
  memset(row, 0, sizeof(*row) * (size_t)(b->row + chunk[1].pair - row));
  for (PetscInt p = 0; p < n; p++) {
    const int32_t len = pair[p].length;

    if (len <= b->longest) *next[pair[p].consecutive ? 1 : l.count[len]-- > 0 ? 0 : 2][len]++ = (uint16_t)pair[p].row;
    else {
      for (int32_t k = 0; k < len; k += length) {
        const int32_t  entries = PetscMin(length, len - k), base = TpspmvNumber(&b->cut, csr, pair[p].start + k);
        const PetscInt last = pair[p].start + k + entries - 1;

        *piece++ = (TpspmvPiece){entries, (int32_t)firstrow + pair[p].row, base,
                                 TpspmvNumber(&b->cut, csr, last) - base == entries - 1, 0};
      }
    }
  }
}

/* Cuts n things into parts of about equal weight; weight[k] is that of the things before k */
static void TpspmvShare(const int64_t weight[], PetscInt n, PetscInt parts, PetscInt first[])
{
  for (PetscInt p = 0, k = 0; p < parts; p++) {
    while (k < n && weight[k] < (int64_t)((double)weight[n] * (double)p / (double)parts)) k++;
    first[p] = k;
  }
  first[parts] = n;
}

/* What each task does in each phase */
static PetscErrorCode TpspmvShareAll(TpspmvStorage *b)
{
  const PetscInt          nchunks = b->cut.ntiles * b->cut.nslices;
  SPMV_TEMPORARY int64_t *weight  = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(nchunks, (PetscInt)b->npieces) + 1, &weight));
  for (PetscInt c = 0; c <= nchunks; c++) weight[c] = b->chunk[c].entry + b->chunk[c].pair;
  TpspmvShare(weight, nchunks, b->threads, b->chunks);
  for (size_t p = 0; p <= b->npieces; p++) weight[p] = b->piece[p].entry;
  TpspmvShare(weight, (PetscInt)b->npieces, b->threads, b->pieces);
  for (PetscInt t = 0; t <= b->cut.ntiles; t++) {
    const TpspmvChunk *chunk = &b->chunk[t * b->cut.nslices];

    weight[t] = chunk->entry + b->piece[chunk->piece].entry;
  }
  TpspmvShare(weight, b->cut.ntiles, b->threads, b->tiles);
  weight[0] = 0;
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    weight[s + 1] = weight[s] + TpspmvSliceFirst(&b->cut, s + 1) - TpspmvSliceFirst(&b->cut, s);
    for (PetscInt t = 0; t < b->cut.ntiles; t++) weight[s + 1] += b->chunk[t * b->cut.nslices + s].pairs;
  }
  TpspmvShare(weight, b->cut.nslices, b->threads, b->slices);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  SPMV_DESTROY_BY(TpspmvWalkDestroy)
  TpspmvWalk     walk = {.csr = csr};
  TpspmvStorage *b;
  int64_t        entries = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage = b;
  PetscCall(TpspmvMeasure(csr, plan, b));
  plan->value[TPSPMV_STREAM] = b->stream ? TPSPMV_YES : TPSPMV_NO;
  PetscCall(TpspmvAllocate(b));
  PetscCall(TpspmvWalkCreate(csr, &b->cut, &walk));
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    TpspmvWalkSlice(&walk, s);
    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      const TpspmvChunk *chunk = &b->chunk[(size_t)t * (size_t)b->cut.nslices + (size_t)s];

      TpspmvSetChunk(csr, b, walk.pair + walk.first[t], walk.first[t + 1] - walk.first[t], TpspmvSliceFirst(&b->cut, s), chunk);
    }
  }
  for (size_t p = 0; p < b->npieces; p++) { /* from lengths to where pieces begin */
    const int64_t length = b->piece[p].entry;

    b->piece[p].entry = entries;
    entries += length;
  }
  b->piece[b->npieces] = (TpspmvPiece){.entry = entries};
  PetscCall(TpspmvShareAll(b));
  PetscCall(TpspmvSetIndices(csr, b));
  PetscCall(TpspmvSetValues(csr, b));
  PetscCall(TpspmvCutBuilt(&b->cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvDestroy(void **storage)
{
  TpspmvStorage *b = (TpspmvStorage *)*storage;

  PetscFunctionBegin;
  PetscCall(TpspmvCutDestroy(&b->cut));
  PetscCall(PetscFree4(b->chunks, b->pieces, b->slices, b->tiles));
  PetscCall(SpmvFree(&b->chunk));
  PetscCall(SpmvFree(&b->run));
  PetscCall(SpmvFree(&b->ragged));
  PetscCall(SpmvFree(&b->piece));
  PetscCall(SpmvFree(&b->row));
  PetscCall(SpmvFree(&b->index));
  PetscCall(SpmvFree(&b->longindex));
  PetscCall(SpmvFree(&b->value));
  PetscCall(SpmvFree(&b->partial));
  PetscCall(SpmvFree(&b->sum));
  PetscCall(SpmvFree(&b->packed));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
