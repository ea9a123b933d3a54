/*
  shadow_choose.c - what is to serve a matrix, and whether with its rows and columns in an order of ours

  An order takes 20 to 45 products by AIJ's kernel to make, with the rows in it and the storage of these (matrices of 5 and 30 M
  entries in random numbering, where memory is touched for the first time), and gains 0.2 to 0.5 of one with each product. So it
  waits for SPMV_ORDER_WAIT times as many products as a storage does, until which the storage serves with rows as they come: by
  then that has gained about as much over AIJ's kernel as the order costs.
*/
#include "spmvmat.h"
#include <petsctime.h>

/* True if so many products came that an order may pay */
static PetscBool OrderDue(const SpmvShadow *shadow)
{
  const PetscInt after = shadow->settings.build_after;

  return SpmvDueAfter(&shadow->seq.due, after > PETSC_MAX_INT / SPMV_ORDER_WAIT ? PETSC_MAX_INT : SPMV_ORDER_WAIT * after);
}

/* True if a storage that serves may be built again in an order */
PetscBool SpmvOrderWorthLook(const SpmvShadow *shadow)
{
  const SpmvSeq *s = &shadow->seq;

  return (PetscBool)(s->current && s->built.format && !s->built.device && !s->built.order && !s->ordertried &&
                     shadow->settings.order == SPMV_ORDER_AUTO && OrderDue(shadow));
}

/* True if a format has a storage of its own on the host, which rows in an order can be put into */
static PetscBool OrderTakes(PetscInt number)
{
  const SpmvHostSide *host = SpmvCandidate[number]->host;

  return (PetscBool)(host->kernels && !host->side.borrows);
}

static PetscBool OrderServes(const SpmvOption *o)
{
  return (PetscBool)(o->plan.backend == SPMV_BACKEND_HOST && OrderTakes(o->number));
}

#define SPMV_ORDER_KEY 0x6f72646572 /* tells what is chosen for a matrix's rows in an order from what is for rows as they come */

/* What is asked for of rows in an order: the formats that can take them */
static void OrderRequest(SpmvRequest *q)
{
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    if (!OrderTakes(k)) q->allowed &= ~((PetscInt)1 << k);
  }
}

/* A product by AIJ's kernel, for the tuner to time */
typedef struct {
  Mat A;
  Vec x, y; /* NULL before the first product */
} SpmvBaseline;

