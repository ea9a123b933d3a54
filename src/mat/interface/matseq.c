/*
  matseq.c - the sequential type: which of AIJ's operations it replaces, and the small ones among them

  The products are in dispatch.c.
*/
#include "spmvmat.h"

static PetscErrorCode MatAssemblyEnd_SeqSpmv(Mat A, MatAssemblyType mode)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.assemblyend)(A, mode));
  PetscCall(MatSpmvSettingsFromProduct(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetFromOptions_SeqSpmv(Mat A, SpmvOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  if (SpmvParentSeq.ops.setfromoptions) PetscCall((*SpmvParentSeq.ops.setfromoptions)(A, PetscOptionsObject));
  PetscCall(MatSpmvSettingsProcess(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_SeqSpmv(Mat A, MatDuplicateOption op, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.duplicate)(A, op, B));
  PetscCall(MatSpmvDuplicated(A, &SpmvParentSeq, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_SeqSpmv(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse,
                                                   Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.createsubmatrices)(A, n, rows, columns, reuse, B));
  PetscCall(MatSpmvSettingsInheritAll(A, n, reuse, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_SeqSpmv(Mat A, MatInfoType flag, MatInfo *info)
{
  const SpmvShadow *s = (SpmvShadow *)A->spptr;

  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.getinfo)(A, flag, info));
  if (s) info->memory += s->seq.built.own + (s->seq.transposed ? s->seq.transposed->built.own : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_SeqSpmv(Mat A, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.view)(A, viewer));
  PetscCall(MatSpmvViewDetail(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqSpmv(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy_Spmv(A, &SpmvParentSeq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces AIJ's operations by ours, or ours by AIJ's */
PetscErrorCode MatSpmvSetOps_Seq(Mat A, PetscBool ours)
{
  const struct _MatOps *aij = &SpmvParentSeq.ops;

  PetscFunctionBegin;
  A->ops->mult              = ours ? MatMult_SeqSpmv : aij->mult;
  A->ops->multadd           = ours ? MatMultAdd_SeqSpmv : aij->multadd;
  A->ops->multtranspose     = ours ? MatMultTranspose_SeqSpmv : aij->multtranspose;
  A->ops->multtransposeadd  = ours ? MatMultTransposeAdd_SeqSpmv : aij->multtransposeadd;
  A->ops->destroy           = ours ? MatDestroy_SeqSpmv : aij->destroy;
  A->ops->assemblyend       = ours ? MatAssemblyEnd_SeqSpmv : aij->assemblyend;
  A->ops->setfromoptions    = ours ? MatSetFromOptions_SeqSpmv : aij->setfromoptions;
  A->ops->duplicate         = ours ? MatDuplicate_SeqSpmv : aij->duplicate;
  A->ops->lufactor          = ours ? MatLUFactor_SeqSpmv : aij->lufactor;
  A->ops->ilufactor         = ours ? MatILUFactor_SeqSpmv : aij->ilufactor;
  A->ops->createsubmatrices = ours ? MatCreateSubMatrices_SeqSpmv : aij->createsubmatrices;
  A->ops->getinfo           = ours ? MatGetInfo_SeqSpmv : aij->getinfo;
  A->ops->getvecs           = ours ? MatCreateVecs_Spmv : aij->getvecs;
  A->ops->bindtocpu         = ours ? MatSpmvBind : aij->bindtocpu;
  A->ops->view              = ours ? MatView_SeqSpmv : aij->view;
  PetscFunctionReturn(PETSC_SUCCESS);
}
