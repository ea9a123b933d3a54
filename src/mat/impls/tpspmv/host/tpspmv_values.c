/*
  tpspmv_values.c - the entries of a tpSpMV storage, from CSR's: their columns at a build, their values whenever they change

  Slice after slice, so that a slice's rows in CSR stay in cache while its chunks, far apart, are written one after the
  other. The entries of a row come in the order of tiles, which is CSR's: a cursor for each row is all that has to be known.
*/
#include "tpspmv_host.h"
#include "../../../../host/prefetch.h"

#define TPSPMV_PREFETCH 512 /* entries between what is in use and what is prefetched */

#define TPSPMV_INLINE static inline __attribute__((always_inline))

typedef struct {
  const SpmvCSR *csr;
  TpspmvStorage *b;
  const char    *a;      /* the values, coded, in the order of CSR ... */
  char          *value;  /* ... and of the storage */
  PetscInt      *cursor; /* [height] the next entry of each row of the slice */
} TpspmvSetter;

/* The columns of the first `lanes` pairs of a group; narrow and lanes are constants, and whether columns have other numbers */
TPSPMV_INLINE void TpspmvSetColumns(const TpspmvSetter *set, const PetscInt i[], PetscInt lanes, PetscInt length, size_t column,
                                    int32_t base, const int32_t *number, PetscBool narrow)
{
  void           *index = set->b->index;
  const PetscInt *j[TPSPMV_LANES]; /* these stay in registers */

  for (PetscInt l = 0; l < lanes; l++) j[l] = set->csr->j + i[l];
  for (PetscInt k = 0; k < length; k++) {
#pragma GCC unroll 8
    for (PetscInt l = 0; l < lanes; l++, column++)
      TpspmvSetIndex(index, narrow, column, (number ? number[j[l][k]] : (int32_t)j[l][k]) - base);
  }
}

static void TpspmvSetGroupColumns(const TpspmvSetter *set, const PetscInt i[], const TpspmvRun *run, size_t column, int32_t base)
{
  const TpspmvStorage *b      = set->b;
  const PetscInt       length = run->length, lanes = run->consecutive ? 1 : TPSPMV_LANES;
  const int32_t       *number = b->cut.number;

  if (b->prefetch)
    SpmvPrefetch(set->csr->j + i[0] + TPSPMV_PREFETCH, (size_t)(lanes * length) * sizeof(PetscInt)); /* as values, below */
  if (number) TpspmvSetColumns(set, i, lanes, length, column, base, number, b->narrow);
  else if (run->consecutive && b->narrow) TpspmvSetColumns(set, i, 1, length, column, base, NULL, PETSC_TRUE);
  else if (run->consecutive) TpspmvSetColumns(set, i, 1, length, column, base, NULL, PETSC_FALSE);
  else if (b->narrow) TpspmvSetColumns(set, i, TPSPMV_LANES, length, column, base, NULL, PETSC_TRUE);
  else TpspmvSetColumns(set, i, TPSPMV_LANES, length, column, base, NULL, PETSC_FALSE);
}

/* A group of pairs of `length` entries; column: its first one; size, here and below: bytes of a value */
TPSPMV_INLINE void TpspmvSetGroup(const TpspmvSetter *set, const uint16_t row[], const TpspmvRun *run, size_t place,
                                  size_t column, int32_t base, size_t size, PetscBool build)
{
  TpspmvStorage *b      = set->b;
  const PetscInt length = run->length;
  const size_t   step = size * TPSPMV_LANES, ahead = size * TPSPMV_PREFETCH;
  PetscInt       i[TPSPMV_LANES];
  char          *v = set->value + place * size;
  const char    *a[TPSPMV_LANES];

  for (PetscInt l = 0; l < TPSPMV_LANES; l++) {
    i[l] = set->cursor[row[l]];
    set->cursor[row[l]] += length;
  }
  if (build) TpspmvSetGroupColumns(set, i, run, column, base);
  for (PetscInt l = 0; l < TPSPMV_LANES; l++) a[l] = set->a + (size_t)i[l] * size; /* these stay in registers */
  for (PetscInt k = 0; k < length && size; k++, v += step) {
    if (b->prefetch) { /* the hardware cannot follow eight streams; where rows are sorted, the next groups are about here */
      SpmvPrefetch(a[0] + (size_t)k * step + ahead, 1);
      __builtin_prefetch(v + ahead, 1);
    }
#pragma GCC unroll 8
    for (PetscInt l = 0; l < TPSPMV_LANES; l++) memcpy(v + (size_t)l * size, a[l] + (size_t)k * size, size);
  }
}

/* The value of an entry to a place */
TPSPMV_INLINE void TpspmvSetValue(const TpspmvSetter *set, size_t place, PetscInt entry, size_t size)
{
  memcpy(set->value + place * size, set->a + (size_t)entry * size, size);
}

