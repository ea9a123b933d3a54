/*
  sbccoo_look.c - what a sample of the pairs tells, before there is a storage
*/
#include "sbccoo_pairs.h"

#define LOOK_ALL   1024 /* entries up to which all are looked at */
#define LOOK_PART  64   /* beyond: one of so many, ... */
#define LOOK_LEAST 1024 /* ... so many at least, ... */
#define LOOK_MOST  8192 /* ... and so many at most */

/* The row of entry k */
static PetscInt LookRow(const SpmvCSR *csr, PetscInt k)
{
  PetscInt low = 0, high = csr->m - 1;

  while (low < high) {
    const PetscInt middle = low + (high - low + 1) / 2;

    if (csr->i[middle] <= k) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The place of entry (i, j), -1 if there is none */
static PetscInt LookEntry(const SpmvCSR *csr, PetscInt i, PetscInt j)
{
  PetscInt low = csr->i[i], high = csr->i[i + 1];

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (csr->j[middle] < j) low = middle + 1;
    else high = middle;
  }
  return low < csr->i[i + 1] && csr->j[low] == j ? low : -1;
}

/* Evenly spread entries beyond and before the diagonal, and their partners */
SbccooLook SbccooLookAt(const SpmvCSR *csr)
{
  const PetscInt nz    = csr->i[csr->m];
  const PetscInt count = nz <= LOOK_ALL ? nz : PetscMin(LOOK_MOST, PetscMax(LOOK_LEAST, nz / LOOK_PART));
  SbccooLook     look = {0}, conjugate = {.conjugate = PETSC_TRUE};

  for (PetscInt c = 0; c < count; c++) {
    const PetscInt k = (PetscInt)SpmvShare((size_t)nz, c, count), i = LookRow(csr, k), j = csr->j[k];
    const PetscInt other = i != j && j < csr->m && i < csr->n ? LookEntry(csr, j, i) : -1;
    PetscBool      equal, near;
    int8_t         code[SBCCOO_CODES];

    if (i == j) continue;
    near = (PetscBool)(other >= 0 && SbccooCode(csr->a[k], csr->a[other], code, &equal));
    look.looked++;
    look.equal += near && equal;
    look.near += near && !equal;
    near = (PetscBool)(SBCCOO_CODES > 1 && other >= 0 && SbccooCode(PetscConj(csr->a[k]), csr->a[other], code, &equal));
    conjugate.looked++;
    conjugate.equal += near && equal;
    conjugate.near += near && !equal;
  }
  if (conjugate.equal + conjugate.near > look.equal + look.near) look = conjugate;
  look.alone = look.looked - look.equal - look.near;
  return look;
}
