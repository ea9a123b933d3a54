/*
  triangles.c - which shape the triangles of a matrix take, and what is the same for all
*/
#include "triangles.h"
#include <float.h>
#include <math.h>

/* Nodes come first: sweeps must be by nodes where PETSc's are */
static const SpmvShape *const Shapes[] = {&SpmvShape_nodes, &SpmvShape_slices, &SpmvShape_rows};

/* The shape that is likely to be the fastest; values are not looked at */
const SpmvShape *SpmvTrianglesShape(const SpmvTrianglesSource *source)
{
  size_t k = 0;

  while (!Shapes[k]->suits(source)) k++;
  return Shapes[k];
}

/* Why PETSc's passes are as fast, by a reason for a view; empty: they are not */
const char *SpmvTrianglesGainless(const SpmvTrianglesSource *source)
{
  if (SpmvTrianglesShape(source) != &SpmvShape_rows || SpmvRowsGain(source)) return "";
  return "its rows are short and in cache, which gains nothing";
}

/*
  SpmvTrianglesCreate - the triangles of a matrix or a factor, with their values

  Input Parameters:
+ source - the rows
. shape  - NULL for the one that is likely to be the fastest; nodes only if they suit
. isa    - an SpmvIsa, or SPMV_ISA_COUNT for the best
- floats - T is stored as floats (SPMV_VALUES_HAS_FLOAT), which is wrong by 6e-8 of each entry

  Output Parameters:
+ triangles - NULL if `bad` is not -1
- bad       - the first row, or the first row of the first node, without an inverse diagonal; -1 if there is none
*/
PetscErrorCode SpmvTrianglesCreate(const SpmvTrianglesSource *source, const SpmvShape *shape, PetscInt isa, PetscBool floats,
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
  t->passes  = &t->kernels->passes[0];
  t->floats  = (PetscBool)(floats && SPMV_VALUES_HAS_FLOAT);
  PetscCall(shape->build(source, t));
  PetscCall(SpmvTrianglesSetValues(source, t, bad));
  if (*bad >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  *triangles = t;
  t          = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SPMV_VALUES_HAS_FLOAT
/* Values become floats where they are: eight at a time, which are read before they are overwritten */
static void MakeFloats(size_t n, double value[])
{
  float *to = (float *)(void *)value;
  size_t k  = 0;

  for (; k < n; k += 8) {
    double    from[8];
    float     f[8];
    const int count = (int)PetscMin(8, n - k);

    memcpy(from, (const char *)value + k * sizeof(double), (size_t)count * sizeof(double));
    for (int l = 0; l < count; l++) f[l] = (float)from[l];
    memcpy((char *)to + k * sizeof(float), f, (size_t)count * sizeof(float));
  }
}
#endif

/* T becomes floats, if all of it can */
static void TrianglesNarrow(SpmvTriangles *t)
{
#if SPMV_VALUES_HAS_FLOAT
  size_t       n[2];
  PetscScalar *value[2];

  for (int side = 0; side < 2; side++) {
    value[side] = t->shape->triangle(t, (SpmvTriangleSide)side, &n[side]);
    if (!SpmvValuesFitFloats(n[side], value[side])) return;
  }
  for (int side = 0; side < 2; side++) MakeFloats(n[side], value[side]);
  t->passes = &t->kernels->passes[1];
#else
  (void)t;
#endif
}

/* New values for the same pattern; after bad >= 0 the triangles are not to be used until they are given others */
PetscErrorCode SpmvTrianglesSetValues(const SpmvTrianglesSource *source, SpmvTriangles *t, PetscInt *bad)
{
  PetscFunctionBegin;
  *bad      = -1;
  t->passes = &t->kernels->passes[0];
  PetscCall(t->shape->setvalues(source, t, bad));
  if (t->floats && *bad < 0) TrianglesNarrow(t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all values are finite: those of scaled rows are products, which may be too large where the rows' are not */
PetscErrorCode SpmvTrianglesFinite(const SpmvTriangles *t, PetscBool *finite)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n, bad = 0;

  PetscFunctionBegin;
  PetscCall(t->shape->arrays(t, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal *v      = (const PetscReal *)arrays[k].data;
    const float     *f      = (const float *)arrays[k].data;
    const PetscBool  floats = (PetscBool)(arrays[k].size < sizeof(PetscScalar));
    const size_t     count  = arrays[k].is_values ? arrays[k].count * arrays[k].size / (floats ? sizeof(*f) : sizeof(*v)) : 0;

    for (size_t e = 0; e < count && !floats; e++) bad |= v[e] - v[e] != 0;
    for (size_t e = 0; e < count && floats; e++) bad |= f[e] - f[e] != 0;
  }
  *finite = (PetscBool)!bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What passes read, and all that is kept: floats have the room of scalars, which new values need on their way */
PetscErrorCode SpmvTrianglesBytes(const SpmvTriangles *t, PetscLogDouble *read, PetscLogDouble *own)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(t->shape->arrays(t, &n, arrays));
  *read = *own = SpmvArraysOwn(n, arrays);
  for (int side = 0; side < 2 && SpmvTrianglesAreFloats(t); side++) {
    size_t values;

    (void)t->shape->triangle(t, (SpmvTriangleSide)side, &values);
    *own += (PetscLogDouble)values * (sizeof(PetscScalar) - SpmvTrianglesWord(t));
  }
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

  t->passes->pass(t, SPMV_LOWER, &forward);
  t->passes->pass(t, SPMV_UPPER, &backward);
}
