/*
  csradaptive_host.h - the storage of CSR-Adaptive for this processor

  csradaptive_host.c   knobs, row blocks, arrays, what is printed
  csradaptive_simd.c   the products: csradaptive_rows.h (what is done with the rows of a row block)
*/
#pragma once
#include "../csradaptive_blocks.h"

typedef struct {
  PetscInt           m, n;        /* rows, columns */
  size_t             nentries;    /* of the matrix */
  PetscInt           rows_stream; /* rows from which a row block is CSR-Stream's */
  PetscInt           chunk;       /* entries of a row block that shares its row: NNZ_PER_WG x NNZ_multiplier */
  PetscInt           threads;     /* tasks of a product */
  PetscBool          large;       /* no cache is likely to hold the matrix from one product to the next */
  PetscBool          learnt;      /* the branch predictor may know where rows end, from one product to the next */
  const PetscInt    *i, *j;       /* AIJ's own */
  const PetscScalar *a;           /* AIJ's own */
  size_t             nblocks;
  uint64_t          *block; /* [nblocks + 1] */
} CsradaptiveStorage;

/* Which kernel serves row block number k */
static inline CsradaptiveKernel CsradaptiveKernelAt(const CsradaptiveStorage *b, size_t k)
{
  return CsradaptiveKernelOf(b->block[k], b->block[k + 1], b->rows_stream);
}

/* The first entry of row block number k */
static inline PetscInt CsradaptiveFirst(const CsradaptiveStorage *b, size_t k)
{
  return b->i[CsradaptiveRow(b->block[k])] + CsradaptiveWorkgroup(b->block[k]) * b->chunk;
}
