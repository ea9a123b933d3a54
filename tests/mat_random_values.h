/*
  mat_random_values.h - steps of mat_random.c that change values, or add and remove entries
*/
#pragma once
#include "mat_random_products.h"

/* Random factors from 1/2 to 2, or nothing */
static PetscErrorCode Factors(Side *s, PetscBool right, uint64_t salt, Vec *v)
{
  PetscScalar *a;
  PetscInt     n, first;

  PetscFunctionBegin;
  PetscCall(VecRandom(s, s->A, right, salt, v));
  PetscCall(VecGetOwnershipRange(*v, &first, NULL));
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscPowReal(2, 2 * Unit(PlaceBits(salt, first + i, 1)) - 1);
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoScale(Side *s, Draw *d)
{
  static const PetscReal factors[] = {0.5, 2, 1.1, -1, 1};

  PetscFunctionBegin;
  PetscCall(MatScale(s->A, factors[DrawBelow(d, 5)]));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoShift(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(Open(s->A));
  PetscCall(MatShift(s->A, DrawReal(d, -1, 1) * PetscMax(facts.norm, (PetscReal)0.1)));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoDiagonalScale(Side *s, Draw *d)
{
  const PetscInt which = DrawBelow(d, 3);
  const uint64_t salt  = DrawBits(d);
  Vec            left = NULL, right = NULL;

  PetscFunctionBegin;
  if (which != 1) PetscCall(Factors(s, PETSC_FALSE, salt, &left));
  if (which != 2) PetscCall(Factors(s, PETSC_TRUE, salt + 5, &right));
  PetscCall(MatDiagonalScale(s->A, left, right));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoDiagonalSet(Side *s, Draw *d)
{
  const uint64_t  salt = DrawBits(d);
  const PetscBool add  = DrawChance(d, 50);
  Vec             v;

  PetscFunctionBegin;
  PetscCall(Open(s->A));
  PetscCall(Factors(s, PETSC_FALSE, salt, &v));
  PetscCall(MatDiagonalSet(s->A, v, add ? ADD_VALUES : INSERT_VALUES));
  PetscCall(RecordMult(s, "with another diagonal", s->A, salt));
  PetscCall(Assemble(s->A)); /* PETSc 3.18's MatGetRow() goes on with memory for the longest row that was */
  PetscFunctionReturn(0);
}

/* The rows of this process, as MatSetValues() wants them */
typedef struct {
  PetscInt     first, last, *i, *j;
  PetscScalar *a;
} Rows;

static PetscErrorCode RowsGet(Mat A, Rows *r)
{
  MatInfo  info;
  PetscInt k = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &r->first, &r->last));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PetscMalloc3(r->last - r->first + 1, &r->i, (PetscInt)info.nz_used, &r->j, (PetscInt)info.nz_used, &r->a));
  r->i[0] = 0;
  for (PetscInt row = r->first; row < r->last; row++) {
    const PetscInt    *j;
    const PetscScalar *a;
    PetscInt           n;

    PetscCall(MatGetRow(A, row, &n, &j, &a));
    PetscCheck(k + n <= (PetscInt)info.nz_used, PETSC_COMM_SELF, PETSC_ERR_PLIB, "rows have more entries than MatGetInfo() says");
    PetscCall(PetscArraycpy(r->j + k, j, n));
    PetscCall(PetscArraycpy(r->a + k, a, n));
    k += n;
    r->i[row - r->first + 1] = k;
    PetscCall(MatRestoreRow(A, row, &n, &j, &a));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsFree(Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(r->i, r->j, r->a));
  PetscFunctionReturn(0);
}

/* Values in the places that there are, in some of the rows */
static PetscErrorCode RowsSet(Mat A, const Rows *r, PetscInt percent, uint64_t salt, InsertMode mode)
{
  PetscFunctionBegin;
  for (PetscInt row = r->first; row < r->last; row++) {
    const PetscInt k = r->i[row - r->first], n = r->i[row - r->first + 1] - k;

    if (PlaceBelow(salt, row, 0, 100) >= percent) continue;
    for (PetscInt p = k; p < k + n; p++) r->a[p] = (r->j[p] == row ? 2 : Place(salt, row, r->j[p]) / (PetscReal)n);
    PetscCall(MatSetValues(A, 1, &row, n, r->j + k, r->a + k, mode));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoSetValues(Side *s, Draw *d)
{
  const uint64_t salt = DrawBits(d);
  Rows           r;

  PetscFunctionBegin;
  PetscCall(RowsGet(s->A, &r));
  PetscCall(RowsSet(s->A, &r, DrawChance(d, 50) ? 100 : 20, salt, DrawChance(d, 50) ? ADD_VALUES : INSERT_VALUES));
  PetscCall(RowsFree(&r));
  PetscFunctionReturn(0);
}

/* New entries, at times by every process in rows of all processes */
static PetscErrorCode DoNewEntries(Side *s, Draw *d)
{
  const uint64_t   salt  = DrawBits(d);
  const PetscBool  apart = DrawChance(d, 70);
  const PetscInt   count = 1 + DrawBelow(d, DrawChance(d, 50) ? 3 : 100);
  const InsertMode mode  = DrawChance(d, 50) ? ADD_VALUES : INSERT_VALUES;

  PetscFunctionBegin;
  PetscCall(Open(s->A));
  for (PetscInt k = 0; k < count && facts.M && facts.N; k++) {
    const PetscInt r = apart ? facts.first + PlaceBelow(salt, k, rank, facts.m) : PlaceBelow(salt, k, rank, facts.M);
    const PetscInt c = PlaceBelow(salt + 1, k, rank, facts.N);

    if (!apart || facts.m) PetscCall(MatSetValue(s->A, r, c, Place(salt, r, c) / 4, mode));
  }
  PetscCall(Assemble(s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoZeroEntries(Side *s, Draw *d)
{
  const uint64_t  salt = DrawBits(d);
  const PetscBool look = DrawChance(d, 30);
  Rows            r;

  PetscFunctionBegin;
  PetscCall(RowsGet(s->A, &r));
  PetscCall(MatZeroEntries(s->A));
  if (look) PetscCall(RecordMult(s, "zeroed", s->A, salt));
  PetscCall(RowsSet(s->A, &r, DrawChance(d, 80) ? 100 : 50, salt, ADD_VALUES));
  PetscCall(RowsFree(&r));
  PetscFunctionReturn(0);
}

/* Rows to zero, of this process; with a value on the diagonal only if all have a diagonal entry */
static PetscErrorCode RowsToZero(Side *s, Draw *d, PetscInt rows[], PetscInt *n, PetscScalar *diagonal)
{
  const PetscInt count = 1 + DrawBelow(d, 4);
  const uint64_t salt  = DrawBits(d);
  PetscBool      missing;
  PetscMPIInt    any;

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt k = 0; k < count && facts.m; k++) {
    const PetscInt r = facts.first + PlaceBelow(salt, k, rank, facts.m);

    if (!*n || rows[*n - 1] < r) rows[(*n)++] = r;
  }
  PetscCall(DiagonalMissing(s->A, &missing));
  any = missing;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  *diagonal = !any && DrawChance(d, 60) ? 1 : 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode ZeroRows(Side *s, Draw *d, PetscErrorCode (*zero)(Mat, PetscInt, const PetscInt[], PetscScalar, Vec, Vec))
{
  const PetscBool keep = DrawChance(d, 40), vectors = DrawChance(d, 50);
  PetscInt        rows[8], n;
  PetscScalar     diagonal = 0;
  Vec             x = NULL, b = NULL;

  PetscFunctionBegin;
  PetscCall(Open(s->A));
  PetscCall(RowsToZero(s, d, rows, &n, &diagonal));
  if (vectors) {
    PetscCall(VecRandom(s, s->A, PETSC_TRUE, DrawBits(d), &x));
    PetscCall(VecRandom(s, s->A, PETSC_FALSE, DrawBits(d), &b));
  }
  PetscCall(MatSetOption(s->A, MAT_KEEP_NONZERO_PATTERN, keep));
  Say(s, " (%d rows, diagonal %g%s)", (int)n, (double)PetscRealPart(diagonal), keep ? ", keep" : "");
  PetscCall((*zero)(s->A, n, rows, diagonal, x, b));
  if (b) PetscCall(RecordVec(s, "right side", b, facts.norm + 1));
  PetscCall(MatSetOption(s->A, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
  PetscCall(Open(s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoZeroRows(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(ZeroRows(s, d, MatZeroRows));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoZeroRowsColumns(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(ZeroRows(s, d, MatZeroRowsColumns));
  PetscFunctionReturn(0);
}

/* A matrix to add: of the same pattern, a part of it, or another */
static PetscErrorCode Addend(Side *s, Draw *d, MatStructure *structure, Mat *X)
{
  const PetscInt  which = DrawBelow(d, 3);
  const uint64_t  salt  = DrawBits(d);
  const PetscBool plain = DrawChance(d, 25), unsaid = DrawChance(d, 25), warm = DrawChance(d, 30);
  Rows            r;

  PetscFunctionBegin;
  if (which == 0) {
    PetscCall(RowsGet(s->A, &r));
    PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, X));
    PetscCall(Hold(s, *X));
    PetscCall(RowsSet(*X, &r, 70, salt, INSERT_VALUES));
    PetscCall(RowsFree(&r));
    *structure = SAME_NONZERO_PATTERN;
  } else if (which == 1) {
    PetscCall(RowsGet(s->A, &r));
    PetscCall(MatNew(plain ? MATAIJ : s->type, facts.m, facts.n, X));
    PetscCall(Hold(s, *X));
    PetscCall(Preallocate(*X, 5));
    PetscCall(RowsSet(*X, &r, 50, salt, INSERT_VALUES));
    PetscCall(RowsFree(&r));
    *structure = SUBSET_NONZERO_PATTERN;
  } else {
    PetscCall(MatScattered(s, plain ? MATAIJ : s->type, facts.m, facts.n, 3, salt, X));
    *structure = DIFFERENT_NONZERO_PATTERN;
  }
  Say(s, " (%d%s)", (int)which, plain ? ", plain" : "");
  if (unsaid) *structure = UNKNOWN_NONZERO_PATTERN;
  if (warm) PetscCall(RecordMult(s, "addend", *X, salt));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoAXPY(Side *s, Draw *d)
{
  static const PetscReal factors[] = {0.5, -0.5, 1, 0};
  const PetscReal        factor    = factors[DrawBelow(d, 4)];
  const PetscBool        other     = DrawChance(d, 40);
  MatStructure           structure;
  Mat                    X;

  PetscFunctionBegin;
  PetscCall(Addend(s, d, &structure, &X));
  PetscCall(Open(s->A));
  PetscCall((other ? MatAYPX : MatAXPY)(s->A, factor, X, structure));
  PetscFunctionReturn(0);
}

/* The blocks of a parallel matrix, or the matrix itself */
static PetscErrorCode Blocks(Mat A, Mat block[2])
{
  PetscFunctionBegin;
  block[0] = A;
  block[1] = NULL;
  if (ranks > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscFunctionReturn(0);
}

/* Values written through the arrays of one block or both, behind the parallel matrix's back at times */
static PetscErrorCode DoArray(Side *s, Draw *d)
{
  const uint64_t  salt  = DrawBits(d);
  const PetscInt  which = 1 + DrawBelow(d, 3);
  const PetscBool tell = DrawChance(d, 50), write = DrawChance(d, 30);
  Mat             block[2];

  PetscFunctionBegin;
  Say(s, " (blocks %d%s%s)", (int)which, tell ? ", told" : "", write ? ", write" : "");
  PetscCall(Blocks(s->A, block));
  for (int k = 0; k < 2; k++) {
    const PetscScalar *before;
    PetscScalar       *a, *old;
    MatInfo            info;
    PetscInt           n;

    if (!block[k] || (ranks > 1 && !(which >> k & 1))) continue;
    PetscCall(MatGetInfo(block[k], MAT_LOCAL, &info));
    n = (PetscInt)info.nz_used;
    PetscCall(PetscMalloc1(n + 1, &old));
    PetscCall(MatSeqAIJGetArrayRead(block[k], &before));
    PetscCall(PetscArraycpy(old, before, n));
    PetscCall(MatSeqAIJRestoreArrayRead(block[k], &before));
    PetscCall((write ? MatSeqAIJGetArrayWrite : MatSeqAIJGetArray)(block[k], &a));
    for (PetscInt p = 0; p < n; p++) a[p] = old[p] * (PetscReal)(1 + (PetscReal)0.25 * PetscRealPart(Place(salt, p, k)));
    PetscCall((write ? MatSeqAIJRestoreArrayWrite : MatSeqAIJRestoreArray)(block[k], &a));
    PetscCall(PetscFree(old));
  }
  if (tell) PetscCall(Assemble(s->A));
  s->untold = (PetscBool)!tell;
  PetscFunctionReturn(0);
}

/* On a duplicate, as PETSc 3.18 stores again into the memory it has, however many entries there are now */
static PetscErrorCode DoStoreValues(Side *s, Draw *d)
{
  const PetscBool look = DrawChance(d, 50);
  Mat             B;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &B));
  PetscCall(Replace(s, B));
  PetscCall(MatSetOption(s->A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(s->A));
  PetscCall(MatScale(s->A, (PetscScalar)1.5));
  if (look) PetscCall(DoMult(s, d));
  PetscCall(MatRetrieveValues(s->A));
  PetscCall(Open(s->A));
  PetscCall(DoMult(s, d));
  PetscFunctionReturn(0);
}
