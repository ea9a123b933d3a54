/*
  nodes_simd.c - passes over triangles by nodes, compiled once for each instruction set of isas.h

  A node's rows are the lanes of a vector, so that an x is loaded once for all of them. Vectors of four scalars hold one or two
  columns of nodes of two and three rows, vectors of eight those of larger nodes. Columns are multiplied several at a time, each
  with a sum of its own, since the next addition to a sum would have to wait for the one before it.
*/
#include "nodes.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvNodesKernels SPMV_ISA_NAME(SpmvNodesKernels) = {{NULL, NULL}, NULL};
#else

  #define NODES_AHEAD 2048 /* bytes between what is in use and what is prefetched */

/* Where a pass is in a triangle */
typedef struct {
  const PetscScalar *value;
  const char        *distance;
  const PetscScalar *block; /* M of the node, or NULL: what the pass is given is taken as it is */
  PetscInt           i;     /* first row of the node */
} NodesPlace;

/* The first of the columns of x that distance k stands for */
SPMV_INLINE const PetscScalar *NodesX(const NodesPlace *at, const PetscScalar *x, int back, int unit, PetscBool wide, int k)
{
  const PetscInt d = wide ? ((const PetscInt *)at->distance)[k] : ((const uint16_t *)at->distance)[k];

  return x + at->i + back * d * unit;
}

/*
  sum[] += v times some columns of x, which stand at x[c / unit] + c % unit; v has them one after the other, `size` scalars each. Two of
  them go into a vector V of N lanes if there is room. A sum for each vector
*/
  #define NODES_VECTOR(V, N) \
    SPMV_INLINE void NodesMultiply_##V(const PetscScalar *v, int size, int columns, int unit, const PetscScalar *const x[], \
                                       V sum[]) \
    { \
      const int two = 2 * size <= N; \
\
      SPMV_UNROLL \
      for (int k = 0; k < columns * size * (int)sizeof(*v); k += (int)SPMV_CACHE_LINE) \
        __builtin_prefetch((const char *)v + k + NODES_AHEAD, 0, 3); \
      if (two) { \
        SPMV_UNROLL \
        for (int c = 0; c + 1 < columns; c += 2) { \
          const PetscScalar *x0 = x[c / unit] + c % unit, *x1 = x[(c + 1) / unit] + (c + 1) % unit; \
\
          sum[c / 2] = V##Fma(V##Load(v + c * size), V##SplatTwo(*x0, *x1), sum[c / 2]); \
        } \
        if (columns % 2) \
          sum[0] = \
            V##Fma(V##LoadFew(v + (columns - 1) * size, size), V##Splat(x[(columns - 1) / unit][(columns - 1) % unit]), sum[0]); \
      } else { \
        SPMV_UNROLL \
        for (int c = 0; c < columns; c++) sum[c] = V##Fma(V##Load(v + c * size), V##Splat(x[c / unit][c % unit]), sum[c]); \
      } \
    } \
\
    /* The sum of sums, for each row of a node */ \
    SPMV_INLINE V NodesTotal_##V(int size, int columns, V sum[]) \
    { \
      const int n = 2 * size <= N ? (columns + 1) / 2 : columns; \
\
      SPMV_UNROLL \
      for (int step = 1; step < n; step *= 2) { \
        SPMV_UNROLL \
        for (int c = 0; c + step < n; c += 2 * step) sum[c] = V##Add(sum[c], sum[c + step]); \
      } \
      return 2 * size <= N ? V##Fold(sum[0]) : sum[0]; \
    } \
\
    /* M times what a pass is given */ \
    SPMV_INLINE V NodesScale_##V(const PetscScalar *block, const PetscScalar *in, int size) \
    { \
      V sum[SPMV_NODE_MAX]; \
\
      SPMV_UNROLL \
      for (int c = 0; c < size; c++) sum[c] = V##Zero(); \
      NodesMultiply_##V(block, size, size, size, &in, sum); \
      return NodesTotal_##V(size, size, sum); \
    } \
