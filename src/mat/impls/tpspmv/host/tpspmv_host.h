/*
  tpspmv_host.h - the storage of tpSpMV for this processor
*/
#pragma once
#include "../tpspmv_cut.h"
#include "../../../../host/values.h"

/* The knobs that follow the common ones, in the order of TpspmvParams */
enum { TPSPMV_STREAM = TPSPMV_OWN, TPSPMV_VALUES, TPSPMV_NPARAMS };

#define TPSPMV_LANES   8  /* rows of a group: the lanes of a vector */
#define TPSPMV_ALIGN   8  /* entries that the beginning of a chunk is a multiple of, if that fills little */
#define TPSPMV_FILL    50 /* fill is at most one entry in so many: 2 % */
#define TPSPMV_SEGMENT 16 /* a long row is cut into segments of so many times the knob `long` */

/*
  A chunk is what a tile and a slice have in common. Its pairs are groups of 8 of the same number of entries, in runs of such
  groups, then the ragged rest, 8 at a time. The entries of a group lie side by side: first those that are the first of their
  row, then the second, and so on; each step of the rest has as many as there are rows as long. There is a column for each entry,
  but one for each step where its columns are one after the other.

  Chunks lie tile after tile, in a tile slice after slice: number t nslices + s is that of tile t and slice s.
*/
typedef struct {
  int64_t entry;   /* first entry */
  int64_t column;  /* first column */
  int64_t pair;    /* first pair */
  int32_t pairs;   /* how many pairs, without padding */
  int32_t run;     /* first run */
  int32_t ragged;  /* first ragged pair, among those of all chunks */
  int32_t segment; /* first segment */
  int32_t base;    /* column that its columns are relative to */
} TpspmvChunk;

typedef struct {
  int32_t length;      /* entries of a pair */
  int32_t groups;      /* how many groups of pairs */
  int32_t consecutive; /* 1: the eight entries of every step are in eight columns one after the other */
} TpspmvRun;

/* A segment of the entries that a tile and a long row, one with more than the knob `long` in a tile, have in common */
typedef struct {
  int64_t entry; /* first entry; the segment ends where the next begins */
  int32_t row;
  int32_t base;        /* column that its columns are relative to: that of its first entry */
  int32_t consecutive; /* 1: its columns are one after the other */
} TpspmvSegment;

typedef struct {
  TpspmvCut    cut;
  PetscInt     align;            /* entries and pairs that the beginning of a chunk is a multiple of */
  PetscBool    narrow;           /* columns of chunks are uint16 */
  PetscBool    narrowlong;       /* and those of segments */
  PetscBool    stream;           /* partial sums go past the cache */
  PetscBool    prefetch;         /* values do not fit the second cache: products prefetch them */
  PetscBool    prefetch_vectors; /* the same where x is read by vectors: not where values fit no cache, where the hardware does */
  PetscInt     ahead;            /* a row prefetches x so many columns after its own number; 0: it does not */
  size_t       nentries;         /* entries of chunks, with fill */
  size_t       ncolumns;         /* columns of chunks, with fill */
  size_t       nlong;            /* entries of segments, which lie behind those of chunks */
  size_t       nfill;            /* entries that are fill */
  size_t       npairs;           /* with padding */
  size_t       nruns, nragged, nsegments;
  size_t       nconsecutive; /* entries of groups whose columns are one after the other */
  PetscInt     threads;
  PetscInt    *chunks;      /* [threads + 1] first chunk of each task of the first phase */
  PetscInt    *segments;    /* [threads + 1] and its first segment */
  PetscInt    *slices;      /* [threads + 1] first slice of each task of the second phase */
  PetscInt    *tiles;       /* [threads + 1] first tile of each task of a transposed product */
  TpspmvChunk *chunk;       /* [ntiles nslices + 1] */
  TpspmvRun   *run;         /* [nruns] */
  uint8_t     *ragged;      /* [nragged] entries of each ragged pair */
  TpspmvSegment *segment;   /* [nsegments + 1] tile after tile, rows increasing */
  uint16_t      *row;       /* [npairs] row of each pair in its slice; padded with 0 */
  void          *index;     /* [ncolumns] columns as uint16 or int32 */
  void          *longindex; /* [nlong] those of segments */
  PetscInt       wanted;    /* the knob values */
  SpmvValues     value;     /* [nentries + nlong] */
  PetscScalar   *partial;   /* [npairs] several tiles: the partial sums */
  PetscScalar   *sum;       /* [nsegments] the partial sums of segments */
  PetscScalar   *packed;    /* [nused] x without the columns that are removed, if any are */
} TpspmvStorage;

/* True if there are too few tiles for each task of a transposed product to have its own */
static inline int TpspmvHasFewTiles(const TpspmvStorage *b)
{
  return b->threads > 1 && b->cut.ntiles < 4 * b->threads;
}

/* tpspmv_build.c */
extern PetscErrorCode     TpspmvMeasure(const SpmvCSR *csr, const SpmvPlan *plan, TpspmvStorage *b, uint8_t **consecutive);
extern PetscErrorCode     TpspmvBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern const SpmvHostSide TpspmvHost;
extern PetscErrorCode     TpspmvDestroy(void *storage);

/* tpspmv_values.c */
extern PetscErrorCode TpspmvSetEntries(const SpmvCSR *csr, TpspmvStorage *b);
extern PetscErrorCode TpspmvSetValues(const SpmvCSR *csr, void *storage);
