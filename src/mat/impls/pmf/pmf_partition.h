/*
  pmf_partition.h - what both sides of pmf need: their common knobs, rows in order and cut into parts, blocks on the diagonal
*/
#pragma once
#include "../../../spmvimpl.h"

enum { /* knobs that both sides have: the first ones of each */
       PMF_PARTITION,
       PMF_POWERS,
       PMF_WINDOW,
       PMF_BLOCK,
       PMF_COMMON_PARAMS
};

typedef enum { /* values of PMF_PARTITION */
               PMF_BY_PMF,
               PMF_BY_NNZ,
               PMF_BY_ROWS,
               PMF_BY_DIAGONAL
} PmfPartition;

enum { /* values of PMF_WINDOW besides numbers of rows */
       PMF_WINDOW_AUTO   = 0,
       PMF_WINDOW_GLOBAL = -1
};

/*
  Of 32 matrices of the shared set on one core of Zen 4, windows of 8, 64, 256, 1024, 4096, 16384 rows and all rows give 1.26,
  1.57, 1.73, 1.76, 1.83, 1.81 and 1.86 times AIJ's speed (geometric means): runs of one length must be long. Windows of 4096 keep
  their part of y in the first cache.
*/
#define PMF_WINDOW_PRESET 4096

extern const PetscInt    PmfPartitions[4], PmfWindows[8], PmfBlocks[2];
extern const char *const PmfPartitionNames[4], *const PmfWindowNames[8];

/* Their lines in the table of a side */
#define PMF_HELP_PARTITION \
  "how rows are cut into parts: by length (algorithm 3), nonzeros (2), rows (1), or blocks on the diagonal and the rest (4)"
#define PMF_COMMON_TABLE \
  [PMF_PARTITION] = SPMV_CHOICES("partition", PMF_HELP_PARTITION, PmfPartitions, PmfPartitionNames, SPMV_KNOB_LAYOUT), \
  [PMF_POWERS] = \
    SPMV_LIST("powers", "computing powers of the parts; by default a part of equal power for each thread", 1, 1000000), \
  [PMF_WINDOW] = SPMV_CHOICES("window", "rows that are ordered by length together", PmfWindows, PmfWindowNames, SPMV_KNOB_TILE), \
  [PMF_BLOCK]  = SPMV_CHOICES("block", "rows of a block on the diagonal, for -mat_pmf_partition diagonal", PmfBlocks, NULL)

/* PmfOrder: rows in order, and cut into parts. All but `cut` and `row` is what PmfOrderCreate() is asked for */
typedef struct {
  PmfPartition    partition;
  PetscInt        window; /* rows that are ordered by length together, or PMF_WINDOW_GLOBAL */
  PetscInt        block;  /* PMF_BY_DIAGONAL: rows of a block */
  PetscInt        limit;  /* a row with more entries counts as empty: it is split over the parts */
  PetscInt        nparts;
  const PetscInt *power; /* [nparts] computing powers; NULL: all equal; not above 0: see PmfIsCut() */
  PetscInt       *cut;   /* [nparts + 1] first place of each part in row[] */
  int32_t        *row;   /* [m] by increasing length inside each window of each part */
} PmfOrder;

/* PmfPart: what section 3.2 of the paper says of a part; empty rows, and those that are split over the parts, do not count */
typedef struct {
  PetscInt rows, width; /* rows, entries of the longest one */
  size_t   entries;
  size_t   elements; /* rows x width; with PMF_BY_DIAGONAL the values stored */
  double   share;    /* the fraction of the computing power that the part is meant for; 0: nobody said */
} PmfPart;

/* PmfHalves: with PMF_BY_DIAGONAL, the entries in the blocks on the diagonal (0), and the rest (1), which is otherwise all */
typedef struct {
  SpmvCSR   csr[2];
  PetscInt *i[2], *j[2];
  uint32_t *at[2]; /* [i[m]] the entry of the matrix that each one is; NULL: the same */
} PmfHalves;

extern PetscErrorCode PmfOrderCreate(const SpmvCSR *csr, const SpmvCSR *rest, PmfOrder *order);
extern PetscErrorCode PmfOrderDestroy(PmfOrder *order);
extern PmfPart        PmfPartOf(const SpmvCSR *csr, const PmfOrder *order, PetscInt p);
extern PetscErrorCode PmfHalvesCreate(const SpmvCSR *csr, const PmfOrder *order, PmfHalves *halves);
extern PetscErrorCode PmfHalvesDestroy(PmfHalves *halves);
extern PetscErrorCode PmfCounts(const SpmvCSR *csr, char why[], size_t size);

/*
  Of a product that is shared with a device, the host's rows are cut when the device's are: its powers are minus the rows of each
  part. Part 0 has the device's rows, which have no entries here
*/
static inline PetscBool PmfIsCut(const PmfOrder *order)
{
  return (PetscBool)(order->power && order->power[0] <= 0);
}

/* What the first knobs of a plan ask for, where no row is split; power: as of PmfOrder */
static inline PmfOrder PmfOrderOf(const PetscInt p[], PetscInt nparts, const PetscInt power[])
{
  return (PmfOrder){(PmfPartition)p[PMF_PARTITION], p[PMF_WINDOW], p[PMF_BLOCK], PETSC_MAX_INT, nparts, power, NULL, NULL};
}

/* Entries of a row, none of one that is split over the parts */
static inline PetscInt PmfLength(const SpmvCSR *csr, PetscInt limit, PetscInt row)
{
  const PetscInt length = csr->i[row + 1] - csr->i[row];

  return length > limit ? 0 : length;
}

/* The diagonals of a block that rows [first, first + rows) have entries on: bit d for column - row = d - (block - 1) */
static inline uint64_t PmfDiagonals(const SpmvCSR *blocks, PetscInt block, PetscInt first, PetscInt rows)
{
  uint64_t diagonals = 0;

  for (PetscInt r = first; r < first + rows; r++) {
    for (PetscInt k = blocks->i[r]; k < blocks->i[r + 1]; k++) diagonals |= UINT64_C(1) << (blocks->j[k] - r + block - 1);
  }
  return diagonals;
}

/* The entry of the matrix that an entry of a half is */
static inline uint32_t PmfEntryOf(const PmfHalves *h, int half, PetscInt entry)
{
  return h->at[half] ? h->at[half][entry] : (uint32_t)entry;
}
