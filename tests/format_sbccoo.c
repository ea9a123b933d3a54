static const char help[] = "Half of a symmetric matrix: what is stored, the bits that it decodes to, products.\n\n";

#include "spmvtest.h"
#include "mat/impls/sbccoo/host/sbccoo_pairs.h"

#define SIDE (&SpmvFormat_sbccoo.host->side)

/* Prints an array, a space before each number */
#define PRINT(name, count, value) \
  do { \
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s", name)); \
    for (size_t k = 0; k < (size_t)(count); k++) \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart((PetscScalar)(value)))); \
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n")); \
  } while (0)

static PetscErrorCode Show(const char name[], PetscInt n, const PetscScalar dense[], PetscInt b)
{
  SpmvPlan             plan  = {.value = {b}, .threads = 1};
  PetscInt             wrong = 0;
  SpmvTestCSR          t;
  SpmvCSR              csr;
  void                *storage;
  const SbccooStorage *s;
  char                 line[256];

  PetscFunctionBegin;
  PetscCall(SpmvTestCSRFromDense(n, n, dense, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvTestBuild(SIDE, &csr, NULL, &plan, &storage));
  s = (const SbccooStorage *)storage;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", name));
  PRINT("values", SbccooValues(s), s->value[k]);
  if (s->diagonal) PRINT("diagonal", s->nb, s->diagonal[k]);
  if (s->code) PRINT("steps", SbccooCodes(s) / SBCCOO_CODES, SbccooCodeAt(s->code, (size_t)k * SBCCOO_CODES, s->codesize));
  PRINT("columns", s->nindex, s->index[k]);
  if (s->mask) PRINT("masks", s->nmask, s->mask[k]);
  if (s->row) PRINT("rows", s->nb, s->row[k]);
  if (s->nboth) PRINT("both", 2 * s->nboth, s->both[k]);
  if (s->nfar) PRINT("far", s->nfar, s->far[k]);
  PRINT("rest rows", s->nrestrows, s->restrow[k]);
  PRINT("rest columns", s->nrest, s->restcolumn[k]);
  PRINT("rest values", s->nrest, s->restvalue[k]);
  PetscCall(SIDE->describe(storage, 0, line, sizeof(line)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", line));
  PetscCall(SpmvTestProducts(&SpmvFormat_sbccoo, &csr, storage, &wrong));
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries of products are wrong", wrong);
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestByHand(void)
{
  /* clang-format off */
  PetscScalar       a[] = {1, 2, 0, 0, 3, 4, 0, 0, /* columns 1, 4, 5 */
                           2, 5, 0, 0, 0, 0, 0, 0,
                           0, 0, 6, 0, 7, 8, 9, 0, /* column 4: another value on the other side, ... */
                           0, 0, 0, 1, 0, 0, 0, 2, /* no partner */
                           3, 0, 0, 0, 2, 0, 0, 0, /* ... which is far */
                           4, 0, 8, 0, 0, 3, 0, 0,
                           0, 0, 9, 0, 0, 0, 4, 0,
                           0, 0, 0, 0, 0, 0, 0, 5};
  const PetscScalar b[] = {1, 2, 3, 4, 0, 0,
                           5, 6, 0, 7, 0, 0,
                           3, 0, 8, 9, 1, 2,
                           4, 7, 1, 2, 3, 4,
                           0, 0, 1, 3, 5, 6, /* 3, 2 are 2, 3 */
                           0, 0, 3, 4, 7, 8};
  /* clang-format on */

  PetscFunctionBegin;
  a[4 * 8 + 2] = 100000;
  PetscCall(Show("scalars", 8, a, 1));
  a[4 * 8 + 2] = 1000;
  PetscCall(Show("scalars, 16 bits", 8, a, 1));
  PetscCall(Show("blocks of 2", 6, b, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry that a storage stands for: what is not 0 must not be there twice */
static PetscErrorCode Found(const SpmvCSR *csr, PetscScalar dense[], size_t i, size_t j, PetscScalar value)
{
  const PetscScalar zero = 0;
  PetscScalar      *at   = dense + i * (size_t)csr->n + j;

  PetscFunctionBegin;
  PetscCheck(i < (size_t)csr->m && j < (size_t)csr->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %zu, %zu is outside", i, j);
  if (!memcmp(&value, &zero, sizeof(value))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!memcmp(at, &zero, sizeof(zero)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %zu, %zu is there twice", i, j);
  *at = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is read one after the other */
typedef struct {
  const uint16_t *index;
  size_t          value, code, mask, both, far;
} Place;

static size_t Number(Place *at, PetscBool wide)
{
  uint32_t word = *at->index;

  if (wide) memcpy(&word, at->index, sizeof(word));
  at->index += wide ? 2 : 1;
  return word;
}

static PetscErrorCode Pair(const SpmvCSR *csr, const SbccooStorage *s, PetscScalar dense[], size_t i, size_t j, Place *at)
{
  const PetscScalar a = s->value[at->value++], zero = 0;

  PetscFunctionBegin;
  PetscCall(Found(csr, dense, i, j, a));
  if (s->b > 1 && s->code && s->code[at->code] == SBCCOO_FAR) {
    PetscCall(Found(csr, dense, j, i, s->far[at->far++]));
    at->code += SBCCOO_CODES;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (memcmp(&a, &zero, sizeof(a)) || dense[j * (size_t)csr->n + i] == zero) /* else of fill: its conjugate is -0 */
    PetscCall(Found(csr, dense, j, i, SbccooOther(a, s->codesize, s->code + at->code, s->least, s->conjugate)));
  at->code += SBCCOO_CODES * s->codesize;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of scalars with the word of its counts */
static PetscErrorCode DecodeRow(const SpmvCSR *csr, const SbccooStorage *s, PetscScalar dense[], size_t i, uint16_t word,
                                Place *at)
{
  const PetscBool wide = (PetscBool)(word == SBCCOO_WIDE);
  PetscInt        count[3];

  PetscFunctionBegin;
  SbccooCounts(word, (PetscBool)(s->row != NULL), count);
  for (int k = 0; k < 3 && wide; k++) count[k] = (PetscInt)Number(at, wide);
  PetscCall(Found(csr, dense, i, i, s->diagonal[i]));
  for (PetscInt k = 0; k < count[0]; k++) {
    const size_t   j    = (i / SBCCOO_PIECE + Number(at, wide)) * SBCCOO_PIECE;
    const unsigned mask = s->mask[at->mask++];

    PetscCheck(mask & (mask - 1) && mask < 16, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a piece with mask %u", mask);
    for (size_t l = 0; l < SBCCOO_PIECE; l++) {
      if (mask >> l & 1) PetscCall(Pair(csr, s, dense, i, j + l, at));
    }
  }
  for (PetscInt k = 0; k < count[1]; k++) PetscCall(Pair(csr, s, dense, i, i + Number(at, wide), at));
  for (PetscInt k = 0; k < count[2]; k++) {
    const size_t j = i + Number(at, wide);

    PetscCall(Found(csr, dense, i, j, s->both[at->both++]));
    PetscCall(Found(csr, dense, j, i, s->both[at->both++]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chunk of n rows of scalars, which begins with row `first`: each of its rows is there once, and a word that is there once */
static PetscErrorCode DecodeChunk(const SpmvCSR *csr, const SbccooStorage *s, PetscScalar dense[], PetscInt first, PetscInt n,
                                  Place *at)
{
  PetscBool there[SBCCOO_CHUNK] = {PETSC_FALSE};
  PetscInt  last                = -1;

  PetscFunctionBegin;
  for (PetscInt done = 0; done < n;) {
    const uint16_t word = *at->index++;
    const PetscInt rows = s->row ? *at->index++ : 1;

    PetscCheck(rows > 0 && done + rows <= n && (!s->row || word > last), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d rows of word %d",
               (int)rows, (int)word);
    last = word;
    for (PetscInt k = 0; k < rows; k++, done++) {
      const PetscInt i = s->row ? s->row[first + done] : done;

      PetscCheck(i < n && !there[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %d of a chunk is there twice", (int)i);
      there[i] = PETSC_TRUE;
      PetscCall(DecodeRow(csr, s, dense, (size_t)(first + i), word, at));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of blocks */
static PetscErrorCode DecodeBlocks(const SpmvCSR *csr, const SbccooStorage *s, PetscScalar dense[], size_t i, Place *at)
{
  const uint16_t  word  = *at->index++;
  const PetscBool wide  = (PetscBool)(word == SBCCOO_WIDE);
  const uint32_t  first = wide ? (uint32_t)Number(at, wide) : word;
  const size_t    n = first & ~SBCCOO_HAS_FAR(wide), b = (size_t)s->b, far = at->far;

  PetscFunctionBegin;
  for (size_t k = 0; k < b * b; k++) PetscCall(Found(csr, dense, i * b + k / b, i * b + k % b, s->value[at->value++]));
  for (size_t q = 0; q < n; q++) {
    const size_t j = i + Number(at, wide);

    for (size_t k = 0; k < b * b; k++) PetscCall(Pair(csr, s, dense, i * b + k / b, j * b + k % b, at));
  }
  PetscCheck((at->far > far) == ((first & SBCCOO_HAS_FAR(wide)) != 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %d", (int)i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int Layouts[2][3]; /* storages of scalars that were checked: with pieces, by length; with codes of so many bytes */

/* Every entry of the matrix has the bits of what the storage stands for, and nothing else is there; parts begin where they say */
static PetscErrorCode CheckDecoded(const SpmvCSR *csr, const SbccooStorage *s)
{
  Place        at   = {.index = s->index};
  PetscInt     part = 0;
  PetscScalar *dense;

  PetscFunctionBegin;
  PetscCheck(s->codesize <= (s->b > 1 ? 1 : 2) && (s->codesize > 0) == (s->code != NULL), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "codes have %zu bytes", s->codesize);
  if (s->b == 1) Layouts[s->row != NULL][s->codesize]++;
  PetscCall(PetscCalloc1(csr->m * csr->n, &dense));
  for (PetscInt k = 0; k < s->nrestrows; k++) {
    for (PetscInt e = s->reststart[k]; e < s->reststart[k + 1]; e++)
      PetscCall(Found(csr, dense, (size_t)s->restrow[k], (size_t)s->restcolumn[e], s->restvalue[e]));
  }
  for (PetscInt i = 0; i < s->nb; i++) {
    for (; part < s->nparts && s->part[part].first == i; part++) {
      const SbccooPart *p = &s->part[part];

      PetscCheck(p->value == at.value && p->index == (size_t)(at.index - s->index) && (!s->code || p->code == at.code) &&
                   p->mask == at.mask && 2 * p->both == at.both && p->far == at.far,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "part %d begins elsewhere", (int)part);
    }
    if (s->b > 1) PetscCall(DecodeBlocks(csr, s, dense, (size_t)i, &at));
    else if ((i - s->part[part - 1].first) % SBCCOO_CHUNK == 0)
      PetscCall(DecodeChunk(csr, s, dense, i, PetscMin(SBCCOO_CHUNK, s->part[part - 1].last - i), &at));
  }
  PetscCheck(at.value == SbccooValues(s) && (size_t)(at.index - s->index) == s->nindex && at.mask == s->nmask &&
               at.both == 2 * s->nboth && at.far == s->nfar,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "arrays have other lengths");
  for (PetscInt i = 0; i < csr->m; i++) {
    for (PetscInt k = csr->i[i]; k < csr->i[i + 1]; k++) {
      PetscScalar *at_ = dense + i * csr->n + csr->j[k];

      PetscCheck(!memcmp(at_, csr->a + k, sizeof(*at_)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %d, %d is %a, stored is %a",
                 (int)i, (int)csr->j[k], (double)PetscRealPart(csr->a[k]), (double)PetscRealPart(*at_));
      *at_ = 0;
    }
  }
  for (PetscInt k = 0; k < csr->m * csr->n; k++)
    PetscCheck(dense[k] == (PetscScalar)0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "there is an entry that the matrix has not");
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kinds of pairs */
typedef enum {
  KIND_EQUAL,
  KIND_STEPS,   /* 1 to 200 units in the last place apart */
  KIND_LARGE,   /* up to 20,000 */
  KIND_NOISE,   /* what is left where larger terms cancel */
  KIND_SIGNS,   /* some have the other sign, 0 and -0 among them */
  KIND_SKEW,    /* a_ji = -a_ij for the last rows */
  KIND_APART,   /* other numbers */
  KIND_STRANGE, /* NaN, Inf, the largest and the least numbers */
  KIND_CONJUGATE,
  KIND_COUNT
} Kind;

static PetscReal Random(PetscRandom rand)
{
  PetscReal u;

  (void)PetscRandomGetValueReal(rand, &u);
  return u;
}

/* The partner of a, and a changed first if need be */
static PetscScalar Partner(Kind kind, PetscRandom rand, PetscBool last, PetscScalar *a)
{
  const PetscReal strange[] = {NAN, INFINITY, -INFINITY, PETSC_MAX_REAL, PETSC_MIN_REAL, 0, -0.0, 1};
  PetscReal       r         = PetscRealPart(*a);
  const PetscReal u         = Random(rand);

  switch (kind) {
  case KIND_STEPS:
    for (int k = (int)(200 * u * u); k > 0; k--) r += PETSC_MACHINE_EPSILON * SbccooPower(r, 0);
    return *a - PetscRealPart(*a) + r;
  case KIND_LARGE: return *a + (PetscReal)(int)(20000 * u * u) * PETSC_MACHINE_EPSILON * SbccooPower(r, 0);
  case KIND_NOISE:
    if (u > 0.5) return *a;
    *a = (PetscReal)(int)(40 * Random(rand) - 20) * PETSC_MACHINE_EPSILON / 8;
    return (PetscReal)(int)(60 * u) * PETSC_MACHINE_EPSILON / 8;
  case KIND_SIGNS:
    if (u < 0.1) *a = 0;
    return u < 0.3 ? -*a : *a;
  case KIND_SKEW: return last ? -*a : *a;
  case KIND_APART: return *a + u;
  case KIND_STRANGE:
    if (u > 0.5) return *a;
    *a = strange[(int)(15.99 * u)];
    return strange[(int)(7.99 * Random(rand))];
  case KIND_CONJUGATE: return PetscConj(*a);
  default: return *a;
  }
}

/* New values for a pattern: those of a pair as the kind says */
static PetscErrorCode Values(Kind kind, PetscRandom rand, SpmvTestCSR *t)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->m; i++) {
    for (PetscInt k = t->i[i]; k < t->i[i + 1]; k++) {
      const PetscInt j = t->j[k];

      t->a[k] = Random(rand) - (PetscReal)0.5 + PETSC_i * (PetscDefined(USE_COMPLEX) ? Random(rand) : 0);
      if (j >= i || j >= t->m) continue;
      for (PetscInt q = t->i[j]; q < t->i[j + 1]; q++) {
        if (t->j[q] == i) t->a[k] = Partner(kind, rand, (PetscBool)(i > 2 * t->m / 3), &t->a[q]);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* m x n, blocks of b x b with a probability, on both sides of the diagonal; of some entries one; some rows have only the
   diagonal */
static PetscErrorCode Pattern(PetscInt m, PetscInt n, PetscInt b, double density, double missing, PetscRandom rand,
                              SpmvTestCSR *t)
{
  PetscScalar *dense;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m * n, &dense));
  for (PetscInt i = 0; i < m; i += b) {
    for (PetscInt j = i; j < n; j += b) {
      if (i != j && Random(rand) > density) continue;
      for (PetscInt r = i; r < PetscMin(i + b, m); r++) {
        for (PetscInt c = j; c < PetscMin(j + b, n); c++) {
          if (Random(rand) >= missing) dense[r * n + c] = 1;
          if (c < m && r < n && Random(rand) >= missing) dense[c * n + r] = 1;
        }
      }
    }
  }
  for (PetscInt i = 0; i < m && missing > 0.05; i++) {
    for (PetscInt j = 0; j < n && i % 11 == 3; j++) dense[i * n + j] = i == j;
  }
  PetscCall(SpmvTestCSRFromDense(m, n, dense, t));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage of one kind of values is given those of each other kind: it must decode to them, and have the products */
static PetscErrorCode TestKinds(PetscInt m, PetscInt n, PetscInt b, PetscInt threads, double density, double missing,
                                PetscRandom rand)
{
  SpmvTestCSR t;
  SpmvCSR     csr;
  PetscInt    wrong = 0;
  SpmvIsa     best;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  PetscCall(Pattern(m, n, b, density, missing, rand, &t));
  csr = SpmvTestCSRView(&t);
  for (int first = 0; first < KIND_COUNT; first++) {
    SpmvPlan plan = {.value = {b}, .threads = threads, .isa = first % ((PetscInt)best + 1)};
    void    *storage;

    PetscCall(Values((Kind)first, rand, &t));
    PetscCall(SpmvTestBuild(SIDE, &csr, NULL, &plan, &storage));
    PetscCheck(storage, PETSC_COMM_SELF, PETSC_ERR_PLIB, "blocks of %d are refused", (int)b);
    for (int then = 0; then < KIND_COUNT; then++) {
      const Kind kind = (Kind)((first + then) % KIND_COUNT);

      if (then) PetscCall(Values(kind, rand, &t));
      if (then) PetscCall(SIDE->setvalues(&csr, storage));
      PetscCall(CheckDecoded(&csr, (const SbccooStorage *)storage));
      if (kind != KIND_STRANGE) PetscCall(SpmvTestProducts(&SpmvFormat_sbccoo, &csr, storage, &wrong));
      PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d x %d, blocks of %d, kind %d after %d: %d entries are wrong", (int)m,
                 (int)n, (int)b, (int)kind, first, (int)wrong);
    }
    PetscCall(SpmvStorageDestroy(SIDE, &storage));
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first pair of entries beyond the diagonal, of which the first one becomes another number; false: there is none */
static PetscBool BreakPair(SpmvTestCSR *t)
{
  for (PetscInt i = 0; i < t->m; i++) {
    for (PetscInt k = t->i[i]; k < t->i[i + 1]; k++) {
      const PetscInt j = t->j[k];

      if (j <= i || j >= t->m) continue;
      for (PetscInt q = t->i[j]; q < t->i[j + 1]; q++) {
        if (t->j[q] != i) continue;
        t->a[k] += 1;
        return PETSC_TRUE;
      }
    }
  }
  return PETSC_FALSE;
}

/*
  Scalars whose values change again and again: from the second change on it is known where AIJ has them, until a pair is not told.
  Each time the storage decodes to the values
*/
#define BREAK 6 /* the change with a pair that is not told */
static PetscErrorCode TestAgain(PetscInt m, PetscInt n, PetscInt threads, double density, double missing, PetscRandom rand)
{
  const Kind  kinds[] = {KIND_EQUAL, KIND_NOISE, KIND_CONJUGATE};
  SpmvTestCSR t;
  SpmvCSR     csr;
  PetscInt    wrong = 0;

  PetscFunctionBegin;
  PetscCall(Pattern(m, n, 1, density, missing, rand, &t));
  csr = SpmvTestCSRView(&t);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    SpmvPlan       plan = {.value = {1}, .threads = threads};
    void          *storage;
    SbccooStorage *s;

    PetscCall(Values(kinds[k], rand, &t));
    PetscCall(SpmvTestBuild(SIDE, &csr, NULL, &plan, &storage));
    s = (SbccooStorage *)storage;
    for (int change = 1; change < BREAK + 3; change++) {
      PetscCall(Values(kinds[k], rand, &t));
      PetscCheck(change != BREAK || BreakPair(&t), PETSC_COMM_SELF, PETSC_ERR_PLIB, "there are no pairs");
      PetscCall(SIDE->setvalues(&csr, storage));
      PetscCheck(kinds[k] == KIND_NOISE || change > BREAK || (change > 1 && change < BREAK) == (s->places.pair != NULL),
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d x %d, kind %d, change %d: places are %sknown", (int)m, (int)n,
                 (int)kinds[k], change, s->places.pair ? "" : "not ");
      PetscCall(CheckDecoded(&csr, s));
      PetscCall(SpmvTestProducts(&SpmvFormat_sbccoo, &csr, storage, &wrong));
      PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d x %d, kind %d, change %d: %d entries are wrong", (int)m, (int)n,
                 (int)kinds[k], change, (int)wrong);
    }
    PetscCall(SpmvStorageDestroy(SIDE, &storage));
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(PetscRandom rand)
{
  const double missing[] = {0, 0.02, 0.2};

  PetscFunctionBegin;
  for (PetscInt b = 1; b <= SBCCOO_BLOCK_MAX; b++) {
    for (int k = 0; k < 3; k++) {
      const PetscInt threads[] = {1, 2, 5};

      PetscCall(TestKinds(24 * b, 24 * b, b, threads[k], 0.3, missing[(k + b) % 3], rand));
      PetscCall(TestKinds(7 * b, 9 * b, b, threads[k], 0.5, 0.02, rand));
      PetscCall(TestKinds(9 * b, 7 * b, b, threads[k], 0.5, 0.02, rand));
      PetscCall(TestKinds(9 * b + b / 2, 9 * b + b / 2, b, threads[k], 0.5, 0.02, rand)); /* a last block that is not whole */
    }
  }
  /* A last piece that is not whole */
  for (PetscInt n = 1; n < 40; n += 3) PetscCall(TestKinds(n, n, 1, n % 4 + 1, 0.8, 0.01, rand));
  PetscCall(TestKinds(403, 403, 1, 4, 0.02, 0.01, rand)); /* windows; wide rows, since they are long */
  PetscCall(TestKinds(403, 403, 1, 1, 0.6, 0, rand));
  PetscCall(TestKinds(402, 402, 1, 3, 0.95, 0.01, rand)); /* pieces pay */
  PetscCall(TestKinds(150, 150, 1, 2, 1, 0, rand));
  for (int k = 0; k < 3; k++) {
    PetscCall(TestAgain(403, 403, k + 1, 0.02, k ? 0.02 : 0, rand));
    PetscCall(TestAgain(403, 403, 1, 0.6, k ? 0.02 : 0, rand));
    PetscCall(TestAgain(402, 402, 3 - k, 0.95, k ? 0.01 : 0, rand));
    PetscCall(TestAgain(70, 90, 2, 0.3, 0.2, rand));
    PetscCall(TestAgain(90, 70, k + 1, 0.3, 0.2, rand));
  }
  for (int k = 0; k < 3; k++)
    PetscCheck(Layouts[0][k] && Layouts[1][k], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "codes of %d bytes: %d storages of scalars by length, %d with pieces", k, Layouts[1][k], Layouts[0][k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distances that 16 bits do not hold */
static PetscErrorCode TestFar(PetscInt b)
{
  const PetscInt nb = 70000, n = nb * b;
  SpmvPlan       plan  = {.value = {b}, .threads = 3};
  PetscInt       wrong = 0, nz = 0;
  SpmvTestCSR    t = {.m = n, .n = n};
  SpmvCSR        csr;
  void          *storage;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &t.i, 3 * n * b, &t.j, 3 * n * b, &t.a));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt mine = i / b, other = (mine + nb / 2) % nb, third = nb - 1 - mine; /* and a few near ones */

    t.i[i] = nz;
    for (PetscInt j = PetscMin(mine, PetscMin(other, third)); j >= 0;) {
      PetscInt next = nb;

      for (PetscInt c = 0; c < b; c++) {
        t.j[nz]   = j * b + c;
        t.a[nz++] = (PetscReal)(i + j * b + c);
      }
      if (mine > j) next = PetscMin(next, mine);
      if (other > j) next = PetscMin(next, other);
      if (third > j) next = PetscMin(next, third);
      j = next < nb ? next : -1;
    }
  }
  t.i[n] = nz;
  csr    = SpmvTestCSRView(&t);
  PetscCall(SpmvTestBuild(SIDE, &csr, NULL, &plan, &storage));
  PetscCheck(((SbccooStorage *)storage)->nrest == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "entries are in no pair");
  PetscCall(SpmvTestProducts(&SpmvFormat_sbccoo, &csr, storage, &wrong));
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "far columns: %" PetscInt_FMT " entries are wrong", wrong);
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a full matrix the first rows have most of the entries that are stored; each part has as many of these as the others */
static PetscErrorCode TestShares(PetscInt b)
{
  enum { PARTS = 4 };
  const PetscInt n    = 80 * b;
  SpmvPlan       plan = {.value = {b}, .threads = PARTS};
  SpmvTestCSR    t    = {.m = n, .n = n};
  SpmvCSR        csr;
  void          *storage;
  SbccooStorage *s;
  size_t         least = PETSC_MAX_INT, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &t.i, n * n, &t.j, n * n, &t.a));
  for (PetscInt k = 0; k < n * n; k++) {
    t.j[k] = k % n;
    t.a[k] = (PetscReal)(k / n + k % n);
  }
  for (PetscInt r = 0; r <= n; r++) t.i[r] = r * n;
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvTestBuild(SIDE, &csr, NULL, &plan, &storage));
  s = (SbccooStorage *)storage;
  PetscCheck(s->nparts == PARTS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "there are %" PetscInt_FMT " parts", s->nparts);
  for (PetscInt k = 0; k < PARTS; k++) {
    const size_t end = k + 1 < PARTS ? s->part[k + 1].value : SbccooValues(s), stored = end - s->part[k].value;

    least = PetscMin(least, stored);
    most  = PetscMax(most, stored);
  }
  PetscCheck(4 * most < 5 * least, PETSC_COMM_SELF, PETSC_ERR_PLIB, "blocks of %" PetscInt_FMT ": parts have %zu to %zu values",
             b, least, most);
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of -0.0 but for one pair that differs by rounding: no pair is stored twice, and new values are taken without a new
   walk */
static PetscErrorCode TestZeros(PetscInt b)
{
  const PetscInt n = 12 * b;
  PetscScalar   *dense;
  SpmvTestCSR    t;
  SpmvCSR        csr;
  SpmvIsa        best;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  PetscCall(PetscMalloc1(n * n, &dense));
  for (PetscInt k = 0; k < n * n; k++) dense[k] = 1;
  PetscCall(SpmvTestCSRFromDense(n, n, dense, &t));
  PetscCall(PetscFree(dense));
  for (PetscInt k = 0; k < n * n; k++) t.a[k] = -0.0;
  t.a[n - 1]       = 1 + PETSC_MACHINE_EPSILON;
  t.a[(n - 1) * n] = 1;
  csr              = SpmvTestCSRView(&t);
  for (PetscInt isa = 0; isa <= (PetscInt)best; isa++) {
    SpmvPlan             plan = {.value = {b, SBCCOO_NEAR}, .threads = 1, .isa = isa};
    void                *storage;
    const SbccooStorage *s;

    PetscCall(SpmvTestBuild(SIDE, &csr, NULL, &plan, &storage));
    s = (const SbccooStorage *)storage;
    for (int k = 0; k < 2; k++) {
      PetscCheck(s->code && !s->nfar && !s->nboth && !s->nrest, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "blocks of %" PetscInt_FMT ", isa %s: of pairs of -0.0 %zu have both entries, %" PetscInt_FMT " are alone", b,
                 SpmvIsaName((SpmvIsa)isa), s->nfar + s->nboth, s->nrest);
      PetscCall(CheckDecoded(&csr, s));
      PetscCall(SIDE->setvalues(&csr, storage));
    }
    PetscCall(SpmvStorageDestroy(SIDE, &storage));
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(TestByHand());
  PetscCall(TestAll(rand));
  PetscCall(TestZeros(1));
  PetscCall(TestZeros(3));
  PetscCall(TestShares(1));
  PetscCall(TestShares(3));
  PetscCall(TestFar(1));
  PetscCall(TestFar(3));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    timeoutfactor: 3

TEST*/
