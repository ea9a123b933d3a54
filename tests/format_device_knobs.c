static const char help[] = "What formats make for a device: lists and arrays, what they refuse, atomics on a device that is "
                           "taken for a GPU, shares that are cut, local memory.\n\n";

#include "formatdevice.h"
#include "device/ondevice.h"
#include "mat/impls/cmrs/device/cmrs_device.h"
#include "mat/impls/csradaptive/device/csradaptive_device.h"
#include "mat/impls/pmf/device/pmf_device.h"
#include "mat/impls/tpspmv/device/tpspmv_device.h"

/* A GPU that nobody has */
static const SpmvDeviceInfo Gpu = {
  .name = "a GPU", .group = 256, .local = 49152, .room = 1e9, .gpu = PETSC_TRUE, .forward = PETSC_TRUE, .atomic64 = PETSC_TRUE};

/* The names of the arrays that a device is sent */
static PetscErrorCode Arrays(const SpmvOnDevice *on)
{
  SpmvArray arrays[2 * SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceArrays(on, &n, arrays));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s sends:", on->format->name));
  for (PetscInt k = 0; k < n; k++) {
    if (!arrays[k].aside)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s %s%s", k ? "," : "", arrays[k].name, arrays[k].borrowed ? " (AIJ's)" : ""));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(0);
}

/* The kernels of a plan are compiled as other PETScs would have them: complex numbers, 64-bit integers, each precision. What
   comes last counts */
static PetscErrorCode Compiles(const SpmvOnDevice *on)
{
  char  options[2 * SPMV_DEVICE_OPTIONS];
  void *program;

  PetscFunctionBegin;
  for (int bits = 32; bits <= 64; bits += 32) {
    PetscCall(
      PetscSNPrintf(options, sizeof(options), "%s -w -DREAL_BITS=%d -DCOMPLEX=1 -DINDEX_BITS=64", on->product.options, bits));
    PetscCall(SpmvProgramGet(on->device, on->format->device->source, options, &program));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode List(const char name[], size_t n, const int32_t list[])
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s:", name));
  for (size_t k = 0; k < n; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)list[k]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(0);
}

/* Figure 5 and some short rows: the lists; then atomics, again after the values moved, many rows shared by many work groups */
static PetscErrorCode Csradaptive(SpmvDevice *device)
{
  static const char *const        kernels[]  = {"stream", "vector", "vectorl"};
  const SpmvFormat               *f          = &SpmvFormat_csradaptive;
  const PetscBool                 forward    = device->info.forward;
  SpmvPlan                        plan       = Plan(f), other;
  PetscInt                        length[12] = {2048, 3072, 512, 300, 5, 0, 0, 5, 700}, wrong = 0;
  SpmvDeviceInfo                  info = Gpu;
  SpmvTestCSR                     t, moved;
  SpmvCSR                         csr;
  SpmvOnDevice                   *on;
  PetscBool                       nomem;
  const CsradaptiveDeviceStorage *b;

  PetscFunctionBegin;
  PetscCall(Rows(9, 5000, length, &t));
  csr                                    = SpmvTestCSRView(&t);
  plan.value[CSRADAPTIVE_NNZ_PER_WG]     = 512;
  plan.value[CSRADAPTIVE_NNZ_MULTIPLIER] = 2;
  other                                  = plan;
  PetscCall(SpmvOnDeviceCreate(device, f, &csr, &other, NULL, &on, &nomem));
  b = (const CsradaptiveDeviceStorage *)on->storage;
  PetscCall(Arrays(on));
  for (int kernel = 0; kernel < CSRADAPTIVE_LISTS; kernel++) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s:", kernels[kernel]));
    for (size_t k = 0; k < b->rows.amount[kernel].blocks; k++) {
      const CsradaptiveListed *l = &b->list[kernel][k];

      PetscCall(PetscPrintf(PETSC_COMM_SELF, " row %d, %d, from %d %d;", (int)(l->row >> 32), (int)(l->row & UINT32_MAX),
                            (int)l->entries, (int)(l->entries >> 48)));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  }
  PetscCall(List("parts", b->rows.amount[CSRADAPTIVE_VECTORL].rows + 1, b->part));
  PetscCall(SpmvOnDeviceDestroy(&on));

  other                                     = plan;
  other.value[CSRADAPTIVE_DEVICE_WORKGROUP] = 512;
  PetscCall(Refused(f, &t, other, "a work group of 512 where 256 are the most", info));
  info.local = 1024;
  PetscCall(Refused(f, &t, plan, "1 kB of local memory", info));
  plan.value[CSRADAPTIVE_DEVICE_PARTS] = CSRADAPTIVE_PARTS_ATOMIC;
  info                                 = Gpu;
  info.forward                         = PETSC_FALSE;
  PetscCall(Refused(f, &t, plan, "atomic on a GPU without fences of device scope", info));
  info.gpu = PETSC_FALSE;
  PetscCall(Refused(f, &t, plan, "atomic on a device that is no GPU", info));
  info          = Gpu;
  info.atomic64 = PETSC_FALSE;
  if (sizeof(PetscReal) == 8) PetscCall(Refused(f, &t, plan, NULL, info));
  PetscCall(RowsDestroy(&t));

  for (PetscInt r = 0; r < 12; r++) length[r] = r % 3 ? 1000 - 50 * r : r;
  plan.value[CSRADAPTIVE_NNZ_PER_WG]       = 64;
  plan.value[CSRADAPTIVE_NNZ_MULTIPLIER]   = 1;
  plan.value[CSRADAPTIVE_DEVICE_WORKGROUP] = 16;
  for (int parts = CSRADAPTIVE_PARTS_KERNEL; parts <= CSRADAPTIVE_PARTS_ATOMIC; parts++) {
    PetscCall(Rows(12, 1000, length, &t));
    PetscCall(Rows(12, 1000, length, &moved));
    for (PetscInt k = 0; k < moved.i[12]; k++) moved.a[k] *= 2;
    csr                                   = SpmvTestCSRView(&t);
    other                                 = plan;
    other.value[CSRADAPTIVE_DEVICE_PARTS] = parts;
    device->info.forward                  = PETSC_TRUE; /* so that the atomics run; what runs here does let work groups go on */
    PetscCall(SpmvOnDeviceCreate(device, f, &csr, &other, NULL, &on, &nomem));
    PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
    PetscCall(Compiles(on));
    PetscCall(Products(&csr, on, &wrong));
    PetscCall(RowsDestroy(&t)); /* new values come in new arrays, and the old ones may be gone */
    csr = SpmvTestCSRView(&moved);
    PetscCall(SpmvOnDeviceSetValues(on, &csr, &nomem));
    PetscCall(Products(&csr, on, &wrong));
    PetscCall(SpmvOnDeviceDestroy(&on));
    PetscCall(RowsDestroy(&moved));
    device->info.forward = forward;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "parts %s: %" PetscInt_FMT " entries wrong\n",
                          f->device->side.params[CSRADAPTIVE_DEVICE_PARTS].names[parts], wrong));
  }
  PetscFunctionReturn(0);
}

/* What is sent; padded strips of unlike length, with a row of 300 entries */
static PetscErrorCode Cmrs(SpmvDevice *device)
{
  const SpmvFormat *f = &SpmvFormat_cmrs;
  SpmvPlan          plan;
  PetscInt          length[100], wrong = 0;
  SpmvDeviceInfo    info = Gpu;
  SpmvTestCSR       t;
  SpmvCSR           csr;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < 100; r++) length[r] = r == 37 ? 300 : r * r % 13;
  PetscCall(Rows(100, 300, length, &t));
  csr = SpmvTestCSRView(&t);
  for (int order = CMRS_COLUMNS; order <= CMRS_PADDED; order++) {
    for (int wide = 0; wide < 2;
         wide++) { /* words of 64 bits, for as many columns as 32 do not hold: so many only while it is built */
      SpmvOnDevice *on;
      PetscBool     nomem;

      plan                          = Plan(f);
      plan.value[CMRS_DEVICE_ORDER] = order;
      csr.n                         = wide ? (1 << 28) + 1 : t.n;
      PetscCall(SpmvOnDeviceCreate(device, f, &csr, &plan, NULL, &on, &nomem));
      PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
      PetscCheck(strstr(on->product.options, wide ? "-DWORD_BITS=64" : "-DWORD_BITS=32"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "words");
      csr.n = on->n = t.n;
      if (!wide) PetscCall(Arrays(on));
      if (order != CMRS_ROWS) PetscCall(Compiles(on)); /* the kernel of columns */
      PetscCall(Products(&csr, on, &wrong));
      PetscCall(SpmvOnDeviceDestroy(&on));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "order %s: %" PetscInt_FMT " entries wrong\n",
                          Name(&f->device->side.params[CMRS_DEVICE_ORDER], order), wrong));
  }
  plan                              = Plan(f);
  plan.value[CMRS_DEVICE_WORKGROUP] = 512;
  plan.value[CMRS_DEVICE_HEIGHT]    = 16;
  info.local                        = 1 << 20;
  PetscCall(Refused(f, &t, plan, "a work group of 512 where 256 are the most", info));
  info.group = 1024;
  info.local = 16384;
  PetscCall(Refused(f, &t, plan, "strips of 16 rows in 16 kB of local memory", info));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* The share of a device with little room: what is built fits with its vectors, and uses most of the room */
static PetscErrorCode PmfCut(SpmvDevice *device, const SpmvTestCSR *t, SpmvPlan plan, const char what[], PetscLogDouble room)
{
  const SpmvFormat    *f     = &SpmvFormat_pmf;
  const PetscLogDouble limit = device->limit, before = device->held;
  SpmvPlan             host  = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  SpmvCSR              csr   = SpmvTestCSRView(t);
  PetscInt             wrong = 0;
  SpmvOnDevice        *on;
  PetscBool            nomem;

  PetscFunctionBegin;
  device->limit             = before + room;
  device->info.room         = room;
  host.threads              = plan.threads;
  host.value[PMF_PARTITION] = plan.value[PMF_PARTITION];
  PetscCall(SpmvOnDeviceCreate(device, f, &csr, &plan, &host, &on, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: the device is out of memory", what);
  PetscCall(Products(&csr, on, &wrong)); /* with vectors, or it ends */
  PetscCheck(device->held - before > 0.8 * room, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: of %g bytes the device uses %g", what,
             (double)room, (double)(device->held - before));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "pmf, %s: %" PetscInt_FMT " of %" PetscInt_FMT " parts, %" PetscInt_FMT " entries wrong\n", what,
                        plan.value[PMF_DEVICE_PARTS], plan.value[PMF_POWERS], wrong));
  PetscCall(SpmvOnDeviceDestroy(&on));
  device->limit     = limit;
  device->info.room = limit - before;
  PetscFunctionReturn(0);
}

/* A share that must be left as it is */
static PetscErrorCode PmfUncut(const SpmvTestCSR *t, SpmvPlan plan, const char what[], PetscLogDouble room)
{
  const SpmvDeviceInfo info  = {.name = "a device", .group = 1024, .local = 49152, .room = room};
  const SpmvPlan       given = plan;
  const SpmvCSR        csr   = SpmvTestCSRView(t);
  char                 why[512];

  PetscFunctionBegin;
  PetscCall(SpmvResolve(&SpmvFormat_pmf.device->side, &csr, &info, &plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", what, why);
  PetscCheck(plan.value[PMF_DEVICE_PARTS] == given.value[PMF_DEVICE_PARTS] && plan.value[PMF_POWERS] == given.value[PMF_POWERS] &&
               !memcmp(plan.list, given.list, sizeof(plan.list)),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "a share is cut %s", what);
  PetscFunctionReturn(0);
}

static PetscErrorCode Pmf(SpmvDevice *device)
{
  SpmvPlan       plan = Plan(&SpmvFormat_pmf), given;
  PetscInt       length[3000];
  PetscLogDouble whole;
  SpmvTestCSR    t;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < 3000; r++) length[r] = r % 500 == 77 ? 400 : 5 + r % 7;
  PetscCall(Rows(3000, 1000, length, &t));
  whole = (PetscLogDouble)t.i[3000] * (sizeof(PetscScalar) + 2) + 4000 * sizeof(PetscScalar);
  PetscCall(PmfCut(device, &t, plan, "half the room", whole / 2));
  plan.threads = 4;
  PetscCall(PmfCut(device, &t, plan, "a fifth of the room and threads", whole / 5));
  given                         = plan;
  given.value[PMF_DEVICE_PARTS] = 2;
  given.value[PMF_POWERS]       = 3;
  given.list[0]                 = 30;
  given.list[1]                 = 10;
  given.list[2]                 = 5;
  PetscCall(PmfCut(device, &t, given, "a third of the room and powers that were given", whole / 3));
  given.value[PMF_PARTITION] = PMF_BY_DIAGONAL;
  PetscCall(PmfCut(device, &t, given, "a third of the room and blocks along the diagonal", whole / 3));
  PetscCall(PmfUncut(&t, given, "that fits", 100 * whole));
  PetscCall(PmfUncut(&t, given, "to nothing", 1000));
  given.value[PMF_DEVICE_CUT] = 0;
  PetscCall(PmfUncut(&t, given, "that is not to be", whole / 3));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* A GPU of 132 processors with 50 MiB that they share */
static const SpmvDeviceInfo Large = {
  .name = "a large GPU", .group = 1024, .local = 49152, .units = 132, .cache = 50 << 20, .room = 1e12, .gpu = PETSC_TRUE};

/* One that is no GPU, with 512 KiB */
static const SpmvDeviceInfo Small = {
  .name = "a small device", .group = 1024, .local = 49152, .units = 1, .cache = 512 << 10, .room = 1e12};

/* One of few processors */
static const SpmvDeviceInfo Few = {
  .name = "a small GPU", .group = 1024, .local = 49152, .units = 10, .cache = 4 << 20, .room = 1e12, .gpu = PETSC_TRUE};

/* An MI250X, whose OpenCL tells 16 KiB */
static const SpmvDeviceInfo Amd = {
  .name = "an MI250X", .group = 256, .local = 65536, .units = 110, .cache = 16 << 10, .room = 1e12, .gpu = PETSC_TRUE};

/* m x n rows of so many entries: from the diagonal on, or anywhere */
static PetscErrorCode Alike(PetscInt m, PetscInt n, PetscInt entries, PetscBool anywhere, SpmvTestCSR *t)
{
  uint64_t state = 1;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = n};
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc2(m * entries, &t->j, m * entries, &t->a));
  for (PetscInt r = 0; r <= m; r++) t->i[r] = r * entries;
  for (PetscInt k = 0; k < m * entries; k++) {
    const PetscInt part = n / entries, near = (PetscInt)((double)(k / entries) / m * (n - entries)) + k % entries;

    state   = state * 6364136223846793005 + 1442695040888963407;
    t->j[k] = anywhere ? k % entries * part + (PetscInt)((state >> 33) % (uint64_t)part) : near;
    t->a[k] = 1;
  }
  PetscFunctionReturn(0);
}

/* How many work items share a row, which slices and work groups that makes */
static PetscErrorCode PmfShared(const SpmvDeviceInfo *info, PetscInt m, PetscInt entries)
{
  SpmvPlan    plan = Plan(&SpmvFormat_pmf);
  SpmvTestCSR t;
  SpmvCSR     csr;
  char        why[512];

  PetscFunctionBegin;
  PetscCall(Alike(m, m, entries, PETSC_FALSE, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvResolve(&SpmvFormat_pmf.device->side, &csr, info, &plan, why, sizeof(why)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "pmf, %s, %" PetscInt_FMT " rows of %" PetscInt_FMT ": ", info->name, m, entries));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%" PetscInt_FMT " work items a row, slices of %" PetscInt_FMT ", work groups of %" PetscInt_FMT "\n",
                        plan.value[PMF_DEVICE_LANES], plan.value[PMF_DEVICE_SLICE], plan.value[PMF_DEVICE_WORKGROUP]));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Columns have 16 bits in some slices and 32 in others: 300 rows near the diagonal, 300 that reach from end to end, one long of
   each */
static PetscErrorCode Mixed(SpmvDevice *device, const SpmvFormat *f, SpmvPlan plan)
{
  const PetscInt m = 602, n         = 200000;
  PetscInt       length[602], wrong = 0, narrays;
  SpmvTestCSR    t;
  SpmvCSR        csr;
  SpmvOnDevice  *on;
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscBool      nomem;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) length[r] = r < 300 ? 3 + r % 5 : r < 600 ? 9 + r % 7 : 5000;
  PetscCall(Rows(m, n, length, &t));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = t.i[r]; k < t.i[r + 1] && (r < 300 || r == 600); k++) t.j[k] = 100 * r + 7 * (k - t.i[r]);
  }
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvOnDeviceCreate(device, f, &csr, &plan, NULL, &on, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(Products(&csr, on, &wrong));
  PetscCall(SpmvOnDeviceArrays(on, &narrays, arrays));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, columns of both kinds:", f->name));
  for (PetscInt k = 0; k < narrays; k++) {
    if (strstr(arrays[k].name, "columns")) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %zu x %zu", arrays[k].count, arrays[k].size));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "; %" PetscInt_FMT " entries wrong\n", wrong));
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Tiles by the cache of the device, for an x of 200000: of columns near each other none are needed, however small the cache is */
static PetscErrorCode TpspmvByCache(const SpmvDeviceInfo *info, PetscBool anywhere, const char what[])
{
  SpmvPlan    plan = Plan(&SpmvFormat_tpspmv);
  SpmvTestCSR t;
  SpmvCSR     csr;
  char        why[512];

  PetscFunctionBegin;
  PetscCall(Alike(20000, 200000, 64, anywhere, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvResolve(&SpmvFormat_tpspmv.device->side, &csr, info, &plan, why, sizeof(why)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "tpspmv, %s, %s: %s for a cache of %" PetscInt_FMT " KiB, work groups of %" PetscInt_FMT "\n", info->name,
                        what, plan.value[TPSPMV_TILE] < csr.n ? "several tiles" : "one tile", plan.value[TPSPMV_CACHE],
                        plan.value[TPSPMV_WORKGROUP]));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Entries of the segments of long rows, where nothing is given: so many rows alike, and a last one */
static PetscErrorCode TpspmvLong(const SpmvDeviceInfo *info, PetscInt rows, PetscInt entries, PetscInt last)
{
  SpmvPlan                 plan   = Plan(&SpmvFormat_tpspmv);
  SPMV_TEMPORARY PetscInt *length = NULL;
  SpmvTestCSR              t;
  SpmvCSR                  csr;
  char                     why[512];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows + 1, &length));
  for (PetscInt r = 0; r <= rows; r++) length[r] = r < rows ? entries : last;
  PetscCall(Rows(rows + 1, 1000000, length, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvResolve(&SpmvFormat_tpspmv.device->side, &csr, info, &plan, why, sizeof(why)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "tpspmv, %s, %" PetscInt_FMT " rows of %" PetscInt_FMT " entries and one of %" PetscInt_FMT
                        ": segments of %" PetscInt_FMT "\n",
                        info->name, rows, entries, last, plan.value[TPSPMV_LONG]));
  plan                    = Plan(&SpmvFormat_tpspmv);
  plan.value[TPSPMV_LONG] = 255;
  PetscCall(SpmvResolve(&SpmvFormat_tpspmv.device->side, &csr, info, &plan, why, sizeof(why)));
  PetscCheck(plan.value[TPSPMV_LONG] == 255, PETSC_COMM_SELF, PETSC_ERR_PLIB, "segments of 255 were asked for, and are %d",
             (int)plan.value[TPSPMV_LONG]);
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* A row with more partial sums than a work item is to add up, of one tile and of several */
static PetscErrorCode TpspmvMany(SpmvDevice *device)
{
  static const PetscInt tiles[] = {TPSPMV_ALL, 1024};
  PetscInt              length[50], wrong = 0;
  SpmvTestCSR           t;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < 50; r++) length[r] = r == 20 ? 3000 : r == 31 ? 2100 : r % 9;
  PetscCall(Rows(50, 4000, length, &t));
  for (int k = 0; k < 2; k++) {
    SpmvPlan      plan = Plan(&SpmvFormat_tpspmv);
    SpmvCSR       csr  = SpmvTestCSRView(&t);
    SpmvOnDevice *on;
    PetscBool     nomem;

    plan.value[TPSPMV_TILE] = tiles[k];
    plan.value[TPSPMV_LONG] = 8;
    PetscCall(SpmvOnDeviceCreate(device, &SpmvFormat_tpspmv, &csr, &plan, NULL, &on, &nomem));
    PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
    PetscCall(Products(&csr, on, &wrong));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "tpspmv, %s: %zu rows of many partial sums, %" PetscInt_FMT " entries wrong\n",
                          k ? "several tiles" : "one tile", ((TpspmvStrips *)on->storage)->nmany, wrong));
    PetscCall(SpmvOnDeviceDestroy(&on));
  }
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* The x of a tile goes to local memory by itself only if that leaves half of it */
static PetscErrorCode Tpspmv(void)
{
  const SpmvFormat *f = &SpmvFormat_tpspmv;
  PetscInt          length[64];
  SpmvPlan          plan = Plan(f);
  SpmvTestCSR       t;
  SpmvCSR           csr;
  void             *storage;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < 64; r++) length[r] = 2048;
  PetscCall(Rows(64, 2048, length, &t));
  csr                     = SpmvTestCSRView(&t);
  plan.value[TPSPMV_TILE] = 2048;
  PetscCall(SpmvBuild(&f->device->side, &csr, &Gpu, &plan, &storage));
  for (size_t parts = 1; parts <= 2; parts++) {
    const SpmvDeviceInfo info    = {.name = "a device", .group = 1024, .local = parts * 2048 * sizeof(PetscScalar)};
    SpmvDeviceProduct    product = {.nlaunches = 0};

    PetscCall(f->device->product(storage, &plan, &info, &product));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "tpspmv, %zu times the x of a tile fits: %s\n", parts,
                          strstr(product.options, "-DSTAGE=2048") ? "staged"
                          : strstr(product.options, "-DSTAGE=0")  ? "not staged"
                                                                  : product.options));
  }
  PetscCall(SpmvStorageDestroy(&f->device->side, &storage));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvDevice *device;

  PetscFunctionBeginUser;
  PetscCall(Begin(&argc, &argv, help, &device));
  if (device) {
    PetscCall(Csradaptive(device));
    PetscCall(Cmrs(device));
    PetscCall(Pmf(device));
    PetscCall(PmfShared(&Large, 300000, 7));
    PetscCall(PmfShared(&Large, 100000, 7));
    PetscCall(PmfShared(&Large, 10000, 40));
    PetscCall(PmfShared(&Large, 10000, 3));
    PetscCall(PmfShared(&Small, 10000, 40));
    SpmvPlan one = Plan(&SpmvFormat_pmf), whole = Plan(&SpmvFormat_tpspmv);

    one.value[PMF_DEVICE_LANES] = 1;   /* on every device: a GPU would have several for so few rows, */
    whole.value[TPSPMV_LONG]    = 128; /* and shorter segments */
    PetscCall(Mixed(device, &SpmvFormat_pmf, one));
    PetscCall(Mixed(device, &SpmvFormat_tpspmv, whole));
    PetscCall(Tpspmv());
    PetscCall(TpspmvByCache(&Large, PETSC_TRUE, "columns anywhere"));
    PetscCall(TpspmvByCache(&Amd, PETSC_TRUE, "columns anywhere"));
    PetscCall(TpspmvByCache(&Small, PETSC_TRUE, "columns anywhere"));
    PetscCall(TpspmvByCache(&Small, PETSC_FALSE, "columns near each other"));
    PetscCall(TpspmvLong(&Large, 12288, 71, 71));     /* fewer pairs than a large GPU can have at once */
    PetscCall(TpspmvLong(&Large, 40000, 71, 71));     /* nearly enough */
    PetscCall(TpspmvLong(&Large, 80000, 71, 71));     /* enough */
    PetscCall(TpspmvLong(&Large, 12288, 7, 7));       /* nothing to cut */
    PetscCall(TpspmvLong(&Large, 12288, 71, 500000)); /* the long one would have too many sums */
    PetscCall(TpspmvLong(&Few, 12288, 71, 71));
    PetscCall(TpspmvLong(&Small, 100, 71, 71)); /* no GPU */
    PetscCall(TpspmvMany(device));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    timeoutfactor: 2
    args: -spmv_device_cache none

TEST*/
