/*
  bccoo_masked_simd.h - products of blocks with masks: a vector holds the entries of a block, expanded to where they are

  Nothing is multiplied where a block has no entry, so that an Inf of x does not spread there.
*/
#pragma once
#include "bccoo_vectors.h"

#define BCCOO_MASKED_AHEAD 4096 /* bytes between values in use and those asked for */

SPMV_INLINE size_t BccooMaskedColumn(const uint32_t *word)
{
  return *word >> BCCOO_MASKED_BITS;
}

/* The values of the block after one */
SPMV_INLINE const PetscScalar *BccooMaskedNext(const PetscScalar *v, const uint32_t *word)
{
  __builtin_prefetch((const char *)v + BCCOO_MASKED_AHEAD, 0, 3);
  return v + __builtin_popcount(*word & UINT8_MAX);
}

/* Adds the products of n blocks, each row's in the pairs of two vectors; returns the values after them */
SPMV_INLINE const PetscScalar *BccooMaskedRun(const PetscScalar *v, const uint32_t *word, PetscInt n, int few,
                                              const PetscScalar *x, Spmv8 sum[2])
{
  PetscInt k = 0;

  for (; k + 2 <= n; k += 2) {
    for (int l = 0; l < 2; l++) {
      sum[l] = Spmv8FmaExpand(v, word + k + l, Spmv8SplatPair(x + BccooMaskedColumn(word + k + l)), sum[l], few);
      v      = BccooMaskedNext(v, word + k + l);
    }
  }
  if (k < n) {
    sum[0] = Spmv8FmaExpand(v, word + k, Spmv8SplatPair(x + BccooMaskedColumn(word + k)), sum[0], few);
    v      = BccooMaskedNext(v, word + k);
  }
  return v;
}

/* y <- beta y + A x, the rows of a part */
SPMV_INLINE void BccooMaskedMult(const BccooMasked *s, PetscInt p, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const uint32_t    *word = s->word + s->part[p].block;
  const PetscScalar *v    = s->value + s->part[p].value;

  for (size_t g = s->part[p].group; g < s->part[p + 1].group; g++) {
    const int32_t *count  = s->count + 2 * g;
    const size_t   row    = g * BCCOO_MASKED_HEIGHT;
    Spmv8          sum[2] = {Spmv8Zero(), Spmv8Zero()};

    v = BccooMaskedRun(v, word, count[0], 0, x, sum);
    word += count[0];
    v = BccooMaskedRun(v, word, count[1], 1, x, sum);
    word += count[1];
    Spmv8PutPairs(y + row, Spmv8Add(sum[0], sum[1]), (PetscInt)PetscMin(BCCOO_MASKED_HEIGHT, (size_t)s->m - row), beta);
  }
}

/* y <- y + A^T x, the rows of a part */
SPMV_INLINE void BccooMaskedTranspose(const BccooMasked *s, PetscInt p, const PetscScalar *x, PetscScalar *y)
{
  const uint32_t    *word = s->word + s->part[p].block;
  const PetscScalar *v    = s->value + s->part[p].value;

  for (size_t g = s->part[p].group; g < s->part[p + 1].group; g++) {
    const int32_t n   = s->count[2 * g] + s->count[2 * g + 1];
    const size_t  row = g * BCCOO_MASKED_HEIGHT, rows = PetscMin(BCCOO_MASKED_HEIGHT, (size_t)s->m - row);
    PetscScalar   twice[8] = {0}, pair[BCCOO_MASKED_WIDTH] = {0}, *to = s->n == 1 ? pair : y; /* nothing is behind one column */
    Spmv8         own;

    for (size_t l = 0; l < 2 * rows; l++) twice[l] = x[row + l / 2];
    own = Spmv8Load(twice);
    for (int32_t k = 0; k < n; k++, word++) {
      SpmvAddPairs(to + BccooMaskedColumn(word), Spmv8FmaExpand(v, word, own, Spmv8Zero(), 0));
      v = BccooMaskedNext(v, word);
    }
    if (s->n == 1) y[0] += pair[0];
  }
}
