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
  `MatMultAdd()`, `MatMultTranspose()`, `MatMultTransposeAdd()`) is AIJ's. `MATSEQBCCOO` on one process, `MATMPIBCCOO` on several;
  both blocks of the latter are `MATSEQBCCOO`.

  Options Database Keys:
+ -mat_type bccoo                       - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type bccoo
. -mat_bccoo_block_height <0>           - rows of a block, 1 to 8; 0: the height and width of least estimated time
. -mat_bccoo_block_width <0>            - columns of a block, 1 to 8; 0: as for the height
. -mat_bccoo_columns <auto>             - how block columns are stored: int32, uint16, difference; auto: in the fewest bytes
. -mat_bccoo_tile <0>                   - blocks of a tile, 8 to 1024; 0: by the number of blocks and of tiles side by side
. -mat_bccoo_slices <1>                 - vertical slices (BCCOO+): 1, 2, 4, 8, 16 or 32
. -mat_bccoo_bunch <0>                  - host: tiles side by side, one in each lane, 1 or 8; 0: of least estimated time
. -mat_bccoo_device_workgroup <128>     - work items of a work group, a power of two up to 512
. -mat_bccoo_device_strategy <0>        - 1: a tile's sums are kept, 2: result cache, 3: tiles side by side; 0: by tile and bunch
. -mat_bccoo_device_registers <0>       - strategy 1: sums of a tile in registers: -1 for none, 8, 16 or 32; 0: as many as fit
. -mat_bccoo_device_cache <1>           - strategy 2: block rows of the result cache, times the work group, 1 to 4
. -mat_bccoo_device_bunch <0>           - strategy 3: tiles side by side in a work item, 1, 2 or 4; 0: as many as fill 8 sums
. -mat_bccoo_device_transpose <offline> - blocks are transposed by the build (offline) or by each product (online)
. -mat_bccoo_device_carry <kernel>      - sums across work groups: by a second kernel, or each waits for the one before (GPUs)
. -mat_bccoo_device_convert <auto>      - who makes the arrays: host or device; auto: a GPU, if there are many entries
. -mat_bccoo_device_flag_bits <32>      - bits of a word of flags: 8, 16 or 32
. -mat_spmv_backend <host>              - host, device (OpenCL or CUDA, if there is one), or auto (a GPU if the matrix is large)
. -mat_spmv_build_after <n>             - products that AIJ's kernel serves before the storage is built; see docs/internals.md
. -mat_spmv_isa <auto>                  - instruction set: auto, scalar, avx2, avx512
. -mat_spmv_threads <n>                 - threads that share a product
. -mat_spmv_transpose                   - what transposed products read: the storage itself, or a copy of the transposed matrix
- -mat_spmv_view <viewer>               - prints what was built, once after each build

  Level: beginner

  Notes:
  `MatCreateVecs()` gives vectors of type `VECACCEL` where a device runs the products.

  Where a block is partly filled, Inf and NaN of x spread as in `MATBAIJ`; blocks of 1 x 1 behave as AIJ.

  Source: Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 2

.seealso: `MATCMRS`, `MATCSRADAPTIVE`, `MATTPSPMV`, `MATPMF`, `MATSBCCOO`, `MATSPMV`, `MatSpmvGetCounts()`
M*/
#define MATBCCOO    "bccoo"
#define MATSEQBCCOO "seqaijbccoo"
#define MATMPIBCCOO "mpiaijbccoo"

