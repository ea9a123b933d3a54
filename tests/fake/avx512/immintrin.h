/*
  immintrin.h - AVX-512 for a processor without it: the intrinsics that src/host/simd/avx512.h uses, made of others

  make test-avx512 puts this folder before the compiler's own. Most intrinsics come from SIMDe (Debian's libsimde-dev), which of
  some says nothing; those are here, lane by lane.
*/
#pragma once
#include_next <immintrin.h>
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/fma.h>
#include <string.h>

/* Runs a statement for each lane l of a mask */
#define FAKE_LANES(N, mask, statement) \
  for (int l = 0; l < (N); l++) { \
    if ((unsigned)(mask) >> l & 1) statement; \
  }

static inline void FakeStore(double *p, unsigned mask, const void *v, int n)
{
  double a[8];

  memcpy(a, v, sizeof(double) * (size_t)n);
  FAKE_LANES(n, mask, p[l] = a[l])
}

static inline __m256d FakeLoad4(unsigned mask, const double *p)
{
  double a[4] = {0};

  FAKE_LANES(4, mask, a[l] = p[l])
  return _mm256_loadu_pd(a);
}

static inline simde__m512d FakeLoad8(simde__m512d v, unsigned mask, const double *p)
{
  double a[8];

  memcpy(a, &v, sizeof(a));
  FAKE_LANES(8, mask, a[l] = p[l])
  memcpy(&v, a, sizeof(a));
  return v;
}

static inline simde__m512d FakeDouble8(__m256 v)
{
  float        a[8];
  double       b[8];
  simde__m512d w;

  memcpy(a, &v, sizeof(a));
  for (int l = 0; l < 8; l++) b[l] = a[l];
  memcpy(&w, b, sizeof(w));
  return w;
}

static inline simde__m512d FakeGatherFar8(simde__m512i i, const double *x)
{
  double       a[8];
  int64_t      j[8];
  simde__m512d v;

  memcpy(j, &i, sizeof(j));
  for (int l = 0; l < 8; l++) a[l] = x[j[l]];
  memcpy(&v, a, sizeof(v));
  return v;
}

static inline simde__m512d FakeGather8(simde__m512d v, unsigned mask, __m256i i, const double *x)
{
  double a[8];
  int    j[8];

  memcpy(a, &v, sizeof(a));
  memcpy(j, &i, sizeof(j));
  FAKE_LANES(8, mask, a[l] = x[j[l]])
  memcpy(&v, a, sizeof(a));
  return v;
}

static inline simde__m512d FakeFma8(simde__m512d a, simde__m512d b, simde__m512d c, unsigned mask)
{
  double p[8], q[8], r[8];

  memcpy(p, &a, sizeof(p));
  memcpy(q, &b, sizeof(q));
  memcpy(r, &c, sizeof(r));
  FAKE_LANES(8, mask, r[l] = __builtin_fma(p[l], q[l], r[l]))
  memcpy(&c, r, sizeof(r));
  return c;
}

/* Quarters of a, a, b and b, by two bits of k each */
static inline simde__m512d FakeQuarters8(simde__m512d a, simde__m512d b, int k)
{
  double p[16], r[8];

  memcpy(p, &a, sizeof(a));
  memcpy(p + 8, &b, sizeof(b));
  for (int l = 0; l < 8; l++) r[l] = p[l / 4 * 8 + 2 * (k >> l / 2 * 2 & 3) + l % 2];
  memcpy(&a, r, sizeof(r));
  return a;
}

static inline simde__m512i FakeWiden8(__m128i v)
{
  uint8_t      b[16];
  int64_t      r[8];
  simde__m512i w;

  memcpy(b, &v, sizeof(b));
  for (int l = 0; l < 8; l++) r[l] = b[l];
  memcpy(&w, r, sizeof(r));
  return w;
}

static inline unsigned FakeCompare(__m256i a, __m256i b, int equal)
{
  int32_t  p[8], q[8];
  unsigned mask = 0;

  memcpy(p, &a, sizeof(p));
  memcpy(q, &b, sizeof(q));
  for (int l = 0; l < 8; l++) mask |= (unsigned)(equal ? p[l] == q[l] : p[l] > q[l]) << l;
  return mask;
}

static inline __m256i FakeExpand(__m256i v, unsigned mask, const int32_t *p)
{
  int32_t r[8];

  memcpy(r, &v, sizeof(r));
  FAKE_LANES(8, mask, r[l] = *p++)
  memcpy(&v, r, sizeof(r));
  return v;
}

static inline void FakeCompress(int32_t *p, unsigned mask, __m256i v)
{
  int32_t r[8];

  memcpy(r, &v, sizeof(r));
  FAKE_LANES(8, mask, *p++ = r[l])
}

/* b's lanes from k on, then a's */
static inline simde__m512i FakeAlign8(simde__m512i a, simde__m512i b, int k)
{
  int64_t p[16];

  memcpy(p, &b, sizeof(b));
  memcpy(p + 8, &a, sizeof(a));
  memcpy(&a, p + k, sizeof(a));
  return a;
}

#define _load_mask8(p)                            (*(const uint8_t *)(p))
#define _mm256_maskz_loadu_pd(m, p)               FakeLoad4(m, p)
#define _mm256_mask_storeu_pd(p, m, v)            FakeStore(p, m, &(v), 4)
#define _mm256_cmpeq_epi32_mask(a, b)             FakeCompare(a, b, 1)
#define _mm256_cmpgt_epi32_mask(a, b)             FakeCompare(a, b, 0)
#define _mm256_mask_expandloadu_epi32(v, m, p)    FakeExpand(v, m, p)
#define _mm256_mask_compressstoreu_epi32(p, m, v) FakeCompress(p, m, v)
#define _mm512_mask_loadu_pd(v, m, p)             FakeLoad8(v, m, p)
#define _mm512_maskz_loadu_pd(m, p)               FakeLoad8(simde_mm512_setzero_pd(), m, p)
#define _mm512_mask_storeu_pd(p, m, v)            FakeStore(p, m, &(v), 8)
#define _mm512_mask_i32gather_pd(v, m, i, x, k)   FakeGather8(v, m, i, x)
#define _mm512_i32gather_pd(i, x, k)              FakeGather8(simde_mm512_setzero_pd(), 255, i, x)
#define _mm512_i64gather_pd(i, x, k)              FakeGatherFar8(i, x)
#define _mm512_mask3_fmadd_pd(a, b, c, m)         FakeFma8(a, b, c, m)
#define _mm512_shuffle_f64x2(a, b, k)             FakeQuarters8(a, b, k)
#define _mm512_alignr_epi64(a, b, k)              FakeAlign8(a, b, k)
#define _mm512_cvtps_pd(v)                        FakeDouble8(v)
#define _mm512_cvtepu8_epi64(v)                   FakeWiden8(v)
#define _mm512_stream_pd(p, v)                    simde_mm512_storeu_pd(p, v)
