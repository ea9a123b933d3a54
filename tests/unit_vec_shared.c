static const char help[] =
  "Vectors of type accel that share entries with others: arrays placed, local vectors, subvectors, scatters, other types.\n\n";

#include "unitvec.h"
#include <petscdmda.h>

/* VecPlaceArray() and its kin, local vectors */
static PetscErrorCode Places(void)
{
  PetscScalar  mine[N], *fresh;
  Vec          x, w, host;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(Create(PETSC_COMM_SELF, N, VECACCEL, &w));
  PetscCall(VecSet(w, 7));
  for (int i = 0; i < N; i++) mine[i] = 1;
  PetscCall(VecPlaceArray(w, mine));
  PetscCall(VecScale(w, 3));
  PetscCall(VecResetArray(w));
  PetscCall(
    Fact((PetscBool)(mine[0] == (PetscScalar)3 && mine[N - 1] == (PetscScalar)3), "what kernels wrote to a placed array"));
  PetscCall(IsAll(w, 7, "a vector whose array was replaced for a while"));
  PetscCall(VecScale(w, 2));
  PetscCall(IsAll(w, 14, "and then written"));

  /* As PCBJACOBI has it: a vector without array that gets type, then places the arrays of others */
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, NULL, &host));
  PetscCall(VecSetType(host, VECACCEL));
  PetscCall(VecSet(x, 5));
  PetscCall(VecGetArray(x, &a));
  PetscCall(VecPlaceArray(host, a));
  PetscCall(VecAXPY(host, 2, w)); /* 33 */
  PetscCall(VecResetArray(host));
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(IsAll(x, 33, "the array of another vector, placed"));
  PetscCall(VecScale(x, 2));
  PetscCall(IsAll(x, 66, "and then written"));

  PetscCall(PetscMalloc1(N, &fresh));
  for (int i = 0; i < N; i++) fresh[i] = 8;
  PetscCall(VecScale(w, 2));
  PetscCall(VecReplaceArray(w, fresh));
  PetscCall(VecShift(w, 1));
  PetscCall(IsAll(w, 9, "VecReplaceArray()"));

  /* Local vectors: nothing moves */
  PetscCall(VecSet(x, 4));
  PetscCall(VecSet(w, 6));
  PetscCall(IsAll(w, 6, "w")); /* its own values come to the host, where they wait */
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecGetLocalVector(x, w));
  PetscCall(VecScale(w, 2));
  PetscCall(VecRestoreLocalVector(x, w));
  PetscCall(VecShift(x, 1));
  PetscCall(VecGetLocalVectorRead(x, w));
  PetscCall(VecDot(w, w, &mine[0]));
  PetscCall(VecRestoreLocalVectorRead(x, w));
  PetscCall(Moved(0, 0, 0, "local vectors"));
  PetscCall(Fact((PetscBool)(PetscAbsScalar(mine[0] - (PetscScalar)(81 * N)) < 1e-3), "a local vector read"));
  PetscCall(IsAll(x, 9, "a local vector written"));
  PetscCall(IsAll(w, 6, "the vector that was a local one"));
  PetscCall(VecShift(w, 1));
  PetscCall(IsAll(w, 7, "and then written"));

  /* A buffer that the local vector had to make, and one that was made on both sides */
  PetscCall(VecDestroy(&x));
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecGetLocalVector(x, w));
  PetscCall(VecShift(w, 3));
  PetscCall(VecRestoreLocalVector(x, w));
  PetscCall(IsAll(x, 3, "a buffer made by a local vector"));
  PetscCall(VecDestroy(&x));
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecGetLocalVectorRead(x, w));
  PetscCall(VecDot(w, w, &mine[0]));
  PetscCall(VecDot(x, x, &mine[1]));
  PetscCall(VecRestoreLocalVectorRead(x, w));
  PetscCall(VecShift(x, 2));
  PetscCall(IsAll(x, 2, "two buffers of one vector"));

  /* With a vector of another type, either way */
  PetscCall(VecDestroy(&host));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &host));
  PetscCall(VecGetLocalVector(x, host));
  PetscCall(VecShift(host, 1));
  PetscCall(VecRestoreLocalVector(x, host));
  PetscCall(VecScale(x, 2));
  PetscCall(IsAll(x, 6, "a local vector on the host"));
  PetscCall(VecGetLocalVectorRead(x, host));
  PetscCall(IsAll(host, 6, "a local vector on the host, read"));
  PetscCall(VecRestoreLocalVectorRead(x, host));
  PetscCall(VecSet(host, 2));
  PetscCall(VecGetLocalVector(host, w));
  PetscCall(VecShift(w, 1));
  PetscCall(VecRestoreLocalVector(host, w));
  PetscCall(IsAll(host, 3, "a local vector on the device"));
  PetscCall(Moved(0, 0, 0, NULL));
  PetscCall(VecSet(w, 1));
  PetscCall(VecScale(w, 2));
  PetscCall(Moved(0, 0, 0, "a vector that was a local one is ready for kernels"));
  PetscCall(VecDestroy(&host));
  PetscCall(VecCreateLocalVector(x, &host));
  PetscCall(Fact(IsDevice(host), "VecCreateLocalVector()"));
  PetscCall(VecDestroy(&host));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

