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

/* petsc.c; tests put others in their place. NULL in a PETSc without CUDA; they change nothing where PETSc uses another device */
typedef struct {
  PetscErrorCode (*stream)(void **stream);  /* PETSc's stream now: fetch it for each use */
  PetscErrorCode (*index)(PetscInt *index); /* the device that PETSc uses */
} SpmvPetscCudaFns;
extern SpmvPetscCudaFns SpmvPetscCuda;
