/*
  nodes_values_simd.c - the values of triangles by nodes, compiled once for each instruction set of isas.h

  One way through the matrix's values: a node's diagonal block is inverted, then the rest of its rows is multiplied by it and laid
  down for both triangles, a column of the node in each vector, or two of them.
*/
#include "nodes.h"
#include "../simd/simd.h"

extern PetscInt SPMV_ISA_NAME(SpmvNodesValues)(const SpmvTrianglesSource *s, SpmvNodesStorage *r);

#if defined(SPMV_ISA_ABSENT)
PetscInt SPMV_ISA_NAME(SpmvNodesValues)(const SpmvTrianglesSource *s, SpmvNodesStorage *r)
{
  return -1;
}
#else

  #define NODES_COLUMN 8 /* blocks are stored by columns of this length, of a vector, until they are put in their place */
  #define NODES_BLOCK  (SPMV_NODE_MAX * NODES_COLUMN)

/* Where the values of a node go: the lower triangle is filled from its begin, the upper one from its end */
typedef struct {
  PetscScalar *value[2], *block[2];
} NodesTarget;

/* What a pivot is chosen by; zero only for zero */
SPMV_INLINE PetscReal NodesPivot(PetscScalar a)
{
  return PetscAbsReal(PetscRealPart(a)) + PetscAbsReal(PetscImaginaryPart(a));
}

SPMV_INLINE PetscBool NodesIsFinite(int size, const PetscScalar *b)
{
  PetscScalar zero[SPMV_NODE_MAX]; /* one for each row: a single one would be waited for */

  for (int r = 0; r < size; r++) zero[r] = 0;
  for (int c = 0; c < size; c++) {
    for (int r = 0; r < size; r++) zero[r] += 0 * b[c * NODES_COLUMN + r];
  }
  for (int r = 1; r < size; r++) zero[0] += zero[r];
  return (PetscBool)(zero[0] == (PetscScalar)0); /* not if a part of b is infinite or not a number */
}

/* z <- y + f x, columns of a block. z may be x or y */
SPMV_INLINE void NodesColumn(int size, PetscScalar f, const PetscScalar *x, const PetscScalar *y, PetscScalar *z)
{
  #if SPMV_SIMD_PLAIN
  for (int r = 0; r < size; r++) z[r] = y[r] + f * x[r];
  #else
  if (size <= 4) Spmv4StoreFew(z, Spmv4Fma(Spmv4Splat(f), Spmv4Load(x), Spmv4Load(y)), 4);
  else Spmv8StoreFew(z, Spmv8Fma(Spmv8Splat(f), Spmv8Load(x), Spmv8Load(y)), 8);
  #endif
}

SPMV_INLINE void NodesSwap(int size, PetscScalar *x, PetscScalar *y)
{
  for (int r = 0; r < size; r++) {
    const PetscScalar other = x[r];

    x[r] = y[r];
    y[r] = other;
  }
}

/*
  b <- a^-1, by operations on columns and a choice of the best column for each row; a is used up. False if there is no inverse, or
  none that is finite
*/
SPMV_INLINE PetscBool NodesInvert(int size, PetscScalar *a, PetscScalar *b)
{
  static const PetscScalar zero[NODES_COLUMN];

  for (int c = 0; c < size; c++) {
    NodesColumn(size, 0, zero, zero, b + c * NODES_COLUMN);
    b[c * NODES_COLUMN + c] = 1;
  }
  for (int k = 0; k < size; k++) {
    PetscScalar *ak = a + k * NODES_COLUMN, *bk = b + k * NODES_COLUMN, *best = ak, inverse;

    for (int c = k + 1; c < size; c++)
      best = NodesPivot(a[c * NODES_COLUMN + k]) > NodesPivot(best[k]) ? a + c * NODES_COLUMN : best;
    if (best[k] == (PetscScalar)0) return PETSC_FALSE;
    if (best != ak) {
      NodesSwap(size, ak, best);
      NodesSwap(size, bk, b + (best - a));
    }
    inverse = (PetscScalar)1 / ak[k];
    NodesColumn(size, inverse, ak, zero, ak);
    NodesColumn(size, inverse, bk, zero, bk);
    for (int c = 0; c < size; c++) {
      PetscScalar      *ac = a + c * NODES_COLUMN, *bc = b + c * NODES_COLUMN;
      const PetscScalar f = -ac[k];

      if (c == k) continue;
      NodesColumn(size, f, ak, ac, ac);
      NodesColumn(size, f, bk, bc, bc);
    }
  }
  return NodesIsFinite(size, b);
}

