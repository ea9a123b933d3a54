/*
  shadow.c - the storage beside AIJ's: built when products ask for it, refreshed when values changed, rebuilt when the
  nonzero pattern did

  A product finds one of these:
    nothing changed                         the storage serves
    values changed, same pattern            the values are replaced
    pattern, sizes or plan changed, or none the storage is built as the tuner chooses; it may choose AIJ's own kernel
  The last two wait for -mat_spmv_build_after products by AIJ's kernel since the values changed, so that a matrix that is
  multiplied a few times costs nothing; they do not wait if as many products followed the change before this one. Later a storage
  may be built again, with its rows and columns in an order of ours (shadow_choose.c).

  "Values changed" is PETSc's object state, of the block or of the parallel Mat around it. "Same pattern" is the nonzero
  state, which AIJ's own inodes rely on, and the sizes; a hash of some row pointers and columns is a second opinion that
  costs nothing.
*/
#include "spmvmat.h"
#include <petsctime.h>

/* The shadow of a Mat of ours. MatHeaderMerge() replaces a Mat's inside: then there is none, and a new one is made */
PetscErrorCode MatSpmvGetShadow(Mat A, SpmvShadow **shadow)
{
  PetscFunctionBegin;
  if (!A->spptr) {
    const SpmvFormat *format;

    PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
    PetscCheck(format, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "A matrix of type %s has no shadow",
               ((PetscObject)A)->type_name);
    PetscCall(MatSpmvFromAIJ(A, format));
  }
  *shadow = (SpmvShadow *)A->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops what was built, on the host and on the device */
PetscErrorCode SpmvShadowDrop(SpmvShadow *shadow)
{
  SpmvSeq *s = &shadow->seq;

  PetscFunctionBegin;
  s->current = PETSC_FALSE;
  PetscCall(SpmvTransposedDestroy(&s->transposed));
  PetscCall(SpmvBuiltDestroy(&s->built));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if A was built for the pattern it has, or AIJ's kernel is to serve; the values may be old */
PetscBool MatSpmvPatternIsBuilt(Mat A, const SpmvShadow *s)
{
  return (PetscBool)(s->seq.built.format && s->owner == A && s->seq.nonzerostate == A->nonzerostate);
}

/* True if A is not as it was when it was last looked at: what a storage borrows of it may be gone */
PetscBool MatSpmvChanged(Mat A, const SpmvShadow *s)
{
  return (PetscBool)(s->owner != A || s->state != ((PetscObject)A)->state || s->seq.touched);
}

/* SpmvCounts is nothing but counters */
void SpmvCountsAdd(SpmvCounts *sum, const SpmvCounts *counts)
{
  const PetscInt64 *from = (const PetscInt64 *)counts;
  PetscInt64       *to   = (PetscInt64 *)sum;

  for (size_t k = 0; k < sizeof(*sum) / sizeof(*to); k++) to[k] += from[k];
}

PetscErrorCode MatSpmvDestroyShadow(Mat A)
{
  SpmvShadow *s = (SpmvShadow *)A->spptr;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowEnds(s));
  SpmvShadowGone(s);
  PetscCall(SpmvShadowDrop(s));
  PetscCall(SpmvSweepsDestroy(&s->seq.sweeps));
  SpmvCountsAdd(&SpmvTotals, &s->seq.counts);
  PetscCall(PetscViewerDestroy(&s->settings.viewer));
  PetscCall(SpmvGhostsDestroy(&s->mpi.ghosts));
  PetscCall(VecDestroy(&s->mpi.result));
  PetscCall(SpmvFree(&s->seq.work));
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n scalars to write to, kept for the next product: pages that the system has to clear cost more than they are worth */
PetscErrorCode SpmvShadowGetWork(SpmvShadow *s, size_t n, PetscScalar **work)
{
  PetscFunctionBegin;
  if (s->seq.nwork < n) {
    s->seq.nwork = 0;
    PetscCall(SpmvFree(&s->seq.work));
    PetscCall(SpmvAlloc(sizeof(PetscScalar) * n, &s->seq.work));
    s->seq.nwork = n;
  }
  *work = s->seq.work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows in the order that a side takes, NULL for the tuner. One that borrows rows takes AIJ's, since sorted copies do not last */
static const SpmvCSR *SpmvRowsFor(const SpmvRows *rows, const SpmvSide *side)
{
  return side && side->borrows ? &rows->aij : &rows->sorted;
}

/* What was chosen is built, after it is chosen unless it is in an order; nomem: a device was chosen and is out of memory */
static PetscErrorCode SpmvShadowBuild(Mat A, SpmvShadow *shadow, const SpmvRows *rows, SpmvChosen *chosen, PetscBool *nomem)
{
  SpmvSeq          *s    = &shadow->seq;
  const SpmvOption *best = &s->choice.best;
  const SpmvCSR    *csr;
  char              unused[512];

  PetscFunctionBegin;
  s->check.calls[1] = 0;
  s->check.done     = PETSC_FALSE;
  PetscCall(SpmvShadowDrop(shadow));
  s->asked = shadow->settings.request;
  if (!chosen->order) {
    s->ordertried = PETSC_FALSE;
    csr           = SpmvRowsFor(rows, SpmvFormatSide(shadow->type, SPMV_BACKEND_HOST));
    PetscCall(SpmvShadowChoose(A, shadow, csr, PETSC_FALSE, &chosen->kept));
    PetscCall(SpmvShadowFindOrder(A, shadow, &rows->sorted, chosen));
  }
  csr = chosen->order ? &chosen->ordered : SpmvRowsFor(rows, SpmvFormatSide(SpmvCandidate[best->number], best->plan.backend));
  PetscCall(SpmvBuiltCreate(A, shadow, csr, best->number, &best->plan, &chosen->kept, &chosen->order, &s->built, nomem));
  if (*nomem) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvUnused(shadow, unused, sizeof(unused)));
  if (unused[0])
    PetscCall(PetscInfo(A, "The device makes no use of%s; set -mat_spmv_backend host to have what these ask for\n", unused));
  PetscCall(SpmvFormatCite(s->built.format));
  s->choices++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings what was built up to date with AIJ's arrays, or builds it */
static PetscErrorCode SpmvShadowRenew(Mat A, SpmvShadow *shadow)
{
  SPMV_TEMPORARY PetscInt                      *j      = NULL;
  SPMV_TEMPORARY PetscScalar                   *a      = NULL;
  const SpmvSide                               *side   = SpmvFormatSide(shadow->type, SPMV_BACKEND_HOST);
  SpmvSeq                                      *s      = &shadow->seq;
  SpmvBuilt                                    *b      = &s->built;
  SPMV_DESTROY_BY(SpmvChosenDestroy) SpmvChosen chosen = {0};
  SpmvRows                                      rows;
  SpmvKey                                       key;
  const PetscBool                               look  = s->current; /* whether what serves is to have an order */
  PetscBool                                     nomem = PETSC_FALSE, same, other = PETSC_FALSE;
  PetscInt                                      backend;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetRows(A, &rows.aij));
  if (!s->is_block) PetscCall(MatSpmvGetDeclared(A, &s->declared));
  s->declared_block = PetscMin(rows.aij.rbs, rows.aij.cbs);
  rows.aij.declared = s->declared;
  rows.aij.global   = s->global;
  rows.sorted       = rows.aij;
  key               = SpmvRowsKey(&rows.aij);
  same              = (PetscBool)(MatSpmvPatternIsBuilt(A, shadow) && SpmvKeySame(&s->key, &key));
  if (!same) {
    PetscCall(SpmvShadowDrop(shadow)); /* whatever fails from here on, it is not taken for this pattern's */
    s->key         = key;
    s->sorted      = (PetscBool)((side && side->borrows) || SpmvRowsSorted(&rows.aij)); /* borrowed rows may be unsorted */
    s->nonzerorows = SpmvRowsNonzero(&rows.aij);
    if (SpmvSummaryWanted()) s->found_block = SpmvRowsBlock(&rows.aij);
    s->nonzerostate = A->nonzerostate;
  }
  if (!s->sorted) PetscCall(SpmvRowsSort(&rows.sorted, &j, &a));
  PetscCall(MatSpmvBackend(shadow, key.nz, &backend));
  s->floats    = shadow->settings.floats;
  s->orderkind = shadow->settings.order;
  s->rounded   = PETSC_FALSE;
  if (s->floats && backend == SPMV_BACKEND_HOST) PetscCall(SpmvRowsRound(&rows.sorted, &a, &s->rounded));
  if (same) PetscCall(SpmvShadowReconsider(shadow, &rows.sorted, &other));
  if (other) s->choice.known = same = PETSC_FALSE;
  if (same && !b->device && !b->order) PetscCall(SpmvShadowFindOrder(A, shadow, &rows.sorted, &chosen));
  if (chosen.order) same = PETSC_FALSE;
  if (!same) PetscCall(SpmvShadowBuild(A, shadow, &rows, &chosen, &nomem));
  else if (SpmvBuiltExists(b) && !look)
    PetscCall(SpmvBuiltSetValues(A, shadow, SpmvRowsFor(&rows, SpmvFormatSide(b->format, b->plan.backend)), b, &nomem));
  if (nomem) PetscCall(SpmvShadowBuild(A, shadow, &rows, &chosen, &nomem)); /* for the host, now */
  s->rounded = (PetscBool)(s->rounded && SpmvBuiltExists(b) && !b->format->host->side.borrows);
  s->current = PETSC_TRUE;
  if (s->transposed) s->transposed->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before each product: builds or refreshes the storage if it is time to. Unless it is current, AIJ's kernel is to serve */
PetscErrorCode MatSpmvUpdate(Mat A, SpmvShadow *shadow, PetscBool *current)
{
  SpmvSeq *s = &shadow->seq;

  PetscFunctionBegin;
  if (shadow->version != shadow->settings.version) {
    shadow->version = shadow->settings.version;
    s->hostonly     = PETSC_FALSE;
    if (s->floats != shadow->settings.floats || s->orderkind != shadow->settings.order ||
        memcmp(&s->asked, &shadow->settings.request, sizeof(SpmvRequest)))
      PetscCall(SpmvShadowDrop(shadow));
  }
  if (MatSpmvChanged(A, shadow)) {
    SpmvDueChanged(&s->due);
    s->current    = PETSC_FALSE;
    s->touched    = PETSC_FALSE;
    shadow->owner = A;
    shadow->state = ((PetscObject)A)->state;
    PetscCall(MatSpmvLabel(A, shadow));
  }
  if ((!s->current && SpmvDueAfter(&s->due, shadow->settings.build_after)) || SpmvOrderWorthLook(shadow)) {
    const PetscInt64     choices = s->choices;
    const PetscLogDouble chose   = s->choose_seconds; /* what serves */
    PetscLogDouble       start, end;

    s->choose_seconds = 0;
    PetscCall(PetscTime(&start));
    PetscCall(SpmvShadowRenew(A, shadow));
    PetscCall(PetscTime(&end));
    if (s->choices > choices) s->build_seconds = end - start - s->choose_seconds;
    else s->choose_seconds = chose;
    s->spent.setup += end - start;
    PetscCall(MatSpmvViewBuilt(A));
  }
  s->due.since++;
  *current = s->current;
  PetscFunctionReturn(PETSC_SUCCESS);
}
