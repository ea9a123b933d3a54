/*
  sbccoo_host.c - the host side of sbccoo: knobs and storage
*/
#include "sbccoo_host.h"
#include "../../../../host/machine.h"

#define SPMV_KERNELS SbccooKernels
#include "../../../../kernels.h"

#define SPMV_ISA(NAME, name, flags, runs) extern SbccooTellFn SPMV_CAT(SbccooTell, name), SPMV_CAT(SbccooClose, name);
#include "../../../../isas.h"
#undef SPMV_ISA

static SbccooTellFn *const SbccooTells[SPMV_ISA_COUNT][2] = {
#define SPMV_ISA(NAME, name, flags, runs) {SPMV_CAT(SbccooTell, name), SPMV_CAT(SbccooClose, name)},
#include "../../../../isas.h"
#undef SPMV_ISA
};

/*
  Entries off the diagonal, of a hundred, that have no partner or are not told from it, above which another format is to serve.
  With 23 of them in the rest, blocks of 3x3 (7.8 million entries) take as long as tpspmv. Of scalars such a pair takes 18 bytes,
  not 24 and its place: with 29 to 33 of them (heat, edge elements, 30 million entries) products take 1.1 to 0.84 of the time of
  the best other format. Of blocks with codes a pair that is not told takes 8 bytes: where 35 of a hundred are scattered
  (elasticity, 30 million entries) 0.78 (Emerald Rapids)
*/
#define SBCCOO_ALONE   15
#define SBCCOO_SCALARS 35 /* the same of scalars */
#define SBCCOO_UNTOLD  40 /* of blocks with codes, not told */

static const PetscInt    SbccooBlocks[]     = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const PetscInt    SbccooPairs_[]     = {SBCCOO_FOUND, SBCCOO_EQUAL, SBCCOO_NEAR, SBCCOO_NEAR16};
static const char *const SbccooPairNames[]  = {"found", "equal", "near", "near16"};
static const PetscInt    SbccooExacts[]     = {SBCCOO_ALWAYS, SBCCOO_DECLARED};
static const char *const SbccooExactNames[] = {"yes", "no"};

static const SpmvParam SbccooParams[] = {
  [SBCCOO_BLOCK] =
    SPMV_CHOICES("block", "rows and columns of a block, 0: those of least estimated time", SbccooBlocks, NULL, SPMV_KNOB_SHAPE),
  [SBCCOO_PAIRS] = SPMV_CHOICES(
    "pairs",
    "what is stored of a pair: one entry; one and the difference to the other, in 8 bits or, of scalars, in 16; or as found",
    SbccooPairs_, SbccooPairNames, SPMV_KNOB_USERS),
  [SBCCOO_EXACT] = SPMV_CHOICES(
    "exact", "no: of a matrix that was declared symmetric the upper part alone; a_ij is wrong by at most " SBCCOO_CLOSE_TEXT,
    SbccooExacts, SbccooExactNames, SPMV_KNOB_USERS),
};

/* What sizes tell: scalars, unless it is known better; and a sample of the pairs */
static PetscErrorCode SbccooResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  PetscInt  *p    = plan->value;
  SbccooLook look = {0};

  PetscFunctionBegin;
  (void)info;
  if (!p[SBCCOO_BLOCK]) p[SBCCOO_BLOCK] = 1;
  if (p[SBCCOO_PAIRS] == SBCCOO_FOUND && !SbccooUpper(csr, p[SBCCOO_EXACT])) PetscCall(SbccooLookAt(csr, SBCCOO_LOOK_FEW, &look));
  p[SBCCOO_PAIRS] = SbccooKind(csr, p, &look);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of a matrix can be left out if it is square, and if most entries have a partner, of a value to tell them by */
