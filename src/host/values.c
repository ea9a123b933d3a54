/*
  values.c - which values are few or short, and their codes

  A look at some values spread over the matrix guesses, for plans and estimates, how all can be coded; a pass over all of them
  decides, and ends at the first value that is one too many or too long. Both are by bits: -0.0 is not 0.0, and a NaN is as
  good as any other value.
*/
#include "values.h"
#include "machine.h"
#include <float.h>

#define VALUES_LOOKS 4096 /* values that a guess looks at, at most, ... */
#define VALUES_LEAST 1024 /* ... at least ... */
#define VALUES_PART  32   /* ... and in between one of so many */
#define VALUES_SLOTS 1024 /* of the table by which a value's code is found */

const PetscInt    SpmvValuesChoices[] = {SPMV_VALUES_AUTO, SPMV_VALUES_PLAIN, SPMV_VALUES_CODED, SPMV_VALUES_FLOAT};
const char *const SpmvValuesNames[]   = {"auto", "plain", "coded", "float"};

/* Different values and their codes */
typedef struct {
  PetscInt    n;
  PetscScalar value[SPMV_VALUES_MANY];
  uint16_t    slot[VALUES_SLOTS]; /* code + 1; 0: none */
} ValuesTable;

static inline PetscBool ValuesSame(const PetscScalar *a, const PetscScalar *b)
{
  return (PetscBool)!memcmp(a, b, sizeof(PetscScalar));
}

/* The code of a value, which is new if it must be; -1 if there are too many */
static inline int ValuesCode(ValuesTable *t, const PetscScalar *v)
{
  uint64_t hash = 0;
  size_t   at;

  for (size_t k = 0; k < sizeof(*v); k += sizeof(hash)) {
    uint64_t part = 0;

    memcpy(&part, (const char *)v + k, PetscMin(sizeof(part), sizeof(*v) - k));
    hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
  }
  for (at = (size_t)(hash >> 54) % VALUES_SLOTS; t->slot[at]; at = (at + 1) % VALUES_SLOTS) {
    if (ValuesSame(&t->value[t->slot[at] - 1], v)) return t->slot[at] - 1;
  }
  if (t->n == SPMV_VALUES_MANY) return -1;
  t->value[t->n] = *v;
  t->slot[at]    = (uint16_t)++t->n;
  return (int)t->n - 1;
}

/* The coding for so many different values */
static SpmvCoding ValuesCoding(PetscInt n)
{
  return n <= 1 ? SPMV_CODING_ONE : n <= SPMV_VALUES_FEW ? SPMV_CODING_FEW : SPMV_CODING_MANY;
}

#if SPMV_VALUES_HAS_FLOAT
/* Finite, and too large to be a finite float */
static inline PetscBool ValuesIsLarge(PetscScalar v)
{
  return (PetscBool)(PetscAbs(v) > (double)FLT_MAX && PetscAbs(v) <= DBL_MAX);
}
#endif

/* Whether all of n finite values are finite as floats too; infinite ones are, which others have to find */
PetscBool SpmvValuesFitFloats(size_t n, const PetscScalar a[])
{
#if SPMV_VALUES_HAS_FLOAT
  int large = 0;

  for (size_t k = 0; k < n; k++) large |= ValuesIsLarge(a[k]);
  return (PetscBool)!large;
#else
  (void)n, (void)a;
  return PETSC_FALSE;
#endif
}

/* Whether a value is exactly a float; not one that a processor may take for zero, nor a NaN that a conversion would change */
static inline PetscBool ValuesIsFloat(const PetscScalar *v, float *f)
{
#if SPMV_VALUES_HAS_FLOAT
  if (ValuesIsLarge(*v)) return PETSC_FALSE;
  *f = (float)*v;
  if (*v != 0 && PetscAbs(*f) < FLT_MIN) return PETSC_FALSE;
  return ValuesSame(&(PetscScalar){(double)*f}, v);
#else
  (void)v;
  *f = 0;
  return PETSC_FALSE;
#endif
}

/*
  Whether codes of a byte are enough for all values, where seen[] of each in t were in a sample

  There are at least so many more as n_1 (n_1 - 1) / (2 (n_2 + 1)), where n_k values were seen k times

  Source: A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian Journal of Statistics 11
  (1984), with the correction of its bias
*/
static PetscBool ValuesEnough(const ValuesTable *t, const int16_t seen[])
{
  PetscLogDouble once = 0, twice = 0;

  for (PetscInt k = 0; k < t->n; k++) {
    once += seen[k] == 1;
    twice += seen[k] == 2;
  }
  return (PetscBool)(t->n + once * (once - 1) / (2 * (twice + 1)) <= SPMV_VALUES_MANY);
}

