/*
  vec.cl - operations on vectors

  -DGROUP=n  work items of a work group, a power of two
  -DMANY=n   vectors that one kernel takes besides the first, 8
  -DZERO_BY_ZERO=n  0 / 0 in a quotient of vectors; another number by 0 is 0. As this PETSc has it

  Entry by entry: a work item for each entry; what is written may be one of the vectors that are read.

  Sums and maxima, in two steps, without atomics, so that the same vector gives the same bits each time: `groups` work groups go through the
  vector in steps of groups * GROUP entries and leave one partial result each, then one work group adds these up. Where there is
  more than one result, that of work group g and result k is at k * groups + g, and the second step has a work group for each.

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

/* x <- a */
KERNEL(GROUP)
void vec_set(GLOBAL SCALAR *x, SCALAR a, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) x[i] = a;
}

/* y[to ...] <- x[from ...] */
KERNEL(GROUP)
void vec_copy(GLOBAL SCALAR *y, ulong to, GLOBAL const SCALAR *x, ulong from, ulong n)
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

/* w <- a x */
KERNEL(GROUP)
void vec_scale(GLOBAL SCALAR *w, SCALAR a, GLOBAL const SCALAR *x, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) w[i] = Times(a, x[i]);
}

/* w <- a x + b y */
KERNEL(GROUP)
void vec_add2(GLOBAL SCALAR *w, SCALAR a, GLOBAL const SCALAR *x, SCALAR b, GLOBAL const SCALAR *y, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) w[i] = Times(a, x[i]) + Times(b, y[i]);
}

/* w <- a x + b y + c z */
KERNEL(GROUP)
void vec_add3(GLOBAL SCALAR *w, SCALAR a, GLOBAL const SCALAR *x, SCALAR b, GLOBAL const SCALAR *y, SCALAR c,
              GLOBAL const SCALAR *z, ulong n)
{
  const size_t i = GLOBAL_ID;

  if (i < n) w[i] = Times(a, x[i]) + Times(b, y[i]) + Times(c, z[i]);
}

/* w <- w + a0 x0 + ..., the first `count` of the terms */
KERNEL(GROUP)
void vec_maxpy(GLOBAL SCALAR *w, int count, SCALAR a0, SCALAR a1, SCALAR a2, SCALAR a3, SCALAR a4, SCALAR a5, SCALAR a6,
               SCALAR a7, GLOBAL const SCALAR *x0, GLOBAL const SCALAR *x1, GLOBAL const SCALAR *x2, GLOBAL const SCALAR *x3,
               GLOBAL const SCALAR *x4, GLOBAL const SCALAR *x5, GLOBAL const SCALAR *x6, GLOBAL const SCALAR *x7, ulong n)
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

/* w <- f(x, y) */
#define POINTWISE(name, f) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL SCALAR *w, GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, ulong n) \
  { \
    const size_t i = GLOBAL_ID; \
\
    if (i < n) { \
      const SCALAR a = x[i], b = y[i]; \
\
      w[i] = f; \
    } \
  }

POINTWISE(multiply, Times(a, b))
POINTWISE(divide, IS_ZERO(b) ? FROM_REAL(IS_ZERO(a) ? ZERO_BY_ZERO : 0) : Divide(a, b))
POINTWISE(larger, FROM_REAL(REAL_PART(a) < REAL_PART(b) ? REAL_PART(b) : REAL_PART(a)))
POINTWISE(larger_abs, FROM_REAL(ABS(a) < ABS(b) ? ABS(b) : ABS(a)))
POINTWISE(smaller, FROM_REAL(REAL_PART(a) < REAL_PART(b) ? REAL_PART(a) : REAL_PART(b)))

/* x <- f(x); b is given */
#define MAP(name, f) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL SCALAR *x, SCALAR b, ulong n) \
  { \
    const size_t i = GLOBAL_ID; \
\
    if (i < n) { \
      const SCALAR a = x[i]; \
\
      x[i] = f; \
    } \
  }

