/*
  pmf_device.h - the device's storage of pmf

  A device has a work item for each row, or several lanes: slices as wide as their longest row, in which entry k of all rows lies
  side by side; of several lanes entry k of 32 / lanes rows, then entry k + 1 of the same rows, and so on. Rows so long that the
  others of their slice would wait for them are cut into chunks for work groups. The columns of a slice and of a chunk count from
  its least one, and take 16 bits where they can. With PMF_BY_DIAGONAL the blocks are stored as diagonals, each as high as its
  block.

  Rows of slices, and chunks, have their entries one after the other in CSR, or, with PMF_BY_DIAGONAL, in the rest: `start` says
  from where on. So new values are put in their places, by this processor or by the device.

  pmf_device.c  knobs, launches, what is printed
  pmf_ell.c     the arrays
  pmf_cut.c     which rows of a joint product the device has: as many as it has memory for
  pmf.cl        the kernels
*/
#pragma once
#include "../pmf_partition.h"
#include "../../../../spmvdevice.h"

#define PMF_ELL_CHUNK 4096 /* entries of a chunk of a long row, at most */
#define PMF_CHAINS    32   /* work items of a long row of several chunks */

/* The knobs besides those that both sides have, in the order of PmfDeviceParams */
enum {
  PMF_DEVICE_WORKGROUP = PMF_COMMON_PARAMS,
  PMF_DEVICE_SLICE,
  PMF_DEVICE_LANES,
  PMF_DEVICE_LONG,
  PMF_DEVICE_PARTS,
  PMF_DEVICE_CUT,
  PMF_DEVICE_CONVERT,
  PMF_DEVICE_PARAMS
};

/* PmfValues: values; padding is 0, and no product reads it */
typedef struct {
  size_t       n;
  PetscScalar *value; /* [n] */
} PmfValues;

/* Columns of slices or chunks, some with 16 bits and some with 32 */
typedef struct {
  size_t    nnarrow, nwide;
  uint16_t *narrow; /* [nnarrow] */
  int32_t  *wide;   /* [nwide] */
} PmfColumns;

/* A slice or a chunk: an int4 of the kernels */
typedef struct {
  uint32_t first;  /* of a slice: its first step, which is entry k of all its rows; of a chunk: its first entry */
  uint32_t column; /* the same in the array that has its columns */
  int32_t  base;   /* its least column b, if its columns have 16 bits; -1 - b, if 32 */
  int32_t  target; /* of a chunk: the row, if it has all of it, or -1; of a slice: entries that each work item has, at least */
} PmfStrip;

typedef struct {
  PetscInt   nentries;  /* of the matrix */
  PetscBool  converted; /* the device makes columns and values, from these rows: */
  SpmvCSR    csr;       /* its arrays are there only until they are sent, after a build and after new values */
  PetscInt   height;    /* rows of a slice */
  PetscInt   lanes;     /* work items of a row in a slice */
  PetscInt   nrows;     /* with PMF_BY_DIAGONAL the first ones of the matrix */
  PetscInt   nsliced;   /* rows in slices */
  PetscInt   nlong;     /* rows in chunks */
  int32_t   *row;       /* [nrows] those in slices; from the end on, those in chunks */
  uint16_t  *length;    /* [nsliced] entries of each row */
  int32_t   *start;     /* [nsliced] its first entry */
  PetscInt   nslices;   /* the last one may have fewer rows */
  PmfStrip  *slice;     /* [nslices] */
  size_t     nchunks;   /* of long rows */
  PmfStrip  *chunk;     /* [nchunks] */
  int32_t   *size;      /* [nchunks] entries of each chunk */
  int32_t   *begin;     /* [nchunks] its first entry */
  PetscInt   nmany;     /* long rows of several chunks */
  int32_t   *manyrow;   /* [nmany] these rows */
  int32_t   *many;      /* [2 nmany] the first chunk of each, and the first that it has no more */
  PetscInt   block;     /* PMF_BY_DIAGONAL: rows of a block; otherwise 0 */
  PetscInt   nblocks;
  uint32_t  *diagonal; /* [nblocks + 1] first diagonal of each block */
  int32_t   *offset;   /* [diagonal[nblocks]] column - row of each diagonal */
  uint32_t  *mask;     /* [diagonal[nblocks]] the rows of its block that have an entry on it */
  uint32_t  *from;     /* [diagonals.n] the entry of CSR that each value is; UINT32_MAX: padding */
  PetscInt   nrest;    /* PMF_BY_DIAGONAL: entries in no block */
  uint32_t  *rest;     /* [nrest] the entry of CSR that each is; NULL: the same, as there are no blocks */
  PmfValues  slices, longs, diagonals;
  PmfColumns columns, longcolumns; /* of slices, of chunks */
} PmfEll;

/* pmf_ell.c */
extern PetscErrorCode PmfEllLayOut(const SpmvCSR *csr, const PmfOrder *order, PetscInt end, const PetscInt p[], void **storage);
extern PetscErrorCode PmfEllFill(const SpmvCSR *csr, PmfOrder *order, PmfEll *e);
extern PetscErrorCode PmfEllSetValues(const SpmvCSR *csr, void *storage);
extern PetscErrorCode PmfConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product);
extern PetscErrorCode PmfConvertSources(const void *storage, PetscInt *n, SpmvArray sources[]);
extern const SpmvDeviceSide PmfDevice;
extern PetscErrorCode       PmfEllArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[]);

/* pmf_load.c */
extern PetscErrorCode PmfDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);

/* pmf_cut.c */
extern PetscErrorCode PmfCutToRoom(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan);
extern PetscErrorCode PmfSplit(const SpmvCSR *csr, const SpmvPlan *plan, SpmvPlan *host, PetscInt *nrows, PetscInt *rows[]);
