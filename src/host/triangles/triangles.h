/*
  triangles.h - the two triangles of a square matrix, for Gauss-Seidel sweeps and for solves with incomplete factors

  Both go through the rows in their natural order, forwards with the lower triangle and backwards with the upper one, and read x
  where they have just written it. A *pass* is one way through one triangle. What is stored is what a pass reads, in the order in
  which it reads it, with rows scaled, so that a pass neither divides nor looks for the diagonal.

  A *shape* is how the rows of a triangle are laid out:
    rows    one after the other
    nodes   rows with the same columns (PETSc's inodes) together, a row in each lane; a node's rows are solved for at once
            (nodes.h). Only for sources that its suits() accepts
    slices  eight consecutive rows together, a row in each lane
  rows.c, nodes.c and slices.c build them, *_simd.c has their passes.
*/
#pragma once
#include "../machine.h"
#include "../values.h"

/*
  What the triangles T of a matrix or a factor are made of, by rows: sign S a, S the inverse diagonal where rows are scaled. A
  factor has its inverse diagonal stored at `diagonal`, a matrix its diagonal
*/
typedef enum {
  SPMV_SWEEPS,            /* Gauss-Seidel and SOR: both triangles scaled, and what a pass of either is given */
  SPMV_FACTORS,           /* L U: rows of U scaled, and what its pass is given */
  SPMV_FACTORS_TRANSPOSE, /* (L U)^T, lower triangle U^T: its rows scaled, and what its pass is given */
  SPMV_FACTORS_SYMMETRIC, /* U^T D U with -a stored: nothing scaled but what the upper triangle's pass is given */
  SPMV_TRIANGLES_COUNT
} SpmvTrianglesKind;

/* SpmvTrianglesSource: a borrowed view of the rows; columns increase inside each triangle of a row */
typedef struct {
  SpmvTrianglesKind  kind;
  PetscInt           n;
  const PetscInt    *j;            /* column of each entry */
  const PetscScalar *a;            /* value of each entry */
  const PetscInt    *lower[2];     /* [n] entries of row i left of the diagonal: lower[0][i] <= k < lower[1][i] */
  const PetscInt    *upper[2];     /* [n] entries of row i right of it: upper[0][i] < k < upper[1][i] */
  const PetscInt    *diagonal;     /* [n] the entry on the diagonal */
  PetscReal          omega, shift; /* of SPMV_SWEEPS: rows are scaled by omega / (shift + diagonal) */
  PetscBool          permuted;     /* solves give x in another order, and are given `in` in another order */
  PetscInt           nnodes;       /* nodes that rows are grouped in, 0: none. Rows of a node have the same columns but for those
                                      inside the node, which are all there. Sweeps by nodes have omega 1 and shift 0 */
  const PetscInt    *nodes;        /* [nnodes] rows of each node, >= 1 */
} SpmvTrianglesSource;

/*
  SpmvPass: one pass. For each row i, forwards for the lower triangle and backwards for the upper one,
    p = sum_j T_ij x_j,  s = (S in)_i - p or in_i - p,  x_i = keep x_i + s - minus_i
  By nodes, j are the columns outside of the node of row i. What is inside of it is in S and T: sweeps have the inverse of the
  node's diagonal block for S; factors have rows and `in` multiplied by the inverse of the triangle inside of the node, `in` also
  where it is not scaled. Factors are passed through with `scale` as SpmvTrianglesInScaled() has it.
  in, minus, before and product may be the same vectors as each other or as x only where said
*/
typedef struct {
  const PetscScalar *in;      /* [n] may be x, or before */
  PetscBool          scale;   /* S in, not in */
  PetscScalar        keep;    /* 1 - omega; 0: x_i is not read */
  const PetscScalar *minus;   /* [n] or NULL; may be product */
  PetscScalar       *x;       /* [n] */
  PetscScalar       *before;  /* [n] or NULL: becomes s */
  PetscScalar       *product; /* [n] or NULL: becomes p */
} SpmvPass;

/* The common pass, which the shapes have code of its own for: x = S in - T x, or in - T x */
static inline PetscBool SpmvPassIsPlain(const SpmvPass *p)
{
  return (PetscBool)(!p->minus && !p->before && !p->product && p->keep == 0);
}

typedef enum { SPMV_LOWER, SPMV_UPPER } SpmvTriangleSide;

