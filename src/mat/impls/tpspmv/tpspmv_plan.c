/*
  tpspmv_plan.c - what a plan leaves open: the cache, empty columns, tiles, slices

  Source: as tpspmv.c, section 4.1.1: tiles have x segments that fit the local memory first, equal nonzeros second.
*/
#include "tpspmv.h"
#include "../../../host/machine.h"

#define TPSPMV_QUANTA      256   /* quanta of columns in a tile of the full width */
#define TPSPMV_SLICE_TILES 4096  /* rows of a slice, with several tiles at least */
#define TPSPMV_SLICE_ONE   8192  /* rows of a slice, with one tile */
#define TPSPMV_SLICE_MAX   65536 /* rows that uint16 counts */
#define TPSPMV_CHUNK       256   /* entries that a chunk should have; with 512 products are 4 % faster, new values take 20 % longer */

#define TPSPMV_FEW 131072 /* entries that are too few for tiles */

/* KiB of the second cache */
static PetscInt TpspmvMachineCache(void)
{
  return (PetscInt)(SpmvMachineGet()->cache[1] / 1024);
}

/* Numbers the columns that have entries, if few enough have, or if asked to */
static PetscErrorCode TpspmvRemoveColumns(const SpmvCSR *csr, TpspmvChoice remove, TpspmvStorage *b)
{
  int32_t *number;
  PetscInt used = 0;

  PetscFunctionBegin;
  b->nused = csr->n;
  if (remove == TPSPMV_NO || (remove == TPSPMV_AUTO && (size_t)csr->n * sizeof(PetscScalar) <= (size_t)b->cache * 1024)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(csr->n, &number));
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) number[csr->j[k]] = 1;
  for (PetscInt c = 0; c < csr->n; c++) used += number[c];
  if (used == csr->n || (remove == TPSPMV_AUTO && used > csr->n / 2)) {
    PetscCall(PetscFree(number));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  b->removed = PETSC_TRUE;
  b->nused   = used;
  b->number  = number;
  PetscCall(SpmvAlloc((size_t)used * sizeof(int32_t), &b->column));
  for (PetscInt c = 0, k = 0; c < csr->n; c++) {
    if (!number[c]) continue;
    b->column[k] = (int32_t)c;
    number[c]    = (int32_t)k++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest power of two of columns whose x takes half the cache: the other half is for what streams by */
static PetscInt TpspmvTile(PetscInt cache)
{
  const size_t half = (size_t)cache * 1024 / 2 / sizeof(PetscScalar);
  PetscInt     tile = 16;

  while ((size_t)tile * 2 <= half && tile < TPSPMV_ALL / 2) tile *= 2;
  return tile;
}

/* One tile, or tiles that fit the cache; nothing to choose where a core may count on a part of the last cache that x fits as a whole */
PetscErrorCode TpspmvPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS])
{
  const PetscInt cache = asked->value[TPSPMV_CACHE] ? asked->value[TPSPMV_CACHE] : TpspmvMachineCache();
  const size_t   most  = (size_t)SpmvMachineGet()->cache[2] / sizeof(PetscScalar);
  TpspmvStorage  b     = {.cache = cache};

  PetscFunctionBegin;
  *n = 0;
  if (round || asked->value[TPSPMV_TILE]) PetscFunctionReturn(PETSC_SUCCESS);
  if ((size_t)csr->n <= most || csr->i[csr->m] < TPSPMV_FEW) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TpspmvRemoveColumns(csr, (TpspmvChoice)asked->value[TPSPMV_REMOVE], &b));
  PetscCall(PetscFree(b.number));
  PetscCall(SpmvFree(&b.column));
  if ((size_t)b.nused <= most) PetscFunctionReturn(PETSC_SUCCESS);
  plans[0] = plans[1]         = *asked;
  plans[0].value[TPSPMV_TILE] = TPSPMV_ALL;
  plans[1].value[TPSPMV_TILE] = TpspmvTile(cache);
  *n                          = 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the columns into as few tiles as their width allows, of as equal numbers of entries as that allows */
