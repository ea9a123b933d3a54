/*
  shadow.c - the storage beside AIJ's: built when products ask for it, refreshed when values changed, rebuilt when the
  nonzero pattern did

  A product finds one of these:
    nothing changed                         the storage serves
    values changed, same pattern            the values are replaced
    pattern, sizes or plan changed, or none the storage is built
  A storage is built as the tuner chooses (SpmvTune()), once for a pattern; it may choose AIJ's own kernel: then there is none.
  The last two wait for -mat_spmv_build_after products by AIJ's kernel since the values changed, so that a matrix that is
  multiplied a few times costs nothing; they do not wait if as many products followed the change before this one.

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
    PetscCheck(format, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Matrix type %s is not one of libpetscspmv's",
               ((PetscObject)A)->type_name);
    PetscCall(MatSpmvBecome(A, format));
  }
  *shadow = (SpmvShadow *)A->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops what was built, on the host and on the device */
PetscErrorCode SpmvShadowForget(SpmvShadow *shadow)
{
  SpmvSeq *s = &shadow->seq;

  PetscFunctionBegin;
  s->current = PETSC_FALSE;
  PetscCall(SpmvTransposedDestroy(&s->transposed));
  PetscCall(SpmvBuiltDestroy(&s->built));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if A was built for the pattern it has, or AIJ's kernel is to serve; the values may be old */
PetscBool MatSpmvServes(Mat A, const SpmvShadow *s)
{
  return (PetscBool)(s->seq.built.format && s->owner == A && s->seq.nonzerostate == A->nonzerostate);
}

/* True if A is not as it was when it was last looked at: what a storage borrows of it may be gone */
PetscBool MatSpmvChanged(Mat A, const SpmvShadow *s)
{
  return (PetscBool)(s->owner != A || s->state != ((PetscObject)A)->state || s->seq.touched);
}

void SpmvCountsAdd(SpmvCounts *sum, const SpmvCounts *counts)
{
  sum->builds += counts->builds;
  sum->refreshes += counts->refreshes;
  sum->products += counts->products;
  sum->deferred += counts->deferred;
  sum->fallbacks += counts->fallbacks;
  sum->columns += counts->columns;
  sum->aij += counts->aij;
  sum->tunings += counts->tunings;
}

PetscErrorCode MatSpmvDestroyShadow(Mat A)
{
  SpmvShadow *s = (SpmvShadow *)A->spptr;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowForget(s));
  SpmvCountsAdd(&SpmvTotals, &s->seq.counts);
  PetscCall(SpmvSettingsReset(&s->settings));
  PetscCall(SpmvGhostsDestroy(&s->mpi.ghosts));
  PetscCall(VecDestroy(&s->mpi.result));
  PetscCall(SpmvFree(&s->seq.work));
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for n scalars, kept for the next product: pages that the system has to clear cost more than they are worth */
PetscErrorCode SpmvShadowRoom(SpmvShadow *s, size_t n, PetscScalar **room)
{
  PetscFunctionBegin;
  if (s->seq.nwork < n) {
    s->seq.nwork = 0;
    PetscCall(SpmvFree(&s->seq.work));
    PetscCall(SpmvAlloc(sizeof(PetscScalar) * n, &s->seq.work));
    s->seq.nwork = n;
  }
  *room = s->seq.work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product by AIJ's kernel, for the tuner to time */
typedef struct {
  Mat A;
  Vec x, y; /* NULL before the first product */
} SpmvBaseline;

static PetscErrorCode SpmvBaselineRun(void *context)
{
  SpmvBaseline *b = (SpmvBaseline *)context;

  PetscFunctionBegin;
  if (!b->x) {
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, b->A->cmap->n, &b->x));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, b->A->rmap->n, &b->y));
    PetscCall(VecSet(b->x, 1));
  }
  PetscCall((*SpmvParentSeq.ops.mult)(b->A, b->x, b->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets the tuner choose, unless it has for this pattern and these settings */
static PetscErrorCode SpmvShadowChoose(Mat A, SpmvShadow *s, const SpmvCSR *csr, const SpmvKey *key)
{
  const SpmvRequest *q        = &s->settings.request;
  SpmvBaseline       baseline = {A, NULL, NULL};
  SpmvChoice         choice;
  PetscInt           backend;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvBackend(s, key->nz, &backend));
  if (SpmvChoiceAnswers(&s->seq.choice, q, key, backend)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(SPMV_Tune, A, 0, 0, 0));
  ierr = SpmvTune(q, csr, key, backend, SpmvBaselineRun, &baseline, &choice);
  PetscCall(VecDestroy(&baseline.x));
  PetscCall(VecDestroy(&baseline.y));
  PetscCall(ierr);
  s->seq.choice = choice;
  PetscCall(PetscLogEventEnd(SPMV_Tune, A, 0, 0, 0));
  s->seq.counts.tunings += choice.from == SPMV_FROM_ESTIMATE || choice.from == SPMV_FROM_MEASURE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows as a side reads them */
static PetscErrorCode SpmvShadowSort(const SpmvShadow *s, const SpmvSide *side, SpmvRows *rows)
{
  PetscFunctionBegin;
  if (!s->seq.sorted && !(side && side->borrows)) PetscCall(SpmvRowsSort(rows));
  SpmvRowsFor(side, rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is to serve is chosen and built; nomem: a device was chosen and is out of memory */
static PetscErrorCode SpmvShadowBuild(Mat A, SpmvShadow *shadow, SpmvRows *rows, const SpmvKey *key, PetscBool *nomem)
{
  SpmvSeq          *s    = &shadow->seq;
  const SpmvOption *best = &s->choice.best;
  PetscLogDouble    start, end;

  PetscFunctionBegin;
  PetscCall(SpmvShadowForget(shadow));
  PetscCall(SpmvShadowSort(shadow, SpmvFormatSide(shadow->type, SPMV_BACKEND_HOST), rows));
  PetscCall(SpmvShadowChoose(A, shadow, &rows->csr, key));
  PetscCall(SpmvShadowSort(shadow, SpmvFormatSide(SpmvCandidate[best->number], best->plan.backend), rows));
  PetscCall(PetscLogEventBegin(SPMV_Build, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  PetscCall(SpmvBuiltCreate(shadow, &rows->csr, best->number, &best->plan, &s->built, nomem));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogEventEnd(SPMV_Build, A, 0, 0, 0));
  if (*nomem) {
    PetscCall(MatSpmvOutOfMemory(shadow, key, SpmvCandidate[best->number]->name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvFormatCite(s->built.format));
  s->build_seconds = end - start;
  s->own_seconds   = 0;
  s->key           = *key;
  s->nonzerorows   = SpmvRowsNonzero(&rows->csr);
  s->nonzerostate  = A->nonzerostate;
  s->counts.builds += SpmvBuiltIsThere(&s->built);
  s->settled++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvShadowRefresh(Mat A, SpmvShadow *shadow, SpmvRows *rows, PetscBool *nomem)
{
  SpmvSeq *s = &shadow->seq;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  if (!SpmvBuiltIsThere(&s->built)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowSort(shadow, SpmvFormatSide(s->built.format, s->built.plan.backend), rows));
  PetscCall(PetscLogEventBegin(SPMV_Update, A, 0, 0, 0));
  PetscCall(SpmvBuiltSetValues(&rows->csr, &s->built, nomem));
  PetscCall(PetscLogEventEnd(SPMV_Update, A, 0, 0, 0));
  if (*nomem) PetscCall(MatSpmvOutOfMemory(shadow, &s->key, s->built.format->name));
  else s->counts.refreshes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings what was built up to date with AIJ's arrays, or builds it */
static PetscErrorCode SpmvShadowRenew(Mat A, SpmvShadow *shadow, SpmvRows *rows)
{
  SpmvSeq      *s     = &shadow->seq;
  const SpmvKey key   = SpmvRowsKey(rows);
  PetscBool     nomem = PETSC_FALSE;

  PetscFunctionBegin;
  if (MatSpmvServes(A, shadow) && SpmvKeySame(&s->key, &key)) PetscCall(SpmvShadowRefresh(A, shadow, rows, &nomem));
  else {
    const SpmvSide *side = SpmvFormatSide(shadow->type, SPMV_BACKEND_HOST);

    s->sorted = (PetscBool)((side && side->borrows) || SpmvRowsSorted(rows)); /* who borrows rows does not ask */
    PetscCall(SpmvShadowBuild(A, shadow, rows, &key, &nomem));
  }
  if (nomem) PetscCall(SpmvShadowBuild(A, shadow, rows, &key, &nomem)); /* for the host, now */
  s->current = PETSC_TRUE;
  if (s->transposed) s->transposed->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvUpdate - called at each product: is the storage to serve it?

  Output Parameter:
. current - PETSC_TRUE if the storage is up to date, PETSC_FALSE if AIJ's kernel is to serve
*/
PetscErrorCode MatSpmvUpdate(Mat A, SpmvShadow *shadow, PetscBool *current)
{
  const PetscInt after = shadow->settings.build_after;
  SpmvSeq       *s     = &shadow->seq;
  SpmvRows       rows;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (shadow->version != shadow->settings.version) {
    shadow->version = shadow->settings.version;
    s->hostonly     = PETSC_FALSE;
    if (memcmp(&s->choice.request, &shadow->settings.request, sizeof(SpmvRequest))) PetscCall(SpmvShadowForget(shadow));
  }
  if (MatSpmvChanged(A, shadow)) {
    if (s->since) s->before = s->since;
    s->since      = 0;
    s->current    = PETSC_FALSE;
    s->touched    = PETSC_FALSE;
    shadow->owner = A;
    shadow->state = ((PetscObject)A)->state;
  }
  if (!s->current && (s->since >= after || s->before >= after)) {
    PetscCall(SpmvRowsGet(A, &rows));
    ierr = SpmvShadowRenew(A, shadow, &rows);
    PetscCall(SpmvRowsRestore(A, &rows));
    PetscCall(ierr);
    PetscCall(MatSpmvViewBuilt(A));
  }
  s->since++;
  *current = s->current;
  PetscFunctionReturn(PETSC_SUCCESS);
}
