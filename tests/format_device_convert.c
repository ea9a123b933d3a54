static const char help[] =
  "A storage that a device converts: every array, bit for bit, is the one that the host builds and sends.\n\
  -format <name> only this one\n\
  -sample <N>    every N-th plan only\n\n";

#include "formatdevice.h"
#include "device/ondevice.h"
#include "mat/impls/bccoo/device/bccoo_device.h"
#include "mat/impls/pmf/device/pmf_device.h"
#include "mat/impls/tpspmv/device/tpspmv_device.h"

static PetscInt Compared, Wrong;

/* Arrays that must have been compared */
static const struct {
  const SpmvFormat *format;
  const char       *name;
} Names[] = {
  {&SpmvFormat_bccoo, "values"},
  {&SpmvFormat_bccoo, "columns"},
  {&SpmvFormat_bccoo, "flags"},
  {&SpmvFormat_bccoo, "entries"},
  {&SpmvFormat_bccoo, "bases"},
  {&SpmvFormat_bccoo, "escaped"},
  {&SpmvFormat_bccoo, "escapes"},
  {&SpmvFormat_bccoo, "rows"},
  {&SpmvFormat_bccoo, "firsts"},
  {&SpmvFormat_bccoo, "scans"},
  {&SpmvFormat_pmf, "slice values"},
  {&SpmvFormat_pmf, "slice columns"},
  {&SpmvFormat_pmf, "wide slice columns"},
  {&SpmvFormat_pmf, "slices"},
  {&SpmvFormat_pmf, "long values"},
  {&SpmvFormat_pmf, "long columns"},
  {&SpmvFormat_pmf, "wide long columns"},
  {&SpmvFormat_pmf, "chunks"},
  {&SpmvFormat_tpspmv, "values"},
  {&SpmvFormat_tpspmv, "columns"},
  {&SpmvFormat_tpspmv, "wide columns"},
  {&SpmvFormat_tpspmv, "chunks"},
  {&SpmvFormat_tpspmv, "strips"},
  {&SpmvFormat_tpspmv, "lengths"},
  {&SpmvFormat_tpspmv, "targets"},
  {&SpmvFormat_tpspmv, "rows of sums"},
  {&SpmvFormat_tpspmv, "places"},
  {&SpmvFormat_tpspmv, "firsts"},
  {&SpmvFormat_tpspmv, "columns left"},
};
static PetscInt Seen[PETSC_STATIC_ARRAY_LENGTH(Names)];

/* The knob that says who converts */
static PetscInt Knob(const SpmvFormat *f)
{
  PetscInt k = 0;

  while (strcmp(f->device->side.params[k].name, "device_convert")) k++;
  return k;
}

/*
  m x n, n > 65536 if `wide`: rows of many lengths, some empty, blocks full and filled, columns near each other and far; `longs`:
  some rows have hundreds or thousands of entries
*/
static PetscErrorCode Matrix(PetscInt m, PetscBool wide, PetscBool longs, SpmvTestCSR *t)
{
  const PetscInt n = wide ? 1500000 : 5000;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = n};
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc2(m * 140, &t->j, m * 140, &t->a));
  t->i[0] = 0;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt node = r / 4, length = node % 7 == 3 ? 0 : node % 5 == 1 ? 40 : node * node % 23;
    const PetscInt many = !longs ? 0 : r % 97 == 50 ? 300 + 7 * r : r == 7 || r == 61 ? 5000 : 0; /* entries of a long row */
    PetscInt       k = t->i[r], c = node * 37 % (n / 2);

    for (PetscInt e = 0; e < many; e++) t->j[k++] = e * (wide && r != 61 ? 299 : 1);
    for (PetscInt e = 0; !many && e < length && c < n; e++) { /* nodes of 4, of which every third has a gap in every second row */
      if (!(node % 3 == 0 && r % 2 && e % 5 == 2)) t->j[k++] = c;
      c += e % 4 == 3 ? (e % 8 == 7 ? n / 37 : 1) : 1;
    }
    t->i[r + 1] = k;
  }
  PetscCall(SpmvTestVector(t->i[m], t->a));
  PetscFunctionReturn(0);
}

