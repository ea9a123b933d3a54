static const char help[] =
  "CSR-Adaptive: the paper's row blocks digit by digit, what they cost, and what the kernels must not read or add.\n\n";

#include "spmvtest.h"
#include "mat/impls/csradaptive/host/csradaptive_host.h"

#define FORMAT SpmvFormat_csradaptive
#define SIDE   (&FORMAT.host->side)

/* A matrix whose arrays end where an inaccessible page begins */
typedef struct {
  SpmvGuarded i, j, a;
  SpmvCSR     csr;
} Guarded;

static PetscErrorCode GuardedIndices(size_t n, SpmvGuarded *g, PetscInt **index)
{
  const size_t bytes = n * sizeof(PetscInt), scalars = (bytes + sizeof(PetscScalar) - 1) / sizeof(PetscScalar);

  PetscFunctionBegin;
  PetscCall(SpmvGuardedCreate((PetscInt)scalars, g));
  *index = (PetscInt *)((char *)(g->a + scalars) - bytes);
  PetscFunctionReturn(0);
}

/* Rows of the given lengths; entry k of row r is in column (r first + k step) % n, unsorted if that wraps */
static PetscErrorCode GuardedCreate(PetscInt m, PetscInt n, const PetscInt length[], PetscInt first, PetscInt step, Guarded *t)
{
  PetscInt *i, *j, nz = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) nz += length[r];
  PetscCall(GuardedIndices((size_t)m + 1, &t->i, &i));
  PetscCall(GuardedIndices((size_t)nz, &t->j, &j));
  PetscCall(SpmvGuardedCreate(nz, &t->a));
  i[0] = 0;
  for (PetscInt r = 0; r < m; r++) {
    i[r + 1] = i[r] + length[r];
    for (PetscInt k = 0; k < length[r]; k++) j[i[r] + k] = (PetscInt)(((PetscInt64)r * first + (PetscInt64)k * step) % n);
  }
  for (PetscInt k = 0; k < nz; k++) t->a.a[k] = 1 + (PetscReal)(k % 17) / 8 - 3 * (k % 2);
  t->csr = (SpmvCSR){.m = m, .n = n, .rbs = 1, .cbs = 1, .i = i, .j = j, .a = t->a.a};
  PetscFunctionReturn(0);
}

static PetscErrorCode GuardedDestroy(Guarded *t)
{
  PetscFunctionBegin;
  PetscCall(SpmvGuardedDestroy(&t->i));
  PetscCall(SpmvGuardedDestroy(&t->j));
  PetscCall(SpmvGuardedDestroy(&t->a));
  PetscFunctionReturn(0);
}

static SpmvPlan Plan(PetscInt nnz_per_wg, PetscInt num_rows_stream, PetscInt nnz_multiplier, PetscInt threads)
{
  return (SpmvPlan){.value = {nnz_per_wg, num_rows_stream, nnz_multiplier}, .threads = threads};
}

