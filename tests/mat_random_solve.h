/*
  mat_random_solve.h - steps of mat_random.c with sweeps, preconditioners and solvers
*/
#pragma once
#include "mat_random_shape.h"

/* Sums of the entries beside the diagonal, the larger of row and column or both, and the diagonal of the rows of this process */
static PetscErrorCode Sums(Side *s, PetscBool both, PetscReal sum[], PetscScalar diagonal[])
{
  const PetscScalar *a;
  Vec                columns;

  PetscFunctionBegin;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, facts.n, PETSC_DETERMINE, &columns));
  PetscCall(Hold(s, columns));
  for (PetscInt i = 0; i < facts.m; i++) {
    const PetscInt     row = facts.first + i;
    const PetscInt    *j;
    const PetscScalar *v;
    PetscInt           n;

    sum[i]      = 0;
    diagonal[i] = 0;
    PetscCall(MatGetRow(s->A, row, &n, &j, &v));
    for (PetscInt k = 0; k < n; k++) {
      if (j[k] == row) diagonal[i] = v[k];
      else {
        sum[i] += PetscAbsScalar(v[k]);
        PetscCall(VecSetValue(columns, j[k], PetscAbsScalar(v[k]), ADD_VALUES));
      }
    }
    PetscCall(MatRestoreRow(s->A, row, &n, &j, &v));
  }
  PetscCall(VecAssemblyBegin(columns));
  PetscCall(VecAssemblyEnd(columns));
  PetscCall(VecGetArrayRead(columns, &a));
  for (PetscInt i = 0; i < facts.m; i++) sum[i] = both ? sum[i] + PetscRealPart(a[i]) : PetscMax(sum[i], PetscRealPart(a[i]));
  PetscCall(VecRestoreArrayRead(columns, &a));
  PetscFunctionReturn(0);
}

/* Makes the diagonal positive and dominate rows and columns, where it does not; both: their sum, as for incomplete Cholesky */
static PetscErrorCode Dominate(Side *s, PetscBool both)
{
  PetscReal   *sum, scale = facts.norm > 0 ? facts.norm : 1;
  PetscScalar *diagonal;
  PetscMPIInt  any = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(facts.m, &sum, facts.m, &diagonal));
  PetscCall(Sums(s, both, sum, diagonal));
  for (PetscInt i = 0; i < facts.m; i++) {
    const PetscReal re = PetscRealPart(diagonal[i]), im = PetscImaginaryPart(diagonal[i]);

    if (re >= (PetscReal)1.1 * sum[i] && re >= (PetscReal)0.01 * scale && im == 0) sum[i] = -1;
    else any = 1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (any) {
    PetscCall(DropCoo(s));
    PetscCall(Open(s->A));
    for (PetscInt i = 0; i < facts.m; i++) {
      if (sum[i] < 0) continue;
      PetscCall(
        MatSetValue(s->A, facts.first + i, facts.first + i, (PetscReal)1.3 * sum[i] + (PetscReal)0.1 * scale, INSERT_VALUES));
    }
    PetscCall(Assemble(s->A));
    PetscCall(NewPattern(s));
  }
  PetscCall(PetscFree2(sum, diagonal));
  PetscFunctionReturn(0);
}

/* Whether PETSc's kernel may go on with what it made for another pattern of this matrix */
static PetscErrorCode IsStale(Side *s, PetscMPIInt *stale)
{
  PetscBool        swept;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(s->A, &state));
  PetscCall(SweptByAIJ(s->A, &swept));
  *stale = s->sweptaij || (swept && (s->swept != s->A || s->sweptstate != state));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, stale, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  s->swept      = *stale ? NULL : s->A;
  s->sweptstate = state;
  PetscFunctionReturn(0);
}

