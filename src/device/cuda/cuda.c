/*
  cuda.c - NVIDIA's GPUs through the CUDA driver API; kernels are compiled by NVRTC

  libcuda comes with the driver, libnvrtc with the toolkit. Both are opened at run time, and the few prototypes that are
  needed stand here. The primary context is used, which is also PETSc's and the CUDA runtime's; it is made current for the
  time of each call only.
*/
#include "nvrtc.h"
#include <dlfcn.h>

typedef unsigned long long CUdeviceptr;
typedef void              *CUhandle; /* contexts, modules, functions, streams */

enum { /* of cuda.h */
       CUDA_ERROR_OUT_OF_MEMORY                        = 2,
       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK       = 1,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR    = 75,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR    = 76
};

/* Every function that is called: name in the library, name here, arguments. All return 0 or an error */
#define CUDA_FUNCTIONS(X) \
  X("cuInit", Init, (unsigned)) \
  X("cuGetErrorName", GetErrorName, (int, const char **)) \
  X("cuDriverGetVersion", DriverGetVersion, (int *)) \
  X("cuDeviceGetCount", DeviceGetCount, (int *)) \
  X("cuDeviceGet", DeviceGet, (int *, int)) \
  X("cuDeviceGetName", DeviceGetName, (char *, int, int)) \
  X("cuDeviceTotalMem_v2", DeviceTotalMem, (size_t *, int)) \
  X("cuDeviceGetAttribute", DeviceGetAttribute, (int *, int, int)) \
  X("cuDevicePrimaryCtxRetain", DevicePrimaryCtxRetain, (CUhandle *, int)) \
  X("cuDevicePrimaryCtxRelease_v2", DevicePrimaryCtxRelease, (int)) \
  X("cuCtxPushCurrent_v2", CtxPushCurrent, (CUhandle)) \
  X("cuCtxPopCurrent_v2", CtxPopCurrent, (CUhandle *)) \
  X("cuCtxSynchronize", CtxSynchronize, (void)) \
  X("cuMemAlloc_v2", MemAlloc, (CUdeviceptr *, size_t)) \
  X("cuMemFree_v2", MemFree, (CUdeviceptr)) \
  X("cuMemcpyHtoD_v2", MemcpyHtoD, (CUdeviceptr, const void *, size_t)) \
  X("cuMemcpyDtoH_v2", MemcpyDtoH, (void *, CUdeviceptr, size_t)) \
  X("cuModuleLoadData", ModuleLoadData, (CUhandle *, const void *)) \
  X("cuModuleUnload", ModuleUnload, (CUhandle)) \
  X("cuModuleGetFunction", ModuleGetFunction, (CUhandle *, CUhandle, const char *)) \
  X("cuLaunchKernel", LaunchKernel, (CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **, void **))

#define NVRTC_FUNCTIONS(X) \
  X("nvrtcVersion", Version, (int *, int *)) \
  X("nvrtcCreateProgram", CreateProgram, (CUhandle *, const char *, const char *, int, const char *const *, const char *const *)) \
  X("nvrtcCompileProgram", CompileProgram, (CUhandle, int, const char *const *)) \
  X("nvrtcGetProgramLogSize", GetProgramLogSize, (CUhandle, size_t *)) \
  X("nvrtcGetProgramLog", GetProgramLog, (CUhandle, char *)) \
  X("nvrtcGetCUBINSize", GetCUBINSize, (CUhandle, size_t *)) \
  X("nvrtcGetCUBIN", GetCUBIN, (CUhandle, char *)) \
  X("nvrtcDestroyProgram", DestroyProgram, (CUhandle *))

#define X(symbol, name, args) int(*name) args;
static struct {
  CUDA_FUNCTIONS(X)
} cu;
static struct {
  NVRTC_FUNCTIONS(X)
} nvrtc;
#undef X

#define CUDA_OPTIONS_MAX 40 /* options of a compilation, at most */

static PetscBool DriverLoaded, NvrtcLoaded, Counted;
static PetscInt  NDevices;

typedef struct {
  int      id, arch; /* arch: 80, 90, ... */
  CUhandle context;
} CudaDevice;

static const char *CudaErrorName(int code)
{
  const char *name = NULL;

  return cu.GetErrorName && !cu.GetErrorName(code, &name) && name ? name : "unknown";
}