/* Subvectors, contiguous and not, changed and not */
static PetscErrorCode Parts(void)
{
  IS       is[2];
  Vec      x, part;
  PetscInt first;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_WORLD, N, VECACCEL, &x));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, N / 2, first + 10, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, N / 2, first, 2, &is[1]));
  for (int k = 0; k < 2; k++) {
    PetscScalar sum;

    PetscCall(VecSet(x, 1));
    PetscCall(Moved(0, 0, 0, NULL));
    PetscCall(VecGetSubVector(x, is[k], &part));
    PetscCall(VecScale(part, 4));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecShift(x, 1));
    if (!k) PetscCall(Moved(0, 0, 0, "a contiguous subvector"));
    PetscCall(VecSum(x, &sum));
    PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 2 + N / 2 * 5))) < 1e-3),
                   k ? "a subvector" : "a contiguous subvector"));
    PetscCall(VecGetSubVector(x, is[k], &part)); /* on the host */
    PetscCall(VecSetValue(part, k, 100, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(part));
    PetscCall(VecAssemblyEnd(part));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecSum(x, &sum));
    PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 2 + N / 2 * 5) + 95)) < 1e-3),
                   k ? "a subvector changed by the host" : "a contiguous subvector changed by the host"));
    PetscCall(VecShift(x, 1));
    PetscCall(VecSetValue(x, first, -1, ADD_VALUES)); /* x on the host only, its part on the device only */
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(VecGetSubVector(x, is[k], &part));
    PetscCall(VecShift(part, -1));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecSum(x, &sum));
    PetscCall(
      Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 3 + N / 2 * 5 - 1) + 95)) < 1e-3),
           k ? "a subvector put back into what is on the host" : "a contiguous subvector put back into what is on the host"));
    PetscCall(VecSetValue(x, first, 1, ADD_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(VecLockReadPush(x));
    PetscCall(VecGetSubVector(x, is[k], &part)); /* only read, as x must be */
    PetscCall(VecSum(part, &sum));
    PetscCall(
      Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(PetscGlobalSize * (N / 2 * 5) + 95)) < 1e-3), "a subvector read"));
    PetscCall(VecRestoreSubVector(x, is[k], &part));
    PetscCall(VecLockReadPop(x));
    PetscCall(ISDestroy(&is[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* Scatters, ghost points, files, nests, dense matrices, duplicates */
static PetscErrorCode Others(void)
{
  DM                 da;
  Vec                x, l, all, nest, parts[2], *many, column;
  VecScatter         scatter;
  PetscViewer        viewer;
  Mat                dense;
  PetscRandom        rand;
  const PetscScalar *a;
  PetscScalar        sum;
  PetscReal          largest;
  PetscInt           n;
  PetscBool          holds = PETSC_TRUE, ours;

  PetscFunctionBegin;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, N, 1, 1, NULL, &da));
  PetscCall(DMSetVecType(da, VECACCEL));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(DMCreateLocalVector(da, &l));
  PetscCall(Fact((PetscBool)(IsDevice(x) && IsDevice(l)), "vectors of a DM"));
  PetscCall(VecSet(x, 3));
  PetscCall(VecSet(l, -1));
  PetscCall(DMGlobalToLocal(da, x, INSERT_VALUES, l));
  PetscCall(IsAll(l, 3, "DMGlobalToLocal()"));
  PetscCall(VecScale(l, 2));
  PetscCall(DMLocalToGlobal(da, l, INSERT_VALUES, x));
  PetscCall(IsAll(x, 6, "DMLocalToGlobal()"));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDuplicate(x, &l)); /* with its DM, and PETSc's way to print it */
  PetscCall(Fact((PetscBool)(l->ops->view == x->ops->view), "a duplicate's operations"));
  PetscCall(VecScale(l, 1.5));
  PetscCall(VecDestroy(&l));

  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScale(x, 0.5));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(IsAll(all, 3, "VecScatter"));
  PetscCall(VecScale(all, 2));
  PetscCall(VecScatterBegin(scatter, all, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, all, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecShift(x, 1));
  PetscCall(IsAll(x, 7, "VecScatter, reverse"));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));

  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "vec.bin", FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecSet(x, 0));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "vec.bin", FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecShift(x, 1));
  PetscCall(IsAll(x, 8, "VecView() and VecLoad()"));

  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetInterval(rand, 2, 3));
  PetscCall(VecSetRandom(x, rand));
  PetscCall(VecShift(x, -2));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < n; i++) holds = (PetscBool)(holds && PetscRealPart(a[i]) >= 0 && PetscRealPart(a[i]) <= 1);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(Fact(holds, "VecSetRandom()"));
  PetscCall(PetscRandomDestroy(&rand));

  PetscCall(VecDuplicateVecs(x, 3, &many));
  PetscCall(VecSet(x, 1));
  for (int k = 0; k < 3; k++) PetscCall(VecSet(many[k], k + 1));
  PetscCall(VecMAXPY(x, 3, (PetscScalar[]){1, 10, 100}, many));
  PetscCall(IsAll(x, 322, "VecDuplicateVecs()"));
  PetscCall(VecDestroyVecs(3, &many));

  PetscCall(VecDuplicate(x, &parts[0]));
  PetscCall(VecDuplicate(x, &parts[1]));
  PetscCall(VecSet(parts[0], 2));
  PetscCall(VecSet(parts[1], 3));
  PetscCall(VecCreateNest(PETSC_COMM_WORLD, 2, NULL, parts, &nest));
  PetscCall(VecScale(nest, 2));
  PetscCall(VecSum(nest, &sum));
  PetscCall(Fact((PetscBool)(PetscAbsScalar(sum - (PetscScalar)(10 * N)) < 1e-3), "VECNEST"));
  PetscCall(IsAll(parts[1], 6, "parts of a nest"));
  PetscCall(VecDestroy(&nest));

  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 2, NULL, &dense));
  PetscCall(MatDenseGetColumnVecWrite(dense, 1, &column));
  PetscCall(VecCopy(parts[1], column));
  PetscCall(VecShift(column, 1));
  PetscCall(MatDenseRestoreColumnVecWrite(dense, 1, &column));
  PetscCall(MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetColumnVector(dense, parts[0], 1));
  PetscCall(VecShift(parts[0], 1));
  PetscCall(IsAll(parts[0], 8, "a column of a dense matrix"));
  PetscCall(MatDestroy(&dense));

  PetscCall(VecSet(parts[1], 4));
  PetscCall(VecScale(parts[1], 2));
  PetscCall(VecSetType(parts[1], VECACCEL)); /* as it is: VecSetFromOptions() once more, with -vec_type accel */
  PetscCall(VecShift(parts[1], 1));
  PetscCall(IsAll(parts[1], 9, "a type that was set again"));
  PetscCall(VecSetType(parts[0], VECSTANDARD)); /* to another type and back */
  PetscCall(VecSet(parts[0], 1));
  PetscCall(VecSetType(parts[0], VECACCEL));
  PetscCall(VecMax(parts[0], NULL, &largest)); /* 8 before it was of another type; VecSetType() before 3.20 makes it 0 */
  PetscCall(Fact((PetscBool)(largest < 2), "a type that was changed does not bring old values back"));
  PetscCall(VecSet(parts[0], 1));
  PetscCall(VecShift(parts[0], 1));
  PetscCall(IsAll(parts[0], 2, "a type that was changed"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)parts[0], &ours, VECSEQACCEL, VECMPIACCEL, ""));
  PetscCall(Fact(ours, "the name of a type"));
  PetscCall(VecDestroy(&parts[0]));
  PetscCall(VecDestroy(&parts[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscErrorCode (*const tests[])(void) = {Places, Parts, Others};
  int status;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(FactsOf(PETSC_STATIC_ARRAY_LENGTH(tests), tests, &status));
  PetscCall(PetscFinalize());
  return status;
}

/*TEST

  test:
    nsize: {{1 2 3}}
    timeoutfactor: 5

TEST*/
