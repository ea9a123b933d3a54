/*
  bccoo_lanes.h - products of eight tiles at a time: a lane holds a tile, so that 1x1 blocks, too, fill a vector. Included
  by bccoo_simd.c

  A step multiplies the blocks of all lanes. Its running sums are kept, all of them, and the ones at row stops are taken
  out afterwards by the list of results: nothing in a step depends on where rows end but a mask.

  Section 3.2.2, strategy 3: there each work item writes its sums, and algorithm 3 adds the last partial sum of a tile to
  the first result of the next: here BccooCarry(), in the order of the tiles. (As printed, its slice loop stands inside
  `i != 0`, which loses the carry between the slices of thread 0.)
*/
#pragma once
#include "bccoo.h"
#include "../../../simd/simd.h"

#define BCCOO_AHEAD 2048 /* bytes between the columns in use and those asked for from memory; of values eight times as many */

/* BccooGroup: eight tiles, worked on in chunks of steps */
typedef struct {
  size_t             t;                   /* first tile */
  size_t             step, n;             /* first step of the chunk, steps in it */
  size_t             q;                   /* where the chunk's first block is stored */
  const BccooResult *result, *end;        /* the group's results that no chunk has taken */
  int32_t            before[BCCOO_LANES]; /* differences: column of the block before in each lane */
  const int32_t     *escaped;             /* differences: the next escaped column */
  PetscBool          escapes;             /* there is one in this group */
  int32_t            buffer[BCCOO_CHUNK]; /* columns of the chunk, if they were decoded */
} BccooGroup;

SPMV_INLINE void BccooGroupStart(const BccooStorage *b, size_t t, BccooGroup *g)
{
  const size_t k = t / BCCOO_LANES;

  g->t       = t;
  g->step    = 0;
  g->n       = 0;
  g->result  = b->result + b->entry[t];
  g->end     = b->result + b->entry[t + BCCOO_LANES];
  g->escapes = b->escape && b->escape[k + 1] > b->escape[k] ? PETSC_TRUE : PETSC_FALSE;
  if (g->escapes) g->escaped = b->escaped + b->escape[k];
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) memcpy(g->before, b->base + t, sizeof(g->before));
}

/* Columns of the chunk; NULL for uint16 as stored, where the caller can do with them */
SPMV_INLINE const int32_t *BccooGroupColumns(const BccooStorage *b, BccooGroup *g, PetscBool decode)
{
  int32_t  *out = g->buffer;
  SpmvIndex c;

  if (b->columns == BCCOO_COLUMNS_INT32) return (const int32_t *)b->column + g->q;
  if (b->columns == BCCOO_COLUMNS_UINT16) {
    const uint16_t *in = (const uint16_t *)b->column + g->q;

    if (!decode) return NULL;
    for (size_t k = 0; k < g->n; k++) SpmvIndexStore32(out + BCCOO_LANES * k, SpmvIndexLoadU16(in + BCCOO_LANES * k));
    return out;
  }
  c = SpmvIndexLoad32(g->before);
  for (size_t k = 0; k < g->n; k++) {
    const SpmvIndex d = SpmvIndexLoadS16((const int16_t *)b->column + g->q + BCCOO_LANES * k);

    c = SpmvIndexAdd(c, d);
    if (g->escapes) {
      const unsigned escaped = SpmvIndexEqual(d, BCCOO_ESCAPE);

      c = SpmvIndexExpand(c, escaped, g->escaped);
      g->escaped += __builtin_popcount(escaped);
    }
    SpmvIndexStore32(out + BCCOO_LANES * k, c);
  }
  SpmvIndexStore32(g->before, c);
  return out;
}

/* Moves on by one chunk of at most `steps` steps; 0 after the last */
SPMV_INLINE int BccooGroupNext(const BccooStorage *b, BccooGroup *g, size_t steps)
{
  const size_t tile = (size_t)b->tile;

  g->step += g->n;
  g->n = PetscMin(steps, tile - g->step);
  g->q = g->t * tile + g->step * BCCOO_LANES;
  return g->n > 0;
}

/* The results whose last block is in this chunk */
SPMV_INLINE const BccooResult *BccooGroupResults(const BccooStorage *b, BccooGroup *g, size_t *n)
{
  const BccooResult *first = g->result;
  const size_t       limit = (g->step + g->n) * BCCOO_LANES;

  if (g->step + g->n == (size_t)b->tile) g->result = g->end;
  while (g->result < g->end && g->result->place < limit) g->result++;
  *n = (size_t)(g->result - first);
  return first;
}

