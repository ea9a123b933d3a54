/*
  cmrs - compressed multi-row storage: strips of rows, each entry with its row inside the strip

  Storage:   for each strip of up to 16 rows the place of its first entry; for each entry its value and a word, column << 4 |
             row in the strip (32 bits, 64 where there are more than 2^28 columns). The entries of a strip may have any
             order, and a device may add them by their words alone. Orders:
             interleaved, the default: the first entries of eight rows, then the second ones, ..., the longest row first
             in each step, so that values lie without padding and a step is known by how many rows it has; rows much
             longer than the others go on as tails, tails of thousands in segments
             by rows and by columns: the paper's, section 3
             padded: the paper's, section 4.4, in groups of 32 entries with at most 8 of a row, which lie together; height
             16, strips of whole groups
  Good for:  short and medium rows of like length, stencils, empty rows
  Bad for:   dense blocks, whose columns other formats share
  Traffic:   (8 + 4) nnz + steps + (4 + 12) m / 8 + 8 (m + n) bytes a product with nnz / 8 to nnz steps, commonly nnz / 6
             (interleaved); (8 + 4) stored + 4 m / height + 8 (m + n) (others)

  Source: Koza, Matyka, Szkoda, Miroslaw, Compressed Multi-Row Storage Format for Sparse Matrices on GPUs, SIAM J. Sci.
  Comput. 36(2), 2014: section 3 (format, sorting, aligned start), section 4.4 (padding), the appendix (the row in the low bits
  of the word: section 3 does not say which).
  We differ:
  - the paper refuses 2^28 columns and more; here words grow.
  - "aligned start": the paper's warps read up to the next multiple of 32 entries by themselves; a vector here begins at
    the multiple of 8 before, and what lies before the strip is not used.
  - padding has a value of 0 and the word of the entry before it, so a device may multiply it, which makes NaN of an Inf
    in x that its row has anyway; here products leave it out, by the number of entries that each group has.
  - by columns and padded, a storage keeps besides 4 bytes an entry, for new values, that no product reads.
  A storage for a device has the paper's orders only (cmrs_device.c, cmrs.cl).
*/
#include "cmrs.h"

static const PetscInt    CmrsHeights[]    = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const PetscInt    CmrsOrders[]     = {CMRS_ORDER_AUTO, CMRS_ORDER_ROWS, CMRS_ORDER_COLUMNS, CMRS_ORDER_INTERLEAVED, CMRS_ORDER_PADDED};
static const char *const CmrsOrderNames[] = {"auto", "rows", "columns", "interleaved", "padded"};
static const PetscInt    CmrsWords[]      = {0, 32, 64};
static const PetscInt    CmrsAligns[]     = {1, 0};

static const SpmvParam CmrsParams[] = {
  [CMRS_HEIGHT] = SPMV_CHOICES("height", "rows of a strip, 0: 8, or 16 if padded; on a device as many as 64 bytes hold scalars, at most 12, or 16 if padded", CmrsHeights, NULL, SPMV_KNOB_TILE),
  [CMRS_ORDER]  = SPMV_CHOICES("order", "of the entries in a strip, auto: interleaved, on a device, which does not have that, columns", CmrsOrders, CmrsOrderNames, SPMV_KNOB_LAYOUT),
  [CMRS_WORD]   = SPMV_CHOICES("word", "bits of a column and a row in the strip, 0: as many as the columns need", CmrsWords, NULL),
  [CMRS_ALIGN]  = SPMV_CHOICES("align", "1: where vectors do not follow rows, they begin at a multiple of 8 entries, on a device of 32, 0: at the first entry", CmrsAligns, NULL, SPMV_KNOB_LOCAL),
};

