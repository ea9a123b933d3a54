/*
  nvrtc.h - CUDA's run-time compiler: for cuda.c, and for the test that compiles every kernel
*/
#pragma once
#include "../device.h"

extern PetscBool      SpmvNvrtcLoad(void);
extern PetscErrorCode SpmvNvrtcVersion(int *major, int *minor);
extern PetscErrorCode SpmvNvrtcCompile(int arch, const char source[], const char options[], char **cubin, size_t *size,
                                       char **log);
