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
  [SPMV_SAMPLE_FORMATS] = {384, 16384, 32, 16384, 2, PETSC_MAX_INT},
  [SPMV_SAMPLE_PAIR]    = {48, 4096, 64, 4096, 8, 72},
  [SPMV_SAMPLE_PLANS]   = {48, 1024, 128, 1024, 1, 72},
};

#define SAMPLE_WINDOWS  8     /* windows that a sample is made of, unless there are to be more; fewer ... */
#define SAMPLE_WINDOW   32768 /* ... where the matrix has not so many entries for each of them */
#define SAMPLE_ROWS     96    /* ... or rows: rows side by side are to be of one length, as in the matrix */
#define SAMPLE_ALL      840   /* least common multiple of block heights: of 1 to 8 ... */
#define SAMPLE_ALL_BUT7 120   /* ... or, where windows lie closer, of all but 7, ... */
#define SAMPLE_COMMON   24    /* ... or of the commoner ones */

#define SAMPLE_STREAM 4096 /* accesses within which two lines belong to the same stream, at most, ... */
#define SAMPLE_LINES  4    /* ... and one for so many lines of x: else lines at random would belong together */
#define SAMPLE_ACCESSES \
  262144 /* entries that warm the caches, then as many that are counted, at most, in each of two places; ... */
#define SAMPLE_ACCESSED   32   /* ... one of so many entries, or ... */
#define SAMPLE_FEWER      2048 /* ... so many, but no more than one of SAMPLE_ACCESSED / 2 */
#define SAMPLE_WEIGHT_MAX 4.   /* a window counts at most so many times as its number of rows alone would have it */

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

/* Rows from `first` on, as many as have `wanted` entries; returns the row after them */
static PetscInt SampleRun(const SpmvCSR *csr, PetscInt first, PetscInt wanted, SampleCaches *c)
{
  const int32_t  near = (int32_t)(c->lines[0] - 1), last = (int32_t)(c->lines[c->levels - 1] - 1);
  const int32_t *nearest = c->line[0];
  PetscInt       r       = first;
  PetscInt64     done    = 0;

  for (; r < csr->m && done < wanted; r++) {
    const PetscInt begin = csr->i[r], end = csr->i[r + 1];

    for (PetscInt k = begin; k < end; k++) {
      const int32_t line = SpmvMachineLine(csr->j[k]);

      if (nearest[line & near] != line) SampleMiss(c, line);
      c->used[line & last] = ++c->accesses;
    }
    done += end - begin;
  }
  return r;
}

#define SAMPLE_KEPT 0.35 /* part of a cache that x may take before the matrix, which passes through it, takes lines of it away */

/*
  Of the lines of x that are far from each other, the part that a cache no longer has, though all of x would fit it: x takes so
  much of it (18 finite element matrices in random numbering, x of 50 to 1140 kB in 1 MiB, Zen 4)
*/
static PetscLogDouble SamplePassed(PetscLogDouble part)
{
  return PetscMax(0, (part - SAMPLE_KEPT) / (1 - SAMPLE_KEPT));
}

/* How many entries are looked at, once to warm the caches and once to count, in each place */
static PetscInt SampleAccesses(PetscInt nz)
{
  return PetscMin(SAMPLE_ACCESSES, PetscMax(nz / SAMPLE_ACCESSED, PetscMin(SAMPLE_FEWER, 2 * (nz / SAMPLE_ACCESSED))));
}

/*
  What is first seen late in a sample has been there since the product before, in the first cache that holds the vectors: of x, or
  of x and y. The last one has more room than counts
*/
static void SampleHeld(int levels, const PetscLogDouble cache[], PetscLogDouble vectors, PetscLogDouble far[])
{
  for (int k = 0; k < levels; k++) {
    if (vectors > cache[k]) continue;
    far[k + 1] = k && k < levels - 1 ? far[k] * SamplePassed(vectors / cache[k]) : 0;
    for (int l = k + 2; l <= levels; l++) far[l] = 0;
    break;
  }
}

