/*
  spmvbench.h - what the files of spmvbench share

  spmvbench.c   options, the loop over the matrices
  read.c        a file becomes a BenchMatrix: PETSc binary, or Matrix Market
  mmcheck.c     Matrix Market text: is it right, and if not, in which line?
  generate.c    stencils and dense, qcd, power-law, permutation and LP matrices; elasticity.c  3-D elasticity;
                p2.c  quadratic finite elements
  types.c       a BenchMatrix becomes a Mat of some type with some options; the bytes it stores
  peers.c       libraries to race against: peer_mkl.c, peer_rsb.c, peer_cusparse.c
  measure.c     times of products, all types taking turns
  exact.c       what a product should be, and how far from it one is
  operation.c   what is timed besides products: transposed ones, several columns, new values, kernels alone, sweeps, solves
  readloop.c    how fast can memory be read?
  report.c      table, CSV, summary
  brief.c       the report of one who asks which type to take
  plot.c        a picture of the CSV
*/
#pragma once
#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* MADV_HUGEPAGE; and cholmod.h asks for names that zlib.h then needs */
#endif
#include <petscmat.h>
#include <stdint.h>

#ifndef PETSC_SUCCESS /* PETSc 3.18 */
  #define PETSC_SUCCESS 0
#endif

#define BENCH_SPEC   256  /* characters of a type with its options, at most */
#define BENCH_PLAN   512  /* characters of a plan, at most */
#define BENCH_REASON 1024 /* characters of a reason, at most */

/* BenchMatrix: a matrix in compressed sparse rows; columns increase inside a row */
typedef struct {
  char         name[PETSC_MAX_PATH_LEN];
  PetscInt     m, n; /* rows, columns */
  PetscInt     bs;   /* block size that MatSetBlockSize() is told, 1 for none */
  PetscInt    *i;    /* [m + 1]  first entry of each row */
  PetscInt    *j;    /* [i[m]]   column of each entry */
  PetscScalar *a;    /* [i[m]]   value of each entry */
} BenchMatrix;

/* What became of a matrix or a type; all but BENCH_OK come with a reason */
typedef enum {
  BENCH_OK,
  BENCH_SKIPPED, /* nothing is wrong with it, but this build cannot measure it */
  BENCH_BROKEN
} BenchOutcome;

/* BenchType: one type of Mat with its options, and what was measured of it on one matrix */
typedef struct {
  char           spec[BENCH_SPEC]; /* as asked for: type, or type:option=value:option=value */
  PetscBool      asked;            /* by the user; the others are measured always */
  PetscBool      ours;             /* of libpetscspmv, not PETSc's own */
  PetscBool      peer;             /* of another library, see peers.h */
  PetscInt       threads;          /* that share a product */
  char           prefix[64];       /* options prefix, this Mat's alone */
  Mat            A;                /* NULL if it could not be made */
  Mat            Y;                /* -operation columns: the product; ilu, icc: the factors */
  Vec            z;                /* -operation transpose: the product */
  char           plan[BENCH_PLAN]; /* what the storage was built by, "" if nothing was to be chosen */
  char           backend[16];      /* who runs the products: host, or the API of a device */
  PetscLogDouble bytes;            /* of the storage that a product reads, x and y not counted */
  double         first;            /* seconds of a Mat's first product, the median of a few Mats */
  double         choosing;         /* seconds of those before it to choose a plan, and ... */
  double         making;           /* ... to make the storage; medians as well, 0 of types that do not tell */
  double         predicted;        /* seconds to make it as the estimate has them; 0 if it says nothing */
  PetscInt       repeats;          /* products timed together as one batch */
  double        *times;            /* [rounds] seconds of a product in each round; in the end as if none had been slow, sorted */
  double         read;             /* the most bytes a second that were read, this type's number of bytes at a time */
  double         error;            /* the largest |y - yref| in units of eps |A||x| */
  PetscBool      pass;             /* all of them within their bounds */
} BenchType;

/* What is timed, see operation.c */
typedef enum {
  BENCH_PRODUCT,
  BENCH_TRANSPOSE,
  BENCH_REFRESH,
  BENCH_KERNELS,
  BENCH_SOR,
  BENCH_ILU,
  BENCH_ICC,
  BENCH_COLUMNS
} BenchOperation;

/* Which of PETSc's own types are measured */
enum { BENCH_PETSC_ALL, BENCH_PETSC_AIJ, BENCH_PETSC_NONE };

/* Sizes of one run */
typedef struct {
  double   seconds; /* of products for each type; 0: none are timed */
  PetscInt rounds;  /* of the matrix measured last */
  PetscInt threads; /* that share a product, where a type can */

  PetscMPIInt rank, ranks; /* processes that measure the same at once; the first one reports */

  PetscInt  petsc; /* how many of PETSc's own types: BENCH_PETSC_ALL, ... */
  PetscBool brief; /* the report is that of brief.c */

  BenchOperation operation;
  PetscInt       columns; /* of BENCH_COLUMNS */
  int            turns;   /* of -turns, -1: none */
} BenchRun;

