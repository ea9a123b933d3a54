/*
  trianglestest.h - for unit_triangles: matrices and factors, by rows and in nodes, and their passes as sums and eliminations by
  rows of the source
*/
#pragma once
#include "spmvtest.h"
#include "host/triangles/triangles.h"

#define NODE 6 /* rows of a node, at most */

/* Example: a source that owns its arrays */
typedef struct {
  PetscInt            n, nnodes, nz, seed;
  PetscInt           *nodes, *lower[2], *upper[2], *diagonal, *j;
  PetscScalar        *a;
  SpmvTrianglesSource s;
} Example;

/* Whole numbers from 0 to n - 1, the same each time */
static PetscInt Random(PetscInt *seed, PetscInt n)
{
  *seed = (PetscInt)(((PetscInt64)*seed * 48271 + 11) % 2147483647);
  return (*seed >> 4) % n;
}

/* Scalars whose parts are from -1 to 1 */
static PetscScalar Value(PetscInt *seed)
{
  const PetscReal re = (PetscReal)(Random(seed, 2001) - 1000) / 1000, im = (PetscReal)(Random(seed, 2001) - 1000) / 1000;

  return PetscCMPLX(re, im);
}

/* What tells examples apart: size of nodes, 0 for mixed ones; whole: columns come in nodes; far: some are far away */
typedef struct {
  PetscInt  n, size;
  PetscBool whole, far;
} Pattern;

/* Columns outside of a node, [first, last), that its rows share: near the node, and sometimes a far one if asked for */
static PetscInt Columns(const Pattern *p, PetscInt first, PetscInt last, PetscBool end, PetscInt *seed, PetscInt j[])
{
  const PetscInt unit = p->whole ? p->size : 1, n = (last - first) / unit, tries = (p->far ? 8 : 40) / unit;
  PetscInt       nj = 0, k = end ? 0 : n - PetscMin(n, tries);

  if (Random(seed, 6) == 0) return 0;
  if (p->far && n && !end && Random(seed, 10) == 0) {
    for (PetscInt c = 0; c < unit; c++) j[nj++] = first + c;
    k = PetscMax(k, 1);
  }
  for (PetscInt t = 0; k < n && t < tries; k += 1 + Random(seed, 4), t++) {
    for (PetscInt c = 0; c < unit; c++) j[nj++] = first + k * unit + c;
  }
  if (p->far && n && end && k < n && Random(seed, 10) == 0) {
    for (PetscInt c = 0; c < unit; c++) j[nj++] = first + (n - 1) * unit + c;
  }
  return nj;
}

/* New values: couplings so small that rounding errors do not grow */
static void SetValues(Example *e, PetscInt seed)
{
  for (PetscInt k = 0; k < e->nz; k++) e->a[k] = Value(&seed) / (PetscReal)64;
  for (PetscInt i = 0; i < e->n; i++) e->a[e->diagonal[i]] = (PetscReal)1.5 + Value(&seed) / (PetscReal)4;
}

/* Rows are stored as a matrix's are, or as PETSc's factors are: rows of L from the first to the last one, then those of U
   backwards with the diagonal behind them */
