static const char help[] =
  "Where vectors of Mats live that a device multiplies, and products with vectors here and there; ghosts when the pattern changes.\n\
  -type <bccoo> - of the Mat\n\
  -odd          - the processes with odd numbers have no device\n\n";

#include "devicetest.h"

/* Three diagonals, and in the row `wide` of each process every `step`-th column */
static PetscErrorCode Fill(Mat A, PetscInt wide, PetscInt step)
{
  PetscInt start, end, N;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, NULL, &N));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(N, i + 2); j++)
      PetscCall(MatSetValue(A, i, j, 1 + PetscSinReal((PetscReal)(i + 3 * j)), INSERT_VALUES));
    for (PetscInt j = 0; j < N && i == start + wide; j += step)
      PetscCall(MatSetValue(A, i, j, PetscCosReal((PetscReal)j), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, 100 + PetscGlobalRank, 100 + PetscGlobalRank, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(*A, 7, 40));
  PetscFunctionReturn(0);
}

/* A vector of A's columns or rows; on the host if its bit is set, else as A has them */
static PetscErrorCode Vector(Mat A, PetscBool right, PetscBool host, PetscInt seed, Vec *v)
{
  PetscScalar *a;
  PetscInt     n;
  Vec          w;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, right ? v : NULL, right ? NULL : v));
  if (host) {
    PetscCall(VecGetLocalSize(*v, &n));
    PetscCall(VecCreate(PetscObjectComm((PetscObject)A), &w));
    PetscCall(VecSetSizes(w, n, PETSC_DETERMINE));
    PetscCall(VecSetType(w, VECSTANDARD));
    PetscCall(VecDestroy(v));
    *v = w;
  }
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscSinReal((PetscReal)(i + 17 * seed + 5 * PetscGlobalRank));
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscCall(VecScale(*v, 2)); /* where it lives */
  PetscFunctionReturn(0);
}

/* The four products, those that add with y = z and not, with x, y and z on the host where bits of `host` say so */
static PetscErrorCode Products(Mat A, Mat B, int host, const char what[])
{
  PetscFunctionBegin;
  for (int product = 0; product < 6; product++) {
    const PetscBool transpose = (PetscBool)(product > 2), add = (PetscBool)(product % 3 > 0),
                    same = (PetscBool)(product % 3 == 2);
    Vec       z[2];
    PetscReal norm, difference;

    for (int k = 0; k < 2; k++) {
      Mat         M = k ? B : A;
      Vec         x, y;
      PetscScalar dot;

      PetscCall(Vector(k ? B : A, (PetscBool)!transpose, (PetscBool)(host & 1), 1, &x));
      PetscCall(Vector(k ? B : A, transpose, (PetscBool)(host >> 1 & 1), 2, &y));
      PetscCall(Vector(k ? B : A, transpose, (PetscBool)(host >> 2 & 1), same ? 2 : 3, &z[k]));
      PetscCall(VecNorm(z[k], NORM_2, &norm)); /* kept by the vector until it changes */
      if (add) PetscCall((transpose ? MatMultTransposeAdd : MatMultAdd)(M, x, same ? z[k] : y, z[k]));
      else PetscCall((transpose ? MatMultTranspose : MatMult)(M, x, z[k]));
      PetscCall(VecNorm(z[k], NORM_2, &norm));
      PetscCall(VecDot(z[k], z[k], &dot));
      PetscCheck(PetscAbsReal(norm * norm - PetscRealPart(dot)) <= 100 * PETSC_MACHINE_EPSILON * norm * norm, PETSC_COMM_WORLD,
                 PETSC_ERR_PLIB, "%s, product %d: the norm of z is an old one", what, product);
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
    }
    PetscCall(VecNorm(z[1], NORM_2, &norm));
    PetscCall(VecAXPY(z[1], -1, z[0]));
    PetscCall(VecNorm(z[1], NORM_2, &difference));
    PetscCheck(difference <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s, product %d, host %d differs from AIJ's by %g", what, product, host, (double)(difference / norm));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&z[k]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintTypes(const char what[], Mat A)
{
  VecType right, left, mat;
  Vec     x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetType(x, &right));
  PetscCall(VecGetType(y, &left));
  PetscCall(MatGetVecType(A, &mat));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s and %s, by its type %s\n", what, right, left, mat));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCuda(Vec v)
{
  PetscFunctionBegin;
  PetscCall(VecSetType(v, VECSTANDARD));
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, "cuda"));
  PetscFunctionReturn(0);
}

/* Who asks for vectors of PETSc's own type for a device gets these from Mats as well, unless the Mat is told otherwise */
static PetscErrorCode Asked(Mat A)
{
  Vec       v;
  PetscBool is[2];

  PetscFunctionBegin;
  PetscCall(VecRegister("cuda", CreateCuda));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_vec_type", "mpicuda"));
  for (int k = 0; k < 2; k++) {
    if (k) PetscCall(MatSetVecType(A, VECACCEL));
    PetscCall(MatCreateVecs(A, &v, NULL));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &is[k], k ? VECSEQACCEL : "cuda", k ? VECMPIACCEL : "cuda", ""));
    PetscCall(VecDestroy(&v));
  }
  PetscCall(MatSetVecType(A, VECSTANDARD));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_vec_type"));
  if (!is[0] || !is[1])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "-dm_vec_type mpicuda: vectors are%s of that type, with MatSetVecType() they are%s of its\n",
                          is[0] ? "" : " not", is[1] ? "" : " not"));
  PetscFunctionReturn(0);
}

