static const char help[] =
  "Products with floats are counted where they are asked for: on each level of GAMG, and in blocks with prefix sub_.\n\
  -sub      the blocks of PCBJACOBI or PCASM, not levels\n\
  -refused  -sub_mat_spmv_values of a block that is no copy\n\n";

#include "counts.h"
#include "refuse.h"
#include <petscdmda.h>
#include <petscksp.h>

static PetscInt failures;

/* A point and its six neighbours, with a coefficient that no float holds */
static PetscErrorCode Assemble(DM da, Mat A)
{
  DMDALocalInfo g;

  PetscFunctionBegin;
  PetscCall(DMDAGetLocalInfo(da, &g));
  for (PetscInt n = 0; n < g.xm * g.ym * g.zm; n++) {
    const MatStencil  row = {.i = g.xs + n % g.xm, .j = g.ys + n / g.xm % g.ym, .k = g.zs + n / g.xm / g.ym};
    const PetscScalar v = -1 - 1 / (3 + (PetscReal)((row.i + row.j + row.k) % 5)), diagonal = 9.1;

    PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
    for (int f = 0; f < 6; f++) {
      const MatStencil to = {
        .i = row.i + (f == 1) - (f == 0), .j = row.j + (f == 3) - (f == 2), .k = row.k + (f == 5) - (f == 4)};

      if (PetscMin(PetscMin(to.i, to.j), to.k) < 0 || to.i == g.mx || to.j == g.my || to.k == g.mz) continue;
      PetscCall(MatSetValuesStencil(A, 1, &row, 1, &to, &v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* A solver that is set up, by options */
static PetscErrorCode Create(Mat *A, KSP *ksp, Vec *b)
{
  DM da;
  PC pc;

  PetscFunctionBegin;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 13, 13, 13,
                         PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(Assemble(da, *A));
  PetscCall(DMDestroy(&da));
  PetscCall(MatCreateVecs(*A, b, NULL));
  PetscCall(VecSetRandom(*b, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetOperators(*ksp, *A, *A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(KSP ksp, Vec b)
{
  Vec                x;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s", KSPConvergedReasons[reason]);
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* Products of both blocks by whatever kernel; those by ours, and those of them with floats */
static PetscErrorCode Expect(Mat A, PetscBool floats, PetscInt64 wanted, const char what[], PetscInt k)
{
  SpmvCounts c;
  PetscInt64 all;
  PetscInt   m;

  PetscFunctionBegin;
  PetscCall(Counts(A, &c));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  all = c.products + c.deferred + c.fallbacks + c.aij;
  if (!m || (c.products > 0 && all == wanted && c.floats == (floats ? c.products : 0))) PetscFunctionReturn(0);
  failures++;
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%s %" PetscInt_FMT ": %" PetscInt64_FMT " products, %" PetscInt64_FMT " by ours, %" PetscInt64_FMT
                        " with floats, where %" PetscInt64_FMT " were to be%s\n",
                        what, k, all, c.products, c.floats, wanted, floats ? ", by ours all with floats" : ", none with floats"));
  PetscFunctionReturn(0);
}

#define LEVELS 10

/* The solver's matrix and those of coarser levels, each time with as many products; floats: those of the coarser levels have
   them */
static PetscErrorCode TestLevels(PetscBool floats, PetscInt64 products[LEVELS], PetscInt *iterations)
{
  PetscInt levels, again;
  Mat      A, C;
  KSP      ksp, smoother;
  PC       pc;
  Vec      b;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_product_values", floats ? "float" : "scalar"));
  PetscCall(Create(&A, &ksp, &b));
  PetscCall(Solve(ksp, b));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCheck(levels >= 3 && levels <= LEVELS, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " levels", levels);
  PetscCall(KSPGetIterationNumber(ksp, &again));
  if (!floats) *iterations = again;
  PetscCheck(again == *iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " iterations, %" PetscInt_FMT " with floats", *iterations, again);
  for (PetscInt k = 1; k < levels; k++) {
    SpmvCounts c;

    PetscCall(PCMGGetSmoother(pc, k, &smoother));
    PetscCall(KSPGetOperators(smoother, &C, NULL));
    PetscCall(Counts(C, &c));
    if (!floats) products[k] = c.products + c.deferred + c.fallbacks + c.aij;
    PetscCall(Expect(C, (PetscBool)(floats && k + 1 < levels), products[k], "level", k));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Blocks of the matrix have prefix sub_: three iterations on each multiply by it */
static PetscErrorCode TestSub(void)
{
  PetscBool  asm_;
  PetscInt   n;
  Mat        A, B;
  KSP        ksp, *sub;
  PC         pc;
  Vec        b;
  SpmvCounts c;

  PetscFunctionBegin;
  PetscCall(Create(&A, &ksp, &b));
  PetscCall(Solve(ksp, b));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &asm_));
  PetscCall((asm_ ? PCASMGetSubKSP : PCBJacobiGetSubKSP)(pc, &n, NULL, &sub));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(KSPGetOperators(sub[k], &B, NULL));
    PetscCall(Counts(B, &c));
    PetscCall(Expect(B, PETSC_TRUE, c.products, "block", k));
  }
  PetscCall(Counts(A, &c));
  PetscCall(Expect(A, PETSC_FALSE, c.products, "the matrix", 0));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* PCBJACOBI with one block on a process works with the diagonal block itself */
static PetscErrorCode TestRefused(void)
{
  PetscErrorCode ierr;
  Mat            A, B;
  Vec            x, y, b;
  KSP            ksp;

  PetscFunctionBegin;
  PetscCall(Create(&A, &ksp, &b));
  PetscCall(MatGetDiagonalBlock(A, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(MatSetOptionsPrefix(B, "sub_"));
  PetscCall(PetscPushErrorHandler(Refused, NULL));
  ierr = MatMult(B, x, y);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was not refused");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscBool  sub, refused;
  PetscInt   all, iterations;
  PetscInt64 products[LEVELS];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-sub", &sub));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refused", &refused));
  if (refused) PetscCall(TestRefused());
  else if (sub) PetscCall(TestSub());
  else {
    PetscCall(TestLevels(PETSC_FALSE, products, &iterations));
    PetscCall(TestLevels(PETSC_TRUE, products, &iterations));
  }
  PetscCallMPI(MPI_Allreduce(&failures, &all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures\n", all));
  PetscCall(PetscFinalize());
  return all ? 1 : 0;
}

/*TEST

  testset:
    requires: double !complex
    output_file: output/mat_floats.out
    args: -mat_spmv_build_after 0 -ksp_rtol 1e-8
    test:
      suffix: levels
      nsize: {{1 2}}
      args: -mat_type {{pmf spmv}} -pc_gamg_coarse_eq_limit 20
    test:
      suffix: sub
      nsize: {{1 2}}
      args: -mat_type pmf -sub -ksp_type fgmres -sub_mat_spmv_values float -sub_ksp_type gmres -sub_ksp_max_it 3 -sub_pc_type jacobi
      # Debian's PETSc with 64-bit indices does not return from PT-Scotch, with aij either
      args: -pc_bjacobi_local_blocks 2 -pc_asm_local_blocks 2 -pc_type {{bjacobi asm}} -mat_partitioning_type average

  test:
    suffix: refused
    requires: double !complex
    nsize: 2
    args: -refused -mat_type pmf -mat_spmv_build_after 0 -sub_mat_spmv_values float
    filter: grep -E "refused|failures"

TEST*/
