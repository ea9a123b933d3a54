/*
  tpspmv_device.h - the knobs and the storage of tpSpMV for devices

  The pairs of a chunk lie by falling number of entries, so that step k, the k-th entries of all pairs that have as many, is of
  the first ones: entry k of pair p is entry p of step k. Nothing is padded, and nothing tells how long a pair is. A row with
  many entries in a tile makes several pairs.
*/
#pragma once
#include "../../../../spmvdevice.h"
#include "../tpspmv_cut.h"

/* The knobs that follow the common ones, in the order of TpspmvDeviceParams */
enum { TPSPMV_WORKGROUP = TPSPMV_OWN, TPSPMV_STAGE, TPSPMV_DEVICE_NPARAMS };

/* A chunk that is not empty; the kernels read its integers by number */
typedef struct {
  int32_t tile, tileend; /* columns of its tile */
  int32_t base;          /* column that its columns are relative to */
  int32_t pair;          /* its first pair */
  int32_t step;          /* its first step */
} TpspmvStepChunk;

typedef struct {
  TpspmvCut        cut;
  PetscBool        narrow; /* columns are uint16 */
  size_t           nentries, npairs;
  size_t           nchunks, nsteps;
  TpspmvStepChunk *chunk;    /* [nchunks + 1] tile after tile, in a tile slice after slice */
  uint32_t        *step;     /* [nsteps + 1] first entry of each step */
  size_t           npartial; /* partial sums: of all pairs, with one tile of rows of several pairs */
  int32_t         *target;   /* [npairs] one tile: where the sum of a pair goes: row r of y, or partial sum -r - 1 */
  size_t           nsums;    /* rows that have partial sums; with several tiles all rows */
  int32_t         *sumrow;   /* [nsums] one tile: these rows */
  int32_t         *first;    /* [nsums + 1] first partial sum of each row ... */
  int32_t         *place;    /* [npartial] several tiles: ... in this list of where they are, in the order of tiles */
  PetscInt         widest;   /* columns of the widest tile */
  void            *index;    /* [nentries] columns as uint16 or int32 */
  PetscScalar     *value;    /* [nentries] */
  uint32_t        *from;     /* [nentries] which entries of CSR the values are */
} TpspmvSteps;

/* tpspmv_load.c */
extern PetscErrorCode TpspmvDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);

/* tpspmv_steps.c */
extern PetscErrorCode TpspmvStepsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode TpspmvStepsSetValues(const SpmvCSR *csr, void *storage);
extern PetscErrorCode TpspmvStepsDestroy(void *storage);
