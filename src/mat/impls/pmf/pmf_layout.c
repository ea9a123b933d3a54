/*
  pmf_layout.c - rows as slices, and slices as runs

  The rows of a segment, which are those of a window that one part has, are taken from the longest to the shortest, eight
  at a time, so that the lanes of a slice that have an entry in a step are always the first ones. A row much longer than
  those after it would make a slice of mostly padding: it goes alone.
*/
#include "pmf.h"

/* Costs in steps of a gathered slice, measured on Zen 4 */
#define PMF_COST_SLICE 1.5  /* eight results to eight places of y */
#define PMF_COST_ALONE 2.   /* a step to end with, and the sum over its lanes */
#define PMF_COST_ONE   0.5  /* a step of one column */
#define PMF_COST_PAIR  1.3  /* two steps */
#define PMF_COST_LOOP  1.   /* of a second kind of step in a slice */
#define PMF_COST_KNOWN 1.5  /* a loop that is not made for its number of steps */
#define PMF_COST_LESS  0.93 /* what steps that share pieces of x must cost of what others do */
#define PMF_SAMPLE     16   /* of so many slices one is looked at, to see whether steps can share pieces of x ... */
#define PMF_SAMPLES    256  /* ... and about so many at most */
#define PMF_HEADER     8    /* steps of a slice that save more bytes by uint16 columns than a run of its own costs */
#define PMF_CONVERT    32   /* consecutive rows that are listed rather than be a run of their own */

/* Of steps that share pieces of x, by how many they are */
static const double PmfNearCost[PMF_NEAR_MAX + 1] = {1, 1, 1.2, 1.54, 1.95};

/* PmfSlice: a slice before it is part of a run */
typedef struct {
  int32_t  flags, rows, row; /* as of PmfRun; row: the least */
  PetscInt top;              /* the largest row */
  PetscInt low, high;        /* least and largest column */
  int32_t  near;             /* as of PmfRun */
  int32_t  steps[PMF_KINDS];
} PmfSlice;

/* Steps of one column are worth it if they are half of the steps; otherwise they would only break runs. Beside blocks, rows have gaps: then there are none */
static inline void PmfSliceGather(PmfSlice *s, PetscBool gaps)
{
  const int32_t structured = s->steps[PMF_CONSECUTIVE] + s->steps[PMF_COMMON];

  if (structured >= s->steps[PMF_GATHERED] && !gaps) return;
  s->steps[PMF_GATHERED] += structured;
  s->steps[PMF_CONSECUTIVE] = s->steps[PMF_COMMON] = 0;
}

/* Pairs that a row has, taken from its first entry on; no more than `most` are looked for */
static PetscInt PmfPairs(const PetscInt j[], PetscInt n, PetscInt most)
{
  PetscInt pairs = 0;

  for (PetscInt k = 0; k + 1 < n && pairs < most; k++) {
    if (!PmfIsPair(j, k, n)) continue;
    pairs++;
    k++;
  }
  return pairs;
}

/* Pairs instead of gathered steps, if they are half of them, and more than there are loops for: those are faster (ani5_crop, 7 entries a row: 0.26 ns an entry, with pairs 0.31) */
static inline void PmfSlicePair(PmfSlice *s, PetscInt pairs)
{
  if (s->steps[PMF_CONSECUTIVE] + s->steps[PMF_COMMON] || s->steps[PMF_GATHERED] <= PMF_KNOWN || 4 * pairs < s->steps[PMF_GATHERED]) return;
  s->steps[PMF_PAIRED] = (int32_t)pairs;
  s->steps[PMF_GATHERED] -= 2 * (int32_t)pairs;
}

/* What the full steps of a slice cost, in gathered steps */
static inline double PmfSliceCost(const PmfSlice *s, PetscInt full)
{
  const int32_t ones = s->steps[PMF_CONSECUTIVE] + s->steps[PMF_COMMON];
  const double  cost = s->steps[PMF_GATHERED] + PMF_COST_PAIR * s->steps[PMF_PAIRED] + PMF_COST_ONE * ones;

  if (full == s->steps[PMF_GATHERED]) return full <= PMF_KNOWN ? cost - PMF_COST_KNOWN : cost;
  return s->steps[PMF_GATHERED] ? cost + PMF_COST_LOOP : cost;
}

