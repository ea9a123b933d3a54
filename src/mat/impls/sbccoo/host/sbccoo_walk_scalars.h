/*
  sbccoo_walk_scalars.h - the pairs of a matrix without blocks, row by row
*/
#pragma once
#include "sbccoo_walk.h"

/* 1 if an entry is stored in its piece, of `whole` ones: the entry before or after it in its row is in the same */
static inline int SbccooInPiece(PetscInt last, PetscInt piece, PetscInt next, PetscInt whole)
{
  return ((piece == last) | (piece == next)) & (piece < whole);
}

/* Row i of scalars: its diagonal and its pairs */
static inline void SbccooWalkScalars(SbccooWalk *w, PetscInt i)
{
  const SpmvCSR *csr   = w->csr;
  const PetscInt end   = w->left[i].end;
  const size_t   alone = w->rest->n;
  PetscScalar   *value = w->value + 1;
  PetscInt       n     = 0, k;
  PetscBool      diagonal;

  SbccooPrefetchPartners(w, i, 1);
  SbccooPass(w, i, i);
  k           = w->left[i].next;
  diagonal    = (PetscBool)(k < end && csr->j[k] == i);
  w->value[0] = diagonal ? csr->a[k++] : 0;
  for (; k < end; k++) {
    const PetscInt j = csr->j[k];
    SbccooLeft    *l;

    if (PetscUnlikely(j >= w->nb)) {
      SbccooAlone(w, i, j, csr->a[k]);
      continue;
    }
    l = &w->left[j];
    if (PetscUnlikely(l->next < l->end && csr->j[l->next] < i)) SbccooPass(w, j, i);
    if (PetscLikely(l->next < l->end && csr->j[l->next] == i)) {
      SbccooSoon(w, l->next, PETSC_TRUE);
      value[n]       = csr->a[k];
      w->other[n]    = csr->a[l->next++];
      w->column[n++] = j;
    } else SbccooAlone(w, i, j, csr->a[k]);
  }
  w->n     = n;
  w->plain = (PetscBool)(diagonal && w->rest->n == alone);
}

/* The pairs of row i of scalars, some of which are not told: both of their entries are stored. told[first] is the row's first */
static inline void SbccooSplitScalars(SbccooWalk *w, PetscInt i, size_t first)
{
  const size_t bytes = SBCCOO_CODES * w->codesize;
  PetscScalar *value = w->value + 1;
  PetscInt     n     = 0;

  w->nboth = 0;
  while (n < w->n && SbccooIsTold(w->told, first + (size_t)n)) n++;
  for (PetscInt k = n; k < w->n; k++) {
    const int one = SbccooIsTold(w->told, first + (size_t)k);

    if (!one && w->upper) SbccooCheck(w, i, w->column[k], value[k], w->other[k]);
    if (one || w->upper) {
      memmove(w->code + (size_t)n * bytes, w->code + (size_t)k * bytes, bytes);
      value[n]       = value[k];
      w->column[n++] = w->column[k];
    } else {
      w->near += SbccooNear(w, value[k], w->other[k]);
      w->bothcolumn[w->nboth]     = w->column[k];
      w->both[2 * w->nboth]       = value[k];
      w->both[2 * w->nboth++ + 1] = w->other[k];
    }
  }
  w->n = n;
}

/* Row i of scalars: pairs that are told from one entry, and pairs with both */
static inline void SbccooWalkScalarRow(SbccooWalk *w, PetscInt i)
{
  SbccooWalkScalars(w, i);
  w->nboth = 0;
  if (w->tell((size_t)w->n, w->value + 1, w->other, w->least, w->conjugate, w->codesize, w->code, w->told))
    SbccooSplitScalars(w, i, 0);
}
