/*
  pmf_device.c - the device side of pmf: its knobs, what a plan leaves open, which kernels make a product

  Source: as pmf.c; section 6. There a thread drives each GPU; here one device is a process's, and the thread that drives
  it is the one that calls for the product. We differ: with -mat_pmf_partition diagonal the paper has all blocks on GPUs
  and the rest on processors (test 2 of 7.2.2), both adding to the same rows; here each part of the rows has its blocks.
*/
#include "pmf_device.h"

static const PetscInt    PmfWorkgroups[] = {0, 128, 64, 256, 512, 32};
static const PetscInt    PmfHeights[]    = {0, 32, 1, 2, 4, 8, 16, 64, 128};
static const PetscInt    PmfLanes[]      = {0, 1, 2, 4, 8, 16, 32};
static const PetscInt    PmfLongs[]      = {256, 32, 64, 128, 512, 1024, 4096};
static const PetscInt    PmfParts[]      = {0, 1, 2, 3, 4};
static const char *const PmfPartNames[]  = {"all", "1", "2", "3", "4"};
static const PetscInt    PmfCuts[]       = {1, 0};
static const char *const PmfCutNames[]   = {"yes", "no"};

#define PMF_HELP_PARTS \
  "how many of the parts the device has, the first ones; host threads have the others at the same time. Without " \
  "-mat_pmf_powers the powers are measured at each build, so that who has a row, and its last bit, may change"
#define PMF_HELP_GROUP "work items of a work group; 0: 128, or fewer where rows are too few for all processors"
#define PMF_HELP_SLICE "rows of a slice, which are padded to its longest; 0: those that 32 work items have"
#define PMF_HELP_LANES "work items that share a row; 0: one, or more where rows are so few and long that a GPU has room for them"
#define PMF_HELP_CUT \
  "rows that the device's memory has no room for are left to threads of the host; no: the host has all rows then"

static const SpmvParam PmfDeviceParams[] = {
  PMF_COMMON_TABLE,
  [PMF_DEVICE_WORKGROUP] = SPMV_CHOICES("device_workgroup", PMF_HELP_GROUP, PmfWorkgroups, NULL, SPMV_KNOB_TILE),
  [PMF_DEVICE_SLICE]     = SPMV_CHOICES("device_slice", PMF_HELP_SLICE, PmfHeights, NULL, SPMV_KNOB_TILE),
  [PMF_DEVICE_LANES]     = SPMV_CHOICES("device_lanes", PMF_HELP_LANES, PmfLanes, NULL, SPMV_KNOB_TILE),
  [PMF_DEVICE_LONG] =
    SPMV_CHOICES("device_long", "entries of a row above which work groups share it", PmfLongs, NULL, SPMV_KNOB_TILE),
  [PMF_DEVICE_PARTS]   = SPMV_CHOICES("device_parts", PMF_HELP_PARTS, PmfParts, PmfPartNames),
  [PMF_DEVICE_CUT]     = SPMV_CHOICES("device_cut", PMF_HELP_CUT, PmfCuts, PmfCutNames),
  [PMF_DEVICE_CONVERT] = SPMV_CONVERT_PARAM,
};

#define PMF_STEP 32   /* work items that read side by side: a warp */
#define PMF_MOST 16   /* work items of a row that are chosen, at most: 32 have too little of what is read once for a row */
#define PMF_FULL 2048 /* work items that a processor of a GPU has at once: an NVIDIA's of compute capability 8.0 or 9.0 */

/* The rows that the device is meant to have, about: by the powers of its parts */
static PetscInt PmfDeviceRows(const SpmvCSR *csr, const SpmvPlan *plan)
{
  double sum[2] = {0, 0};

  if (!plan->value[PMF_DEVICE_PARTS]) return csr->m;
  for (PetscInt p = 0; p < plan->value[PMF_POWERS]; p++) sum[p < plan->value[PMF_DEVICE_PARTS]] += (double)plan->list[p];
  return (PetscInt)(csr->m * sum[1] / PetscMax(1, sum[0] + sum[1]));
}

/* Entries that a row which is not cut into chunks has, on average */
static PetscInt PmfMeanLength(const SpmvCSR *csr, PetscInt longest)
{
  PetscInt rows = 0, entries = 0;

  for (PetscInt r = 0; r < csr->m; r++) {
    const PetscInt length = csr->i[r + 1] - csr->i[r];

    rows += length <= longest;
    entries += length <= longest ? length : 0;
  }
  return entries / PetscMax(1, rows);
}

