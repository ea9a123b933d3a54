/*
  pmf_simd.c - the products of PMF, compiled once for each instruction set of isas.h

  A slice's steps are added up in one vector, kind after kind, with no branch in a step: masks keep the padding, and the x
  that would meet it, out of the sum. Slices of a run have the same steps, so the processor knows where each one ends.
*/
#include "pmf.h"
#include "../../../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(PmfKernels) = {NULL, NULL};
#else

/* Bytes between what is in use and what is asked for, into the second cache, in a matrix that is not in cache; see BccooAhead() for what that gains */
  #define PMF_AHEAD_COLUMNS 2048
  #define PMF_AHEAD_VALUES  16384

/* PmfCursor: what comes next of a run's arrays */
typedef struct {
  const PetscScalar *v;
  const char        *column;
  const uint8_t     *mask;
} PmfCursor;

SPMV_INLINE PmfCursor PmfCursorOf(const PmfStorage *b, const PmfRun *run)
{
  return (PmfCursor){b->value + (size_t)PMF_LANES * run->step, (const char *)(b->column + run->column), b->mask + run->mask};
}

/* Column k from the cursor on */
SPMV_INLINE ptrdiff_t PmfColumnAt(const PmfCursor *c, size_t k, int wide)
{
  return wide ? ((const int32_t *)(const void *)c->column)[k] : ((const uint16_t *)(const void *)c->column)[k];
}

/* x at the eight columns of step k from the cursor on */
SPMV_INLINE Spmv8 PmfGather(const PmfCursor *c, size_t k, int wide, const PetscScalar *x)
{
  return wide ? Spmv8Gather(x, (const int32_t *)(const void *)c->column + PMF_LANES * k) : Spmv8GatherU16(x, (const uint16_t *)(const void *)c->column + PMF_LANES * k);
}

SPMV_INLINE void PmfGatherPairs(const PmfCursor *c, size_t k, int wide, const PetscScalar *x, Spmv8 *a, Spmv8 *b)
{
  if (wide) Spmv8GatherPairs(x, (const int32_t *)(const void *)c->column + PMF_LANES * k, a, b);
  else Spmv8GatherPairsU16(x, (const uint16_t *)(const void *)c->column + PMF_LANES * k, a, b);
}

/* Moves the cursor over n steps with so many columns each */
SPMV_INLINE void PmfMove(PmfCursor *c, size_t n, size_t columns, int wide)
{
  c->v += PMF_LANES * n;
  c->column += n * columns * (wide ? sizeof(int32_t) : sizeof(uint16_t));
}

SPMV_INLINE void PmfAhead(const PmfCursor *c, size_t k, int wide, int ahead)
{
  if (!ahead) return;
  __builtin_prefetch((const char *)(c->v + PMF_LANES * k) + PMF_AHEAD_VALUES, 0, 2);
  __builtin_prefetch(c->column + PMF_LANES * k * (wide ? 4 : 2) + PMF_AHEAD_COLUMNS, 0, 2);
}

/* The sum of n gathered steps: two at a time, so that one does not wait for the other */
SPMV_INLINE Spmv8 PmfGathered(PmfCursor *c, size_t n, int wide, int ahead, const PetscScalar *x)
{
  Spmv8  sum = Spmv8Zero(), other = Spmv8Zero();
  size_t k = 0;

  for (; k + 2 <= n; k += 2) {
    PmfAhead(c, k, wide, ahead);
    PmfAhead(c, k + 1, wide, ahead);
    sum   = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), PmfGather(c, k, wide, x), sum);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * (k + 1)), PmfGather(c, k + 1, wide, x), other);
  }
  if (n > 1) sum = Spmv8Add(sum, other);
  if (k < n) {
    PmfAhead(c, k, wide, ahead);
    sum = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), PmfGather(c, k, wide, x), sum);
  }
  PmfMove(c, n, PMF_LANES, wide);
  return sum;
}

/* The sum of n pairs of steps */
SPMV_INLINE Spmv8 PmfPaired(PmfCursor *c, size_t n, int wide, int ahead, const PetscScalar *x)
{
  Spmv8 sum = Spmv8Zero(), other = Spmv8Zero();

  for (size_t k = 0; k < n; k++, c->v += 2 * PMF_LANES) {
    Spmv8 x0, x1;

    PmfAhead(c, 0, wide, ahead);
    PmfAhead(c, 1, wide, ahead);
    PmfGatherPairs(c, k, wide, x, &x0, &x1);
    sum   = Spmv8Fma(Spmv8Load(c->v), x0, sum);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES), x1, other);
  }
  c->column += n * PMF_LANES * (wide ? sizeof(int32_t) : sizeof(uint16_t));
  return Spmv8Add(sum, other);
}

