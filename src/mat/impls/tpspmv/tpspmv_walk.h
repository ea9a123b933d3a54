/*
  tpspmv_walk.h - CSR rows as pairs of a tile and a row, slice after slice, in time linear in the entries
*/
#pragma once
#include "tpspmv.h"

/* The entries that a tile and a row have in common */
typedef struct {
  int32_t  row;    /* in its slice */
  int32_t  length; /* how many, > 0 */
  PetscInt start;  /* the first, in CSR */
  int32_t  tile;
  int32_t  consecutive; /* 1: in a group of eight rows one after the other, each of which has its columns one after those of the row before */
} TpspmvPair;

typedef struct {
  const SpmvCSR       *csr;
  const TpspmvStorage *b;
  TpspmvPair          *found; /* pairs of the slice, row after row */
  TpspmvPair          *pair;  /* the same, tile after tile */
  PetscInt            *first; /* [ntiles + 1] first pair of each tile in pair[] */
} TpspmvWalk;

static inline PetscErrorCode TpspmvWalkCreate(const SpmvCSR *csr, const TpspmvStorage *b, TpspmvWalk *walk)
{
  PetscInt most = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < b->nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(b, s), end = TpspmvSliceFirst(b, s + 1), entries = csr->i[end] - csr->i[first];

    most = PetscMax(most, entries / b->ntiles > end - first ? (end - first) * b->ntiles : entries);
  }
  *walk = (TpspmvWalk){.csr = csr, .b = b};
  PetscCall(PetscMalloc1(most, &walk->pair));
  if (!TpspmvIsDirect(b)) PetscCall(PetscMalloc1(most, &walk->found));
  PetscCall(PetscMalloc1(b->ntiles + 1, &walk->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TpspmvWalkDestroy(TpspmvWalk *walk)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(walk->pair));
  PetscCall(PetscFree(walk->found));
  PetscCall(PetscFree(walk->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of the column of entry k */
static inline int32_t TpspmvNumber(const TpspmvStorage *b, const SpmvCSR *csr, PetscInt k)
{
  return b->number ? b->number[csr->j[k]] : (int32_t)csr->j[k];
}

/* One tile: a row that is not empty is a pair */
static inline void TpspmvWalkRows(TpspmvWalk *walk, PetscInt first, PetscInt end)
{
  const PetscInt *i = walk->csr->i;
  PetscInt        n = 0;

  for (PetscInt r = first; r < end; r++) {
    if (i[r + 1] > i[r]) walk->pair[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)(i[r + 1] - i[r]), i[r], 0, 0};
  }
  walk->first[0] = 0;
  walk->first[1] = n;
}

/* The pairs of slice s, in the order of tiles, then rows */
static inline void TpspmvWalkSlice(TpspmvWalk *walk, PetscInt s)
{
  const TpspmvStorage *b     = walk->b;
  const SpmvCSR       *csr   = walk->csr;
  const PetscInt       first = TpspmvSliceFirst(b, s), end = TpspmvSliceFirst(b, s + 1);
  PetscInt            *at = walk->first, n = 0;

  if (TpspmvIsDirect(b)) {
    TpspmvWalkRows(walk, first, end);
    return;
  }
  memset(at, 0, sizeof(*at) * (size_t)(b->ntiles + 1));
  for (PetscInt r = first; r < end; r++) {
    for (PetscInt k = csr->i[r], stop = csr->i[r + 1]; k < stop;) {
      const int32_t tile = b->tileof[TpspmvNumber(b, csr, k) >> b->quantum], limit = b->tile[tile + 1];
      PetscInt      next = k + 1;

      while (next < stop && TpspmvNumber(b, csr, next) < limit) next++;
      walk->found[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)(next - k), k, tile, 0};
      at[tile]++;
      k = next;
    }
  }
  for (PetscInt t = 0, sum = 0; t <= b->ntiles; t++) {
    const PetscInt count = at[t];

    at[t] = sum;
    sum += count;
  }
  for (PetscInt p = 0; p < n; p++) walk->pair[at[walk->found[p].tile]++] = walk->found[p];
  for (PetscInt t = b->ntiles; t > 0; t--) at[t] = at[t - 1];
  at[0] = 0;
}
