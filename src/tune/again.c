/*
  again.c - what is measured once more before the choice: the best options of a device
*/
#include "tune.h"

#define AGAIN_MOST 6 /* options of a device of least time that are measured again at the end */

/* The device's measured option of least time that is not among n others; NULL: there is none */
static SpmvOption *AgainBest(const SpmvSearch *search, PetscInt n, SpmvOption *const others[])
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
PetscErrorCode SpmvMeasureAgain(SpmvSearch *search)
{
  const SpmvTarget *target = search->sample.target;
  SpmvOption       *option[AGAIN_MOST];
  PetscLogDouble    again[AGAIN_MOST], least = PETSC_MAX_REAL, now;
  PetscInt          n = 0, m = 0;

  PetscFunctionBegin;
  while (n < AGAIN_MOST && (option[n] = AgainBest(search, n, option))) n++;
  for (; m < n; m++) {
    SpmvOption *o = option[m];
    SpmvTrial   trial;

    PetscCall(SpmvMeasureTime(&now));
    if (now - search->start + o->build + SPMV_MEASURED * o->measured > search->request->seconds) break;
    PetscCall(target->attempt(target, SpmvCandidate[o->number], search->sample.all, &o->plan, &search->request->host[o->number],
                              SPMV_MEASURED, &trial));
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
