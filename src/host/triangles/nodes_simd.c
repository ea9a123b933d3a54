/*
  nodes_simd.c - passes over triangles by nodes, compiled once for each instruction set of isas.h

  A node's rows are the lanes of a vector, so that an x is loaded once for all of them. Vectors of four scalars hold one or two
  columns of nodes of two and three rows, vectors of eight those of larger nodes. Columns are multiplied several at a time, each
  with a sum of its own, since the next addition to a sum would have to wait for the one before it.

  Nodes of one row, and scalars that there are no vectors for, take a loop over rows: as vectors they would be a lot of code.
*/
#include "nodes.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvNodesKernels SPMV_ISA_NAME(SpmvNodesKernels) = {0};
#else

  #define NODES_AHEAD 6144 /* bytes between what is in use and what is prefetched */

/* Where a pass is in a triangle */
typedef struct {
  const char        *value;
  const char        *distance;
  const PetscScalar *block;  /* M of the node, or NULL: what the pass is given is taken as it is */
  PetscInt           i;      /* first row of the node */
  PetscInt           n;      /* columns outside of it */
  PetscInt           back;   /* -1 in the lower triangle, 1 in the upper one */
  PetscBool          plain;  /* SpmvPassIsPlain() */
  PetscBool          floats; /* a constant, as all of this is inlined */
} NodesPlace;

/* Bytes of n values */
SPMV_INLINE size_t NodesBytes(PetscBool floats, int n)
{
  return (size_t)n * (floats ? sizeof(float) : sizeof(PetscScalar));
}

SPMV_INLINE PetscScalar NodesValue(const char *v, PetscBool floats, int k)
{
  #if SPMV_VALUES_HAS_FLOAT
  if (floats) return ((const float *)(const void *)v)[k];
  #endif
  return ((const PetscScalar *)(const void *)v)[k];
}

/* The first of the `unit` columns of x that distance k stands for */
SPMV_INLINE const PetscScalar *NodesX(const NodesPlace *at, const PetscScalar *x, int unit, PetscBool wide, int k)
{
  const PetscInt d = wide ? ((const PetscInt *)at->distance)[k] : ((const uint16_t *)at->distance)[k];

  return x + at->i + at->back * unit * d;
}

/* Into the second cache: elasticity of 30 M entries takes 0.92 times as long in sweeps and 0.87 times in solves as with the first
   one, which has too few lines under way (3 matrices, Zen 4) */
SPMV_INLINE void NodesAhead(const char *v, size_t bytes)
{
  SpmvPrefetch(v + NODES_AHEAD, bytes);
}

/* sum_j T_ij x_j for a node of one row, by two chains of additions; what was written last is multiplied last */
SPMV_INLINE PetscScalar NodesOne(NodesPlace *at, const PetscScalar *x, PetscBool wide)
{
  const PetscInt n = at->n;
  const char    *v = at->value;
  PetscScalar    s = 0, t = 0;
  PetscInt       k = 0;

  for (size_t b = 0; b < NodesBytes(at->floats, (int)n); b += SPMV_CACHE_LINE) NodesAhead(v + b, SPMV_CACHE_LINE);
  for (; k + 2 < n; k += 2) {
    s = SpmvFma(NodesValue(v, at->floats, k), *NodesX(at, x, 1, wide, k), s);
    t = SpmvFma(NodesValue(v, at->floats, k + 1), *NodesX(at, x, 1, wide, k + 1), t);
  }
  if (k + 1 < n) {
    t = SpmvFma(NodesValue(v, at->floats, k), *NodesX(at, x, 1, wide, k), t);
    k++;
  }
  s += t;
  if (k < n) s = SpmvFma(NodesValue(v, at->floats, k), *NodesX(at, x, 1, wide, k), s);
  at->value = v + NodesBytes(at->floats, (int)n);
  at->distance += (size_t)n * (wide ? sizeof(PetscInt) : sizeof(uint16_t));
  return s;
}

