/*
  pmf_slices.h - what a product and a transposed product do with a slice

  A slice's steps are added up in one vector, kind after kind, with no branch in a step: masks keep the padding, and the x
  that would meet it, out of the sum. Whether columns are int32, and whether there is a prefetch, are constants in each
  copy of these.
*/
#pragma once
#include "pmf_host.h"
#include "../../../../host/simd/simd.h"

/* Bytes between what is in use and what is prefetched, into the second cache, of a matrix that is not in cache */
#define PMF_DISTANCE_COLUMNS 2048
#define PMF_DISTANCE_VALUES  16384

/* PmfCursor: what comes next of a run's arrays */
typedef struct {
  const PetscScalar *v;
  union {
    const char     *byte;
    const int32_t  *wide;
    const uint16_t *narrow;
  } column;
  const uint8_t *mask;
} PmfCursor;

SPMV_INLINE PmfCursor PmfCursorOf(const PmfStorage *b, const PmfRun *run)
{
  return (PmfCursor){b->value + (size_t)PMF_LANES * run->step, {.narrow = b->column + run->column}, b->mask + run->mask};
}

/* Column k from the cursor on */
SPMV_INLINE ptrdiff_t PmfColumnAt(const PmfCursor *c, size_t k, int wide)
{
  return wide ? c->column.wide[k] : c->column.narrow[k];
}

/* x at the eight columns of step k from the cursor on */
SPMV_INLINE Spmv8 PmfGather(const PmfCursor *c, size_t k, int wide, const PetscScalar *x)
{
  return wide ? Spmv8Gather(x, c->column.wide + PMF_LANES * k) : Spmv8Gather(x, c->column.narrow + PMF_LANES * k);
}

/* Moves the cursor over n steps with so many columns each */
SPMV_INLINE void PmfMove(PmfCursor *c, size_t n, size_t columns, int wide)
{
  c->v += PMF_LANES * n;
  c->column.byte += n * columns * (wide ? sizeof(int32_t) : sizeof(uint16_t));
}

SPMV_INLINE void PmfPrefetchValues(const PmfCursor *c, size_t k, int prefetch)
{
  if (prefetch) SpmvPrefetch((const char *)(c->v + PMF_LANES * k) + PMF_DISTANCE_VALUES, 1);
}

SPMV_INLINE void PmfPrefetchStep(const PmfCursor *c, size_t k, int wide, int prefetch)
{
  PmfPrefetchValues(c, k, prefetch);
  if (prefetch) SpmvPrefetch(c->column.byte + PMF_LANES * k * (wide ? 4 : 2) + PMF_DISTANCE_COLUMNS, 1);
}

/* The sum of n gathered steps: two at a time, so that one does not wait for the other */
SPMV_INLINE Spmv8 PmfGathered(PmfCursor *c, size_t n, int wide, int prefetch, const PetscScalar *x)
{
  Spmv8  sum = Spmv8Zero(), other = Spmv8Zero();
  size_t k = 0;

  for (; k + 2 <= n; k += 2) {
    PmfPrefetchStep(c, k, wide, prefetch);
    PmfPrefetchStep(c, k + 1, wide, prefetch);
    sum   = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), PmfGather(c, k, wide, x), sum);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * (k + 1)), PmfGather(c, k + 1, wide, x), other);
  }
  if (n > 1) sum = Spmv8Add(sum, other);
  if (k < n) {
    PmfPrefetchStep(c, k, wide, prefetch);
    sum = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), PmfGather(c, k, wide, x), sum);
  }
  PmfMove(c, n, PMF_LANES, wide);
  return sum;
}

