/*
  tpspmv.h - the storage of tpSpMV

  tpspmv.c         the format: knobs, arrays, sizes
  tpspmv_plan.c    what a plan leaves open: the cache, tiles, slices
  tpspmv_walk.h    CSR rows as pairs of a tile and a row, slice after slice
  tpspmv_build.c   the pattern
  tpspmv_values.c  the entries, when built and when values change
  tpspmv_simd.c    the products: tpspmv_lanes.h (what is done with a chunk or a piece)
  tpspmv_steps.h   a storage for a device
  tpspmv_steps.c   its arrays
  tpspmv_device.c  the products of devices: knobs, launches; their kernels are in tpspmv.cl
*/
#pragma once
#include "tpspmv_steps.h"

enum { /* the knobs, in the order of TpspmvParams */
       TPSPMV_CACHE,
       TPSPMV_TILE,
       TPSPMV_SLICE,
       TPSPMV_LONG,
       TPSPMV_REMOVE,
       TPSPMV_STREAM,
       TPSPMV_NPARAMS
};

enum { /* the knobs of devices, in the order of TpspmvDeviceParams */
       TPSPMV_DEVICE_WORKGROUP,
       TPSPMV_DEVICE_STAGE,
       TPSPMV_DEVICE_NPARAMS
};

typedef enum { /* values of TPSPMV_DEVICE_STAGE, TPSPMV_REMOVE and TPSPMV_STREAM */
               TPSPMV_AUTO,
               TPSPMV_NO,
               TPSPMV_YES
} TpspmvChoice;

#define TPSPMV_LANES    8         /* rows of a group: the lanes of a vector */
#define TPSPMV_ALIGN    8         /* entries that the beginning of a chunk is a multiple of, if that fills little */
#define TPSPMV_FILL     50        /* fill is at most one entry in so many: 2 % */
#define TPSPMV_LONG_MAX 255       /* entries of a pair, at most: uint8 tells how many a ragged one has */
#define TPSPMV_PIECE    16        /* a long row is cut into pieces of so many times the least length of a long row */
#define TPSPMV_ALL      (1 << 30) /* value of TPSPMV_TILE: one tile */

/*
  A chunk is what a tile and a slice have in common. Its rows that are not empty make pairs with the tile, and a pair has one
  partial sum. Pairs lie by falling number of entries: first groups of 8 pairs of the same number, in runs of such groups,
  then the ragged rest, 8 at a time. The entries of a group lie side by side: first those that are the first of their
  row, then the second, and so on; each step of the rest has as many as there are rows as long.

  Chunks lie tile after tile, in a tile slice after slice: number t nslices + s is that of tile t and slice s.
*/
typedef struct {
  int64_t entry;  /* first entry */
  int64_t pair;   /* first pair */
  int32_t pairs;  /* how many pairs, without padding */
  int32_t run;    /* first run */
  int32_t ragged; /* first ragged pair, among those of all chunks */
  int32_t piece;  /* first piece */
  int32_t base;   /* column that its columns are relative to */
  int32_t zero;   /* no padding that is undefined */
} TpspmvChunk;

typedef struct {
  int32_t length;      /* entries of a pair */
  int32_t groups;      /* how many groups of pairs */
  int32_t consecutive; /* 1: the eight entries of every step are in eight columns one after the other */
} TpspmvRun;

/* A piece of the entries that a tile and a long row have in common */
typedef struct {
  int64_t entry; /* first entry; the piece ends where the next begins */
  int32_t row;
  int32_t base;        /* column that its columns are relative to: that of its first entry */
  int32_t consecutive; /* 1: its columns are one after the other */
  int32_t zero;        /* no padding that is undefined */
} TpspmvPiece;

