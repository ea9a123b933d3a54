/*
  tpspmv_cut.h - what both sides begin with: common knobs, tiles of columns, slices of rows, CSR as pairs of a tile and a row
*/
#pragma once
#include "../../../spmvimpl.h"

#define TPSPMV_ALL      (1 << 30) /* value of the knob tile: one tile */
#define TPSPMV_LONG_MAX 255       /* entries of a pair, at most: a uint8 counts them */
#define TPSPMV_LONG_OWN 128       /* the same where nothing tells another number */

#define TPSPMV_TOO_MANY_PAIRS \
  "%zu pairs of a tile and a row are more than 32-bit indices count; use more processes, or set -mat_tpspmv_tile to a " \
  "larger value"

/* Values of the knobs remove, stream and device_stage */
enum { TPSPMV_AUTO, TPSPMV_NO, TPSPMV_YES };

static const PetscInt TpspmvTiles[]   = {0,     2,      16,     1024,   4096,    8192,    16384,     32768,
                                         65536, 131072, 262144, 524288, 1048576, 2097152, TPSPMV_ALL};
static const PetscInt TpspmvSlices[]  = {0, 8, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const PetscInt TpspmvLongs[]   = {0, 128, 8, 16, 32, 64, 255};
static const PetscInt TpspmvChoices[] = {TPSPMV_AUTO, TPSPMV_NO, TPSPMV_YES};

static const char *const TpspmvChoiceNames[] = {"auto", "no", "yes"};

/* The knobs of both sides. Those of one side only follow, from TPSPMV_OWN on */
enum { TPSPMV_CACHE, TPSPMV_TILE, TPSPMV_SLICE, TPSPMV_LONG, TPSPMV_REMOVE, TPSPMV_OWN };

#define TPSPMV_PARAMS \
  [TPSPMV_CACHE] = SPMV_RANGE( \
    "cache", "KiB of the cache that is to hold the x of a tile twice: a core's second one, or a device's; 0: the machine's", 0, \
    0, 1 << 20, SPMV_KNOB_CACHE), \
  [TPSPMV_TILE] = SPMV_CHOICES("tile", "columns of a tile, at most, 0: by the cache; 1073741824: one tile", TpspmvTiles, NULL, \
                               SPMV_KNOB_TILE), \
  [TPSPMV_SLICE] = \
    SPMV_CHOICES("slice", "rows of a slice, 0: by the entries that a tile has in it", TpspmvSlices, NULL, SPMV_KNOB_TILE), \
  [TPSPMV_LONG]   = SPMV_CHOICES("long", \
                                 "entries of a row in a tile above which it is cut into segments, 0: 128, or, on a GPU, so few " \
                                   "that its work items are enough", \
                                 TpspmvLongs, NULL, SPMV_KNOB_LOCAL), \
  [TPSPMV_REMOVE] = SPMV_CHOICES("remove", "empty columns are removed, auto: where x does not fit the cache and half are empty", \
                                 TpspmvChoices, TpspmvChoiceNames, SPMV_KNOB_LAYOUT)

/* TpspmvCut: columns are those of the matrix, or, where empty ones are removed, numbers of the others; column[] tells which */
typedef struct {
  PetscInt  m, n;                    /* rows, columns of the matrix */
  PetscInt  nused;                   /* columns that are not removed */
  PetscInt  cache;                   /* KiB of the cache that tiles are made for */
  PetscInt  ntiles, nslices, height; /* height: rows of a slice; the last one may have fewer */
  PetscInt  quantum;                 /* tiles begin at multiples of 2^quantum columns */
  int32_t  *tile;                    /* [ntiles + 1] first column of each tile */
  int32_t  *column;                  /* [nused] the columns that are left; NULL: none is removed */
  int32_t  *number;                  /* [n] the number of each column, for builds and conversions; NULL: none is removed */
  uint16_t *tileof;                  /* [nused / 2^quantum] several tiles: that of each so many columns; for builds */
} TpspmvCut;

/* TpspmvPair: the entries that a tile and a row have in common, or, if these are too many, a part of them */
typedef struct {
  int32_t  row;         /* in its slice */
  int32_t  length;      /* entries, > 0 */
  PetscInt start;       /* the first, in CSR */
  int32_t  tile;        /* the tile */
  int32_t  part;        /* 0: all of them; else 1, 2, ... */
  int32_t  consecutive; /* for the visitor: 0 when it is called */
} TpspmvPair;

/* Is given the n pairs of a chunk, in the order of rows. Chunk t nslices + s is of tile t and slice s, from firstrow on */
typedef void TpspmvVisit(void *context, PetscInt chunk, PetscInt firstrow, TpspmvPair pair[], PetscInt n);

/* tpspmv_cut.c */
extern PetscErrorCode TpspmvColumnsLeft(const SpmvCSR *csr, const PetscInt p[], PetscInt *nused, int32_t **number);
extern PetscInt       TpspmvTileWidth(PetscInt cache);
extern PetscInt       TpspmvSliceHeight(const SpmvCSR *csr, PetscInt ntiles, PetscInt least, PetscInt entries);
extern PetscErrorCode TpspmvAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size);
extern PetscErrorCode TpspmvCutCreate(const SpmvCSR *csr, const PetscInt p[], TpspmvCut *cut);
extern PetscErrorCode TpspmvCutBuilt(TpspmvCut *cut);
extern PetscErrorCode TpspmvCutDescribe(const TpspmvCut *cut, char line[], size_t size);
extern PetscErrorCode TpspmvCutDestroy(TpspmvCut *cut);
extern PetscErrorCode TpspmvWalk(const SpmvCSR *csr, const TpspmvCut *cut, PetscInt longest, PetscInt part, TpspmvVisit *visit,
                                 void *context);

/* Tiles of so many columns at most, or slices of so many rows, that n make; at least one */
static inline PetscInt TpspmvParts(PetscInt n, PetscInt most)
{
  return PetscMax(1, n / most + !!(n % most));
}

/* True if there is one tile, so that the sums of pairs go straight to y */
static inline int TpspmvIsDirect(const TpspmvCut *cut)
{
  return cut->ntiles == 1;
}

/* First row of slice s, and the end of slice s - 1 */
static inline PetscInt TpspmvSliceFirst(const TpspmvCut *cut, PetscInt s)
{
  return (PetscInt)PetscMin(cut->m, (PetscInt64)s * cut->height);
}

/* The number of the column of entry k */
static inline int32_t TpspmvNumber(const TpspmvCut *cut, const SpmvCSR *csr, PetscInt k)
{
  return cut->number ? cut->number[csr->j[k]] : (int32_t)csr->j[k];
}

static inline size_t TpspmvIndexSize(PetscBool narrow)
{
  return narrow ? sizeof(uint16_t) : sizeof(int32_t);
}

static inline void TpspmvSetIndex(void *index, PetscBool narrow, size_t place, int32_t column)
{
  if (narrow) ((uint16_t *)index)[place] = (uint16_t)column;
  else ((int32_t *)index)[place] = column;
}