static PetscErrorCode SpmvBaselineRun(void *context)
{
  SpmvBaseline *b = (SpmvBaseline *)context;

  PetscFunctionBegin;
  if (!b->x) {
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, b->A->cmap->n, &b->x));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, b->A->rmap->n, &b->y));
    PetscCall(VecSet(b->x, 1));
  }
  PetscCall((*SpmvParentSeq.ops.mult)(b->A, b->x, b->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  True if values that are new make another format the one to serve: what was chosen does not suit them, or the type's own format,
  which handed over, does
*/
PetscErrorCode SpmvShadowReconsider(const SpmvShadow *s, const SpmvCSR *csr, PetscBool *other)
{
  const SpmvOption *best = &s->seq.choice.best;
  char              why[512];

  PetscFunctionBegin;
  *other = PETSC_FALSE;
  if (s->seq.choice.from == SPMV_FROM_CHECK) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < SPMV_CANDIDATES && best->plan.backend == SPMV_BACKEND_HOST; k++) {
    const PetscBool serves = (PetscBool)(k == best->number);

    if (!SpmvCandidate[k]->host->side.suits || (!serves && SpmvCandidate[k] != s->type)) continue;
    PetscCall(SpmvSuits(k, csr, &s->settings.request.host[k], why, sizeof(why)));
    if (serves == (why[0] != 0)) *other = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Lets the tuner choose, unless it has for this pattern and these settings, or rows are in an order of ours (`ordered`); kept: the
  storage of what was chosen, if it was measured just now
*/
PetscErrorCode SpmvShadowChoose(Mat A, SpmvShadow *s, const SpmvCSR *csr, PetscBool ordered, SpmvKept *kept)
{
  SpmvRequest    q        = s->settings.request;
  SpmvBaseline   baseline = {A, NULL, NULL};
  SpmvKey        key      = s->seq.key;
  SpmvChoice     choice;
  SpmvTarget     target;
  PetscBool      found = PETSC_FALSE, other;
  PetscInt       backend;
  PetscLogDouble start, end;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SpmvKeptDestroy(kept));
  PetscCall(MatSpmvBackend(s, s->seq.key.nz, &backend));
  if (s->seq.rounded) SpmvRequestFloats(&q);
  if (ordered) {
    OrderRequest(&q);
    backend = SPMV_BACKEND_HOST; /* which was chosen before rows were ordered */
    key.pattern ^= SPMV_ORDER_KEY;
  }
  if (SpmvChoiceAnswers(&s->seq.choice, &q, &key, backend, s->seq.moves)) {
    PetscCall(SpmvShadowReconsider(s, csr, &other)); /* it may be of another matrix, which this one is a duplicate of */
    if (!other) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (backend != SPMV_BACKEND_HOST) PetscCall(SpmvTargetGet(&target, &found));
  PetscCall(PetscLogEventBegin(SPMV_Tune, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  ierr = SpmvTune(&q, csr, &key, backend, s->seq.moves, found ? &target : NULL, SpmvBaselineRun, &baseline, &choice, kept);
  PetscCall(VecDestroy(&baseline.x));
  PetscCall(VecDestroy(&baseline.y));
  PetscCall(ierr);
  s->seq.choice = choice;
  PetscCall(PetscTime(&end));
  s->seq.choose_seconds += end - start;
  s->seq.spent.choosing += end - start;
  PetscCall(PetscLogEventEnd(SPMV_Tune, A, 0, 0, 0));
  s->seq.counts.tunings += choice.from == SPMV_FROM_ESTIMATE || choice.from == SPMV_FROM_MEASURE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Whether a device is estimated to be faster than the host for a sequential Mat, or a block, whose vectors will be where its
  products are: before it has a product, so that it is known where to put these; after that, who serves. Settings are those of
  `s`, which may be the parallel Mat's
*/
PetscErrorCode MatSpmvFaster(Mat A, SpmvShadow *s, PetscInt *backend)
{
  SPMV_TEMPORARY PetscInt    *j = NULL;
  SPMV_TEMPORARY PetscScalar *a = NULL;
  SpmvRequest                 q = s->settings.request;
  SpmvChoice                  choice;
  SpmvTarget                  target;
  SpmvCSR                     csr;
  SpmvKey                     key;
  PetscBool                   found;

  PetscFunctionBegin;
  *backend = SPMV_BACKEND_HOST;
  PetscCall(SpmvTargetGet(&target, &found));
  if (!found || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatSpmvPatternIsBuilt(A, s)) {
    if (s->seq.built.device) *backend = SPMV_BACKEND_DEVICE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSpmvGetRows(A, &csr));
  key = SpmvRowsKey(&csr);
  if (SpmvChoiceAnswers(&s->seq.choice, &q, &key, SPMV_BACKEND_AUTO, PETSC_FALSE)) {
    *backend = s->seq.choice.best.plan.backend;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!SpmvRowsSorted(&csr)) PetscCall(SpmvRowsSort(&csr, &j, &a));
  q.kind = PetscMin(q.kind, SPMV_TUNE_ESTIMATE);
  PetscCall(SpmvTune(&q, &csr, &key, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, NULL, NULL, &choice, NULL));
  *backend = choice.best.plan.backend;
  if (q.kind != s->settings.request.kind || s->parent != &SpmvParentSeq) PetscFunctionReturn(PETSC_SUCCESS);
  s->seq.choice = choice; /* the first product need not estimate again */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The estimates that a choice by measuring, which an earlier run made, was not asked for */
static PetscErrorCode ChosenEstimate(const SpmvCSR *csr, SpmvChoice *choice)
{
  SpmvRequest q = choice->request;
  SpmvChoice  again;

  PetscFunctionBegin;
  q.kind = SPMV_TUNE_ESTIMATE;
  PetscCall(SpmvTune(&q, csr, &choice->key, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, NULL, NULL, &again, NULL));
  PetscCall(PetscArraycpy(choice->predicted[SPMV_BACKEND_HOST], again.predicted[SPMV_BACKEND_HOST], SPMV_CANDIDATES));
  choice->best.predicted = again.predicted[SPMV_BACKEND_HOST][choice->best.number];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What was chosen, with an estimate, if one can be made. What was chosen by measuring takes no longer than what is estimated to
  take the least
*/
static PetscErrorCode ChosenPredicted(SpmvShadow *shadow, const SpmvCSR *csr, SpmvOption *o)
{
  SpmvChoice           *choice = &shadow->seq.choice;
  const PetscLogDouble *least  = choice->predicted[SPMV_BACKEND_HOST];
  SpmvOption            options[2];
  SpmvPlan              plan;
  char                  why[512];

  PetscFunctionBegin;
  if (choice->from == SPMV_FROM_WISDOM) PetscCall(ChosenEstimate(csr, choice));
  *o   = choice->best;
  plan = o->plan;
  for (PetscInt k = 0; k < SPMV_CANDIDATES && o->predicted > 0; k++) {
    if (least[k] > 0) o->predicted = PetscMin(o->predicted, least[k]);
  }
  if (o->predicted > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvResolve(&SpmvCandidate[o->number]->host->side, csr, NULL, &plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS); /* the build says it */
  PetscCall(SpmvEstimateGain(csr, shadow->settings.request.isa, o->number, &plan, &choice->reach, options));
  *o = options[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvChosenDestroy(SpmvChosen *c)
{
  PetscFunctionBegin;
  PetscCall(SpmvKeptDestroy(&c->kept));
  PetscCall(SpmvOrderDestroy(&c->order));
  PetscCall(SpmvOrderRowsDestroy(&c->ordered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is to serve rows in an order, if it is worth it (`good`); else what was chosen before stays the choice */
static PetscErrorCode ShadowTryOrder(Mat A, SpmvShadow *shadow, const SpmvCSR *csr, SpmvChosen *c, PetscBool *good)
{
  const PetscBool  always  = (PetscBool)(shadow->settings.order == SPMV_ORDER_LEVELS);
  const SpmvChoice before  = shadow->seq.choice;
  const PetscInt   threads = shadow->settings.request.threads;
  const PetscReal  calls   = shadow->settings.request.calls;
  SpmvOption       serves, ordered;
  PetscLogDouble   wait;

  PetscFunctionBegin;
  if (always) *good = SpmvOrderAllows(csr);
  else {
    PetscCall(SpmvOrderWait(csr, &shadow->seq.choice.reach, &wait));
    *good = (PetscBool)(wait > 0);
    if (*good) {
      PetscCall(ChosenPredicted(shadow, csr, &serves));
      *good = SpmvOrderMayPay(csr, wait, calls, &serves, threads);
    }
  }
  if (!*good) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvOrderCreate(csr, threads, &c->order));
  PetscCall(SpmvOrderRows(c->order, csr, &c->ordered));
  PetscCall(SpmvShadowChoose(A, shadow, &c->ordered, PETSC_TRUE, &c->kept));
  *good = OrderServes(&shadow->seq.choice.best); /* or the type's own format hands over to one that needs AIJ's rows */
  if (*good && !always) {
    PetscCall(ChosenPredicted(shadow, &c->ordered, &ordered));
    PetscCall(SpmvOrderPays(csr, c->order, calls, &serves, &ordered, good));
  }
  if (*good) shadow->seq.choice.best.build += SpmvOrderSeconds(csr);
  else shadow->seq.choice = before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  An order for what was chosen without one, with the choice for rows in it, if that is worth it and it is time. Looked for once
  after each choice; *chosen stays as it is if there is none
*/
PetscErrorCode SpmvShadowFindOrder(Mat A, SpmvShadow *shadow, const SpmvCSR *csr, SpmvChosen *chosen)
{
  SPMV_DESTROY_BY(SpmvChosenDestroy) SpmvChosen found = {0};
  SpmvSeq                                      *s     = &shadow->seq;
  const PetscInt                                kind  = shadow->settings.order;
  SpmvRequest                                   q     = shadow->settings.request;
  PetscBool                                     never, good;

  PetscFunctionBegin;
  OrderRequest(&q);
  never = (PetscBool)(kind == SPMV_ORDER_NONE || !q.allowed || s->choice.best.plan.backend == SPMV_BACKEND_DEVICE ||
                      (kind == SPMV_ORDER_AUTO && q.kind == SPMV_TUNE_OFF));
  if (s->ordertried || (!never && kind == SPMV_ORDER_AUTO && !OrderDue(shadow))) PetscFunctionReturn(PETSC_SUCCESS);
  s->ordertried = PETSC_TRUE;
  if (never) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ShadowTryOrder(A, shadow, csr, &found, &good));
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvChosenDestroy(chosen));
  *chosen = found;
  found   = (SpmvChosen){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