#define CudaCheck(code, call) PetscCheck(!(code), PETSC_COMM_SELF, PETSC_ERR_LIB, "CUDA: %s gave error %d (%s); set -mat_spmv_backend host to do without", call, code, CudaErrorName(code))
#define PetscCallCuda(function, ...) \
  do { \
    const int code_ = cu.function(__VA_ARGS__); \
    CudaCheck(code_, "cu" #function "()"); \
  } while (0)
#define NvrtcCheck(code, call) PetscCheck(!(code), PETSC_COMM_SELF, PETSC_ERR_LIB, "NVRTC: %s gave error %d; set -mat_spmv_backend host to do without", call, code)
#define PetscCallNvrtc(function, ...) \
  do { \
    const int code_ = nvrtc.function(__VA_ARGS__); \
    NvrtcCheck(code_, "nvrtc" #function "()"); \
  } while (0)

#define X(symbol, name, args) \
  *(void **)&CUDA_TABLE.name = dlsym(handle, symbol); \
  if (!CUDA_TABLE.name) return PETSC_FALSE;

static PetscBool CudaLoad(void)
{
  void *handle = DriverLoaded ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

  if (DriverLoaded) return PETSC_TRUE;
  if (!handle) return PETSC_FALSE;
#define CUDA_TABLE cu
  CUDA_FUNCTIONS(X)
#undef CUDA_TABLE
  return DriverLoaded = PETSC_TRUE;
}

/* PETSC_FALSE if there is no NVRTC */
PetscBool SpmvNvrtcLoad(void)
{
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "/usr/local/cuda/lib64/libnvrtc.so", "/usr/local/cuda/lib/libnvrtc.so"};
  void                    *handle  = NULL;

  if (NvrtcLoaded) return PETSC_TRUE;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names) && !handle; k++) handle = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  if (!handle) return PETSC_FALSE;
#define CUDA_TABLE nvrtc
  NVRTC_FUNCTIONS(X)
#undef CUDA_TABLE
  return NvrtcLoaded = PETSC_TRUE;
}
#undef X

