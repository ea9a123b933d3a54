/*
  tpspmv_cut.h - columns cut into tiles, rows into slices: what both sides begin with
*/
#pragma once
#include "../../../spmvimpl.h"

#define TPSPMV_ALL      (1 << 30) /* value of a knob tile: one tile */
#define TPSPMV_LONG_MAX 255       /* entries of a pair, at most: uint8 tells how many a ragged one has */

typedef enum { /* values of the knobs that are automatic, no or yes */
               TPSPMV_AUTO,
               TPSPMV_NO,
               TPSPMV_YES
} TpspmvChoice;

static const PetscInt TpspmvTiles[]   = {0,     2,      16,     1024,   4096,    8192,    16384,     32768,
                                         65536, 131072, 262144, 524288, 1048576, 2097152, TPSPMV_ALL};
static const PetscInt TpspmvSlices[]  = {0, 8, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const PetscInt TpspmvLongs[]   = {128, 8, 16, 32, 64, 255};
static const PetscInt TpspmvChoices[] = {TPSPMV_AUTO, TPSPMV_NO, TPSPMV_YES};

static const char *const TpspmvChoiceNames[] = {"auto", "no", "yes"};

/* The knobs that both sides have */
#define TPSPMV_PARAM_CACHE \
  SPMV_RANGE( \
    "cache", \
    "KiB of the cache that the x of a tile is to fit: a core's second one, or that of a device; 0: as the machine tells", 0, 0, \
    1 << 20, SPMV_KNOB_CACHE)
#define TPSPMV_PARAM_TILE \
  SPMV_CHOICES("tile", "columns of a tile, at most, 0: by the cache; 1073741824: one tile", TpspmvTiles, NULL, SPMV_KNOB_TILE)
#define TPSPMV_PARAM_SLICE \
  SPMV_CHOICES("slice", "rows of a slice, 0: by the entries that a tile has in it", TpspmvSlices, NULL, SPMV_KNOB_TILE)
#define TPSPMV_PARAM_LONG \
  SPMV_CHOICES("long", "entries of a row in a tile above which it is cut into pieces", TpspmvLongs, NULL, SPMV_KNOB_LOCAL)
#define TPSPMV_PARAM_REMOVE \
  SPMV_CHOICES("remove", "empty columns are removed, auto: where x does not fit the cache and half are empty", TpspmvChoices, \
               TpspmvChoiceNames, SPMV_KNOB_LAYOUT)

/* TpspmvCut: columns are those of the matrix, or, where empty ones are removed, numbers of the others; column[] tells which */
typedef struct {
  PetscInt  m, n;                    /* rows, columns of the matrix */
  PetscInt  nused;                   /* columns that are not removed */
  PetscBool removed;                 /* empty columns are removed */
  PetscInt  ntiles, nslices, height; /* height: rows of a slice; the last one may have fewer */
  PetscInt  quantum;                 /* tiles begin at multiples of 2^quantum columns */
  size_t    nquanta;
  int32_t  *tile;   /* [ntiles + 1] first column of each tile */
  int32_t  *column; /* [nused] removed: the columns that are left */
  int32_t  *number; /* [n] removed: the number of each column; for a build only */
  uint16_t *tileof; /* [nquanta] several tiles: the tile of each quantum of columns; for a build only */
} TpspmvCut;

/* tpspmv_cut.c */
extern PetscErrorCode TpspmvCutColumns(const SpmvCSR *csr, TpspmvChoice remove, PetscInt cache, TpspmvCut *cut);
extern PetscInt       TpspmvCutCount(PetscInt nused, PetscInt width);
extern PetscInt       TpspmvCutWidth(PetscInt cache);
extern PetscErrorCode TpspmvCutAllows(const SpmvCSR *csr, TpspmvChoice remove, PetscInt cache, PetscInt width, PetscInt height,
                                      char why[], size_t size);
extern PetscErrorCode TpspmvCutCreate(const SpmvCSR *csr, TpspmvChoice remove, PetscInt cache, PetscInt width, PetscInt height,
                                      TpspmvCut *cut);
extern PetscErrorCode TpspmvCutBuilt(TpspmvCut *cut);
extern PetscErrorCode TpspmvCutDestroy(TpspmvCut *cut);

/* True if there is one tile, so that the sums of pairs go straight to y */
static inline int TpspmvCutIsDirect(const TpspmvCut *cut)
{
  return cut->ntiles == 1;
}

/* First row of slice s, and the end of slice s - 1 */
static inline PetscInt TpspmvSliceFirst(const TpspmvCut *cut, PetscInt s)
{
  return (PetscInt)PetscMin(cut->m, (PetscInt64)s * cut->height);
}

static inline size_t TpspmvIndexSize(PetscBool narrow)
{
  return narrow ? sizeof(uint16_t) : sizeof(int32_t);
}
