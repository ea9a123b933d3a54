/*
  bccoo_blocks.c - the arrays of blocks, made from what a scan has found, and the values, whenever they change
*/
#include "bccoo_blocks.h"

/* The columns, tile by tile */
static void BccooSetColumns(BccooBlocks *b)
{
  const size_t tile = (size_t)b->tile, step = (size_t)b->bunch;

#define BCCOO_PUT_COLUMNS(type, value) \
  for (size_t k = 0; k < n; k++) ((type *)b->column)[place + k * step] = (type)(value)
  for (size_t t = 0, q = 0; t < b->ntiles; t++, q = PetscMin(q + tile, b->nblocks)) {
    const size_t   n = PetscMin(tile, b->nblocks - q), place = BccooPlace(b, t * tile);
    const int32_t *c = b->scan.column + q;

    if (b->base) b->base[t] = n ? c[0] : 0;
    if (b->columns == BCCOO_COLUMNS_INT32) BCCOO_PUT_COLUMNS(int32_t, c[k]);
    else if (b->columns == BCCOO_COLUMNS_UINT16) BCCOO_PUT_COLUMNS(uint16_t, c[k]);
    else BCCOO_PUT_COLUMNS(int16_t, !k ? 0 : BccooIsEscape(c[k] - c[k - 1]) ? BCCOO_ESCAPE : c[k] - c[k - 1]);
  }
#undef BCCOO_PUT_COLUMNS
}

/* The columns that have no difference, list after list, each in the order of storage */
static void BccooSetEscaped(BccooBlocks *b)
{
  const size_t tile = (size_t)b->tile, listed = (size_t)b->listed;
  size_t       n = 0;

  for (size_t first = 0; b->nescaped && first < b->nblocks; first += listed * tile) {
    for (size_t k = 0; k < tile; k++) {
      for (size_t q = first + k; q < PetscMin(first + listed * tile, b->nblocks); q += tile) {
        if (((const int16_t *)b->column)[BccooPlace(b, q)] == BCCOO_ESCAPE) b->escaped[n++] = b->scan.column[q];
      }
    }
  }
}

/* The flags, and where block rows end in their group */
static void BccooSetFlags(BccooBlocks *b)
{
  memset(b->flags, 0xff, b->nflags);
  for (PetscInt k = 0; k < b->nrows; k++) {
    const size_t place = BccooPlace(b, (size_t)b->end[k] - 1);

    b->flags[place / 8] &= (uint8_t) ~(1U << place % 8);
    if (b->stop) b->stop[k] = (uint16_t)(place % (size_t)(b->tile * b->bunch));
  }
}

