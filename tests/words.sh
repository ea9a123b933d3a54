#!/bin/bash
# What is said of words that are nearly ours, and, by -mat_spmv_view, of matrices for which nothing is built; that -help is found
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

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
$COMPILE -fvisibility=default "$tmp/app.c" -o "$tmp/app" $PETSC_LINK >"$tmp/log" 2>&1 || { echo "not ok words_compile"; sed 's/^/# /' "$tmp/log"; exit 0; }

check() { # name, lines of the output with the word petscspmv or with `words` that are wanted: words or !words, then options...
  local name=$1 words=$2 no=
  shift 2
  [ "${words#!}" = "$words" ] || { no=1; words=${words#!}; }
  env -u PETSC_OPTIONS timeout 60 $launch "$tmp/app" -dll_append "$LIBRARY" "$@" >"$tmp/out" 2>&1 </dev/null
  if if grep -q -e "$words" "$tmp/out"; then [ -z "$no" ]; else [ -n "$no" ]; fi; then echo "ok words_$name"
  else echo "not ok words_$name"; grep -v 'Configure options' "$tmp/out" | head -20 | sed 's/^/# /'; fi
}
spmv="-foo_mat_type spmv"

check knob 'warning: there is no option -foo_mat_bccoo_block_heigth; the nearest is -foo_mat_bccoo_block_height ' $spmv -foo_mat_bccoo_block_heigth 3
check other_prefix 'there is no option -bar_mat_spmv_veiw; the nearest is -bar_mat_spmv_view ' $spmv -bar_mat_spmv_veiw
check no_prefix 'there is no option -mat_spmv_thread; the nearest is -mat_spmv_threads ' $spmv -mat_spmv_thread 2
check process 'there is no option -spmv_sumary; the nearest is -spmv_summary ' $spmv -spmv_sumary
check format 'there is no option -foo_mat_bcco_tile; the nearest is -foo_mat_bccoo_tile ' $spmv -foo_mat_bcco_tile 8
check right '!warning' $spmv -foo_mat_bccoo_tile 8 -foo_mat_spmv_tune_tiles no -mat_pmf_window 64 -bar_mat_spmv_view -spmv_device_view -mat_view -foo_mat_is_symmetric -options_left no
check help_is_quiet '!petscspmv_words' $spmv -foo_mat_spmv_veiw -help
check not_ours '!warning' -foo_mat_spmv_veiw
launch="${MPIEXEC:-mpiexec} -n 2" check once '^[^2-9]*$' $spmv -foo_mat_spmv_veiw
[ "$(grep -c 'there is no option' "$tmp/out")" = 1 ] && echo "ok words_once_only" || { echo "not ok words_once_only"; sed 's/^/# /' "$tmp/out"; }

check type 'warning: -foo_mat_type bcoo is no type that PETSc knows; the nearest of ours is bccoo, of: bccoo .*spmv' -foo_mat_type bcoo
check type_dm 'warning: -dm_mat_type seqaijsmpv is no type that PETSc knows; the nearest of ours is spmv, of:' -dm_mat_type seqaijsmpv
check type_right '!warning' -foo_mat_type aij -dm_mat_type sbaij -a_mat_type seqaijbccoo -b_mat_type tpspmv -c_mat_type dense
check formats "'bcoo' is not a format of libpetscspmv; give -mat_spmv_tune_formats some of these, with commas between them: bccoo .*aij" $spmv -foo_mat_spmv_tune_formats bcoo
measure="-foo_mat_spmv_tune measure -foo_mat_spmv_tune_seconds 0.01"
check folder "warning: wisdom is not kept, as there is no folder $tmp/no/such: make it by mkdir -p $tmp/no/such" $spmv $measure -foo_mat_spmv_wisdom "$tmp/no/such/wisdom"
[ ! -e "$tmp/no" ] && echo "ok words_folder_not_made" || echo "not ok words_folder_not_made"
check folder_there '!warning' $spmv $measure -foo_mat_spmv_wisdom "$tmp/wisdom"
[ -s "$tmp/wisdom" ] && echo "ok words_wisdom" || echo "not ok words_wisdom"

# All lines of -help with options of ours have the word petscspmv
check help '(petscspmv)' $spmv -help
sed -n 's/^ *-\(foo_mat_\(spmv\|bccoo\|cmrs\|csradaptive\|tpspmv\|pmf\|sbccoo\)\|spmv\)_.*/&/p' "$tmp/out" >"$tmp/ours"
[ "$(wc -l <"$tmp/ours")" -gt 80 ] && ! grep -v 'petscspmv)$' "$tmp/ours" && echo "ok words_help_all" || { echo "not ok words_help_all"; grep -v 'petscspmv)$' "$tmp/ours" | head -5 | sed 's/^/# /'; }

# The views
name="matrix 'stiffness', prefix foo_, type spmv, 200 x 200"
check view_name "^storages of the $name, 400 nonzeros" $spmv -foo_mat_spmv_view
check view_gain 'aij: predicted .* s a product, so .* times faster is expected; the least of 16 took' $spmv -foo_mat_spmv_view
check view_setup 'set-up .* s (choosing .*, making it .*)' $spmv -foo_mat_spmv_view
check tune_view "^storages of the $name" $spmv -foo_mat_spmv_tune_view
launch="${MPIEXEC:-mpiexec} -n 2" check view_blocks "^storages of the $name$" $spmv -foo_mat_spmv_view -foo_mat_spmv_build_after 0
why="petscspmv: nothing was built for the $name, 400 nonzeros"
check why_few "$why: 12 products of the 16 that a build waits for" $spmv -foo_mat_spmv_view -products 12
check why_changes "$why: 12 products between two changes of its values at most, of the 16 that a build waits for" $spmv -foo_mat_spmv_view -products 12 -changes 3
check why_none "$why: no product and no sweep was asked for" $spmv -foo_mat_spmv_tune_view -products 0
check why_sweeps "$why: 1 products of the 16 that a build waits for (-mat_spmv_build_after); its sweeps are PETSc's, as -mat_spmv_sor is no" $spmv -foo_mat_spmv_view -products 1 -sweeps 5 -foo_mat_spmv_sor no
check why_solves "nothing was built for the incomplete factor of $name, .* nonzeros: 3 solves of the 4 that a build waits for (-mat_spmv_build_after)" $spmv -foo_mat_spmv_view -solves 3
check why_solve_no "nothing was built for the incomplete factor of $name, .* nonzeros: -mat_spmv_solve is no" $spmv -foo_mat_spmv_view -solves 9 -foo_mat_spmv_solve no
check view_factor "^petscspmv factor (ILU) of the $name: " $spmv -foo_mat_spmv_view -solves 9
check why_solves_built '!nothing was built for the incomplete factor' $spmv -foo_mat_spmv_view -solves 9
check why_built '!nothing was built' $spmv -foo_mat_spmv_view
check why_not_asked '!nothing was built' $spmv -products 12
check why_left "$why: 12 products of the 16" $spmv -foo_mat_spmv_view -products 12 -leave
check summary_left "^  $name" $spmv -spmv_summary -leave
launch="${MPIEXEC:-mpiexec} -n 2" check why_blocks "nothing was built for the off-diagonal block of $name, here 100 x 1, 1 nonzeros: 12 products of the 16" $spmv -foo_mat_spmv_view -products 12
