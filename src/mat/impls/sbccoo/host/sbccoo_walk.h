/*
  sbccoo_walk.h - the pairs of a matrix, block row by block row

  Rows come in their order, so that of each row j the entries in front of the diagonal are asked for in the order of their
  columns: left[j] moves on to the one that is asked for, and what it passes by has no partner.

  Which blocks are stored depends on the pattern only: those where enough entries have a partner.
*/
#pragma once
#include "sbccoo_pairs.h"

/* The entries of a row that were not looked at */
typedef struct {
  PetscInt next, end;
} SbccooLeft;

/* A row of scalars that is cut into pieces and other entries */
typedef struct {
  PetscInt     pieces, single;
  PetscInt    *piece;  /* [1 + pieces] from 1 on */
  uint8_t     *mask;   /* [1 + pieces] */
  PetscInt    *column; /* [single] */
  PetscScalar *value;  /* [single] */
  int8_t      *code;   /* [single][SBCCOO_CODES] */
} SbccooCut;

typedef struct {
  const SpmvCSR *csr;
  PetscInt       nb;
  PetscReal      least;
  PetscBool      conjugate, codes;
  SbccooLeft    *left; /* [m] */
  SbccooList    *rest;

  /* Of the block row at hand */
  PetscInt     n;      /* blocks beyond the diagonal */
  PetscInt    *column; /* [n] their block columns, increasing */
  PetscScalar *value;  /* [1 + n][b b] the diagonal block, then these */
  int8_t      *code;   /* [n][b b SBCCOO_CODES] */

  /* Of a row of scalars: all pairs; those of which both entries are stored */
  PetscScalar *pairs;       /* [longest][2] */
  PetscInt    *pairscolumn; /* [longest] */
  PetscInt     nboth;
  PetscInt    *bothcolumn; /* [nboth] */
  PetscScalar *both;       /* [nboth][2] */
  SbccooCut    cut;

  size_t near; /* pairs of which both entries are stored, since there are no codes */
} SbccooWalk;

static inline void SbccooAlone(SbccooWalk *w, PetscInt row, PetscInt column, PetscScalar value)
{
  SbccooList  *list = w->rest;
  const size_t n    = list->n++;

  if (n >= list->room) return;
  list->row[n]    = row;
  list->column[n] = column;
  list->value[n]  = value;
}

/* What comes after entry k of a row is asked for some rows later: too late to wait for it, and no processor foresees it */
static inline void SbccooSoon(const SpmvCSR *csr, PetscInt k)
{
  __builtin_prefetch((const char *)(csr->a + k) + SPMV_CACHE_LINE, 0, 2);
  __builtin_prefetch((const char *)(csr->j + k) + SPMV_CACHE_LINE, 0, 2);
}

/* The entries of a row in front of a column, from the next one on, are alone */
static inline void SbccooPass(SbccooWalk *w, PetscInt row, PetscInt column)
{
  const SpmvCSR *csr = w->csr;
  const PetscInt end = w->left[row].end;
  PetscInt       k   = w->left[row].next;

  for (; k < end && csr->j[k] < column; k++) SbccooAlone(w, row, csr->j[k], csr->a[k]);
  w->left[row].next = k;
}

/* The next entries of a row, as far as they are in b columns: values go to block[stride k], the bits of *there tell which */
static inline __attribute__((always_inline)) void SbccooTake(SbccooWalk *w, PetscInt row, PetscInt first, int b, int stride,
                                                             PetscScalar block[], uint64_t *there, int bit)
{
  const SpmvCSR *csr = w->csr;
  const PetscInt end = w->left[row].end;
  PetscInt       k   = w->left[row].next;

  for (; k < end && csr->j[k] < first + b; k++) {
    const int c = (int)(csr->j[k] - first);

    block[c * stride] = csr->a[k];
    *there |= UINT64_C(1) << (bit + c * stride);
  }
  w->left[row].next = k;
}

/* True if a block with so many pairs is smaller as one than as single entries */
static inline PetscBool SbccooPays(int pairs, int b)
{
  const size_t block = (size_t)(b * b) * (sizeof(PetscScalar) + SBCCOO_CODES) + sizeof(uint16_t);

  return (PetscBool)((size_t)pairs * SBCCOO_PAIR_BYTES >= block);
}

/* What tells the second entry of a pair from the first one; true if there is such a thing, and the storage has it */
static inline PetscBool SbccooTell(SbccooWalk *w, PetscScalar a, PetscScalar other, int8_t code[])
{
  PetscBool equal, near = SbccooCode(SBCCOO_CODES > 1 && w->conjugate ? PetscConj(a) : a, other, w->least, code, &equal);

  w->near += (size_t)(near & !equal & !w->codes);
  return w->codes ? near : equal;
}

