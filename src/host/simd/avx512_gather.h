/*
  avx512_gather.h - avx512.h, but eight entries of x, or of a table, are gathered by one instruction (isas.h)
*/
#pragma once
#define SPMV_GATHER
#include "avx512.h"

SPMV_INLINE Spmv8 SpmvGather8(const double *x, const void *index, size_t size, int bits)
{
  if (size == 8) return _mm512_i64gather_pd(_mm512_srli_epi64(_mm512_loadu_si512(index), (unsigned)bits), x, 8);
  if (size == 4) return _mm512_i32gather_pd(_mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)index), bits), x, 8);
  return _mm512_i32gather_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)index)), x, 8);
}

SPMV_INLINE Spmv8 Spmv8Many(const double *table, const uint8_t *code)
{
  return _mm512_i32gather_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)code)), table, 8);
}
