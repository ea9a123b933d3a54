/*
  pmf_layout.c - what a plan makes of a matrix: parts, slices, and slices as runs

  The rows of a segment, which are those of a window that one part has, are taken from the longest to the shortest, eight
  at a time, so that the lanes of a slice that have an entry in a step are always the first ones. A row much longer than
  those after it would make a slice of mostly padding: it goes alone.
*/
#include "pmf_host.h"
#include "../../../../host/machine.h"

#define PMF_HEADER    8  /* steps of a slice that save more bytes by uint16 columns than a run of its own costs */
#define PMF_CONVERT   32 /* consecutive rows that are listed rather than be a run of their own */
#define PMF_SPLIT     16 /* a row of more than 1/16 of the entries of a part is split over the parts, if no device has some ... */
#define PMF_SPLIT_MIN 256 /* ... if it has as many */

/* Ends the open run, whose sizes are now known */
static PetscErrorCode PmfClose(PmfLayout *layout)
{
  PmfRun        *run    = &layout->open.run;
  PmfStorage    *b      = layout->b;
  const size_t   slices = PmfSlices(run), elements = run->flags & PMF_WIDE ? 2 : 1;
  const PmfSizes sizes = PmfSizesOf(run, PMF_KINDS);

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
  run->base   = run->flags & PMF_WIDE ? 0 : (int32_t)layout->open.low;
  run->list   = (uint32_t)b->nlist;
  run->step   = (uint32_t)b->nsteps;
  run->column = (uint32_t)b->ncolumns;
  run->mask   = (uint32_t)b->nmasks;
  b->nsteps += slices * sizes.steps;
  b->ncolumns += slices * sizes.columns * elements;
  b->nmasks += slices * sizes.masks;
  b->nfrom += slices * sizes.froms;
  *(run->flags & PMF_ALONE ? &b->nalone : &b->nslices) += slices;
  for (size_t k = 0; k < PMF_KINDS; k++) b->kind[k] += slices * (size_t)run->steps[k];
  b->nnear += slices * (size_t)run->near * (size_t)run->steps[PMF_NEAR];
  if (run->flags & PMF_LISTED) b->nlist += (size_t)run->rows;
  if (!(run->flags & PMF_ALONE) && sizes.steps == (size_t)run->steps[PMF_GATHERED]) run->flags |= PMF_PLAIN;
  layout->run[b->nruns++] = *run;
  run->rows               = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if a run can take a slice as well; both: where the two begin and end */
static PetscBool PmfJoins(const PmfStorage *b, const PmfRun *run, const PmfRun *s, const PmfSlice *both)
{
  const int32_t   kind   = PMF_ALONE | PMF_ADD | PMF_FRAGMENT;
  const int32_t   saved  = s->steps[PMF_PAIRED] + s->steps[PMF_NEAR] / 2 + s->steps[PMF_GATHERED] + s->steps[PMF_RAGGED];
  const PetscBool listed = (PetscBool)(s->flags & PMF_LISTED || s->row != run->row + run->rows);

  if (!run->rows || (run->flags ^ s->flags) & kind || run->flags & PMF_FRAGMENT) return PETSC_FALSE;
  if (run->near != s->near || memcmp(run->steps, s->steps, sizeof(s->steps))) return PETSC_FALSE;
  if (!(run->flags & PMF_ALONE) && (run->rows % PMF_LANES || s->rows < PMF_LANES)) return PETSC_FALSE;
  if (!(run->flags & PMF_LISTED) && listed && (run->rows > PMF_CONVERT || s->steps[PMF_DIAGONAL])) return PETSC_FALSE;
  if (b->listsize == sizeof(uint16_t) && both->top - both->run.row > UINT16_MAX) return PETSC_FALSE;
  if (run->flags & PMF_WIDE) return (PetscBool)(s->flags & PMF_WIDE || saved < PMF_HEADER);
  return (PetscBool)(!(s->flags & PMF_WIDE) && both->high - both->low <= UINT16_MAX);
}

/* Steps of a kind may be gathered instead: a slice that has some more than the open run takes its number, so as not to end it */
static void PmfFewer(const PmfRun *run, PmfRun *s, PmfKind kind, int32_t steps)
{
  const int32_t more = s->steps[kind] - run->steps[kind], gathered = s->steps[PMF_GATHERED] + steps * more;

  if (!run->rows || more <= 0 || 4 * more > s->steps[kind] || gathered != run->steps[PMF_GATHERED]) return;
  s->steps[kind] -= more;
  s->steps[PMF_GATHERED] = gathered;
}

/* Adds a slice to the open run, or ends that and begins another one */
static PetscErrorCode PmfAppend(PmfLayout *layout, PmfSlice s)
{
  PmfSlice *open = &layout->open, both = *open;

  PetscFunctionBegin;
  if (layout->b->n <= UINT16_MAX + 1 && s.low > 0) s.low = 0; /* then all runs have the same base, and none ends because of it */
  if (s.high - s.low > UINT16_MAX) s.run.flags |= PMF_WIDE;
  if (layout->blocks && !(s.run.flags & PMF_FRAGMENT)) s.run.flags |= PMF_ADD;
  PmfFewer(&open->run, &s.run, PMF_PAIRED, 2);
  if (open->run.near == s.run.near) PmfFewer(&open->run, &s.run, PMF_NEAR, s.run.near);
  both.low     = PetscMin(both.low, s.low);
  both.high    = PetscMax(both.high, s.high);
  both.top     = PetscMax(both.top, s.top);
  both.run.row = PetscMin(both.run.row, s.run.row);
  if (PmfJoins(layout->b, &open->run, &s.run, &both)) {
    both.run.flags |= s.run.flags & PMF_LISTED;
    if (s.run.row != open->run.row + open->run.rows) both.run.flags |= PMF_LISTED;
    both.run.rows += s.run.rows;
    *open = both;
  } else {
    PetscCall(PmfClose(layout));
    *open = s;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows at places [first, end) of the order from the longest to the shortest, those of a length as they are */
static void PmfLongestFirst(PmfLayout *layout, PetscInt first, PetscInt end)
{
  const PmfOrder *order = &layout->order;

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
static PetscErrorCode PmfSegment(PmfLayout *layout, PetscInt first, PetscInt end)
{
  const SpmvCSR *csr = layout->rest;
  size_t         k   = layout->nrows;

  PetscFunctionBegin;
  PmfLongestFirst(layout, first, end);
  while (k < layout->nrows) {
    const int32_t  *row   = layout->row + k;
    const PetscInt  rows  = (PetscInt)PetscMin((size_t)PMF_LANES, layout->nrows - k);
    PetscInt        alone = PmfAlone(csr, row, rows);
    const PetscInt *j[PMF_LANES];

    k += (size_t)(alone ? alone : rows);
    if (!alone) PetscCall(PmfAppend(layout, PmfSliceOf(layout, row, rows, j)));
    for (; alone; alone--, row++) PetscCall(PmfAppend(layout, PmfSliceAlone(layout, *row, csr->i[*row], csr->i[*row + 1])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Algorithm 4: the blocks along the diagonal that rows [first, end) have, as pieces of diagonals */
static PetscErrorCode PmfBlocksOf(PmfLayout *layout, PetscInt first, PetscInt end)
{
  const PetscInt block = layout->order.block;

  PetscFunctionBegin;
  for (PetscInt r = first; r < end; r += PMF_LANES) {
    const PetscInt rows      = PetscMin(PMF_LANES, end - r);
    const uint64_t diagonals = PmfDiagonals(layout->blocks, block, r, rows);
    PmfSlice       s         = {.run = {.rows = (int32_t)rows, .row = (int32_t)r}, .top = r + rows - 1};

    if (!diagonals) continue;
    s.low                     = r + __builtin_ctzll(diagonals) - (block - 1);
    s.high                    = r + 63 - __builtin_clzll(diagonals) - (block - 1);
    s.run.steps[PMF_DIAGONAL] = __builtin_popcountll(diagonals);
    PetscCall(PmfAppend(layout, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The runs of a part: blocks, rows, and its fragments of the rows that are split */
static PetscErrorCode PmfLayoutPart(PmfLayout *layout, PetscInt part)
{
  const PmfOrder *order  = &layout->order;
  PmfStorage     *b      = layout->b;
  const PetscInt  origin = b->partition == PMF_BY_PMF ? 0 : order->cut[part], end = order->cut[part + 1];

  PetscFunctionBegin;
  if (layout->blocks) PetscCall(PmfBlocksOf(layout, order->cut[part], end));
  for (PetscInt k = order->cut[part], stop; k < end; k = stop) {
    stop = order->window == PMF_WINDOW_GLOBAL ? end : PetscMin(end, origin + ((k - origin) / order->window + 1) * order->window);
    PetscCall(PmfSegment(layout, k, stop));
  }
  for (PetscInt k = 0; k < b->nsplit; k++) {
    const PetscInt first = PmfFragment(layout->rest, b, k, part), last = PmfFragment(layout->rest, b, k, part + 1);
    PmfSlice       s = PmfSliceAlone(layout, (int32_t)(part * b->nsplit + k), first, last);

    s.run.flags |= PMF_FRAGMENT;
    PetscCall(PmfAppend(layout, s));
  }
  PetscCall(PmfClose(layout));
  b->first[part + 1] = (int32_t)b->nruns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows that are split over the parts */
static PetscErrorCode PmfFindSplit(const PmfLayout *layout)
{
  const SpmvCSR *csr = layout->rest;
  PmfStorage    *b   = layout->b;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < csr->m; r++) b->nsplit += csr->i[r + 1] - csr->i[r] > layout->order.limit;
  PetscCall(SpmvAlloc((size_t)b->nsplit * sizeof(int32_t), &b->split));
  for (PetscInt r = 0, k = 0; k < b->nsplit; r++) {
    if (csr->i[r + 1] - csr->i[r] > layout->order.limit) b->split[k++] = (int32_t)r;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is printed of the parts; the device's rows are none of the host's */
static PetscErrorCode PmfSetParts(const SpmvCSR *csr, const PmfLayout *layout)
{
  const PetscInt first = PmfIsCut(&layout->order);
  PmfStorage    *b     = layout->b;

  PetscFunctionBegin;
  b->nprinted = layout->blocks ? 2 : b->nparts - first;
  PetscCall(PetscCalloc1(b->nprinted, &b->printed));
  for (PetscInt p = 0; p < b->nprinted; p++) {
    if (layout->blocks) b->printed[p].entries = (size_t)layout->halves.csr[p].i[csr->m];
    else b->printed[p] = PmfPartOf(csr, &layout->order, first + p);
  }
  for (const PmfRun *run = layout->run; layout->blocks && run < layout->run + b->nruns; run++) {
    PmfPart *part = &b->printed[run->steps[PMF_DIAGONAL] == 0];

    part->rows += run->flags & PMF_FRAGMENT ? 0 : run->rows;
    part->elements += PMF_LANES * PmfSlices(run) * PmfSizesOf(run, PMF_KINDS).steps;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What a plan makes of a matrix: of a storage all but the arrays that hold entries and rows. Both results are to be freed, with
  PmfHostReset() and PmfLayoutDestroy(), after an error as well; the layout refers to csr, plan and b
*/
PetscErrorCode PmfLayoutCreate(const SpmvCSR *csr, const SpmvPlan *plan, PmfStorage *b, PmfLayout *layout)
{
  const PetscInt *p = plan->value, nz = csr->i[csr->m], nparts = p[PMF_POWERS] ? p[PMF_POWERS] : plan->threads;
  PmfOrder       *order = &layout->order;

  PetscFunctionBegin;
  *layout = (PmfLayout){.b = b, .rest = &layout->halves.csr[1], .pieces = p[PMF_PIECES]};
  *order  = PmfOrderOf(p, nparts, p[PMF_POWERS] ? plan->list : NULL);
  if (nparts > 1 && !PmfIsCut(order)) order->limit = PetscMax(PMF_SPLIT_MIN, nz / (PMF_SPLIT * nparts));
  *b          = (PmfStorage){.m = csr->m, .n = csr->n, .partition = order->partition, .block = order->block, .nparts = nparts};
  b->threads  = PetscMin(nparts, plan->threads);
  b->prefetch = PMF_PREFETCH_GATHERED;
  if (nz < SpmvMachineGet()->uncached) b->prefetch = nz < SpmvMachineGet()->cached ? PMF_PREFETCH_NONE : PMF_PREFETCH_ALL;
  b->listsize = csr->m <= UINT16_MAX + 1 || order->window != PMF_WINDOW_GLOBAL ? sizeof(uint16_t) : sizeof(int32_t);
  b->empty    = (PetscBool)(b->partition == PMF_BY_DIAGONAL);
  PetscCall(PmfHalvesCreate(csr, order, &layout->halves));
  if (b->empty) layout->blocks = &layout->halves.csr[0];
  PetscCall(PmfFindSplit(layout));
  PetscCall(PmfOrderCreate(csr, layout->rest, order));
  PetscCall(PetscMalloc1(csr->m, &layout->row));
  PetscCall(PetscCalloc1(nparts + 1, &b->first));
  PmfLayoutSettle(layout);
  for (PetscInt k = 0; k < nparts; k++) PetscCall(PmfLayoutPart(layout, k));
  PetscCall(PmfSetParts(csr, layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfLayoutDestroy(PmfLayout *layout)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(layout->row));
  PetscCall(PetscFree(layout->run));
  PetscCall(PmfOrderDestroy(&layout->order));
  PetscCall(PmfHalvesDestroy(&layout->halves));
  PetscFunctionReturn(PETSC_SUCCESS);
}
