/*
  measure_device.c - builds options of a device and runs them, in turns with the fastest one; the best ones once more before the
  choice
*/
#include "tune.h"
#include "../device/device.h"

/*
  SpmvMeasureDevice - builds an option of the device and runs it in turns with the fastest one so far: what slows the machine down
  meanwhile slows both. Its time is that one's, as it was measured before, times how much longer this one took now

  Output Parameters:
+ measured - seconds of a product, those that vectors move for among them; PETSC_MAX_REAL: the device has no room for it
- build    - seconds
*/
PetscErrorCode SpmvMeasureDevice(SpmvSearch *search, const SpmvOption *option, PetscLogDouble *measured, PetscLogDouble *build)
{
  const SpmvTarget *target   = search->sample.target;
  PetscLogDouble    compiled = SpmvPrograms[SPMV_COMPILED], reused = SpmvPrograms[SPMV_LOADED] + SpmvPrograms[SPMV_FOUND];
  PetscLogDouble    product;
  SpmvTrial         trial;

  PetscFunctionBegin;
  PetscCall(target->attempt(target, SpmvCandidate[option->number], search->sample.all, &option->plan,
                            &search->request->host[option->number], SPMV_MEASURED, &search->fastest, &trial));
  product = trial.beside > 0 ? search->fastest_s * (trial.product / trial.beside) : trial.product;
  if (!trial.nomem && (trial.beside <= 0 || trial.product < trial.beside)) search->fastest_s = product;
  *measured = trial.nomem ? PETSC_MAX_REAL : product + search->moving;
  *build    = trial.build;
  search->choice->products += trial.products;
  search->choice->compiled += (PetscInt)(SpmvPrograms[SPMV_COMPILED] - compiled);
  search->choice->reused += (PetscInt)(SpmvPrograms[SPMV_LOADED] + SpmvPrograms[SPMV_FOUND] - reused);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define AGAIN_MOST 6 /* options of a device of least time that are measured again at the end */

/* The device's measured option of least time that is not among n others; NULL: there is none */
static SpmvOption *AgainBest(const SpmvSearch *search, PetscInt n, SpmvOption *const others[])
{
  SpmvOption *best = NULL;

  for (SpmvOption *o = search->option; o < search->option + search->n; o++) {
    PetscInt k = 0;

    while (k < n && others[k] != o) k++;
    if (k < n || o->plan.backend != SPMV_BACKEND_DEVICE) continue;
    if (o->measured <= 0 || o->measured >= PETSC_MAX_REAL) continue; /* the latter had no room */
    if (!best || o->measured < best->measured) best = o;
  }
  return best;
}

/*
  Measures the best options of a device again: the best of many was lucky as well, and they are so near that this decides. Their
  times are those, unless there is no time for all
*/
PetscErrorCode SpmvMeasureAgain(SpmvSearch *search)
{
  SpmvOption    *option[AGAIN_MOST];
  PetscLogDouble again[AGAIN_MOST], now;
  PetscInt       n = 0;

  PetscFunctionBegin;
  while (n < AGAIN_MOST && (option[n] = AgainBest(search, n, option))) n++;
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(SpmvMeasureTime(&now));
    if (now - search->start + option[k]->build + SPMV_MEASURED * option[k]->measured > search->request->seconds)
      PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(SpmvMeasureDevice(search, option[k], &again[k], &option[k]->build));
    search->choice->measured++;
  }
  for (PetscInt k = 0; k < n; k++) option[k]->measured = again[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}
