/*
  hash.h - hashes that name files, recognise patterns, and find what was damaged
*/
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A hash with one more word */
static inline uint64_t SpmvHashWord(uint64_t h, uint64_t word)
{
  return (h ^ (h >> 29)) * UINT64_C(0x9E3779B97F4A7C15) + word;
}

/* A hash with some more bytes; 0 to begin with */
static inline uint64_t SpmvHash(uint64_t h, const void *data, size_t bytes)
{
  for (size_t k = 0; k < bytes; k++) h = SpmvHashWord(h, ((const unsigned char *)data)[k]);
  return h;
}