/* Every array that the host has made and a product reads, of a storage that was sent, against those of one that was converted */
static PetscErrorCode Compare(const SpmvFormat *f, SpmvOnDevice *sent, SpmvOnDevice *on, const char what[])
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(f->device->side.arrays(sent->storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    const size_t          bytes  = arrays[k].count * arrays[k].size;
    size_t                differ = 0;
    const OnDeviceBuffer *b      = SpmvOnDeviceFind(on, arrays[k].name);
    char                 *there;

    if (arrays[k].aside || !bytes) continue;
    PetscCheck(b && b->bytes == bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the device has not %zu bytes of %s", what, bytes,
               arrays[k].name);
    PetscCall(PetscMalloc1(bytes, &there));
    PetscCall(SpmvDeviceRead(on->device, b->buffer, there, bytes));
    for (size_t b = 0; b < bytes; b++) differ += there[b] != ((const char *)arrays[k].data)[b];
    PetscCall(PetscFree(there));
    Compared++;
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Names); i++)
      Seen[i] += f == Names[i].format && !strcmp(Names[i].name, arrays[k].name);
    if (!differ) continue;
    Wrong++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %zu of %zu bytes of %s differ\n", what, differ, bytes, arrays[k].name));
  }
  PetscFunctionReturn(0);
}

