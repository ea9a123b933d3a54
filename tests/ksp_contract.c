static char help[] = "Every solver and preconditioner does on a type derived from AIJ what it does on AIJ.\n\
  -type <bccoo>   the type under test\n\
  -only <names>   run these option sets, a comma between two\n\
  -skip <names>   do not run these\n\
  -sample <N>     every N-th pair of an option set and a problem only\n\
  -v              a line for each\n\n";

/*
  ksp_contract - the same iterations, the same reason, the same residual

  Each option set solves three problems, first with `aij`, then with the type under test: twice, with new values between, so
  that preconditioners are set up again. What a package that is not there makes fail under AIJ must fail under the type too.
*/
#include <petscksp.h>
#include <petscdmda.h>
#include "devicetest.h"
#include "sample.h"
#include "ksp_contract_options.h"

#define RESIDUAL_SLACK 2  /* times the residual of AIJ: products of the two types differ in the last bit */
#define RESIDUAL_STEP  20 /* times as much where a set allows one iteration less, which TCQMR may take */

/* What is asked for, what is no difference, iterations more or less. Below their precision PETSc's own solvers break down */
#if defined(PETSC_USE_REAL_SINGLE)
  #define RTOL  1e-3
  #define NOISE 1e-5
  #define ITS   1
#else
  #define RTOL  1e-8
  #define NOISE 1e-10
  #define ITS   0
#endif

static char lasterror[256];

static PetscErrorCode ErrorKeep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                PetscErrorType type, const char *message, void *ctx)
{
  (void)comm;
  (void)file;
  (void)ctx;
  if (type == PETSC_ERROR_INITIAL)
    snprintf(lasterror, sizeof(lasterror), "%s (%s, line %d)", message ? message : "no message", function, line);
  return code;
}

static PetscErrorCode GridCreate(Problem problem, const char type[], DM *dm)
{
  const PetscInt n = problem == ELASTICITY ? 7 : 9, dof = problem == ELASTICITY ? 3 : 1;

  PetscFunctionBegin;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         problem == ELASTICITY ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                         PETSC_DECIDE, dof, 1, NULL, NULL, NULL, dm));
  PetscCall(DMSetMatType(*dm, type));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMDASetInterpolationType(*dm, DMDA_Q1));
  PetscFunctionReturn(0);
}

/*
  A row of the matrix: a sum over the edges that leave a point. Poisson: coefficients that vary by a factor of 3.
  Convection: first-order upwind. Elasticity: springs along the edges of the grid and the diagonals of its faces.
  The scale is what changes between two solves.
*/
static PetscErrorCode MatrixFill(DM dm, Problem problem, PetscReal scale, Mat A)
{
  const PetscReal wind[] = {0.9, -0.6, 0.3};
  PetscInt        x0, y0, z0, nx, ny, nz, n;

  PetscFunctionBegin;
  PetscCall(MatZeroEntries(A));
  PetscCall(DMDAGetInfo(dm, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &x0, &y0, &z0, &nx, &ny, &nz));
  for (PetscInt point = 0; point < nx * ny * nz; point++) {
    MatStencil row = {.i = x0 + point % nx, .j = y0 + point / nx % ny, .k = z0 + point / nx / ny};

    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt   e[] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1}, length = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
      const MatStencil to  = {.i = row.i + e[0], .j = row.j + e[1], .k = row.k + e[2]};
      const PetscBool  out = (PetscBool)(to.i < 0 || to.j < 0 || to.k < 0 || to.i >= n || to.j >= n || to.k >= n);
      PetscReal        w   = 1 + scale * (PetscReal)((row.i + to.i + 3 * (row.j + to.j) + 5 * (row.k + to.k)) % 5) / 2;
      PetscScalar      v[9], opposite[9];

      if (length == 0 || length > (problem == ELASTICITY ? 2 : 1)) continue;
      if (problem == ELASTICITY) {
        for (int k = 0; k < 9; k++) {
          v[k]        = w * ((PetscReal)(e[k / 3] * e[k % 3]) / length + (k % 4 ? 0 : (PetscReal)0.1));
          opposite[k] = -v[k];
        }
        PetscCall(MatSetValuesBlockedStencil(A, 1, &row, 1, &row, v, ADD_VALUES)); /* fixed where the edge leaves the grid */
        if (!out) PetscCall(MatSetValuesBlockedStencil(A, 1, &row, 1, &to, opposite, ADD_VALUES));
      } else {
        if (problem == CONVECTION) w = 1 + 4 * scale * PetscMax(0, -(wind[0] * e[0] + wind[1] * e[1] + wind[2] * e[2]));
        v[0]        = w;
        opposite[0] = -w;
        PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, v, ADD_VALUES));
        if (!out) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &to, opposite, ADD_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecFill(Vec b)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(b, &first, &last));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = first; i < last; i++) a[i - first] = 1 + (PetscReal)((i * 37) % 11) / 7;
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscFunctionReturn(0);
}

