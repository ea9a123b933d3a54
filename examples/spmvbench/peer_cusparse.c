/*
  peer_cusparse.c - NVIDIA's cuSPARSE called directly: compressed rows by its default algorithm (cusparse) and by the one
  whose results are the same bits each time (cusparse_alg2), slices of 32 rows as long as the longest (cusparse_sell), and
  blocks (cusparse_bsr:block_size=3), which it multiplies from CUDA 13 on

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
       CUSPARSE_SPMV_SELL_ALG1          = 5,
       CUSPARSE_SPMV_BSR_ALG1           = 6,
       CUSPARSE_ORDER_ROW               = 2,
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
  /* NULL in a library that is older */
  int(*SpMV_preprocess) SPMV_ARGS; /* since CUDA 12.3 */
  int (*CreateSlicedEll)(void **, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int);
  int (*CreateBsr)(void **, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int, int);
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
  *(void **)&cusparse.CreateSlicedEll = dlsym(handle, "cusparseCreateSlicedEll");
  *(void **)&cusparse.CreateBsr       = dlsym(handle, "cusparseCreateBsr");
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

/* A as it is in the library: the bytes that a product reads of it */
static PetscErrorCode PeerCsr(const BenchMatrix *M, PeerCusparse *p, PetscLogDouble *bytes)
{
  const size_t nz = (size_t)M->i[M->m];

  PetscFunctionBegin;
  PetscCall(PeerSend(((size_t)M->m + 1) * sizeof(PetscInt), M->i, &p->di));
  PetscCall(PeerSend(nz * sizeof(PetscInt), M->j, &p->dj));
  PetscCall(PeerSend(nz * sizeof(PetscScalar), M->a, &p->da));
  CUSPARSECall(cusparse.CreateCsr(&p->A, M->m, M->n, (int64_t)nz, (void *)(uintptr_t)p->di, (void *)(uintptr_t)p->dj,
                                  (void *)(uintptr_t)p->da, PEER_INDEX, PEER_INDEX, CUSPARSE_INDEX_BASE_ZERO, PEER_SCALAR));
  *bytes = (double)nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)M->m * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry k of each row of a slice, row after row, then entry k + 1; a row that is shorter has columns -1 */
static PetscErrorCode PeerSell(const BenchMatrix *M, PeerCusparse *p, PetscLogDouble *bytes)
{
  const PetscInt height = 32, slices = (M->m + height - 1) / height;
  PetscInt      *offset, *column, most;
  PetscScalar   *value;

  PetscFunctionBegin;
  PetscCheck(cusparse.CreateSlicedEll, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "cuSPARSE here is too old: it has no cusparseCreateSlicedEll");
  PetscCall(PetscCalloc1(slices + 1, &offset));
  for (PetscInt s = 0; s < slices; s++) {
    PetscInt longest = 0;

    for (PetscInt r = s * height; r < PetscMin(M->m, (s + 1) * height); r++) longest = PetscMax(longest, M->i[r + 1] - M->i[r]);
    PetscCheck(longest <= (PETSC_MAX_INT - offset[s]) / height, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "slices are too long for its integers");
    offset[s + 1] = offset[s] + longest * height;
  }
  most = offset[slices];
  PetscCall(PetscMalloc1(most, &column));
  PetscCall(PetscCalloc1(most, &value));
  for (PetscInt k = 0; k < most; k++) column[k] = -1;
  for (PetscInt r = 0; r < M->m; r++) {
    for (PetscInt k = M->i[r]; k < M->i[r + 1]; k++) {
      const PetscInt to = offset[r / height] + (k - M->i[r]) * height + r % height;

      column[to] = M->j[k];
      value[to]  = M->a[k];
    }
  }
  PetscCall(PeerSend((size_t)(slices + 1) * sizeof(PetscInt), offset, &p->di));
  PetscCall(PeerSend((size_t)most * sizeof(PetscInt), column, &p->dj));
  PetscCall(PeerSend((size_t)most * sizeof(PetscScalar), value, &p->da));
  CUSPARSECall(cusparse.CreateSlicedEll(&p->A, M->m, M->n, M->i[M->m], most, height, (void *)(uintptr_t)p->di,
                                        (void *)(uintptr_t)p->dj, (void *)(uintptr_t)p->da, PEER_INDEX, PEER_INDEX,
                                        CUSPARSE_INDEX_BASE_ZERO, PEER_SCALAR));
  *bytes = (double)most * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)slices * sizeof(PetscInt);
  PetscCall(PetscFree(offset));
  PetscCall(PetscFree(column));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks by rows, each with its entries by rows */
