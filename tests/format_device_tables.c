static const char help[] = "Every value of Tables I and II of the BCCOO paper, on a device: the parameters of each strategy, "
                           "while the others take turns.\n\
  -sample <N>   every N-th plan only\n\n";

#include "formatdevice.h"
#include "mat/impls/bccoo/device/bccoo_device.h"

static PetscInt Tries, Plans, Refusals, Wrong;

/* Notes that a plan is refused for what a GPU may have too little of */
static PetscErrorCode TooLittle(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode ierr,
                                PetscErrorType type, const char *message, void *context)
{
  (void)comm, (void)line, (void)function, (void)file, (void)context;
  if (type == PETSC_ERROR_INITIAL &&
      (strstr(message, "bytes of local memory are more than") || strstr(message, "work items a work group are more than")))
    Refusals++;
  return ierr;
}

/* Block sizes, kinds of columns, words of flags, slices and carries take turns */
static SpmvPlan Turn(void)
{
  static PetscInt       turn;
  static const PetscInt heights[] = {1, 2, 3, 4}, widths[] = {1, 2, 4}, bits[] = {8, 16, 32}, slices[] = {1, 2, 4, 8, 16, 32},
                        columns[] = {BCCOO_COLUMNS_DIFFERENCE, BCCOO_COLUMNS_INT32, BCCOO_COLUMNS_UINT16};
  SpmvPlan plan                   = Plan(&SpmvFormat_bccoo);

  plan.value[BCCOO_BLOCK_HEIGHT]     = heights[turn % 4];
  plan.value[BCCOO_BLOCK_WIDTH]      = widths[turn / 4 % 3];
  plan.value[BCCOO_DEVICE_FLAG_BITS] = bits[turn % 3];
  plan.value[BCCOO_COLUMNS]          = columns[turn / 2 % 3];
  plan.value[BCCOO_SLICES]           = turn % 2 ? 1 : slices[turn / 2 % 6]; /* BCCOO+ every second time */
  plan.value[BCCOO_DEVICE_CARRY]     = PetscDefined(USE_COMPLEX) ? 0 : turn / 5 % 2;
  turn++;
  return plan;
}

/* Products; only a GPU may refuse a plan, if it has too little local memory or too small work groups */
static PetscErrorCode Try(SpmvDevice *device, const SpmvTestCSR *t, SpmvPlan plan, const char what[])
{
  const SpmvFormat *f      = &SpmvFormat_bccoo;
  const SpmvPlan    host   = SpmvTestPlan(f, SPMV_BACKEND_HOST);
  SpmvCSR           csr    = SpmvTestCSRView(t);
  SpmvOnDevice     *on     = NULL;
  const PetscInt    before = Refusals;
  PetscInt          wrong  = 0;
  PetscBool         nomem;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  Tries++;
  if (!SpmvTestSampled()) PetscFunctionReturn(0);
  PetscCall(PetscPushErrorHandler(TooLittle, NULL));
  ierr = SpmvOnDeviceCreate(device, f, &csr, &plan, &host, &on, &nomem);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || (ierr == PETSC_ERR_ARG_OUTOFRANGE && device->info.gpu && Refusals == before + 1), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s is refused: error %d", what, (int)ierr);
  if (!ierr) {
    PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
    PetscCall(Products(&csr, on, &wrong));
    Plans++;
  }
  if (wrong) {
    Wrong++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "%s, %" PetscInt_FMT " x %" PetscInt_FMT ", tile %" PetscInt_FMT ", work group %" PetscInt_FMT
                          ": %" PetscInt_FMT " entries wrong\n",
                          what, plan.value[BCCOO_BLOCK_HEIGHT], plan.value[BCCOO_BLOCK_WIDTH], plan.value[BCCOO_TILE],
                          plan.value[BCCOO_DEVICE_WORKGROUP], wrong));
  }
  PetscCall(SpmvOnDeviceDestroy(&on));
  PetscFunctionReturn(0);
}

