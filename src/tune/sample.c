/*
  sample.c - rows that stand for all of a matrix: evenly spread windows of consecutive ones; and how often x comes from where

  A window begins at a multiple of the block heights that there are, so that blocks begin where they do in the matrix. For
  a choice among formats windows are few and long, since formats order rows inside a window: a look at all of them takes about as
  long as a product. For a choice among the plans that a format proposes less has to do.
*/
#include "tune.h"
#include "../host/values.h"
#include <math.h>

/* For each SpmvSampleUse: a matrix is looked at as a whole, or one entry of `part`, but so many entries at least */
static const struct {
  PetscInt wholerows, whole; /* rows, entries up to which a matrix is looked at as a whole */
  PetscInt part, entries;    /* beyond: one entry of so many, but so many at least */
  PetscInt windows;          /* at least */
  PetscInt rows;             /* of a window, at most; a multiple of SAMPLE_COMMON, or all */
} SampleSizes[] = {
  [SPMV_SAMPLE_FORMATS] = {384, 24576, 16, 24576, 4, PETSC_MAX_INT},
  [SPMV_SAMPLE_PAIR]    = {48, 4096, 32, 4096, 8, 72},
  [SPMV_SAMPLE_PLANS]   = {48, 1024, 64, 1024, 1, 72},
};

#define SAMPLE_WINDOWS  8     /* windows that a sample is made of, unless there are to be more; fewer ... */
#define SAMPLE_WINDOW   16384 /* ... where the matrix has not so many entries for each of them */
#define SAMPLE_ALL      840   /* least common multiple of block heights: of 1 to 8 ... */
#define SAMPLE_ALL_BUT7 120   /* ... or, where windows lie closer, of all but 7, ... */
#define SAMPLE_COMMON   24    /* ... or of the commoner ones */

#define SAMPLE_STREAM     4096   /* accesses within which two lines belong to the same stream, at most, ... */
#define SAMPLE_LINES      4      /* ... and one for so many lines of x: else lines at random would belong together */
#define SAMPLE_ACCESSES   262144 /* entries that warm the caches, then as many that are counted, at most, in each of two places */
#define SAMPLE_WEIGHT_MAX 4.     /* a window counts at most so many times as its number of rows alone would have it */

/* What rows one after the other find in each cache, by a simulation of caches whose lines have one place each */
typedef struct {
  int       levels;                 /* caches */
  PetscInt  lines[SPMV_LEVELS - 1]; /* of each cache, a power of two */
  int32_t  *line[SPMV_LEVELS - 1];  /* [lines] the line of x in each place, counted from 1; 0: none */
  uint32_t *used;                   /* [lines of the last] the access that used it last */
  uint32_t  accesses, stream;
  uint32_t  far[SPMV_LEVELS]; /* accesses whose line is in no cache before this level, and which nobody prefetches */
} SampleCaches;

/* A line that is not in the first cache */
static void SampleMiss(SampleCaches *c, int32_t line)
{
  const int     last       = c->levels - 1;
  const int32_t before     = (line - 1) & (int32_t)(c->lines[last] - 1);
  const int     prefetched = c->line[last][before] == line - 1 && c->accesses - c->used[before] <= c->stream; /* by the machine */

  for (int k = 0; k <= last; k++) {
    int32_t *place = &c->line[k][line & (int32_t)(c->lines[k] - 1)];

    if (*place == line) break;
    *place = line;
    c->far[k + 1] += !prefetched;
  }
}

/* Rows and columns in an order: row[k] is row k, place[c] is column c; both NULL as they come */
typedef struct {
  const PetscInt *row, *place;
} SampleOrder;

