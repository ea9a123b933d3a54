/*
  spmvimpl.c - what is done with any side of any format: a build, the bytes of a storage, the lines that are printed of one
*/
#include "spmvdevice.h"

/* The side of a format for a backend; NULL if the format has none */
const SpmvSide *SpmvFormatSide(const SpmvFormat *format, PetscInt backend)
{
  if (backend == SPMV_BACKEND_DEVICE) return format->device ? &format->device->side : NULL;
  return format->host ? &format->host->side : NULL;
}

/* Replaces what a plan leaves open, and says in `why` if the result cannot be built */
PetscErrorCode SpmvResolve(const SpmvSide *side, const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan, char why[],
                           size_t size)
{
  PetscFunctionBegin;
  why[0] = 0;
  if (side->resolve) PetscCall(side->resolve(csr, info, plan));
  if (side->allows) PetscCall(side->allows(csr, info, plan, why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvBuild - a storage of a matrix

  Input Parameters:
+ side - of its format
. csr  - the matrix
- info - the device that it is for, NULL for the host

  Input/Output Parameter:
. plan - what was asked for; on return what was built

  Output Parameter:
. storage - to be given to SpmvStorageDestroy(); NULL after an error

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if the plan does not suit the matrix or the device.
*/
PetscErrorCode SpmvBuild(const SpmvSide *side, const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan, void **storage)
{
  char           why[512];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *storage = NULL;
  PetscCall(SpmvResolve(side, csr, info, plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s", why);
  ierr = side->build(csr, plan, storage);
  if (ierr) PetscCall(SpmvStorageDestroy(side, storage));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does nothing if there is none */
PetscErrorCode SpmvStorageDestroy(const SpmvSide *side, void **storage)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  if (!*storage) PetscFunctionReturn(PETSC_SUCCESS);
  if (side->destroy) PetscCall(side->destroy(*storage));
  PetscCall(side->arrays(*storage, &n, arrays));
  for (PetscInt k = 0; k < n; k++) {
    if (!arrays[k].borrowed) PetscCall(SpmvFree(&arrays[k].data));
  }
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvOwnedDestroy(SpmvOwned *owned)
{
  return SpmvStorageDestroy(owned->side, &owned->storage);
}

/* Bytes that a product reads, borrowed or not */
PetscLogDouble SpmvArraysRead(PetscInt n, const SpmvArray arrays[])
{
  PetscLogDouble bytes = 0;

  for (PetscInt k = 0; k < n; k++) bytes += arrays[k].aside ? 0 : (PetscLogDouble)(arrays[k].count * arrays[k].size);
  return bytes;
}

/* Bytes that are the storage's own, read by a product or not */
PetscLogDouble SpmvArraysOwn(PetscInt n, const SpmvArray arrays[])
{
  PetscLogDouble bytes = 0;

  for (PetscInt k = 0; k < n; k++) bytes += arrays[k].borrowed ? 0 : (PetscLogDouble)(arrays[k].count * arrays[k].size);
  return bytes;
}

static int SecondsCompare(const void *a, const void *b)
{
  const PetscLogDouble x = *(const PetscLogDouble *)a, y = *(const PetscLogDouble *)b;

  return (x > y) - (x < y);
}

/* The median of n > 0 times, which are sorted */
PetscLogDouble SpmvMedian(PetscInt n, PetscLogDouble seconds[])
{
  qsort(seconds, (size_t)n, sizeof(*seconds), SecondsCompare);
  return seconds[n / 2];
}

/* Appends to a line of `size` characters as far as there is room. Lines are printed as a whole: PETSc indents each call */
PetscErrorCode SpmvAppend(char line[], size_t size, const char format[], ...)
{
  const size_t   used = strlen(line);
  va_list        args;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  va_start(args, format);
  ierr = PetscVSNPrintf(line + used, size - used, format, NULL, args);
  va_end(args);
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceFits - says why a device cannot run kernels

  Input Parameters:
+ info   - the device
. group  - work items of a work group
. local  - bytes of local memory that a work group needs in arrays that kernels declare by LOCAL
. large  - and in the one of LOCAL_LARGE, if there is one
. format - its name, for the option -mat_<format>_device_workgroup
. less   - the options that are to be less where local memory is too small
- size   - characters of `why`

  Input/Output Parameter:
. why - nothing is added if the device can run them, or if there is something in it already
*/
PetscErrorCode SpmvDeviceFits(const SpmvDeviceInfo *info, size_t group, size_t local, size_t large, const char format[],
                              const char less[], char why[], size_t size)
{
  const size_t room = large && local <= info->local ? PetscMax(info->local, info->large) : info->local;

  PetscFunctionBegin;
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (group > info->group) {
    PetscCall(SpmvAppend(why, size, "%zu work items a work group are more than the %zu of %s; ", group, info->group, info->name));
    PetscCall(SpmvAppend(why, size, "set -mat_%s_device_workgroup to fewer", format));
  } else if (local + large > room) {
    PetscCall(SpmvAppend(why, size, "%zu bytes of local memory are more than the %zu of %s; ", local + large, room, info->name));
    PetscCall(SpmvAppend(why, size, "set %s to less", less));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