/*
  Before every eighth step: asks for what steps to come need. Into the second cache: the first has too few lines under
  way to wait for memory in (Zen 4, 27-point stencil out of cache: 0.68 ns an entry, 0.54 so, 0.46 with columns as well)
*/
SPMV_INLINE void BccooGroupAhead(const BccooStorage *b, const BccooGroup *g, const PetscScalar *v, size_t k, PetscInt entries)
{
  const char *value = (const char *)v + 8 * BCCOO_AHEAD, *column = (const char *)b->column + BCCOO_AHEAD;

  if (k % 8) return;
  column += (g->q + k * BCCOO_LANES) * (b->columns == BCCOO_COLUMNS_INT32 ? sizeof(int32_t) : sizeof(int16_t));
  for (PetscInt line = 0; line < 8 * entries; line++) __builtin_prefetch(value + 64 * line, 0, 2);
  for (size_t line = 0; line < 2; line++) __builtin_prefetch(column + 64 * line, 0, 2);
}

/* Flags of a step, which are a mask of the lanes that do not stop there */
SPMV_INLINE unsigned BccooGroupGoesOn(const BccooStorage *b, size_t q)
{
  return b->flags[q / BCCOO_LANES];
}

/* What eight tiles leave to the tiles after them: sum[i][l] is lane l's last partial sum of row i of a block row */
SPMV_INLINE void BccooCarry(const BccooStorage *b, size_t t, const BccooOutput *o, PetscInt h, PetscScalar sum[][BCCOO_LANES], PetscScalar carry[])
{
  for (size_t l = 0; l < BCCOO_LANES; l++) {
    const int32_t first = b->entry[t + l];
    const int     stops = b->entry[t + l + 1] > first;

    for (PetscInt i = 0; i < h; i++) {
      const size_t r = stops ? BccooRow(b, (size_t)first) * (size_t)h + (size_t)i : 0;

      if (stops && r < o->limit) o->y[r] += carry[i];
      carry[i] = stops ? sum[i][l] : carry[i] + sum[i][l];
    }
  }
}

/* The steps of a chunk of 1x1 blocks; sums[8 k + l] is the running sum of lane l after step k. goes_on: lanes amid a row */
SPMV_INLINE Spmv8 BccooSteps_1x1(const BccooStorage *b, const BccooGroup *g, const int32_t *column, const PetscScalar *x, Spmv8 sum, unsigned *goes_on, PetscScalar *sums)
{
  const PetscScalar *v      = b->value + g->q;
  const uint16_t    *stored = (const uint16_t *)b->column + g->q;

  for (size_t k = 0; k < g->n; k++, v += BCCOO_LANES) {
    const Spmv8 xk = column ? Spmv8Gather(x, column + k * BCCOO_LANES) : Spmv8GatherU16(x, stored + k * BCCOO_LANES);

    BccooGroupAhead(b, g, v, k, 1);
    sum = Spmv8AddWhere(sum, *goes_on, Spmv8Mul(Spmv8Load(v), xk));
    Spmv8Store(sums + k * BCCOO_LANES, sum);
    *goes_on = BccooGroupGoesOn(b, g->q + k * BCCOO_LANES);
  }
  return sum;
}

/* Columns of entry j of the blocks of a step; past the matrix's last there is only fill, which the last stands in for */
SPMV_INLINE SpmvIndex BccooEntryColumns(const BccooStorage *b, const int32_t *column, PetscInt w, PetscInt j)
{
  return SpmvIndexMin(SpmvIndexMulAdd(SpmvIndexLoad32(column), (int32_t)w, (int32_t)j), (int32_t)b->n - 1);
}

/* The steps of a chunk of blocks of any shape: sums as above, row after row of the block */
SPMV_INLINE void BccooSteps(const BccooStorage *b, const BccooGroup *g, const int32_t *column, const PetscScalar *x, PetscInt h, PetscInt w, Spmv8 sum[], unsigned *goes_on, PetscScalar *sums)
{
  const PetscScalar *v = b->value + g->q * (size_t)(h * w);

  for (size_t k = 0; k < g->n; k++, v += h * w * BCCOO_LANES) {
    Spmv8 own[BCCOO_BLOCK_MAX];

    BccooGroupAhead(b, g, v, k, h * w);
    for (PetscInt j = 0; j < w; j++) {
      int32_t at[BCCOO_LANES];
      Spmv8   xj;

      SpmvIndexStore32(at, BccooEntryColumns(b, column + k * BCCOO_LANES, w, j));
      xj = Spmv8Gather(x, at);
      for (PetscInt i = 0; i < h; i++) own[i] = j ? Spmv8Fma(Spmv8Load(v + (j * h + i) * BCCOO_LANES), xj, own[i]) : Spmv8Mul(Spmv8Load(v + i * BCCOO_LANES), xj);
    }
    for (PetscInt i = 0; i < h; i++) {
      sum[i] = Spmv8AddWhere(sum[i], *goes_on, own[i]);
      Spmv8Store(sums + ((size_t)i * g->n + k) * BCCOO_LANES, sum[i]);
    }
    *goes_on = BccooGroupGoesOn(b, g->q + k * BCCOO_LANES);
  }
}

