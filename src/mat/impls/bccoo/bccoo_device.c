/*
  bccoo_device.c - the device side of bccoo: its knobs, what a plan leaves open, which kernels make a product

  The kernels are in bccoo.cl. A storage for a device is one for the host whose bunch is a work group, so that block k of
  all work items lies side by side ("offline transpose", 3.2.2), or one without a bunch, whose blocks are transposed while
  a product reads them ("online"), or one whose bunch is a work item's (strategy 3). It ends with a whole work group. Escaped columns are counted by tile, since work items do
  not know of each other's.
*/
#include "bccoo.h"

enum { /* values of BCCOO_DEVICE_CARRY, as in bccoo.cl */
       BCCOO_CARRY_KERNEL,
       BCCOO_CARRY_LAST,
       BCCOO_CARRY_ADJACENT
};

#define BCCOO_FLAT_GROUP 128 /* work items of a group where they have nothing to do with each other */
#define BCCOO_REGISTERS  32  /* scalars that a work item keeps in registers */
#define BCCOO_KEPT_TILE  64  /* strategy 1: blocks of a tile, at most: Table I has no longer ones, and compilers unroll it */

#define BCCOO_BUNCH_TILE 32 /* strategy 3: blocks of a tile, where nothing is asked for: the least of Table II */

#define BCCOO_NO_REGISTERS (-1) /* Table I's Reg_size of 0: 0 leaves it open. Its ShM_size is the tile less the registers */

static const PetscInt    BccooWorkgroups[]     = {128, 64, 256, 512, 1, 2, 4, 8, 16, 32}; /* Tables I and II */
static const PetscInt    BccooStrategies[]     = {0, 1, 2, 3};
static const PetscInt    BccooRegisters[]      = {0, BCCOO_NO_REGISTERS, 8, 16, 32};
static const PetscInt    BccooCaches[]         = {1, 2, 3, 4};
static const PetscInt    BccooDeviceBunches[]  = {0, 1, 2, 4};
static const PetscInt    BccooTransposes[]     = {0, 1};
static const char *const BccooTransposeNames[] = {"offline", "online"};
static const PetscInt    BccooScans[]          = {0, 1};
static const char *const BccooScanNames[]      = {"local", "shuffle"};
static const PetscInt    BccooCarries[]        = {BCCOO_CARRY_KERNEL, BCCOO_CARRY_LAST, BCCOO_CARRY_ADJACENT};
static const char *const BccooCarryNames[]     = {"kernel", "last", "adjacent"};
static const PetscInt    BccooGrids[]          = {0, 1, 2, 4, 8, 16};
static const PetscInt    BccooConverts[]       = {BCCOO_CONVERT_AUTO, BCCOO_CONVERT_HOST, BCCOO_CONVERT_DEVICE};
static const char *const BccooConvertNames[]   = {"auto", "host", "device"};

static const SpmvParam BccooDeviceParams[] = {
  [BCCOO_DEVICE_WORKGROUP] = SPMV_CHOICES("workgroup", "work items of a work group", BccooWorkgroups, NULL),
  [BCCOO_DEVICE_STRATEGY]  = SPMV_CHOICES("strategy", "1: a tile's sums are kept, 2: in a result cache as they complete, 3: a work item has several tiles side by side, for devices with vectors, 0: 3 if there is a bunch, 1 if a tile's sums fit registers", BccooStrategies, NULL),
  [BCCOO_DEVICE_REGISTERS] = SPMV_CHOICES("registers", "strategy 1: a tile's sums in registers, the others in local memory, 0: as many as fit, -1: none", BccooRegisters, NULL),
  [BCCOO_DEVICE_CACHE]     = SPMV_CHOICES("cache", "strategy 2: block rows of the result cache, times the work group", BccooCaches, NULL),
  [BCCOO_DEVICE_BUNCH]     = SPMV_CHOICES("bunch", "strategy 3: tiles that a work item has side by side, 0: as many as fill a vector of 8 sums, at most 4", BccooDeviceBunches, NULL),
  [BCCOO_DEVICE_TRANSPOSE] = SPMV_CHOICES("transpose", "blocks are transposed offline, by the build, or online, by each product", BccooTransposes, BccooTransposeNames),
  [BCCOO_DEVICE_SCAN]      = SPMV_CHOICES("scan", "the segmented scan of a work group goes through local memory, or by shuffles through registers (CUDA)", BccooScans, BccooScanNames),
  [BCCOO_DEVICE_CARRY]     = SPMV_CHOICES("carry", "sums across work groups: by a second kernel, by the work group done last, or by adjacent synchronisation (GPUs only: work groups that started must go on)", BccooCarries, BccooCarryNames),
  [BCCOO_DEVICE_CONVERT]   = SPMV_CHOICES("convert", "who makes the columns, flags and values of a storage: this processor, or the device, which is sent the matrix as it is, auto: a GPU, of many entries", BccooConverts, BccooConvertNames),
  [BCCOO_DEVICE_GRID]      = SPMV_CHOICES("grid", "work groups for each processor of the device, each of which has its share of the matrix, piece after piece; 0: one for each piece", BccooGrids, NULL),
};

