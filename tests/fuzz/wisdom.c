/*
  wisdom - any file may lie where wisdom is kept: what is found is a value of that file, one that is added is found afterwards,
  and the other lines are what they were
*/
#include "fuzz.h"
#include "tune/tune.h"

#define KEY "petscspmv key"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char        value[SPMV_WISDOM_LINE], plan[256];
  const char *file = FuzzFile(data, size);
  SpmvPlan    read = {0};
  PetscBool   good;

  SpmvWisdomFind(file, KEY, value, sizeof(value));
  FUZZ_CHECK(strlen(value) < sizeof(value) && !strpbrk(value, "|\n"), "a value with a bar or the end of a line\n");
  SpmvWisdomFind(file, "", value, 8); /* what is longer is a miss */
  FUZZ_CHECK(strlen(value) < 8, "a value of 8 characters or more\n");
  /* the input as the text of a plan */
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    for (PetscInt b = SPMV_BACKEND_HOST; b <= SPMV_BACKEND_DEVICE; b++) {
      const SpmvSide *side = SpmvFormatSide(SpmvCandidate[k], b);

      if (!side) continue;
      snprintf(plan, sizeof(plan), "%.*s", (int)PetscMin(size, sizeof(plan) - 1), (const char *)data);
      FUZZ_CALL(SpmvPlanRead(side, plan, &read, &good));
      for (PetscInt p = 0; good && p < side->nparams; p++) {
        if (side->params[p].list) FUZZ_CHECK(read.value[p] >= 0 && read.value[p] <= SPMV_LIST_MAX, "a list that is too long\n");
      }
    }
  }
  return 0;
}
