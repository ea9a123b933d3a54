/*
  tpspmv_device.c - tpSpMV on devices: knobs, what a plan leaves open, which kernels make a product

  The kernels are in tpspmv.cl, what they read is in tpspmv_device.h.
*/
#include "tpspmv_device.h"

static const PetscInt TpspmvWorkgroups[] = {128, 64, 256, 512, 32};

static const SpmvParam TpspmvDeviceParams[] = {
  [TPSPMV_DEVICE_CACHE]     = TPSPMV_PARAM_CACHE,
  [TPSPMV_DEVICE_TILE]      = TPSPMV_PARAM_TILE,
  [TPSPMV_DEVICE_SLICE]     = TPSPMV_PARAM_SLICE,
  [TPSPMV_DEVICE_LONG]      = TPSPMV_PARAM_LONG,
  [TPSPMV_DEVICE_REMOVE]    = TPSPMV_PARAM_REMOVE,
  [TPSPMV_DEVICE_WORKGROUP] = SPMV_CHOICES("device_workgroup", "work items of a work group", TpspmvWorkgroups, NULL),
  [TPSPMV_DEVICE_STAGE]     = SPMV_CHOICES(
        "device_stage",
        "the x of a tile is loaded to local memory by each work group, auto: where it takes half of that at most and the work group "
            "has as many entries; no: the cache is counted on; yes makes tiles that fit 32 KiB if -mat_tpspmv_tile is 0",
        TpspmvChoices, TpspmvChoiceNames),
};

#define TPSPMV_STAGED 32 /* KiB of local memory for the x of a tile */
#define TPSPMV_L2 \
  (32 << 10) /* KiB of a GPU's second cache, which all work groups share: an A100 has 40 MiB, an H100 50. No GPU has seen it */
#define TPSPMV_ROWS   512  /* rows of a slice, at least. A guess, as is what follows */
#define TPSPMV_WANTED 4096 /* entries that a chunk of several tiles should have */

/* Rows of a slice, by what a chunk is to have */
static PetscInt TpspmvDeviceSlice(const SpmvCSR *csr, PetscInt ntiles)
{
  const double wanted = (double)TPSPMV_WANTED * ntiles * csr->m / PetscMax(1, csr->i[csr->m]);
  PetscInt     height = TPSPMV_ROWS;

  while (ntiles > 1 && height < wanted && height < UINT16_MAX) height *= 2;
  return height;
}

