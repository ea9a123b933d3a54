/*
  bccoo_shapes.h - block sizes that are worth an estimate, and what some rows have in blocks of a size
*/
#pragma once
#include "bccoo_knobs.h"

#define BCCOO_SMALL 2048 /* entries below which a matrix gains nothing by blocks or by tiles side by side */

/* BccooTally: what some rows have in blocks of some height and width */
typedef struct {
  PetscInt  h, w;
  double    part;            /* all entries over those that were looked at, which the numbers below are of */
  size_t    entries, blocks; /* entries, their blocks */
  size_t    far;             /* columns that 16-bit ones refer to, 4 bytes each; 0 of 1x1 blocks of a narrow matrix */
  PetscInt  reach;           /* blocks whose 16-bit columns have a base in common; 0: those of a tile */
  PetscBool differ;          /* such columns take the fewest bytes of a wide matrix */
  size_t    rows, empty;     /* block rows with entries, and without */
  size_t    changes;         /* block rows with another number of blocks than the one before: their end is mispredicted */
} BccooTally;

/* bccoo_shapes.c */
extern PetscErrorCode BccooProposeShapes(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n,
                                         SpmvPlan plans[]);
extern BccooTally     BccooTallyOf(const SpmvCSR *csr, const PetscInt p[], int32_t column[]);
extern PetscBool      BccooIsWide(const SpmvCSR *csr, const PetscInt p[]);
extern void           BccooTallyAdd(const SpmvCSR *csr, const BccooTally *t, const PetscInt p[], PetscInt tile, SpmvWork *work);
