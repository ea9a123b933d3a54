/*
  bccoo_build.c - how a BCCOO storage is made from CSR: the plan's open choices, the pattern, the values

  All passes walk the blocks in row order with BccooWalk, slice after slice, so each is linear in the number of entries.
*/
#include "bccoo.h"

#define BCCOO_BUNCH_MIN 2048 /* blocks below which lanes would lie idle, and 1x1 blocks run as AIJ's rows do */

/*
  BccooWalk - merges the rows of one block row after the other into blocks

  The rows of a block row are sorted, so its blocks are found by moving one cursor in each row. With one slice the
  cursors start at the row pointers; with more, they wait in `next` between slices.
*/
typedef struct {
  const SpmvCSR *csr;
  PetscInt       h, w;
  PetscInt       row;                     /* first row of the present block row */
  PetscInt       rows;                    /* rows in it: h, fewer in the last one */
  PetscInt       stop;                    /* columns from here on belong to a later slice */
  PetscInt      *next;                    /* [m] several slices: first entry of each row that no slice has taken */
  PetscInt       cursor[BCCOO_BLOCK_MAX]; /* next entry of each row */
  PetscInt       end[BCCOO_BLOCK_MAX];    /* end of each row */
} BccooWalk;

static inline void BccooWalkStart(BccooWalk *walk, PetscInt row)
{
  walk->row  = row;
  walk->rows = PetscMin(walk->h, walk->csr->m - row);
  for (PetscInt i = 0; i < walk->rows; i++) {
    walk->cursor[i] = walk->next ? walk->next[row + i] : walk->csr->i[row + i];
    walk->end[i]    = walk->csr->i[row + i + 1];
  }
}

/* The next block column of this block row, -1 at its end */
static inline PetscInt BccooWalkNext(BccooWalk *walk)
{
  const PetscInt *j      = walk->csr->j;
  PetscInt        column = walk->stop, limit;

  for (PetscInt i = 0; i < walk->rows; i++) {
    if (walk->cursor[i] < walk->end[i]) column = PetscMin(column, j[walk->cursor[i]]);
  }
  if (column == walk->stop) {
    for (PetscInt i = 0; walk->next && i < walk->rows; i++) walk->next[walk->row + i] = walk->cursor[i];
    return -1;
  }
  column /= walk->w;
  limit = column * walk->w + walk->w;
  for (PetscInt i = 0; i < walk->rows; i++) {
    while (walk->cursor[i] < walk->end[i] && j[walk->cursor[i]] < limit) walk->cursor[i]++;
  }
  return column;
}

/* One past the last column of slice s; every entry lies before that of the last slice */
static inline PetscInt BccooSliceStop(const BccooStorage *b, PetscInt s)
{
  return s + 1 == b->slices ? PETSC_MAX_INT : (s + 1) * b->slicewidth * b->w;
}

