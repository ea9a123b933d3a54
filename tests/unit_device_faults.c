static const char help[] =
  "A device that fails in mid-run, or runs out of memory: each call of its API is refused in turn. The product is "
  "right, or an error; the matrix goes on on the host, and nothing is left on the device.\n\n";

#include "vec/impls/accel/accel.h"
#include "mat/interface/spmvmat.h"

#define ROWS 150

/* ---- an API that refuses its call number FailAt, and with Sticky all that follow, as CUDA does once a kernel has crashed
   ---- */

static const SpmvDeviceApi *Real;
static SpmvDeviceApi        Fake;
static PetscInt             Calls, FailAt; /* calls so far; the one that is refused, 0: none */
static int                  Code;          /* what it gives */
static PetscBool            Sticky, Dead;
static PetscBool            Memory; /* it says that memory ran out, which some calls only may */

static PetscBool Refuse(PetscBool may)
{
  if (Memory && !may) return PETSC_FALSE;
  if (FailAt && ++Calls == FailAt) Dead = PETSC_TRUE;
  else if (!Sticky) return PETSC_FALSE;
  return Dead;
}

static int FakeFinish(void *d)
{
  return Refuse(PETSC_FALSE) ? Code : Real->finish(d);
}
static int FakeAlloc(void *d, size_t bytes, void **buffer)
{
  return Refuse(PETSC_TRUE) ? Code : Real->alloc(d, bytes, buffer);
}
static int FakeCopy(void *d, SpmvDirection direction, void *to, const void *from, size_t bytes)
{
  return Refuse((PetscBool)(direction == SPMV_TO_DEVICE)) ? Code : Real->copy(d, direction, to, from, bytes);
}
static int FakePin(void *d, size_t bytes, void **memory, void **array)
{
  return Refuse(PETSC_TRUE) ? Code : Real->pin(d, bytes, memory, array);
}
static int FakeBegin(void *d, SpmvDirection direction, void *buffer, size_t offset, void *array, size_t bytes, int slot)
{
  return Refuse((PetscBool)(direction == SPMV_TO_DEVICE)) ? Code : Real->begin(d, direction, buffer, offset, array, bytes, slot);
}
static int FakeWait(void *d, int slot)
{
  const int code = Real->wait(d, slot);

  return Refuse(PETSC_FALSE) ? Code : code;
}
static int FakeLoad(void *d, const char *binary, size_t size, void **program)
{
  return Refuse(PETSC_FALSE) ? Code : Real->load(d, binary, size, program);
}
static int FakeLaunch(void *d, void *program, const SpmvDeviceCall *call)
{
  return Refuse(PETSC_TRUE) ? Code : Real->launch(d, program, call);
}
static int FakeRecord(void *d, void *program, PetscInt n, const SpmvDeviceCall calls[], void **graph)
{
  *graph = NULL;
  return Refuse(PETSC_TRUE) ? Code : Real->record(d, program, n, calls, graph);
}
static int FakeReplay(void *d, void *graph)
{
  return Refuse(PETSC_TRUE) ? Code : Real->replay(d, graph);
}

/* What is given back is, whatever they say */
static int FakeFree(void *d, void *buffer)
{
  const int code = Real->free(d, buffer);

  return Dead && Sticky ? Code : code;
}
static int FakeUnpin(void *d, void *memory, void *array)
{
  const int code = Real->unpin(d, memory, array);

  return Dead && Sticky ? Code : code;
}
static int FakeForget(void *d, void *graph)
{
  const int code = Real->forget(d, graph);

  return Dead && Sticky ? Code : code;
}

static void FakeBegins(SpmvDevice *d)
{
  Real        = d->api;
  Fake        = *Real;
  Fake.finish = FakeFinish;
  Fake.alloc  = FakeAlloc;
  Fake.copy   = FakeCopy;
  Fake.load   = FakeLoad;
  Fake.launch = FakeLaunch;
  Fake.free   = FakeFree;
  if (Real->pin) {
    Fake.pin   = FakePin;
    Fake.begin = FakeBegin;
    Fake.wait  = FakeWait;
    Fake.unpin = FakeUnpin;
  }
  if (Real->record) {
    Fake.record = FakeRecord;
    Fake.replay = FakeReplay;
    Fake.forget = FakeForget;
  }
  d->api = &Fake;
}

/* ---- what is done meanwhile ---- */

typedef struct {
  Mat A, R; /* R: the same in the type aij */
  Vec x, y, z;
} Work;

typedef PetscErrorCode WorkFn(Work *w, Mat A);

