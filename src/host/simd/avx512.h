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
static inline Spmv8 Spmv8AddFirst(Spmv8 a, Spmv8 b, unsigned n)
{
  static const uint8_t first[] = {0, 1, 3, 7, 15, 31, 63, 127, 255};

  return _mm512_mask_add_pd(a, _load_mask8((__mmask8 *)&first[n]), a, b);
}
static inline Spmv8 Spmv8Permute(Spmv8 v, const uint8_t *i)
{
  return _mm512_permutexvar_pd(_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)i)), v);
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
typedef struct {
  Spmv8 lo, hi;
} SpmvPieces;
SPMV_INLINE Spmv8 SpmvPieces2(const double *x, uint64_t i0, uint64_t i1)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(x + i0)), _mm256_loadu_pd(x + i1), 1);
}
SPMV_INLINE SpmvPieces SpmvPiecesLoad(const double *x, const int32_t *i)
{
  uint64_t a, b;

  memcpy(&a, i, 8);
  memcpy(&b, i + 2, 8);
  return (SpmvPieces){SpmvPieces2(x, (uint32_t)a, a >> 32), SpmvPieces2(x, (uint32_t)b, b >> 32)};
}
SPMV_INLINE SpmvPieces SpmvPiecesLoadU16(const double *x, const uint16_t *i)
{
  uint64_t a;

  memcpy(&a, i, 8);
  return (SpmvPieces){SpmvPieces2(x, (uint16_t)a, (uint16_t)(a >> 16)), SpmvPieces2(x, (uint16_t)(a >> 32), a >> 48)};
}
SPMV_INLINE Spmv8 SpmvPick(const SpmvPieces *p, const void *word)
{
  int32_t w;

  memcpy(&w, word, 4);
  return _mm512_permutex2var_pd(p->lo, _mm512_srlv_epi64(_mm512_set1_epi32(w), _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28)),
                                p->hi);
}
static inline Spmv8 Spmv8GatherPacked32(const double *x, const uint32_t *w, int bits)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_Packed32(x, w, bits)), SpmvGather4_Packed32(x, w + 4, bits), 1);
}
static inline Spmv8 Spmv8GatherPacked64(const double *x, const uint64_t *w, int bits)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_Packed64(x, w, bits)), SpmvGather4_Packed64(x, w + 4, bits), 1);
}
static inline Spmv8 Spmv8GatherFirst(const double *x, const int32_t *i, int n)
{
  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), (__mmask8)((1 << n) - 1), SpmvIndexLoad32(i), x, 8);
}
static inline Spmv8 Spmv8GatherFirstU16(const double *x, const uint16_t *i, int n)
{
  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), (__mmask8)((1 << n) - 1), SpmvIndexLoadU16(i), x, 8);
}
static inline void Spmv8Stream(double *p, Spmv8 v)
{
  _mm512_stream_pd(p, v);
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

/* Eight vectors as the rows of a matrix, which is transposed */
static inline void Spmv8Transpose(Spmv8 v[8])
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

/* a and b, sums of neighbours: lanes 0, 1 those of a's and b's lanes 0, 1; lanes 2, 3 those of their lanes 2, 3; and so on */
static inline Spmv8 SpmvSumPairs(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
}
/* So, without the lanes that a mask leaves out: of even for a's and b's even lanes, of odd for the others */
static inline Spmv8 SpmvSumPairsWhere(Spmv8 a, Spmv8 b, __mmask8 even, __mmask8 odd)
{
  return _mm512_add_pd(_mm512_maskz_unpacklo_pd(even, a, b), _mm512_maskz_unpackhi_pd(odd, a, b));
}
static inline Spmv8 SpmvSumQuarters(Spmv8 a, Spmv8 b)
{
  return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}
static inline Spmv8 Spmv8Sums(const Spmv8 v[8])
{
  return SpmvSumQuarters(SpmvSumQuarters(SpmvSumPairs(v[0], v[1]), SpmvSumPairs(v[2], v[3])),
                         SpmvSumQuarters(SpmvSumPairs(v[4], v[5]), SpmvSumPairs(v[6], v[7])));
}

/* Masked loads take twice the time on Zen 4: lanes that are not a run's are left out where the tree of sums begins */
static inline Spmv8 SpmvSumRunsOfFour(const double *p, const PetscInt *i, SpmvIndex n)
{
  const __m256i even = _mm256_setr_epi32(0, 0, 2, 2, 0, 0, 2, 2), odd = _mm256_setr_epi32(1, 1, 3, 3, 1, 1, 3, 3);
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  Spmv8         v[4];

  SPMV_UNROLL
  for (int l = 0; l < 4; l++)
    v[l] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(p + i[l])), _mm256_loadu_pd(p + i[l + 4]), 1);
  SPMV_UNROLL
  for (int l = 0; l < 2; l++) {
    const __m256i pair =
      _mm256_permutevar8x32_epi32(n, l ? _mm256_setr_epi32(2, 3, 2, 3, 6, 7, 6, 7) : _mm256_setr_epi32(0, 1, 0, 1, 4, 5, 4, 5));

    v[l] = SpmvSumPairsWhere(v[2 * l], v[2 * l + 1], _mm256_cmpgt_epi32_mask(pair, even), _mm256_cmpgt_epi32_mask(pair, odd));
  }
  return _mm512_add_pd(_mm512_permutex2var_pd(v[0], low, v[1]), _mm512_permutex2var_pd(v[0], high, v[1]));
}
static inline Spmv8 Spmv8SumRuns(const double *p, const PetscInt *i, SpmvIndex n, int32_t depth)
{
  __m256i even = _mm256_setr_epi32(0, 0, 2, 2, 4, 4, 6, 6), odd = _mm256_setr_epi32(1, 1, 3, 3, 5, 5, 7, 7);
  __m256i pair[4];
  Spmv8   sum[4];

  if (depth == 4) return SpmvSumRunsOfFour(p, i, n);
  SPMV_UNROLL
  for (int l = 0; l < 4; l++) {
    pair[l] =
      _mm256_permutevar8x32_epi32(n, _mm256_add_epi32(_mm256_set1_epi32(2 * l), _mm256_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1)));
    sum[l] = SpmvSumPairsWhere(_mm512_loadu_pd(p + i[2 * l]), _mm512_loadu_pd(p + i[2 * l + 1]),
                               _mm256_cmpgt_epi32_mask(pair[l], even), _mm256_cmpgt_epi32_mask(pair[l], odd));
  }
  for (int32_t k = 8; k < depth; k += 8) {
    even = _mm256_add_epi32(even, _mm256_set1_epi32(8));
    odd  = _mm256_add_epi32(odd, _mm256_set1_epi32(8));
    SPMV_UNROLL
    for (int l = 0; l < 4; l++)
      sum[l] =
        _mm512_add_pd(sum[l], SpmvSumPairsWhere(_mm512_loadu_pd(p + i[2 * l] + k), _mm512_loadu_pd(p + i[2 * l + 1] + k),
                                                _mm256_cmpgt_epi32_mask(pair[l], even), _mm256_cmpgt_epi32_mask(pair[l], odd)));
  }
  return SpmvSumQuarters(SpmvSumQuarters(sum[0], sum[1]), SpmvSumQuarters(sum[2], sum[3]));
}
static inline void SpmvIndexPack(int32_t *p, SpmvIndex a, unsigned mask)
{
  _mm256_storeu_si256((__m256i *)p,
                      _mm256_maskz_compress_epi32((__mmask8)mask, a)); /* to memory at once it takes ten times as long */
}
static inline Spmv8 Spmv8Gather64(const double *x, const int64_t *i)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(SpmvGather4_64(x, i)), SpmvGather4_64(x, i + 4), 1);
}
