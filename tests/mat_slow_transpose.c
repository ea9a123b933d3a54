static const char help[] =
  "Where steps of pmf share pieces of x, AIJ's kernel of one thread makes transposed products; all are checked against AIJ.\n\
  -ours  transposed products are to be by the storage all the same\n\n";

#include "counts.h"

/* Nodes of three unknowns, each beside the next: rows of three have the same nine columns */
static PetscErrorCode Create(MatType type, PetscInt nodes, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, 3 * nodes, 3 * nodes, 3 * nodes, 3 * nodes));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  for (PetscInt r = 0; r < 3 * nodes; r++) {
    for (PetscInt k = 0; k < 9; k++) {
      const PetscInt c = (r / 3 * 3 + k + 3 * nodes - 3) % (3 * nodes);

      PetscCall(MatSetValue(*A, r, c, (PetscReal)(1 + r % 7) - (PetscReal)(c % 5) / 3, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat        A, B;
  Vec        x, y, z;
  PetscBool  ours  = PETSC_FALSE;
  PetscReal  error = 0, size;
  SpmvCounts counts;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ours", &ours, NULL));
  PetscCall(Create("pmf", 500, &A));
  PetscCall(Create(MATAIJ, 500, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  for (int k = 0; k < 4; k++) {
    PetscReal difference;

    PetscCall(VecSet(y, 1));
    PetscCall(VecSet(z, 1));
    if (k == 0) {
      PetscCall(MatMult(A, x, y));
      PetscCall(MatMult(B, x, z));
    } else if (k == 1) {
      PetscCall(MatMultTranspose(A, x, y));
      PetscCall(MatMultTranspose(B, x, z));
    } else { /* added to z itself, then to another vector */
      PetscCall(MatMultTransposeAdd(A, x, k == 2 ? y : x, y));
      PetscCall(MatMultTransposeAdd(B, x, k == 2 ? z : x, z));
    }
    PetscCall(VecNorm(z, NORM_INFINITY, &size));
    PetscCall(VecAXPY(y, -1, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &difference));
    error = PetscMax(error, difference / size);
  }
  PetscCall(Counts(A, &counts));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "products as expected: %s, right: %s\n",
                        counts.products == (ours ? 4 : 1) && counts.aij == (ours ? 0 : 3) && !counts.fallbacks ? "yes" : "no",
                        error <= 100 * PETSC_MACHINE_EPSILON ? "yes" : "no"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0 -malloc_dump
    output_file: output/mat_slow_transpose_1.out
    test:
      suffix: aij
      args: -mat_pmf_pieces 3 -mat_spmv_threads 1
    test:
      suffix: threads
      args: -mat_pmf_pieces 3 -mat_spmv_threads 2 -ours
    test:
      suffix: gathered
      args: -mat_pmf_pieces none -mat_spmv_threads 1 -ours
    test:
      suffix: copy
      args: -mat_pmf_pieces 3 -mat_spmv_threads 1 -mat_spmv_transpose copy -ours

TEST*/
