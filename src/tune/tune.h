/*
  tune.h - the tuner: which format, under which plan, is to serve the products of a matrix

  It knows formats by their number in formats.h only, and no Mat: products by AIJ's kernel are a call of the glue's.
*/
#pragma once
#include "../host/machine.h"
#include "../host/order.h"
#include "target.h"
#include <petscspmv.h>

#define SPMV_TUNE_COUNT (SPMV_TUNE_PATIENT + 1)

/* The candidates: formats in the order of formats.h, and AIJ's own kernel */
enum {
#define SPMV_FORMAT(name) SPMV_NUMBER_##name,
#include "../formats.h"
#undef SPMV_FORMAT
  SPMV_NUMBER_AIJ,
  SPMV_CANDIDATES
};

#define SPMV_FORMAT(name) extern const SpmvFormat SpmvFormat_##name;
#include "../mattypes.h"
#undef SPMV_FORMAT

extern const SpmvFormat        SpmvFormat_aij; /* aij.c: has no storage, AIJ's kernel serves */
extern const SpmvFormat *const SpmvCandidate[SPMV_CANDIDATES];

/* SpmvRequest: what a choice depends on besides the matrix. No padding: requests are compared as memory */
typedef struct {
  PetscReal seconds; /* that measuring may take, > 0 */
  PetscReal calls;   /* products that are expected to follow, > 0; 0: so many that set-up does not count */
  PetscInt  kind;    /* an SpmvTuneKind */
  PetscInt  isa;     /* an SpmvIsa; SPMV_ISA_COUNT for the best that this machine has */
  PetscInt  allowed; /* bit k: candidate number k may be chosen */
  PetscInt  skipped; /* bit k: heuristic number k of SpmvHeuristics is not used */
  PetscInt  backend; /* an SpmvBackend */
  PetscInt  threads;
  PetscInt  pinned[2][SPMV_CANDIDATES]; /* by backend; bit k: knob number k of that format's side is the user's */
  SpmvPlan  host[SPMV_CANDIDATES];      /* as asked for */
  SpmvPlan  device[SPMV_CANDIDATES];
  char      wisdom[PETSC_MAX_PATH_LEN];
} SpmvRequest;

/* SpmvKey: what a matrix is recognised by */
typedef struct {
  PetscInt m, n, nz;
  uint64_t pattern; /* hash of some of its row pointers and columns */
} SpmvKey;

/* SpmvOption: a candidate under a plan, and what is known of it */
typedef struct {
  PetscInt       number; /* of the candidate; negative: none */
  SpmvPlan       plan;
  PetscLogDouble predicted; /* seconds of a product; 0: no estimate was made */
  PetscLogDouble measured;  /* 0: not measured */
  PetscLogDouble build;     /* seconds to make the storage, predicted or, if the product is, measured */
  PetscLogDouble bytes;     /* that a product reads of the storage, predicted */
} SpmvOption;

/* Where a choice comes from */
typedef enum {
  SPMV_FROM_ASKED,
  SPMV_FROM_ESTIMATE,
  SPMV_FROM_MEASURE,
  SPMV_FROM_WISDOM,
  SPMV_FROM_CHECK,
  SPMV_FROM_EMPTY,
  SPMV_FROM_COUNT
} SpmvFrom;

/* SpmvReach: how often the entries of x, as rows come, are in none of some caches */
typedef struct {
  PetscLogDouble accesses;         /* entries that were looked at, 0 as long as none were */
  PetscLogDouble far[SPMV_LEVELS]; /* of these: their line of x was in no level before this one, nor prefetched; [0] is not set */
  PetscLogDouble beside[SPMV_LEVELS]; /* the same where y, as it is written out of order, takes as much of the caches as x */
} SpmvReach;

/* SpmvChoice: what serves a matrix, and why */
typedef struct {
  PetscBool      known;
  SpmvKey        key;
  uint64_t       values;  /* what tells values apart where wisdom is looked for (SpmvChoiceFromWisdom()); else 0 */
  SpmvRequest    request; /* that it answers */
  PetscInt       backend; /* that it was made for: SPMV_BACKEND_AUTO if host and device were compared */
  PetscBool      moves;   /* it was with vectors on the host, which a device's products send and receive */
  SpmvFrom       from;
  SpmvOption     best, second;
  PetscInt       estimated, measured;           /* options looked at in each way */
  PetscInt       products;                      /* run to measure */
  PetscLogDouble seconds;                       /* that measuring took */
  PetscInt       compiled, reused;              /* programs of a device: made from source; from disk or memory */
  PetscLogDouble predicted[2][SPMV_CANDIDATES]; /* by backend, the least for a product by each candidate; 0: not looked at */
  SpmvReach      reach;                         /* how the host's products read x, if that was looked at */
  char           left[512];                     /* candidates that are allowed and were not looked at, and why, for the host */
} SpmvChoice;

