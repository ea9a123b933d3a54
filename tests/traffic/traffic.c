static const char help[] =
  "What products on a device would ask of an H100's memory: kernels run by the emulated driver with its meter.\n\
  -matrix <kind:N,...>   which, as spmvbench -generate has them; default: the list of matrices.c\n\
  -format <name,...>     which; default: all that have kernels, csr-vector and merge\n\
  -plan <knob=value,...> knobs that are set; the others are chosen by estimate for an H100, or have their defaults\n\
  -tsv                   numbers for scripts\n\
  -estimate              no products: microseconds of each by the tuner's estimate; $FAKE_CUDA_GPU is the GPU\n\
  -code <folder>         no products: kernels compiled by NVRTC for sm_90 into files of this folder; see Code()\n\n";

#include "traffic.h"
#include "device/cuda/cuda.h"
#include "tune/tune.h"
#include "../fake/meter.h"
#include <dlfcn.h>

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
  &TrafficCsrVector, &TrafficMerge, &TrafficKnown};

static const MeterKernel *(*Taken)(int *);
static void (*Forget)(void);
static PetscBool Tsv, Estimate;

/* Matrix, format, entries, and whose array an argument is */
typedef struct {
  const char   *matrix, *format;
  double        nz;
  char          chosen[512]; /* knobs that the estimate has set otherwise than they would be without it */
  SpmvOnDevice *on;
} Case;

/* ---- what is printed ---- */

typedef enum { ROLE_MATRIX, ROLE_X, ROLE_Y, ROLE_WORK } Role;
static const char *const RoleName[] = {"matrix", "x", "y", "work"};

/* Of argument a of a kernel: its role, and its name in the storage */
static Role ArgumentRole(const SpmvOnDevice *on, const MeterKernel *k, int a, const char **name)
{
  const SpmvDeviceProduct *p = &on->product;

  *name = k->arg[a];
  for (PetscInt l = 0; l < p->nlaunches; l++) {
    const SpmvDeviceArg *arg = &p->launch[l].arg[a];

    if (strcmp(p->launch[l].kernel, k->name)) continue;
    if (arg->kind == SPMV_ARG_X) return ROLE_X;
    if (arg->kind == SPMV_ARG_Y) return ROLE_Y;
    if (!arg->name) return ROLE_WORK; /* an integer */
    *name = arg->name;
    for (PetscInt w = 0; w < p->nwork; w++) {
      if (!strcmp(p->work[w].name, arg->name)) return ROLE_WORK;
    }
    return ROLE_MATRIX;
  }
  return ROLE_WORK;
}

static void KernelTsv(const Case *c, const MeterKernel *k)
{
  printf("kernel\t%s\t%s\t%s\t%.0f", c->matrix, c->format, k->name, c->nz);
  printf("\t%llu\t%llu\t%u\t%u\t%u", (unsigned long long)k->launches, (unsigned long long)k->groups, k->group, k->shared,
         k->residents);
  printf("\t%llu\t%llu\t%llu", (unsigned long long)k->warps, (unsigned long long)k->barriers, (unsigned long long)k->syncs);
  printf("\t%llu\t%llu\t%llu", (unsigned long long)k->steps, (unsigned long long)k->active, (unsigned long long)k->apart);
  printf("\t%llu\t%llu\t%llu\t%llu\t%llu\n", (unsigned long long)k->shared_requests, (unsigned long long)k->shared_passes,
         (unsigned long long)k->shared_least, (unsigned long long)k->others, (unsigned long long)k->most);
  for (int a = 0; a < k->nargs; a++) {
    for (int kind = 0; kind < METER_KINDS; kind++) {
      const MeterCount *n = &k->count[a][kind];
      const char       *name;
      const Role        role = ArgumentRole(c->on, k, a, &name);

      if (!n->requests) continue;
      printf("array\t%s\t%s\t%s\t%.0f\t%s\t%s\t%s", c->matrix, c->format, k->name, c->nz, name, RoleName[role],
             kind ? "store" : "load");
      printf("\t%llu\t%llu\t%llu\t%llu\t%llu", (unsigned long long)n->requests, (unsigned long long)n->bytes,
             (unsigned long long)n->distinct, (unsigned long long)n->sectors, (unsigned long long)n->lines);
      printf("\t%llu\t%llu\n", (unsigned long long)n->l2, (unsigned long long)n->dram);
    }
  }
}

