/*
  views.c - the two sides of a vector, host array and device buffer: what is moved, and when

  onhost and ondevice say which sides have the values. Reading on a side brings it up to date first; writing on a side makes the other
  stale. While somebody holds the host array for writing, what it holds is what counts, whatever the pointer is used for, so no
  kernel works on the vector; while somebody holds it for reading, what kernels write is brought there at once.
*/
#include "accel.h"

static PetscBool     Warned;               /* that memory ran out */
static PetscLogEvent ToDevice, FromDevice; /* without an object: events of a parallel one wait for all processes */

SpmvVecCounts SpmvVecTotals;

PetscErrorCode VecViewsInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("VecToDevice", VEC_CLASSID, &ToDevice));
  PetscCall(PetscLogEventRegister("VecFromDevice", VEC_CLASSID, &FromDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecViewsReset(void)
{
  PetscFunctionBegin;
  Warned = PETSC_FALSE;
  PetscCall(PetscMemzero(&SpmvVecTotals, sizeof(SpmvVecTotals)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAccelGet(Vec v, VecAccel **accel)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)v, VEC_ACCEL_DATA, (PetscObject *)&container));
  PetscCheck(container, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A vector of type %s has lost its data", ((PetscObject)v)->type_name);
  PetscCall(PetscContainerGetPointer(container, (void **)accel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the buffer of a vector: some, since APIs have no empty ones */
static size_t VecAccelBytes(Vec v)
{
  return (size_t)PetscMax(v->map->n, 1) * sizeof(PetscScalar);
}

/* Said once in each process */
PetscErrorCode VecAccelWarn(SpmvDevice *d, PetscInt n)
{
  PetscFunctionBegin;
  if (!Warned)
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                           "Warning: %s has no room for a vector of %" PetscInt_FMT
                           " entries beside the %.0f bytes that are there: the host works on what does not fit; use more "
                           "processes, or set -vec_type standard\n",
                           d->info.name, n, (double)d->held));
  Warned = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the host array up to date; nothing moves where all entries are known to be one value */
PetscErrorCode VecAccelToHost(Vec v, VecAccel *a)
{
  PetscFunctionBegin;
  if (a->onhost) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->uniform) {
    PetscScalar *array = VecAccelArray(v);

    for (PetscInt i = 0; i < v->map->n; i++) array[i] = a->value;
    a->onhost = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(FromDevice, 0, 0, 0, 0));
  PetscCall(SpmvDeviceRead(a->device, a->buffer, VecAccelArray(v), (size_t)v->map->n * sizeof(PetscScalar)));
  PetscCall(PetscLogEventEnd(FromDevice, 0, 0, 0, 0));
  SpmvVecTotals.down += v->map->n > 0;
  a->onhost = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The buffer, made if there is none, and brought up to date if its values are needed; NULL if memory ran out */
PetscErrorCode VecAccelToDevice(Vec v, VecAccel *a, PetscBool keep, void **buffer)
{
  PetscBool nomem = PETSC_FALSE;

  PetscFunctionBegin;
  if (!a->buffer) PetscCall(SpmvDeviceAlloc(a->device, VecAccelBytes(v), &a->buffer));
  *buffer = a->buffer;
  if (a->buffer && keep && !a->ondevice) {
    PetscCall(PetscLogEventBegin(ToDevice, 0, 0, 0, 0));
    PetscCall(SpmvDeviceWrite(a->device, a->buffer, VecAccelArray(v), (size_t)v->map->n * sizeof(PetscScalar), &nomem));
    PetscCall(PetscLogEventEnd(ToDevice, 0, 0, 0, 0));
    if (nomem) {
      *buffer = NULL;
      if (!a->lent) PetscCall(SpmvDeviceFree(a->device, VecAccelBytes(v), &a->buffer));
    } else {
      SpmvVecTotals.up += v->map->n > 0;
      a->ondevice = PETSC_TRUE;
    }
  }
  if (!*buffer) PetscCall(VecAccelWarn(a->device, v->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A kernel has written all entries that changed. Not all of PETSc's functions raise the state after an operation (VecShift() does not) */
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

/* All is to be overwritten, so nothing is moved. Some of PETSc's functions count on what VecSet() left there: MatGetRowMinAbs() */
PetscErrorCode VecGetArrayWrite_Accel(Vec v, PetscScalar **array)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  if (a->uniform) PetscCall(VecAccelToHost(v, a));
  a->uniform  = PETSC_FALSE;
  a->onhost   = PETSC_TRUE;
  a->ondevice = PETSC_FALSE;
  a->writers++;
  *array = VecAccelArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetArray_Accel(Vec v, PetscScalar **array)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  PetscCall(VecAccelToHost(v, a));
  PetscCall(VecGetArrayWrite_Accel(v, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreArray_Accel(Vec v, PetscScalar **array)
{
  VecAccel *a;

  PetscFunctionBegin;
  (void)array;
  PetscCall(VecAccelGet(v, &a));
  if (a->writers) a->writers--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetArrayRead_Accel(Vec v, const PetscScalar **array)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  PetscCall(VecAccelToHost(v, a));
  a->readers++;
  *array = VecAccelArray(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreArrayRead_Accel(Vec v, const PetscScalar **array)
{
  VecAccel *a;

  PetscFunctionBegin;
  (void)array;
  PetscCall(VecAccelGet(v, &a));
  if (a->readers) a->readers--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecBindToCPU_Accel(Vec v, PetscBool bound)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  if (bound) PetscCall(VecAccelToHost(v, a));
  a->bound = bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}
