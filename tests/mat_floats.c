static const char help[] = "Values in single precision on request: who has them, how wrong products are, and who inherits them.\n\
  -type <spmv>  the type under test\n\
  -copy         bytes with a copy of A^T\n\
  -refused      what is refused\n\
  -view         what is printed of values that were rounded, and of values that are floats\n\n";

#include "counts.h"
#include "refuse.h"
#include <petscksp.h>
#include <float.h>

static PetscInt failures;

static PetscErrorCode Fact(PetscBool holds, const char what[])
{
  PetscFunctionBegin;
  failures += !holds;
  if (!holds) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wrong: %s\n", what));
  PetscFunctionReturn(0);
}

/* A grid's matrix whose values are no floats; the one in the middle is `large` */
static PetscErrorCode Fill(Mat A, PetscReal scale, PetscReal large)
{
  PetscInt n, first, end;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt    j[5] = {i, i + 1, i - 1, i + 37, i - 37};
    const PetscScalar v[5] = {i == n / 2 && large != 0 ? large : scale * (4 + 1. / (3 + i)), -scale / 3, -scale / 7, -scale * .1,
                              -scale * .7};

    for (int k = 0; k < 5; k++) {
      if (j[k] >= 0 && j[k] < n) PetscCall(MatSetValues(A, 1, &i, 1, &j[k], &v[k], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const char type[], const char prefix[], PetscInt n, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(Fill(*A, 1, 0));
  PetscFunctionReturn(0);
}

/* How wrong a product of A is, against that of B; whether it was counted as one with floats */
static PetscErrorCode Error(Mat A, Mat B, PetscBool transpose, PetscReal *error, PetscBool *floats)
{
  SpmvCounts before, after;
  Vec        x, y, z;
  PetscReal  size;

  PetscFunctionBegin;
  PetscCall(Counts(A, &before));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall((transpose ? MatMultTranspose : MatMult)(A, x, y));
  PetscCall((transpose ? MatMultTranspose : MatMult)(B, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &size));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_INFINITY, error));
  *error /= size;
  PetscCall(Counts(A, &after));
  *floats = (PetscBool)(after.floats > before.floats);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* Products of A, forward and transposed, have the error of floats, or that of scalars */
static PetscErrorCode Expect(Mat A, Mat B, PetscBool floats, const char what[])
{
  PetscFunctionBegin;
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscReal error;
    PetscBool counted;

    PetscCall(Error(A, B, (PetscBool)transpose, &error, &counted));
    PetscCall(Fact((PetscBool)(counted == floats), what));
    if (floats) PetscCall(Fact((PetscBool)(error > FLT_EPSILON / 1000 && error < FLT_EPSILON), what));
    else PetscCall(Fact((PetscBool)(error < 100 * PETSC_MACHINE_EPSILON), what));
  }
  PetscFunctionReturn(0);
}

/* New values, one that is too large, the option taken back */
static PetscErrorCode TestValues(const char type[])
{
  Mat A, B;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-f_mat_spmv_values", "float"));
  PetscCall(Create(type, "f_", 2000, &A));
  PetscCall(Create(MATAIJ, "f_", 2000, &B));
  PetscCall(Expect(A, B, PETSC_TRUE, "floats"));
  PetscCall(Fill(A, 3, 0));
  PetscCall(Fill(B, 3, 0));
  PetscCall(Expect(A, B, PETSC_TRUE, "floats, new values"));
  PetscCall(Fill(A, 3, 1e300));
  PetscCall(Fill(B, 3, 1e300));
  {
    PetscReal  error;
    PetscBool  counted;
    SpmvCounts counts;

    PetscCall(Error(A, B, PETSC_FALSE, &error, &counted)); /* some block has the value */
    PetscCall(Counts(A, &counts));
    PetscCall(Fact((PetscBool)(error < 100 * PETSC_MACHINE_EPSILON), "a value that is too large"));
  }
  PetscCall(Fill(A, 1, 0));
  PetscCall(Fill(B, 1, 0));
  PetscCall(Expect(A, B, PETSC_TRUE, "floats again"));
  PetscCall(PetscOptionsSetValue(NULL, "-f_mat_spmv_values", "scalar"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Expect(A, B, PETSC_FALSE, "scalars again"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Bytes after a product and a transposed one */
static PetscErrorCode Memory(Mat A, PetscLogDouble *bytes)
{
  PetscReal error;
  PetscBool floats;
  MatInfo   info;

  PetscFunctionBegin;
  for (int transpose = 0; transpose < 2; transpose++) PetscCall(Error(A, A, (PetscBool)transpose, &error, &floats));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *bytes = info.memory;
  PetscFunctionReturn(0);
}

/* With a copy of A^T both storages have floats, and their bytes are counted after a change of values, too */
static PetscErrorCode TestCopy(const char type[])
{
  PetscLogDouble scalars, floats, again;
  Mat            A;
  MatInfo        info;

  PetscFunctionBegin;
  PetscCall(Create(type, "f_", 2000, &A));
  PetscCall(Memory(A, &scalars));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsSetValue(NULL, "-f_mat_spmv_values", "float"));
  PetscCall(Create(type, "f_", 2000, &A));
  PetscCall(Memory(A, &floats));
  PetscCall(Fill(A, 3, 0));
  PetscCall(Memory(A, &again));
  PetscCall(MatDestroy(&A));
  PetscCall(Fact((PetscBool)(scalars - floats >= 2 * (sizeof(double) - sizeof(float)) * info.nz_used), "both have floats"));
  PetscCall(Fact((PetscBool)(floats == again), "bytes after new values"));
  PetscCall(PetscOptionsClearValue(NULL, "-f_mat_spmv_values"));
  PetscFunctionReturn(0);
}

/* P^T A P of a matrix with -mat_spmv_product_values float, and a product of that one, have floats; the matrix itself has not */
static PetscErrorCode TestProducts(const char type[])
{
  Mat A, B, P, C[3], D[3];

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-p_mat_spmv_product_values", "float"));
  PetscCall(Create(type, "p_", 2000, &A));
  PetscCall(Create(MATAIJ, NULL, 2000, &B));
  PetscCall(Create(MATAIJ, NULL, 2000, &P));
  PetscCall(Expect(A, B, PETSC_FALSE, "the finest level"));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, 2, &C[0]));
  PetscCall(MatPtAP(B, P, MAT_INITIAL_MATRIX, 2, &D[0]));
  PetscCall(Expect(C[0], D[0], PETSC_TRUE, "P^T A P"));
  PetscCall(MatPtAP(C[0], P, MAT_INITIAL_MATRIX, 2, &C[1]));
  PetscCall(MatPtAP(D[0], P, MAT_INITIAL_MATRIX, 2, &D[1]));
  PetscCall(Expect(C[1], D[1], PETSC_TRUE, "P^T (P^T A P) P"));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, 2, &C[2]));
  PetscCall(MatMatMult(B, B, MAT_INITIAL_MATRIX, 2, &D[2]));
  PetscCall(Expect(C[2], D[2], PETSC_TRUE, "A A"));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatDestroy(&C[k]));
    PetscCall(MatDestroy(&D[k]));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(0);
}

