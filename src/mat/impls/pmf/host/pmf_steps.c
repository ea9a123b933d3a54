/*
  pmf_steps.c - which kinds of steps a slice has: those that cost least

  A product in cache waits for the loads of x, eight for each step. Rows of the unknowns of one node have the same columns, in
  short pieces, the unknowns of another node. So what the eight rows of a slice have in several steps may be in a few pieces of x
  (PMF_NEAR): these are loaded once, and what each lane has of them is taken from registers.
*/
#include "pmf_pairs.h"

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

/* Of steps that share pieces of x, by how many they are */
static const double PmfNearCost[PMF_NEAR_MAX + 1] = {1, 1, 1.2, 1.54, 1.95};

/* Which of eight rows have the same columns in the first `full` steps; false if more differ than there are pieces of x */
PetscBool PmfNearSame(const PetscInt *const j[], PetscInt full, PmfSame *same)
{
  same->n = 0;
  for (int l = 0; l < PMF_LANES; l++) {
    if (!l || j[l][0] != j[l - 1][0] || memcmp(j[l], j[l - 1], sizeof(PetscInt) * (size_t)full)) {
      if (same->n == PMF_NEAR_PIECES) return PETSC_FALSE;
      same->j[same->n]       = j[l];
      same->lanes[same->n++] = 0;
    }
    same->lanes[same->n - 1] |= UINT32_C(1) << 4 * l;
  }
  return PETSC_TRUE;
}

/* As PmfNearFind(); near: NULL to ask only whether there are such pieces. Inline, for what is not asked to take no time */
static inline __attribute__((always_inline)) PetscBool PmfNearLook(const PmfSame *same, PetscInt k, PetscInt steps, PetscInt n,
                                                                   PmfNear *near)
{
  PetscInt piece  = 0;
  int      pieces = 0;

  if (near) *near = (PmfNear){.word = {0}};
  for (int r = 0; r < same->n; r++) {
    for (PetscInt s = 0; s < steps; s++) {
      const PetscInt column = same->j[r][k + s];

      if (s == 0 || column >= piece + PMF_NEAR_LENGTH) {
        if (pieces == PMF_NEAR_PIECES) return PETSC_FALSE;
        piece = PetscMin(column, n - PMF_NEAR_LENGTH);
        if (near) near->piece[pieces] = (int32_t)piece;
        pieces++;
      }
      if (near) near->word[s] |= same->lanes[r] * (uint32_t)(PMF_NEAR_LENGTH * (pieces - 1) + column - piece);
    }
  }
  return PETSC_TRUE;
}

/* Pieces of x, of n entries, with the columns that eight rows have in steps [k, k + steps); false if four are too few */
PetscBool PmfNearFind(const PmfSame *same, PetscInt k, PetscInt steps, PetscInt n, PmfNear *near)
{
  return PmfNearLook(same, k, steps, n, near);
}

/* How many times so many of the full steps of a slice can share pieces of x */
static int32_t PmfNearCount(const PetscInt *const j[], PetscInt full, PetscInt steps, PetscInt n)
{
  int32_t times = 0;
  PmfSame same;

  if (n < PMF_NEAR_LENGTH || !PmfNearSame(j, full, &same)) return 0;
  for (PetscInt k = 0; k + steps <= full;) {
    const PetscBool is = PmfNearLook(&same, k, steps, n, NULL);

    times += is;
    k += is ? steps : 1;
  }
  return times;
}

/* Steps of one column */
static int32_t PmfOnes(const PmfRun *run)
{
  return run->steps[PMF_CONSECUTIVE] + run->steps[PMF_COMMON];
}

/* Steps of one column are worth it if they are half of the steps, or they would only break runs; beside blocks, rows have gaps */
static void PmfMakeGathered(PmfRun *run, const PmfLayout *layout)
{
  const int32_t ones = PmfOnes(run);

  if (ones >= run->steps[PMF_GATHERED] && !layout->order.block) return;
  run->steps[PMF_GATHERED] += ones;
  run->steps[PMF_CONSECUTIVE] = run->steps[PMF_COMMON] = 0;
}

