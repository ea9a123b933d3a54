/*
  spmvimpl.h - the interface between a storage format and everything else

  A format knows CSR and its own arrays. It does not know PETSc's Mat, other formats, the APIs of devices or the tuner. The
  glue (mat/interface) knows PETSc's Mat and no format by name.

  Words: a *format* is a storage scheme, a *plan* one value for each knob of a format, a *storage* a matrix in a format
  under a plan, an *ISA* an instruction set of the host, a *device* an OpenCL or CUDA accelerator, a *backend* host or device.
*/
#pragma once
#include "compat.h"

/* Instruction sets of the host: SPMV_SCALAR, SPMV_AVX2, ..., then their number */
typedef enum {
#define SPMV_ISA(NAME, name, flags, runs) SPMV_##NAME,
#include "isas.h"
#undef SPMV_ISA
  SPMV_ISA_COUNT
} SpmvIsa;

/* In a *_simd.c: the name that a symbol has for the instruction set it is compiled for, such as BccooKernels_avx2 */
#define SPMV_CAT_(a, b)     a##_##b
#define SPMV_CAT(a, b)      SPMV_CAT_(a, b)
#define SPMV_ISA_NAME(name) SPMV_CAT(name, SPMV_ISA_SUFFIX)

#define SPMV_PARAM_MAX   16  /* knobs of one format, at most */
#define SPMV_LIST_MAX    64  /* values of a knob that is a list, at most */
#define SPMV_ARRAY_MAX   28  /* arrays of one storage, at most */
#define SPMV_THREADS_MAX 256 /* threads of a product, at most */
#define SPMV_CACHE_LINE  ((size_t)64)
#define SPMV_ALONE       10000 /* products that one thread has made before others have begun */
#define SPMV_MUCH        PETSC_MAX_INT
#define SPMV_CACHE       700000             /* entries that are likely to stay in cache from one product to the next */
#define SPMV_MEMORY      7000000            /* entries that no cache holds */
#define SPMV_LAST_CACHE  ((size_t)24 << 20) /* bytes that the last cache is likely to hold */
#define SPMV_LINE_MAX    4                  /* lines that a format adds to what is printed of its storage, at most */
#define SPMV_PROPOSALS   24                 /* plans that a format proposes in one round, at most */

/* SpmvCSR: a borrowed view of one process's rows in compressed sparse row form; columns increase inside a row */
typedef struct {
  PetscInt           m, n;     /* rows, columns (local) */
  PetscInt           rbs, cbs; /* block sizes of rows and columns that the user declared (MatSetBlockSizes()), 1 if none */
  const PetscInt    *i;        /* [m + 1]  first entry of each row; i[0] = 0 */
  const PetscInt    *j;        /* [i[m]]   column of each entry, 0 <= j < n */
  const PetscScalar *a;        /* [i[m]]   value of each entry */
} SpmvCSR;

/* What a knob is about: the tuner has a rule for each (tune/search.c) */
typedef enum {
  SPMV_KNOB_USERS,  /* only users turn it */
  SPMV_KNOB_SHAPE,  /* of blocks: knobs that are tried in all combinations */
  SPMV_KNOB_LAYOUT, /* the order in which things are stored, and through which kind of memory they go */
  SPMV_KNOB_CACHE,  /* the size of a cache that is counted on */
  SPMV_KNOB_LOCAL,  /* words, and what is kept at hand between one entry and the next */
  SPMV_KNOB_SLICES, /* vertical slices */
  SPMV_KNOB_TILE,   /* how much is worked on together: tiles, windows, strips */
  SPMV_KNOB_COUNT
} SpmvKnob;

/*
  SpmvParam: one knob of a format, set by -mat_<format>_<name>: a choice among some values, any value of a range, or, for
  one knob of a format at most, a list of values of a range, empty by default
*/
typedef struct {
  const char        *name;
  const char        *help;
  PetscInt           count;     /* number of choices */
  const PetscInt    *choices;   /* [count]  the values allowed; choices[0] is the default; NULL: a range or a list */
  const char *const *names;     /* [count]  what users write for choices 0, 1, ..., count - 1; NULL: the numbers themselves */
  PetscInt           preset;    /* range: the default */
  PetscInt           low, high; /* range, list: the least and the largest value allowed */
  PetscBool          list;
  SpmvKnob           knob;
} SpmvParam;