/* The sum of a slice with steps of any kind; x: with the run's base */
SPMV_INLINE Spmv8 PmfSlice(const PmfRun *run, PmfCursor *c, int wide, int ahead, const PetscScalar *x)
{
  const size_t consecutive = (size_t)run->steps[PMF_CONSECUTIVE], common = (size_t)run->steps[PMF_COMMON], ragged = (size_t)run->steps[PMF_RAGGED], diagonal = (size_t)run->steps[PMF_DIAGONAL];
  Spmv8        sum = Spmv8Zero(), other = Spmv8Zero();
  size_t       k;

  for (k = 0; k + 2 <= consecutive; k += 2) {
    PmfAhead(c, k, wide, ahead);
    PmfAhead(c, k + 1, wide, ahead);
    sum   = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), Spmv8Load(x + PmfColumnAt(c, k, wide)), sum);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * (k + 1)), Spmv8Load(x + PmfColumnAt(c, k + 1, wide)), other);
  }
  if (k < consecutive) sum = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), Spmv8Load(x + PmfColumnAt(c, k, wide)), sum);
  PmfMove(c, consecutive, 1, wide);
  for (k = 0; k < common; k++) {
    PmfAhead(c, k, wide, ahead);
    other = Spmv8Fma(Spmv8Load(c->v + PMF_LANES * k), Spmv8Splat(x[PmfColumnAt(c, k, wide)]), other);
  }
  PmfMove(c, common, 1, wide);
  sum = Spmv8Add(Spmv8Add(sum, other), PmfPaired(c, (size_t)run->steps[PMF_PAIRED], wide, ahead, x));
  sum = Spmv8Add(sum, PmfGathered(c, (size_t)run->steps[PMF_GATHERED], wide, ahead, x));
  for (k = 0; k < ragged; k++) sum = Spmv8FmaWhere(Spmv8Load(c->v + PMF_LANES * k), PmfGather(c, k, wide, x), sum, c->mask[k]);
  PmfMove(c, ragged, PMF_LANES, wide);
  c->mask += ragged;
  for (k = 0; k < diagonal; k++) sum = Spmv8FmaWhere(Spmv8Load(c->v + PMF_LANES * k), Spmv8LoadMasked(x + PmfColumnAt(c, k, wide), c->mask[k]), sum, c->mask[k]);
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
  if (b->listsize == sizeof(uint16_t)) return Spmv8GatherU16(x + run->row, (const uint16_t *)b->list + run->list + k);
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
  else if (b->listsize == sizeof(uint16_t)) Spmv8ScatterU16(y + run->row, (const uint16_t *)b->list + run->list + k, sum);
  else Spmv8Scatter(y + run->row, (const int32_t *)b->list + run->list + k, sum);
}

/* y <- A x for the rows of a run of whole slices, which have so many gathered steps and no others; listed: how its rows are known */
SPMV_INLINE void PmfApplyGathered(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int wide, int ahead, size_t gathered, int listed)
{
  const uint16_t *list = (const uint16_t *)b->list + run->list;
  PmfCursor       c    = PmfCursorOf(b, run);

  y += run->row;
  for (size_t k = 0; k < (size_t)run->rows; k += PMF_LANES) {
    const Spmv8 sum = PmfGathered(&c, gathered, wide, ahead, x);

    if (listed) Spmv8ScatterU16(y, list + k, sum);
    else Spmv8Store(y + k, sum);
  }
}

/* y <- beta y + A x for the rows of any run; alone: as of its flags */
SPMV_INLINE void PmfApplyAny(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int add, int wide, int ahead, int alone)
{
  const size_t step = alone ? 1 : PMF_LANES;
  PmfCursor    c    = PmfCursorOf(b, run);

  for (size_t k = 0; k < (size_t)run->rows; k += step) {
    const Spmv8 sum = PmfSlice(run, &c, wide, ahead, x);

    if (alone) {
      const PetscScalar total = Spmv8Sum(sum);
      const size_t      r     = PmfRow(b, run, k);

      y[r] = add ? y[r] + total : total;
    } else PmfPut(b, run, k, sum, y, add);
  }
}

