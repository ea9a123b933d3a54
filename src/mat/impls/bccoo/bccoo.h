/*
  bccoo.h - the storage of BCCOO

  bccoo.c         the format: knobs, arrays, sizes
  bccoo_plan.c    plans worth an estimate and their work; what sizes tell
  bccoo_build.c   the pattern: blocks, columns, row stops
  bccoo_walk.h    CSR rows as blocks, for these two
  bccoo_values.c  the values
  bccoo_scan.h    how many blocks there are, for bccoo_build.c
  bccoo_convert.c what a device makes of a storage for it, from CSR's arrays; the kernels are in bccoo_convert.cl
  bccoo_device.c  the products of devices: knobs, launches; their kernels are in bccoo.cl, bccoo_words.cl and bccoo_block.cl
  bccoo_simd.c    the products: bccoo_vectors.h (what they read and write), bccoo_blocks.h (block after block),
                  bccoo_lanes.h (eight tiles at a time)
*/
#pragma once
#include "../../../spmvimpl.h"
#include <endian.h>

enum { /* the knobs, in the order of BccooParams */
       BCCOO_BLOCK_HEIGHT,
       BCCOO_BLOCK_WIDTH,
       BCCOO_COLUMNS,
       BCCOO_FLAG_BITS,
       BCCOO_TILE,
       BCCOO_BUNCH,
       BCCOO_SLICES,
       BCCOO_NPARAMS
};

enum { /* the knobs of devices, in the order of BccooDeviceParams */
       BCCOO_DEVICE_WORKGROUP,
       BCCOO_DEVICE_STRATEGY,
       BCCOO_DEVICE_REGISTERS,
       BCCOO_DEVICE_CACHE,
       BCCOO_DEVICE_BUNCH,
       BCCOO_DEVICE_TRANSPOSE,
       BCCOO_DEVICE_SCAN,
       BCCOO_DEVICE_CARRY,
       BCCOO_DEVICE_CONVERT,
       BCCOO_DEVICE_GRID,
       BCCOO_DEVICE_NPARAMS
};

enum { /* values of BCCOO_DEVICE_CONVERT */
       BCCOO_CONVERT_AUTO,
       BCCOO_CONVERT_HOST,
       BCCOO_CONVERT_DEVICE
};

typedef enum { /* values of BCCOO_COLUMNS */
               BCCOO_COLUMNS_AUTO,
               BCCOO_COLUMNS_INT32,
               BCCOO_COLUMNS_UINT16,
               BCCOO_COLUMNS_DIFFERENCE
} BccooColumns;

#define BCCOO_BLOCK_MAX  8    /* largest block height and width */
#define BCCOO_LANES      8    /* the bunch that has SIMD kernels: tiles that one instruction works on */
#define BCCOO_GROUP_MAX  4096 /* rows of the blocks of a group, at most: h x tile x bunch */
#define BCCOO_CHUNK      64   /* blocks whose columns and flags are looked at at a time, without a bunch */
#define BCCOO_PAD        8    /* scalars after the last value, so that a vector load of it stays inside */
#define BCCOO_AHEAD_LESS 4    /* entries of a block from which on the processor asks for the next ones early enough: 3 x 3 out of cache on Zen 3, 3.60 ms if we ask, 3.15 if not; 1 x 1, 3.86 and 4.35 */
#define BCCOO_FAR        16   /* one block of so many may be far from the one before it, or columns are int32 */
#define BCCOO_ESCAPE     (-1) /* the difference that says: the column is in `escaped` */

/*
  A block has two places: its number in row order, and where it is stored. Tile t holds the numbers [t tile, (t + 1) tile).
  With bunch 1 both are the same. With bunch B, B tiles make a group, and the k-th blocks of all of them are neighbours:
  number q is stored at g B tile + k B + l, where g = q / (B tile), l = q % (B tile) / tile, k = q % tile. The last
  group is padded. Column k of all lanes is a step.

  In a storage for a device the bunch is a work group, a work item's tiles, or 1 and blocks lie in row order, padded to whole work groups as well.

  With several slices the matrix is the stack of its vertical slices, slices x mb block rows.
*/
typedef struct {
  size_t   first, last; /* tiles [first, last), whole groups */
  PetscInt low, high;   /* columns [low, high) of the matrix that its blocks lie in */
} BccooPart;            /* what one thread works on */

