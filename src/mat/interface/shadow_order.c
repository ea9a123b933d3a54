/*
  shadow_order.c - whether a storage has its rows and columns in an order of ours, and when that is looked for

  An order takes 20 to 45 products by AIJ's kernel to make, with the rows in it and the storage of these (matrices of 5 and 30 M
  entries in random numbering, where memory is touched for the first time), and gains 0.2 to 0.5 of one with each product. So it
  waits for SPMV_ORDER_WAIT times as many products as a storage does, until which the storage serves with rows as they come: by
  then that has gained about as much over AIJ's kernel as the order costs.
*/
#include "spmvmat.h"

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

PetscBool SpmvOrderServes(const SpmvOption *o)
{
  return (PetscBool)(o->plan.backend == SPMV_BACKEND_HOST && OrderTakes(o->number));
}

/* What is asked for of rows in an order: the formats that can take them */
void SpmvOrderRequest(SpmvRequest *q)
{
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    if (!OrderTakes(k)) q->allowed &= ~((PetscInt)1 << k);
  }
}

/* What was chosen for the present order, with an estimate, if one can be made */
static PetscErrorCode OrderPredicted(const SpmvShadow *shadow, const SpmvCSR *csr, SpmvOption *serves)
{
  const SpmvOption *best = &shadow->seq.choice.best;
  SpmvPlan          plan = best->plan;
  SpmvOption        options[2];
  char              why[512];

  PetscFunctionBegin;
  *serves = *best;
  if (serves->predicted > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvResolve(&SpmvCandidate[best->number]->host->side, csr, NULL, &plan, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS); /* the build says it */
  PetscCall(SpmvEstimateGain(csr, shadow->settings.request.isa, best->number, &plan, options));
  *serves = options[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order that a storage is to have, after what serves without one was chosen; NULL: none. Looked for once for each pattern */
PetscErrorCode SpmvShadowFindOrder(SpmvShadow *shadow, const SpmvCSR *csr, SpmvOrder **order)
{
  SpmvSeq       *s    = &shadow->seq;
  const PetscInt kind = shadow->settings.order;
  SpmvRequest    q    = shadow->settings.request;
  SpmvOption     serves;

  PetscFunctionBegin;
  *order = NULL;
  SpmvOrderRequest(&q);
  if (kind == SPMV_ORDER_NONE || s->ordertried || !q.allowed || s->choice.best.plan.backend == SPMV_BACKEND_DEVICE)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (kind == SPMV_ORDER_AUTO && (q.kind == SPMV_TUNE_OFF || !OrderDue(shadow))) PetscFunctionReturn(PETSC_SUCCESS);
  s->ordertried = PETSC_TRUE;
  if (kind == SPMV_ORDER_LEVELS) {
    if (SpmvOrderAllows(csr)) PetscCall(SpmvOrderCreate(csr, q.threads, order));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(OrderPredicted(shadow, csr, &serves));
  if (serves.predicted > 0) PetscCall(SpmvTuneOrder(csr, &serves, q.threads, q.calls, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
