static const char help[] =
  "Products whose vectors are on the device or on the host, each pair over and over; entries of a vector brought to the host.\n\
  -vectors <6> - on the device, for x and for y\n\
  -quick       - some pairs only, for simulators\n\n";

#include "spmvtest.h"
#include "device/device.h"

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

#define ROWS    150
#define COLUMNS 130

/* Vectors on the device and what they hold; number 0 stands for one on the host */
typedef struct {
  PetscInt     n, count;
  void       **buffer;  /* [count + 1] */
  PetscScalar *entries; /* [count + 1][n] */
} Vectors;

static PetscErrorCode Fill(SpmvDevice *device, Vectors *v, PetscInt k, PetscScalar shift)
{
  PetscScalar *e     = v->entries + (size_t)k * (size_t)v->n;
  PetscBool    nomem = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < v->n; i++) e[i] = shift + PetscSinReal((PetscReal)(i + 31 * k));
  if (v->buffer[k]) PetscCall(SpmvDeviceWrite(device, v->buffer[k], e, sizeof(PetscScalar) * (size_t)v->n, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscFunctionReturn(0);
}

static PetscErrorCode VectorsCreate(SpmvDevice *device, PetscInt n, PetscInt count, Vectors *v)
{
  PetscFunctionBegin;
  *v = (Vectors){.n = n, .count = count};
  PetscCall(PetscCalloc1(count + 1, &v->buffer));
  PetscCall(PetscMalloc1((count + 1) * n, &v->entries));
  for (PetscInt k = 0; k <= count; k++) {
    if (k) PetscCall(SpmvDeviceAlloc(device, sizeof(PetscScalar) * (size_t)n, &v->buffer[k]));
    PetscCheck(!k || v->buffer[k], PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
    PetscCall(Fill(device, v, k, 0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode VectorsDestroy(SpmvDevice *device, Vectors *v)
{
  PetscFunctionBegin;
  for (PetscInt k = 1; k <= v->count; k++) PetscCall(SpmvDeviceFree(device, sizeof(PetscScalar) * (size_t)v->n, &v->buffer[k]));
  PetscCall(PetscFree(v->buffer));
  PetscCall(PetscFree(v->entries));
  PetscFunctionReturn(0);
}

/* y <- beta y + A x for one pair; only what lives on the host moves */
static PetscErrorCode CheckPair(const SpmvCSR *csr, SpmvDevice *device, SpmvOnDevice *on, Vectors *x, PetscInt kx, Vectors *y,
                                PetscInt ky, PetscBool beta, PetscInt *wrong)
{
  PetscScalar         *xe = x->entries + (size_t)kx * (size_t)x->n, *ye = y->entries + (size_t)ky * (size_t)y->n;
  const PetscLogDouble sent = device->moved[0].all, received = device->moved[1].all, bx = kx ? 0 : x->n * sizeof(PetscScalar),
                       by = ky ? 0 : y->n * sizeof(PetscScalar);
  long double re[ROWS], im[ROWS], size[ROWS];
  PetscInt    length[ROWS];
  PetscScalar got[ROWS];
  PetscBool   nomem;

  PetscFunctionBegin;
  SpmvTestReference(csr, PETSC_FALSE, xe, beta ? ye : NULL, re, im, size, length);
  PetscCall(PetscArraycpy(got, ye, y->n));
  if (!ky && !beta) got[0] = NAN;
  PetscCall(SpmvOnDeviceMultiply(on, kx ? NULL : xe, x->buffer[kx], ky ? NULL : got, y->buffer[ky], beta, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  if (device->moved[0].all - sent != bx + (beta ? by : 0) || device->moved[1].all - received != by) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "x %" PetscInt_FMT ", y %" PetscInt_FMT ": %g bytes sent, %g received\n", kx, ky,
                          (double)(device->moved[0].all - sent), (double)(device->moved[1].all - received)));
    ++*wrong;
  }
  if (ky) PetscCall(SpmvDeviceRead(device, y->buffer[ky], got, sizeof(PetscScalar) * (size_t)y->n));
  *wrong += SpmvTestCompare(csr->m, got, re, im, size, length);
  PetscCall(PetscArraycpy(ye, got, y->n));
  PetscFunctionReturn(0);
}

/* Each pair, with beta 0 and 1, several times: by kernels launched one by one first, then as they were recorded, or recorded
   anew */
static PetscErrorCode CheckFormat(const SpmvFormat *f, const SpmvCSR *csr, SpmvDevice *device, PetscInt count, PetscInt repeats,
                                  PetscBool quick, PetscInt *wrong)
{
  SpmvPlan      plan = SpmvTestPlan(f, SPMV_BACKEND_DEVICE);
  SpmvOnDevice *on;
  Vectors       x, y;
  PetscBool     nomem;

  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceCreate(device, f, csr, &plan, NULL, &on, &nomem));
  PetscCheck(!nomem && !SpmvOnDeviceIsJoint(on), PETSC_COMM_SELF, PETSC_ERR_PLIB, "out of memory, or joint with the host");
  PetscCall(VectorsCreate(device, csr->n, count, &x));
  PetscCall(VectorsCreate(device, csr->m, count, &y));
  for (int round = 0; round < 3; round++) {
    for (PetscInt kx = 0; kx <= count; kx++) {
      for (PetscInt ky = 0; ky <= count; ky++) {
        if (quick && (round || kx != ky)) continue;
        PetscCall(CheckPair(csr, device, on, &x, kx, &y, ky, PETSC_FALSE, wrong));
        PetscCall(CheckPair(csr, device, on, &x, kx, &y, ky, PETSC_TRUE, wrong));
        PetscCall(Fill(device, &x, kx, round)); /* the same place, other entries */
        PetscCall(CheckPair(csr, device, on, &x, kx, &y, ky, PETSC_FALSE, wrong));
      }
    }
  }
  PetscCall(SpmvOnDeviceRepeat(on, repeats, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(VectorsDestroy(device, &x));
  PetscCall(VectorsDestroy(device, &y));
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscCall(SpmvOnDeviceCreate(device, f, csr, &plan, NULL, &on, &nomem)); /* for measuring, with no vectors of its own yet */
  PetscCall(VectorsCreate(device, csr->n, 1, &x));
  PetscCall(VectorsCreate(device, csr->m, 1, &y));
  PetscCall(CheckPair(csr, device, on, &x, 1, &y, 1, PETSC_FALSE, wrong));
  PetscCall(SpmvOnDeviceRepeat(on, repeats, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(VectorsDestroy(device, &x));
  PetscCall(VectorsDestroy(device, &y));
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscFunctionReturn(0);
}

/* Every third entry from the end, then the first ones; then with too little memory */
static PetscErrorCode CheckGather(SpmvDevice *device, PetscInt n, PetscInt m, PetscInt *wrong)
{
  const PetscLogDouble limit = device->limit, held = device->held;
  Vectors              v;
  SpmvOnDevice        *gather;
  PetscInt            *which;
  PetscScalar         *out;
  PetscBool            nomem;

  PetscFunctionBegin;
  PetscCall(VectorsCreate(device, n, 1, &v));
  PetscCall(PetscMalloc2(m, &which, m, &out));
  for (PetscInt k = 0; k < m; k++) {
    which[k] = (n - 1 - 3 * k % n + n) % n;
    out[k]   = NAN;
  }
  PetscCall(SpmvGatherCreate(device, m, which, &gather, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(SpmvOnDeviceMultiply(gather, NULL, v.buffer[1], out, NULL, PETSC_FALSE, &nomem));
  for (PetscInt k = 0; k < m; k++) *wrong += nomem || out[k] != v.entries[n + which[k]];
  PetscCall(SpmvOnDeviceDestroy(&gather));
  for (int room = 0; room < 2; room++) { /* for nothing, then for the numbers of the entries only */
    device->limit = device->held + (PetscLogDouble)(room * m) * sizeof(PetscInt);
    PetscCall(SpmvGatherCreate(device, m, which, &gather, &nomem));
    *wrong += room ? nomem || !gather : !nomem || gather;
    if (gather) PetscCall(SpmvOnDeviceMultiply(gather, NULL, v.buffer[1], out, NULL, PETSC_FALSE, &nomem));
    *wrong += !nomem;
    PetscCall(SpmvOnDeviceDestroy(&gather));
  }
  device->limit = limit;
  PetscCall(PetscFree2(which, out));
  PetscCall(VectorsDestroy(device, &v));
  *wrong += device->held != held;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[] = {1, 2, 63, 64, 65, 1000};
  PetscScalar   *dense;
  SpmvDevice    *device;
  SpmvTestCSR    t;
  SpmvCSR        csr;
  PetscInt       count = 6, repeats = 2, wrong = 0;
  PetscBool      quick;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-vectors", &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-quick", &quick));
  PetscCall(SpmvDeviceGet(&device));
  if (!device) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: there is no device; install pocl-opencl-icd\n"));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(PetscCalloc1(ROWS * COLUMNS, &dense));
  for (PetscInt k = 0; k < ROWS * COLUMNS; k++) { /* an empty row and a full one */
    if (k / COLUMNS != 7 && (k / COLUMNS == 70 || k * 7 % 31 < 2)) dense[k] = 1 + PetscCosReal((PetscReal)k);
  }
  PetscCall(SpmvTestCSRFromDense(ROWS, COLUMNS, dense, &t));
  csr = SpmvTestCSRView(&t);
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    PetscInt bad = 0;

    if (Formats[f]->device) PetscCall(CheckFormat(Formats[f], &csr, device, quick ? 1 : count, repeats, quick, &bad));
    if (bad) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " wrong\n", Formats[f]->name, bad));
    wrong += bad;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    PetscCall(CheckGather(device, 70, sizes[k], &wrong));
    PetscCall(CheckGather(device, 1, sizes[k], &wrong));
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFree(dense));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " wrong\n", wrong));
  PetscCall(PetscFinalize());
  return wrong ? 1 : 0;
}

/*TEST

  test:
    timeoutfactor: 3

TEST*/
