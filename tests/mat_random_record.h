/*
  mat_random_record.h - what the steps of mat_random.c record, and its comparison
*/
#pragma once
#include "mat_random_world.h"

static PetscReal Tolerance(void)
{
  return PETSC_MACHINE_EPSILON < 1e-12 ? 1e-10 : 1e4 * PETSC_MACHINE_EPSILON;
}

static PetscErrorCode RecordValues(Side *s, const char label[], PetscInt n, const PetscScalar v[], PetscReal scale)
{
  Record *r;

  PetscFunctionBegin;
  if (s->nrecords == s->maxrecords) {
    s->maxrecords = 2 * s->maxrecords + 16;
    PetscCall(PetscRealloc(sizeof(*s->records) * (size_t)s->maxrecords, &s->records));
  }
  if (s->nvalues + n > s->maxvalues) {
    s->maxvalues = 2 * (s->nvalues + n) + 64;
    PetscCall(PetscRealloc(sizeof(*s->values) * (size_t)s->maxvalues, &s->values));
  }
  r = &s->records[s->nrecords++];
  PetscCall(PetscStrncpy(r->label, label, sizeof(r->label)));
  r->first = s->nvalues;
  r->n     = n;
  r->scale = scale;
  PetscCall(PetscArraycpy(s->values + s->nvalues, v, n));
  s->nvalues += n;
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordNumber(Side *s, const char label[], PetscScalar v, PetscReal scale)
{
  PetscFunctionBegin;
  PetscCall(RecordValues(s, label, 1, &v, scale));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordVec(Side *s, const char label[], Vec v, PetscReal scale)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(RecordValues(s, label, n, a, scale));
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(0);
}

/* A solution: relative to its own norm */
static PetscErrorCode RecordSolution(Side *s, const char label[], Vec v, PetscReal growth)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(v, NORM_INFINITY, &norm));
  PetscCall(RecordVec(s, label, v, growth * norm));
  PetscFunctionReturn(0);
}

/* All rows: columns as they are, values to a last bit or two, as sums of other processes' entries come in any order */
static PetscErrorCode RecordRows(Side *s, const char label[], Mat A)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    const PetscInt    *j;
    const PetscScalar *a;
    PetscScalar        sum  = 0;
    PetscReal          size = 0;
    PetscInt           n;

    PetscCall(MatGetRow(A, r, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) {
      sum += (PetscScalar)(PetscReal)((j[k] + 1) * (k + 1));
      size = PetscMax(size, PetscAbsScalar(a[k]));
    }
    PetscCall(RecordNumber(s, label, (PetscScalar)(PetscReal)n, 0));
    PetscCall(RecordNumber(s, label, sum, 0));
    PetscCall(RecordValues(s, label, n, a, size / 100));
    PetscCall(MatRestoreRow(A, r, &n, &j, &a));
  }
  PetscFunctionReturn(0);
}

/* What an error of A x is relative to, where x is at most 1 */
static PetscErrorCode Scale(Mat A, PetscBool transpose, PetscReal *scale)
{
  PetscFunctionBegin;
  PetscCall(MatNorm(A, transpose ? NORM_1 : NORM_INFINITY, scale));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordMult(Side *s, const char label[], Mat A, uint64_t salt)
{
  PetscReal scale;
  Vec       x, y;

  PetscFunctionBegin;
  PetscCall(Scale(A, PETSC_FALSE, &scale));
  PetscCall(VecRandom(s, A, PETSC_TRUE, salt, &x));
  PetscCall(VecUnset(s, A, PETSC_FALSE, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(RecordVec(s, label, y, scale));
  PetscFunctionReturn(0);
}

/* The first difference, or an empty string */
static PetscErrorCode CompareHere(const Side *a, const Side *b, char difference[], size_t size)
{
  PetscFunctionBegin;
  difference[0] = 0;
  for (PetscInt k = 0; k < PetscMin(a->nrecords, b->nrecords); k++) {
    const Record *r = &a->records[k], *q = &b->records[k];

    compared++;
    if (r->n != q->n) {
      PetscCall(PetscSNPrintf(difference, size, "%s has %" PetscInt_FMT " numbers, not %" PetscInt_FMT, r->label, q->n, r->n));
      PetscFunctionReturn(0);
    }
    for (PetscInt i = 0; i < r->n; i++) {
      const PetscScalar u = a->values[r->first + i], v = b->values[q->first + i];

      if (PetscAbsScalar(u - v) <= Tolerance() * r->scale || u == v) continue;
      PetscCall(PetscSNPrintf(difference, size, "%s, number %" PetscInt_FMT " of %" PetscInt_FMT ": %.12g, not %.12g; scale %g",
                              r->label, i, r->n, (double)PetscRealPart(v), (double)PetscRealPart(u), (double)r->scale));
      PetscFunctionReturn(0);
    }
  }
  if (a->nrecords != b->nrecords)
    PetscCall(PetscSNPrintf(difference, size, "%" PetscInt_FMT " results, not %" PetscInt_FMT, b->nrecords, a->nrecords));
  PetscFunctionReturn(0);
}

/* On all processes: the difference of the first one that has any */
static PetscErrorCode Compare(const Side *a, const Side *b, char difference[], size_t size)
{
  PetscMPIInt who;

  PetscFunctionBegin;
  PetscCall(CompareHere(a, b, difference, size));
  who = difference[0] ? rank : ranks;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &who, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (who == ranks) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Bcast(difference, (PetscMPIInt)size, MPI_CHAR, who, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}
