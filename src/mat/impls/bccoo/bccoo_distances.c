/*
  bccoo_distances.c - 16-bit columns for a device: distances from a base that some blocks have in common

  The work items of a device read blocks side by side, whoever's tile they are in ("online transpose"), so that no column may
  depend on the one before. `reach` blocks that follow each other in row order, a divisor of the tile of at most 32, have a base:
  the one of their columns that the most of them follow by less than 2^15. A column is stored

    c         base + c, if c < 2^15
    2^15 + k  base + number k of the list of its `listed` tiles, which have 2^15 blocks at most

  A list has each distance once, in increasing order. Of a stencil all work groups have the same few: of 7 points in 200^3, whose
  planes are further apart than 2^15, 29 % of the columns are far, at 6 distances a work group of 2048.

  Source: as bccoo.c, section 2.2. We differ: it takes differences from one column to the next, and reads the column itself from
  another array where one does not fit. That is a branch in the loop over a tile, which a warp of 32 takes if one work item does:
  with one far column in 16, 1 - (15/16)^32 = 87 % of the warps. Here a far column is one more load, which no other waits for.
*/
#include "bccoo_knobs.h"

#define BCCOO_NEAR (INT16_MAX + 1) /* distances that need no list */

/* The base of n columns */
static int32_t BccooBaseOf(const int32_t c[], size_t n)
{
  int32_t low = n ? c[0] : 0, high = low, base = low, most = 0;

  for (size_t k = 1; k < n; k++) {
    low  = PetscMin(low, c[k]);
    high = PetscMax(high, c[k]);
  }
  if (high - low < BCCOO_NEAR) return low;
  for (size_t k = 0; k < n; k++) {
    int32_t near = 0;

    for (size_t l = 0; l < n; l++) near += c[l] >= c[k] && c[l] - c[k] < BCCOO_NEAR;
    if (near > most) {
      most = near;
      base = c[k];
    }
  }
  return base;
}

static inline PetscBool BccooIsFar(int32_t distance)
{
  return (PetscBool)(distance < 0 || distance >= BCCOO_NEAR);
}

/* Bases; returns how many columns are far from theirs */
static size_t BccooSetBases(BccooBlocks *b)
{
  const size_t reach = (size_t)b->reach, n = BccooBases(b);
  size_t       far = 0;

  for (size_t t = 0, q = 0; t < n; t++, q = PetscMin(q + reach, b->nblocks)) {
    const size_t   end = PetscMin(q + reach, b->nblocks);
    const int32_t *c   = b->found;

    b->base[t] = BccooBaseOf(c + q, end - q);
    for (size_t k = q; k < end; k++) far += BccooIsFar(c[k] - b->base[t]);
  }
  return far;
}

/* The lists of distances that are far, which are so many at most */
static PetscErrorCode BccooSetLists(BccooBlocks *b)
{
  const size_t reach = (size_t)b->reach, list = (size_t)b->listed * (size_t)b->tile, nlists = b->ntiles / (size_t)b->listed;
  SPMV_TEMPORARY
  PetscInt *distance = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(list, &distance));
  for (size_t l = 0; l < nlists; l++) {
    PetscInt n = 0;

    b->escape[l] = (int32_t)b->nescaped;
    for (size_t q = l * list; q < PetscMin((l + 1) * list, b->nblocks); q++) {
      const int32_t d = b->found[q] - b->base[q / reach];

      if (BccooIsFar(d)) distance[n++] = d;
    }
    PetscCall(PetscSortRemoveDupsInt(&n, distance));
    for (PetscInt k = 0; k < n; k++) b->escaped[b->nescaped++] = (int32_t)distance[k];
  }
  b->escape[nlists] = (int32_t)b->nescaped;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Bases and lists, once all columns are known; and which kind of columns serves a device, where that is left open.

  A warp's 32 columns of 16 bits are 64 bytes less to read. Whether one work item of it looks up a distance or all do is one more
  load for the warp, so it is not the probability of that which counts but the bytes: of the list in memory, 4 an element, and of
  the lookups in L1, a sector of 32 each where they are apart. L1 is some 9 times as fast as a processor's share of the memory
  (H100: 128 against 14 bytes a cycle), so a lookup is worth 4 bytes of memory as well
*/
PetscErrorCode BccooDistancesScan(BccooBlocks *b)
{
  const PetscBool open  = (PetscBool)(b->columns == BCCOO_COLUMNS_AUTO);
  const size_t    worth = b->nblocks / 2; /* 4 (far + elements) bytes <= 2 blocks bytes */
  size_t          far;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(BccooBases(b) * sizeof(int32_t), &b->base));
  far = BccooSetBases(b);
  PetscCheck(far <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu columns are far from their tile's, more than 32-bit integers count; set -mat_bccoo_columns to int32", far);
  if (!open || far <= worth) {
    PetscCall(SpmvAlloc((b->ntiles / (size_t)b->listed + 1) * sizeof(int32_t), &b->escape));
    PetscCall(SpmvAlloc(far * sizeof(int32_t), &b->escaped));
    PetscCall(BccooSetLists(b));
  }
  if (open) b->columns = far + b->nescaped <= worth ? BCCOO_COLUMNS_DIFFERENCE : BCCOO_COLUMNS_INT32;
  if (b->columns != BCCOO_COLUMNS_DIFFERENCE) PetscCall(SpmvFree(&b->base));
  if (b->columns != BCCOO_COLUMNS_DIFFERENCE || !b->nescaped) PetscCall(SpmvFree(&b->escaped));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns as they are stored */
void BccooDistancesSet(BccooBlocks *b)
{
  const size_t tile = (size_t)b->tile, reach = (size_t)b->reach, step = b->depth == 1 ? 1 : (size_t)b->bunch;

  for (size_t t = 0; t < b->ntiles; t++) {
    const size_t   end  = PetscMin((t + 1) * tile, b->nblocks);
    const int32_t *list = b->nescaped ? b->escaped + b->escape[t / (size_t)b->listed] : NULL;
    uint16_t      *c    = (uint16_t *)b->column + BccooPlace(b, t * tile, 1);

    for (size_t q = t * tile; q < end; q++, c += step) {
      const int32_t d = b->found[q] - b->base[q / reach];
      size_t        k = 0;

      if (!BccooIsFar(d)) *c = (uint16_t)d;
      else {
        size_t last = (size_t)(b->escape[t / (size_t)b->listed + 1] - b->escape[t / (size_t)b->listed]);

        while (k < last) { /* the first element that is d or more: it is d */
          const size_t middle = (k + last) / 2;

          if (list[middle] < d) k = middle + 1;
          else last = middle;
        }
        *c = (uint16_t)(BCCOO_NEAR + k);
      }
    }
  }
}