/*
  How work items share rows. One a row leaves a GPU of 132 processors half empty below 135,000 rows; several share them, until
  each has no more entries than it asks for at once. The cores of other devices run work items one after the other: there it is
  one
*/
static void PmfShareRows(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt      *p = plan->value, lanes = 1;
  const PetscInt rows = PmfDeviceRows(csr, plan), mean = PmfMeanLength(csr, plan->value[PMF_DEVICE_LONG]);
  const size_t   room = info->gpu ? info->units * PMF_FULL : 0;

  while (lanes < PMF_MOST && mean > 4 * lanes && (size_t)rows * (size_t)lanes < room) lanes *= 2;
  if (!p[PMF_DEVICE_LANES]) p[PMF_DEVICE_LANES] = lanes;
  lanes = p[PMF_DEVICE_LANES];
  if (!p[PMF_DEVICE_SLICE]) p[PMF_DEVICE_SLICE] = PMF_STEP / lanes;
  if (!p[PMF_DEVICE_WORKGROUP]) p[PMF_DEVICE_WORKGROUP] = SpmvDeviceGroup(info, (size_t)rows * (size_t)lanes, 128);
}

/* Parts whose powers are neither given nor measured are equal; the thread that drives the device has none */
static PetscErrorCode PmfDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *p = plan->value;

  PetscFunctionBegin;
  if (p[PMF_WINDOW] == PMF_WINDOW_AUTO) p[PMF_WINDOW] = PMF_WINDOW_ROWS;
  if (p[PMF_DEVICE_PARTS] && !p[PMF_POWERS]) {
    p[PMF_POWERS] = PetscMin(SPMV_LIST_MAX, p[PMF_DEVICE_PARTS] + PetscMax(1, plan->threads - 1));
    for (PetscInt k = 0; k < p[PMF_POWERS]; k++) plan->list[k] = 1;
  }
  if (p[PMF_DEVICE_PARTS] == p[PMF_POWERS]) p[PMF_DEVICE_PARTS] = 0;
  if (p[PMF_DEVICE_PARTS] <= p[PMF_POWERS]) PmfShareRows(csr, info, plan); /* PmfDeviceAllows() refuses others */
  if (p[PMF_DEVICE_CONVERT] == SPMV_CONVERT_AUTO && p[PMF_PARTITION] == PMF_BY_DIAGONAL)
    p[PMF_DEVICE_CONVERT] = SPMV_CONVERT_HOST;
  p[PMF_DEVICE_CONVERT] = SpmvConvertResolve(csr, info, p[PMF_DEVICE_CONVERT]);
  PetscCall(PmfCutToRoom(csr, info, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                      size_t size)
{
  const PetscInt parts = plan->value[PMF_DEVICE_PARTS], nparts = plan->value[PMF_POWERS];
  const size_t   group = (size_t)plan->value[PMF_DEVICE_WORKGROUP], lanes = (size_t)plan->value[PMF_DEVICE_LANES];

  PetscFunctionBegin;
  PetscCall(PmfCounts(csr, why, size));
  if (!why[0] && parts > nparts) {
    PetscCall(SpmvAppend(why, size, "A device cannot have %" PetscInt_FMT " of %" PetscInt_FMT " parts; ", parts, nparts));
    PetscCall(SpmvAppend(why, size, "set -mat_pmf_device_parts to fewer or give -mat_pmf_powers more values"));
  }
  if (!why[0] && plan->value[PMF_DEVICE_CONVERT] == SPMV_CONVERT_DEVICE && plan->value[PMF_PARTITION] == PMF_BY_DIAGONAL)
    PetscCall(SpmvAppend(why, size, "A device does not convert blocks on the diagonal; set -mat_pmf_device_convert host"));
  PetscCall(SpmvDeviceFits(info, group, (group + (lanes > 1 ? group / lanes : 0)) * sizeof(PetscScalar), 0, "pmf",
                           "-mat_pmf_device_workgroup", why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfDeviceBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  SPMV_DESTROY_BY(PmfOrderDestroy)
  PmfOrder order = PmfOrderOf(csr, plan->value, 1, NULL);

  PetscFunctionBegin;
  PetscCall(PmfOrderCreate(csr, &order));
  PetscCall(PmfEllLayOut(csr, &order, csr->m, plan->value, storage));
  if (!((PmfEll *)*storage)->converted) PetscCall(PmfEllFill(csr, &order, (PmfEll *)*storage));
  PetscCall(PmfEllSetValues(csr, *storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfDeviceDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const PmfEll *e        = (const PmfEll *)storage;
  const size_t  elements = e->slices.n + e->longs.n + e->diagonals.n;

  PetscFunctionBegin;
  line[0] = 0;
  if (k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size, "slices %" PetscInt_FMT " of %" PetscInt_FMT " rows and %" PetscInt_FMT " work items a row, ",
                       e->nslices, e->height, e->lanes));
  PetscCall(SpmvAppend(line, size, "fill %.2f %%, ", elements ? 100 - 100 * (double)e->nentries / (double)elements : 0.));
  PetscCall(SpmvAppend(line, size, "long rows %" PetscInt_FMT, e->nlong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                       SpmvDeviceProduct *product)
{
  const PmfEll       *e     = (const PmfEll *)storage;
  const size_t        group = (size_t)plan->value[PMF_DEVICE_WORKGROUP];
  const SpmvDeviceArg sums  = SPMV_GIVE_ARRAY("sums");

  PetscFunctionBegin;
  (void)info;
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(SpmvAppend(product->options, sizeof(product->options), "-DGROUP=%zu -DHEIGHT=%" PetscInt_FMT, group, e->height));
  PetscCall(SpmvAppend(product->options, sizeof(product->options), " -DLANES=%" PetscInt_FMT " -DBLOCK=%" PetscInt_FMT, e->lanes,
                       e->block));
  PetscCall(SpmvAppend(product->options, sizeof(product->options), " -DCHAINS=%d", PMF_CHAINS));
  SpmvDeviceWork(product, "sums", e->nchunks * sizeof(PetscScalar));
  if (e->block) {
    SPMV_LAUNCH(product, "pmf_diagonals", SpmvGroups((size_t)e->nrows, group), group, PETSC_FALSE,
                SPMV_GIVE_ARRAY("diagonal values"), SPMV_GIVE_ARRAY("diagonals"), SPMV_GIVE_ARRAY("offsets"),
                SPMV_GIVE_ARRAY("diagonal masks"), SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_INT(e->nrows), SPMV_GIVE_BETA);
  }
  SPMV_LAUNCH(product, "pmf_chunks", e->nchunks, group, PETSC_FALSE, SPMV_GIVE_ARRAY("long values"),
              SPMV_GIVE_ARRAY("long columns"), SPMV_GIVE_ARRAY("wide long columns"), SPMV_GIVE_ARRAY("chunks"),
              SPMV_GIVE_ARRAY("chunk sizes"), SPMV_GIVE_X, sums, SPMV_GIVE_Y, SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "pmf_slices", SpmvGroups((size_t)e->nsliced * (size_t)e->lanes, group), group, PETSC_FALSE,
              SPMV_GIVE_ARRAY("slice values"), SPMV_GIVE_ARRAY("slice columns"), SPMV_GIVE_ARRAY("wide slice columns"),
              SPMV_GIVE_ARRAY("slices"), SPMV_GIVE_ARRAY("lengths"), SPMV_GIVE_ARRAY("slice rows"), SPMV_GIVE_X, SPMV_GIVE_Y,
              SPMV_GIVE_INT(e->nsliced), SPMV_GIVE_BETA);
  SpmvDeviceAfter(product, "pmf_diagonals"); /* chunks and slices write other rows; with blocks both add to what diagonals made */
  SPMV_LAUNCH(product, "pmf_longs", SpmvGroups((size_t)e->nmany * PMF_CHAINS, group), group, PETSC_FALSE,
              SPMV_GIVE_ARRAY("long rows"), SPMV_GIVE_ARRAY("their chunks"), sums, SPMV_GIVE_Y, SPMV_GIVE_INT(e->nmany),
              SPMV_GIVE_BETA);
  SpmvDeviceAfter(product, "pmf_chunks");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char PmfSource[] =
#include "pmf.cl.h"
  ;

static const SpmvJointRows PmfJoint = {.parts = PMF_DEVICE_PARTS, .powers = PMF_POWERS, .split = PmfSplit};

const SpmvDeviceSide PmfDevice = {
  .side           = {.nparams   = PMF_DEVICE_PARAMS,
                     .params    = PmfDeviceParams,
                     .resolve   = PmfDeviceResolve,
                     .allows    = PmfDeviceAllows,
                     .build     = PmfDeviceBuild,
                     .setvalues = PmfEllSetValues,
                     .arrays    = PmfEllArrays,
                     .describe  = PmfDeviceDescribe},
  .source         = PmfSource,
  .load           = PmfDeviceLoad,
  .product        = PmfDeviceProduct,
  .convert_source = SpmvConvertSource,
  .convert        = PmfConvert,
  .sources        = PmfConvertSources,
  .joint          = &PmfJoint,
};
