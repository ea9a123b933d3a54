/*
  bccoo_resolve.c - block sizes worth an estimate, what a plan for a device leaves open, what a device allows
*/
#include "bccoo_device.h"
#include "../bccoo_shapes.h"

#define BCCOO_REGISTERS     32 /* scalars that a work item keeps in registers */
#define BCCOO_KEPT_TILE     64 /* strategy 1: blocks of a tile, at most: Table I has no longer ones, and compilers unroll it */
#define BCCOO_BUNCH_TILE    32 /* strategy 3: blocks of a tile, where nothing is asked for: the least of Table II */
#define BCCOO_ONLINE_HEIGHT 2  /* rows of a block, for which blocks are transposed online: see BccooTransposeResolve() */

/* Bytes of bccoo_product's `memory` */
size_t BccooDeviceMemory(const PetscInt p[])
{
  const size_t group = (size_t)p[BCCOO_DEVICE_WORKGROUP], h = (size_t)p[BCCOO_BLOCK_HEIGHT], tile = (size_t)p[BCCOO_TILE];
  const size_t registers = (size_t)PetscMax(0, p[BCCOO_DEVICE_REGISTERS]), banked = 128 / sizeof(PetscScalar);
  size_t       own = 1; /* of a strategy that needs none */

  if (p[BCCOO_DEVICE_STRATEGY] == 2) own = (size_t)p[BCCOO_DEVICE_CACHE] * group * h;
  else if (p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE) own = h * (group * tile + group * tile / banked + 1);
  else if (p[BCCOO_DEVICE_STRATEGY] == 1 && tile > registers) own = (tile - registers) * h * group;
  return (own + 2 * h * group) * sizeof(PetscScalar); /* and last partial sums, twice */
}

/* ... and of the arrays besides it: what comes before, and starts */
static size_t BccooDeviceLocal(const PetscInt p[])
{
  return (size_t)p[BCCOO_BLOCK_HEIGHT] * sizeof(PetscScalar) + (2 * (size_t)p[BCCOO_DEVICE_WORKGROUP] + 1) * sizeof(int32_t);
}

/*
  Online or offline, where that is open. Offline, neighbouring work items read x a tile apart in row order: 20 to 30 lines of 128
  bytes for a warp of 32, of which L1 serves one a cycle. Each entry of x meets the h values of a column of a block, 256 h bytes
  for the warp, which come from memory at some 14 bytes a cycle and processor (H100). So L1 holds up blocks of 1 row, and might
  those of 2. Online it is 5 to 12 lines. Higher blocks have no need, and would take much local memory
*/
static void BccooTransposeResolve(const SpmvDeviceInfo *info, PetscInt p[])
{
  PetscInt *transpose = &p[BCCOO_DEVICE_TRANSPOSE];

  if (*transpose != BCCOO_TRANSPOSE_AUTO) return;
  *transpose = BCCOO_TRANSPOSE_OFFLINE;
  if (!info->gpu || p[BCCOO_DEVICE_STRATEGY] != 1 || p[BCCOO_BLOCK_HEIGHT] > BCCOO_ONLINE_HEIGHT) return;
  *transpose = BCCOO_TRANSPOSE_ONLINE;
  if (p[BCCOO_TILE] > BCCOO_KEPT_TILE || BccooDeviceMemory(p) + BccooDeviceLocal(p) > info->local)
    *transpose = BCCOO_TRANSPOSE_OFFLINE;
}

