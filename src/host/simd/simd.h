/*
  simd.h - vectors of four and eight scalars, for one source compiled for every instruction set

  A *_simd.c includes this file, which includes <instruction set>.h: scalar.h is plain C and defines what each operation
  means; avx2.h and avx512.h are for real double precision, and any other scalar type uses scalar.h whatever the
  instruction set.

  Spmv4, Spmv8          four, eight scalars. XLoad(p), XLoadFirst(p, n) (the first n, others 0; reads no further),
                        XStoreFirst(p, v, n), XZero(), XSplat(s), XAdd(a, b), XMul(a, b), XFma(a, b, c) = a b + c rounded
                        once where the machine can, XSum(v)
  Spmv8Store(p, v), Spmv8AddWhere(a, m, b) = b, plus a in the lanes of mask m; Spmv8LoadWhere(v, m, p) = v, with the lanes
                        of m from p[0 .. 7], which may all be read
  Spmv8LoadMasked(p, m) p[l] in the lanes l of mask m, which are all that is read, 0 in the others
  Spmv8FmaWhere(a, b, c, m) = a b + c in the lanes of mask m, c in the others, whatever a b is there
  Spmv8AddFirst(a, b, n) a, plus b in the first n lanes, n = 0 to 8; Spmv8Permute(v, i): lane i[l] of v in lane l, i eight uint8
  Spmv8Sums(v)          lane l the sum of vector v[l], l = 0 to 7
  Spmv8SumRuns(p, i, n, depth)  lane l the sum of the first min(n[l], depth) scalars from p[i[l]] on; i eight PetscInt in
                        memory, n a SpmvIndex, depth 4 or a multiple of 8; all depth scalars may be read
  Spmv8Gather(x, i)     x[i[l]] in lane l, i eight int32 >= 0 in memory; Spmv8GatherU16() for uint16, Spmv8Gather64() for
                        int64, Spmv8GatherInt() for PetscInt; Spmv8GatherPacked32(x, w, bits): x[w[l] >> bits], w eight uint32,
                        Spmv8GatherPacked64() for uint64; Spmv8GatherFirst(x, i, n), Spmv8GatherFirstU16(): the first n lanes, others 0;
                        i[0 .. 7] may all be read
  Spmv8GatherPairs(x, i, &a, &b)  a: x[i[l]] in lane l, b: x[i[l] + 1]; Spmv8GatherPairsU16()
  SpmvPieces            four pieces of x with four scalars each. SpmvPiecesLoad(x, i): from x[i[0]], ..., x[i[3]] on, int32 >= 0 in memory,
                        SpmvPiecesLoadU16(); SpmvPick(&p, word): in lane l the one that bits 4 l to 4 l + 3 of four bytes tell
  Spmv8Scatter(y, i, v) y[i[l]] <- lane l of v, in the order of the lanes; Spmv8ScatterU16()
  Spmv8ScatterAdd(y, i, v)  y[i[l]] += lane l of v, lane after lane: a place may come twice; Spmv8ScatterAddU16()
  Spmv8Stream(p, v)     as Spmv8Store(), past the cache, p a multiple of 64 bytes; SpmvStreamEnd(): before others read it
  SpmvIndex             eight int32. SpmvIndexLoad32(), LoadU16(), LoadS16(), Store32(), Add(), Sub(), Min(), MulAdd(a, k, c) = k a + c,
                        Equal(a, value), Greater(a, value): mask of the lanes that are; Expand(a, m, p): a, with the lanes of m from p[0], p[1],
                        ...; p[0 .. 7] may all be read; Pack(p, a, m): the lanes of m to p[0], p[1], ...; p[0 .. 7] may all be written;
                        Scan(a): the sums of lanes 0 to l; Last(a): all lanes as the last; Splat(c)
*/
#pragma once
#include "../../compat.h"
#include <stdint.h>

/* Before a loop of up to eight iterations over vectors: without it they are kept in memory */
#define SPMV_UNROLL _Pragma("GCC unroll 8")

/*
  In a loop with counter k over places that an index gives: the compiler is not to make a vector of it. On Zen 4 a vector's eight
  indices one by one, or a scatter instruction, cost twice what eight scalar loads and stores do
*/
#define SPMV_SCALAR_LOOP(k) __asm__("" : "+r"(k))

#define SPMV_INLINE static inline __attribute__((always_inline))

#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(SPMV_ISA_ABSENT)
  #define SPMV_SIMD_STRING_(x) #x
  #define SPMV_SIMD_STRING(x)  SPMV_SIMD_STRING_(x)
  #define SPMV_SIMD_HEADER     SPMV_SIMD_STRING(SPMV_ISA_SUFFIX.h)
  #include SPMV_SIMD_HEADER
#else
  #include "scalar.h"
#endif

#if !defined(SPMV_SIMD_PLAIN)
  #define SPMV_SIMD_PLAIN 0
#endif

/* x[i[l]] in lane l, i eight PetscInt in memory */
#if defined(PETSC_USE_64BIT_INDICES)
  #define Spmv8GatherInt Spmv8Gather64
#else
  #define Spmv8GatherInt Spmv8Gather
#endif

/*
  Asks for bytes that memory has to send, into the second cache: the first has too few lines under way to wait for memory in.
  It pays for arrays that no cache holds from one product to the next, SpmvMachine.cached entries or more, and costs for smaller ones
*/
SPMV_INLINE void SpmvAhead(const void *first, size_t bytes)
{
  for (size_t k = 0; k < bytes; k += 64) __builtin_prefetch((const char *)first + k, 0, 2);
}

/* y[l] <- beta y[l] + lane l of v, for the first n lanes: all if n >= 8, none if n <= 0 */
SPMV_INLINE void Spmv8Put(PetscScalar *y, Spmv8 v, PetscInt n, PetscBool beta)
{
  if (n >= 8) Spmv8Store(y, beta ? Spmv8Add(Spmv8Load(y), v) : v);
  else if (n > 0) Spmv8StoreFirst(y, beta ? Spmv8Add(Spmv8LoadFirst(y, (int)n), v) : v, (int)n);
}