/* Tiles are as few as the cache of the device asks for, or as staging does */
static PetscErrorCode TpspmvDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *p = plan->value;
  SPMV_DESTROY_BY(TpspmvCutDestroy)
  TpspmvCut cut = {.nused = csr->n};

  PetscFunctionBegin;
  (void)info;
  if (!p[TPSPMV_DEVICE_CACHE]) p[TPSPMV_DEVICE_CACHE] = TPSPMV_L2;
  if (p[TPSPMV_DEVICE_REMOVE] != TPSPMV_NO &&
      (p[TPSPMV_DEVICE_REMOVE] == TPSPMV_AUTO || !p[TPSPMV_DEVICE_SLICE] || !p[TPSPMV_DEVICE_TILE])) {
    PetscCall(TpspmvCutColumns(csr, (TpspmvChoice)p[TPSPMV_DEVICE_REMOVE], p[TPSPMV_DEVICE_CACHE], &cut));
    p[TPSPMV_DEVICE_REMOVE] = cut.removed ? TPSPMV_YES : TPSPMV_NO;
  }
  if (!p[TPSPMV_DEVICE_TILE] && p[TPSPMV_DEVICE_STAGE] == TPSPMV_YES) p[TPSPMV_DEVICE_TILE] = TpspmvCutWidth(2 * TPSPMV_STAGED);
  if (!p[TPSPMV_DEVICE_TILE])
    p[TPSPMV_DEVICE_TILE] = (size_t)cut.nused * sizeof(PetscScalar) <= (size_t)p[TPSPMV_DEVICE_CACHE] * 1024
                              ? TPSPMV_ALL
                              : TpspmvCutWidth(p[TPSPMV_DEVICE_CACHE]);
  if (!p[TPSPMV_DEVICE_SLICE]) p[TPSPMV_DEVICE_SLICE] = TpspmvDeviceSlice(csr, TpspmvCutCount(cut.nused, p[TPSPMV_DEVICE_TILE]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of local memory for the x of a tile of so many columns, in steps of 256, so that not every matrix has kernels of its own */
static size_t TpspmvStageWidth(PetscInt columns)
{
  return ((size_t)columns + 255) / 256 * 256;
}

static PetscErrorCode TpspmvDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                         size_t size)
{
  const PetscInt *p      = plan->value;
  const size_t    group  = (size_t)p[TPSPMV_DEVICE_WORKGROUP];
  const PetscInt  widest = PetscMin(csr->n, p[TPSPMV_DEVICE_TILE]);
  const size_t    bytes  = TpspmvStageWidth(widest) * sizeof(PetscScalar);

  PetscFunctionBegin;
  PetscCall(TpspmvCutAllows(csr, (TpspmvChoice)p[TPSPMV_DEVICE_REMOVE], p[TPSPMV_DEVICE_CACHE], p[TPSPMV_DEVICE_TILE],
                            p[TPSPMV_DEVICE_SLICE], why, size));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if ((PetscInt64)csr->i[csr->m] >= INT32_MAX) {
    PetscCall(SpmvAppend(
      why, size,
      "%" PetscInt_FMT
      " nonzeros are more than the 32-bit integers of device kernels count; use more processes or -mat_spmv_backend host",
      csr->i[csr->m]));
  } else if (group > info->group) {
    PetscCall(SpmvAppend(why, size,
                         "%zu work items a work group are more than the %zu of %s; set -mat_tpspmv_device_workgroup to fewer",
                         group, info->group, info->name));
  } else if (p[TPSPMV_DEVICE_STAGE] == TPSPMV_YES && bytes > info->local) {
    PetscCall(SpmvAppend(why, size,
                         "The x of a tile of %" PetscInt_FMT
                         " columns takes %zu bytes of local memory, which are more than the %zu of %s; set -mat_tpspmv_tile to "
                         "less, or -mat_tpspmv_device_stage no",
                         widest, bytes, info->local, info->name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Targets have a row and rows have sums only with one tile */
static PetscErrorCode TpspmvStepsArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const TpspmvSteps *b = (const TpspmvSteps *)storage;
  PetscInt           k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->index, b->nentries, TpspmvIndexSize(b->narrow));
  arrays[k++] = SPMV_ARRAY("chunks", b->chunk, b->nchunks + 1, sizeof(TpspmvStepChunk));
  arrays[k++] = SPMV_ARRAY("steps", b->step, b->nsteps + 1, sizeof(uint32_t));
  if (TpspmvCutIsDirect(&b->cut)) {
    arrays[k++] = SPMV_ARRAY("targets", b->target, b->npairs, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("rows of sums", b->sumrow, b->nsums, sizeof(int32_t));
  } else arrays[k++] = SPMV_ARRAY("places", b->place, b->npartial, sizeof(int32_t));
  if (b->nsums) arrays[k++] = SPMV_ARRAY("firsts", b->first, b->nsums + 1, sizeof(int32_t));
  if (b->cut.removed) arrays[k++] = SPMV_ARRAY("columns left", b->cut.column, (size_t)b->cut.nused, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from", b->from, b->nentries, sizeof(uint32_t), .aside = PETSC_TRUE);
  *narrays    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStepsDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const TpspmvSteps *b = (const TpspmvSteps *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0)
    PetscCall(PetscSNPrintf(line, size,
                            "%" PetscInt_FMT " tiles for a cache of %" PetscInt_FMT " KiB, %" PetscInt_FMT
                            " slices of %" PetscInt_FMT " rows, %" PetscInt_FMT " empty columns removed",
                            b->cut.ntiles, b->cache, b->cut.nslices, b->cut.height, b->cut.n - b->cut.nused));
  if (k == 1)
    PetscCall(PetscSNPrintf(line, size, "on the device: %zu chunks, %zu steps, %zu partial sums of %zu rows", b->nchunks,
                            b->nsteps, b->npartial, b->nsums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Scalars of local memory for the x of a tile; 0: not staged. Nobody having asked for it, it takes half of what a work group may have:
  one that fills a processor leaves none to work while it loads
*/
static size_t TpspmvStage(const TpspmvSteps *b, const PetscInt d[], const SpmvDeviceInfo *info)
{
  const size_t    width = TpspmvStageWidth(b->widest), bytes = width * sizeof(PetscScalar);
  const PetscBool pays = (PetscBool)(bytes <= info->local / 2 && b->nentries >= (size_t)b->widest * b->nchunks);

  return d[TPSPMV_DEVICE_STAGE] == TPSPMV_YES || (d[TPSPMV_DEVICE_STAGE] == TPSPMV_AUTO && pays) ? width : 0;
}

static PetscErrorCode TpspmvDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                          SpmvDeviceProduct *product)
{
  const TpspmvSteps  *b     = (const TpspmvSteps *)storage;
  const PetscInt     *d     = plan->value;
  const size_t        group = (size_t)d[TPSPMV_DEVICE_WORKGROUP];
  const SpmvDeviceArg x     = b->cut.removed ? SPMV_GIVE_ARRAY("packed") : SPMV_GIVE_X;
  const size_t        stage = TpspmvStage(b, d, info);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DGROUP=%zu -DSTAGE=%zu -DDIRECT=%d -DNARROW=%d -DREMOVED=%d -DCLEAR=%zu", group, stage,
                          TpspmvCutIsDirect(&b->cut), (int)b->narrow, (int)b->cut.removed, group));
  if (b->npartial) { SpmvDeviceWork(product, "partial", b->npartial * sizeof(PetscScalar)); }
  if (b->cut.removed) {
    SpmvDeviceWork(product, "packed", (size_t)b->cut.nused * sizeof(PetscScalar));
    SPMV_LAUNCH(product, "tpspmv_pack", SpmvGroups((size_t)b->cut.nused, group), group, PETSC_FALSE,
                SPMV_GIVE_ARRAY("columns left"), SPMV_GIVE_X, SPMV_GIVE_ARRAY("packed"), SPMV_GIVE_INT(b->cut.nused));
  }
  if (TpspmvCutIsDirect(&b->cut) && b->nonempty < b->cut.m) {
    SPMV_LAUNCH(product, "spmv_clear", SpmvGroups((size_t)b->cut.m, group), group, PETSC_TRUE, SPMV_GIVE_Y,
                SPMV_GIVE_INT(b->cut.m));
    SpmvDeviceAlongside(product);
  }
  SPMV_LAUNCH(product, "tpspmv_first", b->nchunks, group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"),
              SPMV_GIVE_ARRAY("chunks"), SPMV_GIVE_ARRAY("steps"), SPMV_GIVE_ARRAY("targets"), x, SPMV_GIVE_Y,
              SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "tpspmv_second", SpmvGroups(b->nsums, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("rows of sums"),
              SPMV_GIVE_ARRAY("firsts"), SPMV_GIVE_ARRAY("places"), SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_Y,
              SPMV_GIVE_INT((PetscInt)b->nsums), SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char TpspmvSource[] =
#include "tpspmv.cl.h"
  ;

const SpmvDeviceSide TpspmvDevice = {
  .side    = {.nparams   = TPSPMV_DEVICE_NPARAMS,
              .params    = TpspmvDeviceParams,
              .resolve   = TpspmvDeviceResolve,
              .allows    = TpspmvDeviceAllows,
              .build     = TpspmvStepsBuild,
              .setvalues = TpspmvStepsSetValues,
              .arrays    = TpspmvStepsArrays,
              .describe  = TpspmvStepsDescribe,
              .destroy   = TpspmvStepsDestroy},
  .source  = TpspmvSource,
  .product = TpspmvDeviceProduct,
};
