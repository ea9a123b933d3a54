/*
  bccoo_blocks.h - the blocks of a matrix as they are stored: in tiles, some tiles side by side

  A block has two places: its number in row order, and where it is stored. Tile t holds the numbers [t tile, (t + 1) tile).
  With bunch 1 both are the same. With bunch B, B tiles make a group, and the k-th blocks of all of them are neighbours:
  number q is stored at g B tile + k B + l, where g = q / (B tile), l = q % (B tile) / tile, k = q % tile. The k-th blocks
  of a group are a step. Or blocks lie in row order (depth 1), and a group is any B of them that follow each other: that matters
  for the order of their values, which are side by side for the blocks of a step.

  16-bit columns are differences from the block before in the tile, with the few that do not fit in full. Devices, whose work
  items do not read a tile one block after the other, have distances from a base that `reach` blocks have in common
  (bccoo_distances.c).

  With several slices the matrix is the stack of its vertical slices, slices x mb block rows.
*/
#pragma once
#include "../../../host/values.h"

typedef enum { /* how block columns are stored */
               BCCOO_COLUMNS_AUTO,
               BCCOO_COLUMNS_INT32,
               BCCOO_COLUMNS_UINT16,
               BCCOO_COLUMNS_DIFFERENCE
} BccooColumns;

#define BCCOO_INLINE static inline __attribute__((always_inline))

#define BCCOO_BLOCK_MAX 8    /* largest block height and width */
#define BCCOO_PAD       8    /* scalars after the last value, so that a vector load of it stays inside */
#define BCCOO_FAR       16   /* one block of so many may be far from the one before it, or columns are int32 */
#define BCCOO_ESCAPE    (-1) /* the difference that says: the column is in `escaped` */

/* Runs a statement in which `name` is a height or width of blocks, for the compiler to unroll by */
#define BCCOO_SIZE_CASE(N, name, statement) \
  case N: { \
    const PetscInt name = N; \
    statement; \
  } break;
#define BCCOO_SIZED(name, size, statement) \
  switch (size) { \
    BCCOO_SIZE_CASE(1, name, statement) \
    BCCOO_SIZE_CASE(2, name, statement) \
    BCCOO_SIZE_CASE(3, name, statement) \
    BCCOO_SIZE_CASE(4, name, statement) \
    BCCOO_SIZE_CASE(5, name, statement) \
    BCCOO_SIZE_CASE(6, name, statement) \
    BCCOO_SIZE_CASE(7, name, statement) \
    BCCOO_SIZE_CASE(8, name, statement) \
  }

/* BccooTarget: where the values of a block go */
typedef struct {
  size_t q;     /* number of the block */
  size_t value; /* the first value's place; the next one of the block is `bunch` further */
  size_t step;  /* from there to the first value of the next block of the tile */
  size_t left;  /* blocks of the tile from this one on */
} BccooTarget;

/*
  BccooPiece: where one of BCCOO_PIECE blocks is, of a storage that a device makes by a work item for so many. These read side by
  side: of a GPU that keeps lines of 128 bytes, two work items share one
*/
#define BCCOO_PIECE 16
typedef struct {
  int32_t row, column; /* number of its block row among the non-empty ones, its block column */
} BccooPiece;

/* BccooBlocks: what the storage of either side begins with */
typedef struct {
  /* What the plan says */
  PetscInt     h, w;    /* block height, block width */
  PetscInt     slices;  /* vertical slices */
  PetscInt     tile;    /* blocks in a tile */
  BccooColumns columns; /* how columns are stored */

  /* What a side chooses */
  PetscInt  bunch;   /* tiles in a group */
  PetscInt  whole;   /* whole tiles: the storage is padded to a multiple of so many; 0: it ends with the last block */
  PetscInt  listed;  /* tiles whose escaped columns are one list: 1, or the bunch, which has them in the order of storage */
  PetscInt  depth;   /* blocks of a tile that lie `bunch` apart: tile, which 0 stands for, or 1: blocks lie in row order */
  PetscInt  reach;   /* blocks whose 16-bit columns are distances from one base, a divisor of tile; 0: they are differences */
  PetscBool inorder; /* flags lie in row order, wherever blocks are stored */

  /* What the matrix tells then */
  PetscInt m, n;       /* rows, columns of the matrix */
  PetscInt mb;         /* block rows of the matrix: ceil(m / h) */
  PetscInt slicewidth; /* block columns of a slice; the last one may be narrower */
  PetscInt nrows;      /* non-empty block rows */
  size_t   nblocks;    /* blocks with entries */
  size_t   nstored;    /* blocks stored: nblocks, and padding */
  size_t   ntiles;     /* tiles: ceil(nstored / tile) */
  size_t   nflags;     /* bytes of flags: whole tiles and whole words of 32 bits */
  size_t   nescaped;   /* columns that have no difference; elements of `escaped` */
  size_t   npositions; /* values that are put in their places one by one: with slices, or if a device makes the storage, all; else
                           those of block rows with fill; none of 1x1 blocks in one slice */

  /* The scan of a build */
  const int32_t *found;  /* [nblocks] block columns in row order; NULL: not wanted */
  int32_t       *own;    /* found, unless it is CSR's */
  BccooTarget    target; /* of the next block */
  BccooPiece    *piece;  /* [BccooPieces(nblocks)] blocks 0, BCCOO_PIECE, ..., if a device makes the storage */

  /* The arrays; those that nobody wants, or that a device makes, are NULL */
  int32_t  *row;     /* [nrows] block row of each non-empty block row, increasing; NULL if no block row is empty */
  uint64_t *end;     /* [nrows] number of the last block of each, plus 1: to build, and to set values row by row */
  uint8_t  *flags;   /* [nflags] bit b of byte k: 0 if the block stored at 8 k + b, or number 8 k + b, ends its row; then 1 */
  int32_t  *entry;   /* [ntiles + 1] result entries: row stops before each tile, so the number of its first result */
  uint16_t *stop;    /* [nrows] of the host: where the last block of each non-empty block row lies, less its group's first */
  int32_t  *firsts;  /* [ntiles / whole + 1] of a device: `entry` of the first tile of each work group, side by side */
  uint8_t  *scans;   /* [ntiles / whole] of a device: 1 if a work item of the work group has no row stop */
  void     *column;  /* [nstored] block columns as int32, uint16, or int16 differences from the block before in the tile */
  int32_t  *base;    /* [BccooBases()] differences: column of the tile's first block; distances: see bccoo_distances.c */
  int32_t  *escaped; /* [nescaped] columns that have no difference, or distances of more than 15 bits, list after list */
  int32_t  *escape;  /* [ntiles / listed + 1] first of each list; NULL if there is none */
  PetscScalar
             *value; /* [nstored h w + BCCOO_PAD] blocks by columns ("inner-block transpose"), entries e of a step side by side */
  uint32_t   *position; /* [npositions] where the value of each of those entries goes */
  SpmvValues *coded;    /* [nstored] of the host, 1x1: the values in the place of `value`; NULL: they are in `value` */
} BccooBlocks;

