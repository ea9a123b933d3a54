/*
  warn.h - what a user should hear though it is no error
*/
#pragma once
#include "../spmvimpl.h"

extern PetscErrorCode SpmvWarn(const char format[], ...) PETSC_ATTRIBUTE_FORMAT(1, 2);
