static const char help[] =
  "Rows that go on over many work groups of a bccoo product on a device: what comes before is carried to where they end.\n\n";

#include "formatdevice.h"
#include "mat/impls/bccoo/device/bccoo_device.h"

/* A product twice with the same bits, over NaN; then all entries against a long double product */
static PetscErrorCode Try(SpmvDevice *device, const char what[], PetscInt m, PetscInt n, const PetscInt length[], SpmvPlan plan)
{
  const SpmvPlan host  = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);
  PetscInt       wrong = 0, differ;
  SpmvTestCSR    t;
  SpmvCSR        csr;
  SpmvOnDevice  *on;
  PetscScalar   *x, *y, *again;
  PetscBool      nomem;

  PetscFunctionBegin;
  PetscCall(Rows(m, n, length, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvOnDeviceCreate(device, &SpmvFormat_bccoo, &csr, &plan, &host, &on, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(Products(&csr, on, &wrong));
  PetscCall(PetscMalloc3(n, &x, m, &y, m, &again));
  PetscCall(SpmvTestVector(n, x));
  for (PetscInt r = 0; r < m; r++) y[r] = again[r] = (PetscScalar)NAN;
  PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, PETSC_FALSE, &nomem));
  PetscCall(SpmvOnDeviceMultiply(on, x, NULL, again, NULL, PETSC_FALSE, &nomem));
  differ = memcmp(y, again, (size_t)m * sizeof(*y)) != 0;
  PetscCall(PetscFree3(x, y, again));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " entries wrong%s\n", what, wrong, differ ? ", other bits" : ""));
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(0);
}

/* Plans whose work groups have 64 blocks; the kernel that carries has 128 of them to a work group, which makes 8192 blocks */
static SpmvPlan Small(PetscInt strategy, PetscInt height)
{
  SpmvPlan plan = Plan(&SpmvFormat_bccoo);

  plan.value[BCCOO_TILE]             = 8;
  plan.value[BCCOO_BLOCK_HEIGHT]     = height;
  plan.value[BCCOO_BLOCK_WIDTH]      = 1;
  plan.value[BCCOO_DEVICE_STRATEGY]  = strategy;
  plan.value[BCCOO_DEVICE_WORKGROUP] = 8;
  return plan;
}

int main(int argc, char **argv)
{
  static const PetscInt edges[] = {63, 64, 65, 8191, 8192, 8193, 8256, 16384};
  const PetscInt        m       = 2 * PETSC_STATIC_ARRAY_LENGTH(edges);
  PetscInt              length[400];
  SpmvDevice           *device;

  PetscFunctionBeginUser;
  PetscCall(Begin(&argc, &argv, help, &device));
  if (device) {
    for (PetscInt r = 0; r < 400; r++) length[r] = r == 200 ? 1000000 : r % 3;
    PetscCall(Try(device, "a row of 10^6 entries", 400, 1000000, length, Small(1, 1)));
    PetscCall(Try(device, "a row of 10^6 entries, default work groups", 400, 1000000, length, Plan(&SpmvFormat_bccoo)));
    length[0] = 1000000;
    PetscCall(Try(device, "one row of 10^6 entries", 1, 1000000, length, Small(2, 1)));
    for (PetscInt r = 0; r < m; r++) length[r] = edges[r / 2];
    PetscCall(Try(device, "rows that end where work groups do, and beside", m, 20000, length, Small(1, 1)));
    PetscCall(Try(device, "the same in blocks of 2 rows", m, 20000, length, Small(1, 2)));
    for (PetscInt r = 0; r < 40; r++) length[r] = r % 5 == 2 ? 0 : 3 * 64 * (1 + r % 4);
    PetscCall(Try(device, "whole work groups, and empty rows", 40, 1000, length, Small(3, 1)));
    for (PetscInt r = 0; r < 400; r++) length[r] = 64;
    PetscCall(Try(device, "each work group a row", 400, 1000, length, Small(2, 1)));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    timeoutfactor: 3
    args: -spmv_device_cache none

TEST*/
