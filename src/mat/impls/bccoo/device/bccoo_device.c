/*
  bccoo_device.c - the device side of bccoo: knobs and storage
*/
#include "bccoo_device.h"
#include "../bccoo_shapes.h"

/* Tables I and II. Registers: -1 is Reg_size 0, and ShM_size is the tile less the registers */
static const PetscInt    BccooWorkgroups[]     = {128, 64, 256, 512, 1, 2, 4, 8, 16, 32};
static const PetscInt    BccooStrategies[]     = {0, 1, 2, 3};
static const PetscInt    BccooRegisters[]      = {0, -1, 8, 16, 32};
static const PetscInt    BccooCaches[]         = {1, 2, 3, 4};
static const PetscInt    BccooBunches[]        = {0, 1, 2, 4};
static const PetscInt    BccooTransposes[]     = {BCCOO_TRANSPOSE_AUTO, BCCOO_TRANSPOSE_OFFLINE, BCCOO_TRANSPOSE_ONLINE};
static const char *const BccooTransposeNames[] = {"auto", "offline", "online"};
static const PetscInt    BccooCarries[]        = {BCCOO_CARRY_KERNEL, BCCOO_CARRY_ADJACENT};
static const char *const BccooCarryNames[]     = {"kernel", "adjacent"};
static const PetscInt    BccooFlagBits[]       = {32, 8, 16};

static const SpmvParam BccooDeviceParams[] = {
  BCCOO_KNOBS,
  [BCCOO_DEVICE_WORKGROUP] =
    SPMV_CHOICES("device_workgroup", "work items of a work group", BccooWorkgroups, NULL, SPMV_KNOB_TILE),
  [BCCOO_DEVICE_STRATEGY] = SPMV_CHOICES(
    "device_strategy", "1: a tile's sums are kept, 2: they go to a result cache, 3: tiles side by side, 0: by tile and bunch",
    BccooStrategies, NULL, SPMV_KNOB_TILE),
  [BCCOO_DEVICE_REGISTERS] = SPMV_CHOICES(
    "device_registers", "strategy 1: a tile's sums in registers, the others in local memory, 0: as many as fit, -1: none",
    BccooRegisters, NULL, SPMV_KNOB_LOCAL),
  [BCCOO_DEVICE_CACHE] = SPMV_CHOICES("device_cache", "strategy 2: block rows of the result cache, times the work group",
                                      BccooCaches, NULL, SPMV_KNOB_CACHE),
  [BCCOO_DEVICE_BUNCH] = SPMV_CHOICES(
    "device_bunch", "strategy 3: tiles that a work item has side by side, 0: as many as fill a vector of 8 sums, at most 4",
    BccooBunches, NULL, SPMV_KNOB_TILE),
  [BCCOO_DEVICE_TRANSPOSE] =
    SPMV_CHOICES("device_transpose",
                 "blocks are transposed offline, by the build, or by each product; auto: by each on a GPU, if of 1 or 2 rows",
                 BccooTransposes, BccooTransposeNames, SPMV_KNOB_LAYOUT),
  [BCCOO_DEVICE_CARRY] =
    SPMV_CHOICES("device_carry", "sums across work groups: by a second kernel, or each waits for the one before (GPUs only)",
                 BccooCarries, BccooCarryNames),
  [BCCOO_DEVICE_CONVERT]   = SPMV_CONVERT_PARAM,
  [BCCOO_DEVICE_FLAG_BITS] = SPMV_CHOICES("device_flag_bits", "bits of a word of flags", BccooFlagBits, NULL, SPMV_KNOB_LOCAL),
};

static PetscErrorCode BccooDeviceSetValues(const SpmvCSR *csr, void *storage)
{
  BccooDeviceStorage *s = (BccooDeviceStorage *)storage;

  PetscFunctionBegin;
  if (s->converted) s->csr = *csr; /* to be sent */
  else PetscCall(BccooBlocksSetValues(csr, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How blocks are stored under a plan */
void BccooDeviceLayout(const PetscInt p[], BccooBlocks *b)
{
  const PetscInt item = BccooDeviceItem(p), tile = p[BCCOO_TILE];

  b->whole   = p[BCCOO_DEVICE_WORKGROUP] * item;
  b->bunch   = p[BCCOO_DEVICE_STRATEGY] == 3 ? item : b->whole;
  b->depth   = p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE ? 1 : tile;
  b->reach   = tile <= 32 ? tile : tile % 32 == 0 ? 32 : tile % 16 == 0 ? 16 : 8;
  b->inorder = PETSC_TRUE;
  for (b->listed = 1; 2 * b->listed <= b->whole && 2 * b->listed * tile <= INT16_MAX + 1;) b->listed *= 2;
}

/* What work groups begin with, and whether one of its work items, which has so many tiles, has no row stop */
static PetscErrorCode BccooDeviceGroups(BccooBlocks *b, PetscInt item)
{
  const size_t whole = (size_t)b->whole, ngroups = b->ntiles / whole;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((ngroups + 1) * sizeof(int32_t), &b->firsts));
  for (size_t g = 0; g <= ngroups; g++) b->firsts[g] = b->entry[g * whole];
  PetscCall(SpmvAlloc(ngroups, &b->scans));
  memset(b->scans, 0, ngroups);
  for (size_t t = 0; t < b->ntiles; t += (size_t)item) b->scans[t / whole] |= b->entry[t] == b->entry[t + (size_t)item];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooDeviceBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  const PetscInt     *p = plan->value, item = BccooDeviceItem(p);
  BccooDeviceStorage *s;
  BccooBlocks        *b;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage     = s;
  s->converted = (PetscBool)(p[BCCOO_DEVICE_CONVERT] == SPMV_CONVERT_DEVICE);
  b            = &s->b;
  BccooDeviceLayout(p, b);
  PetscCall(BccooBlocksBuild(csr, plan->value, 1, s->converted, b));
  PetscCall(BccooDeviceGroups(b, item));
  PetscCall(BccooDeviceSetValues(csr, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern const SpmvDeviceSide BccooDevice;
const SpmvDeviceSide        BccooDevice = {
         .side           = {.nparams   = BCCOO_DEVICE_NPARAMS,
                            .params    = BccooDeviceParams,
                            .propose   = BccooDevicePropose,
                            .resolve   = BccooDeviceResolve,
                            .allows    = BccooDeviceAllows,
                            .build     = BccooDeviceBuild,
                            .setvalues = BccooDeviceSetValues,
                            .arrays    = BccooBlocksArrays,
                            .destroy   = BccooBlocksDestroy},
         .source         = BccooSource,
         .load           = BccooDeviceLoad,
         .product        = BccooDeviceProduct,
         .convert_source = BccooConvertSource,
         .convert        = BccooConvert,
         .sources        = BccooConvertSources,
};
