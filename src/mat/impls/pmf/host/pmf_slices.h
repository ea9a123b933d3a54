/*
  pmf_slices.h - what a product and a transposed product do with a slice

  A slice's steps are added up in one vector, kind after kind, with no branch in a step: masks keep the padding, and the x
  that would meet it, out of the sum. The bytes of a column, and whether there is a prefetch, are constants in each copy.
*/
#pragma once
#include "pmf_host.h"
#include "../../../../host/simd/values.h"

/* Bytes between what is in use and what is prefetched, into the second cache, of a matrix that is not in cache */
#define PMF_DISTANCE_COLUMNS 2048
#define PMF_DISTANCE_VALUES  16384
#define PMF_DISTANCE_RUNS    1024

/* PmfCursor: what comes next of a run's arrays. `size`, here and below: bytes of a column; coding: a constant like it */
typedef struct {
  const char    *v;
  const char    *column;
  const uint8_t *mask;
  SpmvCoding     coding;
  SpmvTable      table;
} PmfCursor;

SPMV_INLINE PmfCursor PmfCursorOf(const PmfStorage *b, const PmfRun *run, SpmvCoding coding)
{
  return (PmfCursor){(const char *)b->value.data + PMF_LANES * SpmvCodingSize(coding) * run->step,
                     (const char *)(b->column + run->column), b->mask + run->mask, coding, SpmvValuesTable(&b->value)};
}

/* The values of step k from the cursor on */
SPMV_INLINE Spmv8 PmfValue(const PmfCursor *c, size_t k)
{
  return Spmv8Value(&c->table, c->v, PMF_LANES * k, c->coding);
}

/* Moves the cursor over n steps, which have so many columns together */
SPMV_INLINE void PmfMove(PmfCursor *c, size_t n, size_t columns, size_t size)
{
  c->v += PMF_LANES * SpmvCodingSize(c->coding) * n;
  c->column += columns * size;
}

/* What step k from the cursor on multiplies */
SPMV_INLINE Spmv8 PmfTakeX(const PmfCursor *c, size_t k, PmfKind kind, size_t size, const PetscScalar *x)
{
  if (kind == PMF_CONSECUTIVE) return Spmv8Load(x + PmfIndexAt(c->column, size, k));
  if (kind == PMF_COMMON) return Spmv8Splat(x[PmfIndexAt(c->column, size, k)]);
  if (kind == PMF_DIAGONAL) return Spmv8LoadWhere(Spmv8Zero(), c->mask[k], x + PmfIndexAt(c->column, size, k));
  return SpmvGather8(x, c->column + PMF_LANES * k * size, size, 0);
}

SPMV_INLINE void PmfPrefetchValues(const PmfCursor *c, size_t k, int prefetch)
{
  const size_t step = PMF_LANES * SpmvCodingSize(c->coding);

  if (prefetch && step > PMF_LANES) SpmvPrefetch(c->v + step * k + PMF_DISTANCE_VALUES, 1);
}

SPMV_INLINE void PmfPrefetchStep(const PmfCursor *c, size_t k, PmfKind kind, size_t size, int prefetch)
{
  PmfPrefetchValues(c, k, prefetch);
  if (prefetch && PmfColumnsOf(kind) > 1) SpmvPrefetch(c->column + PmfColumnsOf(kind) * k * size + PMF_DISTANCE_COLUMNS, 1);
}

SPMV_INLINE void PmfAddStep(const PmfCursor *c, size_t k, PmfKind kind, size_t size, int prefetch, const PetscScalar *x,
                            Spmv8 *sum)
{
  PmfPrefetchStep(c, k, kind, size, prefetch);
  *sum = Spmv8Fma(PmfValue(c, k), PmfTakeX(c, k, kind, size, x), *sum);
}

/* Adds n steps to two sums by turns, so that one does not wait for the other */
SPMV_INLINE void PmfAddSteps(PmfCursor *c, size_t n, PmfKind kind, size_t size, int prefetch, const PetscScalar *x, Spmv8 *sum,
                             Spmv8 *other)
{
  for (size_t k = 0; k + 2 <= n; k += 2) {
    PmfAddStep(c, k, kind, size, prefetch, x, sum);
    PmfAddStep(c, k + 1, kind, size, prefetch, x, other);
  }
  if (n % 2) PmfAddStep(c, n - 1, kind, size, prefetch, x, sum);
  PmfMove(c, n, n * PmfColumnsOf(kind), size);
}

