static const char help[] =
  "Sweeps over grids with constant coefficients: slices with the same values share them, as long as they are the same.\n\n";

#include "spmvtest.h"
#include "host/triangles/slices.h"

#define EDGE 42
#define ROWS (EDGE * EDGE * EDGE)

/* Sets the values of the 7-point stencil: of one material, of two, or all different */
static PetscErrorCode Fill(Mat A, int materials)
{
  const PetscInt step[] = {-EDGE * EDGE, -EDGE, -1, 1, EDGE, EDGE * EDGE};

  PetscFunctionBegin;
  for (PetscInt r = 0; r < ROWS; r++) {
    const PetscInt at[] = {r / (EDGE * EDGE), r / EDGE % EDGE, r % EDGE};
    PetscReal      k    = materials == 2 && at[0] < EDGE / 3 ? 3.7 : 1.3;

    if (!materials) k = 2 + PetscSinReal((PetscReal)r);
    PetscCall(MatSetValue(A, r, r, 6.1 * k, INSERT_VALUES));
    for (int s = 0; s < 6; s++) {
      const int axis = s < 3 ? s : 5 - s;

      if (s < 3 ? at[axis] > 0 : at[axis] < EDGE - 1) PetscCall(MatSetValue(A, r, r + step[s], -k, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps of all kinds are those of R, which is in aij; whether slices share values is as expected */
static PetscErrorCode Check(Mat A, Mat R, const char what[], PetscBool shared)
{
  static const int         kinds[] = {SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, SOR_LOCAL_FORWARD_SWEEP,
                                      SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP};
  const SpmvTriangles     *t;
  const SpmvSlicesStorage *storage;
  PetscReal                error, norm;
  Vec                      b, x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(R, &b, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    for (PetscInt its = 1; its < 3; its++) {
      PetscCall(VecSet(x, 0.5));
      PetscCall(VecSet(y, 0.5));
      PetscCall(MatSOR(R, b, 1.1, (MatSORType)kinds[k], 0, its, 1, x));
      PetscCall(MatSOR(A, b, 1.1, (MatSORType)kinds[k], 0, its, 1, y));
      PetscCall(VecNorm(x, NORM_INFINITY, &norm));
      PetscCall(VecAXPY(y, -1, x));
      PetscCall(VecNorm(y, NORM_INFINITY, &error));
      t = ((SpmvShadow *)A->spptr)->seq.sweeps.serving.triangles;
      PetscCheck(t && t->shape == &SpmvShape_slices, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no triangles by slices", what);
      PetscCheck(error <= (SpmvTrianglesAreFloats(t) ? 1e-6 : 1e3 * PETSC_MACHINE_EPSILON) * norm, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "%s: sweep %d is off by %g of %g", what, (int)k, (double)error, (double)norm);
    }
  }
  storage = (const SpmvSlicesStorage *)t->storage;
  for (int side = 0; side < 2; side++) {
    const SpmvSlicesTriangle *h      = &storage->triangle[side];
    const PetscInt            slices = SpmvSlicesCount(ROWS);
    PetscInt                  again  = 0;

    for (PetscInt z = 0; z < slices; z++) again += h->slice[z].again;
    PetscCheck(shared ? h->nagain && 4 * again > slices : !h->nagain && !again, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %d of %d slices of triangle %d share values", what, (int)again, (int)slices, side);
    PetscCheck(shared == (h->nvalue < 2 * ROWS), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %zu values of triangle %d", what,
               h->nvalue, side);
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    int         materials;
    const char *what;
  } steps[] = {
    {1, "one material"},       {0, "all values differ"},        {2, "two materials"},
    {1, "one material again"}, {0, "all values differ, again"},
  };
  Mat         A, R;
  SpmvMachine machine;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  machine = *SpmvMachineGet();
  for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) machine.isa[isa] = 1; /* slices are the fastest with each */
  SpmvMachineSet(&machine);
  PetscCall(Create(MATSPMV, &A));
  PetscCall(Create(MATSEQAIJ, &R));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(steps); k++) {
    PetscCall(Fill(A, steps[k].materials));
    PetscCall(Fill(R, steps[k].materials));
    PetscCall(Check(A, R, steps[k].what, (PetscBool)(steps[k].materials > 0)));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&R));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_build_after 0
    output_file: output/unit_again.out
    test:
      suffix: isa
      args: -mat_spmv_isa {{scalar avx2 auto}}
    test:
      suffix: float
      requires: double !complex
      args: -mat_spmv_sor_values float

TEST*/
