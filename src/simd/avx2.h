/*
  avx2.h - the vectors of simd.h with AVX2 and FMA, for double
*/
#pragma once
#undef I /* PETSc's complex.h */
#include <immintrin.h>

typedef __m256d Spmv4;
typedef struct {
  __m256d lo, hi;
} Spmv8;
typedef __m256i SpmvIndex;

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

static inline Spmv4 Spmv4Zero(void)
{
  return _mm256_setzero_pd();
}
static inline Spmv4 Spmv4Load(const double *p)
{
  return _mm256_loadu_pd(p);
}
static inline Spmv4 Spmv4LoadFirst(const double *p, int n)
{
  return _mm256_maskload_pd(p, SpmvFirst(n));
}
static inline void Spmv4StoreFirst(double *p, Spmv4 v, int n)
{
  _mm256_maskstore_pd(p, SpmvFirst(n), v);
}
static inline Spmv4 Spmv4Splat(double s)
{
  return _mm256_set1_pd(s);
}
static inline Spmv4 Spmv4Add(Spmv4 a, Spmv4 b)
{
  return _mm256_add_pd(a, b);
}
static inline Spmv4 Spmv4Mul(Spmv4 a, Spmv4 b)
{
  return _mm256_mul_pd(a, b);
}
static inline Spmv4 Spmv4Fma(Spmv4 a, Spmv4 b, Spmv4 c)
{
  return _mm256_fmadd_pd(a, b, c);
}
static inline double Spmv4Sum(Spmv4 v)
{
  const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

  return _mm_cvtsd_f64(s) + _mm_cvtsd_f64(_mm_unpackhi_pd(s, s));
}

static inline Spmv8 Spmv8Zero(void)
{
  return (Spmv8){_mm256_setzero_pd(), _mm256_setzero_pd()};
}
static inline Spmv8 Spmv8Load(const double *p)
{
  return (Spmv8){_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
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

static inline SpmvIndex SpmvIndexLoad32(const int32_t *p)
{
  return _mm256_loadu_si256((const __m256i *)p);
}
static inline SpmvIndex SpmvIndexLoadU16(const uint16_t *p)
{
  return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}
static inline SpmvIndex SpmvIndexLoadS16(const int16_t *p)
{
  return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p));
}
static inline void SpmvIndexStore32(int32_t *p, SpmvIndex v)
{
  _mm256_storeu_si256((__m256i *)p, v);
}
static inline SpmvIndex SpmvIndexAdd(SpmvIndex a, SpmvIndex b)
{
  return _mm256_add_epi32(a, b);
}
static inline SpmvIndex SpmvIndexMulAdd(SpmvIndex a, int32_t k, int32_t c)
{
  return _mm256_add_epi32(_mm256_mullo_epi32(a, _mm256_set1_epi32(k)), _mm256_set1_epi32(c));
}
static inline SpmvIndex SpmvIndexMin(SpmvIndex a, int32_t limit)
{
  return _mm256_min_epi32(a, _mm256_set1_epi32(limit));
}

/* Eight loads, as in avx512.h */
#define SPMV_GATHER(name, type) \
  static inline Spmv8 name(const double *x, const type *i) \
  { \
    const __m256d lo = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadh_pd(_mm_load_sd(x + i[0]), x + i[1])), _mm_loadh_pd(_mm_load_sd(x + i[2]), x + i[3]), 1); \
    const __m256d hi = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadh_pd(_mm_load_sd(x + i[4]), x + i[5])), _mm_loadh_pd(_mm_load_sd(x + i[6]), x + i[7]), 1); \
\
    return (Spmv8){lo, hi}; \
  }
SPMV_GATHER(Spmv8Gather, int32_t)
SPMV_GATHER(Spmv8GatherU16, uint16_t)
#undef SPMV_GATHER

/* For each mask of four lanes, the pairs of 32-bit lanes that move them to the front */
static const int32_t SpmvEmitTable[16][8] = {
  {0, 1, 2, 3, 4, 5, 6, 7},
  {0, 1, 2, 3, 4, 5, 6, 7},
  {2, 3, 0, 1, 4, 5, 6, 7},
  {0, 1, 2, 3, 4, 5, 6, 7},
  {4, 5, 0, 1, 2, 3, 6, 7},
  {0, 1, 4, 5, 2, 3, 6, 7},
  {2, 3, 4, 5, 0, 1, 6, 7},
  {0, 1, 2, 3, 4, 5, 6, 7},
  {6, 7, 0, 1, 2, 3, 4, 5},
  {0, 1, 6, 7, 2, 3, 4, 5},
  {2, 3, 6, 7, 0, 1, 4, 5},
  {0, 1, 2, 3, 6, 7, 4, 5},
  {4, 5, 6, 7, 0, 1, 2, 3},
  {0, 1, 4, 5, 6, 7, 2, 3},
  {2, 3, 4, 5, 6, 7, 0, 1},
  {0, 1, 2, 3, 4, 5, 6, 7},
};

static inline int Spmv4Emit(double *p, __m256d v, unsigned mask)
{
  const __m256i order = _mm256_loadu_si256((const __m256i *)SpmvEmitTable[mask]);

  _mm256_storeu_pd(p, _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), order)));
  return __builtin_popcount(mask);
}
static inline int Spmv8Emit(double *p, Spmv8 v, unsigned mask)
{
  const int n = Spmv4Emit(p, v.lo, mask & 15);

  return n + Spmv4Emit(p + n, v.hi, mask >> 4);
}
static inline Spmv8 Spmv8Clear(Spmv8 v, unsigned mask)
{
  return (Spmv8){_mm256_andnot_pd(SpmvLanes(mask & 15), v.lo), _mm256_andnot_pd(SpmvLanes(mask >> 4), v.hi)};
}
