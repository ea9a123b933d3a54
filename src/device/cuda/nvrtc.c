/*
  nvrtc.c - CUDA's run-time compiler: from a source to a cubin, which needs neither a driver nor a GPU

  libnvrtc comes with the toolkit. It is opened at run time, and the few prototypes that are needed stand here.
*/
#include "cuda.h"

typedef void *NvrtcProgram;

#define NVRTC_FUNCTIONS(X) \
  X(int, nvrtcVersion, (int *, int *)) \
  X(int, nvrtcCreateProgram, (NvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
  X(int, nvrtcCompileProgram, (NvrtcProgram, int, const char *const *)) \
  X(int, nvrtcGetProgramLogSize, (NvrtcProgram, size_t *)) \
  X(int, nvrtcGetProgramLog, (NvrtcProgram, char *)) \
  X(int, nvrtcGetCUBINSize, (NvrtcProgram, size_t *)) \
  X(int, nvrtcGetCUBIN, (NvrtcProgram, char *)) \
  X(int, nvrtcDestroyProgram, (NvrtcProgram *))
SPMV_LIBRARY(NVRTC_FUNCTIONS)

#define NVRTC_OPTIONS_MAX 40 /* options of a compilation, at most */

#define PetscCallNvrtc(function, ...) \
  do { \
    const int code_ = function(__VA_ARGS__); \
    PetscCheck(!code_, PETSC_COMM_SELF, PETSC_ERR_LIB, \
               "NVRTC: " #function "() gave error %d; set -mat_spmv_backend host to do without", code_); \
  } while (0)

/* PETSC_FALSE if there is no NVRTC */
PetscBool SpmvNvrtcLoad(void)
{
  static const char *const files[] = {"libnvrtc.so",
                                      "libnvrtc.so.13",
                                      "libnvrtc.so.12",
                                      "libnvrtc.so.11.2",
                                      "/usr/local/cuda/lib64/libnvrtc.so",
                                      "/usr/local/cuda/lib/libnvrtc.so",
                                      NULL};

  return SpmvLibraryLoad(files, Symbols);
}

PetscErrorCode SpmvNvrtcVersion(int *major, int *minor)
{
  PetscFunctionBegin;
  PetscCallNvrtc(nvrtcVersion, major, minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The cubin of a source with its preludes for arch 80, 90, ..., its size in bytes, and what the compiler said; both are the
  caller's to PetscFree(). There is no cubin if the source was refused. options: separated by blanks
*/
PetscErrorCode SpmvNvrtcCompile(int arch, const char source[], const char options[], char **cubin, size_t *size, char **log)
{
  char         all[4 * SPMV_DEVICE_OPTIONS], *option[NVRTC_OPTIONS_MAX], *rest = NULL;
  NvrtcProgram program;
  size_t       nlog;
  int          n = 0, refused;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-arch=sm_%d -default-device --ptxas-options=-v %s", arch, options));
  for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    PetscCheck(n < NVRTC_OPTIONS_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d options: %s", NVRTC_OPTIONS_MAX, options);
    option[n++] = word;
  }
  PetscCallNvrtc(nvrtcCreateProgram, &program, source, "petscspmv.cl", 0, NULL, NULL);
  refused = nvrtcCompileProgram(program, n, (const char *const *)option);
  PetscCallNvrtc(nvrtcGetProgramLogSize, program, &nlog);
  PetscCall(PetscCalloc1(nlog + 1, log));
  PetscCallNvrtc(nvrtcGetProgramLog, program, *log);
  *cubin = NULL;
  if (!refused) {
    PetscCallNvrtc(nvrtcGetCUBINSize, program, size);
    PetscCall(PetscMalloc1(*size, cubin));
    PetscCallNvrtc(nvrtcGetCUBIN, program, *cubin);
  }
  PetscCallNvrtc(nvrtcDestroyProgram, &program);
  PetscFunctionReturn(PETSC_SUCCESS);
}
