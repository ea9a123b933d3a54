/*
  sbccoo_renew.c - new values in the arrays that a storage has

  Where a pair lies depends on the pattern only, and what was found of that when the storage was built is taken for granted: in
  plain rows no column is compared with another. A pair of blocks that no code tells has one that says so. Without codes, and of
  scalars, a pair that is not told any more is 0 in its place, and both its entries are in the rest. Where there are more than
  some of these, or no room for what no codes tell, the arrays are made anew instead.

  Scalars whose values change a second time keep where AIJ has them (sbccoo_places.c), as long as all pairs are told.
*/
#include "sbccoo_renew.h"

#define RENEW_FAR 256 /* of so many pairs one more may be in the rest than when it was built, and a few */

/* Which of n blocks that are stored is the c-th in the order of the columns */
static inline PetscInt RenewStored(PetscInt n, PetscInt c)
{
  const PetscInt half = (n + 1) / 2;

  return c < half ? 2 * c : 2 * (c - half) + 1;
}

/* The pairs of a row of n blocks that are not told */
static void RenewBlocksFar(SbccooWalk *w, PetscInt i, int b, PetscBool wide, PetscInt n, RenewPlace *at)
{
  const SbccooThere all   = {~UINT64_C(0), ~UINT64_C(0)};
  const size_t      pairs = (size_t)n * (size_t)(b * b);

  if (at->code) {
    for (size_t p = 0; p < pairs; p++) {
      if (!SbccooIsTold(w->told, p)) SbccooSetFar(at->code + p * SBCCOO_CODES);
    }
    SbccooAddFars(pairs, at->code, w->other, &at->fars);
    return;
  }
  for (PetscInt c = 0; c < n; c++) {
    const PetscInt k = RenewStored(n, c), j = i + (PetscInt)SbccooNumber(at->index, k, wide);

    for (int e = 0; e < b * b; e++) {
      const size_t p = (size_t)k * (size_t)(b * b) + (size_t)e;

      if (SbccooIsTold(w->told, p)) continue;
      if (w->upper) {
        SbccooCheck(w, i * b + e / b, j * b + e % b, at->value[p], w->other[p]);
        continue;
      }
      SbccooPairAlone(w, i, j, b, e, all, at->value[p], w->other[p]);
      at->value[p] = 0;
      at->far++;
    }
  }
}

/* Block row i, which is plain */
static inline __attribute__((always_inline)) void RenewPlain(SbccooWalk *w, PetscInt i, int b, PetscBool wide, PetscInt n,
                                                             RenewPlace *at)
{
  const size_t       entries = (size_t)(b * b);
  const PetscScalar *a       = w->csr->a, *row[SBCCOO_BLOCK_MAX];
  PetscScalar       *value = at->value, *other = w->other;

  for (int r = 0; r < b; r++) {
    row[r] = a + w->left[i * b + r].next;
    for (int c = 0; c < b; c++) *value++ = *row[r]++;
  }
  at->value = value;
  for (PetscInt k = 0; k < n; k++, value += entries, other += entries) {
    const PetscInt c    = SbccooColumn(n, k) * b;
    SbccooLeft    *left = w->left + (i + (PetscInt)SbccooNumber(at->index, k, wide)) * b;

    for (int r = 0; r < b; r++) {
      for (int q = 0; q < b; q++) value[r * b + q] = row[r][c + q];
    }
    for (int q = 0; q < b; q++) {
      const PetscScalar *mate = a + left[q].next;

      left[q].next += b;
      __builtin_prefetch((const char *)mate + SPMV_CACHE_LINE, 0, 3);
      for (int r = 0; r < b; r++) other[r * b + q] = mate[r];
    }
  }
  if (w->tell((size_t)n * entries, at->value, w->other, w->least, w->conjugate, w->codesize, at->code, w->told))
    RenewBlocksFar(w, i, b, wide, n, at);
}