typedef struct {
  PetscInt     m, n;       /* rows, columns of the matrix */
  PetscInt     h, w;       /* block height, block width */
  PetscInt     mb;         /* block rows of the matrix: ceil(m / h) */
  PetscInt     slices;     /* vertical slices */
  PetscInt     slicewidth; /* block columns of a slice; the last one may be narrower */
  PetscInt     tile;       /* blocks in a tile */
  PetscInt     bunch;      /* tiles in a group */
  PetscInt     workgroup;  /* of a device: tiles that a work group works on; 0: a storage for the host */
  PetscInt     item;       /* of a device: tiles that a work item works on */
  PetscInt     flag_bits;  /* bits of a flag word: 8, 16 or 32 */
  BccooColumns columns;    /* how columns are stored */
  PetscBool    ahead;      /* so large that a product has to ask memory early */
  size_t       nblocks;    /* blocks with entries */
  size_t       nstored;    /* blocks stored: nblocks, or a multiple of bunch x tile */
  size_t       ntiles;     /* tiles: ceil(nstored / tile) */
  PetscInt     nrows;      /* non-empty block rows */
  int32_t     *row;        /* [nrows] block row of each non-empty block row, increasing; NULL if no block row is empty */
  size_t       nflags;     /* bytes of flags: whole tiles and whole words */
  uint8_t     *flags;      /* [nflags] bit b of byte k is 0 if the block stored at 8 k + b is the last of its block row; padded with 1 */
  int32_t     *entry;      /* [ntiles + 1] result entries: row stops before each tile, so the number of its first result */
  uint16_t    *stop;       /* [nrows] bunch > 1, on the host: where the last block of each non-empty block row is stored, less its group's first place */
  void        *column;     /* [nstored] block columns as int32, uint16, or int16 differences from the block before in the tile */
  int32_t     *base;       /* [ntiles] differences: column of the tile's first block */
  size_t       nescaped;
  int32_t     *escaped; /* [nescaped] columns that have no difference, in the order of storage; tile by tile for a device */
  int32_t     *escape;  /* [ntiles / bunch + 1] first of each group among them, [ntiles + 1] of each tile for a device; NULL if there is none */
  uint8_t     *scan;    /* [ntiles / workgroup] for a device: 1 if a work item of the work group has no row stop */
  PetscScalar *value;   /* [nstored h w + BCCOO_PAD] blocks as stored, each by columns ("inner-block transpose"); with a bunch, entry e of B blocks side by side */
  size_t       npositions;
  uint32_t    *position;  /* [npositions] where the value of each entry goes, for entries of block rows with fill; with slices or a device's bunch for all, but with 1x1 in one slice for none */
  PetscBool    converted; /* the device makes column, flags, base, escaped, value and position, which are NULL here, from what follows */
  size_t       nentries;  /* of the matrix */
  SpmvCSR      csr;       /* the matrix; its arrays are there until they are sent only, after a build and after new values */
  uint32_t    *end;       /* [nrows + 1] one past the last block before, and of, each non-empty block row */
  PetscScalar *partial;   /* [slices mb h] slices > 1: the products of the slices, before they are added */
  PetscScalar *whole;     /* [block columns x w] bunch > 1, on the host, if w does not divide n: x, then zeros */
  PetscInt     nparts;    /* threads */
  BccooPart   *part;      /* [nparts] about as many blocks each */
} BccooStorage;

/* bccoo_plan.c */
extern PetscErrorCode BccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS]);
extern PetscErrorCode BccooResolve(const SpmvCSR *csr, SpmvPlan *plan);
extern PetscErrorCode BccooWorks(const SpmvCSR *csr, PetscInt n, const SpmvPlan plans[], SpmvWork works[]);

/* bccoo_device.c */
extern const SpmvDeviceFormat BccooDevice;
extern PetscErrorCode         BccooDeviceResolve(PetscInt entries, SpmvPlan *plan);

