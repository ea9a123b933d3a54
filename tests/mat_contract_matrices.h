/*
  mat_contract_matrices.h - the test matrices, and the look at a matrix that shows whether what is stored inside is stale
*/
#pragma once
#include "mat_contract_log.h"
#include "compat.h"

typedef enum {
  SQUARE, /* 37 rows of 1 to 7 entries, one full row, unsymmetric, a dominant diagonal */
  EMPTY,  /* every fourth row and the last eight are empty, so is the last column; no diagonal */
  BLOCK,  /* 13 block rows of dense 3x3 blocks, block size set */
  SYM,    /* a 5-point operator with varying coefficients, symmetric up to rounding, positive definite */
  TALL,   /* 41 by 17 */
  WIDE,   /* 17 by 41 */
  ONEROW, /* 1 by 23 */
  ONECOL, /* 23 by 1 */
  NOROWS, /* 12 by 12, all rows and columns on the last process */
  DIAG,   /* diagonal, 19 rows */
  KINDS,
  PROLONGATION = KINDS, /* 37 by 12, for products with the first */
  RESTRICTION
} Kind;
static const char *const kindnames[] = {"square", "empty rows", "3x3 blocks", "symmetric",           "tall",
                                        "wide",   "one row",    "one column", "rows on one process", "diagonal"};

#define BIT(kind)   (1u << (kind))
#define ALL         (BIT(KINDS) - 1u)
#define RECTANGULAR (BIT(TALL) | BIT(WIDE) | BIT(ONEROW) | BIT(ONECOL))
#define SQUARES     (ALL & ~RECTANGULAR)
#define INVERTIBLE  (SQUARES & ~BIT(EMPTY)) /* a dominant diagonal */
#define FEW         (BIT(SQUARE) | BIT(EMPTY) | BIT(BLOCK) | BIT(TALL))
#define MAXROW      64 /* more than any row of these matrices has */

static void KindSize(Kind kind, PetscInt *m, PetscInt *n, PetscInt *bs)
{
  static const PetscInt rows[]    = {37, 29, 39, 30, 41, 17, 1, 23, 12, 19, 37, 12},
                        columns[] = {37, 29, 39, 30, 17, 41, 23, 1, 12, 19, 12, 37};

  *m  = rows[kind];
  *n  = columns[kind];
  *bs = kind == BLOCK ? 3 : 1;
}

/* The kind with the sizes of the transpose */
static Kind KindTransposed(Kind kind)
{
  const Kind other[] = {SQUARE, EMPTY, BLOCK, SYM, WIDE, TALL, ONECOL, ONEROW, NOROWS, DIAG, RESTRICTION, PROLONGATION};

  return other[kind];
}

