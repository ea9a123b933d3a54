/*
  tpspmv_cut.c - empty columns, tiles, slices

  Source: as tpspmv.c, section 4.1.1: tiles have x segments that fit the local memory first, equal nonzeros second.
*/
#include "tpspmv_cut.h"

#define TPSPMV_QUANTA 256 /* quanta of columns in a tile of the full width */

/*
  TpspmvColumnsLeft - counts the columns that a plan's knobs p, with `cache`, leave

  Where they remove any, and number is not NULL, *number is an array for the caller: 1 for a column that has entries, else 0
*/
PetscErrorCode TpspmvColumnsLeft(const SpmvCSR *csr, const PetscInt p[], PetscInt *nused, int32_t **number)
{
  const PetscBool         open = (PetscBool)(p[TPSPMV_REMOVE] == TPSPMV_AUTO);
  SPMV_TEMPORARY int32_t *used = NULL;
  PetscInt                n    = 0;

  PetscFunctionBegin;
  *nused = csr->n;
  if (p[TPSPMV_REMOVE] == TPSPMV_NO) PetscFunctionReturn(PETSC_SUCCESS);
  if (open && (size_t)csr->n * sizeof(PetscScalar) <= (size_t)p[TPSPMV_CACHE] * 1024) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(csr->n, &used));
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) used[csr->j[k]] = 1;
  for (PetscInt c = 0; c < csr->n; c++) n += used[c];
  if (n == csr->n || (open && n > csr->n / 2)) PetscFunctionReturn(PETSC_SUCCESS);
  *nused = n;
  if (!number) PetscFunctionReturn(PETSC_SUCCESS);
  *number = used;
  used    = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces `remove` auto by yes or no. Columns are counted only where that, or an open `tile` or `slice`, depends on it */
PetscErrorCode TpspmvResolveRemove(const SpmvCSR *csr, PetscInt p[], PetscInt *nused)
{
  PetscFunctionBegin;
  *nused = csr->n;
  if (p[TPSPMV_REMOVE] == TPSPMV_YES && p[TPSPMV_TILE] && p[TPSPMV_SLICE]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TpspmvColumnsLeft(csr, p, nused, NULL));
  p[TPSPMV_REMOVE] = *nused < csr->n ? TPSPMV_YES : TPSPMV_NO;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest power of two of columns whose x takes half a cache of so many KiB: the other half is for what streams by */
PetscInt TpspmvTileWidth(PetscInt cache)
{
  const size_t half = (size_t)cache * 1024 / 2 / sizeof(PetscScalar);
  PetscInt     tile = 16;

  while ((size_t)tile * 2 <= half && tile < TPSPMV_ALL / 2) tile *= 2;
  return tile;
}

/* Rows of a slice, at least so many, for chunks of so many entries where there are several tiles */
PetscInt TpspmvSliceHeight(const SpmvCSR *csr, PetscInt ntiles, PetscInt least, PetscInt entries)
{
  const double wanted = (double)entries * ntiles * csr->m / PetscMax(1, csr->i[csr->m]);
  PetscInt     height = least;

  while (ntiles > 1 && height < wanted && height < UINT16_MAX) height *= 2;
  return height;
}

/* Why a matrix cannot be cut so. Used columns are counted only where that decides */
PetscErrorCode TpspmvAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt *p = plan->value, nslices = TpspmvParts(csr->m, p[TPSPMV_SLICE]);
  PetscInt        nused, ntiles            = TpspmvParts(csr->n, p[TPSPMV_TILE]);

  PetscFunctionBegin;
  (void)info;
  if (p[TPSPMV_REMOVE] == TPSPMV_YES && (ntiles > UINT16_MAX || nslices >= INT32_MAX / ntiles) && csr->n < INT32_MAX) {
    PetscCall(TpspmvColumnsLeft(csr, p, &nused, NULL));
    ntiles = TpspmvParts(nused, p[TPSPMV_TILE]);
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
                         ntiles, p[TPSPMV_TILE], UINT16_MAX));
  } else if (nslices >= INT32_MAX / ntiles) {
    PetscCall(SpmvAppend(
      why, size,
      "%" PetscInt_FMT " tiles and %" PetscInt_FMT
      " slices make more chunks than 32-bit numbers count; set -mat_tpspmv_tile or -mat_tpspmv_slice to a larger value",
      ntiles, nslices));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the columns into as few tiles as their width, a power of two, allows, of as equal numbers of entries as that allows */
static PetscErrorCode TpspmvCutTiles(const SpmvCSR *csr, PetscInt width, TpspmvCut *cut)
{
  SPMV_TEMPORARY PetscInt *count = NULL;
  PetscInt64               left  = csr->i[csr->m];
  PetscInt                 most, nquanta;

  PetscFunctionBegin;
  while (width >> (cut->quantum + 1) >= TPSPMV_QUANTA) cut->quantum++;
  most        = width >> cut->quantum; /* quanta of a tile */
  nquanta     = TpspmvParts(cut->nused, (PetscInt)1 << cut->quantum);
  cut->ntiles = TpspmvParts(cut->nused, width);
  PetscCall(PetscCalloc1(cut->ntiles + 1, &cut->tile));
  cut->tile[cut->ntiles] = (int32_t)cut->nused;
  if (cut->ntiles == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(nquanta, &count));
  PetscCall(PetscMalloc1(nquanta, &cut->tileof));
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) count[TpspmvNumber(cut, csr, k) >> cut->quantum]++;
  for (PetscInt t = 0, q = 0; t < cut->ntiles; t++) {
    const PetscInt   least = nquanta - (cut->ntiles - t - 1) * most, first = q; /* what later tiles cannot take is for this one */
    const PetscInt64 wanted = left / (cut->ntiles - t);
    PetscInt64       taken  = 0;

    while (q < nquanta && q < first + most && (q < least || taken + count[q] / 2 < wanted)) {
      taken += count[q];
      cut->tileof[q++] = (uint16_t)t;
    }
    left -= taken;
    cut->tile[t + 1] = (int32_t)PetscMin(cut->nused, (PetscInt64)q << cut->quantum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  TpspmvCutCreate - tiles and slices by a plan's knobs, which are resolved

  Output Parameter:
. cut - to be given to TpspmvCutDestroy(), after an error as well
*/
PetscErrorCode TpspmvCutCreate(const SpmvCSR *csr, const PetscInt p[], TpspmvCut *cut)
{
  PetscFunctionBegin;
  *cut         = (TpspmvCut){.m = csr->m, .n = csr->n, .cache = p[TPSPMV_CACHE], .height = p[TPSPMV_SLICE]};
  cut->nslices = TpspmvParts(cut->m, cut->height);
  PetscCall(TpspmvColumnsLeft(csr, p, &cut->nused, &cut->number));
  if (cut->number) PetscCall(SpmvAlloc((size_t)cut->nused * sizeof(int32_t), &cut->column));
  for (PetscInt c = 0, k = 0; cut->number && c < cut->n; c++) {
    if (!cut->number[c]) continue;
    cut->column[k] = (int32_t)c;
    cut->number[c] = (int32_t)k++;
  }
  PetscCall(TpspmvCutTiles(csr, p[TPSPMV_TILE], cut));
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

PetscErrorCode TpspmvCutDescribe(const TpspmvCut *cut, char line[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(line, size,
                          "%" PetscInt_FMT " tiles for a cache of %" PetscInt_FMT " KiB, %" PetscInt_FMT
                          " slices of %" PetscInt_FMT " rows, %" PetscInt_FMT " empty columns removed",
                          cut->ntiles, cut->cache, cut->nslices, cut->height, cut->n - cut->nused));
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
