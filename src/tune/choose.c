/*
  choose.c - the knobs that a plan leaves open, by estimate of the plans that its format proposes

  Section 4 of the BCCOO paper takes the footprint of the candidates, on a sample of the rows, as the first criterion. A matrix in
  cache is not bound by its footprint, so here it is the time of the model. The next round of proposals is asked for only where
  the present one gained, so that a matrix without blocks, say, is not tried with large ones. A few rows decide; more rows must
  confirm that what they chose is faster than the plainest proposal.
*/
#include "tune.h"

#define CHOOSE_GAIN 1.15 /* what proposals after the plainest must gain: they are likely to take longer to build and to set */

/* Estimates proposals; of a device they are resolved before, and what it does not allow takes forever */
static PetscErrorCode ChooseEstimate(SpmvSample *s, PetscInt isa, PetscInt number, PetscInt n, const SpmvPlan plans[],
                                     SpmvOption options[])
{
  SpmvPlan resolved[SPMV_PROPOSALS];
  char     why[512];

  PetscFunctionBegin;
  if (plans->backend == SPMV_BACKEND_HOST) {
    PetscCall(SpmvEstimate(s, isa, number, n, plans, options));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < n; k++) {
    resolved[k] = plans[k];
    PetscCall(SpmvResolve(SpmvFormatSide(SpmvCandidate[number], SPMV_BACKEND_DEVICE), s->all, s->target->info, &resolved[k], why,
                          sizeof(why)));
    if (why[0]) options[k].predicted = PETSC_MAX_REAL;
    else PetscCall(SpmvEstimate(s, isa, number, 1, &resolved[k], &options[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvPlanChoose - replaces what a plan, with threads and backend, leaves open, if its format has proposals for it

  target: the device, for plans for one. estimated: on return how many plans were estimated; or NULL. No clock is read: the same
  matrix gives the same plan. The format's resolve() replaces what is still open on return
*/
PetscErrorCode SpmvPlanChoose(const SpmvCSR *csr, PetscInt isa, const SpmvTarget *target, PetscInt number, SpmvPlan *plan,
                              PetscInt *estimated)
{
  const SpmvSide *side = SpmvFormatSide(SpmvCandidate[number], plan->backend);
  SPMV_DESTROY_BY(SpmvSampleDestroy)
  SpmvSample     sample = {0}, larger = {0};
  SpmvPlan       best[2] = {*plan, *plan}, plans[SPMV_PROPOSALS]; /* of the plainest, and of all */
  SpmvOption     options[SPMV_PROPOSALS];
  PetscLogDouble least = PETSC_MAX_REAL;
  PetscInt       n, rounds = 0, total = 0;
  PetscBool      gained = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt round = 0; side->propose && gained; round++) {
    PetscCall(side->propose(csr, plan, round, &n, plans));
    if (!n) break;
    if (!round) PetscCall(SpmvSampleCreate(csr, SPMV_SAMPLE_PLANS, &sample));
    sample.target = target;
    PetscCall(ChooseEstimate(&sample, isa, number, n, plans, options));
    total += n;
    gained = PETSC_FALSE;
    for (PetscInt k = 0; k < n; k++) {
      const PetscLogDouble cost = (round ? CHOOSE_GAIN : 1) * options[k].predicted;

      if (cost >= least) continue;
      least   = cost;
      best[1] = plans[k];
      gained  = PETSC_TRUE;
    }
    if (!round) best[0] = best[1];
    else rounds += gained;
  }
  if (rounds) {
    PetscCall(SpmvSampleCreate(csr, SPMV_SAMPLE_PAIR, &larger));
    larger.host   = sample.host; /* how far x is does not depend on the windows */
    larger.device = sample.device;
    larger.target = target;
    PetscCall(ChooseEstimate(&larger, isa, number, 2, best, options));
    total += 2;
  }
  *plan = best[rounds && options[1].predicted < options[0].predicted];
  if (estimated) *estimated = total;
  PetscFunctionReturn(PETSC_SUCCESS);
}
