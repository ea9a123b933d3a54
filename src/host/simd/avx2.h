/*
  avx2.h - the vectors of simd.h with AVX2 and FMA, for double
*/
#pragma once
#undef I /* PETSc's complex.h */
#include <immintrin.h>
#include <string.h>

typedef struct {
  __m256d low, high;
} Spmv8;
#define Spmv8Low(v)          (v).low
#define Spmv8High(v)         (v).high
#define Spmv8Join(low, high) ((Spmv8){low, high})
#include "x86.h"

/* All bits of the first n of four lanes, n = 0 to 4: of none if less than 0, of all if more than 4 */
SPMV_INLINE __m256i SpmvFirst(int n)
{
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

/* The masks of four lanes: to make one takes several instructions, and a register for constants that loops have other uses for */
#define SPMV_FOUR(m) -((m)&1), -((m) >> 1 & 1), -((m) >> 2 & 1), -((m) >> 3 & 1)
static const int64_t SpmvLanesBits[] = {SPMV_FOUR(0),  SPMV_FOUR(1),  SPMV_FOUR(2),  SPMV_FOUR(3), SPMV_FOUR(4),  SPMV_FOUR(5),
                                        SPMV_FOUR(6),  SPMV_FOUR(7),  SPMV_FOUR(8),  SPMV_FOUR(9), SPMV_FOUR(10), SPMV_FOUR(11),
                                        SPMV_FOUR(12), SPMV_FOUR(13), SPMV_FOUR(14), SPMV_FOUR(15)};
#undef SPMV_FOUR

/* All bits of the lanes of a mask of four */
SPMV_INLINE __m256d SpmvLanes(unsigned mask)
{
  return _mm256_loadu_pd((const double *)SpmvLanesBits + 4 * mask);
}

SPMV_INLINE Spmv4 Spmv4LoadFirst(const double *p, int n)
{
  return _mm256_maskload_pd(p, SpmvFirst(n));
}
SPMV_INLINE void Spmv4StoreFirst(double *p, Spmv4 v, int n)
{
  _mm256_maskstore_pd(p, SpmvFirst(n), v);
}

SPMV_INLINE Spmv4 Spmv4First(Spmv4 v, int n)
{
  return _mm256_and_pd(v, _mm256_castsi256_pd(SpmvFirst(n)));
}
SPMV_INLINE Spmv4 Spmv4FmaWhere(Spmv4 a, Spmv4 b, Spmv4 c, unsigned mask)
{
  return _mm256_blendv_pd(c, _mm256_fmadd_pd(a, b, c), SpmvLanes(mask));
}

/* For each mask which lane of four, as two halves, comes to each lane; any where the mask has none */
#define SPMV_RANK(m, l) (((m)&1 && (l) > 0) + ((m) >> 1 & 1 && (l) > 1) + ((m) >> 2 & 1 && (l) > 2))
#define SPMV_LANE(m, l) 2 * SPMV_RANK(m, l), 2 * SPMV_RANK(m, l) + 1
#define SPMV_EXPAND(m) \
  { \
    SPMV_LANE(m, 0), SPMV_LANE(m, 1), SPMV_LANE(m, 2), SPMV_LANE(m, 3) \
  }
static const int32_t SpmvExpandBits[16][8] = {SPMV_EXPAND(0),  SPMV_EXPAND(1),  SPMV_EXPAND(2),  SPMV_EXPAND(3),
                                              SPMV_EXPAND(4),  SPMV_EXPAND(5),  SPMV_EXPAND(6),  SPMV_EXPAND(7),
                                              SPMV_EXPAND(8),  SPMV_EXPAND(9),  SPMV_EXPAND(10), SPMV_EXPAND(11),
                                              SPMV_EXPAND(12), SPMV_EXPAND(13), SPMV_EXPAND(14), SPMV_EXPAND(15)};
#undef SPMV_EXPAND
#undef SPMV_LANE
#undef SPMV_RANK
SPMV_INLINE Spmv4 Spmv4Expand(Spmv4 v, unsigned mask)
{
  const __m256i lanes = _mm256_loadu_si256((const __m256i *)SpmvExpandBits[mask]);

  return _mm256_and_pd(_mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), lanes)), SpmvLanes(mask));
}