/* SpmvHeuristic: a rule that keeps options from being measured, -mat_spmv_tune_<name> */
typedef struct {
  const char *name, *help;
} SpmvHeuristic;

/* Number k - 1 is the rule for knobs of kind k; the last one is for all options */
#define SPMV_HEURISTICS      SPMV_KNOB_COUNT
#define SPMV_HEURISTIC_MODEL (SPMV_HEURISTICS - 1)
extern const SpmvHeuristic SpmvHeuristics[SPMV_HEURISTICS];

#define SPMV_CHOICE_LINES 4 /* of SpmvChoiceText() */

/* What is asked of a candidate for a backend */
static inline const SpmvPlan *SpmvAsked(const SpmvRequest *q, PetscInt number, PetscInt backend)
{
  return backend == SPMV_BACKEND_DEVICE ? &q->device[number] : &q->host[number];
}

/* A product by AIJ's own kernel, to be timed */
typedef PetscErrorCode SpmvBaselineFn(void *context);

/* What a sample is for, the largest first */
typedef enum {
  SPMV_SAMPLE_FORMATS, /* to choose among formats */
  SPMV_SAMPLE_PAIR,    /* to choose one of two plans of a format */
  SPMV_SAMPLE_PLANS    /* to choose among the plans that a format proposes */
} SpmvSampleUse;

/* SpmvSample: windows of consecutive rows, and how x is read */
typedef struct {
  const SpmvCSR    *all;
  const SpmvTarget *target;  /* that plans for a device are estimated for; NULL: none */
  PetscInt          longest; /* number of the longest row, plus 1; 0: not known */
  PetscInt          nwindows;
  SpmvCSR          *window;  /* [nwindows] */
  PetscInt         *i;       /* their row pointers, one after the other */
  PetscReal        *weight;  /* [nwindows] how many times the work of a window counts */
  PetscInt         *ordered; /* [nwindows] rows that were taken by length together, ... */
  PetscLogDouble   *near;    /* ... [nwindows] and lines of x that the first cache lacked then; 0 rows: not known */

  SpmvReach host;   /* this processor's caches */
  SpmvReach device; /* the target's one cache: far[1] */
} SpmvSample;

/* SpmvTerms: what the time of a product is made of, before the rates of a machine make seconds of it */
typedef struct {
  SpmvWork       work;
  PetscLogDouble sharers; /* threads that the work is shared by */
  PetscLogDouble slower;  /* by how much all of the work takes longer than with the best instruction set */
  PetscLogDouble crowd;   /* SpmvMachineCrowd() of the sharers */
  PetscLogDouble bytes;   /* that are read and written, x and y among them */
  PetscLogDouble near;    /* entries of x that the first cache does not have, but would if rows were taken as they come */
  PetscLogDouble level;   /* of memory that they come from, if they are read over and over; 2.3: a third of them from level 3 */
  PetscLogDouble
    far[SPMV_LEVELS]; /* lines of vectors that are waited for: they are in no level before this one; [0] is not set */
} SpmvTerms;

/* SpmvKept: the storage of an option of the host that was measured, so that it need not be built again; it borrows nothing */
typedef struct {
  PetscInt  number;
  SpmvPlan  asked, plan; /* the option's, and what it was resolved to */
  SpmvOwned own;         /* without a storage: nothing is kept */
} SpmvKept;

/* SpmvSearch: the options that are looked at for a matrix */
typedef struct {
  const SpmvRequest *request;
  PetscLogDouble     moving; /* seconds that a product by the device moves vectors for, where that is to count */
  SpmvBaselineFn    *baseline;
  void              *context; /* of baseline */
  SpmvSample         sample;
  PetscInt           n;
  SpmvOption        *option;                  /* [n] */
  char               why[512];                /* why the last option was not added; empty: it was, or is there */
  SpmvChoice        *choice;                  /* that will be made; counts what was measured */
  PetscInt           measured[2];             /* options, by backend, besides AIJ's kernel */
  PetscLogDouble     off[2][SPMV_CANDIDATES]; /* by backend, measured over predicted of the best; 0: none was measured */
  SpmvKept           kept;                    /* of the least cost that was measured */
  void              *fastest;                 /* on the device: the storage that others take turns with; NULL: there is none */
  PetscLogDouble     fastest_s;               /* seconds of its products, as they were measured */
  PetscScalar       *x, *y;                   /* of products that are measured */
  PetscLogDouble     start;                   /* of measuring */
} SpmvSearch;

