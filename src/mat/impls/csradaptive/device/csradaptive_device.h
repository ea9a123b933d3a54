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

#define CSRADAPTIVE_LINE 32 /* entries that a work group begins at a multiple of: 128 bytes of 32-bit columns */
#define CSRADAPTIVE_GAP  32 /* products in local memory before each gap of one: the banks of doubles */

#define CSRADAPTIVE_AT_ONCE_LEAST 4 /* entries that a work item asks for at once: fewer leave memory idle, */
#define CSRADAPTIVE_AT_ONCE_MOST  8 /* more take registers from other work groups */

typedef struct {
  uint64_t row;     /* row << 32 | rows; CSR-VectorL: row << 32 | the number of the row block among those of the row */
  uint64_t entries; /* entries << 48 | first entry */
} CsradaptiveListed;

typedef struct {
  CsradaptiveBlocks  rows;                    /* without their words once the lists are made */
  CsradaptiveListed *list[CSRADAPTIVE_LISTS]; /* [rows.amount[kernel].blocks] row blocks of each kernel */
  int32_t           *part; /* [rows.amount[CSRADAPTIVE_VECTORL].rows + 1] where each row that is shared begins on the last list */
} CsradaptiveDeviceStorage;

/* csradaptive_load.c */
extern PetscErrorCode CsradaptiveDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);

/*
  Entries of a row block, at most: with those before its first one, down to where a line begins, it has NNZ_PER_WG places, so that
  as many steps of a work group reach all of it
*/
static inline PetscInt CsradaptiveMost(const PetscInt d[])
{
  return d[CSRADAPTIVE_NNZ_PER_WG] - CSRADAPTIVE_LINE + 1;
}

/* Scalars that the places of a row block of CSR-Stream take, with gaps */
static inline PetscInt CsradaptiveSlots(PetscInt nnz_per_wg)
{
  return nnz_per_wg + nnz_per_wg / CSRADAPTIVE_GAP;
}

/* Entries that a work item asks for at once: those of a row block of CSR-Stream in as few steps as can be, equal ones */
static inline size_t CsradaptiveAtOnce(const PetscInt d[])
{
  const size_t all = SpmvGroups((size_t)d[CSRADAPTIVE_NNZ_PER_WG], (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP]);

  return PetscMax(CSRADAPTIVE_AT_ONCE_LEAST, SpmvGroups(all, SpmvGroups(all, CSRADAPTIVE_AT_ONCE_MOST)));
}
