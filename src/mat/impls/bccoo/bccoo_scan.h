/*
  bccoo_scan.h - the blocks of a matrix, counted before a storage is made, and in row order what it is made from
*/
#pragma once
#include "bccoo_walk.h"

/* BccooScan: the blocks in row order, the same for every tile, bunch and kind of column */
typedef struct {
  size_t         nblocks;
  PetscInt       nrows;    /* non-empty block rows */
  size_t        *end;      /* [nrows] one past the last block of each */
  int32_t       *row;      /* [nrows] their block row in the stack of slices */
  const int32_t *column;   /* [nblocks] block columns; NULL: nobody wants them */
  int32_t       *own;      /* column, if it is ours to free */
  size_t         nescaped; /* blocks whose column is no 16-bit difference from the one before in their tile, if these are counted */
  size_t         ntiles;
  int32_t       *escape; /* [ntiles] those before each tile; NULL: they are not counted */
  BccooTarget    target; /* of the next block */
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
  PetscCall(SpmvFree(&scan->escape));
  PetscCall(PetscFree2(scan->end, scan->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts them, once all columns are known */
static void BccooScanEscapes(const BccooStorage *b, BccooScan *scan)
{
  const int32_t *column = scan->column;
  const size_t   tile   = (size_t)b->tile;

  for (size_t q = 0; q < scan->nblocks; q += tile) {
    const size_t end = PetscMin(q + tile, scan->nblocks);
    int32_t      n   = 0;

    scan->escape[scan->ntiles++] = (int32_t)scan->nescaped;
    for (size_t k = q + 1; k < end; k++) n += BccooIsEscape(column[k] - column[k - 1]);
    scan->nescaped += (size_t)n;
  }
}

/* The next block has this column */
static inline void BccooScanPut(BccooScan *scan, PetscInt column)
{
  if (scan->own) scan->own[scan->nblocks] = (int32_t)column;
  scan->nblocks++;
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
    BccooScanPut(scan, j[q * b->w] / b->w);
    for (PetscInt e = 0; position && e < b->h * b->w; e++) position[e % b->h * n + q * b->w + e / b->h] = (uint32_t)(scan->target.value + (size_t)(e * b->bunch));
    BccooTargetAdvance(&scan->target);
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
        for (; from[i] < walk->cursor[i]; from[i]++) position[from[i] - first] = (uint32_t)(scan->target.value + (size_t)(((j[from[i]] - column * walk->w) * walk->h + i) * b->bunch));
      }
    }
    BccooScanPut(scan, column);
    BccooTargetAdvance(&scan->target);
  }
}

/*
  The same for blocks of one column and one slice, of which a row has one entry or none: without a branch that depends on the
  pattern, which nobody foresees. Columns are wanted; keep: positions are wanted, too
*/
static inline __attribute__((always_inline)) void BccooScanColumns(const SpmvCSR *csr, PetscInt row, PetscInt rows, BccooScan *scan, uint32_t *position, int keep)
{
  const PetscInt *i = csr->i + row, *j = csr->j, last = csr->i[csr->m] - 1;
  PetscInt        from[BCCOO_BLOCK_MAX], next[BCCOO_BLOCK_MAX];
  BccooTarget     target = scan->target; /* like the next one in registers: stores of integers might change what scan has */
  int32_t        *own    = scan->own + scan->nblocks;
  uint32_t        nobody;

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
      const PetscInt ahead = at < i[r + 1] ? j[PetscMin(at, last)] : PETSC_MAX_INT;

      if (keep) *(takes ? position + (from[r] - i[0]) : &nobody) = (uint32_t)(target.value + (size_t)r * target.bunch);
      next[r] = takes ? ahead : next[r];
      from[r] = at;
    }
    *own++ = (int32_t)column;
    BccooTargetAdvance(&target);
  }
  scan->nblocks = (size_t)(own - scan->own);
  scan->target  = target;
}

/*
  Blocks and non-empty block rows; their columns and where values go if that is wanted (`whole`), and how many columns are no difference
  (`escapes`, for which they are kept as well). 1x1 blocks in one slice have AIJ's columns, which are lent if they are int32
*/
static PetscErrorCode BccooScanCreate(const SpmvCSR *csr, const BccooStorage *b, PetscBool whole, PetscBool escapes, BccooScan *scan)
{
  const PetscBool simple = b->h * b->w == 1 && b->slices == 1 ? PETSC_TRUE : PETSC_FALSE, lent = simple && sizeof(PetscInt) == sizeof(int32_t) ? PETSC_TRUE : PETSC_FALSE;
  BccooWalk       walk;

  PetscFunctionBegin;
  *scan = (BccooScan){.target = BccooTargetOf(b, 0)};
  PetscCall(PetscMalloc2(b->slices * b->mb, &scan->end, b->slices * b->mb, &scan->row));
  if (lent) scan->column = (const int32_t *)csr->j;
  else if (whole || escapes) {
    PetscCall(SpmvAlloc((size_t)csr->i[csr->m] * sizeof(int32_t), &scan->own));
    scan->column = scan->own;
  }
  if (escapes) PetscCall(SpmvAlloc(((size_t)(csr->i[csr->m] / b->tile) + 1) * sizeof(int32_t), &scan->escape));
  if (whole && !simple) PetscCall(SpmvAlloc((size_t)csr->i[csr->m] * sizeof(uint32_t), &scan->position));
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

        if (full) BccooScanFull(b, csr, row, full, scan, BccooIsPlain(b) ? NULL : position);
        else {
          BccooWalkStart(&walk, row);
          if (b->w > 1 || b->slices > 1 || !scan->own) BCCOO_WALK_ROWS(&walk, BccooScanBlockRow(b, &walk, rows, scan, position))
          else if (position) BCCOO_WALK_ROWS(&walk, BccooScanColumns(csr, row, rows, scan, position, 1))
          else BCCOO_WALK_ROWS(&walk, BccooScanColumns(csr, row, rows, scan, NULL, 0))
        }
      }
      if (b->slices == 1 && !BccooIsFull(b, entries, scan->nblocks - first)) scan->npositions += entries;
      if (scan->nblocks == first) continue;
      scan->end[scan->nrows]   = scan->nblocks;
      scan->row[scan->nrows++] = (int32_t)(s * b->mb + row / b->h);
    }
  }
  if (escapes) BccooScanEscapes(b, scan);
  if (b->slices > 1) scan->npositions = (size_t)csr->i[csr->m];
  if (simple) scan->npositions = 0;
  PetscCall(PetscFree(walk.next));
  PetscFunctionReturn(PETSC_SUCCESS);
}
