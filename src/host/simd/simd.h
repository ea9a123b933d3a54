/*
  simd.h - vectors of four and eight scalars, for one source compiled for every instruction set

  A *_simd.c includes this file, which includes <instruction set>.h. scalar.h is plain C and defines what each operation means;
  the avx*.h are for real double precision. Any other scalar type uses scalar.h, whatever the instruction set, and
  SPMV_SIMD_PLAIN is 1: its vectors are arrays.

  Types: Spmv4 and Spmv8, four and eight scalars; SpmvIndex, eight int32_t; SpmvPieces, four pieces of x of four scalars each;
  SpmvTable, up to 256 scalars, of which `all` is the address and the first 16 may be in registers. An
  index is an array of numbers >= 0, of type uint16_t, int32_t or int64_t. A mask has a bit for each lane.

  V is Spmv4 or Spmv8:
  VZero(), VSplat(s), VLoad(p), VAdd(a, b), VSum(v)
  VFma(a, b, c)                 a b + c, rounded once where the machine can
  VLoadFirst(p, n)              the first n lanes, which are all that is read, 0 in the others
  VStoreFirst(p, v, n)          the first n lanes
  VLoadFew(p, n), VStoreFew(p, v, n)  the same for a constant n, by loads and stores without masks: what is stored is soon there
                                to be loaded
  VSplatTwo(s, t)               s in the first half of the lanes, t in the second
  VFold(v)                      the sum of the halves, in both of them
  VFirst(v, n)                  the first n lanes of v, 0 in the others; Spmv4First() only where SPMV_SIMD_PLAIN is 0
  VAddSteps(v, p, least, unit)  v, plus p[l] times the power of two in lane l, or `least` if that is more, times `unit`; p as many
                                int8_t; only where SPMV_SIMD_PLAIN is 0
  Spmv4AddSteps16(v, p, least, unit)  the same of int16_t
  VTakeFar(v, mask, from)       v, with the next of *from in the lanes of mask; where SPMV_SIMD_PLAIN is 0, and
  SpmvFarLanes(p, n)            the bits of those of the int8_t p[0 .. n - 1] that are -128, n = 1 to 64; 15 more may be read

  Spmv8Same(v, w)               the mask of the lanes that have the same bits
  Spmv8FindSteps(v, w, least, unit, p)  what Spmv8AddSteps() is to be given to make w of v: p, -127 to 127, 0 where it takes more;
                                the mask of the lanes where it has the bits of w then
  Spmv8FindSteps16(v, w, least, unit, p)  the same of int16_t, -32767 to 32767
  Spmv8Close(v, w, relative)    the mask of the lanes that differ by so much of the larger one at most. These four only where
                                SPMV_SIMD_PLAIN is 0
  Spmv4Sums(v)                  the sum of v[l] in lane l, v four vectors
  Spmv4Expand(v, mask)          lanes 0, 1, ... of v in the lanes of mask, 0 in the others
  Spmv4FmaWhere(a, b, c, mask)  c, plus a b in the lanes of mask
  Spmv4SplatPair(p)             p[0] in the even lanes, p[1] in the odd ones
  Spmv4Pairs(a, b)              the sum of lanes 2 l and 2 l + 1 of a in lane l, of b in lane l + 2; these five, too, only where
                                SPMV_SIMD_PLAIN is 0

  VLoadFloat(p), VLoadHalfFloat(p)  floats, all lanes or the first half and zeros, where scalars are double

  Spmv8Mul(a, b), Spmv8Store(p, v)
  Spmv8Stream(p, v)             a store past the cache, p a multiple of 64 bytes; SpmvStreamEnd() before others read it
  Spmv8LoadWhere(v, mask, p)    v, with the lanes of mask from p, which are all that is read
  Spmv8FmaExpand(p, word, b, c, few)  c, plus a b in the lanes of a mask, the lowest eight bits of the uint32_t *word, where a has
                                p[0], p[1], ... in these lanes; all of p[0 .. 7] may be read; few: four lanes at most
  Spmv8SplatPair(p)             p[0] in the even lanes, p[1] in the odd ones
  Spmv8PutPairs(y, v, n, beta)  y[l] <- beta y[l] + the sum of lanes 2 l and 2 l + 1 of v, for l < n <= 4
  SpmvAddPairs(y, v)            adds the even lanes of v to y[0], the odd ones to y[1]
  Spmv8AddFirst(a, b, n)        a, plus b in the first n lanes
  Spmv8AddWhere(a, mask, b)     b, plus a in the lanes of mask
  Spmv8FmaWhere(a, b, c, mask)  c, plus a b in the lanes of mask; a b is unused in the others
  Spmv8Permute(v, i)            lane i[l] of v in lane l, i eight uint8_t
  Spmv8Transpose(v)             eight vectors as the rows of a matrix, which is transposed
  Spmv8Sums(v)                  the sum of v[l] in lane l, v eight vectors
  Spmv8SumRuns(p, i, n, depth)  the sum of the first min(n[l], depth) scalars from p[i[l]] on in lane l, i eight PetscInt, n an
                                SpmvIndex, depth 4 or a multiple of 8; all `depth` scalars may be read

  Spmv8Beyond(v, limit)         the mask of the lanes whose size is greater than a limit
  Spmv8ShiftUp(v, before)       lane l - 1 of v in lane l, lane 7 of `before` in lane 0
  Spmv8ShiftDown(v, before)     lane l + 1 of v in lane l, lane 0 of `before` in lane 7
  Spmv8ScanUp(a, c, before)     r = a + c Spmv8ShiftUp(r, before), from lane to lane; Spmv8ScanDown(a, c, before) in the same way.
                                It may multiply lanes of c by each other
  SpmvFma(a, b, c)              VFma() of scalars

  Spmv8Gather(x, i)             x[i[l]] in lane l
  Spmv8GatherFirst(x, i, n)     the same in the first n lanes, 0 in the others; all of i[0 .. 7] may be read
  Spmv8GatherPacked(x, w, bits) x[w[l] >> bits] in lane l, w eight uint32_t or uint64_t
  Spmv8GatherPairs(x, i, a, b)  *a: x[i[l]] in lane l, *b: x[i[l] + 1]
  Spmv8Scatter(y, i, v)         y[i[l]] <- lane l of v, in the order of the lanes
  SpmvPieces4(x, i, size)       the pieces from x[i[0]], ..., x[i[3]] on, of an index whose numbers have so many bytes
  Spmv8ScatterAdd(y, i, v)      y[i[l]] += lane l of v, in the order of the lanes: a place may come twice
  SpmvPick(p, word)             in lane l the scalar of the pieces *p that bits 4 l to 4 l + 3 of four bytes tell

  SpmvTableOf(p)                the table p of 256 scalars
  Spmv8Few(t, i)                scalar i[l] of *t in lane l, i eight uint8_t less than 16
  Spmv8Many(p, i)               p[i[l]] in lane l, i eight uint8_t

  SpmvIndexSplat(c), SpmvIndexLoad32(p), SpmvIndexLoadU16(p), SpmvIndexLoadS16(p), SpmvIndexStore32(p, a)
  SpmvIndexAdd(a, b), SpmvIndexSub(a, b), SpmvIndexMul(a, b), SpmvIndexMin(a, b)
  SpmvIndexPick(a, word)        in lane l the place that SpmvPick() takes it from, of pieces that begin at lanes 0 to 3 of a
  SpmvIndexScan(a)              the sum of lanes 0 to l in lane l
  SpmvIndexLast(a)              the last lane in all lanes
  SpmvIndexEqual(a, value), SpmvIndexGreater(a, value)  the mask of the lanes that are
  SpmvIndexExpand(a, mask, p)   a, with the lanes of mask from p[0], p[1], ...; p[0 .. 7] may all be read
  SpmvIndexPack(p, a, mask)     the lanes of mask to p[0], p[1], ...; p[0 .. 7] may all be written
*/
#pragma once
#include "../../compat.h"
#include "../prefetch.h"
#include <stdint.h>

