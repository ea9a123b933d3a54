static const char help[] =
  "A BCCOO storage that a device converts: every array, bit for bit, is the one that the host builds and sends.\n\
  -sample <N>   every N-th plan only\n\n";

#include "formatdevice.h"
#include "device/ondevice.h"
#include "mat/impls/bccoo/device/bccoo_device.h"

static PetscInt Compared, Wrong;

/* Arrays that must have been compared */
static const char *const Names[] = {"values",  "columns", "flags", "entries", "bases",
                                    "escaped", "escapes", "rows",  "firsts",  "scans"};
static PetscInt          Seen[PETSC_STATIC_ARRAY_LENGTH(Names)];

/* m x n, n > 65536 if `wide`: rows of many lengths, some empty, blocks full and filled, columns near each other and far */
static PetscErrorCode Matrix(PetscInt m, PetscBool wide, SpmvTestCSR *t)
{
  const PetscInt n = wide ? 1500000 : 5000;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = n};
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc2(m * 40, &t->j, m * 40, &t->a));
  t->i[0] = 0;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt node = r / 4, length = node % 7 == 3 ? 0 : node % 5 == 1 ? 40 : node * node % 23;
    PetscInt       k = t->i[r], c = node * 37 % (n / 2);

    for (PetscInt e = 0; e < length && c < n; e++) { /* nodes of 4, of which every third has a gap in every second row */
      if (!(node % 3 == 0 && r % 2 && e % 5 == 2)) t->j[k++] = c;
      c += e % 4 == 3 ? (e % 8 == 7 ? n / 37 : 1) : 1;
    }
    t->i[r + 1] = k;
  }
  PetscCall(SpmvTestVector(t->i[m], t->a));
  PetscFunctionReturn(0);
}

/* Every array that the host has and a product reads, against those of the device */
static PetscErrorCode Compare(const void *host, SpmvOnDevice *on, const char what[])
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(SpmvFormat_bccoo.device->side.arrays(host, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    const size_t          bytes  = arrays[k].count * arrays[k].size;
    size_t                differ = 0;
    const OnDeviceBuffer *b      = SpmvOnDeviceFind(on, arrays[k].name);
    char                 *there;

    if (arrays[k].aside || !bytes) continue;
    PetscCheck(b && b->bytes == bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the device has not %zu bytes of %s", bytes,
               arrays[k].name);
    PetscCall(PetscMalloc1(bytes, &there));
    PetscCall(SpmvDeviceRead(on->device, b->buffer, there, bytes));
    for (size_t b = 0; b < bytes; b++) differ += there[b] != ((const char *)arrays[k].data)[b];
    PetscCall(PetscFree(there));
    Compared++;
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Names); i++) Seen[i] += !strcmp(Names[i], arrays[k].name);
    if (!differ) continue;
    Wrong++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %zu of %zu bytes of %s differ\n", what, differ, bytes, arrays[k].name));
  }
  PetscFunctionReturn(0);
}

