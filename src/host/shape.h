/*
  shape.h - blocks that a matrix consists of, whatever block size was declared
*/
#pragma once
#include "../spmvimpl.h"

extern void      SpmvShapeFind(const SpmvCSR *csr, PetscInt most, PetscInt *h, PetscInt *w);
extern PetscBool SpmvShapeShared(const SpmvCSR *csr);