/*MC
  MATCMRS - "cmrs": AIJ with the products of the compressed multi-row storage format

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQCMRS` on one process, `MATMPICMRS` on several. Options are those of `MATBCCOO`,
  with knobs of its own.

  Options Database Keys:
+ -mat_cmrs_height <0>             - rows of a strip, 1 to 16; 0: 8; on a device what 64 bytes hold, 12 at most, or 16 if padded
. -mat_cmrs_device_order <columns> - of the entries in a strip: by columns, by rows, or padded
. -mat_cmrs_device_align <1>       - 1: a strip that is not padded is read from a multiple of 32 entries, 0: from its first entry
- -mat_cmrs_device_workgroup <128> - work items of a work group, of which 32 have a strip: 32, 64, 128, 256 or 512

  Level: beginner

  Note:
  Inf and NaN of x go where they go in AIJ: padding takes no part in a product. A view tells the memory overhead of padded strips.

  Source: Koza, Matyka, Szkoda, Miroslaw, SIAM J. Sci. Comput. 36(2), 2014, sections 3 and 4.4

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATCMRS    "cmrs"
#define MATSEQCMRS "seqaijcmrs"
#define MATMPICMRS "mpiaijcmrs"

/*MC
  MATCSRADAPTIVE - "csradaptive": AIJ with the products of CSR-Adaptive, on AIJ's own arrays

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQCSRADAPTIVE` on one process, `MATMPICSRADAPTIVE` on several. The storage is AIJ's
  rows, columns and values, not copied, and eight bytes for each row block; it is made by a pass over the row pointers. Rows need
  not be sorted. A device is sent AIJ's arrays and cuts row blocks by knobs of its own instead of three of the host's.
  Options are those of `MATBCCOO`, with knobs of its own.

  Options Database Keys:
+ -mat_csradaptive_nnz_per_wg <2048>              - entries of a row block of several rows, at most, 8 to 4096
. -mat_csradaptive_num_rows_stream <64>           - rows from which a row block is served by CSR-Stream, not CSR-Vector
. -mat_csradaptive_nnz_multiplier <2>             - row blocks share a row of more than this times nnz_per_wg entries
. -mat_csradaptive_device_nnz_per_wg <1536>       - the same for a device: 64 to 4096; 1024 for single precision
. -mat_csradaptive_device_num_rows_stream <3>     - the same for a device: 1 to 16; 2 for single precision
. -mat_csradaptive_device_nnz_multiplier <2>      - the same for a device: 1 to 8; 3 for single precision
. -mat_csradaptive_device_workgroup <256>         - work items of a work group, a power of two up to 512
. -mat_csradaptive_device_reduction <logarithmic> - CSR-Stream sums a row by several work items, or by one (scalar)
- -mat_csradaptive_device_parts <kernel>          - parts of a row are added by a kernel, or atomic (GPUs; other bits each time)

  Level: beginner

  Source: Daga, Greathouse, Structural Agnostic SpMV: Adapting CSR-Adaptive for Irregular Matrices, HiPC 2015

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATCSRADAPTIVE    "csradaptive"
#define MATSEQCSRADAPTIVE "seqaijcsradaptive"
#define MATMPICSRADAPTIVE "mpiaijcsradaptive"

/*MC
  MATTPSPMV - "tpspmv": AIJ with two-phase products (tpSpMV), for matrices whose input vector does not fit the cache

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQTPSPMV` on one process, `MATMPITPSPMV` on several. Options are those of `MATBCCOO`,
  with knobs of its own.

  Options Database Keys:
+ -mat_tpspmv_cache <0>              - KiB of the cache that is to hold the x of a tile twice; 0: the machine's
. -mat_tpspmv_tile <0>               - columns of a tile, at most; 0: by the cache; 1073741824: one tile
. -mat_tpspmv_slice <0>              - rows of a slice; 0: by the entries that a tile has in it
. -mat_tpspmv_long <128>             - entries of a row in a tile above which it is cut into segments
. -mat_tpspmv_remove <auto>          - empty columns are removed: yes, no; auto: where x does not fit the cache and half are empty
. -mat_tpspmv_stream <auto>          - host: partial sums go past the cache: yes, no; auto: where they are large
. -mat_tpspmv_device_workgroup <128> - work items of a work group: 32, 64, 128, 256 or 512
- -mat_tpspmv_device_stage <auto>    - work groups load the x of their tile to local memory: yes, no; auto: where that pays

  Level: beginner

  Notes:
  With several tiles a product has its partial sums as memory of its own, 8 bytes for each row of each tile that is not empty
  there. A view tells tiles, slices, fill and the bytes of partial sums.

  A transposed product reads the same storage.

  Source: Chen, Xiao, Wu, Tang, Li, tpSpMV, Information Sciences, 2020, sections 4 and 5

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATTPSPMV    "tpspmv"
#define MATSEQTPSPMV "seqaijtpspmv"
#define MATMPITPSPMV "mpiaijtpspmv"

/*MC
  MATPMF - "pmf": AIJ with the products of rows ordered by their length, eight at a time, in parts by computing power

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQPMF` on one process, `MATMPIPMF` on several. Options are those of `MATBCCOO`, with
  knobs of its own.

  Options Database Keys:
+ -mat_pmf_partition <pmf>        - how rows are cut into parts: pmf by length, nnz, rows, or diagonal (blocks and the rest)
. -mat_pmf_powers <list>          - computing powers of the parts; by default a part of equal power for each thread
. -mat_pmf_window <4096>          - rows that are ordered by length together, 8 to 16384, or global
. -mat_pmf_block <32>             - rows of a block on the diagonal, 16 or 32, for -mat_pmf_partition diagonal
. -mat_pmf_pieces <auto>          - host: steps share four short pieces of x where rows have the same columns: none, any, 2, 3, 4
. -mat_pmf_device_workgroup <128> - work items of a work group: 32, 64, 128, 256 or 512
. -mat_pmf_device_slice <32>      - rows of a slice, which are padded to its longest: 1 to 128
. -mat_pmf_device_long <256>      - entries of a row above which work groups share it
. -mat_pmf_device_parts <all>     - how many of the parts the device has, 1 to 4, or all; the host has the others at the same time
- -mat_pmf_device_cut <yes>       - rows that the device's memory has no room for are left to the host; no: the host has all then

  Level: beginner

  Notes:
  Inf and NaN of x reach the rows that have an entry there, and no others. A view tells the density, fill and relative difference
  of each part.

  Where device and host have some of the rows each and -mat_pmf_powers is not given, the powers are measured at each build: which
  of the two has a row, and beside which rows, may change from run to run, and with it the last bit of the row, since the two add
  up entries in different order. The products of one build have the same bits each time, and so have all with powers that are
  given.

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 4

.seealso: `MATBCCOO`, `MatSpmvGetCounts()`
M*/
#define MATPMF    "pmf"
#define MATSEQPMF "seqaijpmf"
#define MATMPIPMF "mpiaijpmf"

