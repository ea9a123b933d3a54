/*
  cmrs.h - the storage of CMRS

  cmrs.c          the format: knobs, arrays, sizes, what is printed
  cmrs_plan.c     sizes of a storage: order, height, steps, padding
  cmrs_build.c    the arrays, from CSR's and back
  cmrs_values.c   the values
  cmrs_simd.c     the products: cmrs_words.h (rows as the words say), cmrs_steps.h (rows as masks say)
  cmrs_device.c   the device side: knobs, launch; cmrs.cl has the kernel
*/
#pragma once
#include "../../../spmvimpl.h"

enum { /* the knobs, in the order of CmrsParams */
       CMRS_HEIGHT,
       CMRS_ORDER,
       CMRS_WORD,
       CMRS_ALIGN,
       CMRS_NPARAMS
};

enum { /* the knobs of devices, in the order of CmrsDeviceParams */
       CMRS_DEVICE_WORKGROUP,
       CMRS_DEVICE_NPARAMS
};

typedef enum { /* values of CMRS_ORDER: the entries of a strip */
               CMRS_ORDER_AUTO,
               CMRS_ORDER_ROWS,        /* row after row, as in CSR */
               CMRS_ORDER_COLUMNS,     /* by column, then by row */
               CMRS_ORDER_INTERLEAVED, /* the first entries of all rows, the second ones, ...; see CmrsChunk */
               CMRS_ORDER_PADDED       /* groups of CMRS_GROUP with at most CMRS_MODULO of a row */
} CmrsOrder;

#define CMRS_HEIGHT_MAX 16 /* rows of a strip */
#define CMRS_BITS       4  /* low bits of a word that hold the row in the strip */
#define CMRS_VECTOR     8  /* lanes of a vector, rows of a mask */
#define CMRS_GROUP      32 /* entries of a group: the paper's warp */
#define CMRS_MODULO     8  /* entries of one row in a group, at most, and together */
#define CMRS_PAD        8  /* words and values after the last, so that a vector of them stays inside */

#define CMRS_CHUNK_ENTRIES 1024 /* entries of a chunk of several strips, and of the steps of one strip */
#define CMRS_CHUNK_STRIPS  256
#define CMRS_TAIL_MAX      128  /* entries of a tail that goes through the buffer */
#define CMRS_SEGMENT       4096 /* entries of a segment of a longer one */
#define CMRS_STEPS_MAX     255  /* steps of a strip */
#define CMRS_BUFFER        (CMRS_CHUNK_ENTRIES + CMRS_HEIGHT_MAX * CMRS_TAIL_MAX + 2 * CMRS_VECTOR)

/*
  Interleaved order: a strip is one band of rows, or two if it has more than eight. The rows of a band have lanes, the
  longest row the first. Step k has entry k of each row that has one, in the order of lanes: those are the first lanes, so
  that a step is known by their number. After the steps of its bands come the tails of a strip, the rests of rows that are
  longer than there are steps, row by row: first those of at most CMRS_TAIL_MAX entries, then the longer ones, which are
  cut into segments.
*/

/* CmrsSteps: the steps of a band */
typedef struct {
  uint8_t  all;     /* steps */
  uint8_t  full;    /* the first ones, which have eight rows */
  uint16_t entries; /* of the others */
} CmrsSteps;

typedef enum {                /* how the products of a chunk are made */
               CMRS_BUFFERED, /* all of them, eight at a time whatever the rows, then added: for steps of few rows */
               CMRS_MIXED,    /* full steps one by one, the others of a band as above */
               CMRS_UNIFORM   /* one by one: all steps are full and all rows of a band as long, so that row r has lane r */
} CmrsMode;

/* CmrsChunk: consecutive strips whose products fit a buffer */
typedef struct {
  PetscInt strip;    /* first strip */
  PetscInt step;     /* first step */
  PetscInt tail;     /* first tail */
  PetscInt entry;    /* first entry */
  PetscInt buffered; /* entries of its steps and tails; segments are not among them and end a chunk */
  PetscInt mode;     /* CmrsMode */
} CmrsChunk;

/* CmrsTail: what is left of a row after the steps */
typedef struct {
  uint16_t row;   /* after the chunk's first */
  uint16_t first; /* entry after the chunk's first */
  uint16_t length;
} CmrsTail;

/* CmrsSegment: a part of a long row */
typedef struct {
  PetscInt row, first, length;
} CmrsSegment;

/* CmrsShare: where the part of a thread begins */
typedef struct {
  PetscInt entry, strip;   /* rows as the words say: first entry; first strip that begins there or later */
  PetscInt chunk, segment; /* interleaved order */
} CmrsShare;

