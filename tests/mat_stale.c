static const char help[] =
  "A storage that is out of date: what views and queries say of it, and that they read nothing of AIJ's that is gone.\n\
  -type <csradaptive>  the type under test\n\n";

#include <petscspmv.h>
#include <petsc/private/petscimpl.h>
#include "guard.h"

/* The library is loaded, not linked: its functions are asked of the Mat */
#define CALL(A, name, types, args) PetscUseMethod(A, name "_C", types, args)

/* Entries of row i: its diagonal, and with `more` another one, in both blocks of a parallel matrix */
static PetscErrorCode Fill(Mat A, PetscBool more, PetscBool assemble)
{
  PetscInt start, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &n));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt k = 0; k < (more ? 4 : 2); k++) PetscCall(MatSetValue(A, i, (i + k * n / 4) % n, 1 + k, INSERT_VALUES));
  }
  if (!assemble) PetscFunctionReturn(0);
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
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

/* Whether a process has a plan, bytes, and memory besides that of AIJ; the view of an assembled matrix */
static PetscErrorCode Say(const char title[], Mat A)
{
  char           plan[512];
  PetscLogDouble bytes;
  MatInfo        info;
  PetscBool      assembled;

  PetscFunctionBegin;
  CALL(A, "MatSpmvGetPlan", (Mat, char[], size_t), (A, plan, sizeof(plan)));
  CALL(A, "MatSpmvGetBytes", (Mat, PetscLogDouble *), (A, &bytes));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCheck(info.memory >= 0 && info.memory < 1e6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatGetInfo() says %g bytes",
             (double)info.memory);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s plan, %s bytes\n", title, plan[0] ? "a" : "no", bytes > 0 ? "some" : "no"));
  PetscCall(MatAssembled(A, &assembled));
  if (!assembled) PetscFunctionReturn(0);
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char type[64] = MATCSRADAPTIVE;
  Mat  A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(GuardInstall());
  Guard.on = PETSC_TRUE;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 80, 80));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 2, NULL, 2, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(A, PETSC_FALSE, PETSC_TRUE));
  PetscCall(Say("not multiplied", A));
  PetscCall(Multiply(A));
  PetscCall(Say("multiplied", A));
  PetscCall(MatScale(A, 2));
  PetscCall(Say("other values", A));
  PetscCall(Multiply(A));
  PetscCall(Say("multiplied", A));
  PetscCall(Fill(A, PETSC_TRUE, PETSC_FALSE)); /* AIJ's arrays move */
  PetscCall(Say("being filled", A));
  PetscCall(Fill(A, PETSC_FALSE, PETSC_TRUE));
  PetscCall(Say("more entries", A));
  PetscCall(Multiply(A));
  PetscCall(Say("multiplied", A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Multiply(B));
  PetscCall(MatHeaderReplace(A, &B)); /* its storage comes along */
  PetscCall(Say("another's inside", A));
  PetscCall(Multiply(A));
  PetscCall(Say("multiplied", A));
  PetscCall(MatSeqAIJSetPreallocation(A, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 3, NULL, 3, NULL));
  PetscCall(Say("emptied", A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0
    filter: grep -E "^[a-z]|storage" | sed -e "s,: [a-z_]*=.*,: its plan,"
    test:
      suffix: borrowed
      nsize: {{1 2}separate output}
      args: -type csradaptive
    test:
      suffix: own
      nsize: {{1 2}separate output}
      args: -type bccoo

TEST*/
