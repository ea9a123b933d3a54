/*
  sbccoo_simd.c - the products of sbccoo, compiled once for each instruction set of isas.h

  A part goes through its rows chunk by chunk. Row i adds to rows from i on; which rows of y are needed next is known for each
  chunk of rows, so that they are set, and what is needed of x and y prefetched, as late as it pays. Towards its end a part adds
  to rows of others as well: from there on it works in a window of its own. Windows are added to y in the order of the parts.
*/
#include "sbccoo_sorted.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(SbccooKernels) = {.apply = NULL};
#else

typedef struct {
  const SbccooStorage *s;
  const PetscScalar   *x;
  PetscScalar         *y;
  PetscBool            beta, transpose;
} SbccooProduct;

/* Where a part writes: y, or from wfirst on its window */
typedef struct {
  PetscScalar *y;
  size_t       first; /* the entry of y that y[0] is */
} SbccooTarget;

/* Sets block rows [from, end) to what products are added to: beta y, of scalars also the diagonal's part; 0 those of others */
static void SbccooBegin(const SbccooProduct *a, const SbccooPart *p, SbccooTarget to, PetscInt from, PetscInt end)
{
  const SbccooStorage *s = a->s;
  const size_t         b = (size_t)s->b, own = b * (size_t)PetscMin(end, p->last);

  for (size_t k = b * (size_t)from; k < own; k++) {
    const PetscScalar y = a->beta ? a->y[k] : 0;

    to.y[k - to.first] = s->diagonal ? y + s->diagonal[k] * a->x[k] : y;
  }
  for (size_t k = PetscMax(own, b * (size_t)from); k < b * (size_t)end; k++) to.y[k - to.first] = 0;
}

/* What the next chunk begins with */
static void SbccooPrefetchChunk(const SbccooProduct *a, SbccooTarget to, size_t from, size_t end)
{
  for (size_t k = from; k < end; k += SPMV_CACHE_LINE / sizeof(PetscScalar)) {
    __builtin_prefetch(a->x + k, 0, 3);
    __builtin_prefetch(to.y + (k - to.first), 1, 3);
    if (a->s->diagonal) __builtin_prefetch(a->s->diagonal + k, 0, 3);
  }
}

/* Rows of the rest before row `end`, from number k on; returns the next one */
static PetscInt SbccooRest(const SbccooProduct *a, SbccooTarget to, PetscInt k, PetscInt end)
{
  const SbccooStorage *s = a->s;

  for (; k < s->nrestrows && s->restrow[k] < end; k++) {
    PetscScalar sum = 0;

    for (PetscInt e = s->reststart[k]; e < s->reststart[k + 1]; e++) sum += s->restvalue[e] * a->x[s->restcolumn[e]];
    to.y[(size_t)s->restrow[k] - to.first] += sum;
  }
  return k;
}

/* Block row i */
SPMV_INLINE void SbccooRow(SbccooAt *at, int b, PetscBool codes, PetscBool transpose, const PetscScalar *x, PetscScalar *y)
{
  const PetscBool wide = (PetscBool)(*at->index == SBCCOO_WIDE);
  uint32_t        word;
  PetscInt        n;

  at->index += wide;
  word = (uint32_t)SbccooNumber(at->index, 0, wide);
  at->index += wide ? 2 : 1;
  n = (PetscInt)(word & ~SBCCOO_HAS_FAR(wide));
  if (PetscUnlikely(wide)) SbccooBlockRow(at, b, codes, transpose, PETSC_TRUE, codes, n, x, y);
  else if (codes && word & SBCCOO_HAS_FAR(PETSC_FALSE)) SbccooBlockRow(at, b, codes, transpose, PETSC_FALSE, PETSC_TRUE, n, x, y);
  else SbccooBlockRow(at, b, codes, transpose, PETSC_FALSE, PETSC_FALSE, n, x, y);
}

/* A row of scalars with the word of its counts; x, y from it on */
SPMV_INLINE void SbccooScalars(SbccooAt *at, size_t codes, PetscBool transpose, PetscBool sorted, uint16_t word, int lane,
                               const PetscScalar *x, PetscScalar *y)
{
  PetscInt count[3];
  uint32_t wide[3];

  if (PetscLikely(word != SBCCOO_WIDE)) {
    SbccooCounts(word, sorted, count);
    SbccooScalarRow(at, codes, transpose, PETSC_FALSE, count[0], count[1], count[2], lane, x, y);
    return;
  }
  memcpy(wide, at->index, sizeof(wide));
  at->index += 6;
  SbccooScalarRow(at, codes, transpose, PETSC_TRUE, (PetscInt)wide[0], (PetscInt)wide[1], (PetscInt)wide[2], lane, x, y);
}

