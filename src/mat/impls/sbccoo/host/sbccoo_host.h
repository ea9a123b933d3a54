/*
  sbccoo_host.h - the host side of sbccoo

  sbccoo_host.c    its knobs, its storage
  sbccoo_pairs.h   the two entries of a pair: how the second one is told from the first
  sbccoo_look.c    what a sample of the pairs tells: whether the format suits a matrix, and what is stored of a pair
  sbccoo_walk.h    the pairs of a matrix, block row by block row
  sbccoo_fill.c    the arrays of the halves from them
  sbccoo_rest.c    the entries that are in no pair
  sbccoo_plan.c    plans worth an estimate and their work
  sbccoo_simd.c    the products: sbccoo_blocks.h, sbccoo_scalars.h (a row), sbccoo_parts.h (all rows of a thread)
*/
#pragma once
#include "../../../../spmvimpl.h"

enum { SBCCOO_BLOCK, SBCCOO_PAIRS, SBCCOO_NPARAMS }; /* the knobs */

/* Values of SBCCOO_PAIRS: what is stored of a pair */
typedef enum {
  SBCCOO_FOUND, /* what a sample of the pairs tells */
  SBCCOO_EQUAL, /* one entry, which both are */
  SBCCOO_NEAR   /* one entry, and what has to be added to its bits to have the other one */
} SbccooPairs;

#define SBCCOO_BLOCK_MAX 8      /* rows and columns of a block, at most */
#define SBCCOO_CHUNK     64     /* block rows between two looks at which rows of y are needed next; a multiple of SBCCOO_PIECE */
#define SBCCOO_PIECE     4      /* columns of a piece */
#define SBCCOO_WIDE      0xffff /* the first word of a row that needs numbers of 32 bits */
#define SBCCOO_CODES     (sizeof(PetscScalar) / sizeof(PetscReal)) /* differences of an entry: one for each part of a complex one */
#define SBCCOO_PAIR_BYTES (2 * (sizeof(PetscScalar) + sizeof(PetscInt))) /* of a pair in the rest */

/* SbccooPart: the block rows of one thread, and where they begin in the arrays */
typedef struct {
  PetscInt first, last;   /* block rows [first, last) */
  PetscInt chunk;         /* of front[] */
  size_t   value, index;  /* codes lie with the values, whose number they have */
  size_t   code, mask;
  PetscInt rest;          /* rows of the rest that are the part's: from this one to that of the next part */
  PetscInt wfirst, wlast; /* the block rows of its window, wfirst < last < wlast; wfirst = wlast: none */
  size_t   window;        /* place of the window's first entry */
} SbccooPart;

/*
  SbccooStorage: halves and rest

  A block row has, in index[]: the number of its blocks beyond the diagonal, then for each of them j - i; or SBCCOO_WIDE, then the
  same as numbers of 32 bits. Of its values the diagonal block is first. Blocks are stored by rows. Columns of the first half of
  the blocks alternate with those of the second: a product would have to wait for y_j to be stored where y_j+1 comes next.

  A row of scalars (b = 1) has the number of its pieces, and 256 times that of its other entries; then for each piece
  j / 4 - i / 4, whose entries mask[] has, and for each other entry j - i. A wide one has the two numbers one after the other.
*/
typedef struct {
  PetscInt     m, n;
  PetscInt     b, nb;   /* size of a block, block rows and columns that can have pairs */
  size_t       nblocks; /* that are stored beyond the diagonal; of scalars entries */
  size_t       nindex, nmask;
  PetscInt     longest; /* blocks of a block row beyond the diagonal, at most */
  PetscInt     nchunks;
  PetscScalar *diagonal; /* [nb] of scalars */
  PetscScalar *value;    /* [(nb + nblocks) b b], of scalars [nblocks] */
  int8_t      *code;     /* [nblocks b b SBCCOO_CODES] NULL: both entries of each pair are equal */
  uint16_t    *index;    /* [nindex] */
  uint8_t     *mask;     /* [nmask] */
  PetscInt    *front;    /* [nchunks] the block rows before this one are all that rows up to the chunk's last one add to */
  PetscBool    conjugate; /* the second entry of a pair is the conjugate of the first */
  PetscBool    large;     /* no cache is likely to hold the matrix from one product to the next */

  PetscInt     nrest, nrestrows; /* entries in no pair, rows that have some */
  PetscInt    *restrow;          /* [nrestrows] increasing */
  PetscInt    *reststart;        /* [nrestrows + 1] */
  PetscInt    *restcolumn;       /* [nrest] */
  PetscScalar *restvalue;        /* [nrest] */
  size_t       restroom[2];      /* rows and entries that there is room for */

  PetscInt     nparts;
  SbccooPart  *part;   /* [nparts] */
  PetscScalar *window; /* what parts add to rows of other parts */
} SbccooStorage;

/* Entries of the block row beyond the diagonal that a block has */
static inline size_t SbccooEntries(const SbccooStorage *s)
{
  return (size_t)s->b * (size_t)s->b;
}

static inline size_t SbccooCodes(const SbccooStorage *s)
{
  return s->nblocks * SbccooEntries(s) * SBCCOO_CODES;
}

/* Number of all values of the halves but the diagonal of scalars */
static inline size_t SbccooValues(const SbccooStorage *s)
{
  return (s->nblocks + (s->b > 1 ? (size_t)s->nb : 0)) * SbccooEntries(s);
}

/* SbccooLook: what a sample of the entries beyond the diagonal tells */
typedef struct {
  PetscInt  looked; /* entries that were looked at */
  PetscInt  equal, near;
  PetscInt  alone;     /* no partner, or one that is too different */
  PetscBool conjugate; /* as SbccooStorage's */
} SbccooLook;

/* sbccoo_look.c */
extern SbccooLook SbccooLookAt(const SpmvCSR *csr);

/* sbccoo_fill.c */
extern PetscErrorCode SbccooFill(const SpmvCSR *csr, PetscBool pattern, PetscBool codes, SbccooStorage *s);

/* sbccoo_rest.c: entries one by one, in the order in which they are found; what is beyond the room is counted, not kept */
typedef struct {
  PetscInt    *row, *column; /* [room] */
  PetscScalar *value;        /* [room] */
  size_t       n, room;
} SbccooList;
extern PetscErrorCode SbccooListRoom(size_t room, SbccooList *list);
extern PetscErrorCode SbccooListDestroy(SbccooList *list);
extern PetscErrorCode SbccooRestSet(const SbccooList *list, SbccooStorage *s);

/* sbccoo_plan.c */
extern PetscErrorCode SbccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[]);
extern PetscErrorCode SbccooWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work);
