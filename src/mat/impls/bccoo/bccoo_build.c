/*
  bccoo_build.c - the pattern of a BCCOO storage, from CSR's: blocks, their columns, their row stops
*/
#include "bccoo_walk.h"

/* BccooScan: the blocks in row order, the same for every tile, bunch and kind of column */
typedef struct {
  size_t         nblocks;
  PetscInt       nrows;             /* non-empty block rows */
  size_t        *end;               /* [nrows] one past the last block of each */
  int32_t       *row;               /* [nrows] their block row in the stack of slices */
  const int32_t *column;            /* [nblocks] block columns */
  int32_t       *own;               /* column, if it is ours to free */
  size_t         step, lane, value; /* of the next block, and where its first value goes; the next one of the block is b->bunch further */
  size_t         npositions;
  uint32_t      *position; /* [npositions] as in BccooStorage */
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
  PetscCall(SpmvFree(&scan->position));
  PetscCall(PetscFree2(scan->end, scan->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On to where the values of the next block go: the next step of the same lane, or the next lane, or the next group */
static inline void BccooScanAdvance(const BccooStorage *b, BccooScan *scan)
{
  const size_t entries = (size_t)(b->h * b->w), bunch = (size_t)b->bunch, tile = (size_t)b->tile;

  scan->value += entries * bunch;
  if (bunch == 1 || ++scan->step < tile) return;
  scan->step = 0;
  scan->value -= entries * bunch * tile;
  scan->value++;
  if (++scan->lane < bunch) return;
  scan->lane = 0;
  scan->value += entries * bunch * tile - bunch;
}

/* How many blocks the block row that walk is about to start has, if all of them are full and there is one slice; else 0 */
static PetscInt BccooFullBlocks(const BccooStorage *b, const SpmvCSR *csr, PetscInt row)
{
  const PetscInt *i = csr->i + row, *j = csr->j + i[0], n = i[1] - i[0];

  if (!n || b->slices > 1 || row + b->h > csr->m || n % b->w) return 0;
  for (PetscInt r = 1; r < b->h; r++) {
    if (i[r + 1] - i[r] != n || j[n * r] != j[0]) return 0;
  }
  for (PetscInt k = 0; k < n; k += b->w) { /* columns increase */
    if (j[k] % b->w || j[k + b->w - 1] - j[k] >= b->w) return 0;
  }
  for (PetscInt r = 1; r < b->h; r++) {
    if (memcmp(j, j + n * r, (size_t)n * sizeof(PetscInt))) return 0;
  }
  return n / b->w;
}

/* The same blocks as BccooScanBlockRow() finds, without looking for them */
static void BccooScanFull(const BccooStorage *b, const SpmvCSR *csr, PetscInt row, PetscInt blocks, BccooScan *scan, uint32_t *position)
{
  const PetscInt *j = csr->j + csr->i[row], n = blocks * b->w;

  for (PetscInt q = 0; q < blocks; q++) {
    scan->own[scan->nblocks++] = (int32_t)(j[q * b->w] / b->w);
    for (PetscInt e = 0; position && e < b->h * b->w; e++) position[e % b->h * n + q * b->w + e / b->h] = (uint32_t)(scan->value + (size_t)(e * b->bunch));
    BccooScanAdvance(b, scan);
  }
}

/* The blocks of the block row that walk stands at; where the value of each of its entries goes is written to position */
static inline __attribute__((always_inline)) void BccooScanBlockRow(const BccooStorage *b, BccooWalk *walk, PetscInt rows, BccooScan *scan, uint32_t *position)
{
  const PetscInt *j = walk->csr->j, first = walk->csr->i[walk->row];
  PetscInt        from[BCCOO_BLOCK_MAX], column;

  memcpy(from, walk->cursor, sizeof(from));
  while ((column = BccooWalkNext(walk, rows)) >= 0) {
    if (position) {
      for (PetscInt i = 0; i < rows; i++) {
        for (; from[i] < walk->cursor[i]; from[i]++) position[from[i] - first] = (uint32_t)(scan->value + (size_t)(((j[from[i]] - column * walk->w) * walk->h + i) * b->bunch));
      }
    }
    scan->own[scan->nblocks++] = (int32_t)column;
    BccooScanAdvance(b, scan);
  }
}

/* Blocks and non-empty block rows, and positions if they are wanted. 1x1 blocks in one slice have AIJ's columns, which are lent if they are int32 */
static PetscErrorCode BccooScanCreate(const SpmvCSR *csr, const BccooStorage *b, PetscBool positions, BccooScan *scan)
{
  const PetscBool simple = b->h * b->w == 1 && b->slices == 1 ? PETSC_TRUE : PETSC_FALSE, lent = simple && sizeof(PetscInt) == sizeof(int32_t) ? PETSC_TRUE : PETSC_FALSE;
  BccooWalk       walk;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  PetscCall(PetscMalloc2(b->slices * b->mb, &scan->end, b->slices * b->mb, &scan->row));
  if (lent) scan->column = (const int32_t *)csr->j;
  else {
    PetscCall(SpmvAlloc((size_t)csr->i[csr->m] * sizeof(int32_t), &scan->own));
    scan->column = scan->own;
  }
  if (positions && !simple) PetscCall(SpmvAlloc((size_t)csr->i[csr->m] * sizeof(uint32_t), &scan->position));
  PetscCall(BccooWalkCreate(csr, b, &walk));
  for (PetscInt s = 0; s < b->slices; s++) {
    walk.stop = BccooSliceStop(b, s);
    for (PetscInt row = 0; row < csr->m; row += b->h) {
      const PetscInt end   = PetscMin(csr->m, row + b->h);
      const size_t   first = scan->nblocks, entries = (size_t)(csr->i[end] - csr->i[row]);

      if (lent) scan->nblocks = (size_t)csr->i[row + 1];
      else {
        uint32_t      *position = scan->position ? scan->position + (b->slices > 1 ? (size_t)csr->i[row] : scan->npositions) : NULL;
        const PetscInt full     = BccooFullBlocks(b, csr, row);

        if (full) BccooScanFull(b, csr, row, full, scan, b->bunch > 1 ? position : NULL);
        else {
          BccooWalkStart(&walk, row);
          BCCOO_WALK_ROWS(&walk, BccooScanBlockRow(b, &walk, rows, scan, position))
        }
      }
      if (b->slices == 1 && !BccooIsFull(b, entries, scan->nblocks - first)) scan->npositions += entries;
      if (scan->nblocks == first) continue;
      scan->end[scan->nrows]   = scan->nblocks;
      scan->row[scan->nrows++] = (int32_t)(s * b->mb + row / b->h);
    }
  }
  if (b->slices > 1) scan->npositions = (size_t)csr->i[csr->m];
  if (simple) scan->npositions = 0;
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

/* Replaces what a plan leaves open and finds all sizes; the scan is the caller's to destroy. No array of b is allocated */
static PetscErrorCode BccooPlanResolve(const SpmvCSR *csr, SpmvPlan *plan, PetscBool positions, BccooStorage *b, BccooScan *scan)
{
  const PetscBool device = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  PetscInt       *p      = plan->value, nb;
  size_t          group;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  PetscCall(BccooResolve(csr, plan));
  if (device) PetscCall(BccooDeviceResolve(csr->i[csr->m], plan));
  b->m          = csr->m;
  b->n          = csr->n;
  b->h          = p[BCCOO_BLOCK_HEIGHT];
  b->w          = p[BCCOO_BLOCK_WIDTH];
  b->flag_bits  = p[BCCOO_FLAG_BITS];
  b->slices     = p[BCCOO_SLICES];
  b->bunch      = p[BCCOO_BUNCH];
  b->item       = device && plan->device[BCCOO_DEVICE_STRATEGY] == 3 ? b->bunch : 1;
  b->workgroup  = device ? plan->device[BCCOO_DEVICE_WORKGROUP] * b->item : 0;
  b->nparts     = device ? 1 : plan->threads;
  b->tile       = p[BCCOO_TILE];
  b->mb         = csr->m / b->h + !!(csr->m % b->h);
  nb            = csr->n / b->w + !!(csr->n % b->w);
  b->slicewidth = nb / b->slices + !!(nb % b->slices);
  PetscCheck(csr->n < INT32_MAX && b->mb < INT32_MAX / b->slices, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " has more block rows or columns than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n);
  PetscCheck(p[BCCOO_COLUMNS] != BCCOO_COLUMNS_UINT16 || nb <= UINT16_MAX + 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " block columns do not fit uint16; set -mat_bccoo_columns to auto, int32 or difference", nb);
  PetscCheck(device || b->bunch == 1 || b->h * b->tile * b->bunch <= BCCOO_GROUP_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Tiles of %" PetscInt_FMT " blocks of height %" PetscInt_FMT " are too large for a bunch; set -mat_bccoo_tile to at most %" PetscInt_FMT ", or -mat_bccoo_bunch 1", b->tile, b->h, BCCOO_GROUP_MAX / (b->h * b->bunch));
  PetscCall(BccooScanCreate(csr, b, positions, scan));
  b->nblocks    = scan->nblocks;
  b->nrows      = scan->nrows;
  b->npositions = scan->npositions;
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && nb <= UINT16_MAX + 1) p[BCCOO_COLUMNS] = BCCOO_COLUMNS_UINT16;
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && device && plan->device[BCCOO_DEVICE_TRANSPOSE]) p[BCCOO_COLUMNS] = BCCOO_COLUMNS_INT32; /* no differences online */
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO || p[BCCOO_COLUMNS] == BCCOO_COLUMNS_DIFFERENCE) b->nescaped = BccooCountEscapes(scan, (size_t)b->tile);
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO) p[BCCOO_COLUMNS] = b->nescaped <= b->nblocks / BCCOO_FAR ? BCCOO_COLUMNS_DIFFERENCE : BCCOO_COLUMNS_INT32;
  b->columns = (BccooColumns)p[BCCOO_COLUMNS];
  if (b->columns != BCCOO_COLUMNS_DIFFERENCE) b->nescaped = 0;
  group      = (size_t)b->tile * BccooWholeTiles(b);
  b->nstored = BccooWholeTiles(b) == 1 && !device ? b->nblocks : (b->nblocks + group - 1) / group * group;
  b->ntiles  = (b->nstored + (size_t)b->tile - 1) / (size_t)b->tile;
  b->ahead   = (PetscBool)(csr->i[csr->m] >= SPMV_CACHE);
  b->nflags  = (b->ntiles * (size_t)b->tile + 31) / 32 * 4;
  if (b->npositions && b->nstored * (size_t)(b->h * b->w) > UINT32_MAX) {
    PetscCall(BccooScanDestroy(scan));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu blocks of %" PetscInt_FMT " x %" PetscInt_FMT " hold more values than 32-bit positions count; use more processes, or set -mat_bccoo_block_height and -mat_bccoo_block_width to 1", b->nblocks, b->h, b->w);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BccooPredict - the sizes of the storage that a build would make

  Output Parameter:
. b - its sizes; no array is allocated

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if uint16 columns are asked for and the matrix has more than 65536 block columns, if a
  group would have more than BCCOO_GROUP_MAX rows, or if block rows, block columns or, with fill, values are more than
  32-bit integers count; BccooBuild() as well.
*/
PetscErrorCode BccooPredict(const SpmvCSR *csr, const SpmvPlan *plan, BccooStorage *b)
{
  SpmvPlan  p = *plan;
  BccooScan scan;

  PetscFunctionBegin;
  PetscCall(BccooPlanResolve(csr, &p, PETSC_FALSE, b, &scan));
  PetscCall(BccooScanDestroy(&scan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooAllocate(BccooStorage *b)
{
  const size_t width = BccooColumnSize(b), entries = (size_t)(b->h * b->w);
  const size_t group = (size_t)b->tile * BccooWholeTiles(b), whole = b->nblocks / group * group; /* blocks before this one have no padding among them */
  const size_t set = b->npositions && entries > 1 ? 0 : whole;                                   /* and values before this one no fill */

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(b->nflags, &b->flags));
  PetscCall(SpmvAlloc((b->ntiles + 1) * sizeof(int32_t), &b->entry));
  PetscCall(SpmvAllocShared(b->nstored * width, b->nparts, &b->column));
  memset((char *)b->column + whole * width, 0, (b->nstored - whole) * width);
  PetscCall(SpmvAllocShared((b->nstored * entries + BCCOO_PAD) * sizeof(PetscScalar), b->nparts, &b->value));
  memset(b->value + set * entries, 0, ((b->nstored - set) * entries + BCCOO_PAD) * sizeof(PetscScalar));
  if (b->bunch > 1 && !b->workgroup) PetscCall(SpmvAlloc((size_t)b->nrows * sizeof(uint16_t), &b->stop));
  if (b->workgroup) PetscCall(SpmvAlloc(b->ntiles / (size_t)b->workgroup, &b->scan));
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) PetscCall(SpmvAlloc(b->ntiles * sizeof(int32_t), &b->base));
  if (b->nescaped) {
    PetscCall(SpmvAlloc(b->nescaped * sizeof(int32_t), &b->escaped));
    PetscCall(SpmvAlloc((b->ntiles / BccooEscapeTiles(b) + 1) * sizeof(int32_t), &b->escape));
  }
  if (b->nrows < b->slices * b->mb) PetscCall(SpmvAlloc(b->nrows * sizeof(int32_t), &b->row));
  if (b->slices > 1) PetscCall(PetscCalloc1(b->slices * b->mb * b->h, &b->partial));
  PetscCall(PetscMalloc1(b->nparts, &b->part));
  if (b->nparts > 1) PetscCall(PetscMalloc1((b->nparts - 1) * b->n, &b->transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 16-bit differences of the n columns of a tile, `step` apart */
static void BccooSetDifferences(const int32_t *column, size_t n, size_t step, int16_t *out)
{
  out[0] = 0;
  for (size_t k = 1; k < n; k++) {
    const int32_t d = column[k] - column[k - 1];

    out[k * step] = BccooIsEscape(d) ? BCCOO_ESCAPE : (int16_t)d;
  }
}

/* The columns, tile by tile */
static void BccooSetColumns(BccooStorage *b, const BccooScan *scan)
{
  const size_t tile = (size_t)b->tile, step = (size_t)b->bunch;

  for (size_t t = 0, q = 0; t < b->ntiles; t++, q = PetscMin(q + tile, scan->nblocks)) {
    const size_t   n = PetscMin(tile, scan->nblocks - q), place = BccooPlace(b, t * tile);
    const int32_t *c = scan->column + q;

    if (b->base) b->base[t] = n ? c[0] : 0;
    if (!n) continue;
    if (b->columns == BCCOO_COLUMNS_DIFFERENCE) BccooSetDifferences(c, n, step, (int16_t *)b->column + place);
    else if (b->columns == BCCOO_COLUMNS_INT32) {
      for (size_t k = 0; k < n; k++) ((int32_t *)b->column)[place + k * step] = c[k];
    } else {
      for (size_t k = 0; k < n; k++) ((uint16_t *)b->column)[place + k * step] = (uint16_t)c[k];
    }
  }
}

/* The columns that have no difference, in the order of storage; for a device in row order, which is tile by tile */
static void BccooSetEscapes(BccooStorage *b, const BccooScan *scan)
{
  const int16_t *difference = (const int16_t *)b->column;
  const size_t   group      = (size_t)b->tile * BccooEscapeTiles(b);
  size_t         n          = 0;

  for (size_t k = 0; k < b->nstored; k++) {
    const size_t place = b->workgroup ? BccooPlace(b, k) : k;

    if (k % group == 0) b->escape[k / group] = (int32_t)n;
    if (difference[place] == BCCOO_ESCAPE) b->escaped[n++] = scan->column[b->workgroup ? k : BccooNumber(b, place)];
  }
  b->escape[b->ntiles / BccooEscapeTiles(b)] = (int32_t)n;
}

/* The flags, where block rows end in their group, the list of block rows, and the result entries, which are the row stops before each tile */
static void BccooSetRows(BccooStorage *b, const BccooScan *scan)
{
  const size_t tile = (size_t)b->tile, group = tile * (size_t)b->bunch;
  size_t       t = 0;

  memset(b->flags, 0xff, b->nflags);
  for (PetscInt k = 0; k < scan->nrows; k++) {
    const size_t place = BccooPlace(b, scan->end[k] - 1);

    for (; t * tile < scan->end[k]; t++) b->entry[t] = (int32_t)k;
    b->flags[place / 8] &= (uint8_t) ~(1U << place % 8);
    if (b->stop) b->stop[k] = (uint16_t)(place % group);
  }
  for (; t <= b->ntiles; t++) b->entry[t] = (int32_t)scan->nrows;
  if (b->scan) {
    const size_t workgroup = (size_t)b->workgroup, item = (size_t)b->item;

    memset(b->scan, 0, b->ntiles / workgroup);
    for (t = 0; t < b->ntiles; t += item) b->scan[t / workgroup] |= b->entry[t] == b->entry[t + item];
  }
  if (b->row) memcpy(b->row, scan->row, (size_t)scan->nrows * sizeof(int32_t));
}

/* Shares groups out among the threads */
static void BccooSetParts(BccooStorage *b, const BccooScan *scan)
{
  const size_t ngroups = b->ntiles / (size_t)b->bunch, nparts = (size_t)b->nparts;

  for (size_t p = 0; p < nparts; p++) {
    const size_t first = ngroups * p / nparts * (size_t)b->bunch, last = ngroups * (p + 1) / nparts * (size_t)b->bunch;
    const size_t end = nparts == 1 ? 0 : PetscMin(last * (size_t)b->tile, b->nblocks); /* one part writes to the result itself */
    PetscInt     low = b->n, high = 0;

    for (size_t q = first * (size_t)b->tile; q < end; q++) {
      low  = PetscMin(low, (PetscInt)scan->column[q] * b->w);
      high = PetscMax(high, (PetscInt)scan->column[q] * b->w + b->w);
    }
    high       = nparts == 1 ? b->n : PetscMin(high, b->n);
    b->part[p] = (BccooPart){first, last, PetscMin(low, high), high};
  }
}

/*
  BccooBuild - a storage with the pattern and the values of a matrix

  Input Parameter:
. csr - the matrix

  Input/Output Parameter:
. plan - what is left open is replaced by what was built

  Output Parameter:
. storage - to be destroyed with BccooDestroy(), after an error as well

  Note:
  Errors as of BccooPredict().
*/
PetscErrorCode BccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  BccooStorage *b;
  BccooScan     scan;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(PetscNew(&b));
  *storage = b;
  PetscCall(BccooPlanResolve(csr, plan, PETSC_TRUE, b, &scan));
  PetscCall(BccooAllocate(b));
  BccooSetColumns(b, &scan);
  if (b->escape) BccooSetEscapes(b, &scan);
  BccooSetRows(b, &scan);
  BccooSetParts(b, &scan);
  if (b->npositions) {
    b->position   = scan.position;
    scan.position = NULL;
  }
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
  PetscCall(SpmvFree(&b->stop));
  PetscCall(SpmvFree(&b->column));
  PetscCall(SpmvFree(&b->base));
  PetscCall(SpmvFree(&b->escaped));
  PetscCall(SpmvFree(&b->escape));
  PetscCall(SpmvFree(&b->scan));
  PetscCall(SpmvFree(&b->value));
  PetscCall(SpmvFree(&b->position));
  PetscCall(PetscFree(b->partial));
  PetscCall(PetscFree(b->part));
  PetscCall(PetscFree(b->transposed));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
