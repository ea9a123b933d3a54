/*
  pmf - rows ordered by length, eight of a length across the lanes of a vector

  Storage:   rows are ordered by length in windows, and cut into slices of eight, which lie side by side (sliced ELL): a step has
             an entry of each. A row much longer than those after it is stored alone, eight of its entries in a step.
             Columns are uint16 with a base where they fit, else int32; a step has eight or fewer (PmfKind, host/pmf_host.h).
             Steps in which some lanes have no entry have a mask. Slices with the same steps make a run with a header.
  Good for:  short and medium rows of varying length; stencils; rows or columns that are dense; with AVX-512, groups of rows
             with the same columns, such as the unknowns of a node
  Bad for:   large dense blocks without AVX-512 (bccoo stores one column for a block)
  Traffic:   (8 + 2) nnz (instead of 2: 1 in pairs, 3/4 to 1 with pieces of x, 1/4 where columns are consecutive; twice as much,
             with pieces 1 to 1.5, where columns of rows side by side are more than 65536 apart) + 2 m (rows of runs that are
             not consecutive) + 64 a run + 8 (m + n) bytes a product, and a few per cent of padding

  Values that are few or short (host/values.h) take 1, 4 or no bytes instead of 8.

  Kept besides, for new values: 4 bytes for each column stored, or four pieces, which no product reads.

  Parts are sets of rows for processors of given powers: threads of the host, and in a joint product a device, which has the first
  parts. A part of the host is a range of runs. Rows with so many entries that no parts would be balanced are split over all parts
  of the host, and the sums of their fragments are added in the order of the parts; in a joint product no row is split.

  Source: Yang, Li, Mo, Li, Performance Optimization Using Partitioned SpMV on GPUs and Multicore CPUs, IEEE Trans.
  Computers 64(9), 2015: sections 3.2 (density), 4.2 (algorithms 1 to 4), 5.1 (theorem 1).
  We differ:
  - the paper orders all rows by length (-mat_pmf_window global); by default windows are ordered, so that x and y stay in cache;
  - each part of the paper is one ELL array, as wide as its longest row; here every slice has its own width. What is printed
    of parts is the paper's rows x width;
  - rows without entries are in no part; rows that are split are in all;
  - algorithm 4 stores blocks as DIA and the rest as CSR. Here a block's diagonals are cut at every eighth row, and the rest is
    stored in slices;
  - theorem 1 does not hold as stated: of rows with 1, 5, 5, 5, 5, 5, 6 entries and shares 6/32 and 26/32 algorithm 3 makes
    {1, 5}, {5, 5, 5, 5, 6}, which is 2 x 5 + 5 x 6 = 40 elements, while {6}, {1, 5, 5, 5, 5, 5} has 1 x 6 + 6 x 5 = 36. Its proof
    takes the longest row to be in the last part. tests/format_pmf.c finds no exception among partitions whose parts come
    in the order of their widths.

  pmf_partition.c   rows in order, and cut into parts, for both sides
  host/             this processor
  device/           devices: sliced ELL as well (device/pmf_device.h)
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide   PmfHost;
extern const SpmvDeviceSide PmfDevice;

/*MC
  MATPMF - "pmf": AIJ with the products of rows ordered by their length, eight at a time, in parts by computing power

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQPMF` on one process, `MATMPIPMF` on several.

  Options Database Keys:
+ -mat_type pmf - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type pmf
- -mat_pmf_*

  Level: beginner

  Notes:
  Inf and NaN of x reach the rows that have an entry there, and no others. A view tells the density, fill and relative difference
  of each part.

  Where device and host have some of the rows each and -mat_pmf_powers is not given, the powers are measured at each build: which
  of the two has a row, and beside which rows, may change from run to run, and with it the last bit of the row, since the two add
  up entries in different order. The products of one build have the same bits each time, and so have all with powers that are
  given.

  References:
. * - Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015, section 4

.seealso: `MatSpmvOptions`, `MATBCCOO`, `MatSpmvGetCounts()`
M*/
const SpmvFormat SpmvFormat_pmf = {
  .name     = "pmf",
  .citation = "@article{YangLiMoLi2015,\n"
              "  title   = {Performance Optimization Using Partitioned {SpMV} on {GPUs} and Multicore {CPUs}},\n"
              "  author  = {Wangdong Yang and Kenli Li and Zeyao Mo and Keqin Li},\n"
              "  journal = {IEEE Transactions on Computers},\n"
              "  volume  = {64},\n"
              "  number  = {9},\n"
              "  year    = {2015}\n"
              "}\n",
  .host     = &PmfHost,
  .device   = &PmfDevice,
};
