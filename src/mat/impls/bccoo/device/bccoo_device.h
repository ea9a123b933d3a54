/*
  bccoo_device.h - the device side of bccoo

  bccoo_device.c   its knobs, its storage
  bccoo_resolve.c  what a plan leaves open, what a device allows
  bccoo_load.c  the work of a plan, by which block sizes and other knobs are chosen
  bccoo_product.c  the kernels of a product; they are in bccoo.cl, which says what is in the other .cl files
  bccoo_convert.c  what a device makes of a storage itself, from CSR's arrays; the kernels are in bccoo_convert.cl
*/
#pragma once
#include "../../../../spmvdevice.h"
#include "../bccoo_knobs.h"

enum { /* the knobs, after those that both sides have */
       BCCOO_DEVICE_WORKGROUP = BCCOO_SHARED_KNOBS,
       BCCOO_DEVICE_STRATEGY,
       BCCOO_DEVICE_REGISTERS,
       BCCOO_DEVICE_CACHE,
       BCCOO_DEVICE_BUNCH,
       BCCOO_DEVICE_TRANSPOSE,
       BCCOO_DEVICE_CARRY,
       BCCOO_DEVICE_CONVERT,
       BCCOO_DEVICE_FLAG_BITS,
       BCCOO_DEVICE_NPARAMS
};

/* Values of BCCOO_DEVICE_CARRY, as in bccoo_decode.cl */
enum { BCCOO_CARRY_KERNEL, BCCOO_CARRY_ADJACENT };
enum { BCCOO_TRANSPOSE_AUTO, BCCOO_TRANSPOSE_OFFLINE, BCCOO_TRANSPOSE_ONLINE };

#define BCCOO_FLAT_GROUP 128 /* work items of a group where they have nothing to do with each other */

/*
  The bunch is a work group, so that block k of all work items lies side by side ("offline transpose", 3.2.2), or a work item's
  (strategy 3). Or blocks lie in row order and are transposed while a product reads them ("online"); the bunch is a work group
  then, too, and orders the values of blocks with several. The storage ends with a whole work group: `whole` is the tiles of one.
  Flags lie in row order, so that a work item finds those of its tile in a word or a few.
*/
typedef struct {
  BccooBlocks b;
  PetscBool   converted; /* the device makes column, flags, value and position from `end` and the matrix */
  SpmvCSR     csr;       /* the matrix; its arrays are there only until they are sent, after a build and after new values */
} BccooDeviceStorage;

/* Tiles that a work item works on */
static inline PetscInt BccooDeviceItem(const PetscInt p[])
{
  return p[BCCOO_DEVICE_STRATEGY] == 3 ? p[BCCOO_DEVICE_BUNCH] : 1;
}

/* bccoo_device.c */
extern void BccooDeviceLayout(const PetscInt p[], BccooBlocks *b);

/* bccoo_load.c */
extern PetscErrorCode BccooDevicePropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n,
                                         SpmvPlan plans[]);
extern PetscErrorCode BccooDeviceLoad(const SpmvCSR *csr, const SpmvPlan *plan, SpmvDeviceLoad *load);

/* bccoo_resolve.c */
extern size_t         BccooDeviceMemory(const PetscInt p[]);
extern PetscErrorCode BccooDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan);
extern PetscErrorCode BccooDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                        size_t size);

/* bccoo_product.c */
extern const char     BccooSource[];
extern PetscErrorCode BccooDefine(const BccooBlocks *b, SpmvDeviceProduct *product);
extern PetscErrorCode BccooDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                         SpmvDeviceProduct *product);

/* bccoo_convert.c */
extern const char     BccooConvertSource[];
extern PetscErrorCode BccooConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product);
extern PetscErrorCode BccooConvertSources(const void *storage, PetscInt *n, SpmvArray sources[]);
