static char help[] = "Every solver and preconditioner does on a type derived from AIJ what it does on AIJ.\n\
  -type <bccoo>   the type under test\n\
  -only <names>   run these option sets, a comma between two\n\
  -skip <names>   do not run these\n\
  -v              a line for each\n\n";

/*
  ksp_contract - the same iterations, the same reason, the same residual

  Each option set solves three problems, first with `aij`, then with the type under test: twice, with new values between, so
  that preconditioners are set up again. What a package that is not there makes fail under AIJ must fail under the type too.
*/
#include <petscksp.h>
#include <petscdmda.h>

/*
  Products of the two types differ in the last bit. Counted with matrices scaled by 1 + 3e-16 to 1 + 11e-16, no set but those with a
  slack changes its iterations: CG on the normal equations loses its orthogonality, and is one sooner or later.
*/
#define RESIDUAL_SLACK 2 /* times the residual of AIJ */

typedef enum {
  POISSON,
  CONVECTION,
  ELASTICITY,
  PROBLEMS
} Problem;
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
  {"bjacobi_ksp", P | C | E, PLAIN, 0, "-ksp_type fgmres -pc_type bjacobi -sub_ksp_type gmres -sub_ksp_max_it 4 -sub_ksp_rtol 1e-3 -sub_pc_type jacobi"},
  {"asm", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type asm -pc_asm_overlap 2 -sub_pc_type ilu"},
  {"asm_basic", P | E, PLAIN, 0, "-ksp_type cg -pc_type asm -pc_asm_type basic -pc_asm_blocks 4 -mat_partitioning_type average -sub_pc_type icc"},
  {"asm_multiplicative", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type asm -pc_asm_local_type multiplicative -pc_asm_blocks 4 -mat_partitioning_type average -sub_pc_type lu"},
  {"asm_own_type", P | C | E, PLAIN, 0, "-ksp_type fgmres -pc_type asm -sub_ksp_type gmres -sub_ksp_max_it 3 -sub_pc_type jacobi"},
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
  {"gamg_asm", P | E, PLAIN, 0, "-ksp_type fgmres -pc_type gamg -mg_levels_ksp_type richardson -mg_levels_pc_type asm -mg_levels_ksp_max_it 1"},
  {"gamg_jacobi", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -pc_gamg_repartition"},
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
  {"mg_additive", P | E, PLAIN, 0, "-ksp_type gmres -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both -pc_mg_type additive -mg_levels_pc_type jacobi"},
  {"fieldsplit_additive", E, PLAIN, 0, "-ksp_type gmres -pc_type fieldsplit -pc_fieldsplit_type additive -fieldsplit_pc_type jacobi"},
  {"fieldsplit_mult", E, PLAIN, 0, "-ksp_type gmres -pc_type fieldsplit -pc_fieldsplit_type symmetric_multiplicative -fieldsplit_pc_type bjacobi"},
  {"fieldsplit_schur", E, PLAIN, 0, "-ksp_type fgmres -pc_type fieldsplit -pc_fieldsplit_block_size 3 -pc_fieldsplit_0_fields 0,1 -pc_fieldsplit_1_fields 2 -pc_fieldsplit_type schur -pc_fieldsplit_schur_precondition selfp -fieldsplit_0_pc_type bjacobi -fieldsplit_1_pc_type jacobi -fieldsplit_1_ksp_type gmres -fieldsplit_1_ksp_rtol 1e-4 -fieldsplit_0_ksp_type gmres -fieldsplit_0_ksp_rtol 1e-6"},
  {"redundant", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type redundant"},
  {"redundant_ksp", P | C | E, PLAIN, 0, "-ksp_type fgmres -pc_type redundant -redundant_ksp_type gmres -redundant_ksp_max_it 5 -redundant_pc_type jacobi"},
  {"telescope", P | C | E, PLAIN, 0, "-ksp_type fgmres -pc_type telescope -pc_telescope_ignore_dm -telescope_ksp_type gmres -telescope_ksp_max_it 5 -telescope_pc_type jacobi"},
  {"redistribute", P | C | E, PLAIN, 0, "-ksp_type preonly -pc_type redistribute -redistribute_ksp_type gmres -redistribute_pc_type jacobi"},
  {"composite", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type composite -pc_composite_pcs jacobi,bjacobi -pc_composite_type multiplicative"},
  {"composite_additive", P | C | E, PLAIN, 0, "-ksp_type gmres -pc_type composite -pc_composite_pcs sor,bjacobi -pc_composite_type additive"},
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

static char lasterror[256];

static PetscErrorCode ErrorKeep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *ctx)
{
  (void)comm;
  (void)file;
  (void)ctx;
  if (type == PETSC_ERROR_INITIAL) snprintf(lasterror, sizeof(lasterror), "%s (%s, line %d)", message ? message : "no message", function, line);
  return code;
}

static PetscErrorCode GridCreate(Problem problem, const char type[], DM *dm)
{
  const PetscInt n = problem == ELASTICITY ? 7 : 9, dof = problem == ELASTICITY ? 3 : 1;

  PetscFunctionBegin;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, problem == ELASTICITY ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, NULL, dm));
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

/* One solve; R is the matrix as AIJ, for the residual */
static PetscErrorCode Solve(KSP ksp, Mode mode, Mat R, Vec b, Vec x, Outcome *outcome)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecSet(x, 0.5));
  if (mode == BLOCK) {
    Mat      B, X;
    PetscInt m;
    Vec      column;

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
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(MatDenseGetColumnVecRead(X, 0, &column));
    PetscCall(VecCopy(column, x));
    PetscCall(MatDenseRestoreColumnVecRead(X, 0, &column));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
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
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
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

static PetscErrorCode RunSet(const Set *set, const char type[], PetscBool verbose, PetscBool *agrees)
{
  PetscOptions options;

  PetscFunctionBegin;
  *agrees = PETSC_TRUE;
  for (int problem = 0; problem < PROBLEMS; problem++) {
    Outcome     aij[2], mine[2];
    char        why[256] = "", after[32] = "0";
    const char *where = problemnames[problem];

    if (!(set->problems & (1u << problem))) continue;
    PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmv_build_after", after, sizeof(after), NULL));
    PetscCall(PetscOptionsCreate(&options)); /* of this set alone */
    PetscCall(PetscOptionsInsertString(options, set->options));
    PetscCall(PetscOptionsSetValue(options, "-mat_spmv_build_after", after));
    PetscCall(PetscOptionsPush(options));
    PetscCall(RunOn(set, (Problem)problem, MATAIJ, aij));
    if (aij[0].failed) PetscCall(PetscStrncpy(why, lasterror, sizeof(why)));
    PetscCall(RunOn(set, (Problem)problem, type, mine));
    PetscCall(PetscOptionsPop());
    PetscCall(PetscOptionsDestroy(&options));
    if (aij[0].failed != mine[0].failed) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s on %s: %s only: %s\n", set->name, where, mine[0].failed ? "fails" : "aij fails", mine[0].failed ? lasterror : why));
      *agrees = PETSC_FALSE;
      continue;
    }
    if (verbose && aij[0].failed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-22s %-10s both-fail: %s\n", set->name, where, why));
    for (int round = 0; round < 2 && !aij[0].failed; round++) {
      const Outcome  *r = &aij[round], *m = &mine[round];
      const PetscBool same = (PetscBool)(r->reason == m->reason && PetscAbsInt(r->its - m->its) <= set->slack && m->residual <= RESIDUAL_SLACK * r->residual + 1e-10);

      if (same && !verbose) continue;
      if (!same) *agrees = PETSC_FALSE;
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%-22s %-10s %s %" PetscInt_FMT " iterations, residual %.2e; aij %s %" PetscInt_FMT ", %.2e\n", same ? "  " : "", set->name, where, KSPConvergedReasons[m->reason], m->its, (double)m->residual, KSPConvergedReasons[r->reason], r->its, (double)r->residual));
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = "bccoo", only[1024] = "", skip[1024] = "";
  PetscBool some, verbose;
  PetscInt  count = 0, failed = 0;

  if (PetscOptionsSetValue(NULL, "-mat_spmv_build_after", "0")) return 2; /* the library's own kernels from the first product on */
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
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
  if (failed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_contract: %" PetscInt_FMT " of %" PetscInt_FMT " option sets disagree with aij\n", failed, count));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_contract: %" PetscInt_FMT " option sets agree with aij\n", count));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}

/*TEST

  testset:
    args: -type bccoo -mat_spmv_build_after 0
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/ksp_contract.out

    test:
      suffix: 1

    test:
      suffix: 2
      nsize: 2

TEST*/