/* Prints row, flag and number of each word, and the kernel of each row block */
static PetscErrorCode Show(const char name[], PetscInt m, const PetscInt length[], PetscInt first, SpmvPlan plan)
{
  static const char *const kernel[] = {"stream", "vector", "vectorl", "vector"};
  Guarded                  t;
  void                    *storage;
  const CsradaptiveBlocks *b;
  char                     line[256];

  PetscFunctionBegin;
  PetscCall(GuardedCreate(m, 100000, length, first, 1, &t));
  PetscCall(SpmvBuild(SIDE, &t.csr, NULL, &plan, &storage));
  b = &((const CsradaptiveStorage *)storage)->rows;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", name));
  for (size_t k = 0; k <= b->nblocks; k++) {
    const uint64_t w = b->block[k];

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  0x%016llx row %d flag %d", (unsigned long long)w, (int)CsradaptiveRow(w),
                          CsradaptiveFlag(w)));
    if (CsradaptiveFlag(w))
      PetscCall(
        PetscPrintf(PETSC_COMM_SELF, " workgroup %d first %d", (int)CsradaptiveWorkgroup(w), (int)CsradaptiveFirst(b, k)));
    if (CsradaptiveNodeRows(w)) PetscCall(PetscPrintf(PETSC_COMM_SELF, " nodes of %d", CsradaptiveNodeRows(w)));
    PetscCall(
      PetscPrintf(PETSC_COMM_SELF, "%s%s\n", k < b->nblocks ? " " : "", k < b->nblocks ? kernel[CsradaptiveKernelAt(b, k)] : ""));
  }
  PetscCall(SIDE->describe(storage, 0, line, sizeof(line)));
  PetscCheck(strchr(line, ';'), PETSC_COMM_SELF, PETSC_ERR_PLIB, "no bytes in: %s", line);
  *strchr(line, ';') = 0; /* what follows depends on the sizes of PetscInt and PetscScalar */
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", line));
  PetscCall(SIDE->describe(storage, 1, line, sizeof(line)));
  PetscCheck(!line[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "a second line: %s", line);
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscCall(GuardedDestroy(&t));
  PetscFunctionReturn(0);
}

/* Figures 5 and 6, with what NNZ_multiplier, num_rows_stream, the break and nodes change */
static PetscErrorCode Blocks(void)
{
  const PetscInt figure5[] = {2048, 3072, 512};
  PetscInt       length[40];

  PetscFunctionBegin;
  PetscCall(Show("Fig. 5, NNZ_PER_WG 512", 3, figure5, 7, Plan(512, 2, 1, 1)));
  PetscCall(Show("Fig. 5, NNZ_multiplier 2", 3, figure5, 7, Plan(512, 2, 2, 1)));
  for (PetscInt r = 0; r < 24; r++) length[r] = r < 4 ? 150 : 5;
  PetscCall(Show("4 rows of 150, 20 of 5", 24, length, 7, Plan(1024, 3, 2, 1)));
  PetscCall(Show("the same, 21 rows for stream", 24, length, 7, Plan(1024, 21, 2, 1)));
  length[0] = 5;
  PetscCall(Show("a short row first: not half full at the first break", 24, length, 7, Plan(1024, 3, 2, 1)));
  for (PetscInt r = 0; r < 40; r++) length[r] = 0;
  PetscCall(Show("40 empty rows, at most 32 a row block", 40, length, 7, Plan(8, 3, 2, 1)));
  for (PetscInt r = 0; r < 24; r++) length[r] = 9;
  PetscCall(Show("24 rows with the same 9 columns: nodes of 6, whole ones in each row block", 24, length, 0, Plan(128, 3, 2, 1)));
  for (PetscInt r = 0; r < 24; r++) length[r] = 9 + r / 3;
  PetscCall(Show("nodes of 3", 24, length, 0, Plan(128, 3, 2, 1)));
  length[8] = 1;
  PetscCall(Show("nodes of 3, the third with a row that differs", 24, length, 0, Plan(128, 3, 2, 1)));
  PetscFunctionReturn(0);
}

/* Bytes of its own, which must be below 0.1 % of CSR, by default; the other arrays are AIJ's and not copies */
static PetscErrorCode Bytes(const char name[], PetscInt m, PetscInt n, const PetscInt length[])
{
  SpmvPlan       plan = SpmvTestPlan(&FORMAT, SPMV_BACKEND_HOST);
  Guarded        t;
  void          *storage;
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       narrays, borrowed = 0;
  PetscLogDouble own = 0, csr, all = 0;

  PetscFunctionBegin;
  PetscCall(GuardedCreate(m, n, length, 7, 1, &t));
  csr = (double)t.csr.i[m] * (sizeof(PetscInt) + sizeof(PetscScalar)) + (double)(m + 1) * sizeof(PetscInt);
  PetscCall(SpmvBuild(SIDE, &t.csr, NULL, &plan, &storage));
  PetscCall(SIDE->arrays(storage, &narrays, arrays));
  for (PetscInt k = 0; k < narrays; k++) {
    all += (PetscLogDouble)arrays[k].count * arrays[k].size;
    if (arrays[k].borrowed) borrowed += arrays[k].data == t.csr.i || arrays[k].data == t.csr.j || arrays[k].data == t.csr.a;
    else own += (PetscLogDouble)arrays[k].count * arrays[k].size;
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: AIJ's own arrays %d, below 0.1 %% of CSR: %s, and nothing else: %s\n", name,
                        (int)borrowed, own < 0.001 * csr ? "yes" : "no", all == csr + own ? "yes" : "no"));
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscCall(GuardedDestroy(&t));
  PetscFunctionReturn(0);
}

