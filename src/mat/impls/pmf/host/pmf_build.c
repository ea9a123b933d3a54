/*
  pmf_build.c - the arrays of a storage, from its layout; its values, at a build and whenever they change
*/
#include "pmf_host.h"

/* PmfSlot: where the columns and entries of a slice go */
typedef struct {
  const PmfRun    *run;
  const PmfHalves *halves;
  int              half;              /* which of them has the entries */
  PmfSizes         at[PMF_KINDS + 1]; /* where each kind begins in the arrays, which are the slice's: */
  uint16_t        *column;
  uint32_t        *from;
  uint8_t         *mask;
} PmfSlot;

static void PmfSetColumn(const PmfSlot *slot, size_t k, PetscInt column)
{
  if (slot->run->flags & PMF_WIDE) ((int32_t *)(void *)slot->column)[k] = (int32_t)column;
  else slot->column[k] = (uint16_t)(column - slot->run->base);
}

/* Element k of a kind: a column, and an entry or the place in their rows of all entries of a step */
static void PmfSet(const PmfSlot *slot, PmfKind kind, size_t k, uint32_t from, PetscInt column)
{
  slot->from[slot->at[kind].froms + k] = from;
  PmfSetColumn(slot, slot->at[kind].columns + k, column);
}

static uint32_t PmfEntry(const PmfSlot *slot, PetscInt entry)
{
  return PmfEntryOf(slot->halves, slot->half, entry);
}

/* Steps that share pieces of x, for the g-th time; k: the first one */
static void PmfSetNear(const PmfSlot *slot, size_t g, PetscInt k, const PmfNear *near)
{
  const size_t words = sizeof(uint32_t) * (size_t)slot->run->near, size = slot->run->flags & PMF_WIDE ? 4 : 2;
  const size_t columns = slot->at[PMF_NEAR].columns + g * (PMF_NEAR_PIECES + words / size);

  slot->from[slot->at[PMF_NEAR].froms + g] = (uint32_t)k;
  for (size_t p = 0; p < PMF_NEAR_PIECES; p++) PmfSetColumn(slot, columns + p, near->piece[p]);
  memcpy((char *)slot->column + (columns + PMF_NEAR_PIECES) * size, near->word, words);
}

/* The mask of ragged step r, whose first lanes have an entry; the others repeat a column that the first one has */
static void PmfSetRagged(const PmfSlot *slot, size_t r, size_t lanes, PetscInt column)
{
  slot->mask[r] = (uint8_t)((1U << lanes) - 1);
  for (size_t l = lanes; l < PMF_LANES; l++) PmfSetColumn(slot, slot->at[PMF_RAGGED].columns + PMF_LANES * r + l, column);
}

/* The first `full` entries of eight rows, where some steps have one column or share pieces of x; returns how many are gathered */
static size_t PmfFillSteps(const PmfSlot *slot, const PetscInt *const j[], const PetscInt start[], PetscInt full, PetscInt n)
{
  const PetscInt steps = slot->run->near, times = slot->run->steps[PMF_NEAR];
  const unsigned same            = steps ? PmfNearSame(j, full) : 0;
  PetscInt       g               = 0;
  size_t         next[PMF_KINDS] = {0};
  PmfNear        near;

  for (PetscInt k = 0; k < full; k++) {
    const PmfKind kind = steps ? PMF_GATHERED : PmfKindOf(j, k);

    if (kind != PMF_GATHERED) PmfSet(slot, kind, next[kind]++, (uint32_t)k, j[0][k]);
    else if (g < times && k + steps <= full && PmfNearFind(j, same, k, steps, n, &near)) {
      PmfSetNear(slot, (size_t)g++, k, &near);
      k += steps - 1;
    } else {
      for (size_t l = 0; l < PMF_LANES; l++) PmfSet(slot, kind, next[kind]++, PmfEntry(slot, start[l] + k), j[l][k]);
    }
  }
  return next[PMF_GATHERED] / PMF_LANES;
}

