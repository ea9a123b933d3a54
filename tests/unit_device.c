static const char help[] =
  "What kernels may count on: the largest local memory, by a kernel of no format and by plans that need more than 48 kB; "
  "fences between work groups.\n\n";

#include "formatdevice.h"
#include "tune/tune.h"

#define GROUP 32

/* x is turned round inside of each work group, through an array of COUNT scalars of which the last ones are used */
static const char Turn[] = "KERNEL(GROUP)\n"
                           "void test_turn(GLOBAL const SCALAR *x, GLOBAL SCALAR *y, int n)\n"
                           "{\n"
                           "  LOCAL_LARGE(SCALAR, large, COUNT);\n"
                           "  const int t = LOCAL_ID, at = COUNT - GROUP;\n"
                           "\n"
                           "  large[at + t] = x[GLOBAL_ID];\n"
                           "  BARRIER;\n"
                           "  y[GLOBAL_ID] = large[at + GROUP - 1 - t];\n"
                           "}\n";

/* Each work group adds up what all groups that came before it have written, if their mark can be seen: none waits */
static const char Marks[] = "KERNEL(GROUP)\n"
                            "void test_marks(GLOBAL int *value, GLOBAL volatile uint *mark, GLOBAL int *seen, int n)\n"
                            "{\n"
                            "  if (LOCAL_ID == 0) {\n"
                            "    const int g = GROUP_ID;\n"
                            "    int       bad = 0;\n"
                            "\n"
                            "    value[g] = 7 + g;\n"
                            "    FENCE;\n"
                            "    ATOMIC_WRITE(&mark[g], 1u);\n"
                            "    for (int k = 0; k < n; k++) {\n"
                            "      const uint there = ATOMIC_READ(&mark[k]);\n"
                            "\n"
                            "      FENCE;\n"
                            "      if (there && value[k] != 7 + k) bad++;\n"
                            "    }\n"
                            "    seen[g] = bad;\n"
                            "  }\n"
                            "}\n";

