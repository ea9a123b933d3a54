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
. -mat_spmv_backend <host>      - host, device (an OpenCL or CUDA accelerator, if there is one), or auto (a GPU if the matrix is large);
                                  MatCreateVecs() gives vectors of type VECACCEL where a device runs the products
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

/*MC
  MATCMRS - "cmrs": AIJ with the products of the compressed multi-row storage format

  A child of `MATAIJ` as `MATBCCOO` is. `MATSEQCMRS` on one process, `MATMPICMRS` on several.

  Options Database Keys:
+ -mat_type cmrs             - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type cmrs
. -mat_cmrs_height <0>       - rows of a strip, 1 to 16; 0 takes 8, and on a device what suits the order
. -mat_spmv_build_after <n>  - products that AIJ's kernel serves before the storage is built; see the README
. -mat_spmv_isa <auto>       - instruction set: auto, scalar, avx2, avx512
. -mat_spmv_backend <host>   - host, device, or auto
. -mat_cmrs_device_<knob>    - order, align, workgroup: how a device stores strips and runs products; -help lists them
- -mat_spmv_view <viewer>    - prints what was built, once after each build; of padded strips the memory overhead

  Level: beginner

  Note:
  Inf and NaN of x go where they go in AIJ: padding takes no part in a product.

  Source: Koza, Matyka, Szkoda, Miroslaw, SIAM J. Sci. Comput. 36(2), 2014, sections 3 and 4.4

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATCMRS    "cmrs"
#define MATSEQCMRS "seqaijcmrs"
#define MATMPICMRS "mpiaijcmrs"

/*MC
  MATCSRADAPTIVE - "csradaptive": AIJ with the products of CSR-Adaptive, on AIJ's own arrays

  A child of `MATAIJ`, as `MATBCCOO` is. The storage is AIJ's rows, columns and values, not copied, and eight bytes for each
  row block; it is made by a pass over the row pointers. Rows need not be sorted.

  A device is sent AIJ's arrays and cuts row blocks by knobs of its own, in the place of the first three below.

  Options Database Keys:
+ -mat_type csradaptive                 - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type csradaptive
. -mat_csradaptive_nnz_per_wg <n>       - entries of a row block of several rows, at most
. -mat_csradaptive_num_rows_stream <n>  - rows from which a row block is served by CSR-Stream, not CSR-Vector
. -mat_csradaptive_nnz_multiplier <n>   - a row of more than this times nnz_per_wg entries is shared by several row blocks
. -mat_spmv_backend <host>              - host, device, or auto
. -mat_csradaptive_device_<knob>        - workgroup, nnz_per_wg, num_rows_stream, nnz_multiplier, reduction, parts: how a device runs products; -help lists them
. -mat_spmv_build_after <n>             - products that AIJ's kernel serves before the storage is built; see the README
. -mat_spmv_isa <auto>                  - instruction set: auto, scalar, avx2, avx512
- -mat_spmv_view <viewer>               - prints what was built, once after each build

  Level: beginner

  Source: Daga, Greathouse, Structural Agnostic SpMV: Adapting CSR-Adaptive for Irregular Matrices, HiPC 2015

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATCSRADAPTIVE    "csradaptive"
#define MATSEQCSRADAPTIVE "seqaijcsradaptive"
#define MATMPICSRADAPTIVE "mpiaijcsradaptive"

/*MC
  MATTPSPMV - "tpspmv": AIJ with two-phase products (tpSpMV), for matrices whose input vector does not fit the cache

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQTPSPMV` on one process, `MATMPITPSPMV` on several.

  Options Database Keys:
+ -mat_type tpspmv               - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type tpspmv
. -mat_tpspmv_cache <0>          - KiB of a core's second cache, half of which is for a tile's part of the vector; 0 as the machine tells
. -mat_tpspmv_tile <0>           - columns of a tile at most, a power of two; 0 by the cache, or one tile where that is likely to be faster
. -mat_tpspmv_slice <0>          - rows of a slice, a power of two; 0 by the entries that a tile has in it
. -mat_tpspmv_long <128>         - entries of a row in a tile above which it is cut into pieces, 16 times as long
. -mat_tpspmv_remove <auto>      - whether empty columns are removed: auto, no, yes
. -mat_tpspmv_stream <auto>      - whether partial sums go past the cache: auto, no, yes
. -mat_tpspmv_device_stage <auto> - whether a device loads the x of a tile to local memory: auto, no, yes
. -mat_tpspmv_device_workgroup <128> - work items of a work group
. -mat_spmv_build_after <n>      - products that AIJ's kernel serves before the storage is built; see the README
. -mat_spmv_isa <auto>           - instruction set: auto, scalar, avx2, avx512
- -mat_spmv_view <viewer>        - prints what was built, once after each build: tiles, slices, fill, bytes of partial sums

  Level: beginner

  Notes:
  With several tiles a product has its partial sums as memory of its own, 8 bytes for each row of each tile that is not empty
  there.

  A transposed product reads the same storage.

  Source: Chen, Xiao, Wu, Tang, Li, tpSpMV, Information Sciences, 2020, sections 4 and 5

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATTPSPMV    "tpspmv"
#define MATSEQTPSPMV "seqaijtpspmv"
#define MATMPITPSPMV "mpiaijtpspmv"

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
. -mat_pmf_pieces <auto>        - steps that share four short pieces of x where rows have the same columns: 2, 3, 4, none, any (what a sample of rows says), auto (any for `double` with AVX-512, else none)
. -mat_pmf_device_parts <all>   - with -mat_spmv_backend device, how many of the parts the device has, the first ones; the host has the others
. -mat_pmf_device_workgroup <128> - work items of a work group
. -mat_pmf_device_slice <32>    - rows of a slice on a device
. -mat_pmf_device_long <256>    - entries of a row above which work groups share it
. -mat_spmv_threads <n>         - threads that share a product
. -mat_spmv_build_after <n>     - products that AIJ's kernel serves before the storage is built; see the README
. -mat_spmv_isa <auto>          - instruction set: auto, scalar, avx2, avx512
- -mat_spmv_view <viewer>       - prints what was built, once after each build: density, fill and relative difference of each part

  Level: beginner

  Notes:
  Inf and NaN of x reach the rows that have an entry there, and no others.

  Where device and host share a product and -mat_pmf_powers is not given, the powers are measured at each build: which of the two has
  a row, and beside which rows, may change from run to run, and with it the last bit of the row, since the two add up entries in
  different order. The products of one build have the same bits each time, and so have all with powers that are given.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 4

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATPMF    "pmf"
#define MATSEQPMF "seqaijpmf"
#define MATMPIPMF "mpiaijpmf"

/*MC
  MATSPMV - "spmv": AIJ with the products of the format that is likely to be the fastest for each matrix

  A child of `MATAIJ` as `MATBCCOO` is. `MATSEQSPMV` on one process, `MATMPISPMV` on several; each block on each process has a format
  and a plan of its own, chosen without communication. AIJ's own kernel is among the candidates: then no storage is kept.

  Options Database Keys:
+ -mat_type spmv                    - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type spmv
. -mat_spmv_tune <estimate>         - off, estimate, measure or patient; see `SpmvTuneKind`
. -mat_spmv_tune_seconds <10>       - seconds that measuring may take; the best so far is used
. -mat_spmv_tune_formats <list>     - which formats to choose from, aij among them for AIJ's own kernel; all by default
. -mat_spmv_tune_<heuristic> <true> - shapes, layout, cache, local, slices, tiles, model: rules that keep options from being measured
. -mat_spmv_expected_calls <0>      - products in which set-up is to pay off; 0: it does not count
. -mat_spmv_wisdom <file>           - where measured choices are kept, or none; by default petscspmv/wisdom in $XDG_CACHE_HOME or ~/.cache
. -mat_spmv_tune_view               - prints what was chosen and the next best, predicted and measured, once after each choice
- -mat_<format>_<knob>              - fixes a knob of a format, whenever that format is considered

  Level: beginner

  Notes:
  estimate reads no clock: the same matrix has the same plan, and products the same bits, each time. Its rates are those of one core of
  Zen 4, with caches as the system tells, unless the user's file has others (make calibrate). measure and patient build and time
  storages: without wisdom they may choose differently, and so give other last bits, from run to run. With wisdom, which is of this
  processor, instruction set, precision, number of threads, request and pattern, the second run measures nothing.

  New values with the same pattern are not tuned for again; a duplicate takes over what was chosen.

  Among formats, estimate compares each under the plan that its own rules make; of one format alone, it looks at other plans as well.

  The estimate is for products; of transposed ones and of several columns nothing is asked.

  Source: the heuristics of measure are those of Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 4

.seealso: `MatSpmvSetTune()`, `MatSpmvGetPlan()`, `MatSpmvGetCounts()`, `MATBCCOO`
M*/
#define MATSPMV    "spmv"
#define MATSEQSPMV "seqaijspmv"
#define MATMPISPMV "mpiaijspmv"

