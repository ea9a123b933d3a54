/*
  pmf_coded_simd.c - the loops over runs whose values are coded, compiled once for each instruction set of isas.h

  They are apart from those of pmf_simd.c, and only those without values have a loop for each number of steps, for the
  compiler's sake. Codes are so short that the hardware fetches them by itself: what is prefetched is columns, of all steps but
  those that share pieces of x, or none.
*/
#include "pmf_runs.h"

#if !defined(SPMV_ISA_ABSENT)
  #define RUNS(N, CODING) PMF_RUN(N, 2, 0, CODING) PMF_RUN(N, 2, 1, CODING) PMF_RUN(N, 4, 0, CODING) PMF_RUN(N, 4, 1, CODING)
  #define ROW(N, SIZE, CODING) \
    { \
      PmfRun_##N##_##SIZE##_0_##CODING, PmfRun_##N##_##SIZE##_1_##CODING, PmfRun_##N##_##SIZE##_1_##CODING \
    }
  #define ENTRY(N, CODING) {ROW(N, 2, CODING), ROW(N, 4, CODING)},

  /* The loops for no number that is known, and for any that is */
  #define CODED(CODING) \
    RUNS(0, CODING) \
    RUNS(ANY, CODING) \
    static PmfRunFn *const PmfRuns_##CODING[2][2][PMF_PREFETCH_COUNT] = {ENTRY(0, CODING) ENTRY(ANY, CODING)};
  #if defined(SPMV_FEW_LOOPS)
CODED(ONE)
    #define LOOP_OF_ONE(known) ((known) > 0)
  #else
PMF_EACH(RUNS, ONE)
static PmfRunTable PmfRuns_ONE = {PMF_EACH(ENTRY, ONE)};
    #define LOOP_OF_ONE(known) (known)
  #endif
CODED(FEW)
CODED(MANY)
CODED(FLOAT)

PmfRunFn *SPMV_ISA_NAME(PmfCodedRun)(SpmvCoding coding, int known, int wide, PmfPrefetch prefetch)
{
  if (coding == SPMV_CODING_ONE) return PmfRuns_ONE[LOOP_OF_ONE(known)][wide][prefetch];
  if (coding == SPMV_CODING_FEW) return PmfRuns_FEW[known > 0][wide][prefetch];
  if (coding == SPMV_CODING_MANY) return PmfRuns_MANY[known > 0][wide][prefetch];
  return PmfRuns_FLOAT[known > 0][wide][prefetch];
}
#endif
