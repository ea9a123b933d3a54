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
  for (PetscInt k = 0; k < n; k++) option[k]->measured = PetscMin(PETSC_MAX_REAL, again[k] + search->moving);
  PetscFunctionReturn(PETSC_SUCCESS);
}