static PetscErrorCode Create(const Pattern *p, SpmvTrianglesKind kind, PetscInt seed, Example *e)
{
  PetscInt       columns[2][100], most = 0;
  const PetscInt n = p->n;

  PetscFunctionBegin;
  e->n = n;
  PetscCall(PetscMalloc7(n + NODE, &e->nodes, n, &e->lower[0], n, &e->lower[1], n, &e->upper[0], n, &e->upper[1], n, &e->diagonal,
                         n * 2 * (60 + NODE), &e->j));
  e->nnodes = 0;
  for (PetscInt i = 0; i < n; i += e->nodes[e->nnodes++]) {
    const PetscInt size = p->size ? p->size : 1 + Random(&seed, NODE);

    e->nodes[e->nnodes] = PetscMin(n - i, size);
  }
  for (int side = 0; side < 2; side++) {
    const PetscBool both = (PetscBool)(kind == SPMV_SWEEPS); /* triangles: all of a row at once */

    if (both && side) break;
    for (PetscInt q = 0, i = side ? n : 0; q < e->nnodes; q++) {
      const PetscInt size = e->nodes[side ? e->nnodes - 1 - q : q];
      PetscInt       nl, nu;

      if (side) i -= size;
      nl = Columns(p, 0, i, PETSC_FALSE, &seed, columns[0]);
      nu = Columns(p, i + size, n, PETSC_TRUE, &seed, columns[1]);
      for (PetscInt m = 0; m < size; m++) {
        const PetscInt r = side ? i + size - 1 - m : i + m;

        if (both || !side) {
          e->lower[0][r] = most;
          for (PetscInt k = 0; k < nl; k++) e->j[most++] = columns[0][k];
          for (PetscInt k = i; k < r; k++) e->j[most++] = k;
          e->lower[1][r] = most;
        }
        if (both) {
          e->diagonal[r] = most;
          e->j[most++]   = r;
        }
        if (both || side) {
          e->upper[0][r] = most - 1;
          for (PetscInt k = r + 1; k < i + size; k++) e->j[most++] = k;
          for (PetscInt k = 0; k < nu; k++) e->j[most++] = columns[1][k];
          e->upper[1][r] = most;
        }
        if (!both && side) {
          e->diagonal[r] = most;
          e->j[most++]   = r;
        }
      }
      if (!side) i += size;
    }
  }
  e->nz = most;
  PetscCall(PetscMalloc1(most, &e->a));
  SetValues(e, seed);
  e->s = (SpmvTrianglesSource){.kind     = kind,
                               .n        = n,
                               .j        = e->j,
                               .a        = e->a,
                               .lower    = {e->lower[0], e->lower[1]},
                               .upper    = {e->upper[0], e->upper[1]},
                               .diagonal = e->diagonal,
                               .omega    = 1,
                               .nnodes   = e->nnodes,
                               .nodes    = e->nodes};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Example *e)
{
  PetscFunctionBegin;
  PetscCall(PetscFree7(e->nodes, e->lower[0], e->lower[1], e->upper[0], e->upper[1], e->diagonal, e->j));
  PetscCall(PetscFree(e->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The large entry of a row of a node moves to the next column of the node, and leaves 0 on the diagonal */
static void Rotate(Example *e)
{
  for (PetscInt k = 0, i = 0; k < e->nnodes; i += e->nodes[k++]) {
    for (PetscInt r = 0; r < e->nodes[k] && e->nodes[k] > 1; r++) {
      const PetscInt c = (r + 1) % e->nodes[k];

      e->a[c > r ? e->upper[0][i + r] + c - r : e->lower[1][i + r] - r + c] = e->a[e->diagonal[i + r]];
      e->a[e->diagonal[i + r]]                                              = 0;
    }
  }
}

/* b <- B^-1 b by elimination */
static void Eliminate(PetscInt size, PetscScalar B[NODE][NODE], PetscScalar b[])
{
  PetscScalar a[NODE][NODE];

  memcpy(a, B, sizeof(a));
  for (PetscInt k = 0; k < size; k++) {
    for (PetscInt r = k + 1; r < size; r++) {
      if (PetscAbsScalar(a[r][k]) <= PetscAbsScalar(a[k][k])) continue;
      for (PetscInt c = 0; c <= size; c++) {
        PetscScalar *p = c < size ? &a[k][c] : &b[k], *q = c < size ? &a[r][c] : &b[r], t = *p;

        *p = *q;
        *q = t;
      }
    }
    for (PetscInt r = k + 1; r < size; r++) {
      const PetscScalar f = a[r][k] / a[k][k];

      for (PetscInt c = k; c < size; c++) a[r][c] -= f * a[k][c];
      b[r] -= f * b[k];
    }
  }
  for (PetscInt k = size - 1; k >= 0; k--) {
    for (PetscInt c = k + 1; c < size; c++) b[k] -= a[k][c] * b[c];
    b[k] /= a[k][k];
  }
}

/* Rows of a node: the block that a pass divides by, p = T x and what the pass is given, scaled if asked for */
static void Node(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, PetscInt size, PetscBool scale,
                 const PetscScalar x[], const PetscScalar in[], PetscScalar product[], PetscScalar from[])
{
  const PetscBool   sweeps = (PetscBool)(s->kind == SPMV_SWEEPS);
  const PetscScalar sign   = s->kind == SPMV_FACTORS_SYMMETRIC ? -1 : 1;
  PetscScalar       block[NODE][NODE];

  memset(block, 0, sizeof(block));
  for (PetscInt r = 0; r < size; r++) {
    const PetscScalar d      = s->a[s->diagonal[i + r]]; /* a factor's is inverted */
    const PetscBool   scaled = SpmvTrianglesScaled(s->kind, side);
    const PetscScalar f      = sweeps ? 1 : scaled ? d : sign;

    product[r] = 0;
    from[r]    = in ? in[i + r] : 0;
    if (!sweeps && scale) from[r] *= d;
    block[r][r] = sweeps ? d : 1;
    for (int part = 0; part < 2; part++) {
      PetscInt k, end;

      SpmvTrianglesRow(s, (SpmvTriangleSide)part, i + r, &k, &end);
      for (; k < end; k++) {
        const PetscInt c = s->j[k];

        if (c >= i && c < i + size && (sweeps || part == (int)side)) block[r][c - i] = f * s->a[k];
        if ((c < i || c >= i + size) && part == (int)side) product[r] += f * s->a[k] * x[c];
      }
    }
  }
  if (sweeps && size == 1) block[0][0] = (s->shift + block[0][0]) / s->omega;
  Eliminate(size, block, product);
  if (!sweeps || scale) Eliminate(size, block, from);
}

/* A pass, by nodes or by rows; `in` NULL: only the product */
static void Reference(const SpmvTrianglesSource *s, PetscBool nodes, SpmvTriangleSide side, const SpmvPass *p)
{
  const PetscInt nnodes = nodes ? s->nnodes : s->n;
  PetscInt       i      = side == SPMV_LOWER ? 0 : s->n;

  for (PetscInt z = 0; z < nnodes; z++) {
    const PetscInt size = nodes ? s->nodes[side == SPMV_LOWER ? z : nnodes - 1 - z] : 1;
    PetscScalar    product[NODE], from[NODE];

    if (side == SPMV_UPPER) i -= size;
    Node(s, side, i, size, p->scale, p->x, p->in, product, from);
    for (PetscInt r = 0; r < size; r++) {
      const PetscScalar minus = p->minus ? p->minus[i + r] : 0;

      if (p->product) p->product[i + r] = product[r];
      if (!p->in) continue;
      if (p->before) p->before[i + r] = from[r] - product[r];
      p->x[i + r] = (p->keep == 0 ? 0 : p->keep * p->x[i + r]) + from[r] - product[r] - minus;
    }
    if (side == SPMV_LOWER) i += size;
  }
}
