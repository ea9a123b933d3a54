/*
  spmvimpl.h - the interface between a storage format and everything else

  A format has two sides, one for the host and one for devices, which know nothing of each other: each has its own knobs,
  storage and builder. A side knows CSR and its own arrays. It does not know PETSc's Mat, other formats, the APIs of devices
  or the tuner. The glue (mat/interface) knows PETSc's Mat and no format by name. spmvdevice.h has the rest of a device side.

  Words: a *format* is a storage scheme, a *plan* one value for each knob of a side, a *storage* a matrix in a format under
  a plan, an *ISA* an instruction set of the host, a *device* an OpenCL or CUDA accelerator, a *backend* host or device.
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

/* In a *_simd.c: the name of a symbol for the instruction set it is compiled for, such as BccooKernels_avx2 */
#define SPMV_CAT_(a, b)     a##_##b
#define SPMV_CAT(a, b)      SPMV_CAT_(a, b)
#define SPMV_ISA_NAME(name) SPMV_CAT(name, SPMV_ISA_SUFFIX)

/* At most */
#define SPMV_PARAM_MAX   20  /* knobs of one side of a format */
#define SPMV_LIST_MAX    64  /* values of a knob that is a list */
#define SPMV_ARRAY_MAX   28  /* arrays of one storage */
#define SPMV_THREADS_MAX 256 /* threads of a product */
#define SPMV_LINE_MAX    4   /* lines that a side adds to what is printed of its storage */
#define SPMV_PROPOSALS   24  /* plans that a side proposes in one round */

#define SPMV_CACHE_LINE ((size_t)64) /* bytes */

/* What the user declared of a matrix's entries and their mirror images (MatSetOption()) */
typedef enum {
  SPMV_DECLARED_NOTHING,
  SPMV_DECLARED_SYMMETRIC, /* A^T = A */
  SPMV_DECLARED_HERMITIAN  /* A^H = A, where that is something else */
} SpmvDeclared;

/* SpmvCSR: a borrowed view of one process's rows in compressed sparse row form; columns increase inside a row */
typedef struct {
  PetscInt           m, n;     /* rows, columns (local) */
  PetscInt           first;    /* number of the first row: not 0 in a part that the tuner looks at */
  PetscInt           all;      /* rows of the matrix that the tuner looks at a part of; 0: these are all */
  PetscInt           rbs, cbs; /* block sizes of rows and columns that the user declared (MatSetBlockSizes()), 1 if none */
  const PetscInt    *i;        /* [m + 1]  first entry of each row; i[0] = 0 */
  const PetscInt    *j;        /* [i[m]]   column of each entry, 0 <= j < n */
  const PetscScalar *a;        /* [i[m]]   value of each entry */
  SpmvDeclared       declared; /* of the matrix as it is now */
  PetscInt           global;   /* number of the first row in the matrix that is shared among processes, for messages */
  const PetscInt    *numbers;  /* [m] local numbers that rows in an order had before, for messages; NULL: as they come */
  PetscInt           coding;   /* of some rows of a matrix: how all its values may be coded (host/values.h); 0: not known */
  PetscBool          rounded;  /* a is not the matrix's values but the floats next to them */
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
  SpmvParam: one knob of a side, set by -mat_<format>_<name>: a choice among some values, any value of a range, or, for
  one knob of a side at most, a list of values of a range, empty by default

  A knob that both sides have, with the same name and the same choices, is one option, which sets both. The name of one that
  only the device has begins with "device_".
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
  SPMV_BACKEND_AUTO, /* in what is asked for only: a plan says one of the others */
  SPMV_BACKEND_COUNT
} SpmvBackend;

/* SpmvPlan: one value for each knob of a side, in the order of its params. No padding: plans are compared as memory */
typedef struct {
  PetscInt value[SPMV_PARAM_MAX]; /* of a list: how many values it has */
  PetscInt list[SPMV_LIST_MAX];   /* those values, then zeros */
  PetscInt threads;               /* threads that share a product, >= 1 */
  PetscInt isa;                   /* an SpmvIsa: of the products on the host */
  PetscInt backend;               /* the SpmvBackend whose side's knobs these are */
} SpmvPlan;

