static const char help[] =
  "A product that runs out of memory, at each allocation in turn: the next one is as if that had not been.\n\
  -type <bccoo>  the type under test\n\n";

#include <petscspmv.h>
#include "guard.h"

static PetscInt failures;

/* 120 rows with blocks of 2 x 2 on the diagonal, a full row, and a column that `far` moves */
static PetscErrorCode Fill(Mat A, PetscInt far)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < 120; i++) {
    for (PetscInt j = i / 2 * 2; j < i / 2 * 2 + 2; j++) PetscCall(MatSetValue(A, i, j, 1 + i + j, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, (i * 7 + far) % 120, far, INSERT_VALUES));
    PetscCall(MatSetValue(A, 11, i, i + far, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const char type[], Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, 120, 120, 120, 120));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 130, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(*A, 3));
  PetscFunctionReturn(0);
}

/* What has been changed when memory runs out */
typedef enum {
  NOTHING, /* the first product */
  VALUES,
  PATTERN,
  PLAN,
  CHANGES
} Change;
static const char *const changes[CHANGES] = {"the first product", "new values", "a new pattern", "another plan"};

static PetscErrorCode Prepare(Mat A, Change change, PetscBool transposed, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (change == NOTHING) PetscFunctionReturn(0);
  PetscCall((transposed ? MatMultTranspose : MatMult)(A, x, y));
  if (change == VALUES) PetscCall(MatScale(A, 2));
  if (change == PATTERN) PetscCall(Fill(A, 5));
  if (change != PLAN) PetscFunctionReturn(0);
  PetscCall(PetscOptionsInsertString(NULL, "-mat_spmv_threads 2"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_spmv_threads"));
  PetscFunctionReturn(0);
}

/* Product number k + 1 of A must be B's after one in which allocation number k failed; done: there are no more than k */
static PetscErrorCode Test(const char type[], Mat B, Change change, PetscBool transposed, PetscInt k, PetscBool *done)
{
  PetscErrorCode ierr;
  PetscReal      norm, error;
  MatInfo        info;
  Mat            A;
  Vec            x, y, z;

  PetscFunctionBegin;
  PetscCall(Create(type, &A));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(Prepare(A, change, transposed, x, y));
  PetscCall(MatCopy(A, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall((transposed ? MatMultTranspose : MatMult)(B, x, z));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  Guard.left = k;
  ierr       = (transposed ? MatMultTranspose : MatMult)(A, x, y);
  *done      = (PetscBool)(Guard.left >= 0);
  Guard.left = -1;
  PetscCall(PetscPopErrorHandler());
  if (*done) PetscCall(ierr);
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall((transposed ? MatMultTranspose : MatMult)(A, x, y));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecNorm(y, NORM_INFINITY, &error));
  if (!(error <= 1000 * PETSC_MACHINE_EPSILON * norm)) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%s, allocation %" PetscInt_FMT " failed: the next product is wrong by %g\n",
                          changes[change], transposed ? ", transposed" : "", k, (double)(error / norm)));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* C[0] = A^T B[0] must be what it was after C[1] = A^T B[1], which needs more memory, got none */
static PetscErrorCode TestDense(const char type[])
{
  Mat            A, B[2], C[2];
  PetscErrorCode ierr;
  PetscReal      before, after;

  PetscFunctionBegin;
  PetscCall(Create(type, &A));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 120, k ? 9 : 2, NULL, &B[k]));
    PetscCall(MatSetRandom(B[k], NULL));
    PetscCall(MatProductCreate(A, B[k], NULL, &C[k]));
    PetscCall(MatProductSetType(C[k], MATPRODUCT_AtB));
    PetscCall(MatProductSetFromOptions(C[k]));
    PetscCall(MatProductSymbolic(C[k]));
  }
  PetscCall(MatProductNumeric(C[0]));
  PetscCall(MatNorm(C[0], NORM_FROBENIUS, &before));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  Guard.left = 0;
  ierr       = MatProductNumeric(C[1]);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr == PETSC_ERR_MEM && Guard.left < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "the product with 9 columns needed no memory");
  PetscCall(MatProductNumeric(C[0]));
  PetscCall(MatNorm(C[0], NORM_FROBENIUS, &after));
  if (before != after) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "dense columns: %g, then %g\n", (double)before, (double)after));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&B[k]));
    PetscCall(MatDestroy(&C[k]));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char type[64] = MATBCCOO;
  Mat  B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(GuardInstall());
  PetscCall(Create(MATAIJ, &B));
  for (int change = 0; change < CHANGES; change++) {
    for (int transposed = 0; transposed < 2; transposed++) {
      PetscBool done = PETSC_FALSE;
      PetscInt  k    = 0;

      while (!done) PetscCall(Test(type, B, (Change)change, (PetscBool)transposed, k++, &done));
      if (k == 1 && change != VALUES) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: nothing was allocated\n", changes[change]));
    }
  }
  PetscCall(MatDestroy(&B));
  PetscCall(TestDense(type));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test: # what a build had when it failed is lost, which -malloc_dump shows and the filter hides
    args: -type {{bccoo cmrs csradaptive pmf tpspmv spmv}} -mat_spmv_build_after 0 -mat_spmv_transpose {{shared copy}}
    filter: grep -E "^[a-z0-9]"

TEST*/
