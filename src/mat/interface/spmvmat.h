/*
  spmvmat.h - the glue between PETSc's Mat and the formats, shared by the files of this folder and register.c

  register.c    which types there are
  matseq.c      the sequential type: its operations
  matmpi.c      the parallel type: its operations
  matdense.c    products with dense matrices
  matconvert.c  AIJ <-> ours, anything <-> ours, products with other types
  exact.c       functions of PETSc that want AIJ's exact type name
  dispatch.c    MatMult() and its kin: which kernel, which vectors
  shadow.c      the storage beside AIJ's: built, brought up to date, forgotten
  built.c       a matrix in a format, wherever it is
  transposed.c  the storage of A^T that -mat_spmv_transpose copy asks for
  matdevice.c   the storage on the device
  matvecs.c     which backend the processes agree on, where vectors live, MatBindToCPU()
  ghosts.c      entries of vectors that other processes own
  rows.c        AIJ's rows, on loan for a build or a refresh
  settings.c    options, and who inherits them
  matquery.c    the public functions that a program may ask a Mat of ours with
  mattune.c     those that say how its format and plan are chosen
  matview.c     what -mat_spmv_view and MatView() print
*/
#pragma once
#include "../../tune/tune.h"
#include <petscspmv.h>
#include <petscsf.h>

/* Values of -mat_spmv_transpose: what transposed products read */
typedef enum {
  SPMV_TRANSPOSE_SHARED, /* the storage of A */
  SPMV_TRANSPOSE_COPY,   /* a storage of A^T */
  SPMV_TRANSPOSE_COUNT
} SpmvTransposeKind;

/* SpmvSettings: what a user wants of one Mat */
typedef struct {
  PetscBool         known;       /* the options database was read, or a parent's settings were taken over */
  PetscInt          version;     /* raised by every change, so that a parallel Mat knows when to tell its blocks */
  PetscInt          transpose;   /* a SpmvTransposeKind */
  PetscInt          build_after; /* products by AIJ's kernel before the storage is built, >= 0 */
  SpmvRequest       request;     /* formats, plans, instruction set, threads, backend, and how to choose among them */
  PetscViewer       viewer;      /* -mat_spmv_view, or NULL */
  PetscViewerFormat viewformat;
  PetscBool         tuneview; /* -mat_spmv_tune_view */
} SpmvSettings;

/* SpmvRows: AIJ's arrays on loan, and sorted copies of them */
typedef struct {
  SpmvCSR            csr;
  PetscInt          *j; /* [nz] NULL unless a row was not sorted */
  PetscScalar       *a;
  const PetscInt    *aij_i, *aij_j;
  const PetscScalar *aij_a;
} SpmvRows;

struct _n_SpmvOnDevice; /* a storage on the device, see device/device.h */

/* SpmvBuilt: a matrix in a format. At most one of storage and device is there: none where AIJ's kernel serves */
typedef struct {
  const SpmvFormat       *format; /* NULL: nothing was built; SpmvFormat_aij: AIJ's kernel serves */
  SpmvPlan                plan;   /* as built */
  void                   *storage;
  struct _n_SpmvOnDevice *device;
  PetscLogDouble          read, own; /* bytes that a product reads, and that are not AIJ's */
} SpmvBuilt;

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
  PetscInt     n;
  PetscInt    *column; /* [n] the off-diagonal block's global columns */
  PetscSF      sf;     /* from the packs to the ghosts */
  PetscInt     npack;  /* entries of x, or rows of B, that others want */
  PetscInt    *which;  /* [npack] increasing */
  PetscScalar *packed; /* [npack] of x */
  Vec          x;      /* [n] the ghosts; NULL before the first product with a vector */
  PetscScalar *arriving;

  struct _n_SpmvOnDevice *gather;   /* packs on the device; NULL: not made */
  PetscBool               hostonly; /* the device had no room for that */
} SpmvGhosts;

