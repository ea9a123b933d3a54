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

  #define NODES_BLOCK (SPMV_NODE_MAX * SPMV_NODE_MAX)

/* Where the values of a node go: the lower triangle is filled from its begin, the upper one from its end */
typedef struct {
  PetscScalar *value[2], *block[2];
} NodesTarget;

/* What a pivot is chosen by; zero only for zero */
SPMV_INLINE PetscReal NodesPivot(PetscScalar a)
{
  return PetscAbsReal(PetscRealPart(a)) + PetscAbsReal(PetscImaginaryPart(a));
}

/* b, by columns <- a^-1; a, by columns, is used up. False if a pivot is zero */
SPMV_INLINE PetscBool NodesInvert(int size, PetscScalar *a, PetscScalar *b)
{
  for (int c = 0; c < size; c++) {
    for (int r = 0; r < size; r++) b[c * size + r] = r == c;
  }
  for (int k = 0; k < size; k++) {
    PetscScalar inverse;
    int         best = k;

    for (int r = k + 1; r < size; r++) best = NodesPivot(a[k * size + r]) > NodesPivot(a[k * size + best]) ? r : best;
    if (a[k * size + best] == (PetscScalar)0) return PETSC_FALSE;
    if (best != k) {
      for (int c = 0; c < size; c++) {
        const PetscScalar ta = a[c * size + k], tb = b[c * size + k];

        a[c * size + k]    = a[c * size + best];
        a[c * size + best] = ta;
        b[c * size + k]    = b[c * size + best];
        b[c * size + best] = tb;
      }
    }
    inverse = (PetscScalar)1 / a[k * size + k];
    for (int c = 0; c < size; c++) {
      a[c * size + k] *= inverse;
      b[c * size + k] *= inverse;
    }
    for (int r = 0; r < size; r++) {
      const PetscScalar f = a[k * size + r];

      if (r == k) continue;
      for (int c = k + 1; c < size; c++) a[c * size + r] -= f * a[c * size + k];
      for (int c = 0; c < size; c++) b[c * size + r] -= f * b[c * size + k];
    }
  }
  return PETSC_TRUE;
}

SPMV_INLINE PetscBool NodesIsFinite(int n, const PetscScalar *b)
{
  PetscScalar zero = 0;

  for (int k = 0; k < n; k++) zero += 0 * b[k]; /* not 0 if b[k] is infinite or not a number */
  return (PetscBool)(zero == (PetscScalar)0);
}

/* The inverse of the diagonal block of the node that begins with row i, which scales rows and what a pass of sweeps is given */
SPMV_INLINE PetscBool NodesInverse(const SpmvTrianglesSource *s, PetscInt i, int size, PetscScalar *scale)
{
  PetscScalar a[NODES_BLOCK];

  for (int r = 0; r < size; r++) {
    const PetscScalar *lower = s->a + s->lower[1][i + r] - r, *upper = s->a + s->upper[0][i + r] + 1;

    for (int c = 0; c < r; c++) a[c * size + r] = lower[c];
    a[r * size + r] = s->a[s->diagonal[i + r]];
    for (int c = r + 1; c < size; c++) a[c * size + r] = upper[c - r - 1];
  }
  return (PetscBool)(NodesInvert(size, a, scale) && NodesIsFinite(size * size, scale));
}

/*
  The same of a factor. With F what rows of their own are scaled by (triangles.h) and N what is inside of the node, Q = (I + F N)^-1,
  a triangle, gives scale = Q F and block = Q S, or Q
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

    for (int c = 0; c < size; c++) block[c * size + r] = c == r;
    for (int m = 0; m < k; m++) {
      const int         q = lower ? m : size - 1 - m;
      const PetscScalar t = f * a[q];

      for (int l = 0; l <= m; l++) {
        const int c = lower ? l : size - 1 - l;

        block[c * size + r] -= t * block[c * size + q];
      }
    }
  }
  for (int c = 0; c < size; c++) {
    const PetscScalar d = s->a[s->diagonal[i + c]];

    for (int r = 0; r < size; r++) {
      scale[c * size + r] = block[c * size + r] * (scaled ? d : sign);
      if (in) block[c * size + r] *= d;
    }
  }
  return (PetscBool)(NodesIsFinite(size * size, scale) && NodesIsFinite(size * size, block));
}

/* NodesRows: rows of a node, outside of it */
typedef struct {
  const PetscScalar *a[SPMV_NODE_MAX]; /* the column of each that is next */
  PetscInt           n;                /* columns that are left */
  PetscBool          reverse;          /* they are taken from the last one to the first */
} NodesRows;

/*
  Columns are taken `unit` at a time, which keep their order when others are reversed. `columns`: as many as are taken at once; exact:
  nothing is written behind them
*/
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
        s[c] = V##LoadFew(scale + c * size, size); \
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
    for (PetscInt k = 0; k < rows.n; k++) v[k] = scale[0] * rows.a[0][rows.reverse ? rows.n - 1 - k : k];
  } else if (size <= 3) {
    NodesColumns_Spmv4(scale, &rows, size, all ? size : 1, v);
  } else {
    NodesColumns_Spmv8(scale, &rows, size, all ? size : 1, v);
  }
}

/* All values of the node that begins with row i */
SPMV_INLINE PetscBool NodesNodeValues(const SpmvTrianglesSource *s, PetscInt i, int size, PetscBool all, NodesTarget *target)
{
  PetscScalar scale[NODES_BLOCK];

  for (int side = 0; side < 2; side++) {
    if (s->kind == SPMV_SWEEPS) {
      if (side == SPMV_LOWER) {
        if (!NodesInverse(s, i, size, scale)) return PETSC_FALSE;
        memcpy(target->block[side], scale, sizeof(PetscScalar) * (size_t)(size * size));
      }
    } else {
      if (!NodesSolve(s, (SpmvTriangleSide)side, i, size, scale, target->block[side])) return PETSC_FALSE;
      target->block[side] += size * size;
    }
    if (side == SPMV_LOWER) NodesSide(s, SPMV_LOWER, i, size, all, scale, target);
    else NodesSide(s, SPMV_UPPER, i, size, all, scale, target);
  }
  if (s->kind == SPMV_SWEEPS) target->block[SPMV_LOWER] += size * size;
  return PETSC_TRUE;
}

  #define NODES_CASE(size) \
  case size: \
    if (size <= SPMV_NODE_EQUAL && all) fine = NodesNodeValues(s, i, size, PETSC_TRUE, &target); \
    else fine = NodesNodeValues(s, i, size, PETSC_FALSE, &target); \
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
      NODES_CASE(7);
      NODES_CASE(8);
    }
    if (!fine) return i;
  }
  return -1;
}
#endif
