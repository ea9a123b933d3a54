/*
  bccoo_chunks.h - products block after block: a vector holds the rows of a block

  Columns are decoded to int32 in chunks first, so that one loop serves every kind. Row stops are found a word of flags
  at a time.
*/
#pragma once
#include "bccoo_vectors.h"

/* BccooChunk: consecutive blocks of one tile, with their columns */
typedef struct {
  size_t         q, n;    /* first block, blocks; the chunk before the first has n = 0 */
  size_t         end;     /* one past the last block of the part */
  const int32_t *column;  /* [n] */
  int32_t        before;  /* differences: column of the last block */
  const int32_t *escaped; /* differences: the next escaped column */
  int32_t        buffer[BCCOO_CHUNK];
} BccooChunk;

/* The chunk before the first of a part, a part of whole tiles */
SPMV_INLINE void BccooChunkStart(const BccooBlocks *b, const BccooPart *part, BccooChunk *c)
{
  c->q       = part->first * (size_t)b->tile;
  c->n       = 0;
  c->end     = PetscMin(part->last * (size_t)b->tile, b->nblocks);
  c->escaped = b->escape ? b->escaped + b->escape[part->first] : NULL;
}

/* Moves on by one chunk; 0 after the last */
SPMV_INLINE int BccooChunkNext(const BccooBlocks *b, BccooChunk *c)
{
  const size_t tile = (size_t)b->tile, q = c->q + c->n;

  if (q >= c->end) return 0;
  c->q = q;
  c->n = PetscMin(PetscMin(BCCOO_CHUNK, tile - q % tile), c->end - q);
  if (b->columns == BCCOO_COLUMNS_INT32) {
    c->column = (const int32_t *)b->column + q;
    return 1;
  }
  c->column = c->buffer;
  if (b->columns == BCCOO_COLUMNS_UINT16) {
    for (size_t k = 0; k < c->n; k++) c->buffer[k] = ((const uint16_t *)b->column)[q + k];
  } else {
    const int16_t *d = (const int16_t *)b->column + q;
    int32_t        j = q % tile ? c->before : b->base[q / tile];

    if (b->escape && b->escape[q / tile + 1] > b->escape[q / tile]) {
      for (size_t k = 0; k < c->n; k++) c->buffer[k] = j = d[k] == BCCOO_ESCAPE ? *c->escaped++ : j + d[k];
    } else {
      SpmvIndex last = SpmvIndexSplat(j);
      size_t    k    = 0;

      for (; k + 8 <= c->n; k += 8) {
        const SpmvIndex columns = SpmvIndexAdd(SpmvIndexScan(SpmvIndexLoadS16(d + k)), last);

        SpmvIndexStore32(c->buffer + k, columns);
        last = SpmvIndexLast(columns);
      }
      if (k) j = c->buffer[k - 1];
      for (; k < c->n; k++) c->buffer[k] = j += d[k];
    }
    c->before = j;
  }
  return 1;
}

/*
  The sums of a block row: h scalars in one vector, or one scalar for the blocks of height 1. BccooEnd_...() writes them, and
  leaves zeros for the next one
*/
#define BCCOO_SUMS(V) \
  SPMV_INLINE void BccooRun_##V(const PetscScalar *v, const int32_t *column, size_t n, const BccooInput *in, PetscInt h, \
                                PetscInt w, V sum[]) \
  { \
    for (size_t q = 0; q < n; q++, v += h * w) { \
      const PetscScalar *x = w > 1 && column[q] == in->last ? in->tail : in->x + (size_t)column[q] * (size_t)w; \
\
      if (h == 1) sum[0] = V##Fma(V##LoadFirst(v, (int)w), V##LoadFirst(x, (int)w), sum[0]); \
      else { \
        for (PetscInt j = 0; j < w; j++) sum[j % 4] = V##Fma(V##Load(v + j * h), V##Splat(x[j]), sum[j % 4]); \
      } \
    } \
  } \
  SPMV_INLINE void BccooEnd_##V(PetscScalar out[], PetscInt h, PetscInt w, V sum[]) \
  { \
    for (PetscInt j = 1; h > 1 && j < PetscMin(4, w); j++) sum[0] = V##Add(sum[0], sum[j]); \
    if (h == 1) out[0] = V##Sum(sum[0]); \
    else V##StoreFirst(out, sum[0], (int)h); \
    for (int j = 0; j < 4; j++) sum[j] = V##Zero(); \
  }
BCCOO_SUMS(Spmv4)
BCCOO_SUMS(Spmv8)
#undef BCCOO_SUMS

