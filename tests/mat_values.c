static const char help[] =
  "A Mat whose values become few, many and few again: products are right, and storages as short as the values let them be.\n\
  -type <pmf>  the type under test\n\n";

#include <petscspmv.h>

static PetscInt failures;

/* Value k of an entry: one of three, or any */
static PetscScalar Value(PetscInt k, PetscBool few)
{
  return few ? (PetscScalar)(k % 3 - 5) : (PetscScalar)PetscSinReal((PetscReal)k + 1);
}

/* Five diagonals of a matrix with wraparound: each process its rows */
static PetscErrorCode Entries(Mat M, PetscBool few, PetscInt i[], PetscInt j[], PetscScalar v[])
{
  PetscInt start, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(M, &n, NULL));
  PetscCall(MatGetOwnershipRange(M, &start, &end));
  for (PetscInt r = start, e = 0; r < end; r++) {
    for (PetscInt k = -2; k <= 2; k++, e++) {
      i[e] = r;
      j[e] = (r + n + (k == 2 ? 30 : k)) % n;
      v[e] = Value(5 * r + k, few);
    }
  }
  PetscFunctionReturn(0);
}

/* By MatSetValues(), or, once there is a COO format, by that */
static PetscErrorCode Fill(Mat M[2], PetscBool few, PetscBool coo)
{
  PetscInt     m, *i, *j;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(M[0], &m, NULL));
  PetscCall(PetscMalloc3(5 * m, &i, 5 * m, &j, 5 * m, &v));
  for (int k = 0; k < 2; k++) {
    PetscCall(Entries(M[k], few, i, j, v));
    if (coo) PetscCall(MatSetValuesCOO(M[k], v, INSERT_VALUES));
    for (PetscInt e = 0; e < 5 * m && !coo; e++) PetscCall(MatSetValues(M[k], 1, &i[e], 1, &j[e], &v[e], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(M[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(0);
}

static PetscErrorCode PreallocateCOO(Mat M[2])
{
  PetscInt     m, *i, *j;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(M[0], &m, NULL));
  PetscCall(PetscMalloc3(5 * m, &i, 5 * m, &j, 5 * m, &v));
  for (int k = 0; k < 2; k++) {
    PetscCall(Entries(M[k], PETSC_TRUE, i, j, v));
    PetscCall(MatSetPreallocationCOO(M[k], 5 * m, i, j));
  }
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(0);
}

/* Products of both, M[1] being AIJ, and the bytes that one reads */
static PetscErrorCode Check(Mat M[2], const char what[], PetscLogDouble *bytes)
{
  PetscErrorCode (*getbytes)(Mat, PetscLogDouble *);
  PetscLogDouble own;
  PetscReal      error, size;
  Vec            x, y, z;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(M[0], &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  for (int transposed = 0; transposed < 2; transposed++) {
    for (int k = 0; k < 2; k++) PetscCall((transposed ? MatMultTranspose : MatMult)(M[k], x, k ? z : y));
    PetscCall(VecNorm(z, NORM_INFINITY, &size));
    PetscCall(VecAXPY(y, -1, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &error));
    if (error <= 100 * PETSC_MACHINE_EPSILON * size) continue;
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: product differs from AIJ's by %g of %g\n", what, (double)error, (double)size));
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)M[0], "MatSpmvGetBytes_C", &getbytes));
  PetscCheck(getbytes, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "no MatSpmvGetBytes_C: is the library loaded?");
  PetscCall((*getbytes)(M[0], &own));
  PetscCallMPI(MPI_Allreduce(&own, bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* few: the bytes of a storage with few values; any others are 7 bytes more for nearly each entry: an off-diagonal block has few
   anyway */
static PetscErrorCode Expect(Mat M[2], const char what[], PetscBool few, PetscLogDouble *least)
{
  PetscLogDouble bytes;
  PetscInt       m;

  PetscFunctionBegin;
  PetscCall(Check(M, what, &bytes));
  PetscCall(MatGetSize(M[0], &m, NULL));
  if (*least == 0) *least = bytes;
  if (few ? bytes == *least : bytes >= *least + 4.5 * (PetscLogDouble)m * (sizeof(PetscScalar) - 1)) PetscFunctionReturn(0);
  failures++;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g bytes, with few values %g\n", what, (double)bytes, (double)*least));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char           type[64] = MATPMF;
  Mat            M[2];
  PetscLogDouble least = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &M[k]));
    PetscCall(MatSetSizes(M[k], PETSC_DECIDE, PETSC_DECIDE, 300, 300));
    PetscCall(MatSetType(M[k], k ? MATAIJ : type));
    if (!k) PetscCall(MatSetFromOptions(M[k]));
    PetscCall(MatSetUp(M[k]));
  }
  for (PetscBool coo = PETSC_FALSE;; coo = PETSC_TRUE) {
    PetscCall(Fill(M, PETSC_TRUE, coo));
    PetscCall(Expect(M, "few", PETSC_TRUE, &least));
    PetscCall(Fill(M, PETSC_FALSE, coo));
    PetscCall(Expect(M, "many", PETSC_FALSE, &least));
    PetscCall(Fill(M, PETSC_TRUE, coo));
    PetscCall(Expect(M, "few again", PETSC_TRUE, &least));
    for (int k = 0; k < 2; k++) PetscCall(MatScale(M[k], PETSC_PI));
    PetscCall(Expect(M, "few, scaled", PETSC_TRUE, &least));
    if (coo) break;
    PetscCall(PreallocateCOO(M));
  }
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&M[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  testset:
    nsize: {{1 2}}
    args: -mat_spmv_build_after 0 -malloc_dump
    output_file: output/mat_states_1.out
    test:
      suffix: pmf
      args: -type pmf -mat_pmf_values coded
    test:
      suffix: threads
      args: -type pmf -mat_pmf_values coded -mat_spmv_threads 3
    test:
      suffix: bccoo
      args: -type bccoo -mat_bccoo_values coded -mat_spmv_threads {{1 2}} -mat_bccoo_bunch {{1 8}}
    test:
      suffix: tpspmv
      args: -type tpspmv -mat_tpspmv_values coded -mat_spmv_threads {{1 2}} -mat_tpspmv_tile {{0 16}}

TEST*/
