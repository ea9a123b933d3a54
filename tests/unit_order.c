static const char help[] =
  "Rows and columns in an order by levels: the same products, blocks stay blocks, and who is given an order.\n\n";

#include "spmvtest.h"
#include "mat/interface/spmvmat.h"

/* A grid of n^3 points with b unknowns each, coupled to the 7 nearest; points are numbered at random, or as they come */
static PetscErrorCode Grid(PetscInt n, PetscInt b, PetscBool random, SpmvCSR *csr)
{
  const PetscInt m = n * n * n;
  PetscInt      *number, *point, *i, *j, nz = 0;
  PetscScalar   *a;
  uint64_t       x = 11;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m, &number, m, &point));
  PetscCall(PetscMalloc3(m * b + 1, &i, (size_t)(7 * m) * (size_t)(b * b), &j, (size_t)(7 * m) * (size_t)(b * b), &a));
  for (PetscInt p = 0; p < m; p++) point[p] = p;
  for (PetscInt p = m - 1; p > 0 && random; p--) {
    PetscInt other, kept = point[p];

    x        = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    other    = (PetscInt)((x >> 33) % (uint64_t)(p + 1));
    point[p] = point[other], point[other] = kept;
  }
  for (PetscInt p = 0; p < m; p++) number[point[p]] = p;
  i[0] = 0;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt p = point[r], at[3] = {p % n, p / n % n, p / n / n}, apart[3] = {1, n, n * n};
    PetscInt       next[7] = {r}, count = 1;

    for (int d = 0; d < 3; d++) {
      if (at[d] > 0) next[count++] = number[p - apart[d]];
      if (at[d] < n - 1) next[count++] = number[p + apart[d]];
    }
    PetscCall(PetscSortInt(count, next));
    for (PetscInt k = 0; k < b; k++) {
      for (PetscInt c = 0; c < count * b; c++, nz++) {
        j[nz] = next[c / b] * b + c % b;
        a[nz] = (PetscReal)(1 + (r + 2 * j[nz]) % 17) / 8;
      }
      i[r * b + k + 1] = nz;
    }
  }
  PetscCall(PetscFree2(number, point));
  *csr = (SpmvCSR){.m = m * b, .n = m * b, .rbs = 1, .cbs = 1, .i = i, .j = j, .a = a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridDestroy(SpmvCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(csr->i, csr->j, csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each row once; unknowns of a point one after the other; the rows in their order are those of the matrix */
static PetscErrorCode TestRows(PetscInt b)
{
  SPMV_DESTROY_BY(GridDestroy) SpmvCSR          csr     = {0};
  SPMV_DESTROY_BY(SpmvOrderRowsDestroy) SpmvCSR ordered = {0};
  SPMV_DESTROY_BY(SpmvOrderDestroy) SpmvOrder  *order   = NULL;
  PetscInt                                     *place, far = 0;

  PetscFunctionBegin;
  PetscCall(Grid(9, b, PETSC_TRUE, &csr));
  PetscCheck(SpmvOrderAllows(&csr), PETSC_COMM_SELF, PETSC_ERR_PLIB, "an order is not allowed");
  PetscCall(SpmvOrderCreate(&csr, 1, &order));
  PetscCall(SpmvOrderRows(order, &csr, &ordered));
  PetscCall(PetscMalloc1(csr.m, &place));
  for (PetscInt r = 0; r < csr.m; r++) place[r] = -1;
  for (PetscInt k = 0; k < csr.m; k++) {
    PetscCheck(order->row[k] >= 0 && order->row[k] < csr.m && place[order->row[k]] < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "row %d is row %d", (int)k, (int)order->row[k]);
    PetscCheck(order->row[k] % b == k % b && (k % b == 0 || order->row[k] == order->row[k - 1] + 1), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "blocks of %d fall apart at row %d", (int)b, (int)k);
    place[order->row[k]] = k;
  }
  for (PetscInt k = 0; k < csr.m; k++) {
    const PetscInt first = csr.i[order->row[k]], n = csr.i[order->row[k] + 1] - first;

    PetscCheck(ordered.i[k + 1] - ordered.i[k] == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %d", (int)k);
    for (PetscInt l = 0; l < n; l++) {
      PetscInt at = ordered.i[k];

      while (at < ordered.i[k + 1] && ordered.j[at] != place[csr.j[first + l]]) at++;
      PetscCheck(at < ordered.i[k + 1] && ordered.a[at] == csr.a[first + l], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "an entry of row %d", (int)k);
      PetscCheck(at == ordered.i[k] || ordered.j[at] > ordered.j[at - 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %d is unsorted",
                 (int)k);
      far = PetscMax(far, PetscAbsInt(ordered.j[at] - k));
    }
  }
  PetscCheck(far < csr.m / 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "entries are up to %d from the diagonal of %d rows", (int)far,
             (int)csr.m);
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products by each format, also transposed, added, by several threads, and with new values */
static PetscErrorCode TestProducts(PetscInt threads)
{
  SPMV_DESTROY_BY(GridDestroy) SpmvCSR csr = {0};
  PetscScalar                         *x, *y, *wanted, *a;

  PetscFunctionBegin;
  PetscCall(Grid(8, 2, PETSC_TRUE, &csr));
  a = (PetscScalar *)csr.a;
  PetscCall(PetscMalloc3(csr.n, &x, csr.n, &y, csr.n, &wanted));
  for (PetscInt k = 0; k < csr.n; k++) x[k] = (PetscReal)(k % 13) - 6;
  for (PetscInt number = 0; number < SPMV_NUMBER_AIJ; number++) {
    const SpmvHostSide                          *host  = SpmvCandidate[number]->host;
    SPMV_DESTROY_BY(SpmvOrderDestroy) SpmvOrder *order = NULL;
    const SpmvKernels                           *kernels;
    SpmvPlan                                     plan = SpmvTestPlan(SpmvCandidate[number], SPMV_BACKEND_HOST);
    SPMV_DESTROY_BY(SpmvOwnedDestroy) SpmvOwned  own  = {.side = &host->side};
    PetscScalar                                 *work;

    if (host->side.borrows) continue;
    plan.threads = threads;
    PetscCall(SpmvOrderCreate(&csr, threads, &order));
    for (int again = 0; again < 2; again++) {
      SPMV_DESTROY_BY(SpmvOrderRowsDestroy) SpmvCSR ordered = {0};

      for (PetscInt k = 0; again && k < csr.i[csr.m]; k++) a[k] += 1;
      PetscCall(SpmvOrderRows(order, &csr, &ordered));
      if (again) PetscCall(host->side.setvalues(&ordered, own.storage));
      else PetscCall(SpmvBuild(&host->side, &ordered, NULL, &plan, &own.storage));
      PetscCall(SpmvKernelsGet(SpmvCandidate[number], SPMV_ISA_COUNT, &kernels));
      PetscCall(PetscMalloc1(kernels->transpose_work(own.storage), &work));
      for (int how = 0; how < 4; how++) { /* A or A^T, new or added */
        for (PetscInt r = 0; r < csr.m; r++) wanted[r] = y[r] = how % 2 ? r % 5 : 0;
        for (PetscInt r = 0; r < csr.m; r++) {
          for (PetscInt k = csr.i[r]; k < csr.i[r + 1]; k++) {
            if (how < 2) wanted[r] += csr.a[k] * x[csr.j[k]];
            else wanted[csr.j[k]] += csr.a[k] * x[r];
          }
        }
        if (how < 2) SpmvOrderApply(order, kernels->apply, own.storage, csr.i[csr.m], x, y, (PetscBool)(how % 2));
        else
          SpmvOrderApplyTranspose(order, kernels->apply_transpose, own.storage, csr.i[csr.m], x, y, (PetscBool)(how % 2), work);
        for (PetscInt r = 0; r < csr.m; r++) {
          PetscCheck(PetscAbsScalar(y[r] - wanted[r]) <= 1000 * PETSC_MACHINE_EPSILON * (1 + PetscAbsScalar(wanted[r])),
                     PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s%s: row %d", SpmvCandidate[number]->name, how < 2 ? "A x" : "A^T x",
                     again ? ", new values" : "", (int)r);
        }
      }
      PetscCall(PetscFree(work));
    }
  }
  PetscCall(PetscFree3(x, y, wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The estimate of a format by so many threads, and lines of x that it waits for; knob: one that is set, or NULL */
static PetscErrorCode Estimate(const SpmvCSR *csr, PetscInt number, PetscInt threads, const char knob[], PetscInt value,
                               SpmvOption *option, PetscLogDouble *waits)
{
  SPMV_DESTROY_BY(SpmvSampleDestroy)
  SpmvSample      sample = {0};
  const SpmvSide *side   = &SpmvCandidate[number]->host->side;
  SpmvTerms       terms;
  SpmvRequest     q;
  SpmvPlan        plan;
  char            why[512];

  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
  plan         = q.host[number];
  plan.threads = threads;
  for (PetscInt k = 0; knob && k < side->nparams; k++) {
    if (!strcmp(side->params[k].name, knob)) plan.value[k] = value;
  }
  PetscCall(SpmvResolve(side, csr, NULL, &plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s refuses a grid: %s", SpmvCandidate[number]->name, why);
  PetscCall(SpmvSampleCreate(csr, SPMV_SAMPLE_FORMATS, &sample));
  PetscCall(SpmvSampleReach(&sample));
  PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, number, 1, &plan, option));
  PetscCall(SpmvEstimateTerms(&sample, SPMV_ISA_COUNT, number, 1, &plan, &terms));
  *waits = 0;
  for (int level = 1; level < SPMV_LEVELS; level++) *waits += terms.far[level];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the tuner would have `pmf` in an order in the place of what serves */
static PetscErrorCode Pays(const SpmvCSR *csr, const SpmvOption *serves, PetscInt threads, PetscReal calls, PetscBool *pays)
{
  SPMV_DESTROY_BY(SpmvOrderRowsDestroy) SpmvCSR ordered = {0};
  SPMV_DESTROY_BY(SpmvOrderDestroy) SpmvOrder  *order   = NULL;
  SpmvOption                                    after;
  SpmvReach                                     reach = {0};
  PetscLogDouble                                wait, waits;

  PetscFunctionBegin;
  PetscCall(SpmvOrderWait(csr, &reach, &wait));
  *pays = SpmvOrderMayPay(csr, wait, calls, serves, threads);
  if (!*pays) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvOrderCreate(csr, threads, &order));
  PetscCall(SpmvOrderRows(order, csr, &ordered));
  PetscCall(Estimate(&ordered, SPMV_NUMBER_pmf, threads, NULL, 0, &after, &waits));
  PetscCall(SpmvOrderPays(csr, order, calls, serves, &after, pays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Caches and latencies that are the same on every machine */
static void SetMachine(void)
{
  SpmvMachine machine = *SpmvMachineGet();

  machine.cache[0] = 4096. * sizeof(PetscScalar);
  machine.cache[1] = 32 * machine.cache[0];
  machine.cache[2] = 256 * machine.cache[0];
  for (int k = 0; k < SPMV_LEVELS; k++) {
    machine.byte[k] = 0.01 * (k + 1);
    machine.line[k] = 4. * k;
  }
  SpmvMachineSet(&machine);
}

/*
  An order is found for grids in random numbering, x in the second cache or beyond, not for those as they come, nor where x is in
  the first one; nor does it keep one away that what serves does not wait for x, since that costs it something else
*/
static PetscErrorCode TestChoice(void)
{
  const struct {
    PetscInt  n;
    PetscBool random;
    PetscInt  threads;
    PetscReal calls; /* 0: set-up does not count */
    PetscBool tiled; /* tpspmv, whose tiles have their part of x in the first cache, three unknowns a point; else pmf */
    PetscBool wanted;
  } grids[] = {
    {60, PETSC_TRUE, 1, 0, PETSC_FALSE, PETSC_TRUE},   {60, PETSC_TRUE, 4, 0, PETSC_FALSE, PETSC_TRUE},
    {60, PETSC_TRUE, 1, 20, PETSC_FALSE, PETSC_FALSE}, {60, PETSC_TRUE, 1, 1e4, PETSC_FALSE, PETSC_TRUE},
    {60, PETSC_FALSE, 1, 0, PETSC_FALSE, PETSC_FALSE}, {60, PETSC_FALSE, 4, 0, PETSC_FALSE, PETSC_FALSE},
    {42, PETSC_TRUE, 1, 0, PETSC_TRUE, PETSC_TRUE},    {42, PETSC_FALSE, 1, 0, PETSC_TRUE, PETSC_FALSE},
    {24, PETSC_TRUE, 1, 0, PETSC_FALSE, PETSC_TRUE},   {24, PETSC_FALSE, 1, 0, PETSC_FALSE, PETSC_FALSE},
    {16, PETSC_TRUE, 1, 0, PETSC_FALSE, PETSC_FALSE},
  };

  PetscFunctionBegin;
  SetMachine();
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); k++) {
    SPMV_DESTROY_BY(GridDestroy) SpmvCSR csr    = {0};
    const PetscInt                       number = grids[k].tiled ? SPMV_NUMBER_tpspmv : SPMV_NUMBER_pmf;
    SpmvOption                           serves;
    PetscLogDouble                       waits;
    PetscBool                            pays;

    PetscCall(Grid(grids[k].n, grids[k].tiled ? 3 : 1, grids[k].random, &csr));
    PetscCall(Estimate(&csr, number, grids[k].threads, grids[k].tiled ? "tile" : NULL, 2048, &serves, &waits));
    PetscCheck(!grids[k].tiled || waits == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles in cache wait for %g lines of x", waits);
    PetscCall(Pays(&csr, &serves, grids[k].threads, grids[k].calls, &pays));
    PetscCheck(pays == grids[k].wanted, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s for a grid of %d^3, %s, has %s order with %d threads for %g products", SpmvCandidate[number]->name,
               (int)grids[k].n, grids[k].random ? "numbered at random" : "as it comes", pays ? "an" : "no", (int)grids[k].threads,
               (double)grids[k].calls);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No order is made where products wait for x, and to bring x and y into an order would take longer still: one entry a row */
static PetscErrorCode TestVectors(void)
{
  SPMV_DESTROY_BY(GridDestroy) SpmvCSR grid = {0};
  SPMV_TEMPORARY PetscInt             *i = NULL, *j = NULL;
  SpmvCSR                              csr;
  SpmvOption                           serves;
  SpmvReach                            reach = {0};
  PetscLogDouble                       waits, wait;

  PetscFunctionBegin;
  SetMachine();
  PetscCall(Grid(60, 1, PETSC_TRUE, &grid));
  PetscCall(PetscMalloc1(grid.m + 1, &i));
  PetscCall(PetscMalloc1(grid.m, &j));
  for (PetscInt r = 0; r <= grid.m; r++) i[r] = r;
  for (PetscInt r = 0; r < grid.m; r++) j[r] = grid.j[grid.i[r] + r % (grid.i[r + 1] - grid.i[r])];
  csr   = grid;
  csr.i = i;
  csr.j = j;
  PetscCall(Estimate(&csr, SPMV_NUMBER_pmf, 1, NULL, 0, &serves, &waits));
  PetscCheck(waits > grid.m / 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Only %g lines of x are waited for", waits);
  PetscCall(SpmvOrderWait(&csr, &reach, &wait));
  PetscCheck(wait == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "an order is tried for rows of one entry");
  PetscCheck(!SpmvOrderMayPay(&csr, wait, 0, &serves, 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "an order may pay without any wait");
  reach = (SpmvReach){0};
  PetscCall(SpmvOrderWait(&grid, &reach, &wait));
  PetscCheck(wait > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no wait for x in a grid that is numbered at random");
  reach = (SpmvReach){.accesses = 1}; /* of which none was far: what is known is not looked for */
  PetscCall(SpmvOrderWait(&grid, &reach, &wait));
  PetscCheck(wait == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "how x is read was looked at twice");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n products of A, of which the last is compared with aij's; the plan that serves says in the end whether there is an order */
static PetscErrorCode Multiply(Mat A, Mat aij, PetscInt n, PetscBool ordered, const char when[])
{
  Vec       x, y, z;
  char      plan[512];
  PetscReal difference, norm;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  while (n--) PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(aij, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  PetscCheck(difference <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: off by %g", when,
             (double)difference);
  PetscCall(MatSpmvGetPlan(A, plan, sizeof(plan)));
  PetscCheck((strstr(plan, "order=levels") != NULL) == ordered, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the plan is '%s'", when,
             plan);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By default a matrix has an order after 16 times as many products as a storage waits for; new values stay in it */
static PetscErrorCode TestWait(void)
{
  SPMV_DESTROY_BY(GridDestroy) SpmvCSR csr     = {0};
  SpmvMachine                          machine = *SpmvMachineGet(), small;
  Mat                                  aij, A;

  PetscFunctionBegin;
  small = machine;
  for (int k = 0; k < SPMV_LEVELS - 1; k++) small.cache[k] = 1024 << k; /* so that a matrix need not be large */
  SpmvMachineSet(&small);
  PetscCall(Grid(14, 1, PETSC_TRUE, &csr));
  PetscCall(
    MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, csr.m, csr.n, (PetscInt *)csr.i, (PetscInt *)csr.j, (PetscScalar *)csr.a, &aij));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_build_after", "2"));
  PetscCall(MatConvert(aij, MATSPMV, MAT_INITIAL_MATRIX, &A));
  PetscCall(Multiply(A, aij, 32, PETSC_FALSE, "before the order is due"));
  PetscCall(Multiply(A, aij, 2, PETSC_TRUE, "after that"));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(aij, 2));
  PetscCall(Multiply(A, aij, 4, PETSC_TRUE, "new values"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_order", "none"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Multiply(A, aij, 40, PETSC_FALSE, "without an order"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_order", "levels"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Multiply(A, aij, 4, PETSC_TRUE, "with an order at once"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&aij));
  SpmvMachineSet(&machine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ANYWHERE_ROWS    4000
#define ANYWHERE_ENTRIES 8

/* Columns anywhere: no order brings them together, which only an order that is made can tell. What served goes on as it was */
static PetscErrorCode TestInVain(void)
{
  SpmvMachine machine = *SpmvMachineGet(), small = machine;
  char        before[512], after[512];
  uint64_t    state = 5;
  SpmvCounts  counts[2];
  Mat         aij, A;

  PetscFunctionBegin;
  for (int k = 0; k < SPMV_LEVELS - 1; k++) small.cache[k] = 1024 << k;
  SpmvMachineSet(&small);
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, ANYWHERE_ROWS, ANYWHERE_ROWS, ANYWHERE_ENTRIES, NULL, &aij));
  for (PetscInt r = 0; r < ANYWHERE_ROWS; r++) {
    for (PetscInt k = 0; k < ANYWHERE_ENTRIES; k++) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      PetscCall(MatSetValue(aij, r, (PetscInt)((state >> 33) % ANYWHERE_ROWS), (PetscScalar)(1 + k), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(aij, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(aij, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_order", "auto"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_tune_formats", "pmf"));
  PetscCall(MatConvert(aij, MATSPMV, MAT_INITIAL_MATRIX, &A));
  PetscCall(Multiply(A, aij, 32, PETSC_FALSE, "columns anywhere, before it is tried"));
  PetscCall(MatSpmvGetPlan(A, before, sizeof(before)));
  PetscCall(MatSpmvGetCounts(A, &counts[0]));
  PetscCall(Multiply(A, aij, 40, PETSC_FALSE, "columns anywhere, after that"));
  PetscCall(MatSpmvGetPlan(A, after, sizeof(after)));
  PetscCall(MatSpmvGetCounts(A, &counts[1]));
  PetscCheck(!strcmp(before, after), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the plan was '%s', then '%s'", before, after);
  PetscCheck(counts[1].builds == counts[0].builds && counts[1].tunings == counts[0].tunings + 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "an order in vain: %d storages and %d choices more, not 0 and 1", (int)(counts[1].builds - counts[0].builds),
             (int)(counts[1].tunings - counts[0].tunings));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(aij, 2));
  PetscCall(Multiply(A, aij, 4, PETSC_FALSE, "columns anywhere, new values"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&aij));
  SpmvMachineSet(&machine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where nothing can be in an order, or nothing is compared, it is not looked for in each product again */
static PetscErrorCode TestNever(MatType type, const char tune[])
{
  Mat         A;
  Vec         x, y;
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_order", "auto"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_tune", tune));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_build_after", "2"));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 100, 100, 1, NULL, &A));
  for (PetscInt r = 0; r < 100; r++) PetscCall(MatSetValue(A, r, r, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatSpmvGetShadow(A, &shadow));
  for (PetscInt k = 0; k < 2 * SPMV_ORDER_WAIT + 2; k++) PetscCall(MatMult(A, x, y));
  PetscCheck(shadow->seq.current && shadow->seq.built.format && !SpmvOrderWorthLook(shadow), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, tune %s: each product looks whether it is to have an order", type, tune);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt i[3] = {0, 1, 2}, j[2] = {0, 2};
  const SpmvCSR  wide = {.m = 2, .n = 3, .rbs = 1, .cbs = 1, .i = i, .j = j};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  PetscCheck(!SpmvOrderAllows(&wide), PETSC_COMM_SELF, PETSC_ERR_PLIB, "a matrix of 2 rows and 3 columns may have an order");
  for (PetscInt b = 1; b <= 4; b++) PetscCall(TestRows(b));
  for (PetscInt threads = 1; threads <= 3; threads += 2) PetscCall(TestProducts(threads));
  PetscCall(TestChoice());
  PetscCall(TestVectors());
  PetscCall(SpmvInitializePackage());
  PetscCall(TestWait());
  PetscCall(TestInVain());
  PetscCall(PetscOptionsClearValue(NULL, "-mat_spmv_tune_formats"));
  PetscCall(TestNever(MATCSRADAPTIVE, "estimate"));
  PetscCall(TestNever(MATPMF, "off"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
