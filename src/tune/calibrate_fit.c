/*
  calibrate_fit.c - the rates of a machine with which the estimate agrees best with what products took

  They are those of least misfit of log(predicted / measured), in which few large misfits count less than many small ones (soft
  L1), and which holds them near the assumed ones as far as products do not tell.
*/
#include "tune.h"
#include <math.h>

#define CALIBRATE_NEAR  0.2   /* misfit beyond which one counts less */
#define CALIBRATE_HOLD  0.25  /* how much the distance from the assumed rates counts */
#define CALIBRATE_STEP  0.5   /* of the logarithm of a rate, at first, ... */
#define CALIBRATE_LAST  0.005 /* ... and at last */
#define CALIBRATE_RATES 12

/* The rates that products tell */
static PetscLogDouble *Rate(SpmvMachine *machine, int k)
{
  PetscLogDouble *rates[CALIBRATE_RATES] = {&machine->byte[1], &machine->byte[2],  &machine->byte[3], &machine->line[1],
                                            &machine->line[2], &machine->line[3],  &machine->cycle,   &machine->miss,
                                            &machine->vector,  &machine->gathered, &machine->pieces,  &machine->blocked};

  return rates[k];
}

/* What is never faster than the level before it */
void SpmvCalibrateOrder(SpmvMachine *machine)
{
  for (int k = 1; k < SPMV_LEVELS; k++) {
    machine->byte[k] = PetscMax(machine->byte[k], machine->byte[k - 1]);
    machine->line[k] = PetscMax(machine->line[k], machine->line[k - 1]);
  }
}

static PetscLogDouble Misfit(const SpmvMachine *assumed, PetscInt n, const SpmvTerms terms[], const PetscLogDouble seconds[],
                             SpmvMachine *machine)
{
  PetscLogDouble misfit = 0;

  for (int k = 0; k < CALIBRATE_RATES; k++)
    misfit += CALIBRATE_HOLD * PetscSqr(log(*Rate(machine, k) / *Rate((SpmvMachine *)assumed, k)));
  for (PetscInt k = 0; k < n; k++) {
    const PetscLogDouble off = log(SpmvSeconds(machine, &terms[k]) / seconds[k]);

    misfit += 2 * PetscSqr(CALIBRATE_NEAR) * (sqrt(1 + PetscSqr(off / CALIBRATE_NEAR)) - 1);
  }
  return misfit;
}

/*
  SpmvCalibrateFit - the rates of a machine with which n products are estimated to take what they took

  machine: on entry what is assumed. error: on return the mean of |log(predicted / measured)|
*/
PetscErrorCode SpmvCalibrateFit(PetscInt n, const SpmvTerms terms[], const PetscLogDouble seconds[], SpmvMachine *machine,
                                PetscLogDouble *error)
{
  const SpmvMachine assumed = *machine;
  PetscLogDouble    least   = Misfit(&assumed, n, terms, seconds, machine);

  PetscFunctionBegin;
  for (PetscLogDouble step = CALIBRATE_STEP; step > CALIBRATE_LAST;) { /* one rate after the other, up or down, while it gains */
    PetscBool gained = PETSC_FALSE;

    for (int k = 0; k < 2 * CALIBRATE_RATES; k++) {
      SpmvMachine    tried = *machine;
      PetscLogDouble misfit;

      *Rate(&tried, k / 2) *= exp(k % 2 ? -step : step);
      misfit = Misfit(&assumed, n, terms, seconds, &tried);
      if (misfit >= least) continue;
      *machine = tried;
      least    = misfit;
      gained   = PETSC_TRUE;
    }
    if (!gained) step /= 2;
  }
  machine->byte[0] *= machine->cycle / assumed.cycle; /* of the first cache, which no product is bound by */
  SpmvCalibrateOrder(machine);
  *error = 0;
  for (PetscInt k = 0; k < n; k++) *error += fabs(log(SpmvSeconds(machine, &terms[k]) / seconds[k])) / (PetscLogDouble)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
