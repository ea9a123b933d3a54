/*
  spmvmat.h - the glue between PETSc's Mat and the formats, shared by the files of this folder and register.c

  register.c    which types there are
  matops.c      which of AIJ's operations both types replace
  matmpi.c      the parallel type: its blocks, its products
  dispatch.c    MatMult() and its kin: which kernel, which vectors
  matdense.c    products with dense matrices
  matsor.c      MatSOR(): sweeps by our kernels
  matconvert.c  AIJ <-> ours, anything <-> ours, products with other types
  exact.c       functions of PETSc that want AIJ's exact type name
  shadow.c      the storage beside AIJ's: built, brought up to date, dropped
  shadow_choose.c  what is to serve, and whether in an order of ours
  check.c       -mat_spmv_tune_check: slower than AIJ's kernel after all
  built.c       a matrix in a format, wherever it is
  transposed.c  the storage of A^T that -mat_spmv_transpose copy asks for
  matdevice.c   the storage on the device
  matvecs.c     which backend the processes agree on, where vectors live, MatBindToCPU()
  ghosts.c      entries of vectors that other processes own
  rows.c        AIJ's rows, as formats read them
  settings.c    options
  inherit.c     when they are read, and who takes over whose settings
  matfactor.c   ILU(k) and ICC(k): PETSc's factors, with solves of ours; matfactor.h
  serving.c     triangles for sweeps and solves: which shape, when they are built, their values; serving.h
  matquery.c    the public functions that ask a Mat of ours what it did
  mattune.c     the public functions that say how its format and plan are chosen
  matview.c     what -mat_spmv_view and MatView() print
  words.c       options and types that are misspelt
  matreport.c   which matrix it is and what was spent on it, for the end of a run (report/report.h)
*/
#pragma once
#include "serving.h"
#include "../../tune/tune.h"
#include "../../report/report.h"
#include <petscspmv.h>
#include <petscsf.h>

/* Values of -mat_spmv_transpose: what transposed products read */
typedef enum {
  SPMV_TRANSPOSE_SHARED, /* the storage of A */
  SPMV_TRANSPOSE_COPY,   /* a storage of A^T */
  SPMV_TRANSPOSE_COUNT
} SpmvTransposeKind;

/*
  SpmvDue: whether a storage is due. It waits for some calls by PETSc's kernel since the values changed, so that a matrix that is
  used a few times costs nothing, unless as many followed the change before
*/
typedef struct {
  PetscInt64 since;  /* calls since the values changed */
  PetscInt64 before; /* calls between that change and the one before */
  PetscInt64 most;   /* calls between two changes, up to that one */
} SpmvDue;

static inline PetscInt64 SpmvDueMost(const SpmvDue *due)
{
  return due->most > due->since ? due->most : due->since;
}

static inline void SpmvDueChanged(SpmvDue *due)
{
  if (due->since) due->before = due->since;
  due->most  = SpmvDueMost(due);
  due->since = 0;
}

static inline PetscBool SpmvDueAfter(const SpmvDue *due, PetscInt calls)
{
  return (PetscBool)(due->since >= calls || due->before >= calls);
}

/* Sweeps and solves gain more than products, so that they wait for a part of -mat_spmv_build_after, rounded up */
#define SPMV_SWEEPS_GAIN 8
#define SPMV_SOLVES_GAIN 4

static inline PetscInt SpmvDuePart(PetscInt products, PetscInt gain)
{
  return products / gain + (products % gain > 0);
}

static inline PetscBool SpmvDueForPasses(const SpmvDue *due, PetscInt products, PetscInt gain)
{
  return SpmvDueAfter(due, SpmvDuePart(products, gain));
}

/* An order costs more to make than a storage, so that it waits for so many times -mat_spmv_build_after products */
#define SPMV_ORDER_WAIT 16

/* Which order the rows and columns of a storage have */
typedef enum {
  SPMV_ORDER_AUTO, /* the one that is estimated to be faster, after SPMV_ORDER_WAIT times as many products */
  SPMV_ORDER_NONE,
  SPMV_ORDER_LEVELS,
  SPMV_ORDER_COUNT
} SpmvOrderKind;

/* What is to happen when a device fails in mid-run */
typedef enum { SPMV_ON_DEVICE_ERROR, SPMV_ON_DEVICE_FALLBACK, SPMV_ON_DEVICE_COUNT } SpmvOnDeviceError;

