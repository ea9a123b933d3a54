/*
  tpspmv_simd.c - the products of tpSpMV, compiled once for each instruction set of isas.h

  Each phase is a SpmvRun(): its tasks write different partial sums, rows or columns, and the next begins when all have
  ended. With one thread they are plain calls.

  Source: as tpspmv.c; algorithms 2 to 4. (Algorithm 4 says sliceA where it means sliceY, and i + 1 where it means j + 1.)
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
  PetscScalar         *own; /* [threads][nused] transposed, where tasks share tiles: what each adds up */
} TpspmvProduct;

/* Statement with `narrow` as a constant */
  #define NARROW(is, statement) \
    if (is) { \
      const PetscBool narrow = PETSC_TRUE; \
      statement; \
    } else { \
      const PetscBool narrow = PETSC_FALSE; \
      statement; \
    }

/* x without what is removed */
static void TpspmvPackTask(void *context, PetscInt t)
{
  const TpspmvProduct *p = (const TpspmvProduct *)context;
  const TpspmvStorage *b = p->b;

  for (size_t k = SpmvShare((size_t)b->cut.nused, t, b->threads), end = SpmvShare((size_t)b->cut.nused, t + 1, b->threads);
       k < end; k++)
    b->packed[k] = p->x[b->cut.column[k]];
}

/* Where the second phase adds to y, and, with one tile, where rows without a sum are */
SPMV_INLINE void TpspmvClear(const TpspmvStorage *b, PetscInt s, PetscScalar *y)
{
  const PetscInt first = TpspmvSliceFirst(&b->cut, s), end = TpspmvSliceFirst(&b->cut, s + 1);

  if (TpspmvIsDirect(b) && b->chunk[s].pairs == end - first) return;
  memset(y + first, 0, sizeof(PetscScalar) * (size_t)(end - first));
}

/* The chunks [first, end) */
SPMV_INLINE void TpspmvChunksMult(const TpspmvProduct *p, PetscInt first, PetscInt end, PetscBool narrow, TpspmvTarget target)
{
  const TpspmvStorage *b = p->b;

  for (PetscInt c = first; c < end; c++) {
    if (target == TPSPMV_SET) TpspmvClear(b, c, p->y);
    TpspmvChunkMult(b, &b->chunk[c], p->x,
                    target >= TPSPMV_KEEP ? b->partial + b->chunk[c].pair : p->y + TpspmvSliceFirst(&b->cut, c), narrow, target);
  }
}

/* The first phase: chunks, tile after tile, then pieces */
static void TpspmvFirstTask(void *context, PetscInt t)
{
  const TpspmvProduct *p     = (const TpspmvProduct *)context;
  const TpspmvStorage *b     = p->b;
  const PetscInt       first = b->chunks[t], end = b->chunks[t + 1];

  if (b->stream) {
    NARROW(b->narrow, TpspmvChunksMult(p, first, end, narrow, TPSPMV_PAST))
    SpmvStreamEnd();
  } else if (!TpspmvIsDirect(b)) {
    NARROW(b->narrow, TpspmvChunksMult(p, first, end, narrow, TPSPMV_KEEP))
  } else if (p->beta) {
    NARROW(b->narrow, TpspmvChunksMult(p, first, end, narrow, TPSPMV_ADD))
  } else {
    NARROW(b->narrow, TpspmvChunksMult(p, first, end, narrow, TPSPMV_SET))
  }
  for (PetscInt k = b->pieces[t]; k < b->pieces[t + 1]; k++) {
    NARROW(b->narrowlong, b->sum[k] = TpspmvPieceMult(b, &b->piece[k], p->x, narrow))
  }
}

/* Pair p of the chunk that the next tile has in the same slice, which is next and about as large, is asked for */
SPMV_INLINE void TpspmvPrefetchPairs(const TpspmvStorage *b, const TpspmvChunk *next, size_t p)
{
  SpmvPrefetch(b->partial + next->pair + p, 1);
  SpmvPrefetch(b->row + next->pair + p, 1);
}

/* Adds the partial sums of a chunk to its slice; a chunk has a row once */
SPMV_INLINE void TpspmvAccumulate(const TpspmvStorage *b, const TpspmvChunk *chunk, const TpspmvChunk *next, PetscScalar *y)
{
  const uint16_t    *row     = b->row + chunk->pair;
  const PetscScalar *partial = b->partial + chunk->pair;
  const size_t       n       = (size_t)chunk->pairs;
  size_t             p       = 0;

  for (; p + 8 <= n; p += 8) {
    TpspmvPrefetchPairs(b, next, p);
    Spmv8Scatter(y, row + p, Spmv8Add(Spmv8Gather(y, row + p), Spmv8Load(partial + p)));
  }
  for (; p < n; p++) y[row[p]] += partial[p];
}

