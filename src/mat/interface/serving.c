/*
  serving.c - triangles that serve sweeps (matsor.c) or solves (matfactor.c)

  Nobody knows how many passes will come. Unless the user tells (-mat_spmv_expected_calls) it is taken that there will be as many
  as there were, but SERVING_LEAST at least: what was lost by waiting is then no more than what the build takes.
*/
#include "serving.h"
#include "../../tune/passes.h"

#define SERVING_LEAST 32

/*
  SpmvServingChoose - chooses the shape, and drops triangles that have another one

  Input Parameters:
+ serving  - what was built, and how many passes there were
. source   - the triangles' pattern
. isa      - of the kernels, SPMV_ISA_COUNT: the best that runs here
. expected - passes, 0: not known
- gaining  - nothing is to be built that does not gain, if nothing was yet

  Output Parameter:
. reason - why PETSc's kernels are to serve; as it was, if they are not
*/
PetscErrorCode SpmvServingChoose(SpmvServing *serving, const SpmvTrianglesSource *source, PetscInt isa, PetscReal expected,
                                 PetscBool gaining, const char **reason)
{
  const PetscLogDouble passes =
    PetscMax(expected > 0 ? (PetscLogDouble)expected : SERVING_LEAST, (PetscLogDouble)serving->passes);
  const SpmvShape *built = SpmvServingBuilt(serving);
  SpmvPassesChoice choice;

  PetscFunctionBegin;
  PetscCall(SpmvPassesChoose(source, isa, built, passes, &choice));
  if (choice.shape != built) {
    serving->current = PETSC_FALSE;
    PetscCall(SpmvTrianglesDestroy(&serving->triangles));
  }
  serving->shape = choice.shape;
  serving->next  = choice.better ? 2 * (PetscInt64)passes : 0;
  if (!choice.shape) *reason = "nodes have more rows than there are kernels for";
  else if (!built && gaining && !choice.gains) *reason = "a build is not estimated to pay (-mat_spmv_expected_calls)";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the triangles, or gives them other values; bad: a row whose diagonal has no inverse, as SpmvTrianglesCreate() */
PetscErrorCode SpmvServingSetValues(SpmvServing *serving, const SpmvTrianglesSource *source, PetscInt isa, PetscBool floats,
                                    PetscInt *bad)
{
  PetscFunctionBegin;
  if (serving->triangles) {
    serving->triangles->floats = floats;
    PetscCall(SpmvTrianglesSetValues(source, serving->triangles, bad));
  } else PetscCall(SpmvTrianglesCreate(source, serving->shape, isa, floats, &serving->triangles, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For another pattern: frees the triangles and forgets how many passes there were */
PetscErrorCode SpmvServingReset(SpmvServing *serving)
{
  PetscFunctionBegin;
  PetscCall(SpmvTrianglesDestroy(&serving->triangles));
  *serving = (SpmvServing){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