/*
  Replaces what a plan leaves open, but for the kind of columns, which the build finds. Tiles of 16 blocks, and of 8 where there
  would be few work groups or much local memory, are a guess; an H200 is fastest with what is chosen
*/
PetscErrorCode BccooDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt      *p = plan->value, *strategy = &p[BCCOO_DEVICE_STRATEGY], *bunch = &p[BCCOO_DEVICE_BUNCH], *tile = &p[BCCOO_TILE];
  PetscInt      *registers = &p[BCCOO_DEVICE_REGISTERS];
  const PetscInt entries = csr->i[csr->m], online = p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE;
  PetscInt       h, w;

  PetscFunctionBegin;
  h = p[BCCOO_BLOCK_HEIGHT] = PetscMax(1, p[BCCOO_BLOCK_HEIGHT]);
  w = p[BCCOO_BLOCK_WIDTH] = PetscMax(1, p[BCCOO_BLOCK_WIDTH]);
  if (!*strategy) *strategy = *bunch ? 3 : p[BCCOO_DEVICE_CACHE] > 1 ? 2 : *registers > 0 ? 1 : 0;
  if (!*tile) {
    *tile = *strategy == 3 ? BCCOO_BUNCH_TILE : entries / (h * w) < 1 << 20 || (info->gpu && h == 2) ? 8 : 16;
    *tile = PetscMax(*tile, *registers);
  }
  if (!*strategy) *strategy = online || *tile * h <= BCCOO_REGISTERS ? 1 : 2;
  if (!*bunch && *strategy == 3) *bunch = h <= 2 ? 4 : h <= 4 ? 2 : 1;
  if (!*registers && *strategy == 1) *registers = PetscMin(BCCOO_REGISTERS / h, *tile);
  BccooTransposeResolve(info, p);
  p[BCCOO_DEVICE_CONVERT] = SpmvConvertResolve(csr, info, p[BCCOO_DEVICE_CONVERT]);
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const PetscInt strategy = p[BCCOO_DEVICE_STRATEGY], tile = p[BCCOO_TILE], registers = p[BCCOO_DEVICE_REGISTERS];

  PetscFunctionBegin;
  if (strategy == 1 && tile > BCCOO_KEPT_TILE) {
    PetscCall(SpmvAppend(why, size, "Strategy 1 keeps the sums of a tile of at most %d blocks, not %" PetscInt_FMT "; ",
                         BCCOO_KEPT_TILE, tile));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_tile to less, or -mat_bccoo_device_strategy 2"));
  } else if (strategy == 1 && registers > tile) {
    PetscCall(SpmvAppend(why, size, "A tile of %" PetscInt_FMT " blocks has no %" PetscInt_FMT " sums to keep in registers; ",
                         tile, registers));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_registers to 0 or -mat_bccoo_tile to more"));
  } else if (strategy != 1 && registers > 0) {
    PetscCall(SpmvAppend(why, size, "Strategy %" PetscInt_FMT " keeps no sums in registers; ", strategy));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_registers to 0 or -mat_bccoo_device_strategy to 1"));
  } else if (strategy != 2 && p[BCCOO_DEVICE_CACHE] > 1) {
    PetscCall(SpmvAppend(why, size, "Strategy %" PetscInt_FMT " has no result cache; ", strategy));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_cache to 1 or -mat_bccoo_device_strategy to 2"));
  } else if (strategy != 3 && p[BCCOO_DEVICE_BUNCH]) {
    PetscCall(SpmvAppend(why, size, "Strategy %" PetscInt_FMT " has no bunch; ", strategy));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_bunch to 0 or -mat_bccoo_device_strategy to 3"));
  } else if (strategy != 1 && p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE) {
    PetscCall(SpmvAppend(why, size, "Strategy %" PetscInt_FMT " has no online transpose; ", strategy));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_strategy 1 or -mat_bccoo_device_transpose offline"));
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
  PetscCall(SpmvDeviceFits(info, (size_t)group, BccooDeviceLocal(p), BccooDeviceMemory(p), "bccoo",
                           "-mat_bccoo_device_workgroup, -mat_bccoo_tile or -mat_bccoo_device_cache", why, size));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (p[BCCOO_DEVICE_CONVERT] == SPMV_CONVERT_DEVICE && entries > INT32_MAX - padding) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " entries are more than a device converts, which counts them with 32 bits; ",
                         entries));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_device_convert host"));
  } else if (csr->m > INT32_MAX - BCCOO_BLOCK_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " rows are more than 32-bit integers count; ", csr->m));
    PetscCall(SpmvAppend(why, size, "use more processes or -mat_spmv_backend host"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
