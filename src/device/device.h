/*
  device.h - accelerators: what an API has to offer, and what the rest of the library makes of it

  device.c      the device of this process: options, which one, memory, transfers and their counts
  programs.c    kernels compiled once: the program cache, in memory and on disk
  launch.c      kernels launched under their events
  ondevice.c    a storage on a device
  product.c     its products
  convert.c     arrays of it that are made there
  graphs.c      products whose kernels were recorded
  shared.c      products of which the host makes some rows
  gather.c      some entries of a vector, for other processes
  powers.c      the computing powers of a device and of threads of the host, for such products
  petsc.c       what PETSc itself has on CUDA's devices
  prelude.cl    the scalars of kernels, the same for all APIs
  <api>/        one folder for each line of devices.h: an SpmvDeviceApi and the API's words for kernels

  Nothing links against an API: its library is looked for at run time. A machine without it has no such device.
*/
#pragma once
#include "../spmvdevice.h"

/* SpmvDeviceCall: a kernel and what it is given */
typedef struct {
  const char        *kernel;
  size_t             groups, group; /* work groups, work items in each */
  PetscInt           step;          /* as of SpmvDeviceLaunch */
  PetscInt           nargs;
  const void *const *arg;  /* [nargs]  where each argument's value is */
  const size_t      *size; /* [nargs]  its bytes */
} SpmvDeviceCall;

/* SpmvDeviceApi: OpenCL, CUDA, ... Devices, buffers and programs are the API's own; a buffer is passed to kernels as it is */
typedef struct {
  const char *name;
  const char *prelude; /* what a kernel's source begins with */
  const char *remedy;  /* "install ...", for who asked for this API and has no device */

  PetscErrorCode (*count)(PetscInt *all, PetscInt *gpus); /* GPUs come first; 0 where the library is missing */
  PetscErrorCode (*describe)(PetscInt index, SpmvDeviceInfo *info);
  PetscErrorCode (*open)(PetscInt index, void **device);
  PetscErrorCode (*close)(void **device);
  PetscErrorCode (*finish)(void *device);                             /* waits for all that was asked of it */
  PetscErrorCode (*alloc)(void *device, size_t bytes, void **buffer); /* bytes > 0; *buffer is NULL if memory ran out */
  PetscErrorCode (*free)(
    void *device, void **buffer); /* kernels that run may still use it: the API waits for them, or keeps it until they end */
  PetscErrorCode (*write)(void *device, void *buffer, const void *data, size_t bytes,
                          PetscBool *nomem); /* nomem: memory ran out, which OpenCL may say late */
  PetscErrorCode (*read)(void *device, void *buffer, void *data, size_t bytes);

  /* From source; log, of the compiler, is NULL if it went well. Both results are the caller's to PetscFree() */
  PetscErrorCode (*compile)(void *device, const char source[], const char options[], void **program, char **binary, size_t *size,
                            char **log);
  PetscErrorCode (*load)(void *device, const char *binary, size_t size, void **program); /* from a binary; NULL if it is none */
  PetscErrorCode (*launch)(void *device, void *program, const SpmvDeviceCall *call, PetscBool *nomem);

  /* Calls with the values that their arguments have now, step after step, to be asked for as one; NULL: the API has no such thing */
  PetscErrorCode (*record)(void *device, void *program, PetscInt ncalls, const SpmvDeviceCall calls[], void **graph,
                           PetscBool *nomem);
  PetscErrorCode (*replay)(void *device, void *graph, PetscBool *nomem);
  PetscErrorCode (*forget)(void *device, void **graph); /* nothing that was recorded may be running */

  PetscErrorCode (*release)(void *device, void **program);
  PetscErrorCode (*reset)(void); /* forgets all, at the end; every device is closed by then */

  /* PETSc's own vectors on devices of this API; both NULL: it has none */
  PetscErrorCode (*petsc)(PetscInt *index); /* the device that PETSc uses, -1 if none */
  PetscErrorCode (*owns)(void *device, const void *array,
                         PetscBool *owns); /* whether an array of PETSc's is memory of this device, so that it is a buffer */
} SpmvDeviceApi;

#define SPMV_DEVICE(name) extern const SpmvDeviceApi SpmvDeviceApi_##name;
#include "../devices.h"
#undef SPMV_DEVICE

/* SpmvTransfers: what was moved one way. A few scalars, as sums of vectors have them, are counted apart: to see whether vectors move */
#define SPMV_TRANSFER_FEW (32 * sizeof(PetscScalar))
typedef struct {
  PetscInt64     few;   /* transfers of so many bytes at most */
  PetscInt64     other; /* all others */
  PetscLogDouble bytes; /* of those */
} SpmvTransfers;

/* SpmvDevice: the device of this process */
typedef struct {
  const SpmvDeviceApi *api;
  PetscInt             index;
  void                *handle;
  SpmvDeviceInfo       info;
  PetscLogDouble       limit; /* bytes that we may hold, -spmv_device_memory */
  PetscLogDouble       held, peak, sent, received;
  SpmvTransfers        to, from;
  PetscBool            graphs; /* products of several kernels are recorded, -spmv_device_graph */
} SpmvDevice;

