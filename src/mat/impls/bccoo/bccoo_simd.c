/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  Two ways through a storage. Without a bunch, block after block: a vector holds the rows of a block. With a bunch, eight
  tiles at once: a lane holds a tile, so that 1x1 blocks, too, fill a vector. Columns are decoded to int32 in chunks first,
  which makes one loop of each kind enough. Runs of blocks end at row stops, which are found a word of flags at a time.

  1x1 blocks multiply and add with two roundings and in AIJ's order, so that a row inside one tile has AIJ's bits.

  Source: as bccoo.c; section 3.2.2, strategy 3. There each work item writes its sums, and algorithm 3 adds the last partial
  sum of a tile to the first result of the next: here BccooCarry, in the order of the tiles. (As printed, its slice loop
  stands inside `i != 0`, which loses the carry between the slices of thread 0.)
*/
#include "bccoo.h"
#include "../../../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {NULL, NULL};
#else

  #define BCCOO_AHEAD 256 /* scalars between the value in use and the one asked for from memory */

/* The vector that a product reads, with what its last block column needs when the width does not divide n */
typedef struct {
  const PetscScalar *x;
  int32_t            last;                  /* the incomplete block column, -1 if there is none */
  PetscScalar        tail[BCCOO_BLOCK_MAX]; /* [w] its part of x, then zeros */
} BccooInput;

/* The vector that a product writes: y, or the partial products of slices */
typedef struct {
  PetscScalar *y;
  PetscBool    beta;
  size_t       limit; /* rows */
} BccooOutput;

/* Columns of the blocks stored at [q, q + n), all in one tile; *column is that of the block before */
static void BccooDecodeTile(const BccooStorage *b, size_t q, size_t n, int32_t *column, const int32_t **escaped, int32_t *out)
{
  if (b->columns == BCCOO_COLUMNS_UINT16) {
    const uint16_t *c = (const uint16_t *)b->column + q;

    for (size_t k = 0; k < n; k++) out[k] = c[k];
  } else {
    const int16_t *d = (const int16_t *)b->column + q;
    int32_t        c = *column;

    if (!b->escape) {
      for (size_t k = 0; k < n; k++) out[k] = c += d[k];
    } else {
      for (size_t k = 0; k < n; k++) out[k] = c = d[k] == BCCOO_ESCAPE ? *(*escaped)++ : c + d[k];
    }
    *column = c;
  }
}

/* Columns of n steps of a group, from block q on as stored; column[l] is that of the block before in each lane */
static void BccooDecodeGroup(const BccooStorage *b, size_t q, size_t n, int32_t column[], const int32_t *escaped[], PetscBool escapes, int32_t *out)
{
  if (b->columns == BCCOO_COLUMNS_UINT16) {
    for (size_t k = 0; k < n; k++) SpmvIndexStore32(out + 8 * k, SpmvIndexLoadU16((const uint16_t *)b->column + q + 8 * k));
  } else if (!escapes) {
    SpmvIndex c = SpmvIndexLoad32(column);

    for (size_t k = 0; k < n; k++) {
      c = SpmvIndexAdd(c, SpmvIndexLoadS16((const int16_t *)b->column + q + 8 * k));
      SpmvIndexStore32(out + 8 * k, c);
    }
    SpmvIndexStore32(column, c);
  } else {
    for (size_t k = 0; k < 8 * n; k++) {
      const int16_t d = ((const int16_t *)b->column)[q + k];

      column[k % 8] = d == BCCOO_ESCAPE ? *escaped[k % 8]++ : column[k % 8] + d;
      out[k]        = column[k % 8];
    }
  }
}