/* The inverse of the diagonal block of the node that begins with row i, which scales rows and what a pass of sweeps is given */
SPMV_INLINE PetscBool NodesInverse(const SpmvTrianglesSource *s, PetscInt i, int size, PetscScalar *scale)
{
  PetscScalar a[NODES_BLOCK] = {0};

  for (int r = 0; r < size; r++) {
    const PetscScalar *lower = s->a + s->lower[1][i + r] - r, *upper = s->a + s->upper[0][i + r] + 1;

    for (int c = 0; c < r; c++) a[c * NODES_COLUMN + r] = lower[c];
    a[r * NODES_COLUMN + r] = s->a[s->diagonal[i + r]];
    for (int c = r + 1; c < size; c++) a[c * NODES_COLUMN + r] = upper[c - r - 1];
  }
  return NodesInvert(size, a, scale);
}

/*
  The same of a factor. With F what rows of their own are scaled by (triangles.h) and N what is inside of the node, the triangle
  Q = (I + F N)^-1 gives scale = Q F and block = Q S, or Q
*/
SPMV_INLINE PetscBool NodesSolve(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, int size, PetscScalar *scale,
                                 PetscScalar *block)
{
  const PetscBool lower = (PetscBool)(side == SPMV_LOWER), in = SpmvTrianglesInScaled(s->kind, side),
                  scaled = SpmvTrianglesScaled(s->kind, side);
  const PetscScalar sign = s->kind == SPMV_FACTORS_SYMMETRIC ? -1 : 1;

  for (int k = 0; k < size; k++) { /* rows in the order of the pass */
    const int          r = lower ? k : size - 1 - k;
    const PetscScalar *a = lower ? s->a + s->lower[1][i + r] - r : s->a + s->upper[0][i + r] - r; /* of the node's column 0 */
    const PetscScalar  f = scaled ? s->a[s->diagonal[i + r]] : sign;

    for (int c = 0; c < size; c++) block[c * NODES_COLUMN + r] = c == r;
    for (int m = 0; m < k; m++) {
      const int         q = lower ? m : size - 1 - m;
      const PetscScalar t = f * a[q];

      for (int l = 0; l <= m; l++) {
        const int c = lower ? l : size - 1 - l;

        block[c * NODES_COLUMN + r] -= t * block[c * NODES_COLUMN + q];
      }
    }
  }
  for (int c = 0; c < size; c++) {
    const PetscScalar d = s->a[s->diagonal[i + c]];

    for (int r = 0; r < size; r++) {
      scale[c * NODES_COLUMN + r] = block[c * NODES_COLUMN + r] * (scaled ? d : sign);
      if (in) block[c * NODES_COLUMN + r] *= d;
    }
  }
  return NodesIsFinite(size, block);
}

/* NodesRows: rows of a node, outside of it */
typedef struct {
  const PetscScalar *a[SPMV_NODE_MAX]; /* the column of each that is next */
  PetscInt           n;                /* columns that are left */
  PetscBool          reverse;          /* they are taken from the last one to the first */
} NodesRows;

/* v, by columns <- scale times the rows' columns, `unit` of which keep their order when others are reversed; one by one */
SPMV_INLINE void NodesPlain(const PetscScalar *scale, const NodesRows *rows, int size, int unit, PetscScalar *v)
{
  for (PetscInt k = 0; k < rows->n; k++, v += size) {
    const PetscInt c = rows->reverse ? rows->n - unit - k / unit * unit + k % unit : k;

    for (int r = 0; r < size; r++) {
      v[r] = 0;
      for (int q = 0; q < size; q++) v[r] += scale[q * NODES_COLUMN + r] * rows->a[q][c];
    }
  }
}

  #if SPMV_SIMD_PLAIN
    #define NODES_COLUMNS(V, unit) NodesPlain(scale, &rows, size, unit, v)
  #else
    #define NODES_COLUMNS(V, unit) NodesColumns_##V(scale, &rows, size, unit, v)

  /* The same. `columns`: as many as are taken at once; exact: nothing is written behind them */
    #define NODES_VALUES(V, N) \
      SPMV_INLINE void NodesTake_##V(const V scale[], NodesRows *rows, int size, int unit, int columns, PetscBool exact, \
                                     PetscScalar *v) \
      { \
        const int lanes = 2 * size <= N ? 2 : 1, back = rows->reverse ? -unit : unit; \
\
        SPMV_UNROLL \
        for (int c = 0; c < columns; c += lanes) { \
          const int d = c + 1, p = c / unit * back + c % unit, q = d / unit * back + d % unit; \
          const int two = lanes == 2 && d < columns; \
          V         sum = V##Zero(); \
\
          SPMV_UNROLL \
          for (int r = 0; r < size; r++) { \
            const PetscScalar *a = rows->a[r]; \
\
            sum = V##Fma(scale[r], two ? V##SplatTwo(a[p], a[q]) : V##Splat(a[p]), sum); \
          } \
          V##StoreFew(v + c * size, sum, !exact ? N : two ? 2 * size : size); \
        } \
        SPMV_UNROLL \
        for (int r = 0; r < size; r++) rows->a[r] += rows->reverse ? -columns : columns; \
        rows->n -= columns; \
      } \
