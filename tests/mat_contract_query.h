/*
  mat_contract_query.h - what can be asked about a matrix
*/
#pragma once
#include "mat_contract_convert.h"

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
};