/* Block row i, any */
static inline __attribute__((always_inline)) void RenewWalked(SbccooWalk *w, PetscInt i, int b, RenewPlace *at)
{
  const size_t entries = (size_t)(b * b), codes = entries * SBCCOO_CODES, far = w->far;

  SbccooWalkRow(w, i, b);
  at->far += w->far - far;
  memcpy(at->value, w->value, entries * sizeof(PetscScalar));
  at->value += entries;
  for (PetscInt k = 0; k < w->n; k++) {
    const size_t c = (size_t)SbccooColumn(w->n, k);

    memcpy(at->value + (size_t)k * entries, w->value + (c + 1) * entries, entries * sizeof(PetscScalar));
    if (at->code) memcpy(at->code + (size_t)k * codes, w->code + c * codes, codes);
    if (w->hasfar) SbccooAddFars(entries, w->code + c * codes, w->other + c * entries, &at->fars);
  }
}

static inline __attribute__((always_inline)) void RenewBlocks(SbccooWalk *w, const SbccooStorage *s, PetscInt i, int b,
                                                              RenewPlace *at)
{
  const PetscBool wide   = (PetscBool)(*at->index == SBCCOO_WIDE);
  uint16_t       *word   = at->index + wide;
  const uint32_t  number = (uint32_t)SbccooNumber(word, 0, wide);
  const PetscInt  n      = (PetscInt)(number & ~SBCCOO_HAS_FAR(wide));
  const size_t    fars   = at->fars.n;

  at->index = word + (wide ? 2 : 1);
  if (PetscLikely(s->plain[i])) RenewPlain(w, i, b, wide, n, at);
  else RenewWalked(w, i, b, at);
  SbccooSetNumber(word, wide, (size_t)n | (at->fars.n > fars ? SBCCOO_HAS_FAR(wide) : 0));
  at->value += (size_t)n * (size_t)(b * b);
  if (at->code) at->code += (size_t)n * (size_t)(b * b) * SBCCOO_CODES;
  at->index += wide ? 2 * n : n;
}

/* Where entry k goes: an entry that is in a piece, or by itself. `in` and `one` are how many of each were before it */
typedef struct {
  PetscInt in, one, inside;
} RenewSlots;

static inline PetscInt RenewSlot(RenewSlots *s, int alone)
{
  const PetscInt to = alone ? s->inside + s->one : s->in;

  s->one += alone;
  s->in += !alone;
  return to;
}

/* Values of row i, which is plain, of rows by their lengths: the first entries of pairs to at.value and the second ones to
   mate */
static void RenewSortedRow(SbccooWalk *w, PetscInt i, const RenewRow *row)
{
  const SpmvCSR     *csr   = w->csr;
  const PetscInt     first = w->left[i].next + 1, n = w->left[i].end - first;
  const PetscInt    *column = csr->j + first;
  const PetscScalar *a      = csr->a + first;
  const uint16_t    *both   = row->at.index + (row->wide ? 2 : 1) * row->count[1];
  PetscScalar       *value = row->at.value, *mates = row->mate;
  PetscInt           two = 0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *mate = csr->a + w->left[column[k]].next++;

    __builtin_prefetch((const char *)mate + SPMV_CACHE_LINE, 0, 3);
    if (two < row->count[2] && SbccooNumber(both, two, row->wide) == (size_t)(column[k] - i)) {
      row->at.both[2 * two]       = a[k];
      row->at.both[2 * two++ + 1] = *mate;
    } else {
      *value++ = a[k];
      *mates++ = *mate;
    }
  }
}

/*
  The same of rows that are cut, without pairs of which both entries are stored: the entries in pieces, then the others. Nothing
  here branches on what columns are
*/
static void RenewCutRow(SbccooWalk *w, PetscInt i, const RenewRow *row)
{
  const SpmvCSR     *csr   = w->csr;
  const PetscInt     first = w->left[i].next + 1, n = w->left[i].end - first, whole = w->nb / SBCCOO_PIECE;
  const PetscInt    *column = csr->j + first;
  const PetscScalar *a      = csr->a + first;
  RenewSlots         slots  = {.inside = n - row->count[1]};
  PetscInt           last = -1, piece = n ? column[0] / SBCCOO_PIECE : -1;

  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *mate  = csr->a + w->left[column[k]].next++;
    const PetscInt     next  = k + 1 < n ? (PetscInt)((unsigned)column[k + 1] / SBCCOO_PIECE) : -1;
    const int          alone = !SbccooInPiece(last, piece, next, whole);
    const PetscInt     to    = RenewSlot(&slots, alone);

    __builtin_prefetch((const char *)mate + SPMV_CACHE_LINE, 0, 3);
    row->at.value[to] = a[k];
    row->mate[to]     = *mate;
    last              = piece;
    piece             = next;
  }
}

