/*
  bccoo - blocked compressed common coordinate format, and its vertical slices, BCCOO+

  Storage:   blocks of h x w entries in row order; for each its block column and one bit, 0 if it is the last block of its
             block row (a "row stop"); values by columns inside a block; a list of the non-empty block rows when any is
             empty. Blocks are cut into tiles of equal number, whatever the rows: a tile knows its first result. Columns
             are int32, uint16, or 16-bit differences inside a tile with the few that do not fit kept in full. With a
             bunch of 8, eight tiles lie side by side, one in each lane of a vector.
  Good for:  matrices with small dense blocks (several unknowns a node), long rows beside short ones, empty rows
  Bad for:   permutations and other matrices with an entry or two a row
  Traffic:   (8 h w + 2 + 1/8) blocks (4 instead of 2 with int32 columns) + 4 to 8 a tile + 2 a block row with a bunch
             (+ 4 non-empty block rows, if any is empty) + 8 (m + n) bytes a product; with slices + 16 slices m

  Block rows with fill keep besides, for new values, 4 bytes an entry that no product reads.

  A block that is partly filled holds zeros: like PETSc's BAIJ, an Inf or NaN of x that meets such a zero gives NaN in
  rows that have no entry in that column. Columns past the matrix's last are never read. 1x1 blocks have no fill.

  Source: Zhang, Li, Yan, Zhou, A Cross-Platform SpMV Framework on Many-Core Architectures, ACM Trans. Archit. Code
  Optim. 13(4), 2016: sections 2.1 to 2.4 (format), 3.2.2 strategy 3 (values by columns, bunches).
  We differ:
  - 2.2 writes one flag for each empty block row as well, which belongs to no block and loses leading and trailing empty
    rows; here each block has one flag, and the block rows that are not empty are listed.
  - 2.2 takes the difference -1 for the escape, which collides with a true -1, and has no base for a tile's first
    column; here a tile has a base, a true -1 is escaped too, and only escaped columns are stored in full.
  - 2.3 gives the temporary buffer slices x length of the vector multiplied; it is slices x rows.
  - flags, too, lie in the order of storage, so that with a bunch one byte has a step of all lanes.
*/
#include "bccoo.h"

static const PetscInt    BccooBlockSizes[]  = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const PetscInt    BccooColumnKinds[] = {BCCOO_COLUMNS_AUTO, BCCOO_COLUMNS_INT32, BCCOO_COLUMNS_UINT16, BCCOO_COLUMNS_DIFFERENCE};
static const char *const BccooColumnNames[] = {"auto", "int32", "uint16", "difference"};
static const PetscInt    BccooFlagBits[]    = {32, 8, 16};
static const PetscInt    BccooTiles[]       = {0, 8, 16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024};
static const PetscInt    BccooBunches[]     = {0, 1, BCCOO_LANES};
static const PetscInt    BccooSlices[]      = {1, 2, 4, 8, 16, 32};

static const SpmvParam BccooParams[] = {
  [BCCOO_BLOCK_HEIGHT] = SPMV_CHOICES("block_height", "rows of a block, 0: the height and width of least estimated time", BccooBlockSizes, NULL, SPMV_KNOB_SHAPE),
  [BCCOO_BLOCK_WIDTH]  = SPMV_CHOICES("block_width", "columns of a block, 0: as for the height", BccooBlockSizes, NULL, SPMV_KNOB_SHAPE),
  [BCCOO_COLUMNS]      = SPMV_CHOICES("columns", "how block columns are stored, auto: in the fewest bytes", BccooColumnKinds, BccooColumnNames, SPMV_KNOB_LAYOUT),
  [BCCOO_FLAG_BITS]    = SPMV_CHOICES("flag_bits", "bits of a word of flags", BccooFlagBits, NULL, SPMV_KNOB_LOCAL),
  [BCCOO_TILE]         = SPMV_CHOICES("tile", "blocks of a tile, 0: by the number of blocks and the bunch", BccooTiles, NULL, SPMV_KNOB_TILE),
  [BCCOO_BUNCH]        = SPMV_CHOICES("bunch", "tiles side by side, one in each lane, 0: of least estimated time", BccooBunches, NULL, SPMV_KNOB_TILE),
  [BCCOO_SLICES]       = SPMV_CHOICES("slices", "vertical slices (BCCOO+)", BccooSlices, NULL, SPMV_KNOB_SLICES),
};

