static const char help[] =
  "MatSOR() of one of our types against AIJ's, entry by entry: all sweeps, random patterns with and without inodes,\n\
new values, new patterns, and the errors of zero, tiny and missing diagonals.\n\
  -type <spmv>    the type under test\n\
  -floats         values are read in single precision\n\
  -deferred       the first sweeps are AIJ's (-mat_spmv_build_after is not 0)\n\n";

#include "counts.h"
#include "mat_sor_matrices.h"
#include <petscksp.h>
#include <float.h>

static PetscInt    failures;
static char        type[64] = MATSPMV;
static PetscBool   deferred, floats;
static PetscReal   epsilon = PETSC_MACHINE_EPSILON;
static PetscMPIInt ranks;

/* NaN in a vector whose entries are not to be read */
static PetscErrorCode Prepare(PetscBool zero, Vec start, Vec x)
{
  PetscFunctionBegin;
  if (zero) PetscCall(VecSet(x, (PetscScalar)NAN));
  else PetscCall(VecCopy(start, x));
  PetscFunctionReturn(0);
}

/* One call with both matrices */
static PetscErrorCode Sweep(Mat A, Mat B, Vec work[5], PetscReal omega, MatSORType sweep, PetscReal shift, PetscInt its,
                            PetscInt lits, const char what[])
{
  const PetscBool zero = (PetscBool)((sweep & SOR_ZERO_INITIAL_GUESS) != 0);
  PetscReal       error, norm;

  PetscFunctionBegin;
  PetscCall(Prepare(zero, work[1], work[2]));
  PetscCall(Prepare(zero, work[1], work[3]));
  PetscCall(MatSOR(A, work[0], omega, sweep, shift, its, lits, work[2]));
  PetscCall(MatSOR(B, work[0], omega, sweep, shift, its, lits, work[3]));
  PetscCall(VecNorm(work[2], NORM_INFINITY, &norm));
  PetscCall(VecAXPY(work[3], -1, work[2]));
  PetscCall(VecNorm(work[3], NORM_INFINITY, &error));
  if (error <= 1000 * epsilon * norm) PetscFunctionReturn(0);
  failures++;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s: sweep %d, omega %g, shift %g, %" PetscInt_FMT " times %" PetscInt_FMT ": %g of %g wrong\n", what,
                        (int)sweep, (double)omega, (double)shift, its, lits, (double)error, (double)norm));
  PetscFunctionReturn(0);
}

/* All sweeps; how many */
static PetscErrorCode Sweeps(Mat A, Mat B, Vec work[5], const char what[], PetscInt64 *calls)
{
  static const MatSORType all[] = {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP,
                                   SOR_FORWARD_SWEEP,       SOR_BACKWARD_SWEEP,       SOR_SYMMETRIC_SWEEP};

  PetscFunctionBegin;
  for (int k = 0; k < (ranks > 1 ? 3 : 6); k++) {
    for (int variant = 0; variant < 32; variant++) {
      const PetscInt   its = variant & 1 ? 3 : 1, lits = variant & 2 ? 2 : 1;
      const PetscReal  omega = variant & 4 ? 1.25 : 1, shift = variant & 8 ? 0.5 : 0;
      const MatSORType sweep = (MatSORType)(variant & 16 ? all[k] : all[k] | SOR_ZERO_INITIAL_GUESS);

      PetscCall(Sweep(A, B, work, omega, sweep, shift, its, lits, what));
      ++*calls;
    }
  }
  PetscCall(Sweep(A, B, work, 1, SOR_LOCAL_SYMMETRIC_SWEEP, -0.25, 1, 1, what));
  ++*calls;
  for (int variant = 0; variant < 4 && ranks == 1; variant++) { /* on several ranks it is an error of AIJ without inodes */
    const PetscReal  omega = variant & 1 ? 1.25 : 1;
    const MatSORType sweep = variant & 2 ? (MatSORType)(SOR_EISENSTAT | SOR_ZERO_INITIAL_GUESS) : SOR_EISENSTAT;

    PetscCall(Sweep(A, B, work, omega, sweep, 0, 1, 1, what));
    ++*calls;
  }
  PetscFunctionReturn(0);
}

