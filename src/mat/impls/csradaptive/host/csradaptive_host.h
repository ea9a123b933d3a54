/*
  csradaptive_host.h - the storage of CSR-Adaptive for this processor

  csradaptive_host.c   knobs, what a product costs
  csradaptive_simd.c   the products: csradaptive_rows.h (what is done with the rows of a row block)
*/
#pragma once
#include "../csradaptive_blocks.h"

#define CSRADAPTIVE_STREAM_MAX CSRADAPTIVE_NNZ_MAX /* entries of a row block of CSR-Stream, at most */

typedef struct {
  CsradaptiveBlocks rows;
  PetscInt          threads; /* tasks of a product */
  PetscBool         large;   /* no cache is likely to hold the matrix from one product to the next */
  PetscBool         learnt;  /* the branch predictor may know where rows end, from one product to the next */
} CsradaptiveStorage;

/* The first entry of row block number k */
static inline PetscInt CsradaptiveFirst(const CsradaptiveBlocks *b, size_t k)
{
  return b->i[CsradaptiveRow(b->block[k])] + CsradaptiveWorkgroup(b->block[k]) * b->chunk;
}
