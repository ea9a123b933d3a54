/*
  mat_random_products.h - steps of mat_random.c that leave the matrix as it is: products with vectors and matrices, and questions
*/
#pragma once
#include "mat_random_start.h"

typedef enum { PLAIN, ADD, INPLACE } Form; /* y = A x; z = y + A x; y = y + A x */

/* A product, transposed or Hermitian, several times, so that the storage may be built meanwhile */
static PetscErrorCode Product(Side *s, Draw *d, Form form, int transpose)
{
  const PetscInt  times = 1 + DrawBelow(d, 3);
  const uint64_t  salt  = DrawBits(d);
  const PetscBool right = (PetscBool)!transpose;
  PetscReal       scale;
  Vec             x, y, z;

  PetscFunctionBegin;
  PetscCall(Scale(s->A, (PetscBool)(transpose > 0), &scale));
  PetscCall(VecRandom(s, s->A, right, salt, &x));
  PetscCall(VecRandom(s, s->A, (PetscBool)!right, salt + 7, &y));
  for (PetscInt k = 0; k < times; k++) {
    z = y;
    if (form != INPLACE) PetscCall(VecUnset(s, s->A, (PetscBool)!right, &z));
    if (form == PLAIN)
      PetscCall((transpose == 2 ? MatMultHermitianTranspose : transpose ? MatMultTranspose : MatMult)(s->A, x, z));
    else PetscCall((transpose == 2 ? MatMultHermitianTransposeAdd : transpose ? MatMultTransposeAdd : MatMultAdd)(s->A, x, y, z));
    PetscCall(RecordVec(s, "product", z, (PetscReal)(k + 1) * scale + 1));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode DoMult(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(Product(s, d, PLAIN, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoMultAdd(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(Product(s, d, DrawChance(d, 50) ? ADD : INPLACE, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoMultTranspose(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(Product(s, d, PLAIN, 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoMultTransposeAdd(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(Product(s, d, DrawChance(d, 50) ? ADD : INPLACE, 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoMultHermitian(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(Product(s, d, (Form)DrawBelow(d, 3), 2));
  PetscFunctionReturn(0);
}

/* Norms, diagonal, largest entries, some rows, sizes */
static PetscErrorCode DoQuery(Side *s, Draw *d)
{
  const NormType norms[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  const NormType which   = norms[DrawBelow(d, 3)];
  PetscReal      norm;
  PetscBool      missing;
  MatInfo        info;
  Vec            v;

  PetscFunctionBegin;
  PetscCall(MatNorm(s->A, which, &norm));
  PetscCall(RecordNumber(s, "norm", norm, norm));
  PetscCall(MatGetInfo(s->A, MAT_LOCAL, &info));
  PetscCall(RecordNumber(s, "entries", (PetscScalar)info.nz_used, 0));
  PetscCall(VecUnset(s, s->A, PETSC_FALSE, &v));
  PetscCall(MatGetRowMaxAbs(s->A, v, NULL));
  PetscCall(RecordVec(s, "MatGetRowMaxAbs", v, facts.norm));
  if (facts.square) {
    PetscCall(MatGetDiagonal(s->A, v));
    PetscCall(RecordVec(s, "diagonal", v, facts.norm));
    PetscCall(DiagonalMissing(s->A, &missing));
    PetscCall(RecordNumber(s, "missing on the diagonal", missing, 0));
  }
  if (DrawChance(d, 30)) PetscCall(RecordRows(s, "rows", s->A));
  PetscFunctionReturn(0);
}

/* An ASCII viewer that nobody reads */
static PetscErrorCode DoView(Side *s, Draw *d)
{
  const PetscViewerFormat formats[] = {PETSC_VIEWER_DEFAULT, PETSC_VIEWER_ASCII_INFO, PETSC_VIEWER_ASCII_INFO_DETAIL,
                                       PETSC_VIEWER_ASCII_MATLAB, PETSC_VIEWER_ASCII_COMMON};
  const PetscViewerFormat format    = formats[DrawBelow(d, PETSC_STATIC_ARRAY_LENGTH(formats))];
  PetscViewer             viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(MatView(s->A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordDense(Side *s, const char label[], Mat C, PetscReal scale)
{
  const PetscScalar *a;
  PetscInt           m, N, lda;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(C, &m, NULL));
  PetscCall(MatGetSize(C, NULL, &N));
  PetscCall(MatDenseGetLDA(C, &lda));
  PetscCall(MatDenseGetArrayRead(C, &a));
  for (PetscInt c = 0; c < N; c++) PetscCall(RecordValues(s, label, m, a + c * lda, scale));
  PetscCall(MatDenseRestoreArrayRead(C, &a));
  PetscFunctionReturn(0);
}

/* A or its transpose times a dense matrix; again with other values */
static PetscErrorCode DoDense(Side *s, Draw *d)
{
  const PetscBool transpose = DrawChance(d, 40);
  const PetscInt  columns   = 1 + DrawBelow(d, 20);
  const uint64_t  salt      = DrawBits(d);
  PetscReal       scale;
  PetscScalar    *a;
  PetscInt        first, last, rows = transpose ? facts.m : facts.n;
  Mat             B, C;

  PetscFunctionBegin;
  PetscCall(Scale(s->A, transpose, &scale));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &B));
  PetscCall(Hold(s, B));
  PetscCall(MatGetOwnershipRange(B, &first, &last));
  PetscCall(MatDenseGetArray(B, &a));
  for (PetscInt c = 0; c < columns; c++)
    for (PetscInt r = first; r < last; r++) a[c * (last - first) + r - first] = Place(salt, r, c);
  PetscCall(MatDenseRestoreArray(B, &a));
  PetscCall(Assemble(B));
  PetscCall((transpose ? MatTransposeMatMult : MatMatMult)(s->A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Hold(s, C));
  PetscCall(RecordDense(s, "product with a dense matrix", C, scale));
  if (DrawChance(d, 50)) PetscCall(MatScale(s->A, (PetscScalar)1.25));
  PetscCall((transpose ? MatTransposeMatMult : MatMatMult)(s->A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(RecordDense(s, "product again", C, 2 * scale));
  PetscFunctionReturn(0);
}

/* Another matrix to multiply with, of the type of this one or of plain AIJ */
static PetscErrorCode Factor(Side *s, Draw *d, PetscInt m, PetscInt n, Mat *B)
{
  const PetscBool plain = DrawChance(d, 25);

  PetscFunctionBegin;
  PetscCall(MatScattered(s, plain ? MATAIJ : s->type, m, n, 1 + DrawBelow(d, 4), DrawBits(d), B));
  PetscFunctionReturn(0);
}

/* C, and C with new values, which may take the matrix's place */
static PetscErrorCode Multiplied(Side *s, Draw *d, PetscErrorCode (*multiply)(Mat, Mat, MatReuse, PetscReal, Mat *), Mat A, Mat B)
{
  const PetscBool change = DrawChance(d, 50), take = DrawChance(d, 15);
  MatInfo         info;
  Mat             C;

  PetscFunctionBegin;
  Say(s, " (%s%s%s)", A == B ? "itself" : "another", change ? ", changed" : "", take ? ", taken" : "");
  PetscCall((*multiply)(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Hold(s, C));
  PetscCall(RecordMult(s, "product of matrices", C, DrawBits(d)));
  if (change) PetscCall(MatScale(s->A, (PetscScalar)0.75));
  if (change && DrawChance(d, 50)) PetscCall(MatScale(B, (PetscScalar)1.5));
  PetscCall((*multiply)(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(RecordMult(s, "product of matrices again", C, DrawBits(d)));
  PetscCall(MatGetInfo(C, MAT_GLOBAL_SUM, &info));
  if (take && info.nz_used > 0 && info.nz_used < MAXENTRIES) {
    PetscCall(PetscObjectReference((PetscObject)C));
    PetscCall(Replace(s, C));
    PetscCall(Open(C));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode DoMatMult(Side *s, Draw *d)
{
  Mat B = s->A;

  PetscFunctionBegin;
  if (!facts.square || DrawChance(d, 70)) PetscCall(Factor(s, d, facts.n, facts.m, &B));
  PetscCall(Multiplied(s, d, MatMatMult, s->A, B));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoTransposeMatMult(Side *s, Draw *d)
{
  Mat B = s->A;

  PetscFunctionBegin;
  if (DrawChance(d, 70)) PetscCall(Factor(s, d, facts.m, facts.n, &B));
  PetscCall(Multiplied(s, d, MatTransposeMatMult, s->A, B));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoPtAP(Side *s, Draw *d)
{
  Mat P;

  PetscFunctionBegin;
  PetscCall(Factor(s, d, facts.n, (facts.n + 1) / 2, &P));
  PetscCall(Multiplied(s, d, MatPtAP, s->A, P));
  PetscFunctionReturn(0);
}

/* Each process takes some rows and columns, or all of them, as matrices of its own; again with new values */
static PetscErrorCode DoSubMatrices(Side *s, Draw *d)
{
  const PetscBool whole = DrawChance(d, 30);
  const PetscInt  n     = whole ? 1 : 1 + DrawBelow(d, 2);
  const uint64_t  salt  = DrawBits(d);
  IS              row[2], column[2];
  Mat            *sub;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2 * n; k++) {
    const PetscInt size = k % 2 ? facts.N : facts.M;
    IS            *is   = k % 2 ? &column[k / 2] : &row[k / 2];
    PetscInt      *index, count = 0;

    PetscCall(PetscMalloc1(size + 1, &index));
    for (PetscInt i = 0; i < size; i++)
      if (whole || PlaceBelow(salt + (uint64_t)k, i, rank, 3)) index[count++] = i;
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, index, PETSC_OWN_POINTER, is));
    PetscCall(Hold(s, *is));
  }
  PetscCall(MatCreateSubMatrices(s->A, n, row, column, MAT_INITIAL_MATRIX, &sub));
  for (int round = 0; round < 2; round++) {
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(RecordMult(s, "one of the submatrices", sub[k], salt));
      PetscCall(RecordRows(s, "rows of one of the submatrices", sub[k]));
    }
    if (round) break;
    PetscCall(MatScale(s->A, (PetscScalar)1.25));
    PetscCall(MatCreateSubMatrices(s->A, n, row, column, MAT_REUSE_MATRIX, &sub));
  }
  PetscCall(MatDestroySubMatrices(n, &sub));
  PetscFunctionReturn(0);
}
