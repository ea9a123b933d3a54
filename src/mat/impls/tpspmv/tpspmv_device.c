/*
  tpspmv_device.c - the device side of tpspmv: its knobs, what a plan leaves open, which kernels make a product

  The kernels are in tpspmv.cl, what they read is in tpspmv_steps.h.
*/
#include "tpspmv.h"

static const PetscInt    TpspmvWorkgroups[] = {128, 64, 256, 512, 32};
static const PetscInt    TpspmvStages[]     = {TPSPMV_AUTO, TPSPMV_NO, TPSPMV_YES};
static const char *const TpspmvStageNames[] = {"auto", "no", "yes"};

static const SpmvParam TpspmvDeviceParams[] = {
  [TPSPMV_DEVICE_WORKGROUP] = SPMV_CHOICES("workgroup", "work items of a work group", TpspmvWorkgroups, NULL),
  [TPSPMV_DEVICE_STAGE]     = SPMV_CHOICES("stage", "the x of a tile is loaded to local memory by each work group, auto: where it takes half of that at most and the work group has as many entries; no: the cache is counted on; yes makes tiles that fit 32 KiB if -mat_tpspmv_tile is 0", TpspmvStages, TpspmvStageNames),
};

#define TPSPMV_STAGED ((size_t)32 << 10) /* bytes of local memory for the x of a tile */
#define TPSPMV_L2     (32 << 10)         /* KiB of a GPU's second cache, which all work groups share: an A100 has 40 MiB, an H100 50. No GPU has seen it */
#define TPSPMV_ROWS   512                /* rows of a slice, at least. A guess, as is what follows */
#define TPSPMV_WANTED 4096               /* entries that a chunk of several tiles should have */

/*
  TpspmvDeviceResolve - what a plan for a device leaves open, but for tiles and slices

  Input/Output Parameter:
. plan - with backend device; the cache is replaced, and with staging and one x that does not fit it the tile
*/
void TpspmvDeviceResolve(SpmvPlan *plan)
{
  PetscInt *p = plan->value, *d = plan->device;

  if (!d[TPSPMV_DEVICE_WORKGROUP]) d[TPSPMV_DEVICE_WORKGROUP] = TpspmvWorkgroups[0]; /* a plan that was never given device knobs */
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = TPSPMV_L2;
  if (p[TPSPMV_TILE] || d[TPSPMV_DEVICE_STAGE] != TPSPMV_YES) return;
  p[TPSPMV_TILE] = 16;
  while ((size_t)p[TPSPMV_TILE] * 2 * sizeof(PetscScalar) <= TPSPMV_STAGED) p[TPSPMV_TILE] *= 2;
}

/* Rows of a slice, by what a chunk is to have */
PetscInt TpspmvDeviceSlice(const SpmvCSR *csr, PetscInt ntiles)
{
  const double wanted = (double)TPSPMV_WANTED * ntiles * csr->m / PetscMax(1, csr->i[csr->m]);
  PetscInt     height = TPSPMV_ROWS;

  while (ntiles > 1 && height < wanted && height < UINT16_MAX) height *= 2;
  return height;
}

/*
  Scalars of local memory for the x of a tile, in steps of 256, so that not every matrix has kernels of its own; 0: not staged.
  Nobody having asked for it, it takes half of what a work group may have: one that fills a processor leaves none to work while it loads
*/
static PetscErrorCode TpspmvStage(const TpspmvStorage *b, const PetscInt d[], const SpmvDeviceInfo *info, size_t *stage)
{
  const TpspmvSteps *s     = &b->steps;
  const size_t       width = ((size_t)s->widest + 255) / 256 * 256, bytes = width * sizeof(PetscScalar);

  PetscFunctionBegin;
  *stage = 0;
  if (d[TPSPMV_DEVICE_STAGE] == TPSPMV_NO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(d[TPSPMV_DEVICE_STAGE] == TPSPMV_AUTO || bytes <= info->local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The x of a tile of %" PetscInt_FMT " columns takes %zu bytes of local memory, which are more than the %zu of %s; set -mat_tpspmv_tile to less, or -mat_tpspmv_device_stage no", s->widest, bytes, info->local, info->name);
  if (d[TPSPMV_DEVICE_STAGE] == TPSPMV_YES || (bytes <= info->local / 2 && b->nentries >= (size_t)s->widest * s->nchunks)) *stage = width;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product)
{
  const TpspmvStorage *b     = (const TpspmvStorage *)storage;
  const TpspmvSteps   *s     = &b->steps;
  const PetscInt      *d     = plan->device;
  const size_t         group = (size_t)d[TPSPMV_DEVICE_WORKGROUP];
  const SpmvDeviceArg  x     = b->removed ? SPMV_GIVE_ARRAY("packed") : SPMV_GIVE_X;
  size_t               stage;

  PetscFunctionBegin;
  PetscCheck(group <= info->group, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu work items a work group are more than the %zu of %s; set -mat_tpspmv_device_workgroup to fewer", group, info->group, info->name);
  PetscCall(TpspmvStage(b, d, info, &stage));
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options), "-DGROUP=%zu -DSTAGE=%zu -DDIRECT=%d -DNARROW=%d -DREMOVED=%d -DCLEAR=%zu", group, stage, TpspmvIsDirect(b), (int)b->narrow, (int)b->removed, group));
  if (s->npartial) {
    SpmvDeviceWork(product, "partial", s->npartial * sizeof(PetscScalar));
  }
  if (b->removed) {
    SpmvDeviceWork(product, "packed", (size_t)b->nused * sizeof(PetscScalar));
    SPMV_LAUNCH(product, "tpspmv_pack", SpmvGroups((size_t)b->nused, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("columns left"), SPMV_GIVE_X, SPMV_GIVE_ARRAY("packed"), SPMV_GIVE_INT(b->nused));
  }
  if (TpspmvIsDirect(b) && s->nonempty < b->m) {
    SPMV_LAUNCH(product, "spmv_clear", SpmvGroups((size_t)b->m, group), group, PETSC_TRUE, SPMV_GIVE_Y, SPMV_GIVE_INT(b->m));
    SpmvDeviceAlongside(product);
  }
  SPMV_LAUNCH(product, "tpspmv_first", s->nchunks, group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("chunks"), SPMV_GIVE_ARRAY("steps"), SPMV_GIVE_ARRAY("targets"), x, SPMV_GIVE_Y, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "tpspmv_second", SpmvGroups(s->nsums, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("rows of sums"), SPMV_GIVE_ARRAY("firsts"), SPMV_GIVE_ARRAY("places"), SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_Y, SPMV_GIVE_INT((PetscInt)s->nsums), SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char TpspmvSource[] =
#include "tpspmv.cl.h"
  ;

const SpmvDeviceFormat TpspmvDevice = {
  .source  = TpspmvSource,
  .nparams = TPSPMV_DEVICE_NPARAMS,
  .params  = TpspmvDeviceParams,
  .product = TpspmvDeviceProduct,
};
