/*
  vec.cl - operations on vectors

  -DGROUP=n         work items of a work group, a power of two
  -DMANY=n          vectors that one kernel takes besides the first, 8
  -DRESULTS=n       sums that are kept until they are fetched
  -DZERO_BY_ZERO=n  0 / 0 in a quotient of vectors, as this PETSc has it; another number by 0 is 0

  Entry by entry: a work item for each entry; what is written may be one of the vectors that are read.

  Sums and maxima are made in two steps, without atomics, so that the same vector gives the same bits each time: `groups` work
  groups go through the vector in steps of groups * GROUP entries and leave a partial result each, then one work group adds these
  up. `sums` has RESULTS results, then the partial ones; that of work group g and result k is at k * groups + g of these, and the
  second step has a work group for each k. `places` has one result, then the partial ones.

  No GPU has run these kernels; NVRTC compiles them, and PoCL and Oclgrind run them.
*/

/* Of scalars; abs of a complex one does not overflow before it has to */
#if COMPLEX
  #define REAL_PART(a)          ((a).x)
  #define IS_ZERO(a)            ((a).x == 0 && (a).y == 0)
  #define ABS(a)                ((REAL)hypot((a).x, (a).y))
  #define SQUARE(a)             ((a).x * (a).x + (a).y * (a).y)
  #define CONJUGATE(a)          MakeScalar((a).x, -(a).y)
  #define CONJUGATE_BY(sign, a) MakeScalar((a).x, (sign) * (a).y)
  #define FROM_REAL(r)          MakeScalar(r, 0)

/* Smith's: no square that overflows or vanishes */
INLINE SCALAR Divide(SCALAR a, SCALAR b)
{
  if (fabs(b.x) >= fabs(b.y)) {
    const REAL ratio = b.y / b.x, size = b.x + b.y * ratio;

    return MakeScalar((a.x + a.y * ratio) / size, (a.y - a.x * ratio) / size);
  } else {
    const REAL ratio = b.x / b.y, size = b.x * ratio + b.y;

    return MakeScalar((a.x * ratio + a.y) / size, (a.y * ratio - a.x) / size);
  }
}
#else
  #define REAL_PART(a)          (a)
  #define IS_ZERO(a)            ((a) == 0)
  #define ABS(a)                ((REAL)fabs(a))
  #define SQUARE(a)             ((a) * (a))
  #define CONJUGATE(a)          (a)
  #define CONJUGATE_BY(sign, a) (a)
  #define FROM_REAL(r)          (r)
  #define Divide(a, b)          ((a) / (b))
#endif

/* w <- f of x, y, z and the numbers a, b, c; what f does not name is not read */
#define ENTRYWISE(name, f) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL SCALAR *w, GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL const SCALAR *z, SCALAR a, SCALAR b, \
                  SCALAR c, ulong n) \
  { \
    const size_t i = GLOBAL_ID; \
\
    if (i < n) w[i] = f; \
  }

ENTRYWISE(set, a)
ENTRYWISE(scale, Times(a, x[i]))
ENTRYWISE(add2, Times(a, x[i]) + Times(b, y[i]))
ENTRYWISE(add3, Times(a, x[i]) + Times(b, y[i]) + Times(c, z[i]))
ENTRYWISE(multiply, Times(x[i], y[i]))
ENTRYWISE(divide, IS_ZERO(y[i]) ? FROM_REAL(IS_ZERO(x[i]) ? ZERO_BY_ZERO : 0) : Divide(x[i], y[i]))
ENTRYWISE(larger, FROM_REAL(REAL_PART(x[i]) < REAL_PART(y[i]) ? REAL_PART(y[i]) : REAL_PART(x[i])))
ENTRYWISE(larger_abs, FROM_REAL(ABS(x[i]) < ABS(y[i]) ? ABS(y[i]) : ABS(x[i])))
ENTRYWISE(smaller, FROM_REAL(REAL_PART(x[i]) < REAL_PART(y[i]) ? REAL_PART(x[i]) : REAL_PART(y[i])))
ENTRYWISE(reciprocal, IS_ZERO(x[i]) ? x[i] : Divide(a, x[i])) /* a is 1 */
ENTRYWISE(conjugate, CONJUGATE(x[i]))
ENTRYWISE(abs, FROM_REAL(ABS(x[i])))
ENTRYWISE(sqrtabs, FROM_REAL(sqrt(ABS(x[i]))))
ENTRYWISE(shift, x[i] + a)

