static const char help[] =
  "Solves with incomplete factors, compared with those of PETSc's package entry by entry, and by whom they were made.\n\
  -type <spmv>  the type under test\n\
  -floats       values are read in single precision\n\
  -coupled <4>  nodes of 37 that a node is coupled with\n\
  -n <90>       rows\n\n";

#include "factortest.h"
#include <float.h>

static PetscReal worst, epsilon = PETSC_MACHINE_EPSILON;
static PetscBool never;  /* -mat_spmv_solve no: PETSc's kernels only */
static PetscBool floats; /* values are read in single precision */

/* Reproducible numbers between 0 and 1 */
static PetscReal Random(void)
{
  static unsigned long long s = 88172645463325252ULL;

  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return (PetscReal)(s % 1000003) / 1000003;
}

static PetscErrorCode Compare(Vec x, Vec y, const char what[], const char where[])
{
  PetscReal size, error;

  PetscFunctionBegin;
  PetscCall(VecNorm(y, NORM_INFINITY, &size));
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  worst = PetscMax(worst, error / size);
  PetscCall(Fact((PetscBool)(error <= 5000 * epsilon * size), what, where));
  PetscFunctionReturn(0);
}

typedef PetscErrorCode Operation(Mat, Vec, Vec);

/* The same call of both factors */
static PetscErrorCode Both(Mat F, Mat G, Operation *call, const char what[], const char where[])
{
  Vec      b, x, y;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(G, &b, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecGetLocalSize(b, &n));
  for (PetscInt i = 0; i < n; i++) PetscCall(VecSetValue(b, i, Random() - 0.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall((*call)(F, b, x));
  PetscCall((*call)(G, b, y));
  PetscCall(Compare(x, y, what, where));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* MatMatSolve(), also with the solution in the place of what is given, and its transposed kin */
static PetscErrorCode BothMat(Mat F, Mat G, PetscBool transpose, PetscBool inplace, const char where[])
{
  const PetscInt columns                = 5;
  PetscErrorCode (*call)(Mat, Mat, Mat) = transpose ? MatMatSolveTranspose : MatMatSolve;
  PetscInt  n;
  Mat       B, X, Y;
  PetscReal error, size;

  PetscFunctionBegin;
  PetscCall(MatGetSize(F, &n, NULL));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, NULL, &B));
  for (PetscInt i = 0; i < n * columns; i++) PetscCall(MatSetValue(B, i % n, i / n, Random() - 0.5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &X));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &Y));
  PetscCall((*call)(F, inplace ? X : B, X));
  PetscCall((*call)(G, B, Y));
  PetscCall(MatNorm(Y, NORM_FROBENIUS, &size));
  PetscCall(MatAXPY(X, -1, Y, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(X, NORM_FROBENIUS, &error));
  PetscCall(Fact((PetscBool)(error <= 5000 * epsilon * size), transpose ? "MatMatSolveTranspose" : "MatMatSolve", where));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(0);
}

/* All operations, around the build; before: solves that PETSc's kernel is to serve first; may: it may serve all of a kind, as it
   may be as fast */
static PetscErrorCode Solves(Mat F, Mat G, PetscInt before, PetscBool may, PetscBool symmetric, PetscBool roots,
                             const char where[])
{
  SpmvCounts from, to;
  PetscInt   calls = before + 4 + 10;

  PetscFunctionBegin;
  PetscCall(Counts(F, &from));
  for (PetscInt k = 0; k < before + 2; k++) PetscCall(Both(F, G, MatSolve, "MatSolve", where));
  for (PetscInt k = 0; k < 2; k++) PetscCall(Both(F, G, MatSolveTranspose, "MatSolveTranspose", where));
  PetscCall(BothMat(F, G, PETSC_FALSE, PETSC_FALSE, where));
  if (!symmetric) PetscCall(BothMat(F, G, PETSC_FALSE, PETSC_TRUE, where));
  calls += symmetric ? 0 : 5;
  PetscCall(BothMat(F, G, PETSC_TRUE, PETSC_FALSE, where));
  if (roots) { /* of ICC's diagonal */
    PetscCall(Both(F, G, MatForwardSolve, "MatForwardSolve", where));
    PetscCall(Both(F, G, MatBackwardSolve, "MatBackwardSolve", where));
    calls += 2;
  }
  PetscCall(Counts(F, &to));
  if (never || (may && to.solvesaij - from.solvesaij > before))
    before = (PetscInt)(never ? calls : to.solvesaij - from.solvesaij);
  PetscCall(Fact((PetscBool)(to.solvesaij - from.solvesaij == before), "solves before the build are PETSc's", where));
  PetscCall(Fact((PetscBool)(to.solves - from.solves == calls - before), "all others are ours", where));
  PetscCall(
    Fact((PetscBool)(to.floats - from.floats == (floats ? calls - before : 0)), "with floats if they are asked for", where));
  PetscFunctionReturn(0);
}

