/*
  refusing.h - PETSc's allocator, but that it refuses what RefuseRequest() says, and counts what is there

  PetscMallocSet() is no use, since -malloc_dump has called it. A test defines RefuseRequest() after this.
*/
#pragma once
#include <petscsys.h>

static PetscErrorCode (*PetscsMalloc)(size_t, PetscBool, int, const char[], const char[], void **);
static PetscErrorCode (*PetscsRealloc)(size_t, int, const char[], const char[], void **);
static PetscErrorCode (*PetscsFree)(void *, int, const char[], const char[]);
static PetscInt Asked, Refused; /* requests so far; the one that is refused, 0 if none is */
static PetscInt Live;           /* what was given, to PETSc as well, and not yet freed */

/* Whether so many bytes for a source file are refused; counts the requests that may be */
static PetscBool RefuseRequest(size_t bytes, const char file[]);

static PetscErrorCode Malloc(size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **result)
{
  PetscErrorCode ierr;

  if (RefuseRequest(bytes, file)) return PETSC_ERR_MEM;
  ierr = (*PetscsMalloc)(bytes, clear, line, function, file, result);
  Live += !ierr && *result;
  return ierr;
}

/* PetscRealloc() of nothing gives memory as well */
static PetscErrorCode Realloc(size_t bytes, int line, const char function[], const char file[], void **result)
{
  const PetscBool none = (PetscBool) !*result;
  PetscErrorCode  ierr;

  if (RefuseRequest(bytes, file)) return PETSC_ERR_MEM;
  ierr = (*PetscsRealloc)(bytes, line, function, file, result);
  Live += !ierr && none && *result;
  return ierr;
}

static PetscErrorCode Free(void *pointer, int line, const char function[], const char file[])
{
  Live -= pointer != NULL;
  return (*PetscsFree)(pointer, line, function, file);
}

/* From here on, until RefusingEnds() */
static void RefusingBegins(void)
{
  PetscsMalloc   = PetscTrMalloc;
  PetscsRealloc  = PetscTrRealloc;
  PetscsFree     = PetscTrFree;
  PetscTrMalloc  = Malloc;
  PetscTrRealloc = Realloc;
  PetscTrFree    = Free;
}

static void RefusingEnds(void)
{
  PetscTrMalloc  = PetscsMalloc;
  PetscTrRealloc = PetscsRealloc;
  PetscTrFree    = PetscsFree;
}
