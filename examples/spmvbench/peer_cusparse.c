/*
  peer_cusparse.c - NVIDIA's cuSPARSE called directly: compressed rows by its default algorithm (cusparse) and by the one
  whose results are the same bits each time (cusparse_alg2)

  The driver and the library are opened at run time, and the few prototypes that are needed stand here, so that every
  spmvbench has this peer. As those of our types on a device, its products send x and receive y; -operation kernels times
  what is between.
*/
#include "peers.h"
#include <dlfcn.h>

typedef unsigned long long CUdeviceptr;

enum { /* of cusparse.h and library_types.h */
       CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
       CUSPARSE_INDEX_BASE_ZERO         = 0,
       CUSPARSE_INDEX_32I               = 2,
       CUSPARSE_INDEX_64I               = 3,
       CUSPARSE_SPMV_ALG_DEFAULT        = 0,
       CUSPARSE_SPMV_CSR_ALG2           = 3,
       CUDA_R_32F                       = 0,
       CUDA_R_64F                       = 1,
       CUDA_C_32F                       = 4,
       CUDA_C_64F                       = 5
};

#define PEER_INDEX (sizeof(PetscInt) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I)
#define PEER_SCALAR \
  (PetscDefined(USE_COMPLEX) ? (sizeof(PetscReal) == 8 ? CUDA_C_64F : CUDA_C_32F) \
   : sizeof(PetscReal) == 8  ? CUDA_R_64F \
                             : CUDA_R_32F)

/* Name in the library, name here, arguments. All return 0 or an error */
#define CUDA_FUNCTIONS(X) \
  X("cuInit", Init, (unsigned)) \
  X("cuDeviceGet", DeviceGet, (int *, int)) \
  X("cuDevicePrimaryCtxRetain", CtxRetain, (void **, int)) \
  X("cuDevicePrimaryCtxRelease_v2", CtxRelease, (int)) \
  X("cuCtxPushCurrent_v2", CtxPush, (void *)) \
  X("cuCtxPopCurrent_v2", CtxPop, (void **)) \
  X("cuCtxSynchronize", CtxSynchronize, (void)) \
  X("cuMemAlloc_v2", MemAlloc, (CUdeviceptr *, size_t)) \
  X("cuMemFree_v2", MemFree, (CUdeviceptr)) \
  X("cuMemcpyHtoD_v2", MemcpyHtoD, (CUdeviceptr, const void *, size_t)) \
  X("cuMemcpyDtoH_v2", MemcpyDtoH, (void *, CUdeviceptr, size_t))

#define SPMV_ARGS (void *, int, const void *, void *, void *, const void *, void *, int, int, void *)
#define CUSPARSE_FUNCTIONS(X) \
  X("cusparseCreate", Create, (void **)) \
  X("cusparseDestroy", Destroy, (void *)) \
  X("cusparseCreateCsr", CreateCsr, (void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int)) \
  X("cusparseDestroySpMat", DestroySpMat, (void *)) \
  X("cusparseCreateDnVec", CreateDnVec, (void **, int64_t, void *, int)) \
  X("cusparseDestroyDnVec", DestroyDnVec, (void *)) \
  X("cusparseSpMV_bufferSize", SpMV_bufferSize, \
    (void *, int, const void *, void *, void *, const void *, void *, int, int, size_t *)) \
  X("cusparseSpMV", SpMV, SPMV_ARGS)

#define X(symbol, name, args) int(*name) args;
static struct {
  CUDA_FUNCTIONS(X)
} cu;
static struct {
  CUSPARSE_FUNCTIONS(X)
  int(*SpMV_preprocess) SPMV_ARGS; /* since CUDA 12.3; NULL before */
} cusparse;
#undef X

typedef struct {
  int         device, algorithm;
  void       *context, *handle, *A, *x, *y; /* of cuSPARSE, but for the context */
  CUdeviceptr di, dj, da, dx, dy, buffer;   /* memory; buffer may be none */
  size_t      xbytes, ybytes;
} PeerCusparse;

