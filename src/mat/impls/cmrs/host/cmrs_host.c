/*
  cmrs_host.c - CMRS on this processor: knobs, the arrays from CSR's, what is printed

  Source: as cmrs.c, section 3: stripptr[s] = rowptr[s height], and rowinstrip is the row modulo the height.
*/
#include "cmrs_host.h"
#include "../../../../host/machine.h"

static const SpmvParam CmrsParams[] = {CMRS_PARAM_HEIGHT};

static PetscErrorCode CmrsResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscFunctionBegin;
  if (!plan->value[0]) plan->value[0] = CMRS_VECTOR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes of a storage, its steps and lanes */
static PetscErrorCode CmrsSetSizes(const SpmvCSR *csr, const SpmvPlan *plan, CmrsStorage *c)
{
  PetscFunctionBegin;
  c->m        = csr->m;
  c->n        = csr->n;
  c->nz       = csr->i[csr->m];
  c->height   = plan->value[0];
  c->strips   = CmrsStrips(c->m, c->height);
  c->bands    = c->height > CMRS_VECTOR ? 2 : 1;
  c->threads  = plan->threads;
  c->prefetch = (PetscBool)(c->nz >= SpmvMachineGet()->cached);
  c->wordsize = CmrsWordSize(csr);
  PetscCall(CmrsSetSteps(csr, c));
  CmrsLayout(csr, c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsAllocate(CmrsStorage *c)
{
  const size_t n = (size_t)c->nz + CMRS_PAD;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(((size_t)c->strips + 1) * sizeof(PetscInt), &c->strip));
  PetscCall(SpmvAllocShared(n * c->wordsize, c->threads, &c->word));
  PetscCall(SpmvAllocShared(n * sizeof(PetscScalar), c->threads, &c->value));
  memset((char *)c->word + (size_t)c->nz * c->wordsize, 0, CMRS_PAD * c->wordsize);
  memset(c->value + c->nz, 0, CMRS_PAD * sizeof(PetscScalar));
  PetscCall(SpmvAlloc((size_t)c->nsteps, &c->active));
  PetscCall(SpmvAlloc(((size_t)c->nchunks + 1) * sizeof(CmrsChunk), &c->chunk));
  PetscCall(SpmvAlloc((size_t)c->ntails * sizeof(CmrsTail), &c->tail));
  PetscCall(SpmvAlloc((size_t)c->nsegments * sizeof(CmrsSegment), &c->segment));
  PetscCall(SpmvAlloc(((size_t)c->threads + 1) * sizeof(CmrsTask), &c->task));
  PetscCall(SpmvAlloc((size_t)c->nsegments * sizeof(PetscScalar), &c->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry `from` of CSR, of a row of its strip, goes to place k */
static inline void CmrsPlace(const SpmvCSR *csr, CmrsStorage *c, PetscInt k, PetscInt from, PetscInt row, PetscBool words)
{
  c->value[k] = csr->a[from];
  if (words) CmrsSetWord(c->wordsize, c->word, k, csr->j[from], row);
}

/* The first entries of a row, from place k on, one in each of n full steps */
static inline __attribute__((always_inline)) void CmrsPlaceFull(const SpmvCSR *csr, CmrsStorage *c, PetscInt k, PetscInt from,
                                                                PetscInt row, PetscInt n, PetscBool words)
{
  const PetscScalar *restrict a = csr->a + from;
  const PetscInt *restrict j    = csr->j + from;
  PetscScalar *restrict value   = c->value + k;

  for (PetscInt t = 0; t < n; t++) value[CMRS_VECTOR * t] = a[t];
  for (PetscInt t = 0; t < n && words; t++) CmrsSetWord(c->wordsize, c->word, k + CMRS_VECTOR * t, j[t], row);
}

/* The steps of a band, whose first entry goes to place k; returns the place after the last */
static inline __attribute__((always_inline)) PetscInt CmrsPlaceSteps(const SpmvCSR *csr, CmrsStorage *c, PetscInt b,
                                                                     const uint8_t active[], PetscInt k, PetscBool words)
{
  const CmrsBand  band = CmrsBandOf(csr, c, b);
  const CmrsSteps step = c->step[b];
  PetscInt        place[CMRS_STEPS_MAX], next = k + CMRS_VECTOR * step.full;

  for (PetscInt t = step.full; t < step.all; next += active[t++]) place[t] = next;
  for (PetscInt r = 0; r < band.rows; r++) {
    const PetscInt lane = CmrsLanes(c, b)[r], first = band.i[r], n = PetscMin(step.all, band.i[r + 1] - first),
                   row = b % c->bands * CMRS_VECTOR + r;

    CmrsPlaceFull(csr, c, k + lane, first, row, step.full, words);
    for (PetscInt t = step.full; t < n; t++) CmrsPlace(csr, c, place[t] + lane, first + t, row, words);
  }
  return next;
}

/* The values, and the words if they are wanted */
static inline __attribute__((always_inline)) void CmrsPlaceAll(const SpmvCSR *csr, CmrsStorage *c, PetscBool words)
{
  const uint8_t *active = c->active;

  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt  *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);
    const CmrsSteps *step = c->step + s * c->bands;
    PetscInt         k    = c->strip[s];

    for (PetscInt b = 0; b < c->bands; active += step[b++].all) k = CmrsPlaceSteps(csr, c, s * c->bands + b, active, k, words);
    for (int longer = 0; k < c->strip[s + 1] && longer < 2; longer++) { /* tails, then segments */
      for (PetscInt r = 0; r < rows; r++) {
        const PetscInt from = i[r] + step[r / CMRS_VECTOR].all;

        if (longer != (i[r + 1] - from > CMRS_TAIL_MAX)) continue;
        for (PetscInt q = from; q < i[r + 1]; q++) CmrsPlace(csr, c, k++, q, r, words);
      }
    }
  }
}

static PetscErrorCode CmrsSetValues(const SpmvCSR *csr, void *storage)
{
  PetscFunctionBegin;
  CmrsPlaceAll(csr, (CmrsStorage *)storage, PETSC_FALSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the part of each task begins: chunks of as many entries, and segments */
static void CmrsSetTasks(CmrsStorage *c)
{
  PetscInt   chunk = 0, segment = 0;
  PetscInt64 buffered = 0, inside = 0, all = 0;

  for (PetscInt g = 0; g < c->nsegments; g++) all += c->segment[g].length;
  for (PetscInt t = 0; t <= c->threads; t++) {
    while (chunk < c->nchunks && (t == c->threads || buffered < (c->nz - all) * t / c->threads))
      buffered += c->chunk[chunk++].buffered;
    while (segment < c->nsegments && inside < all * t / c->threads) inside += c->segment[segment++].length;
    c->task[t] = (CmrsTask){chunk, segment};
  }
}

static PetscErrorCode CmrsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  CmrsStorage *c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  *storage = c;
  PetscCall(CmrsSetSizes(csr, plan, c));
  PetscCall(CmrsAllocate(c));
  for (PetscInt s = 0; s < c->strips; s++) c->strip[s] = csr->i[s * c->height];
  c->strip[c->strips] = c->nz;
  CmrsLayout(csr, c);
  CmrsPlaceAll(csr, c, PETSC_TRUE);
  CmrsSetTasks(c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDestroy(void *storage)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&((CmrsStorage *)storage)->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CmrsStorage *c     = (const CmrsStorage *)storage;
  const size_t       bands = (size_t)c->strips * (size_t)c->bands;
  PetscInt           k     = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", c->value, (size_t)c->nz, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("words", c->word, (size_t)c->nz, c->wordsize);
  arrays[k++] = SPMV_ARRAY("strips", c->strip, (size_t)c->strips + 1, sizeof(PetscInt));
  arrays[k++] = SPMV_ARRAY("steps", c->step, bands, sizeof(CmrsSteps));
  arrays[k++] = SPMV_ARRAY("active", c->active, (size_t)c->nsteps, 1);
  arrays[k++] = SPMV_ARRAY("lanes", c->lane, bands * CMRS_VECTOR, 1);
  arrays[k++] = SPMV_ARRAY("chunks", c->chunk, (size_t)c->nchunks + 1, sizeof(CmrsChunk));
  arrays[k++] = SPMV_ARRAY("tails", c->tail, (size_t)c->ntails, sizeof(CmrsTail));
  arrays[k++] = SPMV_ARRAY("segments", c->segment, (size_t)c->nsegments, sizeof(CmrsSegment));
  arrays[k++] = SPMV_ARRAY("tasks", c->task, (size_t)c->threads + 1, sizeof(CmrsTask));
  *narrays    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles of Zen 4, fitted to 82 matrices */
#define CMRS_CYCLES_NS        2.8 /* of a nanosecond of CmrsAddCost(), whose ratios are right */
#define CMRS_CYCLES_ENTRY     0.5
#define CMRS_CYCLES_TAIL      25.0
#define CMRS_CYCLES_SEGMENT   350.0
#define CMRS_CYCLES_BUILD     10.0 /* of an entry, and ... */
#define CMRS_CYCLES_BUILD_ROW 70.0 /* ... of a row */

static PetscErrorCode CmrsWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  CmrsStorage    c = {0};
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       narrays;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = CmrsSetSizes(rows, plan, &c);
  PetscCall(SpmvFree(&c.step));
  PetscCall(SpmvFree(&c.lane));
  PetscCall(ierr);
  PetscCall(CmrsArrays(&c, &narrays, arrays));
  work->bytes += SpmvArraysRead(narrays, arrays);
  work->build += CMRS_CYCLES_BUILD * (PetscLogDouble)c.nz + CMRS_CYCLES_BUILD_ROW * (PetscLogDouble)rows->m;
  work->cycles += CMRS_CYCLES_NS * c.cost + CMRS_CYCLES_ENTRY * (PetscLogDouble)c.nz;
  work->cycles += CMRS_CYCLES_TAIL * (PetscLogDouble)c.ntails + CMRS_CYCLES_SEGMENT * (PetscLogDouble)c.nsegments;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const CmrsStorage *c = (const CmrsStorage *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0)
    PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " strips of height %" PetscInt_FMT ", words of %d bits", c->strips,
                            c->height, (int)c->wordsize * 8));
  else if (k == 1)
    PetscCall(PetscSNPrintf(line, size,
                            "%" PetscInt_FMT " steps, %" PetscInt_FMT " tails, %" PetscInt_FMT " segments of long rows",
                            c->nsteps, c->ntails, c->nsegments));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_KERNELS CmrsKernels
#include "../../../../kernels.h"

const SpmvHostSide CmrsHost = {
  .side    = {.nparams   = PETSC_STATIC_ARRAY_LENGTH(CmrsParams),
              .params    = CmrsParams,
              .resolve   = CmrsResolve,
              .work      = CmrsWork,
              .build     = CmrsBuild,
              .setvalues = CmrsSetValues,
              .arrays    = CmrsArrays,
              .describe  = CmrsDescribe,
              .destroy   = CmrsDestroy},
  .kernels = CmrsKernels,
  .far     = PETSC_TRUE, /* of 105 matrices of up to 170,000 entries others are 1.2 times as fast, at least (Emerald Rapids) */
};