/* y[to ...] <- x[from ...] */
KERNEL(GROUP)
void vec_copy(GLOBAL SCALAR *y, GLOBAL const SCALAR *x, ulong to, ulong from, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) y[to + i] = x[from + i];
}

KERNEL(GROUP)
void vec_swap(GLOBAL SCALAR *x, GLOBAL SCALAR *y, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) {
    const SCALAR v = x[i];

    x[i] = y[i];
    y[i] = v;
  }
}

/* w <- w + a0 x0 + ..., the first `count` of the terms */
KERNEL(GROUP)
void vec_maxpy(GLOBAL SCALAR *w, GLOBAL const SCALAR *x0, GLOBAL const SCALAR *x1, GLOBAL const SCALAR *x2,
               GLOBAL const SCALAR *x3, GLOBAL const SCALAR *x4, GLOBAL const SCALAR *x5, GLOBAL const SCALAR *x6,
               GLOBAL const SCALAR *x7, int count, SCALAR a0, SCALAR a1, SCALAR a2, SCALAR a3, SCALAR a4, SCALAR a5, SCALAR a6,
               SCALAR a7, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) {
    SCALAR sum = w[i] + Times(a0, x0[i]);

    if (count > 1) sum = sum + Times(a1, x1[i]);
    if (count > 2) sum = sum + Times(a2, x2[i]);
    if (count > 3) sum = sum + Times(a3, x3[i]);
    if (count > 4) sum = sum + Times(a4, x4[i]);
    if (count > 5) sum = sum + Times(a5, x5[i]);
    if (count > 6) sum = sum + Times(a6, x6[i]);
    if (count > 7) sum = sum + Times(a7, x7[i]);
    w[i] = sum;
  }
}

/* Adds up `count` sums, of which each work item has one at sums[k * GROUP + its number]: sum k goes to out[k * step] */
INLINE void AddUp(LOCAL_POINTER SCALAR *sums, int count, int t, GLOBAL SCALAR *out, int step)
{
  BARRIER;
  for (int d = GROUP / 2; d > 0; d /= 2) { /* the barriers are the same for all counts */
    if (t < d) {
      for (int k = 0; k < count; k++) sums[k * GROUP + t] = sums[k * GROUP + t] + sums[k * GROUP + t + d];
    }
    BARRIER;
  }
  for (int k = t; k < count; k += GROUP) out[(size_t)k * step] = sums[k * GROUP];
}

/* Partial sums of x y0, ..., or of x and the conjugate of each y */
KERNEL(GROUP)
void vec_dots(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y0, GLOBAL const SCALAR *y1, GLOBAL const SCALAR *y2,
              GLOBAL const SCALAR *y3, GLOBAL const SCALAR *y4, GLOBAL const SCALAR *y5, GLOBAL const SCALAR *y6,
              GLOBAL const SCALAR *y7, int count, int conjugate, GLOBAL SCALAR *sums, int groups, ulong n)
{
  LOCAL SCALAR mine[MANY * GROUP];
  const int    t    = LOCAL_ID;
  const REAL   sign = conjugate ? -1 : 1;
  SCALAR       sum[MANY];

  UNROLL
  for (int k = 0; k < MANY; k++) sum[k] = ZERO;
#define DOT(k) \
  if (count > k) sum[k] = sum[k] + Times(xi, CONJUGATE_BY(sign, y##k[i]))
  for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) {
    const SCALAR xi = x[i];

    DOT(0);
    DOT(1);
    DOT(2);
    DOT(3);
    DOT(4);
    DOT(5);
    DOT(6);
    DOT(7);
  }
  UNROLL
  for (int k = 0; k < MANY; k++) mine[k * GROUP + t] = sum[k];
  AddUp(mine, count, t, sums + RESULTS + GROUP_ID, groups);
}

/* Partial sums of f, and if there are two results of g */
#define SUMS(name, results, f, g) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL SCALAR *sums, GLOBAL ulong *places, int groups, \
                  ulong n) \
  { \
    LOCAL SCALAR mine[results * GROUP]; \
    SCALAR       sum[2] = {ZERO, ZERO}; \
\
    for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) { \
      const SCALAR a = x[i]; \
\
      sum[0] = sum[0] + f; \
      if (results > 1) sum[1] = sum[1] + g; \
    } \
    for (int k = 0; k < results; k++) mine[k * GROUP + LOCAL_ID] = sum[k]; \
    AddUp(mine, results, LOCAL_ID, sums + RESULTS + GROUP_ID, groups); \
  }

