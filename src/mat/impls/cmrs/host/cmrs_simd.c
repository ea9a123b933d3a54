/*
  cmrs_simd.c - the products of CMRS, compiled once for each instruction set of isas.h: eight rows at a time

  A step of eight rows multiplies one vector. In one of fewer, lanes would lie idle: the products of such steps are made
  first, eight at a time whatever the rows, into a buffer, and a step adds its own.
*/
#include "cmrs_host.h"
#include "../../../../host/simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(CmrsKernels) = {.apply = NULL};
#else

/* What a product is given */
typedef struct {
  const CmrsStorage *c;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          beta;
  PetscScalar       *work; /* of a transposed product: vectors of the threads */
} CmrsProduct;

  /* Large matrices are prefetched, into the second cache */
  #define CMRS_PREFETCH_WORDS  4096 /* bytes between what is in use and what is prefetched */
  #define CMRS_PREFETCH_VALUES 16384

/* Words and values from some entry on, in local variables: the compiler must not look them up again after each store */
typedef struct {
  const char        *word;
  const PetscScalar *value;
  size_t             size; /* of a word, a constant where this is inlined */
  PetscBool          prefetch;
} CmrsEntries;

SPMV_INLINE CmrsEntries CmrsEntriesFrom(const CmrsStorage *c, PetscInt k, PetscBool wide)
{
  const size_t size = wide ? sizeof(uint64_t) : sizeof(uint32_t);

  return (CmrsEntries){(const char *)c->word + (size_t)k * size, c->value + k, size, c->prefetch};
}

SPMV_INLINE uint64_t CmrsWordAt(const CmrsEntries *e, size_t k)
{
  return e->size == sizeof(uint64_t) ? ((const uint64_t *)e->word)[k] : ((const uint32_t *)e->word)[k];
}

/* The products of entries k to k + 7 */
SPMV_INLINE Spmv8 CmrsEight(const CmrsEntries *e, size_t k, const PetscScalar *x)
{
  const Spmv8 xk = e->size == sizeof(uint64_t) ? Spmv8GatherPacked(x, (const uint64_t *)e->word + k, CMRS_BITS)
                                               : Spmv8GatherPacked(x, (const uint32_t *)e->word + k, CMRS_BITS);

  if (e->prefetch) {
    SpmvPrefetch((const char *)(e->value + k) + CMRS_PREFETCH_VALUES, 1);
    SpmvPrefetch(e->word + k * e->size + CMRS_PREFETCH_WORDS, 1);
  }
  return Spmv8Mul(Spmv8Load(e->value + k), xk);
}

/* The sum of n products */
SPMV_INLINE PetscScalar CmrsSumBuffered(const PetscScalar product[], size_t n)
{
  Spmv8  sum = Spmv8Zero();
  size_t k   = 0;

  for (; k + CMRS_VECTOR <= n; k += CMRS_VECTOR) sum = Spmv8Add(sum, Spmv8Load(product + k));
  return Spmv8Sum(Spmv8AddFirst(sum, Spmv8Load(product + k), (unsigned)(n - k)));
}

/* The sum of the products of n entries from the k-th on */
SPMV_INLINE PetscScalar CmrsSumDirect(const CmrsEntries *e, size_t k, size_t n, const PetscScalar *x)
{
  const size_t end = k + n;
  Spmv8        a = Spmv8Zero(), b = Spmv8Zero();

  for (; k + 2 * CMRS_VECTOR <= end; k += 2 * CMRS_VECTOR) {
    a = Spmv8Add(a, CmrsEight(e, k, x));
    b = Spmv8Add(b, CmrsEight(e, k + CMRS_VECTOR, x));
  }
  a = Spmv8Add(a, b);
  if (k + CMRS_VECTOR <= end) {
    a = Spmv8Add(a, CmrsEight(e, k, x));
    k += CMRS_VECTOR;
  }
  return Spmv8Sum(k < end ? Spmv8AddFirst(a, CmrsEight(e, k, x), (unsigned)(end - k)) : a);
}

/* Makes the products of n entries from the k-th on */
SPMV_INLINE void CmrsFill(const CmrsEntries *e, size_t k, size_t n, const PetscScalar *x, PetscScalar buffer[])
{
  for (size_t q = 0; q < n; q += CMRS_VECTOR) Spmv8Store(buffer + q, CmrsEight(e, k + q, x));
}

