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
static PetscErrorCode MeasureNext(Measurement *w, SpmvOptions *options, PetscBool model, PetscBool *more)
{
  PetscInt       next  = -1;
  PetscLogDouble least = PETSC_MAX_REAL, now;
  SpmvOption    *o;

  PetscFunctionBegin;
  *more = PETSC_FALSE;
  for (PetscInt k = 0; k < options->n; k++) {
    o     = &options->of[k];
    least = PetscMin(least, o->predicted);
    if (o->measured <= 0 && !o->passed && (next < 0 || SpmvOptionCost(w->q, o) < SpmvOptionCost(w->q, &options->of[next])))
      next = k;
  }
  if (next < 0) PetscFunctionReturn(PETSC_SUCCESS);
  o = &options->of[next];
  PetscCall(PetscTime(&now));
  if (now - w->start + o->build + MEASURE_PRODUCTS * o->predicted > w->q->seconds) PetscFunctionReturn(PETSC_SUCCESS);
  if (model && (w->choice->measured > MEASURE_OPTIONS || o->predicted > MEASURE_FACTOR * least))
    PetscFunctionReturn(PETSC_SUCCESS);
  o->passed = PETSC_TRUE;
  PetscCall(MeasureOption(w, o));
  *more = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best measured option of a candidate; NULL if there is none */
static const SpmvOption *MeasureBest(const SpmvRequest *q, const SpmvOptions *options, PetscInt number)
{
  const SpmvOption *best = NULL;

  for (PetscInt k = 0; k < options->n; k++) {
    const SpmvOption *o = &options->of[k];

    if (o->number == number && o->measured > 0 && (!best || SpmvOptionCost(q, o) < SpmvOptionCost(q, best))) best = o;
  }
  return best;
}

/*
  SpmvMeasure - measures options, AIJ's kernel first, then by the model's order

  Input/Output Parameters:
+ options - on entry the candidates as their formats have them; on return all that were looked at
- choice  - products, measured and seconds are set

  Notes:
  SPMV_TUNE_MEASURE looks at the options that the heuristics leave. SPMV_TUNE_PATIENT goes on from the best of each format, one knob
  after the other, until nothing is new.
*/
PetscErrorCode SpmvMeasure(const SpmvRequest *q, SpmvSample *sample, const SpmvMachine *machine, SpmvOptions *options,
                           SpmvBaselineFn *baseline, void *context, SpmvChoice *choice)
{
  const PetscBool patient = (PetscBool)(q->kind == SPMV_TUNE_PATIENT),
                  model   = (PetscBool)(!patient && !(q->skipped >> SPMV_HEURISTIC_MODEL & 1));
  const PetscInt given    = options->n;
  PetscInt       before;
  Measurement    w = {.q = q, .csr = sample->all, .baseline = baseline, .context = context, .choice = choice};
  PetscLogDouble end;
  PetscBool      more = PETSC_TRUE;

  SPMV_TEMPORARY PetscScalar *x = NULL, *y = NULL;

  PetscFunctionBegin;
  PetscCall(PetscTime(&w.start));
  PetscCall(PetscMalloc1(w.csr->n, &x));
  PetscCall(PetscMalloc1(w.csr->m, &y));
  w.x = x;
  w.y = y;
  for (PetscInt k = 0; k < w.csr->n; k++) x[k] = 1;
  for (PetscInt k = 0; k < given; k++) {
    if (options->of[k].number != SPMV_NUMBER_AIJ) continue;
    options->of[k].passed = PETSC_TRUE;
    PetscCall(MeasureOption(&w, &options->of[k]));
  }
  PetscCall(SpmvSearchAll(q, sample, machine, options));
  do {
    before = options->n;
    while (more) PetscCall(MeasureNext(&w, options, model, &more));
    for (PetscInt k = 0; patient && k < SPMV_CANDIDATES; k++) {
      const SpmvOption *best = MeasureBest(q, options, k);
      SpmvOption        centre;

      if (!best) continue;
      centre = *best; /* the list moves as it grows */
      PetscCall(SpmvSearchAround(q, sample, machine, &centre, options));
    }
    more = PETSC_TRUE;
    PetscCall(PetscTime(&end));
  } while (options->n > before && end - w.start < q->seconds);
  PetscCall(PetscTime(&end));
  choice->seconds = end - w.start;
  PetscFunctionReturn(PETSC_SUCCESS);
}
