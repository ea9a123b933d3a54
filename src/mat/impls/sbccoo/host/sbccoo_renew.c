/*
  sbccoo_renew.c - new values in the arrays that a storage has

  Where a pair lies depends on the pattern only, and what was found of that when the storage was built is taken for granted: in
  plain rows no column is compared with another. A pair of blocks that no code tells has one that says so. Without codes, and of
  scalars, a pair that is not told any more is 0 in its place, and both its entries are in the rest. Where there are more than some
  of these, or no room for what no codes tell, the arrays are made anew instead.
*/
#include "sbccoo_walk.h"

#define RENEW_FAR 256 /* of so many pairs one may be in the rest, and a few more */

/* Where the next row is in the arrays */
typedef struct {
  PetscScalar *value, *both;
  int8_t      *code;
  uint16_t    *index;
  SbccooFars   fars;
  size_t       far; /* pairs so far that are in the rest since they are not told */
} RenewPlace;

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
  if (w->tell((size_t)n * entries, at->value, w->other, w->least, w->conjugate, at->code, w->told))
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

/*
  Values of row i, which is plain and has no pair of which both entries are stored: the entries in pieces, then the others, the
  first of each pair to at->value and the second one to w->mate. Nothing here branches on what columns are
*/
static void RenewPlainRow(SbccooWalk *w, PetscInt i, PetscInt nsingle, RenewPlace *at)
{
  const SpmvCSR     *csr   = w->csr;
  const PetscInt     first = w->left[i].next + 1, n = w->left[i].end - first, whole = w->whole;
  const PetscInt    *column = csr->j + first;
  const PetscScalar *a      = csr->a + first;
  RenewSlots         slots  = {.inside = n - nsingle};
  PetscInt           last = -1, piece = n ? column[0] / SBCCOO_PIECE : -1;

  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *mate  = csr->a + w->left[column[k]].next++;
    const PetscInt     next  = k + 1 < n ? (PetscInt)((unsigned)column[k + 1] / SBCCOO_PIECE) : -1;
    const int          alone = !((piece == last) | (piece == next)) | (piece >= whole);
    const PetscInt     to    = RenewSlot(&slots, alone);

    __builtin_prefetch((const char *)mate + SPMV_CACHE_LINE, 0, 3);
    at->value[to] = a[k];
    w->mate[to]   = *mate;
    last          = piece;
    piece         = next;
  }
  w->n = n;
}

/*
  The same of any row, by the index. `far`: instead, pairs that are not told go to the rest
*/
static void RenewAnyRow(SbccooWalk *w, PetscInt i, PetscBool wide, const PetscInt count[3], PetscBool far, RenewPlace *at)
{
  const PetscInt  words  = wide ? 2 : 1;
  const uint16_t *single = at->index + words * count[0], *both = single + words * count[1];
  RenewSlots      slots = {.inside = w->n - count[1] - count[2]};
  PetscInt        two   = 0;

  for (PetscInt k = 0; k < w->n; k++) {
    const size_t   away = (size_t)(w->column[k] - i);
    const PetscInt one  = slots.one;
    PetscInt       to;

    if (two < count[2] && SbccooNumber(both, two, wide) == away) {
      at->both[2 * two]       = w->value[k + 1];
      at->both[2 * two++ + 1] = w->other[k];
      continue;
    }
    to = RenewSlot(&slots, one < count[1] && SbccooNumber(single, one, wide) == away);
    if (!far) {
      at->value[to] = w->value[k + 1];
      w->mate[to]   = w->other[k];
    } else if (SbccooIsTold(w->told, (size_t)to)) continue;
    else if (w->upper) SbccooCheck(w, i, w->column[k], w->value[k + 1], w->other[k]);
    else {
      SbccooAlone(w, i, w->column[k], w->value[k + 1]);
      SbccooAlone(w, w->column[k], i, w->other[k]);
      at->value[to] = 0;
      if (at->code) memset(at->code + (size_t)to * SBCCOO_CODES, 0, SBCCOO_CODES);
      at->far++;
    }
  }
}

/* The pairs of row i, which is plain, as SbccooWalkScalars() has them; taken: 1 if their rows have moved on already */
static void RenewPairs(SbccooWalk *w, PetscInt i, PetscInt taken)
{
  const SpmvCSR *csr   = w->csr;
  const PetscInt first = w->left[i].next + 1, n = w->left[i].end - first;

  for (PetscInt k = 0; k < n; k++) {
    w->column[k]    = csr->j[first + k];
    w->value[k + 1] = csr->a[first + k];
    w->other[k]     = csr->a[w->left[w->column[k]].next - taken];
    w->left[w->column[k]].next += 1 - taken;
  }
  w->value[0] = csr->a[first - 1];
  w->n        = n;
}