/* The same if steps share pieces of x so many times and the others are gathered */
static inline double PmfNearCostOf(PetscInt full, PetscInt steps, int32_t times)
{
  if (!times) return PETSC_MAX_REAL;
  return times * PmfNearCost[steps] + (full - times * steps) + (full > times * steps ? PMF_COST_LOOP : 0);
}

/* Steps that share pieces of x so many times, and gathered ones */
static inline void PmfSliceNear(PmfSlice *s, PetscInt full, PetscInt steps, int32_t times, PetscInt n)
{
  s->steps[PMF_CONSECUTIVE] = 0;
  s->steps[PMF_COMMON]      = 0;
  s->steps[PMF_PAIRED]      = 0;
  s->steps[PMF_NEAR]        = times;
  s->steps[PMF_GATHERED]    = (int32_t)(full - steps * times);
  s->near                   = (int32_t)steps;
  s->low                    = PetscMin(s->low, n - PMF_NEAR_LENGTH);
}

/* The columns of some rows */
static inline void PmfColumnsOf(const SpmvCSR *csr, const int32_t row[], PetscInt rows, const PetscInt *j[])
{
  for (PetscInt l = 0; l < rows; l++) j[l] = csr->j + csr->i[row[l]];
}

/* Rows that have entries, longest first; j: their columns */
static PmfSlice PmfSliceOf(const PmfLayout *layout, const int32_t row[], PetscInt rows, const PetscInt *const j[])
{
  const SpmvCSR  *csr     = layout->rest;
  const PetscBool gaps    = layout->blocks ? PETSC_TRUE : PETSC_FALSE;
  PmfSlice        s       = {.rows = (int32_t)rows, .row = row[0], .top = row[0], .low = PETSC_MAX_INT};
  const PetscInt  longest = csr->i[row[0] + 1] - csr->i[row[0]], common = rows < PMF_LANES ? 0 : csr->i[row[rows - 1] + 1] - csr->i[row[rows - 1]];
  PetscInt        pairs = common / 2;
  int32_t         times = 0;
  double          near  = PETSC_MAX_REAL;

  for (PetscInt l = 0; l < rows; l++) {
    s.low  = PetscMin(s.low, j[l][0]);
    s.high = PetscMax(s.high, csr->j[csr->i[row[l] + 1] - 1]);
    s.row  = PetscMin(s.row, row[l]);
    s.top  = PetscMax(s.top, row[l]);
    if (row[l] != row[0] + l) s.flags = PMF_LISTED;
  }
  for (PetscInt k = 0; k < common; k++) s.steps[PmfKindOf(j, k)]++;
  s.steps[PMF_RAGGED] = (int32_t)(longest - common);
  PmfSliceGather(&s, gaps);
  if (layout->pieces > PMF_PIECES_ANY && common && PmfSliceCost(&s, common) > PmfNearCost[PMF_NEAR_MAX] / PMF_NEAR_MAX * (double)common) {
    times = PmfNearCount(j, PmfNearSame(j, common), common, layout->pieces, csr->n);
    near  = PmfNearCostOf(common, layout->pieces, times);
  }
  if (s.steps[PMF_GATHERED] == common && near > PMF_COST_LESS * PMF_COST_PAIR / 2 * (double)common) {
    for (PetscInt l = 0; l < rows && pairs; l++) pairs = PmfPairs(j[l], common, pairs);
    PmfSlicePair(&s, pairs);
  }
  if (times && near < PMF_COST_LESS * PmfSliceCost(&s, common)) PmfSliceNear(&s, common, layout->pieces, times, csr->n);
  return s;
}

/* Adds what a slice of eight rows of a length costs: [0] while no steps share pieces of x, as the layout says, [steps] if so many do where that is faster */
static void PmfLayoutTry(const PmfLayout *layout, const int32_t row[], double cost[])
{
  const SpmvCSR  *csr  = layout->rest;
  const PetscInt  full = csr->i[row[0] + 1] - csr->i[row[0]];
  const PetscInt *j[PMF_LANES];
  PmfSlice        s;
  double          others;
  unsigned        same;

  for (PetscInt l = 0; l < PMF_LANES; l++) {
    if (!full || csr->i[row[l] + 1] - csr->i[row[l]] != full) return;
  }
  PmfColumnsOf(csr, row, PMF_LANES, j);
  s      = PmfSliceOf(layout, row, PMF_LANES, j);
  others = PmfSliceCost(&s, full);
  same   = PmfNearSame(j, full);
  cost[0] += others;
  for (PetscInt steps = 2; steps <= PMF_NEAR_MAX; steps++) {
    const double near = PmfNearCostOf(full, steps, PmfNearCount(j, same, full, steps, csr->n));

    cost[steps] += PetscMin(others, near);
  }
}

