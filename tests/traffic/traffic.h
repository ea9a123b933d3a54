/*
  traffic.h - what the files of the traffic meter's program share

  traffic.c   options, products, what is printed
  matrices.c  the list of matrices, and those that spmvbench cannot generate
  csr.c       two ways to multiply by CSR to compare with; csr.cl their kernels
  known.c     kernels whose requests can be counted by hand, to test the meter; known.cl
*/
#pragma once
#include "../spmvtest.h"
#include "../../examples/spmvbench/spmvbench.h"
#include "device/ondevice.h"

extern const char *const TrafficMatrices[]; /* NULL at the end */
extern PetscErrorCode    TrafficMatrix(const char description[], BenchMatrix *M);

extern const SpmvFormat TrafficCsrVector, TrafficMerge, TrafficKnown;
