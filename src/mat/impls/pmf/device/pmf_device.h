/*
  pmf_device.h - the device's storage of pmf

  A device has a work item for each row: slices as wide as their longest row, in which entry k of all rows lies side by side.
  Rows so long that the others of their slice would wait for them are cut into chunks for work groups. With PMF_BY_DIAGONAL the
  blocks are stored as diagonals, each as high as its block.

  pmf_device.c  knobs, launches, what is printed
  pmf_ell.c     the arrays
  pmf_cut.c     which rows of a joint product the device has: as many as it has memory for
  pmf.cl        the kernels
*/
#pragma once
#include "../pmf_partition.h"
#include "../../../../spmvdevice.h"

/* The knobs besides those that both sides have, in the order of PmfDeviceParams */
enum {
  PMF_DEVICE_WORKGROUP = PMF_COMMON_PARAMS,
  PMF_DEVICE_SLICE,
  PMF_DEVICE_LONG,
  PMF_DEVICE_PARTS,
  PMF_DEVICE_CUT,
  PMF_DEVICE_PARAMS
};

/* PmfValues: values, and which entries of CSR they are */
typedef struct {
  size_t       n;
  PetscScalar *value; /* [n] */
  uint32_t    *from;  /* [n] UINT32_MAX: padding, which is 0 and no product reads */
} PmfValues;

typedef struct {
  PetscInt  nentries;   /* of the matrix */
  PetscInt  height;     /* rows of a slice */
  PetscInt  nrows;      /* with PMF_BY_DIAGONAL the first ones of the matrix */
  PetscInt  nsliced;    /* rows in slices */
  PetscInt  nlong;      /* rows in chunks */
  int32_t  *row;        /* [nrows] those in slices; from the end on, those in chunks */
  int32_t  *length;     /* [nsliced] entries of each row */
  PetscInt  nslices;    /* the last one may have fewer rows */
  uint32_t *step;       /* [nslices + 1] first step of each slice: entry k of all its rows */
  int32_t  *base;       /* [nslices] what is added to columns */
  size_t    columnsize; /* bytes of a column: 2 or 4 */
  void     *column;     /* [slices.n] */
  size_t    nchunks;    /* of long rows */
  int32_t  *longrow;    /* [nlong + 1] first chunk of each long row; NULL if there are none */
  uint32_t *chunk;      /* [nchunks + 1] first entry of each chunk */
  int32_t  *longcolumn; /* [longs.n] */
  PetscInt  block;      /* PMF_BY_DIAGONAL: rows of a block; otherwise 0 */
  PetscInt  nblocks;
  uint32_t *diagonal; /* [nblocks + 1] first diagonal of each block */
  int32_t  *offset;   /* [diagonal[nblocks]] column - row of each diagonal */
  uint32_t *mask;     /* [diagonal[nblocks]] the rows of its block that have an entry on it */
  PmfValues slices, longs, diagonals;
} PmfEll;

/* pmf_ell.c */
extern PetscErrorCode PmfEllLayOut(const SpmvCSR *csr, const PmfOrder *order, PetscInt end, const PetscInt p[], void **storage);
extern PetscErrorCode PmfEllFill(const SpmvCSR *csr, const PmfOrder *order, PmfEll *e);
extern PetscErrorCode PmfEllSetValues(const SpmvCSR *csr, void *storage);
extern const SpmvDeviceSide PmfDevice;
extern PetscErrorCode       PmfEllArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[]);

/* pmf_load.c */
extern PetscErrorCode PmfDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);

/* pmf_cut.c */
extern PetscErrorCode PmfCutToRoom(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan);
extern PetscErrorCode PmfSplit(const SpmvCSR *csr, const SpmvPlan *plan, SpmvPlan *host, PetscInt *nrows, PetscInt *rows[]);