static void KernelText(const Case *c, const MeterKernel *k)
{
  const double nz = c->nz;

  printf("  %s: %llu launch(es) of %llu work groups of %u; %u bytes of shared memory, %u work groups at a time on a processor\n",
         k->name, (unsigned long long)k->launches, (unsigned long long)(k->groups / k->launches), k->group, k->shared,
         k->residents);
  printf("    %-14s %-12s %9s %9s %9s %9s %9s %9s %8s %8s\n", "array", "", "own", "asked", "warps'", "from L2", "DRAM",
         "requests", "sectors", "lines");
  printf("    %-27s %9s %9s %9s %9s %9s %9s %8s %8s\n", "", "bytes/nz", "bytes/nz", "sect.*32", "sect.*32", "sect.*32",
         "/1000 nz", "/request", "/request");
  for (int a = 0; a < k->nargs; a++) {
    for (int kind = 0; kind < METER_KINDS; kind++) {
      const MeterCount *n = &k->count[a][kind];
      const char       *name;
      const Role        role = ArgumentRole(c->on, k, a, &name);
      char              what[32];

      if (!n->requests) continue;
      snprintf(what, sizeof(what), "%s %s", RoleName[role], kind ? "store" : "load");
      printf("    %-14s %-12s %9.3f %9.3f %9.3f %9.3f %9.3f %9.1f %8.2f %8.2f\n", name, what, (double)n->distinct / nz,
             (double)n->bytes / nz, 32. * (double)n->sectors / nz, 32. * (double)n->l2 / nz, 32. * (double)n->dram / nz,
             1000. * (double)n->requests / nz, (double)n->sectors / (double)n->requests, (double)n->lines / (double)n->requests);
    }
  }
  printf("    shared memory: %.1f requests per 1000 nz, %.1f passes, %.1f without conflicts; barriers: %.2f of a work group, "
         "%.2f of a warp\n",
         1000. * (double)k->shared_requests / nz, 1000. * (double)k->shared_passes / nz, 1000. * (double)k->shared_least / nz,
         (double)k->barriers / (double)k->groups, (double)k->syncs / (double)k->warps);
  printf(
    "    steps: %.1f per 1000 nz, %.0f %% divergent, %.1f work items in one; at most %llu requests by a warp; others: %llu\n",
    1000. * (double)k->steps / nz, 100. * (double)k->apart / (double)PetscMax(k->steps, 1),
    (double)k->active / (double)PetscMax(k->steps, 1), (unsigned long long)k->most, (unsigned long long)k->others);
}

