/*
  measure.c - which options are built and run, the likeliest first

  What building takes is timed as well, and all of it counts against -mat_spmv_tune_seconds: nothing is begun that would not end
  in time. On a device compiling counts, too; programs that were compiled before, for another plan, another matrix, or by an
  earlier run, are taken again.
*/
#include "tune.h"
#include "../host/machine.h"
#include <petsctime.h>

static PetscErrorCode (*MeasureClock)(PetscLogDouble *seconds);

/* Seconds since some time, by the clock that is measured with */
PetscErrorCode SpmvMeasureTime(PetscLogDouble *seconds)
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

/*
  Of the host and of a device, whose estimates are worse; the paper measures 28 options in the mean, of one format. On the host,
  of 238 finite element matrices the fastest of the formats measured has 0.998 of the speed of the fastest of all, at least 0.88:
  1.9 in the mean. With a factor of 1.15 that is 0.996 and 0.82 by 1.75, with 1.3 0.999 and 0.89 by 2.15 (Granite Rapids, in
  cache)
*/
static const struct {
  PetscInt       options; /* that are measured besides AIJ's kernel, at most */
  PetscLogDouble factor;  /* how much slower than the least one may be expected */
} MeasureLimits[] = {[SPMV_BACKEND_HOST] = {3, 1.2}, [SPMV_BACKEND_DEVICE] = {192, 2}};

#define MEASURE_NEAR 1.5 /* of the least: what is measured to take more on a device leads nowhere */
#define MEASURE_HELD 2   /* times more or less than a last cache is counted on for: it may be there or not */
#define MEASURE_SAFE 2   /* AIJ's kernel is measured if its estimate is less than so many times the least */

/* SpmvMeasureCost - what the best option that was measured costs */
PetscLogDouble SpmvMeasureCost(const SpmvSearch *search)
{
  PetscLogDouble least = PETSC_MAX_REAL;

  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->measured > 0) least = PetscMin(least, SpmvOptionCost(search->request, o));
  }
  return least;
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

