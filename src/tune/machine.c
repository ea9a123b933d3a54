/*
  machine.c - rates of a machine: built in, or the user's, which `make calibrate` measures

  Built in are those of one core of Zen 4 at 3.5 GHz with 32 MiB of a third cache that others use too. They were fitted, with the
  cycles that formats count, to products of 82 matrices; the fit does not tell the second cache from the third where single lines
  of x are concerned. The user's file has a line for each rate that differs, "byte 0.01 0.018 0.02 0.04"; what is not of the form is passed over.
*/
#include "tune.h"
#include <stdio.h>
#include <stdlib.h>

static const SpmvMachine Builtin = {
  .size     = {32768, 1048576, 8388608},
  .byte     = {0.01, 0.018, 0.02, 0.04},
  .line     = {0, 0.9, 0.9, 5},
  .cycle    = 0.286,
  .miss     = 4,
  .vector   = 0.25,
  .gathered = 0.225,
  .isa      = {1.5, 1.05, 1},
};

static SpmvMachine Machine;
static PetscBool   Known = PETSC_FALSE;

/* Every rate by its name in the file */
static const struct {
  const char *name;
  size_t      offset;
  int         count;
} Rates[] = {
  {"size", offsetof(SpmvMachine, size), SPMV_LEVELS - 1},
  {"byte", offsetof(SpmvMachine, byte), SPMV_LEVELS},
  {"line", offsetof(SpmvMachine, line), SPMV_LEVELS},
  {"cycle", offsetof(SpmvMachine, cycle), 1},
  {"miss", offsetof(SpmvMachine, miss), 1},
  {"vector", offsetof(SpmvMachine, vector), 1},
  {"gathered", offsetof(SpmvMachine, gathered), 1},
  {"isa", offsetof(SpmvMachine, isa), SPMV_ISA_COUNT}};

static PetscLogDouble *RateOf(SpmvMachine *machine, size_t r)
{
  return (PetscLogDouble *)(void *)((char *)machine + Rates[r].offset);
}

void SpmvMachineBuiltin(SpmvMachine *machine)
{
  *machine = Builtin;
}

/* One line of the file; rates are numbers > 0, but the first of lines of x, which is 0 */
static void MachineReadLine(char line[], SpmvMachine *machine)
{
  char *state = NULL, *name = strtok_r(line, " \n", &state);

  for (size_t r = 0; name && r < PETSC_STATIC_ARRAY_LENGTH(Rates); r++) {
    double value[SPMV_LEVELS + SPMV_ISA_COUNT]; /* as many as any rate has, and more */
    int    n = 0;

    if (strcmp(name, Rates[r].name)) continue;
    for (char *text, *end; n < Rates[r].count && (text = strtok_r(NULL, " \n", &state)); n++) {
      value[n] = strtod(text, &end);
      if (end == text || *end || !(value[n] < 1e12) || !(value[n] > 0 || (value[n] == 0 && RateOf(machine, r)[n] == 0))) return;
    }
    for (int k = 0; n == Rates[r].count && k < n; k++) RateOf(machine, r)[k] = value[k];
  }
}

/* The rates of this machine; the user's file is read once */
PetscErrorCode SpmvMachineGet(const SpmvMachine **machine)
{
  char  file[PETSC_MAX_PATH_LEN], line[256];
  FILE *f = NULL;

  PetscFunctionBegin;
  *machine = &Machine;
  if (Known) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvMachineBuiltin(&Machine);
  PetscCall(SpmvUserPath("XDG_CONFIG_HOME", ".config", "machine", file, sizeof(file)));
  if (file[0]) f = fopen(file, "r");
  while (f && fgets(line, sizeof(line), f)) MachineReadLine(line, &Machine);
  if (f) (void)fclose(f);
  PetscCall(PetscInfo(NULL, "rates of the machine: %s\n", f ? file : "built in"));
  Known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes rates as the file has them */
PetscErrorCode SpmvMachineWrite(SpmvMachine *machine, FILE *f)
{
  PetscFunctionBegin;
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(Rates); r++) {
    fprintf(f, "%s", Rates[r].name);
    for (int k = 0; k < Rates[r].count; k++) fprintf(f, " %.4g", (double)RateOf(machine, r)[k]);
    fprintf(f, "\n");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
