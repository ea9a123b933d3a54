static const char help[] = "-mat_spmv_tune_check: times that are made up decide whether a storage stays.\n\n";

#include "spmvtest.h"

#define ROWS 400
#define WAIT 6 /* products by AIJ's kernel before there is a storage */

/* A band; its pattern has one entry more in the first row if `more` */
static PetscErrorCode Fill(Mat A, PetscScalar scale, PetscBool more)
{
  PetscInt first, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetSize(A, &n, NULL));
  for (PetscInt i = first; i < end; i++) {
    for (PetscInt j = PetscMax(0, i - 8); j < PetscMin(n, i + 9); j++)
      PetscCall(MatSetValue(A, i, j, scale * (PetscScalar)(1 + (i * 7 + j * 3) % 11), INSERT_VALUES));
  }
  if (more && !first) PetscCall(MatSetValue(A, 0, 20, scale, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 18, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 18, NULL, 8, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(*A, 1, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n products, which are those of AIJ */
static PetscErrorCode Multiply(Mat A, PetscInt n)
{
  Mat       R;
  Vec       x, y, z;
  PetscReal norm, error;

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &R));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(R, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatMult(A, x, z));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    PetscCheck(error <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Product %d is off by %g", (int)k,
               (double)error);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As if products by AIJ's kernel had taken so long */
static PetscErrorCode Pretend(Mat A, PetscLogDouble seconds)
{
  SpmvBlocks blocks;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  for (int k = 0; k < blocks.n; k++) {
    for (int l = 0; l < SPMV_CHECK_TIMES; l++) blocks.shadow[k]->seq.check.seconds[0][l] = seconds;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What serves the diagonal block, and how many of its products AIJ's kernel made as the one that was chosen */
static PetscErrorCode Serves(Mat A, const char what[], PetscBool aij, PetscInt64 calls)
{
  SpmvBlocks     blocks;
  const SpmvSeq *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  s = &blocks.shadow[0]->seq;
  PetscCheck(SpmvBuiltExists(&s->built) != aij && (s->built.format == &SpmvFormat_aij) == aij && s->counts.aij == calls,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s serves, after %d products by AIJ's kernel", what,
             s->built.format ? s->built.format->name : "nothing", (int)s->counts.aij);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The verdict comes with the last of so many products, from medians, once */
static PetscErrorCode TestCall(void)
{
  const PetscLogDouble aij[]  = {9, 1, 3, 2, 5, 4, 100};     /* the last five: 2 3 4 5 100 */
  const PetscLogDouble ours[] = {50, 50, 3, 6, 4.5, 1, 200}; /* but for two: 1 3 4.5 6 200 */
  SpmvCheck            c      = {.done = PETSC_FALSE};
  PetscLogDouble       median[2];
  PetscBool            lost;

  PetscFunctionBegin;
  for (int k = 0; k < 7; k++) SpmvCheckCall(&c, PETSC_FALSE, aij[k], &lost, median);
  PetscCheck(!lost && !c.done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Products by AIJ's kernel decide");
  for (int k = 0; k < 7; k++) {
    SpmvCheckCall(&c, PETSC_TRUE, ours[k], &lost, median);
    PetscCheck(lost == (k == 6) && c.done == (k == 6), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Product %d: lost %d", k, (int)lost);
  }
  PetscCheck(median[0] == 4 && median[1] == 4.5, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Medians %g and %g", median[0], median[1]);
  SpmvCheckCall(&c, PETSC_TRUE, 1e9, &lost, median);
  PetscCheck(!lost, PETSC_COMM_SELF, PETSC_ERR_PLIB, "It decides a second time");
  c = (SpmvCheck){.calls = {SPMV_CHECK_TIMES - 1, 0}};
  for (int k = 0; k < 7; k++) SpmvCheckCall(&c, PETSC_TRUE, 1, &lost, median);
  PetscCheck(!lost && c.done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "It decides without enough products by AIJ's kernel");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(MatType type)
{
  Mat A, B;

  PetscFunctionBegin;
  PetscCall(Create(type, &A));
  PetscCall(Multiply(A, WAIT));
  PetscCall(Pretend(A, 1e6));
  PetscCall(Multiply(A, 10));
  PetscCall(Serves(A, "faster", PETSC_FALSE, 0));
  PetscCall(MatDestroy(&A));

  PetscCall(Create(type, &A));
  PetscCall(Multiply(A, WAIT));
  PetscCall(Pretend(A, 0));
  PetscCall(Multiply(A, 6));
  PetscCall(Serves(A, "too early to say", PETSC_FALSE, 0));
  PetscCall(Multiply(A, 4));
  PetscCall(Serves(A, "slower", PETSC_TRUE, 3));
  PetscCall(Fill(A, 2, PETSC_FALSE));
  PetscCall(Multiply(A, 10));
  PetscCall(Serves(A, "slower, with new values", PETSC_TRUE, 13));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Multiply(B, 10));
  PetscCall(Serves(B, "slower, a duplicate", PETSC_TRUE, 10 - WAIT));
  PetscCall(MatDestroy(&B));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(Fill(A, 3, PETSC_TRUE));
  PetscCall(Multiply(A, WAIT + 1));
  if (!PetscGlobalRank) PetscCall(Serves(A, "a new pattern is built for", PETSC_FALSE, 13));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The function says what the option says, for a matrix of ours; one that AIJ's kernel serves too few products of refuses */
static PetscErrorCode TestFunction(void)
{
  Mat            A, B;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(Create(MATPMF, &A));
  PetscCall(MatSpmvSetTuneCheck(A, PETSC_FALSE));
  PetscCall(Multiply(A, WAIT));
  PetscCall(Pretend(A, 0));
  PetscCall(Multiply(A, 10));
  PetscCall(Serves(A, "slower, but nobody looks", PETSC_FALSE, 0));
  PetscCall(MatSpmvSetTuneCheck(A, PETSC_TRUE));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_tune_check", "no"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_build_after", "2"));
  PetscCall(Create(MATPMF, &A));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatSpmvSetTuneCheck(A, PETSC_TRUE);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr == PETSC_ERR_ARG_INCOMP, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Two products before a check give %d", (int)ierr);
  PetscCall(MatDestroy(&A));
  PetscCall(Create(MATAIJ, &B));
  PetscCall(MatSpmvSetTuneCheck(B, PETSC_TRUE)); /* nothing to do */
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(TestCall());
  PetscCall(Test(MATSPMV));
  PetscCall(Test(MATPMF));
  PetscCall(TestFunction());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_spmv_tune_check -mat_spmv_build_after 6 -mat_spmv_tune_formats pmf

TEST*/
