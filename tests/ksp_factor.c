static const char help[] =
  "Solves with incomplete factors, compared with those of PETSc's package entry by entry, and by whom they were made.\n\
  -type <spmv>  the type under test\n\
  -n <120>      rows\n\n";

#include <petscspmv.h>
#include <petscksp.h>

static PetscInt  failures;
static PetscReal worst;

static PetscErrorCode Fact(PetscBool holds, const char what[], const char where[])
{
  PetscFunctionBegin;
  failures += !holds;
  if (!holds) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wrong: %s (%s)\n", what, where));
  PetscFunctionReturn(0);
}

/* Reproducible numbers between 0 and 1 */
static PetscReal Random(void)
{
  static unsigned long long s = 88172645463325252ULL;

  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return (PetscReal)(s % 1000003) / 1000003;
}

typedef struct {
  PetscInt  n, dofs, seed; /* rows in all, rows of a node */
  PetscBool symmetric, indefinite;
} Pattern;

/* Whether nodes p and q are coupled */
static PetscBool Coupled(const Pattern *c, PetscInt p, PetscInt q)
{
  const PetscInt low = c->symmetric ? PetscMin(p, q) : p, high = c->symmetric ? PetscMax(p, q) : q;

  if (PetscAbsInt(p - q) <= 1) return PETSC_TRUE;
  return (PetscBool)((low * 7919 + high * 104729 + c->seed * 31) % 37 < 2);
}

