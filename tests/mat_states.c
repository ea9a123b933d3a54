static const char help[] =
  "When a storage is built, refreshed, left alone, or not built at all; every product is checked against AIJ.\n\
  -type <bccoo>  the type under test\n\
  -transposed    transposed products, with -mat_spmv_transpose copy\n\n";

#include "counts.h"

static Mat       A, B; /* under test, and AIJ with the same entries */
static Vec       x, y, z;
static PetscInt  failures;
static PetscBool parallel, transposed;

/* An n x n matrix by finite differences with wraparound: 3 diagonals, and 2 more if wide: new entries in both blocks of each
   process */
static PetscErrorCode Fill(Mat M, PetscBool wide, PetscScalar scale)
{
  PetscInt start, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(M, &n, NULL));
  PetscCall(MatGetOwnershipRange(M, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscInt    j[5] = {i, (i + 1) % n, (i + n - 1) % n, (i + 2) % n, (i + n / 2) % n};
    PetscScalar v[5] = {4 * scale, -scale, -2 * scale, 3 * scale, (PetscReal)i * scale};

    PetscCall(MatSetValues(M, 1, &i, wide ? 5 : 3, j, v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat M, Vec result)
{
  PetscFunctionBegin;
  PetscCall((transposed ? MatMultTranspose : MatMult)(M, x, result));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultiplyOnce(void)
{
  PetscReal error, size;

  PetscFunctionBegin;
  PetscCall(Multiply(A, y));
  PetscCall(Multiply(B, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &size));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  if (!(error <= 100 * PETSC_MACHINE_EPSILON * size)) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "product differs from AIJ's by %g of %g\n", (double)error, (double)size));
  }
  PetscFunctionReturn(0);
}

/* Multiplies n times; then each storage must have seen these counts since the last call */
static PetscErrorCode Expect(const char what[], PetscInt n, PetscInt builds, PetscInt refreshes, PetscInt products,
                             PetscInt deferred)
{
  SpmvCounts before, after;
  PetscInt64 got[4], want[4] = {builds, refreshes, products, deferred};

  PetscFunctionBegin;
  PetscCall(Counts(A, &before));
  for (PetscInt k = 0; k < n; k++) PetscCall(MultiplyOnce());
  PetscCall(Counts(A, &after));
  got[0] = after.builds - before.builds;
  got[1] = after.refreshes - before.refreshes;
  got[2] = after.products - before.products;
  got[3] = after.deferred - before.deferred;
  for (int k = 0; k < 4; k++) {
    if (parallel) want[k] *= 2;            /* two blocks */
    if (transposed && k < 2) want[k] *= 2; /* the storage of A^T as well */
  }
  if (memcmp(got, want, sizeof(got)) || after.fallbacks) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s: builds %" PetscInt64_FMT " refreshes %" PetscInt64_FMT " products %" PetscInt64_FMT
                          " deferred %" PetscInt64_FMT " fallbacks %" PetscInt64_FMT ", expected %" PetscInt64_FMT
                          " %" PetscInt64_FMT " %" PetscInt64_FMT " %" PetscInt64_FMT " 0\n",
                          what, got[0], got[1], got[2], got[3], after.fallbacks, want[0], want[1], want[2], want[3]));
  }
  PetscFunctionReturn(0);
}

/* -mat_spmv_build_after 0: built at the first product */
static PetscErrorCode TestChanges(void)
{
  Mat          blocks[2] = {NULL, NULL}, D;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(Expect("first products", 3, 1, 0, 3, 0));
  PetscCall(Expect("no change", 2, 0, 0, 2, 0));
  PetscCall(Fill(A, PETSC_FALSE, 3));
  PetscCall(Fill(B, PETSC_FALSE, 3));
  PetscCall(Expect("values set", 3, 0, 1, 3, 0));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(B, 2));
  PetscCall(Expect("MatScale", 2, 0, 1, 2, 0));
  PetscCall(MatStoreValues(A));
  PetscCall(MatScale(A, 5));
  PetscCall(Expect("no product in between", 0, 0, 0, 0, 0));
  PetscCall(MatRetrieveValues(A));
  PetscCall(Expect("MatRetrieveValues", 2, 0, 1, 2, 0));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Expect("assembled again", 1, 0, 1, 1, 0));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  else blocks[0] = A;
  PetscCall(MatSeqAIJGetArray(blocks[0], &a));
  PetscCall(MatSeqAIJRestoreArray(blocks[0], &a));
  PetscCall(Multiply(A, y)); /* one block only, in parallel */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &D));
  PetscCall(MatCopy(A, D, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&D));
  PetscCall(Expect("read only", 1, 0, 0, 1, 0));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Expect("an option", 1, 0, 0, 1, 0));
  PetscCall(Fill(A, PETSC_TRUE, 1));
  PetscCall(Fill(B, PETSC_TRUE, 1));
  PetscCall(Expect("new nonzeros", 3, 1, 0, 3, 0));
  PetscFunctionReturn(0);
}

/* -mat_spmv_build_after 4: four products by AIJ's kernel after each change, until a change was followed by as many */
static PetscErrorCode TestDeferred(void)
{
  PetscFunctionBegin;
  PetscCall(Expect("three products", 3, 0, 0, 0, 3));
  PetscCall(Fill(A, PETSC_FALSE, 3));
  PetscCall(Fill(B, PETSC_FALSE, 3));
  PetscCall(Expect("three more", 3, 0, 0, 0, 3));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(B, 2));
  PetscCall(Expect("six products", 6, 1, 0, 2, 4));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(B, 2));
  PetscCall(Expect("refreshed at once", 2, 0, 1, 2, 0));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(B, 2));
  PetscCall(Expect("two products before: wait again", 6, 0, 1, 2, 4));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char        type[64] = MATBCCOO;
  PetscBool   deferred = PETSC_FALSE;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-deferred", &deferred, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transposed", &transposed, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  parallel = (PetscBool)(size > 1);
  for (int k = 0; k < 2; k++) {
    Mat *M = k ? &B : &A;

    PetscCall(MatCreate(PETSC_COMM_WORLD, M));
    PetscCall(MatSetSizes(*M, PETSC_DECIDE, PETSC_DECIDE, 50, 50));
    PetscCall(MatSetType(*M, k ? MATAIJ : type));
    if (!k) PetscCall(MatSetFromOptions(*M));
    PetscCall(MatSeqAIJSetPreallocation(*M, 3, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*M, 3, NULL, 3, NULL));
    PetscCall(Fill(*M, PETSC_FALSE, 1));
  }
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  if (deferred) PetscCall(TestDeferred());
  else PetscCall(TestChanges());
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    output_file: output/mat_states_1.out
    test:
      suffix: changes
      args: -mat_spmv_build_after 0 -malloc_dump
    test:
      suffix: transposed
      args: -transposed -mat_spmv_transpose copy -mat_spmv_build_after 0 -malloc_dump
    test:
      suffix: deferred
      args: -deferred -mat_spmv_build_after 4 -malloc_dump

TEST*/
