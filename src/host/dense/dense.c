/*
  dense.c - rows times several vectors: the tasks of a product C = A B, and how B is laid side by side

  B is laid side by side whole, or by windows: consecutive rows of A often have neighbouring columns, as a stencil's do. Then the
  rows of B that some rows of A need are laid side by side just before, where a cache holds them until they have served. So B is
  read from memory once instead of being read, written side by side and read again.
*/
#include "dense.h"
#include "../machine.h"

#define DENSE_CHUNK   4096 /* rows of A that share a window, at least */
#define DENSE_SAMPLE  16   /* places where SpmvDenseIsShifted() looks */
#define DENSE_SHIFTED 4    /* shifted rows that follow each other for which their kernel pays, in the mean */
#define DENSE_SPAN    3    /* rows of a window for each row of A that it serves, at most: to move them costs time */

const SpmvDenseKernels *const SpmvDenseKernelsOf[SPMV_ISA_COUNT] = {
#define SPMV_ISA(NAME, name, flags, runs) &SpmvDenseKernels_##name,
#include "../../isas.h"
#undef SPMV_ISA
};

/* Sets up products with the rows of csr, which are borrowed, by so many tasks */
void SpmvDenseProductSet(const SpmvCSR *csr, SpmvIsa isa, PetscInt ntasks, SpmvDenseProduct *d)
{
  *d = (SpmvDenseProduct){.kernels = SpmvDenseKernelsOf[isa], .csr = *csr, .ntasks = ntasks};
  SpmvSplitRows(&d->csr, SPMV_PANEL, ntasks, d->first);
}

/* What the tasks of a product are given */
typedef struct {
  const SpmvDenseProduct *d;
  PetscInt                width, count;
  const PetscScalar      *x; /* B: columns, or side by side */
  PetscInt                ldx;
  PetscScalar            *y; /* the columns of C */
  PetscInt                ldy;
  SpmvDenseTarget         target;
  PetscBool               shifted;
  PetscScalar            *window;                 /* [ntasks][capacity][width]; or [n][width] for all of B */
  PetscInt                capacity;               /* rows of a window, at most */
  PetscInt                from[SPMV_THREADS_MAX]; /* the first row of each task that is left to do */
} DenseWork;

/* Runs the tasks of a product */
static void DenseRun(SpmvTask *task, DenseWork *w)
{
  SpmvRunBegin((PetscInt64)w->d->csr.i[w->d->csr.m] * w->count);
  SpmvRun(w->d->ntasks, task, w);
  SpmvRunEnd();
}

static void SideBySideTask(void *context, PetscInt task)
{
  const DenseWork *w     = (const DenseWork *)context;
  const size_t     first = SpmvShare((size_t)w->d->csr.n, task, w->d->ntasks),
               last      = SpmvShare((size_t)w->d->csr.n, task + 1, w->d->ntasks);

  w->d->kernels->interleave(w->x + first, (size_t)w->ldx, w->count, w->width, (PetscInt)(last - first),
                            w->window + first * (size_t)w->width);
}

/* Lays `count` columns of B side by side, `width` wide */
void SpmvDenseSideBySide(const SpmvDenseProduct *d, PetscInt width, PetscInt count, const PetscScalar *columns, PetscInt ld,
                         PetscScalar *out)
{
  DenseWork w = {.d = d, .width = width, .count = count, .x = columns, .ldx = ld, .window = out};

  DenseRun(SideBySideTask, &w);
}

/* C is written past the caches if its columns are long and cache lines begin at the same rows of all of them */
static SpmvDenseTarget DenseTarget(const SpmvDenseProduct *d, PetscInt count, PetscInt ldy, PetscBool add)
{
  if (add) return SPMV_DENSE_ADD;
  if (sizeof(PetscScalar) * (size_t)ldy % SPMV_CACHE_LINE) return SPMV_DENSE_SET;
  return (PetscLogDouble)sizeof(PetscScalar) * d->csr.m * count > SpmvMachineGet()->last ? SPMV_DENSE_PAST : SPMV_DENSE_SET;
}

