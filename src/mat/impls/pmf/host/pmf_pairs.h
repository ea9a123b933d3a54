/*
  pmf_pairs.h - which entries of a row are pairs of consecutive columns

  No branch predictor foresees which are, so a row's pairs are bits, 64 entries at a time.
*/
#pragma once
#include "pmf_host.h"

/* Bit e: of n + 1 entries, n <= 64, entry e + 1 is in the column after that of entry e. Four at a time, of vectors of any
   machine */
static inline uint64_t PmfNext(const PetscInt j[], PetscInt n)
{
  typedef PetscInt Four __attribute__((vector_size(4 * sizeof(PetscInt))));
  const PetscInt   most = 8 * (PetscInt)sizeof(PetscInt); /* bits of a lane */
  uint64_t         next = 0;

  for (PetscInt e = 0; e < n;) {
    const PetscInt first = e, last = PetscMin(n, e + most);
    Four           bit = {1, 2, 4, 8}, all = {0, 0, 0, 0};
    uint64_t       here;

    for (; e + 4 <= last; e += 4) {
      Four from, to;

      memcpy(&from, j + e, sizeof(from));
      memcpy(&to, j + e + 1, sizeof(to));
      all |= (to - from == 1) & bit;
      bit <<= 4;
    }
    here = (uint64_t)(all[0] | all[1] | all[2] | all[3]) & (~UINT64_C(0) >> (64 - most));
    for (; e < last; e++) here |= (uint64_t)(j[e + 1] - j[e] == 1) << (e - first);
    next |= here << first;
  }
  return next;
}

/*
  The pairs that begin among the first 64 of n entries, bit e for entries e and e + 1: of entries that follow each other, the
  first two are one, then the next two. Where bits of a run begin at even places, its carry in the sum takes it away
*/
static inline uint64_t PmfPairsOf(const PetscInt j[], PetscInt n)
{
  const uint64_t even = UINT64_C(0x5555555555555555);
  const uint64_t next = PmfNext(j, PetscMin(64, n - 1));
  const uint64_t at   = next & ~(next + (next & ~(next << 1) & even)); /* in runs that begin at even places */
  return (at & even) | (next & ~at & ~even);
}

/* The entry that the next 64 begin with, after these pairs */
static inline PetscInt PmfPairsTurn(uint64_t pairs)
{
  return 64 + (PetscInt)(pairs >> 63);
}