/* Solves that PETSc's kernel serves before a storage is built */
static PetscErrorCode Before(PetscBool named, PetscInt *before)
{
  PetscInt after = 8;

  PetscFunctionBegin;
  if (!named) PetscCall(PetscOptionsGetInt(NULL, NULL, "-mat_spmv_build_after", &after, NULL)); /* AIJ has no such option */
  *before = (after + 3) / 4;
  PetscFunctionReturn(0);
}

typedef struct {
  MatFactorType      kind;
  const char        *ordering;
  PetscInt           levels;
  MatFactorShiftType shift;
} Recipe;

static PetscErrorCode Symbolic(const Recipe *r, Mat F, Mat A, IS row, IS column, MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(info));
  info->levels        = r->levels;
  info->fill          = 2;
  info->shifttype     = r->shift;
  info->shiftamount   = r->shift == MAT_SHIFT_NONE ? 0 : 1e-2;
  info->diagonal_fill = 1;
  info->zeropivot     = 100 * PETSC_MACHINE_EPSILON;
  if (r->kind == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, A, row, column, info));
  else PetscCall(MatICCFactorSymbolic(F, A, row, info));
  PetscFunctionReturn(0);
}

static PetscErrorCode Numeric(const Recipe *r, Mat F, Mat A, const MatFactorInfo *info, MatFactorError *error)
{
  PetscFunctionBegin;
  PetscCall((r->kind == MAT_FACTOR_ILU ? MatLUFactorNumeric : MatCholeskyFactorNumeric)(F, A, info));
  PetscCall(MatFactorGetError(F, error));
  PetscFunctionReturn(0);
}

/*
  In PETSc 3.25 and 3.26, MAT_SHIFT_POSITIVE_DEFINITE of ILU with fill of a matrix with rows alike reads where the diagonal is,
  which only other operations find: a segmentation fault without one of them (MatLUFactorNumeric_SeqAIJ_Inode(), a->diag)
*/
static PetscErrorCode FindDiagonal(Mat A)
{
  Vec diagonal;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(0);
}

