/*
  pmf_layout.c - what a plan makes of a matrix: parts, slices, and slices as runs

  The rows of a window are taken from the longest to the shortest, eight at a time, so that the lanes of a slice that have an
  entry in a step are always the first ones. A row much longer than those after it would make a slice of mostly padding: it
  goes alone.
*/
#include "pmf_host.h"
#include "../../../../host/near.h"
#include "../../../../host/machine.h"

#define PMF_HEADER    8   /* steps of a slice that save more bytes by uint16 columns than a run of its own costs */
#define PMF_CONVERT   32  /* consecutive rows that are listed rather than be a run of their own */
#define PMF_SPLIT     16  /* a row of more than 1/16 of the entries of a part is split over the parts ... */
#define PMF_SPLIT_MIN 256 /* ... if it has as many, and no device has some of the parts */

/*
  Gathered steps of a run, at most, that is told from one with steps of other kinds as well. In cache that saves 5 to 12 % (P2,
  Raviart-Thomas, P1 in space); where x is prefetched, P2 in the plane takes 1.2 times as long with it, and others as long (Zen 5)
*/
static int PmfMostKnown(const PmfStorage *b)
{
  return b->ahead ? PMF_KNOWN : INT16_MAX;
}

/* PmfRun.known of slices of eight rows */
static int16_t PmfKnownOf(const PmfStorage *b, const PmfRun *run)
{
  unsigned kinds = 0;

  for (int k = 0; k < PMF_KINDS; k++) kinds |= run->steps[k] ? PMF_BIT(k) : 0;
  if (kinds == PMF_BIT(PMF_GATHERED) && run->steps[PMF_GATHERED] <= PmfMostKnown(b)) return (int16_t)run->steps[PMF_GATHERED];
  if (!(kinds & ~PMF_LINES)) return PMF_ONLY_LINE;
  if (!(kinds & ~PMF_PAIRS)) return PMF_ONLY_PAIR;
  if (!(kinds & ~PMF_NEARS)) return PMF_ONLY_NEAR;
  return kinds & ~PMF_SHORTS ? 0 : PMF_ONLY_SHORT;
}

