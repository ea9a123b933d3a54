static const char help[] =
  "Every format that has kernels for devices, on a device, against a long double product, entry by entry.\n\
  -format <name>  only this one\n\
  -sample <N>     every N-th plan only\n\
  -quick          small matrices and few products, for simulators\n\
  -default        only the plans that users get who ask for nothing\n\
  -plans          all values of each two knobs\n\
  -everywhere     all values of all knobs with each matrix\n\
  -refuse         only a source that no compiler takes\n\n";

#include "spmvtest.h"
#include "device/ondevice.h"

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

static PetscBool Quick, Default, Pairs, Everywhere;

/* Vectors of one case */
typedef struct {
  PetscScalar *x, *y, *y0, *first;
  long double *re, *im, *size;
  PetscInt    *length;
} Work;

static PetscErrorCode WorkCreate(PetscInt nx, PetscInt ny, PetscRandom rand, Work *w)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc4(nx, &w->x, ny, &w->y, ny, &w->y0, ny, &w->first));
  PetscCall(PetscMalloc4(ny, &w->re, ny, &w->im, ny, &w->size, ny, &w->length));
  for (PetscInt k = 0; k < nx; k++) { /* mixed signs and scales */
    PetscCall(PetscRandomGetValue(rand, &w->x[k]));
    w->x[k] *= PetscPowRealInt(10.0, (int)(k % 7) - 3);
  }
  for (PetscInt k = 0; k < ny; k++) PetscCall(PetscRandomGetValue(rand, &w->y0[k]));
  PetscFunctionReturn(0);
}

static PetscErrorCode WorkDestroy(Work *w)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(w->x, w->y, w->y0, w->first));
  PetscCall(PetscFree4(w->re, w->im, w->size, w->length));
  PetscFunctionReturn(0);
}

/* False if a plan adds atomically, in no order, so that the last bits may be others each time */
static PetscBool IsExact(const SpmvFormat *f, const SpmvPlan *plan)
{
  const SpmvSide *side = &f->device->side;

  for (PetscInt k = 0; k < side->nparams; k++) {
    const SpmvParam *param = &side->params[k];

    for (PetscInt c = 0; param->names && c < param->count; c++) {
      if (plan->value[k] == param->choices[c] && !strcmp(param->names[c], "atomic")) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* Products with beta 0 (over NaN) and 1; twice, for the same bits if they are exact */
static PetscErrorCode Check(const SpmvCSR *csr, SpmvOnDevice *on, PetscBool exact, PetscRandom rand, PetscInt *wrong)
{
  PetscBool nomem;
  Work      w;

  PetscFunctionBegin;
  PetscCall(WorkCreate(csr->n, csr->m, rand, &w));
  for (int beta = 0; beta < 2; beta++) {
    SpmvTestReference(csr, PETSC_FALSE, w.x, beta ? w.y0 : NULL, w.re, w.im, w.size, w.length);
    for (int again = 0; again < (Quick ? 1 : 2); again++) {
      for (PetscInt k = 0; k < csr->m; k++) w.y[k] = beta ? w.y0[k] : (PetscScalar)NAN;
      PetscCall(SpmvOnDeviceMultiply(on, w.x, NULL, w.y, NULL, (PetscBool)beta, &nomem));
      PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
      *wrong += SpmvTestCompare(csr->m, w.y, w.re, w.im, w.size, w.length);
      if (!again) PetscCall(PetscArraycpy(w.first, w.y, csr->m));
      else if (exact && memcmp(w.first, w.y, csr->m * sizeof(PetscScalar))) ++*wrong;
    }
  }
  PetscCall(WorkDestroy(&w));
  PetscFunctionReturn(0);
}

/* Inf in x reaches the rows that have an entry there and no others, which no format but bccoo, whose blocks have fill, may
   spoil */
static PetscErrorCode CheckInf(const SpmvFormat *f, const SpmvCSR *csr, SpmvOnDevice *on, PetscInt *wrong)
{
  PetscScalar *x, *y;
  PetscBool    nomem;

  PetscFunctionBegin;
  if (!csr->n || !strcmp(f->name, "bccoo")) PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(csr->n, &x, csr->m, &y));
  for (PetscInt k = 0; k < csr->n; k++) x[k] = k == csr->n / 3 || k == 0 ? (PetscScalar)INFINITY : 1;
  PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, PETSC_FALSE, &nomem));
  for (PetscInt r = 0; r < csr->m; r++) {
    PetscBool reached = PETSC_FALSE;

    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) reached = (PetscBool)(reached || csr->j[k] == csr->n / 3 || !csr->j[k]);
    *wrong += reached ? !PetscIsInfOrNanScalar(y[r]) : PetscIsInfOrNanScalar(y[r]);
  }
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(0);
}

