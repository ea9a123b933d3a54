/*
  tpspmv_device.c - tpSpMV on devices: knobs, what a plan leaves open, which kernels make a product

  The kernels are in tpspmv.cl, what they read is in tpspmv_device.h.
*/
#include "tpspmv_device.h"

static const PetscInt TpspmvWorkgroups[] = {0, 128, 64, 256, 512, 32};

static const SpmvParam TpspmvDeviceParams[] = {
  TPSPMV_PARAMS,
  [TPSPMV_WORKGROUP] =
    SPMV_CHOICES("device_workgroup", "work items of a work group; 0: 128, or fewer where rows are too few for all processors",
                 TpspmvWorkgroups, NULL, SPMV_KNOB_TILE),
  [TPSPMV_STAGE] = SPMV_CHOICES(
    "device_stage",
    "each work group loads the x of its tile to local memory; auto: where that takes half of it at most and the group has as "
    "many entries; no: it comes from the cache; yes: tiles fit 32 KiB if -mat_tpspmv_tile is 0",
    TpspmvChoices, TpspmvChoiceNames, SPMV_KNOB_LOCAL),
  [TPSPMV_CONVERT] = SPMV_CONVERT_PARAM,
};

#define TPSPMV_STAGED 32         /* KiB of local memory for the x of a tile */
#define TPSPMV_ROWS   2048       /* rows of a slice, at least: pairs are ordered by length among so many */
#define TPSPMV_WANTED 4096       /* entries that a chunk of several tiles should have. A guess */
#define TPSPMV_L2     (32 << 10) /* KiB of the cache of a device that does not tell */
#define TPSPMV_BUSY   512        /* pairs that keep a processor of a GPU busy: see TpspmvDeviceLong() */
#define TPSPMV_SHORT  32         /* entries of a segment, at least, where they are chosen */
#define TPSPMV_SUMS   2048       /* segments of a row, at most, by that: 32 work items add them up in 16 steps of four */

/* Scalars of local memory for so many columns of x: multiples of 256, so that not every matrix has kernels of its own */
static size_t TpspmvStageWidth(PetscInt columns)
{
  return ((size_t)columns + 255) / 256 * 256;
}