/* SpmvSettings: what a user wants of one Mat */
typedef struct {
  PetscBool         known;           /* the options database was read, or another Mat's settings were taken over */
  PetscBool         inherited;       /* they are another Mat's, and a prefix of this one was not looked for yet */
  PetscInt          version;         /* raised by every change, so that a parallel Mat knows when to tell its blocks */
  PetscInt          transpose;       /* a SpmvTransposeKind */
  PetscBool         transposeset;    /* the user's */
  PetscInt          build_after;     /* products by AIJ's kernel before the storage is built, >= 0 */
  PetscInt          order;           /* a SpmvOrderKind */
  PetscInt          on_device_error; /* a SpmvOnDeviceError */
  PetscBool         floats;          /* storages of products are made of values that were rounded to floats */
  PetscBool         productfloats;   /* and so they are for matrices that are products of this one */
  PetscBool         sor;             /* sweeps of MatSOR() are ours */
  PetscBool         sorfloats;       /* and read values as floats */
  PetscBool         solve;           /* solves with incomplete factors are ours */
  PetscBool         solvefloats;     /* and read values as floats */
  SpmvRequest       request;         /* formats, plans, instruction set, threads, backend, and how to choose among them */
  PetscViewer       viewer;          /* -mat_spmv_view, or NULL */
  PetscViewerFormat viewformat;
  PetscBool         check;    /* -mat_spmv_tune_check */
  PetscBool         tuneview; /* -mat_spmv_tune_view */
  PetscBool         why;      /* one of the two is set: at the end it is said why nothing was built */
} SpmvSettings;

/* SpmvRows: a matrix's rows as AIJ has them, and sorted; the same ones if they are */
typedef struct {
  SpmvCSR aij, sorted;
} SpmvRows;

struct _n_SpmvOnDevice; /* a storage on the device, see device/device.h */
struct _n_SpmvDevice;

/* SpmvBuilt: a matrix in a format. At most one of storage and device is there: none where AIJ's kernel serves */
typedef struct {
  const SpmvFormat       *format; /* NULL: nothing was built; SpmvFormat_aij: AIJ's kernel serves */
  SpmvPlan                plan;   /* as built */
  void                   *storage;
  SpmvOrder              *order; /* that the storage has its rows and columns in; NULL: as they come */
  struct _n_SpmvOnDevice *device;
  PetscLogDouble          read, own; /* bytes that a product reads, and that are not AIJ's */
} SpmvBuilt;

/* SpmvChosen: what a storage is to be made of besides the choice */
typedef struct {
  SpmvKept   kept;    /* the storage, if it was measured just now */
  SpmvOrder *order;   /* of its rows and columns; NULL: as they come */
  SpmvCSR    ordered; /* the rows in it */
} SpmvChosen;

/* SpmvTransposed: A^T, its rows and their storage */
typedef struct {
  PetscInt    *i, *j; /* [n + 1], [nz] its rows */
  PetscScalar *a;     /* [nz] */
  PetscInt    *from;  /* [nz] which entry of A each of its entries is */
  SpmvCSR      csr;   /* these arrays */
  SpmvBuilt    built;
  PetscBool    current; /* has A's values */
} SpmvTransposed;

/* SpmvGhosts: what a parallel Mat's off-diagonal block multiplies and other processes own */
typedef struct {
  PetscInt           n;
  PetscInt          *column; /* [n] the off-diagonal block's global columns */
  PetscSF            sf;     /* from local entries of x, or rows of B, to the ghosts of other processes */
  Vec                x;      /* [n] the ghosts; NULL before the first product with a vector */
  const PetscScalar *sending;
  PetscScalar       *arriving;

  /* Of a vector that only the device has, the entries that other processes want are packed there */
  PetscInt                npack;
  PetscInt               *wanted;     /* [npack] increasing */
  PetscScalar            *packed;     /* [npack] */
  PetscScalar            *fromdevice; /* [local entries] those of packed at their places; NULL before the first */
  struct _n_SpmvOnDevice *gather;     /* NULL: not made */
  PetscBool               hostonly;   /* the device had no room for that, or has failed */
} SpmvGhosts;