/*MC
  MATSBCCOO - "sbccoo": AIJ with the products of half of a symmetric matrix, each entry of which is used twice

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQSBCCOO` on one process, `MATMPISBCCOO` on several. Options are those of `MATBCCOO`,
  with knobs of its own. There are no kernels for devices.

  Options Database Keys:
+ -mat_sbccoo_block <0>     - rows and columns of a block, 1 to 8; 0: those of least estimated time
. -mat_sbccoo_pairs <found> - of an entry and its mirror image is stored: equal, one; near, one and 8 bits that tell the other
- -mat_sbccoo_exact <yes>   - no: where the matrix is declared symmetric, the upper part alone; see below for its error

  Level: intermediate

  Notes:
  Products are those of the matrix as it is, to the last bit of each entry; nothing need be declared. Entries and their mirror
  images differ by rounding in most assembled matrices. Where 8 bits do not tell the one from the other, both are stored.

  With -mat_sbccoo_exact no, an entry below the diagonal is taken to be its mirror image where `MatSetOption()` has declared
  the matrix symmetric (`MAT_SYMMETRIC`, `MAT_SPD`, `MAT_HERMITIAN`) when the storage is built or has new values. PETSc forgets
  that at each assembly unless `MAT_SYMMETRY_ETERNAL` is set: then the storage is exact again. The error of an entry is at most
  1e-10 of the larger one of its pair, or of the square root of the product of the diagonal entries of its row and column. All
  pairs are compared each time; one that is further apart is an error that names it. Products read 4.1 to 4.5 bytes an entry
  then, not 4.5 to 5.

  Another format takes over, which -info says, where more than a part of the entries has no mirror image: then, and of the
  off-diagonal blocks of a parallel matrix, `MatSpmvGetPlan()` begins with the name of that format. New values are looked at again.

  Where a block is partly filled, an entry is not on the diagonal, or a pair of entries in blocks is too far apart, Inf and NaN of x
  spread as in `MATBAIJ`.

.seealso: `MATBCCOO`, `MATSPMV`, `MatSpmvGetPlan()`, `MatSpmvGetCounts()`
M*/
#define MATSBCCOO    "sbccoo"
#define MATSEQSBCCOO "seqaijsbccoo"
#define MATMPISBCCOO "mpiaijsbccoo"

