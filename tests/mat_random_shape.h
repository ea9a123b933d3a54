/*
  mat_random_shape.h - steps of mat_random.c that put another matrix in the place of this one, or take over its inside
*/
#pragma once
#include "mat_random_values.h"

/* The duplicate or the original goes on */
static PetscErrorCode DoDuplicate(Side *s, Draw *d)
{
  const PetscBool values = DrawChance(d, 60), take = DrawChance(d, 70), share = DrawChance(d, 30);
  const uint64_t  salt = DrawBits(d);
  Rows            r;
  Mat             B;

  PetscFunctionBegin;
  Say(s, " (%s%s%s)", values ? "values" : "no values", share && !values ? ", shared" : "", take ? ", taken" : "");
  PetscCall(RowsGet(s->A, &r));
  PetscCall(MatDuplicate(s->A, values ? MAT_COPY_VALUES : share ? MAT_SHARE_NONZERO_PATTERN : MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(Hold(s, B));
  PetscCall(RecordMult(s, "duplicate", B, salt));
  if (!values || DrawChance(d, 50)) {
    PetscCall(RowsSet(B, &r, 100, salt, INSERT_VALUES));
    PetscCall(RecordMult(s, "duplicate with other values", B, salt));
  }
  PetscCall(RowsFree(&r));
  PetscCall(RecordMult(s, "original", s->A, salt));
  if (!take || (share && !values)) PetscFunctionReturn(0); /* a shared pattern is to be left as it is */
  PetscCall(PetscObjectReference((PetscObject)B));
  PetscCall(Replace(s, B));
  PetscCall(Open(B));
  PetscFunctionReturn(0);
}

/* Values of another matrix, to it or from it */
static PetscErrorCode DoCopy(Side *s, Draw *d)
{
  const PetscBool warm = DrawChance(d, 50), back = DrawChance(d, 50);
  MatStructure    structure;
  Mat             X;

  PetscFunctionBegin;
  PetscCall(Addend(s, d, &structure, &X));
  PetscCall(Open(X));
  PetscCall(Open(s->A));
  Say(s, " (%s, structure %d)", back ? "to it" : "from it", (int)structure);
  if (structure == SUBSET_NONZERO_PATTERN) structure = DIFFERENT_NONZERO_PATTERN;
  if (warm) PetscCall(RecordMult(s, "before the copy", s->A, DrawBits(d)));
  if (back) PetscCall(MatCopy(X, s->A, structure));
  else PetscCall(MatCopy(s->A, X, structure));
  PetscCall(RecordMult(s, "copy", back ? s->A : X, DrawBits(d)));
  PetscFunctionReturn(0);
}

/* To another type and back. Out of place both matrices are looked at */
static PetscErrorCode DoConvert(Side *s, Draw *d)
{
  static const char *const types[] = {MATAIJ, MATAIJ, MATDENSE, MATBAIJ};
  const char     *type    = types[DrawBelow(d, ranks > 1 ? 3 : 4)]; /* PETSc 3.18 does not allocate enough for all MPIBAIJ */
  const PetscBool inplace = DrawChance(d, 50), scale = DrawChance(d, 50);
  const uint64_t  salt = DrawBits(d);
  PetscBool       swept;
  Mat             B, C;

  PetscFunctionBegin;
  Say(s, " (%s, %s)", type, inplace ? "in place" : "out of place");
  if (inplace) {
    PetscCall(SweptByAIJ(s->A, &swept));
    if (swept) s->sweptaij = PETSC_TRUE;
    PetscCall(MatConvert(s->A, type, MAT_INPLACE_MATRIX, &s->A));
    PetscCall(RecordMult(s, "converted in place", s->A, salt));
    if (scale) PetscCall(MatScale(s->A, (PetscScalar)0.75));
    PetscCall(MatConvert(s->A, s->type, MAT_INPLACE_MATRIX, &s->A));
  } else {
    PetscCall(MatConvert(s->A, type, MAT_INITIAL_MATRIX, &B));
    PetscCall(Hold(s, B));
    PetscCall(RecordMult(s, "converted", B, salt));
    if (scale) {
      PetscCall(MatScale(s->A, (PetscScalar)0.75));
      PetscCall(MatConvert(s->A, type, MAT_REUSE_MATRIX, &B));
      PetscCall(RecordMult(s, "converted again", B, salt));
    }
    PetscCall(MatConvert(B, s->type, MAT_INITIAL_MATRIX, &C));
    PetscCall(RecordMult(s, "original", s->A, salt));
    PetscCall(Replace(s, C));
  }
  PetscCall(RecordMult(s, "converted back", s->A, salt));
  PetscCall(Open(s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoTranspose(Side *s, Draw *d)
{
  const PetscInt how  = DrawBelow(d, 3);
  const uint64_t salt = DrawBits(d);
  Mat            B;

  PetscFunctionBegin;
  Say(s, " (%d)", (int)how);
  if (how == 0) {
    PetscCall(MatTranspose(s->A, MAT_INPLACE_MATRIX, &s->A));
    PetscCall(RecordMult(s, "transposed in place", s->A, salt));
    PetscCall(Assemble(s->A)); /* PETSc 3.18 crashes in ILU of some that were not */
    PetscCall(Open(s->A));
    PetscFunctionReturn(0);
  }
  PetscCall(MatTranspose(s->A, MAT_INITIAL_MATRIX, &B));
  PetscCall(Hold(s, B));
  PetscCall(RecordMult(s, "transpose", B, salt));
  if (how == 1) {
    PetscCall(PetscObjectReference((PetscObject)B));
    PetscCall(Replace(s, B));
    PetscCall(Open(B));
  } else {
    PetscCall(MatScale(s->A, (PetscScalar)1.25));
    PetscCall(MatTranspose(s->A, MAT_REUSE_MATRIX, &B));
    PetscCall(RecordMult(s, "transpose again", B, salt));
  }
  PetscFunctionReturn(0);
}

/* A becomes (A + A^T) / 2, with factors for rows and columns at times: of each pair one is rounded after the other factor */
static PetscErrorCode DoSymmetrize(Side *s, Draw *d)
{
  const PetscInt times = DrawBelow(d, 4);
  Mat            T;
  Vec            v;

  PetscFunctionBegin;
  PetscCall(MatTranspose(s->A, MAT_INITIAL_MATRIX, &T));
  PetscCall(Hold(s, T));
  PetscCall(Open(s->A));
  PetscCall(MatAXPY(s->A, 1, T, DrawChance(d, 50) ? DIFFERENT_NONZERO_PATTERN : UNKNOWN_NONZERO_PATTERN));
  PetscCall(MatScale(s->A, (PetscScalar)0.5));
  for (PetscInt k = 0; k < times; k++) {
    PetscCall(Factors(s, PETSC_FALSE, DrawBits(d), &v));
    PetscCall(MatDiagonalScale(s->A, v, v));
  }
  PetscFunctionReturn(0);
}

/* i goes to (a i + b) mod n, a without a common factor */
static PetscErrorCode Permutation(Side *s, Draw *d, PetscInt n, PetscInt first, PetscInt local, IS *is)
{
  PetscInt *index, a, b = DrawBelow(d, n), p, q;

  PetscFunctionBegin;
  do {
    a = 1 + DrawBelow(d, n);
    p = a;
    q = n;
    while (q) {
      const PetscInt rest = p % q;

      p = q;
      q = rest;
    }
  } while (p > 1);
  PetscCall(PetscMalloc1(local, &index));
  for (PetscInt i = 0; i < local; i++) index[i] = (a * (first + i) + b) % n;
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, local, index, PETSC_OWN_POINTER, is));
  PetscCall(ISSetPermutation(*is));
  PetscCall(Hold(s, *is));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoPermute(Side *s, Draw *d)
{
  IS  row, column;
  Mat B;

  PetscFunctionBegin;
  if (!facts.M || !facts.N) PetscFunctionReturn(0);
  PetscCall(Permutation(s, d, facts.M, facts.first, facts.m, &row));
  PetscCall(Permutation(s, d, facts.N, facts.firstcolumn, facts.n, &column));
  PetscCall(MatPermute(s->A, row, column, &B));
  PetscCall(Replace(s, B));
  PetscCall(Open(B));
  PetscFunctionReturn(0);
}

/* Some of this process's rows and columns, at least one of all; again with new values */
static PetscErrorCode DoSubMatrix(Side *s, Draw *d)
{
  const uint64_t  salt = DrawBits(d);
  const PetscBool take = DrawChance(d, 40), scale = DrawChance(d, 50);
  PetscInt       *index, count                    = 0;
  IS              is;
  Mat             B;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(facts.m + 1, &index));
  for (PetscInt i = facts.first; i < facts.first + facts.m; i++)
    if (!i || PlaceBelow(salt, i, 0, 10)) index[count++] = i;
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, count, index, PETSC_OWN_POINTER, &is));
  PetscCall(Hold(s, is));
  PetscCall(MatCreateSubMatrix(s->A, is, is, MAT_INITIAL_MATRIX, &B));
  PetscCall(Hold(s, B));
  PetscCall(RecordMult(s, "submatrix", B, salt));
  if (scale) PetscCall(MatScale(s->A, (PetscScalar)1.25));
  PetscCall(MatCreateSubMatrix(s->A, is, is, MAT_REUSE_MATRIX, &B));
  PetscCall(RecordMult(s, "submatrix again", B, salt));
  if (!take) PetscFunctionReturn(0);
  PetscCall(PetscObjectReference((PetscObject)B));
  PetscCall(Replace(s, B));
  PetscCall(Open(B));
  PetscFunctionReturn(0);
}

/* Another matrix's inside: its own duplicate or transpose, or one of another pattern, multiplied before or not */
static PetscErrorCode Inside(Side *s, Draw *d, Mat *C)
{
  const PetscInt  which = DrawBelow(d, 3);
  const PetscBool warm  = DrawChance(d, 50);
  const uint64_t  salt  = DrawBits(d);

  PetscFunctionBegin;
  Say(s, " (%d)", (int)which);
  if (which == 0) PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, C));
  else if (which == 1 && facts.square) PetscCall(MatTranspose(s->A, MAT_INITIAL_MATRIX, C));
  else {
    PetscCall(MatScattered(s, s->type, facts.m, facts.n, 5, salt, C));
    s->nheld--; /* whose reference goes to A */
  }
  PetscCall(MatScale(*C, (PetscScalar)0.75));
  if (warm) PetscCall(RecordMult(s, "the other matrix", *C, salt));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoHeader(Side *s, Draw *d)
{
  Mat C;

  PetscFunctionBegin;
  PetscCall(Inside(s, d, &C));
  PetscCall(MatHeaderReplace(s->A, &C)); /* transposes in place do it by MatHeaderMerge(), which is not for users */
  PetscCall(Open(s->A));
  PetscFunctionReturn(0);
}

