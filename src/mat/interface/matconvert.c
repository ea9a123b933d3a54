/*
  matconvert.c - how an AIJ matrix becomes one of ours and back, conversions to and from all other types, and products
  with other types

  A Mat of ours is an AIJ matrix with another type name, some operations replaced, and a shadow. So a conversion from or
  to any other type goes through AIJ, by ops->convertfrom and ops->convert: we need no list of PETSc's converters.
*/
#include "spmvmat.h"

SpmvParent SpmvParentSeq = {.type = MATSEQAIJ}, SpmvParentMPI = {.type = MATMPIAIJ};

static PetscOptions SpmvNoOptions; /* an empty options database: with it -mat_seqaij_type does not change what MATSEQAIJ makes */

static PetscErrorCode MatSetTypeNoOptions(Mat A, MatType type)
{
  PetscOptions saved = ((PetscObject)A)->options;

  PetscFunctionBegin;
  if (!SpmvNoOptions) PetscCall(PetscOptionsCreate(&SpmvNoOptions));
  ((PetscObject)A)->options = SpmvNoOptions;
  PetscCall(MatSetType(A, type));
  ((PetscObject)A)->options = saved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills a parent from a matrix that nothing else has touched: assembly by hash replaces operations for a while */
PetscErrorCode SpmvParentGet(SpmvParent *parent)
{
  Mat A;

  PetscFunctionBegin;
  if (parent->known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetTypeNoOptions(A, parent->type));
  parent->ops = *A->ops;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatRetrieveValues_C", &parent->retrievevalues));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSeqAIJKron_C", &parent->kron));
  PetscCall(MatDestroy(&A));
  parent->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvParentReset(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsDestroy(&SpmvNoOptions));
  SpmvParentSeq.known = SpmvParentMPI.known = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent of a Mat, by its type name */
