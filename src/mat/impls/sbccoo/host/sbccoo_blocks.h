/*
  sbccoo_blocks.h - a row of blocks in a product

  y_i += A_ii x_i + sum_j A_ij x_j, and y_j += A_ji x_i for each j of these, where A_ji is told from A_ij. With `transpose` A_ij
  and A_ji change places, and A_ii is transposed.

  A row of a block is a vector, so that y_i has a sum for each of them. What lies behind the b entries of a row is the next row: x
  is 0 there, and what such lanes have is neither summed nor stored.

  `far`: codes of the row may say that second entries are in far[].
*/
#pragma once
#include "sbccoo_pairs.h"
#include "../../../../host/simd/simd.h"

/*
  Bytes between the values in use and those that are prefetched. Hexahedra elasticity of 30 M entries took 0.165, 0.143, 0.130,
  0.133 ns an entry with 2048, 4096, 8192, 12288 on Zen 5, where one core reads 33 GB/s; scalars hardly differ. They are
  prefetched into the second cache: the first has too few lines under way. Nine matrices of 12 to 30 M entries take 0.89 times as
  long as with the first one, P1 in space 0.80 times; with 4096 and 12288 0.94 and 0.90 (Zen 4)
*/
#define SBCCOO_AHEAD 8192

/* Where a product is in the arrays, and what it is */
typedef struct {
  const PetscScalar *value;
  const int8_t      *code;
  const uint16_t    *index;
  const uint8_t     *mask, *row;
  const PetscScalar *both, *far;
  PetscReal          least;
  size_t             ahead; /* SBCCOO_AHEAD; 0: a cache has the values */
  PetscBool          conjugate;
} SbccooAt;

SPMV_INLINE void SbccooAhead(const SbccooAt *at, size_t bytes)
{
  SpmvPrefetch((const char *)at->value + at->ahead, bytes);
}

#if SPMV_SIMD_PLAIN
SPMV_INLINE void SbccooBlockRow(SbccooAt *at, int b, PetscBool codes, PetscBool transpose, PetscBool wide, PetscBool far,
                                PetscInt n, const PetscScalar *x, PetscScalar *y)
{
  PetscScalar        sum[SBCCOO_BLOCK_MAX];
  const PetscScalar *v = at->value;

  for (int r = 0; r < b; r++) {
    sum[r] = 0;
    for (int c = 0; c < b; c++) sum[r] += (transpose ? v[c * b + r] : v[r * b + c]) * x[c];
  }
  v += b * b;
  for (PetscInt k = 0; k < n; k++, v += b * b) {
    const size_t       j  = (size_t)b * SbccooNumber(at->index, k, wide);
    const PetscScalar *xj = x + j;
    PetscScalar       *yj = y + j;

    for (int r = 0; r < b; r++) {
      for (int c = 0; c < b; c++) {
        const int8_t     *code = codes ? at->code + (size_t)(r * b + c) * SBCCOO_CODES : NULL;
        const PetscScalar a    = v[r * b + c];
        const PetscScalar o =
          far && *code == SBCCOO_FAR ? *at->far++ : SbccooOther(a, codes ? 1 : 0, code, at->least, at->conjugate);

        sum[r] += (transpose ? o : a) * xj[c];
        yj[c] += (transpose ? a : o) * x[r];
      }
    }
    if (codes) at->code += (size_t)(b * b) * SBCCOO_CODES;
  }
  at->index += wide ? 2 * n : n;
  at->value = v;
  for (int r = 0; r < b; r++) y[r] += sum[r];
}
#else
  #define SBCCOO_VECTOR(V, N) \
    /* The sum of the first b lanes of v[l] in lane l, l < b */ \
    SPMV_INLINE V SbccooTotal_##V(int b, V v[]) \
    { \
      SPMV_UNROLL \
      for (int k = 0; k < N; k++) v[k] = k < b ? V##First(v[k], b) : V##Zero(); \
      return V##Sums(v); \
    } \
