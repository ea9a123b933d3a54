/*
  pmf_build.c - the arrays of a storage, from its layout; its values, at a build and whenever they change
*/
#include "pmf_pairs.h"

/* PmfSlot: where the columns and entries of a slice go */
typedef struct {
  const PmfLayout *layout;
  const int32_t   *row; /* its rows, but of diagonals and fragments */
  const PmfRun    *run;
  size_t           size;              /* of a column */
  PmfSizes         at[PMF_KINDS + 1]; /* where each kind begins in the arrays, which are the slice's: */
  char            *column;
  uint32_t        *from;
  uint8_t         *mask;
} PmfSlot;

/* Column k of a kind */
static void PmfSetColumn(const PmfSlot *slot, PmfKind kind, size_t k, PetscInt column)
{
  PmfIndexSet(slot->column + slot->at[kind].columns, slot->size, k, column - slot->run->base);
}

/* Column k of a kind, and an entry, or the place in their rows of all entries of a step */
static void PmfSet(const PmfSlot *slot, PmfKind kind, size_t k, uint32_t from, PetscInt column)
{
  slot->from[slot->at[kind].froms + k] = from;
  PmfSetColumn(slot, kind, k, column);
}

/* The same of an entry of the rest, by itself or the first of a pair or consecutive step */
static void PmfSetEntry(const PmfSlot *slot, PmfKind kind, size_t k, PetscInt entry)
{
  PmfSet(slot, kind, k, PmfEntryOf(&slot->layout->order, entry), slot->layout->order.rest.j[entry]);
}

/* Steps that share pieces of x, for the g-th time; k: the first one */
static void PmfSetNear(const PmfSlot *slot, size_t g, PetscInt k, const PmfNear *near)
{
  const size_t words = sizeof(uint32_t) * (size_t)slot->run->near, pieces = PMF_NEAR_PIECES * slot->size;
  char        *column = slot->column + slot->at[PMF_NEAR].columns + g * (pieces + words);

  slot->from[slot->at[PMF_NEAR].froms + g] = (uint32_t)k;
  for (size_t p = 0; p < PMF_NEAR_PIECES; p++) PmfIndexSet(column, slot->size, p, near->piece[p] - slot->run->base);
  memcpy(column + pieces, near->word, words);
}

/* The mask of ragged step r, whose first lanes have an entry; the others repeat a column that the first one has */
static void PmfSetRagged(const PmfSlot *slot, size_t r, size_t lanes, PetscInt column)
{
  slot->mask[r] = (uint8_t)((1U << lanes) - 1);
  for (size_t l = lanes; l < PMF_LANES; l++) PmfSetColumn(slot, PMF_RAGGED, PMF_LANES * r + l, column);
}

/* Gathered step s of eight rows: entry k of each. Inline, since builds spend their time here */
static inline __attribute__((always_inline)) void PmfSetGathered(const PmfSlot *slot, size_t s, PetscInt k,
                                                                 const PetscInt *const j[], const PetscInt start[])
{
  if (slot->run->flags & PMF_UNEVEN) {
    for (size_t l = 0; l < PMF_LANES; l++) PmfSetEntry(slot, PMF_GATHERED, PMF_LANES * s + l, start[l] + k);
    return;
  }
  slot->from[slot->at[PMF_GATHERED].froms + s] = (uint32_t)k;
  for (size_t l = 0; l < PMF_LANES; l++) PmfSetColumn(slot, PMF_GATHERED, PMF_LANES * s + l, j[l][k]);
}

/* The first `full` entries of eight rows, where there are no pairs */
static void PmfFillSteps(const PmfSlot *slot, const PetscInt *const j[], const PetscInt start[], PetscInt full)
{
  const PetscInt steps = slot->run->near, n = slot->layout->csr->n;
  PetscInt       times           = slot->run->steps[PMF_NEAR];
  PetscInt       g               = 0;
  size_t         next[PMF_KINDS] = {0};
  PmfSame        same;
  PmfNear        near;

  if (steps && !PmfNearSame(j, full, &same)) times = 0;
  for (PetscInt k = 0; k < full; k++) {
    const PmfKind kind = steps ? PMF_GATHERED : PmfKindOf(j, k);

    if (kind != PMF_GATHERED) PmfSet(slot, kind, next[kind]++, (uint32_t)k, j[0][k]);
    else if (g < times && k + steps <= full && PmfNearFind(&same, k, steps, n, &near)) {
      PmfSetNear(slot, (size_t)g++, k, &near);
      k += steps - 1;
    } else PmfSetGathered(slot, next[PMF_GATHERED]++, k, j, start);
  }
}

