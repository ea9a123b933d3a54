/*
  storage.c - bytes of any storage, by its arrays, and the lines that are printed of one
*/
#include "spmvimpl.h"

/* Bytes that a product reads, borrowed or not, scalars of scalar_size bytes */
PetscLogDouble SpmvArraysRead(PetscInt n, const SpmvArray arrays[], size_t scalar_size)
{
  PetscLogDouble bytes = 0;

  for (PetscInt k = 0; k < n; k++) bytes += arrays[k].aside ? 0 : (PetscLogDouble)arrays[k].count * (arrays[k].is_values ? scalar_size : arrays[k].size);
  return bytes;
}

/* Bytes that are the storage's own, read by a product or not */
PetscLogDouble SpmvArraysOwn(PetscInt n, const SpmvArray arrays[])
{
  PetscLogDouble bytes = 0;

  for (PetscInt k = 0; k < n; k++) bytes += arrays[k].borrowed ? 0 : (PetscLogDouble)arrays[k].count * arrays[k].size;
  return bytes;
}

/* Appends to a line of `size` characters as far as it has room: lines are printed as a whole, because PETSc indents each call */
PetscErrorCode SpmvAppend(char line[], size_t size, const char format[], ...)
{
  const size_t used = strlen(line);
  va_list      args;

  PetscFunctionBegin;
  va_start(args, format);
  PetscCall(PetscVSNPrintf(line + used, size - used, format, NULL, args));
  va_end(args);
  PetscFunctionReturn(PETSC_SUCCESS);
}
