/*
  bccoo_values.c - the values of a BCCOO storage, from CSR's: at a build, and whenever they change
*/
#include "bccoo.h"

/* One past the last block of the block row that starts with block q, number k of those that have any; t: a tile not after the one it ends in */
static size_t BccooRowEnd(const BccooStorage *b, size_t q, size_t k, size_t *t)
{
  if (b->stop) {
    while ((size_t)b->entry[*t + 1] <= k) ++*t;
    return *t * (size_t)b->tile + b->stop[k] / (size_t)b->bunch + 1;
  }
  for (size_t n; q < b->nblocks; q += n) {
    const uint64_t stops = BccooStops(b, q, n = 64 - q % 8);

    if (stops) return q + (size_t)__builtin_ctzll(stops) + 1;
  }
  return b->nblocks;
}

/* 1x1 blocks in one slice, `bunch` tiles of values beside each other: bunch is b->bunch, for the compiler to unroll by */
static inline __attribute__((always_inline)) void BccooInterleave(BccooStorage *b, const PetscScalar *a, size_t bunch)
{
  const size_t tile = (size_t)b->tile, group = tile * bunch;
  size_t       g = 0;

  for (; g + group <= b->nblocks; g += group) {
    for (size_t k = 0; k < tile; k++) {
      __builtin_prefetch(a + g + group + k * bunch); /* a line of the next group: eight streams at once are too many for the hardware */
      for (size_t l = 0; l < bunch; l++) b->value[g + k * bunch + l] = a[g + l * tile + k];
    }
  }
  for (; g < b->nblocks; g++) b->value[BccooPlace(b, g)] = a[g];
}

/* 1x1 blocks in one slice: the values in row order, or tile by tile beside each other */
static void BccooSetValues_1x1(BccooStorage *b, const PetscScalar *a)
{
  if (b->bunch == 1) memcpy(b->value, a, b->nblocks * sizeof(PetscScalar));
  else if (b->bunch == BCCOO_LANES) BccooInterleave(b, a, BCCOO_LANES);
  else BccooInterleave(b, a, (size_t)b->bunch);
}

/* A block row without fill is transposed block by block, with no look at columns */
static inline __attribute__((always_inline)) void BccooSetFullRow(PetscScalar *value, BccooTarget to, const PetscScalar *a, PetscInt length, PetscInt h, PetscInt w)
{
  for (const PetscScalar *stop = a + length; a < stop; a += w) {
    for (PetscInt j = 0; j < w; j++) {
      for (PetscInt i = 0; i < h; i++) value[to.value + (size_t)(j * h + i) * to.bunch] = a[i * length + j];
    }
    BccooTargetAdvance(&to);
  }
}

/* The same for some shapes and bunches, which the compiler knows then */
static void BccooSetFull(const BccooStorage *b, size_t q, const PetscScalar *a, PetscInt length)
{
  const PetscInt h = b->h, w = b->w;
  BccooTarget    to = BccooTargetOf(b, q);

#define BCCOO_FULL_ROW(H, W) \
  if (h == H && w == W && to.bunch == BCCOO_LANES) { \
    to.bunch = BCCOO_LANES; \
    BccooSetFullRow(b->value, to, a, length, H, W); \
  } else if (h == H && w == W && to.bunch == 1) { \
    to.bunch = 1; \
    BccooSetFullRow(b->value, to, a, length, H, W); \
  } else
  BCCOO_FULL_ROW(2, 2)
  BCCOO_FULL_ROW(3, 3)
  BCCOO_FULL_ROW(4, 4)
  BCCOO_FULL_ROW(6, 6)
  BccooSetFullRow(b->value, to, a, length, h, w);
#undef BCCOO_FULL_ROW
}

/*
  BccooSetValues - the values of the matrix into a storage with its pattern

  Input Parameters:
+ csr     - the matrix
- storage - made by BccooBuild() from a matrix with the same pattern
*/
PetscErrorCode BccooSetValues(const SpmvCSR *csr, void *storage)
{
  BccooStorage   *b        = (BccooStorage *)storage;
  const PetscInt  h        = b->h;
  const uint32_t *position = b->position;
  size_t          q = 0, k = 0, t = 0;

  PetscFunctionBegin;
  if (b->converted) { /* by the device, which is sent them */
    b->csr = *csr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (h * b->w == 1 && b->slices == 1) {
    BccooSetValues_1x1(b, csr->a);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (b->npositions == (size_t)csr->i[csr->m]) {
    for (PetscInt e = 0; e < csr->i[csr->m]; e++) b->value[position[e]] = csr->a[e];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt row = 0; row < csr->m; row += h) {
    const PetscInt     rows = PetscMin(h, csr->m - row), entries = csr->i[row + rows] - csr->i[row];
    const PetscScalar *a = csr->a + csr->i[row];
    size_t             end;

    if (!entries) continue;
    end = BccooRowEnd(b, q, k++, &t);
    if (BccooIsFull(b, (size_t)entries, end - q)) BccooSetFull(b, q, a, entries / rows);
    else {
      for (PetscInt e = 0; e < entries; e++) b->value[*position++] = a[e];
    }
    q = end;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