/* SpmvSweeps: of a sequential Mat, what serves MatSOR(), and when it was made */
typedef struct {
  SpmvServing      serving;
  PetscInt        *diagonal; /* [n] place of each row's diagonal entry, when triangles are there */
  PetscBool        touched;  /* as SpmvSeq's */
  PetscBool        noinodes; /* MatSetOption(A, MAT_USE_INODES, PETSC_FALSE) */
  PetscBool        bynodes;  /* PETSc would sweep by inodes, if there are some */
  PetscBool        nodes;    /* there are: the triangles have them */
  const char      *reason;   /* why AIJ's kernel serves this matrix; NULL: it need not */
  PetscBool        floats;   /* the triangles' values are to be floats */
  PetscReal        omega, shift;
  Mat              owner;
  PetscObjectState state, nonzerostate;
  SpmvKey          key;
  SpmvDue          due;
  SpmvSpent        spent;
  PetscLogDouble   read, bytes, build_seconds; /* bytes that sweeps read, and that are kept */
} SpmvSweeps;

#define SPMV_CHECK_TIMES 5 /* products of each kind whose medians are compared */

/* SpmvCheck: the times of products with one pattern, [0] by AIJ's kernel and [1] by the storage that was chosen */
typedef struct {
  PetscObjectState nonzerostate; /* of the matrix */
  PetscBool        done;
  PetscInt64       calls[2];
  PetscLogDouble   seconds[2][SPMV_CHECK_TIMES]; /* of the last ones */
} SpmvCheck;

/* SpmvSeq: of a sequential Mat, what serves its products, and what they were */
typedef struct {
  SpmvChoice       choice; /* what is to serve, as long as the pattern and what is asked for stay */
  SpmvRequest      asked;  /* the settings' request when it was built */
  SpmvBuilt        built;
  SpmvKey          key;          /* of the matrix when it was built */
  PetscObjectState nonzerostate; /* of the matrix then */
  PetscInt         nonzerorows;  /* rows with entries, for the flop count that AIJ logs */
  PetscBool        sorted;       /* columns increase in each of its rows */
  SpmvTransposed  *transposed;   /* NULL: not built */
  PetscBool        hostonly;     /* the device ran out of memory, or has failed */
  PetscBool        moves;        /* vectors of the present product are on the host */
  PetscBool        current;      /* what was built has the matrix's values */
  PetscBool        ordertried;   /* it was seen whether what was chosen is to have an order ... */
  PetscInt         orderkind;    /* ... when this was asked for */
  PetscBool        floats;       /* it was to have them rounded to floats, which csradaptive, that borrows them, has not */
  PetscBool        rounded;      /* and they were: none was too large */
  PetscBool        touched;      /* the parallel Mat changed: the block's own state may not tell */
  SpmvDeclared     declared;     /* of its entries, by the user */
  PetscInt         declared_block, found_block; /* sizes of square blocks: the user's, 1 if none; and those that fill it */
  PetscInt         global;                      /* of a parallel Mat, the number of its first row */
  PetscBool        is_block;                    /* of a parallel Mat, which it has its settings from */
  SpmvDue          due;                         /* products */
  SpmvCheck        check;

  SpmvSweeps sweeps;

  size_t       nwork;
  PetscScalar *work; /* [nwork] what transposed products, those with dense matrices, and sweeps write to on their way */

  SpmvCounts     counts;
  PetscInt64     choices;        /* builds, of sweeps too, and choices of AIJ's kernel */
  PetscLogDouble build_seconds;  /* of the last set-up: to make the storage, sorted rows and all, and ... */
  PetscLogDouble choose_seconds; /* ... to choose it before */
  SpmvSpent      spent;          /* on products; its least times are of those that are not transposed */
} SpmvSeq;

/* SpmvMPI: of a parallel Mat, what its processes share; its blocks have the storages */
typedef struct {
  SpmvGhosts      *ghosts;         /* NULL: not made */
  PetscBool        reassembled;    /* since they were looked at: on all processes alike, unlike the Mat's state */
  Vec              result;         /* of its products for a vector that lives on the host; NULL: not made */
  PetscInt         agreed_version; /* of the settings when a backend was agreed on, 0: never */
  PetscObjectState agreed_state;   /* of the pattern then */
} SpmvMPI;

/* SpmvParent: what PETSc's own type does, taken once from a freshly created matrix */
typedef struct {
  const char    *type; /* MATSEQAIJ or MATMPIAIJ */
  PetscBool      known;
  struct _MatOps ops;
  PetscErrorCode (*retrievevalues)(Mat);             /* MatRetrieveValues_C */
  PetscErrorCode (*kron)(Mat, Mat, MatReuse, Mat *); /* MatSeqAIJKron_C, NULL for MATMPIAIJ */
} SpmvParent;

