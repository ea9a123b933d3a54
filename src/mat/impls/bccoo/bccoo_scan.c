/*
  bccoo_scan.c - the blocks of a matrix in row order: how many there are, what their columns are, where the values of entries go
*/
#include "bccoo_knobs.h"
#include "bccoo_walk.h"
#include "../../../host/shape.h"

/* Why a matrix has no storage of such blocks; empty if it has. A block row or column past the last must not wrap either */
PetscErrorCode BccooBlocksAllow(const SpmvCSR *csr, const PetscInt p[], char why[], size_t size)
{
  const PetscInt  nb = BccooCeil(csr->n, p[BCCOO_BLOCK_WIDTH]), mb = BccooCeil(csr->m, p[BCCOO_BLOCK_HEIGHT]);
  const PetscBool fits = (PetscBool)(csr->n <= INT32_MAX - BCCOO_BLOCK_MAX && csr->m <= PETSC_MAX_INT - BCCOO_BLOCK_MAX);

  PetscFunctionBegin;
  if (!fits || mb >= INT32_MAX / p[BCCOO_SLICES]) {
    PetscCall(SpmvAppend(why, size,
                         "Local block of %" PetscInt_FMT " x %" PetscInt_FMT
                         " has more block rows or columns than 32-bit indices count; "
                         "use more processes or -mat_type aij",
                         csr->m, csr->n));
  } else if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_UINT16 && nb > UINT16_MAX + 1) {
    PetscCall(SpmvAppend(
      why, size, "%" PetscInt_FMT " block columns do not fit uint16; set -mat_bccoo_columns to auto, int32 or difference", nb));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts escaped columns, once all columns are known: how many there are before each list */
static PetscErrorCode BccooScanEscapes(BccooBlocks *b)
{
  const int32_t *column = b->found;
  const size_t   tile = (size_t)b->tile, listed = (size_t)b->listed;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((b->ntiles / listed + 1) * sizeof(int32_t), &b->escape));
  for (size_t t = 0; t < b->ntiles; t++) {
    const size_t end = PetscMin((t + 1) * tile, b->nblocks);
    int32_t      n   = 0;

    if (t % listed == 0) b->escape[t / listed] = (int32_t)b->nescaped;
    for (size_t q = t * tile + 1; q < end; q++) n += BccooIsEscape(column[q] - column[q - 1]);
    b->nescaped += (size_t)n;
  }
  b->escape[b->ntiles / listed] = (int32_t)b->nescaped;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next block has this column */
static inline void BccooScanPut(BccooBlocks *b, PetscInt column)
{
  if (b->own) b->own[b->target.q] = (int32_t)column;
  if (b->piece && b->target.q % BCCOO_PIECE == 0)
    b->piece[b->target.q / BCCOO_PIECE] = (BccooPiece){(int32_t)b->nrows, (int32_t)column};
  BccooTargetAdvance(b, &b->target, 1);
}

/*
  Where all blocks of a block row are full, and there is one slice, the values need no positions. Then its blocks are put; w is
  b->w, for the compiler to divide by
*/
BCCOO_INLINE PetscBool BccooScanFull(BccooBlocks *b, const SpmvCSR *csr, PetscInt row, PetscInt w)
{
  const PetscInt *i = csr->i + row, *j = csr->j + i[0], n = i[1] - i[0];
  int32_t *const  own = b->own ? b->own + b->target.q : NULL;

  if (!n || b->slices > 1 || row + b->h > csr->m || n % w) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; k += w) { /* columns increase */
    const uint32_t column = (uint32_t)j[k] / (uint32_t)w;

    if ((uint32_t)j[k] != column * (uint32_t)w || j[k + w - 1] - j[k] >= w) return PETSC_FALSE;
    if (own) own[k / w] = (int32_t)column;
  }
  if (SpmvSameRows(csr, row, b->h) < b->h) return PETSC_FALSE;
  for (size_t q = BccooPieces(b->target.q); b->piece && q < BccooPieces(b->target.q + (size_t)(n / w)); q++)
    b->piece[q] = (BccooPiece){(int32_t)b->nrows, (int32_t)(j[(q * BCCOO_PIECE - b->target.q) * (size_t)w] / w)};
  BccooTargetAdvance(b, &b->target, (size_t)(n / w));
  return PETSC_TRUE;
}

/* The blocks of the block row that walk stands at; where the value of each of its entries goes is written to position */
BCCOO_INLINE void BccooScanBlocks(BccooBlocks *b, BccooWalk *walk, PetscInt rows, uint32_t *position)
{
  const PetscInt *j = walk->csr->j, first = walk->csr->i[walk->row];
  PetscInt        from[BCCOO_BLOCK_MAX], column;

  memcpy(from, walk->cursor, sizeof(from));
  while ((column = BccooWalkNext(walk, rows)) >= 0) {
    for (PetscInt i = 0; position && i < rows; i++) {
      for (; from[i] < walk->cursor[i]; from[i]++) {
        const PetscInt e = (j[from[i]] - column * walk->w) * walk->h + i;

        position[from[i] - first] = (uint32_t)(b->target.value + (size_t)(e * b->bunch));
      }
    }
    BccooScanPut(b, column);
  }
}

