/*
  csradaptive_device.h - the knobs and the storage of CSR-Adaptive for devices
*/
#pragma once
#include "../../../../spmvdevice.h"
#include "../csradaptive_blocks.h"

enum { /* the knobs, in the order of CsradaptiveDeviceParams */
       CSRADAPTIVE_DEVICE_WORKGROUP,
       CSRADAPTIVE_DEVICE_NNZ_PER_WG,
       CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM,
       CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER,
       CSRADAPTIVE_DEVICE_REDUCTION,
       CSRADAPTIVE_DEVICE_PARTS,
       CSRADAPTIVE_DEVICE_LONG,
       CSRADAPTIVE_DEVICE_SHORT,
       CSRADAPTIVE_DEVICE_NPARAMS
};

enum { /* values of CSRADAPTIVE_DEVICE_REDUCTION */
       CSRADAPTIVE_REDUCTION_LOGARITHMIC,
       CSRADAPTIVE_REDUCTION_SCALAR
};

enum { /* values of CSRADAPTIVE_DEVICE_PARTS */
       CSRADAPTIVE_PARTS_KERNEL,
       CSRADAPTIVE_PARTS_ATOMIC
};

typedef struct {
  PetscInt           m;
  size_t             nentries;
  const PetscInt    *i, *j; /* AIJ's own */
  const PetscScalar *a;     /* AIJ's own */
  size_t             nblocks;
  uint64_t          *block;                      /* [nblocks + 1] */
  size_t             nlist[CSRADAPTIVE_KERNELS]; /* row blocks of each kernel */
  int32_t           *list[CSRADAPTIVE_KERNELS];  /* [nlist] which ones */
  size_t             nshared;                    /* rows that are shared */
  int32_t           *part;                       /* [nshared + 1] where the row blocks of each such row begin in the last list */
} CsradaptiveDeviceStorage;
