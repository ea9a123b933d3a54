static const char help[] = "Products on a device through a Mat: the four of them, new values, new patterns, what runs where.\n\
  -type <bccoo> - of the Mat\n\
  -errors - plans that are refused, by type\n\
  -host   - vectors of the host, on one process\n\n";

#include "devicetest.h"

/* A block tridiagonal matrix with blocks of 3 x 3, a full row, and an empty row on each process */
static PetscErrorCode Create(MatType type, PetscInt far, Mat *A)
{
  PetscInt  start, end, N;
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-host", &host));
  if (host) PetscCall(MatSetVecType(*A, VECSEQ));
  PetscCall(MatSetSizes(*A, 300, 300, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  PetscCall(MatGetSize(*A, &N, NULL));
  for (PetscInt i = start; i < end; i++) {
    if (i == start + 7) continue;
    for (PetscInt j = PetscMax(0, i / 3 * 3 - 3); j < PetscMin(N, i / 3 * 3 + 6); j++)
      PetscCall(MatSetValue(*A, i, j, 1 + PetscSinReal((PetscReal)(i + 3 * j)), INSERT_VALUES));
    if (i == start + far) {
      for (PetscInt j = 0; j < N; j++) PetscCall(MatSetValue(*A, i, j, PetscCosReal((PetscReal)j), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The four products, three with y = z as well, against AIJ's */
static PetscErrorCode Compare(Mat A, Mat B)
{
  Vec       x, y, z[2];
  PetscReal norm, difference;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(y, &z[k]));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(VecScale(x, 2)); /* then only the device has them, if it has room */
  PetscCall(VecScale(y, 2));
  for (int product = 0; product < 6; product++) {
    for (int k = 0; k < 2; k++) {
      Mat M = k ? B : A;

      if (product == 2 || product == 5) PetscCall(VecCopy(y, z[k]));
      else PetscCall(VecSet(z[k], NAN));
      if (product == 0) PetscCall(MatMult(M, x, z[k]));
      if (product == 1) PetscCall(MatMultAdd(M, x, y, z[k]));
      if (product == 2) PetscCall(MatMultAdd(M, x, z[k], z[k]));
      if (product == 3) PetscCall(MatMultTranspose(M, x, z[k]));
      if (product == 4) PetscCall(MatMultTransposeAdd(M, x, y, z[k]));
      if (product == 5) PetscCall(MatMultTransposeAdd(M, x, z[k], z[k]));
    }
    PetscCall(VecNorm(z[1], NORM_2, &norm));
    PetscCall(VecAXPY(z[0], -1, z[1]));
    PetscCall(VecNorm(z[0], NORM_2, &difference));
    PetscCheck(difference <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "product %d differs from AIJ's by %g", product, (double)(difference / norm));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&z[k]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const char title[], Mat A)
{
  PetscErrorCode (*getplan)(Mat, char[], size_t), (*getcounts)(Mat, SpmvCounts *);
  SpmvCounts counts;
  char       plan[512];
  PetscBool  device;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetPlan_C", &getplan));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetCounts_C", &getcounts));
  PetscCall((*getplan)(A, plan, sizeof(plan)));
  PetscCall((*getcounts)(A, &counts));
  device = (PetscBool)(strstr(plan, "device=") != NULL);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s: %s, builds %" PetscInt64_FMT ", refreshes %" PetscInt64_FMT ", products %" PetscInt64_FMT
                        ", by AIJ's kernel %" PetscInt64_FMT "\n",
                        title, device ? "device" : "host", counts.builds, counts.refreshes, counts.products,
                        counts.deferred + counts.fallbacks));
  PetscFunctionReturn(0);
}

/* Prints the message of an error, as far as its remedy, instead of a stack */
static PetscErrorCode Refused(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType p,
                              const char *message, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL && !PetscGlobalRank)
    printf("refused: ... %s\n", strchr(message, ';') ? strchr(message, ';') : message);
  (void)comm, (void)line, (void)function, (void)file, (void)ctx;
  return n;
}

/* A product under an option that it must refuse; the Mat still works without it */
static PetscErrorCode Refuse(Mat A, const char options[], const char clear[][40], int n)
{
  PetscErrorCode ierr;
  Vec            x, y;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(PetscPushErrorHandler(Refused, NULL));
  ierr = MatMult(A, x, y);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was not refused", options);
  for (int k = 0; k < n; k++) PetscCall(PetscOptionsClearValue(NULL, clear[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* Plans of bccoo or pmf that are refused, and one that is not */
static PetscErrorCode Errors(const char type[], Mat A, Mat B)
{
  PetscFunctionBegin;
  if (!strcmp(type, MATBCCOO)) {
    PetscCall(Refuse(A, "-mat_bccoo_device_strategy 2 -mat_bccoo_device_transpose online",
                     (const char[][40]){"-mat_bccoo_device_strategy"}, 1));
    PetscCall(
      Refuse(A, "-mat_bccoo_device_strategy 1 -mat_bccoo_device_cache 2", (const char[][40]){"-mat_bccoo_device_cache"}, 1));
    PetscCall(
      Refuse(A,
             "-mat_bccoo_columns int32 -mat_bccoo_device_transpose offline -mat_bccoo_device_workgroup 512 -mat_bccoo_tile 1024 "
             "-mat_bccoo_device_cache 1",
             (const char[][40]){"-mat_bccoo_tile"}, 1));
    /* over 2 MiB of local memory: PoCL takes the size of a cache for it */
    PetscCall(Refuse(
      A, "-mat_bccoo_tile 64 -mat_bccoo_block_height 8 -mat_bccoo_block_width 1 -mat_bccoo_device_transpose online",
      (const char[][40]){"-mat_bccoo_device_transpose", "-mat_bccoo_tile", "-mat_bccoo_block_height", "-mat_bccoo_block_width"},
      4));
    PetscCall(PetscOptionsInsertString(NULL, "-mat_bccoo_tile 8 -mat_bccoo_device_workgroup 64"));
  } else {
    PetscCall(Refuse(A, "-mat_pmf_device_parts 3 -mat_pmf_powers 5,1", (const char[][40]){"-mat_pmf_powers"}, 1));
    PetscCall(PetscOptionsInsertString(NULL, "-mat_pmf_device_parts 1 -mat_pmf_powers 5,1"));
  }
  PetscCall(MatSetFromOptions(A));
  PetscCall(Compare(A, B));
  PetscCall(Report("after the errors", A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A, B;
  char      type[64] = MATBCCOO;
  PetscBool errors, missing;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) goto end;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(Create(type, 11, &A));
  PetscCall(Create(MATAIJ, 11, &B));
  PetscCall(Compare(A, B));
  PetscCall(Report("first", A));
  PetscCall(MatScale(A, 3)); /* new values */
  PetscCall(MatScale(B, 3));
  PetscCall(Compare(A, B));
  PetscCall(Report("new values", A));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(Create(type, 200, &A)); /* another pattern, the same kernels */
  PetscCall(Create(MATAIJ, 200, &B));
  PetscCall(Compare(A, B));
  PetscCall(Report("another", A));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-errors", &errors));
  if (errors) PetscCall(Errors(type, A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
end:
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -mat_spmv_backend device -mat_spmv_build_after 0 -spmv_device opencl -skip_without_device
    timeoutfactor: 3
    test:
      suffix: 1
      nsize: {{1 2}separate output}
      args: -type {{DEVICE_FORMATS}}
    test: # the host has some rows: by powers measured, with threads for it and without
      suffix: shared
      args: -type pmf -mat_pmf_device_parts {{1 2}} -mat_spmv_threads 2 -mat_pmf_partition {{pmf nnz diagonal}}
    test:
      suffix: shared_long
      output_file: output/mat_device_shared.out
      args: -type pmf -mat_pmf_device_parts {{1 2}} -mat_spmv_threads {{1 2 3}} -mat_pmf_partition {{pmf nnz diagonal}}
    test: # by powers given
      suffix: shared_powers
      nsize: 2
      args: -type pmf -mat_pmf_device_parts 1 -mat_spmv_threads 3 -mat_pmf_powers 2,1,1 -mat_pmf_window 64 -mat_pmf_device_long 32
    test: # the rows of the device fit, their results do not: the host's are not touched
      suffix: shared_vectors
      requires: !complex
      args: -type pmf -mat_pmf_device_parts 1 -mat_spmv_threads 2 -mat_pmf_powers 3,1 -mat_pmf_device_cut no -spmv_device_memory 26500
      filter: sed -e "s,Warning: .* has no room,Warning: the device has no room," -e "s,the [0-9]* bytes,the bytes,"
    test: # the transpose has what room the matrix leaves: threads of the host, or the one that drives the device, have the rest
      suffix: cut
      requires: !complex
      args: -type pmf -spmv_device_memory 70000 -mat_spmv_threads {{1 3}} -mat_pmf_device_parts {{all 1}}
      filter: grep -v "has no room for a vector"
    test: # powers cannot be measured
      suffix: shared_full
      args: -type pmf -mat_pmf_device_parts 1 -spmv_device_memory 1000
      filter: sed -e "s,Warning: .* has no room,Warning: the device has no room," -e "s,the [0-9]* bytes,the bytes,"
    test: # tiles, slices, pieces, and x in local memory
      suffix: tiles
      nsize: 2
      args: -type tpspmv -mat_tpspmv_tile 16 -mat_tpspmv_slice 64 -mat_tpspmv_long 8 -mat_tpspmv_remove yes -mat_tpspmv_device_stage {{yes no}} -mat_tpspmv_device_workgroup 32
    test: # the tuner's type: by estimate one of the formats that have kernels, or AIJ's own if none has
      suffix: tuner
      args: -type spmv -mat_spmv_tune_formats {{bccoo,aij pmf,cmrs aij}separate output}
    test: # by measuring: which one depends on the clock, the products do not
      suffix: measured
      args: -type spmv -mat_spmv_tune measure -mat_spmv_tune_formats csradaptive,pmf,aij -mat_spmv_tune_seconds 1 -mat_spmv_wisdom none
    test:
      suffix: measured_long
      output_file: output/mat_device_measured.out
      args: -type spmv -mat_spmv_tune {{measure patient}} -mat_spmv_tune_formats csradaptive,pmf,aij -mat_spmv_tune_seconds 2 -mat_spmv_wisdom none
    test: # slices; adjacent synchronisation is for GPUs
      suffix: knobs
      requires: !complex
      args: -mat_bccoo_slices 4 -mat_bccoo_device_carry kernel -mat_bccoo_tile 8 -mat_bccoo_device_workgroup 32 -mat_bccoo_block_height 3 -mat_bccoo_block_width 2
    test: # the device converts the matrix, its transpose and new values
      suffix: convert
      args: -mat_bccoo_device_convert device -mat_bccoo_block_height {{1 3}} -mat_bccoo_block_width 2 -mat_bccoo_slices {{1 2}}
    test: # the same of tiles without empty columns
      suffix: convert_tpspmv
      args: -type tpspmv -mat_tpspmv_device_convert device -mat_tpspmv_tile {{16 0}} -mat_tpspmv_long 8 -mat_tpspmv_remove yes
    test: # and of slices, with long rows
      suffix: convert_pmf
      args: -type pmf -mat_pmf_device_convert device -mat_pmf_device_lanes {{1 4}} -mat_pmf_device_long 32
    test: # padded strips
      suffix: padded
      args: -type cmrs -mat_cmrs_device_order padded -mat_cmrs_device_workgroup 64
    test: # rows that are shared by work groups
      suffix: shared_rows
      args: -type csradaptive -mat_csradaptive_device_nnz_per_wg 64 -mat_csradaptive_device_nnz_multiplier 1 -mat_csradaptive_device_num_rows_stream 4
    test: # the matrix and its vectors fit, its transpose does not
      suffix: transpose
      requires: !complex
      args: -host -spmv_device_memory 60000 -mat_spmv_tune off -mat_bccoo_block_height 1 -mat_bccoo_block_width 1
      filter: sed -e "s,Warning: .* has no room,Warning: the device has no room," -e "s,the [0-9]* bytes,the bytes,"
    test: # the matrix fits, its vectors do not (bytes of real numbers, here and above)
      suffix: vectors
      requires: !complex
      args: -host -spmv_device_memory 36000 -mat_spmv_tune off -mat_bccoo_block_height 1 -mat_bccoo_block_width 1
      filter: sed -e "s,Warning: .* has no room,Warning: the device has no room," -e "s,the [0-9]* bytes,the bytes,"
    test: # nothing fits
      suffix: full
      args: -host -spmv_device_memory 1000
      filter: sed -e "s,Warning: .* has no room,Warning: the device has no room," -e "s,the [0-9]* bytes,the bytes,"
    test: # of vectors, matrix, packs and transpose some fit: nothing is lost
      suffix: some_fits
      args: -mat_bccoo_block_height 1 -mat_bccoo_block_width 1 -spmv_device_memory {{9000 36000 44000 54000 80000 101000}}
      filter: grep -v "^Warning" | sed -e "s|: .*builds.*||"
    test:
      suffix: some_fits_long
      output_file: output/mat_device_some_fits.out
      nsize: {{1 2}}
      args: -mat_bccoo_block_height 1 -mat_bccoo_block_width 1 -spmv_device_memory {{1000 9000 20000 36000 41000 44000 47000 54000 70000 80000 90000 101000 116000}}
      filter: grep -v "^Warning" | sed -e "s|: .*builds.*||"
    test:
      suffix: errors
      args: -errors
      filter: grep -E "^(first|new|another|refused|after|SKIP)"
    test:
      suffix: errors_pmf
      args: -errors -type pmf
      filter: grep -E "^(first|new|another|refused|after|SKIP)"

  test:
    suffix: none
    args: -mat_spmv_backend device -mat_spmv_build_after 0 -spmv_device none

TEST*/
