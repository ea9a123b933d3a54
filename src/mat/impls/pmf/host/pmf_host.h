/*
  pmf_host.h - the host's storage of pmf: runs of slices

  pmf_host.c    knobs, arrays, work, what is printed
  pmf_steps.c   which kinds of steps a slice has; pmf_pairs.h has pairs of consecutive columns
  pmf_layout.c  what a plan makes of a matrix: parts, slices, and slices as runs
  pmf_build.c   from that, the arrays of a storage, and the values
  pmf_simd.c    the products: pmf_slices.h is what is done with a slice, pmf_runs.h with a run of them
  pmf_coded_simd.c  the loops over runs whose values are coded
*/
#pragma once
#include "../pmf_partition.h"
#include "../../../../host/prefetch.h"
#include "../../../../host/values.h"

/* The knobs besides those that both sides have, and values of PMF_PIECES besides numbers of steps */
enum { PMF_PIECES = PMF_COMMON_PARAMS, PMF_VALUES, PMF_HOST_PARAMS };
enum { PMF_PIECES_AUTO = 0, PMF_PIECES_NONE = -1, PMF_PIECES_ANY = 1 };

#define PMF_LANES 8
#define PMF_KNOWN 8 /* gathered steps that have a loop of their own in the products, at most */
#define PMF_ONLY  4 /* such loops for steps of some kinds only */

/*
  What a run costs besides its slices: cycles of Zen 4 to read its header and begin its loops, and branches that are not foreseen
  where these end. A branch predictor knows them from one product to the next as long as it has not too many to know, some of each
  slice and of each run: runs of matrices of 50,000 entries take 3 to 12 ns each, of those of a million 18 to 25 (Zen 5)
*/
#define PMF_CYCLES_RUN 28.
#define PMF_MISSES_RUN 4.
#define PMF_BRANCHES   4.

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
  PMF_DIAGONAL,    /* on a diagonal of a block: one column, which the first lane has or would have, and a mask */
  PMF_KINDS
} PmfKind;

/* Kinds that a slice has often without any other: a stencil's, those of nodes with one unknown, with several, and of short
   rows */
#define PMF_BIT(kind) (1u << (kind))
#define PMF_ALL       (PMF_BIT(PMF_KINDS) - 1)
#define PMF_LINES     PMF_BIT(PMF_CONSECUTIVE)
#define PMF_PAIRS     (PMF_BIT(PMF_PAIRED) | PMF_BIT(PMF_GATHERED))
#define PMF_NEARS     (PMF_BIT(PMF_NEAR) | PMF_BIT(PMF_GATHERED))
#define PMF_SHORTS    (PMF_BIT(PMF_CONSECUTIVE) | PMF_BIT(PMF_COMMON) | PMF_BIT(PMF_GATHERED))

/* PmfRun.known: gathered steps, if there are no others; else one of these, if the others do not occur */
enum { PMF_ONLY_SHORT = -PMF_ONLY, PMF_ONLY_NEAR, PMF_ONLY_PAIR, PMF_ONLY_LINE };

enum {                   /* PmfRun.flags */
       PMF_ALONE    = 1, /* each slice is one row */
       PMF_WIDE     = 2, /* int32 columns, which take two elements of `column` each */
       PMF_LISTED   = 4, /* rows are row + list[]; otherwise row, row + 1, ... */
       PMF_FRAGMENT = 8, /* a fragment of a row that is split over the parts: `row` is its place in `sum` */
       PMF_UNEVEN = 16 /* the entries of a gathered step are not at one place of their rows: before them come pairs, or blocks */
};

