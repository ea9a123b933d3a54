/*
  bccoo_shapes.h - block sizes that are worth an estimate, and what some rows have in blocks of a size
*/
#pragma once
#include "bccoo_blocks.h"

#define BCCOO_SMALL      2048 /* entries below which a matrix gains nothing by blocks or by tiles side by side */
#define BCCOO_SHAPES_MAX 9    /* shapes of one round, at most */

/* BccooTally: what some rows have in blocks of some height and width */
typedef struct {
  PetscInt h, w;
  double   part;            /* all entries over those that were looked at, which the numbers below are of */
  size_t   entries, blocks; /* entries, their blocks */
  size_t   far;             /* blocks whose column is no 16-bit difference from the one before; 0 of a narrow matrix */
  size_t   rows, empty;     /* block rows with entries, and without */
  size_t   changes;         /* block rows with another number of blocks than the one before: their end is mispredicted */
} BccooTally;

/* bccoo_shapes.c */
extern PetscInt   BccooShapes(const SpmvCSR *csr, PetscInt h, PetscInt w, PetscInt round, PetscInt shapes[BCCOO_SHAPES_MAX][2]);
extern BccooTally BccooTallyOf(const SpmvCSR *csr, PetscInt h, PetscInt w);
extern void       BccooTallyAdd(const SpmvCSR *csr, const BccooTally *t, PetscInt columns, PetscInt tile, PetscInt slices,
                                SpmvWork *work);
