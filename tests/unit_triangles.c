static const char help[] =
  "Triangles of matrices and factors: each shape, instruction set, kind and pass against sums and eliminations by "
  "rows of the source.\n\n";

#include "spmvtest.h"
#include "host/triangles/triangles.h"

/* A shape and whether it goes by nodes; else by rows */
static const struct {
  const SpmvShape *shape;
  PetscBool        nodes;
} Shapes[] = {
  {&SpmvShape_rows, PETSC_FALSE},
  {&SpmvShape_nodes, PETSC_TRUE},
  {&SpmvShape_slices, PETSC_FALSE},
};

#define NODE 6 /* rows of a node, at most */

static PetscInt wrong;

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

/* The vectors of a pass, each of which ends where memory ends */
enum { X, IN, MINUS, BEFORE, PRODUCT, VECTORS };

/* Vectors of a pass and of its reference, with the same contents */
static void Fill(PetscInt n, PetscInt seed, SpmvGuarded a[], SpmvGuarded b[])
{
  for (int v = 0; v < VECTORS; v++) {
    for (PetscInt i = 0; i < n; i++) a[v].a[i] = b[v].a[i] = Value(&seed);
  }
}

/* Counts, and tells of, entries that differ */
static PetscErrorCode Compare(PetscInt n, const SpmvGuarded a[], const SpmvGuarded b[], const char what[], const char where[])
{
  PetscInt bad = 0;

  PetscFunctionBegin;
  for (int v = 0; v < VECTORS; v++) {
    for (PetscInt i = 0; i < n; i++) bad += !(PetscAbsScalar(a[v].a[i] - b[v].a[i]) <= 64 * PETSC_MACHINE_EPSILON);
  }
  if (bad) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s: %" PetscInt_FMT " entries wrong\n", where, what, bad));
  wrong += bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors that passes are tried with, -1 for none, and whether (1 - omega) x is kept */
static const struct {
  const char *name;
  int         in, minus, before, product, keep;
} Passes[] = {
  {"plain", IN, -1, -1, -1, 0},
  {"plain, x given", X, -1, -1, -1, 0},
  {"keep", IN, -1, -1, -1, 1},
  {"minus", IN, MINUS, -1, -1, 0},
  {"before, product", IN, -1, BEFORE, PRODUCT, 0},
  {"before given, product taken", BEFORE, PRODUCT, BEFORE, PRODUCT, 1},
  {"all", IN, MINUS, BEFORE, PRODUCT, 1},
};

static SpmvPass MakePass(size_t k, PetscBool scale, const SpmvGuarded v[])
{
  return (SpmvPass){.in      = v[Passes[k].in].a,
                    .scale   = scale,
                    .keep    = Passes[k].keep ? (PetscReal)-0.3 : 0,
                    .minus   = Passes[k].minus < 0 ? NULL : v[Passes[k].minus].a,
                    .x       = v[X].a,
                    .before  = Passes[k].before < 0 ? NULL : v[BEFORE].a,
                    .product = Passes[k].product < 0 ? NULL : v[PRODUCT].a};
}

/* All passes and products of triangles; few: only the pass that has everything */
static PetscErrorCode TestPasses(const Example *e, const SpmvTriangles *t, PetscBool nodes, PetscBool few, SpmvGuarded a[],
                                 SpmvGuarded b[], const char where[])
{
  const SpmvTrianglesSource *s = &e->s;

  PetscFunctionBegin;
  for (int side = 0; side < 2; side++) {
    const PetscBool in      = SpmvTrianglesInScaled(s->kind, (SpmvTriangleSide)side);
    SpmvPass        product = {.x = b[X].a, .product = b[PRODUCT].a};

    for (int scale = s->kind == SPMV_SWEEPS ? 0 : (int)in; scale <= (int)in; scale++) {
      for (size_t k = few ? PETSC_STATIC_ARRAY_LENGTH(Passes) - 1 : 0; k < PETSC_STATIC_ARRAY_LENGTH(Passes); k++) {
        SpmvPass p = MakePass(k, (PetscBool)scale, a), q = MakePass(k, (PetscBool)scale, b);

        Fill(e->n, e->n + (PetscInt)k, a, b);
        t->kernels->pass(t, (SpmvTriangleSide)side, &p);
        Reference(s, nodes, (SpmvTriangleSide)side, &q);
        PetscCall(Compare(e->n, a, b, Passes[k].name, where));
      }
    }
    Fill(e->n, e->n, a, b);
    t->kernels->product(t, (SpmvTriangleSide)side, a[X].a, a[PRODUCT].a);
    Reference(s, nodes, (SpmvTriangleSide)side, &product);
    PetscCall(Compare(e->n, a, b, "product", where));
  }
  if (s->kind != SPMV_SWEEPS) {
    SpmvPass forward  = {.in = b[IN].a, .scale = SpmvTrianglesInScaled(s->kind, SPMV_LOWER), .x = b[X].a};
    SpmvPass backward = {.in = b[X].a, .scale = SpmvTrianglesInScaled(s->kind, SPMV_UPPER), .x = b[X].a};

    Fill(e->n, e->n, a, b);
    SpmvTrianglesSolve(t, a[IN].a, a[X].a);
    Reference(s, nodes, SPMV_LOWER, &forward);
    Reference(s, nodes, SPMV_UPPER, &backward);
    PetscCall(Compare(e->n, a, b, "solve", where));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expect(PetscBool right, const char what[], const char where[])
{
  PetscFunctionBegin;
  if (!right) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", where, what));
  wrong += !right;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row without an inverse is found, and the triangles are whole again once it has one */
static PetscErrorCode TestBad(Example *e, SpmvTriangles *t, PetscBool nodes, const char where[])
{
  const PetscInt row = e->n / 2;
  PetscInt       bad, first = 0;
  SpmvTriangles *other;

  PetscFunctionBegin;
  for (PetscInt k = 0; nodes && first + e->nodes[k] <= row; k++) first += e->nodes[k];
  if (e->s.kind != SPMV_SWEEPS) {
    e->a[e->diagonal[row]] = (PetscReal)INFINITY;
  } else {
    e->a[e->diagonal[row]] = 0;
    for (int side = 0; side < 2; side++) {
      PetscInt k, end;

      SpmvTrianglesRow(&e->s, (SpmvTriangleSide)side, row, &k, &end);
      for (; k < end; k++) e->a[k] = 0;
    }
  }
  PetscCall(SpmvTrianglesCreate(&e->s, t->shape, SPMV_ISA_COUNT, &other, &bad));
  PetscCall(Expect((PetscBool)(bad == (nodes ? first : row) && !other), "a bad row is not found by building", where));
  PetscCall(SpmvTrianglesDestroy(&other));
  PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
  PetscCall(Expect((PetscBool)(bad == (nodes ? first : row)), "a bad row is not found in new values", where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One example in one shape by one instruction set */
static PetscErrorCode TestShape(Example *e, size_t k, SpmvIsa isa, PetscBool few, SpmvGuarded a[], SpmvGuarded b[],
                                const char where[])
{
  const PetscBool nodes = Shapes[k].nodes;
  SpmvTriangles  *t;
  PetscInt        bad;
  PetscLogDouble  bytes;

  PetscFunctionBegin;
  SetValues(e, 5);
  PetscCall(SpmvTrianglesCreate(&e->s, Shapes[k].shape, isa, &t, &bad));
  PetscCall(Expect((PetscBool)(t && bad == -1 && t->nz == e->nz - e->n), "not built, or not with all entries", where));
  PetscCall(SpmvTrianglesBytes(t, &bytes));
  PetscCall(Expect((PetscBool)(bytes >= 0 && (e->n == 0 || bytes > 0)), "has no bytes", where));
  PetscCall(TestPasses(e, t, nodes, few, a, b, where));
  if (e->n) PetscCall(TestBad(e, t, nodes, where));
  SetValues(e, 6);
  if (!nodes && e->s.kind == SPMV_SWEEPS) {
    e->s.omega = (PetscReal)1.25;
    e->s.shift = (PetscReal)0.5;
  }
  PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
  PetscCall(Expect((PetscBool)(bad == -1), "new values are not taken", where));
  PetscCall(TestPasses(e, t, nodes, PETSC_TRUE, a, b, where));
  e->s.omega = 1;
  e->s.shift = 0;
  if (nodes && e->s.kind == SPMV_SWEEPS) {
    Rotate(e);
    PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
    PetscCall(Expect((PetscBool)(bad == -1), "rows are not exchanged", where));
    PetscCall(TestPasses(e, t, nodes, PETSC_TRUE, a, b, where));
  }
  PetscCall(SpmvTrianglesDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPattern(const Pattern *p, PetscInt seed)
{
  static const char *const kinds[] = {"sweeps", "factors", "transposed factors", "symmetric factors"};
  SpmvGuarded              a[VECTORS], b[VECTORS];
  SpmvIsa                  best;
  Example                  e;
  char                     where[200];

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  for (int v = 0; v < VECTORS; v++) {
    PetscCall(SpmvGuardedCreate(p->n, &a[v]));
    PetscCall(SpmvGuardedCreate(p->n, &b[v]));
  }
  for (int kind = 0; kind < (p->far ? 2 : SPMV_TRIANGLES_COUNT); kind++) {
    PetscCall(Create(p, (SpmvTrianglesKind)kind, seed, &e));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Shapes); k++) {
      if (Shapes[k].nodes && e.nnodes == e.n) continue;
      for (int isa = 0; isa <= (int)best; isa++) {
        if (p->far && isa != (int)best) continue;
        if (!SpmvIsaSupported((SpmvIsa)isa) || !Shapes[k].shape->kernels[isa]->pass) continue;
        PetscCall(PetscSNPrintf(where, sizeof(where), "%s %s, %s, %" PetscInt_FMT " rows, nodes of %" PetscInt_FMT "%s%s",
                                Shapes[k].shape->name, SpmvIsaName(isa), kinds[kind], p->n, p->size, p->whole ? ", whole" : "",
                                p->far ? ", far" : ""));
        if (Shapes[k].nodes) PetscCall(Expect(Shapes[k].shape->suits(&e.s), "is said not to suit", where));
        PetscCall(TestShape(&e, k, (SpmvIsa)isa, p->far, a, b, where));
      }
    }
    PetscCall(Destroy(&e));
  }
  for (int v = 0; v < VECTORS; v++) {
    PetscCall(SpmvGuardedDestroy(&a[v]));
    PetscCall(SpmvGuardedDestroy(&b[v]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What nodes do not suit */
static PetscErrorCode TestSuits(void)
{
  const Pattern p = {.n = 60, .size = 3, .whole = PETSC_TRUE};
  Example       e;

  PetscFunctionBegin;
  for (int kind = 0; kind < SPMV_TRIANGLES_COUNT; kind++) {
    const PetscBool sweeps                          = (PetscBool)(kind == SPMV_SWEEPS);
    PetscBool (*suits)(const SpmvTrianglesSource *) = SpmvShape_nodes.suits;
    PetscInt other[60], k = 0;

    PetscCall(Create(&p, (SpmvTrianglesKind)kind, 7, &e));
    e.s.nnodes = 0;
    PetscCall(Expect((PetscBool)!suits(&e.s), "no nodes", "suits"));
    e.s.nnodes = e.nnodes;
    e.s.omega  = (PetscReal)1.5;
    PetscCall(Expect((PetscBool)(suits(&e.s) != sweeps), "omega", "suits"));
    e.s.omega = 1;
    e.s.nodes = other;
    for (PetscInt i = 0; i < 60; i++) other[i] = 1;
    e.s.nnodes = 60;
    PetscCall(Expect((PetscBool)!suits(&e.s), "nodes of one row", "suits"));
    e.s.nnodes = 30;
    for (PetscInt i = 0; i < 60; i++) other[i] = 2;
    PetscCall(Expect((PetscBool)!suits(&e.s), "rows that are no node", "suits"));
    e.s.nnodes = 1;
    other[0]   = 60;
    PetscCall(Expect((PetscBool)!suits(&e.s), "a node of many rows", "suits"));
    e.s.nodes  = e.nodes;
    e.s.nnodes = e.nnodes;
    PetscCall(Expect(suits(&e.s), "is said not to suit", "suits"));
    while (e.lower[1][k] - e.lower[0][k] < 3 || k % 3) k++;
    e.j[e.lower[0][k]]++; /* a row has another column */
    PetscCall(Expect((PetscBool)(sweeps || !suits(&e.s)), "other columns", "suits"));
    PetscCall(Destroy(&e));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[] = {1, 2, 7, 24, 59, 60, 420};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestPattern(&(const Pattern){.size = 1}, 1));
  for (PetscInt size = 0; size <= NODE; size++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
      for (int whole = 0; whole < 2; whole++) {
        const Pattern p = {.n = sizes[k], .size = size, .whole = (PetscBool)whole};

        if (whole && (size < 2 || p.n % size)) continue;
        PetscCall(TestPattern(&p, 3 + (PetscInt)k));
      }
    }
  }
  PetscCall(TestPattern(&(const Pattern){.n = 70000, .size = 0, .far = PETSC_TRUE}, 4));
  PetscCall(TestPattern(&(const Pattern){.n = 140000, .size = 2, .far = PETSC_TRUE, .whole = PETSC_TRUE}, 4));
  PetscCall(TestSuits());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " wrong\n", wrong));
  PetscCall(PetscFinalize());
  return wrong ? 1 : 0;
}

/*TEST

  test:

TEST*/
