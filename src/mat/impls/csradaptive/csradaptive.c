/*
  csradaptive - CSR as it is, with rows cut into row blocks that each go to the kernel that suits them

  Storage:   AIJ's own i, j and a, borrowed; a 64-bit word for each row block: row, flag, workgroup number
  Good for:  matrices that change often or are multiplied few times (set-up is a pass over row pointers, new values cost
             nothing), memory that is short, rows of any length side by side
  Bad for:   matrices with dense blocks, which bccoo stores in fewer bytes; columns so scattered that x comes from far
  Traffic:   (8 + 4) nnz + 4 m + 8 row blocks + 8 (m + n) bytes a product; (8 + 4 / h) nnz in nodes of h rows

  Row blocks of several rows hold at most NNZ_PER_WG entries. Three kernels:
    CSR-Stream    num_rows_stream rows or more: all products of the row block, then the sums of its rows, eight at a time
    CSR-Vector    fewer rows: row after row, a vector of products at a time
    CSR-VectorL   a row of more than NNZ_PER_WG x NNZ_multiplier entries, shared by several row blocks

  Where each h = 2 to 6 rows of a row block have the same columns (a node: several unknowns at a point, AIJ's inodes), the
  word says so, and CSR-Vector reads columns and x once for h rows. Set-up compares columns only as long as they agree.

  Source: Daga, Greathouse, Structural Agnostic SpMV: Adapting CSR-Adaptive for Irregular Matrices, HiPC 2015: sections
  III-A (Stream, num_rows_stream, the break between long and short rows), III-B (VectorL, figures 5 and 6, NNZ_multiplier).
  We differ:
  - figure 7 synchronises the workgroups of a row by its flag, then adds atomically. Here the flag never changes, and parts
    are added in order: the same bits each time.
  - rows that share columns go to CSR-Vector however many they are.
  - a break between long and short rows is made only where a row block is half full, so that alternating rows do not
    take a word each.
  - the paper's num_rows_stream counts rows of a GPU's workgroup; the defaults of a host are measured on one.
  Misprints are listed in device/csradaptive.cl.
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide   CsradaptiveHost;
extern const SpmvDeviceSide CsradaptiveDevice;

/*MC
  MATCSRADAPTIVE - "csradaptive": AIJ with the products of CSR-Adaptive, on AIJ's own arrays

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQCSRADAPTIVE` on one process, `MATMPICSRADAPTIVE` on several. The storage is AIJ's
  rows, columns and values, not copied, and eight bytes for each row block; it is made by a pass over the row pointers. Rows need
  not be sorted. A device is sent AIJ's arrays and cuts row blocks by knobs of its own instead of three of the host's.

  Options Database Keys:
+ -mat_type csradaptive - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type csradaptive
- -mat_csradaptive_*

  Level: beginner

  References:
. * - Daga, Greathouse, Structural Agnostic SpMV: Adapting CSR-Adaptive for Irregular Matrices, HiPC 2015, section III

.seealso: `MatSpmvOptions`, `MATBCCOO`, `MatSpmvGetCounts()`
M*/
const SpmvFormat SpmvFormat_csradaptive = {
  .name     = "csradaptive",
  .citation = "@inproceedings{DagaGreathouse2015,\n"
              "  title     = {Structural Agnostic {SpMV}: Adapting {CSR-Adaptive} for Irregular Matrices},\n"
              "  author    = {Mayank Daga and Joseph L. Greathouse},\n"
              "  booktitle = {22nd IEEE International Conference on High Performance Computing ({HiPC})},\n"
              "  year      = {2015}\n"
              "}\n",
  .host     = &CsradaptiveHost,
  .device   = &CsradaptiveDevice,
};