/* SpmvShadow: A->spptr of both types */
typedef struct _n_SpmvShadow {
  struct _n_SpmvShadow *before, *next; /* of all that there are */

  const SpmvFormat *type; /* whose name the Mat's type has */
  const SpmvParent *parent;
  SpmvSettings      settings;
  SpmvLabel         label;  /* which matrix it was when it was last looked at */
  PetscBool         bound;  /* MatBindToCPU(): products run on the host */
  PetscInt          agreed; /* the backend that the parallel Mat's processes agreed on, SPMV_BACKEND_AUTO before they did */
  int               busy;   /* 1: a product is at work */
  PetscInt64        viewed; /* SpmvSeq.choices of all blocks when -mat_spmv_view printed last */

  /* The matrix when it was last looked at */
  Mat              owner; /* MatHeaderMerge() moves a shadow to another Mat */
  PetscObjectState state;
  PetscInt         version; /* of the settings */

  SpmvSeq seq;
  SpmvMPI mpi;
} SpmvShadow;

/* SpmvBlocks: the sequential matrices that have the storages of a Mat */
typedef struct {
  int         n; /* 1: the Mat itself; 2: diagonal and off-diagonal block of a parallel one; 0: it has none yet */
  Mat         mat[2];
  SpmvShadow *shadow[2];
} SpmvBlocks;

#define SPMV_BUILD_AFTER 8 /* default of -mat_spmv_build_after; docs/internals.md says how it works */

extern SpmvParent    SpmvParentSeq, SpmvParentMPI;
extern PetscLogEvent SPMV_Build, SPMV_Update, SPMV_Tune;
extern SpmvCounts    SpmvTotals; /* of all matrices destroyed since PetscInitialize(), and at the end of all */

/* sys/layouts.c */
extern PetscErrorCode SpmvCheckPetsc(void);

/* register.c */
extern PetscErrorCode SpmvFormatFind(const char type[], const SpmvFormat **format);
extern PetscErrorCode SpmvFormatCite(const SpmvFormat *format);
extern const char    *SpmvProcessOption(size_t k);

/* words.c */
extern PetscErrorCode SpmvWordsCheck(void);
extern PetscErrorCode SpmvWordsCheckTypes(void);
extern void           SpmvWordsReset(void);

/* matconvert.c */
extern PetscErrorCode SpmvParentGet(SpmvParent *parent);
extern PetscErrorCode SpmvParentReset(void);
extern PetscErrorCode MatSpmvGetParent(Mat A, SpmvParent **parent);
extern PetscErrorCode MatCreate_Spmv(Mat A, SpmvParent *parent, const SpmvFormat *format);
extern PetscErrorCode MatSpmvFromAIJ(Mat A, const SpmvFormat *format);
extern PetscErrorCode MatSpmvToAIJ(Mat A);
extern PetscErrorCode MatSpmvCompose(Mat A, const SpmvParent *parent, PetscBool ours);
extern PetscErrorCode MatConvert_Spmv(Mat A, MatType type, MatReuse reuse, Mat *M);
extern PetscErrorCode MatConvertFrom_Spmv(Mat A, MatType type, MatReuse reuse, Mat *M);

/* exact.c */
extern PetscErrorCode MatSpmvHideType(Mat A, const SpmvFormat **format);
extern PetscErrorCode MatSpmvShowType(Mat A, const SpmvFormat *format);
extern PetscErrorCode MatLUFactor_SeqSpmv(Mat A, IS row, IS column, const MatFactorInfo *info);
extern PetscErrorCode MatILUFactor_SeqSpmv(Mat A, IS row, IS column, const MatFactorInfo *info);
extern PetscErrorCode MatSeqAIJKron_SeqSpmv(Mat A, Mat B, MatReuse reuse, Mat *C);
extern PetscErrorCode SpmvRegisterExact(void);

/* matfactor.c */
extern PetscErrorCode SpmvRegisterFactors(void);

/* matops.c */
extern void MatSpmvSetOps(Mat A, const SpmvParent *parent, PetscBool ours);

/* matmpi.c */
extern PetscErrorCode MatSpmvGetBlocks(Mat A, SpmvBlocks *blocks);
extern PetscErrorCode MatSpmvProduct_MPI(Mat A, SpmvShadow *shadow, Vec x, Vec y, Vec z, PetscBool transpose);

