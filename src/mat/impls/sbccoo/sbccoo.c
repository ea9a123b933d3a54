/*
  sbccoo - half of a symmetric matrix: diagonal and strict upper part, each entry used twice

  Storage:   blocks of b x b entries, b = 1 to 8, in the order of block rows: of each row the block on the diagonal, then those
             beyond it, by rows; for each of these j - i as a uint16, in rows where that is too small as a uint32. In the place of
             scalars beyond the diagonal (b = 1) there are pieces: four columns with two entries or more, which a byte tells; and
             what is in none.
             A pair is an entry and its mirror image. Both are kept to the last bit: where they are not equal, an int8 for
             each part of the first one tells the second, as a multiple of half a unit in its last place, or in that of larger
             terms that cancelled (sbccoo_pairs.h). Where that is not enough (other signs, 0 and -0, NaN), both are stored.
             What has no mirror image (Dirichlet rows) is in rows by itself.
  Good for:  matrices that are symmetric up to rounding, as those of finite elements are, and out of cache
  Bad for:   matrices with more than some entries in no pair, for which another format takes over; scattered scalars in cache
  Traffic:   (8 b^2 + 2) / 2 an off-diagonal block, + b^2 / 2 where pairs differ, 8 b^2 + 2 a block row, 12 an entry in no pair,
             + 8 (m + n) bytes a product; of scalars 10 / 2 or, in a piece of k, (8 k + 3) / 2 k an off-diagonal entry,
             9 where both of a pair are stored; such a pair in a block takes 24 besides its place

  Entries that are assembled one by one are rarely those of a symmetric matrix to the last bit: a third to two thirds of the pairs
  of an elasticity, P2 or Q2 matrix are not, since their terms were added in another order.

  On request (the knob `exact`), of a matrix that the user declared symmetric or Hermitian the upper part is stored alone, without
  what tells the second entries. The error is that of the pairs, which are all compared at each build and refresh: at most 1e-10
  of the larger entry, or of sqrt(|a_ii a_jj|) where that is more, since what is left where larger terms cancel is noise; half
  a unit in the last place for most. A pair that is further apart is refused; in a block on the diagonal both of a pair are
  stored, and need not be close. It is never chosen unless asked for.

  A block that is partly filled holds zeros, as bccoo's: an Inf or NaN of x that meets such a zero gives NaN in rows that have no
  entry in that column. So does a missing diagonal entry, and the place of a pair that is stored elsewhere.

  Threads add to rows of others through windows, which are added up in the order of the threads: results depend on their number.

  The transposed product is the same one with the entries of each pair exchanged.

  To store one half and use each entry twice is as old as symmetric sparse solvers (SBAIJ, OSKI). Pairs that are equal up to
  rounding are ours.

  The host side has all that there is: sbccoo_host.h. There is no device side.
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide SbccooHost;

const SpmvFormat SpmvFormat_sbccoo = {.name = "sbccoo", .citation = NULL, .host = &SbccooHost};
