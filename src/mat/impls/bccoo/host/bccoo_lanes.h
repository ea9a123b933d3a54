/*
  bccoo_lanes.h - products of eight tiles at a time: a lane holds a tile, so that 1x1 blocks, too, fill a vector

  A step multiplies the blocks of all lanes. All its running sums are kept, and the ones at row stops are picked
  afterwards by the list of where they are: nothing in a step depends on where rows end but a mask.

  Section 3.2.2, strategy 3: there each work item writes its sums, and algorithm 3 adds the last partial sum of a tile to
  the first result of the next: here BccooCarry(), in the order of the tiles.
*/
#pragma once
#include "bccoo_vectors.h"

/*
  Out of cache, values and columns are prefetched, but for blocks so large that the hardware does it in time. On Zen 4 a 27-point
  stencil takes 0.68 ns an entry without, 0.54 with values prefetched, 0.46 with columns as well; one in cache 0.35 with and 0.32
  without. On Zen 3 3 x 3 blocks take 3.60 ms with and 3.15 without, 1 x 1 blocks 3.86 and 4.35
*/
#define BCCOO_PREFETCH_ENTRIES 3     /* of a block, at most */
#define BCCOO_PREFETCH_COLUMNS 1024  /* columns between those in use and those asked for */
#define BCCOO_PREFETCH_VALUES  16384 /* bytes */

/* BccooGroup: eight tiles; with what a step needs, which the compiler would look up again after each store of a vector */
typedef struct {
  const uint8_t  *flags; /* [n] of each step: a mask of the lanes that do not stop there */
  PetscBool       prefetch;
  const char     *column; /* what to prefetch is so many bytes further a step */
  size_t          columns;
  size_t          t;     /* first tile */
  size_t          n;     /* steps */
  size_t          q;     /* where its first block is stored */
  size_t          first; /* number of the first block row that ends in it */
  size_t          rows;  /* block rows that end in it */
  const uint16_t *stop;  /* [rows] where they end: places after q */
} BccooGroup;

SPMV_INLINE BccooGroup BccooGroupOf(const BccooBlocks *b, const BccooPart *part, size_t t, PetscInt entries)
{
  const size_t first = (size_t)b->entry[t], q = t * (size_t)b->tile, size = BccooColumnSize(b);

  return (BccooGroup){.flags    = b->flags + q / BCCOO_LANES,
                      .prefetch = (PetscBool)(part->large && entries <= BCCOO_PREFETCH_ENTRIES),
                      .column   = (const char *)b->column + (q + BCCOO_PREFETCH_COLUMNS) * size,
                      .columns  = BCCOO_LANES * size,
                      .t        = t,
                      .n        = (size_t)b->tile,
                      .q        = q,
                      .first    = first,
                      .rows     = (size_t)b->entry[t + BCCOO_LANES] - first,
                      .stop     = b->stop + first};
}

/* Eight block columns times the width of a block, to memory */
SPMV_INLINE void BccooPutColumns(int32_t *out, SpmvIndex c, PetscInt w)
{
  SpmvIndexStore32(out, w > 1 ? SpmvIndexMul(c, SpmvIndexSplat((int32_t)w)) : c);
}

/*
  Where the blocks of a group begin in x: w times their columns, decoded into the buffer, or 1x1 blocks' columns as stored if they
  are int32; NULL for uint16 if the caller does not need them decoded
*/
SPMV_INLINE const int32_t *BccooGroupColumns(const BccooBlocks *b, const BccooGroup *g, PetscInt w, int decode, int32_t buffer[])
{
  const size_t   t = g->t / BCCOO_LANES;
  const int32_t *escaped, *end;
  SpmvIndex      c;

  if (b->columns != BCCOO_COLUMNS_DIFFERENCE) {
    const int       wide = b->columns == BCCOO_COLUMNS_INT32;
    const int32_t  *in32 = (const int32_t *)b->column + g->q;
    const uint16_t *in16 = (const uint16_t *)b->column + g->q;

    if (wide && w == 1) return in32;
    if (!wide && !decode) return NULL;
    for (size_t k = 0; k < BCCOO_LANES * g->n; k += BCCOO_LANES)
      BccooPutColumns(buffer + k, wide ? SpmvIndexLoad32(in32 + k) : SpmvIndexLoadU16(in16 + k), w);
    return buffer;
  }
  escaped = b->escape ? b->escaped + b->escape[t] : NULL;
  end     = b->escape ? b->escaped + b->escape[t + 1] : NULL;
  c       = SpmvIndexLoad32(b->base + g->t);
  for (size_t k = 0; k < g->n; k++) {
    const SpmvIndex d = SpmvIndexLoadS16((const int16_t *)b->column + g->q + BCCOO_LANES * k);

    c = SpmvIndexAdd(c, d);
    if (escaped < end) {
      const unsigned lanes = SpmvIndexEqual(d, BCCOO_ESCAPE);

      c = SpmvIndexExpand(c, lanes, escaped);
      escaped += __builtin_popcount(lanes);
    }
    BccooPutColumns(buffer + BCCOO_LANES * k, c, w);
  }
  return buffer;
}

