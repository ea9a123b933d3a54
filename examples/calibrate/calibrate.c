static const char help[] = "Measures this machine and writes what formats and the tuner go by.\n\
  -out <file>   instead of petscspmv/machine in $XDG_CONFIG_HOME or ~/.config; - for the screen only\n\n";

/* calibrate - what -mat_spmv_tune_calibrate does in any program, anew and with the numbers shown (src/tune/calibrate.c) */
#include "tune/tune.h"
#include <math.h>

int main(int argc, char **argv)
{
  char           file[PETSC_MAX_PATH_LEN];
  SpmvMachine    machine;
  PetscLogDouble error;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SpmvMachineFile(file, sizeof(file));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-out", file, sizeof(file), NULL));
  SpmvMachineAssumed(&machine);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "assumed without a file\n"));
  SpmvMachineWrite(&machine, stdout);
  PetscCall(SpmvCalibrate(1, &machine, &error));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "measured; estimates of products are off by %.0f %%\n", 100 * (exp(error) - 1)));
  SpmvMachineWrite(&machine, stdout);
  if (file[0] && strcmp(file, "-")) {
    PetscCall(SpmvCalibrateSave(file, &machine));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "written to %s\n", file));
  }
  PetscCall(PetscFinalize());
  return 0;
}
