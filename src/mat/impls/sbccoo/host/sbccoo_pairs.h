/*
  sbccoo_pairs.h - the two entries of a pair: how the second one is told from the first

  The bits of a floating point number are taken as those of an integer: numbers that follow each other have integers that do.
  What is added to the first to have the second is kept in 8 bits. That decodes to the same bits, whatever they stand for.
*/
#pragma once
#include "sbccoo_host.h"

#if defined(PETSC_USE_REAL_DOUBLE)
typedef uint64_t SbccooBits;
#elif defined(PETSC_USE_REAL_SINGLE)
typedef uint32_t SbccooBits;
#elif defined(PETSC_USE_REAL___FLOAT128)
__extension__ typedef unsigned __int128 SbccooBits;
#else
typedef uint16_t SbccooBits;
#endif

static inline SbccooBits SbccooBitsOf(PetscReal a)
{
  SbccooBits bits;

  memcpy(&bits, &a, sizeof(bits));
  return bits;
}

/* The number whose bits are those of a and a difference */
static inline PetscReal SbccooAddBits(PetscReal a, int8_t code)
{
  const SbccooBits bits = (SbccooBits)(SbccooBitsOf(a) + (SbccooBits)code);

  memcpy(&a, &bits, sizeof(a));
  return a;
}

/* True if `other` is told from a by 8 bits for each of its parts, which are `code` then; *equal: they are 0 */
static inline PetscBool SbccooCode(PetscScalar a, PetscScalar other, int8_t code[], PetscBool *equal)
{
  PetscReal from[SBCCOO_CODES], to[SBCCOO_CODES];
  PetscBool near = PETSC_TRUE;

  memcpy(from, &a, sizeof(a));
  memcpy(to, &other, sizeof(other));
  *equal = PETSC_TRUE;
  for (size_t k = 0; k < SBCCOO_CODES; k++) {
    const SbccooBits difference = (SbccooBits)(SbccooBitsOf(to[k]) - SbccooBitsOf(from[k]) + 128);

    if (difference > 255) near = PETSC_FALSE;
    if (difference != 128) *equal = PETSC_FALSE;
    code[k] = (int8_t)((int)(difference & 255) - 128);
  }
  return near;
}

/* The second entry of a pair; code: NULL where both are equal */
static inline PetscScalar SbccooOther(PetscScalar a, const int8_t code[], PetscBool conjugate)
{
  PetscReal part[SBCCOO_CODES];

  if (conjugate) a = PetscConj(a);
  if (!code) return a;
  memcpy(part, &a, sizeof(a));
  for (size_t k = 0; k < SBCCOO_CODES; k++) part[k] = SbccooAddBits(part[k], code[k]);
  memcpy(&a, part, sizeof(a));
  return a;
}
