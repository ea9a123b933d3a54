/*
  avx512.h - the vectors of simd.h with AVX-512 (F, DQ, BW, VL), for double
*/
#pragma once
#undef I /* PETSc's complex.h */
#include <immintrin.h>
#include <string.h>

typedef __m512d Spmv8;
#define Spmv8Low(v)          _mm512_castpd512_pd256(v)
#define Spmv8High(v)         _mm512_extractf64x4_pd(v, 1)
#define Spmv8Join(low, high) _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1)
#include "x86.h"

#define Spmv8Zero      _mm512_setzero_pd
#define Spmv8Load      _mm512_loadu_pd
#define Spmv8Store     _mm512_storeu_pd
#define Spmv8Stream    _mm512_stream_pd
#define Spmv8Splat     _mm512_set1_pd
#define Spmv8Add       _mm512_add_pd
#define Spmv8Mul       _mm512_mul_pd
#define Spmv8Fma       _mm512_fmadd_pd
#define Spmv8FmaWhere  _mm512_mask3_fmadd_pd
#define Spmv8LoadWhere _mm512_mask_loadu_pd

SPMV_INLINE Spmv8 Spmv8LoadFloat(const float *p)
{
  return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}
SPMV_INLINE Spmv8 Spmv8SplatTwo(double s, double t)
{
  return _mm512_mask_broadcastsd_pd(_mm512_set1_pd(s), 0xf0, _mm_set_sd(t));
}

