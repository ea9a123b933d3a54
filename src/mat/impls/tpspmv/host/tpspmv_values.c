/*
  tpspmv_values.c - the entries of a tpSpMV storage, from CSR's: their columns at a build, their values whenever they change

  Slice after slice, so that a slice's rows in CSR stay in cache while its chunks, far apart, are written one after the
  other. The entries of a row come in the order of tiles, which is CSR's: a cursor for each row is all that has to be known.
*/
#include "tpspmv_host.h"

#define TPSPMV_PREFETCH 512 /* entries between what is in use and what is prefetched */

#define TPSPMV_INLINE static inline __attribute__((always_inline))

typedef struct {
  const SpmvCSR *csr;
  TpspmvStorage *b;
  PetscInt      *cursor; /* [height] the next entry of each row of the slice */
} TpspmvSetter;

/* A group of pairs of `length` entries */
TPSPMV_INLINE void TpspmvSetGroup(const TpspmvSetter *set, const uint16_t row[], PetscInt length, size_t place, int32_t base,
                                  PetscBool build)
{
  TpspmvStorage     *b      = set->b;
  const PetscBool    narrow = b->narrow;
  PetscInt           i[TPSPMV_LANES];
  PetscScalar       *v = b->value + place;
  const PetscScalar *a = set->csr->a, *a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7;

  for (PetscInt l = 0; l < TPSPMV_LANES; l++) {
    i[l] = set->cursor[row[l]];
    set->cursor[row[l]] += length;
  }
  for (PetscInt k = 0; build && k < length; k++) {
    for (PetscInt l = 0; l < TPSPMV_LANES; l++)
      TpspmvSetIndex(b->index, narrow, place++, TpspmvNumber(&b->cut, set->csr, i[l] + k) - base);
  }
  /* an address for each row, which stay in registers */
  a0 = a + i[0], a1 = a + i[1], a2 = a + i[2], a3 = a + i[3], a4 = a + i[4], a5 = a + i[5], a6 = a + i[6], a7 = a + i[7];
  for (PetscInt k = 0; k < length; k++, v += TPSPMV_LANES) {
    if (b->prefetch) { /* the hardware cannot follow eight streams; where rows are sorted, the next groups are about here */
      __builtin_prefetch(a0 + k * TPSPMV_LANES + TPSPMV_PREFETCH);
      __builtin_prefetch(v + TPSPMV_PREFETCH, 1);
    }
    v[0] = a0[k];
    v[1] = a1[k];
    v[2] = a2[k];
    v[3] = a3[k];
    v[4] = a4[k];
    v[5] = a5[k];
    v[6] = a6[k];
    v[7] = a7[k];
  }
}

/* Up to eight pairs of falling length; returns the place after them */
TPSPMV_INLINE size_t TpspmvSetRagged(const TpspmvSetter *set, const uint16_t row[], const uint8_t length[], PetscInt rows,
                                     size_t place, int32_t base, PetscBool build)
{
  TpspmvStorage  *b      = set->b;
  const PetscBool narrow = b->narrow;

  for (PetscInt k = 0, n = rows; k < length[0]; k++) {
    while (length[n - 1] <= k) n--;
    for (PetscInt l = 0; l < n; l++, place++) {
      const PetscInt entry = set->cursor[row[l]] + k;

      if (build) TpspmvSetIndex(b->index, narrow, place, TpspmvNumber(&b->cut, set->csr, entry) - base);
      b->value[place] = set->csr->a[entry];
    }
  }
  for (PetscInt l = 0; l < rows; l++) set->cursor[row[l]] += length[l];
  return place;
}

TPSPMV_INLINE void TpspmvSetChunk(const TpspmvSetter *set, const TpspmvChunk *chunk, PetscInt firstrow, PetscBool build)
{
  TpspmvStorage  *b   = set->b;
  const uint16_t *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t  *ragged = b->ragged + chunk->ragged;
  size_t          place  = (size_t)chunk->entry;

  for (const TpspmvRun *run = b->run + chunk->run; run < b->run + chunk[1].run; run++) {
    for (int32_t g = 0; g < run->groups; g++, row += TPSPMV_LANES, place += (size_t)(TPSPMV_LANES * run->length))
      TpspmvSetGroup(set, row, run->length, place, chunk->base, build);
  }
  for (; row < end; row += TPSPMV_LANES, ragged += TPSPMV_LANES)
    place = TpspmvSetRagged(set, row, ragged, PetscMin(TPSPMV_LANES, end - row), place, chunk->base, build);
  for (const TpspmvSegment *s = b->segment + chunk->segment; s < b->segment + chunk[1].segment; s++) {
    PetscInt *k = &set->cursor[s->row - firstrow];

    for (size_t e = (size_t)s->entry; e < (size_t)s[1].entry; e++, ++*k) {
      if (build) TpspmvSetIndex(b->longindex, b->narrowlong, e, TpspmvNumber(&b->cut, set->csr, *k) - s->base);
      b->value[b->nentries + e] = set->csr->a[*k];
    }
  }
}

/* Sets the values, and, at a build, the columns. No product reads the fill: it is left as it is */
TPSPMV_INLINE PetscErrorCode TpspmvSet(const SpmvCSR *csr, TpspmvStorage *b, PetscBool build)
{
  SPMV_TEMPORARY PetscInt *cursor = NULL;
  TpspmvSetter             set    = {.csr = csr, .b = b};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->cut.height, &cursor));
  set.cursor = cursor;
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(&b->cut, s);

    PetscCall(PetscArraycpy(cursor, csr->i + first, TpspmvSliceFirst(&b->cut, s + 1) - first));
    for (PetscInt t = 0; t < b->cut.ntiles; t++) TpspmvSetChunk(&set, &b->chunk[t * b->cut.nslices + s], first, build);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvSetEntries(const SpmvCSR *csr, TpspmvStorage *b)
{
  PetscFunctionBegin;
  PetscCall(TpspmvSet(csr, b, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvSetValues(const SpmvCSR *csr, void *storage)
{
  PetscFunctionBegin;
  PetscCall(TpspmvSet(csr, (TpspmvStorage *)storage, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