/* A node's part of a pass, or of a product if `in` is NULL; row by row */
SPMV_INLINE void NodesRows(NodesPlace *at, const SpmvPass *p, int size, int unit, PetscBool wide)
{
  PetscScalar        sum[SPMV_NODE_MAX], s[SPMV_NODE_MAX];
  const PetscScalar *block = at->block;

  for (int r = 0; r < size; r++) sum[r] = s[r] = 0;
  if (size == 1) sum[0] = NodesOne(at, p->x, wide);
  else {
    const char *v = at->value;

    for (; at->n > 0; at->n -= unit) {
      const PetscScalar *x = NodesX(at, p->x, unit, wide, 0);

      NodesAhead(v, NodesBytes(at->floats, unit * size));
      for (int c = 0; c < unit; c++, v += NodesBytes(at->floats, size)) {
        for (int r = 0; r < size; r++) sum[r] += NodesValue(v, at->floats, r) * x[c];
      }
      at->distance += wide ? sizeof(PetscInt) : sizeof(uint16_t);
    }
    at->value = v;
  }
  for (int c = 0; p->in && c < size; c++) {
    if (!block) s[c] = p->in[at->i + c];
    for (int r = 0; block && r < size; r++) s[r] += block[c * size + r] * p->in[at->i + c];
  }
  for (int r = 0; r < size; r++) {
    const PetscInt    i     = at->i + r;
    const PetscScalar minus = p->minus ? p->minus[i] : 0;

    if (p->product) p->product[i] = sum[r];
    if (!p->in) continue;
    s[r] -= sum[r];
    if (p->before) p->before[i] = s[r];
    s[r] -= minus;
    p->x[i] = p->keep == 0 ? s[r] : s[r] + p->keep * p->x[i];
  }
}

  #if SPMV_SIMD_PLAIN
    #define NODES_NODE(V, size, unit, many) NodesRows(at, p, size, unit, wide)
  #else
    #define NODES_NODE(V, size, unit, many) NodesNode_##V(at, p, size, unit, many, wide)

    /*
      sum[] += v times some columns of x, which stand at x[c / unit] + c % unit; v has them one after the other, `size` scalars
      each. Two of them go into a vector V of N lanes if there is room. A sum for each vector
    */
    #define NODES_VECTOR(V, N) \
      SPMV_INLINE V NodesLoad_##V(const char *v, PetscBool floats) \
      { \
        if (floats) return V##LoadFloat((const float *)(const void *)v); \
        return V##Load((const PetscScalar *)(const void *)v); \
      } \
\
      /* The first half of a vector, and zeros */ \
      SPMV_INLINE V NodesLoadHalf_##V(const char *v, PetscBool floats) \
      { \
        if (floats) return V##LoadHalfFloat((const float *)(const void *)v); \
        return V##LoadFew((const PetscScalar *)(const void *)v, N / 2); \
      } \
\
      SPMV_INLINE void NodesMultiply_##V(const char *v, PetscBool floats, int size, int columns, int unit, \
                                         const PetscScalar *const x[], V sum[]) \
      { \
        const int last = columns - 1, two = 2 * size <= N; \
\
        NodesAhead(v, NodesBytes(floats, columns *size)); \
        if (two) { \
          SPMV_UNROLL \
          for (int c = 0; c < last; c += 2) { \
            const PetscScalar *x0 = x[c / unit] + c % unit, *x1 = x[(c + 1) / unit] + (c + 1) % unit; \
\
            sum[c / 2] = V##Fma(NodesLoad_##V(v + NodesBytes(floats, c * size), floats), V##SplatTwo(*x0, *x1), sum[c / 2]); \
          } \
          if (columns % 2) \
            sum[0] = V##Fma(NodesLoadHalf_##V(v + NodesBytes(floats, last * size), floats), \
                            V##Splat(x[last / unit][last % unit]), sum[0]); \
        } else { \
          SPMV_UNROLL \
          for (int c = 0; c < columns; c++) \
            sum[c] = V##Fma(NodesLoad_##V(v + NodesBytes(floats, c * size), floats), V##Splat(x[c / unit][c % unit]), sum[c]); \
        } \
      } \
