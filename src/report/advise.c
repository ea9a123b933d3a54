/*
  advise.c - -spmv_advise: where the time of a run went, and what would be next, in words

  Each rule is a function of the numbers of the run: it says its line, or nothing. The comment above it says when. "Large" is a
  share of the run of at least -spmv_advise_least. tests/unit_advise.c gives each rule numbers for which it must speak, and some
  for which it must not.
*/
#include "report.h"

#define ADVISE_FASTER  1.05 /* what counts as faster */
#define ADVISE_MEASURE 1000 /* products that pay for measuring, which takes as long as some hundreds */

typedef PetscErrorCode AdviseRule(const SpmvReport *run, char line[], size_t size);

static double Percent(const SpmvReport *run, PetscLogDouble seconds)
{
  return run->seconds > 0 ? 100 * (double)(seconds / run->seconds) : 0;
}

static PetscBool Large(const SpmvReport *run, PetscLogDouble seconds)
{
  return (PetscBool)(seconds >= run->least * run->seconds);
}

static PetscLogDouble Seconds(const SpmvUse *u)
{
  return u->spent.seconds[0] + u->spent.seconds[1];
}

/* What a user types before an option of this matrix */
static const char *Prefix(const SpmvUse *u)
{
  return u->label.prefix;
}

/* Both kernels have been timed, and ours is faster */
static PetscBool Faster(const SpmvSpent *s)
{
  return (PetscBool)(s->least[1] > 0 && s->least[0] >= ADVISE_FASTER * s->least[1]);
}

/* A kind of work, its name in -log_view and the option for single precision */
static const struct {
  const char *name, *event, *option;
} Works[SPMV_WORK_COUNT] = {{"products", "MatMult", "product_"}, {"sweeps", "MatSOR", "sor_"}, {"solves", "MatSolve", "solve_"}};