/*MC
  MATSPMV - "spmv": AIJ with the products of the format that is likely to be the fastest for each matrix

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQSPMV` on one process, `MATMPISPMV` on several. Each block on each process has a
  format and a plan of its own, chosen without communication. AIJ's own kernel is among the candidates: then no storage is kept.

  Options Database Keys, besides those of `MATBCCOO`:
+ -mat_spmv_tune <estimate>         - off, estimate, measure or patient; see `SpmvTuneKind`
. -mat_spmv_tune_seconds <10>       - seconds that measuring may take; the best so far is used
. -mat_spmv_tune_formats <list>     - which formats to choose from, aij among them for AIJ's own kernel; all by default
. -mat_spmv_tune_<rule> <true>      - shapes, layout, cache, local, slices, tiles, model: keeps options from being measured
. -mat_spmv_expected_calls <0>      - products in which set-up is to pay off; 0: it does not count
. -mat_spmv_wisdom <file>           - where measured choices are kept, or none; by default petscspmv/wisdom in the user's cache
. -mat_spmv_tune_view               - prints what was chosen and the next best, predicted and measured, once after each choice
- -mat_<format>_<knob>              - fixes a knob of a format, whenever that format is considered

  Level: beginner

  Notes:
  estimate reads no clock: the same matrix has the same plan, and products the same bits, each time. Its rates are those of one
  core of Zen 4, with caches as the system tells, unless the user's file has others (make calibrate). measure and patient build
  and time storages: without wisdom they may choose differently, and so give other last bits, from run to run. With wisdom, which
  is of this processor, instruction set, precision, number of threads, request and pattern, the second run measures nothing.

  New values with the same pattern are not tuned for again; a duplicate takes over what was chosen.

  Among formats, estimate compares each under the plan that its own rules make; of one format alone, it looks at other plans as
  well. The estimate is for products, not for transposed ones or those of several columns.

  Source: the heuristics of measure are those of Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 4

.seealso: `MatSpmvSetTune()`, `MatSpmvGetPlan()`, `MatSpmvGetCounts()`, `MATBCCOO`
M*/
#define MATSPMV    "spmv"
#define MATSEQSPMV "seqaijspmv"
#define MATMPISPMV "mpiaijspmv"