/* The first n lanes, n = 0 to 8 */
SPMV_INLINE __mmask8 SpmvFirst(int n)
{
  return (__mmask8)((1 << n) - 1);
}
SPMV_INLINE Spmv4 Spmv4LoadFirst(const double *p, int n)
{
  return _mm256_maskz_loadu_pd(SpmvFirst(n), p);
}
SPMV_INLINE void Spmv4StoreFirst(double *p, Spmv4 v, int n)
{
  _mm256_mask_storeu_pd(p, SpmvFirst(n), v);
}
SPMV_INLINE Spmv8 Spmv8LoadFirst(const double *p, int n)
{
  return _mm512_maskz_loadu_pd(SpmvFirst(n), p);
}
SPMV_INLINE void Spmv8StoreFirst(double *p, Spmv8 v, int n)
{
  _mm512_mask_storeu_pd(p, SpmvFirst(n), v);
}
SPMV_INLINE Spmv4 Spmv4First(Spmv4 v, int n)
{
  return _mm256_maskz_mov_pd(SpmvFirst(n), v);
}
SPMV_INLINE Spmv8 Spmv8First(Spmv8 v, int n)
{
  return _mm512_maskz_mov_pd(SpmvFirst(n), v);
}
SPMV_INLINE Spmv8 Spmv8AddSteps(Spmv8 v, const int8_t *p, Spmv8 least, Spmv8 unit)
{
  const Spmv8 power = _mm512_max_pd(_mm512_and_pd(v, _mm512_set1_pd(INFINITY)), least);
  const Spmv8 steps = _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));

  return _mm512_fmadd_pd(_mm512_mul_pd(steps, power), unit, v);
}
SPMV_INLINE unsigned Spmv8Same(Spmv8 v, Spmv8 w)
{
  return _mm512_cmpeq_epi64_mask(_mm512_castpd_si512(v), _mm512_castpd_si512(w));
}
SPMV_INLINE unsigned Spmv8Close(Spmv8 v, Spmv8 w, Spmv8 relative)
{
  const Spmv8 larger = _mm512_max_pd(_mm512_abs_pd(v), _mm512_abs_pd(w));

  return _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_sub_pd(w, v)), _mm512_mul_pd(relative, larger), _CMP_LE_OQ);
}
/* The steps that make w of v, `most` at most; returns the lanes where they do */
SPMV_INLINE unsigned SpmvFind8(Spmv8 v, Spmv8 w, Spmv8 least, Spmv8 unit, double most, __m256i *found)
{
  const Spmv8    power   = _mm512_max_pd(_mm512_and_pd(v, _mm512_set1_pd(INFINITY)), least);
  const __m512i  twice   = _mm512_add_epi64(_mm512_castpd_si512(_mm512_set1_pd(1)), _mm512_castpd_si512(_mm512_set1_pd(1)));
  const Spmv8    inverse = _mm512_castsi512_pd(_mm512_sub_epi64(twice, _mm512_castpd_si512(power)));
  const Spmv8    steps   = _mm512_div_pd(_mm512_mul_pd(_mm512_sub_pd(w, v), inverse), unit);
  const __mmask8 few     = _mm512_cmp_pd_mask(_mm512_abs_pd(steps), _mm512_set1_pd(most), _CMP_LE_OQ);
  const __m256i  n       = _mm512_cvttpd_epi32(_mm512_maskz_mov_pd(few, steps));

  *found = n;
  return few & Spmv8Same(_mm512_fmadd_pd(_mm512_mul_pd(_mm512_cvtepi32_pd(n), power), unit, v), w);
}
SPMV_INLINE unsigned Spmv8FindSteps(Spmv8 v, Spmv8 w, Spmv8 least, Spmv8 unit, int8_t *p)
{
  __m256i        n;
  const unsigned lanes = SpmvFind8(v, w, least, unit, 127, &n);

  _mm_storel_epi64((__m128i *)(void *)p, _mm256_cvtepi32_epi8(n));
  return lanes;
}
SPMV_INLINE unsigned Spmv8FindSteps16(Spmv8 v, Spmv8 w, Spmv8 least, Spmv8 unit, int8_t *p)
{
  __m256i        n;
  const unsigned lanes = SpmvFind8(v, w, least, unit, 32767, &n);

  _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtepi32_epi16(n));
  return lanes;
}
/* The instruction waits for its destination even where it zeroes it, and is slow from memory: both are registers of their own */
SPMV_INLINE Spmv4 Spmv4Expand(Spmv4 v, unsigned mask)
{
  Spmv4 zero = _mm256_setzero_pd();

  __asm__("" : "+v"(zero), "+v"(v));
  return _mm256_mask_expand_pd(zero, (__mmask8)mask, v);
}
SPMV_INLINE Spmv4 Spmv4TakeFar(Spmv4 v, unsigned mask, const double **from)
{
  Spmv4 far = Spmv4Load(*from);

  __asm__("" : "+v"(far));
  *from += __builtin_popcount(mask);
  return _mm256_mask_expand_pd(v, (__mmask8)mask, far);
}
SPMV_INLINE Spmv8 Spmv8TakeFar(Spmv8 v, unsigned mask, const double **from)
{
  Spmv8 far = Spmv8Load(*from);

  __asm__("" : "+v"(far));
  *from += __builtin_popcount(mask);
  return _mm512_mask_expand_pd(v, (__mmask8)mask, far);
}
SPMV_INLINE Spmv4 Spmv4FmaWhere(Spmv4 a, Spmv4 b, Spmv4 c, unsigned mask)
{
  return _mm256_mask3_fmadd_pd(a, b, c, (__mmask8)mask);
}
SPMV_INLINE Spmv8 Spmv8FmaExpand(const double *p, const uint32_t *word, Spmv8 b, Spmv8 c, int few)
{
  const __mmask8 lanes = _load_mask8((__mmask8 *)word);
  Spmv8          zero  = _mm512_setzero_pd(), v;

  if (few) {
    Spmv4 four = _mm256_loadu_pd(p);

    __asm__("" : "+v"(zero), "+v"(four));
    v = _mm512_castpd256_pd512(four);
  } else {
    v = _mm512_loadu_pd(p);
    __asm__("" : "+v"(zero), "+v"(v));
  }
  return _mm512_mask3_fmadd_pd(_mm512_mask_expand_pd(zero, lanes, v), b, c, lanes);
}
SPMV_INLINE Spmv8 Spmv8SplatPair(const double *p)
{
  return _mm512_broadcast_f64x2(_mm_loadu_pd(p));
}
SPMV_INLINE Spmv8 Spmv8AddWhere(Spmv8 a, unsigned mask, Spmv8 b)
{
  return _mm512_mask_add_pd(b, (__mmask8)mask, a, b);
}
SPMV_INLINE Spmv8 Spmv8AddFirst(Spmv8 a, Spmv8 b, unsigned n)
{
  static const uint8_t first[] = {0, 1, 3, 7, 15, 31, 63, 127, 255};

  return _mm512_mask_add_pd(a, _load_mask8((__mmask8 *)&first[n]), a, b);
}
SPMV_INLINE Spmv8 Spmv8Permute(Spmv8 v, const uint8_t *i)
{
  return _mm512_permutexvar_pd(_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)i)), v);
}

SPMV_INLINE Spmv8 SpmvGatherFirst8(const double *x, const void *index, size_t size, int n)
{
  const SpmvIndex i = size == 4 ? SpmvIndexLoad32((const int32_t *)index) : SpmvIndexLoadU16((const uint16_t *)index);

  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), SpmvFirst(n), i, x, 8);
}

typedef struct {
  Spmv8 low, high;
} SpmvPieces;
SPMV_INLINE SpmvPieces SpmvPieces4(const double *x, const void *index, size_t size)
{
  const SpmvPlaces i = SpmvPlacesAt(index, size, 0, 0);

  return (SpmvPieces){Spmv8Join(Spmv4Load(x + i.a), Spmv4Load(x + i.b)), Spmv8Join(Spmv4Load(x + i.c), Spmv4Load(x + i.d))};
}
SPMV_INLINE Spmv8 SpmvPick(const SpmvPieces *p, const void *word)
{
  int32_t w;

  memcpy(&w, word, 4);
  return _mm512_permutex2var_pd(p->low, _mm512_srlv_epi64(_mm512_set1_epi32(w), _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28)),
                                p->high);
}