/* The rows of scalars of a chunk that are stored by their lengths; x, y from its first one on */
SPMV_INLINE void SbccooSorted(SbccooAt *at, size_t codes, PetscBool transpose, PetscInt n, const PetscScalar *x, PetscScalar *y)
{
  for (PetscInt done = 0; done < n;) {
    const uint16_t word = *at->index++;
    const PetscInt rows = *at->index++;

    done += rows;
  #if !SPMV_SIMD_PLAIN
    if (PetscLikely(word != SBCCOO_WIDE)) {
      SbccooSortedRows(at, codes, transpose, rows, word & SBCCOO_SORTED_MAX, word >> 10, x, y);
      continue;
    }
  #endif
    for (PetscInt k = 0; k < rows; k++) {
      const PetscInt i = *at->row++;

      SbccooScalars(at, codes, transpose, PETSC_TRUE, word, 0, x + i, y + i);
    }
  }
}

/* The rows of scalars of a chunk as they come; `first` is the first one, x and y from it on */
SPMV_INLINE void SbccooUnsorted(SbccooAt *at, size_t codes, PetscBool transpose, PetscInt first, PetscInt n, const PetscScalar *x,
                                PetscScalar *y)
{
  for (PetscInt i = 0; i < n; i++) {
    const uint16_t word = *at->index++;

    SbccooScalars(at, codes, transpose, PETSC_FALSE, word, (int)((first + i) % SBCCOO_PIECE), x + i, y + i);
  }
}

/* All rows of part p. b, codes and transpose are constants where it is called; codes: as SbccooScalarRow() has it */
SPMV_INLINE void SbccooRows(const SbccooProduct *a, const SbccooPart *p, int b, size_t codes, PetscBool transpose)
{
  const SbccooStorage *s     = a->s;
  SbccooTarget         to    = {a->y, 0};
  PetscInt             ready = p->first, rest = p->rest, chunk = p->chunk;
  SbccooAt             at = {.value     = s->value + p->value,
                             .code      = codes ? s->code + p->code : NULL,
                             .index     = s->index + p->index,
                             .mask      = s->mask + p->mask,
                             .row       = s->row ? s->row + p->first : NULL,
                             .both      = s->both + 2 * p->both,
                             .far       = s->far + p->far,
                             .least     = s->least,
                             .ahead     = s->large ? SBCCOO_AHEAD : 0,
                             .conjugate = s->conjugate};

  for (PetscInt first = p->first; first < p->last; first += SBCCOO_CHUNK, chunk++) {
    const PetscInt last = PetscMin(p->last, first + SBCCOO_CHUNK), front = s->front[chunk];

    if (first == p->wfirst && p->wlast > p->wfirst) {
      to = (SbccooTarget){s->window + p->window, (size_t)first * (size_t)b};
      memcpy(to.y, a->y + to.first, sizeof(PetscScalar) * (size_t)b * (size_t)(ready - first));
    }
    SbccooBegin(a, p, to, ready, front);
    if (last < p->last) SbccooPrefetchChunk(a, to, (size_t)front * (size_t)b, (size_t)s->front[chunk + 1] * (size_t)b);
    ready = front;
    if (b == 1 && s->row) SbccooSorted(&at, codes, transpose, last - first, a->x + first, to.y + ((size_t)first - to.first));
    else if (b == 1) SbccooUnsorted(&at, codes, transpose, first, last - first, a->x + first, to.y + ((size_t)first - to.first));
    for (PetscInt i = first; b > 1 && i < last; i++)
      SbccooRow(&at, b, (PetscBool)(codes > 0), transpose, a->x + (size_t)i * (size_t)b,
                to.y + ((size_t)i * (size_t)b - to.first));
    if (!transpose) rest = SbccooRest(a, to, rest, last * b);
  }
  if (to.y != a->y) memcpy(a->y + to.first, to.y, sizeof(PetscScalar) * (size_t)b * (size_t)(p->last - p->wfirst));
}

