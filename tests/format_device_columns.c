static const char help[] = "16-bit columns of bccoo on a device: distances from a base, and lists of those that are far.\n\n";

#include "formatdevice.h"
#include "device/ondevice.h"
#include "mat/impls/bccoo/device/bccoo_device.h"

/* What is stored under a plan, product by product checked; print: the arrays as well */
static PetscErrorCode Try(SpmvDevice *device, const char what[], const SpmvTestCSR *t, SpmvPlan plan, PetscBool print)
{
  static const char *const names[] = {"auto", "int32", "uint16", "difference"};
  const SpmvPlan           host    = SpmvTestPlan(&SpmvFormat_bccoo, SPMV_BACKEND_HOST);
  const SpmvCSR            csr     = SpmvTestCSRView(t);
  PetscInt                 wrong   = 0;
  SpmvOnDevice            *on;
  const BccooBlocks       *b;
  PetscBool                nomem;

  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceCreate(device, &SpmvFormat_bccoo, &csr, &plan, &host, &on, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  b = &((const BccooDeviceStorage *)on->storage)->b;
  PetscCall(Products(&csr, on, &wrong));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s, %zu in lists, %" PetscInt_FMT " entries wrong\n", what, names[b->columns],
                        b->nescaped, wrong));
  if (print) {
    const uint16_t *c = (const uint16_t *)b->column;

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  columns:"));
    for (size_t k = 0; k < b->nblocks; k++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, c[k] < 32768 ? " %d" : " far[%d]", c[k] & 32767));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  bases:"));
    for (size_t k = 0; k < BccooBases(b); k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->base[k]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  lists:"));
    for (size_t k = 0; k < b->nescaped; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->escaped[k]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  }
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscFunctionReturn(0);
}

/* Two tiles of a row each, small enough to check by hand: row 0 is nearest to 40000; row 1 has two distances of row 0 and a wide
   gap */
static PetscErrorCode ByHand(SpmvDevice *device)
{
  PetscInt    i[]  = {0, 8, 15};
  PetscInt    j[]  = {5, 7, 40000, 40001, 40010, 100000, 100001, 299999, 10, 50000, 50001, 82767, 82768, 110000, 110001};
  PetscScalar a[]  = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7};
  SpmvTestCSR t    = {.m = 2, .n = 300000, .i = i, .j = j, .a = a};
  SpmvPlan    plan = Plan(&SpmvFormat_bccoo);

  PetscFunctionBegin;
  plan.value[BCCOO_TILE]             = 8;
  plan.value[BCCOO_BLOCK_HEIGHT]     = 1;
  plan.value[BCCOO_BLOCK_WIDTH]      = 1;
  plan.value[BCCOO_COLUMNS]          = BCCOO_COLUMNS_DIFFERENCE;
  plan.value[BCCOO_DEVICE_TRANSPOSE] = BCCOO_TRANSPOSE_ONLINE;
  plan.value[BCCOO_DEVICE_WORKGROUP] = 2;
  PetscCall(Try(device, "by hand", &t, plan, PETSC_TRUE));
  plan.value[BCCOO_DEVICE_WORKGROUP] = 1;
  PetscCall(Try(device, "by hand, a list for each tile", &t, plan, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* m rows of 7 columns, all but the first and the last in a plane, one to the right from row to row; jumps: `apart` and at
   random */
static PetscErrorCode Stencil(PetscInt m, PetscInt apart, PetscBool jumps, SpmvTestCSR *t)
{
  const PetscInt points = 7;
  PetscInt      *length;
  PetscRandom    rand;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscMalloc1(m, &length));
  for (PetscInt r = 0; r < m; r++) length[r] = points;
  PetscCall(Rows(m, m + points * apart, length, t));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = 0; k < points; k++) {
      const PetscInt plane = k == 0 ? 0 : k == points - 1 ? 2 : 1;
      PetscReal      u;

      PetscCall(PetscRandomGetValueReal(rand, &u));
      t->j[r * points + k] = jumps ? k * apart + (PetscInt)(u * (PetscReal)apart) : r + k + plane * apart;
    }
  }
  PetscCall(PetscFree(length));
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvDevice *device;
  SpmvTestCSR t;
  SpmvPlan    plan = Plan(&SpmvFormat_bccoo);

  PetscFunctionBeginUser;
  PetscCall(Begin(&argc, &argv, help, &device));
  if (device) {
    PetscCall(ByHand(device));
    plan.value[BCCOO_BLOCK_HEIGHT] = plan.value[BCCOO_BLOCK_WIDTH] = 1;
    plan.value[BCCOO_TILE]                                         = 16;
    PetscCall(Stencil(3000, 100000, PETSC_FALSE, &t)); /* two of seven columns are far, and few distances */
    PetscCall(Try(device, "a stencil of planes that are far apart, left open", &t, plan, PETSC_FALSE));
    plan.value[BCCOO_COLUMNS] = BCCOO_COLUMNS_DIFFERENCE;
    PetscCall(Try(device, "the same, asked for", &t, plan, PETSC_FALSE));
    plan.value[BCCOO_DEVICE_STRATEGY] = 3;
    plan.value[BCCOO_TILE]            = 256;
    PetscCall(Try(device, "tiles side by side", &t, plan, PETSC_FALSE));
    PetscCall(RowsDestroy(&t));
    PetscCall(Stencil(2000, 100000, PETSC_TRUE, &t)); /* as many distances as far columns */
    plan.value[BCCOO_TILE]            = 16;
    plan.value[BCCOO_DEVICE_STRATEGY] = 0;
    plan.value[BCCOO_COLUMNS]         = BCCOO_COLUMNS_AUTO;
    PetscCall(Try(device, "columns at random, left open", &t, plan, PETSC_FALSE));
    plan.value[BCCOO_COLUMNS] = BCCOO_COLUMNS_DIFFERENCE;
    for (PetscInt group = 1; group <= 512; group *= 8) {
      char what[64];

      plan.value[BCCOO_DEVICE_WORKGROUP] = group;
      plan.value[BCCOO_DEVICE_STRATEGY]  = 2;
      plan.value[BCCOO_TILE]             = 128;
      PetscCall(PetscSNPrintf(what, sizeof(what), "columns at random, work groups of %" PetscInt_FMT " x 128", group));
      PetscCall(Try(device, what, &t, plan, PETSC_FALSE));
    }
    PetscCall(RowsDestroy(&t));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    timeoutfactor: 3
    args: -spmv_device_cache none

TEST*/
