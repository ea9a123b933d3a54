/*
  matfactor.c - the package "petscspmv": ILU(k) and ICC(k), factored by PETSc, solved with by host/triangles

  MatGetFactor() without a package takes the first one that is registered for a matrix's exact type: ours, for our types. The
  factor is the one that PETSc's own package creates, and both factorisations are PETSc's. They are wrapped, since each sets
  operations anew: the symbolic one to see the orderings, the numeric one to put our solves in the place of PETSc's. What is ours
  is composed with the factor and destroyed with it.

  A solve finds triangles that have the factor's values, or some with old values, which are replaced, or none, which are built.
  The last two wait for a fourth of -mat_spmv_build_after solves by PETSc since the values changed, as products do (shadow.c).
*/
#include "matfactor.h"
#include <petsctime.h>

#define SPMV_FACTOR "petscspmv_factor"

/*MC
  MATSOLVERPETSCSPMV - "petscspmv": ILU(k) and ICC(k) of PETSc's, with solves of this library

  Ordering, shifts, levels, fill and both factorisations are those of `MATSOLVERPETSC`, and so is the factor. Of it a storage is
  made for `MatSolve()`, `MatSolveTranspose()`, `MatMatSolve()`, `MatForwardSolve()` and `MatBackwardSolve()`.

  Options Database Keys:
+ -pc_factor_mat_solver_type petscspmv - what `PCILU` and `PCICC` take for matrices of this library's types; petsc: PETSc's
. -mat_spmv_solve
- -mat_spmv_solve_values

  Level: beginner

  Notes:
  Sums are added up in another order than PETSc's: results differ by the last bits. They are the same bits each time.

  For a `MATSEQAIJ` it is there for who names it, with the defaults of these options.

  With -mat_spmv_solve_values float the values of the factor that solves read are in single precision, each wrong by up to 6e-8
  (2^-24) of itself, unless one is above 3e38. Sums are double, and the factor itself keeps PETSc's scalars.

  PETSc's kernel serves a fourth of -mat_spmv_build_after solves before the storage is built.

  Factorisation in place is PETSc's alone. A factor that failed, or whose values are not finite, is solved with by PETSc.

.seealso: `MatSpmvOptions`, `MATSPMV`, `MATSOLVERPETSC`, `MatGetFactor()`, `PCILU`, `PCICC`
M*/