/* The sum of n gathered steps */
SPMV_INLINE Spmv8 PmfGathered(PmfCursor *c, size_t n, size_t size, int prefetch, const PetscScalar *x)
{
  Spmv8 sum = Spmv8Zero(), other = Spmv8Zero();

  PmfAddSteps(c, n / 2 * 2, PMF_GATHERED, size, prefetch, x, &sum, &other);
  if (n > 1) sum = Spmv8Add(sum, other);
  PmfAddSteps(c, n % 2, PMF_GATHERED, size, prefetch, x, &sum, &other);
  return sum;
}

/* Adds n steps with masks */
SPMV_INLINE void PmfAddMasked(PmfCursor *c, size_t n, PmfKind kind, size_t size, int prefetch, const PetscScalar *x, Spmv8 *sum)
{
  for (size_t k = 0; k < n; k++) {
    PmfPrefetchStep(c, k, kind, size, prefetch);
    *sum = Spmv8FmaWhere(PmfValue(c, k), PmfTakeX(c, k, kind, size, x), *sum, c->mask[k]);
  }
  PmfMove(c, n, n * PmfColumnsOf(kind), size);
  c->mask += n;
}

/* The sum of n pairs of steps */
SPMV_INLINE Spmv8 PmfPaired(PmfCursor *c, size_t n, size_t size, int prefetch, const PetscScalar *x)
{
  Spmv8 sum = Spmv8Zero(), other = Spmv8Zero();

  for (size_t k = 0; k < n; k++) {
    Spmv8 x0, x1;

    PmfPrefetchStep(c, 0, PMF_PAIRED, size, prefetch);
    PmfPrefetchValues(c, 1, prefetch);
    SpmvPairs8(x, c->column, size, &x0, &x1);
    sum   = Spmv8Fma(PmfValue(c, 0), x0, sum);
    other = Spmv8Fma(PmfValue(c, 1), x1, other);
    PmfMove(c, 2, PMF_LANES, size);
  }
  return Spmv8Add(sum, other);
}

/* The sum of n times so many steps that share pieces of x */
SPMV_INLINE Spmv8 PmfNearSteps(PmfCursor *c, size_t n, size_t steps, size_t size, int prefetch, const PetscScalar *x)
{
  Spmv8 sum = Spmv8Zero(), other = Spmv8Zero();

  for (size_t k = 0; k < n; k++) {
    const SpmvPieces p = SpmvPieces4(x, c->column, size);

    PmfPrefetchStep(c, 0, PMF_NEAR, size, prefetch);
    PmfMove(c, 0, PMF_NEAR_PIECES, size);
    SPMV_UNROLL
    for (size_t t = 0; t < steps; t++) {
      const Spmv8 v = PmfValue(c, t), xt = SpmvPick(&p, c->column + sizeof(uint32_t) * t);

      if (t) PmfPrefetchValues(c, t, prefetch);
      if (t % 2) other = Spmv8Fma(v, xt, other);
      else sum = Spmv8Fma(v, xt, sum);
    }
    PmfMove(c, steps, steps, sizeof(uint32_t));
  }
  return Spmv8Add(sum, other);
}

/* The sum of a slice with steps of some kinds, a constant; the bits are the same with more kinds; x: with the run's base */
SPMV_INLINE Spmv8 PmfSliceSum(const PmfRun *run, PmfCursor *c, size_t size, int prefetch, const PetscScalar *x, unsigned kinds)
{
  const size_t near = (size_t)run->steps[PMF_NEAR];
  Spmv8        sum = Spmv8Zero(), other = Spmv8Zero();

  if (kinds & PMF_BIT(PMF_CONSECUTIVE))
    PmfAddSteps(c, (size_t)run->steps[PMF_CONSECUTIVE], PMF_CONSECUTIVE, size, prefetch, x, &sum, &other);
  if (kinds & PMF_BIT(PMF_COMMON)) PmfAddSteps(c, (size_t)run->steps[PMF_COMMON], PMF_COMMON, size, prefetch, x, &other, &other);
  sum = Spmv8Add(Spmv8Add(sum, other),
                 kinds & PMF_BIT(PMF_PAIRED) ? PmfPaired(c, (size_t)run->steps[PMF_PAIRED], size, prefetch, x) : Spmv8Zero());
  if (kinds & PMF_BIT(PMF_NEAR)) {
    if (run->near == 2) sum = Spmv8Add(sum, PmfNearSteps(c, near, 2, size, prefetch, x));
    else if (run->near == 3) sum = Spmv8Add(sum, PmfNearSteps(c, near, 3, size, prefetch, x));
    else if (run->near) sum = Spmv8Add(sum, PmfNearSteps(c, near, 4, size, prefetch, x));
  }
  if (kinds & PMF_BIT(PMF_GATHERED)) sum = Spmv8Add(sum, PmfGathered(c, (size_t)run->steps[PMF_GATHERED], size, prefetch, x));
  if (kinds & PMF_BIT(PMF_RAGGED)) PmfAddMasked(c, (size_t)run->steps[PMF_RAGGED], PMF_RAGGED, size, prefetch, x, &sum);
  if (kinds & PMF_BIT(PMF_DIAGONAL)) PmfAddMasked(c, (size_t)run->steps[PMF_DIAGONAL], PMF_DIAGONAL, size, prefetch, x, &sum);
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
  return SpmvGather8(x + run->row, b->list + (run->list + k) * b->listsize, b->listsize, 0);
}

