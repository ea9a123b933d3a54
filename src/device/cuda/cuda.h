/*
  cuda.h - what the files of this folder have in common; the test that compiles every kernel uses nvrtc.c as well
*/
#pragma once
#include "../device.h"

/* nvrtc.c */
extern PetscBool      SpmvNvrtcLoad(void);
extern PetscErrorCode SpmvNvrtcVersion(int *major, int *minor);
extern PetscErrorCode SpmvNvrtcCompile(int arch, const char source[], const char options[], char **cubin, size_t *size,
                                       char **log);

/* petsc.c; tests put another in its place */
extern PetscErrorCode (*SpmvPetscCuda)(PetscInt *index, void **stream);
