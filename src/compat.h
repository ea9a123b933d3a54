/*
  compat.h - what differs between the PETSc releases that we support (3.18 to the newest)

  The only file that compares PETSC_VERSION.
*/
#pragma once
#include <petsc/private/matimpl.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "petscspmv needs PETSc 3.18 or newer; set PETSC_DIR to one"
#endif

#ifndef PETSC_SUCCESS /* 3.19 */
  #define PETSC_SUCCESS 0
#endif

/* Argument of Mat's ops->setfromoptions: a pointer to a struct before 3.23, an opaque pointer since */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *SpmvOptionItems;
#else
typedef PetscOptionItems     SpmvOptionItems;
#endif

/* The viewer that an option names; ours to destroy in every release */
#if PETSC_VERSION_LT(3, 22, 0)
  #define PetscOptionsCreateViewer PetscOptionsGetViewer
#endif

/*
  What destroys what a container points to: a function of the pointer before 3.23, of where the pointer is since; the type of that
  is void ** before 3.25, void * since
*/
#if PETSC_VERSION_LT(3, 23, 0)
  #define SPMV_CONTAINER_DESTROY(name, destroy) \
    static PetscErrorCode name(void *pointer) \
    { \
      return destroy(pointer); \
    }
  #define PetscContainerSetCtxDestroy PetscContainerSetUserDestroy
#else
  #if PETSC_VERSION_LT(3, 25, 0)
typedef void               **SpmvDestroyed;
  #else
typedef void *SpmvDestroyed;
  #endif
  #define SPMV_CONTAINER_DESTROY(name, destroy) \
    static PetscErrorCode name(SpmvDestroyed place) \
    { \
      return destroy(*(void **)place); \
    }
#endif

/* Flops of a kernel on a device. A PETSc that was built without devices counts all flops as the host's */
#if defined(PETSC_HAVE_DEVICE)
  #define SpmvLogFlops(n) PetscLogGpuFlops(n)
#else
  #define SpmvLogFlops(n) PetscLogFlops(n)
#endif

/* Keeps the log of events that -log_view prints; how many stages it has. Before 3.20 it would take the place of another log */
#if !PetscDefined(USE_LOG)
  #define SpmvLogBegin()      PETSC_SUCCESS
  #define SpmvLogGetStages(n) (*(n) = 0, PETSC_SUCCESS)
#else
static inline PetscErrorCode SpmvLogBegin(void)
{
  PetscBool active = PETSC_FALSE;

  PetscFunctionBegin;
  if (PETSC_VERSION_LT(3, 20, 0)) PetscCall(PetscLogIsActive(&active));
  if (!active) PetscCall(PetscLogDefaultBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SpmvLogGetStages(PetscInt *n)
{
  #if PETSC_VERSION_LT(3, 20, 0)
  PetscStageLog log;

  PetscFunctionBegin;
  PetscCall(PetscLogGetStageLog(&log));
  *n = log->numStages;
  #else
  PetscLogState state;

  PetscFunctionBegin;
  PetscCall(PetscLogGetState(&state));
  PetscCall(PetscLogStateGetNumStages(state, n));
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* VecPointwiseDivide() gives 0 where y is 0, but since 3.26 1 where x is 0 as well */
#define SPMV_ZERO_BY_ZERO (PETSC_VERSION_LT(3, 26, 0) ? 0 : 1)

/*
  For tests: MatMatMult() of an mpiaij with ghosts by a dense matrix of which this process has no rows is a segmentation fault, in
  MatMatMultSymbolic_MPIAIJ_MPIDense()
*/
#define SPMV_DENSE_NEEDS_ROWS (PETSC_VERSION_GE(3, 25, 0) && PETSC_VERSION_LT(3, 26, 0))

/* For tests: segmentation faults of products of mpisell, and of MatResetPreallocation() where some processes have nothing to
   reset */
#define SPMV_SELL_CRASHES  (PETSC_VERSION_GE(3, 19, 0) && PETSC_VERSION_LT(3, 20, 0))
#define SPMV_RESET_CRASHES (PETSC_VERSION_GE(3, 19, 0) && PETSC_VERSION_LT(3, 22, 0))

/* VecSetType(v, "accel") of a vector of type seqaccel: before 3.20 PETSc destroys it and makes it anew, without its values */
#define SPMV_SETTYPE_FORGETS PETSC_VERSION_LT(3, 20, 0)

/* MatBindToCPU() and VecBindToCPU() do nothing if this flag is as asked for. PETSc sets it for what it takes for the host's */
#if defined(PETSC_HAVE_DEVICE)
  #define SpmvSetBoundToCPU(o, flag) ((o)->boundtocpu = (flag))
#else
  #define SpmvSetBoundToCPU(o, flag) ((void)(o))
#endif

/* The stream of a device context of CUDA's. PETSc's function gives the stream before 3.20, and where it is since */
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice.h>
  #if PETSC_VERSION_LT(3, 20, 0)
    #include <petsc/private/deviceimpl.h>
  #endif
static inline PetscErrorCode SpmvPetscStream(PetscDeviceContext context, void **stream)
{
  #if PETSC_VERSION_LT(3, 20, 0)
  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetStreamHandle_Internal(context, stream));
  #else
  void *handle;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  *stream = *(void **)handle;
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The packages that make a PETSc define PETSC_HAVE_DEVICE; none of them is required */
#if PETSC_VERSION_LT(3, 25, 0)
  #define SPMV_DEVICE_PACKAGES "cuda", "hip", "kokkos", "viennacl"
#else
  #define SPMV_DEVICE_PACKAGES "cuda", "hip", "kokkos", "viennacl", "sycl"
#endif

/* The stack of calls of a PETSc with debugging. Weak, so that one without it loads us all the same and is told so: layouts.c */
#if PetscDefined(USE_DEBUG)
  #pragma weak petscstack
#endif

/* The release whose structs this library is compiled with */
#define SPMV_PETSC_MAJOR PETSC_VERSION_MAJOR
#define SPMV_PETSC_MINOR PETSC_VERSION_MINOR
