static const char help[] = "-spmv_advise: what a solve tells its rules; tests/unit_advise.c tries these by themselves.\n\
  -blocks     the block size, 3, is declared\n\
  -symmetric  so is symmetry, for good\n\
  -solves <1> solves, each with new values\n\n";

#include <petscksp.h>

#define POINTS 12
#define B      3

/* Laplace on POINTS x POINTS, each entry times a full symmetric block; entries and their mirror images differ by rounding */
static PetscErrorCode Fill(Mat A)
{
  const PetscInt step[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  PetscInt       first, end;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt row = first; row < end; row++) {
    const PetscInt point = row / B, x = point % POINTS, y = point / POINTS, i = row % B;

    for (int s = 0; s < 5; s++) {
      const PetscInt u = x + step[s][0], v = y + step[s][1];

      if (u < 0 || u >= POINTS || v < 0 || v >= POINTS) continue;
      for (PetscInt j = 0; j < B; j++)
        PetscCall(MatSetValue(A, row, (v * POINTS + u) * B + j,
                              (s ? -1. : 4.) * (i == j ? 2. : 0.3) * (i > j ? 1 + PETSC_MACHINE_EPSILON : 1), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt n      = POINTS * POINTS * B;
  PetscInt       solves = 1;
  PetscBool      blocks = PETSC_FALSE, symmetric = PETSC_FALSE;
  Mat            A;
  Vec            x, b;
  KSP            ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-blocks", &blocks, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-symmetric", &symmetric, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  if (blocks) PetscCall(MatSetBlockSize(A, B));
  PetscCall(PetscObjectSetName((PetscObject)A, "stiffness"));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 5 * B, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5 * B, NULL, 5 * B, NULL));
  if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (PetscInt k = 0; k < solves; k++) {
    PetscCall(Fill(A));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # with -spmv_advise_least 0 it does not depend on times whether a share is large; lines are cut before they tell one
  testset:
    args: -spmv_advise -spmv_advise_least 0 -mat_spmv_build_after 0 -ksp_max_it 30 -ksp_type richardson
    test: # nothing is ours
      suffix: aij
      args: -mat_type aij -pc_type jacobi
      filter: grep -o -E "(no matrix has a type of this library|our types)"
    test:
      suffix: lu
      args: -mat_type spmv -pc_type lu -ksp_type preonly
      filter: grep -o -E "(LU or Cholesky takes|no matrix has)"
    test:
      suffix: ilu
      args: -mat_type spmv -pc_type ilu
      filter: grep -o -E "(LU or Cholesky takes|factorisations)"
    test:
      suffix: blocks
      args: -mat_type spmv -pc_type none
      filter: grep -o "stiffness.*made of full blocks of 3 x 3" | sed "s/, type.* is/ is/"
    test:
      suffix: blocks_declared
      args: -mat_type spmv -pc_type none -blocks
      filter: grep -c "made of full blocks"
      output_file: output/ksp_advise_none.out
    test:
      suffix: symmetric
      args: -mat_type sbccoo -pc_type none -symmetric
      filter: grep -o -E "(that is declared symmetric|but for rounding).*exact no" | sed "s/,.*and//"
    test:
      suffix: symmetric_not
      args: -mat_type sbccoo -pc_type none
      filter: grep -o -E "(that is declared symmetric|but for rounding).*exact no" | sed "s/,.*and//"
    test:
      suffix: sor
      args: -mat_type spmv -pc_type sor -mat_spmv_sor no
      filter: grep -o -E "sweeps by PETSc.s kernel, as.*"
    test: # multigrid: a line for each level, those of coarse matrices are found by how they were made
      suffix: gamg
      nsize: {{1 2}}
      args: -mat_type spmv -pc_type gamg -pc_gamg_coarse_eq_limit 10 -blocks -mg_levels_pc_type jacobi
      filter: grep -o -E "(^ +[0-9] +[0-9]+ |MatPtAP, which)" | tr -s " " | cut -d " " -f 1-2
  test: # too few products between two changes of the values
    suffix: changes
    args: -spmv_advise -spmv_advise_least 0 -mat_type spmv -ksp_type richardson -ksp_max_it 11 -pc_type none -solves 3
    filter: grep -o -E "all by PETSc.s kernel: [0-9]+ came.* waits for [0-9]+"

TEST*/
