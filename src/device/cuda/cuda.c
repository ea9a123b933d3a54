/*
  cuda.c - NVIDIA's GPUs through the CUDA driver API; kernels are compiled by NVRTC (nvrtc.c)

  libcuda comes with the driver, 470 or newer; the few prototypes that are needed stand here. The primary context is used, which
  is also PETSc's and the CUDA runtime's; it is made current for the time of each call, or of a product, unless it is. All goes to
  PETSc's stream (petsc.c), in the order in which it is asked for. Where PETSc has none that is the legacy default stream: streams
  that a program makes in the usual way wait for it and it for them; one made with cudaStreamNonBlocking does not, and who has
  such a one must wait for it before our vectors and products are used.
*/
#include "cuda.h"

typedef void *CUhandle; /* contexts, modules, functions, streams, graphs and their nodes */

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
       CU_DEVICE_ATTRIBUTE_CLOCK_RATE                  = 13,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT        = 16,
       CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE           = 36,
       CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH     = 37,
       CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE               = 38,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_OPTIN     = 97, /* PER_BLOCK_OPTIN */
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED            = 8,  /* SIZE_BYTES */
       CU_EVENT_DISABLE_TIMING                         = 2,
       CUDA_ERROR_UNKNOWN                              = 999,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR    = 75,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR    = 76
};

/* Every function that is called. All return 0 or an error */
#define CUDA_FUNCTIONS(X) \
  X(int, cuInit, (unsigned)) \
  X(int, cuGetErrorName, (int, const char **)) \
  X(int, cuDriverGetVersion, (int *)) \
  X(int, cuDeviceGetCount, (int *)) \
  X(int, cuDeviceGet, (int *, int)) \
  X(int, cuDeviceGetName, (char *, int, int)) \
  X(int, cuDeviceTotalMem_v2, (size_t *, int)) \
  X(int, cuDeviceGetAttribute, (int *, int, int)) \
  X(int, cuDevicePrimaryCtxRetain, (CUhandle *, int)) \
  X(int, cuDevicePrimaryCtxRelease_v2, (int)) \
  X(int, cuCtxGetCurrent, (CUhandle *)) \
  X(int, cuCtxPushCurrent_v2, (CUhandle)) \
  X(int, cuCtxPopCurrent_v2, (CUhandle *)) \
  X(int, cuCtxSynchronize, (void)) \
  X(int, cuMemAlloc_v2, (void **, size_t)) \
  X(int, cuMemFree_v2, (void *)) \
  X(int, cuMemHostAlloc, (void **, size_t, unsigned)) \
  X(int, cuMemFreeHost, (void *)) \
  X(int, cuEventCreate, (CUhandle *, unsigned)) \
  X(int, cuEventDestroy_v2, (CUhandle)) \
  X(int, cuEventRecord, (CUhandle, CUhandle)) \
  X(int, cuEventSynchronize, (CUhandle)) \
  X(int, cuMemcpyHtoDAsync_v2, (void *, const void *, size_t, CUhandle)) \
  X(int, cuMemcpyDtoHAsync_v2, (void *, const void *, size_t, CUhandle)) \
  X(int, cuPointerGetAttribute, (void *, int, const void *)) \
  X(int, cuStreamSynchronize, (CUhandle)) \
  X(int, cuModuleLoadData, (CUhandle *, const void *)) \
  X(int, cuModuleUnload, (CUhandle)) \
  X(int, cuModuleGetFunction, (CUhandle *, CUhandle, const char *)) \
  X(int, cuFuncSetAttribute, (CUhandle, int, int)) \
  X(int, cuLaunchKernel, \
    (CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **, void **)) \
  X(int, cuGraphCreate, (CUhandle *, unsigned)) \
  X(int, cuGraphDestroy, (CUhandle)) \
  X(int, cuGraphAddKernelNode, (CUhandle *, CUhandle, const CUhandle *, size_t, const CUkernelnode *)) \
  X(int, cuGraphInstantiateWithFlags, (CUhandle *, CUhandle, unsigned long long)) \
  X(int, cuGraphExecDestroy, (CUhandle)) \
  X(int, cuGraphLaunch, (CUhandle, CUhandle))
SPMV_LIBRARY(CUDA_FUNCTIONS)

