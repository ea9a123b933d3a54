/*
  tpspmv_steps.c - a tpSpMV storage for a device: chunks by steps, and where each row's partial sums are

  Source: as tpspmv.c; section 4.1 for chunks, 4.2 for the sums. A slice of blockY is the list of its rows' partial sums in the
  order of tiles, since it is not dense here.
*/
#include "../tpspmv_walk.h"
#include "tpspmv_device.h"

/* The size of a chunk; then its number among those that are not empty */
typedef struct {
  int64_t entries;
  int32_t pairs, steps, base, number;
} TpspmvSize;

/* Pairs that a row with so many entries in a tile makes, and entries of one of them */
static inline PetscInt TpspmvCuts(const TpspmvSteps *b, PetscInt length)
{
  return (length + b->longest - 1) / b->longest;
}

static inline PetscInt TpspmvCutLength(const TpspmvSteps *b, PetscInt length, PetscInt cut)
{
  return PetscMin(b->longest, length - cut * b->longest);
}

/* How many pairs of a chunk have each number of entries */
static void TpspmvCountCuts(const TpspmvSteps *b, const TpspmvPair pair[], PetscInt n, int32_t count[])
{
  memset(count, 0, sizeof(count[0]) * (TPSPMV_LONG_MAX + 1));
  for (PetscInt p = 0; p < n; p++) {
    for (PetscInt c = 0; c < TpspmvCuts(b, pair[p].length); c++) count[TpspmvCutLength(b, pair[p].length, c)]++;
  }
}

static void TpspmvMeasureSteps(const SpmvCSR *csr, TpspmvSteps *b, const TpspmvPair pair[], PetscInt n, PetscInt firstrow,
                               TpspmvSize *size, int32_t *reach)
{
  int32_t low = INT32_MAX, high = 0, count[TPSPMV_LONG_MAX + 1];

  *size = (TpspmvSize){0};
  TpspmvCountCuts(b, pair, n, count);
  for (int32_t len = 1; len <= b->longest; len++) {
    size->pairs += count[len];
    size->entries += (int64_t)len * count[len];
    if (count[len]) size->steps = len;
  }
  for (PetscInt p = 0; p < n; p++) {
    const PetscInt cuts = TpspmvCuts(b, pair[p].length);

    low  = PetscMin(low, TpspmvNumber(&b->cut, csr, pair[p].start));
    high = PetscMax(high, TpspmvNumber(&b->cut, csr, pair[p].start + pair[p].length - 1));
    if (!TpspmvCutIsDirect(&b->cut)) b->first[firstrow + pair[p].row + 1] += (int32_t)cuts;
    else if (cuts > 1) {
      b->nsums++;
      b->npartial += (size_t)cuts;
    }
  }
  if (n) {
    size->base = low;
    *reach     = PetscMax(*reach, high - low);
  }
}

/* From the sizes of chunks to where those that are not empty begin */
static PetscErrorCode TpspmvPlaceSteps(TpspmvSteps *b, TpspmvSize size[])
{
  TpspmvStepChunk next = {0};

  PetscFunctionBegin;
  for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++) size[c].number = size[c].pairs ? (int32_t)b->nchunks++ : -1;
  PetscCall(SpmvAlloc((b->nchunks + 1) * sizeof(TpspmvStepChunk), &b->chunk));
  for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++) {
    const PetscInt t = c / b->cut.nslices;

    if (size[c].number < 0) continue;
    next.tile                = b->cut.tile[t];
    next.tileend             = b->cut.tile[t + 1];
    next.base                = size[c].base;
    b->chunk[size[c].number] = next;
    next.pair += size[c].pairs;
    next.step += size[c].steps;
  }
  b->chunk[b->nchunks] = (TpspmvStepChunk){.pair = next.pair, .step = next.step};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiles, slices, and the sizes of everything; of the arrays only chunks and, with several tiles, where sums begin */
