/*
  mat_contract_query.h - what can be asked about a matrix, and its way to a file and back
*/
#pragma once
#include "mat_contract_convert.h"
#include <petscviewer.h>
#include <unistd.h>

static PetscErrorCode QueryRowIJ(Case *c, Mat A)
{
  Mat       Ad = A;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, c->mpi, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, NULL, NULL));
  for (int k = 0; k < 16; k++) {
    const PetscInt  shift     = k & 1, *ia, *ja;
    const PetscBool symmetric = (PetscBool)(k >> 1 & 1), inodes = (PetscBool)(k >> 2 & 1), columns = (PetscBool)(k >> 3);
    PetscInt        n;
    PetscBool       done;

    if ((symmetric || inodes) && !(BIT(c->kind) & INVERTIBLE)) continue; /* AIJ itself takes a full diagonal for granted */
    if (columns) PetscCall(MatGetColumnIJ(Ad, shift, symmetric, inodes, &n, &ia, &ja, &done));
    else PetscCall(MatGetRowIJ(Ad, shift, symmetric, inodes, &n, &ia, &ja, &done));
    PetscCall(RecordInt(c, "done", done));
    if (!done) continue;
    PetscCall(RecordInts(c, "ia", n + 1, ia));
    PetscCall(RecordInts(c, "ja", ia[n] - shift, ja));
    if (columns) PetscCall(MatRestoreColumnIJ(Ad, shift, symmetric, inodes, &n, &ia, &ja, &done));
    else PetscCall(MatRestoreRowIJ(Ad, shift, symmetric, inodes, &n, &ia, &ja, &done));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryDiagonal(Case *c, Mat A)
{
  Vec         d;
  PetscScalar trace;
  PetscBool   ok;
  Mat         block;
  IS          is;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, &d));
  for (int round = 0; round < 2; round++) {
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(RecordVec(c, "diagonal", d));
    PetscCall(MatGetTrace(A, &trace));
    PetscCall(RecordNumbers(c, "trace", 1, &trace));
    Try(c, "MatFindZeroDiagonals", ok, MatFindZeroDiagonals(A, &is));
    if (ok) {
      PetscCall(RecordIS(c, "zero diagonals", is));
      PetscCall(ISDestroy(&is));
    }
    PetscCall(MatGetDiagonalBlock(A, &block));
    PetscCall(RecordMat(c, "diagonal block", block));
    PetscCall(Refill(A, KIND(c), 3));
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryRowExtremes(Case *c, Mat A)
{
  Vec       v;
  PetscInt  m, *where;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, &v));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(PetscCalloc1(m + 1, &where));
  for (int round = 0; round < 2; round++) {
#define ROWS(f) \
  Try(c, #f, ok, f(A, v, where)); \
  if (ok) PetscCall(RecordVec(c, #f, v)); \
  if (ok) PetscCall(RecordInts(c, #f, m, where))
    ROWS(MatGetRowMax);
    ROWS(MatGetRowMin);
    ROWS(MatGetRowMaxAbs);
    ROWS(MatGetRowMinAbs);
#undef ROWS
    PetscCall(MatGetRowSum(A, v));
    PetscCall(RecordVec(c, "MatGetRowSum", v));
    PetscCall(Refill(A, KIND(c), 3));
  }
  PetscCall(PetscFree(where));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryColumns(Case *c, Mat A)
{
  const NormType norms[] = {NORM_1, NORM_2, NORM_INFINITY};
  PetscReal     *r, value;
  PetscScalar   *s;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(PetscMalloc2(N, &r, N, &s));
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 3; k++) {
      PetscCall(MatGetColumnNorms(A, norms[k], r));
      PetscCall(RecordReals(c, "column norms", N, r));
    }
    PetscCall(MatGetColumnSums(A, s));
    PetscCall(RecordNumbers(c, "column sums", N, s));
    PetscCall(MatGetColumnMeans(A, s));
    PetscCall(RecordNumbers(c, "column means", N, s));
    PetscCall(MatNorm(A, NORM_1, &value));
    PetscCall(RecordReal(c, "1-norm", value));
    PetscCall(MatNorm(A, NORM_FROBENIUS, &value));
    PetscCall(RecordReal(c, "Frobenius norm", value));
    PetscCall(MatNorm(A, NORM_INFINITY, &value));
    PetscCall(RecordReal(c, "infinity norm", value));
    PetscCall(Refill(A, KIND(c), 3));
  }
  PetscCall(PetscFree2(r, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryEqual(Case *c, Mat A)
{
  Mat       B, C, At;
  PetscBool equal;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Make(c, MATAIJ, KIND(c), 0, &C));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &At));
  for (int round = 0; round < 2; round++) {
#define EQUAL(call) \
  PetscCall(call); \
  PetscCall(RecordInt(c, #call, equal))
    EQUAL(MatEqual(A, B, &equal));
    EQUAL(MatMultEqual(A, B, 3, &equal));
    EQUAL(MatMultEqual(A, C, 3, &equal));
    EQUAL(MatMultAddEqual(A, C, 3, &equal));
    EQUAL(MatMultTransposeEqual(A, C, 3, &equal));
    EQUAL(MatMultTransposeAddEqual(C, A, 3, &equal));
    EQUAL(MatMultHermitianTransposeEqual(A, C, 3, &equal));
    EQUAL(MatIsLinear(A, 3, &equal));
#undef EQUAL
    PetscCall(MatSetValue(A, 0, 0, 77, INSERT_VALUES));
    PetscCall(Assemble(A));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&At));
  PetscFunctionReturn(0);
}

static PetscErrorCode QuerySymmetric(Case *c, Mat A)
{
  Mat       At;
  PetscBool flag, ok;

  PetscFunctionBegin;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &At));
  for (int round = 0; round < 2; round++) {
#define ASK(call) \
  Try(c, #call, ok, call); \
  if (ok) PetscCall(RecordInt(c, #call, flag))
    ASK(MatIsSymmetric(A, 1e-10, &flag));
    ASK(MatIsHermitian(A, 1e-10, &flag));
    ASK(MatIsStructurallySymmetric(A, &flag));
    ASK(MatIsTranspose(A, At, 1e-10, &flag));
    ASK(MatIsHermitianTranspose(A, At, 1e-10, &flag));
#undef ASK
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(A, 0, 3, 5, INSERT_VALUES));
    PetscCall(Assemble(A));
  }
  PetscCall(MatDestroy(&At));
  PetscFunctionReturn(0);
}

/* Memory is not AIJ's: the type has its own beside it */
static PetscErrorCode QueryInfo(Case *c, Mat A)
{
  const MatInfoType types[] = {MAT_LOCAL, MAT_GLOBAL_SUM, MAT_GLOBAL_MAX};
  MatInfo           info;
  PetscObjectState  before, after;
  PetscInt          most = 0, bandwidth = 0;
  PetscBool         parallel;

  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(A, &before));
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 3; k++) {
      PetscCall(MatGetInfo(A, types[k], &info));
      PetscCall(RecordReal(c, "block size", info.block_size));
      PetscCall(RecordReal(c, "nz allocated", info.nz_allocated));
      PetscCall(RecordReal(c, "nz used", info.nz_used));
      PetscCall(RecordReal(c, "nz unneeded", info.nz_unneeded));
      PetscCall(RecordReal(c, "assemblies", info.assemblies));
      PetscCall(RecordReal(c, "mallocs", info.mallocs));
      PetscCall(RecordInt(c, "memory", info.memory >= 0));
    }
    PetscCall(MatGetNonzeroState(A, &after));
    PetscCall(RecordInt(c, "nonzero state changed", after != before));
    PetscCall(MatComputeBandwidth(A, 0, &bandwidth));
    PetscCall(RecordInt(c, "bandwidth", bandwidth));
    PetscCall(PetscObjectTypeCompare((PetscObject)A, c->seq, &parallel));
    if (parallel) PetscCall(MatSeqAIJGetMaxRowNonzeros(A, &most));
    PetscCall(RecordInt(c, "longest row", most));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(Fill(A, KIND(c), 1, 3, INSERT_VALUES));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryLayout(Case *c, Mat A)
{
  const PetscInt        *ranges;
  PetscInt               n;
  PetscBool              flag, known;
  PetscLayout            rows, columns;
  IS                     isrows, iscolumns;
  VecType                vtype;
  ISLocalToGlobalMapping rmap, cmap;
  MPI_Comm               comm;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRanges(A, &ranges));
  PetscCall(RecordInts(c, "row ranges", c->size + 1, ranges));
  PetscCall(MatGetOwnershipRangesColumn(A, &ranges));
  PetscCall(RecordInts(c, "column ranges", c->size + 1, ranges));
  PetscCall(MatGetLayouts(A, &rows, &columns));
  PetscCall(PetscLayoutGetBlockSize(rows, &n));
  PetscCall(RecordInt(c, "row layout", n));
  PetscCall(PetscLayoutGetBlockSize(columns, &n));
  PetscCall(RecordInt(c, "column layout", n));
  PetscCall(MatGetOwnershipIS(A, &isrows, &iscolumns));
  PetscCall(RecordIS(c, "own rows", isrows));
  PetscCall(RecordIS(c, "own columns", iscolumns));
  PetscCall(ISDestroy(&isrows));
  PetscCall(ISDestroy(&iscolumns));
  PetscCall(MatHasCongruentLayouts(A, &flag));
  PetscCall(RecordInt(c, "congruent", flag));
  PetscCall(MatGetVecType(A, &vtype));
  PetscCall(RecordText(c, "vector type", vtype));
  PetscCall(MatAssembled(A, &flag));
  PetscCall(RecordInt(c, "assembled", flag));
  PetscCall(MatIsSymmetricKnown(A, &known, &flag));
  PetscCall(RecordInt(c, "symmetric known", known));
  PetscCall(MatIsShell(A, &flag));
  PetscCall(RecordInt(c, "shell", flag));
  PetscCall(PetscObjectGetComm((PetscObject)A, &comm));
  PetscCall(MappingsSet(c, A));
  PetscCall(MatGetLocalToGlobalMapping(A, &rmap, &cmap));
  PetscCall(ISLocalToGlobalMappingGetSize(rmap, &n));
  PetscCall(RecordInt(c, "mapping", n));
  if (c->size > 1) {
    PetscCall(MatGetGhosts(A, &n, &ranges));
    PetscCall(RecordInts(c, "ghosts", n, ranges));
  }
  PetscFunctionReturn(0);
}

/* The type has every operation that AIJ has; it may have more */
static PetscErrorCode QueryOperations(Case *c, Mat A)
{
  PetscInt lacks[150], n = 0;
  Mat      B;

  PetscFunctionBegin;
  PetscCall(Make(c, MATAIJ, KIND(c), 0, &B));
  for (int op = 0; op < 140; op++) {
    PetscBool mine, theirs;

    PetscCall(MatHasOperation(A, (MatOperation)op, &mine));
    PetscCall(MatHasOperation(B, (MatOperation)op, &theirs));
    if (theirs && !mine) lacks[n++] = op;
  }
  PetscCall(RecordInts(c, "lacks", n, lacks));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryZeroRows(Case *c, Mat A)
{
  IS        is;
  PetscBool ok;

  PetscFunctionBegin;
#define FIND(f) \
  do { \
    Try(c, #f, ok, f(A, &is)); \
    if (ok) PetscCall(RecordIS(c, #f, is)); \
    if (ok) PetscCall(ISDestroy(&is)); \
  } while (0)
  FIND(MatFindNonzeroRows);
  FIND(MatFindZeroRows);
  if (c->size == 1 && BIT(c->kind) & SQUARES) FIND(MatFindOffBlockDiagonalEntries); /* AIJ of 3.18 crashes on the others */
#undef FIND
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryValues(Case *c, Mat A)
{
  PetscInt    first, last, N, columns[MAXROW];
  PetscScalar v[2 * MAXROW];

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  for (PetscInt j = 0; j < N; j++) columns[j] = j;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt rows[] = {i, -1};

    v[N] = 0;
    PetscCall(MatGetValues(A, 1, rows, N, columns, v));
    PetscCall(RecordNumbers(c, "row", N, v));
  }
  PetscCall(MappingsSet(c, A));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatGetValuesLocal(A, 1, &i, N, columns, v));
    PetscCall(RecordNumbers(c, "local row", N, v));
  }
  PetscFunctionReturn(0);
}

/* A file name that is this run's own; all processes of the run have the same */
static PetscErrorCode TemporaryName(Case *c, char name[], size_t length)
{
  int  id = (int)getpid();
  char directory[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&id, 1, MPI_INT, 0, c->comm));
  PetscCall(PetscGetTmp(c->comm, directory, sizeof(directory)));
  PetscCall(PetscSNPrintf(name, length, "%s/mat_contract.%d", directory, id));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordFile(Case *c, const char label[], const char name[])
{
  char *text;
  FILE *file;
  long  length = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(c->comm));
  if (c->rank == 0) {
    file = fopen(name, "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", name);
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    PetscCall(PetscMalloc1(length + 1, &text));
    length       = (long)fread(text, 1, (size_t)length, file);
    text[length] = 0;
    fclose(file);
    remove(name);
    PetscCall(RecordText(c, label, text));
    PetscCall(PetscFree(text));
  }
  PetscFunctionReturn(0);
}

/* Texts are AIJ's, but for the lines that ::ascii_info_detail adds */
static PetscErrorCode QueryViewASCII(Case *c, Mat A)
{
  const PetscViewerFormat formats[] = {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_INFO, PETSC_VIEWER_ASCII_INFO_DETAIL, PETSC_VIEWER_ASCII_MATLAB, PETSC_VIEWER_ASCII_DENSE, PETSC_VIEWER_ASCII_IMPL, PETSC_VIEWER_ASCII_COMMON, PETSC_VIEWER_ASCII_INDEX, PETSC_VIEWER_ASCII_FACTOR_INFO, PETSC_VIEWER_LOAD_BALANCE};
  PetscViewer             viewer;
  char                    name[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(PetscObjectSetName((PetscObject)A, "A"));
  PetscCall(TemporaryName(c, name, sizeof(name)));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(formats); k++) {
    PetscBool ok;

    PetscCall(PetscViewerASCIIOpen(c->comm, name, &viewer));
    PetscCall(PetscViewerPushFormat(viewer, formats[k]));
    Try(c, PetscViewerFormats[formats[k]], ok, MatView(A, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(RecordFile(c, PetscViewerFormats[formats[k]], name));
  }
  PetscFunctionReturn(0);
}

/* -mat_view and its relatives fire at the end of assembly, before anything is built */
static PetscErrorCode QueryViewOptions(Case *c, Mat A)
{
  char option[PETSC_MAX_PATH_LEN], name[PETSC_MAX_PATH_LEN];
  Mat  B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(TemporaryName(c, name, sizeof(name)));
  PetscCall(PetscSNPrintf(option, sizeof(option), "ascii:%s:ascii_info_detail", name));
  PetscCall(PetscOptionsSetValue(NULL, "-viewed_mat_view", option));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(PetscObjectSetName((PetscObject)B, "B"));
  PetscCall(MatSetOptionsPrefix(B, "viewed_"));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(PetscOptionsClearValue(NULL, "-viewed_mat_view"));
  PetscCall(RecordFile(c, "-mat_view", name));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryViewDraw(Case *c, Mat A)
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerCreate(c->comm, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERDRAW));
  PetscCall(PetscViewerDrawSetDrawType(viewer, PETSC_DRAW_NULL));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

/* Written by one type, read by every other; read into a matrix that is in use */
static PetscErrorCode QueryLoad(Case *c, Mat A)
{
  PetscViewer viewer;
  char        name[PETSC_MAX_PATH_LEN];
  Mat         B, C;
  PetscInt    m, n;

  PetscFunctionBegin;
  PetscCall(TemporaryName(c, name, sizeof(name)));
  PetscCall(Make(c, c->root, KIND(c), 5, &C));
  PetscCall(PetscViewerBinaryOpen(c->comm, name, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(MatView(C, viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(c->comm, name, FILE_MODE_READ, &viewer));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(c->comm, &B));
  PetscCall(MatSetSizes(B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(B, c->root));
  PetscCall(MatLoad(B, viewer));
  PetscCall(RecordMat(c, "new matrix", B));
  PetscCall(MatLoad(B, viewer));
  PetscCall(RecordMat(c, "matrix in use", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatLoad(C, viewer));
  PetscCall(RecordAndDestroy(c, "other values", 0, &C));
  PetscCall(PetscViewerDestroy(&viewer));
  if (c->rank == 0) {
    remove(name);
    PetscCall(PetscStrlcat(name, ".info", sizeof(name)));
    remove(name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryVecs(Case *c, Mat A)
{
  Vec x, y, r, z;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  PetscCall(VecDuplicate(y, &r));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecFill(z, 4));
  PetscCall(MatResidual(A, z, x, r));
  PetscCall(RecordVec(c, "residual", r));
  PetscCall(MatInterpolate(A, x, y));
  PetscCall(RecordVec(c, "interpolated", y));
  PetscCall(MatInterpolateAdd(A, x, z, y));
  PetscCall(RecordVec(c, "interpolated and added", y));
  PetscCall(MatRestrict(A, z, x));
  PetscCall(RecordVec(c, "restricted", x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* Two matrices share their vectors, the output of one is the input of the other; vectors with arrays of the user */
static PetscErrorCode QueryShared(Case *c, Mat A)
{
  Mat          B;
  Vec          x, y, w;
  PetscScalar *array;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KindTransposed(KIND(c)), 4, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  for (int k = 0; k < 4; k++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(B, y, x));
    PetscCall(MatScale(A, 0.125));
    PetscCall(MatScale(B, 0.125));
  }
  PetscCall(RecordVec(c, "to and fro", x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PetscMalloc1(n + 1, &array));
  for (PetscInt k = 0; k < n; k++) array[k] = k;
  PetscCall(VecCreateMPIWithArray(c->comm, 1, n, PETSC_DETERMINE, array, &w));
  PetscCall(MatMult(A, w, y));
  PetscCall(RecordVec(c, "user's array", y));
  PetscCall(VecPlaceArray(x, array));
  PetscCall(MatMult(A, x, y));
  PetscCall(RecordVec(c, "placed array", y));
  PetscCall(VecResetArray(x));
  PetscCall(VecDestroy(&w));
  PetscCall(PetscFree(array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* The same bits each time */
static PetscErrorCode QuerySameBits(Case *c, Mat A)
{
  Vec       x, y, z, u, v;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(VecDuplicate(x, &v));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTranspose(A, y, u));
  for (int k = 0; k < 5; k++) {
    PetscCall(MatMult(A, x, z));
    PetscCall(VecEqual(y, z, &same));
    PetscCall(RecordInt(c, "product", same));
    PetscCall(MatMultTranspose(A, y, v));
    PetscCall(VecEqual(u, v, &same));
    PetscCall(RecordInt(c, "transposed product", same));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

static const Operation query_operations[] = {
  {"get_row_ij", QueryRowIJ, ALL, NULL},
  {"get_diagonal", QueryDiagonal, SQUARES & ~BIT(NOROWS), NULL},
  {"get_row_extrema", QueryRowExtremes, ALL, NULL},
  {"norms", QueryColumns, ALL, NULL},
  {"equal", QueryEqual, SQUARES & ~BIT(EMPTY), NULL},
  {"is_symmetric", QuerySymmetric, SQUARES, NULL},
  {"get_info", QueryInfo, ALL, NULL},
  {"get_layouts", QueryLayout, ALL, NULL},
  {"has_operation", QueryOperations, BIT(SQUARE), NULL},
  {"find_rows", QueryZeroRows, ALL, NULL},
  {"get_values", QueryValues, ALL, NULL},
  {"view_ascii", QueryViewASCII, ALL, NULL},
  {"view_options", QueryViewOptions, FEW, NULL},
  {"view_draw", QueryViewDraw, FEW, NULL},
  {"load", QueryLoad, ALL, NULL},
  {"residual", QueryVecs, ALL, NULL},
  {"shared_vectors", QueryShared, ALL, NULL},
  {"same_bits", QuerySameBits, ALL, NULL},
};
