/*
  bccoo_device.c - the device side of bccoo: knobs and storage
*/
#include "bccoo_device.h"

static const PetscInt    BccooWorkgroups[]     = {128, 64, 256, 512, 1, 2, 4, 8, 16, 32}; /* Tables I and II */
static const PetscInt    BccooStrategies[]     = {0, 1, 2, 3};
static const PetscInt    BccooRegisters[]      = {0, -1, 8, 16,
                                                  32}; /* -1: Table I's Reg_size of 0. Its ShM_size is the tile less the registers */
static const PetscInt    BccooCaches[]         = {1, 2, 3, 4};
static const PetscInt    BccooBunches[]        = {0, 1, 2, 4};
static const PetscInt    BccooTransposes[]     = {0, 1};
static const char *const BccooTransposeNames[] = {"offline", "online"};
static const PetscInt    BccooScans[]          = {0, 1};
static const char *const BccooScanNames[]      = {"local", "shuffle"};
static const PetscInt    BccooCarries[]        = {BCCOO_CARRY_KERNEL, BCCOO_CARRY_LAST, BCCOO_CARRY_ADJACENT};
static const char *const BccooCarryNames[]     = {"kernel", "last", "adjacent"};
static const PetscInt    BccooConverts[]       = {BCCOO_CONVERT_AUTO, BCCOO_CONVERT_HOST, BCCOO_CONVERT_DEVICE};
static const char *const BccooConvertNames[]   = {"auto", "host", "device"};
static const PetscInt    BccooGrids[]          = {0, 1, 2, 4, 8, 16};
static const PetscInt    BccooFlagBits[]       = {32, 8, 16};

static const SpmvParam BccooDeviceParams[] = {
  BCCOO_KNOBS,
  [BCCOO_DEVICE_WORKGROUP] = SPMV_CHOICES("device_workgroup", "work items of a work group", BccooWorkgroups, NULL),
  [BCCOO_DEVICE_STRATEGY]  = SPMV_CHOICES("device_strategy",
                                          "1: a tile's sums are kept, 2: in a result cache as they complete, "
                                           "3: a work item has several tiles side by side, for devices with vectors, "
                                           "0: 3 if there is a bunch, 1 if a tile's sums fit registers",
                                          BccooStrategies, NULL),
  [BCCOO_DEVICE_REGISTERS] = SPMV_CHOICES("device_registers",
                                          "strategy 1: a tile's sums in registers, the others in local memory, "
                                          "0: as many as fit, -1: none",
                                          BccooRegisters, NULL),
  [BCCOO_DEVICE_CACHE] =
    SPMV_CHOICES("device_cache", "strategy 2: block rows of the result cache, times the work group", BccooCaches, NULL),
  [BCCOO_DEVICE_BUNCH] = SPMV_CHOICES("device_bunch",
                                      "strategy 3: tiles that a work item has side by side, "
                                      "0: as many as fill a vector of 8 sums, at most 4",
                                      BccooBunches, NULL),
  [BCCOO_DEVICE_TRANSPOSE] =
    SPMV_CHOICES("device_transpose", "blocks are transposed offline, by the build, or online, by each product", BccooTransposes,
                 BccooTransposeNames),
  [BCCOO_DEVICE_SCAN]      = SPMV_CHOICES("device_scan",
                                          "the segmented scan of a work group goes through local memory, "
                                               "or by shuffles through registers (CUDA)",
                                          BccooScans, BccooScanNames),
  [BCCOO_DEVICE_CARRY]     = SPMV_CHOICES("device_carry",
                                          "sums across work groups: by a second kernel, by the work group done last, or by "
                                              "adjacent synchronisation (GPUs only: work groups that started must go on)",
                                          BccooCarries, BccooCarryNames),
  [BCCOO_DEVICE_CONVERT]   = SPMV_CHOICES("device_convert",
                                          "who makes the columns, flags and values of a storage: this processor, "
                                            "or the device, which is sent the matrix as it is, auto: a GPU, of many entries",
                                          BccooConverts, BccooConvertNames),
  [BCCOO_DEVICE_GRID]      = SPMV_CHOICES("device_grid",
                                          "work groups for each processor of the device, each of which has its share of the "
                                               "matrix, piece after piece; 0: one for each piece",
                                          BccooGrids, NULL),
  [BCCOO_DEVICE_FLAG_BITS] = SPMV_CHOICES("device_flag_bits", "bits of a word of flags", BccooFlagBits, NULL),
};

