static const char help[] =
  "The worked example of the CMRS paper, digit by digit, the padded variant, tails, segments, wide words.\n\n";

#include "spmvtest.h"
#include "mat/impls/cmrs/device/cmrs_device.h"
#include "mat/impls/cmrs/host/cmrs_host.h"

#define HOST   (&SpmvFormat_cmrs.host->side)
#define DEVICE (&SpmvFormat_cmrs.device->side)
#define MANY   ((1 << 28) + 1) /* columns that words of 32 bits do not hold */

/* A GPU, for plans that nobody runs */
static const SpmvDeviceInfo Gpu = {.name = "a GPU", .group = 1024, .local = 49152, .room = 1e9, .gpu = PETSC_TRUE};

static SpmvPlan Plan(PetscInt height, PetscInt threads)
{
  return (SpmvPlan){.value = {height}, .threads = threads};
}

static SpmvPlan DevicePlan(PetscInt height, CmrsOrder order)
{
  SpmvPlan plan = SpmvTestPlan(&SpmvFormat_cmrs, SPMV_BACKEND_DEVICE);

  plan.value[CMRS_DEVICE_HEIGHT] = height;
  plan.value[CMRS_DEVICE_ORDER]  = order;
  return plan;
}

/* What the storages of both sides have: entries in strips */
typedef struct {
  PetscInt           height, strips, nstored;
  size_t             wordsize;
  const PetscInt    *strip;
  const void        *word;
  const PetscScalar *value;
  const uint8_t     *items; /* NULL: no padding */
} Strips;

static Strips HostStrips(const CmrsStorage *c)
{
  return (Strips){c->height, c->strips, c->nz, c->wordsize, c->strip, c->word, c->value, NULL};
}

static Strips DeviceStrips(const CmrsDeviceStorage *c)
{
  return (Strips){c->height, c->strips, c->nstored, c->wordsize, c->strip, c->word, c->value, c->items};
}

static uint64_t Word(const Strips *c, PetscInt k)
{
  return c->wordsize == sizeof(uint32_t) ? ((const uint32_t *)c->word)[k] : ((const uint64_t *)c->word)[k];
}

/* Prints an array of a storage, a space before each number */
#define PRINT(name, count, value) \
  do { \
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s", name)); \
    for (PetscInt k = 0; k < (count); k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)(value))); \
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n")); \
  } while (0)