/*
  The matrix for sweeps. PETSc 3.18 goes on with the inverse blocks of inodes that a new pattern has no more: where its kernel may
  serve, sweeps are by a copy, for which it has made none yet
*/
static PetscErrorCode ForSweeps(Side *s, Mat *A)
{
  PetscMPIInt stale = 1;

  PetscFunctionBegin;
  if (s->ours) PetscCall(IsStale(s, &stale));
  *A = s->A;
  if (!stale) PetscFunctionReturn(0);
  PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, A));
  PetscCall(Hold(s, *A));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoSOR(Side *s, Draw *d)
{
  static const MatSORType kinds[] = {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP,
                                     SOR_FORWARD_SWEEP,       SOR_BACKWARD_SWEEP,       SOR_SYMMETRIC_SWEEP};
  const MatSORType        kind    = kinds[DrawBelow(d, ranks > 1 ? 3 : 6)];
  const PetscBool         zero = DrawChance(d, 60), plain = DrawChance(d, 60);
  const PetscInt          its = 1 + DrawBelow(d, 3), lits = 1 + DrawBelow(d, 2), times = 1 + DrawBelow(d, 4);
  const PetscReal         omega = plain || DrawChance(d, 40) ? 1 : DrawReal(d, (PetscReal)0.5, (PetscReal)1.7);
  const PetscReal         shift = plain ? 0 : DrawReal(d, (PetscReal)-0.005, (PetscReal)0.5) * facts.norm;
  const uint64_t          salt  = DrawBits(d);
  Mat                     A;
  Vec                     b, x;

  PetscFunctionBegin;
  Say(s, " (kind %d, %s guess, omega %g, shift %g, its %d, lits %d, %d times)", (int)kind, zero ? "no" : "a", (double)omega,
      (double)shift, (int)its, (int)lits, (int)times);
  PetscCall(Dominate(s, PETSC_FALSE));
  PetscCall(ForSweeps(s, &A));
  PetscCall(VecRandom(s, A, PETSC_FALSE, salt, &b));
  for (PetscInt k = 0; k < times; k++) {
    if (zero) PetscCall(VecUnset(s, A, PETSC_TRUE, &x));
    else PetscCall(VecRandom(s, A, PETSC_TRUE, salt + 3, &x));
    PetscCall(MatSOR(A, b, omega, zero ? (MatSORType)(kind | SOR_ZERO_INITIAL_GUESS) : kind, shift, its, lits, x));
    PetscCall(RecordSolution(s, "sweep", x, 10));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode DoOption(Side *s, Draw *d)
{
  const PetscInt  which = DrawBelow(d, 4);
  const PetscBool flag  = DrawChance(d, 50);

  PetscFunctionBegin;
  Say(s, " (%d: %d)", (int)which, (int)flag);
  if (which == 0) {
    /* PETSC_TRUE after that is an error. Inodes still serve factorisations, which PETSc 3.18 cannot do again once they are
       gone */
    PetscCall(Forget(s));
    PetscCall(MatSetOption(s->A, MAT_USE_INODES, PETSC_FALSE));
    if (facts.square) PetscCall(DoSOR(s, d));
    PetscCall(Assemble(s->A));
  }
  if (which == 1) PetscCall(MatSetOption(s->A, MAT_KEEP_NONZERO_PATTERN, flag));
  if (which == 2) PetscCall(MatSetOption(s->A, MAT_IGNORE_ZERO_ENTRIES, flag));
  if (which == 3) PetscCall(MatSetOption(s->A, MAT_NEW_NONZERO_LOCATIONS, flag));
  PetscFunctionReturn(0);
}

/*
  Preconditioners. sub: what solves the blocks; those that sweep get PETSc's matrix as ForSweeps() has it. PCLU is not among them:
  it is PETSc's, and 3.18 reads what was not set in some matrices with inodes
*/
static const struct {
  const char *type, *sub;
  PetscBool   sweeps, alone, factor, transpose;
} Kinds[] = {
  {PCILU, "", PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
  {PCICC, "", PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
  {PCILU, "", PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
  {PCILU, "", PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
  {PCBJACOBI, PCILU, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
  {PCBJACOBI, PCICC, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {PCBJACOBI, PCSOR, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {PCASM, PCILU, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
  {PCASM, PCSOR, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {PCSOR, "", PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {PCJACOBI, "", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
  {PCPBJACOBI, "", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
};
#define KINDS (PetscInt) PETSC_STATIC_ARRAY_LENGTH(Kinds)

/* What a factor solves besides MatSolve() */
static PetscErrorCode UseFactor(Side *s, Draw *d, PC pc, Vec b, PetscBool transpose)
{
  Mat F;
  Vec x;

  PetscFunctionBegin;
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(VecUnset(s, s->A, PETSC_TRUE, &x));
  Say(s, " (factor)");
  switch (DrawBelow(d, 4)) {
  case 0:
    PetscCall(MatSolveAdd(F, b, b, x));
    PetscCall(RecordSolution(s, "MatSolveAdd", x, 10));
    break;
  case 1:
    PetscCall(VecCopy(b, x));
    PetscCall(MatSolveAdd(F, b, x, x));
    PetscCall(RecordSolution(s, "MatSolveAdd in place", x, 10));
    break;
  case 2:
    if (transpose) PetscCall(MatSolveTranspose(F, b, x));
    else PetscCall(MatSolve(F, b, x));
    PetscCall(RecordSolution(s, "MatSolve or its transpose", x, 10));
    break;
  default: PetscCall(MatSolve(F, b, x)); PetscCall(RecordSolution(s, "MatSolve", x, 10));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode UsePC(Side *s, Draw *d, PC pc, PetscInt kind)
{
  const PetscInt  times     = 1 + DrawBelow(d, 6);
  const PetscBool transpose = (PetscBool)(Kinds[kind].transpose && DrawChance(d, 30)), more = DrawChance(d, 40);
  const uint64_t  salt = DrawBits(d);
  PCFailedReason  reason;
  Vec             b, x;

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  PetscCall(RecordNumber(s, "why the preconditioner failed", (PetscScalar)(PetscReal)reason, 0));
  if (reason) PetscFunctionReturn(0);
  PetscCall(VecRandom(s, s->A, PETSC_FALSE, salt, &b));
  for (PetscInt k = 0; k < times; k++) {
    PetscCall(VecUnset(s, s->A, PETSC_TRUE, &x));
    PetscCall((transpose && k % 2 ? PCApplyTranspose : PCApply)(pc, b, x));
    PetscCall(RecordSolution(s, "preconditioner", x, 10));
  }
  if (more && Kinds[kind].factor) PetscCall(UseFactor(s, d, pc, b, Kinds[kind].transpose));
  PetscFunctionReturn(0);
}

static PetscErrorCode PCNew(PetscInt kind, PetscInt levels, Mat A, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, "random_"));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, Kinds[kind].type));
  if (Kinds[kind].sub[0]) PetscCall(PetscOptionsSetValue(NULL, "-random_sub_pc_type", Kinds[kind].sub));
  if (Kinds[kind].factor) PetscCall(PCFactorSetLevels(*pc, levels));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(0);
}

/* Whether the preconditioner of a slot is for a matrix of these rows, on all processes */
static PetscErrorCode Fits(const Slot *slot, PetscBool *fits)
{
  PetscMPIInt same = slot->made && slot->rows == facts.m;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  *fits = (PetscBool)same;
  PetscFunctionReturn(0);
}

/* Whether a parallel matrix and its diagonal block, which has the inverses, have the same block size: else PCPBJACOBI reads
   beyond them */
static PetscErrorCode BlocksAgree(Mat A, PetscBool *agree)
{
  Mat         block;
  PetscInt    bs, own;
  PetscMPIInt same;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(A, &block));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatGetBlockSize(block, &own));
  same = bs == own;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  *agree = (PetscBool)same;
  PetscFunctionReturn(0);
}

/* A new preconditioner, which is kept, or one that was: with the matrix as it is now */
static PetscErrorCode DoPC(Side *s, Draw *d)
{
  Slot           *slot   = &s->slot[DrawBelow(d, SLOTS)];
  const PetscInt  wanted = DrawBelow(d, KINDS), levels = DrawBelow(d, 3);
  const PetscBool keep = DrawChance(d, 80);
  PetscBool       fits, icc, agree = PETSC_TRUE;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(Fits(slot, &fits));
  if (!keep || !fits) {
    PetscCall(PCDestroy(&slot->pc));
    slot->made    = PETSC_TRUE;
    slot->rows    = facts.m;
    slot->levels  = levels;
    slot->kind    = ranks > 1 && Kinds[wanted].alone ? wanted + 4 : wanted; /* the same for blocks, more or less */
    slot->overlap = (PetscBool)!strcmp(Kinds[slot->kind].type, PCASM);
  }
  Say(s, " (%s %s %s, levels %d)", slot->pc ? "again" : "new", Kinds[slot->kind].type, Kinds[slot->kind].sub, (int)slot->levels);
  if (s->untold) PetscCall(Assemble(s->A)); /* a preconditioner that is kept goes by the parallel matrix's state: PCASM does */
  s->untold = PETSC_FALSE;
  icc       = (PetscBool)(!strcmp(Kinds[slot->kind].type, PCICC) || !strcmp(Kinds[slot->kind].sub, PCICC));
  PetscCall(Dominate(s, icc));
  A = s->A;
  if (Kinds[slot->kind].sweeps) {
    PetscCall(ForSweeps(s, &A));
    if (!s->ours) PetscCall(PCDestroy(&slot->pc));
  }
  if (!strcmp(Kinds[slot->kind].type, PCPBJACOBI)) PetscCall(BlocksAgree(A, &agree));
  if (!agree) {
    PetscCall(PCDestroy(&slot->pc));
    slot->made = PETSC_FALSE;
    PetscFunctionReturn(0);
  }
  if (slot->pc) PetscCall(PCSetOperators(slot->pc, A, A));
  else PetscCall(PCNew(slot->kind, slot->levels, A, &slot->pc));
  PetscCall(UsePC(s, d, slot->pc, slot->kind));
  PetscFunctionReturn(0);
}

/* Some iterations of a solver */
static PetscErrorCode DoKSP(Side *s, Draw *d)
{
  static const char *const solvers[] = {KSPRICHARDSON, KSPGMRES, KSPCG, KSPBCGS};
  static const char *const pcs[]     = {PCSOR, PCNONE, PCJACOBI, PCBJACOBI, PCILU, PCEISENSTAT};
  const char              *solver = solvers[DrawBelow(d, 4)], *preconditioner = pcs[DrawBelow(d, ranks > 1 ? 4 : 6)];
  const PetscInt           its   = 1 + DrawBelow(d, 4);
  const PetscBool          guess = DrawChance(d, 40);
  const uint64_t           salt  = DrawBits(d);
  KSP                      ksp;
  PC                       pc;
  Mat                      A;
  Vec                      b, x;

  PetscFunctionBegin;
  Say(s, " (%s, %s, %d iterations at most)", solver, preconditioner, (int)its);
  PetscCall(Dominate(s, PETSC_FALSE));
  PetscCall(ForSweeps(s, &A));
  if (A == s->A && !strcmp(preconditioner,
                           PCEISENSTAT)) { /* some matrices multiply by diagonal blocks, their copies do not, or the other way */
    PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &A));
    PetscCall(Hold(s, A));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(Hold(s, ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "randomksp_"));
  PetscCall(KSPSetType(ksp, solver));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-5, (PetscReal)1e-30, (PetscReal)1e20, its)); /* further all is rounding errors */
  PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
  PetscCall(VecRandom(s, A, PETSC_FALSE, salt, &b));
  PetscCall(VecRandom(s, A, PETSC_TRUE, salt + 9, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(RecordSolution(s, "solution", x, 1000));
  PetscFunctionReturn(0);
}