/* Counts say who served: all calls ours, or at least some. irregular: rows of very different lengths, which ours serve only
   where all are to be ours */
static PetscErrorCode Served(Mat B, PetscInt64 calls, PetscBool irregular, const char what[])
{
  SpmvCounts counts;
  PetscBool  good;

  PetscFunctionBegin;
  PetscCall(Counts(B, &counts));
  if (counts.floats != (floats ? counts.sweeps : 0)) good = PETSC_FALSE;
  else if (deferred) good = (PetscBool)(counts.sweepsaij > 0 && (irregular ? !counts.sweeps : counts.sweeps > 0));
  else good = (PetscBool)(counts.sweeps >= calls && !counts.sweepsaij);
  if (good) PetscFunctionReturn(0);
  failures++;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %d calls, but sweeps %d, by AIJ's kernel %d, with floats %d\n", what, (int)calls,
                        (int)counts.sweeps, (int)counts.sweepsaij, (int)counts.floats));
  PetscFunctionReturn(0);
}

static PetscErrorCode Works(Mat A, Vec work[5])
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &work[0], NULL));
  for (int k = 1; k < 5; k++) PetscCall(VecDuplicate(work[0], &work[k]));
  PetscCall(VecSetRandom(work[0], NULL));
  PetscCall(VecSetRandom(work[1], NULL));
  PetscFunctionReturn(0);
}

/* One pattern: its values, others, more entries, and other values by COO */
static PetscErrorCode TestKind(Kind kind, PetscInt n)
{
  const char *what  = KindNames[kind];
  PetscInt64  calls = 0;
  Mat         A, B;
  Vec         work[5];

  PetscFunctionBegin;
  PetscCall(Create(MATAIJ, n, &A));
  PetscCall(Create(type, n, &B));
  PetscCall(Fill(A, kind, 0));
  PetscCall(Fill(B, kind, 0));
  PetscCall(Works(A, work));
  PetscCall(Sweeps(A, B, work, what, &calls));
  PetscCall(Fill(A, kind, 5));
  PetscCall(Fill(B, kind, 5));
  PetscCall(Sweeps(A, B, work, what, &calls));
  PetscCall(Served(B, calls, (PetscBool)(kind == SCATTERED), what));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &A)); /* a matrix of ours as the reference of another that becomes AIJ */
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(Sweep(A, B, work, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, what));
  for (int k = 0; k < 5; k++) PetscCall(VecDestroy(&work[k]));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* A duplicate of a matrix that is not to use its inodes does not either */
static PetscErrorCode TestDuplicate(Kind kind, PetscInt n)
{
  PetscInt64 calls = 0;
  Mat        M[2], D[2];
  Vec        work[5];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(k ? type : MATAIJ, n, &M[k]));
    PetscCall(Fill(M[k], kind, 0));
    PetscCall(MatSetOption(M[k], MAT_USE_INODES, PETSC_FALSE));
    PetscCall(MatDuplicate(M[k], MAT_COPY_VALUES, &D[k]));
    PetscCall(MatDestroy(&M[k]));
  }
  PetscCall(Works(D[0], work));
  PetscCall(Sweeps(D[0], D[1], work, "duplicate without inodes", &calls));
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&D[k]));
  for (int k = 0; k < 5; k++) PetscCall(VecDestroy(&work[k]));
  PetscFunctionReturn(0);
}

/* A new pattern in the same matrix. Rows only: PETSc 3.18 keeps the inverse blocks of inodes that are no more */
static PetscErrorCode TestPattern(PetscInt n)
{
  PetscInt64 calls = 0;
  PetscInt   first, last;
  Mat        M[2];
  Vec        work[5];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(k ? type : MATAIJ, n, &M[k]));
    PetscCall(Fill(M[k], SCATTERED, 0));
  }
  PetscCall(Works(M[0], work));
  PetscCall(Sweeps(M[0], M[1], work, "before more entries", &calls));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGetOwnershipRange(M[k], &first, &last));
    for (PetscInt r = first; r < last; r += 3) PetscCall(MatSetValue(M[k], r, (r + n / 2) % n, 0.25, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(M[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Sweeps(M[0], M[1], work, "after more entries", &calls));
  PetscCall(Served(M[1], calls, PETSC_TRUE, "new pattern"));
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&M[k]));
  for (int k = 0; k < 5; k++) PetscCall(VecDestroy(&work[k]));
  PetscFunctionReturn(0);
}