static PetscErrorCode SbccooSuits(const SpmvCSR *csr, const SpmvPlan *asked, char why[], size_t size)
{
  const PetscBool blocks = (PetscBool)(asked->value[SBCCOO_BLOCK] > 1);
  PetscInt        most   = blocks ? SBCCOO_ALONE : SBCCOO_SCALARS, far;
  SbccooLook      look;

  PetscFunctionBegin;
  if (csr->m != csr->n) {
    PetscCall(
      SpmvAppend(why, size, "a block of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns has no other half", csr->m, csr->n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SbccooLookAt(csr, SBCCOO_LOOK, &look));
  far = SbccooToldBy(&look, SbccooKind(csr, asked->value, &look))->far;
  if (SbccooUpper(csr, asked->value[SBCCOO_EXACT])) far = 0;
  if (blocks && look.by[0].near && asked->value[SBCCOO_PAIRS] != SBCCOO_EQUAL && 100. * look.alone <= (double)most * look.looked)
    most = SBCCOO_UNTOLD;
  if (100. * (look.alone + far) <= (double)most * look.looked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(why, size,
                       "of %" PetscInt_FMT " entries off the diagonal that were looked at %" PetscInt_FMT
                       " have no partner across it, and %" PetscInt_FMT " one of another value: more than %d %%",
                       look.looked, look.alone, far, (int)most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows are told by 32-bit numbers */
static PetscErrorCode SbccooAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[], size_t size)
{
  PetscFunctionBegin;
  (void)info, (void)plan;
  if ((uint64_t)csr->n > UINT32_MAX) {
    PetscCall(SpmvAppend(why, size,
                         "%" PetscInt_FMT " local columns are more than 32-bit numbers count; "
                         "use more processes or -mat_type aij",
                         csr->n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of row r beyond the diagonal, whose columns increase */
static PetscInt SbccooBeyond(const SpmvCSR *csr, PetscInt r)
{
  PetscInt low = csr->i[r], high = csr->i[r + 1];

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (csr->j[middle] <= r) low = middle + 1;
    else high = middle;
  }
  return csr->i[r + 1] - low;
}

/* Which block rows are whose: parts have about as many stored entries each, of which first rows may have more than last ones */
static PetscErrorCode SbccooShare(const SpmvCSR *csr, SbccooStorage *s)
{
  SPMV_TEMPORARY PetscInt *first = NULL, *stored = NULL;
  SpmvCSR                  half = *csr;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(s->nparts, &s->part));
  PetscCall(PetscMalloc1(s->nparts + 1, &first));
  if (s->nparts > 1) {
    PetscCall(PetscMalloc1(csr->m + 1, &stored));
    stored[0] = 0;
    for (PetscInt r = 0; r < csr->m; r++) stored[r + 1] = stored[r] + SbccooBeyond(csr, r) + 1;
    half.i = stored;
  }
  SpmvSplitRows(&half, s->b > 1 ? s->b : SBCCOO_PIECE, s->nparts, first);
  for (PetscInt k = 0; k < s->nparts; k++) {
    SbccooPart *p = &s->part[k];

    p->first = PetscMin(s->nb, first[k] / s->b);
    p->last  = k + 1 < s->nparts ? PetscMin(s->nb, first[k + 1] / s->b) : s->nb;
    p->chunk = s->nchunks;
    s->nchunks += (p->last - p->first + SBCCOO_CHUNK - 1) / SBCCOO_CHUNK;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A part's window begins with the first chunk whose rows add to another part's */
static PetscErrorCode SbccooWindows(SbccooStorage *s)
{
  size_t entries = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < s->nparts; k++) {
    SbccooPart *p = &s->part[k];

    p->wfirst = p->wlast = p->last;
    for (PetscInt first = p->first, chunk = p->chunk; first < p->last; first += SBCCOO_CHUNK, chunk++) {
      if (s->front[chunk] > p->last) p->wfirst = PetscMin(p->wfirst, first);
      p->wlast = PetscMax(p->wlast, s->front[chunk]);
    }
    p->window = entries;
    entries += (size_t)(p->wlast - p->wfirst) * (size_t)s->b;
  }
  if (entries) PetscCall(SpmvAlloc(entries * sizeof(PetscScalar), &s->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SbccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  SbccooStorage *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage   = s;
  s->m       = csr->m;
  s->n       = csr->n;
  s->b       = plan->value[SBCCOO_BLOCK];
  s->nb      = PetscMin(s->m, s->n) / s->b;
  s->nparts  = plan->threads;
  s->exact   = plan->value[SBCCOO_EXACT];
  s->tell[0] = SbccooTells[plan->isa][0];
  s->tell[1] = SbccooTells[plan->isa][1];
  s->large   = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->cached);
  PetscCall(SbccooShare(csr, s));
  PetscCall(SbccooFill(csr, PETSC_TRUE, plan->value[SBCCOO_PAIRS], s));
  PetscCall(SbccooWindows(s));
  if (!s->code) plan->value[SBCCOO_PAIRS] = SBCCOO_EQUAL;
  else plan->value[SBCCOO_PAIRS] = s->codesize == sizeof(int8_t) ? SBCCOO_NEAR : SBCCOO_NEAR16;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SbccooSetValues(const SpmvCSR *csr, void *storage)
{
  SbccooStorage  *s         = (SbccooStorage *)storage;
  const PetscBool upper     = SbccooUpper(csr, s->exact);
  const PetscBool hermitian = (PetscBool)(csr->declared == SPMV_DECLARED_HERMITIAN);
  PetscBool       done      = PETSC_FALSE;

  PetscFunctionBegin;
  if (s->filled && upper == s->upper && (!upper || hermitian == s->conjugate)) PetscCall(SbccooRenew(csr, s, &done));
  if (!done) {
    PetscCall(SbccooPlacesDestroy(&s->places));
    s->renewed = 0;
    PetscCall(SbccooFill(csr, PETSC_FALSE, SBCCOO_FOUND, s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SbccooArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const SbccooStorage *s    = (const SbccooStorage *)storage;
  const size_t         rest = (size_t)s->nrest, rows = (size_t)s->nrestrows, entry = sizeof(PetscScalar), word = sizeof(PetscInt);
  PetscInt             k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", s->value, SbccooValues(s), entry, .is_values = PETSC_TRUE);
  if (s->b == 1) arrays[k++] = SPMV_ARRAY("diagonal", s->diagonal, (size_t)s->nb, entry, .is_values = PETSC_TRUE);
  if (s->code) arrays[k++] = SPMV_ARRAY("differences", s->code, SbccooCodes(s), s->codesize, .is_values = PETSC_TRUE);
  if (s->b == 1) arrays[k++] = SPMV_ARRAY("both", s->both, 2 * s->nboth, entry, .is_values = PETSC_TRUE);
  if (s->far) arrays[k++] = SPMV_ARRAY("far", s->far, s->nfar, entry, .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("columns", s->index, s->nindex, sizeof(uint16_t), .is_values = (PetscBool)(s->b == 1 || s->far));
  if (s->mask) arrays[k++] = SPMV_ARRAY("masks", s->mask, s->nmask, 1, .is_values = PETSC_TRUE);
  if (s->row) arrays[k++] = SPMV_ARRAY("rows", s->row, (size_t)s->nb, 1, .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("fronts", s->front, (size_t)s->nchunks, word);
  arrays[k++] = SPMV_ARRAY("plain rows", s->plain, (size_t)s->nb, 1, .aside = PETSC_TRUE);
  if (s->places.pair) {
    arrays[k++] = SPMV_ARRAY("places", s->places.pair, 2 * s->nblocks, sizeof(uint32_t), .aside = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("diagonal places", s->places.diagonal, (size_t)s->nb, sizeof(uint32_t), .aside = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("both places", s->places.both, 2 * s->nboth, sizeof(uint32_t), .aside = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("single places", s->places.rest, rest, sizeof(uint32_t), .aside = PETSC_TRUE);
  }
  arrays[k++] = SPMV_ARRAY("single values", s->restvalue, rest, entry, .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("single columns", s->restcolumn, rest, word, .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("single rows", s->restrow, rows, word, .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("single starts", s->reststart, rows + 1, word, .is_values = PETSC_TRUE);
  *narrays    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What became of the entries */
static PetscErrorCode SbccooDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const SbccooStorage *s = (const SbccooStorage *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (k == 1 && s->upper)
    PetscCall(
      SpmvAppend(line, size, "the upper part alone, as the matrix was declared: a_ij is wrong by at most " SBCCOO_CLOSE_TEXT));
  else if (k == 1 && s->exact == SBCCOO_DECLARED)
    PetscCall(SpmvAppend(line, size, "exact: the matrix is not declared symmetric now (MatSetOption(), MAT_SYMMETRIC)"));
  if (k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size,
                       "%zu blocks of %" PetscInt_FMT " x %" PetscInt_FMT " stand for two, %zu pairs have both entries, ",
                       s->nblocks, s->b, s->b, s->nboth + s->nfar));
  PetscCall(SpmvAppend(line, size, "%" PetscInt_FMT " entries in %" PetscInt_FMT " rows are alone%s", s->nrest, s->nrestrows,
                       s->conjugate ? "; A^H = A" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SbccooDestroy(void *storage)
{
  SbccooStorage *s = (SbccooStorage *)storage;

  PetscFunctionBegin;
  PetscCall(PetscFree(s->part));
  PetscCall(SpmvFree(&s->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

extern const SpmvHostSide SbccooHost;
const SpmvHostSide        SbccooHost = {
         .side    = {.nparams   = SBCCOO_NPARAMS,
                     .params    = SbccooParams,
                     .propose   = SbccooPropose,
                     .resolve   = SbccooResolve,
                     .suits     = SbccooSuits,
                     .works     = SbccooWorks,
                     .allows    = SbccooAllows,
                     .build     = SbccooBuild,
                     .setvalues = SbccooSetValues,
                     .arrays    = SbccooArrays,
                     .describe  = SbccooDescribe,
                     .destroy   = SbccooDestroy},
         .kernels = SbccooKernels,
         /* Of 61 symmetric matrices of up to 175,000 entries others are 1.3 times as fast, at least; of nodes with four or eight
            unknowns it is the fastest (1.2 to 1.6 times, 4 of 8, Zen 4) */
         .far   = PETSC_TRUE,
         .nodes = 4,
};
