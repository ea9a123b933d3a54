/*
  sbccoo_cut.h - rows of scalars as they are stored: cut into pieces and single entries; or of single entries alone, those of a
  chunk by their lengths
*/
#pragma once
#include "sbccoo_walk.h"

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

static uint16_t *FillNumber(uint16_t *to, PetscBool wide, size_t number)
{
  SbccooSetNumber(to, wide, number);
  return to + (wide ? 2 : 1);
}

/*
  Cuts the row at hand into pieces and single entries: values and codes of the former go where they belong, all else to w->cut.
  Returns the entries in pieces. Nothing here branches on what columns are
*/
static PetscInt FillCut(SbccooWalk *w, const FillPlace *at)
{
  const PetscInt n = w->n, whole = w->nb / SBCCOO_PIECE;
  SbccooCut     *c      = &w->cut;
  PetscInt       inside = 0, last = -1;

  c->pieces = c->single = 0;
  for (PetscInt k = 0; k < n; k++) {
    const unsigned column = (unsigned)w->column[k];
    const PetscInt piece = (PetscInt)(column / SBCCOO_PIECE), next = k + 1 < n ? w->column[k + 1] / SBCCOO_PIECE : -1;
    const int      same = piece == last, in = (same | (piece == next)) & (piece < whole);
    PetscInt       slot;

    c->pieces += in & !same;
    slot                 = in ? c->pieces : 0;
    c->piece[slot]       = piece;
    c->mask[slot]        = (uint8_t)((same ? c->mask[slot] : 0) | in << column % SBCCOO_PIECE);
    c->column[c->single] = (PetscInt)column;
    c->value[c->single] = at->value[inside] = w->value[k + 1];
    for (size_t p = 0; at->code && p < SBCCOO_CODES; p++) {
      const int8_t code = w->code[(size_t)k * SBCCOO_CODES + p];

      c->code[(size_t)c->single * SBCCOO_CODES + p] = at->code[(size_t)inside * SBCCOO_CODES + p] = code;
    }
    c->single += !in;
    inside += in;
    last = piece;
  }
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
  const size_t   inside = (size_t)FillCut(w, at), single = (size_t)w->cut.single, nboth = (size_t)w->nboth;
  const unsigned word = FillCounts(w, i, PETSC_FALSE);

  *at->index++ = (uint16_t)word;
  FillWords(w, i, (PetscBool)(word == SBCCOO_WIDE), w->cut.column, at);
  memcpy(at->value + inside, w->cut.value, single * sizeof(PetscScalar));
  if (at->code) memcpy(at->code + inside * SBCCOO_CODES, w->cut.code, single * SBCCOO_CODES);
  s->diagonal[i] = w->value[0];
  at->value += w->n;
  if (at->code) at->code += (size_t)w->n * SBCCOO_CODES;
  if (nboth && at->both + nboth <= s->bothroom) memcpy(s->both + 2 * at->both, w->both, 2 * nboth * sizeof(PetscScalar));
  at->both += nboth;
}

/* A row of the chunk at hand, which begins at `at` in the chunk's arrays */
typedef struct {
  FillPlace at;
  uint32_t  key; /* the word of its counts, and its number */
  PetscInt  single, words, nboth;
} FillRow;

/* The rows of the chunk at hand as they come, before they are stored by their lengths */
typedef struct {
  PetscInt     n;
  FillPlace    end; /* where the next one begins */
  FillRow      row[SBCCOO_CHUNK];
  PetscScalar *value, *both;
  int8_t      *code;
  uint16_t    *index;
} FillChunk;

static void FillChunkBegin(const SbccooStorage *s, FillChunk *c)
{
  c->n   = 0;
  c->end = (FillPlace){.value = c->value, .code = s->code ? c->code : NULL, .index = c->index};
}

static PetscErrorCode FillChunkCreate(const SpmvCSR *csr, const SbccooStorage *s, FillChunk *c)
{
  const size_t most = SbccooChunkMost(csr, s);

  PetscFunctionBegin;
  PetscCall(
    PetscMalloc4(most, &c->value, 2 * most, &c->both, most * SBCCOO_CODES, &c->code, 2 * most + 6 * SBCCOO_CHUNK, &c->index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillChunkDestroy(FillChunk *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(c->value, c->both, c->code, c->index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row at hand as scalars of the chunk */
static void FillChunkRow(SbccooWalk *w, PetscInt i, SbccooStorage *s, FillChunk *c)
{
  FillRow     *row = c->row + c->n;
  FillPlace    at  = c->end;
  const size_t n   = (size_t)w->n;
  unsigned     word;

  w->cut.pieces = 0;
  w->cut.single = w->n;
  word          = FillCounts(w, i, PETSC_TRUE);
  memcpy(at.value, w->value + 1, n * sizeof(PetscScalar));
  if (at.code) memcpy(at.code, w->code, n * SBCCOO_CODES);
  memcpy(c->both + 2 * at.both, w->both, 2 * (size_t)w->nboth * sizeof(PetscScalar));
  FillWords(w, i, (PetscBool)(word == SBCCOO_WIDE), w->column, &at);
  s->diagonal[i] = w->value[0];
  *row           = (FillRow){.at     = c->end,
                             .key    = word << 16 | (uint32_t)c->n++,
                             .single = w->n,
                             .words  = (PetscInt)(at.index - c->end.index),
                             .nboth  = w->nboth};
  c->end.value += n;
  if (at.code) c->end.code += n * SBCCOO_CODES;
  c->end.index = at.index;
  c->end.both += (size_t)w->nboth;
}

/* Stores the rows of the chunk by their lengths. As neighbours have the same, a processor foresees where these loops end */
static void FillChunkStore(FillChunk *c, SbccooStorage *s, FillPlace *at)
{
  uint32_t  key[SBCCOO_CHUNK];
  uint16_t *count = NULL;

  for (PetscInt k = 0; k < c->n; k++) {
    PetscInt to = k;

    for (; to > 0 && key[to - 1] > c->row[k].key; to--) key[to] = key[to - 1];
    key[to] = c->row[k].key;
  }
  for (PetscInt k = 0; k < c->n; k++) {
    const FillRow *row  = c->row + (key[k] & UINT16_MAX);
    const size_t   both = (size_t)row->nboth;

    if (!k || key[k] >> 16 != key[k - 1] >> 16) {
      *at->index++ = (uint16_t)(key[k] >> 16);
      count        = at->index++;
      *count       = 0;
    }
    ++*count;
    *at->row++ = (uint8_t)(key[k] & UINT16_MAX);
    for (PetscInt e = 0; e < row->single; e++) at->value[e] = row->at.value[e];
    for (size_t e = 0; at->code && e < (size_t)row->single * SBCCOO_CODES; e++) at->code[e] = row->at.code[e];
    for (PetscInt e = 0; e < row->words; e++) at->index[e] = row->at.index[e];
    for (size_t e = 0; e < 2 * both && at->both + both <= s->bothroom; e++)
      s->both[2 * at->both + e] = c->both[2 * row->at.both + e];
    at->value += row->single;
    if (at->code) at->code += (size_t)row->single * SBCCOO_CODES;
    at->index += row->words;
    at->both += both;
  }
  FillChunkBegin(s, c);
}
