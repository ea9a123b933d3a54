/*
  spmvdevice.h - the interface between a format's device side and src/device

  The kernels are OpenCL C with the words of device/prelude.cl, one source for all APIs. A device takes the arrays of a storage as
  they are, most of those aside excepted; setvalues() sends the values anew.
*/
#pragma once
#include "spmvimpl.h"

#define SPMV_DEVICE_ARG_MAX    25           /* arguments of a kernel, at most, and one that ends them */
#define SPMV_DEVICE_LAUNCH_MAX 8            /* kernels of a product, at most */
#define SPMV_DEVICE_WORK_MAX   4            /* work arrays, at most */
#define SPMV_DEVICE_OPTIONS    1024         /* characters of all -D options */
#define SPMV_ACROSS            "-DACROSS=1" /* added to those of a product whose kernels are given its number */

/* SpmvDeviceArg: what a kernel is given. What has no array, x of a matrix without columns, say, is given as a null pointer */
typedef struct {
  enum {
    SPMV_ARG_NONE,  /* there are no more */
    SPMV_ARG_ARRAY, /* an array of the storage or a work array of the device, by name */
    SPMV_ARG_X,
    SPMV_ARG_Y,
    SPMV_ARG_BETA,  /* int: 0 or 1 */
    SPMV_ARG_EPOCH, /* uint: the number of this product, 1, 2, ...; a product with such a kernel is not recorded */
    SPMV_ARG_INT    /* int */
  } kind;
  const char *name;
  PetscInt    value;
} SpmvDeviceArg;

/* SpmvDeviceLaunch: one kernel of a product */
typedef struct {
  const char   *kernel;        /* its name in the source */
  size_t        groups, group; /* work groups, work items in each; with no groups it is not launched */
  uint32_t      waits;         /* bit k: for kernel k of the product, or for one that does */
  size_t        local;         /* bytes of its LOCAL_LARGE array, 0: it has none */
  PetscBool     overwrites;    /* wanted only where y is not added to: it clears what the others do not write */
  PetscInt      nargs;
  SpmvDeviceArg arg[SPMV_DEVICE_ARG_MAX];
} SpmvDeviceLaunch;

/*
  SpmvDeviceProduct: y <- beta y + A x on a device: a program, its work arrays, its kernels in an order in which they may run. Of
  those that may run at once the ones of few work groups that take long come first: the others fill the device beside them
*/
typedef struct {
  char             options[SPMV_DEVICE_OPTIONS]; /* -D macros that carry the plan */
  PetscInt         nwork;
  SpmvArray        work[SPMV_DEVICE_WORK_MAX]; /* without data; zeros when they are made */
  PetscInt         nlaunches;
  SpmvDeviceLaunch launch[SPMV_DEVICE_LAUNCH_MAX];
  PetscBool        numbered; /* a kernel is given SPMV_ARG_EPOCH */
} SpmvDeviceProduct;

/* What SPMV_LAUNCH() gives to a kernel */
#define SPMV_GIVE_ARRAY(n) ((SpmvDeviceArg){.kind = SPMV_ARG_ARRAY, .name = n})
#define SPMV_GIVE_INT(v)   ((SpmvDeviceArg){.kind = SPMV_ARG_INT, .value = v})
#define SPMV_GIVE_X        ((SpmvDeviceArg){.kind = SPMV_ARG_X})
#define SPMV_GIVE_Y        ((SpmvDeviceArg){.kind = SPMV_ARG_Y})
#define SPMV_GIVE_BETA     ((SpmvDeviceArg){.kind = SPMV_ARG_BETA})
#define SPMV_GIVE_EPOCH    ((SpmvDeviceArg){.kind = SPMV_ARG_EPOCH})

/* Adds to a product a kernel that is given SPMV_GIVE_... and waits for all before it; clears: not wanted where y is added to */
#define SPMV_LAUNCH(product, name, ngroups, ngroup, clears, ...) \
  SpmvDeviceAdd( \
    product, (SpmvDeviceLaunch){.kernel = name, .groups = ngroups, .group = ngroup, .overwrites = clears, .arg = {__VA_ARGS__}})
static inline void SpmvDeviceAdd(SpmvDeviceProduct *product, SpmvDeviceLaunch launch)
{
  for (; launch.arg[launch.nargs].kind; launch.nargs++) {
    if (launch.arg[launch.nargs].kind == SPMV_ARG_EPOCH) product->numbered = PETSC_TRUE;
  }
  launch.waits                          = ((uint32_t)1 << product->nlaunches) - 1;
  product->launch[product->nlaunches++] = launch;
}

