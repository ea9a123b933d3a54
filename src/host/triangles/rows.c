/*
  rows.c - builds triangles whose rows are laid out one after the other
*/
#include "rows.h"

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvShapeKernels SPMV_CAT(SpmvRowsKernels, name);
#include "../../isas.h"
#undef SPMV_ISA

static const SpmvShapeKernels *const RowsKernels[SPMV_ISA_COUNT] = {
#define SPMV_ISA(NAME, name, flags, runs) &SPMV_CAT(SpmvRowsKernels, name),
#include "../../isas.h"
#undef SPMV_ISA
};

/* Sweeps by nodes are others than sweeps by rows */
static PetscBool RowsSuits(const SpmvTrianglesSource *s)
{
  return (PetscBool)(s->kind != SPMV_SWEEPS || s->nnodes == 0 || s->nnodes == s->n);
}

/* Cycles of Zen 4, fitted to 280 passes. A row's end takes as long as four entries */
#define ROWS_ROW   5.6
#define ROWS_ENTRY 1.5
#define ROWS_CHAIN 15 /* of a row in a chain of rows that each wait for the one before, at least */
#define ROWS_BUILD 17 /* to build, by entry */

static void RowsWork(const SpmvTrianglesSource *s, const SpmvTrianglesLook *look, SpmvWork *work)
{
  const double row = ROWS_ROW + ROWS_ENTRY * look->nz / PetscMax(1, look->rows);

  (void)s;
  work->cycles += row * look->rows + PetscMax(0, ROWS_CHAIN - row) * look->chained;
  work->branches += look->rows;
  work->misses += look->missed;
  work->build += ROWS_BUILD * look->nz;
  work->bytes +=
    look->nz * (sizeof(PetscScalar) + SpmvTrianglesDistanceBytes(look)) + look->rows * (sizeof(PetscInt) + sizeof(PetscScalar));
}

/* The row that a pass takes as number z */
static inline PetscInt RowsAt(PetscInt n, SpmvTriangleSide side, PetscInt z)
{
  return side == SPMV_LOWER ? z : n - 1 - z;
}

/* Where each row begins, and the greatest distance: of the first entry of a row below, of the last one above the diagonal */
static PetscInt RowsCount(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt start[])
{
  PetscInt far = 0, nz = 0;

  for (PetscInt z = 0; z < s->n; z++) {
    const PetscInt i = RowsAt(s->n, side, z);
    PetscInt       first, end;

    SpmvTrianglesRow(s, side, i, &first, &end);
    start[z] = nz;
    nz += end - first;
    if (end > first) far = PetscMax(far, side == SPMV_LOWER ? i - s->j[first] : s->j[end - 1] - i);
  }
  start[s->n] = nz;
  return far;
}

#define ROWS_OFFSETS(type) \
  static void RowsOffsets_##type(const SpmvTrianglesSource *s, SpmvTriangleSide side, type *offset) \
  { \
    for (PetscInt z = 0; z < s->n; z++) { \
      const PetscInt i = RowsAt(s->n, side, z); \
      PetscInt       first, end; \
\
      SpmvTrianglesRow(s, side, i, &first, &end); \
      if (side == SPMV_LOWER) { \
        for (PetscInt k = first; k < end; k++) *offset++ = (type)(s->j[k] - i); \
      } else { \
        for (PetscInt k = end - 1; k >= first; k--) *offset++ = (type)(s->j[k] - i); \
      } \
    } \
  }
ROWS_OFFSETS(uint16_t)
ROWS_OFFSETS(PetscInt)

