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
. -mat_spmv_backend <host>      - host, device (an OpenCL or CUDA accelerator, if there is one), or auto (a GPU if the matrix is large)
. -mat_bccoo_device_<knob>      - workgroup, strategy, registers, cache, transpose, carry: how a device runs products; -help lists them
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
  PetscInt64 columns;   /* columns of dense matrices multiplied by our kernels */
} SpmvCounts;

PETSC_EXTERN PetscErrorCode SpmvInitializePackage(void);
PETSC_EXTERN PetscErrorCode MatSpmvGetCounts(Mat, SpmvCounts *);
PETSC_EXTERN PetscErrorCode MatSpmvGetBytes(Mat, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatSpmvGetPlan(Mat, char[], size_t);
