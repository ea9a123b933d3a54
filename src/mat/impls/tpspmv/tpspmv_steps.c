/*
  tpspmv_steps.c - a tpSpMV storage for a device: chunks by steps, and where each row's partial sums are

  Source: as tpspmv.c; section 4.1 for chunks, 4.2 for the sums. A slice of blockY is the list of its rows' partial sums in the
  order of tiles, since it is not dense here.
*/
#include "tpspmv_walk.h"

/* The size of a chunk; then its number among those that are not empty */
typedef struct {
  int64_t entries;
  int32_t pairs, steps, base, number;
} TpspmvSize;

/* Pairs that a row with so many entries in a tile makes, and entries of one of them */
static inline PetscInt TpspmvCuts(const TpspmvStorage *b, PetscInt length)
{
  return (length + b->longest - 1) / b->longest;
}

static inline PetscInt TpspmvCut(const TpspmvStorage *b, PetscInt length, PetscInt cut)
{
  return PetscMin(b->longest, length - cut * b->longest);
}

/* How many pairs of a chunk have each number of entries */
static void TpspmvCountCuts(const TpspmvStorage *b, const TpspmvPair pair[], PetscInt n, int32_t count[])
{
  memset(count, 0, sizeof(count[0]) * (TPSPMV_LONG_MAX + 1));
  for (PetscInt p = 0; p < n; p++) {
    for (PetscInt c = 0; c < TpspmvCuts(b, pair[p].length); c++) count[TpspmvCut(b, pair[p].length, c)]++;
  }
}

static void TpspmvMeasureSteps(const SpmvCSR *csr, TpspmvStorage *b, const TpspmvPair pair[], PetscInt n, PetscInt firstrow, TpspmvSize *size, int32_t *reach)
{
  TpspmvSteps *d   = &b->steps;
  int32_t      low = INT32_MAX, high = 0, count[TPSPMV_LONG_MAX + 1];

  *size = (TpspmvSize){0};
  TpspmvCountCuts(b, pair, n, count);
  for (int32_t len = 1; len <= b->longest; len++) {
    size->pairs += count[len];
    size->entries += (int64_t)len * count[len];
    if (count[len]) size->steps = len;
  }
  for (PetscInt p = 0; p < n; p++) {
    const PetscInt cuts = TpspmvCuts(b, pair[p].length);

    low  = PetscMin(low, TpspmvNumber(b, csr, pair[p].start));
    high = PetscMax(high, TpspmvNumber(b, csr, pair[p].start + pair[p].length - 1));
    if (!TpspmvIsDirect(b)) d->first[firstrow + pair[p].row + 1] += (int32_t)cuts;
    else if (cuts > 1) {
      d->nsums++;
      d->npartial += (size_t)cuts;
    }
  }
  if (n) {
    size->base = low;
    *reach     = PetscMax(*reach, high - low);
  }
}

