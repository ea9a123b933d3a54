/*
  tpspmv_lanes.h - what a product does with a chunk and with a piece of a long row

  A lane holds a pair. Where pairs have the same number of entries, a group has no branch for each; the ragged rest loses
  lanes as its shorter pairs end. Whether columns are uint16, and where sums go, are constants in each copy of these.
*/
#pragma once
#include "tpspmv_host.h"
#include "../../../../host/simd/simd.h"

/* Bytes between what is in use and what is asked for, into the second cache */
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

SPMV_INLINE TpspmvCursor TpspmvCursorOf(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x)
{
  return (TpspmvCursor){b->value + chunk->entry, (const char *)b->index + (size_t)chunk->entry * TpspmvIndexSize(b->narrow),
                        x + chunk->base};
}

SPMV_INLINE Spmv8 TpspmvX(const TpspmvCursor *at, PetscBool narrow)
{
  return narrow ? Spmv8Gather(at->x, (const uint16_t *)at->index) : Spmv8Gather(at->x, (const int32_t *)at->index);
}

SPMV_INLINE Spmv8 TpspmvXFirst(const TpspmvCursor *at, int n, PetscBool narrow)
{
  return narrow ? Spmv8GatherFirst(at->x, (const uint16_t *)at->index, n)
                : Spmv8GatherFirst(at->x, (const int32_t *)at->index, n);
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

/* The sums of a group to where they go: y is that of the slice, or the place of the group's partial sums */
SPMV_INLINE void TpspmvPut(Spmv8 sum, const uint16_t *row, PetscScalar *y, TpspmvTarget target)
{
  if (target == TPSPMV_KEEP) Spmv8Store(y, sum);
  else if (target == TPSPMV_PAST) Spmv8Stream(y, sum);
  else if (row[7] - row[0] == 7)
    Spmv8Store(y + row[0], target == TPSPMV_ADD ? Spmv8Add(sum, Spmv8Load(y + row[0])) : sum); /* rows increase in a group */
  else Spmv8Scatter(y, row, target == TPSPMV_ADD ? Spmv8Add(sum, Spmv8Gather(y, row)) : sum);
}

/* The same of fewer than eight, or of ragged pairs, whose rows are in no order */
SPMV_INLINE void TpspmvPutFirst(Spmv8 sum, int n, const uint16_t *row, PetscScalar *y, TpspmvTarget target)
{
  PetscScalar s[8];

  Spmv8Store(s, sum);
  for (int l = 0; l < n; l++) {
    SPMV_SCALAR_LOOP(l);
    if (target == TPSPMV_KEEP || target == TPSPMV_PAST) y[l] = s[l];
    else y[row[l]] = target == TPSPMV_ADD ? y[row[l]] + s[l] : s[l];
  }
}

/* The column of the first of the eight entries, relative to base */
SPMV_INLINE size_t TpspmvFirst(const TpspmvCursor *at, PetscBool narrow)
{
  return narrow ? (size_t) * (const uint16_t *)at->index : (size_t) * (const int32_t *)at->index;
}

/* The groups of a run whose steps have eight columns one after the other, and rows too */
SPMV_INLINE PetscScalar *TpspmvConsecutive(TpspmvCursor *cursor, const uint16_t *row, PetscScalar *y, const TpspmvRun *run,
                                           PetscBool prefetch, PetscBool narrow, TpspmvTarget target)
{
  TpspmvCursor at = *cursor;

  for (int32_t g = 0; g < run->groups; g++, row += 8) {
    Spmv8 even = Spmv8Zero(), odd = even;

    for (int32_t k = 0; k + 1 < run->length; k += 2) {
      if (prefetch) TpspmvPrefetch(&at);
      even = Spmv8Fma(Spmv8Load(at.value), Spmv8Load(at.x + TpspmvFirst(&at, narrow)), even);
      TpspmvMove(&at, 8, narrow);
      if (prefetch) TpspmvPrefetch(&at);
      odd = Spmv8Fma(Spmv8Load(at.value), Spmv8Load(at.x + TpspmvFirst(&at, narrow)), odd);
      TpspmvMove(&at, 8, narrow);
    }
    if (run->length % 2) {
      even = Spmv8Fma(Spmv8Load(at.value), Spmv8Load(at.x + TpspmvFirst(&at, narrow)), even);
      TpspmvMove(&at, 8, narrow);
    }
    TpspmvPut(Spmv8Add(even, odd), row, y, target);
    if (target >= TPSPMV_KEEP) y += 8;
  }
  *cursor = at;
  return y;
}

/* The groups of a run, of `length` entries a pair; y is that of the slice, or the first partial sum */
SPMV_INLINE PetscScalar *TpspmvGroups(TpspmvCursor *cursor, const uint16_t *row, PetscScalar *y, int32_t groups, int32_t length,
                                      PetscBool prefetch, PetscBool narrow, TpspmvTarget target)
{
  TpspmvCursor at = *cursor;

  for (int32_t g = 0; g < groups; g++, row += 8) {
    Spmv8 sum = Spmv8Mul(Spmv8Load(at.value), TpspmvX(&at, narrow));

    if (prefetch) TpspmvPrefetch(&at);
    TpspmvMove(&at, 8, narrow);
    for (int32_t k = 1; k < length; k++) {
      if (prefetch) TpspmvPrefetch(&at);
      sum = Spmv8Fma(Spmv8Load(at.value), TpspmvX(&at, narrow), sum);
      TpspmvMove(&at, 8, narrow);
    }
    TpspmvPut(sum, row, y, target);
    if (target >= TPSPMV_KEEP) y += 8;
  }
  *cursor = at;
  return y;
}

/* Up to eight ragged pairs */
SPMV_INLINE void TpspmvRagged(TpspmvCursor *at, const uint16_t *row, const uint8_t *length, int n, PetscScalar *y,
                              PetscBool narrow, TpspmvTarget target)
{
  const int all = n;
  Spmv8     sum = Spmv8Zero();
  int       k   = 0;

  if (n == 8) {
    for (; k < length[7]; k++) {
      sum = Spmv8Fma(Spmv8Load(at->value), TpspmvX(at, narrow), sum);
      TpspmvMove(at, 8, narrow);
    }
  }
  for (; k < length[0]; k++) {
    while (length[n - 1] <= k) n--;
    sum = Spmv8Fma(Spmv8LoadFirst(at->value, n), TpspmvXFirst(at, n, narrow), sum);
    TpspmvMove(at, n, narrow);
  }
  TpspmvPutFirst(sum, all, row, y, target);
}

/* The sums of all pairs of a chunk */
SPMV_INLINE void TpspmvChunkMult(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, PetscScalar *y,
                                 PetscBool narrow, TpspmvTarget target)
{
  TpspmvCursor    at  = TpspmvCursorOf(b, chunk, x);
  const uint16_t *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t  *ragged = b->ragged + chunk->ragged;

  for (const TpspmvRun *run = b->run + chunk->run; run < b->run + chunk[1].run; run++) {
    if (run->consecutive) y = TpspmvConsecutive(&at, row, y, run, (PetscBool)(b->prefetch && !b->alone), narrow, target);
    else if (run->length == 1) y = TpspmvGroups(&at, row, y, run->groups, 1, b->prefetch, narrow, target);
    else if (run->length == 2) y = TpspmvGroups(&at, row, y, run->groups, 2, b->prefetch, narrow, target);
    else y = TpspmvGroups(&at, row, y, run->groups, run->length, b->prefetch, narrow, target);
    row += run->groups * 8;
  }
  for (; row < end; row += 8, ragged += 8) {
    const int n = end - row < 8 ? (int)(end - row) : 8;

    TpspmvRagged(&at, row, ragged, n, y, narrow, target);
    if (target >= TPSPMV_KEEP) y += n;
  }
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
    const int rest = n - k < 8 ? (int)(n - k) : 8;

    sum[0] = Spmv8Fma(Spmv8LoadFirst(v + k, rest), Spmv8LoadFirst(x + k, rest), sum[0]);
  }
  return Spmv8Sum(Spmv8Add(Spmv8Add(sum[0], sum[1]), Spmv8Add(sum[2], sum[3])));
}

