/*
  pmf_ell.c - the arrays of a device's storage

  Source: as pmf.c; section 5.3: on a device rows of about the same length belong together, as a warp takes as long as its
  longest row. A slice is a warp's (-mat_pmf_device_slice), not all of a part.
*/
#include "pmf_device.h"

#define PMF_ELL_CHUNK 4096 /* entries of a chunk of a long row, at most */

/* The rows at places [0, end) of the order: those of slices, and from the end on the long ones, with their chunks */
static PetscErrorCode PmfEllRows(const PmfOrder *order, PetscInt end, PetscInt longest, PmfEll *e)
{
  uint32_t chunks = 0, entries = 0;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((size_t)end * sizeof(int32_t), &e->row));
  PetscCall(SpmvAlloc((size_t)end * sizeof(int32_t), &e->length));
  for (PetscInt p = 0; p < end; p++) {
    const PetscInt length = PmfLength(&order->rest, order, order->row[p]);

    if (length > longest) {
      e->row[end - ++e->nlong] = order->row[p];
      e->nchunks += SpmvGroups((size_t)length, PMF_ELL_CHUNK);
      e->longs.n += (size_t)length;
    } else if (length || !e->block) { /* what blocks have written to an empty row stays */
      e->length[e->nsliced] = (int32_t)length;
      e->row[e->nsliced++]  = order->row[p];
    }
  }
  if (!e->nlong) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)(e->nlong + 1) * sizeof(int32_t), &e->longrow));
  PetscCall(SpmvAlloc((e->nchunks + 1) * sizeof(uint32_t), &e->chunk));
  for (PetscInt l = 0; l < e->nlong; l++) {
    const uint32_t length = (uint32_t)PmfLength(&order->rest, order, e->row[end - 1 - l]);

    e->longrow[l] = (int32_t)chunks;
    for (uint32_t k = 0; k < length; k += PMF_ELL_CHUNK) e->chunk[chunks++] = entries + k;
    entries += length;
  }
  e->longrow[e->nlong] = (int32_t)chunks;
  e->chunk[chunks]     = entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How wide each slice is, and its least column */
static PetscErrorCode PmfEllSlices(const SpmvCSR *rest, PmfEll *e)
{
  PetscInt reach = 0;

  PetscFunctionBegin;
  e->nslices = (PetscInt)SpmvGroups((size_t)e->nsliced, (size_t)e->height);
  PetscCall(SpmvAlloc((size_t)(e->nslices + 1) * sizeof(uint32_t), &e->step));
  PetscCall(SpmvAlloc((size_t)e->nslices * sizeof(int32_t), &e->base));
  e->step[0] = 0;
  for (PetscInt s = 0; s < e->nslices; s++) {
    PetscInt width = 0, low = PETSC_MAX_INT, high = 0;

    for (PetscInt k = s * e->height, l = 0; k < e->nsliced && l < e->height; k++, l++) {
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
  e->columnsize = reach <= UINT16_MAX ? sizeof(uint16_t) : sizeof(int32_t);
  e->slices.n   = (size_t)e->height * e->step[e->nslices];
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
  *e       = (PmfEll){.nentries = csr->i[csr->m], .nrows = end, .height = p[PMF_DEVICE_SLICE], .block = order->block};
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

/* The entries of a row from a place on, so many elements apart */
static void PmfEllFillRow(const PmfOrder *order, PetscInt row, PetscInt base, size_t place, size_t stride, PmfValues *v,
                          void *column, size_t size)
{
  for (PetscInt n = order->rest.i[row]; n < order->rest.i[row + 1]; n++, place += stride) {
    PmfIndexSet(column, size, place, order->rest.j[n] - base);
    v->from[place] = PmfEntryOf(order, n);
  }
}

/* The arrays of entries, but for the values */
PetscErrorCode PmfEllFill(const SpmvCSR *csr, const PmfOrder *order, PmfEll *e)
{
  const size_t height = (size_t)e->height, ndiagonals = e->block ? e->diagonal[e->nblocks] : 0;

  PetscFunctionBegin;
  PetscCall(PmfValuesCreate(&e->slices));
  PetscCall(SpmvAlloc(e->slices.n * e->columnsize, &e->column));
  memset(e->column, 0, e->slices.n * e->columnsize);
  for (size_t k = 0; k < (size_t)e->nsliced; k++) {
    const size_t slice = k / height;

    PmfEllFillRow(order, e->row[k], e->base[slice], e->step[slice] * height + k % height, height, &e->slices, e->column,
                  e->columnsize);
  }
  if (e->nlong) {
    PetscCall(PmfValuesCreate(&e->longs));
    PetscCall(SpmvAlloc(e->longs.n * sizeof(int32_t), &e->longcolumn));
  }
  for (PetscInt l = 0; l < e->nlong; l++) {
    PmfEllFillRow(order, e->row[e->nrows - 1 - l], 0, e->chunk[e->longrow[l]], 1, &e->longs, e->longcolumn, sizeof(int32_t));
  }
  if (e->block) {
    PetscCall(PmfValuesCreate(&e->diagonals));
    PetscCall(SpmvAlloc(ndiagonals * sizeof(int32_t), &e->offset));
    PetscCall(SpmvAlloc(ndiagonals * sizeof(uint32_t), &e->mask));
  }
  for (PetscInt k = 0, rows; k < e->nblocks; k++) {
    const uint32_t d = e->diagonal[k];

    rows = PetscMin(e->block, e->nrows - k * e->block);
    PmfDiagonalsFill(csr, e->block, k * e->block, rows, (size_t)e->block, e->offset + d, e->mask + d,
                     e->diagonals.from + d * (size_t)e->block);
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
  arrays[k++] = SPMV_ARRAY("slice columns", e->column, e->slices.n, e->columnsize);
  arrays[k++] = SPMV_ARRAY("steps", e->step, (size_t)e->nslices + 1, sizeof(uint32_t));
  arrays[k++] = SPMV_ARRAY("bases", e->base, (size_t)e->nslices, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("lengths", e->length, (size_t)e->nsliced, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("slice rows", e->row, (size_t)e->nrows, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from slices", e->slices.from, e->slices.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  if (e->nlong) {
    arrays[k++] = SPMV_ARRAY("long values", e->longs.value, e->longs.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("long columns", e->longcolumn, e->longs.n, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("long rows", e->longrow, (size_t)e->nlong + 1, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("chunks", e->chunk, e->nchunks + 1, sizeof(uint32_t));
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
