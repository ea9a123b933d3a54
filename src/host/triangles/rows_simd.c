/*
  rows_simd.c - passes over rows that are laid out one after the other, compiled once for each instruction set of isas.h

  A row's sum is made by two chains of additions. The last entry, whose x is often that of the row before, is multiplied last.
*/
#include "rows.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvShapeKernels SPMV_ISA_NAME(SpmvRowsKernels) = {0};
#else

  #define ROWS_AHEAD 128 /* entries between what is in use and what is prefetched */

SPMV_INLINE PetscInt RowsDistance(const void *distance, PetscBool wide, PetscInt k)
{
  return wide ? ((const PetscInt *)distance)[k] : ((const uint16_t *)distance)[k];
}

SPMV_INLINE PetscScalar RowsValue(const void *v, PetscBool floats, PetscInt k)
{
  #if SPMV_VALUES_HAS_FLOAT
  if (floats) return (PetscScalar)((const float *)v)[k];
  #endif
  return ((const PetscScalar *)v)[k];
}

  #define ROWS_JUMP 12 /* entries of a row that take one jump */

/* sum less the product of entry end - n of a row and its x */
  #define ROWS_ENTRY(n, sum) \
  case n: sum = SpmvFma(-RowsValue(v, floats, end - n), xi[back * RowsDistance(distance, wide, end - n)], sum); \
    __attribute__((fallthrough));

/*
  RowsRest - s less T_ij x_j for the entries [k, end) of a row but the last one, whose value and x follow

  One jump goes to the code for the rest of a row, since lengths that differ from row to row are not foreseen: neither are then a
  loop's end, an odd entry and a last one, each of which would cost as much. back: -1 for the lower triangle, 1 for the upper one
*/
SPMV_INLINE PetscScalar RowsRest(const void *restrict v, PetscBool floats, const void *distance, PetscBool wide, PetscInt k,
                                 PetscInt end, PetscInt back, const PetscScalar *xi, PetscScalar s, PetscScalar *value,
                                 PetscScalar *last)
{
  const char *ahead = (const char *)v + (floats ? sizeof(float) : sizeof(PetscScalar)) * (size_t)(k + ROWS_AHEAD);
  PetscScalar t     = 0;

  __builtin_prefetch(ahead, 0, 3);
  __builtin_prefetch(ahead + SPMV_CACHE_LINE, 0, 3);
  for (; end - k > ROWS_JUMP; k += 2) {
    s = SpmvFma(-RowsValue(v, floats, k), xi[back * RowsDistance(distance, wide, k)], s);
    t = SpmvFma(-RowsValue(v, floats, k + 1), xi[back * RowsDistance(distance, wide, k + 1)], t);
  }
  *value = *last = 0;
  switch (end - k) {
    ROWS_ENTRY(12, s)
    ROWS_ENTRY(11, t)
    ROWS_ENTRY(10, s)
    ROWS_ENTRY(9, t)
    ROWS_ENTRY(8, s)
    ROWS_ENTRY(7, t)
    ROWS_ENTRY(6, s)
    ROWS_ENTRY(5, t)
    ROWS_ENTRY(4, s)
    ROWS_ENTRY(3, t)
    ROWS_ENTRY(2, s)
  case 1:
    *value = RowsValue(v, floats, end - 1);
    *last  = xi[back * RowsDistance(distance, wide, end - 1)];
    break;
  default: break;
  }
  return s + t;
}