/* The sum of n pairs of steps */
SPMV_INLINE Spmv8 PmfPaired(PmfCursor *c, size_t n, int wide, int prefetch, const PetscScalar *x)
{
  Spmv8 sum = Spmv8Zero(), other = Spmv8Zero();

  for (size_t k = 0; k < n; k++, c->v += 2 * PMF_LANES) {
    Spmv8 x0, x1;

    PmfPrefetchStep(c, 0, wide, prefetch);
    PmfPrefetchStep(c, 1, wide, prefetch);
    if (wide) Spmv8GatherPairs(x, c->column.wide + PMF_LANES * k, &x0, &x1);
    else Spmv8GatherPairs(x, c->column.narrow + PMF_LANES * k, &x0, &x1);
    sum   = Spmv8Fma(Spmv8Load(c->v), x0, sum);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES), x1, other);
  }
  c->column.byte += n * PMF_LANES * (wide ? sizeof(int32_t) : sizeof(uint16_t));
  return Spmv8Add(sum, other);
}

/* The sum of n times so many steps that share pieces of x */
SPMV_INLINE Spmv8 PmfNearSteps(PmfCursor *c, size_t n, size_t steps, int wide, int prefetch, const PetscScalar *x)
{
  const size_t pieces = PMF_NEAR_PIECES * (wide ? sizeof(int32_t) : sizeof(uint16_t));
  Spmv8        sum = Spmv8Zero(), other = Spmv8Zero();

  for (size_t k = 0; k < n; k++) {
    const SpmvPieces p = wide ? SpmvPiecesLoad(x, c->column.wide) : SpmvPiecesLoad(x, c->column.narrow);

    PmfPrefetchStep(c, 0, wide, prefetch);
    c->column.byte += pieces;
    SPMV_UNROLL
    for (size_t t = 0; t < steps; t++) {
      const Spmv8 v = Spmv8Load(c->v + PMF_LANES * t), xt = SpmvPick(&p, c->column.byte + sizeof(uint32_t) * t);

      if (t) PmfPrefetchValues(c, t, prefetch);
      if (t % 2) other = Spmv8Fma(v, xt, other);
      else sum = Spmv8Fma(v, xt, sum);
    }
    c->v += PMF_LANES * steps;
    c->column.byte += sizeof(uint32_t) * steps;
  }
  return Spmv8Add(sum, other);
}

/* The sum of a slice with steps of any kind; x: with the run's base */
SPMV_INLINE Spmv8 PmfSliceSum(const PmfRun *run, PmfCursor *c, int wide, PmfPrefetch prefetch, const PetscScalar *x)
{
  const int    all = prefetch == PMF_PREFETCH_ALL, any = prefetch != PMF_PREFETCH_NONE;
  const size_t consecutive = (size_t)run->steps[PMF_CONSECUTIVE], common = (size_t)run->steps[PMF_COMMON];
  const size_t ragged = (size_t)run->steps[PMF_RAGGED], diagonal = (size_t)run->steps[PMF_DIAGONAL];
  const size_t near = (size_t)run->steps[PMF_NEAR];
  Spmv8        sum = Spmv8Zero(), other = Spmv8Zero();
  size_t       k;

  for (k = 0; k + 2 <= consecutive; k += 2) {
    PmfPrefetchStep(c, k, wide, all);
    PmfPrefetchStep(c, k + 1, wide, all);
    sum   = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), Spmv8Load(x + PmfColumnAt(c, k, wide)), sum);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * (k + 1)), Spmv8Load(x + PmfColumnAt(c, k + 1, wide)), other);
  }
  if (k < consecutive) sum = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), Spmv8Load(x + PmfColumnAt(c, k, wide)), sum);
  PmfMove(c, consecutive, 1, wide);
  for (k = 0; k < common; k++) {
    PmfPrefetchStep(c, k, wide, all);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), Spmv8Splat(x[PmfColumnAt(c, k, wide)]), other);
  }
  PmfMove(c, common, 1, wide);
  sum = Spmv8Add(Spmv8Add(sum, other), PmfPaired(c, (size_t)run->steps[PMF_PAIRED], wide, all, x));
  if (run->near == 2) sum = Spmv8Add(sum, PmfNearSteps(c, near, 2, wide, all, x));
  else if (run->near == 3) sum = Spmv8Add(sum, PmfNearSteps(c, near, 3, wide, all, x));
  else if (run->near) sum = Spmv8Add(sum, PmfNearSteps(c, near, 4, wide, all, x));
  sum = Spmv8Add(sum, PmfGathered(c, (size_t)run->steps[PMF_GATHERED], wide, any, x));
  for (k = 0; k < ragged; k++) sum = Spmv8FmaWhere(Spmv8Load(c->v + PMF_LANES * k), PmfGather(c, k, wide, x), sum, c->mask[k]);
  PmfMove(c, ragged, PMF_LANES, wide);
  c->mask += ragged;
  for (k = 0; k < diagonal; k++) {
    const uint8_t mask = c->mask[k];

    const Spmv8 xk = Spmv8LoadWhere(Spmv8Zero(), mask, x + PmfColumnAt(c, k, wide));

    sum = Spmv8FmaWhere(Spmv8Load(c->v + PMF_LANES * k), xk, sum, mask);
  }
  PmfMove(c, diagonal, 1, wide);
  c->mask += diagonal;
  return sum;
}

