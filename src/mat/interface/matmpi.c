/*
  matmpi.c - the parallel type: AIJ's own, with both blocks of our sequential type

  AIJ's product begins to send x, calls the product of the diagonal block, waits, and calls the multiply-add of the
  off-diagonal block: communication is overlapped already, so only the blocks change. AIJ makes plain blocks in several
  places (preallocation, COO, MatHeaderMerge()), so they are looked at before each use rather than after each such place.
*/
#include "spmvmat.h"

/* A block of any child of AIJ becomes one of ours; one that is ours already is left alone */
static PetscErrorCode MatSpmvBlockBecome(Mat B, const SpmvFormat *format)
{
  const SpmvFormat *has;
  PetscBool         plain;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &has));
  if (has == format) PetscFunctionReturn(PETSC_SUCCESS);
  if (has) PetscCall(MatSpmvRevert(B));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJ, &plain));
  if (!plain) PetscCall(MatConvert(B, MATSEQAIJ, MAT_INPLACE_MATRIX, &B)); /* -mat_seqaij_type */
  PetscCall(MatSpmvBecome(B, format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvPrepareBlocks - the two blocks of A, of our type and with A's settings

  Output Parameter:
. blocks - diagonal and off-diagonal block, NULL where there is none yet

  Note:
  Tells the blocks when A's state changed: PETSC writes their values without raising their own state, as in
  MatSetValuesCOO().
*/
PetscErrorCode MatSpmvPrepareBlocks(Mat A, Mat blocks[2])
{
  SpmvShadow      *s;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  for (int k = 0; k < 2; k++) {
    SpmvShadow *b;

    if (!blocks[k]) continue;
    PetscCall(MatSpmvBlockBecome(blocks[k], s->type));
    PetscCall(MatSpmvGetShadow(blocks[k], &b));
    if (s->settings.known && (!b->settings.known || s->version != s->settings.version)) {
      PetscCall(MatSpmvSettingsInherit(A, blocks[k]));
      PetscCall(PetscViewerDestroy(&b->settings.viewer)); /* A prints for its blocks */
      b->settings.tuneview = PETSC_FALSE;
    }
    if (s->state != state) b->touched = PETSC_TRUE;
  }
  s->state   = state;
  s->version = s->settings.version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a product: settings read, blocks ready */
static PetscErrorCode MatSpmvPrepare(Mat A)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(MatSpmvPrepareBlocks(A, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_MPISpmv(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A));
  PetscCall((*SpmvParentMPI.ops.mult)(A, x, y));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_MPISpmv(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A));
  PetscCall((*SpmvParentMPI.ops.multadd)(A, x, y, z));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_MPISpmv(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A));
  PetscCall((*SpmvParentMPI.ops.multtranspose)(A, x, y));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_MPISpmv(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A));
  PetscCall((*SpmvParentMPI.ops.multtransposeadd)(A, x, y, z));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonalBlock_MPISpmv(Mat A, Mat *B)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(MatSpmvPrepareBlocks(A, blocks));
  PetscCall((*SpmvParentMPI.ops.getdiagonalblock)(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_MPISpmv(Mat A, MatAssemblyType mode)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall((*SpmvParentMPI.ops.assemblyend)(A, mode));
  PetscCall(MatSpmvSettingsFromProduct(A));
  PetscCall(MatSpmvPrepareBlocks(A, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetFromOptions_MPISpmv(Mat A, SpmvOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  if (SpmvParentMPI.ops.setfromoptions) PetscCall((*SpmvParentMPI.ops.setfromoptions)(A, PetscOptionsObject));
  PetscCall(MatSpmvSettingsProcess(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_MPISpmv(Mat A, MatDuplicateOption op, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentMPI.ops.duplicate)(A, op, B));
  PetscCall(MatSpmvDuplicated(A, &SpmvParentMPI, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_MPISpmv(Mat A, IS rows, IS columns, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentMPI.ops.createsubmatrix)(A, rows, columns, reuse, B));
  PetscCall(MatSpmvSettingsInheritAll(A, 1, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_MPISpmv(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentMPI.ops.createsubmatrices)(A, n, rows, columns, reuse, B));
  PetscCall(MatSpmvSettingsInheritAll(A, n, reuse, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_MPISpmv(Mat A, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentMPI.ops.view)(A, viewer));
  PetscCall(MatSpmvViewDetail(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPISpmv(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy_Spmv(A, &SpmvParentMPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces AIJ's operations by ours, or ours by AIJ's */
PetscErrorCode MatSpmvSetOps_MPI(Mat A, PetscBool ours)
{
  const struct _MatOps *aij = &SpmvParentMPI.ops;

  PetscFunctionBegin;
  A->ops->mult              = ours ? MatMult_MPISpmv : aij->mult;
  A->ops->multadd           = ours ? MatMultAdd_MPISpmv : aij->multadd;
  A->ops->multtranspose     = ours ? MatMultTranspose_MPISpmv : aij->multtranspose;
  A->ops->multtransposeadd  = ours ? MatMultTransposeAdd_MPISpmv : aij->multtransposeadd;
  A->ops->getdiagonalblock  = ours ? MatGetDiagonalBlock_MPISpmv : aij->getdiagonalblock;
  A->ops->destroy           = ours ? MatDestroy_MPISpmv : aij->destroy;
  A->ops->assemblyend       = ours ? MatAssemblyEnd_MPISpmv : aij->assemblyend;
  A->ops->setfromoptions    = ours ? MatSetFromOptions_MPISpmv : aij->setfromoptions;
  A->ops->duplicate         = ours ? MatDuplicate_MPISpmv : aij->duplicate;
  A->ops->createsubmatrix   = ours ? MatCreateSubMatrix_MPISpmv : aij->createsubmatrix;
  A->ops->createsubmatrices = ours ? MatCreateSubMatrices_MPISpmv : aij->createsubmatrices;
  A->ops->view              = ours ? MatView_MPISpmv : aij->view;
  PetscFunctionReturn(PETSC_SUCCESS);
}
