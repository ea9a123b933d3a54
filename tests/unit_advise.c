static const char help[] =
  "-spmv_advise: each rule speaks where its numbers say so, and is silent where one of them does not.\n\n";

#include "report/report.h"

static SpmvReport run;
static SpmvUse    use;
static PetscInt   failures;

/* A run of 10 s, half of it products by a storage that has paid, with nothing to advise */
static void Reset(void)
{
  use       = (SpmvUse){.work           = SPMV_WORK_PRODUCTS,
                        .by             = "pmf window=4096 isa=scalar",
                        .matrices       = 1,
                        .spent          = {.calls = {16, 1000}, .seconds = {0.1, 4}, .least = {0.006, 0.004}, .setup = 0.1},
                        .bytes          = 1e5,
                        .most           = 1016,
                        .build_after    = 16,
                        .products       = 16,
                        .declared_block = 1,
                        .found_block    = 1,
                        .threads        = 1,
                        .chosen         = PETSC_TRUE,
                        .measured       = PETSC_TRUE};
  use.label = (SpmvLabel){
    .m = 1000, .n = 1000, .M = 1000, .N = 1000, .nonzeros = 5000, .level = SPMV_LEVEL_NONE, .type = "spmv", .prefix = "el_"};
  run = (SpmvReport){
    .seconds = 10, .logged = PETSC_TRUE, .processes = 1, .cores = 1, .cache = 1e6, .least = 0.05, .nuses = 1, .use = &use};
  run.share[SPMV_SHARE_MULT] = (SpmvTimes){.calls = 1016, .seconds = 4.2};
}

/* Is there advice with these words? */
static PetscErrorCode Expect(const char what[], const char words[], PetscBool wanted)
{
  char      line[1024];
  PetscBool more = PETSC_TRUE, found = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; more; k++) {
    PetscCall(SpmvAdvice(&run, k, line, sizeof(line), &more));
    if (strstr(line, words)) found = PETSC_TRUE;
    if (strlen(line) > 400) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: a line of %d characters\n", what, (int)strlen(line)));
      failures++;
    }
  }
  if (found != wanted) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: '%s' is %s\n", what, words, wanted ? "missing" : "there"));
    failures++;
  }
  PetscFunctionReturn(0);
}

