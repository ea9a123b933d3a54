/*
  sbccoo_tell_simd.c - what tells the second entries of pairs from the first ones, of a row at a time, compiled once for each
  instruction set of isas.h
*/
#include "sbccoo_pairs.h"
#include "../../../../host/simd/simd.h"

extern SbccooTellFn SPMV_ISA_NAME(SbccooTell), SPMV_ISA_NAME(SbccooClose);

#if SPMV_SIMD_PLAIN
size_t SPMV_ISA_NAME(SbccooTell)(size_t n, const PetscScalar a[], const PetscScalar other[], PetscReal least, PetscBool conjugate,
                                 size_t codesize, int8_t code[], uint8_t told[])
{
  size_t far = 0;

  for (size_t k = 0; k < n; k++) {
    const PetscScalar first = conjugate ? PetscConj(a[k]) : a[k];
    PetscBool         equal, near;

    if (codesize) near = SbccooCode(first, other[k], least, codesize, code + k * SBCCOO_CODES * codesize, &equal);
    else near = (PetscBool)!memcmp(&first, other + k, sizeof(first));
    if (k % 8 == 0) told[k / 8] = 0;
    told[k / 8] |= (uint8_t)((unsigned)near << k % 8);
    far += !near;
  }
  return far;
}

size_t SPMV_ISA_NAME(SbccooClose)(size_t n, const PetscScalar a[], const PetscScalar other[], PetscReal relative,
                                  PetscBool conjugate, size_t codesize, int8_t code[], uint8_t told[])
{
  size_t far = 0;

  (void)codesize, (void)code;
  for (size_t k = 0; k < n; k++) {
    const PetscBool close = SbccooIsClose(conjugate ? PetscConj(a[k]) : a[k], other[k], relative, 0);

    if (k % 8 == 0) told[k / 8] = 0;
    told[k / 8] |= (uint8_t)((unsigned)close << k % 8);
    far += !close;
  }
  return far;
}
#else
/* Eight pairs; codesize is a constant */
SPMV_INLINE unsigned TellEight(Spmv8 v, Spmv8 other, Spmv8 least, size_t codesize, int8_t code[])
{
  const Spmv8 unit = Spmv8Splat(SBCCOO_UNIT);

  if (!codesize) return Spmv8Same(v, other);
  if (codesize == 1) return Spmv8FindSteps(v, other, least, unit, code);
  return Spmv8FindSteps16(v, other, least, unit, code);
}

SPMV_INLINE size_t TellAll(size_t n, const PetscScalar a[], const PetscScalar other[], PetscReal least, size_t codesize,
                           int8_t code[], uint8_t told[])
{
  const Spmv8  low   = Spmv8Splat(least);
  const size_t whole = n / 8 * 8, more = n - whole;
  int8_t       last[8 * sizeof(int16_t)];
  size_t       far = 0;

  for (size_t k = 0; k < whole; k += 8) {
    const unsigned lanes = TellEight(Spmv8Load(a + k), Spmv8Load(other + k), low, codesize, code + k * codesize);

    told[k / 8] = (uint8_t)lanes;
    far += lanes != 255;
  }
  if (more) {
    const Spmv8    v = Spmv8LoadFirst(a + whole, (int)more), w = Spmv8LoadFirst(other + whole, (int)more);
    const unsigned lanes = TellEight(v, w, low, codesize, last);

    if (codesize) memcpy(code + whole * codesize, last, more * codesize);
    told[whole / 8] = (uint8_t)lanes;
    far += lanes != 255;
  }
  return far;
}

size_t SPMV_ISA_NAME(SbccooTell)(size_t n, const PetscScalar a[], const PetscScalar other[], PetscReal least, PetscBool conjugate,
                                 size_t codesize, int8_t code[], uint8_t told[])
{
  (void)conjugate;
  if (!codesize) return TellAll(n, a, other, least, 0, code, told);
  if (codesize == 1) return TellAll(n, a, other, least, 1, code, told);
  return TellAll(n, a, other, least, 2, code, told);
}

size_t SPMV_ISA_NAME(SbccooClose)(size_t n, const PetscScalar a[], const PetscScalar other[], PetscReal relative,
                                  PetscBool conjugate, size_t codesize, int8_t code[], uint8_t told[])
{
  const Spmv8 part = Spmv8Splat(relative);
  size_t      far  = 0;

  (void)conjugate, (void)codesize, (void)code;
  for (size_t k = 0; k < n; k += 8) {
    const int      lanes = n - k < 8 ? (int)(n - k) : 8;
    const unsigned close = lanes < 8 ? Spmv8Close(Spmv8LoadFirst(a + k, lanes), Spmv8LoadFirst(other + k, lanes), part)
                                     : Spmv8Close(Spmv8Load(a + k), Spmv8Load(other + k), part);

    told[k / 8] = (uint8_t)close;
    far += close != 255;
  }
  return far;
}
#endif
