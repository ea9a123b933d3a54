/*
  shares.c - what PETSc's log says of the whole run

  PETSc times its events only while a log is kept, as -log_view makes it do: -spmv_advise begins one when the library is loaded.
*/
#include "report.h"

#define SHARES_EVENTS 10 /* of a share, at most */

const char *const SpmvShareNames[SPMV_SHARE_COUNT] = {
  "MatMult",  "MatSOR", "MatSolve", "MatPtAP symbolic", "MatPtAP numeric", "factorisations", "orthogonalisation", "incomplete",
  "complete", "GAMG",   "builds"};

/* The events that are added up, by their names in -log_view, where they are cut to 16 characters */
static const char *const Events[SPMV_SHARE_COUNT][SHARES_EVENTS] = {
  {"MatMult", "MatMultAdd", "MatMultTranspose", "MatMultTrAdd", "MatMultHermitian", "MatMultHTAdd"},
  {"MatSOR"},
  {"MatSolve", "MatSolves", "MatSolveAdd", "MatSolveTranspos", "MatSolveTrAdd", "MatForwardSolve", "MatBackwardSolve",
   "MatMatSolve", "MatMatTrSolve"},
  {"MatPtAPSymbolic"},
  {"MatPtAPNumeric"},
  {"MatLUFactor", "MatLUFactorSym", "MatLUFactorNum", "MatCholeskyFctr", "MatCholFctrSym", "MatCholFctrNum", "MatILUFactor",
   "MatILUFactorSym", "MatICCFactorSym"},
  {"KSPGMRESOrthog"},
  {"MatILUFactor", "MatILUFactorSym", "MatICCFactorSym"},
  {"MatLUFactor", "MatLUFactorSym", "MatCholeskyFctr", "MatCholFctrSym"},
  {"PCSetUp_GAMG+"},
  {"MatSpmvBuild", "MatSpmvTune", "MatSpmvUpdate"}};

/* Adds up events over all stages */
PetscErrorCode SpmvSharesGet(SpmvReport *run)
{
  PetscInt stages = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogIsActive(&run->logged));
  PetscCall(PetscArrayzero(run->share, SPMV_SHARE_COUNT));
  if (!run->logged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvLogGetStages(&stages));
  for (int k = 0; k < SPMV_SHARE_COUNT; k++) {
    for (int e = 0; e < SHARES_EVENTS && Events[k][e]; e++) {
      PetscLogEvent event;

      PetscCall(PetscLogEventGetId(Events[k][e], &event));
      for (PetscInt stage = 0; stage < stages && event >= 0; stage++) {
        PetscEventPerfInfo info;

        PetscCall(PetscLogEventGetPerfInfo((PetscLogStage)stage, event, &info));
        run->share[k].calls += info.count;
        run->share[k].seconds += info.time;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
