/*
  words.c - what was chosen, of what, and how sure that is, in words
*/
#include "tune.h"

/* Appends "pmf window=4096 ..., predicted 1.2e-05 s, measured 1.3e-05 s" */
PetscErrorCode SpmvOptionText(const SpmvOption *o, char text[], size_t size)
{
  const SpmvFormat *format = SpmvCandidate[o->number];

  PetscFunctionBegin;
  PetscCall(SpmvAppend(text, size, "%s %s", format->name, o->plan.backend == SPMV_BACKEND_DEVICE ? "on the device " : ""));
  PetscCall(SpmvPlanText(SpmvFormatSide(format, o->plan.backend), &o->plan, text, size));
  if (o->predicted > 0) PetscCall(SpmvAppend(text, size, "predicted %.3g s ", (double)o->predicted));
  if (o->measured > 0) PetscCall(SpmvAppend(text, size, "measured %.3g s ", (double)o->measured));
  if (o->build > 0) PetscCall(SpmvAppend(text, size, "making it %.3g s ", (double)o->build));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define WORDS_SURE 1.15 /* docs/tune.md: of nine plans in ten that were chosen the best is not this much faster */

/* The candidate and backend that comes after `before` (-1: first) in the order of estimated times; -1: there is none */
static PetscInt WordsNext(const SpmvChoice *c, PetscInt before)
{
  const PetscLogDouble *p    = &c->predicted[0][0];
  PetscInt              next = -1;

  for (PetscInt k = 0; k < 2 * SPMV_CANDIDATES; k++) {
    const PetscBool told = (PetscBool)(before >= 0 && (k > before ? p[k] < p[before] : p[k] <= p[before]));

    if (p[k] > 0 && !told && (next < 0 || p[k] < p[next])) next = k;
  }
  return next;
}

/*
  Appends "pmf 0.000996, tpspmv 0.00102, aij 0.00402 s a product by estimate", the fastest first; what decided, if it is not that;
  and how clear the choice is, unless it is of a device: how far those estimates are off is not known
*/
static PetscErrorCode WordsConsidered(const SpmvChoice *c, char text[], size_t size)
{
  const PetscLogDouble *p   = &c->predicted[0][0];
  const PetscInt        own = c->best.plan.backend * SPMV_CANDIDATES + c->best.number, first = WordsNext(c, -1);
  PetscInt              other;
  PetscLogDouble        factor;

  PetscFunctionBegin;
  if (first < 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = first; k >= 0; k = WordsNext(c, k))
    PetscCall(SpmvAppend(text, size, "%s%s%s %.3g", k == first ? "" : ", ", SpmvCandidate[k % SPMV_CANDIDATES]->name,
                         k < SPMV_CANDIDATES ? "" : " on the device", (double)p[k]));
  PetscCall(SpmvAppend(text, size, " s a product by estimate"));
  if (c->moves && c->backend == SPMV_BACKEND_AUTO) PetscCall(SpmvAppend(text, size, ", with the vectors that a device's move"));
  if (c->from != SPMV_FROM_ESTIMATE) PetscFunctionReturn(PETSC_SUCCESS);
  if (own != first)
    PetscCall(SpmvAppend(text, size, "; %s, as %s", SpmvCandidate[c->best.number]->name,
                         c->request.calls > 0 ? "set-up counts" : "it is the safer one of those that are near"));
  other = WordsNext(c, first);
  if (other < 0 || c->backend != SPMV_BACKEND_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  factor = p[other] / p[first];
  PetscCall(SpmvAppend(text, size,
                       "; between the first two is a factor of %.3g, and the estimate may be wrong by %g: "
                       "-mat_spmv_tune measure %s",
                       (double)factor, WORDS_SURE, factor < WORDS_SURE ? "would tell" : "is not likely to choose another one"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Line 0: what was chosen, and how; line 1: the next best; line 2: all that was considered; line 3: what was not, and why. Without
  a line end
*/
PetscErrorCode SpmvChoiceText(const SpmvChoice *c, PetscInt line, char text[], size_t size)
{
  static const char *const from[SPMV_FROM_COUNT] = {"as asked",
                                                    "by estimate",
                                                    "by measuring",
                                                    "from wisdom",
                                                    "as products by the storage were slower",
                                                    "as most of its rows are empty"};

  PetscFunctionBegin;
  text[0] = 0;
  if (line == 1 && c->second.number >= 0) PetscCall(SpmvOptionText(&c->second, text, size));
  if (line == 2) PetscCall(WordsConsidered(c, text, size));
  if (line == 3) PetscCall(SpmvAppend(text, size, "%s", c->left));
  if (line) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvOptionText(&c->best, text, size));
  PetscCall(SpmvAppend(text, size, "%s", from[c->from]));
  if (c->estimated) PetscCall(SpmvAppend(text, size, " of %" PetscInt_FMT " options", c->estimated));
  if (c->products)
    PetscCall(SpmvAppend(text, size, ", %" PetscInt_FMT " measured by %" PetscInt_FMT " products in %.3g s", c->measured,
                         c->products, (double)c->seconds));
  if (c->compiled || c->reused)
    PetscCall(SpmvAppend(text, size, "; kernels compiled %" PetscInt_FMT " times, found %" PetscInt_FMT " times", c->compiled,
                         c->reused));
  PetscFunctionReturn(PETSC_SUCCESS);
}
