/*
  pmf_build.c - the arrays of a storage, from its layout, and its values
*/
#include "pmf.h"

/* PmfHalves: with PMF_BY_DIAGONAL, the entries in the blocks along the diagonal (0), and the rest (1) */
typedef struct {
  SpmvCSR   csr[2];
  PetscInt *i[2], *j[2];
  uint32_t *at[2]; /* [i[m]]  the entry of the matrix that each one is */
} PmfHalves;

static PetscErrorCode PmfHalvesDestroy(PmfHalves *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(PetscFree3(h->i[k], h->j[k], h->at[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block of row r has columns r / block * block to (r / block + 1) * block - 1 (as printed, `mod` stands for the division, and > for >=) */
static PetscErrorCode PmfHalvesCreate(const SpmvCSR *csr, PetscInt block, PmfHalves *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscMalloc3(csr->m + 1, &h->i[k], csr->i[csr->m], &h->j[k], csr->i[csr->m], &h->at[k]));
    h->csr[k]  = (SpmvCSR){.m = csr->m, .n = csr->n, .rbs = 1, .cbs = 1, .i = h->i[k], .j = h->j[k]};
    h->i[k][0] = 0;
  }
  for (PetscInt r = 0; r < csr->m; r++) {
    PetscInt end[2] = {h->i[0][r], h->i[1][r]};

    for (PetscInt e = csr->i[r]; e < csr->i[r + 1]; e++) {
      const int k = csr->j[e] / block != r / block;

      h->j[k][end[k]]    = csr->j[e];
      h->at[k][end[k]++] = (uint32_t)e;
    }
    for (int k = 0; k < 2; k++) h->i[k][r + 1] = end[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows ordered by length together where the plan leaves it open */
static PetscInt PmfChooseWindow(const SpmvCSR *csr)
{
  (void)csr;
  return 4096;
}

/* The rows that are split over the pieces */
static PetscErrorCode PmfFindSplit(const SpmvCSR *csr, PetscInt limit, PmfStorage *b)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < csr->m; r++) b->nsplit += csr->i[r + 1] - csr->i[r] > limit;
  if (!b->nsplit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)b->nsplit * sizeof(int32_t), &b->split));
  for (PetscInt r = 0, s = 0; r < csr->m; r++) {
    if (csr->i[r + 1] - csr->i[r] > limit) b->split[s++] = (int32_t)r;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The runs of piece p */
static PetscErrorCode PmfLayoutPiece(PmfLayout *layout, const PmfOrder *order, PetscInt p)
{
  const PmfStorage *b      = layout->b;
  const PetscInt    origin = b->partition == PMF_BY_PMF ? 0 : order->cut[p], end = order->cut[p + 1];

  PetscFunctionBegin;
  if (layout->blocks) PetscCall(PmfLayoutBlocks(layout, order->cut[p], end));
  for (PetscInt k = order->cut[p], stop; k < end; k = stop) {
    stop = b->window == PMF_WINDOW_GLOBAL ? end : PetscMin(end, origin + ((k - origin) / b->window + 1) * b->window);
    PetscCall(PmfLayoutSegment(layout, order, k, stop));
  }
  for (PetscInt s = 0; s < b->nsplit; s++) PetscCall(PmfLayoutFragment(layout, p, s));
  PetscCall(PmfLayoutClose(layout));
  b->piece[p + 1] = (int32_t)b->nruns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is printed of the parts */
static PetscErrorCode PmfSetParts(const SpmvCSR *csr, const PmfLayout *layout, const PmfOrder *order, PmfStorage *b)
{
  PetscFunctionBegin;
  b->nparts = layout->blocks ? 2 : order->nparts;
  PetscCall(PetscCalloc1(b->nparts, &b->part));
  for (PetscInt p = 0; p < b->nparts && !layout->blocks; p++) b->part[p] = PmfPartOf(csr, order, p);
  for (size_t k = 0; k < b->nruns && layout->blocks; k++) {
    const PmfRun *run  = &layout->run[k];
    PmfPart      *part = &b->part[run->steps[PMF_DIAGONAL] == 0];

    part->rows += run->flags & PMF_FRAGMENT ? 0 : run->rows;
    part->elements += PMF_LANES * PmfSlices(run) * (PmfFullSteps(run) + PmfMaskedSteps(run));
  }
  for (PetscInt p = 0; p < b->nparts && layout->blocks; p++) b->part[p].entries = (size_t)(p ? layout->rest : layout->blocks)->i[csr->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PmfResolve - what a plan makes of a matrix: parts, runs, sizes of arrays

  Input Parameter:
. csr - the matrix

  Input/Output Parameter:
. plan - what is left open is replaced

  Output Parameters:
+ b      - all but the arrays that hold entries and rows; the runs are in the layout
. halves - filled with PMF_BY_DIAGONAL
- layout - refers to csr or halves
*/
static PetscErrorCode PmfResolve(const SpmvCSR *csr, SpmvPlan *plan, PmfStorage *b, PmfHalves *halves, PmfLayout *layout)
{
  const PetscInt *p = plan->value, npieces = p[PMF_POWERS] ? p[PMF_POWERS] : plan->threads, nz = csr->i[csr->m];
  const PetscInt  limit = npieces > 1 ? PetscMax(PMF_SPLIT_MIN, nz / (PMF_SPLIT * npieces)) : PETSC_MAX_INT;
  PetscInt       *power;
  PmfOrder        order;

  PetscFunctionBegin;
  PetscCheck(csr->m < INT32_MAX && csr->n < INT32_MAX && (PetscInt64)nz < UINT32_MAX / 4, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt_FMT " nonzeros is more than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n, nz);
  if (p[PMF_WINDOW] == PMF_WINDOW_AUTO) plan->value[PMF_WINDOW] = PmfChooseWindow(csr);
  b->m         = csr->m;
  b->n         = csr->n;
  b->partition = (PmfPartition)p[PMF_PARTITION];
  b->window    = p[PMF_WINDOW];
  b->block     = p[PMF_BLOCK];
  b->npieces   = npieces;
  b->threads   = PetscMin(npieces, plan->threads);
  b->ahead     = (PetscBool)(nz >= PMF_CACHE);
  b->listsize  = csr->m <= UINT16_MAX + 1 || b->window != PMF_WINDOW_GLOBAL ? sizeof(uint16_t) : sizeof(int32_t);
  *layout      = (PmfLayout){.rest = csr, .b = b, .wide = (PetscBool)(p[PMF_COLUMNS] == PMF_COLUMNS_INT32)};
  if (b->partition == PMF_BY_DIAGONAL) {
    PetscCall(PmfHalvesCreate(csr, b->block, halves));
    layout->blocks = &halves->csr[0];
    layout->rest   = &halves->csr[1];
    b->empty       = PETSC_TRUE;
  }
  PetscCall(PmfFindSplit(layout->rest, limit, b));
  PetscCall(PetscMalloc1(npieces, &power));
  for (PetscInt k = 0; k < npieces; k++) power[k] = p[PMF_POWERS] ? plan->list[k] : 1; /* threads of a host are equally fast; powers differ between devices and hosts */
  PetscCall(PmfOrderCreate(csr, layout->rest, b->partition, b->window, b->block, npieces, power, limit, &order));
  PetscCall(PetscFree(power));
  PetscCall(PetscMalloc1(csr->m, &layout->row));
  PetscCall(PetscCalloc1(npieces + 1, &b->piece));
  for (PetscInt k = 0; k < npieces; k++) PetscCall(PmfLayoutPiece(layout, &order, k));
  PetscCall(PmfSetParts(csr, layout, &order, b));
  PetscCall(PmfOrderDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what a resolution made besides the storage */
static PetscErrorCode PmfResolved(PmfHalves *halves, PmfLayout *layout)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(layout->row));
  PetscCall(PetscFree(layout->run));
  PetscCall(PmfHalvesDestroy(halves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PmfSlot: where the columns and entries of a slice go */
typedef struct {
  const PmfRun   *run;
  uint16_t       *column; /* of the slice */
  uint32_t       *from;   /* of the slice */
  uint8_t        *mask;   /* of the slice */
  const uint32_t *at;     /* entries of the matrix for those of a half; NULL: the same */
  size_t          ones;   /* steps with one column, which are the first */
  size_t          pairs;  /* pairs of steps after them */
} PmfSlot;

static inline PmfSlot PmfSlotOf(const PmfStorage *b, const PmfRun *run, size_t slice, const uint32_t *at)
{
  const size_t masked = PmfMaskedSteps(run);

  return (PmfSlot){
    .run    = run,
    .column = b->column + run->column + slice * PmfColumns(run) * (run->flags & PMF_WIDE ? 2 : 1),
    .from   = b->from + PMF_LANES * (run->step + slice * (PmfFullSteps(run) + masked)),
    .mask   = b->mask + run->mask + slice * masked,
    .at     = at,
    .ones   = (size_t)run->steps[PMF_CONSECUTIVE] + (size_t)run->steps[PMF_COMMON],
    .pairs  = (size_t)run->steps[PMF_PAIRED],
  };
}

static inline void PmfSetColumn(const PmfSlot *slot, size_t k, PetscInt column)
{
  if (slot->run->flags & PMF_WIDE) ((int32_t *)(void *)slot->column)[k] = (int32_t)column;
  else slot->column[k] = (uint16_t)(column - slot->run->base);
}

static inline uint32_t PmfEntry(const PmfSlot *slot, PetscInt entry)
{
  return slot->at ? slot->at[entry] : (uint32_t)entry;
}

/* Lane l of pair t: entries `entry` and `entry` + 1 */
static inline void PmfSetPair(const PmfSlot *slot, size_t t, size_t l, PetscInt entry, PetscInt column)
{
  uint32_t *from = slot->from + PMF_LANES * (slot->ones + 2 * t) + l;

  from[0]         = PmfEntry(slot, entry);
  from[PMF_LANES] = PmfEntry(slot, entry + 1);
  PmfSetColumn(slot, slot->ones + PMF_LANES * t + l, column);
}

/* Lane l of step s among the gathered ones and the ragged ones after them */
static inline void PmfSetSingle(const PmfSlot *slot, size_t s, size_t l, PetscInt entry, PetscInt column)
{
  slot->from[PMF_LANES * (slot->ones + 2 * slot->pairs + s) + l] = PmfEntry(slot, entry);
  PmfSetColumn(slot, slot->ones + PMF_LANES * (slot->pairs + s) + l, column);
}

/* The mask of ragged step r, whose first lanes have an entry; the others repeat the first lane's column, at[0] */
static inline void PmfSetRagged(const PmfSlot *slot, size_t r, size_t lanes, PetscInt column)
{
  const size_t first = slot->ones + PMF_LANES * (slot->pairs + (size_t)slot->run->steps[PMF_GATHERED] + r);

  slot->mask[r] = (uint8_t)((1U << lanes) - 1);
  for (size_t l = lanes; l < PMF_LANES; l++) PmfSetColumn(slot, first + l, column);
}

/* The first `full` entries of eight rows, of which some steps have one column */
static void PmfFillSteps(const PmfSlot *slot, const PetscInt *const j[], const PetscInt start[], PetscInt full)
{
  size_t next[PMF_KINDS] = {[PMF_COMMON] = (size_t)slot->run->steps[PMF_CONSECUTIVE]};

  for (PetscInt k = 0; k < full; k++) {
    const PmfKind kind = PmfKindOf(j, k);
    const size_t  step = next[kind]++;

    if (kind != PMF_GATHERED) PmfSetColumn(slot, step, j[0][k]);
    for (size_t l = 0; l < PMF_LANES; l++) {
      if (kind == PMF_GATHERED) PmfSetSingle(slot, step, l, start[l] + k, j[l][k]);
      else slot->from[PMF_LANES * step + l] = PmfEntry(slot, start[l] + k);
    }
  }
}

/* Eight rows, or fewer, longest first */
static void PmfFillRows(const PmfSlot *slot, const SpmvCSR *csr, const int32_t row[], size_t rows)
{
  const size_t    ragged = (size_t)slot->run->steps[PMF_RAGGED], gathered = (size_t)slot->run->steps[PMF_GATHERED];
  const PetscInt *j[PMF_LANES];
  PetscInt        start[PMF_LANES], length[PMF_LANES] = {0}, full;

  for (size_t l = 0; l < rows; l++) {
    start[l]  = csr->i[row[l]];
    length[l] = csr->i[row[l] + 1] - start[l];
    j[l]      = csr->j + start[l];
  }
  full = length[0] - (PetscInt)ragged;
  if (slot->ones) PmfFillSteps(slot, j, start, full);
  for (size_t l = 0; l < rows; l++) {
    size_t s = slot->ones ? gathered : 0, t = 0;

    for (PetscInt k = slot->ones ? full : 0; k < length[l]; k++) {
      if (t < slot->pairs && PmfIsPair(j[l], k, length[l])) {
        PmfSetPair(slot, t++, l, start[l] + k, j[l][k]);
        k++;
      } else PmfSetSingle(slot, s++, l, start[l] + k, j[l][k]);
    }
  }
  for (size_t r = 0, lanes = rows; r < ragged; r++) {
    while (length[lanes - 1] <= full + (PetscInt)r) lanes--;
    PmfSetRagged(slot, r, lanes, j[0][0]);
  }
}

/* Entries [first, end) of one row */
static void PmfFillAlone(const PmfSlot *slot, const SpmvCSR *csr, PetscInt first, PetscInt end)
{
  const size_t pairs = PMF_LANES * slot->pairs, full = PMF_LANES * (size_t)slot->run->steps[PMF_GATHERED];
  size_t       s = 0, t = 0, ones = 0;

  for (PetscInt e = first; e < end; e++) {
    if (t < pairs && PmfIsPair(csr->j, e, end)) {
      PmfSetPair(slot, t / PMF_LANES, t % PMF_LANES, e, csr->j[e]);
      t++;
      e++;
    } else if (ones < slot->ones && (e - first) % PMF_LANES == 0 && e + PMF_LANES <= end && PmfKindAlone(csr->j + e) == PMF_CONSECUTIVE) {
      PmfSetColumn(slot, ones, csr->j[e]);
      for (PetscInt l = 0; l < PMF_LANES; l++) slot->from[PMF_LANES * ones + (size_t)l] = PmfEntry(slot, e + l);
      ones++;
      e += PMF_LANES - 1;
    } else {
      PmfSetSingle(slot, s / PMF_LANES, s % PMF_LANES, e, csr->j[e]);
      s++;
    }
  }
  if (s > full) PmfSetRagged(slot, 0, s - full, csr->j[first]);
}

/* The pieces of diagonals of rows [first, first + rows) in their block */
static void PmfFillDiagonals(const PmfSlot *slot, const SpmvCSR *csr, PetscInt block, PetscInt first, PetscInt rows)
{
  PetscInt next[PMF_LANES];
  size_t   step = 0;

  for (PetscInt l = 0; l < rows; l++) next[l] = csr->i[first + l];
  for (uint64_t diagonals = PmfDiagonals(csr, block, first, rows); diagonals; diagonals &= diagonals - 1, step++) {
    const PetscInt column = first + __builtin_ctzll(diagonals) - (block - 1); /* of lane 0; below 0 where the diagonal begins in a later one */

    PmfSetColumn(slot, step, column);
    slot->mask[step] = 0;
    for (PetscInt l = 0; l < rows; l++) {
      if (next[l] == csr->i[first + l + 1] || csr->j[next[l]] != column + l) continue;
      slot->from[PMF_LANES * step + (size_t)l] = PmfEntry(slot, next[l]++);
      slot->mask[step] |= (uint8_t)(1U << l);
    }
  }
}

/* The slices of a run; row: its rows, but of diagonals and fragments. Returns how many of them there were */
static size_t PmfFillRun(const PmfStorage *b, const PmfRun *run, const PmfHalves *halves, const PmfLayout *layout, const int32_t row[])
{
  const PetscBool diagonal = (PetscBool)(run->steps[PMF_DIAGONAL] > 0);
  const uint32_t *at       = halves->at[diagonal ? 0 : 1];
  const SpmvCSR  *csr      = layout->rest;
  PmfSlot         slot;

  if (run->flags & PMF_FRAGMENT) {
    const PetscInt piece = run->row / b->nsplit, split = b->split[run->row % b->nsplit];

    slot = PmfSlotOf(b, run, 0, at);
    PmfFillAlone(&slot, csr, PmfFragmentStart(csr, split, piece, b->npieces), PmfFragmentStart(csr, split, piece + 1, b->npieces));
    return 0;
  }
  for (size_t s = 0; s < PmfSlices(run); s++) {
    const PetscInt first = PMF_LANES * (PetscInt)s, rows = PetscMin(PMF_LANES, run->rows - first);

    slot = PmfSlotOf(b, run, s, at);
    if (diagonal) PmfFillDiagonals(&slot, layout->blocks, b->block, run->row + first, rows);
    else if (run->flags & PMF_ALONE) PmfFillAlone(&slot, csr, csr->i[row[s]], csr->i[row[s] + 1]);
    else PmfFillRows(&slot, csr, row + first, (size_t)rows);
  }
  for (int32_t k = 0; k < run->rows && run->flags & PMF_LISTED; k++) {
    if (b->listsize == sizeof(uint16_t)) ((uint16_t *)b->list)[run->list + (uint32_t)k] = (uint16_t)(row[k] - run->row);
    else ((int32_t *)b->list)[run->list + (uint32_t)k] = row[k] - run->row;
  }
  return diagonal ? 0 : (size_t)run->rows;
}

static PetscErrorCode PmfAllocate(PmfStorage *b)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc(b->nruns * sizeof(PmfRun), &b->run));
  PetscCall(SpmvAlloc(PMF_LANES * b->nsteps * sizeof(PetscScalar), &b->value));
  PetscCall(SpmvAlloc(b->ncolumns * sizeof(uint16_t), &b->column));
  PetscCall(SpmvAlloc(b->nmasks, &b->mask));
  PetscCall(SpmvAlloc(b->nlist * b->listsize, &b->list));
  PetscCall(SpmvAlloc(PMF_LANES * b->nsteps * sizeof(uint32_t), &b->from));
  if (b->nsplit) PetscCall(PetscMalloc1(b->npieces * b->nsplit, &b->sum));
  if (b->threads > 1) PetscCall(PetscMalloc1((b->threads - 1) * b->n, &b->transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PmfPredict - the sizes of the storage that PmfBuild() would make

  Input Parameters:
+ csr  - the matrix
- plan - as for PmfBuild()

  Output Parameter:
. b - counts and runs; to be destroyed with PmfReset()
*/
PetscErrorCode PmfPredict(const SpmvCSR *csr, const SpmvPlan *plan, PmfStorage *b)
{
  SpmvPlan  resolved = *plan;
  PmfHalves halves   = {0};
  PmfLayout layout;

  PetscFunctionBegin;
  *b = (PmfStorage){0};
  PetscCall(PmfResolve(csr, &resolved, b, &halves, &layout));
  PetscCall(PmfResolved(&halves, &layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PmfBuild - a storage with the pattern and the values of a matrix

  Input Parameter:
. csr - the matrix

  Input/Output Parameter:
. plan - what is left open is replaced by what was built

  Output Parameter:
. storage - to be destroyed with PmfDestroy(), after an error as well

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if the matrix has more rows, columns or nonzeros than 32-bit indices count.
*/
PetscErrorCode PmfBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  PmfHalves      halves = {0};
  PmfLayout      layout;
  PmfStorage    *b;
  const int32_t *row;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(PetscNew(&b));
  *storage = b;
  PetscCall(PmfResolve(csr, plan, b, &halves, &layout));
  PetscCall(PmfAllocate(b));
  PetscCall(PetscArraycpy(b->run, layout.run, b->nruns));
  row = layout.row;
  for (size_t k = 0; k < b->nruns; k++) row += PmfFillRun(b, &b->run[k], &halves, &layout, row);
  PetscCall(PmfResolved(&halves, &layout));
  PetscCall(PmfSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PmfSetValues - the values of the matrix into a storage with its pattern

  Input Parameters:
+ csr     - the matrix
- storage - made by PmfBuild() from a matrix with the same pattern
*/
PetscErrorCode PmfSetValues(const SpmvCSR *csr, void *storage)
{
  PmfStorage        *b    = (PmfStorage *)storage;
  const PetscScalar *a    = csr->a;
  const uint32_t    *from = b->from;
  const uint8_t     *mask = b->mask;
  PetscScalar       *v    = b->value;

  PetscFunctionBegin;
  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) {
    const size_t slices = PmfSlices(run), masked = PmfMaskedSteps(run);
    const size_t full = PMF_LANES * PmfFullSteps(run) * (masked ? 1 : slices); /* without masks, slices are one after the other */

    for (size_t s = 0; s < (masked ? slices : 1); s++) {
      for (size_t k = 0; k < full; k++) v[k] = a[from[k]];
      v += full;
      from += full;
      for (size_t k = 0; k < masked; k++, mask++, v += PMF_LANES, from += PMF_LANES) {
        for (int l = 0; l < PMF_LANES; l++) v[l] = *mask >> l & 1 ? a[from[l]] : 0;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what a storage has */
PetscErrorCode PmfReset(PmfStorage *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(b->piece));
  PetscCall(PetscFree(b->part));
  PetscCall(PetscFree(b->sum));
  PetscCall(PetscFree(b->transposed));
  PetscCall(SpmvFree(&b->run));
  PetscCall(SpmvFree(&b->value));
  PetscCall(SpmvFree(&b->column));
  PetscCall(SpmvFree(&b->mask));
  PetscCall(SpmvFree(&b->list));
  PetscCall(SpmvFree(&b->from));
  PetscCall(SpmvFree(&b->split));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfDestroy(void **storage)
{
  PetscFunctionBegin;
  if (!*storage) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PmfReset((PmfStorage *)*storage));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