/* y += v at the columns of step k */
SPMV_INLINE void PmfScatterAdd(const PmfCursor *c, size_t k, int wide, Spmv8 v, PetscScalar *y)
{
  if (wide) Spmv8ScatterAdd(y, (const int32_t *)(const void *)c->column + PMF_LANES * k, v);
  else Spmv8ScatterAddU16(y, (const uint16_t *)(const void *)c->column + PMF_LANES * k, v);
}

/* The same in the lanes of the step's mask */
SPMV_INLINE void PmfScatterAddMasked(const PmfCursor *c, size_t k, int wide, Spmv8 v, PetscScalar *y)
{
  PetscScalar lane[PMF_LANES];

  Spmv8Store(lane, v);
  for (unsigned mask = c->mask[k]; mask; mask &= mask - 1) y[PmfColumnAt(c, PMF_LANES * k + (size_t)__builtin_ctz(mask), wide)] += lane[__builtin_ctz(mask)];
}

/* y <- y + A^T x for a slice, whose lanes multiply xr */
SPMV_INLINE void PmfTransposeSlice(const PmfRun *run, PmfCursor *c, int wide, Spmv8 xr, PetscScalar *y)
{
  const size_t consecutive = (size_t)run->steps[PMF_CONSECUTIVE], common = (size_t)run->steps[PMF_COMMON], paired = (size_t)run->steps[PMF_PAIRED], gathered = (size_t)run->steps[PMF_GATHERED], ragged = (size_t)run->steps[PMF_RAGGED], diagonal = (size_t)run->steps[PMF_DIAGONAL];

  for (size_t first = 0; first < 3; first++) { /* every third, since a step must wait for one just before it that overlaps it, as a stencil's neighbours do */
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
  c->column += paired * PMF_LANES * (wide ? sizeof(int32_t) : sizeof(uint16_t));
  for (size_t k = 0; k < gathered; k++) PmfScatterAdd(c, k, wide, Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr), y);
  PmfMove(c, gathered, PMF_LANES, wide);
  for (size_t k = 0; k < ragged; k++) PmfScatterAddMasked(c, k, wide, Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr), y);
  PmfMove(c, ragged, PMF_LANES, wide);
  c->mask += ragged;
  for (size_t k = 0; k < diagonal; k++) {
    PetscScalar *at = y + PmfColumnAt(c, k, wide), lane[PMF_LANES];

    Spmv8Store(lane, Spmv8Mul(Spmv8Load(c->v + PMF_LANES * k), xr));
    for (unsigned mask = c->mask[k]; mask; mask &= mask - 1) at[__builtin_ctz(mask)] += lane[__builtin_ctz(mask)];
  }
  PmfMove(c, diagonal, 1, wide);
  c->mask += diagonal;
}

SPMV_INLINE void PmfTransposeRun(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int wide)
{
  PmfCursor c = PmfCursorOf(b, run);

  if (run->flags & PMF_ALONE) {
    for (int32_t k = 0; k < run->rows; k++) {
      const size_t r = run->flags & PMF_FRAGMENT ? (size_t)b->split[run->row % b->nsplit] : PmfRow(b, run, (size_t)k);

      PmfTransposeSlice(run, &c, wide, Spmv8Splat(x[r]), y);
    }
    return;
  }
  for (int32_t k = 0; k < run->rows; k += PMF_LANES) PmfTransposeSlice(run, &c, wide, PmfTake(b, run, (size_t)k, x), y);
}

/*
  The ways through a run, by how many gathered steps it has if it has no others, no sum to add to, and rows of 16 bits (0: all
  other runs), by whether its columns are wide, and by whether memory is asked early
*/
typedef void PmfRunFn(const PmfStorage *, const PmfRun *, const PetscScalar *, PetscScalar *, int);
  #define ANY(WIDE, AHEAD) \
    static void PmfRun_0_##WIDE##_##AHEAD(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int add) \
    { \
      if (run->flags & PMF_ALONE) PmfApplyAny(b, run, x, y, add, WIDE, AHEAD, 1); \
      else PmfApplyAny(b, run, x, y, add, WIDE, AHEAD, 0); \
    }
  #define GATHERED(N, WIDE, AHEAD) \
    static void PmfRun_##N##_##WIDE##_##AHEAD(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int add) \
    { \
      (void)add; \
      if (run->flags & PMF_LISTED) PmfApplyGathered(b, run, x, y, WIDE, AHEAD, N, 1); \
      else PmfApplyGathered(b, run, x, y, WIDE, AHEAD, N, 0); \
    }
  #define RUNS(N) GATHERED(N, 0, 0) GATHERED(N, 0, 1) GATHERED(N, 1, 0) GATHERED(N, 1, 1)
  #define ENTRY(N) \
    { \
      {PmfRun_##N##_0_0, PmfRun_##N##_0_1}, \
      { \
        PmfRun_##N##_1_0, PmfRun_##N##_1_1 \
      } \
    }
ANY(0, 0)
ANY(0, 1)
ANY(1, 0)
ANY(1, 1)
RUNS(1)
RUNS(2)
RUNS(3)
RUNS(4)
RUNS(5)
RUNS(6)
RUNS(7)
RUNS(8)
static PmfRunFn *const PmfRuns[PMF_KNOWN + 1][2][2] = {ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6), ENTRY(7), ENTRY(8)};

