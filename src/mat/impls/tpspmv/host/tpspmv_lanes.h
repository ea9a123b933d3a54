/*
  tpspmv_lanes.h - what a product does with a chunk and with a segment of a long row

  A lane holds a pair. Where pairs have the same number of entries, a group has no branch for each; the ragged rest loses
  lanes as its shorter pairs end. Whether columns are uint16, and where sums go, are constants in each copy of these.
*/
#pragma once
#include "tpspmv_host.h"
#include "../../../../host/simd/simd.h"

/* Bytes between what is in use and what is prefetched, into the second cache */
#define TPSPMV_PREFETCH_COLUMNS 2048
#define TPSPMV_PREFETCH_VALUES  8192

/* Where the sums of pairs go */
typedef enum {
  TPSPMV_SET,  /* one tile: y */
  TPSPMV_ADD,  /* one tile: to what y holds */
  TPSPMV_KEEP, /* several tiles: partial sums */
  TPSPMV_PAST  /* the same, past the cache */
} TpspmvTarget;

/* The eight entries of a step, and on to the next */
typedef struct {
  const PetscScalar *value;
  const char        *index;
  const PetscScalar *x; /* from the column on that indices are relative to */
} TpspmvCursor;

SPMV_INLINE TpspmvCursor TpspmvAt(const PetscScalar *value, const void *index, int64_t entry, const PetscScalar *x,
                                  PetscBool narrow)
{
  return (TpspmvCursor){value + entry, (const char *)index + (size_t)entry * TpspmvIndexSize(narrow), x};
}

SPMV_INLINE Spmv8 TpspmvX(const TpspmvCursor *at, PetscBool narrow)
{
  return narrow ? Spmv8Gather(at->x, (const uint16_t *)at->index) : Spmv8Gather(at->x, (const int32_t *)at->index);
}

SPMV_INLINE void TpspmvMove(TpspmvCursor *at, int n, PetscBool narrow)
{
  at->value += n;
  at->index += (size_t)n * TpspmvIndexSize(narrow);
}

SPMV_INLINE void TpspmvPrefetch(const TpspmvCursor *at)
{
  SpmvPrefetch((const char *)at->value + TPSPMV_PREFETCH_VALUES, 1);
  SpmvPrefetch(at->index + TPSPMV_PREFETCH_COLUMNS, 1);
}

/* The column of entry l of a step, relative to base */
SPMV_INLINE size_t TpspmvColumn(const TpspmvCursor *at, int l, PetscBool narrow)
{
  return narrow ? (size_t)((const uint16_t *)at->index)[l] : (size_t)((const int32_t *)at->index)[l];
}

/* sum + the products of a step with x, and on to the next step; consecutive: its columns are one after the other */
SPMV_INLINE Spmv8 TpspmvStep(TpspmvCursor *at, Spmv8 sum, PetscBool prefetch, PetscBool consecutive, PetscBool narrow)
{
  if (prefetch) TpspmvPrefetch(at);
  sum = Spmv8Fma(Spmv8Load(at->value), consecutive ? Spmv8Load(at->x + TpspmvColumn(at, 0, narrow)) : TpspmvX(at, narrow), sum);
  TpspmvMove(at, 8, narrow);
  return sum;
}

/* The same with the first n entries of a step */
SPMV_INLINE Spmv8 TpspmvStepFirst(TpspmvCursor *at, Spmv8 sum, int n, PetscBool narrow)
{
  const Spmv8 x =
    narrow ? Spmv8GatherFirst(at->x, (const uint16_t *)at->index, n) : Spmv8GatherFirst(at->x, (const int32_t *)at->index, n);

  sum = Spmv8Fma(Spmv8LoadFirst(at->value, n), x, sum);
  TpspmvMove(at, n, narrow);
  return sum;
}

/* The sums of a group to where they go: y is that of the slice, or the next partial sum, which is returned */
SPMV_INLINE PetscScalar *TpspmvPut(Spmv8 sum, const uint16_t *row, PetscScalar *y, TpspmvTarget target)
{
  if (target == TPSPMV_KEEP) Spmv8Store(y, sum);
  else if (target == TPSPMV_PAST) Spmv8Stream(y, sum);
  else if (row[7] - row[0] == 7)
    Spmv8Store(y + row[0], target == TPSPMV_ADD ? Spmv8Add(sum, Spmv8Load(y + row[0])) : sum); /* rows increase in a group */
  else Spmv8Scatter(y, row, target == TPSPMV_ADD ? Spmv8Add(sum, Spmv8Gather(y, row)) : sum);
  return target >= TPSPMV_KEEP ? y + 8 : y;
}

