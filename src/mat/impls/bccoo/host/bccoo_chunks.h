/*
  bccoo_chunks.h - products block after block: a vector holds the rows of a block

  Columns are decoded to int32 first, so that one loop serves every kind. Row stops are found a word of flags at a time.
*/
#pragma once
#include "bccoo_vectors.h"

/* Bytes between the values in use and those that are prefetched, out of cache. 3 x 3 blocks of 30 M entries on Zen 5 took 0.255
   to 0.265 ns an entry with 4096, 0.275 to 0.285 with 2048 or none */
#define BCCOO_CHUNKS_AHEAD 4096

/* The columns of a tile, in the buffer or as they are stored */
SPMV_INLINE const int32_t *BccooTileColumns(const BccooBlocks *b, size_t t, int32_t buffer[])
{
  const size_t    q = t * (size_t)b->tile, n = PetscMin((size_t)b->tile, b->nblocks - q);
  const uint16_t *in16 = (const uint16_t *)b->column + q;
  const int16_t  *d    = (const int16_t *)b->column + q;

  if (b->columns == BCCOO_COLUMNS_INT32) return (const int32_t *)b->column + q;
  if (b->columns == BCCOO_COLUMNS_UINT16) {
    for (size_t k = 0; k < n; k++) buffer[k] = in16[k];
  } else {
    const int32_t *escaped = b->escape ? b->escaped + b->escape[t] : NULL;
    const size_t   eights  = escaped && b->escape[t + 1] > b->escape[t] ? 0 : n / 8 * 8;
    int32_t        j       = b->base[t];
    SpmvIndex      last    = SpmvIndexSplat(j);

    for (size_t k = 0; k < eights; k += 8) {
      const SpmvIndex columns = SpmvIndexAdd(SpmvIndexScan(SpmvIndexLoadS16(d + k)), last);

      SpmvIndexStore32(buffer + k, columns);
      last = SpmvIndexLast(columns);
    }
    if (eights) j = buffer[eights - 1];
    for (size_t k = eights; k < n; k++) buffer[k] = j = d[k] == BCCOO_ESCAPE ? *escaped++ : j + d[k];
  }
  return buffer;
}

/*
  The sums of a block row: h scalars in one vector, or one scalar for the blocks of height 1. BccooEnd_...() writes them, and
  leaves zeros for the next one
*/
#define BCCOO_SUMS(V) \
  SPMV_INLINE void BccooRun_##V(const PetscScalar *v, const int32_t *column, size_t n, PetscBool large, const PetscScalar *in, \
                                PetscInt h, PetscInt w, V sum[]) \
  { \
    for (size_t q = 0; q < n; q++, v += h * w) { \
      const PetscScalar *x = in + (size_t)column[q] * (size_t)w; \
\
      for (size_t k = 0; large && k < (size_t)(h * w) * sizeof(*v); k += SPMV_CACHE_LINE) \
        __builtin_prefetch((const char *)v + BCCOO_CHUNKS_AHEAD + k, 0, 3); \
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

/* y <- beta y + A x, block after block; x is as long as the block columns are wide */
SPMV_INLINE void BccooApplyChunks(const BccooBlocks *b, const BccooPart *part, const PetscScalar x[], BccooOutput *o, PetscInt h,
                                  PetscInt w)
{
  const int    wide    = h > 4 || (h == 1 && w > 4);
  const size_t tile    = (size_t)b->tile;
  size_t       k       = (size_t)b->entry[part->first]; /* the present block row's number */
  PetscScalar  sum1    = h * w == 1 ? BccooStart_1x1(b, part, o, k) : 0;
  Spmv4        sum4[4] = {Spmv4Zero(), Spmv4Zero(), Spmv4Zero(), Spmv4Zero()};
  Spmv8        sum8[4] = {Spmv8Zero(), Spmv8Zero(), Spmv8Zero(), Spmv8Zero()};
  int32_t      buffer[BCCOO_TILE_MAX];
  PetscScalar  decoded[h * w == 1 ? BCCOO_TILE_MAX : 1];

  for (size_t t = part->first; t < part->last; t++) {
    const size_t       first = t * tile, last = PetscMin(first + tile, b->nblocks);
    const int32_t     *column = BccooTileColumns(b, t, buffer);
    const PetscScalar *value  = BccooValuesOf(b, first, last - first, t > part->first, h, w, decoded);

    for (size_t from = first; from < last; from += BCCOO_CHUNK) {
      const size_t size  = PetscMin(BCCOO_CHUNK, last - from);
      uint64_t     stops = BccooStops(b, from, size);

      for (size_t at = 0;;) {
        const size_t       end = stops ? (size_t)__builtin_ctzll(stops) + 1 : size, n = end - at, q = from + at;
        const PetscScalar *v = value + (q - first) * (size_t)(h * w);
        const int32_t     *c = column + (q - first);

        if (h * w == 1) { /* AIJ's loop */
          for (size_t e = 0; e < n; e++) sum1 += v[e] * x[c[e]];
        } else if (wide) BccooRun_Spmv8(v, c, n, part->large, x, h, w, sum8);
        else BccooRun_Spmv4(v, c, n, part->large, x, h, w, sum4);
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
  }
  if (h * w == 1) o->carry[0] = sum1;
  else if (wide) BccooEnd_Spmv8(o->carry, h, w, sum8);
  else BccooEnd_Spmv4(o->carry, h, w, sum4);
}

/* y <- y + A^T x, block after block */
SPMV_INLINE void BccooTransposeChunks(const BccooBlocks *b, const BccooPart *part, const PetscScalar x[], BccooOutput *o,
                                      PetscInt h, PetscInt w)
{
  const size_t   tile = (size_t)b->tile;
  const PetscInt rest = b->n % w, narrow = rest ? b->n / w : -1;
  size_t         k = (size_t)b->entry[part->first];                 /* the present block row's number */
  PetscScalar    own[BCCOO_BLOCK_MAX], tail[BCCOO_BLOCK_MAX] = {0}; /* tail: of the incomplete block column */
  int32_t        buffer[BCCOO_TILE_MAX];
  PetscScalar    decoded[h * w == 1 ? BCCOO_TILE_MAX : 1];

  BccooRowOf(b, x, k, h, own);
  for (size_t t = part->first; t < part->last; t++) {
    const size_t       first = t * tile, last = PetscMin(first + tile, b->nblocks);
    const int32_t     *column = BccooTileColumns(b, t, buffer);
    const PetscScalar *value  = BccooValuesOf(b, first, last - first, t > part->first, h, w, decoded);

    for (size_t q = first; q < last; q++) {
      const PetscScalar *v = value + (q - first) * (size_t)(h * w);
      const PetscInt     c = column[q - first];
      PetscScalar       *y = c == narrow ? tail : o->y + (size_t)c * (size_t)w;

      for (PetscInt j = 0; j < w; j++) {
        PetscScalar sum = v[j * h] * own[0];

        for (PetscInt i = 1; i < h; i++) sum += v[j * h + i] * own[i];
        y[j] += sum;
      }
      if (!(b->flags[q / 8] >> q % 8 & 1)) BccooRowOf(b, x, ++k, h, own);
    }
  }
  for (PetscInt j = 0; j < rest; j++) o->y[b->n - rest + j] += tail[j];
}