typedef struct {
  int      id;
  CUhandle context;
  CUhandle stream; /* PETSc's, at the last call; never used again without asking */
  CUhandle event[SPMV_STAGING_SLOTS];
} CudaDevice;

typedef struct {
  CUhandle        module;
  SpmvKernelTable functions;
} CudaProgram;

/* Of this thread of the program: how often CudaEnter() was called, and whether our context came upon another one */
static _Thread_local int Entered, Pushed;

static const char *CudaError(int code)
{
  const char *name;

  return cuGetErrorName(code, &name) ? "unknown" : name;
}

#define PetscCallCuda(function, ...) PetscCall(SpmvDeviceResult(&SpmvDeviceApi_cuda, #function "()", function(__VA_ARGS__)))

/* Devices that kernels can be compiled for */
static PetscErrorCode CudaCount(PetscInt *all, PetscInt *gpus, PetscInt *petsc)
{
  static const char *const files[] = {"libcuda.so.1", NULL};
  int                      n       = 0;

  PetscFunctionBegin;
  *all = *gpus = 0;
  *petsc       = -1;
  if (!SpmvLibraryLoad(files, Symbols) || cuInit(0) || cuDeviceGetCount(&n)) PetscFunctionReturn(PETSC_SUCCESS);
  if (SpmvNvrtcLoad()) *all = *gpus = n;
  else PetscCall(PetscInfo(NULL, "There is a CUDA driver, but no libnvrtc to compile kernels with\n"));
  PetscCall(SpmvPetscCuda(petsc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 80, 90, ... */
static PetscErrorCode CudaArch(int id, int *arch)
{
  int major, minor;

  PetscFunctionBegin;
  PetscCallCuda(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, id);
  PetscCallCuda(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, id);
  *arch = 10 * major + minor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clocks, which are told in kHz, and the memory's bandwidth: two transfers a clock, of as many bits as the bus is wide */
static PetscErrorCode CudaTell(PetscInt index, SpmvDeviceTold *told)
{
  int id, clock, memory, bits;

  PetscFunctionBegin;
  *told = (SpmvDeviceTold){.vendor = "NVIDIA"};
  PetscCallCuda(cuDeviceGet, &id, (int)index);
  PetscCallCuda(cuDeviceGetAttribute, &clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, id);
  PetscCallCuda(cuDeviceGetAttribute, &memory, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, id);
  PetscCallCuda(cuDeviceGetAttribute, &bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, id);
  told->clock     = 1e3 * clock;
  told->bandwidth = 2e3 * memory * bits / 8;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaDescribe(PetscInt index, SpmvDeviceInfo *info)
{
  int id, version, local, large, group, units, cache, arch, major, minor;

  PetscFunctionBegin;
  *info = (SpmvDeviceInfo){.gpu = PETSC_TRUE, .forward = PETSC_TRUE, .real64 = PETSC_TRUE, .atomic64 = PETSC_TRUE};
  PetscCallCuda(cuDeviceGet, &id, (int)index);
  PetscCallCuda(cuDeviceGetName, info->name, (int)sizeof(info->name), id);
  PetscCallCuda(cuDeviceTotalMem_v2, &info->memory, id);
  PetscCallCuda(cuDriverGetVersion, &version);
  PetscCallCuda(cuDeviceGetAttribute, &local, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, id);
  PetscCallCuda(cuDeviceGetAttribute, &large, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_OPTIN, id);
  PetscCallCuda(cuDeviceGetAttribute, &group, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, id);
  PetscCallCuda(cuDeviceGetAttribute, &units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, id);
  PetscCallCuda(cuDeviceGetAttribute, &cache, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, id);
  PetscCall(CudaArch(id, &arch));
  PetscCall(SpmvNvrtcVersion(&major, &minor));
  PetscCall(PetscSNPrintf(info->driver, sizeof(info->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10));
  PetscCall(PetscSNPrintf(info->compiler, sizeof(info->compiler), "NVRTC %d.%d for sm_%d", major, minor, arch));
  info->local = (size_t)local;
  info->large = (size_t)large;
  info->group = (size_t)group;
  info->units = (size_t)units;
  info->cache = (size_t)cache;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CudaOpen(PetscInt index, void **device)
{
  CudaDevice *d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  *device = d;
  PetscCallCuda(cuDeviceGet, &d->id, (int)index);
  PetscCallCuda(cuDevicePrimaryCtxRetain, &d->context, d->id);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The context is made current; PETSc's stream, NULL for CUDA's default one. At a change all that was asked for is waited for */
static int CudaEnter(void *device)
{
  CudaDevice *d      = device;
  CUhandle    stream = NULL, current;
  int         code;

  if (Entered) {
    Entered++;
    return 0;
  }
  if (SpmvPetscCuda(NULL, &stream)) return CUDA_ERROR_UNKNOWN;
  code = cuCtxGetCurrent(&current);
  if (!code && current != d->context) {
    code   = cuCtxPushCurrent_v2(d->context);
    Pushed = !code;
  }
  if (!code && stream != d->stream) code = cuCtxSynchronize();
  if (code && Pushed) (void)cuCtxPopCurrent_v2(&current);
  if (code) {
    Pushed = 0;
    return code;
  }
  d->stream = stream;
  Entered   = 1;
  return 0;
}

static int CudaLeave(void *device)
{
  CUhandle  context;
  const int pop = !--Entered && Pushed;

  if (pop) Pushed = 0;
  return pop ? cuCtxPopCurrent_v2(&context) : 0;
}

static PetscErrorCode CudaClose(void **device)
{
  CudaDevice *d = *device;

  PetscFunctionBegin;
  if (!CudaEnter(d)) {
    for (int k = 0; k < SPMV_STAGING_SLOTS; k++) (void)(d->event[k] && cuEventDestroy_v2(d->event[k]));
    (void)CudaLeave(d);
  }
  PetscCallCuda(cuDevicePrimaryCtxRelease_v2, d->id);
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int CudaFinish(void *device)
{
  return cuCtxSynchronize();
}

static int CudaAlloc(void *device, size_t bytes, void **buffer)
{
  return cuMemAlloc_v2(buffer, bytes);
}

static int CudaFree(void *device, void *buffer)
{
  return cuMemFree_v2(buffer);
}

/* Copies are waited for, with all before them on their stream: those of pinned memory of the host may return before they end */
static int CudaCopy(void *device, SpmvDirection direction, void *to, const void *from, size_t bytes)
{
  CUhandle  stream = ((CudaDevice *)device)->stream;
  const int code   = (direction == SPMV_TO_DEVICE ? cuMemcpyHtoDAsync_v2 : cuMemcpyDtoHAsync_v2)(to, from, bytes, stream);

  return code ? code : cuStreamSynchronize(stream);
}

static int CudaPin(void *device, size_t bytes, void **memory, void **array)
{
  const int code = cuMemHostAlloc(array, bytes, 0);

  *memory = *array;
  return code;
}

static int CudaUnpin(void *device, void *memory, void *array)
{
  return cuMemFreeHost(array);
}

static int CudaBegin(void *device, SpmvDirection direction, void *buffer, size_t offset, void *array, size_t bytes, int slot)
{
  CudaDevice *d    = device;
  char       *at   = (char *)buffer + offset;
  int         code = d->event[slot] ? 0 : cuEventCreate(&d->event[slot], CU_EVENT_DISABLE_TIMING);

  if (code) return code;
  code = direction == SPMV_TO_DEVICE ? cuMemcpyHtoDAsync_v2(at, array, bytes, d->stream)
                                     : cuMemcpyDtoHAsync_v2(array, at, bytes, d->stream);
  return code ? code : cuEventRecord(d->event[slot], d->stream);
}

static int CudaWait(void *device, int slot)
{
  return cuEventSynchronize(((CudaDevice *)device)->event[slot]);
}

static PetscErrorCode CudaCompile(void *device, const char source[], const char options[], void **program, char **binary,
                                  size_t *size, char **log)
{
  int arch;

  PetscFunctionBegin;
  *program = NULL;
  PetscCall(CudaArch(((CudaDevice *)device)->id, &arch));
  PetscCall(SpmvNvrtcCompile(arch, source, options, binary, size, log));
  if (*binary) PetscCall(PetscFree(*log));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int CudaLoad(void *device, const char *binary, size_t size, void **program)
{
  CudaProgram *p = calloc(1, sizeof(*p));

  *program = NULL;
  if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
  if (cuModuleLoadData(&p->module, binary)) free(p);
  else *program = p;
  return 0;
}

static int CudaRelease(void *device, void *program)
{
  const int code = cuModuleUnload(((CudaProgram *)program)->module);

  free(program);
  return code;
}

/* The function of a kernel, looked up once. What a work group shares beyond 48 kB has to be asked for, once: a plan has one
   size */
static int CudaFunction(CudaProgram *p, const SpmvDeviceCall *call, CUhandle *function)
{
  CUhandle *place = SpmvKernelPlace(&p->functions, call->kernel), found = place ? *place : NULL;
  int       code = !place ? CUDA_ERROR_UNKNOWN : found ? 0 : cuModuleGetFunction(&found, p->module, call->kernel);

  if (!code && !*place && call->local) code = cuFuncSetAttribute(found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED, (int)call->local);
  if (!code) *function = *place = found;
  return code;
}

static int CudaLaunch(void *device, void *program, const SpmvDeviceCall *call)
{
  CUhandle  function = NULL;
  const int code     = CudaFunction(program, call, &function);

  if (code) return code;
  return cuLaunchKernel(function, (unsigned)call->groups, 1, 1, (unsigned)call->group, 1, 1, (unsigned)call->local,
                        ((CudaDevice *)device)->stream, (void **)call->arg, NULL);
}

/* The nodes of a graph, without dependencies that others imply. The driver copies the values of the arguments */
static int CudaRecord(void *device, void *program, PetscInt ncalls, const SpmvDeviceCall calls[], void **result)
{
  CUhandle graph, node[SPMV_DEVICE_LAUNCH_MAX];
  int      code = cuGraphCreate(&graph, 0);

  *result = NULL;
  if (code) return code;
  for (PetscInt k = 0; k < ncalls && !code; k++) {
    CUkernelnode params = {.gridx  = (unsigned)calls[k].groups,
                           .gridy  = 1,
                           .gridz  = 1,
                           .blockx = (unsigned)calls[k].group,
                           .blocky = 1,
                           .blockz = 1,
                           .shared = (unsigned)calls[k].local,
                           .args   = (void **)calls[k].arg};
    CUhandle     before[SPMV_DEVICE_LAUNCH_MAX];
    size_t       nbefore = 0;
    uint32_t     waits   = calls[k].waits;

    for (PetscInt b = 0; b < k; b++) waits &= calls[k].waits >> b & 1 ? ~calls[b].waits : ~(uint32_t)0;
    for (PetscInt b = 0; b < k; b++) {
      if (waits >> b & 1) before[nbefore++] = node[b];
    }
    code = CudaFunction(program, &calls[k], &params.function);
    if (!code) code = cuGraphAddKernelNode(&node[k], graph, before, nbefore, &params);
  }
  if (!code) code = cuGraphInstantiateWithFlags(result, graph, 0);
  (void)cuGraphDestroy(graph);
  return code;
}

static int CudaReplay(void *device, void *graph)
{
  return cuGraphLaunch(graph, ((CudaDevice *)device)->stream);
}

static int CudaForget(void *device, void *graph)
{
  return cuGraphExecDestroy(graph);
}

static int CudaOwns(void *device, const void *array, PetscBool *owns)
{
  int       ordinal = -1;
  const int code    = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, array);

  *owns = (PetscBool)(!code && ordinal == ((CudaDevice *)device)->id);
  return code == CUDA_ERROR_INVALID_VALUE ? 0 : code; /* it is none of CUDA's */
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
  .tell     = CudaTell,
  .open     = CudaOpen,
  .close    = CudaClose,
  .enter    = CudaEnter,
  .leave    = CudaLeave,
  .nomem    = {CUDA_ERROR_OUT_OF_MEMORY},
  .error    = CudaError,
  .finish   = CudaFinish,
  .alloc    = CudaAlloc,
  .free     = CudaFree,
  .copy     = CudaCopy,
  .early    = PETSC_TRUE,
  .pin      = CudaPin,
  .unpin    = CudaUnpin,
  .begin    = CudaBegin,
  .wait     = CudaWait,
  .compile  = CudaCompile,
  .load     = CudaLoad,
  .launch   = CudaLaunch,
  .record   = CudaRecord,
  .replay   = CudaReplay,
  .forget   = CudaForget,
  .release  = CudaRelease,
  .owns     = CudaOwns,
};
