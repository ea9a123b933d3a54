/*
  sbccoo_walk.c - what a walk over the pairs has as memory
*/
#include "sbccoo_walk.h"

/* For the rows of a matrix, with w->rest set; the storage has its sizes */
PetscErrorCode SbccooWalkCreate(const SpmvCSR *csr, const SbccooStorage *s, SbccooWalk *w)
{
  const size_t row = (size_t)s->longest + 2, entries = SbccooEntries(s), pairs = row * entries;
  SbccooCut   *c   = &w->cut;

  PetscFunctionBegin;
  w->csr  = csr;
  w->tell = s->tell;
  w->nb   = s->nb;
  PetscCall(PetscMalloc1(s->m, &w->left));
  PetscCall(PetscMalloc3(row, &w->column, pairs, &w->value, pairs, &w->other));
  PetscCall(PetscMalloc3(row, &w->there, pairs * SBCCOO_CODES, &w->code, pairs / 8 + 1, &w->told));
  PetscCall(PetscMalloc3(row, &w->bothcolumn, 2 * row, &w->both, row, &w->mate));
  PetscCall(PetscMalloc5(row, &c->piece, row, &c->mask, row, &c->column, row, &c->value, row * SBCCOO_CODES, &c->code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SbccooWalkDestroy(SbccooWalk *w)
{
  SbccooCut *c = &w->cut;

  PetscFunctionBegin;
  PetscCall(PetscFree(w->left));
  PetscCall(PetscFree3(w->column, w->value, w->other));
  PetscCall(PetscFree3(w->there, w->code, w->told));
  PetscCall(PetscFree3(w->bothcolumn, w->both, w->mate));
  PetscCall(PetscFree5(c->piece, c->mask, c->column, c->value, c->code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first row */
void SbccooWalkBegin(const SbccooStorage *s, SbccooWalk *w)
{
  const PetscInt *i = w->csr->i;

  w->least     = s->least;
  w->conjugate = s->conjugate;
  w->codes     = (PetscBool)(s->code != NULL);
  w->near = w->far = 0;
  w->rest->n   = 0;
  for (PetscInt r = 0; r < s->m; r++) w->left[r] = (SbccooLeft){i[r], i[r + 1]};
}
