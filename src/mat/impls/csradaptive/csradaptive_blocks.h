/*
  csradaptive_blocks.h - row blocks: rows cut into pieces of about as many entries, one 64-bit word for each

    63          32    31     30             0
    [    row     | flag | workgroup number  ]

  Flag 1: `row` is shared by several row blocks; this one, of that number, has its entries from workgroup number x `chunk`
  on, `chunk` of them or what is left. Flag 0: the rows from `row` up to that of the next word; the number is h > 1 if each
  h of them have the same columns, 0 otherwise. The last word is (m, 0, 0).
*/
#pragma once
#include "../../../spmvimpl.h"

#define CSRADAPTIVE_WG_BITS 31
#define CSRADAPTIVE_WG_MAX  ((UINT64_C(1) << CSRADAPTIVE_WG_BITS) - 1)
#define CSRADAPTIVE_NNZ_MAX 4096 /* entries of a row block, at most: their products fit the first cache */
#define CSRADAPTIVE_NODE    6    /* rows that have the same columns, at most */

/* The knobs that both sides have */
#define CSRADAPTIVE_PARAM_LONG \
  SPMV_RANGE("long", "a row block may end where a row of more entries than this meets a short one", 128, 1, PETSC_MAX_INT)
#define CSRADAPTIVE_PARAM_SHORT \
  SPMV_RANGE("short", "a row of fewer entries than this is a short one, 0: none is", 32, 0, PETSC_MAX_INT)

typedef enum { CSRADAPTIVE_STREAM, CSRADAPTIVE_VECTOR, CSRADAPTIVE_VECTORL } CsradaptiveKernel;
#define CSRADAPTIVE_KERNELS 3

/* CsradaptiveRules: how rows are cut */
typedef struct {
  PetscInt  entries;     /* of a row block of several rows, at most */
  PetscInt  chunk;       /* entries of a row block that shares its row */
  PetscInt  longer;      /* a row of more entries is long */
  PetscInt  shorter;     /* a row of fewer is short */
  PetscBool nodes;       /* rows that have the same columns are looked for */
  PetscInt  rows_stream; /* rows from which a row block is CSR-Stream's */
} CsradaptiveRules;

/* CsradaptiveAmounts: row blocks, and what each kernel has to do */
typedef struct {
  size_t nblocks;
  size_t entries[CSRADAPTIVE_KERNELS], rows[CSRADAPTIVE_KERNELS]; /* nodes not counted */
  size_t nodeentries;
} CsradaptiveAmounts;

extern PetscErrorCode CsradaptiveAllowsRules(const SpmvCSR *csr, const CsradaptiveRules *rules, const char option[], char why[],
                                             size_t size);
extern void           CsradaptiveCount(const SpmvCSR *csr, const CsradaptiveRules *rules, CsradaptiveAmounts *amounts);
extern PetscErrorCode CsradaptiveCut(const SpmvCSR *csr, const CsradaptiveRules *rules, size_t *nblocks, uint64_t *block[]);

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

/* Which kernel serves the row block of a word, by its rows: `next` is the word after it */
static inline CsradaptiveKernel CsradaptiveKernelOf(uint64_t word, uint64_t next, PetscInt rows_stream)
{
  if (CsradaptiveFlag(word)) return CSRADAPTIVE_VECTORL;
  if (CsradaptiveNodeRows(word)) return CSRADAPTIVE_VECTOR;
  return CsradaptiveRow(next) - CsradaptiveRow(word) >= rows_stream ? CSRADAPTIVE_STREAM : CSRADAPTIVE_VECTOR;
}
