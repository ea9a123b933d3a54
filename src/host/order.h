/*
  order.h - a square matrix with its rows and columns in an order that keeps neighbours together, in the place of the user's

  A matrix whose unknowns are numbered as they came reads x all over memory: a line of x for each entry. Where the numbers follow
  the graph, a line serves many entries. x is brought into the new order before a product, and y back after it: two lines a row in
  the place of one for each entry. See E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, Proc. 24th Nat.
  Conf. ACM, 1969; of theirs, only the levels are kept here. Clusters of 512 to 8192 rows took 1.0 to 1.25 times as long.
*/
#pragma once
#include "../spmvimpl.h"

typedef struct {
  PetscInt     n;
  PetscInt     threads;
  PetscInt     group; /* rows that stay together, in an aligned place */
  PetscInt    *row;   /* [n] which row of the matrix is row k, and which column */
  PetscInt    *place; /* [n] which row of the order a row of the matrix is */
  uint16_t    *from;  /* [nz] which entry of its row an entry is, in the new order; NULL before SpmvOrderRows() */
  size_t       nfrom;
  PetscScalar *x, *y; /* [n] vectors in the new order */
} SpmvOrder;

extern PetscBool      SpmvOrderAllows(const SpmvCSR *csr);
extern PetscInt       SpmvOrderGroup(const SpmvCSR *csr);
extern PetscErrorCode SpmvOrderCreate(const SpmvCSR *csr, PetscInt threads, SpmvOrder **order);
extern PetscErrorCode SpmvOrderRows(SpmvOrder *order, const SpmvCSR *csr, SpmvCSR *ordered);
extern PetscErrorCode SpmvOrderRowsDestroy(SpmvCSR *ordered);
extern void SpmvOrderApply(const SpmvOrder *order, SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[],
                           PetscScalar y[], PetscBool beta);
extern void SpmvOrderApplyTranspose(const SpmvOrder *order, SpmvTransposeFn *apply, const void *storage, PetscInt nz,
                                    const PetscScalar x[], PetscScalar y[], PetscBool beta, PetscScalar work[]);
extern PetscErrorCode SpmvOrderArrays(const SpmvOrder *order, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode SpmvOrderDestroy(SpmvOrder **order);