/* SpmvSeq: of a sequential Mat, what serves its products, and what they were */
typedef struct {
  SpmvChoice       choice; /* what is to serve, as long as the pattern and what is asked for stay */
  SpmvBuilt        built;
  SpmvKey          key;          /* of the matrix when it was built */
  PetscObjectState nonzerostate; /* of the matrix then */
  PetscInt         nonzerorows;  /* rows with entries, for the flop count that AIJ logs */
  PetscBool        sorted;       /* columns increase in each of its rows */
  SpmvTransposed  *transposed;   /* NULL: not built */
  PetscBool        hostonly;     /* the device ran out of memory */
  PetscBool        current;      /* what was built has the matrix's values */
  PetscBool        touched;      /* the parallel Mat changed: the block's own state may not tell */
  PetscBool        member;       /* a block of a parallel Mat that has its settings from that */
  PetscInt64       since;        /* products since the values changed */
  PetscInt64       before;       /* products between that change and the one before */

  size_t       nwork;
  PetscScalar *work; /* [nwork] what transposed products and those with dense matrices write to on their way, made at the first */

  SpmvCounts     counts;
  PetscInt64     settled;       /* times that it was settled what serves: builds, and choices of AIJ's kernel */
  PetscLogDouble build_seconds; /* of the last build */
  PetscLogDouble aij_seconds;   /* least time of a product by AIJ's kernel, 0 if there was none */
  PetscLogDouble own_seconds;   /* least time of a product by ours */
} SpmvSeq;

/* SpmvMPI: of a parallel Mat, what its processes share; its blocks have the storages */
typedef struct {
  SpmvGhosts      *ghosts;         /* NULL: not made */
  PetscBool        reassembled;    /* since they were looked at: on all processes alike, unlike the Mat's state */
  Vec              result;         /* of its products for a vector that lives on the host; NULL: not made */
  PetscInt         agreed_version; /* of the settings when a backend was agreed on, 0: never */
  PetscObjectState agreed_state;   /* of the pattern then */
} SpmvMPI;

/* SpmvShadow: A->spptr of both types */
typedef struct {
  const SpmvFormat *type; /* whose name the Mat's type has */
  SpmvSettings      settings;
  PetscBool         bound; /* MatBindToCPU(): products run on the host */
  PetscInt   agreed; /* the backend that the processes of the parallel Mat agreed on, SPMV_BACKEND_AUTO if they did not yet */
  PetscInt64 viewed; /* SpmvSeq.settled of all blocks when -mat_spmv_view printed last */

  /* The matrix when it was last looked at */
  Mat              owner; /* MatHeaderMerge() moves a shadow to another Mat */
  PetscObjectState state;
  PetscInt         version; /* of the settings */

  SpmvSeq seq;
  SpmvMPI mpi;
} SpmvShadow;

/* SpmvParent: what PETSc's own type does, taken once from a freshly created matrix */
typedef struct {
  const char    *type; /* MATSEQAIJ or MATMPIAIJ */
  PetscBool      known;
  struct _MatOps ops;
  PetscErrorCode (*retrievevalues)(Mat);             /* MatRetrieveValues_C */
  PetscErrorCode (*kron)(Mat, Mat, MatReuse, Mat *); /* MatSeqAIJKron_C */
} SpmvParent;

#define SPMV_BUILD_AFTER 16 /* default of -mat_spmv_build_after; README.md, "When the storage is built", says how it works */

extern SpmvParent    SpmvParentSeq, SpmvParentMPI;
extern PetscLogEvent SPMV_Build, SPMV_Update, SPMV_Tune;
extern SpmvCounts    SpmvTotals; /* of all matrices destroyed since PetscInitialize() */

/* sys/layouts.c */
extern PetscErrorCode SpmvCheckPetsc(void);

/* register.c */
extern PetscErrorCode SpmvFormatFind(const char type[], const SpmvFormat **format);
extern PetscErrorCode SpmvFormatCite(const SpmvFormat *format);