/*
  The same for blocks of one column and one slice, of which a row has one entry or none: without branches that depend on the
  pattern, which no processor predicts
*/
BCCOO_INLINE void BccooScanColumns(BccooBlocks *b, const SpmvCSR *csr, PetscInt row, PetscInt rows, uint32_t *position)
{
  const PetscInt *i = csr->i + row, *j = csr->j, last = csr->i[csr->m] - 1;
  PetscInt        from[BCCOO_BLOCK_MAX], next[BCCOO_BLOCK_MAX];
  BccooTarget     target = b->target; /* like the next one in registers: stores of integers might change what b has */
  uint32_t        unused;

  for (PetscInt r = 0; r < rows; r++) {
    from[r] = i[r];
    next[r] = i[r] < i[r + 1] ? j[i[r]] : PETSC_MAX_INT;
  }
  for (;;) {
    PetscInt column = next[0];

    for (PetscInt r = 1; r < rows; r++) column = PetscMin(column, next[r]);
    if (column == PETSC_MAX_INT) break;
    for (PetscInt r = 0; r < rows; r++) {
      const PetscInt takes = next[r] == column, at = from[r] + takes;
      const PetscInt after = at < i[r + 1] ? j[PetscMin(at, last)] : PETSC_MAX_INT;

      *(takes ? position + (from[r] - i[0]) : &unused) = (uint32_t)(target.value + (size_t)(r * b->bunch));
      next[r]                                          = takes ? after : next[r];
      from[r]                                          = at;
    }
    b->own[target.q] = (int32_t)column;
    BccooTargetAdvance(b, &target, 1);
  }
  b->target = target;
}

/* The blocks of the block row that begins with a row */
static void BccooScanRow(BccooBlocks *b, BccooWalk *walk, PetscInt row)
{
  const size_t entry    = b->slices > 1 ? (size_t)walk->csr->i[row] : b->npositions;
  uint32_t    *position = b->position ? b->position + entry : NULL;
  PetscBool    full     = PETSC_FALSE;

  BCCOO_SIZED(w, b->w, full = BccooScanFull(b, walk->csr, row, w))
  if (full) return;
  BccooWalkStart(walk, row);
  if (b->w > 1 || b->slices > 1 || !position) BCCOO_SIZED(rows, walk->rows, BccooScanBlocks(b, walk, rows, position))
  else BCCOO_SIZED(rows, walk->rows, BccooScanColumns(b, walk->csr, row, rows, position))
}

/* The blocks of size 1x1 in one slice: entries of CSR */
static void BccooScanEntries(const SpmvCSR *csr, BccooBlocks *b)
{
  const PetscInt *i = csr->i, *j = csr->j;
  uint64_t *const end = b->end;
  int32_t *const  row = b->row;
  PetscInt        n   = 0;

  for (PetscInt r = 0; r < csr->m; r++) {
    end[n] = (uint64_t)i[r + 1];
    row[n] = (int32_t)r;
    n += i[r + 1] > i[r];
  }
  for (PetscInt k = 0; b->own && k < i[csr->m]; k++) b->own[k] = (int32_t)j[k];
  for (size_t q = 0, k = 0; b->piece && q < BccooPieces((size_t)i[csr->m]); q++) {
    while (end[k] <= q * BCCOO_PIECE) k++;
    b->piece[q] = (BccooPiece){(int32_t)k, (int32_t)j[q * BCCOO_PIECE]};
  }
  b->nrows    = n;
  b->target.q = (size_t)i[csr->m];
}