\
      /* The sum of sums; if a vector has two columns, in both halves */ \
      SPMV_INLINE V NodesAdd_##V(int size, int columns, V sum[]) \
      { \
        const int n = 2 * size <= N ? (columns + 1) / 2 : columns; \
\
        SPMV_UNROLL \
        for (int step = 1; step < n; step *= 2) { \
          SPMV_UNROLL \
          for (int c = 0; c + step < n; c += 2 * step) sum[c] = V##Add(sum[c], sum[c + step]); \
        } \
        return sum[0]; \
      } \
\
      /* The same for each row of a node */ \
      SPMV_INLINE V NodesTotal_##V(int size, int columns, V sum[]) \
      { \
        const V total = NodesAdd_##V(size, columns, sum); \
\
        return 2 * size <= N ? V##Fold(total) : total; \
      } \
\
      /* M times what a pass is given */ \
      SPMV_INLINE V NodesScale_##V(const PetscScalar *block, const PetscScalar *in, int size) \
      { \
        V sum[SPMV_NODE_MAX]; \
\
        SPMV_UNROLL \
        for (int c = 0; c < size; c++) sum[c] = V##Zero(); \
        NodesMultiply_##V((const char *)block, PETSC_FALSE, size, size, size, &in, sum); \
        return NodesTotal_##V(size, size, sum); \
      } \
\
      /* Some columns that come next, the first ones of x at every `unit` */ \
      SPMV_INLINE void NodesColumns_##V(NodesPlace *at, const PetscScalar *x, int size, int unit, int columns, PetscBool wide, \
                                        V sum[]) \
      { \
        const int          word = wide ? (int)sizeof(PetscInt) : (int)sizeof(uint16_t); \
        const PetscScalar *xs[8]; \
\
        SPMV_UNROLL \
        for (int c = 0; c < columns / unit; c++) xs[c] = NodesX(at, x, unit, wide, c); \
        NodesMultiply_##V(at->value, at->floats, size, columns, unit, xs, sum); \
        at->value += NodesBytes(at->floats, columns * size); \
        at->distance += columns / unit * word; \
      } \
\
      /* sum_j T_ij x_j for the rows of the node at hand; `many` columns are multiplied at a time. In nodes of two rows \
         the last ones, whose x is likely to be that of the node before, wait until all else is summed up: 1.05 to 1.5 times as \
         fast. In others, which have more work for each node, it is 0.87 to 0.98 (Zen 4, in cache) */ \
      SPMV_INLINE V NodesSum_##V(NodesPlace *at, const PetscScalar *x, int size, int unit, int many, PetscBool wide) \
      { \
        const PetscInt late = unit == 2 ? PetscMin(at->n, unit) : 0; \
        PetscInt       n    = at->n - late; \
        V              sum[8]; \
\
        SPMV_UNROLL \
        for (int c = 0; c < many; c++) sum[c] = V##Zero(); \
        for (; n >= many; n -= many) NodesColumns_##V(at, x, size, unit, many, wide, sum); \
        for (; n > 0; n -= unit) NodesColumns_##V(at, x, size, unit, unit, wide, sum); \
        sum[0] = NodesAdd_##V(size, many, sum); \
        if (late) NodesColumns_##V(at, x, size, 2, 2, wide, sum); \
        return NodesTotal_##V(size, 1, sum); \
      } \
\
      /* What NodesRows() does */ \
      SPMV_INLINE void NodesNode_##V(NodesPlace *at, const SpmvPass *p, int size, int unit, int many, PetscBool wide) \
      { \
        const PetscInt i   = at->i; \
        const V        sum = NodesSum_##V(at, p->x, size, unit, many, wide), minus = V##Splat(-1); \
        V              s; \
\
        if (p->in) { \
          s = at->block ? NodesScale_##V(at->block, p->in + i, size) : V##LoadFew(p->in + i, size); \
          s = V##Fma(minus, sum, s); \
          if (!at->plain) { \
            const V less = p->minus ? V##LoadFew(p->minus + i, size) : V##Zero(); \
\
            if (p->before) V##StoreFew(p->before + i, s, size); \
            s = V##Fma(minus, less, s); \
            if (p->keep != 0) s = V##Fma(V##Splat(p->keep), V##LoadFew(p->x + i, size), s); \
          } \
          V##StoreFew(p->x + i, s, size); \
        } \
        if (p->product) V##StoreFew(p->product + i, sum, size); \
      }
