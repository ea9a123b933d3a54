/*
  cmrs_device.c - CMRS on devices: knobs, the arrays from CSR's, the kernel that makes a product

  The kernel is in cmrs.cl. A device adds the entries of a strip by their words alone.

  Source: as cmrs.c, section 3 for strips and orders, section 4.4 for padding.
*/
#include "cmrs_device.h"

#define CMRS_LOCAL_BYTES    64 /* that a work item has of the buffer, by default: the paper's 8 doubles of a GTX 480, */
#define CMRS_HEIGHT_DEFAULT 12 /* and its 12 floats */

static const PetscInt    CmrsWorkgroups[] = {128, 32, 64, 256, 512}; /* section 4: fewer than 128 do not read at full speed */
static const PetscInt    CmrsOrders[]     = {CMRS_COLUMNS, CMRS_ROWS, CMRS_PADDED};
static const char *const CmrsOrderNames[] = {"columns", "rows", "padded"};
static const PetscInt    CmrsAligns[]     = {1, 0};

static const SpmvParam CmrsDeviceParams[] = {
  [CMRS_DEVICE_HEIGHT] = CMRS_PARAM_HEIGHT,
  [CMRS_DEVICE_ORDER]  = SPMV_CHOICES("device_order", "of the entries in a strip", CmrsOrders, CmrsOrderNames, SPMV_KNOB_LAYOUT),
  [CMRS_DEVICE_ALIGN] =
    SPMV_CHOICES("device_align", "1: a strip that is not padded is read from a multiple of 32 entries, 0: from its first entry",
                 CmrsAligns, NULL, SPMV_KNOB_LAYOUT),
  [CMRS_DEVICE_WORKGROUP] = SPMV_CHOICES("device_workgroup", "work items of a work group, of which 32 have a strip",
                                         CmrsWorkgroups, NULL, SPMV_KNOB_TILE),
};

/* The heights are the best of a GTX 480, not the lower ones of a K20M: newer GPUs have more local memory */
static PetscErrorCode CmrsDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *height = &plan->value[CMRS_DEVICE_HEIGHT];

  PetscFunctionBegin;
  if (*height) PetscFunctionReturn(PETSC_SUCCESS);
  if (plan->value[CMRS_DEVICE_ORDER] == CMRS_PADDED) *height = CMRS_HEIGHT_MAX;
  else *height = PetscMin(CMRS_HEIGHT_DEFAULT, CMRS_LOCAL_BYTES / (PetscInt)sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                       size_t size)
{
  const PetscInt  height = plan->value[CMRS_DEVICE_HEIGHT];
  const PetscBool padded = (PetscBool)(plan->value[CMRS_DEVICE_ORDER] == CMRS_PADDED);
  const size_t    group = (size_t)plan->value[CMRS_DEVICE_WORKGROUP], lanes = padded ? CMRS_MODULO : CMRS_GROUP;
  const size_t    local = group / CMRS_GROUP * lanes * (size_t)(height | 1) * sizeof(PetscScalar);

  PetscFunctionBegin;
  if (padded && height != CMRS_HEIGHT_MAX) {
    PetscCall(SpmvAppend(why, size, "Strips of height %" PetscInt_FMT " cannot be padded; ", height));
    PetscCall(SpmvAppend(why, size, "set -mat_cmrs_height to 0 or %d, or -mat_cmrs_device_order to another than padded",
                         CMRS_HEIGHT_MAX));
  } else if (csr->m > INT32_MAX) {
    PetscCall(SpmvAppend(why, size, "%" PetscInt_FMT " rows are more than 32-bit integers count; ", csr->m));
    PetscCall(SpmvAppend(why, size, "use more processes or -mat_spmv_backend host"));
  }
  PetscCall(SpmvDeviceFits(info, group, local, "cmrs", "-mat_cmrs_device_workgroup or -mat_cmrs_height", why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The entries of a strip in groups of CMRS_GROUP with at most CMRS_MODULO of a row, those together. Returns the number of
  groups; and, unless they are NULL, position, [groups CMRS_GROUP] the entry of CSR at each place, -1 for padding, and
  items, [groups] entries of each group, which come before its padding.

  Each group takes from the rows that have most left, which is why there are as few as can be: the larger of
  entries / CMRS_GROUP and of the longest row / CMRS_MODULO, rounded up.
*/
static PetscInt CmrsPadStrip(const SpmvCSR *csr, PetscInt s, PetscInt position[], uint8_t items[])
{
  const PetscInt *i = csr->i + s * CMRS_HEIGHT_MAX, rows = CmrsStripRows(csr->m, CMRS_HEIGHT_MAX, s);
  PetscInt        next[CMRS_HEIGHT_MAX], left = i[rows] - i[0], groups = 0;

  for (PetscInt r = 0; r < rows; r++) next[r] = i[r];
  for (; left > 0; groups++) {
    PetscInt room  = CMRS_GROUP;
    unsigned taken = 0;

    while (room > 0) {
      PetscInt most = 0, row = 0, n;

      for (PetscInt r = 0; r < rows; r++) {
        if (taken >> r & 1 || i[r + 1] - next[r] <= most) continue;
        most = i[r + 1] - next[r];
        row  = r;
      }
      n = PetscMin(PetscMin(most, CMRS_MODULO), room);
      if (!n) break;
      for (PetscInt k = 0; position && k < n; k++) position[groups * CMRS_GROUP + CMRS_GROUP - room + k] = next[row] + k;
      taken |= 1U << row;
      next[row] += n;
      room -= n;
      left -= n;
    }
    for (PetscInt k = CMRS_GROUP - room; position && k < CMRS_GROUP; k++) position[groups * CMRS_GROUP + k] = -1;
    if (items) items[groups] = (uint8_t)(CMRS_GROUP - room);
  }
  return groups;
}

/* The positions of the entries of strip s by columns, then by rows: from its rows, which are sorted, always the least column */
static void CmrsSortStrip(const SpmvCSR *csr, CmrsDeviceStorage *c, PetscInt s)
{
  const PetscInt *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);
  PetscInt        next[CMRS_HEIGHT_MAX], column[CMRS_HEIGHT_MAX];

  for (PetscInt r = 0; r < rows; r++) {
    next[r]   = i[r];
    column[r] = i[r] < i[r + 1] ? csr->j[i[r]] : PETSC_MAX_INT;
  }
  for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
    PetscInt row = 0;

    for (PetscInt r = 1; r < rows; r++) row = column[r] < column[row] ? r : row;
    c->position[k] = next[row]++;
    column[row]    = next[row] < i[row + 1] ? csr->j[next[row]] : PETSC_MAX_INT;
  }
}

/* The words; padding repeats the one before it, which its row has */
static void CmrsSetWords(const SpmvCSR *csr, CmrsDeviceStorage *c)
{
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt *i    = csr->i + s * c->height;
    PetscInt        from = 0, row = 0;

    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
      if (!c->position || c->position[k] >= 0) {
        from = c->position ? c->position[k] : k;
        for (row = 0; i[row + 1] <= from;) row++;
      }
      CmrsSetWord(c->wordsize, c->word, k, csr->j[from], row);
    }
  }
}