/* codes: 0 or 1 byte */
SPMV_INLINE void SbccooSizes(const SbccooProduct *a, const SbccooPart *p, size_t codes, PetscBool transpose)
{
  switch (a->s->b) {
  case 1: SbccooRows(a, p, 1, codes, transpose); break;
  case 2: SbccooRows(a, p, 2, codes, transpose); break;
  case 3: SbccooRows(a, p, 3, codes, transpose); break;
  case 4: SbccooRows(a, p, 4, codes, transpose); break;
  case 5: SbccooRows(a, p, 5, codes, transpose); break;
  case 6: SbccooRows(a, p, 6, codes, transpose); break;
  case 7: SbccooRows(a, p, 7, codes, transpose); break;
  default: SbccooRows(a, p, 8, codes, transpose);
  }
}

SPMV_INLINE void SbccooPartOf(const SbccooProduct *a, const SbccooPart *p, PetscBool transpose)
{
  if (a->s->codesize == 2) SbccooRows(a, p, 1, 2, transpose);
  else if (a->s->codesize) SbccooSizes(a, p, 1, transpose);
  else SbccooSizes(a, p, 0, transpose);
}

static void SbccooTask(void *context, PetscInt task)
{
  const SbccooProduct *a = (const SbccooProduct *)context;
  const SbccooPart    *p = a->s->part + task;

  if (a->transpose) SbccooPartOf(a, p, PETSC_TRUE);
  else SbccooPartOf(a, p, PETSC_FALSE);
}

/* Adds windows to a share of the rows that can be in some, in the order of the parts */
static void SbccooAddWindows(void *context, PetscInt task)
{
  const SbccooProduct *a = (const SbccooProduct *)context;
  const SbccooStorage *s = a->s;
  const size_t         b = (size_t)s->b, others = b * (size_t)s->part->last, n = b * (size_t)s->nb - others;
  const size_t         first = others + SpmvShare(n, task, s->nparts), end = others + SpmvShare(n, task + 1, s->nparts);

  for (PetscInt k = 0; k < s->nparts; k++) {
    const SbccooPart  *p      = s->part + k;
    const PetscScalar *window = s->window + p->window;
    const size_t       to     = PetscMin(end, b * (size_t)p->wlast);

    for (size_t i = PetscMax(first, b * (size_t)p->last); i < to; i++) a->y[i] += window[i - b * (size_t)p->wfirst];
  }
}

/* The columns of the rest that are the task's */
static void SbccooAddRest(void *context, PetscInt task)
{
  const SbccooProduct *a     = (const SbccooProduct *)context;
  const SbccooStorage *s     = a->s;
  const PetscInt       first = (PetscInt)SpmvShare((size_t)s->n, task, s->nparts);
  const PetscInt       end   = (PetscInt)SpmvShare((size_t)s->n, task + 1, s->nparts);

  for (PetscInt k = 0; k < s->nrestrows; k++) {
    const PetscScalar x = a->x[s->restrow[k]];

    for (PetscInt e = s->reststart[k]; e < s->reststart[k + 1]; e++) {
      const PetscInt j = s->restcolumn[e];

      if (j >= first && j < end) a->y[j] += s->restvalue[e] * x;
    }
  }
}

static void SbccooMultiply(SbccooProduct a)
{
  const SbccooStorage *s    = a.s;
  const size_t         done = (size_t)s->nb * (size_t)s->b, rows = (size_t)(a.transpose ? s->n : s->m);

  SpmvRun(s->nparts, SbccooTask, &a);
  if (!a.beta && rows > done) memset(a.y + done, 0, (rows - done) * sizeof(PetscScalar));
  if (s->window) SpmvRun(s->nparts, SbccooAddWindows, &a);
  if (a.transpose && s->nrest) SpmvRun(s->nparts, SbccooAddRest, &a);
  if (!a.transpose && rows > done) {
    PetscInt k = s->nrestrows;

    while (k > 0 && (size_t)s->restrow[k - 1] >= done) k--;
    (void)SbccooRest(&a, (SbccooTarget){a.y, 0}, k, s->m);
  }
}

static void SbccooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  SbccooMultiply((SbccooProduct){(const SbccooStorage *)storage, x, y, beta, PETSC_FALSE});
}

static void SbccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  (void)work;
  SbccooMultiply((SbccooProduct){(const SbccooStorage *)storage, x, y, beta, PETSC_TRUE});
}

static size_t SbccooTransposeWork(const void *storage)
{
  (void)storage;
  return 0;
}

const SpmvKernels SPMV_ISA_NAME(SbccooKernels) = {
  .apply = SbccooMult, .apply_transpose = SbccooMultTranspose, .transpose_work = SbccooTransposeWork};
#endif