/* y <- beta y + A x, eight tiles at a time */
SPMV_INLINE void BccooApplyLanes(const BccooStorage *b, const BccooInput *in, const BccooOutput *o, PetscInt h, PetscInt w)
{
  const size_t steps = BCCOO_CHUNK / BCCOO_LANES / (size_t)h;
  PetscScalar  sums[BCCOO_CHUNK], last[BCCOO_BLOCK_MAX][BCCOO_LANES], carry[BCCOO_BLOCK_MAX] = {0};
  BccooGroup   g;

  for (size_t t = 0; t < b->ntiles; t += BCCOO_LANES) {
    unsigned goes_on = 0;
    Spmv8    sum[BCCOO_BLOCK_MAX];

    for (PetscInt i = 0; i < h; i++) sum[i] = Spmv8Zero();
    BccooGroupStart(b, t, &g);
    while (BccooGroupNext(b, &g, steps)) {
      const int32_t     *column = BccooGroupColumns(b, &g, h * w > 1 ? PETSC_TRUE : PETSC_FALSE);
      const BccooResult *result;
      size_t             n;

      if (h * w > 1) BccooSteps(b, &g, column, in->x, h, w, sum, &goes_on, sums);
      else if (column) sum[0] = BccooSteps_1x1(b, &g, column, in->x, sum[0], &goes_on, sums);
      else sum[0] = BccooSteps_1x1(b, &g, NULL, in->x, sum[0], &goes_on, sums);
      result = BccooGroupResults(b, &g, &n);
      for (size_t s = 0; s < n; s++) {
        const size_t r = BccooRow(b, (size_t)(b->entry[t] + result[s].result)) * (size_t)h, at = result[s].place - g.step * BCCOO_LANES;

        for (PetscInt i = 0; i < h; i++) {
          if (h == 1 || r + (size_t)i < o->limit) BccooPut(o, r + (size_t)i, sums[(size_t)i * g.n * BCCOO_LANES + at]);
        }
      }
    }
    for (PetscInt i = 0; i < h; i++) Spmv8Store(last[i], Spmv8AddWhere(sum[i], goes_on, Spmv8Zero()));
    BccooCarry(b, t, o, h, last, carry);
  }
}

/* y <- y + A^T x, eight tiles at a time */
SPMV_INLINE void BccooTransposeLanes(const BccooStorage *b, const BccooInput *in, BccooTransposed *o, PetscInt h, PetscInt w)
{
  const size_t steps = BCCOO_CHUNK / BCCOO_LANES / (size_t)h;
  PetscScalar  next[BCCOO_CHUNK] = {0}, x[BCCOO_BLOCK_MAX]; /* next[8 k + l]: what lane l multiplies by after its row stop in step k */
  BccooGroup   g;

  for (size_t t = 0; t < b->ntiles; t += BCCOO_LANES) {
    PetscScalar first[BCCOO_BLOCK_MAX][BCCOO_LANES];
    Spmv8       xi[BCCOO_BLOCK_MAX];

    for (size_t l = 0; l < BCCOO_LANES; l++) {
      BccooRowOf(b, in, (size_t)b->entry[t + l], h, x);
      for (PetscInt i = 0; i < h; i++) first[i][l] = x[i];
    }
    for (PetscInt i = 0; i < h; i++) xi[i] = Spmv8Load(first[i]);
    BccooGroupStart(b, t, &g);
    while (BccooGroupNext(b, &g, steps)) {
      const int32_t     *column = BccooGroupColumns(b, &g, PETSC_TRUE);
      const PetscScalar *v      = b->value + g.q * (size_t)(h * w);
      size_t             n;
      const BccooResult *result = BccooGroupResults(b, &g, &n);

      for (size_t s = 0; s < n; s++) {
        BccooRowOf(b, in, (size_t)(b->entry[t] + result[s].result) + 1, h, x);
        for (PetscInt i = 0; i < h; i++) next[(size_t)i * g.n * BCCOO_LANES + result[s].place - g.step * BCCOO_LANES] = x[i];
      }
      for (size_t k = 0; k < g.n; k++, v += h * w * BCCOO_LANES) {
        const unsigned stops = ~BccooGroupGoesOn(b, g.q + k * BCCOO_LANES) & 0xff;

        BccooGroupAhead(b, &g, v, k, h * w);
        for (PetscInt j = 0; j < w; j++) {
          const int32_t *at  = column + k * BCCOO_LANES;
          Spmv8          sum = Spmv8Mul(Spmv8Load(v + j * h * BCCOO_LANES), xi[0]);
          int32_t        columns[BCCOO_LANES];
          PetscScalar    y[BCCOO_LANES];

          for (PetscInt i = 1; i < h; i++) sum = Spmv8Fma(Spmv8Load(v + (j * h + i) * BCCOO_LANES), xi[i], sum);
          if (w > 1) {
            SpmvIndexStore32(columns, BccooEntryColumns(b, at, w, j));
            at = columns;
          }
          Spmv8Store(y, sum);
          for (size_t l = 0; l < BCCOO_LANES; l++) o->y[at[l]] += y[l];
        }
        for (PetscInt i = 0; i < h; i++) xi[i] = Spmv8LoadWhere(xi[i], stops, next + ((size_t)i * g.n + k) * BCCOO_LANES);
      }
    }
  }
}