/* PETSc sets a vector to 0 here and then asks for its array to be written only */
static PetscErrorCode Extremes(Mat A, Mat B)
{
  Vec       v[2];
  PetscReal difference;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateVecs(k ? B : A, NULL, &v[k]));
    for (int again = 0; again < 2; again++) {
      PetscCall(VecSet(v[k], 100));
      PetscCall(MatGetRowMaxAbs(k ? B : A, v[k], NULL));
      PetscCall(VecScale(v[k], 2));
    }
  }
  PetscCall(VecAXPY(v[1], -1, v[0]));
  PetscCall(VecNorm(v[1], NORM_INFINITY, &difference));
  PetscCheck(difference == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the largest entries of rows differ from AIJ's by %g",
             (double)difference);
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&v[k]));
  PetscFunctionReturn(0);
}

/* MatCreateVecs() of A, of what is made of it, and where the user decides */
static PetscErrorCode Types(Mat A, const char type[])
{
  Mat         B, *C;
  IS          is;
  PetscInt    start, end;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PrintTypes("matrix", A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(PrintTypes("duplicate", B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(PrintTypes("aij", B));
  PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
  PetscCall(PrintTypes("back", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PrintTypes("copied to aij", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - start) / 2, start, 2, &is));
  PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &B));
  PetscCall(PrintTypes("submatrix", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &C));
  PetscCall(PrintTypes("sequential submatrix", C[0]));
  PetscCall(MatDestroySubMatrices(1, &C));
  PetscCall(ISDestroy(&is));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(PrintTypes("transpose", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_backend", "auto"));
  PetscCall(MatSetFromOptions(B));
  PetscCall(PrintTypes("auto, small", B));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_backend", "device"));
  PetscCall(MatSetFromOptions(B));
  PetscCall(PrintTypes("device", B));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatSetVecType(B, size > 1 ? VECMPI : VECSEQ));
  PetscCall(PrintTypes("the user's", B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Values at given places, as finite element codes give them; A's blocks are made anew */
static PetscErrorCode FillCOO(Mat A, PetscInt far)
{
  PetscInt     start, end, N, n = 0, *i, *j;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(PetscMalloc3(2 * (end - start), &i, 2 * (end - start), &j, 2 * (end - start), &v));
  for (PetscInt r = start; r < end; r++) {
    for (int k = 0; k < 2; k++, n++) {
      i[n] = r;
      j[n] = (r + k * far) % N;
      v[n] = 2 + PetscCosReal((PetscReal)(r + n));
    }
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(0);
}

/* Columns of other processes come and go, on some processes only; dense products use the same ghosts */
static PetscErrorCode Patterns(Mat A, Mat B)
{
  Mat       M[2] = {A, B}, X[2], Y[2];
  PetscInt  m, N;
  PetscReal norm, difference;

  PetscFunctionBegin;
  PetscCall(Products(A, B, 0, "first"));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, NULL, &N));
  for (int k = 0; k < 2; k++) {
    if (!PetscGlobalRank) PetscCall(MatSetValue(M[k], 3, N - 2, 5, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(M[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Products(A, B, 0, "one column more"));
  for (int k = 0; k < 2; k++) PetscCall(MatScale(M[k], 3));
  PetscCall(Products(A, B, 0, "other values"));
  for (int k = 0; k < 2; k++) PetscCall(Fill(M[k], 50, 3));
  PetscCall(Products(A, B, 0, "many columns more"));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &X[k]));
    PetscCall(MatGetOwnershipRange(X[k], &m, &N));
    for (PetscInt r = m; r < N; r++) {
      for (PetscInt c = 0; c < 3; c++) PetscCall(MatSetValue(X[k], r, c, PetscSinReal((PetscReal)(r + c)), INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(X[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(X[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatGetLocalSize(A, &m, NULL));
    PetscCall(MatMatMult(M[k], X[k], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y[k]));
  }
  PetscCall(MatNorm(Y[1], NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(Y[1], -1, Y[0], SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(Y[1], NORM_FROBENIUS, &difference));
  PetscCheck(difference <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "the product with a dense matrix differs from AIJ's by %g", (double)(difference / norm));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&X[k]));
    PetscCall(MatDestroy(&Y[k]));
  }
  PetscCall(Products(A, B, 0, "after a dense one"));
  for (PetscInt far = 30; far < 200; far += 90) {
    for (int k = 0; k < 2; k++) PetscCall(FillCOO(M[k], far));
    PetscCall(Products(A, B, 0, far == 30 ? "coordinates" : "other coordinates"));
  }
  for (int k = 0; k < 2; k++) PetscCall(MatZeroRows(M[k], 1, (const PetscInt[]){4}, 1, NULL, NULL));
  PetscCall(Products(A, B, 0, "a row of zeros"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A, B;
  char      type[64] = MATBCCOO;
  PetscBool missing, odd;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-odd", &odd));
  if (odd && PetscGlobalRank % 2) PetscCall(PetscOptionsSetValue(NULL, "-spmv_device", "none"));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) goto end;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(Create(type, &A));
  PetscCall(Create(MATAIJ, &B));
  PetscCall(Types(A, type));
  PetscCall(Asked(A));
  PetscCall(Extremes(A, B));
  for (int host = 0; host < 8; host++) PetscCall(Products(A, B, host, "products"));
  PetscCall(Patterns(A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
end:
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_backend device -mat_spmv_build_after 0 -spmv_device opencl -skip_without_device
    timeoutfactor: 3
    test:
      suffix: 1
      nsize: {{1 2}separate output}
      args: -type {{DEVICE_FORMATS}}
    test:
      suffix: 3
      nsize: 3
      output_file: output/mat_vecs_1_nsize-3.out
      args: -type bccoo
    test:
      suffix: 3_long
      nsize: 3
      output_file: output/mat_vecs_1_nsize-3.out
      args: -type {{DEVICE_FORMATS}}
    test: # the host has some rows, and all vectors
      suffix: shared
      nsize: {{1 2}separate output}
      args: -type pmf -mat_pmf_device_parts 1 -mat_spmv_threads 2
    test: # they agree nevertheless, and exchange ghosts in the same way
      suffix: odd
      nsize: {{2 3}separate output}
      args: -odd

TEST*/