/* Entries [first, end) of row l of a slice, from entry 0 of its ragged steps on */
static void PmfFillRagged(const PmfSlot *slot, size_t l, PetscInt first, PetscInt end)
{
  for (size_t r = 0; first < end; r++, first++) PmfSetEntry(slot, PMF_RAGGED, PMF_LANES * r + l, first);
}

/*
  Entries [first, end) of row l of a slice, none of them ragged: as many pairs as it has, then gathered ones. What is in a pair is
  taken from bits: see pmf_pairs.h. Inline, as above
*/
static inline __attribute__((always_inline)) void PmfFillPairs(const PmfSlot *slot, size_t l, PetscInt first, PetscInt end)
{
  const PetscInt *j     = slot->layout->order.rest.j;
  const size_t    pairs = PMF_LANES * (size_t)slot->run->steps[PMF_PAIRED];
  size_t          s = l, t = l;

  while (first < end) {
    const uint64_t all  = PmfPairsOf(j + first, end - first);
    uint64_t       more = all, taken, ones;

    for (; more && t < pairs; more &= more - 1, t += PMF_LANES) PmfSetEntry(slot, PMF_PAIRED, t, first + __builtin_ctzll(more));
    taken = all & ~more;
    ones  = ~(taken | taken << 1);
    if (end - first < 64) ones &= (UINT64_C(1) << (end - first)) - 1;
    for (; ones; ones &= ones - 1, s += PMF_LANES) PmfSetEntry(slot, PMF_GATHERED, s, first + __builtin_ctzll(ones));
    first += PmfPairsTurn(taken);
  }
}

/* Eight rows, or fewer, longest first */
static void PmfFillRows(const PmfSlot *slot, size_t rows)
{
  const SpmvCSR  *csr   = &slot->layout->order.rest;
  const int32_t  *steps = slot->run->steps;
  const PetscInt *j[PMF_LANES];
  PetscInt        start[PMF_LANES], length[PMF_LANES] = {0}, full;

  for (size_t l = 0; l < rows; l++) {
    start[l]  = csr->i[slot->row[l]];
    length[l] = csr->i[slot->row[l] + 1] - start[l];
    j[l]      = csr->j + start[l];
  }
  full = length[0] - steps[PMF_RAGGED];
  if (steps[PMF_PAIRED]) {
    for (size_t l = 0; l < rows; l++) PmfFillPairs(slot, l, start[l], start[l] + full);
  } else if (steps[PMF_CONSECUTIVE] + steps[PMF_COMMON] + steps[PMF_NEAR]) PmfFillSteps(slot, j, start, full);
  else {
    for (PetscInt k = 0; k < full; k++) PmfSetGathered(slot, (size_t)k, k, j, start);
  }
  for (size_t l = 0; l < rows; l++) PmfFillRagged(slot, l, start[l] + full, start[l] + length[l]);
  for (size_t r = 0, lanes = rows; r < (size_t)steps[PMF_RAGGED]; r++) {
    while (length[lanes - 1] <= full + (PetscInt)r) lanes--;
    PmfSetRagged(slot, r, lanes, j[0][0]);
  }
}

/* Entries [first, end) of one row: as many pairs or consecutive steps as the slice has, then gathered ones, then the ragged
   step */
static void PmfFillAlone(const PmfSlot *slot, PetscInt first, PetscInt end)
{
  const PetscInt *j     = slot->layout->order.rest.j;
  const int32_t  *steps = slot->run->steps;
  const size_t    full = PMF_LANES * (size_t)steps[PMF_GATHERED], pairs = PMF_LANES * (size_t)steps[PMF_PAIRED];
  size_t          ones = 0, t = 0, s = 0, r = 0;

  for (PetscInt e = first; e < end; e++) {
    if (t < pairs && e + 1 < end && j[e + 1] == j[e] + 1) PmfSetEntry(slot, PMF_PAIRED, t++, e++);
    else if (ones < (size_t)steps[PMF_CONSECUTIVE] && (e - first) % PMF_LANES == 0 && e + PMF_LANES <= end &&
             PmfKindAlone(j + e) == PMF_CONSECUTIVE) {
      PmfSetEntry(slot, PMF_CONSECUTIVE, ones++, e);
      e += PMF_LANES - 1;
    } else if (s == full) PmfSetEntry(slot, PMF_RAGGED, r++, e);
    else if (slot->run->flags & PMF_UNEVEN) PmfSetEntry(slot, PMF_GATHERED, s++, e);
    else {
      PmfSetColumn(slot, PMF_GATHERED, s, j[e]);
      slot->from[slot->at[PMF_GATHERED].froms + s / PMF_LANES] = (uint32_t)(e - (PetscInt)(s % PMF_LANES));
      s++;
    }
  }
  if (r) PmfSetRagged(slot, 0, r, j[first]);
}

