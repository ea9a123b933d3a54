/*
  cmrs_strips.h - strips of rows, and the word of an entry: column << CMRS_BITS | row in the strip. Both sides have these
*/
#pragma once
#include "../../../spmvimpl.h"

#define CMRS_HEIGHT_MAX 16 /* rows of a strip, at most */
#define CMRS_BITS       4  /* low bits of a word that hold the row in the strip */
#define CMRS_PAD        8  /* words and values after the last, so that a vector of them stays inside */

static const PetscInt CmrsHeights[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

#define CMRS_PARAM_HEIGHT \
  SPMV_CHOICES("height", "rows of a strip, 0: 8; on a device 16, by columns as many as 64 bytes hold scalars, at most 12", \
               CmrsHeights, NULL, SPMV_KNOB_TILE)

/* Bytes of a word: of more where columns and rows in the strip need more than 32 bits */
static inline size_t CmrsWordSize(const SpmvCSR *csr)
{
  return (PetscInt64)csr->n > INT64_C(1) << (32 - CMRS_BITS) ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* Strips of a matrix of m rows */
static inline PetscInt CmrsStrips(PetscInt m, PetscInt height)
{
  return m / height + !!(m % height);
}

/* Rows of strip s: the last one may have fewer */
static inline PetscInt CmrsStripRows(PetscInt m, PetscInt height, PetscInt s)
{
  return PetscMin(height, m - s * height);
}

static inline void CmrsSetWord(size_t wordsize, void *word, PetscInt k, PetscInt column, PetscInt row)
{
  if (wordsize == sizeof(uint32_t)) ((uint32_t *)word)[k] = (uint32_t)column << CMRS_BITS | (uint32_t)row;
  else ((uint64_t *)word)[k] = (uint64_t)column << CMRS_BITS | (uint64_t)row;
}
