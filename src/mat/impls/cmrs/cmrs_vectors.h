/*
  cmrs_vectors.h - what the two ways through a storage share: entries times x, eight at a time
*/
#pragma once
#include "cmrs.h"
#include "../../../simd/simd.h"

/* What a product is given */
typedef struct {
  const CmrsStorage *c;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          beta;
} CmrsProduct;

/*
  Asks for bytes that memory has to send, into the second cache, for large matrices only: see BccooAhead()
*/
#define CMRS_AHEAD_WORDS  4096 /* bytes between what is in use and what is asked for */
#define CMRS_AHEAD_VALUES 16384

/* The products of entries k to k + 7 */
SPMV_INLINE Spmv8 CmrsEight(const CmrsStorage *c, PetscInt k, const PetscScalar *x, PetscBool wide)
{
  const Spmv8 xk = wide ? Spmv8GatherPacked64(x, (const uint64_t *)c->word + k, CMRS_BITS) : Spmv8GatherPacked32(x, (const uint32_t *)c->word + k, CMRS_BITS);

  return Spmv8Mul(Spmv8Load(c->value + k), xk);
}

SPMV_INLINE void CmrsAhead(const CmrsStorage *c, PetscInt k, PetscBool wide)
{
  if (!c->ahead) return;
  __builtin_prefetch((const char *)(c->value + k) + CMRS_AHEAD_VALUES, 0, 2);
  if (wide || k % (2 * CMRS_VECTOR) < CMRS_VECTOR) __builtin_prefetch((const char *)c->word + (size_t)k * (wide ? 8 : 4) + CMRS_AHEAD_WORDS, 0, 2);
}

/* y[r] <- beta y[r] + sum for the first n of eight rows */
SPMV_INLINE void CmrsPut(const CmrsProduct *p, PetscInt r, PetscInt n, Spmv8 sum)
{
  if (n >= CMRS_VECTOR) Spmv8Store(p->y + r, p->beta ? Spmv8Add(Spmv8Load(p->y + r), sum) : sum);
  else if (n > 0) Spmv8StoreFirst(p->y + r, p->beta ? Spmv8Add(Spmv8LoadFirst(p->y + r, (int)n), sum) : sum, (int)n);
}
