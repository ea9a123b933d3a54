/*
  sbccoo_cut.h - rows of scalars as they are stored: cut into pieces and single entries; or of single entries alone, those of a
  chunk by their lengths
*/
#pragma once
#include "sbccoo_walk_scalars.h"

/* Where the next row goes in the arrays */
typedef struct {
  PetscScalar *value;
  int8_t      *code;
  uint16_t    *index;
  uint8_t     *mask;
  uint8_t     *row;
  size_t       both;
  SbccooFars   far;
} FillPlace;

#define FILL_AHEAD 1024 /* bytes between what is stored and what is prefetched to be stored to */

/* Before n values and their codes and columns are stored: a store that waits for its line holds up all that comes after it */
static inline __attribute__((always_inline)) void FillSoon(const FillPlace *at, size_t n)
{
  const char *value = (const char *)at->value + FILL_AHEAD;

  for (size_t k = 0; k < n * sizeof(PetscScalar); k += SPMV_CACHE_LINE) __builtin_prefetch(value + k, 1, 3);
  __builtin_prefetch((const char *)at->index + FILL_AHEAD, 1, 3);
  if (at->code) __builtin_prefetch(at->code + FILL_AHEAD, 1, 3);
}

static uint16_t *FillNumber(uint16_t *to, PetscBool wide, size_t number)
{
  SbccooSetNumber(to, wide, number);
  return to + (wide ? 2 : 1);
}

/*
  Cuts the row at hand into pieces and single entries: values and codes of the former go where they belong, all else to w->cut.
  Returns the entries in pieces. Nothing here branches on what columns are. codes: bytes of an entry's codes, a constant
*/
static inline __attribute__((always_inline)) PetscInt FillCut(SbccooWalk *w, const FillPlace *at, size_t codes)
{
  const PetscInt     n = w->n, whole = w->nb / SBCCOO_PIECE;
  const PetscInt    *column = w->column;
  const PetscScalar *value  = w->value + 1;
  const SbccooCut    c      = w->cut; /* a copy, and counts that are by themselves: nothing that is stored changes them */
  PetscScalar       *to     = at->value;
  const int8_t      *from   = w->code;
  int8_t            *code   = at->code;
  PetscInt           inside = 0, pieces = 0, single = 0, last = -1, piece = n ? column[0] / SBCCOO_PIECE : -1;
  unsigned           mask = 0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscInt next = k + 1 < n ? (PetscInt)((unsigned)column[k + 1] / SBCCOO_PIECE) : -1;
    const int      same = piece == last, in = SbccooInPiece(last, piece, next, whole);
    PetscInt       slot;

    pieces += in & !same;
    slot             = in ? pieces : 0;
    mask             = (same ? mask : 0) | (unsigned)in << (unsigned)column[k] % SBCCOO_PIECE;
    c.piece[slot]    = piece;
    c.mask[slot]     = (uint8_t)mask;
    c.column[single] = column[k];
    c.value[single] = to[inside] = value[k];
    for (size_t p = 0; p < codes; p++)
      c.code[(size_t)single * codes + p] = code[(size_t)inside * codes + p] = from[(size_t)k * codes + p];
    single += !in;
    inside += in;
    last  = piece;
    piece = next;
  }
  w->cut.pieces = pieces;
  w->cut.single = single;
  return inside;
}

/* The word that tells how many pieces, single entries and pairs with both a row has that was cut */
static unsigned FillCounts(const SbccooWalk *w, PetscInt i, PetscBool sorted)
{
  const SbccooCut *c      = &w->cut;
  const PetscInt   last   = PetscMax(w->n ? w->column[w->n - 1] : i, w->nboth ? w->bothcolumn[w->nboth - 1] : i);
  const PetscInt   single = sorted ? SBCCOO_SORTED_MAX : SBCCOO_COUNT_MAX;

  if (c->pieces > SBCCOO_COUNT_MAX || c->single > single || w->nboth > SBCCOO_BOTH_MAX || last - i > UINT16_MAX)
    return SBCCOO_WIDE;
  return sorted ? (unsigned)SBCCOO_COUNTS(c->single, 0, w->nboth) : (unsigned)SBCCOO_COUNTS(c->pieces, c->single, w->nboth);
}

