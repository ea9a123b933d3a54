/*
  bccoo_walk.h - CSR rows as blocks: block row after block row, slice after slice, in time linear in the entries
*/
#pragma once
#include "bccoo_blocks.h"

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
  PetscInt       column[BCCOO_BLOCK_MAX]; /* of each row's next entry, PETSC_MAX_INT if there is none */
} BccooWalk;

static inline void BccooWalkMove(BccooWalk *walk, PetscInt i, PetscInt entry)
{
  walk->cursor[i] = entry;
  walk->column[i] = entry < walk->end[i] ? walk->csr->j[entry] : PETSC_MAX_INT;
}

static inline void BccooWalkStart(BccooWalk *walk, PetscInt row)
{
  walk->row  = row;
  walk->rows = PetscMin(walk->h, walk->csr->m - row);
  for (PetscInt i = 0; i < walk->rows; i++) {
    walk->end[i] = walk->csr->i[row + i + 1];
    BccooWalkMove(walk, i, walk->next ? walk->next[row + i] : walk->csr->i[row + i]);
  }
}

/* The next block column of this block row, -1 at its end; rows is walk->rows, for the compiler to unroll by */
BCCOO_INLINE PetscInt BccooWalkNext(BccooWalk *walk, PetscInt rows)
{
  PetscInt column = walk->column[0], limit;

  for (PetscInt i = 1; i < rows; i++) column = PetscMin(column, walk->column[i]);
  if (column >= walk->stop) {
    for (PetscInt i = 0; walk->next && i < rows; i++) walk->next[walk->row + i] = walk->cursor[i];
    return -1;
  }
  if (walk->w > 1) column /= walk->w;
  limit = column * walk->w + walk->w;
  for (PetscInt i = 0; i < rows; i++) {
    while (walk->column[i] < limit) BccooWalkMove(walk, i, walk->cursor[i] + 1);
  }
  return column;
}
