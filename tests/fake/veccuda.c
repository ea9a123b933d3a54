static const char help[] =
  "Vectors whose memory is CUDA's, as PETSc's VECCUDA has it, in products and in operations of VECACCEL; MatBindToCPU();\n\
PETSc's stream.\n\
  -type <bccoo> - of the Mat\n\
  -results      - kernels are run, so look at results\n\n";

/*
  For tests/veccuda.sh and tests/emulate.sh, which run it with the driver of this folder. The vectors here are PETSc's own for the
  host with the operations that VECCUDA has besides: those that give memory of the device and bring the values there.
*/
#include "../unitvec.h"
#include "mat/interface/spmvmat.h"
#include "device/cuda/cuda.h"
#include <dlfcn.h>

typedef struct {
  void          *d; /* memory of the device */
  PetscBool      onhost, ondevice;
  PetscBool      elsewhere;  /* the memory is not that of our device */
  PetscInt       moved;      /* to the device and back */
  struct _VecOps own, bound; /* operations as they are, and as they are on the host */
} Cuda;

/* The driver */
static struct {
  int (*retain)(void **, int), (*release)(int), (*push)(void *), (*pop)(void **), (*alloc)(unsigned long long *, size_t),
    (*free)(unsigned long long);
  int (*send)(unsigned long long, const void *, size_t, void *), (*receive)(void *, unsigned long long, size_t, void *),
    (*wait)(void *);
  int (*given)(const void *);
  void (*forget)(void);
  void *(*stream)(void);
} cu;
static void *Context, *StreamNow;

#define Driver(function, name) \
  *(void **)&cu.function = dlsym(handle, name); \
  PetscCheck(cu.function, PETSC_COMM_SELF, PETSC_ERR_LIB, "no %s", name);
#define PetscCallDriver(...) PetscCheck(!(__VA_ARGS__), PETSC_COMM_SELF, PETSC_ERR_LIB, "the driver refused a call")

static PetscErrorCode DriverOpen(void)
{
  void *handle = dlopen("libcuda.so.1", RTLD_NOW);

  PetscFunctionBegin;
  PetscCheck(handle, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", dlerror());
  Driver(retain, "cuDevicePrimaryCtxRetain");
  Driver(release, "cuDevicePrimaryCtxRelease_v2");
  Driver(push, "cuCtxPushCurrent_v2");
  Driver(pop, "cuCtxPopCurrent_v2");
  Driver(alloc, "cuMemAlloc_v2");
  Driver(free, "cuMemFree_v2");
  Driver(send, "cuMemcpyHtoDAsync_v2");
  Driver(receive, "cuMemcpyDtoHAsync_v2");
  Driver(wait, "cuStreamSynchronize");
  Driver(given, "FakeGiven");
  Driver(forget, "FakeForget");
  Driver(stream, "FakeStream");
  PetscCallDriver(cu.retain(&Context, 0));
  PetscFunctionReturn(0);
}

/* ---- what stands for PETSc's side ---- */

static PetscErrorCode CudaOfPetsc(PetscInt *index, void **stream)
{
  PetscFunctionBegin;
  if (stream) *stream = StreamNow;
  if (index) *index = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode CudaGet(Vec v, Cuda **c)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)v, "Cuda", (PetscObject *)&container));
  PetscCall(PetscContainerGetPointer(container, (void **)c));
  PetscFunctionReturn(0);
}