static PetscErrorCode RowsBuild(const SpmvTrianglesSource *s, SpmvTriangles *t)
{
  SpmvRowsStorage *r;
  PetscInt         far[2];

  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  t->storage = r;
  for (int side = 0; side < 2; side++) {
    PetscCall(SpmvAlloc(sizeof(PetscInt) * ((size_t)s->n + 1), &r->triangle[side].start));
    far[side] = RowsCount(s, (SpmvTriangleSide)side, r->triangle[side].start);
  }
  r->wide = (PetscBool)(PetscMax(far[0], far[1]) > UINT16_MAX);
  t->nz   = r->triangle[0].start[s->n] + r->triangle[1].start[s->n];
  for (int side = 0; side < 2; side++) {
    const size_t nz = (size_t)r->triangle[side].start[s->n];

    PetscCall(SpmvAlloc(SpmvRowsWord(r) * nz, &r->triangle[side].offset));
    PetscCall(SpmvAlloc(sizeof(PetscScalar) * nz, &r->triangle[side].value));
    if (r->wide) RowsOffsets_PetscInt(s, (SpmvTriangleSide)side, (PetscInt *)r->triangle[side].offset);
    else RowsOffsets_uint16_t(s, (SpmvTriangleSide)side, (uint16_t *)r->triangle[side].offset);
  }
  PetscCall(SpmvAlloc(sizeof(PetscScalar) * (size_t)s->n, &r->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of a row in a triangle, times f, in the order of the pass; returns how many there are */
static inline PetscInt RowsCopy(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, PetscScalar f,
                                PetscScalar *value)
{
  PetscInt first, end;

  SpmvTrianglesRow(s, side, i, &first, &end);
  if (side == SPMV_LOWER) {
    for (PetscInt k = first; k < end; k++) *value++ = f * s->a[k];
  } else {
    for (PetscInt k = first; k < end; k++) *--value = f * s->a[k];
  }
  return end - first;
}

/* Both triangles at once, since their entries and the diagonal share cache lines. Rows times `sign`, or times the inverse
   diagonal */
static PetscErrorCode RowsSetValues(const SpmvTrianglesSource *s, SpmvTriangles *t, PetscInt *bad)
{
  const SpmvRowsStorage *r     = (const SpmvRowsStorage *)t->storage;
  const PetscScalar      sign  = s->kind == SPMV_FACTORS_SYMMETRIC ? -1 : 1;
  const PetscBool        lower = SpmvTrianglesScaled(s->kind, SPMV_LOWER), upper = SpmvTrianglesScaled(s->kind, SPMV_UPPER);
  PetscScalar           *at  = r->triangle[SPMV_LOWER].value;
  PetscScalar           *end = r->triangle[SPMV_UPPER].value + r->triangle[SPMV_UPPER].start[s->n];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < s->n; i++) {
    SpmvTrianglesInvertRows(s, i, i + 1, r->diagonal, bad);
    at += RowsCopy(s, SPMV_LOWER, i, lower ? r->diagonal[i] : sign, at);
    end -= RowsCopy(s, SPMV_UPPER, i, upper ? r->diagonal[i] : sign, end);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsArrays(const SpmvTriangles *t, PetscInt *n, SpmvArray arrays[])
{
  const SpmvRowsStorage *r = (const SpmvRowsStorage *)t->storage;

  PetscFunctionBegin;
  *n = 0;
  for (int side = 0; side < 2; side++) {
    const SpmvRowsTriangle *h  = &r->triangle[side];
    const size_t            nz = h->value ? (size_t)h->start[t->n] : 0;

    arrays[(*n)++] = SPMV_ARRAY("start", h->start, (size_t)t->n + 1, sizeof(PetscInt));
    arrays[(*n)++] = SPMV_ARRAY("offset", h->offset, nz, SpmvRowsWord(r));
    arrays[(*n)++] = SPMV_ARRAY("value", h->value, nz, SpmvTrianglesWord(t), .is_values = PETSC_TRUE);
  }
  arrays[(*n)++] = SPMV_ARRAY("diagonal", r->diagonal, (size_t)t->n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscScalar *RowsTriangle(const SpmvTriangles *t, SpmvTriangleSide side, size_t *n)
{
  const SpmvRowsTriangle *h = &((const SpmvRowsStorage *)t->storage)->triangle[side];

  *n = (size_t)h->start[t->n];
  return h->value;
}

const SpmvShape SpmvShape_rows = {"rows",        PETSC_TRUE, RowsSuits,    RowsWork,   RowsBuild,
                                  RowsSetValues, RowsArrays, RowsTriangle, RowsKernels};
