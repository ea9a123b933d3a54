/*
  views.c - the two sides of a vector, host array and device buffer: what is moved, and when

  onhost and ondevice say which sides have the values. Reading a side brings it up to date first; writing a side makes the other
  stale. While somebody holds the host array for writing, its values are the vector's and no kernel works on it. While somebody
  holds it for reading, what kernels write is copied there at once.
*/
#include "accel.h"

/* Bytes of the buffer of a vector: some, since APIs have no empty ones */
static size_t VecAccelBytes(Vec v)
{
  return (size_t)PetscMax(v->map->n, 1) * sizeof(PetscScalar);
}

PetscErrorCode VecAccelFree(Vec v, VecAccel *a)
{
  PetscFunctionBegin;
  PetscCall(SpmvDeviceFree(a->device, VecAccelBytes(v), &a->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the host array up to date; nothing moves where all entries are known to have one value */
PetscErrorCode VecAccelToHost(Vec v, VecAccel *a)
{
  PetscScalar *array = VecAccelArray(v);
  PetscBool    lost  = PETSC_FALSE;

  PetscFunctionBegin;
  if (a->onhost) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->uniform) {
    for (PetscInt i = 0; i < v->map->n; i++) array[i] = a->value;
  } else {
    PetscCall(PetscLogEventBegin(VecFromDevice, 0, 0, 0, 0));
    PetscCall(SpmvDeviceCopy(a->device, SPMV_FROM_DEVICE, array, a->buffer, (size_t)v->map->n * sizeof(PetscScalar), &lost));
    PetscCall(PetscLogEventEnd(VecFromDevice, 0, 0, 0, 0));
    if (lost) a->device->told = PETSC_TRUE;
    PetscCheck(!lost, PETSC_COMM_SELF, PETSC_ERR_LIB, "The values of a vector are on %s only, and are lost: %s",
               a->device->info.name, a->device->failed ? a->device->failure : "there is no memory to receive them");
    SpmvVecTotals.down += v->map->n > 0;
  }
  a->onhost = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The buffer, made if there is none, and brought up to date if its values are needed; NULL if the device is out of memory */
PetscErrorCode VecAccelToDevice(Vec v, VecAccel *a, PetscBool keep, void **buffer)
{
  PetscBool nomem = PETSC_FALSE;

  PetscFunctionBegin;
  if (!a->buffer) PetscCall(SpmvDeviceAlloc(a->device, VecAccelBytes(v), &a->buffer));
  if (a->buffer && keep && !a->ondevice) {
    PetscCall(PetscLogEventBegin(VecToDevice, 0, 0, 0, 0));
    PetscCall(SpmvDeviceWrite(a->device, a->buffer, VecAccelArray(v), (size_t)v->map->n * sizeof(PetscScalar), &nomem));
    PetscCall(PetscLogEventEnd(VecToDevice, 0, 0, 0, 0));
    if (nomem && !a->lent) PetscCall(VecAccelFree(v, a));
    a->ondevice = (PetscBool)!nomem;
    SpmvVecTotals.up += !nomem && v->map->n > 0;
  }
  *buffer = nomem ? NULL : a->buffer;
  if (!*buffer && !a->device->failed) PetscCall(VecAccelWarn(a->device, v->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kernels have written a vector. Not all of PETSc's functions raise the state after an operation (VecShift() does not) */
PetscErrorCode VecAccelWritten(Vec v, VecAccel *a)
{
  PetscFunctionBegin;
  a->ondevice = PETSC_TRUE;
  a->onhost   = PETSC_FALSE;
  a->uniform  = PETSC_FALSE;
  PetscCall(PetscObjectStateIncrease((PetscObject)v));
  if (a->readers) PetscCall(VecAccelToHost(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host array has other values now, or is another one */
void VecAccelWrittenOnHost(VecAccel *a)
{
  a->onhost   = PETSC_TRUE;
  a->ondevice = PETSC_FALSE;
  a->uniform  = PETSC_FALSE;
}

/* All is to be overwritten, so nothing moves. But MatGetRowMinAbs() of PETSc counts on what VecSet() left there */
PetscErrorCode VecGetArrayWrite_Accel(Vec v, PetscScalar **array)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  if (a->uniform) PetscCall(VecAccelToHost(v, a));
  VecAccelWrittenOnHost(a);
  a->writers++;
  *array = VecAccelArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetArray_Accel(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecAccelToHost(v, VecAccelOf(v)));
  PetscCall(VecGetArrayWrite_Accel(v, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreArray_Accel(Vec v, PetscScalar **array)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  (void)array;
  if (a->writers) a->writers--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetArrayRead_Accel(Vec v, const PetscScalar **array)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  PetscCall(VecAccelToHost(v, a));
  a->readers++;
  *array = VecAccelArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreArrayRead_Accel(Vec v, const PetscScalar **array)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  (void)array;
  if (a->readers) a->readers--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecBindToCPU_Accel(Vec v, PetscBool bound)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  if (bound) PetscCall(VecAccelToHost(v, a));
  a->bound = bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}
