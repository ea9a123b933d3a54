/*
  x86.h - what avx2.h and avx512.h share: vectors of four scalars, indices, and eight scalars at eight places

  Each of the two defines Spmv8 first, with Spmv8Join(low, high), Spmv8Low(v) and Spmv8High(v): its halves are Spmv4.
*/
#pragma once

#define SPMV_SIMD_PLAIN 0

typedef __m256d Spmv4;
typedef __m256i SpmvIndex;

#define Spmv4Zero  _mm256_setzero_pd
#define Spmv4Load  _mm256_loadu_pd
#define Spmv4Splat _mm256_set1_pd
#define Spmv4Add   _mm256_add_pd
#define Spmv4Fma   _mm256_fmadd_pd

SPMV_INLINE Spmv4 Spmv4LoadFew(const double *p, int n)
{
  if (n >= 4) return Spmv4Load(p);
  if (n == 3) return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_load_sd(p + 2), 1);
  return _mm256_zextpd128_pd256(n == 2 ? _mm_loadu_pd(p) : _mm_load_sd(p));
}
/* Floats become double */
SPMV_INLINE Spmv4 Spmv4LoadFloat(const float *p)
{
  return _mm256_cvtps_pd(_mm_loadu_ps(p));
}
SPMV_INLINE Spmv4 Spmv4LoadHalfFloat(const float *p)
{
  return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}
SPMV_INLINE Spmv8 Spmv8LoadHalfFloat(const float *p)
{
  return Spmv8Join(Spmv4LoadFloat(p), Spmv4Zero());
}

SPMV_INLINE void Spmv4StoreFew(double *p, Spmv4 v, int n)
{
  if (n >= 4) {
    _mm256_storeu_pd(p, v);
  } else {
    if (n == 1) _mm_store_sd(p, _mm256_castpd256_pd128(v));
    else _mm_storeu_pd(p, _mm256_castpd256_pd128(v));
    if (n == 3) _mm_store_sd(p + 2, _mm256_extractf128_pd(v, 1));
  }
}
SPMV_INLINE Spmv4 Spmv4SplatTwo(double s, double t)
{
  return _mm256_blend_pd(_mm256_set1_pd(s), _mm256_set1_pd(t), 12);
}
SPMV_INLINE Spmv4 Spmv4SplatPair(const double *p)
{
  return _mm256_broadcast_pd((const __m128d *)p);
}
SPMV_INLINE Spmv4 Spmv4Pairs(Spmv4 a, Spmv4 b)
{
  return _mm256_permute4x64_pd(_mm256_hadd_pd(a, b), 0xd8);
}
SPMV_INLINE Spmv4 Spmv4Fold(Spmv4 v)
{
  return _mm256_add_pd(v, _mm256_permute2f128_pd(v, v, 1));
}

SPMV_INLINE Spmv8 Spmv8LoadFew(const double *p, int n)
{
  return Spmv8Join(Spmv4LoadFew(p, n), n > 4 ? Spmv4LoadFew(p + 4, n - 4) : Spmv4Zero());
}
SPMV_INLINE void Spmv8StoreFew(double *p, Spmv8 v, int n)
{
  Spmv4StoreFew(p, Spmv8Low(v), n);
  if (n > 4) Spmv4StoreFew(p + 4, Spmv8High(v), n - 4);
}
SPMV_INLINE Spmv8 Spmv8Fold(Spmv8 v)
{
  const Spmv4 sum = _mm256_add_pd(Spmv8Low(v), Spmv8High(v));

  return Spmv8Join(sum, sum);
}

SPMV_INLINE Spmv4 Spmv8Pairs(Spmv8 v)
{
  return Spmv4Pairs(Spmv8Low(v), Spmv8High(v));
}
SPMV_INLINE void SpmvAddPairs(double *y, Spmv8 v)
{
  const Spmv4   sum  = _mm256_add_pd(Spmv8Low(v), Spmv8High(v));
  const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(sum), _mm256_extractf128_pd(sum, 1));

  _mm_storeu_pd(y, _mm_add_pd(_mm_loadu_pd(y), pair));
}

SPMV_INLINE double SpmvFma(double a, double b, double c)
{
  return __builtin_fma(a, b, c);
}