/* dispatch.c */
extern PetscErrorCode SpmvProductAIJ(Mat A, const SpmvParent *parent, Vec x, Vec y, Vec z, PetscBool transpose);
extern PetscErrorCode MatSpmvProduct(Mat A, Vec x, Vec y, Vec z, PetscBool transpose);

/* shadow.c */
extern PetscErrorCode MatSpmvGetShadow(Mat A, SpmvShadow **shadow);
extern PetscErrorCode MatSpmvDestroyShadow(Mat A);
extern PetscErrorCode MatSpmvUpdate(Mat A, SpmvShadow *shadow, PetscBool *current);
extern PetscErrorCode SpmvShadowDrop(SpmvShadow *shadow);
extern void           SpmvCountsAdd(SpmvCounts *sum, const SpmvCounts *counts);
extern PetscErrorCode SpmvShadowGetWork(SpmvShadow *shadow, size_t n, PetscScalar **work);
extern PetscBool      MatSpmvPatternIsBuilt(Mat A, const SpmvShadow *shadow);
extern PetscBool      MatSpmvChanged(Mat A, const SpmvShadow *shadow);

/* check.c */
extern void SpmvCheckCall(SpmvCheck *check, PetscBool ours, PetscLogDouble seconds, PetscBool *lost, PetscLogDouble median[2]);
extern PetscErrorCode MatSpmvCheckAllowed(Mat A, PetscBool check, PetscInt build_after);
extern PetscErrorCode MatSpmvCheck(Mat A, SpmvShadow *shadow, PetscBool ours, PetscLogDouble seconds);

/* matreport.c */
extern void           SpmvShadowBorn(SpmvShadow *shadow);
extern void           SpmvShadowGone(SpmvShadow *shadow);
extern PetscErrorCode MatSpmvLabel(Mat A, SpmvShadow *shadow);
extern void           SpmvLabelBlock(const SpmvShadow *shadow, int k, SpmvShadow *block);
extern PetscErrorCode MatSpmvCoarsened(Mat C);
extern PetscErrorCode MatSpmvInheritLevel(Mat A, Mat B);
extern PetscInt       SpmvRowsBlock(const SpmvCSR *csr);
extern PetscErrorCode SpmvDueWhy(const SpmvDue *due, PetscInt64 calls, PetscInt needed, const char work[], char why[],
                                 size_t size);
extern PetscErrorCode SpmvNothingBuilt(const SpmvLabel *label, const char why[]);
extern PetscErrorCode SpmvShadowEnds(const SpmvShadow *shadow);
extern PetscErrorCode SpmvLiveFinalize(void);

/* shadow_choose.c */
extern PetscBool      SpmvOrderWorthLook(const SpmvShadow *shadow);
extern PetscErrorCode SpmvShadowReconsider(const SpmvShadow *s, const SpmvCSR *csr, PetscBool *other);
extern PetscErrorCode SpmvShadowChoose(Mat A, SpmvShadow *shadow, const SpmvCSR *csr, PetscBool ordered, SpmvKept *kept);
extern PetscErrorCode SpmvShadowFindOrder(Mat A, SpmvShadow *shadow, const SpmvCSR *csr, SpmvChosen *chosen);
extern PetscErrorCode SpmvChosenDestroy(SpmvChosen *chosen);
extern PetscErrorCode MatSpmvFaster(Mat A, SpmvShadow *shadow, PetscInt *backend);

/* built.c */
extern PetscErrorCode SpmvBuiltCreate(Mat A, SpmvShadow *shadow, const SpmvCSR *csr, PetscInt number, const SpmvPlan *plan,
                                      SpmvKept *kept, SpmvOrder **order, SpmvBuilt *built, PetscBool *nomem);
