#pragma once
SPMV_INLINE PetscScalar SpmvFma(PetscScalar a, PetscScalar b, PetscScalar c)
{
#if SPMV_SIMD_PLAIN
  return c + a * b;
#else
  return __builtin_fma(a, b, c);
#endif
}
#if SPMV_SIMD_PLAIN
SPMV_INLINE Spmv8 Spmv8ShiftUp(Spmv8 a, Spmv8 b)
{
  Spmv8 v;
  for (int l = 0; l < 8; l++) v.a[l] = l ? a.a[l - 1] : b.a[7];
  return v;
}
SPMV_INLINE Spmv8 Spmv8ShiftDown(Spmv8 a, Spmv8 b)
{
  Spmv8 v;
  for (int l = 0; l < 8; l++) v.a[l] = l < 7 ? a.a[l + 1] : b.a[0];
  return v;
}
SPMV_INLINE Spmv8 Spmv8ScanUp(Spmv8 a, Spmv8 c, Spmv8 b)
{
  for (int l = 0; l < 8; l++) a.a[l] += c.a[l] * (l ? a.a[l - 1] : b.a[7]);
  return a;
}
SPMV_INLINE Spmv8 Spmv8ScanDown(Spmv8 a, Spmv8 c, Spmv8 b)
{
  for (int l = 7; l >= 0; l--) a.a[l] += c.a[l] * (l < 7 ? a.a[l + 1] : b.a[0]);
  return a;
}
#elif defined(__AVX512F__)
  /* v, `lanes` lanes further, behind those of w */
  #define SPMV_UP(v, w, lanes) \
    _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(v), _mm512_castpd_si512(w), 8 - (lanes)))
  #define SPMV_DOWN(v, w, lanes) _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(w), _mm512_castpd_si512(v), lanes))
SPMV_INLINE Spmv8 Spmv8ShiftUp(Spmv8 a, Spmv8 b)
{
  return SPMV_UP(a, b, 1);
}
SPMV_INLINE Spmv8 Spmv8ShiftDown(Spmv8 a, Spmv8 b)
{
  return SPMV_DOWN(a, b, 1);
}
  /* After each step lane l is made of twice as many lanes, and c multiplies the lane before these; before the first lane is 0, and then 1 */
  #define SPMV_SCAN(SHIFT, last) \
    do { \
      const Spmv8 zero = Spmv8Zero(), one = Spmv8Splat(1); \
\
      a = Spmv8Fma(c, SHIFT(a, zero, 1), a); \
      c = Spmv8Mul(c, SHIFT(c, one, 1)); \
      a = Spmv8Fma(c, SHIFT(a, zero, 2), a); \
      c = Spmv8Mul(c, SHIFT(c, one, 2)); \
      a = Spmv8Fma(c, SHIFT(a, zero, 4), a); \
      c = Spmv8Mul(c, SHIFT(c, one, 4)); \
      return Spmv8Fma(c, _mm512_permutexvar_pd(_mm512_set1_epi64(last), b), a); \
    } while (0)
SPMV_INLINE Spmv8 Spmv8ScanUp(Spmv8 a, Spmv8 c, Spmv8 b)
{
  SPMV_SCAN(SPMV_UP, 7);
}
SPMV_INLINE Spmv8 Spmv8ScanDown(Spmv8 a, Spmv8 c, Spmv8 b)
{
  SPMV_SCAN(SPMV_DOWN, 0);
}
#else
/* Four lanes: those of v, one or two further, behind those of w; and the other way */
SPMV_INLINE Spmv4 SpmvUp2(Spmv4 v, Spmv4 w)
{
  return _mm256_permute2f128_pd(w, v, 0x21);
}
SPMV_INLINE Spmv4 SpmvUp1(Spmv4 v, Spmv4 w)
{
  return _mm256_shuffle_pd(SpmvUp2(v, w), v, 0x5);
}
SPMV_INLINE Spmv4 SpmvDown2(Spmv4 v, Spmv4 w)
{
  return _mm256_permute2f128_pd(v, w, 0x21);
}
SPMV_INLINE Spmv4 SpmvDown1(Spmv4 v, Spmv4 w)
{
  return _mm256_shuffle_pd(v, SpmvDown2(v, w), 0x5);
}
SPMV_INLINE Spmv8 Spmv8ShiftUp(Spmv8 a, Spmv8 b)
{
  return (Spmv8){SpmvUp1(a.low, b.high), SpmvUp1(a.high, a.low)};
}
SPMV_INLINE Spmv8 Spmv8ShiftDown(Spmv8 a, Spmv8 b)
{
  return (Spmv8){SpmvDown1(a.low, a.high), SpmvDown1(a.high, b.low)};
}
  /* Two steps; then c multiplies the lane before all four */
  #define SPMV_SCAN4(a, c, UP) \
    do { \
      const Spmv4 zero = Spmv4Zero(), one = Spmv4Splat(1); \
\
      a = Spmv4Fma(c, UP##1(a, zero), a); \
      c = _mm256_mul_pd(c, UP##1(c, one)); \
      a = Spmv4Fma(c, UP##2(a, zero), a); \
      c = _mm256_mul_pd(c, UP##2(c, one)); \
    } while (0)
SPMV_INLINE Spmv8 Spmv8ScanUp(Spmv8 a, Spmv8 c, Spmv8 b)
{
  SPMV_SCAN4(a.low, c.low, SpmvUp);
  SPMV_SCAN4(a.high, c.high, SpmvUp);
  a.low  = Spmv4Fma(c.low, _mm256_permute4x64_pd(b.high, 0xff), a.low);
  a.high = Spmv4Fma(c.high, _mm256_permute4x64_pd(a.low, 0xff), a.high);
  return a;
}
SPMV_INLINE Spmv8 Spmv8ScanDown(Spmv8 a, Spmv8 c, Spmv8 b)
{
  SPMV_SCAN4(a.low, c.low, SpmvDown);
  SPMV_SCAN4(a.high, c.high, SpmvDown);
  a.high = Spmv4Fma(c.high, _mm256_permute4x64_pd(b.low, 0), a.high);
  a.low  = Spmv4Fma(c.low, _mm256_permute4x64_pd(a.high, 0), a.low);
  return a;
}
#endif