/* Table I: Reg_size and ShM_size, whose sum is the tile; every second time transposed online as well; work groups take turns */
static PetscErrorCode Strategy1(SpmvDevice *device, const SpmvTestCSR *t)
{
  static const PetscInt size[] = {0, 8, 16, 32}, workgroups[] = {64, 128, 256, 512};

  PetscFunctionBegin;
  for (int k = 1; k < 32; k++) {
    const PetscInt registers = size[k / 4 % 4], local = size[k % 4];
    SpmvPlan       plan = Turn();

    if (k == 16 || (k > 16 && k % 2)) continue; /* 16: no tile at all */
    plan.value[BCCOO_TILE]             = registers + local;
    plan.value[BCCOO_DEVICE_STRATEGY]  = 1;
    plan.value[BCCOO_DEVICE_REGISTERS] = registers ? registers : -1;
    plan.value[BCCOO_DEVICE_TRANSPOSE] = k / 16 ? BCCOO_TRANSPOSE_ONLINE : BCCOO_TRANSPOSE_OFFLINE;
    plan.value[BCCOO_DEVICE_WORKGROUP] = workgroups[registers + local > 32 ? 0 : k % 4];
    PetscCall(Try(device, t, plan, k / 16 ? "strategy 1 online" : "strategy 1"));
  }
  PetscFunctionReturn(0);
}

/* Table I: tiles, and result caches in turn */
static PetscErrorCode Strategy2(SpmvDevice *device, const SpmvTestCSR *t)
{
  static const PetscInt tiles[] = {8, 16, 24, 32, 40, 64, 96, 128};

  PetscFunctionBegin;
  for (int k = 0; k < 8; k++) {
    SpmvPlan plan = Turn();

    plan.value[BCCOO_TILE]             = tiles[k];
    plan.value[BCCOO_DEVICE_STRATEGY]  = 2;
    plan.value[BCCOO_DEVICE_CACHE]     = 1 + (k + k / 4) % 4;
    plan.value[BCCOO_DEVICE_WORKGROUP] = 64;
    PetscCall(Try(device, t, plan, "strategy 2"));
  }
  PetscFunctionReturn(0);
}

/* Table II: tiles, bunches; work groups take turns */
static PetscErrorCode Strategy3(SpmvDevice *device, const SpmvTestCSR *t)
{
  static const PetscInt tiles[] = {32, 64, 128, 256, 512, 1024}, bunches[] = {1, 2, 4}, workgroups[] = {1, 2, 4, 8, 16, 32};

  PetscFunctionBegin;
  for (int k = 0; k < 12; k++) {
    SpmvPlan plan = Turn();

    plan.value[BCCOO_TILE]             = tiles[k % 6];
    plan.value[BCCOO_DEVICE_STRATEGY]  = 3;
    plan.value[BCCOO_DEVICE_BUNCH]     = bunches[(k + k / 6) % 3];
    plan.value[BCCOO_DEVICE_WORKGROUP] = workgroups[(k + k / 4) % 6];
    PetscCall(Try(device, t, plan, "strategy 3"));
  }
  PetscFunctionReturn(0);
}

/* All ways to carry sums between many small work groups, all strategies */
static PetscErrorCode Carries(SpmvDevice *device, const SpmvTestCSR *t)
{
  PetscFunctionBegin;
  for (int k = 0; k < 10; k++) {
    SpmvPlan plan = Turn();

    plan.value[BCCOO_TILE]             = 8;
    plan.value[BCCOO_DEVICE_STRATEGY]  = 1 + k / 3 % 3;
    plan.value[BCCOO_DEVICE_CARRY]     = PetscDefined(USE_COMPLEX) ? 0 : k % 2;
    plan.value[BCCOO_DEVICE_WORKGROUP] = 8;
    plan.value[BCCOO_DEVICE_TRANSPOSE] = k == 9 ? BCCOO_TRANSPOSE_ONLINE : BCCOO_TRANSPOSE_OFFLINE; /* of strategy 1 */
    PetscCall(Try(device, t, plan, "carries"));
  }
  PetscFunctionReturn(0);
}

