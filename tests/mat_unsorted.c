static const char help[] = "Rows whose columns are not in order, in any one place: products are those of the sorted rows.\n\
  -type <bccoo>  the type under test\n\n";

#include "devicetest.h"

#define ROWS 9
#define COLS 40

/* Lengths of rows: none, one, a few; the first, the last and some between are empty */
static const PetscInt lengths[ROWS] = {0, 3, 0, 0, 1, 5, 2, 4, 0};

/* y <- A x with entries k and k + 1 of all changed over (none if k < 0) */
static PetscErrorCode Multiply(const char type[], PetscInt k, Vec x, Vec y)
{
  PetscInt    i[ROWS + 1] = {0}, j[ROWS * COLS];
  PetscScalar a[ROWS * COLS];
  Mat         A, B;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < ROWS; r++) {
    i[r + 1] = i[r] + lengths[r];
    for (PetscInt e = i[r]; e < i[r + 1]; e++) {
      j[e] = (e - i[r]) * (r % 2 ? 8 : 2) + r % 3;
      a[e] = 1 + e;
    }
  }
  if (k >= 0) {
    const PetscInt    column = j[k];
    const PetscScalar value  = a[k];

    j[k]     = j[k + 1];
    a[k]     = a[k + 1];
    j[k + 1] = column;
    a[k + 1] = value;
  }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, ROWS, COLS, i, j, a, &A));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatSetFromOptions(B));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = MATBCCOO;
  PetscInt  failures = 0;
  PetscBool missing;
  Vec       x, y, z;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) goto end;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, COLS, &x));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, ROWS, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(Multiply(MATAIJ, -1, x, z));
  for (PetscInt r = 0, k = 0; r < ROWS; k += lengths[r++]) {
    for (PetscInt e = k; e + 1 < k + lengths[r]; e++) {
      PetscReal error;

      PetscCall(Multiply(type, e, x, y));
      PetscCall(VecAXPY(y, -1, z));
      PetscCall(VecNorm(y, NORM_INFINITY, &error));
      if (error <= 1000 * PETSC_MACHINE_EPSILON) continue;
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF,
                            "entries %" PetscInt_FMT " and %" PetscInt_FMT " changed over: the product is wrong by %g\n", e,
                            e + 1, (double)error));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " failures\n", failures));
end:
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0
    output_file: output/mat_unsorted.out
    test:
      suffix: blocks
      args: -mat_bccoo_block_height {{1 2}} -mat_bccoo_block_width {{1 2}}
    test:
      suffix: tiles
      args: -type tpspmv -mat_tpspmv_tile 16
    test:
      suffix: types
      args: -type {{FORMATS spmv}}
    test: # the device takes csradaptive, which borrows the rows as they are, and is out of memory: what the host takes instead wants them sorted
      suffix: device_full
      args: -type spmv -mat_spmv_tune_formats {{csradaptive,pmf csradaptive,tpspmv}} -mat_spmv_backend device -spmv_device opencl -spmv_device_memory 100 -skip_without_device
      filter: grep -v Warning

TEST*/
