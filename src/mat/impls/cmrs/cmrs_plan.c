/*
  cmrs_plan.c - what a plan leaves open, and the sizes of a storage

  Source: as cmrs.c; section 3 for strips, section 4.4 for padding. Steps, tails and chunks are ours.
*/
#include "cmrs.h"
#include "../../../host/machine.h"

/* Costs in ns on one core of Zen 4 at 3.5 GHz. Only the ratios matter */
#define CMRS_COST_STEP  1.2  /* of adding a step to its rows */
#define CMRS_COST_ENTRY 0.25 /* of a product */
#define CMRS_COST_MISS  4.0  /* of another number of steps than in the band before: the processor did not expect their end */
#define CMRS_COST_TAIL  5.0  /* of a tail, */
#define CMRS_COST_REST  0.04 /* and of each of its entries, its product apart */

/* The lanes of a band: how many rows are longer, or as long and before; without a branch, since lengths are not foreseen */
static void CmrsSetLanes(const SpmvCSR *csr, CmrsStorage *c, PetscInt b)
{
  const PetscInt s = b / c->bands, skip = b % c->bands * CMRS_VECTOR, rows = CmrsRows(c, s) - skip, *i = csr->i + s * c->height + skip;
  PetscInt       length[CMRS_VECTOR], lane[CMRS_VECTOR] = {0};

  for (PetscInt r = 0; r < CMRS_VECTOR; r++) length[r] = r < rows ? i[r + 1] - i[r] : -1;
  for (PetscInt r = 1; r < CMRS_VECTOR; r++) {
    for (PetscInt q = 0; q < r; q++) {
      const int after = length[q] >= length[r];

      lane[r] += after;
      lane[q] += !after;
    }
  }
  for (PetscInt r = 0; r < CMRS_VECTOR; r++) c->lane[b * CMRS_VECTOR + r] = (uint8_t)lane[r];
}

/* Steps of least cost for a band: as many as one of its rows is long, and the rows that are longer go on as tails */
static PetscInt CmrsChooseSteps(const CmrsBand *band, PetscInt most)
{
  const PetscInt full = band->rows == CMRS_VECTOR ? band->length[CMRS_VECTOR - 1] : 0; /* steps that cost no more than their products */
  PetscInt       best = 0, tails = 0;
  double         least = PETSC_MAX_REAL, above = 0; /* entries of the rows with a tail */

  if (band->length[0] <= most && CMRS_COST_STEP * (double)(band->length[0] - band->length[band->rows]) <= CMRS_COST_TAIL) return band->length[0];
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
  const PetscInt full    = band->rows == CMRS_VECTOR ? PetscMin(all, band->length[CMRS_VECTOR - 1]) : 0;
  PetscInt       entries = 0;

  for (PetscInt l = 0; l < band->rows; l++) entries += PetscMin(all, band->length[l]);
  return (CmrsSteps){(uint8_t)all, (uint8_t)full, (uint16_t)(entries - CMRS_VECTOR * full)};
}