/* plan.c: plans as text */
extern PetscBool      SpmvParamAllows(const SpmvParam *param, PetscInt value);
extern PetscErrorCode SpmvPlanText(const SpmvSide *side, const SpmvPlan *plan, char text[], size_t size);
extern PetscErrorCode SpmvPlanRead(const SpmvSide *side, const char text[], SpmvPlan *plan, PetscBool *good);

/* sample.c: rows that stand for all */
extern PetscErrorCode SpmvSampleCreate(const SpmvCSR *csr, SpmvSampleUse use, SpmvSample *sample);
extern PetscErrorCode SpmvSampleReach(SpmvSample *sample);
extern PetscErrorCode SpmvSampleReachDevice(SpmvSample *sample);
extern PetscErrorCode SpmvSampleWait(const SpmvCSR *csr, SpmvReach *reach, PetscLogDouble *wait);
extern PetscErrorCode SpmvSampleDestroy(SpmvSample *sample);

/* estimate.c: the work of plans on the sample, and the time that a machine takes for it */
extern PetscErrorCode SpmvEstimateTerms(SpmvSample *sample, PetscInt isa, PetscInt number, PetscInt n, const SpmvPlan plans[],
                                        SpmvTerms terms[]);
extern PetscLogDouble SpmvFarWait(const SpmvMachine *machine, PetscLogDouble crowd, PetscLogDouble level,
                                  const PetscLogDouble far[]);
extern PetscLogDouble SpmvSeconds(const SpmvMachine *machine, const SpmvTerms *terms);
extern PetscLogDouble SpmvLineTime(PetscLogDouble bytes);
extern PetscLogDouble SpmvPassesSeconds(const SpmvWork *work, PetscInt n, const PetscLogDouble far[], PetscLogDouble slower);
extern PetscLogDouble SpmvSharers(const SpmvCSR *csr, PetscInt threads);
extern PetscErrorCode SpmvEstimate(SpmvSample *sample, PetscInt isa, PetscInt number, PetscInt n, const SpmvPlan plans[],
                                   SpmvOption options[]);

/* choose.c: the knobs that a plan leaves open, by estimate of the plans that its format proposes */
extern PetscErrorCode SpmvPlanChoose(const SpmvCSR *csr, PetscInt isa, const SpmvTarget *target, PetscInt number, SpmvPlan *plan,
                                     PetscInt *estimated);

/* order.c: whether rows and columns in an order of ours are worth it */
extern PetscErrorCode SpmvOrderWait(const SpmvCSR *csr, SpmvReach *reach, PetscLogDouble *wait);
extern PetscBool      SpmvOrderMayPay(const SpmvCSR *csr, PetscLogDouble wait, PetscReal calls, const SpmvOption *serves,
                                      PetscInt threads);
extern PetscLogDouble SpmvOrderSeconds(const SpmvCSR *csr);
extern PetscErrorCode SpmvOrderPays(const SpmvCSR *csr, const SpmvOrder *order, PetscReal calls, const SpmvOption *serves,
                                    const SpmvOption *ordered, PetscBool *pays);

/* search.c: which options are worth measuring */
extern PetscErrorCode SpmvSearchAdd(SpmvSearch *search, PetscInt number, const SpmvPlan *plan);
extern PetscErrorCode SpmvSearchFrom(SpmvSearch *search, PetscInt own);
extern PetscBool      SpmvSearchSameShape(const SpmvOption *a, const SpmvOption *b);
extern PetscErrorCode SpmvSearchAround(SpmvSearch *search, PetscInt number, const SpmvPlan *centre);
extern PetscErrorCode SpmvSearchDestroy(SpmvSearch *search);

/* measure.c: which options are built and run */
extern PetscErrorCode SpmvMeasure(SpmvSearch *search);
extern PetscLogDouble SpmvMeasureCost(const SpmvSearch *search);
extern PetscErrorCode SpmvMeasureTime(PetscLogDouble *seconds);
extern void           SpmvMeasureBy(PetscErrorCode (*clock)(PetscLogDouble *seconds));

/* measure_host.c: builds and runs one of the host; a storage that is kept */
extern PetscErrorCode SpmvMeasureHost(SpmvSearch *search, SpmvOption *option);
extern PetscLogDouble SpmvMeasureHostNeeds(const SpmvSearch *search, const SpmvOption *option);
extern PetscBool      SpmvKeptIs(const SpmvKept *kept, PetscInt number, const SpmvPlan *asked);
extern PetscErrorCode SpmvKeptDestroy(SpmvKept *kept);

#define SPMV_MEASURED \
  7 /* products of an option of a device, at least, the first not timed: it brings things into cache; and ... */
#define SPMV_MEASURED_SECONDS 0.005 /* ... so many that they take this time, but no more than a hundred */