/* The last argument, an SpmvKnob, may be missing: only users turn the knob */
#define SPMV_CHOICES(name, help, choices, names, ...) \
  { \
    name, help, PETSC_STATIC_ARRAY_LENGTH(choices), choices, names, 0, 0, 0, PETSC_FALSE, ##__VA_ARGS__ \
  }
#define SPMV_RANGE(name, help, preset, low, high, ...) \
  { \
    name, help, 0, NULL, NULL, preset, low, high, PETSC_FALSE, ##__VA_ARGS__ \
  }
#define SPMV_LIST(name, help, low, high) \
  { \
    name, help, 0, NULL, NULL, 0, low, high, PETSC_TRUE, SPMV_KNOB_USERS \
  }

/* Who runs the products */
typedef enum {
  SPMV_BACKEND_HOST,
  SPMV_BACKEND_DEVICE,
  SPMV_BACKEND_AUTO, /* in what is asked for only: a plan that was built says one of the others */
  SPMV_BACKEND_COUNT
} SpmvBackend;

/* SpmvPlan: one value for each knob, in the order of SpmvFormat.params. No padding: plans are compared as memory */
typedef struct {
  PetscInt value[SPMV_PARAM_MAX];  /* of a list: how many values it has */
  PetscInt list[SPMV_LIST_MAX];    /* those values, then zeros */
  PetscInt threads;                /* threads that share a product, >= 1 */
  PetscInt isa;                    /* an SpmvIsa: of the products on the host */
  PetscInt backend;                /* a SpmvBackend; a storage built for one need not serve the other */
  PetscInt device[SPMV_PARAM_MAX]; /* one value for each knob of SpmvFormat.device; zeros for the host */
} SpmvPlan;

/* The plan that users get who ask for nothing, for one thread */
static inline SpmvPlan SpmvPlanDefault(const SpmvParam params[], PetscInt n)
{
  SpmvPlan plan = {.threads = 1};

  for (PetscInt k = 0; k < n; k++) plan.value[k] = params[k].choices ? params[k].choices[0] : params[k].list ? 0
                                                                                                             : params[k].preset;
  return plan;
}

/* SpmvArray: one array of a storage, described so that others can count, send or print it blindly */
typedef struct {
  const char *name;
  const void *data;
  size_t      count, size; /* elements, bytes of one element */
  PetscBool   is_values;   /* holds the matrix's values: changes when they change; all other arrays depend on the pattern only */
  PetscBool   aside;       /* no product reads it: kept for when the values change */
  PetscBool   borrowed;    /* of the SpmvCSR, not the storage's own */
  PetscBool   host;        /* of a storage that a device shares with the host: only the host reads it */
  PetscBool   made;        /* of a storage that a device converts: its kernels make it, so that there is no data */
  PetscBool   source;      /* what it is made from, which the device has only then; aside as well */
} SpmvArray;

/* SPMV_ARRAY("values", b->value, n, sizeof(PetscScalar), .is_values = PETSC_TRUE) */
#define SPMV_ARRAY(n, d, c, ...) ((SpmvArray){.name = n, .data = d, .count = c, .size = __VA_ARGS__})

/* y <- beta y + A x (or A^T x), beta 0 or 1. With beta = 0, y is not read. x and y do not overlap. No PETSc calls inside */
typedef void SpmvApplyFn(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta);

/* What one of ntasks threads of the host has to do of y <- beta y + A x, for the rows that a device does not have. No PETSc calls inside */
typedef void SpmvShareFn(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscInt task, PetscInt ntasks);

/* SpmvKernels: the products of a format for one ISA; NULL where there is none */
typedef struct {
  SpmvApplyFn *apply;           /* y <- beta y + A x */
  SpmvApplyFn *apply_transpose; /* y <- beta y + A^T x */
  SpmvShareFn *share;           /* of a storage for a device whose SpmvDeviceProduct is shared */
} SpmvKernels;

