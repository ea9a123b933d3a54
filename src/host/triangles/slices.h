/*
  slices.h - triangles whose rows are laid out by slices of eight, a row in each lane

  A slice is eight consecutive rows from row r = 8 k on; the last one may have fewer. The slices of the lower triangle are
  stored from first to last, those of the upper one from last to first, each as
    columns  where most rows have an entry at the same distance from the diagonal, outside the slice: x is loaded with unit stride
    gathers  other entries outside, one of each row
    chain    each row's coupling with the row before it in the order of the pass, where nothing else couples rows inside the slice
    list     all other entries, one by one: in the order of the rows, so that those inside the slice find what they wait for
  Where rows have no such entry, columns, gathers and chains have a zero. All is times -1, so that it is added.

  Of a matrix with constant coefficients most slices have the same values. One such slice has them at the beginning of a
  triangle's values, and those slices that are `again` have none of their own: they read these.

  A chain is x_q = r_q + c_q x_{q-1}. Eight rows of it are made in three steps, each of which doubles the rows that x_q is made
  from and multiplies couplings c. It is a good method while |c| <= 1; a slice with a larger one is `steep` and goes row by row.
*/
#pragma once
#include "triangles.h"

/* SpmvSlice: what a slice has */
typedef struct {
  PetscInt columns, gathers, list;
  uint8_t  chain, steep; /* 0 or 1; steep depends on values */
  uint8_t  even;         /* eight rows, and nothing but columns and the chain, with a zero nowhere but in the chain */
  uint8_t  again;        /* even, and with the values that the triangle begins with; depends on values, too */
} SpmvSlice;

/* SpmvSlicesTriangle: all arrays are in the order of the pass */
typedef struct {
  SpmvSlice   *slice; /* [slices] */
  PetscInt    *place; /* columns less row r, of: entries of a column in row r; where a slice's gathers begin; entries of a list */
  uint16_t    *index; /* where gathers are from there on, eight at a time; the lanes of a list's entries */
  PetscScalar *value; /* those of slices that are again; then eight of a column, a gather, a chain; those of a list, and what is
                         missing to a multiple of eight */
  size_t       nplace, nindex, nvalue, nagain; /* nagain: values that slices which are again have */
  PetscInt     common;                         /* the first row of the slice they were taken from, if there are any */
} SpmvSlicesTriangle;

typedef struct {
  SpmvSlicesTriangle triangle[2];
  PetscScalar       *diagonal; /* [n] the inverse diagonal S */
  PetscBool          large;    /* no cache keeps it from one pass to the next */
} SpmvSlicesStorage;

/* SpmvSlicesTarget: where the entries of a slice go */
typedef struct {
  PetscInt    *place;
  uint16_t    *index;
  PetscScalar *value;
} SpmvSlicesTarget;

/* SpmvSlicesKernels: of an instruction set */
typedef struct {
  SpmvShapeKernels shape;
  void (*values)(const SpmvTrianglesSource *s, SpmvSlicesStorage *storage, PetscInt *bad); /* setvalues() of the shape */
} SpmvSlicesKernels;

/* slices.c */
extern void SpmvSlicesFill(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, const SpmvSlice *h,
                           const SpmvSlicesTarget *to, const PetscScalar f[]);

/* slices_again.c */
extern PetscInt SpmvSlicesSomewhere(PetscInt slices, PetscInt parts, PetscInt k);
extern void     SpmvSlicesFindAgain(const SpmvTrianglesSource *s, SpmvTriangleSide side, SpmvSlicesTriangle *t);

static inline PetscInt SpmvSlicesCount(PetscInt n)
{
  return n / 8 + (n % 8 > 0);
}

/* The first row of the slice that a pass takes as number z, of `slices` */
static inline PetscInt SpmvSlicesRow(PetscInt slices, SpmvTriangleSide side, PetscInt z)
{
  return 8 * (side == SPMV_LOWER ? z : slices - 1 - z);
}

/* Values of a slice that is even */
static inline size_t SpmvSlicesEven(const SpmvSlice *h)
{
  return 8 * ((size_t)h->columns + h->chain);
}

/* Values of a list, with what is missing to a multiple of eight */
static inline size_t SpmvSlicesListed(const SpmvSlice *h)
{
  return ((size_t)h->list + 7) / 8 * 8;
}
static inline size_t SpmvSlicesValues(const SpmvSlice *h)
{
  if (h->again) return 0;
  return 8 * ((size_t)h->columns + (size_t)h->gathers + h->chain) + SpmvSlicesListed(h);
}
static inline size_t SpmvSlicesPlaces(const SpmvSlice *h)
{
  return (size_t)h->columns + (h->gathers > 0) + (size_t)h->list;
}
static inline size_t SpmvSlicesIndices(const SpmvSlice *h)
{
  return 8 * (size_t)h->gathers + (size_t)h->list;
}

/* After a slice; before one, if by is -1 */
static inline void SpmvSlicesAdvance(SpmvSlicesTarget *to, const SpmvSlice *h, PetscInt by)
{
  to->place += by * (PetscInt)SpmvSlicesPlaces(h);
  to->index += by * (PetscInt)SpmvSlicesIndices(h);
  to->value += by * (PetscInt)SpmvSlicesValues(h);
}
