static const char help[] =
  "Krylov methods with vectors of type accel and a product that stays on the device: no vector is moved in an iteration.\n\n";

#include "unitvec.h"

static Vec Diagonal, Other; /* of the matrix; what it says of itself, or PCJACOBI would solve everything at once */

static PetscErrorCode Mult(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  (void)A;
  PetscCall(VecPointwiseMult(y, Diagonal, x));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetDiagonal(Mat A, Vec d)
{
  PetscFunctionBegin;
  (void)A;
  PetscCall(VecCopy(Other, d));
  PetscFunctionReturn(0);
}

/* What a solver is called and how many iterations end a cycle of it, so that cycles are compared */
static const struct {
  KSPType     type;
  const char *options;
  PetscInt    cycle;
} Solvers[] = {
  {KSPCG, "", 1},
  {KSPPIPECG, "", 1},
  {KSPGROPPCG, "", 1},
  {KSPGMRES, "-ksp_gmres_restart 5", 5},
  {KSPFGMRES, "-ksp_gmres_restart 5", 5},
  {KSPPGMRES, "-ksp_gmres_restart 5", 5},
  {KSPBCGS, "", 1},
  {KSPCHEBYSHEV, "-ksp_chebyshev_eigenvalues 0.1,2.1", 1},
  {KSPRICHARDSON, "", 1},
  {KSPCR, "", 1},
  {KSPMINRES, "", 1},
  {KSPTFQMR, "", 1},
  {KSPGCR, "-ksp_gcr_restart 5", 5},
};

/* Vectors moved by a solve of so many iterations */
static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, PetscInt iterations, PetscInt64 *moved)
{
  const SpmvVecCounts before = SpmvVecTotals;
  PetscInt            its;

  PetscFunctionBegin;
  PetscCall(KSPSetTolerances(ksp, 1e-300, 1e-300, 1e300, iterations));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCheck(its >= iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations for %" PetscInt_FMT, its,
             iterations);
  *moved = SpmvVecTotals.up - before.up + SpmvVecTotals.down - before.down + SpmvVecTotals.sent - before.sent;
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(int s, Mat A, Vec b, Vec x)
{
  PetscInt64 moved[2];
  KSP        ksp;
  PC         pc;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, Solvers[s].options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, Solvers[s].type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve(ksp, b, x, 2 * Solvers[s].cycle, &moved[0])); /* makes what it keeps */
  PetscCall(Solve(ksp, b, x, 2 * Solvers[s].cycle, &moved[0]));
  PetscCall(Solve(ksp, b, x, 4 * Solvers[s].cycle, &moved[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g vectors moved in an iteration\n", Solvers[s].type,
                        (double)(moved[1] - moved[0]) / (2.0 * Solvers[s].cycle)));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvDevice  *device;
  Mat          A;
  Vec          b, x;
  PetscScalar *d;
  PetscInt     first;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(SpmvDeviceGet(&device));
  if (!device) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SKIP: there is no device; install pocl-opencl-icd\n"));
  else {
    PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &b));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(VecDuplicate(b, &Diagonal));
    PetscCall(VecGetOwnershipRange(b, &first, NULL));
    PetscCall(VecGetArrayWrite(Diagonal, &d));
    for (PetscInt i = 0; i < N; i++) d[i] = 1 + PetscSinReal((PetscReal)(first + i)) / 2;
    PetscCall(VecRestoreArrayWrite(Diagonal, &d));
    PetscCall(VecDuplicate(b, &Other));
    PetscCall(VecPointwiseMult(Other, Diagonal, Diagonal));
    PetscCall(VecSet(b, 1));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, N, N, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &A));
    PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))Mult));
    PetscCall(MatShellSetOperation(A, MATOP_GET_DIAGONAL, (void (*)(void))GetDiagonal));
    PetscCall(MatSetVecType(A, VECACCEL));
    for (int s = 0; s < (int)PETSC_STATIC_ARRAY_LENGTH(Solvers); s++) PetscCall(Run(s, A, b, x));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&Diagonal));
    PetscCall(VecDestroy(&Other));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2}}
    timeoutfactor: 5

TEST*/
