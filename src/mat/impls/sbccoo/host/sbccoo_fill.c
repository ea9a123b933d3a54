/*
  sbccoo_fill.c - the arrays of the halves, from the pairs
*/
#include "sbccoo_cut.h"

/* The row at hand as blocks */
static inline __attribute__((always_inline)) void FillBlocks(const SbccooWalk *w, PetscInt i, int b, FillPlace *at)
{
  const size_t    entries = (size_t)(b * b), codes = entries * SBCCOO_CODES;
  const PetscInt  n    = w->n;
  const PetscBool wide = (PetscBool)((uint32_t)n >= SBCCOO_HAS_FAR(PETSC_FALSE) - 1 || (n && w->column[n - 1] - i > UINT16_MAX));

  FillSoon(at, (size_t)(n + 1) * entries);
  memcpy(at->value, w->value, entries * sizeof(PetscScalar));
  at->value += entries;
  if (wide) *at->index++ = SBCCOO_WIDE;
  at->index = FillNumber(at->index, wide, (size_t)n | (w->hasfar ? SBCCOO_HAS_FAR(wide) : 0));
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt c = SbccooColumn(n, k);

    memcpy(at->value, w->value + (size_t)(c + 1) * entries, entries * sizeof(PetscScalar));
    at->value += entries;
    if (at->code) {
      memcpy(at->code, w->code + (size_t)c * codes, codes);
      at->code += codes;
    }
    if (w->hasfar) SbccooAddFars(entries, w->code + (size_t)c * codes, w->other + (size_t)c * entries, &at->far);
    at->index = FillNumber(at->index, wide, (size_t)(w->column[c] - i));
  }
}

/* Of scalars, the row that whole pieces reach to */
static PetscInt FillFront(const SbccooStorage *s, PetscInt reach)
{
  return PetscMin(s->nb, (reach + SBCCOO_PIECE - 1) / SBCCOO_PIECE * SBCCOO_PIECE);
}

/* Where a part begins, and how far its rows reach */
static void FillPart(SbccooStorage *s, PetscInt part, const FillPlace *at)
{
  SbccooPart *p = &s->part[part];

  p->value = (size_t)(at->value - s->value);
  p->index = (size_t)(at->index - s->index);
  p->both  = at->both;
  p->far   = at->far.n;
  p->mask  = s->mask ? (size_t)(at->mask - s->mask) : 0;
  p->code  = SBCCOO_CODES * s->codesize * (s->b > 1 ? p->value - (size_t)p->first * SbccooEntries(s) : p->value);
}

/* All rows as they come */
static inline __attribute__((always_inline)) void FillRows(SbccooWalk *w, SbccooStorage *s, int b, FillPlace *at)
{
  PetscInt part = 0, chunk = 0, reach = 0;

  for (PetscInt i = 0; i < s->nb; i++) {
    PetscInt from;

    while (part + 1 < s->nparts && i >= s->part[part + 1].first) part++;
    from = i - s->part[part].first;
    if (!from) {
      for (PetscInt p = part; p >= 0 && s->part[p].first == i; p--) FillPart(s, p, at);
    }
    if (from % SBCCOO_CHUNK == 0) {
      if (!from) reach = i;
      chunk = s->part[part].chunk + from / SBCCOO_CHUNK;
    }
    if (b == 1) {
      SbccooWalkScalarRow(w, i);
      FillScalars(w, i, s, at);
    } else {
      SbccooWalkRow(w, i, b);
      FillBlocks(w, i, b, at);
    }
    s->plain[i] = (uint8_t)w->plain;
    reach       = PetscMax(reach, 1 + (w->n ? w->column[w->n - 1] : i));
    if (w->nboth) reach = PetscMax(reach, 1 + w->bothcolumn[w->nboth - 1]);
    s->front[chunk] = b > 1 ? reach : FillFront(s, reach);
  }
  for (PetscInt p = s->nparts - 1; p >= 0 && s->part[p].first == s->nb; p--) FillPart(s, p, at);
}

/* All rows of scalars by their lengths */
static void FillSorted(SbccooWalk *w, FillChunk *c, SbccooStorage *s, FillPlace *at)
{
  for (PetscInt p = 0; p < s->nparts; p++) {
    const SbccooPart *part  = &s->part[p];
    PetscInt          chunk = part->chunk, reach = part->first;

    FillPart(s, p, at);
    for (PetscInt i = part->first; i < part->last; i += SBCCOO_CHUNK, chunk++) {
      FillChunkRows(w, i, PetscMin(SBCCOO_CHUNK, part->last - i), s, c, &reach);
      FillChunkStore(c, s, at);
      s->front[chunk] = FillFront(s, reach);
    }
  }
}