SPMV_INLINE Spmv4 Spmv4TakeFar(Spmv4 v, unsigned mask, const double **from)
{
  const Spmv4 far = Spmv4Expand(Spmv4Load(*from), mask);

  *from += __builtin_popcount(mask);
  return _mm256_blendv_pd(v, far, SpmvLanes(mask));
}
SPMV_INLINE Spmv8 Spmv8TakeFar(Spmv8 v, unsigned mask, const double **from)
{
  v.low  = Spmv4TakeFar(v.low, mask & 15, from);
  v.high = Spmv4TakeFar(v.high, mask >> 4, from);
  return v;
}
SPMV_INLINE Spmv8 Spmv8FmaExpand(const double *p, const uint32_t *word, Spmv8 b, Spmv8 c, int few)
{
  const unsigned low = *word & 15, high = *word >> 4 & 15;

  (void)few;
  c.low  = Spmv4FmaWhere(Spmv4Expand(_mm256_loadu_pd(p), low), b.low, c.low, low);
  c.high = Spmv4FmaWhere(Spmv4Expand(_mm256_loadu_pd(p + __builtin_popcount(low)), high), b.high, c.high, high);
  return c;
}
SPMV_INLINE Spmv8 Spmv8SplatPair(const double *p)
{
  const Spmv4 pair = Spmv4SplatPair(p);

  return (Spmv8){pair, pair};
}
SPMV_INLINE Spmv8 Spmv8First(Spmv8 v, int n)
{
  return (Spmv8){Spmv4First(v.low, n), Spmv4First(v.high, n - 4)};
}
SPMV_INLINE Spmv8 Spmv8AddSteps(Spmv8 v, const int8_t *p, Spmv8 least, Spmv8 unit)
{
  return (Spmv8){Spmv4AddSteps(v.low, p, least.low, unit.low), Spmv4AddSteps(v.high, p + 4, least.high, unit.high)};
}
SPMV_INLINE unsigned Spmv4Same(Spmv4 v, Spmv4 w)
{
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_castpd_si256(v), _mm256_castpd_si256(w))));
}
SPMV_INLINE unsigned Spmv8Same(Spmv8 v, Spmv8 w)
{
  return Spmv4Same(v.low, w.low) | Spmv4Same(v.high, w.high) << 4;
}
SPMV_INLINE unsigned Spmv4Close(Spmv4 v, Spmv4 w, Spmv4 relative)
{
  const Spmv4 sign = _mm256_set1_pd(-0.0), larger = _mm256_max_pd(_mm256_andnot_pd(sign, v), _mm256_andnot_pd(sign, w));

  return (unsigned)_mm256_movemask_pd(
    _mm256_cmp_pd(_mm256_andnot_pd(sign, _mm256_sub_pd(w, v)), _mm256_mul_pd(relative, larger), _CMP_LE_OQ));
}
SPMV_INLINE unsigned Spmv8Close(Spmv8 v, Spmv8 w, Spmv8 relative)
{
  return Spmv4Close(v.low, w.low, relative.low) | Spmv4Close(v.high, w.high, relative.high) << 4;
}
/* The steps that make w of v, `most` at most; returns the lanes where they do */
SPMV_INLINE unsigned SpmvFind4(Spmv4 v, Spmv4 w, Spmv4 least, Spmv4 unit, double most, __m128i *found)
{
  const Spmv4   power   = _mm256_max_pd(_mm256_and_pd(v, _mm256_set1_pd(INFINITY)), least);
  const __m256i twice   = _mm256_add_epi64(_mm256_castpd_si256(_mm256_set1_pd(1)), _mm256_castpd_si256(_mm256_set1_pd(1)));
  const Spmv4   inverse = _mm256_castsi256_pd(_mm256_sub_epi64(twice, _mm256_castpd_si256(power)));
  const Spmv4   steps   = _mm256_div_pd(_mm256_mul_pd(_mm256_sub_pd(w, v), inverse), unit);
  const Spmv4   size    = _mm256_andnot_pd(_mm256_set1_pd(-0.0), steps);
  const Spmv4   few     = _mm256_cmp_pd(size, _mm256_set1_pd(most), _CMP_LE_OQ);
  const __m128i n       = _mm256_cvttpd_epi32(_mm256_and_pd(few, steps));

  *found = n;
  return (unsigned)_mm256_movemask_pd(few) & Spmv4Same(_mm256_fmadd_pd(_mm256_mul_pd(_mm256_cvtepi32_pd(n), power), unit, v), w);
}
SPMV_INLINE unsigned Spmv8FindSteps(Spmv8 v, Spmv8 w, Spmv8 least, Spmv8 unit, int8_t *p)
{
  __m128i        low, high;
  const unsigned lanes =
    SpmvFind4(v.low, w.low, least.low, unit.low, 127, &low) | SpmvFind4(v.high, w.high, least.high, unit.high, 127, &high) << 4;
  const __m128i words = _mm_packs_epi32(low, high);

  _mm_storel_epi64((__m128i *)(void *)p, _mm_packs_epi16(words, words));
  return lanes;
}
SPMV_INLINE unsigned Spmv8FindSteps16(Spmv8 v, Spmv8 w, Spmv8 least, Spmv8 unit, int8_t *p)
{
  __m128i        low, high;
  const unsigned lanes = SpmvFind4(v.low, w.low, least.low, unit.low, 32767, &low) |
                         SpmvFind4(v.high, w.high, least.high, unit.high, 32767, &high) << 4;

  _mm_storeu_si128((__m128i *)(void *)p, _mm_packs_epi32(low, high));
  return lanes;
}
SPMV_INLINE Spmv8 Spmv8Load(const double *p)
{
  return (Spmv8){_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
}
SPMV_INLINE void Spmv8Store(double *p, Spmv8 v)
{
  _mm256_storeu_pd(p, v.low);
  _mm256_storeu_pd(p + 4, v.high);
}
SPMV_INLINE Spmv8 Spmv8LoadFirst(const double *p, int n)
{
  return (Spmv8){Spmv4LoadFirst(p, n), Spmv4LoadFirst(p + 4, n - 4)};
}
SPMV_INLINE void Spmv8StoreFirst(double *p, Spmv8 v, int n)
{
  Spmv4StoreFirst(p, v.low, n);
  if (n > 4) Spmv4StoreFirst(p + 4, v.high, n - 4);
}
SPMV_INLINE Spmv8 Spmv8Splat(double s)
{
  return (Spmv8){_mm256_set1_pd(s), _mm256_set1_pd(s)};
}
#define Spmv8Zero() Spmv8Splat(0)
SPMV_INLINE Spmv8 Spmv8LoadFloat(const float *p)
{
  return (Spmv8){_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))};
}
SPMV_INLINE Spmv8 Spmv8SplatTwo(double s, double t)
{
  return (Spmv8){_mm256_set1_pd(s), _mm256_set1_pd(t)};
}
SPMV_INLINE Spmv8 Spmv8Add(Spmv8 a, Spmv8 b)
{
  return (Spmv8){_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
}
SPMV_INLINE Spmv8 Spmv8Mul(Spmv8 a, Spmv8 b)
{
  return (Spmv8){_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
}
SPMV_INLINE Spmv8 Spmv8Fma(Spmv8 a, Spmv8 b, Spmv8 c)
{
  return (Spmv8){_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
}
SPMV_INLINE Spmv8 Spmv8AddWhere(Spmv8 a, unsigned mask, Spmv8 b)
{
  return (Spmv8){_mm256_add_pd(_mm256_and_pd(a.low, SpmvLanes(mask & 15)), b.low),
                 _mm256_add_pd(_mm256_and_pd(a.high, SpmvLanes(mask >> 4)), b.high)};
}
SPMV_INLINE Spmv8 Spmv8AddFirst(Spmv8 a, Spmv8 b, unsigned n)
{
  return (Spmv8){_mm256_add_pd(a.low, _mm256_and_pd(b.low, _mm256_castsi256_pd(SpmvFirst((int)n)))),
                 _mm256_add_pd(a.high, _mm256_and_pd(b.high, _mm256_castsi256_pd(SpmvFirst((int)n - 4))))};
}
SPMV_INLINE Spmv8 Spmv8Permute(Spmv8 v, const uint8_t *i)
{
  double lane[8];

  Spmv8Store(lane, v);
  return (Spmv8){SpmvGather4(lane, (SpmvPlaces){i[0], i[1], i[2], i[3]}),
                 SpmvGather4(lane, (SpmvPlaces){i[4], i[5], i[6], i[7]})};
}
SPMV_INLINE Spmv8 Spmv8LoadWhere(Spmv8 v, unsigned mask, const double *p)
{
  const __m256d low = SpmvLanes(mask & 15), high = SpmvLanes(mask >> 4);

  return (Spmv8){_mm256_blendv_pd(v.low, _mm256_maskload_pd(p, _mm256_castpd_si256(low)), low),
                 _mm256_blendv_pd(v.high, _mm256_maskload_pd(p + 4, _mm256_castpd_si256(high)), high)};
}
SPMV_INLINE Spmv8 Spmv8FmaWhere(Spmv8 a, Spmv8 b, Spmv8 c, unsigned mask)
{
  return (Spmv8){_mm256_blendv_pd(c.low, _mm256_fmadd_pd(a.low, b.low, c.low), SpmvLanes(mask & 15)),
                 _mm256_blendv_pd(c.high, _mm256_fmadd_pd(a.high, b.high, c.high), SpmvLanes(mask >> 4))};
}
SPMV_INLINE void Spmv8Stream(double *p, Spmv8 v)
{
  _mm256_stream_pd(p, v.low);
  _mm256_stream_pd(p + 4, v.high);
}

SPMV_INLINE Spmv8 SpmvGatherFirst8(const double *x, const void *index, size_t size, int n)
{
  const SpmvIndex i = size == 4 ? SpmvIndexLoad32((const int32_t *)index) : SpmvIndexLoadU16((const uint16_t *)index);

  return (Spmv8){
    _mm256_mask_i32gather_pd(Spmv4Zero(), x, _mm256_castsi256_si128(i), _mm256_castsi256_pd(SpmvFirst(n)), 8),
    _mm256_mask_i32gather_pd(Spmv4Zero(), x, _mm256_extracti128_si256(i, 1), _mm256_castsi256_pd(SpmvFirst(n - 4)), 8)};
}

typedef struct {
  Spmv4 piece[4];
} SpmvPieces;
SPMV_INLINE SpmvPieces SpmvPieces4(const double *x, const void *index, size_t size)
{
  const SpmvPlaces i = SpmvPlacesAt(index, size, 0, 0);

  return (SpmvPieces){{Spmv4Load(x + i.a), Spmv4Load(x + i.b), Spmv4Load(x + i.c), Spmv4Load(x + i.d)}};
}
SPMV_INLINE Spmv8 SpmvPick(const SpmvPieces *p, const void *word)
{
  const double *x = (const double *)p->piece;
  uint32_t      w;

  memcpy(&w, word, 4);
  return (Spmv8){SpmvGather4(x, (SpmvPlaces){w & 15, w >> 4 & 15, w >> 8 & 15, w >> 12 & 15}),
                 SpmvGather4(x, (SpmvPlaces){w >> 16 & 15, w >> 20 & 15, w >> 24 & 15, w >> 28})};
}

typedef struct {
  const double *all;
} SpmvTable;
SPMV_INLINE SpmvTable SpmvTableOf(const double *p)
{
  return (SpmvTable){p};
}
SPMV_INLINE Spmv8 Spmv8Few(const SpmvTable *t, const uint8_t *code)
{
  return Spmv8Many(t->all, code);
}

/* Four vectors as the rows of a matrix, which is transposed */
SPMV_INLINE void SpmvTranspose4(Spmv4 *a, Spmv4 *b, Spmv4 *c, Spmv4 *d)
{
  const Spmv4 p = _mm256_unpacklo_pd(*a, *b), q = _mm256_unpackhi_pd(*a, *b), r = _mm256_unpacklo_pd(*c, *d),
              s = _mm256_unpackhi_pd(*c, *d);

  *a = _mm256_permute2f128_pd(p, r, 0x20);
  *b = _mm256_permute2f128_pd(q, s, 0x20);
  *c = _mm256_permute2f128_pd(p, r, 0x31);
  *d = _mm256_permute2f128_pd(q, s, 0x31);
}
/* The same of eight: two quarters change places */
SPMV_INLINE void Spmv8Transpose(Spmv8 v[8])
{
  SpmvTranspose4(&v[0].low, &v[1].low, &v[2].low, &v[3].low);
  SpmvTranspose4(&v[0].high, &v[1].high, &v[2].high, &v[3].high);
  SpmvTranspose4(&v[4].low, &v[5].low, &v[6].low, &v[7].low);
  SpmvTranspose4(&v[4].high, &v[5].high, &v[6].high, &v[7].high);
  for (int k = 0; k < 4; k++) {
    const Spmv4 quarter = v[k].high;

    v[k].high    = v[k + 4].low;
    v[k + 4].low = quarter;
  }
}

SPMV_INLINE unsigned SpmvIndexEqual(SpmvIndex a, int32_t value)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, _mm256_set1_epi32(value))));
}
SPMV_INLINE SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  int32_t lane[8];

  _mm256_storeu_si256((__m256i *)lane, a);
  for (; mask; mask &= mask - 1) lane[__builtin_ctz(mask)] = *p++;
  return _mm256_loadu_si256((const __m256i *)lane);
}
SPMV_INLINE void SpmvIndexPack(int32_t *p, SpmvIndex a, unsigned mask)
{
  int32_t lane[8];

  _mm256_storeu_si256((__m256i *)lane, a);
  for (; mask; mask &= mask - 1) *p++ = lane[__builtin_ctz(mask)];
}
SPMV_INLINE unsigned SpmvIndexGreater(SpmvIndex a, int32_t value)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, _mm256_set1_epi32(value))));
}

