static const char help[] =
  "What every format's storages do for their callers, under plans with each value of each knob: they outlive the arrays of the "
  "matrix, count with 64 bits, and of a build that runs out of memory nothing is left.\n\n";

#include "spmvtest.h"
#include "refusing.h"
#include "spmvdevice.h"

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

static size_t Most = SIZE_MAX; /* more bytes at once are refused */

static PetscBool RefuseRequest(size_t bytes, const char file[])
{
  (void)file;
  return (PetscBool)(bytes > Most || ++Asked == Refused);
}

/* Device plans are built for this one, which need not be there */
static const SpmvDeviceInfo Gpu = {.name     = "a GPU",
                                   .room     = 1e6,
                                   .group    = 1024,
                                   .local    = 49152,
                                   .units    = 8,
                                   .cache    = 1 << 20,
                                   .gpu      = PETSC_TRUE,
                                   .forward  = PETSC_TRUE,
                                   .real64   = PETSC_TRUE,
                                   .atomic64 = PETSC_TRUE};

static const SpmvDeviceInfo *Info(const SpmvPlan *plan)
{
  return plan->backend == SPMV_BACKEND_DEVICE ? &Gpu : NULL;
}

/* A test of a side of a format under one plan */
typedef PetscErrorCode PlanTest(const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan);

