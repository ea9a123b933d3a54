/*
  values.h - the values of a storage of the host: as they are, or coded where they are few or short, each to its bits

  one    all values are equal: none is stored
  few    at most SPMV_VALUES_FEW different ones: a byte for each value tells which; the table of them fits two vectors
  many   at most SPMV_VALUES_MANY: the same, with a table in the first cache
  float  each value is exactly a float, which is stored
  plain  all others

  What can be coded is found whenever values are set, so a change may take the coding away or bring it back. A format has a knob
  `values` (SpmvValuesWanted) and one SpmvValues; simd/values.h has the words for its products.
*/
#pragma once
#include "../spmvimpl.h"

#define SPMV_VALUES_FEW  16
#define SPMV_VALUES_MANY 256

/* float is for double alone: shorter types have little to gain, and halves of complex numbers are seldom both short */
#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)
  #define SPMV_VALUES_HAS_FLOAT 1
#else
  #define SPMV_VALUES_HAS_FLOAT 0
#endif

/* Of values that were rounded, for what is printed: 2^-24 */
#define SPMV_VALUES_ERROR "each wrong by up to 6e-8 of itself"

/* How values are stored; an SpmvCSR of which nothing is known has SPMV_CODING_UNKNOWN */
typedef enum {
  SPMV_CODING_UNKNOWN,
  SPMV_CODING_PLAIN,
  SPMV_CODING_ONE,
  SPMV_CODING_FEW,
  SPMV_CODING_MANY,
  SPMV_CODING_FLOAT
} SpmvCoding;

/* The knob `values`: its values, of which SPMV_VALUES_AUTO is replaced by others in a plan that is resolved */
typedef enum {
  SPMV_VALUES_AUTO,
  SPMV_VALUES_PLAIN,
  SPMV_VALUES_CODED, /* the first of one, few, many and float that can be */
  SPMV_VALUES_FLOAT, /* float if it can be */
  SPMV_VALUES_WANTED
} SpmvValuesWanted;

extern const PetscInt    SpmvValuesChoices[SPMV_VALUES_WANTED];
extern const char *const SpmvValuesNames[SPMV_VALUES_WANTED];

/* Its line in the table of a side */
#define SPMV_VALUES_KNOB \
  SPMV_CHOICES("values", \
               "plain, coded: a byte each where at most 256 differ, none where all are equal, else as float; float where each " \
               "is exactly one; auto: of least estimated time", \
               SpmvValuesChoices, SpmvValuesNames, SPMV_KNOB_LOCAL)

/* SpmvValues: the values of a storage */
typedef struct {
  SpmvCoding  coding;
  PetscInt    ntable;  /* different values: few, many; 1: one */
  PetscBool   rounded; /* they were, to be floats (SpmvCSR.rounded) */
  size_t      n;       /* places */
  void       *data;    /* [n] values, uint8_t or float; NULL: one */
  PetscScalar table[SPMV_VALUES_MANY];
} SpmvValues;

/* SpmvCodes: the values of a matrix, coded, in the order of CSR */
typedef struct {
  SpmvCoding  coding;
  PetscInt    ntable;
  PetscBool   rounded;
  size_t      size; /* bytes of one, 0: none is stored */
  const char *data; /* [nz] what own is, which SpmvAlloc() gave, or the matrix's own values */
  void       *own;
  PetscScalar table[SPMV_VALUES_MANY];
} SpmvCodes;

/* values.c */
extern SpmvCoding     SpmvValuesLook(const SpmvCSR *csr, SpmvValuesWanted wanted);
extern void           SpmvValuesResolve(const SpmvCSR *csr, PetscInt *wanted);
extern void           SpmvValuesPropose(const SpmvCSR *csr, PetscInt knob, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS]);
extern void           SpmvValuesWork(const SpmvValues *values, PetscLogDouble vectors, SpmvWork *work);
extern PetscBool      SpmvValuesFitFloats(size_t n, const PetscScalar a[]);
extern PetscErrorCode SpmvCodesCreate(const SpmvCSR *csr, SpmvValuesWanted wanted, SpmvCodes *codes);
extern PetscErrorCode SpmvCodesDestroy(SpmvCodes *codes);
extern PetscErrorCode SpmvValuesTake(SpmvValues *values, size_t n, PetscInt ntasks, const SpmvCodes *codes);
extern SpmvArray      SpmvValuesArray(const SpmvValues *values);
extern PetscErrorCode SpmvValuesDescribe(const SpmvValues *values, char line[], size_t size);

/* Bytes of a value as stored */
static inline size_t SpmvCodingSize(SpmvCoding coding)
{
  if (coding == SPMV_CODING_ONE) return 0;
  if (coding == SPMV_CODING_FEW || coding == SPMV_CODING_MANY) return sizeof(uint8_t);
  return coding == SPMV_CODING_FLOAT ? sizeof(float) : sizeof(PetscScalar);
}