/* Blocks of one to three rows, of one or two points in elasticity: for vpbjacobi */
static PetscErrorCode BlockSizesSet(Mat A)
{
  PetscInt m, bs, n = 0, *sizes;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(PetscMalloc1(m, &sizes));
  for (PetscInt row = 0; row < m; row += sizes[n++]) sizes[n] = PetscMin(m - row, bs == 1 ? 1 + n % 3 : bs * (1 + n % 2));
  PetscCall(MatSetVariableBlockSizes(A, n, sizes));
  PetscCall(PetscFree(sizes));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscBool          failed;
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual; /* |b - A x| / |b| with the product of AIJ */
} Outcome;

/* A preconditioner of a package that PETSc was built without. PCSetFromOptions() would say so, and lose what it began to read */
static PetscErrorCode PreconditionerFind(void)
{
  char      name[64];
  PetscBool given;
  void (*make)(void) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", name, sizeof(name), &given));
  if (given) PetscCall(PetscFunctionListFind(PCList, name, &make));
  PetscCheck(!given || make, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "This PETSc has no preconditioner %s", name);
  PetscFunctionReturn(0);
}

/* One solve; R is the matrix as AIJ, for the residual */
static PetscErrorCode Solve(KSP ksp, Mode mode, Mat R, Vec b, Vec x, Outcome *outcome)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(PreconditionerFind());
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecSet(x, 0.5));
  if (mode == BLOCK) {
    Mat            B, X;
    PetscInt       m;
    Vec            column;
    PetscErrorCode error;

    PetscCall(VecGetLocalSize(b, &m));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &B));
    for (PetscInt k = 0; k < 3; k++) {
      PetscCall(MatDenseGetColumnVecWrite(B, k, &column));
      PetscCall(VecCopy(b, column));
      PetscCall(VecShift(column, (PetscReal)k));
      PetscCall(MatDenseRestoreColumnVecWrite(B, k, &column));
    }
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    error = KSPMatSolve(ksp, B, X);
    PetscCall(MatDenseGetColumnVecRead(X, 0, &column));
    PetscCall(VecCopy(column, x));
    PetscCall(MatDenseRestoreColumnVecRead(X, 0, &column));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
    PetscCall(error); /* where a package is not there */
  } else if (mode == TRANSPOSE) PetscCall(KSPSolveTranspose(ksp, b, x));
  else PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &outcome->reason));
  PetscCall(KSPGetIterationNumber(ksp, &outcome->its));
  PetscCall(VecDuplicate(b, &r));
  if (mode == TRANSPOSE) PetscCall(MatMultTranspose(R, x, r));
  else PetscCall(MatMult(R, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &outcome->residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  outcome->residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* Two solves with one solver, the matrix has other values in the second */
static PetscErrorCode RunOn(const Set *set, Problem problem, const char type[], Outcome outcome[])
{
  DM  dm, plain;
  Mat A, R;
  KSP ksp;
  PC  pc;
  Vec b, x;

  PetscFunctionBegin;
  PetscCall(GridCreate(problem, type, &dm));
  PetscCall(GridCreate(problem, MATAIJ, &plain));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateMatrix(plain, &R));
  PetscCall(BlockSizesSet(A));
  PetscCall(BlockSizesSet(R));
  PetscCall(MatSetOption(A, MAT_SPD, (PetscBool)(problem != CONVECTION)));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecFill(b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, dm)); /* for multigrid */
  PetscCall(KSPSetTolerances(ksp, RTOL, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetOperators(ksp, set->mode == AMAT_AIJ ? R : A, set->mode == PMAT_AIJ ? R : A));
  outcome[0].failed = outcome[1].failed = PETSC_FALSE;
  for (int round = 0; round < 2 && !outcome[0].failed; round++) {
    PetscErrorCode error;

    PetscCall(MatrixFill(dm, problem, round ? (PetscReal)1.75 : 1, A));
    PetscCall(MatrixFill(plain, problem, round ? (PetscReal)1.75 : 1, R));
    lasterror[0] = 0;
    PetscCall(PetscPushErrorHandler(ErrorKeep, NULL));
    error = Solve(ksp, set->mode, R, b, x, &outcome[round]);
    PetscCall(PetscPopErrorHandler());
    if (error) outcome[0].failed = outcome[1].failed = PETSC_TRUE;
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&R));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plain));
  PetscFunctionReturn(0);
}

static const char *const Passed[] = {"-mat_spmv_build_after", "-mat_spmv_backend"}; /* from the command line to each set */