/* Rows from `first` on, as many as have `wanted` entries; returns the row after them */
static PetscInt SampleRun(const SpmvCSR *csr, const SampleOrder *o, PetscInt first, PetscInt wanted, SampleCaches *c)
{
  const int32_t  near = (int32_t)(c->lines[0] - 1), last = (int32_t)(c->lines[c->levels - 1] - 1);
  const int32_t *nearest = c->line[0];
  PetscInt       r       = first;
  PetscInt64     done    = 0;

  for (; r < csr->m && done < wanted; r++) {
    const PetscInt row = o->row ? o->row[r] : r, begin = csr->i[row], end = csr->i[row + 1];

    for (PetscInt k = begin; k < end; k++) {
      const PetscInt column = o->place ? o->place[csr->j[k]] : csr->j[k];
      const int32_t  line   = SpmvMachineLine(column);

      if (nearest[line & near] != line) SampleMiss(c, line);
      c->used[line & last] = ++c->accesses;
    }
    done += end - begin;
  }
  return r;
}

/*
  Counts how far x is. Nothing to do where it fits the first cache, or where it was done

  row: the rows in the order that they are to have, which is that of the columns as well; NULL as they come
  cache: bytes of so many caches, the nearest first
*/
static PetscErrorCode SampleReach(const SpmvCSR *csr, const PetscInt row[], int levels, const PetscLogDouble cache[],
                                  SpmvReach *s)
{
  const PetscLogDouble     x  = (PetscLogDouble)csr->n * sizeof(PetscScalar);
  const PetscInt           nz = csr->i[csr->m], wanted = PetscMin(SAMPLE_ACCESSES, nz / 12);
  SPMV_TEMPORARY PetscInt *place = NULL;
  SampleOrder              order = {row, NULL};
  SPMV_TEMPORARY int32_t  *line  = NULL;
  SPMV_TEMPORARY uint32_t *used  = NULL;
  SampleCaches             c     = {.levels = levels, .accesses = SAMPLE_STREAM + 1};
  PetscInt                 total = 0, most = 1; /* places for all lines of x: in more nothing else would happen */

  PetscFunctionBegin;
  if (s->accesses > 0 || x <= cache[0]) PetscFunctionReturn(PETSC_SUCCESS);
  while (most <= SpmvMachineLine(csr->n)) most *= 2;
  for (int k = 0; k < levels; k++) {
    c.lines[k] = PetscMin(most, SpmvMachineLines(cache[k]));
    total += c.lines[k];
  }
  PetscCall(PetscCalloc1(total, &line));
  PetscCall(PetscCalloc1(c.lines[levels - 1], &used));
  for (int k = levels - 1; k >= 0; k--) c.line[k] = line + (total -= c.lines[k]);
  c.used   = used;
  c.stream = (uint32_t)PetscMin(SAMPLE_STREAM, csr->n / (SPMV_CACHE_LINE / sizeof(PetscScalar)) / SAMPLE_LINES);
  if (row) {
    PetscCall(PetscMalloc1(csr->m, &place));
    for (PetscInt k = 0; k < csr->m; k++) place[row[k]] = k;
    order.place = place;
  }
  for (PetscInt w = 0; w < 2; w++) {
    const PetscInt r      = SampleRun(csr, &order, csr->m / 2 * w, wanted, &c); /* it warms the caches */
    const uint32_t warmed = c.accesses;

    PetscCall(PetscArrayzero(c.far, SPMV_LEVELS));
    if (r < csr->m) (void)SampleRun(csr, &order, r, wanted, &c);
    s->accesses += c.accesses - warmed;
    for (int k = 1; k <= levels; k++) s->far[k] += c.far[k];
  }
  for (int k = 0; k < levels; k++) { /* what is first seen late in a sample has been there since the product before */
    if (x > cache[k]) continue;
    for (int l = k + 1; l <= levels; l++) s->far[l] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far x is from this processor */
PetscErrorCode SpmvSampleReach(SpmvSample *s)
{
  return SampleReach(s->all, NULL, SPMV_LEVELS - 1, SpmvMachineGet()->cache, &s->host);
}

/* The same from the processors of the target, which share a cache */
PetscErrorCode SpmvSampleReachDevice(SpmvSample *s)
{
  return SampleReach(s->all, NULL, 1, &s->target->rates.cache, &s->device);
}

/* Nanoseconds that the entries of x of all rows are waited for, by a sample of them */
static PetscErrorCode SampleWait(const SpmvCSR *csr, const PetscInt row[], PetscLogDouble *wait)
{
  const SpmvMachine *machine = SpmvMachineGet();
  SpmvReach          reach   = {0};

  PetscFunctionBegin;
  *wait = 0;
  PetscCall(SampleReach(csr, row, SPMV_LEVELS - 1, machine->cache, &reach));
  for (int level = 1; level < SPMV_LEVELS && reach.accesses > 0; level++)
    *wait +=
      reach.far[level] / reach.accesses * (PetscLogDouble)csr->i[csr->m] * (machine->line[level] - machine->line[level - 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To bring an entry of x into an order, and one of y back: 1.6 to 2.7 ns in L2, 3 to 5 in L3, 14 from memory (Emerald Rapids) */
#define ORDER_CYCLES 5. /* besides waiting for a line */
/*
  What products must gain by an order, by estimate: an order and the storage in it are 60 to 130 products to make. With 1.07 to 1.11
  by estimate linear elasticity in random numbering, a million entries, takes 0.92 to 1.02 of the time in the order, and two graphs
  1.04 and 1.19; with 1.16 to 1.45 P1, edge elements, Q2 and DG2 take 0.91 to 0.63 (Emerald Rapids)
*/
#define ORDER_GAIN 1.12
#define ORDER_MAKE 60 /* products that making an order and the storage in it take: 20 to 45 by AIJ's kernel, which is slower */

/*
  SpmvTuneOrder - an order of a matrix with which its products are estimated to be faster; NULL if there is none

  serves: what makes the products in the present order, by so many threads. calls: products that set-up is shared by; 0: not counted.
  There is none where x fits the first cache. Where it fits the second one, a line of x for each entry is still two to three times
  as long as the work (Zen 5, Q2 and DG2 in random numbering, a million entries: 0.43 ns an entry, 0.17 in an order)
*/
PetscErrorCode SpmvTuneOrder(const SpmvCSR *csr, const SpmvOption *serves, PetscInt threads, PetscReal calls, SpmvOrder **order)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble vectors = 2. * (PetscLogDouble)csr->m * sizeof(PetscScalar);
  const PetscLogDouble one     = 1e9 * SpmvSharers(csr, threads); /* nanoseconds of one thread, as in all that follows */
  const PetscLogDouble product = one * serves->predicted, waits = one * serves->waits;
  const PetscLogDouble make = calls > 0 ? ORDER_MAKE * product / calls : 0;
  const PetscLogDouble bring =
    (PetscLogDouble)csr->m * (ORDER_CYCLES * machine->cycle + SpmvLineTime(2 * vectors)); /* in both orders */
  PetscLogDouble before, after;

  PetscFunctionBegin;
  *order = NULL;
  if (!SpmvOrderAllows(csr) || vectors <= machine->cache[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (product < ORDER_GAIN * (product - waits + bring) + make) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SampleWait(csr, NULL, &before));
  if (before <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvOrderCreate(csr, threads, order));
  PetscCall(SampleWait(csr, (*order)->row, &after));
  PetscCall(PetscInfo(NULL,
                      "Waits for x take %g s a product; ordered by levels they would take %g s, and %g s to order vectors\n",
                      1e-9 * waits, 1e-9 * waits * after / before, 1e-9 * bring));
  if (product < ORDER_GAIN * (product - waits + waits * after / before + bring) + make) PetscCall(SpmvOrderDestroy(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row windows of about as many entries each: how many rows a window has, and how many windows there are */
static PetscInt SampleRows(const SpmvCSR *csr, SpmvSampleUse use, PetscInt *windows)
{
  const double   nz = csr->i[csr->m], length = PetscMax(1, nz / PetscMax(1, csr->m));
  const double   entries = PetscMax(SampleSizes[use].entries, nz / SampleSizes[use].part), wanted = entries / length;
  const double   each = wanted / PetscMin(SAMPLE_WINDOWS, PetscMax(SampleSizes[use].windows, floor(nz / SAMPLE_WINDOW)));
  const PetscInt unit = each >= SAMPLE_ALL ? SAMPLE_ALL : SAMPLE_COMMON;
  const PetscInt rows = PetscMin(SampleSizes[use].rows, PetscMax(1, (PetscInt)(each / unit)) * unit);

  *windows = 1;
  if (nz <= SampleSizes[use].whole || csr->m < SampleSizes[use].wholerows) return csr->m;
  *windows = PetscMin(csr->m / rows, PetscMax(SampleSizes[use].windows, (PetscInt)(wanted / (double)rows)));
  return rows;
}

/*
  SpmvSampleCreate - evenly spread windows, each from a multiple of as many block heights as there is room for

  Each window stands for the rows around it, so that one with long rows does not outweigh the others; in SPMV_SAMPLE_PLANS each entry
  stands for as many. To be destroyed after an error as well.
*/
PetscErrorCode SpmvSampleCreate(const SpmvCSR *csr, SpmvSampleUse use, SpmvSample *s)
{
  const PetscInt coding = SpmvValuesLook(csr, SPMV_VALUES_CODED);
  PetscInt       nwindows;
  const PetscInt rows = SampleRows(csr, use, &nwindows), last = csr->m - rows, step = last / PetscMax(1, nwindows - 1);
  const PetscInt unit = step >= SAMPLE_ALL ? SAMPLE_ALL : step >= SAMPLE_ALL_BUT7 ? SAMPLE_ALL_BUT7 : SAMPLE_COMMON;
  PetscInt      *i;
  PetscReal      total = 0;

  PetscFunctionBegin;
  *s = (SpmvSample){.all = csr, .nwindows = nwindows};
  PetscCall(PetscMalloc3(nwindows, &s->window, (size_t)nwindows * (size_t)(rows + 1), &s->i, nwindows, &s->weight));
  i = s->i;
  for (PetscInt w = 0; w < nwindows; w++, i += rows + 1) {
    const PetscInt first = (PetscInt)((PetscInt64)last * w / PetscMax(1, nwindows - 1)) / unit * unit;
    const PetscInt from = (PetscInt)((PetscInt64)csr->m * w / nwindows), to = (PetscInt)((PetscInt64)csr->m * (w + 1) / nwindows);
    PetscReal      weight = 1;

    for (PetscInt r = 0; r <= rows; r++) i[r] = csr->i[first + r] - csr->i[first];
    s->window[w] = (SpmvCSR){.m        = rows,
                             .n        = csr->n,
                             .first    = first,
                             .rbs      = csr->rbs,
                             .cbs      = csr->cbs,
                             .i        = i,
                             .j        = csr->j + csr->i[first],
                             .a        = csr->a + csr->i[first],
                             .declared = csr->declared,
                             .coding   = coding};
    if (use != SPMV_SAMPLE_PLANS) {
      weight = (PetscReal)(csr->i[to] - csr->i[from]) / (PetscReal)PetscMax(1, i[rows]);
      weight = PetscMin(weight, SAMPLE_WEIGHT_MAX * (PetscReal)(to - from) / (PetscReal)rows);
    }
    s->weight[w] = weight;
    total += weight * (PetscReal)i[rows];
  }
  for (PetscInt w = 0; w < nwindows && total > 0; w++) s->weight[w] *= (PetscReal)csr->i[csr->m] / total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSampleDestroy(SpmvSample *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(s->window, s->i, s->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}