/* All values of the knobs of both sides of every format, one knob at a time; a range has its ends, a list no values and three */
static PetscErrorCode TestPlans(const SpmvCSR *csr, PlanTest *test)
{
  PetscFunctionBegin;
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    for (int backend = SPMV_BACKEND_HOST; backend <= SPMV_BACKEND_DEVICE; backend++) {
      const SpmvSide *side = SpmvFormatSide(Formats[f], backend);

      for (PetscInt k = 0; side && k < side->nparams; k++) {
        const SpmvParam *p = &side->params[k];

        for (PetscInt c = 0; c < (p->choices ? p->count : 2); c++) {
          SpmvPlan plan = SpmvTestPlan(Formats[f], (SpmvBackend)backend);

          plan.threads  = 3;
          plan.value[k] = p->choices ? p->choices[c] : p->list ? 3 * c : c ? p->high : p->low;
          for (PetscInt i = 0; p->list && i < plan.value[k]; i++) plan.list[i] = i + 1;
          PetscCall(test(Formats[f], csr, &plan));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of `length` entries or so, `apart` columns apart, each two rows with the same columns; but one row is empty, and one has
   `longest` entries */
static PetscErrorCode Create(PetscInt m, PetscInt n, PetscInt length, PetscInt apart, PetscInt longest, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = m;
  t->n = n;
  PetscCall(PetscMalloc3(m + 1, &t->i, m * length + longest, &t->j, m * length + longest, &t->a));
  for (PetscInt r = 0; r < m; r++) {
    const PetscBool full    = (PetscBool)(r == m / 2);
    const PetscInt  entries = full ? longest : r == m / 3 ? 0 : length - r / 2 % 3;
    const PetscInt  first = full ? 0 : r / 2 * 2, step = full ? n / longest : apart;

    t->i[r] = nz;
    for (PetscInt k = 0; k < entries && first + k * step < n; k++, nz++) {
      t->j[nz] = first + k * step;
      t->a[nz] = (PetscReal)(nz % 17) / 8 - 1;
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(SpmvTestCSR *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(t->i, t->j, t->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n integers where they can be taken away */
static PetscErrorCode CopyIndices(PetscInt n, const PetscInt from[], SpmvGuarded *g, const PetscInt **to)
{
  PetscFunctionBegin;
  PetscCall(SpmvGuardedCreate(n, g)); /* scalars are as long as integers, at least */
  memcpy(g->a, from, (size_t)n * sizeof(PetscInt));
  *to = (const PetscInt *)(void *)g->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes of a storage and what is printed of it, when the arrays that it was built from are gone: a view or MatGetInfo() may
   come after the matrix has grown */
static PetscErrorCode TestGone(const SpmvFormat *f, const SpmvCSR *csr, const SpmvPlan *plan)
{
  const SpmvSide *side  = SpmvFormatSide(f, plan->backend);
  const PetscInt  nz    = csr->i[csr->m];
  SpmvPlan        built = *plan;
  SpmvGuarded     i = {0}, j = {0}, a = {0};
  SpmvCSR         copy    = *csr;
  void           *storage = NULL;
  SpmvArray       before[SPMV_ARRAY_MAX], after[SPMV_ARRAY_MAX];
  PetscInt        nbefore, nafter;
  char            lines[2][SPMV_LINE_MAX][1024] = {{{0}}};

  PetscFunctionBegin;
  PetscCall(CopyIndices(csr->m + 1, csr->i, &i, &copy.i));
  PetscCall(CopyIndices(nz, csr->j, &j, &copy.j));
  PetscCall(SpmvGuardedCreate(nz, &a));
  memcpy(a.a, csr->a, (size_t)nz * sizeof(PetscScalar));
  copy.a = a.a;
  PetscCall(SpmvTestBuild(side, &copy, Info(plan), &built, &storage));
  if (storage) PetscCall(side->arrays(storage, &nbefore, before));
  for (PetscInt k = 0; storage && side->describe && k < SPMV_LINE_MAX; k++)
    PetscCall(side->describe(storage, k, lines[0][k], sizeof(lines[0][k])));
  PetscCall(SpmvGuardedDestroy(&i));
  PetscCall(SpmvGuardedDestroy(&j));
  PetscCall(SpmvGuardedDestroy(&a));
  if (!storage) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(side->arrays(storage, &nafter, after));
  for (PetscInt k = 0; side->describe && k < SPMV_LINE_MAX; k++)
    PetscCall(side->describe(storage, k, lines[1][k], sizeof(lines[1][k])));
  for (PetscInt k = 0; k < nbefore; k++)
    PetscCheck(nafter == nbefore && after[k].count == before[k].count, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %s has %zu elements, then %zu", f->name, before[k].name, before[k].count, after[k].count);
  PetscCheck(!memcmp(lines[0], lines[1], sizeof(lines[0])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: '%s', then '%s'", f->name,
             lines[0][0], lines[1][0]);
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Something that a format is asked to do, and what it leaves: a storage, or a choice */
typedef struct {
  const char       *name;
  const SpmvFormat *format;
  const SpmvCSR    *csr;
  SpmvPlan          plan;
  void             *storage;
  PetscInt          kind; /* of tuning */
  SpmvChoice        choice;
} Work;
typedef PetscErrorCode WorkFn(Work *);

static PetscErrorCode WorkBuild(Work *w)
{
  const SpmvSide *side = SpmvFormatSide(w->format, w->plan.backend);

  PetscFunctionBegin;
  PetscCall(SpmvBuild(side, w->csr, Info(&w->plan), &w->plan, &w->storage));
  PetscCall(side->setvalues(w->csr, w->storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that is asked of a side without a storage */
static PetscErrorCode WorkPredict(Work *w)
{
  const SpmvSide *side = SpmvFormatSide(w->format, w->plan.backend);
  SpmvWork        work = {0};
  SpmvPlan        plans[SPMV_PROPOSALS];
  PetscInt        n = 0;
  char            why[512];

  PetscFunctionBegin;
  for (PetscInt round = 0; side->propose && (!round || n); round++) PetscCall(side->propose(w->csr, &w->plan, round, &n, plans));
  PetscCall(SpmvResolve(side, w->csr, Info(&w->plan), &w->plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (side->works) PetscCall(side->works(w->csr, 1, &w->plan, &work));
  else if (side->work) PetscCall(side->work(w->csr, &w->plan, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a product that is shared */
static PetscErrorCode WorkSplit(Work *w)
{
  SpmvPlan host = SpmvTestPlan(w->format, SPMV_BACKEND_HOST);
  PetscInt n, *rows;
  char     why[512];

  PetscFunctionBegin;
  PetscCall(SpmvResolve(SpmvFormatSide(w->format, SPMV_BACKEND_DEVICE), w->csr, &Gpu, &w->plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(w->format->device->joint->split(w->csr, &w->plan, &host, &n, &rows));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Baseline(void *context)
{
  PetscFunctionBegin;
  ++*(PetscInt *)context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Among all formats */
static PetscErrorCode WorkTune(Work *w)
{
  const SpmvKey key = {w->csr->m, w->csr->n, w->csr->i[w->csr->m], 0};
  SpmvRequest   request;
  PetscInt      products = 0;

  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(w->kind == SPMV_TUNE_OFF ? w->format : &SpmvFormat_spmv, &request));
  request.kind    = w->kind == SPMV_TUNE_OFF ? SPMV_TUNE_ESTIMATE : w->kind;
  request.seconds = 1e-3;
  PetscCall(PetscStrncpy(request.wisdom, "none", sizeof(request.wisdom)));
  PetscCall(SpmvTune(&request, w->csr, &key, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, Baseline, &products, &w->choice, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses each request for memory in turn, until the work is done: what was given is freed, or is freed with the storage, and
   nobody is told that all is well */
static PetscErrorCode RunOutOfMemory(Work *work, WorkFn *run)
{
  const PetscInt before = Live;
  PetscErrorCode ierr   = PETSC_ERR_MEM;

  PetscFunctionBegin;
  for (PetscInt k = 1; ierr; k++) {
    Work w = *work;

    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    Asked   = 0;
    Refused = k;
    ierr    = run(&w);
    Refused = 0;
    PetscCall(PetscPopErrorHandler());
    if (!ierr)
      PetscCheck(Asked < k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s goes on without the memory of request %" PetscInt_FMT,
                 w.format->name, w.name, k);
    if (ierr) PetscCheck(!w.choice.known, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a choice is made that was not");
    if (ierr == PETSC_ERR_ARG_OUTOFRANGE) ierr = PETSC_SUCCESS; /* the matrix does not allow the plan */
    else if (!ierr && w.storage) {
      const PetscInt own   = Live; /* PETSc keeps some memory when random numbers are first asked for */
      PetscInt       wrong = 0;

      if (w.plan.backend == SPMV_BACKEND_HOST) PetscCall(SpmvTestProducts(w.format, w.csr, w.storage, &wrong));
      Live = own;
      PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: wrong products after builds that failed", w.format->name);
    }
    PetscCheck(!ierr || ierr == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %s without the memory of request %" PetscInt_FMT " returned %d", w.format->name, w.name, k, (int)ierr);
    if (w.storage) PetscCall(SpmvStorageDestroy(SpmvFormatSide(w.format, w.plan.backend), &w.storage));
    PetscCheck(Live == before, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %s without the memory of request %" PetscInt_FMT " leaves %" PetscInt_FMT " pieces of memory", w.format->name,
               w.name, k, Live - before);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage, and what is predicted of it */
static PetscErrorCode TestFull(const SpmvFormat *f, const SpmvCSR *csr, const SpmvPlan *plan)
{
  Work w = {.name = "a build", .format = f, .csr = csr, .plan = *plan};

  PetscFunctionBegin;
  PetscCall(RunOutOfMemory(&w, WorkBuild));
  w.name = "a prediction";
  PetscCall(RunOutOfMemory(&w, WorkPredict));
  w.name = "a split";
  if (plan->backend == SPMV_BACKEND_DEVICE && f->device->joint && plan->value[f->device->joint->parts])
    PetscCall(RunOutOfMemory(&w, WorkSplit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plans of each format by estimate, then formats by estimate and by measuring */
static PetscErrorCode TestTuner(const SpmvCSR *csr)
{
  Work w = {.name = "a choice", .csr = csr};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Formats); k++) {
    w.format = Formats[k];
    PetscCall(RunOutOfMemory(&w, WorkTune));
  }
  for (w.kind = SPMV_TUNE_ESTIMATE; w.kind <= SPMV_TUNE_MEASURE; w.kind++) PetscCall(RunOutOfMemory(&w, WorkTune));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MANY 256                  /* rows and tasks */
#define WIDE ((PetscInt)16843010) /* columns: times 255 they are 2^32 + 254 */

/*
  Tasks of a transposed product have vectors that are together as long as 32 bits count, and 254 more. A build does not ask for
  them; the first transposed product does, and where there is no room for them, says so and leaves all as it was. Formats that get
  along with less, since most columns are empty, make it
*/
static PetscErrorCode TestWide(const SpmvFormat *f, PetscInt *refused)
{
  SpmvPlan       plan = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  PetscInt       i[MANY + 1], j[MANY], wrong = 0;
  PetscScalar    a[MANY], *v;
  SpmvCSR        csr     = {.m = MANY, .n = WIDE, .rbs = 1, .cbs = 1, .i = i, .j = j, .a = a};
  void          *storage = NULL;
  Mat            A;
  Vec            x, y;
  PetscBool      fits;
  PetscErrorCode ierr;
  char           why[512] = "";

  PetscFunctionBegin;
  for (PetscInt r = 0; r <= MANY; r++) i[r] = r;
  for (PetscInt r = 0; r < MANY; r++) {
    j[r] = r * (WIDE / MANY);
    a[r] = r + 1;
  }
  if (f->host->side.suits) PetscCall(f->host->side.suits(&csr, &plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS); /* a Mat of this format has another one's storage */
  plan.threads = MANY;
  Most         = (size_t)1 << 30;
  PetscCall(SpmvTestBuild(&f->host->side, &csr, NULL, &plan, &storage));
  fits = (PetscBool)(f->host->kernels[SPMV_SCALAR]->transpose_work(storage) < Most / sizeof(PetscScalar));
  PetscCall(SpmvStorageDestroy(&f->host->side, &storage));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, MANY, WIDE, i, j, a, &A));
  PetscCall(MatConvert(A, f->name, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &y, &x));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 2));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatMultTranspose(A, x, y);
  PetscCall(PetscPopErrorHandler());
  Most = SIZE_MAX;
  PetscCall(VecDestroy(&x)); /* an error leaves it locked */
  PetscCall(MatCreateVecs(A, NULL, &x));
  PetscCheck(ierr == (fits ? PETSC_SUCCESS : PETSC_ERR_MEM), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: a transposed product whose work %s returned %d", f->name, fits ? "fits" : "does not fit", (int)ierr);
  PetscCall(VecGetArray(y, &v));
  for (PetscInt k = 0; k < WIDE; k++)
    wrong += v[k] != (!fits ? 2 : k % (WIDE / MANY) || k / (WIDE / MANY) >= MANY ? 0 : a[k / (WIDE / MANY)]);
  PetscCall(VecRestoreArray(y, &v));
  PetscCall(VecSet(y, 3));
  PetscCall(MatMult(A, y, x));
  PetscCall(VecGetArray(x, &v));
  for (PetscInt r = 0; r < MANY; r++) wrong += v[r] != 3 * a[r];
  PetscCall(VecRestoreArray(x, &v));
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " entries are wrong", f->name, wrong);
  *refused += !fits;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  SpmvTestCSR t[3];
  PetscInt    refused = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  RefusingBegins();
  PetscCall(Create(0, 3, 1, 1, 1, &t[0]));
  PetscCall(Create(60, 6000, 9, 1, 6000, &t[1]));
  PetscCall(Create(40, 70000, 5, 9000, 700, &t[2]));
  for (int k = 0; k < 3; k++) {
    const SpmvCSR csr = SpmvTestCSRView(&t[k]);

    PetscCall(TestPlans(&csr, TestGone));
    PetscCall(TestPlans(&csr, TestFull));
    PetscCall(TestTuner(&csr));
    PetscCall(Destroy(&t[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Formats); k++) PetscCall(TestWide(Formats[k], &refused));
  PetscCheck(refused > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no transposed product asked for much");
  RefusingEnds();
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -mat_spmv_threads 256 -mat_spmv_build_after 0

TEST*/
