static const char help[] = "What was chosen, in words: all that was considered, what decided, and how sure that is.\n\n";

#include "spmvtest.h"

/* What is said of a choice whose candidates have these estimates of products, in seconds, 0 for none */
static PetscErrorCode Says(const PetscLogDouble predicted[], PetscInt chosen, SpmvFrom from, PetscReal calls, PetscInt line,
                           char text[], size_t size)
{
  SpmvChoice *c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  c->known       = PETSC_TRUE;
  c->from        = from;
  c->best.number = chosen;
  c->best.plan   = SpmvPlanDefault(SPMV_BACKEND_HOST, 0, NULL);
  c->backend     = SPMV_BACKEND_HOST;
  c->second      = (SpmvOption){.number = -1};
  c->request     = (SpmvRequest){.calls = calls};
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) c->predicted[SPMV_BACKEND_HOST][k] = predicted[k];
  PetscCall(SpmvChoiceText(c, line, text, size));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const struct {
    PetscLogDouble pmf, tpspmv, aij;
    PetscInt       chosen;
    SpmvFrom       from;
    PetscReal      calls;
    PetscInt       line;
    const char    *wanted;
  } cases[] = {
    {1e-3, 1.1e-3, 4e-3, SPMV_NUMBER_pmf, SPMV_FROM_ESTIMATE, 0, 2,
     "pmf 0.001, tpspmv 0.0011, aij 0.004 s a product by estimate; between the first two is a factor of 1.1, and the estimate "
     "may "
     "be wrong by 1.15: -mat_spmv_tune measure would tell"},
    {1e-3, 1.5e-3, 4e-3, SPMV_NUMBER_pmf, SPMV_FROM_ESTIMATE, 0, 2,
     "pmf 0.001, tpspmv 0.0015, aij 0.004 s a product by estimate; between the first two is a factor of 1.5, and the estimate "
     "may "
     "be wrong by 1.15: -mat_spmv_tune measure is not likely to choose another one"},
    {1.02e-3, 1e-3, 4e-3, SPMV_NUMBER_pmf, SPMV_FROM_ESTIMATE, 0, 2,
     "tpspmv 0.001, pmf 0.00102, aij 0.004 s a product by estimate; pmf, as it is the safer one of those that are near; between "
     "the first two is a factor of 1.02, and the estimate may be wrong by 1.15: -mat_spmv_tune measure would tell"},
    {1e-3, 2e-3, 4e-3, SPMV_NUMBER_AIJ, SPMV_FROM_ESTIMATE, 5, 2,
     "pmf 0.001, tpspmv 0.002, aij 0.004 s a product by estimate; aij, as set-up counts; between the first two is a factor of 2, "
     "and the estimate may be wrong by 1.15: -mat_spmv_tune measure is not likely to choose another one"},
    {1e-3, 1e-3, 1e-3, SPMV_NUMBER_pmf, SPMV_FROM_MEASURE, 0, 2, "tpspmv 0.001, pmf 0.001, aij 0.001 s a product by estimate"},
    {0, 0, 0, SPMV_NUMBER_AIJ, SPMV_FROM_EMPTY, 0, 2, ""},
    {0, 0, 0, SPMV_NUMBER_AIJ, SPMV_FROM_EMPTY, 0, 0, "aij as most of its rows are empty"},
  };

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    PetscLogDouble predicted[SPMV_CANDIDATES] = {0};
    char           text[1024];

    predicted[SPMV_NUMBER_pmf]    = cases[k].pmf;
    predicted[SPMV_NUMBER_tpspmv] = cases[k].tpspmv;
    predicted[SPMV_NUMBER_AIJ]    = cases[k].aij;
    PetscCall(Says(predicted, cases[k].chosen, cases[k].from, cases[k].calls, cases[k].line, text, sizeof(text)));
    PetscCheck(!strcmp(text, cases[k].wanted), PETSC_COMM_SELF, PETSC_ERR_PLIB, "case %d: '%s', not '%s'", (int)k, text,
               cases[k].wanted);
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