/* Plans that are none of the tables' */
static PetscErrorCode Refuse(const SpmvTestCSR *t)
{
  const SpmvDeviceInfo cpu = {.name = "a CPU", .group = 256, .local = 49152, .atomic64 = PETSC_TRUE};
  SpmvPlan             plan;

  PetscFunctionBegin;
  plan                           = Plan(&SpmvFormat_bccoo);
  plan.value[BCCOO_DEVICE_CARRY] = 1;
  PetscCall(Refused(&SpmvFormat_bccoo, t, plan, "adjacent synchronisation on a device that is no GPU", cpu));
  plan                              = Plan(&SpmvFormat_bccoo);
  plan.value[BCCOO_DEVICE_STRATEGY] = 2;
  plan.value[BCCOO_DEVICE_BUNCH]    = 2;
  PetscCall(Refused(&SpmvFormat_bccoo, t, plan, "a bunch with strategy 2", cpu));
  plan.value[BCCOO_DEVICE_STRATEGY]  = 3;
  plan.value[BCCOO_DEVICE_BUNCH]     = 0;
  plan.value[BCCOO_DEVICE_TRANSPOSE] = BCCOO_TRANSPOSE_ONLINE;
  PetscCall(Refused(&SpmvFormat_bccoo, t, plan, "strategy 3 online", cpu));
  plan                               = Plan(&SpmvFormat_bccoo);
  plan.value[BCCOO_DEVICE_STRATEGY]  = 2;
  plan.value[BCCOO_DEVICE_REGISTERS] = 8;
  PetscCall(Refused(&SpmvFormat_bccoo, t, plan, "strategy 2 with sums in registers", cpu));
  plan.value[BCCOO_DEVICE_STRATEGY]  = 1;
  plan.value[BCCOO_TILE]             = 8;
  plan.value[BCCOO_DEVICE_REGISTERS] = 16;
  PetscCall(Refused(&SpmvFormat_bccoo, t, plan, "a tile of 8 with 16 sums in registers", cpu));
  plan.value[BCCOO_DEVICE_REGISTERS] = 0;
  plan.value[BCCOO_DEVICE_CACHE]     = 2;
  PetscCall(Refused(&SpmvFormat_bccoo, t, plan, "strategy 1 with a result cache", cpu));
  PetscFunctionReturn(0);
}

