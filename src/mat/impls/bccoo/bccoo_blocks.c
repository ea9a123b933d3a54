/*
  bccoo_blocks.c - the arrays of blocks, made from what a scan has found, and the values, whenever they change
*/
#include "bccoo_knobs.h"
#include "../../../host/prefetch.h"

#define BCCOO_UNROLL  _Pragma("GCC unroll 8")
#define BCCOO_AT_ONCE 64 /* columns that are made side by side before they go to their places */

/* Differences of n columns from the ones before, `step` apart */
static void BccooSetDifferences(size_t n, const int32_t c[], size_t step, int16_t to[])
{
  int16_t difference[BCCOO_AT_ONCE];

  if (n) to[0] = 0;
  for (size_t first = 1; first < n; first += BCCOO_AT_ONCE) {
    const size_t some = PetscMin(n - first, BCCOO_AT_ONCE);

    for (size_t k = 0; k < some; k++) {
      const int32_t d = c[first + k] - c[first + k - 1];

      difference[k] = (int16_t)(BccooIsEscape(d) ? BCCOO_ESCAPE : d);
    }
    BCCOO_UNROLL
    for (size_t k = 0; k < some; k++) to[(first + k) * step] = difference[k];
  }
}

/* The columns, tile by tile */
static void BccooSetColumns(BccooBlocks *b)
{
  const size_t tile = (size_t)b->tile, bunch = b->depth == 1 ? 1 : (size_t)b->bunch;

#define BCCOO_PUT_COLUMNS(type) \
  BCCOO_UNROLL \
  for (size_t k = 0; k < n; k++) ((type *)b->column)[place + k * bunch] = (type)c[k]
  for (size_t t = 0, lane = 0; t < b->ntiles; t++, lane = lane + 1 == bunch ? 0 : lane + 1) {
    const size_t   q = PetscMin(t * tile, b->nblocks), n = PetscMin(tile, b->nblocks - q), place = (t - lane) * tile + lane;
    const int32_t *c = b->found + q;

    if (b->base) b->base[t] = n ? c[0] : 0;
    if (b->columns == BCCOO_COLUMNS_INT32) {
      BCCOO_PUT_COLUMNS(int32_t);
    } else if (b->columns == BCCOO_COLUMNS_UINT16) {
      BCCOO_PUT_COLUMNS(uint16_t);
    } else BccooSetDifferences(n, c, bunch, (int16_t *)b->column + place);
  }
#undef BCCOO_PUT_COLUMNS
}

/* The columns that have no difference, list after list, each in the order of storage: tiles of a list are those of a group */
static void BccooSetEscaped(BccooBlocks *b)
{
  const size_t tile = (size_t)b->tile, listed = (size_t)b->listed, nlists = b->nescaped ? b->ntiles / listed : 0;
  int32_t     *to = b->escaped;

  for (size_t list = 0; list < nlists; list++) {
    const size_t   first = list * listed * tile, end = PetscMin(first + listed * tile, b->nstored);
    const int16_t *column = (const int16_t *)b->column + first;

    if (b->escape[list] == b->escape[list + 1]) continue;
    for (size_t k = 0; first + k * listed < end; k++, column += listed) {
      for (size_t lane = 0; lane < listed; lane++) {
        if (column[lane] == BCCOO_ESCAPE) *to++ = b->found[first + lane * tile + k];
      }
    }
  }
}

/* The flags, and where block rows end in their group. No division: there may be few blocks in a row */
static void BccooSetFlags(BccooBlocks *b)
{
  const size_t    tile = (size_t)b->tile, bunch = (size_t)b->bunch;
  const PetscInt  nrows   = b->nrows; /* like what follows in a register: stores of bytes might change what b has */
  const PetscBool inorder = b->inorder;
  uint8_t *const  flags   = b->flags;
  uint16_t *const stop    = b->stop;
  size_t          first = 0, group = 0, lane = 0; /* first blocks of the present tile and of its group; its place in that */

  memset(flags, 0xff, b->nflags);
  for (PetscInt k = 0; k < nrows; k++) {
    const size_t q = (size_t)b->end[k] - 1;
    size_t       place;

    for (; q >= first + tile; first += tile) {
      lane = (lane + 1 == bunch) ? 0 : lane + 1;
      if (!lane) group = first + tile;
    }
    place = (q - first) * bunch + lane;
    if (stop) stop[k] = (uint16_t)place;
    place = inorder ? q : group + place;
    flags[place / 8] &= (uint8_t) ~(1U << place % 8);
  }
}