/* SpmvDeviceInfo: what a device is and how much it has */
typedef struct {
  char      name[128], driver[128], compiler[128];
  size_t    memory;   /* bytes */
  size_t    local;    /* bytes that a work group shares */
  size_t    group;    /* work items of a work group, at most */
  size_t    units;    /* processors that work groups are given to */
  PetscBool gpu;      /* work groups run in lockstep, so that all barriers may be skipped at once */
  PetscBool forward;  /* work groups that started go on while others wait for them: GPUs are taken to; no API promises it */
  PetscBool real64;   /* has double */
  PetscBool atomic64; /* exchanges 64 bits in one piece */
  PetscBool shuffles; /* work items side by side, 32 at a time, read each other's registers */
} SpmvDeviceInfo;

/* SpmvDeviceArg: what a kernel is given. What has no array, x of a matrix without columns, say, is given as a null pointer */
typedef struct {
  enum {
    SPMV_ARG_ARRAY, /* an array of the storage or a work array of the device, by name */
    SPMV_ARG_X,
    SPMV_ARG_Y,
    SPMV_ARG_BETA,  /* int: 0 or 1 */
    SPMV_ARG_EPOCH, /* uint: 1, 2, ...: the number of this product. For kernels that read it only: such products are not recorded */
    SPMV_ARG_INT    /* int */
  } kind;
  const char *name;
  PetscInt    value;
} SpmvDeviceArg;

#define SPMV_DEVICE_ARG_MAX    24   /* arguments of a kernel, at most */
#define SPMV_DEVICE_LAUNCH_MAX 8    /* kernels of a product, at most */
#define SPMV_DEVICE_WORK_MAX   4    /* work arrays, at most */
#define SPMV_DEVICE_OPTIONS    1024 /* characters of all -D options */

/* SpmvDeviceLaunch: one kernel of a product */
typedef struct {
  const char   *kernel;        /* its name in the source */
  size_t        groups, group; /* work groups, work items in each; with no groups it is not launched */
  PetscInt      step;          /* it waits for the kernels of lesser steps, and for none of its own */
  PetscBool     overwrites;    /* wanted only where y is not added to: it clears what the others do not write */
  PetscInt      nargs;
  SpmvDeviceArg arg[SPMV_DEVICE_ARG_MAX];
} SpmvDeviceLaunch;

/*
  SpmvDeviceProduct: y <- beta y + A x on a device: a program, its work arrays, its kernels in an order in which they may run

  In a shared product the device has some of the rows, and while its kernels run SpmvKernels.share makes the others. Its y is then
  a vector of its results alone, and beta is 0 for the kernels.
*/
typedef struct {
  char     options[SPMV_DEVICE_OPTIONS]; /* -D macros that carry the plan */
  PetscInt nwork;
  struct {
    const char *name;
    size_t      bytes; /* zeros when it is made */
  } work[SPMV_DEVICE_WORK_MAX];
  PetscInt         nlaunches;
  SpmvDeviceLaunch launch[SPMV_DEVICE_LAUNCH_MAX];
  PetscBool        shared;
  PetscInt         nresults; /* shared: rows of the device */
  const int32_t   *rows;     /* [nresults] which ones, an array of the storage; NULL: the first */
} SpmvDeviceProduct;

/* What SPMV_LAUNCH() gives to a kernel */
#define SPMV_GIVE_ARRAY(n) ((SpmvDeviceArg){.kind = SPMV_ARG_ARRAY, .name = n})
#define SPMV_GIVE_INT(v)   ((SpmvDeviceArg){.kind = SPMV_ARG_INT, .value = v})
#define SPMV_GIVE_X        ((SpmvDeviceArg){.kind = SPMV_ARG_X})
#define SPMV_GIVE_Y        ((SpmvDeviceArg){.kind = SPMV_ARG_Y})
#define SPMV_GIVE_BETA     ((SpmvDeviceArg){.kind = SPMV_ARG_BETA})
#define SPMV_GIVE_EPOCH    ((SpmvDeviceArg){.kind = SPMV_ARG_EPOCH})

