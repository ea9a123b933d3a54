/*
  transposed.c - the storage of A^T that -mat_spmv_transpose copy asks for

  Formats multiply by A^T with the storage of A, adding to y in no order. Who multiplies by A^T as often as by A may pay with
  memory instead: the rows of A^T, their storage, and where each entry comes from, so that new values are one pass.
*/
#include "spmvmat.h"

static PetscErrorCode SpmvTransposedCreate(const SpmvCSR *csr, SpmvTransposed *t)
{
  const PetscInt nz = csr->i[csr->m];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(csr->n + 1, &t->i));
  PetscCall(PetscMalloc3(nz, &t->j, nz, &t->a, nz, &t->from));
  for (PetscInt k = 0; k < nz; k++) t->i[csr->j[k] + 1]++;
  for (PetscInt c = 0; c < csr->n; c++) t->i[c + 1] += t->i[c];
  for (PetscInt r = 0; r < csr->m; r++) { /* t->i[c] moves on to the end of row c */
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
      const PetscInt to = t->i[csr->j[k]]++;

      t->j[to]    = r;
      t->from[to] = k;
    }
  }
  for (PetscInt c = csr->n; c > 0; c--) t->i[c] = t->i[c - 1];
  t->i[0] = 0;
  t->csr  = (SpmvCSR){.m = csr->n, .n = csr->m, .rbs = csr->cbs, .cbs = csr->rbs, .i = t->i, .j = t->j, .a = t->a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SpmvTransposedValues(const SpmvCSR *csr, SpmvTransposed *t)
{
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) t->a[k] = csr->a[t->from[k]];
}

/* The rows of A^T and their storage, on a device if A's is */
static PetscErrorCode SpmvTransposedFill(const SpmvShadow *s, const SpmvCSR *csr, PetscInt backend, SpmvTransposed *t,
                                         PetscBool *nomem)
{
  const PetscInt     number = s->seq.choice.best.number;
  const SpmvRequest *q      = &s->settings.request;
  SpmvPlan           plan   = backend == SPMV_BACKEND_DEVICE ? q->device[number] : q->host[number];

  PetscFunctionBegin;
  PetscCall(SpmvTransposedCreate(csr, t));
  SpmvTransposedValues(csr, t);
  if (q->kind != SPMV_TUNE_OFF) PetscCall(SpmvPlanSettle(&t->csr, q->isa, number, &plan, NULL));
  PetscCall(SpmvBuiltCreate(s, &t->csr, number, &plan, &t->built, nomem));
  t->built.own += (PetscLogDouble)csr->i[csr->m] * (2 * sizeof(PetscInt) + sizeof(PetscScalar)) +
                  (PetscLogDouble)(csr->n + 1) * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvTransposedBuild(Mat A, SpmvShadow *s, const SpmvCSR *csr, PetscInt backend, PetscBool *nomem)
{
  SpmvTransposed *t;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  PetscCall(SpmvTransposedDestroy(&s->seq.transposed));
  PetscCall(PetscNew(&t));
  PetscCall(PetscLogEventBegin(SPMV_Build, A, 0, 0, 0));
  ierr = SpmvTransposedFill(s, csr, backend, t, nomem);
  PetscCall(PetscLogEventEnd(SPMV_Build, A, 0, 0, 0));
  if (ierr || *nomem) PetscCall(SpmvTransposedDestroy(&t));
  PetscCall(ierr);
  s->seq.transposed = t;
  s->seq.counts.builds += t != NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvTransposedRefresh(Mat A, SpmvShadow *s, const SpmvCSR *csr, PetscBool *nomem)
{
  SpmvTransposed *t = s->seq.transposed;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SPMV_Update, A, 0, 0, 0));
  SpmvTransposedValues(csr, t);
  PetscCall(SpmvBuiltSetValues(&t->csr, &t->built, nomem));
  PetscCall(PetscLogEventEnd(SPMV_Update, A, 0, 0, 0));
  s->seq.counts.refreshes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvTransposedRenew(Mat A, SpmvShadow *s, const SpmvCSR *csr)
{
  PetscBool nomem;

  PetscFunctionBegin;
  if (s->seq.transposed) PetscCall(SpmvTransposedRefresh(A, s, csr, &nomem));
  else PetscCall(SpmvTransposedBuild(A, s, csr, s->seq.built.plan.backend, &nomem));
  if (nomem) {
    PetscCall(MatSpmvOutOfMemory(s, &s->seq.key, s->seq.built.format->name));
    PetscCall(SpmvTransposedBuild(A, s, csr, SPMV_BACKEND_HOST, &nomem));
  }
  s->seq.transposed->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvGetTransposed - A^T as it was built, or is now, or is brought up to date

  Input Parameters:
+ A - a sequential matrix
- s - its shadow, whose storage of A is current
*/
PetscErrorCode MatSpmvGetTransposed(Mat A, SpmvShadow *s, const SpmvBuilt **built)
{
  PetscFunctionBegin;
  if (!s->seq.transposed || !s->seq.transposed->current) {
    SpmvRows       rows;
    PetscErrorCode ierr;

    PetscCall(SpmvRowsGet(A, &rows));
    ierr = SpmvTransposedRenew(A, s, &rows.csr);
    PetscCall(SpmvRowsRestore(A, &rows));
    PetscCall(ierr);
  }
  *built = &s->seq.transposed->built;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvTransposedDestroy(SpmvTransposed **transposed)
{
  SpmvTransposed *t = *transposed;

  PetscFunctionBegin;
  if (!t) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvBuiltDestroy(&t->built));
  PetscCall(PetscFree(t->i));
  PetscCall(PetscFree3(t->j, t->a, t->from));
  PetscCall(PetscFree(*transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
