/*
  prelude.cl - scalars, real or complex, for the kernels of all APIs; the words it uses are of opencl.cl and cuda.cl

  Scalars are added with +. INDEX is a PetscInt.

  Put(y, row, sum, add)           y[row] <- sum, or y[row] + sum
  Ticket(counter, told, ngroups)  a number for this work group, in the order in which work groups start: who waits for one of a
                                  lower number waits for one that has started. counter: 0 in global memory, and 0 again after
                                  ngroups work groups; told: an integer of local memory for this alone. All work items of the
                                  group take part
  ARRIVED(bits, flag)             true, which no compiler knows: bits are those of several loads, or'ed to a uint, flag is an
                                  argument of the kernel that is 0 or 1. `if (ARRIVED(...))` lets nothing behind it begin before
                                  all have arrived, so that a compiler that saves registers has to ask for them together
  BITS_OF(v)                      some bits of a scalar, for ARRIVED()
  SumAcross(v, width, sums)       the sum of v over `width` work items that follow each other, for the first of them; width: a power
                                  of two up to 32. All work items of the group take part; sums: a scalar of local memory for each
                                  of them, which is not used where a warp needs none (WARPS_ALONE)
  GroupSums(v, count, sums)       of each v[k], k < count, the sum over the work group, for work item k % GROUP in sums[k * GROUP].
                                  Two barriers, one where warps are alone; sums: count * GROUP scalars of local memory. For
                                  sources with -DGROUP=n, work items of a work group, a power of two
  DEFINE_DOT(name, COLUMN, XSPACE)  defines name(values, columns, x, base, stride, least, count): the sum of `count` products of
                                  values and x at base + columns, whose entries are `stride` elements apart. Four are asked for at a
                                  time. least <= count is the same for work items that read side by side, which ask for so many
                                  together; what comes after an item's last is not read. XSPACE: GLOBAL or LOCAL_POINTER

  A source with -DCLEAR=n has the kernel spmv_clear, of work groups of n work items that write CLEAR_EACH scalars each: 0, where no
  other kernel writes.
*/
#if COMPLEX
  #define ZERO MakeScalar(0, 0)
INLINE SCALAR Times(SCALAR a, SCALAR b)
{
  return MakeScalar(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
#else
typedef REAL  SCALAR;
  #define ZERO ((SCALAR)0)
INLINE SCALAR Times(SCALAR a, SCALAR b)
{
  return a * b;
}
#endif

#if INDEX_BITS == 64
typedef long INDEX;
#else
typedef int INDEX;
#endif

INLINE void Put(GLOBAL SCALAR *y, size_t row, SCALAR sum, int add)
{
  y[row] = add ? y[row] + sum : sum;
}

#define DEFINE_DOT(name, COLUMN, XSPACE) \
  INLINE SCALAR name(GLOBAL const SCALAR *values, GLOBAL const COLUMN *columns, XSPACE const SCALAR *x, int base, int stride, \
                     int least, int count) \
  { \
    SCALAR value[4], factor[4], sum = ZERO; \
    int    column[4]; \
\
    count -= least / 4 * 4; \
    ROLLED for (; least >= 4; least -= 4, values += 4 * stride, columns += 4 * stride) \
    { \
      UNROLL for (int k = 0; k < 4; k++) column[k] = (int)STREAM(&columns[k * stride]); \
      UNROLL for (int k = 0; k < 4; k++) value[k]  = STREAM(&values[k * stride]); \
      UNROLL for (int k = 0; k < 4; k++) factor[k] = x[base + column[k]]; \
      UNROLL for (int k = 0; k < 4; k++) sum       = sum + Times(value[k], factor[k]); \
    } \
    ROLLED for (; count > 0; count -= 4, values += 4 * stride, columns += 4 * stride) \
    { \
      UNROLL for (int k = 0; k < 4; k++) column[k] = k < count ? (int)STREAM(&columns[k * stride]) : 0; \
      UNROLL for (int k = 0; k < 4; k++) value[k]  = k < count ? STREAM(&values[k * stride]) : ZERO; \
      UNROLL for (int k = 0; k < 4; k++) factor[k] = x[base + column[k]]; \
      UNROLL for (int k = 0; k < 4; k++) sum       = sum + (k < count ? Times(value[k], factor[k]) : ZERO); \
    } \
    return sum; \
  }

INLINE int Ticket(GLOBAL volatile uint *counter, LOCAL_POINTER int *told, int ngroups)
{
  if (LOCAL_ID == 0) {
    *told = (int)ATOMIC_NEXT(counter);
    if (*told == ngroups - 1) ATOMIC_WRITE(counter, 0u);
  }
  BARRIER;
  return *told;
}

#if WARPS_ALONE
  #define ARRIVED(bits, flag) ((int)((bits) >> 31) + 2 > (flag))
  #if COMPLEX
    #define BITS_OF(v) HighBits((v).x)
  #else
    #define BITS_OF(v) HighBits(v)
  #endif
#else
  #define ARRIVED(bits, flag) 1
  #define BITS_OF(v)          0
#endif

INLINE SCALAR SumAcross(SCALAR v, int width, LOCAL_POINTER SCALAR *sums)
{
#if WARPS_ALONE
  for (int d = width / 2; d > 0; d /= 2) v = v + ShuffleDown(v, d);
#else
  sums[LOCAL_ID] = v;
  BARRIER;
  for (int k = 1; k < width && LOCAL_ID % width == 0; k++) v = v + sums[LOCAL_ID + k];
#endif
  return v;
}

#ifdef GROUP
  #define SIDE_BY_SIDE (GROUP < 32 ? GROUP : 32)

INLINE void GroupSums(SCALAR *v, int count, LOCAL_POINTER SCALAR *sums)
{
  #if WARPS_ALONE
  UNROLL
  for (int q = 0; q < count; q++) v[q] = SumAcross(v[q], SIDE_BY_SIDE, sums);
  #else
  for (int q = 0; q < count; q++) sums[q * GROUP + LOCAL_ID] = v[q];
  BARRIER;
  for (int q = 0; q < count && LOCAL_ID % SIDE_BY_SIDE == 0; q++) {
    for (int k = 1; k < SIDE_BY_SIDE; k++) v[q] = v[q] + sums[q * GROUP + LOCAL_ID + k];
  }
  #endif
  UNROLL
  for (int q = 0; q < count; q++) { /* nobody else reads these places before the barrier */
    if (LOCAL_ID % SIDE_BY_SIDE == 0) sums[q * GROUP + LOCAL_ID] = v[q];
  }
  BARRIER;
  for (int q = LOCAL_ID; q < count; q += GROUP) {
    for (int k = SIDE_BY_SIDE; k < GROUP; k += SIDE_BY_SIDE) sums[q * GROUP] = sums[q * GROUP] + sums[q * GROUP + k];
  }
}
#endif

#ifdef CLEAR
KERNEL(CLEAR)
void spmv_clear(GLOBAL SCALAR *array, int n, int size)
{
  const size_t first = (size_t)GROUP_ID * CLEAR * CLEAR_EACH + LOCAL_ID, end = (size_t)n * size;

  UNROLL
  for (int k = 0; k < CLEAR_EACH; k++) {
    if (first + k * CLEAR < end) array[first + k * CLEAR] = ZERO;
  }
}
#endif
