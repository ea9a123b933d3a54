static const char help[] = "Type sbccoo: which matrices half of the entries serve, and by how many products.\n\n";

#include "spmvtest.h"

/* Adds an element matrix of n nodes, from gradients as an assembly has them: symmetric up to rounding, not to the last bit */
static PetscErrorCode AddElement(Mat A, PetscInt n, const PetscInt rows[], PetscInt b, PetscRandom rand)
{
  PetscScalar *g, *k;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n * 3, &g, n * b * n * b, &k));
  for (PetscInt q = 0; q < 3 * n; q++) PetscCall(PetscRandomGetValue(rand, &g[q]));
  for (PetscInt r = 0; r < n * b; r++) {
    for (PetscInt c = 0; c < n * b; c++) {
      const PetscScalar *p = g + r / b * 3, *q = g + c / b * 3;
      PetscScalar        s = 2. / 3 * p[r % b] * q[c % b] + 3. / 7 * p[c % b] * q[r % b];

      if (r % b == c % b) s += p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
      k[r * n * b + c] = s;
    }
  }
  if (b > 1) PetscCall(MatSetValuesBlocked(A, n, rows, n, rows, k, ADD_VALUES));
  else PetscCall(MatSetValues(A, n, rows, n, rows, k, ADD_VALUES));
  PetscCall(PetscFree2(g, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Quadratic triangles on a square of n x n cells: nodes at corners and on sides, b unknowns each */
static PetscErrorCode Quadratic(PetscInt n, PetscInt b, PetscRandom rand, Mat *A)
{
  const PetscInt side = 2 * n + 1;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, side * side * b, side * side * b, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetBlockSize(*A, b));
  PetscCall(MatSeqAIJSetPreallocation(*A, 25 * b, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < 2 * n; i += 2) {
    for (PetscInt j = 0; j < 2 * n; j += 2) {
      const PetscInt at = i * side + j, right = at + 2, up = at + 2 * side, far = up + 2, middle = at + side + 1;
      const PetscInt lower[] = {at, right, up, at + 1, middle, at + side};
      const PetscInt upper[] = {far, up, right, up + 1, middle, right + side};

      PetscCall(AddElement(*A, 6, lower, b, rand));
      PetscCall(AddElement(*A, 6, upper, b, rand));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of one side of the square are fixed: off the diagonal they have nothing, or zeros */
static PetscErrorCode Fix(Mat A, PetscInt nodes, PetscInt b, PetscBool zeros)
{
  PetscInt *rows;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nodes * b, &rows));
  for (PetscInt r = 0; r < nodes * b; r++) rows[r] = r;
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, zeros));
  PetscCall(MatZeroRows(A, nodes * b, rows, 1, NULL, NULL));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [K B^T; B 0]: unknowns of K first, then a pressure for every fourth of them, without an entry on the diagonal; sign: of B^T */
static PetscErrorCode Stokes(Mat K, PetscReal sign, PetscRandom rand, Mat *A)
{
  PetscInt n;
  Mat      B, T, blocks[4];

  PetscFunctionBegin;
  PetscCall(MatGetSize(K, &n, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n / 16, n, 5, NULL, &B));
  for (PetscInt p = 0; p < n / 16; p++) {
    for (PetscInt q = 0; q < 5; q++) {
      PetscScalar v;

      PetscCall(PetscRandomGetValue(rand, &v));
      PetscCall(MatSetValue(B, p, (16 * p + 7 * q) % n, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatScale(T, sign));
  blocks[0] = K;
  blocks[1] = T;
  blocks[2] = B;
  blocks[3] = NULL;
  PetscCall(MatCreateNest(PETSC_COMM_SELF, 2, NULL, 2, NULL, blocks, A));
  PetscCall(MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of aij and of a copy of type sbccoo must agree; printed is what served them */
static PetscErrorCode Serve(const char name[], Mat A, Mat H)
{
  SpmvCounts  counts, before;
  char        plan[256];
  PetscReal   norm, error;
  Vec         x, y, z;
  PetscRandom rand;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatSpmvGetCounts(H, &before));
  for (int k = 0; k < 5; k++) {
    PetscCall(VecSetRandom(x, rand));
    PetscCall((k % 2 ? MatMultTranspose : MatMult)(A, x, y));
    PetscCall((k % 2 ? MatMultTranspose : MatMult)(H, x, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    PetscCheck(error <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: a product is wrong by %g of %g",
               name, (double)error, (double)norm);
  }
  PetscCall(MatSpmvGetCounts(H, &counts));
  PetscCall(MatSpmvGetPlan(H, plan, sizeof(plan)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %d products of ours, by %s\n", name, (int)(counts.products - before.products),
                        strncmp(plan, "format=", 7) ? "half of the matrix" : "another format"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ServeOnce(const char name[], Mat A)
{
  Mat H;

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATSBCCOO, MAT_INITIAL_MATRIX, &H));
  PetscCall(Serve(name, A, H));
  PetscCall(MatDestroy(&H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix is symmetric, then not, then again */
static PetscErrorCode Change(Mat A)
{
  Mat                H;
  PetscScalar       *a, *h;
  const PetscScalar *b;
  Mat                B;
  MatInfo            info;

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATSBCCOO, MAT_INITIAL_MATRIX, &H));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(Serve("symmetric", A, H));
  for (int turn = 0; turn < 2; turn++) {
    PetscCall(MatSeqAIJGetArray(A, &a));
    PetscCall(MatSeqAIJGetArray(H, &h));
    PetscCall(MatSeqAIJGetArrayRead(B, &b));
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) h[k] = a[k] = turn ? b[k] : (PetscReal)(k * 7919 % 997);
    PetscCall(MatSeqAIJRestoreArrayRead(B, &b));
    PetscCall(MatSeqAIJRestoreArray(H, &h));
    PetscCall(MatSeqAIJRestoreArray(A, &a));
    PetscCall(Serve(turn ? "symmetric again" : "values of no symmetry", A, H));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  Mat         A, S;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt b = 1; b <= 3; b++) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d unknowns a node\n", (int)b));
    for (int fixed = 0; fixed < 3; fixed++) {
      PetscCall(Quadratic(16, b, rand, &A));
      if (fixed) PetscCall(Fix(A, 33, b, (PetscBool)(fixed > 1)));
      PetscCall(ServeOnce(!fixed ? "free" : fixed == 1 ? "fixed rows" : "fixed rows with zeros", A));
      if (!fixed) PetscCall(Change(A));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(Quadratic(16, b, rand, &A));
    for (int sign = 1; sign >= -1; sign -= 2) {
      PetscCall(Stokes(A, sign, rand, &S));
      PetscCall(ServeOnce(sign > 0 ? "Stokes" : "Stokes, skew", S));
      PetscCall(MatDestroy(&S));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0
    test:
      suffix: 1
      args: -mat_spmv_threads {{1 3}}
      output_file: output/unit_half.out
    test: # as Valgrind runs it, which lacks an instruction of the others
      suffix: scalar
      args: -mat_spmv_isa scalar
      filter: grep -v "another format"

TEST*/
