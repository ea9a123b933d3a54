/*
  cmrs_steps.h - products for the interleaved order: eight rows at a time, whatever their lengths

  A step of eight rows multiplies one vector. In one of fewer, lanes would lie idle: the products of such steps are made
  first, eight at a time whatever the rows, into a buffer, and a step adds its own.
*/
#pragma once
#include "cmrs_vectors.h"

/* The sum of n products */
SPMV_INLINE PetscScalar CmrsSumBuffered(const PetscScalar product[], size_t n)
{
  Spmv8  sum = Spmv8Zero();
  size_t k   = 0;

  for (; k + CMRS_VECTOR <= n; k += CMRS_VECTOR) sum = Spmv8Add(sum, Spmv8Load(product + k));
  return Spmv8Sum(Spmv8AddFirst(sum, Spmv8Load(product + k), (unsigned)(n - k)));
}

/* The sum of the products of n entries from the k-th on */
SPMV_INLINE PetscScalar CmrsSumDirect(const CmrsEntries *e, size_t k, size_t n, const PetscScalar *x)
{
  const size_t end = k + n;
  Spmv8        a = Spmv8Zero(), b = Spmv8Zero();

  for (; k + 2 * CMRS_VECTOR <= end; k += 2 * CMRS_VECTOR) {
    a = Spmv8Add(a, CmrsEight(e, k, x));
    b = Spmv8Add(b, CmrsEight(e, k + CMRS_VECTOR, x));
  }
  a = Spmv8Add(a, b);
  if (k + CMRS_VECTOR <= end) {
    a = Spmv8Add(a, CmrsEight(e, k, x));
    k += CMRS_VECTOR;
  }
  return Spmv8Sum(k < end ? Spmv8AddFirst(a, CmrsEight(e, k, x), (unsigned)(end - k)) : a);
}

/* Makes the products of n entries from the k-th on */
SPMV_INLINE void CmrsFill(const CmrsEntries *e, size_t k, size_t n, const PetscScalar *x, PetscScalar buffer[])
{
  for (size_t q = 0; q < n; q += CMRS_VECTOR) Spmv8Store(buffer + q, CmrsEight(e, k + q, x));
}

/* The sum of the products of some steps, which lie one after the other */
SPMV_INLINE Spmv8 CmrsAddSteps(Spmv8 sum, const PetscScalar *product, const uint8_t active[], size_t steps)
{
  for (size_t t = 0; t < steps; t++) {
    sum = Spmv8AddFirst(sum, Spmv8Load(product), active[t]);
    product += active[t];
  }
  return sum;
}

/* y for the strips of a chunk. The mode and the number of bands of a strip are constants where this is inlined. buffer: of the whole chunk, or to be used */
SPMV_INLINE void CmrsChunkRows(const CmrsProduct *p, const CmrsChunk *chunk, const CmrsEntries *e, PetscScalar *buffer,
                               CmrsMode mode, PetscInt bands)
{
  const CmrsStorage *c      = p->c;
  const PetscScalar *x      = p->x;
  const uint8_t     *active = c->active + chunk->step, *lane = CmrsLanes(c, chunk->strip * bands);
  const CmrsSteps   *step = c->step + chunk->strip * bands;
  const CmrsTail    *tail = c->tail + chunk->tail, *tails = c->tail + chunk[1].tail;
  const PetscInt     first = chunk->strip * c->height, height = c->height,
                 end = chunk[1].strip < c->strips ? chunk[1].strip * height : c->m;
  size_t k           = 0; /* entries done */

  for (PetscInt r = first; r < end; r += height) {
    const PetscInt rows = PetscMin(height, end - r);

    for (PetscInt b = 0; b < bands; b++, step++, lane += CMRS_VECTOR) {
      const size_t full = step->full, all = step->all, others = step->entries;
      Spmv8        sum = Spmv8Zero();

      if (mode == CMRS_BUFFERED) {
        sum = CmrsAddSteps(sum, buffer + k, active, all);
        k += CMRS_VECTOR * full;
      } else {
        if (mode == CMRS_MIXED) CmrsFill(e, k + CMRS_VECTOR * full, others, x, buffer);
        for (size_t t = 0; t < full; t++, k += CMRS_VECTOR) sum = Spmv8Add(sum, CmrsEight(e, k, x));
        if (mode == CMRS_MIXED) sum = CmrsAddSteps(sum, buffer, active + full, all - full);
      }
      k += others;
      active += all;
      CmrsPut(p, r + CMRS_VECTOR * b, rows - CMRS_VECTOR * b, mode == CMRS_UNIFORM ? sum : Spmv8Permute(sum, lane));
    }
    for (; mode != CMRS_UNIFORM && tail < tails && first + tail->row < r + rows; tail++) {
      p->y[first + tail->row] +=
        mode == CMRS_BUFFERED ? CmrsSumBuffered(buffer + k, tail->length) : CmrsSumDirect(e, k, tail->length, x);
      k += tail->length;
    }
  }
}