/* All block rows, slice after slice */
static PetscErrorCode BccooScanRows(const SpmvCSR *csr, BccooBlocks *b)
{
  BccooWalk walk = {.csr = csr, .h = b->h, .w = b->w};

  PetscFunctionBegin;
  if (b->slices > 1) {
    PetscCall(PetscMalloc1(csr->m, &walk.next));
    PetscCall(PetscArraycpy(walk.next, csr->i, csr->m));
  }
  for (PetscInt s = 0; s < b->slices; s++) {
    walk.stop = s + 1 == b->slices ? PETSC_MAX_INT : (s + 1) * b->slicewidth * b->w;
    for (PetscInt row = 0, k = s * b->mb; row < csr->m; row += b->h, k++) {
      const size_t first = b->target.q, entries = (size_t)(csr->i[PetscMin(csr->m, row + b->h)] - csr->i[row]);

      BccooScanRow(b, &walk, row);
      if (entries < (b->target.q - first) * (size_t)(b->h * b->w)) b->npositions += entries;
      if (b->target.q == first) continue;
      b->end[b->nrows]   = b->target.q;
      b->row[b->nrows++] = (int32_t)k;
    }
  }
  PetscCall(PetscFree(walk.next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Finds the blocks of a matrix under a plan: sizes, kind of columns, positions, and the scan, which BccooBlocksBuild() ends.
  outline: columns and positions are not wanted. PETSC_ERR_ARG_OUTOFRANGE: more values than 32-bit positions count
*/
PetscErrorCode BccooBlocksScan(const SpmvCSR *csr, PetscInt p[], PetscBool outline, BccooBlocks *b)
{
  const PetscInt nb   = BccooCeil(csr->n, p[BCCOO_BLOCK_WIDTH]);
  const size_t   tile = (size_t)p[BCCOO_TILE], group = tile * (size_t)PetscMax(1, b->whole), nz = (size_t)csr->i[csr->m];
  size_t         nrows;
  PetscBool      escapes;

  PetscFunctionBegin;
  b->h          = p[BCCOO_BLOCK_HEIGHT];
  b->w          = p[BCCOO_BLOCK_WIDTH];
  b->slices     = p[BCCOO_SLICES];
  b->tile       = p[BCCOO_TILE];
  b->depth      = b->depth ? b->depth : b->tile;
  b->columns    = (BccooColumns)p[BCCOO_COLUMNS];
  b->m          = csr->m;
  b->n          = csr->n;
  b->mb         = BccooCeil(csr->m, b->h);
  nrows         = (size_t)b->slices * (size_t)b->mb;
  b->slicewidth = BccooCeil(nb, b->slices);
  if (b->columns == BCCOO_COLUMNS_AUTO && nb <= UINT16_MAX + 1) b->columns = BCCOO_COLUMNS_UINT16;
  escapes = (PetscBool)(b->columns == BCCOO_COLUMNS_AUTO || b->columns == BCCOO_COLUMNS_DIFFERENCE);
  PetscCall(SpmvAlloc(nrows * sizeof(uint64_t), &b->end));
  PetscCall(SpmvAlloc(nrows * sizeof(int32_t), &b->row));
  if (BccooIsSimple(b) && sizeof(PetscInt) == sizeof(int32_t)) b->found = (const int32_t *)csr->j;
  else if (!outline || escapes) {
    PetscCall(SpmvAlloc(nz * sizeof(int32_t), &b->own));
    b->found = b->own;
  }
  if (!outline && !BccooIsSimple(b)) PetscCall(SpmvAlloc(nz * sizeof(uint32_t), &b->position));
  if (outline) PetscCall(SpmvAlloc(BccooPieces(nz) * sizeof(BccooPiece), &b->piece));
  b->target = BccooTargetOf(b, 0);
  if (BccooIsSimple(b)) BccooScanEntries(csr, b);
  else PetscCall(BccooScanRows(csr, b));
  b->nblocks = b->target.q;
  if ((size_t)b->nrows == nrows) PetscCall(SpmvFree(&b->row));
  b->nstored = b->whole ? (b->nblocks + group - 1) / group * group : b->nblocks;
  b->ntiles  = (b->nstored + tile - 1) / tile;
  b->nflags  = (b->ntiles * tile + 31) / 32 * 4;
  if (escapes) PetscCall(b->reach ? BccooDistancesScan(b) : BccooScanEscapes(b));
  if (b->columns == BCCOO_COLUMNS_AUTO)
    b->columns = b->nescaped <= b->nblocks / BCCOO_FAR ? BCCOO_COLUMNS_DIFFERENCE : BCCOO_COLUMNS_INT32;
  if (b->columns != BCCOO_COLUMNS_DIFFERENCE) b->nescaped = 0;
  if (!b->nescaped) PetscCall(SpmvFree(&b->escape));
  if (b->slices > 1 || outline) b->npositions = nz;
  if (BccooIsSimple(b)) b->npositions = 0;
  if (!b->npositions) PetscCall(SpmvFree(&b->position));
  p[BCCOO_COLUMNS] = b->columns;
  PetscCheck(b->nescaped <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu columns have no 16-bit difference, more than 32-bit integers count; set -mat_bccoo_columns to int32",
             b->nescaped);
  PetscCheck(!b->npositions || b->nstored * (size_t)(b->h * b->w) <= UINT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu blocks of %" PetscInt_FMT " x %" PetscInt_FMT " hold more values than 32-bit positions count; "
             "use more processes, or set -mat_bccoo_block_height and -mat_bccoo_block_width to 1",
             b->nblocks, b->h, b->w);
  PetscFunctionReturn(PETSC_SUCCESS);
}