/* Columns of row i, increasing. Variant 0 is the matrix's own pattern, 1 contains it, 2 is another one */
static PetscInt RowPattern(Kind kind, int variant, PetscInt i, PetscInt j[])
{
  PetscInt  m, n, bs, count = 0;
  PetscBool in[MAXROW] = {PETSC_FALSE};

  KindSize(kind, &m, &n, &bs);
  if (kind == BLOCK) {
    const PetscInt r = i / 3, b[] = {r - 1, r, r + 1, (5 * r) % 13, (7 * r + 2) % 13};

    for (int k = 0; k < (variant ? 5 : 4); k++)
      if (variant != 2 || k != 0)
        for (int l = 0; l < 3; l++)
          if (b[k] >= 0 && b[k] < 13) in[3 * b[k] + l] = PETSC_TRUE;
  } else if (kind == SYM) {
    if (i % 5 > 0) in[i - 1] = PETSC_TRUE;
    if (i % 5 < 4) in[i + 1] = PETSC_TRUE;
    if (i >= 5) in[i - 5] = PETSC_TRUE;
    if (i < 25) in[i + 5] = PETSC_TRUE;
    if (variant == 1) in[29 - i] = PETSC_TRUE;
    if (variant == 2 && i != 0 && i != 29) in[(i + 14) % 29] = PETSC_TRUE;
    in[i] = PETSC_TRUE;
  } else if (kind == DIAG) {
    in[i] = PETSC_TRUE;
    if (variant) in[(i + (variant == 1 ? 4 : 9)) % 19] = PETSC_TRUE;
  } else if (kind == EMPTY) {
    if (i % 4 != 1 && i < 21)
      for (PetscInt k = 0; k <= (i * 5) % 4; k++) in[(i * i + 3 * k + 2) % 28] = PETSC_TRUE;
    if (variant == 1) in[(3 * i + 1) % 29] = PETSC_TRUE;
    if (variant == 2 && i % 3) in[(7 * i) % 28] = PETSC_TRUE;
  } else {
    if (m == n && variant != 2) in[i] = PETSC_TRUE;
    for (PetscInt k = 0; k <= (i * 13) % 6; k++) in[(i * i + 5 * k + 7 * i) % n] = PETSC_TRUE;
    if (i == 11 || m == 1)
      for (PetscInt k = 0; k < n; k++) in[k] = (PetscBool)(variant != 2 || k % 2);
    if (variant == 1) in[(i + 3) % n] = PETSC_TRUE;
    if (variant == 2) {
      if (m == n) in[i] = PETSC_TRUE;
      in[(2 * i + 1) % n] = PETSC_TRUE;
    }
  }
  for (PetscInt k = 0; k < n; k++)
    if (in[k]) j[count++] = k;
  return count;
}

/* By what an entry below the diagonal of a matrix assembled from elements differs from its mirror image: often nothing, seldom
   much */
static PetscReal Rounding(PetscInt i, PetscInt j)
{
  return (PetscReal)((i + j) % 3 ? 0 : i % 4 ? i % 4 : 300) * PETSC_MACHINE_EPSILON;
}

/* Some are zero, and stay in the pattern */
static PetscScalar EntryValue(Kind kind, PetscInt seed, PetscInt i, PetscInt j)
{
  const PetscInt  lo = kind == SYM ? PetscMin(i, j) : i, hi = kind == SYM ? PetscMax(i, j) : j;
  const PetscReal v = ((PetscReal)((lo * 37 + hi * 101 + seed * 53) % 97) - 48) / (PetscReal)48.5;
  PetscInt        m, n, bs;

  KindSize(kind, &m, &n, &bs);
  if (kind == SYM) return i == j ? 6 + v : (-1 + v / 2) * (1 + (i > j ? Rounding(i, j) : 0));
  if (i == j && m == n && kind != EMPTY) return 12 + v;
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(v, ((PetscReal)((lo * 59 + hi * 11 + seed * 31) % 89) - 44) / (PetscReal)44.5);
#else
  return v;
#endif
}

static PetscErrorCode VecFill(Vec x, PetscInt seed)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = first; i < last; i++) a[i - first] = EntryValue(TALL, seed, i, 3 * i + 5) + (PetscReal)0.25;
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(0);
}

/* A matrix with sizes, type and layout, not preallocated */
static PetscErrorCode MakeSized(Case *c, MatType type, Kind kind, Mat *A)
{
  PetscInt  m, n, bs;
  PetscBool last = (PetscBool)(c->rank == c->size - 1);

  PetscFunctionBegin;
  KindSize(kind, &m, &n, &bs);
  PetscCall(MatCreate(c->comm, A));
  if (kind == NOROWS) PetscCall(MatSetSizes(*A, last ? m : 0, last ? n : 0, m, n));
  else PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, type));
  PetscFunctionReturn(0);
}

