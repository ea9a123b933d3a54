/*
  sample.c - rows that stand for all of a matrix: evenly spread windows of consecutive ones; and how often x comes from where

  A window begins at a multiple of the block heights that there are, so that blocks begin where they do in the matrix. For
  a choice between formats windows are few and long, since formats order rows inside a window: a look at all of them takes about as
  long as a product. For a choice between the plans that a format proposes (SpmvSampleThin()) less has to do.
*/
#include "tune.h"

#define SAMPLE_WHOLE   32768 /* entries up to which a matrix is looked at as a whole */
#define SAMPLE_PART    8     /* beyond: one entry of so many, but SAMPLE_WHOLE at least */
#define SAMPLE_WINDOWS 8     /* windows, at least */
#define SAMPLE_UNIT    840   /* least common multiple of 1 to 8 ... */
#define SAMPLE_MOST    120   /* ... or, where windows lie closer, of all but 7, ... */
#define SAMPLE_FINE    24    /* ... or of the commoner heights */

#define SAMPLE_RECENT 4096   /* accesses within which two lines belong to the same stream */
#define SAMPLE_WARM   262144 /* entries that warm the caches, and then as many that are counted, at most, in each of two places */

#define SAMPLE_THIN_WHOLE 1024 /* as above, of a thin sample */
#define SAMPLE_THIN_PART  64
#define SAMPLE_THIN_ROWS  72   /* rows of a window, at most, a multiple of SAMPLE_FINE */
#define SAMPLE_SURE_WHOLE 4096 /* and of a larger one, to be sure */
#define SAMPLE_SURE_PART  32
#define SAMPLE_SPEAKS     4. /* a window counts at most so many times what its share of the rows says */

/* Row windows of about as many entries each: how many rows and windows */
static void SampleCut(const SpmvCSR *csr, PetscInt *rows, PetscInt *windows)
{
  const double nz = csr->i[csr->m], length = PetscMax(1, nz / PetscMax(1, csr->m)),
               wanted = PetscMax(SAMPLE_WHOLE, nz / SAMPLE_PART) / length;

  *rows    = csr->m;
  *windows = 1;
  if (nz <= 1.5 * SAMPLE_WHOLE || csr->m < 2 * SAMPLE_WINDOWS * SAMPLE_FINE) return;
  *rows    = wanted / SAMPLE_WINDOWS >= SAMPLE_UNIT ? (PetscInt)(wanted / SAMPLE_WINDOWS / SAMPLE_UNIT) * SAMPLE_UNIT
                                                    : (PetscInt)PetscMax(1, wanted / SAMPLE_WINDOWS / SAMPLE_FINE) * SAMPLE_FINE;
  *windows = PetscMin(csr->m / *rows, PetscMax(SAMPLE_WINDOWS, (PetscInt)(wanted / (double)*rows)));
}

/* The same for a thin sample, `least` windows or more */
static void SampleCutThin(const SpmvCSR *csr, double whole, double part, PetscInt least, PetscInt *rows, PetscInt *windows)
{
  const double nz = csr->i[csr->m], length = PetscMax(1, nz / PetscMax(1, csr->m)), wanted = PetscMax(whole, nz / part) / length;

  *rows    = csr->m;
  *windows = 1;
  if (nz <= whole || csr->m < 2 * SAMPLE_FINE) return;
  *rows    = (PetscInt)PetscMin(SAMPLE_THIN_ROWS, PetscMax(1, (PetscInt)(wanted / SAMPLE_WINDOWS / SAMPLE_FINE)) * SAMPLE_FINE);
  *windows = (PetscInt)PetscMin(PetscMax(wanted / (double)*rows, least), csr->m / *rows);
}

/* What rows one after the other find in each cache, by a simulation of caches whose lines have one place each */
typedef struct {
  PetscInt  lines[SPMV_LEVELS - 1]; /* of each cache, a power of two */
  int32_t  *line[SPMV_LEVELS - 1];  /* [lines] the line of x in each place */
  uint32_t *used;                   /* [lines of the last] the access that used it last */
  uint32_t  accesses;
} SampleCaches;

