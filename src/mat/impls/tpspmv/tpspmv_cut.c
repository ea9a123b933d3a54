/*
  tpspmv_cut.c - empty columns, tiles, slices; CSR as pairs of a tile and a row

  Source: as tpspmv.c, section 4.1.1: tiles have x segments that fit the local memory first, equal nonzeros second.
*/
#include "tpspmv_cut.h"

#define TPSPMV_QUANTA 256 /* quanta of columns in a tile of the full width */
#define TPSPMV_STRIDE 64  /* rows between those looked at one after the other for empty columns: few tell that most are full */
#define TPSPMV_SPREAD 512 /* rows looked at for entries on the diagonal */

/* True if rows spread over a square matrix have an entry on the diagonal, three of four at least: so most columns are not
   empty */
static PetscBool TpspmvDiagonalFull(const SpmvCSR *csr)
{
  const PetscInt rows = PetscMin(csr->m, TPSPMV_SPREAD);
  PetscInt       full = 0;

  if (csr->m != csr->n) return PETSC_FALSE;
  for (PetscInt k = 0; k < rows; k++) {
    const PetscInt r = (PetscInt)((PetscInt64)csr->m * k / rows);
    PetscInt       e = csr->i[r];

    while (e < csr->i[r + 1] && csr->j[e] != r) e++;
    full += e < csr->i[r + 1];
  }
  return (PetscBool)(4 * full >= 3 * rows);
}

/*
  TpspmvColumnsLeft - counts the columns that a plan's knobs p, with `cache`, leave

  Where they remove any, and number is not NULL, *number is an array for the caller: the number of each column, negative if empty
*/
PetscErrorCode TpspmvColumnsLeft(const SpmvCSR *csr, const PetscInt p[], PetscInt *nused, int32_t **number)
{
  const PetscBool      open = (PetscBool)(p[TPSPMV_REMOVE] == TPSPMV_AUTO);
  const PetscInt       most = open ? csr->n / 2 : csr->n - 1; /* if more are left none are removed */
  SPMV_TEMPORARY char *used = NULL;
  PetscInt             n    = 0;

  PetscFunctionBegin;
  *nused = csr->n;
  if (p[TPSPMV_REMOVE] == TPSPMV_NO) PetscFunctionReturn(PETSC_SUCCESS);
  if (open && (size_t)csr->n * sizeof(PetscScalar) <= (size_t)p[TPSPMV_CACHE] * 1024) PetscFunctionReturn(PETSC_SUCCESS);
  if (open && TpspmvDiagonalFull(csr)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(csr->n, &used));
  for (PetscInt first = 0; first < TPSPMV_STRIDE && n <= most; first++) {
    for (PetscInt r = first; r < csr->m && n <= most; r += TPSPMV_STRIDE) {
      for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
        n += !used[csr->j[k]];
        used[csr->j[k]] = 1;
      }
    }
  }
  if (n > most) PetscFunctionReturn(PETSC_SUCCESS);
  *nused = n;
  if (!number) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(csr->n, number));
  for (PetscInt c = n = 0; c < csr->n; c++) (*number)[c] = used[c] ? (int32_t)n++ : -1;
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