/*
  SpmvValuesLook - how all values of a matrix can be coded, as far as a look at some tells

  A sample of the rows brings what a look at the whole matrix told (SpmvCSR.coding, which is for SPMV_VALUES_CODED).
*/
SpmvCoding SpmvValuesLook(const SpmvCSR *csr, SpmvValuesWanted wanted)
{
  const size_t n = (size_t)csr->i[csr->m], looks = PetscMin(n, PetscClipInterval(n / VALUES_PART, VALUES_LEAST, VALUES_LOOKS));
  ValuesTable  t                      = {.n = 0};
  int16_t      seen[SPMV_VALUES_MANY] = {0};
  PetscBool    coded = (PetscBool)(wanted != SPMV_VALUES_FLOAT), isfloat = PETSC_TRUE;
  float        f;

  if (wanted == SPMV_VALUES_PLAIN || !n || !csr->a) return SPMV_CODING_PLAIN;
  if (coded && csr->coding) return (SpmvCoding)csr->coding;
  for (size_t k = 0; k < looks && (coded || isfloat); k++) {
    /* one of each part, not always at the same distance: a stencil's would all be on one diagonal. The last one, as the first,
       may be of a boundary, where values differ */
    const size_t       first = n / looks * k, place = k + 1 == looks ? n - 1 : first + k * 40503 % (n / looks);
    const PetscScalar *v    = &csr->a[place];
    const int          code = coded ? ValuesCode(&t, v) : -1;

    coded   = (PetscBool)(code >= 0);
    isfloat = (PetscBool)(isfloat && ValuesIsFloat(v, &f));
    if (coded) seen[code]++;
  }
  if (coded && (looks == n || ValuesEnough(&t, seen))) return ValuesCoding(t.n);
  return isfloat ? SPMV_CODING_FLOAT : SPMV_CODING_PLAIN;
}

/*
  SpmvValuesResolve - what the knob is where neither the user nor an estimate has set it

  No value at all is never slower than eight bytes of it. Few or short values are where no cache holds the matrix; a table in
  cache costs as much as the x of an entry that is gathered, which only an estimate can weigh.
*/
void SpmvValuesResolve(const SpmvCSR *csr, PetscInt *wanted)
{
  SpmvCoding coding;
  PetscBool  large;

  if (*wanted != SPMV_VALUES_AUTO) return;
  coding  = SpmvValuesLook(csr, SPMV_VALUES_CODED);
  large   = (PetscBool)((PetscLogDouble)csr->i[csr->m] >= SpmvMachineGet()->cached);
  *wanted = SPMV_VALUES_PLAIN;
  if (coding == SPMV_CODING_ONE || (large && (coding == SPMV_CODING_FEW || coding == SPMV_CODING_FLOAT)))
    *wanted = SPMV_VALUES_CODED;
}

/* Proposes each of n plans whose knob number `knob` is open with plain and coded values, where they seem to be few or short */
void SpmvValuesPropose(const SpmvCSR *csr, PetscInt knob, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS])
{
  PetscInt   given = *n, wanted[SPMV_VALUES_WANTED], copies = 0;
  SpmvCoding coding;

  if (!given || plans[0].value[knob] != SPMV_VALUES_AUTO) return;
  coding = SpmvValuesLook(csr, SPMV_VALUES_CODED);
  if (coding != SPMV_CODING_ONE) wanted[copies++] = SPMV_VALUES_PLAIN;
  if (coding != SPMV_CODING_PLAIN) wanted[copies++] = SPMV_VALUES_CODED;
  if (coding == SPMV_CODING_MANY && SpmvValuesLook(csr, SPMV_VALUES_FLOAT) == SPMV_CODING_FLOAT)
    wanted[copies++] = SPMV_VALUES_FLOAT;
  copies = PetscMin(copies, SPMV_PROPOSALS / given);
  for (PetscInt k = given * copies; k-- > 0;) {
    plans[k]             = plans[k / copies];
    plans[k].value[knob] = wanted[k % copies];
  }
  *n = given * copies;
}

/* Cycles of Zen 4 to decode a vector of eight: by a permutation, by loads from a table, besides those, by a conversion; the
   latter as many as the second cache takes for the 32 bytes that it saves, since there floats had 0.92 of the speed (mip_mitre).
   One value is in a register: what a load of it takes of those of x is saved (0.9 cycles in the median of 18 matrices by pmf, 2.9
   of 24 by tpspmv, Zen 5) */
#define VALUES_CYCLES_ONE   1.5
#define VALUES_CYCLES_FEW   1.
#define VALUES_CYCLES_MANY  2.
#define VALUES_CYCLES_FLOAT 2.1
#define VALUES_CYCLES_BUILD 6. /* to code a value */

/* Adds what decoding so many vectors of eight costs */
void SpmvValuesWork(const SpmvValues *values, PetscLogDouble vectors, SpmvWork *work)
{
  if (values->coding == SPMV_CODING_ONE) work->cycles -= VALUES_CYCLES_ONE * vectors;
  if (values->coding == SPMV_CODING_FEW) work->cycles += VALUES_CYCLES_FEW * vectors;
  if (values->coding == SPMV_CODING_FLOAT) work->cycles += VALUES_CYCLES_FLOAT * vectors;
  if (values->coding == SPMV_CODING_MANY) {
    work->cycles += VALUES_CYCLES_MANY * vectors;
    work->gathered += 8 * vectors;
  }
  if (values->coding != SPMV_CODING_PLAIN) work->build += VALUES_CYCLES_BUILD * 8 * vectors;
}

