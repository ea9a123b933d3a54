/*
  sbccoo_sorted.h - rows of scalars of one length in a product, as sbccoo_scalars.h has one row, without pieces

  Such a row has no more than a few instructions beside those of its entries. Loads of two entries come before the stores of both.
*/
#pragma once
#include "sbccoo_scalars.h"

#if !SPMV_SIMD_PLAIN
  #define SORTED_LENGTHS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12)

/* An entry of a row: a, and p on the other side of the diagonal */
SPMV_INLINE void SortedOne(PetscScalar a, PetscScalar p, size_t j, PetscScalar xi, const PetscScalar *x, PetscScalar *y,
                           PetscScalar *sum)
{
  *sum = __builtin_fma(a, x[j], *sum);
  y[j] = __builtin_fma(p, xi, y[j]);
}

/* Four entries of a row, or what is left of n; p: those on the other side of the diagonal */
SPMV_INLINE void SortedFour(PetscInt n, const PetscScalar *a, const PetscScalar *p, const uint16_t *index, PetscScalar xi,
                            const PetscScalar *x, PetscScalar *y, PetscScalar sum[2])
{
  SPMV_UNROLL
  for (PetscInt k = 0; k < 4; k += 2) {
    if (k + 1 < n) {
      const size_t      i = index[k], j = index[k + 1];
      const PetscScalar s = __builtin_fma(p[k], xi, y[i]), t = __builtin_fma(p[k + 1], xi, y[j]);

      sum[0] = __builtin_fma(a[k], x[i], sum[0]);
      sum[1] = __builtin_fma(a[k + 1], x[j], sum[1]);
      y[i]   = s;
      y[j]   = t;
    } else if (k < n) SortedOne(a[k], p[k], index[k], xi, x, y, sum);
  }
}

/* `rows` rows of n single entries and nboth pairs with both; x, y from the first one of the chunk on */
SPMV_INLINE void SortedRows(SbccooAt *at, size_t codes, PetscBool transpose, PetscInt rows, PetscInt n, PetscInt nboth,
                            const PetscScalar *x, PetscScalar *y)
{
  const PetscScalar *v = at->value, *both = at->both;
  const int8_t      *code  = at->code;
  const uint16_t    *index = at->index;
  const uint8_t     *row   = at->row;
  const size_t       ahead = at->ahead;
  const Spmv4        least = Spmv4Splat(at->least), unit = Spmv4Splat(SBCCOO_UNIT);

  for (PetscInt r = 0; r < rows; r++) {
    const PetscScalar *xr = x + row[r], xi = *xr;
    PetscScalar       *yr = y + row[r], sum[2] = {0, 0};

    SpmvPrefetch((const char *)v + ahead, (size_t)n * sizeof(*v));
    SPMV_UNROLL
    for (PetscInt k = 0; k < n; k += 4) {
      PetscScalar other[4];

      if (codes) Spmv4StoreFew(other, SbccooAddFour(Spmv4Load(v + k), codes, code + (size_t)k * codes, least, unit), 4);
      SortedFour(n - k, transpose && codes ? other : v + k, !transpose && codes ? other : v + k, index + k, xi, xr, yr, sum);
    }
    v += n;
    index += n;
    if (codes) code += (size_t)n * codes;
    for (PetscInt k = 0; k < nboth; k++, both += 2) {
      SpmvPrefetch((const char *)both + ahead, 1);
      SortedOne(both[transpose], both[!transpose], index[k], xi, xr, yr, sum);
    }
    index += nboth;
    *yr += sum[0] + sum[1];
  }
  at->value = v;
  at->both  = both;
  at->code  = code;
  at->index = index;
  at->row   = row + rows;
}

/* The same for any n; codes is a constant */
SPMV_INLINE void SortedAny(SbccooAt *at, size_t codes, PetscBool transpose, PetscInt rows, PetscInt n, PetscInt nboth,
                           const PetscScalar *x, PetscScalar *y)
{
  #define SORTED_CASE(N) \
  case N: SortedRows(at, codes, PETSC_FALSE, rows, N, 0, x, y); return;

  if (!nboth && !(codes && transpose)) { /* equal pairs are their own transposes */
    switch (n) {
      SORTED_LENGTHS(SORTED_CASE)
    }
  }
  if (transpose) SortedRows(at, codes, PETSC_TRUE, rows, n, nboth, x, y);
  else SortedRows(at, codes, PETSC_FALSE, rows, n, nboth, x, y);
  #undef SORTED_CASE
}

/* A function of its own, so that all it has is in registers */
static __attribute__((noinline)) void SbccooSortedRows(SbccooAt *at, size_t codes, PetscBool transpose, PetscInt rows, PetscInt n,
                                                       PetscInt nboth, const PetscScalar *x, PetscScalar *y)
{
  if (!codes) SortedAny(at, 0, transpose, rows, n, nboth, x, y);
  else if (codes == 1) SortedAny(at, 1, transpose, rows, n, nboth, x, y);
  else SortedAny(at, 2, transpose, rows, n, nboth, x, y);
}
#endif