/* What rows [first, first + rows) have on the diagonals of their block */
static void PmfFillDiagonals(const PmfSlot *slot, PetscInt first, PetscInt rows)
{
  int32_t  offset[64];
  uint32_t mask[64];

  PmfDiagonalsFill(slot->layout->csr, slot->layout->order.block, first, rows, PMF_LANES, offset, mask, slot->from);
  for (size_t d = 0; d < (size_t)slot->run->steps[PMF_DIAGONAL]; d++) {
    PmfSetColumn(slot, PMF_DIAGONAL, d, first + offset[d]);
    slot->mask[d] = (uint8_t)mask[d];
  }
}

/* The slices of a run; slot: where the first one goes, on return what comes after the last */
static void PmfFillRun(const PmfStorage *b, const PmfRun *run, PmfSlot *slot)
{
  const PetscInt *i = slot->layout->order.rest.i, step = run->flags & PMF_ALONE ? 1 : PMF_LANES;

  slot->run    = run;
  slot->size   = PmfColumnSize(run);
  slot->column = (char *)(b->column + run->column);
  for (int kind = 0; kind <= PMF_KINDS; kind++) slot->at[kind] = PmfSizesOf(run, kind);
  for (int32_t k = 0; k < run->rows && run->flags & PMF_LISTED; k++) {
    PmfIndexSet(b->list, b->listsize, run->list + (size_t)k, slot->row[k] - run->row);
  }
  for (PetscInt first = 0; first < run->rows; first += step) {
    const PetscInt rows = PetscMin(step, run->rows - first);

    if (run->steps[PMF_DIAGONAL]) PmfFillDiagonals(slot, run->row + first, rows);
    else if (run->flags & PMF_FRAGMENT) {
      PmfFillAlone(slot, PmfFragment(slot->layout, run->row), PmfFragment(slot->layout, run->row + b->nsplit));
    } else {
      PmfPrefetchRows(slot->layout, slot->row, step);
      if (run->flags & PMF_ALONE) PmfFillAlone(slot, i[slot->row[0]], i[slot->row[0] + 1]);
      else PmfFillRows(slot, (size_t)rows);
      slot->row += rows;
    }
    slot->column += slot->at[PMF_KINDS].columns;
    slot->from += slot->at[PMF_KINDS].froms;
    slot->mask += slot->at[PMF_KINDS].masks;
  }
}

/* A storage with the pattern and the values of a matrix; see SpmvSide.build() */
PetscErrorCode PmfHostBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  SPMV_DESTROY_BY(PmfLayoutDestroy)
  PmfLayout   layout = {.csr = csr};
  PmfSlot     slot   = {.layout = &layout};
  PmfStorage *b;

  PetscFunctionBegin;
  PetscCall(PmfLayoutCreate(csr, plan, &layout, storage));
  b = layout.b;
  PetscCall(SpmvAlloc(b->nruns * sizeof(PmfRun), &b->run));
  PetscCall(SpmvAllocShared(b->ncolumns * sizeof(uint16_t), b->threads, &b->column));
  PetscCall(SpmvAlloc(b->nmasks, &b->mask));
  PetscCall(SpmvAlloc(b->nlist * b->listsize, &b->list));
  PetscCall(SpmvAlloc(b->nfrom * sizeof(uint32_t), &b->from));
  PetscCall(SpmvAlloc((size_t)b->nparts * (size_t)b->nsplit * sizeof(PetscScalar), &b->sum));
  PetscCall(PetscArraycpy(b->run, layout.run, b->nruns));
  slot.row  = layout.row;
  slot.from = b->from;
  slot.mask = b->mask;
  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) PmfFillRun(b, run, &slot);
  PetscCall(PmfHostSetValues(csr, b));
  plan->value[PMF_PIECES] = layout.pieces;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The values of the steps of a kind, of `size` bytes each; lane: where the row of each lane begins, or of a row alone a's entry l

  `from` has for a step that PmfIsSame() the place in their rows of all its entries, or of a row alone the entry of lane 0; of
  steps that share pieces of x it is the first one's; for a pair of steps the entries of the first one; else the entries.