/* What was sent is what a device reads: no array that is aside for the host only, or the host's */
static PetscErrorCode CheckHeld(const SpmvOnDevice *on, PetscLogDouble before, PetscInt *wrong)
{
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       n;
  PetscLogDouble bytes = 0;

  PetscFunctionBegin;
  PetscCall(on->format->device->side.arrays(on->storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++)
    bytes += arrays[k].aside && arrays[k].data && !arrays[k].sent ? 0 : (PetscLogDouble)arrays[k].count * arrays[k].size;
  for (PetscInt k = 0; k < on->product.nwork; k++) bytes += on->product.work[k].count;
  if (on->device->held - before != bytes) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the device holds %g bytes for %g\n", on->format->name,
                          (double)(on->device->held - before), (double)bytes));
    ++*wrong;
  }
  PetscFunctionReturn(0);
}

/* A plan that does not fit is no failure and says nothing; all other errors do */
static PetscErrorCode Handler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode ierr,
                              PetscErrorType type, const char *message, void *context)
{
  return ierr == PETSC_ERR_ARG_OUTOFRANGE ? ierr
                                          : PetscTraceBackErrorHandler(comm, line, function, file, ierr, type, message, context);
}

/* Build, products, new values, products */
static PetscErrorCode CheckPlan(const SpmvFormat *f, SpmvTestCSR *t, const SpmvPlan *asked, PetscInt threads, PetscRandom rand,
                                PetscInt *cases, PetscInt *wrong)
{
  const SpmvJointRows *joint = f->device->joint;
  SpmvCSR              csr   = SpmvTestCSRView(t);
  SpmvPlan             plan = *asked, host = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  SpmvDevice          *device;
  SpmvOnDevice        *on;
  PetscLogDouble       held;
  PetscErrorCode       ierr;
  PetscBool            nomem;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  held         = device->held;
  host.threads = threads;
  if (joint && plan.value[joint->parts] &&
      !plan.value[joint->powers]) { /* equal powers: what is measured is not the same each time */
    plan.value[joint->powers] = plan.value[joint->parts] + PetscMax(1, threads - 1);
    for (PetscInt k = 0; k < plan.value[joint->powers]; k++) plan.list[k] = 1;
  }
  PetscCall(PetscPushErrorHandler(Handler, NULL));
  ierr = SpmvOnDeviceCreate(device, f, &csr, &plan, &host, &on, &nomem);
  PetscCall(PetscPopErrorHandler());
  if (ierr == PETSC_ERR_ARG_OUTOFRANGE)
    PetscFunctionReturn(0); /* a plan that this matrix or device does not allow is refused, never bent */
  PetscCall(ierr);
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(CheckHeld(on, held, wrong));
  PetscCall(CheckInf(f, &csr, on, wrong));
  for (int values = 0; values < (Quick ? 1 : 2); values++) {
    PetscCall(Check(&csr, on, IsExact(f, &plan), rand, wrong));
    ++*cases;
    for (PetscInt k = 0; k < t->i[t->m]; k++) PetscCall(PetscRandomGetValue(rand, &t->a[k]));
    PetscCall(SpmvOnDeviceSetValues(on, &csr, &nomem));
  }
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscFunctionReturn(0);
}

/* Values of a knob that are tried; ranges and lists stay as they are */
static PetscInt Tried(const SpmvFormat *f, PetscInt k)
{
  const SpmvParam *param = &f->device->side.params[k];

  return param->choices ? param->count : 1;
}

