/*
  matops.c - which of AIJ's operations both types replace, and the small ones among them
*/
#include "spmvmat.h"

static PetscErrorCode MatMult_Spmv(Mat A, Vec x, Vec z)
{
  return MatSpmvProduct(A, x, NULL, z, PETSC_FALSE);
}

static PetscErrorCode MatMultAdd_Spmv(Mat A, Vec x, Vec y, Vec z)
{
  return MatSpmvProduct(A, x, y, z, PETSC_FALSE);
}

static PetscErrorCode MatMultTranspose_Spmv(Mat A, Vec x, Vec z)
{
  return MatSpmvProduct(A, x, NULL, z, PETSC_TRUE);
}

static PetscErrorCode MatMultTransposeAdd_Spmv(Mat A, Vec x, Vec y, Vec z)
{
  return MatSpmvProduct(A, x, y, z, PETSC_TRUE);
}

static PetscErrorCode MatAssemblyEnd_Spmv(Mat A, MatAssemblyType mode)
{
  SpmvShadow    *s;
  SpmvBlocks     blocks;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  SpmvInsideAssembly++;
  ierr = (*s->parent->ops.assemblyend)(A, mode);
  SpmvInsideAssembly--;
  PetscCall(ierr);
  PetscCall(MatSpmvInheritFromFactors(A));
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  PetscCall(MatSpmvLabel(A, s));
  PetscCall(MatSpmvCoarsened(A));
  s->mpi.reassembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetFromOptions_Spmv(Mat A, SpmvOptionItems PetscOptionsObject)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (s->parent->ops.setfromoptions) PetscCall((*s->parent->ops.setfromoptions)(A, PetscOptionsObject));
  PetscCall(MatSpmvReadOptions(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Spmv(Mat A, MatDuplicateOption op, Mat *B)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall((*s->parent->ops.duplicate)(A, op, B));
  PetscCall(MatSpmvInheritByDuplicate(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_MPISpmv(Mat A, IS rows, IS columns, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentMPI.ops.createsubmatrix)(A, rows, columns, reuse, B));
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatSpmvInheritSettings(A, *B));
    PetscCall(MatSpmvInheritLevel(A, *B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where each process wants the whole of a parallel matrix again, PETSc writes to its copies without a sign of it */
static PetscErrorCode MatCreateSubMatrices_Spmv(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *B[])
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall((*s->parent->ops.createsubmatrices)(A, n, rows, columns, reuse, B));
  for (PetscInt k = 0; k < n; k++) {
    if (!(*B)[k]) continue;
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatSpmvInheritSettings(A, (*B)[k]));
    else PetscCall(PetscObjectStateIncrease((PetscObject)(*B)[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonalBlock_MPISpmv(Mat A, Mat *B)
{
  SpmvBlocks blocks;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  PetscCall((*SpmvParentMPI.ops.getdiagonalblock)(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_SeqSpmv(Mat A, MatInfoType flag, MatInfo *info)
{
  const SpmvShadow *s = (SpmvShadow *)A->spptr;

  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.getinfo)(A, flag, info));
  if (s) info->memory += s->seq.built.own + SpmvTransposedBytes(s->seq.transposed) + s->seq.sweeps.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc keeps to itself whether inodes are to be used */
static PetscErrorCode MatSetOption_SeqSpmv(Mat A, MatOption option, PetscBool flag)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.ops.setoption)(A, option, flag));
  if (option != MAT_USE_INODES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &s));
  s->seq.sweeps.noinodes = (PetscBool)!flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Spmv(Mat A, PetscViewer viewer)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall((*s->parent->ops.view)(A, viewer));
  PetscCall(MatSpmvViewDetail(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBindToCPU_Spmv(Mat A, PetscBool bound)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (s->parent->ops.bindtocpu) PetscCall((*s->parent->ops.bindtocpu)(A, bound));
  PetscCall(MatSpmvBind(A, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A may have neither a shadow nor a type name: MatHeaderMerge() takes them */
static PetscErrorCode MatSpmvDestroy(Mat A, SpmvParent *parent)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvDestroyShadow(A));
  PetscCall(MatSpmvCompose(A, NULL, PETSC_FALSE));
  PetscCall((*parent->ops.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqSpmv(Mat A)
{
  return MatSpmvDestroy(A, &SpmvParentSeq);
}

static PetscErrorCode MatDestroy_MPISpmv(Mat A)
{
  return MatSpmvDestroy(A, &SpmvParentMPI);
}

static const struct _MatOps OpsOfBoth = {
  .mult              = MatMult_Spmv,
  .multadd           = MatMultAdd_Spmv,
  .multtranspose     = MatMultTranspose_Spmv,
  .multtransposeadd  = MatMultTransposeAdd_Spmv,
  .assemblyend       = MatAssemblyEnd_Spmv,
  .setfromoptions    = MatSetFromOptions_Spmv,
  .duplicate         = MatDuplicate_Spmv,
  .createsubmatrices = MatCreateSubMatrices_Spmv,
  .getvecs           = MatCreateVecs_Spmv,
  .bindtocpu         = MatBindToCPU_Spmv,
  .view              = MatView_Spmv,
  .convert           = MatConvert_Spmv,
  .convertfrom       = MatConvertFrom_Spmv,
};
static const struct _MatOps OpsOfSeq = {
  .destroy   = MatDestroy_SeqSpmv,
  .lufactor  = MatLUFactor_SeqSpmv,
  .ilufactor = MatILUFactor_SeqSpmv,
  .getinfo   = MatGetInfo_SeqSpmv,
  .setoption = MatSetOption_SeqSpmv,
  .sor       = MatSOR_SeqSpmv,
};
static const struct _MatOps OpsOfMPI = {
  .destroy          = MatDestroy_MPISpmv,
  .getdiagonalblock = MatGetDiagonalBlock_MPISpmv,
  .createsubmatrix  = MatCreateSubMatrix_MPISpmv,
  .sor              = MatSOR_MPISpmv,
};

/*
  Gives A our operations, or AIJ's. The others may not be AIJ's: assembly by hash replaces some for a while. A struct _MatOps is
  nothing but pointers to functions
*/
void MatSpmvSetOps(Mat A, const SpmvParent *parent, PetscBool ours)
{
  const struct _MatOps *lists[] = {&OpsOfBoth, parent == &SpmvParentSeq ? &OpsOfSeq : &OpsOfMPI};
  void (*op)(void);

  for (int k = 0; k < 2; k++) {
    const struct _MatOps *from = ours ? lists[k] : &parent->ops;

    for (size_t at = 0; at < sizeof(*from); at += sizeof(op)) {
      memcpy(&op, (const char *)lists[k] + at, sizeof(op));
      if (op) memcpy((char *)A->ops + at, (const char *)from + at, sizeof(op));
    }
  }
}
