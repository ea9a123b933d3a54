/*
  pmf.h - the storage of PMF

  pmf.c            the format: knobs, arrays, sizes, what is printed
  pmf_partition.c  the paper's algorithms: rows in order, and cut into parts
  pmf_layout.c     rows as slices, slices as runs
  pmf_near.c       steps that have their entries of x near each other
  pmf_plan.c       what a plan makes of a matrix, with these two
  pmf_build.c      the arrays of a storage, from that
  pmf_values.c     the values
  pmf_simd.c       the products: pmf_slices.h (what is done with a slice)
  pmf_ell.h        the parts of a device
  pmf_ell.c        their arrays
  pmf_device.c     the products of devices: knobs, launches; their kernels are in pmf.cl
*/
#pragma once
#include "pmf_ell.h"

enum { /* the knobs, in the order of PmfParams */
       PMF_PARTITION,
       PMF_POWERS,
       PMF_WINDOW,
       PMF_BLOCK,
       PMF_COLUMNS,
       PMF_PIECES,
       PMF_NPARAMS
};

enum { /* the knobs of devices, in the order of PmfDeviceParams */
       PMF_DEVICE_WORKGROUP,
       PMF_DEVICE_SLICE,
       PMF_DEVICE_LONG,
       PMF_DEVICE_PARTS,
       PMF_DEVICE_CUT,
       PMF_DEVICE_NPARAMS
};

typedef enum { /* values of PMF_PARTITION */
               PMF_BY_PMF,
               PMF_BY_NNZ,
               PMF_BY_ROWS,
               PMF_BY_DIAGONAL
} PmfPartition;

enum { /* values of PMF_WINDOW besides numbers of rows, of PMF_COLUMNS, and of PMF_PIECES besides numbers of steps */
       PMF_WINDOW_AUTO   = 0,
       PMF_WINDOW_GLOBAL = -1,
       PMF_COLUMNS_AUTO  = 0,
       PMF_COLUMNS_INT32 = 1,
       PMF_PIECES_AUTO   = 0,
       PMF_PIECES_NONE   = -1,
       PMF_PIECES_ANY    = 1
};

/*
  Of 32 matrices of the shared set on one core of Zen 4, windows of 8, 64, 256, 1024, 4096, 16384 rows and all rows give 1.26, 1.57,
  1.73, 1.76, 1.83, 1.81 and 1.86 times AIJ's speed (geometric means): runs of one length must be long. Windows of 4096 keep
  their part of y in the first cache.
*/
#define PMF_WINDOW_PRESET 4096
#define PMF_KNOWN         8 /* gathered steps that have a loop of their own in the products, at most */
#define PMF_LANES         8
#define PMF_SPLIT         16  /* a row with more entries than its fraction 1/16 of a part's is split over the parts ... */
#define PMF_SPLIT_MIN     256 /* ... if it has as many */

/*
  A step is eight values, side by side in memory, that are multiplied by eight entries of x at a time. A slice is the
  steps of eight rows, a row in each lane; or of one row alone, eight of its entries in each step. Its steps come in the
  order of their kinds:
*/
typedef enum {
  PMF_CONSECUTIVE, /* eight consecutive columns: one column is stored, and x is loaded as a vector */
  PMF_COMMON,      /* the same column in all lanes: one column is stored */
  PMF_PAIRED,      /* counts two steps: each lane has two consecutive columns, of which the first is stored */
  PMF_NEAR,        /* counts PmfRun.near steps: all their columns are in four pieces of x, see PmfNear */
  PMF_GATHERED,    /* eight columns */
  PMF_RAGGED,      /* eight columns, and a mask of the lanes that have an entry; the others repeat the first one's column */
  PMF_DIAGONAL,    /* a piece of a diagonal: one column, which the first lane has or would have, and a mask */
  PMF_KINDS
} PmfKind;

/*
  Memory is asked early for what the caches of a core do not hold. Where no cache holds it at all, the processor does it better
  by itself for steps that read x as vectors or pairs (laplace27:80: 5.9 -> 5.1 ms), but not for those that wait for any x
*/
typedef enum {
  PMF_EARLY_NONE,
  PMF_EARLY_GATHERED, /* gathered and ragged steps */
  PMF_EARLY_ALL,
  PMF_EARLY_COUNT
} PmfEarly;

