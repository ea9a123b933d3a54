/*
  ksp_contract_options.h - the option sets that ksp_contract solves with, a line each

  A line says on which problems, in which mode, by how many iterations the types may differ, and what users would write.

  Products of the two types differ in the last bit. Counted with matrices scaled by 1 + 3e-16 to 1 + 11e-16, no set but those with
  a slack changes its iterations: CG on the normal equations loses its orthogonality, and is one sooner or later.
*/
#pragma once
#include <petscsys.h>

typedef enum { POISSON, CONVECTION, ELASTICITY, PROBLEMS } Problem;
static const char *const problemnames[] = {"Poisson", "convection", "elasticity"};
#define P (1u << POISSON)
#define C (1u << CONVECTION)
#define E (1u << ELASTICITY)

typedef enum {
  PLAIN,
  TRANSPOSE, /* KSPSolveTranspose() */
  BLOCK,     /* KSPMatSolve() with three right sides */
  AMAT_AIJ,  /* the operator is AIJ, what the preconditioner is made of is of the type */
  PMAT_AIJ   /* the other way round */
} Mode;

typedef struct {
  const char *name;
  unsigned    problems;
  Mode        mode;
  PetscInt    slack; /* iterations that may differ */
  const char *options;
} Set;

static const Set sets[] = {
  {"cg_none", P | E, PLAIN, 0, "-ksp_type cg -pc_type none"},
  {"cg_jacobi", P | E, PLAIN, 0, "-ksp_type cg -pc_type jacobi"},
  {"cg_rowmax", P | E, PLAIN, 0, "-ksp_type cg -pc_type jacobi -pc_jacobi_type rowmax"},
  {"cg_natural", P | E, PLAIN, 0, "-ksp_type cg -ksp_norm_type natural -pc_type bjacobi"},
  {"cg_single", P | E, PLAIN, 0, "-ksp_type cg -ksp_cg_single_reduction -pc_type jacobi"},
  {"fcg_icc", P | E, PLAIN, 0, "-ksp_type fcg -pc_type bjacobi -sub_pc_type icc"},
  {"gmres_none", P | C, PLAIN, 0, "-ksp_type gmres -pc_type none"},
  {"gmres_bjacobi_ilu", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type bjacobi -sub_pc_type ilu"},
  {"gmres_right", P | C | E, PLAIN, 0, "-ksp_type gmres -ksp_pc_side right -pc_type bjacobi"},
  {"gmres_transpose", P | C | E, TRANSPOSE, 0, "-ksp_type gmres -pc_type jacobi"},
  {"gmres_transpose_ilu", P | C | E, TRANSPOSE, 0, "-ksp_type gmres -pc_type bjacobi -sub_pc_type ilu"},
  {"gmres_block", P | C | E, BLOCK, 0, "-ksp_type gmres -pc_type bjacobi"},
  {"cg_block", P | E, BLOCK, 0, "-ksp_type cg -pc_type jacobi"},
  {"gmres_pmat", P | C | E, AMAT_AIJ, 0, "-ksp_type gmres -pc_type bjacobi"},
  {"gmres_amat", P | C | E, PMAT_AIJ, 0, "-ksp_type gmres -pc_type bjacobi"},
  {"fgmres_sor", P | C | E, PLAIN, 0, "-ksp_type fgmres -pc_type sor"},
  {"lgmres_jacobi", P | C | E, PLAIN, 0, "-ksp_type lgmres -pc_type jacobi"},
  {"dgmres_jacobi", P | C | E, PLAIN, 0, "-ksp_type dgmres -pc_type jacobi"},
  {"pgmres_jacobi", P | C | E, PLAIN, 0, "-ksp_type pgmres -pc_type jacobi"},
  {"pipefgmres_jacobi", P | C | E, PLAIN, 0, "-ksp_type pipefgmres -pc_type jacobi"},
  {"gcr_jacobi", P | C | E, PLAIN, 0, "-ksp_type gcr -pc_type jacobi"},
  {"pipegcr_jacobi", P | C | E, PLAIN, 0, "-ksp_type pipegcr -pc_type jacobi"},
  {"bcgs_bjacobi", P | C | E, PLAIN, 1, "-ksp_type bcgs -pc_type bjacobi"},
  {"bcgsl_jacobi", P | C | E, PLAIN, 1, "-ksp_type bcgsl -pc_type jacobi"},
  {"fbcgs_jacobi", P | C | E, PLAIN, 1, "-ksp_type fbcgs -pc_type jacobi"},
  {"fbcgsr_jacobi", P | C | E, PLAIN, 1, "-ksp_type fbcgsr -pc_type jacobi"},
  {"ibcgs_jacobi", P | C | E, PLAIN, 1, "-ksp_type ibcgs -pc_type jacobi"},
  {"pipebcgs_jacobi", P | C | E, PLAIN, 1, "-ksp_type pipebcgs -pc_type jacobi"},
  {"qmrcgs_jacobi", P | C | E, PLAIN, 1, "-ksp_type qmrcgs -pc_type jacobi"},
  {"cgs_bjacobi", P | C | E, PLAIN, 1, "-ksp_type cgs -pc_type bjacobi"},
  {"tfqmr_bjacobi", P | C | E, PLAIN, 1, "-ksp_type tfqmr -pc_type bjacobi"},
  {"tcqmr_bjacobi", P | C | E, PLAIN, 1, "-ksp_type tcqmr -pc_type bjacobi"},
  {"bicg_jacobi", P | C | E, PLAIN, 1, "-ksp_type bicg -pc_type jacobi"},
  {"minres_jacobi", P | E, PLAIN, 0, "-ksp_type minres -pc_type jacobi"},
  {"symmlq_jacobi", P | E, PLAIN, 0, "-ksp_type symmlq -pc_type jacobi"},
  {"lsqr_none", P | C | E, PLAIN, 0, "-ksp_type lsqr -ksp_rtol 1e-4 -pc_type none"},
  {"cgls_none", P | E, PLAIN, 1, "-ksp_type cgls -ksp_rtol 1e-4 -pc_type none"},
  {"cgne_jacobi", P | E, PLAIN, 1, "-ksp_type cgne -ksp_rtol 1e-4 -pc_type jacobi"},
  {"chebyshev_jacobi", P | E, PLAIN, 0, "-ksp_type chebyshev -pc_type jacobi"},
  {"chebyshev_sor", P | E, PLAIN, 0, "-ksp_type chebyshev -pc_type sor -ksp_chebyshev_esteig_steps 12"},
  {"richardson_sor", P | C | E, PLAIN, 0, "-ksp_type richardson -pc_type sor -pc_sor_its 2"},
  {"richardson_scaled", P | C | E, PLAIN, 0, "-ksp_type richardson -ksp_richardson_self_scale -pc_type jacobi"},
  {"pipecg_jacobi", P | E, PLAIN, 0, "-ksp_type pipecg -pc_type jacobi"},
  {"pipecg2_jacobi", P | E, PLAIN, 0, "-ksp_type pipecg2 -pc_type jacobi"},
  {"pipecgrr_jacobi", P | E, PLAIN, 0, "-ksp_type pipecgrr -pc_type jacobi"},
  {"pipefcg_jacobi", P | E, PLAIN, 0, "-ksp_type pipefcg -pc_type jacobi"},
  {"pipeprcg_jacobi", P | E, PLAIN, 0, "-ksp_type pipeprcg -pc_type jacobi"},
  {"groppcg_jacobi", P | E, PLAIN, 0, "-ksp_type groppcg -pc_type jacobi"},
  {"cr_jacobi", P | E, PLAIN, 0, "-ksp_type cr -pc_type jacobi"},
  {"pipecr_jacobi", P | E, PLAIN, 0, "-ksp_type pipecr -pc_type jacobi"},
  {"lcd_jacobi", P | C, PLAIN, 0, "-ksp_type lcd -pc_type jacobi"},
  {"stcg_jacobi", P | E, PLAIN, 0, "-ksp_type stcg -pc_type jacobi"},
  {"gltr_jacobi", P | E, PLAIN, 0, "-ksp_type gltr -pc_type jacobi"},
  {"fischer_guess", P | E, PLAIN, 0, "-ksp_type cg -pc_type jacobi -ksp_guess_type fischer -ksp_guess_fischer_model 1,5"},
  {"diagonal_scale", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type jacobi -ksp_diagonal_scale -ksp_diagonal_scale_fix"},
  {"initial_guess", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type jacobi -ksp_initial_guess_nonzero"},
  {"bjacobi_icc", P | E, PLAIN, 0, "-ksp_type cg -pc_type bjacobi -sub_pc_type icc -sub_pc_factor_levels 1"},
  {"bjacobi_lu", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type bjacobi -sub_pc_type lu -pc_bjacobi_blocks 4"},
  {"bjacobi_sor", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type bjacobi -sub_pc_type sor"},
  {"bjacobi_ksp", P | C | E, PLAIN, 0,
   "-ksp_type fgmres -pc_type bjacobi -sub_ksp_type gmres -sub_ksp_max_it 4 -sub_ksp_rtol 1e-3 -sub_pc_type jacobi"},
  {"asm", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type asm -pc_asm_overlap 2 -sub_pc_type ilu"},
  {"asm_basic", P | E, PLAIN, 0,
   "-ksp_type cg -pc_type asm -pc_asm_type basic -pc_asm_blocks 4 -mat_partitioning_type average -sub_pc_type icc"},
  {"asm_multiplicative", P | C | E, PLAIN, 0,
   "-ksp_type gmres -pc_type asm -pc_asm_local_type multiplicative -pc_asm_blocks 4 -mat_partitioning_type average -sub_pc_type "
   "lu"},
  {"asm_own_type", P | C | E, PLAIN, 0,
   "-ksp_type fgmres -pc_type asm -sub_ksp_type gmres -sub_ksp_max_it 3 -sub_pc_type jacobi"},
  {"gasm", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type gasm -pc_gasm_overlap 1 -sub_pc_type ilu"},
  {"eisenstat", E, PLAIN, 0, "-ksp_type cg -pc_type eisenstat"},
  {"ssor", P | E, PLAIN, 0, "-ksp_type cg -pc_type sor -pc_sor_local_symmetric -pc_sor_omega 1.2"},
  {"ilu_2", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type ilu -pc_factor_levels 2"},
  {"ilu_inplace", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type ilu -pc_factor_mat_ordering_type rcm"},
  {"icc", P | E, PLAIN, 0, "-ksp_type cg -pc_type icc"},
  {"lu", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu"},
  {"lu_rcm", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_ordering_type rcm -pc_factor_reuse_ordering"},
  {"cholesky", P | E, PLAIN, 0, "-ksp_type preonly -pc_type cholesky"},
  {"mumps", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps"},
  {"mumps_cholesky", P | E, PLAIN, 0, "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type mumps"},
  {"mumps_transpose", P | C | E, TRANSPOSE, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps"},
  {"mumps_block", P | C | E, BLOCK, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps"},
  {"superlu", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type superlu"},
  {"superlu_dist", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type superlu_dist"},
  {"umfpack", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type umfpack"},
  {"klu", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type klu"},
  {"cholmod", P | E, PLAIN, 0, "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type cholmod"},
  {"strumpack", P | C, PLAIN, 0, "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type strumpack"},
  {"qr", P | C, PLAIN, 0, "-ksp_type preonly -pc_type qr"},
  {"gamg", P | E, PLAIN, 0, "-ksp_type cg -pc_type gamg"},
  {"gamg_unsmoothed", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type gamg -pc_gamg_agg_nsmooths 0 -pc_gamg_threshold 0.01"},
  {"gamg_square", P | E, PLAIN, 0, "-ksp_type cg -pc_type gamg -pc_gamg_square_graph 1 -pc_gamg_reuse_interpolation false"},
  {"gamg_hem", P | E, PLAIN, 0, "-ksp_type cg -pc_type gamg -mat_coarsen_type hem"},
  {"gamg_misk", P | E, PLAIN, 0, "-ksp_type cg -pc_type gamg -mat_coarsen_type misk"},
  {"gamg_asm", P | E, PLAIN, 0,
   "-ksp_type fgmres -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type asm -mg_levels_ksp_max_it 1"},
  {"gamg_jacobi", P | C | E, PLAIN, 0,
   "-ksp_type gmres -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -pc_gamg_repartition "
   "-pc_gamg_mat_partitioning_type average"},
  {"gamg_w_cycle", P | E, PLAIN, 0, "-ksp_type cg -pc_type gamg -pc_mg_cycle_type w -pc_mg_multiplicative_cycles 2"},
  {"gamg_full", P | E, PLAIN, 0, "-ksp_type fgmres -pc_type gamg -pc_mg_type full"},
  {"gamg_kaskade", P, PLAIN, 0, "-ksp_type fgmres -pc_type gamg -pc_mg_type kaskade"},
  {"gamg_block", P | E, BLOCK, 0, "-ksp_type cg -pc_type gamg"},
  {"hypre", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type hypre -pc_hypre_type boomeramg"},
  {"hypre_nodal", E, PLAIN, 0, "-ksp_type cg -pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_nodal_coarsen 1"},
  {"hypre_pilut", P | C, PLAIN, 0, "-ksp_type gmres -pc_type hypre -pc_hypre_type pilut"},
  {"hypre_parasails", P, PLAIN, 0, "-ksp_type gmres -pc_type hypre -pc_hypre_type parasails"},
  {"ml", P | C | E, PLAIN, 0, "-ksp_type gmres -ksp_rtol 1e-7 -pc_type ml"},
  {"mg_galerkin", P | E, PLAIN, 0, "-ksp_type cg -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both"},
  {"mg_additive", P | E, PLAIN, 0,
   "-ksp_type gmres -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both -pc_mg_type additive -mg_levels_pc_type jacobi"},
  {"fieldsplit_additive", E, PLAIN, 0,
   "-ksp_type gmres -pc_type fieldsplit -pc_fieldsplit_type additive -fieldsplit_pc_type jacobi"},
  {"fieldsplit_mult", E, PLAIN, 0,
   "-ksp_type gmres -pc_type fieldsplit -pc_fieldsplit_type symmetric_multiplicative -fieldsplit_pc_type bjacobi"},
  {"fieldsplit_schur", E, PLAIN, 0,
   "-ksp_type fgmres -pc_type fieldsplit -pc_fieldsplit_block_size 3 -pc_fieldsplit_0_fields 0,1 -pc_fieldsplit_1_fields 2 "
   "-pc_fieldsplit_type schur -pc_fieldsplit_schur_precondition selfp -fieldsplit_0_pc_type bjacobi -fieldsplit_1_pc_type jacobi "
   "-fieldsplit_1_ksp_type gmres -fieldsplit_1_ksp_rtol 1e-4 -fieldsplit_0_ksp_type gmres -fieldsplit_0_ksp_rtol 1e-6"},
  {"redundant", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type redundant"},
  {"redundant_ksp", P | C | E, PLAIN, 0,
   "-ksp_type fgmres -pc_type redundant -redundant_ksp_type gmres -redundant_ksp_max_it 5 -redundant_pc_type jacobi"},
  {"telescope", P | C | E, PLAIN, 0,
   "-ksp_type fgmres -pc_type telescope -pc_telescope_ignore_dm -telescope_ksp_type gmres -telescope_ksp_max_it 5 "
   "-telescope_pc_type jacobi"},
  {"redistribute", P | C | E, PLAIN, 0,
   "-ksp_type preonly -pc_type redistribute -redistribute_ksp_type gmres -redistribute_pc_type jacobi"},
  {"composite", P | C | E, PLAIN, 0,
   "-ksp_type gmres -pc_type composite -pc_composite_pcs jacobi,bjacobi -pc_composite_type multiplicative"},
  {"composite_additive", P | C | E, PLAIN, 0,
   "-ksp_type gmres -pc_type composite -pc_composite_pcs sor,bjacobi -pc_composite_type additive"},
  {"pc_ksp", P | C | E, PLAIN, 0, "-ksp_type fgmres -pc_type ksp -ksp_ksp_type bcgs -ksp_ksp_max_it 3 -ksp_pc_type jacobi"},
  {"pbjacobi", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type pbjacobi"},
  {"vpbjacobi", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type vpbjacobi"},
  {"deflation", P, PLAIN, 0, "-ksp_type gmres -pc_type deflation -pc_deflation_correct"},
  {"kaczmarz", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type kaczmarz"},
  {"kaczmarz_symmetric", P | E, PLAIN, 0, "-ksp_type cg -pc_type kaczmarz -pc_kaczmarz_symmetric"},
  {"cp", P | C, PLAIN, 0, "-ksp_type gmres -pc_type cp"},
  {"mat", P, PLAIN, 0, "-ksp_type cg -pc_type mat -ksp_max_it 8"},
  {"hmg", E, PLAIN, 0, "-ksp_type fgmres -pc_type hmg -pc_hmg_use_subspace_coarsening -hmg_inner_pc_type gamg"},
};

#undef P
#undef C
#undef E