static PetscErrorCode BccooWalkCreate(const SpmvCSR *csr, const BccooStorage *b, BccooWalk *walk)
{
  PetscFunctionBegin;
  *walk = (BccooWalk){.csr = csr, .h = b->h, .w = b->w};
  if (b->slices > 1) {
    PetscCall(PetscMalloc1(csr->m, &walk->next));
    PetscCall(PetscArraycpy(walk->next, csr->i, csr->m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of the rows [row, end) under blocks of h x w; row is a multiple of h */
static size_t BccooCount(const SpmvCSR *csr, PetscInt h, PetscInt w, PetscInt row, PetscInt end)
{
  BccooWalk walk = {.csr = csr, .h = h, .w = w, .stop = PETSC_MAX_INT};
  size_t    n    = 0;

  if (h == 1 && w == 1) return (size_t)(csr->i[end] - csr->i[row]);
  for (; row < end; row += h) {
    BccooWalkStart(&walk, row);
    while (BccooWalkNext(&walk) >= 0) n++;
  }
  return n;
}

/*
  The block height and width of least footprint, estimated on chunks of rows spread over the matrix: 1/128 of it, and at
  least 8 chunks. A block size that the user declared is looked at besides. Section 4 of the paper: footprint as the first
  criterion. A small matrix with no declared block size gains nothing by blocks, and as 1x1 it gives AIJ's very bits.
*/
static void BccooChooseBlock(const SpmvCSR *csr, PetscInt *h, PetscInt *w)
{
  const PetscInt shapes[][2] = {
    {1, 1}, {csr->rbs, csr->cbs}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {1, 3}, {3, 3}, {4, 1}, {4, 2}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 1}, {8, 4}, {8, 8}};
  const PetscInt chunk = 64, chunks = PetscMax(1, csr->m / chunk), stride = PetscMax(1, PetscMin(128, chunks / 8));
  PetscInt       best[2] = {*h ? *h : 1, *w ? *w : 1};
  double         least   = PETSC_MAX_REAL;

  if (!*h && !*w && csr->rbs == 1 && csr->cbs == 1 && csr->i[csr->m] < BCCOO_BUNCH_MIN) {
    *h = *w = 1;
    return;
  }
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    const PetscInt sh = *h ? *h : shapes[s][0], sw = *w ? *w : shapes[s][1]; /* what the user fixed stays */
    size_t         n = 0;
    double         footprint;

    if (sh > BCCOO_BLOCK_MAX || sw > BCCOO_BLOCK_MAX) continue;
    for (PetscInt c = 0; c < chunks; c += stride) {
      const PetscInt row = c * chunk / sh * sh;

      n += BccooCount(csr, sh, sw, row, PetscMin(csr->m, row + chunk));
    }
    footprint = (double)n * ((double)(sh * sw) * sizeof(PetscScalar) + sizeof(int16_t) + 1.0 / 8);
    if (footprint < least) {
      least   = footprint;
      best[0] = sh;
      best[1] = sw;
    }
  }
  *h = best[0];
  *w = best[1];
}

/* BccooScan: the blocks in row order, the same for every tile, bunch and kind of column */
typedef struct {
  size_t         nblocks;
  PetscInt       nrows;  /* non-empty block rows */
  size_t        *end;    /* [nrows] one past the last block of each */
  int32_t       *row;    /* [nrows] their block row in the stack of slices */
  const int32_t *column; /* [nblocks] block columns */
  int32_t       *own;    /* column, if it is ours to free */
} BccooScan;

/* True if the column of a block cannot be stored as its difference from the one before */
static inline int BccooIsEscape(int32_t difference)
{
  return difference < INT16_MIN || difference > INT16_MAX || difference == BCCOO_ESCAPE;
}

static PetscErrorCode BccooScanDestroy(BccooScan *scan)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&scan->own));
  PetscCall(PetscFree2(scan->end, scan->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks and non-empty block rows. 1x1 blocks in one slice have AIJ's columns, which are lent if they are int32 */
static PetscErrorCode BccooScanCreate(const SpmvCSR *csr, const BccooStorage *b, BccooScan *scan)
{
  const PetscBool lent = b->h == 1 && b->w == 1 && b->slices == 1 && sizeof(PetscInt) == sizeof(int32_t) ? PETSC_TRUE : PETSC_FALSE;
  BccooWalk       walk;
  PetscInt        column;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  PetscCall(PetscMalloc2(b->slices * b->mb, &scan->end, b->slices * b->mb, &scan->row));
  if (lent) scan->column = (const int32_t *)csr->j;
  else {
    PetscCall(SpmvAlloc((size_t)csr->i[csr->m] * sizeof(int32_t), &scan->own));
    scan->column = scan->own;
  }
  PetscCall(BccooWalkCreate(csr, b, &walk));
  for (PetscInt s = 0; s < b->slices; s++) {
    walk.stop = BccooSliceStop(b, s);
    for (PetscInt row = 0; row < csr->m; row += b->h) {
      const size_t first = scan->nblocks;

      if (lent) scan->nblocks = (size_t)csr->i[row + 1];
      else {
        BccooWalkStart(&walk, row);
        while ((column = BccooWalkNext(&walk)) >= 0) scan->own[scan->nblocks++] = (int32_t)column;
      }
      if (scan->nblocks == first) continue;
      scan->end[scan->nrows]   = scan->nblocks;
      scan->row[scan->nrows++] = (int32_t)(s * b->mb + row / b->h);
    }
  }
  PetscCall(PetscFree(walk.next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks whose column is no 16-bit difference from the one before in their tile */
static size_t BccooCountEscapes(const BccooScan *scan, size_t tile)
{
  size_t n = 0;

  for (size_t t = 0; t < scan->nblocks; t += tile) {
    const size_t end = PetscMin(t + tile, scan->nblocks);

    for (size_t q = t + 1; q < end; q++) n += (size_t)BccooIsEscape(scan->column[q] - scan->column[q - 1]);
  }
  return n;
}

/* A tile of 64 blocks in each lane, fewer if the matrix would not fill a few groups of them; long tiles without a bunch */
static PetscInt BccooChooseTile(PetscInt bunch, size_t nblocks)
{
  if (bunch == 1) return BCCOO_CHUNK;
  return nblocks >= 4096 ? 64 : nblocks >= 1024 ? 16
                                                : 8;
}

/* Replaces what a plan leaves open and finds all sizes; the scan is the caller's to destroy. No array of b is allocated */
static PetscErrorCode BccooPlanResolve(const SpmvCSR *csr, SpmvPlan *plan, BccooStorage *b, BccooScan *scan)
{
  PetscInt *p = plan->value, nb;
  size_t    group;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  if (!p[BCCOO_BLOCK_HEIGHT] || !p[BCCOO_BLOCK_WIDTH]) BccooChooseBlock(csr, &p[BCCOO_BLOCK_HEIGHT], &p[BCCOO_BLOCK_WIDTH]);
  b->m          = csr->m;
  b->n          = csr->n;
  b->h          = p[BCCOO_BLOCK_HEIGHT];
  b->w          = p[BCCOO_BLOCK_WIDTH];
  b->flag_bits  = p[BCCOO_FLAG_BITS];
  b->slices     = p[BCCOO_SLICES];
  b->mb         = csr->m / b->h + !!(csr->m % b->h);
  nb            = csr->n / b->w + !!(csr->n % b->w);
  b->slicewidth = nb / b->slices + !!(nb % b->slices);
  PetscCheck(csr->n < INT32_MAX && b->mb < INT32_MAX / b->slices, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " has more block rows or columns than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n);
  PetscCheck(p[BCCOO_COLUMNS] != BCCOO_COLUMNS_UINT16 || nb <= UINT16_MAX + 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " block columns do not fit uint16; set -mat_bccoo_columns to auto, int32 or difference", nb);
  PetscCall(BccooScanCreate(csr, b, scan));
  b->nblocks = scan->nblocks;
  b->nrows   = scan->nrows;
  if (!p[BCCOO_BUNCH]) p[BCCOO_BUNCH] = b->h * b->w == 1 && b->nblocks >= BCCOO_BUNCH_MIN ? BCCOO_LANES : 1;
  b->bunch = p[BCCOO_BUNCH];
  if (!p[BCCOO_TILE]) p[BCCOO_TILE] = BccooChooseTile(b->bunch, b->nblocks);
  b->tile = p[BCCOO_TILE];
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && nb <= UINT16_MAX + 1) p[BCCOO_COLUMNS] = BCCOO_COLUMNS_UINT16;
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO || p[BCCOO_COLUMNS] == BCCOO_COLUMNS_DIFFERENCE) b->nescaped = BccooCountEscapes(scan, (size_t)b->tile);
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO) p[BCCOO_COLUMNS] = b->nescaped <= b->nblocks / 16 ? BCCOO_COLUMNS_DIFFERENCE : BCCOO_COLUMNS_INT32;
  b->columns = (BccooColumns)p[BCCOO_COLUMNS];
  if (b->columns != BCCOO_COLUMNS_DIFFERENCE) b->nescaped = 0;
  group        = (size_t)b->tile * (size_t)b->bunch;
  b->nstored   = b->bunch == 1 ? b->nblocks : (b->nblocks + group - 1) / group * group;
  b->ntiles    = (b->nstored + (size_t)b->tile - 1) / (size_t)b->tile;
  b->nflags    = (b->ntiles * (size_t)b->tile + 31) / 32 * 4;
  b->shortrows = (PetscBool)(b->nblocks < 32 * (size_t)b->nrows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BccooPredict - the sizes of the storage that a build would make

  Output Parameter:
. b - its sizes; no array is allocated

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if uint16 columns are asked for and the matrix has more than 65536 block columns, or if
  block rows or columns do not fit 32-bit integers; BccooBuild() as well.
*/
PetscErrorCode BccooPredict(const SpmvCSR *csr, const SpmvPlan *plan, BccooStorage *b)
{
  SpmvPlan  p = *plan;
  BccooScan scan;

  PetscFunctionBegin;
  PetscCall(BccooPlanResolve(csr, &p, b, &scan));
  PetscCall(BccooScanDestroy(&scan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooAllocate(BccooStorage *b)
{
  const size_t width = b->columns == BCCOO_COLUMNS_INT32 ? sizeof(int32_t) : sizeof(int16_t), entries = (size_t)(b->h * b->w);
  const size_t group = (size_t)(b->tile * b->bunch), whole = b->nblocks / group * group; /* blocks before this one have no padding among them */
  const size_t fill = entries > 1 ? 0 : whole;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(b->nflags, &b->flags));
  PetscCall(SpmvAlloc((b->ntiles + 1) * sizeof(int32_t), &b->entry));
  PetscCall(SpmvAlloc(b->nstored * width, &b->column));
  memset((char *)b->column + whole * width, 0, (b->nstored - whole) * width);
  PetscCall(SpmvAlloc((b->nstored * entries + BCCOO_PAD) * sizeof(PetscScalar), &b->value));
  memset(b->value + fill * entries, 0, ((b->nstored - fill) * entries + BCCOO_PAD) * sizeof(PetscScalar));
  if (b->bunch > 1) PetscCall(SpmvAlloc(b->nrows * sizeof(uint16_t), &b->offset));
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) PetscCall(SpmvAlloc(b->ntiles * sizeof(int32_t), &b->base));
  if (b->nescaped) {
    PetscCall(SpmvAlloc(b->nescaped * sizeof(int32_t), &b->escaped));
    PetscCall(SpmvAlloc((b->ntiles + 1) * sizeof(int32_t), &b->escape));
  }
  if (b->nrows < b->slices * b->mb) PetscCall(SpmvAlloc(b->nrows * sizeof(int32_t), &b->row));
  if (b->slices > 1) PetscCall(PetscCalloc1(b->slices * b->mb * b->h, &b->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 16-bit differences of the n columns of a tile, `step` apart; returns where the next escaped column goes */
static int32_t *BccooSetDifferences(const int32_t *column, size_t n, size_t step, int16_t *out, int32_t *escaped)
{
  out[0] = 0;
  for (size_t k = 1; k < n; k++) {
    const int32_t d = column[k] - column[k - 1];

    if (BccooIsEscape(d)) *escaped++ = column[k];
    out[k * step] = BccooIsEscape(d) ? BCCOO_ESCAPE : (int16_t)d;
  }
  return escaped;
}

/* The columns, tile by tile */
static void BccooSetColumns(BccooStorage *b, const BccooScan *scan)
{
  const size_t tile = (size_t)b->tile, step = (size_t)b->bunch;
  int32_t     *escaped = b->escaped;

  for (size_t t = 0, q = 0; t < b->ntiles; t++, q = PetscMin(q + tile, scan->nblocks)) {
    const size_t   n = PetscMin(tile, scan->nblocks - q), place = BccooPlace(b, t * tile);
    const int32_t *c = scan->column + q;

    if (b->escape) b->escape[t] = (int32_t)(escaped - b->escaped);
    if (b->base) b->base[t] = n ? c[0] : 0;
    if (!n) continue;
    if (b->columns == BCCOO_COLUMNS_DIFFERENCE) escaped = BccooSetDifferences(c, n, step, (int16_t *)b->column + place, escaped);
    else if (b->columns == BCCOO_COLUMNS_INT32) {
      for (size_t k = 0; k < n; k++) ((int32_t *)b->column)[place + k * step] = c[k];
    } else {
      for (size_t k = 0; k < n; k++) ((uint16_t *)b->column)[place + k * step] = (uint16_t)c[k];
    }
  }
  if (b->escape) b->escape[b->ntiles] = (int32_t)(escaped - b->escaped);
}

/* The flags, the list of block rows, and the result entries, which are the row stops before each tile */
static void BccooSetRows(BccooStorage *b, const BccooScan *scan)
{
  const size_t tile = (size_t)b->tile;
  size_t       t    = 0;

  memset(b->flags, 0xff, b->nflags);
  for (PetscInt k = 0; k < scan->nrows; k++) {
    const size_t place = BccooPlace(b, scan->end[k] - 1);

    for (; t * tile < scan->end[k]; t++) b->entry[t] = (int32_t)k;
    b->flags[place / 8] &= (uint8_t) ~(1U << place % 8);
  }
  for (; t <= b->ntiles; t++) b->entry[t] = (int32_t)scan->nrows;
  if (b->row) memcpy(b->row, scan->row, (size_t)scan->nrows * sizeof(int32_t));
}

/* With a bunch: the number of each result, less that of its group's first, in the order of the stops as they are stored */
static void BccooSetOffsets(BccooStorage *b)
{
  const size_t group = (size_t)b->tile * (size_t)b->bunch;
  size_t       at    = 0;

  for (size_t t = 0; t < b->ntiles; t += (size_t)b->bunch) {
    int32_t next[BCCOO_LANES];

    for (PetscInt l = 0; l < b->bunch; l++) next[l] = b->entry[t + (size_t)l] - b->entry[t];
    for (size_t place = t * (size_t)b->tile; place < t * (size_t)b->tile + group; place++) {
      if (!(b->flags[place / 8] >> place % 8 & 1)) b->offset[at++] = (uint16_t)next[place % (size_t)b->bunch]++;
    }
  }
}

/* Where the first value of block q is; the next entry of the block is b->bunch further */
static inline PetscScalar *BccooValueOf(const BccooStorage *b, size_t q)
{
  const size_t place = BccooPlace(b, q), bunch = (size_t)b->bunch;

  return b->value + (place - place % bunch) * b->h * b->w + place % bunch;
}

/* 1x1 blocks in one slice: the values in row order, or tile by tile beside each other */
static void BccooSetValues_1x1(BccooStorage *b, const PetscScalar *a)
{
  const size_t bunch = (size_t)b->bunch, tile = (size_t)b->tile, group = tile * bunch;
  size_t       g = 0;

  if (bunch == 1) {
    memcpy(b->value, a, b->nblocks * sizeof(PetscScalar));
    return;
  }
  for (; g + group <= b->nblocks; g += group) {
    for (size_t k = 0; k < tile; k++) {
      __builtin_prefetch(a + g + group + k * BCCOO_LANES); /* a line of the next group: eight streams at once are too many for the hardware */
      for (size_t l = 0; l < BCCOO_LANES; l++) b->value[g + k * BCCOO_LANES + l] = a[g + l * tile + k];
    }
  }
  for (; g < b->nblocks; g++) b->value[BccooPlace(b, g)] = a[g];
}

/* A block row without fill and without a bunch is transposed block by block, with no look at columns */
static inline __attribute__((always_inline)) PetscScalar *BccooSetFullRow(PetscScalar *value, const PetscScalar *a, PetscInt length, PetscInt h, PetscInt w)
{
  for (const PetscScalar *stop = a + length; a < stop; a += w, value += h * w) {
    for (PetscInt j = 0; j < w; j++) {
      for (PetscInt i = 0; i < h; i++) value[j * h + i] = a[i * length + j];
    }
  }
  return value;
}

/* The values of the block row that walk stands at, into the blocks from q on; returns one past its last block */
static size_t BccooSetBlockRow(BccooStorage *b, BccooWalk *walk, size_t q)
{
  const PetscInt h = b->h, w = b->w, step = b->bunch;
  PetscInt       from[BCCOO_BLOCK_MAX], column;

  memcpy(from, walk->cursor, sizeof(from));
  while ((column = BccooWalkNext(walk)) >= 0) {
    PetscScalar *value = BccooValueOf(b, q++);

    for (PetscInt i = 0; i < walk->rows; i++) {
      for (; from[i] < walk->cursor[i]; from[i]++) value[((walk->csr->j[from[i]] - column * w) * h + i) * step] = walk->csr->a[from[i]];
    }
  }
  return q;
}

#define BCCOO_FULL_ROW(H, W) \
  else if (h == H && w == W) BccooSetFullRow(value, a, length, H, W);

PetscErrorCode BccooSetValues(const SpmvCSR *csr, void *storage)
{
  BccooStorage  *b = (BccooStorage *)storage;
  const PetscInt h = b->h, w = b->w;
  BccooWalk      walk;
  size_t         q = 0;

  PetscFunctionBegin;
  if (h == 1 && w == 1 && b->slices == 1) {
    BccooSetValues_1x1(b, csr->a);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BccooWalkCreate(csr, b, &walk));
  for (PetscInt s = 0; s < b->slices; s++) {
    walk.stop = BccooSliceStop(b, s);
    for (PetscInt row = 0; row < csr->m; row += h) {
      const PetscInt start = csr->i[row], rows = PetscMin(h, csr->m - row), length = (csr->i[row + rows] - start) / rows;
      int            stop = 0;
      size_t         end  = length && b->bunch == 1 && b->slices == 1 ? BccooRowStop(b, q, b->nblocks, &stop) : q;

      if (stop && rows == h && (end - q) * (size_t)(w * h) == (size_t)(csr->i[row + rows] - start)) {
        const PetscScalar *a     = csr->a + start;
        PetscScalar       *value = b->value + q * h * w;

        if (0) continue;
        BCCOO_FULL_ROW(2, 2)
        BCCOO_FULL_ROW(3, 3)
        BCCOO_FULL_ROW(4, 4)
        BCCOO_FULL_ROW(6, 6)
        else BccooSetFullRow(value, a, length, h, w);
        q = end;
      } else {
        BccooWalkStart(&walk, row);
        q = BccooSetBlockRow(b, &walk, q);
      }
    }
  }
  PetscCall(PetscFree(walk.next));
  PetscAssert(q == b->nblocks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "wrote %zu of %zu blocks", q, b->nblocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#undef BCCOO_FULL_ROW

PetscErrorCode BccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  BccooStorage *b;
  BccooScan     scan;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(PetscNew(&b));
  *storage = b;
  PetscCall(BccooPlanResolve(csr, plan, b, &scan));
  PetscCall(BccooAllocate(b));
  BccooSetColumns(b, &scan);
  BccooSetRows(b, &scan);
  if (b->bunch > 1) BccooSetOffsets(b);
  PetscCall(BccooScanDestroy(&scan));
  PetscCall(BccooSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooDestroy(void **storage)
{
  BccooStorage *b = (BccooStorage *)*storage;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFree(&b->row));
  PetscCall(SpmvFree(&b->flags));
  PetscCall(SpmvFree(&b->entry));
  PetscCall(SpmvFree(&b->offset));
  PetscCall(SpmvFree(&b->column));
  PetscCall(SpmvFree(&b->base));
  PetscCall(SpmvFree(&b->escaped));
  PetscCall(SpmvFree(&b->escape));
  PetscCall(SpmvFree(&b->value));
  PetscCall(PetscFree(b->partial));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
