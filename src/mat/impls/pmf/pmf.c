/*
  pmf - rows ordered by length, eight of a length across the lanes of a vector

  Storage:   rows are ordered by length in windows, and cut into slices of eight, in which they lie side by side (sliced
             ELL): a step has an entry of each of the eight. A row much longer than those after it is stored alone, eight
             of its entries in a step. Columns are uint16 with a base where they fit, else int32: one for a step whose
             columns are consecutive or all the same, eight for two steps if every lane has two consecutive columns, four for two
             to four steps whose columns are in four pieces of x with four entries each (and four bits an entry for where in
             these), else eight. Steps in which some lanes have no entry have a mask. Slices with the same steps make a run with a
             header.
  Good for:  short and medium rows of varying length; stencils; rows or columns that are dense; with AVX-512, rows in groups with the
             same columns, as those of the unknowns of a node: what several steps have of x is loaded once
  Bad for:   large dense blocks without AVX-512 (bccoo stores one column for a block)
  Traffic:   (8 + 2) nnz (1 instead of 2 in pairs, 1 to 3/4 where pieces of x are shared, 1/4 where columns are consecutive; twice
             as much, of pieces 1.5 to 1, where columns that are near each other in the order of storage are more than 65536 apart) + 2 m (rows of runs
             that are not consecutive) + 64 a run + 8 (m + n) bytes a product, and the padding, which is a few per cent

  Kept besides, for new values: 4 bytes for each column stored, or four pieces, which no product reads.

  Parts are sets of rows for processors of given powers: threads of the host, and a device (pmf_ell.h), which may have all
  parts or the first ones while the threads have the others. A part of the host is a range of runs with rows of its own. Rows with so many entries that no set of rows would be balanced are split over all parts, and the
  sums of their fragments are added in the order of the parts.

  Source: Yang, Li, Mo, Li, Performance Optimization Using Partitioned SpMV on GPUs and Multicore CPUs, IEEE Trans.
  Computers 64(9), 2015: sections 3.2 (density), 4.2 (algorithms 1 to 4), 5.1 (theorem 1).
  We differ:
  - the paper orders all rows by length; here they are by default in windows, so that x and y stay in cache
    (-mat_pmf_window global is the paper's order), and algorithm 3 cuts window after window;
  - each part of the paper is one ELL array, as wide as its longest row; here every slice has its own width. What is printed
    of parts is the paper's rows x width;
  - rows without entries are in no part; rows that are split are in all;
  - algorithm 4 stores blocks as DIA and the rest as CSR. Here a block's diagonals are cut at every eighth row, pieces without
    entries are not stored, and the rest is stored in slices;
  - theorem 1 does not hold as stated: of rows with 1, 5, 5, 5, 5, 5, 6 entries and shares 6/32 and 26/32 algorithm 3 makes
    {1, 5}, {5, 5, 5, 5, 6}, which is 2 x 5 + 5 x 6 = 40 elements, while {6}, {1, 5, 5, 5, 5, 5} has 1 x 6 + 6 x 5 = 36. Its proof
    takes the longest row to be in the last part. tests/format_pmf.c finds no exception among partitions whose parts come
    in the order of their widths.
*/
#include "pmf.h"

static const PetscInt    PmfPartitions[]     = {PMF_BY_PMF, PMF_BY_NNZ, PMF_BY_ROWS, PMF_BY_DIAGONAL};
static const char *const PmfPartitionNames[] = {"pmf", "nnz", "rows", "diagonal"};
static const PetscInt    PmfWindows[]        = {PMF_WINDOW_AUTO, 8, 64, 256, 1024, 4096, 16384, PMF_WINDOW_GLOBAL};
static const char *const PmfWindowNames[]    = {"auto", "8", "64", "256", "1024", "4096", "16384", "global"};
static const PetscInt    PmfBlocks[]         = {32, 16};
static const PetscInt    PmfColumnKinds[]    = {PMF_COLUMNS_AUTO, PMF_COLUMNS_INT32};
static const char *const PmfColumnNames[]    = {"auto", "int32"};

