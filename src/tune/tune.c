/*
  tune.c - what may be chosen, and the choice
*/
#include "tune.h"
#include "../spmvdevice.h"

const SpmvFormat SpmvFormat_spmv = {.name = "spmv"};

const SpmvFormat *const SpmvCandidate[SPMV_CANDIDATES] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "../formats.h"
#undef SPMV_FORMAT
  &SpmvFormat_aij};

const char *const SpmvTuneKinds[SPMV_TUNE_COUNT] = {"off", "estimate", "measure", "patient"};

/*
  The six heuristics of Zhang et al., section 4, in the paper's order, each for one kind of knob of any format; and one of ours.
  Departures: (2) is said of the texture memory and the offline transpose of a GPU: here formats know which layout to take. (3) and
  (4) are of a GPU's shared memory. (6) says `according to the dimensions` and no more. What the rules leave is ordered by the model
*/
static const SpmvHeuristic Heuristics[] = {
  {"shapes", "Measure only the block shapes with the 4 smallest storages (1)"},
  {"layout", "Do not measure other layouts than the format's own choice (2)"},
  {"cache", "Do not measure other cache sizes than the machine's (3)"},
  {"local", "Do not measure other words and local memories than the default (4)"},
  {"slices", "Measure vertical slices only where the matrix is wider than high (5)"},
  {"tiles", "Measure only tiles of 1/4 to 4 times the format's own choice, and not larger than the matrix (6)"},
  {"model", "Measure only the 6 options of least estimated time, and none estimated to take twice the least"},
};

const struct SpmvHeuristicTable SpmvHeuristics = {PETSC_STATIC_ARRAY_LENGTH(Heuristics), Heuristics};

/* Seconds of a product, and of its part of the set-up if calls are counted */
PetscLogDouble SpmvOptionCost(const SpmvRequest *q, const SpmvOption *o)
{
  return (o->measured > 0 ? o->measured : o->predicted) + (q->calls > 0 ? o->build / q->calls : 0);
}

PetscBool SpmvKeySame(const SpmvKey *a, const SpmvKey *b)
{
  return (PetscBool)(a->m == b->m && a->n == b->n && a->nz == b->nz && a->pattern == b->pattern);
}

/* True if a choice that was made serves a matrix, a request and a backend */
PetscBool SpmvChoiceAnswers(const SpmvChoice *choice, const SpmvRequest *request, const SpmvKey *key, PetscInt backend)
{
  return (PetscBool)(choice->known && choice->backend == backend && SpmvKeySame(&choice->key, key) &&
                     !memcmp(&choice->request, request, sizeof(*request)));
}

/* What is asked for without options: of spmv, the best of all by estimate; of another type, the best of its own plans */
PetscErrorCode SpmvRequestDefault(const SpmvFormat *type, SpmvRequest *q)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(q, sizeof(*q)));
  q->kind    = SPMV_TUNE_ESTIMATE;
  q->isa     = SPMV_ISA_COUNT;
  q->seconds = 10;
  q->threads = 1;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvFormat *format = SpmvCandidate[k];

    if (type == &SpmvFormat_spmv || type == format) q->allowed |= (PetscInt)1 << k;
    q->host[k] = SpmvPlanDefault(SPMV_BACKEND_HOST, format->host->side.nparams, format->host->side.params);
    if (format->device)
      q->device[k] = SpmvPlanDefault(SPMV_BACKEND_DEVICE, format->device->side.nparams, format->device->side.params);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only these candidates, by name */
