/*
  measure.c - builds options and runs them, the likeliest first

  A product is timed alone, and the least of a few counts, since noise only adds. What building takes is timed as well, and all of
  it counts against -mat_spmv_tune_seconds: nothing is begun that would not end in time.
*/
#include "tune.h"
#include <petsctime.h>

#define MEASURE_OPTIONS  6   /* options measured besides AIJ's kernel, at most, and ... */
#define MEASURE_FACTOR   2.0 /* ... how much slower than the least one may be estimated */
#define MEASURE_PRODUCTS 7   /* of each; the first brings things into cache and is not timed */

typedef struct {
  const SpmvRequest *q;
  SpmvSearch        *search;
  const SpmvCSR     *csr;
  SpmvBaselineFn    *baseline;
  void              *context;
  PetscScalar       *x, *y; /* [n], [m] */
  PetscLogDouble     start;
  SpmvChoice        *choice;
} Measurement;

static PetscErrorCode MeasureProducts(Measurement *w, SpmvApplyFn *apply, const void *storage, PetscLogDouble *least)
{
  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < MEASURE_PRODUCTS; k++) {
    PetscLogDouble start, end;

    PetscCall(PetscTime(&start));
    if (apply) SpmvApply(apply, storage, w->csr->i[w->csr->m], w->x, w->y, PETSC_FALSE);
    else PetscCall((*w->baseline)(w->context));
    PetscCall(PetscTime(&end));
    if (k) *least = PetscMin(*least, PetscMax(end - start, 1e-9));
  }
  w->choice->products += MEASURE_PRODUCTS;
  w->choice->measured++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds an option, runs it, and destroys it */
static PetscErrorCode MeasureOption(Measurement *w, SpmvOption *option)
{
  const SpmvFormat  *format = SpmvCandidate[option->number];
  const SpmvKernels *kernels;
  SpmvIsa            isa;
  SpmvPlan           plan = option->plan;
  void              *storage;
  PetscLogDouble     start, end;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  if (!format->host->kernels) {
    PetscCall(MeasureProducts(w, NULL, NULL, &option->measured));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvKernelsGet(format, w->q->isa, &kernels, &isa));
  PetscCall(PetscTime(&start));
  PetscCall(SpmvBuild(&format->host->side, w->csr, NULL, &plan, &storage));
  PetscCall(PetscTime(&end));
  option->build = end - start;
  ierr          = MeasureProducts(w, kernels->apply, storage, &option->measured);
  PetscCall(format->host->side.destroy(&storage));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the option of least estimated cost that was not yet, if there is time for it */
static PetscErrorCode MeasureNext(Measurement *w, PetscBool *more)
{
  const SpmvRequest *q     = w->q;
  const PetscBool    model = (PetscBool)(q->kind != SPMV_TUNE_PATIENT && !(q->skipped >> SPMV_HEURISTIC_MODEL & 1));
  PetscLogDouble     least = PETSC_MAX_REAL, now;
  SpmvOption        *next  = NULL;

  PetscFunctionBegin;
  *more = PETSC_FALSE;
  for (SpmvOption *o = w->search->option; o < w->search->option + w->search->n; o++) {
    least = PetscMin(least, o->predicted);
    if (o->measured <= 0 && (!next || SpmvOptionCost(q, o) < SpmvOptionCost(q, next))) next = o;
  }
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  if (now - w->start + next->build + MEASURE_PRODUCTS * next->predicted > q->seconds) PetscFunctionReturn(PETSC_SUCCESS);
  if (model && (w->choice->measured > MEASURE_OPTIONS || next->predicted > MEASURE_FACTOR * least))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MeasureOption(w, next));
  *more = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what is around the best measured option of a candidate, if there is one */
static PetscErrorCode MeasureAround(Measurement *w, PetscInt number)
{
  const SpmvOption *best = NULL;

  PetscFunctionBegin;
  for (const SpmvOption *o = w->search->option; o < w->search->option + w->search->n; o++) {
    if (o->number == number && o->measured > 0 && (!best || SpmvOptionCost(w->q, o) < SpmvOptionCost(w->q, best))) best = o;
  }
  if (best) PetscCall(SpmvSearchAround(w->search, number, &best->plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvMeasure - measures options, AIJ's kernel first, then by the model's order

  Input/Output Parameters:
+ search - on entry the candidates as their formats have them; on return all that were looked at
- choice - products, measured and seconds are set

  Notes:
  SPMV_TUNE_MEASURE looks at the options that the heuristics leave. SPMV_TUNE_PATIENT goes on from the best of each format, one knob
  after the other, until nothing is new.
*/
PetscErrorCode SpmvMeasure(SpmvSearch *search, SpmvBaselineFn *baseline, void *context, SpmvChoice *choice)
{
  const SpmvRequest *q   = search->request;
  const SpmvCSR     *csr = search->sample.all;
  PetscInt           before;
  PetscLogDouble     end;
  PetscBool          more;

  SPMV_TEMPORARY PetscScalar *x = NULL, *y = NULL;
  Measurement w = {.q = q, .search = search, .csr = csr, .baseline = baseline, .context = context, .choice = choice};

  PetscFunctionBegin;
  PetscCall(PetscTime(&w.start));
  PetscCall(PetscMalloc1(csr->n, &x));
  PetscCall(PetscMalloc1(csr->m, &y));
  w.x = x;
  w.y = y;
  for (PetscInt k = 0; k < csr->n; k++) x[k] = 1;
  for (PetscInt k = 0; k < search->n; k++) {
    if (search->option[k].number == SPMV_NUMBER_AIJ) PetscCall(MeasureOption(&w, &search->option[k]));
  }
  PetscCall(SpmvSearchAll(search));
  do {
    before = search->n;
    do PetscCall(MeasureNext(&w, &more));
    while (more);
    for (PetscInt k = 0; q->kind == SPMV_TUNE_PATIENT && k < SPMV_CANDIDATES; k++) PetscCall(MeasureAround(&w, k));
    PetscCall(PetscTime(&end));
  } while (search->n > before && end - w.start < q->seconds);
  choice->seconds = end - w.start;
  PetscFunctionReturn(PETSC_SUCCESS);
}
