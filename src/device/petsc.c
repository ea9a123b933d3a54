/*
  petsc.c - what PETSc itself has on CUDA's devices: which one it uses, and on which stream

  Vectors of PETSc's own types for CUDA, VECCUDA or VECKOKKOS, are used where they are (vec/impls/accel/others.c). What we ask of the device must
  then come after what PETSc has asked for, and before what it asks for next: it goes to PETSc's stream, which is fetched each time,
  as a program may change the current PetscDeviceContext. A PETSc without CUDA has nothing there, and CUDA's default stream serves.

  No PETSc that was built with CUDA has run this yet: it was compiled against the headers of 3.18 and 3.26 with CUDA switched on.
*/
#include "device.h"
#include <petscdevice.h>

#if defined(PETSC_HAVE_CUDA)
/* The current context of PETSc if that is CUDA's */
static PetscErrorCode PetscCudaContext(PetscDeviceContext *context, PetscBool *cuda)
{
  PetscDeviceType type;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(context));
  PetscCall(PetscDeviceContextGetDeviceType(*context, &type));
  *cuda = (PetscBool)(type == PETSC_DEVICE_CUDA);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode PetscCudaStream(void **stream)
{
  PetscFunctionBegin;
  *stream = NULL;
#if defined(PETSC_HAVE_CUDA)
  {
    PetscDeviceContext context;
    PetscBool          cuda;

    PetscCall(PetscCudaContext(&context, &cuda));
    if (cuda) PetscCall(SpmvPetscStream(context, stream));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscCudaIndex(PetscInt *index)
{
  PetscFunctionBegin;
  *index = -1;
#if defined(PETSC_HAVE_CUDA)
  {
    PetscDeviceContext context;
    PetscDevice        device;
    PetscBool          cuda;

    PetscCall(PetscCudaContext(&context, &cuda));
    if (cuda) {
      PetscCall(PetscDeviceContextGetDevice(context, &device));
      PetscCall(PetscDeviceGetDeviceId(device, index));
    }
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

SpmvPetscCudaFns SpmvPetscCuda = {PetscCudaStream, PetscCudaIndex};
