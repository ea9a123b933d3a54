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
    PetscCheck(format, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Matrix type %s is not one of libpetscspmv's", ((PetscObject)A)->type_name);
    PetscCall(MatSpmvBecome(A, format));
  }
  *shadow = (SpmvShadow *)A->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops the storage, on the host and on the device */
PetscErrorCode SpmvShadowForget(SpmvShadow *s)
{
  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceForget(&s->device));
  PetscCall(SpmvTransposedDestroy(s->format, &s->transposed));
  if (s->storage) PetscCall(s->format->destroy(&s->storage));
  s->storage = NULL;
  s->format  = s->type;
  s->current = PETSC_FALSE;
  s->read = s->own = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if the storage has been made for A's pattern, or there is to be none because AIJ's kernel serves; its values may be old */
PetscBool MatSpmvServes(Mat A, const SpmvShadow *s)
{
  return (PetscBool)((s->storage || s->format == &SpmvFormat_aij) && s->owner == A && s->nonzerostate == A->nonzerostate);
}

/* True if A is not as it was when it was last looked at: what the storage borrows of it may be gone */
PetscBool MatSpmvChanged(Mat A, const SpmvShadow *s)
{
  return (PetscBool)(s->owner != A || s->state != ((PetscObject)A)->state || s->touched);
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
  SpmvCountsAdd(&SpmvTotals, &s->counts);
  PetscCall(SpmvSettingsReset(&s->settings));
  PetscCall(SpmvGhostsDestroy(&s->ghosts));
  PetscCall(VecDestroy(&s->result));
  PetscCall(SpmvFree(&s->work));
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the bytes of a storage that was built, while what it borrows is there */
PetscErrorCode SpmvShadowSetBytes(SpmvShadow *s)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n = 0;

  PetscFunctionBegin;
  if (s->storage) PetscCall(s->format->arrays(s->storage, &n, arrays));
  s->read = SpmvArraysRead(n, arrays, sizeof(PetscScalar));
  s->own  = SpmvArraysOwn(n, arrays);
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
static PetscErrorCode SpmvShadowChoose(Mat A, SpmvShadow *s, const SpmvRows *rows, const SpmvKey *key)
{
  SpmvBaseline   baseline = {A, NULL, NULL};
  SpmvChoice     choice;
  PetscInt       backend;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvBackend(s, key->nz, &backend));
  if (SpmvChoiceAnswers(&s->choice, &s->settings.request, key, backend)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(SPMV_Tune, A, 0, 0, 0));
  ierr = SpmvTune(&s->settings.request, &rows->csr, key, backend, SpmvBaselineRun, &baseline, &choice);
  PetscCall(VecDestroy(&baseline.x));
  PetscCall(VecDestroy(&baseline.y));
  PetscCall(ierr);
  s->choice = choice;
  PetscCall(PetscLogEventEnd(SPMV_Tune, A, 0, 0, 0));
  s->counts.tunings += s->choice.from == SPMV_FROM_ESTIMATE || s->choice.from == SPMV_FROM_MEASURE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvShadowBuild(Mat A, SpmvShadow *s, SpmvRows *rows)
{
  PetscLogDouble start, end;

  PetscFunctionBegin;
  s->format = SpmvCandidate[s->choice.best.number];
  PetscCall(PetscLogEventBegin(SPMV_Build, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  s->plan = s->choice.best.plan;
  PetscCall(SpmvDevicePlan(s, &rows->csr, &s->plan));
  if (s->format->build) PetscCall(s->format->build(&rows->csr, &s->plan, &s->storage));
  PetscCall(SpmvShadowSetBytes(s));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogEventEnd(SPMV_Build, A, 0, 0, 0));
  PetscCall(SpmvFormatCite(s->format));
  s->build_seconds = end - start;
  s->own_seconds   = 0;
  s->key           = s->choice.key;
  s->nonzerorows   = SpmvRowsNonzero(&rows->csr);
  s->nonzerostate  = A->nonzerostate;
  if (s->storage) s->counts.builds++;
  s->settled++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses what is to serve, and builds it; nothing serves after an error */
static PetscErrorCode SpmvShadowMake(Mat A, SpmvShadow *s, SpmvRows *rows, const SpmvKey *key)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SpmvShadowForget(s));
  SpmvRowsFor(s->type, rows);
  PetscCall(SpmvShadowChoose(A, s, rows, key));
  SpmvRowsFor(SpmvCandidate[s->choice.best.number], rows);
  ierr = SpmvShadowBuild(A, s, rows);
  if (ierr) PetscCall(SpmvShadowForget(s));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvShadowRefresh(Mat A, SpmvShadow *s, SpmvRows *rows)
{
  PetscFunctionBegin;
  SpmvRowsFor(s->format, rows);
  PetscCall(PetscLogEventBegin(SPMV_Update, A, 0, 0, 0));
  PetscCall(s->format->setvalues(&rows->csr, s->storage));
  PetscCall(PetscLogEventEnd(SPMV_Update, A, 0, 0, 0));
  s->counts.refreshes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the storage up to date with AIJ's arrays */
static PetscErrorCode SpmvShadowRenewFrom(Mat A, SpmvShadow *s, SpmvRows *rows)
{
  const SpmvKey   key  = SpmvRowsKey(rows);
  const PetscBool same = (PetscBool)(MatSpmvServes(A, s) && SpmvKeySame(&s->key, &key));
  PetscBool       full = PETSC_FALSE;

  PetscFunctionBegin;
  if (!same) s->sorted = (PetscBool)(s->type->borrows || SpmvRowsSorted(rows));
  if (!s->sorted) PetscCall(SpmvRowsSort(rows));
  if (!same) PetscCall(SpmvShadowMake(A, s, rows, &key));
  else if (s->storage) PetscCall(SpmvShadowRefresh(A, s, rows));
  if (s->storage) PetscCall(SpmvOnDeviceUpdate(s, s->storage, &s->plan, (PetscBool)!same, &s->device, &full));
  if (full) PetscCall(SpmvShadowMake(A, s, rows, &key)); /* for the host, now */
  s->current = PETSC_TRUE;
  if (s->transposed) s->transposed->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvShadowRenew(Mat A, SpmvShadow *s)
{
  SpmvRows       rows;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SpmvRowsGet(A, &rows));
  ierr = SpmvShadowRenewFrom(A, s, &rows);
  PetscCall(SpmvRowsRestore(A, &rows));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvUpdate - called at each product: is the storage to serve it?

  Output Parameter:
. current - PETSC_TRUE if the storage is up to date, PETSC_FALSE if AIJ's kernel is to serve
*/
PetscErrorCode MatSpmvUpdate(Mat A, SpmvShadow *s, PetscBool *current)
{
  PetscFunctionBegin;
  if (s->version != s->settings.version) {
    s->version  = s->settings.version;
    s->hostonly = PETSC_FALSE;
    if (memcmp(&s->choice.request, &s->settings.request, sizeof(SpmvRequest))) PetscCall(SpmvShadowForget(s));
  }
  if (MatSpmvChanged(A, s)) {
    if (s->since) s->before = s->since;
    s->since   = 0;
    s->current = PETSC_FALSE;
    s->owner   = A;
    s->state   = ((PetscObject)A)->state;
    s->touched = PETSC_FALSE;
  }
  if (!s->current && (s->since >= s->settings.build_after || s->before >= s->settings.build_after)) {
    PetscCall(SpmvShadowRenew(A, s));
    PetscCall(MatSpmvViewBuilt(A));
  }
  s->since++;
  *current = s->current;
  PetscFunctionReturn(PETSC_SUCCESS);
}
