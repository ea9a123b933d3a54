/*
  transposed.c - the storage of A^T that -mat_spmv_transpose copy asks for

  Formats multiply by A^T with the storage of A, adding to y in no order. A program that multiplies by A^T as often as by A may
  pay with memory instead: the rows of A^T, their storage, and where each entry comes from, so that new values are one pass.
*/
#include "spmvmat.h"

/* The pattern of A^T */
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

/* round: as the storage of A has them */
static void SpmvTransposedSetValues(const SpmvCSR *csr, PetscBool round, SpmvTransposed *t)
{
  for (PetscInt k = 0; k < csr->i[csr->m]; k++) t->a[k] = csr->a[t->from[k]];
  t->csr.rounded = PETSC_FALSE;
  if (round) SpmvRound((size_t)csr->i[csr->m], t->a, &t->csr.rounded);
}

/* The rows of A^T and their storage, on a device if A's is */
static PetscErrorCode SpmvTransposedBuild(Mat A, SpmvShadow *s, const SpmvCSR *csr, SpmvTransposed *t, PetscBool *nomem)
{
  const PetscInt  number = s->seq.choice.best.number;
  const PetscBool device = (PetscBool)(s->seq.built.device && !s->seq.hostonly);
  SpmvRequest     q      = s->settings.request;
  SpmvPlan        plan;
  SpmvTarget      target;
  PetscBool       found = PETSC_FALSE;

  PetscFunctionBegin;
  if (device) PetscCall(SpmvTargetGet(&target, &found));
  if (s->seq.rounded) SpmvRequestFloats(&q);
  plan = *SpmvAsked(&q, number, device ? SPMV_BACKEND_DEVICE : SPMV_BACKEND_HOST);
  PetscCall(SpmvTransposedCreate(csr, t));
  SpmvTransposedSetValues(csr, s->seq.rounded, t);
  if (q.kind != SPMV_TUNE_OFF) PetscCall(SpmvPlanChoose(&t->csr, q.isa, found ? &target : NULL, number, &plan, NULL));
  PetscCall(SpmvBuiltCreate(A, s, &t->csr, number, &plan, NULL, NULL, &t->built, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings A^T up to date with A's values, or builds it where there is none. After an error there is none */
static PetscErrorCode SpmvTransposedRenew(Mat A, SpmvShadow *s, const SpmvCSR *csr, PetscBool *nomem)
{
  SpmvTransposed *t = s->seq.transposed;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  s->seq.transposed = NULL;
  if (t) {
    SpmvTransposedSetValues(csr, s->seq.rounded, t);
    ierr = SpmvBuiltSetValues(A, s, &t->csr, &t->built, nomem);
  } else {
    PetscCall(PetscNew(&t));
    ierr = SpmvTransposedBuild(A, s, csr, t, nomem);
  }
  if (ierr || *nomem) PetscCall(SpmvTransposedDestroy(&t));
  PetscCall(ierr);
  s->seq.transposed = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A^T as it was built, or is now, or is brought up to date. What is built of A is current */
PetscErrorCode MatSpmvGetTransposed(Mat A, SpmvShadow *s, const SpmvBuilt **built)
{
  SpmvSeq  *seq = &s->seq;
  SpmvCSR   csr;
  PetscBool nomem;

  PetscFunctionBegin;
  if (!seq->transposed || !seq->transposed->current) {
    PetscCall(MatSpmvGetRows(A, &csr));
    PetscCall(SpmvTransposedRenew(A, s, &csr, &nomem));
    if (nomem) PetscCall(SpmvTransposedRenew(A, s, &csr, &nomem)); /* for the host, now */
    seq->transposed->current = PETSC_TRUE;
  }
  *built = &seq->transposed->built;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What A^T adds to AIJ's rows: a storage and the rows it is made of; 0 if there is none */
PetscLogDouble SpmvTransposedBytes(const SpmvTransposed *t)
{
  if (!t) return 0;
  return t->built.own + (PetscLogDouble)t->i[t->csr.m] * (2 * sizeof(PetscInt) + sizeof(PetscScalar)) +
         (PetscLogDouble)(t->csr.m + 1) * sizeof(PetscInt);
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
