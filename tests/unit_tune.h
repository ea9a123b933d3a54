/*
  unit_tune.h - for tests of the tuner without a Mat: a matrix, and what is chosen for it
*/
#pragma once
#include "spmvtest.h"

/* Rows of `length` entries or twice as many, in blocks of h x h along a band */
static inline PetscErrorCode Band(PetscInt m, PetscInt length, PetscInt h, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = t->n = m;
  PetscCall(SpmvTestCSRAlloc(m, 2 * m * length, t));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt n = r / h % 5 ? length : 2 * length;

    t->i[r] = nz;
    for (PetscInt k = 0; k < n && nz < 2 * m * length; k++) {
      const PetscInt c = (r / h + k / h * 3) * h + k % h;

      if (c >= m) break;
      t->j[nz]   = c;
      t->a[nz++] = 1;
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(0);
}

static inline PetscErrorCode Baseline(void *context)
{
  ++*(PetscInt *)context;
  return PETSC_SUCCESS;
}

/* What measuring has left gives the product that the storage of what was chosen gives; estimating and patience leave none */
static inline PetscErrorCode IsAsBuilt(PetscInt kind, const SpmvCSR *csr, const SpmvChoice *choice, const SpmvKept *kept)
{
  const SpmvSide                           *side  = &SpmvCandidate[choice->best.number]->host->side;
  SPMV_DESTROY_BY(SpmvKeptDestroy) SpmvKept built = {.plan = choice->best.plan, .own.side = side};
  const SpmvKernels                        *kernels;
  PetscScalar                              *x, *y, *z;

  PetscFunctionBegin;
  if (kind != SPMV_TUNE_MEASURE || choice->best.number == SPMV_NUMBER_AIJ || side->borrows) {
    PetscCheck(!kept->own.storage, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a storage of %s was kept",
               SpmvCandidate[kept->number]->name);
    PetscFunctionReturn(0);
  }
  PetscCheck(SpmvKeptIs(kept, choice->best.number, &choice->best.plan), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s was chosen and its storage was not kept", SpmvCandidate[choice->best.number]->name);
  PetscCall(SpmvBuild(side, csr, NULL, &built.plan, &built.own.storage));
  PetscCheck(!memcmp(&built.plan, &kept->plan, sizeof(built.plan)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "another plan was kept");
  PetscCall(SpmvKernelsGet(SpmvCandidate[kept->number], SPMV_ISA_COUNT, &kernels));
  PetscCall(PetscMalloc3(csr->n, &x, csr->m, &y, csr->m, &z));
  for (PetscInt k = 0; k < csr->n; k++) x[k] = 1 / (PetscScalar)(k + 1);
  SpmvApply(kernels->apply, kept->own.storage, csr->i[csr->m], x, y, PETSC_FALSE);
  SpmvApply(kernels->apply, built.own.storage, csr->i[csr->m], x, z, PETSC_FALSE);
  PetscCheck(!memcmp(y, z, sizeof(*y) * (size_t)csr->m), PETSC_COMM_SELF, PETSC_ERR_PLIB, "what was kept gives another product");
  PetscCall(PetscFree3(x, y, z));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode Tune(PetscInt kind, PetscInt allowed, PetscReal seconds, const SpmvTestCSR *t, PetscInt *aij,
                                  SpmvChoice *choice)
{
  const SpmvCSR                             csr = SpmvTestCSRView(t);
  const SpmvKey                             key = {csr.m, csr.n, csr.i[csr.m], 17};
  SpmvRequest                               q;
  SPMV_DESTROY_BY(SpmvKeptDestroy) SpmvKept kept = {0};

  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
  q.kind    = kind;
  q.seconds = seconds;
  if (allowed) q.allowed = allowed;
  PetscCall(PetscStrncpy(q.wisdom, "none", sizeof(q.wisdom)));
  *aij = 0;
  PetscCall(SpmvTune(&q, &csr, &key, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, Baseline, aij, choice, &kept));
  PetscCall(IsAsBuilt(kind, &csr, choice, &kept));
  PetscCheck(choice->known && choice->best.number >= 0 && SpmvChoiceAnswers(choice, &q, &key, SPMV_BACKEND_HOST, PETSC_FALSE),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "no choice");
  PetscFunctionReturn(0);
}