/* Rows of each step of a band */
static void CmrsSetActive(const CmrsBand *band, PetscInt steps, uint8_t active[])
{
  PetscInt rows = band->rows;

  for (PetscInt k = 0; k < steps; k++) {
    while (band->length[rows - 1] <= k) rows--;
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
  const double    entries = CMRS_VECTOR * step.full + step.entries, vectors = step.full + (step.entries + CMRS_VECTOR - 1) / CMRS_VECTOR;

  state->buffered += CMRS_COST_ENTRY * entries + CMRS_COST_STEP * step.all + CMRS_COST_MISS * (step.all != last.all);
  state->mixed += CMRS_COST_ENTRY * CMRS_VECTOR * vectors + CMRS_COST_STEP * (step.all - step.full) + CMRS_COST_MISS * ((step.full != last.full) + (step.all - step.full != last.all - last.full));
  state->last = step;
}

/* Begins a chunk at a strip: the one before is written, if there is an array, and counted */
static void CmrsNextChunk(CmrsStorage *c, CmrsLayoutState *state, PetscInt strip, PetscInt entry)
{
  CmrsChunk *chunk = &state->chunk;

  if (strip > chunk->strip) {
    if (!state->ended && c->ntails == chunk->tail && chunk->buffered == CMRS_VECTOR * (c->nsteps - chunk->step)) chunk->mode = CMRS_UNIFORM;
    else chunk->mode = state->mixed < state->buffered ? CMRS_MIXED : CMRS_BUFFERED;
    c->cost += PetscMin(state->mixed, state->buffered);
    if (c->chunk) c->chunk[c->nchunks] = *chunk;
    c->nchunks++;
  }
  *state = (CmrsLayoutState){{strip, c->nsteps, c->ntails, entry, 0, 0}, PETSC_FALSE, state->last, 0, 0};
}

/*
  CmrsLayout - chunks, steps, tails and segments of a storage in interleaved order, each of whose bands has its steps

  Input/Output Parameter:
. c - on return the numbers of them; arrays that are there are written
*/
void CmrsLayout(const SpmvCSR *csr, CmrsStorage *c)
{
  CmrsLayoutState state = {{0, 0, 0, 0, 0, 0}, PETSC_FALSE, {0, 0, 0}, 0, 0};
  CmrsChunk      *chunk = &state.chunk;

  c->nsteps = c->nchunks = c->ntails = c->nsegments = 0;
  c->cost                                           = 0;
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt  *i = csr->i + s * c->height, rows = CmrsRows(c, s);
    const CmrsSteps *step   = c->step + s * c->bands;
    PetscInt         inside = 0, shorts = 0;

    for (PetscInt b = 0; b < c->bands; b++) inside += CMRS_VECTOR * step[b].full + step[b].entries;
    for (PetscInt r = 0; inside < i[rows] - i[0] && r < rows; r++) {
      const PetscInt rest = i[r + 1] - i[r] - step[r / CMRS_VECTOR].all;

      if (rest > 0 && rest <= CMRS_TAIL_MAX) shorts += rest;
    }
    if (state.ended || chunk->buffered + inside + shorts > CMRS_CHUNK_ENTRIES || s - chunk->strip == CMRS_CHUNK_STRIPS) CmrsNextChunk(c, &state, s, i[0]);
    for (PetscInt b = 0; b < c->bands; b++) {
      if (c->active) {
        const CmrsBand band = CmrsBandOf(csr, c, s * c->bands + b);

        CmrsSetActive(&band, step[b].all, c->active + c->nsteps);
      }
      c->nsteps += step[b].all;
      CmrsAddCost(&state, step[b]);
    }
    chunk->buffered += inside;
    for (PetscInt r = 0, next = i[0] + inside + shorts; inside < i[rows] - i[0] && r < rows; r++) {
      const PetscInt rest = i[r + 1] - i[r] - step[r / CMRS_VECTOR].all;

      if (rest <= 0) continue;
      if (rest > CMRS_TAIL_MAX) {
        CmrsAddSegments(c, s * c->height + r, next, rest);
        next += rest;
        state.ended = PETSC_TRUE;
        continue;
      }
      if (c->tail) c->tail[c->ntails] = (CmrsTail){(uint16_t)((s - chunk->strip) * c->height + r), (uint16_t)chunk->buffered, (uint16_t)rest};
      c->ntails++;
      chunk->buffered += rest;
    }
  }
  CmrsNextChunk(c, &state, c->strips, c->nz);
  if (c->chunk) c->chunk[c->nchunks] = state.chunk;
}

/*
  CmrsPadStrip - the entries of a strip in groups of CMRS_GROUP with at most CMRS_MODULO of a row, those together

  Input Parameters:
+ csr - the matrix
. c   - its storage, as far as sizes go
- s   - number of the strip

  Output Parameters:
+ position - [groups CMRS_GROUP] the entry of CSR at each place, -1 for padding; may be NULL
- items    - [groups] entries of each group, which come before its padding; may be NULL

  Note:
  Returns the number of groups. Each takes from the rows that have most left, which is why it is the least: the larger
  of entries / CMRS_GROUP and of the longest row / CMRS_MODULO, rounded up.
*/
PetscInt CmrsPadStrip(const SpmvCSR *csr, const CmrsStorage *c, PetscInt s, PetscInt position[], uint8_t items[])
{
  const PetscInt *i = csr->i + s * c->height, rows = CmrsRows(c, s);
  PetscInt        next[CMRS_HEIGHT_MAX], left = i[rows] - i[0], groups = 0;

  for (PetscInt r = 0; r < rows; r++) next[r] = i[r];
  for (; left > 0; groups++) {
    PetscInt room  = CMRS_GROUP;
    unsigned taken = 0;

    while (room > 0) {
      PetscInt most = 0, row = 0, n;

      for (PetscInt r = 0; r < rows; r++) {
        if (taken >> r & 1 || i[r + 1] - next[r] <= most) continue;
        most = i[r + 1] - next[r];
        row  = r;
      }
      n = PetscMin(PetscMin(most, CMRS_MODULO), room);
      if (!n) break;
      for (PetscInt k = 0; position && k < n; k++) position[groups * CMRS_GROUP + CMRS_GROUP - room + k] = next[row] + k;
      taken |= 1U << row;
      next[row] += n;
      room -= n;
      left -= n;
    }
    for (PetscInt k = CMRS_GROUP - room; position && k < CMRS_GROUP; k++) position[groups * CMRS_GROUP + k] = -1;
    if (items) items[groups] = (uint8_t)(CMRS_GROUP - room);
  }
  return groups;
}