struct _n_SpmvTriangles;

/* SpmvPasses: of a shape, over values of one type. No PETSc calls inside */
typedef struct {
  void (*pass)(const struct _n_SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *pass);
  void (*product)(const struct _n_SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y); /* y <- T x */
} SpmvPasses;

/* SpmvShapeKernels: of a shape, for an instruction set */
typedef struct {
  SpmvPasses passes[2]; /* over scalars, and over floats (SPMV_VALUES_HAS_FLOAT) */
} SpmvShapeKernels;

/* T may be stored as floats where values may (SPMV_VALUES_HAS_FLOAT). Sums, and S, are double all the same. A shape's passes, for
   a *_simd.c: of functions that are told by a last argument whether values are floats */
#if SPMV_VALUES_HAS_FLOAT
  #define SPMV_PASSES_FLOAT(pass_, product_) \
    static void PassFloats(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p) \
    { \
      pass_(t, side, p, PETSC_TRUE); \
    } \
    static void ProductFloats(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y) \
    { \
      product_(t, side, x, y, PETSC_TRUE); \
    }
  #define SPMV_PASSES \
    { \
      {Pass, Product}, \
      { \
        PassFloats, ProductFloats \
      } \
    }
#else
  #define SPMV_PASSES_FLOAT(pass_, product_)
  #define SPMV_PASSES \
    { \
      {Pass, Product}, \
      { \
        NULL, NULL \
      } \
    }
#endif
#define SPMV_PASSES_DEFINE(pass_, product_) \
  static void Pass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p) \
  { \
    pass_(t, side, p, PETSC_FALSE); \
  } \
  static void Product(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y) \
  { \
    product_(t, side, x, y, PETSC_FALSE); \
  } \
  SPMV_PASSES_FLOAT(pass_, product_)

/* SpmvTrianglesLook: what some rows of a source tell of all of them, both triangles together */
typedef struct {
  double   rows;             /* twice as many as the source has */
  double   nz;               /* entries off the diagonal */
  double   before;           /* rows with an entry in the column of the row before, in the order of a pass: they wait for it */
  double   chained;          /* of these, rows after one that waits itself */
  double   missed;           /* rows whose length does not follow from those of three rows before */
  double   far[SPMV_LEVELS]; /* lines of x that are in no cache before this one, as distances from the diagonal tell */
  PetscInt distance;         /* the greatest one from the diagonal */
} SpmvTrianglesLook;

/* Bytes of a distance, where all have the same number */
static inline double SpmvTrianglesDistanceBytes(const SpmvTrianglesLook *look)
{
  return look->distance > UINT16_MAX ? sizeof(PetscInt) : sizeof(uint16_t);
}

/* SpmvShape */
typedef struct {
  const char *name;
  PetscBool   plain; /* passes are by scalars, which no instruction set has faster */
  /* Whether a source can have the shape, and passes by it give what PETSc's would */
  PetscBool (*suits)(const SpmvTrianglesSource *s);
  /* Adds what a pass through each triangle costs; cycles are those of Zen 4 */
  void (*work)(const SpmvTrianglesSource *s, const SpmvTrianglesLook *look, SpmvWork *work);
  /* Makes t->storage; after an error it is what was made so far. Values come with setvalues() */
  PetscErrorCode (*build)(const SpmvTrianglesSource *s, struct _n_SpmvTriangles *t);
  /* Takes the values of a source with the same pattern; bad: the first row or node without an inverse diagonal, -1 if none */
  PetscErrorCode (*setvalues)(const SpmvTrianglesSource *s, struct _n_SpmvTriangles *t, PetscInt *bad);
  /* The arrays of the storage, to be counted and freed */
  PetscErrorCode (*arrays)(const struct _n_SpmvTriangles *t, PetscInt *n, SpmvArray arrays[]);
  /* The values of T, as setvalues() has set them */
  PetscScalar *(*triangle)(const struct _n_SpmvTriangles *t, SpmvTriangleSide side, size_t *n);
  const SpmvShapeKernels *const *kernels; /* [SPMV_ISA_COUNT] */
} SpmvShape;

extern const SpmvShape SpmvShape_rows, SpmvShape_nodes, SpmvShape_slices;

