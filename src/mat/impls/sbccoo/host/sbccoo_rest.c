/*
  sbccoo_rest.c - the entries that are in no pair: a list in the order in which they are found, and rows of them
*/
#include "sbccoo_host.h"

PetscErrorCode SbccooListRoom(size_t room, SbccooList *list)
{
  PetscFunctionBegin;
  PetscCall(SbccooListDestroy(list));
  PetscCall(PetscMalloc1(room, &list->row));
  PetscCall(PetscMalloc1(room, &list->column));
  PetscCall(PetscMalloc1(room, &list->value));
  list->room = room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SbccooListDestroy(SbccooList *list)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(list->row));
  PetscCall(PetscFree(list->column));
  PetscCall(PetscFree(list->value));
  *list = (SbccooList){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for so many rows and entries; what is there is lost only if there is too little */
static PetscErrorCode RestRoom(size_t rows, size_t entries, SbccooStorage *s)
{
  PetscFunctionBegin;
  if (rows > s->restroom[0] || !s->reststart) {
    s->restroom[0] = 0;
    PetscCall(SpmvFree(&s->restrow));
    PetscCall(SpmvFree(&s->reststart));
    PetscCall(SpmvAlloc(rows * sizeof(PetscInt), &s->restrow));
    PetscCall(SpmvAlloc((rows + 1) * sizeof(PetscInt), &s->reststart));
    s->restroom[0] = rows;
  }
  if (entries > s->restroom[1]) {
    s->restroom[1] = 0;
    PetscCall(SpmvFree(&s->restcolumn));
    PetscCall(SpmvFree(&s->restvalue));
    PetscCall(SpmvAlloc(entries * sizeof(PetscInt), &s->restcolumn));
    PetscCall(SpmvAlloc(entries * sizeof(PetscScalar), &s->restvalue));
    s->restroom[1] = entries;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which rows of the rest are whose: those behind the last block row are the last part's */
static void RestShare(SbccooStorage *s)
{
  PetscInt k = 0;

  for (PetscInt p = 0; p < s->nparts; p++) {
    while (k < s->nrestrows && s->restrow[k] < s->part[p].first * s->b) k++;
    s->part[p].rest = k;
  }
}

/* The rest, from a list that has all of it. The entries of a row keep their order */
PetscErrorCode SbccooRestSet(const SbccooList *list, SbccooStorage *s)
{
  SPMV_TEMPORARY PetscInt *next = NULL;
  size_t                   rows = 0;
  PetscInt                 end  = 0;

  PetscFunctionBegin;
  s->nrest = (PetscInt)list->n;
  if (list->n) PetscCall(PetscCalloc1(s->m, &next));
  for (size_t k = 0; k < list->n; k++) rows += !next[list->row[k]]++;
  s->nrestrows = (PetscInt)rows;
  PetscCall(RestRoom(rows, list->n, s));
  rows = 0;
  for (PetscInt i = 0; list->n && i < s->m; i++) {
    const PetscInt length = next[i];

    next[i] = end;
    if (!length) continue;
    s->restrow[rows]     = i;
    s->reststart[rows++] = end;
    end += length;
  }
  s->reststart[rows] = end;
  for (size_t k = 0; k < list->n; k++) {
    const PetscInt to = next[list->row[k]]++;

    s->restcolumn[to] = list->column[k];
    s->restvalue[to]  = list->value[k];
  }
  RestShare(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}