/* Prefetches what a step to come needs: line by line, since many at once would wait for each other */
SPMV_INLINE void BccooPrefetch(const BccooGroup *g, const PetscScalar *v, size_t k, PetscInt entries)
{
  if (!g->prefetch) return;
  SpmvPrefetch((const char *)v + BCCOO_PREFETCH_VALUES, BCCOO_LANES * sizeof(PetscScalar) * (size_t)entries);
  if (k % 2 == 0) SpmvPrefetch(g->column + k * g->columns, 1);
}

/* Where row i of the block at a place of a group is in arrays that have a group's sums step after step, each row after row */
SPMV_INLINE size_t BccooGroupRow(size_t place, PetscInt h, PetscInt i)
{
  return place % BCCOO_LANES + (place / BCCOO_LANES * (size_t)h + (size_t)i) * BCCOO_LANES;
}

/* Adds column j of the blocks of a step times what it multiplies */
SPMV_INLINE void BccooAddColumn(const PetscScalar *v, Spmv8 x, PetscInt j, PetscInt h, Spmv8 own[])
{
  for (PetscInt i = 0; i < h; i++) {
    const Spmv8 vi = Spmv8Load(v + (j * h + i) * BCCOO_LANES);

    own[i] = j ? Spmv8Fma(vi, x, own[i]) : Spmv8Mul(vi, x);
  }
}

/*
  The steps of a group: sums has the running sums of all lanes after each step, at BccooGroupRow(), sum the last partial sums.
  value: those of the group; x is as long as the block columns are wide. column NULL: 1x1 blocks with uint16 columns, as they are
  stored
*/
SPMV_INLINE void BccooSteps(const BccooBlocks *b, const BccooGroup *g, const int32_t *column, const PetscScalar value[],
                            const PetscScalar x[], PetscInt h, PetscInt w, Spmv8 sum[], PetscScalar sums[])
{
  const PetscScalar *v       = value;
  const uint16_t    *stored  = (const uint16_t *)b->column + g->q;
  unsigned           goes_on = 0;

  for (PetscInt i = 0; i < h; i++) sum[i] = Spmv8Zero();
  for (size_t k = 0; k < g->n; k++, v += h * w * BCCOO_LANES, sums += h * BCCOO_LANES) {
    const int32_t *at = column + k * BCCOO_LANES;
    Spmv8          own[BCCOO_BLOCK_MAX], x0, x1;

    BccooPrefetch(g, v, k, h * w);
    for (PetscInt j = 0; j + 1 < w; j += 2) {
      Spmv8GatherPairs(x + j, at, &x0, &x1);
      BccooAddColumn(v, x0, j, h, own);
      BccooAddColumn(v, x1, j + 1, h, own);
    }
    if (w % 2) {
      x0 = h * w > 1 || column ? Spmv8Gather(x + w - 1, at) : Spmv8Gather(x, stored + k * BCCOO_LANES);
      BccooAddColumn(v, x0, w - 1, h, own);
    }
    for (PetscInt i = 0; i < h; i++) {
      sum[i] = Spmv8AddWhere(sum[i], goes_on, own[i]);
      Spmv8Store(sums + i * BCCOO_LANES, sum[i]);
    }
    goes_on = g->flags[k];
  }
  for (PetscInt i = 0; i < h; i++) sum[i] = Spmv8AddWhere(sum[i], goes_on, Spmv8Zero());
}

/* The sums at the row stops, which are in the order of the block rows, to y */
SPMV_INLINE void BccooPutRows(const BccooBlocks *b, const BccooGroup *g, const PetscScalar sums[], BccooOutput *o, PetscInt h)
{
  if (!b->row && !o->beta && (h == 1 || (g->first + g->rows) * (size_t)h <= o->limit)) {
    PetscScalar *y = o->y + g->first * (size_t)h;

    SPMV_UNROLL
    for (size_t s = 0; s < g->rows; s++, y += h) {
      SPMV_SCALAR_LOOP(s);
      for (PetscInt i = 0; i < h; i++) y[i] = sums[BccooGroupRow(g->stop[s], h, i)];
    }
    return;
  }
  for (size_t s = 0; s < g->rows; s++) {
    const size_t r = BccooRow(b, g->first + s) * (size_t)h;

    SPMV_SCALAR_LOOP(s);
    for (PetscInt i = 0; i < h; i++) {
      if (h == 1 || r + (size_t)i < o->limit) BccooPut(o, r + (size_t)i, sums[BccooGroupRow(g->stop[s], h, i)]);
    }
  }
}

