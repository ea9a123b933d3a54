/*
  tpspmv_device.c - tpSpMV on devices: knobs, what a plan leaves open, which kernels make a product

  The kernels are in tpspmv.cl, what they read is in tpspmv_device.h.
*/
#include "tpspmv_device.h"

static const PetscInt TpspmvWorkgroups[] = {128, 64, 256, 512, 32};

static const SpmvParam TpspmvDeviceParams[] = {
  TPSPMV_PARAMS,
  [TPSPMV_WORKGROUP] = SPMV_CHOICES("device_workgroup", "work items of a work group", TpspmvWorkgroups, NULL, SPMV_KNOB_TILE),
  [TPSPMV_STAGE]     = SPMV_CHOICES(
        "device_stage",
        "each work group loads the x of its tile to local memory; auto: where that takes half of it at most and the group has as "
            "many entries; no: it comes from the cache; yes: tiles fit 32 KiB if -mat_tpspmv_tile is 0",
        TpspmvChoices, TpspmvChoiceNames, SPMV_KNOB_LOCAL),
};

#define TPSPMV_STAGED 32   /* KiB of local memory for the x of a tile */
#define TPSPMV_ROWS   512  /* rows of a slice, at least. A guess, as is what follows */
#define TPSPMV_WANTED 4096 /* entries that a chunk of several tiles should have */

/* KiB of a GPU's second cache, which all work groups share: an A100 has 40 MiB, an H100 50. Not measured on a GPU */
#define TPSPMV_L2 (32 << 10)

/* Tiles are as few as the cache of the device asks for, or as staging does */
static PetscErrorCode TpspmvDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *p = plan->value, nused;

  PetscFunctionBegin;
  (void)info;
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = TPSPMV_L2;
  PetscCall(TpspmvColumnsLeft(csr, p, &nused, NULL));
  p[TPSPMV_REMOVE] = nused < csr->n ? TPSPMV_YES : TPSPMV_NO;
  if (!p[TPSPMV_TILE] && p[TPSPMV_STAGE] == TPSPMV_YES) p[TPSPMV_TILE] = TpspmvTileWidth(2 * TPSPMV_STAGED);
  if (!p[TPSPMV_TILE]) {
    const PetscBool fits = (PetscBool)((size_t)nused * sizeof(PetscScalar) <= (size_t)p[TPSPMV_CACHE] * 1024);

    p[TPSPMV_TILE] = fits ? TPSPMV_ALL : TpspmvTileWidth(p[TPSPMV_CACHE]);
  }
  if (!p[TPSPMV_SLICE]) p[TPSPMV_SLICE] = TpspmvSliceHeight(csr, TpspmvParts(nused, p[TPSPMV_TILE]), TPSPMV_ROWS, TPSPMV_WANTED);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scalars of local memory for so many columns of x: multiples of 256, so that not every matrix has kernels of its own */
static size_t TpspmvStageWidth(PetscInt columns)
{
  return ((size_t)columns + 255) / 256 * 256;
}

