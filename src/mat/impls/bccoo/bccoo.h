/*
  bccoo.h - the storage of BCCOO; see bccoo.c for the format, bccoo_simd.c for its products
*/
#pragma once
#include "../../../spmvimpl.h"

enum { /* the knobs, in the order of BccooParams */
       BCCOO_BLOCK_HEIGHT,
       BCCOO_BLOCK_WIDTH,
       BCCOO_NPARAMS
};

#define BCCOO_BLOCK_MAX 8  /* largest block height and width */
#define BCCOO_TAG_BITS  32 /* flags in one word */

typedef uint32_t BccooFlags;

typedef struct {
  PetscInt     m, n;    /* rows, columns of the matrix */
  PetscInt     h, w;    /* block height, block width */
  PetscInt     nrows;   /* non-empty block rows */
  int32_t     *row;     /* [nrows] block row of each non-empty block row, increasing; NULL if no block row is empty */
  size_t       nblocks; /* blocks */
  size_t       nwords;  /* flag words: ceil(nblocks / BCCOO_TAG_BITS) */
  BccooFlags  *flags;   /* [nwords] bit b of word k is 0 if block 32 k + b is the last one of its block row; padded with 1 */
  int32_t     *column;  /* [nblocks] block column of each block, increasing inside a block row */
  PetscScalar *value;   /* [nblocks h w] blocks one after the other, each by columns: strategy 3, "inner-block transpose" */
} BccooStorage;

/* One past the last block of the block row that block q belongs to. The last block of all has flag 0, so this ends */
static inline size_t BccooRowStop(const BccooFlags *flags, size_t q)
{
  size_t     k    = q / BCCOO_TAG_BITS;
  BccooFlags stop = ~flags[k] & (~(BccooFlags)0 << (q % BCCOO_TAG_BITS));

  while (!stop) stop = ~flags[++k];
  return k * BCCOO_TAG_BITS + (size_t)__builtin_ctz(stop) + 1;
}
