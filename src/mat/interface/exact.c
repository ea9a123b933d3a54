/*
  exact.c - the few functions of PETSc that serve an AIJ matrix only under its exact type name

  They compare with MATSEQAIJ or MATMPIAIJ letter by letter, and refuse a child or, worse, read it as something else. For as
  long as such a function takes, a Mat of ours bears its parent's name. The functions are registered by name, so ours are
  registered in their place and call them.
*/
#include "spmvmat.h"
#include <petsc/private/pcimpl.h>
#include <petscmatcoarsen.h>

/*
  MatSpmvBearParent - gives A its parent's type name; does nothing to a Mat that is not ours

  Output Parameter:
. name - for MatSpmvBearOwn(), at least 64 characters
*/
PetscErrorCode MatSpmvBearParent(Mat A, char name[])
{
  const SpmvFormat *format;
  SpmvParent       *parent;

  PetscFunctionBegin;
  name[0] = 0;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetParent(A, &parent));
  PetscCall(PetscStrncpy(name, ((PetscObject)A)->type_name, 64));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parent->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives A its own name back */
PetscErrorCode MatSpmvBearOwn(Mat A, const char name[])
{
  PetscFunctionBegin;
  if (name[0]) PetscCall(PetscObjectChangeTypeName((PetscObject)A, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's functions of these names: constructor, and the operation that compares type names */
static struct {
  const char *type;
  PetscErrorCode (*create)(MatColoring);
  PetscErrorCode (*apply)(MatColoring, ISColoring *);
} Colorings[] = {
  {MATCOLORINGGREEDY, NULL, NULL},
  {MATCOLORINGJP, NULL, NULL}};

static struct {
  const char *type;
  PetscErrorCode (*create)(MatCoarsen);
  PetscErrorCode (*apply)(MatCoarsen);
} Coarsens[] = {
  {MATCOARSENHEM, NULL, NULL}};

static struct {
  const char *type;
  PetscErrorCode (*create)(PC);
  PetscErrorCode (*setup)(PC);
} PCs[] = {
  {PCCP, NULL, NULL},  /* refuses */
  {PCTFS, NULL, NULL}, /* refuses */
  {PCILU, NULL, NULL}  /* takes back -pc_factor_shift_type nonzero */
};

/* *k is the line of a table that has the type of an object */
#define SPMV_FIND(table, object, k) \
  for (k = 0; k < PETSC_STATIC_ARRAY_LENGTH(table); k++) { \
    PetscBool same; \
\
    PetscCall(PetscStrcmp(((PetscObject)object)->type_name, table[k].type, &same)); \
    if (same) break; \
  } \
  PetscCheck(k < PETSC_STATIC_ARRAY_LENGTH(table), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is not registered by libpetscspmv", ((PetscObject)object)->type_name)

/* Runs a call while a Mat bears its parent's type name; an error of it is passed on once the Mat has its own again */
#define SPMV_AS_PARENT(mat, call) \
  do { \
    char           type[64]; \
    PetscErrorCode ierr; \
\
    PetscCall(MatSpmvBearParent(mat, type)); \
    ierr = (call); \
    PetscCall(MatSpmvBearOwn(mat, type)); \
    PetscCall(ierr); \
  } while (0)

static PetscErrorCode MatColoringApply_Spmv(MatColoring mc, ISColoring *coloring)
{
  size_t k;

  PetscFunctionBegin;
  SPMV_FIND(Colorings, mc, k);
  SPMV_AS_PARENT(mc->mat, (*Colorings[k].apply)(mc, coloring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCoarsenApply_Spmv(MatCoarsen coarsen)
{
  size_t k;

  PetscFunctionBegin;
  SPMV_FIND(Coarsens, coarsen, k);
  SPMV_AS_PARENT(coarsen->graph, (*Coarsens[k].apply)(coarsen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Spmv(PC pc)
{
  size_t k;

  PetscFunctionBegin;
  SPMV_FIND(PCs, pc, k);
  SPMV_AS_PARENT(pc->pmat, (*PCs[k].setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constructors: PETSc's, whose operation is kept and replaced. They are handed the line of their table */
static PetscErrorCode MatColoringCreate_Spmv(MatColoring mc, size_t k)
{
  PetscFunctionBegin;
  PetscCall((*Colorings[k].create)(mc));
  Colorings[k].apply = mc->ops->apply;
  mc->ops->apply     = MatColoringApply_Spmv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_Spmv(PC pc, size_t k)
{
  PetscFunctionBegin;
  PetscCall((*PCs[k].create)(pc));
  PCs[k].setup   = pc->ops->setup;
  pc->ops->setup = PCSetUp_Spmv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCoarsenCreate_HEM_Spmv(MatCoarsen coarsen)
{
  PetscFunctionBegin;
  PetscCall((*Coarsens[0].create)(coarsen));
  Coarsens[0].apply   = coarsen->ops->apply;
  coarsen->ops->apply = MatCoarsenApply_Spmv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatColoringCreate_Greedy_Spmv(MatColoring mc)
{
  return MatColoringCreate_Spmv(mc, 0);
}
static PetscErrorCode MatColoringCreate_JP_Spmv(MatColoring mc)
{
  return MatColoringCreate_Spmv(mc, 1);
}
static PetscErrorCode PCCreate_CP_Spmv(PC pc)
{
  return PCCreate_Spmv(pc, 0);
}
static PetscErrorCode PCCreate_TFS_Spmv(PC pc)
{
  return PCCreate_Spmv(pc, 1);
}
static PetscErrorCode PCCreate_ILU_Spmv(PC pc)
{
  return PCCreate_Spmv(pc, 2);
}

/* Factorisation in place merges A with a factor of type seqaij; in newer releases MatHeaderMerge() wants two of the same name */
PetscErrorCode MatLUFactor_SeqSpmv(Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  SPMV_AS_PARENT(A, (*SpmvParentSeq.ops.lufactor)(A, row, column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatILUFactor_SeqSpmv(Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  SPMV_AS_PARENT(A, (*SpmvParentSeq.ops.ilufactor)(A, row, column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ops behind MatSeqAIJKron_C */
PetscErrorCode MatSeqAIJKron_SeqSpmv(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  char           a[64], b[64] = "";
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvBearParent(A, a));
  if (B != A) PetscCall(MatSpmvBearParent(B, b));
  ierr = (*SpmvParentSeq.kron)(A, B, reuse, C);
  PetscCall(MatSpmvBearOwn(A, a));
  PetscCall(MatSpmvBearOwn(B, b));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts ours in the place of PETSc's, once after each PetscInitialize() */
PetscErrorCode SpmvRegisterExact(void)
{
  PetscErrorCode (*const colorings[])(MatColoring) = {MatColoringCreate_Greedy_Spmv, MatColoringCreate_JP_Spmv};
  PetscErrorCode (*const coarsens[])(MatCoarsen)   = {MatCoarsenCreate_HEM_Spmv};
  PetscErrorCode (*const pcs[])(PC)                = {PCCreate_CP_Spmv, PCCreate_TFS_Spmv, PCCreate_ILU_Spmv};

  PetscFunctionBegin;
  PetscCall(PCInitializePackage()); /* MatInitializePackage() has been called */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Colorings); k++) {
    PetscCall(PetscFunctionListFind(MatColoringList, Colorings[k].type, &Colorings[k].create));
    if (Colorings[k].create) PetscCall(MatColoringRegister(Colorings[k].type, colorings[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Coarsens); k++) {
    PetscCall(PetscFunctionListFind(MatCoarsenList, Coarsens[k].type, &Coarsens[k].create));
    if (Coarsens[k].create) PetscCall(MatCoarsenRegister(Coarsens[k].type, coarsens[k]));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(PCs); k++) {
    PetscCall(PetscFunctionListFind(PCList, PCs[k].type, &PCs[k].create));
    if (PCs[k].create) PetscCall(PCRegister(PCs[k].type, pcs[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