/* Formats whose values are always plain: of a matrix, and of those that are products of it and have its type */
static PetscErrorCode TestRefused(void)
{
  const char *const types[] = {MATCMRS, MATCSRADAPTIVE, MATSBCCOO};

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    Mat A;

    PetscCall(Create(types[k], "c_", 100, &A));
    PetscCall(Refuse(A, "-c_mat_spmv_values", "float"));
    PetscCall(Refuse(A, "-c_mat_spmv_product_values", "float"));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

/* A product, a sweep and a solve, then the view */
static PetscErrorCode View(Mat A)
{
  KSP ksp;
  PC  pc;
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatSOR(A, x, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1, y));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCILU));
  PetscCall(KSPSolve(ksp, x, y)); /* -mat_spmv_view prints the factor */
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* Values that are rounded, those of another matrix that are floats already, and new values of it that are rounded */
static PetscErrorCode TestView(const char type[])
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(Create(type, "v_", 200, &A));
  PetscCall(View(A));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(type, "e_", 200, &A));
  PetscCall(MatZeroEntries(A));
  PetscCall(MatShift(A, 3));
  PetscCall(View(A));
  PetscCall(PetscOptionsSetValue(NULL, "-e_mat_spmv_values", "float"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(Fill(A, 1, 0));
  PetscCall(View(A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = MATSPMV;
  PetscBool refused = PETSC_FALSE, view = PETSC_FALSE, copy = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-copy", &copy, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refused", &refused, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  if (refused) PetscCall(TestRefused());
  else if (view) PetscCall(TestView(type));
  else {
    if (copy) PetscCall(TestCopy(type));
    PetscCall(TestValues(type));
    PetscCall(TestProducts(type));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    requires: double !complex
    output_file: output/mat_floats.out
    args: -f_mat_spmv_build_after 0 -p_mat_spmv_build_after 0
    test:
      suffix: types
      args: -type {{pmf tpspmv spmv}}
    test:
      suffix: ranks
      nsize: {{2 3}}
    test:
      suffix: copy
      args: -copy -f_mat_spmv_transpose copy

  test:
    suffix: refused
    requires: double !complex
    args: -refused
    filter: grep -E "refused|failures"

  test:
    suffix: view
    requires: double !complex
    args: -view -type {{pmf tpspmv}} -v_mat_spmv_build_after 0 -e_mat_spmv_build_after 0 -v_mat_spmv_values float
    args: -v_mat_spmv_sor_values float -v_mat_spmv_solve_values float -v_mat_spmv_view -e_mat_pmf_values float -e_mat_tpspmv_values float
    filter: grep -oE "values: (rounded|as float).*|as floats, [^,]*|values=float \(.*\)|[0-9]+ failures"

TEST*/