/* The sum of the products of some steps, which lie one after the other */
SPMV_INLINE Spmv8 CmrsAddSteps(Spmv8 sum, const PetscScalar *product, const uint8_t active[], size_t steps)
{
  for (size_t t = 0; t < steps; t++) {
    sum = Spmv8AddFirst(sum, Spmv8Load(product), active[t]);
    product += active[t];
  }
  return sum;
}

/* y for the strips of a chunk; mode and bands are constants. buffer: products of the whole chunk, or room for those of a band */
SPMV_INLINE void CmrsChunkRows(const CmrsProduct *p, const CmrsChunk *chunk, const CmrsEntries *e, PetscScalar *buffer,
                               CmrsMode mode, PetscInt bands)
{
  const CmrsStorage *c      = p->c;
  const PetscScalar *x      = p->x;
  const uint8_t     *active = c->active + chunk->step, *lane = CmrsLanes(c, chunk->strip * bands);
  const CmrsSteps   *step = c->step + chunk->strip * bands;
  const CmrsTail    *tail = c->tail + chunk->tail, *tails = c->tail + chunk[1].tail;
  const PetscInt     first = chunk->strip * c->height, height = c->height,
                 end = chunk[1].strip < c->strips ? chunk[1].strip * height : c->m;
  size_t k           = 0; /* entries done */

  for (PetscInt r = first; r < end; r += height) {
    const PetscInt rows = PetscMin(height, end - r);

    for (PetscInt b = 0; b < bands; b++, step++, lane += CMRS_VECTOR) {
      const size_t full = step->full, all = step->all, others = step->entries;
      Spmv8        sum = Spmv8Zero();

      if (mode == CMRS_BUFFERED) {
        sum = CmrsAddSteps(sum, buffer + k, active, all);
        k += CMRS_VECTOR * full;
      } else {
        if (mode == CMRS_MIXED) CmrsFill(e, k + CMRS_VECTOR * full, others, x, buffer);
        for (size_t t = 0; t < full; t++, k += CMRS_VECTOR) sum = Spmv8Add(sum, CmrsEight(e, k, x));
        if (mode == CMRS_MIXED) sum = CmrsAddSteps(sum, buffer, active + full, all - full);
      }
      k += others;
      active += all;
      if (mode != CMRS_UNIFORM) sum = Spmv8Permute(sum, lane);
      Spmv8Put(p->y + r + CMRS_VECTOR * b, sum, rows - CMRS_VECTOR * b, p->beta);
    }
    for (; mode != CMRS_UNIFORM && tail < tails && first + tail->row < r + rows; tail++) {
      p->y[first + tail->row] +=
        mode == CMRS_BUFFERED ? CmrsSumBuffered(buffer + k, tail->length) : CmrsSumDirect(e, k, tail->length, x);
      k += tail->length;
    }
  }
}

SPMV_INLINE void CmrsChunkApply(const CmrsProduct *p, const CmrsChunk *chunk, PetscBool wide, PetscInt bands)
{
  const PetscInt    before = chunk->mode == CMRS_BUFFERED ? chunk->entry % CMRS_VECTOR : 0;
  const CmrsEntries e      = CmrsEntriesFrom(p->c, chunk->entry - before, wide);
  PetscScalar       buffer[CMRS_BUFFER];

  if (chunk->mode == CMRS_UNIFORM) CmrsChunkRows(p, chunk, &e, NULL, CMRS_UNIFORM, bands);
  else if (chunk->mode == CMRS_MIXED) CmrsChunkRows(p, chunk, &e, buffer, CMRS_MIXED, bands);
  else {
    CmrsFill(&e, 0, (size_t)(before + chunk->buffered), p->x, buffer);
    CmrsChunkRows(p, chunk, &e, buffer + before, CMRS_BUFFERED, bands);
  }
}

/* y for the chunks of task t; the sums of its segments wait in `partial` */
SPMV_INLINE void CmrsApplyTask(const CmrsProduct *p, PetscInt t, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsTask    *own = &c->task[t], *next = &c->task[t + 1];

  for (PetscInt k = own->chunk; k < next->chunk; k++) {
    if (c->bands == 1) CmrsChunkApply(p, &c->chunk[k], wide, 1);
    else CmrsChunkApply(p, &c->chunk[k], wide, 2);
  }
  for (PetscInt k = own->segment; k < next->segment; k++) {
    const CmrsEntries e = CmrsEntriesFrom(c, c->segment[k].first, wide);

    c->partial[k] = CmrsSumDirect(&e, 0, (size_t)c->segment[k].length, p->x);
  }
}

