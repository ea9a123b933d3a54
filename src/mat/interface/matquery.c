/*
  matquery.c - the public functions that ask a Mat of ours: what it did, what it stores, by which plan
*/
#include "spmvmat.h"

/* The sequential matrices that hold the storages: the blocks of a parallel Mat (NULL where there is none), or A itself */
PetscErrorCode MatSpmvGetBlocks(Mat A, Mat blocks[2], PetscBool *parallel)
{
  SpmvParent *parent = NULL;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetParent(A, &parent));
  *parallel = (PetscBool)(parent == &SpmvParentMPI);
  blocks[0] = A;
  blocks[1] = NULL;
  if (*parallel) PetscCall(MatSpmvPrepareBlocks(A, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvGetCounts_Spmv(Mat A, SpmvCounts *counts)
{
  Mat       blocks[2];
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(counts, sizeof(*counts)));
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  for (int k = 0; k < 2; k++) {
    if (blocks[k] && blocks[k]->spptr) SpmvCountsAdd(counts, &((SpmvShadow *)blocks[k]->spptr)->seq.counts);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvGetCounts - how many builds, refreshes and products a matrix of this library has seen on this process

  Not Collective

  Input Parameter:
. A - the matrix, of a type of this library

  Output Parameter:
. counts - the counters since the matrix was created or took its type

  Level: intermediate

  Note:
  `PETSC_ERR_SUP` if `A` is of another type.

.seealso: `SpmvCounts`, `MATBCCOO`
@*/
PetscErrorCode MatSpmvGetCounts(Mat A, SpmvCounts *counts)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscUseMethod(A, "MatSpmvGetCounts_C", (Mat, SpmvCounts *), (A, counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of what serves: "block_height=3 block_width=3 isa=avx512", with "format=bccoo " before it if the format was chosen */
PetscErrorCode SpmvShadowPlan(const SpmvShadow *s, char plan[], size_t size)
{
  const SpmvBuilt   *b = &s->seq.built;
  const char        *device;
  const SpmvKernels *kernels;
  SpmvIsa            isa;

  PetscFunctionBegin;
  plan[0] = 0;
  if (!b->format) PetscFunctionReturn(PETSC_SUCCESS);
  if (b->format != s->type) PetscCall(PetscSNPrintf(plan, size, "format=%s%s", b->format->name, SpmvBuiltIsThere(b) ? " " : ""));
  if (!SpmvBuiltIsThere(b)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvPlanText(SpmvFormatSide(b->format, b->plan.backend), &b->plan, plan, size));
  if (b->device) {
    PetscCall(SpmvDeviceName(&device));
    PetscCall(SpmvAppend(plan, size, "device=%s", device));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (b->plan.threads > 1) PetscCall(SpmvAppend(plan, size, "threads=%" PetscInt_FMT " ", b->plan.threads));
  PetscCall(SpmvKernelsGet(b->format, s->settings.request.isa, &kernels, &isa));
  PetscCall(SpmvAppend(plan, size, "isa=%s", SpmvIsaName(isa)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvGetBytes_Spmv(Mat A, PetscLogDouble *bytes)
{
  Mat       blocks[2];
  PetscBool parallel;

  PetscFunctionBegin;
  *bytes = 0;
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  for (int k = 0; k < 2; k++) {
    const SpmvShadow *s = blocks[k] ? (SpmvShadow *)blocks[k]->spptr : NULL;

    if (s && MatSpmvServes(blocks[k], s)) *bytes += s->seq.built.read;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvGetBytes - the size of the storage of a matrix of this library on this process

  Not Collective

  Input Parameter:
. A - the matrix, of a type of this library

  Output Parameter:
. bytes - bytes that a product reads of its arrays, besides those of AIJ; 0 if none is built, or the nonzero pattern has changed since

  Level: intermediate

  Note:
  `PETSC_ERR_SUP` if `A` is of another type.

.seealso: `MatSpmvGetPlan()`, `MatSpmvGetCounts()`, `MatGetInfo()`
@*/
PetscErrorCode MatSpmvGetBytes(Mat A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscUseMethod(A, "MatSpmvGetBytes_C", (Mat, PetscLogDouble *), (A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvGetPlan_Spmv(Mat A, char plan[], size_t size)
{
  const SpmvShadow *s;
  Mat               blocks[2];
  PetscBool         parallel;

  PetscFunctionBegin;
  plan[0] = 0;
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  s = blocks[0] ? (SpmvShadow *)blocks[0]->spptr : NULL;
  if (s && MatSpmvServes(blocks[0], s)) PetscCall(SpmvShadowPlan(s, plan, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSpmvGetPlan - the values of a format's knobs that the storage of a matrix was built with

  Not Collective

  Input Parameters:
+ A    - the matrix, of a type of this library; of a parallel one, the diagonal block on this process is asked
- size - length of `plan`, in characters

  Output Parameter:
. plan - knobs and values, such as "block_height=3 block_width=3 isa=avx512"; of a `MATSPMV` with "format=bccoo " before them, or
         "format=aij" alone; empty if no storage is built, or the nonzero pattern has changed since

  Level: intermediate

  Note:
  `PETSC_ERR_SUP` if `A` is of another type.

.seealso: `MatSpmvGetBytes()`, `MatSpmvGetCounts()`
@*/
PetscErrorCode MatSpmvGetPlan(Mat A, char plan[], size_t size)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscUseMethod(A, "MatSpmvGetPlan_C", (Mat, char[], size_t), (A, plan, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds these functions to a Mat, or takes them away */
PetscErrorCode MatSpmvComposeQueries(Mat A, PetscBool ours)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvGetCounts_C", ours ? MatSpmvGetCounts_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvGetBytes_C", ours ? MatSpmvGetBytes_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvGetPlan_C", ours ? MatSpmvGetPlan_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvDeviceRepeat_C", ours ? MatSpmvDeviceRepeat_Spmv : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSpmvGetTransfers_C", ours ? MatSpmvGetTransfers_Spmv : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
