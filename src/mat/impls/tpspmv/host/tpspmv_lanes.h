/*
  tpspmv_lanes.h - what a product does with a chunk and with a segment of a long row

  A lane holds a pair. Where pairs have the same number of entries, a group has no branch for each; the ragged rest loses
  lanes as its shorter pairs end. Whether columns are uint16, and where sums go, are constants in each copy of these.
*/
#pragma once
#include "tpspmv_host.h"
#include "../../../../host/simd/values.h"

/* Bytes between what is in use and what is prefetched, into the second cache */
#define TPSPMV_PREFETCH_COLUMNS 2048
#define TPSPMV_PREFETCH_VALUES  8192

/* Whether pairs of one and of two entries have loops of their own */
#if defined(SPMV_FEW_LOOPS)
  #define TPSPMV_SHORT 0
#else
  #define TPSPMV_SHORT 1
#endif

/* Where the sums of pairs go */
typedef enum {
  TPSPMV_SET,  /* one tile: y */
  TPSPMV_ADD,  /* one tile: to what y holds */
  TPSPMV_KEEP, /* several tiles: partial sums */
  TPSPMV_PAST  /* the same, past the cache */
} TpspmvTarget;

/* The eight entries of a step, and on to the next; their coding is a constant, as `narrow` is */
typedef struct {
  const char        *value;
  const char        *index;
  const PetscScalar *x; /* from the column on that indices are relative to */
  SpmvCoding         coding;
  SpmvTable          table;
} TpspmvCursor;

/* From an entry and a column on, both of chunks or, behind all of these, of segments */
SPMV_INLINE TpspmvCursor TpspmvAt(const TpspmvStorage *b, size_t entry, const void *index, size_t column, const PetscScalar *x,
                                  PetscBool narrow, SpmvCoding coding)
{
  return (TpspmvCursor){(const char *)b->value.data + entry * SpmvCodingSize(coding),
                        (const char *)index + column * TpspmvIndexSize(narrow), x, coding, SpmvValuesTable(&b->value)};
}
SPMV_INLINE TpspmvCursor TpspmvAtChunk(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, PetscBool narrow,
                                       SpmvCoding coding)
{
  return TpspmvAt(b, (size_t)chunk->entry, b->index, (size_t)chunk->column, x, narrow, coding);
}
SPMV_INLINE TpspmvCursor TpspmvAtSegment(const TpspmvStorage *b, const TpspmvSegment *segment, const PetscScalar *x,
                                         PetscBool narrow, SpmvCoding coding)
{
  return TpspmvAt(b, b->nentries + (size_t)segment->entry, b->longindex, (size_t)segment->entry, x, narrow, coding);
}

/* The values of a step, and of its first n entries */
SPMV_INLINE Spmv8 TpspmvValue(const TpspmvCursor *at)
{
  return Spmv8Value(&at->table, at->value, 0, at->coding);
}
SPMV_INLINE Spmv8 TpspmvValueFirst(const TpspmvCursor *at, int n)
{
  return Spmv8ValueFirst(&at->table, at->value, 0, n, at->coding);
}

SPMV_INLINE Spmv8 TpspmvX(const TpspmvCursor *at, PetscBool narrow)
{
  return narrow ? Spmv8Gather(at->x, (const uint16_t *)at->index) : Spmv8Gather(at->x, (const int32_t *)at->index);
}

SPMV_INLINE void TpspmvMove(TpspmvCursor *at, int n, int columns, PetscBool narrow)
{
  at->value += (size_t)n * SpmvCodingSize(at->coding);
  at->index += (size_t)columns * TpspmvIndexSize(narrow);
}

SPMV_INLINE void TpspmvPrefetch(const TpspmvCursor *at)
{
  if (SpmvCodingSize(at->coding) > 1) SpmvPrefetch(at->value + TPSPMV_PREFETCH_VALUES, 1);
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
  sum = Spmv8Fma(TpspmvValue(at), consecutive ? Spmv8Load(at->x + TpspmvColumn(at, 0, narrow)) : TpspmvX(at, narrow), sum);
  TpspmvMove(at, 8, consecutive ? 1 : 8, narrow);
  return sum;
}

