/*
  avx512.h - the vectors of simd.h with AVX-512 (F, DQ, BW, VL), for double
*/
#pragma once
#include "x86.h"

typedef __m512d Spmv8;

static inline Spmv4 Spmv4LoadFirst(const double *p, int n)
{
  return _mm256_maskz_loadu_pd((__mmask8)((1 << n) - 1), p);
}
static inline void Spmv4StoreFirst(double *p, Spmv4 v, int n)
{
  _mm256_mask_storeu_pd(p, (__mmask8)((1 << n) - 1), v);
}

static inline Spmv8 Spmv8Zero(void)
{
  return _mm512_setzero_pd();
}
static inline Spmv8 Spmv8Load(const double *p)
{
  return _mm512_loadu_pd(p);
}
static inline void Spmv8Store(double *p, Spmv8 v)
{
  _mm512_storeu_pd(p, v);
}
static inline Spmv8 Spmv8LoadFirst(const double *p, int n)
{
  return _mm512_maskz_loadu_pd((__mmask8)((1 << n) - 1), p);
}
static inline void Spmv8StoreFirst(double *p, Spmv8 v, int n)
{
  _mm512_mask_storeu_pd(p, (__mmask8)((1 << n) - 1), v);
}
static inline Spmv8 Spmv8Splat(double s)
{
  return _mm512_set1_pd(s);
}
static inline Spmv8 Spmv8Add(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(a, b);
}
static inline Spmv8 Spmv8Mul(Spmv8 a, Spmv8 b)
{
  return _mm512_mul_pd(a, b);
}
static inline Spmv8 Spmv8Fma(Spmv8 a, Spmv8 b, Spmv8 c)
{
  return _mm512_fmadd_pd(a, b, c);
}
static inline double Spmv8Sum(Spmv8 v)
{
  return Spmv4Sum(_mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)));
}

static inline Spmv8 Spmv8AddWhere(Spmv8 a, unsigned mask, Spmv8 b)
{
  return _mm512_mask_add_pd(b, (__mmask8)mask, a, b);
}
static inline Spmv8 Spmv8LoadWhere(Spmv8 v, unsigned mask, const double *p)
{
  return _mm512_mask_loadu_pd(v, (__mmask8)mask, p);
}
static inline Spmv8 Spmv8Gather(const double *x, const int32_t *i)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_32(x, i)), SpmvGather4_32(x, i + 4), 1);
}
static inline Spmv8 Spmv8GatherU16(const double *x, const uint16_t *i)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_U16(x, i)), SpmvGather4_U16(x, i + 4), 1);
}

static inline unsigned SpmvIndexEqual(SpmvIndex a, int32_t value)
{
  return _mm256_cmpeq_epi32_mask(a, _mm256_set1_epi32(value));
}
static inline SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  return _mm256_mask_expand_epi32(a, (__mmask8)mask, _mm256_loadu_si256((const __m256i *)p));
}
static inline unsigned SpmvIndexGreater(SpmvIndex a, int32_t value)
{
  return _mm256_cmpgt_epi32_mask(a, _mm256_set1_epi32(value));
}

static inline Spmv8 Spmv8LoadUpTo(const double *p, int32_t n)
{
  return _mm512_maskz_loadu_pd(_mm256_cmpgt_epi32_mask(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), p);
}
static inline Spmv8 Spmv8LoadHalves(const double *p, int32_t n, const double *q, int32_t m)
{
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 9, 9, 9, 9), high = _mm256_setr_epi32(9, 9, 9, 9, 0, 1, 2, 3);
  const Spmv8   low = _mm512_maskz_loadu_pd(_mm256_cmpgt_epi32_mask(_mm256_set1_epi32(n), lane), p);

  return _mm512_mask_broadcast_f64x4(low, _mm256_cmpgt_epi32_mask(_mm256_set1_epi32(m), high), _mm256_loadu_pd(q));
}
/* a and b, two vectors of each lane's sums of neighbours: lanes 0, 1 a's and b's first two, and so on */
static inline Spmv8 SpmvSumPairs(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
}
static inline Spmv8 SpmvSumQuarters(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}
static inline Spmv8 Spmv8Sums(const Spmv8 v[8])
{
  return SpmvSumQuarters(SpmvSumQuarters(SpmvSumPairs(v[0], v[1]), SpmvSumPairs(v[2], v[3])), SpmvSumQuarters(SpmvSumPairs(v[4], v[5]), SpmvSumPairs(v[6], v[7])));
}
static inline Spmv8 Spmv8SumHalves(const Spmv8 v[4])
{
  const Spmv8   a = SpmvSumPairs(v[0], v[1]), b = SpmvSumPairs(v[2], v[3]);
  const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);

  return _mm512_add_pd(_mm512_permutex2var_pd(a, even, b), _mm512_permutex2var_pd(a, odd, b));
}
static inline Spmv8 Spmv8Gather64(const double *x, const int64_t *i)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_64(x, i)), SpmvGather4_64(x, i + 4), 1);
}
