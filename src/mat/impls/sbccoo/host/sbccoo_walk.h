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
  int8_t      *code;   /* [single][SBCCOO_CODES codesize] */
} SbccooCut;

/* Entries of a block and of its mirror image that there are, a bit for each */
typedef struct {
  uint64_t up, low;
} SbccooThere;

/* The first pair that is too far apart for the upper part alone */
typedef struct {
  PetscBool   found;
  PetscInt    row, column;
  PetscScalar value, other;
} SbccooBad;

typedef struct {
  const SpmvCSR *csr;
  PetscInt       nb;
  PetscReal      least;
  PetscBool      conjugate, upper;
  size_t         codesize; /* as SbccooStorage's */
  SbccooTellFn  *tell;
  SbccooBad      bad;
  PetscReal     *scale; /* [m] of the upper part alone: the square roots of the diagonal entries */
  SbccooLeft    *left;  /* [m] */
  uint8_t       *whole; /* [nb] whether a block row consists of whole blocks; NULL: it is not known */
  SbccooList    *rest;
  PetscBool      prefetches; /* what comes soon */

  /* Of the block row at hand */
  PetscInt     n;      /* blocks beyond the diagonal */
  PetscInt    *column; /* [n] their block columns, increasing */
  PetscScalar *value;  /* [1 + n][b b] the diagonal block, then these */
  PetscScalar *other;  /* [n][b b] the second entries of their pairs */
  SbccooThere *there;  /* [n] of blocks */
  int8_t      *code;   /* [n][b b SBCCOO_CODES codesize] */
  uint8_t     *told;   /* a bit for each pair; of scalars for each of a chunk and its diagonal */
  PetscBool    plain;  /* as SbccooStorage's */
  PetscBool    hasfar; /* of a row of blocks: a code is SBCCOO_FAR */

  /* Of a row of scalars: pairs of which both entries are stored */
  PetscInt     nboth;
  PetscInt    *bothcolumn; /* [nboth] */
  PetscScalar *both;       /* [nboth][2] */
  SbccooCut    cut;
  PetscScalar
    *mate; /* [SbccooChunkMost()] of sbccoo_renew.c: the second entries of a chunk's pairs as the first ones are stored */

  size_t far;  /* pairs of blocks that are not told, and have no code that says so */
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

/*
  What comes after entry k of a row is needed some rows later: too late to wait for it, and no processor foresees it. Values have
  two lines for one of columns. Always inline: compilers drop a call to what has no effect
*/
static inline __attribute__((always_inline)) void SbccooSoon(const SbccooWalk *w, PetscInt k, PetscBool columns)
{
  const char *a = (const char *)(w->csr->a + k), *j = (const char *)(w->csr->j + k);

  if (!w->prefetches) return;
  __builtin_prefetch(a + SPMV_CACHE_LINE, 0, 3);
  __builtin_prefetch(a + 2 * SPMV_CACHE_LINE, 0, 3);
  if (columns) __builtin_prefetch(j + SPMV_CACHE_LINE, 0, 3);
}

#define SBCCOO_PREFETCH 3 /* block rows between the one at hand and the one whose partners are prefetched */

/* Of how many rows of a block row the columns are to be read: of one where all are known to have the same */
static inline int SbccooRead(const SbccooWalk *w, PetscInt i, int b)
{
  return w->whole && w->whole[i] ? 1 : b;
}

/* The partners of a block row that comes soon, as far as it has whole blocks: lines that nobody read before, or long ago */
static inline __attribute__((always_inline)) void SbccooPrefetchPartners(const SbccooWalk *w, PetscInt i, int b)
{
  const PetscInt soon = i + SBCCOO_PREFETCH, row = soon * b, last = (w->nb - 1) * b;
  int            read;

  if (soon >= w->nb || !w->prefetches) return;
  read = SbccooRead(w, soon, b);
  for (PetscInt k = w->left[row].next; k < w->left[row].end && w->csr->j[k] <= last; k += b) {
    const SbccooLeft *left = w->left + w->csr->j[k];

    for (int r = 0; r < b; r++) {
      __builtin_prefetch(w->csr->a + left[r].next, 0, 3);
      if (r < read) __builtin_prefetch(w->csr->j + left[r].next, 0, 3);
    }
  }
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

  if (PetscLikely(k + b <= end && csr->j[k] == first && csr->j[k + b - 1] == first + b - 1)) { /* all are there */
    for (int c = 0; c < b; c++) {
      block[c * stride] = csr->a[k + c];
      *there |= UINT64_C(1) << (bit + c * stride);
    }
    w->left[row].next = k + b;
    return;
  }
  for (int c = 0; c < b; c++) block[c * stride] = 0;
  for (; k < end && csr->j[k] < first + b; k++) {
    const int c = (int)(csr->j[k] - first);

    block[c * stride] = csr->a[k];
    *there |= UINT64_C(1) << (bit + c * stride);
  }
  w->left[row].next = k;
}

/* 1 if a pair that is not told could be, if there were codes */
static inline size_t SbccooNear(const SbccooWalk *w, PetscScalar a, PetscScalar other)
{
  int8_t    code[SBCCOO_CODES];
  PetscBool equal;

  return !w->codesize && !w->upper && SbccooCode(w->conjugate ? PetscConj(a) : a, other, w->least, 1, code, &equal);
}

/* The entries of a pair of block (i, j), and of its mirror image, that are not stored there */
static inline void SbccooPairAlone(SbccooWalk *w, PetscInt i, PetscInt j, int b, int k, SbccooThere there, PetscScalar upper,
                                   PetscScalar lower)
{
  if (there.up >> k & 1) SbccooAlone(w, i * b + k / b, j * b + k % b, upper);
  if (there.low >> k & 1) SbccooAlone(w, j * b + k % b, i * b + k / b, lower);
}

/*
  Of the upper part alone, a pair that is not close by its own size. What is left where larger terms cancel has no digits: it is
  to be small beside the diagonal
*/
static inline void SbccooCheck(SbccooWalk *w, PetscInt row, PetscInt column, PetscScalar a, PetscScalar other)
{
  const PetscScalar first = w->conjugate ? PetscConj(a) : a;
  const PetscReal   scale = w->scale[row] * w->scale[column];

  if (w->bad.found || SbccooIsClose(first, other, w->least, scale) || !memcmp(&first, &other, sizeof(first))) return;
  w->bad = (SbccooBad){PETSC_TRUE, row, column, a, other};
}

/* The codes of a pair of which both entries are stored */
static inline void SbccooSetFar(int8_t code[])
{
  memset(code, 0, SBCCOO_CODES);
  code[0] = SBCCOO_FAR;
}

/* What was found of the second entries that no codes tell, and what there was room for */
typedef struct {
  PetscScalar *far;
  size_t       n, room;
} SbccooFars;

/* The second entries of n pairs that their codes do not tell */
static inline void SbccooAddFars(size_t n, const int8_t code[], const PetscScalar other[], SbccooFars *to)
{
  for (size_t k = 0; k < n; k++) {
    if (code[k * SBCCOO_CODES] != SBCCOO_FAR) continue;
    if (to->n < to->room) to->far[to->n] = other[k];
    to->n++;
  }
}

/*
  What tells the second entries of the row at hand. Where nothing does, the pair has a code that says so; without codes, or if one
  of its entries is missing, it is alone, and 0 in its block
*/
static void SbccooTellRow(SbccooWalk *w, PetscInt i, int b)
{
  const size_t entries = (size_t)(b * b), pairs = (size_t)w->n * entries;

  w->hasfar = PETSC_FALSE;
  if (PetscLikely(!w->tell(pairs, w->value + entries, w->other, w->least, w->conjugate, w->codesize, w->code, w->told))) return;
  for (size_t p = 0; p < pairs; p++) {
    const PetscInt q = (PetscInt)(p / entries);
    PetscScalar   *a = w->value + entries + p;
    PetscBool      both;

    if (SbccooIsTold(w->told, p)) continue;
    both = (PetscBool)((w->there[q].up & w->there[q].low) >> (p % entries) & 1);
    if (both && w->codesize) {
      SbccooSetFar(w->code + p * SBCCOO_CODES);
      w->hasfar = PETSC_TRUE;
      continue;
    }
    if (both && w->upper) {
      const PetscInt e = (PetscInt)(p % entries);

      SbccooCheck(w, i * b + e / b, w->column[q] * b + e % b, *a, w->other[p]);
      continue;
    }
    w->near += SbccooNear(w, *a, w->other[p]);
    w->far += both;
    SbccooPairAlone(w, i, w->column[q], b, (int)(p % entries), w->there[q], *a, w->other[p]);
    *a = 0;
    memset(w->code + p * SBCCOO_CODES, 0, SBCCOO_CODES);
  }
}

/* SbccooTakeBlock() of a pair without missing entries in block rows that consist of whole blocks; PETSC_FALSE: it is none */
static inline __attribute__((always_inline)) PetscBool SbccooTakeWhole(SbccooWalk *w, PetscInt i, PetscInt j, int b)
{
  const size_t      entries = (size_t)(b * b);
  PetscScalar      *upper = w->value + (size_t)(w->n + 1) * entries, *lower = w->other + (size_t)w->n * entries;
  const SpmvCSR    *csr = w->csr;
  SbccooLeft *const own = w->left + i * b, *const its = w->left + j * b;

  if (!w->whole[j] || its->next >= its->end || csr->j[its->next] != i * b) return PETSC_FALSE;
  for (int r = 0; r < b; r++) {
    const PetscScalar *a = csr->a + own[r].next;

    for (int c = 0; c < b; c++) upper[r * b + c] = a[c];
    own[r].next += b;
  }
  for (int r = 0; r < b; r++) {
    const PetscScalar *a = csr->a + its[r].next;

    SbccooSoon(w, its[r].next, (PetscBool)!r);
    for (int c = 0; c < b; c++) lower[c * b + r] = a[c];
    its[r].next += b;
  }
  w->there[w->n]    = (SbccooThere){~UINT64_C(0) >> (64 - b * b), ~UINT64_C(0) >> (64 - b * b)};
  w->column[w->n++] = j;
  return PETSC_TRUE;
}

/* Block (i, j), the next one of its row, by rows, and block (j, i) by columns, so that the two of a pair have the same place */
static inline __attribute__((always_inline)) void SbccooTakeBlock(SbccooWalk *w, PetscInt i, PetscInt j, int b)
{
  PetscScalar *upper = w->value + (size_t)(w->n + 1) * (size_t)(b * b), *lower = w->other + (size_t)w->n * (size_t)(b * b);
  SbccooThere  there = {0, 0};

  for (int r = 0; r < b; r++) SbccooTake(w, i * b + r, j * b, b, 1, upper + r * b, &there.up, r * b);
  for (int r = 0; r < b; r++) {
    SbccooPass(w, j * b + r, i * b);
    SbccooSoon(w, w->left[j * b + r].next, PETSC_TRUE);
    SbccooTake(w, j * b + r, i * b, b, b, lower + r, &there.low, r);
  }
  if (PetscUnlikely((there.up & there.low) != ~UINT64_C(0) >> (64 - b * b))) {
    w->plain = PETSC_FALSE;
    if (!SbccooPays(__builtin_popcountll(there.up & there.low), b)) {
      for (int k = 0; k < b * b; k++) SbccooPairAlone(w, i, j, b, k, there, upper[k], lower[k]);
      return;
    }
  }
  w->there[w->n]    = there;
  w->column[w->n++] = j;
}

/* Block row i: its diagonal block, and the blocks beyond it that are stored */
static inline __attribute__((always_inline)) void SbccooWalkRow(SbccooWalk *w, PetscInt i, int b)
{
  const SpmvCSR *csr   = w->csr;
  const PetscInt limit = w->nb * b;
  const size_t   alone = w->rest->n;
  const int      read  = SbccooRead(w, i, b);
  uint64_t       there = 0;

  SbccooPrefetchPartners(w, i, b);
  w->n = 0;
  for (int r = 0; r < b; r++) {
    SbccooPass(w, i * b + r, i * b);
    SbccooTake(w, i * b + r, i * b, b, 1, w->value + r * b, &there, r * b);
  }
  w->plain = (PetscBool)(there == ~UINT64_C(0) >> (64 - b * b));
  for (;;) {
    PetscInt column = limit, j;

    for (int r = 0; r < read; r++) {
      const PetscInt k = w->left[i * b + r].next;

      if (k < w->left[i * b + r].end) column = PetscMin(column, csr->j[k]);
    }
    if (column >= limit) break;
    j = (PetscInt)((unsigned)column / (unsigned)b);
    if (read == b || !SbccooTakeWhole(w, i, j, b)) SbccooTakeBlock(w, i, j, b);
  }
  for (int r = 0; r < b; r++) SbccooPass(w, i * b + r, csr->n);
  w->plain = (PetscBool)(w->plain && w->rest->n == alone);
  SbccooTellRow(w, i, b);
}

/* sbccoo_walk.c */
extern size_t         SbccooChunkMost(const SpmvCSR *csr, const SbccooStorage *s);
extern PetscErrorCode SbccooWalkCreate(const SpmvCSR *csr, const SbccooStorage *s, SbccooWalk *w);
extern PetscErrorCode SbccooWalkDestroy(SbccooWalk *w);
extern PetscErrorCode SbccooWalkFindWhole(const SbccooStorage *s, SbccooWalk *w);
extern PetscErrorCode SbccooRefuse(const SbccooWalk *w);
extern void           SbccooWalkBegin(const SbccooStorage *s, SbccooWalk *w);
