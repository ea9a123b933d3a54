/*
  matmpi.c - the parallel type: AIJ's own, with both blocks of our sequential type

  AIJ's product begins to send x, calls the product of the diagonal block, waits, and calls the multiply-add of the
  off-diagonal block: communication is overlapped already, so only the blocks change. For devices there is a product of our
  own that does the same with ghosts.c; transposed products and SOR are AIJ's, with vectors of the host. AIJ makes plain blocks
  in several places (preallocation, COO, MatHeaderMerge()), so they are looked at before each use rather than after each such
  place.
*/
#include "spmvmat.h"
#include "../../vec/vecaccel.h"

/* A block of any child of AIJ becomes one of ours; one that is ours already is left alone */
static PetscErrorCode MatSpmvConvertBlock(Mat B, const SpmvFormat *format)
{
  const SpmvFormat *has;
  PetscBool         plain;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &has));
  if (has == format) PetscFunctionReturn(PETSC_SUCCESS);
  if (has) PetscCall(MatSpmvToAIJ(B));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJ, &plain));
  if (!plain) PetscCall(MatConvert(B, MATSEQAIJ, MAT_INPLACE_MATRIX, &B)); /* -mat_seqaij_type */
  PetscCall(MatSpmvFromAIJ(B, format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a block one of ours, with A's settings, and tells it if A changed: MatSetValuesCOO() raises the state of A only */
static PetscErrorCode MatSpmvPrepareBlock(Mat A, SpmvShadow *s, int k, Mat B, SpmvShadow **block)
{
  SpmvShadow *b;
  PetscBool   wanted, has;

  PetscFunctionBegin;
  PetscCall(MatSpmvConvertBlock(B, s->type));
  PetscCall(MatSpmvGetShadow(B, &b));
  if (s->settings.known && (!b->seq.is_block || s->version != s->settings.version)) {
    PetscCall(MatSpmvInheritSettings(A, B));
    b->seq.is_block = PETSC_TRUE;
    SpmvLabelBlock(s, k, b);
    PetscCall(PetscViewerDestroy(&b->settings.viewer)); /* A prints for its blocks */
    b->settings.tuneview = PETSC_FALSE;
  }
  if (s->state != ((PetscObject)A)->state) {
    b->seq.touched = b->seq.sweeps.touched = PETSC_TRUE;
    SpmvLabelBlock(s, k, b);
  }
  PetscCall(MatSpmvBind(B, s->bound));
  PetscCall(PetscStrcmp(A->defaultvectype, VECACCEL, &wanted)); /* by MatSetVecType(): PCBJACOBI asks the block */
  PetscCall(PetscStrcmp(B->defaultvectype, VECACCEL, &has));
  if (wanted != has) PetscCall(MatSetVecType(B, wanted ? VECACCEL : VECSTANDARD));
  b->agreed = s->agreed;
  *block    = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sequential matrices that hold the storages: the two blocks of a parallel Mat, ready for use, or A itself */
PetscErrorCode MatSpmvGetBlocks(Mat A, SpmvBlocks *blocks)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  *blocks = (SpmvBlocks){.n = 1, .mat = {A}, .shadow = {s}};
  if (s->parent != &SpmvParentMPI) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks->mat[0], &blocks->mat[1], NULL));
  blocks->n = blocks->mat[0] ? 2 : 0;
  if (s->state != ((PetscObject)A)->state || s->version != s->settings.version) PetscCall(MatSpmvLabel(A, s));
  for (int k = 0; k < blocks->n; k++) PetscCall(MatSpmvPrepareBlock(A, s, k, blocks->mat[k], &blocks->shadow[k]));
  if (blocks->n) PetscCall(MatSpmvGetDeclared(A, &blocks->shadow[0]->seq.declared)); /* PETSc does not tell the block */
  if (blocks->n) blocks->shadow[0]->seq.global = A->rmap->rstart;
  s->state   = ((PetscObject)A)->state;
  s->version = s->settings.version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  z <- y + A x, y NULL for 0, for devices: ghosts are packed where x lives, and come while the diagonal block is multiplied. Where
  z lives on the host, both blocks add to a vector on the device, so that it moves once
*/
static PetscErrorCode MatSpmvMultDevice(Mat A, SpmvShadow *s, const SpmvBlocks *blocks, Vec x, Vec y, Vec z)
{
  Vec            sum = z;
  PetscInt       n;
  PetscBool      there;
  SpmvGhosts    *ghosts;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCheck(n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A has %" PetscInt_FMT " columns on this process and x has %" PetscInt_FMT " entries; create x with MatCreateVecs()",
             A->cmap->n, n);
  PetscCall(SpmvVecIsDevice(z, &there));
  if (!there && blocks->shadow[0]->seq.built.device) {
    if (!s->mpi.result) PetscCall(SpmvVecCreateLocal(A->rmap->n, &s->mpi.result));
    if (y) PetscCall(SpmvVecCopyLocal(y, s->mpi.result));
    if (y) y = s->mpi.result;
    sum = s->mpi.result;
  }
  PetscCall(MatSpmvGetGhosts(A, s, &ghosts));
  PetscCall(SpmvGhostsBegin(ghosts, x));
  ierr = MatSpmvProduct(blocks->mat[0], x, y, sum, PETSC_FALSE);
  PetscCall(SpmvGhostsEnd(ghosts, x)); /* before any error, so that the next product can begin */
  PetscCall(ierr);
  PetscCall(MatSpmvProduct(blocks->mat[1], ghosts->x, sum, sum, PETSC_FALSE));
  if (sum != z) PetscCall(SpmvVecCopyLocal(sum, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- y + op(A) x, y NULL for 0 */
PetscErrorCode MatSpmvProduct_MPI(Mat A, SpmvShadow *s, Vec x, Vec y, Vec z, PetscBool transpose)
{
  PetscInt   backend;
  SpmvBlocks blocks;

  PetscFunctionBegin;
  PetscCall(MatSpmvAgreeOnBackend(A, &backend));
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  if (backend == SPMV_BACKEND_DEVICE && !transpose) PetscCall(MatSpmvMultDevice(A, s, &blocks, x, y, z));
  else PetscCall(SpmvProductAIJ(A, &SpmvParentMPI, x, y, z, transpose));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
