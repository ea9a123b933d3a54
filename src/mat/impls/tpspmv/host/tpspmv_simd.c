/*
  tpspmv_simd.c - the products of tpSpMV, compiled once for each instruction set of isas.h

  Each phase is a SpmvRun(): its tasks write different partial sums, rows or columns, and the next begins when all have
  ended. With one thread they are plain calls.

  Source: as tpspmv.c; algorithms 2 to 4.
*/
#include "tpspmv_lanes.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(TpspmvKernels) = {.apply = NULL};
#else

/* What the tasks of a product share */
typedef struct {
  const TpspmvStorage *b;
  const PetscScalar   *x;
  PetscScalar         *y;
  PetscBool            beta;
  PetscScalar         *own; /* [threads][nused] transposed, with few tiles: what each task adds up */
} TpspmvProduct;

/* x without what is removed */
static void TpspmvPackTask(void *context, PetscInt t)
{
  const TpspmvProduct *p   = (const TpspmvProduct *)context;
  const TpspmvStorage *b   = p->b;
  const size_t         end = SpmvShare((size_t)b->cut.nused, t + 1, b->threads);

  for (size_t k = SpmvShare((size_t)b->cut.nused, t, b->threads); k < end; k++) b->packed[k] = p->x[b->cut.column[k]];
}

/* Where the second phase adds to y, and, with one tile, where rows without a sum are */
SPMV_INLINE void TpspmvClear(const TpspmvStorage *b, PetscInt s, PetscScalar *y)
{
  const PetscInt first = TpspmvSliceFirst(&b->cut, s), end = TpspmvSliceFirst(&b->cut, s + 1);

  if (TpspmvIsDirect(&b->cut) && b->chunk[s].pairs == end - first) return;
  memset(y + first, 0, sizeof(PetscScalar) * (size_t)(end - first));
}

/* The chunks of a task */
SPMV_INLINE void TpspmvChunksMult(const TpspmvProduct *p, PetscInt t, TpspmvTarget target, SpmvCoding coding)
{
  const TpspmvStorage *b = p->b;

  for (PetscInt c = b->chunks[t]; c < b->chunks[t + 1]; c++) {
    PetscScalar *y = target >= TPSPMV_KEEP ? b->partial + b->chunk[c].pair : p->y + TpspmvSliceFirst(&b->cut, c);

    if (target == TPSPMV_SET) TpspmvClear(b, c, p->y);
    if (b->narrow) TpspmvChunkMult(b, &b->chunk[c], p->x, y, PETSC_TRUE, target, coding);
    else TpspmvChunkMult(b, &b->chunk[c], p->x, y, PETSC_FALSE, target, coding);
  }
}

/* The segments of a task */
SPMV_INLINE void TpspmvSegmentsMult(const TpspmvProduct *p, PetscInt t, SpmvCoding coding)
{
  const TpspmvStorage *b = p->b;

  for (PetscInt k = b->segments[t]; k < b->segments[t + 1]; k++) {
    if (b->narrowlong) b->sum[k] = TpspmvSegmentMult(b, &b->segment[k], p->x, PETSC_TRUE, coding);
    else b->sum[k] = TpspmvSegmentMult(b, &b->segment[k], p->x, PETSC_FALSE, coding);
  }
}

/* The first phase: chunks, tile after tile, then segments */
SPMV_INLINE void TpspmvFirst(const TpspmvProduct *p, PetscInt t, SpmvCoding coding)
{
  const TpspmvStorage *b = p->b;

  if (b->stream && !SPMV_SIMD_PLAIN) { /* a vector that is an array is stored as any other */
    TpspmvChunksMult(p, t, TPSPMV_PAST, coding);
    SpmvStreamEnd();
  } else if (!TpspmvIsDirect(&b->cut)) TpspmvChunksMult(p, t, TPSPMV_KEEP, coding);
  else if (p->beta) TpspmvChunksMult(p, t, TPSPMV_ADD, coding);
  else TpspmvChunksMult(p, t, TPSPMV_SET, coding);
  TpspmvSegmentsMult(p, t, coding);
}

