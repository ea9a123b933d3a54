/*
  opencl.c - devices through OpenCL 1.2: GPUs, and processors through PoCL

  libOpenCL is opened at run time, and the few prototypes that are needed stand here, so that neither headers nor the library
  need to be there. A program that has OpenCL already (linked, or preloaded, as oclgrind does) is served by what it has.

  Memory: clCreateBuffer() may promise what is not there, and say so when the buffer is first written or used.
*/
#include "../device.h"
#include <dlfcn.h>

typedef int32_t  cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef void    *cl_handle; /* platforms, devices, contexts, queues, buffers, programs, kernels */

enum { /* of CL/cl.h */
       CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
       CL_OUT_OF_RESOURCES              = -5,
       CL_OUT_OF_HOST_MEMORY            = -6,
       CL_BUILD_PROGRAM_FAILURE         = -11,
       CL_INVALID_BUFFER_SIZE           = -61,
       CL_DEVICE_TYPE_CPU               = 1 << 1,
       CL_DEVICE_TYPE_GPU               = 1 << 2,
       CL_DEVICE_TYPE_ACCELERATOR       = 1 << 3,
       CL_DEVICE_TYPE                   = 0x1000,
       CL_DEVICE_MAX_COMPUTE_UNITS      = 0x1002,
       CL_DEVICE_MAX_WORK_GROUP_SIZE    = 0x1004,
       CL_DEVICE_GLOBAL_MEM_SIZE        = 0x101F,
       CL_DEVICE_LOCAL_MEM_SIZE         = 0x1023,
       CL_DEVICE_NAME                   = 0x102B,
       CL_DRIVER_VERSION                = 0x102D,
       CL_DEVICE_VERSION                = 0x102F,
       CL_DEVICE_EXTENSIONS             = 0x1030,
       CL_MEM_READ_WRITE                = 1 << 0,
       CL_PROGRAM_BINARY_SIZES          = 0x1165,
       CL_PROGRAM_BINARIES              = 0x1166,
       CL_PROGRAM_BUILD_LOG             = 0x1183
};

/* Every function that is called: result, name, arguments */
#define OPENCL_FUNCTIONS(X) \
  X(cl_int, clGetPlatformIDs, (cl_uint, cl_handle *, cl_uint *)) \
  X(cl_int, clGetDeviceIDs, (cl_handle, cl_ulong, cl_uint, cl_handle *, cl_uint *)) \
  X(cl_int, clGetDeviceInfo, (cl_handle, cl_uint, size_t, void *, size_t *)) \
  X(cl_handle, clCreateContext, (const intptr_t *, cl_uint, const cl_handle *, void *, void *, cl_int *)) \
  X(cl_int, clReleaseContext, (cl_handle)) \
  X(cl_handle, clCreateCommandQueue, (cl_handle, cl_handle, cl_ulong, cl_int *)) \
  X(cl_int, clReleaseCommandQueue, (cl_handle)) \
  X(cl_int, clFlush, (cl_handle)) \
  X(cl_int, clFinish, (cl_handle)) \
  X(cl_handle, clCreateBuffer, (cl_handle, cl_ulong, size_t, void *, cl_int *)) \
  X(cl_int, clReleaseMemObject, (cl_handle)) \
  X(cl_int, clEnqueueWriteBuffer, \
    (cl_handle, cl_handle, cl_uint, size_t, size_t, const void *, cl_uint, const cl_handle *, cl_handle *)) \
  X(cl_int, clEnqueueReadBuffer, \
    (cl_handle, cl_handle, cl_uint, size_t, size_t, void *, cl_uint, const cl_handle *, cl_handle *)) \
  X(cl_handle, clCreateProgramWithSource, (cl_handle, cl_uint, const char **, const size_t *, cl_int *)) \
  X(cl_handle, clCreateProgramWithBinary, \
    (cl_handle, cl_uint, const cl_handle *, const size_t *, const unsigned char **, cl_int *, cl_int *)) \
  X(cl_int, clBuildProgram, (cl_handle, cl_uint, const cl_handle *, const char *, void *, void *)) \
  X(cl_int, clGetProgramBuildInfo, (cl_handle, cl_handle, cl_uint, size_t, void *, size_t *)) \
  X(cl_int, clGetProgramInfo, (cl_handle, cl_uint, size_t, void *, size_t *)) \
  X(cl_int, clReleaseProgram, (cl_handle)) \
  X(cl_handle, clCreateKernel, (cl_handle, const char *, cl_int *)) \
  X(cl_int, clReleaseKernel, (cl_handle)) \
  X(cl_int, clSetKernelArg, (cl_handle, cl_uint, size_t, const void *)) \
  X(cl_int, clEnqueueNDRangeKernel, \
    (cl_handle, cl_handle, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, const cl_handle *, cl_handle *))

