static const char help[] =
  "Estimates of products on devices that are not there: rates, work, traffic, and what was measured of GPUs.\n\n";

#include "unit_device.h"

/* Each kind has rates, those that are told are taken, and times grow with what there is to do */
static PetscErrorCode TestRates(void)
{
  PetscFunctionBegin;
  for (int d = 0; d < DEVICES; d++) {
    const SpmvTarget     t    = DeviceTarget(d);
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
    const SpmvTarget     t     = DeviceTarget(d);
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
  PetscCheck(PetscAbsReal((PetscReal)(DeviceTarget(H100).rates.bandwidth / 3.35e12 - 0.9)) < 0.01, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%g is not what CUDA told", (double)DeviceTarget(H100).rates.bandwidth);
  PetscCheck(DeviceTarget(MI250X).rates.cache > 1e6, PETSC_COMM_SELF, PETSC_ERR_PLIB,
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
  PetscCall(SpmvTestCSRAlloc(m, width * m, t));
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
  PetscCall(SpmvTestCSRAlloc(m, m * length, t));
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
  const SpmvTarget target = DeviceTarget(H100);
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
  PetscCall(SpmvTestCSRDestroy(&t));
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
  const SpmvTarget target = DeviceTarget(H200);

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
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An x of 100 MB anywhere in which entries are misses the device's cache, although this processor's would hold it */
static PetscErrorCode TestMisses(void)
{
  const SpmvMachine machine = *SpmvMachineGet();
  const SpmvTarget  target  = DeviceTarget(H100);
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
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each format with kernels has an estimate, the same one each time, whose bytes are those that are built; more rows take
   longer */
static PetscErrorCode TestEstimates(void)
{
  SpmvTestCSR t[2];

  PetscFunctionBegin;
  PetscCall(Band(30000, 12, &t[0]));
  PetscCall(Band(300000, 12, &t[1]));
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    const SpmvFormat *f = SpmvCandidate[k];

    for (int d = 0; d < DEVICES && f->device; d++) {
      const SpmvTarget target = DeviceTarget(d);
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
  for (int size = 0; size < 2; size++) PetscCall(SpmvTestCSRDestroy(&t[size]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  PetscCall(TestRates());
  PetscCall(TestEstimates());
  PetscCall(TestPlanes());
  PetscCall(TestMeasured());
  PetscCall(TestMisses());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
