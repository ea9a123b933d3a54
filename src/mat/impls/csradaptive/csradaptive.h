/*
  csradaptive.h - the storage of CSR-Adaptive

  csradaptive.c         the format: knobs, arrays, sizes, what is printed
  csradaptive_build.c   rows cut into row blocks
  csradaptive_simd.c    the products: csradaptive_rows.h (what is done with the rows of a row block)
  csradaptive_device.c  the device side: knobs, lists of row blocks, launches; csradaptive.cl has the kernels
*/
#pragma once
#include "../../../spmvimpl.h"

enum { /* the knobs, in the order of CsradaptiveParams */
       CSRADAPTIVE_NNZ_PER_WG,
       CSRADAPTIVE_NUM_ROWS_STREAM,
       CSRADAPTIVE_NNZ_MULTIPLIER,
       CSRADAPTIVE_LONG,
       CSRADAPTIVE_SHORT,
       CSRADAPTIVE_NPARAMS
};

enum { /* the knobs of devices, in the order of CsradaptiveDeviceParams */
       CSRADAPTIVE_DEVICE_WORKGROUP,
       CSRADAPTIVE_DEVICE_NNZ_PER_WG,
       CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM,
       CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER,
       CSRADAPTIVE_DEVICE_REDUCTION,
       CSRADAPTIVE_DEVICE_PARTS,
       CSRADAPTIVE_DEVICE_NPARAMS
};

enum { /* values of CSRADAPTIVE_DEVICE_REDUCTION */
       CSRADAPTIVE_REDUCTION_LOGARITHMIC,
       CSRADAPTIVE_REDUCTION_SCALAR
};

enum { /* values of CSRADAPTIVE_DEVICE_PARTS */
       CSRADAPTIVE_PARTS_KERNEL,
       CSRADAPTIVE_PARTS_ATOMIC
};

#define CSRADAPTIVE_NNZ_MAX 4096 /* entries of a row block, at most: their products fit the first cache */
#define CSRADAPTIVE_NODE    6    /* rows that have the same columns, at most */
#define CSRADAPTIVE_ROWS    4    /* a row block has at most this many rows for each entry it may have, so that empty rows are shared out too */

/*
  A row block is one 64-bit word: the first row, a flag, and a number.

    63          32    31     30             0
    [    row     | flag | workgroup number  ]

  Flag 1: `row` is shared by several row blocks; this one, of that number, has its entries from workgroup number x `chunk`
  on, `chunk` of them or what is left. Flag 0: the rows from `row` up to that of the next word; the number is h > 1 if each
  h of them have the same columns, 0 otherwise. The last word is (m, 0, 0).
*/
#define CSRADAPTIVE_WG_BITS 31
#define CSRADAPTIVE_WG_MAX  ((UINT64_C(1) << CSRADAPTIVE_WG_BITS) - 1)

typedef enum {
  CSRADAPTIVE_STREAM,
  CSRADAPTIVE_VECTOR,
  CSRADAPTIVE_VECTORL
} CsradaptiveKernel;

typedef struct {
  PetscInt           m, n;            /* rows, columns */
  PetscInt           nnz_per_wg;      /* entries of a row block of several rows, at most */
  PetscInt           num_rows_stream; /* rows from which a row block is CSR-Stream's */
  PetscInt           chunk;           /* entries of a row block that shares its row: NNZ_PER_WG x NNZ_multiplier */
  PetscInt           threads;         /* tasks of a product; 1 for a device */
  PetscBool          device;          /* for a device, not the host */
  PetscBool          large;           /* no cache is likely to hold the matrix from one product to the next */
  PetscBool          learnt;          /* the branch predictor may know where rows end, from one product to the next */
  const PetscInt    *i, *j;           /* AIJ's own */
  const PetscScalar *a;               /* AIJ's own */
  size_t             nblocks;
  uint64_t          *block;   /* [nblocks + 1] */
  PetscScalar       *partial; /* [(threads - 1) n] what tasks 1, 2, ... add up in a transposed product; NULL if there is one task */

  size_t   nlist[3], nshared; /* for a device: row blocks of each CsradaptiveKernel, rows that are shared */
  int32_t *list[3];           /* [nlist] which row blocks */
  int32_t *part;              /* [nshared + 1] where the row blocks of each such row begin in the last list */
} CsradaptiveStorage;

/* csradaptive_build.c */
/* CsradaptiveAmounts: row blocks, and what each kernel has to do */
typedef struct {
  size_t nblocks;
  size_t entries[3], rows[3]; /* of each CsradaptiveKernel, nodes not counted */
  size_t nodeentries;
} CsradaptiveAmounts;

extern PetscErrorCode CsradaptiveCount(const SpmvCSR *csr, const SpmvPlan *plan, CsradaptiveAmounts *amounts);
extern PetscErrorCode CsradaptiveBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode CsradaptiveSetValues(const SpmvCSR *csr, void *storage);
extern PetscErrorCode CsradaptiveDestroy(void **storage);

/* csradaptive_device.c */
extern PetscErrorCode         CsradaptiveDeviceResolve(SpmvPlan *plan);
extern PetscErrorCode         CsradaptiveDeviceLists(CsradaptiveStorage *b);
extern const SpmvDeviceFormat CsradaptiveDevice;

static inline uint64_t CsradaptiveWord(PetscInt row, int flag, PetscInt number)
{
  return (uint64_t)row << 32 | (uint64_t)flag << CSRADAPTIVE_WG_BITS | (uint64_t)number;
}
static inline PetscInt CsradaptiveRow(uint64_t word)
{
  return (PetscInt)(word >> 32);
}
static inline int CsradaptiveFlag(uint64_t word)
{
  return (int)(word >> CSRADAPTIVE_WG_BITS & 1);
}
static inline PetscInt CsradaptiveWorkgroup(uint64_t word)
{
  return CsradaptiveFlag(word) ? (PetscInt)(word & CSRADAPTIVE_WG_MAX) : 0;
}
static inline int CsradaptiveNodeRows(uint64_t word)
{
  return CsradaptiveFlag(word) ? 0 : (int)(word & CSRADAPTIVE_WG_MAX);
}

/* Which kernel serves row block number k */
static inline CsradaptiveKernel CsradaptiveKernelOf(const CsradaptiveStorage *b, size_t k)
{
  const PetscInt row = CsradaptiveRow(b->block[k]), end = CsradaptiveRow(b->block[k + 1]);

  if (CsradaptiveFlag(b->block[k])) return CSRADAPTIVE_VECTORL;
  if (CsradaptiveNodeRows(b->block[k])) return CSRADAPTIVE_VECTOR;
  if (b->device && b->i[end] - b->i[row] > b->nnz_per_wg) return CSRADAPTIVE_VECTOR;
  return end - row >= b->num_rows_stream ? CSRADAPTIVE_STREAM : CSRADAPTIVE_VECTOR;
}

/* The first entry of row block number k */
static inline PetscInt CsradaptiveFirst(const CsradaptiveStorage *b, size_t k)
{
  return b->i[CsradaptiveRow(b->block[k])] + CsradaptiveWorkgroup(b->block[k]) * b->chunk;
}
