/*
  bccoo_walk.h - CSR rows as blocks: block row after block row, slice after slice, in time linear in the entries
*/
#pragma once
#include "bccoo.h"

/*
  BccooWalk - merges the rows of one block row after the other into blocks

  The rows of a block row are sorted, so its blocks are found by moving one cursor in each row. With one slice the
  cursors start at the row pointers; with more, they wait in `next` between slices.
*/
typedef struct {
  const SpmvCSR *csr;
  PetscInt       h, w;
  PetscInt       row;                     /* first row of the present block row */
  PetscInt       rows;                    /* rows in it: h, fewer in the last one */
  PetscInt       stop;                    /* columns from here on belong to a later slice */
  PetscInt      *next;                    /* [m] several slices: first entry of each row that no slice has taken */
  PetscInt       cursor[BCCOO_BLOCK_MAX]; /* next entry of each row */
  PetscInt       end[BCCOO_BLOCK_MAX];    /* end of each row */
} BccooWalk;

static inline void BccooWalkStart(BccooWalk *walk, PetscInt row)
{
  walk->row  = row;
  walk->rows = PetscMin(walk->h, walk->csr->m - row);
  for (PetscInt i = 0; i < walk->rows; i++) {
    walk->cursor[i] = walk->next ? walk->next[row + i] : walk->csr->i[row + i];
    walk->end[i]    = walk->csr->i[row + i + 1];
  }
}

/* The next block column of this block row, -1 at its end */
static inline PetscInt BccooWalkNext(BccooWalk *walk)
{
  const PetscInt *j      = walk->csr->j;
  PetscInt        column = walk->stop, limit;

  for (PetscInt i = 0; i < walk->rows; i++) {
    if (walk->cursor[i] < walk->end[i]) column = PetscMin(column, j[walk->cursor[i]]);
  }
  if (column == walk->stop) {
    for (PetscInt i = 0; walk->next && i < walk->rows; i++) walk->next[walk->row + i] = walk->cursor[i];
    return -1;
  }
  column /= walk->w;
  limit = column * walk->w + walk->w;
  for (PetscInt i = 0; i < walk->rows; i++) {
    while (walk->cursor[i] < walk->end[i] && j[walk->cursor[i]] < limit) walk->cursor[i]++;
  }
  return column;
}

/* One past the last column of slice s; every entry lies before that of the last slice */
static inline PetscInt BccooSliceStop(const BccooStorage *b, PetscInt s)
{
  return s + 1 == b->slices ? PETSC_MAX_INT : (s + 1) * b->slicewidth * b->w;
}

static inline PetscErrorCode BccooWalkCreate(const SpmvCSR *csr, const BccooStorage *b, BccooWalk *walk)
{
  PetscFunctionBegin;
  *walk = (BccooWalk){.csr = csr, .h = b->h, .w = b->w};
  if (b->slices > 1) {
    PetscCall(PetscMalloc1(csr->m, &walk->next));
    PetscCall(PetscArraycpy(walk->next, csr->i, csr->m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
