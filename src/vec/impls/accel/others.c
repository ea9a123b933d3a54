/*
  others.c - the buffer of a vector, whoever made it: of our type, or of one of PETSc's own types for CUDA

  PETSc's own, VECCUDA or VECKOKKOS, have operations that give their memory and tell its kind, unless they are bound to the host.
  Where that is memory of CUDA on the device of this process, kernels get it as it is; PETSc brings the values there and marks
  them as written. The operations are looked for at run time: types of a PETSc without CUDA may have them too.
*/
#include "accel.h"

/* Whether a vector of another type may have memory of the device. Only asking for it tells, which can move its values */
PetscErrorCode VecMayBorrow(Vec v, PetscBool *may)
{
  SpmvDevice *device;

  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (VecAccelOf(v) || !(v->ops->getarrayandmemtype || v->ops->getarrayreadandmemtype)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvDeviceGet(&device));
  *may = (PetscBool)(device && !device->failed && device->api->owns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc gives written vectors another state and looks for their values on the device */
static PetscErrorCode VecGiveBack(Vec v, int access, void **buffer)
{
  PetscFunctionBegin;
  if (access == VEC_READ) PetscCall(VecRestoreArrayReadAndMemType(v, (const PetscScalar **)buffer));
  else if (access == VEC_WRITE) PetscCall(VecRestoreArrayWriteAndMemType(v, (PetscScalar **)buffer));
  else PetscCall(VecRestoreArrayAndMemType(v, (PetscScalar **)buffer));
  *buffer = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The memory of a vector that VecMayBorrow(), if it is on the device */
static PetscErrorCode VecBorrow(Vec v, int access, void **buffer)
{
  SpmvDevice  *device;
  PetscScalar *array = NULL;
  PetscMemType type;
  PetscBool    owns = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  if (access == VEC_READ) PetscCall(VecGetArrayReadAndMemType(v, (const PetscScalar **)&array, &type));
  else if (access == VEC_WRITE) PetscCall(VecGetArrayWriteAndMemType(v, &array, &type));
  else PetscCall(VecGetArrayAndMemType(v, &array, &type));
  if (array && PetscMemTypeCUDA(type)) SpmvCallDevice(device, NULL, owns, array, &owns);
  if (array && !owns)
    PetscCall(
      PetscInfo(v, "The memory of this vector is not on the device in use, so the host serves; see -spmv_device_index\n"));
  *buffer = array;
  if (!owns) PetscCall(VecGiveBack(v, access, buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a vector is likely to have a buffer */
PetscErrorCode SpmvVecIsDevice(Vec v, PetscBool *device)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  if (a) *device = (PetscBool)(a->device && !a->bound);
  else PetscCall(VecMayBorrow(v, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether only the device has the values of a vector, as it seems: to read some on the host would move them all */
PetscErrorCode SpmvVecHostIsStale(Vec v, PetscBool *stale)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  PetscCall(VecMayBorrow(v, stale));
  if (a) *stale = (PetscBool)(!a->onhost && !a->uniform);
  else if (v->offloadmask != PETSC_OFFLOAD_GPU && v->offloadmask != PETSC_OFFLOAD_KOKKOS) *stale = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvVecGetDevice - the buffer of a vector, for kernels

  Input Parameters:
+ v      - the vector
- access - VEC_READ, VEC_WRITE or both; it has its values unless all of them are to be overwritten, VEC_WRITE

  Output Parameter:
. buffer - NULL if there is none, see vecaccel.h
*/
PetscErrorCode SpmvVecGetDevice(Vec v, int access, void **buffer)
{
  VecAccel *a = VecAccelOf(v);
  PetscBool may;

  PetscFunctionBegin;
  *buffer = NULL;
  PetscCall(VecMayBorrow(v, &may));
  if (may) PetscCall(VecBorrow(v, access, buffer));
  else if (a && VecAccelReady(a)) PetscCall(VecAccelToDevice(v, a, (PetscBool)(access != VEC_WRITE), buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvVecRestoreDevice - ends the use of a buffer; written: kernels were launched that write it, so that all else is stale */
PetscErrorCode SpmvVecRestoreDevice(Vec v, int access, PetscBool written, void **buffer)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  if (!*buffer) PetscFunctionReturn(PETSC_SUCCESS);
  if (!a) PetscCall(VecGiveBack(v, access, buffer));
  else if (written) PetscCall(VecAccelWritten(v, a));
  *buffer = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvVecCopyLocal - y <- x, of the same local size: their local entries, by the device if that moves less than the host would */
PetscErrorCode SpmvVecCopyLocal(Vec x, Vec y)
{
  return VecCopyRange(y, 0, x, 0, PETSC_FALSE, PETSC_TRUE);
}