/* Adds one value to, or stores it as, entry r of the result */
SPMV_INLINE void BccooPut(const BccooOutput *o, size_t r, PetscScalar value)
{
  o->y[r] = o->beta ? o->y[r] + value : value;
}

  /* The sums of a block row: h scalars in one vector, or one scalar for the blocks of height 1 */
  #define BCCOO_SUMS(V) \
    SPMV_INLINE void BccooRun_##V(const PetscScalar *v, const int32_t *column, size_t n, const BccooInput *in, PetscInt h, PetscInt w, V sum[]) \
    { \
      for (size_t q = 0; q < n; q++, v += h * w) { \
        const PetscScalar *x = w > 1 && column[q] == in->last ? in->tail : in->x + (size_t)column[q] * (size_t)w; \
\
        if (h == 1) sum[0] = V##Fma(V##LoadFirst(v, (int)w), V##LoadFirst(x, (int)w), sum[0]); \
        else { \
          for (PetscInt j = 0; j < w; j++) sum[j % 4] = V##Fma(V##Load(v + j * h), V##Splat(x[j]), sum[j % 4]); \
        } \
      } \
    } \
    SPMV_INLINE void BccooPut_##V(const BccooOutput *o, size_t r, PetscInt h, PetscInt w, V sum[]) \
    { \
      V total = sum[0]; \
\
      for (PetscInt j = 1; h > 1 && j < PetscMin(4, w); j++) total = V##Add(total, sum[j]); \
      if (h == 1) BccooPut(o, r, V##Sum(total)); \
      else if (r + (size_t)h <= o->limit) { \
        if (o->beta) total = V##Add(total, V##LoadFirst(o->y + r, (int)h)); \
        V##StoreFirst(o->y + r, total, (int)h); \
      } else { \
        if (o->beta) total = V##Add(total, V##LoadFirst(o->y + r, (int)(o->limit - r))); \
        V##StoreFirst(o->y + r, total, (int)(o->limit - r)); \
      } \
    }
BCCOO_SUMS(Spmv4)
BCCOO_SUMS(Spmv8)
  #undef BCCOO_SUMS

/* What the sum of block row number k starts from where blocks are 1x1: AIJ, too, adds a row to y entry by entry */
SPMV_INLINE PetscScalar BccooStart_1x1(const BccooStorage *b, const BccooOutput *o, size_t k)
{
  return o->beta && k < (size_t)b->nrows ? o->y[BccooRow(b, k)] : 0;
}

/* 1x1 blocks one after the other: AIJ's loop */
SPMV_INLINE PetscScalar BccooRun_1x1(const PetscScalar *v, const int32_t *column, size_t n, const PetscScalar *x, PetscScalar sum)
{
  for (size_t q = 0; q < n; q++) sum += v[q] * x[column[q]];
  return sum;
}

/* y <- beta y + A x, block after block */
SPMV_INLINE void BccooApplyBlocks(const BccooStorage *b, const BccooInput *in, const BccooOutput *o, PetscInt h, PetscInt w)
{
  const int      wide    = h > 4 || (h == 1 && w > 4);
  const int32_t *escaped = b->escaped;
  const size_t   tile    = (size_t)b->tile;
  int32_t        buffer[BCCOO_CHUNK], before = 0;
  size_t         k       = 0;
  PetscScalar    sum1    = h * w == 1 ? BccooStart_1x1(b, o, 0) : 0;
  Spmv4          sum4[4] = {Spmv4Zero(), Spmv4Zero(), Spmv4Zero(), Spmv4Zero()};
  Spmv8          sum8[4] = {Spmv8Zero(), Spmv8Zero(), Spmv8Zero(), Spmv8Zero()};

  for (size_t q = 0, last; q < b->nblocks; q = last) {
    const int32_t *column = (const int32_t *)b->column + q;
    const size_t   first  = q;

    last = PetscMin(PetscMin(q + BCCOO_CHUNK, q - q % tile + tile), b->nblocks);
    if (b->columns != BCCOO_COLUMNS_INT32) {
      if (b->columns == BCCOO_COLUMNS_DIFFERENCE && q % tile == 0) before = b->base[q / tile];
      BccooDecodeTile(b, q, last - q, &before, &escaped, buffer);
      column = buffer;
    }
    while (q < last) {
      int          stop;
      const size_t end = BccooRowStop(b, q, last, &stop), n = end - q;

      if (h * w == 1) sum1 = BccooRun_1x1(b->value + q, column + (q - first), n, in->x, sum1);
      else if (wide) BccooRun_Spmv8(b->value + q * (size_t)(h * w), column + (q - first), n, in, h, w, sum8);
      else BccooRun_Spmv4(b->value + q * (size_t)(h * w), column + (q - first), n, in, h, w, sum4);
      q = end;
      if (!stop) continue;
      if (h * w == 1) {
        o->y[BccooRow(b, k++)] = sum1;
        sum1                   = BccooStart_1x1(b, o, k);
      } else if (wide) {
        BccooPut_Spmv8(o, BccooRow(b, k++) * (size_t)h, h, w, sum8);
        for (int j = 0; j < 4; j++) sum8[j] = Spmv8Zero();
      } else {
        BccooPut_Spmv4(o, BccooRow(b, k++) * (size_t)h, h, w, sum4);
        for (int j = 0; j < 4; j++) sum4[j] = Spmv4Zero();
      }
    }
  }
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

/* The results of a chunk, in the order they were made, to their rows */
SPMV_INLINE void BccooFlush(const BccooStorage *b, size_t first, const uint16_t *offset, size_t n, const BccooOutput *o, PetscInt h, PetscScalar results[][BCCOO_CHUNK + BCCOO_LANES])
{
  for (size_t s = 0; s < n; s++) {
    const size_t r = BccooRow(b, first + offset[s]) * (size_t)h;

    for (PetscInt i = 0; i < h; i++) {
      if (h == 1 || r + (size_t)i < o->limit) BccooPut(o, r + (size_t)i, results[i][s]);
    }
  }
}

/* What is known of a group while it is worked on */
typedef struct {
  int32_t        before[BCCOO_LANES];  /* column of the block before in each lane */
  const int32_t *escaped[BCCOO_LANES]; /* next escaped column of each lane */
  PetscBool      escapes;              /* there is one in this group */
} BccooGroup;

static void BccooGroupStart(const BccooStorage *b, size_t t, BccooGroup *g)
{
  g->escapes = b->escape && b->escape[t + BCCOO_LANES] > b->escape[t] ? PETSC_TRUE : PETSC_FALSE;
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) memcpy(g->before, b->base + t, sizeof(g->before));
  for (size_t l = 0; g->escapes && l < BCCOO_LANES; l++) g->escaped[l] = b->escaped + b->escape[t + l];
}

/* After a step: the sums of the lanes that stop go to the results, and start again from 0; returns the results made */
SPMV_INLINE size_t BccooStop(const BccooStorage *b, unsigned stop, PetscInt h, Spmv8 sum[], PetscScalar results[][BCCOO_CHUNK + BCCOO_LANES], size_t made)
{
  if (!b->shortrows && !stop) return made;
  for (PetscInt i = 0; i < h; i++) {
    Spmv8Emit(results[i] + made, sum[i], stop);
    sum[i] = Spmv8Clear(sum[i], stop);
  }
  return made + (size_t)__builtin_popcount(stop);
}

/* n steps of a group of 1x1 blocks from block q on as stored; columns are uint16 as stored or, where that is NULL, decoded */
SPMV_INLINE size_t BccooSteps_1x1(const BccooStorage *b, size_t q, size_t n, const int32_t *decoded, const uint16_t *stored, const PetscScalar *x, Spmv8 *sum, PetscScalar results[][BCCOO_CHUNK + BCCOO_LANES])
{
  const PetscScalar *v     = b->value + q;
  const uint8_t     *flags = b->flags + q / 8;
  size_t             made  = 0;

  for (size_t k = 0; k < n; k++, v += BCCOO_LANES) {
    const Spmv8 xk = stored ? Spmv8GatherU16(x, stored + k * BCCOO_LANES) : Spmv8Gather(x, decoded + k * BCCOO_LANES);

    __builtin_prefetch(v + BCCOO_AHEAD);
    *sum = Spmv8Add(*sum, Spmv8Mul(Spmv8Load(v), xk));
    made = BccooStop(b, (uint8_t)~flags[k], 1, sum, results, made);
  }
  return made;
}

/* n steps of a group of blocks of any shape, columns decoded */
SPMV_INLINE size_t BccooSteps(const BccooStorage *b, size_t q, size_t n, const int32_t *column, const BccooInput *in, PetscInt h, PetscInt w, Spmv8 sum[], PetscScalar results[][BCCOO_CHUNK + BCCOO_LANES])
{
  const PetscScalar *v     = b->value + q * (size_t)(h * w);
  const uint8_t     *flags = b->flags + q / 8;
  size_t             made  = 0;

  for (size_t k = 0; k < n; k++, v += h * w * BCCOO_LANES) {
    for (PetscInt j = 0; j < w; j++) {
      int32_t at[BCCOO_LANES];
      Spmv8   x;

      SpmvIndexStore32(at, SpmvIndexMin(SpmvIndexMulAdd(SpmvIndexLoad32(column + k * BCCOO_LANES), (int32_t)w, (int32_t)j), (int32_t)b->n - 1)); /* past n: fill */
      x = Spmv8Gather(in->x, at);
      for (PetscInt i = 0; i < h; i++) sum[i] = Spmv8Fma(Spmv8Load(v + (j * h + i) * BCCOO_LANES), x, sum[i]);
    }
    made = BccooStop(b, (uint8_t)~flags[k], h, sum, results, made);
  }
  return made;
}

/* y <- beta y + A x, eight tiles at a time */
SPMV_INLINE void BccooApplyBunches(const BccooStorage *b, const BccooInput *in, const BccooOutput *o, PetscInt h, PetscInt w)
{
  const size_t    tile = (size_t)b->tile, steps = BCCOO_CHUNK / BCCOO_LANES;
  const uint16_t *offset = b->offset;
  BccooGroup      g      = {.escapes = PETSC_FALSE};
  int32_t         buffer[BCCOO_CHUNK];
  PetscScalar     results[BCCOO_BLOCK_MAX][BCCOO_CHUNK + BCCOO_LANES], last[BCCOO_BLOCK_MAX][BCCOO_LANES], carry[BCCOO_BLOCK_MAX] = {0};

  for (size_t t = 0; t < b->ntiles; t += BCCOO_LANES) {
    Spmv8 sum[BCCOO_BLOCK_MAX];

    for (PetscInt i = 0; i < h; i++) sum[i] = Spmv8Zero();
    BccooGroupStart(b, t, &g);
    for (size_t k = 0; k < tile; k += steps) {
      const size_t   n = PetscMin(steps, tile - k), q = t * tile + k * BCCOO_LANES;
      const int32_t *column = (const int32_t *)b->column + q;
      size_t         made;

      if (b->columns == BCCOO_COLUMNS_DIFFERENCE || (h * w > 1 && b->columns == BCCOO_COLUMNS_UINT16)) {
        BccooDecodeGroup(b, q, n, g.before, g.escaped, g.escapes, buffer);
        column = buffer;
      }
      if (h * w > 1) made = BccooSteps(b, q, n, column, in, h, w, sum, results);
      else if (b->columns == BCCOO_COLUMNS_UINT16) made = BccooSteps_1x1(b, q, n, NULL, (const uint16_t *)b->column + q, in->x, sum, results);
      else made = BccooSteps_1x1(b, q, n, column, NULL, in->x, sum, results);
      BccooFlush(b, (size_t)b->entry[t], offset, made, o, h, results);
      offset += made;
    }
    for (PetscInt i = 0; i < h; i++) Spmv8StoreFirst(last[i], sum[i], BCCOO_LANES);
    BccooCarry(b, t, o, h, last, carry);
  }
}

/* y <- y + A^T x, in row order, whatever the bunch: each tile by itself, its blocks and values `bunch` apart */
SPMV_INLINE void BccooApplyTranspose(const BccooStorage *b, const PetscScalar *x, PetscScalar *y, PetscInt h, PetscInt w, PetscInt bunch)
{
  const size_t   tile = (size_t)b->tile, step = (size_t)bunch;
  const int32_t *escaped             = b->escaped;
  size_t         k                   = 0;
  PetscScalar    xr[BCCOO_BLOCK_MAX] = {0}, tail[BCCOO_BLOCK_MAX] = {0};
  const int32_t  last  = b->n % w ? (int32_t)(b->n / w) : -1;
  int            fresh = 1; /* the next block begins a block row */

  for (size_t t = 0, q = 0; q < b->nblocks; t++) {
    const size_t       n = PetscMin(tile, b->nblocks - q), place = BccooPlace(b, q);
    const PetscScalar *v      = b->value + (place - place % step) * (size_t)(h * w) + place % step;
    int32_t            column = b->columns == BCCOO_COLUMNS_DIFFERENCE ? b->base[t] : 0;

    for (size_t p = place; p < place + n * step; p += step, v += (size_t)(h * w) * step) {
      PetscScalar *yb;

      if (fresh) {
        const size_t r = BccooRow(b, k++) % (size_t)b->mb * (size_t)h;

        for (PetscInt i = 0; i < h; i++) xr[i] = r + (size_t)i < (size_t)b->m ? x[r + (size_t)i] : 0;
      }
      if (b->columns == BCCOO_COLUMNS_INT32) column = ((const int32_t *)b->column)[p];
      else if (b->columns == BCCOO_COLUMNS_UINT16) column = ((const uint16_t *)b->column)[p];
      else {
        const int16_t d = ((const int16_t *)b->column)[p];

        column = b->escape && d == BCCOO_ESCAPE ? *escaped++ : column + d;
      }
      fresh = !(b->flags[p / 8] >> p % 8 & 1);
      yb    = w > 1 && column == last ? tail : y + (size_t)column * (size_t)w;
      for (PetscInt j = 0; j < w; j++) {
        PetscScalar sum = v[(size_t)(j * h) * step] * xr[0];

        for (PetscInt i = 1; i < h; i++) sum += v[(size_t)(j * h + i) * step] * xr[i];
        yb[j] += sum;
      }
    }
    q += n;
  }
  for (PetscInt j = 0; last >= 0 && j < b->n % w; j++) y[(size_t)last * (size_t)w + (size_t)j] += tail[j];
}

  /* The 64 shapes, each without and with a bunch: BccooApply_3x2_1() and so on, and tables of them by height, width and bunch */
  #define SHAPE(H, W) \
    static void BccooApply_##H##x##W##_1(const BccooStorage *b, const BccooInput *in, const BccooOutput *o) \
    { \
      BccooApplyBlocks(b, in, o, H, W); \
    } \
    static void BccooApply_##H##x##W##_8(const BccooStorage *b, const BccooInput *in, const BccooOutput *o) \
    { \
      BccooApplyBunches(b, in, o, H, W); \
    } \
    static void BccooTranspose_##H##x##W##_1(const BccooStorage *b, const PetscScalar *x, PetscScalar *y) \
    { \
      BccooApplyTranspose(b, x, y, H, W, 1); \
    } \
    static void BccooTranspose_##H##x##W##_8(const BccooStorage *b, const PetscScalar *x, PetscScalar *y) \
    { \
      BccooApplyTranspose(b, x, y, H, W, BCCOO_LANES); \
    }
  #define APPLY(H, W)     {BccooApply_##H##x##W##_1, BccooApply_##H##x##W##_8},
  #define TRANSPOSE(H, W) {BccooTranspose_##H##x##W##_1, BccooTranspose_##H##x##W##_8},
  #define WIDTHS(F, H)    F(H, 1) F(H, 2) F(H, 3) F(H, 4) F(H, 5) F(H, 6) F(H, 7) F(H, 8)
  #define TABLE(F) \
    { \
      {WIDTHS(F, 1)}, {WIDTHS(F, 2)}, {WIDTHS(F, 3)}, {WIDTHS(F, 4)}, {WIDTHS(F, 5)}, {WIDTHS(F, 6)}, {WIDTHS(F, 7)}, \
      { \
        WIDTHS(F, 8) \
      } \
    }

WIDTHS(SHAPE, 1)
WIDTHS(SHAPE, 2)
WIDTHS(SHAPE, 3)
WIDTHS(SHAPE, 4)
WIDTHS(SHAPE, 5)
WIDTHS(SHAPE, 6)
WIDTHS(SHAPE, 7)
WIDTHS(SHAPE, 8)

typedef void BccooApplyFn(const BccooStorage *, const BccooInput *, const BccooOutput *);
typedef void BccooTransposeFn(const BccooStorage *, const PetscScalar *, PetscScalar *);

static BccooApplyFn *const     BccooApplies[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2]    = TABLE(APPLY);
static BccooTransposeFn *const BccooTransposes[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2] = TABLE(TRANSPOSE);

static void BccooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b    = (const BccooStorage *)storage;
  const size_t        rows = (size_t)(b->mb * b->h);
  BccooInput          in   = {.x = x, .last = -1};
  BccooOutput         o    = {.y = y, .beta = beta, .limit = (size_t)b->m};

  if (b->n % b->w) {
    in.last = (int32_t)(b->n / b->w);
    memcpy(in.tail, x + (size_t)in.last * (size_t)b->w, sizeof(PetscScalar) * (size_t)(b->n % b->w));
  }
  if (b->slices > 1) o = (BccooOutput){.y = b->partial, .beta = PETSC_FALSE, .limit = (size_t)b->slices * rows};
  else if (!beta && b->row) memset(y, 0, sizeof(PetscScalar) * (size_t)b->m); /* the rows that are not listed */
  BccooApplies[b->h - 1][b->w - 1][b->bunch > 1](b, &in, &o);
  for (PetscInt r = 0; b->slices > 1 && r < b->m; r++) { /* rows that a slice does not list stay 0 in its part */
    PetscScalar sum = beta ? y[r] : 0;

    for (PetscInt s = 0; s < b->slices; s++) sum += b->partial[(size_t)s * rows + (size_t)r];
    y[r] = sum;
  }
}

static void BccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b = (const BccooStorage *)storage;

  if (!beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->n);
  BccooTransposes[b->h - 1][b->w - 1][b->bunch > 1](b, x, y);
}

const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {BccooMult, BccooMultTranspose};
#endif
