/*
  tpspmv - two-phase product: column tiles make partial sums, rows add them up

  Storage:   columns are cut into tiles whose part of x fits the cache, rows into slices. A tile and a row that have entries
             in common are a pair, with one partial sum. A tile and a slice share a chunk: its pairs lie by falling number of
             entries, eight side by side, one in each lane of a vector; columns count from the chunk's first, rows from the
             slice's, as uint16. Runs of equal pairs tell where rows end, so nothing is stored for a row. Eight rows with the
             same entries, each one column further, are consecutive groups, which need no gather, and one column for eight.
             Rows with many entries in a tile are long: they are cut into segments, each with a partial sum.
  First phase:  tile after tile reads its part of x from the cache and writes partial sums one after the other.
  Second phase: slice after slice adds the partial sums of all tiles, in their order, to its part of y, in cache.
  One tile needs no partial sums: rows go straight to y. There is one where x fits the cache, and where consecutive rows find
  in the last cache most of the x that they need: the tuner chooses (TpspmvPropose()).
  A device has chunks of its own (device/tpspmv_device.h), in strips of 32 pairs, and the same two phases (device/tpspmv.cl).
  The transposed product turns the phases around: slices spread x over the pairs, then tiles add up their part of y.
  Good for:  matrices whose x does not fit the cache and whose rows have entries anywhere
  Bad for:   matrices that find their x in cache and have rows of many different lengths, a few of each
  Traffic:   (8 + 2) nnz (4 instead of 2 with int32 columns, an eighth of that in consecutive groups; 1, 4 or nothing instead of
             8 where values are few or short: host/values.h) + 2 pairs + 8 (m + n), and with several tiles 16 pairs for the
             partial sums, 24 where they do not go past the cache, bytes a product

  Source: Chen, Xiao, Wu, Tang, Li, tpSpMV: A two-phase large-scale sparse matrix-vector multiplication kernel for manycore
  architectures, Information Sciences, 2020: sections 4.1 (first phase), 4.2 (second), 5.1 (empty rows and columns),
  5.2 (aligned slices), 5.3 (pipelining).
  We differ:
  - In section 4 a core group has a block of rows, and each of its 64 cores a tile that fits 64 KiB of local memory. Here the
    block of rows is the matrix that a storage is made from, and a thread takes as many tiles as the cache asks for.
  - Equal nonzeros of tiles (layer 2) come after the fit: tiles are as few as fit. Tasks split chunks and segments by entries.
  - blockY is dense: a slice without entries in a tile is never written but read. Here only pairs have partial sums.
  - Empty rows are removed from each tile, not only from the matrix; empty columns where at least half are empty.
  - 5.2 pads slices to 128 bytes; here chunks to 64, or less where that would fill more than 2 %, and on a device each strip.
    Fill is never multiplied.
  - 5.3 overlaps loading, computing and returning: here what is to come is prefetched, and partial sums go past the cache.
  Misprints: algorithm 2 says theta where it means delta, the cores; 4 says sliceA for sliceY, i + 1 for j + 1, and that blockY
  has m n / theta elements, which are (m / theta) x delta.
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide   TpspmvHost;
extern const SpmvDeviceSide TpspmvDevice;

/*MC
  MATTPSPMV - "tpspmv": AIJ with two-phase products (tpSpMV), for matrices whose input vector does not fit the cache

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQTPSPMV` on one process, `MATMPITPSPMV` on several.

  Options Database Keys:
+ -mat_type tpspmv - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type tpspmv
- -mat_tpspmv_*

  Level: beginner

  Notes:
  With several tiles a product has its partial sums as memory of its own, 8 bytes for each row of each tile that is not empty
  there. A view tells tiles, slices, fill and the bytes of partial sums.

  A transposed product reads the same storage.

  References:
. * - Chen, Xiao, Wu, Tang, Li, tpSpMV, Information Sciences, 2020, sections 4 and 5

.seealso: `MatSpmvOptions`, `MATBCCOO`, `MatSpmvGetCounts()`
M*/
const SpmvFormat SpmvFormat_tpspmv = {
  .name = "tpspmv",
  .citation =
    "@article{ChenXiaoWuTangLi2020,\n"
    "  title   = {{tpSpMV}: A two-phase large-scale sparse matrix-vector multiplication kernel for manycore architectures},\n"
    "  author  = {Yuedan Chen and Guoqing Xiao and Fan Wu and Zhuo Tang and Keqin Li},\n"
    "  journal = {Information Sciences},\n"
    "  year    = {2020}\n"
    "}\n",
  .host   = &TpspmvHost,
  .device = &TpspmvDevice,
};