/* matconvert.c */
extern PetscErrorCode SpmvParentGet(SpmvParent *parent);
extern PetscErrorCode SpmvParentReset(void);
extern PetscErrorCode MatSpmvGetParent(Mat A, SpmvParent **parent);
extern PetscErrorCode MatCreate_Spmv(Mat A, SpmvParent *parent, const SpmvFormat *format);
extern PetscErrorCode MatSpmvBecome(Mat A, const SpmvFormat *format);
extern PetscErrorCode MatSpmvRevert(Mat A);
extern PetscErrorCode MatSpmvCompose(Mat A, SpmvParent *parent, PetscBool ours);
extern PetscErrorCode MatDestroy_Spmv(Mat A, SpmvParent *parent);
extern PetscErrorCode MatConvert_SeqAIJ_SeqSpmv(Mat A, MatType type, MatReuse reuse, Mat *M);

/* exact.c */
extern PetscErrorCode MatSpmvBearParent(Mat A, char name[]);
extern PetscErrorCode MatSpmvBearOwn(Mat A, const char name[]);
extern PetscErrorCode MatLUFactor_SeqSpmv(Mat A, IS row, IS column, const MatFactorInfo *info);
extern PetscErrorCode MatILUFactor_SeqSpmv(Mat A, IS row, IS column, const MatFactorInfo *info);
extern PetscErrorCode MatSeqAIJKron_SeqSpmv(Mat A, Mat B, MatReuse reuse, Mat *C);
extern PetscErrorCode SpmvRegisterExact(void);

/* matseq.c, matmpi.c */
extern PetscErrorCode MatSpmvSetOps_Seq(Mat A, PetscBool ours);
extern PetscErrorCode MatSpmvSetOps_MPI(Mat A, PetscBool ours);
extern PetscErrorCode MatSpmvPrepareBlocks(Mat A, Mat blocks[2]);

/* shadow.c */
extern PetscErrorCode MatSpmvGetShadow(Mat A, SpmvShadow **shadow);
extern PetscErrorCode MatSpmvDestroyShadow(Mat A);
extern PetscErrorCode MatSpmvUpdate(Mat A, SpmvShadow *shadow, PetscBool *current);
extern PetscErrorCode SpmvShadowForget(SpmvShadow *shadow);
extern void           SpmvCountsAdd(SpmvCounts *sum, const SpmvCounts *counts);
extern PetscErrorCode SpmvShadowRoom(SpmvShadow *shadow, size_t n, PetscScalar **room);
extern PetscBool      MatSpmvServes(Mat A, const SpmvShadow *shadow);
extern PetscBool      MatSpmvChanged(Mat A, const SpmvShadow *shadow);

/* built.c */
extern PetscErrorCode SpmvBuiltCreate(const SpmvShadow *shadow, const SpmvCSR *csr, PetscInt number, const SpmvPlan *plan,
                                      SpmvBuilt *built, PetscBool *nomem);
extern PetscErrorCode SpmvBuiltSetValues(const SpmvCSR *csr, SpmvBuilt *built, PetscBool *nomem);
extern PetscBool      SpmvBuiltIsThere(const SpmvBuilt *built);
extern PetscErrorCode SpmvBuiltArrays(const SpmvBuilt *built, PetscInt *n, SpmvArray arrays[]);
extern PetscErrorCode SpmvBuiltDescribe(const SpmvBuilt *built, PetscInt k, char line[], size_t size);
extern PetscErrorCode SpmvBuiltDestroy(SpmvBuilt *built);

/* transposed.c */
extern PetscErrorCode MatSpmvGetTransposed(Mat A, SpmvShadow *shadow, const SpmvBuilt **built);
extern PetscErrorCode SpmvTransposedDestroy(SpmvTransposed **transposed);

/* matdevice.c */
extern PetscErrorCode MatSpmvBackend(const SpmvShadow *shadow, PetscInt entries, PetscInt *backend);
extern PetscErrorCode MatSpmvOutOfMemory(SpmvShadow *shadow, const SpmvKey *key, const char format[]);
extern PetscErrorCode SpmvOnDeviceProduct(struct _n_SpmvOnDevice *on, Vec x, Vec z, PetscBool beta, PetscBool *nomem);
extern PetscErrorCode SpmvDeviceName(const char **name);
extern PetscErrorCode MatSpmvGetTransfers_Spmv(Mat A, PetscLogDouble counts[6]);
extern PetscErrorCode MatSpmvDeviceRepeat_Spmv(Mat A, PetscInt n);

