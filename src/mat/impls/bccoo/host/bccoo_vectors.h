/*
  bccoo_vectors.h - what a product reads and writes, the same for both ways through a storage
*/
#pragma once
#include "bccoo_host.h"
#include "../../../../host/simd/values.h"

/* The vector that a part of a product writes: y, or the partial products of slices; that of a transposed product is added to */
typedef struct {
  PetscScalar *y;
  PetscBool    beta;
  size_t       limit;                  /* rows */
  PetscScalar  carry[BCCOO_BLOCK_MAX]; /* [h] what the part leaves of a block row that ends after it */
} BccooOutput;

#define BCCOO_DECODE(CODING) \
  for (size_t k = 0; k < n; k += 8) Spmv8Store(buffer + k, Spmv8Value(&t, data, k, SPMV_CODING_##CODING))
/*
  The values of n 1x1 blocks stored from place q on, whole groups of tiles but at the end: as they are stored or, if coded, in the
  buffer, which has room for a multiple of eight; 0 where there is padding. again: those of places before
  are in the buffer, no fewer than these
*/
SPMV_INLINE const PetscScalar *BccooDecoded(const BccooBlocks *b, size_t q, size_t n, int again, PetscScalar buffer[])
{
  const SpmvValues *c     = b->coded;
  const size_t      bunch = (size_t)b->bunch, tile = (size_t)b->tile;
  const char       *data;
  SpmvTable         t;

  if (!c) return b->value + q;
  if (c->coding == SPMV_CODING_PLAIN) return (const PetscScalar *)c->data + q;
  data = (const char *)c->data + q * SpmvCodingSize(c->coding);
  t    = SpmvValuesTable(c);
  if (c->coding == SPMV_CODING_ONE) {
    if (!again) BCCOO_DECODE(ONE);
  } else if (c->coding == SPMV_CODING_FEW) BCCOO_DECODE(FEW);
  else if (c->coding == SPMV_CODING_MANY) BCCOO_DECODE(MANY);
  else BCCOO_DECODE(FLOAT);
  for (size_t k = 0; k < n && q + n > b->nblocks; k++) {
    if (q + k % bunch * tile + k / bunch >= b->nblocks) buffer[k] = 0;
  }
  return buffer;
}
#undef BCCOO_DECODE

/* The same of blocks of any size: larger ones are not coded */
SPMV_INLINE const PetscScalar *BccooValuesOf(const BccooBlocks *b, size_t q, size_t n, int again, PetscInt h, PetscInt w,
                                             PetscScalar buffer[])
{
  return h * w == 1 ? BccooDecoded(b, q, n, again, buffer) : b->value + q * (size_t)(h * w);
}

/* Adds one value to, or stores it as, entry r of the result */
SPMV_INLINE void BccooPut(const BccooOutput *o, size_t r, PetscScalar value)
{
  o->y[r] = o->beta ? o->y[r] + value : value;
}

/* The part of x that block row number k multiplies in a transposed product; zeros for rows past the last, and k past the last */
SPMV_INLINE void BccooRowOf(const BccooBlocks *b, const PetscScalar x[], size_t k, PetscInt h, PetscScalar own[])
{
  const int    there = k < (size_t)b->nrows; /* without rows mb is 0 */
  const size_t row = there ? BccooRow(b, k) : 0, r = (!there || b->slices == 1 ? row : row % (size_t)b->mb) * (size_t)h;

  for (PetscInt i = 0; i < h; i++) {
    const size_t at = r + (size_t)i;

    own[i] = there && (h == 1 || at < (size_t)b->m) ? x[at] : 0;
  }
}

/*
  Tiles [first, last) after those before them: their first result is given what was left for it, and what they leave is theirs,
  own[i * stride] of row i of a block row, or, if no row stops in them, added to that
*/
SPMV_INLINE void BccooCarry(const BccooBlocks *b, size_t first, size_t last, const PetscScalar own[], size_t stride, PetscInt h,
                            BccooOutput *o)
{
  const int32_t k     = b->entry[first];
  const int     stops = b->entry[last] > k;

  for (PetscInt i = 0; i < h; i++) {
    const PetscScalar sum = own[(size_t)i * stride];
    const size_t      r   = stops ? BccooRow(b, (size_t)k) * (size_t)h + (size_t)i : 0;

    if (stops && r < o->limit) o->y[r] += o->carry[i];
    o->carry[i] = stops ? sum : o->carry[i] + sum;
  }
}