/*MC
  VECACCEL - "accel": vectors that live on the OpenCL or CUDA device of this process

  `VECSEQACCEL` on one process, `VECMPIACCEL` on several. A vector has PETSc's own array on the host and a buffer of the device that is
  made when it is first needed; each is brought up to date when it is read and the other was written. Products, sums, norms and the other
  operations of Krylov methods are kernels; what has none (`VecSetValues()`, `VecScatter`, `VecView()`, ...) is PETSc's own on the host.

  Options Database Keys:
+ -vec_type accel          - sets the type in `VecSetFromOptions()`; DM programs take -dm_vec_type accel
. -spmv_device <api>       - which devices may be used: cuda, opencl or none; without it, the first that has one
. -spmv_vec_workgroup <n>  - work items of a work group, a power of two; without it, 256 on a GPU, 64 elsewhere
- -spmv_device_view        - at PetscFinalize(), how many operations kernels ran, and how many vectors were moved

  Level: beginner

  Notes:
  Other vectors may be arguments of any operation: they are sent along, or the host works, whichever moves fewer vectors. Those of PETSc's own
  types for CUDA (`VECCUDA`, `VECKOKKOS`) do not move: kernels are given their memory, if it is that of the device of this process. The other
  way round it is PETSc's operation, which takes all its arguments for `VECCUDA`: with such vectors use -vec_type cuda, which `MatCreateVecs()`
  of our matrices heeds, or `MatSetVecType(A, VECCUDA)`.

  Whoever makes vectors of the type that `MatGetVecType()` gives, as `PCBJACOBI` does for the solvers of its blocks, makes vectors of the host unless
  `MatSetVecType()` says `VECACCEL`.

  To PETSc it is a vector on the host: `VecGetArrayAndMemType()` gives `PETSC_MEMTYPE_HOST`. While somebody holds an array that may be
  written, operations on the vector are run by the host. `VecGetSubVector()` of entries that follow each other gives a copy, which
  `VecRestoreSubVector()` copies back.

  `KSPIBCGS` and `KSPFBCGSR`, which keep arrays after they have given them back, refuse these vectors: give them a right hand side and a
  solution of the host, of which their work vectors are duplicates. So do functions of newer PETSc that make a dense matrix for a type of vectors (`MatCreateDenseFromVecType()`).

  Where there is no device, or with -spmv_device none, it is `VECSEQ` or `VECMPI` under another name. If the memory of the device runs
  out, there is one warning, and the host works on what does not fit.

  Sums are added up in an order that depends on the number of local entries and the work group only: the same bits each time.

.seealso: `SpmvInitializePackage()`, `MATBCCOO`
M*/
#define VECACCEL    "accel"
#define VECSEQACCEL "seqaccel"
#define VECMPIACCEL "mpiaccel"