/* The sum of a's halves, then that of b's */
SPMV_INLINE Spmv4 SpmvSumHalves(Spmv4 a, Spmv4 b)
{
  return _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}
SPMV_INLINE Spmv8 Spmv8Sums(const Spmv8 v[8])
{
  Spmv4 h[8];

  SPMV_UNROLL
  for (int l = 0; l < 8; l++) h[l] = _mm256_add_pd(v[l].low, v[l].high);
  return (Spmv8){SpmvSumHalves(_mm256_hadd_pd(h[0], h[1]), _mm256_hadd_pd(h[2], h[3])),
                 SpmvSumHalves(_mm256_hadd_pd(h[4], h[5]), _mm256_hadd_pd(h[6], h[7]))};
}

/* The sums of neighbours of a and b, as _mm256_hadd_pd() has them, without the lanes from n - k on; n: a's, b's, a's, b's */
SPMV_INLINE Spmv4 SpmvSumPairsFirst(Spmv4 a, Spmv4 b, __m256i n, int32_t k)
{
  const __m256i even = _mm256_cmpgt_epi64(n, _mm256_add_epi64(_mm256_set1_epi64x(k), _mm256_setr_epi64x(0, 0, 2, 2)));
  const __m256i odd  = _mm256_cmpgt_epi64(n, _mm256_add_epi64(_mm256_set1_epi64x(k), _mm256_setr_epi64x(1, 1, 3, 3)));

  return _mm256_add_pd(_mm256_and_pd(_mm256_castsi256_pd(even), _mm256_unpacklo_pd(a, b)),
                       _mm256_and_pd(_mm256_castsi256_pd(odd), _mm256_unpackhi_pd(a, b)));
}
SPMV_INLINE Spmv8 Spmv8SumRuns(const double *p, const PetscInt *i, SpmvIndex n, int32_t depth)
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
  return (Spmv8){SpmvSumHalves(sum[0], sum[1]), SpmvSumHalves(sum[2], sum[3])};
}

