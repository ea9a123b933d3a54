/*
  cmrs_orders.c - CMRS on devices: strips, the order of their entries, words, the parts of strips that are shared

  Source: as cmrs.c, section 3 for strips and orders, section 4.4 for padding.
*/
#include "cmrs_device.h"

/*
  The entries of a strip in groups of CMRS_GROUP with at most CMRS_MODULO of a row, those together. Returns the number of
  groups; and, unless they are NULL, position, [groups CMRS_GROUP] the entry of CSR at each place, -1 for padding, and
  items, [groups] entries of each group, which come before its padding.

  Each group takes from the rows that have most left, which is why there are as few as can be: the larger of
  entries / CMRS_GROUP and of the longest row / CMRS_MODULO, rounded up.
*/
static PetscInt CmrsPadStrip(const SpmvCSR *csr, PetscInt s, PetscInt position[], uint8_t items[])
{
  const PetscInt *i = csr->i + s * CMRS_HEIGHT_MAX, rows = CmrsStripRows(csr->m, CMRS_HEIGHT_MAX, s);
  PetscInt        next[CMRS_HEIGHT_MAX], left = i[rows] - i[0], groups = 0;

  for (PetscInt r = 0; r < rows; r++) next[r] = i[r];
  for (; left > 0; groups++) {
    PetscInt room  = CMRS_GROUP;
    unsigned taken = 0;

    while (room > 0) {
      PetscInt most = 0, row = 0, n;

      for (PetscInt r = 0; r < rows; r++) {
        if (taken >> r & 1 || i[r + 1] - next[r] <= most) continue;
        most = i[r + 1] - next[r];
        row  = r;
      }
      n = PetscMin(PetscMin(most, CMRS_MODULO), room);
      if (!n) break;
      for (PetscInt k = 0; position && k < n; k++) position[groups * CMRS_GROUP + CMRS_GROUP - room + k] = next[row] + k;
      taken |= 1U << row;
      next[row] += n;
      room -= n;
      left -= n;
    }
    for (PetscInt k = CMRS_GROUP - room; position && k < CMRS_GROUP; k++) position[groups * CMRS_GROUP + k] = -1;
    if (items) items[groups] = (uint8_t)(CMRS_GROUP - room);
  }
  return groups;
}

/* The positions of the entries of strip s by columns, then by rows: from its rows, which are sorted, always the least column */
static void CmrsSortStrip(const SpmvCSR *csr, CmrsDeviceStorage *c, PetscInt s)
{
  const PetscInt *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);
  PetscInt        next[CMRS_HEIGHT_MAX], column[CMRS_HEIGHT_MAX];

  for (PetscInt r = 0; r < rows; r++) {
    next[r]   = i[r];
    column[r] = i[r] < i[r + 1] ? csr->j[i[r]] : PETSC_MAX_INT;
  }
  for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
    PetscInt row = 0;

    for (PetscInt r = 1; r < rows; r++) row = column[r] < column[row] ? r : row;
    c->position[k] = next[row]++;
    column[row]    = next[row] < i[row + 1] ? csr->j[next[row]] : PETSC_MAX_INT;
  }
}

/* Where the group that entry k of a strip begins ends */
static PetscInt CmrsGroupEnd(const CmrsDeviceStorage *c, PetscInt s, PetscInt k)
{
  const PetscInt base = c->strip[s] - c->strip[s] % c->align;

  return PetscMin(c->strip[s + 1], k - (k - base) % CMRS_GROUP + CMRS_GROUP);
}

/* The entries of each group of a strip by rows; those of a row stay in their order */
static void CmrsGroupStrip(const SpmvCSR *csr, CmrsDeviceStorage *c, PetscInt s)
{
  const PetscInt *i = csr->i + s * c->height;

  for (PetscInt begin = c->strip[s], end; begin < c->strip[s + 1]; begin = end) {
    PetscInt next[CMRS_HEIGHT_MAX + 1] = {0}, from[CMRS_GROUP], row[CMRS_GROUP];

    end = CmrsGroupEnd(c, s, begin);
    for (PetscInt k = begin; k < end; k++) {
      from[k - begin] = c->position[k];
      for (row[k - begin] = 0; i[row[k - begin] + 1] <= c->position[k];) row[k - begin]++;
      next[row[k - begin] + 1]++;
    }
    for (PetscInt r = 0; r < CMRS_HEIGHT_MAX; r++) next[r + 1] += next[r];
    for (PetscInt k = begin; k < end; k++) c->position[begin + next[row[k - begin]]++] = from[k - begin];
  }
}

