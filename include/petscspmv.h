/*
  petscspmv.h - matrix types with a faster matrix-vector product, for PETSc

  A program needs none of this: -dll_append <path>/libpetscspmv.so -mat_type bccoo is enough. This header is for programs
  that name the types in C, link the library instead of loading it, or read its counters.
*/
#pragma once
#include <petscmat.h>

/*MC
  MATBCCOO - "bccoo": AIJ with the products of the blocked compressed common coordinate format (yaSpMV)

  A child of `MATAIJ`: the compressed rows of AIJ stay the master copy, and everything but the products (`MatMult()`,
  `MatMultAdd()`, `MatMultTranspose()`, `MatMultTransposeAdd()`) is AIJ's. `MATSEQBCCOO` on one process, `MATMPIBCCOO` on
  several; both blocks of the latter are `MATSEQBCCOO`.

  Options Database Keys:
+ -mat_type bccoo               - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type bccoo
. -mat_bccoo_block_height <0>   - rows of a block, 1 to 8; 0 takes the height and width of least storage
. -mat_bccoo_block_width <0>    - columns of a block, 1 to 8; 0 as for the height
. -mat_spmv_build_after <n>     - products that AIJ's kernel serves before the storage is built; see the README
. -mat_spmv_isa <auto>          - instruction set: auto, scalar, avx2, avx512
- -mat_spmv_view <viewer>       - prints what was built, once after each build

  Level: beginner

  Note:
  Where a block is partly filled, Inf and NaN of x spread as in `MATBAIJ`; blocks of 1 x 1 behave as AIJ.

  Source: Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 2

.seealso: `MatSpmvGetCounts()`
M*/
#define MATBCCOO    "bccoo"
#define MATSEQBCCOO "seqaijbccoo"
#define MATMPIBCCOO "mpiaijbccoo"

/*MC
  MATPMF - "pmf": AIJ with the products of rows ordered by their length, eight at a time, in parts by computing power

  A child of `MATAIJ`, as `MATBCCOO` is. `MATSEQPMF` on one process, `MATMPIPMF` on several; both blocks of the latter are `MATSEQPMF`.

  Options Database Keys:
+ -mat_type pmf                 - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type pmf
. -mat_pmf_partition <pmf>      - how rows are cut into parts: pmf (by length), nnz, rows, or diagonal (blocks on the diagonal, and the rest)
. -mat_pmf_powers <1,2,6>       - computing powers of the parts; by default a part of equal power for each thread
. -mat_pmf_window <auto>        - rows that are ordered by length together: 8, 64, 256, 1024, 4096, 16384, global
. -mat_pmf_block <32>           - rows of a block on the diagonal: 32, 16
. -mat_pmf_columns <auto>       - how columns are stored: auto (16 bits where they fit), int32
. -mat_spmv_threads <n>         - threads that share a product
. -mat_spmv_build_after <n>     - products that AIJ's kernel serves before the storage is built; see the README
. -mat_spmv_isa <auto>          - instruction set: auto, scalar, avx2, avx512
- -mat_spmv_view <viewer>       - prints what was built, once after each build: density, fill and relative difference of each part

  Level: beginner

  Note:
  Inf and NaN of x reach the rows that have an entry there, and no others.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 4

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATPMF    "pmf"
#define MATSEQPMF "seqaijpmf"
#define MATMPIPMF "mpiaijpmf"

/*S
  SpmvCounts - what the products of a matrix did, on this process; of a parallel matrix the sum over its two blocks

  Level: intermediate

.seealso: `MatSpmvGetCounts()`
S*/
typedef struct {
  PetscInt64 builds;    /* storages built: the first time, and after each change of the nonzero pattern or the plan */
  PetscInt64 refreshes; /* storages whose values were replaced */
  PetscInt64 products;  /* products by our kernels */
  PetscInt64 deferred;  /* products by AIJ's kernel because of -mat_spmv_build_after */
  PetscInt64 fallbacks; /* products by AIJ's kernel because the format has none for them */
} SpmvCounts;

PETSC_EXTERN PetscErrorCode SpmvInitializePackage(void);
PETSC_EXTERN PetscErrorCode MatSpmvGetCounts(Mat, SpmvCounts *);
PETSC_EXTERN PetscErrorCode MatSpmvGetBytes(Mat, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatSpmvGetPlan(Mat, char[], size_t);
