static const char help[] =
  "Triangles of matrices and factors: each shape, instruction set, kind and pass against sums and eliminations by "
  "rows of the source.\n\n";

#include "trianglestest.h"
#include <float.h>

/* A shape and whether it goes by nodes; else by rows */
static const struct {
  const SpmvShape *shape;
  PetscBool        nodes;
} Shapes[] = {
  {&SpmvShape_rows, PETSC_FALSE},
  {&SpmvShape_nodes, PETSC_TRUE},
  {&SpmvShape_slices, PETSC_FALSE},
};

static PetscInt wrong;

/* The vectors of a pass, each of which ends where memory ends */
enum { X, IN, MINUS, BEFORE, PRODUCT, VECTORS };

/* Vectors of a pass and of its reference, with the same contents */
static void Fill(PetscInt n, PetscInt seed, SpmvGuarded a[], SpmvGuarded b[])
{
  for (int v = 0; v < VECTORS; v++) {
    for (PetscInt i = 0; i < n; i++) a[v].a[i] = b[v].a[i] = Value(&seed);
  }
}

static PetscReal tolerance = 64 * PETSC_MACHINE_EPSILON;

/* Counts, and tells of, entries that differ */
static PetscErrorCode Compare(PetscInt n, const SpmvGuarded a[], const SpmvGuarded b[], const char what[], const char where[])
{
  PetscInt bad = 0;

  PetscFunctionBegin;
  for (int v = 0; v < VECTORS; v++) {
    for (PetscInt i = 0; i < n; i++) bad += !(PetscAbsScalar(a[v].a[i] - b[v].a[i]) <= tolerance);
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
        t->passes->pass(t, (SpmvTriangleSide)side, &p);
        Reference(s, nodes, (SpmvTriangleSide)side, &q);
        PetscCall(Compare(e->n, a, b, Passes[k].name, where));
      }
    }
    Fill(e->n, e->n, a, b);
    t->passes->product(t, (SpmvTriangleSide)side, a[X].a, a[PRODUCT].a);
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
  PetscCall(SpmvTrianglesCreate(&e->s, t->shape, SPMV_ISA_COUNT, PETSC_FALSE, &other, &bad));
  PetscCall(Expect((PetscBool)(bad == (nodes ? first : row) && !other), "a bad row is not found by building", where));
  PetscCall(SpmvTrianglesDestroy(&other));
  PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
  PetscCall(Expect((PetscBool)(bad == (nodes ? first : row)), "a bad row is not found in new values", where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same triangles as floats; scalars again if one value is too large */
static PetscErrorCode TestFloats(Example *e, SpmvTriangles *t, PetscBool nodes, PetscBool few, SpmvGuarded a[], SpmvGuarded b[],
                                 const char where[])
{
  PetscLogDouble scalars, floats, own[2];
  PetscInt       bad, row = 0, first, end;

  PetscFunctionBegin;
  PetscCall(SpmvTrianglesBytes(t, &scalars, &own[0]));
  t->floats = PETSC_TRUE;
  PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
  PetscCall(SpmvTrianglesBytes(t, &floats, &own[1]));
  PetscCall(
    Expect((PetscBool)(bad == -1 && SpmvTrianglesAreFloats(t) && floats <= scalars && own[1] >= own[0] && own[1] <= own[0] + 64),
           "values are no floats", where));
  tolerance = 64 * (PetscReal)FLT_EPSILON;
  PetscCall(TestPasses(e, t, nodes, few, a, b, where));
  tolerance = 64 * PETSC_MACHINE_EPSILON;
  while (row < e->n && e->s.lower[0][row] == e->s.lower[1][row]) row++;
  if (row < e->n && !nodes) {
    SpmvTrianglesRow(&e->s, SPMV_LOWER, row, &first, &end);
    e->a[first] = (PetscScalar)1e300;
    PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
    PetscCall(Expect((PetscBool)(bad == -1 && !SpmvTrianglesAreFloats(t)), "1e300 is made a float", where));
    SetValues(e, 5);
  }
  t->floats = PETSC_FALSE;
  PetscCall(SpmvTrianglesSetValues(&e->s, t, &bad));
  PetscCall(Expect((PetscBool)(bad == -1 && !SpmvTrianglesAreFloats(t)), "values stay floats", where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One example in one shape by one instruction set */
static PetscErrorCode TestShape(Example *e, size_t k, SpmvIsa isa, PetscBool few, SpmvGuarded a[], SpmvGuarded b[],
                                const char where[])
{
  const PetscBool nodes = Shapes[k].nodes;
  SpmvTriangles  *t;
  PetscInt        bad;
  PetscLogDouble  bytes, own;

  PetscFunctionBegin;
  SetValues(e, 5);
  PetscCall(SpmvTrianglesCreate(&e->s, Shapes[k].shape, isa, PETSC_FALSE, &t, &bad));
  PetscCall(Expect((PetscBool)(t && bad == -1 && t->nz == e->nz - e->n), "not built, or not with all entries", where));
  PetscCall(SpmvTrianglesBytes(t, &bytes, &own));
  PetscCall(Expect((PetscBool)(bytes >= 0 && (e->n == 0 || bytes > 0)), "has no bytes", where));
  PetscCall(TestPasses(e, t, nodes, few, a, b, where));
  if (SPMV_VALUES_HAS_FLOAT) PetscCall(TestFloats(e, t, nodes, few, a, b, where));
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
        if (!SpmvIsaSupported((SpmvIsa)isa) || !Shapes[k].shape->kernels[isa]->passes[0].pass) continue;
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