/* Eight rows, or fewer, longest first */
static void PmfFillRows(const PmfSlot *slot, const SpmvCSR *csr, const int32_t row[], size_t rows)
{
  const int32_t  *steps = slot->run->steps;
  const PetscInt *j[PMF_LANES];
  PetscInt        start[PMF_LANES], length[PMF_LANES] = {0}, full, first = 0;
  size_t          gathered = 0;

  for (size_t l = 0; l < rows; l++) {
    start[l]  = csr->i[row[l]];
    length[l] = csr->i[row[l] + 1] - start[l];
    j[l]      = csr->j + start[l];
  }
  full = length[0] - steps[PMF_RAGGED];
  if (steps[PMF_CONSECUTIVE] + steps[PMF_COMMON] + steps[PMF_NEAR]) {
    gathered = PmfFillSteps(slot, j, start, full, csr->n);
    first    = full;
  }
  for (size_t l = 0; l < rows; l++) {
    size_t s = gathered, t = 0;

    for (PetscInt k = first; k < length[l]; k++) {
      if (t < (size_t)steps[PMF_PAIRED] && PmfIsPair(j[l], k, length[l])) {
        PmfSet(slot, PMF_PAIRED, PMF_LANES * t++ + l, PmfEntry(slot, start[l] + k), j[l][k]);
        k++;
      } else PmfSet(slot, PMF_GATHERED, PMF_LANES * s++ + l, PmfEntry(slot, start[l] + k), j[l][k]);
    }
  }
  for (size_t r = 0, lanes = rows; r < (size_t)steps[PMF_RAGGED]; r++) {
    while (length[lanes - 1] <= full + (PetscInt)r) lanes--;
    PmfSetRagged(slot, r, lanes, j[0][0]);
  }
}

/* Entries [first, end) of one row */
static void PmfFillAlone(const PmfSlot *slot, const SpmvCSR *csr, PetscInt first, PetscInt end)
{
  const int32_t *steps = slot->run->steps;
  const size_t   full  = PMF_LANES * (size_t)steps[PMF_GATHERED];
  size_t         s = 0, t = 0, ones = 0;

  for (PetscInt e = first; e < end; e++) {
    if (t < PMF_LANES * (size_t)steps[PMF_PAIRED] && PmfIsPair(csr->j, e, end)) {
      PmfSet(slot, PMF_PAIRED, t++, PmfEntry(slot, e), csr->j[e]);
      e++;
    } else if (ones < (size_t)steps[PMF_CONSECUTIVE] && (e - first) % PMF_LANES == 0 && e + PMF_LANES <= end &&
               PmfKindAlone(csr->j + e) == PMF_CONSECUTIVE) {
      PmfSet(slot, PMF_CONSECUTIVE, ones++, PmfEntry(slot, e), csr->j[e]);
      e += PMF_LANES - 1;
    } else PmfSet(slot, PMF_GATHERED, s++, PmfEntry(slot, e), csr->j[e]);
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
    const PetscInt column = first + __builtin_ctzll(diagonals) - (block - 1); /* of lane 0, below 0 if it has none */

    PmfSetColumn(slot, step, column);
    slot->mask[step] = 0;
    for (PetscInt l = 0; l < rows; l++) {
      if (next[l] == csr->i[first + l + 1] || csr->j[next[l]] != column + l) continue;
      slot->from[PMF_LANES * step + (size_t)l] = PmfEntry(slot, next[l]++);
      slot->mask[step] |= (uint8_t)(1U << l);
    }
  }
}

/* The slices of a run; row: its rows, but of diagonals and fragments, which have none; from: its elements. Returns how many rows */
static size_t PmfFillRun(const PmfStorage *b, const PmfRun *run, const PmfLayout *layout, const int32_t row[], uint32_t *from)
{
  const PetscBool diagonal = (PetscBool)(run->steps[PMF_DIAGONAL] > 0);
  const SpmvCSR  *csr      = layout->rest;
  PmfSlot         slot     = {run, &layout->halves, !diagonal, {{0}}, b->column + run->column, from, b->mask + run->mask};

  for (int kind = 0; kind <= PMF_KINDS; kind++) slot.at[kind] = PmfSizesOf(run, kind);
  for (PetscInt first = 0; first < run->rows; first += run->flags & PMF_ALONE ? 1 : PMF_LANES) {
    const PetscInt rows = PetscMin(PMF_LANES, run->rows - first);

    if (diagonal) PmfFillDiagonals(&slot, layout->blocks, b->block, run->row + first, rows);
    else if (run->flags & PMF_FRAGMENT) {
      const PetscInt k = run->row % b->nsplit, part = run->row / b->nsplit;

      PmfFillAlone(&slot, csr, PmfFragment(csr, b, k, part), PmfFragment(csr, b, k, part + 1));
    } else if (run->flags & PMF_ALONE) PmfFillAlone(&slot, csr, csr->i[row[first]], csr->i[row[first] + 1]);
    else PmfFillRows(&slot, csr, row + first, (size_t)rows);
    slot.column += slot.at[PMF_KINDS].columns * (run->flags & PMF_WIDE ? 2 : 1);
    slot.from += slot.at[PMF_KINDS].froms;
    slot.mask += slot.at[PMF_KINDS].masks;
  }
  for (int32_t k = 0; k < run->rows && run->flags & PMF_LISTED; k++) {
    if (b->listsize == sizeof(uint16_t)) ((uint16_t *)b->list)[run->list + (uint32_t)k] = (uint16_t)(row[k] - run->row);
    else ((int32_t *)b->list)[run->list + (uint32_t)k] = row[k] - run->row;
  }
  return diagonal || run->flags & PMF_FRAGMENT ? 0 : (size_t)run->rows;
}