SPMV_INLINE void CmrsChunkApply(const CmrsProduct *p, const CmrsChunk *chunk, PetscBool wide, PetscInt bands)
{
  const PetscInt    before = chunk->mode == CMRS_BUFFERED ? chunk->entry % CMRS_VECTOR : 0;
  const CmrsEntries e      = CmrsEntriesFrom(p->c, chunk->entry - before, wide);
  PetscScalar       buffer[CMRS_BUFFER];

  if (chunk->mode == CMRS_UNIFORM) CmrsChunkRows(p, chunk, &e, NULL, CMRS_UNIFORM, bands);
  else if (chunk->mode == CMRS_MIXED) CmrsChunkRows(p, chunk, &e, buffer, CMRS_MIXED, bands);
  else {
    CmrsFill(&e, 0, (size_t)(before + chunk->buffered), p->x, buffer);
    CmrsChunkRows(p, chunk, &e, buffer + before, CMRS_BUFFERED, bands);
  }
}

/* The part of thread t: chunks, then segments, whose sums wait in `partial` */
SPMV_INLINE void CmrsStepsShare(const CmrsProduct *p, PetscInt t, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsTask    *own = &c->task[t], *next = &c->task[t + 1];

  for (PetscInt k = own->chunk; k < next->chunk; k++) {
    if (c->bands == 1) CmrsChunkApply(p, &c->chunk[k], wide, 1);
    else CmrsChunkApply(p, &c->chunk[k], wide, 2);
  }
  for (PetscInt k = own->segment; k < next->segment; k++) {
    const CmrsEntries e = CmrsEntriesFrom(c, c->segment[k].first, wide);

    c->partial[k] = CmrsSumDirect(&e, 0, (size_t)c->segment[k].length, p->x);
  }
}

/* y <- y + A^T x for one row's entries: n of them from the k-th on, `step` apart */
SPMV_INLINE void CmrsScatter(const CmrsEntries *e, size_t k, size_t n, size_t step, PetscScalar x, PetscScalar *y)
{
  for (size_t t = 0; t < n; t++, k += step) y[CmrsWordAt(e, k) >> CMRS_BITS] += e->value[k] * x;
}

/*
  y <- y + A^T x for the part of thread t. Row by row where that is simple: neighbours in a step often have the same column,
  and would wait for each other's y
*/
SPMV_INLINE void CmrsStepsTransposeShare(const CmrsProduct *p, PetscInt t, PetscScalar *y, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsTask    *own = &c->task[t], *next = &c->task[t + 1];
  const CmrsEntries  e = CmrsEntriesFrom(c, 0, wide);

  for (PetscInt q = own->chunk; q < next->chunk; q++) {
    const CmrsChunk *chunk = &c->chunk[q];
    const size_t     end   = (size_t)(chunk->entry + chunk->buffered);
    size_t           k     = (size_t)chunk->entry;

    for (PetscInt s = chunk->strip; s < chunk[1].strip; s++) {
      const PetscScalar *x    = p->x + s * c->height;
      const size_t       stop = PetscMin(end, (size_t)c->strip[s + 1]);

      for (PetscInt b = 0; b < c->bands; b++) {
        const CmrsSteps step = c->step[s * c->bands + b];

        if (step.full) {
          for (size_t l = 0; l < CMRS_VECTOR; l++)
            CmrsScatter(&e, k + l, step.full, CMRS_VECTOR, x[CmrsWordAt(&e, k + l) % CMRS_HEIGHT_MAX], y);
        }
        k += CMRS_VECTOR * (size_t)step.full;
        for (const size_t others = k + step.entries; k < others; k++)
          CmrsScatter(&e, k, 1, 1, x[CmrsWordAt(&e, k) % CMRS_HEIGHT_MAX], y);
      }
      for (; k < stop; k++) CmrsScatter(&e, k, 1, 1, x[CmrsWordAt(&e, k) % CMRS_HEIGHT_MAX], y); /* tails */
    }
  }
  for (PetscInt q = own->segment; q < next->segment; q++) {
    const CmrsSegment *segment = &c->segment[q];

    CmrsScatter(&e, (size_t)segment->first, (size_t)segment->length, 1, p->x[segment->row], y);
  }
}

/* Adds the sums of segments, in their order */
SPMV_INLINE void CmrsStepsAfter(const CmrsProduct *p)
{
  for (PetscInt k = 0; k < p->c->nsegments; k++) p->y[p->c->segment[k].row] += p->c->partial[k];
}