typedef struct {
  PetscInt     m, n;   /* rows, columns of the matrix */
  PetscInt     height; /* rows of a strip */
  PetscInt     strips; /* ceil(m / height) */
  CmrsOrder    order;
  PetscInt     align;    /* products begin at a multiple of this many entries */
  PetscInt     threads;  /* that share a product; 1 for a device */
  PetscBool    device;   /* for a device, not the host */
  PetscBool    ahead;    /* so large that a product has to ask memory early */
  size_t       wordsize; /* bytes of a word */
  PetscInt     nz;       /* entries */
  PetscInt     nstored;  /* entries and padding */
  PetscInt    *strip;    /* [strips + 1] first entry of each strip (stripptr) */
  void        *word;     /* [nstored + CMRS_PAD] column << CMRS_BITS | row in the strip, as uint32 or uint64 */
  PetscScalar *value;    /* [nstored + CMRS_PAD] */
  uint8_t     *items;    /* [nstored / CMRS_GROUP] padded: entries of each group, before its padding */

  PetscInt     bands; /* interleaved: bands of a strip */
  PetscInt     nsteps, nchunks, ntails, nsegments;
  double       cost;    /* of the steps of all chunks, in ns; see CmrsAddCost() */
  CmrsSteps   *step;    /* [strips bands] steps of each band */
  uint8_t     *active;  /* [nsteps] rows of each step */
  uint8_t     *lane;    /* [strips bands CMRS_VECTOR] lane of each row of a band */
  CmrsChunk   *chunk;   /* [nchunks + 1] */
  CmrsTail    *tail;    /* [ntails] */
  CmrsSegment *segment; /* [nsegments] */

  PetscInt    *position; /* [nstored] by columns and padded: the entry of CSR that each value is, -1 for padding */
  CmrsShare   *share;    /* [threads + 1] for the host, as what follows */
  PetscScalar *partial;  /* [nsegments] sums of segments, or [threads CMRS_HEIGHT_MAX] of the strip that a thread begins in the middle of */
  PetscScalar *sum;      /* [(threads - 1) n] transposed products of the threads but the first */
} CmrsStorage;

/* cmrs_plan.c */
extern PetscErrorCode CmrsResolveOpen(const SpmvCSR *csr, SpmvPlan *plan);
extern PetscErrorCode CmrsResolve(const SpmvCSR *csr, SpmvPlan *plan, CmrsStorage *c);
extern PetscErrorCode CmrsPredict(const SpmvCSR *csr, const SpmvPlan *plan, CmrsStorage *c);
extern void           CmrsLayout(const SpmvCSR *csr, CmrsStorage *c);
extern PetscInt       CmrsPadStrip(const SpmvCSR *csr, const CmrsStorage *c, PetscInt s, PetscInt position[], uint8_t items[]);

/* cmrs_build.c */
extern PetscErrorCode CmrsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage);
extern PetscErrorCode CmrsDestroy(void **storage);
extern PetscErrorCode CmrsGetCSR(const CmrsStorage *c, PetscInt i[], PetscInt j[], PetscScalar a[]);

/* cmrs_device.c */
extern PetscErrorCode         CmrsDeviceResolve(SpmvPlan *plan);
extern const SpmvDeviceFormat CmrsDevice;

/* cmrs_values.c */
extern void           CmrsInterleave(const SpmvCSR *csr, CmrsStorage *c, PetscBool words);
extern PetscErrorCode CmrsSetValues(const SpmvCSR *csr, void *storage);

static inline uint64_t CmrsGetWord(const CmrsStorage *c, PetscInt k)
{
  return c->wordsize == sizeof(uint32_t) ? ((const uint32_t *)c->word)[k] : ((const uint64_t *)c->word)[k];
}

static inline void CmrsSetWord(const CmrsStorage *c, PetscInt k, PetscInt column, PetscInt row)
{
  if (c->wordsize == sizeof(uint32_t)) ((uint32_t *)c->word)[k] = (uint32_t)column << CMRS_BITS | (uint32_t)row;
  else ((uint64_t *)c->word)[k] = (uint64_t)column << CMRS_BITS | (uint64_t)row;
}

/* Rows of a band, of lengths in the order of lanes */
typedef struct {
  const PetscInt *i; /* [rows + 1] first entry of each row */
  PetscInt        rows;
  PetscInt        length[CMRS_VECTOR + 1]; /* [rows + 1] of each lane, decreasing, then 0 */
} CmrsBand;

/* Rows of strip s: the last one may have fewer */
static inline PetscInt CmrsRows(const CmrsStorage *c, PetscInt s)
{
  return PetscMin(c->height, c->m - s * c->height);
}

/* The rows of band b, whose lanes are known; bands after the last row have none */
static inline CmrsBand CmrsBandOf(const SpmvCSR *csr, const CmrsStorage *c, PetscInt b)
{
  const PetscInt s = b / c->bands, skip = b % c->bands * CMRS_VECTOR;
  const uint8_t *lane = c->lane + b * CMRS_VECTOR;
  CmrsBand       band = {csr->i + s * c->height + skip, PetscMin(CMRS_VECTOR, PetscMax(0, CmrsRows(c, s) - skip)), {0}};

  for (PetscInt r = 0; r < band.rows; r++) band.length[lane[r]] = band.i[r + 1] - band.i[r];
  return band;
}