/* The same, with loops for how values are coded */
static void TpspmvFirstTask(void *context, PetscInt t)
{
  const TpspmvProduct *p      = (const TpspmvProduct *)context;
  const SpmvCoding     coding = p->b->value.coding;

  if (coding == SPMV_CODING_PLAIN) TpspmvFirst(p, t, SPMV_CODING_PLAIN);
  else if (coding == SPMV_CODING_ONE) TpspmvFirst(p, t, SPMV_CODING_ONE);
  else if (coding == SPMV_CODING_FEW) TpspmvFirst(p, t, SPMV_CODING_FEW);
  else if (coding == SPMV_CODING_MANY) TpspmvFirst(p, t, SPMV_CODING_MANY);
  else TpspmvFirst(p, t, SPMV_CODING_FLOAT);
}

/* Adds the partial sums of a chunk to its slice, and prefetches those of the next one, about as many; a chunk has a row once */
SPMV_INLINE void TpspmvAccumulate(const TpspmvStorage *b, const TpspmvChunk *chunk, const TpspmvChunk *next, PetscScalar *y)
{
  const uint16_t    *row     = b->row + chunk->pair;
  const PetscScalar *partial = b->partial + chunk->pair;
  const size_t       n       = (size_t)chunk->pairs;
  size_t             p       = 0;

  for (; p + 8 <= n; p += 8) {
    SpmvPrefetch(b->partial + next->pair + p, 1);
    SpmvPrefetch(b->row + next->pair + p, 1);
    Spmv8Scatter(y, row + p, Spmv8Add(Spmv8Gather(y, row + p), Spmv8Load(partial + p)));
  }
  for (; p < n; p++) y[row[p]] += partial[p];
}

/* The second phase: slice after slice, all tiles, then their segments */
static void TpspmvSecondTask(void *context, PetscInt task)
{
  const TpspmvProduct *p = (const TpspmvProduct *)context;
  const TpspmvStorage *b = p->b;

  for (PetscInt s = b->slices[task]; s < b->slices[task + 1]; s++) {
    if (!TpspmvIsDirect(&b->cut) && !p->beta) TpspmvClear(b, s, p->y);
    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      const TpspmvChunk *chunk = &b->chunk[t * b->cut.nslices + s];

      if (!TpspmvIsDirect(&b->cut))
        TpspmvAccumulate(b, chunk, t + 1 < b->cut.ntiles ? chunk + b->cut.nslices : chunk, p->y + TpspmvSliceFirst(&b->cut, s));
      for (int32_t k = chunk->segment; k < chunk[1].segment; k++) p->y[b->segment[k].row] += b->sum[k];
    }
  }
}

static void TpspmvMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  TpspmvProduct        p = {b, x, y, beta, NULL};

  if (b->cut.column) {
    SpmvRun(b->threads, TpspmvPackTask, &p);
    p.x = b->packed;
  }
  SpmvRun(b->threads, TpspmvFirstTask, &p);
  if (!TpspmvIsDirect(&b->cut) || b->nsegments) SpmvRun(b->threads, TpspmvSecondTask, &p);
}

/* Transposed, the second phase turned around: every pair is given its x, slice after slice */
static void TpspmvGiveTask(void *context, PetscInt task)
{
  const TpspmvProduct *p = (const TpspmvProduct *)context;
  const TpspmvStorage *b = p->b;

  for (PetscInt s = b->slices[task]; s < b->slices[task + 1]; s++) {
    const PetscScalar *x = p->x + TpspmvSliceFirst(&b->cut, s);

    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      const TpspmvChunk *chunk = &b->chunk[t * b->cut.nslices + s];
      const uint16_t    *row = b->row + chunk->pair, *end = row + chunk->pairs;
      PetscScalar       *partial = b->partial + chunk->pair;

      if (b->stream) {
        for (; row + 8 <= end; row += 8, partial += 8) Spmv8Stream(partial, Spmv8Gather(x, row));
      }
      for (; row < end; row++, partial++) *partial = x[*row];
    }
  }
  if (b->stream) SpmvStreamEnd();
}

