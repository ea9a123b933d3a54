/*
  pmf_runs.h - what a product and a transposed product do with a run, and the loops over runs of slices that pmf_simd.c and
  pmf_coded_simd.c make: each for a number of steps that is known, bytes of a column, whether there is a prefetch, and a coding of
  values
*/
#pragma once
#include "pmf_slices.h"

/* How the sums of eight rows come to y: as the run's flags say, or side by side, or through its list */
enum { PMF_AS_FLAGS, PMF_STORE, PMF_SCATTER };

/*
  y <- A x, or y += A x, for the rows of a run. Constants are: known, a number of gathered steps, all that there are; or 0, and
  the kinds of steps that there may be; alone, as of the run's flags; to, one of those above
*/
SPMV_INLINE void PmfApply(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int add, size_t size,
                          int prefetch, SpmvCoding coding, size_t known, unsigned kinds, int alone, int to)
{
  PmfCursor c = PmfCursorOf(b, run, coding);

  for (size_t k = 0; k < (size_t)run->rows; k += alone ? 1 : PMF_LANES) {
    Spmv8 sum;

    PmfPrefetchX(b, run, k, x, prefetch);
    sum = known ? PmfGathered(&c, known, size, prefetch, x) : PmfSliceSum(run, &c, size, prefetch, x, kinds);

    if (alone) {
      const PetscScalar total = Spmv8Sum(sum);
      const size_t      r     = PmfRow(b, run, k);

      y[r] = add ? y[r] + total : total;
    } else if (to == PMF_AS_FLAGS) PmfPut(b, run, k, sum, y, add);
    else if (to == PMF_SCATTER) SpmvScatter8(y + run->row, b->list + (run->list + k) * b->listsize, b->listsize, sum);
    else Spmv8Store(y + run->row + k, sum);
  }
}

/* y += A^T x for the rows of a run */
SPMV_INLINE void PmfTransposeRun(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, size_t size,
                                 SpmvCoding coding)
{
  const int alone = run->flags & PMF_ALONE, fragment = run->flags & PMF_FRAGMENT;
  PmfCursor c = PmfCursorOf(b, run, coding);

  for (size_t k = 0; k < (size_t)run->rows; k += alone ? 1 : PMF_LANES) {
    const size_t row = fragment ? (size_t)b->split[run->row % b->nsplit] : PmfRow(b, run, k);

    PmfTransposeSlice(run, &c, size, b->prefetch, alone ? Spmv8Splat(x[row]) : PmfTake(b, run, k, x), y);
  }
}

/* A loop over a run */
typedef void PmfRunFn(const PmfStorage *, const PmfRun *, const PetscScalar *, PetscScalar *, int);

/* The steps of a run that has one or more: the compiler must be told so, or the loop for 0 is in that for any number, too */
SPMV_INLINE size_t PmfKnown(const PmfRun *run)
{
  if (run->known <= 0) __builtin_unreachable();
  return (size_t)run->known;
}

/* The loops: gathered steps, as many or, ANY, what a run has; or the kinds of steps that there may be */
#define PMF_LOOP_0     0, PMF_ALL
#define PMF_LOOP_1     1, 0
#define PMF_LOOP_2     2, 0
#define PMF_LOOP_3     3, 0
#define PMF_LOOP_4     4, 0
#define PMF_LOOP_5     5, 0
#define PMF_LOOP_6     6, 0
#define PMF_LOOP_7     7, 0
#define PMF_LOOP_8     8, 0
#define PMF_LOOP_ANY   PmfKnown(run), 0
#define PMF_LOOP_LINE  0, PMF_LINES
#define PMF_LOOP_PAIR  0, PMF_PAIRS
#define PMF_LOOP_NEAR  0, PMF_NEARS
#define PMF_LOOP_SHORT 0, PMF_SHORTS

/* Whether there are loops, too, for each way to y: where slices are short */
#if defined(SPMV_FEW_LOOPS)
  #define PMF_APART(kinds) 0
#else
  #define PMF_APART(kinds) ((kinds) == 0 || (kinds) == PMF_LINES || (kinds) == PMF_SHORTS)
#endif
#define PMF_RUN(N, SIZE, PREFETCH, CODING) \
  static void PmfRun_##N##_##SIZE##_##PREFETCH##_##CODING(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, \
                                                          PetscScalar *y, int add) \
  { \
    PMF_RUN_OF(SIZE, PREFETCH, SPMV_CODING_##CODING, PMF_LOOP_##N) \
  }
#define PMF_RUN_OF(...) PMF_RUN_BODY(__VA_ARGS__)
#define PMF_RUN_BODY(SIZE, PREFETCH, coding, STEPS, KINDS) \
  const size_t known = STEPS; \
  const int    alone = KINDS == PMF_ALL && run->flags & PMF_ALONE; \
\
  if (!PMF_APART(KINDS) || add) PmfApply(b, run, x, y, add, SIZE, PREFETCH, coding, known, KINDS, alone, PMF_AS_FLAGS); \
  else if (run->flags & PMF_LISTED) PmfApply(b, run, x, y, 0, SIZE, PREFETCH, coding, known, KINDS, 0, PMF_SCATTER); \
  else PmfApply(b, run, x, y, 0, SIZE, PREFETCH, coding, known, KINDS, 0, PMF_STORE);
#define PMF_RUNS(N, CODING) PMF_RUN(N, 2, 0, CODING) PMF_RUN(N, 2, 1, CODING) PMF_RUN(N, 4, 0, CODING) PMF_RUN(N, 4, 1, CODING)
#define PMF_ROW(N, SIZE, CODING) \
  { \
    PmfRun_##N##_##SIZE##_0_##CODING, PmfRun_##N##_##SIZE##_1_##CODING \
  }
#define PMF_ENTRY(N, CODING) {PMF_ROW(N, 2, CODING), PMF_ROW(N, 4, CODING)},
#define PMF_EACH(WHAT, CODING) \
  WHAT(0, CODING) \
  WHAT(1, CODING) \
  WHAT(2, CODING) \
  WHAT(3, CODING) \
  WHAT(4, CODING) \
  WHAT(5, CODING) \
  WHAT(6, CODING) \
  WHAT(7, CODING) WHAT(8, CODING) WHAT(ANY, CODING) WHAT(LINE, CODING) WHAT(PAIR, CODING) WHAT(NEAR, CODING) WHAT(SHORT, CODING)

/* The loops over runs of a coding by PmfRunIndex(), bytes of columns, and whether there is a prefetch */
#define PMF_LOOPS (PMF_KNOWN + 2 + PMF_ONLY)
typedef PmfRunFn *const PmfRunTable[PMF_LOOPS][2][2];

static inline int PmfRunIndex(int known)
{
  return known < 0 ? PMF_KNOWN + 1 - known : PetscMin(known, PMF_KNOWN + 1);
}

/* pmf_coded_simd.c: the loops over runs by PmfRun.known, bytes of columns, and whether there is a prefetch */
extern PmfRunFn *SPMV_ISA_NAME(PmfCodedRun)(SpmvCoding coding, int known, int wide, int prefetch);
