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
static inline Spmv8 Spmv8LoadMasked(const double *p, unsigned mask)
{
  return _mm512_maskz_loadu_pd((__mmask8)mask, p);
}
static inline Spmv8 Spmv8FmaWhere(Spmv8 a, Spmv8 b, Spmv8 c, unsigned mask)
{
  return _mm512_mask3_fmadd_pd(a, b, c, (__mmask8)mask);
}
static inline Spmv8 Spmv8Gather(const double *x, const int32_t *i)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_32(x, i)), SpmvGather4_32(x, i + 4), 1);
}
static inline Spmv8 Spmv8GatherU16(const double *x, const uint16_t *i)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_U16(x, i)), SpmvGather4_U16(x, i + 4), 1);
}

SPMV_INLINE void Spmv8GatherPairs(const double *x, const int32_t *i, Spmv8 *a, Spmv8 *b)
{
  __m256d a0, a1, b0, b1;

  SpmvPairs4_32(x, i, &a0, &b0);
  SpmvPairs4_32(x, i + 4, &a1, &b1);
  *a = _mm512_insertf64x4(_mm512_castpd256_pd512(a0), a1, 1);
  *b = _mm512_insertf64x4(_mm512_castpd256_pd512(b0), b1, 1);
}
SPMV_INLINE void Spmv8GatherPairsU16(const double *x, const uint16_t *i, Spmv8 *a, Spmv8 *b)
{
  __m256d a0, a1, b0, b1;

  SpmvPairs4_U16(x, i, &a0, &b0);
  SpmvPairs4_U16(x, i + 4, &a1, &b1);
  *a = _mm512_insertf64x4(_mm512_castpd256_pd512(a0), a1, 1);
  *b = _mm512_insertf64x4(_mm512_castpd256_pd512(b0), b1, 1);
}
SPMV_INLINE void Spmv8Scatter(double *y, const int32_t *i, Spmv8 v)
{
  SpmvScatter4_32(y, i, _mm512_castpd512_pd256(v));
  SpmvScatter4_32(y, i + 4, _mm512_extractf64x4_pd(v, 1));
}
SPMV_INLINE void Spmv8ScatterU16(double *y, const uint16_t *i, Spmv8 v)
{
  SpmvScatter4_U16(y, i, _mm512_castpd512_pd256(v));
  SpmvScatter4_U16(y, i + 4, _mm512_extractf64x4_pd(v, 1));
}
SPMV_INLINE void Spmv8ScatterAdd(double *y, const int32_t *i, Spmv8 v)
{
  SpmvScatterAdd4_32(y, i, _mm512_castpd512_pd256(v));
  SpmvScatterAdd4_32(y, i + 4, _mm512_extractf64x4_pd(v, 1));
}
SPMV_INLINE void Spmv8ScatterAddU16(double *y, const uint16_t *i, Spmv8 v)
{
  SpmvScatterAdd4_U16(y, i, _mm512_castpd512_pd256(v));
  SpmvScatterAdd4_U16(y, i + 4, _mm512_extractf64x4_pd(v, 1));
}

static inline unsigned SpmvIndexEqual(SpmvIndex a, int32_t value)
{
  return _mm256_cmpeq_epi32_mask(a, _mm256_set1_epi32(value));
}
static inline SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  return _mm256_mask_expand_epi32(a, (__mmask8)mask, _mm256_loadu_si256((const __m256i *)p));
}