/* Columns are those of the matrix, or, where empty ones are removed, numbers of the others; column[] tells which */
typedef struct {
  PetscInt     m, n;                    /* rows, columns of the matrix */
  PetscInt     nused;                   /* columns that are not removed */
  PetscInt     cache;                   /* KiB of the cache that tiles are made for */
  PetscInt     longest;                 /* entries of a pair, at most: rows with more in a tile are long, and cut into pieces */
  PetscInt     align;                   /* entries and pairs that the beginning of a chunk is a multiple of */
  PetscBool    removed;                 /* empty columns are removed */
  PetscBool    narrow;                  /* columns of chunks are uint16 */
  PetscBool    narrowlong;              /* and those of pieces */
  PetscBool    stream;                  /* partial sums go past the cache */
  PetscBool    ahead;                   /* values do not fit the second cache: a product asks for them early ... */
  PetscBool    alone;                   /* ... but where it reads vectors only, of values that fit no cache: the processor does that better */
  PetscInt     ntiles, nslices, height; /* height: rows of a slice; the last one may have fewer */
  PetscInt     quantum;                 /* tiles begin at multiples of this many columns */
  size_t       nquanta;
  size_t       nentries; /* entries of chunks, with fill */
  size_t       nlong;    /* entries of pieces, which lie behind those of chunks */
  size_t       nfill;    /* entries that are fill */
  size_t       npairs;   /* with padding */
  size_t       nruns, nragged, npieces;
  size_t       nconsecutive; /* entries of groups whose columns are one after the other */
  PetscInt     threads;
  PetscInt    *chunks;    /* [threads + 1] first chunk of each task of the first phase */
  PetscInt    *pieces;    /* [threads + 1] and its first piece */
  PetscInt    *slices;    /* [threads + 1] first slice of each task of the second phase */
  PetscInt    *tiles;     /* [threads + 1] first tile of each task of a transposed product */
  uint16_t    *tileof;    /* [nquanta] the tile of each quantum of columns; not kept */
  int32_t     *tile;      /* [ntiles + 1] first column of each tile */
  int32_t     *column;    /* [nused] removed: the columns that are left */
  int32_t     *number;    /* [n] removed: the number of each column; not kept */
  TpspmvChunk *chunk;     /* [ntiles nslices + 1] */
  TpspmvRun   *run;       /* [nruns] */
  uint8_t     *ragged;    /* [nragged] entries of each ragged pair */
  TpspmvPiece *piece;     /* [npieces + 1] tile after tile, rows increasing */
  uint16_t    *row;       /* [npairs] row of each pair in its slice; padded with 0 */
  void        *index;     /* [nentries] columns as uint16 or int32 */
  void        *longindex; /* [nlong] those of pieces */
  PetscScalar *value;     /* [nentries + nlong] */
  PetscScalar *partial;   /* [npairs] several tiles: the partial sums */
  PetscScalar *sum;       /* [npieces] the partial sums of pieces */
  PetscScalar *packed;    /* [nused] removed: x without what is removed */
  PetscScalar *own;       /* [threads nused] transposed, fewer tiles than threads need: what each task adds up */
  PetscBool    ondevice;  /* a storage for a device: index, value and column as above, no pieces, no other arrays but those of steps */
  TpspmvSteps  steps;
} TpspmvStorage;

/* True if sums of pairs go straight to y */
static inline int TpspmvIsDirect(const TpspmvStorage *b)
{
  return b->ntiles == 1;
}

/* True if tasks of a transposed product have to share tiles */
static inline int TpspmvIsShared(const TpspmvStorage *b)
{
  return b->threads > 1 && b->ntiles < 4 * b->threads;
}

/* First row of slice s, and the end of slice s - 1 */
static inline PetscInt TpspmvSliceFirst(const TpspmvStorage *b, PetscInt s)
{
  return PetscMin(b->m, s * b->height);
}

static inline size_t TpspmvIndexSize(PetscBool narrow)
{
  return narrow ? sizeof(uint16_t) : sizeof(int32_t);
}

/* tpspmv_plan.c */
extern PetscErrorCode TpspmvPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS]);
extern PetscErrorCode TpspmvResolve(const SpmvCSR *csr, SpmvPlan *plan);
extern PetscErrorCode TpspmvLayOut(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b);

/* tpspmv_build.c */
extern PetscErrorCode TpspmvPredict(const SpmvCSR *csr, const SpmvPlan *plan, TpspmvStorage *b);
extern PetscErrorCode TpspmvBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode TpspmvDestroy(void **storage);

/* tpspmv_steps.c */
extern PetscErrorCode TpspmvStepsPredict(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b);
extern PetscErrorCode TpspmvStepsBuild(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b);
extern void           TpspmvStepsSetValues(const SpmvCSR *csr, TpspmvStorage *b);
extern PetscErrorCode TpspmvStepsReset(TpspmvSteps *steps);

/* tpspmv_device.c */
extern const SpmvDeviceFormat TpspmvDevice;
extern void                   TpspmvDeviceResolve(SpmvPlan *plan);
extern PetscInt               TpspmvDeviceSlice(const SpmvCSR *csr, PetscInt ntiles);

/* tpspmv_values.c */
extern PetscErrorCode TpspmvSetIndices(const SpmvCSR *csr, TpspmvStorage *b);
extern PetscErrorCode TpspmvSetValues(const SpmvCSR *csr, void *storage);
