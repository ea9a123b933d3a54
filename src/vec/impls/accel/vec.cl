/*
  vec.cl - operations on vectors

  -DGROUP=n         work items of a work group, a power of two
  -DMANY=n          vectors that one kernel takes besides the first, 8
  -DRESULTS=n       sums that are kept until they are fetched
  -DZERO_BY_ZERO=n  0 / 0 in a quotient of vectors, as this PETSc has it; another number by 0 is 0

  Entry by entry: a work item for each entry; what is written may be one of the vectors that are read.

  Sums and maxima are made in two steps, in an order of their own, so that the same vector gives the same bits each time: `groups`
  work groups go through the vector in steps of groups * GROUP entries and leave a partial result each, then one work group adds
  these up. `sums` has RESULTS results, of which the kernel makes those from `first` on, then the partial ones; that of work group g
  and result k is at k * groups + g of these. `places` has one result, then the partial ones.

  -DLAST=1  the work group that ends last makes the second step: `done` counts those that have ended, and is 0 again after it. For
            devices whose fences reach other work groups
  -DLAST=0  a second kernel does
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

/* The sums of the work group; often there is one of `most` */
INLINE void GroupAll(SCALAR *sum, int most, int count, LOCAL_POINTER SCALAR *mine)
{
#if WARPS_ALONE
  if (count == 1) {
    GroupSums(sum, 1, mine);
    return;
  }
#endif
  GroupSums(sum, most, mine);
}

/* `count` sums, `most` at most, from the partial ones of `groups` work groups: by one work group, to sums[first ...] */
INLINE void SumAll(SCALAR *sum, int most, int count, LOCAL_POINTER SCALAR *mine, GLOBAL SCALAR *sums, int groups, int first)
{
  UNROLL
  for (int k = 0; k < most; k++) sum[k] = ZERO;
  for (int i = LOCAL_ID; i < groups; i += GROUP) {
    UNROLL
    for (int k = 0; k < most; k++) {
      if (k < count) sum[k] = sum[k] + FRESH(&sums[RESULTS + (size_t)k * groups + i]);
    }
  }
  GroupAll(sum, most, count, mine);
  for (int k = LOCAL_ID; k < count; k += GROUP) sums[first + k] = mine[k * GROUP];
}

/* What work items have of the sums goes to the partial ones; LAST: and then to the results */
INLINE void AddUp(SCALAR *sum, int most, int count, LOCAL_POINTER SCALAR *mine, LOCAL_POINTER int *told, GLOBAL SCALAR *sums,
                  GLOBAL volatile uint *done, int groups, int first)
{
  GroupAll(sum, most, count, mine);
  for (int k = LOCAL_ID; k < count; k += GROUP) sums[RESULTS + (size_t)k * groups + GROUP_ID] = mine[k * GROUP];
#if LAST
  FENCE;
  BARRIER;
  UNIFORM_IF(Ticket(done, told, groups) == groups - 1)
  {
    FENCE;
    SumAll(sum, most, count, mine, sums, groups, first);
  }
#endif
}

/* Partial sums of x y0, ..., or of x and the conjugate of each y */
KERNEL(GROUP)
void vec_dots(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y0, GLOBAL const SCALAR *y1, GLOBAL const SCALAR *y2,
              GLOBAL const SCALAR *y3, GLOBAL const SCALAR *y4, GLOBAL const SCALAR *y5, GLOBAL const SCALAR *y6,
              GLOBAL const SCALAR *y7, int count, int conjugate, GLOBAL SCALAR *sums, GLOBAL volatile uint *done, int groups,
              int first, ulong n)
{
  LOCAL SCALAR mine[MANY * GROUP];
  LOCAL int    told;
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
  AddUp(sum, MANY, count, mine, &told, sums, done, groups, first);
}

/* Partial sums of f, and if there are two results of g */
#define SUMS(name, results, f, g) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL SCALAR *sums, GLOBAL ulong *places, \
                  GLOBAL volatile uint *done, int groups, ulong n) \
  { \
    LOCAL SCALAR mine[results * GROUP]; \
    LOCAL int    told; \
    SCALAR       sum[2] = {ZERO, ZERO}; \
\
    for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) { \
      const SCALAR a = x[i]; \
\
      sum[0] = sum[0] + f; \
      if (results > 1) sum[1] = sum[1] + g; \
    } \
    AddUp(sum, results, results, mine, &told, sums, done, groups, 0); \
  }

SUMS(sum, 1, a, ZERO)
SUMS(norm1, 1, FROM_REAL(ABS(a)), ZERO)
SUMS(norm2, 1, FROM_REAL(SQUARE(a)), ZERO)
SUMS(norm12, 2, FROM_REAL(ABS(a)), FROM_REAL(SQUARE(a)))
SUMS(dotnorm2, 2, Times(a, CONJUGATE(y[i])), FROM_REAL(SQUARE(y[i])))

#if !LAST
KERNEL(GROUP)
void vec_sums_end(GLOBAL SCALAR *sums, int count, int groups, int first)
{
  LOCAL SCALAR mine[MANY * GROUP];
  SCALAR       sum[MANY];

  SumAll(sum, MANY, count, mine, sums, groups, first);
}
#endif

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

/* The first of the partial ones, by one work group */
INLINE void FirstOfAll(LOCAL_POINTER REAL *values, LOCAL_POINTER ulong *where, GLOBAL REAL *sums, GLOBAL ulong *places,
                       int groups)
{
  REAL  best  = 0;
  ulong place = NOWHERE;

  for (int i = LOCAL_ID; i < groups; i += GROUP) {
    const REAL  v = FRESH(&sums[RESULTS + i]);
    const ulong p = FRESH(&places[1 + i]);

    if (COMES_FIRST(v, p, best, place)) {
      best  = v;
      place = p;
    }
  }
  values[LOCAL_ID] = best;
  where[LOCAL_ID]  = place;
  First(values, where, LOCAL_ID, sums, places);
}

#if LAST
  #define FIRST_LAST \
    FENCE; \
    BARRIER; \
    UNIFORM_IF(Ticket(done, &told, groups) == groups - 1) \
    { \
      FENCE; \
      FirstOfAll(values, where, sums, places, groups); \
    }
#else
  #define FIRST_LAST
#endif

/* The greatest f and its place; numbers_only: what is not a number counts for nothing, else it is the greatest */
#define FIRST(name, f, numbers_only) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL REAL *sums, GLOBAL ulong *places, \
                  GLOBAL volatile uint *done, int groups, ulong n) \
  { \
    LOCAL REAL  values[GROUP]; \
    LOCAL ulong where[GROUP]; \
    LOCAL int   told; \
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
    FIRST_LAST \
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

#if !LAST
KERNEL(GROUP)
void vec_first_end(GLOBAL REAL *sums, GLOBAL ulong *places, int groups)
{
  LOCAL REAL  values[GROUP];
  LOCAL ulong where[GROUP];

  FirstOfAll(values, where, sums, places, groups);
}
#endif
