/*
  cmrs_layout.c - rows of a strip as lanes and steps, rests of rows as tails and segments, strips as chunks

  Source: as cmrs.c, section 3, for strips; all else is ours.
*/
#include "cmrs_host.h"

/* Costs in ns on one core of Zen 4 at 3.5 GHz. Only the ratios matter */
#define CMRS_COST_STEP  1.2  /* of adding a step to its rows */
#define CMRS_COST_ENTRY 0.25 /* of a product */
#define CMRS_COST_MISS  4.0  /* of another number of steps than in the band before: the processor did not expect their end */
#define CMRS_COST_TAIL  5.0  /* of a tail, */
#define CMRS_COST_REST  0.04 /* and of each of its entries, its product apart */

/* The lanes of a band: how many rows are longer, or as long and before; without a branch, since lengths are not foreseen */
static void CmrsSetLanes(const SpmvCSR *csr, CmrsStorage *c, PetscInt b)
{
  const PetscInt s = b / c->bands, skip = b % c->bands * CMRS_VECTOR, rows = CmrsStripRows(c->m, c->height, s) - skip,
                 *i = csr->i + s * c->height + skip;
  PetscInt length[CMRS_VECTOR], lane[CMRS_VECTOR] = {0};

  for (PetscInt r = 0; r < CMRS_VECTOR; r++) length[r] = r < rows ? i[r + 1] - i[r] : -1;
  for (PetscInt r = 1; r < CMRS_VECTOR; r++) {
    for (PetscInt q = 0; q < r; q++) {
      const int after = length[q] >= length[r];

      lane[r] += after;
      lane[q] += !after;
    }
  }
  for (PetscInt r = 0; r < CMRS_VECTOR; r++) CmrsLanes(c, b)[r] = (uint8_t)lane[r];
}

/* Steps of least cost for a band: as many as one of its rows is long, and the rows that are longer go on as tails */
static PetscInt CmrsChooseSteps(const CmrsBand *band, PetscInt most)
{
  const PetscInt full = band->length[CMRS_VECTOR - 1]; /* steps that cost no more than their products */
  PetscInt       best = 0, tails = 0;
  double         least = PETSC_MAX_REAL, above = 0; /* entries of the rows with a tail */

  if (band->length[0] <= most && CMRS_COST_STEP * (double)(band->length[0] - band->length[band->rows]) <= CMRS_COST_TAIL)
    return band->length[0];
  for (PetscInt k = 0; k <= band->rows; k++) {
    const PetscInt steps = PetscMin(most, band->length[k]);
    double         cost  = CMRS_COST_STEP * (double)PetscMax(0, steps - full);

    for (; band->length[tails] > steps; tails++) above += (double)band->length[tails];
    cost += CMRS_COST_TAIL * (double)tails + CMRS_COST_REST * (above - (double)(tails * steps));
    if (cost >= least) continue;
    least = cost;
    best  = steps;
  }
  return best;
}

/* The steps of a band, of which there are so many */
static CmrsSteps CmrsStepsOf(const CmrsBand *band, PetscInt all)
{
  const PetscInt full    = PetscMin(all, band->length[CMRS_VECTOR - 1]);
  PetscInt       entries = 0;

  for (PetscInt l = 0; l < band->rows; l++) entries += PetscMin(all, band->length[l]);
  return (CmrsSteps){(uint8_t)all, (uint8_t)full, (uint16_t)(entries - CMRS_VECTOR * full)};
}

/* Rows of each step of band b */
static void CmrsSetActive(const SpmvCSR *csr, const CmrsStorage *c, PetscInt b, uint8_t active[])
{
  const CmrsBand band = CmrsBandOf(csr, c, b);
  PetscInt       rows = band.rows;

  for (PetscInt k = 0; k < c->step[b].all; k++) {
    while (band.length[rows - 1] <= k) rows--;
    active[k] = (uint8_t)rows;
  }
}

/* Adds the segments of the rest of a row to the list */
static void CmrsAddSegments(CmrsStorage *c, PetscInt row, PetscInt first, PetscInt length)
{
  for (PetscInt k = 0; k < length; k += CMRS_SEGMENT) {
    if (c->segment) c->segment[c->nsegments] = (CmrsSegment){row, first + k, PetscMin(CMRS_SEGMENT, length - k)};
    c->nsegments++;
  }
}

/* CmrsLayoutState: a chunk that grows */
typedef struct {
  CmrsChunk chunk;
  PetscBool ended;           /* by a segment */
  CmrsSteps last;            /* of the band before */
  double    buffered, mixed; /* cost of the two ways, as far as they differ */
} CmrsLayoutState;