/* The groups of a run, of `length` entries a pair. Consecutive columns are loaded fast enough for two sums at a time */
SPMV_INLINE PetscScalar *TpspmvGroups(TpspmvCursor *cursor, const uint16_t *row, PetscScalar *y, int32_t groups, int32_t length,
                                      PetscBool consecutive, PetscBool prefetch, PetscBool narrow, TpspmvTarget target)
{
  TpspmvCursor at = *cursor;

  for (int32_t g = 0; g < groups; g++, row += 8) {
    Spmv8 sum = Spmv8Zero(), odd = sum;

    if (consecutive) {
      for (int32_t k = 0; k + 1 < length; k += 2) {
        sum = TpspmvStep(&at, sum, prefetch, PETSC_TRUE, narrow);
        odd = TpspmvStep(&at, odd, prefetch, PETSC_TRUE, narrow);
      }
      if (length % 2) sum = TpspmvStep(&at, sum, PETSC_FALSE, PETSC_TRUE, narrow);
      sum = Spmv8Add(sum, odd);
    } else {
      sum = Spmv8Mul(Spmv8Load(at.value), TpspmvX(&at, narrow));
      if (prefetch) TpspmvPrefetch(&at);
      TpspmvMove(&at, 8, narrow);
      for (int32_t k = 1; k < length; k++) sum = TpspmvStep(&at, sum, prefetch, PETSC_FALSE, narrow);
    }
    y = TpspmvPut(sum, row, y, target);
  }
  *cursor = at;
  return y;
}

/* Up to eight ragged pairs, whose rows are in no order */
SPMV_INLINE PetscScalar *TpspmvRagged(TpspmvCursor *at, const uint16_t *row, const uint8_t *length, int n, PetscScalar *y,
                                      PetscBool narrow, TpspmvTarget target)
{
  const int   all = n;
  Spmv8       sum = Spmv8Zero();
  PetscScalar s[8];
  int         k = 0;

  for (; n == 8 && k < length[7]; k++) sum = TpspmvStep(at, sum, PETSC_FALSE, PETSC_FALSE, narrow);
  for (; k < length[0]; k++) {
    while (length[n - 1] <= k) n--;
    sum = TpspmvStepFirst(at, sum, n, narrow);
  }
  Spmv8Store(s, sum);
  for (int l = 0; l < all; l++) {
    SPMV_SCALAR_LOOP(l);
    if (target >= TPSPMV_KEEP) y[l] = s[l];
    else y[row[l]] = target == TPSPMV_ADD ? y[row[l]] + s[l] : s[l];
  }
  return target >= TPSPMV_KEEP ? y + all : y;
}

/* The sums of all pairs of a chunk */
SPMV_INLINE void TpspmvChunkMult(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, PetscScalar *y,
                                 PetscBool narrow, TpspmvTarget target)
{
  const PetscBool prefetch = b->prefetch;
  TpspmvCursor    at       = TpspmvAt(b->value, b->index, chunk->entry, x + chunk->base, narrow);
  const uint16_t *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t  *ragged = b->ragged + chunk->ragged;

  for (const TpspmvRun *run = b->run + chunk->run; run < b->run + chunk[1].run; row += run->groups * 8, run++) {
    const int32_t n = run->groups, length = run->length;

    if (run->consecutive) y = TpspmvGroups(&at, row, y, n, length, PETSC_TRUE, b->prefetch_vectors, narrow, target);
    else if (length == 1) y = TpspmvGroups(&at, row, y, n, 1, PETSC_FALSE, prefetch, narrow, target);
    else if (length == 2) y = TpspmvGroups(&at, row, y, n, 2, PETSC_FALSE, prefetch, narrow, target);
    else y = TpspmvGroups(&at, row, y, n, length, PETSC_FALSE, prefetch, narrow, target);
  }
  for (; row < end; row += 8, ragged += 8) y = TpspmvRagged(&at, row, ragged, (int)PetscMin(8, end - row), y, narrow, target);
}

/* v . x of n entries one after the other */
SPMV_INLINE PetscScalar TpspmvDot(const PetscScalar *v, const PetscScalar *x, size_t n)
{
  Spmv8  sum[4] = {Spmv8Zero(), Spmv8Zero(), Spmv8Zero(), Spmv8Zero()};
  size_t k      = 0;

  for (; k + 32 <= n; k += 32) {
    for (int l = 0; l < 4; l++) sum[l] = Spmv8Fma(Spmv8Load(v + k + 8 * l), Spmv8Load(x + k + 8 * l), sum[l]);
  }
  for (; k < n; k += 8) {
    const int rest = (int)PetscMin(8, n - k);

    sum[0] = Spmv8Fma(Spmv8LoadFirst(v + k, rest), Spmv8LoadFirst(x + k, rest), sum[0]);
  }
  return Spmv8Sum(Spmv8Add(Spmv8Add(sum[0], sum[1]), Spmv8Add(sum[2], sum[3])));
}