/* A pass; plain: x = S in - T x, or in - T x */
SPMV_INLINE void RowsPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *pass, PetscBool plain, PetscBool scale,
                          PetscBool wide, PetscBool floats)
{
  const SpmvRowsStorage  *r    = (const SpmvRowsStorage *)t->storage;
  const SpmvRowsTriangle *h    = &r->triangle[side];
  const PetscInt          back = side == SPMV_LOWER ? -1 : 1, n = t->n, *start = h->start;
  const PetscScalar      *in = pass->in, *diagonal = r->diagonal;
  const void             *distance = h->distance;
  const SpmvPass          p        = *pass;
  PetscScalar            *x = p.x, value, last;

  for (PetscInt z = 0; z < n; z++) {
    const PetscInt    i    = side == SPMV_LOWER ? z : n - 1 - z;
    const PetscScalar from = scale ? in[i] * diagonal[i] : in[i];

    if (plain) {
      const PetscScalar rest =
        RowsRest(h->value, floats, distance, wide, start[z], start[z + 1], back, x + i, from, &value, &last);

      x[i] = SpmvFma(-value, last, rest);
    } else {
      const PetscScalar rest =
        RowsRest(h->value, floats, distance, wide, start[z], start[z + 1], back, x + i, 0, &value, &last);
      PetscScalar add = from, sum;

      if (p.minus) add -= p.minus[i];
      if (p.keep != (PetscReal)0) add += p.keep * x[i];
      x[i] = SpmvFma(-value, last, add + rest);
      sum         = SpmvFma(-value, last, rest);
      if (p.before) p.before[i] = from + sum;
      if (p.product) p.product[i] = -sum;
    }
  }
}

  #define ROWS_PASS(side, wide) \
    do { \
      if (!SpmvPassIsPlain(p)) RowsPass(t, side, p, PETSC_FALSE, p->scale, wide, floats); \
      else if (p->scale) RowsPass(t, side, p, PETSC_TRUE, PETSC_TRUE, wide, floats); \
      else RowsPass(t, side, p, PETSC_TRUE, PETSC_FALSE, wide, floats); \
    } while (0)

SPMV_INLINE void RowsPassOf(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool floats)
{
  const PetscBool wide = ((const SpmvRowsStorage *)t->storage)->wide;

  if (side == SPMV_LOWER && !wide) ROWS_PASS(SPMV_LOWER, PETSC_FALSE);
  else if (side == SPMV_LOWER) ROWS_PASS(SPMV_LOWER, PETSC_TRUE);
  else if (!wide) ROWS_PASS(SPMV_UPPER, PETSC_FALSE);
  else ROWS_PASS(SPMV_UPPER, PETSC_TRUE);
}

SPMV_INLINE void RowsProduct(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y, PetscBool wide,
                             PetscBool floats)
{
  const SpmvRowsStorage  *r    = (const SpmvRowsStorage *)t->storage;
  const SpmvRowsTriangle *h    = &r->triangle[side];
  const PetscInt          back = side == SPMV_LOWER ? -1 : 1, n = t->n, *start = h->start;

  for (PetscInt z = 0; z < n; z++) {
    const PetscInt    i = side == SPMV_LOWER ? z : n - 1 - z;
    PetscScalar       value, last;
    const PetscScalar rest =
      RowsRest(h->value, floats, h->distance, wide, start[z], start[z + 1], back, x + i, 0, &value, &last);

    y[i] = -SpmvFma(-value, last, rest);
  }
}

SPMV_INLINE void RowsProductOf(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y,
                               PetscBool floats)
{
  const PetscBool wide = ((const SpmvRowsStorage *)t->storage)->wide;

  if (side == SPMV_LOWER && !wide) RowsProduct(t, SPMV_LOWER, x, y, PETSC_FALSE, floats);
  else if (side == SPMV_LOWER) RowsProduct(t, SPMV_LOWER, x, y, PETSC_TRUE, floats);
  else if (!wide) RowsProduct(t, SPMV_UPPER, x, y, PETSC_FALSE, floats);
  else RowsProduct(t, SPMV_UPPER, x, y, PETSC_TRUE, floats);
}

SPMV_PASSES_DEFINE(RowsPassOf, RowsProductOf)

const SpmvShapeKernels SPMV_ISA_NAME(SpmvRowsKernels) = {SPMV_PASSES};
#endif