static const PetscInt    PmfPieceSteps[] = {PMF_PIECES_AUTO, PMF_PIECES_NONE, PMF_PIECES_ANY, 2, 3, 4};
static const char *const PmfPieceNames[] = {"auto", "none", "any", "2", "3", "4"};

static const SpmvParam PmfParams[] = {
  [PMF_PARTITION] = SPMV_CHOICES("partition", "how rows are cut into parts: by length (algorithm 3), nonzeros (2), rows (1), or blocks on the diagonal and the rest (4)", PmfPartitions, PmfPartitionNames, SPMV_KNOB_LAYOUT),
  [PMF_POWERS]    = SPMV_LIST("powers", "computing powers of the parts; by default a part of equal power for each thread", 1, 1000000),
  [PMF_WINDOW]    = SPMV_CHOICES("window", "rows that are ordered by length together", PmfWindows, PmfWindowNames, SPMV_KNOB_TILE),
  [PMF_BLOCK]     = SPMV_CHOICES("block", "rows of a block on the diagonal, for -mat_pmf_partition diagonal", PmfBlocks, NULL),
  [PMF_COLUMNS]   = SPMV_CHOICES("columns", "how columns are stored, auto: uint16 where they fit", PmfColumnKinds, PmfColumnNames, SPMV_KNOB_LOCAL),
  [PMF_PIECES]    = SPMV_CHOICES("pieces", "steps that share four short pieces of x where rows have the same columns; any: as a sample of rows says, auto: any for double with AVX-512, else none", PmfPieceSteps, PmfPieceNames),
};