/* The sum of a segment of a long row: eight of its entries in the lanes, sixteen at a time */
SPMV_INLINE PetscScalar TpspmvSegmentMult(const TpspmvStorage *b, const TpspmvSegment *segment, const PetscScalar *x,
                                          PetscBool narrow)
{
  const size_t n    = (size_t)(segment[1].entry - segment->entry);
  TpspmvCursor at   = TpspmvAt(b->value + b->nentries, b->longindex, segment->entry, x + segment->base, narrow);
  Spmv8        even = Spmv8Zero(), odd = even;
  size_t       k = 0;

  if (segment->consecutive) return TpspmvDot(at.value, at.x, n);
  for (; k + 16 <= n; k += 16) {
    even = TpspmvStep(&at, even, b->prefetch, PETSC_FALSE, narrow);
    odd  = TpspmvStep(&at, odd, b->prefetch, PETSC_FALSE, narrow);
  }
  for (; k < n; k += 8) even = TpspmvStepFirst(&at, even, (int)PetscMin(8, n - k), narrow);
  return Spmv8Sum(Spmv8Add(even, odd));
}

/* Transposed: adds the lanes' products with x to the columns of the first n entries of a step; y is from `base` on */
SPMV_INLINE void TpspmvSpread(TpspmvCursor *at, Spmv8 x, PetscScalar *y, int n, int consecutive, PetscBool narrow)
{
  PetscScalar product[8];

  if (consecutive && n == 8) {
    y += TpspmvColumn(at, 0, narrow);
    Spmv8Store(y, Spmv8Fma(Spmv8Load(at->value), x, Spmv8Load(y)));
  } else { /* one after the other: two columns may be the same */
    Spmv8Store(product, Spmv8Mul(n < 8 ? Spmv8LoadFirst(at->value, n) : Spmv8Load(at->value), x));
    for (int l = 0; l < n; l++) y[TpspmvColumn(at, l, narrow)] += product[l];
  }
  TpspmvMove(at, n, narrow);
}

/* Adds what a chunk has for y; x is that of the slice, or, with several tiles, what the chunk's pairs were given */
SPMV_INLINE void TpspmvChunkTranspose(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, PetscScalar *y,
                                      PetscBool narrow)
{
  const int       direct = TpspmvIsDirect(&b->cut);
  TpspmvCursor    at     = TpspmvAt(b->value, b->index, chunk->entry, NULL, narrow);
  const uint16_t *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t  *ragged = b->ragged + chunk->ragged;

  y += chunk->base;
  for (const TpspmvRun *run = b->run + chunk->run; run < b->run + chunk[1].run; run++) {
    for (int32_t g = 0; g < run->groups; g++, row += 8) {
      const Spmv8 xg = direct ? Spmv8Gather(x, row) : Spmv8Load(x);

      if (!direct) {
        SpmvPrefetch(x + TPSPMV_PREFETCH_VALUES / sizeof(PetscScalar), 1);
        x += 8;
      }
      for (int32_t k = 0; k < run->length; k++) {
        if (b->prefetch) TpspmvPrefetch(&at);
        TpspmvSpread(&at, xg, y, 8, run->consecutive, narrow);
      }
    }
  }
  for (; row < end; row += 8, ragged += 8) {
    int         n  = (int)PetscMin(8, end - row);
    const Spmv8 xg = direct ? Spmv8GatherFirst(x, row, n) : Spmv8LoadFirst(x, n);

    if (!direct) x += n;
    for (int k = 0; k < ragged[0]; k++) {
      while (ragged[n - 1] <= k) n--;
      TpspmvSpread(&at, xg, y, n, 0, narrow);
    }
  }
}

SPMV_INLINE void TpspmvSegmentTranspose(const TpspmvStorage *b, const TpspmvSegment *segment, PetscScalar x, PetscScalar *y,
                                        PetscBool narrow)
{
  TpspmvCursor at = TpspmvAt(b->value + b->nentries, b->longindex, segment->entry, NULL, narrow);
  size_t       n  = (size_t)(segment[1].entry - segment->entry);

  y += segment->base;
  for (; n >= 8; n -= 8) TpspmvSpread(&at, Spmv8Splat(x), y, 8, segment->consecutive, narrow);
  if (n) TpspmvSpread(&at, Spmv8Splat(x), y, (int)n, 0, narrow);
}
