/*
  bccoo_build.c - the pattern of a BCCOO storage, from CSR's: blocks, their columns, their row stops
*/
#include "bccoo_scan.h"
#include "../../../host/machine.h"

/* Replaces what a plan leaves open and finds all sizes; the scan is the caller's to destroy. No array of b is allocated */
static PetscErrorCode BccooPlanResolve(const SpmvCSR *csr, SpmvPlan *plan, PetscBool whole, BccooStorage *b, BccooScan *scan)
{
  const PetscBool device = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  PetscInt       *p      = plan->value, nb;
  PetscBool       escapes;
  size_t          group;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(b, sizeof(*b)));
  PetscCall(PetscMemzero(scan, sizeof(*scan)));
  PetscCall(BccooResolve(csr, plan));
  if (device) PetscCall(BccooDeviceResolve(csr->i[csr->m], plan));
  b->m          = csr->m;
  b->n          = csr->n;
  b->h          = p[BCCOO_BLOCK_HEIGHT];
  b->w          = p[BCCOO_BLOCK_WIDTH];
  b->flag_bits  = p[BCCOO_FLAG_BITS];
  b->slices     = p[BCCOO_SLICES];
  b->bunch      = p[BCCOO_BUNCH];
  b->item       = device && plan->device[BCCOO_DEVICE_STRATEGY] == 3 ? b->bunch : 1;
  b->workgroup  = device ? plan->device[BCCOO_DEVICE_WORKGROUP] * b->item : 0;
  b->nparts     = device ? 1 : plan->threads;
  b->converted  = device && plan->device[BCCOO_DEVICE_CONVERT] == BCCOO_CONVERT_DEVICE ? PETSC_TRUE : PETSC_FALSE;
  b->nentries   = (size_t)csr->i[csr->m];
  b->csr        = *csr;
  b->tile       = p[BCCOO_TILE];
  b->mb         = csr->m / b->h + !!(csr->m % b->h);
  nb            = csr->n / b->w + !!(csr->n % b->w);
  b->slicewidth = nb / b->slices + !!(nb % b->slices);
  PetscCheck(csr->n < INT32_MAX && b->mb < INT32_MAX / b->slices, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " has more block rows or columns than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n);
  PetscCheck(p[BCCOO_COLUMNS] != BCCOO_COLUMNS_UINT16 || nb <= UINT16_MAX + 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " block columns do not fit uint16; set -mat_bccoo_columns to auto, int32 or difference", nb);
  PetscCheck(device || b->bunch == 1 || b->h * b->tile * b->bunch <= BCCOO_GROUP_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Tiles of %" PetscInt_FMT " blocks of height %" PetscInt_FMT " are too large for a bunch; set -mat_bccoo_tile to at most %" PetscInt_FMT ", or -mat_bccoo_bunch 1", b->tile, b->h, BCCOO_GROUP_MAX / (b->h * b->bunch));
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && nb <= UINT16_MAX + 1) p[BCCOO_COLUMNS] = BCCOO_COLUMNS_UINT16;
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && device && plan->device[BCCOO_DEVICE_TRANSPOSE]) p[BCCOO_COLUMNS] = BCCOO_COLUMNS_INT32; /* no differences online */
  escapes = p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO || p[BCCOO_COLUMNS] == BCCOO_COLUMNS_DIFFERENCE ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(BccooScanCreate(csr, b, (PetscBool)(whole && !b->converted), escapes, scan));
  b->nblocks    = scan->nblocks;
  b->nrows      = scan->nrows;
  b->nescaped   = scan->nescaped;
  b->npositions = b->converted && b->h * b->w * b->slices > 1 ? b->nentries : scan->npositions;
  if (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO) p[BCCOO_COLUMNS] = b->nescaped <= b->nblocks / BCCOO_FAR ? BCCOO_COLUMNS_DIFFERENCE : BCCOO_COLUMNS_INT32;
  b->columns = (BccooColumns)p[BCCOO_COLUMNS];
  if (b->columns != BCCOO_COLUMNS_DIFFERENCE) b->nescaped = 0;
  group      = (size_t)b->tile * BccooWholeTiles(b);
  b->nstored = BccooWholeTiles(b) == 1 && !device ? b->nblocks : (b->nblocks + group - 1) / group * group;
  b->ntiles  = (b->nstored + (size_t)b->tile - 1) / (size_t)b->tile;
  b->ahead   = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->cached && b->h * b->w < BCCOO_AHEAD_LESS);
  b->nflags  = (b->ntiles * (size_t)b->tile + 31) / 32 * 4;
  if (b->converted && b->nstored > INT32_MAX) {
    PetscCall(BccooScanDestroy(scan));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu blocks are more than a device converts, which counts them with 32 bits; set -mat_bccoo_device_convert host", b->nstored);
  }
  if (b->npositions && b->nstored * (size_t)(b->h * b->w) > UINT32_MAX) {
    PetscCall(BccooScanDestroy(scan));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu blocks of %" PetscInt_FMT " x %" PetscInt_FMT " hold more values than 32-bit positions count; use more processes, or set -mat_bccoo_block_height and -mat_bccoo_block_width to 1", b->nblocks, b->h, b->w);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BccooPredict - the sizes of the storage that a build would make

  Output Parameter:
. b - its sizes; no array is allocated

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if uint16 columns are asked for and the matrix has more than 65536 block columns, if a
  group would have more than BCCOO_GROUP_MAX rows, or if block rows, block columns or, with fill, values are more than
  32-bit integers count; BccooBuild() as well.
*/
PetscErrorCode BccooPredict(const SpmvCSR *csr, const SpmvPlan *plan, BccooStorage *b)
{
  SpmvPlan  p = *plan;
  BccooScan scan;

  PetscFunctionBegin;
  PetscCall(BccooPlanResolve(csr, &p, PETSC_FALSE, b, &scan));
  PetscCall(BccooScanDestroy(&scan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooAllocate(BccooStorage *b)
{
  const size_t width = BccooColumnSize(b), entries = (size_t)(b->h * b->w);
  const size_t group = (size_t)b->tile * BccooWholeTiles(b), whole = b->nblocks / group * group; /* blocks before this one have no padding among them */
  const size_t set = b->npositions && entries > 1 ? 0 : whole;                                   /* and values before this one no fill */

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((b->ntiles + 1) * sizeof(int32_t), &b->entry));
  if (b->workgroup) PetscCall(SpmvAlloc(b->ntiles / (size_t)b->workgroup, &b->scan));
  if (b->nescaped) PetscCall(SpmvAlloc((b->ntiles / BccooEscapeTiles(b) + 1) * sizeof(int32_t), &b->escape));
  if (b->nrows < b->slices * b->mb) PetscCall(SpmvAlloc(b->nrows * sizeof(int32_t), &b->row));
  PetscCall(PetscMalloc1(b->nparts, &b->part));
  if (b->converted) {
    PetscCall(SpmvAlloc(((size_t)b->nrows + 1) * sizeof(uint32_t), &b->end));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvAlloc(b->nflags, &b->flags));
  PetscCall(SpmvAllocShared(b->nstored * width, b->nparts, &b->column));
  memset((char *)b->column + whole * width, 0, (b->nstored - whole) * width);
  PetscCall(SpmvAllocShared((b->nstored * entries + BCCOO_PAD) * sizeof(PetscScalar), b->nparts, &b->value));
  memset(b->value + set * entries, 0, ((b->nstored - set) * entries + BCCOO_PAD) * sizeof(PetscScalar));
  if (b->bunch > 1 && !b->workgroup) PetscCall(SpmvAlloc((size_t)b->nrows * sizeof(uint16_t), &b->stop));
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) PetscCall(SpmvAlloc(b->ntiles * sizeof(int32_t), &b->base));
  if (b->nescaped) PetscCall(SpmvAlloc(b->nescaped * sizeof(int32_t), &b->escaped));
  if (b->slices > 1) PetscCall(PetscCalloc1(b->slices * b->mb * b->h, &b->partial));
  if (b->bunch > 1 && !b->workgroup && b->n % b->w) PetscCall(PetscCalloc1((b->n / b->w + 1) * b->w, &b->whole));
  if (b->nparts > 1) PetscCall(PetscMalloc1((b->nparts - 1) * b->n, &b->transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 16-bit differences of the n columns of a tile, `step` apart */
static void BccooSetDifferences(const int32_t *column, size_t n, size_t step, int16_t *out)
{
  out[0] = 0;
  for (size_t k = 1; k < n; k++) {
    const int32_t d = column[k] - column[k - 1];

    out[k * step] = BccooIsEscape(d) ? BCCOO_ESCAPE : (int16_t)d;
  }
}

/* The columns, tile by tile */
static void BccooSetColumns(BccooStorage *b, const BccooScan *scan)
{
  const size_t tile = (size_t)b->tile, step = (size_t)b->bunch;

  for (size_t t = 0, q = 0; t < b->ntiles; t++, q = PetscMin(q + tile, scan->nblocks)) {
    const size_t   n = PetscMin(tile, scan->nblocks - q), place = BccooPlace(b, t * tile);
    const int32_t *c = scan->column + q;

    if (b->base) b->base[t] = n ? c[0] : 0;
    if (!n) continue;
    if (b->columns == BCCOO_COLUMNS_DIFFERENCE) BccooSetDifferences(c, n, step, (int16_t *)b->column + place);
    else if (b->columns == BCCOO_COLUMNS_INT32) {
      for (size_t k = 0; k < n; k++) ((int32_t *)b->column)[place + k * step] = c[k];
    } else {
      for (size_t k = 0; k < n; k++) ((uint16_t *)b->column)[place + k * step] = (uint16_t)c[k];
    }
  }
}

/* The columns that have no difference, in the order of storage; for a device in row order, which is tile by tile */
static void BccooSetEscapes(BccooStorage *b, const BccooScan *scan)
{
  const int16_t *difference = (const int16_t *)b->column;
  const size_t   group      = (size_t)b->tile * BccooEscapeTiles(b);
  size_t         n          = 0;

  for (size_t k = 0; k < b->nstored; k++) {
    const size_t place = b->workgroup ? BccooPlace(b, k) : k;

    if (k % group == 0) b->escape[k / group] = (int32_t)n;
    if (difference[place] == BCCOO_ESCAPE) b->escaped[n++] = scan->column[b->workgroup ? k : BccooNumber(b, place)];
  }
  b->escape[b->ntiles / BccooEscapeTiles(b)] = (int32_t)n;
}

/* The same of a storage that a device makes, which needs to know where those of each tile begin, and block rows end */
static void BccooSetOutline(BccooStorage *b, const BccooScan *scan)
{
  for (size_t t = 0; b->escape && t <= b->ntiles; t++) b->escape[t] = t < scan->ntiles ? scan->escape[t] : (int32_t)scan->nescaped;
  b->end[0] = 0;
  for (PetscInt k = 0; k < scan->nrows; k++) b->end[k + 1] = (uint32_t)scan->end[k];
}

/* The flags, where block rows end in their group, the list of block rows, and the result entries, which are the row stops before each tile */
static void BccooSetRows(BccooStorage *b, const BccooScan *scan)
{
  const size_t tile = (size_t)b->tile, group = tile * (size_t)b->bunch;
  size_t       t = 0;

  if (b->flags) memset(b->flags, 0xff, b->nflags);
  for (PetscInt k = 0; k < scan->nrows; k++) {
    const size_t place = BccooPlace(b, scan->end[k] - 1);

    for (; t * tile < scan->end[k]; t++) b->entry[t] = (int32_t)k;
    if (b->flags) b->flags[place / 8] &= (uint8_t) ~(1U << place % 8);
    if (b->stop) b->stop[k] = (uint16_t)(place % group);
  }
  for (; t <= b->ntiles; t++) b->entry[t] = (int32_t)scan->nrows;
  if (b->scan) {
    const size_t workgroup = (size_t)b->workgroup, item = (size_t)b->item;

    memset(b->scan, 0, b->ntiles / workgroup);
    for (t = 0; t < b->ntiles; t += item) b->scan[t / workgroup] |= b->entry[t] == b->entry[t + item];
  }
  if (b->row) memcpy(b->row, scan->row, (size_t)scan->nrows * sizeof(int32_t));
}

/* Shares groups out among the threads */
static void BccooSetParts(BccooStorage *b, const BccooScan *scan)
{
  const size_t ngroups = b->ntiles / (size_t)b->bunch, nparts = (size_t)b->nparts;

  for (size_t p = 0; p < nparts; p++) {
    const size_t first = ngroups * p / nparts * (size_t)b->bunch, last = ngroups * (p + 1) / nparts * (size_t)b->bunch;
    const size_t end = nparts == 1 ? 0 : PetscMin(last * (size_t)b->tile, b->nblocks); /* one part writes to the result itself */
    PetscInt     low = b->n, high = 0;

    for (size_t q = first * (size_t)b->tile; q < end; q++) {
      low  = PetscMin(low, (PetscInt)scan->column[q] * b->w);
      high = PetscMax(high, (PetscInt)scan->column[q] * b->w + b->w);
    }
    high       = nparts == 1 ? b->n : PetscMin(high, b->n);
    b->part[p] = (BccooPart){first, last, PetscMin(low, high), high};
  }
}

/*
  BccooBuild - a storage with the pattern and the values of a matrix

  Input Parameter:
. csr - the matrix

  Input/Output Parameter:
. plan - what is left open is replaced by what was built

  Output Parameter:
. storage - to be destroyed with BccooDestroy(), after an error as well

  Note:
  Errors as of BccooPredict().
*/
PetscErrorCode BccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  BccooStorage *b;
  BccooScan     scan;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(PetscNew(&b));
  *storage = b;
  PetscCall(BccooPlanResolve(csr, plan, PETSC_TRUE, b, &scan));
  PetscCall(BccooAllocate(b));
  if (b->converted) BccooSetOutline(b, &scan);
  else BccooSetColumns(b, &scan);
  if (b->escape && !b->converted) BccooSetEscapes(b, &scan);
  BccooSetRows(b, &scan);
  BccooSetParts(b, &scan);
  if (b->npositions && !b->converted) {
    b->position   = scan.position;
    scan.position = NULL;
  }
  PetscCall(BccooScanDestroy(&scan));
  PetscCall(BccooSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooDestroy(void **storage)
{
  BccooStorage *b = (BccooStorage *)*storage;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFree(&b->row));
  PetscCall(SpmvFree(&b->flags));
  PetscCall(SpmvFree(&b->entry));
  PetscCall(SpmvFree(&b->stop));
  PetscCall(SpmvFree(&b->column));
  PetscCall(SpmvFree(&b->base));
  PetscCall(SpmvFree(&b->escaped));
  PetscCall(SpmvFree(&b->escape));
  PetscCall(SpmvFree(&b->scan));
  PetscCall(SpmvFree(&b->value));
  PetscCall(SpmvFree(&b->position));
  PetscCall(SpmvFree(&b->end));
  PetscCall(PetscFree(b->partial));
  PetscCall(PetscFree(b->whole));
  PetscCall(PetscFree(b->part));
  PetscCall(PetscFree(b->transposed));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