/*
  The first phase turned around: each task has tiles of its own, whose part of y nobody else adds to. With few tiles it has the
  chunks and segments that it has in a product, and adds them up in a vector of its own ...
*/
static void TpspmvTilesTask(void *context, PetscInt t)
{
  const TpspmvProduct *p            = (const TpspmvProduct *)context;
  const TpspmvStorage *b            = p->b;
  const int            few          = TpspmvHasFewTiles(b);
  const PetscInt       first        = few ? b->chunks[t] : b->tiles[t] * b->cut.nslices;
  const PetscInt       end          = few ? b->chunks[t + 1] : b->tiles[t + 1] * b->cut.nslices;
  const PetscInt       firstsegment = few ? b->segments[t] : b->chunk[first].segment;
  const PetscInt       endsegment   = few ? b->segments[t + 1] : b->chunk[end].segment;
  const PetscInt       column = few ? 0 : b->cut.tile[b->tiles[t]], endcolumn = few ? b->cut.nused : b->cut.tile[b->tiles[t + 1]];
  PetscScalar         *y = few ? p->own + (size_t)t * (size_t)b->cut.nused : p->y;

  if (few || !p->beta) memset(y + column, 0, sizeof(PetscScalar) * (size_t)(endcolumn - column));
  for (PetscInt c = first; c < end; c++) {
    const TpspmvChunk *chunk = &b->chunk[c];
    const PetscScalar *x     = TpspmvIsDirect(&b->cut) ? p->x + TpspmvSliceFirst(&b->cut, c) : b->partial + chunk->pair;

    if (b->value.coding != SPMV_CODING_PLAIN) TpspmvChunkTranspose(b, chunk, x, y, b->narrow, b->value.coding);
    else if (b->narrow) TpspmvChunkTranspose(b, chunk, x, y, PETSC_TRUE, SPMV_CODING_PLAIN);
    else TpspmvChunkTranspose(b, chunk, x, y, PETSC_FALSE, SPMV_CODING_PLAIN);
  }
  for (const TpspmvSegment *k = b->segment + firstsegment; k < b->segment + endsegment; k++) {
    if (b->value.coding != SPMV_CODING_PLAIN) TpspmvSegmentTranspose(b, k, p->x[k->row], y, b->narrowlong, b->value.coding);
    else if (b->narrowlong) TpspmvSegmentTranspose(b, k, p->x[k->row], y, PETSC_TRUE, SPMV_CODING_PLAIN);
    else TpspmvSegmentTranspose(b, k, p->x[k->row], y, PETSC_FALSE, SPMV_CODING_PLAIN);
  }
}

/* ... and then all are added in the order of tasks */
static void TpspmvAddOwnTask(void *context, PetscInt t)
{
  const TpspmvProduct *p   = (const TpspmvProduct *)context;
  const TpspmvStorage *b   = p->b;
  const size_t         end = SpmvShare((size_t)b->cut.nused, t + 1, b->threads);

  for (size_t c = SpmvShare((size_t)b->cut.nused, t, b->threads); c < end; c++) {
    PetscScalar sum = p->beta ? p->y[c] : 0;

    for (PetscInt own = 0; own < b->threads; own++) sum += p->own[(size_t)own * (size_t)b->cut.nused + c];
    p->y[c] = sum;
  }
}

static size_t TpspmvTransposeWork(const void *storage)
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;

  return TpspmvHasFewTiles(b) ? (size_t)b->threads * (size_t)b->cut.nused : 0;
}

static void TpspmvMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  TpspmvProduct        p = {b, x, y, beta, work};

  if (b->cut.column) {
    p.y    = b->packed;
    p.beta = PETSC_FALSE;
  }
  if (!TpspmvIsDirect(&b->cut)) SpmvRun(b->threads, TpspmvGiveTask, &p);
  SpmvRun(b->threads, TpspmvTilesTask, &p);
  if (TpspmvHasFewTiles(b)) SpmvRun(b->threads, TpspmvAddOwnTask, &p);
  if (!b->cut.column) return;
  if (!beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->cut.n);
  for (PetscInt k = 0; k < b->cut.nused; k++) y[b->cut.column[k]] += b->packed[k];
}

const SpmvKernels SPMV_ISA_NAME(TpspmvKernels) = {
  .apply = TpspmvMult, .apply_transpose = TpspmvMultTranspose, .transpose_work = TpspmvTransposeWork};
#endif