/* The same of any row, by the index */
static void RenewAnyRow(const SbccooWalk *w, PetscInt i, const RenewRow *row)
{
  const PetscInt  words  = row->wide ? 2 : 1;
  const uint16_t *single = row->at.index + words * row->count[0], *both = single + words * row->count[1];
  RenewSlots      slots = {.inside = w->n - row->count[1] - row->count[2]};
  PetscInt        two   = 0;

  for (PetscInt k = 0; k < w->n; k++) {
    const size_t   away = (size_t)(w->column[k] - i);
    const PetscInt one  = slots.one;
    PetscInt       to;

    if (two < row->count[2] && SbccooNumber(both, two, row->wide) == away) {
      row->at.both[2 * two]       = w->value[k + 1];
      row->at.both[2 * two++ + 1] = w->other[k];
      continue;
    }
    to                = RenewSlot(&slots, one < row->count[1] && SbccooNumber(single, one, row->wide) == away);
    row->at.value[to] = w->value[k + 1];
    row->mate[to]     = w->other[k];
  }
}

/* The pairs of row i, which is plain, as SbccooWalkScalars() has them */
static void RenewPairs(SbccooWalk *w, PetscInt i)
{
  const SpmvCSR *csr   = w->csr;
  const PetscInt first = w->left[i].next + 1, n = w->left[i].end - first;

  for (PetscInt k = 0; k < n; k++) {
    w->column[k]    = csr->j[first + k];
    w->value[k + 1] = csr->a[first + k];
    w->other[k]     = csr->a[w->left[w->column[k]].next++];
  }
  w->value[0] = csr->a[first - 1];
  w->n        = n;
}

/* An entry of row i, in column j, whose second entry is not told: both go to the rest */
static size_t RenewUntold(SbccooWalk *w, PetscInt i, PetscInt j, const RenewRow *row, size_t k)
{
  PetscScalar *a = row->at.value + k;

  if (w->upper) {
    SbccooCheck(w, i, j, *a, row->mate[k]);
    return 0;
  }
  SbccooAlone(w, i, j, *a);
  SbccooAlone(w, j, i, row->mate[k]);
  *a = 0;
  if (row->at.code) memset(row->at.code + k * SBCCOO_CODES * w->codesize, 0, SBCCOO_CODES * w->codesize);
  return 1;
}

/* The pairs of row i that are not told, of which the first one is the chunk's `pair`-th; returns how many go to the rest */
static size_t RenewFarRow(SbccooWalk *w, PetscInt i, const RenewRow *row, size_t pair)
{
  const PetscInt  words  = row->wide ? 2 : 1;
  const uint16_t *single = row->at.index + words * row->count[0];
  size_t          k = 0, far = 0;

  for (PetscInt p = 0; p < row->count[0]; p++) {
    const PetscInt piece = i / SBCCOO_PIECE + (PetscInt)SbccooNumber(row->at.index, p, row->wide);

    for (unsigned mask = row->mask[p]; mask; mask &= mask - 1, k++) {
      if (!SbccooIsTold(w->told, pair + k)) far += RenewUntold(w, i, piece * SBCCOO_PIECE + __builtin_ctz(mask), row, k);
    }
  }
  for (PetscInt p = 0; p < row->count[1]; p++, k++) {
    if (!SbccooIsTold(w->told, pair + k)) far += RenewUntold(w, i, i + (PetscInt)SbccooNumber(single, p, row->wide), row, k);
  }
  return far;
}

/* The n rows of a chunk from row `first` on, which are where `rows` says, and have `pairs` pairs that are told; returns how many
   are not */