SPMV_INLINE unsigned Spmv4Beyond(Spmv4 v, double limit)
{
  return (unsigned)_mm256_movemask_pd(
    _mm256_cmp_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), v), _mm256_set1_pd(limit), _CMP_GT_OQ));
}
SPMV_INLINE unsigned Spmv8Beyond(Spmv8 v, double limit)
{
  return Spmv4Beyond(v.low, limit) | Spmv4Beyond(v.high, limit) << 4;
}

/* v, one or two lanes further up or down, behind lanes of w */
SPMV_INLINE Spmv4 SpmvUp2(Spmv4 v, Spmv4 w)
{
  return _mm256_permute2f128_pd(w, v, 0x21);
}
SPMV_INLINE Spmv4 SpmvUp1(Spmv4 v, Spmv4 w)
{
  return _mm256_shuffle_pd(SpmvUp2(v, w), v, 5);
}
SPMV_INLINE Spmv4 SpmvDown2(Spmv4 v, Spmv4 w)
{
  return _mm256_permute2f128_pd(v, w, 0x21);
}
SPMV_INLINE Spmv4 SpmvDown1(Spmv4 v, Spmv4 w)
{
  return _mm256_shuffle_pd(v, SpmvDown2(v, w), 5);
}
SPMV_INLINE Spmv8 Spmv8ShiftUp(Spmv8 v, Spmv8 before)
{
  return (Spmv8){SpmvUp1(v.low, before.high), SpmvUp1(v.high, v.low)};
}
SPMV_INLINE Spmv8 Spmv8ShiftDown(Spmv8 v, Spmv8 before)
{
  return (Spmv8){SpmvDown1(v.low, v.high), SpmvDown1(v.high, before.low)};
}