/*
  PmfLayoutSettle - how many steps are to share pieces of x, where that is left open: what makes a sample of slices fastest

  Input Parameter:
. order - the rows

  Input/Output Parameter:
. layout - without slices yet; `pieces` is replaced
*/
void PmfLayoutSettle(PmfLayout *layout, const PmfOrder *order)
{
  const PetscInt slices = layout->rest->m / PMF_LANES, every = PetscMax(PMF_SAMPLE, slices / PMF_SAMPLES);
  double         cost[PMF_NEAR_MAX + 1] = {0}, least;

  if (layout->pieces != PMF_PIECES_ANY) return;
  layout->pieces = PMF_PIECES_NONE;
  for (PetscInt k = PetscMin(every, slices) / 2; k < slices; k += every) PmfLayoutTry(layout, order->row + PMF_LANES * k, cost);
  least = PMF_COST_LESS * cost[0];
  for (PetscInt steps = 2; steps <= PMF_NEAR_MAX; steps++) {
    if (cost[steps] >= least) continue;
    least          = cost[steps];
    layout->pieces = steps;
  }
}

/* Entries [first, end) of one row */
static PmfSlice PmfSliceAlone(const PmfLayout *layout, int32_t row, PetscInt first, PetscInt end)
{
  const SpmvCSR  *csr    = layout->rest;
  const PetscBool gaps   = layout->blocks ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  length = end - first;
  PmfSlice        s      = {.flags = PMF_ALONE, .rows = 1, .row = row, .top = row};

  if (first < end) {
    s.low  = csr->j[first];
    s.high = csr->j[end - 1];
  }
  for (; first + PMF_LANES <= end; first += PMF_LANES) s.steps[PmfKindAlone(csr->j + first)]++;
  s.steps[PMF_RAGGED] = first < end;
  PmfSliceGather(&s, gaps);
  PmfSlicePair(&s, PmfPairs(csr->j + end - length, length, length) / PMF_LANES);
  return s;
}

/* How many of the first rows go alone; the costs of slices are shared by their rows */
static PetscInt PmfAlone(const SpmvCSR *csr, const int32_t row[], PetscInt rows)
{
  double   length[PMF_LANES + 1] = {0}, alone = 0, least = PETSC_MAX_REAL;
  PetscInt best = 0;

  for (PetscInt l = 0; l < rows; l++) length[l] = (double)(csr->i[row[l] + 1] - csr->i[row[l]]);
  if (length[0] - length[PMF_LANES - 1] <= 2) return 0;
  for (PetscInt l = 0; l <= rows; l++) {
    const double cost = alone + (l < PMF_LANES && length[l] > 0 ? (length[l] + PMF_COST_SLICE) * (PMF_LANES - l) / PMF_LANES : 0);

    if (cost < least) {
      least = cost;
      best  = l;
    }
    alone += PetscCeilReal(length[l] / PMF_LANES) + PMF_COST_ALONE;
  }
  return best;
}