static PetscErrorCode BccooDeviceSetValues(const SpmvCSR *csr, void *storage)
{
  BccooDeviceStorage *s = (BccooDeviceStorage *)storage;

  PetscFunctionBegin;
  if (s->converted) s->csr = *csr; /* to be sent */
  else BccooBlocksSetValues(&s->b, csr->a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block ends, for the device to convert by */
static PetscErrorCode BccooDeviceSetEnds(BccooDeviceStorage *s)
{
  const BccooBlocks *b = &s->b;

  PetscFunctionBegin;
  PetscCheck(b->nstored <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu blocks are more than a device converts, which counts them with 32 bits; set -mat_bccoo_device_convert host",
             b->nstored);
  PetscCall(SpmvAlloc(((size_t)b->nrows + 1) * sizeof(uint32_t), &s->end));
  s->end[0] = 0;
  for (PetscInt k = 0; k < b->nrows; k++) s->end[k + 1] = (uint32_t)b->scan.end[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooDeviceBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  PetscInt           *p = plan->value;
  BccooDeviceStorage *s;
  BccooBlocks        *b;
  size_t              item, workgroup;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage  = s;
  b         = &s->b;
  b->h      = p[BCCOO_BLOCK_HEIGHT];
  b->w      = p[BCCOO_BLOCK_WIDTH];
  b->slices = p[BCCOO_SLICES];
  b->tile   = p[BCCOO_TILE];
  b->bunch  = p[BCCOO_DEVICE_STRATEGY] == 3 ? p[BCCOO_DEVICE_BUNCH] : p[BCCOO_DEVICE_TRANSPOSE] ? 1 : p[BCCOO_DEVICE_WORKGROUP];
  s->item   = p[BCCOO_DEVICE_STRATEGY] == 3 ? b->bunch : 1;
  s->workgroup = p[BCCOO_DEVICE_WORKGROUP] * s->item;
  s->converted = (PetscBool)(p[BCCOO_DEVICE_CONVERT] == BCCOO_CONVERT_DEVICE);
  b->whole     = s->workgroup;
  b->listed    = 1;
  b->scattered = PETSC_TRUE;
  b->columns   = (BccooColumns)p[BCCOO_COLUMNS];
  PetscCall(BccooBlocksScan(csr, s->converted, b));
  p[BCCOO_COLUMNS] = b->columns;
  if (s->converted) {
    PetscCall(BccooDeviceSetEnds(s));
    PetscCall(BccooBlocksOutline(b));
  } else PetscCall(BccooBlocksMake(1, b));
  PetscCall(BccooScanDestroy(&b->scan));
  item      = (size_t)s->item;
  workgroup = (size_t)s->workgroup;
  PetscCall(SpmvAlloc(b->ntiles / workgroup, &s->scan));
  memset(s->scan, 0, b->ntiles / workgroup);
  for (size_t t = 0; t < b->ntiles; t += item) s->scan[t / workgroup] |= b->entry[t] == b->entry[t + item];
  PetscCall(BccooDeviceSetValues(csr, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooDeviceArrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const BccooDeviceStorage *s = (const BccooDeviceStorage *)storage;

  PetscFunctionBegin;
  PetscCall(BccooBlocksArrays(&s->b, n, arrays));
  arrays[(*n)++] = SPMV_ARRAY("scans", s->scan, s->b.ntiles / (size_t)s->workgroup, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooDeviceDestroy(void **storage)
{
  BccooDeviceStorage *s = (BccooDeviceStorage *)*storage;

  PetscFunctionBegin;
  PetscCall(BccooBlocksDestroy(&s->b));
  PetscCall(SpmvFree(&s->scan));
  PetscCall(SpmvFree(&s->end));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern const SpmvDeviceSide BccooDevice;
const SpmvDeviceSide        BccooDevice = {
         .side           = {.nparams   = BCCOO_DEVICE_NPARAMS,
                            .params    = BccooDeviceParams,
                            .propose   = BccooDevicePropose,
                            .resolve   = BccooDeviceResolve,
                            .allows    = BccooDeviceAllows,
                            .works     = BccooDeviceWorks,
                            .build     = BccooDeviceBuild,
                            .setvalues = BccooDeviceSetValues,
                            .arrays    = BccooDeviceArrays,
                            .destroy   = BccooDeviceDestroy},
         .source         = BccooSource,
         .product        = BccooDeviceProduct,
         .convert_source = BccooConvertSource,
         .convert        = BccooConvert,
         .sources        = BccooConvertSources,
};