static PetscErrorCode RunSet(const Set *set, const char type[], PetscBool verbose, PetscBool *agrees)
{
  PetscOptions options;

  PetscFunctionBegin;
  *agrees = PETSC_TRUE;
  for (int problem = 0; problem < PROBLEMS; problem++) {
    Outcome     aij[2], mine[2];
    char        why[256] = "", value[32];
    const char *where    = problemnames[problem];

    if (!(set->problems & (1u << problem)) || !SpmvTestSampled()) continue;
    PetscCall(PetscOptionsCreate(&options)); /* of this set alone */
    PetscCall(PetscOptionsInsertString(options, set->options));
    PetscCall(PetscOptionsSetValue(options, "-mat_spmv_build_after", "0"));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Passed); k++) {
      PetscBool given;

      PetscCall(PetscOptionsGetString(NULL, NULL, Passed[k], value, sizeof(value), &given));
      if (given) PetscCall(PetscOptionsSetValue(options, Passed[k], value));
    }
    PetscCall(PetscOptionsPush(options));
    PetscCall(RunOn(set, (Problem)problem, MATAIJ, aij));
    if (aij[0].failed) PetscCall(PetscStrncpy(why, lasterror, sizeof(why)));
    PetscCall(RunOn(set, (Problem)problem, type, mine));
    PetscCall(PetscOptionsPop());
    PetscCall(PetscOptionsDestroy(&options));
    if (aij[0].failed != mine[0].failed) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s on %s: %s only: %s\n", set->name, where, mine[0].failed ? "fails" : "aij fails",
                            mine[0].failed ? lasterror : why));
      *agrees = PETSC_FALSE;
      continue;
    }
    if (verbose && aij[0].failed)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-22s %-10s both-fail: %s\n", set->name, where, why));
    for (int round = 0; round < 2 && !aij[0].failed; round++) {
      const Outcome  *r = &aij[round], *m = &mine[round];
      const PetscReal slack = m->its < r->its ? RESIDUAL_SLACK * RESIDUAL_STEP : RESIDUAL_SLACK;
      const PetscBool same  = (PetscBool)(r->reason == m->reason && PetscAbsInt(r->its - m->its) <= set->slack + ITS &&
                                         m->residual <= slack * r->residual + NOISE);

      if (same && !verbose) continue;
      if (!same) *agrees = PETSC_FALSE;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%s%-22s %-10s %s %" PetscInt_FMT " iterations, residual %.2e; aij %s %" PetscInt_FMT ", %.2e\n",
                            same ? "  " : "", set->name, where, KSPConvergedReasons[m->reason], m->its, (double)m->residual,
                            KSPConvergedReasons[r->reason], r->its, (double)r->residual));
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = "bccoo", only[1024] = "", skip[1024] = "";
  PetscBool some, verbose, missing;
  PetscInt  count = 0, failed = 0;

  if (PetscOptionsSetValue(NULL, "-mat_spmv_build_after", "0"))
    return 2; /* the library's own kernels from the first product on */
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) return PetscFinalize();
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), &some));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-skip", skip, sizeof(skip), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-v", &verbose));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sets); k++) {
    PetscBool wanted, unwanted, agrees;

    PetscCall(PetscStrInList(sets[k].name, only, ',', &wanted));
    PetscCall(PetscStrInList(sets[k].name, skip, ',', &unwanted));
    if (unwanted || (some && !wanted)) continue;
    PetscCall(RunSet(&sets[k], type, verbose, &agrees));
    count++;
    if (!agrees) failed++;
  }
  if (failed)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "ksp_contract: %" PetscInt_FMT " of %" PetscInt_FMT " option sets disagree with aij\n", failed, count));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_contract: %" PetscInt_FMT " option sets agree with aij\n", count));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}

/*TEST

  # PETSc's ILU(0) and PCREDUNDANT copy A's list of functions to what they make of it; the harness of newer releases has these names printed

  testset:
    args: -type {{FORMATS spmv}} -mat_spmv_build_after 0
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|PetscStrallocpy\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/ksp_contract.out

    test:
      suffix: 1_long

    test:
      suffix: 2_long
      nsize: 2

  testset:
    args: -mat_spmv_build_after 0
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|PetscStrallocpy\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/ksp_contract.out

    test:
      suffix: 1
      args: -type {{cmrs spmv}} -sample 3

    test:
      suffix: 2
      nsize: 2
      args: -type bccoo -sample 6

  testset: # products and vectors on a device
    args: -type bccoo -mat_spmv_backend device -spmv_device opencl -skip_without_device
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|PetscStrallocpy\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/ksp_contract.out

    test:
      suffix: device
      nsize: 2
      args: -sample 12

    test:
      suffix: device_long
      nsize: {{1 2}}

TEST*/