/* The second phase: slice after slice, all tiles, then their pieces */
static void TpspmvSecondTask(void *context, PetscInt task)
{
  const TpspmvProduct *p = (const TpspmvProduct *)context;
  const TpspmvStorage *b = p->b;

  for (PetscInt s = b->slices[task]; s < b->slices[task + 1]; s++) {
    if (!TpspmvIsDirect(b) && !p->beta) TpspmvClear(b, s, p->y);
    for (PetscInt t = 0; t < b->cut.ntiles; t++) {
      const TpspmvChunk *chunk = &b->chunk[t * b->cut.nslices + s];

      if (!TpspmvIsDirect(b))
        TpspmvAccumulate(b, chunk, t + 1 < b->cut.ntiles ? chunk + b->cut.nslices : chunk, p->y + TpspmvSliceFirst(&b->cut, s));
      for (int32_t k = chunk->piece; k < chunk[1].piece; k++) p->y[b->piece[k].row] += b->sum[k];
    }
  }
}

static void TpspmvMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  TpspmvProduct        p = {b, x, y, beta, NULL};

  if (b->cut.removed) {
    SpmvRun(b->threads, TpspmvPackTask, &p);
    p.x = b->packed;
  }
  SpmvRun(b->threads, TpspmvFirstTask, &p);
  if (!TpspmvIsDirect(b) || b->npieces) SpmvRun(b->threads, TpspmvSecondTask, &p);
}

/* ---- transposed ---- */

/* The second phase turned around: every pair is given its x, slice after slice */
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

/* Adds what chunks [first, end) and pieces [firstpiece, endpiece) have for y */
static void TpspmvAddTo(const TpspmvProduct *p, PetscInt first, PetscInt end, PetscInt firstpiece, PetscInt endpiece,
                        PetscScalar *y)
{
  const TpspmvStorage *b = p->b;

  for (PetscInt c = first; c < end; c++) {
    const TpspmvChunk *chunk = &b->chunk[c];

    if (TpspmvIsDirect(b)) {
      NARROW(b->narrow, TpspmvChunkTranspose(b, chunk, p->x + TpspmvSliceFirst(&b->cut, c), y, PETSC_TRUE, narrow))
    } else {
      NARROW(b->narrow, TpspmvChunkTranspose(b, chunk, b->partial + chunk->pair, y, PETSC_FALSE, narrow))
    }
  }
  for (PetscInt k = firstpiece; k < endpiece; k++) {
    NARROW(b->narrowlong, TpspmvPieceTranspose(b, &b->piece[k], p->x[b->piece[k].row], y, narrow))
  }
}

/* The first phase turned around: each task has tiles of its own, whose part of y nobody else adds to */
static void TpspmvTilesTask(void *context, PetscInt task)
{
  const TpspmvProduct *p     = (const TpspmvProduct *)context;
  const TpspmvStorage *b     = p->b;
  const PetscInt       first = b->tiles[task], end = b->tiles[task + 1];

  if (!p->beta) memset(p->y + b->cut.tile[first], 0, sizeof(PetscScalar) * (size_t)(b->cut.tile[end] - b->cut.tile[first]));
  TpspmvAddTo(p, first * b->cut.nslices, end * b->cut.nslices, b->chunk[first * b->cut.nslices].piece,
              b->chunk[end * b->cut.nslices].piece, p->y);
}

/* With fewer tiles, each task adds up a vector of its own ... */
static void TpspmvOwnTask(void *context, PetscInt t)
{
  const TpspmvProduct *p = (const TpspmvProduct *)context;
  const TpspmvStorage *b = p->b;
  PetscScalar         *y = p->own + (size_t)t * (size_t)b->cut.nused;

  memset(y, 0, sizeof(PetscScalar) * (size_t)b->cut.nused);
  TpspmvAddTo(p, b->chunks[t], b->chunks[t + 1], b->pieces[t], b->pieces[t + 1], y);
}

/* ... and then all are added in the order of tasks */
static void TpspmvAddOwnTask(void *context, PetscInt t)
{
  const TpspmvProduct *p = (const TpspmvProduct *)context;
  const TpspmvStorage *b = p->b;

  for (size_t c = SpmvShare((size_t)b->cut.nused, t, b->threads), end = SpmvShare((size_t)b->cut.nused, t + 1, b->threads);
       c < end; c++) {
    PetscScalar sum = p->beta ? p->y[c] : 0;

    for (PetscInt own = 0; own < b->threads; own++) sum += p->own[(size_t)own * (size_t)b->cut.nused + c];
    p->y[c] = sum;
  }
}

static size_t TpspmvTransposeWork(const void *storage)
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;

  return TpspmvIsShared(b) ? (size_t)b->threads * (size_t)b->cut.nused : 0;
}

static void TpspmvMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  TpspmvProduct        p = {b, x, y, beta, work};

  if (b->cut.removed) {
    p.y    = b->packed;
    p.beta = PETSC_FALSE;
  }
  if (!TpspmvIsDirect(b)) SpmvRun(b->threads, TpspmvGiveTask, &p);
  if (TpspmvIsShared(b)) {
    SpmvRun(b->threads, TpspmvOwnTask, &p);
    SpmvRun(b->threads, TpspmvAddOwnTask, &p);
  } else SpmvRun(b->threads, TpspmvTilesTask, &p);
  if (!b->cut.removed) return;
  if (!beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->cut.n);
  for (PetscInt k = 0; k < b->cut.nused; k++) y[b->cut.column[k]] += b->packed[k];
}

const SpmvKernels SPMV_ISA_NAME(TpspmvKernels) = {
  .apply = TpspmvMult, .apply_transpose = TpspmvMultTranspose, .transpose_work = TpspmvTransposeWork};
#endif
