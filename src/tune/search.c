/*
  search.c - which options are worth measuring: all combinations of the knobs for shapes, and one knob at a time around a plan

  The heuristics of tune.c leave some out; each is for one kind of knob.
*/
#include "tune.h"

#define SEARCH_SHAPES 4 /* shapes that heuristic 1 leaves */
#define SEARCH_FACTOR 4 /* between tiles that heuristic 6 leaves and the format's own */

/* True if the heuristic for a kind of knob is followed */
static PetscBool SearchUses(const SpmvRequest *q, SpmvKnob knob)
{
  return (PetscBool)(q->kind != SPMV_TUNE_PATIENT && !(q->skipped >> (knob - 1) & 1));
}

/* Chooses an option's open knobs, estimates it and adds it, unless the list has it or its format does not allow it or suit */
PetscErrorCode SpmvSearchAdd(SpmvSearch *search, PetscInt number, const SpmvPlan *asked)
{
  const SpmvCSR    *csr    = search->sample.all;
  const SpmvSide   *side   = SpmvFormatSide(SpmvCandidate[number], asked->backend);
  const SpmvTarget *target = asked->backend == SPMV_BACKEND_DEVICE ? search->sample.target : NULL;
  SpmvPlan          plan   = *asked;
  char             *why    = search->why;

  PetscFunctionBegin;
  PetscCall(SpmvSuits(number, csr, asked, why, sizeof(search->why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (search->request->kind != SPMV_TUNE_OFF) PetscCall(SpmvPlanChoose(csr, search->request->isa, target, number, &plan, NULL));
  PetscCall(SpmvResolve(side, csr, target ? target->info : NULL, &plan, why, sizeof(search->why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < search->n; k++) {
    if (search->option[k].number == number && !memcmp(&search->option[k].plan, &plan, sizeof(plan)))
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRealloc((size_t)(search->n + 1) * sizeof(SpmvOption), &search->option));
  PetscCall(SpmvEstimate(&search->sample, search->request->isa, number, 1, &plan, &search->option[search->n]));
  if (target) search->option[search->n].predicted += search->moving;
  search->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many values of a knob may be tried: of a range the preset, and a quarter and four times of it */
static PetscInt SearchValues(const SpmvParam *p)
{
  return p->choices ? p->count : p->preset ? 3 : 1;
}

static PetscInt SearchValue(const SpmvParam *p, PetscInt k)
{
  if (p->choices) return p->choices[k];
  return k == 0 ? p->preset : k == 1 ? PetscMax(p->low, p->preset / SEARCH_FACTOR) : PetscMin(p->high, p->preset * SEARCH_FACTOR);
}

/* What heuristic 1 orders shapes by: bytes, as the paper; on a device, which may not be bound by them, the estimated time */
static PetscLogDouble SearchSize(const SpmvOption *o)
{
  return o->plan.backend == SPMV_BACKEND_DEVICE ? o->predicted : o->bytes;
}

/* Of the options from `first` on, only the SEARCH_SHAPES smallest stay */
static void SearchKeepSmallest(SpmvSearch *search, PetscInt first)
{
  const PetscInt end = PetscMin(search->n, first + SEARCH_SHAPES);

  for (PetscInt k = first; k < end; k++) {
    for (PetscInt l = k + 1; l < search->n; l++) {
      const SpmvOption option = search->option[k];

      if (SearchSize(&search->option[l]) >= SearchSize(&option)) continue;
      search->option[k] = search->option[l];
      search->option[l] = option;
    }
  }
  search->n = end;
}

/* All combinations of those of the first n knobs that make shapes and that the user leaves open; the others are as in the plan */
static PetscErrorCode SearchShapes(SpmvSearch *search, PetscInt number, PetscInt n, SpmvPlan *plan)
{
  const SpmvParam *params = SpmvFormatSide(SpmvCandidate[number], plan->backend)->params;
  const PetscInt   pinned = search->request->pinned[plan->backend][number];

  PetscFunctionBegin;
  while (n && (params[n - 1].knob != SPMV_KNOB_SHAPE || pinned >> (n - 1) & 1)) n--;
  if (!n) PetscCall(SpmvSearchAdd(search, number, plan));
  for (PetscInt k = 0; n && k < SearchValues(&params[n - 1]); k++) {
    plan->value[n - 1] = SearchValue(&params[n - 1], k);
    PetscCall(SearchShapes(search, number, n - 1, plan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  True if no heuristic is against a value of a knob; `own` is what the format chose. On a GPU that choice of layouts and local
  memories is a guess
*/
static PetscBool SearchAllows(const SpmvRequest *q, const SpmvCSR *csr, PetscBool gpu, SpmvKnob knob, PetscInt value,
                              PetscInt own)
{
  const PetscInt64 larger = PetscMax(csr->m, csr->n), v = value < 0 ? larger : PetscMin(value, larger);
  const PetscInt64 o = own < 0 ? larger : PetscMin(own, larger);

  if (knob == SPMV_KNOB_USERS || knob == SPMV_KNOB_SHAPE) return PETSC_FALSE;
  if (!SearchUses(q, knob) || (gpu && (knob == SPMV_KNOB_LAYOUT || knob == SPMV_KNOB_LOCAL))) return PETSC_TRUE;
  if (knob == SPMV_KNOB_SLICES) return (PetscBool)(csr->n > csr->m);
  return (PetscBool)(knob == SPMV_KNOB_TILE && v != o && v > 0 && v <= SEARCH_FACTOR * o && o <= SEARCH_FACTOR * v);
}

/* Other values of each open knob, one at a time, beside a plan whose other knobs stay or are chosen again; `own` is near it */
static PetscErrorCode SearchBeside(SpmvSearch *search, PetscInt number, const SpmvPlan *plan, const SpmvPlan *own)
{
  const SpmvRequest *q      = search->request;
  const SpmvSide    *side   = SpmvFormatSide(SpmvCandidate[number], plan->backend);
  const PetscInt     pinned = q->pinned[plan->backend][number];
  const PetscBool    gpu    = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE && search->sample.target->info->gpu);

  PetscFunctionBegin;
  for (PetscInt p = 0; p < side->nparams; p++) {
    const SpmvParam *param = &side->params[p];

    for (PetscInt k = 0; k < SearchValues(param) && !(pinned >> p & 1); k++) {
      SpmvPlan other = *plan;

      other.value[p] = SearchValue(param, k);
      if (SearchAllows(q, search->sample.all, gpu, param->knob, other.value[p], own->value[p]))
        PetscCall(SpmvSearchAdd(search, number, &other));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether two options are of one candidate, backend and shape */
PetscBool SpmvSearchSameShape(const SpmvOption *a, const SpmvOption *b)
{
  const SpmvSide *side = SpmvFormatSide(SpmvCandidate[a->number], a->plan.backend);

  if (a->number != b->number || a->plan.backend != b->plan.backend) return PETSC_FALSE;
  for (PetscInt p = 0; p < side->nparams; p++) {
    if (side->params[p].knob == SPMV_KNOB_SHAPE && a->plan.value[p] != b->plan.value[p]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The shapes that were measured, each with all else of a plan: which one is best depends on tiles and work groups */
static PetscErrorCode SearchOtherShapes(SpmvSearch *search, PetscInt number, const SpmvPlan *plan)
{
  const SpmvSide *side = SpmvFormatSide(SpmvCandidate[number], plan->backend);
  const PetscInt  n    = search->n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    const SpmvOption *o     = &search->option[k];
    SpmvPlan          other = *plan;

    if (o->number != number || o->plan.backend != plan->backend || o->measured <= 0) continue;
    for (PetscInt p = 0; p < side->nparams; p++) {
      if (side->params[p].knob == SPMV_KNOB_SHAPE) other.value[p] = o->plan.value[p];
    }
    PetscCall(SpmvSearchAdd(search, number, &other));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shapes of half and twice a plan's height or width, with all else of it: heuristic 1 may have left out the best one */
static PetscErrorCode SearchNearShapes(SpmvSearch *search, PetscInt number, const SpmvPlan *plan)
{
  const SpmvSide *side   = SpmvFormatSide(SpmvCandidate[number], plan->backend);
  const PetscInt  pinned = search->request->pinned[plan->backend][number];

  PetscFunctionBegin;
  for (PetscInt p = 0; p < side->nparams; p++) {
    const SpmvParam *param = &side->params[p];

    for (PetscInt k = 0; k < SearchValues(param) && param->knob == SPMV_KNOB_SHAPE && !(pinned >> p & 1); k++) {
      const PetscInt size = SearchValue(param, k), own = plan->value[p];
      SpmvPlan       other = *plan;

      other.value[p] = size;
      if (size > 0 && (size == 2 * own || own == 2 * size)) PetscCall(SpmvSearchAdd(search, number, &other));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Other values of each open knob of a plan, one at a time; shapes stay, and what else was left open is chosen again. The knobs of
  a device depend on each other more, and less is known of what to choose: there the others stay as well as not, and other shapes
  are tried with them
*/
PetscErrorCode SpmvSearchAround(SpmvSearch *search, PetscInt number, const SpmvPlan *centre)
{
  const SpmvPlan  own  = *centre; /* a copy: the list moves as it grows */
  const SpmvSide *side = SpmvFormatSide(SpmvCandidate[number], own.backend);
  SpmvPlan        plan = *SpmvAsked(search->request, number, own.backend);

  PetscFunctionBegin;
  for (PetscInt p = 0; p < side->nparams; p++) {
    if (side->params[p].knob == SPMV_KNOB_SHAPE) plan.value[p] = own.value[p];
  }
  PetscCall(SearchBeside(search, number, &plan, &own));
  if (own.backend != SPMV_BACKEND_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SearchBeside(search, number, &own, &own));
  PetscCall(SearchOtherShapes(search, number, &own));
  PetscCall(SearchNearShapes(search, number, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Adds to the list what belongs to number `own` of it, which is a format's own plan: the format's shapes, and other values of one
  knob; SPMV_TUNE_PATIENT tries these after measuring
*/
PetscErrorCode SpmvSearchFrom(SpmvSearch *search, PetscInt own)
{
  const PetscInt number = search->option[own].number, backend = search->option[own].plan.backend, first = search->n;
  SpmvPlan       plan = *SpmvAsked(search->request, number, backend);

  PetscFunctionBegin;
  PetscCall(SearchShapes(search, number, SpmvFormatSide(SpmvCandidate[number], backend)->nparams, &plan));
  if (SearchUses(search->request, SPMV_KNOB_SHAPE)) SearchKeepSmallest(search, first);
  if (search->request->kind != SPMV_TUNE_PATIENT) PetscCall(SpmvSearchAround(search, number, &search->option[own].plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSearchDestroy(SpmvSearch *search)
{
  PetscFunctionBegin;
  PetscCall(SpmvSampleDestroy(&search->sample));
  PetscCall(SpmvKeptDestroy(&search->kept));
  if (search->fastest) PetscCall(search->sample.target->release(&search->fastest));
  PetscCall(PetscFree(search->option));
  PetscCall(PetscFree2(search->x, search->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