/* Adds to a product a kernel that takes the arguments given, SPMV_GIVE_..., and waits for all before it; clears: only where y is not added to */
#define SPMV_LAUNCH(product, name, ngroups, ngroup, clears, ...) \
  do { \
    const SpmvDeviceArg args_[] = {__VA_ARGS__}; \
    SpmvDeviceLaunch   *l_      = &(product)->launch[(product)->nlaunches++]; \
    *l_                         = (SpmvDeviceLaunch){.kernel = name, .groups = ngroups, .group = ngroup, .step = (product)->nlaunches, .overwrites = clears, .nargs = PETSC_STATIC_ARRAY_LENGTH(args_)}; \
    memcpy(l_->arg, args_, sizeof(args_)); \
  } while (0)

/* The kernel added last need not wait for the one before it: neither reads what the other writes, and they write other rows */
static inline void SpmvDeviceAlongside(SpmvDeviceProduct *product)
{
  if (product->nlaunches > 1) product->launch[product->nlaunches - 1].step = product->launch[product->nlaunches - 2].step;
}

/* Adds to a product a work array */
static inline void SpmvDeviceWork(SpmvDeviceProduct *product, const char name[], size_t bytes)
{
  product->work[product->nwork].name    = name;
  product->work[product->nwork++].bytes = bytes;
}

/* Work groups of so many work items that there is one for each item */
static inline size_t SpmvGroups(size_t items, size_t group)
{
  return (items + group - 1) / group;
}

/* SpmvDeviceFormat: what a format has for devices. They take arrays() as they are, those aside, the host's and the device's own excepted; setvalues() sends the values anew */
typedef struct {
  const char      *source;  /* one for all APIs: OpenCL C with the words of device/prelude.cl */
  PetscInt         nparams; /* knobs, <= SPMV_PARAM_MAX */
  const SpmvParam *params;  /* [nparams]  set by -mat_<format>_device_<name> */

  /* The product of a storage that was built with backend device; PETSC_ERR_ARG_OUTOFRANGE if the device has too little for the plan */
  PetscErrorCode (*product)(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product);

  /* What a plan leaves open and the device tells, which has room for so many bytes, before a build. NULL: nothing */
  PetscErrorCode (*settle)(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscLogDouble room, SpmvPlan *plan);

  /*
    The kernels, of a source of their own, that make the arrays that are `made`, or only their values, in the way of a product; its
    work arrays are not cleared. No kernels: the host has made all. NULL: it always does
  */
  const char *convert_source;
  PetscErrorCode (*convert)(const void *storage, PetscBool values_only, SpmvDeviceProduct *product);

  PetscBool shares; /* products may be shared: */
  PetscInt  parts;  /* the knob of devices that says how many parts the device has, the first ones; 0: all */
  PetscInt  powers; /* the knob of the format that lists the computing powers of the parts; none: those are measured (device/powers.c) */
} SpmvDeviceFormat;

/*
  SpmvWork: what a product by a storage costs, in amounts that the rates of a machine turn into time (tune/estimate.c). Time spent
  loading from memory and time spent working are apart, since a processor does both at once
*/
typedef struct {
  PetscLogDouble bytes;    /* of the storage that a product reads, x and y not counted */
  PetscLogDouble moved;    /* and of what it writes besides y and reads again */
  PetscLogDouble gathered; /* entries of x that are loaded one by one into a vector */
  PetscLogDouble vectors;  /* vectors of eight scalars that are multiplied and added */
  PetscLogDouble cycles;   /* of all else, by one core */
  PetscLogDouble misses;   /* branches that the processor does not foresee */
  PetscLogDouble reach;    /* bytes of x that are used over and over before the next ones are; 0: as the rows come */
  PetscLogDouble build;    /* cycles to make the storage */
} SpmvWork;

