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
       CMRS_DEVICE_PART,
       CMRS_DEVICE_WORKGROUP,
       CMRS_DEVICE_NPARAMS
};

typedef enum {               /* values of CMRS_DEVICE_ORDER: the entries of a strip */
               CMRS_COLUMNS, /* by column, then by row */
               CMRS_GROUPED, /* the same, but in each CMRS_GROUP of them by row */
               CMRS_ROWS,    /* row after row, as in CSR */
               CMRS_PADDED,  /* groups of CMRS_GROUP with at most CMRS_MODULO of a row */
               CMRS_AUTO     /* not in a plan that is resolved */
} CmrsOrder;

#define CMRS_COMBINE 256 /* work items that add up the parts of a strip */
#define CMRS_GROUP   32  /* entries of a group: the paper's warp */
#define CMRS_SECTOR  8   /* entries whose words are 32 bytes, which a device reads at once */
#define CMRS_MODULO  8   /* entries of one row in a group, at most, and together */

typedef struct {
  PetscInt     m;      /* rows of the matrix */
  PetscInt     height; /* rows of a strip */
  PetscInt     strips; /* ceil(m / height) */
  CmrsOrder    order;
  PetscInt     align;    /* groups and parts of a strip are counted from a multiple of so many entries before it */
  PetscInt     part;     /* entries of a strip that several warps share */
  size_t       wordsize; /* bytes of a word */
  PetscInt     nz;       /* entries */
  PetscInt     nstored;  /* entries and padding */
  PetscInt    *strip;    /* [strips + 1] first entry of each strip (stripptr) */
  void        *word;     /* [nstored] column << CMRS_BITS | row in the strip, as uint32 or uint64 */
  PetscScalar *value;    /* [nstored] */
  uint8_t     *items;    /* [nstored / CMRS_GROUP] padded: entries of each group, before its padding */
  PetscInt    *position; /* [nstored] by columns, grouped and padded: the entry of CSR that each value is, -1 for padding */
  size_t       nparts;   /* of strips that are shared */
  uint64_t    *parts;    /* [nparts] entries << 48 | first entry */
  size_t       nlongs;   /* strips that are shared */
  uint64_t    *longs;    /* [nlongs + 1] strip << 32 | the first of its parts; at the end nparts */
  PetscInt     longest;  /* entries of the longest strip that is not shared, from where a warp begins */
} CmrsDeviceStorage;

/* cmrs_device.c */
extern size_t CmrsDeviceBuffer(const PetscInt p[], PetscBool alone);

/* cmrs_load.c */
extern PetscErrorCode CmrsDeviceLoad(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);

/* cmrs_orders.c */
extern PetscErrorCode CmrsSetStrips(const SpmvCSR *csr, CmrsDeviceStorage *c);
extern PetscErrorCode CmrsSetPositions(const SpmvCSR *csr, CmrsDeviceStorage *c);
extern PetscErrorCode CmrsSetParts(CmrsDeviceStorage *c);
extern void           CmrsSetWords(const SpmvCSR *csr, CmrsDeviceStorage *c);
