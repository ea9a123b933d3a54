/*
  tpspmv_host.c - tpSpMV on this processor: knobs, what a plan leaves open, the work of a product, what is printed
*/
#include "tpspmv_host.h"
#include "../../../../host/machine.h"
#include "../../../../host/near.h"

#define TPSPMV_SLICE_TILES 4096   /* rows of a slice, with several tiles at least */
#define TPSPMV_SLICE_ONE   8192   /* rows of a slice, with one tile */
#define TPSPMV_FEW         131072 /* entries that are too few for tiles */
#define TPSPMV_CHUNK       256    /* entries of a chunk; with 512 products are 4 % faster, new values take 20 % longer */

static const SpmvParam TpspmvParams[] = {
  TPSPMV_PARAMS,
  [TPSPMV_STREAM] = SPMV_CHOICES("stream", "partial sums go past the cache, auto: where they are large", TpspmvChoices,
                                 TpspmvChoiceNames, SPMV_KNOB_LAYOUT),
  [TPSPMV_VALUES] = SPMV_VALUES_KNOB,
};

/* One tile, or tiles that fit the cache; nothing to choose where x fits a core's part of the last cache as a whole */
static PetscErrorCode TpspmvProposeTiles(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS])
{
  const PetscInt most = (PetscInt)(SpmvMachineGet()->cache[2] / sizeof(PetscScalar)); /* entries of x */
  PetscInt      *p    = plans[0].value, nused;

  PetscFunctionBegin;
  *n       = 1;
  plans[0] = *asked;
  if (p[TPSPMV_TILE] || csr->n <= most || csr->i[csr->m] < TPSPMV_FEW) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = (PetscInt)(SpmvMachineGet()->cache[1] / 1024);
  PetscCall(TpspmvColumnsLeft(csr, p, &nused, NULL));
  if (nused <= most) PetscFunctionReturn(PETSC_SUCCESS);
  plans[1]                    = plans[0];
  plans[0].value[TPSPMV_TILE] = TPSPMV_ALL;
  plans[1].value[TPSPMV_TILE] = TpspmvTileWidth(p[TPSPMV_CACHE]);
  *n                          = 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, and how values are stored */
static PetscErrorCode TpspmvPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n,
                                    SpmvPlan plans[SPMV_PROPOSALS])
{
  PetscFunctionBegin;
  *n = 0;
  if (round) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TpspmvProposeTiles(csr, asked, n, plans));
  SpmvValuesPropose(csr, TPSPMV_VALUES, n, plans);
  if (*n == 1) *n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define TPSPMV_EACH 8 /* slices of a thread, at least, with one tile; with 16 graphs take 0.93 to 1.07 of the time */