/* Sets numbers, looks for words, and goes back to the run without advice */
#define EXPECT(words, wanted, ...) \
  do { \
    __VA_ARGS__; \
    PetscCall(Expect(#__VA_ARGS__, words, wanted)); \
    Reset(); \
  } while (0)
#define THERE(words, ...) EXPECT(words, PETSC_TRUE, __VA_ARGS__)
#define NOT(words, ...)   EXPECT(words, PETSC_FALSE, __VA_ARGS__)

#define SHARE(name, n, s) \
  run.share[SPMV_SHARE_##name] = (SpmvTimes) \
  { \
    .calls = n, .seconds = s \
  }

static PetscErrorCode TestRun(void)
{
  PetscFunctionBegin;
  THERE("MatMult 42 %, MatSOR 0 %, MatSolve 0 %, all else 58 %", );
  THERE("MatPtAP numeric 20 %, all else 38 %; inside of these, to choose and make our storages 3 %", SHARE(PTAP_NUMERIC, 3, 2);
        SHARE(BUILDS, 2, 0.3));
  THERE("no log of events", run.logged = PETSC_FALSE);
  NOT("no log of events", );
  THERE("saved 1.9 s, set-up paid: without them the run would have taken 1.19 times as long", );
  THERE("cost 1.1 s more than they saved", use.spent.setup = 3.1);
  NOT("our types", use.spent.calls[1] = 0; use.spent.setup = 0);

  THERE("no matrix has a type of this library, and MatMult, MatSOR and MatSolve take 42 %: -mat_type spmv", run.nuses = 0);
  NOT("no matrix has a type", );
  NOT("no matrix has a type", run.nuses = 0; SHARE(MULT, 10, 0.4));
  THERE("take 4 % of the run: this library has nothing to gain", SHARE(MULT, 10, 0.4));
  NOT("nothing to gain", );

  THERE("LU or Cholesky takes 50 % with its solves", SHARE(FACTOR, 2, 4); SHARE(SOLVE, 9, 1); SHARE(COMPLETE, 1, 1));
  NOT("LU or Cholesky", SHARE(FACTOR, 2, 4); SHARE(SOLVE, 9, 1); SHARE(COMPLETE, 1, 1); SHARE(INCOMPLETE, 1, 1));
  NOT("LU or Cholesky", SHARE(FACTOR, 2, 0.1); SHARE(SOLVE, 9, 0.1); SHARE(COMPLETE, 1, 0.1));
  NOT("LU or Cholesky", SHARE(FACTOR, 2, 4); SHARE(INCOMPLETE, 1, 1));

  THERE("MatPtAP, which makes coarse levels, takes 20 %", SHARE(PTAP_NUMERIC, 3, 2));
  NOT("MatPtAP, which", SHARE(PTAP_NUMERIC, 3, 0.2));
  THERE("it is PETSc's own; GAMG was set up 2 times: -ksp_reuse_preconditioner yes", SHARE(PTAP_NUMERIC, 6, 2);
        SHARE(GAMG, 2, 3));
  NOT("-ksp_reuse_preconditioner", SHARE(PTAP_NUMERIC, 3, 2); SHARE(GAMG, 1, 3));

  THERE("orthogonalisation takes 30 %", SHARE(ORTHOGONALISATION, 100, 3));
  NOT("orthogonalisation takes", SHARE(ORTHOGONALISATION, 100, 0.3));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestMatrix(void)
{
  PetscFunctionBegin;
  THERE("10 % are 16 products, sweeps and solves by PETSc's kernels before a storage was there: -mat_spmv_build_after 0",
        use.spent.seconds[0] = 1);
  THERE("which saves 0.032 s", use.spent.seconds[0] = 1);
  NOT("-mat_spmv_build_after 0", );
  NOT("-mat_spmv_build_after 0", use.spent.seconds[0] = 1; use.build_after = 0);
  NOT("-mat_spmv_build_after 0", use.spent.seconds[0] = 1; use.spent.least[1] = 0.006);
  NOT("-mat_spmv_build_after 0", use.spent.seconds[0] = 1; use.spent.calls[1] = 0);

#define NEVER \
  use.spent = (SpmvSpent){.calls = {120}, .seconds = {4}, .least = {0.01}}; \
  use.most  = 12
  THERE("40 % are products with the matrix, prefix el_, type spmv, 1000 x 1000, 5000 nonzeros, all by PETSc's kernel: 12 came",
        NEVER);
  THERE("-el_mat_spmv_build_after 1 is worth a try", NEVER);
  NOT("is worth a try", );
  NOT("is worth a try", NEVER; use.most = 16);
  NOT("is worth a try", NEVER; use.most = 1);
  NOT("is worth a try", NEVER; use.spent.seconds[0] = 0.1);
  NOT("is worth a try", NEVER; use.reason = "it is likely to be the fastest");

  THERE("lost 1 s: they cost as much as 1500 products save, and there were 1000; -el_mat_spmv_build_after", use.spent.setup = 3);
  THERE("1500 solves save, and there were 1000; -el_mat_spmv_build_after with a larger number than 16 makes", use.spent.setup = 3;
        use.work = SPMV_WORK_SOLVES; use.build_after = 4);
  NOT("lost", use.spent.setup = 1.9);
  NOT("lost", use.spent.setup = 2.4);
  THERE("its products are not faster than by PETSc's kernel; -el_mat_spmv_tune_check", use.spent.least[0] = 0.004;
        use.spent.setup = 1);

  THERE("products of type cmrs, which are 0.80 times as fast as those of aij: -el_mat_type spmv", use.chosen = PETSC_FALSE;
        use.spent.least[1] = 0.0075; memcpy(use.label.type, "cmrs", 5));
  NOT("chooses among all formats", use.spent.least[1] = 0.0075);
  NOT("chooses among all formats", use.chosen = PETSC_FALSE);
  NOT("chooses among all formats", use.chosen = PETSC_FALSE; use.spent.least[1] = 0.0075; use.spent.seconds[1] = 0.3);

#define SWEEPS use.work = SPMV_WORK_SWEEPS
#define SOLVES use.work = SPMV_WORK_SOLVES
#define THEIRS \
  use.spent = (SpmvSpent) \
  { \
    .calls = {100}, .seconds = {4}, .least = { 0.04 } \
  }
  THERE("MatSOR: 40 % are sweeps by PETSc's kernel, as -mat_spmv_sor is no", SWEEPS; THEIRS; use.reason = "-mat_spmv_sor is no");
  THERE("MatSolve: 40 % are solves by PETSc's kernel, as", SOLVES; THEIRS; use.reason = "rows are short");
  NOT("by PETSc's kernel, as", SWEEPS; THEIRS);
  NOT("by PETSc's kernel, as", SWEEPS; use.reason = "-mat_spmv_sor is no");

  THERE("made of full blocks of 3 x 3, and its block size is 1: MatSetBlockSize(), or -el_mat_block_size 3", use.found_block = 3);
  NOT("made of full blocks", );
  NOT("made of full blocks", use.found_block = use.declared_block = 3);
  NOT("made of full blocks", use.found_block = 3; use.label.N = 2000);
  NOT("made of full blocks", use.found_block = 3; use.label.level = 1);
  NOT("made of full blocks", use.found_block = 3; use.spent.seconds[1] = 0.1);

#define BY(plan)   memcpy(use.by, plan, sizeof(plan))
#define HALF(plan) BY("sbccoo block=1 " plan)
  THERE("half of a matrix that is declared symmetric: -el_mat_sbccoo_exact no", HALF("pairs=near exact=yes");
        use.symmetric = PETSC_TRUE);
  THERE("MAT_SYMMETRY_ETERNAL, and -el_mat_sbccoo_exact no", HALF("pairs=near exact=yes"));
  NOT("-el_mat_sbccoo_exact no", HALF("pairs=near exact=no"); use.symmetric = PETSC_TRUE);
  NOT("-el_mat_sbccoo_exact no", HALF("pairs=equal exact=yes"));
  NOT("-el_mat_sbccoo_exact no", use.symmetric = PETSC_TRUE);

  THERE("and there are 4 processors: mpiexec -n 4", run.cores = 4; use.bytes = 2e6);
  NOT("mpiexec", run.cores = 4);
  NOT("mpiexec", run.cores = 1; use.bytes = 2e6);
  NOT("mpiexec", run.cores = 4; use.bytes = 2e6; run.processes = 2);
  NOT("mpiexec", run.cores = 4; use.bytes = 2e6; use.threads = 4);

  THERE("40 % are 1000 products by a storage that was chosen by estimate: -el_mat_spmv_tune measure", use.measured = PETSC_FALSE);
  NOT("-el_mat_spmv_tune measure", );
  NOT("-el_mat_spmv_tune measure", use.measured = PETSC_FALSE; use.spent.calls[1] = 500);
  NOT("-el_mat_spmv_tune measure", use.measured = use.chosen = PETSC_FALSE);
  PetscFunctionReturn(0);
}

/* Single precision is for real numbers in double precision */
static PetscErrorCode TestSingle(void)
{
  const PetscBool has = (PetscBool)(PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX));

  PetscFunctionBegin;
  EXPECT("MatSOR: 40 % are sweeps that read double precision; -mat_spmv_sor_values float", has, SWEEPS; use.bytes = 2e6);
  NOT("-mat_spmv_sor_values float", SWEEPS; use.bytes = 2e5);
  NOT("-mat_spmv_sor_values float", SWEEPS; use.bytes = 2e6; use.floats = PETSC_TRUE);
  EXPECT("MatSolve: 40 % are solves that read double precision; -mat_spmv_solve_values float", has, SOLVES; use.bytes = 2e6);
  NOT("-mat_spmv_solve_values float", SOLVES; use.bytes = 2e6; THEIRS);
  EXPECT("products with coarse levels that read double precision; -mat_spmv_product_values float", has, use.bytes = 2e6;
         use.label.level = 1);
#define LEVEL(plan) \
  use.bytes       = 2e6; \
  use.label.level = 1; \
  BY(plan)
  EXPECT("-mat_spmv_product_values float", has, LEVEL("bccoo block_height=1 block_width=1 columns=uint16 values=plain isa=avx2"));
  NOT("-mat_spmv_product_values float", LEVEL("bccoo block_height=3 block_width=3 columns=uint16 values=plain isa=avx2"));
  NOT("-mat_spmv_product_values float", LEVEL("bccoo block_height=1 block_width=3 columns=uint16 values=plain isa=avx2"));
  NOT("-mat_spmv_product_values float", LEVEL("sbccoo block=3 pairs=equal exact=yes isa=avx2"));
  EXPECT("-mat_spmv_product_values float", has, LEVEL("cmrs height=4 isa=avx2"));
  NOT("-mat_spmv_product_values float", LEVEL("cmrs height=4 isa=avx2"); use.chosen = PETSC_FALSE);
  EXPECT("-mat_spmv_product_values float", has, LEVEL("pmf window=4096 values=plain isa=avx2"); use.chosen = PETSC_FALSE);
  NOT("-mat_spmv_product_values float", use.bytes = 2e6; use.label.level = 0);
  NOT("-mat_spmv_product_values float", use.bytes = 2e6);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  Reset();
  PetscCall(TestRun());
  PetscCall(TestMatrix());
  PetscCall(TestSingle());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test:

TEST*/
