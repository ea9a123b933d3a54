/*
  bccoo_host.h - the host side of bccoo

  bccoo_host.c    its knobs, its storage
  bccoo_coded.c   values of 1x1 blocks that are few or short
  bccoo_masked.c  blocks that are partly filled, with masks and no zeros; bccoo_masked_simd.h: their products
  bccoo_plan.c    plans worth an estimate and their work; what sizes tell
  bccoo_simd.c    the products: bccoo_vectors.h (what they read and write), bccoo_chunks.h (block after block),
                  bccoo_lanes.h (eight tiles at a time)
*/
#pragma once
#include "../bccoo_knobs.h"
#include "bccoo_masked.h"
#include <endian.h>

enum { /* the knobs, after those that both sides have */
       BCCOO_BUNCH = BCCOO_SHARED_KNOBS,
       BCCOO_VALUES,
       BCCOO_FILL,
       BCCOO_NPARAMS
};

typedef enum { /* what stands where a block has no entry */
               BCCOO_FILL_AUTO,
               BCCOO_FILL_ZEROS,
               BCCOO_FILL_MASKS
} BccooFill;

#define BCCOO_LANES     8    /* the bunch that has SIMD kernels: tiles that one instruction works on */
#define BCCOO_GROUP_MAX 4096 /* rows of the blocks of a group, at most: h x tile x bunch */
#define BCCOO_CHUNK     64   /* blocks whose flags are looked at at a time, without a bunch */
#define BCCOO_TILE_MAX  1024 /* blocks of a tile, at most */

typedef struct {
  size_t    first, last; /* tiles [first, last), whole groups */
  PetscBool large;       /* no cache is likely to hold the matrix from one product to the next */
} BccooPart;             /* what one thread works on */

typedef struct {
  BccooBlocks  b;       /* without arrays if there are masks */
  BccooMasked *masked;  /* blocks with masks; NULL: those of b, with zeros */
  PetscScalar *partial; /* [slices mb h] slices > 1: the products of the slices, before they are added */
  PetscScalar *padded;  /* [block columns x w] if w does not divide n, with masks if n is 1: x, then zeros */
  PetscInt     nparts;  /* threads */
  PetscInt     wanted;  /* the knob values, of 1x1 blocks */
  PetscBool    large;   /* of all parts */
  SpmvSpan    *span;    /* [nparts] if nparts > 1: the columns of each part but the first, which has all */
} BccooStorage;

/* Part p: about as many groups as the others */
static inline BccooPart BccooPartNumber(const BccooStorage *s, PetscInt p)
{
  const size_t bunch = (size_t)s->b.bunch, ngroups = s->b.ntiles / bunch;

  return (BccooPart){SpmvShare(ngroups, p, s->nparts) * bunch, SpmvShare(ngroups, p + 1, s->nparts) * bunch, s->large};
}

/* bccoo_coded.c */
extern PetscErrorCode BccooSetCoded(const SpmvCSR *csr, BccooStorage *s);
extern void           BccooCodedWork(const SpmvCSR *rows, const SpmvPlan *plan, double blocks, SpmvWork *work);

/* True if a plan, but for the knob values, lets them be coded */
static inline PetscBool BccooCodes(const PetscInt p[])
{
  return (PetscBool)(p[BCCOO_BLOCK_HEIGHT] == 1 && p[BCCOO_BLOCK_WIDTH] == 1 && p[BCCOO_SLICES] == 1);
}

/* bccoo_plan.c */
extern PetscErrorCode BccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[]);
extern PetscErrorCode BccooResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan);
extern PetscErrorCode BccooWorks(const SpmvCSR *csr, PetscInt n, const SpmvPlan plans[], SpmvWork works[]);

/* The block row, in the stack of slices, of the k-th non-empty one */
static inline size_t BccooRow(const BccooBlocks *b, size_t k)
{
  return b->row ? (size_t)b->row[k] : k;
}

/* A bit for each row stop among the n blocks stored from place on; place % 8 + n <= 64. Flags are bytes, lowest bits first */
static inline uint64_t BccooStops(const BccooBlocks *b, size_t place, size_t n)
{
  uint64_t word;

  memcpy(&word, b->flags + place / 8, sizeof(word));
  return ~(le64toh(word) >> place % 8) & (~UINT64_C(0) >> (64 - n));
}
