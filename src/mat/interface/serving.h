/*
  serving.h - triangles that serve sweeps, or solves, with one pattern: of which shape, when they are built, and their values
*/
#pragma once
#include "../../host/triangles/triangles.h"

/* SpmvServing: such triangles, and how many passes were asked for */
typedef struct {
  SpmvTriangles   *triangles; /* NULL: not built */
  const SpmvShape *shape;     /* that they have or are to have */
  PetscBool        current;   /* they have the matrix's or factor's values: they serve */
  PetscInt64       passes;    /* that were asked for, through both triangles */
  PetscInt64       next;      /* so many passes, and the shape is chosen anew; 0: nothing better can be chosen */
} SpmvServing;

/* The shape that is built; NULL: none is */
static inline const SpmvShape *SpmvServingBuilt(const SpmvServing *s)
{
  return s->triangles ? s->shape : NULL;
}

/* True if it is time to choose the shape anew */
static inline PetscBool SpmvServingAnew(const SpmvServing *s)
{
  return (PetscBool)(s->next > 0 && s->passes >= s->next);
}

/* serving.c */
extern PetscErrorCode SpmvServingChoose(SpmvServing *serving, const SpmvTrianglesSource *source, PetscInt isa, PetscReal expected,
                                        PetscBool gaining, const char **reason);
extern PetscErrorCode SpmvServingSetValues(SpmvServing *serving, const SpmvTrianglesSource *source, PetscInt isa,
                                           PetscBool floats, PetscInt *bad);
extern PetscErrorCode SpmvServingReset(SpmvServing *serving);
