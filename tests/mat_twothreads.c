static const char help[] = "Two threads of a program multiply by one matrix at once: each product is right, or is refused with "
                           "an error that says what to do; "
                           "with a matrix for each thread all are right.\n\n-type T\n\n";

#include <petsc/private/matimpl.h> /* the function alone: MatMult() takes times and counts objects, for one thread */
#include <pthread.h>

#define ROWS     30000
#define PRODUCTS 300

/* What a thread does */
typedef struct {
  Mat       A;
  Vec       x, y, right;
  PetscInt  wrong, refused, other; /* products */
  PetscReal norm;
} Worker;

static void *Work(void *context)
{
  Worker *w = (Worker *)context;

  for (int k = 0; k < PRODUCTS; k++) {
    const PetscErrorCode ierr = (*w->A->ops->mult)(w->A, w->x, w->y);
    const PetscScalar   *a, *b;
    PetscBool            good = PETSC_TRUE;

    if (ierr) {
      w->refused += ierr == PETSC_ERR_ARG_WRONGSTATE;
      w->other += ierr != PETSC_ERR_ARG_WRONGSTATE;
      continue;
    }
    if (VecGetArrayRead(w->y, &a) || VecGetArrayRead(w->right, &b)) break;
    for (PetscInt i = 0; i < ROWS; i++)
      good = (PetscBool)(good && PetscAbsScalar(a[i] - b[i]) <= 100 * PETSC_MACHINE_EPSILON * w->norm);
    if (VecRestoreArrayRead(w->y, &a) || VecRestoreArrayRead(w->right, &b)) break;
    w->wrong += !good;
  }
  return NULL;
}

/* x and what A makes of it, for two threads */
static PetscErrorCode Prepare(Mat A, Mat R, Worker w[2])
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    w[k] = (Worker){.A = A};
    PetscCall(MatCreateVecs(A, &w[k].x, &w[k].y));
    PetscCall(VecDuplicate(w[k].y, &w[k].right));
    PetscCall(VecSetRandom(w[k].x, NULL));
    PetscCall(MatMult(R, w[k].x, w[k].right));
    PetscCall(VecNorm(w[k].right, NORM_INFINITY, &w[k].norm));
  }
  PetscCall(MatMult(A, w[0].x, w[0].y)); /* builds */
  PetscFunctionReturn(0);
}

static PetscErrorCode RunBoth(Worker w[2])
{
  pthread_t thread[2];

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  for (int k = 0; k < 2; k++)
    PetscCheck(!pthread_create(&thread[k], NULL, Work, &w[k]), PETSC_COMM_SELF, PETSC_ERR_SYS, "no thread");
  for (int k = 0; k < 2; k++) PetscCheck(!pthread_join(thread[k], NULL), PETSC_COMM_SELF, PETSC_ERR_SYS, "no end");
  PetscCall(PetscPopErrorHandler());
  for (int k = 0; k < 2; k++) {
    PetscCheck(!w[k].wrong && !w[k].other, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d products are wrong, %d end with another error",
               (int)w[k].wrong, (int)w[k].other);
    PetscCall(VecDestroy(&w[k].x));
    PetscCall(VecDestroy(&w[k].y));
    PetscCall(VecDestroy(&w[k].right));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char   type[64] = "spmv";
  Mat    A, B, R;
  Worker w[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, ROWS, ROWS, 9, NULL, &R));
  for (PetscInt i = 0; i < ROWS; i++) {
    for (PetscInt j = PetscMax(0, i - 4); j < PetscMin(ROWS, i + 5); j++)
      PetscCall(MatSetValue(R, i, j, PetscSinReal((PetscReal)(3 * i + j)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(R, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(R, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(R, type, MAT_INITIAL_MATRIX, &A));

  PetscCall(Prepare(A, R, w));
  PetscCall(RunBoth(w));
  PetscCall(
    PetscInfo(NULL, "Of %d products of each thread %d and %d were refused\n", PRODUCTS, (int)w[0].refused, (int)w[1].refused));
  PetscCheck(w[0].refused < PRODUCTS || w[1].refused < PRODUCTS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "all products are refused");

  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Prepare(A, R, w));
  w[1].A = B;
  PetscCall(MatMult(B, w[1].x, w[1].y));
  PetscCall(RunBoth(w));
  PetscCheck(!w[0].refused && !w[1].refused, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "products of threads with a matrix each are refused");
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&R));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: !defined(PETSC_USE_DEBUG)
    args: -type {{FORMATS spmv}} -mat_spmv_build_after 0

TEST*/
