static const char help[] =
  "Options: prefixes, inheritance, what is refused and how, what the views print, memory in MatGetInfo.\n\n";

#include "refuse.h"

/* 6 n rows: blocks of 2 x 3 on the diagonal, and the first column */
static PetscErrorCode Create(const char prefix[], PetscBool fromoptions, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, 24, 24, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, MATBCCOO));
  if (fromoptions) PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = i / 6 * 6; j < i / 6 * 6 + 6; j++) {
      if ((i % 6) / 2 == (j % 6) / 2) PetscCall(MatSetValue(*A, i, j, 1 + i + j, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, i, 0, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat A)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* The detailed view, less what varies from run to run or belongs to AIJ */
static PetscErrorCode View(const char title[], Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", title));
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A, B;
  MatInfo   before, after;
  IS        rows;
  PetscBool errors;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));

  PetscCall(Create("a_", PETSC_TRUE, &A));
  PetscCall(View("before a product", A));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &before));
  PetscCall(Multiply(A));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &after));
  PetscCall(View("prefix a_", A));
  PetscCheck(after.memory > before.memory + 24 * sizeof(PetscScalar), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "MatGetInfo() does not count the storage");

  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Multiply(B));
  PetscCall(View("duplicate", B));
  PetscCall(MatDestroy(&B));

  PetscCall(ISCreateStride(PETSC_COMM_WORLD, 12, 24 * PetscGlobalRank, 1, &rows));
  PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &B));
  PetscCall(Multiply(B));
  PetscCall(View("submatrix", B));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(&B));

  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(Multiply(B));
  PetscCall(View("product", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));

  PetscCall(Create("b_", PETSC_FALSE, &A)); /* MatSetFromOptions() never called */
  PetscCall(Multiply(A));
  PetscCall(View("prefix b_", A));
  PetscCall(PetscOptionsSetValue(NULL, "-b_mat_bccoo_block_width", "5")); /* another plan for the same matrix */
  PetscCall(MatSetFromOptions(A));
  PetscCall(Multiply(A));
  PetscCall(View("prefix b_, width 5", A));

  PetscCall(PetscOptionsHasName(NULL, NULL, "-errors", &errors));
  if (errors) {
    PetscCall(PetscOptionsClearValue(NULL, "-b_mat_bccoo_block_width"));
    PetscCall(Refuse(A, "-b_mat_bccoo_block_width", "9"));
    PetscCall(Refuse(A, "-b_mat_bccoo_block_height", "-1"));
    PetscCall(Refuse(A, "-b_mat_spmv_build_after", "-2"));
    PetscCall(Multiply(A));
    PetscCall(View("after the errors, still width 5", A));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: double

  testset:
    args: -a_mat_bccoo_block_height 2 -a_mat_bccoo_block_width 2 -b_mat_bccoo_block_height 3 -a_mat_spmv_isa scalar -b_mat_spmv_isa scalar -a_mat_spmv_build_after 0 -b_mat_spmv_build_after 0 -options_left
    test:
      suffix: 1
      filter: grep -E "^[a-z]|unused|storage|bytes per nonzero" | sed -e "s, columns=[ -~]*,," -e "s,bytes per nonzero [0-9. :a-z]*[,],,"
      nsize: {{1 2}separate output}
    test: # PETSc loses a few bytes when an option is refused, which -malloc_dump shows and the filter hides
      suffix: errors
      args: -errors
      filter: sed -n "/^refused/,\$p" | grep -E "^[a-z]|storage|bytes per nonzero" | sed -e "s, columns=[ -~]*,," -e "s,bytes per nonzero [0-9. :a-z]*[,],,"

TEST*/
