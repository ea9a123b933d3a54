/*
  readloop.c - how fast can memory be read?

  A product cannot be faster than its bytes are read. No single loop reads fastest on every machine and from every cache,
  so there are several: plain C, and vectors of 32 and 64 bytes where the processor has them, each with some numbers of
  vectors in flight, from one place of the memory or from four at once.
*/
#include "spmvbench.h"
#include <string.h>

/* count vectors of `width` bytes are read, `lanes` at a time, from each of `streams` parts; what is read is returned, mixed */
#define BENCH_READER(name, target, width, lanes, streams) \
  target static uint64_t name(const void *memory, size_t bytes) \
  { \
    typedef uint64_t Vector __attribute__((vector_size(width), aligned(8), may_alias)); \
    const size_t     part                     = bytes / (streams) / ((width) * (lanes)) * (lanes); \
    const Vector    *p                        = memory; \
    Vector           sum[(lanes) * (streams)] = {{0}}; \
    uint64_t         all                      = 0; \
    for (size_t k = 0; k < part; k += (lanes)) { \
      for (size_t s = 0; s < (streams); s++) { \
        for (size_t l = 0; l < (lanes); l++) sum[s * (lanes) + l] ^= p[s * part + k + l]; \
      } \
    } \
    for (size_t s = 1; s < (lanes) * (streams); s++) sum[0] ^= sum[s]; \
    for (size_t s = 0; s < (width) / 8; s++) all ^= sum[0][s]; \
    return all; \
  }

BENCH_READER(ReadPlain4, , 8, 4, 1)
BENCH_READER(ReadPlain8, , 16, 8, 1)
#if defined(__x86_64__) && defined(__GNUC__)
BENCH_READER(ReadAvx2x4, __attribute__((target("avx2"))), 32, 4, 1)
BENCH_READER(ReadAvx2x8, __attribute__((target("avx2"))), 32, 8, 1)
BENCH_READER(ReadAvx2x2x4, __attribute__((target("avx2"))), 32, 2, 4)
BENCH_READER(ReadAvx512x4, __attribute__((target("avx512f"))), 64, 4, 1)
BENCH_READER(ReadAvx512x8, __attribute__((target("avx512f"))), 64, 8, 1)
BENCH_READER(ReadAvx512x2x4, __attribute__((target("avx512f"))), 64, 2, 4)
#endif

/* Those that this processor can run */
PetscErrorCode BenchReadersGet(PetscInt *count, BenchReader *const **readers)
{
  static BenchReader *list[8];
  static PetscInt     known = 0;

  PetscFunctionBegin;
  if (!known) {
    list[known++] = ReadPlain4;
    list[known++] = ReadPlain8;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) {
      list[known++] = ReadAvx2x4;
      list[known++] = ReadAvx2x8;
      list[known++] = ReadAvx2x2x4;
    }
    if (__builtin_cpu_supports("avx512f")) {
      list[known++] = ReadAvx512x4;
      list[known++] = ReadAvx512x8;
      list[known++] = ReadAvx512x2x4;
    }
#endif
  }
  *count   = known;
  *readers = list;
  PetscFunctionReturn(PETSC_SUCCESS);
}
