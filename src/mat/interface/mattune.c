/*
  mattune.c - the public functions that say how the format and the plan of a Mat of ours are chosen
*/
#include "spmvmat.h"

/*MC
  MATSPMV - "spmv": AIJ with the products of the format that is likely to be the fastest for each matrix

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQSPMV` on one process, `MATMPISPMV` on several. Each block on each process has a
  format and a plan of its own, chosen without communication. AIJ's own kernel is among the candidates: then no storage is kept.

  Options Database Keys:
+ -mat_type spmv - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type spmv
. -mat_spmv_tune
. -mat_spmv_tune_*
. -mat_spmv_expected_calls
- -mat_spmv_wisdom

  Level: beginner

  Notes:
  estimate reads no clock: the same matrix has the same plan, and products the same bits, each time. Its rates are those of one
  core of Zen 4, Zen 5, Emerald or Granite Rapids, with caches as the system tells, unless the user's file has others
  (-mat_spmv_tune_calibrate). measure and patient build and time storages: without wisdom they may choose differently, and so give
  other last bits, from run to run. With wisdom, which is of this processor, instruction set, precision, number of threads,
  request and pattern, the second run measures nothing.

  New values with the same pattern are not tuned for again; a duplicate takes over what was chosen.

  Knobs that are not set are chosen by estimate, for each format. The estimate is for products, not for transposed ones or those
  of several columns.

  For a device the same is done with the device's knobs, and products are timed there. Its rates are those of an NVIDIA, AMD or
  Intel GPU, scaled by what its API tells. Wisdom of one device, driver and compiler is not taken for another's.

  References:
. * - the heuristics of measure are those of Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 4

.seealso: `MatSpmvOptions`, `MatSpmvSetTune()`, `MatSpmvGetPlan()`, `MatSpmvGetCounts()`, `MATBCCOO`
M*/

/* What is asked for a Mat, which is about to change: its blocks are told at the next product. NULL: the Mat is not ours */
static PetscErrorCode MatSpmvChangeRequest(Mat A, SpmvRequest **request)
{
  const SpmvFormat *format;
  SpmvShadow       *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  *request = NULL;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvEnsureSettings(A));
  PetscCall(MatSpmvGetShadow(A, &s));
  s->settings.version++;
  *request = &s->settings.request;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetTune - how much is done to choose the format of a `MATSPMV`, and the knobs of any format

  Logically Collective

  Input Parameters:
+ A - the matrix; one that is not of a type of this library stays as it is
- kind - `SPMV_TUNE_OFF`, `SPMV_TUNE_ESTIMATE`, `SPMV_TUNE_MEASURE` or `SPMV_TUNE_PATIENT`

  Options Database Keys:
+ -mat_spmv_tune <off, estimate, measure, patient> - the same
- -mat_spmv_tune_calibrate <no> - of the whole process: measures this machine now, unless the user has a file of its rates, and
  writes that file

  Level: intermediate

  Notes:
  All types begin with `SPMV_TUNE_ESTIMATE`; other types than `MATSPMV` choose among plans of their own format only.

  What measuring chooses may differ from run to run, and with it the last bits of products, unless wisdom has it
  (`MatSpmvSetWisdom()`).

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTune(Mat A, SpmvTuneKind kind)
{
  SpmvRequest *q;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeRequest(A, &q));
  PetscValidLogicalCollectiveEnum(A, kind, 2);
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(kind >= SPMV_TUNE_OFF && kind <= SPMV_TUNE_PATIENT, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%d is no SpmvTuneKind; there are SPMV_TUNE_OFF, SPMV_TUNE_ESTIMATE, SPMV_TUNE_MEASURE and SPMV_TUNE_PATIENT",
             (int)kind);
  q->kind = (PetscInt)kind;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetTuneSeconds - a limit to the time that measuring takes

  Logically Collective

  Input Parameters:
+ A - the matrix; one that is not of a type of this library stays as it is
- seconds - > 0, for each block of the matrix on each process; what was found by then is used

  Options Database Key:
