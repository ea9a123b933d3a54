/*
  tpspmv_host.c - tpSpMV on this processor: knobs, what a plan leaves open, the work of a product, what is printed
*/
#include "tpspmv_host.h"
#include "../../../../host/machine.h"

#define TPSPMV_SLICE_TILES 4096  /* rows of a slice, with several tiles at least */
#define TPSPMV_SLICE_ONE   8192  /* rows of a slice, with one tile */
#define TPSPMV_SLICE_MAX   65536 /* rows that uint16 counts */
#define TPSPMV_CHUNK       256 /* entries that a chunk should have; with 512 products are 4 % faster, new values take 20 % longer */

#define TPSPMV_FEW 131072 /* entries that are too few for tiles */

static const SpmvParam TpspmvParams[] = {
  [TPSPMV_CACHE]  = TPSPMV_PARAM_CACHE,
  [TPSPMV_TILE]   = TPSPMV_PARAM_TILE,
  [TPSPMV_SLICE]  = TPSPMV_PARAM_SLICE,
  [TPSPMV_LONG]   = TPSPMV_PARAM_LONG,
  [TPSPMV_REMOVE] = TPSPMV_PARAM_REMOVE,
  [TPSPMV_STREAM] = SPMV_CHOICES("stream", "partial sums go past the cache, auto: where they are large", TpspmvChoices,
                                 TpspmvChoiceNames, SPMV_KNOB_LAYOUT),
};

/* KiB of the second cache */
static PetscInt TpspmvMachineCache(void)
{
  return (PetscInt)(SpmvMachineGet()->cache[1] / 1024);
}

/* One tile, or tiles that fit the cache; nothing to choose where a core may count on a part of the last cache that x fits as a whole */
static PetscErrorCode TpspmvPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n,
                                    SpmvPlan plans[SPMV_PROPOSALS])
{
  const PetscInt *p     = asked->value;
  const PetscInt  cache = p[TPSPMV_CACHE] ? p[TPSPMV_CACHE] : TpspmvMachineCache();
  const size_t    most  = (size_t)SpmvMachineGet()->cache[2] / sizeof(PetscScalar); /* entries of x */
  SPMV_DESTROY_BY(TpspmvCutDestroy)
  TpspmvCut cut = {0};

  PetscFunctionBegin;
  *n = 0;
  if (round || p[TPSPMV_TILE] || (size_t)csr->n <= most || csr->i[csr->m] < TPSPMV_FEW) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TpspmvCutColumns(csr, (TpspmvChoice)p[TPSPMV_REMOVE], cache, &cut));
  if ((size_t)cut.nused <= most) PetscFunctionReturn(PETSC_SUCCESS);
  plans[0] = plans[1]         = *asked;
  plans[0].value[TPSPMV_TILE] = TPSPMV_ALL;
  plans[1].value[TPSPMV_TILE] = TpspmvCutWidth(cache);
  *n                          = 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slices so high that chunks are not small; with one tile, several for each thread */
static PetscInt TpspmvChooseSlice(const SpmvCSR *csr, PetscInt ntiles, PetscInt threads)
{
  const double wanted = (double)TPSPMV_CHUNK * ntiles * csr->m / PetscMax(1, csr->i[csr->m]);
  PetscInt     height = TPSPMV_SLICE_TILES;

  if (ntiles == 1) {
    height = TPSPMV_SLICE_ONE;
    while (threads > 1 && height > 64 && height > csr->m / (8 * threads)) height /= 2;
    return height;
  }
  while (height < wanted && height < TPSPMV_SLICE_MAX) height *= 2;
  return height;
}

