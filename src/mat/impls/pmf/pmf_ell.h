/*
  pmf_ell.h - rows in order, and what a device has of them

  A device has a row for each work item: slices as wide as their longest row, in which entry k of all rows lies side by side.
  Rows so long that the others of their slice would wait for them are cut into pieces for work groups. With PMF_BY_DIAGONAL
  the blocks along the diagonal are pieces of diagonals, each as high as its block.
*/
#pragma once
#include "../../../spmvimpl.h"

/* PmfOrder: rows in order, and cut into parts */
typedef struct {
  PetscInt  nparts;
  PetscInt *power; /* [nparts] computing powers */
  PetscInt *cut;   /* [nparts + 1] first place of each part in row[] */
  int32_t  *row;   /* [m] the rows, by increasing length inside each window of each part */
  PetscInt  limit; /* entries above which a row counts as empty, since it is split over the parts */
} PmfOrder;

/* Entries of a row, none of one that is split over the parts */
static inline PetscInt PmfLength(const SpmvCSR *csr, PetscInt limit, PetscInt row)
{
  const PetscInt length = csr->i[row + 1] - csr->i[row];

  return length > limit ? 0 : length;
}

/* PmfHalves: with PMF_BY_DIAGONAL, the entries in the blocks along the diagonal (0), and the rest (1) */
typedef struct {
  SpmvCSR   csr[2];
  PetscInt *i[2], *j[2];
  uint32_t *at[2]; /* [i[m]]  the entry of the matrix that each one is */
} PmfHalves;

/* The diagonals of a block that rows [first, first + rows) have entries on: bit d for column - row = d - (block - 1) */
static inline uint64_t PmfDiagonals(const SpmvCSR *blocks, PetscInt block, PetscInt first, PetscInt rows)
{
  uint64_t diagonals = 0;

  for (PetscInt r = first; r < first + rows; r++) {
    for (PetscInt k = blocks->i[r]; k < blocks->i[r + 1]; k++) diagonals |= UINT64_C(1) << (blocks->j[k] - r + block - 1);
  }
  return diagonals;
}

/* PmfValues: values, and which entries of CSR they are */
typedef struct {
  size_t       n;
  PetscScalar *value; /* [n] */
  uint32_t    *from;  /* [n] UINT32_MAX: padding, which is 0 and no product reads */
} PmfValues;

typedef struct {
  PetscInt  height;     /* rows of a slice */
  PetscInt  nsliced;    /* rows in slices */
  PetscInt  nlong;      /* rows in pieces */
  int32_t  *row;        /* [nsliced + nlong] */
  int32_t  *length;     /* [nsliced] entries of each row */
  PetscInt  nslices;    /* the last one may have fewer rows */
  uint32_t *step;       /* [nslices + 1] first step of each slice: entry k of all its rows */
  int32_t  *base;       /* [nslices] what is added to columns */
  PetscBool narrow;     /* columns are uint16 */
  void     *column;     /* [slices.n] */
  PetscInt  npieces;    /* of long rows */
  int32_t  *longrow;    /* [nlong + 1] first piece of each long row */
  uint32_t *piece;      /* [npieces + 1] first entry of each piece */
  int32_t  *longcolumn; /* [longs.n] */
  PetscInt  block;      /* PMF_BY_DIAGONAL: rows of a block; otherwise 0 */
  PetscInt  nblockrows; /* rows of the blocks: the first ones of the matrix */
  PetscInt  nblocks;
  uint32_t *diagonal; /* [nblocks + 1] first diagonal of each block */
  int32_t  *offset;   /* [diagonal[nblocks]] column - row of each diagonal */
  uint32_t *mask;     /* [diagonal[nblocks]] the rows of its block that have an entry on it */
  PmfValues slices, longs, diagonals;
} PmfEll;

/* pmf_ell.c */
extern PetscErrorCode PmfEllLayOut(const SpmvCSR *rest, const SpmvCSR *blocks, const PmfOrder *order, PetscInt end, PetscInt longest, PetscBool wide, PmfEll *ell);
extern PetscErrorCode PmfEllFill(const SpmvCSR *rest, const PmfHalves *halves, PmfEll *ell);
extern void           PmfEllSetValues(const SpmvCSR *csr, PmfEll *ell);
extern PetscErrorCode PmfEllReset(PmfEll *ell);

static inline size_t PmfEllColumnSize(const PmfEll *e)
{
  return e->narrow ? sizeof(uint16_t) : sizeof(int32_t);
}
