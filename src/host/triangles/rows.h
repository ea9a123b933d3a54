/*
  rows.h - triangles whose rows are laid out one after the other

  In the order of a pass: the rows of the lower triangle from first to last, columns increasing; those of the upper one from
  last to first, columns decreasing. So what a row waits for longest, the x of the row before it, is its last entry.
*/
#pragma once
#include "triangles.h"

/* SpmvRowsTriangle: one of them */
typedef struct {
  PetscInt    *start;    /* [n + 1] first entry of each row, in the order of the pass */
  void        *distance; /* [nz] columns between an entry and the diagonal: uint16_t, or PetscInt where one does not fit */
  PetscScalar *value;    /* [nz] */
} SpmvRowsTriangle;

typedef struct {
  SpmvRowsTriangle triangle[2];
  PetscBool        wide;     /* distances are PetscInt */
  PetscScalar     *diagonal; /* [n] the inverse diagonal S */
} SpmvRowsStorage;

/* Bytes of a distance */
static inline size_t SpmvRowsWord(const SpmvRowsStorage *r)
{
  return r->wide ? sizeof(PetscInt) : sizeof(uint16_t);
}
