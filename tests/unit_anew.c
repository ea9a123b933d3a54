static const char help[] = "The choice between PETSc's sweeps and solves and ours is made anew as their number grows: a build "
                           "pays only after many of them.\n\n";

#include "spmvtest.h"
#include "host/machine.h"
#include "mat/interface/matfactor.h"

#define EDGE   24
#define ROWS   (EDGE * EDGE)
#define PASSES 400
#define FEW    60 /* passes that no build pays in */

/* Points of a stencil on a grid whose points are numbered at random: short rows, PETSc's kernels are nearly as fast. Of complex
   numbers five are too few: ours are estimated to gain a fourteenth, which is not enough */
#define POINTS (PetscDefined(USE_COMPLEX) ? 7 : 5)

static PetscErrorCode Create(MatType type, Mat *A)
{
  static const int step[][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};
  PetscInt         number[ROWS];
  uint64_t         x = 12345;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ROWS; k++) number[k] = k;
  for (PetscInt k = ROWS - 1; k > 0; k--) {
    PetscInt other, kept = number[k];

    x             = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    other         = (PetscInt)((x >> 33) % (uint64_t)(k + 1));
    number[k]     = number[other];
    number[other] = kept;
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, POINTS, NULL));
  for (PetscInt r = 0; r < ROWS; r++) {
    for (int k = 0; k < POINTS; k++) {
      const PetscInt i = r / EDGE + step[k][0], j = r % EDGE + step[k][1];

      if (i < 0 || i >= EDGE || j < 0 || j >= EDGE) continue;
      PetscCall(MatSetValue(*A, number[r], number[i * EDGE + j], k ? -1 : POINTS - 0.5, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(Mat A, Mat *F)
{
  MatFactorInfo info;
  IS            row, column;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &column));
  PetscCall(MatGetFactor(A, NULL, MAT_FACTOR_ILU, F));
  PetscCall(MatILUFactorSymbolic(*F, A, row, column, &info));
  PetscCall(MatLUFactorNumeric(*F, A, &info));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same(Vec x, Vec y, const char what[], int pass)
{
  PetscReal error, norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_INFINITY, &error));
  PetscCheck(error <= 1e3 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %d is off by %g of %g", what, pass,
             (double)error, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After `pass` passes: PETSc's serve while there were few, ours in the end, and what was built once stays */
static PetscErrorCode Served(const SpmvTriangles *t, const SpmvTriangles **had, const char what[], int pass)
{
  PetscFunctionBegin;
  PetscCheck(!t || pass > FEW, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: ours serve after %d", what, pass);
  PetscCheck(t || pass < PASSES, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: PETSc's serve after %d", what, pass);
  PetscCheck(!*had || t == *had, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: other triangles after %d", what, pass);
  *had = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const MatSORType     sweep  = (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS);
  const SpmvTriangles *sweeps = NULL, *solves = NULL;
  SpmvMachine          zen4;
  SpmvFactor          *f;
  Mat                  A, R, F, G;
  Vec                  b, x, y;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  SpmvMachineBuiltin((SpmvIsa)(SPMV_ISA_COUNT - 1), &(SpmvCaches){{32768, 1048576, 33554432}, 16}, &zen4);
  for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) zen4.isa[isa] = 1;
  SpmvMachineSet(&zen4);
  PetscCall(Create(MATSPMV, &A));
  PetscCall(Create(MATSEQAIJ, &R));
  PetscCall(Factor(A, &F));
  PetscCall(Factor(R, &G));
  PetscCall(MatSpmvGetFactor(F, &f));
  PetscCall(MatCreateVecs(R, &b, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, NULL));
  for (int pass = 1; pass <= PASSES; pass++) {
    PetscCall(MatSOR(R, b, 1, sweep, 0, 1, 1, x));
    PetscCall(MatSOR(A, b, 1, sweep, 0, 1, 1, y));
    PetscCall(Same(x, y, "sweep", pass));
    PetscCall(Served(((SpmvShadow *)A->spptr)->seq.sweeps.serving.triangles, &sweeps, "sweeps", pass));
    PetscCall(MatSolve(G, b, x));
    PetscCall(MatSolve(F, b, y));
    PetscCall(Same(x, y, "solve", pass));
    PetscCall(Served(f->part[0].serving.triangles, &solves, "solves", pass));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&R));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
