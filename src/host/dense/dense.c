/*
  dense.c - rows times several vectors: who computes which rows, and where the vectors lie meanwhile

  B's columns are laid side by side whole, or by windows: rows that follow each other often have neighbouring columns, as a
  stencil's do. Then the rows of B that some rows of A need are laid side by side just before, where a cache holds them until
  they have served, and B is read from memory once instead of three times: once to be laid side by side, again to be
  written so, and again to be multiplied.
*/
#include "dense.h"
#include "../machine.h"

#define DENSE_CHUNK   4096 /* rows that are looked at for a window, at least */
#define DENSE_SAMPLE  16   /* places where it is seen whether rows are shifted */
#define DENSE_SHIFTED 4    /* rows at once for which that pays, in the mean */
#define DENSE_SPAN    3 /* rows of a window for each row of A that it serves, at most: those that were there before are moved */

static const SpmvDenseKernels *const Kernels[SPMV_ISA_COUNT] = {
#define SPMV_ISA(NAME, name, flags, runs) &SpmvDenseKernels_##name,
#include "../../isas.h"
#undef SPMV_ISA
};

/* A product with the rows of csr, which are borrowed, by so many tasks */
void SpmvDenseProductSet(const SpmvCSR *csr, SpmvIsa isa, PetscInt ntasks, SpmvDenseProduct *d)
{
  *d = (SpmvDenseProduct){.kernels = Kernels[isa], .csr = *csr, .ntasks = ntasks};
  SpmvSplitRows(&d->csr, SPMV_PANEL, ntasks, d->first);
}

/* What the tasks of a product are given */
typedef struct {
  const SpmvDenseProduct *d;
  PetscInt                width, count;
  const PetscScalar      *x; /* side by side; or the columns */
  PetscInt                ldx;
  PetscScalar            *y; /* the columns of C */
  PetscInt                ldy;
  SpmvDenseTarget         target;
  PetscScalar            *window;                 /* [ntasks][capacity][width]; or where all of B goes */
  PetscInt                capacity;               /* rows of a window, at most */
  PetscInt                from[SPMV_THREADS_MAX]; /* the first row of each task that is left to do */
} DenseWork;

/* Runs the tasks of a product */
static void DenseRun(SpmvTask *task, DenseWork *w)
{
  SpmvRunWork((PetscInt64)w->d->csr.i[w->d->csr.m] * w->count);
  SpmvRun(w->d->ntasks, task, w);
  SpmvRunWork(SPMV_WORK_UNKNOWN);
}

static void SideBySideTask(void *context, PetscInt task)
{
  const DenseWork *w     = (const DenseWork *)context;
  const size_t     first = SpmvShare((size_t)w->d->csr.n, task, w->d->ntasks),
               last      = SpmvShare((size_t)w->d->csr.n, task + 1, w->d->ntasks);

  w->d->kernels->interleave(w->x + first, (size_t)w->ldx, w->count, w->width, (PetscInt)(last - first),
                            w->window + first * (size_t)w->width);
}

/* Lays csr.n rows of `count` columns side by side */
void SpmvDenseSideBySide(const SpmvDenseProduct *d, PetscInt width, PetscInt count, const PetscScalar *columns, PetscInt ld,
                         PetscScalar *out)
{
  DenseWork w = {.d = d, .width = width, .count = count, .x = columns, .ldx = ld, .window = out};

  DenseRun(SideBySideTask, &w);
}

/* What becomes of C, added to or not: it is written past the caches if its columns are long, and cache lines begin at the same rows of all */
static SpmvDenseTarget DenseTarget(const SpmvDenseProduct *d, PetscInt count, PetscInt ldy, PetscBool add)
{
  if (add) return SPMV_DENSE_ADD;
  if (sizeof(PetscScalar) * (size_t)ldy % SPMV_CACHE_LINE) return SPMV_DENSE_SET;
  return (PetscLogDouble)sizeof(PetscScalar) * d->csr.m * count > SpmvMachineGet()->last ? SPMV_DENSE_PAST : SPMV_DENSE_SET;
}