/* All arrays but the values */
static PetscErrorCode PmfFill(const PmfLayout *layout, PmfStorage *b)
{
  const int32_t *row = layout->row;
  uint32_t      *from;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(b->nruns * sizeof(PmfRun), &b->run));
  PetscCall(SpmvAllocShared(PMF_LANES * b->nsteps * sizeof(PetscScalar), b->threads, &b->value));
  PetscCall(SpmvAllocShared(b->ncolumns * sizeof(uint16_t), b->threads, &b->column));
  PetscCall(SpmvAlloc(b->nmasks, &b->mask));
  PetscCall(SpmvAlloc(b->nlist * b->listsize, &b->list));
  PetscCall(SpmvAlloc(b->nfrom * sizeof(uint32_t), &b->from));
  PetscCall(SpmvAlloc((size_t)b->nparts * (size_t)b->nsplit * sizeof(PetscScalar), &b->sum));
  PetscCall(PetscArraycpy(b->run, layout->run, b->nruns));
  from = b->from;
  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) {
    row += PmfFillRun(b, run, layout, row, from);
    from += PmfSlices(run) * PmfSizesOf(run, PMF_KINDS).froms;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage with the pattern and the values of a matrix; see SpmvSide.build() */
PetscErrorCode PmfHostBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  PmfLayout      layout;
  PmfStorage    *b;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage = b;
  ierr     = PmfLayoutCreate(csr, plan, b, &layout);
  if (!ierr) ierr = PmfFill(&layout, b);
  plan->value[PMF_PIECES] = layout.pieces;
  PetscCall(PmfLayoutDestroy(&layout));
  PetscCall(ierr);
  PetscCall(PmfHostSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The values of a slice's steps of a kind; lane: where the row of each lane begins, or of a row alone lane[l] = a + l

  `from` has for a step of one column the place in their rows of all its entries, or of a row alone the entry of lane 0; for
  steps that share pieces of x the first one's place; for a pair of steps the entries of the first one; else the entries.
*/
static PetscScalar *PmfSetSteps(const PmfRun *run, int kind, const PetscScalar a[], const PetscScalar *const lane[],
                                const uint32_t **from, const uint8_t **mask, PetscScalar *v)
{
  const PetscBool same  = (PetscBool)(kind <= PMF_COMMON || kind == PMF_NEAR);
  const int       steps = kind == PMF_PAIRED ? 2 : kind == PMF_NEAR ? run->near : 1;

  for (int32_t k = 0; k < run->steps[kind]; k++, *from += same ? 1 : PMF_LANES) {
    const uint32_t *f    = *from;
    const unsigned  here = kind >= PMF_RAGGED ? *(*mask)++ : (1U << PMF_LANES) - 1;

    for (uint32_t t = 0; t < (uint32_t)steps; t++, v += PMF_LANES) {
      for (int l = 0; l < PMF_LANES; l++) v[l] = same ? lane[l][*f + t] : here >> l & 1 ? a[f[l] + t] : 0;
    }
  }
  return v;
}

/* The values of a matrix with the same pattern */
PetscErrorCode PmfHostSetValues(const SpmvCSR *csr, void *storage)
{
  PmfStorage        *b    = (PmfStorage *)storage;
  const uint32_t    *from = b->from;
  const uint8_t     *mask = b->mask;
  PetscScalar       *v    = b->value;
  const PetscScalar *lane[PMF_LANES];

  PetscFunctionBegin;
  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) {
    const PetscBool alone = (PetscBool)((run->flags & PMF_ALONE) != 0);

    for (PetscInt k = 0; k < run->rows; k += alone ? 1 : PMF_LANES) {
      for (PetscInt l = 0; l < PMF_LANES; l++) {
        lane[l] = csr->a + (alone || k + l >= run->rows ? l : csr->i[PmfRow(b, run, (size_t)(k + l))]);
      }
      for (int kind = 0; kind < PMF_KINDS; kind++) v = PmfSetSteps(run, kind, csr->a, lane, &from, &mask, v);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what a storage has */
PetscErrorCode PmfHostReset(PmfStorage *b)
{
  void *const arrays[] = {&b->run, &b->value, &b->column, &b->mask, &b->list, &b->from, &b->split, &b->sum};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(arrays); k++) PetscCall(SpmvFree(arrays[k]));
  PetscCall(PetscFree(b->first));
  PetscCall(PetscFree(b->printed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfHostDestroy(void **storage)
{
  PetscFunctionBegin;
  PetscCall(PmfHostReset((PmfStorage *)*storage));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}