/* y <- beta y + A x, eight tiles at a time */
SPMV_INLINE void BccooApplyLanes(const BccooBlocks *b, const BccooPart *part, const PetscScalar x[], BccooOutput *o, PetscInt h,
                                 PetscInt w)
{
  PetscScalar sums[BCCOO_GROUP_MAX], last[BCCOO_BLOCK_MAX][BCCOO_LANES];
  PetscScalar decoded[h * w == 1 ? BCCOO_GROUP_MAX : 1];
  int32_t     buffer[BCCOO_GROUP_MAX];

  for (PetscInt i = 0; i < h; i++) o->carry[i] = 0;
  for (size_t t = part->first; t < part->last; t += BCCOO_LANES) {
    const BccooGroup   g      = BccooGroupOf(b, part, t, h * w);
    const int32_t     *column = BccooGroupColumns(b, &g, w, h * w > 1, buffer);
    const PetscScalar *value  = BccooValuesOf(b, g.q, BCCOO_LANES * g.n, t > part->first, h, w, decoded);
    Spmv8              sum[BCCOO_BLOCK_MAX];

    if (h * w > 1 || column) BccooSteps(b, &g, column, value, x, h, w, sum, sums);
    else BccooSteps(b, &g, NULL, value, x, h, w, sum, sums);
    BccooPutRows(b, &g, sums, o, h);
    for (PetscInt i = 0; i < h; i++) Spmv8Store(last[i], sum[i]);
    for (size_t l = 0; l < BCCOO_LANES; l++) BccooCarry(b, t + l, t + l + 1, &last[0][l], BCCOO_LANES, h, o);
  }
}

/* What lanes multiply by: at the start of a group, and in next, at BccooGroupRow(), after a row stop of lane l in step k */
SPMV_INLINE void BccooRowsOf(const BccooBlocks *b, const BccooGroup *g, const PetscScalar in[], PetscInt h, Spmv8 x[],
                             PetscScalar next[])
{
  PetscScalar xr[BCCOO_BLOCK_MAX], start[BCCOO_BLOCK_MAX][BCCOO_LANES];

  for (size_t l = 0; l < BCCOO_LANES; l++) {
    BccooRowOf(b, in, (size_t)b->entry[g->t + l], h, xr);
    for (PetscInt i = 0; i < h; i++) start[i][l] = xr[i];
  }
  for (PetscInt i = 0; i < h; i++) x[i] = Spmv8Load(start[i]);
  for (size_t s = 0; s < g->rows; s++) {
    SPMV_SCALAR_LOOP(s);
    BccooRowOf(b, in, g->first + s + 1, h, xr);
    for (PetscInt i = 0; i < h; i++) next[BccooGroupRow(g->stop[s], h, i)] = xr[i];
  }
}

/* y <- y + A^T x, eight tiles at a time */
SPMV_INLINE void BccooTransposeLanes(const BccooBlocks *b, const BccooPart *part, const PetscScalar in[], BccooOutput *o,
                                     PetscInt h, PetscInt w)
{
  PetscScalar next[BCCOO_GROUP_MAX], decoded[h * w == 1 ? BCCOO_GROUP_MAX : 1];
  int32_t     buffer[BCCOO_GROUP_MAX];

  for (size_t t = part->first; t < part->last; t += BCCOO_LANES) {
    const BccooGroup   g      = BccooGroupOf(b, part, t, h * w);
    const int32_t     *column = BccooGroupColumns(b, &g, w, 1, buffer);
    const PetscScalar *v      = BccooValuesOf(b, g.q, BCCOO_LANES * g.n, t > part->first, h, w, decoded);
    Spmv8              x[BCCOO_BLOCK_MAX];

    BccooRowsOf(b, &g, in, h, x, next);
    for (size_t k = 0; k < g.n; k++, v += h * w * BCCOO_LANES) {
      const unsigned stops = ~(unsigned)g.flags[k] & 0xff;

      BccooPrefetch(&g, v, k, h * w);
      for (PetscInt j = 0; j < w; j++) {
        const int32_t *at  = column + k * BCCOO_LANES;
        Spmv8          sum = Spmv8Mul(Spmv8Load(v + j * h * BCCOO_LANES), x[0]);
        int32_t        columns[BCCOO_LANES];

        for (PetscInt i = 1; i < h; i++) sum = Spmv8Fma(Spmv8Load(v + (j * h + i) * BCCOO_LANES), x[i], sum);
        if (w > 1) { /* past the last column there is only fill: of it the last column takes 0, whatever x is */
          const SpmvIndex c = SpmvIndexAdd(SpmvIndexLoad32(at), SpmvIndexSplat((int32_t)j));

          sum = Spmv8AddWhere(sum, ~SpmvIndexGreater(c, (int32_t)b->n - 1) & 0xff, Spmv8Zero());
          SpmvIndexStore32(columns, SpmvIndexMin(c, SpmvIndexSplat((int32_t)b->n - 1)));
          at = columns;
        }
        Spmv8ScatterAdd(o->y, at, sum);
      }
      for (PetscInt i = 0; i < h; i++) x[i] = Spmv8LoadWhere(x[i], stops, next + BccooGroupRow(k * BCCOO_LANES, h, i));
    }
  }
}