/* bccoo_convert.c */
extern const char     BccooConvertSource[];
extern PetscErrorCode BccooConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product);
extern PetscErrorCode BccooConvertSettle(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscLogDouble room, SpmvPlan *plan);

/* bccoo_build.c */
extern PetscErrorCode BccooPredict(const SpmvCSR *csr, const SpmvPlan *plan, BccooStorage *b);
extern PetscErrorCode BccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode BccooDestroy(void **storage);

/* bccoo_values.c */
extern PetscErrorCode BccooSetValues(const SpmvCSR *csr, void *storage);

/* Bytes of a column as stored */
static inline size_t BccooColumnSize(const BccooStorage *b)
{
  return b->columns == BCCOO_COLUMNS_INT32 ? sizeof(int32_t) : sizeof(int16_t);
}

/* Whole tiles that are stored together: the storage is padded to a multiple of as many */
static inline size_t BccooWholeTiles(const BccooStorage *b)
{
  return (size_t)(b->workgroup ? b->workgroup : b->bunch);
}

/* Tiles that have one entry of `escape` */
static inline size_t BccooEscapeTiles(const BccooStorage *b)
{
  return b->workgroup ? 1 : (size_t)b->bunch;
}

/* Where block number q is stored */
static inline size_t BccooPlace(const BccooStorage *b, size_t q)
{
  const size_t tile = (size_t)b->tile, group = tile * (size_t)b->bunch, r = q % group;

  return b->bunch == 1 ? q : q - r + r % tile * (size_t)b->bunch + r / tile;
}

/* True if the values of block rows without fill are set block by block, without positions */
static inline int BccooIsPlain(const BccooStorage *b)
{
  return b->slices == 1 && (b->bunch == 1 || !b->workgroup);
}

/* True for such a block row */
static inline int BccooIsFull(const BccooStorage *b, size_t entries, size_t blocks)
{
  return BccooIsPlain(b) && entries == blocks * (size_t)(b->h * b->w);
}

/* BccooTarget: where the values of a block go */
typedef struct {
  size_t entries, bunch, tile; /* of a block, of a group, of a lane */
  size_t step, lane;
  size_t value; /* the first one's place; the next one of the block is `bunch` further */
} BccooTarget;

/* That of block number q */
static inline BccooTarget BccooTargetOf(const BccooStorage *b, size_t q)
{
  const size_t entries = (size_t)(b->h * b->w), bunch = (size_t)b->bunch, tile = (size_t)b->tile, r = q % (tile * bunch);

  if (bunch == 1) return (BccooTarget){.entries = entries, .bunch = 1, .tile = tile, .value = q * entries};
  return (BccooTarget){.entries = entries, .bunch = bunch, .tile = tile, .step = r % tile, .lane = r / tile, .value = (q - r + r % tile * bunch) * entries + r / tile};
}

/* On to where the values of the next block go: the next step of the same lane, or the next lane, or the next group */
static inline void BccooTargetAdvance(BccooTarget *p)
{
  p->value += p->entries * p->bunch;
  if (p->bunch == 1 || ++p->step < p->tile) return;
  p->step = 0;
  p->value -= p->entries * p->bunch * p->tile;
  p->value++;
  if (++p->lane < p->bunch) return;
  p->lane = 0;
  p->value += p->entries * p->bunch * p->tile - p->bunch;
}

/* The number of the block stored at a place */
static inline size_t BccooNumber(const BccooStorage *b, size_t place)
{
  const size_t bunch = (size_t)b->bunch, tile = (size_t)b->tile, r = place % (bunch * tile);

  return place - r + r % bunch * tile + r / bunch;
}

/* The block row, in the stack of slices, of the k-th non-empty one */
static inline size_t BccooRow(const BccooStorage *b, size_t k)
{
  return b->row ? (size_t)b->row[k] : k;
}

/* A bit for each row stop among the n blocks stored from place on; place % 8 + n <= 64. A word of flags is a string of bytes, lowest bits first */
static inline uint64_t BccooStops(const BccooStorage *b, size_t place, size_t n)
{
  uint64_t word;

  memcpy(&word, b->flags + place / 8, sizeof(word));
  return ~(le64toh(word) >> place % 8) & (~UINT64_C(0) >> (64 - n));
}
