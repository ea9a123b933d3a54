static const char help[] =
  "Every kernel for devices, compiled for NVIDIA's GPUs by NVRTC, which needs none: no error, no spills.\n\
  -arch <80,90> - compute capabilities\n\
  -sample <N>   - every N-th plan only\n\
  -all          - print what each plan takes\n\n";

#include "spmvtest.h"
#include "spmvdevice.h"
#include "device/cuda/cuda.h"
#include "vec/vecaccel.h"

static const SpmvFormat *const Formats[] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "formats.h"
#undef SPMV_FORMAT
};

/* What a GPU of these years has */
static const SpmvDeviceInfo Info = {.name     = "GPU",
                                    .room     = 1e9,
                                    .local    = 49152,
                                    .group    = 1024,
                                    .units    = 132,
                                    .cache    = 50 << 20,
                                    .gpu      = PETSC_TRUE,
                                    .forward  = PETSC_TRUE,
                                    .real64   = PETSC_TRUE,
                                    .atomic64 = PETSC_TRUE};

#define SPILLS \
  (PetscDefined(USE_COMPLEX) ? 4 : 0) /* bytes: of complex numbers ptxas spills one word in one plan to stay with 32 registers */

/* Bytes spilled, over all kernels of a log of ptxas */
static long Spills(const char log[])
{
  long bytes = 0;

  for (const char *p = log; (p = strstr(p, "bytes spill stores")); p++) {
    const char *number = p - 1;

    while (number > log && number[-1] >= '0' && number[-1] <= '9') number--;
    bytes += strtol(number, NULL, 10);
  }
  return bytes;
}

/* Kinds of scalars that a PETSc may have */
static const char *const Scalars[] = {"-DREAL_BITS=64 -DCOMPLEX=0", "-DREAL_BITS=32 -DCOMPLEX=0", "-DREAL_BITS=64 -DCOMPLEX=1",
                                      "-DREAL_BITS=32 -DCOMPLEX=1"};

/* Compiles a source under some options for each GPU */
static PetscErrorCode Compile(const char name[], const char source[], const char options[], PetscInt narch, const PetscInt arch[],
                              PetscBool all, PetscInt *failures)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < narch; k++) {
    char  *cubin, *log;
    size_t size;

    PetscCall(SpmvNvrtcCompile((int)arch[k], source, options, &cubin, &size, &log));
    if (!cubin || Spills(log) > SPILLS) {
      ++*failures;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s for sm_%" PetscInt_FMT ", %s: %s\n%.2000s\n", name, arch[k], options,
                            cubin ? "spills" : "refused", log));
    } else if (all) PetscCall(PetscPrintf(PETSC_COMM_SELF, "sm_%" PetscInt_FMT " %s\n%s\n", arch[k], options, log));
    PetscCall(PetscFree(cubin));
    PetscCall(PetscFree(log));
  }
  PetscFunctionReturn(0);
}

/* Compiles the kernels of one plan; a plan that does not fit the GPU is refused by the format */
static PetscErrorCode CompilePlan(const SpmvFormat *f, const SpmvTestCSR *t, SpmvPlan plan, PetscInt narch, const PetscInt arch[],
                                  PetscBool all, PetscInt *compiled, PetscInt *failures)
{
  SpmvCSR           csr     = SpmvTestCSRView(t);
  SpmvDeviceProduct product = {.nlaunches = 0}, conversion = {.nlaunches = 0};
  void             *storage;
  char              options[2 * SPMV_DEVICE_OPTIONS], *source;

  PetscFunctionBegin;
  PetscCall(SpmvTestBuild(&f->device->side, &csr, &Info, &plan, &storage));
  if (!storage) PetscFunctionReturn(0);
  PetscCall(f->device->product(storage, &plan, &Info, &product));
  if (f->device->convert) PetscCall(f->device->convert(storage, PETSC_FALSE, &conversion));
  PetscCall(SpmvStorageDestroy(&f->device->side, &storage));
  PetscCall(SpmvProgramOptions(&Info, product.options, options, sizeof(options)));
  PetscCall(SpmvProgramSource(&SpmvDeviceApi_cuda, f->device->source, &source));
  PetscCall(Compile(f->name, source, options, narch, arch, all, failures));
  if (!*compiled) { /* the first plan for all scalars */
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Scalars); k++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s -DATOMIC_64=1 -DUNIFORM_BRANCHES=1 %s", Scalars[k], product.options));
      PetscCall(Compile(f->name, source, options, narch, arch, all, failures));
    }
  }
  ++*compiled;
  PetscCall(PetscFree(source));
  if (!conversion.nlaunches) PetscFunctionReturn(0);
  PetscCall(SpmvProgramOptions(&Info, conversion.options, options, sizeof(options)));
  PetscCall(SpmvProgramSource(&SpmvDeviceApi_cuda, f->device->convert_source, &source));
  PetscCall(Compile(f->name, source, options, narch, arch, all, failures));
  PetscCall(PetscFree(source));
  PetscFunctionReturn(0);
}

