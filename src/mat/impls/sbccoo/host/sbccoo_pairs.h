/*
  sbccoo_pairs.h - the two entries of a pair: how the second one is told from the first

  They differ by rounding. The terms that an entry is the sum of were added in another order, so that the difference is a small
  multiple of half a unit in the last place of the entry, or, if larger terms cancelled, of theirs. Of the latter there is one for
  the whole matrix, `least`. A multiple of -127 to 127 is kept. Where what it decodes to has not all the bits of the second entry,
  both are stored: of blocks the code says so.

  Entries that are sums of terms of very different sizes, as a mass matrix plus a small multiple of a stiffness matrix, or edge
  elements on a fine mesh, need larger multiples: of scalars they may have two bytes, -32767 to 32767.

  Half a unit, since the second entry may be below a power of two that the first one is not below: of DOLFINx's 2-D elasticity
  7 of a hundred pairs are on two sides of one, 4 are an odd number of halves apart. With whole units these would be stored
  twice, for pairs of 64 to 127 units: 0 to 5 of a hundred, most of which `least` tells. Such a number added to the bits as to
  an integer would tell both, but not what is left where larger terms cancelled.
*/
#pragma once
#include "sbccoo_host.h"

#if defined(PETSC_USE_REAL_DOUBLE)
typedef uint64_t SbccooBits;
  #define SBCCOO_EXPONENT ((SbccooBits)0x7ff << 52)
  #define SBCCOO_MANTISSA 52
#elif defined(PETSC_USE_REAL_SINGLE)
typedef uint32_t SbccooBits;
  #define SBCCOO_EXPONENT ((SbccooBits)0xff << 23)
  #define SBCCOO_MANTISSA 23
#elif defined(PETSC_USE_REAL___FLOAT128)
__extension__ typedef unsigned __int128 SbccooBits;
  #define SBCCOO_EXPONENT ((SbccooBits)0x7fff << 112)
  #define SBCCOO_MANTISSA 112
#else
typedef uint16_t SbccooBits;
  #define SBCCOO_EXPONENT ((SbccooBits)0x7c00)
  #define SBCCOO_MANTISSA 10
#endif

/* A step, of a first entry of 1 to 2: half a unit in the last place. It is below 0, since -0.0 plus no steps is -0.0 then */
#define SBCCOO_UNIT (-PETSC_MACHINE_EPSILON / 2)
#define SBCCOO_BIAS (SBCCOO_EXPONENT / 2 & SBCCOO_EXPONENT) /* the exponent of 1 */

static inline SbccooBits SbccooBitsOf(PetscReal a)
{
  SbccooBits bits;

  memcpy(&bits, &a, sizeof(bits));
  return bits;
}

/* What a difference is a multiple of, over SBCCOO_UNIT: the power of two in a, or `least` if that is more */
static inline PetscReal SbccooPower(PetscReal a, PetscReal least)
{
  const SbccooBits bits = SbccooBitsOf(a) & SBCCOO_EXPONENT;

  memcpy(&a, &bits, sizeof(a));
  return PetscMax(a, least);
}

/* 1 / power for a power of two; anything for the largest ones, 0, Inf and NaN */
static inline PetscReal SbccooInverse(PetscReal power)
{
  const SbccooBits bits = (SbccooBits)(2 * SBCCOO_BIAS - SbccooBitsOf(power));

  memcpy(&power, &bits, sizeof(power));
  return power;
}

/* The products with powers of two are exact (of steps that were kept): a fused multiplication gives the same */
static inline PetscReal SbccooAddSteps(PetscReal a, int steps, PetscReal least)
{
  return a + (PetscReal)steps * SbccooPower(a, least) * SBCCOO_UNIT;
}

/* The largest multiple that a code of so many bytes has */
static inline int SbccooMost(size_t codesize)
{
  return codesize == sizeof(int16_t) ? INT16_MAX : INT8_MAX;
}

/* Number k of codes */
static inline int SbccooCodeAt(const int8_t code[], size_t k, size_t codesize)
{
  int16_t two;

  if (codesize == sizeof(int8_t)) return code[k];
  memcpy(&two, code + sizeof(two) * k, sizeof(two));
  return two;
}

static inline void SbccooCodeSet(int8_t code[], size_t k, size_t codesize, int steps)
{
  const int16_t two = (int16_t)steps;

  if (codesize == sizeof(int8_t)) code[k] = (int8_t)steps;
  else memcpy(code + sizeof(two) * k, &two, sizeof(two));
}

/* True if `other` is told from a by a multiple for each of its parts, which are `code` then; *equal: they are 0 */
static inline PetscBool SbccooCode(PetscScalar a, PetscScalar other, PetscReal least, size_t codesize, int8_t code[],
                                   PetscBool *equal)
{
  const int most = SbccooMost(codesize);
  PetscReal from[SBCCOO_CODES], to[SBCCOO_CODES];
  PetscBool near = PETSC_TRUE;

  memcpy(from, &a, sizeof(a));
  memcpy(to, &other, sizeof(other));
  *equal = PETSC_TRUE;
  for (size_t k = 0; k < SBCCOO_CODES; k++) {
    const PetscReal power = SbccooPower(from[k], least), steps = (to[k] - from[k]) * SbccooInverse(power) / SBCCOO_UNIT;
    const PetscBool few = (PetscBool)(steps >= -most && steps <= most);
    const int       n   = few ? (int)steps : 0;

    SbccooCodeSet(code, k, codesize, n);
    *equal &= SbccooBitsOf(from[k]) == SbccooBitsOf(to[k]);
    near &= few & (SbccooBitsOf(from[k] + (PetscReal)n * power * SBCCOO_UNIT) == SbccooBitsOf(to[k]));
  }
  return near;
}

/* What a pair may differ by where the second entry is taken to be the first one: of the larger of the two, or of `scale` */
#define SBCCOO_CLOSE PetscMax((PetscReal)1e-10, 64 * PETSC_MACHINE_EPSILON)

static inline PetscBool SbccooIsClose(PetscScalar a, PetscScalar other, PetscReal relative, PetscReal scale)
{
  const PetscReal larger = PetscMax(scale, PetscMax(PetscAbsScalar(a), PetscAbsScalar(other)));

  return (PetscBool)(PetscAbsScalar(a - other) <= relative * larger);
}

/* The second entry of a pair; codesize: 0 where both are equal */
static inline PetscScalar SbccooOther(PetscScalar a, size_t codesize, const int8_t code[], PetscReal least, PetscBool conjugate)
{
  PetscReal part[SBCCOO_CODES];

  if (conjugate) a = PetscConj(a);
  if (!codesize) return a;
  memcpy(part, &a, sizeof(a));
  for (size_t k = 0; k < SBCCOO_CODES; k++) part[k] = SbccooAddSteps(part[k], SbccooCodeAt(code, k, codesize), least);
  memcpy(&a, part, sizeof(a));
  return a;
}
