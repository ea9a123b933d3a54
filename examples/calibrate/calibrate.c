static const char help[] = "Measures this machine and writes what formats and the tuner go by.\n\
  -out <file>   instead of petscspmv/machine in $XDG_CONFIG_HOME or ~/.config; - for the screen only\n\
  -f <file>,... rates are fitted to these matrices (PETSc binary), not to those that it makes\n\n";

/* calibrate - what -mat_spmv_tune_calibrate does in any program, anew and with the numbers shown (src/tune/calibrate.c) */
#include "tune/tune.h"
#include <petscmat.h>
#include <math.h>

#define MOST 1000 /* files */

static PetscInt nfiles = MOST;
static char    *files[MOST];

/* Reads a file as calibrate's own matrices are made */
static PetscErrorCode MatrixRead(PetscInt number, PetscInt part, SpmvCSR *csr, char name[], size_t size)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt          *start, *column, m;
  PetscScalar       *values;
  PetscViewer        viewer;
  PetscBool          done;
  Mat                A;

  PetscFunctionBegin;
  (void)part;
  *csr = (SpmvCSR){.rbs = 1, .cbs = 1};
  if (number >= nfiles) PetscFunctionReturn(0);
  PetscCall(PetscStrncpy(name, files[number], size));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, files[number], FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCheck(done && m, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s has no rows; leave it out", files[number]);
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(PetscMalloc3((size_t)m + 1, &start, (size_t)i[m], &column, (size_t)i[m], &values));
  PetscCall(PetscArraycpy(start, i, (size_t)m + 1));
  PetscCall(PetscArraycpy(column, j, (size_t)i[m]));
  PetscCall(PetscArraycpy(values, a, (size_t)i[m]));
  *csr = (SpmvCSR){.m = m, .n = A->cmap->n, .rbs = A->rmap->bs, .cbs = A->cmap->bs, .i = start, .j = column, .a = values};
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char           file[PETSC_MAX_PATH_LEN];
  SpmvMachine    machine;
  PetscLogDouble error;
  PetscBool      given;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SpmvMachineFile(file, sizeof(file));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-out", file, sizeof(file), NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-f", files, &nfiles, &given));
  SpmvMachineAssumed(&machine);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "assumed without a file\n"));
  SpmvMachineWrite(&machine, stdout);
  PetscCall(SpmvCalibrate(1, given ? MatrixRead : SpmvCalibrateMatrix, &machine, &error));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "measured; estimates of products are off by %.0f %%\n", 100 * (exp(error) - 1)));
  SpmvMachineWrite(&machine, stdout);
  if (file[0] && strcmp(file, "-")) {
    PetscCheck(SpmvCalibrateSave(file, &machine), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
               "Cannot write %s; give -out a file that can be written, or set XDG_CONFIG_HOME to a folder that can be", file);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "written to %s\n", file));
  }
  for (PetscInt k = 0; given && k < nfiles; k++) PetscCall(PetscFree(files[k]));
  PetscCall(PetscFinalize());
  return 0;
}