static PetscErrorCode Fill(const Pattern *c, PetscReal scale, Mat A)
{
  const PetscInt nodes = (c->n + c->dofs - 1) / c->dofs;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < c->n; i++) {
    for (PetscInt q = 0; q < nodes; q++) {
      if (!Coupled(c, i / c->dofs, q)) continue;
      for (PetscInt j = q * c->dofs; j < PetscMin(c->n, (q + 1) * c->dofs); j++) {
        const PetscInt low = PetscMin(i, j), high = PetscMax(i, j), a = c->symmetric ? low : i, b = c->symmetric ? high : j;
        PetscScalar    v = -(1 + (a * 13 + b * 7) % 11) * scale / 11;

        if (i == j) v = c->indefinite && i % 9 == 4 ? 0 : (20 + i % 5) * scale;
#if defined(PETSC_USE_COMPLEX)
        if (i != j && !c->symmetric) v *= 1 + PETSC_i * ((i + j) % 3);
#endif
        PetscCall(MatSetValue(A, i, j, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(MPI_Comm comm, const Pattern *c, const char type[], Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, c->n, c->n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (c->symmetric) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode Compare(Vec x, Vec y, const char what[], const char where[])
{
  PetscReal size, error;

  PetscFunctionBegin;
  PetscCall(VecNorm(y, NORM_INFINITY, &size));
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  worst = PetscMax(worst, error / size);
  PetscCall(Fact((PetscBool)(error <= 5000 * PETSC_MACHINE_EPSILON * size), what, where));
  PetscFunctionReturn(0);
}

static PetscErrorCode Counts(Mat F, SpmvCounts *counts)
{
  PetscErrorCode (*get)(Mat, SpmvCounts *);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(counts, sizeof(*counts)));
  PetscCall(PetscObjectQueryFunction((PetscObject)F, "MatSpmvFactorGetCounts_C", &get));
  PetscCall(Fact((PetscBool)(get != NULL), "a factor of ours", "counts"));
  if (get) PetscCall((*get)(F, counts));
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
  PetscCall(
    Fact((PetscBool)(error <= 5000 * PETSC_MACHINE_EPSILON * size), transpose ? "MatMatSolveTranspose" : "MatMatSolve", where));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(0);
}

/* All operations, around the build; before: solves that PETSc's kernel is to serve first */
static PetscErrorCode Solves(Mat F, Mat G, PetscInt before, PetscBool symmetric, const char where[])
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
  if (symmetric) {
    PetscCall(Both(F, G, MatForwardSolve, "MatForwardSolve", where));
    PetscCall(Both(F, G, MatBackwardSolve, "MatBackwardSolve", where));
    calls += 2;
  }
  PetscCall(Counts(F, &to));
  PetscCall(Fact((PetscBool)(to.solvesaij - from.solvesaij == before), "solves before the build are PETSc's", where));
  PetscCall(Fact((PetscBool)(to.solves - from.solves == calls - before), "all others are ours", where));
  PetscFunctionReturn(0);
}

/* A factor of type's by its default package, and PETSc's of AIJ */
static PetscErrorCode Factor(const char type[], MatFactorType kind, const char ordering[], PetscInt levels,
                             MatFactorShiftType shift, const Pattern *c)
{
  PetscInt       before = 0, after = 16;
  PetscBool      ilu = (PetscBool)(kind == MAT_FACTOR_ILU), named;
  MatFactorError error[2];
  MatSolverType  package;
  MatFactorInfo  info;
  char           where[128];
  IS             row, column;
  Mat            A, B, F, G;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-mat_spmv_build_after", &after, NULL));
  before = (after + 3) / 4;
  PetscCall(PetscSNPrintf(where, sizeof(where), "%s(%" PetscInt_FMT ") %s shift %s n %" PetscInt_FMT " dofs %" PetscInt_FMT,
                          MatFactorTypes[kind], levels, ordering, MatFactorShiftTypes[shift], c->n, c->dofs));
  PetscCall(Create(PETSC_COMM_SELF, c, type, &A));
  PetscCall(Create(PETSC_COMM_SELF, c, MATSEQAIJ, &B));
  PetscCall(Fill(c, 1, A));
  PetscCall(Fill(c, 1, B));
  PetscCall(MatGetFactor(A, NULL, kind, &F));
  PetscCall(MatGetFactor(B, MATSOLVERPETSC, kind, &G));
  PetscCall(MatFactorGetSolverType(F, &package));
  PetscCall(PetscStrcmp(package, MATSOLVERPETSCSPMV, &named));
  PetscCall(Fact(named, "the package is found without its name", where));
  PetscCall(MatGetOrdering(B, ordering, &row, &column));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels        = levels;
  info.fill          = 2;
  info.shifttype     = shift;
  info.shiftamount   = shift == MAT_SHIFT_NONE ? 0 : 1e-3;
  info.diagonal_fill = 1;
  info.zeropivot     = 1e-12;
  PetscCall(ilu ? MatILUFactorSymbolic(F, A, row, column, &info) : MatICCFactorSymbolic(F, A, row, &info));
  PetscCall(ilu ? MatILUFactorSymbolic(G, B, row, column, &info) : MatICCFactorSymbolic(G, B, row, &info));
  for (PetscInt round = 0; round < 3; round++) {
    PetscCall((ilu ? MatLUFactorNumeric : MatCholeskyFactorNumeric)(F, A, &info));
    PetscCall((ilu ? MatLUFactorNumeric : MatCholeskyFactorNumeric)(G, B, &info));
    PetscCall(MatFactorGetError(F, &error[0]));
    PetscCall(MatFactorGetError(G, &error[1]));
    PetscCall(Fact((PetscBool)(error[0] == error[1]), "the same error", where));
    if (!error[1]) PetscCall(Solves(F, G, round ? 0 : before, (PetscBool)!ilu, where));
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

int main(int argc, char **argv)
{
  const char *orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  char        type[64]    = MATSPMV, sequential[128];
  PetscInt    n           = 120;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscSNPrintf(sequential, sizeof(sequential), "%s%s", MATSEQAIJ, type));
  for (int dofs = 1; dofs < 5; dofs++) {
    for (int o = 0; o < 3; o++) {
      for (PetscInt levels = 0; levels < 3; levels++) {
        Pattern c = {n + dofs, dofs, levels, PETSC_FALSE, PETSC_FALSE};

        PetscCall(Factor(sequential, MAT_FACTOR_ILU, orderings[o], levels, MAT_SHIFT_NONE, &c));
        c.symmetric = PETSC_TRUE;
        PetscCall(Factor(sequential, MAT_FACTOR_ICC, orderings[o], levels, MAT_SHIFT_NONE, &c));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " facts wrong\n", failures));
  if (worst > 1e-12) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "worst %g\n", (double)worst));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test:
    suffix: solves
    args: -type spmv

TEST*/
