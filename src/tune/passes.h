/*
  passes.h - which shape the triangles of a matrix or a factor are to have
*/
#pragma once
#include "../host/triangles/triangles.h"

/* SpmvPassesChoice: what was chosen, and seconds of a pass through each triangle as they were estimated */
typedef struct {
  const SpmvShape *shape;   /* NULL: no shape suits */
  PetscLogDouble   seconds; /* by the shape */
  PetscLogDouble   petsc;   /* by PETSc's kernels */
  PetscBool        gains;   /* the shape is faster, by what is worth a build */
  PetscBool        better;  /* for more passes something faster may be chosen */
} SpmvPassesChoice;

/* passes.c */
extern PetscErrorCode SpmvPassesChoose(const SpmvTrianglesSource *source, PetscInt isa, const SpmvShape *built,
                                       PetscLogDouble passes, SpmvPassesChoice *choice);
