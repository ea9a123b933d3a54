static const char help[] = "The worked examples of the BCCOO paper, digit by digit, as its ERRATA recompute them.\n\n";

#include "spmvtest.h"
#include "host/shape.h"
#include "mat/impls/bccoo/bccoo_shapes.h"
#include "mat/impls/bccoo/host/bccoo_host.h"

/* A plan for one thread without a bunch */
static SpmvPlan Plan(PetscInt h, PetscInt w, BccooColumns columns, PetscInt tile, PetscInt slices)
{
  SpmvPlan plan = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);

  plan.value[BCCOO_BLOCK_HEIGHT] = h;
  plan.value[BCCOO_BLOCK_WIDTH]  = w;
  plan.value[BCCOO_COLUMNS]      = columns;
  plan.value[BCCOO_TILE]         = tile;
  plan.value[BCCOO_SLICES]       = slices;
  plan.value[BCCOO_BUNCH]        = 1;
  return plan;
}

static int Flag(const BccooBlocks *b, size_t q)
{
  return b->flags[q / 8] >> q % 8 & 1;
}

/* Builds a matrix under a plan and prints flags, block columns, values and, if there is a list, the block rows */
static PetscErrorCode Show(const char name[], PetscInt m, PetscInt n, const PetscScalar dense[], SpmvPlan plan)
{
  const SpmvSide *side = &SpmvFormat_bccoo.host->side;
  SpmvTestCSR     t;
  void           *storage;
  BccooBlocks    *b;

  PetscFunctionBegin;
  PetscCall(SpmvTestCSRFromDense(m, n, dense, &t));
  SpmvCSR csr = SpmvTestCSRView(&t);
  PetscCall(SpmvBuild(side, &csr, NULL, &plan, &storage));
  b = &((BccooStorage *)storage)->b;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, blocks of %" PetscInt_FMT "x%" PetscInt_FMT ", slices %" PetscInt_FMT "\n  flags",
                        name, b->h, b->w, b->slices));
  for (size_t q = 0; q < b->nblocks; q++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", Flag(b, q)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  columns"));
  for (size_t q = 0; q < b->nblocks; q++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)((int32_t *)b->column)[q]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  values"));
  for (size_t k = 0; k < b->nblocks * (size_t)(b->h * b->w); k++)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(b->value[k])));
  if (b->row) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  rows"));
    for (PetscInt k = 0; k < b->nrows; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->row[k]));
  }
  if (b->ntiles > 1) { /* start flag of a tile: it has a row stop */
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  result entries"));
    for (size_t k = 0; k < b->ntiles; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->entry[k]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  start flags"));
    for (size_t k = 0; k < b->ntiles; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", b->entry[k + 1] > b->entry[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  for (size_t q = b->nblocks; q < 8 * b->nflags; q++)
    PetscCheck(Flag(b, q), PETSC_COMM_SELF, PETSC_ERR_PLIB, "flag %zu of the padding is 0", q);
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* Fig. 8: the inclusive segmented scan of 16 values under the flags of C, and the products that end its segments */
static PetscErrorCode Figure8(const PetscScalar C[])
{
  const PetscInt input[] = {3, 2, 0, 2, 1, 0, 4, 2, 4, 3, 2, 2, 0, 1, 3, 1};
  SpmvPlan       plan    = Plan(1, 1, BCCOO_COLUMNS_INT32, 8, 1);
  PetscScalar    x[8], y[4], sum = 0;
  SpmvTestCSR    t;
  void          *storage;
  BccooBlocks   *b;

  PetscFunctionBegin;
  PetscCall(SpmvTestCSRFromDense(4, 8, C, &t));
  for (PetscInt k = 0; k < 16; k++) t.a[k] = input[k];
  for (PetscInt k = 0; k < 8; k++) x[k] = 1;
  SpmvCSR csr = SpmvTestCSRView(&t);
  PetscCall(SpmvBuild(&SpmvFormat_bccoo.host->side, &csr, NULL, &plan, &storage));
  b = &((BccooStorage *)storage)->b;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "Fig. 8\n  scan"));
  for (size_t q = 0; q < 16; q++) {
    sum += b->value[q];
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(sum)));
    if (!Flag(b, q)) sum = 0;
  }
  SpmvFormat_bccoo.host->kernels[SPMV_SCALAR]->apply(storage, x, y, PETSC_FALSE);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  product"));
  for (PetscInt r = 0; r < 4; r++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(y[r])));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscCall(SpmvStorageDestroy(&SpmvFormat_bccoo.host->side, &storage));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* Table IV: megabytes (10^6) that a product reads, with scalars of 4 bytes */
