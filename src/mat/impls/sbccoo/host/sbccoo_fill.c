/*
  sbccoo_fill.c - the arrays of the halves, from the pairs
*/
#include "sbccoo_walk.h"

/* Where the next row goes in the arrays */
typedef struct {
  PetscScalar *value;
  int8_t      *code;
  uint16_t    *index;
  uint8_t     *mask;
} FillPlace;

static uint16_t *FillNumber(uint16_t *to, PetscBool wide, PetscInt number)
{
  const uint32_t word = (uint32_t)number;

  if (!wide) {
    *to = (uint16_t)number;
    return to + 1;
  }
  memcpy(to, &word, sizeof(word));
  return to + 2;
}

/* Which of n columns is the k-th that is stored: those of the first half alternate with the others */
static inline PetscInt FillColumn(PetscInt n, PetscInt k)
{
  return k % 2 ? (n + 1) / 2 + k / 2 : k / 2;
}

/* The row at hand as blocks */
static void FillBlocks(const SbccooWalk *w, PetscInt i, PetscInt b, PetscBool pattern, FillPlace *at)
{
  const size_t    entries = (size_t)(b * b), codes = entries * SBCCOO_CODES;
  const PetscInt  n    = w->n;
  const PetscBool wide = (PetscBool)(n >= SBCCOO_WIDE || (n && w->column[n - 1] - i > UINT16_MAX));

  memcpy(at->value, w->value, entries * sizeof(PetscScalar));
  at->value += entries;
  if (pattern) {
    if (wide) *at->index++ = SBCCOO_WIDE;
    at->index = FillNumber(at->index, wide, n);
  }
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt c = FillColumn(n, k);

    memcpy(at->value, w->value + (size_t)(c + 1) * entries, entries * sizeof(PetscScalar));
    at->value += entries;
    if (at->code) {
      memcpy(at->code, w->code + (size_t)c * codes, codes);
      at->code += codes;
    }
    if (pattern) at->index = FillNumber(at->index, wide, w->column[c] - i);
  }
}

/* True if a neighbour of column k is in the same piece, and the piece is whole */
static inline PetscBool FillInPiece(const SbccooWalk *w, PetscInt k)
{
  const PetscInt piece = w->column[k] / SBCCOO_PIECE;

  if (piece >= w->nb / SBCCOO_PIECE) return PETSC_FALSE;
  return (PetscBool)((k > 0 && w->column[k - 1] / SBCCOO_PIECE == piece) ||
                     (k + 1 < w->n && w->column[k + 1] / SBCCOO_PIECE == piece));
}

/* The words of a row of scalars: pieces, and the other entries */
static void FillWords(const SbccooWalk *w, PetscInt i, PetscInt single, PetscInt pieces, FillPlace *at)
{
  const PetscBool wide = (PetscBool)(pieces > 255 || single > 255 || (pieces == 255 && single == 255) ||
                                     (w->n && w->column[w->n - 1] - i > UINT16_MAX));

  if (wide) {
    *at->index++ = SBCCOO_WIDE;
    at->index    = FillNumber(at->index, wide, pieces);
    at->index    = FillNumber(at->index, wide, single);
  } else *at->index++ = (uint16_t)(pieces + 256 * single);
  for (PetscInt k = 0, last = -1; k < w->n; k++) {
    const PetscInt piece = w->column[k] / SBCCOO_PIECE;

    if (!FillInPiece(w, k)) continue;
    if (piece != last) {
      at->index   = FillNumber(at->index, wide, piece - i / SBCCOO_PIECE);
      *at->mask++ = 0;
    }
    at->mask[-1] |= (uint8_t)(1 << w->column[k] % SBCCOO_PIECE);
    last = piece;
  }
  for (PetscInt k = 0; k < w->n; k++) {
    if (!FillInPiece(w, k)) at->index = FillNumber(at->index, wide, w->column[k] - i);
  }
}

