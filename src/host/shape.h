/*
  shape.h - rows with the same columns, and the blocks that a matrix consists of, whatever block size was declared
*/
#pragma once
#include "../spmvimpl.h"

/* Whether two rows have the same columns */
static inline PetscBool SpmvSameColumns(const SpmvCSR *csr, PetscInt row, PetscInt other)
{
  const PetscInt *i = csr->i, n = i[row + 1] - i[row];

  return (PetscBool)(i[other + 1] - i[other] == n && !memcmp(csr->j + i[row], csr->j + i[other], (size_t)n * sizeof(*csr->j)));
}

/* How many rows from one on, `most` at most, have the same columns, the first one among them */
static inline PetscInt SpmvSameRows(const SpmvCSR *csr, PetscInt row, PetscInt most)
{
  PetscInt rows = 1;

  while (rows < most && row + rows < csr->m && SpmvSameColumns(csr, row, row + rows)) rows++;
  return rows;
}

extern void      SpmvShapeFind(const SpmvCSR *csr, PetscInt most, PetscInt *h, PetscInt *w);
extern PetscBool SpmvShapeIsWhole(const SpmvCSR *csr, PetscInt row, PetscInt b);
extern PetscBool SpmvShapeShared(const SpmvCSR *csr);
