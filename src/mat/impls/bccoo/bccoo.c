/*
  bccoo - blocked compressed common coordinate format, and its vertical slices, BCCOO+

  Storage:   blocks of h x w entries in row order; for each its block column and one bit, 0 if it is the last block of its
             block row (a "row stop"); values by columns inside a block; a list of the non-empty block rows when any is
             empty. Blocks are cut into tiles of equal number, whatever the rows: a tile knows its first result. Columns
             are int32, uint16, or 16-bit differences inside a tile with the few that do not fit kept in full, on a device
             16-bit distances from a base with lists of those that do not fit. With a bunch of 8, eight tiles lie side by
             side, one in each lane of a vector.
  Good for:  matrices with small dense blocks (several unknowns a node), long rows beside short ones, empty rows
  Bad for:   permutations and other matrices with an entry or two a row
  Traffic:   (8 h w + 2 + 1/8) blocks (4 instead of 2 with int32 columns) + 4 to 8 a tile + 2 a block row with a bunch
             (+ 4 non-empty block rows, if any is empty) + 8 (m + n) bytes a product; with slices + 16 slices m

  1x1 blocks have values that are few or short (host/values.h) in 1, 4 or no bytes instead of 8.

  On the host a block of 4 x 2 may have a mask of the entries that there are in the place of zeros where there are none
  (host/bccoo_masked.h): 8 entries + 4 blocks bytes. Out of cache it is for rows that share columns without dense blocks.

  Blocks of several entries keep besides, for new values, what no product reads: 8 bytes a block row, and 4 an entry of those with
  fill.

  A block that is partly filled holds zeros: like PETSc's BAIJ, an Inf or NaN of x that meets such a zero gives NaN in
  rows that have no entry in that column. Columns past the matrix's last are never read. 1x1 blocks have no fill.

  Source: Zhang, Li, Yan, Zhou, A Cross-Platform SpMV Framework on Many-Core Architectures, ACM Trans. Archit. Code
  Optim. 13(4), 2016: sections 2.1 to 2.4 (format), 3.2.2 strategy 3 (values by columns, bunches), 4 (block shapes).
  We differ:
  - 2.2 writes one flag for each empty block row as well, which belongs to no block and loses leading and trailing empty
    rows; here each block has one flag, and the block rows that are not empty are listed.
  - 2.2 takes the difference -1 for the escape, which collides with a true -1, and has no base for a tile's first
    column; here a tile has a base, a true -1 is escaped too, and only escaped columns are stored in full.
  - 2.3 gives the temporary buffer slices x length of the vector multiplied; it is slices x rows.
  - flags, too, lie in the order of storage on the host, so that with a bunch one byte has a step of all lanes. On a device
    they lie in row order, so that a work item finds those of its tile in a word.

  Source of blocks with masks (SPC5): Bramas, Kus, Computing the sparse matrix vector product using block-based kernels without
  zero padding on processors with AVX-512 instructions, PeerJ Computer Science 4:e151, 2018: the blocks beta(r, c).
  host/bccoo_masked.h says where we differ.

  Both sides store blocks in the same way (bccoo_blocks.h), made from CSR by the same code:

  bccoo_walk.h       CSR rows as blocks
  bccoo_scan.c       the blocks of a matrix in row order
  bccoo_blocks.c     their arrays, and the values
  bccoo_distances.c  16-bit columns for devices
  bccoo_shapes.c     block sizes worth an estimate, and what storing them costs
  bccoo_knobs.h      the knobs that both sides have
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide   BccooHost;
extern const SpmvDeviceSide BccooDevice;

/*MC
  MATBCCOO - "bccoo": AIJ with the products of the blocked compressed common coordinate format (yaSpMV)

  A child of `MATAIJ`: the compressed rows of AIJ stay the master copy, and everything but the products (`MatMult()`,
  `MatMultAdd()`, `MatMultTranspose()`, `MatMultTransposeAdd()`) is AIJ's. `MATSEQBCCOO` on one process, `MATMPIBCCOO` on several;
  both blocks of the latter are `MATSEQBCCOO`. Options of all types are those of `MatSpmvOptions`.

  Options Database Keys:
+ -mat_type bccoo - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type bccoo
- -mat_bccoo_*

  Level: beginner

  Notes:
  `MatCreateVecs()` gives vectors of type `VECACCEL` where a device runs the products.

  Where a block is partly filled, Inf and NaN of x spread as in `MATBAIJ`; blocks of 1 x 1 behave as AIJ.

  References:
+ * - Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, sections 2 to 4
- * - Bramas, Kus, PeerJ Computer Science 4:e151, 2018 (SPC5): blocks with masks

.seealso: `MatSpmvOptions`, `MATCMRS`, `MATCSRADAPTIVE`, `MATTPSPMV`, `MATPMF`, `MATSBCCOO`, `MATSPMV`, `MatSpmvGetCounts()`
M*/
const SpmvFormat SpmvFormat_bccoo = {
  .name     = "bccoo",
  .citation = "@article{ZhangLiYanZhou2016,\n"
              "  title   = {A Cross-Platform {SpMV} Framework on Many-Core Architectures},\n"
              "  author  = {Yunquan Zhang and Shigang Li and Shengen Yan and Huiyang Zhou},\n"
              "  journal = {ACM Transactions on Architecture and Code Optimization},\n"
              "  volume  = {13},\n"
              "  number  = {4},\n"
              "  year    = {2016}\n"
              "}\n"
              "@article{BramasKus2018,\n"
              "  title   = {Computing the sparse matrix vector product using block-based kernels without zero padding on\n"
              "             processors with {AVX-512} instructions},\n"
              "  author  = {B{\\'e}renger Bramas and Pavel K{\\r{u}}s},\n"
              "  journal = {PeerJ Computer Science},\n"
              "  volume  = {4},\n"
              "  pages   = {e151},\n"
              "  year    = {2018}\n"
              "}\n",
  .host     = &BccooHost,
  .device   = &BccooDevice,
};