SUMS(sum, 1, a, ZERO)
SUMS(norm1, 1, FROM_REAL(ABS(a)), ZERO)
SUMS(norm2, 1, FROM_REAL(SQUARE(a)), ZERO)
SUMS(norm12, 2, FROM_REAL(ABS(a)), FROM_REAL(SQUARE(a)))
SUMS(dotnorm2, 2, Times(a, CONJUGATE(y[i])), FROM_REAL(SQUARE(y[i])))

/* sums[first + k] <- the sum of the partial ones of result k, the number of the work group */
KERNEL(GROUP)
void vec_sums_end(GLOBAL SCALAR *sums, GLOBAL ulong *places, int groups, int first)
{
  LOCAL SCALAR mine[GROUP];
  SCALAR       sum = ZERO;

  for (int i = LOCAL_ID; i < groups; i += GROUP) sum = sum + sums[RESULTS + (size_t)GROUP_ID * groups + i];
  mine[LOCAL_ID] = sum;
  AddUp(mine, 1, LOCAL_ID, sums + first + GROUP_ID, 1);
}

#define NOWHERE (~(ulong)0)
/* Whether v at place i is greater than the best so far, or its equal at a lesser place. What is not a number is the greatest */
#define COMES_FIRST(v, i, best, place) \
  ((i) != NOWHERE && ((place) == NOWHERE || (v) != (v) || (v) > (best) || ((v) == (best) && (i) < (place))))

/* Of one value of each work item and its place, NOWHERE if it has none, the first goes to out and where */
INLINE void First(LOCAL_POINTER REAL *values, LOCAL_POINTER ulong *places, int t, GLOBAL REAL *out, GLOBAL ulong *where)
{
  BARRIER;
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (t < d && COMES_FIRST(values[t + d], places[t + d], values[t], places[t])) {
      values[t] = values[t + d];
      places[t] = places[t + d];
    }
    BARRIER;
  }
  if (t == 0) {
    *out   = values[0];
    *where = places[0];
  }
}

/* The greatest f and its place; numbers_only: what is not a number counts for nothing, else it is the greatest */
#define FIRST(name, f, numbers_only) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL REAL *sums, GLOBAL ulong *places, int groups, ulong n) \
  { \
    LOCAL REAL  values[GROUP]; \
    LOCAL ulong where[GROUP]; \
    REAL        best  = 0; \
    ulong       place = NOWHERE; \
\
    for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) { \
      const REAL v = f; \
\
      if (v > best || (v == v && place == NOWHERE) || (v != v && !numbers_only)) { \
        best  = v; \
        place = i; \
      } \
    } \
    values[LOCAL_ID] = best; \
    where[LOCAL_ID]  = place; \
    First(values, where, LOCAL_ID, sums + RESULTS + GROUP_ID, places + 1 + GROUP_ID); \
  }

/* |x / y|, |x| where y is 0 */
INLINE REAL Ratio(SCALAR x, SCALAR y)
{
  if (!IS_ZERO(y)) x = Divide(x, y);
  return ABS(x);
}

FIRST(max, REAL_PART(x[i]), 1)
FIRST(min, -REAL_PART(x[i]), 1)
FIRST(norm_infinity, ABS(x[i]), 0)
FIRST(max_divide, Ratio(x[i], y[i]), 0)

/* sums[0]: the greatest value; places[0]: its place */
KERNEL(GROUP)
void vec_first_end(GLOBAL REAL *sums, GLOBAL ulong *places, int groups, int first)
{
  LOCAL REAL  values[GROUP];
  LOCAL ulong where[GROUP];
  REAL        best  = 0;
  ulong       place = NOWHERE;

  for (int i = LOCAL_ID; i < groups; i += GROUP) {
    if (COMES_FIRST(sums[RESULTS + i], places[1 + i], best, place)) {
      best  = sums[RESULTS + i];
      place = places[1 + i];
    }
  }
  values[LOCAL_ID] = best;
  where[LOCAL_ID]  = place;
  First(values, where, LOCAL_ID, sums, places);
}
