/*
  nvrtc.c - CUDA's run-time compiler: from a source to a cubin, which needs neither a driver nor a GPU

  libnvrtc comes with the toolkit. It is opened at run time, and the few prototypes that are needed stand here.
*/
#include "nvrtc.h"
#include <dlfcn.h>

typedef void *NvrtcProgram;

#define NVRTC_FUNCTIONS(X) \
  X("nvrtcVersion", Version, (int *, int *)) \
  X("nvrtcCreateProgram", CreateProgram, \
    (NvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
  X("nvrtcCompileProgram", CompileProgram, (NvrtcProgram, int, const char *const *)) \
  X("nvrtcGetProgramLogSize", GetProgramLogSize, (NvrtcProgram, size_t *)) \
  X("nvrtcGetProgramLog", GetProgramLog, (NvrtcProgram, char *)) \
  X("nvrtcGetCUBINSize", GetCUBINSize, (NvrtcProgram, size_t *)) \
  X("nvrtcGetCUBIN", GetCUBIN, (NvrtcProgram, char *)) \
  X("nvrtcDestroyProgram", DestroyProgram, (NvrtcProgram *))

#define X(symbol, name, args) int(*name) args;
static struct {
  NVRTC_FUNCTIONS(X)
} nvrtc;
#undef X

#define NVRTC_OPTIONS_MAX 40 /* options of a compilation, at most */

static PetscBool NvrtcLoaded;

#define NvrtcCheck(code, call) \
  PetscCheck(!(code), PETSC_COMM_SELF, PETSC_ERR_LIB, "NVRTC: %s gave error %d; set -mat_spmv_backend host to do without", call, \
             code)
#define PetscCallNvrtc(function, ...) \
  do { \
    const int code_ = nvrtc.function(__VA_ARGS__); \
    NvrtcCheck(code_, "nvrtc" #function "()"); \
  } while (0)

#define X(symbol, name, args) \
  *(void **)&nvrtc.name = dlsym(handle, symbol); \
  if (!nvrtc.name) return PETSC_FALSE;

/* PETSC_FALSE if there is no NVRTC */
PetscBool SpmvNvrtcLoad(void)
{
  static const char *const names[] = {"libnvrtc.so",
                                      "libnvrtc.so.13",
                                      "libnvrtc.so.12",
                                      "libnvrtc.so.11.2",
                                      "/usr/local/cuda/lib64/libnvrtc.so",
                                      "/usr/local/cuda/lib/libnvrtc.so"};
  void                    *handle  = NULL;

  if (NvrtcLoaded) return PETSC_TRUE;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names) && !handle; k++) handle = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  if (!handle) return PETSC_FALSE;
  NVRTC_FUNCTIONS(X)
  return NvrtcLoaded = PETSC_TRUE;
}
#undef X

PetscErrorCode SpmvNvrtcVersion(int *major, int *minor)
{
  PetscFunctionBegin;
  PetscCallNvrtc(Version, major, minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvNvrtcCompile - a cubin; needs NVRTC, but neither a driver nor a GPU

  Input Parameters:
+ arch    - 80, 90, ...
. source  - with preludes
- options - separated by spaces

  Output Parameters:
+ cubin - NULL if the source was refused; the caller's to PetscFree()
. size  - its bytes
- log   - what the compiler said; the caller's to PetscFree()
*/
PetscErrorCode SpmvNvrtcCompile(int arch, const char source[], const char options[], char **cubin, size_t *size, char **log)
{
  char         all[4 * SPMV_DEVICE_OPTIONS], *option[NVRTC_OPTIONS_MAX];
  NvrtcProgram program;
  size_t       nlog;
  int          n = 0, refused;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-arch=sm_%d -default-device --ptxas-options=-v %s", arch, options));
  for (char *word = strtok(all, " "); word; word = strtok(NULL, " ")) {
    PetscCheck(n < NVRTC_OPTIONS_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d options: %s", NVRTC_OPTIONS_MAX, options);
    option[n++] = word;
  }
  PetscCallNvrtc(CreateProgram, &program, source, "petscspmv.cl", 0, NULL, NULL);
  refused = nvrtc.CompileProgram(program, n, (const char *const *)option);
  PetscCallNvrtc(GetProgramLogSize, program, &nlog);
  PetscCall(PetscCalloc1(nlog + 1, log));
  PetscCallNvrtc(GetProgramLog, program, *log);
  *cubin = NULL;
  if (!refused) {
    PetscCallNvrtc(GetCUBINSize, program, size);
    PetscCall(PetscMalloc1(*size, cubin));
    PetscCallNvrtc(GetCUBIN, program, *cubin);
  }
  PetscCallNvrtc(DestroyProgram, &program);
  PetscFunctionReturn(PETSC_SUCCESS);
}
