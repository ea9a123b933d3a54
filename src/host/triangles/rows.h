/*
  rows.h - triangles whose rows are laid out one after the other

  In the order of a pass: the rows of the lower triangle from first to last, columns increasing; those of the upper one from
  last to first, columns decreasing. So what a row waits for longest, the x of the row before it, is its last entry.
*/
#pragma once
#include "triangles.h"

#define SPMV_ROWS_BELOW 65536

/* SpmvRowsTriangle: one of them */
typedef struct {
  PetscInt    *start;  /* [n + 1] first entry of each row, in the order of the pass */
  void        *offset; /* [nz] column less row: PetscInt, or 16 bits where those tell, SPMV_ROWS_BELOW more if negative */
  PetscScalar *value;  /* [nz] */
} SpmvRowsTriangle;

typedef struct {
  SpmvRowsTriangle triangle[2];
  PetscBool        wide;     /* offsets are PetscInt */
  PetscScalar     *diagonal; /* [n] the inverse diagonal S */
} SpmvRowsStorage;

/* Bytes of an offset */
static inline size_t SpmvRowsWord(const SpmvRowsStorage *r)
{
  return r->wide ? sizeof(PetscInt) : sizeof(uint16_t);
}
