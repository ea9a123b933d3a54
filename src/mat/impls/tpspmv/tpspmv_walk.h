/*
  tpspmv_walk.h - CSR rows as pairs of a tile and a row, slice after slice, in time linear in the entries
*/
#pragma once
#include "tpspmv_cut.h"

/* The entries that a tile and a row have in common */
typedef struct {
  int32_t  row;    /* in its slice */
  int32_t  length; /* how many, > 0 */
  PetscInt start;  /* the first, in CSR */
  int32_t  tile;
  int32_t
    consecutive; /* 1: in a group of eight rows one after the other, each of which has its columns one after those of the row before */
} TpspmvPair;

typedef struct {
  const SpmvCSR   *csr;
  const TpspmvCut *cut;
  TpspmvPair      *found; /* pairs of the slice, row after row */
  TpspmvPair      *pair;  /* the same, tile after tile */
  PetscInt        *first; /* [ntiles + 1] first pair of each tile in pair[] */
} TpspmvWalk;

/* To be given to TpspmvWalkDestroy(), after an error as well */
static inline PetscErrorCode TpspmvWalkCreate(const SpmvCSR *csr, const TpspmvCut *cut, TpspmvWalk *walk)
{
  PetscInt most = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1), entries = csr->i[end] - csr->i[first];

    most = PetscMax(most, entries / cut->ntiles > end - first ? (end - first) * cut->ntiles : entries);
  }
  *walk = (TpspmvWalk){.csr = csr, .cut = cut};
  PetscCall(PetscMalloc1(most, &walk->pair));
  if (!TpspmvCutIsDirect(cut)) PetscCall(PetscMalloc1(most, &walk->found));
  PetscCall(PetscMalloc1(cut->ntiles + 1, &walk->first));
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
static inline int32_t TpspmvNumber(const TpspmvCut *cut, const SpmvCSR *csr, PetscInt k)
{
  return cut->number ? cut->number[csr->j[k]] : (int32_t)csr->j[k];
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
  const TpspmvCut *cut   = walk->cut;
  const SpmvCSR   *csr   = walk->csr;
  const PetscInt   first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1);
  PetscInt        *at = walk->first, n = 0;

  if (TpspmvCutIsDirect(cut)) {
    TpspmvWalkRows(walk, first, end);
    return;
  }
  memset(at, 0, sizeof(*at) * (size_t)(cut->ntiles + 1));
  for (PetscInt r = first; r < end; r++) {
    for (PetscInt k = csr->i[r], stop = csr->i[r + 1]; k < stop;) {
      const int32_t tile = cut->tileof[TpspmvNumber(cut, csr, k) >> cut->quantum], limit = cut->tile[tile + 1];
      PetscInt      next = k + 1;

      while (next < stop && TpspmvNumber(cut, csr, next) < limit) next++;
      walk->found[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)(next - k), k, tile, 0};
      at[tile]++;
      k = next;
    }
  }
  for (PetscInt t = 0, sum = 0; t <= cut->ntiles; t++) {
    const PetscInt count = at[t];

    at[t] = sum;
    sum += count;
  }
  for (PetscInt p = 0; p < n; p++) walk->pair[at[walk->found[p].tile]++] = walk->found[p];
  for (PetscInt t = cut->ntiles; t > 0; t--) at[t] = at[t - 1];
  at[0] = 0;
}
