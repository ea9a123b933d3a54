/*
  csradaptive_device.h - the knobs and the storage of CSR-Adaptive for devices
*/
#pragma once
#include "../../../../spmvdevice.h"
#include "../csradaptive_blocks.h"

enum { /* the knobs, in the order of CsradaptiveDeviceParams, after those of both sides */
       CSRADAPTIVE_DEVICE_WORKGROUP = CSRADAPTIVE_NPARAMS,
       CSRADAPTIVE_DEVICE_REDUCTION,
       CSRADAPTIVE_DEVICE_PARTS,
       CSRADAPTIVE_DEVICE_NPARAMS
};

/* Values of two knobs */
enum { CSRADAPTIVE_LOGARITHMIC, CSRADAPTIVE_SCALAR };
enum { CSRADAPTIVE_PARTS_KERNEL, CSRADAPTIVE_PARTS_ATOMIC };

#define CSRADAPTIVE_LISTS (CSRADAPTIVE_VECTORL + 1) /* kernels: a device has no nodes */

typedef struct {
  CsradaptiveBlocks rows;
  int32_t          *list[CSRADAPTIVE_LISTS]; /* [rows.amount[kernel].blocks] row blocks of each kernel */
  int32_t          *part; /* [rows.amount[CSRADAPTIVE_VECTORL].rows + 1] where each row that is shared begins on the last list */
} CsradaptiveDeviceStorage;

/* csradaptive_load.c */
extern PetscErrorCode CsradaptiveDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);