/*
  The kernel added last waits for this one only, if the product has it, and for what that waits for. None of the others reads what
  it writes or writes what it reads, and they write other rows of y
*/
static inline void SpmvDeviceAfter(SpmvDeviceProduct *product, const char kernel[])
{
  SpmvDeviceLaunch *last = &product->launch[product->nlaunches - 1];

  last->waits = 0;
  for (const SpmvDeviceLaunch *l = product->launch; l < last; l++) {
    if (!strcmp(l->kernel, kernel)) last->waits = (uint32_t)1 << (l - product->launch) | l->waits;
  }
}

/* The kernel added last waits for none */
static inline void SpmvDeviceAtOnce(SpmvDeviceProduct *product)
{
  product->launch[product->nlaunches - 1].waits = 0;
}

/* The bytes of the LOCAL_LARGE array of the kernel added last, where warps are alone (opencl.cl) */
static inline void SpmvDeviceLocal(SpmvDeviceProduct *product, size_t bytes)
{
  product->launch[product->nlaunches - 1].local = bytes;
}

/* Adds a work array to a product */
static inline void SpmvDeviceWork(SpmvDeviceProduct *product, const char name[], size_t bytes)
{
  product->work[product->nwork++] = SPMV_ARRAY(name, NULL, bytes, 1);
}

/* Work groups of so many work items that there is one for each item */
static inline size_t SpmvGroups(size_t items, size_t group)
{
  return (items + group - 1) / group;
}

