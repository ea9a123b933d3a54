/*
  values.h - the values of a storage (../values.h) as vectors

  How they are coded is a constant where these words are expanded. SpmvTable, and what is done with it, simd.h explains.
*/
#pragma once
#include "simd.h"
#include "../values.h"

/* The table of a storage */
SPMV_INLINE SpmvTable SpmvValuesTable(const SpmvValues *values)
{
  return SpmvTableOf(values->table);
}

/* Eight values from place k on, whose codes are at `data` */
SPMV_INLINE Spmv8 Spmv8Value(const SpmvTable *t, const char *data, size_t k, SpmvCoding coding)
{
  if (coding == SPMV_CODING_ONE) return Spmv8Splat(*t->all);
  if (coding == SPMV_CODING_FEW) return Spmv8Few(t, (const uint8_t *)data + k);
  if (coding == SPMV_CODING_MANY) return Spmv8Many(t->all, (const uint8_t *)data + k);
#if SPMV_VALUES_HAS_FLOAT
  if (coding == SPMV_CODING_FLOAT) return Spmv8LoadFloat((const float *)(const void *)data + k);
#endif
  return Spmv8Load((const PetscScalar *)(const void *)data + k);
}

/* The same of the first n; 0 in the other lanes */
SPMV_INLINE Spmv8 Spmv8ValueFirst(const SpmvTable *t, const char *data, size_t k, int n, SpmvCoding coding)
{
  if (coding == SPMV_CODING_PLAIN) return Spmv8LoadFirst((const PetscScalar *)(const void *)data + k, n);
  return Spmv8First(Spmv8Value(t, data, k, coding), n);
}
