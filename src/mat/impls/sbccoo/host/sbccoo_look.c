/*
  sbccoo_look.c - what a sample of the pairs tells, before there is a storage
*/
#include "sbccoo_pairs.h"

/* The row of entry k, which is in row `low` or behind it, mostly not far. As SbccooFind(), but for how far it has to look */
static PetscInt LookRow(const SpmvCSR *csr, PetscInt k, PetscInt low)
{
  PetscInt n = 1;

  while (low + n < csr->m && csr->i[low + n] <= k) n *= 2;
  for (n = PetscMin(n, csr->m - low); n > 1; n -= n / 2) low += csr->i[low + n / 2] <= k ? n / 2 : 0;
  return low;
}

/* The place of entry (i, j), -1 if there is none. No processor foresees which half it is in: no branches */
PetscInt SbccooFind(const SpmvCSR *csr, PetscInt i, PetscInt j)
{
  const PetscInt *low = csr->j + csr->i[i];
  PetscInt        n   = csr->i[i + 1] - csr->i[i];

  if (!n) return -1;
  for (; n > 1; n -= n / 2) low += low[n / 2] <= j ? n / 2 : 0;
  return *low == j ? (PetscInt)(low - csr->j) : -1;
}

#define LOOK_EXPONENTS ((int)(SBCCOO_EXPONENT >> SBCCOO_MANTISSA) + 1)
#define LOOK_GROUP     32 /* exponents, a divisor of how many there are: passed over where no range begins or ends among them */
#define LOOK_GROUPS    (LOOK_EXPONENTS / LOOK_GROUP)

/* Of how many pairs the range of exponents of `least` that let the pair be told begins at each, less those behind which it
   ends */
typedef struct {
  PetscInt  change[LOOK_GROUPS][LOOK_GROUP];
  PetscBool any[LOOK_GROUPS]; /* whether ranges begin or end in a group */
} LookRanges;

static int LookExponent(PetscReal a)
{
  return (int)((SbccooBitsOf(a) & SBCCOO_EXPONENT) >> SBCCOO_MANTISSA);
}

static void LookChange(LookRanges *t, int e, PetscInt by)
{
  t->change[e / LOOK_GROUP][e % LOOK_GROUP] += by;
  t->any[e / LOOK_GROUP] = PETSC_TRUE;
}

/* Adds the range of a pair. A step is between a 128th of the difference, or with codes of two bytes a 32768th, and its lowest
   bit; that of the first entry itself may be, and is not to be larger */
static void LookRange(PetscReal a, PetscReal other, size_t codesize, LookRanges *t)
{
  const PetscReal difference = other - a;
  const int       high = LookExponent(difference), own = LookExponent(a), step = SBCCOO_MANTISSA + 1;
  const int       least = high - (8 * (int)codesize - 2); /* of the exponents of a step */
  SbccooBits      bits  = SbccooBitsOf(difference) | (SbccooBits)1 << SBCCOO_MANTISSA;
  int             low, from, end;

  if (difference == 0 || !high || high == LOOK_EXPONENTS - 1) return;
  bits &= ~bits + 1; /* the lowest: the exponent of this number is its place */
  low  = high - SBCCOO_MANTISSA + LookExponent((PetscReal)bits) - LookExponent(1);
  from = own - step >= least ? 0 : least + step;
  end  = low + step;
  if (own > end || from > end || end >= LOOK_EXPONENTS - 1) return;
  LookChange(t, from, 1);
  LookChange(t, end + 1, -1);
}

