static const char help[] =
  "PCILU with a type derived from AIJ: shifts, a type of the program's that reuses its constructor, solvers registered for the type.\n\
  -type <bccoo>  the type under test\n\n";

#include <petscspmv.h>
#include <petscksp.h>

static PetscInt failures, made; /* factors by the solver that is registered below */

static PetscErrorCode Fact(PetscBool holds, const char what[])
{
  PetscFunctionBegin;
  failures += !holds;
  if (!holds) PetscCall(PetscPrintf(PETSC_COMM_SELF, "wrong: %s\n", what));
  PetscFunctionReturn(0);
}

/* A band of three in 40 rows, with no pivot in some */
static PetscErrorCode Create(const char type[], Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, 40, 40, 40, 40));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, NULL));
  for (PetscInt i = 0; i < 40; i++) {
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(40, i + 2); j++)
      PetscCall(MatSetValue(*A, i, j, i == j ? (i % 9 ? 4 : 0) : -1 - i % 2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* What a PC makes of a vector, by a package or, NULL, by the one that it finds; it has been of another type before */
static PetscErrorCode Apply(const char pctype[], MatFactorShiftType shift, const char package[], const char found[], Mat A, Vec y)
{
  MatSolverType      name;
  PetscBool          same;
  MatFactorShiftType now;
  PC                 pc;
  Vec                x;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(y, &x));
  PetscCall(VecSet(x, 1));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  for (int k = 0; k < 2; k++) {
    PetscCall(PCSetType(pc, k ? pctype : PCILU));
    PetscCall(PCSetType(pc, k ? pctype : PCLU));
  }
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetShiftType(pc, shift));
  if (package) PetscCall(PCFactorSetMatSolverType(pc, package));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetShiftType(pc, &now));
  PetscCall(Fact((PetscBool)(now == shift), "the shift is another after PCSetUp()"));
  PetscCall(PCFactorGetMatSolverType(pc, &name));
  PetscCall(PetscStrcmp(name, found, &same));
  PetscCall(Fact(same, "another package than expected"));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* A type of the program's own: PCILU by another name */
static PetscErrorCode PCCreate_Mine(PC pc)
{
  PetscErrorCode (*create)(PC);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, PCILU, &create));
  PetscCall((*create)(pc));
  PetscFunctionReturn(0);
}

/* The same for a coloring */
static PetscErrorCode MatColoringCreate_Mine(MatColoring mc)
{
  PetscErrorCode (*create)(MatColoring);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatColoringList, MATCOLORINGGREEDY, &create));
  PetscCall((*create)(mc));
  PetscFunctionReturn(0);
}

static PetscErrorCode Color(Mat A, const char type[], PetscInt *colors)
{
  MatColoring mc;
  ISColoring  coloring;

  PetscFunctionBegin;
  PetscCall(MatColoringCreate(A, &mc));
  PetscCall(MatColoringSetType(mc, type));
  PetscCall(MatColoringApply(mc, &coloring));
  PetscCall(ISColoringGetColors(coloring, NULL, colors, NULL));
  PetscCall(ISColoringDestroy(&coloring));
  PetscCall(MatColoringDestroy(&mc));
  PetscFunctionReturn(0);
}

/* A package of solvers, by PETSc's own */
static PetscErrorCode MatGetFactor_Mine(Mat A, MatFactorType type, Mat *F)
{
  PetscFunctionBegin;
  made++;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, type, F));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const MatFactorShiftType shifts[] = {MAT_SHIFT_INBLOCKS, MAT_SHIFT_NONZERO};
  char                     type[64] = MATBCCOO, sequential[128];
  PetscInt                 colors[2];
  PetscBool                equal;
  Mat                      A, B;
  Vec                      x, y;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PCRegister("mine", PCCreate_Mine));
  PetscCall(MatColoringRegister("mine", MatColoringCreate_Mine));
  PetscCall(Create(type, &A));
  PetscCall(Create(MATAIJ, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shifts); k++) {
    PetscCall(Apply(PCILU, shifts[k], NULL, MATSOLVERPETSC, B, y));
    PetscCall(Apply(PCILU, shifts[k], NULL, MATSOLVERPETSCSPMV, A, x));
    PetscCall(VecEqual(x, y, &equal));
    PetscCall(Fact(equal, MatFactorShiftTypes[shifts[k]]));
    PetscCall(Apply("mine", shifts[k], NULL, MATSOLVERPETSCSPMV, A, x));
    PetscCall(VecEqual(x, y, &equal));
    PetscCall(Fact(equal, "a type that reuses PCILU's constructor"));
  }
  PetscCall(Color(A, MATCOLORINGGREEDY, &colors[0]));
  PetscCall(Color(A, "mine", &colors[1]));
  PetscCall(Fact((PetscBool)(colors[0] == colors[1]), "a type that reuses the constructor of a coloring"));
  PetscCall(PetscSNPrintf(sequential, sizeof(sequential), "%s%s", MATSEQAIJ, type));
  PetscCall(MatSolverTypeRegister("mine", sequential, MAT_FACTOR_ILU, MatGetFactor_Mine));
  PetscCall(Apply(PCILU, MAT_SHIFT_INBLOCKS, "mine", "mine", A, x));
  PetscCall(Fact((PetscBool)(made > 0), "PCILU finds a solver that is registered for the type"));
  made = 0;
  PetscCall(Apply(PCILU, MAT_SHIFT_INBLOCKS, NULL, MATSOLVERPETSCSPMV, A, x));
  PetscCall(Fact((PetscBool)(made == 0), "without a name it takes the first, which is ours"));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shifts); k++)
    PetscCall(Apply(PCILU, shifts[k], MATSOLVERPETSC, MATSOLVERPETSC, A, x));
  PetscCall(Apply(PCILU, MAT_SHIFT_INBLOCKS, MATSOLVERPETSCSPMV, MATSOLVERPETSCSPMV, B, y));
  PetscCall(Apply(PCILU, MAT_SHIFT_INBLOCKS, NULL, MATSOLVERPETSC, B, y));
  PetscCall(Apply(PCILU, MAT_SHIFT_INBLOCKS, "mine", "mine", A, x));
  PetscCall(VecEqual(x, y, &equal));
  PetscCall(Fact(equal, "the solver that is registered"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " facts wrong\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  # PETSc's ILU(0) copies A's list of functions, whose names the harness of newer releases has printed

  test:
    filter: grep -v "name: MatSpmv\|_anytype_C"
    args: -type {{bccoo cmrs csradaptive pmf sbccoo tpspmv spmv}}

TEST*/
