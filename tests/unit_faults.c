static const char help[] = "Matrices that run out of memory: each request of the library is refused in turn. An error comes "
                           "back, nothing is left behind, and "
                           "the matrix can be used again, or destroyed.\n\n";

#include "spmvtest.h"
#include "host/machine.h"
#include "refusing.h"

#define ROWS 90

/* Of those that the library's own files make */
static PetscBool RefuseRequest(size_t bytes, const char file[])
{
  (void)bytes;
  return (PetscBool)(Refused && !strncmp(file, "src/", 4) && ++Asked == Refused);
}

/* Rows of a band, a few entries in other places; symmetric, and so that incomplete factors exist */
static PetscErrorCode Fill(Mat A, PetscReal scale, PetscBool more)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < ROWS; i++) {
    for (PetscInt j = 0; j < ROWS; j++) {
      const PetscInt far = PetscAbsInt(i - j);

      if (far > 4 && far != 30 && !(more && far == 11)) continue;
      PetscCall(MatSetValue(A, i, j, scale * (i == j ? 40 : -1 - (PetscReal)((i + j) % 7) / 8), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is done with a matrix A while memory runs out; x is given, y comes out. R is A in the type aij */
typedef struct {
  Mat A, R, F, X, Y;
  Vec x, y;
} Case;

typedef PetscErrorCode CaseFn(Case *c, Mat A);

static PetscErrorCode Nothing(Case *c, Mat A)
{
  (void)c;
  (void)A;
  return PETSC_SUCCESS;
}

static PetscErrorCode Product(Case *c, Mat A)
{
  return MatMult(A, c->x, c->y);
}

static PetscErrorCode Transposed(Case *c, Mat A)
{
  return MatMultTranspose(A, c->x, c->y);
}

static PetscErrorCode Dense(Case *c, Mat A)
{
  PetscFunctionBegin;
  if (!c->Y) PetscCall(MatMatMult(A, c->X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c->Y));
  else PetscCall(MatMatMult(A, c->X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &c->Y));
  PetscCall(MatGetColumnVector(c->Y, c->y, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweep(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(VecSet(c->y, 0));
  PetscCall(MatSOR(A, c->x, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 2, 1, c->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewValues(Case *c, Mat A)
{
  (void)c;
  return MatScale(A, 1.5);
}

static PetscErrorCode NewPattern(Case *c, Mat A)
{
  (void)c;
  return Fill(A, 3, PETSC_TRUE);
}

static PetscErrorCode BeforeProduct(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Product(c, A));
  PetscCall(Sweep(c, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductThenValues(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(BeforeProduct(c, A));
  PetscCall(NewValues(c, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductThenPattern(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(BeforeProduct(c, A));
  PetscCall(NewPattern(c, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors of the matrix, by PETSc; c->F is one of a matrix in aij where A is, too */
static PetscErrorCode Factor(Case *c, Mat A)
{
  MatFactorInfo info;
  IS            rows, columns;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&c->F));
  PetscCall(MatGetFactor(A, A == c->R ? MATSOLVERPETSC : MATSOLVERPETSCSPMV, MAT_FACTOR_ILU, &c->F));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = 1;
  info.fill   = 3;
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatILUFactorSymbolic(c->F, A, rows, columns, &info));
  PetscCall(MatLUFactorNumeric(c->F, A, &info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Case *c, Mat A)
{
  (void)A;
  return MatSolve(c->F, c->x, c->y);
}

static PetscErrorCode SolveTransposed(Case *c, Mat A)
{
  (void)A;
  return MatSolveTranspose(c->F, c->x, c->y);
}

static const struct {
  const char *name;
  CaseFn     *before, *run; /* what is done with all the memory there is; and what runs out of it */
} Cases[] = {
  {"a product", Nothing, Product},
  {"a transposed product", Nothing, Transposed},
  {"a product with columns", Nothing, Dense},
  {"a sweep", Nothing, Sweep},
  {"a product, new values", ProductThenValues, Product},
  {"a sweep, new values", ProductThenValues, Sweep},
  {"a product, new pattern", ProductThenPattern, Product},
  {"a transposed one, after one", BeforeProduct, Transposed},
  {"a sweep, new pattern", ProductThenPattern, Sweep},
  {"a solve", Factor, Solve},
  {"a transposed solve", Factor, SolveTransposed},
};

static PetscErrorCode Create(MatType type, Case *c)
{
  PetscFunctionBegin;
  *c = (Case){NULL};
  for (int k = 0; k < 2; k++) {
    Mat *A = k ? &c->R : &c->A;

    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
    PetscCall(MatSetType(*A, k ? MATSEQAIJ : type));
    if (!k) PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, 13, NULL));
    PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(Fill(*A, 1, PETSC_FALSE));
  }
  PetscCall(MatCreateVecs(c->A, &c->x, &c->y));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, ROWS, 3, NULL, &c->X));
  for (PetscInt i = 0; i < ROWS; i++) {
    PetscCall(VecSetValue(c->x, i, 1 + (PetscReal)(i % 5), INSERT_VALUES));
    for (PetscInt j = 0; j < 3; j++) PetscCall(MatSetValue(c->X, i, j, (PetscReal)((i + j) % 4), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(c->x));
  PetscCall(VecAssemblyEnd(c->x));
  PetscCall(MatAssemblyBegin(c->X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c->X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Case *c)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&c->A));
  PetscCall(MatDestroy(&c->R));
  PetscCall(MatDestroy(&c->F));
  PetscCall(MatDestroy(&c->X));
  PetscCall(MatDestroy(&c->Y));
  PetscCall(VecDestroy(&c->x));
  PetscCall(VecDestroy(&c->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once more, with all the memory there is: the result is aij's */
static PetscErrorCode Again(Case *c, size_t k, const char what[])
{
  Vec       z;
  PetscReal norm, error;

  PetscFunctionBegin;
  PetscCall(Cases[k].run(c, c->A));
  PetscCall(VecDuplicate(c->y, &z));
  PetscCall(VecCopy(c->y, z));
  PetscCall(MatDestroy(&c->Y));
  PetscCall(Cases[k].before(c, c->R));
  PetscCall(Cases[k].run(c, c->R));
  PetscCall(VecNorm(c->y, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, c->y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCheck(error <= 100 * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is off by %g of %g", what,
             (double)error, (double)norm);
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses each request in turn, until the work is done without: `again` it is then done with all memory, or all is destroyed */
static PetscErrorCode RunOutOfMemory(MatType type, size_t k, PetscBool again, PetscInt *refused)
{
  PetscErrorCode ierr = PETSC_ERR_MEM;

  PetscFunctionBegin;
  for (PetscInt request = 1; ierr; request++) {
    const PetscInt before = Live;
    char           what[256];
    Case           c;

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s of type %s without the memory of request %" PetscInt_FMT, Cases[k].name, type,
                            request));
    PetscCall(Create(type, &c));
    PetscCall(Cases[k].before(&c, c.A));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    Asked   = 0;
    Refused = request;
    ierr    = Cases[k].run(&c, c.A);
    Refused = 0;
    PetscCall(PetscPopErrorHandler());
    PetscCheck(!ierr || ierr == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s returns %d", what, (int)ierr);
    PetscCheck(ierr || Asked < request, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is done", what);
    *refused += ierr != 0;
    if (again) PetscCall(Again(&c, k, what));
    PetscCall(Destroy(&c));
    PetscCheck(Live == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s leaves %" PetscInt_FMT " pieces of memory", what,
               Live - before);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that PETSc and we keep from a first use on is there afterwards */
static PetscErrorCode FirstUse(MatType type)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); k++) {
    Case c;

    PetscCall(Create(type, &c));
    PetscCall(Cases[k].before(&c, c.A));
    PetscCall(Again(&c, k, Cases[k].name));
    PetscCall(Destroy(&c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const SpmvCaches caches = {{32768, 1048576, 33554432}, 16}; /* where the last one is far, some products need no memory */
  SpmvMachine      machine;
  char             type[64] = MATSPMV;
  PetscInt         total    = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SpmvMachineBuiltin(SPMV_AVX2, &caches, &machine);
  SpmvMachineSet(&machine);
  PetscCall(SpmvInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  RefusingBegins();
  PetscCall(FirstUse(type));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); k++) {
    PetscInt refused = 0;

    PetscCall(RunOutOfMemory(type, k, PETSC_TRUE, &refused));
    PetscCall(RunOutOfMemory(type, k, PETSC_FALSE, &refused));
    total += refused;
    PetscCheck(refused || (Cases[k].before != Nothing && Cases[k].before != Factor), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s asks for no memory", Cases[k].name);
  }
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " requests were refused\n", total));
  RefusingEnds();
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: shared
    args: -type {{FORMATS spmv}} -mat_spmv_build_after 0 -malloc_dump

  test:
    suffix: copy
    args: -type {{FORMATS spmv}} -mat_spmv_build_after 0 -mat_spmv_transpose copy -mat_spmv_threads 2 -malloc_dump

TEST*/