/* A factor of type's by a package, or the one that is found, and PETSc's of AIJ: three times, with new values between */
static PetscErrorCode Factor(const char type[], const char package[], const Recipe *r, const Pattern *c)
{
  const char     *shift  = MatFactorShiftTypes[r->shift];
  const PetscBool icc    = (PetscBool)(r->kind == MAT_FACTOR_ICC);
  PetscInt        before = 0;
  PetscBool       same, may;
  MatFactorError  error[2];
  MatSolverType   found;
  MatFactorInfo   info;
  char            where[128];
  IS              row, column;
  Mat             A, B, F, G;

  PetscFunctionBegin;
  PetscCall(Before((PetscBool)(package != NULL), &before));
  may = (PetscBool)(before && !icc && (package || (r->levels && c->dofs == 1)));
  PetscCall(PetscSNPrintf(where, sizeof(where), "%s(%" PetscInt_FMT ") %s shift %s n %" PetscInt_FMT " dofs %" PetscInt_FMT "%s",
                          MatFactorTypes[r->kind], r->levels, r->ordering, shift, c->n, c->dofs, c->singular ? " singular" : ""));
  PetscCall(Create(PETSC_COMM_SELF, c, type, &A));
  PetscCall(Create(PETSC_COMM_SELF, c, MATSEQAIJ, &B));
  PetscCall(Fill(c, 1, A));
  PetscCall(Fill(c, 1, B));
  PetscCall(FindDiagonal(A));
  PetscCall(FindDiagonal(B));
  PetscCall(MatGetFactor(A, package, r->kind, &F));
  PetscCall(MatGetFactor(B, MATSOLVERPETSC, r->kind, &G));
  PetscCall(MatFactorGetSolverType(F, &found));
  PetscCall(PetscStrcmp(found, MATSOLVERPETSCSPMV, &same));
  PetscCall(Fact(same, "the package", where));
  PetscCall(MatGetOrdering(B, r->ordering, &row, &column));
  PetscCall(Symbolic(r, F, A, row, column, &info));
  PetscCall(Symbolic(r, G, B, row, column, &info));
  for (PetscInt round = 0; round < 3; round++) {
    PetscCall(Numeric(r, F, A, &info, &error[0]));
    PetscCall(Numeric(r, G, B, &info, &error[1]));
    PetscCall(Fact((PetscBool)(error[0] == error[1]), "the same error", where));
    if (!error[1]) PetscCall(Solves(F, G, before, may, icc, (PetscBool)(icc && !c->singular), where));
    if (!error[1]) before = 0; /* as many solves followed the values before */
    PetscCall(Fill(c, 1.5 + round, A));
    PetscCall(Fill(c, 1.5 + round, B));
  }
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Entries that are finite, but not when their rows are scaled: PETSc solves. Then others, which are ours to solve with */
static PetscErrorCode Overflow(const char type[])
{
  const PetscReal large = 10 * PetscSqrtReal(PETSC_MAX_REAL);
  const PetscInt  n     = 6;
  const Recipe    r     = {MAT_FACTOR_ILU, MATORDERINGNATURAL, 0, MAT_SHIFT_NONE};
  MatFactorInfo   info;
  MatFactorError  error;
  PetscReal       norm;
  PetscInt        before = 0;
  SpmvCounts      counts;
  IS              row, column;
  Mat             A, F;
  Vec             b, x;

  PetscFunctionBegin;
  PetscCall(Before(PETSC_FALSE, &before));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, n, n, n));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  for (int round = 0; round < 2; round++) {
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(MatSetValue(A, i, i, round ? 2 : 1 / large, INSERT_VALUES));
      if (i + 1 < n) PetscCall(MatSetValue(A, i, i + 1, round ? 1 : large, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (!round) {
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecSetValue(b, 0, 1, INSERT_VALUES));
      PetscCall(VecAssemblyBegin(b));
      PetscCall(VecAssemblyEnd(b));
      PetscCall(MatGetFactor(A, NULL, MAT_FACTOR_ILU, &F));
      PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &column));
      PetscCall(Symbolic(&r, F, A, row, column, &info));
      info.zeropivot = 0;
    }
    PetscCall(Numeric(&r, F, A, &info, &error));
    PetscCall(Fact((PetscBool)!error, "there is a factor", "overflow"));
    for (int k = 0; k < 6; k++) PetscCall(MatSolve(F, b, x));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(Fact((PetscBool)(norm == (round ? (PetscReal)0.5 : large)), "the solution is finite", "overflow"));
    PetscCall(Counts(F, &counts));
    PetscCall(Fact((PetscBool)(round || !counts.solves), "solves are PETSc's where scaled values are not finite", "overflow"));
    PetscCall(Fact((PetscBool)(never || before || !round || counts.solves), "and ours again with other values", "overflow"));
  }
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

