/*
  kernels.h - the table of a host side's kernels, one set for each line of isas.h

  With SPMV_KERNELS defined as BccooKernels, say, it declares BccooKernels_scalar, BccooKernels_avx2, ..., which are made by the
  format's *_simd.c, and makes BccooKernels[SPMV_ISA_COUNT] of them.
*/
#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels SPMV_CAT(SPMV_KERNELS, name);
#include "isas.h"
#undef SPMV_ISA

static const SpmvKernels *const SPMV_KERNELS[SPMV_ISA_COUNT] = {
#define SPMV_ISA(NAME, name, flags, runs) &SPMV_CAT(SPMV_KERNELS, name),
#include "isas.h"
#undef SPMV_ISA
};
