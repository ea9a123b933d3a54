/*
  linked.c - a program that is linked with this library has its types without an option

  The library is in memory before PetscInitialize() then. Of PETSc only the options database may be used that early
  (PetscOptionsSetValue()), and no other hook of PETSc 3.18 to 3.26 is called in each program. So the library names itself as one
  that PetscInitialize() is to load: by -dll_prepend, since -dll_append is what users type. It is in memory, so that loading it is
  calling its PetscDLLibraryRegister_petscspmv().
*/
#define _GNU_SOURCE /* dladdr() */
#include "mat/interface/spmvmat.h"
#include <dlfcn.h>

/* PETSc finds the function by the name of the file, and takes commas for the ends of names */
static PetscBool SpmvLinkedLoadable(const char path[])
{
  const char *name = strrchr(path, '/');

  return (PetscBool)(name && !strncmp(name, "/libpetscspmv.so", 16) && !strchr(path, ','));
}

/* One that -dll_append or dlopen() loads after PetscInitialize() began finds a PETSC_COMM_WORLD, and has nothing to do */
__attribute__((constructor)) static void SpmvLinked(void)
{
  Dl_info info;

  if (PETSC_COMM_WORLD != MPI_COMM_NULL || !dladdr((void *)SpmvInitializePackage, &info)) return;
  if (info.dli_fname && SpmvLinkedLoadable(info.dli_fname)) (void)PetscOptionsSetValue(NULL, "-dll_prepend", info.dli_fname);
}