/* The row at hand as scalars: values of pieces come first */
static void FillScalars(const SbccooWalk *w, PetscInt i, PetscBool pattern, FillPlace *at)
{
  PetscInt inside = 0, pieces = 0, to[2];

  for (PetscInt k = 0, last = -1; k < w->n; k++) {
    if (!FillInPiece(w, k)) continue;
    inside++;
    pieces += w->column[k] / SBCCOO_PIECE != last;
    last = w->column[k] / SBCCOO_PIECE;
  }
  if (pattern) FillWords(w, i, w->n - inside, pieces, at);
  to[0] = inside; /* of entries that are in no piece */
  to[1] = 0;
  for (PetscInt k = 0; k < w->n; k++) {
    const PetscInt place = to[FillInPiece(w, k)]++;

    at->value[place] = w->value[k + 1];
    if (at->code) memcpy(at->code + (size_t)place * SBCCOO_CODES, w->code + (size_t)k * SBCCOO_CODES, SBCCOO_CODES);
  }
  at->value += w->n;
  if (at->code) at->code += (size_t)w->n * SBCCOO_CODES;
}

/* Where a part begins, and how far its rows reach */
static void FillPart(SbccooStorage *s, PetscInt part, const FillPlace *at)
{
  SbccooPart *p = &s->part[part];

  p->value = (size_t)(at->value - s->value);
  p->index = (size_t)(at->index - s->index);
  p->mask  = s->mask ? (size_t)(at->mask - s->mask) : 0;
  p->code  = s->b > 1 ? (p->value - (size_t)p->first * SbccooEntries(s)) * SBCCOO_CODES : p->value * SBCCOO_CODES;
}

/* Walks over all rows; `pattern`: index, masks, fronts and parts are set as well */
static inline __attribute__((always_inline)) void FillRows(SbccooWalk *w, SbccooStorage *s, PetscBool pattern, int b)
{
  FillPlace at   = {.value = s->value, .code = s->code, .index = s->index, .mask = s->mask};
  PetscInt  part = 0, chunk = 0, reach = 0;

  for (PetscInt i = 0; i < s->nb; i++) {
    PetscInt from;

    while (part + 1 < s->nparts && i >= s->part[part + 1].first) part++;
    from = i - s->part[part].first;
    if (pattern && !from) {
      for (PetscInt p = part; p >= 0 && s->part[p].first == i; p--) FillPart(s, p, &at);
    }
    if (from % SBCCOO_CHUNK == 0) {
      if (!from) reach = i;
      chunk = s->part[part].chunk + from / SBCCOO_CHUNK;
    }
    SbccooWalkRow(w, i, b);
    if (b == 1) {
      s->diagonal[i] = w->value[0];
      FillScalars(w, i, pattern, &at);
    } else FillBlocks(w, i, b, pattern, &at);
    if (!pattern) continue;
    reach           = PetscMax(reach, 1 + (w->n ? w->column[w->n - 1] : i));
    s->front[chunk] = b > 1 ? reach : PetscMin(s->nb, (reach + SBCCOO_PIECE - 1) / SBCCOO_PIECE * SBCCOO_PIECE);
  }
  for (PetscInt p = s->nparts - 1; pattern && p >= 0 && s->part[p].first == s->nb; p--) FillPart(s, p, &at);
  if (pattern) {
    s->nindex  = (size_t)(at.index - s->index);
    s->nmask   = s->mask ? (size_t)(at.mask - s->mask) : 0;
    s->nblocks = (size_t)(at.value - s->value) / SbccooEntries(s) - (b > 1 ? (size_t)s->nb : 0);
  }
  for (PetscInt i = s->nb * b; i < s->m; i++) SbccooPass(w, i, s->n);
}