PetscErrorCode SpmvRequestAllow(PetscInt n, const char *const names[], SpmvRequest *q)
{
  PetscFunctionBegin;
  q->allowed = 0;
  for (PetscInt i = 0; i < n; i++) {
    PetscInt k = 0;

    while (k < SPMV_CANDIDATES && strcmp(SpmvCandidate[k]->name, names[i])) k++;
    PetscCheck(
      k < SPMV_CANDIDATES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
      "'%s' is not a format of libpetscspmv; give -mat_spmv_tune_formats names such as bccoo, pmf, and aij for AIJ's own kernel",
      names[i]);
    q->allowed |= (PetscInt)1 << k;
  }
  PetscCheck(q->allowed, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "No format is named; give -mat_spmv_tune_formats at least one");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first candidate that is allowed, as asked for, but that what it leaves open is estimated; for a device the first that has kernels for it, if any has */
static PetscErrorCode TuneFirst(const SpmvRequest *q, const SpmvCSR *csr, PetscInt backend, SpmvChoice *choice)
{
  PetscInt k = SPMV_CANDIDATES;

  PetscFunctionBegin;
  for (PetscInt c = SPMV_CANDIDATES - 1; c >= 0; c--) {
    const PetscBool runs = (PetscBool)(backend != SPMV_BACKEND_DEVICE || SpmvCandidate[c]->device);

    if (q->allowed >> c & 1 && (runs || k == SPMV_CANDIDATES || !SpmvCandidate[k]->device)) k = c;
  }
  choice->best =
    (SpmvOption){.number = k, .plan = backend == SPMV_BACKEND_DEVICE && SpmvCandidate[k]->device ? q->device[k] : q->host[k]};
  if (q->kind != SPMV_TUNE_OFF) PetscCall(SpmvPlanSettle(csr, q->isa, k, &choice->best.plan, &choice->estimated));
  choice->from = choice->estimated ? SPMV_FROM_ESTIMATE : SPMV_FROM_ASKED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ChoiceOffer(const SpmvRequest *q, const SpmvOption *o, SpmvChoice *c)
{
  if (c->best.number < 0 || SpmvOptionCost(q, o) < SpmvOptionCost(q, &c->best)) {
    c->second = c->best;
    c->best   = *o;
  } else if (c->second.number < 0 || SpmvOptionCost(q, o) < SpmvOptionCost(q, &c->second)) c->second = *o;
}

#define TUNE_GAIN 1.05 /* what another plan than the format's own must gain by estimate */

/* The least of the options that were measured, if any was, else of all, where `own` come first: the formats' own plans */
static void ChoiceSettle(const SpmvRequest *q, const SpmvOptions *options, PetscInt own, SpmvChoice *c)
{
  c->estimated = options->n;
  c->from      = c->products ? SPMV_FROM_MEASURE : SPMV_FROM_ESTIMATE;
  for (PetscInt k = 0; k < options->n; k++) {
    const SpmvOption *o = &options->of[k];

    if (c->products ? o->measured > 0 : k < own || TUNE_GAIN * SpmvOptionCost(q, o) < SpmvOptionCost(q, &c->best))
      ChoiceOffer(q, o, c);
  }
}

static PetscErrorCode TuneOptionsDestroy(SpmvOptions *options)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(options->of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Estimates each candidate under the plan that it settles on; to measure, other values of its knobs as well */
static PetscErrorCode TuneAmong(const SpmvRequest *q, const SpmvCSR *csr, SpmvBaselineFn *baseline, void *context,
                                SpmvChoice *choice)
{
  const SpmvMachine *machine = SpmvMachineGet();
  SPMV_DESTROY_BY(SpmvSampleDestroy)
  SpmvSample sample = {0};
  SPMV_DESTROY_BY(TuneOptionsDestroy)
  SpmvOptions options = {0};
  PetscInt    own;

  PetscFunctionBegin;
  PetscCall(SpmvSampleCreate(csr, machine, &sample));
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvOption option = {.number = k, .plan = q->host[k]};

    if (q->allowed >> k & 1) PetscCall(SpmvOptionsAdd(q, &sample, machine, &option, &options));
  }
  own = options.n;
  if (q->kind > SPMV_TUNE_ESTIMATE) PetscCall(SpmvMeasure(q, &sample, machine, &options, baseline, context, choice));
  ChoiceSettle(q, &options, own, choice);
  if (!options.n)
    PetscCall(TuneFirst(q, csr, SPMV_BACKEND_HOST, choice)); /* all refuse this matrix: the first one is to say why */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends "pmf window=4096 ..., predicted 1.2e-05 s, measured 1.3e-05 s" */
static PetscErrorCode OptionText(const SpmvOption *o, char text[], size_t size)
{
  const SpmvFormat *format = SpmvCandidate[o->number];

  PetscFunctionBegin;
  PetscCall(SpmvAppend(text, size, "%s ", format->name));
  PetscCall(SpmvPlanText(SpmvFormatSide(format, o->plan.backend), &o->plan, text, size));
  if (o->predicted > 0) PetscCall(SpmvAppend(text, size, "predicted %.3g s ", (double)o->predicted));
  if (o->measured > 0) PetscCall(SpmvAppend(text, size, "measured %.3g s ", (double)o->measured));
  if (o->build > 0) PetscCall(SpmvAppend(text, size, "set-up %.3g s ", (double)o->build));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line 0: what was chosen, and how; line 1: the next best. Without a line end */
PetscErrorCode SpmvChoiceText(const SpmvChoice *c, PetscInt line, char text[], size_t size)
{
  static const char *const from[SPMV_FROM_COUNT] = {"as asked", "by estimate", "by measuring", "from wisdom"};

  PetscFunctionBegin;
  text[0] = 0;
  if (line == 1 && c->second.number >= 0) PetscCall(OptionText(&c->second, text, size));
  if (line) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OptionText(&c->best, text, size));
  PetscCall(SpmvAppend(text, size, "%s", from[c->from]));
  if (c->estimated) PetscCall(SpmvAppend(text, size, " of %" PetscInt_FMT " options", c->estimated));
  if (c->products)
    PetscCall(SpmvAppend(text, size, ", %" PetscInt_FMT " measured by %" PetscInt_FMT " products in %.3g s", c->measured,
                         c->products, (double)c->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvTune - chooses what is to serve the products of a matrix

  Input Parameters:
+ request  - what may be chosen, and how
. csr      - the matrix, its rows sorted
. key      - by which it is recognised
. backend  - SPMV_BACKEND_HOST or SPMV_BACKEND_DEVICE; of plans for a device none is measured
. baseline - runs a product by AIJ's own kernel
- context  - passed to it

  Output Parameter:
. choice - with `known` set, unless there was an error
*/
PetscErrorCode SpmvTune(const SpmvRequest *q, const SpmvCSR *csr, const SpmvKey *key, PetscInt backend, SpmvBaselineFn *baseline,
                        void *context, SpmvChoice *choice)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(choice, sizeof(*choice)));
  choice->key         = *key;
  choice->request     = *q;
  choice->backend     = backend;
  choice->best.number = choice->second.number = -1;
  if (q->kind == SPMV_TUNE_OFF || backend == SPMV_BACKEND_DEVICE ||
      (q->kind == SPMV_TUNE_ESTIMATE && !(q->allowed & (q->allowed - 1)))) {
    PetscCall(TuneFirst(q, csr, backend, choice));
  } else {
    if (q->kind > SPMV_TUNE_ESTIMATE) PetscCall(SpmvChoiceFromWisdom(q, key, choice));
    if (choice->from != SPMV_FROM_WISDOM) PetscCall(TuneAmong(q, csr, baseline, context, choice));
    if (choice->from == SPMV_FROM_MEASURE) PetscCall(SpmvChoiceToWisdom(choice));
  }
  choice->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
