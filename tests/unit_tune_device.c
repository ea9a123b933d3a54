static const char help[] =
  "The tuner for devices that are not there: rates, estimates of every format, host against device, measuring by a "
  "clock that the test moves, heuristics, wisdom.\n\n";

#include "spmvtest.h"
#include <unistd.h>

#define SECOND_BUILD 0.25 /* seconds that an attempt takes, by the clock of the test */

static double Now;

static PetscErrorCode Clock(PetscLogDouble *seconds)
{
  *seconds = Now += 1e-6;
  return PETSC_SUCCESS;
}

/* What a device is, and how fast it is told to be */
static const struct {
  SpmvDeviceInfo info;
  SpmvDeviceTold told;
} Devices[] = {
  {{.name     = "H100",
    .driver   = "CUDA 12.4",
    .compiler = "NVRTC 12.4 for sm_90",
    .memory   = (size_t)80 << 30,
    .room     = 80e9,
    .local    = 49152,
    .large    = 232448,
    .cache    = (size_t)50 << 20,
    .group    = 1024,
    .units    = 132,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"NVIDIA", 1.98e9, 3.35e12}},
  {{.name     = "H200",
    .driver   = "CUDA 13.0",
    .compiler = "NVRTC 13.0 for sm_90",
    .memory   = (size_t)140 << 30,
    .room     = 140e9,
    .local    = 49152,
    .large    = 232448,
    .cache    = 62914560,
    .group    = 1024,
    .units    = 132,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"NVIDIA", 1.98e9, 4.814e12}},
  {{.name     = "MI250X",
    .driver   = "3590",
    .compiler = "OpenCL 2.0",
    .memory   = (size_t)64 << 30,
    .room     = 64e9,
    .local    = 65536,
    .cache    = 16384,
    .group    = 256,
    .units    = 110,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"Advanced Micro Devices, Inc.", 1.7e9, 0}},
  {{.name     = "Max 1550",
    .driver   = "23",
    .compiler = "OpenCL 3.0",
    .memory   = (size_t)64 << 30,
    .room     = 64e9,
    .local    = 131072,
    .cache    = (size_t)208 << 20,
    .group    = 1024,
    .units    = 512,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"Intel(R) Corporation", 1.6e9, 0}},
  {{.name     = "a processor",
    .driver   = "3.1",
    .compiler = "PoCL",
    .memory   = (size_t)16 << 30,
    .room     = 16e9,
    .local    = 1 << 20,
    .cache    = 32 << 20,
    .group    = 4096,
    .units    = 8,
    .real64   = PETSC_TRUE},
   {"AuthenticAMD", 3.5e9, 0}},
};
enum { H100, H200, MI250X, MAX1550, POCL, DEVICES };

/* The knob of a device side that has a name, and what its values are */
static PetscInt Knob(PetscInt number, const char name[])
{
  const SpmvSide *side = &SpmvCandidate[number]->device->side;

  for (PetscInt k = 0; k < side->nparams; k++) {
    if (!strcmp(side->params[k].name, name)) return k;
  }
  return -1;
}

/* What the device of the test does: nothing, in a time that depends on the plan */
typedef struct {
  PetscInt attempts;
  PetscInt number;     /* plans of this candidate take 2 ms, all others 4; */
  PetscInt knob, fast; /* with this value of this knob a twentieth of it */
  PetscInt seen[64];   /* how often that knob had each of its choices */
  PetscBool
    together; /* or it is bccoo, and the time is by strategy, bunch, tile and work group: how far they are from what is fastest */
} Play;

/* Seconds of a plan of bccoo by the distances of its knobs from Table II's long tiles and small work groups */
static PetscLogDouble Together(const SpmvPlan *plan)
{
  const PetscInt *p     = plan->value;
  const double    tile  = PetscAbsReal(PetscLog2Real((PetscReal)p[Knob(SPMV_NUMBER_bccoo, "tile")] / 512));
  const double    group = PetscAbsReal(PetscLog2Real((PetscReal)p[Knob(SPMV_NUMBER_bccoo, "device_workgroup")] / 4));
  const PetscBool table =
    (PetscBool)(p[Knob(SPMV_NUMBER_bccoo, "device_strategy")] == 3 && p[Knob(SPMV_NUMBER_bccoo, "device_bunch")] == 1);

  return 1e-4 * (1 + tile + group) * (table ? 1 : 3);
}

