/*
  others.c - what the matrices may ask of a vector on the device, whoever made it: ours, or one of PETSc's own types for CUDA

  Those of PETSc, VECCUDA or VECKOKKOS say, have operations that give their memory and tell its kind, unless they are bound to the host. Where it
  is memory of CUDA on the device of this process, kernels are given it as it is; PETSc brings the values there, and marks them as written there.
  The operations are asked for at run time, as a PETSc without CUDA has them too. What is not such memory serves on the host.
*/
#include "accel.h"

/* Whether a vector of another type may have memory of the device: certain only when it was borrowed, as to ask can move its values */
PetscErrorCode VecMayBorrow(Vec v, PetscBool *may)
{
  SpmvDevice *device;

  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (VecIsAccel(v) || !(v->ops->getarrayandmemtype || v->ops->getarrayreadandmemtype)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvDeviceGet(&device));
  *may = (PetscBool)(device && device->api->owns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecBorrow - the memory of a vector for which VecMayBorrow(), access as of VecUse, or NULL; to be given back with VecGiveBack() */
PetscErrorCode VecBorrow(Vec v, int access, void **buffer)
{
  SpmvDevice  *device;
  PetscScalar *array = NULL;
  PetscMemType type;
  PetscBool    owns = PETSC_FALSE;

  PetscFunctionBegin;
  *buffer = NULL;
  PetscCall(SpmvDeviceGet(&device));
  if (access == VEC_READ) PetscCall(VecGetArrayReadAndMemType(v, (const PetscScalar **)&array, &type));
  else if (access == VEC_WRITE) PetscCall(VecGetArrayWriteAndMemType(v, &array, &type));
  else PetscCall(VecGetArrayAndMemType(v, &array, &type));
  if (array && PetscMemTypeCUDA(type)) SpmvCallDevice(device, NULL, owns, array, &owns);
  if (owns) {
    *buffer = array;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (array)
    PetscCall(
      PetscInfo(v, "The memory of this vector is not that of the device in use, so the host serves; see -spmv_device_index\n"));
  PetscCall(VecGiveBack(v, access, (void **)&array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Written vectors get another state, and their values are PETSc's to find on the device */
PetscErrorCode VecGiveBack(Vec v, int access, void **buffer)
{
  PetscFunctionBegin;
  if (access == VEC_READ) PetscCall(VecRestoreArrayReadAndMemType(v, (const PetscScalar **)buffer));
  else if (access == VEC_WRITE) PetscCall(VecRestoreArrayWriteAndMemType(v, (PetscScalar **)buffer));
  else PetscCall(VecRestoreArrayAndMemType(v, (PetscScalar **)buffer));
  *buffer = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvVecIsDevice - whether a vector is likely to have a buffer: it is of type VECACCEL and there is a device, or PETSc may have it in memory of
  that device; and VecBindToCPU() does not keep it on the host
*/
PetscErrorCode SpmvVecIsDevice(Vec v, PetscBool *device)
{
  VecAccel *a;

  PetscFunctionBegin;
  if (VecIsAccel(v)) {
    PetscCall(VecAccelGet(v, &a));
    *device = (PetscBool)(a->device && !a->bound);
  } else PetscCall(VecMayBorrow(v, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether only the device has the values of a vector, as it seems: to read some on the host would move them all */
PetscErrorCode SpmvVecHostIsStale(Vec v, PetscBool *stale)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(SpmvVecIsDevice(v, stale));
  if (!*stale) PetscFunctionReturn(PETSC_SUCCESS);
  if (VecIsAccel(v)) {
    PetscCall(VecAccelGet(v, &a));
    *stale = (PetscBool)(!a->onhost && !a->uniform);
  } else *stale = (PetscBool)(v->offloadmask == PETSC_OFFLOAD_GPU || v->offloadmask == PETSC_OFFLOAD_KOKKOS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* access: as of VecUse */
static PetscErrorCode VecGetDevice(Vec v, int access, void **buffer)
{
  VecAccel *a;
  PetscBool may;

  PetscFunctionBegin;
  *buffer = NULL;
  PetscCall(VecMayBorrow(v, &may));
  if (may) PetscCall(VecBorrow(v, access, buffer));
  if (!VecIsAccel(v)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelGet(v, &a));
  if (VecAccelReady(a)) PetscCall(VecAccelToDevice(v, a, (PetscBool)(access != VEC_WRITE), buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvVecGetDeviceRead - the buffer of a vector, with its values, to be read by kernels

  Output Parameter:
. buffer - NULL if there is none, see vecaccel.h
*/
PetscErrorCode SpmvVecGetDeviceRead(Vec v, void **buffer)
{
  PetscFunctionBegin;
  PetscCall(VecGetDevice(v, VEC_READ, buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvVecRestoreDeviceRead(Vec v, void **buffer)
{
  PetscFunctionBegin;
  if (*buffer && !VecIsAccel(v)) PetscCall(VecGiveBack(v, VEC_READ, buffer));
  *buffer = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvVecGetDeviceWrite - the buffer of a vector, to be written by kernels

  Input Parameters:
+ v    - the vector
- keep - whether the values that it has are needed

  Output Parameter:
. buffer - NULL if there is none, see vecaccel.h
*/
PetscErrorCode SpmvVecGetDeviceWrite(Vec v, PetscBool keep, void **buffer)
{
  PetscFunctionBegin;
  PetscCall(VecGetDevice(v, keep ? VEC_READ | VEC_WRITE : VEC_WRITE, buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvVecRestoreDeviceWrite - ends the use of a buffer; written: kernels were launched that write it, so what others know of the vector is stale */
PetscErrorCode SpmvVecRestoreDeviceWrite(Vec v, PetscBool keep, PetscBool written, void **buffer)
{
  VecAccel *a;

  PetscFunctionBegin;
  if (!*buffer) PetscFunctionReturn(PETSC_SUCCESS);
  if (!VecIsAccel(v)) PetscCall(VecGiveBack(v, keep ? VEC_READ | VEC_WRITE : VEC_WRITE, buffer));
  else if (written) {
    PetscCall(VecAccelGet(v, &a));
    PetscCall(VecAccelWritten(v, a));
  }
  *buffer = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvVecCopyLocal - y <- x, of the same local size: their local entries, by the device if that moves less than the host would */
PetscErrorCode SpmvVecCopyLocal(Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(VecUseCopy(x, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(PetscArraycpy(ya, xa, y->map->n));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}