/* True if columns and rows in the strip need more than 32 bits */
static PetscBool CmrsIsWide(const SpmvCSR *csr)
{
  return (PetscBool)((PetscInt64)csr->n > (INT64_C(1) << (32 - CMRS_BITS)));
}

/* Replaces what a plan leaves open */
PetscErrorCode CmrsResolveOpen(const SpmvCSR *csr, SpmvPlan *plan)
{
  PetscInt *p = plan->value;

  PetscFunctionBegin;
  if (plan->backend == SPMV_BACKEND_DEVICE) PetscCall(CmrsDeviceResolve(plan));
  if (p[CMRS_ORDER] == CMRS_ORDER_AUTO) p[CMRS_ORDER] = CMRS_ORDER_INTERLEAVED;
  if (!p[CMRS_HEIGHT]) p[CMRS_HEIGHT] = p[CMRS_ORDER] == CMRS_ORDER_PADDED ? CMRS_HEIGHT_MAX : CMRS_VECTOR;
  if (!p[CMRS_WORD]) p[CMRS_WORD] = CmrsIsWide(csr) ? 64 : 32;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CmrsResolve - replaces what a plan leaves open and finds all sizes

  Output Parameter:
. c - sizes, and in interleaved order c->step and c->lane, which are the caller's to free

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if words of 32 bits are asked for and the columns need more, or padding with another height
  than 16; for a device also if the host's order is.
*/
PetscErrorCode CmrsResolve(const SpmvCSR *csr, SpmvPlan *plan, CmrsStorage *c)
{
  PetscInt       *p    = plan->value;
  const PetscBool wide = CmrsIsWide(csr);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscCall(CmrsResolveOpen(csr, plan));
  PetscCheck(p[CMRS_WORD] == 64 || !wide, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " columns do not fit words of 32 bits, %d of which hold the row; set -mat_cmrs_word to 0 or 64", csr->n, CMRS_BITS);
  PetscCheck(p[CMRS_ORDER] != CMRS_ORDER_PADDED || p[CMRS_HEIGHT] == CMRS_HEIGHT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Strips of height %" PetscInt_FMT " cannot be padded; set -mat_cmrs_height to 0 or %d, or -mat_cmrs_order to another than padded", p[CMRS_HEIGHT], CMRS_HEIGHT_MAX);
  c->m        = csr->m;
  c->n        = csr->n;
  c->nz       = csr->i[csr->m];
  c->height   = p[CMRS_HEIGHT];
  c->strips   = csr->m / c->height + !!(csr->m % c->height);
  c->order    = (CmrsOrder)p[CMRS_ORDER];
  c->align    = p[CMRS_ALIGN] ? CMRS_VECTOR : 1;
  c->device   = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  c->threads  = c->device ? 1 : plan->threads;
  c->ahead    = (PetscBool)(c->nz >= SpmvMachineGet()->cached);
  c->wordsize = (size_t)p[CMRS_WORD] / 8;
  c->nstored  = c->nz;
  if (c->order == CMRS_ORDER_PADDED) {
    PetscInt64 groups = 0;

    for (PetscInt s = 0; s < c->strips; s++) groups += CmrsPadStrip(csr, c, s, NULL, NULL);
    PetscCheck(groups * CMRS_GROUP + CMRS_PAD <= (PetscInt64)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%lld groups of %d padded entries are more than this PETSc's integers count; set -mat_cmrs_order to another than padded", (long long)groups, CMRS_GROUP);
    c->nstored = (PetscInt)groups * CMRS_GROUP;
  } else if (c->order == CMRS_ORDER_INTERLEAVED) {
    const PetscInt most = PetscMin(CMRS_STEPS_MAX, CMRS_CHUNK_ENTRIES / c->height);

    c->bands = c->height > CMRS_VECTOR ? 2 : 1;
    PetscCall(SpmvAlloc((size_t)(c->strips * c->bands) * sizeof(CmrsSteps), &c->step));
    PetscCall(SpmvAlloc((size_t)(c->strips * c->bands) * CMRS_VECTOR, &c->lane));
    for (PetscInt b = 0; b < c->strips * c->bands; b++) {
      CmrsBand band;

      CmrsSetLanes(csr, c, b);
      band       = CmrsBandOf(csr, c, b);
      c->step[b] = CmrsStepsOf(&band, CmrsChooseSteps(&band, most));
    }
    CmrsLayout(csr, c);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes of the storage that a build would make; no array is allocated. Errors as of CmrsResolve() */
PetscErrorCode CmrsPredict(const SpmvCSR *csr, const SpmvPlan *plan, CmrsStorage *c)
{
  SpmvPlan p = *plan;

  PetscFunctionBegin;
  PetscCall(CmrsResolve(csr, &p, c));
  PetscCall(SpmvFree(&c->step));
  PetscCall(SpmvFree(&c->lane));
  PetscFunctionReturn(PETSC_SUCCESS);
}