/* Prefetches what rows far behind rows [k, k + 8) of a run will be the first to take of x, which begins at the column
   run->base */
SPMV_INLINE void PmfPrefetchX(const PmfStorage *b, const PmfRun *run, size_t k, const PetscScalar *x, int prefetch)
{
  if (!prefetch || !b->ahead) return;
  SpmvPrefetchAhead(x - run->base, (PetscInt64)PmfRow(b, run, k) + b->ahead, b->n);
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
  else SpmvScatter8(y + run->row, b->list + (run->list + k) * b->listsize, b->listsize, sum);
}

/* y += A^T x for n steps with masks */
SPMV_INLINE void PmfTransposeMasked(PmfCursor *c, size_t n, PmfKind kind, size_t size, int prefetch, Spmv8 xr, PetscScalar *y)
{
  for (size_t k = 0; k < n; k++) {
    PetscScalar lane[PMF_LANES];

    PmfPrefetchStep(c, k, kind, size, prefetch);
    Spmv8Store(lane, Spmv8Mul(PmfValue(c, k), xr));
    for (unsigned mask = c->mask[k]; mask; mask &= mask - 1) {
      const size_t l = (size_t)__builtin_ctz(mask);

      if (kind == PMF_DIAGONAL) y[PmfIndexAt(c->column, size, k) + (ptrdiff_t)l] += lane[l];
      else y[PmfIndexAt(c->column, size, PMF_LANES * k + l)] += lane[l];
    }
  }
  PmfMove(c, n, n * PmfColumnsOf(kind), size);
  c->mask += n;
}

/* PmfProducts: what steps that share pieces of x add to y, and where */
typedef struct {
  PetscScalar lane[PMF_NEAR_MAX][PMF_LANES] __attribute__((aligned(SPMV_CACHE_LINE)));
  int32_t     place[PMF_NEAR_MAX][PMF_LANES];
} PmfProducts;

/* Makes them of so many steps. Returns bits: some of 4 l to 4 l + 3 are set if lanes l and l + 1 have columns that differ */
SPMV_INLINE uint32_t PmfProductsOf(PmfCursor *c, size_t steps, size_t size, int prefetch, Spmv8 xr, PmfProducts *products)
{
  const SpmvIndex pieces =
    size == sizeof(uint16_t) ? SpmvIndexLoadU16((const uint16_t *)c->column) : SpmvIndexLoad32((const int32_t *)c->column);
  uint32_t differ = 0;

  PmfPrefetchStep(c, 0, PMF_NEAR, size, prefetch);
  PmfMove(c, 0, PMF_NEAR_PIECES, size);
  for (size_t t = 0; t < steps; t++) {
    uint32_t word;

    if (t) PmfPrefetchValues(c, t, prefetch);
    memcpy(&word, c->column + sizeof(word) * t, sizeof(word));
    differ |= word ^ word >> 4;
    SpmvIndexStore32(products->place[t], SpmvIndexPick(pieces, word));
    Spmv8Store(products->lane[t], Spmv8Mul(PmfValue(c, t), xr));
  }
  PmfMove(c, steps, steps, sizeof(uint32_t));
  return differ;
}

/* Adds lanes [l, l + rows), which have the same columns, of n times so many steps */
SPMV_INLINE void PmfProductsAdd(const PmfProducts products[], int32_t n, size_t steps, size_t l, size_t rows, PetscScalar *y)
{
  for (const PmfProducts *p = products; p < products + n; p++) {
    for (size_t t = 0; t < steps; t++) {
      PetscScalar sum = p->lane[t][l];

      for (size_t k = 1; k < rows; k++) sum += p->lane[t][l + k];
      y[p->place[t][l]] += sum;
    }
  }
}

/* The same for each node of the lanes, whose rows are side by side; last: bit 4 l is set if lane l is the last of its node */
SPMV_INLINE void PmfProductsAddNodes(const PmfProducts products[], int32_t n, size_t steps, uint32_t last, PetscScalar *y)
{
  for (size_t l = 0; l < PMF_LANES; last &= last - 1) {
    const size_t rows = (size_t)__builtin_ctz(last) / 4 + 1 - l;

    switch (rows) {
    case 1: PmfProductsAdd(products, n, steps, l, 1, y); break;
    case 2: PmfProductsAdd(products, n, steps, l, 2, y); break;
    case 3: PmfProductsAdd(products, n, steps, l, 3, y); break;
    default: PmfProductsAdd(products, n, steps, l, rows, y);
    }
    l += rows;
  }
}