static PetscErrorCode Preallocate(Mat A, Kind kind, int variant)
{
  PetscInt    first, last, left, right, *dnnz, *onnz, j[MAXROW];
  PetscLayout rows, columns;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(A, &rows, &columns));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutSetUp(columns));
  PetscCall(PetscLayoutGetRange(rows, &first, &last)); /* A itself does not tell yet */
  PetscCall(PetscLayoutGetRange(columns, &left, &right));
  PetscCall(PetscCalloc2(last - first + 1, &dnnz, last - first + 1, &onnz));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt count = RowPattern(kind, variant, i, j);

    for (PetscInt k = 0; k < count; k++) {
      if (j[k] >= left && j[k] < right) dnnz[i - first]++;
      else onnz[i - first]++;
    }
  }
  PetscCall(MatSeqAIJSetPreallocation(A, 0, dnnz));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, dnnz, 0, onnz));
  PetscCall(PetscFree2(dnnz, onnz));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Fill(Mat A, Kind kind, int variant, PetscInt seed, InsertMode mode)
{
  PetscInt    first, last, j[MAXROW];
  PetscScalar v[MAXROW];

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt count = RowPattern(kind, variant, i, j);

    for (PetscInt k = 0; k < count; k++) v[k] = EntryValue(kind, seed, i, j[k]);
    PetscCall(MatSetValues(A, 1, &i, count, j, v, mode));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(0);
}

/* Products whose results nobody looks at: after them whatever a type stores inside exists, and can go stale */
static PetscErrorCode Warm(Mat A)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 1));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMultTranspose(A, y, x));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* New values in the same pattern, then products */
static PetscErrorCode Refill(Mat A, Kind kind, PetscInt seed)
{
  PetscFunctionBegin;
  PetscCall(Fill(A, kind, 0, seed, INSERT_VALUES));
  PetscCall(Warm(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeVariant(Case *c, MatType type, Kind kind, int variant, PetscInt seed, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MakeSized(c, type, kind, A));
  PetscCall(Preallocate(*A, kind, variant));
  PetscCall(Fill(*A, kind, variant, seed, INSERT_VALUES));
  PetscCall(Warm(*A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Make(Case *c, MatType type, Kind kind, PetscInt seed, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MakeVariant(c, type, kind, 0, seed, A));
  PetscFunctionReturn(0);
}

/* A dense matrix of any size with the given local sizes */
static PetscErrorCode MakeDense(Case *c, PetscInt m, PetscInt n, PetscInt M, PetscInt N, PetscInt seed, Mat *D)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(c->comm, m, n, M, N, NULL, D));
  PetscCall(MatGetOwnershipRange(*D, &first, &last));
  PetscCall(MatGetSize(*D, NULL, &N));
  for (PetscInt i = first; i < last; i++)
    for (PetscInt j = 0; j < N; j++) PetscCall(MatSetValue(*D, i, j, EntryValue(TALL, seed, i, j), INSERT_VALUES));
  PetscCall(Assemble(*D));
  PetscFunctionReturn(0);
}

#define RecordProduct(what, v, call) \
  do { \
    char product_label[96]; \
    PetscCall(PetscSNPrintf(product_label, sizeof(product_label), "%s: %s", label, what)); \
    Try(c, product_label, product_ok, call); \
    if (product_ok) PetscCall(RecordVec(c, product_label, v)); \
  } while (0)

/* y starts as NaN where a product must not read it */
static PetscErrorCode RecordProducts(Case *c, const char label[], Mat A)
{
  Vec             right, left, x, y, z;
  const PetscReal zero = 0.0;
  PetscBool       product_ok;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &right, &left));
  PetscCall(VecFill(right, 1));
  PetscCall(VecFill(left, 2));
  PetscCall(VecDuplicate(right, &x));
  PetscCall(VecDuplicate(left, &y));
  PetscCall(VecDuplicate(left, &z));
  PetscCall(VecSet(y, 0 / zero));
  RecordProduct("MatMult", y, MatMult(A, right, y));
  PetscCall(VecSet(z, 0 / zero));
  RecordProduct("MatMultAdd", z, MatMultAdd(A, right, left, z));
  PetscCall(VecCopy(left, y));
  RecordProduct("MatMultAdd in place", y, MatMultAdd(A, right, y, y));
  PetscCall(VecSet(x, 0 / zero));
  RecordProduct("MatMultTranspose", x, MatMultTranspose(A, left, x));
  PetscCall(VecSet(x, 0 / zero));
  RecordProduct("MatMultTransposeAdd", x, MatMultTransposeAdd(A, left, right, x));
  PetscCall(VecCopy(right, x));
  RecordProduct("MatMultTransposeAdd in place", x, MatMultTransposeAdd(A, left, x, x));
  if (product_ok) { /* PETSc leaks its work vector where there is no transpose */
    PetscCall(VecSet(x, 0 / zero));
    RecordProduct("MatMultHermitianTranspose", x, MatMultHermitianTranspose(A, left, x));
    PetscCall(VecSet(x, 0 / zero));
    RecordProduct("MatMultHermitianTransposeAdd", x, MatMultHermitianTransposeAdd(A, left, right, x));
    PetscCall(VecCopy(right, x));
    RecordProduct("MatMultHermitianTransposeAdd in place", x, MatMultHermitianTransposeAdd(A, left, x, x));
  }
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordRows(Case *c, const char label[], Mat A)
{
  PetscInt     first, last, N, count, *pattern, np = 0, nv = 0;
  PetscScalar *values;
  char         long_label[96];

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(PetscMalloc2((last - first) * (N + 1) + 1, &pattern, (last - first) * N + 1, &values));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt    *j;
    const PetscScalar *v;

    PetscCall(MatGetRow(A, i, &count, &j, &v));
    pattern[np++] = count;
    for (PetscInt k = 0; k < count; k++) {
      pattern[np++] = j[k];
      values[nv++]  = v[k];
    }
    PetscCall(MatRestoreRow(A, i, &count, &j, &v));
  }
  PetscCall(PetscSNPrintf(long_label, sizeof(long_label), "%s: pattern", label));
  PetscCall(RecordInts(c, long_label, np, pattern));
  PetscCall(PetscSNPrintf(long_label, sizeof(long_label), "%s: values", label));
  PetscCall(RecordNumbers(c, long_label, nv, values));
  PetscCall(PetscFree2(pattern, values));
  PetscFunctionReturn(0);
}