static PetscErrorCode Attempt(const SpmvTarget *target, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan,
                              const SpmvPlan *host, PetscInt products, void **fastest, SpmvTrial *trial)
{
  Play           *play = (Play *)target->context;
  const PetscBool own  = (PetscBool)(SpmvCandidate[play->number] == format);

  PetscFunctionBegin;
  (void)csr, (void)host, (void)fastest;
  play->attempts++;
  Now += SECOND_BUILD;
  if (own) play->seen[plan->value[play->knob] & 63]++;
  *trial = (SpmvTrial){.build = SECOND_BUILD, .products = products, .product = own ? 2e-3 : 4e-3};
  if (own && plan->value[play->knob] == play->fast) trial->product /= 20;
  if (play->together) trial->product = Together(plan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvTarget Target(int device, Play *play)
{
  SpmvTarget t = {.api = "test", .info = &Devices[device].info, .attempt = Attempt, .context = play};

  SpmvRatesOf(t.info, &Devices[device].told, &t.rates);
  return t;
}

/* m rows of `length` entries around the diagonal, and every 100-th row of twice as many */
static PetscErrorCode Band(PetscInt m, PetscInt length, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = m};
  PetscCall(PetscMalloc3(m + 1, &t->i, 2 * m * length, &t->j, 2 * m * length, &t->a));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt n = r % 100 ? length : 2 * length;

    t->i[r] = nz;
    for (PetscInt k = 0; k < n && r + 2 * k < m; k++) {
      t->j[nz]   = r + 2 * k;
      t->a[nz++] = 1 + (PetscReal)(r % 7);
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BandDestroy(SpmvTestCSR *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(t->i, t->j, t->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Baseline(void *context)
{
  ++*(PetscInt *)context;
  Now += 3e-3;
  return PETSC_SUCCESS;
}

/* Each kind has rates, those that are told are taken, and times grow with what there is to do */
static PetscErrorCode TestRates(void)
{
  PetscFunctionBegin;
  for (int d = 0; d < DEVICES; d++) {
    const SpmvTarget     t    = Target(d, NULL);
    const SpmvRates     *r    = &t.rates;
    const SpmvDeviceLoad load = {.bytes    = 1e9,
                                 .sectors  = 1e6,
                                 .near     = 1e6,
                                 .cycles   = 1e8,
                                 .items    = 1e6,
                                 .group    = 128,
                                 .waits    = 1e7,
                                 .chain    = 12,
                                 .after    = 1,
                                 .cleared  = 10,
                                 .launches = 1};
    const PetscLogDouble all  = SpmvDeviceSeconds(r, &load, 1e7, 0);
    SpmvDeviceLoad       more;

    PetscCheck(r->bandwidth > 1e10 && r->cached >= r->bandwidth && r->cache > 1e6 && r->launch > 0 && r->byte > 0,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes a second, %g from a cache of %g", t.info->name,
               (double)r->bandwidth, (double)r->cached, (double)r->cache);
    PetscCheck(all >= 1e9 / r->bandwidth, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s reads faster than its memory", t.info->name);
#define GROWS(field, by, strictly) \
  more = load; \
  more.field *= by; \
  PetscCheck(SpmvDeviceSeconds(r, &more, 1e7, 0) > all || !(strictly), PETSC_COMM_SELF, PETSC_ERR_PLIB, \
             "%s does not mind its " #field, t.info->name)
    GROWS(bytes, 2, 1);
    GROWS(cycles, 1000, 1);
    GROWS(launches, 2, 1);
    GROWS(chain, 1e6, 1);
    GROWS(sectors, 1e3, !t.info->gpu); /* what a work group asks for again is in a GPU's first cache */
    GROWS(near, 1e3, t.info->gpu);
    GROWS(waits, 1e3, t.info->gpu);
    GROWS(after, 1e3, t.info->gpu);
    GROWS(cleared, 1e3, d == H100 || d == H200);
    GROWS(items, 1e-3, t.info->gpu); /* too few work items to keep memory busy */
    PetscCheck(SpmvMoveSeconds(r, 1e6, 1e6) > SpmvMoveSeconds(r, 1e3, 1e3), PETSC_COMM_SELF, PETSC_ERR_PLIB, "moving is free");
  }
  for (int d = 0; d < DEVICES; d++) { /* groups that are small, or share much, leave room for fewer work items */
    const SpmvTarget     t     = Target(d, NULL);
    const PetscBool      known = (PetscBool)(d == H100 || d == H200 || d == MI250X); /* for how many there is room */
    SpmvDeviceLoad       load  = {.bytes = 1e7, .items = 1e6, .waits = 1e9, .launches = 1}, small, large, many;
    const PetscLogDouble all   = SpmvDeviceSeconds(&t.rates, &load, 0, 0);

    load.group = 256;
    load.local = t.rates.local / 8;
    PetscCheck(SpmvDeviceSeconds(&t.rates, &load, 0, 0) == all, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s has no room for 8 groups of 256", t.info->name);
    small = large = many = load;
    small.group          = 32;
    small.local          = 0;
    large.local          = t.rates.local / 1.5;
    many.registers       = 512;
    PetscCheck((SpmvDeviceSeconds(&t.rates, &small, 0, 0) > 1.9 * all) == known, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: work groups of 32 do not fill a processor", t.info->name);
    PetscCheck((SpmvDeviceSeconds(&t.rates, &large, 0, 0) > 7 * all) == known, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: one work group that takes most of local memory does not fill a processor", t.info->name);
    PetscCheck((SpmvDeviceSeconds(&t.rates, &many, 0, 0) > 3 * all) == known, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: work items of 512 registers fill a processor", t.info->name);
  }
  PetscCheck(PetscAbsReal((PetscReal)(Target(H100, NULL).rates.bandwidth / 3.35e12 - 0.9)) < 0.01, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%g is not what CUDA told", (double)Target(H100, NULL).rates.bandwidth);
  PetscCheck(Target(MI250X, NULL).rates.cache > 1e6, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "AMD's first cache is taken for the second");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of a storage as it is built */
static PetscErrorCode BytesBuilt(const SpmvSide *side, const SpmvTarget *target, const SpmvCSR *csr, SpmvPlan plan,
                                 PetscLogDouble *bytes)
{
  void *storage;

  PetscFunctionBegin;
  PetscCall(SpmvBuild(side, csr, target->info, &plan, &storage));
  PetscCall(SpmvTestBytes(side, storage, bytes));
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 7 or 27 points in nx x nx x nz, row after row: planes are nx^2 columns apart */
static PetscErrorCode Stencil(PetscInt nx, PetscInt nz, PetscInt points, SpmvTestCSR *t)
{
  const PetscInt plane = nx * nx, m = plane * nz;
  PetscInt       n = 0, at[27], width = 0;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = m};
  for (PetscInt k = 0; k < 27; k++) {
    const PetscInt z = k / 9 - 1, y = k / 3 % 3 - 1, x = k % 3 - 1;

    if (points == 27 || PetscAbsInt(x) + PetscAbsInt(y) + PetscAbsInt(z) <= 1) at[width++] = z * plane + y * nx + x;
  }
  PetscCall(PetscMalloc3(m + 1, &t->i, width * m, &t->j, width * m, &t->a));
  for (PetscInt r = 0; r < m; r++) {
    t->i[r] = n;
    for (int k = 0; k < width; k++) {
      if (r + at[k] < 0 || r + at[k] >= m) continue;
      t->j[n]   = r + at[k];
      t->a[n++] = 1 + (PetscReal)(r % 7);
    }
  }
  t->i[m] = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* m rows of `length` entries anywhere in n columns */
static PetscErrorCode Anywhere(PetscInt m, PetscInt n, PetscInt length, SpmvTestCSR *t)
{
  const PetscInt part  = n / length;
  uint64_t       state = 1;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = n};
  PetscCall(PetscMalloc3(m + 1, &t->i, m * length, &t->j, m * length, &t->a));
  for (PetscInt r = 0; r <= m; r++) t->i[r] = r * length;
  for (PetscInt k = 0; k < m * length; k++) {
    state   = state * 6364136223846793005 + 1442695040888963407;
    t->j[k] = k % length * part + (PetscInt)((state >> 33) % (uint64_t)part);
    t->a[k] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan that a format chooses, and its estimate */
static PetscErrorCode Estimate(const SpmvTarget *target, const SpmvTestCSR *t, PetscInt number, SpmvOption *option)
{
  const SpmvCSR     csr    = SpmvTestCSRView(t);
  const SpmvFormat *f      = SpmvCandidate[number];
  SpmvPlan          plan   = SpmvTestPlan(f, SPMV_BACKEND_DEVICE);
  SpmvSample        sample = {0};
  char              why[512];

  PetscFunctionBegin;
  PetscCall(SpmvPlanChoose(&csr, SPMV_ISA_COUNT, target, number, &plan, NULL));
  PetscCall(SpmvResolve(&f->device->side, &csr, target->info, &plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s on %s: %s", f->name, target->info->name, why);
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  sample.target = target;
  PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, number, 1, &plan, option));
  PetscCall(SpmvSampleDestroy(&sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bytes of a stencil whose planes are too far apart for 15 bits are estimated as they are built */
static PetscErrorCode TestPlanes(void)
{
  const SpmvTarget target = Target(H100, NULL);
  SpmvTestCSR      t;
  SpmvCSR          csr;

  PetscFunctionBegin;
  PetscCall(Stencil(200, 8, 7, &t));
  csr = SpmvTestCSRView(&t);
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    const SpmvFormat *f = SpmvCandidate[k];
    SpmvOption        option;
    PetscLogDouble    bytes;

    if (!f->device) continue;
    PetscCall(Estimate(&target, &t, k, &option));
    PetscCall(BytesBuilt(&f->device->side, &target, &csr, option.plan, &bytes));
    PetscCheck(PetscAbsReal((PetscReal)(option.bytes / bytes - 1)) < 0.1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %g bytes of a stencil by a sample, %g in all", f->name, (double)option.bytes, (double)bytes);
  }
  PetscCall(BandDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What an H200 took for products by each format, in microseconds (spmvbench's laplace7:95, laplace27:62, uniform:750000,
  lpwide:750000, of which these are near relatives): estimates are near, and what they choose is as fast as anything
*/
static PetscErrorCode TestMeasured(void)
{
  static const struct {
    const char    *name;
    PetscLogDouble us[SPMV_NUMBER_AIJ];
  } took[] = {
#define TOOK(b, c, a, t, p) \
  {[SPMV_NUMBER_bccoo]       = b, \
   [SPMV_NUMBER_cmrs]        = c, \
   [SPMV_NUMBER_csradaptive] = a, \
   [SPMV_NUMBER_tpspmv]      = t, \
   [SPMV_NUMBER_pmf]         = p}
    {"7 points", TOOK(25.3, 33.4, 27.3, 19.2, 19.6)},
    {"27 points", TOOK(26.4, 25.2, 27.1, 18.1, 19.3)},
    {"anywhere", TOOK(57.8, 58.0, 50.9, 49.1, 49.7)},
    {"few long rows", TOOK(49.3, 34.5, 45.6, 53.0, 44.8)}};
  const SpmvTarget target = Target(H200, NULL);

  PetscFunctionBegin;
  if (sizeof(PetscScalar) != 8) PetscFunctionReturn(PETSC_SUCCESS); /* what was measured were products of double */
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(took); c++) {
    SpmvTestCSR    t;
    PetscLogDouble least = PETSC_MAX_REAL, best = PETSC_MAX_REAL;
    PetscInt       chosen = -1;

    PetscCall(c == 0   ? Stencil(95, 95, 7, &t)
              : c == 1 ? Stencil(62, 62, 27, &t)
              : c == 2 ? Anywhere(750000, 750000, 8, &t)
                       : Anywhere(400, 750000, 15000, &t));
    for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
      SpmvOption     option;
      PetscLogDouble ratio;

      if (!SpmvCandidate[k]->device) continue;
      PetscCall(Estimate(&target, &t, k, &option));
      ratio = 1e6 * option.predicted / took[c].us[k];
      PetscCheck(ratio > 1 / 1.3 && ratio < 1.3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %g us are estimated, %g were measured",
                 took[c].name, SpmvCandidate[k]->name, 1e6 * (double)option.predicted, (double)took[c].us[k]);
      best = PetscMin(best, took[c].us[k]);
      if (option.predicted >= least) continue;
      least  = option.predicted;
      chosen = k;
    }
    PetscCheck(took[c].us[chosen] < 1.05 * best, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s is chosen, which took %g us, not %g",
               took[c].name, SpmvCandidate[chosen]->name, (double)took[c].us[chosen], (double)best);
    PetscCall(BandDestroy(&t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An x of 100 MB anywhere in which entries are misses the device's cache, although this processor's would hold it */
static PetscErrorCode TestMisses(void)
{
  const SpmvMachine machine = *SpmvMachineGet();
  const SpmvTarget  target  = Target(H100, NULL);
  SpmvMachine       large   = machine;
  const PetscInt    m = 400000, n = (PetscInt)(100000000 / sizeof(PetscScalar)), nz = 8 * m;
  SpmvOption        option;
  SpmvTestCSR       t;
  PetscLogDouble    once, missed;

  PetscFunctionBegin;
  large.cache[SPMV_LEVELS - 2] = large.last = 260e6;
  SpmvMachineSet(&large);
  PetscCall(Anywhere(m, n, 8, &t));
  PetscCall(Estimate(&target, &t, SPMV_NUMBER_csradaptive, &option));
  once   = (option.bytes + (PetscLogDouble)(m + n) * sizeof(PetscScalar)) / target.rates.bandwidth;
  missed = 0.5 * nz * SPMV_CACHE_LINE / target.rates.bandwidth; /* what a cache of 50 MB holds less */
  PetscCheck(option.predicted > once + missed, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g s are predicted, of which reading all once takes %g", (double)option.predicted, (double)once);
  SpmvMachineSet(&machine);
  PetscCall(BandDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each format with kernels has an estimate, the same one each time, whose bytes are those that are built; more rows take longer */
static PetscErrorCode TestEstimates(void)
{
  SpmvTestCSR t[2];

  PetscFunctionBegin;
  PetscCall(Band(30000, 12, &t[0]));
  PetscCall(Band(300000, 12, &t[1]));
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    const SpmvFormat *f = SpmvCandidate[k];

    for (int d = 0; d < DEVICES && f->device; d++) {
      const SpmvTarget target = Target(d, NULL);
      SpmvOption       option[2], again;
      PetscLogDouble   bytes = 0;

      for (int size = 0; size < 2; size++) {
        const SpmvCSR csr    = SpmvTestCSRView(&t[size]);
        SpmvPlan      plan   = SpmvTestPlan(f, SPMV_BACKEND_DEVICE);
        SpmvSample    sample = {0};
        char          why[512];

        PetscCall(SpmvPlanChoose(&csr, SPMV_ISA_COUNT, &target, k, &plan, NULL));
        PetscCall(SpmvResolve(&f->device->side, &csr, target.info, &plan, why, sizeof(why)));
        PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s on %s: %s", f->name, target.info->name, why);
        PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
        sample.target = &target;
        PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, k, 1, &plan, &option[size]));
        PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, k, 1, &plan, &again));
        PetscCheck(again.predicted == option[size].predicted && again.predicted > target.rates.launch, PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s on %s: %g s, then %g", f->name, target.info->name, (double)option[size].predicted,
                   (double)again.predicted);
        PetscCall(SpmvSampleDestroy(&sample));
        if (d != H100 || !size) continue;
        PetscCall(BytesBuilt(&f->device->side, &target, &csr, plan, &bytes));
        PetscCheck(PetscAbsReal((PetscReal)(option[size].bytes / bytes - 1)) < 0.25, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "%s: %g bytes by a sample, %g in all", f->name, (double)option[size].bytes, (double)bytes);
      }
      PetscCheck(option[1].predicted > option[0].predicted || (d != POCL && option[1].predicted == option[0].predicted),
                 /* as one row takes */ PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s on %s: %g s, ten times as much %g", f->name,
                 target.info->name, (double)option[0].predicted, (double)option[1].predicted);
    }
  }
  for (int size = 0; size < 2; size++) PetscCall(BandDestroy(&t[size]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Request, matrix, backend, device: a choice */
static PetscErrorCode Tune(const SpmvRequest *q, const SpmvTestCSR *t, PetscInt backend, PetscBool moves,
                           const SpmvTarget *target, PetscInt *aij, SpmvChoice *choice)
{
  const SpmvCSR csr = SpmvTestCSRView(t);
  const SpmvKey key = {csr.m, csr.n, csr.i[csr.m], 17};

  PetscFunctionBegin;
  *aij = 0;
  PetscCall(SpmvTune(q, &csr, &key, backend, moves, target, Baseline, aij, choice, NULL));
  PetscCheck(choice->known && choice->best.number >= 0 && SpmvChoiceAnswers(choice, q, &key, backend, moves), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "no choice");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Request(PetscInt kind, SpmvRequest *q)
{
  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, q));
  q->kind    = kind;
  q->seconds = 1e6;
  PetscCall(PetscStrncpy(q->wisdom, "none", sizeof(q->wisdom)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a device, all formats with kernels are estimated and nothing is run; of both, whoever is faster serves */
static PetscErrorCode TestChoice(SpmvRequest *q, SpmvChoice *choice)
{
  Play             play   = {0};
  const SpmvTarget target = Target(H100, &play);
  PetscInt         aij;
  SpmvTestCSR      small, large;
  char             text[1024];

  PetscFunctionBegin;
  PetscCall(Band(200, 5, &small));
  PetscCall(Band(400000, 12, &large));
  PetscCall(Request(SPMV_TUNE_ESTIMATE, q));
  PetscCall(Tune(q, &large, SPMV_BACKEND_DEVICE, PETSC_TRUE, &target, &aij, choice));
  PetscCheck(!aij && !play.attempts && choice->best.plan.backend == SPMV_BACKEND_DEVICE && choice->from == SPMV_FROM_ESTIMATE,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "an estimate for a device");
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++)
    PetscCheck((choice->predicted[SPMV_BACKEND_DEVICE][k] > 0) == (SpmvCandidate[k]->device != NULL) &&
                 choice->predicted[SPMV_BACKEND_HOST][k] == 0,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was%s estimated", SpmvCandidate[k]->name,
               SpmvCandidate[k]->device ? " not" : "");
  PetscCall(SpmvChoiceText(choice, 0, text, sizeof(text)));
  PetscCheck(strstr(text, " on the device ") && strstr(text, "by estimate"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", text);
  PetscCall(SpmvChoiceText(choice, 2, text, sizeof(text)));
  PetscCheck(strstr(text, "pmf on the device ") && !strstr(text, "aij"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", text);

  PetscCall(Tune(q, &large, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.plan.backend == SPMV_BACKEND_DEVICE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a large matrix is the host's");
  PetscCall(Tune(q, &small, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.plan.backend == SPMV_BACKEND_HOST && choice->predicted[SPMV_BACKEND_DEVICE][SPMV_NUMBER_pmf] > 0,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "a small matrix is the device's");
  q->calls = 1;
  PetscCall(Tune(q, &large, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.plan.backend == SPMV_BACKEND_HOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "one product pays for a transfer");
  PetscCall(BandDestroy(&small));
  PetscCall(BandDestroy(&large));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between a size that is the host's and one that is the device's there is one that the device has only while vectors stay there */
static PetscErrorCode TestMoves(SpmvRequest *q, SpmvChoice *choice)
{
  const SpmvTarget target = Target(H100, NULL);
  PetscInt         aij, differ = 0;
  SpmvTestCSR      t;

  PetscFunctionBegin;
  PetscCall(Request(SPMV_TUNE_ESTIMATE, q));
  for (PetscInt m = 500; m <= 100000; m = m * 3 / 2) {
    PetscInt backend[2];

    PetscCall(Band(m, 5, &t));
    for (int moves = 0; moves < 2; moves++) {
      PetscCall(Tune(q, &t, SPMV_BACKEND_AUTO, (PetscBool)moves, &target, &aij, choice));
      backend[moves] = choice->best.plan.backend;
    }
    PetscCheck(backend[1] == SPMV_BACKEND_HOST || backend[0] == SPMV_BACKEND_DEVICE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%d rows go to the device only if vectors move", (int)m);
    differ += backend[0] != backend[1];
    PetscCall(BandDestroy(&t));
  }
  PetscCheck(differ, PETSC_COMM_SELF, PETSC_ERR_PLIB, "transfers never count");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measuring finds what is fast on the device, keeps to its seconds, and to what heuristics leave */
static PetscErrorCode TestMeasure(SpmvRequest *q, SpmvChoice *choice)
{
  Play        play = {.number = SPMV_NUMBER_bccoo, .knob = Knob(SPMV_NUMBER_bccoo, "device_workgroup"), .fast = 256};
  SpmvTarget  target;
  PetscInt    aij, few;
  SpmvTestCSR t;
  char        text[1024];

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t));
  target = Target(POCL, &play);
  PetscCall(Request(SPMV_TUNE_MEASURE, q));
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.number == SPMV_NUMBER_bccoo && choice->best.plan.value[play.knob] == 256 &&
               choice->from == SPMV_FROM_MEASURE,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts did not find a work group of 256", (int)play.attempts);
  PetscCheck(play.attempts <= 192 + 6 && choice->measured == play.attempts && !aij, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d attempts, %d measured", (int)play.attempts, (int)choice->measured);
  PetscCheck(choice->best.measured == 2e-3 / 20 && choice->best.build == SECOND_BUILD, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g s a product, %g s to build", (double)choice->best.measured, (double)choice->best.build);
  PetscCall(SpmvChoiceText(choice, 0, text, sizeof(text)));
  PetscCheck(strstr(text, "by measuring"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", text);

  few        = (PetscInt)(2 / SECOND_BUILD);
  q->seconds = 2;
  play       = (Play){.number = SPMV_NUMBER_bccoo, .knob = play.knob, .fast = -1};
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(play.attempts && play.attempts <= few, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts in 2 seconds",
             (int)play.attempts);
  q->seconds = 1e-3;
  play       = (Play){.number = SPMV_NUMBER_bccoo, .knob = play.knob, .fast = -1};
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(!play.attempts && choice->from == SPMV_FROM_ESTIMATE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts in no time",
             (int)play.attempts);
  PetscCall(BandDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Four knobs of Table II that are fast together only, from Table I's defaults: the search gets there, one after the other */
static PetscErrorCode TestTogether(SpmvRequest *q, SpmvChoice *choice)
{
  Play             play   = {.number = SPMV_NUMBER_bccoo, .fast = -1, .together = PETSC_TRUE};
  const SpmvTarget target = Target(POCL, &play);
  PetscInt         aij;
  SpmvTestCSR      t;
  char             text[1024] = "";

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t));
  PetscCall(Request(SPMV_TUNE_MEASURE, q));
  q->allowed = 1 << SPMV_NUMBER_bccoo;
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCall(SpmvOptionText(&choice->best, text, sizeof(text)));
  PetscCheck(Together(&choice->best.plan) == 1e-4 && play.attempts <= 192 + 6, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "after %d attempts: %s", (int)play.attempts, text);
  PetscCall(BandDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A heuristic keeps a knob from being turned; without it all of its values are measured; what the user has set stays */
static PetscErrorCode TestHeuristics(SpmvRequest *q, SpmvChoice *choice)
{
  const struct {
    const char *knob;
    SpmvKnob    kind;
  } knobs[] = {{"device_transpose", SPMV_KNOB_LAYOUT}, {"device_flag_bits", SPMV_KNOB_LOCAL}, {"slices", SPMV_KNOB_SLICES}};
  SpmvTestCSR t;
  PetscInt    aij;

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t)); /* as wide as high: slices are not measured */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(knobs); k++) {
    const PetscInt   knob  = Knob(SPMV_NUMBER_bccoo, knobs[k].knob);
    const SpmvParam *param = &SpmvCandidate[SPMV_NUMBER_bccoo]->device->side.params[knob];
    const PetscInt all = param->count - (param->names && !strcmp(param->names[0], "auto")); /* which is one of the others then */

    for (int off = 0; off < 3; off++) { /* 2: off, and the user has set it */
      Play             play   = {.number = SPMV_NUMBER_bccoo, .knob = knob, .fast = -1};
      const SpmvTarget target = Target(POCL, &play);
      PetscInt         values = 0;

      PetscCall(Request(SPMV_TUNE_MEASURE, q));
      q->allowed = 1 << SPMV_NUMBER_bccoo;
      if (off) q->skipped = 1 << (knobs[k].kind - 1) | 1 << SPMV_HEURISTIC_MODEL;
      if (off == 2) q->pinned[SPMV_BACKEND_DEVICE][SPMV_NUMBER_bccoo] = 1 << knob;
      PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
      for (PetscInt c = 0; c < param->count; c++) values += play.seen[param->choices[c] & 63] > 0;
      PetscCheck(values == (off == 1 ? all : 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s had %d values, case %d", param->name,
                 (int)values, off);
    }
  }
  PetscCall(BandDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU measuring finds a fast layout or local memory that is not the format's own choice, among the plans of all formats */
static PetscErrorCode TestGpu(SpmvRequest *q, SpmvChoice *choice)
{
  static const struct {
    PetscInt    number;
    const char *knob;
    PetscInt    fast; /* not what a GPU has by itself */
  } knobs[]                        = {{SPMV_NUMBER_bccoo, "device_transpose", 1}, {SPMV_NUMBER_cmrs, "device_order", 0},
                                      {SPMV_NUMBER_cmrs, "device_align", 1},      {SPMV_NUMBER_csradaptive, "device_reduction", 1},
                                      {SPMV_NUMBER_tpspmv, "long", 16},           {SPMV_NUMBER_tpspmv, "device_stage", 2}};
  static const char *const given[] = {"block_height", "block_width",
                                      "device_strategy"}; /* else these come with both transposes */
  SpmvTestCSR              t;
  PetscInt                 aij;

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(knobs); k++) {
    Play             play   = {.number = knobs[k].number, .knob = Knob(knobs[k].number, knobs[k].knob), .fast = knobs[k].fast};
    const SpmvTarget target = Target(H100, &play);

    PetscCall(Request(SPMV_TUNE_MEASURE, q));
    for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(given); g++) {
      const PetscInt knob = Knob(SPMV_NUMBER_bccoo, given[g]);

      q->device[SPMV_NUMBER_bccoo].value[knob] = 1;
      q->pinned[SPMV_BACKEND_DEVICE][SPMV_NUMBER_bccoo] |= (PetscInt)1 << knob;
    }
    PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
    PetscCheck(choice->best.number == play.number && choice->best.plan.value[play.knob] == play.fast, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%d attempts did not find that %s is fast", (int)play.attempts, knobs[k].knob);
    PetscCheck(play.attempts <= 192 + 6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts", (int)play.attempts);
  }
  PetscCall(BandDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was measured is found again on the same device, by another run; not under another driver, nor for the host */
static PetscErrorCode TestWisdom(SpmvRequest *q, SpmvChoice *choice)
{
  char           file[] = "/tmp/petscspmv-tune-device-XXXXXX", lock[64];
  Play           play   = {.number = SPMV_NUMBER_csradaptive, .fast = -1};
  SpmvTarget     target = Target(H100, &play), newer = target;
  SpmvDeviceInfo info = *target.info;
  SpmvPlan       plan;
  PetscInt       aij, before;
  SpmvTestCSR    t;
  const int      fd = mkstemp(file);

  PetscFunctionBegin;
  PetscCheck(fd >= 0 && !close(fd), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkstemp");
  PetscCall(Band(3000, 9, &t));
  PetscCall(Request(SPMV_TUNE_MEASURE, q));
  PetscCall(PetscStrncpy(q->wisdom, file, sizeof(q->wisdom)));
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(play.attempts && choice->from == SPMV_FROM_MEASURE && choice->best.number == SPMV_NUMBER_csradaptive,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was not measured");
  plan   = choice->best.plan;
  before = play.attempts;
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(play.attempts == before && choice->from == SPMV_FROM_WISDOM && !memcmp(&plan, &choice->best.plan, sizeof(plan)),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "wisdom has another plan, or none");
  PetscCall(PetscStrncpy(info.driver, "CUDA 13.0", sizeof(info.driver)));
  newer.info = &info;
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &newer, &aij, choice));
  PetscCheck(play.attempts > before && choice->from == SPMV_FROM_MEASURE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "another driver has its wisdom");
  PetscCall(Tune(q, &t, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, &aij, choice));
  PetscCheck(choice->from == SPMV_FROM_MEASURE && choice->best.plan.backend == SPMV_BACKEND_HOST && choice->products, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "the host has a device's wisdom");
  before = play.attempts;
  PetscCall(Tune(q, &t, SPMV_BACKEND_AUTO, PETSC_TRUE, &target, &aij, choice));
  PetscCheck(play.attempts > before && choice->products && choice->from == SPMV_FROM_MEASURE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "host and device were not both measured");
  before = play.attempts;
  PetscCall(Tune(q, &t, SPMV_BACKEND_AUTO, PETSC_TRUE, &target, &aij, choice));
  PetscCheck(play.attempts == before && !choice->products && choice->from == SPMV_FROM_WISDOM, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "they were measured again");
  PetscCall(BandDestroy(&t));
  PetscCall(PetscSNPrintf(lock, sizeof(lock), "%s.lock", file));
  (void)unlink(lock);
  (void)unlink(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  SpmvRequest *q;
  SpmvChoice  *choice;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  SpmvMeasureBy(Clock);
  PetscCall(PetscNew(&q));
  PetscCall(PetscNew(&choice));
  PetscCall(TestRates());
  PetscCall(TestEstimates());
  PetscCall(TestPlanes());
  PetscCall(TestMeasured());
  PetscCall(TestMisses());
  PetscCall(TestChoice(q, choice));
  PetscCall(TestMoves(q, choice));
  PetscCall(TestMeasure(q, choice));
  PetscCall(TestTogether(q, choice));
  PetscCall(TestHeuristics(q, choice));
  PetscCall(TestGpu(q, choice));
  PetscCall(TestWisdom(q, choice));
  PetscCall(PetscFree(q));
  PetscCall(PetscFree(choice));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