static PetscErrorCode CheckChoices(const SpmvFormat *f, SpmvTestCSR *t, const char name[], const PetscInt index[],
                                   PetscRandom rand, PetscInt *cases, PetscInt *failures)
{
  const SpmvSide      *side  = &f->device->side;
  const SpmvJointRows *joint = f->device->joint;
  SpmvPlan             plan  = SpmvTestPlan(f, SPMV_BACKEND_DEVICE);
  PetscInt             wrong = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < side->nparams; k++) {
    if (side->params[k].choices) plan.value[k] = side->params[k].choices[index[k]];
  }
  PetscCall(CheckPlan(f, t, &plan, 1, rand, cases, &wrong));
  if (joint && plan.value[joint->parts])
    PetscCall(
      CheckPlan(f, t, &plan, 3, rand, cases, &wrong)); /* with threads of the host beside the one that drives the device */
  if (wrong) {
    ++*failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s:", f->name, name));
    for (PetscInt k = 0; k < side->nparams; k++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %s %" PetscInt_FMT, side->params[k].name, plan.value[k]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ": %" PetscInt_FMT " entries wrong\n", wrong));
  }
  PetscFunctionReturn(0);
}

/* One knob after the other at each of its values; with -plans each two knobs; some plans at random */
static PetscErrorCode CheckPlans(const SpmvFormat *f, SpmvTestCSR *t, const char name[], PetscInt nrandom, PetscRandom rand,
                                 PetscInt *cases, PetscInt *failures)
{
  const PetscInt nknobs                = f->device->side.nparams;
  PetscInt       index[SPMV_PARAM_MAX] = {0};

  PetscFunctionBegin;
  PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
  for (PetscInt p = 0; p < nknobs; p++) {
    for (index[p] = 1; index[p] < Tried(f, p); index[p]++) {
      if (SpmvTestSampled()) PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
      for (PetscInt q = 0; q < p && Pairs; q++) {
        for (index[q] = 1; index[q] < Tried(f, q); index[q]++) PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
        index[q] = 0;
      }
    }
    index[p] = 0;
  }
  for (PetscInt r = 0; r < nrandom; r++) {
    for (PetscInt k = 0; k < nknobs; k++) {
      PetscReal u;

      PetscCall(PetscRandomGetValueReal(rand, &u));
      index[k] = PetscMin((PetscInt)((u + 1) / 2 * Tried(f, k)), Tried(f, k) - 1);
    }
    if (SpmvTestSampled()) PetscCall(CheckChoices(f, t, name, index, rand, cases, failures));
  }
  PetscFunctionReturn(0);
}

/* m x n, each entry there with a probability; rows [empty0, empty1) without entries; row `full` complete */
typedef struct {
  const char *name;
  PetscInt    m, n;
  double      density;
  PetscInt    empty0, empty1, full;
  PetscBool   quick;   /* a simulator runs it as well */
  PetscInt    nrandom; /* plans at random, besides all values of all knobs; -1: the default plan only */
} Case;

static const Case Cases[] = {
  {"0 x 0", 0, 0, 0, 0, 0, -1, PETSC_TRUE, -1},
  {"0 rows", 0, 5, 0, 0, 0, -1, PETSC_TRUE, -1},
  {"0 columns", 5, 0, 0, 0, 0, -1, PETSC_TRUE, -1},
  {"1 x 1", 1, 1, 1, 0, 0, -1, PETSC_TRUE, -1},
  {"1 row", 1, 37, 0.5, 0, 0, 0, PETSC_TRUE, -1},
  {"1 column", 37, 1, 0.5, 0, 0, -1, PETSC_FALSE, -1},
  {"no entries", 9, 9, 0, 0, 0, -1, PETSC_TRUE, -1},
  {"leading empty rows", 40, 30, 0.2, 0, 17, -1, PETSC_TRUE, -1},
  {"trailing empty rows", 40, 30, 0.2, 23, 40, -1, PETSC_FALSE, -1},
  {"dense 17 x 19", 17, 19, 1, 0, 0, -1, PETSC_FALSE, -1},
  {"a tile less one", 1, 1023, 1, 0, 0, -1, PETSC_FALSE, -1},
  {"a tile", 1, 1024, 1, 0, 0, -1, PETSC_FALSE, -1},
  {"a tile and one", 1, 1025, 1, 0, 0, -1, PETSC_FALSE, -1},
  {"rows across work groups", 3, 5000, 0.9, 0, 0, 1, PETSC_TRUE, -1},
  {"diagonal", 1500, 1500, 0, 0, 0, -2, PETSC_FALSE, -1},
  {"some work groups", 300, 300, 0.04, 7, 9, 150, PETSC_TRUE, 12},
  {"empty columns", 30, 2000, 0.004, 3, 4, -1, PETSC_FALSE, 0},
  {"far apart", 40, 70000, 0.0005, 3, 4, -1, PETSC_FALSE, -1},
};

