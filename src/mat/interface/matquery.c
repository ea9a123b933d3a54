/*
  matquery.c - the public functions that ask a Mat of ours: what it did, what it stores, by which plan
*/
#include "spmvmat.h"
#include "../../device/device.h"

/* The blocks of a Mat that somebody asks */
static PetscErrorCode MatSpmvAsk(Mat A, SpmvBlocks *blocks)
{
  const SpmvFormat *format;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  PetscCheck(format, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "This matrix is of none of libpetscspmv's types; set -mat_type to one, such as spmv");
  PetscCall(MatSpmvGetBlocks(A, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvGetCounts - how many builds, refreshes and products a matrix of this library has seen on this process

  Not Collective

  Input Parameter:
. A - the matrix; `PETSC_ERR_SUP` if it is not of a type of this library

  Output Parameter:
. counts - the counters since the matrix was created or took its type

  Level: intermediate

.seealso: `SpmvCounts`, `MATBCCOO`
@*/
PetscErrorCode MatSpmvGetCounts(Mat A, SpmvCounts *counts)
{
  SpmvBlocks blocks;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(counts, sizeof(*counts)));
  PetscCall(MatSpmvAsk(A, &blocks));
  for (int k = 0; k < blocks.n; k++) SpmvCountsAdd(counts, &blocks.shadow[k]->seq.counts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of what serves: "block_height=3 block_width=3 isa=avx512", with "format=bccoo " before it if the format was chosen */
PetscErrorCode SpmvShadowPlan(const SpmvShadow *s, char plan[], size_t size)
{
  const SpmvBuilt *b = &s->seq.built;
  SpmvDevice      *device;
  SpmvIsa          isa;

  PetscFunctionBegin;
  plan[0] = 0;
  if (!b->format) PetscFunctionReturn(PETSC_SUCCESS);
  if (b->format != s->type) PetscCall(PetscSNPrintf(plan, size, "format=%s%s", b->format->name, SpmvBuiltExists(b) ? " " : ""));
  if (!SpmvBuiltExists(b)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvPlanText(SpmvFormatSide(b->format, b->plan.backend), &b->plan, plan, size));
  if (b->device) {
    PetscCall(SpmvDeviceGet(&device));
    PetscCall(SpmvAppend(plan, size, "device=%s", device->api->name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (b->order) PetscCall(SpmvAppend(plan, size, "order=levels "));
  if (b->plan.threads > 1) PetscCall(SpmvAppend(plan, size, "threads=%" PetscInt_FMT " ", b->plan.threads));
  PetscCall(SpmvIsaGet(s->settings.request.isa, &isa));
  PetscCall(SpmvAppend(plan, size, "isa=%s", SpmvIsaName(isa)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatSpmvGetBytes - the size of the storage of a matrix of this library on this process

  Not Collective

  Input Parameter:
. A - the matrix; `PETSC_ERR_SUP` if it is not of a type of this library

  Output Parameter:
. bytes - bytes that a product reads of its storage's arrays, which may be AIJ's (`MATCSRADAPTIVE`); 0 if none is built, as
          where AIJ's own kernel serves, or the nonzero pattern has changed since

  Level: intermediate

.seealso: `MatSpmvGetPlan()`, `MatSpmvGetCounts()`, `MatGetInfo()`
@*/
PetscErrorCode MatSpmvGetBytes(Mat A, PetscLogDouble *bytes)
{
  SpmvBlocks blocks;

  PetscFunctionBegin;
  *bytes = 0;
  PetscCall(MatSpmvAsk(A, &blocks));
  for (int k = 0; k < blocks.n; k++) {
    if (MatSpmvPatternIsBuilt(blocks.mat[k], blocks.shadow[k])) *bytes += blocks.shadow[k]->seq.built.read;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatSpmvGetPlan - the values of a format's knobs that the storage of a matrix was built with

  Not Collective

  Input Parameters:
+ A    - the matrix; of a parallel one, the diagonal block on this process is asked; `PETSC_ERR_SUP` if it is not of a type of
         this library
- size - length of `plan`, in characters

  Output Parameter:
. plan - knobs and values, such as "block_height=3 block_width=3 isa=avx512"; of a `MATSPMV` with "format=bccoo " before them, or
         "format=aij" alone; empty if no storage is built, or the nonzero pattern has changed since

  Level: intermediate

.seealso: `MatSpmvGetBytes()`, `MatSpmvGetCounts()`
@*/
PetscErrorCode MatSpmvGetPlan(Mat A, char plan[], size_t size)
{
  SpmvBlocks blocks;

  PetscFunctionBegin;
  plan[0] = 0;
  PetscCall(MatSpmvAsk(A, &blocks));
  if (blocks.n && MatSpmvPatternIsBuilt(blocks.mat[0], blocks.shadow[0])) PetscCall(SpmvShadowPlan(blocks.shadow[0], plan, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of the last set-up, of a parallel matrix that of the diagonal block: to choose, to make the storage, and what the
   estimate said of the latter; 0 if it said nothing */
PetscErrorCode MatSpmvGetSetup(Mat A, PetscLogDouble *choosing, PetscLogDouble *making, PetscLogDouble *predicted)
{
  SpmvBlocks     blocks;
  const SpmvSeq *s;

  PetscFunctionBegin;
  *choosing = *making = *predicted = 0;
  PetscCall(MatSpmvAsk(A, &blocks));
  if (!blocks.n || !MatSpmvPatternIsBuilt(blocks.mat[0], blocks.shadow[0])) PetscFunctionReturn(PETSC_SUCCESS);
  s         = &blocks.shadow[0]->seq;
  *choosing = s->choose_seconds;
  *making   = s->build_seconds;
  if (s->choice.from == SPMV_FROM_ESTIMATE) *predicted = s->choice.best.build;
  PetscFunctionReturn(PETSC_SUCCESS);
}
