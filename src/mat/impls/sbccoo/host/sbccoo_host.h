/*
  sbccoo_host.h - the host side of sbccoo

  sbccoo_host.c    its knobs, its storage
  sbccoo_pairs.h   the two entries of a pair: how the second one is told from the first
  sbccoo_tell_simd.c  the same for a row of pairs
  sbccoo_look.c    what a sample of the pairs tells: whether the format suits a matrix, and what is stored of a pair
  sbccoo_walk.h    the pairs of a matrix, block row by block row
  sbccoo_fill.c    the arrays of the halves from them; sbccoo_cut.h has rows of scalars
  sbccoo_renew.c   new values in these arrays; sbccoo_places.c if they change again
  sbccoo_rest.c    the entries that are in no pair
  sbccoo_plan.c    plans worth an estimate and their work
  sbccoo_simd.c    the products: sbccoo_blocks.h, sbccoo_scalars.h have a row, sbccoo_sorted.h those of one length
*/
#pragma once
#include "../../../../spmvimpl.h"

enum { SBCCOO_BLOCK, SBCCOO_PAIRS, SBCCOO_EXACT, SBCCOO_NPARAMS }; /* the knobs */

/* Values of SBCCOO_PAIRS: what is stored of a pair */
typedef enum {
  SBCCOO_FOUND, /* what a sample of the pairs tells */
  SBCCOO_EQUAL, /* one entry, which both are */
  SBCCOO_NEAR,  /* one entry, and how many steps the other one is from it, as an int8 */
  SBCCOO_NEAR16 /* the same as an int16; of scalars */
} SbccooPairs;

/* Values of SBCCOO_EXACT: whether the bits of the second entry of a pair are kept */
typedef enum {
  SBCCOO_ALWAYS,
  SBCCOO_DECLARED /* not where the user declared that both are equal */
} SbccooExact;

#define SBCCOO_BLOCK_MAX  8      /* rows and columns of a block, at most */
#define SBCCOO_CHUNK      64     /* block rows between two looks at which rows of y are needed next; a multiple of SBCCOO_PIECE */
#define SBCCOO_PIECE      4      /* columns of a piece */
#define SBCCOO_WIDE       0xffff /* the first word of a row that needs numbers of 32 bits */
#define SBCCOO_FAR        (-128) /* a code: the second entry is the next one of far[] */
#define SBCCOO_LOOK       1024   /* entries of a matrix whose partners are looked at, ... */
#define SBCCOO_LOOK_FEW   256    /* ... or so many, to see what a hundredth of the pairs have */
#define SBCCOO_CODES      (sizeof(PetscScalar) / sizeof(PetscReal))      /* of an entry: one for each part of it */
#define SBCCOO_PAIR_BYTES (2 * (sizeof(PetscScalar) + sizeof(PetscInt))) /* of a pair in the rest */

/* What a pair may differ by in the upper part alone, for users (SbccooCheck()) */
#define SBCCOO_CLOSE_TEXT "1e-10 of the largest of a_ij, a_ji, sqrt(a_ii a_jj)"

#define SBCCOO_COUNTS(pieces, single, both) ((pieces) | (single) << 5 | (both) << 10)

#define SBCCOO_COUNT_MAX  31 /* of each of the first two, and SBCCOO_BOTH_MAX of the last one: more need a wide row */
#define SBCCOO_BOTH_MAX   62
#define SBCCOO_SORTED_MAX 1023 /* single entries where there are no pieces, as the first two together */

/* What SBCCOO_COUNTS() has; sorted: there are no pieces */
static inline void SbccooCounts(uint16_t word, PetscBool sorted, PetscInt count[3])
{
  count[0] = sorted ? 0 : word & 31;
  count[1] = sorted ? word & SBCCOO_SORTED_MAX : word >> 5 & 31;
  count[2] = word >> 10;
}

/*
  SbccooTellFn: of n pairs, code[] that tells the second entries from the first ones, of so many bytes each; 0: the bits are
  compared

  Bit k % 8 of told[k / 8]: pair k is told. 0 is returned if all are. No PETSc calls inside
*/
typedef size_t SbccooTellFn(size_t n, const PetscScalar a[], const PetscScalar other[], PetscReal least, PetscBool conjugate,
                            size_t codesize, int8_t code[], uint8_t told[]);

/* The number of blocks of a block row, as its index has it: the highest bit tells that some code of the row is SBCCOO_FAR */
#define SBCCOO_HAS_FAR(wide) ((uint32_t)1 << ((wide) ? 31 : 15))

static inline int SbccooIsTold(const uint8_t told[], size_t k)
{
  return told[k / 8] >> k % 8 & 1;
}

/* SbccooPart: the block rows of one thread, and where they begin in the arrays */
typedef struct {
  PetscInt first, last;  /* block rows [first, last) */
  PetscInt chunk;        /* of front[] */
  size_t   value, index; /* codes lie with the values, whose number they have */
  size_t   code, mask, both, far;
  PetscInt rest;          /* rows of the rest that are the part's: from this one to that of the next part */
  PetscInt wfirst, wlast; /* the block rows of its window, wfirst < last < wlast; wfirst = wlast: none */
  size_t   window;        /* place of the window's first entry */
} SbccooPart;

