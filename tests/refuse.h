/*
  refuse.h - for test programs that set an option which must be refused
*/
#pragma once
#include <petscspmv.h>

/* Prints the message of an error instead of a stack */
static inline PetscErrorCode Refused(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n,
                                     PetscErrorType p, const char *message, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL && !PetscGlobalRank) printf("refused: %s\n", message);
  (void)comm, (void)line, (void)function, (void)file, (void)ctx;
  return n;
}

/* MatSetFromOptions() with one more option, which it must refuse */
static inline PetscErrorCode Refuse(Mat A, const char option[], const char value[])
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, option, value));
  PetscCall(PetscPushErrorHandler(Refused, NULL));
  ierr = MatSetFromOptions(A);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %s was not refused", option, value);
  PetscCall(PetscOptionsClearValue(NULL, option));
  PetscFunctionReturn(0);
}