/* A row of scalars, where it is stored */
typedef struct {
  RenewPlace at;
  PetscInt   count[3];
  PetscBool  wide;
} RenewRow;

/*
  Where the rows of a chunk of n are, from `at` on; returns what the next chunk begins with. row: as SbccooStorage's, of the chunk
*/
static RenewPlace RenewFind(const uint8_t row[], const uint8_t **mask, PetscInt n, RenewPlace at, RenewRow rows[])
{
  for (PetscInt done = 0; done < n;) {
    const uint16_t word = *at.index++;
    const PetscInt end  = done + (row ? *at.index++ : 1);

    for (; done < end; done++) {
      RenewRow *r     = rows + (row ? row[done] : done);
      size_t    pairs = 0;

      r->wide = (PetscBool)(word == SBCCOO_WIDE);
      SbccooCounts(word, (PetscBool)(row != NULL), r->count);
      if (PetscUnlikely(r->wide)) {
        for (int c = 0; c < 3; c++) r->count[c] = (PetscInt)SbccooNumber(at.index, c, PETSC_TRUE);
        at.index += 6;
      }
      r->at = at;
      for (PetscInt p = 0; p < r->count[0]; p++) pairs += (size_t)__builtin_popcount(*(*mask)++);
      pairs += (size_t)r->count[1];
      at.value += pairs;
      if (at.code) at.code += pairs * SBCCOO_CODES;
      at.both += 2 * r->count[2];
      at.index += (r->wide ? 2 : 1) * (r->count[0] + r->count[1] + r->count[2]);
    }
  }
  return at;
}

/* Row i, which is where `row` says; returns how many pairs are not told */
static size_t RenewScalars(SbccooWalk *w, SbccooStorage *s, PetscInt i, RenewRow *row)
{
  RenewPlace     *at    = &row->at;
  const PetscInt *count = row->count;
  const PetscBool plain = (PetscBool)s->plain[i], quick = (PetscBool)(plain && !count[2]);

  at->far = 0;
  if (PetscLikely(quick)) {
    s->diagonal[i] = w->csr->a[w->left[i].next];
    RenewPlainRow(w, i, count[1], at);
  } else {
    if (plain) RenewPairs(w, i, 0);
    else SbccooWalkScalars(w, i);
    s->diagonal[i] = w->value[0];
    RenewAnyRow(w, i, row->wide, count, PETSC_FALSE, at);
  }
  if (PetscUnlikely(w->tell((size_t)(w->n - count[2]), at->value, w->mate, w->least, w->conjugate, at->code, w->told))) {
    if (quick) RenewPairs(w, i, 1);
    RenewAnyRow(w, i, row->wide, count, PETSC_TRUE, at);
  }
  return at->far;
}

/* All rows of scalars, chunk by chunk: in a chunk they may be stored in another order than they come */
static void RenewChunks(SbccooWalk *w, SbccooStorage *s, size_t limit, RenewPlace *at)
{
  const uint8_t *mask = s->mask;
  RenewRow       rows[SBCCOO_CHUNK];

  for (PetscInt p = 0; p < s->nparts; p++) {
    for (PetscInt first = s->part[p].first; first < s->part[p].last && at->far <= limit; first += SBCCOO_CHUNK) {
      const PetscInt n   = PetscMin(SBCCOO_CHUNK, s->part[p].last - first);
      size_t         far = at->far;

      *at = RenewFind(s->row ? s->row + first : NULL, &mask, n, *at, rows);
      for (PetscInt k = 0; k < n; k++) far += RenewScalars(w, s, first + k, rows + k);
      at->far = far;
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
  const size_t limit = 4 + s->nblocks * SbccooEntries(s) / RENEW_FAR;

  PetscFunctionBegin;
  PetscCall(SbccooWalkCreate(csr, s, &w));
  PetscCall(SbccooListRoom(s->restroom[1] + 2 * limit, &list));
  SbccooWalkBegin(s, &w);
  if (s->b == 1) RenewChunks(&w, s, limit, &at);
  for (PetscInt i = 0; s->b > 1 && i < s->nb && at.far <= limit; i++) {
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
  PetscFunctionReturn(PETSC_SUCCESS);
}
