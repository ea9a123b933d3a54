/*
  bccoo_resolve.c - block sizes worth an estimate, what a plan for a device leaves open, what a device allows
*/
#include "bccoo_device.h"
#include "../bccoo_shapes.h"

#define BCCOO_REGISTERS       32 /* scalars that a work item keeps in registers */
#define BCCOO_KEPT_TILE       64 /* strategy 1: blocks of a tile, at most: Table I has no longer ones, and compilers unroll it */
#define BCCOO_BUNCH_TILE      32 /* strategy 3: blocks of a tile, where nothing is asked for: the least of Table II */
#define BCCOO_CONVERT_ENTRIES 4000000 /* a GPU converts a matrix of so many, or more. A guess: no GPU has been asked */

/*
  Replaces what a plan leaves open, but for the kind of columns, which the build finds. Tiles of 16 blocks, and of 8 where there
  would be few work groups, are a guess: no GPU has seen them
*/
PetscErrorCode BccooDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt      *p = plan->value, *strategy = &p[BCCOO_DEVICE_STRATEGY], *bunch = &p[BCCOO_DEVICE_BUNCH], *tile = &p[BCCOO_TILE];
  PetscInt      *convert = &p[BCCOO_DEVICE_CONVERT];
  const PetscInt entries = csr->i[csr->m], online = p[BCCOO_DEVICE_TRANSPOSE];
  const PetscInt gpu = info->gpu && entries >= BCCOO_CONVERT_ENTRIES && entries <= INT32_MAX / 2; /* and padding */
  PetscInt       h, w;

  PetscFunctionBegin;
  h = p[BCCOO_BLOCK_HEIGHT] = PetscMax(1, p[BCCOO_BLOCK_HEIGHT]);
  w = p[BCCOO_BLOCK_WIDTH] = PetscMax(1, p[BCCOO_BLOCK_WIDTH]);
  if (!*strategy && *bunch) *strategy = 3;
  if (!*tile) *tile = *strategy == 3 ? BCCOO_BUNCH_TILE : entries / (h * w) >= 1 << 20 ? 16 : 8;
  if (!*strategy) *strategy = online || *tile * h <= BCCOO_REGISTERS ? 1 : 2;
  if (!*bunch && *strategy == 3) *bunch = h <= 2 ? 4 : h <= 4 ? 2 : 1;
  if (!p[BCCOO_DEVICE_REGISTERS]) p[BCCOO_DEVICE_REGISTERS] = BCCOO_REGISTERS / h;
  p[BCCOO_DEVICE_REGISTERS] = *strategy == 1 ? PetscMin(p[BCCOO_DEVICE_REGISTERS], *tile) : 0;
  if (online && p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO) {
    p[BCCOO_COLUMNS] =
      BccooCeil(csr->n, w) <= UINT16_MAX + 1 ? BCCOO_COLUMNS_UINT16 : BCCOO_COLUMNS_INT32; /* differences are offline only */
  }
  if (*convert == BCCOO_CONVERT_AUTO) *convert = gpu ? BCCOO_CONVERT_DEVICE : BCCOO_CONVERT_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of local memory that bccoo_product takes */
static size_t BccooDeviceLocal(const PetscInt p[])
{
  const size_t group = (size_t)p[BCCOO_DEVICE_WORKGROUP], h = (size_t)p[BCCOO_BLOCK_HEIGHT], tile = (size_t)p[BCCOO_TILE];
  size_t       scalars = 2 * h * group + h + 1; /* last partial sums, what comes before, 1 for a strategy that needs none */

  if (p[BCCOO_DEVICE_STRATEGY] == 2) scalars += (size_t)p[BCCOO_DEVICE_CACHE] * group * h;
  else if (p[BCCOO_DEVICE_TRANSPOSE]) scalars += h * (group * tile + group * tile / 32 + 1);
  else if (p[BCCOO_DEVICE_STRATEGY] == 1) scalars += (tile - (size_t)PetscMax(0, p[BCCOO_DEVICE_REGISTERS])) * h * group;
  return scalars * sizeof(PetscScalar) + (2 * group + 1) * sizeof(int32_t);
}