/* Values that come by coordinates raise the state of the parallel matrix only, not that of its blocks */
static PetscErrorCode TestCOO(PetscInt n)
{
  PetscInt64 calls = 0;
  Mat        M[2];
  Vec        work[5];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscInt first, last, *i, *j;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &M[k]));
    PetscCall(MatSetSizes(M[k], PETSC_DECIDE, PETSC_DECIDE, n, n));
    PetscCall(MatSetType(M[k], k ? type : MATAIJ));
    PetscCall(MatSetFromOptions(M[k]));
    PetscCall(MatSetUp(M[k]));
    PetscCall(MatGetOwnershipRange(M[k], &first, &last));
    PetscCall(PetscMalloc2(2 * (last - first), &i, 2 * (last - first), &j));
    for (PetscInt r = first; r < last; r++) {
      i[2 * (r - first)] = i[2 * (r - first) + 1] = j[2 * (r - first)] = r;
      j[2 * (r - first) + 1]                                           = (r + 1) % n;
    }
    PetscCall(MatSetPreallocationCOO(M[k], 2 * (last - first), i, j));
    PetscCall(PetscFree2(i, j));
  }
  for (PetscInt salt = 0; salt < 3; salt++) {
    for (int k = 0; k < 2; k++) {
      PetscInt     first, last;
      PetscScalar *v;

      PetscCall(MatGetOwnershipRange(M[k], &first, &last));
      PetscCall(PetscMalloc1(2 * (last - first), &v));
      for (PetscInt e = 0; e < 2 * (last - first); e++) v[e] = e % 2 ? -1 : 3 + salt + Number(first + e, 3);
      PetscCall(MatSetValuesCOO(M[k], v, INSERT_VALUES));
      PetscCall(PetscFree(v));
    }
    if (!salt) PetscCall(Works(M[0], work));
    PetscCall(Sweeps(M[0], M[1], work, "coordinates", &calls));
  }
  PetscCall(Served(M[1], calls, PETSC_FALSE, "coordinates"));
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&M[k]));
  for (int k = 0; k < 5; k++) PetscCall(VecDestroy(&work[k]));
  PetscFunctionReturn(0);
}

/* What sweeps do to a matrix whose diagonal cannot be inverted, or is not there: the second one after a change of values */
typedef enum { ZERO, TINY, SINGULAR, MISSING, WIDE, DEFECTS } Defect;

