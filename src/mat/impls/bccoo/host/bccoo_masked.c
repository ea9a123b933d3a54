/*
  bccoo_masked.c - blocks with masks: how they are found and stored, and what their products cost

  Source: as bccoo_masked.h.
*/
#include "bccoo_host.h"

#define MASKED_UNROLL _Pragma("GCC unroll 4")

#define MASKED_ROWS   BCCOO_MASKED_HEIGHT
#define MASKED_RANK   3    /* bits of the place of an entry in its block */
#define MASKED_SAMPLE 1024 /* blocks looked at of a group of rows, for an estimate */

/* The rows of a group that a walk goes through block by block; a row that is not there has no entries left */
typedef struct {
  const SpmvCSR *csr;
  PetscInt       cursor[MASKED_ROWS], end[MASKED_ROWS]; /* entries of each row that are left */
  PetscInt       column[MASKED_ROWS];                   /* of the next one, PETSC_MAX_INT if there is none */
} MaskedWalk;

static MaskedWalk MaskedStart(const SpmvCSR *csr, PetscInt row)
{
  MaskedWalk walk = {.csr = csr};

  for (PetscInt r = 0; r < MASKED_ROWS; r++) {
    if (row + r < csr->m) walk.cursor[r] = csr->i[row + r], walk.end[r] = csr->i[row + r + 1];
    walk.column[r] = walk.cursor[r] < walk.end[r] ? csr->j[walk.cursor[r]] : PETSC_MAX_INT;
  }
  return walk;
}

/*
  The index word of the next block, 0 at the end. place, unless NULL: [entries of CSR + 1] gets for each entry the number of the
  block and its rank in the block; the last one is for what is written in vain. Nothing branches on columns, which no processor foresees
*/
static inline __attribute__((always_inline)) uint32_t MaskedNext(MaskedWalk *walk, uint32_t number, uint32_t place[])
{
  const PetscInt *j = walk->csr->j, nz = walk->csr->i[walk->csr->m];
  PetscInt        first = walk->column[0];
  uint32_t        mask = 0, rank = 0;

  for (int r = 1; r < MASKED_ROWS; r++) first = PetscMin(first, walk->column[r]);
  if (first == PETSC_MAX_INT) return 0;
  first = PetscMin(first, PetscMax(0, walk->csr->n - BCCOO_MASKED_WIDTH)); /* the last block stays inside x */
  MASKED_UNROLL
  for (int r = 0; r < MASKED_ROWS; r++) {
    const PetscInt k = walk->cursor[r], end = walk->end[r], column = walk->column[r];
    const PetscInt after = j[PetscMin(k + 1, nz - 1)];
    const uint32_t one = column <= first + 1, two = (column == first) & (k + 1 < end) & (after == first + 1), taken = one + two;
    const PetscInt next = j[PetscMin(k + 2, nz - 1)], left = k + (PetscInt)taken;

    if (place) {
      place[one ? k : nz]     = number << MASKED_RANK | rank;
      place[two ? k + 1 : nz] = number << MASKED_RANK | (rank + 1);
    }
    mask |= (one << ((column - first) & 1) | two << 1) << BCCOO_MASKED_WIDTH * r;
    rank += taken;
    walk->cursor[r] = left;
    walk->column[r] = left >= end ? PETSC_MAX_INT : two ? next : one ? after : column;
  }
  return (uint32_t)first << BCCOO_MASKED_BITS | mask;
}

static inline uint32_t MaskedEntries(uint32_t word)
{
  return (uint32_t)__builtin_popcount(word & UINT8_MAX);
}

/* 1 if a block is of the second kind */
static inline size_t MaskedIsFew(uint32_t word)
{
  return MaskedEntries(word) <= BCCOO_MASKED_FEW;
}

/* A group of rows whose first value is number `value`; found, start: room for its blocks, one more, and twice as many */
static void MaskedSetGroup(BccooMasked *s, const SpmvCSR *csr, PetscInt row, size_t value, uint32_t found[], uint32_t start[])
{
  const PetscInt end   = csr->i[PetscMin(csr->m, row + MASKED_ROWS)];
  int32_t       *count = s->count + row / MASKED_ROWS * 2;
  MaskedWalk     walk  = MaskedStart(csr, row);
  size_t         n     = 0;

  while ((found[n] = MaskedNext(&walk, (uint32_t)n, s->position)) != 0) n++;
  count[0] = 0;
  for (size_t few = 0; few < 2; few++) {
    for (size_t k = 0; k < n; k++) {
      const size_t here = MaskedIsFew(found[k]) == few;

      s->word[s->nblocks] = found[k];
      start[k]            = here ? (uint32_t)value : start[k];
      s->nblocks += here;
      value += here * MaskedEntries(found[k]);
      count[0] += (int32_t)(here & !few);
    }
  }
  count[1] = (int32_t)n - count[0];
  for (PetscInt e = csr->i[row]; e < end; e++)
    s->position[e] = start[s->position[e] >> MASKED_RANK] + (s->position[e] & ((1U << MASKED_RANK) - 1));
}

