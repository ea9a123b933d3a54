#!/bin/bash
# What is said of words that are nearly ours, and, by -mat_spmv_view, of matrices for which nothing is built; that -help is found
. tests/tap

cat >"$tmp/app.c" <<'END_C'
#include <petscksp.h>
/* A matrix named `stiffness` with prefix foo_, -products of it, -changes of its values; -leave: nobody destroys it */
int main(int argc, char **argv)
{
  Mat       A;
  Vec       x, y;
  PetscInt  products = 20, changes = 1, sweeps = 0, solves = 0;
  PetscBool leave = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-products", &products, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-changes", &changes, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sweeps", &sweeps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-leave", &leave, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(PetscObjectSetName((PetscObject)A, "stiffness"));
  PetscCall(MatSetOptionsPrefix(A, "foo_"));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 200, 200));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (PetscInt c = 0; c < changes; c++) {
    PetscInt first, end;

    PetscCall(MatGetOwnershipRange(A, &first, &end));
    for (PetscInt r = first; r < end; r++) {
      PetscCall(MatSetValue(A, r, r, 2 + c, INSERT_VALUES));
      PetscCall(MatSetValue(A, r, (r + 1) % 200, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    for (PetscInt k = 0; k < products; k++) PetscCall(MatMult(A, x, y));
    for (PetscInt k = 0; k < sweeps; k++) PetscCall(MatSOR(A, y, 1, (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x));
  }
  if (solves) {
    KSP ksp;
    PC  pc;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCILU));
    for (PetscInt k = 0; k < solves; k++) PetscCall(KSPSolve(ksp, x, y));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  if (!leave) PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
END_C
check compile $COMPILE -fvisibility=default "$tmp/app.c" -o "$tmp/app" $PETSC_LINK

app="$tmp/app -dll_append $LIBRARY"
two="${MPIEXEC:-mpiexec} -n 2 $app" # processes
spmv="-foo_mat_type spmv"

check knob says 'warning: there is no option -foo_mat_bccoo_block_heigth; the nearest is -foo_mat_bccoo_block_height ' $app $spmv -foo_mat_bccoo_block_heigth 3
check other_prefix says 'there is no option -bar_mat_spmv_veiw; the nearest is -bar_mat_spmv_view ' $app $spmv -bar_mat_spmv_veiw
check no_prefix says 'there is no option -mat_spmv_thread; the nearest is -mat_spmv_threads ' $app $spmv -mat_spmv_thread 2
check process says 'there is no option -spmv_sumary; the nearest is -spmv_summary ' $app $spmv -spmv_sumary
check format says 'there is no option -foo_mat_bcco_tile; the nearest is -foo_mat_bccoo_tile ' $app $spmv -foo_mat_bcco_tile 8
check right says '!warning' $app $spmv -foo_mat_bccoo_tile 8 -foo_mat_spmv_tune_tiles no -mat_pmf_window 64 -bar_mat_spmv_view -spmv_device_view -mat_view -foo_mat_is_symmetric -options_left no
check help_is_quiet says '!petscspmv_words' $app $spmv -foo_mat_spmv_veiw -help
check not_ours says '!warning' $app -foo_mat_spmv_veiw
check once says 'warning' $two $spmv -foo_mat_spmv_veiw
check once_only [ "$(grep -c 'there is no option' "$tmp/said")" = 1 ]

check type says 'warning: -foo_mat_type bcoo is no type that PETSc knows; the nearest of ours is bccoo, of: bccoo .*spmv' $app -foo_mat_type bcoo
check type_dm says 'warning: -dm_mat_type seqaijsmpv is no type that PETSc knows; the nearest of ours is spmv, of:' $app -dm_mat_type seqaijsmpv
check type_right says '!warning' $app -foo_mat_type aij -dm_mat_type sbaij -a_mat_type seqaijbccoo -b_mat_type tpspmv -c_mat_type dense
check formats says "'bcoo' is not a format of libpetscspmv; give -mat_spmv_tune_formats some of these, with commas between them: bccoo .*aij" $app $spmv -foo_mat_spmv_tune_formats bcoo
measure="-foo_mat_spmv_tune measure -foo_mat_spmv_tune_seconds 0.01"
check folder says "warning: wisdom is not kept, as there is no folder $tmp/no/such: make it by mkdir -p $tmp/no/such" $app $spmv $measure -foo_mat_spmv_wisdom "$tmp/no/such/wisdom"
check folder_not_made [ ! -e "$tmp/no" ]
check folder_there says '!warning' $app $spmv $measure -foo_mat_spmv_wisdom "$tmp/wisdom"
check wisdom [ -s "$tmp/wisdom" ]

# All lines of -help with options of ours have the word petscspmv
check help says '(petscspmv)' $app $spmv -help
sed -n 's/^ *-\(foo_mat_\(spmv\|bccoo\|cmrs\|csradaptive\|tpspmv\|pmf\|sbccoo\)\|spmv\)_.*/&/p' "$tmp/said" >"$tmp/ours"
all_lines() { [ "$(wc -l <"$tmp/ours")" -gt 80 ] && ! grep -v 'petscspmv)$' "$tmp/ours"; }
check help_all all_lines

# The views
name="matrix 'stiffness', prefix foo_, type spmv, 200 x 200"
check view_name says "^storages of the $name, 400 nonzeros" $app $spmv -foo_mat_spmv_view
check view_gain says 'aij: predicted .* s a product, so .* times faster is expected; the least of 8 took' $app $spmv -foo_mat_spmv_view
check view_setup says 'set-up .* s (choosing .*, making it .*)' $app $spmv -foo_mat_spmv_view
check tune_view says "^storages of the $name" $app $spmv -foo_mat_spmv_tune_view
check view_blocks says "^storages of the $name$" $two $spmv -foo_mat_spmv_view -foo_mat_spmv_build_after 0
why="petscspmv: nothing was built for the $name, 400 nonzeros"
check why_few says "$why: 5 products of the 8 that a build waits for" $app $spmv -foo_mat_spmv_view -products 5
check why_changes says "$why: 5 products between two changes of its values at most, of the 8 that a build waits for" $app $spmv -foo_mat_spmv_view -products 5 -changes 3
check why_none says "$why: no product and no sweep was asked for" $app $spmv -foo_mat_spmv_tune_view -products 0
check why_sweeps says "$why: 1 products of the 8 that a build waits for (-mat_spmv_build_after); its sweeps are PETSc's, as -mat_spmv_sor is no" $app $spmv -foo_mat_spmv_view -products 1 -sweeps 5 -foo_mat_spmv_sor no
check why_solves says "nothing was built for the incomplete factor of $name, .* nonzeros: 1 solves of the 2 that a build waits for (-mat_spmv_build_after)" $app $spmv -foo_mat_spmv_view -solves 1
check why_solve_no says "nothing was built for the incomplete factor of $name, .* nonzeros: -mat_spmv_solve is no" $app $spmv -foo_mat_spmv_view -solves 9 -foo_mat_spmv_solve no
check view_factor says "^petscspmv factor (ILU) of the $name: " $app $spmv -foo_mat_spmv_view -solves 9
check why_solves_built says '!nothing was built for the incomplete factor' $app $spmv -foo_mat_spmv_view -solves 9
check why_built says '!nothing was built' $app $spmv -foo_mat_spmv_view
check why_not_asked says '!nothing was built' $app $spmv -products 5
check why_left says "$why: 5 products of the 8" $app $spmv -foo_mat_spmv_view -products 5 -leave
check summary_left says "^  $name" $app $spmv -spmv_summary -leave
check why_blocks says "nothing was built for the off-diagonal block of $name, here 100 x 1, 1 nonzeros: 5 products of the 8" $two $spmv -foo_mat_spmv_view -products 5
