/*
  cmrs_device.h - the knobs and the storage of CMRS for devices
*/
#pragma once
#include "../../../../spmvdevice.h"
#include "../cmrs_strips.h"

enum { /* the knobs, in the order of CmrsDeviceParams */
       CMRS_DEVICE_HEIGHT,
       CMRS_DEVICE_ORDER,
       CMRS_DEVICE_ALIGN,
       CMRS_DEVICE_WORKGROUP,
       CMRS_DEVICE_NPARAMS
};

typedef enum {               /* values of CMRS_DEVICE_ORDER: the entries of a strip */
               CMRS_COLUMNS, /* by column, then by row */
               CMRS_ROWS,    /* row after row, as in CSR */
               CMRS_PADDED   /* groups of CMRS_GROUP with at most CMRS_MODULO of a row */
} CmrsOrder;

#define CMRS_GROUP  32 /* entries of a group: the paper's warp */
#define CMRS_MODULO 8  /* entries of one row in a group, at most, and together */

typedef struct {
  PetscInt     m;      /* rows of the matrix */
  PetscInt     height; /* rows of a strip */
  PetscInt     strips; /* ceil(m / height) */
  CmrsOrder    order;
  size_t       wordsize; /* bytes of a word */
  PetscInt     nz;       /* entries */
  PetscInt     nstored;  /* entries and padding */
  PetscInt    *strip;    /* [strips + 1] first entry of each strip (stripptr) */
  void        *word;     /* [nstored] column << CMRS_BITS | row in the strip, as uint32 or uint64 */
  PetscScalar *value;    /* [nstored] */
  uint8_t     *items;    /* [nstored / CMRS_GROUP] padded: entries of each group, before its padding */
  PetscInt    *position; /* [nstored] by columns and padded: the entry of CSR that each value is, -1 for padding */
} CmrsDeviceStorage;

/* cmrs_load.c */
extern PetscErrorCode CmrsDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);
