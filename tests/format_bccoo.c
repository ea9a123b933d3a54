static const char help[] = "The worked examples of the BCCOO paper, digit by digit, as its ERRATA recompute them.\n\n";

#include "spmvtest.h"
#include "mat/impls/bccoo/bccoo.h"

/* Builds blocks of h x w and prints flags, block columns and, if there is a list, the block rows */
static PetscErrorCode Show(const char name[], PetscInt m, PetscInt n, const PetscScalar dense[], PetscInt h, PetscInt w)
{
  SpmvTestCSR   t;
  SpmvPlan      plan = {{h, w}};
  void         *storage;
  BccooStorage *b;

  PetscFunctionBegin;
  PetscCall(SpmvTestCSRFromDense(m, n, dense, &t));
  SpmvCSR csr = SpmvTestCSRView(&t);
  PetscCall(SpmvFormat_bccoo.build(&csr, &plan, &storage));
  b = (BccooStorage *)storage;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, blocks of %" PetscInt_FMT "x%" PetscInt_FMT "\n  flags  ", name, b->h, b->w));
  for (size_t q = 0; q < b->nblocks; q++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)(b->flags[q / BCCOO_TAG_BITS] >> (q % BCCOO_TAG_BITS) & 1)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  columns"));
  for (size_t q = 0; q < b->nblocks; q++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->column[q]));
  if (b->row) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  rows   "));
    for (PetscInt k = 0; k < b->nrows; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->row[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  values "));
  for (size_t k = 0; k < b->nblocks * b->h * b->w; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(b->value[k])));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  for (size_t q = b->nblocks; q < b->nwords * BCCOO_TAG_BITS; q++) PetscCheck(b->flags[q / BCCOO_TAG_BITS] >> (q % BCCOO_TAG_BITS) & 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "flag %zu of the padding is 0", q);
  PetscCall(SpmvFormat_bccoo.destroy(&storage));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Table IV: megabytes (10^6) of a dense matrix of 2000 x 2000 with scalars of 4 bytes */
static PetscErrorCode TableIV(PetscInt h, PetscInt w)
{
  const PetscInt n = 2000;
  PetscScalar   *dense;
  SpmvTestCSR    t;
  SpmvPlan       plan = {{h, w}};
  PetscLogDouble bytes;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * n, &dense));
  for (PetscInt k = 0; k < n * n; k++) dense[k] = 1;
  PetscCall(SpmvTestCSRFromDense(n, n, dense, &t));
  SpmvCSR csr = SpmvTestCSRView(&t);
  PetscCall(SpmvFormat_bccoo.bytes(&csr, &plan, 4, &bytes));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "Dense, blocks of %" PetscInt_FMT "x%" PetscInt_FMT ", int32 columns, scalars of 4 bytes: %.2f MB\n", h, w, (double)bytes / 1e6));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* Fig. 1, with a to p as 1 to 16 */
  const PetscScalar A[] = {0, 0, 1, 0, 0, 0, 2, 3, 0, 0, 4, 5, 0, 0, 6, 0, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0, 13, 14, 15, 16};
  /* Fig. 7(a), with A' to P' as 1 to 16 */
  const PetscScalar C[] = {1, 0, 2, 0, 3, 0, 4, 5, 0, 0, 0, 6, 0, 0, 7, 0, 0, 8, 0, 9, 0, 10, 0, 0, 0, 11, 12, 13, 0, 14, 15, 16};
  /* block rows 1 and 4 of 6 occupied: leading, middle and trailing empty ones */
  const PetscScalar E[] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Show("A", 4, 8, A, 2, 2));
  PetscCall(Show("C", 4, 8, C, 1, 1));
  PetscCall(Show("empty block rows", 12, 3, E, 2, 2));
  PetscCall(Show("no entries", 4, 3, (PetscScalar[12]){0}, 2, 2));
  PetscCall(TableIV(4, 4));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