/* n items of `bytes` in a buffer, zeros if there is no array */
static PetscErrorCode Buffer(SpmvDevice *d, size_t bytes, const void *data, void **buffer)
{
  PetscBool nomem = PETSC_FALSE;
  void     *zeros = NULL;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceAlloc(d, bytes, buffer));
  if (!data) PetscCall(PetscCalloc1(bytes, (char **)&zeros));
  PetscCall(SpmvDeviceWrite(d, *buffer, data ? data : zeros, bytes, &nomem));
  PetscCall(PetscFree(zeros));
  PetscCheck(*buffer && !nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLarge(SpmvDevice *d)
{
  const size_t  most = PetscMin(PetscMax(d->info.local, d->info.large), (size_t)1 << 18) / 2, count = most / sizeof(PetscScalar);
  const int32_t n = 3 * GROUP;
  PetscScalar   x[3 * GROUP], y[3 * GROUP];
  char          options[SPMV_DEVICE_OPTIONS], why[512] = "", more[512] = "", both[512] = "";
  void         *program, *bx, *by;
  PetscBool     nomem = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceFits(&d->info, GROUP, 0, most, "test", "less", why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscCall(SpmvDeviceFits(&d->info, GROUP, d->info.local + 1, 0, "test", "less", more, sizeof(more)));
  PetscCall(SpmvDeviceFits(&d->info, GROUP, d->info.local + 1, 8, "test", "less", both, sizeof(both)));
  PetscCheck(more[0] && both[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "declared arrays have no limit");
  for (int k = 0; k < n; k++) x[k] = k;
  PetscCall(Buffer(d, sizeof(x), x, &bx));
  PetscCall(Buffer(d, sizeof(y), NULL, &by));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-DGROUP=%d -DCOUNT=%zu", GROUP, count));
  PetscCall(SpmvProgramGet(d, Turn, options, &program));
  {
    SpmvDeviceCall call = {.kernel = "test_turn",
                           .groups = 3,
                           .group  = GROUP,
                           .local  = count * sizeof(PetscScalar),
                           .nargs  = 3,
                           .arg    = {&bx, &by, &n},
                           .size   = {sizeof(void *), sizeof(void *), sizeof(n)}};

    PetscCall(SpmvDeviceRun(d, program, &call, PETSC_TRUE, &nomem));
  }
  PetscCall(SpmvDeviceRead(d, by, y, sizeof(y)));
  for (int k = 0; k < n; k++)
    PetscCheck(y[k] == (PetscScalar)(k / GROUP * GROUP + GROUP - 1 - k % GROUP), PETSC_COMM_SELF, PETSC_ERR_PLIB, "y[%d] is %g",
               k, (double)PetscRealPart(y[k]));
  PetscCall(SpmvDeviceFree(d, sizeof(x), &bx));
  PetscCall(SpmvDeviceFree(d, sizeof(y), &by));
  PetscCall(PetscInfo(NULL, "%zu bytes of local memory in one array\n", count * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMarks(SpmvDevice *d)
{
  const int32_t n = 64;
  int32_t       seen[64];
  void         *program, *value, *mark, *out;
  PetscBool     nomem = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Buffer(d, sizeof(seen), NULL, &value));
  PetscCall(Buffer(d, sizeof(seen), NULL, &mark));
  PetscCall(Buffer(d, sizeof(seen), NULL, &out));
  PetscCall(SpmvProgramGet(d, Marks, "-DGROUP=32 " SPMV_ACROSS, &program));
  {
    SpmvDeviceCall call = {.kernel = "test_marks",
                           .groups = (size_t)n,
                           .group  = GROUP,
                           .nargs  = 4,
                           .arg    = {&value, &mark, &out, &n},
                           .size   = {sizeof(void *), sizeof(void *), sizeof(void *), sizeof(n)}};

    PetscCall(SpmvDeviceRun(d, program, &call, PETSC_TRUE, &nomem));
  }
  PetscCall(SpmvDeviceRead(d, out, seen, sizeof(seen)));
  for (int k = 0; k < n; k++) PetscCheck(!seen[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "group %d saw a mark without its value", k);
  PetscCall(SpmvDeviceFree(d, sizeof(seen), &value));
  PetscCall(SpmvDeviceFree(d, sizeof(seen), &mark));
  PetscCall(SpmvDeviceFree(d, sizeof(seen), &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many bytes of scalars in a tile, whatever a scalar has */
#if defined(PETSC_USE_COMPLEX)
  #define TILE   "32"
  #define STAGED "8192"
#else
  #define TILE   "64"
  #define STAGED "16384"
#endif

/* Plans of which a work group shares more than 48 kB */
static const struct {
  const SpmvFormat *format;
  const char       *plan;
} Plans[] = {
  {&SpmvFormat_bccoo, "block_height=4 block_width=4 device_strategy=2 device_cache=4 device_workgroup=256"},
  {&SpmvFormat_bccoo, "block_height=1 block_width=1 device_strategy=1 device_transpose=online tile=32 device_workgroup=256"},
  {&SpmvFormat_bccoo, "block_height=2 block_width=1 device_strategy=1 tile=" TILE " device_registers=8 device_workgroup=128"},
  {&SpmvFormat_cmrs, "device_order=columns height=16 device_workgroup=512"},
  {&SpmvFormat_csradaptive, "device_num_rows_stream=16 device_workgroup=512"},
  {&SpmvFormat_tpspmv, "device_stage=yes tile=" STAGED},
};

/* Where there is room for it, a plan that has no room in what kernels declare makes the right products; elsewhere it is
   refused */
static PetscErrorCode TestPlans(SpmvDevice *d)
{
  PetscInt    length[600];
  SpmvTestCSR t;
  SpmvCSR     csr;

  PetscFunctionBegin;
  for (int r = 0; r < 600; r++) length[r] = 1 + r * 7 % 40;
  PetscCall(Rows(600, 20000, length, &t));
  csr = SpmvTestCSRView(&t);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Plans); k++) {
    const SpmvSide *side = &Plans[k].format->device->side;
    SpmvPlan        plan = SpmvTestPlan(Plans[k].format, SPMV_BACKEND_DEVICE), small = plan;
    SpmvDeviceInfo  less = d->info;
    char            why[512], no[512];
    PetscBool       good, nomem;
    PetscInt        wrong = 0;
    SpmvOnDevice   *on;

    PetscCall(SpmvPlanRead(side, Plans[k].plan, &plan, &good));
    PetscCheck(good, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no plan: %s", Plans[k].plan);
    small      = plan;
    less.local = 49152;
    less.large = 0;
    PetscCall(SpmvResolve(side, &csr, &less, &small, no, sizeof(no)));
    PetscCheck(strstr(no, "bytes of local memory are more than the 49152"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: 48 kB are enough: %s", Plans[k].plan, no);
    PetscCall(SpmvResolve(side, &csr, &d->info, &plan, why, sizeof(why)));
    PetscCheck(!why[0] || d->info.large < 98304, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", Plans[k].plan, why);
    if (why[0]) continue;
    PetscCall(SpmvOnDeviceCreate(d, Plans[k].format, &csr, &plan, NULL, &on, &nomem));
    PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory");
    PetscCall(Products(&csr, on, &wrong));
    PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d entries are wrong", Plans[k].plan, (int)wrong);
    PetscCall(SpmvOnDeviceDestroy(&on));
  }
  PetscCall(RowsDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  SpmvDevice *device;

  PetscFunctionBeginUser;
  PetscCall(Begin(&argc, &argv, help, &device));
  if (device) {
    PetscCall(TestLarge(device));
    if (!device->info.gpu || device->info.forward)
      PetscCall(TestMarks(device)); /* plans that need fences are refused elsewhere */
    PetscCall(TestPlans(device));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -malloc_dump

TEST*/
