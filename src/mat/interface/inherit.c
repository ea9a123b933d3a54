/*
  inherit.c - when the options of a matrix are read, and who takes over whose settings

  Options are read in ops->setfromoptions, and at the first product of a Mat that never saw it. A parallel Mat reads them
  once and hands them to its blocks, which have no options of their own. Duplicates, submatrices and products take over the
  settings of the Mat they come from, never its storage. Who is given a prefix after that (PCBJACOBI and PCASM call their
  submatrices sub_) has, at its first product, its own options as well.
*/
#include "spmvmat.h"

/* A block of a parallel Mat, to which PCBJACOBI has given a prefix, cannot have floats of its own: the parallel Mat has them
   too */
static PetscErrorCode MatSpmvRefuseBlock(Mat A)
{
  const char *prefix   = ((PetscObject)A)->prefix;
  char        value[8] = "";
  PetscBool   floats;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(((PetscObject)A)->options, prefix, "-mat_spmv_values", value, sizeof(value), NULL));
  PetscCall(PetscStrcasecmp(value, "float", &floats));
  PetscCheck(
    !floats, PETSC_COMM_SELF, PETSC_ERR_SUP,
    "-%smat_spmv_values float is about the diagonal block of a parallel matrix, which shares its storage; leave it out, or "
    "set -pc_bjacobi_local_blocks to 2 or more, which are copies",
    prefix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes sure that A has settings: reads the options of a Mat that MatSetFromOptions() never saw. Collective on A */
PetscErrorCode MatSpmvEnsureSettings(Mat A)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (shadow->settings.known && !(shadow->settings.inherited && ((PetscObject)A)->prefix)) PetscFunctionReturn(PETSC_SUCCESS);
  if (shadow->settings.known && shadow->seq.is_block) {
    PetscCall(MatSpmvRefuseBlock(A));
    shadow->settings.inherited = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscObjectOptionsBegin((PetscObject)A);
  PetscCall(MatSpmvReadOptions(A, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B, if it is of A's format, takes over A's settings; a viewer only if both live on as many processes */
PetscErrorCode MatSpmvInheritSettings(Mat A, Mat B)
{
  const SpmvFormat *fa, *fb;
  SpmvShadow       *sa, *sb;
  PetscInt          version;
  PetscMPIInt       compare;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &fa));
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &fb));
  if (!fa || fa != fb) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &sa));
  PetscCall(MatSpmvGetShadow(B, &sb));
  if (!sa->settings.known) PetscFunctionReturn(PETSC_SUCCESS);
  version = sb->settings.version;
  PetscCall(PetscViewerDestroy(&sb->settings.viewer));
  sb->settings           = sa->settings;
  sb->settings.version   = version + 1;
  sb->settings.inherited = PETSC_TRUE;
  PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)A), PetscObjectComm((PetscObject)B), &compare));
  if (compare == MPI_UNEQUAL) sb->settings.viewer = NULL;
  PetscCall(PetscObjectReference((PetscObject)sb->settings.viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A duplicate B of A takes over its settings, and what was chosen for its blocks, which holds as long as B's pattern is A's. One
  that was made while A had its parent's type name is plain AIJ, and is not to have our functions
*/
PetscErrorCode MatSpmvInheritByDuplicate(Mat A, Mat B)
{
  const SpmvFormat *format;
  SpmvShadow       *s;
  SpmvBlocks        from, to;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &format));
  if (!format) {
    PetscCall(MatSpmvCompose(B, s->parent, PETSC_FALSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSpmvInheritSettings(A, B));
  PetscCall(MatSpmvGetBlocks(A, &from));
  PetscCall(MatSpmvGetBlocks(B, &to));
  for (int k = 0; k < PetscMin(from.n, to.n); k++) to.shadow[k]->seq.choice = from.shadow[k]->seq.choice;
  PetscCall(MatSpmvInheritLevel(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product takes over the settings of the first of its factors that is of its format, -mat_spmv_product_values for its own */
PetscErrorCode MatSpmvInheritFromFactors(Mat A)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (shadow->settings.known || !A->product) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->product->A) PetscCall(MatSpmvInheritSettings(A->product->A, A));
  if (!shadow->settings.known && A->product->B) PetscCall(MatSpmvInheritSettings(A->product->B, A));
  if (shadow->settings.productfloats) shadow->settings.floats = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