/* matvecs.c */
extern int            SpmvInsideAssembly;
extern PetscErrorCode MatSpmvAgree(Mat A, PetscInt *backend);
extern PetscErrorCode MatSpmvBind(Mat A, PetscBool bound);
extern PetscErrorCode MatCreateVecs_Spmv(Mat A, Vec *right, Vec *left);

/* ghosts.c */
extern PetscErrorCode MatSpmvGetGhosts(Mat A, SpmvShadow *shadow, SpmvGhosts **ghosts);
extern PetscErrorCode SpmvGhostsBegin(SpmvGhosts *ghosts, Vec x);
extern PetscErrorCode SpmvGhostsEnd(SpmvGhosts *ghosts);
extern void SpmvGhostsPackRows(const SpmvGhosts *ghosts, PetscInt width, const PetscScalar rows[], PetscScalar packed[]);
extern void SpmvGhostsAddRows(const SpmvGhosts *ghosts, PetscInt width, const PetscScalar packed[], PetscScalar rows[]);
extern PetscErrorCode SpmvGhostsDestroy(SpmvGhosts **ghosts);

/* matdense.c */
extern PetscErrorCode MatProductSetFromOptions_Spmv_Dense(Mat C, PetscBool *taken);

/* rows.c */
extern PetscErrorCode SpmvRowsGet(Mat A, SpmvRows *rows);
extern PetscErrorCode SpmvRowsRestore(Mat A, SpmvRows *rows);
extern PetscInt       SpmvRowsNonzero(const SpmvCSR *csr);
extern PetscBool      SpmvRowsSorted(const SpmvRows *rows);
extern PetscErrorCode SpmvRowsSort(SpmvRows *rows);
extern void           SpmvRowsFor(const SpmvSide *side, SpmvRows *rows);
extern SpmvKey        SpmvRowsKey(const SpmvRows *rows);

/* dispatch.c */
extern PetscErrorCode MatMult_SeqSpmv(Mat, Vec, Vec);
extern PetscErrorCode MatMultAdd_SeqSpmv(Mat, Vec, Vec, Vec);
extern PetscErrorCode MatMultTranspose_SeqSpmv(Mat, Vec, Vec);
extern PetscErrorCode MatMultTransposeAdd_SeqSpmv(Mat, Vec, Vec, Vec);

/* settings.c */
extern PetscErrorCode MatSpmvSettingsProcess(Mat A, SpmvOptionItems PetscOptionsObject);
extern PetscErrorCode MatSpmvSettingsNeed(Mat A);
extern PetscErrorCode MatSpmvSettingsInherit(Mat A, Mat B);
extern PetscErrorCode MatSpmvDuplicated(Mat A, SpmvParent *parent, Mat B);
extern PetscErrorCode MatSpmvSettingsInheritAll(Mat A, PetscInt n, MatReuse reuse, Mat B[]);
extern PetscErrorCode MatSpmvSettingsFromProduct(Mat A);
extern PetscErrorCode SpmvSettingsReset(SpmvSettings *settings);

/* matquery.c */
extern PetscErrorCode MatSpmvGetBlocks(Mat A, Mat blocks[2], PetscBool *parallel);
extern PetscErrorCode MatSpmvComposeQueries(Mat A, PetscBool ours);
extern PetscErrorCode SpmvShadowPlan(const SpmvShadow *shadow, char plan[], size_t size);

/* mattune.c */
extern PetscErrorCode MatSpmvComposeTune(Mat A, PetscBool ours);

/* matview.c */
extern PetscErrorCode MatSpmvViewDetail(Mat A, PetscViewer viewer);
extern PetscErrorCode MatSpmvViewBuilt(Mat A);
