/*
  bccoo_convert.c - a BCCOO storage that a device makes from CSR's arrays: when, and by which kernels

  The host counts blocks (bccoo_scan.h), of 1x1 blocks row pointers alone, and builds what has an element a tile or a block row;
  columns, flags and values, which are nearly all bytes of a storage, it neither makes nor sends. New values are sent as they are, for the
  kernel that puts each in its place: for that the device keeps, of blocks, 4 bytes an entry that no product reads.

  Source: Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 4: the first optimisation of tuning.
*/
#include "bccoo.h"

#define BCCOO_CONVERT_ENTRIES 4000000 /* auto: from so many on a GPU converts. A guess: no GPU has been asked */
#define BCCOO_CONVERT_GROUP   128     /* work items of a work group, which have nothing to do with each other */

/* Who converts, if nobody chose */
PetscErrorCode BccooConvertSettle(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscLogDouble room, SpmvPlan *plan)
{
  const PetscInt  entries = csr->i[csr->m];
  const PetscBool device  = (PetscBool)(info->gpu && entries >= BCCOO_CONVERT_ENTRIES && entries <= INT32_MAX / 2); /* and padding */

  PetscFunctionBegin;
  if (plan->device[BCCOO_DEVICE_CONVERT] != BCCOO_CONVERT_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  plan->device[BCCOO_DEVICE_CONVERT] = device ? BCCOO_CONVERT_DEVICE : BCCOO_CONVERT_HOST;
  PetscCall(PetscInfo(NULL, "The %s converts a matrix of %" PetscInt_FMT " entries for %s: a GPU does from %d on\n", device ? "device" : "host", entries, info->name, BCCOO_CONVERT_ENTRIES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product)
{
  const BccooStorage *b      = (const BccooStorage *)storage;
  const PetscBool     blocks = (PetscBool)(b->npositions > 0), listed = (PetscBool)(b->nrows < b->slices * b->mb);
  const PetscInt      nstored = (PetscInt)b->nstored, nblocks = (PetscInt)b->nblocks, group = BCCOO_CONVERT_GROUP;

#define BCCOO_LAUNCH(name, items, ...) SPMV_LAUNCH(product, name, SpmvGroups(items, BCCOO_CONVERT_GROUP), BCCOO_CONVERT_GROUP, PETSC_FALSE, __VA_ARGS__)
  PetscFunctionBegin;
  if (!b->converted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options), "-DHEIGHT=%" PetscInt_FMT " -DWIDTH=%" PetscInt_FMT " -DTILE=%" PetscInt_FMT " -DBUNCH=%" PetscInt_FMT " -DCOLUMNS=%d -DESCAPES=%d -DROWS=%d -DSLICES=%" PetscInt_FMT " -DFLAT_GROUP=%" PetscInt_FMT " -DINDEX_BITS=%d", b->h, b->w, b->tile, b->bunch, (int)b->columns, b->nescaped > 0, (int)listed, b->slices, group, (int)(8 * sizeof(PetscInt))));
  if (!values_only) {
    SpmvDeviceWork(product, "found", b->nblocks * sizeof(uint32_t));
    BCCOO_LAUNCH("bccoo_find", (size_t)b->nrows, SPMV_GIVE_ARRAY("csr rows"), SPMV_GIVE_ARRAY("csr columns"), SPMV_GIVE_ARRAY("block ends"), SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("found"), SPMV_GIVE_ARRAY("positions"), SPMV_GIVE_INT(b->nrows), SPMV_GIVE_INT(b->m), SPMV_GIVE_INT(b->mb), SPMV_GIVE_INT(b->slicewidth));
    BCCOO_LAUNCH("bccoo_columns", b->ntiles, SPMV_GIVE_ARRAY("found"), SPMV_GIVE_ARRAY("escapes"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("bases"), SPMV_GIVE_ARRAY("escaped"), SPMV_GIVE_INT((PetscInt)b->ntiles), SPMV_GIVE_INT(nblocks));
    BCCOO_LAUNCH("bccoo_flags", b->nflags, SPMV_GIVE_ARRAY("found"), SPMV_GIVE_ARRAY("flags"), SPMV_GIVE_INT((PetscInt)b->nflags), SPMV_GIVE_INT(nstored), SPMV_GIVE_INT(nblocks));
    if (blocks) BCCOO_LAUNCH("bccoo_fill", b->nstored * (size_t)(b->h * b->w), SPMV_GIVE_ARRAY("values"), SPMV_GIVE_INT(nstored));
  }
  if (blocks) BCCOO_LAUNCH("bccoo_values", b->nentries, SPMV_GIVE_ARRAY("csr values"), SPMV_GIVE_ARRAY("positions"), SPMV_GIVE_ARRAY("values"), SPMV_GIVE_INT((PetscInt)b->nentries));
  else BCCOO_LAUNCH("bccoo_entries", b->nstored, SPMV_GIVE_ARRAY("csr values"), SPMV_GIVE_ARRAY("values"), SPMV_GIVE_INT(nstored), SPMV_GIVE_INT(nblocks));
  PetscFunctionReturn(PETSC_SUCCESS);
#undef BCCOO_LAUNCH
}

const char BccooConvertSource[] =
#include "bccoo_block.cl.h"
#include "bccoo_convert.cl.h"
  ;