/* One plan on one matrix; then again with new values, which a device puts in their places without the host's help */
static PetscErrorCode Try(SpmvDevice *device, SpmvTestCSR *t, const char name[], SpmvPlan plan)
{
  const SpmvSide *side  = &SpmvFormat_bccoo.device->side;
  const SpmvPlan  none  = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);
  SpmvPlan        other = plan;
  const SpmvCSR   csr   = SpmvTestCSRView(t);
  void           *host;
  SpmvOnDevice   *made;
  char            what[128];
  PetscInt        wrong = 0;
  PetscLogDouble  before;
  PetscBool       nomem;

  PetscFunctionBegin;
  plan.value[BCCOO_DEVICE_CONVERT]  = BCCOO_CONVERT_HOST;
  other.value[BCCOO_DEVICE_CONVERT] = BCCOO_CONVERT_DEVICE;
  PetscCall(SpmvBuild(side, &csr, &device->info, &plan, &host));
  before = device->held;
  PetscCall(SpmvOnDeviceCreate(device, &SpmvFormat_bccoo, &csr, &other, &none, &made, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCheck(!((BccooDeviceStorage *)made->storage)->b.value && ((BccooDeviceStorage *)host)->b.value, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "another one converts");
  other.value[BCCOO_DEVICE_CONVERT] = plan.value[BCCOO_DEVICE_CONVERT];
  PetscCheck(!memcmp(&plan, &other, sizeof(plan)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the plans differ");
  PetscCall(PetscSNPrintf(what, sizeof(what),
                          "%s %" PetscInt_FMT " x %" PetscInt_FMT ", columns %" PetscInt_FMT ", tile %" PetscInt_FMT
                          ", bunch %" PetscInt_FMT ", %" PetscInt_FMT " slices",
                          name, plan.value[BCCOO_BLOCK_HEIGHT], plan.value[BCCOO_BLOCK_WIDTH], plan.value[BCCOO_COLUMNS],
                          plan.value[BCCOO_TILE], plan.value[BCCOO_DEVICE_BUNCH], plan.value[BCCOO_SLICES]));
  PetscCall(Compare(host, made, what));
  for (PetscInt k = 0; k < t->i[t->m]; k++) t->a[k] = 1 - 2 * t->a[k];
  PetscCall(side->setvalues(&csr, host));
  PetscCall(SpmvOnDeviceSetValues(made, &csr, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(Compare(host, made, what));
  PetscCall(Products(&csr, made, &wrong));
  Wrong += wrong;
  PetscCall(SpmvOnDeviceDestroy(&made));
  if (device->held != before) {
    Wrong++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the device holds %g bytes more\n", what, (double)(device->held - before)));
  }
  PetscCall(SpmvStorageDestroy(side, &host));
  PetscFunctionReturn(0);
}

/* The kernel that finds blocks has work items by the number of blocks, however few rows these are in */
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
    PetscCall(Try(device, &t, "long rows", plan));
    plan.value[BCCOO_DEVICE_CONVERT] = BCCOO_CONVERT_DEVICE;
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

/* Who converts where nobody chose: a GPU that is given enough, and a device that runs out of memory on the way holds nothing */
static PetscErrorCode Choices(SpmvDevice *device)
{
  const PetscLogDouble limit = device->limit, before = device->held;
  SpmvDeviceInfo       info   = device->info;
  const SpmvPlan       host   = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);
  SpmvPlan             plan   = Plan(&SpmvFormat_bccoo);
  PetscInt             few[2] = {0, 1000}, many[2] = {0, 100000000};
  const SpmvCSR        small = {.m = 1, .n = 1000, .i = few}, large = {.m = 1, .n = 100000000, .i = many};
  SpmvTestCSR          t;
  SpmvCSR              csr;

  PetscFunctionBegin;
  for (int gpu = 0; gpu < 2; gpu++) {
    info.gpu = (PetscBool)gpu;
    for (int big = 0; big < 2; big++) {
      plan.value[BCCOO_DEVICE_CONVERT] = BCCOO_CONVERT_AUTO;
      PetscCall(SpmvFormat_bccoo.device->side.resolve(big ? &large : &small, &info, &plan));
      Wrong += plan.value[BCCOO_DEVICE_CONVERT] != (gpu && big ? BCCOO_CONVERT_DEVICE : BCCOO_CONVERT_HOST);
    }
  }
  plan.value[BCCOO_DEVICE_CONVERT] = BCCOO_CONVERT_DEVICE;
  PetscCall(Matrix(400, PETSC_FALSE, &t));
  csr = SpmvTestCSRView(&t);
  for (PetscInt bytes = 100; bytes < 400000;
       bytes *= 3) { /* it runs out where it is sent the storage, then the matrix, then room for what is found */
    SpmvPlan      built = plan;
    SpmvOnDevice *on;
    PetscBool     nomem;

    device->limit = before + bytes;
    PetscCall(SpmvOnDeviceCreate(device, &SpmvFormat_bccoo, &csr, &built, &host, &on, &nomem));
    PetscCheck(nomem || bytes > 10000, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " bytes are enough", bytes);
    PetscCall(SpmvOnDeviceDestroy(&on));
    Wrong += device->held != before;
  }
  device->limit = limit;
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Shapes, kinds of columns, work groups, strategies, slices and words of flags take turns */
static PetscErrorCode Plans(SpmvDevice *device)
{
  static const PetscInt heights[] = {1, 2, 3, 4, 8}, widths[] = {1, 2, 4, 3},
                        columns[] = {BCCOO_COLUMNS_AUTO, BCCOO_COLUMNS_DIFFERENCE, BCCOO_COLUMNS_INT32, BCCOO_COLUMNS_UINT16};
  static const PetscInt slices[] = {1, 1, 4, 1, 2}, tiles[] = {8, 0, 48}, bits[] = {8, 16, 32}, groups[] = {32, 64, 8, 128};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 28; k++) {
    const PetscBool wide   = (PetscBool)(k / 14);
    const PetscBool online = (PetscBool)(k % 9 == 4);
    SpmvPlan        plan   = Plan(&SpmvFormat_bccoo);
    SpmvTestCSR     t;

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
    if (!SpmvTestSampled()) continue;
    PetscCall(Matrix(k % 11 == 5 ? 3 : 403, wide, &t));
    PetscCall(Try(device, &t, wide ? "wide" : "narrow", plan));
    PetscCall(RowsDestroy(&t));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvDevice *device;

  PetscFunctionBeginUser;
  PetscCall(Begin(&argc, &argv, help, &device));
  if (device) {
    PetscCall(Plans(device));
    PetscCall(LongRows(device));
    PetscCall(Choices(device));
    PetscCheck(Compared > 300 / SpmvTestSample(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "only %" PetscInt_FMT " arrays were compared",
               Compared);
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(Names); i++)
      PetscCheck(Seen[i] || SpmvTestSample() > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no %s were compared", Names[i]);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " arrays wrong\n", Wrong));
  }
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
