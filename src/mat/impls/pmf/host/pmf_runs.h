/*
  pmf_runs.h - what a product and a transposed product do with a run, and the loops over runs of slices that pmf_simd.c and
  pmf_coded_simd.c make: each for a number of steps that is known, bytes of a column, whether there is a prefetch, and a coding of
  values
*/
#pragma once
#include "pmf_slices.h"

/* y <- A x, or y += A x, for the rows of a run; known: 0, or PmfRun.known; alone, and listed of a known run: as of its flags */
SPMV_INLINE void PmfApply(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, PetscScalar *y, int add, size_t size,
                          int prefetch, SpmvCoding coding, size_t known, int alone, int listed)
{
  PmfCursor c = PmfCursorOf(b, run, coding);

  for (size_t k = 0; k < (size_t)run->rows; k += alone ? 1 : PMF_LANES) {
    Spmv8 sum;

    PmfPrefetchX(b, run, k, x, prefetch);
    sum = known ? PmfGathered(&c, known, size, prefetch, x) : PmfSliceSum(run, &c, size, prefetch, x);

    if (alone) {
      const PetscScalar total = Spmv8Sum(sum);
      const size_t      r     = PmfRow(b, run, k);

      y[r] = add ? y[r] + total : total;
    } else if (!known || add) PmfPut(b, run, k, sum, y, add);
    else if (listed) SpmvScatter8(y + run->row, b->list + (run->list + k) * b->listsize, b->listsize, sum);
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

    PmfTransposeSlice(run, &c, size, alone ? Spmv8Splat(x[row]) : PmfTake(b, run, k, x), y);
  }
}

/* A loop over a run */
typedef void PmfRunFn(const PmfStorage *, const PmfRun *, const PetscScalar *, PetscScalar *, int);

/* The steps of a run that has one or more: the compiler must be told so, or the loop for 0 is in that for any number, too */
SPMV_INLINE size_t PmfKnown(const PmfRun *run)
{
  if (!run->known) __builtin_unreachable();
  return (size_t)run->known;
}

/* N: a number of steps, or 0, or ANY for what a run has */
#define PMF_STEPS_0   0
#define PMF_STEPS_1   1
#define PMF_STEPS_2   2
#define PMF_STEPS_3   3
#define PMF_STEPS_4   4
#define PMF_STEPS_5   5
#define PMF_STEPS_6   6
#define PMF_STEPS_7   7
#define PMF_STEPS_8   8
#define PMF_STEPS_ANY PmfKnown(run)
#define PMF_RUN(N, SIZE, FETCH, CODING) \
  static void PmfRun_##N##_##SIZE##_##FETCH##_##CODING(const PmfStorage *b, const PmfRun *run, const PetscScalar *x, \
                                                       PetscScalar *y, int add) \
  { \
    PMF_RUN_BODY(PMF_STEPS_##N, SIZE, FETCH, SPMV_CODING_##CODING) \
  }

#if defined(SPMV_FEW_LOOPS) /* what a run's flags say is asked slice by slice */
  #define PMF_RUN_BODY(STEPS, SIZE, FETCH, coding) \
    const size_t known = STEPS; \
    const int    alone = !known && run->flags & PMF_ALONE; \
\
    PmfApply(b, run, x, y, add, SIZE, FETCH, coding, known, alone, (run->flags & PMF_LISTED) != 0);
#else
  #define PMF_RUN_BODY(STEPS, SIZE, FETCH, coding) \
    const size_t known = STEPS; \
\
    if (!known) PmfApply(b, run, x, y, add, SIZE, FETCH, coding, 0, (run->flags & PMF_ALONE) != 0, 0); \
    else if (add) PmfApply(b, run, x, y, add, SIZE, FETCH, coding, known, 0, 0); \
    else if (run->flags & PMF_LISTED) PmfApply(b, run, x, y, 0, SIZE, FETCH, coding, known, 0, 1); \
    else PmfApply(b, run, x, y, 0, SIZE, FETCH, coding, known, 0, 0);
#endif
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
  WHAT(3, CODING) WHAT(4, CODING) WHAT(5, CODING) WHAT(6, CODING) WHAT(7, CODING) WHAT(8, CODING) WHAT(ANY, CODING)

/* The loops over runs of a coding by PmfRunIndex(), bytes of columns, and whether there is a prefetch */
typedef PmfRunFn *const PmfRunTable[PMF_KNOWN + 2][2][2];

static inline int PmfRunIndex(int known)
{
  return PetscMin(known, PMF_KNOWN + 1);
}

/* pmf_coded_simd.c: the loops over runs by PmfRun.known, bytes of columns, and whether there is a prefetch */
extern PmfRunFn *SPMV_ISA_NAME(PmfCodedRun)(SpmvCoding coding, int known, int wide, int prefetch);