static PetscErrorCode PeerBsr(const BenchMatrix *M, PetscInt bs, PeerCusparse *p, PetscLogDouble *bytes)
{
  const PetscInt rows = M->m / PetscMax(bs, 1), cols = M->n / PetscMax(bs, 1);
  PetscInt      *first, *column, *seen, n = 0;
  PetscScalar   *value;

  PetscFunctionBegin;
  PetscCheck(cusparse.CreateBsr, PETSC_COMM_SELF, PETSC_ERR_SUP, "cuSPARSE here is too old: it has no cusparseCreateBsr");
  PetscCheck(bs > 1 && M->m % bs == 0 && M->n % bs == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "blocks of %" PetscInt_FMT " do not divide the rows and columns; write cusparse_bsr:block_size=N", bs);
  PetscCall(PetscMalloc1(rows + 1, &first));
  PetscCall(
    PetscMalloc1(cols, &seen)); /* the place of the last block of a block column, and so whether it is in this block row */
  PetscCall(PetscMalloc1(M->i[M->m], &column));
  for (PetscInt c = 0; c < cols; c++) seen[c] = -1;
  first[0] = 0;
  for (PetscInt r = 0; r < rows; r++) { /* block columns as they come: the library does not want them in order */
    for (PetscInt k = M->i[r * bs]; k < M->i[(r + 1) * bs]; k++) {
      if (seen[M->j[k] / bs] >= first[r]) continue;
      seen[M->j[k] / bs] = n;
      column[n++]        = M->j[k] / bs;
    }
    PetscCall(PetscSortInt(n - first[r], column + first[r]));
    first[r + 1] = n;
  }
  PetscCall(PetscCalloc1((size_t)n * (size_t)(bs * bs), &value));
  for (PetscInt r = 0; r < rows; r++) {
    for (PetscInt k = first[r]; k < first[r + 1]; k++) seen[column[k]] = k;
    for (PetscInt q = r * bs; q < (r + 1) * bs; q++) {
      for (PetscInt k = M->i[q]; k < M->i[q + 1]; k++)
        value[((size_t)seen[M->j[k] / bs] * (size_t)bs + (size_t)(q % bs)) * (size_t)bs + (size_t)(M->j[k] % bs)] = M->a[k];
    }
  }
  PetscCall(PeerSend(((size_t)rows + 1) * sizeof(PetscInt), first, &p->di));
  PetscCall(PeerSend((size_t)n * sizeof(PetscInt), column, &p->dj));
  PetscCall(PeerSend((size_t)n * (size_t)(bs * bs) * sizeof(PetscScalar), value, &p->da));
  CUSPARSECall(cusparse.CreateBsr(&p->A, rows, cols, n, bs, bs, (void *)(uintptr_t)p->di, (void *)(uintptr_t)p->dj,
                                  (void *)(uintptr_t)p->da, PEER_INDEX, PEER_INDEX, CUSPARSE_INDEX_BASE_ZERO, PEER_SCALAR,
                                  CUSPARSE_ORDER_ROW));
  *bytes = (double)n * ((double)(bs * bs) * sizeof(PetscScalar) + sizeof(PetscInt)) + (double)rows * sizeof(PetscInt);
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(seen));
  PetscCall(PetscFree(column));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerCreate(const BenchMatrix *M, int algorithm, PetscInt bs, Mat *A, PetscLogDouble *bytes)
{
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
  PetscCall(PeerSend(p->xbytes, NULL, &p->dx));
  PetscCall(PeerSend(p->ybytes, NULL, &p->dy));
  CUSPARSECall(cusparse.Create(&p->handle));
  if (algorithm == CUSPARSE_SPMV_SELL_ALG1) PetscCall(PeerSell(M, p, bytes));
  else if (algorithm == CUSPARSE_SPMV_BSR_ALG1) PetscCall(PeerBsr(M, bs, p, bytes));
  else PetscCall(PeerCsr(M, p, bytes));
  CUSPARSECall(cusparse.CreateDnVec(&p->x, M->n, (void *)(uintptr_t)p->dx, PEER_SCALAR));
  CUSPARSECall(cusparse.CreateDnVec(&p->y, M->m, (void *)(uintptr_t)p->dy, PEER_SCALAR));
  CUSPARSECall(cusparse.SpMV_bufferSize(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A, p->x, &zero, p->y, PEER_SCALAR,
                                        algorithm, &size));
  if (size) CUCall(cu.MemAlloc(&p->buffer, size));
  if (cusparse.SpMV_preprocess)
    CUSPARSECall(cusparse.SpMV_preprocess(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A, p->x, &zero, p->y, PEER_SCALAR,
                                          algorithm, (void *)(uintptr_t)p->buffer));
  CUCall(cu.CtxPop(&before));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, M->m, M->n, M->m, M->n, p, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))PeerCusparseMult));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))PeerCusparseDestroy));
  PetscCall(PetscObjectComposeFunction((PetscObject)*A, "MatSpmvDeviceRepeat_C", PeerCusparseRepeat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateCusparse(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PeerCreate(M, CUSPARSE_SPMV_ALG_DEFAULT, 1, A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateCusparseAlg2(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PeerCreate(M, CUSPARSE_SPMV_CSR_ALG2, 1, A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateCusparseSell(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PeerCreate(M, CUSPARSE_SPMV_SELL_ALG1, 1, A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateCusparseBsr(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscCall(PeerCreate(M, CUSPARSE_SPMV_BSR_ALG1, bs, A, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
