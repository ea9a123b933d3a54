/*
  device.h - accelerators: what an API has to offer, and what the rest of the library makes of it

  device.c      the device of this process: options, which one, memory, transfers and their counts, launches
  staging.c     transfers through page-locked memory of the host
  library.c     the libraries of APIs, opened at run time
  programs.c    kernels compiled once: the program cache, in memory and on disk
  ondevice.c    a storage on a device: arrays sent, or made there
  convert.c     what formats have in common that are made there
  product.c     its products, also of kernels that were recorded
  joint.c       products of which the host has some of the rows
  powers.c      the computing powers of a device and of threads of the host, for such products
  gather.c      some entries of a vector, for other processes
  prelude.cl    the scalars of kernels, the same for all APIs
  <api>/        one folder for each line of devices.h: an SpmvDeviceApi and the API's words for kernels

  Nothing links against an API: its library is looked for at run time. A machine without it has no such device.
*/
#pragma once
#include "../spmvdevice.h"

/* SpmvDeviceCall: a kernel and what it is given */
typedef struct {
  const char *kernel;
  size_t      groups, group; /* work groups, work items in each */
  size_t      local;         /* as of SpmvDeviceLaunch */
  uint32_t    waits;         /* the same, of the calls that are recorded with it */
  PetscInt    nargs;
  const void *arg[SPMV_DEVICE_ARG_MAX];   /* [nargs]  where each argument's value is, */
  int32_t     value[SPMV_DEVICE_ARG_MAX]; /* here if it is an integer */
  size_t      size[SPMV_DEVICE_ARG_MAX];  /* [nargs]  its bytes */
} SpmvDeviceCall;

/* SpmvDeviceTold: what an API tells of how fast a device is */
typedef struct {
  char           vendor[128];
  PetscLogDouble clock;     /* of its processors, in Hz; 0: not told */
  PetscLogDouble bandwidth; /* of its memory, in bytes a second; 0: not told */
} SpmvDeviceTold;

typedef enum { SPMV_TO_DEVICE, SPMV_FROM_DEVICE } SpmvDirection;

#define SPMV_STAGING_SLOTS 2 /* pieces of a transfer that are on their way at once */

/* SpmvKernelTable: the kernels of a program that were launched so far: an API takes longer to look one up than to launch it */
#define SPMV_PROGRAM_KERNELS 64 /* at most */
typedef struct {
  PetscInt    n;
  const char *name[SPMV_PROGRAM_KERNELS];
  void       *kernel[SPMV_PROGRAM_KERNELS]; /* [n] the API's; NULL: not looked up yet */
} SpmvKernelTable;

/* The place of a kernel in a table; NULL if that is full. The name is kept as it is */
static inline void **SpmvKernelPlace(SpmvKernelTable *t, const char name[])
{
  PetscInt k = 0;

  while (k < t->n && t->name[k] != name && strcmp(t->name[k], name)) k++;
  if (k == SPMV_PROGRAM_KERNELS) return NULL;
  if (k == t->n) {
    t->name[k]   = name;
    t->kernel[k] = NULL;
    t->n++;
  }
  return &t->kernel[k];
}

/* SpmvDeviceApi: OpenCL, CUDA, ... Devices, buffers and programs are the API's own; a buffer is passed to kernels as it is */
typedef struct {
  const char *name;
  const char *prelude; /* what a kernel's source begins with */
  const char *remedy;  /* "install ...", for who asked for this API and has no device */

  /* GPUs come first; none where the library is missing. petsc: the device that PETSc uses, or -1 */
  PetscErrorCode (*count)(PetscInt *all, PetscInt *gpus, PetscInt *petsc);
  PetscErrorCode (*describe)(PetscInt index, SpmvDeviceInfo *info);
  PetscErrorCode (*tell)(PetscInt index, SpmvDeviceTold *told);
  PetscErrorCode (*open)(PetscInt index, void **device);
  PetscErrorCode (*close)(void **device);

  /* From source; log, of the compiler, is NULL if it went well: there is a program then, or it is to be loaded from the binary.
     Log and binary are the caller's to PetscFree() */
  PetscErrorCode (*compile)(void *device, const char source[], const char options[], void **program, char **binary, size_t *size,
                            char **log);

  /* The functions below return 0 or an error of the API's own: see SpmvCallDevice() */

  /* Called before and after each of the functions below; may be nested, for what makes many calls. NULL: nothing to do */
  int (*enter)(void *device);
  int (*leave)(void *device);

  int nomem[4]; /* errors that mean that memory ran out, then 0. OpenCL may say so as late as at a launch */
  const char *(*error)(int code);
  int (*finish)(void *device);                             /* waits for all that was asked of it */
  int (*alloc)(void *device, size_t bytes, void **buffer); /* bytes > 0 */
  int (*free)(void *device, void *buffer);                 /* kernels that run may still use it */
  int (*copy)(void *device, SpmvDirection direction, void *to, const void *from, size_t bytes); /* done when it returns */

  /*
    Page-locked memory of the host, from which the hardware copies by itself: *memory is what unpin() takes. begin() is copy() of
    some bytes of a buffer from or to such an array, but only begins; wait() waits for the last one of a slot. `early`: nothing
    can run out once a copy to the device has begun, so that nobody need wait for it before kernels are launched. pin NULL: no
    such memory
  */
  PetscBool early;
  int (*pin)(void *device, size_t bytes, void **memory, void **array);
  int (*unpin)(void *device, void *memory, void *array);
  int (*begin)(void *device, SpmvDirection direction, void *buffer, size_t offset, void *array, size_t bytes, int slot);
  int (*wait)(void *device, int slot);

  int (*load)(void *device, const char *binary, size_t size, void **program); /* NULL if it is no binary */
  int (*release)(void *device, void *program);
  int (*launch)(void *device, void *program, const SpmvDeviceCall *call);

  /* Calls with the values that their arguments have now, to be launched as one; NULL: the API cannot */
  int (*record)(void *device, void *program, PetscInt ncalls, const SpmvDeviceCall calls[], void **graph);
  int (*replay)(void *device, void *graph);
  int (*forget)(void *device, void *graph); /* nothing that was recorded may be running */

  /* Whether an array of PETSc's is a buffer of this device; NULL: none is */
  int (*owns)(void *device, const void *array, PetscBool *owns);
} SpmvDeviceApi;