\
    /* sum_j T_ij x_j for the rows of the node at hand, which has n columns; `many` of them are multiplied at a time */ \
    SPMV_INLINE V NodesSum_##V(NodesPlace *at, PetscInt n, const PetscScalar *x, int back, int size, int unit, int many, \
                               PetscBool wide) \
    { \
      const int word = wide ? (int)sizeof(PetscInt) : (int)sizeof(uint16_t); \
      V         sum[8]; \
\
      SPMV_UNROLL \
      for (int c = 0; c < many; c++) sum[c] = V##Zero(); \
      for (; n >= many; n -= many) { \
        const PetscScalar *xs[8]; \
\
        SPMV_UNROLL \
        for (int c = 0; c < many / unit; c++) xs[c] = NodesX(at, x, back, unit, wide, c); \
        NodesMultiply_##V(at->value, size, many, unit, xs, sum); \
        at->value += many * size; \
        at->distance += many / unit * word; \
      } \
      for (; n > 0; n -= unit) { \
        const PetscScalar *xs = NodesX(at, x, back, unit, wide, 0); \
\
        NodesMultiply_##V(at->value, size, unit, unit, &xs, sum); \
        at->value += unit * size; \
        at->distance += word; \
      } \
      return NodesTotal_##V(size, many, sum); \
    } \
