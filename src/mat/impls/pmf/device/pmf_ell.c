/*
  pmf_ell.c - the arrays of a device's storage

  Source: as pmf.c; section 5.3: on a device rows of about the same length belong together, as a warp takes as long as its
  longest row. A slice is a warp's (-mat_pmf_device_slice), not all of a part.
*/
#include "pmf_device.h"

#define PMF_ELL_CHUNK 4096 /* entries of a chunk of a long row, at most */

static inline size_t PmfEllColumnSize(const PmfEll *e)
{
  return e->narrow ? sizeof(uint16_t) : sizeof(int32_t);
}

/* The rows at places [0, end) of the order: those of slices, and the long ones with their chunks */
static PetscErrorCode PmfEllRows(const PmfOrder *order, PetscInt end, PetscInt longest, PmfEll *e)
{
  PetscInt sliced = 0, l = 0, c = 0;
  uint32_t entries = 0;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < end; p++) {
    const PetscInt length = PmfLength(&order->rest, order, order->row[p]);

    e->nsliced += length <= longest && (length || !e->block); /* what blocks have written to an empty row stays */
    e->nlong += length > longest;
    e->nchunks += length > longest ? (length + PMF_ELL_CHUNK - 1) / PMF_ELL_CHUNK : 0;
    e->longs.n += length > longest ? (size_t)length : 0;
  }
  PetscCall(SpmvAlloc((size_t)(e->nsliced + e->nlong) * sizeof(int32_t), &e->row));
  PetscCall(SpmvAlloc((size_t)e->nsliced * sizeof(int32_t), &e->length));
  if (e->nlong) {
    PetscCall(SpmvAlloc((size_t)(e->nlong + 1) * sizeof(int32_t), &e->longrow));
    PetscCall(SpmvAlloc((size_t)(e->nchunks + 1) * sizeof(uint32_t), &e->chunk));
    e->longrow[e->nlong] = (int32_t)e->nchunks;
    e->chunk[e->nchunks] = (uint32_t)e->longs.n;
  }
  for (PetscInt p = 0; p < end; p++) {
    const PetscInt length = PmfLength(&order->rest, order, order->row[p]);

    if (length > longest) {
      e->longrow[l]            = (int32_t)c;
      e->row[e->nsliced + l++] = order->row[p];
      for (PetscInt k = 0; k < length; k += PMF_ELL_CHUNK) e->chunk[c++] = entries + (uint32_t)k;
      entries += (uint32_t)length;
    } else if (length || !e->block) {
      e->length[sliced] = (int32_t)length;
      e->row[sliced++]  = order->row[p];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How wide each slice is, and its least column */
static PetscErrorCode PmfEllSlices(const SpmvCSR *rest, PmfEll *e)
{
  PetscInt reach = 0;

  PetscFunctionBegin;
  e->nslices = (e->nsliced + e->height - 1) / e->height;
  PetscCall(SpmvAlloc((size_t)(e->nslices + 1) * sizeof(uint32_t), &e->step));
  PetscCall(SpmvAlloc((size_t)e->nslices * sizeof(int32_t), &e->base));
  e->step[0] = 0;
  for (PetscInt s = 0; s < e->nslices; s++) {
    PetscInt width = 0, low = PETSC_MAX_INT, high = 0;

    for (PetscInt k = s * e->height; k < PetscMin(e->nsliced, (s + 1) * e->height); k++) {
      const PetscInt first = rest->i[e->row[k]];

      if (!e->length[k]) continue;
      width = PetscMax(width, e->length[k]);
      low   = PetscMin(low, rest->j[first]);
      high  = PetscMax(high, rest->j[first + e->length[k] - 1]);
    }
    e->base[s]     = width ? (int32_t)low : 0;
    e->step[s + 1] = e->step[s] + (uint32_t)width;
    reach          = PetscMax(reach, high - low);
  }
  e->narrow   = (PetscBool)(reach <= UINT16_MAX);
  e->slices.n = (size_t)e->height * e->step[e->nslices];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of each block */
static PetscErrorCode PmfEllBlocks(const SpmvCSR *csr, PmfEll *e)
{
  PetscFunctionBegin;
  e->nblocks = (e->nblockrows + e->block - 1) / e->block;
  PetscCall(SpmvAlloc((size_t)(e->nblocks + 1) * sizeof(uint32_t), &e->diagonal));
  e->diagonal[0] = 0;
  for (PetscInt k = 0; k < e->nblocks; k++) {
    const PetscInt first = k * e->block, rows = PetscMin(e->block, e->nblockrows - first);

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
  *e       = (PmfEll){.nentries = csr->i[csr->m], .height = p[PMF_DEVICE_SLICE], .block = order->block, .nblockrows = end};
  PetscCall(PmfEllRows(order, end, p[PMF_DEVICE_LONG], e));
  PetscCall(PmfEllSlices(&order->rest, e));
  if (e->block) PetscCall(PmfEllBlocks(csr, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfValuesCreate(PmfValues *v)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc(v->n * sizeof(PetscScalar), &v->value));
  PetscCall(SpmvAlloc(v->n * sizeof(uint32_t), &v->from));
  memset(v->from, 0xff, v->n * sizeof(uint32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PmfEllFillSlices(const PmfOrder *order, PmfEll *e)
{
  memset(e->column, 0, e->slices.n * PmfEllColumnSize(e));
  for (PetscInt k = 0; k < e->nsliced; k++) {
    const PetscInt slice = k / e->height, first = order->rest.i[e->row[k]];
    size_t         place = (size_t)e->step[slice] * (size_t)e->height + (size_t)(k % e->height);

    for (PetscInt n = first; n < first + e->length[k]; n++, place += (size_t)e->height) {
      const PetscInt column = order->rest.j[n] - e->base[slice];

      if (e->narrow) ((uint16_t *)e->column)[place] = (uint16_t)column;
      else ((int32_t *)e->column)[place] = (int32_t)column;
      e->slices.from[place] = PmfEntryOf(order, n);
    }
  }
}

static void PmfEllFillLongs(const PmfOrder *order, PmfEll *e)
{
  size_t place = 0;

  for (PetscInt l = 0; l < e->nlong; l++) {
    const PetscInt row = e->row[e->nsliced + l];

    for (PetscInt n = order->rest.i[row]; n < order->rest.i[row + 1]; n++) {
      e->longcolumn[place]   = (int32_t)order->rest.j[n];
      e->longs.from[place++] = PmfEntryOf(order, n);
    }
  }
}

static void PmfEllFillBlocks(const SpmvCSR *csr, PmfEll *e)
{
  uint64_t diagonals = 0;

  memset(e->mask, 0, e->diagonal[e->nblocks] * sizeof(uint32_t));
  for (PetscInt r = 0; r < e->nblockrows; r++) {
    const PetscInt lane = r % e->block;

    if (!lane) diagonals = PmfDiagonals(csr, e->block, r, PetscMin(e->block, e->nblockrows - r));
    for (PetscInt n = csr->i[r]; n < csr->i[r + 1]; n++) {
      const int bit = PmfDiagonalOf(e->block, r, csr->j[n]);
      size_t    d;

      if (bit < 0) continue;
      d            = e->diagonal[r / e->block] + (size_t)PmfDiagonalPlace(diagonals, bit);
      e->offset[d] = (int32_t)(csr->j[n] - r);
      e->mask[d] |= UINT32_C(1) << lane;
      e->diagonals.from[d * (size_t)e->block + (size_t)lane] = (uint32_t)n;
    }
  }
}

/* The arrays of entries, but for the values */
PetscErrorCode PmfEllFill(const SpmvCSR *csr, const PmfOrder *order, PmfEll *e)
{
  PetscFunctionBegin;
  PetscCall(PmfValuesCreate(&e->slices));
  PetscCall(SpmvAlloc(e->slices.n * PmfEllColumnSize(e), &e->column));
  PmfEllFillSlices(order, e);
  if (e->nlong) {
    PetscCall(PmfValuesCreate(&e->longs));
    PetscCall(SpmvAlloc(e->longs.n * sizeof(int32_t), &e->longcolumn));
    PmfEllFillLongs(order, e);
  }
  if (e->block) {
    PetscCall(PmfValuesCreate(&e->diagonals));
    PetscCall(SpmvAlloc(e->diagonal[e->nblocks] * sizeof(int32_t), &e->offset));
    PetscCall(SpmvAlloc(e->diagonal[e->nblocks] * sizeof(uint32_t), &e->mask));
    PmfEllFillBlocks(csr, e);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfEllSetValues(const SpmvCSR *csr, void *storage)
{
  const PmfEll    *e     = (const PmfEll *)storage;
  const PmfValues *all[] = {&e->slices, &e->longs, &e->diagonals};

  PetscFunctionBegin;
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(all); v++) {
    for (size_t k = 0; k < all[v]->n; k++) all[v]->value[k] = all[v]->from[k] == UINT32_MAX ? 0 : csr->a[all[v]->from[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfEllArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const PmfEll *e = (const PmfEll *)storage;
  const size_t  n = e->block ? e->diagonals.n / (size_t)e->block : 0;
  PetscInt      k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("slice values", e->slices.value, e->slices.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("slice columns", e->column, e->slices.n, PmfEllColumnSize(e));
  arrays[k++] = SPMV_ARRAY("steps", e->step, (size_t)e->nslices + 1, sizeof(uint32_t));
  arrays[k++] = SPMV_ARRAY("bases", e->base, (size_t)e->nslices, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("lengths", e->length, (size_t)e->nsliced, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("slice rows", e->row, (size_t)(e->nsliced + e->nlong), sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from slices", e->slices.from, e->slices.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  if (e->nlong) {
    arrays[k++] = SPMV_ARRAY("long values", e->longs.value, e->longs.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("long columns", e->longcolumn, e->longs.n, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("long rows", e->longrow, (size_t)e->nlong + 1, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("chunks", e->chunk, (size_t)e->nchunks + 1, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("from long rows", e->longs.from, e->longs.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  if (e->block) {
    arrays[k++] = SPMV_ARRAY("diagonal values", e->diagonals.value, e->diagonals.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("diagonals", e->diagonal, (size_t)e->nblocks + 1, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("offsets", e->offset, n, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("diagonal masks", e->mask, n, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("from diagonals", e->diagonals.from, e->diagonals.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does nothing if there is none */
PetscErrorCode PmfEllDestroy(void **storage)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  if (!*storage) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PmfEllArrays(*storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++) PetscCall(SpmvFree(&arrays[k].data));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
