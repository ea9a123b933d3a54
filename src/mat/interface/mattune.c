/*
  mattune.c - the public functions that say how the format and the plan of a Mat of ours are chosen
*/
#include "spmvmat.h"

/* The shadow of a Mat whose settings are about to be changed: its options have been read, and its blocks are told at the next product */
static PetscErrorCode MatSpmvChangeSettings(Mat A, SpmvShadow **shadow)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(MatSpmvGetShadow(A, shadow));
  (*shadow)->settings.version++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvSetTune_Spmv(Mat A, SpmvTuneKind kind)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeSettings(A, &s));
  PetscCheck(kind >= SPMV_TUNE_OFF && kind <= SPMV_TUNE_PATIENT, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%d is no SpmvTuneKind", (int)kind);
  s->settings.request.kind = (PetscInt)kind;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetTune - how much is done to choose the format of a `MATSPMV`, and the knobs of any format

  Logically Collective

  Input Parameters:
+ A - the matrix, of a type of this library
- kind - `SPMV_TUNE_OFF`, `SPMV_TUNE_ESTIMATE`, `SPMV_TUNE_MEASURE` or `SPMV_TUNE_PATIENT`

  Options Database Key:
. -mat_spmv_tune <off, estimate, measure, patient> - the same

  Level: intermediate

  Notes:
  All types begin with `SPMV_TUNE_ESTIMATE`; other types than `MATSPMV` choose among plans of their own format only.

  What measuring chooses may differ from run to run, and with it the last bits of products, unless wisdom has it (`MatSpmvSetWisdom()`).

  Does nothing to a matrix of another type.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTune(Mat A, SpmvTuneKind kind)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(A, kind, 2);
  PetscTryMethod(A, "MatSpmvSetTune_C", (Mat, SpmvTuneKind), (A, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvSetTuneSeconds_Spmv(Mat A, PetscReal seconds)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeSettings(A, &s));
  PetscCheck(seconds > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%g seconds to measure in are not more than 0", (double)seconds);
  s->settings.request.seconds = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetTuneSeconds - a limit to the time that measuring takes

  Logically Collective

  Input Parameters:
+ A - the matrix, of a type of this library
- seconds - > 0, for each block of the matrix on each process; what was found by then is used

  Options Database Key:
. -mat_spmv_tune_seconds <10> - the same

  Level: intermediate

  Notes:
  Building storages counts. Nothing is begun that would not end in time, by the model's estimate.

  Does nothing to a matrix of another type.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTuneSeconds(Mat A, PetscReal seconds)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveReal(A, seconds, 2);
  PetscTryMethod(A, "MatSpmvSetTuneSeconds_C", (Mat, PetscReal), (A, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvSetExpectedCalls_Spmv(Mat A, PetscReal calls)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeSettings(A, &s));
  PetscCheck(calls >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%g expected products are less than 0",
             (double)calls);
  s->settings.request.calls = calls;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvSetExpectedCalls - how many products set-up is to pay off in

  Logically Collective

  Input Parameters:
+ A - the matrix, of a type of this library
- calls - >= 0; 0: so many that set-up does not count

  Options Database Key:
. -mat_spmv_expected_calls <0> - the same

  Level: intermediate

  Notes:
  The time to build a storage, over so many products, is added to the time of a product when options are compared.

  Does nothing to a matrix of another type.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetExpectedCalls(Mat A, PetscReal calls)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveReal(A, calls, 2);
  PetscTryMethod(A, "MatSpmvSetExpectedCalls_C", (Mat, PetscReal), (A, calls));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvSetTuneFormats_Spmv(Mat A, const char formats[])
{
  SpmvShadow    *s;
  char         **names;
  int            n;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeSettings(A, &s));
  PetscCheck(s->type == &SpmvFormat_spmv, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type %s has one format; MatSetType() it to spmv to choose from several", ((PetscObject)A)->type_name);
  PetscCall(PetscStrToArray(formats, ',', &n, &names));
  ierr = SpmvRequestAllow((PetscInt)n, (const char *const *)names, &s->settings.request);
  PetscCall(PetscStrToArrayDestroy(n, names));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSpmvSetTuneFormats - which formats a `MATSPMV` chooses from

  Logically Collective

  Input Parameters:
+ A - the matrix, of a type of this library
- formats - names with commas between them, such as "bccoo,pmf,aij"; aij is AIJ's own kernel

  Options Database Key:
. -mat_spmv_tune_formats <list> - the same

  Level: intermediate

  Notes:
  `PETSC_ERR_ARG_OUTOFRANGE` if a name is not a format's, `PETSC_ERR_SUP` if the matrix is of another type than `MATSPMV`.

  Does nothing to a matrix of another type.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetTuneFormats(Mat A, const char formats[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatSpmvSetTuneFormats_C", (Mat, const char[]), (A, formats));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvSetWisdom_Spmv(Mat A, const char file[])
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvChangeSettings(A, &s));
  PetscCall(PetscMemzero(s->settings.request.wisdom, sizeof(s->settings.request.wisdom)));
  PetscCall(PetscStrncpy(s->settings.request.wisdom, file, sizeof(s->settings.request.wisdom)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSpmvSetWisdom - the file that keeps what was found by measuring

  Logically Collective

  Input Parameters:
+ A - the matrix, of a type of this library
- file - a path; "none": nothing is read or kept; "": petscspmv/wisdom in $XDG_CACHE_HOME or ~/.cache

  Options Database Key:
. -mat_spmv_wisdom <file> - the same

  Level: intermediate

  Notes:
  After the user's file, /etc/petscspmv/wisdom is read, never written. A file that cannot be read or written is no error; -info tells.

  Does nothing to a matrix of another type.

.seealso: `MATSPMV`, `SpmvTuneKind`, `MatSpmvGetPlan()`
@*/
PetscErrorCode MatSpmvSetWisdom(Mat A, const char file[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscTryMethod(A, "MatSpmvSetWisdom_C", (Mat, const char[]), (A, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds these functions to a Mat, or takes them away */
PetscErrorCode MatSpmvComposeTune(Mat A, PetscBool ours)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvSetTune_C", ours ? MatSpmvSetTune_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvSetTuneSeconds_C", ours ? MatSpmvSetTuneSeconds_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvSetExpectedCalls_C", ours ? MatSpmvSetExpectedCalls_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvSetTuneFormats_C", ours ? MatSpmvSetTuneFormats_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvSetWisdom_C", ours ? MatSpmvSetWisdom_Spmv : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
