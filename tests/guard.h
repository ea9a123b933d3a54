/*
  guard.h - for test programs: memory of PETSc's that cannot be read once it is freed, and allocations that fail

  GuardInstall() comes after PetscInitialize(). From then on what is allocated while Guard.on is set has pages of its own, which
  are never given back: to touch them after they were freed is a crash. While Guard.left is not negative, so many allocations more
  succeed, and one fails.
*/
#pragma once
#include <petscsys.h>
#include <sys/mman.h>

#define GUARD_ROOM ((size_t)1 << 32) /* of addresses */
#define GUARD_PAGE ((size_t)4096)

static struct {
  PetscBool  on;
  PetscInt64 left;
  char      *base;
  size_t     used;
  PetscErrorCode (*malloc)(size_t, PetscBool, int, const char[], const char[], void **);
  PetscErrorCode (*free)(void *, int, const char[], const char[]);
  PetscErrorCode (*realloc)(size_t, int, const char[], const char[], void **);
} Guard = {.left = -1};

static inline PetscBool GuardHas(const void *p)
{
  return (PetscBool)((const char *)p >= Guard.base && (const char *)p < Guard.base + GUARD_ROOM);
}

/* The page before what is allocated has its length */
static PetscErrorCode GuardMalloc(size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **p)
{
  const size_t pages = 1 + (bytes + GUARD_PAGE - 1) / GUARD_PAGE;

  if (Guard.left >= 0 && bytes && !Guard.left--) {
    PetscFunctionBegin; /* PetscError() takes it off the stack of a PETSc with debugging */
    return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL, "This allocation is to fail");
  }
  if (!Guard.on || !bytes) return (*Guard.malloc)(bytes, clear, line, function, file, p);
  *p = Guard.base + Guard.used + GUARD_PAGE;
  Guard.used += pages * GUARD_PAGE;
  PetscCheck(Guard.used <= GUARD_ROOM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no room left");
  PetscCheck(!mprotect((char *)*p - GUARD_PAGE, pages * GUARD_PAGE, PROT_READ | PROT_WRITE), PETSC_COMM_SELF, PETSC_ERR_SYS,
             "mprotect");
  *(size_t *)((char *)*p - GUARD_PAGE) = pages;
  return 0;
}

static PetscErrorCode GuardFree(void *p, int line, const char function[], const char file[])
{
  char *first = (char *)p - GUARD_PAGE;

  if (!GuardHas(p)) return (*Guard.free)(p, line, function, file);
  PetscCheck(!mprotect(first, *(size_t *)first * GUARD_PAGE, PROT_NONE), PETSC_COMM_SELF, PETSC_ERR_SYS, "mprotect");
  return 0;
}

static PetscErrorCode GuardRealloc(size_t bytes, int line, const char function[], const char file[], void **p)
{
  void *old = *p;

  if (!Guard.on && !GuardHas(old)) return (*Guard.realloc)(bytes, line, function, file, p);
  PetscCheck(!old || GuardHas(old), PETSC_COMM_SELF, PETSC_ERR_PLIB, "an array from outside is made longer");
  PetscCall(GuardMalloc(bytes, PETSC_FALSE, line, function, file, p));
  if (old) PetscCall(PetscMemcpy(*p, old, PetscMin(bytes, (*(size_t *)((char *)old - GUARD_PAGE) - 1) * GUARD_PAGE)));
  if (old) PetscCall(GuardFree(old, line, function, file));
  return 0;
}

static PetscErrorCode GuardInstall(void)
{
  PetscFunctionBegin;
  Guard.base = (char *)mmap(NULL, GUARD_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PetscCheck(Guard.base != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "mmap");
  Guard.malloc   = PetscTrMalloc;
  Guard.free     = PetscTrFree;
  Guard.realloc  = PetscTrRealloc;
  PetscTrMalloc  = GuardMalloc;
  PetscTrFree    = GuardFree;
  PetscTrRealloc = GuardRealloc;
  PetscFunctionReturn(0);
}