static PetscErrorCode TpspmvCutTiles(const SpmvCSR *csr, PetscInt width, TpspmvStorage *b)
{
  PetscInt  *count;
  PetscInt64 left = csr->i[csr->m];
  PetscInt   most;

  PetscFunctionBegin;
  while (width >> (b->quantum + 1) >= TPSPMV_QUANTA) b->quantum++;
  most       = width >> b->quantum; /* quanta of a tile: width is a power of two */
  b->nquanta = ((size_t)b->nused + ((size_t)1 << b->quantum) - 1) >> b->quantum;
  b->ntiles  = PetscMax(1, (PetscInt)((b->nquanta + (size_t)most - 1) / (size_t)most));
  PetscCheck(b->ntiles <= UINT16_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " tiles of %" PetscInt_FMT " columns are more than %d; set -mat_tpspmv_tile or -mat_tpspmv_cache to a larger value", b->ntiles, width, UINT16_MAX);
  PetscCall(PetscMalloc1(b->ntiles + 1, &b->tile));
  b->tile[0]         = 0;
  b->tile[b->ntiles] = (int32_t)b->nused;
  if (b->ntiles == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(b->nquanta, &count));
  PetscCall(PetscMalloc1(b->nquanta, &b->tileof));
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) count[(b->number ? b->number[csr->j[k]] : csr->j[k]) >> b->quantum]++;
  for (PetscInt t = 0, q = 0; t < b->ntiles; t++) {
    const PetscInt   rest = (b->ntiles - t - 1) * most, least = (PetscInt)b->nquanta - rest, first = q; /* what the tiles to come cannot take is for this one */
    const PetscInt64 share = left / (b->ntiles - t);
    PetscInt64       taken = 0;

    while (q < (PetscInt)b->nquanta && q < first + most && (q < least || taken + count[q] / 2 < share)) {
      taken += count[q];
      b->tileof[q++] = (uint16_t)t;
    }
    left -= taken;
    b->tile[t + 1] = (int32_t)PetscMin(b->nused, q << b->quantum);
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slices so high that chunks are not small; with one tile, several for each thread */
static PetscInt TpspmvChooseSlice(const SpmvCSR *csr, const TpspmvStorage *b)
{
  const double wanted = (double)TPSPMV_CHUNK * b->ntiles * csr->m / PetscMax(1, csr->i[csr->m]);
  PetscInt     height = TPSPMV_SLICE_TILES;

  if (b->ntiles == 1) {
    height = TPSPMV_SLICE_ONE;
    while (b->threads > 1 && height > 64 && height > csr->m / (8 * b->threads)) height /= 2;
    return height;
  }
  while (height < wanted && height < TPSPMV_SLICE_MAX) height *= 2;
  return height;
}

/*
  TpspmvResolve - replaces what a plan leaves open

  Note:
  Passes over all columns if x does not fit the cache.
*/
PetscErrorCode TpspmvResolve(const SpmvCSR *csr, SpmvPlan *plan)
{
  PetscInt     *p = plan->value;
  TpspmvStorage b = {0};

  PetscFunctionBegin;
  if (p[TPSPMV_CACHE] && p[TPSPMV_TILE] && p[TPSPMV_SLICE] && p[TPSPMV_REMOVE] != TPSPMV_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TpspmvLayOut(csr, plan, &b));
  PetscCall(PetscFree(b.number));
  PetscCall(PetscFree(b.tileof));
  PetscCall(PetscFree(b.tile));
  PetscCall(SpmvFree(&b.column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  TpspmvLayOut - tiles and slices, and which columns there are

  Input/Output Parameter:
. plan - what is left open is replaced

  Output Parameter:
. b - to be given to TpspmvDestroy(), after an error as well
*/
PetscErrorCode TpspmvLayOut(const SpmvCSR *csr, SpmvPlan *plan, TpspmvStorage *b)
{
  const PetscBool device = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  PetscInt       *p      = plan->value;

  PetscFunctionBegin;
  PetscCheck(csr->m < INT32_MAX && csr->n < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " has more rows or columns than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n);
  if (device) TpspmvDeviceResolve(plan);
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = TpspmvMachineCache();
  b->m       = csr->m;
  b->n       = csr->n;
  b->cache   = p[TPSPMV_CACHE];
  b->longest = p[TPSPMV_LONG];
  b->threads = plan->threads;
  PetscCall(TpspmvRemoveColumns(csr, (TpspmvChoice)p[TPSPMV_REMOVE], b));
  p[TPSPMV_REMOVE] = b->removed ? TPSPMV_YES : TPSPMV_NO;
  if (!p[TPSPMV_TILE]) p[TPSPMV_TILE] = TPSPMV_ALL;
  PetscCall(TpspmvCutTiles(csr, p[TPSPMV_TILE], b));
  if (!p[TPSPMV_SLICE]) p[TPSPMV_SLICE] = device ? TpspmvDeviceSlice(csr, b->ntiles) : TpspmvChooseSlice(csr, b);
  b->height  = p[TPSPMV_SLICE];
  b->nslices = PetscMax(1, (csr->m + b->height - 1) / b->height);
  PetscCheck(b->nslices < INT32_MAX / b->ntiles, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " tiles and %" PetscInt_FMT " slices make more chunks than 32-bit numbers count; set -mat_tpspmv_tile or -mat_tpspmv_slice to a larger value", b->ntiles, b->nslices);
  b->alone = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->uncached);
  b->ahead = (PetscBool)((size_t)csr->i[csr->m] * sizeof(PetscScalar) > (size_t)b->cache * 1024);
  PetscFunctionReturn(PETSC_SUCCESS);
}
