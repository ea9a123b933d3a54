/*
  near.h - entries of x that a cache does not have, in the order in which a format takes rows

  Rows that follow each other in a matrix mostly have columns in common. A format that takes them in another order, by length say,
  finds their lines of x in the second cache. And the lines of x that no row before had come from memory: in that order the
  hardware does not see that they follow each other, so that the format prefetches them.
*/
#pragma once
#include "../spmvimpl.h"

#define SPMV_NEAR_LINES 1024 /* lines of x that the first cache may have, at most; a power of two */
#define SPMV_NEAR_LANES 8    /* rows that are taken side by side */

/* SpmvNear: the line of x in each place of a cache whose lines have one place each, and what rows took */
typedef struct {
  int32_t    line[SPMV_NEAR_LINES]; /* counted from 1; 0: none */
  int32_t    mask;
  PetscInt64 missed; /* lines that were not there */
  PetscInt64 entries;
  PetscInt64 places; /* entries and what fills the shorter ones of rows side by side */
} SpmvNear;

/* near.c */
extern void           SpmvNearBegin(SpmvNear *near);
extern void           SpmvNearRows(SpmvNear *near, const SpmvCSR *csr, const int32_t row[], PetscInt rows);
extern void           SpmvNearFrom(SpmvNear *near, const SpmvCSR *csr, const int32_t row[], PetscInt m, PetscInt k, PetscInt n);
extern void           SpmvNearOrder(const SpmvCSR *csr, PetscInt first, PetscInt end, PetscInt window, int32_t order[]);
extern PetscInt       SpmvNearAhead(const SpmvCSR *csr);
extern PetscErrorCode SpmvNearMore(const SpmvCSR *csr, PetscInt window, PetscLogDouble *more);
