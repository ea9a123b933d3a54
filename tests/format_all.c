static const char help[] = "Every format, plan and instruction set against a long double product, entry by entry.\n\
  -format <name>  only this one\n\
  -sample <N>     every N-th plan only\n\
  -uncached       as matrices that no cache holds\n\n";

#include "spmvtest.h"

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

/* Vectors of one case; the guarded ones are what the kernels see */
typedef struct {
  SpmvGuarded  x, y;
  PetscScalar *y0;
  long double *re, *im, *size;
  PetscInt    *length;
} Work;

static PetscErrorCode WorkCreate(PetscInt nx, PetscInt ny, PetscRandom rand, Work *w)
{
  PetscFunctionBegin;
  PetscCall(SpmvGuardedCreate(nx, &w->x));
  PetscCall(SpmvGuardedCreate(ny, &w->y));
  PetscCall(PetscMalloc5(ny, &w->y0, ny, &w->re, ny, &w->im, ny, &w->size, ny, &w->length));
  for (PetscInt k = 0; k < nx; k++) { /* mixed signs and scales */
    PetscCall(PetscRandomGetValue(rand, &w->x.a[k]));
    w->x.a[k] *= PetscPowRealInt(10.0, (int)(k % 7) - 3);
  }
  for (PetscInt k = 0; k < ny; k++) PetscCall(PetscRandomGetValue(rand, &w->y0[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WorkDestroy(Work *w)
{
  PetscFunctionBegin;
  PetscCall(SpmvGuardedDestroy(&w->x));
  PetscCall(SpmvGuardedDestroy(&w->y));
  PetscCall(PetscFree5(w->y0, w->re, w->im, w->size, w->length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Product and transpose, beta 0 (over NaN) and 1; twice, for the same bits */
static PetscErrorCode Check(const SpmvFormat *f, SpmvIsa isa, const SpmvCSR *csr, const void *storage, PetscRandom rand,
                            PetscInt *wrong)
{
  PetscFunctionBegin;
  for (int transpose = 0; transpose < 2; transpose++) {
    const PetscInt nx = transpose ? csr->m : csr->n, ny = transpose ? csr->n : csr->m;
    Work           w;
    PetscScalar   *first;

    PetscCall(WorkCreate(nx, ny, rand, &w));
    PetscCall(PetscMalloc1(ny, &first));
    for (int beta = 0; beta < 2; beta++) {
      SpmvTestReference(csr, (PetscBool)transpose, w.x.a, beta ? w.y0 : NULL, w.re, w.im, w.size, w.length);
      for (int again = 0; again < 2; again++) {
        for (PetscInt k = 0; k < ny; k++) w.y.a[k] = beta ? w.y0[k] : (PetscScalar)NAN;
        PetscCall(SpmvTestApply(f->host->kernels[isa], (PetscBool)transpose, storage, w.x.a, w.y.a, (PetscBool)beta));
        *wrong += SpmvTestCompare(ny, w.y.a, w.re, w.im, w.size, w.length);
        if (!again) PetscCall(PetscArraycpy(first, w.y.a, ny));
        else if (memcmp(first, w.y.a, ny * sizeof(PetscScalar))) ++*wrong;
      }
    }
    PetscCall(PetscFree(first));
    PetscCall(WorkDestroy(&w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The work of all rows under a plan that was built: its bytes are those built, but for what is padded once for the whole
   matrix */
static PetscErrorCode CheckWork(const SpmvFormat *f, const SpmvCSR *csr, const SpmvPlan *asked, PetscLogDouble built,
                                PetscInt *wrong)
{
  const SpmvSide *side     = &f->host->side;
  SpmvPlan        plan     = *asked;
  SpmvWork        work     = {0};
  char            why[512] = "";

  PetscFunctionBegin;
  if (side->suits) PetscCall(side->suits(csr, &plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS); /* nobody asks */
  if (side->resolve) PetscCall(side->resolve(csr, NULL, &plan));
  if (side->works) PetscCall(side->works(csr, 1, &plan, &work));
  else PetscCall(side->work(csr, &plan, &work));
  if (work.bytes > built + 64 || work.bytes < (PetscLogDouble)csr->i[csr->m] / 8 || !(work.cycles + work.vectors >= 0)) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %g bytes of work, %g built\n", f->name, (double)work.bytes, (double)built));
    ++*wrong;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Build, products, new values, products. A plan that this matrix does not allow is refused, never bent */
static PetscErrorCode CheckPlan(const SpmvFormat *f, SpmvTestCSR *t, const SpmvPlan *asked, PetscRandom rand, PetscInt *cases,
                                PetscInt *wrong)
{
  const SpmvSide *side = &f->host->side;
  SpmvCSR         csr  = SpmvTestCSRView(t);
  SpmvPlan        plan = *asked;
  void           *storage;
  PetscLogDouble  bytes = 0;

  PetscFunctionBegin;
  PetscCall(SpmvTestBuild(side, &csr, NULL, &plan, &storage));
  if (!storage) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvTestBytes(side, storage, &bytes));
  PetscCall(CheckWork(f, &csr, asked, bytes, wrong));
  for (int values = 0; values < 2; values++) {
    for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
      if (!SpmvIsaSupported((SpmvIsa)isa) || !f->host->kernels[isa]->apply) continue;
      PetscCall(Check(f, (SpmvIsa)isa, &csr, storage, rand, wrong));
      ++*cases;
    }
    for (PetscInt k = 0; k < t->i[t->m]; k++) PetscCall(PetscRandomGetValue(rand, &t->a[k]));
    PetscCall(side->setvalues(&csr, storage));
  }
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of a knob that are tried: its choices; of a range the default and the ends; of a list none and some. After the knobs:
   threads */
static const PetscInt Threads[] = {1, 2, 5};

static PetscInt Tried(const SpmvFormat *f, PetscInt k)
{
  if (k == f->host->side.nparams) return PETSC_STATIC_ARRAY_LENGTH(Threads);
  return f->host->side.params[k].choices ? f->host->side.params[k].count : f->host->side.params[k].list ? 2 : 3;
}

static void Try(const SpmvFormat *f, PetscInt k, PetscInt index, SpmvPlan *plan)
{
  const SpmvParam *param = &f->host->side.params[k];

  if (k == f->host->side.nparams) plan->threads = Threads[index];
  else if (param->choices) plan->value[k] = param->choices[index];
  else if (param->list) {
    plan->value[k] = index ? 3 : 0;
    for (PetscInt i = 0; i < plan->value[k]; i++) plan->list[i] = PetscMin(param->high, param->low + i * i);
  } else plan->value[k] = index == 0 ? param->preset : index == 1 ? param->low : param->high;
}

/* One plan, given by the index of each knob's value */
static PetscErrorCode CheckChoices(const SpmvFormat *f, SpmvTestCSR *t, const char name[], const PetscInt index[],
                                   PetscRandom rand, PetscInt *cases, PetscInt *failures)
{
  SpmvPlan plan  = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  PetscInt wrong = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k <= f->host->side.nparams; k++) Try(f, k, index[k], &plan);
  PetscCall(CheckPlan(f, t, &plan, rand, cases, &wrong));
  if (wrong) {
    ++*failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s:", f->name, name));
    for (PetscInt k = 0; k < f->host->side.nparams; k++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %s %" PetscInt_FMT, f->host->side.params[k].name, plan.value[k]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " threads %" PetscInt_FMT ": %" PetscInt_FMT " entries wrong\n", plan.threads, wrong));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All values of each two knobs with the others at their defaults, and some plans at random */
static PetscErrorCode CheckPlans(const SpmvFormat *f, SpmvTestCSR *t, const char name[], PetscRandom rand, PetscInt *cases,
                                 PetscInt *failures)
{
  PetscInt index[SPMV_PARAM_MAX + 1] = {0};

  PetscFunctionBegin;
  PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
  for (PetscInt p = 0; p <= f->host->side.nparams; p++) {
    for (PetscInt q = 0; q < p; q++) {
      for (PetscInt c = 0; c < Tried(f, p) * Tried(f, q); c++) {
        index[p] = c % Tried(f, p);
        index[q] = c / Tried(f, p);
        if (index[p] && (index[q] || !q) && SpmvTestSampled()) PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
      }
      index[p] = index[q] = 0;
    }
  }
  for (PetscInt r = 0; r < 30; r++) {
    for (PetscInt k = 0; k <= f->host->side.nparams; k++) {
      PetscReal u;

      PetscCall(PetscRandomGetValueReal(rand, &u));
      index[k] = PetscMin((PetscInt)((u + 1) / 2 * Tried(f, k)), Tried(f, k) - 1);
    }
    if (SpmvTestSampled()) PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* m x n, each entry there with a probability; rows [empty0, empty1) without entries; row `full` complete; all entries of a node
   are there, or none */
typedef struct {
  const char *name;
  PetscInt    m, n;
  double      density;
  PetscInt    empty0, empty1, full;
  PetscInt    node; /* its rows and columns */
} Case;

static const Case Cases[] = {
  {"0 x 0", 0, 0, 0, 0, 0, -1, 1},
  {"0 rows", 0, 5, 0, 0, 0, -1, 1},
  {"0 columns", 5, 0, 0, 0, 0, -1, 1},
  {"1 x 1", 1, 1, 1, 0, 0, -1, 1},
  {"1 row", 1, 37, 0.5, 0, 0, 0, 1},
  {"1 column", 37, 1, 0.5, 0, 0, -1, 1},
  {"no entries", 9, 9, 0, 0, 0, -1, 1},
  {"diagonal-like 31", 31, 31, 0.03, 0, 0, -1, 1},
  {"32 entries a column", 32, 8, 1, 0, 0, -1, 1},
  {"33 rows", 33, 33, 0.1, 0, 0, 32, 1},
  {"leading empty rows", 40, 30, 0.2, 0, 17, -1, 1},
  {"middle empty rows", 40, 30, 0.2, 9, 26, -1, 1},
  {"trailing empty rows", 40, 30, 0.2, 23, 40, -1, 1},
  {"a full row", 25, 300, 0.02, 0, 0, 12, 1},
  {"dense 16", 16, 16, 1, 0, 0, -1, 1},
  {"dense 17 x 19", 17, 19, 1, 0, 0, -1, 1},
  {"tall", 211, 7, 0.3, 100, 103, -1, 1},
  {"wide", 7, 211, 0.3, 3, 4, 6, 1},
  {"some groups", 300, 300, 0.03, 7, 9, 150, 1},
  {"far apart", 40, 70000, 0.0005, 3, 4, -1, 1},
  {"nodes of 2", 150, 150, 0.08, 0, 0, -1, 2},
  {"nodes of 3", 200, 201, 0.1, 33, 42, -1, 3},
  {"nodes of 4", 96, 5000, 0.01, 0, 0, -1, 4},
};

static PetscErrorCode CaseCreate(const Case *c, PetscRandom rand, SpmvTestCSR *t)
{
  const PetscInt node = c->node;
  PetscScalar   *dense;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(c->m * c->n, &dense));
  for (PetscInt r = 0; r < c->m; r++) {
    for (PetscInt k = 0; k < c->n; k++) {
      const PetscInt first = (r - r % node) * c->n + k - k % node;
      PetscReal      u;
      PetscScalar    v;

      PetscCall(PetscRandomGetValueReal(rand, &u));
      PetscCall(PetscRandomGetValue(rand, &v));
      if (first == r * c->n + k ? (u + 1) / 2 < c->density || r == c->full : dense[first] != 0) dense[r * c->n + k] = v;
      if (r >= c->empty0 && r < c->empty1) dense[r * c->n + k] = 0;
    }
  }
  PetscCall(SpmvTestCSRFromDense(c->m, c->n, dense, t));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  char        only[64] = "";
  PetscInt    failures = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", only, sizeof(only), NULL));
  PetscCall(SpmvTestUncached());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, -1, 1));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    PetscInt cases = 0;

    if (only[0] && strcmp(only, Formats[f]->name)) continue;
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); c++) {
      SpmvTestCSR t;

      PetscCall(CaseCreate(&Cases[c], rand, &t));
      PetscCall(CheckPlans(Formats[f], &t, Cases[c].name, rand, &cases, &failures));
      PetscCall(SpmvTestCSRDestroy(&t));
    }
    PetscCheck(cases > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no case of %s ran", Formats[f]->name);
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " plans wrong\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test:
    args: -sample 20
    timeoutfactor: 5

  test:
    suffix: uncached
    output_file: output/format_all.out
    args: -sample 61 -uncached
    timeoutfactor: 5

  test:
    suffix: long
    output_file: output/format_all.out
    timeoutfactor: 15

TEST*/
