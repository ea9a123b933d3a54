/*
  avx2.h - the vectors of simd.h with AVX2 and FMA, for double
*/
#pragma once
#include "x86.h"

typedef struct {
  __m256d lo, hi;
} Spmv8;

/* All bits of the first n of four lanes, n = 0 to 4: of none if less than 0, of all if more than 4 */
static inline __m256i SpmvFirst(int n)
{
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

/* The masks of four lanes: to make one takes several instructions, and a register for constants that loops have other uses for */
#define SPMV_LANES(m) -((m)&1), -((m) >> 1 & 1), -((m) >> 2 & 1), -((m) >> 3 & 1)
static const int64_t SpmvLanesBits[] = {
  SPMV_LANES(0), SPMV_LANES(1), SPMV_LANES(2),  SPMV_LANES(3),  SPMV_LANES(4),  SPMV_LANES(5),  SPMV_LANES(6),  SPMV_LANES(7),
  SPMV_LANES(8), SPMV_LANES(9), SPMV_LANES(10), SPMV_LANES(11), SPMV_LANES(12), SPMV_LANES(13), SPMV_LANES(14), SPMV_LANES(15)};
#undef SPMV_LANES

/* All bits of the lanes of a mask of four */
static inline __m256d SpmvLanes(unsigned mask)
{
  return _mm256_loadu_pd((const double *)SpmvLanesBits + 4 * mask);
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
  return (Spmv8){Spmv4LoadFirst(p, n), Spmv4LoadFirst(p + 4, n - 4)};
}
static inline void Spmv8StoreFirst(double *p, Spmv8 v, int n)
{
  Spmv4StoreFirst(p, v.lo, n);
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
  return (Spmv8){_mm256_add_pd(_mm256_and_pd(a.lo, SpmvLanes(mask & 15)), b.lo),
                 _mm256_add_pd(_mm256_and_pd(a.hi, SpmvLanes(mask >> 4)), b.hi)};
}
static inline Spmv8 Spmv8AddFirst(Spmv8 a, Spmv8 b, unsigned n)
{
  return (Spmv8){_mm256_add_pd(a.lo, _mm256_and_pd(b.lo, _mm256_castsi256_pd(SpmvFirst((int)n)))),
                 _mm256_add_pd(a.hi, _mm256_and_pd(b.hi, _mm256_castsi256_pd(SpmvFirst((int)n - 4))))};
}
static inline Spmv8 Spmv8Permute(Spmv8 v, const uint8_t *i)
{
  double lane[8];

  Spmv8Store(lane, v);
  return (Spmv8){SpmvGather4(lane, i[0], i[1], i[2], i[3]), SpmvGather4(lane, i[4], i[5], i[6], i[7])};
}
static inline Spmv8 Spmv8LoadWhere(Spmv8 v, unsigned mask, const double *p)
{
  return (Spmv8){_mm256_blendv_pd(v.lo, _mm256_loadu_pd(p), SpmvLanes(mask & 15)),
                 _mm256_blendv_pd(v.hi, _mm256_loadu_pd(p + 4), SpmvLanes(mask >> 4))};
}
static inline Spmv8 Spmv8LoadMasked(const double *p, unsigned mask)
{
  return (Spmv8){_mm256_maskload_pd(p, _mm256_castpd_si256(SpmvLanes(mask & 15))),
                 _mm256_maskload_pd(p + 4, _mm256_castpd_si256(SpmvLanes(mask >> 4)))};
}
static inline Spmv8 Spmv8FmaWhere(Spmv8 a, Spmv8 b, Spmv8 c, unsigned mask)
{
  return (Spmv8){_mm256_blendv_pd(c.lo, _mm256_fmadd_pd(a.lo, b.lo, c.lo), SpmvLanes(mask & 15)),
                 _mm256_blendv_pd(c.hi, _mm256_fmadd_pd(a.hi, b.hi, c.hi), SpmvLanes(mask >> 4))};
}
static inline Spmv8 Spmv8Gather(const double *x, const int32_t *i)
{
  return (Spmv8){SpmvGather4_32(x, i), SpmvGather4_32(x, i + 4)};
}
static inline Spmv8 Spmv8GatherU16(const double *x, const uint16_t *i)
{
  return (Spmv8){SpmvGather4_U16(x, i), SpmvGather4_U16(x, i + 4)};
}
typedef struct {
  double a[16];
} SpmvPieces;
SPMV_INLINE SpmvPieces SpmvPiecesAt(const double *x, uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3)
{
  SpmvPieces p;

  _mm256_storeu_pd(p.a, _mm256_loadu_pd(x + i0));
  _mm256_storeu_pd(p.a + 4, _mm256_loadu_pd(x + i1));
  _mm256_storeu_pd(p.a + 8, _mm256_loadu_pd(x + i2));
  _mm256_storeu_pd(p.a + 12, _mm256_loadu_pd(x + i3));
  return p;
}
SPMV_INLINE SpmvPieces SpmvPiecesLoad(const double *x, const int32_t *i)
{
  return SpmvPiecesAt(x, (uint32_t)i[0], (uint32_t)i[1], (uint32_t)i[2], (uint32_t)i[3]);
}
SPMV_INLINE SpmvPieces SpmvPiecesLoadU16(const double *x, const uint16_t *i)
{
  return SpmvPiecesAt(x, i[0], i[1], i[2], i[3]);
}
SPMV_INLINE Spmv8 SpmvPick(const SpmvPieces *p, const void *word)
{
  uint32_t w;

  memcpy(&w, word, 4);
  return (Spmv8){SpmvGather4(p->a, w & 15, w >> 4 & 15, w >> 8 & 15, w >> 12 & 15),
                 SpmvGather4(p->a, w >> 16 & 15, w >> 20 & 15, w >> 24 & 15, w >> 28)};
}
static inline Spmv8 Spmv8GatherPacked32(const double *x, const uint32_t *w, int bits)
{
  return (Spmv8){SpmvGather4_Packed32(x, w, bits), SpmvGather4_Packed32(x, w + 4, bits)};
}
static inline Spmv8 Spmv8GatherPacked64(const double *x, const uint64_t *w, int bits)
{
  return (Spmv8){SpmvGather4_Packed64(x, w, bits), SpmvGather4_Packed64(x, w + 4, bits)};
}
static inline Spmv8 SpmvGatherFirst(const double *x, SpmvIndex i, int n)
{
  const __m256d zero = _mm256_setzero_pd();

  return (Spmv8){_mm256_mask_i32gather_pd(zero, x, _mm256_castsi256_si128(i), _mm256_castsi256_pd(SpmvFirst(n)), 8),
                 _mm256_mask_i32gather_pd(zero, x, _mm256_extracti128_si256(i, 1), _mm256_castsi256_pd(SpmvFirst(n - 4)), 8)};
}
static inline Spmv8 Spmv8GatherFirst(const double *x, const int32_t *i, int n)
{
  return SpmvGatherFirst(x, SpmvIndexLoad32(i), n);
}
static inline Spmv8 Spmv8GatherFirstU16(const double *x, const uint16_t *i, int n)
{
  return SpmvGatherFirst(x, SpmvIndexLoadU16(i), n);
}
static inline void Spmv8Stream(double *p, Spmv8 v)
{
  _mm256_stream_pd(p, v.lo);
  _mm256_stream_pd(p + 4, v.hi);
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

/* Four vectors as the rows of a matrix, which is transposed */
static inline void SpmvTranspose4(Spmv4 *a, Spmv4 *b, Spmv4 *c, Spmv4 *d)
{
  const Spmv4 p = _mm256_unpacklo_pd(*a, *b), q = _mm256_unpackhi_pd(*a, *b), r = _mm256_unpacklo_pd(*c, *d),
              s = _mm256_unpackhi_pd(*c, *d);

  *a = _mm256_permute2f128_pd(p, r, 0x20);
  *b = _mm256_permute2f128_pd(q, s, 0x20);
  *c = _mm256_permute2f128_pd(p, r, 0x31);
  *d = _mm256_permute2f128_pd(q, s, 0x31);
}
/* The same of eight: two quarters change places */
static inline void Spmv8Transpose(Spmv8 v[8])
{
  SpmvTranspose4(&v[0].lo, &v[1].lo, &v[2].lo, &v[3].lo);
  SpmvTranspose4(&v[0].hi, &v[1].hi, &v[2].hi, &v[3].hi);
  SpmvTranspose4(&v[4].lo, &v[5].lo, &v[6].lo, &v[7].lo);
  SpmvTranspose4(&v[4].hi, &v[5].hi, &v[6].hi, &v[7].hi);
  for (int k = 0; k < 4; k++) {
    const Spmv4 quarter = v[k].hi;

    v[k].hi     = v[k + 4].lo;
    v[k + 4].lo = quarter;
  }
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
static inline unsigned SpmvIndexGreater(SpmvIndex a, int32_t value)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, _mm256_set1_epi32(value))));
}

