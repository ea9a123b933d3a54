static const char help[] =
  "pmf orders smaller windows of rows where no cache has the matrix, and rows near in length have other lines of x.\n\n";

#include "spmvtest.h"
#include "mat/impls/pmf/host/pmf_host.h"

#define ROWS   12000
#define LEAST  20 /* entries of a row, ... */
#define MOST   60 /* ... but for one less */
#define STRIDE 37 /* columns from one entry to the next: several lines of x */

/* Rows of random lengths, each around the diagonal, or all from column 0 on */
static PetscErrorCode Create(PetscInt m, PetscBool banded, SpmvTestCSR *t)
{
  uint64_t x  = 1;
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = m;
  t->n = ROWS;
  PetscCall(PetscMalloc3(m + 1, &t->i, MOST * m, &t->j, MOST * m, &t->a));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt length = LEAST + (PetscInt)((x >> 33) % (MOST - LEAST));
    const PetscInt first  = banded ? PetscMax(0, PetscMin(r - STRIDE * length / 2, t->n - STRIDE * length)) : 0;

    t->i[r] = nz;
    for (PetscInt k = 0; k < length; k++, nz++) {
      t->j[nz] = first + (banded ? STRIDE : 1) * k;
      t->a[nz] = 1;
    }
    x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  }
  t->i[m] = nz;
  PetscFunctionReturn(0);
}

static PetscErrorCode Expect(PetscInt m, PetscBool banded, PetscBool smaller, const char what[])
{
  SpmvTestCSR t;
  SpmvCSR     csr;
  PetscInt    window;

  PetscFunctionBegin;
  PetscCall(Create(m, banded, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(PmfWindowChoose(&csr, &window));
  PetscCheck((window < PMF_WINDOW_ROWS) == smaller, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: windows of %" PetscInt_FMT " rows",
             what, window);
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvMachine cached, uncached;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  SpmvMachineBuiltin((SpmvIsa)(SPMV_ISA_COUNT - 1), &(SpmvCaches){{32768, 1048576, 33554432}, 16}, &cached);
  uncached      = cached;
  uncached.last = uncached.cache[2] = uncached.cache[1] = 100000;
  SpmvMachineSet(&uncached);
  PetscCall(Expect(ROWS, PETSC_TRUE, PETSC_TRUE, "rows beside each other share lines, from memory"));
  PetscCall(Expect(ROWS, PETSC_FALSE, PETSC_FALSE, "all rows share lines, from memory"));
  PetscCall(Expect(1500, PETSC_TRUE, PETSC_FALSE, "fewer rows than a window has, too few to tell"));
  PetscCall(Expect(60, PETSC_TRUE, PETSC_FALSE, "fewer rows than the smallest window has"));
  PetscCall(Expect(0, PETSC_TRUE, PETSC_FALSE, "no rows"));
  SpmvMachineSet(&cached);
  PetscCall(Expect(ROWS, PETSC_TRUE, PETSC_FALSE, "rows beside each other share lines, in cache"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: double !complex

TEST*/