/* Brings the values to the device or to the host; what PETSc has asked for is waited for, as VECCUDA does */
static PetscErrorCode CudaMove(Vec v, PetscBool device)
{
  PetscScalar *array = *(PetscScalar **)v->data;
  const size_t bytes = (size_t)v->map->n * sizeof(PetscScalar);
  Cuda        *c;

  PetscFunctionBegin;
  PetscCall(CudaGet(v, &c));
  if (device ? c->ondevice : c->onhost) PetscFunctionReturn(0);
  c->moved++;
  c->ondevice = c->onhost = PETSC_TRUE;
  v->offloadmask          = PETSC_OFFLOAD_BOTH;
  if (c->elsewhere) PetscCall(device ? PetscMemcpy(c->d, array, bytes) : PetscMemcpy(array, c->d, bytes));
  if (c->elsewhere) PetscFunctionReturn(0);
  PetscCallDriver(cu.push(Context));
  PetscCallDriver(cu.wait(cu.stream())); /* a program that changes the stream sees to what PETSc has on the one before */
  PetscCallDriver(device ? cu.send((unsigned long long)(uintptr_t)c->d, array, bytes, StreamNow)
                         : cu.receive(array, (unsigned long long)(uintptr_t)c->d, bytes, StreamNow));
  PetscCallDriver(cu.wait(StreamNow));
  PetscCallDriver(cu.pop(&Context));
  PetscFunctionReturn(0);
}