/* What a device must have for a carry that is not a kernel's */
static PetscErrorCode BccooCarryAllows(const SpmvDeviceInfo *info, PetscInt carry, char why[], size_t size)
{
  const char *name = info->name;

  PetscFunctionBegin;
  if (carry == BCCOO_CARRY_KERNEL) PetscFunctionReturn(PETSC_SUCCESS);
  if (!info->forward && info->gpu) {
    PetscCall(SpmvAppend(why, size, "%s has no fences of device scope, which OpenCL has from 2.0 on", name));
  } else if (!info->forward) {
    PetscCall(SpmvAppend(why, size, "%s is no GPU: it is not known that its work groups go on while others wait for them", name));
  } else if (PetscDefined(USE_COMPLEX)) {
    PetscCall(SpmvAppend(why, size, "Complex numbers are not exchanged in one piece"));
  } else if (sizeof(PetscReal) > 4 && !info->atomic64) {
    PetscCall(SpmvAppend(why, size, "%s does not exchange 64 bits in one piece", name));
  }
  if (why[0]) PetscCall(SpmvAppend(why, size, "; set -mat_bccoo_device_carry kernel"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The strategy, and what goes with it */
static PetscErrorCode BccooStrategyAllows(const PetscInt p[], char why[], size_t size)
{
  const PetscInt strategy = p[BCCOO_DEVICE_STRATEGY], online = p[BCCOO_DEVICE_TRANSPOSE];

  PetscFunctionBegin;
  if (strategy == 1 && p[BCCOO_TILE] > BCCOO_KEPT_TILE) {
    PetscCall(SpmvAppend(why, size, "Strategy 1 keeps the sums of a tile of at most %d blocks, not %" PetscInt_FMT "; ",
                         BCCOO_KEPT_TILE, p[BCCOO_TILE]));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_tile to less, or -mat_bccoo_device_strategy 2"));
  } else if (strategy != 3 && p[BCCOO_DEVICE_BUNCH]) {
    PetscCall(SpmvAppend(why, size, "Strategy %" PetscInt_FMT " has no bunch; ", strategy));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_bunch to 0 or -mat_bccoo_device_strategy to 3"));
  } else if (strategy != 1 && online) {
    PetscCall(SpmvAppend(why, size, "Strategy %" PetscInt_FMT " has no online transpose; ", strategy));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_strategy 1 or -mat_bccoo_device_transpose offline"));
  } else if (online && p[BCCOO_COLUMNS] == BCCOO_COLUMNS_DIFFERENCE) {
    PetscCall(SpmvAppend(why, size, "Columns as differences have no online transpose: each tile is one work item's; "));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_columns to int32 or uint16, or -mat_bccoo_device_transpose offline"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt *p = plan->value, group = p[BCCOO_DEVICE_WORKGROUP], entries = csr->i[csr->m];
  const PetscInt  padding = group * BccooDeviceItem(p) * p[BCCOO_TILE];

  PetscFunctionBegin;
  PetscCall(BccooStrategyAllows(p, why, size));
  if (!why[0]) PetscCall(BccooCarryAllows(info, p[BCCOO_DEVICE_CARRY], why, size));
  if (!why[0]) PetscCall(BccooBlocksAllow(csr, p, why, size));
  PetscCall(SpmvDeviceFits(info, (size_t)group, BccooDeviceLocal(p), "bccoo",
                           "-mat_bccoo_device_workgroup, -mat_bccoo_tile or -mat_bccoo_device_cache", why, size));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (p[BCCOO_DEVICE_CONVERT] == BCCOO_CONVERT_DEVICE && entries > INT32_MAX - padding) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " entries are more than a device converts, which counts them with 32 bits; ",
                         entries));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_convert host"));
  } else if (csr->m > INT32_MAX - BCCOO_BLOCK_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " rows are more than 32-bit integers count; ", csr->m));
    PetscCall(SpmvAppend(why, size, "use more processes or -mat_spmv_backend host"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
