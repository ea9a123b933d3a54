/*
  petscspmv.h - matrix types with a faster matrix-vector product, for PETSc

  A program needs none of this: -dll_append <path>/libpetscspmv.so -mat_type bccoo is enough. This header is for programs
  that name the types in C, link the library instead of loading it, or read its counters.

  Manual pages are comments at types and functions in src/, and below: make docs and make install write them.
*/
#pragma once
#include <petscmat.h>

#define MATBCCOO    "bccoo"
#define MATSEQBCCOO "seqaijbccoo"
#define MATMPIBCCOO "mpiaijbccoo"

#define MATCMRS    "cmrs"
#define MATSEQCMRS "seqaijcmrs"
#define MATMPICMRS "mpiaijcmrs"

#define MATCSRADAPTIVE    "csradaptive"
#define MATSEQCSRADAPTIVE "seqaijcsradaptive"
#define MATMPICSRADAPTIVE "mpiaijcsradaptive"

#define MATTPSPMV    "tpspmv"
#define MATSEQTPSPMV "seqaijtpspmv"
#define MATMPITPSPMV "mpiaijtpspmv"

#define MATPMF    "pmf"
#define MATSEQPMF "seqaijpmf"
#define MATMPIPMF "mpiaijpmf"

#define MATSBCCOO    "sbccoo"
#define MATSEQSBCCOO "seqaijsbccoo"
#define MATMPISBCCOO "mpiaijsbccoo"

#define MATSPMV    "spmv"
#define MATSEQSPMV "seqaijspmv"
#define MATMPISPMV "mpiaijspmv"

#define MATSOLVERPETSCSPMV "petscspmv"

#define VECACCEL    "accel"
#define VECSEQACCEL "seqaccel"
#define VECMPIACCEL "mpiaccel"

/*E
  SpmvTuneKind - how much is done to choose the format of a `MATSPMV`, and the knobs of any format

  Values:
+ `SPMV_TUNE_OFF`      - nothing: each knob as asked or at its plainest
. `SPMV_TUNE_ESTIMATE` - a model of the time of a product, on a sample of the rows; the same choice each time
. `SPMV_TUNE_MEASURE`  - the few best by the model are built and timed
- `SPMV_TUNE_PATIENT`  - all are, as long as -mat_spmv_tune_seconds allows

  Level: intermediate

.seealso: `MatSpmvSetTune()`, `MATSPMV`
E*/
typedef enum { SPMV_TUNE_OFF, SPMV_TUNE_ESTIMATE, SPMV_TUNE_MEASURE, SPMV_TUNE_PATIENT } SpmvTuneKind;

/*S
  SpmvCounts - what the products of a matrix did, on this process; of a parallel matrix the sum over its two blocks

  Level: intermediate

.seealso: `MatSpmvGetCounts()`
S*/
typedef struct {
  PetscInt64 builds;    /* storages built: the first time, and after each change of the nonzero pattern or the plan */
  PetscInt64 refreshes; /* storages whose values were replaced */
  PetscInt64 products;  /* products by our kernels */
  PetscInt64 deferred;  /* products by AIJ's kernel because of -mat_spmv_build_after */
  PetscInt64 fallbacks; /* products by AIJ's kernel because a device failed or had no room */
  PetscInt64 columns;   /* columns of dense matrices multiplied by our kernels */
  PetscInt64 aij;       /* products by AIJ's kernel because the tuner chose it */
  PetscInt64 tunings;   /* choices that the tuner made, not those from wisdom or taken over from another matrix */
  PetscInt64 sweeps;    /* calls of MatSOR() that our kernels served */
  PetscInt64 sweepsaij; /* and those that AIJ's served */
  PetscInt64 solves;    /* right-hand sides that our kernels solved for with a factor; counted for no matrix, in the sum of all */
  PetscInt64 solvesaij; /* and those that PETSc's solved for */
  PetscInt64 floats;    /* of products, sweeps and solves by our kernels, those that read values in single precision */
} SpmvCounts;

PETSC_EXTERN PetscErrorCode SpmvInitializePackage(void);
PETSC_EXTERN PetscErrorCode MatSpmvGetCounts(Mat, SpmvCounts *);
PETSC_EXTERN PetscErrorCode MatSpmvGetBytes(Mat, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatSpmvGetPlan(Mat, char[], size_t);
PETSC_EXTERN PetscErrorCode MatSpmvSetTune(Mat, SpmvTuneKind);
PETSC_EXTERN PetscErrorCode MatSpmvSetTuneSeconds(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpmvSetTuneCheck(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatSpmvSetTuneFormats(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatSpmvSetExpectedCalls(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpmvSetWisdom(Mat, const char[]);