static struct {
#define X(result, name, args) result(*name) args;
  OPENCL_FUNCTIONS(X)
#undef X
} cl;

#define OPENCL_DEVICES_MAX   64 /* devices of one machine, at most */
#define OPENCL_PLATFORMS_MAX 16
#define OPENCL_KERNELS_MAX   48 /* kernels of one program, at most */

static PetscBool Loaded, Counted;
static PetscInt  NDevices, NGpus;
static cl_handle Devices[OPENCL_DEVICES_MAX]; /* GPUs first */

typedef struct {
  cl_handle id, context, queue;
} OpenclDevice;

typedef struct {
  cl_handle program;
  PetscInt  nkernels;
  char      name[OPENCL_KERNELS_MAX][64];
  cl_handle kernel[OPENCL_KERNELS_MAX];
} OpenclProgram;

/* Names of the errors that users may see; others are in CL/cl.h by number */
static const char *OpenclErrorName(cl_int code)
{
  switch (code) {
  case -1: return "CL_DEVICE_NOT_FOUND";
  case -2: return "CL_DEVICE_NOT_AVAILABLE";
  case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
  case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
  case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
  case CL_BUILD_PROGRAM_FAILURE: return "CL_BUILD_PROGRAM_FAILURE";
  case -46: return "CL_INVALID_KERNEL_NAME";
  case -52: return "CL_INVALID_KERNEL_ARGS";
  case -54: return "CL_INVALID_WORK_GROUP_SIZE";
  case CL_INVALID_BUFFER_SIZE: return "CL_INVALID_BUFFER_SIZE";
  default: return "see CL/cl.h";
  }
}

#define OpenclCheck(code, call) \
  PetscCheck(!(code), PETSC_COMM_SELF, PETSC_ERR_LIB, "OpenCL: %s gave error %d (%s); set -mat_spmv_backend host to do without", \
             call, (int)(code), OpenclErrorName(code))