/* Pairs that a row has, taken from its first entry on; `most` at most */
static PetscInt PmfPairs(const PetscInt j[], PetscInt n, PetscInt most)
{
  PetscInt pairs = 0;

  for (PetscInt k = 0; k + 1 < n && pairs < most;) {
    const uint64_t here = PmfPairsOf(j + k, n - k);

    pairs += __builtin_popcountll(here);
    k += PmfPairsTurn(here);
  }
  return PetscMin(pairs, most);
}

/* Pairs are worth it if they are half of the gathered steps */
static PetscBool PmfPairsPay(const PmfRun *run, PetscInt pairs)
{
  return (PetscBool)(4 * pairs >= run->steps[PMF_GATHERED]);
}

/*
  Pairs instead of gathered steps, if these are more than there are loops for, which are faster (ani5_crop, 7 entries a row:
  0.26 ns an entry, with pairs 0.31)
*/
static void PmfMakePaired(PmfRun *run, PetscInt pairs)
{
  if (PmfOnes(run) || run->steps[PMF_GATHERED] <= PMF_KNOWN || !PmfPairsPay(run, pairs)) return;
  run->steps[PMF_PAIRED] = (int32_t)pairs;
  run->steps[PMF_GATHERED] -= 2 * (int32_t)pairs;
}

/* What the full steps of a slice cost, in gathered steps */
static double PmfCost(const PmfRun *run, PetscInt full)
{
  const int32_t gathered = run->steps[PMF_GATHERED];
  const double  cost     = gathered + PMF_COST_PAIR * run->steps[PMF_PAIRED] + PMF_COST_ONE * PmfOnes(run);

  if (full == gathered) return full <= PMF_KNOWN ? cost - PMF_COST_KNOWN : cost;
  return gathered ? cost + PMF_COST_LOOP : cost;
}

/* The same if steps share pieces of x so many times and the others are gathered */
static double PmfCostNear(PetscInt full, PetscInt steps, int32_t times)
{
  if (!times) return PETSC_MAX_REAL;
  return times * PmfNearCost[steps] + (full - times * steps) + (full > times * steps ? PMF_COST_LOOP : 0);
}

/* A slice of rows that have entries, longest first */
PmfSlice PmfSliceOf(const PmfLayout *layout, const int32_t row[], PetscInt rows)
{
  const SpmvCSR  *csr    = &layout->order.rest;
  const PetscInt  common = rows < PMF_LANES ? 0 : csr->i[row[rows - 1] + 1] - csr->i[row[rows - 1]];
  PetscInt        pairs  = common / 2;
  int32_t         times  = 0;
  double          near   = PETSC_MAX_REAL;
  PmfSlice        s      = {.run = {.rows = (int32_t)rows, .row = row[0]}, .top = row[0], .low = PETSC_MAX_INT};
  int32_t        *steps  = s.run.steps;
  const PetscInt *j[PMF_LANES];

  for (PetscInt l = 0; l < rows; l++) {
    j[l]      = csr->j + csr->i[row[l]];
    s.low     = PetscMin(s.low, j[l][0]);
    s.high    = PetscMax(s.high, csr->j[csr->i[row[l] + 1] - 1]);
    s.run.row = PetscMin(s.run.row, row[l]);
    s.top     = PetscMax(s.top, row[l]);
    if (row[l] != row[0] + l) s.run.flags = PMF_LISTED;
  }
  for (PetscInt k = 0; k < common; k++) steps[PmfKindOf(j, k)]++;
  steps[PMF_RAGGED] = (int32_t)(csr->i[row[0] + 1] - csr->i[row[0]] - common);
  PmfMakeGathered(&s.run, layout);
  if (layout->pieces > PMF_PIECES_ANY && PmfCost(&s.run, common) > PmfNearCost[PMF_NEAR_MAX] / PMF_NEAR_MAX * (double)common) {
    times = PmfNearCount(j, common, layout->pieces, csr->n);
    near  = PmfCostNear(common, layout->pieces, times);
  }
  if (steps[PMF_GATHERED] == common && common > PMF_KNOWN && near > PMF_COST_LESS * PMF_COST_PAIR / 2 * (double)common) {
    for (PetscInt l = 0; l < rows && PmfPairsPay(&s.run, pairs); l++) pairs = PmfPairs(j[l], common, pairs);
    PmfMakePaired(&s.run, pairs);
  }
  if (near < PMF_COST_LESS * PmfCost(&s.run, common)) {
    steps[PMF_CONSECUTIVE] = steps[PMF_COMMON] = steps[PMF_PAIRED] = 0;
    steps[PMF_NEAR]                                                = times;
    steps[PMF_GATHERED]                                            = (int32_t)(common - layout->pieces * times);
    s.run.near                                                     = (int32_t)layout->pieces;
    s.low                                                          = PetscMin(s.low, csr->n - PMF_NEAR_LENGTH);
  }
  return s;
}