static PetscErrorCode Fill(Mat A, PetscReal scale)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < ROWS; i++) {
    for (PetscInt j = 0; j < ROWS; j++) {
      const PetscInt far = PetscAbsInt(i - j);

      if (far <= 3 || far == 40 || i == 7)
        PetscCall(MatSetValue(A, i, j, scale * (1 + (PetscReal)((i + 2 * j) % 9) / 8), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, VecType vec, Work *w)
{
  PetscScalar *x;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    Mat *A = k ? &w->R : &w->A;

    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
    PetscCall(MatSetType(*A, k ? MATSEQAIJ : type));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, ROWS, NULL));
    PetscCall(Fill(*A, 1));
  }
  PetscCall(VecCreate(PETSC_COMM_SELF, &w->x));
  PetscCall(VecSetSizes(w->x, ROWS, ROWS));
  PetscCall(VecSetType(w->x, vec));
  PetscCall(VecDuplicate(w->x, &w->y));
  PetscCall(VecDuplicate(w->x, &w->z));
  PetscCall(VecGetArrayWrite(w->x, &x));
  for (PetscInt i = 0; i < ROWS; i++) x[i] = 1 - (PetscReal)(i % 11) / 8;
  PetscCall(VecRestoreArrayWrite(w->x, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Work *w)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&w->A));
  PetscCall(MatDestroy(&w->R));
  PetscCall(VecDestroy(&w->x));
  PetscCall(VecDestroy(&w->y));
  PetscCall(VecDestroy(&w->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nothing(Work *w, Mat A)
{
  (void)w;
  (void)A;
  return PETSC_SUCCESS;
}

static PetscErrorCode Product(Work *w, Mat A)
{
  return MatMult(A, w->x, w->z);
}

static PetscErrorCode Products(Work *w, Mat A)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(MatMult(A, w->x, w->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y is set on the host and only read, so that it is there whatever happens */
static PetscErrorCode Added(Work *w, Mat A)
{
  PetscScalar *y;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(w->y, &y));
  for (PetscInt i = 0; i < ROWS; i++) y[i] = (PetscReal)(i % 5);
  PetscCall(VecRestoreArrayWrite(w->y, &y));
  PetscCall(MatMultAdd(A, w->x, w->y, w->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddedInPlace(Work *w, Mat A)
{
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(w->z, &z));
  for (PetscInt i = 0; i < ROWS; i++) z[i] = (PetscReal)(i % 5);
  PetscCall(VecRestoreArrayWrite(w->z, &z));
  PetscCall(MatMultAdd(A, w->x, w->z, w->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transposed(Work *w, Mat A)
{
  return MatMultTranspose(A, w->x, w->z);
}

static PetscErrorCode NewValues(Work *w, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Fill(A, 2));
  PetscCall(Product(w, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  WorkFn     *before, *run;
  PetscBool   half; /* a vector that is added to in place may be lost, which is an error */
} Cases[] = {
  {"a first product", Nothing, Product, PETSC_FALSE},
  {"products", Products, Products, PETSC_FALSE},
  {"a sum", Product, Added, PETSC_FALSE},
  {"a sum in place", Product, AddedInPlace, PETSC_TRUE},
  {"a transposed product", Product, Transposed, PETSC_FALSE},
  {"new values", Products, NewValues, PETSC_FALSE},
  {"new values of A^T", Transposed, NewValues, PETSC_FALSE},
};

/* Whether z is what aij makes of the same */
static PetscErrorCode Right(Work *w, size_t k, WorkFn *run, const char what[])
{
  PetscReal error, norm;
  Vec       z;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, ROWS, &z));
  PetscCall(VecCopy(w->z, z));
  PetscCall((*run)(w, w->R));
  PetscCall(VecAXPY(z, -1, w->z));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCall(VecNorm(w->z, NORM_INFINITY, &norm));
  PetscCheck(error <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s is off by %g of %g", what,
             Cases[k].name, (double)error, (double)norm);
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Fallback; /* -mat_spmv_on_device_error */

/* One call is refused; *failed: there was such a call */
static PetscErrorCode RunRefused(SpmvDevice *d, MatType type, VecType vec, size_t k, PetscInt call, PetscBool memory,
                                 PetscBool *failed)
{
  char          *said = NULL, what[256];
  size_t         size;
  FILE          *err    = PETSC_STDERR;
  PetscLogDouble before = d->held;
  Work           w;
  PetscErrorCode ierr;
  PetscInt       warnings = 0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, call %" PetscInt_FMT " %s%s", Cases[k].name, vec, call,
                          memory ? "without memory" : "fails", Sticky ? ", and all after it" : ""));
  PetscCall(Create(type, vec, &w));
  PetscCall((*Cases[k].before)(&w, w.A));
  PETSC_STDERR = open_memstream(&said, &size);
  PetscCheck(PETSC_STDERR, PETSC_COMM_SELF, PETSC_ERR_SYS, "open_memstream");
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  Memory = memory;
  Code   = memory ? Real->nomem[0] : -9999;
  Calls  = 0;
  FailAt = call;
  ierr   = (*Cases[k].run)(&w, w.A);
  PetscCall(PetscPopErrorHandler());
  FailAt  = 0;
  *failed = Dead;
  fclose(PETSC_STDERR);
  PETSC_STDERR = err;
  for (const char *p = said; (p = strstr(p, "Warning:")); p++) warnings++;
  if (memory) {
    PetscCheck(!ierr || (Cases[k].half && ierr == PETSC_ERR_MEM), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s returns %d", what,
               (int)ierr);
    PetscCheck(!d->failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is a failure", what);
  } else {
    const PetscBool error = (PetscBool)(ierr == PETSC_ERR_LIB), may = (PetscBool)(Dead && Cases[k].half);

    PetscCheck(d->failed == Dead, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is a failure: %d", what, (int)d->failed);
    PetscCheck(!ierr || error, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s returns %d", what, (int)ierr);
    PetscCheck(may || error == (PetscBool)(Dead && !Fallback), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is an error: %d", what,
               (int)error);
    PetscCheck(may || warnings == (Dead && Fallback), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s gives %" PetscInt_FMT " warnings",
               what, warnings);
  }
  free(said);
  if (!ierr) PetscCall(Right(&w, k, Cases[k].run, what));
  PetscCall(Product(&w, w.A)); /* the matrix can be used, on the host */
  PetscCall(MatCopy(w.A, w.R, SAME_NONZERO_PATTERN));
  PetscCall(Right(&w, k, Product, what));
  PetscCall(Destroy(&w));
  PetscCheck(d->held == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s leaves %g bytes on the device", what,
             (double)(d->held - before));
  PetscCheck(!d->tolerant, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s leaves the device tolerant", what);
  Dead = Sticky = PETSC_FALSE;
  d->failed = d->told = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums have buffers that are kept from the first one on */
static PetscErrorCode FirstSum(void)
{
  PetscScalar dot;
  Vec         v;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, &v));
  PetscCall(VecSetSizes(v, ROWS, ROWS));
  PetscCall(VecSetType(v, VECACCEL));
  PetscCall(VecSet(v, 1));
  PetscCall(VecDot(v, v, &dot));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        type[64] = MATSPMV;
  PetscInt    calls    = 0, piece;
  SpmvDevice *device;
  PetscBool   supported = PETSC_FALSE, measures = PETSC_FALSE, failed;
  size_t      size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-fallback", &Fallback));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_spmv_tune_seconds", &measures)); /* the first case, and few of its calls */
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_on_device_error", Fallback ? "fallback" : "error"));
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++)
    supported |= (PetscBool)(!strcmp(SpmvCandidate[k]->name, type) && SpmvCandidate[k]->device);
  PetscCall(SpmvDeviceGet(&device));
  if (!device || !supported) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: %s\n",
                          supported ? "there is no device; install pocl-opencl-icd" : "the format has no kernels for devices"));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(FirstSum());
  FakeBegins(device);
  size = device->piece;
  for (size_t k = 0; k < (measures ? 1 : PETSC_STATIC_ARRAY_LENGTH(Cases)); k++) {
    for (int mode = 0; mode < (measures ? 2 : 6);
         mode++) { /* fails, fails for good, without memory; vectors of the host, vectors of the device */
      const PetscBool memory = (PetscBool)(mode % 3 == 2);

      for (PetscInt call = 1, more = 1; more; call += measures ? 1 + call / 2 : 1) {
        PetscCall(SpmvStagingReset(device));
        device->piece = size;
        if (!k && !mode) { /* programs are loaded again */
          PetscCall(SpmvProgramsReset(device));
          PetscCall(VecUseReset());
        }
        Sticky = (PetscBool)(mode % 3 == 1);
        PetscCall(RunRefused(device, type, mode < 3 ? VECSEQ : VECACCEL, k, call, memory, &failed));
        more = failed;
        calls += failed;
      }
    }
  }
  piece = (PetscInt)size;
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " calls failed, in pieces of %" PetscInt_FMT " bytes\n", calls, piece));
  PetscCheck(calls > (measures ? 10 : 100), PETSC_COMM_SELF, PETSC_ERR_PLIB, "only %" PetscInt_FMT " calls failed", calls);
  device->api = Real;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: error
    args: -type {{DEVICE_FORMATS}} -mat_spmv_backend device -mat_spmv_build_after 0 -malloc_dump
    timeoutfactor: 5

  test:
    suffix: fallback
    args: -type pmf -mat_spmv_backend device -mat_spmv_build_after 0 -fallback -spmv_device_staging 500 -malloc_dump
    timeoutfactor: 5

  test:
    suffix: measure
    output_file: output/unit_device_faults_fallback.out
    args: -type pmf -mat_spmv_backend device -mat_spmv_build_after 0 -malloc_dump
    args: -fallback -mat_spmv_tune measure -mat_spmv_tune_seconds 1 -mat_spmv_wisdom none
    timeoutfactor: 5

  test:
    suffix: fallback_long
    output_file: output/unit_device_faults_fallback.out
    args: -type {{DEVICE_FORMATS}} -mat_spmv_backend device -mat_spmv_build_after 0 -fallback -spmv_device_staging 500 -malloc_dump
    timeoutfactor: 5

TEST*/