/* One function for all loops, and y, which has a run's base in it, in one register */
static __attribute__((noinline)) void PmfProductsAddAll(const PmfProducts products[], int32_t n, size_t steps, uint32_t last,
                                                        PetscScalar *y)
{
  if (steps == 2) PmfProductsAddNodes(products, n, 2, last, y);
  else if (steps == 3) PmfProductsAddNodes(products, n, 3, last, y);
  else PmfProductsAddNodes(products, n, PMF_NEAR_MAX, last, y);
}

/*
  y += A^T x for n times so many steps that share pieces of x. Rows of a node are side by side and have the same columns: they add
  to y once, for all. One node after the other adds what it has in many steps, since nodes of a slice are neighbours, which share
  columns, too, and an addition waits for one to the same entry just before it
*/
#define PMF_TURN 16
SPMV_INLINE void PmfTransposeNear(PmfCursor *c, int32_t n, size_t steps, size_t size, int prefetch, Spmv8 xr, PetscScalar *y)
{
  PmfProducts products[PMF_TURN];

  for (int32_t k = 0; k < n; k += PMF_TURN) {
    const int32_t turn   = PetscMin(PMF_TURN, n - k);
    uint32_t      differ = 0;

    for (int32_t t = 0; t < turn; t++) differ |= PmfProductsOf(c, steps, size, prefetch, xr, &products[t]);
    differ |= differ >> 2;
    differ |= differ >> 1;
    PmfProductsAddAll(products, turn, steps, (differ & 0x01111111) | 1u << 4 * (PMF_LANES - 1), y);
  }
}

/* y <- y + A^T x for a slice, whose lanes multiply xr */
SPMV_INLINE void PmfTransposeSlice(const PmfRun *run, PmfCursor *c, size_t size, int prefetch, Spmv8 xr, PetscScalar *y)
{
  const size_t  consecutive = (size_t)run->steps[PMF_CONSECUTIVE], common = (size_t)run->steps[PMF_COMMON];
  const int32_t near = run->steps[PMF_NEAR];

  /* Every third, since a step must wait for one just before it that overlaps it, as a stencil's neighbours do */
  for (size_t first = 0; first < 3; first++) {
    for (size_t k = first; k < consecutive; k += 3) {
      PetscScalar *at = y + PmfIndexAt(c->column, size, k);

      PmfPrefetchValues(c, k, prefetch);
      Spmv8Store(at, Spmv8Fma(PmfValue(c, k), xr, Spmv8Load(at)));
    }
  }
  PmfMove(c, consecutive, consecutive, size);
  for (size_t k = 0; k < common; k++) {
    PmfPrefetchValues(c, k, prefetch);
    y[PmfIndexAt(c->column, size, k)] += Spmv8Sum(Spmv8Mul(PmfValue(c, k), xr));
  }
  PmfMove(c, common, common, size);
  for (int32_t k = 0; k < run->steps[PMF_PAIRED]; k++, PmfMove(c, 2, PMF_LANES, size)) {
    PmfPrefetchStep(c, 0, PMF_PAIRED, size, prefetch);
    PmfPrefetchValues(c, 1, prefetch);
    SpmvScatterAdd8(y, c->column, size, Spmv8Mul(PmfValue(c, 0), xr));
    SpmvScatterAdd8(y + 1, c->column, size, Spmv8Mul(PmfValue(c, 1), xr));
  }
  if (run->near == 2) PmfTransposeNear(c, near, 2, size, prefetch, xr, y);
  else if (run->near == 3) PmfTransposeNear(c, near, 3, size, prefetch, xr, y);
  else if (run->near) PmfTransposeNear(c, near, 4, size, prefetch, xr, y);
  for (int32_t k = 0; k < run->steps[PMF_GATHERED]; k++, PmfMove(c, 1, PMF_LANES, size)) {
    PmfPrefetchStep(c, 0, PMF_GATHERED, size, prefetch);
    SpmvScatterAdd8(y, c->column, size, Spmv8Mul(PmfValue(c, 0), xr));
  }
  PmfTransposeMasked(c, (size_t)run->steps[PMF_RAGGED], PMF_RAGGED, size, prefetch, xr, y);
  PmfTransposeMasked(c, (size_t)run->steps[PMF_DIAGONAL], PMF_DIAGONAL, size, prefetch, xr, y);
}