#if !defined(__clang__) /* GCC 12 warns of vectors that the first turn of an unrolled loop sets, with 64-bit indices */
  #pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* Before a loop of up to eight iterations over vectors: without it they are kept in memory */
#define SPMV_UNROLL _Pragma("GCC unroll 8")

/*
  In a loop with counter k over places that an index gives: keeps the compiler from vectorizing it. On Zen 4 a vector's eight
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

SPMV_INLINE Spmv8 SpmvGatherU16(const PetscScalar *x, const uint16_t *i)
{
  return SpmvGather8(x, i, sizeof(*i), 0);
}
SPMV_INLINE Spmv8 SpmvGather32(const PetscScalar *x, const int32_t *i)
{
  return SpmvGather8(x, i, sizeof(*i), 0);
}
SPMV_INLINE Spmv8 SpmvGather64(const PetscScalar *x, const int64_t *i)
{
  return SpmvGather8(x, i, sizeof(*i), 0);
}
#define Spmv8Gather(x, i) _Generic(*(i), uint16_t : SpmvGatherU16, int32_t : SpmvGather32, int64_t : SpmvGather64)(x, i)

#define Spmv8GatherPacked(x, i, bits) SpmvGather8(x, i, sizeof(*(i)), bits)
#define Spmv8GatherFirst(x, i, n)     SpmvGatherFirst8(x, i, sizeof(*(i)), n)
#define Spmv8GatherPairs(x, i, a, b)  SpmvPairs8(x, i, sizeof(*(i)), a, b)
#define Spmv8Scatter(y, i, v)         SpmvScatter8(y, i, sizeof(*(i)), v)
#define Spmv8ScatterAdd(y, i, v)      SpmvScatterAdd8(y, i, sizeof(*(i)), v)

/* Two lines of n entries of x, from entry k on, for a row that prefetches (SpmvNearAhead()): eight rows are seldom in one line */
SPMV_INLINE void SpmvPrefetchAhead(const PetscScalar *x, PetscInt64 k, PetscInt64 n)
{
  if (k < n) SpmvPrefetch(x + k, 128);
}

/* As the list above says */
SPMV_INLINE void Spmv8PutPairs(PetscScalar *y, Spmv8 v, PetscInt n, PetscBool beta)
{
  const Spmv4 sums = Spmv8Pairs(v);

  if (n == 4) Spmv4StoreFew(y, beta ? Spmv4Add(Spmv4Load(y), sums) : sums, 4);
  else Spmv4StoreFirst(y, beta ? Spmv4Add(Spmv4LoadFirst(y, (int)n), sums) : sums, (int)n);
}

/* y[l] <- beta y[l] + lane l of v, for the first n lanes: all if n >= 8, none if n <= 0 */
SPMV_INLINE void Spmv8Put(PetscScalar *y, Spmv8 v, PetscInt n, PetscBool beta)
{
  if (n >= 8) Spmv8Store(y, beta ? Spmv8Add(Spmv8Load(y), v) : v);
  else if (n > 0) Spmv8StoreFirst(y, beta ? Spmv8Add(Spmv8LoadFirst(y, (int)n), v) : v, (int)n);
}