static PetscErrorCode TpspmvDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                         size_t size)
{
  const PetscInt *p     = plan->value;
  const size_t    bytes = TpspmvStageWidth(PetscMin(csr->n, p[TPSPMV_TILE])) * sizeof(PetscScalar);

  PetscFunctionBegin;
  PetscCall(TpspmvAllows(csr, info, plan, why, size));
  PetscCall(SpmvDeviceFits(info, (size_t)p[TPSPMV_WORKGROUP], p[TPSPMV_STAGE] == TPSPMV_YES ? bytes : 0, "tpspmv",
                           "-mat_tpspmv_tile", why, size));
  if (!why[0] && (PetscInt64)csr->i[csr->m] >= INT32_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " nonzeros are more than the 32-bit integers of device kernels count; ",
                         csr->i[csr->m]));
    PetscCall(SpmvAppend(why, size, "use more processes or -mat_spmv_backend host"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStepsArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const TpspmvSteps *b = (const TpspmvSteps *)storage;
  PetscInt           k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->index, b->nentries, TpspmvIndexSize(b->narrow));
  arrays[k++] = SPMV_ARRAY("chunks", b->chunk, b->nchunks + 1, sizeof(TpspmvStepChunk));
  arrays[k++] = SPMV_ARRAY("steps", b->step, b->nsteps + 1, sizeof(uint32_t));
  if (b->target) arrays[k++] = SPMV_ARRAY("targets", b->target, b->npairs, sizeof(int32_t));
  if (b->sumrow) arrays[k++] = SPMV_ARRAY("rows of sums", b->sumrow, b->nsums, sizeof(int32_t));
  if (b->place) arrays[k++] = SPMV_ARRAY("places", b->place, b->npartial, sizeof(int32_t));
  if (b->first) arrays[k++] = SPMV_ARRAY("firsts", b->first, b->nsums + 1, sizeof(int32_t));
  if (b->cut.column) arrays[k++] = SPMV_ARRAY("columns left", b->cut.column, (size_t)b->cut.nused, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from", b->from, b->nentries, sizeof(uint32_t), .aside = PETSC_TRUE);
  *narrays    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStepsDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const TpspmvSteps *b = (const TpspmvSteps *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0) PetscCall(TpspmvCutDescribe(&b->cut, line, size));
  if (k == 1)
    PetscCall(PetscSNPrintf(line, size, "on the device: %zu chunks, %zu steps, %zu partial sums of %zu rows", b->nchunks,
                            b->nsteps, b->npartial, b->nsums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Scalars of local memory for the x of a tile; 0: not staged. On auto it is at most half of what a work group may have, so that a
  processor has room for a second group, which works while the first one loads
*/
static size_t TpspmvStage(const TpspmvSteps *b, const PetscInt d[], const SpmvDeviceInfo *info)
{
  const size_t    width = TpspmvStageWidth(b->widest), bytes = width * sizeof(PetscScalar);
  const PetscBool pays = (PetscBool)(bytes <= info->local / 2 && b->nentries >= (size_t)b->widest * b->nchunks);

  return d[TPSPMV_STAGE] == TPSPMV_YES || (d[TPSPMV_STAGE] == TPSPMV_AUTO && pays) ? width : 0;
}

static PetscErrorCode TpspmvDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                          SpmvDeviceProduct *product)
{
  const TpspmvSteps  *b     = (const TpspmvSteps *)storage;
  const PetscInt     *d     = plan->value;
  const size_t        group = (size_t)d[TPSPMV_WORKGROUP];
  const SpmvDeviceArg x     = b->cut.column ? SPMV_GIVE_ARRAY("packed") : SPMV_GIVE_X;
  const size_t        stage = TpspmvStage(b, d, info);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DGROUP=%zu -DSTAGE=%zu -DDIRECT=%d -DNARROW=%d -DREMOVED=%d -DCLEAR=%zu", group, stage,
                          TpspmvIsDirect(&b->cut), (int)b->narrow, !!b->cut.column, group));
  if (b->npartial) SpmvDeviceWork(product, "partial", b->npartial * sizeof(PetscScalar));
  if (b->cut.column) {
    SpmvDeviceWork(product, "packed", (size_t)b->cut.nused * sizeof(PetscScalar));
    SPMV_LAUNCH(product, "tpspmv_pack", SpmvGroups((size_t)b->cut.nused, group), group, PETSC_FALSE,
                SPMV_GIVE_ARRAY("columns left"), SPMV_GIVE_X, SPMV_GIVE_ARRAY("packed"), SPMV_GIVE_INT(b->cut.nused));
  }
  if (TpspmvIsDirect(&b->cut) && b->npairs - b->npartial + b->nsums < (size_t)b->cut.m) { /* rows are empty */
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
  .load    = TpspmvDeviceLoad,
  .product = TpspmvDeviceProduct,
};
