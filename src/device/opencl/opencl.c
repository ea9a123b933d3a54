/*
  opencl.c - devices through OpenCL 1.2: GPUs, and processors through PoCL

  The few prototypes that are needed stand here. clCreateBuffer() may promise memory that is not there, and say so when the buffer
  is first written or used.
*/
#include "../device.h"

typedef int32_t  cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef void    *cl_handle; /* platforms, devices, contexts, queues, buffers, programs, kernels */

enum { /* of CL/cl.h */
       CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
       CL_OUT_OF_RESOURCES              = -5,
       CL_OUT_OF_HOST_MEMORY            = -6,
       CL_INVALID_KERNEL_NAME           = -46,
       CL_INVALID_BUFFER_SIZE           = -61,
       CL_DEVICE_TYPE_GPU               = 1 << 2,
       CL_DEVICE_TYPE                   = 0x1000,
       CL_DEVICE_MAX_COMPUTE_UNITS      = 0x1002,
       CL_DEVICE_MAX_WORK_GROUP_SIZE    = 0x1004,
       CL_DEVICE_MAX_CLOCK_FREQUENCY    = 0x100C,
       CL_DEVICE_GLOBAL_MEM_CACHE_SIZE  = 0x101E,
       CL_DEVICE_GLOBAL_MEM_SIZE        = 0x101F,
       CL_DEVICE_LOCAL_MEM_SIZE         = 0x1023,
       CL_DEVICE_NAME                   = 0x102B,
       CL_DEVICE_VENDOR                 = 0x102C,
       CL_DRIVER_VERSION                = 0x102D,
       CL_DEVICE_VERSION                = 0x102F,
       CL_DEVICE_EXTENSIONS             = 0x1030,
       CL_DEVICE_ATOMIC_MEMORY          = 0x1063, /* _CAPABILITIES, as the next */
       CL_DEVICE_ATOMIC_FENCE           = 0x1064,
       CL_DEVICE_ATOMIC_ORDER_RELAXED   = 1 << 0,
       CL_DEVICE_ATOMIC_ORDER_ACQ_REL   = 1 << 1,
       CL_DEVICE_ATOMIC_SCOPE_DEVICE    = 1 << 5,
       CL_MEM_READ_WRITE                = 1 << 0,
       CL_MEM_ALLOC_HOST_PTR            = 1 << 4,
       CL_MAP_READ_AND_WRITE            = 3,
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
  X(void *, clEnqueueMapBuffer, \
    (cl_handle, cl_handle, cl_uint, cl_ulong, size_t, size_t, cl_uint, const cl_handle *, cl_handle *, cl_int *)) \
  X(cl_int, clEnqueueUnmapMemObject, (cl_handle, cl_handle, void *, cl_uint, const cl_handle *, cl_handle *)) \
  X(cl_int, clWaitForEvents, (cl_uint, const cl_handle *)) \
  X(cl_int, clReleaseEvent, (cl_handle)) \
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

SPMV_LIBRARY(OPENCL_FUNCTIONS)

#define OPENCL_DEVICES_MAX   64 /* devices of one machine, at most */
#define OPENCL_PLATFORMS_MAX 16

static PetscInt  NDevices, NGpus;
static cl_handle Devices[OPENCL_DEVICES_MAX]; /* GPUs first */

typedef struct {
  cl_handle   id, context, queue;
  const char *across; /* what the compiler is told of kernels whose work groups wait for each other */
  cl_handle   event[SPMV_STAGING_SLOTS];
} OpenclDevice;

typedef struct {
  cl_handle       program;
  SpmvKernelTable kernels;
} OpenclProgram;

/* Names of the errors that users may see */
static const char *OpenclError(int code)
{
  static const char *const names[] = {
    [1] = "CL_DEVICE_NOT_FOUND",     [2] = "CL_DEVICE_NOT_AVAILABLE", [4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    [5] = "CL_OUT_OF_RESOURCES",     [6] = "CL_OUT_OF_HOST_MEMORY",   [11] = "CL_BUILD_PROGRAM_FAILURE",
    [46] = "CL_INVALID_KERNEL_NAME", [52] = "CL_INVALID_KERNEL_ARGS", [54] = "CL_INVALID_WORK_GROUP_SIZE",
    [61] = "CL_INVALID_BUFFER_SIZE"};

  return code < 0 && -code < (int)PETSC_STATIC_ARRAY_LENGTH(names) && names[-code] ? names[-code] : "see CL/cl.h";
}

#define OpenclCheck(function, code)    PetscCall(SpmvDeviceResult(&SpmvDeviceApi_opencl, #function "()", code))
#define PetscCallOpencl(function, ...) OpenclCheck(function, function(__VA_ARGS__))

/* Finds GPUs, or all others, of all platforms */
static void OpenclFind(cl_uint nplatforms, const cl_handle platforms[], PetscBool gpus)
{
  for (cl_uint p = 0; p < nplatforms; p++) {
    cl_handle found[OPENCL_DEVICES_MAX];
    cl_uint   n = 0;

    if (clGetDeviceIDs(platforms[p], UINT32_MAX /* all kinds */, OPENCL_DEVICES_MAX, found, &n)) continue;
    for (cl_uint k = 0; k < PetscMin(n, OPENCL_DEVICES_MAX) && NDevices < OPENCL_DEVICES_MAX; k++) {
      cl_ulong kind = 0;

      (void)clGetDeviceInfo(found[k], CL_DEVICE_TYPE, sizeof(kind), &kind, NULL);
      if (gpus == (PetscBool) !!(kind & CL_DEVICE_TYPE_GPU)) Devices[NDevices++] = found[k];
    }
  }
}

/* The devices of all platforms: GPUs, then the others */
static PetscErrorCode OpenclCount(PetscInt *all, PetscInt *gpus, PetscInt *petsc)
{
  static const char *const files[] = {"libOpenCL.so.1", NULL};
  cl_handle                platforms[OPENCL_PLATFORMS_MAX];
  cl_uint                  n = 0;

  PetscFunctionBegin;
  NDevices = NGpus = 0;
  if (SpmvLibraryLoad(files, Symbols) && !clGetPlatformIDs(OPENCL_PLATFORMS_MAX, platforms, &n)) {
    n = PetscMin(n, OPENCL_PLATFORMS_MAX);
    OpenclFind(n, platforms, PETSC_TRUE);
    NGpus = NDevices;
    OpenclFind(n, platforms, PETSC_FALSE);
  }
  *all   = NDevices;
  *gpus  = NGpus;
  *petsc = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The option of the compiler under which fences and atomics reach all work groups of a device; NULL if it has no such: fences of
  OpenCL 1.2 order memory inside a work group only. OpenCL 2 has them all, 3 those that it tells
*/
static const char *OpenclAcross(cl_handle id, const char version[])
{
  const cl_ulong device = CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  cl_ulong       memory = 0, fence = 0;

  if (!strncmp(version, "OpenCL 1", 8)) return NULL;
  if (!strncmp(version, "OpenCL 2", 8)) return "-cl-std=CL2.0";
  (void)clGetDeviceInfo(id, CL_DEVICE_ATOMIC_MEMORY, sizeof(memory), &memory, NULL);
  (void)clGetDeviceInfo(id, CL_DEVICE_ATOMIC_FENCE, sizeof(fence), &fence, NULL);
  if (~memory & (device | CL_DEVICE_ATOMIC_ORDER_RELAXED) || ~fence & (device | CL_DEVICE_ATOMIC_ORDER_ACQ_REL)) return NULL;
  return "-cl-std=CL3.0";
}

static PetscErrorCode OpenclDescribe(PetscInt index, SpmvDeviceInfo *info)
{
  const cl_handle id               = Devices[index];
  char            extensions[8192] = "";
  cl_ulong        memory = 0, local = 0, cache = 0;
  cl_uint         units = 1;

  PetscFunctionBegin;
  *info = (SpmvDeviceInfo){.gpu = (PetscBool)(index < NGpus)};
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_NAME, sizeof(info->name), info->name, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DRIVER_VERSION, sizeof(info->driver), info->driver, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_VERSION, sizeof(info->compiler), info->compiler, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cache), &cache, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local), &local, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(info->group), &info->group, NULL);
  PetscCallOpencl(clGetDeviceInfo, id, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL);
  info->memory   = (size_t)memory;
  info->local    = (size_t)local;
  info->units    = (size_t)units;
  info->cache    = (size_t)cache;
  info->real64   = (PetscBool)(strstr(extensions, "cl_khr_fp64") != NULL);
  info->forward  = (PetscBool)(info->gpu && OpenclAcross(id, info->compiler));
  info->atomic64 = (PetscBool)(strstr(extensions, "cl_khr_int64_base_atomics") != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclTell(PetscInt index, SpmvDeviceTold *told)
{
  cl_uint megahertz = 0;

  PetscFunctionBegin;
  *told = (SpmvDeviceTold){.vendor = ""};
  PetscCallOpencl(clGetDeviceInfo, Devices[index], CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(megahertz), &megahertz, NULL);
  PetscCallOpencl(clGetDeviceInfo, Devices[index], CL_DEVICE_VENDOR, sizeof(told->vendor), told->vendor, NULL);
  told->clock = 1e6 * megahertz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclOpen(PetscInt index, void **device)
{
  char          version[128] = "";
  OpenclDevice *d;
  cl_int        code;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  *device = d;
  d->id   = Devices[index];
  PetscCallOpencl(clGetDeviceInfo, d->id, CL_DEVICE_VERSION, sizeof(version), version, NULL);
  d->across  = OpenclAcross(d->id, version);
  d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &code);
  OpenclCheck(clCreateContext, code);
  d->queue = clCreateCommandQueue(d->context, d->id, 0, &code);
  OpenclCheck(clCreateCommandQueue, code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenclClose(void **device)
{
  OpenclDevice *d = *device;

  PetscFunctionBegin;
  PetscCallOpencl(clReleaseCommandQueue, d->queue);
  PetscCallOpencl(clReleaseContext, d->context);
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int OpenclFinish(void *device)
{
  return clFinish(((OpenclDevice *)device)->queue);
}

/* Where memory is to be had, this error means that there is none; at a launch it may mean any other resource */
static int OpenclMemory(int code)
{
  return code == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : code;
}

static int OpenclAlloc(void *device, size_t bytes, void **buffer)
{
  int code;

  *buffer = clCreateBuffer(((OpenclDevice *)device)->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  return OpenclMemory(code);
}

static int OpenclFree(void *device, void *buffer)
{
  return clReleaseMemObject(buffer);
}

static int OpenclCopy(void *device, SpmvDirection direction, void *to, const void *from, size_t bytes)
{
  cl_handle queue = ((OpenclDevice *)device)->queue;

  if (direction == SPMV_FROM_DEVICE) return clEnqueueReadBuffer(queue, (cl_handle)from, 1, 0, bytes, to, 0, NULL, NULL);
  return OpenclMemory(clEnqueueWriteBuffer(queue, to, 1, 0, bytes, from, 0, NULL, NULL));
}

/* What the host sees of a buffer that is made of such memory, for as long as there is one */
static int OpenclPin(void *device, size_t bytes, void **memory, void **array)
{
  OpenclDevice *d = device;
  int           code;

  *memory = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
  if (code) return OpenclMemory(code);
  *array = clEnqueueMapBuffer(d->queue, *memory, 1, CL_MAP_READ_AND_WRITE, 0, bytes, 0, NULL, NULL, &code);
  if (code) (void)clReleaseMemObject(*memory);
  return OpenclMemory(code);
}

static int OpenclUnpin(void *device, void *memory, void *array)
{
  OpenclDevice *d    = device;
  int           code = clEnqueueUnmapMemObject(d->queue, memory, array, 0, NULL, NULL);

  if (!code) code = clFinish(d->queue);
  return code ? code : clReleaseMemObject(memory);
}

static int OpenclBegin(void *device, SpmvDirection direction, void *buffer, size_t offset, void *array, size_t bytes, int slot)
{
  OpenclDevice *d = device;
  int           code;

  if (direction == SPMV_FROM_DEVICE)
    code = clEnqueueReadBuffer(d->queue, buffer, 0, offset, bytes, array, 0, NULL, &d->event[slot]);
  else code = OpenclMemory(clEnqueueWriteBuffer(d->queue, buffer, 0, offset, bytes, array, 0, NULL, &d->event[slot]));
  return code ? code : clFlush(d->queue);
}

static int OpenclWait(void *device, int slot)
{
  OpenclDevice *d    = device;
  int           code = clWaitForEvents(1, &d->event[slot]);

  (void)clReleaseEvent(d->event[slot]);
  return code;
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
  PetscCallOpencl(clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES, sizeof(*size), size, NULL);
  if (!*size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(*size, binary));
  PetscCallOpencl(clGetProgramInfo, program, CL_PROGRAM_BINARIES, sizeof(*binary), binary, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program that is built */
static int OpenclProgramCreate(cl_handle made, void **program)
{
  OpenclProgram *p = calloc(1, sizeof(*p));

  *program = p;
  if (p) p->program = made;
  return p ? 0 : CL_OUT_OF_HOST_MEMORY;
}

static PetscErrorCode OpenclCompile(void *device, const char source[], const char options[], void **program, char **binary,
                                    size_t *size, char **log)
{
  OpenclDevice *d = device;
  char          all[4 * SPMV_DEVICE_OPTIONS];
  cl_handle     made;
  int           code;

  PetscFunctionBegin;
  *program = *log = *binary = NULL;
  PetscCall(PetscSNPrintf(all, sizeof(all), "%s %s", options, d->across && strstr(options, SPMV_ACROSS) ? d->across : ""));
  made = clCreateProgramWithSource(d->context, 1, &source, NULL, &code);
  OpenclCheck(clCreateProgramWithSource, code);
  if (clBuildProgram(made, 1, &d->id, all, NULL, NULL)) {
    PetscCall(OpenclLog(d, made, log));
    PetscCallOpencl(clReleaseProgram, made);
  } else {
    PetscCall(OpenclBinary(made, binary, size));
    OpenclCheck(calloc, OpenclProgramCreate(made, program));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int OpenclLoad(void *device, const char *binary, size_t size, void **program)
{
  OpenclDevice *d = device;
  int           code;
  cl_handle     made = clCreateProgramWithBinary(d->context, 1, &d->id, &size, (const unsigned char **)&binary, NULL, &code);

  *program = NULL;
  if (code) return 0;
  if (!clBuildProgram(made, 1, &d->id, "", NULL, NULL)) return OpenclProgramCreate(made, program);
  return clReleaseProgram(made);
}

static int OpenclRelease(void *device, void *program)
{
  OpenclProgram *p    = program;
  int            code = clReleaseProgram(p->program);

  for (PetscInt k = 0; k < p->kernels.n && !code; k++) {
    if (p->kernels.kernel[k]) code = clReleaseKernel(p->kernels.kernel[k]);
  }
  free(p);
  return code;
}

static int OpenclKernel(OpenclProgram *p, const char name[], cl_handle *kernel)
{
  cl_handle *place = SpmvKernelPlace(&p->kernels, name);
  int        code  = place ? 0 : CL_INVALID_KERNEL_NAME;

  if (place && !*place) *place = clCreateKernel(p->program, name, &code);
  if (!code) *kernel = *place;
  return code;
}

static int OpenclLaunch(void *device, void *program, const SpmvDeviceCall *call)
{
  OpenclDevice *d     = device;
  const size_t  items = call->groups * call->group;
  cl_handle     kernel;
  int           code = OpenclKernel(program, call->kernel, &kernel);

  for (PetscInt k = 0; k < call->nargs && !code; k++) code = clSetKernelArg(kernel, (cl_uint)k, call->size[k], call->arg[k]);
  if (!code) code = clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &items, &call->group, 0, NULL, NULL);
  if (!code) code = clFlush(d->queue); /* it is to begin now: the host may have some of the rows */
  return code;
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
  .tell     = OpenclTell,
  .open     = OpenclOpen,
  .close    = OpenclClose,
  .nomem    = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_INVALID_BUFFER_SIZE},
  .error    = OpenclError,
  .finish   = OpenclFinish,
  .alloc    = OpenclAlloc,
  .free     = OpenclFree,
  .copy     = OpenclCopy,
  .pin      = OpenclPin,
  .unpin    = OpenclUnpin,
  .begin    = OpenclBegin,
  .wait     = OpenclWait,
  .compile  = OpenclCompile,
  .load     = OpenclLoad,
  .launch   = OpenclLaunch,
  .release  = OpenclRelease,
};
