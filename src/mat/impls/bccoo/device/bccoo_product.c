/*
  bccoo_product.c - the kernels of a product on a device; they are in bccoo.cl
*/
#include "bccoo_device.h"

/* What all kernels need to know of the blocks, and more */
PetscErrorCode BccooDefine(const BccooBlocks *b, size_t n, const BccooMacro macros[], SpmvDeviceProduct *product)
{
  const BccooMacro blocks[] = {
    {"HEIGHT", b->h},        {"WIDTH", b->w},          {"TILE", b->tile},  {"SLICES", b->slices},
    {"COLUMNS", b->columns}, {"ESCAPES", !!b->escape}, {"ROWS", !!b->row}, {"FLAT_GROUP", BCCOO_FLAT_GROUP}};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(blocks) + n; k++) {
    const BccooMacro *macro = k < n ? &macros[k] : &blocks[k - n];

    PetscCall(
      SpmvAppend(product->options, sizeof(product->options), "%s-D%s=%" PetscInt_FMT, k ? " " : "", macro->name, macro->value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks that a work item has in flight: as many as registers hold without spills on sm_80 and sm_90 */
static PetscInt BccooDeviceChunk(PetscInt h)
{
  const size_t bytes = (size_t)h * sizeof(PetscScalar);

  return bytes <= 16 ? 8 : bytes <= 32 ? 4 : 1;
}

PetscErrorCode BccooDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                  SpmvDeviceProduct *product)
{
  const BccooDeviceStorage *s = (const BccooDeviceStorage *)storage;
  const BccooBlocks        *b = &s->b;
  const PetscInt *p = plan->value, m = b->m, ntiles = (PetscInt)b->ntiles, height = b->mb * b->h, carry = p[BCCOO_DEVICE_CARRY];
  const size_t    workgroup = (size_t)p[BCCOO_DEVICE_WORKGROUP], h = (size_t)b->h, flat = SpmvGroups((size_t)m, BCCOO_FLAT_GROUP);
  const size_t    tiles     = b->ntiles / (size_t)s->workgroup,
               grid         = (size_t)p[BCCOO_DEVICE_GRID] * PetscMax(1, info->units); /* of work groups */
  const size_t        steps = grid && tiles ? SpmvGroups(tiles, PetscMin(tiles, grid)) : 1, ngroups = SpmvGroups(tiles, steps);
  const BccooMacro    macros[] = {{"GROUP", p[BCCOO_DEVICE_WORKGROUP]},
                                  {"BUNCH", s->item},
                                  {"FLAG_BITS", p[BCCOO_DEVICE_FLAG_BITS]},
                                  {"STRATEGY", p[BCCOO_DEVICE_STRATEGY]},
                                  {"REGISTERS", PetscMax(0, p[BCCOO_DEVICE_REGISTERS])},
                                  {"CACHE", p[BCCOO_DEVICE_CACHE]},
                                  {"CHUNK", BccooDeviceChunk(b->h)},
                                  {"ONLINE", p[BCCOO_DEVICE_TRANSPOSE]},
                                  {"SUBGROUPS", p[BCCOO_DEVICE_SCAN]},
                                  {"CARRY", carry},
                                  {"PERSISTENT", steps > 1},
                                  {"RAGGED", b->n % b->w != 0},
                                  {"CLEAR", BCCOO_FLAT_GROUP}};
  const SpmvDeviceArg result   = b->slices > 1 ? SPMV_GIVE_ARRAY("partial") : SPMV_GIVE_Y;
  const SpmvDeviceArg epoch =
    carry == BCCOO_CARRY_ADJACENT ? SPMV_GIVE_EPOCH : SPMV_GIVE_INT(0); /* who waits for others reads it */

  PetscFunctionBegin;
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(BccooDefine(b, PETSC_STATIC_ARRAY_LENGTH(macros), macros, product));
  SpmvDeviceWork(product, "heads", ngroups * h * sizeof(PetscScalar));
  SpmvDeviceWork(product, "tails", ngroups * h * sizeof(PetscScalar));
  if (carry != BCCOO_CARRY_KERNEL) SpmvDeviceWork(product, "sync", (1 + ngroups) * sizeof(uint32_t));
  if (b->slices > 1) SpmvDeviceWork(product, "partial", (size_t)b->slices * (size_t)height * sizeof(PetscScalar));
  else if (b->row) SPMV_LAUNCH(product, "spmv_clear", flat, BCCOO_FLAT_GROUP, PETSC_TRUE, SPMV_GIVE_Y, SPMV_GIVE_INT(m));
  SPMV_LAUNCH(product, "bccoo_product", ngroups, workgroup, PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"),
              SPMV_GIVE_ARRAY("flags"), SPMV_GIVE_ARRAY("entries"), SPMV_GIVE_ARRAY("bases"), SPMV_GIVE_ARRAY("escaped"),
              SPMV_GIVE_ARRAY("escapes"), SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("scans"), SPMV_GIVE_X, result,
              SPMV_GIVE_ARRAY("heads"), SPMV_GIVE_ARRAY("tails"), SPMV_GIVE_ARRAY("sync"), SPMV_GIVE_INT(m), SPMV_GIVE_INT(b->n),
              SPMV_GIVE_INT((PetscInt)ngroups), SPMV_GIVE_INT((PetscInt)steps), SPMV_GIVE_INT(ntiles), SPMV_GIVE_BETA, epoch);
  if (carry == BCCOO_CARRY_KERNEL) {
    SPMV_LAUNCH(product, "bccoo_carry", SpmvGroups(ngroups, BCCOO_FLAT_GROUP), BCCOO_FLAT_GROUP, PETSC_FALSE,
                SPMV_GIVE_ARRAY("entries"), SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("heads"), SPMV_GIVE_ARRAY("tails"), result,
                SPMV_GIVE_INT((PetscInt)ngroups), SPMV_GIVE_INT((PetscInt)steps), SPMV_GIVE_INT(ntiles), SPMV_GIVE_INT(m),
                SPMV_GIVE_BETA);
  }
  if (b->slices > 1) {
    SPMV_LAUNCH(product, "bccoo_combine", flat, BCCOO_FLAT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_Y,
                SPMV_GIVE_INT(height), SPMV_GIVE_INT(m), SPMV_GIVE_BETA);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char BccooSource[] =
#include "bccoo_block.cl.h"
#include "bccoo_words.cl.h"
#include "bccoo.cl.h"
  ;