static PetscErrorCode Defective(const char mattype[], Defect defect, PetscReal shift, PetscErrorCode *ierr, MatFactorError *error,
                                PetscReal *norm)
{
  const PetscInt n = 12;
  Mat            A;
  Vec            b, x;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, defect == WIDE ? n + 1 : n, n, defect == WIDE ? n + 1 : n));
  PetscCall(MatSetType(A, mattype));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt first = r - r % 2;

    if (defect == TINY && r == 6) PetscCall(MatSetValue(A, r, r, PETSC_MACHINE_EPSILON, INSERT_VALUES)); /* a node of one row */
    else if (defect == MISSING && r == 6) PetscCall(MatSetValue(A, r, r + 1, 1, INSERT_VALUES));
    else if (defect == ZERO || defect == MISSING) PetscCall(MatSetValue(A, r, r, r == 6 ? 0 : 2, INSERT_VALUES));
    else {
      for (PetscInt c = first; c < first + 2; c++) {
        const PetscScalar v = defect == SINGULAR && first == 6 ? 1 : c == r ? 2 : 1;

        if (!(defect == TINY && first == 6 && c != r)) PetscCall(MatSetValue(A, r, c, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  for (int sweep = 0; sweep < 2; sweep++) {
    *ierr = MatSOR(A, b, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), shift, 1, 1, x);
    PetscCall(MatScale(A, 2));
  }
  PetscCall(PetscPopErrorHandler());
  *norm = 0;
  if (!*ierr) PetscCall(VecNorm(x, NORM_1, norm));
  PetscCall(MatFactorGetError(A, error));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestDefects(void)
{
  PetscFunctionBegin;
  for (int defect = 0; defect < DEFECTS; defect++) {
    for (int shifted = 0; shifted < 2; shifted++) {
      PetscErrorCode ierr[2];
      MatFactorError error[2];
      PetscReal      norm[2];

      PetscCall(Defective(MATAIJ, (Defect)defect, shifted ? -1e-3 : 0, &ierr[0], &error[0], &norm[0]));
      PetscCall(Defective(type, (Defect)defect, shifted ? -1e-3 : 0, &ierr[1], &error[1], &norm[1]));
      if (ierr[0] == ierr[1] && error[0] == error[1] && !memcmp(&norm[0], &norm[1], sizeof(norm[0]))) continue;
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "defect %d, shift %d: error %d and %d, factor's error %d and %d, x of %g and %g\n",
                            defect, shifted, (int)ierr[0], (int)ierr[1], (int)error[0], (int)error[1], (double)norm[0],
                            (double)norm[1]));
    }
  }
  PetscFunctionReturn(0);
}

/* A solve with options; its iterations and reason */
static PetscErrorCode Solve(const char mattype[], Kind kind, PetscInt n, const char pctype[], PetscInt *its,
                            KSPConvergedReason *reason)
{
  Mat A;
  Vec b, x;
  KSP ksp;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(Create(mattype, n, &A));
  PetscCall(Fill(A, kind, 0));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestSolves(void)
{
  const char *const pcs[] = {PCSOR, PCEISENSTAT};

  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    for (int k = 0; k < (ranks > 1 ? 1 : 2); k++) { /* on several ranks AIJ's PCEISENSTAT is an error without inodes */
      PetscInt           its[2];
      KSPConvergedReason reason[2];

      PetscCall(Solve(MATAIJ, (Kind)kind, 180, pcs[k], &its[0], &reason[0]));
      PetscCall(Solve(type, (Kind)kind, 180, pcs[k], &its[1], &reason[1]));
      if (PetscAbsInt(its[0] - its[1]) <= floats && reason[0] == reason[1]) continue;
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: iterations %d and %d, reason %d and %d\n", KindNames[kind], pcs[k],
                            (int)its[0], (int)its[1], (int)reason[0], (int)reason[1]));
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-deferred", &deferred, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-floats", &floats, NULL));
  if (floats) epsilon = (PetscReal)FLT_EPSILON;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  for (int kind = 0; kind < KINDS; kind++) {
    PetscCall(TestKind((Kind)kind, 300));
    PetscCall(TestKind((Kind)kind, 60));
    PetscCall(TestDuplicate((Kind)kind, 60));
  }
  PetscCall(TestPattern(200));
  PetscCall(TestCOO(50));
  PetscCall(TestSolves());
  if (ranks == 1) PetscCall(TestDefects());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    output_file: output/mat_sor.out
    args: -mat_spmv_build_after 0
    test:
      suffix: types
      args: -type {{FORMATS spmv}}
    test:
      suffix: ranks
      nsize: {{2 3}}
      args: -type spmv
    test:
      suffix: inodes
      args: -type spmv -mat_inode_limit {{2 3}}
    test:
      suffix: rows
      args: -type spmv -mat_no_inode
    test:
      suffix: scalar
      args: -type spmv -mat_spmv_isa scalar
    test:
      suffix: avx2
      args: -type spmv -mat_spmv_isa avx2
    test:
      suffix: floats
      requires: !complex double
      nsize: {{1 2}}
      args: -type spmv -floats -mat_spmv_sor_values float

  test:
    suffix: deferred
    output_file: output/mat_sor.out
    args: -type spmv -deferred -mat_spmv_build_after 3 -mat_spmv_expected_calls 1000

TEST*/
