/*
  tpspmv - two-phase product: column tiles make partial sums, rows add them up

  Storage:   columns are cut into tiles whose part of x fits the cache, rows into slices. A tile and a row that have entries
             in common are a pair, with one partial sum. In the chunk that a tile shares with a slice, pairs lie by falling
             number of entries, eight side by side, one in each lane of a vector; columns count from the chunk's
             first, rows from the slice's, as uint16. Runs of equal pairs tell where rows end, so nothing is stored or
             asked for a row. Eight rows with the same entries, each one column further, make groups that need no
             gather. Rows with many entries in a tile are cut into pieces, each with a partial sum too.
  First phase:  tile after tile reads its part of x from the cache and writes partial sums one after the other.
  Second phase: slice after slice adds the partial sums of all tiles, in their order, to its part of y, in cache.
  One tile needs no partial sums: rows go straight to y. There is one where x fits the cache, and where rows one after the
  other find in the last cache most of the x that they need: the tuner chooses (TpspmvPropose()).
  A device has chunks of its own (tpspmv_steps.h), without lanes, and the same two phases (tpspmv.cl).
  The transposed product turns the phases around: slices spread x over the pairs, then tiles add up their part of y.
  Good for:  matrices whose x does not fit the cache and whose rows have entries anywhere
  Bad for:   matrices that find their x in cache and have rows of many different lengths, a few of each
  Traffic:   (8 + 2) nnz (4 instead of 2 with int32 columns) + 2 pairs + 8 (m + n), and with several tiles 16 pairs for the
             partial sums, 24 where they do not go past the cache, bytes a product

  Source: Chen, Xiao, Wu, Tang, Li, tpSpMV: A two-phase large-scale sparse matrix-vector multiplication kernel for manycore
  architectures, Information Sciences, 2020: sections 4.1 (first phase), 4.2 (second), 5.1 (empty rows and columns),
  5.2 (aligned slices), 5.3 (pipelining).
  We differ:
  - Section 4 maps blocks of rows to the core groups of a processor and column tiles to the 64 cores of a group. Here a
    group is a rank or a NUMA node, and its block of rows the matrix that a storage is made from; a worker is a thread.
    A core has 64 KiB of local memory there, a cache and prefetch here, so that there are as many tiles as
    the cache asks for, and a thread takes several. Algorithm 2 says theta where it means delta, the cores.
  - Equal nonzeros of tiles (layer 2) come second to the fit: tiles are as few as fit. Threads share chunks and pieces by
    entries, so that a row of any length is shared as well.
  - blockY is (m / theta) x delta, not m n / theta as in algorithm 4, and dense: a slice without entries in a tile is never
    written but read. Here only pairs have partial sums.
  - Empty rows are removed from each tile, not only from the matrix. Empty columns are where at least half are.
  - 5.2 pads slices to 128 bytes, whatever it takes; here chunks to 64, or less where that would fill more than 2 %.
    Fill is never multiplied.
  - 5.3 overlaps loading, computing and returning: here what is to come is asked for early, and partial sums leave by stores
    that go past the cache.
*/
#include "tpspmv.h"

