static const char help[] = "-mat_sbccoo_exact no: the upper part alone where the user declared the matrix symmetric.\n\n";

#include "spmvtest.h"
#include "mat/impls/sbccoo/host/sbccoo_pairs.h"

#define NODES 60
#define REACH 4 /* of the pattern, in nodes */

static PetscBool Hermitian, Ordered;

/*
  Entry (i, j) of a matrix that is symmetric, or Hermitian, but for the last bits; that of `row` and `column` is off by so much
*/
static PetscScalar Entry(PetscInt i, PetscInt j, PetscInt row, PetscInt column, PetscReal off)
{
  const PetscInt  low = PetscMin(i, j), high = PetscMax(i, j);
  const PetscReal s = PetscSinReal((PetscReal)(3 * low + 7 * high)) + (i == j ? 20 : 0);
  PetscScalar     v = s;

#if defined(PETSC_USE_COMPLEX)
  v += PETSC_i * PetscCosReal((PetscReal)(low + high)) * (PetscReal)(!Hermitian || i != j);
  if (Hermitian && i > j) v = PetscConj(v);
#endif
  if (i > j) v *= 1 + (PetscReal)((i * 7 + j) % 5) * PETSC_MACHINE_EPSILON;
  return i == row && j == column ? v * (1 + off) : v;
}