/* The sum of a piece of a long row: eight of its entries in the lanes, sixteen at a time */
SPMV_INLINE PetscScalar TpspmvPieceMult(const TpspmvStorage *b, const TpspmvPiece *piece, const PetscScalar *x, PetscBool narrow)
{
  const size_t first = (size_t)piece->entry, n = (size_t)piece[1].entry - first;
  TpspmvCursor at   = {b->value + b->nentries + first, (const char *)b->longindex + first * TpspmvIndexSize(narrow),
                       x + piece->base};
  Spmv8        even = Spmv8Zero(), odd = even;
  size_t       k = 0;

  if (piece->consecutive) return TpspmvDot(at.value, at.x, n);
  for (; k + 16 <= n; k += 16) {
    if (b->prefetch) TpspmvPrefetch(&at);
    even = Spmv8Fma(Spmv8Load(at.value), TpspmvX(&at, narrow), even);
    TpspmvMove(&at, 8, narrow);
    if (b->prefetch) TpspmvPrefetch(&at);
    odd = Spmv8Fma(Spmv8Load(at.value), TpspmvX(&at, narrow), odd);
    TpspmvMove(&at, 8, narrow);
  }
  for (; k < n; k += 8) {
    const int rest = n - k < 8 ? (int)(n - k) : 8;

    even = Spmv8Fma(Spmv8LoadFirst(at.value, rest), TpspmvXFirst(&at, rest, narrow), even);
    TpspmvMove(&at, rest, narrow);
  }
  return Spmv8Sum(Spmv8Add(even, odd));
}

