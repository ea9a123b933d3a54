/*
  bccoo_masked.c - blocks with masks: how they are found and stored, and what their products cost

  Source: as bccoo_masked.h.
*/
#include "bccoo_host.h"

#define MASKED_UNROLL _Pragma("GCC unroll 4")

#define MASKED_ROWS   BCCOO_MASKED_HEIGHT
#define MASKED_GROUP  (UINT16_MAX + 1) /* entries of a group of rows, at most */
#define MASKED_SAMPLE 1024             /* blocks looked at of a group of rows, for an estimate */

/* The rows of a group that a walk goes through block by block */
typedef struct {
  int32_t  last;            /* first column of a block, at most: it stays inside x */
  size_t   at[MASKED_ROWS]; /* how many of `columns` are before the next one of each row */
  int32_t *columns;         /* [MASKED_ROOM(entries of the group)] of all rows, each with two of MASKED_END behind them */
} MaskedWalk;

#define MASKED_END           INT32_MAX
#define MASKED_ROOM(entries) ((size_t)(entries) + 2 * MASKED_ROWS)

/* A block that a walk has come to */
typedef struct {
  uint32_t word;              /* its index word; 0: there is no other one */
  uint32_t entries;           /* how many it has, and ... */
  uint32_t rank[MASKED_ROWS]; /* ... how many of them are in the rows before each row */
  size_t   at[MASKED_ROWS];   /* MaskedWalk.at before the block */
} MaskedBlock;

/* The group that begins with a row */
static MaskedWalk MaskedStart(const SpmvCSR *csr, PetscInt row, int32_t columns[])
{
  MaskedWalk walk = {.last = (int32_t)PetscMax(0, csr->n - BCCOO_MASKED_WIDTH), .columns = columns};
  size_t     at   = 0;

  for (PetscInt r = 0; r < MASKED_ROWS; r++) {
    const PetscInt  n = row + r < csr->m ? csr->i[row + r + 1] - csr->i[row + r] : 0;
    const PetscInt *j = csr->j + csr->i[PetscMin(csr->m, row + r)];

    walk.at[r] = at;
    for (PetscInt k = 0; k < n; k++) columns[at++] = (int32_t)j[k];
    columns[at++] = MASKED_END;
    columns[at++] = MASKED_END;
  }
  return walk;
}

/* The next block. Nothing branches on columns, which no processor foresees */
static inline __attribute__((always_inline)) MaskedBlock MaskedNext(MaskedWalk *walk)
{
  MaskedBlock block = {.word = 0};
  int32_t     first = walk->columns[walk->at[0]];
  uint32_t    mask  = 0, over;

  for (int r = 1; r < MASKED_ROWS; r++) first = PetscMin(first, walk->columns[walk->at[r]]);
  if (first == MASKED_END) return block;
  MASKED_UNROLL
  for (int r = 0; r < MASKED_ROWS; r++) {
    const int32_t *at  = walk->columns + walk->at[r];
    const uint32_t one = at[0] == first, two = (at[0] == first + 1) | (at[1] == first + 1);

    block.at[r]   = walk->at[r];
    block.rank[r] = block.entries;
    mask |= (one | two << 1) << BCCOO_MASKED_WIDTH * r;
    block.entries += one + two;
    walk->at[r] += one + two;
  }
  over       = first > walk->last;
  block.word = (uint32_t)(first - (int32_t)over) << BCCOO_MASKED_BITS | (mask << over);
  return block;
}

#define MASKED_IS_FEW (UINT32_C(1) << 31) /* of the number of a value among those of its kind of block: which kind */

/* A group of rows. columns, place, few: room for its entries, the same, and its blocks */
static void MaskedSetGroup(BccooMasked *s, const SpmvCSR *csr, PetscInt row, int32_t columns[], uint32_t place[], uint32_t few[])
{
  uint32_t *const word = s->word + s->nblocks, *nextword = word, *nextfew = few;
  MaskedWalk      walk = MaskedStart(csr, row, columns);
  MaskedBlock     block;
  uint32_t        many = 0, nfew = MASKED_IS_FEW;

  while ((block = MaskedNext(&walk)).word) {
    const uint32_t isfew = block.entries <= BCCOO_MASKED_FEW, start = many ^ ((many ^ nfew) & -isfew);

    /* what is written for a column that the block has not is written over by the one that has it */
    MASKED_UNROLL
    for (int r = 0; r < MASKED_ROWS; r++) {
      place[block.at[r]]     = start + block.rank[r];
      place[block.at[r] + 1] = start + block.rank[r] + 1;
    }
    *nextword = *nextfew = block.word;
    nextword += !isfew;
    nextfew += isfew;
    many += block.entries & (isfew - 1);
    nfew += block.entries & -isfew;
  }
  memcpy(nextword, few, (size_t)(nextfew - few) * sizeof(*few));
  s->nblocks += (size_t)(nextword - word) + (size_t)(nextfew - few);
  s->count[row / MASKED_ROWS * 2]     = (int32_t)(nextword - word);
  s->count[row / MASKED_ROWS * 2 + 1] = (int32_t)(nextfew - few);
  for (PetscInt r = row; r < PetscMin(csr->m, row + MASKED_ROWS); r++, place += 2) {
    uint16_t *restrict position = s->position + csr->i[r];
    const PetscInt entries      = csr->i[r + 1] - csr->i[r];

    for (PetscInt e = 0; e < entries; e++, place++) position[e] = (uint16_t)(*place + (many & -(*place >> 31)));
  }
}

