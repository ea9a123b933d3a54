/*
  library.c - libraries of APIs, opened at run time, so that neither they nor their headers need to be there when we are built
*/
#include "device.h"
#include <dlfcn.h>

/*
  SpmvLibraryLoad - finds functions, the last without a name, in the first of some files, the last NULL, that can be opened

  Notes:
  A program that has the library already (linked, or preloaded, as oclgrind does) is served by what it has.

  PETSC_FALSE if there is no such library, or it lacks a function.
*/
PetscBool SpmvLibraryLoad(const char *const files[], const SpmvSymbol symbols[])
{
  void *handle = RTLD_DEFAULT;

  if (!dlsym(handle, symbols->name)) {
    do handle = dlopen(*files++, RTLD_NOW | RTLD_LOCAL);
    while (!handle && *files);
    if (!handle) return PETSC_FALSE;
  }
  for (; symbols->name; symbols++) {
    *symbols->pointer = dlsym(handle, symbols->name);
    if (!*symbols->pointer) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