*/
static inline __attribute__((always_inline)) char *PmfSetSteps(const PmfRun *run, int kind, const char *a,
                                                               const char *const lane[], size_t size, const uint32_t **from,
                                                               const uint8_t **mask, char *v)
{
  const PetscBool same                      = PmfIsSame(run, kind);
  const size_t    n                         = (size_t)run->steps[kind];
  const size_t    steps                     = kind == PMF_PAIRED ? 2 : kind == PMF_NEAR ? (size_t)run->near : 1;
  const uint32_t *f                         = *from;
  const char      zero[sizeof(PetscScalar)] = {0};

  for (*from += (same ? 1 : PMF_LANES) * n; f < *from; f += same ? 1 : PMF_LANES) {
    const unsigned here = kind >= PMF_RAGGED ? *(*mask)++ : 0;

    for (size_t t = 0; t < steps; t++, v += PMF_LANES * size) {
      if (same) {
        for (size_t l = 0; l < PMF_LANES; l++) memcpy(v + l * size, lane[l] + (*f + t) * size, size);
      } else if (kind < PMF_RAGGED) {
        for (size_t l = 0; l < PMF_LANES; l++) memcpy(v + l * size, a + (f[l] + t) * size, size);
      } else {
        for (size_t l = 0; l < PMF_LANES; l++) memcpy(v + l * size, here >> l & 1 ? a + f[l] * size : zero, size);
      }
    }
  }
  return v;
}

/* The codes of all values, from those in the order of CSR */
static inline __attribute__((always_inline)) void PmfSetAll(const SpmvCSR *csr, PmfStorage *b, const char *a, size_t size)
{
  const uint32_t *from = b->from;
  const uint8_t  *mask = b->mask;
  char           *v    = (char *)b->value.data;
  const char     *lane[PMF_LANES];

  for (const PmfRun *run = b->run; run < b->run + b->nruns; run++) {
    const PetscInt alone = run->flags & PMF_ALONE, rows = run->rows, ahead = alone ? 0 : b->rows_ahead;

    for (PetscInt first = 0; first < rows; first += alone ? 1 : PMF_LANES) {
      for (PetscInt l = 0; l < PMF_LANES; l++)
        lane[l] = a + size * (size_t)(alone || first + l >= rows ? l : csr->i[PmfRow(b, run, (size_t)(first + l))]);
      for (PetscInt r = first + PMF_LANES; r < PetscMin(first + PMF_LANES + ahead, rows); r++) {
        const PetscInt *i = csr->i + PmfRow(b, run, (size_t)r);

        SpmvPrefetch(a + size * (size_t)i[0], size * (size_t)(i[1] - i[0]));
      }
#pragma GCC unroll 8 /* for the compiler to know the kind */
      for (int kind = 0; kind < PMF_KINDS; kind++) v = PmfSetSteps(run, kind, a, lane, size, &from, &mask, v);
    }
  }
}

/* The values of a matrix with the same pattern; what is coded of them is found anew */
PetscErrorCode PmfHostSetValues(const SpmvCSR *csr, void *storage)
{
  PmfStorage *b = (PmfStorage *)storage;
  SPMV_DESTROY_BY(SpmvCodesDestroy)
  SpmvCodes codes = {.own = NULL};

  PetscFunctionBegin;
  PetscCall(SpmvCodesCreate(csr, (SpmvValuesWanted)b->wanted, &codes));
  PetscCall(SpmvValuesTake(&b->value, PMF_LANES * b->nsteps, b->threads, &codes));
  if (codes.size == sizeof(uint8_t)) PmfSetAll(csr, b, codes.data, sizeof(uint8_t));
  else if (codes.size == sizeof(PetscScalar)) PmfSetAll(csr, b, codes.data, sizeof(PetscScalar));
  else if (codes.size) PmfSetAll(csr, b, codes.data, sizeof(float));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfHostDestroy(void *storage)
{
  PmfStorage *b = (PmfStorage *)storage;

  PetscFunctionBegin;
  PetscCall(SpmvFree(&b->split)); /* there, if not listed, without rows that are split */
  PetscCall(SpmvFree(&b->sum));
  PetscCall(PetscFree(b->first));
  PetscCall(PetscFree(b->printed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
