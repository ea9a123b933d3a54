/*
  csradaptive_blocks.h - row blocks: rows cut where they have about as many entries, one 64-bit word for each row block

    63          32    31     30             0
    [    row     | flag | workgroup number  ]

  Flag 1: several row blocks share `row`; this one has its entries from number x chunk on, `chunk` of them or what is left.
  Flag 0: the rows from `row` up to that of the next word; the number is h > 1 if each h of them have the same columns, a
  node, else 0. The last word is (m, 0, 0).
*/
#pragma once
#include "../../../spmvimpl.h"

#define CSRADAPTIVE_NNZ_MAX 4096                      /* NNZ_PER_WG, at most: so many products fit the first cache */
#define CSRADAPTIVE_NODE    6                         /* rows of a node, at most */
#define CSRADAPTIVE_WG_MAX  ((UINT64_C(1) << 31) - 1) /* workgroup number, at most */

enum { /* the first knobs of both sides, those of the paper's table I */
       CSRADAPTIVE_NNZ_PER_WG,
       CSRADAPTIVE_NUM_ROWS_STREAM,
       CSRADAPTIVE_NNZ_MULTIPLIER,
       CSRADAPTIVE_NPARAMS
};

typedef enum { CSRADAPTIVE_STREAM, CSRADAPTIVE_VECTOR, CSRADAPTIVE_VECTORL, CSRADAPTIVE_NODES } CsradaptiveKernel;

/* CsradaptiveAmount: what a kernel has to do */
typedef struct {
  size_t blocks, rows, entries;
} CsradaptiveAmount;

/* CsradaptiveBlocks: the storage that both sides have; it is the first member of theirs */
typedef struct {
  PetscInt           m, n;           /* rows, columns */
  size_t             nentries;       /* of the matrix */
  const PetscInt    *i, *j;          /* AIJ's own */
  const PetscScalar *a;              /* AIJ's own */
  PetscInt           chunk;          /* entries of a row block that shares its row: NNZ_PER_WG x NNZ_multiplier */
  PetscInt           rows_stream;    /* CSR-Stream has the row blocks of as many rows or more, */
  PetscInt           entries_stream; /* and of as many entries at most */
  size_t             nblocks;
  uint64_t          *block;                         /* [nblocks + 1] */
  CsradaptiveAmount  amount[CSRADAPTIVE_NODES + 1]; /* of each kernel */
} CsradaptiveBlocks;

extern PetscErrorCode CsradaptiveAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                        size_t size);
extern PetscErrorCode CsradaptiveCut(const SpmvCSR *csr, const SpmvPlan *plan, PetscBool nodes, PetscInt entries_stream,
                                     CsradaptiveBlocks *b);
extern PetscErrorCode CsradaptiveSetValues(const SpmvCSR *csr, void *storage);
extern PetscErrorCode CsradaptiveBorrowed(const void *storage, PetscInt *narrays, SpmvArray arrays[]);
extern PetscErrorCode CsradaptiveDescribe(const CsradaptiveBlocks *b, PetscInt narrays, const SpmvArray arrays[], PetscInt k,
                                          char line[], size_t size);

static inline PetscInt CsradaptiveRow(uint64_t word)
{
  return (PetscInt)(word >> 32);
}
static inline int CsradaptiveFlag(uint64_t word)
{
  return (int)(word >> 31 & 1);
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
static inline CsradaptiveKernel CsradaptiveKernelAt(const CsradaptiveBlocks *b, size_t k)
{
  const PetscInt row = CsradaptiveRow(b->block[k]), end = CsradaptiveRow(b->block[k + 1]);

  if (CsradaptiveFlag(b->block[k])) return CSRADAPTIVE_VECTORL;
  if (CsradaptiveNodeRows(b->block[k])) return CSRADAPTIVE_NODES;
  if (end - row < b->rows_stream || b->i[end] - b->i[row] > b->entries_stream) return CSRADAPTIVE_VECTOR;
  return CSRADAPTIVE_STREAM;
}
