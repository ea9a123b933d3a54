/*
  structure - a matrix of any structure and values, in any format, under any plan, by each instruction set: what is built gives
  the products of a reference in long double, before and after new values, the same bits each time; what is refused is refused by
  a sentence
*/
#include "fuzz.h"
#include "../spmvtest.h"

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

#define MOST    400   /* entries */
#define COLUMNS 80000 /* at most: more than 16 bits count */

/* What products begin with: x, and y to be overwritten or added to. Made once, or a wide matrix's would take most of the time */
static PetscScalar X[COLUMNS], Y[2][COLUMNS];

static void Vectors(void)
{
  if (Y[1][1] == (PetscScalar)1) return;
  for (PetscInt k = 0; k < COLUMNS; k++) {
    X[k]    = (PetscReal)(k % 13) - 6 + (PetscReal)(k % 7) / 9;
    Y[0][k] = (PetscScalar)NAN;
    Y[1][k] = (PetscScalar)(k % 5);
  }
}

/* Few values, so that codes are chosen too, or many */
static PetscScalar Value(FuzzInput *in, unsigned kind)
{
  static const PetscReal few[] = {1, -1, 0.5, 3, -0.125, 7, 1e-30, 12345.678};

  return kind % 2 ? few[FuzzBelow(in, 8)] : ((PetscReal)FuzzBelow(in, 1000) - 500) / 37;
}

/* What kinds of matrices have their partners, and of which both of a pair are equal */
#define MIRRORED(kind) ((kind) % 16 == 7 || (kind) % 16 == 11)
#define EQUAL(kind)    ((kind) % 16 == 11)

/* Values by rows; the one below the diagonal may be its partner, some units in the last place away from it, or -1 times as
   much */
static void Values(FuzzInput *in, unsigned kind, SpmvTestCSR *t)
{
  for (PetscInt r = 0; r < t->m; r++) {
    for (PetscInt k = t->i[r]; k < t->i[r + 1]; k++) {
      PetscInt q = t->i[t->j[k] < r ? t->j[k] : r];

      if (!MIRRORED(kind) || t->j[k] >= r) {
        t->a[k] = Value(in, kind);
        continue;
      }
      while (q < t->i[t->j[k] + 1] && t->j[q] < r) q++;
      if (q == t->i[t->j[k] + 1] || t->j[q] != r) t->a[k] = Value(in, kind);
      else {
        const unsigned how = EQUAL(kind) ? 0 : FuzzByte(in);

        t->a[k] = (how % 32 == 31 ? -1 : 1) * t->a[q] * (1 + (PetscReal)(how % 3 ? how / 4 : 0) * PETSC_MACHINE_EPSILON);
      }
    }
  }
}

/* A square matrix is given the partner of each entry beyond the diagonal, but of some */
static void Mirror(FuzzInput *in, SpmvTestCSR *t)
{
  static unsigned char there[61][61];
  PetscInt             nz = 0;

  memset(there, 0, sizeof(there));
  for (PetscInt r = 0; r < t->m; r++) {
    for (PetscInt k = t->i[r]; k < t->i[r + 1]; k++) {
      there[r][t->j[k]] = 1;
      if (FuzzByte(in) % 16 != 15) there[t->j[k]][r] = 1;
    }
  }
  for (PetscInt r = 0; r < t->m; r++) {
    t->i[r] = nz;
    for (PetscInt c = 0; c < t->m; c++) {
      if (there[r][c]) t->j[nz++] = c;
    }
  }
  t->i[t->m] = nz;
}

/* Rows of which each has a length and the steps from one column to the next; a row may be that of the row before, once more */
static unsigned Matrix(FuzzInput *in, SpmvTestCSR *t)
{
  const unsigned kind = FuzzByte(in);
  PetscInt       nz   = 0;

  t->m = FuzzBelow(in, 61);
  t->n = MIRRORED(kind) ? t->m : kind % 32 == 31 ? COLUMNS - 1 - FuzzBelow(in, 20000) : FuzzBelow(in, 90);
  FUZZ_CALL(PetscMalloc1(t->m + 1, &t->i));
  FUZZ_CALL(PetscMalloc1(2 * MOST, &t->j));
  FUZZ_CALL(PetscMalloc1(2 * MOST, &t->a));
  for (PetscInt r = 0; r < t->m; r++) {
    const unsigned what = FuzzByte(in);
    PetscInt       c = what & 128 ? 0 : FuzzBelow(in, t->n), length = what & 15,
             step = (what >> 4 & 3) == 3 ? 1 + t->n / 7 : 1 + (what >> 4 & 3);

    t->i[r] = nz;
    if (what & 64 && r) {
      for (PetscInt k = t->i[r - 1]; k < t->i[r] && nz < MOST; k++) t->j[nz++] = t->j[k];
    } else {
      for (PetscInt k = 0; k < (length == 15 ? 80 : length) && c < t->n && nz < MOST; k++, c += step) t->j[nz++] = c;
    }
  }
  t->i[t->m] = nz;
  if (MIRRORED(kind)) Mirror(in, t);
  Values(in, kind, t);
  return kind;
}