/* The options that the kernels were compiled with, and those launched: how many work groups, and whether they are given values */
static PetscErrorCode LaunchesTsv(const Case *c)
{
  const SpmvDeviceProduct *p = &c->on->product;
  char                     options[2 * SPMV_DEVICE_OPTIONS];

  PetscFunctionBegin;
  PetscCall(SpmvProgramOptions(&c->on->device->info, p->options, options, sizeof(options)));
  printf("program\t%s\t%s\t%s\n", c->matrix, c->format, options);
  for (PetscInt l = 0; l < p->nlaunches; l++) {
    PetscBool values = PETSC_FALSE;

    for (PetscInt a = 0; a < p->launch[l].nargs; a++)
      values = (PetscBool)(values || (p->launch[l].arg[a].name && strstr(p->launch[l].arg[a].name, "values")));
    if (p->launch[l].groups)
      printf("launch\t%s\t%s\t%s\t%zu\t%d\n", c->matrix, c->format, p->launch[l].kernel, p->launch[l].groups, (int)values);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Print(const Case *c)
{
  int                n;
  const MeterKernel *k          = Taken(&n);
  char               plan[1024] = "";

  PetscFunctionBegin;
  PetscCall(SpmvPlanText(&c->on->format->device->side, &c->on->plan, plan, sizeof(plan)));
  if (Tsv) PetscCall(LaunchesTsv(c));
  if (Tsv)
    printf("product\t%s\t%s\t%s\t%s\t%.0f\t%" PetscInt_FMT "\t%" PetscInt_FMT "\n", c->matrix, c->format, plan, c->chosen, c->nz,
           c->on->m, c->on->n);
  else
    printf("%s, %s: %" PetscInt_FMT " x %" PetscInt_FMT ", %.0f nonzeros; %s\n", c->matrix, c->format, c->on->m, c->on->n, c->nz,
           plan);
  for (int i = 0; i < n; i++) {
    if (Tsv) KernelTsv(c, &k[i]);
    else KernelText(c, &k[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- products ---- */

/* y <- A x, the second time, with all sent and compiled; a wrong product is an error, since the kernels may have been anywhere */
static PetscErrorCode Product(Case *c, const SpmvCSR *csr)
{
  PetscScalar *x, *y;
  long double *re, *im, *size;
  PetscInt    *length, wrong;
  PetscBool    nomem;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(csr->n, &x, csr->m, &y));
  PetscCall(PetscMalloc4(csr->m, &re, csr->m, &im, csr->m, &size, csr->m, &length));
  PetscCall(SpmvTestVector(csr->n, x));
  for (PetscInt r = 0; r < csr->m; r++) y[r] = (PetscScalar)NAN;
  Forget();
  PetscCall(SpmvOnDeviceMultiply(c->on, x, NULL, y, NULL, PETSC_FALSE, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  SpmvTestReference(csr, PETSC_FALSE, x, NULL, re, im, size, length);
  wrong = SpmvTestCompare(csr->m, y, re, im, size, length);
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " entries are wrong", c->matrix, c->format, wrong);
  PetscCall(PetscFree2(x, y));
  PetscCall(PetscFree4(re, im, size, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What of a plan is not as in another one, as users write it */
static PetscErrorCode Differs(const SpmvSide *side, const SpmvPlan *plan, const SpmvPlan *other, char text[], size_t size)
{
  PetscFunctionBegin;
  text[0] = 0;
  for (PetscInt k = 0; k < side->nparams; k++) {
    const SpmvParam *p     = &side->params[k];
    const PetscInt   value = plan->value[k];
    PetscInt         name  = 0;

    if (value == other->value[k]) continue;
    while (p->names && p->choices[name] != value) name++;
    if (p->names) PetscCall(SpmvAppend(text, size, "%s%s=%s", text[0] ? " " : "", p->name, p->names[name]));
    else PetscCall(SpmvAppend(text, size, "%s%s=%" PetscInt_FMT, text[0] ? " " : "", p->name, value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan that users get: knobs that are not set are chosen as the tuner does, for the H100 that the driver with its meter is */
static PetscErrorCode Choose(const SpmvFormat *f, const SpmvCSR *csr, SpmvPlan *plan, char chosen[], size_t size)
{
  const SpmvSide *side  = &f->device->side;
  SpmvPlan        plain = *plan;
  SpmvTarget      target;
  PetscBool       found;
  char            why[512];

  PetscFunctionBegin;
  PetscCall(SpmvTargetGet(&target, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_SUP, "there is no device");
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    if (SpmvCandidate[k] == f) PetscCall(SpmvPlanChoose(csr, SPMV_ISA_COUNT, &target, k, plan, NULL));
  }
  PetscCall(SpmvResolve(side, csr, target.info, plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: %s", f->name, why);
  PetscCall(SpmvResolve(side, csr, target.info, &plain, why, sizeof(why)));
  PetscCall(Differs(side, plan, &plain, chosen, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the tuner expects of a plan that is resolved */
static PetscErrorCode Expect(const SpmvFormat *f, const SpmvCSR *csr, const SpmvPlan *plan, const char matrix[])
{
  char       text[1024] = "";
  SpmvSample sample     = {0};
  SpmvTarget target;
  PetscBool  found;
  SpmvOption option;

  PetscFunctionBegin;
  PetscCall(SpmvTargetGet(&target, &found));
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    if (SpmvCandidate[k] != f) continue;
    PetscCall(SpmvSampleCreate(csr, SPMV_SAMPLE_FORMATS, &sample));
    sample.target = &target;
    PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, k, 1, plan, &option));
    PetscCall(SpmvSampleDestroy(&sample));
    PetscCall(SpmvPlanText(&f->device->side, plan, text, sizeof(text)));
    printf("estimate\t%s\t%s\t%.2f\t%s\n", matrix, f->name, 1e6 * option.predicted, text);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(SpmvDevice *device, const SpmvFormat *f, const char matrix[], const BenchMatrix *M,
                              const char asked[])
{
  const SpmvSide *side = &f->device->side;
  const SpmvCSR   csr  = {.m = M->m, .n = M->n, .rbs = M->bs, .cbs = M->bs, .i = M->i, .j = M->j, .a = M->a};
  SpmvPlan        plan = SpmvPlanDefault(SPMV_BACKEND_DEVICE, side->nparams, side->params);
  Case            c    = {.matrix = matrix, .format = f->name, .nz = (double)M->i[M->m]};
  PetscBool       good, nomem;

  PetscFunctionBegin;
  PetscCall(SpmvPlanRead(side, asked, &plan, &good));
  PetscCheck(good, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-plan %s: %s has no such knob or value", asked, f->name);
  PetscCall(Choose(f, &csr, &plan, c.chosen, sizeof(c.chosen)));
  if (Estimate) {
    PetscCall(Expect(f, &csr, &plan, matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvOnDeviceCreate(device, f, &csr, &plan, NULL, &c.on, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
  PetscCall(Product(&c, &csr));
  PetscCall(Print(&c));
  fflush(stdout);
  PetscCall(SpmvOnDeviceDestroy(&c.on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- code ---- */

/* The format of a name; NULL if there is none */
static const SpmvFormat *Named(const char name[])
{
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    if (Formats[f]->device && !strcmp(Formats[f]->name, name)) return Formats[f];
  }
  return NULL;
}

static PetscErrorCode CodeWrite(const char kernels[], const char options[], const char folder[], const char number[])
{
  char  *source, *cubin, *log, name[PETSC_MAX_PATH_LEN];
  size_t size;
  FILE  *file;

  PetscFunctionBegin;
  PetscCall(SpmvProgramSource(&SpmvDeviceApi_cuda, kernels, &source));
  PetscCall(SpmvNvrtcCompile(90, source, options, &cubin, &size, &log));
  PetscCheck(cubin, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s", options, log);
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s/%s.%s", folder, number, k ? "log" : "cubin"));
    file = fopen(name, "wb");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", name);
    fwrite(k ? log : cubin, k ? strlen(log) : size, 1, file);
    fclose(file);
  }
  PetscCall(PetscFree(source));
  PetscCall(PetscFree(cubin));
  PetscCall(PetscFree(log));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines "number, format, options", as -tsv prints formats and options: <folder>/<number>.cubin and .log of each */
static PetscErrorCode Code(FILE *lines, const char folder[])
{
  char line[4096];

  PetscFunctionBegin;
  if (!SpmvNvrtcLoad()) {
    printf("skip\tthere is no libnvrtc.so; install the CUDA toolkit\n");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  while (fgets(line, sizeof(line), lines)) {
    char       *rest   = NULL;
    const char *number = strtok_r(line, "\t\n", &rest), *name = strtok_r(NULL, "\t\n", &rest);
    const char *options = strtok_r(NULL, "\t\n", &rest);

    PetscCheck(options && Named(name), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-code: a line is no number, format and options");
    PetscCall(CodeWrite(Named(name)->device->source, options, folder, number));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what is asked for ---- */

/* A name of a comma-separated list, or any if the list is empty */
static PetscBool Among(const char list[], const char name[])
{
  const size_t n = strlen(name);

  for (const char *p = list; (p = strstr(p, name)); p++) {
    if ((p == list || p[-1] == ',') && (!p[n] || p[n] == ',')) return PETSC_TRUE;
  }
  return (PetscBool)!list[0];
}

static PetscErrorCode MeasureAll(SpmvDevice *device, const char matrix[], const char formats[], const char plan[])
{
  BenchMatrix M;
  PetscBool   known = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(TrafficMatrix(matrix, &M));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    if (!Formats[f]->device || !Among(formats, Formats[f]->name) || (!formats[0] && Formats[f] == &TrafficKnown)) continue;
    known = PETSC_TRUE;
    PetscCall(Measure(device, Formats[f], matrix, &M, plan));
  }
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "-format %s is none that has kernels for devices", formats);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(void)
{
  char        matrices[512] = "", formats[512] = "", plan[512] = "", *rest = NULL;
  SpmvDevice *device;
  void       *driver = dlopen("libcuda.so.1", RTLD_NOW);

  PetscFunctionBegin;
  *(void **)&Taken  = driver ? dlsym(driver, "MeterTaken") : NULL;
  *(void **)&Forget = driver ? dlsym(driver, "MeterForget") : NULL;
  PetscCheck(Taken && Forget, PETSC_COMM_SELF, PETSC_ERR_SUP, "libcuda.so.1 is not that of tests/fake; use tests/traffic/run");
  PetscCall(SpmvDeviceGet(&device));
  PetscCheck(device, PETSC_COMM_SELF, PETSC_ERR_SUP, "there is no device; use tests/traffic/run");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", matrices, sizeof(matrices), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", formats, sizeof(formats), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-plan", plan, sizeof(plan), NULL));
  for (char *p = plan; *p; p++) {
    if (*p == ',') *p = ' ';
  }
  if (!matrices[0]) {
    for (int k = 0; TrafficMatrices[k]; k++) PetscCall(MeasureAll(device, TrafficMatrices[k], formats, plan));
  } else {
    for (char *one = strtok_r(matrices, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
      PetscCall(MeasureAll(device, one, formats, plan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      folder[PETSC_MAX_PATH_LEN];
  PetscBool code;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-code", folder, sizeof(folder), &code));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-tsv", &Tsv));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-estimate", &Estimate));
  if (code) PetscCall(Code(stdin, folder));
  else if (Tsv && (sizeof(PetscScalar) != 8 || sizeof(PetscReal) != 8 || sizeof(PetscInt) != 4))
    printf("skip\tnumbers are listed for real double precision and 32-bit indices\n");
  else PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
