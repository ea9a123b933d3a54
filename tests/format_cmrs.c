static const char help[] = "The worked example of the CMRS paper, digit by digit, the padded variant, tails, segments, wide words.\n\n";

#include "spmvtest.h"
#include "mat/impls/cmrs/cmrs.h"

static SpmvPlan Plan(PetscInt height, CmrsOrder order, PetscInt word, PetscInt threads)
{
  return (SpmvPlan){.value = {height, order, word, 1}, .threads = threads};
}

/* Prints an array of a storage, a space before each number */
#define PRINT(name, count, value) \
  do { \
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s", name)); \
    for (PetscInt k = 0; k < (count); k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)(value))); \
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n")); \
  } while (0)

/* The storage as CSR again must be the matrix, bit by bit */
static PetscErrorCode CheckConversion(const SpmvCSR *csr, const CmrsStorage *c)
{
  const PetscInt nz = csr->i[csr->m];
  PetscInt      *i, *j;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(csr->m + 1, &i, nz, &j, nz, &a));
  PetscCall(CmrsGetCSR(c, i, j, a));
  PetscCheck(!memcmp(i, csr->i, sizeof(*i) * ((size_t)csr->m + 1)) && !memcmp(j, csr->j, sizeof(*j) * (size_t)nz) && !memcmp(a, csr->a, sizeof(*a) * (size_t)nz), PETSC_COMM_SELF, PETSC_ERR_PLIB, "not the same matrix after conversion to CSR");
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProducts(const SpmvCSR *csr, const void *storage)
{
  PetscInt wrong = 0;

  PetscFunctionBegin;
  PetscCall(SpmvTestProducts(&SpmvFormat_cmrs, csr, storage, &wrong));
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries of products are wrong", wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the arrays of a storage as the paper does */
static PetscErrorCode Show(const char name[], const SpmvTestCSR *t, SpmvPlan plan)
{
  SpmvCSR      csr = SpmvTestCSRView(t);
  void        *storage;
  CmrsStorage *c;
  char         line[256];

  PetscFunctionBegin;
  PetscCall(SpmvFormat_cmrs.build(&csr, &plan, &storage));
  c = (CmrsStorage *)storage;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, height %" PetscInt_FMT ", words of %d bits\n", name, c->height, 8 * (int)c->wordsize));
  PRINT("val", c->nstored, PetscRealPart(c->value[k]));
  PRINT("colind", c->nstored, CmrsGetWord(c, k) >> 4);
  PRINT("rowinstrip", c->nstored, CmrsGetWord(c, k) & 15);
  PRINT("stripptr", c->strips + 1, c->strip[k]);
  if (c->order == CMRS_ORDER_INTERLEAVED) PRINT("rows of steps", c->nsteps, c->active[k]);
  if (c->items) PRINT("items of groups", c->nstored / CMRS_GROUP, c->items[k]);
  for (PetscInt k = 0; k < SPMV_LINE_MAX; k++) {
    PetscCall(SpmvFormat_cmrs.describe(c, k, line, sizeof(line)));
    if (line[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", line));
  }
  PetscCall(CheckConversion(&csr, c));
  PetscCall(CheckProducts(&csr, c));
  PetscCall(SpmvFormat_cmrs.destroy(&storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* m rows of the lengths given by a function, columns k n / length */
static PetscErrorCode Rows(PetscInt m, PetscInt n, PetscInt (*length)(PetscInt), SpmvTestCSR *t)
{
  PetscFunctionBegin;
  t->m = m;
  t->n = n;
  PetscCall(PetscMalloc1(m + 1, &t->i));
  t->i[0] = 0;
  for (PetscInt r = 0; r < m; r++) t->i[r + 1] = t->i[r] + length(r);
  PetscCall(PetscMalloc1(t->i[m], &t->j));
  PetscCall(PetscMalloc1(t->i[m], &t->a));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt own = t->i[r + 1] - t->i[r];

    for (PetscInt k = 0; k < own; k++) {
      t->j[t->i[r] + k] = (PetscInt)((PetscInt64)k * n / own);
      t->a[t->i[r] + k] = (PetscReal)((r + 3 * k) % 11 - 5) / 7 + 1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At most CMRS_MODULO items of a row in a group, together; whole groups; no more groups than must be */
static PetscErrorCode CheckPadded(const SpmvTestCSR *t)
{
  SpmvCSR      csr  = SpmvTestCSRView(t);
  SpmvPlan     plan = Plan(0, CMRS_ORDER_PADDED, 0, 3);
  void        *storage;
  CmrsStorage *c;

  PetscFunctionBegin;
  PetscCall(SpmvFormat_cmrs.build(&csr, &plan, &storage));
  c = (CmrsStorage *)storage;
  for (PetscInt s = 0; s < c->strips; s++) {
    PetscInt longest = 0, first = csr.i[16 * s], end = csr.i[PetscMin(csr.m, 16 * s + 16)], groups = (c->strip[s + 1] - c->strip[s]) / CMRS_GROUP;

    for (PetscInt r = 16 * s; r < PetscMin(csr.m, 16 * s + 16); r++) longest = PetscMax(longest, csr.i[r + 1] - csr.i[r]);
    PetscCheck(c->strip[s] % CMRS_GROUP == 0 && groups == PetscMax((end - first + 31) / 32, (longest + 7) / 8), PETSC_COMM_SELF, PETSC_ERR_PLIB, "strip %" PetscInt_FMT " has %" PetscInt_FMT " groups", s, groups);
    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k += CMRS_GROUP) {
      PetscInt runs[CMRS_HEIGHT_MAX] = {0}, items[CMRS_HEIGHT_MAX] = {0}, before = -1;

      for (PetscInt q = k; q < k + c->items[k / CMRS_GROUP]; q++) {
        const PetscInt row = (PetscInt)(CmrsGetWord(c, q) & 15);

        runs[row] += row != before;
        items[row]++;
        before = row;
      }
      for (PetscInt r = 0; r < CMRS_HEIGHT_MAX; r++) PetscCheck(runs[r] <= 1 && items[r] <= CMRS_MODULO, PETSC_COMM_SELF, PETSC_ERR_PLIB, "group %" PetscInt_FMT ": %" PetscInt_FMT " items of a row in %" PetscInt_FMT " runs", k / CMRS_GROUP, items[r], runs[r]);
    }
  }
  PetscCall(CheckConversion(&csr, c));
  PetscCall(CheckProducts(&csr, c));
  PetscCall(SpmvFormat_cmrs.destroy(&storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All orders and threads on a matrix with tails and segments; a long row must be shared by the threads */
static PetscErrorCode CheckLong(const char name[], const SpmvTestCSR *t, PetscBool shared)
{
  SpmvCSR csr = SpmvTestCSRView(t);

  PetscFunctionBegin;
  for (PetscInt order = CMRS_ORDER_AUTO; order <= CMRS_ORDER_PADDED; order++) {
    for (PetscInt threads = 1; threads <= 4; threads += 3) {
      SpmvPlan     plan = Plan(0, (CmrsOrder)order, 0, threads);
      void        *storage;
      CmrsStorage *c;

      PetscCall(SpmvFormat_cmrs.build(&csr, &plan, &storage));
      c = (CmrsStorage *)storage;
      if (order == CMRS_ORDER_AUTO && threads == 1) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " tails, %" PetscInt_FMT " segments\n", name, c->ntails, c->nsegments));
      for (PetscInt k = 0; shared && k < threads; k++) {
        const PetscBool idle = order <= CMRS_ORDER_AUTO || order == CMRS_ORDER_INTERLEAVED ? (PetscBool)(c->share[k].segment == c->share[k + 1].segment) : (PetscBool)(c->share[k].entry == c->share[k + 1].entry);

        PetscCheck(!idle, PETSC_COMM_SELF, PETSC_ERR_PLIB, "thread %" PetscInt_FMT " has no part of the long row", k);
      }
      PetscCall(CheckConversion(&csr, c));
      PetscCall(CheckProducts(&csr, c));
      PetscCall(SpmvFormat_cmrs.destroy(&storage));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inf in x reaches the rows that have it, and no others; of padding nothing */
static PetscErrorCode CheckInf(const SpmvTestCSR *t)
{
  SpmvCSR      csr = SpmvTestCSRView(t);
  PetscScalar *x, *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(csr.n, &x, csr.m, &y));
  for (PetscInt order = CMRS_ORDER_ROWS; order <= CMRS_ORDER_PADDED; order++) {
    SpmvPlan plan = Plan(0, (CmrsOrder)order, 0, 1);
    void    *storage;

    PetscCall(SpmvFormat_cmrs.build(&csr, &plan, &storage));
    for (PetscInt column = 0; column < csr.n; column++) {
      for (PetscInt k = 0; k < csr.n; k++) x[k] = 1;
      x[column] = (PetscReal)INFINITY;
      for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
        if (!SpmvIsaSupported((SpmvIsa)isa) || !SpmvFormat_cmrs.kernels[isa]->apply) continue;
        SpmvFormat_cmrs.kernels[isa]->apply(storage, x, y, PETSC_FALSE);
        for (PetscInt r = 0; r < csr.m; r++) {
          PetscBool has = PETSC_FALSE;

          for (PetscInt k = csr.i[r]; k < csr.i[r + 1]; k++) has = (PetscBool)(has || csr.j[k] == column);
          PetscCheck(PetscIsInfOrNanScalar(y[r]) == has && (!has || PetscDefined(USE_COMPLEX) || PetscIsInfReal(PetscRealPart(y[r]))), PETSC_COMM_SELF, PETSC_ERR_PLIB, "order %" PetscInt_FMT ", %s: row %" PetscInt_FMT " after Inf in column %" PetscInt_FMT, order, SpmvIsaName(isa), r, column);
        }
      }
    }
    PetscCall(SpmvFormat_cmrs.destroy(&storage));
  }
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan that must be refused, and the message */
static PetscErrorCode Refused(const char name[], const SpmvCSR *csr, SpmvPlan plan)
{
  PetscErrorCode code;
  PetscLogDouble bytes;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = SpmvFormat_cmrs.bytes(csr, &plan, 8, &bytes);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", name, code == PETSC_ERR_ARG_OUTOFRANGE ? "refused" : "taken"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt LengthPowers(PetscInt r)
{
  return r % 7 == 3 ? 0 : r == 20     ? 100000
                        : r % 31 == 5 ? 60 + r
                                      : 1 + r % 5;
}
static PetscInt LengthLong(PetscInt r)
{
  return r == 2 ? 100000 : 0;
}
static PetscInt LengthWide(PetscInt r)
{
  return 3000 + 10 * r;
}
static PetscInt LengthShort(PetscInt r)
{
  return r * 7 % 13 == 1 ? 20 : r * 7 % 13 % 5;
}

int main(int argc, char **argv)
{
  const PetscScalar A[] = {1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 6, 0, 0, 7, 8, 9, 0, 0, 0, 0, 10};
  SpmvTestCSR       t;
  PetscInt          none[] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestCSRFromDense(5, 5, A, &t));
  PetscCall(Show("by rows", &t, Plan(2, CMRS_ORDER_ROWS, 0, 1)));
  PetscCall(Show("by columns", &t, Plan(2, CMRS_ORDER_COLUMNS, 64, 1)));
  PetscCall(Show("interleaved", &t, Plan(2, CMRS_ORDER_INTERLEAVED, 32, 1)));
  PetscCall(Show("height 1 is CSR", &t, Plan(1, CMRS_ORDER_AUTO, 0, 1)));
  PetscCall(Show("padded", &t, Plan(0, CMRS_ORDER_PADDED, 0, 1)));
  PetscCall(SpmvTestCSRDestroy(&t));

  PetscCall(Rows(100, 40, LengthShort, &t));
  PetscCall(CheckPadded(&t));
  PetscCall(CheckInf(&t));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Rows(300, 120000, LengthPowers, &t));
  PetscCall(CheckPadded(&t));
  PetscCall(CheckLong("rows of 0 to 100000 entries", &t, PETSC_FALSE));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Rows(5, 100000, LengthLong, &t));
  PetscCall(CheckLong("one row of 100000 entries", &t, PETSC_TRUE));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Rows(19, 5000, LengthWide, &t));
  PetscCall(CheckLong("rows of 3000 entries", &t, PETSC_TRUE));
  PetscCall(SpmvTestCSRDestroy(&t));

  /* no memory is needed for columns without entries */
  SpmvCSR wide = {.m = 1, .n = (1 << 28) + 1, .rbs = 1, .cbs = 1, .i = none};
  PetscCall(Refused("2^28 + 1 columns in 32 bits", &wide, Plan(0, CMRS_ORDER_AUTO, 32, 1)));
  PetscCall(Refused("2^28 + 1 columns", &wide, Plan(0, CMRS_ORDER_AUTO, 0, 1)));
  wide.n--;
  PetscCall(Refused("2^28 columns in 32 bits", &wide, Plan(0, CMRS_ORDER_AUTO, 32, 1)));
  PetscCall(Refused("padded, height 8", &wide, Plan(8, CMRS_ORDER_PADDED, 0, 1)));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test: # numbers are compared as they are: by itself PETSc ignores those with decimals
    diff_args: -j

TEST*/
