/*
  cuda.c - NVIDIA's GPUs through the CUDA driver API; kernels are compiled by NVRTC (nvrtc.c)

  libcuda comes with the driver, 470 or newer. It is opened at run time, and the few prototypes that are needed stand here.
  The primary context is used, which is also PETSc's and the CUDA runtime's; it is made current for the time of each call only. All goes to
  PETSc's stream (petsc.c), in the order in which it is asked for. Where PETSc has none that is the legacy default stream: streams
  that a program makes in the usual way wait for it and it for them; one made with cudaStreamNonBlocking does not, and who has
  such a one must wait for it before our vectors and products are used.
*/
#include "nvrtc.h"
#include <dlfcn.h>

typedef unsigned long long CUdeviceptr;
typedef void              *CUhandle; /* contexts, modules, functions, streams, graphs and their nodes */

typedef struct { /* CUDA_KERNEL_NODE_PARAMS_v1 */
  CUhandle function;
  unsigned gridx, gridy, gridz, blockx, blocky, blockz, shared;
  void   **args, **extra;
} CUkernelnode;

enum { /* of cuda.h */
       CUDA_ERROR_INVALID_VALUE                        = 1,
       CUDA_ERROR_OUT_OF_MEMORY                        = 2,
       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL             = 9,
       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK       = 1,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT        = 16,
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
  X("cuMemcpyHtoDAsync_v2", MemcpyHtoD, (CUdeviceptr, const void *, size_t, CUhandle)) \
  X("cuMemcpyDtoHAsync_v2", MemcpyDtoH, (void *, CUdeviceptr, size_t, CUhandle)) \
  X("cuPointerGetAttribute", PointerGetAttribute, (void *, int, CUdeviceptr)) \
  X("cuStreamSynchronize", StreamSynchronize, (CUhandle)) \
  X("cuModuleLoadData", ModuleLoadData, (CUhandle *, const void *)) \
  X("cuModuleUnload", ModuleUnload, (CUhandle)) \
  X("cuModuleGetFunction", ModuleGetFunction, (CUhandle *, CUhandle, const char *)) \
  X("cuLaunchKernel", LaunchKernel, \
    (CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **, void **)) \
  X("cuGraphCreate", GraphCreate, (CUhandle *, unsigned)) \
  X("cuGraphDestroy", GraphDestroy, (CUhandle)) \
  X("cuGraphAddKernelNode", GraphAddKernelNode, (CUhandle *, CUhandle, const CUhandle *, size_t, const CUkernelnode *)) \
  X("cuGraphInstantiateWithFlags", GraphInstantiate, (CUhandle *, CUhandle, unsigned long long)) \
  X("cuGraphExecDestroy", GraphExecDestroy, (CUhandle)) \
  X("cuGraphLaunch", GraphLaunch, (CUhandle, CUhandle))

#define X(symbol, name, args) int(*name) args;
static struct {
  CUDA_FUNCTIONS(X)
} cu;
#undef X

static PetscBool DriverLoaded, Counted;
static PetscInt  NDevices;

typedef struct {
  int      id, arch; /* arch: 80, 90, ... */
  CUhandle context;
  CUhandle stream; /* PETSc's, at the last call; never used again without asking */
} CudaDevice;

static const char *CudaErrorName(int code)
{
  const char *name = NULL;

  return cu.GetErrorName && !cu.GetErrorName(code, &name) && name ? name : "unknown";
}

#define CudaCheck(code, call) \
  PetscCheck(!(code), PETSC_COMM_SELF, PETSC_ERR_LIB, "CUDA: %s gave error %d (%s); set -mat_spmv_backend host to do without", \
             call, code, CudaErrorName(code))
#define PetscCallCuda(function, ...) \
  do { \
    const int code_ = cu.function(__VA_ARGS__); \
    CudaCheck(code_, "cu" #function "()"); \
  } while (0)

#define X(symbol, name, args) \
  *(void **)&cu.name = dlsym(handle, symbol); \
  if (!cu.name) return PETSC_FALSE;

static PetscBool CudaLoad(void)
{
  void *handle = DriverLoaded ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

  if (DriverLoaded) return PETSC_TRUE;
  if (!handle) return PETSC_FALSE;
  CUDA_FUNCTIONS(X)
  return DriverLoaded = PETSC_TRUE;
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
  int id, version, local, group, units, major, minor, a, b;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCallCuda(DeviceGet, &id, (int)index);
  PetscCallCuda(DeviceGetName, info->name, (int)sizeof(info->name), id);
  PetscCallCuda(DeviceTotalMem, &info->memory, id);
  PetscCallCuda(DriverGetVersion, &version);
  PetscCallCuda(DeviceGetAttribute, &local, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, id);
  PetscCallCuda(DeviceGetAttribute, &group, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, id);
  PetscCallCuda(DeviceGetAttribute, &units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, id);
  PetscCallCuda(DeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, id);
  PetscCallCuda(DeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, id);
  PetscCall(SpmvNvrtcVersion(&a, &b));
  PetscCall(PetscSNPrintf(info->driver, sizeof(info->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10));
  PetscCall(PetscSNPrintf(info->compiler, sizeof(info->compiler), "NVRTC %d.%d for sm_%d%d", a, b, major, minor));
  info->local = (size_t)local;
  info->group = (size_t)group;
  info->units = (size_t)units;
  info->gpu = info->forward = PETSC_TRUE;
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

/* PETSc's stream. If it is another one than before, all that was asked for there is waited for */
static PetscErrorCode CudaStream(CudaDevice *d, CUhandle *stream)
{
  PetscFunctionBegin;
  PetscCall((*SpmvPetscCuda.stream)(stream));
  if (*stream != d->stream) PetscCall(CudaFinish(d));
  d->stream = *stream;
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

/* Memory of the host that is pinned may be read or written after a copy has returned, so the copy is waited for, with all before it on its stream */
static PetscErrorCode CudaWait(void *device, CUhandle stream)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, StreamSynchronize, stream);
  CudaCheck(code, "cuStreamSynchronize()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaWrite(void *device, void *buffer, const void *data, size_t bytes, PetscBool *full)
{
  CUhandle stream;
  int      code;

  PetscFunctionBegin;
  PetscCall(CudaStream((CudaDevice *)device, &stream));
  CudaInContext(device, code, MemcpyHtoD, (CUdeviceptr)(uintptr_t)buffer, data, bytes, stream);
  CudaCheck(code, "cuMemcpyHtoDAsync()");
  PetscCall(CudaWait(device, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaRead(void *device, void *buffer, void *data, size_t bytes)
{
  CUhandle stream;
  int      code;

  PetscFunctionBegin;
  PetscCall(CudaStream((CudaDevice *)device, &stream));
  CudaInContext(device, code, MemcpyDtoH, data, (CUdeviceptr)(uintptr_t)buffer, bytes, stream);
  CudaCheck(code, "cuMemcpyDtoHAsync()");
  PetscCall(CudaWait(device, stream));
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

static PetscErrorCode CudaCompile(void *device, const char source[], const char options[], void **program, char **binary,
                                  size_t *size, char **log)
{
  PetscFunctionBegin;
  *program = NULL;
  PetscCall(SpmvNvrtcCompile(((CudaDevice *)device)->arch, source, options, binary, size, log));
  if (!*binary) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(*log));
  PetscCall(CudaLoadBinary(device, *binary, *size, program));
  PetscCheck(*program, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "The CUDA driver does not take what NVRTC compiled: it may be older than the toolkit; update the driver, or set "
             "-mat_spmv_backend host");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaFunction(void *device, void *program, const SpmvDeviceCall *call, CUhandle *function)
{
  int code;

  PetscFunctionBegin;
  PetscCheck(call->groups <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu work groups are more than CUDA launches; use more processes or larger tiles", call->groups);
  CudaInContext(device, code, ModuleGetFunction, function, program, call->kernel);
  CudaCheck(code, "cuModuleGetFunction()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaLaunch(void *device, void *program, const SpmvDeviceCall *call, PetscBool *full)
{
  CUhandle function, stream;
  int      code;

  PetscFunctionBegin;
  PetscCall(CudaFunction(device, program, call, &function));
  PetscCall(CudaStream((CudaDevice *)device, &stream));
  CudaInContext(device, code, LaunchKernel, function, (unsigned)call->groups, 1, 1, (unsigned)call->group, 1, 1, 0, stream,
                (void **)call->arg, NULL);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) *full = PETSC_TRUE;
  else CudaCheck(code, "cuLaunchKernel()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes of a graph: each kernel waits for those of the step before its own. The driver copies the values of the arguments */
static PetscErrorCode CudaRecordCalls(void *device, CUhandle graph, PetscInt ncalls, const SpmvDeviceCall calls[],
                                      const CUhandle function[])
{
  CUhandle node[SPMV_DEVICE_LAUNCH_MAX];
  PetscInt step = 0, before = 0; /* where the step of this call begins, and the one before it */

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ncalls; k++) {
    const CUkernelnode params = {function[k], (unsigned)calls[k].groups, 1,   1, (unsigned)calls[k].group, 1, 1,
                                 0,           (void **)calls[k].arg,     NULL};
    int                code;

    if (calls[k].step != calls[step].step) {
      before = step;
      step   = k;
    }
    CudaInContext(device, code, GraphAddKernelNode, &node[k], graph, &node[before], (size_t)(step - before), &params);
    CudaCheck(code, "cuGraphAddKernelNode()");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No GPU has run a graph */
static PetscErrorCode CudaRecord(void *device, void *program, PetscInt ncalls, const SpmvDeviceCall calls[], void **result,
                                 PetscBool *full)
{
  CUhandle       graph, function[SPMV_DEVICE_LAUNCH_MAX];
  PetscErrorCode ierr;
  int            code, destroyed;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ncalls; k++) PetscCall(CudaFunction(device, program, &calls[k], &function[k]));
  CudaInContext(device, code, GraphCreate, &graph, 0);
  CudaCheck(code, "cuGraphCreate()");
  *result = NULL;
  ierr    = CudaRecordCalls(device, graph, ncalls, calls, function);
  if (!ierr) CudaInContext(device, code, GraphInstantiate, result, graph, 0);
  CudaInContext(device, destroyed, GraphDestroy, graph);
  PetscCall(ierr);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) *full = PETSC_TRUE;
  else CudaCheck(code, "cuGraphInstantiateWithFlags()");
  CudaCheck(destroyed, "cuGraphDestroy()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaReplay(void *device, void *graph, PetscBool *full)
{
  CUhandle stream;
  int      code;

  PetscFunctionBegin;
  PetscCall(CudaStream((CudaDevice *)device, &stream));
  CudaInContext(device, code, GraphLaunch, graph, stream);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) *full = PETSC_TRUE;
  else CudaCheck(code, "cuGraphLaunch()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaForget(void *device, void **graph)
{
  int code;

  PetscFunctionBegin;
  CudaInContext(device, code, GraphExecDestroy, *graph);
  CudaCheck(code, "cuGraphExecDestroy()");
  *graph = NULL;
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

static PetscErrorCode CudaPetsc(PetscInt *index)
{
  PetscFunctionBegin;
  PetscCall((*SpmvPetscCuda.index)(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaOwns(void *device, const void *array, PetscBool *owns)
{
  int code, ordinal = -1;

  PetscFunctionBegin;
  CudaInContext(device, code, PointerGetAttribute, &ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)(uintptr_t)array);
  if (code != CUDA_ERROR_INVALID_VALUE) CudaCheck(code, "cuPointerGetAttribute()");
  *owns = (PetscBool)(!code && ordinal == ((CudaDevice *)device)->id);
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
  .record   = CudaRecord,
  .replay   = CudaReplay,
  .forget   = CudaForget,
  .release  = CudaRelease,
  .reset    = CudaReset,
  .petsc    = CudaPetsc,
  .owns     = CudaOwns,
};