/* Passes over all columns if it is open whether empty ones are removed */
static PetscErrorCode TpspmvResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *p = plan->value;
  SPMV_DESTROY_BY(TpspmvCutDestroy)
  TpspmvCut cut = {.nused = csr->n};

  PetscFunctionBegin;
  (void)info;
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = TpspmvMachineCache();
  if (!p[TPSPMV_TILE]) p[TPSPMV_TILE] = TPSPMV_ALL;
  if (p[TPSPMV_REMOVE] != TPSPMV_NO && (p[TPSPMV_REMOVE] == TPSPMV_AUTO || !p[TPSPMV_SLICE])) {
    PetscCall(TpspmvCutColumns(csr, (TpspmvChoice)p[TPSPMV_REMOVE], p[TPSPMV_CACHE], &cut));
    p[TPSPMV_REMOVE] = cut.removed ? TPSPMV_YES : TPSPMV_NO;
  }
  if (!p[TPSPMV_SLICE]) p[TPSPMV_SLICE] = TpspmvChooseSlice(csr, TpspmvCutCount(cut.nused, p[TPSPMV_TILE]), plan->threads);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt *p = plan->value;

  PetscFunctionBegin;
  (void)info;
  PetscCall(TpspmvCutAllows(csr, (TpspmvChoice)p[TPSPMV_REMOVE], p[TPSPMV_CACHE], p[TPSPMV_TILE], p[TPSPMV_SLICE], why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every array of a storage, in one place for its size and for those who send it; partial sums are what products write */
static PetscErrorCode TpspmvArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  PetscInt             k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nentries + b->nlong, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->index, b->nentries, TpspmvIndexSize(b->narrow));
  arrays[k++] = SPMV_ARRAY("rows", b->row, b->npairs, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("chunks", b->chunk, (size_t)b->cut.ntiles * (size_t)b->cut.nslices + 1, sizeof(TpspmvChunk));
  arrays[k++] = SPMV_ARRAY("runs", b->run, b->nruns, sizeof(TpspmvRun));
  arrays[k++] = SPMV_ARRAY("ragged", b->ragged, b->nragged, sizeof(uint8_t));
  if (b->npieces) {
    arrays[k++] = SPMV_ARRAY("pieces", b->piece, b->npieces + 1, sizeof(TpspmvPiece));
    arrays[k++] = SPMV_ARRAY("columns of pieces", b->longindex, b->nlong, TpspmvIndexSize(b->narrowlong));
  }
  if (b->cut.removed) arrays[k++] = SPMV_ARRAY("columns left", b->cut.column, (size_t)b->cut.nused, sizeof(int32_t));
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles of Zen 4, fitted to 82 matrices */
#define TPSPMV_CYCLES_PAIR   0.7
#define TPSPMV_CYCLES_RUN    7.0
#define TPSPMV_CYCLES_RAGGED 5.5
#define TPSPMV_CYCLES_PIECE  53.0
#define TPSPMV_CYCLES_BUILD  35.0 /* of an entry */

/* A few rows have as many chunks as a slice would, and about as many runs: all but their share is taken back. Their empty columns are not the matrix's */
static PetscErrorCode TpspmvWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  TpspmvStorage *b;
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       narrays;
  SpmvPlan       whole = *plan;
  PetscErrorCode ierr;
  double         share;

  PetscFunctionBegin;
  if (whole.value[TPSPMV_REMOVE] == TPSPMV_AUTO) whole.value[TPSPMV_REMOVE] = TPSPMV_NO;
  PetscCall(TpspmvResolve(rows, NULL, &whole)); /* a proposal leaves slices open */
  PetscCall(PetscNew(&b));
  ierr = TpspmvMeasure(rows, &whole, b);
  if (!ierr) {
    PetscCall(TpspmvArrays(b, &narrays, arrays));
    share = TpspmvIsDirect(b) ? 1 : PetscMin(1, (double)rows->m / (double)b->cut.height);
    work->bytes += SpmvArraysRead(narrays, arrays) -
                   (1 - share) * (double)((size_t)b->cut.ntiles * sizeof(TpspmvChunk) + b->nruns * sizeof(TpspmvRun));
    if (!TpspmvIsDirect(b)) {
      work->moved += (PetscLogDouble)(b->npairs * sizeof(PetscScalar));
      work->reach = (PetscLogDouble)plan->value[TPSPMV_TILE] * sizeof(PetscScalar);
    }
    work->vectors += (PetscLogDouble)(b->nentries + b->nlong) / TPSPMV_LANES;
    work->gathered += (PetscLogDouble)(b->nentries + b->nlong - b->nconsecutive);
    work->cycles += TPSPMV_CYCLES_PAIR * (PetscLogDouble)b->npairs + TPSPMV_CYCLES_RUN * share * (PetscLogDouble)b->nruns;
    work->cycles += TPSPMV_CYCLES_RAGGED * (PetscLogDouble)b->nragged + TPSPMV_CYCLES_PIECE * (PetscLogDouble)b->npieces;
    work->build += TPSPMV_CYCLES_BUILD * (PetscLogDouble)rows->i[rows->m];
  }
  PetscCall(TpspmvDestroy((void **)&b));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const TpspmvStorage *b       = (const TpspmvStorage *)storage;
  const size_t         entries = b->nentries + b->nlong - b->nfill;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0)
    PetscCall(PetscSNPrintf(line, size,
                            "%" PetscInt_FMT " tiles for a cache of %" PetscInt_FMT " KiB, %" PetscInt_FMT
                            " slices of %" PetscInt_FMT " rows, %" PetscInt_FMT " empty columns removed",
                            b->cut.ntiles, b->cache, b->cut.nslices, b->cut.height, b->cut.n - b->cut.nused));
  if (k == 1)
    PetscCall(PetscSNPrintf(line, size, "chunks begin at multiples of %" PetscInt_FMT " entries: fill %.2f %%", b->align,
                            entries ? 100 * (double)b->nfill / (double)entries : 0.));
  if (k == 2)
    PetscCall(PetscSNPrintf(line, size, "partial sums: %zu of tiles and rows, %zu of pieces of long rows, %zu bytes",
                            TpspmvIsDirect(b) ? 0 : b->npairs, b->npieces,
                            ((TpspmvIsDirect(b) ? 0 : b->npairs) + b->npieces) * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_KERNELS TpspmvKernels
#include "../../../../kernels.h"

const SpmvHostSide TpspmvHost = {
  .side    = {.nparams   = TPSPMV_NPARAMS,
              .params    = TpspmvParams,
              .propose   = TpspmvPropose,
              .resolve   = TpspmvResolve,
              .allows    = TpspmvAllows,
              .work      = TpspmvWork,
              .build     = TpspmvBuild,
              .setvalues = TpspmvSetValues,
              .arrays    = TpspmvArrays,
              .describe  = TpspmvDescribe,
              .destroy   = TpspmvDestroy},
  .kernels = TpspmvKernels,
};