\
      SPMV_INLINE void NodesColumns_##V(const PetscScalar *scale, NodesRows *rows, int size, int unit, PetscScalar *v) \
      { \
        const int many = unit == 1 ? 2 : unit; \
        V         s[SPMV_NODE_MAX]; \
\
        SPMV_UNROLL \
        for (int c = 0; c < size; c++) { \
          s[c] = V##LoadFew(scale + c * NODES_COLUMN, size); \
          if (2 * size <= N) s[c] = V##Fold(s[c]); /* a column in either half */ \
        } \
        if (rows->reverse) { \
          SPMV_UNROLL \
          for (int r = 0; r < size; r++) rows->a[r] += rows->n - unit; \
        } \
        for (; rows->n > many; v += many * size) NodesTake_##V(s, rows, size, unit, many, PETSC_FALSE, v); \
        if (rows->n == many) NodesTake_##V(s, rows, size, unit, many, PETSC_TRUE, v); \
        else if (rows->n) NodesTake_##V(s, rows, size, unit, 1, PETSC_TRUE, v); \
      }
NODES_VALUES(Spmv4, 4)
NODES_VALUES(Spmv8, 8)
  #endif

/* The values of a triangle's node that begins with row i */
SPMV_INLINE void NodesSide(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, int size, PetscBool all,
                           const PetscScalar *scale, NodesTarget *target)
{
  const PetscInt last = i + size - 1;
  PetscScalar   *v;
  NodesRows      rows;

  rows.reverse = (PetscBool)(side == SPMV_UPPER);
  rows.n       = rows.reverse ? s->upper[1][last] - s->upper[0][last] - 1 : s->lower[1][i] - s->lower[0][i];
  SPMV_UNROLL
  for (int r = 0; r < size; r++) rows.a[r] = s->a + (rows.reverse ? s->upper[1][i + r] - rows.n : s->lower[0][i + r]);
  if (rows.reverse) target->value[side] -= rows.n * size;
  v = target->value[side];
  if (!rows.reverse) target->value[side] += rows.n * size;
  if (size == 1) {
    NodesPlain(scale, &rows, 1, 1, v);
  } else if (size <= 3) {
    if (all) NODES_COLUMNS(Spmv4, size);
    else NODES_COLUMNS(Spmv4, 1);
  } else {
    if (all) NODES_COLUMNS(Spmv8, size);
    else NODES_COLUMNS(Spmv8, 1);
  }
}

/* M of a node, without gaps */
SPMV_INLINE void NodesPutBlock(int size, const PetscScalar *block, PetscScalar **target)
{
  for (int c = 0; c < size; c++) memcpy(*target + c * size, block + c * NODES_COLUMN, sizeof(*block) * (size_t)size);
  *target += size * size;
}

/* All values of the node that begins with row i */
SPMV_INLINE PetscBool NodesNodeValues(const SpmvTrianglesSource *s, PetscInt i, int size, PetscBool all, NodesTarget *target)
{
  PetscScalar scale[NODES_BLOCK], block[NODES_BLOCK];

  if (s->kind == SPMV_SWEEPS) {
    if (!NodesInverse(s, i, size, scale)) return PETSC_FALSE;
    NodesPutBlock(size, scale, &target->block[SPMV_LOWER]);
  } else {
    if (!NodesSolve(s, SPMV_LOWER, i, size, scale, block)) return PETSC_FALSE;
    NodesPutBlock(size, block, &target->block[SPMV_LOWER]);
  }
  NodesSide(s, SPMV_LOWER, i, size, all, scale, target);
  if (s->kind != SPMV_SWEEPS) {
    if (!NodesSolve(s, SPMV_UPPER, i, size, scale, block)) return PETSC_FALSE;
    NodesPutBlock(size, block, &target->block[SPMV_UPPER]);
  }
  NodesSide(s, SPMV_UPPER, i, size, all, scale, target);
  return PETSC_TRUE;
}

  #define NODES_CASE(size) \
  case size: \
    fine = NodesNodeValues(s, i, size, all, &target); \
    break

PetscInt SPMV_ISA_NAME(SpmvNodesValues)(const SpmvTrianglesSource *s, SpmvNodesStorage *r)
{
  const SpmvNodesTriangle *lower = &r->triangle[SPMV_LOWER], *upper = &r->triangle[SPMV_UPPER];
  NodesTarget              target = {{lower->value, upper->value + upper->nv}, {lower->block, upper->block}};
  const PetscBool          all    = (PetscBool)(r->size != 0);

  for (PetscInt k = 0, i = 0; k < r->nnodes; i += r->sizes[k], k++) {
    PetscBool fine = PETSC_TRUE;

    switch (r->sizes[k]) {
      NODES_CASE(1);
      NODES_CASE(2);
      NODES_CASE(3);
      NODES_CASE(4);
      NODES_CASE(5);
      NODES_CASE(6);
    }
    if (!fine) return i;
  }
  return -1;
}
#endif