/* Each step doubles the lanes that a lane is made from; c multiplies the one before these, which is 0 before the first lane */
#define SPMV_SCAN_STEP(a, c, SHIFT) \
  a = Spmv4Fma(c, SHIFT(a, Spmv4Zero()), a); \
  c = _mm256_mul_pd(c, SHIFT(c, Spmv4Splat(1)))
SPMV_INLINE Spmv8 Spmv8ScanUp(Spmv8 a, Spmv8 c, Spmv8 before)
{
  SPMV_SCAN_STEP(a.low, c.low, SpmvUp1);
  SPMV_SCAN_STEP(a.low, c.low, SpmvUp2);
  SPMV_SCAN_STEP(a.high, c.high, SpmvUp1);
  SPMV_SCAN_STEP(a.high, c.high, SpmvUp2);
  a.low  = Spmv4Fma(c.low, _mm256_permute4x64_pd(before.high, 0xff), a.low);
  a.high = Spmv4Fma(c.high, _mm256_permute4x64_pd(a.low, 0xff), a.high);
  return a;
}
SPMV_INLINE Spmv8 Spmv8ScanDown(Spmv8 a, Spmv8 c, Spmv8 before)
{
  SPMV_SCAN_STEP(a.low, c.low, SpmvDown1);
  SPMV_SCAN_STEP(a.low, c.low, SpmvDown2);
  SPMV_SCAN_STEP(a.high, c.high, SpmvDown1);
  SPMV_SCAN_STEP(a.high, c.high, SpmvDown2);
  a.high = Spmv4Fma(c.high, _mm256_permute4x64_pd(before.low, 0), a.high);
  a.low  = Spmv4Fma(c.low, _mm256_permute4x64_pd(a.high, 0), a.low);
  return a;
}
#undef SPMV_SCAN_STEP