/* What rows [k, k + 8) of a run have of a vector, 0 past its last row */
SPMV_INLINE Spmv8 PmfTake(const PmfStorage *b, const PmfRun *run, size_t k, const PetscScalar *x)
{
  const size_t rows = PetscMin(PMF_LANES, (size_t)run->rows - k);

  if (rows < PMF_LANES) {
    PetscScalar lane[PMF_LANES] = {0};

    for (size_t l = 0; l < rows; l++) lane[l] = x[PmfRow(b, run, k + l)];
    return Spmv8Load(lane);
  }
  if (!(run->flags & PMF_LISTED)) return Spmv8Load(x + run->row + k);
  if (b->listsize == sizeof(uint16_t)) return Spmv8Gather(x + run->row, (const uint16_t *)b->list + run->list + k);
  return Spmv8Gather(x + run->row, (const int32_t *)b->list + run->list + k);
}

/* Adds a slice's sums to rows [k, k + 8) of a run, or stores them */
SPMV_INLINE void PmfPut(const PmfStorage *b, const PmfRun *run, size_t k, Spmv8 sum, PetscScalar *y, int add)
{
  const size_t rows = PetscMin(PMF_LANES, (size_t)run->rows - k);

  if (add) sum = Spmv8Add(PmfTake(b, run, k, y), sum);
  if (rows < PMF_LANES) {
    PetscScalar lane[PMF_LANES];

    Spmv8Store(lane, sum);
    for (size_t l = 0; l < rows; l++) y[PmfRow(b, run, k + l)] = lane[l];
  } else if (!(run->flags & PMF_LISTED)) Spmv8Store(y + run->row + k, sum);
  else if (b->listsize == sizeof(uint16_t)) Spmv8Scatter(y + run->row, (const uint16_t *)b->list + run->list + k, sum);
  else Spmv8Scatter(y + run->row, (const int32_t *)b->list + run->list + k, sum);
}

/* y += v at the columns of step k */
SPMV_INLINE void PmfScatterAdd(const PmfCursor *c, size_t k, int wide, Spmv8 v, PetscScalar *y)
{
  if (wide) Spmv8ScatterAdd(y, c->column.wide + PMF_LANES * k, v);
  else Spmv8ScatterAdd(y, c->column.narrow + PMF_LANES * k, v);
}

/* The same in the lanes of the step's mask; diagonal: it has one column, that of lane 0 */
SPMV_INLINE void PmfScatterAddMasked(const PmfCursor *c, size_t k, int diagonal, int wide, Spmv8 v, PetscScalar *y)
{
  PetscScalar lane[PMF_LANES];

  Spmv8Store(lane, v);
  for (unsigned mask = c->mask[k]; mask; mask &= mask - 1) {
    const size_t l = (size_t)__builtin_ctz(mask);

    y[diagonal ? PmfColumnAt(c, k, wide) + (ptrdiff_t)l : PmfColumnAt(c, PMF_LANES * k + l, wide)] += lane[l];
  }
}