/* Lane l: the sum of the l-th of four vectors */
static inline Spmv4 SpmvSums4(Spmv4 a, Spmv4 b, Spmv4 c, Spmv4 d)
{
  const __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);

  return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
}
static inline Spmv8 Spmv8Sums(const Spmv8 v[8])
{
  Spmv4 h[8];

  SPMV_UNROLL
  for (int l = 0; l < 8; l++) h[l] = _mm256_add_pd(v[l].lo, v[l].hi);
  return (Spmv8){SpmvSums4(h[0], h[1], h[2], h[3]), SpmvSums4(h[4], h[5], h[6], h[7])};
}

/* The sums of neighbours of a and b, as SpmvSums4() begins, without the lanes from n - k on; n: a's, b's, a's, b's */
static inline Spmv4 SpmvSumPairsFirst(Spmv4 a, Spmv4 b, __m256i n, int32_t k)
{
  const __m256i even = _mm256_cmpgt_epi64(n, _mm256_add_epi64(_mm256_set1_epi64x(k), _mm256_setr_epi64x(0, 0, 2, 2)));
  const __m256i odd  = _mm256_cmpgt_epi64(n, _mm256_add_epi64(_mm256_set1_epi64x(k), _mm256_setr_epi64x(1, 1, 3, 3)));

  return _mm256_add_pd(_mm256_and_pd(_mm256_castsi256_pd(even), _mm256_unpacklo_pd(a, b)),
                       _mm256_and_pd(_mm256_castsi256_pd(odd), _mm256_unpackhi_pd(a, b)));
}
static inline Spmv8 Spmv8SumRuns(const double *p, const PetscInt *i, SpmvIndex n, int32_t depth)
{
  const __m256i half[2] = {_mm256_cvtepi32_epi64(_mm256_castsi256_si128(n)),
                           _mm256_cvtepi32_epi64(_mm256_extracti128_si256(n, 1))};
  Spmv4         sum[4]  = {Spmv4Zero(), Spmv4Zero(), Spmv4Zero(), Spmv4Zero()};

  for (int32_t k = 0; k < depth; k += 4) {
    SPMV_UNROLL
    for (int l = 0; l < 4; l++) {
      const __m256i pair = l % 2 ? _mm256_permute4x64_epi64(half[l / 2], 0xee) : _mm256_permute4x64_epi64(half[l / 2], 0x44);

      sum[l] = _mm256_add_pd(
        sum[l], SpmvSumPairsFirst(_mm256_loadu_pd(p + i[2 * l] + k), _mm256_loadu_pd(p + i[2 * l + 1] + k), pair, k));
    }
  }
  return (Spmv8){_mm256_add_pd(_mm256_permute2f128_pd(sum[0], sum[1], 0x20), _mm256_permute2f128_pd(sum[0], sum[1], 0x31)),
                 _mm256_add_pd(_mm256_permute2f128_pd(sum[2], sum[3], 0x20), _mm256_permute2f128_pd(sum[2], sum[3], 0x31))};
}
static inline Spmv8 Spmv8Gather64(const double *x, const int64_t *i)
{
  return (Spmv8){SpmvGather4_64(x, i), SpmvGather4_64(x, i + 4)};
}
static inline void SpmvIndexPack(int32_t *p, SpmvIndex a, unsigned mask)
{
  int32_t lane[8];

  _mm256_storeu_si256((__m256i *)lane, a);
  for (; mask; mask &= mask - 1) *p++ = lane[__builtin_ctz(mask)];
}
