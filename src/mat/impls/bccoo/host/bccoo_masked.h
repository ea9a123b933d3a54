/*
  bccoo_masked.h - blocks of four rows and two columns that store the entries they have, and a mask of where these are

  Such blocks need neither flags nor tiles: a group of four rows knows how many it has. Its blocks with more than four entries
  come first, as those of four at most take less to load. A block begins at the first column that no block before it has.

  Source: Bramas and Kus, Computing the sparse matrix vector product using block-based kernels without zero padding on processors
  with AVX-512 instructions, PeerJ Computer Science 4:e151, 2018: the blocks beta(r, c), there aligned by rows and each with its
  masks row by row. We differ: one mask and one index word for a whole block, the two kinds of blocks, x loaded as pairs.
*/
#pragma once
#include "../../../../host/values.h"

#define BCCOO_MASKED_HEIGHT 4
#define BCCOO_MASKED_WIDTH  2
#define BCCOO_MASKED_FEW    4 /* entries of a block of the second kind, at most */
#define BCCOO_MASKED_BITS   8 /* of an index word that are the mask: bit 2 r + c for row r and column c of the block */
#define BCCOO_MASKED_MOST   (1 << (32 - BCCOO_MASKED_BITS)) /* columns of a matrix, at most */

/* What one thread works on, up to where the next part begins */
typedef struct {
  size_t group, block, value;
} BccooMaskedPart;

typedef struct {
  PetscInt         m, n;     /* rows, columns */
  size_t           nblocks;  /* blocks */
  size_t           nentries; /* entries */
  uint32_t        *word;     /* [nblocks] first column, and the mask */
  int32_t         *count;    /* [2 ceil(m / 4)] blocks of each group of rows: of more entries than BCCOO_MASKED_FEW, and others */
  PetscScalar     *value;    /* [nentries + BCCOO_PAD] block after block, each row after row */
  uint16_t        *position; /* [nentries] where the value of each entry of CSR goes, from the first one of its group on */
  PetscInt         nparts;
  BccooMaskedPart *part; /* [nparts + 1] */
} BccooMasked;

/* bccoo_masked.c */
extern PetscBool      BccooMaskedFits(const SpmvCSR *csr);
extern PetscErrorCode BccooMaskedBuild(const SpmvCSR *csr, PetscInt nparts, BccooMasked *s);
extern SpmvSpan       BccooMaskedSpan(const BccooMasked *s, PetscInt p);
extern void           BccooMaskedSetValues(const SpmvCSR *csr, BccooMasked *s);
extern PetscErrorCode BccooMaskedArrays(const BccooMasked *s, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode BccooMaskedDestroy(BccooMasked **s);
extern PetscErrorCode BccooMaskedAllows(const SpmvCSR *csr, const PetscInt p[], char why[], size_t size);
extern PetscErrorCode BccooMaskedWork(const SpmvCSR *rows, SpmvWork *work);