/* Every array of a storage, in one place for its size and for those who send it */
static PetscErrorCode CmrsArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CmrsStorage *c = (const CmrsStorage *)storage;
  PetscInt           k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", c->value, (size_t)c->nstored, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("words", c->word, (size_t)c->nstored, c->wordsize);
  arrays[k++] = SPMV_ARRAY("strips", c->strip, (size_t)c->strips + 1, sizeof(PetscInt));
  if (c->order == CMRS_ORDER_INTERLEAVED) {
    arrays[k++] = SPMV_ARRAY("steps", c->step, (size_t)(c->strips * c->bands), sizeof(CmrsSteps));
    arrays[k++] = SPMV_ARRAY("active", c->active, (size_t)c->nsteps, 1);
    arrays[k++] = SPMV_ARRAY("lanes", c->lane, (size_t)(c->strips * c->bands) * CMRS_VECTOR, 1);
    arrays[k++] = SPMV_ARRAY("chunks", c->chunk, (size_t)c->nchunks + 1, sizeof(CmrsChunk));
    arrays[k++] = SPMV_ARRAY("tails", c->tail, (size_t)c->ntails, sizeof(CmrsTail));
    arrays[k++] = SPMV_ARRAY("segments", c->segment, (size_t)c->nsegments, sizeof(CmrsSegment));
  }
  if (c->order == CMRS_ORDER_PADDED) arrays[k++] = SPMV_ARRAY("items", c->items, (size_t)(c->nstored / CMRS_GROUP), 1);
  if (c->position) arrays[k++] = SPMV_ARRAY("positions", c->position, (size_t)c->nstored, sizeof(PetscInt), .aside = PETSC_TRUE);
  if (!c->device) arrays[k++] = SPMV_ARRAY("shares", c->share, (size_t)c->threads + 1, sizeof(CmrsShare));
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes that a build would come to, by the same resolution of the plan, without the arrays */
static PetscErrorCode CmrsBytes(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes)
{
  CmrsStorage c;
  SpmvArray   arrays[SPMV_ARRAY_MAX];
  PetscInt    narrays;

  PetscFunctionBegin;
  PetscCall(CmrsPredict(csr, plan, &c));
  PetscCall(CmrsArrays(&c, &narrays, arrays));
  *bytes = SpmvArraysRead(narrays, arrays, scalar_size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles of Zen 4, fitted to 82 matrices */
#define CMRS_CYCLES_NS      2.8 /* of a nanosecond of CmrsAddCost(), whose ratios are right */
#define CMRS_CYCLES_ENTRY   0.5
#define CMRS_CYCLES_TAIL    25.0
#define CMRS_CYCLES_SEGMENT 350.0
#define CMRS_CYCLES_ANY     3.5 /* of an entry, in the other orders, */
#define CMRS_CYCLES_STRIP   20.0
#define CMRS_CYCLES_BUILD   38.0 /* of an entry */

static PetscErrorCode CmrsWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  CmrsStorage c;
  SpmvArray   arrays[SPMV_ARRAY_MAX];
  PetscInt    narrays;

  PetscFunctionBegin;
  PetscCall(CmrsPredict(rows, plan, &c));
  PetscCall(CmrsArrays(&c, &narrays, arrays));
  work->bytes += SpmvArraysRead(narrays, arrays, sizeof(PetscScalar));
  work->build += CMRS_CYCLES_BUILD * (PetscLogDouble)c.nz;
  if (c.order == CMRS_ORDER_INTERLEAVED) work->cycles += CMRS_CYCLES_NS * c.cost + CMRS_CYCLES_ENTRY * (PetscLogDouble)c.nz + CMRS_CYCLES_TAIL * (PetscLogDouble)c.ntails + CMRS_CYCLES_SEGMENT * (PetscLogDouble)c.nsegments;
  else work->cycles += CMRS_CYCLES_ANY * (PetscLogDouble)c.nstored + CMRS_CYCLES_STRIP * (PetscLogDouble)c.strips;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const CmrsStorage *c = (const CmrsStorage *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0) PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " strips of height %" PetscInt_FMT ", words of %d bits", c->strips, c->height, (int)c->wordsize * 8));
  else if (k == 1 && c->order == CMRS_ORDER_PADDED) PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " entries of padding: memory overhead %.1f %%", c->nstored - c->nz, c->nz ? 100. * (double)(c->nstored - c->nz) / (double)c->nz : 0.));
  else if (k == 1 && c->order == CMRS_ORDER_INTERLEAVED) PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " steps, %" PetscInt_FMT " tails, %" PetscInt_FMT " segments of long rows", c->nsteps, c->ntails, c->nsegments));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels CmrsKernels_##name;
#include "../../../isas.h"
#undef SPMV_ISA

const SpmvFormat SpmvFormat_cmrs = {
  .name     = "cmrs",
  .citation = "@article{KozaMatykaSzkodaMiroslaw2014,\n"
              "  title   = {Compressed Multi-Row Storage Format for Sparse Matrices on Graphics Processing Units},\n"
              "  author  = {Zbigniew Koza and Maciej Matyka and Sebastian Szkoda and {\\L}ukasz Miros{\\l}aw},\n"
              "  journal = {SIAM Journal on Scientific Computing},\n"
              "  volume  = {36},\n"
              "  number  = {2},\n"
              "  year    = {2014}\n"
              "}\n",
  .nparams  = CMRS_NPARAMS,
  .params   = CmrsParams,
  .kernels  = {
#define SPMV_ISA(NAME, name, flags, runs) &CmrsKernels_##name,
#include "../../../isas.h"
#undef SPMV_ISA
  },
  .build     = CmrsBuild,
  .setvalues = CmrsSetValues,
  .arrays    = CmrsArrays,
  .bytes     = CmrsBytes,
  .destroy   = CmrsDestroy,
  .describe  = CmrsDescribe,
  .resolve   = CmrsResolveOpen,
  .work      = CmrsWork,
  .device    = &CmrsDevice,
};