/* y <- y + A^T x for one row's entries: n of them from the k-th on, `step` apart */
SPMV_INLINE void CmrsScatter(const CmrsEntries *e, size_t k, size_t n, size_t step, PetscScalar x, PetscScalar *y)
{
  for (size_t t = 0; t < n; t++, k += step) y[CmrsWordAt(e, k) >> CMRS_BITS] += e->value[k] * x;
}

/* The same for entries k to end - 1, of any rows of a strip; x: from its first row on. Returns where they end */
SPMV_INLINE size_t CmrsScatterAll(const CmrsEntries *e, size_t k, size_t end, const PetscScalar *x, PetscScalar *y)
{
  for (; k < end; k++) CmrsScatter(e, k, 1, 1, x[CmrsWordAt(e, k) % CMRS_HEIGHT_MAX], y);
  return k;
}

/*
  y <- y + A^T x for the chunks and segments of task t. Row by row where that is simple: neighbours in a step often have the
  same column, and would wait for each other's y
*/
SPMV_INLINE void CmrsTransposeTask(const CmrsProduct *p, PetscInt t, PetscScalar *y, PetscBool wide)
{
  const CmrsStorage *c   = p->c;
  const CmrsTask    *own = &c->task[t], *next = &c->task[t + 1];
  const CmrsEntries  e = CmrsEntriesFrom(c, 0, wide);

  for (PetscInt q = own->chunk; q < next->chunk; q++) {
    const CmrsChunk *chunk = &c->chunk[q];
    const size_t     end   = (size_t)(chunk->entry + chunk->buffered);
    size_t           k     = (size_t)chunk->entry;

    for (PetscInt s = chunk->strip; s < chunk[1].strip; s++) {
      const PetscScalar *x    = p->x + s * c->height;
      const size_t       stop = PetscMin(end, (size_t)c->strip[s + 1]);

      for (PetscInt b = 0; b < c->bands; b++) {
        const CmrsSteps step = c->step[s * c->bands + b];

        if (step.full) {
          for (size_t l = 0; l < CMRS_VECTOR; l++)
            CmrsScatter(&e, k + l, step.full, CMRS_VECTOR, x[CmrsWordAt(&e, k + l) % CMRS_HEIGHT_MAX], y);
        }
        k += CMRS_VECTOR * (size_t)step.full;
        k = CmrsScatterAll(&e, k, k + step.entries, x, y);
      }
      k = CmrsScatterAll(&e, k, stop, x, y); /* tails */
    }
  }
  for (const CmrsSegment *segment = c->segment + own->segment; segment < c->segment + next->segment; segment++)
    CmrsScatter(&e, (size_t)segment->first, (size_t)segment->length, 1, p->x[segment->row], y);
}

static void CmrsApply(void *context, PetscInt t)
{
  const CmrsProduct *p = (const CmrsProduct *)context;

  if (p->c->wordsize == sizeof(uint64_t)) CmrsApplyTask(p, t, PETSC_TRUE);
  else CmrsApplyTask(p, t, PETSC_FALSE);
}

static void CmrsMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  CmrsProduct p = {(const CmrsStorage *)storage, x, y, beta, NULL};

  SpmvRun(p.c->threads, CmrsApply, &p);
  for (PetscInt k = 0; k < p.c->nsegments; k++) y[p.c->segment[k].row] += p.c->partial[k];
}

/* The first task adds to y, each other one to a vector of its own */
static void CmrsApplyTranspose(void *context, PetscInt t)
{
  const CmrsProduct *p = (const CmrsProduct *)context;
  PetscScalar       *y = SpmvTaskVector(p->c->n, t, p->work, p->y);

  if (t || !p->beta) memset(y, 0, sizeof(PetscScalar) * (size_t)p->c->n);
  if (p->c->wordsize == sizeof(uint64_t)) CmrsTransposeTask(p, t, y, PETSC_TRUE);
  else CmrsTransposeTask(p, t, y, PETSC_FALSE);
}

static size_t CmrsTransposeWork(const void *storage)
{
  const CmrsStorage *c = (const CmrsStorage *)storage;

  return SpmvTaskVectors(c->n, c->threads);
}

static void CmrsMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  CmrsProduct p = {(const CmrsStorage *)storage, x, y, beta, work};

  SpmvRun(p.c->threads, CmrsApplyTranspose, &p);
  SpmvAddVectors(p.c->threads, (size_t)p.c->n, NULL, work, y);
}

const SpmvKernels SPMV_ISA_NAME(CmrsKernels) = {
  .apply           = CmrsMult,
  .apply_transpose = CmrsMultTranspose,
  .transpose_work  = CmrsTransposeWork,
};
#endif