/* Five points on a grid in the order of RCM: PETSc's kernel serves where rows are not transposed, unless all is to be ours */
static PetscErrorCode Short(const char type[])
{
  const Recipe   r    = {MAT_FACTOR_ILU, MATORDERINGRCM, 0, MAT_SHIFT_NONE};
  const PetscInt side = 20, n = side * side;
  PetscInt       before;
  PetscBool      ours;
  MatFactorInfo  info;
  MatFactorError error;
  SpmvCounts     counts[2];
  IS             row, column;
  Mat            A, F;
  Vec            b, x;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, n, n, n));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatSetValue(A, i, i, 5, INSERT_VALUES));
    if ((i + 1) % side) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
    if (i % side) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i + side < n) PetscCall(MatSetValue(A, i, i + side, -1, INSERT_VALUES));
    if (i >= side) PetscCall(MatSetValue(A, i, i - side, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MatGetFactor(A, NULL, MAT_FACTOR_ILU, &F));
  PetscCall(MatGetOrdering(A, r.ordering, &row, &column));
  PetscCall(Symbolic(&r, F, A, row, column, &info));
  PetscCall(Numeric(&r, F, A, &info, &error));
  for (int k = 0; k < 6; k++) PetscCall(MatSolve(F, b, x));
  PetscCall(Counts(F, &counts[0]));
  for (int k = 0; k < 2; k++) PetscCall(MatSolveTranspose(F, b, x));
  PetscCall(Counts(F, &counts[1]));
  PetscCall(Before(PETSC_FALSE, &before));
  ours = (PetscBool)(!never && !before);
  PetscCall(
    Fact((PetscBool)(counts[0].solves == (ours ? 6 : 0) && counts[0].solvesaij == (ours ? 0 : 6)), "who solves", "short rows"));
  PetscCall(Fact((PetscBool)(counts[1].solves - counts[0].solves == (never ? 0 : 2)), "ours with the transpose", "short rows"));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

/* Fill, orderings and nodes; shifts, with a pivot that is 0 at first; a package that AIJ names */
static PetscErrorCode All(const char type[], PetscInt n)
{
  static const char *orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    const MatFactorType kind = k ? MAT_FACTOR_ICC : MAT_FACTOR_ILU;

    for (PetscInt dofs = 1; dofs < 5; dofs++) {
      for (int o = 0; o < 3; o++) {
        for (PetscInt levels = 0; levels < 3; levels++) {
          const Pattern c = {n + dofs, dofs, levels, (PetscBool)k, PETSC_FALSE};

          PetscCall(Factor(type, NULL, &(Recipe){kind, orderings[o], levels, MAT_SHIFT_NONE}, &c));
        }
      }
      for (int shift = 0; shift < 4; shift++) {
        const Pattern c = {n, dofs, 5, (PetscBool)k, PETSC_TRUE};

        PetscCall(Factor(type, NULL, &(Recipe){kind, orderings[shift % 2], shift % 3, (MatFactorShiftType)shift}, &c));
      }
    }
    if (!never && !floats) /* AIJ has no options of ours */
      PetscCall(Factor(MATSEQAIJ, MATSOLVERPETSCSPMV, &(Recipe){kind, MATORDERINGNATURAL, 1, MAT_SHIFT_NONE},
                       &(Pattern){n, 3, 1, (PetscBool)k, PETSC_FALSE}));
  }
  PetscCall(Overflow(type));
  PetscCall(Short(type));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = MATSPMV, sequential[128];
  PetscBool solve    = PETSC_TRUE;
  PetscInt  n        = 90;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-coupled", &coupled, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mat_spmv_solve", &solve, NULL));
  never = (PetscBool)!solve;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-floats", &floats, NULL));
  if (floats) epsilon = (PetscReal)FLT_EPSILON;
  PetscCall(PetscSNPrintf(sequential, sizeof(sequential), "%s%s", MATSEQAIJ, type));
  PetscCall(All(sequential, n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " facts wrong\n", failures));
  if (worst > 5000 * epsilon) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "worst %g\n", (double)worst));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    output_file: output/mat_factor.out

    test:
      suffix: types
      args: -type {{FORMATS spmv}} -mat_spmv_build_after 0

    test:
      suffix: waits
      args: -coupled 14 -mat_spmv_expected_calls 1000

    test:
      suffix: isa
      args: -mat_spmv_build_after 0 -mat_spmv_isa scalar

    test:
      suffix: floats
      requires: !complex double
      args: -type spmv -floats -mat_spmv_build_after 0 -mat_spmv_solve_values float

    test:
      suffix: off
      args: -mat_spmv_solve no

TEST*/