static SpmvPlan DrawPlan(FuzzInput *in, const SpmvSide *side)
{
  SpmvPlan plan = SpmvPlanDefault(SPMV_BACKEND_HOST, side->nparams, side->params);

  for (PetscInt k = 0; k < side->nparams; k++) {
    const SpmvParam *p = &side->params[k];

    if (FuzzByte(in) % 3) continue;
    if (p->choices) plan.value[k] = p->choices[FuzzBelow(in, p->count)];
    else if (p->list) {
      plan.value[k] = FuzzBelow(in, 4);
      for (PetscInt i = 0; i < plan.value[k]; i++) plan.list[i] = PetscMin(p->high, p->low + FuzzBelow(in, 300));
    } else plan.value[k] = FuzzByte(in) % 4 == 0 ? p->high : PetscMin(p->high, p->low + FuzzBelow(in, 300));
  }
  plan.threads = FuzzByte(in) % 8 ? 1 : 1 + FuzzBelow(in, 5);
  return plan;
}

/* One product, twice */
static void Product(const SpmvFormat *f, SpmvIsa isa, PetscBool transpose, PetscBool beta, const void *storage, PetscInt ny,
                    PetscScalar y[], PetscScalar again[])
{
  FUZZ_CALL(PetscArraycpy(y, Y[beta], ny));
  FUZZ_CALL(PetscArraycpy(again, Y[beta], ny));
  FUZZ_CALL(SpmvTestApply(f->host->kernels[isa], transpose, storage, X, y, beta));
  FUZZ_CALL(SpmvTestApply(f->host->kernels[isa], transpose, storage, X, again, beta));
  FUZZ_CHECK(!ny || !memcmp(y, again, (size_t)ny * sizeof(*y)), "%s, %s: other bits the second time\n", f->name,
             SpmvIsaName(isa));
}

/* A product and its transpose by each instruction set, twice each */
static void Products(const SpmvFormat *f, const SpmvCSR *csr, const void *storage)
{
  const PetscInt n = PetscMax(csr->m, csr->n);
  PetscScalar   *y, *again;
  long double   *re, *im, *size;
  PetscInt      *length;

  FUZZ_CALL(PetscMalloc6(n, &y, n, &again, n, &re, n, &im, n, &size, n, &length));
  for (int mode = 0; mode < 4; mode++) {
    const PetscBool transpose = (PetscBool)(mode / 2), beta = (PetscBool)(mode % 2);
    const PetscInt  ny = transpose ? csr->n : csr->m;

    SpmvTestReference(csr, transpose, X, beta ? Y[1] : NULL, re, im, size, length);
    for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
      if (!SpmvIsaSupported((SpmvIsa)isa) || !f->host->kernels[isa]->apply) continue;
      Product(f, (SpmvIsa)isa, transpose, beta, storage, ny, y, again);
      FUZZ_CHECK(!SpmvTestCompare(ny, y, re, im, size, length), "%s, %s: entries of %sA x are wrong\n", f->name,
                 SpmvIsaName((SpmvIsa)isa), transpose ? "the transposed " : "");
    }
  }
  FUZZ_CALL(PetscFree6(y, again, re, im, size, length));
}

/* Values in single precision, which a knob asks for, are those that the reference must have */
static PetscBool Rounds(const SpmvSide *side, const SpmvPlan *plan)
{
  for (PetscInt k = 0; k < side->nparams; k++) {
    if (strcmp(side->params[k].name, "values")) continue;
    for (PetscInt c = 0; side->params[k].names && c < side->params[k].count; c++) {
      if (side->params[k].choices[c] == plan->value[k]) return (PetscBool)!strcmp(side->params[k].names[c], "float");
    }
  }
  return PETSC_FALSE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  FuzzInput         in   = {data, data + size};
  const SpmvFormat *f    = Formats[FuzzBelow(&in, PETSC_STATIC_ARRAY_LENGTH(Formats))];
  const SpmvSide   *side = &f->host->side;
  SpmvPlan          plan = DrawPlan(&in, side);
  SpmvTestCSR       t    = {0};
  SpmvCSR           csr;
  void             *storage  = NULL;
  char              why[512] = "";
  unsigned          kind;

  Vectors();
  kind = Matrix(&in, &t);
  csr  = SpmvTestCSRView(&t);
  if (EQUAL(kind)) csr.declared = SPMV_DECLARED_SYMMETRIC;
  FUZZ_CALL(SpmvResolve(side, &csr, NULL, &plan, why, sizeof(why)));
  if (!why[0]) {
    FUZZ_CALL(SpmvBuild(side, &csr, NULL, &plan, &storage));
    for (int round = 0; round < 2; round++) {
      if (Rounds(side, &plan)) {
        for (PetscInt k = 0; k < t.i[t.m]; k++) t.a[k] = (PetscScalar)(float)PetscRealPart(t.a[k]);
        FUZZ_CALL(side->setvalues(&csr, storage));
      }
      Products(f, &csr, storage);
      Values(&in, MIRRORED(kind) ? kind : (unsigned)round, &t);
      FUZZ_CALL(side->setvalues(&csr, storage));
    }
    FUZZ_CALL(SpmvStorageDestroy(side, &storage));
  } else FUZZ_CHECK(strlen(why) > 10, "%s refuses by \"%s\"\n", f->name, why);
  FUZZ_CALL(SpmvTestCSRDestroy(&t));
  return 0;
}
