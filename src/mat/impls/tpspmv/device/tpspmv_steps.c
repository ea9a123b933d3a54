/*
  tpspmv_steps.c - a tpSpMV storage for a device: chunks by steps, and where each row's partial sums are

  Source: as tpspmv.c; section 4.1 for chunks, 4.2 for the sums. A slice of blockY is the list of its rows' partial sums in the
  order of tiles, since it is not dense here.
*/
#include "tpspmv_device.h"

/* A pass over all chunks */
typedef struct {
  const SpmvCSR *csr;
  TpspmvSteps   *b;
  int32_t        reach; /* the largest column that is relative to a chunk's base */
  int32_t        sums;  /* one tile: rows of several pairs, and their partial sums, so far */
  int32_t        partial;
} TpspmvPass;

/* Sizes of a chunk, in the members that will tell where it begins, entries in `tile`; how many partial sums rows have */
static void TpspmvMeasureSteps(void *context, PetscInt c, PetscInt firstrow, TpspmvPair pair[], PetscInt n)
{
  TpspmvPass      *pass  = (TpspmvPass *)context;
  TpspmvSteps     *b     = pass->b;
  TpspmvStepChunk *chunk = &b->chunk[c];
  int32_t          low = INT32_MAX, high = 0;

  *chunk = (TpspmvStepChunk){0};
  if (!n) return;
  for (PetscInt p = 0; p < n; p++) {
    chunk->step = PetscMax(chunk->step, pair[p].length);
    chunk->tile += pair[p].length;
    low  = PetscMin(low, TpspmvNumber(&b->cut, pass->csr, pair[p].start));
    high = PetscMax(high, TpspmvNumber(&b->cut, pass->csr, pair[p].start + pair[p].length - 1));
    if (!TpspmvIsDirect(&b->cut)) b->first[firstrow + pair[p].row + 2]++;
    else {
      b->nsums += pair[p].part == 1;
      b->npartial += pair[p].part > 0;
    }
  }
  chunk->pair = (int32_t)n;
  b->npairs += (size_t)chunk->pair;
  b->nsteps += (size_t)chunk->step;
  chunk->base = low;
  pass->reach = PetscMax(pass->reach, high - low);
}

/* From the sizes of chunks to where they begin */
static void TpspmvPlaceSteps(TpspmvSteps *b)
{
  TpspmvStepChunk sum   = {0};
  uint32_t        entry = 0;

  for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++) {
    const TpspmvStepChunk own  = b->chunk[c];
    const int32_t        *tile = &b->cut.tile[c / b->cut.nslices];

    b->chunk[c]       = (TpspmvStepChunk){tile[0], tile[1], own.base, sum.pair, sum.step};
    b->step[sum.step] = entry;
    entry += (uint32_t)own.tile;
    sum.pair += own.pair;
    sum.step += own.step;
  }
  b->chunk[b->cut.ntiles * b->cut.nslices] = sum;
  b->step[sum.step]                        = entry;
}

