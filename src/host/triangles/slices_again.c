/*
  slices_again.c - which slices of a triangle have the same values, and so share them: those of stencils with constant
  coefficients
*/
#include "slices.h"

#define SLICES_LOOKS 64 /* slices that tell whether many have the same values */

/* A slice somewhere in part k of `parts`: at equal distances all might be where lines of a grid end */
PetscInt SpmvSlicesSomewhere(PetscInt slices, PetscInt parts, PetscInt k)
{
  const size_t first = SpmvShare((size_t)slices, k, parts), end = SpmvShare((size_t)slices, k + 1, parts);

  return (PetscInt)(first + (((size_t)k * 40503 & 65535) * (end - first) >> 16));
}

/* Whether rows r to r + 7 have the values of rows c to c + 7, and of the diagonal where they are scaled by it: all bits of
   them */
static PetscBool SlicesRepeat(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, PetscInt c)
{
  const PetscBool scaled = SpmvTrianglesScaled(s->kind, side);

  for (PetscInt q = 0; q < 8; q++) {
    PetscInt first, end, from, to;

    SpmvTrianglesRow(s, side, r + q, &first, &end);
    SpmvTrianglesRow(s, side, c + q, &from, &to);
    if (end - first != to - from) return PETSC_FALSE;
    for (; first < end; first++, from++) {
      if (memcmp(&s->a[first], &s->a[from], sizeof(*s->a))) return PETSC_FALSE;
    }
    if (scaled && memcmp(&s->a[s->diagonal[r + q]], &s->a[s->diagonal[c + q]], sizeof(*s->a))) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Of a triangle's slices those that are like slice `common`: of some that are looked at, or of all, which are marked */
static PetscInt SlicesCountAgain(const SpmvTrianglesSource *s, SpmvTriangleSide side, SpmvSlicesTriangle *t, PetscInt common,
                                 PetscBool all)
{
  const PetscInt  slices = SpmvSlicesCount(s->n), n = all ? slices : PetscMin(slices, SLICES_LOOKS);
  const SpmvSlice like = t->slice[common];
  PetscInt        same = 0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscInt   z = all ? k : SpmvSlicesSomewhere(slices, n, k);
    SpmvSlice *const h = &t->slice[z];

    if (!h->even || h->columns != like.columns || h->chain != like.chain) continue;
    if (!SlicesRepeat(s, side, SpmvSlicesRow(slices, side, z), SpmvSlicesRow(slices, side, common))) continue;
    h->again = (uint8_t)all;
    same++;
  }
  return same;
}

/*
  Finds values that many slices of a triangle have in common, a quarter of those that are looked at, and marks these. Sets nagain,
  common and nvalue
*/
void SpmvSlicesFindAgain(const SpmvTrianglesSource *s, SpmvTriangleSide side, SpmvSlicesTriangle *t)
{
  const PetscInt slices = SpmvSlicesCount(s->n), looks = PetscMin(slices, SLICES_LOOKS);
  PetscInt       common = -1, most = looks / 4;

  for (PetscInt z = 0; z < slices; z++) t->slice[z].again = 0;
  for (PetscInt k = 0; k < looks; k += 8) {
    const PetscInt z    = SpmvSlicesSomewhere(slices, looks, k);
    const PetscInt same = t->slice[z].even ? SlicesCountAgain(s, side, t, z, PETSC_FALSE) : 0;

    if (same <= most) continue;
    most   = same;
    common = z;
  }
  t->nagain = 0;
  if (common >= 0) {
    t->common = SpmvSlicesRow(slices, side, common);
    t->nagain = SpmvSlicesEven(&t->slice[common]);
    (void)SlicesCountAgain(s, side, t, common, PETSC_TRUE);
  }
  t->nvalue = t->nagain;
  for (PetscInt z = 0; z < slices; z++) t->nvalue += SpmvSlicesValues(&t->slice[z]);
}