/* Everything there is to see in a matrix: type, sizes, entries where the type gives them, all products */
static PetscErrorCode RecordMat(Case *c, const char label[], Mat A)
{
  PetscInt  sizes[6];
  MatType   type;
  PetscBool rows, half;
  char      long_label[96];

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &sizes[0], &sizes[1]));
  PetscCall(MatGetLocalSize(A, &sizes[2], &sizes[3]));
  PetscCall(MatGetBlockSizes(A, &sizes[4], &sizes[5]));
  PetscCall(PetscSNPrintf(long_label, sizeof(long_label), "%s: sizes", label));
  PetscCall(RecordInts(c, long_label, 6, sizes));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscSNPrintf(long_label, sizeof(long_label), "%s: type", label));
  PetscCall(RecordText(c, long_label, type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &half, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &rows));
  if (rows && !half) PetscCall(RecordRows(c, label, A));
  PetscCall(RecordProducts(c, label, A));
  PetscFunctionReturn(0);
}

/* A matrix of the kind of this case that an operation made: look, change its values, look again, destroy */
static PetscErrorCode RecordAndDestroy(Case *c, const char label[], int variant, Mat *A)
{
  char long_label[96];

  PetscFunctionBegin;
  PetscCall(RecordMat(c, label, *A));
  PetscCall(Fill(*A, (Kind)c->kind, variant, 7, INSERT_VALUES));
  PetscCall(PetscSNPrintf(long_label, sizeof(long_label), "%s with new values", label));
  PetscCall(RecordMat(c, long_label, *A));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(0);
}

/* Writes to the entries of a sequential matrix behind the back of the Mat interface, as users of the array do */
static PetscErrorCode ArrayChange(Mat A)
{
  PetscScalar *a;
  MatInfo      info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetArray(A, &a));
  for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) a[k] = 3 * a[k] + k % 5;
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscFunctionReturn(0);
}

typedef struct {
  const char *name;
  PetscErrorCode (*run)(Case *, Mat); /* gets a matrix of the type and kind of the case that has multiplied already */
  unsigned    kinds;
  const char *arg;
} Operation;