enum {                   /* PmfRun.flags */
       PMF_ALONE    = 1, /* each slice is one row */
       PMF_WIDE     = 2, /* int32 columns, which take two elements of `column` each, low half first in memory as the machine has it */
       PMF_LISTED   = 4, /* rows are row + list[]; otherwise row, row + 1, ... */
       PMF_ADD      = 8, /* another run has written these rows of y before */
       PMF_FRAGMENT = 16 /* a piece of a row that is split over the parts: `row` is its place in `sum` */
};

/* PmfRun: slices one after the other with the same number of steps of each kind. A slice of fewer than eight rows is a run of its own */
typedef struct {
  int32_t  flags;
  int32_t  rows;             /* rows of the run */
  int32_t  row;              /* first row, or what is added to the list of rows */
  int32_t  base;             /* what is added to columns */
  uint32_t list;             /* its first element of `list` */
  uint32_t step;             /* its first step */
  uint32_t column;           /* its first element of `column` */
  uint32_t mask;             /* its first mask */
  int32_t  near;             /* steps that share four pieces of x; 0 if none do */
  int32_t  steps[PMF_KINDS]; /* of each kind, in each slice */
} PmfRun;

/*
  PmfNear: steps that share four pieces of x, of four entries each. Stored are the columns that the pieces begin at, then four bytes
  for each step: in bits 4 l to 4 l + 3 which of the sixteen entries lane l has. A slice that has such steps has else only gathered and
  ragged ones
*/
#define PMF_NEAR_MAX    4 /* steps that share pieces, at most */
#define PMF_NEAR_PIECES 4
#define PMF_NEAR_LENGTH 4 /* entries of a piece */

typedef struct {
  int32_t  piece[PMF_NEAR_PIECES];
  uint32_t word[PMF_NEAR_MAX];
} PmfNear;

/* PmfPart: what is printed of a part; without empty rows and rows that are split over the parts */
typedef struct {
  PetscInt rows, width; /* rows, entries of the longest one */
  size_t   entries;
  size_t   elements; /* as the paper counts them: rows x width; with PMF_BY_DIAGONAL the values stored */
  double   share;    /* the fraction of the computing power that the part is meant for */
} PmfPart;

typedef struct {
  PetscInt     m, n;
  PmfPartition partition;
  PetscInt     window;  /* rows that are ordered by length together */
  PetscInt     block;   /* PMF_BY_DIAGONAL: rows of a block on the diagonal */
  PetscInt     threads; /* tasks of a product: at most the parts */
  PmfEarly     early;   /* what a product asks memory for early */
  PetscBool    empty;   /* some rows have no entries, or no run may be the first to write them: y is cleared */
  PetscInt     npieces;
  int32_t     *piece; /* [npieces + 1] first run of each piece, which one thread works on: the parts; with PMF_BY_DIAGONAL, rows of both */
  PetscInt     nparts;
  PmfPart     *part; /* [nparts] */
  size_t       nruns;
  PmfRun      *run;             /* [nruns] */
  size_t       nslices, nalone; /* slices of eight rows, and rows alone */
  size_t       kind[PMF_KINDS]; /* steps of each kind, as PmfRun counts them */
  size_t       nnear;           /* steps that share pieces of x */
  size_t       nsteps;
  PetscScalar *value; /* [8 nsteps] zero in the lanes that a mask leaves out */
  size_t       ncolumns;
  uint16_t    *column; /* [ncolumns] slice after slice */
  size_t       nmasks;
  uint8_t     *mask; /* [nmasks] one for each ragged and each diagonal step */
  size_t       nlist;
  size_t       listsize; /* bytes of an element of list: 2, or 4 if a run may span more than 65536 rows */
  void        *list;     /* [nlist] rows of the runs that are listed */
  size_t       nfrom;
  uint32_t    *from; /* [nfrom] which entries of CSR the values are, slice after slice; see PmfFroms() */
  PetscInt     nsplit;
  int32_t     *split;   /* [nsplit] rows that are split over the pieces */
  PetscScalar *sum;     /* [npieces nsplit] the products of their fragments */
  PetscInt     ndevice; /* a storage for a device: the first pieces, which it has; the others are the host's. 0: a storage for the host */
  double       share;   /* the fraction of the computing power that those pieces are meant for */
  PmfEll       ell;     /* those pieces */
  int32_t     *clear;   /* [clears[npieces]] beside a device: rows that the host clears, as no run is the first to write them */
  PetscInt    *clears;  /* [npieces + 1] the first of each piece */
} PmfStorage;

