/*
  triangles.c - what is the same for triangles of all shapes
*/
#include "triangles.h"
#include <float.h>
#include <math.h>

#define TRIANGLES_WINDOWS 8    /* at most, of consecutive rows ... */
#define TRIANGLES_WINDOW  512  /* ... of this number, which are looked at */
#define TRIANGLES_LENGTHS 1024 /* 2^10: places for three lengths, by a hash of 10 bits */
#define TRIANGLES_NEW     0.5  /* of those that have not come before are missed */
#define TRIANGLES_BETWEEN 4    /* bytes that come into the caches for each byte of x between a row and an entry's column */

/* The rows that came before one of a triangle, in the order of the pass */
typedef struct {
  unsigned  lengths;                 /* of three of them, 8 bits each */
  PetscInt  next[TRIANGLES_LENGTHS]; /* the length that came after such lengths the last time, plus 1 */
  PetscInt  first, end;              /* entries of the one before */
  PetscBool waits;                   /* it waits for the one before itself */
} TrianglesPast;

/* Row i of a triangle, as row number `number` of a window */
static void TrianglesLookAtRow(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, PetscInt number,
                               const PetscLogDouble cache[], TrianglesPast *past, SpmvTrianglesLook *look)
{
  PetscBool waits = PETSC_FALSE;
  PetscInt *next  = &past->next[past->lengths * 2654435761U >> 22], first, end, n, near;

  SpmvTrianglesRow(s, side, i, &first, &end);
  n = end - first;
  look->nz += n;
  if (number > 2) look->missed += *next == 0 ? TRIANGLES_NEW : *next != n + 1;
  *next         = n + 1;
  past->lengths = (past->lengths << 8 | (unsigned)PetscMin(n, 255)) & 0xffffff;
  if (n) {
    near  = side == SPMV_LOWER ? i - s->j[end - 1] : s->j[first] - i;
    waits = (PetscBool)(near == 1);
    look->before += waits;
    look->chained += waits && past->waits;
    look->distance = PetscMax(look->distance, side == SPMV_LOWER ? i - s->j[first] : s->j[end - 1] - i);
  }
  for (PetscInt k = 0; number && k < n; k++) {
    const PetscInt       there = PetscMin(past->first + k, past->end - 1);
    const PetscLogDouble bytes = (double)(TRIANGLES_BETWEEN * sizeof(PetscScalar)) * PetscAbs(s->j[first + k] - i);

    if (past->end > past->first && SpmvMachineLine(s->j[first + k]) == SpmvMachineLine(s->j[there])) continue;
    for (int level = 1; level < SPMV_LEVELS; level++) look->far[level] += bytes > cache[level - 1];
  }
  past->first = first;
  past->end   = end;
  past->waits = waits;
}

/* A look at some rows. Lines of x are taken to be in the caches that have room for what came in since */
void SpmvTrianglesLookAt(const SpmvTrianglesSource *s, SpmvTrianglesLook *look)
{
  const PetscInt rows = PetscMin(s->n, TRIANGLES_WINDOW), windows = rows ? PetscMin(TRIANGLES_WINDOWS, s->n / rows) : 0;
  TrianglesPast  past[2] = {{0}};
  double         scale   = windows ? (double)s->n / ((double)rows * windows) : 1;

  *look = (SpmvTrianglesLook){.rows = 2. * s->n};
  for (PetscInt w = 0; w < windows; w++) {
    const PetscInt start = windows > 1 ? (PetscInt)((double)(s->n - rows) / (windows - 1) * w) : 0;

    for (PetscInt r = 0; r < rows; r++) {
      TrianglesLookAtRow(s, SPMV_LOWER, start + r, r, SpmvMachineGet()->cache, &past[0], look);
      TrianglesLookAtRow(s, SPMV_UPPER, start + rows - 1 - r, r, SpmvMachineGet()->cache, &past[1], look);
    }
  }
  look->nz *= scale;
  look->before *= scale;
  look->chained *= scale;
  look->missed *= scale;
  for (int level = 1; level < SPMV_LEVELS; level++) look->far[level] *= scale;
}

/*
  SpmvTrianglesCreate - the triangles of a matrix or a factor, with their values

  Input Parameters:
+ source - the rows
. shape  - one that suits
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
