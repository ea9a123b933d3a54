/*
  bccoo_product.c - the kernels of a product on a device; they are in bccoo.cl
*/
#include "bccoo_device.h"

/* What all kernels need to know of the blocks */
PetscErrorCode BccooDefine(const BccooBlocks *b, SpmvDeviceProduct *product)
{
  PetscFunctionBegin;
  PetscCall(SpmvAppend(product->options, sizeof(product->options),
                       "-DHEIGHT=%d -DWIDTH=%d -DTILE=%d -DSLICES=%d -DCOLUMNS=%d -DREACH=%d -DLISTED=%d -DESCAPES=%d -DROWS=%d "
                       "-DFLAT_GROUP=%d",
                       (int)b->h, (int)b->w, (int)b->tile, (int)b->slices, (int)b->columns, (int)b->reach, (int)b->listed,
                       !!b->escape, !!b->row, BCCOO_FLAT_GROUP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                  SpmvDeviceProduct *product)
{
  const BccooBlocks  *b = &((const BccooDeviceStorage *)storage)->b;
  const PetscInt     *p = plan->value, m = b->m, carry = p[BCCOO_DEVICE_CARRY];
  const size_t        ngroups = b->ntiles / (size_t)b->whole, sums = ngroups * (size_t)b->h * sizeof(PetscScalar);
  const size_t        flat = SpmvGroups((size_t)m, BCCOO_FLAT_GROUP), carries = SpmvGroups(ngroups, BCCOO_FLAT_GROUP);
  const size_t        height = (size_t)b->h * sizeof(PetscScalar);
  const int           chunk  = height <= 16 ? 8 : height <= 32 ? 4 : 1; /* blocks that registers hold on sm_80 and sm_90 */
  const SpmvDeviceArg number = SPMV_GIVE_INT((PetscInt)ngroups);
  const SpmvDeviceArg result = b->slices > 1 ? SPMV_GIVE_ARRAY("partial") : SPMV_GIVE_Y;
  const SpmvDeviceArg epoch  = carry == BCCOO_CARRY_ADJACENT ? SPMV_GIVE_EPOCH : SPMV_GIVE_INT(0); /* who waits reads it */

  PetscFunctionBegin;
  PetscCall(BccooDefine(b, product));
  PetscCall(SpmvAppend(product->options, sizeof(product->options),
                       " -DGROUP=%d -DBUNCH=%d -DFLAG_BITS=%d -DSTRATEGY=%d -DREGISTERS=%d -DCACHE=%d -DCHUNK=%d -DONLINE=%d "
                       "-DCARRY=%d -DRAGGED=%d",
                       (int)p[BCCOO_DEVICE_WORKGROUP], (int)BccooDeviceItem(p), (int)p[BCCOO_DEVICE_FLAG_BITS],
                       (int)p[BCCOO_DEVICE_STRATEGY], (int)PetscMax(0, p[BCCOO_DEVICE_REGISTERS]), (int)p[BCCOO_DEVICE_CACHE],
                       chunk, p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE, (int)carry, b->n % b->w != 0));
  SpmvDeviceWork(product, "heads", sums);
  SpmvDeviceWork(product, "tails", sums);
  if (carry != BCCOO_CARRY_KERNEL) SpmvDeviceWork(product, "sync", (1 + ngroups) * sizeof(uint32_t));
  if (b->slices > 1) SpmvDeviceWork(product, "partial", BccooStackRows(b) * sizeof(PetscScalar));
  else if (b->row) PetscCall(SpmvDeviceClear(product, SPMV_GIVE_Y, (size_t)m, 1, BCCOO_FLAT_GROUP, PETSC_TRUE));
  SPMV_LAUNCH(product, "bccoo_product", ngroups, (size_t)p[BCCOO_DEVICE_WORKGROUP], PETSC_FALSE, SPMV_GIVE_ARRAY("values"),
              SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("flags"), SPMV_GIVE_ARRAY("entries"), SPMV_GIVE_ARRAY("firsts"),
              SPMV_GIVE_ARRAY("bases"), SPMV_GIVE_ARRAY("escaped"), SPMV_GIVE_ARRAY("escapes"), SPMV_GIVE_ARRAY("rows"),
              SPMV_GIVE_ARRAY("scans"), SPMV_GIVE_X, result, SPMV_GIVE_ARRAY("heads"), SPMV_GIVE_ARRAY("tails"),
              SPMV_GIVE_ARRAY("sync"), SPMV_GIVE_INT(m), SPMV_GIVE_INT(b->n), number, SPMV_GIVE_BETA, epoch);
  SpmvDeviceLocal(product, BccooDeviceMemory(p));
  if (carry == BCCOO_CARRY_KERNEL) {
    SPMV_LAUNCH(product, "bccoo_carry", carries, BCCOO_FLAT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("firsts"),
                SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("heads"), SPMV_GIVE_ARRAY("tails"), result, number, SPMV_GIVE_INT(m),
                SPMV_GIVE_BETA);
  }
  if (b->slices > 1) {
    SPMV_LAUNCH(product, "bccoo_combine", flat, BCCOO_FLAT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_Y,
                SPMV_GIVE_INT(b->mb * b->h), SPMV_GIVE_INT(m), SPMV_GIVE_BETA);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char BccooSource[] =
#include "bccoo_block.cl.h"
#include "bccoo_decode.cl.h"
#include "bccoo_carry.cl.h"
#include "bccoo_cache.cl.h"
  "#if STRATEGY == 1\n"
#include "bccoo_strategy1.cl.h"
  "#elif STRATEGY == 2\n"
#include "bccoo_strategy2.cl.h"
  "#else\n"
#include "bccoo_strategy3.cl.h"
  "#endif\n"
#include "bccoo.cl.h"
  ;