/* pmf_partition.c */
extern PetscErrorCode PmfOrderCreate(const SpmvCSR *csr, const SpmvCSR *rest, PmfPartition partition, PetscInt window, PetscInt block, PetscInt nparts, const PetscInt power[], PetscInt limit, PmfOrder *order);
extern PetscErrorCode PmfOrderDestroy(PmfOrder *order);
extern double         PmfShareOf(const PmfOrder *order, PetscInt first, PetscInt end);
extern PmfPart        PmfPartOf(const SpmvCSR *csr, const PmfOrder *order, PetscInt p);

/*
  PmfLayout - slices and runs while they are made

  With PMF_BY_DIAGONAL the matrix comes in two: the entries in the blocks along its diagonal, and the rest.
*/
typedef struct {
  const SpmvCSR *rest;     /* what goes into slices: the matrix, or what is not in the blocks */
  const SpmvCSR *blocks;   /* PMF_BY_DIAGONAL: the blocks */
  PmfStorage    *b;        /* its counts are summed up here */
  PmfRun        *run;      /* [b->nruns] */
  size_t         capacity; /* of run[] */
  int32_t       *row;      /* [nrows] rows of the runs, but for fragments and diagonals, one after the other */
  size_t         nrows;
  PetscBool      wide;      /* all columns are to be int32 */
  PetscInt       pieces;    /* PMF_PIECES; steps that share pieces, if they do */
  PmfRun         open;      /* the run that slices are added to; none if it has no rows */
  PetscInt       low, high; /* its least and largest column */
  PetscInt       top;       /* its largest row; the least one is open.row */
} PmfLayout;

/* pmf_layout.c */
extern void           PmfLayoutSettle(PmfLayout *layout, const PmfOrder *order);
extern PetscErrorCode PmfLayoutSegment(PmfLayout *layout, const PmfOrder *order, PetscInt first, PetscInt end);
extern PetscErrorCode PmfLayoutBlocks(PmfLayout *layout, PetscInt first, PetscInt end);
extern PetscErrorCode PmfLayoutFragment(PmfLayout *layout, PetscInt piece, PetscInt s);
extern PetscErrorCode PmfLayoutClose(PmfLayout *layout);

/* pmf_near.c */
extern unsigned  PmfNearSame(const PetscInt *const j[], PetscInt full);
extern PetscBool PmfNearFind(const PetscInt *const j[], unsigned same, PetscInt k, PetscInt steps, PetscInt n, PmfNear *near);
extern int32_t   PmfNearCount(const PetscInt *const j[], unsigned same, PetscInt full, PetscInt steps, PetscInt n);

/* The kind of step k of eight rows that have as many entries */
static inline PmfKind PmfKindOf(const PetscInt *const j[], PetscInt k)
{
  const PetscInt first = j[0][k], stride = j[1][k] - first;

  if (stride != 0 && stride != 1) return PMF_GATHERED;
  for (PetscInt l = 2; l < PMF_LANES; l++) {
    if (j[l][k] - first != l * stride) return PMF_GATHERED;
  }
  return stride ? PMF_CONSECUTIVE : PMF_COMMON;
}

/* The kind of a step of one row: eight entries with these columns */
static inline PmfKind PmfKindAlone(const PetscInt j[])
{
  return j[PMF_LANES - 1] - j[0] == PMF_LANES - 1 ? PMF_CONSECUTIVE : PMF_GATHERED;
}

/* True if entries k and k + 1 of n are a pair */
static inline PetscBool PmfIsPair(const PetscInt j[], PetscInt k, PetscInt n)
{
  return (PetscBool)(k + 1 < n && j[k + 1] == j[k] + 1);
}

/* The entries of fragment `piece` of a row that is split over the pieces: whole steps but for the last */
static inline PetscInt PmfFragmentStart(const SpmvCSR *csr, PetscInt row, PetscInt piece, PetscInt npieces)
{
  const PetscInt64 length = csr->i[row + 1] - csr->i[row];

  return csr->i[row] + (PetscInt)(piece == npieces ? length : length * piece / npieces / PMF_LANES * PMF_LANES);
}