/* The products of both have the same bits */
static PetscErrorCode Same(const SpmvCSR *csr, SpmvOnDevice *sent, SpmvOnDevice *on, const char what[])
{
  PetscScalar *x, *y, *z;
  PetscBool    nomem, same;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(csr->n, &x, csr->m, &y, csr->m, &z));
  PetscCall(SpmvTestVector(csr->n, x));
  PetscCall(SpmvOnDeviceMultiply(sent, x, NULL, y, NULL, PETSC_FALSE, &nomem));
  if (!nomem) PetscCall(SpmvOnDeviceMultiply(on, x, NULL, z, NULL, PETSC_FALSE, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(PetscArraycmp(y, z, csr->m, &same));
  Wrong += !same;
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the products differ\n", what));
  PetscCall(PetscFree3(x, y, z));
  PetscFunctionReturn(0);
}

/* One plan on one matrix; then again with new values, which a device puts in their places without the host's help */
static PetscErrorCode TryOn(SpmvDevice *device, const SpmvFormat *f, SpmvTestCSR *t, const char name[], SpmvPlan plan)
{
  const SpmvSide *side  = &f->device->side;
  const SpmvPlan  none  = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  const PetscInt  knob  = Knob(f);
  const SpmvCSR   csr   = SpmvTestCSRView(t);
  SpmvPlan        other = plan;
  SpmvOnDevice   *sent, *made;
  SpmvArray       arrays[SPMV_ARRAY_MAX];
  char            what[512];
  PetscInt        wrong = 0, n, without = 0;
  PetscLogDouble  before;
  PetscBool       nomem;

  PetscFunctionBegin;
  before            = device->held;
  plan.value[knob]  = SPMV_CONVERT_HOST;
  other.value[knob] = SPMV_CONVERT_DEVICE;
  PetscCall(SpmvOnDeviceCreate(device, f, &csr, &plan, &none, &sent, &nomem));
  if (!nomem) PetscCall(SpmvOnDeviceCreate(device, f, &csr, &other, &none, &made, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(side->arrays(made->storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++) without += arrays[k].count && !arrays[k].data;
  PetscCheck(without || !csr.i[csr.m], PETSC_COMM_SELF, PETSC_ERR_PLIB, "the host converts");
  PetscCall(side->arrays(sent->storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++)
    PetscCheck(arrays[k].data || !arrays[k].count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the device converts");
  PetscCheck(!made->joint == !sent->joint, PETSC_COMM_SELF, PETSC_ERR_PLIB, "one is joint");
  other.value[knob] = plan.value[knob];
  PetscCheck(!memcmp(&plan, &other, sizeof(plan)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the plans differ");
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s:", f->name, name));
  for (PetscInt k = 0; k < side->nparams; k++)
    PetscCall(SpmvAppend(what, sizeof(what), " %s %" PetscInt_FMT, side->params[k].name, plan.value[k]));
  PetscCall(Compare(f, sent, made, what));
  PetscCall(Same(&csr, sent, made, what));
  for (PetscInt k = 0; k < t->i[t->m]; k++) t->a[k] = 1 - 2 * t->a[k];
  PetscCall(SpmvOnDeviceSetValues(sent, &csr, &nomem));
  if (!nomem) PetscCall(SpmvOnDeviceSetValues(made, &csr, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(Compare(f, sent, made, what));
  PetscCall(Same(&csr, sent, made, what));
  PetscCall(Products(&csr, made, &wrong));
  Wrong += wrong;
  if (wrong) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " entries are wrong\n", what, wrong));
  PetscCall(SpmvOnDeviceDestroy(&sent));
  PetscCall(SpmvOnDeviceDestroy(&made));
  if (device->held != before) {
    Wrong++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the device holds %g bytes more\n", what, (double)(device->held - before)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Try(SpmvDevice *device, const SpmvFormat *f, PetscInt m, PetscBool wide, PetscBool longs, SpmvPlan plan)
{
  SpmvTestCSR t;
  char        name[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", wide ? "wide" : "narrow", longs ? ", long rows" : ""));
  PetscCall(Matrix(m, wide, longs, &t));
  PetscCall(TryOn(device, f, &t, name, plan));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Who converts where nobody chose: a GPU that is given enough, and has room for it */
static PetscErrorCode Choices(SpmvDevice *device, const SpmvFormat *f)
{
  SpmvDeviceInfo info   = device->info;
  SpmvPlan       plan   = Plan(f);
  PetscInt       few[2] = {0, 1000}, many[2] = {0, 100000000};

  PetscFunctionBegin;
  for (int k = 0; k < 8; k++) {
    const int     gpu = k & 1, big = k >> 1 & 1, room = k >> 2;
    const SpmvCSR csr = {.m = 1, .n = 1, .i = big ? many : few};

    info.gpu  = (PetscBool)gpu;
    info.room = room ? 1e12 : SpmvConvertNeeds(csr.i[1]);
    Wrong += SpmvConvertResolve(&csr, &info, SPMV_CONVERT_AUTO) != (gpu && big && room ? SPMV_CONVERT_DEVICE : SPMV_CONVERT_HOST);
    Wrong += SpmvConvertResolve(&csr, &info, SPMV_CONVERT_DEVICE) != SPMV_CONVERT_DEVICE;
    if (!room) continue;
    plan.value[Knob(f)] = SPMV_CONVERT_AUTO;
    PetscCall(f->device->side.resolve(&csr, &info, &plan));
    Wrong += plan.value[Knob(f)] != (gpu && big ? SPMV_CONVERT_DEVICE : SPMV_CONVERT_HOST);
  }
  PetscFunctionReturn(0);
}

/* A device that runs out of memory on the way, where it is sent the storage, the matrix, or room for what is found, holds
   nothing */
static PetscErrorCode Limits(SpmvDevice *device, const SpmvFormat *f, SpmvPlan plan)
{
  const PetscLogDouble limit = device->limit, before = device->held;
  const SpmvPlan       host = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  PetscInt             full = 0, fits = 0;
  SpmvTestCSR          t;
  SpmvCSR              csr;

  PetscFunctionBegin;
  plan.value[Knob(f)] = SPMV_CONVERT_DEVICE;
  PetscCall(Matrix(400, PETSC_FALSE, PETSC_FALSE, &t));
  csr = SpmvTestCSRView(&t);
  for (PetscInt bytes = 100; bytes < 1000000; bytes *= 3) {
    SpmvPlan      built = plan;
    SpmvOnDevice *on;
    PetscBool     nomem;

    device->limit = before + bytes;
    PetscCall(SpmvOnDeviceCreate(device, f, &csr, &built, &host, &on, &nomem));
    PetscCall(SpmvOnDeviceDestroy(&on));
    full += nomem;
    fits += !nomem;
    Wrong += device->held != before;
  }
  PetscCheck(full >= 5 && fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "memory ran out %" PetscInt_FMT " times", full);
  device->limit = limit;
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* bccoo: the kernel that finds blocks has work items by the number of blocks, however few rows these are in */
static PetscErrorCode LongRows(SpmvDevice *device)
{
  enum { N = 100000 };
  const SpmvDeviceSide             *side       = SpmvFormat_bccoo.device;
  SpmvPlan                          plan       = Plan(&SpmvFormat_bccoo);
  SpmvTestCSR                       t          = {.m = 2, .n = N};
  SPMV_TEMPORARY SpmvDeviceProduct *conversion = NULL;
  SpmvCSR                           csr;
  void                             *storage;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3, &t.i));
  PetscCall(PetscMalloc2(2 * N, &t.j, 2 * N, &t.a));
  for (PetscInt r = 0; r < 3; r++) t.i[r] = r * N;
  for (PetscInt k = 0; k < 2 * N; k++) t.j[k] = k % N;
  PetscCall(SpmvTestVector(2 * N, t.a));
  csr = SpmvTestCSRView(&t);
  for (PetscInt height = 1; height <= 2; height++) {
    plan.value[BCCOO_BLOCK_HEIGHT] = height;
    PetscCall(TryOn(device, &SpmvFormat_bccoo, &t, "two long rows", plan));
    plan.value[BCCOO_DEVICE_CONVERT] = SPMV_CONVERT_DEVICE;
    PetscCall(SpmvBuild(&side->side, &csr, &device->info, &plan, &storage));
    PetscCall(PetscNew(&conversion));
    PetscCall(side->convert(storage, PETSC_FALSE, conversion));
    Wrong += strcmp(conversion->launch[0].kernel, "bccoo_find") ||
             conversion->launch[0].groups != SpmvGroups(2 * N / (size_t)height, BCCOO_PIECE * BCCOO_FLAT_GROUP);
    PetscCall(PetscFree(conversion));
    PetscCall(SpmvStorageDestroy(&side->side, &storage));
  }
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* bccoo: shapes, kinds of columns, work groups, strategies, slices and words of flags take turns */
static PetscErrorCode PlansBccoo(SpmvDevice *device)
{
  static const PetscInt heights[] = {1, 2, 3, 4, 8}, widths[] = {1, 2, 4, 3},
                        columns[] = {BCCOO_COLUMNS_AUTO, BCCOO_COLUMNS_DIFFERENCE, BCCOO_COLUMNS_INT32, BCCOO_COLUMNS_UINT16};
  static const PetscInt slices[] = {1, 1, 4, 1, 2}, tiles[] = {8, 0, 48}, bits[] = {8, 16, 32}, groups[] = {32, 64, 8, 128};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 28; k++) {
    const PetscBool wide   = (PetscBool)(k / 14);
    const PetscBool online = (PetscBool)(k % 9 == 4);
    SpmvPlan        plan   = Plan(&SpmvFormat_bccoo);

    plan.value[BCCOO_BLOCK_HEIGHT]     = k % 13 ? heights[k % 5] : 1;
    plan.value[BCCOO_BLOCK_WIDTH]      = k % 13 ? widths[k % 4] : 1;
    plan.value[BCCOO_COLUMNS]          = columns[k % (wide ? 3 : 4)];
    plan.value[BCCOO_DEVICE_FLAG_BITS] = bits[k % 3];
    plan.value[BCCOO_TILE]             = online ? 8 : tiles[k / 2 % 3]; /* a GPU has 48 kB of local memory */
    plan.value[BCCOO_SLICES]           = k % 13 ? slices[k % 5] : 1;
    plan.value[BCCOO_DEVICE_WORKGROUP] = groups[k % 4];
    plan.value[BCCOO_DEVICE_STRATEGY]  = k % 7 == 3 && !online ? 3 : 0;
    if (online) plan.value[BCCOO_DEVICE_TRANSPOSE] = BCCOO_TRANSPOSE_ONLINE;
    while ((size_t)(plan.value[BCCOO_BLOCK_HEIGHT] * plan.value[BCCOO_DEVICE_WORKGROUP]) * sizeof(PetscScalar) > 8192)
      plan.value[BCCOO_DEVICE_WORKGROUP] /= 2; /* complex numbers: the same */
    if (SpmvTestSampled()) PetscCall(Try(device, &SpmvFormat_bccoo, k % 11 == 5 ? 3 : 403, wide, PETSC_FALSE, plan));
  }
  PetscCall(LongRows(device));
  PetscCall(Limits(device, &SpmvFormat_bccoo, Plan(&SpmvFormat_bccoo)));
  PetscFunctionReturn(0);
}

/* What a limit leaves to the device of a pmf matrix counts what is converted: it is built, and less of it than if it were sent */
static PetscErrorCode Cut(SpmvDevice *device)
{
  const PetscLogDouble limit = device->limit;
  const SpmvPlan       host  = SpmvTestPlan(&SpmvFormat_pmf, SPMV_BACKEND_HOST);
  PetscInt             share[2];
  SpmvTestCSR          t;
  SpmvCSR              csr;

  PetscFunctionBegin;
  PetscCall(Matrix(403, PETSC_FALSE, PETSC_TRUE, &t));
  csr = SpmvTestCSRView(&t);
  for (int converts = 0; converts < 2; converts++) {
    SpmvPlan       plan = Plan(&SpmvFormat_pmf);
    SpmvDeviceInfo info = device->info;
    SpmvOnDevice  *on;
    PetscBool      nomem;

    plan.value[PMF_DEVICE_CONVERT] = converts ? SPMV_CONVERT_DEVICE : SPMV_CONVERT_HOST;
    device->limit                  = device->held + 200000; /* two thirds of what a product has, with its vectors */
    device->info.room              = 200000;
    PetscCall(SpmvOnDeviceCreate(device, &SpmvFormat_pmf, &csr, &plan, &host, &on, &nomem));
    PetscCheck(!nomem && on->joint, PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was not cut");
    share[converts] = on->joint->nz;
    PetscCall(Products(&csr, on, &Wrong));
    PetscCall(SpmvOnDeviceDestroy(&on));
    device->limit     = limit;
    device->info.room = info.room;
  }
  Wrong += share[0] >= share[1];
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Blocks on the diagonal are converted by the host; a device is not asked to */
static PetscErrorCode Diagonal(SpmvDevice *device)
{
  const PetscInt many[2] = {0, 100000000};
  const SpmvCSR  csr     = {.m = 1, .n = 1, .i = many};
  SpmvDeviceInfo info    = device->info;
  SpmvPlan       plan    = Plan(&SpmvFormat_pmf);
  char           why[512];

  PetscFunctionBegin;
  info.gpu                  = PETSC_TRUE;
  info.room                 = 1e12;
  plan.value[PMF_PARTITION] = PMF_BY_DIAGONAL;
  for (PetscInt convert = SPMV_CONVERT_AUTO; convert <= SPMV_CONVERT_DEVICE; convert++) {
    SpmvPlan resolved = plan;

    resolved.value[PMF_DEVICE_CONVERT] = convert;
    PetscCall(SpmvResolve(&SpmvFormat_pmf.device->side, &csr, &info, &resolved, why, sizeof(why)));
    Wrong += (convert == SPMV_CONVERT_DEVICE) != !!strstr(why, "set -mat_pmf_device_convert host");
    Wrong += convert == SPMV_CONVERT_AUTO && resolved.value[PMF_DEVICE_CONVERT] != SPMV_CONVERT_HOST;
  }
  PetscFunctionReturn(0);
}

/* pmf: each number of lanes with each height of a slice; all else takes turns */
static PetscErrorCode PlansPmf(SpmvDevice *device)
{
  const SpmvParam *params = SpmvFormat_pmf.device->side.params;
  const SpmvParam *slices = &params[PMF_DEVICE_SLICE], *lanes = &params[PMF_DEVICE_LANES], *windows = &params[PMF_WINDOW];
  const SpmvParam *longs        = &params[PMF_DEVICE_LONG];
  const PetscInt   partitions[] = {PMF_BY_PMF, PMF_BY_NNZ, PMF_BY_ROWS};
  SpmvPlan         whole        = Plan(&SpmvFormat_pmf);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < slices->count * lanes->count; k++) {
    SpmvPlan plan = Plan(&SpmvFormat_pmf);

    plan.value[PMF_DEVICE_SLICE] = slices->choices[k % slices->count];
    plan.value[PMF_DEVICE_LANES] = lanes->choices[k / slices->count];
    plan.value[PMF_DEVICE_LONG]  = longs->choices[k % 5 % longs->count];
    plan.value[PMF_WINDOW]       = windows->choices[(k + k / 8) % windows->count];
    plan.value[PMF_PARTITION]    = partitions[k % 3];
    if (k % 10 == 7) { /* the host has a third */
      plan.value[PMF_DEVICE_PARTS] = 1;
      plan.value[PMF_POWERS]       = 2;
      plan.list[0]                 = 2;
      plan.list[1]                 = 1;
    }
    if (SpmvTestSampled())
      PetscCall(Try(device, &SpmvFormat_pmf, k % 11 == 5 ? 3 : 403, (PetscBool)(k / 2 % 2), (PetscBool)(k % 4 < 3), plan));
  }
  whole.value[PMF_DEVICE_CUT] = 0;
  PetscCall(Limits(device, &SpmvFormat_pmf, whole));
  PetscCall(Cut(device));
  PetscCall(Diagonal(device));
  PetscFunctionReturn(0);
}

/* tpspmv: each length of segments and number of columns of a tile; all else takes turns */
static PetscErrorCode PlansTpspmv(SpmvDevice *device)
{
  static const PetscInt tiles[] = {TPSPMV_ALL, 0, 262144, 1024, 16, TPSPMV_ALL};
  const SpmvParam      *params  = SpmvFormat_tpspmv.device->side.params;
  const SpmvParam      *longs = &params[TPSPMV_LONG], *slices = &params[TPSPMV_SLICE];
  const PetscInt        ntiles = PETSC_STATIC_ARRAY_LENGTH(tiles);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ntiles * longs->count; k++) {
    const PetscBool wide = (PetscBool)(tiles[k % ntiles] != 16 && k % 4 < 2);
    SpmvPlan        plan = Plan(&SpmvFormat_tpspmv);

    plan.value[TPSPMV_TILE]   = tiles[k % ntiles];
    plan.value[TPSPMV_LONG]   = longs->choices[k / ntiles];
    plan.value[TPSPMV_SLICE]  = slices->choices[k % slices->count];
    plan.value[TPSPMV_REMOVE] = k % 5 == 3 ? TPSPMV_YES : k % 5 == 1 ? TPSPMV_AUTO : TPSPMV_NO;
    plan.value[TPSPMV_CACHE]  = k % 3;
    if (SpmvTestSampled()) PetscCall(Try(device, &SpmvFormat_tpspmv, k % 11 == 5 ? 3 : 403, wide, (PetscBool)(k % 7 < 5), plan));
  }
  PetscCall(Limits(device, &SpmvFormat_tpspmv, Plan(&SpmvFormat_tpspmv)));
  PetscFunctionReturn(0);
}

typedef PetscErrorCode PlansFn(SpmvDevice *device);

int main(int argc, char **argv)
{
  static const struct {
    const SpmvFormat *format;
    PlansFn          *plans;
  } formats[] = {
    {&SpmvFormat_bccoo, PlansBccoo},
    {&SpmvFormat_pmf, PlansPmf},
    {&SpmvFormat_tpspmv, PlansTpspmv},
  };
  SpmvDevice *device;
  char        only[64] = "";

  PetscFunctionBeginUser;
  PetscCall(Begin(&argc, &argv, help, &device));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", only, sizeof(only), NULL));
  for (size_t k = 0; device && k < PETSC_STATIC_ARRAY_LENGTH(formats); k++) {
    const SpmvFormat *f = formats[k].format;

    if (only[0] && strcmp(only, f->name)) continue;
    Compared = 0;
    PetscCall(formats[k].plans(device));
    PetscCall(Choices(device, f));
    PetscCheck(Compared > 300 / SpmvTestSample(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "only %" PetscInt_FMT " arrays of %s were compared", Compared, f->name);
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Names); i++)
      PetscCheck(f != Names[i].format || Seen[i] || SpmvTestSample() > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "no %s of %s were compared", Names[i].name, f->name);
  }
  if (device) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " arrays wrong\n", Wrong));
  PetscCall(PetscFinalize());
  return Wrong ? 1 : 0;
}

/*TEST

  test:
    timeoutfactor: 3
    args: -spmv_device_cache none -sample 5

  test:
    suffix: long
    output_file: output/format_device_convert.out
    timeoutfactor: 5
    args: -spmv_device_cache none

TEST*/