static PetscErrorCode CudaWritten(Vec v, PetscBool device)
{
  Cuda *c;

  PetscFunctionBegin;
  PetscCall(CudaGet(v, &c));
  c->ondevice    = device;
  c->onhost      = (PetscBool)!device;
  v->offloadmask = device ? PETSC_OFFLOAD_GPU : PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetDevice(Vec v, PetscScalar **a, PetscMemType *type, PetscBool reads, PetscBool writes)
{
  Cuda *c;

  PetscFunctionBegin;
  if (reads) PetscCall(CudaMove(v, PETSC_TRUE));
  if (writes) PetscCall(CudaWritten(v, PETSC_TRUE)); /* as VECCUDA: at once */
  PetscCall(CudaGet(v, &c));
  *a    = (PetscScalar *)c->d;
  *type = PETSC_MEMTYPE_CUDA;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetArrayAndMemType_Cuda(Vec v, PetscScalar **a, PetscMemType *type)
{
  PetscFunctionBegin;
  PetscCall(GetDevice(v, a, type, PETSC_TRUE, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetArrayWriteAndMemType_Cuda(Vec v, PetscScalar **a, PetscMemType *type)
{
  PetscFunctionBegin;
  PetscCall(GetDevice(v, a, type, PETSC_FALSE, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetArrayReadAndMemType_Cuda(Vec v, const PetscScalar **a, PetscMemType *type)
{
  PetscFunctionBegin;
  PetscCall(GetDevice(v, (PetscScalar **)a, type, PETSC_TRUE, PETSC_FALSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreArrayAndMemType_Cuda(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreArrayWriteAndMemType_Cuda(Vec v, PetscScalar **a, PetscMemType *type)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)v));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreArrayReadAndMemType_Cuda(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetArray_Cuda(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(CudaMove(v, PETSC_FALSE));
  PetscCall(CudaWritten(v, PETSC_FALSE));
  *a = *(PetscScalar **)v->data;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetArrayWrite_Cuda(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(CudaWritten(v, PETSC_FALSE));
  *a = *(PetscScalar **)v->data;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetArrayRead_Cuda(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(CudaMove(v, PETSC_FALSE));
  *a = *(const PetscScalar **)v->data;
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreArray_Cuda(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreArrayRead_Cuda(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscFunctionReturn(0);
}

static PetscErrorCode BindToCPU_Cuda(Vec v, PetscBool bound)
{
  Cuda *c;

  PetscFunctionBegin;
  PetscCall(CudaGet(v, &c));
  if (bound) PetscCall(CudaMove(v, PETSC_FALSE));
  PetscCall(PetscMemcpy(v->ops, bound ? &c->bound : &c->own, sizeof(*v->ops)));
  PetscFunctionReturn(0);
}

static PetscErrorCode CudaCreate(PetscInt n, PetscBool elsewhere, Vec *v)
{
  PetscContainer     container;
  unsigned long long d = 0;
  Cuda              *c;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, n, VECSTANDARD, v));
  PetscCall(PetscNew(&c));
  c->onhost    = PETSC_TRUE;
  c->elsewhere = elsewhere;
  if (elsewhere) PetscCall(PetscMalloc1((size_t)n * sizeof(PetscScalar), (char **)&c->d));
  else {
    PetscCallDriver(cu.push(Context));
    PetscCallDriver(cu.alloc(&d, (size_t)n * sizeof(PetscScalar)));
    PetscCallDriver(cu.pop(&Context));
    c->d = (void *)(uintptr_t)d;
  }
  (*v)->petscnative            = PETSC_FALSE;
  (*v)->ops->getarray          = GetArray_Cuda;
  (*v)->ops->getarraywrite     = GetArrayWrite_Cuda;
  (*v)->ops->getarrayread      = GetArrayRead_Cuda;
  (*v)->ops->restorearray      = RestoreArray_Cuda;
  (*v)->ops->restorearraywrite = RestoreArray_Cuda;
  (*v)->ops->restorearrayread  = RestoreArrayRead_Cuda;
  (*v)->ops->bindtocpu         = BindToCPU_Cuda;
  PetscCall(PetscMemcpy(&c->bound, (*v)->ops, sizeof(c->bound)));
  (*v)->ops->getarrayandmemtype          = GetArrayAndMemType_Cuda;
  (*v)->ops->getarrayreadandmemtype      = GetArrayReadAndMemType_Cuda;
  (*v)->ops->getarraywriteandmemtype     = GetArrayWriteAndMemType_Cuda;
  (*v)->ops->restorearrayandmemtype      = RestoreArrayAndMemType_Cuda;
  (*v)->ops->restorearrayreadandmemtype  = RestoreArrayReadAndMemType_Cuda;
  (*v)->ops->restorearraywriteandmemtype = RestoreArrayWriteAndMemType_Cuda;
  PetscCall(PetscMemcpy(&c->own, (*v)->ops, sizeof(c->own)));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, c));
  PetscCall(PetscObjectCompose((PetscObject)*v, "Cuda", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(0);
}

static PetscErrorCode CudaDestroy(Vec *v)
{
  Cuda *c;

  PetscFunctionBegin;
  PetscCall(CudaGet(*v, &c));
  PetscCall(VecDestroy(v));
  if (c->elsewhere) PetscCall(PetscFree(c->d));
  else {
    PetscCallDriver(cu.push(Context));
    PetscCallDriver(cu.free((unsigned long long)(uintptr_t)c->d));
    PetscCallDriver(cu.pop(&Context));
  }
  PetscCall(PetscFree(c));
  PetscFunctionReturn(0);
}

/* ---- the tests ---- */

typedef enum { HOST, ACCEL, CUDA, ELSEWHERE, KINDS } Kind;

/* A vector of a kind with the same values each time, where it lives */
static PetscErrorCode Vector(Kind kind, PetscInt n, PetscInt seed, Vec *v)
{
  PetscScalar *a;
  PetscMemType type;

  PetscFunctionBegin;
  if (kind == CUDA || kind == ELSEWHERE) PetscCall(CudaCreate(n, (PetscBool)(kind == ELSEWHERE), v));
  else PetscCall(Create(PETSC_COMM_WORLD, n, kind == ACCEL ? VECACCEL : VECSTANDARD, v));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscSinReal((PetscReal)(i + 17 * seed + 5 * PetscGlobalRank));
  PetscCall(VecRestoreArrayWrite(*v, &a));
  if (kind == ACCEL) PetscCall(VecScale(*v, 2));
  if (kind == ACCEL) PetscCall(VecScale(*v, 0.5));
  if (kind != CUDA && kind != ELSEWHERE) PetscFunctionReturn(0);
  PetscCall(VecGetArrayAndMemType(*v, &a, &type));
  PetscCall(VecRestoreArrayAndMemType(*v, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode VectorDestroy(Kind kind, Vec *v)
{
  PetscFunctionBegin;
  PetscCall((kind == CUDA || kind == ELSEWHERE ? CudaDestroy : VecDestroy)(v));
  PetscFunctionReturn(0);
}

/* What is known of one vector before an operation, and what must be so afterwards */
typedef struct {
  Kind             kind;
  Vec              v;
  PetscInt         moved;
  PetscObjectState state;
} Watched;

static PetscErrorCode Watch(Kind kind, Vec v, Watched *w)
{
  Cuda *c;

  PetscFunctionBegin;
  *w = (Watched){.kind = kind, .v = v};
  PetscCall(PetscObjectStateGet((PetscObject)v, &w->state));
  if (kind != CUDA && kind != ELSEWHERE) PetscFunctionReturn(0);
  PetscCall(CudaGet(v, &c));
  w->moved = c->moved;
  PetscFunctionReturn(0);
}

/* used: kernels were to be given it, and nothing moved for them */
static PetscErrorCode Watching(const Watched *w, PetscBool used, PetscBool written, const char what[])
{
  PetscObjectState state;
  char             text[128];
  Cuda            *c;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)w->v, &state));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s: state", what));
  if (written) PetscCall(Fact((PetscBool)(state > w->state), text));
  if (w->kind != CUDA && w->kind != ELSEWHERE) PetscFunctionReturn(0);
  PetscCall(CudaGet(w->v, &c));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s: moved", what));
  if (w->kind == CUDA && used) PetscCall(Fact((PetscBool)(c->moved == w->moved), text));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s: given to kernels", what));
  PetscCall(Fact((PetscBool)((cu.given(c->d) > 0) == (w->kind == CUDA && used)), text));
  PetscFunctionReturn(0);
}

/* u and v, which the host computed, are the same; not looked at unless kernels run */
static PetscErrorCode Same(Vec u, Vec v, PetscBool results, const char what[])
{
  const PetscScalar *a, *b;
  PetscReal          difference = 0, size = 1;
  PetscInt           n;

  PetscFunctionBegin;
  if (!results) PetscFunctionReturn(0);
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  PetscCall(VecGetArrayRead(v, &b));
  for (PetscInt i = 0; i < n; i++) {
    if (!(PetscAbsScalar(a[i] - b[i]) <= difference)) difference = PetscAbsScalar(a[i] - b[i]);
    size = PetscMax(size, PetscAbsScalar(b[i]));
  }
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscCall(Fact((PetscBool)(difference <= 100 * PETSC_MACHINE_EPSILON * size), what));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat A, PetscInt product, Vec x, Vec y, Vec z)
{
  const PetscBool transpose = (PetscBool)(product > 2), add = (PetscBool)(product % 3 > 0);

  PetscFunctionBegin;
  if (add) PetscCall((transpose ? MatMultTransposeAdd : MatMultAdd)(A, x, product % 3 == 2 ? z : y, z));
  else PetscCall((transpose ? MatMultTranspose : MatMult)(A, x, z));
  PetscFunctionReturn(0);
}

/* The products with vectors of all kinds, each on a stream of its own; device: they are to run there */
static PetscErrorCode Products(Mat A, Mat B, PetscBool device, PetscBool results)
{
  SpmvDevice *d;
  PetscInt    m, n;
  PetscMPIInt size;
  int         streams = 0;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&d));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetLocalSize(A, &m, &n));
  for (PetscInt product = 0; product < (size > 1 ? 3 : 6); product++) {
    for (int kinds = 0; kinds < KINDS * KINDS * KINDS; kinds++) {
      const Kind      kind[3]   = {(Kind)(kinds % KINDS), (Kind)(kinds / KINDS % KINDS), (Kind)(kinds / KINDS / KINDS)};
      const PetscBool transpose = (PetscBool)(product > 2), reads = (PetscBool)(product % 3 == 1);
      const PetscBool there =
        (PetscBool)((kind[0] == ACCEL || kind[0] == CUDA) && (!reads || kind[1] == ACCEL || kind[1] == CUDA) &&
                    (kind[2] == ACCEL || kind[2] == CUDA));
      PetscLogDouble moved;
      Vec            v[3], h[3];
      Watched        w[3];
      char           what[64];

      if (!reads && kind[1]) continue; /* no y */
      PetscCall(PetscSNPrintf(what, sizeof(what), "%sproduct %d, kinds %d %d %d", device ? "" : "bound, ", (int)product,
                              (int)kind[0], (int)kind[1], (int)kind[2]));
      for (int k = 0; k < 3; k++) {
        PetscCall(Vector(kind[k], (k == 0) != transpose ? n : m, k + 1, &v[k]));
        PetscCall(Vector(HOST, (k == 0) != transpose ? n : m, k + 1, &h[k]));
        PetscCall(Watch(kind[k], v[k], &w[k]));
      }
      /* The scatter of a PETSc without devices would be given memory of one, and send what the vector before had in its place */
      if (!device && size > 1 && (kind[0] == CUDA || kind[0] == ELSEWHERE)) PetscCall((*v[0]->ops->bindtocpu)(v[0], PETSC_TRUE));
      StreamNow = (void *)(uintptr_t)(streams++ % 3 * 0x10); /* a program may change the current device context */
      cu.forget();
      moved = d->moved[0].all + d->moved[1].all;
      PetscCall(Multiply(A, product, v[0], v[1], v[2]));
      PetscCall(Watching(&w[0], device, PETSC_FALSE, what));
      if (!reads || (device && there))
        PetscCall(Watching(&w[2], device, PETSC_TRUE, what)); /* else y is copied to z wherever less moves */
      if (reads && device && there) PetscCall(Watching(&w[1], device, PETSC_FALSE, what));
      if (device && there)
        PetscCall(Fact((PetscBool)(d->moved[0].all + d->moved[1].all - moved <= (size > 1 ? 40 * sizeof(PetscScalar) : 0)),
                       what)); /* ghosts */
      if (device) PetscCall(Fact((PetscBool)(cu.stream() == StreamNow), "PETSc's stream"));
      PetscCall(Multiply(B, product, h[0], h[1], h[2]));
      PetscCall(Same(v[2], h[2], results, what));
      for (int k = 0; k < 3; k++) {
        PetscCall(VectorDestroy(kind[k], &v[k]));
        PetscCall(VecDestroy(&h[k]));
      }
    }
  }
  PetscFunctionReturn(0);
}

/* Operations of VECACCEL with such vectors as other arguments: x is one, w is ours */
static PetscErrorCode Operations(PetscBool results)
{
  Vec         w[2], x[2], y[2];
  PetscScalar dot[2];
  Watched     watched[2];
  char        what[32];

  PetscFunctionBegin;
  for (int operation = 0; operation < 7; operation++) {
    for (int host = 0; host < 2; host++) {
      PetscCall(Vector(host ? HOST : ACCEL, N, 1, &w[host]));
      PetscCall(Vector(host ? HOST : CUDA, N, 2, &x[host]));
      PetscCall(Vector(host ? HOST : CUDA, N, 3, &y[host]));
      if (!host) PetscCall(Watch(CUDA, x[0], &watched[0]));
      if (!host) PetscCall(Watch(CUDA, y[0], &watched[1]));
      cu.forget();
      if (operation == 0) PetscCall(VecAXPY(w[host], 3, x[host]));
      if (operation == 1) PetscCall(VecWAXPY(w[host], 3, x[host], y[host]));
      if (operation == 2) PetscCall(VecPointwiseMult(w[host], x[host], y[host]));
      if (operation == 3) PetscCall(VecMAXPY(w[host], 2, (PetscScalar[]){2, 3}, (Vec[]){x[host], y[host]}));
      if (operation == 4) PetscCall(VecDot(w[host], x[host], &dot[host]));
      if (operation == 5) PetscCall(VecCopy(w[host], x[host]));
      if (operation == 6) PetscCall(VecSwap(w[host], x[host]));
      PetscCall(PetscSNPrintf(what, sizeof(what), "operation %d", operation));
      if (!host) PetscCall(Watching(&watched[0], PETSC_TRUE, (PetscBool)(operation > 4), what));
      if (!host && operation > 0 && operation < 4) PetscCall(Watching(&watched[1], PETSC_TRUE, PETSC_FALSE, what));
    }
    PetscCall(Same(w[0], w[1], results, what));
    PetscCall(Same(x[0], x[1], results, what));
    if (operation == 4 && results)
      PetscCall(Fact((PetscBool)(PetscAbsScalar(dot[0] - dot[1]) <= 1000 * PETSC_MACHINE_EPSILON), "VecDot()"));
    for (int host = 0; host < 2; host++) {
      PetscCall(VecDestroy(&w[host]));
      PetscCall(VectorDestroy(host ? HOST : CUDA, &x[host]));
      PetscCall(VectorDestroy(host ? HOST : CUDA, &y[host]));
    }
  }
  PetscFunctionReturn(0);
}

/* A vector of PETSc's that is bound to the host, and a Mat */
static PetscErrorCode Bound(Mat A, Mat B, PetscBool results)
{
  PetscInt  m, n;
  PetscBool host;
  Cuda     *c;
  Vec       x, z, h, y;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(Vector(CUDA, n, 1, &x));
  PetscCall(Vector(HOST, n, 1, &h));
  PetscCall(Vector(ACCEL, m, 2, &z));
  PetscCall(Vector(HOST, m, 2, &y));
  PetscCall((*x->ops->bindtocpu)(x, PETSC_TRUE)); /* VecBindToCPU() does nothing in a PETSc without devices */
  PetscCall(CudaGet(x, &c));
  cu.forget();
  PetscCall(MatMult(A, x, z));
  PetscCall(Fact((PetscBool)!cu.given(c->d), "a vector bound to the host"));
  PetscCall(MatMult(B, h, y));
  PetscCall(Same(z, y, results, "a vector bound to the host: result"));
  PetscCall((*x->ops->bindtocpu)(x, PETSC_FALSE));
  PetscCall(MatMult(A, x, z));
  PetscCall(Fact((PetscBool)(cu.given(c->d) > 0), "a vector that was bound to the host"));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&h));
  PetscCall(CudaDestroy(&x));

  PetscCall((*A->ops->bindtocpu)(A, PETSC_TRUE));
  PetscCall(Products(A, B, PETSC_FALSE, results));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &host, VECSEQ, VECMPI, ""));
  PetscCall(Fact(host, "MatCreateVecs() of a Mat bound to the host"));
  PetscCall(VecDestroy(&x));
  PetscCall((*A->ops->bindtocpu)(A, PETSC_FALSE));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(Fact(IsDevice(x), "MatCreateVecs() of a Mat that was bound to the host"));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMake(MatType type, Mat *A)
{
  PetscInt first, last, rows;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, N, N + 7, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  PetscCall(MatGetSize(*A, NULL, &rows));
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt j = i - 1; j < i + 4; j++)
      PetscCall(MatSetValue(*A, i, (j + rows) % rows, 1 + PetscSinReal((PetscReal)(i + 3 * j)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = MATBCCOO;
  PetscBool results;
  Vec       x, y;
  Mat       A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-results", &results));
  PetscCall(DriverOpen());
  SpmvPetscCuda = CudaOfPetsc;
  PetscCall(MatMake(type, &A));
  PetscCall(MatMake(MATAIJ, &B));
  for (int transpose = 0; transpose < 2; transpose++) { /* the storage goes to the device */
    PetscCall(MatCreateVecs(A, transpose ? &y : &x, transpose ? &x : &y));
    PetscCall(VecSet(x, 1));
    PetscCall((transpose ? MatMultTranspose : MatMult)(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(Products(A, B, PETSC_TRUE, results));
  PetscCall(Operations(results));
  PetscCall(Bound(A, B, results));
  PetscCall(Products(A, B, PETSC_TRUE, results));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCallDriver(cu.release(0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " facts wrong\n", Failures));
  PetscCall(PetscFinalize());
  return Failures ? 1 : 0;
}
