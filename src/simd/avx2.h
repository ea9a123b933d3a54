/*
  avx2.h - the vectors of simd.h with AVX2 and FMA, for double
*/
#pragma once
#include "x86.h"

typedef struct {
  __m256d lo, hi;
} Spmv8;

/* All bits of the first n of four lanes, n = 0 to 4 */
static inline __m256i SpmvFirst(int n)
{
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
/* All bits of the lanes of a mask of four */
static inline __m256d SpmvLanes(unsigned mask)
{
  return _mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_and_si256(_mm256_set1_epi64x((long long)mask), _mm256_setr_epi64x(1, 2, 4, 8)), _mm256_setzero_si256()));
}

static inline Spmv4 Spmv4LoadFirst(const double *p, int n)
{
  return _mm256_maskload_pd(p, SpmvFirst(n));
}
static inline void Spmv4StoreFirst(double *p, Spmv4 v, int n)
{
  _mm256_maskstore_pd(p, SpmvFirst(n), v);
}

static inline Spmv8 Spmv8Zero(void)
{
  return (Spmv8){_mm256_setzero_pd(), _mm256_setzero_pd()};
}
static inline Spmv8 Spmv8Load(const double *p)
{
  return (Spmv8){_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
}
static inline void Spmv8Store(double *p, Spmv8 v)
{
  _mm256_storeu_pd(p, v.lo);
  _mm256_storeu_pd(p + 4, v.hi);
}
static inline Spmv8 Spmv8LoadFirst(const double *p, int n)
{
  return (Spmv8){Spmv4LoadFirst(p, n < 4 ? n : 4), Spmv4LoadFirst(p + 4, n < 4 ? 0 : n - 4)};
}
static inline void Spmv8StoreFirst(double *p, Spmv8 v, int n)
{
  Spmv4StoreFirst(p, v.lo, n < 4 ? n : 4);
  if (n > 4) Spmv4StoreFirst(p + 4, v.hi, n - 4);
}
static inline Spmv8 Spmv8Splat(double s)
{
  return (Spmv8){_mm256_set1_pd(s), _mm256_set1_pd(s)};
}
static inline Spmv8 Spmv8Add(Spmv8 a, Spmv8 b)
{
  return (Spmv8){_mm256_add_pd(a.lo, b.lo), _mm256_add_pd(a.hi, b.hi)};
}
static inline Spmv8 Spmv8Mul(Spmv8 a, Spmv8 b)
{
  return (Spmv8){_mm256_mul_pd(a.lo, b.lo), _mm256_mul_pd(a.hi, b.hi)};
}
static inline Spmv8 Spmv8Fma(Spmv8 a, Spmv8 b, Spmv8 c)
{
  return (Spmv8){_mm256_fmadd_pd(a.lo, b.lo, c.lo), _mm256_fmadd_pd(a.hi, b.hi, c.hi)};
}
static inline double Spmv8Sum(Spmv8 v)
{
  return Spmv4Sum(_mm256_add_pd(v.lo, v.hi));
}

static inline Spmv8 Spmv8AddWhere(Spmv8 a, unsigned mask, Spmv8 b)
{
  return (Spmv8){_mm256_add_pd(_mm256_and_pd(a.lo, SpmvLanes(mask & 15)), b.lo), _mm256_add_pd(_mm256_and_pd(a.hi, SpmvLanes(mask >> 4)), b.hi)};
}
static inline Spmv8 Spmv8LoadWhere(Spmv8 v, unsigned mask, const double *p)
{
  return (Spmv8){_mm256_blendv_pd(v.lo, _mm256_loadu_pd(p), SpmvLanes(mask & 15)), _mm256_blendv_pd(v.hi, _mm256_loadu_pd(p + 4), SpmvLanes(mask >> 4))};
}
static inline Spmv8 Spmv8LoadMasked(const double *p, unsigned mask)
{
  return (Spmv8){_mm256_maskload_pd(p, _mm256_castpd_si256(SpmvLanes(mask & 15))), _mm256_maskload_pd(p + 4, _mm256_castpd_si256(SpmvLanes(mask >> 4)))};
}
static inline Spmv8 Spmv8FmaWhere(Spmv8 a, Spmv8 b, Spmv8 c, unsigned mask)
{
  return (Spmv8){_mm256_blendv_pd(c.lo, _mm256_fmadd_pd(a.lo, b.lo, c.lo), SpmvLanes(mask & 15)), _mm256_blendv_pd(c.hi, _mm256_fmadd_pd(a.hi, b.hi, c.hi), SpmvLanes(mask >> 4))};
}
static inline Spmv8 Spmv8Gather(const double *x, const int32_t *i)
{
  return (Spmv8){SpmvGather4_32(x, i), SpmvGather4_32(x, i + 4)};
}
static inline Spmv8 Spmv8GatherU16(const double *x, const uint16_t *i)
{
  return (Spmv8){SpmvGather4_U16(x, i), SpmvGather4_U16(x, i + 4)};
}

SPMV_INLINE void Spmv8GatherPairs(const double *x, const int32_t *i, Spmv8 *a, Spmv8 *b)
{
  SpmvPairs4_32(x, i, &a->lo, &b->lo);
  SpmvPairs4_32(x, i + 4, &a->hi, &b->hi);
}
SPMV_INLINE void Spmv8GatherPairsU16(const double *x, const uint16_t *i, Spmv8 *a, Spmv8 *b)
{
  SpmvPairs4_U16(x, i, &a->lo, &b->lo);
  SpmvPairs4_U16(x, i + 4, &a->hi, &b->hi);
}
SPMV_INLINE void Spmv8Scatter(double *y, const int32_t *i, Spmv8 v)
{
  SpmvScatter4_32(y, i, v.lo);
  SpmvScatter4_32(y, i + 4, v.hi);
}
SPMV_INLINE void Spmv8ScatterU16(double *y, const uint16_t *i, Spmv8 v)
{
  SpmvScatter4_U16(y, i, v.lo);
  SpmvScatter4_U16(y, i + 4, v.hi);
}
SPMV_INLINE void Spmv8ScatterAdd(double *y, const int32_t *i, Spmv8 v)
{
  SpmvScatterAdd4_32(y, i, v.lo);
  SpmvScatterAdd4_32(y, i + 4, v.hi);
}
SPMV_INLINE void Spmv8ScatterAddU16(double *y, const uint16_t *i, Spmv8 v)
{
  SpmvScatterAdd4_U16(y, i, v.lo);
  SpmvScatterAdd4_U16(y, i + 4, v.hi);
}

static inline unsigned SpmvIndexEqual(SpmvIndex a, int32_t value)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, _mm256_set1_epi32(value))));
}
static inline SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  int32_t lane[8];

  _mm256_storeu_si256((__m256i *)lane, a);
  for (; mask; mask &= mask - 1) lane[__builtin_ctz(mask)] = *p++;
  return _mm256_loadu_si256((const __m256i *)lane);
}
