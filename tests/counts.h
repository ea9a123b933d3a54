/*
  counts.h - for test programs that are not linked with the library: what a Mat has counted
*/
#pragma once
#include <petscspmv.h>

static inline PetscErrorCode Counts(Mat A, SpmvCounts *counts)
{
  PetscErrorCode (*get)(Mat, SpmvCounts *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetCounts_C", &get));
  PetscCheck(get, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "no MatSpmvGetCounts_C: is the library loaded?");
  PetscCall((*get)(A, counts));
  PetscFunctionReturn(0);
}
