/*
  exact.c - the few functions of PETSc that serve an AIJ matrix only under its exact type name

  They compare with MATSEQAIJ or MATMPIAIJ letter by letter, and refuse a child or, worse, read it as something else. While such
  a function runs, a Mat of ours has its parent's type name. The functions are registered by name, so ours are registered in
  their place and call them.
*/
#include "spmvmat.h"
#include <petsc/private/pcimpl.h>
#include <petscmatcoarsen.h>

/*
  MatSpmvHideType - gives A its parent's type name; does nothing to a Mat that is not ours

  Output Parameter:
. format - for MatSpmvShowType(), NULL if A is not ours
*/
PetscErrorCode MatSpmvHideType(Mat A, const SpmvFormat **format)
{
  SpmvParent *parent;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, format));
  if (!*format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetParent(A, &parent));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, parent->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives A, whose type name is its parent's, that of our type; does nothing if the format is NULL */
PetscErrorCode MatSpmvShowType(Mat A, const SpmvFormat *format)
{
  char type[64];

  PetscFunctionBegin;
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(type, sizeof(type), "%s%s", ((PetscObject)A)->type_name, format->name));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a call while a Mat has its parent's type name; an error of it is passed on once the Mat has its own again */
#define SPMV_AS_PARENT(mat, call) \
  do { \
    const SpmvFormat *format; \
    PetscErrorCode    ierr; \
\
    PetscCall(MatSpmvHideType(mat, &format)); \
    ierr = (call); \
    PetscCall(MatSpmvShowType(mat, format)); \
    PetscCall(ierr); \
  } while (0)

/* PCILU compares type names for that shift only; else A keeps its name, by which packages of solvers are found */
static PetscBool ComparesILU(PC pc)
{
  MatFactorShiftType shift;

  return (PetscBool)(!PCFactorGetShiftType(pc, &shift) && shift == MAT_SHIFT_NONZERO);
}

/* And its lookup of a package by A's name, then, would find PETSc's own unless one is named */
static PetscErrorCode NamePackageILU(PC pc)
{
  const SpmvFormat *format;
  MatSolverType     package;
  PetscBool         inplace, sequential;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)pc->pmat)->type_name, &format));
  PetscCall(PetscStrbeginswith(((PetscObject)pc->pmat)->type_name, MATSEQAIJ, &sequential));
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PCFactorGetUseInPlace(pc, &inplace));
  if (format && sequential && !package && !inplace) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSCSPMV));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SPMV_EXACT - of a type of PETSc's, Name: its constructor, its operation that compares type names, and ours to take their places

  The object is `o`, of a Class; the Mat that the operation looks at is o->member; `compares` says whether it does, `before` is
  called before the Mat's name is hidden. Nothing here asks for the object's type, so that a type of a program's own may reuse the
  constructor
*/
#define SPMV_EXACT(Name, Class, member, operation, compares, before, parameters, arguments) \
  static PetscErrorCode (*Create_##Name)(Class); \
  static PetscErrorCode(*Operation_##Name) parameters; \
\
  static PetscErrorCode Operation_##Name##_Spmv parameters \
  { \
    PetscFunctionBegin; \
    if (compares) { \
      PetscCall(before); \
      SPMV_AS_PARENT(o->member, (*Operation_##Name)arguments); \
    } else PetscCall((*Operation_##Name)arguments); \
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

SPMV_EXACT(Greedy, MatColoring, mat, apply, PETSC_TRUE, PETSC_SUCCESS, (MatColoring o, ISColoring *coloring), (o, coloring))
SPMV_EXACT(JP, MatColoring, mat, apply, PETSC_TRUE, PETSC_SUCCESS, (MatColoring o, ISColoring *coloring), (o, coloring))
SPMV_EXACT(HEM, MatCoarsen, graph, apply, PETSC_TRUE, PETSC_SUCCESS, (MatCoarsen o), (o))
SPMV_EXACT(CP, PC, pmat, setup, PETSC_TRUE, PETSC_SUCCESS, (PC o), (o))          /* refuses */
SPMV_EXACT(TFS, PC, pmat, setup, PETSC_TRUE, PETSC_SUCCESS, (PC o), (o))         /* refuses */
SPMV_EXACT(ILU, PC, pmat, setup, ComparesILU(o), NamePackageILU(o), (PC o), (o)) /* takes back -pc_factor_shift_type nonzero */

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

/* Behind MatSeqAIJKron_C */
PetscErrorCode MatSeqAIJKron_SeqSpmv(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  const SpmvFormat *a, *b = NULL;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCall(MatSpmvHideType(A, &a));
  if (B != A) PetscCall(MatSpmvHideType(B, &b));
  ierr = (*SpmvParentSeq.kron)(A, B, reuse, C);
  PetscCall(MatSpmvShowType(A, a));
  PetscCall(MatSpmvShowType(B, b));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps PETSc's constructor of a type, if there is one, and registers ours */
#define SPMV_REPLACE(Class, type, theirs, ours) \
  do { \
    PetscCall(PetscFunctionListFind(Class##List, type, &theirs)); \
    if (theirs) PetscCall(Class##Register(type, ours)); \
  } while (0)

/* Replaces PETSc's constructors by ours, once after each PetscInitialize() */
PetscErrorCode SpmvRegisterExact(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage()); /* MatInitializePackage() has been called */
  SPMV_REPLACE(MatColoring, MATCOLORINGGREEDY, Create_Greedy, Create_Greedy_Spmv);
  SPMV_REPLACE(MatColoring, MATCOLORINGJP, Create_JP, Create_JP_Spmv);
  SPMV_REPLACE(MatCoarsen, MATCOARSENHEM, Create_HEM, Create_HEM_Spmv);
  SPMV_REPLACE(PC, PCCP, Create_CP, Create_CP_Spmv);
  SPMV_REPLACE(PC, PCTFS, Create_TFS, Create_TFS_Spmv);
  SPMV_REPLACE(PC, PCILU, Create_ILU, Create_ILU_Spmv);
  PetscFunctionReturn(PETSC_SUCCESS);
}
