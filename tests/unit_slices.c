static const char help[] =
  "Triangles by slices: passes and products of each kind, under each instruction set, against the formula;\n"
  "and which shape triangles take.\n\n";

#include "spmvtest.h"
#include "../src/host/machine.h"
#include "../src/tune/passes.h"

/* A pattern with values: rows by the columns of each entry, the diagonal among them */
typedef struct {
  PetscInt     n, *i, *j, *lower[2], *upper[2], *diagonal;
  PetscScalar *a;
} Pattern;

static uint64_t State = 12345;

static double Random(void)
{
  State = State * 6364136223846793005u + 1442695040888963407u;
  return (double)(State >> 11) / 9007199254740992.0;
}

/* Distances of a grid, or random columns, kept with some probability */
static PetscErrorCode PatternCreate(PetscInt n, PetscInt nd, const PetscInt d[], double keep, double random, Pattern *p)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  p->n = n;
  PetscCall(PetscMalloc6(n, &p->lower[0], n, &p->lower[1], n, &p->upper[0], n, &p->upper[1], n, &p->diagonal, n + 1, &p->i));
  PetscCall(PetscMalloc2(n * n, &p->j, n * n, &p->a));
  for (PetscInt i = 0; i < n; i++) {
    p->i[i] = nz;
    for (PetscInt j = 0; j < n; j++) {
      PetscBool here = (PetscBool)(i == j || Random() < random);

      for (PetscInt k = 0; k < nd; k++) here = (PetscBool)(here || (PetscAbs(j - i) == d[k] && Random() < keep));
      if (i == j) p->diagonal[i] = nz;
      if (here) p->j[nz++] = j;
    }
    p->lower[0][i] = p->i[i];
    p->lower[1][i] = p->upper[0][i] = p->diagonal[i];
    p->upper[1][i]                  = nz;
  }
  p->i[n] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PatternDestroy(Pattern *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree6(p->lower[0], p->lower[1], p->upper[0], p->upper[1], p->diagonal, p->i));
  PetscCall(PetscFree2(p->j, p->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that make couplings as large as `size` */
static void PatternValues(Pattern *p, double size, SpmvTrianglesKind kind)
{
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscInt nz = p->i[i + 1] - p->i[i];

    for (PetscInt k = p->i[i]; k < p->i[i + 1]; k++) {
      p->a[k] = size * (2 * Random() - 1) / PetscMax(1, nz - 1);
      if (kind == SPMV_FACTORS_SYMMETRIC) p->a[k] = -p->a[k];
      if (k == p->diagonal[i]) p->a[k] = kind == SPMV_SWEEPS ? 2 + Random() : 1 / (2 + Random());
    }
    if (size > 1 && i % 3 == 0)
      for (PetscInt k = p->i[i]; k < p->i[i + 1]; k++)
        if (k != p->diagonal[i] && PetscAbs(p->j[k] - i) == 1) p->a[k] = size;
  }
}

static SpmvTrianglesSource Source(const Pattern *p, SpmvTrianglesKind kind, PetscReal omega, PetscReal shift)
{
  return (SpmvTrianglesSource){.kind     = kind,
                               .n        = p->n,
                               .j        = p->j,
                               .a        = p->a,
                               .lower    = {p->lower[0], p->lower[1]},
                               .upper    = {p->upper[0], p->upper[1]},
                               .diagonal = p->diagonal,
                               .omega    = omega,
                               .shift    = shift};
}

static PetscScalar Inverse(const SpmvTrianglesSource *s, PetscInt i)
{
  const PetscScalar a = s->a[s->diagonal[i]];

  return s->kind == SPMV_SWEEPS ? s->omega / (s->shift + a) : a;
}

/* sum_j T_ij x_j */
static PetscScalar Sum(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, const PetscScalar *x)
{
  const PetscScalar f = SpmvTrianglesScaled(s->kind, side) ? Inverse(s, i) : s->kind == SPMV_FACTORS_SYMMETRIC ? -1 : 1;
  PetscInt          first, end;
  PetscScalar       sum = 0;

  SpmvTrianglesRow(s, side, i, &first, &end);
  for (PetscInt k = first; k < end; k++) sum += f * s->a[k] * x[s->j[k]];
  return sum;
}

static void Reference(const SpmvTrianglesSource *s, SpmvTriangleSide side, const SpmvPass *p)
{
  for (PetscInt t = 0; t < s->n; t++) {
    const PetscInt    i   = side == SPMV_LOWER ? t : s->n - 1 - t;
    const PetscScalar sum = Sum(s, side, i, p->x), v = (p->scale ? Inverse(s, i) : 1) * p->in[i] - sum;
    const PetscScalar minus = p->minus ? p->minus[i] : 0;

    if (p->before) p->before[i] = v;
    if (p->product) p->product[i] = sum;
    p->x[i] = (p->keep != 0 ? p->keep * p->x[i] : 0) + v - minus;
  }
}

static PetscErrorCode Compare(PetscInt n, const PetscScalar a[], const PetscScalar b[], const char what[], SpmvIsa isa)
{
  PetscReal size = 1, differ = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    size   = PetscMax(size, PetscAbsScalar(a[i]));
    differ = PetscMax(differ, PetscAbsScalar(a[i] - b[i]));
    PetscCheck(!PetscIsInfOrNanScalar(b[i]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: row %" PetscInt_FMT " is not a number",
               what, SpmvIsaName(isa), i);
  }
  PetscCheck(differ <= 500 * PETSC_MACHINE_EPSILON * size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %g of %g", what,
             SpmvIsaName(isa), (double)differ, (double)size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors: in, minus, x, before, product, and ours: x, before, product, in */
static PetscErrorCode TestPass(const SpmvTrianglesSource *s, const SpmvTriangles *t, SpmvTriangleSide side, unsigned how,
                               SpmvIsa isa)
{
  const PetscInt              n    = s->n;
  SPMV_TEMPORARY PetscScalar *work = NULL;
  PetscScalar                *v[9];
  SpmvPass                    p = {0}, q;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(9 * n + 9, &work));
  for (int k = 0; k < 9; k++) v[k] = work + k * n;
  for (PetscInt i = 0; i < n; i++) {
    for (int k = 0; k < 6; k++) v[k][i] = 2 * Random() - 1;
    v[5][i] = v[2][i];
    if (how == 0) v[2][i] = v[5][i] = NAN; /* not read before it is written */
    v[8][i] = v[0][i];
  }
  p.scale = SpmvTrianglesInScaled(s->kind, side);
  p.in    = v[0];
  p.x     = v[2];
  if (how & 1) p.keep = -0.3;
  if (how & 2) p.minus = v[1];
  if (how & 4) p.before = v[3];
  if (how & 8) p.product = v[4];
  q   = p;
  q.x = v[5];
  if (how & 4) q.before = v[6];
  if (how & 8) q.product = v[7];
  if (how & 16) {
    p.in = p.x; /* in is x */
    q.in = q.x;
  }
  if ((how & 32) && q.before) { /* in is before */
    for (PetscInt i = 0; i < n; i++) v[6][i] = v[3][i];
    p.in = p.before;
    q.in = q.before;
  }
  if ((how & 64) && q.product) { /* minus is product */
    for (PetscInt i = 0; i < n; i++) v[7][i] = v[4][i];
    p.minus = p.product;
    q.minus = q.product;
  }
  Reference(s, side, &p);
  t->passes->pass(t, side, &q);
  PetscCall(Compare(n, p.x, q.x, "x", isa));
  if (p.before) PetscCall(Compare(n, p.before, q.before, "before", isa));
  if (p.product) PetscCall(Compare(n, p.product, q.product, "product", isa));
  for (PetscInt i = 0; i < n; i++) v[0][i] = Sum(s, side, i, v[1]);
  t->passes->product(t, side, v[1], v[6]);
  PetscCall(Compare(n, v[0], v[6], "T x", isa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(Pattern *p, const SpmvShape *shape)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < SPMV_TRIANGLES_COUNT; kind++) {
    for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
      const SpmvTrianglesSource                            s = Source(p, (SpmvTrianglesKind)kind, 0.9, 0.1);
      SPMV_DESTROY_BY(SpmvTrianglesDestroy) SpmvTriangles *t = NULL;
      PetscInt                                             bad;

      if (!SpmvIsaSupported((SpmvIsa)isa)) continue;
      PatternValues(p, 1, s.kind);
      PetscCall(SpmvTrianglesCreate(&s, shape, isa, PETSC_FALSE, &t, &bad));
      PetscCheck(bad == -1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "bad row");
      for (int round = 0; round < 3; round++) {
        for (unsigned how = 0; how < 128; how += (how ? 5 : 1)) {
          PetscCall(TestPass(&s, t, SPMV_LOWER, how, (SpmvIsa)isa));
          PetscCall(TestPass(&s, t, SPMV_UPPER, how, (SpmvIsa)isa));
        }
        PatternValues(p, round ? 1 : 2.5, s.kind);
        PetscCall(SpmvTrianglesSetValues(&s, t, &bad));
      }
    }
  }
  PetscCall(PatternDestroy(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Couplings whose products overflow, in rows where x is 0: nothing may be multiplied that a row does not have */
static PetscErrorCode TestSteep(void)
{
  const PetscInt distance = 1;
  PetscScalar    x[64], in[64] = {0};
  Pattern        p;

  PetscFunctionBegin;
  PetscCall(PatternCreate(64, 1, &distance, 1, 0, &p));
  for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
    const SpmvTrianglesSource                            s = Source(&p, SPMV_FACTORS_SYMMETRIC, 1, 0);
    SPMV_DESTROY_BY(SpmvTrianglesDestroy) SpmvTriangles *t = NULL;
    PetscInt                                             bad;

    if (!SpmvIsaSupported((SpmvIsa)isa)) continue;
    PatternValues(&p, 1, s.kind);
    PetscCall(SpmvTrianglesCreate(&s, &SpmvShape_slices, isa, PETSC_FALSE, &t, &bad));
    for (PetscInt k = 0; k < p.i[p.n]; k++) p.a[k] = PETSC_MAX_REAL / 8;
    PetscCall(SpmvTrianglesSetValues(&s, t, &bad));
    for (int side = 0; side < 2; side++) {
      const SpmvPass pass = {.in = in, .x = x};

      t->passes->pass(t, (SpmvTriangleSide)side, &pass);
      PetscCall(Compare(p.n, in, x, "steep", (SpmvIsa)isa));
    }
  }
  PetscCall(PatternDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is expected of a choice */
static PetscErrorCode Expect(const SpmvTrianglesSource *s, const SpmvShape *shape, PetscBool gains, const char what[])
{
  SpmvPassesChoice choice;

  PetscFunctionBegin;
  PetscCall(SpmvPassesChoose(s, SPMV_ISA_COUNT, NULL, 1000, &choice));
  PetscCheck(choice.shape == shape && choice.gains == gains, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s, %g us, PETSc's %g us",
             what, choice.shape ? choice.shape->name : "no shape", (double)(1e6 * choice.seconds), (double)(1e6 * choice.petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which shape triangles take, and whether it is said to be faster than PETSc's passes, by the rates of Zen 4 */
static PetscErrorCode TestChoice(void)
{
  const PetscInt      grid[] = {1, 12, 144}, node = 1728;
  SpmvMachine         zen4;
  Pattern             p;
  SpmvTrianglesSource s;
  SpmvIsa             best;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  SpmvMachineBuiltin((SpmvIsa)(SPMV_ISA_COUNT - 1), &(SpmvCaches){{32768, 1048576, 33554432}, 16}, &zen4);
  zen4.isa[best] = 1; /* whichever it is */
  SpmvMachineSet(&zen4);
  PetscCall(PatternCreate(node, 3, grid, 1, 0, &p));
  s = Source(&p, SPMV_SWEEPS, 1, 0);
  PetscCall(Expect(&s, &SpmvShape_slices, PETSC_TRUE, "a grid"));
  s.nnodes = 1;
  s.nodes  = &node;
  PetscCall(Expect(&s, NULL, PETSC_FALSE, "a node that is too large"));
  s.nnodes       = 0;
  zen4.isa[best] = 100;
  SpmvMachineSet(&zen4);
  PetscCall(Expect(&s, &SpmvShape_rows, PETSC_TRUE, "a grid with vectors that take a hundred times as long"));
  PetscCall(PatternDestroy(&p));

  PetscCall(PatternCreate(node, 0, NULL, 1, 0.006, &p));
  s = Source(&p, SPMV_SWEEPS, 1, 0);
  PetscCall(Expect(&s, &SpmvShape_rows, PETSC_FALSE, "short rows of random columns"));
  s          = Source(&p, SPMV_FACTORS, 1, 0);
  s.permuted = PETSC_TRUE;
  PetscCall(Expect(&s, &SpmvShape_rows, PETSC_FALSE, "a factor of short rows that are permuted"));
  PetscCall(PatternDestroy(&p));

  PetscCall(PatternCreate(node, 0, NULL, 1, 0.03, &p));
  for (int kind = 0; kind < SPMV_TRIANGLES_COUNT; kind++) {
    s = Source(&p, (SpmvTrianglesKind)kind, 1, 0);
    PetscCall(Expect(&s, &SpmvShape_rows, PETSC_TRUE, "long rows of random columns"));
  }
  PetscCall(PatternDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const SpmvShape *const shapes[]    = {&SpmvShape_rows, &SpmvShape_slices};
  const PetscInt         distances[] = {1, 11, 30, 2, 3, 8, 9, 16, 40};
  const PetscInt         sizes[]     = {1, 3, 7, 8, 9, 16, 61, 120, 173};
  Pattern                p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    for (int shape = 0; shape < 2; shape++) {
      for (int what = 0; what < 10; what++) {
        PetscCall(PatternCreate(sizes[k],
                                what < 4   ? 3
                                : what < 9 ? what
                                           : 0,
                                distances, what % 2 ? 1 : 0.9,
                                what == 9   ? 0.2
                                : what == 3 ? 0.01
                                            : 0,
                                &p));
        PetscCall(Test(&p, shapes[shape]));
      }
    }
  }
  PetscCall(TestSteep());
  PetscCall(TestChoice());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