/* The first index of PmfRuns */
SPMV_INLINE int32_t PmfKnown(const PmfStorage *b, const PmfRun *run, int add)
{
  const int32_t gathered = run->steps[PMF_GATHERED];

  if (add || run->flags & PMF_ALONE || gathered > PMF_KNOWN || (size_t)gathered != PmfFullSteps(run) + PmfMaskedSteps(run)) return 0;
  return run->flags & PMF_LISTED && b->listsize != sizeof(uint16_t) ? 0 : gathered;
}

/* PmfProduct: what the tasks of a product share */
typedef struct {
  const PmfStorage  *b;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          beta;
} PmfProduct;

static void PmfClearTask(void *context, PetscInt t)
{
  const PmfProduct *p     = (const PmfProduct *)context;
  const size_t      first = SpmvShare((size_t)p->b->m, t, p->b->threads), end = SpmvShare((size_t)p->b->m, t + 1, p->b->threads);

  memset(p->y + first, 0, sizeof(PetscScalar) * (end - first));
}

static void PmfMultTask(void *context, PetscInt t)
{
  const PmfProduct *p = (const PmfProduct *)context;
  const PmfStorage *b = p->b;

  for (PetscInt piece = t; piece < b->npieces; piece += b->threads) {
    for (int32_t k = b->piece[piece]; k < b->piece[piece + 1]; k++) {
      const PmfRun *run      = &b->run[k];
      const int     fragment = run->flags & PMF_FRAGMENT, add = run->flags & PMF_ADD || (p->beta && !fragment);

      PmfRuns[PmfKnown(b, run, add)][(run->flags & PMF_WIDE) != 0][b->ahead](b, run, p->x + run->base, fragment ? b->sum : p->y, add);
    }
  }
}

static void PmfMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const PmfStorage *b = (const PmfStorage *)storage;
  PmfProduct        p = {b, x, y, beta};

  if (!beta && b->empty) SpmvRun(b->threads, PmfClearTask, &p);
  SpmvRun(b->threads, PmfMultTask, &p);
  for (PetscInt s = 0; s < b->nsplit; s++) {
    PetscScalar sum = beta || b->empty ? y[b->split[s]] : 0; /* if cleared, the blocks of its diagonal may be in it */

    for (PetscInt piece = 0; piece < b->npieces; piece++) sum += b->sum[piece * b->nsplit + s];
    y[b->split[s]] = sum;
  }
}

static void PmfMultTransposeTask(void *context, PetscInt t)
{
  const PmfProduct *p = (const PmfProduct *)context;
  const PmfStorage *b = p->b;
  PetscScalar      *y = t ? b->transposed + (size_t)(t - 1) * (size_t)b->n : p->y;

  if (t || !p->beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->n);
  for (PetscInt piece = t; piece < b->npieces; piece += b->threads) {
    for (int32_t k = b->piece[piece]; k < b->piece[piece + 1]; k++) {
      const PmfRun *run = &b->run[k];

      if (run->flags & PMF_WIDE) PmfTransposeRun(b, run, p->x, y + run->base, 1);
      else PmfTransposeRun(b, run, p->x, y + run->base, 0);
    }
  }
}

static void PmfMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const PmfStorage *b = (const PmfStorage *)storage;
  PmfProduct        p = {b, x, y, beta};

  SpmvRun(b->threads, PmfMultTransposeTask, &p);
  SpmvAddVectors(b->threads, (size_t)b->n, b->transposed, y);
}

const SpmvKernels SPMV_ISA_NAME(PmfKernels) = {PmfMult, PmfMultTranspose};
#endif
