/*
  prefetch.h - what a product or a build is going to read, asked for ahead
*/
#pragma once
#include "machine.h"

/*
  Prefetches bytes into the second cache: the first has too few lines under way to wait for memory in. pmf's builds of matrices of
  30 M entries take 0.78 to 1.02 times as long as with the first one (6 matrices, Zen 4). It pays for arrays that no cache holds
  from one product to the next, SpmvMachine.cached entries or more, and costs for smaller ones. Always inline: compilers drop a
  call of what has no effect
*/
static inline __attribute__((always_inline)) void SpmvPrefetch(const void *first, size_t bytes)
{
  for (size_t k = 0; k < bytes; k += SPMV_CACHE_LINE) __builtin_prefetch((const char *)first + k, 0, 2);
}

/*
  Whether it pays for the rows that a build reads. Those taken in another order than they are stored in are more streams than
  hardware foresees; but what a cache of the core's own has is there at once, and to ask for it takes time
*/
static inline PetscBool SpmvPrefetchPays(const SpmvCSR *csr)
{
  return (PetscBool)!SpmvMachineHasRows(csr);
}

/* The columns of a row; values: and its values */
static inline __attribute__((always_inline)) void SpmvPrefetchRow(const SpmvCSR *csr, PetscInt row, PetscBool values)
{
  const PetscInt first = csr->i[row];
  const size_t   n     = (size_t)(csr->i[row + 1] - first);

  SpmvPrefetch(csr->j + first, n * sizeof(*csr->j));
  if (values) SpmvPrefetch(csr->a + first, n * sizeof(*csr->a));
}
