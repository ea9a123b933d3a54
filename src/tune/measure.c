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

/* The least time of a product by a storage, or, without a kernel, by AIJ's */
static PetscErrorCode MeasureProducts(SpmvSearch *search, SpmvApplyFn *apply, const void *storage, PetscLogDouble *least)
{
  const SpmvCSR *csr = search->sample.all;

  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < MEASURE_PRODUCTS; k++) {
    PetscLogDouble start, end;

    PetscCall(PetscTime(&start));
    if (apply) SpmvApply(apply, storage, csr->i[csr->m], search->x, search->y, PETSC_FALSE);
    else PetscCall((*search->baseline)(search->context));
    PetscCall(PetscTime(&end));
    if (k) *least = PetscMin(*least, PetscMax(end - start, 1e-9));
  }
  search->choice->products += MEASURE_PRODUCTS;
  search->choice->measured++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds an option, runs it, and destroys it */
static PetscErrorCode MeasureOption(SpmvSearch *search, SpmvOption *option)
{
  const SpmvFormat  *format  = SpmvCandidate[option->number];
  const SpmvKernels *kernels = NULL;
  SpmvPlan           plan    = option->plan;
  PetscLogDouble     start, end;
  SPMV_DESTROY_BY(SpmvOwnedDestroy)
  SpmvOwned own = {.side = &format->host->side};

  PetscFunctionBegin;
  if (format->host->kernels) {
    PetscCall(SpmvKernelsGet(format, search->request->isa, &kernels));
    PetscCall(PetscTime(&start));
    PetscCall(SpmvBuild(&format->host->side, search->sample.all, NULL, &plan, &own.storage));
    PetscCall(PetscTime(&end));
    option->build = end - start;
  }
  PetscCall(MeasureProducts(search, kernels ? kernels->apply : NULL, own.storage, &option->measured));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the option of least estimated cost that was not yet measured, if there is time for it */
static PetscErrorCode MeasureNext(SpmvSearch *search, PetscBool *more)
{
  const SpmvRequest *q     = search->request;
  const PetscBool    model = (PetscBool)(q->kind != SPMV_TUNE_PATIENT && !(q->skipped >> SPMV_HEURISTIC_MODEL & 1));
  PetscLogDouble     least = PETSC_MAX_REAL, now;
  SpmvOption        *next  = NULL;

  PetscFunctionBegin;
  *more = PETSC_FALSE;
  for (SpmvOption *o = search->option; o < search->option + search->n; o++) {
    least = PetscMin(least, o->predicted);
    if (o->measured <= 0 && (!next || SpmvOptionCost(q, o) < SpmvOptionCost(q, next))) next = o;
  }
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  if (model && (search->choice->measured > MEASURE_OPTIONS || next->predicted > MEASURE_FACTOR * least))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  *more = (PetscBool)(now - search->start + next->build + MEASURE_PRODUCTS * next->predicted <= q->seconds);
  if (*more) PetscCall(MeasureOption(search, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what is around the best measured option of a candidate, if there is one */
static PetscErrorCode MeasureAround(SpmvSearch *search, PetscInt number)
{
  const SpmvOption *best = NULL;

  PetscFunctionBegin;
  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->number != number || o->measured <= 0) continue;
    if (!best || SpmvOptionCost(search->request, o) < SpmvOptionCost(search->request, best)) best = o;
  }
  if (best) PetscCall(SpmvSearchAround(search, number, &best->plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Measures options, AIJ's kernel first, then by the model's order. On entry the list has the formats' own plans. SPMV_TUNE_MEASURE
  measures what the heuristics leave, SPMV_TUNE_PATIENT goes on from the best of each format, one knob after the other, until
  nothing is new
*/
PetscErrorCode SpmvMeasure(SpmvSearch *search)
{
  const SpmvCSR *csr = search->sample.all;
  PetscInt       before;
  PetscLogDouble end;
  PetscBool      more;

  PetscFunctionBegin;
  PetscCall(PetscTime(&search->start));
  PetscCall(PetscMalloc2(csr->n, &search->x, csr->m, &search->y));
  for (PetscInt k = 0; k < csr->n; k++) search->x[k] = 1;
  for (PetscInt k = 0; k < search->n; k++) {
    if (search->option[k].number == SPMV_NUMBER_AIJ) PetscCall(MeasureOption(search, &search->option[k]));
  }
  PetscCall(SpmvSearchAll(search));
  do {
    before = search->n;
    for (more = PETSC_TRUE; more;) PetscCall(MeasureNext(search, &more));
    for (PetscInt k = 0; search->request->kind == SPMV_TUNE_PATIENT && k < SPMV_CANDIDATES; k++)
      PetscCall(MeasureAround(search, k));
    PetscCall(PetscTime(&end));
  } while (search->n > before && end - search->start < search->request->seconds);
  search->choice->seconds = end - search->start;
  PetscFunctionReturn(PETSC_SUCCESS);
}