static PetscErrorCode SampleCachesDestroy(SampleCaches *c)
{
  PetscFunctionBegin;
  for (int k = 0; k < SPMV_LEVELS - 1; k++) PetscCall(PetscFree(c->line[k]));
  PetscCall(PetscFree(c->used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SampleAccess(SampleCaches *c, int32_t line, PetscBool counted, SpmvSample *s)
{
  const int     last = SPMV_LEVELS - 2;
  const int32_t at = line & (int32_t)(c->lines[last] - 1), before = (line - 1) & (int32_t)(c->lines[last] - 1);
  const int     foreseen = c->line[last][before] == line - 1 &&
                       c->accesses - c->used[before] <= SAMPLE_RECENT; /* the machine goes on from line to line by itself */

  c->accesses++;
  for (int k = 0; k <= last; k++) {
    int32_t *place = &c->line[k][line & (int32_t)(c->lines[k] - 1)];

    if (*place == line) break;
    *place = line;
    if (counted && !foreseen) s->far[k + 1]++;
  }
  c->used[at] = c->accesses;
  s->accesses += counted;
}

/* Rows from `first` on, as many as have `wanted` entries; returns the row after them */
static PetscInt SampleRun(const SpmvCSR *csr, PetscInt first, PetscInt wanted, PetscBool counted, SampleCaches *c, SpmvSample *s)
{
  PetscInt r = first;

  for (PetscInt64 end = (PetscInt64)csr->i[r] + wanted; r < csr->m && csr->i[r] < end; r++) {
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
      SampleAccess(c, (int32_t)((size_t)csr->j[k] * sizeof(PetscScalar) / SPMV_CACHE_LINE), counted, s);
    }
  }
  return r;
}

/* Fills accesses and far[]; nothing to do where x fits the first cache, or where it was done */
PetscErrorCode SpmvSampleReach(const SpmvMachine *machine, SpmvSample *s)
{
  const SpmvCSR *csr = s->all;
  const PetscInt nz = csr->i[csr->m], wanted = PetscMin(SAMPLE_WARM, nz / 6);
  SPMV_DESTROY_BY(SampleCachesDestroy)
  SampleCaches c = {.accesses = SAMPLE_RECENT + 1};

  PetscFunctionBegin;
  if (s->accesses > 0 || (PetscLogDouble)csr->n * sizeof(PetscScalar) <= machine->cache[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < SPMV_LEVELS - 1; k++) {
    c.lines[k] = 1;
    while (2 * (PetscLogDouble)c.lines[k] * SPMV_CACHE_LINE <= machine->cache[k]) c.lines[k] *= 2;
    PetscCall(PetscMalloc1(c.lines[k], &c.line[k]));
    for (PetscInt l = 0; l < c.lines[k]; l++) c.line[k][l] = -2;
  }
  PetscCall(PetscCalloc1(c.lines[SPMV_LEVELS - 2], &c.used));
  for (PetscInt w = 0; w < 2; w++) {
    const PetscInt r = SampleRun(csr, csr->m / 2 * w, wanted, PETSC_FALSE, &c, s);

    if (r < csr->m) (void)SampleRun(csr, r, wanted, PETSC_TRUE, &c, s);
  }
  for (int k = 0; k < SPMV_LEVELS - 1; k++) { /* what is first seen late in a sample has been there since the product before */
    if ((PetscLogDouble)csr->n * sizeof(PetscScalar) > machine->cache[k]) continue;
    for (int l = k + 1; l < SPMV_LEVELS; l++) s->far[l] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Windows of so many rows, evenly spread; each begins at a multiple of as many block heights as there is room for. apart: each stands for
  the rows around it, so that one with long rows does not speak for all; else each entry stands for as many
*/
static PetscErrorCode SampleFill(const SpmvCSR *csr, PetscInt rows, PetscBool apart, SpmvSample *s)
{
  const PetscInt last = csr->m - rows, step = last / PetscMax(1, s->nwindows - 1);
  const PetscInt unit = step >= SAMPLE_UNIT ? SAMPLE_UNIT : step >= SAMPLE_MOST ? SAMPLE_MOST : SAMPLE_FINE;
  PetscInt      *i;
  PetscReal      total = 0;

  PetscFunctionBegin;
  s->all = csr;
  PetscCall(PetscMalloc3(s->nwindows, &s->window, (size_t)s->nwindows * (size_t)(rows + 1), &s->i, s->nwindows, &s->weight));
  i = s->i;
  for (PetscInt w = 0; w < s->nwindows; w++, i += rows + 1) {
    const PetscInt first = (PetscInt)((PetscInt64)last * w / PetscMax(1, s->nwindows - 1)) / unit * unit;
    const PetscInt from  = (PetscInt)((PetscInt64)csr->m * w / s->nwindows),
                   to    = (PetscInt)((PetscInt64)csr->m * (w + 1) / s->nwindows);

    for (PetscInt r = 0; r <= rows; r++) i[r] = csr->i[first + r] - csr->i[first];
    s->window[w] = (SpmvCSR){
      .m = rows, .n = csr->n, .rbs = csr->rbs, .cbs = csr->cbs, .i = i, .j = csr->j + csr->i[first], .a = csr->a + csr->i[first]};
    s->weight[w] = apart ? PetscMin((PetscReal)(csr->i[to] - csr->i[from]) / (PetscReal)PetscMax(1, i[rows]),
                                    SAMPLE_SPEAKS * (PetscReal)(to - from) / (PetscReal)rows)
                         : 1;
    total += s->weight[w] * (PetscReal)i[rows];
  }
  for (PetscInt w = 0; w < s->nwindows && total > 0; w++) s->weight[w] *= (PetscReal)csr->i[csr->m] / total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a choice between formats; to be destroyed after an error as well, like the next one */
PetscErrorCode SpmvSampleCreate(const SpmvCSR *csr, const SpmvMachine *machine, SpmvSample *s)
{
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  SampleCut(csr, &rows, &s->nwindows);
  PetscCall(SampleFill(csr, rows, PETSC_FALSE, s));
  PetscCall(SpmvSampleReach(machine, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a choice between plans that a format proposes, or, to be sure, between two of them; the reach of x is left for when it is asked for */
PetscErrorCode SpmvSampleThin(const SpmvCSR *csr, PetscBool sure, SpmvSample *s)
{
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  if (sure) SampleCutThin(csr, SAMPLE_SURE_WHOLE, SAMPLE_SURE_PART, SAMPLE_WINDOWS, &rows, &s->nwindows);
  else SampleCutThin(csr, SAMPLE_THIN_WHOLE, SAMPLE_THIN_PART, 1, &rows, &s->nwindows);
  PetscCall(SampleFill(csr, rows, sure, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSampleDestroy(SpmvSample *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(s->window, s->i, s->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}