/* How many steps are to share pieces of x, where that is left open: what makes a sample of slices of equally long rows fastest */
void PmfChoosePieces(PmfLayout *layout)
{
  const SpmvCSR *csr    = &layout->order.rest;
  const PetscInt slices = csr->m / PMF_LANES, every = PetscMax(PMF_SAMPLE, slices / PMF_SAMPLES);
  double         cost[PMF_NEAR_MAX + 1] = {0}; /* [0] if none do, [steps] if so many may */

  if (layout->pieces != PMF_PIECES_ANY) return;
  layout->pieces = PMF_PIECES_NONE;
  for (PetscInt k = PetscMin(every, slices) / 2; k < slices; k += every) {
    const int32_t  *row   = layout->order.row + PMF_LANES * k;
    const PetscInt  full  = csr->i[row[0] + 1] - csr->i[row[0]];
    PetscInt        equal = 0;
    const PetscInt *j[PMF_LANES];
    PmfSlice        s;
    double          none;

    for (PetscInt l = 0; l < PMF_LANES; l++) {
      j[l] = csr->j + csr->i[row[l]];
      equal += csr->i[row[l] + 1] - csr->i[row[l]] == full;
    }
    if (!full || equal < PMF_LANES) continue;
    s    = PmfSliceOf(layout, row, PMF_LANES);
    none = PmfCost(&s.run, full);
    cost[0] += none;
    for (PetscInt steps = 2; steps <= PMF_NEAR_MAX; steps++) {
      cost[steps] += PetscMin(none, PmfCostNear(full, steps, PmfNearCount(j, full, steps, csr->n)));
    }
  }
  cost[0] *= PMF_COST_LESS;
  for (PetscInt steps = 2; steps <= PMF_NEAR_MAX; steps++) {
    if (cost[steps] >= cost[0]) continue;
    cost[0]        = cost[steps];
    layout->pieces = steps;
  }
}

/* Entries [first, end) of one row */
PmfSlice PmfSliceAlone(const PmfLayout *layout, int32_t row, PetscInt first, PetscInt end)
{
  const PetscInt *j      = layout->order.rest.j;
  const PetscInt  length = end - first;
  PmfSlice        s      = {.run = {.flags = PMF_ALONE, .rows = 1, .row = row}, .top = row};

  s.low  = length ? j[first] : 0;
  s.high = length ? j[end - 1] : 0;
  for (; first + PMF_LANES <= end; first += PMF_LANES) s.run.steps[PmfKindAlone(j + first)]++;
  s.run.steps[PMF_RAGGED] = first < end;
  PmfMakeGathered(&s.run, layout);
  PmfMakePaired(&s.run, PmfPairs(j + end - length, length, length) / PMF_LANES);
  return s;
}

/* How many of the first rows go alone; the costs of slices are shared by their rows */
PetscInt PmfAlone(const SpmvCSR *csr, const int32_t row[], PetscInt rows)
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