/* Rows [first, last), panel by panel; row r of x lies at x + r width */
static void DensePanels(const DenseWork *w, const PetscScalar *x, PetscInt first, PetscInt last)
{
  const SpmvDenseProduct *d    = w->d;
  const PetscBool         past = (PetscBool)(w->target == SPMV_DENSE_PAST);
  const size_t            into = past ? (size_t)(w->y + first) % SPMV_CACHE_LINE : 0;
  PetscScalar             panel[SPMV_PANEL * SPMV_WIDTH_MAX];

  for (PetscInt r = first, stop; r < last; r = stop) {
    stop = PetscMin(r + (r == first && into ? (PetscInt)((SPMV_CACHE_LINE - into) / sizeof(PetscScalar)) : SPMV_PANEL),
                    last); /* then a line begins */
    d->kernels->apply[SpmvDenseWidthIndex(w->width)](&d->csr, r, stop, x, panel);
    d->kernels->separate(panel, w->count, w->width, stop - r, w->target, w->y + r, (size_t)w->ldy);
  }
  if (past) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void ApplyTask(void *context, PetscInt task)
{
  const DenseWork *w = (const DenseWork *)context;

  DensePanels(w, w->x, w->from[task], w->d->first[task + 1]);
}

/* C <- C or 0 + A x for the rows that `from` leaves, or for all */
void SpmvDenseApply(const SpmvDenseProduct *d, const PetscInt from[], PetscInt width, PetscInt count, const PetscScalar *x,
                    PetscScalar *y, PetscInt ldy, PetscBool add)
{
  DenseWork w = {.d = d, .width = width, .count = count, .x = x, .y = y, .ldy = ldy, .target = DenseTarget(d, count, ldy, add)};

  memcpy(w.from, from ? from : d->first, sizeof(PetscInt) * (size_t)d->ntasks);
  DenseRun(ApplyTask, &w);
}

static void ColumnsTask(void *context, PetscInt task)
{
  const DenseWork *w = (const DenseWork *)context;

  for (PetscInt r = w->d->first[task], last = w->d->first[task + 1]; r < last; r += SPMV_PANEL) {
    w->d->kernels->apply_columns(&w->d->csr, r, PetscMin(r + SPMV_PANEL, last), w->count, w->x, (size_t)w->ldx, w->y,
                                 (size_t)w->ldy);
  }
}

static void ShiftedTask(void *context, PetscInt task)
{
  const DenseWork *w = (const DenseWork *)context;

  w->d->kernels->apply_shifted(&w->d->csr, w->d->first[task], w->d->first[task + 1], w->count, w->x, (size_t)w->ldx, w->target,
                               w->y, (size_t)w->ldy);
  if (w->target == SPMV_DENSE_PAST) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* C <- A B with B's columns as they are; shifted: as SpmvDenseIsShifted() says */
void SpmvDenseApplyColumns(const SpmvDenseProduct *d, PetscBool shifted, PetscInt count, const PetscScalar *x, PetscInt ldx,
                           PetscScalar *y, PetscInt ldy)
{
  DenseWork w = {.d = d, .x = x, .ldx = ldx, .y = y, .ldy = ldy, .target = DenseTarget(d, count, ldy, PETSC_FALSE)};

  for (; count > 0; count -= w.count, w.x += (size_t)w.count * (size_t)ldx, w.y += (size_t)w.count * (size_t)ldy) {
    w.count =
      shifted ? PetscMin(count, SPMV_WIDTH_MAX) : count; /* more would read x in more places than the machine keeps apart */
    DenseRun(shifted ? ShiftedTask : ColumnsTask, &w);
  }
}

/* True if most rows with entries have the columns of the one before plus one, as a sample says, which ends where the first places have none */
PetscBool SpmvDenseIsShifted(const SpmvDenseProduct *d)
{
  const SpmvCSR *csr  = &d->csr;
  PetscInt       rows = 0, groups = 0;

  for (PetscInt k = 0; k < DENSE_SAMPLE && rows >= DENSE_SHIFTED * (groups - 4); k++) {
    PetscInt r = (PetscInt)SpmvShare((size_t)csr->m, k, DENSE_SAMPLE);

    for (int g = 0; g < 3 && r < csr->m; g++) {
      const PetscInt shifted = d->kernels->shifted(csr, r, PetscMin(8, csr->m - r));

      if (csr->i[r + 1] > csr->i[r]) {
        rows += shifted;
        groups++;
      }
      r += shifted;
    }
  }
  return (PetscBool)(groups && rows >= DENSE_SHIFTED * groups);
}

/* DenseWindow: rows [low, high) of B, side by side from `at` on */
typedef struct {
  PetscScalar *at;
  PetscInt     low, high;
} DenseWindow;

/* Rows [first, last) of B, into a window that begins at row low */
static void WindowFill(const DenseWork *w, DenseWindow *window, PetscInt low, PetscInt first, PetscInt last)
{
  if (first < last)
    w->d->kernels->interleave(w->x + first, (size_t)w->ldx, w->count, w->width, last - first,
                              window->at + (size_t)(first - low) * (size_t)w->width);
}

/* The window is to be [low, high): what it has of that is moved, the rest is laid side by side */
static void WindowMove(const DenseWork *w, DenseWindow *window, PetscInt low, PetscInt high)
{
  const PetscInt first = PetscMax(low, window->low),
                 last  = PetscMax(first, PetscMin(high, window->high)); /* what stays; nothing if first = last */
  const size_t width   = (size_t)w->width;

  if (first < last && low != window->low)
    memmove(window->at + (size_t)(first - low) * width, window->at + (size_t)(first - window->low) * width,
            sizeof(PetscScalar) * (size_t)(last - first) * width);
  if (first < last) {
    WindowFill(w, window, low, low, first);
    WindowFill(w, window, low, last, high);
  } else WindowFill(w, window, low, low, high);
  window->low  = low;
  window->high = high;
}

/* The end of rows from r on, and the columns that they have, such that a window of them pays; r if there is none */
static PetscInt WindowRows(const DenseWork *w, PetscInt r, PetscInt last, PetscInt *low, PetscInt *high)
{
  const SpmvCSR *csr  = &w->d->csr;
  PetscInt       stop = r, span;

  *low  = PETSC_MAX_INT;
  *high = 0;
  do {
    const PetscInt more = PetscMin(last - stop, PetscMax(DENSE_CHUNK, stop - r));

    w->d->kernels->reach(csr->j, csr->i[stop], csr->i[stop + more], low, high);
    stop += more;
    span = *high - *low;
    if (span > w->capacity) return r;
  } while (stop < last && span > (PetscInt64)DENSE_SPAN * (stop - r));
  if (*low > *high) *low = *high; /* no entries */
  return stop;
}

static void WindowsTask(void *context, PetscInt task)
{
  DenseWork     *w      = (DenseWork *)context;
  const PetscInt last   = w->d->first[task + 1];
  DenseWindow    window = {.at = w->window + (size_t)task * (size_t)w->capacity * (size_t)w->width};

  for (PetscInt *r = &w->from[task], low, high; *r < last;) {
    const PetscInt stop = WindowRows(w, *r, last, &low, &high);

    if (stop == *r) return;
    WindowMove(w, &window, low, high);
    DensePanels(w, window.at - (ptrdiff_t)low * w->width, *r, stop);
    *r = stop;
  }
}

/*
  SpmvDenseApplyWindows - C <- A B with rows of B laid side by side as they are needed

  Input Parameters:
+ d        - A
. width    - columns side by side
. count    - of these, those that B has
. columns  - of B
. ld       - from one column of B to the next
. window   - [ntasks][capacity][width] to work with
. capacity - rows of a window
. y        - the columns of C
- ldy      - from one column of C to the next

  Output Parameter:
. from - [ntasks] the first row of each task that is left to do, because its columns are too far apart; d->first[task + 1] if none is
*/
PetscBool SpmvDenseApplyWindows(const SpmvDenseProduct *d, PetscInt width, PetscInt count, const PetscScalar *columns,
                                PetscInt ld, PetscScalar *window, PetscInt capacity, PetscScalar *y, PetscInt ldy,
                                PetscInt from[])
{
  DenseWork w    = {.d        = d,
                    .width    = width,
                    .count    = count,
                    .x        = columns,
                    .ldx      = ld,
                    .y        = y,
                    .ldy      = ldy,
                    .target   = DenseTarget(d, count, ldy, PETSC_FALSE),
                    .window   = window,
                    .capacity = capacity};
  PetscBool done = PETSC_TRUE;

  memcpy(w.from, d->first, sizeof(PetscInt) * (size_t)d->ntasks);
  DenseRun(WindowsTask, &w);
  memcpy(from, w.from, sizeof(PetscInt) * (size_t)d->ntasks);
  for (PetscInt t = 0; t < d->ntasks; t++) done = (PetscBool)(done && from[t] == d->first[t + 1]);
  return done;
}
