/*
  cmrs_steps.h - products for the interleaved order

  First all products of a chunk are made, eight at a time whatever the rows, into a buffer. Then each step adds its own to
  the sums of the rows in its mask: nothing depends on the length of a row but the number of steps of a strip and, in few
  strips, tails.
*/
#pragma once
#include "cmrs_vectors.h"

/* The products of a chunk; returns where its first one is in the buffer */
SPMV_INLINE const PetscScalar *CmrsChunkProducts(const CmrsStorage *c, const CmrsChunk *chunk, const PetscScalar *x, PetscScalar buffer[], PetscBool wide)
{
  const PetscInt first = chunk->entry / c->align * c->align, end = chunk->entry + chunk->buffered;

  for (PetscInt k = first; k < end; k += CMRS_VECTOR) {
    Spmv8Store(buffer + (k - first), CmrsEight(c, k, x, wide));
    CmrsAhead(c, k, wide);
  }
  return buffer + (chunk->entry - first);
}

/* The sum of n products */
SPMV_INLINE PetscScalar CmrsTailSum(const PetscScalar product[], PetscInt n)
{
  Spmv8    sum = Spmv8Zero();
  PetscInt k   = 0;

  for (; k + CMRS_VECTOR <= n; k += CMRS_VECTOR) sum = Spmv8Add(sum, Spmv8Load(product + k));
  return Spmv8Sum(Spmv8Add(sum, Spmv8LoadFirst(product + k, (int)(n - k))));
}

/* y for the strips of a chunk, from its products */
SPMV_INLINE void CmrsChunkRows(const CmrsProduct *p, const CmrsChunk *chunk, const PetscScalar *product, PetscInt halves)
{
  const CmrsStorage *c    = p->c;
  const uint8_t     *mask = c->mask + chunk->step * halves;
  const CmrsTail    *tail = c->tail + chunk->tail, *tails = c->tail + chunk[1].tail;
  const PetscInt     row = chunk->strip * c->height;

  for (PetscInt s = chunk->strip; s < chunk[1].strip; s++) {
    const PetscInt r = s * c->height, rows = CmrsRows(c, s);
    Spmv8          sum[2];

    for (PetscInt half = 0; half < halves; half++) sum[half] = Spmv8Zero();
    for (PetscInt k = 0; k < c->step[s]; k++) {
      for (PetscInt half = 0; half < halves; half++) {
        const unsigned active = *mask++;

        sum[half] = Spmv8AddExpand(sum[half], active, product);
        product += __builtin_popcount(active);
      }
    }
    for (PetscInt half = 0; half < halves; half++) CmrsPut(p, r + CMRS_VECTOR * half, rows - CMRS_VECTOR * half, sum[half]);
    for (; tail < tails && row + tail->row < r + rows; tail++) {
      p->y[row + tail->row] += CmrsTailSum(product, tail->length);
      product += tail->length;
    }
  }
}

/* The sum of a part of a long row, from storage */
SPMV_INLINE PetscScalar CmrsSegmentSum(const CmrsStorage *c, const CmrsSegment *segment, const PetscScalar *x, PetscBool wide)
{
  const PetscInt end = segment->first + segment->length;
  PetscInt       k   = segment->first;
  Spmv8          a = Spmv8Zero(), b = Spmv8Zero();

  for (; k + 2 * CMRS_VECTOR <= end; k += 2 * CMRS_VECTOR) {
    a = Spmv8Add(a, CmrsEight(c, k, x, wide));
    b = Spmv8Add(b, CmrsEight(c, k + CMRS_VECTOR, x, wide));
    CmrsAhead(c, k, wide);
    CmrsAhead(c, k + CMRS_VECTOR, wide);
  }
  a = Spmv8Add(a, b);
  if (k + CMRS_VECTOR <= end) {
    a = Spmv8Add(a, CmrsEight(c, k, x, wide));
    k += CMRS_VECTOR;
  }
  if (k < end) a = Spmv8AddWhere(CmrsEight(c, k, x, wide), (1U << (end - k)) - 1, a);
  return Spmv8Sum(a);
}

/* The part of thread t: chunks, then segments, whose sums wait in `partial` */
SPMV_INLINE void CmrsStepsShare(const CmrsProduct *p, PetscInt t, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsShare   *own = &c->share[t], *next = &c->share[t + 1];
  PetscScalar        buffer[CMRS_BUFFER];

  for (PetscInt k = own->chunk; k < next->chunk; k++) {
    const PetscScalar *product = CmrsChunkProducts(c, &c->chunk[k], p->x, buffer, wide);

    if (c->halves == 1) CmrsChunkRows(p, &c->chunk[k], product, 1);
    else CmrsChunkRows(p, &c->chunk[k], product, 2);
  }
  for (PetscInt k = own->segment; k < next->segment; k++) c->partial[k] = CmrsSegmentSum(c, &c->segment[k], p->x, wide);
}

/* Adds the sums of segments, in their order */
SPMV_INLINE void CmrsStepsAfter(const CmrsProduct *p)
{
  for (PetscInt k = 0; k < p->c->nsegments; k++) p->y[p->c->segment[k].row] += p->c->partial[k];
}