/* The plan that users get who ask for nothing, for one thread */
static inline SpmvPlan SpmvPlanDefault(SpmvBackend backend, PetscInt n, const SpmvParam params[])
{
  SpmvPlan plan = {.threads = 1, .backend = backend};

  for (PetscInt k = 0; k < n; k++) {
    const PetscInt *choices = params[k].choices;

    if (!params[k].list) plan.value[k] = choices ? choices[0] : params[k].preset;
  }
  return plan;
}

/* SpmvArray: one array of a storage, described so that others can count, send or print it blindly */
typedef struct {
  const char *name;
  const void *data;        /* NULL, though there are elements: the device makes it */
  size_t      count, size; /* elements, bytes of one element */
  PetscBool   is_values;   /* holds the matrix's values: changes when they change; all other arrays depend on the pattern only */
  PetscBool   aside;       /* no product reads it: kept for when the values change, and not sent to a device */
  PetscBool   sent;        /* although it is aside: the device puts new values in their places by it */
  PetscBool   borrowed;    /* of the SpmvCSR, not the storage's own */
} SpmvArray;

/* SPMV_ARRAY("values", b->value, n, sizeof(PetscScalar), .is_values = PETSC_TRUE) */
#define SPMV_ARRAY(n, d, c, ...) ((SpmvArray){.name = n, .data = d, .count = c, .size = __VA_ARGS__})

/* SpmvWork: what a product by a storage costs, in amounts that the rates of a machine turn into time (tune/estimate.c) */
typedef struct {
  PetscLogDouble bytes;    /* of the storage that a product reads, x and y not counted */
  PetscLogDouble moved;    /* and of what it writes besides y and reads again */
  PetscLogDouble slow;     /* by how much bytes from memory take longer than those of one stream; 0: as 1 */
  PetscLogDouble held;     /* the same of bytes from the last cache, than those of a format that prefetches them */
  PetscLogDouble gathered; /* entries of x that are loaded one by one into a vector */
  PetscLogDouble pieces;   /* times four pieces of x, of four entries each, are loaded to pick from */
  PetscLogDouble vectors;  /* vectors of eight scalars that are multiplied and added */
  PetscLogDouble blocked;  /* cycles of Zen 4 in loops over dense blocks: loads and multiplications, no entry is gathered alone */
  PetscLogDouble cycles;   /* of all else, by one core */
  PetscLogDouble branches; /* that a branch predictor has to know */
  PetscLogDouble misses;   /* and those of them that it does not foresee unless it knows all of them */
  PetscLogDouble window;   /* rows that are taken by length, some side by side; 0: all come as they are */
  PetscLogDouble reach;    /* bytes of x that are used over and over before the next ones are; 0: as the rows come */
  PetscLogDouble waits;    /* lines waited for, for each line of x: more than 1 where y is written out of order, less where
                              many loads are under way; 0: as 1 */
  PetscLogDouble build;    /* cycles to make the storage */
} SpmvWork;

/* SpmvDeviceInfo: what a device is and how much it has */
typedef struct {
  char           name[128], driver[128], compiler[128];
  size_t         memory; /* bytes */
  PetscLogDouble room;   /* bytes that we may still take of it */
  size_t         local;  /* bytes that a work group shares */
  size_t         large;  /* the same if one array of a kernel is LOCAL_LARGE; 0: no more than `local` */
  size_t         cache;  /* bytes of a cache that the API tells; 0: none. See SpmvDeviceCache() */
  size_t         group;  /* work items of a work group, at most */
  size_t         units;  /* processors that work groups are given to */
  PetscBool      gpu;    /* work groups run in lockstep, so that all barriers may be skipped at once */
  PetscBool forward;  /* work groups go on while others wait for what they write: GPUs that have fences for that are taken to */
  PetscBool real64;   /* has double */
  PetscBool atomic64; /* exchanges 64 bits in one piece */
} SpmvDeviceInfo;