/* From the sizes of chunks to where those that are not empty begin */
static PetscErrorCode TpspmvPlaceSteps(TpspmvStorage *b, TpspmvSize size[])
{
  TpspmvSteps    *d    = &b->steps;
  TpspmvStepChunk next = {0};

  PetscFunctionBegin;
  for (PetscInt c = 0; c < b->ntiles * b->nslices; c++) size[c].number = size[c].pairs ? (int32_t)d->nchunks++ : -1;
  PetscCall(SpmvAlloc((d->nchunks + 1) * sizeof(TpspmvStepChunk), &d->chunk));
  for (PetscInt c = 0; c < b->ntiles * b->nslices; c++) {
    const PetscInt t = c / b->nslices;

    if (size[c].number < 0) continue;
    next.tile                = b->tile[t];
    next.tileend             = b->tile[t + 1];
    next.base                = size[c].base;
    d->chunk[size[c].number] = next;
    next.pair += size[c].pairs;
    next.step += size[c].steps;
  }
  d->chunk[d->nchunks] = (TpspmvStepChunk){.pair = next.pair, .step = next.step};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiles, slices, and the sizes of everything; of the arrays only chunks and, with several tiles, where sums begin */
static PetscErrorCode TpspmvMeasureAll(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b, TpspmvSize **sizes)
{
  TpspmvSteps *d = &b->steps;
  TpspmvWalk   walk;
  int32_t      reach = 0;

  PetscFunctionBegin;
  PetscCall(TpspmvLayOut(csr, plan, b));
  PetscCheck((PetscInt64)csr->i[csr->m] < UINT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " nonzeros are more than the 32-bit integers of device kernels count; use more processes or -mat_spmv_backend host", csr->i[csr->m]);
  PetscCheck(plan->value[TPSPMV_STREAM] != TPSPMV_YES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Partial sums that go past the cache, yes, are for the host; set -mat_tpspmv_stream to auto or no for a device");
  plan->value[TPSPMV_STREAM] = TPSPMV_NO;
  b->ondevice                = PETSC_TRUE;
  if (!TpspmvIsDirect(b)) {
    PetscCall(SpmvAlloc((size_t)(b->m + 1) * sizeof(int32_t), &d->first));
    memset(d->first, 0, (size_t)(b->m + 1) * sizeof(int32_t));
  }
  PetscCall(PetscMalloc1(b->ntiles * b->nslices, sizes));
  PetscCall(TpspmvWalkCreate(csr, b, &walk));
  for (PetscInt s = 0; s < b->nslices; s++) {
    TpspmvWalkSlice(&walk, s);
    for (PetscInt t = 0; t < b->ntiles; t++) {
      TpspmvSize *size = &(*sizes)[t * b->nslices + s];

      TpspmvMeasureSteps(csr, b, walk.pair + walk.first[t], walk.first[t + 1] - walk.first[t], TpspmvSliceFirst(b, s), size, &reach);
      b->npairs += (size_t)size->pairs;
      d->nsteps += (size_t)size->steps;
    }
  }
  PetscCall(TpspmvWalkDestroy(&walk));
  PetscCheck(b->npairs < INT32_MAX && d->nsteps < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu pairs of a tile and a row are more than 32-bit indices count; use more processes, or set -mat_tpspmv_tile to a larger value", b->npairs);
  PetscCall(TpspmvPlaceSteps(b, *sizes));
  b->nentries = (size_t)csr->i[csr->m];
  b->narrow   = (PetscBool)(reach <= UINT16_MAX);
  for (PetscInt t = 0; t < b->ntiles; t++) d->widest = PetscMax(d->widest, b->tile[t + 1] - b->tile[t]);
  for (PetscInt r = 0; r < b->m; r++) d->nonempty += csr->i[r + 1] > csr->i[r];
  if (TpspmvIsDirect(b)) PetscFunctionReturn(PETSC_SUCCESS);
  d->nsums    = (size_t)b->m;
  d->npartial = b->npairs;
  for (PetscInt r = 0; r < b->m; r++) d->first[r + 1] += d->first[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStepsPredict(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b)
{
  TpspmvSize *sizes;

  PetscFunctionBegin;
  PetscCall(TpspmvMeasureAll(csr, plan, b, &sizes));
  PetscCall(PetscFree(sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStepsAllocate(TpspmvStorage *b)
{
  TpspmvSteps *d = &b->steps;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((d->nsteps + 1) * sizeof(uint32_t), &d->step));
  PetscCall(SpmvAlloc(b->nentries * TpspmvIndexSize(b->narrow), &b->index));
  PetscCall(SpmvAlloc(b->nentries * sizeof(PetscScalar), &b->value));
  PetscCall(SpmvAlloc(b->nentries * sizeof(uint32_t), &d->from));
  if (TpspmvIsDirect(b)) {
    PetscCall(SpmvAlloc(b->npairs * sizeof(int32_t), &d->target));
    PetscCall(SpmvAlloc(d->nsums * sizeof(int32_t), &d->sumrow));
    PetscCall(SpmvAlloc((d->nsums + 1) * sizeof(int32_t), &d->first));
  } else PetscCall(SpmvAlloc(d->npartial * sizeof(int32_t), &d->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* TpspmvFill: a storage while it is filled, slice after slice */
typedef struct {
  const SpmvCSR *csr;
  TpspmvStorage *b;
  int32_t       *next; /* [height] several tiles: where the next partial sum of each row is listed */
  int32_t        sums; /* one tile: rows, and partial sums, so far */
  int32_t        partial;
} TpspmvFill;

/* One pair: its entries, at place p of each step, and where its sum goes */
static void TpspmvFillPair(TpspmvFill *f, const TpspmvStepChunk *chunk, const TpspmvPair *pair, PetscInt firstrow, PetscInt cut, int32_t p)
{
  TpspmvStorage *b     = f->b;
  TpspmvSteps   *d     = &b->steps;
  const PetscInt start = pair->start + cut * b->longest, row = firstrow + pair->row;

  for (PetscInt k = 0; k < TpspmvCut(b, pair->length, cut); k++) {
    const size_t  place = (size_t)d->step[chunk->step + k] + (size_t)p;
    const int32_t c     = TpspmvNumber(b, f->csr, start + k) - chunk->base;

    d->from[place] = (uint32_t)(start + k);
    if (b->narrow) ((uint16_t *)b->index)[place] = (uint16_t)c;
    else ((int32_t *)b->index)[place] = c;
  }
  if (!TpspmvIsDirect(b)) d->place[f->next[pair->row]++] = chunk->pair + p;
  else if (pair->length <= b->longest) d->target[chunk->pair + p] = (int32_t)row;
  else {
    if (!cut) {
      d->sumrow[f->sums]  = (int32_t)row;
      d->first[f->sums++] = f->partial;
    }
    d->target[chunk->pair + p] = -1 - f->partial++;
  }
}

static void TpspmvFillChunk(TpspmvFill *f, const TpspmvStepChunk *chunk, const TpspmvPair pair[], PetscInt n, PetscInt firstrow)
{
  int32_t count[TPSPMV_LONG_MAX + 1], next[TPSPMV_LONG_MAX + 1], before = 0;

  TpspmvCountCuts(f->b, pair, n, count);
  for (PetscInt len = f->b->longest; len > 0; len--) {
    next[len] = before;
    before += count[len];
  }
  for (PetscInt p = 0; p < n; p++) {
    for (PetscInt cut = 0; cut < TpspmvCuts(f->b, pair[p].length); cut++) TpspmvFillPair(f, chunk, &pair[p], firstrow, cut, next[TpspmvCut(f->b, pair[p].length, cut)]++);
  }
}

/* Where the steps of a chunk begin, the first one at an entry */
static void TpspmvFillSteps(const TpspmvStorage *b, const TpspmvStepChunk *chunk, const TpspmvPair pair[], PetscInt n, uint32_t entry)
{
  int32_t count[TPSPMV_LONG_MAX + 1], left = chunk[1].pair - chunk->pair;

  TpspmvCountCuts(b, pair, n, count);
  for (int32_t k = 0; k < chunk[1].step - chunk->step; k++) {
    left -= count[k]; /* pairs with more than k entries */
    b->steps.step[chunk->step + k] = entry;
    entry += (uint32_t)left;
  }
}

/* Where the entries of each chunk begin, from their sizes */
static PetscErrorCode TpspmvEntries(const TpspmvStorage *b, const TpspmvSize size[], uint32_t **entries)
{
  uint32_t entry = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->steps.nchunks, entries));
  for (PetscInt c = 0; c < b->ntiles * b->nslices; c++) {
    if (size[c].number < 0) continue;
    (*entries)[size[c].number] = entry;
    entry += (uint32_t)size[c].entries;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  TpspmvStepsBuild - a storage for a device, but for its values

  Input Parameter:
. csr - the matrix

  Input/Output Parameters:
+ plan - what is left open is replaced by what was built
- b    - zeros on entry
*/
PetscErrorCode TpspmvStepsBuild(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b)
{
  TpspmvSteps *d    = &b->steps;
  TpspmvFill   fill = {.csr = csr, .b = b};
  TpspmvSize  *sizes;
  TpspmvWalk   walk;
  uint32_t    *entries;

  PetscFunctionBegin;
  PetscCall(TpspmvMeasureAll(csr, plan, b, &sizes));
  PetscCall(TpspmvStepsAllocate(b));
  PetscCall(TpspmvEntries(b, sizes, &entries));
  PetscCall(PetscMalloc1(b->height, &fill.next));
  PetscCall(TpspmvWalkCreate(csr, b, &walk));
  for (PetscInt s = 0; s < b->nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(b, s);

    TpspmvWalkSlice(&walk, s);
    if (!TpspmvIsDirect(b)) PetscCall(PetscArraycpy(fill.next, d->first + first, TpspmvSliceFirst(b, s + 1) - first));
    for (PetscInt t = 0; t < b->ntiles; t++) {
      const TpspmvPair *pair   = walk.pair + walk.first[t];
      const PetscInt    n      = walk.first[t + 1] - walk.first[t];
      const int32_t     number = sizes[t * b->nslices + s].number;

      if (number < 0) continue;
      TpspmvFillSteps(b, &d->chunk[number], pair, n, entries[number]);
      TpspmvFillChunk(&fill, &d->chunk[number], pair, n, first);
    }
  }
  d->step[d->nsteps] = (uint32_t)b->nentries;
  if (TpspmvIsDirect(b)) d->first[d->nsums] = fill.partial;
  PetscCall(TpspmvWalkDestroy(&walk));
  PetscCall(PetscFree(fill.next));
  PetscCall(PetscFree(entries));
  PetscCall(PetscFree(sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void TpspmvStepsSetValues(const SpmvCSR *csr, TpspmvStorage *b)
{
  for (size_t k = 0; k < b->nentries; k++) b->value[k] = csr->a[b->steps.from[k]];
}

PetscErrorCode TpspmvStepsReset(TpspmvSteps *d)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&d->chunk));
  PetscCall(SpmvFree(&d->step));
  PetscCall(SpmvFree(&d->target));
  PetscCall(SpmvFree(&d->sumrow));
  PetscCall(SpmvFree(&d->first));
  PetscCall(SpmvFree(&d->place));
  PetscCall(SpmvFree(&d->from));
  PetscFunctionReturn(PETSC_SUCCESS);
}