/* Tiles, slices, and the sizes of everything; of the arrays only chunks and, with several tiles, where sums begin */
static PetscErrorCode TpspmvMeasureAll(const SpmvPlan *plan, TpspmvPass *pass)
{
  const SpmvCSR *csr     = pass->csr;
  const PetscInt longest = plan->value[TPSPMV_LONG];
  TpspmvSteps   *b       = pass->b;
  size_t         nchunks;

  PetscFunctionBegin;
  PetscCall(TpspmvCutCreate(csr, plan->value, &b->cut));
  nchunks = (size_t)b->cut.ntiles * (size_t)b->cut.nslices;
  if (!TpspmvIsDirect(&b->cut)) {
    PetscCall(SpmvAlloc((size_t)(b->cut.m + 2) * sizeof(int32_t), &b->first));
    memset(b->first, 0, (size_t)(b->cut.m + 2) * sizeof(int32_t));
  }
  PetscCall(SpmvAlloc((nchunks + 1) * sizeof(TpspmvStepChunk), &b->chunk));
  PetscCall(TpspmvWalk(csr, &b->cut, longest, longest, TpspmvMeasureSteps, pass));
  PetscCheck(b->npairs < INT32_MAX && b->nsteps < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, TPSPMV_TOO_MANY_PAIRS,
             b->npairs);
  b->nentries = (size_t)csr->i[csr->m];
  b->narrow   = (PetscBool)(pass->reach <= UINT16_MAX);
  for (PetscInt t = 0; t < b->cut.ntiles; t++) b->widest = PetscMax(b->widest, b->cut.tile[t + 1] - b->cut.tile[t]);
  if (TpspmvIsDirect(&b->cut)) PetscFunctionReturn(PETSC_SUCCESS);
  b->nsums    = (size_t)b->cut.m;
  b->npartial = b->npairs;
  for (PetscInt r = 1; r <= b->cut.m; r++) b->first[r] += b->first[r - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pair at place `at` of a chunk: its entries, at the same place of each step, and where its sum goes */
static void TpspmvFillPair(TpspmvPass *pass, const TpspmvStepChunk *chunk, PetscInt row, const TpspmvPair *pair, int32_t at)
{
  TpspmvSteps *b = pass->b;

  for (PetscInt k = 0; k < pair->length; k++) {
    const size_t place = (size_t)b->step[chunk->step + k] + (size_t)at;

    b->from[place] = (uint32_t)(pair->start + k);
    TpspmvSetIndex(b->index, b->narrow, place, TpspmvNumber(&b->cut, pass->csr, pair->start + k) - chunk->base);
  }
  if (!TpspmvIsDirect(&b->cut)) {
    b->place[b->first[row + 1]++] = chunk->pair + at;
    return;
  }
  if (pair->part == 1) {
    b->sumrow[pass->sums]  = (int32_t)row;
    b->first[pass->sums++] = pass->partial;
  }
  b->target[chunk->pair + at] = pair->part ? -1 - pass->partial++ : (int32_t)row;
}

/* The steps of a chunk, the first of which is known, and its pairs */
static void TpspmvFillChunk(void *context, PetscInt c, PetscInt firstrow, TpspmvPair pair[], PetscInt n)
{
  TpspmvPass            *pass  = (TpspmvPass *)context;
  TpspmvSteps           *b     = pass->b;
  const TpspmvStepChunk *chunk = &b->chunk[c];
  int32_t                next[TPSPMV_LONG_MAX + 1]; /* where the next pair of each length goes: behind the longer ones */

  memset(next, 0, sizeof(next));
  for (PetscInt p = 0; p < n; p++) next[pair[p].length - 1]++;
  for (PetscInt length = TPSPMV_LONG_MAX; length > 0; length--) next[length - 1] += next[length];
  for (int32_t k = 0; chunk->step + k + 1 < chunk[1].step; k++)
    b->step[chunk->step + k + 1] = b->step[chunk->step + k] + (uint32_t)next[k];
  for (PetscInt p = 0; p < n; p++) TpspmvFillPair(pass, chunk, firstrow + pair[p].row, &pair[p], next[pair[p].length]++);
}

/* Leaves out chunks without pairs: those that begin where the next does */
static void TpspmvDropEmpty(TpspmvSteps *b)
{
  const PetscInt n = b->cut.ntiles * b->cut.nslices;

  for (PetscInt c = 0; c < n; c++) {
    if (b->chunk[c + 1].pair > b->chunk[c].pair) b->chunk[b->nchunks++] = b->chunk[c];
  }
  b->chunk[b->nchunks] = b->chunk[n];
}

PetscErrorCode TpspmvStepsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  TpspmvSteps *b;
  TpspmvPass   pass = {.csr = csr};

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage = pass.b = b;
  PetscCall(TpspmvMeasureAll(plan, &pass));
  PetscCall(SpmvAlloc((b->nsteps + 1) * sizeof(uint32_t), &b->step));
  PetscCall(SpmvAlloc(b->nentries * TpspmvIndexSize(b->narrow), &b->index));
  PetscCall(SpmvAlloc(b->nentries * sizeof(PetscScalar), &b->value));
  PetscCall(SpmvAlloc(b->nentries * sizeof(uint32_t), &b->from));
  if (TpspmvIsDirect(&b->cut)) {
    PetscCall(SpmvAlloc(b->npairs * sizeof(int32_t), &b->target));
    PetscCall(SpmvAlloc(b->nsums * sizeof(int32_t), &b->sumrow));
    PetscCall(SpmvAlloc((b->nsums + 1) * sizeof(int32_t), &b->first));
  } else PetscCall(SpmvAlloc(b->npartial * sizeof(int32_t), &b->place));
  TpspmvPlaceSteps(b);
  PetscCall(TpspmvWalk(csr, &b->cut, plan->value[TPSPMV_LONG], plan->value[TPSPMV_LONG], TpspmvFillChunk, &pass));
  if (TpspmvIsDirect(&b->cut)) b->first[b->nsums] = pass.partial;
  TpspmvDropEmpty(b);
  PetscCall(TpspmvCutBuilt(&b->cut));
  PetscCall(TpspmvStepsSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStepsSetValues(const SpmvCSR *csr, void *storage)
{
  TpspmvSteps *b = (TpspmvSteps *)storage;

  PetscFunctionBegin;
  for (size_t k = 0; k < b->nentries; k++) b->value[k] = csr->a[b->from[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStepsDestroy(void *storage)
{
  PetscFunctionBegin;
  PetscCall(TpspmvCutDestroy(&((TpspmvSteps *)storage)->cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}