/* A byte for each value, if they are few; most matrices have too many among their first few hundred */
static PetscErrorCode CodesFew(const PetscScalar a[], size_t n, SpmvCodes *codes)
{
  SPMV_DESTROY_BY(SpmvFree) uint8_t *code = NULL;
  ValuesTable                        t    = {.n = 0};
  int                                c    = ValuesCode(&t, a);

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(n, &code));
  for (size_t k = 0; k < n; k++) {
    if (k && !ValuesSame(&a[k], &a[k - 1])) c = ValuesCode(&t, &a[k]);
    if (c < 0) PetscFunctionReturn(PETSC_SUCCESS);
    code[k] = (uint8_t)c;
  }
  codes->coding = ValuesCoding(t.n);
  codes->ntable = t.n;
  PetscCall(PetscArraycpy(codes->table, t.value, SPMV_VALUES_MANY));
  if (codes->coding == SPMV_CODING_ONE) PetscFunctionReturn(PETSC_SUCCESS);
  codes->own = code;
  code       = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Floats, if all values are */
static PetscErrorCode CodesFloat(const PetscScalar a[], size_t n, SpmvCodes *codes)
{
  SPMV_DESTROY_BY(SpmvFree) float *code = NULL;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(n * sizeof(float), &code));
  for (size_t k = 0; k < n; k++) {
    if (!ValuesIsFloat(&a[k], &code[k])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  codes->coding = SPMV_CODING_FLOAT;
  codes->own    = code;
  code          = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a matrix as a plan wants them if they can be so; the matrix's own values stay in use. To be destroyed */
PetscErrorCode SpmvCodesCreate(const SpmvCSR *csr, SpmvValuesWanted wanted, SpmvCodes *codes)
{
  const size_t n = (size_t)csr->i[csr->m];

  PetscFunctionBegin;
  *codes = (SpmvCodes){.coding = SPMV_CODING_PLAIN, .rounded = csr->rounded};
  if (n && wanted == SPMV_VALUES_CODED) PetscCall(CodesFew(csr->a, n, codes));
  if (n && wanted >= SPMV_VALUES_CODED && codes->coding == SPMV_CODING_PLAIN && SPMV_VALUES_HAS_FLOAT)
    PetscCall(CodesFloat(csr->a, n, codes));
  codes->size = SpmvCodingSize(codes->coding);
  codes->data = codes->coding == SPMV_CODING_PLAIN ? (const char *)csr->a : (const char *)codes->own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvCodesDestroy(SpmvCodes *codes)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&codes->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for n places of a coding, each of `ntasks` tasks the first to touch its part; what was there is gone */
PetscErrorCode SpmvValuesTake(SpmvValues *values, size_t n, PetscInt ntasks, const SpmvCodes *codes)
{
  const size_t now = values->data ? SpmvCodingSize(values->coding) : 0;

  PetscFunctionBegin;
  if (codes->size != now || values->n != n) {
    PetscCall(SpmvFree(&values->data));
    values->coding = SPMV_CODING_ONE; /* if there is no room, a storage without values, which is not used */
    if (codes->size) {
      PetscCall(SpmvAllocShared(n * codes->size, ntasks, &values->data));
      /* a vector of codes is looked up as a whole: fill as well, and what follows the last one */
      if (codes->size == sizeof(uint8_t)) memset(values->data, 0, n + SPMV_CACHE_LINE);
    }
  }
  values->n       = n;
  values->coding  = codes->coding;
  values->rounded = codes->rounded;
  values->ntable  = codes->ntable;
  PetscCall(PetscArraycpy(values->table, codes->table, SPMV_VALUES_MANY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SpmvArray SpmvValuesArray(const SpmvValues *values)
{
  const size_t size = SpmvCodingSize(values->coding);

  return SPMV_ARRAY("values", values->data, size ? values->n : 0, PetscMax(1, size), .is_values = PETSC_TRUE);
}

PetscErrorCode SpmvValuesDescribe(const SpmvValues *values, char line[], size_t size)
{
  PetscFunctionBegin;
  if (values->coding == SPMV_CODING_ONE) PetscCall(PetscSNPrintf(line, size, "values: all equal, none stored"));
  else if (values->coding == SPMV_CODING_FLOAT)
    PetscCall(
      PetscSNPrintf(line, size, "values: %s", values->rounded ? "rounded to floats, " SPMV_VALUES_ERROR : "as float, exactly"));
  else if (values->coding != SPMV_CODING_PLAIN)
    PetscCall(PetscSNPrintf(line, size, "values: %" PetscInt_FMT " different ones, a byte each", values->ntable));
  PetscFunctionReturn(PETSC_SUCCESS);
}
