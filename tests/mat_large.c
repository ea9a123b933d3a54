static const char help[] =
  "A block of many entries: the product, the transposed one and one that is added to, against sums of x.\n\n\
  -type T, -entries N (1e9 take 17 GB with 64-bit indices; docs/testing.md)\n\n";

#include <petscmat.h>
#include <petscspmv.h>

#define LENGTH 64 /* entries of a row, side by side, all 1 */

/* The first column of a row: rows go around the columns again and again, by steps that are no multiple of a vector */
static PetscInt64 First(PetscInt64 row, PetscInt64 columns)
{
  return row * 37 % (columns - LENGTH + 1);
}

static PetscScalar X(PetscInt64 k)
{
  return (PetscReal)(k % 11 - 3);
}

static PetscErrorCode Expect(const char what[], Vec y, const PetscReal right[], PetscReal factor)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt k = 0; k < n; k++) /* sums of integers, so that there is no rounding */
    PetscCheck(a[k] == (PetscScalar)(factor * right[k]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: entry %" PetscInt_FMT " is %g, not %g", what, k, (double)PetscRealPart(a[k]), (double)(factor * right[k]));
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char         type[64] = MATPMF;
  PetscReal    entries  = 64000;
  PetscInt64   rows, columns;
  PetscInt    *i, *j;
  PetscScalar *a, *values;
  PetscReal   *right, *across;
  SpmvCounts   counts;
  Mat          A;
  Vec          x, y, z, u, v;

  PetscErrorCode (*getcounts)(Mat, SpmvCounts *);

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-entries", &entries, NULL));
  rows    = (PetscInt64)entries / LENGTH;
  columns = PetscMax(LENGTH, rows / 4);
  PetscCheck(rows * LENGTH <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%g entries need a PETSc with 64-bit indices", (double)entries);
  PetscCall(PetscMalloc1(rows + 1, &i));
  PetscCall(PetscMalloc1(rows * LENGTH, &j));
  PetscCall(PetscMalloc1(rows * LENGTH, &a));
  for (PetscInt64 r = 0; r <= rows; r++) i[r] = (PetscInt)(r * LENGTH);
  for (PetscInt64 r = 0; r < rows; r++) {
    const PetscInt64 first = First(r, columns);

    for (PetscInt64 k = 0; k < LENGTH; k++) {
      j[r * LENGTH + k] = (PetscInt)(first + k);
      a[r * LENGTH + k] = 1;
    }
  }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)rows, (PetscInt)columns, i, j, a, &A));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &u));
  PetscCall(VecDuplicate(x, &v));
  PetscCall(PetscCalloc2(rows, &right, columns, &across));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt64 k = 0; k < columns; k++) values[k] = X(k);
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscCall(VecGetArrayWrite(u, &values));
  for (PetscInt64 r = 0; r < rows; r++) {
    const PetscInt64 first = First(r, columns);

    values[r] = X(r);
    for (PetscInt64 k = 0; k < LENGTH; k++) {
      right[r] += PetscRealPart(X(first + k));
      across[first + k] += PetscRealPart(X(r));
    }
  }
  PetscCall(VecRestoreArrayWrite(u, &values));
  PetscCall(MatMult(A, x, y));
  PetscCall(Expect("product", y, right, 1));
  PetscCall(MatMultAdd(A, x, y, z));
  PetscCall(Expect("product that is added", z, right, 2));
  PetscCall(MatMultTranspose(A, u, v));
  PetscCall(Expect("transposed product", v, across, 1));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetCounts_C", &getcounts));
  PetscCall((*getcounts)(A, &counts));
  PetscCheck(counts.products == 3 || !strcmp(type, "spmv"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d products are ours",
             (int)counts.products);
  PetscCall(PetscFree2(right, across));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(a));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -type {{FORMATS spmv}} -mat_spmv_build_after 0

TEST*/
