/*
  sample.h - for test programs that try many things: all of them, or some
*/
#pragma once
#include <petscsys.h>

/*
  -sample N: of the many things that a test tries, every N-th only, as in "make test"; without it all, as in "make test-all". With
  -type T the length of the type's name says where it begins: types together try more of them
*/
static inline PetscInt SpmvTestSample(void)
{
  static PetscInt n;

  if (!n && (PetscOptionsGetInt(NULL, NULL, "-sample", &n, NULL) || n < 1)) n = 1;
  return n;
}
static inline PetscBool SpmvTestSampled(void)
{
  static PetscInt k = -1;
  char            type[64];
  PetscBool       set;

  if (k < 0 && (PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), &set) || !set)) type[0] = 0;
  if (k < 0) k = (PetscInt)strlen(type);
  return (PetscBool)(k++ % SpmvTestSample() == 0);
}