/* measure_device.c: the same of a device, and the best options of it once more */
extern PetscErrorCode SpmvMeasureDevice(SpmvSearch *search, const SpmvOption *option, PetscLogDouble *measured,
                                        PetscLogDouble *build);
extern PetscErrorCode SpmvMeasureAgain(SpmvSearch *search);

/* calibrate.c and its kin: rates of this machine, from products of matrices that are made for it, and what else is measured of
   it */
#define SPMV_CALIBRATE_SECONDS 0.015 /* to measure something in, about, ... */
#define SPMV_CALIBRATE_BATCHES 5     /* ... and how many times at least */
/* Makes a matrix, its sizes divided by `part`, to be freed by SpmvCalibrateMatrixDestroy(); csr->m = 0: there are no more */
typedef PetscErrorCode SpmvCalibrateMatrixFn(PetscInt number, PetscInt part, SpmvCSR *csr, char name[], size_t size);
extern PetscErrorCode  SpmvCalibrate(PetscInt part, SpmvCalibrateMatrixFn *matrix, SpmvMachine *machine, PetscLogDouble *error);
extern PetscErrorCode  SpmvCalibrateTime(void (*run)(void *context), void *context, PetscLogDouble *seconds);
extern PetscErrorCode  SpmvCalibrateLast(PetscInt part, SpmvMachine *machine);
extern PetscErrorCode  SpmvCalibrateStreams(PetscInt part, SpmvMachine *machine);
extern PetscErrorCode  SpmvCalibrateFit(PetscInt n, const SpmvTerms terms[], const PetscLogDouble seconds[], SpmvMachine *machine,
                                        PetscLogDouble *error);
extern void            SpmvCalibrateOrder(SpmvMachine *machine);
extern PetscBool       SpmvCalibrateSave(const char file[], const SpmvMachine *machine);
extern PetscErrorCode  SpmvCalibrateInitialize(void);
extern SpmvCalibrateMatrixFn SpmvCalibrateMatrix;
extern PetscErrorCode        SpmvCalibrateMatrixDestroy(SpmvCSR *csr);

/* wisdom.c: choices that were measured, in files */
#define SPMV_WISDOM_LINE 1024 /* characters of a line, at most */
extern void           SpmvWisdomFind(const char file[], const char key[], char value[], size_t size);
extern PetscErrorCode SpmvWisdomAdd(const char file[], const char key[], const char value[]);
extern PetscErrorCode SpmvWisdomLookFor(const SpmvRequest *request);
extern PetscErrorCode SpmvChoiceFromWisdom(const SpmvRequest *request, const SpmvCSR *csr, const SpmvTarget *target,
                                           SpmvChoice *choice);
extern PetscErrorCode SpmvChoiceToWisdom(const SpmvTarget *target, const SpmvChoice *choice);

/* words.c: what was chosen, in words */
extern PetscErrorCode SpmvOptionText(const SpmvOption *option, char text[], size_t size);
extern PetscErrorCode SpmvChoiceText(const SpmvChoice *choice, PetscInt line, char text[], size_t size);

/* tune.c: what may be chosen, and the choice: by estimate, by measuring, from wisdom */
extern const char *const SpmvTuneKinds[SPMV_TUNE_COUNT];
extern PetscLogDouble    SpmvOptionCost(const SpmvRequest *request, const SpmvOption *option);
extern PetscBool         SpmvKeySame(const SpmvKey *a, const SpmvKey *b);
extern PetscBool SpmvChoiceAnswers(const SpmvChoice *choice, const SpmvRequest *request, const SpmvKey *key, PetscInt backend,
                                   PetscBool moves);
extern PetscErrorCode SpmvRequestDefault(const SpmvFormat *type, SpmvRequest *request);
extern PetscErrorCode SpmvFormatNames(const char last[], char names[], size_t size);
extern PetscInt       SpmvCandidateFind(const char name[], size_t length);
extern PetscInt       SpmvCandidateNumber(const SpmvFormat *format);
extern PetscErrorCode SpmvRequestAllow(const char formats[], SpmvRequest *request);
extern PetscErrorCode SpmvSuits(PetscInt number, const SpmvCSR *csr, const SpmvPlan *asked, char why[], size_t size);
extern PetscErrorCode SpmvTune(const SpmvRequest *asked, const SpmvCSR *csr, const SpmvKey *key, PetscInt backend,
                               PetscBool moves, const SpmvTarget *target, SpmvBaselineFn *baseline, void *context,
                               SpmvChoice *choice, SpmvKept *kept);
extern PetscErrorCode SpmvEstimateGain(const SpmvCSR *csr, PetscInt isa, PetscInt number, const SpmvPlan *plan, SpmvReach *reach,
                                       SpmvOption options[2]);
