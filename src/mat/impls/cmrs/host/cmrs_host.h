/*
  cmrs_host.h - the storage of CMRS for this processor

  cmrs_host.c     the arrays from CSR's, what is printed
  cmrs_layout.c   rows as lanes, steps, tails, segments and chunks
  cmrs_simd.c     the products
*/
#pragma once
#include "../cmrs_strips.h"

#define CMRS_VECTOR 8 /* lanes of a vector, rows of a mask */

#define CMRS_CHUNK_ENTRIES 1024 /* entries of a chunk of several strips, and of the steps of one strip */
#define CMRS_CHUNK_STRIPS  256
#define CMRS_TAIL_MAX      128  /* entries of a tail that goes through the buffer */
#define CMRS_SEGMENT       4096 /* entries of a segment of a longer one */
#define CMRS_STEPS_MAX     255  /* steps of a strip */
#define CMRS_BUFFER        (CMRS_CHUNK_ENTRIES + CMRS_HEIGHT_MAX * CMRS_TAIL_MAX + 2 * CMRS_VECTOR)

/*
  A strip is one band of rows, or two if it has more than eight. The rows of a band have lanes, the longest row the first.
  Step k has entry k of each row that has one, in the order of lanes: the rows of a step are the first lanes, and their number
  tells which they are. After the steps of its bands a strip has its tails, what is left of rows that are longer, row by row:
  first those of at most CMRS_TAIL_MAX entries, then the longer ones, which are cut into segments.
*/

/* CmrsSteps: the steps of a band */
typedef struct {
  uint8_t  all;     /* steps */
  uint8_t  full;    /* the first ones, which have eight rows */
  uint16_t entries; /* of the others */
} CmrsSteps;

/* How the products of a chunk are made */
typedef enum {
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
  uint16_t row; /* after the chunk's first */
  uint16_t length;
} CmrsTail;

/* CmrsSegment: a part of a long row */
typedef struct {
  PetscInt row, first, length;
} CmrsSegment;

/* CmrsTask: where the part of a task begins */
typedef struct {
  PetscInt chunk, segment;
} CmrsTask;

typedef struct {
  PetscInt     m, n;     /* rows, columns of the matrix */
  PetscInt     height;   /* rows of a strip */
  PetscInt     strips;   /* ceil(m / height) */
  PetscInt     bands;    /* of a strip */
  PetscInt     threads;  /* tasks that share a product */
  PetscBool    prefetch; /* so large that a product does */
  size_t       wordsize; /* bytes of a word */
  PetscInt     nz;       /* entries */
  PetscInt    *strip;    /* [strips + 1] first entry of each strip (stripptr) */
  void        *word;     /* [nz + CMRS_PAD] column << CMRS_BITS | row in the strip, as uint32 or uint64 */
  PetscScalar *value;    /* [nz + CMRS_PAD] */
  PetscInt     nsteps, nchunks, ntails, nsegments;
  double       cost;    /* of the steps of all chunks, in ns; see CmrsAddCost() */
  CmrsSteps   *step;    /* [strips bands] steps of each band */
  uint8_t     *active;  /* [nsteps] rows of each step */
  uint8_t     *lane;    /* [strips bands CMRS_VECTOR] lane of each row of a band */
  CmrsChunk   *chunk;   /* [nchunks + 1] */
  CmrsTail    *tail;    /* [ntails] */
  CmrsSegment *segment; /* [nsegments] */
  CmrsTask    *task;    /* [threads + 1] */
  PetscScalar *partial; /* [nsegments] sums of segments */
} CmrsStorage;

/* cmrs_layout.c */
extern PetscErrorCode CmrsSetSteps(const SpmvCSR *csr, CmrsStorage *c);
extern void           CmrsLayout(const SpmvCSR *csr, CmrsStorage *c);

/* Rows of a band, of lengths in the order of lanes */
typedef struct {
  const PetscInt *i; /* [rows + 1] first entry of each row */
  PetscInt        rows;
  PetscInt        length[CMRS_VECTOR + 1]; /* of each lane, decreasing, then zeros */
} CmrsBand;

/* The lanes of the rows of band b: up to eight times as many as rows */
static inline uint8_t *CmrsLanes(const CmrsStorage *c, PetscInt b)
{
  return c->lane + (size_t)b * CMRS_VECTOR;
}

/* The rows of band b, whose lanes are known; bands after the last row have none */
static inline CmrsBand CmrsBandOf(const SpmvCSR *csr, const CmrsStorage *c, PetscInt b)
{
  const PetscInt s = b / c->bands, skip = b % c->bands * CMRS_VECTOR;
  const uint8_t *lane = CmrsLanes(c, b);
  const PetscInt rows = PetscMax(0, CmrsStripRows(c->m, c->height, s) - skip);
  CmrsBand       band = {csr->i + s * c->height + skip, PetscMin(CMRS_VECTOR, rows), {0}};

  for (PetscInt r = 0; r < band.rows; r++) band.length[lane[r]] = band.i[r + 1] - band.i[r];
  return band;
}