static PetscErrorCode TpspmvMeasureAll(const SpmvCSR *csr, const SpmvPlan *plan, TpspmvSteps *b, TpspmvSize **sizes)
{
  const PetscInt *p = plan->value;
  SPMV_DESTROY_BY(TpspmvWalkDestroy)
  TpspmvWalk walk  = {.csr = NULL};
  int32_t    reach = 0;

  PetscFunctionBegin;
  b->cache   = p[TPSPMV_DEVICE_CACHE];
  b->longest = p[TPSPMV_DEVICE_LONG];
  PetscCall(TpspmvCutCreate(csr, (TpspmvChoice)p[TPSPMV_DEVICE_REMOVE], b->cache, p[TPSPMV_DEVICE_TILE], p[TPSPMV_DEVICE_SLICE],
                            &b->cut));
  if (!TpspmvCutIsDirect(&b->cut)) {
    PetscCall(SpmvAlloc((size_t)(b->cut.m + 1) * sizeof(int32_t), &b->first));
    memset(b->first, 0, (size_t)(b->cut.m + 1) * sizeof(int32_t));
  }
  PetscCall(PetscMalloc1(b->cut.ntiles * b->cut.nslices, sizes));
  PetscCall(TpspmvWalkCreate(csr, &b->cut, &walk));
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    TpspmvWalkSlice(&walk, s);
    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      TpspmvSize *size = &(*sizes)[t * b->cut.nslices + s];

      TpspmvMeasureSteps(csr, b, walk.pair + walk.first[t], walk.first[t + 1] - walk.first[t], TpspmvSliceFirst(&b->cut, s), size,
                         &reach);
      b->npairs += (size_t)size->pairs;
      b->nsteps += (size_t)size->steps;
    }
  }
  PetscCheck(b->npairs < INT32_MAX && b->nsteps < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu pairs of a tile and a row are more than 32-bit indices count; use more processes, or set -mat_tpspmv_tile to a "
             "larger value",
             b->npairs);
  PetscCall(TpspmvPlaceSteps(b, *sizes));
  b->nentries = (size_t)csr->i[csr->m];
  b->narrow   = (PetscBool)(reach <= UINT16_MAX);
  for (PetscInt t = 0; t < b->cut.ntiles; t++) b->widest = PetscMax(b->widest, b->cut.tile[t + 1] - b->cut.tile[t]);
  for (PetscInt r = 0; r < b->cut.m; r++) b->nonempty += csr->i[r + 1] > csr->i[r];
  if (TpspmvCutIsDirect(&b->cut)) PetscFunctionReturn(PETSC_SUCCESS);
  b->nsums    = (size_t)b->cut.m;
  b->npartial = b->npairs;
  for (PetscInt r = 0; r < b->cut.m; r++) b->first[r + 1] += b->first[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStepsAllocate(TpspmvSteps *b)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc((b->nsteps + 1) * sizeof(uint32_t), &b->step));
  PetscCall(SpmvAlloc(b->nentries * TpspmvIndexSize(b->narrow), &b->index));
  PetscCall(SpmvAlloc(b->nentries * sizeof(PetscScalar), &b->value));
  PetscCall(SpmvAlloc(b->nentries * sizeof(uint32_t), &b->from));
  if (TpspmvCutIsDirect(&b->cut)) {
    PetscCall(SpmvAlloc(b->npairs * sizeof(int32_t), &b->target));
    PetscCall(SpmvAlloc(b->nsums * sizeof(int32_t), &b->sumrow));
    PetscCall(SpmvAlloc((b->nsums + 1) * sizeof(int32_t), &b->first));
  } else PetscCall(SpmvAlloc(b->npartial * sizeof(int32_t), &b->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* TpspmvFill: a storage while it is filled, slice after slice */
typedef struct {
  const SpmvCSR *csr;
  TpspmvSteps   *b;
  TpspmvSize    *size;  /* [ntiles nslices] of each chunk */
  uint32_t      *entry; /* [nchunks] where the entries of each that is not empty begin */
  int32_t       *next;  /* [height] several tiles: where the next partial sum of each row is listed */
  int32_t        sums;  /* one tile: rows, and partial sums, so far */
  int32_t        partial;
} TpspmvFill;

/* One pair: its entries, at place p of each step, and where its sum goes */
static void TpspmvFillPair(TpspmvFill *f, const TpspmvStepChunk *chunk, const TpspmvPair *pair, PetscInt firstrow, PetscInt cut,
                           int32_t p)
{
  TpspmvSteps   *b     = f->b;
  const PetscInt start = pair->start + cut * b->longest, row = firstrow + pair->row;

  for (PetscInt k = 0; k < TpspmvCutLength(b, pair->length, cut); k++) {
    const size_t  place = (size_t)b->step[chunk->step + k] + (size_t)p;
    const int32_t c     = TpspmvNumber(&b->cut, f->csr, start + k) - chunk->base;

    b->from[place] = (uint32_t)(start + k);
    if (b->narrow) ((uint16_t *)b->index)[place] = (uint16_t)c;
    else ((int32_t *)b->index)[place] = c;
  }
  if (!TpspmvCutIsDirect(&b->cut)) b->place[f->next[pair->row]++] = chunk->pair + p;
  else if (pair->length <= b->longest) b->target[chunk->pair + p] = (int32_t)row;
  else {
    if (!cut) {
      b->sumrow[f->sums]  = (int32_t)row;
      b->first[f->sums++] = f->partial;
    }
    b->target[chunk->pair + p] = -1 - f->partial++;
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
    for (PetscInt cut = 0; cut < TpspmvCuts(f->b, pair[p].length); cut++)
      TpspmvFillPair(f, chunk, &pair[p], firstrow, cut, next[TpspmvCutLength(f->b, pair[p].length, cut)]++);
  }
}

/* Where the steps of a chunk begin, the first one at an entry */
static void TpspmvFillSteps(const TpspmvSteps *b, const TpspmvStepChunk *chunk, const TpspmvPair pair[], PetscInt n,
                            uint32_t entry)
{
  int32_t count[TPSPMV_LONG_MAX + 1], left = chunk[1].pair - chunk->pair;

  TpspmvCountCuts(b, pair, n, count);
  for (int32_t k = 0; k < chunk[1].step - chunk->step; k++) {
    left -= count[k]; /* pairs with more than k entries */
    b->step[chunk->step + k] = entry;
    entry += (uint32_t)left;
  }
}

/* Where the entries of each chunk begin, from their sizes */
static PetscErrorCode TpspmvEntries(const TpspmvSteps *b, const TpspmvSize size[], uint32_t **entries)
{
  uint32_t entry = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->nchunks, entries));
  for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++) {
    if (size[c].number < 0) continue;
    (*entries)[size[c].number] = entry;
    entry += (uint32_t)size[c].entries;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All slices, and in each its tiles */
static PetscErrorCode TpspmvFillAll(TpspmvFill *fill)
{
  TpspmvSteps *b = fill->b;
  SPMV_DESTROY_BY(TpspmvWalkDestroy)
  TpspmvWalk walk = {.csr = NULL};

  PetscFunctionBegin;
  PetscCall(TpspmvWalkCreate(fill->csr, &b->cut, &walk));
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(&b->cut, s);

    TpspmvWalkSlice(&walk, s);
    if (!TpspmvCutIsDirect(&b->cut))
      PetscCall(PetscArraycpy(fill->next, b->first + first, TpspmvSliceFirst(&b->cut, s + 1) - first));
    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      const TpspmvPair *pair   = walk.pair + walk.first[t];
      const PetscInt    n      = walk.first[t + 1] - walk.first[t];
      const int32_t     number = fill->size[t * b->cut.nslices + s].number;

      if (number < 0) continue;
      TpspmvFillSteps(b, &b->chunk[number], pair, n, fill->entry[number]);
      TpspmvFillChunk(fill, &b->chunk[number], pair, n, first);
    }
  }
  b->step[b->nsteps] = (uint32_t)b->nentries;
  if (TpspmvCutIsDirect(&b->cut)) b->first[b->nsums] = fill->partial;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All but the values */