\
    /* A node's part of a pass; `in` NULL: only the product */ \
    SPMV_INLINE void NodesNode_##V(NodesPlace *at, PetscInt n, const SpmvPass *p, PetscBool plain, int back, int size, int unit, \
                                   int many, PetscBool wide) \
    { \
      const PetscInt i   = at->i; \
      const V        sum = NodesSum_##V(at, n, p->x, back, size, unit, many, wide), minus = V##Splat(-1); \
      V              s; \
\
      if (p->in) { \
        s = at->block ? NodesScale_##V(at->block, p->in + i, size) : V##LoadFew(p->in + i, size); \
        s = V##Fma(minus, sum, s); \
        if (!plain) { \
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

/* The same of a node of one row */
SPMV_INLINE void NodesRow(NodesPlace *at, PetscInt n, const SpmvPass *p, PetscBool plain, int back, PetscBool wide)
{
  const PetscInt     i    = at->i;
  const int          word = wide ? (int)sizeof(PetscInt) : (int)sizeof(uint16_t);
  const PetscScalar *v    = at->value;
  PetscScalar        sum = 0, other = 0, s;

  __builtin_prefetch((const char *)v + NODES_AHEAD, 0, 3);
  __builtin_prefetch((const char *)v + NODES_AHEAD + SPMV_CACHE_LINE, 0, 3);
  for (; n > 1; n -= 2, v += 2, at->distance += 2 * word) {
    sum += v[0] * *NodesX(at, p->x, back, 1, wide, 0);
    other += v[1] * *NodesX(at, p->x, back, 1, wide, 1);
  }
  if (n) {
    sum += *v++ * *NodesX(at, p->x, back, 1, wide, 0);
    at->distance += word;
  }
  sum += other;
  at->value = v;
  if (p->in) {
    const PetscScalar less = p->minus ? p->minus[i] : 0;

    s = (at->block ? *at->block * p->in[i] : p->in[i]) - sum;
    if (p->before) p->before[i] = s;
    s -= less;
    if (p->keep != 0) s += p->keep * p->x[i];
    p->x[i] = s;
  }
  if (p->product) p->product[i] = sum;
}

/* A node of so many rows; `all` is set if all have this size and their columns come in whole nodes. Four sums at least, where there
   are columns enough */
SPMV_INLINE void NodesNode(NodesPlace *at, PetscInt n, const SpmvPass *p, PetscBool plain, int back, int size, PetscBool all,
                           PetscBool wide)
{
  switch (size) {
  case 1: NodesRow(at, n, p, plain, back, wide); break;
  case 2: NodesNode_Spmv4(at, n, p, plain, back, 2, all ? 2 : 1, 8, wide); break;
  case 3: NodesNode_Spmv4(at, n, p, plain, back, 3, all ? 3 : 1, all ? 6 : 4, wide); break;
  case 4: NodesNode_Spmv8(at, n, p, plain, back, 4, all ? 4 : 1, 8, wide); break;
  case 5: NodesNode_Spmv8(at, n, p, plain, back, 5, all ? 5 : 1, all ? 5 : 4, wide); break;
  case 6: NodesNode_Spmv8(at, n, p, plain, back, 6, all ? 6 : 1, all ? 6 : 4, wide); break;
  case 7: NodesNode_Spmv8(at, n, p, plain, back, 7, 1, 4, wide); break;
  default: NodesNode_Spmv8(at, n, p, plain, back, 8, 1, 4, wide);
  }
}

/* A pass; size: of all nodes whose columns come in whole nodes, else 0 */
SPMV_INLINE void NodesPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, int size, PetscBool wide)
{
  const SpmvNodesStorage  *r     = (const SpmvNodesStorage *)t->storage;
  const SpmvNodesTriangle *h     = &r->triangle[side];
  const PetscBool          lower = (PetscBool)(side == SPMV_LOWER), plain = SpmvPassIsPlain(p);
  const PetscInt           n     = r->nnodes;
  const PetscScalar       *block = p->in ? SpmvNodesBlock(t, side, p->scale) : NULL;
  NodesPlace               at    = {.value = h->value, .distance = (const char *)h->distance, .i = lower ? 0 : t->n};

  if (block && !lower) block += r->nb;
  for (PetscInt z = 0; z < n; z++) {
    const int rows = size ? size : r->sizes[lower ? z : n - 1 - z];

    if (!lower) at.i -= rows;
    if (block && !lower) block -= rows * rows;
    at.block = block;
    NodesNode(&at, h->columns[z], p, plain, lower ? -1 : 1, rows, (PetscBool)(size != 0), wide);
    if (block && lower) block += rows * rows;
    if (lower) at.i += rows;
  }
}

/* Which code a pass takes */
SPMV_INLINE void NodesPassOf(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool wide)
{
  switch (((const SpmvNodesStorage *)t->storage)->size) {
  case 2: NodesPass(t, side, p, 2, wide); break;
  case 3: NodesPass(t, side, p, 3, wide); break;
  case 4: NodesPass(t, side, p, 4, wide); break;
  case 5: NodesPass(t, side, p, 5, wide); break;
  case 6: NodesPass(t, side, p, 6, wide); break;
  default: NodesPass(t, side, p, 0, wide);
  }
}

static void Pass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p)
{
  const PetscBool wide = ((const SpmvNodesStorage *)t->storage)->wide;

  if (side == SPMV_LOWER && !wide) NodesPassOf(t, SPMV_LOWER, p, PETSC_FALSE);
  else if (side == SPMV_LOWER) NodesPassOf(t, SPMV_LOWER, p, PETSC_TRUE);
  else if (!wide) NodesPassOf(t, SPMV_UPPER, p, PETSC_FALSE);
  else NodesPassOf(t, SPMV_UPPER, p, PETSC_TRUE);
}

/* A pass that is given nothing writes no x */
static void Product(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y)
{
  const SpmvPass p = {.x = (PetscScalar *)x, .product = y};

  Pass(t, side, &p);
}

extern PetscInt SPMV_ISA_NAME(SpmvNodesValues)(const SpmvTrianglesSource *s, SpmvNodesStorage *r); /* nodes_values_simd.c */

const SpmvNodesKernels SPMV_ISA_NAME(SpmvNodesKernels) = {{Pass, Product}, SPMV_ISA_NAME(SpmvNodesValues)};
#endif