\
    SPMV_INLINE void SbccooBlockRow_##V(SbccooAt *at, int b, PetscBool codes, PetscBool transpose, PetscBool wide, \
                                        PetscBool far, PetscInt n, const PetscScalar *x, PetscScalar *y) \
    { \
      const PetscScalar *v     = at->value; \
      const V            own   = V##LoadFew(x, b); \
      const V            least = V##Splat(at->least), unit = V##Splat(SBCCOO_UNIT); \
      V                  down = V##LoadFew(y, b), xi[SBCCOO_BLOCK_MAX], sum[SBCCOO_BLOCK_MAX]; \
\
      SPMV_UNROLL \
      for (int r = 0; r < b; r++) { \
        const V row = V##Load(v + r * b); \
\
        xi[r]  = V##Splat(x[r]); \
        sum[r] = transpose ? V##Zero() : V##Fma(row, own, V##Zero()); \
        if (transpose) down = V##Fma(row, xi[r], down); \
      } \
      SbccooAhead(at, (size_t)(b * b) * sizeof(PetscScalar)); \
      v += b * b; \
      for (PetscInt k = 0; k < n; k++, v += b * b) { \
        const size_t   j     = (size_t)b * SbccooNumber(at->index, k, wide); \
        const V        xj    = V##LoadFirst(x + j, b); \
        V              yj    = V##LoadFew(y + j, b); \
        const uint64_t lanes = far ? SpmvFarLanes(at->code, b * b) : 0; \
\
        at->value = v; \
        SbccooAhead(at, (size_t)(b * b) * sizeof(PetscScalar)); \
        SPMV_UNROLL \
        for (int r = 0; r < b; r++) { \
          const V a = V##Load(v + r * b); \
          V       o = codes ? V##AddSteps(a, at->code + r * b, least, unit) : a; \
\
          if (far) o = V##TakeFar(o, (unsigned)(lanes >> r * b) & ((1u << b) - 1), &at->far); \
\
          sum[r] = V##Fma(transpose ? o : a, xj, sum[r]); \
          yj     = V##Fma(transpose ? a : o, xi[r], yj); \
        } \
        V##StoreFew(y + j, yj, b); \
        if (codes) at->code += b * b; \
      } \
      at->index += wide ? 2 * n : n; \
      at->value = v; \
      V##StoreFew(y, V##Add(down, SbccooTotal_##V(b, sum)), b); \
    }
SBCCOO_VECTOR(Spmv4, 4)
SBCCOO_VECTOR(Spmv8, 8)
  #undef SBCCOO_VECTOR

/* Blocks of two rows: a block is a vector, and so are the products of its entries for y_i and for y_j */
SPMV_INLINE void SbccooTwoRow(SbccooAt *at, PetscBool codes, PetscBool transpose, PetscBool wide, PetscBool far, PetscInt n,
                              const PetscScalar *x, PetscScalar *y)
{
  const PetscScalar *v   = at->value;
  const Spmv4        own = Spmv4SplatTwo(x[0], x[1]), least = Spmv4Splat(at->least), unit = Spmv4Splat(SBCCOO_UNIT);
  Spmv4              a = Spmv4Load(v), sum = Spmv4Zero(), down = Spmv4LoadFew(y, 2);

  if (transpose) down = Spmv4Fold(Spmv4Fma(a, own, down));
  else sum = Spmv4Fma(a, Spmv4SplatPair(x), sum);
  SbccooAhead(at, 4 * sizeof(PetscScalar));
  v += 4;
  for (PetscInt k = 0; k < n; k++, v += 4) {
    const size_t j = 2 * SbccooNumber(at->index, k, wide);
    Spmv4        o;

    at->value = v;
    SbccooAhead(at, 4 * sizeof(PetscScalar));
    a = Spmv4Load(v);
    o = codes ? Spmv4AddSteps(a, at->code, least, unit) : a;
    if (far) o = Spmv4TakeFar(o, (unsigned)SpmvFarLanes(at->code, 4) & 15, &at->far);
    sum = Spmv4Fma(transpose ? o : a, Spmv4SplatPair(x + j), sum);
    Spmv4StoreFew(y + j, Spmv4Fold(Spmv4Fma(transpose ? a : o, own, Spmv4LoadFew(y + j, 2))), 2);
    if (codes) at->code += 4;
  }
  at->index += wide ? 2 * n : n;
  at->value = v;
  Spmv4StoreFew(y, Spmv4Add(down, Spmv4Pairs(sum, sum)), 2);
}

SPMV_INLINE void SbccooBlockRow(SbccooAt *at, int b, PetscBool codes, PetscBool transpose, PetscBool wide, PetscBool far,
                                PetscInt n, const PetscScalar *x, PetscScalar *y)
{
  if (b == 2) SbccooTwoRow(at, codes, transpose, wide, far, n, x, y);
  else if (b <= 4) SbccooBlockRow_Spmv4(at, b, codes, transpose, wide, far, n, x, y);
  else SbccooBlockRow_Spmv8(at, b, codes, transpose, wide, far, n, x, y);
}
#endif
