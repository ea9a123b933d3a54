static const char help[] = "The tuner without a Mat: plans as text, what is chosen, threads and their caches, matrices that are "
                           "empty.\n\n";

#include "unit_tune.h"

/* Every value of every knob, as text and back */
static PetscErrorCode TestText(void)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    const SpmvFormat *f    = SpmvCandidate[k];
    const SpmvSide   *side = &f->host->side;

    for (PetscInt p = 0; p < side->nparams; p++) {
      const SpmvParam *param = &side->params[p];

      for (PetscInt c = 0; c < (param->choices ? param->count : 2); c++) {
        SpmvPlan  plan = SpmvTestPlan(f, SPMV_BACKEND_HOST), back = plan;
        char      text[1024] = "";
        PetscBool good;

        plan.value[p] = param->choices ? param->choices[c] : param->list ? c + 2 : c ? param->high : param->low;
        for (PetscInt i = 0; param->list && i < plan.value[p]; i++) plan.list[i] = i + 1;
        PetscCall(SpmvPlanText(side, &plan, text, sizeof(text)));
        PetscCall(SpmvPlanRead(side, text, &back, &good));
        PetscCheck(good && !memcmp(&plan, &back, sizeof(plan)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: '%s' was not read back",
                   f->name, text);
      }
    }
  }
  PetscFunctionReturn(0);
}

/* Candidates that a matrix in the second cache suits */
static PetscErrorCode Suited(const SpmvTestCSR *t, PetscInt *n)
{
  const SpmvCSR csr = SpmvTestCSRView(t);
  char          why[512];

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvPlan plan = SpmvTestPlan(SpmvCandidate[k], SPMV_BACKEND_HOST);

    PetscCall(SpmvSuits(k, &csr, &plan, why, sizeof(why)));
    *n += !why[0] && !SpmvCandidate[k]->host->far;
  }
  PetscFunctionReturn(0);
}

