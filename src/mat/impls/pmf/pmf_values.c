/*
  pmf_values.c - the values of a PMF storage, from CSR's: at a build, and whenever they change
*/
#include "pmf.h"

/* The values of steps [0, n) of which each entry is listed */
static inline void PmfSetListed(const PetscScalar *a, const uint32_t *from, size_t n, PetscScalar *v)
{
  for (size_t k = 0; k < PMF_LANES * n; k++) v[k] = a[from[k]];
}

/* The values of a slice's steps of one column, and of those that share pieces of x */
static inline void PmfSetSame(const PmfStorage *b, const PmfRun *run, size_t slice, const SpmvCSR *csr, const uint32_t *from, PetscScalar *v)
{
  const PetscScalar *lane[PMF_LANES] = {NULL};

  for (size_t l = 0; l < PMF_LANES; l++) lane[l] = run->flags & PMF_ALONE ? csr->a + l : csr->a + csr->i[PmfRow(b, run, PMF_LANES * slice + l)];
  for (size_t k = 0; k < PmfOnes(run); k++, v += PMF_LANES) {
    for (size_t l = 0; l < PMF_LANES; l++) v[l] = lane[l][from[k]];
  }
  for (size_t k = 0; k < (size_t)run->steps[PMF_NEAR]; k++) {
    for (size_t t = 0; t < (size_t)run->near; t++, v += PMF_LANES) {
      for (size_t l = 0; l < PMF_LANES; l++) v[l] = lane[l][from[k] + t];
    }
  }
}

/*
  PmfSetValues - the values of the matrix into a storage with its pattern

  Input Parameters:
+ csr     - the matrix
- storage - made by PmfBuild() from a matrix with the same pattern
*/
PetscErrorCode PmfSetValues(const SpmvCSR *csr, void *storage)
{
  PmfStorage        *b    = (PmfStorage *)storage;
  const PetscScalar *a    = csr->a;
  const uint32_t    *from = b->from;
  const uint8_t     *mask = b->mask;
  PetscScalar       *v    = b->value;

  PetscFunctionBegin;
  PmfEllSetValues(csr, &b->ell);
  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) {
    const size_t near = (size_t)run->steps[PMF_NEAR], same = PmfOnes(run) + near, pairs = (size_t)run->steps[PMF_PAIRED], masked = PmfMaskedSteps(run);
    const size_t together = same + pairs + masked ? 1 : PmfSlices(run); /* slices of gathered steps only are set as one */
    const size_t gathered = (size_t)run->steps[PMF_GATHERED] * together;

    for (size_t s = 0; s < PmfSlices(run); s += together) {
      if (same) PmfSetSame(b, run, s, csr, from, v);
      from += same;
      v += PMF_LANES * (same - near + near * (size_t)run->near);
      for (size_t k = 0; k < pairs; k++, from += PMF_LANES, v += 2 * PMF_LANES) {
        for (size_t l = 0; l < PMF_LANES; l++) {
          v[l]             = a[from[l]];
          v[PMF_LANES + l] = a[from[l] + 1];
        }
      }
      PmfSetListed(a, from, gathered, v);
      from += PMF_LANES * gathered;
      v += PMF_LANES * gathered;
      for (size_t k = 0; k < masked; k++, mask++, from += PMF_LANES, v += PMF_LANES) {
        for (size_t l = 0; l < PMF_LANES; l++) v[l] = *mask >> l & 1 ? a[from[l]] : 0;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