/* New storage, but for the values */
PetscErrorCode BccooMaskedBuild(const SpmvCSR *csr, PetscInt nparts, BccooMasked *s)
{
  const PetscInt           m     = csr->m;
  PetscInt                 most  = 0;
  SPMV_TEMPORARY PetscInt *first = NULL;
  SPMV_TEMPORARY uint32_t *found = NULL;
  SPMV_TEMPORARY uint32_t *start = NULL;

  PetscFunctionBegin;
  s->m        = m;
  s->n        = csr->n;
  s->nentries = (size_t)csr->i[m];
  s->nparts   = nparts;
  for (PetscInt row = 0; row < m; row += MASKED_ROWS) most = PetscMax(most, csr->i[PetscMin(m, row + MASKED_ROWS)] - csr->i[row]);
  PetscCall(SpmvAlloc(2 * (size_t)BccooCeil(m, MASKED_ROWS) * sizeof(int32_t), &s->count));
  PetscCall(
    SpmvAlloc((s->nentries + 1) * sizeof(uint32_t), &s->word)); /* for as many blocks; pages that none needs stay untouched */
  PetscCall(SpmvAllocShared((s->nentries + BCCOO_PAD) * sizeof(PetscScalar), nparts, &s->value));
  PetscCall(SpmvAllocShared((s->nentries + 1) * sizeof(uint32_t), nparts, &s->position));
  memset(s->value + s->nentries, 0, BCCOO_PAD * sizeof(PetscScalar));
  PetscCall(PetscMalloc1(nparts + 1, &s->part));
  PetscCall(PetscMalloc1(nparts + 1, &first));
  PetscCall(PetscMalloc1(most + 1, &found));
  PetscCall(PetscMalloc1(most + 1, &start));
  SpmvSplitRows(csr, MASKED_ROWS, nparts, first);
  for (PetscInt p = 0; p <= nparts; p++) {
    s->part[p] = (BccooMaskedPart){(size_t)BccooCeil(first[p], MASKED_ROWS), s->nblocks, (size_t)csr->i[first[p]]};
    for (PetscInt row = first[p]; p < nparts && row < first[p + 1]; row += MASKED_ROWS)
      MaskedSetGroup(s, csr, row, (size_t)csr->i[row], found, start);
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
  for (size_t e = 0; e < s->nentries; e++) s->value[s->position[e]] = csr->a[e];
}

PetscErrorCode BccooMaskedArrays(const BccooMasked *s, PetscInt *n, SpmvArray arrays[])
{
  PetscInt k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", s->value, s->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns and masks", s->word, s->nblocks, sizeof(uint32_t));
  arrays[k++] = SPMV_ARRAY("blocks of rows", s->count, 2 * (size_t)BccooCeil(s->m, MASKED_ROWS), sizeof(int32_t));
  arrays[k++] = SPMV_ARRAY("positions", s->position, s->nentries, sizeof(uint32_t), .aside = PETSC_TRUE);
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
  } else if (csr->n > BCCOO_MASKED_MOST || (uint64_t)csr->i[csr->m] > UINT32_MAX) {
    PetscCall(SpmvAppend(why, size,
                         "Blocks with masks are for at most %d columns and %" PRIu32 " entries, not %" PetscInt_FMT
                         " and %" PetscInt_FMT "; set -mat_bccoo_fill zeros",
                         BCCOO_MASKED_MOST, UINT32_MAX, csr->n, csr->i[csr->m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles of Zen 4, in cache */
#define MASKED_CYCLES_BLOCK 5.0  /* of more than four entries */
#define MASKED_CYCLES_FEW   3.3  /* of others */
#define MASKED_CYCLES_ROWS  10.0 /* of a group of rows, its two mispredicted ends among them */
#define MASKED_CYCLES_BUILD 48.0 /* of an entry, to build, 8 of them for memory that nobody has touched */

/* What products of some rows cost */
void BccooMaskedWork(const SpmvCSR *rows, SpmvWork *work)
{
  const double nz     = (double)rows->i[rows->m];
  double       groups = 0, entries = 0, blocks[2] = {0, 0}, part;

  for (PetscInt row = 0; row < rows->m; row += MASKED_ROWS, groups++) {
    MaskedWalk walk = MaskedStart(rows, row);
    PetscInt   n    = 0;

    for (uint32_t word; n < MASKED_SAMPLE && (word = MaskedNext(&walk, 0, NULL)) != 0; n++) {
      blocks[MaskedIsFew(word)]++;
      entries += MaskedEntries(word);
    }
  }
  part = entries > 0 ? nz / entries : 0;
  work->bytes += nz * sizeof(PetscScalar) + part * (blocks[0] + blocks[1]) * sizeof(uint32_t) + groups * 2 * sizeof(int32_t);
  work->cycles += part * (blocks[0] * MASKED_CYCLES_BLOCK + blocks[1] * MASKED_CYCLES_FEW) + groups * MASKED_CYCLES_ROWS;
  work->build += nz * MASKED_CYCLES_BUILD;
}
