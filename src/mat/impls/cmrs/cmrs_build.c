/*
  cmrs_build.c - the arrays of a CMRS storage, from CSR's and back

  Source: as cmrs.c, section 3: stripptr[s] = rowptr[s height], and rowinstrip is the row modulo the height.
*/
#include "cmrs.h"

static PetscErrorCode CmrsAllocate(CmrsStorage *c)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc((size_t)(c->strips + 1) * sizeof(PetscInt), &c->strip));
  PetscCall(SpmvAllocShared((size_t)(c->nstored + CMRS_PAD) * c->wordsize, c->threads, &c->word));
  PetscCall(SpmvAllocShared((size_t)(c->nstored + CMRS_PAD) * sizeof(PetscScalar), c->threads, &c->value));
  memset((char *)c->word + (size_t)c->nstored * c->wordsize, 0, CMRS_PAD * c->wordsize);
  memset(c->value + c->nstored, 0, CMRS_PAD * sizeof(PetscScalar));
  if (c->order == CMRS_ORDER_INTERLEAVED) {
    PetscCall(SpmvAlloc((size_t)c->nsteps, &c->active));
    PetscCall(SpmvAlloc((size_t)(c->nchunks + 1) * sizeof(CmrsChunk), &c->chunk));
    PetscCall(SpmvAlloc((size_t)c->ntails * sizeof(CmrsTail), &c->tail));
    PetscCall(SpmvAlloc((size_t)c->nsegments * sizeof(CmrsSegment), &c->segment));
  }
  if (c->order == CMRS_ORDER_PADDED) PetscCall(SpmvAlloc((size_t)(c->nstored / CMRS_GROUP), &c->items));
  if (c->order == CMRS_ORDER_PADDED || c->order == CMRS_ORDER_COLUMNS) PetscCall(SpmvAlloc((size_t)c->nstored * sizeof(PetscInt), &c->position));
  if (c->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)(c->threads + 1) * sizeof(CmrsShare), &c->share));
  PetscCall(SpmvAlloc((size_t)(c->order == CMRS_ORDER_INTERLEAVED ? c->nsegments : c->threads * CMRS_HEIGHT_MAX) * sizeof(PetscScalar), &c->partial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CmrsKey: an entry of a strip that is being sorted */
typedef struct {
  uint64_t word;
  PetscInt position;
} CmrsKey;

/* Merges two sorted lists: by words, which is by columns, then by rows */
static void CmrsMerge(const CmrsKey a[], PetscInt na, const CmrsKey b[], PetscInt nb, CmrsKey out[])
{
  PetscInt p = 0, q = 0;

  while (p < na && q < nb) {
    const int second = b[q].word < a[p].word;

    out[p + q] = second ? b[q] : a[p];
    q += second;
    p += !second;
  }
  for (; p < na; p++) out[p + q] = a[p];
  for (; q < nb; q++) out[p + q] = b[q];
}

/* The positions of strip s by columns; its rows are sorted, and are merged two by two */
static void CmrsSortStrip(const SpmvCSR *csr, CmrsStorage *c, PetscInt s, CmrsKey key[], CmrsKey other[])
{
  const PetscInt *i = csr->i + s * c->height, rows = CmrsRows(c, s), n = i[rows] - i[0];
  PetscInt        first[CMRS_HEIGHT_MAX + 1], lists = rows;

  for (PetscInt r = 0; r <= rows; r++) first[r] = i[r] - i[0];
  for (PetscInt r = 0; r < rows; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) key[k - i[0]] = (CmrsKey){(uint64_t)csr->j[k] << CMRS_BITS | (uint64_t)r, k};
  }
  while (lists > 1) {
    CmrsKey *sorted = other;

    for (PetscInt l = 0; l < lists; l += 2) {
      const PetscInt middle = first[l + 1], end = first[PetscMin(lists, l + 2)];

      CmrsMerge(key + first[l], middle - first[l], key + middle, end - middle, other + first[l]);
      first[l / 2] = first[l];
    }
    lists        = (lists + 1) / 2;
    first[lists] = n;
    other        = key;
    key          = sorted;
  }
  for (PetscInt k = 0; k < n; k++) c->position[i[0] + k] = key[k].position;
}

/* The positions by columns, strip after strip */
static PetscErrorCode CmrsSort(const SpmvCSR *csr, CmrsStorage *c)
{
  PetscInt longest = 0;
  CmrsKey *key, *other;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < c->strips; s++) longest = PetscMax(longest, c->strip[s + 1] - c->strip[s]);
  PetscCall(PetscMalloc2(longest, &key, longest, &other));
  for (PetscInt s = 0; s < c->strips; s++) CmrsSortStrip(csr, c, s, key, other);
  PetscCall(PetscFree2(key, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The words of the entries at the positions; padding repeats the word before it, which its row has */
static void CmrsSetPositioned(const SpmvCSR *csr, CmrsStorage *c)
{
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt *i = csr->i + s * c->height, rows = CmrsRows(c, s);
    PetscInt        from = 0, row = 0;

    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
      if (c->position[k] >= 0) {
        from = c->position[k];
        for (row = 0; row + 1 < rows && i[row + 1] <= from; row++) {}
      }
      CmrsSetWord(c, k, csr->j[from], row);
    }
  }
}

/* Where the part of each thread begins: parts of as many entries, whatever the rows */
static void CmrsSetShares(CmrsStorage *c)
{
  PetscInt   strip = 0, chunk = 0, segment = 0;
  PetscInt64 buffered = 0, inside = 0, all = 0;

  for (PetscInt g = 0; g < c->nsegments; g++) all += c->segment[g].length;
  for (PetscInt t = 0; t <= c->threads; t++) {
    const PetscInt entry = t == c->threads ? c->nstored : (PetscInt)((PetscInt64)c->nstored * t / c->threads / CMRS_GROUP * CMRS_GROUP);

    while (strip < c->strips && (t == c->threads || c->strip[strip] < entry)) strip++;
    while (chunk < c->nchunks && (t == c->threads || buffered < (c->nz - all) * t / c->threads)) buffered += c->chunk[chunk++].buffered;
    while (segment < c->nsegments && inside < all * t / c->threads) inside += c->segment[segment++].length;
    c->share[t] = (CmrsShare){entry, strip, chunk, segment};
  }
}

/*
  CmrsBuild - a storage with the pattern and the values of a matrix

  Input Parameter:
. csr - the matrix

  Input/Output Parameter:
. plan - what is left open is replaced by what was built

  Output Parameter:
. storage - to be destroyed with CmrsDestroy(), after an error as well

  Note:
  Errors as of CmrsResolve().
*/
PetscErrorCode CmrsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  CmrsStorage *c;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(PetscNew(&c));
  *storage = c;
  PetscCall(CmrsResolve(csr, plan, c));
  PetscCall(CmrsAllocate(c));
  if (c->order == CMRS_ORDER_PADDED) {
    PetscInt groups = 0;

    for (PetscInt s = 0; s < c->strips; s++) {
      c->strip[s] = groups * CMRS_GROUP;
      groups += CmrsPadStrip(csr, c, s, c->position + c->strip[s], c->items + groups);
    }
  } else {
    for (PetscInt s = 0; s < c->strips; s++) c->strip[s] = csr->i[s * c->height];
  }
  c->strip[c->strips] = c->nstored;
  if (c->order == CMRS_ORDER_INTERLEAVED) {
    CmrsLayout(csr, c);
    CmrsInterleave(csr, c, PETSC_TRUE);
  } else {
    if (c->order == CMRS_ORDER_COLUMNS) PetscCall(CmrsSort(csr, c));
    if (c->position) CmrsSetPositioned(csr, c);
    else {
      for (PetscInt r = 0; r < c->m; r++) {
        for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) CmrsSetWord(c, k, csr->j[k], r % c->height);
      }
    }
    PetscCall(CmrsSetValues(csr, c));
  }
  if (!c->device) CmrsSetShares(c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CmrsDestroy(void **storage)
{
  CmrsStorage *c = (CmrsStorage *)*storage;

  PetscFunctionBegin;
  if (!c) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFree(&c->strip));
  PetscCall(SpmvFree(&c->word));
  PetscCall(SpmvFree(&c->value));
  PetscCall(SpmvFree(&c->items));
  PetscCall(SpmvFree(&c->step));
  PetscCall(SpmvFree(&c->lane));
  PetscCall(SpmvFree(&c->active));
  PetscCall(SpmvFree(&c->chunk));
  PetscCall(SpmvFree(&c->tail));
  PetscCall(SpmvFree(&c->segment));
  PetscCall(SpmvFree(&c->position));
  PetscCall(SpmvFree(&c->share));
  PetscCall(SpmvFree(&c->partial));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CmrsGetCSR - the matrix of a storage as CSR: row = strip height + rowinstrip

  Output Parameters:
+ i - [m + 1]
. j - [nz]
- a - [nz]

  Note:
  In each order the entries of one row stand by increasing column, so that they need no sorting.
*/
PetscErrorCode CmrsGetCSR(const CmrsStorage *c, PetscInt i[], PetscInt j[], PetscScalar a[])
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->m, &next));
  PetscCall(PetscArrayzero(i, c->m + 1));
  for (int place = 0; place < 2; place++) { /* count the entries of rows, then place them */
    for (PetscInt s = 0; s < c->strips; s++) {
      for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
        const uint64_t word = CmrsGetWord(c, k);
        const PetscInt row  = s * c->height + (PetscInt)(word % CMRS_HEIGHT_MAX);

        if (c->items && k % CMRS_GROUP >= c->items[k / CMRS_GROUP]) continue;
        if (!place) i[row + 1]++;
        else {
          j[next[row]]   = (PetscInt)(word >> CMRS_BITS);
          a[next[row]++] = c->value[k];
        }
      }
    }
    for (PetscInt r = 0; !place && r < c->m; r++) {
      next[r] = i[r];
      i[r + 1] += i[r];
    }
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}