/*
  Block (i, j): `upper` has its entries by rows, `lower` those of block (j, i) by columns, so that the two of a pair have the same
  place. What is not there is 0
*/
static inline __attribute__((always_inline)) void SbccooPair(SbccooWalk *w, PetscInt i, PetscInt j, int b, uint64_t up,
                                                             const PetscScalar upper[], uint64_t low, const PetscScalar lower[])
{
  const PetscBool stored = SbccooPays(__builtin_popcountll(up & low), b);
  PetscScalar    *value  = w->value + (size_t)(w->n + 1) * (size_t)(b * b);
  int8_t         *code   = w->code + (size_t)w->n * (size_t)(b * b) * SBCCOO_CODES;

  for (int k = 0; k < b * b; k++) {
    value[k] = upper[k];
    if (stored && SbccooTell(w, upper[k], lower[k], code + (size_t)k * SBCCOO_CODES)) continue;
    value[k] = 0;
    memset(code + (size_t)k * SBCCOO_CODES, 0, SBCCOO_CODES);
    if (up >> k & 1) SbccooAlone(w, i * b + k / b, j * b + k % b, upper[k]);
    if (low >> k & 1) SbccooAlone(w, j * b + k % b, i * b + k / b, lower[k]);
  }
  w->column[w->n] = j;
  w->n += stored;
}

/* Block row i: its diagonal block, and the blocks beyond it that are stored */
static inline __attribute__((always_inline)) void SbccooWalkRow(SbccooWalk *w, PetscInt i, int b)
{
  const SpmvCSR *csr   = w->csr;
  const PetscInt limit = w->nb * b;
  uint64_t       there = 0;

  w->n = 0;
  for (int k = 0; k < b * b; k++) w->value[k] = 0;
  for (int r = 0; r < b; r++) {
    SbccooPass(w, i * b + r, i * b);
    SbccooTake(w, i * b + r, i * b, b, 1, w->value + r * b, &there, r * b);
  }
  for (;;) {
    PetscScalar upper[SBCCOO_BLOCK_MAX * SBCCOO_BLOCK_MAX], lower[SBCCOO_BLOCK_MAX * SBCCOO_BLOCK_MAX];
    PetscInt    column = limit, j;
    uint64_t    up = 0, low = 0;

    for (int r = 0; r < b; r++) {
      const PetscInt k = w->left[i * b + r].next;

      if (k < w->left[i * b + r].end) column = PetscMin(column, csr->j[k]);
    }
    if (column >= limit) break;
    j = (PetscInt)((unsigned)column / (unsigned)b);
    for (int k = 0; k < b * b; k++) upper[k] = lower[k] = 0;
    for (int r = 0; r < b; r++) SbccooTake(w, i * b + r, j * b, b, 1, upper + r * b, &up, r * b);
    for (int r = 0; r < b; r++) {
      SbccooPass(w, j * b + r, i * b);
      SbccooSoon(csr, w->left[j * b + r].next);
      SbccooTake(w, j * b + r, i * b, b, b, lower + r, &low, r);
    }
    SbccooPair(w, i, j, b, up, upper, low, lower);
  }
  for (int r = 0; r < b; r++) SbccooPass(w, i * b + r, csr->n);
}

/* Row i of scalars: its diagonal and its pairs; returns how many there are */
static inline PetscInt SbccooWalkScalars(SbccooWalk *w, PetscInt i)
{
  const SpmvCSR *csr = w->csr;
  const PetscInt end = w->left[i].end;
  PetscInt       n   = 0, k;

  SbccooPass(w, i, i);
  k           = w->left[i].next;
  w->value[0] = k < end && csr->j[k] == i ? csr->a[k++] : 0;
  for (; k < end; k++) {
    const PetscInt j = csr->j[k];
    SbccooLeft    *l;

    if (PetscUnlikely(j >= w->nb)) {
      SbccooAlone(w, i, j, csr->a[k]);
      continue;
    }
    l = &w->left[j];
    if (PetscUnlikely(l->next < l->end && csr->j[l->next] < i)) SbccooPass(w, j, i);
    if (PetscLikely(l->next < l->end && csr->j[l->next] == i)) {
      SbccooSoon(csr, l->next);
      w->pairs[2 * n]     = csr->a[k];
      w->pairs[2 * n + 1] = csr->a[l->next++];
      w->pairscolumn[n++] = j;
    } else SbccooAlone(w, i, j, csr->a[k]);
  }
  return n;
}

/* Row i of scalars: pairs that are told from one entry, and pairs with both. The processor does not foresee which: no branches */
static inline void SbccooWalkScalarRow(SbccooWalk *w, PetscInt i)
{
  const PetscInt pairs = SbccooWalkScalars(w, i);
  PetscInt       n = 0, nboth = 0;

  for (PetscInt k = 0; k < pairs; k++) {
    const PetscScalar a = w->pairs[2 * k], other = w->pairs[2 * k + 1];
    const int         told = SbccooTell(w, a, other, w->code + (size_t)n * SBCCOO_CODES);

    w->column[n]            = w->bothcolumn[nboth] = w->pairscolumn[k];
    w->value[n + 1]         = w->both[2 * nboth] = a;
    w->both[2 * nboth + 1]  = other;
    n += told;
    nboth += !told;
  }
  w->n     = n;
  w->nboth = nboth;
}