/*MC
  MATSOLVERPETSCSPMV - "petscspmv": ILU(k) and ICC(k) of PETSc's, with solves of this library

  Ordering, shifts, levels, fill and both factorisations are those of `MATSOLVERPETSC`, and so is the factor. Of it a storage is
  made for `MatSolve()`, `MatSolveTranspose()`, `MatMatSolve()`, `MatForwardSolve()` and `MatBackwardSolve()`.

  Options Database Keys:
+ -pc_factor_mat_solver_type <petscspmv> - what `PCILU` and `PCICC` take for matrices of this library's types; petsc: PETSc's
. -mat_spmv_solve <true>                 - false: PETSc's solves
. -mat_spmv_solve_values <scalar>        - float: the factor's entries are read in single precision
. -mat_spmv_build_after <n>              - a fourth of it are the solves that PETSc's kernel serves before the storage is built
. -mat_spmv_isa <auto>                   - instruction set: auto, scalar, avx2, avx512
- -mat_spmv_view <viewer>                - prints what was built, once after each build

  Level: beginner

  Notes:
  Sums are added up in another order than PETSc's: results differ by the last bits. They are the same bits each time.

  For a `MATSEQAIJ` it is there for who names it, with the defaults of these options.

  Factorisation in place is PETSc's alone. A factor that failed, or whose values are not finite, is solved with by PETSc.

.seealso: `MATSPMV`, `MATSOLVERPETSC`, `MatGetFactor()`, `PCILU`, `PCICC`
M*/
#define MATSOLVERPETSCSPMV "petscspmv"

/*MC
  VECACCEL - "accel": vectors that live on the OpenCL or CUDA device of this process

  `VECSEQACCEL` on one process, `VECMPIACCEL` on several. A vector has PETSc's own array on the host and a buffer of the device
  that is made when it is first needed; each is brought up to date when it is read and the other was written. Products, sums,
  norms and the other operations of Krylov methods are kernels; what has none (`VecSetValues()`, `VecScatter`, `VecView()`, ...)
  is PETSc's own on the host.

  Options Database Keys:
+ -vec_type accel         - sets the type in `VecSetFromOptions()`; DM programs take -dm_vec_type accel
. -spmv_vec_workgroup <n> - work items of a work group, a power of two; without it, 256 on a GPU, 64 elsewhere
- -spmv_device_<option>   - which device, how much of its memory, what it did; see `SpmvInitializePackage()`

  Level: beginner

  Notes:
  Other vectors may be arguments of any operation: they are sent along, or the host works, whichever moves fewer vectors. Those of
  PETSc's own types for CUDA (`VECCUDA`, `VECKOKKOS`) do not move: kernels are given their memory, if it is that of the device of
  this process. The other way round it is PETSc's operation, which takes all its arguments for `VECCUDA`: with such vectors use
  -vec_type cuda, which `MatCreateVecs()` of our matrices heeds, or `MatSetVecType(A, VECCUDA)`.

  Code that makes vectors of the type that `MatGetVecType()` gives, as `PCBJACOBI` does for its blocks, gets vectors of the host
  unless `MatSetVecType()` says `VECACCEL`.

  To PETSc it is a vector on the host: `VecGetArrayAndMemType()` gives `PETSC_MEMTYPE_HOST`. While somebody holds an array that
  may be written, operations on the vector are run by the host. `VecGetSubVector()` of entries that follow each other gives a
  copy, which `VecRestoreSubVector()` copies back.

  `KSPIBCGS` and `KSPFBCGSR`, which keep arrays after they have given them back, refuse these vectors: give them a right hand side
  and a solution of the host, of which their work vectors are duplicates. So do functions of newer PETSc that make a dense matrix
  for a type of vectors (`MatCreateDenseFromVecType()`).

  Where there is no device, or with -spmv_device none, it is `VECSEQ` or `VECMPI` under another name. If the memory of the device
  runs out, there is one warning, and the host works on what does not fit.

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
  PetscInt64 tunings;   /* choices that the tuner made, not those from wisdom or taken over from another matrix */
  PetscInt64 sweeps;    /* calls of MatSOR() that our kernels served */
  PetscInt64 sweepsaij; /* and those that AIJ's served */
  PetscInt64 solves;    /* right-hand sides that our kernels solved for with a factor; counted for no matrix, in the sum of all */
  PetscInt64 solvesaij; /* and those that PETSc's solved for */
  PetscInt64 floats;    /* of products, sweeps and solves by our kernels, those that read values in single precision */
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
