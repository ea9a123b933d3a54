/*
  cmrs_words.h - products for entries in any order: each goes to the sum that its word says

  The paper's algorithm 1, with eight lanes as its warp: lane l adds to sum[row][l], so that no two lanes of a vector add to
  the same place, and the lanes of a row are added at the end. Of the padded variant this is its sum[row][lane modulo 8].
*/
#pragma once
#include "cmrs_vectors.h"

typedef PetscScalar CmrsSums[CMRS_HEIGHT_MAX][CMRS_VECTOR];

/* Adds entries [first, end) of one strip to its sums */
SPMV_INLINE void CmrsAddRange(const CmrsStorage *c, PetscInt first, PetscInt end, const PetscScalar *x, CmrsSums sum, PetscBool wide)
{
  const PetscInt    before = first % c->align;
  const CmrsEntries e      = CmrsEntriesFrom(c, first - before, wide);
  const size_t      n      = (size_t)(before + end - first);

  for (size_t k = 0, from = (size_t)before; k < n; k += CMRS_VECTOR, from = 0) {
    const size_t to = PetscMin(CMRS_VECTOR, n - k);
    PetscScalar  product[CMRS_VECTOR];

    Spmv8Store(product, CmrsEight(&e, k, x));
    for (size_t l = from; l < to; l++) sum[CmrsWordAt(&e, k + l) % CMRS_HEIGHT_MAX][l] += product[l];
  }
}

/* The sums of a strip's entries [first, end); with padding both are multiples of CMRS_GROUP */
SPMV_INLINE void CmrsStripSums(const CmrsStorage *c, PetscInt first, PetscInt end, const PetscScalar *x, PetscScalar out[], PetscBool wide)
{
  CmrsSums sum;

  for (PetscInt r = 0; r < c->height; r++) Spmv8Store(sum[r], Spmv8Zero());
  if (c->items) {
    for (PetscInt k = first; k < end; k += CMRS_GROUP) CmrsAddRange(c, k, k + c->items[k / CMRS_GROUP], x, sum, wide);
  } else CmrsAddRange(c, first, end, x, sum, wide);
  for (PetscInt r = 0; r < c->height; r++) out[r] = Spmv8Sum(Spmv8Load(sum[r]));
}

/* The part of thread t: its entries, which may begin and end in the middle of a strip. The one that it begins in is of an earlier thread, and its sums wait in `partial` */
SPMV_INLINE void CmrsWordsShare(const CmrsProduct *p, PetscInt t, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsShare   *own = &c->share[t], *next = &c->share[t + 1];
  PetscScalar        sum[CMRS_HEIGHT_MAX];

  if (c->strip[own->strip] > own->entry) CmrsStripSums(c, own->entry, PetscMin(c->strip[own->strip], next->entry), p->x, c->partial + t * CMRS_HEIGHT_MAX, wide);
  for (PetscInt s = own->strip; s < next->strip; s++) {
    const PetscInt r = s * c->height, rows = CmrsRows(c, s);

    CmrsStripSums(c, c->strip[s], PetscMin(c->strip[s + 1], next->entry), p->x, sum, wide);
    for (PetscInt i = 0; i < rows; i++) p->y[r + i] = p->beta ? p->y[r + i] + sum[i] : sum[i];
  }
}

/* Adds the sums of strips that threads began in the middle of, in the order of the threads */
SPMV_INLINE void CmrsWordsAfter(const CmrsProduct *p)
{
  const CmrsStorage *c = p->c;

  for (PetscInt t = 1; t < c->threads; t++) {
    const CmrsShare *own = &c->share[t];
    const PetscInt   r   = (own->strip - 1) * c->height;

    if (c->strip[own->strip] <= own->entry) continue;
    for (PetscInt i = 0; i < CmrsRows(c, own->strip - 1); i++) p->y[r + i] += c->partial[t * CMRS_HEIGHT_MAX + i];
  }
}

/* y <- y + A^T x for the part of thread t, in any order */
SPMV_INLINE void CmrsTransposeShare(const CmrsProduct *p, PetscInt t, PetscScalar *y, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsShare   *own = &c->share[t], *next = &c->share[t + 1];
  const uint8_t     *items = c->items;
  const CmrsEntries  e     = CmrsEntriesFrom(c, 0, wide);
  size_t             k     = (size_t)own->entry;

  for (PetscInt s = c->strip[own->strip] > own->entry ? own->strip - 1 : own->strip; s < next->strip; s++) {
    const size_t       end = (size_t)PetscMin(c->strip[s + 1], next->entry);
    const PetscScalar *x   = p->x + s * c->height;

    for (; k < end; k++) {
      const uint64_t word = CmrsWordAt(&e, k);

      if (items && k % CMRS_GROUP >= items[k / CMRS_GROUP]) continue;
      y[word >> CMRS_BITS] += e.value[k] * x[word % CMRS_HEIGHT_MAX];
    }
  }
}