static PetscErrorCode Memory(void)
{
  const PetscInt m = 30000;
  PetscInt      *length;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &length));
  for (PetscInt r = 0; r < m; r++) length[r] = 27;
  PetscCall(Bytes("rows of 27", m, m, length));
  for (PetscInt r = 0; r < m; r++) length[r] = 3;
  PetscCall(Bytes("rows of 3", m, m, length));
  for (PetscInt r = 0; r < m; r++) length[r] = r % 10 == 0;
  PetscCall(Bytes("nine rows in ten empty", m, m, length));
  for (PetscInt r = 0; r < m; r++) length[r] = r % 2 ? 200 : 1;
  PetscCall(Bytes("rows of 200 and 1 in turn", m, m, length));
  for (PetscInt r = 0; r < m; r++) length[r] = r % 100 == 50 ? 1025 : 2 + r % 5;
  PetscCall(Bytes("rows just over half a row block", m, m, length));
  for (PetscInt r = 0; r < m; r++) length[r] = r % 10000 == 5000 ? 100000 : 4;
  PetscCall(Bytes("rows of 100000", m, 100000, length));
  PetscCall(PetscFree(length));
  PetscFunctionReturn(0);
}

/* An Inf in x reaches the rows that have its column, and no other */
static PetscErrorCode Infinite(const SpmvCSR *csr, const void *storage, PetscInt *wrong)
{
  const PetscInt column = csr->n / 2;
  SpmvGuarded    x = {0}, y = {0};

  PetscFunctionBegin;
  PetscCall(SpmvGuardedCreate(csr->n, &x));
  PetscCall(SpmvGuardedCreate(csr->m, &y));
  for (PetscInt k = 0; k < csr->n; k++) x.a[k] = k == column ? (PetscScalar)INFINITY : (PetscScalar)1;
  for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
    if (!SpmvIsaSupported((SpmvIsa)isa) || !FORMAT.host->kernels[isa]->apply) continue;
    FORMAT.host->kernels[isa]->apply(storage, x.a, y.a, PETSC_FALSE);
    for (PetscInt r = 0; r < csr->m; r++) {
      PetscBool has = PETSC_FALSE;

      for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) has = (PetscBool)(has || csr->j[k] == column);
      *wrong += PetscIsInfOrNanScalar(y.a[r]) != has;
    }
  }
  PetscCall(SpmvGuardedDestroy(&x));
  PetscCall(SpmvGuardedDestroy(&y));
  PetscFunctionReturn(0);
}