/* v, plus steps of so many powers of two */
SPMV_INLINE Spmv4 SpmvStep4(Spmv4 v, __m128i steps, Spmv4 least, Spmv4 unit)
{
  const Spmv4 power = _mm256_max_pd(_mm256_and_pd(v, _mm256_set1_pd(INFINITY)), least);

  return _mm256_fmadd_pd(_mm256_mul_pd(_mm256_cvtepi32_pd(steps), power), unit, v);
}
SPMV_INLINE Spmv4 Spmv4AddSteps(Spmv4 v, const int8_t *p, Spmv4 least, Spmv4 unit)
{
  int32_t word;

  memcpy(&word, p, sizeof(word));
  return SpmvStep4(v, _mm_cvtepi8_epi32(_mm_cvtsi32_si128(word)), least, unit);
}
SPMV_INLINE Spmv4 Spmv4AddSteps16(Spmv4 v, const int8_t *p, Spmv4 least, Spmv4 unit)
{
  return SpmvStep4(v, _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)), least, unit);
}
/* The bits of those of n numbers that are -128, n = 1 to 64 */
SPMV_INLINE uint64_t SpmvFarLanes(const int8_t *p, int n)
{
  uint64_t lanes = 0;

  SPMV_UNROLL
  for (int k = 0; k < n; k += 16) {
    const __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + k)), _mm_set1_epi8(-128));

    lanes |= (uint64_t)(unsigned)_mm_movemask_epi8(same) << k;
  }
  return lanes;
}
SPMV_INLINE Spmv4 Spmv4Sums(const Spmv4 v[4])
{
  const Spmv4 p = _mm256_hadd_pd(v[0], v[1]), q = _mm256_hadd_pd(v[2], v[3]);

  return _mm256_add_pd(_mm256_permute2f128_pd(p, q, 0x20), _mm256_permute2f128_pd(p, q, 0x31));
}

SPMV_INLINE double Spmv4Sum(Spmv4 v)
{
  const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

  return _mm_cvtsd_f64(s) + _mm_cvtsd_f64(_mm_unpackhi_pd(s, s));
}
SPMV_INLINE double Spmv8Sum(Spmv8 v)
{
  return Spmv4Sum(_mm256_add_pd(Spmv8Low(v), Spmv8High(v)));
}

#define SpmvIndexAdd   _mm256_add_epi32
#define SpmvIndexSub   _mm256_sub_epi32
#define SpmvIndexMul   _mm256_mullo_epi32
#define SpmvIndexMin   _mm256_min_epi32
#define SpmvIndexSplat _mm256_set1_epi32

SPMV_INLINE SpmvIndex SpmvIndexLoad32(const int32_t *p)
{
  return _mm256_loadu_si256((const __m256i *)p);
}
SPMV_INLINE SpmvIndex SpmvIndexLoadU16(const uint16_t *p)
{
  return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}
SPMV_INLINE SpmvIndex SpmvIndexLoadS16(const int16_t *p)
{
  return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p));
}
SPMV_INLINE void SpmvIndexStore32(int32_t *p, SpmvIndex v)
{
  _mm256_storeu_si256((__m256i *)p, v);
}
SPMV_INLINE SpmvIndex SpmvIndexPick(SpmvIndex a, uint32_t w)
{
  const __m256i at    = _mm256_srlv_epi32(_mm256_set1_epi32((int)w), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  const __m256i three = _mm256_set1_epi32(3);

  return _mm256_add_epi32(_mm256_permutevar8x32_epi32(a, _mm256_and_si256(_mm256_srli_epi32(at, 2), three)),
                          _mm256_and_si256(at, three));
}
SPMV_INLINE SpmvIndex SpmvIndexLane(SpmvIndex a, int32_t l)
{
  return _mm256_permutevar8x32_epi32(a, _mm256_set1_epi32(l));
}
SPMV_INLINE SpmvIndex SpmvIndexLast(SpmvIndex a)
{
  return SpmvIndexLane(a, 7);
}
SPMV_INLINE SpmvIndex SpmvIndexScan(SpmvIndex a)
{
  a = _mm256_add_epi32(a, _mm256_slli_si256(a, 4));
  a = _mm256_add_epi32(a, _mm256_slli_si256(a, 8));
  return _mm256_add_epi32(a, _mm256_blend_epi32(_mm256_setzero_si256(), SpmvIndexLane(a, 3), 0xf0));
}

/* Stores that go past the cache are not in order with others */
#define SpmvStreamEnd _mm_sfence

/* Four places of a vector */
typedef struct {
  uint64_t a, b, c, d;
} SpmvPlaces;

SPMV_INLINE uint64_t SpmvWord(const void *p)
{
  uint64_t w;

  memcpy(&w, p, sizeof(w));
  return w;
}

/*
  Places from entry k of an index on, unsigned numbers of so many bytes, without their lowest bits. They are loaded eight bytes at
  a time: on Zen 4 a load of each takes 0.30 ns where this takes 0.25, x in L1
*/
SPMV_INLINE SpmvPlaces SpmvPlacesAt(const void *index, size_t size, int k, int bits)
{
  const char    *p = (const char *)index + size * (size_t)k;
  const uint64_t u = SpmvWord(p), v = size > 2 ? SpmvWord(p + 8) : 0;

  if (size == 8) return (SpmvPlaces){u >> bits, v >> bits, SpmvWord(p + 16) >> bits, SpmvWord(p + 24) >> bits};
  if (size == 4) return (SpmvPlaces){(uint32_t)u >> bits, u >> (32 + bits), (uint32_t)v >> bits, v >> (32 + bits)};
  return (SpmvPlaces){(uint16_t)u, (uint16_t)(u >> 16), (uint16_t)(u >> 32), u >> 48};
}

/* Loads of x, not the gather instruction: on Zen 4 they take 0.25 ns an entry, x in L1, where the instruction takes 0.56 */
SPMV_INLINE Spmv4 SpmvGather4(const double *x, SpmvPlaces i)
{
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadh_pd(_mm_load_sd(x + i.a), x + i.b)),
                              _mm_loadh_pd(_mm_load_sd(x + i.c), x + i.d), 1);
}

