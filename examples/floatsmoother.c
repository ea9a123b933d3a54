/*
  floatsmoother.c - multigrid whose finest smoother reads single precision, while the solver's own matrix stays double

  The finest smoother works with the solver's matrix, so that no option reaches the one without the other. Here it gets a copy
  with the prefix fine_, which costs the memory of a matrix. The residual that is printed is by the solver's matrix.

      mpicc examples/floatsmoother.c -o floatsmoother $(pkg-config --cflags --libs PETSc) -lm
      ./floatsmoother -dll_append lib/libpetscspmv.so -mat_type spmv -da_grid_x 129 -da_grid_y 129 -da_grid_z 129 \
        -fine_mat_spmv_values float -mat_spmv_product_values float

  -fine_mat_spmv_values float      products of the finest smoother, and the residual that goes to the level below
  -fine_mat_spmv_sor_values float  its sweeps, where -mg_levels_pc_type is sor
  -mat_spmv_product_values float   products of the other levels, which are P^T A P
  -pc_type mg -pc_mg_galerkin -pc_mg_levels 4   in the place of gamg
  -operators_view ::ascii_info_detail           both matrices: which storage, how many products
*/
static const char help[] =
  "-div k grad u = 1 on a cube, solved by CG and multigrid; the finest smoother has a matrix of its own.\n\n";

#include <petscdmda.h>
#include <petscksp.h>

/* Each point and its neighbours on all sides; a coefficient that no float holds; u = 0 outside */
static PetscErrorCode Assemble(DM da, Mat A)
{
  DMDALocalInfo g;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &g));
  for (PetscInt n = 0; n < g.xm * g.ym * g.zm; n++) {
    const PetscInt   at[3] = {g.xs + n % g.xm, g.ys + n / g.xm % g.ym, g.zs + n / g.xm / g.ym}, size[3] = {g.mx, g.my, g.mz};
    const MatStencil row = {.i = at[0], .j = at[1], .k = at[2]};
    PetscScalar      sum = 0;

    for (int f = 0; f < 6; f++) {
      const PetscInt    to[3] = {at[0] + (f == 1) - (f == 0), at[1] + (f == 3) - (f == 2), at[2] + (f == 5) - (f == 4)};
      const MatStencil  other = {.i = to[0], .j = to[1], .k = to[2]};
      const PetscReal   x     = (PetscReal)(at[0] + to[0] + 2 * (at[1] + to[1]) + 3 * (at[2] + to[2]));
      const PetscScalar v     = -1 - PetscSqr(PetscSinReal(x / 31));

      sum -= v;
      if (PetscMin(PetscMin(to[0], to[1]), to[2]) < 0 || to[f / 2] == size[f / 2]) continue;
      PetscCall(MatSetValuesStencil(A, 1, &row, 1, &other, &v, INSERT_VALUES));
    }
    PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The finest smoother of a multigrid that is set up works with a copy of the matrix from now on: P, whose prefix is fine_ */
static PetscErrorCode GiveOwnMatrix(KSP ksp, Mat A, Mat *P)
{
  PC       pc;
  KSP      smoother;
  PetscInt levels;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, P));
  PetscCall(MatSetOptionsPrefix(*P, "fine_"));
  PetscCall(MatSetFromOptions(*P));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(PCMGGetSmoother(pc, levels - 1, &smoother));
  /* Chebyshev multiplies by the first one; Jacobi, SOR and ILU are made from the second. CG goes on with A */
  PetscCall(KSPSetOperators(smoother, *P, *P));
  PetscCall(PCMGSetResidual(pc, levels - 1, PCMGResidualDefault, *P));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM        da;
  Mat       A, P;
  Vec       b, x, r;
  KSP       ksp;
  PC        pc;
  PetscInt  iterations;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17, 17,
                         PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Assemble(da, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecNormalize(b, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(GiveOwnMatrix(ksp, A, &P));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, true residual %.2e\n", iterations, (double)residual));
  PetscCall(MatViewFromOptions(A, NULL, "-operators_view"));
  PetscCall(MatViewFromOptions(P, (PetscObject)A, "-operators_view"));
  PetscCall(MatDestroy(&P));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