/* SpmvSide: what both sides of a format have. info is the device of a device side, and NULL for the host */
typedef struct {
  PetscInt         nparams; /* knobs, <= SPMV_PARAM_MAX */
  const SpmvParam *params;  /* [nparams] */
  PetscBool        borrows; /* the storage keeps the SpmvCSR's pointers, until setvalues(); rows may then be unsorted */

  /*
    Plans to choose from, for the knobs that `asked` leaves open: the plainest in round 0, then, round by round, others that are
    likely to be faster only if those of the round before are. n = 0: no more. NULL: whatever is left open, resolve() replaces
  */
  PetscErrorCode (*propose)(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n,
                            SpmvPlan plans[SPMV_PROPOSALS]);
  /* Replaces what a plan still leaves open, by what sizes and the device tell, or by the plainest. NULL: nothing is left open */
  PetscErrorCode (*resolve)(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan);
  /* Why a resolved plan cannot be built for a matrix, with the remedy, as one sentence without a full stop; empty if it can be.
     NULL: all can */
  PetscErrorCode (*allows)(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size);
  /* Why another format is to serve a matrix, as half a sentence; empty if none need. It may depend on the values, and on knobs
     that are asked for. A matrix that is built all the same has the right products. NULL: all suit */
  PetscErrorCode (*suits)(const SpmvCSR *csr, const SpmvPlan *asked, char why[], size_t size);
  /* Adds the work that some consecutive rows of a matrix make, under a plan that is resolved for all of it */
  PetscErrorCode (*work)(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work);
  /* The same for n plans at once, where they have passes over the rows in common; NULL: one after the other */
  PetscErrorCode (*works)(const SpmvCSR *rows, PetscInt n, const SpmvPlan plans[], SpmvWork works[]);

  /* New storage under a plan that is resolved and allowed (call SpmvBuild()); on return the plan has what only building told.
     After an error *storage is what was made so far, or NULL */
  PetscErrorCode (*build)(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
  /* Same pattern, new values */
  PetscErrorCode (*setvalues)(const SpmvCSR *csr, void *storage);
  /* The arrays of a storage */
  PetscErrorCode (*arrays)(const void *storage, PetscInt *narrays, SpmvArray arrays[]);
  /* Line k = 0, 1, ... of what -mat_spmv_view prints of a storage besides plan and bytes; empty: no more. NULL: none */
  PetscErrorCode (*describe)(const void *storage, PetscInt k, char line[], size_t size);
  /* Frees what a storage, which may be half built, has besides its arrays(), which are SpmvAlloc()'s, and itself, which is
     PetscMalloc()'s (call SpmvStorageDestroy()). NULL: nothing */
  PetscErrorCode (*destroy)(void *storage);
} SpmvSide;

/* y <- beta y + A x, beta 0 or 1. With beta = 0, y is not read. x and y do not overlap. No PETSc calls inside */
typedef void SpmvApplyFn(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta);

/* y <- beta y + A^T x in the same way; work: transpose_work() scalars to write to, whatever they are before */
typedef void SpmvTransposeFn(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work);

/* SpmvKernels: the products of a host side for one ISA; NULL where the compiler has no such instructions */
typedef struct {
  SpmvApplyFn     *apply;
  SpmvTransposeFn *apply_transpose;
  size_t (*transpose_work)(const void *storage); /* scalars that the caller of apply_transpose lends it */
} SpmvKernels;

#define SPMV_TUNE_NEAR 1.05 /* times another estimate: they do not tell what is faster */

/* SpmvHostSide: products by this processor */
typedef struct {
  SpmvSide                  side;
  const SpmvKernels *const *kernels; /* [SPMV_ISA_COUNT] as kernels.h makes it; NULL: AIJ's own kernel */
  const char               *rather;  /* in the place of which format this one is taken where estimates are near; "": of any */
  PetscBool                 far;   /* never the fastest where the second cache has the matrix, as rows with their columns, ... */
  PetscInt                  nodes; /* ... but of nodes with a multiple of so many unknowns; 0: not of those either */
} SpmvHostSide;

/* SpmvFormat: a storage scheme; spmv, whose format is chosen, has no sides */
typedef struct {
  const char                   *name;     /* as in mattypes.h */
  const char                   *citation; /* BibTeX, printed by -citations */
  const SpmvHostSide           *host;
  const struct _SpmvDeviceSide *device; /* see spmvdevice.h; NULL: products on the host only */
} SpmvFormat;

/* SpmvOwned: a storage that SPMV_DESTROY_BY(SpmvOwnedDestroy) frees */
typedef struct {
  const SpmvSide *side;
  void           *storage;
} SpmvOwned;

/* spmvimpl.c */
extern const SpmvSide *SpmvFormatSide(const SpmvFormat *format, PetscInt backend);
extern PetscErrorCode  SpmvResolve(const SpmvSide *side, const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan,
                                   char why[], size_t size);
extern PetscErrorCode  SpmvBuild(const SpmvSide *side, const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan,
                                 void **storage);
extern PetscErrorCode  SpmvStorageDestroy(const SpmvSide *side, void **storage);
extern PetscErrorCode  SpmvOwnedDestroy(SpmvOwned *owned);
extern PetscLogDouble  SpmvArraysRead(PetscInt n, const SpmvArray arrays[]);
extern PetscLogDouble  SpmvArraysOwn(PetscInt n, const SpmvArray arrays[]);
extern PetscErrorCode  SpmvDeviceFits(const SpmvDeviceInfo *info, size_t group, size_t local, size_t large, const char format[],
                                      const char less[], char why[], size_t size);
extern PetscLogDouble  SpmvMedian(PetscInt n, PetscLogDouble seconds[]);
extern PetscErrorCode  SpmvAppend(char line[], size_t size, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);

/* host/isa.c */
extern PetscBool      SpmvIsaSupported(SpmvIsa isa);
extern const char    *SpmvIsaName(PetscInt isa);
extern PetscErrorCode SpmvIsaGet(PetscInt wanted, SpmvIsa *isa);
extern PetscErrorCode SpmvKernelsGet(const SpmvFormat *format, PetscInt wanted, const SpmvKernels **kernels);

/* host/alloc.c */
extern PetscErrorCode SpmvAlloc(size_t bytes, void *array);
extern PetscErrorCode SpmvAllocShared(size_t bytes, PetscInt ntasks, void *array);
extern PetscErrorCode SpmvFree(void *array);
extern void           SpmvFreeTemporary(void *array);

/*
  Before a declaration: destroy(&variable) is called where the variable goes out of scope, so that an error, which returns early,
  leaks nothing. SPMV_TEMPORARY is for what PetscMalloc1() or its kin gave. Such a variable must be initialised
*/
#define SPMV_DESTROY_BY(destroy) __attribute__((cleanup(destroy)))
#define SPMV_TEMPORARY           SPMV_DESTROY_BY(SpmvFreeTemporary)

/* sys/paths.c */
extern PetscErrorCode SpmvUserPath(const char variable[], const char folder[], const char name[], char path[], size_t size);
extern void           SpmvMakeFolders(const char file[]);

/* host/threads.c */
typedef struct {
  size_t first, end;
} SpmvSpan;                                          /* entries [first, end) of a vector */
typedef void SpmvTask(void *context, PetscInt task); /* no PETSc calls inside */
extern void  SpmvRun(PetscInt ntasks, SpmvTask *task, void *context);
extern void  SpmvThreadsForked(void);
extern void  SpmvRunBegin(PetscInt64 products);
extern void  SpmvRunEnd(void);
extern void  SpmvApply(SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[],
                       PetscBool beta);
extern void  SpmvApplyTranspose(SpmvTransposeFn *apply, const void *storage, PetscInt nz, const PetscScalar x[], PetscScalar y[],
                                PetscBool beta, PetscScalar work[]);
extern void  SpmvAddVectors(PetscInt ntasks, size_t n, const SpmvSpan spans[], const PetscScalar vectors[], PetscScalar y[]);
extern void  SpmvSplitRows(const SpmvCSR *csr, PetscInt unit, PetscInt parts, PetscInt first[]);

/* Where the share of a task begins, of n things that tasks share equally; it ends where that of the next task begins */
static inline size_t SpmvShare(size_t n, PetscInt task, PetscInt ntasks)
{
  return (size_t)((uint64_t)n * (uint64_t)task / (uint64_t)ntasks);
}

/* Work of a transposed product whose tasks add to vectors of n scalars: the first to y, each other to one of its own */
static inline size_t SpmvTaskVectors(PetscInt n, PetscInt ntasks)
{
  return (size_t)n * (size_t)(ntasks - 1);
}
static inline PetscScalar *SpmvTaskVector(PetscInt n, PetscInt task, PetscScalar *work, PetscScalar *y)
{
  return task ? work + SpmvTaskVectors(n, task) : y;
}