/* SpmvFormat: a storage scheme; or, with nothing but a name, what stands in its place: spmv, and AIJ's own kernel (tune/tune.h) */
typedef struct {
  const char        *name;                    /* as in types.h */
  const char        *citation;                /* BibTeX, printed by -citations */
  PetscInt           nparams;                 /* knobs, <= SPMV_PARAM_MAX */
  const SpmvParam   *params;                  /* [nparams] */
  const SpmvKernels *kernels[SPMV_ISA_COUNT]; /* [SPMV_SCALAR] is required */

  /* New storage. On entry the plan holds what was asked for; on return what was built (a choice left to the format is replaced) */
  PetscErrorCode (*build)(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
  /* Same pattern, new values */
  PetscErrorCode (*setvalues)(const SpmvCSR *csr, void *storage);
  /* The arrays of a storage, at most SPMV_ARRAY_MAX */
  PetscErrorCode (*arrays)(const void *storage, PetscInt *narrays, SpmvArray arrays[]);
  /* Bytes of the storage that a product reads, scalars of scalar_size bytes, predicted without building; x and y not counted */
  PetscErrorCode (*bytes)(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes);
  PetscErrorCode (*destroy)(void **storage);
  /*
    Plans to choose from by their time, for the knobs that `asked` leaves open: the plainest in round 0, then, round by round, others that
    are likely only if those of the round before are. n = 0: no more. NULL: whatever is left open, resolve() replaces
  */
  PetscErrorCode (*propose)(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS]);
  /* Replaces what a plan still leaves open: what sizes tell, and where nobody chose, the plainest. NULL: nothing */
  PetscErrorCode (*resolve)(const SpmvCSR *csr, SpmvPlan *plan);
  /* Adds the work that some consecutive rows of a matrix make, under a plan that is resolved for all of it */
  PetscErrorCode (*work)(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work);
  /* The same for n plans, where they have passes over the rows in common; NULL: one after the other */
  PetscErrorCode (*works)(const SpmvCSR *rows, PetscInt n, const SpmvPlan plans[], SpmvWork works[]);

  const SpmvDeviceFormat *device; /* NULL: products on the host only */

  PetscBool borrows; /* the storage keeps the pointers of the SpmvCSR, whose rows may then be unsorted; setvalues() brings them anew */
  /* Line k = 0, 1, ..., < SPMV_LINE_MAX, of what -mat_spmv_view prints of a storage besides plan and bytes; empty: no more. NULL: none */
  PetscErrorCode (*describe)(const void *storage, PetscInt k, char line[], size_t size);
} SpmvFormat;

/* isa.c */
extern PetscBool      SpmvIsaSupported(SpmvIsa isa);
extern const char    *SpmvIsaName(PetscInt isa);
extern PetscBool      SpmvLastCacheIsFar(void);
extern PetscErrorCode SpmvKernelsGet(const SpmvFormat *format, PetscInt wanted, const SpmvKernels **kernels, SpmvIsa *isa);

/* alloc.c */
extern PetscErrorCode SpmvAlloc(size_t bytes, void *array);
extern PetscErrorCode SpmvAllocShared(size_t bytes, PetscInt ntasks, void *array);
extern PetscErrorCode SpmvFree(void *array);

/* storage.c */
extern PetscLogDouble SpmvArraysRead(PetscInt n, const SpmvArray arrays[], size_t scalar_size);
extern PetscLogDouble SpmvArraysOwn(PetscInt n, const SpmvArray arrays[]);
extern PetscErrorCode SpmvAppend(char line[], size_t size, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);

/* paths.c */
extern PetscErrorCode SpmvUserPath(const char variable[], const char folder[], const char name[], char path[], size_t size);
extern void           SpmvMakeFolders(const char file[]);

/* threads.c */
typedef void SpmvTask(void *context, PetscInt task); /* no PETSc calls inside */
extern void  SpmvRun(PetscInt ntasks, SpmvTask *task, void *context);
extern void  SpmvRunWork(PetscInt64 products);
extern void  SpmvApply(SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[], PetscBool beta);
extern void  SpmvAddVectors(PetscInt ntasks, size_t n, const PetscScalar vectors[], PetscScalar y[]);
extern void  SpmvSplitRows(const SpmvCSR *csr, PetscInt unit, PetscInt parts, PetscInt first[]);

/* The first of the n things that a task has its equal share of; the first of the next task is where they end */
static inline size_t SpmvShare(size_t n, PetscInt task, PetscInt ntasks)
{
  return (size_t)((uint64_t)n * (uint64_t)task / (uint64_t)ntasks);
}

#define SPMV_FORMAT(name) extern const SpmvFormat SpmvFormat_##name;
#include "types.h"
#undef SPMV_FORMAT