static size_t RenewChunk(SbccooWalk *w, SbccooStorage *s, PetscInt first, PetscInt n, const RenewRow rows[],
                         const RenewPlace *begin, size_t pairs)
{
  size_t far = 0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscInt  i     = first + k;
    const PetscBool plain = (PetscBool)s->plain[i];

    if (PetscLikely(plain && (s->row || !rows[k].count[2]))) {
      s->diagonal[i] = w->csr->a[w->left[i].next];
      if (s->row) RenewSortedRow(w, i, rows + k);
      else RenewCutRow(w, i, rows + k);
      continue;
    }
    if (plain) RenewPairs(w, i);
    else SbccooWalkScalars(w, i);
    s->diagonal[i] = w->value[0];
    RenewAnyRow(w, i, rows + k);
  }
  if (PetscLikely(!w->tell(pairs, begin->value, w->mate, w->least, w->conjugate, w->codesize, begin->code, w->told))) return 0;
  for (PetscInt k = 0; k < n; k++) far += RenewFarRow(w, first + k, rows + k, (size_t)(rows[k].mate - w->mate));
  return far;
}

/* All rows of scalars, chunk by chunk: in a chunk they may be stored in another order than they come */
static void RenewChunks(SbccooWalk *w, SbccooStorage *s, size_t limit, RenewPlace *at)
{
  const uint8_t *mask = s->mask;
  RenewRow       rows[SBCCOO_CHUNK];

  for (PetscInt p = 0; p < s->nparts; p++) {
    for (PetscInt first = s->part[p].first; first < s->part[p].last && at->far <= limit; first += SBCCOO_CHUNK) {
      const PetscInt   n     = PetscMin(SBCCOO_CHUNK, s->part[p].last - first);
      const RenewPlace begin = *at;

      *at = RenewFind(w->codesize, w->mate, s->row ? s->row + first : NULL, &mask, n, begin, rows);
      at->far += RenewChunk(w, s, first, n, rows, &begin, (size_t)(at->value - begin.value));
    }
  }
}

/*
  SbccooRenew - gives a storage the values of a matrix with the same pattern

  Output Parameter:
. done - PETSC_FALSE: what is stored of pairs does not suit these values; the arrays are to be made anew
*/
PetscErrorCode SbccooRenew(const SpmvCSR *csr, SbccooStorage *s, PetscBool *done)
{
  SPMV_DESTROY_BY(SbccooListDestroy) SbccooList list = {0};
  SPMV_DESTROY_BY(SbccooWalkDestroy)
  SbccooWalk w  = {.rest = &list};
  RenewPlace at = {
    .value = s->value, .both = s->both, .code = s->code, .index = s->index, .fars = {.far = s->far, .room = s->farroom}};
  PetscInt     part  = 0;
  const size_t limit = 4 + s->untold + s->nblocks * SbccooEntries(s) / RENEW_FAR;

  PetscFunctionBegin;
  if (s->places.pair) {
    PetscCall(SbccooPlacesSet(csr, s, done));
    if (*done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(SbccooPlacesDestroy(&s->places));
    s->renewed = -1;
  }
  PetscCall(SbccooWalkCreate(csr, s, &w));
  PetscCall(SbccooListRoom(s->restroom[1] + 2 * limit, &list));
  SbccooWalkBegin(s, &w);
  if (s->b == 1) RenewChunks(&w, s, limit, &at);
  for (PetscInt i = 0; s->b > 1 && i < s->nb && at.far <= limit && at.fars.n <= at.fars.room; i++) {
    for (; part < s->nparts && s->part[part].first == i; part++) s->part[part].far = at.fars.n;
    if (s->b == 2) RenewBlocks(&w, s, i, 2, &at);
    else if (s->b == 3) RenewBlocks(&w, s, i, 3, &at);
    else RenewBlocks(&w, s, i, (int)s->b, &at);
  }
  for (PetscInt i = s->nb * s->b; i < s->m; i++) SbccooPass(&w, i, s->n);
  PetscCall(SbccooRefuse(&w));
  for (; part < s->nparts; part++) s->part[part].far = at.fars.n;
  s->nfar = at.fars.n;
  *done   = (PetscBool)(at.far <= limit && list.n <= list.room && s->nfar <= s->farroom);
  if (*done) PetscCall(SbccooRestSet(&list, s));
  if (*done && s->b == 1 && !at.far && s->renewed >= 0 && s->renewed++) PetscCall(SbccooPlacesMake(csr, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