/* Blocks of height 3 are found by estimate; measuring keeps within its products; no time, no measuring */
static PetscErrorCode TestTune(void)
{
  SpmvTestCSR t;
  SpmvChoice *choice;
  PetscInt    aij, suited;
  char        text[1024];

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  PetscCall(Band(3000, 9, 3, &t));
  PetscCall(Suited(&t, &suited));
  PetscCall(Tune(SPMV_TUNE_ESTIMATE, 0, 1, &t, &aij, choice));
  PetscCheck(!aij && !choice->products && choice->estimated == suited && choice->from == SPMV_FROM_ESTIMATE, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "an estimate ran products");
  PetscCall(SpmvChoiceText(choice, 2, text, sizeof(text)));
  for (int k = 0; k < SPMV_CANDIDATES; k++) {
    const char  *name = SpmvCandidate[k]->name, *at = strstr(text, name);
    const size_t length = strlen(name);
    int          named  = 0;

    for (; at && !named; at = strstr(at + 1, name)) named = at[length] == ' ' && (at == text || at[-1] == ' ');
    suited -= named;
    PetscCheck(!named || !SpmvCandidate[k]->host->far, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is looked at: %s", name, text);
    PetscCheck(k != choice->best.number || (named && (!strncmp(text, name, length) || strstr(text, "the safer one"))),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was chosen, and this considered: %s", name, text);
  }
  PetscCheck(!suited, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d are missing: %s", (int)suited, text);
  PetscCall(Tune(SPMV_TUNE_ESTIMATE, 1 << SPMV_NUMBER_bccoo, 1, &t, &aij, choice));
  /* Of complex numbers columns are a small part, and blocks save little */
  PetscCheck(choice->best.plan.value[0] == 3 || PetscDefined(USE_COMPLEX), PETSC_COMM_SELF, PETSC_ERR_PLIB, "blocks of %d x %d",
             (int)choice->best.plan.value[0], (int)choice->best.plan.value[1]);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Band(30000, 9, 3, &t)); /* of a product that is shorter than a processor's change to other vectors more are needed */
  PetscCall(Tune(SPMV_TUNE_MEASURE, 0, 10, &t, &aij, choice));
  PetscCheck(choice->products > aij && choice->products <= 50 && choice->best.measured > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d products, %d of them by AIJ's kernel", (int)choice->products, (int)aij);
  PetscCall(Tune(SPMV_TUNE_PATIENT, (1 << SPMV_NUMBER_pmf) | (1 << SPMV_NUMBER_AIJ), 10, &t, &aij, choice));
  PetscCheck(choice->measured > 7, PETSC_COMM_SELF, PETSC_ERR_PLIB, "patience measured %d options", (int)choice->measured);
  PetscCall(Tune(SPMV_TUNE_PATIENT, 1 << SPMV_NUMBER_pmf, 1e-9, &t, &aij, choice));
  PetscCheck(!choice->products && choice->from == SPMV_FROM_ESTIMATE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d products in no time",
             (int)choice->products);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(0);
}

/* Each candidate is estimated, or it is said why not: here because a cache has the matrix, or as no entry has a partner */
static PetscErrorCode TestLeft(void)
{
  SpmvTestCSR t;
  SpmvChoice *choice;
  PetscInt    aij, left[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  for (int large = 0; large < 2; large++) {
    char text[1024] = ", ";

    PetscCall(Band(large ? 100000 : 3000, 9, 3, &t));
    PetscCall(Tune(SPMV_TUNE_ESTIMATE, 0, 1, &t, &aij, choice));
    PetscCall(SpmvChoiceText(choice, 3, text + 2, sizeof(text) - 2));
    for (int k = 0; k < SPMV_CANDIDATES; k++) {
      char said[64];

      PetscCall(PetscSNPrintf(said, sizeof(said), ", %s (", SpmvCandidate[k]->name));
      PetscCheck((choice->predicted[SPMV_BACKEND_HOST][k] > 0) == !strstr(text, said), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s is estimated to take %g s, and this is left out: %s", SpmvCandidate[k]->name,
                 (double)choice->predicted[SPMV_BACKEND_HOST][k], text);
      left[large] += choice->predicted[SPMV_BACKEND_HOST][k] <= 0;
    }
    PetscCheck(!large || strstr(text, "have no partner"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "half of a band above the diagonal: %s", text);
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscCheck(left[0] && left[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d and %d are left out", (int)left[0], (int)left[1]);
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the second cache a candidate that others are faster than is looked at where nodes have as many unknowns as fill its
   vectors */
static PetscErrorCode TestNodes(void)
{
  const PetscInt unknowns[][2] = {{1, 1}, {3, 3}, {4, 4}, {8, 8}, {4, 1}};
  const PetscInt fill          = SpmvCandidate[SPMV_NUMBER_sbccoo]->host->nodes;
  SpmvTestCSR    t;
  SpmvChoice    *choice;

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(unknowns); c++) {
    const PetscInt  b = unknowns[c][0], m = 480;
    const PetscBool may = (PetscBool)(b == unknowns[c][1] && b % fill == 0);
    SpmvCSR         csr;
    SpmvRequest     q;
    SpmvKey         key;
    PetscInt        aij = 0, nz = 0;

    t.m = t.n = m;
    PetscCall(SpmvTestCSRAlloc(m, 3 * b * m, &t));
    for (PetscInt r = 0; r < m; r++) { /* nodes along a line, symmetric */
      t.i[r] = nz;
      for (PetscInt j = PetscMax(0, r / b - 1) * b; j < PetscMin(m, (r / b + 2) * b); j++) {
        t.j[nz]   = j;
        t.a[nz++] = 1;
      }
    }
    t.i[m]  = nz;
    csr     = SpmvTestCSRView(&t);
    csr.rbs = unknowns[c][0];
    csr.cbs = unknowns[c][1];
    key     = (SpmvKey){m, m, nz, 17};
    PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
    PetscCall(PetscStrncpy(q.wisdom, "none", sizeof(q.wisdom)));
    PetscCall(SpmvTune(&q, &csr, &key, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, Baseline, &aij, choice, NULL));
    PetscCheck((choice->predicted[SPMV_BACKEND_HOST][SPMV_NUMBER_sbccoo] > 0) == may, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "nodes of %d and %d unknowns: sbccoo is %s", (int)csr.rbs, (int)csr.cbs, may ? "left out" : "looked at");
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(0);
}

#define NEAR 200

/* Leaves of every row between all of its entries and all but so many */
static void Shorten(PetscInt most, SpmvTestCSR *t)
{
  PetscInt nz = 0, first = 0;

  for (PetscInt r = 0; r < t->m; r++) {
    const PetscInt n = t->i[r + 1] - first, left = PetscMax(1, n - (PetscInt)((unsigned)r * 2654435761U >> 16) % (most + 1));

    for (PetscInt k = 0; k < PetscMin(n, left); k++, nz++) {
      t->j[nz] = t->j[first + k];
      t->a[nz] = t->a[first + k];
    }
    first += n;
    t->i[r + 1] = nz;
  }
}

/* Of candidates whose estimates are near the least aij is chosen, pmf rather than tpspmv, and of others the least */
static PetscErrorCode TestSafer(void)
{
  const SpmvMachine was   = *SpmvMachineGet();
  PetscInt          safer = 0, least = 0;
  SpmvChoice       *choice;

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  for (int k = 0; k < NEAR; k++) {
    SpmvMachine machine = was;
    SpmvTestCSR t;
    PetscInt    aij, first = -1, safest;

    machine.cycle *= 1 + 0.05 * (k % 20); /* formats differ in what they do with it */
    SpmvMachineSet(&machine);
    PetscCall(Band(1000 + 40 * k, 3 + k % 17, 1 + k % 3, &t));
    Shorten(k % 4, &t);
    PetscCall(Tune(SPMV_TUNE_ESTIMATE, 0, 1, &t, &aij, choice));
    for (int f = 0; f < SPMV_CANDIDATES; f++) {
      const PetscLogDouble p = choice->predicted[SPMV_BACKEND_HOST][f];

      if (p > 0 && (first < 0 || p < choice->predicted[SPMV_BACKEND_HOST][first])) first = f;
    }
    safest = first;
    for (int f = 0; f < SPMV_CANDIDATES; f++) {
      const PetscLogDouble p = choice->predicted[SPMV_BACKEND_HOST][f];

      if (p <= 0 || p > 1.05 * choice->predicted[SPMV_BACKEND_HOST][first]) continue;
      if (f == SPMV_NUMBER_AIJ || (f == SPMV_NUMBER_pmf && first == SPMV_NUMBER_tpspmv && safest == first)) safest = f;
    }
    PetscCheck(choice->best.number == safest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was chosen, not %s",
               SpmvCandidate[choice->best.number]->name, SpmvCandidate[safest]->name);
    safer += safest != first;
    least += safest == first && first != SPMV_NUMBER_AIJ; /* which is safer, and not near */
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  SpmvMachineSet(&was);
  PetscCheck(safer && least, PETSC_COMM_SELF, PETSC_ERR_PLIB, "of %d matrices %d are near, and %d not", NEAR, (int)safer,
             (int)least);
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The estimate of products by pmf and so many threads */
static PetscErrorCode Threads(const SpmvTestCSR *t, PetscInt threads, SpmvOption *option)
{
  const SpmvCSR  csr   = SpmvTestCSRView(t);
  const SpmvSide side  = SpmvFormat_pmf.host->side;
  SpmvPlan       plan  = SpmvPlanDefault(SPMV_BACKEND_HOST, side.nparams, side.params);
  SpmvReach      reach = {0};
  SpmvOption     options[2];
  char           why[512];

  PetscFunctionBegin;
  plan.threads = threads;
  PetscCall(SpmvResolve(&side, &csr, NULL, &plan, why, sizeof(why)));
  PetscCall(SpmvEstimateGain(&csr, SPMV_ISA_COUNT, SPMV_NUMBER_pmf, &plan, &reach, options));
  *option = options[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Threads share a product that has entries enough for them, and no other one */
static PetscErrorCode TestThreads(void)
{
  PetscFunctionBegin;
  for (int large = 0; large < 2; large++) {
    SpmvTestCSR    t;
    PetscLogDouble predicted[2];

    PetscCall(Band(large ? 8000 : 300, 9, 3, &t));
    for (PetscInt threads = 1; threads <= 2; threads++) {
      SpmvOption option;

      PetscCall(Threads(&t, threads, &option));
      predicted[threads - 1] = option.predicted;
    }
    PetscCheck(large ? predicted[1] < 0.7 * predicted[0] : predicted[1] > 0.9 * predicted[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%d entries: %g s by one thread, %g s by two", (int)t.i[t.m], (double)predicted[0], (double)predicted[1]);
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two threads, each with its half of what is read in a second cache that has no room for all, are more than twice as fast as
   one */
static PetscErrorCode TestCaches(void)
{
  const SpmvMachine was     = *SpmvMachineGet();
  SpmvMachine       machine = was;
  PetscLogDouble predicted[3], read = 1e9; /* by one thread that has all in the second cache; by one, and by two, that have not */
  SpmvTestCSR    t;

  PetscFunctionBegin;
  PetscCall(Band(8000, 9, 3, &t));
  for (int k = 0; k < 3; k++) {
    SpmvOption option;

    machine.cache[0] = 1024;
    machine.cache[1] = k ? 0.7 * read : 2 * read;
    machine.cache[2] = 4 * read;
    machine.byte[2]  = 100 * machine.byte[1];
    SpmvMachineSet(&machine);
    PetscCall(Threads(&t, k == 2 ? 2 : 1, &option));
    predicted[k] = option.predicted;
    if (!k) read = option.bytes + 2. * (PetscLogDouble)t.m * sizeof(PetscScalar);
  }
  SpmvMachineSet(&was);
  PetscCheck(predicted[2] < 0.7 * predicted[0] && predicted[2] < 0.4 * predicted[1], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g s by one thread in the second cache, %g s beyond it, %g s by two", (double)predicted[0], (double)predicted[1],
             (double)predicted[2]);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix most of whose rows are empty is AIJ's without a look at it; not for a type that does not choose, nor with more
   entries */
static PetscErrorCode TestMostlyEmpty(void)
{
  SpmvTestCSR t;
  SpmvChoice *choice;
  PetscInt    aij;

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  for (int few = 0; few < 2; few++) {
    PetscCall(Band(4000, 1, 1, &t));
    for (PetscInt r = few ? 700 : 1100; r < t.m; r++) t.i[r + 1] = t.i[r]; /* a quarter of the rows, about */
    PetscCall(Tune(SPMV_TUNE_ESTIMATE, 0, 1, &t, &aij, choice));
    PetscCheck(few ? choice->best.number == SPMV_NUMBER_AIJ && choice->from == SPMV_FROM_EMPTY : choice->estimated > 1,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d options of a matrix with %d entries were estimated", (int)choice->estimated,
               (int)t.i[t.m]);
    PetscCall(Tune(SPMV_TUNE_ESTIMATE, 1 << SPMV_NUMBER_pmf, 1, &t, &aij, choice));
    PetscCheck(choice->best.number == SPMV_NUMBER_pmf, PETSC_COMM_SELF, PETSC_ERR_PLIB, "pmf was asked for");
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(0);
}

/* Nothing to sample, nothing to multiply: every candidate is estimated all the same */
static PetscErrorCode TestEmpty(void)
{
  const PetscInt sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}};
  PetscInt       aij;
  SpmvChoice    *choice;

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    SpmvTestCSR t;

    PetscCall(SpmvTestCSRAlloc(sizes[k][0], 1, &t));
    for (PetscInt r = 0; r <= sizes[k][0]; r++) t.i[r] = 0;
    t.m = sizes[k][0];
    t.n = sizes[k][1];
    PetscCall(Tune(SPMV_TUNE_ESTIMATE, 0, 1, &t, &aij, choice));
    PetscCall(Tune(SPMV_TUNE_MEASURE, 0, 1, &t, &aij, choice));
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(0);
}

/* Who asks for nothing gets plans for the best instruction set: these are what calibrate measures */
static PetscErrorCode TestDefault(void)
{
  SpmvRequest q;
  SpmvIsa     best;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    PetscCheck(q.host[k].isa == (PetscInt)best, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a plan for %s, not for %s",
               SpmvCandidate[k]->name, SpmvIsaName(q.host[k].isa), SpmvIsaName((PetscInt)best));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  PetscCall(TestDefault());
  PetscCall(TestText());
  PetscCall(TestTune());
  PetscCall(TestLeft());
  PetscCall(TestNodes());
  PetscCall(TestThreads());
  PetscCall(TestCaches());
  PetscCall(TestSafer());
  PetscCall(TestMostlyEmpty());
  PetscCall(TestEmpty());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