/*
  Sets all values: one assembly. An entry of each process is off, not in a block on the diagonal, where both of a pair are stored
*/
static PetscErrorCode Fill(Mat A, PetscInt b, PetscReal off)
{
  PetscInt first, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetSize(A, &n, NULL));
  for (PetscInt i = first; i < end; i++) {
    for (PetscInt j = PetscMax(0, (i / b - REACH) * b); j < PetscMin(n, (i / b + REACH + 1) * b); j++)
      PetscCall(MatSetValue(A, i, j, Entry(i, j, first + 4 + REACH * b, first + 4, off), INSERT_VALUES));
    for (PetscInt k = 0; Ordered && k < b; k++) { /* both ends come together in an order */
      const PetscInt j = (n / b - 1 - i / b) * b + k;

      PetscCall(MatSetValue(A, i, j, Entry(i, j, first + 4 + REACH * b, first + 4, off), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, PetscInt b, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, NODES * b, NODES * b));
  PetscCall(MatSetBlockSize(*A, b));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, (2 * REACH + 2) * b, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, (2 * REACH + 2) * b, NULL, (2 * REACH + 2) * b, NULL));
  PetscCall(Fill(*A, b, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products are those of aij, and the storage is what it is said to be */
static PetscErrorCode Check(const char what[], Mat A, Mat R, PetscBool upper)
{
  const SbccooStorage *s;
  SpmvBlocks           blocks;
  PetscReal            norm, error;
  Vec                  x, y, z;
  char                 line[256];

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(R, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscCall(VecSetRandom(x, NULL));
    PetscCall((transpose ? MatMultTranspose : MatMult)(R, x, y));
    PetscCall((transpose ? MatMultTranspose : MatMult)(A, x, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    PetscCheck(error <= (upper ? SBCCOO_CLOSE : 50 * PETSC_MACHINE_EPSILON) * 10 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "%s: a product is wrong by %g of %g", what, (double)error, (double)norm);
  }
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  s = (const SbccooStorage *)blocks.shadow[0]->seq.built.storage;
  PetscCheck(s && s->upper == upper && (!upper || !s->code), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: stored is %s", what,
             !s         ? "nothing"
             : s->upper ? "the upper part"
                        : "all");
  PetscCheck(!upper || s->conjugate == (PetscBool)(Hermitian && PetscDefined(USE_COMPLEX)), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the second entry of a pair is taken to be %s", what, s->conjugate ? "the conjugate" : "the first one");
  PetscCall(SpmvFormat_sbccoo.host->side.describe(s, 1, line, sizeof(line)));
  PetscCheck(!strncmp(line, upper ? "the upper part alone" : "exact", 5), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: view says %s",
             what, line);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, upper ? "the upper part alone" : "exact"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pair that is off is noise and 0: it is so many times as far apart as a pair may be beside these diagonal entries */
static PetscErrorCode Noise(Mat A, PetscInt b, PetscReal times)
{
  PetscInt    first, row, column;
  PetscScalar noise;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  row    = first + 4;
  column = row + REACH * b;
  noise  = times * SBCCOO_CLOSE * PetscSqrtReal(PetscAbsScalar(Entry(row, row, -1, -1, 0) * Entry(column, column, -1, -1, 0)));
  PetscCall(MatSetValue(A, row, column, noise, INSERT_VALUES));
  PetscCall(MatSetValue(A, column, row, 0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in both: an assembly */
static PetscErrorCode Again(Mat A, Mat R, PetscInt b, PetscReal off)
{
  PetscFunctionBegin;
  PetscCall(Fill(A, b, off));
  PetscCall(Fill(R, b, off));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char Message[1024];

static PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType p,
                           const char *message, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)PetscStrncpy(Message, message, sizeof(Message));
  (void)comm, (void)line, (void)function, (void)file, (void)ctx;
  return n;
}

/* A product must be refused, on each process, and the entry that is off be named */
static PetscErrorCode Refused(Mat A, PetscInt b)
{
  PetscErrorCode ierr;
  PetscInt       first, end;
  SpmvBlocks     blocks;
  Vec            x, y;
  char           pair[2][128];

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, end - first, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(PetscPushErrorHandler(Keep, NULL));
  ierr = MatMult(blocks.mat[0], x, y);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr == PETSC_ERR_ARG_INCOMP, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a pair that is too far apart was taken: error %d",
             (int)ierr);
  for (int k = 0; k < 2; k++) /* in an order of its own the row may be the later one */
    PetscCall(PetscSNPrintf(pair[k], sizeof(pair[k]), "Entry (%" PetscInt_FMT ", %" PetscInt_FMT ") is",
                            first + 4 + k * REACH * b, first + 4 + !k * REACH * b));
  PetscCheck((strstr(Message, pair[0]) || (Ordered && strstr(Message, pair[1]))) &&
               strstr(Message, "more than " SBCCOO_CLOSE_TEXT " apart") && strstr(Message, "-mat_sbccoo_exact no") &&
               (!PetscDefined(USE_COMPLEX) || strstr(Message, Hermitian ? "Hermitian" : "symmetric")),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, not %s", Message, pair[0]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a pair is off: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc wants to know whether a matrix is symmetric that is Hermitian for ever */
static PetscErrorCode DeclareForEver(Mat A, MatOption declare)
{
  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX) && Hermitian) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE));
  PetscCall(MatSetOption(A, declare, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(PetscInt b, MatOption declare)
{
  Mat A, R;

  PetscFunctionBegin;
  Hermitian = (PetscBool)(declare == MAT_HERMITIAN);
  PetscCall(Create(MATSBCCOO, b, &A));
  PetscCall(Create(MATAIJ, b, &R));
  PetscCall(Check("nothing declared", A, R, PETSC_FALSE));
  PetscCall(MatSetOption(A, declare, PETSC_TRUE));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatScale(A, 1.7));
    PetscCall(MatScale(R, 1.7));
    PetscCall(Check(k ? "new values" : "declared", A, R, PETSC_TRUE));
  }
  PetscCall(Again(A, R, b, 0));
  PetscCall(Check("assembled again", A, R, PETSC_FALSE));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(MATSBCCOO, b, &A));
  PetscCall(DeclareForEver(A, declare));
  PetscCall(Check("declared for ever", A, R, PETSC_TRUE));
  PetscCall(Again(A, R, b, 0));
  PetscCall(Check("assembled again", A, R, PETSC_TRUE));
  PetscCall(Again(A, R, b, 1e-12));
  PetscCall(Check("off by 1e-12", A, R, PETSC_TRUE));
  PetscCall(Again(A, R, b, 1e-6));
  PetscCall(Refused(A, b));
  PetscCall(Again(A, R, b, 0));
  PetscCall(Check("mended", A, R, PETSC_TRUE));
  PetscCall(Noise(A, b, 0.9));
  PetscCall(Noise(R, b, 0.9));
  PetscCall(Check("noise that is small beside the diagonal", A, R, PETSC_TRUE));
  PetscCall(Noise(A, b, 1.1));
  PetscCall(Refused(A, b));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(MATSBCCOO, b, &A));
  PetscCall(DeclareForEver(A, declare));
  PetscCall(Fill(A, b, 1e-6));
  PetscCall(Refused(A, b)); /* a build */
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_spmv_order", &Ordered));
  for (PetscInt b = 1; b <= 3; b++) PetscCall(Test(b, b == 2 ? MAT_SPD : MAT_SYMMETRIC));
  for (PetscInt b = 1; b <= 3; b++) PetscCall(Test(b, MAT_HERMITIAN));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -mat_sbccoo_exact no -mat_spmv_build_after 0 -mat_spmv_threads {{1 2}}

  test:
    suffix: isa
    output_file: output/unit_declared.out
    args: -mat_sbccoo_exact no -mat_spmv_build_after 0 -mat_spmv_isa {{scalar avx2}}

  test:
    suffix: order
    output_file: output/unit_declared.out
    args: -mat_sbccoo_exact no -mat_spmv_build_after 0 -mat_spmv_order levels

TEST*/
