/*
  tpspmv_walk.c - CSR as pairs of a tile and a row, slice after slice, in time linear in the entries
*/
#include "tpspmv_cut.h"

/* One tile: each row that is not empty is a pair, or several of at most so many entries */
static void TpspmvWalkRows(const SpmvCSR *csr, PetscInt first, PetscInt end, PetscInt longest, TpspmvPair pair[], PetscInt at[])
{
  PetscInt n = 0;

  for (PetscInt r = first; r < end; r++) {
    for (PetscInt k = csr->i[r], stop = csr->i[r + 1], length; k < stop; k += length) {
      length    = PetscMin(longest, stop - k);
      pair[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)length, k, 0, 0};
    }
  }
  at[0] = 0;
  at[1] = n;
}

/* The pairs of rows [first, end) as they are found, then tile after tile; at: [ntiles + 2] the first of each tile */
static void TpspmvWalkTiles(const SpmvCSR *csr, const TpspmvCut *cut, PetscInt first, PetscInt end, PetscInt longest,
                            TpspmvPair found[], TpspmvPair pair[], PetscInt at[])
{
  PetscInt n = 0;

  memset(at, 0, sizeof(*at) * (size_t)(cut->ntiles + 2));
  for (PetscInt r = first; r < end; r++) {
    for (PetscInt k = csr->i[r], next; k < csr->i[r + 1]; k = next) {
      const PetscInt stop = PetscMin(csr->i[r + 1] - k, longest) + k;
      const int32_t  tile = cut->tileof[TpspmvNumber(cut, csr, k) >> cut->quantum], limit = cut->tile[tile + 1];

      for (next = k + 1; next < stop && TpspmvNumber(cut, csr, next) < limit;) next++;
      found[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)(next - k), k, tile, 0};
      at[tile + 2]++;
    }
  }
  for (PetscInt t = 2; t <= cut->ntiles; t++) at[t] += at[t - 1];
  for (PetscInt p = 0; p < n; p++) pair[at[found[p].tile + 1]++] = found[p];
}

/*
  TpspmvWalk - calls visit() for each chunk, slice after slice, in a slice tile after tile

  A pair has at most so many entries: what a tile and a row have more in common makes pairs of its own, one after the other
*/
PetscErrorCode TpspmvWalk(const SpmvCSR *csr, const TpspmvCut *cut, PetscInt longest, TpspmvVisit *visit, void *context)
{
  SPMV_TEMPORARY TpspmvPair *found = NULL, *pair = NULL;
  SPMV_TEMPORARY PetscInt   *at   = NULL;
  PetscInt64                 most = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const PetscInt   first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1), entries = csr->i[end] - csr->i[first];
    const PetscInt64 pairs = (PetscInt64)(end - first) * cut->ntiles + entries / longest;

    most = PetscMax(most, PetscMin(entries, pairs));
  }
  PetscCall(PetscMalloc1(most, &pair));
  PetscCall(PetscMalloc1(cut->ntiles + 2, &at));
  if (!TpspmvCutIsDirect(cut)) PetscCall(PetscMalloc1(most, &found));
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1);

    if (TpspmvCutIsDirect(cut)) TpspmvWalkRows(csr, first, end, longest, pair, at);
    else TpspmvWalkTiles(csr, cut, first, end, longest, found, pair, at);
    for (PetscInt t = 0; t < cut->ntiles; t++) visit(context, t * cut->nslices + s, first, pair + at[t], at[t + 1] - at[t]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
