/*
  cmrs_vectors.h - entries times x, eight at a time
*/
#pragma once
#include "cmrs_host.h"
#include "../../../../host/simd/simd.h"

/* What a product is given */
typedef struct {
  const CmrsStorage *c;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          beta;
  PetscScalar       *work; /* of a transposed product: vectors of the threads */
} CmrsProduct;

/* Large matrices are prefetched, into the second cache */
#define CMRS_PREFETCH_WORDS  4096 /* bytes between what is in use and what is prefetched */
#define CMRS_PREFETCH_VALUES 16384

/* Words and values from some entry on, in local variables: the compiler must not look them up again after each store */
typedef struct {
  const char        *word;
  const PetscScalar *value;
  size_t             size; /* of a word, a constant where this is inlined */
  PetscBool          prefetch;
} CmrsEntries;

SPMV_INLINE CmrsEntries CmrsEntriesFrom(const CmrsStorage *c, PetscInt k, PetscBool wide)
{
  const size_t size = wide ? sizeof(uint64_t) : sizeof(uint32_t);

  return (CmrsEntries){(const char *)c->word + (size_t)k * size, c->value + k, size, c->prefetch};
}

SPMV_INLINE uint64_t CmrsWordAt(const CmrsEntries *e, size_t k)
{
  return e->size == sizeof(uint64_t) ? ((const uint64_t *)e->word)[k] : ((const uint32_t *)e->word)[k];
}

/* The products of entries k to k + 7 */
SPMV_INLINE Spmv8 CmrsEight(const CmrsEntries *e, size_t k, const PetscScalar *x)
{
  const Spmv8 xk = e->size == sizeof(uint64_t) ? Spmv8GatherPacked(x, (const uint64_t *)e->word + k, CMRS_BITS)
                                               : Spmv8GatherPacked(x, (const uint32_t *)e->word + k, CMRS_BITS);

  if (e->prefetch) {
    SpmvPrefetch((const char *)(e->value + k) + CMRS_PREFETCH_VALUES, 1);
    SpmvPrefetch(e->word + k * e->size + CMRS_PREFETCH_WORDS, 1);
  }
  return Spmv8Mul(Spmv8Load(e->value + k), xk);
}

/* y[r] <- beta y[r] + sum for the first n of eight rows */
SPMV_INLINE void CmrsPut(const CmrsProduct *p, PetscInt r, PetscInt n, Spmv8 sum)
{
  if (n >= CMRS_VECTOR) Spmv8Store(p->y + r, p->beta ? Spmv8Add(Spmv8Load(p->y + r), sum) : sum);
  else if (n > 0) Spmv8StoreFirst(p->y + r, p->beta ? Spmv8Add(Spmv8LoadFirst(p->y + r, (int)n), sum) : sum, (int)n);
}