/* Rows [first, last), panel by panel; row r of x is at x + r width. Stores past the caches begin where a cache line of y does */
static void DensePanels(const DenseWork *w, const PetscScalar *x, PetscInt first, PetscInt last)
{
  const SpmvDenseProduct *d    = w->d;
  const PetscBool         past = (PetscBool)(w->target == SPMV_DENSE_PAST);
  const size_t            into = past ? (size_t)(w->y + first) % SPMV_CACHE_LINE : 0;
  PetscInt                rows = into ? (PetscInt)((SPMV_CACHE_LINE - into) / sizeof(PetscScalar)) : SPMV_PANEL;
  PetscScalar             panel[SPMV_PANEL * SPMV_WIDTH_MAX];

  for (PetscInt r = first, stop; r < last; r = stop, rows = SPMV_PANEL) {
    stop = PetscMin(r + rows, last);
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

/* C <- A x, or C + A x if `add`, with x side by side: rows of task t from from[t] on, or all */
void SpmvDenseApply(const SpmvDenseProduct *d, const PetscInt from[], PetscInt width, PetscInt count, const PetscScalar *x,
                    PetscScalar *y, PetscInt ldy, PetscBool add)
{
  DenseWork w = {.d = d, .width = width, .count = count, .x = x, .y = y, .ldy = ldy, .target = DenseTarget(d, count, ldy, add)};

  memcpy(w.from, from ? from : d->first, sizeof(PetscInt) * (size_t)d->ntasks);
  DenseRun(ApplyTask, &w);
}

static void ColumnsTask(void *context, PetscInt task)
{
  const DenseWork        *w = (const DenseWork *)context;
  const SpmvDenseProduct *d = w->d;

  d->kernels->apply_columns[w->shifted](&d->csr, d->first[task], d->first[task + 1], w->count, w->x, (size_t)w->ldx, w->target,
                                        w->y, (size_t)w->ldy);
  if (w->target == SPMV_DENSE_PAST) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* C <- A B with B's columns as they are; shifted: as SpmvDenseIsShifted() says */
void SpmvDenseApplyColumns(const SpmvDenseProduct *d, PetscBool shifted, PetscInt count, const PetscScalar *x, PetscInt ldx,
                           PetscScalar *y, PetscInt ldy)
{
  DenseWork w = {.d = d, .x = x, .ldx = ldx, .y = y, .ldy = ldy, .shifted = shifted};

  w.target = DenseTarget(d, count, ldy, PETSC_FALSE);
  for (; count > 0; count -= w.count, w.x += (size_t)w.count * (size_t)ldx, w.y += (size_t)w.count * (size_t)ldy) {
    w.count = shifted ? PetscMin(count, SPMV_WIDTH_MAX) : count; /* the hardware prefetches from so many places only */
    DenseRun(ColumnsTask, &w);
  }
}

/* True if most rows with entries are shifted, as a sample tells, which ends early if its first places have none */
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

/* Rows [first, last) of B, into the window */
static void WindowFill(const DenseWork *w, DenseWindow *window, PetscInt first, PetscInt last)
{
  w->d->kernels->interleave(w->x + first, (size_t)w->ldx, w->count, w->width, last - first,
                            window->at + (size_t)(first - window->low) * (size_t)w->width);
}

/* Makes the window [low, high): what it has of that is moved, the rest is laid side by side */
static void WindowMove(const DenseWork *w, DenseWindow *window, PetscInt low, PetscInt high)
{
  const size_t width = (size_t)w->width;
  PetscInt     first = PetscMax(low, window->low), last = PetscMin(high, window->high); /* what stays */

  if (first >= last) first = last = low;
  else if (low != window->low) {
    memmove(window->at + (size_t)(first - low) * width, window->at + (size_t)(first - window->low) * width,
            sizeof(PetscScalar) * (size_t)(last - first) * width);
  }
  window->low  = low;
  window->high = high;
  WindowFill(w, window, low, first);
  WindowFill(w, window, last, high);
}

/* The end of the rows from r on that a window serves, and the columns that they have; r if no window pays */
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
  C <- A B with rows of B laid side by side as they are needed, in window, [ntasks][capacity][width] to work with. Returns true if
  nothing is left to do; else from[t] is the first row of task t that is, because its columns are too far apart
*/
PetscBool SpmvDenseApplyWindows(const SpmvDenseProduct *d, PetscInt width, PetscInt count, const PetscScalar *columns,
                                PetscInt ld, PetscScalar *window, PetscInt capacity, PetscScalar *y, PetscInt ldy,
                                PetscInt from[])
{
  DenseWork w    = {.d = d, .width = width, .count = count, .x = columns, .ldx = ld, .y = y, .ldy = ldy};
  PetscBool done = PETSC_TRUE;

  w.target   = DenseTarget(d, count, ldy, PETSC_FALSE);
  w.window   = window;
  w.capacity = capacity;
  memcpy(w.from, d->first, sizeof(PetscInt) * (size_t)d->ntasks);
  DenseRun(WindowsTask, &w);
  memcpy(from, w.from, sizeof(PetscInt) * (size_t)d->ntasks);
  for (PetscInt t = 0; t < d->ntasks; t++) done = (PetscBool)(done && from[t] == d->first[t + 1]);
  return done;
}
