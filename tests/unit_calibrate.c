static const char help[] =
  "Rates of the machine: the fit finds those that made-up times were made with; generated matrices; a file is written.\n\n";

#include "spmvtest.h"
#include "tune/tune.h"
#include <math.h>
#include <sys/stat.h>

#define PART 100 /* of the matrices' sizes */

/* Each matrix: columns in order and in range, blocks and symmetry as told; there are small, middle and large ones */
static PetscErrorCode TestMatrices(PetscInt *count)
{
  PetscInt sizes[3] = {0, 0, 0}, blocked = 0, symmetric = 0;
  char     name[64];

  PetscFunctionBegin;
  for (*count = 0;; (*count)++) {
    SPMV_DESTROY_BY(SpmvCalibrateMatrixDestroy) SpmvCSR csr  = {0};
    PetscBool                                           same = PETSC_TRUE;

    PetscCall(SpmvCalibrateMatrix(*count, PART, &csr, name, sizeof(name)));
    if (!csr.m) break;
    sizes[0] += strstr(name, "small") != NULL;
    sizes[1] += strstr(name, "middle") != NULL;
    sizes[2] += strstr(name, "large") != NULL;
    PetscCheck(csr.i[0] == 0 && csr.m == csr.n && csr.m % csr.rbs == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", name);
    for (PetscInt r = 0; r < csr.m; r++) {
      PetscCheck(csr.i[r + 1] > csr.i[r], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d is empty", name, (int)r);
      for (PetscInt k = csr.i[r]; k < csr.i[r + 1]; k++) {
        PetscInt l = csr.i[csr.j[k]];

        PetscCheck(csr.j[k] >= 0 && csr.j[k] < csr.n && (k == csr.i[r] || csr.j[k] > csr.j[k - 1]), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "%s: row %d", name, (int)r);
        while (l < csr.i[csr.j[k] + 1] && csr.j[l] != r) l++;
        same = (PetscBool)(same && l < csr.i[csr.j[k] + 1] && csr.a[l] == csr.a[k]);
      }
    }
    blocked += csr.rbs > 1;
    symmetric += same;
  }
  PetscCheck(sizes[0] == sizes[1] && sizes[2] >= 4 && sizes[2] < sizes[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d small, %d middle and %d large matrices", (int)sizes[0], (int)sizes[1], (int)sizes[2]);
  PetscCheck(blocked > 4 && symmetric > 4 && symmetric < *count, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "of %d matrices %d have blocks, %d are symmetric", (int)*count, (int)blocked, (int)symmetric);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number in [0, 1) */
static PetscReal Random(uint64_t *x)
{
  *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (PetscReal)(*x >> 40) / (PetscReal)(1 << 24);
}

/* Times that a machine would take for made-up terms: the fit, from other rates, comes to those of that machine */
static PetscErrorCode TestFit(void)
{
  enum { N = 400 };
  const SpmvCaches caches = {{32768, 1048576, 33554432}, 16};
  SpmvMachine      made, fitted;
  SpmvTerms       *terms;
  PetscLogDouble  *seconds, error;
  uint64_t         x = 7;

  PetscFunctionBegin;
  SpmvMachineBuiltin(SPMV_AVX512, &caches, &fitted);
  made = fitted;
  made.byte[1] *= 1.3;
  made.byte[2] *= 2.5;
  made.byte[3] *= 1.8;
  made.line[2] *= 2;
  made.line[3] *= 2.2;
  made.cycle *= 0.7;
  made.miss *= 1.5;
  made.gathered *= 1.6;
  made.pieces *= 2.5;
  PetscCall(PetscCalloc2(N, &terms, N, &seconds));
  for (PetscInt k = 0; k < N; k++) {
    const PetscReal nz = 1e5;

    terms[k]               = (SpmvTerms){.slower = 1, .crowd = 1, .bytes = nz * (2 + 20 * Random(&x)), .level = 1 + (int)(k % 3)};
    terms[k].work.cycles   = (k / 3) % 4 == 0 ? nz * 8 * Random(&x) : 0;
    terms[k].work.misses   = (k / 3) % 4 == 1 ? nz * Random(&x) : 0;
    terms[k].work.branches = 10 * made.learnt;
    terms[k].work.gathered = (k / 3) % 4 == 2 ? nz * 5 * Random(&x) : 0;
    terms[k].work.pieces   = (k / 3) % 4 == 3 ? nz * Random(&x) : 0;
    terms[k].work.vectors  = nz / 8;
    for (int level = 1; level < SPMV_LEVELS; level++) terms[k].far[level] = k % 2 ? nz * Random(&x) / level : 0;
    seconds[k] = SpmvSeconds(&made, &terms[k]) * (0.98 + 0.04 * Random(&x));
  }
  PetscCall(SpmvCalibrateFit(N, terms, seconds, &fitted, &error));
  PetscCheck(error < 0.02, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the fit is off by %g", error);
  for (int k = 1; k < SPMV_LEVELS; k++)
    PetscCheck(fabs(fitted.byte[k] / made.byte[k] - 1) < 0.05, PETSC_COMM_SELF, PETSC_ERR_PLIB, "byte[%d] is %g, not %g", k,
               fitted.byte[k], made.byte[k]);
  PetscCheck(fabs(fitted.cycle / made.cycle - 1) < 0.05 && fabs(fitted.gathered / made.gathered - 1) < 0.05 &&
               fabs(fitted.pieces / made.pieces - 1) < 0.05 && fabs(fitted.miss / made.miss - 1) < 0.1 &&
               fabs(fitted.line[3] / made.line[3] - 1) < 0.1,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "cycle %g, gathered %g, pieces %g, miss %g, line %g", fitted.cycle, fitted.gathered,
             fitted.pieces, fitted.miss, fitted.line[3]);
  PetscCall(PetscFree2(terms, seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small matrices are measured: rates that can be written and read back. What they are depends on the clock, and is not looked
   at */
static PetscErrorCode TestMeasure(void)
{
  char           folder[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN], why[256];
  SpmvMachine    machine, read;
  PetscLogDouble error = -1;

  PetscFunctionBegin;
  PetscCall(PetscGetWorkingDirectory(folder, sizeof(folder)));
  PetscCheck(!setenv("XDG_CONFIG_HOME", folder, 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv");
  SpmvMachineFile(file, sizeof(file));
  SpmvMachineAssumed(&machine);
  PetscCall(SpmvCalibrate(PART, SpmvCalibrateMatrix, &machine, &error));
  PetscCheck(error >= 0 && machine.cycle > 0 && machine.byte[3] >= machine.byte[1] && machine.line[3] >= machine.line[1] &&
               machine.isa[SPMV_SCALAR] > 0 && machine.learnt >= 1024 && machine.parallel > 0 && machine.streams >= 1 &&
               machine.last >= machine.cache[SPMV_LEVELS - 2],
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "cycle %g, isa %g, learnt %g, streams %g, last %g", machine.cycle, machine.isa[0],
             machine.learnt, machine.streams, machine.last);
  PetscCheck(SpmvCalibrateSave(file, &machine) && !SpmvCalibrateSave("/proc/none/machine", &machine), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "not written, or written where nothing can be");
  SpmvMachineAssumed(&read);
  PetscCheck(SpmvMachineRead(file, &read, why, sizeof(why)) && fabs(read.cycle / machine.cycle - 1) < 1e-6, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%s was not read back: %s", file, why);
  SpmvMachineSet(&read);
  PetscCheck(SpmvMachineGet()->cycle == read.cycle, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the machine is another one");
  /* with a file nothing is measured again */
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_tune_calibrate", NULL));
  PetscCall(SpmvCalibrateInitialize());
  PetscCheck(SpmvMachineGet()->cycle == read.cycle && !remove(file), PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was measured again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt count;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestMatrices(&count));
  PetscCall(TestFit());
  PetscCall(TestMeasure());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
