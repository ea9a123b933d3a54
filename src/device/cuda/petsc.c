/*
  petsc.c - what PETSc itself has on CUDA's devices: which one it uses, and on which stream

  Vectors of PETSc's own types for CUDA, VECCUDA or VECKOKKOS, are used where they are (vec/impls/accel/others.c). What we ask of
  the device must then come after what PETSc has asked for, and before what it asks for next: it goes to PETSc's stream, which is
  fetched each time, as a program may change the current PetscDeviceContext.

  No PETSc that was built with CUDA has run this yet: it was compiled against the headers of 3.18 and 3.26 with CUDA switched on.
*/
#include "cuda.h"

/* The device that PETSc uses and its stream now, each unless it is NULL; left as they are where PETSc does not use CUDA */
static PetscErrorCode PetscCudaContext(PetscInt *index, void **stream)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscDeviceContext context;
  PetscDeviceType    type;
  PetscDevice        device;

  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDeviceType(context, &type));
  if (type != PETSC_DEVICE_CUDA) PetscFunctionReturn(PETSC_SUCCESS);
  if (stream) PetscCall(SpmvPetscStream(context, stream));
  PetscCall(PetscDeviceContextGetDevice(context, &device));
  if (index) PetscCall(PetscDeviceGetDeviceId(device, index));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode (*SpmvPetscCuda)(PetscInt *index, void **stream) = PetscCudaContext;