/*
  Makes the arrays of blocks that were scanned, but for the values themselves, and ends the scan. outline: only those that no
  device makes. ntasks: that products have
*/
PetscErrorCode BccooBlocksMake(PetscInt ntasks, PetscBool outline, BccooBlocks *b)
{
  const size_t width = BccooColumnSize(b), entries = (size_t)(b->h * b->w), group = (size_t)(b->tile * PetscMax(1, b->whole));
  const size_t tile = (size_t)b->tile, first = b->nblocks / group * group; /* blocks before this one have no padding among them */
  const size_t fill = b->npositions && entries > 1 ? 0 : first;            /* and values of blocks before this one no fill */
  size_t       t    = 0;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((b->ntiles + 1) * sizeof(int32_t), &b->entry));
  for (PetscInt k = 0; k < b->nrows; k++) {
    for (; t * tile < b->end[k]; t++) b->entry[t] = (int32_t)k;
  }
  for (; t <= b->ntiles; t++) b->entry[t] = (int32_t)b->nrows;
  if (!outline) {
    PetscCall(SpmvAlloc(b->nflags, &b->flags));
    if (b->listed > 1) PetscCall(SpmvAlloc((size_t)b->nrows * sizeof(uint16_t), &b->stop));
    BccooSetFlags(b);
    PetscCall(SpmvAllocShared(b->nstored * width, ntasks, &b->column));
    memset((char *)b->column + first * width, 0, (b->nstored - first) * width);
    PetscCall(SpmvAllocShared((b->nstored * entries + BCCOO_PAD) * sizeof(PetscScalar), ntasks, &b->value));
    memset(b->value + fill * entries, 0, ((b->nstored - fill) * entries + BCCOO_PAD) * sizeof(PetscScalar));
    if (b->columns == BCCOO_COLUMNS_DIFFERENCE) PetscCall(SpmvAlloc(b->ntiles * sizeof(int32_t), &b->base));
    if (b->nescaped) PetscCall(SpmvAlloc(b->nescaped * sizeof(int32_t), &b->escaped));
    BccooSetColumns(b);
    BccooSetEscaped(b);
    if (b->scattered || BccooIsSimple(b)) PetscCall(SpmvFree(&b->end));
  }
  PetscCall(SpmvFree(&b->scan.own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1x1 blocks in one slice, `bunch` tiles of values beside each other: bunch is b->bunch, for the compiler to unroll by */
BCCOO_INLINE void BccooInterleave(BccooBlocks *b, const PetscScalar *a, size_t bunch)
{
  const size_t tile = (size_t)b->tile, group = tile * bunch;
  size_t       g = 0;

  for (; g + group <= b->nblocks; g += group) {
    for (size_t k = 0; k < tile; k++) {
      __builtin_prefetch(a + g + group + k * bunch); /* of the next group: eight streams are too many for the hardware */
      for (size_t l = 0; l < bunch; l++) b->value[g + k * bunch + l] = a[g + l * tile + k];
    }
  }
  for (; g < b->nblocks; g++) b->value[BccooPlace(b, g)] = a[g];
}

/* The values of 1x1 blocks in one slice, and those of other blocks if all entries have positions */
void BccooBlocksSetValues(BccooBlocks *b, const PetscScalar a[])
{
  if (!BccooIsSimple(b)) {
    for (size_t e = 0; e < b->npositions; e++) b->value[b->position[e]] = a[e];
  } else if (b->bunch == 1) memcpy(b->value, a, b->nblocks * sizeof(PetscScalar));
  else if (b->bunch == 8) BccooInterleave(b, a, 8);
  else BccooInterleave(b, a, (size_t)b->bunch);
}

/* Every array of a storage of either side */
PetscErrorCode BccooBlocksArrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const BccooBlocks *b = (const BccooBlocks *)storage;
  PetscInt           k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nstored * (size_t)(b->h * b->w), sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->column, b->nstored, BccooColumnSize(b));
  arrays[k++] = SPMV_ARRAY("flags", b->flags, b->nflags, 1);
  arrays[k++] = SPMV_ARRAY("entries", b->entry, b->ntiles + 1, sizeof(int32_t));
  if (b->stop) arrays[k++] = SPMV_ARRAY("stops", b->stop, (size_t)b->nrows, sizeof(uint16_t));
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) arrays[k++] = SPMV_ARRAY("bases", b->base, b->ntiles, sizeof(int32_t));
  if (b->nescaped) {
    arrays[k++] = SPMV_ARRAY("escaped", b->escaped, b->nescaped, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("escapes", b->escape, b->ntiles / (size_t)b->listed + 1, sizeof(int32_t));
  }
  if (b->row) arrays[k++] = SPMV_ARRAY("rows", b->row, (size_t)b->nrows, sizeof(int32_t));
  if (b->scans) arrays[k++] = SPMV_ARRAY("scans", b->scans, b->ntiles / (size_t)b->whole, 1);
  if (b->end) arrays[k++] = SPMV_ARRAY("ends", b->end, (size_t)b->nrows, sizeof(uint64_t), .aside = PETSC_TRUE);
  if (b->npositions) arrays[k++] = SPMV_ARRAY("positions", b->position, b->npositions, sizeof(uint32_t), .aside = PETSC_TRUE);
  *n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a storage whose other arrays are freed */
PetscErrorCode BccooBlocksDestroy(void **storage)
{
  BccooBlocks *b = (BccooBlocks *)*storage;

  PetscFunctionBegin;
  PetscCall(SpmvFree(&b->scan.own));
  PetscCall(SpmvFree(&b->row));
  PetscCall(SpmvFree(&b->end));
  PetscCall(SpmvFree(&b->flags));
  PetscCall(SpmvFree(&b->entry));
  PetscCall(SpmvFree(&b->stop));
  PetscCall(SpmvFree(&b->scans));
  PetscCall(SpmvFree(&b->column));
  PetscCall(SpmvFree(&b->base));
  PetscCall(SpmvFree(&b->escaped));
  PetscCall(SpmvFree(&b->escape));
  PetscCall(SpmvFree(&b->value));
  PetscCall(SpmvFree(&b->position));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
