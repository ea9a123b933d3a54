/*
  tpspmv_tiles.c - one tile or several on a device, by the bytes that each would move

  The paper's CPE has no cache: what is not in its LDM is not there, so that tiles are as wide as the LDM. A device's cache also
  has what the rows that run at the same time share, and a matrix whose rows are ordered needs no tiles, however long x is.
*/
#include "tpspmv_device.h"

#define TPSPMV_SECTOR 32   /* bytes that a gather brings, at least */
#define TPSPMV_FULL   2048 /* rows that a processor has at once: the work items of an NVIDIA's of compute capability 8.0 or 9.0 */

/* Bytes of x that one tile moves, where so many rows at once share a cache of so many bytes */
static PetscErrorCode TpspmvOneTileMoves(const SpmvCSR *csr, PetscInt rows, PetscLogDouble cache, PetscLogDouble *bytes)
{
  const PetscInt          width = TPSPMV_SECTOR / (PetscInt)sizeof(PetscScalar); /* columns of a sector */
  SPMV_TEMPORARY int32_t *last  = NULL; /* which rows needed each sector last: 1, 2, ...; 0: none */
  int32_t                 now   = 0;

  PetscFunctionBegin;
  *bytes = 0;
  PetscCall(PetscCalloc1(csr->n / width + 1, &last));
  for (PetscInt first = 0; first < csr->m; first += rows) {
    PetscLogDouble fresh = 0, all = 0, gathers = 0, missed; /* sectors that the rows before had not; all; loads of one */

    now++;
    for (PetscInt r = first; r < PetscMin(csr->m, first + rows); r++) {
      for (PetscInt k = csr->i[r], before = -1; k < csr->i[r + 1]; k++) {
        const PetscInt sector = csr->j[k] / width;

        gathers += sector != before;
        all += last[sector] != now;
        fresh += !last[sector] || last[sector] < now - 1;
        last[sector] = now;
        before       = sector;
      }
    }
    missed = all * TPSPMV_SECTOR > cache ? gathers * (1 - cache / (all * TPSPMV_SECTOR)) : 0;
    *bytes += TPSPMV_SECTOR * PetscMax(fresh, missed);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that tiles of so many columns move for x, which comes once, and for the two phases of each pair, less those of rows */
static PetscLogDouble TpspmvTilesMove(const SpmvCSR *csr, PetscInt width)
{
  const PetscLogDouble pair = 2 * sizeof(PetscScalar) + sizeof(int32_t) + 1, row = sizeof(int32_t) + 1;
  PetscLogDouble       pairs = 0;

  for (PetscInt r = 0; r < csr->m; r++) {
    for (PetscInt k = csr->i[r], tile = -1; k < csr->i[r + 1]; k++) {
      pairs += csr->j[k] / width != tile;
      tile = csr->j[k] / width;
    }
  }
  return (PetscLogDouble)csr->n * sizeof(PetscScalar) + pairs * pair - (PetscLogDouble)csr->m * row;
}

/* Whether one tile moves less than tiles of so many columns, where x does not fit the cache of so many KiB */
PetscErrorCode TpspmvOneTileMovesLess(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt cache, PetscInt width,
                                      PetscBool *one)
{
  const PetscInt rows = (PetscInt)PetscMin((size_t)PetscMax(1, csr->m), PetscMax(1, info->units) * TPSPMV_FULL);
  PetscLogDouble bytes;

  PetscFunctionBegin;
  PetscCall(TpspmvOneTileMoves(csr, rows, 1024. * (PetscLogDouble)cache, &bytes));
  *one = (PetscBool)(bytes <= TpspmvTilesMove(csr, width));
  PetscFunctionReturn(PETSC_SUCCESS);
}
