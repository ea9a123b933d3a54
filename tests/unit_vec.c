static const char help[] = "Vectors of type accel: which side has the values, what is moved for that.\n\n";

#include "unitvec.h"

/* Reading, writing and overwriting, on the host and on the device */
static PetscErrorCode Sides(void)
{
  Vec                x, y;
  PetscScalar       *a, dot;
  const PetscScalar *r;
  PetscReal          least;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecSet(x, 2));
  PetscCall(VecSet(y, 3));
  PetscCall(VecAXPY(y, 2, x)); /* 7 */
  PetscCall(VecDot(x, y, &dot));
  PetscCall(Moved(0, 0, 0, "set, axpy, dot"));
  PetscCall(VecGetArrayRead(y, &r));
  PetscCall(Fact((PetscBool)(r[5] == (PetscScalar)7), "host read after kernels"));
  PetscCall(Moved(0, 1, 0, "host read"));
  PetscCall(VecScale(y, 2)); /* while the array is held for reading */
  PetscCall(Fact((PetscBool)(r[5] == (PetscScalar)14), "an array held for reading shows what kernels write"));
  PetscCall(VecRestoreArrayRead(y, &r));
  PetscCall(Moved(0, 1, 0, "a write while the array is read"));
  PetscCall(VecDot(y, x, &dot));
  PetscCall(VecGetArrayRead(y, &r));
  PetscCall(VecRestoreArrayRead(y, &r));
  PetscCall(Moved(0, 0, 0, "both sides are good"));
  PetscCall(VecGetArray(y, &a));
  a[0] = 1;
  PetscCall(VecShift(y, 1)); /* the host's, as the array is held */
  PetscCall(Fact((PetscBool)(a[0] == (PetscScalar)2 && a[1] == (PetscScalar)15), "an operation while the array is held"));
  a[0] = 15;
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(Moved(0, 0, 0, "array held"));
  PetscCall(VecScale(y, 2));
  PetscCall(Moved(1, 0, 0, "kernel after a host write"));
  PetscCall(IsAll(y, 30, "kernel after a host write"));
  PetscCall(Moved(0, 1, 0, "host read again"));
  PetscCall(VecScale(y, 0.5));
  PetscCall(VecGetArrayWrite(y, &a));
  for (PetscInt i = 0; i < N; i++) a[i] = 4;
  PetscCall(VecRestoreArrayWrite(y, &a));
  PetscCall(Moved(0, 0, 0, "overwritten on the host"));
  PetscCall(VecCopy(x, y));
  PetscCall(Moved(0, 0, 0, "overwritten on the device"));
  PetscCall(IsAll(y, 2, "copy"));
  PetscCall(VecSet(y, 6));
  PetscCall(Moved(0, 1, 0, NULL));
  PetscCall(VecGetArrayWrite(y, &a)); /* as MatGetRowMinAbs() does, which then writes some entries only */
  a[1] = 7;
  PetscCall(VecRestoreArrayWrite(y, &a));
  PetscCall(VecMin(y, NULL, &least));
  PetscCall(VecSum(y, &dot));
  PetscCall(Moved(1, 0, 0, "what VecSet() left, on the host"));
  PetscCall(Fact((PetscBool)(least == 6 && PetscAbsScalar(dot - (PetscScalar)(PetscGlobalSize * (6 * N + 1))) < 1e-3),
                 "what VecSet() left, partly overwritten"));
  PetscCall(VecSet(y, 2));
  PetscCall(IsAll(y, 2, "VecSet()"));
  PetscCall(VecShift(y, 1));
  PetscCall(IsAll(y, 3, "VecSet() and then another operation"));
  PetscCall(VecShift(y, -1));
  PetscCall(VecSetValue(y, 0, 5, ADD_VALUES));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  PetscCall(VecSum(y, &dot));
  PetscCall(
    Fact((PetscBool)(PetscAbsScalar(dot - (PetscScalar)(2 * N + 5) - (PetscScalar)((2 * N + 5) * (PetscGlobalSize - 1))) < 1e-3),
         "VecSetValues()"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* The states and remembered norms of what kernels of others write */
static PetscErrorCode States(void)
{
  SpmvDevice      *device;
  Vec              x, y;
  void            *xb, *yb;
  PetscReal        norm;
  PetscScalar     *a, ones[N];
  PetscObjectState before, after;
  PetscBool        nomem = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  PetscCall(Create(PETSC_COMM_SELF, N, VECACCEL, &x));
  PetscCall(Create(PETSC_COMM_SELF, N, VECSEQ, &y));
  PetscCall(Fact(IsDevice(x), "SpmvVecIsDevice()"));
  PetscCall(Fact((PetscBool)!IsDevice(y), "SpmvVecIsDevice() of a vector on the host"));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 3));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(SpmvVecGetDeviceRead(x, &xb));
  PetscCall(SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb));
  PetscCall(Fact((PetscBool)(xb && yb && xb != yb), "buffers"));
  PetscCall(PetscObjectStateGet((PetscObject)y, &before));
  PetscCall(SpmvVecRestoreDeviceWrite(y, PETSC_FALSE, PETSC_FALSE, &yb)); /* nothing was written after all */
  PetscCall(PetscObjectStateGet((PetscObject)y, &after));
  PetscCall(Fact((PetscBool)(before == after), "state of what was not written"));
  PetscCall(IsAll(y, 3, "what was not written"));
  PetscCall(SpmvVecGetDeviceWrite(y, PETSC_FALSE, &yb));
  PetscCall(SpmvDeviceRead(device, xb, ones, sizeof(ones)));
  PetscCall(SpmvDeviceWrite(device, yb, ones, sizeof(ones), &nomem)); /* in place of a kernel */
  PetscCall(SpmvVecRestoreDeviceWrite(y, PETSC_FALSE, PETSC_TRUE, &yb));
  PetscCall(SpmvVecRestoreDeviceRead(x, &xb));
  PetscCall(PetscObjectStateGet((PetscObject)y, &after));
  PetscCall(Fact((PetscBool)(before < after), "state of what was written"));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(Fact((PetscBool)(norm == 1), "norm of what was written"));
  PetscCall(IsAll(y, 1, "what was written"));
  PetscCall(VecGetArray(y, &a));
  PetscCall(SpmvVecGetDeviceRead(y, &yb));
  PetscCall(Fact((PetscBool)!yb, "no buffer while the array is held"));
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(VecSet(y, 2));
  PetscCall((*y->ops->bindtocpu)(y, PETSC_TRUE));
  PetscCall(Fact((PetscBool)!IsDevice(y), "SpmvVecIsDevice() of a vector bound to the host"));
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecScale(y, 2));
  PetscCall(VecAXPY(x, 1, y)); /* x is on the device only: y is sent */
  PetscCall(Moved(0, 0, 1, "bound to the host"));
  PetscCall((*y->ops->bindtocpu)(y, PETSC_FALSE));
  PetscCall(IsAll(y, 4, "bound to the host"));
  PetscCall(IsAll(x, 5, "with a vector bound to the host"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* No operation leaves a norm that is not the vector's any more */
static PetscErrorCode Norms(void)
{
  Vec       x, y;
  PetscReal norm[4];

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_SELF, N, VECACCEL, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(y, -4));
  for (int operation = 0; operation < 10; operation++) {
    const PetscReal after[] = {3, 1, 5, 0.25, 2, 4, 2, 6, 4, 16};

    PetscCall(VecSet(x, operation < 3 ? -1 : 4));
    PetscCall(VecScale(x, operation < 3 ? 1 : -1));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm[0]));
    if (operation == 0) PetscCall(VecShift(x, -2));
    if (operation == 1) PetscCall(VecSqrtAbs(x));
    if (operation == 2) PetscCall(VecAXPY(x, 1, y));
    if (operation == 3) PetscCall(VecReciprocal(x));
    if (operation == 4) PetscCall(VecScale(x, 0.5));
    if (operation == 5) PetscCall(VecAbs(x));
    if (operation == 6) PetscCall(VecSet(x, 2));
    if (operation == 7) PetscCall(VecAXPBY(x, 1, 0.5, y));
    if (operation == 8) PetscCall(VecSwap(x, y));
    if (operation == 9) PetscCall(VecPointwiseMult(x, x, y));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm[1]));
    PetscCall(VecMin(x, NULL, &norm[2]));
    PetscCall(VecMax(x, NULL, &norm[3]));
    PetscCall(Fact((PetscBool)(norm[1] == after[operation] && norm[1] == PetscMax(PetscAbsReal(norm[2]), PetscAbsReal(norm[3]))),
                   "a norm after an operation"));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* KSP with a preconditioner whose diagonal is ours, and right-hand side, solution and work vectors that are not */
