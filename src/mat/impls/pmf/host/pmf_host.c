/*
  pmf_host.c - the host side of pmf: knobs, arrays, what a product costs, what is printed
*/
#include "pmf_host.h"
#include "../../../../host/near.h"

static const PetscInt    PmfPieceSteps[] = {PMF_PIECES_AUTO, PMF_PIECES_NONE, PMF_PIECES_ANY, 2, 3, 4};
static const char *const PmfPieceNames[] = {"auto", "none", "any", "2", "3", "4"};

#define PMF_HELP_PIECES \
  "steps that share four short pieces of x where rows have the same columns; any: what suits a sample of rows best; auto: any " \
  "for double with AVX-512, else none"

static const SpmvParam PmfHostParams[] = {
  PMF_COMMON_TABLE,
  [PMF_PIECES] = SPMV_CHOICES("pieces", PMF_HELP_PIECES, PmfPieceSteps, PmfPieceNames),
  [PMF_VALUES] = SPMV_VALUES_KNOB,
};

/* How values are stored, where that is open; nothing to choose where they are many and long */
static PetscErrorCode PmfHostPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n,
                                     SpmvPlan plans[SPMV_PROPOSALS])
{
  PetscFunctionBegin;
  *n       = !round;
  plans[0] = *asked;
  SpmvValuesPropose(csr, PMF_VALUES, n, plans);
  if (*n == 1) *n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only AVX-512 has an instruction that takes eight of sixteen numbers */
static PetscErrorCode PmfHostResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  const PetscBool takes = (PetscBool)(plan->isa >= SPMV_AVX512 && sizeof(PetscScalar) == 8 && sizeof(PetscReal) == 8);
  const PetscBool any   = (PetscBool)(takes && plan->value[PMF_PARTITION] != PMF_BY_DIAGONAL);

  PetscFunctionBegin;
  (void)info;
  if (plan->value[PMF_WINDOW] == PMF_WINDOW_AUTO) PetscCall(PmfWindowChoose(csr, &plan->value[PMF_WINDOW]));
  if (plan->value[PMF_PIECES] == PMF_PIECES_AUTO) plan->value[PMF_PIECES] = any ? PMF_PIECES_ANY : PMF_PIECES_NONE;
  SpmvValuesResolve(csr, &plan->value[PMF_VALUES]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfHostAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt *p = plan->value;

  PetscFunctionBegin;
  (void)info;
  PetscCall(PmfCounts(csr, why, size));
  if (p[PMF_PARTITION] == PMF_BY_DIAGONAL && p[PMF_PIECES] != PMF_PIECES_NONE) {
    PetscCall(
      SpmvAppend(why, size, "Without the blocks on the diagonal, a row's entries are not side by side in memory, so no steps "));
    PetscCall(SpmvAppend(why, size, "share pieces of x; set -mat_pmf_pieces to auto or none"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfHostArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const PmfStorage *b = (const PmfStorage *)storage;
  PetscInt          k = 0;

  PetscFunctionBegin;
  arrays[k++] = SpmvValuesArray(&b->value);
  arrays[k++] = SPMV_ARRAY("columns", b->column, b->ncolumns, sizeof(uint16_t));
  arrays[k++] = SPMV_ARRAY("runs", b->run, b->nruns, sizeof(PmfRun));
  arrays[k++] = SPMV_ARRAY("rows", b->list, b->nlist, b->listsize);
  arrays[k++] = SPMV_ARRAY("masks", b->mask, b->nmasks, 1);
  if (b->nsplit) arrays[k++] = SPMV_ARRAY("split", b->split, (size_t)b->nsplit, sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("from", b->from, b->nfrom, sizeof(uint32_t), .aside = PETSC_TRUE);
  *narrays    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Cycles of Zen 4, fitted to 222 matrices: a slice begins and ends, a row alone is summed up across the lanes; those of a run are
  in pmf_host.h
*/
#define PMF_CYCLES_SLICE     4.5
#define PMF_CYCLES_ALONE     8.5
#define PMF_CYCLES_PICK      1.0  /* of a step that picks x from pieces, in whole vectors */
#define PMF_CYCLES_FEW       1.0  /* of a step whose values are few, besides decoding them */
#define PMF_SLOW             1.08 /* from memory: 17 finite element matrices of 30 M entries, Zen 5 */
#define PMF_WAITS            0.7  /* of the lines of x that a row after the other waits for (20 matrices, Emerald Rapids) */
#define PMF_CYCLES_BUILD     18.0 /* of an entry, and ... */
#define PMF_CYCLES_BUILD_ROW 90.0 /* ... of a row; these and those of other formats are medians of 190 matrices, Zen 4 */

/*
  What is lost where rows get shorter is lost once in a window, but for lengths that the rows of a part do not have: of a matrix
  whose windows have f times as many rows, a row loses so much less
*/
#define PMF_TURNS  0.5  /* by which f's exponent is more than -1 where each slice turns (189 matrices, f = 1.5 to 57) */
#define PMF_SELDOM 0.25 /* -1 times the exponent, at least */

/* Makes counts of a part of a matrix as they are in all of it: of padding, runs and rows alone (PmfTurn()) */
static void PmfStretch(const PmfLayout *layout, PmfStorage *b)
{
  const SpmvCSR *csr  = layout->csr;
  const double   rows = (double)PetscMin(layout->order.window, csr->all), f = PetscMax(1, rows / PetscMax(1, csr->m));
  const double   turns   = (double)layout->turns / PetscMax(1, (double)b->nslices + (double)b->nalone / PMF_LANES);
  const double   fewer   = 1 - pow(f, -PetscMax(PMF_SELDOM, 1 - PMF_TURNS * turns));
  const size_t   padding = (size_t)((1 - 1 / f) * (double)layout->padding / PMF_LANES);
  const size_t   ragged = PetscMin(padding, b->kind[PMF_RAGGED]), alone = (size_t)(fewer * (double)b->nalone);

  b->nsteps -= padding;
  b->value.n -= PMF_LANES * padding;
  b->kind[PMF_RAGGED] -= ragged;
  b->nmasks -= ragged;
  b->ncolumns -= PMF_LANES * ragged;
  b->nruns -= PetscMin((size_t)(fewer * (double)layout->turns), b->nruns);
  b->nalone -= alone;
  b->nslices += alone / PMF_LANES;
}

static PetscErrorCode PmfHostWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  SPMV_DESTROY_BY(PmfLayoutDestroy)
  PmfLayout layout = {.csr = rows};
  SPMV_DESTROY_BY(SpmvOwnedDestroy)
  SpmvOwned         own = {.side = &PmfHost.side};
  const PmfStorage *b;
  const size_t     *kind;
  SpmvArray         arrays[SPMV_ARRAY_MAX];
  PetscInt          narrays;

  PetscFunctionBegin;
  PetscCall(PmfLayoutCreate(rows, plan, &layout, &own.storage));
  PmfStretch(&layout, layout.b);
  b    = layout.b;
  kind = b->kind;
  PetscCall(PmfHostArrays(b, &narrays, arrays));
  work->bytes += SpmvArraysRead(narrays, arrays);
  work->vectors += (PetscLogDouble)b->nsteps;
  work->gathered += (PetscLogDouble)(PMF_LANES * (kind[PMF_GATHERED] + kind[PMF_RAGGED]));
  work->gathered += (PetscLogDouble)(PMF_LANES / 2 * kind[PMF_PAIRED]);
  work->pieces += (PetscLogDouble)kind[PMF_NEAR];
  work->build += PMF_CYCLES_BUILD * (PetscLogDouble)rows->i[rows->m] + PMF_CYCLES_BUILD_ROW * (PetscLogDouble)rows->m;
  work->cycles += PMF_CYCLES_SLICE * (PetscLogDouble)b->nslices + PMF_CYCLES_ALONE * (PetscLogDouble)b->nalone;
  work->cycles += PMF_CYCLES_RUN * (PetscLogDouble)b->nruns;
  work->blocked += PMF_CYCLES_PICK * (PetscLogDouble)b->nnear;
  if (b->value.coding == SPMV_CODING_FEW) work->cycles += PMF_CYCLES_FEW * (PetscLogDouble)b->nsteps;
  work->slow   = PMF_SLOW;
  work->waits  = PMF_WAITS;
  work->window = (PetscLogDouble)layout.order.window;
  work->branches += PMF_BRANCHES * (PetscLogDouble)(b->nslices + b->nruns);
  work->misses += PMF_MISSES_RUN * (PetscLogDouble)b->nruns;
  SpmvValuesWork(&b->value, (PetscLogDouble)b->nsteps, work);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Line 0: the partition; 1: its parts. Relative difference: 100 |NNZ(A_i) - s_i NNZ| / (s_i NNZ), where s_i = PmfPart.power */
static PetscErrorCode PmfDescribeParts(const PmfStorage *b, PetscInt k, char line[], size_t size)
{
  double entries = 0, elements = 0, difference = 0;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < b->nprinted; p++) {
    entries += (double)b->printed[p].entries;
    elements += (double)b->printed[p].elements;
  }
  for (PetscInt p = 0; p < b->nprinted; p++) {
    const PmfPart *part  = &b->printed[p];
    const double   meant = part->power * entries, density = 100 * (double)part->entries / PetscMax(1, (double)part->elements);
    const double   differs = meant > 0 ? 100 * PetscAbs((double)part->entries - meant) / meant : 0;

    difference += differs;
    if (k == 0) continue;
    PetscCall(SpmvAppend(line, size, "%s%" PetscInt_FMT " rows, %zu nonzeros, density %.2f %%, fill %.2f %%", p ? "; " : "",
                         part->rows, part->entries, density, part->elements ? 100 - density : 0.));
    if (meant > 0) PetscCall(SpmvAppend(line, size, ", relative difference %.2f %%", differs));
  }
  if (k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size, "parts by %s: %" PetscInt_FMT ", density %.2f %%", PmfPartitionNames[b->partition],
                       b->nprinted, 100 * entries / PetscMax(1, elements)));
  if (b->printed[0].power > 0) PetscCall(SpmvAppend(line, size, ", relative difference %.2f %%", difference));
  if (b->nsplit) PetscCall(SpmvAppend(line, size, "; rows split over them: %" PetscInt_FMT, b->nsplit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfHostDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const PmfStorage *b    = (const PmfStorage *)storage;
  const size_t     *kind = b->kind;

  PetscFunctionBegin;
  line[0] = 0;
  if (k < 2) PetscCall(PmfDescribeParts(b, k, line, size));
  if (k == 3) PetscCall(SpmvValuesDescribe(&b->value, line, size));
  if (k != 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size, "slices %zu, rows alone %zu, runs %zu; steps: ", b->nslices, b->nalone, b->nruns));
  PetscCall(SpmvAppend(line, size, "consecutive %zu, common %zu, ", kind[PMF_CONSECUTIVE], kind[PMF_COMMON]));
  PetscCall(SpmvAppend(line, size, "paired %zu, near %zu, ", 2 * kind[PMF_PAIRED], b->nnear));
  PetscCall(SpmvAppend(line, size, "gathered %zu, ragged %zu, ", kind[PMF_GATHERED], kind[PMF_RAGGED]));
  PetscCall(SpmvAppend(line, size, "diagonal %zu", kind[PMF_DIAGONAL]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_KERNELS PmfKernels
#include "../../../../kernels.h"

const SpmvHostSide PmfHost = {
  .side    = {.nparams   = PMF_HOST_PARAMS,
              .params    = PmfHostParams,
              .propose   = PmfHostPropose,
              .resolve   = PmfHostResolve,
              .allows    = PmfHostAllows,
              .work      = PmfHostWork,
              .build     = PmfHostBuild,
              .setvalues = PmfHostSetValues,
              .arrays    = PmfHostArrays,
              .describe  = PmfHostDescribe,
              .destroy   = PmfHostDestroy},
  .kernels = PmfKernels,
  /* Where estimates are within 1.05, pmf is faster than tpspmv in 37 of 46 matrices (Emerald Rapids) and 12 of 21 (Zen 4, 1.025
     times in the mean); 400 matrices are 1.0008 times as fast for it (Granite Rapids) */
  .rather = "tpspmv",
};
