/*
  measure.c - builds options and runs them, the likeliest first

  A product is timed alone, and the least of a few counts, since noise only adds. What building takes is timed as well, and all of
  it counts against -mat_spmv_tune_seconds: nothing is begun that would not end in time. On a device compiling counts, too; programs
  that were compiled before, for another plan, another matrix, or by an earlier run, are taken again.
*/
#include "tune.h"
#include "../device/device.h"
#include <petsctime.h>

static PetscErrorCode (*MeasureClock)(PetscLogDouble *seconds);

/* Seconds since some time */
static PetscErrorCode MeasureTime(PetscLogDouble *seconds)
{
  PetscFunctionBegin;
  if (MeasureClock) PetscCall((*MeasureClock)(seconds));
  else PetscCall(PetscTime(seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For tests: another clock; NULL: the system's */
void SpmvMeasureBy(PetscErrorCode (*clock)(PetscLogDouble *seconds))
{
  MeasureClock = clock;
}

#define MEASURE_OPTIONS  6   /* options measured besides AIJ's kernel, at most, and ... */
#define MEASURE_FACTOR   2.0 /* ... how much slower than the least one may be estimated */
#define MEASURE_NEAR     1.5 /* of the least: what is measured to take more on a device leads nowhere */
#define MEASURE_DEVICE   96  /* of a device, whose estimates are worse; the paper runs 28 in the mean, of one format */
#define MEASURE_AGAIN    6   /* of least time, that are measured again at the end */
#define MEASURE_PRODUCTS 7   /* of each, at least; the first brings things into cache and is not timed */

/* The least time of a product by a storage, or, without a kernel, by AIJ's */
static PetscErrorCode MeasureProducts(SpmvSearch *search, SpmvApplyFn *apply, const void *storage, PetscLogDouble *least)
{
  const SpmvCSR *csr = search->sample.all;

  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < MEASURE_PRODUCTS; k++) {
    PetscLogDouble start, end;

    PetscCall(MeasureTime(&start));
    if (apply) SpmvApply(apply, storage, csr->i[csr->m], search->x, search->y, PETSC_FALSE);
    else PetscCall((*search->baseline)(search->context));
    PetscCall(MeasureTime(&end));
    if (k) *least = PetscMin(*least, PetscMax(end - start, 1e-9));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds an option of the host, runs it, and destroys it */
static PetscErrorCode MeasureHost(SpmvSearch *search, SpmvOption *option)
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
    PetscCall(MeasureTime(&start));
    PetscCall(SpmvBuild(&format->host->side, search->sample.all, NULL, &plan, &own.storage));
    PetscCall(MeasureTime(&end));
    option->build = end - start;
  }
  PetscCall(MeasureProducts(search, kernels ? kernels->apply : NULL, own.storage, &option->measured));
  search->choice->products += MEASURE_PRODUCTS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of the device; one that it has no room for takes forever */
static PetscErrorCode MeasureDevice(SpmvSearch *search, SpmvOption *option)
{
  const SpmvTarget *target   = search->sample.target;
  PetscLogDouble    compiled = SpmvPrograms[SPMV_COMPILED], reused = SpmvPrograms[SPMV_LOADED] + SpmvPrograms[SPMV_FOUND];
  SpmvTrial         trial;

  PetscFunctionBegin;
  PetscCall(target->attempt(target, SpmvCandidate[option->number], search->sample.all, &option->plan,
                            &search->request->host[option->number], MEASURE_PRODUCTS, &trial));
  option->measured = trial.nomem ? PETSC_MAX_REAL : trial.product + search->moving;
  option->build    = trial.build;
  search->choice->products += trial.products;
  for (PetscInt k = 0; k < search->n; k++) {
    const SpmvOption *o = &search->option[k];

    if (o->number == option->number && o->plan.backend == SPMV_BACKEND_DEVICE && o->measured > 0 &&
        o->measured < option->measured)
      PetscFunctionReturn(PETSC_SUCCESS); /* another one of the format tells more */
  }
  search->off[option->number] = trial.nomem ? PETSC_MAX_REAL / 1e30 : option->measured / option->predicted;
  search->choice->compiled += (PetscInt)(SpmvPrograms[SPMV_COMPILED] - compiled);
  search->choice->reused += (PetscInt)(SpmvPrograms[SPMV_LOADED] + SpmvPrograms[SPMV_FOUND] - reused);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureOption(SpmvSearch *search, SpmvOption *option)
{
  char text[1024] = "";

  PetscFunctionBegin;
  PetscCall((option->plan.backend == SPMV_BACKEND_DEVICE ? MeasureDevice : MeasureHost)(search, option));
  search->choice->measured++;
  PetscCall(SpmvOptionText(option, text, sizeof(text)));
  PetscCall(PetscInfo(NULL, "Measured: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What is expected of an option: its estimate. On a device, of which less is known, it goes by how far off the estimate was of the
  format's best plan so far; before the first one it is 0, so that each format is measured once
*/
static PetscLogDouble MeasureExpected(const SpmvSearch *search, const SpmvOption *o)
{
  return o->plan.backend == SPMV_BACKEND_DEVICE ? search->off[o->number] * o->predicted : o->predicted;
}

/* True if an option is not likely to be worth measuring; least: what is expected of the best of its backend */
static PetscBool MeasureIsFar(const SpmvSearch *search, const SpmvOption *o, PetscLogDouble least)
{
  const SpmvRequest *q      = search->request;
  const PetscBool    device = (PetscBool)(o->plan.backend == SPMV_BACKEND_DEVICE);

  if (q->kind == SPMV_TUNE_PATIENT || q->skipped >> SPMV_HEURISTIC_MODEL & 1) return PETSC_FALSE;
  if (search->measured[o->plan.backend] >= (device ? MEASURE_DEVICE : MEASURE_OPTIONS)) return PETSC_TRUE;
  return (PetscBool)(MeasureExpected(search, o) > MEASURE_FACTOR * least);
}

/* The least that was measured of a backend */
static PetscLogDouble MeasureLeast(const SpmvSearch *search, PetscInt backend)
{
  PetscLogDouble least = PETSC_MAX_REAL;

  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->plan.backend == backend && o->measured > 0) least = PetscMin(least, o->measured);
  }
  return least;
}

/* Measures the option of least estimated cost that was not yet measured, if there is time for it; measured: its number, or -1 */
static PetscErrorCode MeasureNext(SpmvSearch *search, PetscInt *measured)
{
  const SpmvRequest *q        = search->request;
  PetscLogDouble     least[2] = {PETSC_MAX_REAL, MeasureLeast(search, SPMV_BACKEND_DEVICE)}, before = 0, now, needs;
  SpmvOption        *next = NULL;

  PetscFunctionBegin;
  *measured = -1;
  for (PetscInt k = 0; k < search->n; k++) {
    const SpmvOption *o = &search->option[k];

    if (o->plan.backend == SPMV_BACKEND_HOST) least[0] = PetscMin(least[0], o->predicted);
  }
  for (SpmvOption *o = search->option; o < search->option + search->n; o++) {
    PetscLogDouble cost;

    if (o->measured > 0 || MeasureIsFar(search, o, least[o->plan.backend])) continue;
    cost = MeasureExpected(search, o) + (q->calls > 0 ? o->build / q->calls : 0);
    if (!next || cost < before) {
      next   = o;
      before = cost;
    }
  }
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  needs = next->build + MEASURE_PRODUCTS * next->predicted;
  if (next->plan.backend == SPMV_BACKEND_DEVICE) needs += search->sample.target->rates.compile;
  PetscCall(MeasureTime(&now));
  if (now - search->start + needs > q->seconds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MeasureOption(search, next));
  search->measured[next->plan.backend]++;
  *measured = (PetscInt)(next - search->option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what is around the best measured option of a candidate and a backend, if there is one */
static PetscErrorCode MeasureAround(SpmvSearch *search, PetscInt number, PetscInt backend)
{
  const SpmvOption *best = NULL;

  PetscFunctionBegin;
  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->number != number || o->plan.backend != backend || o->measured <= 0) continue;
    if (!best || SpmvOptionCost(search->request, o) < SpmvOptionCost(search->request, best)) best = o;
  }
  if (best && best->number != SPMV_NUMBER_AIJ) PetscCall(SpmvSearchAround(search, best->number, &best->plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds what is around an option measured on a device, if it is the best of its shape so far and not far from the best of all */
static PetscErrorCode MeasureLead(SpmvSearch *search, const SpmvOption *o)
{
  const SpmvPlan plan = o->plan; /* the list moves as it grows */

  PetscFunctionBegin;
  if (o->plan.backend != SPMV_BACKEND_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  if (o->measured > MEASURE_NEAR * MeasureLeast(search, SPMV_BACKEND_DEVICE)) PetscFunctionReturn(PETSC_SUCCESS);
  for (const SpmvOption *other = search->option; other < search->option + search->n; other++) {
    if (other != o && SpmvSearchSameShape(o, other) && other->measured > 0 && other->measured <= o->measured)
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvSearchAround(search, o->number, &plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device's measured option of least time that is not among n others; NULL: there is none */
static SpmvOption *MeasureBest(const SpmvSearch *search, PetscInt n, SpmvOption *const others[])
{
  SpmvOption *best = NULL;

  for (SpmvOption *o = search->option; o < search->option + search->n; o++) {
    PetscInt k = 0;

    while (k < n && others[k] != o) k++;
    if (k < n || o->plan.backend != SPMV_BACKEND_DEVICE || o->measured <= 0) continue;
    if (!best || o->measured < best->measured) best = o;
  }
  return best;
}

/*
  Measures the best options of a device again, one right after the other: what slows a machine down for a while slows down some
  options and not others, unless they are so near. The best of them keeps the least time that was seen, the others have it times
  how much slower they were now
*/
static PetscErrorCode MeasureAgain(SpmvSearch *search)
{
  const SpmvTarget *target = search->sample.target;
  SpmvOption       *option[MEASURE_AGAIN];
  PetscLogDouble    again[MEASURE_AGAIN], least = PETSC_MAX_REAL, now;
  PetscInt          n = 0, m = 0;

  PetscFunctionBegin;
  while (n < MEASURE_AGAIN && (option[n] = MeasureBest(search, n, option))) n++;
  for (; m < n; m++) {
    SpmvOption *o = option[m];
    SpmvTrial   trial;

    PetscCall(MeasureTime(&now));
    if (now - search->start + o->build + MEASURE_PRODUCTS * o->measured > search->request->seconds) break;
    PetscCall(target->attempt(target, SpmvCandidate[o->number], search->sample.all, &o->plan, &search->request->host[o->number],
                              MEASURE_PRODUCTS, &trial));
    search->choice->products += trial.products;
    search->choice->measured++;
    again[m] = trial.nomem ? PETSC_MAX_REAL : trial.product + search->moving;
    least    = PetscMin(least, again[m]);
  }
  if (m < n || !n || least == PETSC_MAX_REAL) PetscFunctionReturn(PETSC_SUCCESS); /* there was no time for all */
  for (PetscInt k = n - 1; k >= 0; k--) /* the first one's time is asked for until the end */
    option[k]->measured = PetscMin(PETSC_MAX_REAL / 2, option[0]->measured * (again[k] / least));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Measures options, AIJ's kernel first, then by the model's order. On entry the list has the formats' own plans. SPMV_TUNE_MEASURE
  measures what the heuristics leave, and on a device what they leave around each plan that leads, as soon as it does;
  SPMV_TUNE_PATIENT goes on from the best of each format. Both go one knob after the other, until nothing is new
*/
PetscErrorCode SpmvMeasure(SpmvSearch *search)
{
  const SpmvCSR *csr = search->sample.all;
  PetscInt       before, measured;
  PetscLogDouble end;

  PetscFunctionBegin;
  PetscCall(MeasureTime(&search->start));
  PetscCall(PetscMalloc2(csr->n, &search->x, csr->m, &search->y));
  for (PetscInt k = 0; k < csr->n; k++) search->x[k] = 1;
  for (PetscInt k = 0; k < search->n; k++) {
    if (search->option[k].number == SPMV_NUMBER_AIJ) PetscCall(MeasureOption(search, &search->option[k]));
  }
  PetscCall(SpmvSearchAll(search));
  do {
    before = search->n;
    do {
      PetscCall(MeasureNext(search, &measured));
      if (measured >= 0 && search->request->kind == SPMV_TUNE_MEASURE) PetscCall(MeasureLead(search, &search->option[measured]));
    } while (measured >= 0);
    for (PetscInt k = 0; search->request->kind == SPMV_TUNE_PATIENT && k < SPMV_CANDIDATES; k++) {
      PetscCall(MeasureAround(search, k, SPMV_BACKEND_HOST));
      PetscCall(MeasureAround(search, k, SPMV_BACKEND_DEVICE));
    }
    PetscCall(MeasureTime(&end));
  } while (search->n > before && end - search->start < search->request->seconds);
  PetscCall(MeasureAgain(search));
  PetscCall(MeasureTime(&end));
  search->choice->seconds = end - search->start;
  PetscFunctionReturn(PETSC_SUCCESS);
}
