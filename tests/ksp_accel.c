static const char help[] =
  "Krylov methods with vectors that stay on the device: what moves between two iterations, and as many iterations as with AIJ.\n\
  -type <bccoo> - of the Mat\n\
  -n <60>       - points of the grid in each direction\n\
  -host         - right hand side and solution live on the host\n\
  -last <25>    - the second of these iterations, the first is 5\n\
  -vectors      - the Mat's type of vectors is accel, MatSetVecType()\n\
  -blocks       - PCBJACOBI, of one block a process, with a solver of products and vectors of the host\n\n";

#include <petscksp.h>
#include "devicetest.h"

#define FIRST 5
static PetscInt Last = 25;

/* What a monitor keeps: MatSpmvGetTransfers_C at the two iterations */
typedef struct {
  Mat            A;
  PetscLogDouble at[2][6];
} Seen;

/* Five points on a grid, with a diagonal so far from singular that roundings do not change the number of iterations */
static PetscErrorCode Laplacian(MatType type, PetscInt n, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt r = start; r < end; r++) {
    const PetscInt i = r / n, j = r % n,
                   column[4] = {i > 0 ? r - n : -1, j > 0 ? r - 1 : -1, j < n - 1 ? r + 1 : -1, i < n - 1 ? r + n : -1};

    for (int k = 0; k < 4; k++) PetscCall(MatSetValue(*A, r, column[k], -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, r, r, 4.25 + (PetscReal)(r % 3) / 100, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Transfers(Mat A, PetscLogDouble counts[6])
{
  PetscErrorCode (*get)(Mat, PetscLogDouble[]);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetTransfers_C", &get));
  if (get) PetscCall((*get)(A, counts));
  PetscFunctionReturn(0);
}

static PetscErrorCode Monitor(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  Seen *seen = (Seen *)context;

  PetscFunctionBegin;
  (void)ksp, (void)norm;
  if (iteration == FIRST) PetscCall(Transfers(seen->A, seen->at[0]));
  if (iteration == Last) PetscCall(Transfers(seen->A, seen->at[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, KSPType type, PetscBool blocks, PetscBool host, Seen *seen, PetscInt *iterations,
                            Vec *solution)
{
  KSPConvergedReason reason;
  KSP                ksp;
  PC                 pc;
  Vec                b, other;

  PetscFunctionBegin;
  *seen = (Seen){.A = A};
  if (host) {
    PetscInt m;

    PetscCall(MatGetLocalSize(A, &m, NULL));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, m, PETSC_DECIDE, &b));
    PetscCall(VecDuplicate(b, &other));
  } else PetscCall(MatCreateVecs(A, &other, &b));
  PetscCall(VecSet(other, 1));
  PetscCall(MatMult(A, other, b));
  PetscCall(VecSet(other, 0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, blocks ? PCBJACOBI : PCJACOBI));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  if (!strcmp(type, KSPCHEBYSHEV)) PetscCall(KSPChebyshevSetEigenvalues(ksp, 2, 0.02));
  PetscCall(KSPMonitorSet(ksp, Monitor, seen, NULL));
  PetscCall(KSPSolve(ksp, b, other));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0 && *iterations > Last, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %" PetscInt_FMT " iterations",
             type, KSPConvergedReasons[reason], *iterations);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  *solution = other;
  PetscFunctionReturn(0);
}

/* Per iteration: how many of all rows' vectors, or of all packs, were moved, and of a few scalars whether there were any */
static PetscErrorCode Report(KSPType type, Mat A, const Seen *seen, PetscInt n)
{
  PetscLogDouble local[6], sum[6];
  PetscMPIInt    size;
  PetscInt       rows;

  PetscFunctionBegin;
  for (int k = 0; k < 6; k++) local[k] = (seen->at[1][k] - seen->at[0][k]) / (PetscLogDouble)(Last - FIRST);
  PetscCallMPI(MPI_Allreduce(local, sum, 6, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%s: in each iteration %.2f transfers to devices, %.2f from them", type, sum[1], sum[4]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; bytes: %.2f and %.2f vectors", sum[2] / ((PetscLogDouble)rows * sizeof(PetscScalar)),
                        sum[5] / ((PetscLogDouble)rows * sizeof(PetscScalar))));
  if (size > 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", or %.2f and %.2f lines of the grid",
                          sum[2] / ((PetscLogDouble)n * sizeof(PetscScalar)),
                          sum[5] / ((PetscLogDouble)n * sizeof(PetscScalar))));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; scalars %s\n", sum[3] > 0 ? "from them" : "none"));
  PetscFunctionReturn(0);
}

/* Norms are kept by a vector's state, which a product on the device must raise */
static PetscErrorCode States(Mat A)
{
  Vec       x, y[2];
  PetscReal norm[3];

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  for (int add = 0; add < 2; add++) {
    PetscCall(VecSet(x, 1));
    PetscCall(VecSet(y[0], 100));
    PetscCall(VecNorm(y[0], NORM_2, &norm[0]));
    if (add) PetscCall(MatMultAdd(A, x, y[0], y[0]));
    else PetscCall(MatMult(A, x, y[0]));
    PetscCall(VecNorm(y[0], NORM_2, &norm[1]));
    PetscCall(VecSet(y[1], 0));
    PetscCall(VecAXPY(y[1], 1, y[0]));
    PetscCall(VecNorm(y[1], NORM_2, &norm[2]));
    PetscCheck(norm[1] != norm[0] && PetscAbsReal(norm[1] - norm[2]) <= 100 * PETSC_MACHINE_EPSILON * norm[2], PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "norms %g before, %g after, should be %g", (double)norm[0], (double)norm[1], (double)norm[2]);
  }
  PetscCall(VecDestroy(&x));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&y[k]));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const char *const types[]  = {KSPCG, KSPGMRES, KSPBCGS, KSPCHEBYSHEV, KSPPIPECG};
  char              type[64] = MATBCCOO;
  PetscInt          n        = 60;
  PetscBool         host     = PETSC_FALSE, blocks, vectors, missing;
  VecType           vectype;
  Mat               A, B;
  Vec               v;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) goto end;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-last", &Last, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-host", &host, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-blocks", &blocks));
  PetscCall(Laplacian(type, n, &A));
  PetscCall(Laplacian(MATAIJ, n, &B));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-vectors", &vectors));
  if (vectors) PetscCall(MatSetVecType(A, VECACCEL));
  PetscCall(MatCreateVecs(A, &v, NULL));
  PetscCall(VecGetType(v, &vectype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "vectors of type %s\n", vectype));
  PetscCall(VecDestroy(&v));
  PetscCall(States(A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscInt  iterations[2];
    PetscReal norm, difference;
    Seen      seen[2];
    Vec       x[2];

    PetscCall(Solve(B, types[k], blocks, PETSC_FALSE, &seen[1], &iterations[1], &x[1]));
    PetscCall(Solve(A, types[k], blocks, host, &seen[0], &iterations[0], &x[0]));
    PetscCall(VecNorm(x[1], NORM_2, &norm));
    PetscCall(VecAXPY(x[1], -1, x[0]));
    PetscCall(VecNorm(x[1], NORM_2, &difference));
    PetscCheck(difference <= 1e-6 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the solution differs from AIJ's by %g", types[k],
               (double)(difference / norm));
    PetscCheck(iterations[0] == iterations[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: %" PetscInt_FMT " iterations, with AIJ %" PetscInt_FMT, types[k], iterations[0], iterations[1]);
    if (!blocks || vectors) PetscCall(Report(types[k], A, &seen[0], n));
    for (int s = 0; s < 2; s++) PetscCall(VecDestroy(&x[s]));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
end:
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_backend device -mat_spmv_build_after 0 -spmv_device opencl -skip_without_device
    diff_args: -j # numbers are compared as they are: by itself PETSc ignores those with decimals
    timeoutfactor: 3
    test: # no vector moves on one process, only what others want on two
      suffix: 1
      nsize: {{1 2}separate output}
      args: -type {{bccoo pmf}}
    test:
      suffix: 1_long
      output_file: output/ksp_accel_1_nsize-1.out
      args: -type {{DEVICE_FORMATS}}
    test:
      suffix: 2_long
      nsize: 2
      output_file: output/ksp_accel_1_nsize-2.out
      args: -type {{DEVICE_FORMATS}}
    test: # AIJ's kernel serves for a while, then the device
      suffix: later
      args: -mat_spmv_build_after 3
      output_file: output/ksp_accel_1_nsize-1.out
    test: # each product moves its vectors once, and nothing else does
      suffix: host
      nsize: {{1 2}separate output}
      args: -host
    test: # vectors of the host in the block's solver: the solution is right
      suffix: blocks
      nsize: {{1 2}separate output}
      args: -host {{0 1}} -blocks -last 10
      args: -sub_ksp_type richardson -sub_ksp_max_it 4 -sub_ksp_norm_type none -sub_ksp_convergence_test skip -sub_pc_type jacobi
    test: # they are of type accel as well: again no vector moves
      suffix: blocks_vectors
      nsize: {{1 2}separate output}
      args: -vectors -blocks -last 10
      args: -sub_ksp_type richardson -sub_ksp_max_it 4 -sub_ksp_norm_type none -sub_ksp_convergence_test skip -sub_pc_type jacobi

TEST*/