/* ---- transposed: y is from the column on that indices are relative to ---- */

/* Adds the lanes' products with x to the first n columns of a step, one after the other: two may be the same */
SPMV_INLINE void TpspmvSpread(TpspmvCursor *at, Spmv8 x, PetscScalar *y, int n, PetscBool narrow)
{
  PetscScalar product[8];

  Spmv8Store(product, Spmv8Mul(n < 8 ? Spmv8LoadFirst(at->value, n) : Spmv8Load(at->value), x));
  for (int l = 0; l < n; l++)
    y[narrow ? (size_t)((const uint16_t *)at->index)[l] : (size_t)((const int32_t *)at->index)[l]] += product[l];
  TpspmvMove(at, n, narrow);
}

SPMV_INLINE void TpspmvSpreadConsecutive(TpspmvCursor *at, Spmv8 x, PetscScalar *y, PetscBool narrow)
{
  y += TpspmvFirst(at, narrow);
  Spmv8Store(y, Spmv8Fma(Spmv8Load(at->value), x, Spmv8Load(y)));
  TpspmvMove(at, 8, narrow);
}

/* Adds what a chunk has for y; x is that of the slice, or what the chunk's pairs were given */
SPMV_INLINE void TpspmvChunkTranspose(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, PetscScalar *y,
                                      PetscBool direct, PetscBool narrow)
{
  TpspmvCursor    at  = TpspmvCursorOf(b, chunk, NULL);
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
        if (run->consecutive) TpspmvSpreadConsecutive(&at, xg, y, narrow);
        else TpspmvSpread(&at, xg, y, 8, narrow);
      }
    }
  }
  for (; row < end; row += 8, ragged += 8) {
    int         n  = end - row < 8 ? (int)(end - row) : 8;
    const Spmv8 xg = direct ? Spmv8GatherFirst(x, row, n) : Spmv8LoadFirst(x, n);

    if (!direct) x += n;
    for (int k = 0; k < ragged[0]; k++) {
      while (ragged[n - 1] <= k) n--;
      TpspmvSpread(&at, xg, y, n, narrow);
    }
  }
}

SPMV_INLINE void TpspmvPieceTranspose(const TpspmvStorage *b, const TpspmvPiece *piece, PetscScalar x, PetscScalar *y,
                                      PetscBool narrow)
{
  const size_t first = (size_t)piece->entry, n = (size_t)piece[1].entry - first;
  TpspmvCursor at = {b->value + b->nentries + first, (const char *)b->longindex + first * TpspmvIndexSize(narrow), NULL};
  size_t       k  = 0;

  y += piece->base;
  for (; k + 8 <= n; k += 8) {
    if (piece->consecutive) TpspmvSpreadConsecutive(&at, Spmv8Splat(x), y, narrow);
    else TpspmvSpread(&at, Spmv8Splat(x), y, 8, narrow);
  }
  if (k < n) TpspmvSpread(&at, Spmv8Splat(x), y, (int)(n - k), narrow);
}