/* The words; padding repeats the one before it, which its row has */
void CmrsSetWords(const SpmvCSR *csr, CmrsDeviceStorage *c)
{
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt *i    = csr->i + s * c->height;
    PetscInt        from = 0, row = 0;

    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
      if (!c->position || c->position[k] >= 0) {
        from = c->position ? c->position[k] : k;
        for (row = 0; i[row + 1] <= from;) row++;
      }
      CmrsSetWord(c->wordsize, c->word, k, csr->j[from], row);
    }
  }
}

/* The first entry of each strip, and how many there are, padding included */
PetscErrorCode CmrsSetStrips(const SpmvCSR *csr, CmrsDeviceStorage *c)
{
  PetscInt64 stored = 0;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(((size_t)c->strips + 1) * sizeof(PetscInt), &c->strip));
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt *i = csr->i + s * c->height, rows = CmrsStripRows(c->m, c->height, s);

    c->strip[s] = (PetscInt)stored;
    stored += c->order == CMRS_PADDED ? (PetscInt64)CmrsPadStrip(csr, s, NULL, NULL) * CMRS_GROUP : i[rows] - i[0];
    PetscCheck(stored <= (PetscInt64)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%lld entries with padding are more than this PETSc's integers count; "
               "set -mat_cmrs_device_order to another than padded",
               (long long)stored);
  }
  c->nstored = c->strip[c->strips] = (PetscInt)stored;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the entries */
PetscErrorCode CmrsSetPositions(const SpmvCSR *csr, CmrsDeviceStorage *c)
{
  PetscFunctionBegin;
  if (c->order == CMRS_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)c->nstored * sizeof(PetscInt), &c->position));
  if (c->order == CMRS_PADDED) PetscCall(SpmvAlloc((size_t)(c->nstored / CMRS_GROUP), &c->items));
  for (PetscInt s = 0; s < c->strips; s++) {
    if (c->order == CMRS_PADDED) (void)CmrsPadStrip(csr, s, c->position + c->strip[s], c->items + c->strip[s] / CMRS_GROUP);
    else CmrsSortStrip(csr, c, s);
    if (c->order == CMRS_GROUPED) CmrsGroupStrip(csr, c, s);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that a warp of a strip comes past, with those before it from where it begins */
static PetscInt CmrsExtent(const CmrsDeviceStorage *c, PetscInt s)
{
  return c->strip[s + 1] - c->strip[s] + c->strip[s] % c->align;
}

/* The parts of strips that have more entries than one warp is to have */
PetscErrorCode CmrsSetParts(CmrsDeviceStorage *c)
{
  size_t part = 0, n = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < c->strips; s++) {
    const PetscInt extent = CmrsExtent(c, s);

    if (extent <= c->part) c->longest = PetscMax(c->longest, extent);
    else {
      c->nlongs++;
      c->nparts += (size_t)((extent - 1) / c->part + 1);
    }
  }
  if (!c->nlongs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc(sizeof(uint64_t) * c->nparts, &c->parts));
  PetscCall(SpmvAlloc(sizeof(uint64_t) * (c->nlongs + 1), &c->longs));
  for (PetscInt s = 0; s < c->strips; s++) {
    if (CmrsExtent(c, s) <= c->part) continue;
    c->longs[n++] = (uint64_t)s << 32 | (uint64_t)part;
    for (PetscInt first = c->strip[s], end; first < c->strip[s + 1]; first = end) {
      end              = PetscMin(c->strip[s + 1], first + c->part - first % c->align);
      c->parts[part++] = (uint64_t)(end - first) << 48 | (uint64_t)first;
    }
  }
  c->longs[n] = c->nparts;
  PetscFunctionReturn(PETSC_SUCCESS);
}
