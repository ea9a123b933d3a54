/*
  slices_values_simd.c - the values of slices of eight rows, compiled once for each instruction set of isas.h
*/
#include "slices.h"
#include "../simd/simd.h"

#if !defined(SPMV_ISA_ABSENT)

SPMV_INLINE void SlicesStore(PetscScalar *p, Spmv8 v, PetscBool stream)
{
  if (stream) Spmv8Stream(p, v);
  else Spmv8Store(p, v);
}

/* The values of a slice that is even: eight rows become eight lanes */
SPMV_INLINE void SlicesEven(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, SpmvSlice *h, Spmv8 f,
                            PetscScalar *value, PetscBool stream)
{
  const PetscInt     n = h->columns;
  const PetscScalar *a[8];
  PetscScalar        c[8];

  SPMV_UNROLL
  for (int q = 0; q < 8; q++) {
    PetscInt first, end;

    SpmvTrianglesRow(s, side, r + q, &first, &end);
    c[q] = end - first > n ? s->a[side == SPMV_LOWER ? end - 1 : first] : 0;
    a[q] = s->a + (side == SPMV_LOWER ? first : end - n);
  }
  for (PetscInt k = 0; k < n; k++, value += 8) {
    const PetscScalar lane[8] = {a[0][k], a[1][k], a[2][k], a[3][k], a[4][k], a[5][k], a[6][k], a[7][k]};

    SlicesStore(value, Spmv8Mul(f, Spmv8Load(lane)), stream);
  }
  if (h->chain) {
    const Spmv8 v = Spmv8Mul(f, Spmv8Load(c));

    h->steep = Spmv8Beyond(v, 1) != 0;
    SlicesStore(value, v, stream);
  }
}

/* The values of a column or chain, at distance d from the diagonal, in rows whose next entries [at, end) may be there or not */
SPMV_INLINE Spmv8 SlicesColumn(const SpmvTrianglesSource *s, PetscInt r, PetscInt d, PetscInt at[8], const PetscInt end[8])
{
  PetscScalar lane[8];

  SPMV_UNROLL
  for (int q = 0; q < 8; q++) {
    const PetscBool here = (PetscBool)(at[q] < end[q] && s->j[at[q]] - r - q == d);

    lane[q] = here ? s->a[at[q]] : 0;
    at[q] += here;
  }
  return Spmv8Load(lane);
}

/* The values of a slice without gathers and list */
SPMV_INLINE void SlicesColumns(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, SpmvSlice *h, Spmv8 f,
                               const PetscInt place[], PetscScalar *value)
{
  PetscScalar *const chain = value + 8 * h->columns;
  PetscInt           at[8] = {0}, end[8] = {0};

  for (int q = 0; q < 8 && r + q < s->n; q++) SpmvTrianglesRow(s, side, r + q, &at[q], &end[q]);
  if (h->chain && side == SPMV_UPPER) Spmv8Store(chain, Spmv8Mul(f, SlicesColumn(s, r, 1, at, end)));
  for (PetscInt k = 0; k < h->columns; k++) Spmv8Store(value + 8 * k, Spmv8Mul(f, SlicesColumn(s, r, place[k], at, end)));
  if (h->chain && side == SPMV_LOWER) Spmv8Store(chain, Spmv8Mul(f, SlicesColumn(s, r, -1, at, end)));
}

SPMV_INLINE void SlicesSlice(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, SpmvSlice *h,
                             const SpmvSlicesTarget *to, const SpmvSlicesStorage *storage)
{
  const PetscInt n     = PetscMin(8, s->n - r);
  const Spmv8    minus = Spmv8Splat(-1), sign = s->kind == SPMV_FACTORS_SYMMETRIC ? Spmv8Splat(1) : minus;
  Spmv8          f = sign;

  if (SpmvTrianglesScaled(s->kind, side)) f = Spmv8Mul(minus, Spmv8LoadFirst(storage->diagonal + r, (int)n));
  if (h->even) {
    if (storage->large) SlicesEven(s, side, r, h, f, to->value, PETSC_TRUE);
    else SlicesEven(s, side, r, h, f, to->value, PETSC_FALSE);
  } else {
    PetscScalar lane[8];

    Spmv8Store(lane, f);
    if (h->gathers || h->list) SpmvSlicesFill(s, side, r, h, to, lane);
    else SlicesColumns(s, side, r, h, f, to->place, to->value);
    h->steep = h->chain && Spmv8Beyond(Spmv8Load(to->value + 8 * (h->columns + h->gathers)), 1);
  }
}

extern void SPMV_ISA_NAME(SpmvSlicesValues)(const SpmvTrianglesSource *s, SpmvSlicesStorage *storage, PetscInt *bad);

/* What slices that are again have: their values, and whether these are steep */
static uint8_t SlicesAgain(const SpmvTrianglesSource *s, SpmvTriangleSide side, SpmvSlicesStorage *storage)
{
  SpmvSlicesTriangle    *t      = &storage->triangle[side];
  const SpmvSlicesTarget to     = {t->place, t->index, t->value};
  PetscInt               slices = SpmvSlicesCount(s->n), bad = -1; /* rows before are looked at for the first that is bad */
  SpmvSlice              h;

  if (!t->nagain) return 0;
  h = t->slice[side == SPMV_LOWER ? t->common / 8 : slices - 1 - t->common / 8];
  SpmvTrianglesInvertRows(s, t->common, t->common + 8, storage->diagonal, &bad);
  SlicesSlice(s, side, t->common, &h, &to, storage);
  return h.steep;
}

/* Both triangles at once, since their entries and the diagonal share cache lines */
void SPMV_ISA_NAME(SpmvSlicesValues)(const SpmvTrianglesSource *s, SpmvSlicesStorage *storage, PetscInt *bad)
{
  const PetscInt      slices = SpmvSlicesCount(s->n);
  SpmvSlicesTriangle *lower = &storage->triangle[SPMV_LOWER], *upper = &storage->triangle[SPMV_UPPER];
  SpmvSlicesTarget    forth    = {lower->place, lower->index, lower->value + lower->nagain};
  SpmvSlicesTarget    back     = {upper->place + upper->nplace, upper->index + upper->nindex, upper->value + upper->nvalue};
  const uint8_t       steep[2] = {SlicesAgain(s, SPMV_LOWER, storage), SlicesAgain(s, SPMV_UPPER, storage)};

  for (PetscInt k = 0; k < slices; k++) {
    SpmvSlice *l = &lower->slice[k], *u = &upper->slice[slices - 1 - k];

    SpmvTrianglesInvertRows(s, 8 * k, PetscMin(8 * k + 8, s->n), storage->diagonal, bad);
    if (l->again) l->steep = steep[SPMV_LOWER];
    else SlicesSlice(s, SPMV_LOWER, 8 * k, l, &forth, storage);
    SpmvSlicesAdvance(&forth, l, 1);
    SpmvSlicesAdvance(&back, u, -1);
    if (u->again) u->steep = steep[SPMV_UPPER];
    else SlicesSlice(s, SPMV_UPPER, 8 * k, u, &back, storage);
  }
  SpmvStreamEnd();
}
#endif