static PetscErrorCode TpspmvStepsMake(const SpmvPlan *plan, TpspmvFill *fill)
{
  TpspmvSteps *b = fill->b;

  PetscFunctionBegin;
  PetscCall(TpspmvMeasureAll(fill->csr, plan, b, &fill->size));
  PetscCall(TpspmvStepsAllocate(b));
  PetscCall(TpspmvEntries(b, fill->size, &fill->entry));
  PetscCall(PetscMalloc1(b->cut.height, &fill->next));
  PetscCall(TpspmvFillAll(fill));
  PetscCall(TpspmvCutBuilt(&b->cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStepsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  TpspmvFill     fill = {.csr = csr};
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscNew(&fill.b));
  *storage = fill.b;
  ierr     = TpspmvStepsMake(plan, &fill);
  PetscCall(PetscFree(fill.next));
  PetscCall(PetscFree(fill.entry));
  PetscCall(PetscFree(fill.size));
  PetscCall(ierr);
  PetscCall(TpspmvStepsSetValues(csr, fill.b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStepsSetValues(const SpmvCSR *csr, void *storage)
{
  TpspmvSteps *b = (TpspmvSteps *)storage;

  PetscFunctionBegin;
  for (size_t k = 0; k < b->nentries; k++) b->value[k] = csr->a[b->from[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStepsDestroy(void **storage)
{
  TpspmvSteps *b = (TpspmvSteps *)*storage;

  PetscFunctionBegin;
  PetscCall(TpspmvCutDestroy(&b->cut));
  PetscCall(SpmvFree(&b->chunk));
  PetscCall(SpmvFree(&b->step));
  PetscCall(SpmvFree(&b->target));
  PetscCall(SpmvFree(&b->sumrow));
  PetscCall(SpmvFree(&b->first));
  PetscCall(SpmvFree(&b->place));
  PetscCall(SpmvFree(&b->index));
  PetscCall(SpmvFree(&b->value));
  PetscCall(SpmvFree(&b->from));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
