/*
  pmf_ell.c - the arrays of a device's storage

  Source: as pmf.c; section 5.3: on a device rows of about the same length belong together, as a warp takes as long as its
  longest row. A slice is a warp's (-mat_pmf_device_slice), not all of a part.
*/
#include "pmf_device.h"

#define PMF_ELL_ALIGN 16 /* entries: chunks begin at multiples, so that a work group reads whole lines */

/*
  Gives a strip its place among columns of so many elements a step: as many steps as it has, from column low to high. False: they
  take 32 bits
*/
static void PmfStripColumns(PetscInt low, PetscInt high, uint32_t steps, size_t element, PmfStrip *strip, PmfColumns *c)
{
  const PetscBool narrow = (PetscBool)(high - low <= UINT16_MAX);
  size_t         *n      = narrow ? &c->nnarrow : &c->nwide;

  strip->column = (uint32_t)(*n / element);
  strip->base   = (int32_t)(narrow ? low : -1 - low);
  *n += steps * element;
}

static PetscErrorCode PmfColumnsCreate(PmfColumns *c)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc(c->nnarrow * sizeof(uint16_t), &c->narrow));
  PetscCall(SpmvAlloc(c->nwide * sizeof(int32_t), &c->wide));
  memset(c->narrow, 0, c->nnarrow * sizeof(uint16_t));
  memset(c->wide, 0, c->nwide * sizeof(int32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column number k of those of a strip */
static inline void PmfColumnSet(const PmfStrip *strip, size_t element, size_t k, PetscInt column, PmfColumns *c)
{
  const size_t place = strip->column * element + k;

  if (strip->base >= 0) c->narrow[place] = (uint16_t)(column - strip->base);
  else c->wide[place] = (int32_t)(column - (-1 - strip->base));
}

/* The rows at places [0, end) of the order: those of slices, and from the end on the long ones */
static PetscErrorCode PmfEllRows(const PmfOrder *order, PetscInt end, PetscInt longest, PmfEll *e)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc((size_t)end * sizeof(int32_t), &e->row));
  PetscCall(SpmvAlloc((size_t)end * sizeof(uint16_t), &e->length));
  PetscCall(SpmvAlloc((size_t)end * sizeof(int32_t), &e->start));
  for (PetscInt p = 0; p < end; p++) {
    const PetscInt length = PmfLength(&order->rest, order, order->row[p]);

    if (length > longest) {
      e->row[end - ++e->nlong] = order->row[p];
      e->nchunks += SpmvGroups((size_t)length, PMF_ELL_CHUNK);
      e->nmany += length > PMF_ELL_CHUNK;
    } else if (length || !e->block) { /* what blocks have written to an empty row stays */
      e->length[e->nsliced] = (uint16_t)length;
      e->start[e->nsliced]  = (int32_t)order->rest.i[order->row[p]];
      e->row[e->nsliced++]  = order->row[p];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The chunks of long rows */
static PetscErrorCode PmfEllChunks(const SpmvCSR *rest, PmfEll *e)
{
  size_t   n    = 0;
  PetscInt many = 0;

  PetscFunctionBegin;
  if (!e->nlong) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc(e->nchunks * sizeof(PmfStrip), &e->chunk));
  PetscCall(SpmvAlloc(e->nchunks * sizeof(int32_t), &e->size));
  PetscCall(SpmvAlloc(e->nchunks * sizeof(int32_t), &e->begin));
  PetscCall(SpmvAlloc((size_t)e->nmany * sizeof(int32_t), &e->manyrow));
  PetscCall(SpmvAlloc((size_t)(2 * e->nmany) * sizeof(int32_t), &e->many));
  for (PetscInt l = 0; l < e->nlong; l++) {
    const PetscInt  row = e->row[e->nrows - 1 - l], end = rest->i[row + 1];
    const PetscBool alone = (PetscBool)(end - rest->i[row] <= PMF_ELL_CHUNK);

    if (!alone) e->manyrow[many / 2] = (int32_t)row;
    if (!alone) e->many[many++] = (int32_t)n;
    for (PetscInt k = rest->i[row]; k < end; k += PMF_ELL_CHUNK, n++) {
      const PetscInt last  = PetscMin(end, k + PMF_ELL_CHUNK) - 1;
      const uint32_t steps = (uint32_t)SpmvGroups((size_t)(last + 1 - k), PMF_ELL_ALIGN);

      e->size[n]  = (int32_t)(last + 1 - k);
      e->begin[n] = (int32_t)k;
      e->chunk[n] = (PmfStrip){.first = (uint32_t)e->longs.n, .target = alone ? (int32_t)row : -1};
      PmfStripColumns(rest->j[k], rest->j[last], steps * PMF_ELL_ALIGN, 1, &e->chunk[n], &e->longcolumns);
      e->longs.n += steps * PMF_ELL_ALIGN;
    }
    if (!alone) e->many[many++] = (int32_t)n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Elements of a step of all slices */
static inline size_t PmfEllStep(const PmfEll *e)
{
  return (size_t)e->height * (size_t)e->lanes;
}

/* How many steps each slice has, and its columns */
static PetscErrorCode PmfEllSlices(const SpmvCSR *rest, PmfEll *e)
{
  uint32_t steps = 0;

  PetscFunctionBegin;
  e->nslices = (PetscInt)SpmvGroups((size_t)e->nsliced, (size_t)e->height);
  PetscCall(SpmvAlloc((size_t)e->nslices * sizeof(PmfStrip), &e->slice));
  for (PetscInt s = 0; s < e->nslices; s++) {
    PetscInt longest = 0, least = PETSC_MAX_INT, low = PETSC_MAX_INT, high = 0;
    uint32_t width;

    for (PetscInt k = s * e->height, l = 0; k < e->nsliced && l < e->height; k++, l++) {
      const PetscInt first = e->start[k];

      least = PetscMin(least, e->length[k] / e->lanes);
      if (!e->length[k]) continue;
      longest = PetscMax(longest, e->length[k]);
      low     = PetscMin(low, rest->j[first]);
      high    = PetscMax(high, rest->j[first + e->length[k] - 1]);
    }
    width       = (uint32_t)SpmvGroups((size_t)longest, (size_t)e->lanes);
    e->slice[s] = (PmfStrip){.first = steps, .target = (int32_t)least};
    PmfStripColumns(width ? low : 0, high, width, PmfEllStep(e), &e->slice[s], &e->columns);
    steps += width;
  }
  e->slices.n = PmfEllStep(e) * steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of each block */
static PetscErrorCode PmfEllBlocks(const SpmvCSR *csr, PmfEll *e)
{
  PetscFunctionBegin;
  e->nblocks = (PetscInt)SpmvGroups((size_t)e->nrows, (size_t)e->block);
  PetscCall(SpmvAlloc((size_t)(e->nblocks + 1) * sizeof(uint32_t), &e->diagonal));
  e->diagonal[0] = 0;
  for (PetscInt k = 0; k < e->nblocks; k++) {
    const PetscInt first = k * e->block, rows = PetscMin(e->block, e->nrows - first);

    e->diagonal[k + 1] = e->diagonal[k] + (uint32_t)__builtin_popcountll(PmfDiagonals(csr, e->block, first, rows));
  }
  e->diagonals.n = (size_t)e->block * e->diagonal[e->nblocks];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A storage of the rows at places [0, end) of an order, with PMF_BY_DIAGONAL the first ones of the matrix: sizes, and all arrays
  but those of entries; p: the knobs
*/
PetscErrorCode PmfEllLayOut(const SpmvCSR *csr, const PmfOrder *order, PetscInt end, const PetscInt p[], void **storage)
{
  PmfEll *e;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  *storage = e;
  *e       = (PmfEll){.nentries  = csr->i[csr->m],
                      .nrows     = end,
                      .height    = p[PMF_DEVICE_SLICE],
                      .lanes     = p[PMF_DEVICE_LANES],
                      .block     = order->block,
                      .converted = (PetscBool)(p[PMF_DEVICE_CONVERT] == SPMV_CONVERT_DEVICE)};
  PetscCall(PmfEllRows(order, end, p[PMF_DEVICE_LONG], e));
  PetscCall(PmfEllChunks(&order->rest, e));
  PetscCall(PmfEllSlices(&order->rest, e));
  if (e->block) PetscCall(PmfEllBlocks(csr, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The entries of a lane of row k of those in slices: entry n of the row is of step n / lanes and lane n % lanes. In a step `side`
  rows lie side by side, lane after lane, so that 32 work items have them, and then the next ones
*/
typedef struct {
  size_t first, place, count; /* number in CSR, or in the rest; place in the slice; how many */
} PmfLane;
static inline PmfLane PmfLaneOf(const PmfEll *e, size_t k, size_t lane)
{
  const size_t lanes = (size_t)e->lanes, side = PetscMin((size_t)e->height, 32 / lanes), row = k % (size_t)e->height;

  return (PmfLane){.first = (size_t)e->start[k] + lane,
                   .place = row / side * side * lanes + row % side + lane * side,
                   .count = (e->length[k] + lanes - 1 - lane) / lanes};
}

/* The columns of all rows in slices */
static void PmfEllFillSlices(const SpmvCSR *rest, PmfEll *e)
{
  const size_t lanes = (size_t)e->lanes, step = PmfEllStep(e);

  for (size_t k = 0; k < (size_t)e->nsliced; k++) {
    const PmfStrip *slice = &e->slice[k / (size_t)e->height];

    for (size_t l = 0; l < lanes; l++) {
      const PmfLane lane = PmfLaneOf(e, k, l);

      for (size_t n = 0; n < lane.count; n++)
        PmfColumnSet(slice, step, lane.place + n * step, rest->j[lane.first + n * lanes], &e->columns);
    }
  }
}

/* The columns of long rows */
static void PmfEllFillChunks(const SpmvCSR *rest, PmfEll *e)
{
  for (size_t c = 0; c < e->nchunks; c++) {
    for (size_t k = 0; k < (size_t)e->size[c]; k++)
      PmfColumnSet(&e->chunk[c], 1, k, rest->j[(size_t)e->begin[c] + k], &e->longcolumns);
  }
}

/* The diagonals of blocks: which rows have entries on each, and which these are */
static PetscErrorCode PmfEllFillBlocks(const SpmvCSR *csr, PmfEll *e)
{
  const size_t n = e->diagonal[e->nblocks];

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(n * sizeof(int32_t), &e->offset));
  PetscCall(SpmvAlloc(n * sizeof(uint32_t), &e->mask));
  PetscCall(SpmvAlloc(e->diagonals.n * sizeof(uint32_t), &e->from));
  PetscCall(SpmvAlloc(e->diagonals.n * sizeof(PetscScalar), &e->diagonals.value));
  memset(e->from, 0xff, e->diagonals.n * sizeof(uint32_t));
  for (PetscInt k = 0; k < e->nblocks; k++) {
    const uint32_t d = e->diagonal[k];

    PmfDiagonalsFill(csr, e->block, k * e->block, PetscMin(e->block, e->nrows - k * e->block), (size_t)e->block, e->offset + d,
                     e->mask + d, e->from + d * (size_t)e->block);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of entries, but for what they hold of values. What the order has for new values becomes the storage's */
PetscErrorCode PmfEllFill(const SpmvCSR *csr, PmfOrder *order, PmfEll *e)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc(e->slices.n * sizeof(PetscScalar), &e->slices.value));
  PetscCall(PmfColumnsCreate(&e->columns));
  PmfEllFillSlices(&order->rest, e);
  if (e->nlong) {
    PetscCall(SpmvAlloc(e->longs.n * sizeof(PetscScalar), &e->longs.value));
    PetscCall(PmfColumnsCreate(&e->longcolumns));
    PmfEllFillChunks(&order->rest, e);
  }
  if (!e->block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PmfEllFillBlocks(csr, e));
  e->nrest    = order->rest.i[csr->m];
  e->rest     = order->from;
  order->from = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of an entry of the rest */
static inline PetscScalar PmfValueOf(const SpmvCSR *csr, const PmfEll *e, size_t entry)
{
  return csr->a[e->rest ? e->rest[entry] : entry];
}

/* The values of all rows in slices, and 0 elsewhere: slice after slice, which the first cache has meanwhile */
static void PmfEllSetSlices(const SpmvCSR *csr, PmfEll *e)
{
  const size_t lanes = (size_t)e->lanes, height = (size_t)e->height, step = PmfEllStep(e);

  for (size_t s = 0; s < (size_t)e->nslices; s++) {
    const size_t first = e->slice[s].first * step, end = s + 1 < (size_t)e->nslices ? e->slice[s + 1].first * step : e->slices.n;
    PetscScalar *value = e->slices.value + first;

    memset(value, 0, (end - first) * sizeof(PetscScalar));
    for (size_t k = s * height; k < PetscMin((s + 1) * height, (size_t)e->nsliced); k++) {
      for (size_t l = 0; l < lanes; l++) {
        const PmfLane lane = PmfLaneOf(e, k, l);

        for (size_t n = 0; n < lane.count; n++) value[lane.place + n * step] = PmfValueOf(csr, e, lane.first + n * lanes);
      }
    }
  }
}

PetscErrorCode PmfEllSetValues(const SpmvCSR *csr, void *storage)
{
  PmfEll *e = (PmfEll *)storage;

  PetscFunctionBegin;
  if (e->converted) {
    e->csr = *csr; /* to be sent */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PmfEllSetSlices(csr, e);
  if (e->nlong) memset(e->longs.value, 0, e->longs.n * sizeof(PetscScalar));
  for (size_t c = 0; c < e->nchunks; c++) {
    PetscScalar *value = e->longs.value + e->chunk[c].first;

    for (size_t k = 0; k < (size_t)e->size[c]; k++) value[k] = PmfValueOf(csr, e, (size_t)e->begin[c] + k);
  }
  for (size_t k = 0; k < e->diagonals.n; k++) e->diagonals.value[k] = e->from[k] == UINT32_MAX ? 0 : csr->a[e->from[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfEllArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const PmfEll *e = (const PmfEll *)storage;
  const size_t  n = e->block ? e->diagonals.n / (size_t)e->block : 0;
  PetscInt      k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("slice values", e->slices.value, e->slices.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("slice columns", e->columns.narrow, e->columns.nnarrow, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("wide slice columns", e->columns.wide, e->columns.nwide, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("slices", e->slice, (size_t)e->nslices, sizeof(PmfStrip));
  arrays[k++] = SPMV_ARRAY("lengths", e->length, (size_t)e->nsliced, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("slice rows", e->row, (size_t)e->nsliced, sizeof(int32_t));
  arrays[k++] =
    SPMV_ARRAY("slice starts", e->start, (size_t)e->nsliced, sizeof(int32_t), .aside = PETSC_TRUE, .sent = e->converted);
  if (e->nlong) {
    arrays[k++] = SPMV_ARRAY("long values", e->longs.value, e->longs.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("long columns", e->longcolumns.narrow, e->longcolumns.nnarrow, sizeof(uint16_t));
    arrays[k++] = SPMV_ARRAY("wide long columns", e->longcolumns.wide, e->longcolumns.nwide, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("chunks", e->chunk, e->nchunks, sizeof(PmfStrip));
    arrays[k++] = SPMV_ARRAY("chunk sizes", e->size, e->nchunks, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("long rows", e->manyrow, (size_t)e->nmany, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("their chunks", e->many, 2 * (size_t)e->nmany, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("chunk starts", e->begin, e->nchunks, sizeof(int32_t), .aside = PETSC_TRUE, .sent = e->converted);
  }
  if (e->block) {
    arrays[k++] = SPMV_ARRAY("diagonal values", e->diagonals.value, e->diagonals.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("diagonals", e->diagonal, (size_t)e->nblocks + 1, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("offsets", e->offset, n, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("diagonal masks", e->mask, n, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("from diagonals", e->from, e->diagonals.n, sizeof(uint32_t), .aside = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("from rest", e->rest, (size_t)e->nrest, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a device makes of a storage: slices, and chunks, which are strips of one row of PMF_ELL_ALIGN lanes */
PetscErrorCode PmfConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product)
{
  const PmfEll          *e      = (const PmfEll *)storage;
  const SpmvDeviceStrips slices = {.values  = "slice values",
                                   .narrow  = "slice columns",
                                   .wide    = "wide slice columns",
                                   .strips  = "slices",
                                   .lengths = "lengths",
                                   .starts  = "slice starts",
                                   .length  = sizeof(uint16_t),
                                   .nstrips = e->nslices,
                                   .nrows   = e->nsliced,
                                   .height  = e->height,
                                   .lanes   = e->lanes,
                                   .unit    = e->height * e->lanes,
                                   .end     = e->slices.n / PmfEllStep(e)};
  const SpmvDeviceStrips chunks = {.values  = "long values",
                                   .narrow  = "long columns",
                                   .wide    = "wide long columns",
                                   .strips  = "chunks",
                                   .lengths = "chunk sizes",
                                   .starts  = "chunk starts",
                                   .length  = sizeof(int32_t),
                                   .nstrips = (PetscInt)e->nchunks,
                                   .nrows   = (PetscInt)e->nchunks,
                                   .height  = 1,
                                   .lanes   = PMF_ELL_ALIGN,
                                   .unit    = 1,
                                   .end     = e->longs.n};

  PetscFunctionBegin;
  if (!e->converted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvConvertStrips(&slices, values_only, product));
  PetscCall(SpmvConvertStrips(&chunks, values_only, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfConvertSources(const void *storage, PetscInt *n, SpmvArray sources[])
{
  PetscFunctionBegin;
  *n = 0;
  SpmvConvertSources(&((const PmfEll *)storage)->csr, n, sources);
  PetscFunctionReturn(PETSC_SUCCESS);
}