/* Builds an option and runs it, which corrects what is expected of the format's others */
static PetscErrorCode MeasureOption(SpmvSearch *search, SpmvOption *option)
{
  const PetscInt backend    = option->plan.backend;
  char           text[1024] = "";
  PetscBool      best       = PETSC_TRUE; /* of its format and backend: it tells the most of the estimates of others */

  PetscFunctionBegin;
  if (backend == SPMV_BACKEND_DEVICE) PetscCall(SpmvMeasureDevice(search, option, &option->measured, &option->build));
  else PetscCall(SpmvMeasureHost(search, option));
  search->choice->measured++;
  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->number == option->number && o->plan.backend == backend && o->measured > 0 && o->measured < option->measured)
      best = PETSC_FALSE;
  }
  if (best) search->off[backend][option->number] = PetscMin(option->measured, PETSC_MAX_REAL / 1e30) / option->predicted;
  PetscCall(SpmvOptionText(option, text, sizeof(text)));
  PetscCall(PetscInfo(NULL, "Measured: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What is expected of an option: its estimate times how far off the estimate of the format's best plan was; before the first one
  0, so that each format is measured once
*/
static PetscLogDouble MeasureExpected(const SpmvSearch *search, const SpmvOption *o)
{
  return search->off[o->plan.backend][o->number] * o->predicted;
}

/* True if the model is followed and not every option is measured */
static PetscBool MeasureByModel(const SpmvRequest *q)
{
  return (PetscBool)(q->kind != SPMV_TUNE_PATIENT && !(q->skipped >> SPMV_HEURISTIC_MODEL & 1));
}

/*
  The least that an option on the host may take by its estimate. How much of a last cache that is shared over a mesh others leave
  differs from hour to hour: what is near that size may be there as a whole (quadratic elements of 9 million entries by `pmf`, 87
  MB: 1.9 times as fast as estimated, Granite Rapids)
*/
static PetscLogDouble MeasureAtBest(const SpmvOption *o)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble held = SpmvMachineHeld(), *byte = machine->byte + SPMV_LEVELS - 2;
  const PetscBool      near = (PetscBool)(o->bytes > held / MEASURE_HELD && o->bytes < held * MEASURE_HELD);

  return o->predicted * (machine->far > 0 && near ? byte[0] / byte[1] : 1);
}

/*
  True if an option is not likely to be worth measuring. Of a format of which nothing was measured: if another one's is estimated
  to be much faster; not on a device, of which less is known. Of others: if it is expected to be slower than what was measured.
  AIJ's kernel is what nothing may be slower than: it has to be estimated to cost much more than what was measured
*/
static PetscBool MeasureIsFar(const SpmvSearch *search, const SpmvOption *o, const PetscLogDouble predicted[2],
                              const PetscLogDouble measured[2])
{
  const PetscInt       backend  = o->plan.backend;
  const PetscLogDouble expected = MeasureExpected(search, o);

  if (o->number == SPMV_NUMBER_AIJ)
    return (PetscBool)(SpmvOptionCost(search->request, o) / MEASURE_SAFE > SpmvMeasureCost(search));
  if (search->measured[backend] >= MeasureLimits[backend].options) return PETSC_TRUE;
  if (expected > 0) return (PetscBool)(expected > MeasureLimits[backend].factor * measured[backend]);
  return (PetscBool)(backend == SPMV_BACKEND_HOST && MeasureAtBest(o) > MeasureLimits[backend].factor * predicted[backend]);
}

/* True if option a is to be measured before b: a format's first one, then what is expected to cost least */
static PetscBool MeasureBefore(const SpmvSearch *search, const SpmvOption *a, const SpmvOption *b)
{
  const PetscReal      calls    = search->request->calls;
  const PetscLogDouble first[2] = {MeasureExpected(search, a), MeasureExpected(search, b)};
  PetscLogDouble       cost[2];

  if ((first[0] > 0) != (first[1] > 0)) return (PetscBool)(first[1] > 0);
  for (int k = 0; k < 2; k++) {
    const SpmvOption *o = k ? b : a;

    cost[k] = (first[k] > 0 ? first[k] : o->predicted) + (calls > 0 ? o->build / calls : 0);
  }
  return (PetscBool)(cost[0] < cost[1]);
}

/* Measures the option that comes next, if there is one and time for it; measured: its number, or -1 */
static PetscErrorCode MeasureNext(SpmvSearch *search, PetscInt *measured)
{
  const SpmvRequest   *q            = search->request;
  const PetscLogDouble least[2]     = {MeasureLeast(search, SPMV_BACKEND_HOST), MeasureLeast(search, SPMV_BACKEND_DEVICE)};
  PetscLogDouble       predicted[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}, now, needs;
  SpmvOption          *next         = NULL;

  PetscFunctionBegin;
  *measured = -1;
  PetscCall(SpmvMeasureTime(&now));
  for (const SpmvOption *o = search->option; o < search->option + search->n; o++)
    predicted[o->plan.backend] = PetscMin(predicted[o->plan.backend], o->predicted);
  for (SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->measured > 0 || (MeasureByModel(q) && MeasureIsFar(search, o, predicted, least))) continue;
    if (!next || MeasureBefore(search, o, next)) next = o;
  }
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  if (next->plan.backend == SPMV_BACKEND_HOST) needs = SpmvMeasureHostNeeds(search, next);
  else needs = next->build + SPMV_MEASURED * next->predicted + search->sample.target->rates.compile;
  if (now - search->start + needs > q->seconds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MeasureOption(search, next));
  if (next->number != SPMV_NUMBER_AIJ) search->measured[next->plan.backend]++;
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

/* Measures options one after the other, as long as there is one that comes next */
static PetscErrorCode MeasureAll(SpmvSearch *search)
{
  PetscInt measured;

  PetscFunctionBegin;
  do {
    PetscCall(MeasureNext(search, &measured));
    if (measured >= 0 && search->request->kind == SPMV_TUNE_MEASURE) PetscCall(MeasureLead(search, &search->option[measured]));
  } while (measured >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Adds other plans of the formats whose own plans are the first `given` options; if the model is followed, on a device only: on
  the host it chooses a format's plan well, and a build takes as long as ten products
*/
static PetscErrorCode MeasureOthers(SpmvSearch *search, PetscInt given)
{
  const PetscBool model = MeasureByModel(search->request);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < given; k++) {
    if (!model || search->option[k].plan.backend == SPMV_BACKEND_DEVICE) PetscCall(SpmvSearchFrom(search, k));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Measures options. On entry the list has the formats' own plans. SPMV_TUNE_MEASURE measures those, then others
  that the heuristics leave, on a device those around each plan that leads, as soon as it does. SPMV_TUNE_PATIENT begins with all
  shapes, and goes on from the best of each format. Both go one knob after the other, until nothing is new
*/
PetscErrorCode SpmvMeasure(SpmvSearch *search)
{
  const SpmvCSR  *csr     = search->sample.all;
  const PetscInt  given   = search->n;
  const PetscBool patient = (PetscBool)(search->request->kind == SPMV_TUNE_PATIENT);
  PetscInt        before;
  PetscLogDouble  end;

  PetscFunctionBegin;
  PetscCall(SpmvMeasureTime(&search->start));
  PetscCall(PetscMalloc2(csr->n, &search->x, csr->m, &search->y));
  for (PetscInt k = 0; k < csr->n; k++) search->x[k] = 1;
  if (MeasureByModel(search->request)) PetscCall(MeasureAll(search));
  PetscCall(MeasureOthers(search, given));
  do {
    before = search->n;
    PetscCall(MeasureAll(search));
    for (PetscInt k = 0; patient && k < SPMV_CANDIDATES; k++) {
      PetscCall(MeasureAround(search, k, SPMV_BACKEND_HOST));
      PetscCall(MeasureAround(search, k, SPMV_BACKEND_DEVICE));
    }
    PetscCall(SpmvMeasureTime(&end));
  } while (search->n > before && end - search->start < search->request->seconds);
  PetscCall(SpmvMeasureAgain(search));
  PetscCall(SpmvMeasureTime(&end));
  search->choice->seconds = end - search->start;
  PetscFunctionReturn(PETSC_SUCCESS);
}
