/*
  cmrs - compressed multi-row storage: strips of rows, each entry with its row inside the strip

  Storage:   for each strip of up to 16 rows the place of its first entry; for each entry its value and a word, column << 4 |
             row in the strip (32 bits, 64 where there are more than 2^28 columns). The entries of a strip may have any order:
             interleaved, the host's: the first entries of eight rows, then the second ones, ... (cmrs_host.h)
             by rows, by columns and padded, a device's: the paper's, sections 3 and 4.4. Padded are groups of 32 entries with
             at most 8 of a row, which lie together; height 16, strips of whole groups
             grouped, a device's for short rows: by columns, then each 32 entries by rows
  Good for:  short and medium rows of like length, stencils, empty rows
  Bad for:   dense blocks, whose columns other formats share
  Long rows: a device gives a strip of many entries to several warps
  Traffic:   (8 + 4) nnz + steps + (4 + 12) m / 8 + 8 (m + n) bytes a product with nnz / 8 to nnz steps, commonly nnz / 6
             (interleaved); (8 + 4) stored + 4 m / height + 8 (m + n) (a device)

  Source: Koza, Matyka, Szkoda, Miroslaw, Compressed Multi-Row Storage Format for Sparse Matrices on GPUs, SIAM J. Sci.
  Comput. 36(2), 2014: section 3 (format, sorting, aligned start), section 4.4 (padding), the appendix (the row in the low bits
  of the word: section 3 does not say which).
  We differ:
  - the paper refuses 2^28 columns and more; here words grow.
  - padding has a value of 0 and the word of the entry before it; a device that multiplied it would make NaN of an Inf in x.
    Here products leave it out, by the number of entries that each group has.
  - a warp of the paper has all of a strip, however long. Here strips of more than device_part entries are shared.
  - the host has none of the paper's orders: on Zen 4 they take 2 to 4 times as long as the interleaved one.
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide   CmrsHost;
extern const SpmvDeviceSide CmrsDevice;

/*MC
  MATCMRS - "cmrs": AIJ with the products of the compressed multi-row storage format

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQCMRS` on one process, `MATMPICMRS` on several.

  Options Database Keys:
+ -mat_type cmrs - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type cmrs
- -mat_cmrs_*

  Level: beginner

  Note:
  Inf and NaN of x go where they go in AIJ: padding takes no part in a product. A view tells the memory overhead of padded strips.

  References:
. * - Koza, Matyka, Szkoda, Miroslaw, SIAM J. Sci. Comput. 36(2), 2014, sections 3 and 4.4

.seealso: `MatSpmvOptions`, `MATBCCOO`, `MatSpmvGetCounts()`
M*/
const SpmvFormat SpmvFormat_cmrs = {
  .name     = "cmrs",
  .citation = "@article{KozaMatykaSzkodaMiroslaw2014,\n"
              "  title   = {Compressed Multi-Row Storage Format for Sparse Matrices on Graphics Processing Units},\n"
              "  author  = {Zbigniew Koza and Maciej Matyka and Sebastian Szkoda and {\\L}ukasz Miros{\\l}aw},\n"
              "  journal = {SIAM Journal on Scientific Computing},\n"
              "  volume  = {36},\n"
              "  number  = {2},\n"
              "  year    = {2014}\n"
              "}\n",
  .host     = &CmrsHost,
  .device   = &CmrsDevice,
};
