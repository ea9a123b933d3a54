/*
  layouts.c - whether the PETSc in use is like the one that we were compiled for: we use its structs

  Inside the structs that we use, petsc/private/{petscimpl,vecimpl,matimpl,pcimpl}.h of PETSc 3.18 to 3.26 ask for

    PETSC_USE_DEBUG    Vec: who locked it
    PETSC_HAVE_DEVICE  Vec, Mat: what they are bound to. Set by each of the packages below, which change no struct themselves
    PETSC_HAVE_SAWS    every object: what is published
    PETSC_USE_COMPLEX  every object, since 3.20: seen from the type of scalars

  and for nothing else. What MPI's handles are is another matter, and the first one: without it no error can be raised.

  Functions here have no PetscFunctionBegin and no PetscCall(): in a library for a PETSc with debugging both
  need petscstack, which may be missing.
*/
#define _GNU_SOURCE /* dladdr() */
#include "../mat/interface/spmvmat.h"
#include <dlfcn.h>

#define REMEDY "build it again with PETSC_DIR and PETSC_ARCH set to this PETSc"

/* An MPI, and what shows at run time that a PETSc has it: MPIUNI is in libpetsc, Open MPI beside it. Any other has handles like
   MPICH */
static const struct {
  const char *name;
  PetscBool   ours;
  const char *symbol;
} Mpis[] = {{"MPIUNI", (PetscBool)PetscDefined(HAVE_MPIUNI), "MPIUNI_Memcpy"},
#if defined(OPEN_MPI)
            {"Open MPI", PETSC_TRUE, "ompi_mpi_comm_world"}
#else
            {"Open MPI", PETSC_FALSE, "ompi_mpi_comm_world"}
#endif
};

/* What changes structs, and what shows at run time that a PETSc was compiled with it: a symbol, or any of some packages */
static const struct {
  const char *macro;
  PetscBool   ours;
  const char *symbol, *packages[8];
} Layouts[] = {
#if !PetscDefined(HAVE_THREADSAFETY) /* which hides the symbol */
  {"PETSC_USE_DEBUG", (PetscBool)PetscDefined(USE_DEBUG), "petscstack", {NULL}},
#endif
  {"PETSC_HAVE_DEVICE", (PetscBool)PetscDefined(HAVE_DEVICE), NULL, {SPMV_DEVICE_PACKAGES}},
  {"PETSC_HAVE_SAWS", (PetscBool)PetscDefined(HAVE_SAWS), NULL, {"saws"}}};

/* Looks in the library whose functions we call only: the PETSc that we were linked with may be in memory as well */
static PetscBool HasSymbol(const char symbol[])
{
  Dl_info   info;
  void     *library = dladdr((void *)PetscGetVersionNumber, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  PetscBool exports = (PetscBool)(dlsym(library ? library : RTLD_DEFAULT, symbol) != NULL);

  if (library) dlclose(library);
  return exports;
}

/* PetscError() would be given a communicator that is none to this program's MPI: we say it ourselves, PETSc says where */
static PetscErrorCode CheckMpi(void)
{
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Mpis); k++) {
    const PetscBool theirs = HasSymbol(Mpis[k].symbol);

    if (theirs == Mpis[k].ours) continue;
    (void)fprintf(stderr, "libpetscspmv was compiled for a PETSc %s %s and this program runs one %s it; " REMEDY "\n",
                  Mpis[k].ours ? "with" : "without", Mpis[k].name, theirs ? "with" : "without");
    return PETSC_ERR_LIB;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckLayouts(void)
{
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Layouts); k++) {
    PetscBool theirs = (PetscBool)(Layouts[k].symbol && HasSymbol(Layouts[k].symbol));

    for (const char *const *package = Layouts[k].packages; *package && !theirs; package++) {
      if (PetscHasExternalPackage(*package, &theirs)) return PETSC_ERR_LIB;
    }
    PetscCheck(theirs == Layouts[k].ours, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "libpetscspmv was compiled for a PETSc %s %s and this program runs one %s it; " REMEDY,
               Layouts[k].ours ? "with" : "without", Layouts[k].macro, theirs ? "with" : "without");
  }
  return PETSC_SUCCESS;
}

/* `PETSC_ERR_LIB` if MPI, version, scalars, indices or structs of the PETSc in use are not those that we were compiled for */
PetscErrorCode SpmvCheckPetsc(void)
{
  PetscInt      major, minor;
  PetscDataType scalar;
  PetscBool     found;
  size_t        scalar_size, int_size;

  if (CheckMpi()) return PETSC_ERR_LIB;
  if (PetscGetVersionNumber(&major, &minor, NULL, NULL)) return PETSC_ERR_LIB;
  PetscCheck(major == SPMV_PETSC_MAJOR && minor == SPMV_PETSC_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libpetscspmv was compiled for PETSc %d.%d and this program runs %" PetscInt_FMT ".%" PetscInt_FMT "; " REMEDY,
             SPMV_PETSC_MAJOR, SPMV_PETSC_MINOR, major, minor);
  if (PetscDataTypeFromString("scalar", &scalar, &found)) return PETSC_ERR_LIB;
  if (PetscDataTypeGetSize(scalar, &scalar_size) || PetscDataTypeGetSize(PETSC_INT, &int_size)) return PETSC_ERR_LIB;
  PetscCheck(scalar == PETSC_SCALAR && scalar_size == sizeof(PetscScalar) && int_size == sizeof(PetscInt), PETSC_COMM_SELF,
             PETSC_ERR_LIB,
             "libpetscspmv was compiled for scalars of %zu bytes (%s) and indices of %zu, "
             "and this program's PETSc has %zu (%s) and %zu; " REMEDY,
             sizeof(PetscScalar), PetscDataTypes[PETSC_SCALAR], sizeof(PetscInt), scalar_size, PetscDataTypes[scalar], int_size);
  return CheckLayouts();
}