static PetscErrorCode TableIV(const char name[], const SpmvTestCSR *t, PetscInt h, PetscInt w, BccooColumns columns)
{
  const SpmvSide *side = &SpmvFormat_bccoo.host->side;
  SpmvCSR         csr  = SpmvTestCSRView(t);
  SpmvPlan        plan = Plan(h, w, columns, 512, 1);
  SpmvArray       arrays[SPMV_ARRAY_MAX];
  PetscInt        n;
  PetscLogDouble  bytes = 0;
  void           *storage;

  PetscFunctionBegin;
  PetscCall(SpmvBuild(side, &csr, NULL, &plan, &storage));
  PetscCall(side->arrays(storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++)
    bytes += arrays[k].aside ? 0 : (PetscLogDouble)arrays[k].count * (arrays[k].is_values ? 4 : arrays[k].size);
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, blocks of %" PetscInt_FMT "x%" PetscInt_FMT ", %s columns: %.2f MB\n", name, h, w,
                        columns == BCCOO_COLUMNS_INT32 ? "int32" : "uint16", (double)bytes / 1e6));
  PetscFunctionReturn(0);
}

/* m rows of `length` entries each: one dense block of columns, or `length` / 3 blocks of 3 x 3, `stride` block columns apart */
static PetscErrorCode Regular(PetscInt m, PetscInt length, PetscInt stride, SpmvTestCSR *t)
{
  PetscFunctionBegin;
  t->m = t->n = m;
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc1(m * length, &t->j));
  PetscCall(PetscCalloc1(m * length, &t->a));
  for (PetscInt r = 0; r <= m; r++) t->i[r] = r * length;
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = 0; k < length; k++) t->j[r * length + k] = stride ? (r / 3 % stride + k / 3 * stride) * 3 + k % 3 : k;
  }
  PetscFunctionReturn(0);
}

