/*
  pmf_partition.h - what both sides of pmf need: their common knobs, rows in order and cut into parts, blocks on the diagonal
*/
#pragma once
#include "../../../spmvimpl.h"

/* Knobs that both sides have: the first ones of each; then values of PMF_PARTITION */
enum { PMF_PARTITION, PMF_POWERS, PMF_WINDOW, PMF_BLOCK, PMF_COMMON_PARAMS };
typedef enum { PMF_BY_PMF, PMF_BY_NNZ, PMF_BY_ROWS, PMF_BY_DIAGONAL } PmfPartition;

#define PMF_WINDOW_AUTO   0    /* values of PMF_WINDOW: chosen, ... */
#define PMF_WINDOW_GLOBAL (-1) /* ... all rows */
#define PMF_WINDOW_ROWS   4096 /* the rows of a window where nothing is known of the matrix */

extern const PetscInt    PmfPartitions[4], PmfWindows[8], PmfBlocks[2];
extern const char *const PmfPartitionNames[4], *const PmfWindowNames[8];

/* Their lines in the table of a side */
#define PMF_HELP_PARTITION \
  "how rows are cut into parts: by length (algorithm 3), nonzeros (2), rows (1), or blocks on the diagonal and the rest (4)"
#define PMF_HELP_WINDOW "rows that are ordered by length together; auto: 4096, or less where x is then found in cache more often"
#define PMF_HELP_POWERS "computing powers of the parts; by default a part of equal power for each thread"
#define PMF_COMMON_TABLE \
  [PMF_PARTITION] = SPMV_CHOICES("partition", PMF_HELP_PARTITION, PmfPartitions, PmfPartitionNames, SPMV_KNOB_LAYOUT), \
  [PMF_POWERS]    = SPMV_LIST("powers", PMF_HELP_POWERS, 1, 1000000), \
  [PMF_WINDOW]    = SPMV_CHOICES("window", PMF_HELP_WINDOW, PmfWindows, PmfWindowNames, SPMV_KNOB_TILE), \
  [PMF_BLOCK]     = SPMV_CHOICES("block", "rows of a block on the diagonal, for -mat_pmf_partition diagonal", PmfBlocks, NULL)

/* PmfOrder: rows in order, and cut into parts. PmfOrderOf() sets what is asked for, PmfOrderCreate() the rest */
typedef struct {
  PmfPartition    partition;
  PetscInt        window; /* rows that are ordered by length together */
  PetscInt        block;  /* PMF_BY_DIAGONAL: rows of a block; otherwise 0 */
  PetscInt        limit;  /* a row with more entries is split over the parts, and counts as empty */
  PetscInt        nparts;
  const PetscInt *power; /* [nparts] computing powers; NULL: all equal; not above 0: see PmfIsCut() */
  PetscInt       *cut;   /* [nparts + 1] first place of each part in row[] */
  int32_t        *row;   /* [m] by increasing length inside each window of each part */
  SpmvCSR         rest;  /* the entries that are in no block, without values; all, if there are no blocks */
  uint32_t       *from;  /* [rest.i[m]] the entry of the matrix that each of these is; NULL: the same */
} PmfOrder;

/* PmfPart: what section 3.2 of the paper says of a part; empty rows, and those that are split over the parts, do not count */
typedef struct {
  PetscInt rows, width; /* rows, entries of the longest one */
  size_t   entries;
  size_t   elements; /* rows x width; with PMF_BY_DIAGONAL the values stored */
  double   power;    /* the fraction of all computing power that the part is meant for; 0: not known */
} PmfPart;

extern PetscErrorCode PmfOrderCreate(const SpmvCSR *csr, PmfOrder *order);
extern PetscErrorCode PmfOrderDestroy(PmfOrder *order);
extern PmfPart        PmfPartOf(const SpmvCSR *csr, const PmfOrder *order, PetscInt p);
extern uint64_t       PmfDiagonals(const SpmvCSR *csr, PetscInt block, PetscInt first, PetscInt rows);
extern void PmfDiagonalsFill(const SpmvCSR *csr, PetscInt block, PetscInt first, PetscInt rows, size_t height, int32_t offset[],
                             uint32_t mask[], uint32_t from[]);
extern PetscErrorCode PmfCounts(const SpmvCSR *csr, char why[], size_t size);

/*
  The host's rows of a joint product are cut when the device's are: the host's powers are then minus the rows of each part. Part 0
  has the device's rows, which have no entries here
*/
static inline PetscBool PmfIsCut(const PmfOrder *order)
{
  return (PetscBool)(order->power && order->power[0] <= 0);
}

/* The rows of a window */
static inline PetscInt PmfWindowRows(const SpmvCSR *csr, const PetscInt p[])
{
  if (p[PMF_WINDOW] == PMF_WINDOW_GLOBAL) return PetscMax(1, csr->m);
  return p[PMF_WINDOW] == PMF_WINDOW_AUTO ? PMF_WINDOW_ROWS : p[PMF_WINDOW];
}

/* What the first knobs of a plan ask for, where no row is split; power: as of PmfOrder */
static inline PmfOrder PmfOrderOf(const SpmvCSR *csr, const PetscInt p[], PetscInt nparts, const PetscInt power[])
{
  return (PmfOrder){.partition = (PmfPartition)p[PMF_PARTITION],
                    .window    = PmfWindowRows(csr, p),
                    .block     = p[PMF_PARTITION] == PMF_BY_DIAGONAL ? p[PMF_BLOCK] : 0,
                    .limit     = PETSC_MAX_INT,
                    .nparts    = nparts,
                    .power     = power};
}

/* Entries of a row, none of one that is split over the parts */
static inline PetscInt PmfLength(const SpmvCSR *csr, const PmfOrder *order, PetscInt row)
{
  const PetscInt length = csr->i[row + 1] - csr->i[row];

  return length > order->limit ? 0 : length;
}

/* The entry of the matrix that an entry of the rest is */
static inline uint32_t PmfEntryOf(const PmfOrder *order, PetscInt entry)
{
  return order->from ? order->from[entry] : (uint32_t)entry;
}

/* The diagonal of its block that entry (row, column) is on, d for column - row = d - (block - 1); -1 if it is in no block */
static inline int PmfDiagonalOf(PetscInt block, PetscInt row, PetscInt column)
{
  return column / block == row / block ? (int)(column - row + block - 1) : -1;
}

/* Element k of an array of uint16_t or int32_t, of which an element has this size */
static inline ptrdiff_t PmfIndexAt(const void *array, size_t size, size_t k)
{
  return size == sizeof(uint16_t) ? ((const uint16_t *)array)[k] : ((const int32_t *)array)[k];
}
static inline void PmfIndexSet(void *array, size_t size, size_t k, PetscInt index)
{
  if (size == sizeof(uint16_t)) ((uint16_t *)array)[k] = (uint16_t)index;
  else ((int32_t *)array)[k] = (int32_t)index;
}