/* Always, if there is a log */
static PetscErrorCode Shares(const SpmvReport *run, char line[], size_t size)
{
  PetscLogDouble rest = run->seconds;

  PetscFunctionBegin;
  if (!run->logged) {
    PetscCall(SpmvAppend(line, size, "PETSc keeps no log of events: shares of the run are not known"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < SPMV_SHARE_APART; k++) {
    rest -= run->share[k].seconds;
    if (k <= SPMV_SHARE_SOLVE || run->share[k].calls)
      PetscCall(SpmvAppend(line, size, "%s %.0f %%, ", SpmvShareNames[k], Percent(run, run->share[k].seconds)));
  }
  PetscCall(SpmvAppend(line, size, "all else %.0f %%; inside of these, to choose and make our storages %.0f %%",
                       Percent(run, PetscMax(0, rest)), Percent(run, run->share[SPMV_SHARE_BUILDS].seconds)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Always, if a kernel of ours was used: what it saved, where it is known */
static PetscErrorCode Saved(const SpmvReport *run, char line[], size_t size)
{
  PetscLogDouble saved = 0;
  PetscBool      any   = PETSC_FALSE;

  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses; u++) {
    PetscBool            known;
    const PetscLogDouble seconds = SpmvSpentSaved(&u->spent, &known);

    if (known) saved += seconds;
    any = (PetscBool)(any || (known && u->spent.calls[1]));
  }
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  if (saved >= 0)
    PetscCall(SpmvAppend(line, size,
                         "our types saved %.3g s, set-up paid: without them the run would have taken %.2f times as long",
                         (double)saved, run->seconds > 0 ? (double)((run->seconds + saved) / run->seconds) : 1.));
  else PetscCall(SpmvAppend(line, size, "our types cost %.3g s more than they saved", (double)-saved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble Served(const SpmvReport *run)
{
  return run->share[SPMV_SHARE_MULT].seconds + run->share[SPMV_SHARE_SOR].seconds + run->share[SPMV_SHARE_SOLVE].seconds;
}

/* No matrix is ours, though what we serve takes much */
static PetscErrorCode NoneOurs(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  if (run->nuses || !run->logged || !Large(run, Served(run)) || !run->share[SPMV_SHARE_MULT].calls)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size,
                       "no matrix has a type of this library, and MatMult, MatSOR and MatSolve take %.0f %%: -mat_type spmv, or "
                       "-dm_mat_type spmv where matrices come from a DM",
                       Percent(run, Served(run))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What we serve takes little */
static PetscErrorCode Little(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  if (!run->logged || Large(run, Served(run))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size, "MatMult, MatSOR and MatSolve take %.0f %% of the run: this library has nothing to gain here",
                       Percent(run, Served(run))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorisations are complete ones only, and take much together with their solves */
static PetscErrorCode Direct(const SpmvReport *run, char line[], size_t size)
{
  const PetscLogDouble seconds = run->share[SPMV_SHARE_FACTOR].seconds + run->share[SPMV_SHARE_SOLVE].seconds;

  PetscFunctionBegin;
  if (!run->share[SPMV_SHARE_COMPLETE].calls || run->share[SPMV_SHARE_INCOMPLETE].calls || !Large(run, seconds))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(
    line, size, "LU or Cholesky takes %.0f %% with its solves: nothing of ours helps there, it is PETSc's or its package's",
    Percent(run, seconds)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatPtAP() takes much; PCGAMG may have been set up several times */
static PetscErrorCode PtAP(const SpmvReport *run, char line[], size_t size)
{
  const PetscLogDouble seconds = run->share[SPMV_SHARE_PTAP_SYMBOLIC].seconds + run->share[SPMV_SHARE_PTAP_NUMERIC].seconds;
  const PetscInt64     setups  = run->share[SPMV_SHARE_GAMG].calls;

  PetscFunctionBegin;
  if (!run->share[SPMV_SHARE_PTAP_NUMERIC].calls || !Large(run, seconds)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    SpmvAppend(line, size, "MatPtAP, which makes coarse levels, takes %.0f %%: it is PETSc's own", Percent(run, seconds)));
  if (setups > 1)
    PetscCall(SpmvAppend(line, size,
                         "; GAMG was set up %" PetscInt64_FMT
                         " times: -ksp_reuse_preconditioner yes keeps the first one, which may do "
                         "where the matrix changes little",
                         setups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GMRES's orthogonalisation takes much */
static PetscErrorCode Orthogonalisation(const SpmvReport *run, char line[], size_t size)
{
  const PetscLogDouble seconds = run->share[SPMV_SHARE_ORTHOGONALISATION].seconds;

  PetscFunctionBegin;
  if (!run->share[SPMV_SHARE_ORTHOGONALISATION].calls || !Large(run, seconds)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    SpmvAppend(line, size,
               "orthogonalisation takes %.0f %%: vectors, which are PETSc's; -ksp_gmres_restart with a smaller number, or "
               "-ksp_type cg if the matrix is symmetric and positive definite, has less of it",
               Percent(run, seconds)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls by PETSc's kernel before a storage that is faster was there take much */
static PetscErrorCode Waited(const SpmvReport *run, char line[], size_t size)
{
  PetscLogDouble seconds = 0, gain = 0;
  PetscInt64     calls = 0;

  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses; u++) {
    if (!u->build_after || !u->spent.calls[1] || !Faster(&u->spent)) continue;
    calls += u->spent.calls[0];
    seconds += u->spent.seconds[0];
    gain += (PetscLogDouble)u->spent.calls[0] * (u->spent.least[0] - u->spent.least[1]);
  }
  if (!calls || !Large(run, seconds)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size,
                       "%.0f %% are %" PetscInt64_FMT
                       " products, sweeps and solves by PETSc's kernels before a storage was there: "
                       "-mat_spmv_build_after 0 makes them ours, which saves %.2g s",
                       Percent(run, seconds), calls, (double)gain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing was made for a matrix that takes much, since its values changed too soon or it was not used enough. The first such */
static PetscErrorCode NeverBuilt(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    char text[256];

    if (u->spent.calls[1] || u->spent.setup > 0 || u->reason || u->most >= u->build_after || u->most < 2 ||
        !Large(run, Seconds(u)))
      continue;
    PetscCall(SpmvLabelText(&u->label, text, sizeof(text)));
    PetscCall(SpmvAppend(line, size,
                         "%.0f %% are %s with the %s, all by PETSc's kernel: %" PetscInt64_FMT " came between two changes of its "
                         "values, and a storage waits for %" PetscInt_FMT "; -%smat_spmv_build_after 1 is worth a try",
                         Percent(run, Seconds(u)), Works[u->work].name, text, u->most, u->build_after, Prefix(u)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage lost much more than it saved. The first such */
static PetscErrorCode Lost(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    PetscBool            known;
    const PetscLogDouble saved = SpmvSpentSaved(&u->spent, &known), gain = u->spent.least[0] - u->spent.least[1];
    char                 text[256];

    if (!known || saved >= 0 || !u->spent.calls[1] || !Large(run, -saved)) continue;
    PetscCall(SpmvLabelText(&u->label, text, sizeof(text)));
    PetscCall(SpmvAppend(line, size, "storages of the %s lost %.2g s: ", text, (double)-saved));
    if (Faster(&u->spent))
      PetscCall(SpmvAppend(line, size,
                           "they cost as much as %.0f %s save, and there were %" PetscInt64_FMT
                           "; -%smat_spmv_build_after with a "
                           "larger number than %" PetscInt_FMT " makes fewer",
                           (double)(u->spent.setup / gain), Works[u->work].name, u->spent.calls[1], Prefix(u), u->products));
    else
      PetscCall(
        SpmvAppend(line, size, "its %s are not faster than by PETSc's kernel; -%smat_%s", Works[u->work].name, Prefix(u),
                   u->work == SPMV_WORK_PRODUCTS ? "spmv_tune_check drops such a storage" : "type aij leaves it to PETSc"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products that take much are no faster in the one format that was asked for. The first such */
static PetscErrorCode OtherFormat(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    const SpmvSpent *s = &u->spent;

    if (u->work != SPMV_WORK_PRODUCTS || u->chosen || !(s->least[0] > 0 && s->least[1] > 0) || Faster(s) ||
        !Large(run, s->seconds[1]))
      continue;
    PetscCall(
      SpmvAppend(line, size,
                 "%.0f %% are products of type %s, which are %.2f times as fast as those of aij: -%smat_type spmv chooses "
                 "among all formats and aij",
                 Percent(run, s->seconds[1]), u->label.type, (double)(s->least[0] / s->least[1]), Prefix(u)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps or solves take much, by PETSc's kernel in the end, for a reason. The first such */
static PetscErrorCode NotServed(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    if (!u->reason || u->spent.calls[1] || !Large(run, u->spent.seconds[0])) continue;
    PetscCall(SpmvAppend(line, size, "%s: %.0f %% are %s by PETSc's kernel, as %s", Works[u->work].event,
                         Percent(run, u->spent.seconds[0]), Works[u->work].name, u->reason));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Whether what serves products may become floats, by its plan. Larger blocks have none: scalars as floats in the place of blocks
  of 6 x 6 have 0.7 of the speed (coarse levels of ex56). Half of a matrix reads no more than all of it as floats
*/
static PetscBool MayBeFloats(const SpmvUse *u)
{
  if (strstr(u->by, "block_height=")) return (PetscBool) !!strstr(u->by, "block_height=1 block_width=1 ");
  return (PetscBool)(strstr(u->by, "values=") || (u->chosen && !strstr(u->by, "pairs=")));
}

/* Sweeps, solves, or products with coarse levels by our kernels take much and read double precision from beyond the second
   cache */
static PetscErrorCode Single(const SpmvReport *run, SpmvWorkKind work, char line[], size_t size)
{
  PetscLogDouble seconds = 0;
  const SpmvUse *one     = NULL;

  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses; u++) {
    if (!PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX)) break; /* there are no floats in the place of others */
    if (u->work != work || u->floats || !u->spent.calls[1] || u->bytes <= run->cache) continue;
    if (work == SPMV_WORK_PRODUCTS && (u->label.level < 1 || !MayBeFloats(u))) continue;
    seconds += u->spent.seconds[1];
    one = u;
  }
  if (!one || !Large(run, seconds)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    SpmvAppend(line, size,
               "%s: %.0f %% are %s%s that read double precision; -mat_spmv_%svalues float halves the values that they read. "
               "It changes the preconditioner a little: compare iterations",
               Works[work].event, Percent(run, seconds), Works[work].name,
               work == SPMV_WORK_PRODUCTS ? " with coarse levels" : "", Works[work].option));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleSweeps(const SpmvReport *run, char line[], size_t size)
{
  return Single(run, SPMV_WORK_SWEEPS, line, size);
}

static PetscErrorCode SingleSolves(const SpmvReport *run, char line[], size_t size)
{
  return Single(run, SPMV_WORK_SOLVES, line, size);
}

static PetscErrorCode SingleLevels(const SpmvReport *run, char line[], size_t size)
{
  return Single(run, SPMV_WORK_PRODUCTS, line, size);
}

/* A square matrix that takes much is made of full blocks, and its block size is 1. Coarse levels have theirs from the finest */
static PetscErrorCode Blocks(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    char text[256];

    if (u->found_block < 2 || u->declared_block > 1 || u->label.M != u->label.N || u->label.level > 0 || !Large(run, Seconds(u)))
      continue;
    PetscCall(SpmvLabelText(&u->label, text, sizeof(text)));
    PetscCall(SpmvAppend(line, size,
                         "the %s is made of full blocks of %" PetscInt_FMT " x %" PetscInt_FMT
                         ", and its block size is 1: MatSetBlockSize(), or -%smat_block_size %" PetscInt_FMT
                         ", tells PCGAMG, PCPBJACOBI and our formats",
                         text, u->found_block, u->found_block, Prefix(u), u->found_block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of a matrix serves products that take much, and of entries that differ by rounding both are told (so its plan says) */
static PetscErrorCode Symmetric(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    if (u->work != SPMV_WORK_PRODUCTS || !strstr(u->by, "pairs=near exact=yes") || !Large(run, u->spent.seconds[1])) continue;
    if (u->symmetric)
      PetscCall(SpmvAppend(line, size, "%.0f %% are products with half of a matrix that is declared symmetric: ",
                           Percent(run, u->spent.seconds[1])));
    else
      PetscCall(SpmvAppend(line, size,
                           "%.0f %% are products with half of a matrix that is symmetric but for rounding: if it is meant to be, "
                           "MatSetOption() with MAT_SYMMETRIC and MAT_SYMMETRY_ETERNAL, and ",
                           Percent(run, u->spent.seconds[1])));
    PetscCall(SpmvAppend(line, size,
                         "-%smat_sbccoo_exact no reads a tenth less, and a_ij is wrong by at most 1e-10 of the largest of a_ij, "
                         "a_ji, sqrt(a_ii a_jj)",
                         Prefix(u)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One process and one thread, of several processors, and products by ours that take much from beyond the second cache */
static PetscErrorCode Threads(const SpmvReport *run, char line[], size_t size)
{
  PetscLogDouble seconds = 0;

  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses; u++) {
    if (u->work == SPMV_WORK_PRODUCTS && u->threads == 1 && u->bytes > run->cache) seconds += u->spent.seconds[1];
  }
  if (run->processes > 1 || run->cores < 2 || seconds <= 0 || !Large(run, seconds)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(line, size,
                       "%.0f %% are products by one thread, and there are %d processors: mpiexec -n %d shares all of the work, "
                       "-mat_spmv_threads %d the products",
                       Percent(run, seconds), run->cores, run->cores, run->cores));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of type spmv that take much are so many that timing a few storages, for some tens of products each, is paid for */
static PetscErrorCode Measure(const SpmvReport *run, char line[], size_t size)
{
  PetscFunctionBegin;
  for (const SpmvUse *u = run->use; u < run->use + run->nuses && !line[0]; u++) {
    if (u->work != SPMV_WORK_PRODUCTS || !u->chosen || u->measured || !Large(run, u->spent.seconds[1])) continue;
    if ((double)u->spent.calls[1] < ADVISE_MEASURE * (double)u->matrices) continue;
    PetscCall(SpmvAppend(line, size,
                         "%.0f %% are %" PetscInt64_FMT
                         " products by a storage that was chosen by estimate: -%smat_spmv_tune measure "
                         "times the likely ones, and the next run reads the answer from a file",
                         Percent(run, u->spent.seconds[1]), u->spent.calls[1], Prefix(u)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static AdviseRule *const Rules[] = {Shares,       Saved,      NoneOurs,  Little,      Direct,    PtAP,         Orthogonalisation,
                                    Waited,       NeverBuilt, Lost,      OtherFormat, NotServed, SingleSweeps, SingleSolves,
                                    SingleLevels, Blocks,     Symmetric, Threads,     Measure};

/* SpmvAdvice - line k = 0, 1, ... of what is said of a run, empty if rule number k has nothing to say; more: it was not the
   last */
PetscErrorCode SpmvAdvice(const SpmvReport *run, PetscInt k, char line[], size_t size, PetscBool *more)
{
  PetscFunctionBegin;
  line[0] = 0;
  *more   = (PetscBool)(k + 1 < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(Rules));
  PetscCall((*Rules[k])(run, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
