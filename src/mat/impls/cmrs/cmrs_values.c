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

/* The steps of a band, whose first entry goes to place k; returns the place after the last */
static inline __attribute__((always_inline)) PetscInt CmrsPlaceSteps(const SpmvCSR *csr, CmrsStorage *c, PetscInt b, const uint8_t active[], PetscInt k, PetscBool words)
{
  const CmrsBand band  = CmrsBandOf(csr, c, b);
  const PetscInt steps = c->step[b].all;
  PetscInt       place[CMRS_STEPS_MAX];

  for (PetscInt t = 0; t < steps; t++) {
    place[t] = k;
    k += active[t];
  }
  for (PetscInt r = 0; r < band.rows; r++) {
    const PetscInt lane = c->lane[b * CMRS_VECTOR + r], n = PetscMin(steps, band.i[r + 1] - band.i[r]);

    for (PetscInt t = 0; t < n; t++) CmrsPlace(csr, c, place[t] + lane, band.i[r] + t, b % c->bands * CMRS_VECTOR + r, words);
  }
  return k;
}

/* The values in interleaved order, and the words if they are wanted */
static inline __attribute__((always_inline)) void CmrsPlaceAll(const SpmvCSR *csr, CmrsStorage *c, PetscBool words)
{
  const uint8_t *active = c->active;

  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt  *i = csr->i + s * c->height, rows = CmrsRows(c, s);
    const CmrsSteps *step = c->step + s * c->bands;
    PetscInt         k    = c->strip[s];

    for (PetscInt b = 0; b < c->bands; active += step[b++].all) k = CmrsPlaceSteps(csr, c, s * c->bands + b, active, k, words);
    for (int longer = 0; k < c->strip[s + 1] && longer < 2; longer++) { /* tails, then segments */
      for (PetscInt r = 0; r < rows; r++) {
        const PetscInt from = i[r] + step[r / CMRS_VECTOR].all;

        if (longer != (i[r + 1] - from > CMRS_TAIL_MAX)) continue;
        for (PetscInt q = from; q < i[r + 1]; q++) CmrsPlace(csr, c, k++, q, r, words);
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