/*
  Finds the blocks of a matrix under a plan, whose kind of columns it sets, and makes their arrays, but for the values themselves.
  outline: only those that no device makes. ntasks: that products have
*/
PetscErrorCode BccooBlocksBuild(const SpmvCSR *csr, PetscInt p[], PetscInt ntasks, PetscBool outline, BccooBlocks *b)
{
  const size_t tile = (size_t)p[BCCOO_TILE], group = tile * (size_t)PetscMax(1, b->whole);
  size_t       width, entries, first, fill, t = 0;

  PetscFunctionBegin;
  PetscCall(BccooBlocksScan(csr, p, outline, b));
  PetscCall(SpmvAlloc((b->ntiles + 1) * sizeof(int32_t), &b->entry));
  for (PetscInt k = 0; k < b->nrows; k++) {
    for (; t * tile < b->end[k]; t++) b->entry[t] = (int32_t)k;
  }
  for (; t <= b->ntiles; t++) b->entry[t] = (int32_t)b->nrows;
  if (!outline) {
    width   = BccooColumnSize(b);
    entries = (size_t)(b->h * b->w);
    first   = b->nblocks / group * group;               /* blocks before this one have no padding among them, */
    fill    = b->npositions && entries > 1 ? 0 : first; /* and values of blocks before this one no fill */
    PetscCall(SpmvAlloc(b->nflags, &b->flags));
    if (b->listed > 1 && !b->reach) PetscCall(SpmvAlloc((size_t)b->nrows * sizeof(uint16_t), &b->stop));
    BccooSetFlags(b);
    PetscCall(SpmvAllocShared(b->nstored * width, ntasks, &b->column));
    memset((char *)b->column + first * width, 0, (b->nstored - first) * width);
    if (!b->coded) {
      PetscCall(SpmvAllocShared((b->nstored * entries + BCCOO_PAD) * sizeof(PetscScalar), ntasks, &b->value));
      memset(b->value + fill * entries, 0, ((b->nstored - fill) * entries + BCCOO_PAD) * sizeof(PetscScalar));
    }
    if (b->columns == BCCOO_COLUMNS_DIFFERENCE && b->reach) BccooDistancesSet(b);
    else {
      if (b->columns == BCCOO_COLUMNS_DIFFERENCE) PetscCall(SpmvAlloc(b->ntiles * sizeof(int32_t), &b->base));
      if (b->nescaped) PetscCall(SpmvAlloc(b->nescaped * sizeof(int32_t), &b->escaped));
      BccooSetColumns(b);
      BccooSetEscaped(b);
    }
    if (b->slices > 1 || BccooIsSimple(b)) PetscCall(SpmvFree(&b->end));
  }
  PetscCall(SpmvFree(&b->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The values of blocks that have no fill: those of h rows of CSR, which have so many entries each. `to` is where the first one's
  go, then where those of the block behind the last one do
*/
BCCOO_INLINE void BccooSetFull(const BccooBlocks *b, BccooTarget *to, const PetscScalar *a, PetscInt length, PetscInt h,
                               PetscInt w, size_t bunch)
{
  const PetscScalar *next = a + h * length; /* the next block row's, asked for: rows are too short for the hardware to foresee */

  for (size_t left = (size_t)(length / w), some; left; left -= some) {
    PetscScalar *value = b->value + to->value;

    some = PetscMin(to->left, left); /* of the tile */
    for (size_t k = 0; k < some; k++, a += w, next += h * w, value += to->step) {
      SpmvPrefetch(next, (size_t)(h * w) * sizeof(*next));
      for (PetscInt i = 0; i < h; i++) {
        const PetscScalar *row = a + i * length;

        for (PetscInt j = 0; j < w; j++) value[(size_t)(j * h + i) * bunch] = row[j];
      }
    }
    BccooTargetAdvance(b, to, some);
  }
}

/* Those of 1x1 blocks in whole groups of eight tiles: 0.28, not 0.56 ns an entry in cache. Returns how many there are */
static size_t BccooInterleave(BccooBlocks *b, const PetscScalar a[])
{
  const size_t tile = (size_t)b->depth;
  size_t       g    = 0;

  for (; g + 8 * tile <= b->nblocks; g += 8 * tile) {
    for (size_t k = 0; k < tile; k++) {
      __builtin_prefetch(a + g + 8 * tile + k * 8); /* of the next group: eight streams are too many for the hardware */
      for (size_t l = 0; l < 8; l++) b->value[g + k * 8 + l] = a[g + l * tile + k];
    }
  }
  return g;
}

/* The values, from CSR's: at a build, and whenever they change. Block rows without fill have no positions, unless all have */
PetscErrorCode BccooBlocksSetValues(const SpmvCSR *csr, void *storage)
{
  BccooBlocks    *b        = (BccooBlocks *)storage;
  const uint32_t *position = b->position;
  const uint64_t *end      = b->end;
  const size_t    bunch    = (size_t)b->bunch;
  BccooTarget     to       = BccooTargetOf(b, 0);

  PetscFunctionBegin;
  if (BccooIsSimple(b)) {
    if (bunch == 8) to = BccooTargetOf(b, BccooInterleave(b, csr->a));
    if (bunch == 1 || b->depth == 1) memcpy(b->value, csr->a, b->nblocks * sizeof(PetscScalar));
    else BccooSetFull(b, &to, csr->a + to.q, csr->i[csr->m] - (PetscInt)to.q, 1, 1, bunch);
  }
  for (size_t e = 0; !end && e < b->npositions; e++) b->value[position[e]] = csr->a[e];
  for (PetscInt row = 0; end && row < csr->m; row += b->h) {
    const PetscInt    *i = csr->i + row, entries = i[PetscMin(b->h, csr->m - row)] - i[0], length = i[1] - i[0];
    const PetscScalar *a = csr->a + i[0];

    if (!entries) continue;
    if ((size_t)entries == (*end - to.q) * (size_t)(b->h * b->w)) {
      if (b->h == b->w && bunch == 8) BCCOO_SIZED(w, b->w, BccooSetFull(b, &to, a, length, w, w, 8))
      else if (b->h == b->w) BCCOO_SIZED(w, b->w, BccooSetFull(b, &to, a, length, w, w, bunch))
      else BccooSetFull(b, &to, a, length, b->h, b->w, bunch);
    } else {
      for (PetscInt e = 0; e < entries; e++) b->value[*position++] = a[e];
      BccooTargetAdvance(b, &to, *end - to.q);
    }
    end++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every array of a storage of either side, which may be half built */
PetscErrorCode BccooBlocksArrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const BccooBlocks *b = (const BccooBlocks *)storage;
  PetscInt           k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nstored * (size_t)(b->h * b->w), sizeof(PetscScalar), .is_values = PETSC_TRUE);
  if (b->coded) arrays[0] = SpmvValuesArray(b->coded);
  arrays[k++] = SPMV_ARRAY("columns", b->column, b->nstored, BccooColumnSize(b));
  arrays[k++] = SPMV_ARRAY("flags", b->flags, b->nflags, 1);
  arrays[k++] = SPMV_ARRAY("entries", b->entry, b->ntiles + 1, sizeof(int32_t));
  if (b->stop) arrays[k++] = SPMV_ARRAY("stops", b->stop, (size_t)b->nrows, sizeof(uint16_t));
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE || b->base)
    arrays[k++] = SPMV_ARRAY("bases", b->base, BccooBases(b), sizeof(int32_t));
  if (b->nescaped || b->escape || b->escaped) {
    arrays[k++] = SPMV_ARRAY("escaped", b->escaped, b->nescaped, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("escapes", b->escape, b->ntiles / (size_t)b->listed + 1, sizeof(int32_t));
  }
  if (b->row) arrays[k++] = SPMV_ARRAY("rows", b->row, (size_t)b->nrows, sizeof(int32_t));
  if (b->firsts) arrays[k++] = SPMV_ARRAY("firsts", b->firsts, b->ntiles / (size_t)b->whole + 1, sizeof(int32_t));
  if (b->scans) arrays[k++] = SPMV_ARRAY("scans", b->scans, b->ntiles / (size_t)b->whole, 1);
  if (b->end) arrays[k++] = SPMV_ARRAY("ends", b->end, (size_t)b->nrows, sizeof(uint64_t), .aside = PETSC_TRUE);
  if (b->piece) arrays[k++] = SPMV_ARRAY("pieces", b->piece, BccooPieces(b->nblocks), sizeof(BccooPiece), .aside = PETSC_TRUE);
  if (b->npositions || b->position)
    arrays[k++] = SPMV_ARRAY("positions", b->position, b->npositions, sizeof(uint32_t), .aside = PETSC_TRUE);
  *n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the scan, if it did not end */
PetscErrorCode BccooBlocksDestroy(void *storage)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&((BccooBlocks *)storage)->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