. -mat_spmv_tune_seconds <10> - the same

  Level: intermediate

  Notes:
  Building storages counts. Nothing is begun that would not end in time, by the model's estimate.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTuneSeconds(Mat A, PetscReal seconds)
{
  SpmvRequest *q;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeRequest(A, &q));
  PetscValidLogicalCollectiveReal(A, seconds, 2);
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(seconds > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%g seconds to measure in are not more than 0", (double)seconds);
  q->seconds = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetTuneCheck - whether the first products by a new storage are compared with those by AIJ's kernel before them

  Logically Collective

  Input Parameters:
+ A - the matrix; one that is not of a type of this library stays as it is
- check - `PETSC_TRUE`: the storage is dropped if the median of its products is longer, and AIJ's kernel serves

  Options Database Key:
. -mat_spmv_tune_check <no> - the same

  Level: intermediate

  Notes:
  The last five products by AIJ's kernel, of which -mat_spmv_build_after must leave as many, are compared with five by the
  storage, from its third on, once for each pattern and plan; products with the transposed matrix, or on a device, do not count.
  Each process decides for its own blocks.

  What serves then depends on the clock, and with it the last bits of products: two runs of the same program may differ in them.

.seealso: `MATSPMV`, `MatSpmvSetTune()`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTuneCheck(Mat A, PetscBool check)
{
  SpmvRequest *q;
  SpmvShadow  *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeRequest(A, &q));
  PetscValidLogicalCollectiveBool(A, check, 2);
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatSpmvCheckAllowed(A, check, s->settings.build_after));
  s->settings.check = check;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetExpectedCalls - how many products set-up is to pay off in

  Logically Collective

  Input Parameters:
+ A - the matrix; one that is not of a type of this library stays as it is
- calls - >= 0; 0: so many that set-up does not count

  Options Database Key:
. -mat_spmv_expected_calls <0> - the same

  Level: intermediate

  Notes:
  The time to build a storage, over so many products, is added to the time of a product when options are compared. So it is for
  sweeps (MatSOR()) and solves with incomplete factors. Of these, if it is 0, there are taken to be as many as there were so far,
  and the choice is made anew each time that number has doubled.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetExpectedCalls(Mat A, PetscReal calls)
{
  SpmvRequest *q;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeRequest(A, &q));
  PetscValidLogicalCollectiveReal(A, calls, 2);
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(calls >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%g expected calls are less than 0",
             (double)calls);
  q->calls = calls;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSpmvSetTuneFormats - which formats a `MATSPMV` chooses from

  Logically Collective

  Input Parameters:
+ A - the matrix; one that is not of a type of this library stays as it is
- formats - names with commas between them, such as "bccoo,pmf,aij"; aij is AIJ's own kernel

  Options Database Key:
. -mat_spmv_tune_formats <list> - the same

  Level: intermediate

  Notes:
  `PETSC_ERR_ARG_OUTOFRANGE` if a name is not a format's, `PETSC_ERR_SUP` if the matrix is of another type than `MATSPMV`.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTuneFormats(Mat A, const char formats[])
{
  SpmvRequest *q;
  SpmvShadow  *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeRequest(A, &q));
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCheck(s->type == &SpmvFormat_spmv, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type %s has one format; MatSetType() it to spmv to choose from several", ((PetscObject)A)->type_name);
  PetscCall(SpmvRequestAllow(formats, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSpmvSetWisdom - the file that keeps what was found by measuring

  Logically Collective

  Input Parameters:
+ A - the matrix; one that is not of a type of this library stays as it is
- file - a path; "none": nothing is read or kept; "": petscspmv/wisdom in $XDG_CACHE_HOME or ~/.cache

  Options Database Key:
. -mat_spmv_wisdom <file> - the same

  Level: intermediate

  Notes:
  After the user's file, /etc/petscspmv/wisdom is read, never written. A file that cannot be read or written is no error;
  -info tells. One that is a link, or that a user other than root may have written, is neither read nor written.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetWisdom(Mat A, const char file[])
{
  SpmvRequest *q;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeRequest(A, &q));
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(q->wisdom, sizeof(q->wisdom)));
  PetscCall(PetscStrncpy(q->wisdom, file, sizeof(q->wisdom)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
