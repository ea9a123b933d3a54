/*
  matfactor_solve.c - solves with PETSc's factors by our triangles, or by PETSc while they are not there
*/
#include "matfactor.h"
#include <petsctime.h>

/* n scalars to write to */
static PetscErrorCode GetWork(SpmvFactor *f, PetscInt n, PetscScalar **work)
{
  PetscFunctionBegin;
  if (!f->work) PetscCall(SpmvAlloc(sizeof(PetscScalar) * (size_t)n, &f->work));
  *work = f->work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The indices of a permutation, NULL for the identity */
static PetscErrorCode GetIndices(IS is, const PetscInt **index)
{
  PetscFunctionBegin;
  *index = NULL;
  if (is) PetscCall(ISGetIndices(is, index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreIndices(IS is, const PetscInt **index)
{
  PetscFunctionBegin;
  if (is) PetscCall(ISRestoreIndices(is, index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y_k <- x_index(k) */
static void Gather(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[])
{
  if (!index) memcpy(y, x, sizeof(*y) * (size_t)n);
  for (PetscInt k = 0; k < n && index; k++) y[k] = x[index[k]];
}

/* y_index(k) <- x_k */
static void Scatter(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[])
{
  if (!index) memcpy(y, x, sizeof(*y) * (size_t)n);
  for (PetscInt k = 0; k < n && index; k++) y[index[k]] = x[k];
}

/* Solves for n columns, lb and lx apart; b may be x */
static PetscErrorCode SolveArrays(SpmvFactor *f, const SpmvTriangles *t, PetscBool transpose, PetscInt columns,
                                  const PetscScalar *b, PetscInt lb, PetscScalar *x, PetscInt lx)
{
  const IS        in = transpose ? f->column : f->row, out = transpose ? f->row : f->column;
  const PetscInt *i, *o;
  PetscScalar    *work = NULL;

  PetscFunctionBegin;
  if (!in && !out) {
    for (PetscInt k = 0; k < columns; k++) SpmvTrianglesSolve(t, b + (size_t)k * (size_t)lb, x + (size_t)k * (size_t)lx);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetWork(f, t->n, &work));
  PetscCall(GetIndices(in, &i));
  PetscCall(GetIndices(out, &o));
  for (PetscInt k = 0; k < columns; k++) {
    Gather(t->n, i, b + (size_t)k * (size_t)lb, work);
    SpmvTrianglesSolve(t, work, work);
    Scatter(t->n, o, work, x + (size_t)k * (size_t)lx);
  }
  PetscCall(RestoreIndices(in, &i));
  PetscCall(RestoreIndices(out, &o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc counts, for one column: U is gone through twice in a solve with an ICC, which has only U */
static PetscLogDouble SolveFlops(Mat F, const SpmvFactor *f, PetscBool half)
{
  const PetscLogDouble nz = f->part[0].rows.nz ? f->part[0].rows.nz : f->part[1].rows.nz, n = F->rmap->n;

  return F->factortype == MAT_FACTOR_ICC && !half ? 4 * nz - 3 * n : 2 * nz - n;
}

static PetscErrorCode SolveVec(Mat F, Vec b, Vec x, PetscBool transpose)
{
  const PetscScalar *ba;
  PetscScalar       *xa;
  SpmvFactor        *f;
  SpmvTriangles     *t;
  PetscLogDouble     start, end;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  PetscCall(MatSpmvFactorUpdate(F, f, transpose, 1, &t));
  PetscCall(PetscTime(&start));
  if (t) {
    PetscCall(VecGetArrayRead(b, &ba));
    PetscCall(VecGetArrayWrite(x, &xa));
    PetscCall(SolveArrays(f, t, transpose, 1, ba, 0, xa, 0));
    PetscCall(VecRestoreArrayRead(b, &ba));
    PetscCall(VecRestoreArrayWrite(x, &xa));
    PetscCall(PetscLogFlops(SolveFlops(F, f, PETSC_FALSE)));
  } else PetscCall((transpose ? f->theirs.solvetranspose : f->theirs.solve)(F, b, x));
  PetscCall(PetscTime(&end));
  SpmvSpentCall(&f->spent, (PetscBool)(t != NULL), PETSC_TRUE, end - start);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_Spmv(Mat F, Vec b, Vec x)
{
  return SolveVec(F, b, x, PETSC_FALSE);
}

static PetscErrorCode MatSolveTranspose_Spmv(Mat F, Vec b, Vec x)
{
  return SolveVec(F, b, x, PETSC_TRUE);
}

static PetscErrorCode SolveMat(Mat F, Mat B, Mat X, PetscBool transpose)
{
  const PetscInt     columns = B->cmap->n;
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscInt           lb, lx;
  PetscBool          dense;
  SpmvFactor        *f;
  SpmvTriangles     *t = NULL;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQDENSE, &dense));
  if (dense) PetscCall(PetscObjectTypeCompare((PetscObject)X, MATSEQDENSE, &dense));
  if (dense) PetscCall(MatSpmvFactorUpdate(F, f, transpose, columns, &t));
  if (!t) {
    PetscCall((transpose ? f->theirs.matsolvetranspose : f->theirs.matsolve)(F, B, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDenseGetLDA(B, &lb));
  PetscCall(MatDenseGetLDA(X, &lx));
  PetscCall(MatDenseGetArrayRead(B, &ba));
  PetscCall(MatDenseGetArray(X, &xa));
  PetscCall(SolveArrays(f, t, transpose, columns, ba, lb, xa, lx));
  PetscCall(MatDenseRestoreArrayRead(B, &ba));
  PetscCall(MatDenseRestoreArray(X, &xa));
  PetscCall(PetscLogFlops(columns * SolveFlops(F, f, PETSC_FALSE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_Spmv(Mat F, Mat B, Mat X)
{
  return SolveMat(F, B, X, PETSC_FALSE);
}

static PetscErrorCode MatMatSolveTranspose_Spmv(Mat F, Mat B, Mat X)
{
  return SolveMat(F, B, X, PETSC_TRUE);
}

/* The roots of the inverse diagonal; there are none where PETSc has an error for it */
static PetscErrorCode SetRoots(Mat F, SpmvFactor *f)
{
  const PetscInt *at = f->part[0].rows.ends + 1, n = F->rmap->n;
  PetscScalar    *a;
  PetscInt        wrong = 0;

  PetscFunctionBegin;
  if (f->rooted) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->root) PetscCall(SpmvAlloc(sizeof(PetscReal) * (size_t)n, &f->root));
  PetscCall(MatSeqSBAIJGetArray(F, &a));
  for (PetscInt r = 0; r < n; r++) wrong += PetscImaginaryPart(a[at[r]]) != 0 || !(PetscRealPart(a[at[r]]) >= 0);
  for (PetscInt r = 0; r < n && !wrong; r++) f->root[r] = PetscSqrtReal(PetscRealPart(a[at[r]]));
  f->rooted = (PetscBool)!wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- D^(-1/2) U^-T P b; x <- P^T U^-1 D^(-1/2) b backwards; root: that of D^-1 */
static PetscErrorCode HalfArrays(SpmvFactor *f, const SpmvTriangles *t, PetscBool backward, const PetscScalar *b, PetscScalar *x)
{
  const PetscReal *root = f->root;
  const PetscInt  *index;
  PetscScalar     *y = x;
  SpmvPass         pass;

  PetscFunctionBegin;
  PetscCall(GetIndices(f->row, &index));
  if (backward && index) PetscCall(GetWork(f, t->n, &y));
  if (backward) {
    for (PetscInt k = 0; k < t->n; k++) y[k] = b[k] / root[k]; /* the pass multiplies it by D^-1 */
  } else if (index) Gather(t->n, index, b, y);
  pass = (SpmvPass){.in = backward || index ? y : b, .scale = backward, .x = y};
  t->passes->pass(t, backward ? SPMV_UPPER : SPMV_LOWER, &pass);
  if (backward && index) Scatter(t->n, index, y, x);
  for (PetscInt k = 0; k < t->n && !backward; k++) x[k] *= root[k];
  PetscCall(RestoreIndices(f->row, &index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveHalf(Mat F, Vec b, Vec x, PetscBool backward)
{
  const PetscScalar *ba;
  PetscScalar       *xa;
  SpmvFactor        *f;
  SpmvTriangles     *t;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetFactor(F, &f));
  PetscCall(MatSpmvFactorUpdate(F, f, PETSC_FALSE, 1, &t));
  if (t) PetscCall(SetRoots(F, f));
  if (!t || !f->rooted) { /* where there are no roots, PETSc says what is wrong */
    PetscCall((backward ? f->theirs.backwardsolve : f->theirs.forwardsolve)(F, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArrayWrite(x, &xa));
  PetscCall(HalfArrays(f, t, backward, ba, xa));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(VecRestoreArrayWrite(x, &xa));
  PetscCall(PetscLogFlops(SolveFlops(F, f, PETSC_TRUE)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatForwardSolve_Spmv(Mat F, Vec b, Vec x)
{
  return SolveHalf(F, b, x, PETSC_FALSE);
}

static PetscErrorCode MatBackwardSolve_Spmv(Mat F, Vec b, Vec x)
{
  return SolveHalf(F, b, x, PETSC_TRUE);
}

/* Gives F our solves in the place of those that PETSc has set, or PETSc's back */
void MatSpmvFactorSetOps(Mat F, SpmvFactor *f, PetscBool ours)
{
#define REPLACE(op, function) \
  do { \
    if (ours && F->ops->op) { \
      f->theirs.op = F->ops->op; \
      F->ops->op   = function; \
    } else if (F->ops->op == function) F->ops->op = f->theirs.op; \
  } while (0)
  REPLACE(solve, MatSolve_Spmv);
  REPLACE(solvetranspose, MatSolveTranspose_Spmv);
  REPLACE(matsolve, MatMatSolve_Spmv);
  REPLACE(matsolvetranspose, MatMatSolveTranspose_Spmv);
  REPLACE(forwardsolve, MatForwardSolve_Spmv);
  REPLACE(backwardsolve, MatBackwardSolve_Spmv);
#undef REPLACE
}
