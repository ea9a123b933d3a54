/*
  passes.h - which shape the triangles of a matrix or a factor are to have
*/
#pragma once
#include "../host/triangles/triangles.h"

/* SpmvPassesPast: passes through both triangles of a pattern, and when the choice is made anew. Unless the user tells how many will
   come (-mat_spmv_expected_calls) it is taken that there will be as many as there were, but SPMV_PASSES_LEAST at least: what was
   lost by waiting is then no more than what the build takes */
#define SPMV_PASSES_LEAST 32
typedef struct {
  PetscInt64 passes;
  PetscInt64 next; /* 0: nothing better can be chosen */
} SpmvPassesPast;

static inline PetscBool SpmvPassesAnew(const SpmvPassesPast *past)
{
  return (PetscBool)(past->next > 0 && past->passes >= past->next);
}

/* SpmvPassesChoice: what was chosen, and seconds of a pass through each triangle as they were estimated */
typedef struct {
  const SpmvShape *shape;   /* NULL: no shape suits */
  PetscLogDouble   seconds; /* by the shape */
  PetscLogDouble   petsc;   /* by PETSc's kernels */
  PetscBool        gains;   /* the shape is faster, by what is worth a build */
} SpmvPassesChoice;

/* Why PETSc's passes serve where the shape does not gain */
#define SPMV_PASSES_GAINLESS "a build is not estimated to pay (-mat_spmv_expected_calls)"

/* passes.c */
extern PetscErrorCode SpmvPassesChoose(const SpmvTrianglesSource *source, PetscInt isa, const SpmvShape *built,
                                       PetscReal expected, SpmvPassesPast *past, SpmvPassesChoice *choice);