static PetscErrorCode CaseCreate(const Case *c, PetscRandom rand, SpmvTestCSR *t)
{
  PetscScalar *dense;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(c->m * c->n, &dense));
  for (PetscInt r = 0; r < c->m; r++) {
    for (PetscInt k = 0; k < c->n; k++) {
      PetscReal   u;
      PetscScalar v;

      PetscCall(PetscRandomGetValueReal(rand, &u));
      PetscCall(PetscRandomGetValue(rand, &v));
      if ((u + 1) / 2 < c->density || r == c->full || (c->full == -2 && r == k)) dense[r * c->n + k] = v;
      if (r >= c->empty0 && r < c->empty1) dense[r * c->n + k] = 0;
    }
  }
  PetscCall(SpmvTestCSRFromDense(c->m, c->n, dense, t));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  SpmvDevice *device;
  char        only[64] = "";
  PetscInt    failures = 0;
  PetscBool   refuse, known = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", only, sizeof(only), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-quick", &Quick));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-default", &Default));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-plans", &Pairs));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-everywhere", &Everywhere));
  PetscCall(SpmvDeviceGet(&device));
  if (!device) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: there is no device; install pocl-opencl-icd\n"));
    PetscCall(PetscFinalize());
    return 0;
  }
  /* PoCL and Oclgrind run work groups to their end, each by a thread of the system: who waits for one that started waits for one
     that goes on */
  device->info.forward = PETSC_TRUE;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refuse", &refuse));
  if (refuse) {
    void *program;

    PetscCall(SpmvProgramGet(device, "KERNEL(1)\nvoid wrong(GLOBAL int *x)\n{\n  x[0] = nobody_knows_this;\n}\n", "-DHEIGHT=1",
                             &program));
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, -1, 1));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    PetscInt cases = 0;

    if (only[0] && strcmp(only, Formats[f]->name)) continue;
    known = PETSC_TRUE;
    if (!Formats[f]->device) {
      if (only[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: format %s has no kernels for devices\n", only));
      continue;
    }
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); c++) {
      PetscInt    index[SPMV_PARAM_MAX] = {0};
      SpmvTestCSR t;

      if (Quick && !Cases[c].quick) continue;
      PetscCall(CaseCreate(&Cases[c], rand, &t));
      if (Default || (Cases[c].nrandom < 0 && !Everywhere))
        PetscCall(CheckChoices(Formats[f], &t, Cases[c].name, index, rand, &cases, &failures));
      else PetscCall(CheckPlans(Formats[f], &t, Cases[c].name, Quick ? 0 : Cases[c].nrandom, rand, &cases, &failures));
      PetscCall(SpmvTestCSRDestroy(&t));
    }
    PetscCheck(cases > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no case of %s ran", Formats[f]->name);
  }
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "-format %s is none; leave it out for all", only);
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " plans wrong\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test:
    timeoutfactor: 5
    args: -spmv_device_cache none -sample 24

  test: # the kernels of some 80 plans are compiled
    suffix: long
    output_file: output/format_device.out
    timeoutfactor: 10
    args: -spmv_device_cache none

TEST*/