/* Devices that kernels can be compiled for */
static PetscErrorCode CudaCount(PetscInt *all, PetscInt *gpus)
{
  int n = 0;

  PetscFunctionBegin;
  if (!Counted && CudaLoad() && !cu.Init(0) && !cu.DeviceGetCount(&n) && n > 0) {
    if (SpmvNvrtcLoad()) NDevices = n;
    else PetscCall(PetscInfo(NULL, "There is a CUDA driver, but no libnvrtc to compile kernels with\n"));
  }
  Counted = PETSC_TRUE;
  *all = *gpus = NDevices;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaDescribe(PetscInt index, SpmvDeviceInfo *info)
{
  int id, version, local, group, major, minor, a, b;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCallCuda(DeviceGet, &id, (int)index);
  PetscCallCuda(DeviceGetName, info->name, (int)sizeof(info->name), id);
  PetscCallCuda(DeviceTotalMem, &info->memory, id);
  PetscCallCuda(DriverGetVersion, &version);
  PetscCallCuda(DeviceGetAttribute, &local, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, id);
  PetscCallCuda(DeviceGetAttribute, &group, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, id);
  PetscCallCuda(DeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, id);
  PetscCallCuda(DeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, id);
  PetscCallNvrtc(Version, &a, &b);
  PetscCall(PetscSNPrintf(info->driver, sizeof(info->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10));
  PetscCall(PetscSNPrintf(info->compiler, sizeof(info->compiler), "NVRTC %d.%d for sm_%d%d", a, b, major, minor));
  info->local  = (size_t)local;
  info->group  = (size_t)group;
  info->gpu    = PETSC_TRUE;
  info->real64 = info->atomic64 = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaOpen(PetscInt index, void **device)
{
  CudaDevice *d;
  int         major, minor;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  *device = d;
  PetscCallCuda(DeviceGet, &d->id, (int)index);
  PetscCallCuda(DeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->id);
  PetscCallCuda(DeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->id);
  PetscCallCuda(DevicePrimaryCtxRetain, &d->context, d->id);
  d->arch = 10 * major + minor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaClose(void **device)
{
  PetscFunctionBegin;
  PetscCallCuda(DevicePrimaryCtxRelease, ((CudaDevice *)*device)->id);
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls a function with the device's context current, and leaves its result in code */
#define CudaInContext(device, code, function, ...) \
  do { \
    CUhandle before_; \
    PetscCallCuda(CtxPushCurrent, ((CudaDevice *)(device))->context); \
    code = cu.function(__VA_ARGS__); \
    PetscCallCuda(CtxPopCurrent, &before_); \
  } while (0)

static PetscErrorCode CudaFinish(void *device)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, CtxSynchronize);
  CudaCheck(code, "cuCtxSynchronize()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaAlloc(void *device, size_t bytes, void **buffer)
{
  CUdeviceptr p = 0;
  int         code;

  PetscFunctionBegin;
  CudaInContext(device, code, MemAlloc, &p, bytes);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) p = 0;
  else CudaCheck(code, "cuMemAlloc()");
  *buffer = (void *)(uintptr_t)p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaFree(void *device, void **buffer)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, MemFree, (CUdeviceptr)(uintptr_t)*buffer);
  CudaCheck(code, "cuMemFree()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaWrite(void *device, void *buffer, const void *data, size_t bytes, PetscBool *full)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, MemcpyHtoD, (CUdeviceptr)(uintptr_t)buffer, data, bytes);
  CudaCheck(code, "cuMemcpyHtoD()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaRead(void *device, void *buffer, void *data, size_t bytes)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, MemcpyDtoH, data, (CUdeviceptr)(uintptr_t)buffer, bytes);
  CudaCheck(code, "cuMemcpyDtoH()");
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
  char     all[4 * SPMV_DEVICE_OPTIONS], *option[CUDA_OPTIONS_MAX];
  CUhandle program;
  size_t   nlog;
  int      n = 0, refused;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-arch=sm_%d -default-device --ptxas-options=-v %s", arch, options));
  for (char *word = strtok(all, " "); word && n < CUDA_OPTIONS_MAX; word = strtok(NULL, " ")) option[n++] = word;
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

/* A module, or NULL if the driver does not take the cubin */
static PetscErrorCode CudaLoadBinary(void *device, const char *binary, size_t size, void **program)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, ModuleLoadData, program, binary);
  if (code) *program = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaCompile(void *device, const char source[], const char options[], void **program, char **binary, size_t *size, char **log)
{
  PetscFunctionBegin;
  *program = NULL;
  PetscCall(SpmvNvrtcCompile(((CudaDevice *)device)->arch, source, options, binary, size, log));
  if (!*binary) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(*log));
  PetscCall(CudaLoadBinary(device, *binary, *size, program));
  PetscCheck(*program, PETSC_COMM_SELF, PETSC_ERR_LIB, "The CUDA driver does not take what NVRTC compiled: it may be older than the toolkit; update the driver, or set -mat_spmv_backend host");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaLaunch(void *device, void *program, const char kernel[], size_t groups, size_t group, PetscInt nargs, const void *const arg[], const size_t size[], PetscBool *full)
{
  CUhandle function;
  int      code;

  PetscFunctionBegin;
  PetscCheck(groups <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu work groups are more than CUDA launches; use more processes or larger tiles", groups);
  CudaInContext(device, code, ModuleGetFunction, &function, program, kernel);
  CudaCheck(code, "cuModuleGetFunction()");
  CudaInContext(device, code, LaunchKernel, function, (unsigned)groups, 1, 1, (unsigned)group, 1, 1, 0, NULL, (void **)arg, NULL);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) *full = PETSC_TRUE;
  else CudaCheck(code, "cuLaunchKernel()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaRelease(void *device, void **program)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, ModuleUnload, *program);
  CudaCheck(code, "cuModuleUnload()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaReset(void)
{
  PetscFunctionBegin;
  Counted  = PETSC_FALSE;
  NDevices = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char Prelude[] =
#include "cuda.cl.h"
  ;

const SpmvDeviceApi SpmvDeviceApi_cuda = {
  .name     = "cuda",
  .prelude  = Prelude,
  .remedy   = "install NVIDIA's driver (libcuda.so.1) and NVRTC (libnvrtc.so, of the CUDA toolkit)",
  .count    = CudaCount,
  .describe = CudaDescribe,
  .open     = CudaOpen,
  .close    = CudaClose,
  .finish   = CudaFinish,
  .alloc    = CudaAlloc,
  .free     = CudaFree,
  .write    = CudaWrite,
  .read     = CudaRead,
  .compile  = CudaCompile,
  .load     = CudaLoadBinary,
  .launch   = CudaLaunch,
  .release  = CudaRelease,
  .reset    = CudaReset,
};