/* Why a matrix cannot be cut so */
PetscErrorCode TpspmvAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt  *p = plan->value, nslices = TpspmvParts(csr->m, p[TPSPMV_SLICE]);
  const PetscInt64 most  = (PetscInt64)p[TPSPMV_TILE] * PetscMin(UINT16_MAX, (INT32_MAX - 1) / nslices); /* columns */
  PetscInt         nused = csr->n;

  PetscFunctionBegin;
  (void)info;
  if (nused > most) PetscCall(TpspmvColumnsLeft(csr, p, &nused, NULL));
  if (csr->m >= INT32_MAX || csr->n >= INT32_MAX) {
    PetscCall(SpmvAppend(why, size,
                         "Local block of %" PetscInt_FMT " x %" PetscInt_FMT
                         " has more rows or columns than 32-bit indices count; use more processes or -mat_type aij",
                         csr->m, csr->n));
  } else if (nused > most) {
    PetscCall(SpmvAppend(why, size,
                         "%" PetscInt_FMT " tiles of %" PetscInt_FMT " columns and %" PetscInt_FMT " slices are too many; ",
                         TpspmvParts(nused, p[TPSPMV_TILE]), p[TPSPMV_TILE], nslices));
    PetscCall(SpmvAppend(why, size, "set -mat_tpspmv_tile, -mat_tpspmv_cache or -mat_tpspmv_slice to a larger value"));
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

/* Tiles and slices by a plan's knobs, which are resolved; to be given to TpspmvCutDestroy(), after an error as well */
PetscErrorCode TpspmvCutCreate(const SpmvCSR *csr, const PetscInt p[], TpspmvCut *cut)
{
  PetscFunctionBegin;
  *cut         = (TpspmvCut){.m = csr->m, .n = csr->n, .cache = p[TPSPMV_CACHE], .height = p[TPSPMV_SLICE]};
  cut->nslices = TpspmvParts(cut->m, cut->height);
  PetscCall(TpspmvColumnsLeft(csr, p, &cut->nused, &cut->number));
  if (cut->number) PetscCall(SpmvAlloc((size_t)cut->nused * sizeof(int32_t), &cut->column));
  for (PetscInt c = 0; cut->number && c < cut->n; c++) {
    if (cut->number[c] >= 0) cut->column[cut->number[c]] = (int32_t)c;
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

/* The pairs of slice s, in the order of CSR; returns the end of them */
static TpspmvPair *TpspmvFindPairs(const SpmvCSR *csr, const TpspmvCut *cut, PetscInt s, PetscInt longest, PetscInt part,
                                   TpspmvPair *pair)
{
  const int      direct = TpspmvIsDirect(cut);
  const PetscInt first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1);

  for (PetscInt r = first; r < end; r++) {
    for (PetscInt k = csr->i[r], stop = csr->i[r + 1]; k < stop;) {
      const int32_t tile = direct ? 0 : cut->tileof[TpspmvNumber(cut, csr, k) >> cut->quantum], limit = cut->tile[tile + 1];
      PetscInt      next = direct ? stop : k + 1;

      while (next < stop && TpspmvNumber(cut, csr, next) < limit) next++;
      if (next - k <= longest) {
        *pair++ = (TpspmvPair){(int32_t)(r - first), (int32_t)(next - k), k, tile, 0, 0};
        k       = next;
      }
      for (int32_t p = 1, length; k < next; k += length, p++) {
        length  = (int32_t)PetscMin(part, next - k);
        *pair++ = (TpspmvPair){(int32_t)(r - first), length, k, tile, p, 0};
      }
    }
  }
  return pair;
}

/*
  TpspmvWalk - calls visit() for each chunk, slice after slice, in a slice tile after tile, in time linear in the entries

  Input Parameters:
+ longest - entries of a pair, at most: what a tile and a row have more in common makes several pairs, one after the other, ...
- part    - ... of so many entries each, but the last
*/
PetscErrorCode TpspmvWalk(const SpmvCSR *csr, const TpspmvCut *cut, PetscInt longest, PetscInt part, TpspmvVisit *visit,
                          void *context)
{
  const int                  direct = TpspmvIsDirect(cut);
  SPMV_TEMPORARY TpspmvPair *found = NULL, *pair = NULL; /* of a slice: as they are found, and tile after tile */
  SPMV_TEMPORARY PetscInt   *at   = NULL;                /* [ntiles + 2] the first of each tile in pair[] */
  PetscInt64                 most = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const PetscInt entries = csr->i[TpspmvSliceFirst(cut, s + 1)] - csr->i[TpspmvSliceFirst(cut, s)];

    most = PetscMax(most, PetscMin(entries, (PetscInt64)cut->height * cut->ntiles + entries / part));
  }
  PetscCall(PetscMalloc1(most, &pair));
  PetscCall(PetscMalloc1(cut->ntiles + 2, &at));
  if (!direct) PetscCall(PetscMalloc1(most, &found));
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const TpspmvPair *last = TpspmvFindPairs(csr, cut, s, longest, part, direct ? pair : found);

    PetscCall(PetscArrayzero(at, cut->ntiles + 2));
    if (direct) at[1] = (PetscInt)(last - pair);
    for (const TpspmvPair *p = found; p < last && !direct; p++) at[p->tile + 2]++;
    for (PetscInt t = 2; t <= cut->ntiles; t++) at[t] += at[t - 1];
    for (const TpspmvPair *p = found; p < last && !direct; p++) pair[at[p->tile + 1]++] = *p;
    for (PetscInt t = 0; t < cut->ntiles; t++)
      visit(context, t * cut->nslices + s, TpspmvSliceFirst(cut, s), pair + at[t], at[t + 1] - at[t]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