typedef struct {
  const double *all;
  Spmv8         low, high;
} SpmvTable;
SPMV_INLINE SpmvTable SpmvTableOf(const double *p)
{
  return (SpmvTable){p, Spmv8Load(p), Spmv8Load(p + 8)};
}
SPMV_INLINE Spmv8 Spmv8Few(const SpmvTable *t, const uint8_t *code)
{
  return _mm512_permutex2var_pd(t->low, _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)code)), t->high);
}

/* Eight vectors as the rows of a matrix, which is transposed */
SPMV_INLINE void Spmv8Transpose(Spmv8 v[8])
{
  Spmv8 pair[8], four[8];

  for (int k = 0; k < 8; k += 2) { /* pairs of rows: their even columns, their odd ones */
    pair[k]     = _mm512_unpacklo_pd(v[k], v[k + 1]);
    pair[k + 1] = _mm512_unpackhi_pd(v[k], v[k + 1]);
  }
  for (int k = 0; k < 8; k += 4) { /* four rows: columns 0 and 4, 1 and 5, 2 and 6, 3 and 7 */
    four[k]     = _mm512_shuffle_f64x2(pair[k], pair[k + 2], 0x88);
    four[k + 1] = _mm512_shuffle_f64x2(pair[k + 1], pair[k + 3], 0x88);
    four[k + 2] = _mm512_shuffle_f64x2(pair[k], pair[k + 2], 0xdd);
    four[k + 3] = _mm512_shuffle_f64x2(pair[k + 1], pair[k + 3], 0xdd);
  }
  for (int k = 0; k < 4; k++) {
    v[k]     = _mm512_shuffle_f64x2(four[k], four[k + 4], 0x88);
    v[k + 4] = _mm512_shuffle_f64x2(four[k], four[k + 4], 0xdd);
  }
}

SPMV_INLINE unsigned SpmvIndexEqual(SpmvIndex a, int32_t value)
{
  return _mm256_cmpeq_epi32_mask(a, _mm256_set1_epi32(value));
}
SPMV_INLINE SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  return _mm256_mask_expand_epi32(a, (__mmask8)mask, _mm256_loadu_si256((const __m256i *)p));
}
SPMV_INLINE unsigned SpmvIndexGreater(SpmvIndex a, int32_t value)
{
  return _mm256_cmpgt_epi32_mask(a, _mm256_set1_epi32(value));
}

/* a and b, sums of neighbours: lanes 0, 1 those of a's and b's lanes 0, 1; lanes 2, 3 those of their lanes 2, 3; and so on */
SPMV_INLINE Spmv8 SpmvSumPairs(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
}
/* The same without lanes k >= n; k in `even` for a's and b's even lanes, in `odd` for the others */
SPMV_INLINE Spmv8 SpmvSumPairsFirst(Spmv8 a, Spmv8 b, __m256i n, __m256i even, __m256i odd)
{
  return _mm512_add_pd(_mm512_maskz_unpacklo_pd(_mm256_cmpgt_epi32_mask(n, even), a, b),
                       _mm512_maskz_unpackhi_pd(_mm256_cmpgt_epi32_mask(n, odd), a, b));
}
SPMV_INLINE Spmv8 SpmvSumQuarters(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}
SPMV_INLINE Spmv8 Spmv8Sums(const Spmv8 v[8])
{
  return SpmvSumQuarters(SpmvSumQuarters(SpmvSumPairs(v[0], v[1]), SpmvSumPairs(v[2], v[3])),
                         SpmvSumQuarters(SpmvSumPairs(v[4], v[5]), SpmvSumPairs(v[6], v[7])));
}

