/*
  rows_simd.c - passes over rows that are laid out one after the other, compiled once for each instruction set of isas.h

  A row's sum is made by two chains of additions. The last entry, whose x is often that of the row before, is multiplied last.
*/
#include "rows.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvShapeKernels SPMV_ISA_NAME(SpmvRowsKernels) = {0};
#else

  #define ROWS_AHEAD 512 /* entries between what is in use and what is prefetched */

/* The x of entry k, from the place of its row's; a constant is left in the address, so that an entry takes two instructions */
SPMV_INLINE PetscScalar RowsX(const PetscScalar *xi, const void *offset, SpmvTriangleSide side, PetscBool wide, PetscInt k)
{
  if (wide) return xi[((const PetscInt *)offset)[k]];
  return xi[(ptrdiff_t)((const uint16_t *)offset)[k] - (side == SPMV_LOWER ? SPMV_ROWS_BELOW : 0)];
}

SPMV_INLINE PetscScalar RowsValue(const void *v, PetscBool floats, PetscInt k)
{
  #if SPMV_VALUES_HAS_FLOAT
  if (floats) return (PetscScalar)((const float *)v)[k];
  #endif
  return ((const PetscScalar *)v)[k];
}

/*
  RowsRest - s less T_ij x_j for the entries [k, end) of a row but the last one, whose value and x follow

  Lengths that differ from row to row are best foreseen as a loop's end. A jump to the code for each length is foreseen less
  often: Zen 4 took 1.2 to 3 times as long for short rows, in cache and out of it, though Ice Lake 0.8 times as long in cache
*/
SPMV_INLINE PetscScalar RowsRest(const void *restrict v, PetscBool floats, const void *offset, SpmvTriangleSide side,
                                 PetscBool wide, PetscInt k, PetscInt end, const PetscScalar *xi, PetscScalar s,
                                 PetscScalar *value, PetscScalar *last)
{
  const char *ahead = (const char *)v + (floats ? sizeof(float) : sizeof(PetscScalar)) * (size_t)(k + ROWS_AHEAD);
  PetscScalar t     = 0;

  __builtin_prefetch(ahead, 0, 3);
  __builtin_prefetch(ahead + SPMV_CACHE_LINE, 0, 3);
  for (; k + 2 < end; k += 2) {
    s = SpmvFma(-RowsValue(v, floats, k), RowsX(xi, offset, side, wide, k), s);
    t = SpmvFma(-RowsValue(v, floats, k + 1), RowsX(xi, offset, side, wide, k + 1), t);
  }
  if (k + 1 < end) {
    t = SpmvFma(-RowsValue(v, floats, k), RowsX(xi, offset, side, wide, k), t);
    k++;
  }
  *value = *last = 0;
  if (k < end) {
    *value = RowsValue(v, floats, k);
    *last  = RowsX(xi, offset, side, wide, k);
  }
  return s + t;
}

/* A pass; plain: x = S in - T x, or in - T x */
SPMV_INLINE void RowsPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *pass, PetscBool plain, PetscBool scale,
                          PetscBool wide, PetscBool floats)
{
  const SpmvRowsStorage  *r = (const SpmvRowsStorage *)t->storage;
  const SpmvRowsTriangle *h = &r->triangle[side];
  const PetscInt          n = t->n, *start = h->start;
  const PetscScalar      *in = pass->in, *diagonal = r->diagonal;
  const void             *offset = h->offset;
  const SpmvPass          p      = *pass;
  PetscScalar            *x      = p.x, value, last;

  for (PetscInt z = 0; z < n; z++) {
    const PetscInt    i    = side == SPMV_LOWER ? z : n - 1 - z;
    const PetscScalar from = scale ? in[i] * diagonal[i] : in[i];

    if (plain) {
      const PetscScalar rest = RowsRest(h->value, floats, offset, side, wide, start[z], start[z + 1], x + i, from, &value, &last);

      x[i] = SpmvFma(-value, last, rest);
    } else {
      const PetscScalar rest = RowsRest(h->value, floats, offset, side, wide, start[z], start[z + 1], x + i, 0, &value, &last);
      PetscScalar       add  = from, sum;

      if (p.minus) add -= p.minus[i];
      if (p.keep != (PetscReal)0) add += p.keep * x[i];
      x[i] = SpmvFma(-value, last, add + rest);
      sum  = SpmvFma(-value, last, rest);
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
  const SpmvRowsStorage  *r = (const SpmvRowsStorage *)t->storage;
  const SpmvRowsTriangle *h = &r->triangle[side];
  const PetscInt          n = t->n, *start = h->start;

  for (PetscInt z = 0; z < n; z++) {
    const PetscInt    i = side == SPMV_LOWER ? z : n - 1 - z;
    PetscScalar       value, last;
    const PetscScalar rest = RowsRest(h->value, floats, h->offset, side, wide, start[z], start[z + 1], x + i, 0, &value, &last);

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