/* Ends the open run, whose sizes are now known */
PetscErrorCode PmfLayoutClose(PmfLayout *layout)
{
  PmfRun      *run    = &layout->open;
  PmfStorage  *b      = layout->b;
  const size_t slices = PmfSlices(run), elements = run->flags & PMF_WIDE ? 2 : 1;

  PetscFunctionBegin;
  if (!run->rows) PetscFunctionReturn(PETSC_SUCCESS);
  if (b->nruns == layout->capacity) {
    PmfRun *larger;

    layout->capacity = PetscMax(64, 2 * layout->capacity);
    PetscCall(PetscMalloc1(layout->capacity, &larger));
    PetscCall(PetscArraycpy(larger, layout->run, b->nruns));
    PetscCall(PetscFree(layout->run));
    layout->run = larger;
  }
  b->ncolumns += b->ncolumns % elements; /* int32 at multiples of four bytes */
  run->base   = run->flags & PMF_WIDE ? 0 : (int32_t)layout->low;
  run->list   = (uint32_t)b->nlist;
  run->step   = (uint32_t)b->nsteps;
  run->column = (uint32_t)b->ncolumns;
  run->mask   = (uint32_t)b->nmasks;
  b->nsteps += slices * (PmfFullSteps(run) + PmfMaskedSteps(run));
  b->ncolumns += slices * PmfColumns(run) * elements;
  b->nmasks += slices * PmfMaskedSteps(run);
  *(run->flags & PMF_ALONE ? &b->nalone : &b->nslices) += slices;
  for (size_t k = 0; k < PMF_KINDS; k++) b->kind[k] += slices * (size_t)run->steps[k];
  b->nnear += slices * (size_t)run->near * (size_t)run->steps[PMF_NEAR];
  b->nfrom += slices * PmfFroms(run);
  if (run->flags & PMF_LISTED) b->nlist += (size_t)run->rows;
  layout->run[b->nruns++] = *run;
  run->rows               = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if the open run can take the slice as well */
static PetscBool PmfJoins(const PmfLayout *layout, const PmfSlice *s)
{
  const PmfRun  *run  = &layout->open;
  const int32_t  kind = PMF_ALONE | PMF_ADD | PMF_FRAGMENT;
  const PetscInt low = PetscMin(layout->low, s->low), high = PetscMax(layout->high, s->high), row = PetscMin((PetscInt)run->row, s->row), top = PetscMax(layout->top, s->top);

  if (!run->rows || ((run->flags ^ s->flags) & kind) || (run->flags & PMF_FRAGMENT) || run->near != s->near || memcmp(run->steps, s->steps, sizeof(s->steps))) return PETSC_FALSE;
  if (!(run->flags & PMF_ALONE) && (run->rows % PMF_LANES || s->rows < PMF_LANES)) return PETSC_FALSE;
  if (!(run->flags & PMF_LISTED) && (s->flags & PMF_LISTED || s->row != run->row + run->rows) && (run->rows > PMF_CONVERT || s->steps[PMF_DIAGONAL])) return PETSC_FALSE;
  if (layout->b->listsize == sizeof(uint16_t) && top - row > UINT16_MAX) return PETSC_FALSE;
  if (run->flags & PMF_WIDE) return (PetscBool)(s->flags & PMF_WIDE || s->steps[PMF_PAIRED] + s->steps[PMF_NEAR] / 2 + s->steps[PMF_GATHERED] + s->steps[PMF_RAGGED] < PMF_HEADER);
  return (PetscBool)(!(s->flags & PMF_WIDE) && high - low <= UINT16_MAX);
}

/* Steps of a kind may be gathered instead: a slice that has some more of them than the open run takes its number, so as not to end it */
static void PmfFewer(const PmfRun *run, PmfSlice *s, PmfKind kind, int32_t steps)
{
  const int32_t more = s->steps[kind] - run->steps[kind];

  if (!run->rows || more <= 0 || 4 * more > s->steps[kind] || s->steps[PMF_GATHERED] + steps * more != run->steps[PMF_GATHERED]) return;
  s->steps[kind] -= more;
  s->steps[PMF_GATHERED] += steps * more;
}

static PetscErrorCode PmfAppend(PmfLayout *layout, PmfSlice *s)
{
  PmfRun *run = &layout->open;

  PetscFunctionBegin;
  if (layout->b->n <= UINT16_MAX + 1 && s->low > 0) s->low = 0; /* then all runs have the same base, and none ends because of it */
  if (layout->wide || s->high - s->low > UINT16_MAX) s->flags |= PMF_WIDE;
  PmfFewer(run, s, PMF_PAIRED, 2);
  if (run->near == s->near) PmfFewer(run, s, PMF_NEAR, s->near);
  if (PmfJoins(layout, s)) {
    if (s->row != run->row + run->rows) run->flags |= PMF_LISTED;
    run->flags |= s->flags & PMF_LISTED;
    run->rows += s->rows;
    run->row     = PetscMin(run->row, s->row);
    layout->low  = PetscMin(layout->low, s->low);
    layout->high = PetscMax(layout->high, s->high);
    layout->top  = PetscMax(layout->top, s->top);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PmfLayoutClose(layout));
  *run = (PmfRun){.flags = s->flags, .rows = s->rows, .row = s->row, .near = s->near};
  PetscCall(PetscArraycpy(run->steps, s->steps, PMF_KINDS));
  layout->low  = s->low;
  layout->high = s->high;
  layout->top  = s->top;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows at places [first, end) of the order, of increasing length, from the longest to the shortest, those of a length as they are */
static void PmfLongestFirst(PmfLayout *layout, const PmfOrder *order, PetscInt first, PetscInt end)
{
  while (end > first) {
    const PetscInt length = PmfLength(layout->rest, order->limit, order->row[end - 1]);
    PetscInt       start  = end - 1;

    if (!length) break;
    while (start > first && PmfLength(layout->rest, order->limit, order->row[start - 1]) == length) start--;
    memcpy(layout->row + layout->nrows, order->row + start, sizeof(int32_t) * (size_t)(end - start));
    layout->nrows += (size_t)(end - start);
    end = start;
  }
  if (end > first) layout->b->empty = PETSC_TRUE;
}

/* The rows at places [first, end) of the order, ordered by length together */
PetscErrorCode PmfLayoutSegment(PmfLayout *layout, const PmfOrder *order, PetscInt first, PetscInt end)
{
  const SpmvCSR *csr = layout->rest;
  const int32_t  add = layout->blocks ? PMF_ADD : 0;
  size_t         k   = layout->nrows;

  PetscFunctionBegin;
  PmfLongestFirst(layout, order, first, end);
  while (k < layout->nrows) {
    const int32_t *row   = layout->row + k;
    const PetscInt rows  = (PetscInt)PetscMin((size_t)PMF_LANES, layout->nrows - k);
    PetscInt       alone = PmfAlone(csr, row, rows);

    k += (size_t)(alone ? alone : rows);
    if (!alone) {
      const PetscInt *j[PMF_LANES];
      PmfSlice        s;

      PmfColumnsOf(csr, row, rows, j);
      s = PmfSliceOf(layout, row, rows, j);
      s.flags |= add;
      PetscCall(PmfAppend(layout, &s));
    }
    for (; alone; alone--, row++) {
      PmfSlice s = PmfSliceAlone(layout, *row, csr->i[*row], csr->i[*row + 1]);

      s.flags |= add;
      PetscCall(PmfAppend(layout, &s));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Algorithm 4: the blocks along the diagonal that rows [first, end) have, as pieces of diagonals */
PetscErrorCode PmfLayoutBlocks(PmfLayout *layout, PetscInt first, PetscInt end)
{
  const PetscInt block = layout->b->block;

  PetscFunctionBegin;
  for (PetscInt r = first; r < end; r += PMF_LANES) {
    const PetscInt rows      = PetscMin(PMF_LANES, end - r);
    const uint64_t diagonals = PmfDiagonals(layout->blocks, block, r, rows);
    PmfSlice       s         = {.flags = PMF_ADD, .rows = (int32_t)rows, .row = (int32_t)r, .top = r + rows - 1};

    if (!diagonals) continue;
    s.low                 = r + __builtin_ctzll(diagonals) - (block - 1);
    s.high                = r + 63 - __builtin_clzll(diagonals) - (block - 1);
    s.steps[PMF_DIAGONAL] = __builtin_popcountll(diagonals);
    PetscCall(PmfAppend(layout, &s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A piece's fragment of the s-th row that is split */
PetscErrorCode PmfLayoutFragment(PmfLayout *layout, PetscInt piece, PetscInt s)
{
  const PmfStorage *b     = layout->b;
  const int32_t     row   = b->split[s];
  const PetscInt    first = PmfFragmentStart(layout->rest, row, piece, b->npieces), end = PmfFragmentStart(layout->rest, row, piece + 1, b->npieces);
  PmfSlice          slice;

  PetscFunctionBegin;
  slice = PmfSliceAlone(layout, row, first, end);
  slice.flags |= PMF_FRAGMENT;
  slice.row = (int32_t)(piece * b->nsplit + s);
  slice.top = slice.row;
  PetscCall(PmfAppend(layout, &slice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
