/*
  check.c - -mat_spmv_tune_check: a storage whose products turn out to be slower than those by AIJ's kernel is dropped

  AIJ's kernel makes the first -mat_spmv_build_after products, so that its times are there. They are compared with those of the
  first products by the storage, but for a few that find the caches as the build left them. Medians, since a machine that does
  other things besides delays some. A new pattern or plan is checked anew, new values are not.
*/
#include "spmvmat.h"

#define CHECK_COLD 2 /* products after a build that do not count */

/*
  SpmvCheckCall - takes the time of a product by AIJ's kernel or by ours

  Output Parameters:
+ lost   - PETSC_TRUE if enough is known now, and ours is the slower one
- median - [2] seconds of AIJ's and of ours, if it lost
*/
void SpmvCheckCall(SpmvCheck *c, PetscBool ours, PetscLogDouble seconds, PetscBool *lost, PetscLogDouble median[2])
{
  *lost = PETSC_FALSE;
  if (c->done) return;
  if (!ours) {
    c->seconds[0][c->calls[0]++ % SPMV_CHECK_TIMES] = seconds; /* the last ones: the first find caches cold */
    return;
  }
  if (++c->calls[1] <= CHECK_COLD) return;
  c->seconds[1][(c->calls[1] - 1) % SPMV_CHECK_TIMES] = seconds;
  if (c->calls[1] < CHECK_COLD + SPMV_CHECK_TIMES) return;
  c->done = PETSC_TRUE;
  if (c->calls[0] < SPMV_CHECK_TIMES) return; /* a plan was changed after a product or two: there is nothing to compare with */
  for (int k = 0; k < 2; k++) median[k] = SpmvMedian(SPMV_CHECK_TIMES, c->seconds[k]);
  *lost = (PetscBool)(median[1] > median[0]);
}

/* Refuses to check where AIJ's kernel makes too few products */
PetscErrorCode MatSpmvCheckAllowed(Mat A, PetscBool check, PetscInt build_after)
{
  PetscFunctionBegin;
  PetscCheck(!check || build_after >= SPMV_CHECK_TIMES, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "-mat_spmv_tune_check compares with %d products by AIJ's kernel, and -mat_spmv_build_after is %" PetscInt_FMT
             "; leave one of the two out",
             SPMV_CHECK_TIMES, build_after);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a product by a storage of the host or by AIJ's kernel that was to serve until there is one */
PetscErrorCode MatSpmvCheck(Mat A, SpmvShadow *shadow, PetscBool ours, PetscLogDouble seconds)
{
  SpmvSeq       *s = &shadow->seq;
  SpmvOption     winner;
  PetscLogDouble median[2];
  PetscBool      lost;

  PetscFunctionBegin;
  if (s->check.nonzerostate != A->nonzerostate) s->check = (SpmvCheck){.nonzerostate = A->nonzerostate};
  SpmvCheckCall(&s->check, ours, seconds, &lost, median);
  if (!lost) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(A, "Products by %s take %g s, those by AIJ's kernel %g s: the storage is dropped (-mat_spmv_tune_check)\n",
                      s->built.format->name, (double)median[1], (double)median[0]));
  winner = (SpmvOption){.number = SPMV_NUMBER_AIJ, .plan = shadow->settings.request.host[SPMV_NUMBER_AIJ], .measured = median[0]};
  s->choice.second          = s->choice.best;
  s->choice.second.measured = median[1];
  s->choice.best            = winner;
  s->choice.from            = SPMV_FROM_CHECK;
  PetscCall(SpmvShadowDrop(shadow));
  s->built   = (SpmvBuilt){.format = SpmvCandidate[SPMV_NUMBER_AIJ], .plan = winner.plan};
  s->current = PETSC_TRUE;
  s->choices++;
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