/* The words of such a row: a wide one begins with its counts; then pieces, the other entries, and pairs with both */
static void FillWords(const SbccooWalk *w, PetscInt i, PetscBool wide, const PetscInt single[], FillPlace *at)
{
  const SbccooCut *c = &w->cut;

  if (wide) {
    at->index = FillNumber(at->index, wide, (size_t)c->pieces);
    at->index = FillNumber(at->index, wide, (size_t)c->single);
    at->index = FillNumber(at->index, wide, (size_t)w->nboth);
  }
  for (PetscInt k = 1; k <= c->pieces; k++) {
    at->index   = FillNumber(at->index, wide, (size_t)(c->piece[k] - i / SBCCOO_PIECE));
    *at->mask++ = c->mask[k];
  }
  for (PetscInt k = 0; k < c->single; k++) at->index = FillNumber(at->index, wide, (size_t)(single[k] - i));
  for (PetscInt k = 0; k < w->nboth; k++) at->index = FillNumber(at->index, wide, (size_t)(w->bothcolumn[k] - i));
}

/* The row at hand as scalars: values of pieces come first. Which pairs need both entries depends on the values: so do arrays */
static void FillScalars(SbccooWalk *w, PetscInt i, SbccooStorage *s, FillPlace *at)
{
  const size_t codes = SBCCOO_CODES * w->codesize, nboth = (size_t)w->nboth;
  size_t       inside, single;
  unsigned     word;

  if (!codes) inside = (size_t)FillCut(w, at, 0);
  else if (w->codesize == 1) inside = (size_t)FillCut(w, at, SBCCOO_CODES);
  else inside = (size_t)FillCut(w, at, 2 * SBCCOO_CODES);
  single = (size_t)w->cut.single;
  word   = FillCounts(w, i, PETSC_FALSE);

  FillSoon(at, (size_t)w->n);
  *at->index++ = (uint16_t)word;
  FillWords(w, i, (PetscBool)(word == SBCCOO_WIDE), w->cut.column, at);
  memcpy(at->value + inside, w->cut.value, single * sizeof(PetscScalar));
  if (codes) memcpy(at->code + inside * codes, w->cut.code, single * codes);
  s->diagonal[i] = w->value[0];
  at->value += w->n;
  if (codes) at->code += (size_t)w->n * codes;
  if (nboth && at->both + nboth <= s->bothroom) memcpy(s->both + 2 * at->both, w->both, 2 * nboth * sizeof(PetscScalar));
  at->both += nboth;
}

#define FILL_MORE 3 /* values that FillCopy() may read and write beyond n */

/* Copies n values of so many bytes, four at a time: up to three more are read and written. Rows are too short to call a
   function */
static inline __attribute__((always_inline)) void FillCopy(void *to, const void *from, size_t n, size_t bytes)
{
  for (size_t k = 0; k < n; k += 4) memcpy((char *)to + k * bytes, (const char *)from + k * bytes, 4 * bytes);
}

/* A row of the chunk at hand, and where it begins in the chunk's arrays */
typedef struct {
  uint32_t key; /* the word of its counts, and its number */
  PetscInt single, words, nboth;
  size_t   value, index, both;
} FillRow;

/* The rows of the chunk at hand as they come, before they are stored by their lengths. Of each the diagonal entry is first */
typedef struct {
  PetscInt     n;
  FillRow      row[SBCCOO_CHUNK];
  PetscScalar *value, *other, *both;
  PetscInt    *column;
  int8_t      *code;
  uint16_t    *index;
} FillChunk;

