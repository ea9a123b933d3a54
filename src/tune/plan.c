/*
  plan.c - knobs: which values they take, and a plan as text, "block_height=3 columns=uint16 "
*/
#include "tune.h"

PetscBool SpmvParamAllows(const SpmvParam *param, PetscInt value)
{
  if (!param->choices) return (PetscBool)(value >= param->low && value <= param->high);
  for (PetscInt k = 0; k < param->count; k++) {
    if (param->choices[k] == value) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Appends the knobs of a side, "columns=uint16 tile=64 powers=1,2,6 ", to a text; a list that is empty is left out */
PetscErrorCode SpmvPlanText(const SpmvSide *side, const SpmvPlan *plan, char text[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < side->nparams; k++) {
    const SpmvParam *param = &side->params[k];
    const PetscInt   value = plan->value[k];
    PetscInt         index = 0;

    if (param->list && !value) continue;
    PetscCall(SpmvAppend(text, size, "%s=", param->name));
    while (param->names && index < param->count - 1 && param->choices[index] != value) index++;
    if (param->names) PetscCall(SpmvAppend(text, size, "%s ", param->names[index]));
    else if (!param->list) PetscCall(SpmvAppend(text, size, "%" PetscInt_FMT " ", value));
    for (PetscInt i = 0; param->list && i < value; i++)
      PetscCall(SpmvAppend(text, size, "%" PetscInt_FMT "%s", plan->list[i], i + 1 < value ? "," : " "));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one knob from text; 0 if the text is no value of it */
static int SpmvParamRead(const SpmvParam *param, const char text[], PetscInt *value, PetscInt list[])
{
  char *end = NULL;

  for (PetscInt c = 0; param->names && c < param->count; c++) {
    if (strcmp(param->names[c], text)) continue;
    *value = param->choices[c];
    return 1;
  }
  if (param->names) return 0;
  *value = param->list ? 0 : (PetscInt)strtol(text, &end, 10);
  if (!param->list) return end > text && !*end && SpmvParamAllows(param, *value);
  for (const char *at = text; *value < SPMV_LIST_MAX; at = end + 1) {
    list[*value] = (PetscInt)strtol(at, &end, 10);
    if (end == at || !SpmvParamAllows(param, list[(*value)++])) return 0;
    if (*end != ',') return !*end;
  }
  return 0;
}

/* Sets the knobs that a text of SpmvPlanText() names. Not good: it has what the side has not, and the plan is of no use */
PetscErrorCode SpmvPlanRead(const SpmvSide *side, const char text[], SpmvPlan *plan, PetscBool *good)
{
  char copy[1024], *state = NULL;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(copy, text, sizeof(copy)));
  *good = PETSC_TRUE;
  for (char *part = strtok_r(copy, " ", &state); part; part = strtok_r(NULL, " ", &state)) {
    char    *value = strchr(part, '=');
    PetscInt k     = 0;

    if (value) *value++ = 0;
    while (k < side->nparams && strcmp(side->params[k].name, part)) k++;
    *good = (PetscBool)(value && k < side->nparams && SpmvParamRead(&side->params[k], value, &plan->value[k], plan->list));
    if (!*good) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
