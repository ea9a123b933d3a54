/*
  coo_host.h - the storage of COO for this processor
*/
#pragma once
#include "../../../../spmvimpl.h"

typedef struct {
  PetscInt     m, n;   /* rows, columns */
  size_t       nz;     /* entries */
  PetscInt    *row;    /* [nz] */
  PetscInt    *column; /* [nz] */
  PetscInt    *from;   /* [nz] the place of each entry in CSR */
  PetscScalar *value;  /* [nz] */
} CooStorage;
