/*
  cmrs_device.c - CMRS on devices: knobs, the arrays from CSR's, the kernels that make a product

  The kernels are in cmrs.cl. A device adds the entries of a strip by their words alone. Strips by columns have places in local
  memory, which cost 2 HEIGHT accesses a strip and 2 for each group of 32 entries; all others have runs of rows, which cost
  neighbours some 3 exchanges and 2 accesses a group. So short rows are grouped and long ones are by columns.

  Source: as cmrs.c, section 4 for the defaults.
*/
#include "cmrs_device.h"

#define CMRS_LOCAL_BYTES    64   /* that a work item has of the places, by default: the paper's 8 doubles of a GTX 480, */
#define CMRS_HEIGHT_DEFAULT 12   /* and its 12 floats */
#define CMRS_SHORT          16   /* entries of a row, at most, for which runs cost less than places */
#define CMRS_PART_LEAST     1024 /* entries of a part by default, and more where strips have more and there are many */
#define CMRS_WARPS          64   /* that a processor should have */

static const PetscInt    CmrsWorkgroups[] = {128, 32, 64, 256, 512}; /* section 4: fewer than 128 do not read at full speed */
static const PetscInt    CmrsOrders[]     = {CMRS_AUTO, CMRS_COLUMNS, CMRS_GROUPED, CMRS_ROWS, CMRS_PADDED};
static const char *const CmrsOrderNames[] = {"auto", "columns", "grouped", "rows", "padded"};
static const PetscInt    CmrsAligns[]     = {0, CMRS_GROUP, CMRS_SECTOR, 1};
static const PetscInt    CmrsParts[]      = {0, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

static const SpmvParam CmrsDeviceParams[] = {
  [CMRS_DEVICE_HEIGHT] = CMRS_PARAM_HEIGHT,
  [CMRS_DEVICE_ORDER]  = SPMV_CHOICES("device_order",
                                      "of the entries in a strip: by column, the same and then 32 each by row, by row, padded; "
                                       "auto: grouped for up to 16 entries a row, else columns",
                                      CmrsOrders, CmrsOrderNames, SPMV_KNOB_LAYOUT),
  [CMRS_DEVICE_ALIGN] =
    SPMV_CHOICES("device_align",
                 "a strip is read from a multiple of so many entries; 0: 32 by columns and padded, for whole segments of memory, "
                 "else 8, whole sectors",
                 CmrsAligns, NULL, SPMV_KNOB_LAYOUT),
  [CMRS_DEVICE_PART] = SPMV_CHOICES(
    "device_part", "entries of a strip that 32 work items have, at most; others have the rest. 0: by rows and processors",
    CmrsParts, NULL, SPMV_KNOB_TILE),
  [CMRS_DEVICE_WORKGROUP] = SPMV_CHOICES("device_workgroup", "work items of a work group, of which 32 have a strip",
                                         CmrsWorkgroups, NULL, SPMV_KNOB_TILE),
};

/*
  Entries of a part, by default: twice those of an average strip, so that few are shared, but no more than leaves each processor
  its warps, and in any case enough to be worth the sums of rows that a part leaves behind
*/
static PetscInt CmrsDevicePart(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt height)
{
  const PetscInt strips = PetscMax(CmrsStrips(csr->m, height), 1), warps = CMRS_WARPS * (PetscInt)PetscMax(info->units, 1);
  PetscInt       part = CMRS_PART_LEAST;

  while (part < 16384 && part < 2 * (csr->i[csr->m] / strips) && 2 * part <= csr->i[csr->m] / warps) part *= 2;
  return part;
}

/* Whether rows are short: on average, where those that are not count as twice as long, so that a few do not speak for all */
static PetscBool CmrsRowsAreShort(const SpmvCSR *csr)
{
  PetscInt64 sum = 0;

  for (PetscInt r = 0; r < csr->m; r++) sum += PetscMin(csr->i[r + 1] - csr->i[r], 2 * CMRS_SHORT);
  return (PetscBool)(sum <= (PetscInt64)CMRS_SHORT * csr->m);
}

/* The heights by columns are the best of a GTX 480, not the lower ones of a K20M: newer GPUs have more local memory */
static PetscErrorCode CmrsDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *height = &plan->value[CMRS_DEVICE_HEIGHT], *order = &plan->value[CMRS_DEVICE_ORDER],
           *align = &plan->value[CMRS_DEVICE_ALIGN], *part = &plan->value[CMRS_DEVICE_PART];

  PetscFunctionBegin;
  if (*order == CMRS_AUTO) *order = CmrsRowsAreShort(csr) ? CMRS_GROUPED : CMRS_COLUMNS;
  if (!*height)
    *height =
      *order == CMRS_COLUMNS ? PetscMin(CMRS_HEIGHT_DEFAULT, CMRS_LOCAL_BYTES / (PetscInt)sizeof(PetscScalar)) : CMRS_HEIGHT_MAX;
  if (!*align) *align = *order == CMRS_COLUMNS || *order == CMRS_PADDED ? CMRS_GROUP : CMRS_SECTOR;
  if (!*part) *part = CmrsDevicePart(csr, info, *height);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of cmrs.cl's `buffer`: on an API whose warps are alone, or on others, which need more */
size_t CmrsDeviceBuffer(const PetscInt p[], PetscBool alone)
{
  const size_t group = (size_t)p[CMRS_DEVICE_WORKGROUP], height = (size_t)p[CMRS_DEVICE_HEIGHT];
  const size_t places = p[CMRS_DEVICE_ORDER] == CMRS_COLUMNS ? CMRS_GROUP * height : 4 * (height + (alone ? 0 : CMRS_GROUP));

  return group / CMRS_GROUP * places * sizeof(PetscScalar);
}

/* ... and of the arrays besides it */
static size_t CmrsDeviceLocal(const PetscInt p[])
{
  const size_t group = (size_t)p[CMRS_DEVICE_WORKGROUP];

  return group * sizeof(PetscScalar) + (p[CMRS_DEVICE_ORDER] == CMRS_COLUMNS ? 1 : 4 * group) * sizeof(int32_t);
}

static PetscErrorCode CmrsDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                       size_t size)
{
  const PetscInt  height = plan->value[CMRS_DEVICE_HEIGHT];
  const PetscBool padded = (PetscBool)(plan->value[CMRS_DEVICE_ORDER] == CMRS_PADDED);

  PetscFunctionBegin;
  if (padded && height != CMRS_HEIGHT_MAX) {
    PetscCall(SpmvAppend(why, size, "Strips of height %" PetscInt_FMT " cannot be padded; ", height));
    PetscCall(SpmvAppend(why, size, "set -mat_cmrs_height to 0 or %d, or -mat_cmrs_device_order to another than padded",
                         CMRS_HEIGHT_MAX));
  } else if (padded && plan->value[CMRS_DEVICE_ALIGN] != CMRS_GROUP) {
    PetscCall(SpmvAppend(why, size, "Padded strips begin at multiples of %d entries, not of %" PetscInt_FMT "; ", CMRS_GROUP,
                         plan->value[CMRS_DEVICE_ALIGN]));
    PetscCall(SpmvAppend(why, size, "set -mat_cmrs_device_align to 0 or %d, or -mat_cmrs_device_order to another than padded",
                         CMRS_GROUP));
  } else if (csr->m > INT32_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " rows are more than 32-bit integers count; ", csr->m));
    PetscCall(SpmvAppend(why, size, "use more processes or -mat_spmv_backend host"));
  }
  PetscCall(SpmvDeviceFits(info, (size_t)plan->value[CMRS_DEVICE_WORKGROUP], CmrsDeviceLocal(plan->value),
                           CmrsDeviceBuffer(plan->value, PETSC_FALSE), "cmrs", "-mat_cmrs_device_workgroup or -mat_cmrs_height",
                           why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceSetValues(const SpmvCSR *csr, void *storage)
{
  CmrsDeviceStorage *c = (CmrsDeviceStorage *)storage;

  PetscFunctionBegin;
  if (!c->position) memcpy(c->value, csr->a, (size_t)c->nz * sizeof(PetscScalar));
  for (PetscInt k = 0; c->position && k < c->nstored; k++) c->value[k] = c->position[k] < 0 ? 0 : csr->a[c->position[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  const PetscInt    *p = plan->value;
  CmrsDeviceStorage *c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  *storage    = c;
  c->m        = csr->m;
  c->nz       = csr->i[csr->m];
  c->height   = p[CMRS_DEVICE_HEIGHT];
  c->strips   = CmrsStrips(c->m, c->height);
  c->order    = (CmrsOrder)p[CMRS_DEVICE_ORDER];
  c->align    = p[CMRS_DEVICE_ALIGN];
  c->part     = p[CMRS_DEVICE_PART];
  c->wordsize = CmrsWordSize(csr);
  PetscCall(CmrsSetStrips(csr, c));
  PetscCall(CmrsSetParts(c));
  PetscCall(CmrsSetPositions(csr, c));
  PetscCall(SpmvAlloc((size_t)c->nstored * c->wordsize, &c->word));
  PetscCall(SpmvAlloc((size_t)c->nstored * sizeof(PetscScalar), &c->value));
  CmrsSetWords(csr, c);
  PetscCall(CmrsDeviceSetValues(csr, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CmrsDeviceStorage *c = (const CmrsDeviceStorage *)storage;
  PetscInt                 k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", c->value, (size_t)c->nstored, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("words", c->word, (size_t)c->nstored, c->wordsize);
  arrays[k++] = SPMV_ARRAY("strips", c->strip, (size_t)c->strips + 1, sizeof(PetscInt));
  if (c->items) arrays[k++] = SPMV_ARRAY("items", c->items, (size_t)(c->nstored / CMRS_GROUP), 1);
  if (c->nlongs) arrays[k++] = SPMV_ARRAY("parts", c->parts, c->nparts, sizeof(uint64_t));
  if (c->nlongs) arrays[k++] = SPMV_ARRAY("longs", c->longs, c->nlongs + 1, sizeof(uint64_t));
  if (c->position) arrays[k++] = SPMV_ARRAY("positions", c->position, (size_t)c->nstored, sizeof(PetscInt), .aside = PETSC_TRUE);
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const CmrsDeviceStorage *c       = (const CmrsDeviceStorage *)storage;
  const PetscInt           padding = c->nstored - c->nz;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0) {
    PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " strips of height %" PetscInt_FMT ", words of %d bits", c->strips,
                            c->height, (int)c->wordsize * 8));
    if (c->nlongs) PetscCall(SpmvAppend(line, size, "; %zu long ones in %zu parts", c->nlongs, c->nparts));
  } else if (k == 1 && c->items)
    PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " entries of padding: memory overhead %.1f %%", padding,
                            c->nz ? 100. * (double)padding / (double)c->nz : 0.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                        SpmvDeviceProduct *product)
{
  const CmrsDeviceStorage *c     = (const CmrsDeviceStorage *)storage;
  const size_t             group = (size_t)plan->value[CMRS_DEVICE_WORKGROUP], step = 4 * CMRS_GROUP; /* entries of cmrs.cl's */
  const size_t             buffer  = CmrsDeviceBuffer(plan->value, PETSC_TRUE);
  const size_t             combine = info->group < CMRS_COMBINE ? group : PetscMax(group, CMRS_COMBINE);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DHEIGHT=%" PetscInt_FMT " -DGROUP=%zu -DRUNS=%d -DPADDED=%d -DALIGN=%" PetscInt_FMT
                          " -DPART=%" PetscInt_FMT " -DCOMBINE=%zu -DWORD_BITS=%d",
                          c->height, group, (int)(c->order != CMRS_COLUMNS), (int)(c->order == CMRS_PADDED), c->align, c->part,
                          combine, (int)(8 * c->wordsize)));
  SPMV_LAUNCH(product, "cmrs_product", SpmvGroups((size_t)c->strips, group / CMRS_GROUP), group, PETSC_FALSE,
              SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("words"), SPMV_GIVE_ARRAY("strips"), SPMV_GIVE_ARRAY("items"),
              SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_INT(c->strips), SPMV_GIVE_INT(c->m),
              SPMV_GIVE_INT((PetscInt)SpmvGroups((size_t)c->longest, step)), SPMV_GIVE_BETA);
  SpmvDeviceLocal(product, buffer);
  if (!c->nlongs) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvDeviceWork(product, "partial", c->nparts * (size_t)c->height * sizeof(PetscScalar));
  SPMV_LAUNCH(product, "cmrs_parts", SpmvGroups(c->nparts, group / CMRS_GROUP), group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"),
              SPMV_GIVE_ARRAY("words"), SPMV_GIVE_ARRAY("parts"), SPMV_GIVE_ARRAY("items"), SPMV_GIVE_X,
              SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_INT((PetscInt)c->nparts), SPMV_GIVE_BETA);
  SpmvDeviceLocal(product, buffer);
  SpmvDeviceAlongside(product);
  SPMV_LAUNCH(product, "cmrs_combine", c->nlongs, combine, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_ARRAY("longs"),
              SPMV_GIVE_Y, SPMV_GIVE_INT(c->m), SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char CmrsSource[] =
#include "cmrs.cl.h"
  ;

const SpmvDeviceSide CmrsDevice = {
  .side    = {.nparams   = CMRS_DEVICE_NPARAMS,
              .params    = CmrsDeviceParams,
              .resolve   = CmrsDeviceResolve,
              .allows    = CmrsDeviceAllows,
              .build     = CmrsDeviceBuild,
              .setvalues = CmrsDeviceSetValues,
              .arrays    = CmrsDeviceArrays,
              .describe  = CmrsDeviceDescribe},
  .source  = CmrsSource,
  .load    = CmrsDeviceLoad,
  .product = CmrsDeviceProduct,
};