MAP(reciprocal, IS_ZERO(a) ? a : Divide(b, a)) /* b is 1 */
MAP(conjugate, CONJUGATE(a))
MAP(abs, FROM_REAL(ABS(a)))
MAP(sqrtabs, FROM_REAL(sqrt(ABS(a))))
MAP(shift, a + b)

/* The sums of `count` places of each work item, in place 0 of each; the barriers are the same for all counts */
INLINE void AddUp(LOCAL_POINTER SCALAR *sums, int count, int t)
{
  BARRIER;
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (t < d) {
      for (int k = 0; k < count; k++) sums[k * GROUP + t] = sums[k * GROUP + t] + sums[k * GROUP + t + d];
    }
    BARRIER;
  }
}

/* Partial sums of x y0, ..., or of x and the conjugate of each y */
KERNEL(GROUP)
void vec_dots(GLOBAL const SCALAR *x, int count, int conjugate, GLOBAL const SCALAR *y0, GLOBAL const SCALAR *y1,
              GLOBAL const SCALAR *y2, GLOBAL const SCALAR *y3, GLOBAL const SCALAR *y4, GLOBAL const SCALAR *y5,
              GLOBAL const SCALAR *y6, GLOBAL const SCALAR *y7, GLOBAL SCALAR *partial, int groups, ulong n)
{
  LOCAL SCALAR sums[MANY * GROUP];
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
  for (int k = 0; k < MANY; k++) sums[k * GROUP + t] = sum[k];
  AddUp(sums, count, t);
  for (int k = t; k < count; k += GROUP) partial[(size_t)k * groups + GROUP_ID] = sums[k * GROUP];
}

/* Partial sums of f, and with two results of g as well */
#define SUMS(name, results, f, g) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL SCALAR *partial, int groups, ulong n) \
  { \
    LOCAL SCALAR sums[results * GROUP]; \
    const int    t      = LOCAL_ID; \
    SCALAR       sum[2] = {ZERO, ZERO}; \
\
    for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) { \
      const SCALAR a = x[i]; \
\
      sum[0] = sum[0] + f; \
      if (results > 1) sum[1] = sum[1] + g; \
    } \
    for (int k = 0; k < results; k++) sums[k * GROUP + t] = sum[k]; \
    AddUp(sums, results, t); \
    for (int k = t; k < results; k += GROUP) partial[(size_t)k * groups + GROUP_ID] = sums[k * GROUP]; \
  }

SUMS(sum, 1, a, ZERO)
SUMS(norm1, 1, FROM_REAL(ABS(a)), ZERO)
SUMS(norm2, 1, FROM_REAL(SQUARE(a)), ZERO)
SUMS(norm12, 2, FROM_REAL(ABS(a)), FROM_REAL(SQUARE(a)))
SUMS(dotnorm2, 2, Times(a, CONJUGATE(y[i])), FROM_REAL(SQUARE(y[i])))

/* result[first + k] <- the sum of the partial ones of result k, the number of the work group */
KERNEL(GROUP)
void vec_sums_end(GLOBAL const SCALAR *partial, int groups, GLOBAL SCALAR *result, int first)
{
  LOCAL SCALAR sums[GROUP];
  const int    t   = LOCAL_ID;
  SCALAR       sum = ZERO;

  for (int i = t; i < groups; i += GROUP) sum = sum + partial[(size_t)GROUP_ID * groups + i];
  sums[t] = sum;
  AddUp(sums, 1, t);
  if (t == 0) result[first + GROUP_ID] = sums[0];
}

/* What is not a number stays */
INLINE REAL Greater(REAL a, REAL b)
{
  return b > a || b != b ? b : a;
}

/* The greatest of one value of each work item, in place 0 */
INLINE void Greatest(LOCAL_POINTER REAL *values, int t)
{
  BARRIER;
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (t < d) values[t] = Greater(values[t], values[t + d]);
    BARRIER;
  }
}