/* y += v at the columns of a step that shares pieces of x; piece: the first of these, word: the step's */
SPMV_INLINE void PmfScatterNear(const char *piece, const char *word, int wide, Spmv8 v, PetscScalar *y)
{
  const PmfCursor c = {.column = {.byte = piece}};
  PetscScalar     lane[PMF_LANES];
  uint32_t        w;

  memcpy(&w, word, sizeof(w));
  Spmv8Store(lane, v);
  for (size_t l = 0; l < PMF_LANES; l++, w >>= 4) {
    SPMV_SCALAR_LOOP(l);
    y[PmfColumnAt(&c, w >> 2 & 3, wide) + (ptrdiff_t)(w & 3)] += lane[l];
  }
}

/* y <- y + A^T x for a slice, whose lanes multiply xr */
SPMV_INLINE void PmfTransposeSlice(const PmfRun *run, PmfCursor *c, int wide, Spmv8 xr, PetscScalar *y)
{
  const size_t consecutive = (size_t)run->steps[PMF_CONSECUTIVE], common = (size_t)run->steps[PMF_COMMON];
  const size_t paired = (size_t)run->steps[PMF_PAIRED], gathered = (size_t)run->steps[PMF_GATHERED];
  const size_t ragged = (size_t)run->steps[PMF_RAGGED], diagonal = (size_t)run->steps[PMF_DIAGONAL];

  /* Every third, since a step must wait for one just before it that overlaps it, as a stencil's neighbours do */
  for (size_t first = 0; first < 3; first++) {
    for (size_t k = first; k < consecutive; k += 3) {
      PetscScalar *at = y + PmfColumnAt(c, k, wide);

      Spmv8Store(at, Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), xr, Spmv8Load(at)));
    }
  }
  PmfMove(c, consecutive, 1, wide);
  for (size_t k = 0; k < common; k++) y[PmfColumnAt(c, k, wide)] += Spmv8Sum(Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr));
  PmfMove(c, common, 1, wide);
  for (size_t k = 0; k < paired; k++, c->v += 2 * PMF_LANES) {
    PmfScatterAdd(c, k, wide, Spmv8Mul(Spmv8Load(c->v), xr), y);
    PmfScatterAdd(c, k, wide, Spmv8Mul(Spmv8Load(c->v + PMF_LANES), xr), y + 1);
  }
  c->column.byte += paired * PMF_LANES * (wide ? sizeof(int32_t) : sizeof(uint16_t));
  for (int32_t k = 0; k < run->steps[PMF_NEAR]; k++) {
    const char *piece = c->column.byte;

    c->column.byte += PMF_NEAR_PIECES * (wide ? sizeof(int32_t) : sizeof(uint16_t));
    for (int32_t t = 0; t < run->near; t++, c->v += PMF_LANES, c->column.byte += sizeof(uint32_t)) {
      PmfScatterNear(piece, c->column.byte, wide, Spmv8Mul(Spmv8Load(c->v), xr), y);
    }
  }
  for (size_t k = 0; k < gathered; k++) PmfScatterAdd(c, k, wide, Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr), y);
  PmfMove(c, gathered, PMF_LANES, wide);
  for (size_t k = 0; k < ragged; k++) PmfScatterAddMasked(c, k, 0, wide, Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr), y);
  PmfMove(c, ragged, PMF_LANES, wide);
  c->mask += ragged;
  for (size_t k = 0; k < diagonal; k++) PmfScatterAddMasked(c, k, 1, wide, Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr), y);
  PmfMove(c, diagonal, 1, wide);
  c->mask += diagonal;
}
