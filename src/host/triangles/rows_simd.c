/*
  rows_simd.c - passes over rows that are laid out one after the other, compiled once for each instruction set of isas.h

  A row's sum is made by two chains of additions. The x of the row before comes from a register where it is the last entry's: through
  memory it would take the time of a store and a load in each row.
*/
#include "rows.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvShapeKernels SPMV_ISA_NAME(SpmvRowsKernels) = {NULL, NULL};
#else

  #define ROWS_AHEAD 128 /* entries between what is in use and what is prefetched */

SPMV_INLINE PetscInt RowsDistance(const void *distance, PetscBool wide, PetscInt k)
{
  return wide ? ((const PetscInt *)distance)[k] : ((const uint16_t *)distance)[k];
}

/* sum_j T_ij x_j of the row with entries [k, end); back: -1 for the lower triangle, 1 for the upper one; prev: x of the row before */
SPMV_INLINE PetscScalar RowsSum(const PetscScalar *restrict v, const void *distance, PetscBool wide, PetscInt k, PetscInt end,
                                PetscInt back, const PetscScalar *xi, PetscScalar prev, PetscScalar s)
{
  PetscScalar t = 0, last;

  __builtin_prefetch(v + k + ROWS_AHEAD, 0, 3);
  __builtin_prefetch(v + k + ROWS_AHEAD + 8, 0, 3);
  for (; k + 2 < end; k += 2) {
    s -= v[k] * xi[back * RowsDistance(distance, wide, k)];
    t -= v[k + 1] * xi[back * RowsDistance(distance, wide, k + 1)];
  }
  if (k + 1 < end) {
    t -= v[k] * xi[back * RowsDistance(distance, wide, k)];
    k++;
  }
  s += t;
  if (k < end) {
    const PetscInt d = RowsDistance(distance, wide, k);

    last = xi[back * d];
    if (d == 1) last = prev;
    s -= v[k] * last;
  }
  return s;
}

/* A pass; plain: x = S in - T x, or in - T x */
SPMV_INLINE void RowsPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool plain, PetscBool scale,
                          PetscBool wide)
{
  const SpmvRowsStorage  *r    = (const SpmvRowsStorage *)t->storage;
  const SpmvRowsTriangle *h    = &r->triangle[side];
  const PetscInt          back = side == SPMV_LOWER ? -1 : 1, n = t->n, *start = h->start;
  const PetscScalar      *v = h->value, *in = p->in, *diagonal = r->diagonal;
  const void             *distance = h->distance;
  PetscScalar            *x = p->x, prev = 0;

  for (PetscInt z = 0; z < n; z++) {
    const PetscInt    i    = side == SPMV_LOWER ? z : n - 1 - z;
    const PetscScalar from = scale ? in[i] * diagonal[i] : in[i];
    PetscScalar       s;

    if (plain) {
      x[i] = prev = RowsSum(v, distance, wide, start[z], start[z + 1], back, x + i, prev, from);
    } else {
      const PetscScalar minus = p->minus ? p->minus[i] : 0,
                        sum   = -RowsSum(v, distance, wide, start[z], start[z + 1], back, x + i, prev, 0);

      s = from - sum;
      if (p->before) p->before[i] = s;
      if (p->product) p->product[i] = sum;
      s -= minus;
      if (p->keep != 0) s += p->keep * x[i];
      x[i] = prev = s;
    }
  }
}

  #define ROWS_PASS(side, wide) \
    do { \
      if (!SpmvPassIsPlain(p)) RowsPass(t, side, p, PETSC_FALSE, p->scale, wide); \
      else if (p->scale) RowsPass(t, side, p, PETSC_TRUE, PETSC_TRUE, wide); \
      else RowsPass(t, side, p, PETSC_TRUE, PETSC_FALSE, wide); \
    } while (0)

static void Pass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p)
{
  const PetscBool wide = ((const SpmvRowsStorage *)t->storage)->wide;

  if (side == SPMV_LOWER && !wide) ROWS_PASS(SPMV_LOWER, PETSC_FALSE);
  else if (side == SPMV_LOWER) ROWS_PASS(SPMV_LOWER, PETSC_TRUE);
  else if (!wide) ROWS_PASS(SPMV_UPPER, PETSC_FALSE);
  else ROWS_PASS(SPMV_UPPER, PETSC_TRUE);
}

SPMV_INLINE void RowsProduct(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y, PetscBool wide)
{
  const SpmvRowsStorage  *r    = (const SpmvRowsStorage *)t->storage;
  const SpmvRowsTriangle *h    = &r->triangle[side];
  const PetscInt          back = side == SPMV_LOWER ? -1 : 1, n = t->n, *start = h->start;

  for (PetscInt z = 0; z < n; z++) {
    const PetscInt i = side == SPMV_LOWER ? z : n - 1 - z;

    y[i] =
      -RowsSum(h->value, h->distance, wide, start[z], start[z + 1], back, x + i, start[z] < start[z + 1] ? x[i + back] : 0, 0);
  }
}

static void Product(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y)
{
  const PetscBool wide = ((const SpmvRowsStorage *)t->storage)->wide;

  if (side == SPMV_LOWER && !wide) RowsProduct(t, SPMV_LOWER, x, y, PETSC_FALSE);
  else if (side == SPMV_LOWER) RowsProduct(t, SPMV_LOWER, x, y, PETSC_TRUE);
  else if (!wide) RowsProduct(t, SPMV_UPPER, x, y, PETSC_FALSE);
  else RowsProduct(t, SPMV_UPPER, x, y, PETSC_TRUE);
}

const SpmvShapeKernels SPMV_ISA_NAME(SpmvRowsKernels) = {Pass, Product};
#endif
