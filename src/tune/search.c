/*
  search.c - which plans of a format are worth a look: an odometer over the knobs that make shapes, and one knob at a time around a plan

  The heuristics of tune.c cut it down; each has a kind of knob.
*/
#include "tune.h"

#define SEARCH_SHAPES 4 /* shapes that heuristic 1 leaves */
#define SEARCH_FACTOR 4 /* between tiles that heuristic 6 leaves and the format's own */

/* A rule is on unless the user, or who is patient, does without it */
static PetscBool SearchUses(const SpmvRequest *q, SpmvKnob knob)
{
  return (PetscBool)(q->kind != SPMV_TUNE_PATIENT && !(q->skipped >> (knob - 1) & 1));
}

/*
  SpmvOptionsAdd - adds an option to a list: what its plan leaves open is settled, and its time estimated

  Note:
  Nothing is added if the list has it, or if the format does not allow it for this matrix.
*/
PetscErrorCode SpmvOptionsAdd(const SpmvRequest *q, SpmvSample *sample, const SpmvMachine *machine, const SpmvOption *asked,
                              SpmvOptions *options)
{
  SpmvOption option = *asked;
  char       why[512];

  PetscFunctionBegin;
  PetscCall(SpmvPlanSettle(sample->all, q->isa, option.number, &option.plan, NULL));
  PetscCall(SpmvResolve(&SpmvCandidate[option.number]->host->side, sample->all, NULL, &option.plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < options->n; k++) {
    if (options->of[k].number == option.number && !memcmp(&options->of[k].plan, &option.plan, sizeof(option.plan)))
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvEstimate(sample, machine, q->isa, option.number, 1, &option.plan, &option));
  if (options->n == options->capacity) {
    SpmvOption *larger;

    options->capacity = PetscMax(32, 2 * options->capacity);
    PetscCall(PetscMalloc1(options->capacity, &larger));
    PetscCall(PetscArraycpy(larger, options->of, options->n));
    PetscCall(PetscFree(options->of));
    options->of = larger;
  }
  options->of[options->n++] = option;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of a knob that may be tried; of a range the preset, and a quarter and four times of it */
static PetscInt SearchValues(const SpmvParam *p)
{
  return p->choices ? p->count : p->preset ? 3 : 1;
}

static PetscInt SearchValue(const SpmvParam *p, PetscInt k)
{
  if (p->choices) return p->choices[k];
  return k == 0 ? p->preset : k == 1 ? PetscMax(p->low, p->preset / SEARCH_FACTOR) : PetscMin(p->high, p->preset * SEARCH_FACTOR);
}

/* The least of the list from `first` on come to its front, as many as are to stay; the rest is dropped */
static void SearchKeepSmallest(SpmvOptions *options, PetscInt first, PetscInt stay)
{
  for (PetscInt k = first; k < PetscMin(options->n, first + stay); k++) {
    PetscInt   least = k;
    SpmvOption swap;

    for (PetscInt l = k + 1; l < options->n; l++) {
      if (options->of[l].bytes < options->of[least].bytes) least = l;
    }
    swap               = options->of[k];
    options->of[k]     = options->of[least];
    options->of[least] = swap;
  }
  options->n = PetscMin(options->n, first + stay);
}

/* All combinations of the knobs of a format that make shapes and that the user leaves open */
static PetscErrorCode SearchShapes(const SpmvRequest *q, SpmvSample *sample, const SpmvMachine *machine, PetscInt number,
                                   SpmvOptions *options)
{
  const SpmvSide *side  = &SpmvCandidate[number]->host->side;
  PetscInt        total = 1, first = options->n;
  SpmvOption      option = {.number = number, .plan = q->host[number]};

  PetscFunctionBegin;
  for (PetscInt p = 0; p < side->nparams; p++)
    total *= side->params[p].knob == SPMV_KNOB_SHAPE && !(q->pinned[number] >> p & 1) ? SearchValues(&side->params[p]) : 1;
  for (PetscInt c = 0; c < total && total > 1; c++) {
    PetscInt rest = c;

    for (PetscInt p = 0; p < side->nparams; p++) {
      const SpmvParam *param = &side->params[p];

      if (param->knob != SPMV_KNOB_SHAPE || q->pinned[number] >> p & 1) continue;
      option.plan.value[p] = SearchValue(param, rest % SearchValues(param));
      rest /= SearchValues(param);
    }
    PetscCall(SpmvOptionsAdd(q, sample, machine, &option, options));
  }
  if (SearchUses(q, SPMV_KNOB_SHAPE)) SearchKeepSmallest(options, first, SEARCH_SHAPES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if no heuristic is against a value of a knob; `own` is what the format chose */
static PetscBool SearchAllows(const SpmvRequest *q, const SpmvCSR *csr, SpmvKnob knob, PetscInt value, PetscInt own)
{
  const PetscInt64 larger = PetscMax(csr->m, csr->n), v = value < 0 ? larger : PetscMin(value, larger);
  const PetscInt64 o = own < 0 ? larger : PetscMin(own, larger);

  if (knob == SPMV_KNOB_USERS || knob == SPMV_KNOB_SHAPE) return PETSC_FALSE;
  if (!SearchUses(q, knob)) return PETSC_TRUE;
  if (knob == SPMV_KNOB_SLICES) return (PetscBool)(csr->n > csr->m);
  return (PetscBool)(knob == SPMV_KNOB_TILE && v != o && v > 0 && v <= SEARCH_FACTOR * o && o <= SEARCH_FACTOR * v);
}

/* Other values of each open knob of an option, one at a time; shapes stay, and what else was left open is left to the format again */
PetscErrorCode SpmvSearchAround(const SpmvRequest *q, SpmvSample *sample, const SpmvMachine *machine, const SpmvOption *centre,
                                SpmvOptions *options)
{
  const PetscInt  number = centre->number;
  const SpmvSide *side   = &SpmvCandidate[number]->host->side;
  SpmvOption      option = {.number = number, .plan = q->host[number]};

  PetscFunctionBegin;
  for (PetscInt p = 0; p < side->nparams; p++) {
    if (side->params[p].knob == SPMV_KNOB_SHAPE) option.plan.value[p] = centre->plan.value[p];
  }
  for (PetscInt p = 0; p < side->nparams; p++) {
    const SpmvParam *param = &side->params[p];

    if (q->pinned[number] >> p & 1) continue;
    for (PetscInt k = 0; k < SearchValues(param); k++) {
      SpmvOption other = option;

      if (!SearchAllows(q, sample->all, param->knob, SearchValue(param, k), centre->plan.value[p])) continue;
      other.plan.value[p] = SearchValue(param, k);
      PetscCall(SpmvOptionsAdd(q, sample, machine, &other, options));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Around each option of a list: its format's shapes, and other values of one knob; of these, who is patient asks from the best that was measured */
PetscErrorCode SpmvSearchAll(const SpmvRequest *q, SpmvSample *sample, const SpmvMachine *machine, SpmvOptions *options)
{
  const PetscInt given = options->n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < given; k++) {
    const SpmvOption centre = options->of[k]; /* the list moves as it grows */

    PetscCall(SearchShapes(q, sample, machine, centre.number, options));
    if (q->kind != SPMV_TUNE_PATIENT) PetscCall(SpmvSearchAround(q, sample, machine, &centre, options));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
