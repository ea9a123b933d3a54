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

/* The parent of a Mat of AIJ or ours, by its type name */
PetscErrorCode MatSpmvGetParent(Mat A, SpmvParent **parent)
{
  PetscBool mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATMPIAIJ, &mpi));
  *parent = mpi ? &SpmvParentMPI : &SpmvParentSeq;
  PetscCall(SpmvParentGet(*parent));
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
  for (int k = 0; k < 3 && factors[k]; k++) {
    const SpmvFormat *format;
    SpmvParent       *parent;

    PetscCall(SpmvFormatFind(((PetscObject)factors[k])->type_name, &format));
    PetscCall(MatSpmvGetParent(factors[k], &parent));
    PetscCall(SpmvAppend(name, sizeof(name), "_%s", format ? parent->type : ((PetscObject)factors[k])->type_name));
  }
  PetscCall(PetscStrlcat(name, "_C", sizeof(name)));
  for (int k = 0; k < 3 && factors[k] && !f; k++) PetscCall(PetscObjectQueryFunction((PetscObject)factors[k], name, &f));
  if (f) PetscCall((*f)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc copies the stored values back without a sign of it */
static PetscErrorCode MatRetrieveValues_Spmv(Mat A)
{
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall((*s->parent->retrievevalues)(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What users may ask of a Mat of ours without linking with this library */
static const struct {
  const char *name;
  void (*function)(void);
} Composed[] = {
  {"MatProductSetFromOptions_anytype_C", (void (*)(void))MatProductSetFromOptions_Spmv_Any},
  {"MatSpmvGetCounts_C", (void (*)(void))MatSpmvGetCounts},
  {"MatSpmvGetBytes_C", (void (*)(void))MatSpmvGetBytes},
  {"MatSpmvGetPlan_C", (void (*)(void))MatSpmvGetPlan},
  {"MatSpmvGetSetup_C", (void (*)(void))MatSpmvGetSetup},
  {"MatSpmvSetTune_C", (void (*)(void))MatSpmvSetTune},
  {"MatSpmvSetTuneSeconds_C", (void (*)(void))MatSpmvSetTuneSeconds},
  {"MatSpmvSetTuneCheck_C", (void (*)(void))MatSpmvSetTuneCheck},
  {"MatSpmvSetTuneFormats_C", (void (*)(void))MatSpmvSetTuneFormats},
  {"MatSpmvSetExpectedCalls_C", (void (*)(void))MatSpmvSetExpectedCalls},
  {"MatSpmvSetWisdom_C", (void (*)(void))MatSpmvSetWisdom},
  {"MatSpmvGetTransfers_C", (void (*)(void))MatSpmvGetTransfers},
  {"MatSpmvDeviceRepeat_C", (void (*)(void))MatSpmvDeviceRepeat},
};

/*
  Composes our functions with A, or takes them away; parent is NULL if A is destroyed, which takes away AIJ's. MatHeaderMerge()
  destroys A's inside without its list of functions: one that we begin then is lost
*/
PetscErrorCode MatSpmvCompose(Mat A, const SpmvParent *parent, PetscBool ours)
{
  PetscObject o = (PetscObject)A;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Composed); k++)
    PetscCall(PetscObjectComposeFunction(o, Composed[k].name, ours ? Composed[k].function : NULL));
  if (parent && parent->retrievevalues)
    PetscCall(PetscObjectComposeFunction(o, "MatRetrieveValues_C", ours ? MatRetrieveValues_Spmv : parent->retrievevalues));
  if (parent && parent->kron)
    PetscCall(PetscObjectComposeFunction(o, "MatSeqAIJKron_C", ours ? MatSeqAIJKron_SeqSpmv : parent->kron));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An AIJ matrix, assembled or not, becomes one of ours; of one that lost its shadow, all is set up again */
PetscErrorCode MatSpmvFromAIJ(Mat A, const SpmvFormat *format)
{
  SpmvParent *parent;
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetParent(A, &parent));
  PetscCall(PetscNew(&shadow));
  shadow->type   = format;
  shadow->parent = parent;
  shadow->agreed = SPMV_BACKEND_AUTO;
  A->spptr       = shadow;
  SpmvShadowBorn(shadow);
  SpmvSetBoundToCPU(A, PETSC_FALSE);
  MatSpmvSetOps(A, parent, PETSC_TRUE);
  PetscCall(MatSpmvCompose(A, parent, PETSC_TRUE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parent->type));
  PetscCall(MatSpmvShowType(A, format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of ours becomes plain AIJ; so do the blocks of a parallel Mat. Does nothing to one that is not ours */
PetscErrorCode MatSpmvToAIJ(Mat A)
{
  SpmvParent       *parent;
  const SpmvFormat *format;
  Mat               blocks[2] = {NULL, NULL};

  PetscFunctionBegin;
  PetscCall(MatSpmvHideType(A, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetParent(A, &parent));
  if (parent == &SpmvParentMPI) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  for (int k = 0; k < 2; k++) {
    if (blocks[k]) PetscCall(MatSpmvToAIJ(blocks[k]));
  }
  PetscCall(MatSpmvDestroyShadow(A));
  SpmvSetBoundToCPU(A, PETSC_TRUE);
  MatSpmvSetOps(A, parent, PETSC_FALSE);
  MatSpmvGiveBackDiagonalBlock(A);
  PetscCall(MatSpmvCompose(A, parent, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new Mat of ours */
PetscErrorCode MatCreate_Spmv(Mat A, SpmvParent *parent, const SpmvFormat *format)
{
  PetscFunctionBegin;
  PetscCall(SpmvParentGet(parent));
  PetscCall(MatSetTypeNoOptions(A, parent->type));
  PetscCall(MatSpmvFromAIJ(A, format));
  /* MatSetUp(); MatSetFromOptions(): with AIJ the second keeps what the first allocated, so we must not lose it either */
  if (A->rmap->setupcalled && A->cmap->setupcalled) PetscCall(MatSetUp(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The settings of a Mat whose shadow is made anew, with their viewer; to be given back */
static PetscErrorCode MatSpmvKeepSettings(Mat A, SpmvSettings *settings)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  *settings = shadow->settings;
  PetscCall(PetscObjectReference((PetscObject)settings->viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSpmvGiveSettings(Mat A, const SpmvSettings *settings)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (settings->known) shadow->settings = *settings;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any type to ours, through AIJ; also for MatSeqAIJRegister(), which -mat_seqaij_type needs before there are rows to convert */
PetscErrorCode MatConvertFrom_Spmv(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  const SpmvFormat *format, *from, *was;
  SpmvSettings      settings = {0}; /* of the matrix that is used again, whose shadow is made anew */
  PetscBool         plain;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(type, &format));
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &from));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  if (format == from) { /* a name of the type it has, such as the short one */
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
    else if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(SpmvFormatFind(((PetscObject)*M)->type_name, &was));
    if (was == format) PetscCall(MatSpmvKeepSettings(*M, &settings));
  }
  if (reuse != MAT_INITIAL_MATRIX) PetscCall(MatSpmvToAIJ(*M));
  if (reuse != MAT_INPLACE_MATRIX || (!plain && !from)) PetscCall(MatConvert(A, MATAIJ, reuse, M));
  PetscCall(MatSpmvFromAIJ(*M, format));
  PetscCall(MatSpmvGiveSettings(*M, &settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours to any other type in place: first to AIJ, for siblings such as aijperm only add to what is there */
static PetscErrorCode MatSpmvConvertInPlace(Mat A, MatType type, Mat *M)
{
  const SpmvFormat *format;
  SpmvSettings      settings;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  PetscCall(MatSpmvKeepSettings(A, &settings));
  PetscCall(MatSpmvToAIJ(A));
  ierr = MatConvert(A, type, MAT_INPLACE_MATRIX, M);
  if (ierr) { /* no such conversion: A is of the type it was, with the settings it had; its counts begin anew */
    PetscCall(MatSpmvFromAIJ(A, format));
    PetscCall(MatSpmvGiveSettings(A, &settings));
  } else PetscCall(PetscViewerDestroy(&settings.viewer));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ours to any type: while it takes, A has its parent's name, which PETSc's converters are looked up by */
PetscErrorCode MatConvert_Spmv(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  const SpmvFormat *format;
  SpmvParent       *parent;
  PetscBool         base;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetParent(A, &parent));
  PetscCall(PetscStrcmp(type, MATAIJ, &base));
  if (!base) PetscCall(PetscStrcmp(type, parent->type, &base));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatSpmvConvertInPlace(A, type, M));
  else if (base && reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
  else if (base) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
    PetscCall(MatSpmvToAIJ(*M));
  } else {
    PetscCall(MatSpmvHideType(A, &format));
    A->ops->convert = parent->ops.convert;
    ierr            = MatConvert(A, type, reuse, M);
    PetscCall(MatSpmvShowType(A, format));
    A->ops->convert = MatConvert_Spmv;
    PetscCall(ierr);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
