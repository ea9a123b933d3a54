/*
  bccoo_convert.c - a storage that a device makes from CSR's arrays; the kernels are in bccoo_convert.cl

  The host counts blocks (bccoo_scan.c), and builds lists and what has an element a tile or a block row; columns, flags and
  values, which are nearly all bytes of a storage, it neither makes nor sends. New values are sent as they are, for the kernel
  that puts each in its place: for that the device keeps, of blocks, 4 bytes an entry that no product reads.
*/
#include "bccoo_device.h"

#define BCCOO_LAUNCH(name, items, ...) \
  SPMV_LAUNCH(product, name, SpmvGroups(items, BCCOO_FLAT_GROUP), BCCOO_FLAT_GROUP, PETSC_FALSE, __VA_ARGS__)

/* The kernels that make the pattern */
static PetscErrorCode BccooConvertPattern(const BccooBlocks *b, SpmvDeviceProduct *product)
{
  const PetscInt nblocks = (PetscInt)b->nblocks;

  PetscFunctionBegin;
  SpmvDeviceWork(product, "found", b->nblocks * sizeof(uint32_t));
  BCCOO_LAUNCH("bccoo_find", BccooPieces(b->nblocks), SPMV_GIVE_ARRAY("csr rows"), SPMV_GIVE_ARRAY("csr columns"),
               SPMV_GIVE_ARRAY("block ends"), SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("block pieces"), SPMV_GIVE_ARRAY("found"),
               SPMV_GIVE_ARRAY("positions"), SPMV_GIVE_INT(nblocks), SPMV_GIVE_INT(b->m), SPMV_GIVE_INT(b->mb),
               SPMV_GIVE_INT(b->slicewidth));
  BCCOO_LAUNCH("bccoo_columns", b->ntiles, SPMV_GIVE_ARRAY("found"), SPMV_GIVE_ARRAY("bases"), SPMV_GIVE_ARRAY("escaped"),
               SPMV_GIVE_ARRAY("escapes"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_INT((PetscInt)b->ntiles),
               SPMV_GIVE_INT(nblocks));
  BCCOO_LAUNCH("bccoo_flags", b->nflags, SPMV_GIVE_ARRAY("found"), SPMV_GIVE_ARRAY("flags"), SPMV_GIVE_INT((PetscInt)b->nflags),
               SPMV_GIVE_INT(nblocks));
  PetscCall(SpmvDeviceClear(product, SPMV_GIVE_ARRAY("values"), b->nstored, b->h * b->w, BCCOO_FLAT_GROUP, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product)
{
  const BccooDeviceStorage *s       = (const BccooDeviceStorage *)storage;
  const BccooBlocks        *b       = &s->b;
  const PetscInt            entries = (PetscInt)(b->npositions ? b->npositions : b->nblocks);

  PetscFunctionBegin;
  if (!s->converted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BccooDefine(b, product));
  PetscCall(SpmvAppend(product->options, sizeof(product->options), " -DBUNCH=%d -DDEPTH=%d -DPIECE=%d", (int)b->bunch,
                       (int)b->depth, BCCOO_PIECE));
  if (!values_only) PetscCall(BccooConvertPattern(b, product));
  BCCOO_LAUNCH("bccoo_values", (size_t)entries, SPMV_GIVE_ARRAY("csr values"), SPMV_GIVE_ARRAY("positions"),
               SPMV_GIVE_ARRAY("values"), SPMV_GIVE_INT(entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix, and where its blocks are */
PetscErrorCode BccooConvertSources(const void *storage, PetscInt *n, SpmvArray sources[])
{
  const BccooDeviceStorage *s = (const BccooDeviceStorage *)storage;

  PetscFunctionBegin;
  *n              = 0;
  sources[(*n)++] = SPMV_ARRAY("csr rows", s->csr.i, (size_t)s->csr.m + 1, sizeof(PetscInt));
  sources[(*n)++] = SPMV_ARRAY("block ends", s->b.end, (size_t)s->b.nrows, sizeof(uint64_t));
  sources[(*n)++] = SPMV_ARRAY("block pieces", s->b.piece, BccooPieces(s->b.nblocks), sizeof(BccooPiece));
  SpmvConvertSources(&s->csr, n, sources);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char BccooConvertSource[] =
#include "bccoo_block.cl.h"
#include "bccoo_convert.cl.h"
  ;