#define SPMV_DEVICE(name) extern const SpmvDeviceApi SpmvDeviceApi_##name;
#include "../devices.h"
#undef SPMV_DEVICE

/* SpmvTransfers: what was moved one way. Those of a few scalars, as of sums, are counted apart, to see whether vectors move */
#define SPMV_TRANSFER_FEW (32 * sizeof(PetscScalar))
typedef struct {
  PetscInt64     few;   /* transfers of so many bytes at most */
  PetscInt64     other; /* all others */
  PetscLogDouble bytes; /* of those */
  PetscLogDouble all;   /* bytes of both */
} SpmvTransfers;

/* SpmvDevice: the device of this process */
typedef struct _n_SpmvDevice {
  const SpmvDeviceApi *api;
  PetscInt             index;
  void                *handle;
  SpmvDeviceInfo       info;
  PetscLogDouble       limit; /* bytes that we may hold, -spmv_device_memory */
  PetscLogDouble       held, peak;
  SpmvTransfers        moved[2]; /* by SpmvDirection */
  PetscBool            graphs;   /* products of several kernels are recorded, -spmv_device_graph */

  size_t piece; /* bytes of a piece of a transfer through page-locked memory, -spmv_device_staging; 0: the API copies */
  struct {
    void     *memory, *array; /* NULL before the first transfer */
    PetscBool busy;           /* a transfer that nobody has waited for */
  } slot[SPMV_STAGING_SLOTS];
  int next; /* slot of the next piece */

  PetscBool failed;       /* an error other than that memory ran out: nothing is asked of it any more, but to free what it has */
  PetscBool told;         /* and the user knows, from an error or a warning */
  PetscBool half;         /* it failed in a product whose y may have some of the sums and lack others */
  int       tolerant;     /* > 0: who calls looks at `failed` afterwards, so that errors are not raised */
  char      failure[256]; /* the first error */
} SpmvDevice;

/* SpmvOnDevice: a storage on a device */
typedef struct _n_SpmvOnDevice SpmvOnDevice;