extern PetscErrorCode SpmvBuiltSetValues(Mat A, SpmvShadow *shadow, const SpmvCSR *csr, SpmvBuilt *built, PetscBool *nomem);
extern PetscBool      SpmvBuiltExists(const SpmvBuilt *built);
extern PetscErrorCode SpmvBuiltArrays(const SpmvBuilt *built, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode SpmvBuiltDescribe(const SpmvBuilt *built, PetscInt k, char line[], size_t size);
extern PetscErrorCode SpmvBuiltDestroy(SpmvBuilt *built);

/* transposed.c */
extern PetscErrorCode MatSpmvGetTransposed(Mat A, SpmvShadow *shadow, const SpmvBuilt **built);
extern PetscLogDouble SpmvTransposedBytes(const SpmvTransposed *transposed);
extern PetscErrorCode SpmvTransposedDestroy(SpmvTransposed **transposed);

/* matdevice.c */
extern PetscErrorCode MatSpmvUnused(const SpmvShadow *shadow, char line[], size_t size);
extern PetscErrorCode MatSpmvBackend(const SpmvShadow *shadow, PetscInt entries, PetscInt *backend);
extern PetscErrorCode MatSpmvLeaveDevice(SpmvShadow *shadow, struct _n_SpmvDevice *device, const char format[]);
extern PetscErrorCode SpmvProductDevice(struct _n_SpmvOnDevice *on, Vec x, Vec y, Vec z, PetscBool *nomem);
extern PetscErrorCode MatSpmvGetTransfers(Mat A, PetscLogDouble counts[6]);
extern PetscErrorCode MatSpmvDeviceRepeat(Mat A, PetscInt n);

/* matquery.c */
extern PetscErrorCode MatSpmvGetSetup(Mat A, PetscLogDouble *choosing, PetscLogDouble *making, PetscLogDouble *predicted);

/* matvecs.c */
extern int            SpmvInsideAssembly;
extern PetscErrorCode MatSpmvAgreeOnBackend(Mat A, PetscInt *backend);
extern PetscErrorCode MatSpmvBind(Mat A, PetscBool bound);
extern PetscErrorCode SpmvVecCreateLocal(PetscInt n, Vec *v);
extern PetscErrorCode MatCreateVecs_Spmv(Mat A, Vec *right, Vec *left);

/* ghosts.c */
extern PetscErrorCode MatSpmvGetGhosts(Mat A, SpmvShadow *shadow, SpmvGhosts **ghosts);
extern PetscErrorCode SpmvGhostsBegin(SpmvGhosts *ghosts, Vec x);
extern PetscErrorCode SpmvGhostsEnd(SpmvGhosts *ghosts, Vec x);
extern PetscErrorCode SpmvGhostsDestroy(SpmvGhosts **ghosts);

/* matsor.c */
extern void           MatSpmvGiveBackDiagonalBlock(Mat A);
extern PetscErrorCode MatSOR_SeqSpmv(Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt lits,
                                     Vec x);
extern PetscErrorCode MatSOR_MPISpmv(Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt lits,
                                     Vec x);
extern PetscErrorCode SpmvSweepsDestroy(SpmvSweeps *sweeps);

/* matdense.c */
extern PetscErrorCode MatProductSetFromOptions_Spmv_Dense(Mat C, PetscBool *taken);

/* rows.c */
extern PetscErrorCode MatSpmvGetRows(Mat A, SpmvCSR *csr);
extern PetscErrorCode MatSpmvGetDeclared(Mat A, SpmvDeclared *declared);
extern PetscErrorCode MatSpmvGetNodes(Mat A, PetscInt *n, PetscInt **nodes);
extern PetscInt       SpmvRowsNonzero(const SpmvCSR *csr);
extern PetscBool      SpmvRowsSorted(const SpmvCSR *csr);
extern PetscErrorCode SpmvRowsSort(SpmvCSR *csr, PetscInt **j, PetscScalar **a);
extern PetscErrorCode SpmvRowsRound(SpmvCSR *csr, PetscScalar **a, PetscBool *good);
extern void           SpmvRound(size_t n, PetscScalar a[], PetscBool *good);
extern SpmvKey        SpmvRowsKey(const SpmvCSR *csr);

/* settings.c */
extern PetscInt       SpmvSideFind(const SpmvSide *side, const char name[]);
extern PetscErrorCode MatSpmvReadOptions(Mat A, SpmvOptionItems PetscOptionsObject);
extern void           SpmvRequestFloats(SpmvRequest *request);

/* inherit.c */
extern PetscErrorCode MatSpmvEnsureSettings(Mat A);
extern PetscErrorCode MatSpmvInheritSettings(Mat A, Mat B);
extern PetscErrorCode MatSpmvInheritByDuplicate(Mat A, Mat B);
extern PetscErrorCode MatSpmvInheritFromFactors(Mat A);

/* matquery.c */
extern PetscErrorCode SpmvShadowPlan(const SpmvShadow *shadow, char plan[], size_t size);

/* matview.c */
extern PetscErrorCode MatSpmvViewDetail(Mat A, PetscViewer viewer);
extern PetscErrorCode MatSpmvViewBuilt(Mat A);
