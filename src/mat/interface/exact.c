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

/*
  SPMV_EXACT - for a type of PETSc's, Name: its constructor and the operation that compares type names, and ours to take their places

  The object is `o`, of a Class; the Mat that the operation looks at is o->member. A constructor that others call for a type of their own
  works as well, since nothing here asks for the object's type
*/
#define SPMV_EXACT(Name, Class, member, operation, parameters, arguments) \
  static PetscErrorCode (*Create_##Name)(Class); \
  static PetscErrorCode(*Operation_##Name) parameters; \
\
  static PetscErrorCode Operation_##Name##_Spmv parameters \
  { \
    PetscFunctionBegin; \
    SPMV_AS_PARENT(o->member, (*Operation_##Name)arguments); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  static PetscErrorCode Create_##Name##_Spmv(Class o) \
  { \
    PetscFunctionBegin; \
    PetscCall((*Create_##Name)(o)); \
    Operation_##Name  = o->ops->operation; \
    o->ops->operation = Operation_##Name##_Spmv; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

SPMV_EXACT(Greedy, MatColoring, mat, apply, (MatColoring o, ISColoring *coloring), (o, coloring))
SPMV_EXACT(JP, MatColoring, mat, apply, (MatColoring o, ISColoring *coloring), (o, coloring))
SPMV_EXACT(HEM, MatCoarsen, graph, apply, (MatCoarsen o), (o))
SPMV_EXACT(CP, PC, pmat, setup, (PC o), (o))  /* refuses */
SPMV_EXACT(TFS, PC, pmat, setup, (PC o), (o)) /* refuses */
SPMV_EXACT(ILU, PC, pmat, setup, (PC o), (o)) /* takes back -pc_factor_shift_type nonzero */

/* Without that shift PCILU compares nothing, and A keeps its name, by which packages of solvers are found */
static PetscErrorCode PCSetUp_ILU_Spmv(PC pc)
{
  MatFactorShiftType shift;

  PetscFunctionBegin;
  PetscCall(PCFactorGetShiftType(pc, &shift));
  PetscCall((shift == MAT_SHIFT_NONZERO ? Operation_ILU_Spmv : Operation_ILU)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_ILU_Spmv(PC pc)
{
  PetscFunctionBegin;
  PetscCall(Create_ILU_Spmv(pc));
  pc->ops->setup = PCSetUp_ILU_Spmv;
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* Keeps PETSc's constructor of a type, if there is one, and registers ours */
#define SPMV_REPLACE(Class, type, theirs, ours) \
  do { \
    PetscCall(PetscFunctionListFind(Class##List, type, &theirs)); \
    if (theirs) PetscCall(Class##Register(type, ours)); \
  } while (0)

/* Puts ours in the place of PETSc's, once after each PetscInitialize() */
PetscErrorCode SpmvRegisterExact(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage()); /* MatInitializePackage() has been called */
  SPMV_REPLACE(MatColoring, MATCOLORINGGREEDY, Create_Greedy, Create_Greedy_Spmv);
  SPMV_REPLACE(MatColoring, MATCOLORINGJP, Create_JP, Create_JP_Spmv);
  SPMV_REPLACE(MatCoarsen, MATCOARSENHEM, Create_HEM, Create_HEM_Spmv);
  SPMV_REPLACE(PC, PCCP, Create_CP, Create_CP_Spmv);
  SPMV_REPLACE(PC, PCTFS, Create_TFS, Create_TFS_Spmv);
  SPMV_REPLACE(PC, PCILU, Create_ILU, PCCreate_ILU_Spmv);
  PetscFunctionReturn(PETSC_SUCCESS);
}