/*
  Calls a function of a device's API. If memory ran out, nomem is set unless it is NULL; other errors are raised, or, while the
  device is `tolerant`, noted, and nomem is set
*/
#define SpmvCallDevice(d, nomem, function, ...) \
  do { \
    int code_ = (d)->api->enter ? (d)->api->enter((d)->handle) : 0; \
    if (!code_) { \
      code_ = (d)->api->function((d)->handle, ##__VA_ARGS__); \
      if ((d)->api->leave) (void)(d)->api->leave((d)->handle); \
    } \
    if (code_) PetscCall(SpmvDeviceFailed(d, #function "()", code_, nomem)); \
  } while (0)

/* The same for what gives something back: a device that has failed has nothing more to say */
#define SpmvReleaseDevice(d, function, ...) \
  do { \
    const int tolerant_ = (d)->tolerant; \
    if ((d)->failed) (d)->tolerant = 1; \
    SpmvCallDevice(d, NULL, function, ##__VA_ARGS__); \
    (d)->tolerant = tolerant_; \
  } while (0)

/* A call whose caller looks at `failed` afterwards: meanwhile the device is tolerant */
#define SpmvTolerantly(d, call) \
  do { \
    PetscErrorCode ierr_; \
    (d)->tolerant++; \
    ierr_ = call; \
    (d)->tolerant--; \
    PetscCall(ierr_); \
  } while (0)

/* device.c */
extern PetscErrorCode SpmvDeviceResult(const SpmvDeviceApi *api, const char what[], int code);
extern PetscErrorCode SpmvDeviceFailed(SpmvDevice *device, const char what[], int code, PetscBool *nomem);
extern PetscErrorCode SpmvDeviceGet(SpmvDevice **device);
extern PetscErrorCode SpmvDeviceEnter(SpmvDevice *device, SpmvDevice **entered);
extern void           SpmvDeviceLeave(SpmvDevice **entered);
extern PetscErrorCode SpmvDeviceAlloc(SpmvDevice *device, size_t bytes, void **buffer);
extern PetscErrorCode SpmvDeviceFree(SpmvDevice *device, size_t bytes, void **buffer);
extern PetscErrorCode SpmvDeviceCopy(SpmvDevice *device, SpmvDirection direction, void *to, const void *from, size_t bytes,
                                     PetscBool *nomem);
#define SpmvDeviceWrite(device, buffer, data, bytes, nomem) SpmvDeviceCopy(device, SPMV_TO_DEVICE, buffer, data, bytes, nomem)
#define SpmvDeviceRead(device, buffer, data, bytes)         SpmvDeviceCopy(device, SPMV_FROM_DEVICE, data, buffer, bytes, NULL)
extern PetscErrorCode SpmvDeviceRun(SpmvDevice *device, void *program, const SpmvDeviceCall *call, PetscBool wait,
                                    PetscBool *nomem);
extern PetscErrorCode SpmvDeviceReplay(SpmvDevice *device, void *graph, const char name[], PetscBool *nomem);
extern void           SpmvDeviceForked(void);
extern PetscErrorCode SpmvDeviceInitialize(void);
extern PetscErrorCode SpmvDeviceFinalize(void);

/* staging.c */
extern PetscErrorCode SpmvStagedCopy(SpmvDevice *device, SpmvDirection direction, void *to, const void *from, size_t bytes,
                                     PetscBool wait, PetscBool *nomem);
extern PetscErrorCode SpmvStagingReset(SpmvDevice *device);

/* library.c */
typedef struct {
  const char *name;
  void      **pointer; /* to the function, NULL until it is found */
} SpmvSymbol;
extern PetscBool SpmvLibraryLoad(const char *const files[], const SpmvSymbol symbols[]);

/* From a list X(result, name, arguments) of a library's functions: pointers of these names, and Symbols that fill them */
#define SPMV_LIBRARY_POINTER(result, name, arguments) static result(*name) arguments;
#define SPMV_LIBRARY_SYMBOL(result, name, arguments)  {#name, (void **)&name},
#define SPMV_LIBRARY(FUNCTIONS) \
  FUNCTIONS(SPMV_LIBRARY_POINTER) \
  static const SpmvSymbol Symbols[] = {FUNCTIONS(SPMV_LIBRARY_SYMBOL){NULL, NULL}};

/* programs.c */
extern PetscErrorCode SpmvProgramGet(SpmvDevice *device, const char source[], const char options[], void **program);
extern PetscErrorCode SpmvProgramSource(const SpmvDeviceApi *api, const char source[], char **whole);
extern PetscErrorCode SpmvProgramOptions(const SpmvDeviceInfo *info, const char options[], char whole[], size_t size);
extern PetscErrorCode SpmvProgramsReset(SpmvDevice *device);

enum { SPMV_COMPILED, SPMV_LOADED, SPMV_FOUND, SPMV_PROGRAMS };
extern PetscLogDouble SpmvPrograms[SPMV_PROGRAMS]; /* how many were made from source, from disk, found in memory */
extern PetscLogDouble SpmvProgramSeconds;          /* that making them took */

/* powers.c */
extern PetscErrorCode SpmvDevicePowers(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                       const SpmvPlan *host);

/* gather.c */
extern const char     SpmvGatherSource[];
extern PetscErrorCode SpmvGatherCreate(SpmvDevice *device, PetscInt n, const PetscInt which[], SpmvOnDevice **gather,
                                       PetscBool *nomem);

/* ondevice.c */
extern PetscErrorCode SpmvOnDeviceCreate(SpmvDevice *device, const SpmvFormat *format, const SpmvCSR *csr, SpmvPlan *plan,
                                         const SpmvPlan *host, SpmvOnDevice **on, PetscBool *nomem);
extern PetscErrorCode SpmvOnDeviceSetValues(SpmvOnDevice *on, const SpmvCSR *csr, PetscBool *nomem);
extern PetscErrorCode SpmvOnDeviceArrays(const SpmvOnDevice *on, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode SpmvOnDeviceDescribe(const SpmvOnDevice *on, PetscInt k, char line[], size_t size);
extern PetscErrorCode SpmvOnDeviceDestroy(SpmvOnDevice **on);
extern SpmvDevice    *SpmvOnDeviceDevice(const SpmvOnDevice *on);

/* product.c */
extern PetscErrorCode SpmvOnDeviceMultiply(SpmvOnDevice *on, const PetscScalar x[], void *xbuffer, PetscScalar y[], void *ybuffer,
                                           PetscBool beta, PetscBool *nomem);
extern PetscBool      SpmvOnDeviceIsJoint(const SpmvOnDevice *on);
extern PetscErrorCode SpmvOnDeviceRepeat(SpmvOnDevice *on, PetscInt n, PetscBool *nomem);
