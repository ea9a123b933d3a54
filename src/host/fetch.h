/*
  fetch.h - what a build is going to read, asked for ahead: rows that are taken in another order than they are stored in are more
  streams than hardware foresees
*/
#pragma once
#include "machine.h"

/* Whether it pays: what a cache of the core's own has is there at once, and to ask for it takes time */
static inline PetscBool SpmvFetchPays(const SpmvCSR *csr)
{
  return (PetscBool)!SpmvMachineHasRows(csr);
}

/*
  Bytes from an address on, into the second cache: the first has too few lines under way to wait for memory in. pmf's builds of
  matrices of 30 M entries take 0.78 to 1.02 times as long as with the first one (6 matrices, Zen 4). Always inline: compilers drop a
  call of what has no effect
*/
static inline __attribute__((always_inline)) void SpmvFetch(const void *first, size_t bytes)
{
  for (size_t k = 0; k < bytes; k += SPMV_CACHE_LINE) __builtin_prefetch((const char *)first + k, 0, 2);
}

/* The columns of a row; values: and its values */
static inline __attribute__((always_inline)) void SpmvFetchRow(const SpmvCSR *csr, PetscInt row, PetscBool values)
{
  const PetscInt first = csr->i[row];
  const size_t   n     = (size_t)(csr->i[row + 1] - first);

  SpmvFetch(csr->j + first, n * sizeof(*csr->j));
  if (values) SpmvFetch(csr->a + first, n * sizeof(*csr->a));
}
