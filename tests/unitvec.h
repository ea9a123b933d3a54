/*
  unitvec.h - what unit_vec.c and unit_vec_shared.c have in common: facts about vectors of type accel
*/
#pragma once
#include <petsc/private/vecimpl.h>
#include <petscksp.h>

#include <petscspmv.h>
#include "vec/vecaccel.h"
#include "device/device.h"

enum { N = 100 }; /* local entries */

static PetscInt Failures;

/* Whether a fact holds */
static inline PetscErrorCode Fact(PetscBool holds, const char what[])
{
  PetscFunctionBegin;
  if (!holds) {
    ++Failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] wrong: %s\n", PetscGlobalRank, what));
  }
  PetscFunctionReturn(0);
}

static inline PetscBool IsDevice(Vec v)
{
  PetscBool device;

  return (PetscBool)(!SpmvVecIsDevice(v, &device) && device);
}

/* Vectors moved since the last call */
static inline PetscErrorCode Moved(PetscInt64 up, PetscInt64 down, PetscInt64 sent, const char what[])
{
  static SpmvVecCounts before;
  const SpmvVecCounts  now = SpmvVecTotals;

  PetscFunctionBegin;
  if (what && (now.up - before.up != up || now.down - before.down != down || now.sent - before.sent != sent)) {
    ++Failures;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] %s: %d to the device, %d to the host, %d sent along, and not %d, %d, %d\n",
                          PetscGlobalRank, what, (int)(now.up - before.up), (int)(now.down - before.down),
                          (int)(now.sent - before.sent), (int)up, (int)down, (int)sent));
  }
  before = now;
  PetscFunctionReturn(0);
}

static inline PetscErrorCode Create(MPI_Comm comm, PetscInt n, const char type[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(0);
}

/* Whether all local entries are a value, without asking for the array in a way that changes anything but where the values are */
static inline PetscErrorCode IsAll(Vec v, PetscReal value, const char what[])
{
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          holds = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n; i++) holds = (PetscBool)(holds && a[i] == (PetscScalar)value);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(Fact(holds, what));
  PetscFunctionReturn(0);
}

/* Runs some tests where there is a device, and prints how many facts were wrong, once vectors are destroyed; the exit status */
static inline PetscErrorCode FactsOf(size_t n, PetscErrorCode (*const tests[])(void), int *status)
{
  SpmvDevice    *device;
  PetscLogDouble held;

  PetscFunctionBegin;
  *status = 0;
  PetscCall(SpmvInitializePackage());
  PetscCall(SpmvDeviceGet(&device));
  if (!device) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SKIP: there is no device; install pocl-opencl-icd\n"));
    PetscFunctionReturn(0);
  }
  held = device->held;
  for (size_t k = 0; k < n; k++) PetscCall((*tests[k])());
  PetscCall(Fact((PetscBool)(device->held - held < 1e6),
                 "vectors that are destroyed give their memory back")); /* the buffers of sums stay */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &Failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " facts wrong\n", Failures));
  *status = Failures ? 1 : 0;
  PetscFunctionReturn(0);
}