/* Up to eight pairs of falling length; returns the place after them */
TPSPMV_INLINE size_t TpspmvSetRagged(const TpspmvSetter *set, const uint16_t row[], const uint8_t length[], PetscInt rows,
                                     size_t place, size_t column, int32_t base, size_t size, PetscBool build)
{
  TpspmvStorage  *b      = set->b;
  const PetscBool narrow = b->narrow;

  for (PetscInt k = 0, n = rows; k < length[0]; k++) {
    while (length[n - 1] <= k) n--;
    for (PetscInt l = 0; l < n; l++, place++) {
      const PetscInt entry = set->cursor[row[l]] + k;

      if (build) TpspmvSetIndex(b->index, narrow, column++, TpspmvNumber(&b->cut, set->csr, entry) - base);
      TpspmvSetValue(set, place, entry, size);
    }
  }
  for (PetscInt l = 0; l < rows; l++) set->cursor[row[l]] += length[l];
  return place;
}

TPSPMV_INLINE void TpspmvSetChunk(const TpspmvSetter *set, const TpspmvChunk *chunk, PetscInt firstrow, size_t size,
                                  PetscBool build)
{
  TpspmvStorage  *b   = set->b;
  const uint16_t *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t  *ragged = b->ragged + chunk->ragged;
  size_t          place = (size_t)chunk->entry, column = (size_t)chunk->column;

  for (const TpspmvRun *run = b->run + chunk->run; run < b->run + chunk[1].run; run++) {
    const size_t length = (size_t)run->length;

    for (int32_t g = 0; g < run->groups; g++, row += TPSPMV_LANES, place += TPSPMV_LANES * length) {
      TpspmvSetGroup(set, row, run, place, column, chunk->base, size, build);
      column += run->consecutive ? length : TPSPMV_LANES * length;
    }
  }
  for (; row < end; row += TPSPMV_LANES, ragged += TPSPMV_LANES) {
    const PetscInt rows = PetscMin(TPSPMV_LANES, end - row);
    const size_t   next = TpspmvSetRagged(set, row, ragged, rows, place, column, chunk->base, size, build);

    column += next - place;
    place = next;
  }
  for (const TpspmvSegment *s = b->segment + chunk->segment; s < b->segment + chunk[1].segment; s++) {
    PetscInt *k = &set->cursor[s->row - firstrow];

    for (size_t e = (size_t)s->entry; e < (size_t)s[1].entry; e++, ++*k) {
      if (build) TpspmvSetIndex(b->longindex, b->narrowlong, e, TpspmvNumber(&b->cut, set->csr, *k) - s->base);
      TpspmvSetValue(set, b->nentries + e, *k, size);
    }
  }
}

/* Sets values of so many bytes, and, at a build, the columns. No product has the fill in its sums: it is left as it is */
TPSPMV_INLINE void TpspmvSetAll(const TpspmvSetter *set, size_t size, PetscBool build)
{
  const TpspmvStorage *b   = set->b;
  const PetscInt      *row = set->csr->i;

  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(&b->cut, s), end = TpspmvSliceFirst(&b->cut, s + 1);

    memcpy(set->cursor, row + first, (size_t)(end - first) * sizeof(*row));
    for (PetscInt t = 0; t < b->cut.ntiles; t++) TpspmvSetChunk(set, &b->chunk[t * b->cut.nslices + s], first, size, build);
  }
}

TPSPMV_INLINE PetscErrorCode TpspmvSet(const SpmvCSR *csr, TpspmvStorage *b, PetscBool build)
{
  SPMV_DESTROY_BY(SpmvCodesDestroy)
  SpmvCodes                codes  = {.own = NULL};
  SPMV_TEMPORARY PetscInt *cursor = NULL;
  TpspmvSetter             set    = {.csr = csr, .b = b};

  PetscFunctionBegin;
  PetscCall(SpmvCodesCreate(csr, (SpmvValuesWanted)b->wanted, &codes));
  PetscCall(SpmvValuesTake(&b->value, b->nentries + b->nlong, b->threads, &codes));
  PetscCall(PetscMalloc1(b->cut.height, &cursor));
  set.a      = codes.data;
  set.value  = (char *)b->value.data;
  set.cursor = cursor;
  if (codes.size == sizeof(PetscScalar)) TpspmvSetAll(&set, sizeof(PetscScalar), build);
  else if (codes.size == sizeof(uint8_t)) TpspmvSetAll(&set, sizeof(uint8_t), build);
  else if (codes.size) TpspmvSetAll(&set, sizeof(float), build);
  else if (build) TpspmvSetAll(&set, 0, build);
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