/* row = strip height + rowinstrip: the entries of each row must be those of the matrix, in the same order */
static PetscErrorCode CheckConversion(const SpmvCSR *csr, Strips c)
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(csr->m, &next));
  PetscCall(PetscArraycpy(next, csr->i, csr->m));
  for (PetscInt s = 0; s < c.strips; s++) {
    for (PetscInt k = c.strip[s]; k < c.strip[s + 1]; k++) {
      const uint64_t word = Word(&c, k);
      const PetscInt row  = s * c.height + (PetscInt)(word % CMRS_HEIGHT_MAX);

      if (c.items && k % CMRS_GROUP >= c.items[k / CMRS_GROUP]) continue;
      PetscCheck(row < csr->m && next[row] < csr->i[row + 1], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "row %" PetscInt_FMT " has too many entries", row);
      PetscCheck((PetscInt)(word >> CMRS_BITS) == csr->j[next[row]] && c.value[k] == csr->a[next[row]], PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "row %" PetscInt_FMT " has another entry %" PetscInt_FMT, row, next[row] - csr->i[row]);
      next[row]++;
    }
  }
  for (PetscInt r = 0; r < csr->m; r++)
    PetscCheck(next[r] == csr->i[r + 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %" PetscInt_FMT " misses entries", r);
  PetscCall(PetscFree(next));
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
static PetscErrorCode ShowStrips(const char name[], const SpmvSide *side, const void *storage, Strips c)
{
  char line[256];

  PetscFunctionBegin;
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF, "%s, height %" PetscInt_FMT ", words of %d bits\n", name, c.height, 8 * (int)c.wordsize));
  PRINT("val", c.nstored, PetscRealPart(c.value[k]));
  PRINT("colind", c.nstored, Word(&c, k) >> 4);
  PRINT("rowinstrip", c.nstored, Word(&c, k) & 15);
  PRINT("stripptr", c.strips + 1, c.strip[k]);
  if (c.items) PRINT("items of groups", c.nstored / CMRS_GROUP, c.items[k]);
  for (PetscInt k = 0; k < SPMV_LINE_MAX; k++) {
    PetscCall(side->describe(storage, k, line, sizeof(line)));
    if (line[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage with words of 64 bits has as many columns as 32 do not hold while it is built; products are made with those of t */
static PetscErrorCode Show(const char name[], const SpmvTestCSR *t, SpmvPlan plan, PetscBool wide)
{
  SpmvCSR      csr = SpmvTestCSRView(t);
  void        *storage;
  CmrsStorage *c;

  PetscFunctionBegin;
  if (wide) csr.n = MANY;
  PetscCall(SpmvBuild(HOST, &csr, NULL, &plan, &storage));
  c     = (CmrsStorage *)storage;
  csr.n = c->n = t->n;
  PetscCall(ShowStrips(name, HOST, storage, HostStrips(c)));
  PRINT("rows of steps", c->nsteps, c->active[k]);
  PetscCall(CheckConversion(&csr, HostStrips(c)));
  PetscCall(CheckProducts(&csr, c));
  PetscCall(SpmvStorageDestroy(HOST, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShowDevice(const char name[], const SpmvTestCSR *t, SpmvPlan plan, PetscBool wide)
{
  SpmvCSR csr = SpmvTestCSRView(t);
  void   *storage;

  PetscFunctionBegin;
  if (wide) csr.n = MANY;
  PetscCall(SpmvBuild(DEVICE, &csr, &Gpu, &plan, &storage));
  PetscCall(ShowStrips(name, DEVICE, storage, DeviceStrips((CmrsDeviceStorage *)storage)));
  PetscCall(CheckConversion(&csr, DeviceStrips((CmrsDeviceStorage *)storage)));
  PetscCall(SpmvStorageDestroy(DEVICE, &storage));
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
  SpmvCSR            csr  = SpmvTestCSRView(t);
  SpmvPlan           plan = DevicePlan(0, CMRS_PADDED);
  void              *storage;
  CmrsDeviceStorage *c;
  Strips             strips;

  PetscFunctionBegin;
  PetscCall(SpmvBuild(DEVICE, &csr, &Gpu, &plan, &storage));
  c      = (CmrsDeviceStorage *)storage;
  strips = DeviceStrips(c);
  for (PetscInt s = 0; s < c->strips; s++) {
    PetscInt longest = 0, first = csr.i[16 * s], end = csr.i[PetscMin(csr.m, 16 * s + 16)],
             groups = (c->strip[s + 1] - c->strip[s]) / CMRS_GROUP;

    for (PetscInt r = 16 * s; r < PetscMin(csr.m, 16 * s + 16); r++) longest = PetscMax(longest, csr.i[r + 1] - csr.i[r]);
    PetscCheck(c->strip[s] % CMRS_GROUP == 0 && groups == PetscMax((end - first + 31) / 32, (longest + 7) / 8), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "strip %" PetscInt_FMT " has %" PetscInt_FMT " groups", s, groups);
    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k += CMRS_GROUP) {
      PetscInt runs[CMRS_HEIGHT_MAX] = {0}, items[CMRS_HEIGHT_MAX] = {0}, before = -1;

      for (PetscInt q = k; q < k + c->items[k / CMRS_GROUP]; q++) {
        const PetscInt row = (PetscInt)(Word(&strips, q) & 15);

        runs[row] += row != before;
        items[row]++;
        before = row;
      }
      for (PetscInt r = 0; r < CMRS_HEIGHT_MAX; r++)
        PetscCheck(runs[r] <= 1 && items[r] <= CMRS_MODULO, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "group %" PetscInt_FMT ": %" PetscInt_FMT " items of a row in %" PetscInt_FMT " runs", k / CMRS_GROUP,
                   items[r], runs[r]);
    }
  }
  PetscCall(CheckConversion(&csr, strips));
  PetscCall(SpmvStorageDestroy(DEVICE, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups of a strip have its entries by column, and each group by row; the parts of strips that are shared have all of theirs */
static PetscErrorCode CheckGrouped(const SpmvTestCSR *t, PetscInt align)
{
  SpmvCSR            csr  = SpmvTestCSRView(t);
  SpmvPlan           plan = DevicePlan(0, CMRS_GROUPED);
  void              *storage;
  CmrsDeviceStorage *c;
  Strips             strips;
  size_t             part = 0, shared = 0;

  PetscFunctionBegin;
  plan.value[CMRS_DEVICE_ALIGN] = align;
  plan.value[CMRS_DEVICE_PART]  = 128;
  PetscCall(SpmvBuild(DEVICE, &csr, &Gpu, &plan, &storage));
  c      = (CmrsDeviceStorage *)storage;
  strips = DeviceStrips(c);
  PetscCall(CheckConversion(&csr, strips));
  for (PetscInt s = 0; s < c->strips; s++) {
    PetscInt group = -1, row = 0, before = 0, most = 0;

    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k++) {
      const PetscInt here = (k - c->strip[s] + c->strip[s] % align) / CMRS_GROUP, r = (PetscInt)(Word(&strips, k) & 15),
                     column = (PetscInt)(Word(&strips, k) >> CMRS_BITS);

      if (here != group) before = most;
      PetscCheck(here != group || r >= row, PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %" PetscInt_FMT " is not by row", k);
      PetscCheck(column >= before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %" PetscInt_FMT " is of a group before", k);
      most  = PetscMax(most, column);
      group = here;
      row   = r;
    }
    if (c->strip[s + 1] - c->strip[s] + c->strip[s] % align <= 128) continue;
    PetscCheck(c->longs[shared++] == ((uint64_t)s << 32 | part), PETSC_COMM_SELF, PETSC_ERR_PLIB, "strip %" PetscInt_FMT, s);
    for (PetscInt k = c->strip[s]; k < c->strip[s + 1]; k += (PetscInt)(c->parts[part++] >> 48)) {
      PetscCheck(part < c->nparts && (c->parts[part] & ((UINT64_C(1) << 48) - 1)) == (uint64_t)k && c->parts[part] >> 48 <= 128,
                 PETSC_COMM_SELF, PETSC_ERR_PLIB, "part %zu", part);
    }
  }
  PetscCheck(shared == c->nlongs && part == c->nparts && (!shared || c->longs[shared] == part), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%zu strips are shared, in %zu parts", shared, part);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d strips, aligned %d: %zu shared\n", (int)c->strips, (int)align, shared));
  PetscCall(SpmvStorageDestroy(DEVICE, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What auto stands for */
static PetscErrorCode ShowAuto(const SpmvTestCSR *t, const SpmvDeviceInfo *info)
{
  SpmvCSR  csr  = SpmvTestCSRView(t);
  SpmvPlan plan = SpmvTestPlan(&SpmvFormat_cmrs, SPMV_BACKEND_DEVICE);
  char     why[512];

  PetscFunctionBegin;
  PetscCall(SpmvResolve(DEVICE, &csr, info, &plan, why, sizeof(why)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d rows, %d entries, %zu processors: %s, aligned %d, height %s, parts of %d\n",
                        (int)csr.m, (int)csr.i[csr.m], info->units,
                        plan.value[CMRS_DEVICE_ORDER] == CMRS_COLUMNS ? "columns" : "grouped", (int)plan.value[CMRS_DEVICE_ALIGN],
                        plan.value[CMRS_DEVICE_HEIGHT] == CMRS_HEIGHT_MAX ? "16" : "less", (int)plan.value[CMRS_DEVICE_PART]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tails and segments, by one thread and several; a long row must be shared by the threads; and the device's orders */
static PetscErrorCode CheckLong(const char name[], const SpmvTestCSR *t, PetscBool shared)
{
  SpmvCSR csr = SpmvTestCSRView(t);
  void   *storage;

  PetscFunctionBegin;
  for (PetscInt threads = 1; threads <= 4; threads += 3) {
    SpmvPlan     plan = Plan(0, threads);
    CmrsStorage *c;

    PetscCall(SpmvBuild(HOST, &csr, NULL, &plan, &storage));
    c = (CmrsStorage *)storage;
    if (threads == 1)
      PetscCall(
        PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " tails, %" PetscInt_FMT " segments\n", name, c->ntails, c->nsegments));
    for (PetscInt k = 0; shared && k < threads; k++)
      PetscCheck(c->task[k].segment < c->task[k + 1].segment, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "thread %" PetscInt_FMT " has no part of the long row", k);
    PetscCall(CheckConversion(&csr, HostStrips(c)));
    PetscCall(CheckProducts(&csr, c));
    PetscCall(SpmvStorageDestroy(HOST, &storage));
  }
  for (int order = CMRS_COLUMNS; order <= CMRS_PADDED; order++) {
    SpmvPlan plan = DevicePlan(0, (CmrsOrder)order);

    PetscCall(SpmvBuild(DEVICE, &csr, &Gpu, &plan, &storage));
    PetscCall(CheckConversion(&csr, DeviceStrips((CmrsDeviceStorage *)storage)));
    PetscCall(SpmvStorageDestroy(DEVICE, &storage));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Words of 64 bits: steps of one band and of two, tails, segments */
static PetscErrorCode CheckWide(const SpmvTestCSR *t)
{
  PetscFunctionBegin;
  for (PetscInt height = 8; height <= CMRS_HEIGHT_MAX; height += 8) {
    SpmvCSR  csr  = SpmvTestCSRView(t);
    SpmvPlan plan = Plan(height, height / 4);
    void    *storage;

    csr.n = MANY;
    PetscCall(SpmvBuild(HOST, &csr, NULL, &plan, &storage));
    csr.n = ((CmrsStorage *)storage)->n = t->n;
    PetscCheck(((CmrsStorage *)storage)->wordsize == 8, PETSC_COMM_SELF, PETSC_ERR_PLIB, "words are not wide");
    PetscCall(CheckConversion(&csr, HostStrips((CmrsStorage *)storage)));
    PetscCall(CheckProducts(&csr, storage));
    PetscCall(SpmvStorageDestroy(HOST, &storage));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inf in x reaches the rows that have it, and no others */
static PetscErrorCode CheckInf(const SpmvTestCSR *t)
{
  SpmvCSR      csr  = SpmvTestCSRView(t);
  SpmvPlan     plan = Plan(0, 1);
  void        *storage;
  PetscScalar *x, *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(csr.n, &x, csr.m, &y));
  PetscCall(SpmvBuild(HOST, &csr, NULL, &plan, &storage));
  for (PetscInt column = 0; column < csr.n; column++) {
    for (PetscInt k = 0; k < csr.n; k++) x[k] = 1;
    x[column] = (PetscReal)INFINITY;
    for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
      const SpmvKernels *kernels = SpmvFormat_cmrs.host->kernels[isa];

      if (!SpmvIsaSupported((SpmvIsa)isa) || !kernels->apply) continue;
      kernels->apply(storage, x, y, PETSC_FALSE);
      for (PetscInt r = 0; r < csr.m; r++) {
        PetscBool has = PETSC_FALSE;

        for (PetscInt k = csr.i[r]; k < csr.i[r + 1]; k++) has = (PetscBool)(has || csr.j[k] == column);
        PetscCheck(PetscIsInfOrNanScalar(y[r]) == has &&
                     (!has || PetscDefined(USE_COMPLEX) || PetscIsInfReal(PetscRealPart(y[r]))),
                   PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " after Inf in column %" PetscInt_FMT,
                   SpmvIsaName(isa), r, column);
      }
    }
  }
  PetscCall(SpmvStorageDestroy(HOST, &storage));
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan is refused */
static PetscErrorCode CheckRefused(const SpmvCSR *csr, SpmvPlan plan, PetscInt align)
{
  char why[512];

  PetscFunctionBegin;
  plan.value[CMRS_DEVICE_ALIGN] = align;
  PetscCall(SpmvResolve(DEVICE, csr, &Gpu, &plan, why, sizeof(why)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "refused: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bits of the words of a matrix without entries, so that no memory is needed for its columns */
static PetscErrorCode ShowWord(PetscInt n)
{
  PetscInt none[] = {0, 0};
  SpmvCSR  csr    = {.m = 1, .n = n, .rbs = 1, .cbs = 1, .i = none};
  SpmvPlan plan   = Plan(0, 1);
  void    *storage;

  PetscFunctionBegin;
  PetscCall(SpmvBuild(HOST, &csr, NULL, &plan, &storage));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " columns: words of %d bits\n", n,
                        8 * (int)((CmrsStorage *)storage)->wordsize));
  PetscCall(SpmvStorageDestroy(HOST, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A strip of one row has eight lanes, too: those of row 2^28 begin at byte 2^31. Only the last pages of the arrays are touched */
static PetscErrorCode CheckMany(void)
{
  SpmvGuarded lanes = {0}, rows = {0};
  CmrsStorage c   = {.m = MANY, .height = 1, .strips = MANY, .bands = 1};
  SpmvCSR     csr = {.m = MANY, .n = 9};
  CmrsBand    band;
  PetscInt   *i;

  PetscFunctionBegin;
  PetscCall(SpmvGuardedCreate((PetscInt)(CMRS_VECTOR * (size_t)MANY / sizeof(PetscScalar) + 1), &lanes));
  PetscCall(SpmvGuardedCreate(MANY + 1, &rows));
  i       = (PetscInt *)(void *)rows.a;
  i[MANY] = 7;
  csr.i   = i;
  c.lane  = (uint8_t *)lanes.a;
  band    = CmrsBandOf(&csr, &c, MANY - 1);
  PetscCheck(band.rows == 1 && band.length[0] == 7, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "band of %" PetscInt_FMT " rows, of %" PetscInt_FMT " entries", band.rows, band.length[0]);
  PetscCall(SpmvGuardedDestroy(&lanes));
  PetscCall(SpmvGuardedDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt LengthPowers(PetscInt r)
{
  return r % 7 == 3 ? 0 : r == 20 ? 100000 : r % 31 == 5 ? 60 + r : 1 + r % 5;
}
static PetscInt LengthLong(PetscInt r)
{
  return r == 2 ? 100000 : 0;
}
static PetscInt LengthMany(PetscInt r)
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

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestCSRFromDense(5, 5, A, &t));
  PetscCall(ShowDevice("by rows", &t, DevicePlan(2, CMRS_ROWS), PETSC_FALSE));
  PetscCall(ShowDevice("by columns", &t, DevicePlan(2, CMRS_COLUMNS), PETSC_TRUE));
  PetscCall(Show("interleaved", &t, Plan(2, 1), PETSC_FALSE));
  PetscCall(Show("wide words", &t, Plan(2, 1), PETSC_TRUE));
  PetscCall(Show("height 1 is CSR", &t, Plan(1, 1), PETSC_FALSE));
  PetscCall(ShowDevice("padded", &t, DevicePlan(0, CMRS_PADDED), PETSC_FALSE));
  PetscCall(SpmvTestCSRDestroy(&t));

  PetscCall(Rows(100, 40, LengthShort, &t));
  PetscCall(CheckPadded(&t));
  for (PetscInt align = 1; align <= CMRS_GROUP; align += align == 1 ? 7 : 24) PetscCall(CheckGrouped(&t, align));
  PetscCall(ShowAuto(&t, &Gpu));
  PetscCall(CheckInf(&t));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Rows(300, 120000, LengthPowers, &t));
  PetscCall(CheckPadded(&t));
  for (PetscInt align = 1; align <= CMRS_GROUP; align += align == 1 ? 7 : 24) PetscCall(CheckGrouped(&t, align));
  PetscCall(CheckLong("rows of 0 to 100000 entries", &t, PETSC_FALSE));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Rows(5, 100000, LengthLong, &t));
  PetscCall(CheckLong("one row of 100000 entries", &t, PETSC_TRUE));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(Rows(19, 5000, LengthMany, &t));
  PetscCall(CheckLong("rows of 3000 entries", &t, PETSC_TRUE));
  PetscCall(SpmvTestCSRDestroy(&t));

  PetscCall(Rows(60, 5000, LengthMany, &t));
  PetscCall(ShowAuto(&t, &(SpmvDeviceInfo){.name = "a small GPU", .group = 1024, .local = 49152, .gpu = PETSC_TRUE, .units = 1}));
  PetscCall(
    ShowAuto(&t, &(SpmvDeviceInfo){.name = "a large GPU", .group = 1024, .local = 49152, .gpu = PETSC_TRUE, .units = 132}));
  PetscCall(SpmvTestCSRDestroy(&t));

  PetscCall(Rows(300, 5000, LengthPowers, &t));
  PetscCall(CheckWide(&t));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(CheckMany());
  PetscCall(ShowWord(MANY));
  PetscCall(ShowWord(MANY - 1));
  PetscCall(CheckRefused(&(SpmvCSR){.m = 1, .n = 9, .i = (const PetscInt[]){0, 0}}, DevicePlan(8, CMRS_PADDED), 0));
  PetscCall(CheckRefused(&(SpmvCSR){.m = 1, .n = 9, .i = (const PetscInt[]){0, 0}}, DevicePlan(0, CMRS_PADDED), 8));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test: # numbers are compared as they are: by itself PETSc ignores those with decimals
    diff_args: -j

TEST*/