#if !defined(SPMV_GATHER)
SPMV_INLINE Spmv8 SpmvGather8(const double *x, const void *index, size_t size, int bits)
{
  return Spmv8Join(SpmvGather4(x, SpmvPlacesAt(index, size, 0, bits)), SpmvGather4(x, SpmvPlacesAt(index, size, 4, bits)));
}

/* Codes are loaded as one word */
SPMV_INLINE Spmv8 Spmv8Many(const double *table, const uint8_t *code)
{
  const uint64_t w = SpmvWord(code);

  return Spmv8Join(SpmvGather4(table, (SpmvPlaces){(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)}),
                   SpmvGather4(table, (SpmvPlaces){(uint8_t)(w >> 32), (uint8_t)(w >> 40), (uint8_t)(w >> 48), w >> 56}));
}
#endif

SPMV_INLINE void SpmvScatter4(double *y, SpmvPlaces i, Spmv4 v)
{
  y[i.a] = v[0];
  y[i.b] = v[1];
  y[i.c] = v[2];
  y[i.d] = v[3];
}
SPMV_INLINE void SpmvScatter8(double *y, const void *index, size_t size, Spmv8 v)
{
  SpmvScatter4(y, SpmvPlacesAt(index, size, 0, 0), Spmv8Low(v));
  SpmvScatter4(y, SpmvPlacesAt(index, size, 4, 0), Spmv8High(v));
}

SPMV_INLINE void SpmvScatterAdd4(double *y, SpmvPlaces i, Spmv4 v)
{
  y[i.a] += v[0];
  y[i.b] += v[1];
  y[i.c] += v[2];
  y[i.d] += v[3];
}
SPMV_INLINE void SpmvScatterAdd8(double *y, const void *index, size_t size, Spmv8 v)
{
  SpmvScatterAdd4(y, SpmvPlacesAt(index, size, 0, 0), Spmv8Low(v));
  SpmvScatterAdd4(y, SpmvPlacesAt(index, size, 4, 0), Spmv8High(v));
}

/* What is at four places and behind each: half as many loads as two gathers */
SPMV_INLINE void SpmvPairs4(const double *x, SpmvPlaces i, Spmv4 *a, Spmv4 *b)
{
  const __m256d even = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(x + i.a)), _mm_loadu_pd(x + i.c), 1);
  const __m256d odd  = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(x + i.b)), _mm_loadu_pd(x + i.d), 1);

  *a = _mm256_unpacklo_pd(even, odd);
  *b = _mm256_unpackhi_pd(even, odd);
}
SPMV_INLINE void SpmvPairs8(const double *x, const void *index, size_t size, Spmv8 *a, Spmv8 *b)
{
  Spmv4 a0, a1, b0, b1;

  SpmvPairs4(x, SpmvPlacesAt(index, size, 0, 0), &a0, &b0);
  SpmvPairs4(x, SpmvPlacesAt(index, size, 4, 0), &a1, &b1);
  *a = Spmv8Join(a0, a1);
  *b = Spmv8Join(b0, b1);
}
