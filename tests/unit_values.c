static const char help[] = "Values that are few or short: each decodes to its bits, products have those of plain values, and a "
                           "change codes them anew.\n\n";

#include "spmvtest.h"
#include "host/values.h"
#include <float.h>

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

/* Sets of values, and how they are coded where codes, and where floats are wanted */
typedef enum { RANDOM, ONE, ZEROS, SPECIAL, MOST, ONE_MORE, FLOATS, ONE_LONG, TINY, HUGE, SETS } Set;

static const struct {
  const char *name;
  SpmvCoding  coded, asfloat;
} Sets[SETS] = {
  [RANDOM]   = {"random", SPMV_CODING_PLAIN, SPMV_CODING_PLAIN},
  [ONE]      = {"one", SPMV_CODING_ONE, SPMV_CODING_PLAIN},
  [ZEROS]    = {"zeros of both signs", SPMV_CODING_FEW, SPMV_CODING_FLOAT},
  [SPECIAL]  = {"NaN, infinite, denormal", SPMV_CODING_FEW, SPMV_CODING_PLAIN},
  [MOST]     = {"256", SPMV_CODING_MANY, SPMV_CODING_PLAIN},
  [ONE_MORE] = {"257", SPMV_CODING_PLAIN, SPMV_CODING_PLAIN},
  [FLOATS]   = {"floats", SPMV_CODING_FLOAT, SPMV_CODING_FLOAT},
  [ONE_LONG] = {"floats but one", SPMV_CODING_PLAIN, SPMV_CODING_PLAIN},
  [TINY]     = {"denormal floats", SPMV_CODING_PLAIN, SPMV_CODING_PLAIN},
  [HUGE]     = {"too large for a float", SPMV_CODING_PLAIN, SPMV_CODING_PLAIN},
};

/* What Sets[] says, without floats where scalars are none that have them */
static SpmvCoding Expected(Set set, SpmvValuesWanted wanted)
{
  SpmvCoding c = SPMV_CODING_PLAIN;

  if (wanted == SPMV_VALUES_CODED) c = Sets[set].coded;
  if (wanted == SPMV_VALUES_FLOAT) c = Sets[set].asfloat;
  return c == SPMV_CODING_FLOAT && !SPMV_VALUES_HAS_FLOAT ? SPMV_CODING_PLAIN : c;
}

#if defined(PETSC_USE_REAL_DOUBLE)
  #define DENORMAL (DBL_MIN / 4)
#else
  #define DENORMAL (FLT_MIN / 4)
#endif

/* The bits of 16 values that a conversion or a comparison would take for others: NaNs by their payloads, two signalling */
static void Special(PetscInt k, PetscReal *r)
{
  unsigned char *byte = (unsigned char *)r;

  if (k < 8) *r = (PetscReal)NAN;
  else if (k < 10) *r = (PetscReal)DENORMAL * (k == 8 ? 2 : -1);
  else *r = (PetscReal)INFINITY * (k == 10 ? 1 : -1);
  if (k < 8) byte[0] = (unsigned char)(k + 1);
#if defined(PETSC_USE_REAL_DOUBLE)
  if (k > 5 && k < 8) byte[6] = 0xf0;
#endif
  if (k >= 12) *r = k == 12 ? 0 : k == 13 ? (PetscReal)-0.0 : k == 14 ? 1 / (PetscReal)3 : -1;
}