/* The first entry of each strip, and how many there are, padding included */
static PetscErrorCode CmrsSetStrips(const SpmvCSR *csr, CmrsDeviceStorage *c)
{
  PetscInt64 stored = 0;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(((size_t)c->strips + 1) * sizeof(PetscInt), &c->strip));
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);

    c->strip[s] = (PetscInt)stored;
    stored += c->order == CMRS_PADDED ? (PetscInt64)CmrsPadStrip(csr, s, NULL, NULL) * CMRS_GROUP : i[rows] - i[0];
    PetscCheck(stored <= (PetscInt64)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%lld entries with padding are more than this PETSc's integers count; "
               "set -mat_cmrs_device_order to another than padded",
               (long long)stored);
  }
  c->nstored = c->strip[c->strips] = (PetscInt)stored;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the entries */
static PetscErrorCode CmrsSetPositions(const SpmvCSR *csr, CmrsDeviceStorage *c)
{
  PetscFunctionBegin;
  if (c->order == CMRS_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)c->nstored * sizeof(PetscInt), &c->position));
  if (c->order == CMRS_PADDED) PetscCall(SpmvAlloc((size_t)(c->nstored / CMRS_GROUP), &c->items));
  for (PetscInt s = 0; s < c->strips; s++) {
    if (c->order == CMRS_COLUMNS) CmrsSortStrip(csr, c, s);
    else (void)CmrsPadStrip(csr, s, c->position + c->strip[s], c->items + c->strip[s] / CMRS_GROUP);
  }
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
  c->wordsize = CmrsWordSize(csr);
  PetscCall(CmrsSetStrips(csr, c));
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
  if (k == 0)
    PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " strips of height %" PetscInt_FMT ", words of %d bits", c->strips,
                            c->height, (int)c->wordsize * 8));
  else if (k == 1 && c->items)
    PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " entries of padding: memory overhead %.1f %%", padding,
                            c->nz ? 100. * (double)padding / (double)c->nz : 0.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                        SpmvDeviceProduct *product)
{
  const CmrsDeviceStorage *c      = (const CmrsDeviceStorage *)storage;
  const PetscInt          *p      = plan->value;
  const PetscBool          padded = (PetscBool)(c->order == CMRS_PADDED);
  const size_t             group  = (size_t)p[CMRS_DEVICE_WORKGROUP];
  PetscInt                 most   = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; padded && s < c->strips; s++) most = PetscMax(most, (c->strip[s + 1] - c->strip[s]) / CMRS_GROUP);
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DHEIGHT=%" PetscInt_FMT " -DGROUP=%zu -DPADDED=%d -DALIGN=%d -DWORD_BITS=%d", c->height, group,
                          (int)padded, (int)(!padded && p[CMRS_DEVICE_ALIGN]), (int)(8 * c->wordsize)));
  SPMV_LAUNCH(product, "cmrs_product", SpmvGroups((size_t)c->strips, group / CMRS_GROUP), group, PETSC_FALSE,
              SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("words"), SPMV_GIVE_ARRAY("strips"), SPMV_GIVE_ARRAY("items"),
              SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_INT(c->strips), SPMV_GIVE_INT(c->m), SPMV_GIVE_INT(most), SPMV_GIVE_BETA);
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