/* What is ours of a factor that MatGetFactor_Spmv() made */
PetscErrorCode MatSpmvGetFactor(Mat F, SpmvFactor **f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, SPMV_FACTOR, (PetscObject *)&container));
  PetscCheck(container, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A factor of package %s has nothing of ours", MATSOLVERPETSCSPMV);
  PetscCall(PetscContainerGetPointer(container, (void **)f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops what was built for a pattern */
static PetscErrorCode SpmvFactorDrop(SpmvFactor *f)
{
  PetscFunctionBegin;
  PetscCall(SpmvFactorEnds(f));
  PetscCall(PetscMemzero(&f->spent, sizeof(f->spent)));
  f->reason = NULL;
  for (int k = 0; k < 2; k++) {
    PetscCall(SpmvServingReset(&f->part[k].serving));
    PetscCall(SpmvFactorRowsDestroy(&f->part[k].rows));
    f->part[k].refused = f->part[k].tried = PETSC_FALSE;
  }
  PetscCall(SpmvFree(&f->work));
  PetscCall(SpmvFree(&f->root));
  PetscCall(ISDestroy(&f->row));
  PetscCall(ISDestroy(&f->column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvFactorDestroy(void *pointer)
{
  SpmvFactor *f = (SpmvFactor *)pointer;

  PetscFunctionBegin;
  PetscCall(SpmvFactorDrop(f));
  PetscCall(PetscViewerDestroy(&f->viewer));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
SPMV_CONTAINER_DESTROY(SpmvFactorDestroyContained, SpmvFactorDestroy)

/* The shape of a part's triangles; why: empty, or why PETSc's kernel is to serve for now */
static PetscErrorCode SpmvFactorChoose(const SpmvFactor *f, SpmvFactorPart *part, const char **why)
{
  PetscFunctionBegin;
  part->rows.source.permuted = (PetscBool)(f->row || f->column);
  PetscCall(SpmvServingChoose(&part->serving, &part->rows.source, f->isa, f->expected, (PetscBool)(f->build_after > 0), why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a part; why: empty, or why PETSc's kernel is to serve for now */
static PetscErrorCode SpmvFactorSetPattern(Mat F, SpmvFactor *f, PetscBool transpose, const char **why)
{
  SpmvFactorPart   *part = &f->part[transpose];
  SpmvTrianglesKind kind = transpose ? SPMV_FACTORS_TRANSPOSE : SPMV_FACTORS;
  PetscBool         known;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  if (F->factortype == MAT_FACTOR_ICC) kind = SPMV_FACTORS_SYMMETRIC;
  ierr = SpmvFactorRowsCreate(F, kind, &part->rows, &known);
  if (ierr) PetscCall(SpmvFactorRowsDestroy(&part->rows)); /* half of them are not to be taken for all */
  PetscCall(ierr);
  if (!known) *why = "it is not as we know PETSc's factors";
  else PetscCall(SpmvFactorChoose(f, part, why));
  part->refused = (PetscBool)((*why)[0] != 0);
  if (part->refused) PetscCall(SpmvFactorRowsDestroy(&part->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangles of a part, whose rows have the factor's values; finite: no value is Inf or NaN */
static PetscErrorCode SpmvFactorSetTriangles(const SpmvFactor *f, SpmvFactorPart *part, PetscBool *finite)
{
  PetscInt bad = -1;

  PetscFunctionBegin;
  *finite = PETSC_FALSE;
  PetscCall(SpmvServingSetValues(&part->serving, &part->rows.source, f->isa, f->floats, &bad));
  if (bad < 0) PetscCall(SpmvTrianglesFinite(part->serving.triangles, finite));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a part the factor's values; why: empty, or why PETSc's kernel is to serve until they change */
static PetscErrorCode SpmvFactorSetValues(Mat F, SpmvFactor *f, SpmvFactorPart *part, const char **why)
{
  PetscBool      finite;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SpmvFactorRowsBegin(F, &part->rows));
  ierr = SpmvFactorSetTriangles(f, part, &finite);
  PetscCall(SpmvFactorRowsEnd(&part->rows));
  PetscCall(ierr);
  part->serving.current = finite;
  if (!finite) *why = "not all of its scaled values are finite";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds a part, or gives it the values that the factor has now */
static PetscErrorCode SpmvFactorRenew(Mat F, SpmvFactor *f, PetscBool transpose)
{
  SpmvFactorPart     *part    = &f->part[transpose];
  const SpmvShape    *had     = SpmvServingBuilt(&part->serving);
  const PetscBool     current = part->serving.current;
  const PetscLogEvent event   = had && !SpmvServingAnew(&part->serving) ? SPMV_Update : SPMV_Build;
  const SpmvShape    *has;
  PetscBool           build;
  const char         *why = "";
  PetscLogDouble      start, end;

  PetscFunctionBegin;
  part->tried = PETSC_TRUE;
  PetscCall(PetscLogEventBegin(event, F, 0, 0, 0));
  PetscCall(PetscTime(&start));
  if (!part->rows.ends) PetscCall(SpmvFactorSetPattern(F, f, transpose, &why));
  else if (SpmvServingAnew(&part->serving)) PetscCall(SpmvFactorChoose(f, part, &why));
  if (!part->refused && !part->serving.current) PetscCall(SpmvFactorSetValues(F, f, part, &why));
  PetscCall(PetscTime(&end));
  f->spent.setup += end - start;
  PetscCall(PetscLogEventEnd(event, F, 0, 0, 0));
  has   = SpmvServingBuilt(&part->serving);
  build = (PetscBool)(!had || (has && has != had));
  if (!transpose) f->reason = why[0] ? why : NULL;
  if (build || why[0]) PetscCall(SpmvFactorView(F, f, transpose, why, end - start));
  if (part->serving.current && build) f->counts.builds++;
  else if (part->serving.current && !current) f->counts.refreshes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvFactorUpdate - before each solve: builds or refreshes the triangles if it is time to, and counts

  Output Parameter:
. triangles - NULL if PETSc's kernel is to serve
*/
PetscErrorCode MatSpmvFactorUpdate(Mat F, SpmvFactor *f, PetscBool transpose, PetscInt columns, SpmvTriangles **triangles)
{
  const PetscBool which = (PetscBool)(transpose && F->factortype != MAT_FACTOR_ICC);
  SpmvFactorPart *part  = &f->part[which];

  PetscFunctionBegin;
  if (SpmvServingAnew(&part->serving)) part->refused = part->tried = PETSC_FALSE;
  if (!part->tried && !part->refused && f->solve && SpmvDueForPasses(&f->due, f->build_after, SPMV_SOLVES_GAIN))
    PetscCall(SpmvFactorRenew(F, f, which));
  *triangles = part->serving.current ? part->serving.triangles : NULL;
  f->due.since += columns;
  part->serving.passes += columns;
  *(part->serving.current ? &f->counts.solves : &f->counts.solvesaij) += columns;
  *(part->serving.current ? &SpmvTotals.solves : &SpmvTotals.solvesaij) += columns;
  if (part->serving.current && SpmvTrianglesAreFloats(part->serving.triangles)) {
    f->counts.floats += columns;
    SpmvTotals.floats += columns;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over the settings of A; of one that is not ours, which asked for the package by name, there are none but the defaults */
static PetscErrorCode SpmvFactorSettings(Mat A, SpmvFactor *f)
{
  PetscErrorCode (*composed)(Mat, SpmvCounts *);
  const SpmvFormat *format;
  SpmvShadow       *shadow;

  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(&f->viewer));
  f->solve       = PETSC_TRUE;
  f->floats      = PETSC_FALSE;
  f->build_after = SPMV_BUILD_AFTER;
  f->isa         = SPMV_ISA_COUNT;
  f->expected    = 0;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetCounts_C", &composed)); /* its type may be hidden: exact.c */
  f->label = (SpmvLabel){.m = A->rmap->n, .n = A->cmap->n, .M = A->rmap->N, .N = A->cmap->N, .level = SPMV_LEVEL_NONE};
  PetscCall(PetscStrncpy(f->label.prefix, ((PetscObject)A)->prefix ? ((PetscObject)A)->prefix : "", sizeof(f->label.prefix)));
  if (!format && (!composed || !A->spptr)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvEnsureSettings(A));
  PetscCall(MatSpmvGetShadow(A, &shadow));
  PetscCall(MatSpmvLabel(A, shadow));
  f->label       = shadow->label;
  f->solve       = shadow->settings.solve;
  f->floats      = shadow->settings.solvefloats;
  f->build_after = shadow->settings.build_after;
  f->isa         = shadow->settings.request.isa;
  f->expected    = shadow->settings.request.calls;
  f->viewer      = shadow->settings.viewer;
  f->viewformat  = shadow->settings.viewformat;
  PetscCall(PetscObjectReference((PetscObject)f->viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps a permutation, unless it is the identity. ISIdentity() remembers what was before -pc_factor_nonzeros_along_diagonal */
static PetscErrorCode SpmvFactorKeep(IS is, IS *kept)
{
  const PetscInt *index;
  PetscInt        n, k = 0;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &index));
  while (k < n && index[k] == k) k++;
  PetscCall(ISRestoreIndices(is, &index));
  if (k == n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)is));
  *kept = is;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After PETSc's numeric factorisation: there are other values. Those of one that failed are PETSc's business */
static PetscErrorCode SpmvFactorHasValues(Mat F, SpmvFactor *f)
{
  MatInfo info;

  PetscFunctionBegin;
  PetscCall((*f->theirs.getinfo)(F, MAT_LOCAL, &info));
  f->label.part     = SPMV_PART_FACTOR;
  f->label.nonzeros = (PetscInt64)info.nz_used;
  SpmvDueChanged(&f->due);
  f->rooted = PETSC_FALSE;
  for (int k = 0; k < 2; k++) f->part[k].tried = f->part[k].serving.current = PETSC_FALSE;
  if (!F->factorerrortype) MatSpmvFactorSetOps(F, f, PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLUFactorNumeric_Spmv(Mat F, Mat A, const MatFactorInfo *info)
{
  SpmvFactor *f;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  MatSpmvFactorSetOps(F, f, PETSC_FALSE);
  PetscCall((*f->theirs.lufactornumeric)(F, A, info));
  PetscCall(SpmvFactorHasValues(F, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCholeskyFactorNumeric_Spmv(Mat F, Mat A, const MatFactorInfo *info)
{
  SpmvFactor *f;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  MatSpmvFactorSetOps(F, f, PETSC_FALSE);
  PetscCall((*f->theirs.choleskyfactornumeric)(F, A, info));
  PetscCall(SpmvFactorHasValues(F, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_Spmv(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  SpmvFactor *f;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  MatSpmvFactorSetOps(F, f, PETSC_FALSE);
  PetscCall(SpmvFactorDrop(f));
  PetscCall((*f->theirs.ilufactorsymbolic)(F, A, row, column, info));
  PetscCall(SpmvFactorSettings(A, f));
  PetscCall(SpmvFactorKeep(row, &f->row));
  PetscCall(SpmvFactorKeep(column, &f->column));
  f->theirs.lufactornumeric = F->ops->lufactornumeric;
  F->ops->lufactornumeric   = MatLUFactorNumeric_Spmv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactorSymbolic_Spmv(Mat F, Mat A, IS permutation, const MatFactorInfo *info)
{
  SpmvFactor *f;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  MatSpmvFactorSetOps(F, f, PETSC_FALSE);
  PetscCall(SpmvFactorDrop(f));
  PetscCall((*f->theirs.iccfactorsymbolic)(F, A, permutation, info));
  PetscCall(SpmvFactorSettings(A, f));
  PetscCall(SpmvFactorKeep(permutation, &f->row));
  PetscCall(SpmvFactorKeep(permutation, &f->column));
  f->theirs.choleskyfactornumeric = F->ops->choleskyfactornumeric;
  F->ops->choleskyfactornumeric   = MatCholeskyFactorNumeric_Spmv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_SpmvFactor(Mat F, MatInfoType flag, MatInfo *info)
{
  SpmvFactor    *f;
  PetscLogDouble bytes;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  PetscCall((*f->theirs.getinfo)(F, flag, info));
  PetscCall(SpmvFactorBytes(f, &bytes));
  info->memory += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SpmvFactor(Mat F)
{
  SpmvFactor *f;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatSpmvFactorGetCounts_C", NULL));
  PetscCall(MatSpmvCompose(F, NULL, PETSC_FALSE)); /* AIJ's ILU(0) copied A's */
  PetscCall((*f->theirs.destroy)(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For tests: builds, refreshes, solves and solvesaij of one factor */
static PetscErrorCode MatSpmvFactorGetCounts(Mat F, SpmvCounts *counts)
{
  SpmvFactor *f;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  *counts = f->counts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_Spmv(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERPETSCSPMV;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that PETSc's package creates becomes ours; it may decline to create one */
static PetscErrorCode MatGetFactor_Spmv(Mat A, MatFactorType type, Mat *F)
{
  PetscErrorCode (*create)(Mat, MatFactorType, Mat *);
  PetscContainer container;
  SpmvFactor    *f;

  PetscFunctionBegin;
  PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, type, NULL, NULL, &create));
  PetscCall((*create)(A, type, F));
  if (!*F) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&f));
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)*F), &container));
  PetscCall(PetscContainerSetPointer(container, f));
  PetscCall(PetscContainerSetCtxDestroy(container, SpmvFactorDestroyContained));
  PetscCall(PetscObjectCompose((PetscObject)*F, SPMV_FACTOR, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  f->theirs          = *(*F)->ops;
  (*F)->ops->getinfo = MatGetInfo_SpmvFactor;
  (*F)->ops->destroy = MatDestroy_SpmvFactor;
  if (type == MAT_FACTOR_ILU) (*F)->ops->ilufactorsymbolic = MatILUFactorSymbolic_Spmv;
  else (*F)->ops->iccfactorsymbolic = MatICCFactorSymbolic_Spmv;
  PetscCall(PetscFree((*F)->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERPETSCSPMV, &(*F)->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)*F, "MatFactorGetSolverType_C", MatFactorGetSolverType_Spmv));
  PetscCall(PetscObjectComposeFunction((PetscObject)*F, "MatSpmvFactorGetCounts_C", MatSpmvFactorGetCounts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Registers the package, once after each PetscInitialize(). For MATSEQAIJ PETSc's own comes first: ours is for who asks for it,
  and for matrices whose type name is hidden (exact.c)
*/
PetscErrorCode SpmvRegisterFactors(void)
{
  static const MatFactorType types[] = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
#define SPMV_FORMAT(name) PetscCall(MatSolverTypeRegister(MATSOLVERPETSCSPMV, MATSEQAIJ #name, types[k], MatGetFactor_Spmv));
#include "../../mattypes.h"
#undef SPMV_FORMAT
    PetscCall(MatSolverTypeRegister(MATSOLVERPETSCSPMV, MATSEQAIJ, types[k], MatGetFactor_Spmv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
