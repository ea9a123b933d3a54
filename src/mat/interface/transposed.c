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

static PetscErrorCode SpmvTransposedBuild(const SpmvShadow *s, const SpmvCSR *csr, PetscInt backend, SpmvTransposed *t)
{
  const SpmvRequest *q      = &s->settings.request;
  const PetscInt     number = s->choice.best.number;
  SpmvArray          arrays[SPMV_ARRAY_MAX];
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(SpmvTransposedCreate(csr, t));
  SpmvTransposedValues(csr, t);
  t->plan         = q->plan[number];
  t->plan.backend = backend;
  if (q->kind != SPMV_TUNE_OFF) PetscCall(SpmvPlanSettle(&t->csr, q->isa, number, &t->plan, NULL));
  PetscCall(SpmvDevicePlan(s, &t->csr, &t->plan));
  PetscCall(s->format->build(&t->csr, &t->plan, &t->storage));
  PetscCall(s->format->arrays(t->storage, &n, arrays));
  t->bytes = SpmvArraysOwn(n, arrays) + (PetscLogDouble)csr->i[csr->m] * (2 * sizeof(PetscInt) + sizeof(PetscScalar)) + (PetscLogDouble)(csr->n + 1) * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the place of the one that there is; after an error there is none */
static PetscErrorCode SpmvTransposedMake(Mat A, SpmvShadow *s, const SpmvCSR *csr, PetscInt backend)
{
  SpmvTransposed *t;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  PetscCall(SpmvTransposedDestroy(s->format, &s->transposed));
  PetscCall(PetscLogEventBegin(SPMV_Build, A, 0, 0, 0));
  PetscCall(PetscNew(&t));
  ierr = SpmvTransposedBuild(s, csr, backend, t);
  if (ierr) PetscCall(SpmvTransposedDestroy(s->format, &t));
  PetscCall(ierr);
  PetscCall(PetscLogEventEnd(SPMV_Build, A, 0, 0, 0));
  s->transposed = t;
  s->counts.builds++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvTransposedRefresh(Mat A, SpmvShadow *s, const SpmvCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SPMV_Update, A, 0, 0, 0));
  SpmvTransposedValues(csr, s->transposed);
  PetscCall(s->format->setvalues(&s->transposed->csr, s->transposed->storage));
  PetscCall(PetscLogEventEnd(SPMV_Update, A, 0, 0, 0));
  s->counts.refreshes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvGetTransposed - the storage of A^T, built or refreshed if need be

  Input Parameters:
+ A      - a sequential matrix
- shadow - its shadow, whose storage of A is current
*/
PetscErrorCode MatSpmvGetTransposed(Mat A, SpmvShadow *s, const void **storage)
{
  PetscFunctionBegin;
  if (!s->transposed || !s->transposed->current) {
    const PetscBool fresh = (PetscBool)!s->transposed;
    SpmvRows        rows;
    PetscBool       full;

    PetscCall(SpmvRowsGet(A, &rows));
    if (fresh) PetscCall(SpmvTransposedMake(A, s, &rows.csr, s->plan.backend));
    else PetscCall(SpmvTransposedRefresh(A, s, &rows.csr));
    PetscCall(SpmvOnDeviceUpdate(s, s->transposed->storage, &s->transposed->plan, fresh, &s->transposed->device, &full));
    if (full) PetscCall(SpmvTransposedMake(A, s, &rows.csr, SPMV_BACKEND_HOST));
    PetscCall(SpmvRowsRestore(A, &rows));
    s->transposed->current = PETSC_TRUE;
  }
  *storage = s->transposed->storage;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvTransposedDestroy(const SpmvFormat *format, SpmvTransposed **transposed)
{
  SpmvTransposed *t = *transposed;

  PetscFunctionBegin;
  if (!t) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvOnDeviceForget(&t->device));
  if (t->storage) PetscCall(format->destroy(&t->storage));
  PetscCall(PetscFree(t->i));
  PetscCall(PetscFree3(t->j, t->a, t->from));
  PetscCall(PetscFree(*transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
