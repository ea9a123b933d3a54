/*
  tpspmv_walk.c - CSR as pairs of a tile and a row, slice after slice, in time linear in the entries
*/
#include "tpspmv_cut.h"

/* One tile: each row that is not empty is a pair */
static void TpspmvWalkRows(const SpmvCSR *csr, PetscInt first, PetscInt end, TpspmvPair pair[], PetscInt at[])
{
  const PetscInt *i = csr->i;
  PetscInt        n = 0;

  for (PetscInt r = first; r < end; r++) {
    if (i[r + 1] > i[r]) pair[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)(i[r + 1] - i[r]), i[r], 0, 0};
  }
  at[0] = 0;
  at[1] = n;
}

/* The pairs of rows [first, end) as they are found, then tile after tile; at: [ntiles + 2] the first of each tile */
static void TpspmvWalkTiles(const SpmvCSR *csr, const TpspmvCut *cut, PetscInt first, PetscInt end, TpspmvPair found[],
                            TpspmvPair pair[], PetscInt at[])
{
  PetscInt n = 0;

  memset(at, 0, sizeof(*at) * (size_t)(cut->ntiles + 2));
  for (PetscInt r = first; r < end; r++) {
    for (PetscInt k = csr->i[r], stop = csr->i[r + 1]; k < stop;) {
      const int32_t tile = cut->tileof[TpspmvNumber(cut, csr, k) >> cut->quantum], limit = cut->tile[tile + 1];
      PetscInt      next = k + 1;

      while (next < stop && TpspmvNumber(cut, csr, next) < limit) next++;
      found[n++] = (TpspmvPair){(int32_t)(r - first), (int32_t)(next - k), k, tile, 0};
      at[tile + 2]++;
      k = next;
    }
  }
  for (PetscInt t = 2; t <= cut->ntiles; t++) at[t] += at[t - 1];
  for (PetscInt p = 0; p < n; p++) pair[at[found[p].tile + 1]++] = found[p];
}

/* Calls visit() for each chunk, slice after slice, in a slice tile after tile */
PetscErrorCode TpspmvWalk(const SpmvCSR *csr, const TpspmvCut *cut, TpspmvVisit *visit, void *context)
{
  SPMV_TEMPORARY TpspmvPair *found = NULL, *pair = NULL;
  SPMV_TEMPORARY PetscInt   *at   = NULL;
  PetscInt                   most = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1), entries = csr->i[end] - csr->i[first];

    most = PetscMax(most, entries / cut->ntiles > end - first ? (end - first) * cut->ntiles : entries);
  }
  PetscCall(PetscMalloc1(most, &pair));
  PetscCall(PetscMalloc1(cut->ntiles + 2, &at));
  if (!TpspmvCutIsDirect(cut)) PetscCall(PetscMalloc1(most, &found));
  for (PetscInt s = 0; s < cut->nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(cut, s), end = TpspmvSliceFirst(cut, s + 1);

    if (TpspmvCutIsDirect(cut)) TpspmvWalkRows(csr, first, end, pair, at);
    else TpspmvWalkTiles(csr, cut, first, end, found, pair, at);
    for (PetscInt t = 0; t < cut->ntiles; t++) visit(context, t * cut->nslices + s, first, pair + at[t], at[t + 1] - at[t]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