/* A tile where x is staged or as wide as the cache of the device, unless one tile moves less */
static PetscErrorCode TpspmvDeviceTile(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt nused, PetscInt p[])
{
  const PetscInt width = TpspmvTileWidth(p[TPSPMV_STAGE] == TPSPMV_YES ? 2 * TPSPMV_STAGED : p[TPSPMV_CACHE]);
  PetscBool      one   = (PetscBool)((size_t)nused * sizeof(PetscScalar) <= (size_t)p[TPSPMV_CACHE] * 1024);

  PetscFunctionBegin;
  if (p[TPSPMV_STAGE] == TPSPMV_YES) one = PETSC_FALSE;
  else if (!one) PetscCall(TpspmvOneTileMovesLess(csr, info, p[TPSPMV_CACHE], width, &one));
  p[TPSPMV_TILE] = one ? TPSPMV_ALL : width;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The rows of a slice: among more, pairs are ordered better; where x is staged a slice is a work group's, and there are to be
  several for each processor
*/
static PetscInt TpspmvDeviceSlice(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt nused, const PetscInt p[])
{
  const size_t   bytes  = TpspmvStageWidth(PetscMin(nused, p[TPSPMV_TILE])) * sizeof(PetscScalar);
  const PetscInt ntiles = TpspmvParts(nused, p[TPSPMV_TILE]);
  PetscInt       slice  = TpspmvSliceHeight(csr, ntiles, TPSPMV_ROWS, TPSPMV_WANTED);

  if (p[TPSPMV_STAGE] == TPSPMV_NO || (p[TPSPMV_STAGE] == TPSPMV_AUTO && bytes > info->local / 2)) return slice;
  while (slice > 64 && (size_t)ntiles * (size_t)TpspmvParts(csr->m, slice) < 4 * info->units) slice /= 2;
  return slice;
}

/* Pairs of rows and tiles of so many columns, of `longest` entries at most; once there are enough, the others do not count */
static size_t TpspmvPairs(const SpmvCSR *csr, PetscInt tile, PetscInt longest, size_t enough)
{
  size_t n = 0;

  for (PetscInt r = 0; r < csr->m && n < enough; r++) {
    for (PetscInt k = csr->i[r], next; k < csr->i[r + 1]; k = next) {
      next = tile < csr->n ? k + 1 : csr->i[r + 1];
      while (next < csr->i[r + 1] && csr->j[next] / tile == csr->j[k] / tile) next++;
      n += (size_t)TpspmvParts(next - k, longest);
    }
  }
  return n;
}

/*
  Entries of a pair, at most. A work item goes through its pair alone, four entries at a time: of these 72 bytes are under way, so
  that 512 for each processor of an H100 ask for 8 TB/s at a latency of 0.6 us, more than twice what its memory gives. Where a GPU
  has fewer pairs, long ones are cut, as far as that makes more of them: a segment has 21 bytes besides its entries, for its sum
  to be written and read and for where it goes, 7 % of 32 entries
*/
static PetscInt TpspmvDeviceLong(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt tile)
{
  const size_t enough  = info->units * TPSPMV_BUSY;
  PetscInt     longest = TPSPMV_LONG_OWN, least = TPSPMV_SHORT;
  size_t       pairs = info->gpu ? TpspmvPairs(csr, tile, longest, enough) : enough;

  for (PetscInt r = 0; r < csr->m && pairs < enough; r++) least = PetscMax(least, (csr->i[r + 1] - csr->i[r]) / TPSPMV_SUMS);
  for (PetscInt shorter = longest / 2; shorter >= least && pairs < enough; shorter /= 2) {
    const size_t more = TpspmvPairs(csr, tile, shorter, enough);

    if (more > pairs) longest = shorter;
    pairs = more;
  }
  return longest;
}

static PetscErrorCode TpspmvDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  const size_t cache = SpmvDeviceCache(info);
  PetscInt    *p     = plan->value, nused;

  PetscFunctionBegin;
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = cache ? (PetscInt)PetscMin(cache / 1024, 1 << 20) : TPSPMV_L2;
  PetscCall(TpspmvColumnsLeft(csr, p, &nused, NULL));
  p[TPSPMV_REMOVE] = nused < csr->n ? TPSPMV_YES : TPSPMV_NO;
  if (!p[TPSPMV_TILE]) PetscCall(TpspmvDeviceTile(csr, info, nused, p));
  if (!p[TPSPMV_LONG]) p[TPSPMV_LONG] = TpspmvDeviceLong(csr, info, p[TPSPMV_TILE]);
  if (!p[TPSPMV_SLICE]) p[TPSPMV_SLICE] = TpspmvDeviceSlice(csr, info, nused, p);
  if (!p[TPSPMV_WORKGROUP]) p[TPSPMV_WORKGROUP] = SpmvDeviceGroup(info, (size_t)csr->m, 128);
  p[TPSPMV_CONVERT] = SpmvConvertResolve(csr, info, p[TPSPMV_CONVERT]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                         size_t size)
{
  const PetscInt *p     = plan->value;
  const size_t    stage = TpspmvStageWidth(PetscMin(csr->n, p[TPSPMV_TILE])), group = (size_t)p[TPSPMV_WORKGROUP];
  const size_t large = p[TPSPMV_STAGE] == TPSPMV_YES ? stage * sizeof(PetscScalar) : 0; /* of tpspmv_first, which has no other, */
  const size_t local = large ? 0 : 2 * group * sizeof(PetscScalar);                     /* or of the second phase */

  PetscFunctionBegin;
  PetscCall(TpspmvAllows(csr, info, plan, why, size));
  PetscCall(SpmvDeviceFits(info, group, local, large, "tpspmv", "-mat_tpspmv_tile or -mat_tpspmv_device_workgroup", why, size));
  if (!why[0] && (PetscInt64)csr->i[csr->m] >= INT32_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " nonzeros are more than the 32-bit integers of device kernels count; ",
                         csr->i[csr->m]));
    PetscCall(SpmvAppend(why, size, "use more processes or -mat_spmv_backend host"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStripsArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const TpspmvStrips *b      = (const TpspmvStrips *)storage;
  const size_t        places = b->nstrips * TPSPMV_HEIGHT, elements = b->nsteps * TPSPMV_HEIGHT;
  PetscInt            k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, elements, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->narrow, b->nnarrow * TPSPMV_HEIGHT, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("wide columns", b->wide, b->nwide * TPSPMV_HEIGHT, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("chunks", b->chunk, b->nchunks + 1, sizeof(TpspmvStripChunk));
  arrays[k++] = SPMV_ARRAY("strips", b->strip, b->nstrips, sizeof(TpspmvStrip));
  arrays[k++] = SPMV_ARRAY("lengths", b->length, places, sizeof(uint8_t));
  if (b->target) arrays[k++] = SPMV_ARRAY("targets", b->target, places, sizeof(int32_t));
  if (b->sumrow) arrays[k++] = SPMV_ARRAY("rows of sums", b->sumrow, b->nsums, sizeof(int32_t));
  if (b->place) arrays[k++] = SPMV_ARRAY("places", b->place, b->npairs, sizeof(int32_t));
  if (b->first) arrays[k++] = SPMV_ARRAY("firsts", b->first, b->nsums + 1, sizeof(int32_t));
  if (b->many) arrays[k++] = SPMV_ARRAY("rows of many sums", b->many, b->nmany, sizeof(int32_t));
  if (b->cut.column) arrays[k++] = SPMV_ARRAY("columns left", b->cut.column, (size_t)b->cut.nused, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("starts", b->start, places, sizeof(int32_t), .aside = PETSC_TRUE, .sent = b->converted);
  *narrays    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvStripsDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const TpspmvStrips *b    = (const TpspmvStrips *)storage;
  const double        wide = b->nsteps ? 100 * (double)b->nwide / (double)b->nsteps : 0;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0) PetscCall(TpspmvCutDescribe(&b->cut, line, size));
  if (k == 1)
    PetscCall(PetscSNPrintf(line, size,
                            "on the device: %zu chunks, %zu strips, %zu partial sums of %zu rows, %.2f %% wide columns",
                            b->nchunks, b->nstrips, b->place ? b->npairs : b->npartial, b->nsums, wide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Scalars of local memory for the x of a tile; 0: not staged. On auto it is at most half of what a work group may have, so that a
  processor has room for a second group, which works while the first one loads, and there are chunks for all processors
*/
static size_t TpspmvStage(const TpspmvStrips *b, const PetscInt d[], const SpmvDeviceInfo *info)
{
  const size_t    width = TpspmvStageWidth(b->widest), bytes = width * sizeof(PetscScalar);
  const PetscBool pays  = (PetscBool)(bytes <= info->local / 2 && b->nentries >= (size_t)b->widest * b->nchunks);
  const PetscBool fills = (PetscBool)(b->nchunks >= info->units);

  return d[TPSPMV_STAGE] == TPSPMV_YES || (d[TPSPMV_STAGE] == TPSPMV_AUTO && pays && fills) ? width : 0;
}

/* Work items of a row in the second phase: as many as a row has partial sums, about; on others than GPUs one after the other */
static PetscInt TpspmvAdders(const TpspmvStrips *b, const SpmvDeviceInfo *info)
{
  const size_t sums   = b->place ? b->npairs : b->npartial;
  PetscInt     adders = 1;

  while (info->gpu && adders < TPSPMV_HEIGHT && 2 * (size_t)adders * b->nsums <= sums) adders *= 2;
  return adders;
}

/* The kernels of the second phase, which write other rows */
static void TpspmvDeviceSecond(const TpspmvStrips *b, size_t group, PetscInt adders, SpmvDeviceProduct *product)
{
  const SpmvDeviceArg rows = SPMV_GIVE_ARRAY("rows of sums"), firsts = SPMV_GIVE_ARRAY("firsts");
  const SpmvDeviceArg places = SPMV_GIVE_ARRAY("places"), partial = SPMV_GIVE_ARRAY("partial");

  SPMV_LAUNCH(product, "tpspmv_many", b->nmany, group, PETSC_FALSE, SPMV_GIVE_ARRAY("rows of many sums"), rows, firsts, places,
              partial, SPMV_GIVE_Y, SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "tpspmv_second", SpmvGroups(b->nsums * (size_t)adders, group), group, PETSC_FALSE, rows, firsts, places,
              partial, SPMV_GIVE_Y, SPMV_GIVE_INT((PetscInt)b->nsums), SPMV_GIVE_BETA);
  SpmvDeviceAfter(product, "tpspmv_first");
}

static PetscErrorCode TpspmvDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                          SpmvDeviceProduct *product)
{
  const TpspmvStrips *b      = (const TpspmvStrips *)storage;
  const size_t        group  = (size_t)plan->value[TPSPMV_WORKGROUP];
  const SpmvDeviceArg x      = b->cut.column ? SPMV_GIVE_ARRAY("packed") : SPMV_GIVE_X;
  const size_t        stage  = TpspmvStage(b, plan->value, info);
  const PetscInt      adders = TpspmvAdders(b, info);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DGROUP=%zu -DSTAGE=%zu -DDIRECT=%d -DREMOVED=%d -DADDERS=%d -DMANY=%d", group, stage,
                          TpspmvIsDirect(&b->cut), !!b->cut.column, (int)adders, TPSPMV_MANY));
  if (b->npartial) SpmvDeviceWork(product, "partial", b->npartial * sizeof(PetscScalar));
  if (b->cut.column) {
    SpmvDeviceWork(product, "packed", (size_t)b->cut.nused * sizeof(PetscScalar));
    SPMV_LAUNCH(product, "tpspmv_pack", SpmvGroups((size_t)b->cut.nused, group), group, PETSC_FALSE,
                SPMV_GIVE_ARRAY("columns left"), SPMV_GIVE_X, SPMV_GIVE_ARRAY("packed"), SPMV_GIVE_INT(b->cut.nused));
  }
  if (TpspmvIsDirect(&b->cut) && b->npairs - b->npartial + b->nsums < (size_t)b->cut.m) { /* rows are empty */
    PetscCall(SpmvDeviceClear(product, SPMV_GIVE_Y, (size_t)b->cut.m, 1, group, PETSC_TRUE));
    SpmvDeviceAtOnce(product);
  }
  SPMV_LAUNCH(product, "tpspmv_first", stage ? b->nchunks : SpmvGroups(b->nstrips * TPSPMV_HEIGHT, group), group, PETSC_FALSE,
              SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("wide columns"), SPMV_GIVE_ARRAY("chunks"),
              SPMV_GIVE_ARRAY("strips"), SPMV_GIVE_ARRAY("lengths"), SPMV_GIVE_ARRAY("targets"), x, SPMV_GIVE_Y,
              SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_INT((PetscInt)b->nstrips), SPMV_GIVE_BETA);
  SpmvDeviceLocal(product, stage * sizeof(PetscScalar));
  TpspmvDeviceSecond(b, group, adders, product);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char TpspmvSource[] =
#include "tpspmv.cl.h"
  ;

const SpmvDeviceSide TpspmvDevice = {
  .side           = {.nparams   = TPSPMV_DEVICE_NPARAMS,
                     .params    = TpspmvDeviceParams,
                     .resolve   = TpspmvDeviceResolve,
                     .allows    = TpspmvDeviceAllows,
                     .build     = TpspmvStripsBuild,
                     .setvalues = TpspmvStripsSetValues,
                     .arrays    = TpspmvStripsArrays,
                     .describe  = TpspmvStripsDescribe,
                     .destroy   = TpspmvStripsDestroy},
  .source         = TpspmvSource,
  .load           = TpspmvDeviceLoad,
  .product        = TpspmvDeviceProduct,
  .convert_source = SpmvConvertSource,
  .convert        = TpspmvConvert,
  .sources        = TpspmvConvertSources,
};
