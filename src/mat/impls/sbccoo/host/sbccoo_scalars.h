/*
  sbccoo_scalars.h - a row of scalars in a product, as sbccoo_blocks.h has one of blocks, without the diagonal

  Pieces of four columns are vectors. Lanes that have no entry leave sums and y as they are, whatever x has there. codes: bytes of
  a code, 0: there are none.
*/
#pragma once
#include "sbccoo_blocks.h"

#if SPMV_SIMD_PLAIN
/* One entry: adds to *sum and to *y */
SPMV_INLINE void SbccooEntry(SbccooAt *at, size_t codes, PetscBool transpose, PetscScalar xi, const PetscScalar *x,
                             PetscScalar *y, PetscScalar *sum)
{
  const PetscScalar a = *at->value, o = SbccooOther(a, codes, at->code, at->least, at->conjugate);

  *sum += (transpose ? o : a) * *x;
  *y += (transpose ? a : o) * xi;
  at->value++;
  if (codes) at->code += SBCCOO_CODES * codes;
}

SPMV_INLINE PetscScalar SbccooPieces(SbccooAt *at, size_t codes, PetscBool transpose, PetscBool wide, PetscInt n, PetscScalar xi,
                                     const PetscScalar *x, PetscScalar *y)
{
  PetscScalar sum = 0;

  for (PetscInt k = 0; k < n; k++) {
    const size_t j = SBCCOO_PIECE * SbccooNumber(at->index, k, wide);

    for (unsigned mask = *at->mask++; mask; mask &= mask - 1) {
      const int l = __builtin_ctz(mask);

      SbccooEntry(at, codes, transpose, xi, x + j + l, y + j + l, &sum);
    }
  }
  return sum;
}

SPMV_INLINE PetscScalar SbccooSingle(SbccooAt *at, size_t codes, PetscBool transpose, PetscBool wide, PetscInt n, PetscScalar xi,
                                     const PetscScalar *x, PetscScalar *y)
{
  PetscScalar sum = 0;

  for (PetscInt k = 0; k < n; k++) {
    const size_t j = SbccooNumber(at->index, k, wide);

    SbccooEntry(at, codes, transpose, xi, x + j, y + j, &sum);
  }
  return sum;
}
#else
/* The second entries of four pairs with codes, of so many bytes each */
SPMV_INLINE Spmv4 SbccooAddFour(Spmv4 v, size_t codes, const int8_t *code, Spmv4 least, Spmv4 unit)
{
  return codes == sizeof(int8_t) ? Spmv4AddSteps(v, code, least, unit) : Spmv4AddSteps16(v, code, least, unit);
}

SPMV_INLINE PetscScalar SbccooPieces(SbccooAt *at, size_t codes, PetscBool transpose, PetscBool wide, PetscInt n, PetscScalar xi,
                                     const PetscScalar *x, PetscScalar *y)
{
  const Spmv4 x4 = Spmv4Splat(xi), least = Spmv4Splat(at->least), unit = Spmv4Splat(SBCCOO_UNIT);
  Spmv4       sum = Spmv4Zero();

  for (PetscInt k = 0; k < n; k++) {
    const unsigned mask = at->mask[k];
    const size_t   j    = SBCCOO_PIECE * SbccooNumber(at->index, k, wide);
    const Spmv4    v = Spmv4Load(at->value), a = Spmv4Expand(v, mask);
    const Spmv4    o     = codes ? Spmv4Expand(SbccooAddFour(v, codes, at->code, least, unit), mask) : a;
    const int      count = __builtin_popcount(mask);

    SbccooAhead(at, 1);
    sum = Spmv4FmaWhere(transpose ? o : a, Spmv4Load(x + j), sum, mask);
    Spmv4StoreFew(y + j, Spmv4FmaWhere(transpose ? a : o, x4, Spmv4Load(y + j), mask), 4);
    at->value += count;
    if (codes) at->code += (size_t)count * codes;
  }
  at->mask += n;
  return Spmv4Sum(sum);
}

/* Two at a time: two sums, and loads of the second before the store of the first */
SPMV_INLINE PetscScalar SbccooSingle(SbccooAt *at, size_t codes, PetscBool transpose, PetscBool wide, PetscInt n, PetscScalar xi,
                                     const PetscScalar *x, PetscScalar *y)
{
  const PetscScalar *v      = at->value;
  PetscScalar        sum[2] = {0, 0};
  PetscInt           k      = 0;

  SpmvPrefetch((const char *)v + at->ahead, (size_t)n * sizeof(*v));
  for (; k + 2 <= n; k += 2) {
    const size_t      i = SbccooNumber(at->index, k, wide), j = SbccooNumber(at->index, k + 1, wide);
    const PetscScalar a = v[k], b = v[k + 1];
    const PetscScalar p = codes ? SbccooAddSteps(a, SbccooCodeAt(at->code, (size_t)k, codes), at->least) : a;
    const PetscScalar q = codes ? SbccooAddSteps(b, SbccooCodeAt(at->code, (size_t)(k + 1), codes), at->least) : b;

    SPMV_SCALAR_LOOP(k);
    sum[0] += (transpose ? p : a) * x[i];
    sum[1] += (transpose ? q : b) * x[j];
    y[i] += (transpose ? a : p) * xi;
    y[j] += (transpose ? b : q) * xi;
  }
  if (k < n) {
    const size_t      i = SbccooNumber(at->index, k, wide);
    const PetscScalar a = v[k], p = codes ? SbccooAddSteps(a, SbccooCodeAt(at->code, (size_t)k, codes), at->least) : a;

    sum[0] += (transpose ? p : a) * x[i];
    y[i] += (transpose ? a : p) * xi;
  }
  at->value += n;
  if (codes) at->code += (size_t)n * codes;
  return sum[0] + sum[1];
}
#endif

/* Pairs of which both entries are stored */
SPMV_INLINE PetscScalar SbccooBoth(SbccooAt *at, PetscBool transpose, PetscBool wide, PetscInt n, PetscScalar xi,
                                   const PetscScalar *x, PetscScalar *y)
{
  const PetscScalar *v   = at->both;
  PetscScalar        sum = 0;

  for (PetscInt k = 0; k < n; k++, v += 2) {
    const size_t j = SbccooNumber(at->index, k, wide);

    SPMV_SCALAR_LOOP(k);
    SpmvPrefetch((const char *)v + at->ahead, 1);
    sum += (transpose ? v[1] : v[0]) * x[j];
    y[j] += (transpose ? v[0] : v[1]) * xi;
  }
  at->both = v;
  return sum;
}

/* A row with so many pieces, single entries and pairs with both; x, y from it on. lane: i % 4, pieces begin at x - lane */
SPMV_INLINE void SbccooScalarRow(SbccooAt *at, size_t codes, PetscBool transpose, PetscBool wide, PetscInt npieces,
                                 PetscInt nsingle, PetscInt nboth, int lane, const PetscScalar *x, PetscScalar *y)
{
  const PetscScalar xi  = *x;
  const int         per = wide ? 2 : 1;
  PetscScalar       sum = SbccooPieces(at, codes, transpose, wide, npieces, xi, x - lane, y - lane);

  at->index += per * npieces;
  sum += SbccooSingle(at, codes, transpose, wide, nsingle, xi, x, y);
  at->index += per * nsingle;
  if (nboth) sum += SbccooBoth(at, transpose, wide, nboth, xi, x, y);
  at->index += per * nboth;
  *y += sum;
}
