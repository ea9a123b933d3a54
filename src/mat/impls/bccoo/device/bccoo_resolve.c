/*
  bccoo_resolve.c - block sizes worth an estimate, what a plan for a device leaves open, what a device allows
*/
#include "bccoo_device.h"
#include "../bccoo_shapes.h"

#define BCCOO_REGISTERS       32 /* scalars that a work item keeps in registers */
#define BCCOO_KEPT_TILE       64 /* strategy 1: blocks of a tile, at most: Table I has no longer ones, and compilers unroll it */
#define BCCOO_BUNCH_TILE      32 /* strategy 3: blocks of a tile, where nothing is asked for: the least of Table II */
#define BCCOO_CONVERT_ENTRIES 4000000 /* a GPU converts a matrix of so many, or more. A guess: no GPU has been asked */

/* Devices are compared by footprint, as in section 4 */
PetscErrorCode BccooDeviceWorks(const SpmvCSR *csr, PetscInt n, const SpmvPlan plans[], SpmvWork works[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt  *p = plans[k].value;
    const BccooTally t = BccooTallyOf(csr, p);

    BccooTallyAdd(csr, &t, p, p[BCCOO_TILE] ? p[BCCOO_TILE] : 16, &works[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

#define REFUSE(refused, ...) \
  do { \
    if (!(refused)) break; \
    PetscCall(PetscSNPrintf(why, size, __VA_ARGS__)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } while (0)

/* What a device must have for a carry that is not a kernel's */
static PetscErrorCode BccooCarryAllows(const SpmvDeviceInfo *info, PetscInt carry, char why[], size_t size)
{
  PetscFunctionBegin;
  if (carry == BCCOO_CARRY_KERNEL) PetscFunctionReturn(PETSC_SUCCESS);
  REFUSE(carry == BCCOO_CARRY_ADJACENT && !info->forward,
         "%s is no GPU: it is not known that its work groups go on while others wait for them; set -mat_bccoo_device_carry "
         "kernel or last",
         info->name);
  REFUSE(PetscDefined(USE_COMPLEX), "Complex numbers are not exchanged in one piece; set -mat_bccoo_device_carry kernel");
  REFUSE(sizeof(PetscReal) > 4 && !info->atomic64,
         "%s does not exchange 64 bits in one piece; set -mat_bccoo_device_carry kernel", info->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The strategy, and what goes with it */
static PetscErrorCode BccooStrategyAllows(const PetscInt p[], char why[], size_t size)
{
  const PetscInt strategy = p[BCCOO_DEVICE_STRATEGY], online = p[BCCOO_DEVICE_TRANSPOSE];

  PetscFunctionBegin;
  REFUSE(strategy == 1 && p[BCCOO_TILE] > BCCOO_KEPT_TILE,
         "Strategy 1 keeps the sums of a tile of at most %d blocks, not %" PetscInt_FMT "; set -mat_bccoo_tile to less, "
         "or -mat_bccoo_device_strategy 2",
         BCCOO_KEPT_TILE, p[BCCOO_TILE]);
  REFUSE(strategy != 3 && p[BCCOO_DEVICE_BUNCH],
         "Strategy %" PetscInt_FMT " has no bunch; set -mat_bccoo_device_bunch to 0 or -mat_bccoo_device_strategy to 3",
         strategy);
  REFUSE(strategy != 1 && online,
         "Strategy %" PetscInt_FMT
         " has no online transpose; set -mat_bccoo_device_strategy 1 or -mat_bccoo_device_transpose offline",
         strategy);
  REFUSE(
    online && p[BCCOO_COLUMNS] == BCCOO_COLUMNS_DIFFERENCE,
    "Columns as differences have no online transpose: each tile is one work item's; set -mat_bccoo_columns to int32 or uint16, "
    "or -mat_bccoo_device_transpose offline");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt *p = plan->value, group = p[BCCOO_DEVICE_WORKGROUP], entries = csr->i[csr->m];
  const PetscInt  padding = group * BccooDeviceItem(p) * p[BCCOO_TILE];
  const size_t    local   = BccooDeviceLocal(p);

  PetscFunctionBegin;
  PetscCall(BccooStrategyAllows(p, why, size));
  if (!why[0]) PetscCall(BccooCarryAllows(info, p[BCCOO_DEVICE_CARRY], why, size));
  if (!why[0]) PetscCall(BccooBlocksAllow(csr, p, why, size));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  REFUSE(p[BCCOO_DEVICE_CONVERT] == BCCOO_CONVERT_DEVICE && entries > INT32_MAX - padding,
         "%" PetscInt_FMT
         " entries are more than a device converts, which counts them with 32 bits; set -mat_bccoo_device_convert host",
         entries);
  REFUSE((size_t)group > info->group,
         "%" PetscInt_FMT " work items a work group are more than the %zu of %s; set -mat_bccoo_device_workgroup to fewer", group,
         info->group, info->name);
  REFUSE(local > info->local,
         "%zu bytes of local memory are more than the %zu of %s; "
         "set -mat_bccoo_device_workgroup, -mat_bccoo_tile or -mat_bccoo_device_cache to less",
         local, info->local, info->name);
  REFUSE(csr->m > INT32_MAX - BCCOO_BLOCK_MAX,
         "%" PetscInt_FMT " rows are more than 32-bit integers count; "
         "use more processes or -mat_spmv_backend host",
         csr->m);
  PetscFunctionReturn(PETSC_SUCCESS);
}
