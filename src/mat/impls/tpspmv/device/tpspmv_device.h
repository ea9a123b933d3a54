/*
  tpspmv_device.h - the knobs and the storage of tpSpMV for devices

  The pairs of a chunk lie by falling number of entries in strips of 32: step k of a strip has the k-th entries of its pairs side
  by side, for as many steps as its first pair has entries, so that each step is aligned (5.2). Fill is never multiplied. A row
  with many entries in a tile makes several pairs. The columns of a chunk count from its least one, and take 16 bits where they
  can. The entries of a pair follow each other in CSR, so that where they begin is all that new values need.

  tpspmv_device.c   knobs, what a plan leaves open, which kernels make a product
  tpspmv_tiles.c    one tile or several, by what both would move
  tpspmv_strips.c   the arrays
  tpspmv.cl         the kernels
*/
#pragma once
#include "../../../../spmvdevice.h"
#include "../tpspmv_cut.h"

#define TPSPMV_HEIGHT 32  /* pairs of a strip, as tpspmv.cl has it */
#define TPSPMV_MANY   256 /* partial sums of a row above which a work group adds them up */

/* The knobs that follow the common ones, in the order of TpspmvDeviceParams */
enum { TPSPMV_WORKGROUP = TPSPMV_OWN, TPSPMV_STAGE, TPSPMV_CONVERT, TPSPMV_DEVICE_NPARAMS };

/* A chunk that is not empty; the kernels read its integers by number */
typedef struct {
  int32_t tile, tileend; /* columns of its tile */
  int32_t strip;         /* its first strip */
} TpspmvStripChunk;

/* A strip: an int4 of the kernels */
typedef struct {
  uint32_t first;  /* its first step */
  uint32_t column; /* the same in the array that has its columns */
  int32_t  base;   /* column b that its columns are relative to, if they have 16 bits; -1 - b, if 32 */
  int32_t  least;  /* entries that all its 32 pairs have, at least */
} TpspmvStrip;

typedef struct {
  TpspmvCut         cut;
  PetscBool         converted; /* the device makes columns and values, from the matrix: */
  SpmvCSR           csr;       /* its arrays are there only until they are sent, after a build and after new values */
  size_t            nentries;  /* of the matrix */
  size_t            npairs, nsteps, nchunks, nstrips;
  size_t            nnarrow, nwide; /* steps whose columns have 16 bits, and 32 */
  TpspmvStripChunk *chunk;          /* [nchunks + 1] tile after tile, in a tile slice after slice */
  TpspmvStrip      *strip;          /* [nstrips] */
  uint8_t          *length;         /* [nstrips x 32] entries of each pair; 0: there is none */
  size_t            npartial;       /* partial sums: one for each place in strips, with one tile those of rows of several pairs */
  int32_t          *target;         /* [nstrips x 32] one tile: where the sum of a pair goes: row r of y, or partial sum -r - 1 */
  size_t            nsums;          /* rows that have partial sums; with several tiles all rows */
  int32_t          *sumrow;         /* [nsums] one tile: these rows */
  int32_t          *first;          /* [nsums + 1] first partial sum of each row ... */
  int32_t          *place;          /* [npairs] several tiles: ... in this list of where they are, in the order of tiles */
  size_t            nmany;          /* of the nsums, those with more than TPSPMV_MANY */
  int32_t          *many;           /* [nmany] which */
  PetscInt          widest;         /* columns of the widest tile */
  uint16_t         *narrow;         /* [nnarrow x 32] columns */
  int32_t          *wide;           /* [nwide x 32] */
  PetscScalar      *value;          /* [nsteps x 32] */
  int32_t          *start;          /* [nstrips x 32] the first entry of each pair in CSR */
} TpspmvStrips;

/* tpspmv_load.c */
extern PetscErrorCode TpspmvDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);

/* tpspmv_tiles.c */
extern PetscErrorCode TpspmvOneTileMovesLess(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt cache, PetscInt width,
                                             PetscBool *one);

/* tpspmv_strips.c */
extern PetscErrorCode TpspmvStripsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode TpspmvStripsSetValues(const SpmvCSR *csr, void *storage);
extern PetscErrorCode TpspmvStripsDestroy(void *storage);
extern PetscErrorCode TpspmvConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product);
extern PetscErrorCode TpspmvConvertSources(const void *storage, PetscInt *n, SpmvArray sources[]);
