/*
  tpspmv_values.c - the entries of a tpSpMV storage, from CSR's: their columns at a build, their values whenever they change

  Slice after slice, so that a slice's rows in CSR stay in cache while its chunks, far apart, are written one after the
  other. The entries of a row come in the order of tiles, which is CSR's: a cursor for each row is all that has to be known.
*/
#include "../tpspmv_walk.h"
#include "tpspmv_host.h"

#define TPSPMV_PREFETCH 512 /* entries between what is in use and what is asked for */

typedef struct {
  const SpmvCSR *csr;
  TpspmvStorage *b;
  PetscInt      *cursor; /* [height] the next entry of each row of the slice */
} TpspmvSetter;

/* One entry: entry k of CSR to a place among those of chunks, or of pieces */
static inline __attribute__((always_inline)) void TpspmvSetOne(const TpspmvSetter *set, size_t place, PetscInt k, int32_t base,
                                                               PetscBool indices, PetscBool piece)
{
  TpspmvStorage *b = set->b;

  if (indices) {
    const int32_t c     = TpspmvNumber(&b->cut, set->csr, k) - base;
    void         *index = piece ? b->longindex : b->index;

    if (piece ? b->narrowlong : b->narrow) ((uint16_t *)index)[place] = (uint16_t)c;
    else ((int32_t *)index)[place] = c;
  } else b->value[piece ? b->nentries + place : place] = set->csr->a[k];
}

/* A group of pairs of `length` entries, from place on */
static inline __attribute__((always_inline)) size_t TpspmvSetGroup(const TpspmvSetter *set, const uint16_t row[], PetscInt length,
                                                                   size_t place, int32_t base, PetscBool indices)
{
  PetscInt from[TPSPMV_LANES];

  for (PetscInt l = 0; l < TPSPMV_LANES; l++) {
    from[l] = set->cursor[row[l]];
    set->cursor[row[l]] += length;
  }
  if (indices) {
    for (PetscInt k = 0; k < length; k++) {
      for (PetscInt l = 0; l < TPSPMV_LANES; l++)
        TpspmvSetOne(set, place + (size_t)(k * TPSPMV_LANES + l), from[l] + k, base, indices, PETSC_FALSE);
    }
  } else { /* an address for each row, which stay in registers */
    const PetscScalar *a0 = set->csr->a + from[0], *a1 = set->csr->a + from[1], *a2 = set->csr->a + from[2],
                      *a3 = set->csr->a + from[3];
    const PetscScalar *a4 = set->csr->a + from[4], *a5 = set->csr->a + from[5], *a6 = set->csr->a + from[6],
                      *a7 = set->csr->a + from[7];
    PetscScalar *v        = set->b->value + place;

    for (PetscInt k = 0; k < length; k++, v += TPSPMV_LANES) {
      if (
        set->b
          ->prefetch) { /* eight streams at once are too many for the hardware; where rows are sorted, this is about where groups to come are */
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
  return place + (size_t)(TPSPMV_LANES * length);
}

/* Up to eight pairs of falling length */
static inline __attribute__((always_inline)) size_t TpspmvSetRagged(const TpspmvSetter *set, const uint16_t row[],
                                                                    const uint8_t length[], PetscInt rows, size_t place,
                                                                    int32_t base, PetscBool indices)
{
  for (PetscInt k = 0, n = rows; k < length[0]; k++) {
    while (length[n - 1] <= k) n--;
    for (PetscInt l = 0; l < n; l++) TpspmvSetOne(set, place++, set->cursor[row[l]] + k, base, indices, PETSC_FALSE);
  }
  for (PetscInt l = 0; l < rows; l++) set->cursor[row[l]] += length[l];
  return place;
}

static inline __attribute__((always_inline)) void TpspmvSetEntries(const TpspmvSetter *set, const TpspmvChunk *chunk,
                                                                   PetscInt firstrow, PetscBool indices)
{
  TpspmvStorage  *b   = set->b;
  const uint16_t *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t  *ragged = b->ragged + chunk->ragged;
  size_t          place  = (size_t)chunk->entry;

  for (int32_t r = chunk->run; r < chunk[1].run; r++) {
    for (int32_t g = 0; g < b->run[r].groups; g++, row += TPSPMV_LANES)
      place = TpspmvSetGroup(set, row, b->run[r].length, place, chunk->base, indices);
  }
  for (; row < end; row += TPSPMV_LANES, ragged += TPSPMV_LANES)
    place = TpspmvSetRagged(set, row, ragged, PetscMin(TPSPMV_LANES, end - row), place, chunk->base, indices);
  for (; place < (size_t)chunk[1].entry; place++) { /* no product reads the fill */
    if (!indices) b->value[place] = 0;
    else if (b->narrow) ((uint16_t *)b->index)[place] = 0;
    else ((int32_t *)b->index)[place] = 0;
  }
  for (int32_t p = chunk->piece; p < chunk[1].piece; p++) {
    const TpspmvPiece *piece = b->piece + p;
    PetscInt          *k     = &set->cursor[piece->row - firstrow];

    for (int64_t e = piece->entry; e < piece[1].entry; e++)
      TpspmvSetOne(set, (size_t)e, (*k)++, piece->base, indices, PETSC_TRUE);
  }
}

static inline __attribute__((always_inline)) PetscErrorCode TpspmvSet(const SpmvCSR *csr, TpspmvStorage *b, PetscBool indices)
{
  TpspmvSetter set = {.csr = csr, .b = b};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(b->cut.height, &set.cursor));
  for (PetscInt s = 0; s < b->cut.nslices; s++) {
    const PetscInt first = TpspmvSliceFirst(&b->cut, s);

    PetscCall(PetscArraycpy(set.cursor, csr->i + first, TpspmvSliceFirst(&b->cut, s + 1) - first));
    for (PetscInt t = 0; t < b->cut.ntiles; t++)
      TpspmvSetEntries(&set, &b->chunk[(size_t)t * (size_t)b->cut.nslices + (size_t)s], first, indices);
  }
  PetscCall(PetscFree(set.cursor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of all entries */
PetscErrorCode TpspmvSetIndices(const SpmvCSR *csr, TpspmvStorage *b)
{
  PetscFunctionBegin;
  PetscCall(TpspmvSet(csr, b, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  TpspmvSetValues - the values of the matrix into a storage with its pattern

  Input Parameters:
+ csr     - the matrix
- storage - made by TpspmvBuild() from a matrix with the same pattern
*/
PetscErrorCode TpspmvSetValues(const SpmvCSR *csr, void *storage)
{
  PetscFunctionBegin;
  PetscCall(TpspmvSet(csr, (TpspmvStorage *)storage, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
