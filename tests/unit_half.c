static const char help[] = "Type sbccoo: which matrices half of the entries serve, and by how many products.\n\n";

#include "spmvtest.h"
#include "mat/impls/sbccoo/host/sbccoo_pairs.h"

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

/*
  [K B^T; B 0]: unknowns of K first, then a pressure for every sixteenth of them, without an entry on the diagonal; sign: of B^T.
  Of the entries off the diagonal so many of a hundred are of B and B^T. In space Taylor-Hood has 17 to 18 (stokes_p2p1 of
  fem_matrices.py, 57 thousand to 29 million entries)
*/
static PetscErrorCode Stokes(Mat K, PetscInt percent, PetscReal sign, PetscRandom rand, Mat *A)
{
  PetscInt n, length;
  Mat      B, T, blocks[4];
  MatInfo  info;

  PetscFunctionBegin;
  PetscCall(MatGetSize(K, &n, NULL));
  PetscCall(MatGetInfo(K, MAT_LOCAL, &info));
  length = (PetscInt)((info.nz_used - n) * (double)percent / (100. - (double)percent) / (double)(2 * (n / 16)) + 0.5);
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n / 16, n, length, NULL, &B));
  for (PetscInt p = 0; p < n / 16; p++) {
    for (PetscInt q = 0; q < length; q++) {
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

/* A random pattern with its mirror image, of some `length` entries a row, and the values of one half in both */
static PetscErrorCode RandomSymmetric(MPI_Comm comm, PetscInt n, PetscInt length, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt k = 0; k < n * length / 2; k++) { /* the same on each process */
    PetscReal   u[2];
    PetscScalar v;

    for (int r = 0; r < 2; r++) PetscCall(PetscRandomGetValueReal(rand, &u[r]));
    PetscCall(PetscRandomGetValue(rand, &v));
    for (int r = 0; r < 2 && !PetscGlobalRank; r++)
      PetscCall(MatSetValue(*A, (PetscInt)(u[r] * n * 0.999), (PetscInt)(u[1 - r] * n * 0.999), v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries below the diagonal are so many units in the last place away from those beyond it, whatever power of two these have */
static PetscErrorCode MoveApart(Mat A, PetscInt ulps)
{
  const PetscInt *i, *j;
  PetscInt        n;
  PetscScalar    *a;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArray(A, &a));
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      const PetscInt low = PetscMin(r, j[k]), high = PetscMax(r, j[k]), bits = (low * 7 + high * 3) % 1000;
      PetscReal      v = (1 + (PetscReal)bits / 1024) * PetscPowRealInt(2, (low + high) % 9 - 4);

      if (r > j[k]) v += (PetscReal)ulps * PETSC_MACHINE_EPSILON * SbccooPower(v, 0);
      a[k] = v;
    }
  }
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of aij and of a copy of type sbccoo must agree; printed is what served them, on each process its diagonal block */
static PetscErrorCode Serve(const char name[], Mat A, Mat H)
{
  SpmvCounts  counts, before;
  char        plan[256];
  SpmvBlocks  blocks;
  PetscInt    served[2]; /* products; whether half of the matrix did */
  PetscReal   norm, error;
  Vec         x, y, z;
  PetscRandom rand;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatSpmvGetBlocks(H, &blocks));
  PetscCall(MatSpmvGetCounts(blocks.mat[0], &before));
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
  PetscCall(MatSpmvGetCounts(blocks.mat[0], &counts));
  PetscCall(MatSpmvGetPlan(blocks.mat[0], plan, sizeof(plan)));
  served[0] = (PetscInt)(counts.products - before.products);
  served[1] = strncmp(plan, "format=", 7) != 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, served, 2, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)H)));
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)H), "%s: %d products of ours, by %s\n", name, (int)served[0],
                        served[1] ? "half of the matrix" : "another format"));
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

/* Blocks of b x b are asked for, whatever time they are estimated to take */
static PetscErrorCode ServeInBlocks(const char name[], PetscInt b, Mat A)
{
  char block[8];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(block, sizeof(block), "%d", (int)b));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_sbccoo_block", block));
  PetscCall(ServeOnce(name, A));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_sbccoo_block"));
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
    for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) h[k] = a[k] = turn ? b[k] : (PetscReal)(k * 7919 % 997) / 997;
    PetscCall(MatSeqAIJRestoreArrayRead(B, &b));
    PetscCall(MatSeqAIJRestoreArray(H, &h));
    PetscCall(MatSeqAIJRestoreArray(A, &a));
    PetscCall(Serve(turn ? "symmetric again" : "values of no symmetry", A, H));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of random patterns; on several processes, nothing else */
static PetscErrorCode Scattered(PetscRandom rand)
{
  Mat A;

  PetscFunctionBegin;
  for (PetscInt length = 4; length <= 40; length += 12) {
    char name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "random, %d entries a row", (int)length));
    PetscCall(RandomSymmetric(PETSC_COMM_WORLD, 3000, length, rand, &A));
    PetscCall(ServeOnce(name, A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of finite elements with b unknowns a node */
static PetscErrorCode Elements(PetscInt b, PetscRandom rand)
{
  const PetscInt ulps[] = {60, 100, 120, 200};
  Mat            A, S;

  PetscFunctionBegin;
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
    PetscCall(Stokes(A, 17, sign, rand, &S));
    PetscCall(ServeOnce(sign > 0 ? "Stokes" : "Stokes, skew", S));
    if (b > 1) PetscCall(ServeInBlocks(sign > 0 ? "Stokes in blocks" : "Stokes, skew, in blocks", b, S));
    PetscCall(MatDestroy(&S));
  }
  for (int half = 0; half < 2; half++) {
    PetscCall(Stokes(A, half ? 45 : 25, -1, rand, &S));
    PetscCall(ServeOnce(half ? "Stokes, skew, nearly half" : "Stokes, skew, a quarter", S));
    PetscCall(MatDestroy(&S));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(ulps); k++) {
    char name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "%d units in the last place apart", (int)ulps[k]));
    PetscCall(MoveApart(A, ulps[k]));
    PetscCall(ServeOnce(name, A));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt b = 1; b <= 3 && size == 1; b++) PetscCall(Elements(b, rand));
  PetscCall(Scattered(rand));
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
    test: # the diagonal blocks
      suffix: parallel
      nsize: 2

TEST*/
