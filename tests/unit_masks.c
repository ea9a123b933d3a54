static const char help[] =
  "bccoo's blocks with masks are looked at, and chosen, out of cache and where rows share columns; not in cache, nor of "
  "a matrix of dense blocks, nor of short rows.\n\n";

#include "spmvtest.h"
#include "mat/impls/bccoo/host/bccoo_masked.h"

/* Adds an entry that neither few values nor floats are */
static void Add(SpmvTestCSR *t, PetscInt *nz, PetscInt c)
{
  t->j[*nz] = c;
  t->a[*nz] = PetscSinReal((PetscReal)*nz + 1);
  ++*nz;
}

/* Nodes of n x n square elements of order 1 or 2, row by row: each has entries with those of its elements */
static PetscErrorCode Elements(PetscInt n, PetscInt order, SpmvTestCSR *t)
{
  const PetscInt side = order * n + 1;
  PetscInt       nz   = 0;

  PetscFunctionBegin;
  t->m = t->n = side * side;
  PetscCall(PetscMalloc3(t->m + 1, &t->i, 25 * t->m, &t->j, 25 * t->m, &t->a));
  for (PetscInt r = 0; r < t->m; r++) {
    const PetscInt at[2] = {r % side, r / side};
    PetscInt       reach[2];

    for (int d = 0; d < 2; d++) reach[d] = at[d] % order ? 1 : order;
    t->i[r] = nz;
    for (PetscInt y = at[1] - reach[1]; y <= at[1] + reach[1]; y++) {
      for (PetscInt x = at[0] - reach[0]; x <= at[0] + reach[0]; x++) {
        if (PetscMin(x, y) >= 0 && PetscMax(x, y) < side) Add(t, &nz, y * side + x);
      }
    }
  }
  t->i[t->m] = nz;
  PetscFunctionReturn(0);
}

/* A band of blocks of h x h that are full */
static PetscErrorCode Dense(PetscInt m, PetscInt h, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = t->n = m / h * h;
  PetscCall(PetscMalloc3(t->m + 1, &t->i, 7 * h * t->m, &t->j, 7 * h * t->m, &t->a));
  for (PetscInt r = 0; r < t->m; r++) {
    t->i[r] = nz;
    for (PetscInt c = (r / h - 6) * h; c < (r / h + 8) * h; c++) {
      if (c >= 0 && c < t->n && c / h % 2 == r / h % 2) Add(t, &nz, c);
    }
  }
  t->i[t->m] = nz;
  PetscFunctionReturn(0);
}

static PetscErrorCode Masks(const SpmvPlan *plan, PetscBool *masks)
{
  char text[1024] = "";

  PetscFunctionBegin;
  PetscCall(SpmvPlanText(&SpmvCandidate[SPMV_NUMBER_bccoo]->host->side, plan, text, sizeof(text)));
  *masks = (PetscBool) !!strstr(text, "fill=masks");
  PetscFunctionReturn(0);
}

/* Whether masks are among the plans that are looked at, and whether they are chosen; frees the matrix */
static PetscErrorCode Expect(SpmvTestCSR *t, PetscBool wanted, const char what[])
{
  const SpmvSide *side      = &SpmvCandidate[SPMV_NUMBER_bccoo]->host->side;
  const SpmvCSR   csr       = SpmvTestCSRView(t);
  const SpmvKey   key       = {csr.m, csr.n, csr.i[csr.m], 17};
  PetscInt        n         = 1;
  PetscBool       looked_at = PETSC_FALSE, chosen;
  SpmvRequest     q;
  SpmvChoice      choice;
  SpmvPlan        plans[SPMV_PROPOSALS];

  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
  for (PetscInt round = 0; n; round++) {
    PetscCall(side->propose(&csr, &q.host[SPMV_NUMBER_bccoo], round, &n, plans));
    for (PetscInt k = 0; k < n; k++) {
      PetscBool masks;

      PetscCall(Masks(&plans[k], &masks));
      looked_at = (PetscBool)(looked_at || masks);
    }
  }
  q.kind    = SPMV_TUNE_ESTIMATE;
  q.allowed = (PetscInt)1 << SPMV_NUMBER_bccoo;
  PetscCall(PetscStrncpy(q.wisdom, "none", sizeof(q.wisdom)));
  PetscCall(SpmvTune(&q, &csr, &key, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, NULL, NULL, &choice, NULL));
  PetscCall(Masks(&choice.best.plan, &chosen));
  PetscCheck(looked_at == wanted && chosen == wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: masks were%s looked at and%s chosen",
             what, looked_at ? "" : " not", chosen ? "" : " not");
  PetscCall(PetscFree3(t->i, t->j, t->a));
  PetscFunctionReturn(0);
}

/* Branches that are expected to be missed, of each group of four rows: their lengths take turns, or nothing foretells them */
static PetscErrorCode Missed(PetscBool turns, PetscReal *each)
{
  enum { GROUPS = 2000, MOST = 32, N = 4 * GROUPS };
  SpmvTestCSR t    = {.m = N, .n = N};
  SpmvWork    work = {0};
  SpmvCSR     csr;
  uint64_t    x  = 20240607;
  PetscInt    nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(N + 1, &t.i, N * MOST, &t.j, N * MOST, &t.a));
  for (PetscInt r = 0; r < N; r++) {
    const PetscInt length = 12 + 2 * (turns ? r / 4 % 5 : (PetscInt)((x >> 33) % 8));

    t.i[r] = nz;
    for (PetscInt k = 0; k < length; k++) Add(&t, &nz, PetscMin(r / 4 * 4, N - MOST) + k);
    if (r % 4 == 3) x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  }
  t.i[N] = nz;
  csr    = SpmvTestCSRView(&t);
  PetscCall(BccooMaskedWork(&csr, &work));
  *each = (PetscReal)work.misses / GROUPS;
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscReal   turns, random;
  SpmvMachine cached, uncached;
  SpmvTestCSR t;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SpmvMachineBuiltin((SpmvIsa)(SPMV_ISA_COUNT - 1), &(SpmvCaches){{32768, 1048576, 33554432}, 16}, &cached);
  uncached        = cached;
  uncached.cached = uncached.uncached = uncached.last = 0;
  for (int k = 0; k < SPMV_LEVELS - 1; k++) uncached.cache[k] = 1024 << k;
  SpmvMachineSet(&uncached);
  PetscCall(Elements(40, 2, &t));
  PetscCall(Expect(&t, PETSC_TRUE, "elements of second order, out of cache"));
  PetscCall(Elements(40, 1, &t));
  PetscCall(Expect(&t, PETSC_FALSE, "elements of first order, whose rows are short, out of cache"));
  PetscCall(Dense(3000, 3, &t));
  PetscCall(Expect(&t, PETSC_FALSE, "dense blocks of 3 x 3, out of cache"));
  SpmvMachineSet(&cached);
  PetscCall(Elements(40, 2, &t));
  PetscCall(Expect(&t, PETSC_FALSE, "elements of second order, in cache"));
  PetscCall(Missed(PETSC_TRUE, &turns));
  PetscCall(Missed(PETSC_FALSE, &random));
  PetscCheck(random > 4 && turns < 0.4, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g branches of a group are missed at random, %g in turns", (double)random, (double)turns);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: double !complex

TEST*/