/* Blocks beyond the diagonal, at most: of a row, and of all */
static void FillCount(const SpmvCSR *csr, const SbccooStorage *s, size_t *all, PetscInt *row)
{
  const PetscInt b = s->b, limit = s->nb * b;

  *all = 0;
  *row = 0;
  for (PetscInt i = 0; i < s->nb; i++) {
    PetscInt n = 0;

    for (PetscInt r = i * b; r < (i + 1) * b; r++) {
      PetscInt last = i;

      for (PetscInt k = csr->i[r]; k < csr->i[r + 1] && csr->j[k] < limit; k++) {
        const PetscInt j = b == 1 ? csr->j[k] : csr->j[k] / b;

        n += j > last;
        last = PetscMax(last, j);
      }
    }
    *all += (size_t)n;
    *row = PetscMax(*row, n);
  }
}

/* Memory for as many blocks as there may be, before the first walk; the part of it that is not used is never touched */
static PetscErrorCode FillAlloc(const SpmvCSR *csr, PetscBool codes, SbccooStorage *s)
{
  size_t words;

  PetscFunctionBegin;
  FillCount(csr, s, &s->nblocks, &s->longest);
  words = 2 * s->nblocks + 5 * (size_t)s->nb;
  PetscCall(SpmvAllocShared(SbccooValues(s) * sizeof(PetscScalar), s->nparts, &s->value));
  if (codes) PetscCall(SpmvAllocShared(SbccooCodes(s), s->nparts, &s->code));
  PetscCall(SpmvAlloc(words * sizeof(uint16_t), &s->index));
  PetscCall(SpmvAlloc((size_t)s->nchunks * sizeof(PetscInt), &s->front));
  if (s->b == 1) {
    PetscCall(SpmvAlloc(s->nblocks, &s->mask));
    PetscCall(SpmvAllocShared((size_t)s->nb * sizeof(PetscScalar), s->nparts, &s->diagonal));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SbccooFill - the values of all arrays

  Input Parameters:
+ csr     - the matrix
. pattern - it is new: the arrays are made
- codes   - for a new pattern: differences are stored

  Input/Output Parameter:
. s - with parts and chunks; differences are stored from then on where they need less memory than single entries
*/
PetscErrorCode SbccooFill(const SpmvCSR *csr, PetscBool pattern, PetscBool codes, SbccooStorage *s)
{
  SPMV_DESTROY_BY(SbccooListDestroy) SbccooList list = {0};
  SPMV_TEMPORARY PetscInt    *next = NULL, *column = NULL;
  SPMV_TEMPORARY PetscScalar *value   = NULL;
  SPMV_TEMPORARY int8_t      *code    = NULL;
  const size_t                entries = SbccooEntries(s);
  SbccooWalk                  w       = {.csr = csr, .nb = s->nb, .conjugate = s->conjugate, .rest = &list};

  PetscFunctionBegin;
  if (pattern) PetscCall(FillAlloc(csr, codes, s));
  PetscCall(PetscMalloc1(csr->m, &next));
  PetscCall(PetscMalloc1(s->longest + 1, &column));
  PetscCall(PetscMalloc1((size_t)(s->longest + 1) * entries, &value));
  PetscCall(PetscMalloc1((size_t)(s->longest + 1) * entries * SBCCOO_CODES, &code));
  w.next   = next;
  w.column = column;
  w.value  = value;
  w.code   = code;
  PetscCall(SbccooListRoom(pattern ? 4096 + (size_t)csr->i[csr->m] / 64 : s->restroom[1], &list));
  for (;;) {
    PetscCall(PetscArraycpy(next, csr->i, csr->m));
    list.n = w.near = 0;
    w.codes         = (PetscBool)(s->code != NULL);
    if (s->b == 1) FillRows(&w, s, pattern, 1);
    else if (s->b == 3) FillRows(&w, s, pattern, 3);
    else FillRows(&w, s, pattern, (int)s->b);
    if (!s->code && w.near * SBCCOO_PAIR_BYTES > SbccooCodes(s)) PetscCall(SpmvAllocShared(SbccooCodes(s), s->nparts, &s->code));
    else if (list.n > list.room) PetscCall(SbccooListRoom(list.n, &list));
    else break;
  }
  PetscCall(SbccooRestSet(&list, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