#define PetscCallOpencl(function, ...) \
  do { \
    cl_int code_ = cl.function(__VA_ARGS__); \
    OpenclCheck(code_, #function "()"); \
  } while (0)

static inline PetscBool OpenclNoMemory(cl_int code)
{
  return (PetscBool)(code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY ||
                     code == CL_INVALID_BUFFER_SIZE);
}

/* The library's functions; PETSC_FALSE if it is missing or lacks one */
static PetscBool OpenclLoad(void)
{
  void *handle = RTLD_DEFAULT;

  if (Loaded) return PETSC_TRUE;
  if (!dlsym(handle, "clGetPlatformIDs") && !(handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL))) return PETSC_FALSE;
#define X(result, name, args) \
  *(void **)&cl.name = dlsym(handle, #name); \
  if (!cl.name) return PETSC_FALSE;
  OPENCL_FUNCTIONS(X)
#undef X
  return Loaded = PETSC_TRUE;
}

/* The devices of all platforms: GPUs, then the others */
static PetscErrorCode OpenclCount(PetscInt *all, PetscInt *gpus)
{
  cl_handle platforms[OPENCL_PLATFORMS_MAX];
  cl_uint   np = 0;

  PetscFunctionBegin;
  if (!Counted && OpenclLoad() && !cl.clGetPlatformIDs(OPENCL_PLATFORMS_MAX, platforms, &np)) {
    const cl_ulong kinds[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR};

    np = PetscMin(np, OPENCL_PLATFORMS_MAX);
    for (int kind = 0; kind < 2; kind++) {
      for (cl_uint p = 0; p < np; p++) {
        cl_handle found[OPENCL_DEVICES_MAX];
        cl_uint   n = 0;

        if (cl.clGetDeviceIDs(platforms[p], kinds[kind], OPENCL_DEVICES_MAX, found, &n)) continue;
        for (cl_uint k = 0; k < n && NDevices < OPENCL_DEVICES_MAX; k++) {
          PetscBool known = PETSC_FALSE; /* a simulator says that it is of every kind */

          for (PetscInt i = 0; i < NDevices; i++) known = (PetscBool)(known || Devices[i] == found[k]);
          if (!known) Devices[NDevices++] = found[k];
        }
      }
      if (!kind) NGpus = NDevices;
    }
  }
  Counted = PETSC_TRUE;
  *all    = NDevices;
  *gpus   = NGpus;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclDescribe(PetscInt index, SpmvDeviceInfo *info)
{
  const cl_handle id               = Devices[index];
  char            extensions[8192] = "", version[128] = "";
  cl_ulong        memory = 0, local = 0;
  cl_uint         units = 1;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_NAME, sizeof(info->name), info->name, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DRIVER_VERSION, sizeof(info->driver), info->driver, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_VERSION, sizeof(version), version, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local), &local, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(info->group), &info->group, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL);
  PetscCall(PetscStrncpy(info->compiler, version, sizeof(info->compiler)));
  info->memory = (size_t)memory;
  info->local  = (size_t)local;
  info->units  = (size_t)units;
  info->gpu = info->forward = (PetscBool)(index < NGpus);
  info->real64              = (PetscBool)(strstr(extensions, "cl_khr_fp64") != NULL);
  info->atomic64            = (PetscBool)(strstr(extensions, "cl_khr_int64_base_atomics") != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclOpen(PetscInt index, void **device)
{
  OpenclDevice *d;
  cl_int        code;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  *device    = d;
  d->id      = Devices[index];
  d->context = cl.clCreateContext(NULL, 1, &d->id, NULL, NULL, &code);
  OpenclCheck(code, "clCreateContext()");
  d->queue = cl.clCreateCommandQueue(d->context, d->id, 0, &code);
  OpenclCheck(code, "clCreateCommandQueue()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclClose(void **device)
{
  OpenclDevice *d = (OpenclDevice *)*device;

  PetscFunctionBegin;
  PetscCallOpencl(clReleaseCommandQueue, d->queue);
  PetscCallOpencl(clReleaseContext, d->context);
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclFinish(void *device)
{
  PetscFunctionBegin;
  PetscCallOpencl(clFinish, ((OpenclDevice *)device)->queue);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclAlloc(void *device, size_t bytes, void **buffer)
{
  cl_int code;

  PetscFunctionBegin;
  *buffer = cl.clCreateBuffer(((OpenclDevice *)device)->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  if (OpenclNoMemory(code)) *buffer = NULL;
  else OpenclCheck(code, "clCreateBuffer()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclFree(void *device, void **buffer)
{
  PetscFunctionBegin;
  PetscCallOpencl(clReleaseMemObject, *buffer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclWrite(void *device, void *buffer, const void *data, size_t bytes, PetscBool *nomem)
{
  const cl_int code = cl.clEnqueueWriteBuffer(((OpenclDevice *)device)->queue, buffer, 1, 0, bytes, data, 0, NULL, NULL);

  PetscFunctionBegin;
  if (OpenclNoMemory(code)) *nomem = PETSC_TRUE;
  else OpenclCheck(code, "clEnqueueWriteBuffer()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclRead(void *device, void *buffer, void *data, size_t bytes)
{
  PetscFunctionBegin;
  PetscCallOpencl(clEnqueueReadBuffer, ((OpenclDevice *)device)->queue, buffer, 1, 0, bytes, data, 0, NULL, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclRelease(void *device, void **program)
{
  OpenclProgram *p = (OpenclProgram *)*program;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p->nkernels; k++) PetscCallOpencl(clReleaseKernel, p->kernel[k]);
  PetscCallOpencl(clReleaseProgram, p->program);
  PetscCall(PetscFree(*program));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the compiler says; the caller's to free */
static PetscErrorCode OpenclLog(OpenclDevice *d, cl_handle program, char **log)
{
  size_t size = 0;

  PetscFunctionBegin;
  PetscCallOpencl(clGetProgramBuildInfo, program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  PetscCall(PetscCalloc1(size + 1, log));
  if (size) PetscCallOpencl(clGetProgramBuildInfo, program, d->id, CL_PROGRAM_BUILD_LOG, size, *log, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclBinary(cl_handle program, char **binary, size_t *size)
{
  PetscFunctionBegin;
  *binary = NULL;
  PetscCallOpencl(clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES, sizeof(*size), size, NULL);
  if (!*size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(*size, binary));
  PetscCallOpencl(clGetProgramInfo, program, CL_PROGRAM_BINARIES, sizeof(*binary), binary, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclCompile(void *device, const char source[], const char options[], void **program, char **binary,
                                    size_t *size, char **log)
{
  OpenclDevice  *d = (OpenclDevice *)device;
  OpenclProgram *p;
  cl_int         code;

  PetscFunctionBegin;
  *log = *binary = NULL;
  PetscCall(PetscNew(&p));
  *program   = p;
  p->program = cl.clCreateProgramWithSource(d->context, 1, &source, NULL, &code);
  OpenclCheck(code, "clCreateProgramWithSource()");
  code = cl.clBuildProgram(p->program, 1, &d->id, options, NULL, NULL);
  if (code) {
    PetscCall(OpenclLog(d, p->program, log));
    PetscCall(OpenclRelease(device, program));
  } else PetscCall(OpenclBinary(p->program, binary, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclLoadBinary(void *device, const char *binary, size_t size, void **program)
{
  OpenclDevice  *d = (OpenclDevice *)device;
  OpenclProgram *p;
  cl_int         status, code;
  cl_handle made = cl.clCreateProgramWithBinary(d->context, 1, &d->id, &size, (const unsigned char **)&binary, &status, &code);

  PetscFunctionBegin;
  *program = NULL;
  if (code) PetscFunctionReturn(PETSC_SUCCESS);
  if (status || cl.clBuildProgram(made, 1, &d->id, "", NULL, NULL)) {
    PetscCallOpencl(clReleaseProgram, made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&p));
  p->program = made;
  *program   = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel of a name, made once: to make one takes longer than to launch it */
static PetscErrorCode OpenclKernel(OpenclProgram *p, const char name[], cl_handle *kernel)
{
  cl_int code;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < p->nkernels; k++) {
    if (strcmp(p->name[k], name)) continue;
    *kernel = p->kernel[k];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(p->nkernels < OPENCL_KERNELS_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A program has more than %d kernels",
             OPENCL_KERNELS_MAX);
  *kernel = cl.clCreateKernel(p->program, name, &code);
  OpenclCheck(code, "clCreateKernel()");
  PetscCall(PetscStrncpy(p->name[p->nkernels], name, sizeof(p->name[0])));
  p->kernel[p->nkernels++] = *kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclLaunch(void *device, void *program, const SpmvDeviceCall *call, PetscBool *nomem)
{
  const size_t items = call->groups * call->group;
  cl_handle    kernel;
  cl_int       code;

  PetscFunctionBegin;
  PetscCall(OpenclKernel((OpenclProgram *)program, call->kernel, &kernel));
  for (PetscInt k = 0; k < call->nargs; k++) PetscCallOpencl(clSetKernelArg, kernel, (cl_uint)k, call->size[k], call->arg[k]);
  code = cl.clEnqueueNDRangeKernel(((OpenclDevice *)device)->queue, kernel, 1, NULL, &items, &call->group, 0, NULL, NULL);
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE) *nomem = PETSC_TRUE;
  else {
    OpenclCheck(code, "clEnqueueNDRangeKernel()");
    PetscCallOpencl(clFlush, ((OpenclDevice *)device)->queue); /* it is to begin now: the host may have a share of the product */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclReset(void)
{
  PetscFunctionBegin;
  Counted  = PETSC_FALSE;
  NDevices = NGpus = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char Prelude[] =
#include "opencl.cl.h"
  ;

const SpmvDeviceApi SpmvDeviceApi_opencl = {
  .name     = "opencl",
  .prelude  = Prelude,
  .remedy   = "install a driver that has OpenCL (for processors the package pocl-opencl-icd)",
  .count    = OpenclCount,
  .describe = OpenclDescribe,
  .open     = OpenclOpen,
  .close    = OpenclClose,
  .finish   = OpenclFinish,
  .alloc    = OpenclAlloc,
  .free     = OpenclFree,
  .write    = OpenclWrite,
  .read     = OpenclRead,
  .compile  = OpenclCompile,
  .load     = OpenclLoadBinary,
  .launch   = OpenclLaunch,
  .release  = OpenclRelease,
  .reset    = OpenclReset,
};
