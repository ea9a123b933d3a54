/*
  sample.h - for test programs that try many things: all of them, or some
*/
#pragma once
#include <petscsys.h>

/* -sample N: of the many things that a test tries, every N-th only, as in "make test"; without it all, as in "make test-all" */
static inline PetscInt SpmvTestSample(void)
{
  static PetscInt n;

  if (!n && (PetscOptionsGetInt(NULL, NULL, "-sample", &n, NULL) || n < 1)) n = 1;
  return n;
}
static inline PetscBool SpmvTestSampled(void)
{
  static PetscInt k;

  return (PetscBool)(k++ % SpmvTestSample() == 0);
}