/*
  Counts how far x is. Nothing to do where it fits the first cache, or where it was done

  cache: bytes of so many caches, the nearest first
*/
static PetscErrorCode SampleReach(const SpmvCSR *csr, int levels, const PetscLogDouble cache[], SpmvReach *s)
{
  const PetscLogDouble     x  = (PetscLogDouble)csr->n * sizeof(PetscScalar);
  const PetscInt           nz = csr->i[csr->m], wanted = SampleAccesses(nz);
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
  for (PetscInt w = 0; w < 2; w++) {
    const PetscInt r      = SampleRun(csr, csr->m / 2 * w, wanted, &c); /* it warms the caches */
    const uint32_t warmed = c.accesses;

    PetscCall(PetscArrayzero(c.far, SPMV_LEVELS));
    if (r < csr->m) (void)SampleRun(csr, r, wanted, &c);
    s->accesses += c.accesses - warmed;
    for (int k = 1; k <= levels; k++) s->far[k] += c.far[k];
  }
  PetscCall(PetscArraycpy(s->beside, s->far, SPMV_LEVELS));
  SampleHeld(levels, cache, x, s->far);
  SampleHeld(levels, cache, 2 * x, s->beside);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far x is from this processor */
PetscErrorCode SpmvSampleReach(SpmvSample *s)
{
  return SampleReach(s->all, SPMV_LEVELS - 1, SpmvMachineGet()->cache, &s->host);
}

/* The same from the processors of the target, which share a cache */
PetscErrorCode SpmvSampleReachDevice(SpmvSample *s)
{
  return SampleReach(s->all, 1, &s->target->rates.cache, &s->device);
}

/*
  Nanoseconds that the entries of x, as rows come, are waited for by a kernel that does nothing about it; reach: how they are
  read, looked at if it was not yet
*/
PetscErrorCode SpmvSampleWait(const SpmvCSR *csr, SpmvReach *reach, PetscLogDouble *wait)
{
  const SpmvMachine *machine = SpmvMachineGet();
  PetscLogDouble     level;

  PetscFunctionBegin;
  PetscCall(SampleReach(csr, SPMV_LEVELS - 1, machine->cache, reach));
  level =
    (PetscLogDouble)csr->i[csr->m] < machine->uncached ? SPMV_LEVELS - 2 : SPMV_LEVELS - 1; /* where the matrix comes from */
  *wait = reach->accesses > 0
            ? (PetscLogDouble)csr->i[csr->m] / reach->accesses * SpmvFarWait(machine, SpmvMachineCrowd(1), level, reach->far)
            : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row windows of about as many entries each: how many rows a window has, and how many windows there are */
static PetscInt SampleRows(const SpmvCSR *csr, SpmvSampleUse use, PetscInt *windows)
{
  const double   nz = csr->i[csr->m], length = PetscMax(1, nz / PetscMax(1, csr->m));
  const double   entries = PetscMax(SampleSizes[use].entries, nz / SampleSizes[use].part), wanted = entries / length;
  const double   most = PetscMin(floor(nz / SAMPLE_WINDOW), floor(wanted / SAMPLE_ROWS));
  const double   each = wanted / PetscMin(SAMPLE_WINDOWS, PetscMax(SampleSizes[use].windows, most));
  const PetscInt unit = each >= SAMPLE_ALL ? SAMPLE_ALL : SAMPLE_COMMON;
  const PetscInt rows = PetscMin(SampleSizes[use].rows, PetscMax(1, (PetscInt)(each / unit)) * unit);

  *windows = 1;
  if (nz <= SampleSizes[use].whole || csr->m < SampleSizes[use].wholerows) return csr->m;
  *windows = PetscMin(csr->m / rows, PetscMax(SampleSizes[use].windows, (PetscInt)(wanted / (double)rows)));
  return rows;
}

/*
  SpmvSampleCreate - evenly spread windows, each from a multiple of as many block heights as there is room for

  Each window stands for the rows around it, so that one with long rows does not outweigh the others; in SPMV_SAMPLE_PLANS each
  entry stands for as many. To be destroyed after an error as well.
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
  PetscCall(PetscCalloc2(nwindows, &s->ordered, nwindows, &s->near));
  i = s->i;
  for (PetscInt w = 0; w < nwindows; w++, i += rows + 1) {
    const PetscInt first = (PetscInt)((PetscInt64)last * w / PetscMax(1, nwindows - 1)) / unit * unit;
    const PetscInt from = (PetscInt)((PetscInt64)csr->m * w / nwindows), to = (PetscInt)((PetscInt64)csr->m * (w + 1) / nwindows);
    PetscReal      weight = 1;

    for (PetscInt r = 0; r <= rows; r++) i[r] = csr->i[first + r] - csr->i[first];
    s->window[w] = (SpmvCSR){.m        = rows,
                             .n        = csr->n,
                             .first    = first,
                             .all      = csr->m,
                             .rbs      = csr->rbs,
                             .cbs      = csr->cbs,
                             .i        = i,
                             .j        = csr->j + csr->i[first],
                             .a        = csr->a + csr->i[first],
                             .declared = csr->declared,
                             .coding   = coding};
    if (use != SPMV_SAMPLE_PLANS) {
      weight = (PetscReal)(csr->i[to] - csr->i[from]) / (PetscReal)PetscMax(1, i[rows]);
      weight = PetscMin(weight, SAMPLE_WEIGHT_MAX * (PetscReal)(to - from) / (PetscReal)PetscMax(1, rows));
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
  PetscCall(PetscFree2(s->ordered, s->near));
  PetscFunctionReturn(PETSC_SUCCESS);
}