/* Adds the cost of a band */
static void CmrsAddCost(CmrsLayoutState *state, CmrsSteps step)
{
  const CmrsSteps last    = state->last;
  const double    entries = CMRS_VECTOR * step.full + step.entries,
               vectors    = step.full + (step.entries + CMRS_VECTOR - 1) / CMRS_VECTOR;

  state->buffered += CMRS_COST_ENTRY * entries + CMRS_COST_STEP * step.all + CMRS_COST_MISS * (step.all != last.all);
  state->mixed += CMRS_COST_ENTRY * CMRS_VECTOR * vectors + CMRS_COST_STEP * (step.all - step.full) +
                  CMRS_COST_MISS * ((step.full != last.full) + (step.all - step.full != last.all - last.full));
  state->last = step;
}

/* Begins a chunk at a strip: the one before is written, if there is an array, and counted */
static void CmrsNextChunk(CmrsStorage *c, CmrsLayoutState *state, PetscInt strip, PetscInt entry)
{
  CmrsChunk *chunk = &state->chunk;

  if (strip > chunk->strip) {
    if (!state->ended && c->ntails == chunk->tail && chunk->buffered == CMRS_VECTOR * (c->nsteps - chunk->step))
      chunk->mode = CMRS_UNIFORM;
    else chunk->mode = state->mixed < state->buffered ? CMRS_MIXED : CMRS_BUFFERED;
    c->cost += PetscMin(state->mixed, state->buffered);
    if (c->chunk) c->chunk[c->nchunks] = *chunk;
    c->nchunks++;
  }
  *state = (CmrsLayoutState){{strip, c->nsteps, c->ntails, entry, 0, 0}, PETSC_FALSE, state->last, 0, 0};
}

/* The tails and segments of strip s, whose steps are counted; next: the place of the first segment */
static void CmrsAddRests(const SpmvCSR *csr, CmrsStorage *c, PetscInt s, PetscInt next, CmrsLayoutState *state)
{
  const PetscInt  *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);
  const CmrsSteps *step  = c->step + s * c->bands;
  CmrsChunk       *chunk = &state->chunk;

  for (PetscInt r = 0; r < rows; r++) {
    const PetscInt rest = i[r + 1] - i[r] - step[r / CMRS_VECTOR].all;

    if (rest <= 0) continue;
    if (rest > CMRS_TAIL_MAX) {
      CmrsAddSegments(c, s * c->height + r, next, rest);
      next += rest;
      state->ended = PETSC_TRUE;
      continue;
    }
    if (c->tail) c->tail[c->ntails] = (CmrsTail){(uint16_t)((s - chunk->strip) * c->height + r), (uint16_t)rest};
    c->ntails++;
    chunk->buffered += rest;
  }
}

/* Counts chunks, steps, tails and segments of a storage whose bands have their steps, and writes those arrays that are there */
void CmrsLayout(const SpmvCSR *csr, CmrsStorage *c)
{
  CmrsLayoutState state = {.ended = PETSC_FALSE};
  CmrsChunk      *chunk = &state.chunk;

  c->nsteps = c->nchunks = c->ntails = c->nsegments = 0;

  c->cost = 0;
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt  *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);
    const CmrsSteps *step   = c->step + s * c->bands;
    PetscInt         inside = 0, shorts = 0;

    for (PetscInt b = 0; b < c->bands; b++) inside += CMRS_VECTOR * step[b].full + step[b].entries;
    for (PetscInt r = 0; inside < i[rows] - i[0] && r < rows; r++) {
      const PetscInt rest = i[r + 1] - i[r] - step[r / CMRS_VECTOR].all;

      if (rest > 0 && rest <= CMRS_TAIL_MAX) shorts += rest;
    }
    if (state.ended || chunk->buffered + inside + shorts > CMRS_CHUNK_ENTRIES || s - chunk->strip == CMRS_CHUNK_STRIPS)
      CmrsNextChunk(c, &state, s, i[0]);
    for (PetscInt b = 0; b < c->bands; b++) {
      if (c->active) CmrsSetActive(csr, c, s * c->bands + b, c->active + c->nsteps);
      c->nsteps += step[b].all;
      CmrsAddCost(&state, step[b]);
    }
    chunk->buffered += inside;
    if (inside < i[rows] - i[0]) CmrsAddRests(csr, c, s, i[0] + inside + shorts, &state);
  }
  CmrsNextChunk(c, &state, c->strips, c->nz);
  if (c->chunk) c->chunk[c->nchunks] = state.chunk;
}

/* The steps and lanes of each band; arrays are the caller's to free */
PetscErrorCode CmrsSetSteps(const SpmvCSR *csr, CmrsStorage *c)
{
  const size_t   bands = (size_t)c->strips * (size_t)c->bands;
  const PetscInt most  = PetscMin(CMRS_STEPS_MAX, CMRS_CHUNK_ENTRIES / c->height);

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(bands * sizeof(CmrsSteps), &c->step));
  PetscCall(SpmvAlloc(bands * CMRS_VECTOR, &c->lane));
  for (PetscInt b = 0; b < (PetscInt)bands; b++) {
    CmrsBand band;

    CmrsSetLanes(csr, c, b);
    band       = CmrsBandOf(csr, c, b);
    c->step[b] = CmrsStepsOf(&band, CmrsChooseSteps(&band, most));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