/* Slices are so high that chunks are not small; with one tile there are several for each thread */
static PetscErrorCode TpspmvResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt *p = plan->value, slice = TPSPMV_SLICE_ONE, nused, ntiles;

  PetscFunctionBegin;
  (void)info;
  if (!p[TPSPMV_CACHE]) p[TPSPMV_CACHE] = (PetscInt)(SpmvMachineGet()->cache[1] / 1024);
  if (!p[TPSPMV_TILE]) p[TPSPMV_TILE] = TPSPMV_ALL;
  PetscCall(TpspmvColumnsLeft(csr, p, &nused, NULL));
  p[TPSPMV_REMOVE] = nused < csr->n ? TPSPMV_YES : TPSPMV_NO;
  ntiles           = TpspmvParts(nused, p[TPSPMV_TILE]);
  if (ntiles > 1) slice = TpspmvSliceHeight(csr, ntiles, TPSPMV_SLICE_TILES, TPSPMV_CHUNK);
  while (ntiles == 1 && plan->threads > 1 && slice > 64 && slice > csr->m / (TPSPMV_EACH * plan->threads)) slice /= 2;
  if (!p[TPSPMV_SLICE]) p[TPSPMV_SLICE] = slice;
  if (!p[TPSPMV_LONG]) p[TPSPMV_LONG] = TPSPMV_LONG_OWN;
  SpmvValuesResolve(csr, &p[TPSPMV_VALUES]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Partial sums, which products write, are not listed */
static PetscErrorCode TpspmvArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  PetscInt             k = 0;

  PetscFunctionBegin;
  arrays[k++] = SpmvValuesArray(&b->value);
  arrays[k++] = SPMV_ARRAY("columns", b->index, b->ncolumns, TpspmvIndexSize(b->narrow));
  arrays[k++] = SPMV_ARRAY("rows", b->row, b->npairs, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("chunks", b->chunk, (size_t)b->cut.ntiles * (size_t)b->cut.nslices + 1, sizeof(TpspmvChunk));
  arrays[k++] = SPMV_ARRAY("runs", b->run, b->nruns, sizeof(TpspmvRun));
  arrays[k++] = SPMV_ARRAY("ragged", b->ragged, b->nragged, sizeof(uint8_t));
  if (b->nsegments) {
    arrays[k++] = SPMV_ARRAY("segments", b->segment, b->nsegments + 1, sizeof(TpspmvSegment));
    arrays[k++] = SPMV_ARRAY("columns of segments", b->longindex, b->nlong, TpspmvIndexSize(b->narrowlong));
  }
  if (b->cut.column) arrays[k++] = SPMV_ARRAY("columns left", b->cut.column, (size_t)b->cut.nused, sizeof(int32_t));
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles of Zen 4, fitted to 82 matrices; what a pair takes, to choices on 181 (Emerald Rapids: 1.1 cycles; Zen 4: 0.7) */
#define TPSPMV_VECTORS_PAIR     0.75
#define TPSPMV_CYCLES_RUN       7.0
#define TPSPMV_CYCLES_RAGGED    5.5
#define TPSPMV_CYCLES_SEGMENT   53.0
#define TPSPMV_SLOW             1.1  /* from memory (8 finite element matrices of 30 M entries, Zen 4) */
#define TPSPMV_HELD             1.1  /* from the last cache (62 matrices, Zen 4: as BCCOO_HELD) */
#define TPSPMV_WAITS            0.7  /* of the lines of x that a row after the other waits for (19 matrices, Emerald Rapids) */
#define TPSPMV_CYCLES_BUILD     10.0 /* of an entry, and ... */
#define TPSPMV_CYCLES_BUILD_ROW 70.0 /* ... of a row */

/* Threads have whole slices, of which there are TPSPMV_EACH or more for each: the longest share is half a slice longer */
static void TpspmvWorkUneven(PetscInt threads, SpmvWork *work)
{
  const PetscLogDouble uneven = threads > 1 ? 1 + 0.5 / TPSPMV_EACH : 1;

  work->vectors *= uneven;
  work->gathered *= uneven;
  work->cycles *= uneven;
}

/*
  A few rows have as many chunks as a whole slice, and about as many runs: only the fraction of a slice that they are is counted.
  Columns that are empty in them may not be in the matrix
*/
static PetscErrorCode TpspmvWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  SPMV_DESTROY_BY(SpmvOwnedDestroy)
  SpmvOwned      own = {.side = &TpspmvHost.side};
  TpspmvStorage *b;
  SpmvPlan       whole = *plan;
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       narrays;
  PetscLogDouble fraction = 1, npairs, entries, shared;

  PetscFunctionBegin;
  if (whole.value[TPSPMV_REMOVE] == TPSPMV_AUTO) whole.value[TPSPMV_REMOVE] = TPSPMV_NO;
  PetscCall(TpspmvResolve(rows, NULL, &whole)); /* a proposal leaves slices open */
  PetscCall(PetscNew(&b));
  own.storage = b;
  PetscCall(TpspmvMeasure(rows, &whole, b, NULL));
  PetscCall(TpspmvArrays(b, &narrays, arrays));
  npairs  = (PetscLogDouble)b->npairs;
  entries = (PetscLogDouble)(b->nentries + b->nlong);
  shared  = (PetscLogDouble)((size_t)b->cut.ntiles * sizeof(TpspmvChunk) + b->nruns * sizeof(TpspmvRun));
  if (!TpspmvIsDirect(&b->cut)) {
    fraction = PetscMin(1, (PetscLogDouble)rows->m / (PetscLogDouble)b->cut.height);
    work->moved += npairs * sizeof(PetscScalar);
    work->reach = (PetscLogDouble)plan->value[TPSPMV_TILE] * sizeof(PetscScalar);
  } else if (2 * b->nlong < b->nentries) work->window = (PetscLogDouble)b->cut.height; /* long rows come as they are */
  work->bytes += SpmvArraysRead(narrays, arrays) - (1 - fraction) * shared;
  work->slow  = TPSPMV_SLOW;
  work->held  = TPSPMV_HELD;
  work->waits = TPSPMV_WAITS;
  work->vectors += entries / TPSPMV_LANES + TPSPMV_VECTORS_PAIR * npairs;
  work->gathered += entries - (PetscLogDouble)b->nconsecutive;
  work->cycles += TPSPMV_CYCLES_RUN * fraction * (PetscLogDouble)b->nruns;
  work->cycles += TPSPMV_CYCLES_RAGGED * (PetscLogDouble)b->nragged + TPSPMV_CYCLES_SEGMENT * (PetscLogDouble)b->nsegments;
  SpmvValuesWork(&b->value, entries / TPSPMV_LANES, work);
  TpspmvWorkUneven(plan->threads, work);
  work->build += TPSPMV_CYCLES_BUILD * (PetscLogDouble)rows->i[rows->m] + TPSPMV_CYCLES_BUILD_ROW * (PetscLogDouble)rows->m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const TpspmvStorage *b       = (const TpspmvStorage *)storage;
  const size_t         entries = b->nentries + b->nlong - b->nfill, sums = TpspmvIsDirect(&b->cut) ? 0 : b->npairs;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0) PetscCall(TpspmvCutDescribe(&b->cut, line, size));
  if (k == 1)
    PetscCall(PetscSNPrintf(line, size, "chunks begin at multiples of %" PetscInt_FMT " entries: fill %.2f %%", b->align,
                            entries ? 100 * (double)b->nfill / (double)entries : 0.));
  if (k == 3) PetscCall(SpmvValuesDescribe(&b->value, line, size));
  if (k == 2)
    PetscCall(PetscSNPrintf(line, size, "partial sums: %zu of tiles and rows, %zu of segments of long rows, %zu bytes", sums,
                            b->nsegments, (sums + b->nsegments) * sizeof(PetscScalar)));
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