/*
  What the sum of block row number k starts from where blocks are 1x1: AIJ, too, adds a row to y entry by entry. What a part has
  of a row that ends after it is a carry
*/
SPMV_INLINE PetscScalar BccooStart_1x1(const BccooBlocks *b, const BccooPart *part, const BccooOutput *o, size_t k)
{
  return o->beta && k < (size_t)b->entry[part->last] ? o->y[BccooRow(b, k)] : 0;
}

/* y <- beta y + A x, block after block */
SPMV_INLINE void BccooApplyChunks(const BccooBlocks *b, const BccooPart *part, const BccooInput *in, BccooOutput *o, PetscInt h,
                                  PetscInt w)
{
  const int   wide = h > 4 || (h == 1 && w > 4);
  size_t      k    = (size_t)b->entry[part->first]; /* the present block row's number */
  PetscScalar sum1 = h * w == 1 ? BccooStart_1x1(b, part, o, k) : 0;
  BccooChunk  c;
  Spmv4       sum4[4] = {Spmv4Zero(), Spmv4Zero(), Spmv4Zero(), Spmv4Zero()};
  Spmv8       sum8[4] = {Spmv8Zero(), Spmv8Zero(), Spmv8Zero(), Spmv8Zero()};

  BccooChunkStart(b, part, &c);
  while (BccooChunkNext(b, &c)) {
    uint64_t stops = BccooStops(b, c.q, c.n);

    for (size_t at = 0;;) {
      const size_t       end = stops ? (size_t)__builtin_ctzll(stops) + 1 : c.n, n = end - at;
      const PetscScalar *v = b->value + (c.q + at) * (size_t)(h * w);

      if (h * w == 1) { /* AIJ's loop */
        for (size_t q = 0; q < n; q++) sum1 += v[q] * in->x[c.column[at + q]];
      } else if (wide) BccooRun_Spmv8(v, c.column + at, n, in, h, w, sum8);
      else BccooRun_Spmv4(v, c.column + at, n, in, h, w, sum4);
      at = end;
      if (!stops) break;
      stops &= stops - 1;
      if (h * w == 1) {
        o->y[BccooRow(b, k++)] = sum1;
        sum1                   = BccooStart_1x1(b, part, o, k);
      } else {
        const size_t r      = BccooRow(b, k++) * (size_t)h;
        const int    direct = !o->beta && r + (size_t)h <= o->limit;
        PetscScalar  own[BCCOO_BLOCK_MAX], *out = direct ? o->y + r : own;

        if (wide) BccooEnd_Spmv8(out, h, w, sum8);
        else BccooEnd_Spmv4(out, h, w, sum4);
        for (size_t i = 0; !direct && i < (size_t)h && r + i < o->limit; i++) BccooPut(o, r + i, own[i]);
      }
    }
  }
  if (h * w == 1) o->carry[0] = sum1;
  else if (wide) BccooEnd_Spmv8(o->carry, h, w, sum8);
  else BccooEnd_Spmv4(o->carry, h, w, sum4);
}

/* y <- y + A^T x, block after block */
SPMV_INLINE void BccooTransposeChunks(const BccooBlocks *b, const BccooPart *part, const BccooInput *in, BccooOutput *o,
                                      PetscInt h, PetscInt w)
{
  size_t      k = (size_t)b->entry[part->first]; /* the present block row's number */
  PetscScalar x[BCCOO_BLOCK_MAX];
  BccooChunk  c;

  BccooChunkStart(b, part, &c);
  BccooRowOf(b, in, k, h, x);
  while (BccooChunkNext(b, &c)) {
    uint64_t stops = BccooStops(b, c.q, c.n);

    for (size_t at = 0;;) {
      const size_t       end = stops ? (size_t)__builtin_ctzll(stops) + 1 : c.n;
      const PetscScalar *v   = b->value + (c.q + at) * (size_t)(h * w);

      for (; at < end; at++, v += h * w) {
        PetscScalar *y = w > 1 && c.column[at] == o->last ? o->tail : o->y + (size_t)c.column[at] * (size_t)w;

        for (PetscInt j = 0; j < w; j++) {
          PetscScalar sum = v[j * h] * x[0];

          for (PetscInt i = 1; i < h; i++) sum += v[j * h + i] * x[i];
          y[j] += sum;
        }
      }
      if (!stops) break;
      stops &= stops - 1;
      BccooRowOf(b, in, ++k, h, x);
    }
  }
}