/* SpmvGraphs: products that were asked for, with their kernels if an API has recorded them */
#define SPMV_GRAPHS_MAX 64 /* GMRES multiplies its 30 vectors in turn, and some more at a restart */
typedef struct {
  const void *x, *y; /* on the device */
  PetscBool   beta;
  void       *graph; /* NULL: not recorded */
  PetscInt64  used;  /* when it was asked for last; 0: there is none */
} SpmvGraph;
typedef struct {
  PetscInt64 asked;
  SpmvGraph  of[SPMV_GRAPHS_MAX];
} SpmvGraphs;

/* SpmvPetscCudaFns: of petsc.c; tests put others in their place */
typedef struct {
  PetscErrorCode (*stream)(void **stream);  /* PETSc's stream now, NULL for CUDA's default stream: fetch it for each use */
  PetscErrorCode (*index)(PetscInt *index); /* the device that PETSc uses, -1 if none */
} SpmvPetscCudaFns;
extern SpmvPetscCudaFns SpmvPetscCuda;

/* SpmvOnDevice: a storage on a device */
typedef struct _n_SpmvOnDevice SpmvOnDevice;

/* SpmvGather: some entries of vectors on the device, which are brought to the host */
typedef struct _n_SpmvGather SpmvGather;

/* device.c */
extern PetscErrorCode SpmvDeviceGet(SpmvDevice **device);
extern PetscErrorCode SpmvDeviceAlloc(SpmvDevice *device, size_t bytes, void **buffer);
extern PetscErrorCode SpmvDeviceFree(SpmvDevice *device, size_t bytes, void **buffer);
extern PetscErrorCode SpmvDeviceWrite(SpmvDevice *device, void *buffer, const void *data, size_t bytes, PetscBool *nomem);
extern PetscErrorCode SpmvDeviceRead(SpmvDevice *device, void *buffer, void *data, size_t bytes);
extern PetscErrorCode SpmvDeviceInitialize(void);
extern PetscErrorCode SpmvDeviceFinalize(void);

/* programs.c */
extern PetscErrorCode SpmvProgramGet(SpmvDevice *device, const char source[], const char options[], void **program);
extern PetscErrorCode SpmvProgramSource(const SpmvDeviceApi *api, const char source[], char **whole);
extern PetscErrorCode SpmvProgramOptions(const SpmvDeviceInfo *info, const char options[], char whole[], size_t size);
extern PetscErrorCode SpmvProgramRefuse(const char api[], const char source[], const char options[], const char log[]);
extern PetscErrorCode SpmvProgramsReset(SpmvDevice *device);

typedef struct {
  PetscInt compiled, loaded, found; /* programs made from source, from disk, found in memory */
} SpmvProgramCounts;
extern SpmvProgramCounts SpmvPrograms;

/* launch.c */
extern PetscErrorCode SpmvDeviceRun(SpmvDevice *device, void *program, const SpmvDeviceCall *call, PetscBool wait,
                                    PetscBool *nomem);
extern PetscErrorCode SpmvDeviceRunReset(void);

/* powers.c */
extern PetscErrorCode SpmvDevicePowers(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                       const SpmvPlan *host);

/* gather.c */
extern const char     SpmvGatherSource[];
extern PetscErrorCode SpmvGatherCreate(SpmvDevice *device, PetscInt n, const PetscInt which[], SpmvGather **gather,
                                       PetscBool *nomem);
extern PetscErrorCode SpmvGatherRun(SpmvGather *gather, void *x, PetscScalar out[], PetscBool *nomem);
extern PetscErrorCode SpmvGatherDestroy(SpmvGather **gather);

/* graphs.c */
extern PetscErrorCode SpmvGraphsFind(SpmvGraphs *graphs, SpmvDevice *device, const void *x, const void *y, PetscBool beta,
                                     void ***graph, PetscBool *seen);
extern PetscErrorCode SpmvGraphsForget(SpmvGraphs *graphs, SpmvDevice *device);

/* ondevice.c */
extern PetscErrorCode SpmvOnDeviceCreate(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                         const SpmvPlan *host, SpmvOnDevice **on, PetscBool *nomem);
extern PetscErrorCode SpmvOnDeviceSetValues(SpmvOnDevice *on, const SpmvCSR *csr, PetscBool *nomem);
extern PetscErrorCode SpmvOnDeviceArrays(const SpmvOnDevice *on, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode SpmvOnDeviceDescribe(const SpmvOnDevice *on, PetscInt k, char line[], size_t size);
extern PetscErrorCode SpmvOnDeviceDestroy(SpmvOnDevice **on);

/* product.c */
extern PetscErrorCode SpmvOnDeviceApply(SpmvOnDevice *on, PetscInt nx, const PetscScalar x[], PetscInt ny, PetscScalar y[],
                                        PetscBool beta, PetscBool *nomem);
extern PetscErrorCode SpmvOnDeviceMultiply(SpmvOnDevice *on, PetscInt nx, const PetscScalar x[], void *xbuffer, PetscInt ny,
                                           PetscScalar y[], void *ybuffer, PetscBool beta, PetscBool *nomem);
extern PetscBool      SpmvOnDeviceIsShared(const SpmvOnDevice *on);
extern PetscErrorCode SpmvOnDeviceRepeat(SpmvOnDevice *on, PetscInt n);
extern PetscErrorCode SpmvOnDeviceRead(SpmvOnDevice *on, const char name[], void *data, size_t bytes);
