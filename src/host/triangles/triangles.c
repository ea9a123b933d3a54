/*
  triangles.c - which shape the triangles of a matrix take, and what is the same for all
*/
#include "triangles.h"

/* Nodes come first: sweeps must be by nodes where PETSc's are */
static const SpmvShape *const Shapes[] = {&SpmvShape_nodes, &SpmvShape_slices, &SpmvShape_rows};

/* The shape that is likely to be the fastest; values are not looked at */
const SpmvShape *SpmvTrianglesShape(const SpmvTrianglesSource *source)
{
  size_t k = 0;

  while (!Shapes[k]->suits(source)) k++;
  return Shapes[k];
}

/*
  SpmvTrianglesCreate - the triangles of a matrix or a factor, with their values

  Input Parameters:
+ source - the rows
. shape  - NULL for the one that is likely to be the fastest; nodes only if they suit
- isa    - an SpmvIsa, or SPMV_ISA_COUNT for the best

  Output Parameters:
+ triangles - NULL if `bad` is not -1
- bad       - the first row, or the first row of the first node, without an inverse diagonal; -1 if there is none
*/
PetscErrorCode SpmvTrianglesCreate(const SpmvTrianglesSource *source, const SpmvShape *shape, PetscInt isa,
                                   SpmvTriangles **triangles, PetscInt *bad)
{
  SPMV_DESTROY_BY(SpmvTrianglesDestroy) SpmvTriangles *t = NULL;
  SpmvIsa                                              best;

  PetscFunctionBegin;
  *triangles = NULL;
  *bad       = -1;
  PetscCall(SpmvIsaGet(isa, &best));
  if (!shape) shape = SpmvTrianglesShape(source);
  PetscCall(PetscNew(&t));
  t->kind    = source->kind;
  t->n       = source->n;
  t->shape   = shape;
  t->kernels = shape->kernels[best];
  PetscCall(shape->build(source, t));
  PetscCall(SpmvTrianglesSetValues(source, t, bad));
  if (*bad >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  *triangles = t;
  t          = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values for the same pattern; after bad >= 0 the triangles are not to be used until they are given others */
PetscErrorCode SpmvTrianglesSetValues(const SpmvTrianglesSource *source, SpmvTriangles *t, PetscInt *bad)
{
  PetscFunctionBegin;
  *bad = -1;
  PetscCall(t->shape->setvalues(source, t, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse diagonal of all rows; bad: the first row where it is not a finite number, -1 if there is none */
void SpmvTrianglesInvert(const SpmvTrianglesSource *s, PetscScalar inverse[], PetscInt *bad)
{
  *bad = -1;
  SpmvTrianglesInvertRows(s, 0, s->n, inverse, bad);
}

/* Whether all values are finite: those of scaled rows are products, which may be too large where the rows' are not */
PetscErrorCode SpmvTrianglesFinite(const SpmvTriangles *t, PetscBool *finite)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n, bad = 0;

  PetscFunctionBegin;
  PetscCall(t->shape->arrays(t, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal *v     = (const PetscReal *)arrays[k].data;
    const size_t     count = arrays[k].is_values ? arrays[k].count * arrays[k].size / sizeof(PetscReal) : 0;

    for (size_t e = 0; e < count; e++) bad |= v[e] - v[e] != 0;
  }
  *finite = (PetscBool)!bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that is stored */
PetscErrorCode SpmvTrianglesBytes(const SpmvTriangles *t, PetscLogDouble *bytes)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(t->shape->arrays(t, &n, arrays));
  *bytes = SpmvArraysOwn(n, arrays);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also of triangles that are half built */
PetscErrorCode SpmvTrianglesDestroy(SpmvTriangles **triangles)
{
  SpmvTriangles *t = *triangles;
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       n = 0;

  PetscFunctionBegin;
  if (!t) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->storage) PetscCall(t->shape->arrays(t, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    void *array = (void *)arrays[k].data;

    PetscCall(SpmvFree(&array));
  }
  PetscCall(PetscFree(t->storage));
  PetscCall(PetscFree(*triangles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- the solution of a factored system with the right-hand side b; b may be x */
void SpmvTrianglesSolve(const SpmvTriangles *t, const PetscScalar *b, PetscScalar *x)
{
  const SpmvPass forward  = {.in = b, .scale = SpmvTrianglesInScaled(t->kind, SPMV_LOWER), .x = x};
  const SpmvPass backward = {.in = x, .scale = SpmvTrianglesInScaled(t->kind, SPMV_UPPER), .x = x};

  t->kernels->pass(t, SPMV_LOWER, &forward);
  t->kernels->pass(t, SPMV_UPPER, &backward);
}