#define SBCCOO_NOWHERE UINT32_MAX /* a place: there is no such entry */

/* SbccooPlaces: which of AIJ's entries those of a storage of scalars are; NULL: they are not known */
typedef struct {
  uint32_t *diagonal; /* [nb] */
  uint32_t *pair;     /* [nblocks][2] the first entry and the second one */
  uint32_t *both;     /* [2 nboth] */
  uint32_t *rest;     /* [nrest] */
} SbccooPlaces;

/*
  SbccooStorage: halves and rest

  A block row has, in index[]: the number of its blocks beyond the diagonal and SBCCOO_HAS_FAR(), then for each of them j - i; or
  SBCCOO_WIDE, then the same as numbers of 32 bits. Of its values the diagonal block is first. Blocks are stored by rows. Columns
  of the first half of the blocks alternate with those of the second: a product would have to wait for y_j to be stored where
  y_j+1 comes next. The second entry of a pair that no code tells is in far[], in the order in which codes are stored; without
  codes such a pair is in the rest.

  A row of scalars (b = 1) has how many pieces, single entries and pairs of which both entries are stored it has, in one word, as
  SBCCOO_COUNTS(); then for each piece j / 4 - i / 4, whose entries mask[] has, and for each of the others j - i. A wide one has
  SBCCOO_WIDE, and the three numbers one after the other. If new values are not told from others any more, they are in the rest.

  Where it takes less time there are no pieces, and the rows of each chunk are stored by their lengths, so that a processor
  foresees where loops end: the word of their counts and how many rows have it, then these rows, each without its word. row[] has
  which of the chunk's rows each is.
*/
typedef struct {
  PetscInt      m, n;
  PetscInt      b, nb;   /* size of a block, whole block rows and columns: what is beyond them is in the rest */
  size_t        nblocks; /* that are stored beyond the diagonal; of scalars entries */
  size_t        nindex, nmask, nboth, nfar;
  size_t        room;    /* blocks that there is room for */
  PetscInt      longest; /* blocks of a block row beyond the diagonal, at most */
  PetscInt      nchunks;
  PetscScalar  *diagonal;  /* [nb] of scalars */
  PetscScalar  *value;     /* [(nb + nblocks) b b], of scalars [nblocks] */
  int8_t       *code;      /* [nblocks b b SBCCOO_CODES codesize] NULL: both entries of each pair are equal */
  size_t        codesize;  /* bytes of a code: 1, or 2 of scalars; 0: there are none */
  PetscScalar  *both;      /* [2 nboth] of scalars: the two entries of pairs */
  size_t        bothroom;  /* such pairs that there is room for */
  PetscScalar  *far;       /* [nfar] of blocks: the second entries that no codes tell; NULL: there are no codes */
  size_t        farroom;   /* such entries that there is room for */
  uint16_t     *index;     /* [nindex] */
  uint8_t      *mask;      /* [nmask] */
  uint8_t      *row;       /* [nb] the rows of each chunk of scalars as they are stored; NULL: as they come, with pieces */
  PetscInt     *front;     /* [nchunks] the block rows before this one are all that rows up to the chunk's last one add to */
  uint8_t      *plain;     /* [nb] 1: of the block row all entries beyond the diagonal have partners, and blocks are full */
  PetscReal     least;     /* a step is so much at least, times SBCCOO_UNIT */
  PetscBool     conjugate; /* the second entry of a pair is the conjugate of the first */
  PetscBool     large;     /* no cache is likely to hold the matrix from one product to the next */
  PetscInt      exact;     /* the knob */
  PetscBool     upper;     /* the upper part alone: pairs that are close count as equal, and others are refused */
  SbccooTellFn *tell[2];   /* of a storage that is exact, of the upper part alone */

  PetscInt     nrest, nrestrows; /* entries in no pair, rows that have some */
  PetscInt    *restrow;          /* [nrestrows] increasing */
  PetscInt    *reststart;        /* [nrestrows + 1] */
  PetscInt    *restcolumn;       /* [nrest] */
  PetscScalar *restvalue;        /* [nrest] */
  size_t       restroom[2];      /* rows and entries that there is room for */
  size_t       untold;           /* pairs of blocks that are in the rest: there are no codes to tell the second entries */
  SbccooPlaces places;
  PetscInt     renewed; /* how often values were new, as far as it matters; negative: places are of no use */
  PetscBool    filled;  /* all arrays are there: SbccooFill() came to its end */

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

/* True if a block with so many pairs is smaller as one than as single entries */
static inline PetscBool SbccooPays(PetscInt pairs, PetscInt b)
{
  const size_t block = (size_t)(b * b) * (sizeof(PetscScalar) + SBCCOO_CODES) + sizeof(uint16_t);

  return (PetscBool)((size_t)pairs * SBCCOO_PAIR_BYTES >= block);
}

/* Which of n columns of blocks is the k-th that is stored: those of the first half alternate with the others */
static inline PetscInt SbccooColumn(PetscInt n, PetscInt k)
{
  return k % 2 ? (n + 1) / 2 + k / 2 : k / 2;
}

/* Number k of an index */
static inline __attribute__((always_inline)) size_t SbccooNumber(const uint16_t *index, PetscInt k, PetscBool wide)
{
  uint32_t word;

  if (!wide) return index[k];
  memcpy(&word, index + 2 * k, sizeof(word));
  return word;
}

/* Number 0 of an index, which begins at `to` */
static inline void SbccooSetNumber(uint16_t *to, PetscBool wide, size_t number)
{
  const uint32_t word = (uint32_t)number;

  if (wide) memcpy(to, &word, sizeof(word));
  else *to = (uint16_t)word;
}

/* Whether a matrix is to be stored as its upper part alone, by the knob SBCCOO_EXACT */
static inline PetscBool SbccooUpper(const SpmvCSR *csr, PetscInt exact)
{
  return (PetscBool)(exact == SBCCOO_DECLARED && csr->declared != SPMV_DECLARED_NOTHING);
}

/* SbccooTold: pairs whose second entry is not the first one: those that a code of some size tells, those that none does */
typedef struct {
  PetscInt  near, far;
  PetscReal least; /* as SbccooStorage's */
} SbccooTold;

/* SbccooLook: what a sample of the entries beyond the diagonal tells */
typedef struct {
  PetscInt   looked;    /* entries that were looked at */
  PetscInt   alone;     /* entries without a partner */
  SbccooTold by[2];     /* what codes of one and of two bytes tell */
  PetscBool  conjugate; /* as SbccooStorage's */
} SbccooLook;

/* Whether a byte more of each code of scalars pays for itself: second entries that need not be stored */
static inline PetscBool SbccooPays16(const SbccooLook *look)
{
  return (PetscBool)((look->by[0].far - look->by[1].far) * (PetscInt)sizeof(PetscReal) > look->looked);
}

/* What is stored of a pair, SBCCOO_EQUAL to SBCCOO_NEAR16, under the knobs p of a matrix whose pairs are as `look` says. Blocks
   have no codes of two bytes */
static inline PetscInt SbccooKind(const SpmvCSR *csr, const PetscInt p[], const SbccooLook *look)
{
  if (SbccooUpper(csr, p[SBCCOO_EXACT])) return SBCCOO_EQUAL;
  if (p[SBCCOO_PAIRS] == SBCCOO_EQUAL) return SBCCOO_EQUAL;
  if (p[SBCCOO_BLOCK] <= 1 && (p[SBCCOO_PAIRS] == SBCCOO_NEAR16 || (p[SBCCOO_PAIRS] == SBCCOO_FOUND && SbccooPays16(look))))
    return SBCCOO_NEAR16;
  return p[SBCCOO_PAIRS] != SBCCOO_FOUND || look->by[0].near ? SBCCOO_NEAR : SBCCOO_EQUAL;
}

/* What codes of such pairs tell; of equal ones what those of one byte would */
static inline const SbccooTold *SbccooToldBy(const SbccooLook *look, PetscInt pairs)
{
  return &look->by[pairs == SBCCOO_NEAR16 ? 1 : 0];
}

static inline size_t SbccooCodeSize(PetscInt pairs)
{
  return pairs == SBCCOO_NEAR16 ? sizeof(int16_t) : pairs == SBCCOO_NEAR ? sizeof(int8_t) : 0;
}

/* sbccoo_look.c */
extern PetscInt       SbccooFind(const SpmvCSR *csr, PetscInt i, PetscInt j);
extern PetscErrorCode SbccooLookAt(const SpmvCSR *csr, PetscInt most, SbccooLook *look);

/* sbccoo_fill.c */
extern PetscErrorCode SbccooFill(const SpmvCSR *csr, PetscBool pattern, PetscInt pairs, SbccooStorage *s);

/* sbccoo_renew.c */
extern PetscErrorCode SbccooRenew(const SpmvCSR *csr, SbccooStorage *s, PetscBool *done);

/* sbccoo_places.c */
extern PetscErrorCode SbccooPlacesMake(const SpmvCSR *csr, SbccooStorage *s);
extern PetscErrorCode SbccooPlacesSet(const SpmvCSR *csr, SbccooStorage *s, PetscBool *done);
extern PetscErrorCode SbccooPlacesDestroy(SbccooPlaces *places);

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
extern PetscBool      SbccooSorts(const SpmvCSR *csr, PetscBool steps);
extern PetscErrorCode SbccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[]);
extern PetscErrorCode SbccooWorks(const SpmvCSR *rows, PetscInt n, const SpmvPlan plans[], SpmvWork works[]);
