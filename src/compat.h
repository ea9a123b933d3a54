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
