/*
  pmf_build.c - the arrays of a storage, from its layout
*/
#include "pmf.h"

/* PmfSlot: where the columns and entries of a slice go */
typedef struct {
  const PmfRun   *run;
  uint16_t       *column; /* of the slice */
  uint32_t       *from;   /* of the slice */
  uint8_t        *mask;   /* of the slice */
  const uint32_t *at;     /* entries of the matrix for those of a half; NULL: the same */
  size_t          ones;   /* steps with one column, which are the first */
  size_t          pairs;  /* pairs of steps after them */
  size_t          near;   /* times that steps share pieces of x, after those */
} PmfSlot;

static inline PmfSlot PmfSlotOf(const PmfStorage *b, const PmfRun *run, size_t slice, uint32_t *from, const uint32_t *at)
{
  const size_t masked = PmfMaskedSteps(run);

  return (PmfSlot){
    .run    = run,
    .column = b->column + run->column + slice * PmfColumns(run) * (run->flags & PMF_WIDE ? 2 : 1),
    .from   = from + slice * PmfFroms(run),
    .mask   = b->mask + run->mask + slice * masked,
    .at     = at,
    .ones   = PmfOnes(run),
    .pairs  = (size_t)run->steps[PMF_PAIRED],
    .near   = (size_t)run->steps[PMF_NEAR],
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

/* Lane l of pair t: `entry` and the one after it */
static inline void PmfSetPair(const PmfSlot *slot, size_t t, size_t l, PetscInt entry, PetscInt column)
{
  const size_t k = slot->ones + PMF_LANES * t + l;

  slot->from[k] = PmfEntry(slot, entry);
  PmfSetColumn(slot, k, column);
}

/* Lane l of step s among the gathered ones and the ragged ones after them */
static inline void PmfSetSingle(const PmfSlot *slot, size_t s, size_t l, PetscInt entry, PetscInt column)
{
  const size_t k = slot->ones + PMF_LANES * (slot->pairs + s) + l;

  slot->from[k + slot->near] = PmfEntry(slot, entry);
  PmfSetColumn(slot, k + slot->near * PmfNearColumns(slot->run), column);
}

/* Steps that share pieces of x, for the g-th time; k: the first one */
static void PmfSetNear(const PmfSlot *slot, size_t g, PetscInt k, const PmfNear *near)
{
  const size_t first = g * PmfNearColumns(slot->run), size = slot->run->flags & PMF_WIDE ? sizeof(int32_t) : sizeof(uint16_t);

  slot->from[g] = (uint32_t)k;
  for (size_t p = 0; p < PMF_NEAR_PIECES; p++) PmfSetColumn(slot, first + p, near->piece[p]);
  memcpy((char *)slot->column + (first + PMF_NEAR_PIECES) * size, near->word, sizeof(uint32_t) * (size_t)slot->run->near);
}

/* The mask of ragged step r, whose first lanes have an entry; the others repeat the first lane's column, at[0] */
static inline void PmfSetRagged(const PmfSlot *slot, size_t r, size_t lanes, PetscInt column)
{
  const size_t first = slot->ones + slot->near * PmfNearColumns(slot->run) + PMF_LANES * (slot->pairs + (size_t)slot->run->steps[PMF_GATHERED] + r);

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

    if (kind != PMF_GATHERED) {
      PmfSetColumn(slot, step, j[0][k]);
      slot->from[step] = (uint32_t)k;
    }
    for (size_t l = 0; l < PMF_LANES && kind == PMF_GATHERED; l++) PmfSetSingle(slot, step, l, start[l] + k, j[l][k]);
  }
}

/* The first `full` entries of eight rows, of which some steps share pieces of x */
static void PmfFillNear(const PmfSlot *slot, const PetscInt *const j[], const PetscInt start[], PetscInt full, PetscInt n)
{
  const PetscInt steps = slot->run->near;
  const unsigned same  = PmfNearSame(j, full);
  size_t         g = 0, s = 0;
  PmfNear        near;

  for (PetscInt k = 0; k < full;) {
    if (g < slot->near && k + steps <= full && PmfNearFind(j, same, k, steps, n, &near)) {
      PmfSetNear(slot, g++, k, &near);
      k += steps;
    } else {
      for (size_t l = 0; l < PMF_LANES; l++) PmfSetSingle(slot, s, l, start[l] + k, j[l][k]);
      s++;
      k++;
    }
  }
}

/* Eight rows, or fewer, longest first */
static void PmfFillRows(const PmfSlot *slot, const SpmvCSR *csr, const int32_t row[], size_t rows)
{
  const size_t    ragged = (size_t)slot->run->steps[PMF_RAGGED], gathered = (size_t)slot->run->steps[PMF_GATHERED];
  const PetscBool mixed = (PetscBool)(slot->ones + slot->near > 0);
  const PetscInt *j[PMF_LANES];
  PetscInt        start[PMF_LANES], length[PMF_LANES] = {0}, full;

  for (size_t l = 0; l < rows; l++) {
    start[l]  = csr->i[row[l]];
    length[l] = csr->i[row[l] + 1] - start[l];
    j[l]      = csr->j + start[l];
  }
  full = length[0] - (PetscInt)ragged;
  if (slot->ones) PmfFillSteps(slot, j, start, full);
  if (slot->near) PmfFillNear(slot, j, start, full, csr->n);
  for (size_t l = 0; l < rows; l++) {
    size_t s = mixed ? gathered : 0, t = 0;

    for (PetscInt k = mixed ? full : 0; k < length[l]; k++) {
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
      slot->from[ones++] = PmfEntry(slot, e);
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

/* The slices of a run; row: its rows, but of diagonals and fragments; from: where its elements begin. Returns how many rows there were */
static size_t PmfFillRun(const PmfStorage *b, const PmfRun *run, const PmfHalves *halves, const PmfLayout *layout, const int32_t row[], uint32_t *from)
{
  const PetscBool diagonal = (PetscBool)(run->steps[PMF_DIAGONAL] > 0);
  const uint32_t *at       = halves->at[diagonal ? 0 : 1];
  const SpmvCSR  *csr      = layout->rest;
  PmfSlot         slot;

  if (run->flags & PMF_FRAGMENT) {
    const PetscInt piece = run->row / b->nsplit, split = b->split[run->row % b->nsplit];

    slot = PmfSlotOf(b, run, 0, from, at);
    PmfFillAlone(&slot, csr, PmfFragmentStart(csr, split, piece, b->npieces), PmfFragmentStart(csr, split, piece + 1, b->npieces));
    return 0;
  }
  for (size_t s = 0; s < PmfSlices(run); s++) {
    const PetscInt first = PMF_LANES * (PetscInt)s, rows = PetscMin(PMF_LANES, run->rows - first);

    slot = PmfSlotOf(b, run, s, from, at);
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
  PetscCall(SpmvAllocShared(PMF_LANES * b->nsteps * sizeof(PetscScalar), b->threads, &b->value));
  PetscCall(SpmvAllocShared(b->ncolumns * sizeof(uint16_t), b->threads, &b->column));
  PetscCall(SpmvAlloc(b->nmasks, &b->mask));
  PetscCall(SpmvAlloc(b->nlist * b->listsize, &b->list));
  PetscCall(SpmvAlloc(b->nfrom * sizeof(uint32_t), &b->from));
  if (b->nsplit) PetscCall(PetscMalloc1(b->npieces * b->nsplit, &b->sum));
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
  uint32_t      *from;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(PetscNew(&b));
  *storage = b;
  PetscCall(PmfResolve(csr, plan, b, &halves, &layout));
  PetscCall(PmfAllocate(b));
  PetscCall(PetscArraycpy(b->run, layout.run, b->nruns));
  row  = layout.row;
  from = b->from;
  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) {
    row += PmfFillRun(b, run, &halves, &layout, row, from);
    from += PmfSlices(run) * PmfFroms(run);
  }
  if (b->ndevice) PetscCall(PmfEllFill(layout.rest, &halves, &b->ell));
  PetscCall(PmfResolved(&halves, &layout));
  PetscCall(PmfSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what a storage has */
PetscErrorCode PmfReset(PmfStorage *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(b->piece));
  PetscCall(PetscFree(b->part));
  PetscCall(PetscFree(b->sum));
  PetscCall(PetscFree(b->clears));
  PetscCall(SpmvFree(&b->clear));
  PetscCall(PmfEllReset(&b->ell));
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
