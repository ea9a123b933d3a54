/*
  bccoo_host.c - the host side of bccoo: knobs and storage
*/
#include "bccoo_host.h"
#include "../../../../host/machine.h"

#define SPMV_KERNELS BccooKernels
#include "../../../../kernels.h"

static const PetscInt BccooBunches[] = {0, 1, BCCOO_LANES};

static const PetscInt    BccooFills[]     = {BCCOO_FILL_AUTO, BCCOO_FILL_ZEROS, BCCOO_FILL_MASKS};
static const char *const BccooFillNames[] = {"auto", "zeros", "masks"};

static const SpmvParam BccooParams[] = {
  BCCOO_KNOBS,
  [BCCOO_BUNCH] =
    SPMV_CHOICES("bunch", "tiles side by side, one in each lane, 0: of least estimated time", BccooBunches, NULL, SPMV_KNOB_TILE),
  [BCCOO_VALUES] = SPMV_VALUES_KNOB,
  [BCCOO_FILL]   = SPMV_CHOICES("fill",
                                "blocks that are partly filled have zeros there, or masks (4 x 2 blocks only); auto: of "
                                  "least estimated time",
                                BccooFills, BccooFillNames, SPMV_KNOB_SHAPE),
};

static PetscErrorCode BccooAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  const PetscInt *p = plan->value, h = p[BCCOO_BLOCK_HEIGHT], rows = h * p[BCCOO_BUNCH];

  PetscFunctionBegin;
  if (p[BCCOO_FILL] == BCCOO_FILL_MASKS) {
    PetscCall(BccooMaskedAllows(csr, p, why, size));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BccooBlocksAllow(csr, p, why, size));
  if (!why[0] && p[BCCOO_VALUES] > SPMV_VALUES_PLAIN && !BccooCodes(p)) {
    PetscCall(SpmvAppend(why, size, "Values are coded in 1x1 blocks and one slice only, not in %" PetscInt_FMT, h));
    PetscCall(
      SpmvAppend(why, size, " x %" PetscInt_FMT " blocks and %" PetscInt_FMT " slices; ", p[BCCOO_BLOCK_WIDTH], p[BCCOO_SLICES]));
    PetscCall(SpmvAppend(why, size, "set -mat_bccoo_values to auto or plain, or both to 1"));
  }
  if (why[0] || p[BCCOO_BUNCH] == 1 || rows * p[BCCOO_TILE] <= BCCOO_GROUP_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(why, size,
                       "Tiles of %" PetscInt_FMT " blocks of height %" PetscInt_FMT " are too large for a bunch; "
                       "set -mat_bccoo_tile to at most %" PetscInt_FMT ", or -mat_bccoo_bunch 1",
                       p[BCCOO_TILE], h, BCCOO_GROUP_MAX / rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of the block rows that a part has blocks of; with slices, all */
static SpmvSpan BccooSpanOf(const SpmvCSR *csr, const BccooBlocks *b, BccooPart part)
{
  const size_t h = (size_t)b->h, w = (size_t)b->w, n = (size_t)b->n,
               last = PetscMin((size_t)b->entry[part.last] + 1, (size_t)b->nrows);
  SpmvSpan span     = {n, 0};

  if (b->slices > 1) return (SpmvSpan){0, n};
  for (size_t k = (size_t)b->entry[part.first]; k < last; k++) {
    for (size_t r = BccooRow(b, k) * h; r < PetscMin((BccooRow(b, k) + 1) * h, (size_t)b->m); r++) {
      if (csr->i[r] == csr->i[r + 1]) continue;
      span.first = PetscMin(span.first, (size_t)csr->j[csr->i[r]] / w * w);
      span.end   = PetscMax(span.end, PetscMin(n, ((size_t)csr->j[csr->i[r + 1] - 1] / w + 1) * w));
    }
  }
  return (SpmvSpan){PetscMin(span.first, span.end), span.end};
}

/* The values of a matrix with the same pattern */
static PetscErrorCode BccooSetValues(const SpmvCSR *csr, void *storage)
{
  BccooStorage *s = (BccooStorage *)storage;

  PetscFunctionBegin;
  if (s->masked) BccooMaskedSetValues(csr, s->masked);
  else if (s->b.coded) PetscCall(BccooSetCoded(csr, s));
  else PetscCall(BccooBlocksSetValues(csr, &s->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks that have zeros where they have no entry */
static PetscErrorCode BccooBlocksOf(const SpmvCSR *csr, SpmvPlan *plan, BccooStorage *s)
{
  BccooBlocks *b = &s->b;

  PetscFunctionBegin;
  b->bunch  = plan->value[BCCOO_BUNCH];
  b->whole  = b->bunch > 1 ? b->bunch : 0;
  b->listed = b->bunch;
  if (plan->value[BCCOO_VALUES] > SPMV_VALUES_PLAIN) PetscCall(PetscNew(&b->coded));
  s->wanted = plan->value[BCCOO_VALUES];
  PetscCall(BccooBlocksBuild(csr, plan->value, s->nparts, PETSC_FALSE, b));
  s->large = (PetscBool)((PetscLogDouble)b->nblocks * b->h * b->w >= SpmvMachineGet()->cached);
  if (b->slices > 1) PetscCall(PetscCalloc1(BccooStackRows(b), &s->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  BccooStorage *s;
  BccooBlocks  *b;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage  = s;
  b         = &s->b;
  s->nparts = plan->threads;
  if (plan->value[BCCOO_FILL] == BCCOO_FILL_MASKS) {
    PetscCall(PetscNew(&s->masked));
    PetscCall(BccooMaskedBuild(csr, s->nparts, s->masked));
    *b = (BccooBlocks){.m = csr->m, .n = csr->n, .h = BCCOO_MASKED_HEIGHT, .w = BCCOO_MASKED_WIDTH, .slices = 1, .bunch = 1};
  } else PetscCall(BccooBlocksOf(csr, plan, s));
  if (s->nparts > 1) PetscCall(PetscMalloc1(s->nparts, &s->span));
  for (PetscInt p = 1; p < s->nparts; p++)
    s->span[p] = s->masked ? BccooMaskedSpan(s->masked, p) : BccooSpanOf(csr, b, BccooPartNumber(s, p));
  if (s->masked ? b->n == 1 : b->n % b->w) PetscCall(PetscCalloc1((size_t)BccooCeil(b->n, b->w) * (size_t)b->w, &s->padded));
  PetscCall(BccooSetValues(csr, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode BccooArrays(const void *storage, PetscInt *n, SpmvArray arrays[])
{
  const BccooStorage *s = (const BccooStorage *)storage;

  PetscFunctionBegin;
  if (s->masked) PetscCall(BccooMaskedArrays(s->masked, n, arrays));
  else PetscCall(BccooBlocksArrays(&s->b, n, arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const BccooStorage *s = (const BccooStorage *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 0 && s->masked)
    PetscCall(SpmvAppend(line, size, "%zu blocks with masks, %.2f entries each", s->masked->nblocks,
                         s->masked->nblocks ? (double)s->masked->nentries / (double)s->masked->nblocks : 0.));
  if (k == 0 && s->b.coded) PetscCall(SpmvValuesDescribe(s->b.coded, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooDestroy(void *storage)
{
  BccooStorage *s = (BccooStorage *)storage;

  PetscFunctionBegin;
  if (s->b.coded) PetscCall(SpmvFree(&s->b.coded->data));
  PetscCall(PetscFree(s->b.coded));
  PetscCall(BccooMaskedDestroy(&s->masked));
  PetscCall(PetscFree(s->partial));
  PetscCall(PetscFree(s->padded));
  PetscCall(PetscFree(s->span));
  PetscCall(BccooBlocksDestroy(storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern const SpmvHostSide BccooHost;
const SpmvHostSide        BccooHost = {
         .side    = {.nparams   = BCCOO_NPARAMS,
                     .params    = BccooParams,
                     .propose   = BccooPropose,
                     .resolve   = BccooResolve,
                     .allows    = BccooAllows,
                     .works     = BccooWorks,
                     .build     = BccooBuild,
                     .setvalues = BccooSetValues,
                     .arrays    = BccooArrays,
                     .describe  = BccooDescribe,
                     .destroy   = BccooDestroy},
         .kernels = BccooKernels,
         .rather  = "sbccoo", /* which takes twice as long to make (nodes of eight unknowns, Zen 4) */
};
