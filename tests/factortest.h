/*
  factortest.h - what the tests of factors share: matrices, facts, the counters of a factor
*/
#pragma once
#include <petscspmv.h>
#include <petscksp.h>

static PetscInt failures;
static PetscInt coupled = 4; /* nodes of 37 that a node is coupled with */

static PetscErrorCode Fact(PetscBool holds, const char what[], const char where[])
{
  PetscFunctionBegin;
  failures += !holds;
  if (!holds) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wrong: %s (%s)\n", what, where));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt  n, dofs, seed;       /* rows in all, rows of a node */
  PetscBool symmetric, singular; /* singular: the first pivot is 0, as long as scale is 1 */
} Pattern;

/* Whether nodes p and q are coupled */
static PetscBool Coupled(const Pattern *c, PetscInt p, PetscInt q)
{
  const PetscInt low = c->symmetric ? PetscMin(p, q) : p, high = c->symmetric ? PetscMax(p, q) : q;

  if (PetscAbsInt(p - q) <= 1) return PETSC_TRUE;
  return (PetscBool)((low * 7919 + high * 104729 + c->seed * 31) % 37 < coupled);
}

static PetscErrorCode Fill(const Pattern *c, PetscReal scale, Mat A)
{
  const PetscInt nodes = (c->n + c->dofs - 1) / c->dofs;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < c->n; i++) {
    for (PetscInt q = 0; q < nodes; q++) {
      if (!Coupled(c, i / c->dofs, q)) continue;
      for (PetscInt j = q * c->dofs; j < PetscMin(c->n, (q + 1) * c->dofs); j++) {
        const PetscInt low = PetscMin(i, j), high = PetscMax(i, j), a = c->symmetric ? low : i, b = c->symmetric ? high : j;
        PetscScalar    v = -(1 + (a * 13 + b * 7) % 11) * scale / 11;

        if (i == j) v = c->singular && i == 0 && scale == 1 ? 0 : (5 * coupled + i % 5) * scale;
#if defined(PETSC_USE_COMPLEX)
        if (i != j && !c->symmetric) v *= 1 + PETSC_i * ((i + j) % 3);
#endif
        PetscCall(MatSetValue(A, i, j, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(MPI_Comm comm, const Pattern *c, const char type[], Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, c->n, c->n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (c->symmetric) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* What a factor of ours has seen */
static PetscErrorCode Counts(Mat F, SpmvCounts *counts)
{
  PetscErrorCode (*get)(Mat, SpmvCounts *);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(counts, sizeof(*counts)));
  PetscCall(PetscObjectQueryFunction((PetscObject)F, "MatSpmvFactorGetCounts_C", &get));
  PetscCall(Fact((PetscBool)(get != NULL), "a factor of ours", "counts"));
  if (get) PetscCall((*get)(F, counts));
  PetscFunctionReturn(0);
}
