/*
  compat.h - what differs between the PETSc releases that we support (3.18 to the newest)

  The only file that compares PETSC_VERSION.
*/
#pragma once
#include <petsc/private/matimpl.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "petscspmv needs PETSc 3.18 or newer; set PETSC_DIR to one"
#endif

/* The release whose structs this library was compiled with */
#define SPMV_PETSC_MAJOR PETSC_VERSION_MAJOR
#define SPMV_PETSC_MINOR PETSC_VERSION_MINOR

#ifndef PETSC_SUCCESS /* 3.19 */
  #define PETSC_SUCCESS 0
#endif

/* Argument of Mat's ops->setfromoptions: a pointer to a struct before 3.23, an opaque pointer since */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *SpmvOptionItems;
#else
typedef PetscOptionItems SpmvOptionItems;
#endif

/* The viewer that an option names; ours to destroy in every release */
#if PETSC_VERSION_LT(3, 22, 0)
  #define PetscOptionsCreateViewer PetscOptionsGetViewer
#endif

/* Flops of a kernel on a device. A PETSc that was built without devices counts all flops as the host's */
#if defined(PETSC_HAVE_DEVICE)
  #define SpmvLogFlops(n) PetscLogGpuFlops(n)
#else
  #define SpmvLogFlops(n) PetscLogFlops(n)
#endif

/* VecPointwiseDivide() gives 0 where y is 0, but since 3.26 1 where x is 0 as well */
#if PETSC_VERSION_LT(3, 26, 0)
  #define SPMV_ZERO_BY_ZERO 0
#else
  #define SPMV_ZERO_BY_ZERO 1
#endif

/* VecSetType(v, "accel") of a vector that is of type seqaccel: before 3.20 PETSc destroys it and makes it anew, without its values */
#if PETSC_VERSION_LT(3, 20, 0)
  #define SPMV_SETTYPE_FORGETS 1
#else
  #define SPMV_SETTYPE_FORGETS 0
#endif