/* PmfRun: slices with the same number of steps of each kind. One of fewer than eight rows is a run of its own */
typedef struct {
  int16_t  flags;
  int16_t  known;            /* which loop multiplies it: see above; 0: that for all kinds */
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

#define PMF_NEAR_MAX    4 /* steps that share pieces of x, at most */
#define PMF_NEAR_PIECES 4
#define PMF_NEAR_LENGTH 4 /* entries of a piece */

/* PmfNear: what steps that share pieces of x store. A slice with such steps has no others but gathered and ragged ones */
typedef struct {
  int32_t  piece[PMF_NEAR_PIECES]; /* columns that the pieces begin at */
  uint32_t word[PMF_NEAR_MAX];     /* of each step: in bits 4 l to 4 l + 3 which of the sixteen entries lane l has */
} PmfNear;

/* PmfSame: eight rows of which some have the same columns, as rows that differ */
typedef struct {
  int             n;
  const PetscInt *j[PMF_NEAR_PIECES];
  uint32_t        lanes[PMF_NEAR_PIECES]; /* bit 4 l: lane l is such a row */
} PmfSame;

typedef struct {
  PetscInt     m, n;
  PmfPartition partition;
  PetscInt     threads;    /* tasks of a product: at most the parts */
  PetscBool    prefetch;   /* values and columns: the matrix is not in a cache of one core */
  PetscInt     rows_ahead; /* rows of CSR that a build prefetches: a slice's if they are in no cache of a core's own; or 0 */
  PetscInt     ahead;      /* a row prefetches x so many columns after its own number; 0: it does not */
  PetscBool    empty;      /* some rows have no entries, or no run may be the first to write them: y is cleared */
  PetscInt     nparts;     /* parts: what one thread works on; with PMF_BY_DIAGONAL each has rows of the blocks and of the rest */
  int32_t     *first;      /* [nparts + 1] first run of each part */
  PetscInt     nprinted;   /* parts that are printed; with PMF_BY_DIAGONAL blocks and rest */
  PmfPart     *printed;    /* [nprinted] */
  size_t       nruns;
  PmfRun      *run;             /* [nruns] */
  size_t       nslices, nalone; /* slices of eight rows, and rows alone */
  size_t       kind[PMF_KINDS]; /* steps of each kind, as PmfRun counts them */
  size_t       nnear;           /* steps that share pieces of x */
  size_t       nsteps;
  PetscInt     wanted; /* the knob values */
  SpmvValues   value;  /* [8 nsteps] any in the lanes that a mask leaves out */
  size_t       ncolumns;
  uint16_t    *column; /* [ncolumns] slice after slice */
  size_t       nmasks;
  uint8_t     *mask; /* [nmasks] one for each ragged and each diagonal step */
  size_t       nlist;
  size_t       listsize; /* bytes of an element of list: 2, or 4 if a run may span more than 65536 rows */
  char        *list;     /* [nlist] rows of the runs that are listed */
  size_t       nfrom;
  uint32_t    *from; /* [nfrom] which entries of CSR the values are, slice after slice; see PmfSetSteps() */
  PetscInt     nsplit;
  int32_t     *split; /* [nsplit] rows that are split over the parts */
  PetscScalar *sum;   /* [nparts nsplit] the products of their fragments */
} PmfStorage;

/* PmfSlice: a slice that is not stored yet, or the run that slices are added to */
typedef struct {
  PmfRun   run;       /* but for where its arrays begin; no rows: none */
  PetscInt low, high; /* least and largest column */
  PetscInt top;       /* largest row; the least one is run.row */
} PmfSlice;

/* PmfLayout: what a plan makes of a matrix, until the storage has its arrays */
typedef struct {
  const SpmvCSR *csr;
  PmfOrder       order; /* slices have the entries of order.rest, the others are on diagonals of blocks */
  PmfStorage    *b;     /* its counts are summed up here */
  PmfRun        *run;   /* [b->nruns] */
  size_t         capacity;
  int32_t       *row; /* [nrows] rows of the runs, but for fragments and diagonals, one after the other */
  size_t         nrows;
  PetscInt       blockrows; /* rows of the diagonals */
  PetscInt       pieces;    /* PMF_PIECES; steps that share pieces, if they do */
  PmfSlice       open;      /* the run that slices are added to */
  size_t         padding;   /* of a part of a matrix: elements that have no entry, as rows of a slice differ in length */
  size_t         turns;     /* the same: runs that begin as rows get shorter */
} PmfLayout;

/* pmf_steps.c */
extern PetscBool PmfNearSame(const PetscInt *const j[], PetscInt full, PmfSame *same);
extern PetscBool PmfNearFind(const PmfSame *same, PetscInt k, PetscInt steps, PetscInt n, PmfNear *near);
extern PmfSlice  PmfSliceOf(const PmfLayout *layout, const int32_t row[], PetscInt rows);
extern PmfSlice  PmfSliceAlone(const PmfLayout *layout, int32_t row, PetscInt first, PetscInt end);
extern PetscInt  PmfAlone(const SpmvCSR *csr, const int32_t row[], PetscInt rows);
extern void      PmfChoosePieces(PmfLayout *layout);

/* pmf_window.c */
extern PetscErrorCode PmfWindowChoose(const SpmvCSR *csr, PetscInt *window);

/* pmf_layout.c */
extern PetscErrorCode PmfLayoutCreate(const SpmvCSR *csr, const SpmvPlan *plan, PmfLayout *layout, void **storage);
extern PetscErrorCode PmfLayoutDestroy(PmfLayout *layout);

/* pmf_build.c */
extern PetscErrorCode     PmfHostBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode     PmfHostSetValues(const SpmvCSR *csr, void *storage);
extern const SpmvHostSide PmfHost;
extern PetscErrorCode     PmfHostDestroy(void *storage);

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

/* The kind of a step of a row alone: eight entries with these columns */
static inline PmfKind PmfKindAlone(const PetscInt j[])
{
  return j[PMF_LANES - 1] - j[0] == PMF_LANES - 1 ? PMF_CONSECUTIVE : PMF_GATHERED;
}

/* The first entry of the fragment with this place in `sum`: fragments are whole steps, but for the last part's */
static inline PetscInt PmfFragment(const PmfLayout *layout, PetscInt place)
{
  const PmfStorage *b    = layout->b;
  const PetscInt    part = place / b->nsplit, *i = layout->order.rest.i + b->split[place % b->nsplit];
  const PetscInt64  length = i[1] - i[0];

  return i[0] + (PetscInt)(part == b->nparts ? length : length * part / b->nparts / PMF_LANES * PMF_LANES);
}

/* Bytes of a column */
static inline size_t PmfColumnSize(const PmfRun *run)
{
  return run->flags & PMF_WIDE ? sizeof(int32_t) : sizeof(uint16_t);
}

/* Columns of a step; of a pair of steps, or of steps that share pieces of x, those of all together */
static inline size_t PmfColumnsOf(int kind)
{
  if (kind == PMF_NEAR) return PMF_NEAR_PIECES;
  return kind <= PMF_COMMON || kind == PMF_DIAGONAL ? 1 : PMF_LANES;
}

/* PmfSizes: how much of each array a slice has; PmfSizesOf() adds up the kinds before `end`: that is where kind `end` begins */
typedef struct {
  size_t steps, columns /* bytes */, masks, froms;
} PmfSizes;

/* A step of this kind takes the same place of each row, or, of a row alone, entries that follow each other */
static inline PetscBool PmfIsSame(const PmfRun *run, int kind)
{
  return (PetscBool)(kind <= PMF_COMMON || kind == PMF_NEAR || (kind == PMF_GATHERED && !(run->flags & PMF_UNEVEN)));
}

static inline PmfSizes PmfSizesOf(const PmfRun *run, int end)
{
  const size_t near = (size_t)run->near;
  PmfSizes     s    = {0, 0, 0, 0};

  for (int kind = 0; kind < end; kind++) {
    const size_t n = (size_t)run->steps[kind];

    s.steps += n * (kind == PMF_NEAR ? near : kind == PMF_PAIRED ? 2 : 1);
    s.columns += n * (PmfColumnsOf(kind) * PmfColumnSize(run) + (kind == PMF_NEAR ? sizeof(uint32_t) * near : 0));
    s.masks += kind >= PMF_RAGGED ? n : 0;
    s.froms += n * (PmfIsSame(run, kind) ? 1 : PMF_LANES);
  }
  return s;
}

/* Prefetches the columns of rows after the eight from `row` on, in the rows of runs; step: rows from one call to the next */
static inline __attribute__((always_inline)) void PmfPrefetchRows(const PmfLayout *layout, const int32_t *row, PetscInt step)
{
  const PetscInt end = (PetscInt)PetscMin(step + layout->b->rows_ahead, layout->row + layout->nrows - row);

  for (PetscInt r = PMF_LANES; r < end; r++) SpmvPrefetchRow(&layout->order.rest, row[r], PETSC_FALSE);
}

/* Row k of a run */
static inline size_t PmfRow(const PmfStorage *b, const PmfRun *run, size_t k)
{
  return (size_t)run->row + (run->flags & PMF_LISTED ? (size_t)PmfIndexAt(b->list, b->listsize, run->list + k) : k);
}