/* Rows of these lengths by each kernel and number of threads: unsorted, with repeated columns where a row is longer than n */
static PetscErrorCode Kernels(const char name[], PetscInt m, PetscInt n, const PetscInt length[], PetscInt first)
{
  const PetscInt threads[] = {1, 2, 5};
  PetscInt       wrong     = 0;
  Guarded        t;

  PetscFunctionBegin;
  PetscCall(GuardedCreate(m, n, length, first, 5, &t));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(threads); k++) {
    for (PetscInt nnz = 8; nnz <= CSRADAPTIVE_NNZ_MAX; nnz *= 8) {
      for (PetscInt stream = 1; stream <= 1000; stream *= 1000) {
        SpmvPlan plan = Plan(nnz, stream, k ? 1 : 64, threads[k]); /* 64: a row of more than any buffer is not shared */
        void    *storage;

        PetscCall(SpmvBuild(SIDE, &t.csr, NULL, &plan, &storage));
        PetscCall(SpmvTestProducts(&FORMAT, &t.csr, storage, &wrong));
        PetscCall(Infinite(&t.csr, storage, &wrong));
        PetscCall(SpmvStorageDestroy(SIDE, &storage));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %d wrong\n", name, (int)wrong));
  PetscCall(GuardedDestroy(&t));
  PetscFunctionReturn(0);
}

static PetscErrorCode Lengths(void)
{
  PetscInt length[500];

  PetscFunctionBegin;
  for (PetscInt r = 0; r < 500; r++) length[r] = r % 5;
  PetscCall(Kernels("rows of 0 to 4", 500, 97, length, 3));
  for (PetscInt r = 0; r < 500; r++) length[r] = r * r % 9;
  PetscCall(Kernels("rows of 0 to 8", 500, 97, length, 3));
  for (PetscInt r = 0; r < 500; r++) length[r] = r * r % 41;
  PetscCall(Kernels("rows of 0 to 40", 500, 97, length, 3));
  for (PetscInt r = 0; r < 500; r++) length[r] = r % 16 == 3 ? 300 : r % 3;
  PetscCall(Kernels("rows of 300 and short ones", 500, 350, length, 3));
  for (PetscInt h = 2; h <= CSRADAPTIVE_NODE; h++) {
    for (PetscInt r = 0; r < 500; r++) length[r] = 1 + r / h % 37;
    PetscCall(Kernels("nodes", 500, 97, length, 0));
  }
  for (PetscInt r = 0; r < 3; r++) length[r] = r == 1 ? 100000 : 2;
  PetscCall(Kernels("a row of 100000", 3, 100003, length, 3));
  PetscCall(Kernels("a row of 100000 with repeated columns", 3, 600, length, 3));
  for (PetscInt l = CSRADAPTIVE_NNZ_MAX; l <= 2 * CSRADAPTIVE_NNZ_MAX;
       l += CSRADAPTIVE_NNZ_MAX / 2) { /* with what lanes past it read */
    length[1] = l - 3;
    PetscCall(Kernels("a row that may be a row block of CSR-Stream", 3, 8200, length, 3));
  }
  length[0] = 7;
  PetscCall(Kernels("one row of 7", 1, 9, length, 3));
  PetscFunctionReturn(0);
}

/* New values come in new arrays: the old ones may be gone */
static PetscErrorCode Values(void)
{
  const PetscInt length[] = {3, 0, 12, 40, 1};
  SpmvPlan       plan     = SpmvTestPlan(&FORMAT, SPMV_BACKEND_HOST);
  Guarded        before, after;
  void          *storage;
  PetscScalar    x[50], y[5], z[5];

  PetscFunctionBegin;
  PetscCall(GuardedCreate(5, 50, length, 3, 1, &before));
  PetscCall(GuardedCreate(5, 50, length, 3, 1, &after));
  for (PetscInt k = 0; k < 56; k++) after.a.a[k] *= 2;
  for (PetscInt k = 0; k < 50; k++) x[k] = k + 1;
  PetscCall(SpmvBuild(SIDE, &before.csr, NULL, &plan, &storage));
  FORMAT.host->kernels[SPMV_SCALAR]->apply(storage, x, y, PETSC_FALSE);
  PetscCall(GuardedDestroy(&before));
  PetscCall(SIDE->setvalues(&after.csr, storage));
  FORMAT.host->kernels[SPMV_SCALAR]->apply(storage, x, z, PETSC_FALSE);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "values twice as large:"));
  for (PetscInt r = 0; r < 5; r++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %s", z[r] == (PetscReal)2 * y[r] ? "yes" : "no"));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscCall(GuardedDestroy(&after));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Blocks());
  PetscCall(Memory());
  PetscCall(Lengths());
  PetscCall(Values());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