#define CUCall(call) \
  do { \
    const int code_ = (call); \
\
    PetscCheck(!code_, PETSC_COMM_SELF, PETSC_ERR_LIB, "CUDA: error %d of " #call, code_); \
  } while (0)
#define CUSPARSECall(call) \
  do { \
    const int code_ = (call); \
\
    PetscCheck(!code_, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSPARSE: status %d of " #call, code_); \
  } while (0)

static void *Open(const char *const names[])
{
  void *handle = NULL;

  for (int k = 0; names[k] && !handle; k++) handle = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  return handle;
}

static PetscErrorCode PeerLoad(void)
{
  static PetscBool         loaded   = PETSC_FALSE;
  static const char *const driver[] = {"libcuda.so.1", NULL};
  static const char *const sparse[] = {"libcusparse.so",
                                       "libcusparse.so.12",
                                       "libcusparse.so.11",
                                       "/usr/local/cuda/lib64/libcusparse.so",
                                       "/usr/local/cuda/lib64/libcusparse.so.12",
                                       "/usr/local/cuda/lib/libcusparse.so",
                                       NULL};
  const char              *missing  = NULL;
  void                    *handle;

  PetscFunctionBegin;
  if (loaded) PetscFunctionReturn(PETSC_SUCCESS);
#define X(symbol, name, args) \
  *(void **)&TABLE.name = dlsym(handle, symbol); \
  if (!TABLE.name) missing = symbol;
  handle = Open(driver);
  PetscCheck(handle, PETSC_COMM_SELF, PETSC_ERR_SUP, "there is no CUDA driver (libcuda.so.1)");
#define TABLE cu
  CUDA_FUNCTIONS(X)
#undef TABLE
  handle = Open(sparse);
  PetscCheck(handle, PETSC_COMM_SELF, PETSC_ERR_SUP, "there is no cuSPARSE (libcusparse.so): %s", dlerror());
#define TABLE cusparse
  CUSPARSE_FUNCTIONS(X)
#undef TABLE
#undef X
  PetscCheck(!missing, PETSC_COMM_SELF, PETSC_ERR_SUP, "CUDA here is too old: it has no %s", missing);
  *(void **)&cusparse.SpMV_preprocess = dlsym(handle, "cusparseSpMV_preprocess");
  CUCall(cu.Init(0));
  loaded = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerRun(PeerCusparse *p)
{
  const PetscScalar one = 1, zero = 0;

  PetscFunctionBegin;
  CUSPARSECall(cusparse.SpMV(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A, p->x, &zero, p->y, PEER_SCALAR,
                             p->algorithm, (void *)(uintptr_t)p->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCusparseMult(Mat A, Vec x, Vec y)
{
  PeerCusparse      *p;
  const PetscScalar *xa;
  PetscScalar       *ya;
  void              *before;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  CUCall(cu.CtxPush(p->context));
  CUCall(cu.MemcpyHtoD(p->dx, xa, p->xbytes));
  PetscCall(PeerRun(p));
  CUCall(cu.MemcpyDtoH(ya, p->dy, p->ybytes));
  CUCall(cu.CtxPop(&before));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n products with the vectors on the device: what -operation kernels times */
static PetscErrorCode PeerCusparseRepeat(Mat A, PetscInt n)
{
  PeerCusparse *p;
  void         *before;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  CUCall(cu.CtxPush(p->context));
  for (PetscInt k = 0; k < n; k++) PetscCall(PeerRun(p));
  CUCall(cu.CtxSynchronize());
  CUCall(cu.CtxPop(&before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCusparseDestroy(Mat A)
{
  PeerCusparse *p;
  void         *before;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  CUCall(cu.CtxPush(p->context));
  CUSPARSECall(cusparse.DestroySpMat(p->A));
  CUSPARSECall(cusparse.DestroyDnVec(p->x));
  CUSPARSECall(cusparse.DestroyDnVec(p->y));
  CUSPARSECall(cusparse.Destroy(p->handle));
  for (const CUdeviceptr *d = (CUdeviceptr[]){p->di, p->dj, p->da, p->dx, p->dy, p->buffer, 1}; *d != 1; d++) {
    if (*d) CUCall(cu.MemFree(*d));
  }
  CUCall(cu.CtxPop(&before));
  CUCall(cu.CtxRelease(p->device));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory on the device with a copy of what is here */
static PetscErrorCode PeerSend(size_t bytes, const void *data, CUdeviceptr *d)
{
  PetscFunctionBegin;
  CUCall(cu.MemAlloc(d, PetscMax(bytes, 1)));
  if (data && bytes) CUCall(cu.MemcpyHtoD(*d, data, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCreate(const BenchMatrix *M, int algorithm, Mat *A, PetscLogDouble *bytes)
{
  const size_t      nz  = (size_t)M->i[M->m];
  const PetscScalar one = 1, zero = 0;
  PeerCusparse     *p;
  size_t            size = 0;
  void             *before;

  PetscFunctionBegin;
  PetscCall(PeerLoad());
  PetscCall(PetscNew(&p));
  p->algorithm = algorithm;
  p->xbytes    = (size_t)M->n * sizeof(PetscScalar);
  p->ybytes    = (size_t)M->m * sizeof(PetscScalar);
  CUCall(cu.DeviceGet(&p->device, 0));
  CUCall(cu.CtxRetain(&p->context, p->device));
  CUCall(cu.CtxPush(p->context));
  PetscCall(PeerSend(((size_t)M->m + 1) * sizeof(PetscInt), M->i, &p->di));
  PetscCall(PeerSend(nz * sizeof(PetscInt), M->j, &p->dj));
  PetscCall(PeerSend(nz * sizeof(PetscScalar), M->a, &p->da));
  PetscCall(PeerSend(p->xbytes, NULL, &p->dx));
  PetscCall(PeerSend(p->ybytes, NULL, &p->dy));
  CUSPARSECall(cusparse.Create(&p->handle));
  CUSPARSECall(cusparse.CreateCsr(&p->A, M->m, M->n, (int64_t)nz, (void *)(uintptr_t)p->di, (void *)(uintptr_t)p->dj,
                                  (void *)(uintptr_t)p->da, PEER_INDEX, PEER_INDEX, CUSPARSE_INDEX_BASE_ZERO, PEER_SCALAR));
  CUSPARSECall(cusparse.CreateDnVec(&p->x, M->n, (void *)(uintptr_t)p->dx, PEER_SCALAR));
  CUSPARSECall(cusparse.CreateDnVec(&p->y, M->m, (void *)(uintptr_t)p->dy, PEER_SCALAR));
  CUSPARSECall(cusparse.SpMV_bufferSize(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A, p->x, &zero, p->y, PEER_SCALAR,
                                        algorithm, &size));
  if (size) CUCall(cu.MemAlloc(&p->buffer, size));
  if (cusparse.SpMV_preprocess)
    CUSPARSECall(cusparse.SpMV_preprocess(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A, p->x, &zero, p->y, PEER_SCALAR,
                                          algorithm, (void *)(uintptr_t)p->buffer));
  CUCall(cu.CtxPop(&before));
  *bytes = (double)nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)M->m * sizeof(PetscInt);
  PetscCall(MatCreateShell(PETSC_COMM_SELF, M->m, M->n, M->m, M->n, p, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))PeerCusparseMult));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))PeerCusparseDestroy));
  PetscCall(PetscObjectComposeFunction((PetscObject)*A, "MatSpmvDeviceRepeat_C", PeerCusparseRepeat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateCusparse(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PeerCreate(M, CUSPARSE_SPMV_ALG_DEFAULT, A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateCusparseAlg2(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PeerCreate(M, CUSPARSE_SPMV_CSR_ALG2, A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