/* What is left open: a GPU transposes low blocks online, where they fit; who asks for a knob of a strategy gets that strategy */
static PetscErrorCode Resolves(const SpmvTestCSR *t)
{
  static const struct {
    PetscBool gpu;
    PetscInt  height, asked, knob, value, strategy, transpose;
    size_t    local;
  } cases[] = {
    {PETSC_TRUE, 1, 0, -1, 0, 1, BCCOO_TRANSPOSE_ONLINE, 49152},
    {PETSC_TRUE, 2, 0, -1, 0, 1, BCCOO_TRANSPOSE_ONLINE, 49152},
    {PETSC_TRUE, 3, 0, -1, 0, 1, BCCOO_TRANSPOSE_OFFLINE, 49152},
    {PETSC_TRUE, 1, 0, -1, 0, 1, BCCOO_TRANSPOSE_OFFLINE, 8192},
    {PETSC_TRUE, 1, 2, -1, 0, 2, BCCOO_TRANSPOSE_OFFLINE, 49152},
    {PETSC_FALSE, 1, 0, -1, 0, 1, BCCOO_TRANSPOSE_OFFLINE, 49152},
    {PETSC_FALSE, 8, 0, BCCOO_DEVICE_TRANSPOSE, BCCOO_TRANSPOSE_ONLINE, 1, BCCOO_TRANSPOSE_ONLINE, 1 << 20},
    {PETSC_TRUE, 8, 0, BCCOO_DEVICE_REGISTERS, 16, 1, BCCOO_TRANSPOSE_OFFLINE, 1 << 20},
    {PETSC_TRUE, 1, 0, BCCOO_DEVICE_CACHE, 2, 2, BCCOO_TRANSPOSE_OFFLINE, 49152},
    {PETSC_TRUE, 1, 0, BCCOO_DEVICE_BUNCH, 2, 3, BCCOO_TRANSPOSE_OFFLINE, 49152},
  };
  const SpmvCSR csr = SpmvTestCSRView(t);

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const SpmvDeviceInfo info = {.name = "a device", .group = 1024, .local = cases[k].local, .gpu = cases[k].gpu};
    SpmvPlan             plan = Plan(&SpmvFormat_bccoo);
    char                 why[512];

    plan.value[BCCOO_BLOCK_HEIGHT]    = cases[k].height;
    plan.value[BCCOO_BLOCK_WIDTH]     = 1;
    plan.value[BCCOO_DEVICE_STRATEGY] = cases[k].asked;
    if (cases[k].knob >= 0) plan.value[cases[k].knob] = cases[k].value;
    PetscCall(SpmvResolve(&SpmvFormat_bccoo.device->side, &csr, &info, &plan, why, sizeof(why)));
    PetscCheck(!why[0] && plan.value[BCCOO_DEVICE_STRATEGY] == cases[k].strategy &&
                 plan.value[BCCOO_DEVICE_TRANSPOSE] == cases[k].transpose,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "case %zu: strategy %" PetscInt_FMT ", transpose %" PetscInt_FMT " %s", k,
               plan.value[BCCOO_DEVICE_STRATEGY], plan.value[BCCOO_DEVICE_TRANSPOSE], why);
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvDevice *device;
  PetscInt    length[900];
  SpmvTestCSR t;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(SpmvDeviceGet(&device));
  if (!device) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: there is no device; install pocl-opencl-icd\n"));
    PetscCall(PetscFinalize());
    return 0;
  }
  device->info.forward = PETSC_TRUE; /* what runs here lets work groups go on while others wait for them */
  for (PetscInt r = 0; r < 900; r++) length[r] = r == 437 ? 400 : r > 600 && r < 650 ? 0 : r * r % 11;
  PetscCall(Rows(900, 401, length, &t));
  PetscCall(Strategy1(device, &t));
  PetscCall(Strategy2(device, &t));
  PetscCall(Strategy3(device, &t));
  PetscCall(Carries(device, &t));
  PetscCall(Refuse(&t));
  if (sizeof(PetscScalar) == 8) PetscCall(Resolves(&t)); /* what fits is of that size */
  PetscCheck(Tries == 52 && Plans + Refusals == (Tries + SpmvTestSample() - 1) / SpmvTestSample(), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%" PetscInt_FMT " plans ran, %" PetscInt_FMT " were refused", Plans, Refusals);
  /* The others need more than 48 kB of real numbers */
  PetscCheck(Plans >= 40 / SpmvTestSample() || device->info.local < 49152 || device->info.group < 512 || sizeof(PetscScalar) > 8,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "only %" PetscInt_FMT " plans ran in %zu bytes of local memory", Plans,
             device->info.local);
  PetscCall(RowsDestroy(&t));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " plans wrong\n", Wrong));
  PetscCall(PetscFinalize());
  return Wrong ? 1 : 0;
}

/*TEST

  test:
    timeoutfactor: 3
    args: -spmv_device_cache none -sample 8

  test: # the kernels of 52 plans are compiled
    suffix: long
    output_file: output/format_device_tables.out
    timeoutfactor: 5
    args: -spmv_device_cache none

TEST*/