/* Every array of a storage, in one place for its size and for those who send it */
static PetscErrorCode BccooArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const BccooStorage *b = (const BccooStorage *)storage;
  PetscInt            k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", b->value, b->nstored * b->h * b->w, sizeof(PetscScalar), .is_values = PETSC_TRUE, .made = b->converted);
  arrays[k++] = SPMV_ARRAY("columns", b->column, b->nstored, BccooColumnSize(b), .made = b->converted);
  arrays[k++] = SPMV_ARRAY("flags", b->flags, b->nflags, 1, .made = b->converted);
  arrays[k++] = SPMV_ARRAY("entries", b->entry, b->ntiles + 1, sizeof(int32_t));
  if (b->bunch > 1 && !b->workgroup) arrays[k++] = SPMV_ARRAY("stops", b->stop, (size_t)b->nrows, sizeof(uint16_t));
  if (b->columns == BCCOO_COLUMNS_DIFFERENCE) arrays[k++] = SPMV_ARRAY("bases", b->base, b->ntiles, sizeof(int32_t), .made = b->converted);
  if (b->nescaped) {
    arrays[k++] = SPMV_ARRAY("escaped", b->escaped, b->nescaped, sizeof(int32_t), .made = b->converted);
    arrays[k++] = SPMV_ARRAY("escapes", b->escape, b->ntiles / BccooEscapeTiles(b) + 1, sizeof(int32_t));
  }
  if (b->nrows < b->slices * b->mb) arrays[k++] = SPMV_ARRAY("rows", b->row, (size_t)b->nrows, sizeof(int32_t));
  if (b->workgroup) arrays[k++] = SPMV_ARRAY("scans", b->scan, b->ntiles / (size_t)b->workgroup, 1);
  if (b->npositions) arrays[k++] = SPMV_ARRAY("positions", b->position, b->npositions, sizeof(uint32_t), .aside = PETSC_TRUE, .made = b->converted);
  if (b->converted) {
    arrays[k++] = SPMV_ARRAY("csr rows", b->csr.i, (size_t)b->m + 1, sizeof(PetscInt), .aside = PETSC_TRUE, .source = PETSC_TRUE, .borrowed = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("csr columns", b->csr.j, b->nentries, sizeof(PetscInt), .aside = PETSC_TRUE, .source = PETSC_TRUE, .borrowed = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("csr values", b->csr.a, b->nentries, sizeof(PetscScalar), .aside = PETSC_TRUE, .source = PETSC_TRUE, .borrowed = PETSC_TRUE, .is_values = PETSC_TRUE);
    arrays[k++] = SPMV_ARRAY("block ends", b->end, (size_t)b->nrows + 1, sizeof(uint32_t), .aside = PETSC_TRUE, .source = PETSC_TRUE);
  }
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes that a build would come to, by the same resolution of the plan, without the arrays */
static PetscErrorCode BccooBytes(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes)
{
  BccooStorage b;
  SpmvArray    arrays[SPMV_ARRAY_MAX];
  PetscInt     narrays;

  PetscFunctionBegin;
  PetscCall(BccooPredict(csr, plan, &b));
  PetscCall(BccooArrays(&b, &narrays, arrays));
  *bytes = SpmvArraysRead(narrays, arrays, scalar_size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels BccooKernels_##name;
#include "../../../isas.h"
#undef SPMV_ISA

const SpmvFormat SpmvFormat_bccoo = {
  .name     = "bccoo",
  .citation = "@article{ZhangLiYanZhou2016,\n"
              "  title   = {A Cross-Platform {SpMV} Framework on Many-Core Architectures},\n"
              "  author  = {Yunquan Zhang and Shigang Li and Shengen Yan and Huiyang Zhou},\n"
              "  journal = {ACM Transactions on Architecture and Code Optimization},\n"
              "  volume  = {13},\n"
              "  number  = {4},\n"
              "  year    = {2016}\n"
              "}\n",
  .nparams  = BCCOO_NPARAMS,
  .params   = BccooParams,
  .kernels  = {
#define SPMV_ISA(NAME, name, flags, runs) &BccooKernels_##name,
#include "../../../isas.h"
#undef SPMV_ISA
  },
  .build     = BccooBuild,
  .setvalues = BccooSetValues,
  .arrays    = BccooArrays,
  .bytes     = BccooBytes,
  .destroy   = BccooDestroy,
  .propose   = BccooPropose,
  .resolve   = BccooResolve,
  .works     = BccooWorks,
  .device    = &BccooDevice,
};
