static const char help[] =
  "How far ahead of its own column a row fetches x, and what the first cache lacks where rows are taken by length.\n\n";

#include "host/machine.h"
#include "host/near.h"

/* A matrix each of whose rows has its own column and the one that `last` says, or none where that is negative */
typedef PetscInt LastFn(PetscInt row, PetscInt n);

static PetscErrorCode Check(const char name[], PetscInt m, PetscInt n, LastFn *last, PetscInt low, PetscInt high)
{
  PetscInt   *i, *j, nz = 0, ahead;
  PetscScalar one = 1;
  SpmvCSR     csr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m + 1, &i, 2 * m + 1, &j));
  i[0] = 0;
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt end = last(r, n);

    if (end >= 0) j[nz++] = PetscMin(r, end);
    if (end > r) j[nz++] = PetscMin(end, n - 1);
    i[r + 1] = nz;
  }
  csr   = (SpmvCSR){.m = m, .n = n, .i = i, .j = j, .a = &one};
  ahead = SpmvNearAhead(&csr);
  PetscCheck(ahead >= low && ahead <= high, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " is not in [%" PetscInt_FMT ", %" PetscInt_FMT "]", name, ahead, low, high);
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Diagonal(PetscInt row, PetscInt n)
{
  (void)n;
  return row;
}

/* One row in 40 goes as far as any does */
static PetscInt Mesh(PetscInt row, PetscInt n)
{
  (void)n;
  return row + (row % 40 ? 700 : 5000);
}

/* Here and there a row reaches to the end */
static PetscInt Outliers(PetscInt row, PetscInt n)
{
  return row % 50000 == 3 ? n - 1 : row + 700;
}

static PetscInt Anywhere(PetscInt row, PetscInt n)
{
  return (PetscInt)((PetscInt64)row * 7919 % n);
}

static PetscInt Nowhere(PetscInt row, PetscInt n)
{
  (void)row;
  (void)n;
  return -1;
}

/*
  Rows of 8 to 8 + lengths - 1 entries from the diagonal on, the lengths in turn: by length, rows that follow each other are so
  many rows apart, and their lines of x are gone before the next length takes them again, unless few rows are ordered together
*/
static PetscErrorCode CheckMore(const char name[], PetscInt n, PetscInt lengths, PetscInt window, PetscReal low, PetscReal high)
{
  PetscInt      *i, *j, nz = 0;
  PetscScalar    one = 1;
  SpmvCSR        csr;
  PetscLogDouble more;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + 1, &i, (8 + lengths) * n, &j));
  i[0] = 0;
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = 0; k < 8 + r * 7 % lengths; k++) j[nz++] = PetscMin(r, n - 8 - lengths) + k;
    i[r + 1] = nz;
  }
  csr = (SpmvCSR){.m = n, .n = n, .i = i, .j = j, .a = &one};
  PetscCall(SpmvNearMore(&csr, window, &more));
  PetscCheck(more >= low * nz && more <= high * nz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g of an entry are not in [%g, %g]",
             name, more / nz, (double)low, (double)high);
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMore(void)
{
  SpmvMachine machine = *SpmvMachineGet();

  PetscFunctionBegin;
  machine.cache[0] = 32768; /* the same on every machine: 256 lines, half of it, are 2048 columns of doubles */
  SpmvMachineSet(&machine);
  PetscCall(CheckMore("lengths in turn, many rows", 60000, 64, 4096, 0.05, 0.4));
  PetscCall(CheckMore("lengths in turn, few rows", 60000, 64, 64, 0, 0.04));
  PetscCall(CheckMore("one length", 60000, 1, 4096, 0, 0.02));
  PetscCall(CheckMore("x in the first cache", 1000, 64, 4096, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt many = 500000,
                 lead = 8192; /* what is added so that lines are there in time, at most, where rows have an entry */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Check("diagonal", many, many, Diagonal, 1, 256 + lead));
  PetscCall(Check("mesh", many, many, Mesh, 5001, 5000 + 512 + lead));
  PetscCall(Check("outliers", many, many, Outliers, 701, 700 + 512 + lead));
  PetscCall(Check("anywhere", many, many, Anywhere, 0, 0));
  PetscCall(Check("not square", many, many + 1, Mesh, 0, 0));
  PetscCall(Check("a few rows", 10, 10, Diagonal, 1, 256 + lead));
  PetscCall(Check("no entries", many, many, Nowhere, 1, 1000000));
  PetscCall(Check("no rows", 0, 0, Nowhere, 0, 0));
  PetscCall(TestMore());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