/* Partial maxima of f, which is not negative */
#define MAXIMUM(name, f) \
  KERNEL(GROUP) \
  void vec_##name(GLOBAL const SCALAR *x, GLOBAL const SCALAR *y, GLOBAL REAL *partial, int groups, ulong n) \
  { \
    LOCAL REAL values[GROUP]; \
    const int  t = LOCAL_ID; \
    REAL       v = 0; \
\
    for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) v = Greater(v, f); \
    values[t] = v; \
    Greatest(values, t); \
    if (t == 0) partial[GROUP_ID] = values[0]; \
  }

/* |x / y|, |x| where y is 0 */
INLINE REAL Ratio(SCALAR x, SCALAR y)
{
  if (!IS_ZERO(y)) x = Divide(x, y);
  return ABS(x);
}

MAXIMUM(norm_infinity, ABS(x[i]))
MAXIMUM(max_divide, Ratio(x[i], y[i]))

KERNEL(GROUP)
void vec_maximum_end(GLOBAL const REAL *partial, int groups, GLOBAL REAL *result)
{
  LOCAL REAL values[GROUP];
  const int  t = LOCAL_ID;
  REAL       v = 0;

  for (int i = t; i < groups; i += GROUP) v = Greater(v, partial[i]);
  values[t] = v;
  Greatest(values, t);
  if (t == 0) result[0] = values[0];
}

/*
  The greatest value and the first place that has it; what is not a number counts for nothing, and NOWHERE is the place where there is no
  other. Work items leave what they found in `values` and `places`; the answer comes to place 0
*/
#define NOWHERE (~(ulong)0)
#define COMES_FIRST(v, i, best, place) \
  ((i) != NOWHERE && ((place) == NOWHERE || (v) > (best) || ((v) == (best) && (i) < (place))))
INLINE void First(LOCAL_POINTER REAL *values, LOCAL_POINTER ulong *places, int t)
{
  BARRIER;
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (t < d && COMES_FIRST(values[t + d], places[t + d], values[t], places[t])) {
      values[t] = values[t + d];
      places[t] = places[t + d];
    }
    BARRIER;
  }
}

/* Of sign times the real parts */
KERNEL(GROUP)
void vec_first(GLOBAL const SCALAR *x, int sign, GLOBAL REAL *partial, GLOBAL ulong *where, int groups, ulong n)
{
  LOCAL REAL  values[GROUP];
  LOCAL ulong places[GROUP];
  const int   t     = LOCAL_ID;
  REAL        best  = 0;
  ulong       place = NOWHERE;

  for (size_t i = GLOBAL_ID; i < n; i += (size_t)groups * GROUP) {
    const REAL v = sign * REAL_PART(x[i]);

    if (v == v && COMES_FIRST(v, (ulong)i, best, place)) {
      best  = v;
      place = i;
    }
  }
  values[t] = best;
  places[t] = place;
  First(values, places, t);
  if (t == 0) {
    partial[GROUP_ID] = values[0];
    where[GROUP_ID]   = places[0];
  }
}

/* result[0]: the value; found[0]: its place */
KERNEL(GROUP)
void vec_first_end(GLOBAL const REAL *partial, GLOBAL const ulong *where, int groups, GLOBAL REAL *result, GLOBAL ulong *found)
{
  LOCAL REAL  values[GROUP];
  LOCAL ulong places[GROUP];
  const int   t     = LOCAL_ID;
  REAL        best  = 0;
  ulong       place = NOWHERE;

  for (int i = t; i < groups; i += GROUP) {
    if (COMES_FIRST(partial[i], where[i], best, place)) {
      best  = partial[i];
      place = where[i];
    }
  }
  values[t] = best;
  places[t] = place;
  First(values, places, t);
  if (t == 0) {
    result[0] = values[0];
    found[0]  = places[0];
  }
}