/* SpmvTriangles: both triangles */
typedef struct _n_SpmvTriangles {
  SpmvTrianglesKind       kind;
  PetscInt                n, nz; /* rows; entries of both triangles, of nodes also those inside */
  const SpmvShape        *shape;
  const SpmvShapeKernels *kernels;
  const SpmvPasses       *passes;  /* of the kernels, for the type of the values */
  PetscBool               floats;  /* T is stored as floats, unless one of its values is too large for that */
  void                   *storage; /* PetscNew() by the shape */
} SpmvTriangles;

/* Whether rows of a triangle are scaled, and what its pass is given is (SpmvPass.scale) */
static inline PetscBool SpmvTrianglesScaled(SpmvTrianglesKind kind, SpmvTriangleSide side)
{
  return (PetscBool)(kind == SPMV_SWEEPS || kind == (side == SPMV_UPPER ? SPMV_FACTORS : SPMV_FACTORS_TRANSPOSE));
}
static inline PetscBool SpmvTrianglesInScaled(SpmvTrianglesKind kind, SpmvTriangleSide side)
{
  return (PetscBool)(SpmvTrianglesScaled(kind, side) || (kind == SPMV_FACTORS_SYMMETRIC && side == SPMV_UPPER));
}

/* Where the entries of row i in a triangle are */
static inline void SpmvTrianglesRow(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, PetscInt *first,
                                    PetscInt *end)
{
  *first = side == SPMV_LOWER ? s->lower[0][i] : s->upper[0][i] + 1;
  *end   = side == SPMV_LOWER ? s->lower[1][i] : s->upper[1][i];
}

/* The inverse diagonal of rows [first, end); a factor has it stored. bad: the first row where it is not a finite number, if
   it is -1 */
static inline void SpmvTrianglesInvertRows(const SpmvTrianglesSource *s, PetscInt first, PetscInt end, PetscScalar inverse[],
                                           PetscInt *bad)
{
  PetscScalar none = 0;

  if (s->kind != SPMV_SWEEPS) {
    for (PetscInt i = first; i < end; i++) inverse[i] = s->a[s->diagonal[i]];
  } else if (s->omega == 1 && s->shift == 0) {
    for (PetscInt i = first; i < end; i++) inverse[i] = (PetscReal)1 / s->a[s->diagonal[i]];
  } else {
    for (PetscInt i = first; i < end; i++) inverse[i] = s->omega / (s->shift + s->a[s->diagonal[i]]);
  }
  for (PetscInt i = first; i < end; i++) none += inverse[i] - inverse[i]; /* not 0 if one is infinite or not a number */
  for (PetscInt i = first; none != (PetscReal)0 && *bad < 0 && i < end; i++) {
    if (PetscIsInfOrNanScalar(inverse[i])) *bad = i;
  }
}

/* Whether passes read T as floats */
static inline PetscBool SpmvTrianglesAreFloats(const SpmvTriangles *t)
{
  return (PetscBool)(t->passes == &t->kernels->passes[1]);
}

/* Bytes of a value of T that a pass reads */
static inline size_t SpmvTrianglesWord(const SpmvTriangles *t)
{
  return SpmvTrianglesAreFloats(t) ? sizeof(float) : sizeof(PetscScalar);
}

/* nodes.c */
extern PetscErrorCode SpmvTrianglesFindNodes(const SpmvTrianglesSource *source, PetscInt *nnodes, PetscInt **nodes);

/* triangles.c */
extern void           SpmvTrianglesLookAt(const SpmvTrianglesSource *source, SpmvTrianglesLook *look);
extern PetscErrorCode SpmvTrianglesCreate(const SpmvTrianglesSource *source, const SpmvShape *shape, PetscInt isa,
                                          PetscBool floats, SpmvTriangles **triangles, PetscInt *bad);
extern PetscErrorCode SpmvTrianglesSetValues(const SpmvTrianglesSource *source, SpmvTriangles *triangles, PetscInt *bad);
extern PetscErrorCode SpmvTrianglesFinite(const SpmvTriangles *triangles, PetscBool *finite);
extern PetscErrorCode SpmvTrianglesBytes(const SpmvTriangles *triangles, PetscLogDouble *read, PetscLogDouble *own);
extern PetscErrorCode SpmvTrianglesDestroy(SpmvTriangles **triangles);
extern void           SpmvTrianglesSolve(const SpmvTriangles *triangles, const PetscScalar *b, PetscScalar *x);