/* All rows */
static void FillAll(SbccooWalk *w, FillChunk *c, SbccooStorage *s)
{
  FillPlace at = {.value = s->value,
                  .code  = s->code,
                  .index = s->index,
                  .mask  = s->mask,
                  .row   = s->row,
                  .far   = {.far = s->far, .room = s->farroom}};

  if (s->row) FillSorted(w, c, s, &at);
  else if (s->b == 1) FillRows(w, s, 1, &at);
  else if (s->b == 2) FillRows(w, s, 2, &at);
  else if (s->b == 3) FillRows(w, s, 3, &at);
  else FillRows(w, s, (int)s->b, &at);
  s->nindex  = (size_t)(at.index - s->index);
  s->nmask   = s->mask ? (size_t)(at.mask - s->mask) : 0;
  s->nboth   = at.both;
  s->nfar    = at.far.n;
  s->nblocks = (size_t)(at.value - s->value) / SbccooEntries(s) - (s->b > 1 ? (size_t)s->nb : 0);
  for (PetscInt i = s->nb * s->b; i < s->m; i++) SbccooPass(w, i, s->n);
}

/*
  Blocks beyond the diagonal, at most: of a row, and of all. Those that are stored have some pairs; what is not used of the memory
  for the others is never touched, and to count them takes as long as a product
*/
static void FillCount(const SpmvCSR *csr, const SbccooStorage *s, size_t *all, PetscInt *row)
{
  const PetscInt b     = s->b;
  PetscInt       pairs = 1, most = 0;

  while (!SbccooPays(pairs, b)) pairs++;
  for (PetscInt i = 0; i < s->nb; i++) most = PetscMax(most, csr->i[(i + 1) * b] - csr->i[i * b]);
  *all = (size_t)(csr->i[csr->m] / 2 / pairs);
  *row = most / pairs;
}

/* Of `entries` entries those that no codes tell, by what was seen of some, and more: memory that is not used is never touched */
static size_t FillFar(const SbccooLook *look, PetscInt pairs, size_t entries)
{
  return 64 + entries / 64 + (size_t)(1.5 * (double)entries * SbccooToldBy(look, pairs)->far / PetscMax(1, look->looked));
}