/* 32 slices of 44739243 block rows of 3 rows are 2^32 + 32 rows; block rows and columns past the last must not wrap */
static PetscErrorCode ManyRows(void)
{
  const BccooBlocks b           = {.slices = 32, .mb = 44739243, .h = 3};
  PetscInt          empty[2]    = {0, 0};
  SpmvPlan          plan        = Plan(8, 8, BCCOO_COLUMNS_INT32, 8, 1);
  SpmvCSR           csr         = {.m = 1, .n = INT32_MAX - BCCOO_BLOCK_MAX, .rbs = 1, .cbs = 1, .i = empty};
  char              why[2][256] = {"", ""};

  PetscFunctionBegin;
  PetscCheck(BccooStackRows(&b) == (size_t)4294967328, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu rows of all slices",
             BccooStackRows(&b));
  PetscCall(SpmvFormat_bccoo.host->side.allows(&csr, NULL, &plan, why[0], sizeof(why[0])));
  csr.n++;
  PetscCall(SpmvFormat_bccoo.host->side.allows(&csr, NULL, &plan, why[1], sizeof(why[1])));
  PetscCheck(!why[0][0] && why[1][0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "columns that are many: '%s', one more: '%s'", why[0],
             why[1]);
  csr       = (SpmvCSR){.m = PETSC_MAX_INT - 1, .n = 1, .rbs = 1, .cbs = 1, .i = empty};
  why[1][0] = 0;
  PetscCall(SpmvFormat_bccoo.host->side.allows(&csr, NULL, &plan, why[1], sizeof(why[1])));
  PetscCheck(why[1][0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "rows that are too many are allowed");
  PetscFunctionReturn(0);
}

/*
  The matrix of full blocks that discontinuous elements make, each with four neighbours, of which nobody declared the block size.
  Of complex numbers the columns are a ninth of the bytes: out of cache blocks gain less than the choice asks of them
*/
static PetscErrorCode Found(PetscInt size)
{
  const PetscInt blocks = 3000, apart[] = {0, 1, 70, 71, 900};
  SpmvTestCSR    t = {.m = size * blocks, .n = size * blocks};
  SpmvCSR        csr;
  SpmvPlan       plan = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);
  PetscInt       nz   = 0, h, w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(t.m + 1, &t.i));
  PetscCall(PetscMalloc1(5 * size * t.m, &t.j));
  PetscCall(PetscCalloc1(5 * size * t.m, &t.a));
  for (PetscInt r = 0; r < t.m; r++) {
    t.i[r] = nz;
    for (int k = 0; k < 5; k++) {
      for (PetscInt c = 0; c < size && r / size + apart[k] < blocks; c++) t.j[nz++] = (r / size + apart[k]) * size + c;
    }
  }
  for (PetscInt k = 0; k < nz; k++) t.a[k] = k; /* values that are few would leave blocks nothing to gain */
  t.i[t.m] = nz;
  csr      = SpmvTestCSRView(&t);
  SpmvShapeFind(&csr, BCCOO_BLOCK_MAX, &h, &w);
  if (!PetscDefined(USE_COMPLEX)) {
    PetscCheck(h == size && w == size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "found %" PetscInt_FMT " x %" PetscInt_FMT, h, w);
    PetscCall(SpmvPlanChoose(&csr, SPMV_ISA_COUNT, NULL, SPMV_NUMBER_bccoo, &plan, NULL));
    h = plan.value[BCCOO_BLOCK_HEIGHT];
    w = plan.value[BCCOO_BLOCK_WIDTH];
  }
  PetscCheck(h == size && w == size, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " x %" PetscInt_FMT " blocks where all are %" PetscInt_FMT " x %" PetscInt_FMT, h, w, size, size);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* Blocks with masks: first columns, masks as rows of two, values; entry by entry they are where the matrix has them */
static PetscErrorCode Masks(PetscInt m, PetscInt n, const PetscScalar dense[])
{
  const SpmvSide    *side = &SpmvFormat_bccoo.host->side;
  SpmvPlan           plan = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);
  SpmvTestCSR        t;
  void              *storage;
  const BccooMasked *s;
  const PetscScalar *v;

  PetscFunctionBegin;
  plan.value[BCCOO_FILL] = BCCOO_FILL_MASKS;
  PetscCall(SpmvTestCSRFromDense(m, n, dense, &t));
  SpmvCSR csr = SpmvTestCSRView(&t);
  PetscCall(SpmvBuild(side, &csr, NULL, &plan, &storage));
  s = ((BccooStorage *)storage)->masked;
  v = s->value;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " x %" PetscInt_FMT " with masks\n", m, n));
  for (PetscInt g = 0, k = 0; g < BccooCeil(m, BCCOO_MASKED_HEIGHT); g++) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  rows %" PetscInt_FMT ": %d and %d blocks\n", g * BCCOO_MASKED_HEIGHT,
                          s->count[2 * g], s->count[2 * g + 1]));
    for (int32_t end = (int32_t)k + s->count[2 * g] + s->count[2 * g + 1]; k < end; k++) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "    column %d:", (int)(s->word[k] >> BCCOO_MASKED_BITS)));
      for (int lane = 0; lane < BCCOO_MASKED_HEIGHT * BCCOO_MASKED_WIDTH; lane++)
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%d",
                              lane % BCCOO_MASKED_WIDTH ? " "
                              : lane                    ? ", "
                                                        : " ",
                              s->word[k] >> lane & 1 ? (int)PetscRealPart(*v++) : 0));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
    }
  }
  PetscCheck(v == s->value + s->nentries, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu values were not shown", s->nentries);
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* The tile that a plan is resolved to is one that users may ask for: it is kept in their files, and read from there */
static PetscErrorCode Tiles(void)
{
  const SpmvSide *side = &SpmvFormat_bccoo.host->side;
  const PetscInt  i[]  = {0, 1 << 20};
  const SpmvCSR   csr  = {.m = 1, .n = 1, .rbs = 1, .cbs = 1, .i = i};

  PetscFunctionBegin;
  for (PetscInt h = 1; h <= BCCOO_BLOCK_MAX; h++) {
    for (PetscInt w = 1; w <= BCCOO_BLOCK_MAX; w++) {
      SpmvPlan plan = Plan(h, w, BCCOO_COLUMNS_INT32, 0, 1);

      plan.value[BCCOO_BUNCH]  = BCCOO_LANES;
      plan.value[BCCOO_VALUES] = SPMV_VALUES_PLAIN;
      PetscCall(side->resolve(&csr, NULL, &plan));
      PetscCheck(plan.value[BCCOO_TILE] && SpmvParamAllows(&side->params[BCCOO_TILE], plan.value[BCCOO_TILE]), PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "blocks of %" PetscInt_FMT " x %" PetscInt_FMT " have tiles of %" PetscInt_FMT, h, w,
                 plan.value[BCCOO_TILE]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* Fig. 1, with a to p as 1 to 16 */
  const PetscScalar A[] = {0, 0, 1, 0, 0, 0, 2, 3, 0, 0, 4, 5, 0, 0, 6, 0, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0, 13, 14, 15, 16};
  /* Fig. 7(a), with A' to P' as 1 to 16 */
  const PetscScalar C[] = {1, 0, 2, 0, 3, 0, 4, 5, 0, 0, 0, 6, 0, 0, 7, 0, 0, 8, 0, 9, 0, 10, 0, 0, 0, 11, 12, 13, 0, 14, 15, 16};
  /* block rows 1 and 4 of 6 occupied: leading, middle and trailing empty ones */
  const PetscScalar E[] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0,
                           0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  /* two blocks of five entries, which come before one of four; the last column's, which begins at the one before; one row */
  const PetscScalar M[]      = {1,  2, 3,  0, 0,  0,  0, 0,  4,  5, 0, 6, 7, 0, 0, 8, 9, 0,
                                10, 0, 11, 0, 12, 13, 0, 14, 15, 0, 0, 0, 0, 0, 0, 0, 16};
  const PetscScalar none[12] = {0};
  SpmvTestCSR       t;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Show("A", 4, 8, A, Plan(2, 2, BCCOO_COLUMNS_INT32, 8, 1)));
  PetscCall(Show("A", 4, 8, A, Plan(2, 2, BCCOO_COLUMNS_INT32, 8, 2)));
  PetscCall(Show("C", 4, 8, C, Plan(1, 1, BCCOO_COLUMNS_INT32, 4, 1)));
  PetscCall(Show("empty block rows", 12, 3, E, Plan(2, 2, BCCOO_COLUMNS_INT32, 8, 1)));
  PetscCall(Show("no entries", 4, 3, none, Plan(2, 2, BCCOO_COLUMNS_INT32, 8, 1)));
  PetscCall(Masks(4, 8, A));
  PetscCall(Masks(5, 7, M));
  PetscCall(Masks(4, 3, none));
  PetscCall(Figure8(C));
  PetscCall(ManyRows());
  PetscCall(Tiles());
  for (PetscInt size = 3; size <= 8; size++) PetscCall(Found(size));
  PetscCall(Regular(2000, 2000, 0, &t));
  PetscCall(TableIV("Dense", &t, 4, 4, BCCOO_COLUMNS_INT32));
  PetscCall(TableIV("Dense", &t, 4, 4, BCCOO_COLUMNS_UINT16));
  PetscCall(TableIV("Dense", &t, 4, 2, BCCOO_COLUMNS_UINT16));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Regular(49152, 39, 1260, &t));
  PetscCall(TableIV("QCD", &t, 3, 1, BCCOO_COLUMNS_UINT16));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test: # numbers are compared as they are: by itself PETSc ignores those with decimals
    diff_args: -j

TEST*/