/* spmvbench.c */
extern PetscErrorCode BenchProgress(const char[], ...) PETSC_ATTRIBUTE_FORMAT(1, 2);
extern PetscErrorCode BenchProgressClear(void);
extern PetscErrorCode BenchTry(PetscErrorCode (*)(void *), void *, char[], PetscBool *);
extern PetscErrorCode BenchTurn(const BenchRun *, int);

/* read.c, generate.c, elasticity.c, p2.c */
extern PetscErrorCode BenchMatrixRead(const char[], BenchMatrix *, BenchOutcome *, char[]);
extern PetscErrorCode BenchMatrixGenerate(const char[], BenchMatrix *);
extern PetscErrorCode BenchMatrixDestroy(BenchMatrix *);
extern PetscErrorCode BenchMatrixStart(BenchMatrix *, double, double, double);
extern PetscErrorCode BenchMatrixRowEnd(BenchMatrix *, PetscInt);
extern PetscErrorCode BenchGenerateElasticity(PetscInt, BenchMatrix *);
extern PetscErrorCode BenchGenerateP2(PetscInt, BenchMatrix *);

/* MMText: a Matrix Market file in memory, and what its first lines say */
typedef struct {
  const char *file;
  char       *text; /* [length + 1] the file, then a 0 */
  size_t      length;
  PetscBool   array, complex_values, pattern;
  char        symmetry; /* g(eneral), s(ymmetric), k (skew-symmetric), h(ermitian) */
  PetscInt64  rows, cols, entries;
} MMText;
extern PetscErrorCode MMTextCheck(MMText *, PetscBool *, char[]);

/* types.c */
extern PetscErrorCode BenchTypesCreate(const BenchMatrix *, const BenchRun *, PetscInt, char *[], PetscInt *, BenchType *[]);
extern PetscErrorCode BenchTypesDestroy(PetscInt, BenchType *[]);
extern PetscErrorCode BenchBlocksCount(const BenchMatrix *, PetscInt, PetscInt *, PetscInt[]);
extern PetscErrorCode BenchTypeBuild(const BenchMatrix *, PetscInt, BenchType *);
extern PetscErrorCode BenchTypeQuery(const BenchMatrix *, BenchType *);
extern PetscErrorCode BenchTypeSetup(const BenchType *, double *, double *, double *);
extern PetscErrorCode BenchTypeForget(BenchType *);

/* operation.c */
extern PetscErrorCode BenchOperationParse(const char[], BenchRun *);
extern PetscErrorCode BenchOperationSetUp(const BenchMatrix *, const BenchRun *, Vec, BenchType *);
extern PetscErrorCode BenchOperate(const BenchRun *, const BenchType *, PetscInt, Vec, Vec);
extern PetscErrorCode BenchOperationReset(BenchType *);

/* exact.c: what one entry of a product should be */
typedef struct {
  long double re, im;
  long double size; /* (|A| |x|)_i */
} BenchExact;

extern PetscErrorCode BenchExactCompute(const BenchMatrix *, Vec, BenchExact[]);
extern PetscErrorCode BenchErrorAdd(const BenchMatrix *, const BenchExact[], Vec, BenchType *);
extern PetscErrorCode BenchFillMixed(Vec);
extern PetscErrorCode BenchFillNaN(Vec);

/* measure.c, readloop.c */
typedef uint64_t      BenchReader(const void *, size_t);
extern PetscErrorCode BenchMeasure(const BenchMatrix *, BenchRun *, PetscInt, BenchType[], PetscBool *);
extern PetscErrorCode BenchReadersGet(PetscInt *, BenchReader *const **);
extern double         BenchClock(void);
extern double         BenchMiddle(const double[], PetscInt);

/* report.c */
extern PetscErrorCode BenchReportOpen(const char[], PetscBool *);
extern PetscErrorCode BenchReportMatrix(const BenchMatrix *, const BenchRun *, PetscInt, const BenchType[]);
extern PetscErrorCode BenchReportClose(PetscBool);
extern double         BenchMedian(const BenchType *, PetscInt);

/* brief.c, plot.c */
extern PetscErrorCode BenchBriefPrint(const BenchMatrix *, const BenchRun *, PetscInt, const BenchType[]);
extern PetscErrorCode BenchPlotOpen(const char[], char[], PetscBool *, PetscBool *);
extern PetscErrorCode BenchPlot(const char[], const char[], PetscBool, PetscBool *);

/* Adds an entry to row r of a matrix that is being made: BenchMatrixStart(), then pushes and BenchMatrixRowEnd() for each row */
static inline void BenchPush(BenchMatrix *M, PetscInt r, PetscInt column, PetscScalar value)
{
  PetscInt k = M->i[r + 1]++;

  M->j[k] = column;
  M->a[k] = value;
}

/* The next of a sequence of 64 random bits (splitmix64), the same on every machine */
static inline uint64_t BenchRandom(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Uniform in [0, 1) */
static inline double BenchUniform(uint64_t *state)
{
  return (double)(BenchRandom(state) >> 11) * 0x1p-53;
}

/* Of either sign, 0.1 to 1 in size: nothing vanishes, something cancels */
static inline double BenchSigned(uint64_t *state)
{
  double u = 1.8 * BenchUniform(state) - 0.9;

  return u < 0 ? u - 0.1 : u + 0.1;
}
