/*
  cmrs_values.c - the values of a CMRS storage, and with them the words where both are placed in the same way
*/
#include "cmrs.h"

/* Entry `from` of CSR, of a row of its strip, goes to place k */
static inline void CmrsPlace(const SpmvCSR *csr, CmrsStorage *c, PetscInt k, PetscInt from, PetscInt row, PetscBool words)
{
  c->value[k] = csr->a[from];
  if (words) CmrsSetWord(c, k, csr->j[from], row);
}

/* The part [from, end) of a row goes to the places from k on */
static inline PetscInt CmrsPlaceRest(const SpmvCSR *csr, CmrsStorage *c, PetscInt k, PetscInt from, PetscInt end, PetscInt row, PetscBool words)
{
  for (; from < end; from++) CmrsPlace(csr, c, k++, from, row, words);
  return k;
}

/* The values in interleaved order, and the words if they are wanted */
static inline __attribute__((always_inline)) void CmrsPlaceAll(const SpmvCSR *csr, CmrsStorage *c, PetscBool words)
{
  const uint8_t *mask = c->mask;

  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt *i = csr->i + s * c->height, rows = CmrsRows(c, s), steps = c->step[s];
    PetscInt        k = c->strip[s], place[CMRS_STEPS_MAX]; /* of the next row's entry in each step */

    for (PetscInt t = 0; t < steps; t++) {
      place[t] = k;
      for (PetscInt half = 0; half < c->halves; half++) k += __builtin_popcount(*mask++);
    }
    for (PetscInt r = 0; r < rows; r++) {
      const PetscInt n = PetscMin(steps, i[r + 1] - i[r]);

      for (PetscInt t = 0; t < n; t++) CmrsPlace(csr, c, place[t]++, i[r] + t, r, words);
    }
    for (int longer = 0; longer < 2; longer++) { /* see CmrsChunk */
      for (PetscInt r = 0; r < rows; r++) {
        if (i[r + 1] - i[r] > steps && longer == (i[r + 1] - i[r] - steps > CMRS_TAIL_MAX)) k = CmrsPlaceRest(csr, c, k, i[r] + steps, i[r + 1], r, words);
      }
    }
  }
}

void CmrsInterleave(const SpmvCSR *csr, CmrsStorage *c, PetscBool words)
{
  if (words) CmrsPlaceAll(csr, c, PETSC_TRUE);
  else CmrsPlaceAll(csr, c, PETSC_FALSE);
}

/* The values of a matrix with the pattern that the storage was built for */
PetscErrorCode CmrsSetValues(const SpmvCSR *csr, void *storage)
{
  CmrsStorage *c = (CmrsStorage *)storage;

  PetscFunctionBegin;
  if (c->order == CMRS_ORDER_INTERLEAVED) CmrsInterleave(csr, c, PETSC_FALSE);
  else if (c->order == CMRS_ORDER_ROWS) memcpy(c->value, csr->a, (size_t)c->nz * sizeof(PetscScalar));
  else {
    for (PetscInt k = 0; k < c->nstored; k++) c->value[k] = c->position[k] < 0 ? 0 : csr->a[c->position[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