/* The `least` that lets most pairs be told by codes of so many bytes */
static PetscErrorCode LookLeast(PetscInt n, const PetscScalar pairs[], PetscBool conjugate, size_t codesize, PetscReal *least)
{
  SPMV_TEMPORARY LookRanges *t   = NULL;
  PetscInt                   sum = 0, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar a = conjugate ? PetscConj(pairs[2 * k]) : pairs[2 * k], other = pairs[2 * k + 1];

    LookRange(PetscRealPart(a), PetscRealPart(other), codesize, t);
    if (SBCCOO_CODES > 1) LookRange(PetscImaginaryPart(a), PetscImaginaryPart(other), codesize, t);
  }
  *least = 0;
  for (int g = 0; g < LOOK_GROUPS; g++) {
    for (int e = 0; t->any[g] && e < LOOK_GROUP; e++) {
      const SbccooBits bits = (SbccooBits)(g * LOOK_GROUP + e) << SBCCOO_MANTISSA;

      sum += t->change[g][e];
      if (sum <= most) continue;
      most = sum;
      memcpy(least, &bits, sizeof(*least));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What codes of so many bytes tell of some pairs */
static PetscErrorCode LookTold(PetscInt n, const PetscScalar pairs[], PetscBool conjugate, size_t codesize, SbccooTold *told)
{
  PetscFunctionBegin;
  *told = (SbccooTold){0};
  PetscCall(LookLeast(n, pairs, conjugate, codesize, &told->least));
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar a = conjugate ? PetscConj(pairs[2 * k]) : pairs[2 * k];
    int8_t            code[SBCCOO_CODES * sizeof(int16_t)];
    PetscBool         equal, near = SbccooCode(a, pairs[2 * k + 1], told->least, codesize, code, &equal);

    told->near += near && !equal;
    told->far += !near && !equal;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What can be said of some pairs; looked and alone are not set. Codes of two bytes are not tried where those of one tell all */
static PetscErrorCode LookPairs(PetscInt n, const PetscScalar pairs[], PetscBool conjugate, SbccooLook *look)
{
  PetscFunctionBegin;
  *look = (SbccooLook){.conjugate = conjugate};
  PetscCall(LookTold(n, pairs, conjugate, sizeof(int8_t), &look->by[0]));
  look->by[1] = look->by[0];
  if (look->by[0].far) PetscCall(LookTold(n, pairs, conjugate, sizeof(int16_t), &look->by[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `most` evenly spread entries off the diagonal, and their partners. Of some rows of a matrix: those that have both. Step by step
   for all of them: what is in no cache is then waited for at once */
PetscErrorCode SbccooLookAt(const SpmvCSR *csr, PetscInt most, SbccooLook *look)
{
  const PetscInt              nz = csr->i[csr->m], count = PetscMin(nz, most);
  SPMV_TEMPORARY PetscScalar *pairs  = NULL;
  SPMV_TEMPORARY PetscInt    *place  = NULL; /* [2 count] of entries, then of those of pairs */
  PetscInt                    looked = 0, n = 0, i = 0;
  SbccooLook                  other;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * count, &pairs));
  PetscCall(PetscMalloc1(2 * count, &place));
  for (PetscInt c = 0; c < count; c++) place[count + c] = (PetscInt)SpmvShare((size_t)nz, c, count);
  for (PetscInt c = 0; c < count; c++) {
    const PetscInt j = csr->j[place[count + c]] - csr->first;

    if (j >= 0 && j < csr->m) __builtin_prefetch(csr->j + csr->i[j] + (csr->i[j + 1] - csr->i[j]) / 2, 0, 2);
  }
  for (PetscInt c = 0; c < count; c++) {
    const PetscInt k = place[count + c], j = csr->j[k] - csr->first;
    PetscInt       partner;

    i = LookRow(csr, k, i);
    if (i == j || j < 0 || j >= csr->m) continue;
    looked++;
    partner = SbccooFind(csr, j, csr->first + i);
    if (partner < 0) continue;
    place[2 * n]       = i < j ? k : partner; /* n <= c: it is not needed any more */
    place[2 * n++ + 1] = i < j ? partner : k;
  }
  for (PetscInt p = 0; p < 2 * n; p++) pairs[p] = csr->a[place[p]];
  PetscCall(LookPairs(n, pairs, PETSC_FALSE, look));
  if (SBCCOO_CODES > 1) {
    PetscCall(LookPairs(n, pairs, PETSC_TRUE, &other));
    if (other.by[0].far < look->by[0].far) *look = other;
  }
  look->looked = looked;
  look->alone  = looked - n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