/* Those of the parts that a device has */
static void PmfEllArrays(const PmfEll *e, PetscInt *narrays, SpmvArray arrays[])
{
  PetscInt k = *narrays;

  arrays[k++] = SPMV_ARRAY("slice values", e->slices.value, e->slices.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("slice columns", e->column, e->slices.n, PmfEllColumnSize(e));
  arrays[k++] = SPMV_ARRAY("steps", e->step, (size_t)e->nslices + 1, sizeof(uint32_t));
  arrays[k++] = SPMV_ARRAY("bases", e->base, (size_t)e->nslices, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("lengths", e->length, (size_t)e->nsliced, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("slice rows", e->row, (size_t)(e->nsliced + e->nlong), sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from slices", e->slices.from, e->slices.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  if (e->nlong) {
    arrays[k++] = SPMV_ARRAY("long values", e->longs.value, e->longs.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("long columns", e->longcolumn, e->longs.n, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("long rows", e->longrow, (size_t)e->nlong + 1, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("pieces", e->piece, (size_t)e->npieces + 1, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("from long rows", e->longs.from, e->longs.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  if (e->block) {
    const size_t n = e->diagonals.n / (size_t)e->block;

    arrays[k++] = SPMV_ARRAY("diagonal values", e->diagonals.value, e->diagonals.n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("diagonals", e->diagonal, (size_t)e->nblocks + 1, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("offsets", e->offset, n, sizeof(int32_t));
    arrays[k++] = SPMV_ARRAY("diagonal masks", e->mask, n, sizeof(uint32_t));
    arrays[k++] = SPMV_ARRAY("from diagonals", e->diagonals.from, e->diagonals.n, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  *narrays = k;
}

/* Every array of a storage, in one place for its size and for those who send it; beside a device, the runs are the host's */
static PetscErrorCode PmfArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const PmfStorage *b = (const PmfStorage *)storage;
  PetscInt          k = 0;

  PetscFunctionBegin;
  if (b->ndevice) PmfEllArrays(&b->ell, &k, arrays);
  if (b->ndevice < b->npieces) {
    const PetscBool host = (PetscBool)(b->ndevice > 0);

    arrays[k++] = SPMV_ARRAY("values", b->value, PMF_LANES * b->nsteps, sizeof(PetscScalar), .is_values = PETSC_TRUE, .host = host);
    arrays[k++] = SPMV_ARRAY("columns", b->column, b->ncolumns, sizeof(uint16_t), .host = host);
    arrays[k++] = SPMV_ARRAY("runs", b->run, b->nruns, sizeof(PmfRun), .host = host);
    arrays[k++] = SPMV_ARRAY("rows", b->list, b->nlist, b->listsize, .host = host);
    arrays[k++] = SPMV_ARRAY("masks", b->mask, b->nmasks, 1, .host = host);
    if (b->nsplit) arrays[k++] = SPMV_ARRAY("split", b->split, (size_t)b->nsplit, sizeof(int32_t));
    if (host) arrays[k++] = SPMV_ARRAY("cleared", b->clear, (size_t)b->clears[b->npieces], sizeof(int32_t), .host = host);
    arrays[k++] = SPMV_ARRAY("from", b->from, b->nfrom, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes that a build would come to, by the same resolution of the plan, without the arrays */
static PetscErrorCode PmfBytes(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes)
{
  PmfStorage b;
  SpmvArray  arrays[SPMV_ARRAY_MAX];
  PetscInt   narrays;

  PetscFunctionBegin;
  PetscCall(PmfPredict(csr, plan, &b));
  PetscCall(PmfArrays(&b, &narrays, arrays));
  *bytes = SpmvArraysRead(narrays, arrays, scalar_size);
  PetscCall(PmfReset(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Cycles of Zen 4, fitted to 82 matrices: a slice begins and ends, a row alone is summed up across the lanes, the header of a run is
  read and its loops end where the processor does not foresee it
*/
#define PMF_CYCLES_SLICE 3.5
#define PMF_CYCLES_ALONE 8.5
#define PMF_CYCLES_RUN   40.0
#define PMF_CYCLES_BUILD 38.0 /* of an entry */

static PetscErrorCode PmfWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  PmfStorage b;
  SpmvArray  arrays[SPMV_ARRAY_MAX];
  PetscInt   narrays;

  PetscFunctionBegin;
  PetscCall(PmfPredict(rows, plan, &b));
  PetscCall(PmfArrays(&b, &narrays, arrays));
  work->bytes += SpmvArraysRead(narrays, arrays, sizeof(PetscScalar));
  work->vectors += (PetscLogDouble)b.nsteps;
  work->gathered += (PetscLogDouble)(PMF_LANES * (b.kind[PMF_GATHERED] + b.kind[PMF_RAGGED]) + PMF_LANES / 2 * b.kind[PMF_PAIRED] + PMF_NEAR_PIECES * b.kind[PMF_NEAR]); /* a pair is one load of 16 bytes, a piece one of 32 */
  work->build += PMF_CYCLES_BUILD * (PetscLogDouble)rows->i[rows->m];
  work->cycles += PMF_CYCLES_SLICE * (PetscLogDouble)b.nslices + PMF_CYCLES_ALONE * (PetscLogDouble)b.nalone + PMF_CYCLES_RUN * (PetscLogDouble)b.nruns;
  work->misses += (PetscLogDouble)b.nruns;
  PetscCall(PmfReset(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows, nonzeros, density and fill of a part, and how far its nonzeros are from its share: 100 |NNZ(A_i) - s_i NNZ| / (s_i NNZ) */
static PetscErrorCode PmfDescribePart(const PmfStorage *b, PetscInt p, double entries, char line[], size_t size)
{
  const PmfPart *part    = &b->part[p];
  const char    *owner   = "";
  const double   density = 100 * (double)part->entries / PetscMax(1, (double)part->elements), share = part->share * entries;

  PetscFunctionBegin;
  if (p < b->ndevice && b->ndevice < b->npieces && b->partition != PMF_BY_DIAGONAL) owner = "the device has ";
  PetscCall(SpmvAppend(line, size, "%s%s%" PetscInt_FMT " rows, %zu nonzeros, density %.2f %%, fill %.2f %%", p ? "; " : "", owner, part->rows, part->entries, density, part->elements ? 100 - density : 0.));
  if (share > 0) PetscCall(SpmvAppend(line, size, ", relative difference %.2f %%", 100 * PetscAbsReal((PetscReal)((double)part->entries - share)) / share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the device has */
static PetscErrorCode PmfDescribeDevice(const PmfStorage *b, char line[], size_t size)
{
  const PmfEll *e       = &b->ell;
  size_t        entries = 0, elements = e->slices.n + e->longs.n + e->diagonals.n, all = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < e->nsliced; k++) entries += (size_t)e->length[k];
  entries += e->longs.n;
  for (size_t k = 0; k < e->diagonals.n; k++) entries += e->diagonals.from[k] != UINT32_MAX;
  for (PetscInt p = 0; p < b->nparts; p++) all += b->part[p].entries;
  PetscCall(SpmvAppend(line, size, "on the device: %" PetscInt_FMT " of %" PetscInt_FMT " parts, share %.2f %%, has %.2f %% of the nonzeros; slices %" PetscInt_FMT " of %" PetscInt_FMT " rows, fill %.2f %%, long rows %" PetscInt_FMT, b->ndevice, b->npieces, 100 * b->share, all ? 100 * (double)entries / (double)all : 0., e->nslices, e->height, elements ? 100 - 100 * (double)entries / (double)elements : 0., e->nlong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line 0: the partition; 1: its parts; 2: the slices of the host; 3: what the device has */
static PetscErrorCode PmfDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const PmfStorage *b       = (const PmfStorage *)storage;
  double            entries = 0, elements = 0, apart = 0;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < b->nparts; p++) entries += (double)b->part[p].entries;
  if (k == 0) {
    for (PetscInt p = 0; p < b->nparts; p++) {
      elements += (double)b->part[p].elements;
      if (b->part[p].share * entries > 0) apart += 100 * PetscAbsReal((PetscReal)((double)b->part[p].entries / (b->part[p].share * entries) - 1));
    }
    PetscCall(SpmvAppend(line, size, "parts by %s: %" PetscInt_FMT ", density %.2f %%", PmfPartitionNames[b->partition], b->nparts, 100 * entries / PetscMax(1, elements)));
    if (b->partition != PMF_BY_DIAGONAL) PetscCall(SpmvAppend(line, size, ", relative difference %.2f %%", apart));
    if (b->nsplit) PetscCall(SpmvAppend(line, size, "; rows split over them: %" PetscInt_FMT, b->nsplit));
  } else if (k == 1) {
    for (PetscInt p = 0; p < b->nparts; p++) PetscCall(PmfDescribePart(b, p, entries, line, size));
  } else if (k == 3 && b->ndevice) {
    PetscCall(PmfDescribeDevice(b, line, size));
  } else if (k == 2 && b->ndevice < b->npieces) {
    const size_t *steps = b->kind;

    PetscCall(SpmvAppend(line, size, "slices %zu, rows alone %zu, runs %zu; steps: consecutive %zu, common %zu, paired %zu, near %zu, gathered %zu, ragged %zu, diagonal %zu", b->nslices, b->nalone, b->nruns, steps[PMF_CONSECUTIVE], steps[PMF_COMMON], 2 * steps[PMF_PAIRED], b->nnear, steps[PMF_GATHERED], steps[PMF_RAGGED], steps[PMF_DIAGONAL]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels PmfKernels_##name;
#include "../../../isas.h"
#undef SPMV_ISA

const SpmvFormat SpmvFormat_pmf = {
  .name     = "pmf",
  .citation = "@article{YangLiMoLi2015,\n"
              "  title   = {Performance Optimization Using Partitioned {SpMV} on {GPUs} and Multicore {CPUs}},\n"
              "  author  = {Wangdong Yang and Kenli Li and Zeyao Mo and Keqin Li},\n"
              "  journal = {IEEE Transactions on Computers},\n"
              "  volume  = {64},\n"
              "  number  = {9},\n"
              "  year    = {2015}\n"
              "}\n",
  .nparams  = PMF_NPARAMS,
  .params   = PmfParams,
  .kernels  = {
#define SPMV_ISA(NAME, name, flags, runs) &PmfKernels_##name,
#include "../../../isas.h"
#undef SPMV_ISA
  },
  .build     = PmfBuild,
  .setvalues = PmfSetValues,
  .arrays    = PmfArrays,
  .bytes     = PmfBytes,
  .destroy   = PmfDestroy,
  .describe  = PmfDescribe,
  .resolve   = PmfResolveOpen,
  .work      = PmfWork,
  .device    = &PmfDevice,
};
