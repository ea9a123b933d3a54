/*
  formatdevice.h - for test programs of formats on devices: plans, matrices, products, plans that must be refused
*/
#pragma once
#include "spmvtest.h"
#include "device/device.h"

/* What programs begin with: the device; NULL: there is none, and the test is skipped */
static inline PetscErrorCode Begin(int *argc, char ***argv, const char help[], SpmvDevice **device)
{
  PetscFunctionBegin;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCall(SpmvDeviceGet(device));
  if (!*device) PetscCall(PetscPrintf(PETSC_COMM_SELF, "SKIP: there is no device; install pocl-opencl-icd\n"));
  PetscFunctionReturn(0);
}

/* The default plan for a device */
static inline SpmvPlan Plan(const SpmvFormat *f)
{
  return SpmvTestPlan(f, SPMV_BACKEND_DEVICE);
}

/* What users write for a value of a knob */
static inline const char *Name(const SpmvParam *param, PetscInt value)
{
  PetscInt k = 0;

  while (param->choices[k] != value) k++;
  return param->names[k];
}

/* m rows of the given lengths, columns apart from each other */
static inline PetscErrorCode Rows(PetscInt m, PetscInt n, const PetscInt length[], SpmvTestCSR *t)
{
  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = n};
  PetscCall(PetscMalloc1(m + 1, &t->i));
  t->i[0] = 0;
  for (PetscInt r = 0; r < m; r++) t->i[r + 1] = t->i[r] + length[r];
  PetscCall(PetscMalloc2(t->i[m], &t->j, t->i[m], &t->a));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = 0; k < length[r]; k++) t->j[t->i[r] + k] = (PetscInt)((PetscInt64)k * n / length[r]);
  }
  PetscCall(SpmvTestVector(t->i[m], t->a));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode RowsDestroy(SpmvTestCSR *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(t->i));
  PetscCall(PetscFree2(t->j, t->a));
  PetscFunctionReturn(0);
}

/* Two products with beta 0 and two with beta 1; the entries that are wrong are added up */
static inline PetscErrorCode Products(const SpmvCSR *csr, SpmvOnDevice *on, PetscInt *wrong)
{
  PetscScalar *x, *y, *y0;
  long double *re, *im, *size;
  PetscInt    *length;
  PetscBool    nomem;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(csr->n, &x, csr->m, &y, csr->m, &y0));
  PetscCall(PetscMalloc4(csr->m, &re, csr->m, &im, csr->m, &size, csr->m, &length));
  PetscCall(SpmvTestVector(csr->n, x));
  PetscCall(SpmvTestVector(csr->m, y0));
  for (int product = 0; product < 4; product++) {
    const int beta = product % 2;

    SpmvTestReference(csr, PETSC_FALSE, x, beta ? y0 : NULL, re, im, size, length);
    for (PetscInt k = 0; k < csr->m; k++) y[k] = beta ? y0[k] : (PetscScalar)NAN;
    PetscCall(SpmvOnDeviceMultiply(on, x, NULL, y, NULL, (PetscBool)beta, &nomem));
    PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "the device is out of memory");
    *wrong += SpmvTestCompare(csr->m, y, re, im, size, length);
  }
  PetscCall(PetscFree3(x, y, y0));
  PetscCall(PetscFree4(re, im, size, length));
  PetscFunctionReturn(0);
}

/* Prints the remedy that an error names instead of a stack */
static inline PetscErrorCode Handler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode ierr,
                                     PetscErrorType type, const char *message, void *context)
{
  if (type == PETSC_ERROR_INITIAL) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  ... %s\n", strchr(message, ';')));
  (void)comm, (void)line, (void)function, (void)file, (void)context;
  return ierr;
}

/* A plan that must be refused on a device of some kind; what: NULL if not all scalars get here, so that nothing is printed */
static inline PetscErrorCode Refused(const SpmvFormat *f, const SpmvTestCSR *t, SpmvPlan plan, const char what[],
                                     SpmvDeviceInfo info)
{
  SpmvCSR        csr = SpmvTestCSRView(t);
  void          *storage;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (what) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s is refused:\n", f->name, what));
  PetscCall(PetscPushErrorHandler(what ? Handler : PetscReturnErrorHandler, NULL));
  ierr = SpmvBuild(&f->device->side, &csr, &info, &plan, &storage);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr == PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was not: error %d", (int)ierr);
  PetscFunctionReturn(0);
}
