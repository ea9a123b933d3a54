/*
  alloc.c - memory for the arrays of a storage: aligned to cache lines, and large ones on huge pages

  A product streams through its arrays once. On pages of 4 kB the hardware's prefetch stops 16,000 times in 64 MB; Linux gives
  pages of 2 MB to those who ask. Nor does a first build wait for so many page faults, of 1 us each on a virtual machine: an array
  of 1 MB takes 237 us to touch on pages of 4 kB, 93 us on one of 2 MB.
*/
#include "../spmvimpl.h"
#include <sys/mman.h>

#define SPMV_PAGE      ((size_t)4096)
#define SPMV_HUGE_PAGE ((size_t)1 << 21)

/*
  SpmvAlloc - memory for an array of a storage, freed by SpmvFree()

  Input Parameter:
. bytes - length, >= 0; there are 64 bytes beyond it that may be read

  Output Parameter:
. array - a `void **`: the address, a multiple of 64; contents are undefined

  Note:
  Where no more than half of the last huge page is beyond the array, that page is asked for as a whole
*/
PetscErrorCode SpmvAlloc(size_t bytes, void *array)
{
  const size_t huge  = (bytes + SPMV_HUGE_PAGE / 2) / SPMV_HUGE_PAGE * SPMV_HUGE_PAGE; /* bytes on huge pages */
  const size_t align = huge ? SPMV_HUGE_PAGE : SPMV_CACHE_LINE;
  char        *raw, *p;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(bytes + SPMV_CACHE_LINE, huge) + align + sizeof(void *), &raw));
  p = raw + sizeof(void *);
  p += (align - (uintptr_t)p % align) % align;
  ((void **)p)[-1] = raw; /* for SpmvFree() */
  *(void **)array  = p;
#if defined(MADV_HUGEPAGE)
  if (huge) (void)madvise(p, huge, MADV_HUGEPAGE); /* a hint: failure does not matter */
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the tasks of SpmvAllocShared() touch */
typedef struct {
  char    *array;
  size_t   bytes;
  PetscInt ntasks;
} SpmvTouch;

static void SpmvTouchTask(void *context, PetscInt task)
{
  const SpmvTouch *touch = (const SpmvTouch *)context;
  const size_t     end   = SpmvShare(touch->bytes, task + 1, touch->ntasks);

  for (size_t k = SpmvShare(touch->bytes, task, touch->ntasks); k < end; k += SPMV_PAGE) touch->array[k] = 0;
}

/*
  SpmvAllocShared - SpmvAlloc() for an array of which each of the `ntasks` tasks of a product reads an equal part

  Each task's thread is the first to touch its part: on a machine of several memories the system then takes the page from that
  thread's own, if threads keep to their cores (OMP_PROC_BIND).
*/
PetscErrorCode SpmvAllocShared(size_t bytes, PetscInt ntasks, void *array)
{
  SpmvTouch touch = {.bytes = bytes, .ntasks = ntasks};

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(bytes, array));
  touch.array = *(char **)array;
  if (ntasks > 1) SpmvRun(ntasks, SpmvTouchTask, &touch);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what SpmvAlloc() or SpmvAllocShared() gave, and sets the pointer that array points to to NULL */
PetscErrorCode SpmvFree(void *array)
{
  void **p = (void **)array, *raw;

  PetscFunctionBegin;
  if (!*p) PetscFunctionReturn(PETSC_SUCCESS);
  raw = ((void **)*p)[-1]; /* a copy: PetscFree() writes to what it is given */
  PetscCall(PetscFree(raw));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what PetscMalloc1() or its kin gave, at the end of a SPMV_TEMPORARY's scope */
void SpmvFreeTemporary(void *array)
{
  (void)PetscFree(*(void **)array);
}
