static const char help[] =
  "fork() after products: the child multiplies on the host, whatever threads and device its parent has, and the "
  "parent goes on.\n\n-type T\n\n";

#include "devicetest.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 6000

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  for (PetscInt i = 0; i < ROWS; i++) {
    for (PetscInt j = PetscMax(0, i - 4); j < PetscMin(ROWS, i + 5); j++)
      PetscCall(MatSetValue(*A, i, j, PetscSinReal((PetscReal)(3 * i + j)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The same bits; where a device made one of them, nearly the same values */
static PetscErrorCode Expect(const char what[], Vec y, Vec right, PetscBool device)
{
  const PetscScalar *a, *b;
  PetscInt           wrong = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayRead(right, &b));
  for (PetscInt i = 0; i < ROWS; i++)
    wrong += device ? !(PetscAbsScalar(a[i] - b[i]) < 100 * PETSC_MACHINE_EPSILON) : a[i] != b[i];
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecRestoreArrayRead(right, &b));
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d entries are wrong", what, (int)wrong);
  PetscFunctionReturn(0);
}

/* What the device alone has cannot be had, and a product by what was built there is refused if that is asked for */
static PetscErrorCode Refused(Mat A, Vec x, Vec y, Vec lost)
{
  const PetscScalar *a;
  PetscBool          error;
  PetscErrorCode     ierr, gone;
  char               word[16] = "error";

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmv_on_device_error", word, sizeof(word), NULL));
  PetscCall(PetscStrcmp(word, "error", &error));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatMult(A, x, y);
  gone = VecGetArrayRead(lost, &a);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr == (error ? PETSC_ERR_LIB : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the first product of a child gives %d",
             (int)ierr);
  PetscCheck(gone == PETSC_ERR_LIB, PETSC_COMM_SELF, PETSC_ERR_PLIB, "values that only a device has were read, with %d",
             (int)gone);
  PetscFunctionReturn(0);
}

static PetscErrorCode Child(Mat A, Vec x, Vec y, Vec right, Vec lost, PetscBool device)
{
  Mat B;

  PetscFunctionBegin;
  if (device) PetscCall(Refused(A, x, y, lost));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(Expect("the matrix of the parent", y, right, device));
  }
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 1));
  PetscCall(MatMult(B, x, y));
  PetscCall(Expect("a matrix of the child", y, right, device));
  PetscCall(MatMultTranspose(B, x, y));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(MatType type)
{
  PetscBool device;
  Mat       A;
  Vec       x, y, right, kept;
  char      word[16] = "";
  int       status   = 0;
  pid_t     pid;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmv_backend", word, sizeof(word), NULL));
  PetscCall(PetscStrcmp(word, "device", &device));
  PetscCall(Create(type, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &right));
  PetscCall(VecDuplicate(y, &kept));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, right));
  PetscCall(MatMult(A, x, kept));
  PetscCall(Expect("before", right, right, PETSC_FALSE)); /* the host has it */
  (void)fflush(NULL);
  pid = fork();
  PetscCheck(pid >= 0, PETSC_COMM_SELF, PETSC_ERR_SYS, "no fork()");
  if (!pid) {
    (void)alarm(100); /* one that waits for threads that are not there waits for ever */
    _exit(Child(A, x, y, right, kept, device) ? 1 : 0);
  }
  PetscCall(MatMult(A, x, y)); /* meanwhile */
  PetscCheck(waitpid(pid, &status, 0) == pid, PETSC_COMM_SELF, PETSC_ERR_SYS, "waitpid()");
  PetscCheck(!WIFSIGNALED(status), PETSC_COMM_SELF, PETSC_ERR_PLIB, "signal %d ended the child%s", WTERMSIG(status),
             WTERMSIG(status) == SIGALRM ? ": it hung" : "");
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the child failed");
  PetscCall(Expect("meanwhile", y, right, PETSC_FALSE));
  PetscCall(Expect("from before, on the device", kept, right, PETSC_FALSE));
  PetscCall(MatScale(A, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(Expect("afterwards", y, right, PETSC_FALSE));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&kept));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = "spmv";
  PetscBool missing;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(DeviceIsMissing(&missing));
  if (!missing) PetscCall(Run(type));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0 -mat_spmv_threads 4
    output_file: output/mat_fork.out
    test:
      suffix: 1
      args: -type {{FORMATS spmv}}
    test:
      suffix: device
      args: -type bccoo -mat_spmv_backend device -spmv_device opencl -skip_without_device -mat_spmv_on_device_error {{fallback error}}
      filter: grep -v Warning

TEST*/