/*E
  SpmvTuneKind - how much is done to choose the format of a `MATSPMV`, and the knobs of any format

  Values:
+ `SPMV_TUNE_OFF`      - nothing: each knob as asked or at its plainest
. `SPMV_TUNE_ESTIMATE` - a model of the time of a product, on a sample of the rows; the same choice each time
. `SPMV_TUNE_MEASURE`  - the few best by the model are built and timed
- `SPMV_TUNE_PATIENT`  - all are, as long as -mat_spmv_tune_seconds allows

  Level: intermediate

.seealso: `MatSpmvSetTune()`, `MATSPMV`
E*/
typedef enum { SPMV_TUNE_OFF, SPMV_TUNE_ESTIMATE, SPMV_TUNE_MEASURE, SPMV_TUNE_PATIENT } SpmvTuneKind;

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
  PetscInt64 aij;       /* products by AIJ's kernel because the tuner chose it */
  PetscInt64
    tunings; /* choices that the tuner made: by estimate or by measuring, not from wisdom, and not taken over from another matrix */
} SpmvCounts;

PETSC_EXTERN PetscErrorCode SpmvInitializePackage(void);
PETSC_EXTERN PetscErrorCode MatSpmvGetCounts(Mat, SpmvCounts *);
PETSC_EXTERN PetscErrorCode MatSpmvGetBytes(Mat, PetscLogDouble *);
PETSC_EXTERN PetscErrorCode MatSpmvGetPlan(Mat, char[], size_t);
PETSC_EXTERN PetscErrorCode MatSpmvSetTune(Mat, SpmvTuneKind);
PETSC_EXTERN PetscErrorCode MatSpmvSetTuneSeconds(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpmvSetTuneFormats(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatSpmvSetExpectedCalls(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpmvSetWisdom(Mat, const char[]);
