/*
  matfactor.h - ILU(k) and ICC(k): PETSc's factors, with solves of ours

  matfactor.c        the package: creates PETSc's factor, lets PETSc fill it in, replaces its solves, builds the storage
  matfactor_rows.c   the factor's entries, as host/triangles reads them
  matfactor_solve.c  the solves
  matfactor_report.c what is said of it
*/
#pragma once
#include "spmvmat.h"

/* SpmvFactorRows: the entries of a factor or of its transpose */
typedef struct {
  SpmvTrianglesSource source; /* its values only between SpmvFactorRowsBegin() and SpmvFactorRowsEnd() */
  PetscInt            nz;     /* entries that PETSc's factor has */
  PetscInt           *ends;   /* [n + 1] where PETSc's rows above the diagonal end; NULL before SpmvFactorRowsCreate() */
  PetscInt           *nodes;  /* [nnodes] or NULL */

  /* Of entries that have another order than PETSc's, NULL if none have */
  PetscInt    *start, *diagonal; /* [n + 1] where rows begin, [n] where their diagonal is */
  PetscInt    *j, *from;         /* column of each entry, and which one of PETSc's it is */
  PetscScalar *a;
} SpmvFactorRows;

/* SpmvFactorPart: what serves the solves with a factor, or those with its transpose */
typedef struct {
  SpmvFactorRows rows;
  SpmvServing    serving;
  PetscBool      refused; /* PETSc's kernel is to serve for now */
  PetscBool      tried;   /* since the values changed */
} SpmvFactorPart;

/* SpmvFactor: what is ours of a factor, composed with it */
typedef struct {
  struct _MatOps theirs; /* PETSc's operations */

  /* Settings of the matrix that is factored */
  PetscBool         solve, floats;
  PetscInt          build_after, isa;
  PetscReal         expected; /* calls, 0: not known */
  PetscViewer       viewer;   /* or NULL */
  PetscViewerFormat viewformat;

  IS             row, column; /* P A Q = L U; NULL: the identity */
  SpmvDue        due;
  SpmvFactorPart part[2]; /* of the factor and of its transpose, which an ICC is itself */
  PetscReal     *root;    /* [n] roots of ICC's inverse diagonal, or NULL */
  PetscBool      rooted;  /* root has those of the factor's values */
  PetscScalar   *work;    /* [n] or NULL */
  SpmvCounts     counts;

  /* For -spmv_summary */
  SpmvSpent   spent;  /* on solves with one vector */
  SpmvLabel   label;  /* of the matrix that is factored */
  const char *reason; /* why PETSc's kernel serves, or NULL */
} SpmvFactor;

/* matfactor.c */
extern PetscErrorCode MatSpmvGetFactor(Mat F, SpmvFactor **factor);
extern PetscErrorCode MatSpmvFactorUpdate(Mat F, SpmvFactor *factor, PetscBool transpose, PetscInt columns,
                                          SpmvTriangles **triangles);

/* matfactor_rows.c */
extern PetscErrorCode SpmvFactorRowsCreate(Mat F, SpmvTrianglesKind kind, SpmvFactorRows *rows, PetscBool *known);
extern PetscErrorCode SpmvFactorRowsBegin(Mat F, SpmvFactorRows *rows);
extern PetscErrorCode SpmvFactorRowsEnd(SpmvFactorRows *rows);
extern PetscErrorCode SpmvFactorRowsDestroy(SpmvFactorRows *rows);

/* matfactor_report.c */
extern PetscErrorCode SpmvFactorBytes(const SpmvFactor *factor, PetscLogDouble *bytes);
extern PetscErrorCode SpmvFactorEnds(const SpmvFactor *factor);
extern PetscErrorCode SpmvFactorView(Mat F, const SpmvFactor *factor, PetscBool transpose, const char why[],
                                     PetscLogDouble seconds);

/* matfactor_solve.c */
extern void MatSpmvFactorSetOps(Mat F, SpmvFactor *factor, PetscBool ours);
