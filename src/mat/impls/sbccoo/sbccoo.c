/*
  sbccoo - half of a symmetric matrix: diagonal and strict upper part, each entry used twice

  Storage:   blocks of b x b entries, b = 1 to 8, in the order of block rows: of each row the block on the diagonal, then those
             beyond it, by rows; for each of these j - i as a uint16, in rows where that is too small as a uint32. Of scalars
             (b = 1) the rows of each chunk of 64 are sorted by their lengths, so that loops end where a processor expects it. Or
             there are pieces in the place of scalars beyond the diagonal, four columns with two entries or more, which a byte
             tells; and what is in none: where that takes less time.
             A pair is an entry and its mirror image. Both are kept to the last bit: where they are not equal, an int8 for
             each part of the first one tells the second, as a multiple of half a unit in its last place, or in that of larger
             terms that cancelled (sbccoo_pairs.h); an int16 for scalars that are further apart, where that takes fewer bytes.
             Where that is not enough (other signs, 0 and -0, NaN), both are stored.
             What has no mirror image (Dirichlet rows) is in rows by itself.
  Good for:  matrices that are symmetric up to rounding, as those of finite elements are, and out of cache
  Bad for:   matrices with more than some entries in no pair, for which another format takes over; scattered scalars in cache
  Traffic:   (8 b^2 + 2) / 2 an off-diagonal block, + b^2 / 2 where pairs differ, 8 b^2 + 2 a block row, 12 an entry in no pair,
             + 8 (m + n) bytes a product; of scalars 10 / 2 or, in a piece of k, (8 k + 3) / 2 k an off-diagonal entry,
             9 where both of a pair are stored; in a block such a pair takes 8 bytes more, where pairs are equal else 24

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

/*MC
  MATSBCCOO - "sbccoo": AIJ with the products of half of a symmetric matrix, each entry of which is used twice

  A child of `MATAIJ` as `MATBCCOO` is: `MATSEQSBCCOO` on one process, `MATMPISBCCOO` on several. There are no kernels for
  devices.

  Options Database Keys:
+ -mat_type sbccoo - sets the type in `MatSetFromOptions()`; DM programs take -dm_mat_type sbccoo
- -mat_sbccoo_*

  Level: intermediate

  Notes:
  Products are those of the matrix as it is, to the last bit of each entry; nothing need be declared. Entries and their mirror
  images differ by rounding in most assembled matrices. Where 8 bits, or of scalars 16, do not tell the one from the other,
  both are stored.

  With -mat_sbccoo_exact no, an entry below the diagonal is taken to be its mirror image where `MatSetOption()` has declared
  the matrix symmetric (`MAT_SYMMETRIC`, `MAT_SPD`, `MAT_HERMITIAN`) when the storage is built or has new values. PETSc forgets
  that at each assembly unless `MAT_SYMMETRY_ETERNAL` is set: then the storage is exact again. The error of an entry a_ij is at
  most 1e-10 (64 times the machine's epsilon where that is more, as in single precision) of the largest of a_ij, a_ji and
  sqrt(a_ii a_jj), of their sizes. All pairs are compared each time; one that is further apart is an error that names it.

  Products read 4.7 to 5.3 bytes an entry of linear elements of elasticity, 5.1 of quadratic ones, 5.1 to 7.1 of scalar
  problems; with -mat_sbccoo_exact no 4.2 to 4.9 of elasticity.

  Another format takes over, which -info says, where more than a part of the entries has no mirror image: then, and of the
  off-diagonal blocks of a parallel matrix, `MatSpmvGetPlan()` begins with the name of that format. New values are looked at
  again.

  Where a block is partly filled, a diagonal entry is missing, or both entries of a pair are stored apart from their block, Inf
  and NaN of x spread as in `MATBAIJ`.

  References:
. * - storing one half is as old as symmetric sparse solvers (OSKI); pairs that are equal up to rounding are ours

.seealso: `MatSpmvOptions`, `MATBCCOO`, `MATSPMV`, `MatSpmvGetPlan()`, `MatSpmvGetCounts()`
M*/
const SpmvFormat SpmvFormat_sbccoo = {.name = "sbccoo", .citation = NULL, .host = &SbccooHost};
