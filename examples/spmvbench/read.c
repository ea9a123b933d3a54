/*
  read.c - a file becomes a BenchMatrix

  Names ending in .mtx or .mtx.gz are Matrix Market, which SuiteSparse's CHOLMOD reads; all else is what MatView() writes
  to a binary viewer. A file that cannot be used gives a reason and is no error of this program.
*/
#include "spmvbench.h"
#include <cholmod.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- the whole file, through zlib, which also passes on what is not compressed ---- */

static PetscErrorCode TextRead(const char file[], MMText *t, PetscBool *ok, char reason[])
{
  gzFile gz   = gzopen(file, "rb");
  size_t room = 1 << 20;

  PetscFunctionBegin;
  *ok       = PETSC_FALSE;
  t->file   = file;
  t->length = 0;
  t->text   = NULL;
  if (!gz) {
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: %s", file, errno ? strerror(errno) : "no memory"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  (void)gzbuffer(gz, 1 << 18);
  for (int got = 1; got > 0; t->length += (size_t)(got > 0 ? got : 0)) {
    if (!t->text || room - t->length < 2) {
      if (t->text) room *= 2;
      t->text = realloc(t->text, room); /* not PETSc's, which touches all of it when it checks memory */
      PetscCheck(t->text, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: no memory for its %zu bytes", file, room);
    }
    got = gzread(gz, t->text + t->length, (unsigned)PetscMin(room - t->length - 1, (size_t)1 << 28));
    *ok = (PetscBool)(got == 0);
    if (got > 0) PetscCall(BenchProgress("%s: %zu MB read", file, (t->length + (size_t)got) >> 20)); /* it may set errno */
  }
  t->text[t->length] = 0;
  if (!*ok) {
    int number;

    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: %s", file, gzerror(gz, &number)));
    if (number == Z_ERRNO) PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: %s", file, strerror(errno)));
  }
  if (gzclose(gz) == Z_BUF_ERROR && *ok) { /* what a stream that breaks off returns, and only here */
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: the compressed file is cut off", file));
    *ok = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Matrix Market ---- */

/* S has the matrix's transpose in compressed columns, which are our rows */
static PetscErrorCode BenchMatrixFromCholmod(const cholmod_sparse *S, BenchMatrix *M)
{
  const int64_t *p = S->p, *i = S->i;
  const double  *x  = S->x;
  const PetscInt nz = (PetscInt)p[S->ncol];

  PetscFunctionBegin;
  M->m = (PetscInt)S->ncol;
  M->n = (PetscInt)S->nrow;
  PetscCall(PetscMalloc1(M->m + 1, &M->i));
  PetscCall(PetscMalloc1(nz, &M->j));
  PetscCall(PetscMalloc1(nz, &M->a));
  for (PetscInt r = 0; r <= M->m; r++) M->i[r] = (PetscInt)p[r];
  for (PetscInt k = 0; k < nz; k++) {
    M->j[k] = (PetscInt)i[k];
#if defined(PETSC_USE_COMPLEX)
    M->a[k] = S->xtype == CHOLMOD_COMPLEX ? PetscCMPLX((PetscReal)x[2 * k], (PetscReal)x[2 * k + 1]) : (PetscScalar)x[k];
#else
    M->a[k] = (PetscScalar)x[k];
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S <- transpose of the matrix in the text, all of it (no triangle), sorted and without duplicates; NULL if that failed */
static cholmod_sparse *CholmodRead(MMText *t, cholmod_common *common)
{
  cholmod_sparse *A = NULL, *S = NULL;
  FILE           *f = fmemopen(t->text, t->length, "r");
  void           *any;
  int             kind = -1;

  if (!f) return NULL;
  /* CHOLMOD makes degree + 1 and -1 of a symmetric pattern unless told otherwise; a pattern means ones */
  common->prefer_binary = 1;
  any                   = cholmod_l_read_matrix(f, 1, &kind, common);
  (void)fclose(f);
  if (kind == CHOLMOD_SPARSE) A = any;
  if (kind == CHOLMOD_DENSE) {
    cholmod_dense *D = any;

    A = cholmod_l_dense_to_sparse(D, 1, common);
    (void)cholmod_l_free_dense(&D, common);
  }
  if (A) S = cholmod_l_transpose(A, 1, common); /* 1: values as they are, not conjugated */
  (void)cholmod_l_free_sparse(&A, common);
  return S;
}

static PetscErrorCode BenchMatrixReadText(MMText *t, BenchMatrix *M, BenchOutcome *outcome, char reason[])
{
  cholmod_common  common;
  cholmod_sparse *S;
  PetscBool       ok;

  PetscFunctionBegin;
  PetscCall(MMTextCheck(t, &ok, reason));
  if (!ok) PetscFunctionReturn(PETSC_SUCCESS);
  *outcome = BENCH_SKIPPED;
  if (t->complex_values && !PetscDefined(USE_COMPLEX)) {
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: a complex matrix needs a complex PETSc", t->file));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (PetscMax(PetscMax(t->rows, t->cols), (t->symmetry == 'g' ? 1 : 2) * t->entries) > PETSC_MAX_INT) {
    PetscCall(
      PetscSNPrintf(reason, BENCH_REASON, "%s: %lld entries need a PETSc with 64-bit indices", t->file, (long long)t->entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *outcome = BENCH_BROKEN;
  PetscCheck(cholmod_l_start(&common), PETSC_COMM_SELF, PETSC_ERR_LIB, "CHOLMOD does not start");
  common.print = 0;
  S            = CholmodRead(t, &common);
  if (S) {
    PetscCall(BenchMatrixFromCholmod(S, M));
    *outcome = BENCH_OK;
  } else PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: CHOLMOD cannot read it, status %d", t->file, common.status));
  (void)cholmod_l_free_sparse(&S, &common);
  (void)cholmod_l_finish(&common);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- PETSc binary ---- */

/* A number of `width` bytes, the highest first; what is behind the end of the file is 0 */
static int64_t BinaryInt(const MMText *t, size_t width, double index)
{
  uint64_t     value = 0;
  const size_t start = (size_t)(index * (double)width);

  for (size_t k = start; k < start + width; k++) value = value << 8 | (k < t->length ? (unsigned char)t->text[k] : 0);
  return width == 4 ? (int32_t)value : (int64_t)value;
}

static double BinaryReal(const MMText *t, size_t start)
{
  union {
    uint64_t bits;
    double   value;
  } both = {0};

  for (size_t k = start; k < start + 8; k++) both.bits = both.bits << 8 | (unsigned char)t->text[k];
  return both.value;
}

/* What MatView() writes: class id, rows, columns, entries; lengths of the rows; columns; values */
typedef struct {
  size_t  width, parts; /* bytes of an integer; numbers of a value, 1 or 2 */
  int64_t rows, cols, entries;
  size_t  start; /* of the values */
  size_t  end;   /* of the matrix */
} BinaryHead;

/*
  Not MatLoad(): it believes that a file was written with its own widths, takes half the values of a complex matrix for all
  of them, and crashes where lengths or columns are wrong (3.18)
*/
static PetscErrorCode BinaryCheck(const MMText *t, BinaryHead *h, BenchOutcome *outcome, char reason[])
{
  double needed;

  PetscFunctionBegin;
  *outcome = BENCH_BROKEN;
  h->width = BinaryInt(t, 4, 0) == MAT_FILE_CLASSID ? 4 : BinaryInt(t, 8, 0) == MAT_FILE_CLASSID ? 8 : 0;
  if (!h->width) {
    PetscCall(
      PetscSNPrintf(reason, BENCH_REASON, "%s: neither a PETSc binary matrix nor a name that ends in .mtx or .mtx.gz", t->file));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  h->rows    = BinaryInt(t, h->width, 1);
  h->cols    = BinaryInt(t, h->width, 2);
  h->entries = BinaryInt(t, h->width, 3);
  needed     = (double)h->width * (4 + (double)h->rows + (double)h->entries);
  h->start   = (size_t)PetscMax(needed, 0);
  h->parts   = (double)t->length == needed + 16. * (double)h->entries                                ? 2
               : (double)t->length == needed + 8. * (double)h->entries || !PetscDefined(USE_COMPLEX) ? 1
                                                                                                     : 2;
  needed += 8. * (double)h->parts * (double)h->entries;
  h->end   = (size_t)PetscMax(needed, 0);
  *outcome = BENCH_SKIPPED;
  if (h->entries < 0) PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: a dense PETSc matrix", t->file));
  else if (PetscMax(PetscMax(h->rows, h->cols), h->entries) > PETSC_MAX_INT)
    PetscCall(
      PetscSNPrintf(reason, BENCH_REASON, "%s: %lld entries need a PETSc with 64-bit indices", t->file, (long long)h->entries));
  else if (h->parts == 2 && h->entries && !PetscDefined(USE_COMPLEX))
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: a complex matrix needs a complex PETSc", t->file));
  else {
    *outcome = BENCH_BROKEN;
    if (h->rows < 0 || h->cols < 0)
      PetscCall(
        PetscSNPrintf(reason, BENCH_REASON, "%s: %lld rows and %lld columns", t->file, (long long)h->rows, (long long)h->cols));
    else if ((double)t->length < needed)
      PetscCall(PetscSNPrintf(reason, BENCH_REASON,
                              "%s: the file ends early: it has %zu bytes, and %lld rows with %lld entries take %.0f", t->file,
                              t->length, (long long)h->rows, (long long)h->entries, needed));
    else *outcome = BENCH_OK;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who wrote several matrices to one file is told that the first one counts */
static PetscErrorCode BinaryRestSay(const MMText *t, const BinaryHead *h)
{
  PetscFunctionBegin;
  if (BinaryInt(t, h->width, (double)(h->end / h->width)) != MAT_FILE_CLASSID) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BenchProgressClear());
  PetscCall(
    PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "spmvbench: %s: the first matrix of this file is measured, no other\n", t->file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchMatrixReadBinary(const MMText *t, BenchMatrix *M, BenchOutcome *outcome, char reason[])
{
  BinaryHead h  = {0};
  PetscInt   nz = 0;

  PetscFunctionBegin;
  PetscCall(BinaryCheck(t, &h, outcome, reason));
  if (*outcome != BENCH_OK) PetscFunctionReturn(PETSC_SUCCESS);
  *outcome = BENCH_BROKEN;
  M->m     = (PetscInt)h.rows;
  M->n     = (PetscInt)h.cols;
  PetscCall(PetscMalloc1(M->m + 1, &M->i));
  PetscCall(PetscMalloc1((PetscInt)h.entries, &M->j));
  PetscCall(PetscMalloc1((PetscInt)h.entries, &M->a));
  for (PetscInt r = 0; r < M->m; r++) {
    const int64_t length = BinaryInt(t, h.width, 4 + (double)r);

    M->i[r] = nz;
    if (length < 0 || length > h.entries - nz) {
      PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: row %" PetscInt_FMT " has %lld entries, of %lld that are left", t->file,
                              r + 1, (long long)length, (long long)h.entries - nz));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    for (PetscInt k = nz; k < nz + (PetscInt)length; k++) {
      const int64_t column = BinaryInt(t, h.width, 4 + (double)M->m + (double)k);
      const size_t  value  = h.start + 8 * h.parts * (size_t)k;

      if (column < (k > nz ? M->j[k - 1] + 1 : 0) || column >= M->n) {
        PetscCall(PetscSNPrintf(reason, BENCH_REASON,
                                "%s: row %" PetscInt_FMT " has an entry in column %lld, which is not in 1 to %" PetscInt_FMT
                                " or not behind the one before",
                                t->file, r + 1, (long long)column + 1, M->n));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      M->j[k] = (PetscInt)column;
#if defined(PETSC_USE_COMPLEX)
      M->a[k] = PetscCMPLX((PetscReal)BinaryReal(t, value), h.parts == 2 ? (PetscReal)BinaryReal(t, value + 8) : 0);
#else
      M->a[k] = (PetscScalar)BinaryReal(t, value);
#endif
    }
    nz += (PetscInt)length;
  }
  M->i[M->m] = nz;
  *outcome   = BENCH_OK;
  PetscCall(BinaryRestSay(t, &h));
  if (nz < h.entries) {
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: the rows have %" PetscInt_FMT " entries instead of %lld", t->file, nz,
                            (long long)h.entries));
    *outcome = BENCH_BROKEN;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- both ---- */

/* name <- the file's, without folders and without ending */
static PetscErrorCode BenchNameFromFile(const char file[], char name[], PetscBool *market)
{
  const char *const endings[] = {".gz", ".mtx", ".petsc"};
  const char       *base      = strrchr(file, '/');

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, base ? base + 1 : file, PETSC_MAX_PATH_LEN));
  *market = PETSC_FALSE;
  for (int k = 0; k < 3; k++) {
    size_t    length = strlen(name), ending = strlen(endings[k]);
    PetscBool has = (PetscBool)(length > ending && !strcmp(name + length - ending, endings[k]));

    if (has) name[length - ending] = 0;
    if (has && k == 1) *market = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block size that PETSc wrote beside a binary file, in FILE.info, which MatLoad() tells the matrix; 1 if none divides it */
static PetscErrorCode BenchBlockSizeRead(const char file[], BenchMatrix *M)
{
  char  path[PETSC_MAX_PATH_LEN], word[64];
  FILE *info;
  int   bs = 1;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.info", file));
  info = fopen(path, "r");
  while (info && fscanf(info, "%63s", word) == 1) {
    if (!strcmp(word, "-matload_block_size") && fscanf(info, "%d", &bs) != 1) bs = 1;
  }
  if (info) (void)fclose(info);
  if (bs > 1 && M->m % bs == 0 && M->n % bs == 0) M->bs = bs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file's matrix; the name is set whatever the outcome, the rest only if it is BENCH_OK */
PetscErrorCode BenchMatrixRead(const char file[], BenchMatrix *M, BenchOutcome *outcome, char reason[])
{
  PetscBool market = PETSC_FALSE, ok = PETSC_FALSE;
  MMText    t;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(M, sizeof(*M)));
  PetscCall(BenchNameFromFile(file, M->name, &market));
  M->bs    = 1;
  *outcome = BENCH_BROKEN;
  PetscCall(TextRead(file, &t, &ok, reason));
  if (ok && market) PetscCall(BenchMatrixReadText(&t, M, outcome, reason));
  else if (ok) PetscCall(BenchMatrixReadBinary(&t, M, outcome, reason));
  free(t.text);
  if (*outcome == BENCH_OK) PetscCall(BenchBlockSizeRead(file, M));
  for (PetscInt k = 0; *outcome == BENCH_OK && k < M->i[M->m]; k++) {
    if (isfinite((double)PetscRealPart(M->a[k])) && isfinite((double)PetscImaginaryPart(M->a[k]))) continue;
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: an entry in column %" PetscInt_FMT " is not finite", file, M->j[k] + 1));
    *outcome = BENCH_BROKEN;
  }
  if (*outcome == BENCH_OK && !M->i[M->m]) {
    PetscCall(PetscSNPrintf(reason, BENCH_REASON, "%s: no entries, so there is nothing to measure", file));
    *outcome = BENCH_SKIPPED;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchMatrixDestroy(BenchMatrix *M)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(M->i));
  PetscCall(PetscFree(M->j));
  PetscCall(PetscFree(M->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