static const PetscInt    TpspmvTiles[]       = {0, 2, 16, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, TPSPMV_ALL};
static const PetscInt    TpspmvSlices[]      = {0, 8, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const PetscInt    TpspmvLongs[]       = {128, 8, 16, 32, 64, 255};
static const PetscInt    TpspmvChoices[]     = {TPSPMV_AUTO, TPSPMV_NO, TPSPMV_YES};
static const char *const TpspmvChoiceNames[] = {"auto", "no", "yes"};

static const SpmvParam TpspmvParams[] = {
  [TPSPMV_CACHE]  = SPMV_RANGE("cache", "KiB of a core's second cache, 0: as the machine tells", 0, 0, 1 << 20, SPMV_KNOB_CACHE),
  [TPSPMV_TILE]   = SPMV_CHOICES("tile", "columns of a tile, at most, 0: by the cache; 1073741824: one tile", TpspmvTiles, NULL, SPMV_KNOB_TILE),
  [TPSPMV_SLICE]  = SPMV_CHOICES("slice", "rows of a slice, 0: by the entries that a tile has in it", TpspmvSlices, NULL, SPMV_KNOB_TILE),
  [TPSPMV_LONG]   = SPMV_CHOICES("long", "entries of a row in a tile above which it is cut into pieces of 16 times as many", TpspmvLongs, NULL, SPMV_KNOB_LOCAL),
  [TPSPMV_REMOVE] = SPMV_CHOICES("remove", "empty columns are removed, auto: where x does not fit the cache and half are empty", TpspmvChoices, TpspmvChoiceNames, SPMV_KNOB_LAYOUT),
  [TPSPMV_STREAM] = SPMV_CHOICES("stream", "partial sums go past the cache, auto: where they are large", TpspmvChoices, TpspmvChoiceNames, SPMV_KNOB_LAYOUT),
};

/* Those of a storage for a device; targets have a row and rows have sums only with one tile */
static PetscInt TpspmvStepsArrays(const TpspmvStorage *b, SpmvArray arrays[])
{
  const TpspmvSteps *d = &b->steps;
  PetscInt           k = 0;

  arrays[k++] = SPMV_ARRAY("values", b->value, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->index, b->nentries, TpspmvIndexSize(b->narrow));
  arrays[k++] = SPMV_ARRAY("chunks", d->chunk, d->nchunks + 1, sizeof(TpspmvStepChunk));
  arrays[k++] = SPMV_ARRAY("steps", d->step, d->nsteps + 1, sizeof(uint32_t));
  if (TpspmvIsDirect(b)) {
    arrays[k++] = SPMV_ARRAY("targets", d->target, b->npairs, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("rows of sums", d->sumrow, d->nsums, sizeof(int32_t));
  } else arrays[k++] = SPMV_ARRAY("places", d->place, d->npartial, sizeof(int32_t));
  if (d->nsums) arrays[k++] = SPMV_ARRAY("firsts", d->first, d->nsums + 1, sizeof(int32_t));
  if (b->removed) arrays[k++] = SPMV_ARRAY("columns left", b->column, (size_t)b->nused, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from", d->from, b->nentries, sizeof(uint32_t), .aside = PETSC_TRUE);
  return k;
}

/* Every array of a storage, in one place for its size and for those who send it; partial sums are what products write */
static PetscErrorCode TpspmvArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const TpspmvStorage *b = (const TpspmvStorage *)storage;
  PetscInt             k = 0;

  PetscFunctionBegin;
  if (b->ondevice) {
    *narrays = TpspmvStepsArrays(b, arrays);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nentries + b->nlong, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", b->index, b->nentries, TpspmvIndexSize(b->narrow));
  arrays[k++] = SPMV_ARRAY("rows", b->row, b->npairs, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("chunks", b->chunk, (size_t)b->ntiles * (size_t)b->nslices + 1, sizeof(TpspmvChunk));
  arrays[k++] = SPMV_ARRAY("runs", b->run, b->nruns, sizeof(TpspmvRun));
  arrays[k++] = SPMV_ARRAY("ragged", b->ragged, b->nragged, sizeof(uint8_t));
  if (b->npieces) {
    arrays[k++] = SPMV_ARRAY("pieces", b->piece, b->npieces + 1, sizeof(TpspmvPiece));
    arrays[k++] = SPMV_ARRAY("columns of pieces", b->longindex, b->nlong, TpspmvIndexSize(b->narrowlong));
  }
  if (b->removed) arrays[k++] = SPMV_ARRAY("columns left", b->column, (size_t)b->nused, sizeof(int32_t));
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes that a build would come to, by the same resolution of the plan, without the arrays */
static PetscErrorCode TpspmvBytes(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes)
{
  TpspmvStorage b;
  SpmvArray     arrays[SPMV_ARRAY_MAX];
  PetscInt      narrays;

  PetscFunctionBegin;
  PetscCall(TpspmvPredict(csr, plan, &b));
  PetscCall(TpspmvArrays(&b, &narrays, arrays));
  *bytes = SpmvArraysRead(narrays, arrays, scalar_size);
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
  TpspmvStorage b;
  SpmvArray     arrays[SPMV_ARRAY_MAX];
  PetscInt      narrays;
  SpmvPlan      whole = *plan;
  double        share;

  PetscFunctionBegin;
  if (whole.value[TPSPMV_REMOVE] == TPSPMV_AUTO) whole.value[TPSPMV_REMOVE] = TPSPMV_NO;
  PetscCall(TpspmvPredict(rows, &whole, &b));
  PetscCall(TpspmvArrays(&b, &narrays, arrays));
  share = b.ntiles > 1 ? PetscMin(1, (double)rows->m / (double)b.height) : 1;
  work->bytes += SpmvArraysRead(narrays, arrays, sizeof(PetscScalar)) - (1 - share) * (double)((size_t)b.ntiles * sizeof(TpspmvChunk) + b.nruns * sizeof(TpspmvRun));
  if (!TpspmvIsDirect(&b)) {
    work->moved += (PetscLogDouble)(b.npairs * sizeof(PetscScalar));
    work->reach = (PetscLogDouble)plan->value[TPSPMV_TILE] * sizeof(PetscScalar);
  }
  work->vectors += (PetscLogDouble)(b.nentries + b.nlong) / TPSPMV_LANES;
  work->gathered += (PetscLogDouble)(b.nentries + b.nlong - b.nconsecutive);
  work->cycles += TPSPMV_CYCLES_PAIR * (PetscLogDouble)b.npairs + TPSPMV_CYCLES_RUN * share * (PetscLogDouble)b.nruns + TPSPMV_CYCLES_RAGGED * (PetscLogDouble)b.nragged + TPSPMV_CYCLES_PIECE * (PetscLogDouble)b.npieces;
  work->build += TPSPMV_CYCLES_BUILD * (PetscLogDouble)rows->i[rows->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TpspmvDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const TpspmvStorage *b       = (const TpspmvStorage *)storage;
  const size_t         entries = b->nentries + b->nlong - b->nfill;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0) PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " tiles for a cache of %" PetscInt_FMT " KiB, %" PetscInt_FMT " slices of %" PetscInt_FMT " rows, %" PetscInt_FMT " empty columns removed", b->ntiles, b->cache, b->nslices, b->height, b->n - b->nused));
  if (b->ondevice) {
    if (k == 1) PetscCall(PetscSNPrintf(line, size, "on the device: %zu chunks, %zu steps, %zu partial sums of %zu rows", b->steps.nchunks, b->steps.nsteps, b->steps.npartial, b->steps.nsums));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (k == 1) PetscCall(PetscSNPrintf(line, size, "chunks begin at multiples of %" PetscInt_FMT " entries: fill %.2f %%", b->align, entries ? 100 * (double)b->nfill / (double)entries : 0.));
  if (k == 2) PetscCall(PetscSNPrintf(line, size, "partial sums: %zu of tiles and rows, %zu of pieces of long rows, %zu bytes", TpspmvIsDirect(b) ? 0 : b->npairs, b->npieces, ((TpspmvIsDirect(b) ? 0 : b->npairs) + b->npieces) * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels TpspmvKernels_##name;
#include "../../../isas.h"
#undef SPMV_ISA

const SpmvFormat SpmvFormat_tpspmv = {
  .name     = "tpspmv",
  .citation = "@article{ChenXiaoWuTangLi2020,\n"
              "  title   = {{tpSpMV}: A two-phase large-scale sparse matrix-vector multiplication kernel for manycore architectures},\n"
              "  author  = {Yuedan Chen and Guoqing Xiao and Fan Wu and Zhuo Tang and Keqin Li},\n"
              "  journal = {Information Sciences},\n"
              "  year    = {2020}\n"
              "}\n",
  .nparams  = TPSPMV_NPARAMS,
  .params   = TpspmvParams,
  .kernels  = {
#define SPMV_ISA(NAME, name, flags, runs) &TpspmvKernels_##name,
#include "../../../isas.h"
#undef SPMV_ISA
  },
  .build     = TpspmvBuild,
  .setvalues = TpspmvSetValues,
  .arrays    = TpspmvArrays,
  .bytes     = TpspmvBytes,
  .destroy   = TpspmvDestroy,
  .describe  = TpspmvDescribe,
  .propose   = TpspmvPropose,
  .resolve   = TpspmvResolve,
  .work      = TpspmvWork,
  .device    = &TpspmvDevice,
};