PetscErrorCode MatSpmvGetParent(Mat A, SpmvParent **parent)
{
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATMPIAIJ, &mpi));
  *parent = mpi ? &SpmvParentMPI : &SpmvParentSeq;
  PetscCall(SpmvParentGet(*parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces our type names inside a "MatProductSetFromOptions_A_B_C" by their parents' */
static PetscErrorCode SpmvProductAppendType(Mat A, char name[], size_t size)
{
  const SpmvFormat *format;
  SpmvParent       *parent;

  PetscFunctionBegin;
  PetscCall(PetscStrlcat(name, "_", size));
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  if (format) {
    PetscCall(MatSpmvGetParent(A, &parent));
    PetscCall(PetscStrlcat(name, parent->type, size));
  } else PetscCall(PetscStrlcat(name, ((PetscObject)A)->type_name, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PETSc looks up a product of different types by their exact names, then asks each factor for one with "anytype". Ours
  takes those with a dense matrix, and else looks up the names again as if the factors were AIJ.
*/
static PetscErrorCode MatProductSetFromOptions_Spmv_Any(Mat D)
{
  Mat  factors[3]          = {D->product->A, D->product->B, D->product->type == MATPRODUCT_ABC ? D->product->C : NULL};
  char name[256]           = "MatProductSetFromOptions";
  PetscErrorCode (*f)(Mat) = NULL;
  PetscBool taken;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_Spmv_Dense(D, &taken));
  if (taken) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; k++) {
    if (factors[k]) PetscCall(SpmvProductAppendType(factors[k], name, sizeof(name)));
  }
  PetscCall(PetscStrlcat(name, "_C", sizeof(name)));
  for (int k = 0; k < 3 && !f; k++) {
    if (factors[k]) PetscCall(PetscObjectQueryFunction((PetscObject)factors[k], name, &f));
  }
  if (f) PetscCall((*f)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc copies the stored values back without a sign of it */
static PetscErrorCode MatRetrieveValues_SeqSpmv(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*SpmvParentSeq.retrievevalues)(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds or takes away what we compose with a Mat */
PetscErrorCode MatSpmvCompose(Mat A, SpmvParent *parent, PetscBool ours)
{
  PetscFunctionBegin;
  if (parent == &SpmvParentSeq) {
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C",
                                         ours ? MatRetrieveValues_SeqSpmv : parent->retrievevalues));
    if (parent->kron)
      PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSeqAIJKron_C", ours ? MatSeqAIJKron_SeqSpmv : parent->kron));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C",
                                       ours ? MatProductSetFromOptions_Spmv_Any : NULL));
  PetscCall(MatSpmvComposeQueries(A, ours));
  PetscCall(MatSpmvComposeTune(A, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_Spmv(Mat, MatType, MatReuse, Mat *);
static PetscErrorCode MatConvertFrom_Spmv(Mat, MatType, MatReuse, Mat *);

/* An AIJ matrix, assembled or not, becomes one of ours; of one that lost its shadow, all is set up again */
PetscErrorCode MatSpmvBecome(Mat A, const SpmvFormat *format)
{
  SpmvParent *parent = NULL;
  SpmvShadow *shadow;
  char        type[64];

  PetscFunctionBegin;
  PetscCall(MatSpmvGetParent(A, &parent));
  PetscCall(PetscSNPrintf(type, sizeof(type), "%s%s", parent->type, format->name));
  PetscCall(PetscNew(&shadow));
  shadow->type   = format;
  shadow->agreed = SPMV_BACKEND_AUTO;
  A->spptr       = shadow;
  SpmvSetBoundToCPU(A, PETSC_FALSE);
  PetscCall((parent == &SpmvParentSeq ? MatSpmvSetOps_Seq : MatSpmvSetOps_MPI)(A, PETSC_TRUE));
  A->ops->convert     = MatConvert_Spmv;
  A->ops->convertfrom = MatConvertFrom_Spmv;
  PetscCall(MatSpmvCompose(A, parent, PETSC_TRUE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of ours becomes plain AIJ; so do the blocks of a parallel Mat */
PetscErrorCode MatSpmvRevert(Mat A)
{
  SpmvParent       *parent;
  const SpmvFormat *format;
  Mat               blocks[2] = {NULL, NULL};

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetParent(A, &parent));
  if (parent == &SpmvParentMPI) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  for (int k = 0; k < 2; k++) {
    if (blocks[k]) PetscCall(MatSpmvRevert(blocks[k]));
  }
  PetscCall(MatSpmvDestroyShadow(A));
  SpmvSetBoundToCPU(A, PETSC_TRUE);
  PetscCall((parent == &SpmvParentSeq ? MatSpmvSetOps_Seq : MatSpmvSetOps_MPI)(A, PETSC_FALSE));
  A->ops->convert     = parent->ops.convert;
  A->ops->convertfrom = parent->ops.convertfrom;
  PetscCall(MatSpmvCompose(A, parent, PETSC_FALSE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parent->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What ops->destroy of both types does. The type name cannot tell which: MatHeaderMerge() has taken it */
PetscErrorCode MatDestroy_Spmv(Mat A, SpmvParent *parent)
{
  PetscFunctionBegin;
  PetscCall(MatSpmvDestroyShadow(A));
  PetscCall(MatSpmvCompose(A, parent, PETSC_FALSE));
  PetscCall((*parent->ops.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Spmv(Mat A, SpmvParent *parent, const SpmvFormat *format)
{
  PetscFunctionBegin;
  PetscCall(SpmvParentGet(parent));
  PetscCall(MatSetTypeNoOptions(A, parent->type));
  PetscCall(MatSpmvBecome(A, format));
  /* MatSetUp(); MatSetFromOptions(): with AIJ the second keeps what the first allocated, so we must not lose it either */
  if (A->rmap->setupcalled && A->cmap->setupcalled) PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For MatSeqAIJRegister(): -mat_seqaij_type */
PetscErrorCode MatConvert_SeqAIJ_SeqSpmv(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  const SpmvFormat *format;

  PetscFunctionBegin;
  if (reuse != MAT_INPLACE_MATRIX) {
    PetscCall(MatConvertFrom_Spmv(A, type, reuse, M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvFormatFind(type, &format));
  PetscCall(MatSpmvRevert(A));
  PetscCall(MatSpmvBecome(A, format));
  *M = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any type to ours, through AIJ */
static PetscErrorCode MatConvertFrom_Spmv(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  const SpmvFormat *format, *from;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(type, &format));
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &from));
  if (format == from) { /* a name of the type it has, such as the short one */
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
    else if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatSpmvRevert(*M));
  PetscCall(MatConvert(A, MATAIJ, reuse, M));
  PetscCall(MatSpmvBecome(*M, format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours to AIJ */
static PetscErrorCode MatConvert_Spmv_AIJ(Mat A, MatReuse reuse, Mat *M)
{
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
  PetscCall(MatSpmvRevert(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours to any other type in place: first to AIJ, for siblings such as aijperm only add to what is there */
static PetscErrorCode MatConvert_Spmv_Inplace(Mat A, MatType type, Mat *M)
{
  const SpmvFormat *format;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  PetscCall(MatSpmvRevert(A));
  ierr = MatConvert(A, type, MAT_INPLACE_MATRIX, M);
  if (ierr) PetscCall(MatSpmvBecome(A, format)); /* no such conversion: A is what it was */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours to any type: for as long as it takes, A bears its parent's name, which PETSc's converters are looked up by */
static PetscErrorCode MatConvert_Spmv(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  SpmvParent    *parent = NULL;
  PetscBool      base;
  char           name[64];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetParent(A, &parent));
  PetscCall(PetscStrcmp(type, MATAIJ, &base));
  if (!base) PetscCall(PetscStrcmp(type, parent->type, &base));
  if (base) PetscCall(MatConvert_Spmv_AIJ(A, reuse, M));
  else if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatConvert_Spmv_Inplace(A, type, M));
  else {
    PetscCall(MatSpmvBearParent(A, name));
    A->ops->convert = parent->ops.convert;
    ierr            = MatConvert(A, type, reuse, M);
    PetscCall(MatSpmvBearOwn(A, name));
    A->ops->convert = MatConvert_Spmv;
    PetscCall(ierr);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