/* The default plan, then one knob after the other at each of its values */
static PetscErrorCode CompileFormat(const SpmvFormat *f, const SpmvTestCSR *t, PetscInt narch, const PetscInt arch[],
                                    PetscBool all, PetscInt *failures)
{
  const SpmvSide *side     = &f->device->side;
  SpmvPlan        plan     = SpmvTestPlan(f, SPMV_BACKEND_DEVICE);
  PetscInt        compiled = 0;

  PetscFunctionBegin;
  PetscCall(CompilePlan(f, t, plan, narch, arch, all, &compiled, failures));
  for (PetscInt k = 0; k < side->nparams; k++) {
    const SpmvParam *param = &side->params[k];
    PetscInt        *value = &plan.value[k], before = *value;

    for (PetscInt c = 1; param->choices && c < param->count; c++) {
      *value = param->choices[c];
      if (SpmvTestSampled()) PetscCall(CompilePlan(f, t, plan, narch, arch, all, &compiled, failures));
    }
    *value = before;
  }
  PetscCheck(compiled, PETSC_COMM_SELF, PETSC_ERR_PLIB, "nothing of %s was compiled", f->name);
  PetscFunctionReturn(0);
}

/* A source that is no format's */
static PetscErrorCode CompileSource(const char name[], const char kernels[], const char macros[], PetscInt narch,
                                    const PetscInt arch[], PetscBool all, PetscInt *failures)
{
  char options[2 * SPMV_DEVICE_OPTIONS], *source;

  PetscFunctionBegin;
  PetscCall(SpmvProgramSource(&SpmvDeviceApi_cuda, kernels, &source));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Scalars); k++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s -DATOMIC_64=1 -DUNIFORM_BRANCHES=1 %s", Scalars[k], macros));
    PetscCall(Compile(name, source, options, narch, arch, all, failures));
  }
  PetscCall(PetscFree(source));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt    arch[8] = {80, 90}, narch = 8, failures = 0;
  PetscBool   set, all;
  SpmvTestCSR t;
  PetscScalar dense[1600] = {0};
  char        options[SPMV_DEVICE_OPTIONS];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  if (!SpmvNvrtcLoad()) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: there is no libnvrtc.so; install the CUDA toolkit\n"));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-arch", arch, &narch, &set));
  if (!set) narch = 2;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-all", &all));
  for (PetscInt k = 0; k < 1600; k++) dense[k] = k / 40 != 7 && (k * k % 11 < 3) ? 1 : 0; /* an empty row, and fill */
  PetscCall(SpmvTestCSRFromDense(40, 40, dense, &t));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(Formats); f++) {
    if (Formats[f]->device) PetscCall(CompileFormat(Formats[f], &t, narch, arch, all, &failures));
  }
  for (size_t g = 0; g < 2; g++) { /* operations on vectors, with the work groups of a GPU and a processor */
    PetscCall(SpmvVecOptions(g ? 64 : 256, (PetscBool)!g, options, sizeof(options)));
    PetscCall(CompileSource("vectors", SpmvVecSource(), options, narch, arch, all, &failures));
  }
  PetscCall(CompileSource("gather", SpmvGatherSource, "-DGATHER=64", narch, arch, all, &failures));
  PetscCall(CompileSource("convert", SpmvConvertSource, "-DCONVERT_GROUP=128", narch, arch, all, &failures));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " plans wrong\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test:
    args: -sample 16 -arch 90
    timeoutfactor: 5

  test:
    suffix: long
    output_file: output/format_nvrtc.out
    timeoutfactor: 10

TEST*/