static PetscErrorCode FillChunkCreate(const SpmvCSR *csr, const SbccooStorage *s, FillChunk *c)
{
  const size_t most = SbccooChunkMost(csr, s) + SBCCOO_CHUNK + FILL_MORE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(most, &c->value, most, &c->other, 2 * most, &c->both, most, &c->column));
  PetscCall(PetscMalloc2(most * SBCCOO_CODES * sizeof(int16_t), &c->code, 2 * most + 6 * SBCCOO_CHUNK + FILL_MORE, &c->index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillChunkDestroy(FillChunk *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(c->value, c->other, c->both, c->column));
  PetscCall(PetscFree2(c->code, c->index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the chunk from entry `first` on, which is on the diagonal, as those of the row at hand */
static void FillChunkAt(const FillChunk *c, size_t first, SbccooWalk *w)
{
  w->value  = c->value + first;
  w->other  = c->other + first + 1;
  w->column = c->column + first + 1;
  w->code   = c->code + (first + 1) * SBCCOO_CODES * w->codesize;
}

/* The pairs of n rows from row `first` on; returns whether all are told. *reach: the rows before this one are all that they add
   to */
static PetscBool FillChunkPairs(SbccooWalk *w, PetscInt first, PetscInt n, SbccooStorage *s, FillChunk *c, PetscInt *reach)
{
  size_t entries = 0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscInt i = first + k;

    FillChunkAt(c, entries, w);
    SbccooWalkScalars(w, i);
    s->diagonal[i] = w->value[0];
    w->other[-1]   = w->conjugate ? PetscConj(w->value[0]) : w->value[0];
    s->plain[i]    = (uint8_t)w->plain;
    *reach         = PetscMax(*reach, 1 + (w->n ? w->column[w->n - 1] : i));
    c->row[k]      = (FillRow){.value = entries, .single = w->n};
    entries += 1 + (size_t)w->n;
  }
  return (PetscBool)!w->tell(entries, c->value, c->other, w->least, w->conjugate, w->codesize, c->code, w->told);
}

/* Rows [first, first + n) of scalars as those of the chunk at hand; *reach: the rows before this one are all that they add to */
static void FillChunkRows(SbccooWalk *w, PetscInt first, PetscInt n, SbccooStorage *s, FillChunk *c, PetscInt *reach)
{
  const SbccooWalk was  = *w;
  const PetscBool  told = FillChunkPairs(w, first, n, s, c, reach);
  size_t           both = 0;
  FillPlace        at   = {.index = c->index};

  c->n          = n;
  w->nboth      = 0;
  w->cut.pieces = 0;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt i   = first + k;
    FillRow       *row = c->row + k;
    unsigned       word;

    FillChunkAt(c, row->value, w);
    w->n = row->single;
    if (!told) SbccooSplitScalars(w, i, row->value + 1);
    if (w->nboth) memcpy(c->both + 2 * both, w->both, 2 * (size_t)w->nboth * sizeof(PetscScalar));
    w->cut.single = w->n;
    word          = FillCounts(w, i, PETSC_TRUE);
    row->key      = word << 16 | (uint32_t)k;
    row->single   = w->n;
    row->nboth    = w->nboth;
    row->both     = both;
    row->index    = (size_t)(at.index - c->index);
    FillWords(w, i, (PetscBool)(word == SBCCOO_WIDE), w->column, &at);
    row->words = (PetscInt)((size_t)(at.index - c->index) - row->index);
    both += (size_t)w->nboth;
  }
  w->value  = was.value;
  w->other  = was.other;
  w->column = was.column;
  w->code   = was.code;
}

/* The runs of rows with the same word, which is most often that of the row before, by their words: the first row's key of each */
static PetscInt FillChunkRuns(const FillChunk *c, uint32_t run[])
{
  PetscInt n = 0;

  for (PetscInt k = 0; k < c->n; k++) {
    const uint32_t key = c->row[k].key;
    PetscInt       to;

    if (k && key >> 16 == c->row[k - 1].key >> 16) continue;
    for (to = n++; to > 0 && run[to - 1] > key; to--) run[to] = run[to - 1];
    run[to] = key;
  }
  return n;
}

/* Stores a row of the chunk, without the word of its counts; codes: bytes of an entry's codes, a constant */
static inline __attribute__((always_inline)) void FillChunkRow(const FillChunk *c, const FillRow *row, size_t codes,
                                                               SbccooStorage *s, FillPlace *at)
{
  const size_t both = (size_t)row->nboth, single = (size_t)row->single;

  FillSoon(at, single);
  *at->row++ = (uint8_t)(row->key & UINT16_MAX);
  FillCopy(at->value, c->value + row->value + 1, single, sizeof(PetscScalar));
  if (codes) FillCopy(at->code, c->code + (row->value + 1) * codes, single, codes);
  FillCopy(at->index, c->index + row->index, (size_t)row->words, sizeof(uint16_t));
  if (both && at->both + both <= s->bothroom)
    memcpy(s->both + 2 * at->both, c->both + 2 * row->both, 2 * both * sizeof(PetscScalar));
  at->value += single;
  if (codes) at->code += single * codes;
  at->index += row->words;
  at->both += both;
}

/* Stores the rows of the chunk by their lengths. As neighbours have the same, a processor foresees where these loops end */
static void FillChunkStore(const FillChunk *c, SbccooStorage *s, FillPlace *at)
{
  uint32_t       run[SBCCOO_CHUNK];
  uint16_t      *count = NULL;
  const PetscInt nruns = FillChunkRuns(c, run);

  for (PetscInt r = 0; r < nruns; r++) {
    const uint32_t word = run[r] >> 16;

    if (!r || word != run[r - 1] >> 16) {
      *at->index++ = (uint16_t)word;
      count        = at->index++;
      *count       = 0;
    }
    for (PetscInt k = run[r] & UINT16_MAX; k < c->n && c->row[k].key >> 16 == word; k++) {
      if (!s->codesize) FillChunkRow(c, c->row + k, 0, s, at);
      else if (s->codesize == 1) FillChunkRow(c, c->row + k, SBCCOO_CODES, s, at);
      else FillChunkRow(c, c->row + k, 2 * SBCCOO_CODES, s, at);
      ++*count;
    }
  }
}