/* pmf_cut.c */
extern PetscErrorCode PmfCutSettle(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscLogDouble room, SpmvPlan *plan);

/* pmf_plan.c */
extern PetscErrorCode PmfResolveOpen(const SpmvCSR *csr, SpmvPlan *plan);
extern PetscErrorCode PmfResolve(const SpmvCSR *csr, SpmvPlan *plan, PmfStorage *b, PmfHalves *halves, PmfLayout *layout);
extern PetscErrorCode PmfResolved(PmfHalves *halves, PmfLayout *layout);
extern PetscErrorCode PmfPredict(const SpmvCSR *csr, const SpmvPlan *plan, PmfStorage *b);

/* pmf_build.c */
extern PetscErrorCode PmfBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode PmfReset(PmfStorage *b);
extern PetscErrorCode PmfDestroy(void **storage);

/* pmf_values.c */
extern PetscErrorCode PmfSetValues(const SpmvCSR *csr, void *storage);

/* pmf_device.c */
extern const SpmvDeviceFormat PmfDevice;
extern PetscErrorCode         PmfDeviceResolve(SpmvPlan *plan, PetscInt *npieces, PetscInt *ndevice);

/* Slices of a run */
static inline size_t PmfSlices(const PmfRun *run)
{
  return run->flags & PMF_ALONE ? (size_t)run->rows : ((size_t)run->rows + PMF_LANES - 1) / PMF_LANES;
}

/* Steps of a slice that have no mask, come first; and those that have one */
static inline size_t PmfFullSteps(const PmfRun *run)
{
  return (size_t)run->steps[PMF_CONSECUTIVE] + (size_t)run->steps[PMF_COMMON] + 2 * (size_t)run->steps[PMF_PAIRED] + (size_t)run->near * (size_t)run->steps[PMF_NEAR] + (size_t)run->steps[PMF_GATHERED];
}

static inline size_t PmfMaskedSteps(const PmfRun *run)
{
  return (size_t)run->steps[PMF_RAGGED] + (size_t)run->steps[PMF_DIAGONAL];
}

/* Steps of a slice that have one column, and come first */
static inline size_t PmfOnes(const PmfRun *run)
{
  return (size_t)run->steps[PMF_CONSECUTIVE] + (size_t)run->steps[PMF_COMMON];
}

/* What the steps that share four pieces of x take, in columns of the run */
static inline size_t PmfNearColumns(const PmfRun *run)
{
  return PMF_NEAR_PIECES + (size_t)run->near * (run->flags & PMF_WIDE ? 1 : 2);
}

/* Columns of a slice */
static inline size_t PmfColumns(const PmfRun *run)
{
  return PmfOnes(run) + PmfNearColumns(run) * (size_t)run->steps[PMF_NEAR] + PMF_LANES * ((size_t)run->steps[PMF_PAIRED] + (size_t)run->steps[PMF_GATHERED] + (size_t)run->steps[PMF_RAGGED]) + (size_t)run->steps[PMF_DIAGONAL];
}

/*
  Elements of `from` of a slice: one for a step of one column, which is the place in their rows of all its entries, or of a
  row alone the entry of lane 0; one for steps that share pieces of x, the first one's place; eight for a pair of steps, the
  entries of the first one; the entries of other steps. They are not set in the lanes that a mask leaves out.
*/
static inline size_t PmfFroms(const PmfRun *run)
{
  return PmfOnes(run) + (size_t)run->steps[PMF_NEAR] + PMF_LANES * ((size_t)run->steps[PMF_PAIRED] + (size_t)run->steps[PMF_GATHERED] + PmfMaskedSteps(run));
}

/* Row k of a run */
static inline size_t PmfRow(const PmfStorage *b, const PmfRun *run, size_t k)
{
  if (!(run->flags & PMF_LISTED)) return (size_t)run->row + k;
  return (size_t)run->row + (b->listsize == sizeof(uint16_t) ? ((const uint16_t *)b->list)[run->list + k] : (size_t)((const int32_t *)b->list)[run->list + k]);
}
