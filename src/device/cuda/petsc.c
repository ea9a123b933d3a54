/*
  petsc.c - what PETSc itself has on CUDA's devices: which one it uses, and on which stream

  Vectors of PETSc's own types for CUDA, VECCUDA or VECKOKKOS, are used where they are (vec/impls/accel/others.c). What we ask of
  the device must then come after what PETSc has asked for, and before what it asks for next: it goes to PETSc's stream, which is
  fetched each time, as a program may change the current PetscDeviceContext.

  No PETSc that was built with CUDA has run this yet: it was compiled against the headers of 3.18 and 3.26 with CUDA switched on.
*/
#include "cuda.h"

#if defined(PETSC_HAVE_CUDA)
/* The current context of PETSc if that is CUDA's, else NULL */
static PetscErrorCode PetscCudaContext(PetscDeviceContext *context)
{
  PetscDeviceType type;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(context));
  PetscCall(PetscDeviceContextGetDeviceType(*context, &type));
  if (type != PETSC_DEVICE_CUDA) *context = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscCudaStream(void **stream)
{
  PetscDeviceContext context;

  PetscFunctionBegin;
  PetscCall(PetscCudaContext(&context));
  if (context) PetscCall(SpmvPetscStream(context, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscCudaIndex(PetscInt *index)
{
  PetscDeviceContext context;
  PetscDevice        device;

  PetscFunctionBegin;
  PetscCall(PetscCudaContext(&context));
  if (!context) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceContextGetDevice(context, &device));
  PetscCall(PetscDeviceGetDeviceId(device, index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SpmvPetscCudaFns SpmvPetscCuda = {PetscCudaStream, PetscCudaIndex};
#else
SpmvPetscCudaFns SpmvPetscCuda;
#endif