/* Memory for second entries that no codes tell */
static PetscErrorCode FillFars(size_t room, SbccooStorage *s)
{
  PetscFunctionBegin;
  s->farroom = 0;
  PetscCall(SpmvFree(&s->far));
  PetscCall(SpmvAlloc(room * sizeof(PetscScalar), &s->far));
  s->farroom = room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The codes that pairs are worth: SBCCOO_NEAR or SBCCOO_NEAR16 */
static PetscInt FillNear(const SbccooLook *look, const SbccooStorage *s)
{
  return s->b == 1 && SbccooPays16(look) ? SBCCOO_NEAR16 : SBCCOO_NEAR;
}

/* Memory for the codes, SBCCOO_NEAR or SBCCOO_NEAR16, and for what they do not tell */
static PetscErrorCode FillCodes(const SbccooLook *look, PetscInt pairs, SbccooStorage *s)
{
  const size_t entries = s->room * SbccooEntries(s), codesize = SbccooCodeSize(pairs);

  PetscFunctionBegin;
  s->codesize = 0;
  PetscCall(SpmvFree(&s->code));
  PetscCall(SpmvAllocShared((entries + FILL_MORE) * SBCCOO_CODES * codesize, s->nparts, &s->code));
  s->codesize = codesize;
  s->least    = SbccooToldBy(look, pairs)->least;
  if (s->b > 1) PetscCall(FillFars(FillFar(look, pairs, entries), s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillNoCodes(SbccooStorage *s)
{
  PetscFunctionBegin;
  s->farroom  = 0;
  s->codesize = 0;
  PetscCall(SpmvFree(&s->far));
  PetscCall(SpmvFree(&s->code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for as many blocks as there may be, before the first walk; the part of it that is not used is never touched */
static PetscErrorCode FillAlloc(const SpmvCSR *csr, const SbccooLook *look, PetscInt pairs, SbccooStorage *s)
{
  const PetscBool codes = (PetscBool)(pairs != SBCCOO_EQUAL);
  size_t          words;

  PetscFunctionBegin;
  FillCount(csr, s, &s->room, &s->longest);
  s->nblocks = s->room;
  words      = 2 * s->room + 8 * (size_t)s->nb + FILL_MORE;
  PetscCall(SpmvAllocShared((SbccooValues(s) + FILL_MORE) * sizeof(PetscScalar), s->nparts, &s->value));
  if (codes) PetscCall(FillCodes(look, pairs, s));
  PetscCall(SpmvAlloc(words * sizeof(uint16_t), &s->index));
  PetscCall(SpmvAlloc((size_t)s->nchunks * sizeof(PetscInt), &s->front));
  PetscCall(SpmvAlloc((size_t)s->nb, &s->plain));
  if (s->b == 1) {
    s->bothroom = FillFar(look, pairs, s->room);
    PetscCall(SpmvAlloc(2 * s->bothroom * sizeof(PetscScalar), &s->both));
    if (SbccooSorts(csr, codes)) PetscCall(SpmvAlloc((size_t)s->nb, &s->row));
    else PetscCall(SpmvAlloc(s->room, &s->mask));
    PetscCall(SpmvAllocShared((size_t)s->nb * sizeof(PetscScalar), s->nparts, &s->diagonal));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the arrays had room for what was found; if not they have now, and rows are to be walked over again */
static PetscErrorCode FillRoom(const SbccooWalk *w, const SbccooLook *look, SbccooStorage *s, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!s->code && w->near * SBCCOO_PAIR_BYTES > SbccooCodes(s)) PetscCall(FillCodes(look, FillNear(look, s), s));
  else if (w->rest->n > w->rest->room) PetscCall(SbccooListRoom(w->rest->n, w->rest));
  else if (s->nboth > s->bothroom) {
    s->bothroom = 0;
    PetscCall(SpmvFree(&s->both));
    PetscCall(SpmvAlloc(2 * s->nboth * sizeof(PetscScalar), &s->both));
    s->bothroom = s->nboth;
  } else if (s->nfar > s->farroom) PetscCall(FillFars(s->nfar + s->nfar / 8, s)); /* the next values may have more */
  else *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SbccooFill - the values of all arrays

  Input Parameters:
+ csr     - the matrix
. pattern - it is new: the arrays are made
- pairs   - for a new pattern: what is stored of a pair, SBCCOO_EQUAL to SBCCOO_NEAR16

  Input/Output Parameter:
. s - with parts and chunks; steps are stored from then on, or larger ones, where they need less memory than both entries
*/
PetscErrorCode SbccooFill(const SpmvCSR *csr, PetscBool pattern, PetscInt pairs, SbccooStorage *s)
{
  SPMV_DESTROY_BY(SbccooListDestroy) SbccooList list = {0};
  SPMV_DESTROY_BY(SbccooWalkDestroy)
  SbccooWalk                                  w    = {.rest = &list};
  SPMV_DESTROY_BY(FillChunkDestroy) FillChunk rows = {0};
  SbccooLook                                  look;
  PetscBool                                   done = PETSC_FALSE;

  PetscFunctionBegin;
  s->filled = PETSC_FALSE;
  PetscCall(SbccooLookAt(csr, SBCCOO_LOOK, &look));
  s->upper = SbccooUpper(csr, s->exact);
  if (pattern) PetscCall(FillAlloc(csr, &look, s->upper ? SBCCOO_EQUAL : pairs, s));
  else if (s->codesize && s->codesize < SbccooCodeSize(FillNear(&look, s))) PetscCall(FillCodes(&look, SBCCOO_NEAR16, s));
  if (s->upper) PetscCall(FillNoCodes(s));
  s->least     = look.by[s->codesize == sizeof(int16_t) ? 1 : 0].least;
  s->conjugate = s->upper ? (PetscBool)(csr->declared == SPMV_DECLARED_HERMITIAN) : look.conjugate;
  PetscCall(SbccooWalkCreate(csr, s, &w));
  PetscCall(SbccooWalkFindWhole(s, &w));
  if (s->row) PetscCall(FillChunkCreate(csr, s, &rows));
  PetscCall(SbccooListRoom(pattern ? 4096 + (size_t)csr->i[csr->m] / 64 : s->restroom[1], &list));
  while (!done) {
    SbccooWalkBegin(s, &w);
    FillAll(&w, &rows, s);
    PetscCall(SbccooRefuse(&w));
    PetscCall(FillRoom(&w, &look, s, &done));
  }
  PetscCall(SbccooRestSet(&list, s));
  s->untold = w.far;
  s->filled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