static PetscErrorCode Jacobi(void)
{
  Mat      A;
  KSP      ksp;
  Vec      b, x, d, z;
  PetscInt first, last, rows, its;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, N, N, PETSC_DETERMINE, PETSC_DETERMINE, 3, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetSize(A, &rows, NULL));
  for (PetscInt i = first; i < last; i++) {
    if (i) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i < rows - 1) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 2.1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &b, &x));
  PetscCall(VecSet(b, 1));
  PetscCall(MatSetVecType(A, VECACCEL)); /* what PCJACOBI asks for its diagonal */
  PetscCall(MatCreateVecs(A, &d, &z));
  PetscCall(Fact((PetscBool)(IsDevice(d) && IsDevice(z)), "MatSetVecType()"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  {
    PC pc;

    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
  }
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(Fact((PetscBool)(its > 5), "some iterations"));
  PetscCall(Moved(1, 1, 0, "a diagonal that is ours: inverted by a kernel, then the host's")); /* work vectors are as b */

  /* The same by hand, with a diagonal that a kernel wrote: it comes to the host once */
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecReciprocal(d));
  PetscCall(Moved(1, 0, 0, "reciprocals"));
  for (int k = 0; k < 5; k++) PetscCall(VecPointwiseMult(x, b, d));
  PetscCall(Moved(0, 1, 0, "host vectors times one of ours"));
  for (int k = 0; k < 5; k++) PetscCall(VecPointwiseMult(z, b, d)); /* b is the host's, d there as well: the host */
  PetscCall(Moved(0, 0, 0, "a host vector times one of ours"));
  PetscCall(VecScale(z, 2));
  PetscCall(VecAXPY(z, 1, b));
  PetscCall(Moved(1, 0, 1, "a host vector added to one of ours"));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&z));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Who asks for the memory of a vector that may be the device's is told that there is no such device. Before any other test: it is sought once */
static PetscErrorCode Missing(void)
{
  PetscErrorCode ierr;
  void          *buffer;
  Vec            v;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_SELF, N, VECSEQ, &v));
  v->ops->getarrayandmemtype = VecGetArrayAndMemType; /* as vectors for CUDA have one */
  PetscCall(PetscOptionsSetValue(NULL, "-spmv_device", "nosuch"));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = SpmvVecGetDeviceRead(v, &buffer);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscOptionsClearValue(NULL, "-spmv_device"));
  PetscCall(Fact((PetscBool)(ierr == PETSC_ERR_ARG_UNKNOWN_TYPE), "-spmv_device nosuch is an error"));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscErrorCode (*const tests[])(void) = {Sides, States, Norms, Jacobi};
  int status;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Missing());
  PetscCall(FactsOf(PETSC_STATIC_ARRAY_LENGTH(tests), tests, &status));
  PetscCall(PetscFinalize());
  return status;
}

/*TEST

  test:
    nsize: {{1 2 3}}
    timeoutfactor: 5

TEST*/
