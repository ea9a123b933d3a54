/*
  matmpi.c - the parallel type: AIJ's own, with both blocks of our sequential type

  AIJ's product begins to send x, calls the product of the diagonal block, waits, and calls the multiply-add of the
  off-diagonal block: communication is overlapped already, so only the blocks change. For devices there is a product of our
  own that does the same with ghosts.c; transposed products and SOR are AIJ's, with vectors of the host. AIJ makes plain blocks in
  several places (preallocation, COO, MatHeaderMerge()), so they are looked at before each use rather than after each such place.
*/
#include "spmvmat.h"
#include "../../vec/vecaccel.h"

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

/* A user who chose VECACCEL for A's vectors has chosen it for the block's: PCBJACOBI asks the block */
static PetscErrorCode MatSpmvBlockVectors(Mat A, Mat B)
{
  PetscBool wanted, has;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(A->defaultvectype, VECACCEL, &wanted));
  PetscCall(PetscStrcmp(B->defaultvectype, VECACCEL, &has));
  if (wanted != has) PetscCall(MatSetVecType(B, wanted ? VECACCEL : VECSTANDARD));
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
    if (s->settings.known && (!b->seq.member || s->version != s->settings.version)) {
      PetscCall(MatSpmvSettingsInherit(A, blocks[k]));
      b->seq.member = PETSC_TRUE;
      PetscCall(PetscViewerDestroy(&b->settings.viewer)); /* A prints for its blocks */
      b->settings.tuneview = PETSC_FALSE;
    }
    if (s->state != state) b->seq.touched = PETSC_TRUE;
    PetscCall(MatSpmvBind(blocks[k], s->bound));
    PetscCall(MatSpmvBlockVectors(A, blocks[k]));
    b->agreed = s->agreed;
  }
  s->state   = state;
  s->version = s->settings.version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a product: settings read, the backend agreed on, blocks ready */
static PetscErrorCode MatSpmvPrepare(Mat A, PetscInt *backend)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(MatSpmvAgree(A, backend));
  PetscCall(MatSpmvPrepareBlocks(A, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- y + A x, y NULL for 0, for devices: ghosts are packed where x lives, and come while the diagonal block is multiplied */
static PetscErrorCode MatSpmvMultGhosts(Mat A, Vec x, Vec y, Vec z)
{
  Mat            blocks[2];
  SpmvShadow    *s;
  SpmvGhosts    *ghosts;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  PetscCall(MatSpmvGetGhosts(A, s, &ghosts));
  PetscCall(SpmvGhostsBegin(ghosts, x));
  ierr = y ? MatMultAdd_SeqSpmv(blocks[0], x, y, z) : MatMult_SeqSpmv(blocks[0], x, z);
  PetscCall(SpmvGhostsEnd(ghosts)); /* before any error, so that the next product can begin */
  PetscCall(ierr);
  PetscCall(MatMultAdd_SeqSpmv(blocks[1], ghosts->x, z, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same; where z lives on the host, both blocks add to a vector on the device, so that it moves once */
static PetscErrorCode MatSpmvMultDevice(Mat A, Vec x, Vec y, Vec z)
{
  Mat         diagonal;
  PetscInt    n;
  SpmvShadow *s, *block;
  PetscBool   there;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCheck(n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A has %" PetscInt_FMT " columns on this process and x has %" PetscInt_FMT " entries; create x with MatCreateVecs()",
             A->cmap->n, n);
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, NULL, NULL));
  PetscCall(MatSpmvGetShadow(diagonal, &block));
  PetscCall(SpmvVecIsDevice(z, &there));
  if (there || !block->seq.built.device) {
    PetscCall(MatSpmvMultGhosts(A, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!s->mpi.result) {
    PetscCall(VecCreate(PETSC_COMM_SELF, &s->mpi.result));
    PetscCall(VecSetSizes(s->mpi.result, A->rmap->n, A->rmap->n));
    PetscCall(VecSetType(s->mpi.result, VECACCEL));
  }
  if (y) PetscCall(SpmvVecCopyLocal(y, s->mpi.result));
  PetscCall(MatSpmvMultGhosts(A, x, y ? s->mpi.result : NULL, s->mpi.result));
  PetscCall(SpmvVecCopyLocal(s->mpi.result, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_MPISpmv(Mat A, Vec x, Vec y)
{
  PetscInt backend;

  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A, &backend));
  if (backend == SPMV_BACKEND_DEVICE) PetscCall(MatSpmvMultDevice(A, x, NULL, y));
  else PetscCall((*SpmvParentMPI.ops.mult)(A, x, y));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_MPISpmv(Mat A, Vec x, Vec y, Vec z)
{
  PetscInt backend;

  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A, &backend));
  if (backend == SPMV_BACKEND_DEVICE) PetscCall(MatSpmvMultDevice(A, x, y, z));
  else PetscCall((*SpmvParentMPI.ops.multadd)(A, x, y, z));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_MPISpmv(Mat A, Vec x, Vec y)
{
  PetscInt backend;

  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A, &backend));
  PetscCall((*SpmvParentMPI.ops.multtranspose)(A, x, y));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_MPISpmv(Mat A, Vec x, Vec y, Vec z)
{
  PetscInt backend;

  PetscFunctionBegin;
  PetscCall(MatSpmvPrepare(A, &backend));
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
  Mat            blocks[2];
  SpmvShadow    *s;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  SpmvInsideAssembly++;
  ierr = (*SpmvParentMPI.ops.assemblyend)(A, mode);
  SpmvInsideAssembly--;
  PetscCall(ierr);
  PetscCall(MatSpmvSettingsFromProduct(A));
  PetscCall(MatSpmvPrepareBlocks(A, blocks));
  PetscCall(MatSpmvGetShadow(A, &s));
  s->mpi.reassembled = PETSC_TRUE;
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

static PetscErrorCode MatCreateSubMatrices_MPISpmv(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse,
                                                   Mat *B[])
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

/* Both blocks, and what AIJ has beside them */
static PetscErrorCode MatBindToCPU_MPISpmv(Mat A, PetscBool bound)
{
  PetscFunctionBegin;
  if (SpmvParentMPI.ops.bindtocpu) PetscCall((*SpmvParentMPI.ops.bindtocpu)(A, bound));
  PetscCall(MatSpmvBind(A, bound));
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
  A->ops->getvecs           = ours ? MatCreateVecs_Spmv : aij->getvecs;
  A->ops->bindtocpu         = ours ? MatBindToCPU_MPISpmv : aij->bindtocpu;
  A->ops->view              = ours ? MatView_MPISpmv : aij->view;
  PetscFunctionReturn(PETSC_SUCCESS);
}