/* Some entries in each row of this process, one or two elsewhere, some twice. The same number each time for the same salt */
static PetscErrorCode Coordinates(Side *s, uint64_t salt, PetscInt *n, PetscInt **i, PetscInt **j)
{
  const PetscInt each = 1 + (PetscInt)(salt % 4);
  PetscInt       k    = 0;

  PetscFunctionBegin;
  (void)s;
  *n = facts.N ? facts.m * (each + 1) + 2 : 0;
  PetscCall(PetscMalloc2(*n, i, *n, j));
  for (PetscInt r = facts.first; r < facts.first + facts.m && *n; r++) {
    for (PetscInt p = 0; p <= each; p++, k++) {
      (*i)[k] = r;
      (*j)[k] = !p && r < facts.N ? r : PlaceBelow(salt, r, p, facts.N);
    }
  }
  for (; k < *n; k++) {
    (*i)[k] = PlaceBelow(salt + 1, k, rank, facts.M);
    (*j)[k] = PlaceBelow(salt + 2, k, rank, facts.N);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CooValues(Side *s, Draw *d)
{
  const uint64_t   salt = DrawBits(d);
  const InsertMode mode = DrawChance(d, 70) ? INSERT_VALUES : ADD_VALUES;
  PetscInt         n, *i, *j;
  PetscScalar     *v;

  PetscFunctionBegin;
  PetscCall(Coordinates(s, s->coo, &n, &i, &j));
  PetscCall(PetscMalloc1(n, &v));
  for (PetscInt k = 0; k < n; k++) v[k] = Place(salt, k, rank) + (PetscReal)(i[k] == j[k]);
  PetscCall(PetscFree2(i, j));
  PetscCall(MatSetValuesCOO(s->A, v, mode));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(0);
}

/* Coordinates for this matrix, or for a new one in its place */
static PetscErrorCode DoCoo(Side *s, Draw *d)
{
  const PetscBool fresh = DrawChance(d, 50);
  const uint64_t  salt  = DrawBits(d) | 1;
  PetscInt        n, *i, *j;
  Mat             B;

  PetscFunctionBegin;
  Say(s, " (%s)", fresh ? "fresh" : "same");
  if (fresh) {
    PetscCall(MatNew(s->type, facts.m, facts.n, &B));
    PetscCall(Replace(s, B));
  }
  PetscCall(Coordinates(s, salt, &n, &i, &j));
  PetscCall(MatSetPreallocationCOO(s->A, n, i, j));
  PetscCall(PetscFree2(i, j));
  s->coo = salt;
  PetscCall(CooValues(s, d));
  PetscCall(Open(s->A));
  PetscFunctionReturn(0);
}

/* New values for coordinates of an earlier step */
static PetscErrorCode DoCooValues(Side *s, Draw *d)
{
  const PetscInt times = 1 + DrawBelow(d, 3);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < times && s->coo; k++) {
    PetscCall(CooValues(s, d));
    PetscCall(RecordMult(s, "values by coordinates", s->A, DrawBits(d)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode DoAssemble(Side *s, Draw *d)
{
  PetscFunctionBegin;
  if (DrawChance(d, 30)) PetscCall(MatSetUp(s->A));
  PetscCall(Assemble(s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoBind(Side *s, Draw *d)
{
  PetscFunctionBegin;
  PetscCall(MatBindToCPU(s->A, DrawChance(d, 50)));
  PetscFunctionReturn(0);
}
