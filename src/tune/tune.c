/*
  tune.c - what may be chosen, and the choice
*/
#include "tune.h"

const SpmvFormat SpmvFormat_spmv = {.name = "spmv"};

const SpmvFormat *const SpmvCandidate[SPMV_CANDIDATES] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "../formats.h"
#undef SPMV_FORMAT
  &SpmvFormat_aij};

const char *const SpmvTuneKinds[SPMV_TUNE_COUNT] = {"off", "estimate", "measure", "patient"};

const struct SpmvHeuristicTable SpmvHeuristics = {0, NULL};

PetscBool SpmvKeySame(const SpmvKey *a, const SpmvKey *b)
{
  return (PetscBool)(a->m == b->m && a->n == b->n && a->nz == b->nz && a->pattern == b->pattern);
}

/* True if a choice that was made serves a matrix and a request */
PetscBool SpmvChoiceAnswers(const SpmvChoice *choice, const SpmvRequest *request, const SpmvKey *key)
{
  return (PetscBool)(choice->known && SpmvKeySame(&choice->key, key) && !memcmp(&choice->request, request, sizeof(*request)));
}

/* What is asked for without options: of spmv, the best of all by estimate; of another type, its own defaults */
PetscErrorCode SpmvRequestDefault(const SpmvFormat *type, SpmvRequest *q)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(q, sizeof(*q)));
  q->kind    = type == &SpmvFormat_spmv ? SPMV_TUNE_ESTIMATE : SPMV_TUNE_OFF;
  q->isa     = SPMV_ISA_COUNT;
  q->seconds = 10;
  q->threads = 1;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvFormat *format = SpmvCandidate[k];

    if (type == &SpmvFormat_spmv || type == format) q->allowed |= (PetscInt)1 << k;
    q->plan[k] = SpmvPlanDefault(format->params, format->nparams);
    for (PetscInt p = 0; format->device && p < format->device->nparams; p++) q->plan[k].device[p] = format->device->params[p].choices[0];
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
    PetscCheck(k < SPMV_CANDIDATES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "'%s' is not a format of libpetscspmv; give -mat_spmv_tune_formats names such as bccoo, pmf, and aij for AIJ's own kernel", names[i]);
    q->allowed |= (PetscInt)1 << k;
  }
  PetscCheck(q->allowed, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "No format is named; give -mat_spmv_tune_formats at least one");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first candidate that is allowed, as asked for; products of a device need one that has kernels for it */
static PetscErrorCode TuneOff(const SpmvRequest *q, SpmvChoice *choice)
{
  PetscInt k = 0;

  PetscFunctionBegin;
  while (k < SPMV_NUMBER_AIJ && (!(q->allowed >> k & 1) || (q->backend == SPMV_BACKEND_DEVICE && q->allowed & (q->allowed - 1) && !SpmvCandidate[k]->device))) k++;
  choice->best = (SpmvOption){.number = k, .plan = q->plan[k]};
  choice->from = SPMV_FROM_ASKED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each candidate under its own rules, then the knobs of the best ones */
static PetscErrorCode TuneEstimate(const SpmvRequest *q, const SpmvCSR *csr, SpmvChoice *choice)
{
  const SpmvMachine *machine;
  SpmvSample         sample;

  PetscFunctionBegin;
  PetscCall(SpmvMachineGet(&machine));
  PetscCall(SpmvSampleCreate(csr, machine, &sample));
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    SpmvOption option = {.number = k, .plan = q->plan[k]};

    if (!(q->allowed >> k & 1)) continue;
    if (SpmvCandidate[k]->resolve) PetscCall(SpmvCandidate[k]->resolve(csr, &option.plan));
    PetscCall(SpmvEstimate(&sample, machine, q->isa, &option));
    choice->estimated++;
    if (choice->best.number < 0 || option.predicted < choice->best.predicted) {
      choice->second = choice->best;
      choice->best   = option;
    } else if (choice->second.number < 0 || option.predicted < choice->second.predicted) choice->second = option;
  }
  PetscCall(SpmvSampleDestroy(&sample));
  choice->from = SPMV_FROM_ESTIMATE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends "pmf window=4096 ..., predicted 1.2e-05 s, measured 1.3e-05 s" */
static PetscErrorCode OptionText(const SpmvOption *o, char text[], size_t size)
{
  const SpmvFormat *format = SpmvCandidate[o->number];

  PetscFunctionBegin;
  PetscCall(SpmvAppend(text, size, "%s ", format->name));
  PetscCall(SpmvPlanText("", format->nparams, format->params, o->plan.value, o->plan.list, text, size));
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
  PetscCall(SpmvAppend(text, size, "%s of %" PetscInt_FMT " estimates", from[c->from], c->estimated));
  if (c->products) PetscCall(SpmvAppend(text, size, ", %" PetscInt_FMT " measured by %" PetscInt_FMT " products in %.3g s", c->measured, c->products, (double)c->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvTune - chooses what is to serve the products of a matrix

  Input Parameters:
+ request  - what may be chosen, and how
. csr      - the matrix, its rows sorted
. key      - by which it is recognised
. baseline - runs a product by AIJ's own kernel
- context  - passed to it

  Output Parameter:
. choice - with `known` set
*/
PetscErrorCode SpmvTune(const SpmvRequest *q, const SpmvCSR *csr, const SpmvKey *key, SpmvBaselineFn *baseline, void *context, SpmvChoice *choice)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(choice, sizeof(*choice)));
  choice->key         = *key;
  choice->request     = *q;
  choice->best.number = choice->second.number = -1;
  (void)baseline, (void)context;
  if (q->kind == SPMV_TUNE_OFF || q->backend == SPMV_BACKEND_DEVICE) PetscCall(TuneOff(q, choice));
  else PetscCall(TuneEstimate(q, csr, choice));
  choice->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
