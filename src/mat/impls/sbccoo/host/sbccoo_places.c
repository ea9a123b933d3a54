/*
  sbccoo_places.c - which of AIJ's entries those of a storage of scalars are, for values that change again and again

  A walk over the pairs, as sbccoo_renew.c has it, finds for each change anew where the second entry of a pair is: it asks each
  row for its next entry. Places are eight bytes a pair, read one after the other, and nothing branches on them.
*/
#include "sbccoo_renew.h"

#define PLACES_PAIRS 1024 /* whose second entries are looked up before they are told; a multiple of 8 */
#define PLACES_AHEAD 32   /* pairs between the one at hand and the one whose entries are prefetched */

PetscErrorCode SbccooPlacesDestroy(SbccooPlaces *p)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&p->diagonal));
  PetscCall(SpmvFree(&p->pair));
  PetscCall(SpmvFree(&p->both));
  PetscCall(SpmvFree(&p->rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of column j in a row, which is not before *next */
static uint32_t PlaceNext(const SpmvCSR *csr, PetscInt j, PetscInt *next)
{
  while (csr->j[*next] < j) ++*next;
  return (uint32_t)(*next)++;
}

static uint32_t PlaceOf(const SpmvCSR *csr, PetscInt i, PetscInt j)
{
  const PetscInt k = SbccooFind(csr, i, j);

  return k < 0 ? SBCCOO_NOWHERE : (uint32_t)k;
}

/* The places of row i. next: [m] the entry that each row is asked for next */
static void PlacesRow(const SpmvCSR *csr, const SbccooStorage *s, PetscInt i, const RenewRow *row, PetscInt next[],
                      SbccooPlaces *places)
{
  const PetscInt  words  = row->wide ? 2 : 1;
  const uint16_t *single = row->at.index + words * row->count[0], *two = single + words * row->count[1];
  uint32_t       *pair = places->pair + 2 * (row->at.value - s->value), *both = places->both + (row->at.both - s->both);
  PetscInt        first[3];

  places->diagonal[i] = PlaceOf(csr, i, i);
  while (next[i] < csr->i[i + 1] && csr->j[next[i]] <= i) next[i]++;
  for (int c = 0; c < 3; c++) first[c] = next[i];
  for (PetscInt p = 0; p < row->count[0]; p++) {
    const PetscInt piece = i / SBCCOO_PIECE + (PetscInt)SbccooNumber(row->at.index, p, row->wide);

    for (unsigned mask = row->mask[p]; mask; mask &= mask - 1) {
      const PetscInt j = piece * SBCCOO_PIECE + __builtin_ctz(mask);

      *pair++ = PlaceNext(csr, j, first);
      *pair++ = PlaceNext(csr, i, next + j);
    }
  }
  for (PetscInt p = 0; p < row->count[1]; p++) {
    const PetscInt j = i + (PetscInt)SbccooNumber(single, p, row->wide);

    *pair++ = PlaceNext(csr, j, first + 1);
    *pair++ = PlaceNext(csr, i, next + j);
  }
  for (PetscInt p = 0; p < row->count[2]; p++) {
    const PetscInt j = i + (PetscInt)SbccooNumber(two, p, row->wide);

    *both++ = PlaceNext(csr, j, first + 2);
    *both++ = PlaceNext(csr, i, next + j);
  }
}

/* SbccooPlacesMake - finds the places of a storage whose rest has no pair but those that have no partner */
PetscErrorCode SbccooPlacesMake(const SpmvCSR *csr, SbccooStorage *s)
{
  SPMV_DESTROY_BY(SbccooPlacesDestroy) SbccooPlaces p    = {0}; /* until all of them are known */
  SPMV_TEMPORARY PetscInt                          *next = NULL;
  RenewPlace                                        at = {.value = s->value, .both = s->both, .code = s->code, .index = s->index};
  const uint8_t                                    *mask  = s->mask;
  PetscInt                                          found = 0;
  RenewRow                                          rows[SBCCOO_CHUNK];

  PetscFunctionBegin;
  if ((uint64_t)csr->i[csr->m] >= SBCCOO_NOWHERE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)s->nb * sizeof(uint32_t), &p.diagonal));
  PetscCall(SpmvAlloc(2 * s->nblocks * sizeof(uint32_t), &p.pair));
  PetscCall(SpmvAlloc(2 * s->nboth * sizeof(uint32_t), &p.both));
  PetscCall(SpmvAlloc((size_t)s->nrest * sizeof(uint32_t), &p.rest));
  PetscCall(PetscMalloc1(s->m, &next));
  PetscCall(PetscArraycpy(next, csr->i, s->m));
  for (PetscInt k = 0; k < s->nparts; k++) {
    for (PetscInt first = s->part[k].first; first < s->part[k].last; first += SBCCOO_CHUNK) {
      const PetscInt n = PetscMin(SBCCOO_CHUNK, s->part[k].last - first);

      at = RenewFind(s->codesize, s->value, s->row ? s->row + first : NULL, &mask, n, at, rows);
      for (PetscInt r = 0; r < n; r++) PlacesRow(csr, s, first + r, rows + r, next, &p);
    }
  }
  for (PetscInt r = 0; r < s->nrestrows; r++) {
    for (; found < s->reststart[r + 1]; found++) p.rest[found] = PlaceOf(csr, s->restrow[r], s->restcolumn[found]);
  }
  s->places = p;
  p         = (SbccooPlaces){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n pairs: their first entries to value[], their second ones to mate[]. There are `ahead` more */
static inline void PlacesPairs(const PetscScalar a[], const uint32_t place[], size_t n, size_t ahead, PetscScalar value[],
                               PetscScalar mate[])
{
  for (size_t k = 0; k < n; k++) {
    __builtin_prefetch(a + place[2 * (k + ahead) + 1], 0, 3);
    value[k] = a[place[2 * k]];
    mate[k]  = a[place[2 * k + 1]];
  }
}

/*
  SbccooPlacesSet - gives a storage new values, by its places

  Output Parameter:
. done - PETSC_FALSE: a pair is not told any more; values are to be set by a walk
*/
PetscErrorCode SbccooPlacesSet(const SpmvCSR *csr, SbccooStorage *s, PetscBool *done)
{
  const SbccooPlaces *p     = &s->places;
  const PetscReal     least = s->upper ? SBCCOO_CLOSE : s->least;
  const size_t        whole = s->nblocks > PLACES_AHEAD ? s->nblocks - PLACES_AHEAD : 0, codes = SBCCOO_CODES * s->codesize;
  size_t              far = 0, n;
  PetscScalar         mate[PLACES_PAIRS];
  uint8_t             told[PLACES_PAIRS / 8];

  PetscFunctionBegin;
  for (size_t k = 0; k < s->nblocks && !far; k += n) {
    n = PetscMin(PLACES_PAIRS, k < whole ? whole - k : s->nblocks - k);
    PlacesPairs(csr->a, p->pair + 2 * k, n, k < whole ? PLACES_AHEAD : 0, s->value + k, mate);
    far = s->tell[s->upper](n, s->value + k, mate, least, s->conjugate, s->codesize, s->code + k * codes, told);
  }
  *done = (PetscBool)!far;
  if (far) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < s->nb; k++) s->diagonal[k] = p->diagonal[k] == SBCCOO_NOWHERE ? 0 : csr->a[p->diagonal[k]];
  for (size_t k = 0; k < 2 * s->nboth; k++) s->both[k] = csr->a[p->both[k]];
  for (PetscInt k = 0; k < s->nrest; k++) s->restvalue[k] = csr->a[p->rest[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}
