/*
  tpspmv_cut.c - empty columns, tiles, slices

  Source: as tpspmv.c, section 4.1.1: tiles have x segments that fit the local memory first, equal nonzeros second.
*/
#include "tpspmv_cut.h"

#define TPSPMV_QUANTA 256 /* quanta of columns in a tile of the full width */

/* Numbers the columns that have entries, if few enough have, or if asked to; auto: nothing to gain where x fits a cache of so many KiB */
PetscErrorCode TpspmvCutColumns(const SpmvCSR *csr, TpspmvChoice remove, PetscInt cache, TpspmvCut *cut)
{
  int32_t *number;
  PetscInt used = 0;

  PetscFunctionBegin;
  cut->nused = csr->n;
  cut->m     = csr->m;
  cut->n     = csr->n;
  if (remove == TPSPMV_NO || (remove == TPSPMV_AUTO && (size_t)csr->n * sizeof(PetscScalar) <= (size_t)cache * 1024))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(csr->n, &number));
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) number[csr->j[k]] = 1;
  for (PetscInt c = 0; c < csr->n; c++) used += number[c];
  if (used == csr->n || (remove == TPSPMV_AUTO && used > csr->n / 2)) {
    PetscCall(PetscFree(number));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  cut->removed = PETSC_TRUE;
  cut->nused   = used;
  cut->number  = number;
  PetscCall(SpmvAlloc((size_t)used * sizeof(int32_t), &cut->column));
  for (PetscInt c = 0, k = 0; c < csr->n; c++) {
    if (!number[c]) continue;
    cut->column[k] = (int32_t)c;
    number[c]      = (int32_t)k++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest power of two of columns whose x takes half a cache of so many KiB: the other half is for what streams by */
PetscInt TpspmvCutWidth(PetscInt cache)
{
  const size_t half = (size_t)cache * 1024 / 2 / sizeof(PetscScalar);
  PetscInt     tile = 16;

  while ((size_t)tile * 2 <= half && tile < TPSPMV_ALL / 2) tile *= 2;
  return tile;
}

static PetscInt TpspmvQuantum(PetscInt width)
{
  PetscInt quantum = 0;

  while (width >> (quantum + 1) >= TPSPMV_QUANTA) quantum++;
  return quantum;
}

/* Tiles of so many columns, a power of two, at most */
PetscInt TpspmvCutCount(PetscInt nused, PetscInt width)
{
  const PetscInt quantum = TpspmvQuantum(width), most = width >> quantum;
  const size_t   nquanta = ((size_t)nused + ((size_t)1 << quantum) - 1) >> quantum;

  return PetscMax(1, (PetscInt)((nquanta + (size_t)most - 1) / (size_t)most));
}
/* Why a matrix cannot be cut so. Used columns are counted only where that decides */
PetscErrorCode TpspmvCutAllows(const SpmvCSR *csr, TpspmvChoice remove, PetscInt cache, PetscInt width, PetscInt height,
                               char why[], size_t size)
{
  const PetscInt nslices = PetscMax(1, csr->m / height + !!(csr->m % height));
  PetscInt       ntiles  = TpspmvCutCount(csr->n, width);
  SPMV_DESTROY_BY(TpspmvCutDestroy)
  TpspmvCut cut = {0};

  PetscFunctionBegin;
  if (remove == TPSPMV_YES && (ntiles > UINT16_MAX || nslices >= INT32_MAX / ntiles) && csr->n < INT32_MAX) {
    PetscCall(TpspmvCutColumns(csr, remove, cache, &cut));
    ntiles = TpspmvCutCount(cut.nused, width);
  }
  if (csr->m >= INT32_MAX || csr->n >= INT32_MAX) {
    PetscCall(SpmvAppend(why, size,
                         "Local block of %" PetscInt_FMT " x %" PetscInt_FMT
                         " has more rows or columns than 32-bit indices count; use more processes or -mat_type aij",
                         csr->m, csr->n));
  } else if (ntiles > UINT16_MAX) {
    PetscCall(SpmvAppend(why, size,
                         "%" PetscInt_FMT " tiles of %" PetscInt_FMT
                         " columns are more than %d; set -mat_tpspmv_tile or -mat_tpspmv_cache to a larger value",
                         ntiles, width, UINT16_MAX));
  } else if (nslices >= INT32_MAX / ntiles) {
    PetscCall(SpmvAppend(
      why, size,
      "%" PetscInt_FMT " tiles and %" PetscInt_FMT
      " slices make more chunks than 32-bit numbers count; set -mat_tpspmv_tile or -mat_tpspmv_slice to a larger value",
      ntiles, nslices));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the columns into as few tiles as their width allows, of as equal numbers of entries as that allows */
static PetscErrorCode TpspmvCutTiles(const SpmvCSR *csr, PetscInt width, TpspmvCut *cut)
{
  SPMV_TEMPORARY PetscInt *count = NULL;
  PetscInt64               left  = csr->i[csr->m];
  PetscInt                 most;

  PetscFunctionBegin;
  cut->quantum = TpspmvQuantum(width);
  most         = width >> cut->quantum; /* quanta of a tile: width is a power of two */
  cut->nquanta = ((size_t)cut->nused + ((size_t)1 << cut->quantum) - 1) >> cut->quantum;
  cut->ntiles  = TpspmvCutCount(cut->nused, width);
  PetscCall(PetscMalloc1(cut->ntiles + 1, &cut->tile));
  cut->tile[0]           = 0;
  cut->tile[cut->ntiles] = (int32_t)cut->nused;
  if (cut->ntiles == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(cut->nquanta, &count));
  PetscCall(PetscMalloc1(cut->nquanta, &cut->tileof));
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) count[(cut->number ? cut->number[csr->j[k]] : csr->j[k]) >> cut->quantum]++;
  for (PetscInt t = 0, q = 0; t < cut->ntiles; t++) {
    const PetscInt rest = (cut->ntiles - t - 1) * most, least = (PetscInt)cut->nquanta - rest,
                   first   = q; /* what the tiles to come cannot take is for this one */
    const PetscInt64 share = left / (cut->ntiles - t);
    PetscInt64       taken = 0;

    while (q < (PetscInt)cut->nquanta && q < first + most && (q < least || taken + count[q] / 2 < share)) {
      taken += count[q];
      cut->tileof[q++] = (uint16_t)t;
    }
    left -= taken;
    cut->tile[t + 1] = (int32_t)PetscMin(cut->nused, (PetscInt64)q << cut->quantum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  TpspmvCutCreate - tiles of `width` columns at most, slices of `height` rows

  Output Parameter:
. cut - all zeros on entry; to be given to TpspmvCutDestroy(), after an error as well
*/
PetscErrorCode TpspmvCutCreate(const SpmvCSR *csr, TpspmvChoice remove, PetscInt cache, PetscInt width, PetscInt height,
                               TpspmvCut *cut)
{
  PetscFunctionBegin;
  PetscCall(TpspmvCutColumns(csr, remove, cache, cut));
  PetscCall(TpspmvCutTiles(csr, width, cut));
  cut->height  = height;
  cut->nslices = PetscMax(1, csr->m / height + !!(csr->m % height));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what is for a build only */
PetscErrorCode TpspmvCutBuilt(TpspmvCut *cut)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(cut->number));
  PetscCall(PetscFree(cut->tileof));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvCutDestroy(TpspmvCut *cut)
{
  PetscFunctionBegin;
  PetscCall(TpspmvCutBuilt(cut));
  PetscCall(PetscFree(cut->tile));
  PetscCall(SpmvFree(&cut->column));
  PetscFunctionReturn(PETSC_SUCCESS);
}