NODES_VECTOR(Spmv4, 4)
NODES_VECTOR(Spmv8, 8)
  #endif

/* A node of so many rows; `all` is set if all have this size and their columns come in whole nodes. Four sums at least */
SPMV_INLINE void NodesNode(NodesPlace *at, const SpmvPass *p, int size, PetscBool all, PetscBool wide)
{
  switch (size) {
  case 1: NodesRows(at, p, 1, 1, wide); break;
  case 2: NODES_NODE(Spmv4, 2, all ? 2 : 1, 8); break;
  case 3: NODES_NODE(Spmv4, 3, all ? 3 : 1, all ? 6 : 4); break;
  case 4: NODES_NODE(Spmv8, 4, all ? 4 : 1, 8); break;
  case 5: NODES_NODE(Spmv8, 5, all ? 5 : 1, all ? 5 : 4); break;
  default: NODES_NODE(Spmv8, 6, all ? 6 : 1, all ? 6 : 4);
  }
}

/* A pass; size: of all nodes whose columns come in whole nodes, else 0 */
SPMV_INLINE void NodesPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, int size, PetscBool wide,
                           PetscBool floats)
{
  const SpmvNodesStorage  *r     = (const SpmvNodesStorage *)t->storage;
  const SpmvNodesTriangle *h     = &r->triangle[side];
  const PetscBool          lower = (PetscBool)(side == SPMV_LOWER);
  const PetscInt           n     = r->nnodes;
  const PetscScalar       *block = p->in ? SpmvNodesBlock(t, side, p->scale) : NULL;
  NodesPlace               at = {.value = (const char *)h->value, .distance = (const char *)h->distance, .i = lower ? 0 : t->n};

  at.back   = lower ? -1 : 1;
  at.plain  = SpmvPassIsPlain(p);
  at.floats = floats;
  if (block && !lower) block += r->nb;
  for (PetscInt z = 0; z < n; z++) {
    const int rows = size ? size : r->sizes[lower ? z : n - 1 - z];

    if (!lower) at.i -= rows;
    if (block && !lower) block -= rows * rows;
    at.block = block;
    at.n     = h->columns[z];
    NodesNode(&at, p, rows, (PetscBool)(size != 0), wide);
    if (block && lower) block += rows * rows;
    if (lower) at.i += rows;
  }
}

/* Which code a pass takes */
SPMV_INLINE void NodesPassOf(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool wide, PetscBool floats)
{
  switch (((const SpmvNodesStorage *)t->storage)->size) {
  case 2: NodesPass(t, side, p, 2, wide, floats); break;
  case 3: NodesPass(t, side, p, 3, wide, floats); break;
  case 4: NodesPass(t, side, p, 4, wide, floats); break;
  case 5: NodesPass(t, side, p, 5, wide, floats); break;
  case 6: NodesPass(t, side, p, 6, wide, floats); break;
  default: NodesPass(t, side, p, 0, wide, floats);
  }
}

SPMV_INLINE void NodesAnyPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool floats)
{
  if (((const SpmvNodesStorage *)t->storage)->wide) NodesPassOf(t, side, p, PETSC_TRUE, floats);
  else NodesPassOf(t, side, p, PETSC_FALSE, floats);
}

/* A pass that is given nothing writes no x */
SPMV_INLINE void NodesAnyProduct(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y,
                                 PetscBool floats)
{
  const SpmvPass p = {.x = (PetscScalar *)x, .product = y};

  (void)floats; /* the pass knows */
  t->passes->pass(t, side, &p);
}

SPMV_PASSES_DEFINE(NodesAnyPass, NodesAnyProduct)

extern PetscInt SPMV_ISA_NAME(SpmvNodesValues)(const SpmvTrianglesSource *s, SpmvNodesStorage *r); /* nodes_values_simd.c */

const SpmvNodesKernels SPMV_ISA_NAME(SpmvNodesKernels) = {{SPMV_PASSES}, SPMV_ISA_NAME(SpmvNodesValues)};
#endif
