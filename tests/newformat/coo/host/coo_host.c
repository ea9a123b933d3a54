/*
  coo_host.c - COO on this processor: knobs, and the arrays from CSR's
*/
#include "coo_host.h"

enum { COO_ORDER, COO_NPARAMS };
enum { COO_BY_ROWS, COO_BY_COLUMNS };

static const PetscInt    CooOrders[]     = {COO_BY_ROWS, COO_BY_COLUMNS};
static const char *const CooOrderNames[] = {"rows", "columns"};
static const SpmvParam   CooParams[]     = {[COO_ORDER] =
                                              SPMV_CHOICES("order", "of the entries", CooOrders, CooOrderNames, SPMV_KNOB_LAYOUT)};

static PetscErrorCode CooSetValues(const SpmvCSR *csr, void *storage)
{
  const CooStorage *s = (const CooStorage *)storage;

  PetscFunctionBegin;
  for (size_t k = 0; k < s->nz; k++) s->value[k] = csr->a[s->from[k]];
  PetscFunctionReturn(0);
}

/* A counting sort keeps the rows of a column in their order */
static PetscErrorCode CooFill(const SpmvCSR *csr, PetscBool by_columns, CooStorage *s)
{
  SPMV_TEMPORARY size_t *next = NULL;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)csr->n + 2, &next));
  for (size_t k = 0; k < s->nz; k++) next[csr->j[k] + 1]++;
  for (PetscInt j = 0; j < csr->n; j++) next[j + 1] += next[j];
  for (PetscInt i = 0; i < csr->m; i++) {
    for (PetscInt k = csr->i[i]; k < csr->i[i + 1]; k++) {
      const size_t at = by_columns ? next[csr->j[k]]++ : (size_t)k;

      s->row[at]    = i;
      s->column[at] = csr->j[k];
      s->from[at]   = k;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  CooStorage *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage = s;
  s->m     = csr->m;
  s->n     = csr->n;
  s->nz    = (size_t)csr->i[csr->m];
  PetscCall(SpmvAlloc(s->nz * sizeof(PetscInt), &s->row));
  PetscCall(SpmvAlloc(s->nz * sizeof(PetscInt), &s->column));
  PetscCall(SpmvAlloc(s->nz * sizeof(PetscInt), &s->from));
  PetscCall(SpmvAlloc(s->nz * sizeof(PetscScalar), &s->value));
  PetscCall(CooFill(csr, (PetscBool)(plan->value[COO_ORDER] == COO_BY_COLUMNS), s));
  PetscCall(CooSetValues(csr, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode CooArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CooStorage *s = (const CooStorage *)storage;
  PetscInt          k = 0;

  PetscFunctionBegin;
  arrays[k++] = SPMV_ARRAY("values", s->value, s->nz, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  arrays[k++] = SPMV_ARRAY("rows", s->row, s->nz, sizeof(PetscInt));
  arrays[k++] = SPMV_ARRAY("columns", s->column, s->nz, sizeof(PetscInt));
  arrays[k++] = SPMV_ARRAY("from", s->from, s->nz, sizeof(PetscInt), .aside = PETSC_TRUE);
  *narrays    = k;
  PetscFunctionReturn(0);
}

/* An entry takes some five cycles: the sum goes through memory */
static PetscErrorCode CooWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  const PetscLogDouble nz = (PetscLogDouble)rows->i[rows->m];

  PetscFunctionBegin;
  (void)plan;
  work->bytes += nz * (2 * sizeof(PetscInt) + sizeof(PetscScalar));
  work->cycles += 5 * nz;
  work->build += 20 * nz;
  PetscFunctionReturn(0);
}

#define SPMV_KERNELS CooKernels
#include "../../../../kernels.h"

const SpmvHostSide CooHost = {
  .side    = {.nparams   = COO_NPARAMS,
              .params    = CooParams,
              .work      = CooWork,
              .build     = CooBuild,
              .setvalues = CooSetValues,
              .arrays    = CooArrays},
  .kernels = CooKernels,
};