/* The same with the first n entries of a step */
SPMV_INLINE Spmv8 TpspmvStepFirst(TpspmvCursor *at, Spmv8 sum, int n, PetscBool narrow)
{
  const Spmv8 x =
    narrow ? Spmv8GatherFirst(at->x, (const uint16_t *)at->index, n) : Spmv8GatherFirst(at->x, (const int32_t *)at->index, n);

  sum = Spmv8Fma(TpspmvValueFirst(at, n), x, sum);
  TpspmvMove(at, n, n, narrow);
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

/* What rows far behind those of a group will be the first to take of x: from where on for row 0 of the slice, and how many
   entries */
typedef struct {
  const PetscScalar *x;
  PetscInt           n;
} TpspmvAhead;

SPMV_INLINE TpspmvAhead TpspmvAheadOf(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, TpspmvTarget target)
{
  PetscInt first = b->cut.nused;

  if (target < TPSPMV_KEEP && b->ahead)
    first = PetscMin(first, TpspmvSliceFirst(&b->cut, (PetscInt)(chunk - b->chunk)) + b->ahead);
  return (TpspmvAhead){x + first, b->cut.nused - first};
}

/* The groups of a run, of `length` entries a pair. Consecutive columns are loaded fast enough for two sums at a time */
SPMV_INLINE PetscScalar *TpspmvGroups(TpspmvCursor *cursor, const uint16_t *row, PetscScalar *y, int32_t groups, int32_t length,
                                      PetscBool consecutive, PetscBool prefetch, PetscBool narrow, TpspmvTarget target,
                                      TpspmvAhead ahead)
{
  TpspmvCursor at = *cursor;

  for (int32_t g = 0; g < groups; g++, row += 8) {
    Spmv8 sum = Spmv8Zero(), odd = sum;

    if (target < TPSPMV_KEEP) SpmvPrefetchAhead(ahead.x, row[0], ahead.n);
    if (consecutive) {
      for (int32_t k = 0; k + 1 < length; k += 2) {
        sum = TpspmvStep(&at, sum, prefetch, PETSC_TRUE, narrow);
        odd = TpspmvStep(&at, odd, prefetch, PETSC_TRUE, narrow);
      }
      if (length % 2) sum = TpspmvStep(&at, sum, PETSC_FALSE, PETSC_TRUE, narrow);
      sum = Spmv8Add(sum, odd);
    } else {
      sum = Spmv8Mul(TpspmvValue(&at), TpspmvX(&at, narrow));
      if (prefetch) TpspmvPrefetch(&at);
      TpspmvMove(&at, 8, 8, narrow);
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
                                 PetscBool narrow, TpspmvTarget target, SpmvCoding coding)
{
  const PetscBool   prefetch = b->prefetch;
  const TpspmvAhead ahead    = TpspmvAheadOf(b, chunk, x, target);
  TpspmvCursor      at       = TpspmvAtChunk(b, chunk, x + chunk->base, narrow, coding);
  const uint16_t   *row = b->row + chunk->pair, *end = row + chunk->pairs;
  const uint8_t    *ragged = b->ragged + chunk->ragged;

  for (const TpspmvRun *run = b->run + chunk->run; run < b->run + chunk[1].run; row += run->groups * 8, run++) {
    const int32_t n = run->groups, length = run->length;

    if (run->consecutive) y = TpspmvGroups(&at, row, y, n, length, PETSC_TRUE, b->prefetch_vectors, narrow, target, ahead);
    else if (TPSPMV_SHORT && length == 1) y = TpspmvGroups(&at, row, y, n, 1, PETSC_FALSE, prefetch, narrow, target, ahead);
    else if (TPSPMV_SHORT && length == 2) y = TpspmvGroups(&at, row, y, n, 2, PETSC_FALSE, prefetch, narrow, target, ahead);
    else y = TpspmvGroups(&at, row, y, n, length, PETSC_FALSE, prefetch, narrow, target, ahead);
  }
  for (; row < end; row += 8, ragged += 8) y = TpspmvRagged(&at, row, ragged, (int)PetscMin(8, end - row), y, narrow, target);
}

/* The sum of n entries whose columns are one after the other */
SPMV_INLINE PetscScalar TpspmvDot(const TpspmvCursor *at, size_t n)
{
  const PetscScalar *x      = at->x;
  Spmv8              sum[4] = {Spmv8Zero(), Spmv8Zero(), Spmv8Zero(), Spmv8Zero()};
  size_t             k      = 0;

  for (; k + 32 <= n; k += 32) {
    for (size_t l = 0; l < 4; l++)
      sum[l] = Spmv8Fma(Spmv8Value(&at->table, at->value, k + 8 * l, at->coding), Spmv8Load(x + k + 8 * l), sum[l]);
  }
  for (; k < n; k += 8) {
    const int rest = (int)PetscMin(8, n - k);

    sum[0] = Spmv8Fma(Spmv8ValueFirst(&at->table, at->value, k, rest, at->coding), Spmv8LoadFirst(x + k, rest), sum[0]);
  }
  return Spmv8Sum(Spmv8Add(Spmv8Add(sum[0], sum[1]), Spmv8Add(sum[2], sum[3])));
}

/* The sum of a segment of a long row: eight of its entries in the lanes, sixteen at a time */
SPMV_INLINE PetscScalar TpspmvSegmentMult(const TpspmvStorage *b, const TpspmvSegment *segment, const PetscScalar *x,
                                          PetscBool narrow, SpmvCoding coding)
{
  const size_t n    = (size_t)(segment[1].entry - segment->entry);
  TpspmvCursor at   = TpspmvAtSegment(b, segment, x + segment->base, narrow, coding);
  Spmv8        even = Spmv8Zero(), odd = even;
  size_t       k = 0;

  if (segment->consecutive) return TpspmvDot(&at, n);
  for (; k + 16 <= n; k += 16) {
    even = TpspmvStep(&at, even, b->prefetch, PETSC_FALSE, narrow);
    odd  = TpspmvStep(&at, odd, b->prefetch, PETSC_FALSE, narrow);
  }
  for (; k < n; k += 8) even = TpspmvStepFirst(&at, even, (int)PetscMin(8, n - k), narrow);
  return Spmv8Sum(Spmv8Add(even, odd));
}

/* Transposed: adds the lanes' products with x to the columns of the first n entries of a step, of which `columns` are stored; y
   is from `base` on */
SPMV_INLINE void TpspmvSpread(TpspmvCursor *at, Spmv8 x, PetscScalar *y, int n, int consecutive, int columns, PetscBool narrow)
{
  PetscScalar product[8];

  if (consecutive && n == 8) {
    y += TpspmvColumn(at, 0, narrow);
    Spmv8Store(y, Spmv8Fma(TpspmvValue(at), x, Spmv8Load(y)));
  } else { /* one after the other: two columns may be the same */
    Spmv8Store(product, Spmv8Mul(n < 8 ? TpspmvValueFirst(at, n) : TpspmvValue(at), x));
    for (int l = 0; l < n; l++) y[TpspmvColumn(at, l, narrow)] += product[l];
  }
  TpspmvMove(at, n, columns, narrow);
}

/* Adds what a chunk has for y; x is that of the slice, or, with several tiles, what the chunk's pairs were given */
SPMV_INLINE void TpspmvChunkTranspose(const TpspmvStorage *b, const TpspmvChunk *chunk, const PetscScalar *x, PetscScalar *y,
                                      PetscBool narrow, SpmvCoding coding)
{
  const int       direct = TpspmvIsDirect(&b->cut);
  TpspmvCursor    at     = TpspmvAtChunk(b, chunk, NULL, narrow, coding);
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
        TpspmvSpread(&at, xg, y, 8, run->consecutive, run->consecutive ? 1 : 8, narrow);
      }
    }
  }
  for (; row < end; row += 8, ragged += 8) {
    int         n  = (int)PetscMin(8, end - row);
    const Spmv8 xg = direct ? Spmv8GatherFirst(x, row, n) : Spmv8LoadFirst(x, n);

    if (!direct) x += n;
    for (int k = 0; k < ragged[0]; k++) {
      while (ragged[n - 1] <= k) n--;
      TpspmvSpread(&at, xg, y, n, 0, n, narrow);
    }
  }
}

SPMV_INLINE void TpspmvSegmentTranspose(const TpspmvStorage *b, const TpspmvSegment *segment, PetscScalar x, PetscScalar *y,
                                        PetscBool narrow, SpmvCoding coding)
{
  TpspmvCursor at = TpspmvAtSegment(b, segment, NULL, narrow, coding);
  size_t       n  = (size_t)(segment[1].entry - segment->entry);

  y += segment->base;
  for (; n >= 8; n -= 8) TpspmvSpread(&at, Spmv8Splat(x), y, 8, segment->consecutive, 8, narrow);
  if (n) TpspmvSpread(&at, Spmv8Splat(x), y, (int)n, 0, (int)n, narrow);
}
