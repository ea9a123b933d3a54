/*
  report.h - what is said at the end of a run: what matrices spent, and what may be done about it

  summary.c     -spmv_summary: a table of matrices
  shares.c      what PETSc's log says of the whole run
  advise.c      -spmv_advise: what would be next, in words

  It knows no Mat: matrices tell what they spent before they are destroyed (mat/interface/matreport.c).
*/
#pragma once
#include "../spmvimpl.h"

/* SpmvSpent: the time that one kind of work took, [0] by PETSc's kernel and [1] by ours */
typedef struct {
  PetscInt64     calls[2];
  PetscLogDouble seconds[2];
  PetscLogDouble least[2]; /* seconds of one call; 0: there was none */
  PetscLogDouble setup;    /* seconds to choose and make what ours read, and to give it new values */
  PetscLogDouble choosing; /* part of them */
} SpmvSpent;

/* Which part of a matrix a sequential one is */
typedef enum {
  SPMV_PART_WHOLE,
  SPMV_PART_DIAGONAL, /* block of a parallel matrix */
  SPMV_PART_OFFDIAGONAL,
  SPMV_PART_FACTOR /* an incomplete factor of a matrix */
} SpmvPart;

#define SPMV_LEVEL_NONE -1 /* of a matrix of which no multigrid method made a coarser one that we have seen */

/* SpmvLabel: which matrix it is, for what is printed. No padding: labels are compared as memory */
typedef struct {
  PetscInt64 nonzeros; /* of the part */
  PetscInt64 m, n;     /* rows and columns of the part */
  PetscInt64 M, N;     /* of the matrix */
  PetscInt64 level;    /* of multigrid: how many times it was coarsened; or SPMV_LEVEL_NONE */
  PetscInt64 part;     /* an SpmvPart */
  char       prefix[32], name[32], type[32];
} SpmvLabel;

/* SpmvWorkKind: a kind of work */
typedef enum { SPMV_WORK_PRODUCTS, SPMV_WORK_SWEEPS, SPMV_WORK_SOLVES, SPMV_WORK_COUNT } SpmvWorkKind;

/* SpmvUse: what a matrix, or matrices that are alike, spent on a kind of work, and what is known of them */
typedef struct {
  SpmvLabel      label;
  SpmvWorkKind   work;
  char           by[256];  /* what served in the place of PETSc's kernel, or "": the format and its plan */
  PetscInt64     matrices; /* that are alike */
  SpmvSpent      spent;
  PetscLogDouble bytes;                       /* of what was made for it */
  const char    *reason;                      /* why PETSc's kernel served in the end, or NULL */
  PetscInt64     most;                        /* calls between two changes of the values */
  PetscInt       build_after;                 /* calls by PETSc's kernel that a build waits for ... */
  PetscInt       products;                    /* ... and -mat_spmv_build_after, of which sweeps and solves wait for a part */
  PetscInt       declared_block, found_block; /* sizes of square blocks that fill the matrix, 1: none */
  PetscInt       threads;
  PetscBool      chosen;    /* the format was ours to choose */
  PetscBool      measured;  /* and was to be measured */
  PetscBool      symmetric; /* the matrix is declared so */
  PetscBool      floats;    /* our kernels read single precision */
} SpmvUse;

/* SpmvTimes: what PETSc's log says of some events that are one thing to a user */
typedef enum {
  SPMV_SHARE_MULT,
  SPMV_SHARE_SOR,
  SPMV_SHARE_SOLVE,
  SPMV_SHARE_PTAP_SYMBOLIC,
  SPMV_SHARE_PTAP_NUMERIC,
  SPMV_SHARE_FACTOR,
  SPMV_SHARE_ORTHOGONALISATION,
  SPMV_SHARE_APART,                         /* those before do not contain each other */
  SPMV_SHARE_INCOMPLETE = SPMV_SHARE_APART, /* symbolic factorisations, which only count */
  SPMV_SHARE_COMPLETE,
  SPMV_SHARE_GAMG,   /* set-ups of PCGAMG */
  SPMV_SHARE_BUILDS, /* inside the work that needs them first */
  SPMV_SHARE_COUNT
} SpmvShareKind;

typedef struct {
  PetscInt64     calls;
  PetscLogDouble seconds;
} SpmvTimes;

/* SpmvReport: all that advice is made from; of this process */
typedef struct {
  PetscLogDouble seconds; /* since the library was loaded */
  SpmvTimes      share[SPMV_SHARE_COUNT];
  PetscBool      logged;           /* there is a log */
  int            processes, cores; /* processors that this process may use */
  PetscLogDouble cache;            /* bytes that a core may count on: what is read from there gains nothing by being smaller */
  PetscReal      least;            /* share of the run below which nothing is said */
  size_t         nuses;
  const SpmvUse *use; /* [nuses] */
} SpmvReport;

/* summary.c */
extern PetscErrorCode SpmvSummaryInitialize(void);
extern PetscErrorCode SpmvSummaryFinalize(void);
extern PetscBool      SpmvSummaryWanted(void);
extern PetscErrorCode SpmvSummaryAdd(const SpmvUse *use);
extern void           SpmvSpentCall(SpmvSpent *spent, PetscBool ours, PetscBool typical, PetscLogDouble seconds);
extern PetscLogDouble SpmvSpentSaved(const SpmvSpent *spent, PetscBool *known);
extern PetscErrorCode SpmvLabelText(const SpmvLabel *label, char text[], size_t size);

/* shares.c */
extern const char *const SpmvShareNames[SPMV_SHARE_COUNT];
extern PetscErrorCode    SpmvSharesGet(SpmvReport *run);

/* advise.c */
extern PetscErrorCode SpmvAdvice(const SpmvReport *run, PetscInt k, char line[], size_t size, PetscBool *more);
