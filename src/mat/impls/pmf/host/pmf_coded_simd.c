/*
  pmf_coded_simd.c - the loops over runs whose values are coded, compiled once for each instruction set of isas.h

  They are apart from those of pmf_simd.c, and only those without values have a loop for each number of steps, for the
  compiler's sake. Codes are so short that the hardware fetches them by itself: only columns are prefetched.
*/
#include "pmf_runs.h"

#if !defined(SPMV_ISA_ABSENT)
  /* The loops for no number that is known, for any that is, and for consecutive steps */
  #define LOOP_OF(known) ((known) == PMF_ONLY_LINE ? 2 : (known) > 0)
  #define CODED(CODING) \
    PMF_RUNS(0, CODING) \
    PMF_RUNS(ANY, CODING) \
    PMF_RUNS(LINE, CODING) \
    static PmfRunFn *const PmfRuns_##CODING[3][2][2] = {PMF_ENTRY(0, CODING) PMF_ENTRY(ANY, CODING) PMF_ENTRY(LINE, CODING)};
  #if defined(SPMV_FEW_LOOPS)
CODED(ONE)
    #define LOOP_OF_ONE(known) LOOP_OF(known)
  #else
PMF_EACH(PMF_RUNS, ONE)
static PmfRunTable PmfRuns_ONE = {PMF_EACH(PMF_ENTRY, ONE)};
    #define LOOP_OF_ONE(known) PmfRunIndex(known)
  #endif
CODED(FEW)
CODED(MANY)
CODED(FLOAT)

PmfRunFn *SPMV_ISA_NAME(PmfCodedRun)(SpmvCoding coding, int known, int wide, int prefetch)
{
  if (coding == SPMV_CODING_ONE) return PmfRuns_ONE[LOOP_OF_ONE(known)][wide][prefetch];
  if (coding == SPMV_CODING_FEW) return PmfRuns_FEW[LOOP_OF(known)][wide][prefetch];
  if (coding == SPMV_CODING_MANY) return PmfRuns_MANY[LOOP_OF(known)][wide][prefetch];
  return PmfRuns_FLOAT[LOOP_OF(known)][wide][prefetch];
}
#endif
