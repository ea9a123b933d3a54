/*
  pmf_ell.c - the arrays of a device's storage

  Source: as pmf.c; section 5.3: on a device rows of about the same length belong together, as a warp takes as long as its
  longest row. A slice is a warp's (-mat_pmf_device_slice), not all of a part.
*/
#include "pmf_device.h"

#define PMF_ELL_PIECE 4096 /* entries of a piece of a long row, at most */

static inline size_t PmfEllColumnSize(const PmfEll *e)
{
  return e->narrow ? sizeof(uint16_t) : sizeof(int32_t);
}

/* The rows at places [0, end) of the order: first those of slices, then the long ones */
static PetscErrorCode PmfEllRows(const SpmvCSR *rest, const PmfOrder *order, PetscInt end, PetscInt longest, PmfEll *e)
{
  PetscInt empty = 0, k = 0, l;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < end; p++) {
    const PetscInt length = PmfLength(rest, PETSC_MAX_INT, order->row[p]);

    e->nlong += length > longest;
    empty += !length && e->block; /* what blocks have written there stays */
    e->npieces += length > longest ? (length + PMF_ELL_PIECE - 1) / PMF_ELL_PIECE : 0;
  }
  e->nsliced = end - e->nlong - empty;
  PetscCall(SpmvAlloc((size_t)(e->nsliced + e->nlong) * sizeof(int32_t), &e->row));
  PetscCall(SpmvAlloc((size_t)e->nsliced * sizeof(int32_t), &e->length));
  l = e->nsliced;
  for (PetscInt p = 0; p < end; p++) {
    const PetscInt length = PmfLength(rest, PETSC_MAX_INT, order->row[p]);

    if (length > longest) e->row[l++] = order->row[p];
    else if (length || !e->block) {
      e->length[k] = (int32_t)length;
      e->row[k++]  = order->row[p];
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
    if (width) reach = PetscMax(reach, high - low);
  }
  e->narrow   = (PetscBool)(reach <= UINT16_MAX);
  e->slices.n = (size_t)e->height * e->step[e->nslices];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfEllLongs(const SpmvCSR *rest, PmfEll *e)
{
  PetscInt p = 0;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((size_t)(e->nlong + 1) * sizeof(int32_t), &e->longrow));
  PetscCall(SpmvAlloc((size_t)(e->npieces + 1) * sizeof(uint32_t), &e->piece));
  for (PetscInt l = 0; l < e->nlong; l++) {
    const PetscInt row = e->row[e->nsliced + l], length = rest->i[row + 1] - rest->i[row];

    e->longrow[l] = (int32_t)p;
    for (PetscInt k = 0; k < length; k += PMF_ELL_PIECE) e->piece[p++] = (uint32_t)(e->longs.n + (size_t)k);
    e->longs.n += (size_t)length;
  }
  e->longrow[e->nlong] = (int32_t)p;
  e->piece[p]          = (uint32_t)e->longs.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of each block */
static PetscErrorCode PmfEllBlocks(const SpmvCSR *blocks, PmfEll *e)
{
  PetscFunctionBegin;
  e->nblocks = (e->nblockrows + e->block - 1) / e->block;
  PetscCall(SpmvAlloc((size_t)(e->nblocks + 1) * sizeof(uint32_t), &e->diagonal));
  e->diagonal[0] = 0;
  for (PetscInt k = 0; k < e->nblocks; k++) {
    const PetscInt first = k * e->block, rows = PetscMin(e->block, e->nblockrows - first);

    e->diagonal[k + 1] = e->diagonal[k] + (uint32_t)__builtin_popcountll(PmfDiagonals(blocks, e->block, first, rows));
  }
  e->diagonals.n = (size_t)e->block * e->diagonal[e->nblocks];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Sizes, and all arrays but those of entries, of a storage that has the rows at places [0, end) of an order, with PMF_BY_DIAGONAL the
  first ones of the matrix; p: the knobs. To be freed with PmfEllReset(), after an error as well
*/
PetscErrorCode PmfEllLayOut(const PmfHalves *halves, const PmfOrder *order, PetscInt end, const PetscInt p[], PmfEll *e)
{
  const SpmvCSR *rest = &halves->csr[1];

  PetscFunctionBegin;
  *e = (PmfEll){.height = p[PMF_DEVICE_SLICE], .block = order->partition == PMF_BY_DIAGONAL ? order->block : 0};
  PetscCall(PmfEllRows(rest, order, end, p[PMF_DEVICE_LONG], e));
  PetscCall(PmfEllSlices(rest, e));
  PetscCall(PmfEllLongs(rest, e));
  if (!e->block) PetscFunctionReturn(PETSC_SUCCESS);
  e->nblockrows = end;
  PetscCall(PmfEllBlocks(&halves->csr[0], e));
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

static void PmfEllFillSlices(const PmfHalves *halves, PmfEll *e)
{
  const SpmvCSR *rest = &halves->csr[1];

  memset(e->column, 0, e->slices.n * PmfEllColumnSize(e));
  for (PetscInt k = 0; k < e->nsliced; k++) {
    const PetscInt slice = k / e->height, first = rest->i[e->row[k]];
    size_t         place = (size_t)e->step[slice] * (size_t)e->height + (size_t)(k % e->height);

    for (PetscInt n = first; n < first + e->length[k]; n++, place += (size_t)e->height) {
      const PetscInt column = rest->j[n] - e->base[slice];

      if (e->narrow) ((uint16_t *)e->column)[place] = (uint16_t)column;
      else ((int32_t *)e->column)[place] = (int32_t)column;
      e->slices.from[place] = PmfEntryOf(halves, 1, n);
    }
  }
}

static void PmfEllFillLongs(const PmfHalves *halves, PmfEll *e)
{
  const SpmvCSR *rest  = &halves->csr[1];
  size_t         place = 0;

  for (PetscInt l = 0; l < e->nlong; l++) {
    const PetscInt row = e->row[e->nsliced + l];

    for (PetscInt n = rest->i[row]; n < rest->i[row + 1]; n++) {
      e->longcolumn[place]   = (int32_t)rest->j[n];
      e->longs.from[place++] = PmfEntryOf(halves, 1, n);
    }
  }
}

static void PmfEllFillBlocks(const PmfHalves *halves, PmfEll *e)
{
  const SpmvCSR *blocks = &halves->csr[0];

  for (PetscInt k = 0; k < e->nblocks; k++) {
    const PetscInt first = k * e->block, rows = PetscMin(e->block, e->nblockrows - first);
    uint64_t       diagonals = PmfDiagonals(blocks, e->block, first, rows);
    uint32_t       number[64]; /* of each diagonal */

    for (uint32_t d = e->diagonal[k]; diagonals; diagonals &= diagonals - 1, d++) {
      const int bit = __builtin_ctzll(diagonals);

      number[bit]  = d;
      e->offset[d] = (int32_t)(bit - (e->block - 1));
      e->mask[d]   = 0;
    }
    for (PetscInt r = first; r < first + rows; r++) {
      for (PetscInt n = blocks->i[r]; n < blocks->i[r + 1]; n++) {
        const uint32_t d = number[blocks->j[n] - r + e->block - 1];

        e->mask[d] |= UINT32_C(1) << (r - first);
        e->diagonals.from[(size_t)d * (size_t)e->block + (size_t)(r - first)] = PmfEntryOf(halves, 0, n);
      }
    }
  }
}

/* The arrays of entries, but for the values */
PetscErrorCode PmfEllFill(const PmfHalves *halves, PmfEll *e)
{
  PetscFunctionBegin;
  PetscCall(PmfValuesCreate(&e->slices));
  PetscCall(SpmvAlloc(e->slices.n * PmfEllColumnSize(e), &e->column));
  PmfEllFillSlices(halves, e);
  PetscCall(PmfValuesCreate(&e->longs));
  PetscCall(SpmvAlloc(e->longs.n * sizeof(int32_t), &e->longcolumn));
  PmfEllFillLongs(halves, e);
  if (!e->block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PmfValuesCreate(&e->diagonals));
  PetscCall(SpmvAlloc(e->diagonal[e->nblocks] * sizeof(int32_t), &e->offset));
  PetscCall(SpmvAlloc(e->diagonal[e->nblocks] * sizeof(uint32_t), &e->mask));
  PmfEllFillBlocks(halves, e);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfEllSetValues(const SpmvCSR *csr, void *storage)
{
  PmfEll          *e     = (PmfEll *)storage;
  PmfValues *const all[] = {&e->slices, &e->longs, &e->diagonals};

  PetscFunctionBegin;
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(all); v++) {
    for (size_t k = 0; k < all[v]->n; k++) all[v]->value[k] = all[v]->from[k] == UINT32_MAX ? 0 : csr->a[all[v]->from[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfEllArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const PmfEll *e = (const PmfEll *)storage;
  const size_t  n = e->block ? e->diagonal[e->nblocks] : 0;
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
    arrays[k++] = SPMV_ARRAY("pieces", e->piece, (size_t)e->npieces + 1, sizeof(uint32_t));
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

/* Frees what a storage has */
PetscErrorCode PmfEllReset(PmfEll *e)
{
  PmfValues  *v[3]     = {&e->slices, &e->longs, &e->diagonals};
  void *const arrays[] = {&e->row,   &e->length,     &e->step,     &e->base,   &e->column, &e->longrow,
                          &e->piece, &e->longcolumn, &e->diagonal, &e->offset, &e->mask};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(arrays); k++) PetscCall(SpmvFree(arrays[k]));
  for (int k = 0; k < 3; k++) {
    PetscCall(SpmvFree(&v[k]->value));
    PetscCall(SpmvFree(&v[k]->from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