/* Ends the open run, whose sizes are now known */
static PetscErrorCode PmfClose(PmfLayout *layout)
{
  PmfRun      *run  = &layout->open.run;
  PmfStorage  *b    = layout->b;
  const int    wide = run->flags & PMF_WIDE, alone = run->flags & PMF_ALONE;
  const size_t rows = (size_t)run->rows, slices = alone ? rows : (rows + PMF_LANES - 1) / PMF_LANES;
  PmfSizes     sizes;

  PetscFunctionBegin;
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  if (run->steps[PMF_PAIRED] || layout->order.from) run->flags |= PMF_UNEVEN;
  sizes = PmfSizesOf(run, PMF_KINDS);
  if (b->nruns == layout->capacity) {
    layout->capacity *= 2;
    PetscCall(PetscRealloc(layout->capacity * sizeof(PmfRun), &layout->run));
  }
  if (wide) b->ncolumns += b->ncolumns % 2; /* int32 at multiples of four bytes */
  run->base   = wide ? 0 : (int32_t)layout->open.low;
  run->list   = (uint32_t)b->nlist;
  run->step   = (uint32_t)b->nsteps;
  run->column = (uint32_t)b->ncolumns;
  run->mask   = (uint32_t)b->nmasks;
  b->nsteps += slices * sizes.steps;
  b->ncolumns += slices * sizes.columns / sizeof(uint16_t);
  b->nmasks += slices * sizes.masks;
  b->nfrom += slices * sizes.froms;
  b->nlist += run->flags & PMF_LISTED ? rows : 0;
  *(alone ? &b->nalone : &b->nslices) += slices;
  for (size_t k = 0; k < PMF_KINDS; k++) b->kind[k] += slices * (size_t)run->steps[k];
  b->nnear += slices * (size_t)run->near * (size_t)run->steps[PMF_NEAR];
  run->known              = alone ? 0 : PmfKnownOf(b, run);
  layout->run[b->nruns++] = *run;
  run->rows               = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if a run can take a slice as well; both: the run that they would make */
static PetscBool PmfJoins(const PmfStorage *b, const PmfRun *run, const PmfRun *s, const PmfSlice *both)
{
  const int32_t saved = s->steps[PMF_PAIRED] + s->steps[PMF_NEAR] / 2 + s->steps[PMF_GATHERED] + s->steps[PMF_RAGGED];

  if (!run->rows || (run->flags ^ s->flags) & PMF_ALONE || (run->flags | s->flags) & PMF_FRAGMENT) return PETSC_FALSE;
  if (run->near != s->near || memcmp(run->steps, s->steps, sizeof(s->steps))) return PETSC_FALSE;
  if (!(run->flags & PMF_ALONE) && (run->rows % PMF_LANES || s->rows < PMF_LANES)) return PETSC_FALSE;
  if (both->run.flags != run->flags && (run->rows > PMF_CONVERT || s->steps[PMF_DIAGONAL]))
    return PETSC_FALSE; /* it gets a list */
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
  PmfFewer(&open->run, &s.run, PMF_PAIRED, 2);
  if (open->run.near == s.run.near) PmfFewer(&open->run, &s.run, PMF_NEAR, s.run.near);
  both.run.flags |= s.run.flags & PMF_LISTED;
  if (s.run.row != open->run.row + open->run.rows) both.run.flags |= PMF_LISTED;
  both.low     = PetscMin(both.low, s.low);
  both.high    = PetscMax(both.high, s.high);
  both.top     = PetscMax(both.top, s.top);
  both.run.row = PetscMin(both.run.row, s.run.row);
  both.run.rows += s.run.rows;
  if (!PmfJoins(layout->b, &open->run, &s.run, &both)) {
    PetscCall(PmfClose(layout));
    both = s;
  }
  *open = both;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Of a part of a matrix: counts what is lost where rows get shorter, which is less where more rows are ordered together. last:
  steps of the slice before, or minus those of the row alone before; 0 if that was a slice of rows that differ
*/
static void PmfTurn(PmfLayout *layout, const int32_t row[], PetscInt rows, PetscBool alone, PetscInt *last)
{
  const PetscInt *i = layout->order.rest.i, length = i[row[0] + 1] - i[row[0]], least = i[row[rows - 1] + 1] - i[row[rows - 1]];
  const PetscInt this = alone ? -(length + PMF_LANES - 1) / PMF_LANES : length;

  if (!layout->csr->all) return;
  layout->turns += this != *last || least < length;
  *last = least < length ? 0 : this;
  for (PetscInt l = 1; l < rows && least < length; l++) layout->padding += (size_t)(length - (i[row[l] + 1] - i[row[l]]));
}

/* The slices of a window, or of what one part has of it: the rows at places [first, end) of the order */
static PetscErrorCode PmfLayoutWindow(PmfLayout *layout, PetscInt first, PetscInt end)
{
  const PmfOrder *order = &layout->order;
  const SpmvCSR  *csr   = &order->rest;
  size_t          k     = layout->nrows;
  PetscInt        last  = 0;

  PetscFunctionBegin;
  for (PetscInt start = end - 1, length; start >= first; end = start--) { /* rows of a length stay as they are */
    length = PmfLength(csr, order, order->row[start]);
    while (start > first && PmfLength(csr, order, order->row[start - 1]) == length) start--;
    if (!length) layout->b->empty = PETSC_TRUE;
    else memcpy(layout->row + layout->nrows, order->row + start, sizeof(int32_t) * (size_t)(end - start));
    layout->nrows += length ? (size_t)(end - start) : 0;
  }
  while (k < layout->nrows) {
    const int32_t *row   = layout->row + k;
    const PetscInt rows  = (PetscInt)PetscMin((size_t)PMF_LANES, layout->nrows - k);
    PetscInt       alone = PmfAlone(csr, row, rows);

    PmfPrefetchRows(layout, row, PMF_LANES);
    k += (size_t)(alone ? alone : rows);
    if (!alone) {
      PmfTurn(layout, row, rows, PETSC_FALSE, &last);
      PetscCall(PmfAppend(layout, PmfSliceOf(layout, row, rows)));
    }
    for (; alone; alone--, row++) {
      PmfTurn(layout, row, 1, PETSC_TRUE, &last);
      PetscCall(PmfAppend(layout, PmfSliceAlone(layout, *row, csr->i[*row], csr->i[*row + 1])));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Algorithm 4: the diagonals of blocks that rows [first, end) have, eight rows at a time */
static PetscErrorCode PmfLayoutBlocks(PmfLayout *layout, PetscInt first, PetscInt end)
{
  const PetscInt block = layout->order.block;

  PetscFunctionBegin;
  for (PetscInt r = first; r < end; r += PMF_LANES) {
    const PetscInt rows      = PetscMin(PMF_LANES, end - r);
    const uint64_t diagonals = PmfDiagonals(layout->csr, block, r, rows);
    PmfSlice       s         = {.run = {.rows = (int32_t)rows, .row = (int32_t)r}, .top = r + rows - 1};

    if (!diagonals) continue;
    s.low                     = r + __builtin_ctzll(diagonals) - (block - 1);
    s.high                    = r + 63 - __builtin_clzll(diagonals) - (block - 1);
    s.run.steps[PMF_DIAGONAL] = __builtin_popcountll(diagonals);
    layout->blockrows += rows;
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
  if (order->block) PetscCall(PmfLayoutBlocks(layout, order->cut[part], end));
  for (PetscInt k = order->cut[part], stop; k < end; k = stop) {
    stop = k + PetscMin(end - k, order->window - (k - origin) % order->window);
    PetscCall(PmfLayoutWindow(layout, k, stop));
  }
  for (PetscInt k = 0; k < b->nsplit; k++) {
    const PetscInt place = part * b->nsplit + k, first = PmfFragment(layout, place);
    PmfSlice       s = PmfSliceAlone(layout, (int32_t)place, first, PmfFragment(layout, place + b->nsplit));

    s.run.flags |= PMF_FRAGMENT;
    PetscCall(PmfAppend(layout, s));
  }
  PetscCall(PmfClose(layout));
  b->first[part + 1] = (int32_t)b->nruns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is printed of the parts, or of blocks and rest; rows of a device are in part 0, which is none of the host's */
static PetscErrorCode PmfSetPrinted(const PmfLayout *layout)
{
  const PmfOrder *order = &layout->order;
  const PetscInt  first = PmfIsCut(order);
  PmfStorage     *b     = layout->b;
  const size_t    all = (size_t)layout->csr->i[b->m], rest = (size_t)order->rest.i[b->m], steps = b->kind[PMF_DIAGONAL];

  PetscFunctionBegin;
  b->nprinted = order->block ? 2 : b->nparts - first;
  PetscCall(PetscCalloc1(b->nprinted, &b->printed));
  for (PetscInt p = 0; p < b->nprinted && !order->block; p++) b->printed[p] = PmfPartOf(layout->csr, order, first + p);
  if (!order->block) PetscFunctionReturn(PETSC_SUCCESS);
  b->printed[0] = (PmfPart){.rows = layout->blockrows, .entries = all - rest, .elements = PMF_LANES * steps};
  b->printed[1] = (PmfPart){.rows = (PetscInt)layout->nrows, .entries = rest, .elements = PMF_LANES * (b->nsteps - steps)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a plan makes of a matrix, and a storage that has all but the arrays of entries and rows. It refers to csr and plan */
PetscErrorCode PmfLayoutCreate(const SpmvCSR *csr, const SpmvPlan *plan, PmfLayout *layout, void **storage)
{
  const PetscInt    *p = plan->value, nz = csr->i[csr->m], nparts = p[PMF_POWERS] ? p[PMF_POWERS] : plan->threads;
  const SpmvMachine *machine = SpmvMachineGet();
  PmfOrder          *order   = &layout->order;
  PmfStorage        *b;

  PetscFunctionBegin;
  *layout = (PmfLayout){.csr = csr, .pieces = p[PMF_PIECES], .capacity = 64};
  *order  = PmfOrderOf(csr, p, nparts, p[PMF_POWERS] ? plan->list : NULL);
  if (nparts > 1 && !PmfIsCut(order)) order->limit = PetscMax(PMF_SPLIT_MIN, nz / (PMF_SPLIT * nparts));
  PetscCall(PetscNew(&b));
  *storage = layout->b = b;
  *b                   = (PmfStorage){.m = csr->m, .n = csr->n, .partition = order->partition, .nparts = nparts};
  b->threads           = PetscMin(nparts, plan->threads);
  b->wanted            = p[PMF_VALUES];
  b->prefetch          = (PetscBool)(nz >= machine->cached);
  b->rows_ahead        = SpmvPrefetchPays(csr) ? PMF_LANES : 0;
  b->ahead             = nz >= machine->uncached ? SpmvNearAhead(csr) : 0; /* the last cache has x as well */
  b->listsize          = order->window <= UINT16_MAX + 1 ? sizeof(uint16_t) : sizeof(int32_t);
  b->empty             = (PetscBool)(order->block > 0);
  PetscCall(PmfOrderCreate(csr, order));
  PetscCall(SpmvAlloc((size_t)(PMF_SPLIT * nparts) * sizeof(int32_t), &b->split)); /* more than there are such rows */
  for (PetscInt r = 0; r < csr->m; r++) {
    if (order->rest.i[r + 1] - order->rest.i[r] > order->limit) b->split[b->nsplit++] = (int32_t)r;
  }
  PetscCall(PetscMalloc1(layout->capacity, &layout->run));
  PetscCall(PetscMalloc1(csr->m, &layout->row));
  PetscCall(PetscCalloc1(nparts + 1, &b->first));
  PmfChoosePieces(layout);
  for (PetscInt k = 0; k < nparts; k++) PetscCall(PmfLayoutPart(layout, k));
  PetscCheck(b->ncolumns <= UINT32_MAX && b->nruns <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu columns in %zu runs are more than 32-bit indices count; use more processes or -mat_type aij", b->ncolumns,
             b->nruns);
  PetscCall(PmfSetPrinted(layout));
  b->value = (SpmvValues){.coding = SpmvValuesLook(csr, (SpmvValuesWanted)b->wanted), .n = PMF_LANES * b->nsteps};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfLayoutDestroy(PmfLayout *layout)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(layout->row));
  PetscCall(PetscFree(layout->run));
  PetscCall(PmfOrderDestroy(&layout->order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
