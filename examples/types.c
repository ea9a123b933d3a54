/*
  types.c - each type of ours on your matrix, against aij: how much faster

      ./types -f matrix.petsc -dll_append libpetscspmv.so

  The file is what any PETSc program writes with -mat_view binary:matrix.petsc. spmvbench measures with more care.
*/
static const char help[] = "Times products of a matrix from a file, by aij and by each type of petscspmv.\n\n";

#include <petscmat.h>
#include <petsctime.h>

#define PRODUCTS 50

/* The least seconds of a product, after those that come before a storage is built */
static PetscErrorCode Measure(Mat A, Vec x, Vec y, PetscLogDouble *least)
{
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  *least = PETSC_MAX_REAL;
  for (int k = 0; k < PRODUCTS; k++) {
    PetscCall(PetscTime(&begin));
    PetscCall(MatMult(A, x, y));
    PetscCall(PetscTime(&end));
    *least = PetscMin(*least, end - begin);
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static const char *const types[] = {"spmv", "bccoo", "cmrs", "csradaptive", "tpspmv", "pmf", "sbccoo"};
  char                     file[PETSC_MAX_PATH_LEN];
  PetscViewer              viewer;
  PetscBool                set;
  PetscLogDouble           aij, ours;
  PetscReal                norm, difference;
  Mat                      A, B;
  Vec                      x, y, z;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER,
             "Name a matrix: -f FILE, which -mat_view binary:FILE of a PETSc program writes");
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(Measure(A, x, y, &aij));
  PetscCall(VecNorm(y, NORM_2, &norm));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscCall(MatConvert(A, types[k], MAT_INITIAL_MATRIX, &B));
    PetscCall(Measure(B, x, z, &ours));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_2, &difference));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-11s %5.2fx as fast as aij, the same up to rounding: %s\n", types[k], aij / ours,
                          difference < 1e-12 * norm ? "yes" : "no"));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  return PetscFinalize();
}
