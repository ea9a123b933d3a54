/*
  spmvtest.h - what the tests of formats share: small CSR matrices, guarded vectors, a reference product

  Programs that include this link the library's objects and call formats without a Mat.
*/
#pragma once
#include "spmvimpl.h"
#include "mat/interface/spmvmat.h"
#include "sample.h"
#include "host/machine.h"
#include <sys/mman.h>
#include <unistd.h>

/* -uncached: all matrices are taken for larger than caches, so that small ones go through what else only large ones do */
static inline PetscErrorCode SpmvTestUncached(void)
{
  SpmvMachine machine = *SpmvMachineGet();
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-uncached", &set));
  machine.cached = machine.uncached = 0;
  if (set) SpmvMachineSet(&machine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvGuarded: n scalars that end where an inaccessible page begins: reading or writing past the end is a crash */
typedef struct {
  PetscScalar *a; /* [n] */
  void        *base;
  size_t       bytes;
} SpmvGuarded;

static inline PetscErrorCode SpmvGuardedCreate(PetscInt n, SpmvGuarded *g)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (size_t)n * sizeof(PetscScalar),
               data = (used + page - 1) / page * page;

  PetscFunctionBegin;
  g->bytes = data + page;
  g->base  = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PetscCheck(g->base != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "mmap of %zu bytes", g->bytes);
  PetscCheck(!mprotect((char *)g->base + data, page, PROT_NONE), PETSC_COMM_SELF, PETSC_ERR_SYS, "mprotect");
  g->a = (PetscScalar *)((char *)g->base + data - used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SpmvGuardedDestroy(SpmvGuarded *g)
{
  PetscFunctionBegin;
  PetscCheck(!munmap(g->base, g->bytes), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvTestCSR: a CSR matrix that owns its arrays */
typedef struct {
  PetscInt     m, n;
  PetscInt    *i, *j;
  PetscScalar *a;
} SpmvTestCSR;

/* From a dense matrix by rows; an entry is stored where the value is not 0 */
static inline PetscErrorCode SpmvTestCSRFromDense(PetscInt m, PetscInt n, const PetscScalar dense[], SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = m;
  t->n = n;
  PetscCall(PetscMalloc1(m + 1, &t->i));
  for (PetscInt k = 0; k < m * n; k++) nz += dense[k] != (PetscScalar)0;
  PetscCall(PetscMalloc1(nz, &t->j));
  PetscCall(PetscMalloc1(nz, &t->a));
  nz = 0;
  for (PetscInt r = 0; r < m; r++) {
    t->i[r] = nz;
    for (PetscInt c = 0; c < n; c++) {
      if (dense[r * n + c] == (PetscScalar)0) continue;
      t->j[nz]   = c;
      t->a[nz++] = dense[r * n + c];
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for m rows and nz entries */
static inline PetscErrorCode SpmvTestCSRAlloc(PetscInt m, PetscInt nz, SpmvTestCSR *t)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc1(nz, &t->j));
  PetscCall(PetscMalloc1(nz, &t->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SpmvTestCSRDestroy(SpmvTestCSR *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(t->i));
  PetscCall(PetscFree(t->j));
  PetscCall(PetscFree(t->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline SpmvCSR SpmvTestCSRView(const SpmvTestCSR *t)
{
  return (SpmvCSR){.m = t->m, .n = t->n, .rbs = 1, .cbs = 1, .i = t->i, .j = t->j, .a = t->a};
}

/*
  z <- beta y + op(A) x in long double, and size <- beta |y| + |op(A)| |x|, length <- entries that meet in each result.
  z, size and length are of the result's length.
*/
static inline void SpmvTestReference(const SpmvCSR *csr, PetscBool transpose, const PetscScalar x[], const PetscScalar y[],
                                     long double re[], long double im[], long double size[], PetscInt length[])
{
  const PetscInt nout = transpose ? csr->n : csr->m;

  for (PetscInt r = 0; r < nout; r++) {
    re[r]     = y ? (long double)PetscRealPart(y[r]) : 0;
    im[r]     = y ? (long double)PetscImaginaryPart(y[r]) : 0;
    size[r]   = y ? (long double)PetscAbsScalar(y[r]) : 0;
    length[r] = 0;
  }
  for (PetscInt r = 0; r < csr->m; r++) {
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
      const PetscInt    in = transpose ? r : csr->j[k], out = transpose ? csr->j[k] : r;
      const long double ar = PetscRealPart(csr->a[k]), ai = PetscImaginaryPart(csr->a[k]);
      const long double xr = PetscRealPart(x[in]), xi = PetscImaginaryPart(x[in]);

      re[out] += ar * xr - ai * xi;
      im[out] += ar * xi + ai * xr;
      size[out] += (long double)PetscAbsScalar(csr->a[k]) * (long double)PetscAbsScalar(x[in]);
      length[out]++;
    }
  }
}

/* Entries that leave max(8, sqrt(length)) 4 eps size around the reference, or are not 0 where size is */
static inline PetscInt SpmvTestCompare(PetscInt n, const PetscScalar z[], const long double re[], const long double im[],
                                       const long double size[], const PetscInt length[])
{
  PetscInt wrong = 0;

  for (PetscInt r = 0; r < n; r++) {
    const long double bound =
      PetscMax((PetscReal)8, PetscSqrtReal((PetscReal)length[r])) * 4 * (long double)PETSC_MACHINE_EPSILON * size[r];
    const long double dr = (long double)PetscRealPart(z[r]) - re[r], di = (long double)PetscImaginaryPart(z[r]) - im[r];

    if (!(dr * dr + di * di <= bound * bound)) wrong++; /* NaN is wrong */
  }
  return wrong;
}

/* n scalars of either sign, the same each time */
static inline PetscErrorCode SpmvTestVector(PetscInt n, PetscScalar x[])
{
  PetscRandom rand;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PetscRandomGetValue(rand, &x[k]));
    x[k] -= (PetscScalar)0.5;
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- beta y + op(A) x by one instruction set; transposed products have NaN to write to, up to where an inaccessible page
   begins */
static inline PetscErrorCode SpmvTestApply(const SpmvKernels *kernels, PetscBool transpose, const void *storage,
                                           const PetscScalar x[], PetscScalar y[], PetscBool beta)
{
  const size_t n    = transpose ? kernels->transpose_work(storage) : 0;
  SpmvGuarded  work = {0};

  PetscFunctionBegin;
  if (!transpose) kernels->apply(storage, x, y, beta);
  if (!transpose) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvGuardedCreate((PetscInt)n, &work));
  for (size_t k = 0; k < n; k++) work.a[k] = (PetscScalar)NAN;
  kernels->apply_transpose(storage, x, y, beta, work.a);
  PetscCall(SpmvGuardedDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The default plan of a side of a format */
static inline SpmvPlan SpmvTestPlan(const SpmvFormat *format, SpmvBackend backend)
{
  const SpmvSide *side = SpmvFormatSide(format, backend);

  return SpmvPlanDefault(backend, side->nparams, side->params);
}

/* Builds a storage; *storage is NULL if the plan does not suit the matrix or the device */
static inline PetscErrorCode SpmvTestBuild(const SpmvSide *side, const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan,
                                           void **storage)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = SpmvBuild(side, csr, info, plan, storage);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || !*storage, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a build failed and left a storage");
  if (ierr != PETSC_ERR_ARG_OUTOFRANGE) PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rates that the user's file has are not to count */
static inline PetscErrorCode SpmvTestNoUserFile(void)
{
  PetscFunctionBegin;
  PetscCheck(!setenv("XDG_CONFIG_HOME", "/nowhere", 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that a product by a storage reads */
static inline PetscErrorCode SpmvTestBytes(const SpmvSide *side, const void *storage, PetscLogDouble *bytes)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(side->arrays(storage, &n, arrays));
  *bytes = SpmvArraysRead(n, arrays);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvTestProducts - the product and the transposed one, by every instruction set, with beta 0 (over NaN) and 1, against the
  reference; entries that are wrong are added to `wrong`, and it is printed whose they are
*/
static inline PetscErrorCode SpmvTestProducts(const SpmvFormat *format, const SpmvCSR *csr, const void *storage, PetscInt *wrong)
{
  PetscFunctionBegin;
  for (int transpose = 0; transpose < 2; transpose++) {
    const PetscInt nx = transpose ? csr->m : csr->n, ny = transpose ? csr->n : csr->m;
    SpmvGuarded    x = {0}, y = {0};
    long double   *re, *im, *size;
    PetscInt      *length;
    PetscScalar   *y0;

    PetscCall(SpmvGuardedCreate(nx, &x));
    PetscCall(SpmvGuardedCreate(ny, &y));
    PetscCall(PetscMalloc5(ny, &y0, ny, &re, ny, &im, ny, &size, ny, &length));
    PetscCall(SpmvTestVector(nx, x.a));
    PetscCall(SpmvTestVector(ny, y0));
    for (int beta = 0; beta < 2; beta++) {
      SpmvTestReference(csr, (PetscBool)transpose, x.a, beta ? y0 : NULL, re, im, size, length);
      for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
        const SpmvKernels *kernels = format->host->kernels[isa];
        PetscInt           bad;

        if (!SpmvIsaSupported((SpmvIsa)isa) || !kernels->apply) continue;
        for (PetscInt k = 0; k < ny; k++) y.a[k] = beta ? y0[k] : (PetscScalar)NAN;
        PetscCall(SpmvTestApply(kernels, (PetscBool)transpose, storage, x.a, y.a, (PetscBool)beta));
        bad = SpmvTestCompare(ny, y.a, re, im, size, length);
        if (bad)
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s%s, beta %d: %" PetscInt_FMT " entries wrong\n", format->name,
                                SpmvIsaName(isa), transpose ? ", transposed" : "", beta, bad));
        *wrong += bad;
      }
    }
    PetscCall(PetscFree5(y0, re, im, size, length));
    PetscCall(SpmvGuardedDestroy(&x));
    PetscCall(SpmvGuardedDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
