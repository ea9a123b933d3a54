/*
  tpspmv_host.h - the storage of tpSpMV for this processor

  tpspmv_host.c    knobs, what a plan leaves open, work, what is printed
  tpspmv_build.c   the pattern
  tpspmv_values.c  the entries, when built and when values change
  tpspmv_simd.c    the products: tpspmv_lanes.h (what is done with a chunk or a piece)
*/
#pragma once
#include "../tpspmv_cut.h"

enum { /* the knobs, in the order of TpspmvParams */
       TPSPMV_CACHE,
       TPSPMV_TILE,
       TPSPMV_SLICE,
       TPSPMV_LONG,
       TPSPMV_REMOVE,
       TPSPMV_STREAM,
       TPSPMV_NPARAMS
};

#define TPSPMV_LANES 8  /* rows of a group: the lanes of a vector */
#define TPSPMV_ALIGN 8  /* entries that the beginning of a chunk is a multiple of, if that fills little */
#define TPSPMV_FILL  50 /* fill is at most one entry in so many: 2 % */
#define TPSPMV_PIECE 16 /* a long row is cut into pieces of so many times the least length of a long row */

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

typedef struct {
  TpspmvCut    cut;
  PetscInt     cache;      /* KiB of the cache that tiles are made for */
  PetscInt     longest;    /* entries of a pair, at most: rows with more in a tile are long, and cut into pieces */
  PetscInt     align;      /* entries and pairs that the beginning of a chunk is a multiple of */
  PetscBool    narrow;     /* columns of chunks are uint16 */
  PetscBool    narrowlong; /* and those of pieces */
  PetscBool    stream;     /* partial sums go past the cache */
  PetscBool    prefetch;   /* values do not fit the second cache: a product prefetches them ... */
  PetscBool    alone;      /* ... but where it reads vectors only, of values that fit no cache: the processor does that better */
  size_t       nentries;   /* entries of chunks, with fill */
  size_t       nlong;      /* entries of pieces, which lie behind those of chunks */
  size_t       nfill;      /* entries that are fill */
  size_t       npairs;     /* with padding */
  size_t       nruns, nragged, npieces;
  size_t       nconsecutive; /* entries of groups whose columns are one after the other */
  PetscInt     threads;
  PetscInt    *chunks;    /* [threads + 1] first chunk of each task of the first phase */
  PetscInt    *pieces;    /* [threads + 1] and its first piece */
  PetscInt    *slices;    /* [threads + 1] first slice of each task of the second phase */
  PetscInt    *tiles;     /* [threads + 1] first tile of each task of a transposed product */
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
} TpspmvStorage;

/* True if sums of pairs go straight to y */
static inline int TpspmvIsDirect(const TpspmvStorage *b)
{
  return TpspmvCutIsDirect(&b->cut);
}

/* True if tasks of a transposed product have to share tiles */
static inline int TpspmvIsShared(const TpspmvStorage *b)
{
  return b->threads > 1 && b->cut.ntiles < 4 * b->threads;
}

/* tpspmv_build.c */
extern PetscErrorCode TpspmvMeasure(const SpmvCSR *csr, const SpmvPlan *plan, TpspmvStorage *b);
extern PetscErrorCode TpspmvBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode TpspmvDestroy(void **storage);

/* tpspmv_values.c */
extern PetscErrorCode TpspmvSetIndices(const SpmvCSR *csr, TpspmvStorage *b);
extern PetscErrorCode TpspmvSetValues(const SpmvCSR *csr, void *storage);