/* bccoo_scan.c; p: values of the knobs that both sides have */
extern PetscErrorCode BccooBlocksAllow(const SpmvCSR *csr, const PetscInt p[], char why[], size_t size);
extern PetscErrorCode BccooBlocksScan(const SpmvCSR *csr, PetscInt p[], PetscBool outline, BccooBlocks *b);

/* bccoo_distances.c */
extern PetscErrorCode BccooDistancesScan(BccooBlocks *b);
extern void           BccooDistancesSet(BccooBlocks *b);

/* bccoo_blocks.c */
extern PetscErrorCode BccooBlocksBuild(const SpmvCSR *csr, PetscInt p[], PetscInt ntasks, PetscBool outline, BccooBlocks *b);
extern PetscErrorCode BccooBlocksSetValues(const SpmvCSR *csr, void *storage);
extern PetscErrorCode BccooBlocksArrays(const void *storage, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode BccooBlocksDestroy(void *storage);

/* n / width, rounded up */
static inline PetscInt BccooCeil(PetscInt n, PetscInt width)
{
  return n / width + !!(n % width);
}

/* Rows of the stack of slices, whole block rows each */
static inline size_t BccooStackRows(const BccooBlocks *b)
{
  return (size_t)b->slices * (size_t)b->mb * (size_t)b->h;
}

/* Bytes of a column as stored */
static inline size_t BccooColumnSize(const BccooBlocks *b)
{
  return b->columns == BCCOO_COLUMNS_INT32 ? sizeof(int32_t) : sizeof(int16_t);
}

/* Bases of 16-bit columns */
static inline size_t BccooBases(const BccooBlocks *b)
{
  return b->reach ? b->nstored / (size_t)b->reach : b->ntiles;
}

/* Pieces of so many blocks */
static inline size_t BccooPieces(size_t nblocks)
{
  return (nblocks + BCCOO_PIECE - 1) / BCCOO_PIECE;
}

/* True if the column of a block cannot be stored as its difference from the one before */
static inline int BccooIsEscape(int32_t difference)
{
  return difference < INT16_MIN || difference > INT16_MAX || difference == BCCOO_ESCAPE;
}

/* True for 1x1 blocks in one slice, which are CSR's entries */
static inline PetscBool BccooIsSimple(const BccooBlocks *b)
{
  return (PetscBool)(b->h * b->w * b->slices == 1);
}

/* Where block number q is stored with entries = 1, its first value with entries = h w */
static inline size_t BccooPlace(const BccooBlocks *b, size_t q, size_t entries)
{
  const size_t depth = (size_t)b->depth, t = q / depth, lane = t % (size_t)b->bunch;

  return ((t - lane) * depth + q % depth * (size_t)b->bunch) * entries + lane;
}

/* Where the values of block number q go */
static inline BccooTarget BccooTargetOf(const BccooBlocks *b, size_t q)
{
  const size_t entries = (size_t)(b->h * b->w), depth = (size_t)b->depth;

  return (BccooTarget){q, BccooPlace(b, q, entries), entries * (size_t)b->bunch, depth - q % depth};
}

/* On by n blocks */
static inline void BccooTargetAdvance(const BccooBlocks *b, BccooTarget *p, size_t n)
{
  if (n < p->left) {
    p->q += n;
    p->value += n * p->step;
    p->left -= n;
  } else *p = BccooTargetOf(b, p->q + n);
}