/* Masked loads take twice the time on Zen 4: lanes that are not a run's are left out where the tree of sums begins */
SPMV_INLINE Spmv8 SpmvSumRunsOfFour(const double *p, const PetscInt *i, SpmvIndex n)
{
  const __m256i even = _mm256_setr_epi32(0, 0, 2, 2, 0, 0, 2, 2), odd = _mm256_setr_epi32(1, 1, 3, 3, 1, 1, 3, 3);
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  Spmv8         v[4];

  SPMV_UNROLL
  for (int l = 0; l < 4; l++) v[l] = Spmv8Join(Spmv4Load(p + i[l]), Spmv4Load(p + i[l + 4]));
  SPMV_UNROLL
  for (int l = 0; l < 2; l++) {
    const __m256i pair =
      _mm256_permutevar8x32_epi32(n, l ? _mm256_setr_epi32(2, 3, 2, 3, 6, 7, 6, 7) : _mm256_setr_epi32(0, 1, 0, 1, 4, 5, 4, 5));

    v[l] = SpmvSumPairsFirst(v[2 * l], v[2 * l + 1], pair, even, odd);
  }
  return _mm512_add_pd(_mm512_permutex2var_pd(v[0], low, v[1]), _mm512_permutex2var_pd(v[0], high, v[1]));
}
SPMV_INLINE Spmv8 Spmv8SumRuns(const double *p, const PetscInt *i, SpmvIndex n, int32_t depth)
{
  __m256i even = _mm256_setr_epi32(0, 0, 2, 2, 4, 4, 6, 6), odd = _mm256_setr_epi32(1, 1, 3, 3, 5, 5, 7, 7);
  Spmv8   sum[4];
  int32_t k = 0;

  if (depth == 4) return SpmvSumRunsOfFour(p, i, n);
  do {
    SPMV_UNROLL
    for (int l = 0; l < 4; l++) {
      const __m256i lanes = _mm256_setr_epi32(2 * l, 2 * l + 1, 2 * l, 2 * l + 1, 2 * l, 2 * l + 1, 2 * l, 2 * l + 1);
      const __m256i pair  = _mm256_permutevar8x32_epi32(n, lanes);
      const Spmv8   s     = SpmvSumPairsFirst(Spmv8Load(p + i[2 * l] + k), Spmv8Load(p + i[2 * l + 1] + k), pair, even, odd);

      sum[l] = k ? Spmv8Add(sum[l], s) : s;
    }
    even = _mm256_add_epi32(even, _mm256_set1_epi32(8));
    odd  = _mm256_add_epi32(odd, _mm256_set1_epi32(8));
  } while ((k += 8) < depth);
  return SpmvSumQuarters(SpmvSumQuarters(sum[0], sum[1]), SpmvSumQuarters(sum[2], sum[3]));
}
/* Through a register: to memory at once it takes ten times as long */
SPMV_INLINE void SpmvIndexPack(int32_t *p, SpmvIndex a, unsigned mask)
{
  _mm256_storeu_si256((__m256i *)p, _mm256_maskz_compress_epi32((__mmask8)mask, a));
}

SPMV_INLINE unsigned Spmv8Beyond(Spmv8 v, double limit)
{
  return _mm512_cmp_pd_mask(_mm512_abs_pd(v), _mm512_set1_pd(limit), _CMP_GT_OQ);
}

/* v, n lanes further up or down, behind lanes of w */
#define SPMV_BITS(v)       _mm512_castpd_si512(v)
#define SPMV_UP(v, w, n)   _mm512_castsi512_pd(_mm512_alignr_epi64(SPMV_BITS(v), SPMV_BITS(w), 8 - (n)))
#define SPMV_DOWN(v, w, n) _mm512_castsi512_pd(_mm512_alignr_epi64(SPMV_BITS(w), SPMV_BITS(v), n))
SPMV_INLINE Spmv8 Spmv8ShiftUp(Spmv8 v, Spmv8 before)
{
  return SPMV_UP(v, before, 1);
}
SPMV_INLINE Spmv8 Spmv8ShiftDown(Spmv8 v, Spmv8 before)
{
  return SPMV_DOWN(v, before, 1);
}

/* Each step doubles the lanes that a lane is made from; c multiplies the one before these, which is 0 before the first lane */
#define SPMV_SCAN_STEP(SHIFT, n) \
  a = Spmv8Fma(c, SHIFT(a, Spmv8Zero(), n), a); \
  c = Spmv8Mul(c, SHIFT(c, Spmv8Splat(1), n))
SPMV_INLINE Spmv8 Spmv8ScanUp(Spmv8 a, Spmv8 c, Spmv8 before)
{
  SPMV_SCAN_STEP(SPMV_UP, 1);
  SPMV_SCAN_STEP(SPMV_UP, 2);
  SPMV_SCAN_STEP(SPMV_UP, 4);
  return Spmv8Fma(c, _mm512_permutexvar_pd(_mm512_set1_epi64(7), before), a);
}
SPMV_INLINE Spmv8 Spmv8ScanDown(Spmv8 a, Spmv8 c, Spmv8 before)
{
  SPMV_SCAN_STEP(SPMV_DOWN, 1);
  SPMV_SCAN_STEP(SPMV_DOWN, 2);
  SPMV_SCAN_STEP(SPMV_DOWN, 4);
  return Spmv8Fma(c, _mm512_permutexvar_pd(_mm512_setzero_si512(), before), a);
}
#undef SPMV_SCAN_STEP
#undef SPMV_UP
#undef SPMV_DOWN
#undef SPMV_BITS