/* Entries of a group of rows, at most */
static PetscInt MaskedMost(const SpmvCSR *csr)
{
  PetscInt most = 0;

  for (PetscInt row = 0; row < csr->m; row += MASKED_ROWS)
    most = PetscMax(most, csr->i[PetscMin(csr->m, row + MASKED_ROWS)] - csr->i[row]);
  return most;
}

/* Whether index words and positions are long enough */
PetscBool BccooMaskedFits(const SpmvCSR *csr)
{
  return (PetscBool)(csr->n <= BCCOO_MASKED_MOST && MaskedMost(csr) <= MASKED_GROUP);
}

/* New storage, but for the values */
PetscErrorCode BccooMaskedBuild(const SpmvCSR *csr, PetscInt nparts, BccooMasked *s)
{
  const PetscInt           m       = csr->m;
  const PetscInt           most    = MaskedMost(csr);
  SPMV_TEMPORARY PetscInt *first   = NULL;
  SPMV_TEMPORARY int32_t  *columns = NULL;
  SPMV_TEMPORARY uint32_t *place   = NULL;
  SPMV_TEMPORARY uint32_t *few     = NULL;

  PetscFunctionBegin;
  s->m        = m;
  s->n        = csr->n;
  s->nentries = (size_t)csr->i[m];
  s->nparts   = nparts;
  PetscCall(SpmvAlloc(2 * (size_t)BccooCeil(m, MASKED_ROWS) * sizeof(int32_t), &s->count));
  PetscCall(
    SpmvAlloc((s->nentries + 1) * sizeof(uint32_t), &s->word)); /* for as many blocks; pages that none needs stay untouched */
  PetscCall(SpmvAllocShared((s->nentries + BCCOO_PAD) * sizeof(PetscScalar), nparts, &s->value));
  PetscCall(SpmvAllocShared((s->nentries + 1) * sizeof(uint16_t), nparts, &s->position));
  memset(s->value + s->nentries, 0, BCCOO_PAD * sizeof(PetscScalar));
  PetscCall(PetscMalloc1(nparts + 1, &s->part));
  PetscCall(PetscMalloc1(nparts + 1, &first));
  PetscCall(PetscMalloc1(MASKED_ROOM(most), &columns));
  PetscCall(PetscMalloc1(MASKED_ROOM(most), &place));
  PetscCall(PetscMalloc1(most + 1, &few));
  SpmvSplitRows(csr, MASKED_ROWS, nparts, first);
  for (PetscInt p = 0; p <= nparts; p++) {
    s->part[p] = (BccooMaskedPart){(size_t)BccooCeil(first[p], MASKED_ROWS), s->nblocks, (size_t)csr->i[first[p]]};
    for (PetscInt row = first[p]; p < nparts && row < first[p + 1]; row += MASKED_ROWS)
      MaskedSetGroup(s, csr, row, columns, place, few);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of a part */
SpmvSpan BccooMaskedSpan(const BccooMasked *s, PetscInt p)
{
  SpmvSpan span = {SIZE_MAX, 0};

  for (size_t k = s->part[p].block; k < s->part[p + 1].block; k++) {
    const size_t column = s->word[k] >> BCCOO_MASKED_BITS;

    span.first = PetscMin(span.first, column);
    span.end   = PetscMax(span.end, PetscMin((size_t)s->n, column + BCCOO_MASKED_WIDTH));
  }
  return (SpmvSpan){PetscMin(span.first, span.end), span.end};
}

void BccooMaskedSetValues(const SpmvCSR *csr, BccooMasked *s)
{
  for (PetscInt row = 0; row < csr->m; row += MASKED_ROWS) {
    PetscScalar *value = s->value + csr->i[row];

    for (PetscInt e = csr->i[row]; e < csr->i[PetscMin(csr->m, row + MASKED_ROWS)]; e++) value[s->position[e]] = csr->a[e];
  }
}

PetscErrorCode BccooMaskedArrays(const BccooMasked *s, PetscInt *n, SpmvArray arrays[])
{
  PetscInt k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", s->value, s->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns and masks", s->word, s->nblocks, sizeof(uint32_t));
  arrays[k++] = SPMV_ARRAY("blocks of rows", s->count, 2 * (size_t)BccooCeil(s->m, MASKED_ROWS), sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("positions", s->position, s->nentries, sizeof(uint16_t), .aside = PETSC_TRUE);
  *n          = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooMaskedDestroy(BccooMasked **s)
{
  PetscFunctionBegin;
  if (!*s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFree(&(*s)->word));
  PetscCall(SpmvFree(&(*s)->count));
  PetscCall(SpmvFree(&(*s)->value));
  PetscCall(SpmvFree(&(*s)->position));
  PetscCall(PetscFree((*s)->part));
  PetscCall(PetscFree(*s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why a resolved plan with masks cannot be built */
PetscErrorCode BccooMaskedAllows(const SpmvCSR *csr, const PetscInt p[], char why[], size_t size)
{
  const PetscInt h = p[BCCOO_BLOCK_HEIGHT], w = p[BCCOO_BLOCK_WIDTH];

  PetscFunctionBegin;
  if (h != BCCOO_MASKED_HEIGHT || w != BCCOO_MASKED_WIDTH) {
    PetscCall(SpmvAppend(why, size, "Blocks with masks are 4 x 2, not %" PetscInt_FMT " x %" PetscInt_FMT, h, w));
    PetscCall(SpmvAppend(why, size, "; set -mat_bccoo_block_height and -mat_bccoo_block_width to 0, or -mat_bccoo_fill zeros"));
  } else if (p[BCCOO_BUNCH] != 1 || p[BCCOO_SLICES] != 1 || p[BCCOO_COLUMNS] != BCCOO_COLUMNS_INT32 ||
             p[BCCOO_VALUES] > SPMV_VALUES_PLAIN) {
    PetscCall(SpmvAppend(why, size,
                         "Blocks with masks have one slice, no bunch, int32 columns and plain values; leave "
                         "-mat_bccoo_bunch, _slices, _columns and _values out, or set -mat_bccoo_fill zeros"));
  } else if (!BccooMaskedFits(csr)) {
    PetscCall(SpmvAppend(why, size,
                         "Blocks with masks are for at most %d columns and %d entries of four rows, not %" PetscInt_FMT
                         " and %" PetscInt_FMT "; set -mat_bccoo_fill zeros",
                         BCCOO_MASKED_MOST, MASKED_GROUP, csr->n, MaskedMost(csr)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In cache, where lengths are foreseen, on finite elements (Emerald Rapids, Zen 4): SpmvWork.blocked of blocks, cycles of the
   rest */
#define MASKED_BLOCK        8.0  /* of more than four entries */
#define MASKED_FEW          5.2  /* of others */
#define MASKED_CYCLES_ROWS  7.0  /* of a group of rows */
#define MASKED_CYCLES_BUILD 30.0 /* of an entry, to build */

#define MASKED_MISSES 8.0 /* branches of a group whose length is not foreseen: 17 ns (GAMG's coarse levels, Emerald Rapids) */

#define MASKED_SEEN  4096 /* lengths of two groups that a predictor is taken to tell apart */
#define MASKED_SEEN1 256  /* lengths of one */

/*
  How far the lengths of two groups foretell the next one's, as a branch predictor learns it: always on grids, two times of three
  in finite elements as a mesh generator numbers them, hardly ever in GAMG's coarse levels
*/
typedef struct {
  uint32_t next[MASKED_SEEN], next1[MASKED_SEEN1]; /* length + 1 of the group after such groups; 0: none was seen */
  uint32_t last, before;
  double   asked, missed;
} MaskedLengths;

static void MaskedForesee(MaskedLengths *l, uint32_t length)
{
  uint32_t *two = &l->next[(l->before * 61 + l->last) % MASKED_SEEN], *one = &l->next1[l->last % MASKED_SEEN1];

  if (*two || *one) {
    l->asked++;
    l->missed += (*two ? *two : *one) != length + 1;
  }
  *two = *one = length + 1;
  l->before   = l->last;
  l->last     = length;
}

/* What products of some rows cost */
PetscErrorCode BccooMaskedWork(const SpmvCSR *rows, SpmvWork *work)
{
  const double            nz     = (double)rows->i[rows->m];
  double                  groups = 0, entries = 0, blocks[2] = {0, 0}, part, missed;
  SPMV_TEMPORARY int32_t *columns = NULL;
  MaskedLengths           lengths = {.last = 0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(MASKED_ROOM(MaskedMost(rows)), &columns));
  for (PetscInt row = 0; row < rows->m; row += MASKED_ROWS, groups++) {
    MaskedWalk walk = MaskedStart(rows, row, columns);
    PetscInt   n    = 0;

    for (MaskedBlock block; n < MASKED_SAMPLE && (block = MaskedNext(&walk)).word; n++) {
      blocks[block.entries <= BCCOO_MASKED_FEW]++;
      entries += block.entries;
    }
    MaskedForesee(&lengths, (uint32_t)n);
  }
  part   = entries > 0 ? nz / entries : 0;
  missed = groups * (lengths.asked > 0 ? lengths.missed / lengths.asked : 1);
  work->bytes += nz * sizeof(PetscScalar) + part * (blocks[0] + blocks[1]) * sizeof(uint32_t) + groups * 2 * sizeof(int32_t);
  work->blocked += part * (blocks[0] * MASKED_BLOCK + blocks[1] * MASKED_FEW);
  work->cycles += groups * MASKED_CYCLES_ROWS;
  work->branches += missed;
  work->misses += MASKED_MISSES * missed;
  work->build += nz * MASKED_CYCLES_BUILD;
  PetscFunctionReturn(PETSC_SUCCESS);
}