/*
  Adds spmv_clear, which writes 0 to n times `size` scalars of an array; overwrites: see SpmvDeviceLaunch. Work items that write
  one scalar each end as fast as an H200 begins work groups, one in 0.6 ns: that is 1.3 TB/s, of 4.8
*/
#define SPMV_CLEAR_EACH 8 /* scalars of a work item */
static inline PetscErrorCode SpmvDeviceClear(SpmvDeviceProduct *product, SpmvDeviceArg array, size_t n, PetscInt size,
                                             size_t group, PetscBool overwrites)
{
  PetscFunctionBegin;
  PetscCall(SpmvAppend(product->options, sizeof(product->options), " -DCLEAR=%zu -DCLEAR_EACH=%d", group, SPMV_CLEAR_EACH));
  SPMV_LAUNCH(product, "spmv_clear", SpmvGroups(n * (size_t)size, group * SPMV_CLEAR_EACH), group, overwrites, array,
              SPMV_GIVE_INT((PetscInt)n), SPMV_GIVE_INT(size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_DEVICE_L2_LEAST ((size_t)256 << 10) /* bytes that a GPU's second cache has at least */
#define SPMV_DEVICE_L2       ((size_t)8 << 20)   /* of a GPU that does not tell: an MI250X's */

/* Bytes of the cache that all processors share; 0: not known. AMD's OpenCL tells of the first cache of one processor, 16 KiB */
static inline size_t SpmvDeviceCache(const SpmvDeviceInfo *info)
{
  return info->gpu && info->cache < SPMV_DEVICE_L2_LEAST ? SPMV_DEVICE_L2 : info->cache;
}

/* Work items of a work group for so many of them: `most`, a power of two, or fewer, so that each processor has several groups */
static inline PetscInt SpmvDeviceGroup(const SpmvDeviceInfo *info, size_t items, PetscInt most)
{
  while (most > 32 && items / (size_t)most < 4 * info->units) most /= 2;
  return most;
}

/* device/convert.c: who makes the arrays that have the entries, this processor or the device: a knob's line, and its values */
enum { SPMV_CONVERT_AUTO, SPMV_CONVERT_HOST, SPMV_CONVERT_DEVICE };
#define SPMV_CONVERT_PARAM \
  SPMV_CHOICES( \
    "device_convert", \
    "who makes the arrays that have the entries: this processor, or the device; auto: a GPU, if there are many and it has room", \
    SpmvConverts, SpmvConvertNames)
extern const PetscInt    SpmvConverts[3];
extern const char *const SpmvConvertNames[3], SpmvConvertSource[];

/* Rows that lie side by side, entry k of all of them in one step, or several lanes of a row; see convert.cl. Arrays by their
   names */
typedef struct {
  const char *values, *narrow, *wide; /* what is made: the columns of a strip are uint16_t or int32_t */
  const char *strips;                 /* [nstrips] first element, first column, base, anything */
  const char *lengths, *starts;       /* [nrows] entries of each row; the first of them in CSR, int32_t */
  const char *numbers;                /* [columns] int32_t, what is stored for each column; NULL, or not there: the column */
  size_t      length;                 /* bytes of a row's length: 1, 2 or 4 */
  PetscInt    nstrips, nrows;
  PetscInt    height, lanes; /* rows of a strip, powers of two; lanes of a row, at most 32 */
  PetscInt    unit;          /* elements: strips count what is before them in these */
  size_t      end;           /* where the last strip ends, in the same */
} SpmvDeviceStrips;
extern PetscInt       SpmvConvertResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt convert);
extern PetscLogDouble SpmvConvertNeeds(PetscInt entries);
extern void           SpmvConvertSources(const SpmvCSR *csr, PetscInt *n, SpmvArray sources[]);
extern PetscErrorCode SpmvConvertStrips(const SpmvDeviceStrips *strips, PetscBool values_only, SpmvDeviceProduct *product);

/*
  SpmvJointRows: how a format divides the rows of a joint product between a device and the host. Each side builds a storage of the
  rows that it has; device/joint.c joins their products
*/
typedef struct {
  PetscInt
    parts; /* the knob that says how many of the parts the device has, the first ones; 0: all, and the product is not joint */
  PetscInt powers; /* the knob that lists the computing powers of the parts; none: they are measured (device/powers.c) */

  /*
    The rows that the device has, in increasing order, the caller's to PetscFree(). `plan` is the device's, resolved; `host` is on
    entry the plan that was asked for, on return that of the host's rows
  */
  PetscErrorCode (*split)(const SpmvCSR *csr, const SpmvPlan *plan, SpmvPlan *host, PetscInt *nrows, PetscInt *rows[]);
} SpmvJointRows;

/*
  SpmvDeviceLoad: what a product costs a device, in amounts that the device's rates turn into time (tune/rates.c). Formats count
  with spmvload.h
*/
typedef struct {
  PetscLogDouble bytes;   /* of the storage that a product reads, x and y not counted */
  PetscLogDouble moved;   /* and of what it writes besides y and reads again */
  PetscLogDouble sectors; /* pieces of SPMV_SECTOR bytes of x that SPMV_LOCKSTEP work items side by side ask for together, ... */
  PetscLogDouble near;    /* ... and those of them that no work item of their work group has asked for before */
  PetscLogDouble cycles;  /* instructions of work items, those that idle beside others in lockstep among them, ... */
  PetscLogDouble apart;   /* ... and those that are behind branches or barriers, which a processor works off one by one */
  PetscLogDouble items;   /* work items that have something to do, ... */
  PetscLogDouble whole;   /* ... which is filled up to multiples of so many, padding as much work as any; 0: it is not */
  PetscLogDouble group;   /* of a work group, and ... */
  PetscLogDouble local;   /* ... bytes of the most that this shares: what a processor has room for at a time depends on both */
  PetscLogDouble registers; /* of a work item, of 32 bits: the same; 0: not known */
  PetscLogDouble waits;     /* loads that wait for each other, of all work items, those that idle beside others among them, ... */
  PetscLogDouble chain;     /* ... and of the work item that has most */
  PetscLogDouble after;     /* the same in kernels that add up what the first ones made: few work items have all of it */
  PetscLogDouble launches;  /* kernels one after the other */
  PetscLogDouble cleared;   /* work groups of a kernel that clears y before */
  PetscLogDouble reach;     /* bytes of x that are used over and over before the next ones are; 0: as the rows come */
  PetscLogDouble build;     /* cycles of the host to make the storage */
} SpmvDeviceLoad;

#define SPMV_SECTOR   32 /* bytes that memory gives a GPU at a time */
#define SPMV_LOCKSTEP 32 /* work items in lockstep, about: 32 on NVIDIA's GPUs, 32 or 64 on AMD's, 16 or 32 on Intel's */

/* SpmvDeviceSide: products by a device */
typedef struct _SpmvDeviceSide {
  SpmvSide    side;
  const char *source;

  /* The product of a storage; *product is all zeros on entry */
  PetscErrorCode (*product)(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product);

  /*
    The kernels, of a source of their own, that make the arrays without data, or only their values, in the way of a product; its
    work arrays are not cleared. No kernels: the host has made all. convert NULL: it always does
  */
  const char *convert_source;
  PetscErrorCode (*convert)(const void *storage, PetscBool values_only, SpmvDeviceProduct *product);
  /* What those arrays are made from: sent for that time only; those that hold values, when they change again */
  PetscErrorCode (*sources)(const void *storage, PetscInt *n, SpmvArray sources[]);

  const SpmvJointRows *joint; /* NULL: no joint products */

  /* Adds what some consecutive rows of a matrix make, under a plan that is resolved for all of it; for the tuner, like
     side.work() */
  PetscErrorCode (*load)(const SpmvCSR *rows, const SpmvPlan *plan, SpmvDeviceLoad *load);
} SpmvDeviceSide;