static PetscErrorCode Fill(Set set, PetscInt nz, PetscRandom rand, PetscScalar a[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < nz; k++) {
    PetscReal r = (PetscReal)(k % 1000) / 8;

    if (set == RANDOM) PetscCall(PetscRandomGetValueReal(rand, &r));
    else if (set == ONE) r = (PetscReal)1 / 3;
    else if (set == ZEROS) r = k % 3 ? (PetscReal)0.0 : (PetscReal)-0.0;
    else if (set == SPECIAL) Special(k % 16, &r);
    else if (set == MOST || set == ONE_MORE) r = 1 / (PetscReal)(k % (set == MOST ? 256 : 257) + 3);
    else if (set == ONE_LONG && k == nz - 1) r = 1 / (PetscReal)3;
    else if (set == TINY) r = (PetscReal)(k + 1) * (PetscReal)FLT_MIN / 8192;
    else if (set == HUGE) r = (PetscReal)(k + 2) * (PetscReal)FLT_MAX;
    a[k] = 0;
    memcpy(&a[k], &r, sizeof(r)); /* the real part; a signalling NaN goes through no register */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What code k stands for */
static PetscScalar Decode(const SpmvCodes *codes, PetscInt k)
{
  PetscScalar v;

  if (codes->coding == SPMV_CODING_ONE) return codes->table[0];
  if (codes->size == 1) return codes->table[(uint8_t)codes->data[k]];
  if (codes->coding == SPMV_CODING_FLOAT) return (PetscScalar)((const float *)(const void *)codes->data)[k];
  memcpy(&v, codes->data + (size_t)k * codes->size, sizeof(v));
  return v;
}

static PetscErrorCode TestCodes(Set set, SpmvValuesWanted wanted, PetscRandom rand)
{
  enum { NZ = 3000 };
  PetscInt    i[2] = {0, NZ};
  PetscScalar a[NZ];
  SpmvCSR     csr = {.m = 1, .n = NZ, .i = i, .a = a};
  SpmvCodes   codes;
  PetscInt    wrong = 0;

  PetscFunctionBegin;
  PetscCall(Fill(set, NZ, rand, a));
  PetscCall(SpmvCodesCreate(&csr, wanted, &codes));
  PetscCheck(codes.coding == Expected(set, wanted), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, wanted %s: coding %d, expected %d",
             Sets[set].name, SpmvValuesNames[wanted], (int)codes.coding, (int)Expected(set, wanted));
  for (PetscInt k = 0; k < NZ; k++) {
    const PetscScalar v = Decode(&codes, k);

    wrong += !!memcmp(&v, &a[k], sizeof(v));
  }
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, wanted %s: %" PetscInt_FMT " values have other bits", Sets[set].name,
             SpmvValuesNames[wanted], wrong);
  PetscCall(SpmvCodesDestroy(&codes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows with the same distances to their columns, one longer one and an empty one among them; or, at random, rows of any length */
static PetscErrorCode Create(PetscInt m, PetscInt n, PetscBool stencil, SpmvTestCSR *t)
{
  const PetscInt distance[] = {-40, -7, -1, 0, 1, 2, 7, 41};
  PetscInt       nz         = 0;

  PetscFunctionBegin;
  t->m = m;
  t->n = n;
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc1(m * 8 + 2 * n, &t->j));
  PetscCall(PetscMalloc1(m * 8 + 2 * n, &t->a));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt length = stencil ? 8 : r * 7 % 9;

    t->i[r] = nz;
    for (PetscInt c = 0, step = 1 + r % 3; r % 181 == 180 && c < n; c += step) t->j[nz++] = c;
    for (PetscInt k = 0, c = 0; r % 181 < 179 && k < length; k++) {
      c = stencil ? r + distance[k] : c + 1 + (r * 5 + k * 11) % (n / 9);
      if (c >= 0 && c < n) t->j[nz++] = c;
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same bits; two NaNs are alike, whichever of its operands' an instruction returned */
static PetscInt Different(PetscInt n, const PetscScalar a[], const PetscScalar b[])
{
  PetscInt wrong = 0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscBool nan = (PetscBool)(PetscIsNanScalar(a[k]) && PetscIsNanScalar(b[k]));

    wrong += !nan && memcmp(&a[k], &b[k], sizeof(*a));
  }
  return wrong;
}

/* Products of two storages by each instruction set: the same bits? */
static PetscErrorCode Compare(const SpmvFormat *f, const SpmvCSR *csr, void *const storage[2], const char what[])
{
  PetscScalar   *x, *y[2];
  const PetscInt n = PetscMax(csr->m, csr->n);

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &x, n, &y[0], n, &y[1]));
  PetscCall(SpmvTestVector(n, x));
  for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
    if (!SpmvIsaSupported((SpmvIsa)isa) || !f->host->kernels[isa]->apply) continue;
    for (int mode = 0; mode < 4; mode++) {
      const PetscBool transpose = (PetscBool)(mode / 2), beta = (PetscBool)(mode % 2);
      const PetscInt  ny = transpose ? csr->n : csr->m;
      PetscInt        wrong;

      for (int s = 0; s < 2; s++) {
        for (PetscInt k = 0; k < ny; k++) y[s][k] = beta ? (PetscScalar)k : (PetscScalar)NAN;
        PetscCall(SpmvTestApply(f->host->kernels[isa], transpose, storage[s], x, y[s], beta));
      }
      wrong = Different(ny, y[0], y[1]);
      PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, %s, %stransposed, beta %d: %" PetscInt_FMT " entries differ",
                 f->name, what, SpmvIsaName(isa), transpose ? "" : "not ", (int)beta, wrong);
    }
  }
  PetscCall(PetscFree3(x, y[0], y[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of a value in a storage, 0 if none is stored */
static PetscErrorCode ValueSize(const SpmvSide *side, const void *storage, size_t *size)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  *size = SIZE_MAX;
  PetscCall(side->arrays(storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    if (arrays[k].is_values) *size = arrays[k].count ? arrays[k].size : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two storages, one with plain values, whose values change from set to set, back and forth */
static PetscErrorCode TestStorage(const SpmvFormat *f, const SpmvCSR *csr, PetscScalar a[], const SpmvPlan *plan, PetscInt knob,
                                  PetscRandom rand, PetscInt *tested)
{
  const Set       order[]    = {SPECIAL, RANDOM, ONE, MOST, FLOATS, ZEROS, ONE_MORE, ONE_LONG, ONE, RANDOM, MOST};
  const SpmvSide *side       = &f->host->side;
  void           *storage[2] = {NULL, NULL};
  char            what[128];
  size_t          size;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(order); k++) {
    const SpmvValuesWanted wanted = (SpmvValuesWanted)plan->value[knob];

    PetscCall(Fill(order[k], csr->i[csr->m], rand, a));
    for (int s = 0; s < 2; s++) {
      SpmvPlan own = *plan;

      if (!s) own.value[knob] = SPMV_VALUES_PLAIN;
      if (storage[s]) PetscCall(side->setvalues(csr, storage[s]));
      else PetscCall(SpmvTestBuild(side, csr, NULL, &own, &storage[s]));
    }
    if (!storage[1]) break; /* not allowed */
    ++*tested;
    PetscCall(PetscSNPrintf(what, sizeof(what), "values %s, %" PetscInt_FMT " threads, %s", SpmvValuesNames[wanted],
                            plan->threads, Sets[order[k]].name));
    PetscCall(Compare(f, csr, storage, what));
    PetscCall(ValueSize(side, storage[1], &size));
    PetscCheck(size == SpmvCodingSize(Expected(order[k], wanted)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s, %s: %zu bytes a value, expected %zu", f->name, what, size, SpmvCodingSize(Expected(order[k], wanted)));
  }
  for (int s = 0; s < 2; s++) PetscCall(SpmvStorageDestroy(side, &storage[s]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each choice of the knob, beside each value of each other knob */
static PetscErrorCode TestFormat(const SpmvFormat *f, SpmvTestCSR *t, PetscRandom rand, PetscInt *tested)
{
  const SpmvSide *side = &f->host->side;
  const SpmvCSR   csr  = SpmvTestCSRView(t);
  PetscInt        knob = 0;

  PetscFunctionBegin;
  while (knob < side->nparams && strcmp(side->params[knob].name, "values")) knob++;
  if (knob == side->nparams) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < side->nparams; k++) {
    const SpmvParam *p = &side->params[k];

    for (PetscInt c = 0; c < (p->choices && k != knob ? p->count : 1); c++) {
      for (int wanted = SPMV_VALUES_CODED; wanted <= SPMV_VALUES_FLOAT; wanted++) {
        SpmvPlan plan = SpmvTestPlan(f, SPMV_BACKEND_HOST);

        if (!SpmvTestSampled()) continue;
        plan.threads = 1 + 2 * (k % 2);
        if (p->choices) plan.value[k] = p->choices[c];
        plan.value[knob] = wanted;
        PetscCall(TestStorage(f, &csr, t->a, &plan, knob, rand, tested));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of which a look at some sees fewer than 256: whether there are more in all is told from how often each was seen */
static PetscErrorCode TestLook(void)
{
  enum { ENTRIES = 300000 };
  PetscInt     i[2] = {0, ENTRIES};
  PetscScalar *a;
  SpmvCSR      csr = {.m = 1, .n = ENTRIES, .rbs = 1, .cbs = 1, .i = i};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ENTRIES, &a));
  csr.a = a;
  for (PetscInt rare = 0; rare < 2; rare++) { /* 99 values that are common, and 150 or 15,000 that are not */
    PetscInt64 x = 20240607;

    for (PetscInt k = 0; k < ENTRIES; k++) {
      x    = (x * 16807) % 2147483647;
      a[k] = 0.1 * (PetscReal)(1 + (x % 20 ? x / 20 % 99 : 100 + x / 20 % (rare ? 15000 : 150)));
    }
    PetscCheck(SpmvValuesLook(&csr, SPMV_VALUES_CODED) == (rare ? SPMV_CODING_PLAIN : SPMV_CODING_MANY), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "a look at values of which %d are rare takes them for coding %d", rare ? 15000 : 150,
               (int)SpmvValuesLook(&csr, SPMV_VALUES_CODED));
  }
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const known[] = {"bccoo", "pmf", "tpspmv"}; /* that have the knob, at least */
  SpmvTestCSR       t[3];
  PetscRandom       rand;
  PetscInt          tested, formats = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (int set = 0; set < SETS; set++) {
    if (set == HUGE && sizeof(PetscReal) == sizeof(float)) continue;
    for (int wanted = SPMV_VALUES_PLAIN; wanted <= SPMV_VALUES_FLOAT; wanted++)
      PetscCall(TestCodes((Set)set, (SpmvValuesWanted)wanted, rand));
  }
  PetscCall(TestLook());
  PetscCall(Create(500, 500, PETSC_TRUE, &t[0]));
  PetscCall(Create(400, 300, PETSC_FALSE, &t[1]));
  PetscCall(Create(180, 70000, PETSC_FALSE, &t[2]));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    tested = 0;
    for (int k = 0; k < 3; k++) PetscCall(TestFormat(Formats[f], &t[k], rand, &tested));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(known); k++) formats += tested && !strcmp(Formats[f]->name, known[k]);
  }
  PetscCheck(formats == PETSC_STATIC_ARRAY_LENGTH(known), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " formats were tested", formats);
  for (int k = 0; k < 3; k++) PetscCall(SpmvTestCSRDestroy(&t[k]));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -sample 4
    timeoutfactor: 5

  test:
    suffix: long
    output_file: output/unit_values.out
    timeoutfactor: 5

TEST*/
