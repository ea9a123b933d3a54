/*
  sbccoo_walk.c - what a walk over the pairs has as memory
*/
#include "sbccoo_walk.h"
#include "../../../../host/prefetch.h"
#include "../../../../host/shape.h"

/* Entries of a chunk of rows of scalars, at most */
size_t SbccooChunkMost(const SpmvCSR *csr, const SbccooStorage *s)
{
  PetscInt most = 0;

  for (PetscInt p = 0; p < s->nparts; p++) {
    for (PetscInt i = s->part[p].first; s->b == 1 && i < s->part[p].last; i += SBCCOO_CHUNK)
      most = PetscMax(most, csr->i[PetscMin(i + SBCCOO_CHUNK, s->part[p].last)] - csr->i[i]);
  }
  return (size_t)most;
}

/* For the rows of a matrix, with w->rest set; the storage has its sizes */
PetscErrorCode SbccooWalkCreate(const SpmvCSR *csr, const SbccooStorage *s, SbccooWalk *w)
{
  const size_t row = (size_t)s->longest + 2, entries = SbccooEntries(s), pairs = row * entries, chunk = SbccooChunkMost(csr, s);
  const size_t codes = SBCCOO_CODES * (s->b > 1 ? sizeof(int8_t) : sizeof(int16_t));
  SbccooCut   *c     = &w->cut;

  PetscFunctionBegin;
  w->csr        = csr;
  w->tell       = s->tell[s->upper];
  w->nb         = s->nb;
  w->prefetches = SpmvPrefetchPays(csr);
  PetscCall(PetscMalloc1(s->m, &w->left));
  if (s->upper) PetscCall(PetscMalloc1(s->m, &w->scale));
  PetscCall(PetscMalloc3(row, &w->column, pairs, &w->value, pairs, &w->other));
  PetscCall(PetscMalloc3(row, &w->there, pairs * codes, &w->code, PetscMax(pairs, chunk + SBCCOO_CHUNK) / 8 + 1, &w->told));
  PetscCall(PetscMalloc3(row, &w->bothcolumn, 2 * row, &w->both, chunk, &w->mate));
  PetscCall(PetscMalloc5(row, &c->piece, row, &c->mask, row, &c->column, row, &c->value, row * codes, &c->code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SbccooWalkDestroy(SbccooWalk *w)
{
  SbccooCut *c = &w->cut;

  PetscFunctionBegin;
  PetscCall(PetscFree(w->left));
  PetscCall(PetscFree(w->whole));
  PetscCall(PetscFree(w->scale));
  PetscCall(PetscFree3(w->column, w->value, w->other));
  PetscCall(PetscFree3(w->there, w->code, w->told));
  PetscCall(PetscFree3(w->bothcolumn, w->both, w->mate));
  PetscCall(PetscFree5(c->piece, c->mask, c->column, c->value, c->code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the block rows of whole blocks, which a walk through all of them passes faster */
PetscErrorCode SbccooWalkFindWhole(const SbccooStorage *s, SbccooWalk *w)
{
  PetscFunctionBegin;
  if (s->b == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(s->nb, &w->whole));
  for (PetscInt i = 0; i < s->nb; i++) w->whole[i] = (uint8_t)SpmvShapeIsWhole(w->csr, i * s->b, s->b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number that users know a row by */
static PetscInt WalkNumber(const SpmvCSR *csr, PetscInt row)
{
  return csr->global + (csr->numbers ? csr->numbers[row] : row);
}

/* An error if a pair is too far apart for the upper part alone */
PetscErrorCode SbccooRefuse(const SbccooWalk *w)
{
  const SbccooBad  *b   = &w->bad;
  const PetscInt    row = WalkNumber(w->csr, b->row), column = WalkNumber(w->csr, b->column);
  const PetscScalar v = b->value, o = b->other;

  PetscFunctionBegin;
  PetscCheck(!b->found || SBCCOO_CODES > 1, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is %.17g and entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is %.17g "
             "in a matrix that is declared symmetric: more than " SBCCOO_CLOSE_TEXT
             " apart; leave -mat_sbccoo_exact no out, or do not declare it",
             row, column, (double)PetscRealPart(v), column, row, (double)PetscRealPart(o));
  PetscCheck(!b->found, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is %.17g + %.17g i and entry (%" PetscInt_FMT ", %" PetscInt_FMT
             ") is %.17g + %.17g i in a matrix that is declared %s: more than " SBCCOO_CLOSE_TEXT
             " apart; leave -mat_sbccoo_exact no out, or do not declare it",
             row, column, (double)PetscRealPart(v), (double)PetscImaginaryPart(v), column, row, (double)PetscRealPart(o),
             (double)PetscImaginaryPart(o), w->conjugate ? "Hermitian" : "symmetric");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first row */
void SbccooWalkBegin(const SbccooStorage *s, SbccooWalk *w)
{
  const PetscInt *i = w->csr->i;

  w->upper     = s->upper;
  w->bad       = (SbccooBad){0};
  w->least     = s->upper ? SBCCOO_CLOSE : s->least;
  w->conjugate = s->conjugate;
  w->codesize  = s->codesize;
  w->near = w->far = 0;
  w->rest->n       = 0;
  for (PetscInt r = 0; s->upper && r < s->m; r++) {
    const PetscInt d = SbccooFind(w->csr, r, r);

    w->scale[r] = d < 0 ? 0 : PetscSqrtReal(PetscAbsScalar(w->csr->a[d]));
  }
  for (PetscInt r = 0; r < s->m; r++) w->left[r] = (SbccooLeft){i[r], i[r + 1]};
}