/*
  BccooDeviceResolve - what a plan for a device leaves open, but for block sizes and columns

  Input/Output Parameter:
. plan - with backend device; bunch and tile are replaced, and so are strategy and registers

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if a bunch of the host's is asked for, a device's of another strategy than 3, or what online transposition does not have. Tiles of 16
  blocks, and of 8 where there would be few work groups, are a guess: no GPU has seen them.
*/
PetscErrorCode BccooDeviceResolve(PetscInt entries, SpmvPlan *plan)
{
  PetscInt      *p = plan->value, *d = plan->device;
  const PetscInt h = p[BCCOO_BLOCK_HEIGHT], online = d[BCCOO_DEVICE_TRANSPOSE];

  PetscFunctionBegin;
  PetscCheck(!p[BCCOO_BUNCH], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A bunch of %" PetscInt_FMT " tiles is for the host; set -mat_bccoo_bunch to 0, and -mat_bccoo_device_workgroup for a device", p[BCCOO_BUNCH]);
  if (!d[BCCOO_DEVICE_WORKGROUP]) d[BCCOO_DEVICE_WORKGROUP] = BccooWorkgroups[0]; /* a plan that was never given device knobs */
  if (!d[BCCOO_DEVICE_CACHE]) d[BCCOO_DEVICE_CACHE] = BccooCaches[0];
  if (!d[BCCOO_DEVICE_STRATEGY] && d[BCCOO_DEVICE_BUNCH]) d[BCCOO_DEVICE_STRATEGY] = 3;
  if (!p[BCCOO_TILE]) p[BCCOO_TILE] = d[BCCOO_DEVICE_STRATEGY] == 3 ? BCCOO_BUNCH_TILE : entries / (h * p[BCCOO_BLOCK_WIDTH]) >= 1 << 20 ? 16
                                                                                                                                         : 8;
  if (!d[BCCOO_DEVICE_STRATEGY]) d[BCCOO_DEVICE_STRATEGY] = online || p[BCCOO_TILE] * h <= BCCOO_REGISTERS ? 1 : 2;
  PetscCheck(d[BCCOO_DEVICE_STRATEGY] != 1 || p[BCCOO_TILE] <= BCCOO_KEPT_TILE, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Strategy 1 keeps the sums of a tile of at most %d blocks, not %" PetscInt_FMT "; set -mat_bccoo_tile to less, or -mat_bccoo_device_strategy 2", BCCOO_KEPT_TILE, p[BCCOO_TILE]);
  PetscCheck(!d[BCCOO_DEVICE_BUNCH] || d[BCCOO_DEVICE_STRATEGY] == 3, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Strategy %" PetscInt_FMT " has no bunch; set -mat_bccoo_device_bunch to 0 or -mat_bccoo_device_strategy to 3", d[BCCOO_DEVICE_STRATEGY]);
  PetscCheck(!online || d[BCCOO_DEVICE_STRATEGY] == 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Strategy %" PetscInt_FMT " has no online transpose; set -mat_bccoo_device_strategy 1 or -mat_bccoo_device_transpose offline", d[BCCOO_DEVICE_STRATEGY]);
  PetscCheck(!online || p[BCCOO_COLUMNS] != BCCOO_COLUMNS_DIFFERENCE, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Columns as differences have no online transpose: each tile is one work item's; set -mat_bccoo_columns to int32 or uint16, or -mat_bccoo_device_transpose offline");
  if (d[BCCOO_DEVICE_CONVERT] == BCCOO_CONVERT_AUTO) d[BCCOO_DEVICE_CONVERT] = BCCOO_CONVERT_HOST; /* no device was asked */
  PetscCheck(d[BCCOO_DEVICE_CONVERT] == BCCOO_CONVERT_HOST || entries <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " entries are more than a device converts, which counts them with 32 bits; set -mat_bccoo_device_convert host", entries);
  if (!d[BCCOO_DEVICE_REGISTERS]) d[BCCOO_DEVICE_REGISTERS] = BCCOO_REGISTERS / h;
  d[BCCOO_DEVICE_REGISTERS] = d[BCCOO_DEVICE_STRATEGY] == 1 ? PetscMin(d[BCCOO_DEVICE_REGISTERS], p[BCCOO_TILE]) : 0;
  if (d[BCCOO_DEVICE_STRATEGY] == 3 && !d[BCCOO_DEVICE_BUNCH]) d[BCCOO_DEVICE_BUNCH] = h <= 2 ? 4 : h <= 4 ? 2
                                                                                                           : 1;
  p[BCCOO_BUNCH] = d[BCCOO_DEVICE_STRATEGY] == 3 ? d[BCCOO_DEVICE_BUNCH] : online ? 1
                                                                                  : d[BCCOO_DEVICE_WORKGROUP];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of a tile that a work item keeps in registers */
static inline PetscInt BccooDeviceRegisters(const PetscInt d[])
{
  return PetscMax(0, d[BCCOO_DEVICE_REGISTERS]);
}

/* Bytes of local memory that bccoo_product takes */
static size_t BccooDeviceLocal(const BccooStorage *b, const PetscInt d[])
{
  const size_t group = (size_t)d[BCCOO_DEVICE_WORKGROUP], h = (size_t)b->h, tile = (size_t)b->tile, registers = (size_t)BccooDeviceRegisters(d);
  size_t       scalars = 2 * h * group + 3 * h; /* last partial sums, carries */

  if (d[BCCOO_DEVICE_STRATEGY] == 2) scalars += (size_t)d[BCCOO_DEVICE_CACHE] * group * h;
  else if (d[BCCOO_DEVICE_TRANSPOSE]) scalars += h * (group * tile + group * tile / 32 + 1);
  else if (d[BCCOO_DEVICE_STRATEGY] == 1) scalars += (tile - registers) * h * group;
  return scalars * sizeof(PetscScalar) + (2 * group + 1) * sizeof(int32_t);
}

static PetscErrorCode BccooDeviceCheck(const BccooStorage *b, const PetscInt d[], const SpmvDeviceInfo *info)
{
  const size_t local = BccooDeviceLocal(b, d);

  PetscFunctionBegin;
  PetscCheck((size_t)d[BCCOO_DEVICE_WORKGROUP] <= info->group, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " work items a work group are more than the %zu of %s; set -mat_bccoo_device_workgroup to fewer", d[BCCOO_DEVICE_WORKGROUP], info->group, info->name);
  PetscCheck(local <= info->local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu bytes of local memory are more than the %zu of %s; set -mat_bccoo_device_workgroup, -mat_bccoo_tile or -mat_bccoo_device_cache to less", local, info->local, info->name);
  PetscCheck(!d[BCCOO_DEVICE_SCAN] || info->shuffles, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Work items of %s do not read each other's registers; set -mat_bccoo_device_scan local, or -spmv_device cuda where there is one", info->name);
  if (d[BCCOO_DEVICE_CARRY] == BCCOO_CARRY_KERNEL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(d[BCCOO_DEVICE_CARRY] != BCCOO_CARRY_ADJACENT || info->forward, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s is no GPU: it is not known that its work groups go on while others wait for them; set -mat_bccoo_device_carry kernel or last", info->name);
  PetscCheck(!PetscDefined(USE_COMPLEX), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Complex numbers are not exchanged in one piece; set -mat_bccoo_device_carry kernel");
  PetscCheck(sizeof(PetscReal) == 4 || info->atomic64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s does not exchange 64 bits in one piece; set -mat_bccoo_device_carry kernel", info->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks that a work item has in flight: as many as registers hold without spills on sm_80 and sm_90 */
static PetscInt BccooDeviceChunk(PetscInt h)
{
  const size_t bytes = (size_t)h * sizeof(PetscScalar);

  return bytes <= 16 ? 8 : bytes <= 32 ? 4
                                       : 1;
}

static PetscErrorCode BccooDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product)
{
  const BccooStorage *b = (const BccooStorage *)storage;
  const PetscInt     *d = plan->device, slices = b->slices;
  const size_t        pieces = b->ntiles / (size_t)b->workgroup, wanted = d[BCCOO_DEVICE_GRID] ? PetscMin(pieces, (size_t)d[BCCOO_DEVICE_GRID] * PetscMax(1, info->units)) : pieces;
  const size_t        steps = wanted ? (pieces + wanted - 1) / wanted : 1, ngroups = (pieces + steps - 1) / steps; /* pieces of a work group, the last one perhaps with fewer */
  const size_t        height = (size_t)b->mb * (size_t)b->h;
  const PetscBool     listed = (PetscBool)(b->nrows < slices * b->mb);
  const SpmvDeviceArg result = slices > 1 ? SPMV_GIVE_ARRAY("partial") : SPMV_GIVE_Y;
  const SpmvDeviceArg epoch  = d[BCCOO_DEVICE_CARRY] == BCCOO_CARRY_ADJACENT ? SPMV_GIVE_EPOCH : SPMV_GIVE_INT(0); /* who waits for others reads it */
  const char         *carry  = d[BCCOO_DEVICE_CARRY] == BCCOO_CARRY_KERNEL ? "bccoo_carry" : NULL;

  PetscFunctionBegin;
  PetscCall(BccooDeviceCheck(b, d, info));
  PetscCheck(b->m <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " rows are more than 32-bit integers count; use more processes or -mat_spmv_backend host", b->m);
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options), "-DHEIGHT=%" PetscInt_FMT " -DWIDTH=%" PetscInt_FMT " -DTILE=%" PetscInt_FMT " -DGROUP=%" PetscInt_FMT " -DBUNCH=%" PetscInt_FMT " -DCOLUMNS=%d -DESCAPES=%d -DFLAG_BITS=%" PetscInt_FMT " -DSTRATEGY=%" PetscInt_FMT " -DREGISTERS=%" PetscInt_FMT " -DCACHE=%" PetscInt_FMT " -DCHUNK=%d -DONLINE=%" PetscInt_FMT " -DSUBGROUPS=%" PetscInt_FMT " -DCARRY=%" PetscInt_FMT " -DPERSISTENT=%d -DROWS=%d -DRAGGED=%d -DSLICES=%" PetscInt_FMT " -DFLAT_GROUP=%d -DCLEAR=%d", b->h, b->w, b->tile, d[BCCOO_DEVICE_WORKGROUP], b->item, (int)b->columns, b->nescaped > 0, b->flag_bits, d[BCCOO_DEVICE_STRATEGY],
                          BccooDeviceRegisters(d), d[BCCOO_DEVICE_CACHE], (int)BccooDeviceChunk(b->h),
                          d[BCCOO_DEVICE_TRANSPOSE], d[BCCOO_DEVICE_SCAN], d[BCCOO_DEVICE_CARRY], steps > 1, (int)listed, b->n % b->w != 0, slices, BCCOO_FLAT_GROUP, BCCOO_FLAT_GROUP));
  SpmvDeviceWork(product, "heads", ngroups * (size_t)b->h * sizeof(PetscScalar));
  SpmvDeviceWork(product, "tails", ngroups * (size_t)b->h * sizeof(PetscScalar));
  if (!carry) {
    SpmvDeviceWork(product, "sync", (1 + ngroups) * sizeof(uint32_t));
  }
  if (slices > 1) {
    SpmvDeviceWork(product, "partial", (size_t)slices * height * sizeof(PetscScalar));
  } else if (listed) SPMV_LAUNCH(product, "spmv_clear", SpmvGroups((size_t)b->m, BCCOO_FLAT_GROUP), BCCOO_FLAT_GROUP, PETSC_TRUE, SPMV_GIVE_Y, SPMV_GIVE_INT(b->m));
  SPMV_LAUNCH(product, "bccoo_product", ngroups, (size_t)d[BCCOO_DEVICE_WORKGROUP], PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("flags"), SPMV_GIVE_ARRAY("entries"), SPMV_GIVE_ARRAY("bases"), SPMV_GIVE_ARRAY("escaped"), SPMV_GIVE_ARRAY("escapes"), SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("scans"), SPMV_GIVE_X, result, SPMV_GIVE_ARRAY("heads"), SPMV_GIVE_ARRAY("tails"), SPMV_GIVE_ARRAY("sync"), SPMV_GIVE_INT(b->m), SPMV_GIVE_INT(b->n), SPMV_GIVE_INT((PetscInt)ngroups), SPMV_GIVE_INT((PetscInt)steps), SPMV_GIVE_INT((PetscInt)b->ntiles), SPMV_GIVE_BETA, epoch);
  if (carry) SPMV_LAUNCH(product, carry, SpmvGroups(ngroups, BCCOO_FLAT_GROUP), BCCOO_FLAT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("entries"), SPMV_GIVE_ARRAY("rows"), SPMV_GIVE_ARRAY("heads"), SPMV_GIVE_ARRAY("tails"), result, SPMV_GIVE_INT((PetscInt)ngroups), SPMV_GIVE_INT((PetscInt)steps), SPMV_GIVE_INT((PetscInt)b->ntiles), SPMV_GIVE_INT(b->m), SPMV_GIVE_BETA);
  if (slices > 1) SPMV_LAUNCH(product, "bccoo_combine", SpmvGroups((size_t)b->m, BCCOO_FLAT_GROUP), BCCOO_FLAT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_Y, SPMV_GIVE_INT((PetscInt)height), SPMV_GIVE_INT(b->m), SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char BccooSource[] =
#include "bccoo_block.cl.h"
#include "bccoo_words.cl.h"
#include "bccoo.cl.h"
  ;

const SpmvDeviceFormat BccooDevice = {
  .source         = BccooSource,
  .nparams        = BCCOO_DEVICE_NPARAMS,
  .params         = BccooDeviceParams,
  .product        = BccooDeviceProduct,
  .settle         = BccooConvertSettle,
  .convert_source = BccooConvertSource,
  .convert        = BccooConvert,
};
